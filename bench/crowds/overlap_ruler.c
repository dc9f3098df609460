// How deep bodies overlap, by our own collider in double precision: what the stepper knows of its
// gaps has no part in it.

#include <math.h>
#include <stdlib.h>

#include "collision/collider.h"
#include "crowds.h"

struct Ruler {
    tpCollider* collider;
    tpPose* poses;
    double deepest, meanSum; // m
    int frames;
};

Ruler* makeRuler(const tpWorld* world) {
    Ruler* ruler = calloc(1, sizeof(Ruler));
    tpColliderDef def = { tpDefaultAllocator(), false };
    int bodies = tpWorld_GetBodyCount(world), place = 0;
    ruler->poses = calloc((size_t)bodies, sizeof(tpPose));
    if (tpCreateCollider(&def, &ruler->collider) != tp_success) {
        abort();
    }
    for (int i = 0; i < bodies; ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        for (int k = 0; k < tpBody_GetShapeCount(world, body); ++k) {
            tpColliderShapeDef shape = { 0 };
            shape.geometry = tpShape_GetGeometry(world, tpBody_GetShape(world, body, k));
            shape.pose = tpMakePose(tpZeroVec3(), tpIdentityQuat());
            shape.body = i;
            shape.isMovable = tpBody_GetKind(world, body) == tp_dynamicBody;
            shape.group = shape.mask = 1;
            if (tpCollider_PutShape(ruler->collider, place++, &shape) != tp_success) {
                abort();
            }
        }
    }
    return ruler;
}

static void measurePoses(Ruler* ruler) {
    if (tpCollider_Update(ruler->collider, ruler->poses, NULL, NULL) != tp_success) {
        abort();
    }
    int count, pairs = 0;
    const tpContact* contacts = tpCollider_GetContacts(ruler->collider, &count);
    double sum = 0.0;
    for (int i = 0; i < count;) {
        double depth = 0.0;
        int first = i;
        for (; i < count && contacts[i].shapeA == contacts[first].shapeA &&
               contacts[i].shapeB == contacts[first].shapeB;
             ++i) {
            depth = fmax(depth, -contacts[i].gap);
        }
        ruler->deepest = fmax(ruler->deepest, depth);
        sum += depth;
        pairs += depth > 0.0;
    }
    ruler->meanSum += pairs > 0 ? sum / pairs : 0.0;
    ruler->frames += 1;
}

void measureOverlap(Ruler* ruler, const tpWorld* world) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        ruler->poses[i] = tpBody_GetPose(world, tpWorld_GetBody(world, i));
    }
    measurePoses(ruler);
}

void destroyRuler(Ruler* ruler, double* deepest, double* mean) {
    *deepest = ruler->deepest;
    *mean = ruler->frames > 0 ? ruler->meanSum / ruler->frames : 0.0;
    tpDestroyCollider(ruler->collider);
    free(ruler->poses);
    free(ruler);
}
