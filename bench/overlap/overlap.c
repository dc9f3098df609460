#include "overlap.h"

#include <math.h>

static bool putShapes(tpCollider* collider, const tpWorld* world) {
    int place = 0;
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        for (int k = 0; k < tpBody_GetShapeCount(world, body); ++k) {
            tpColliderShapeDef shape = { 0 };
            shape.geometry = tpShape_GetGeometry(world, tpBody_GetShape(world, body, k));
            shape.pose = tpMakePose(tpZeroVec3(), tpIdentityQuat());
            shape.body = i;
            shape.isMovable = tpBody_GetKind(world, body) == tp_dynamicBody;
            shape.group = shape.mask = 1;
            if (tpCollider_PutShape(collider, place++, &shape) != tp_success) {
                return false;
            }
        }
    }
    return true;
}

tpCollider* makeOverlapRuler(const tpWorld* world) {
    tpColliderDef def = { tpDefaultAllocator(), false };
    tpCollider* ruler;
    if (tpCreateCollider(&def, &ruler) != tp_success) {
        return NULL;
    }
    if (!putShapes(ruler, world)) {
        tpDestroyCollider(ruler);
        return NULL;
    }
    return ruler;
}

bool measureOverlap(tpCollider* ruler, const tpPose* poses, double* deepest, double* mean) {
    *deepest = *mean = 0.0;
    if (tpCollider_Update(ruler, poses, NULL, NULL) != tp_success) {
        return false;
    }
    // Contacts of a pair stand side by side.
    int count, pairs = 0;
    const tpContact* contacts = tpCollider_GetContacts(ruler, &count);
    double sum = 0.0;
    for (int i = 0; i < count;) {
        double depth = 0.0;
        int first = i;
        for (; i < count && contacts[i].shapeA == contacts[first].shapeA &&
               contacts[i].shapeB == contacts[first].shapeB;
             ++i) {
            depth = fmax(depth, -contacts[i].gap);
        }
        *deepest = fmax(*deepest, depth);
        sum += depth;
        pairs += depth > 0.0;
    }
    *mean = pairs > 0 ? sum / pairs : 0.0;
    return true;
}
