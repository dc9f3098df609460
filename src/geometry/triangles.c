// Triangles of meshes and height fields, one by one.

#include "geometry/triangles.h"

#include "geometry/height_field.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

// Normals of neighbours that differ by less than this angle are one plane: files carry six or seven
// digits, and a body that slides across must not feel them. Twenty thousand facets around a circle
// would still be round.
static const double flatAngle = 1e-4;

tpEdgeKind tpClassifyEdge(tpVec3 edge, tpVec3 n, tpVec3 m) {
    double sine = tpDot(tpCross(n, m), tpNormalize(edge));
    if (tpDot(n, m) > 0.0 && fabs(sine) <= flatAngle) {
        return tp_flatEdge;
    }
    return sine >= 0.0 ? tp_convexEdge : tp_concaveEdge;
}

int32_t tpTriangleCount(const tpGeometry* geometry) {
    if (geometry->type == tp_meshShape) {
        return geometry->mesh->triangleCount;
    }
    if (geometry->type == tp_heightFieldShape) {
        return 2 * (geometry->heightField->columns - 1) * (geometry->heightField->rows - 1);
    }
    return 0;
}

static tpTriangle meshTriangle(const tpMesh* mesh, int32_t index) {
    tpTriangle triangle;
    for (int k = 0; k < 3; ++k) {
        triangle.vertices[k] = mesh->triangles[index][k];
        triangle.corners[k] = mesh->vertices[triangle.vertices[k]];
        triangle.neighbors[k] = mesh->neighbors[index][k];
        triangle.edges[k] = mesh->edges[index][k];
    }
    triangle.normal = mesh->normals[index];
    return triangle;
}

tpTriangle tpGetTriangle(const tpGeometry* geometry, int32_t index) {
    TP_ASSERT(index >= 0 && index < tpTriangleCount(geometry));
    return geometry->type == tp_meshShape ? meshTriangle(geometry->mesh, index)
                                          : tpHeightField_Triangle(geometry->heightField, index);
}

// Queries -------------------------------------------------------------------------------------

tpTriangleQuery tpQueryTriangles(const tpGeometry* geometry, tpBounds bounds) {
    tpTriangleQuery query = { 0 };
    query.geometry = geometry;
    query.bounds = bounds;
    if (geometry->type == tp_heightFieldShape) {
        tpHeightField_StartQuery(geometry->heightField, &query);
    }
    return query;
}

static bool triangleOverlaps(const tpMesh* mesh, int32_t index, const tpBounds* bounds) {
    const int32_t* t = mesh->triangles[index];
    tpVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
    tpBounds box = { tpMinVec3(a, tpMinVec3(b, c)), tpMaxVec3(a, tpMaxVec3(b, c)) };
    return tpBoundsOverlap(&box, bounds);
}

static int32_t nextOfMesh(const tpMesh* mesh, tpTriangleQuery* query) {
    for (;;) {
        while (query->position < query->end) {
            int32_t triangle = mesh->tree.order[query->position++];
            if (triangleOverlaps(mesh, triangle, &query->bounds)) {
                return triangle;
            }
        }
        if (query->node >= mesh->tree.nodeCount) {
            return -1;
        }
        const tpTreeNode* node = &mesh->tree.nodes[query->node];
        if (tpBoundsOverlap(&node->bounds, &query->bounds)) {
            query->position = node->first;
            query->end = node->first + node->count;
            ++query->node;
        } else {
            query->node = node->skip;
        }
    }
}

int32_t tpNextTriangle(tpTriangleQuery* query) {
    const tpGeometry* geometry = query->geometry;
    return geometry->type == tp_meshShape
               ? nextOfMesh(geometry->mesh, query)
               : tpHeightField_NextTriangle(geometry->heightField, query);
}

// Rays ----------------------------------------------------------------------------------------

// [Moller97] with closed edges, so that no ray slips between neighbours.
bool tpCastRayAtTriangle(const tpVec3 corners[3], tpVec3 origin, tpVec3 direction, double limit,
                         double* t) {
    tpVec3 e1 = tpSub(corners[1], corners[0]), e2 = tpSub(corners[2], corners[0]);
    tpVec3 p = tpCross(direction, e2);
    double determinant = tpDot(e1, p);
    if (determinant == 0.0) {
        return false;
    }
    double inverse = 1.0 / determinant;
    tpVec3 s = tpSub(origin, corners[0]);
    tpVec3 q = tpCross(s, e1);
    double u = inverse * tpDot(s, p), v = inverse * tpDot(direction, q);
    const double slack = 1e-14; // a few roundings
    if (!(u >= -slack && v >= -slack && u + v <= 1.0 + slack)) {
        return false;
    }
    *t = inverse * tpDot(e2, q);
    return *t >= 0.0 && *t <= limit;
}

// Narrows [near, far] to one slab. Rays parallel to it and outside miss; a zero part of the
// direction gives infinities of the right sign, and none at all (0 / 0) is told apart.
static bool clipToSlab(double lower, double upper, double origin, double direction, double* near,
                       double* far) {
    if (direction == 0.0) {
        return lower <= origin && origin <= upper;
    }
    double a = (lower - origin) / direction, b = (upper - origin) / direction;
    // One rounding outward, so that a box touched at its face is not missed.
    *near = fmax(*near, fmin(a, b) - 4e-16 * fabs(fmin(a, b)));
    *far = fmin(*far, fmax(a, b) + 4e-16 * fabs(fmax(a, b)));
    return *near <= *far;
}

static bool rayMeetsBounds(const tpBounds* b, tpVec3 origin, tpVec3 direction, double limit) {
    double near = 0.0, far = limit;
    return clipToSlab(b->lower.x, b->upper.x, origin.x, direction.x, &near, &far) &&
           clipToSlab(b->lower.y, b->upper.y, origin.y, direction.y, &near, &far) &&
           clipToSlab(b->lower.z, b->upper.z, origin.z, direction.z, &near, &far);
}

static int32_t castAtMesh(const tpMesh* mesh, tpVec3 origin, tpVec3 direction, double limit,
                          double* t) {
    int32_t best = -1;
    double reach = limit;
    for (int32_t n = 0; n < mesh->tree.nodeCount;) {
        const tpTreeNode* node = &mesh->tree.nodes[n];
        if (!rayMeetsBounds(&node->bounds, origin, direction, reach)) {
            n = node->skip;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; ++i) {
            const int32_t* v = mesh->triangles[mesh->tree.order[i]];
            const tpVec3 corners[3] = { mesh->vertices[v[0]], mesh->vertices[v[1]],
                                        mesh->vertices[v[2]] };
            double hit;
            if (tpCastRayAtTriangle(corners, origin, direction, reach, &hit) &&
                (best < 0 || hit < reach)) {
                reach = hit;
                best = mesh->tree.order[i];
            }
        }
        ++n;
    }
    *t = reach;
    return best;
}

int32_t tpCastRayAtTriangles(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                             double limit, double* t, tpVec3* normal) {
    int32_t best = geometry->type == tp_meshShape
                       ? castAtMesh(geometry->mesh, origin, direction, limit, t)
                       : tpHeightField_CastRay(geometry->heightField, origin, direction, limit, t);
    if (best >= 0) {
        tpVec3 n = tpGetTriangle(geometry, best).normal;
        *normal = tpDot(n, direction) > 0.0 ? tpNeg(n) : n;
    }
    return best;
}
