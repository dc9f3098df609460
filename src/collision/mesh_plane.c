// Contacts of a mesh with a plane: its corners.

#include "collision/mesh_pairs.h"

#include "geometry/mesh.h"

// The lowest corner of a box along n.
static double lowestOf(const tpBounds* b, tpVec3 n) {
    return n.x * (n.x > 0.0 ? b->lower.x : b->upper.x) +
           n.y * (n.y > 0.0 ? b->lower.y : b->upper.y) +
           n.z * (n.z > 0.0 ? b->lower.z : b->upper.z);
}

// Corners of triangles that look down at the plane, within the margin. Corners in the middle of
// flat parts carry nothing that those at its border do not.
static void collidePlane(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    const tpMesh* mesh = pair->a->mesh;
    tpVec3 normal = tpRotate(pair->poseB.rotation, pair->b->plane.normal);
    double offset = pair->b->plane.offset + tpDot(normal, pair->poseB.position);
    tpVec3 n = tpUnrotate(pair->poseA.rotation, normal);
    double level = offset - tpDot(normal, pair->poseA.position);
    int first = out->count;
    for (int32_t node = 0; node < mesh->tree.nodeCount;) {
        const tpTreeNode* tree = &mesh->tree.nodes[node];
        if (lowestOf(&tree->bounds, n) - level > pair->margin) {
            node = tree->skip;
            continue;
        }
        for (int32_t i = 0; i < tree->count; ++i) {
            tpTriangle t = tpGetTriangle(pair->a, mesh->tree.order[tree->first + i]);
            for (int k = 0; k < 3; ++k) {
                double gap = tpDot(n, t.corners[k]) - level;
                if (gap > pair->margin || tpIsFlatCorner(&t, k) || tpDot(n, t.normal) >= -1e-3) {
                    continue;
                }
                tpVec3 point = tpTransformPoint(pair->poseA, t.corners[k]);
                tpContactPoint c = { point, tpMulAdd(point, -gap, normal), normal, gap,
                                     tpMakeFeature(tp_vertexFace, t.vertices[k], 0) };
                tpContactList_Add(out, &c);
            }
        }
        ++node;
    }
    tpMergeContacts(out, first);
}

static tpResult closestPlane(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    (void)cache;
    const tpMesh* mesh = pair->a->mesh;
    tpVec3 n = tpRotate(pair->poseB.rotation, pair->b->plane.normal);
    tpVec3 local = tpUnrotate(pair->poseA.rotation, n);
    int32_t lowest = 0;
    for (int32_t i = 1; i < mesh->vertexCount; ++i) {
        if (tpDot(local, mesh->vertices[i]) < tpDot(local, mesh->vertices[lowest])) {
            lowest = i;
        }
    }
    out->normal = n;
    out->pointA = tpTransformPoint(pair->poseA, mesh->vertices[lowest]);
    out->distance = tpDot(n, tpSub(out->pointA, pair->poseB.position)) - pair->b->plane.offset;
    out->pointB = tpMulAdd(out->pointA, -out->distance, n);
    return tp_success;
}

const tpPairClass tp_meshPlanePair = { collidePlane, closestPlane, false };
