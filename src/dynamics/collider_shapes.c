#include "dynamics/collider_shapes.h"

#include <string.h>

static tpPose placeOf(const tpBody* body) {
    return tpMakePose(tpNeg(body->center), tpIdentityQuat());
}

static tpResult putShape(tpSystem* system, int index) {
    const tpShape* shape = &system->shapes.data[index];
    const tpBody* body = &system->bodies.data[shape->body];
    tpColliderShapeDef def;
    memset(&def, 0, sizeof(def));
    def.geometry = &shape->form->geometry;
    def.pose = placeOf(body);
    def.body = shape->body;
    def.isMovable = body->inverseMass > 0.0;
    def.group = shape->isSensor ? 0u : shape->group;
    def.mask = shape->isSensor ? 0u : shape->mask;
    return tpCollider_PutShape(system->collider, index, &def);
}

bool tpJoint_Excludes(const tpJoint* joint) {
    return joint->isLive && !joint->def.collide && joint->bodyA >= 0 && joint->bodyB >= 0;
}

static tpResult putJoint(tpSystem* system, int index) {
    const tpJoint* joint = &system->joints.data[index];
    return tpJoint_Excludes(joint)
               ? tpCollider_Exclude(system->collider, joint->bodyA, joint->bodyB)
               : tp_success;
}

tpResult tpSystem_NeedCollider(tpSystem* system) {
    if (system->collider != NULL) {
        return tp_success;
    }
    tpSystem_ForgetFound(system);
    tpColliderDef def = { system->allocator, false };
    tpResult result = tpCreateCollider(&def, &system->collider);
    // The last one first: memory is asked for once.
    for (int i = system->shapes.count - 1; result == tp_success && i >= 0; --i) {
        result = system->shapes.data[i].isLive ? putShape(system, i) : tp_success;
    }
    for (int i = 0; result == tp_success && i < system->joints.count; ++i) {
        result = putJoint(system, i);
    }
    for (int i = 0; result == tp_success && i < system->excludes.pairs.count; ++i) {
        const tpExcludedPair* pair = &system->excludes.pairs.data[i];
        result = tpCollider_Exclude(system->collider, pair->low, pair->high);
    }
    if (result == tp_success) {
        tpCollider_SetFilter(system->collider, system->pairFilter, system->pairFilterContext);
    }
    if (result != tp_success) {
        tpSystem_DropCollider(system);
    }
    return result;
}

void tpSystem_DropCollider(tpSystem* system) {
    tpSystem_ForgetFound(system);
    tpDestroyCollider(system->collider);
    system->collider = NULL;
}

static void keepOrDrop(tpSystem* system, tpResult result) {
    tpSystem_ForgetFound(system);
    if (result != tp_success) {
        tpSystem_DropCollider(system);
    }
}

void tpSystem_PutShape(tpSystem* system, int shape) {
    if (system->collider != NULL) {
        keepOrDrop(system, putShape(system, shape));
    }
}

void tpSystem_TakeShape(tpSystem* system, int shape) {
    if (system->collider != NULL && tpCollider_HasShape(system->collider, shape)) {
        tpCollider_RemoveShape(system->collider, shape);
        tpSystem_ForgetFound(system);
    }
}

void tpSystem_MoveShapes(tpSystem* system, int index, bool isMovable) {
    const tpBody* body = &system->bodies.data[index];
    for (int k = body->firstShape; system->collider != NULL && k >= 0;
         k = system->shapes.data[k].next) {
        if (tpCollider_HasShape(system->collider, k)) {
            tpPose pose = tpComposePoses(placeOf(body), system->shapes.data[k].form->geometry.pose);
            keepOrDrop(system, tpCollider_MoveShape(system->collider, k, index, pose, isMovable));
        }
    }
}

void tpSystem_PutJoint(tpSystem* system, int joint) {
    if (system->collider != NULL) {
        keepOrDrop(system, putJoint(system, joint));
    }
}

void tpSystem_TakeJoint(tpSystem* system, int index) {
    const tpJoint* joint = &system->joints.data[index];
    if (system->collider != NULL && tpJoint_Excludes(joint)) {
        tpCollider_Include(system->collider, joint->bodyA, joint->bodyB);
        tpSystem_ForgetFound(system);
    }
}

bool tpSystem_Exclude(tpSystem* system, int bodyA, int bodyB) {
    if (tpExcludedPairs_Has(&system->excludes, bodyA, bodyB)) {
        return true;
    }
    if (tpExcludedPairs_Add(&system->excludes, &system->allocator, bodyA, bodyB) != tp_success) {
        return false;
    }
    if (system->collider != NULL) {
        keepOrDrop(system, tpCollider_Exclude(system->collider, bodyA, bodyB));
    }
    return true;
}

void tpSystem_Include(tpSystem* system, int bodyA, int bodyB) {
    if (!tpExcludedPairs_Has(&system->excludes, bodyA, bodyB)) {
        return;
    }
    tpExcludedPairs_Remove(&system->excludes, bodyA, bodyB);
    if (system->collider != NULL) {
        tpCollider_Include(system->collider, bodyA, bodyB);
        tpSystem_ForgetFound(system);
    }
}

void tpSystem_IncludeAll(tpSystem* system, int body) {
    for (int i = system->excludes.pairs.count - 1; i >= 0; --i) {
        tpExcludedPair pair = system->excludes.pairs.data[i];
        if (pair.low == body || pair.high == body) {
            tpSystem_Include(system, pair.low, pair.high);
        }
    }
}
