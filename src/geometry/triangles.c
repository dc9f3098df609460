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

void tpGetCorners(const tpGeometry* geometry, int32_t index, tpTriangle* out) {
    TP_ASSERT(index >= 0 && index < tpTriangleCount(geometry));
    if (geometry->type == tp_heightFieldShape) {
        tpHeightField_Corners(geometry->heightField, index, out);
        return;
    }
    const tpMesh* mesh = geometry->mesh;
    for (int k = 0; k < 3; ++k) {
        out->vertices[k] = mesh->triangles[index][k];
        out->corners[k] = mesh->vertices[out->vertices[k]];
    }
    out->normal = mesh->normals[index];
}

void tpAddNeighbors(const tpGeometry* geometry, int32_t index, tpTriangle* triangle) {
    if (geometry->type == tp_heightFieldShape) {
        tpHeightField_AddNeighbors(geometry->heightField, index, triangle);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        triangle->neighbors[k] = geometry->mesh->neighbors[index][k];
        triangle->edges[k] = geometry->mesh->edges[index][k];
    }
}

tpTriangle tpGetTriangle(const tpGeometry* geometry, int32_t index) {
    tpTriangle triangle;
    tpGetCorners(geometry, index, &triangle);
    tpAddNeighbors(geometry, index, &triangle);
    return triangle;
}

static uint8_t flipEdge(uint8_t kind) {
    return kind == tp_convexEdge ? tp_concaveEdge : kind == tp_concaveEdge ? tp_convexEdge : kind;
}

tpTriangle tpFlipTriangle(const tpTriangle* t) {
    static const int corner[3] = { 0, 2, 1 }, edge[3] = { 2, 1, 0 };
    tpTriangle flipped = { .normal = tpNeg(t->normal) };
    for (int k = 0; k < 3; ++k) {
        flipped.corners[k] = t->corners[corner[k]];
        flipped.vertices[k] = t->vertices[corner[k]];
        flipped.neighbors[k] = t->neighbors[edge[k]];
        flipped.edges[k] = flipEdge(t->edges[edge[k]]);
    }
    return flipped;
}

// By the regions of corners, edges and inside [Ericson04, sec. 5.1.5].
tpVec3 tpNearestOnTriangle(const tpVec3 c[3], tpVec3 p, double weights[3]) {
    tpVec3 ab = tpSub(c[1], c[0]), ac = tpSub(c[2], c[0]), ap = tpSub(p, c[0]);
    double d1 = tpDot(ab, ap), d2 = tpDot(ac, ap);
    weights[0] = weights[1] = weights[2] = 0.0;
    if (d1 <= 0.0 && d2 <= 0.0) {
        weights[0] = 1.0;
        return c[0];
    }
    tpVec3 bp = tpSub(p, c[1]), cp = tpSub(p, c[2]);
    double d3 = tpDot(ab, bp), d4 = tpDot(ac, bp), d5 = tpDot(ab, cp), d6 = tpDot(ac, cp);
    if (d3 >= 0.0 && d4 <= d3) {
        weights[1] = 1.0;
        return c[1];
    }
    if (d6 >= 0.0 && d5 <= d6) {
        weights[2] = 1.0;
        return c[2];
    }
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        weights[1] = d1 / (d1 - d3);
        weights[0] = 1.0 - weights[1];
        return tpMulAdd(c[0], weights[1], ab);
    }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        weights[2] = d2 / (d2 - d6);
        weights[0] = 1.0 - weights[2];
        return tpMulAdd(c[0], weights[2], ac);
    }
    if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        weights[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        weights[1] = 1.0 - weights[2];
        return tpMulAdd(c[1], weights[2], tpSub(c[2], c[1]));
    }
    double sum = va + vb + vc;
    weights[0] = va / sum;
    weights[1] = vb / sum;
    weights[2] = vc / sum;
    return tpMulAdd(tpMulAdd(c[0], weights[1], ab), weights[2], ac);
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

// Whether the interval of three numbers meets another, without branches: nobody could guess them.
static int reaches(double a, double b, double c, double lower, double upper) {
    return ((a <= upper) | (b <= upper) | (c <= upper)) &
           ((a >= lower) | (b >= lower) | (c >= lower));
}

static bool triangleOverlaps(const tpMesh* mesh, int32_t index, const tpBounds* bounds) {
    const int32_t* t = mesh->triangles[index];
    const tpVec3 *a = &mesh->vertices[t[0]], *b = &mesh->vertices[t[1]], *c = &mesh->vertices[t[2]];
    return (reaches(a->x, b->x, c->x, bounds->lower.x, bounds->upper.x) &
            reaches(a->y, b->y, c->y, bounds->lower.y, bounds->upper.y) &
            reaches(a->z, b->z, c->z, bounds->lower.z, bounds->upper.z)) != 0;
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

// Nearest and inside ----------------------------------------------------------------------------

static double boxDistanceSquared(const tpBounds* b, tpVec3 p) {
    double x = p.x > b->upper.x ? p.x - b->upper.x : p.x < b->lower.x ? p.x - b->lower.x : 0.0;
    double y = p.y > b->upper.y ? p.y - b->upper.y : p.y < b->lower.y ? p.y - b->lower.y : 0.0;
    double z = p.z > b->upper.z ? p.z - b->upper.z : p.z < b->lower.z ? p.z - b->lower.z : 0.0;
    return x * x + y * y + z * z;
}

// The best triangle so far.
typedef struct Nearest {
    int32_t triangle;
    double square; // of its distance
    tpVec3 point;
} Nearest;

static void tryTriangle(const tpGeometry* geometry, int32_t index, tpVec3 p, Nearest* best) {
    tpTriangle t;
    double weights[3];
    tpGetCorners(geometry, index, &t);
    tpVec3 q = tpNearestOnTriangle(t.corners, p, weights);
    double square = tpLengthSquared(tpSub(p, q));
    if (square < best->square) {
        *best = (Nearest){ index, square, q };
    }
}

// The first leaf on the way down to the nearer child gives a bound that prunes the rest.
static void nearestOfMesh(const tpGeometry* geometry, tpVec3 p, Nearest* best) {
    const tpTriangleTree* tree = &geometry->mesh->tree;
    int32_t node = 0;
    while (tree->nodes[node].count == 0) {
        int32_t first = node + 1, second = tree->nodes[first].skip;
        node = boxDistanceSquared(&tree->nodes[first].bounds, p) <=
                       boxDistanceSquared(&tree->nodes[second].bounds, p)
                   ? first
                   : second;
    }
    for (int pass = 0; pass < 2; ++pass) {
        int32_t end = pass == 0 ? tree->nodes[node].skip : tree->nodeCount;
        for (int32_t n = pass == 0 ? node : 0; n < end;) {
            const tpTreeNode* t = &tree->nodes[n];
            if (boxDistanceSquared(&t->bounds, p) >= best->square) {
                n = t->skip;
                continue;
            }
            for (int32_t i = t->first; i < t->first + t->count; ++i) {
                tryTriangle(geometry, tree->order[i], p, best);
            }
            ++n;
        }
    }
}

// Cells in ever larger squares about the point, until the next ring is farther than the best.
static void nearestOfField(const tpGeometry* geometry, tpVec3 p, Nearest* best) {
    const tpHeightField* f = geometry->heightField;
    double spacing = fmin(f->spacingX, f->spacingY);
    double limit =
        tpDistanceBetween(f->bounds.lower, f->bounds.upper) + tpDistanceBetween(p, f->bounds.lower);
    for (double reach = spacing;; reach *= 2.0) {
        tpVec3 grow = tpMakeVec3(reach, reach, HUGE_VAL);
        tpTriangleQuery query =
            tpQueryTriangles(geometry, (tpBounds){ tpSub(p, grow), tpAdd(p, grow) });
        for (int32_t t = tpNextTriangle(&query); t >= 0; t = tpNextTriangle(&query)) {
            tryTriangle(geometry, t, p, best);
        }
        if (best->square <= reach * reach || reach > limit) {
            return;
        }
    }
}

int32_t tpNearestTriangle(const tpGeometry* geometry, tpVec3 p, double limit, tpVec3* nearest) {
    Nearest best = { -1, limit * limit, p };
    if (geometry->type == tp_meshShape) {
        nearestOfMesh(geometry, p, &best);
    } else {
        nearestOfField(geometry, p, &best);
    }
    *nearest = best.point;
    return best.triangle;
}

// A ray meets the inside of a closed surface if the first triangle on its way faces along it.
bool tpIsInsideSurface(const tpGeometry* geometry, tpVec3 p) {
    if (geometry->type == tp_heightFieldShape) {
        return tpHeightField_IsBelow(geometry->heightField, p);
    }
    const tpBounds* b = &geometry->mesh->bounds;
    if (boxDistanceSquared(b, p) > 0.0) {
        return false;
    }
    // A direction that is along no edge of common meshes.
    tpVec3 direction = tpMakeVec3(0.2918, 0.4127, 0.8629);
    double t;
    int32_t hit = castAtMesh(geometry->mesh, p, direction, HUGE_VAL, &t);
    return hit >= 0 && tpDot(geometry->mesh->normals[hit], direction) > 0.0;
}
