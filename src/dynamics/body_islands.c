#include "dynamics/body_islands.h"

#include "base/forest.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/contact_info.h"
#include "dynamics/contacts.h"

// What impulses can add to the way of a body, in parts of the way that it is known to go.
static const double reserve = 0.5;

int tpBodyIslands_Root(int* parents, int body) {
    return tpForest_Root(parents, body);
}

void tpBodyIslands_Join(int* parents, const tpSystem* system, int a, int b) {
    if (tpSystem_IsDynamic(system, a) && tpSystem_IsDynamic(system, b)) {
        tpForest_Join(parents, a, b);
    }
}

// A body that a joint moves.
static int movedBy(const tpSystem* system, int index) {
    const tpJoint* joint = &system->joints.data[index];
    return tpSystem_IsDynamic(system, joint->bodyB) ? joint->bodyB : joint->bodyA;
}

int* tpBodyIslands_Find(tpSystem* system) {
    int* parents = TP_SCRATCH(&system->arena, int, system->bodyCount);
    for (int i = 0; parents != NULL && i < system->bodyCount; ++i) {
        parents[i] = i;
    }
    for (int i = 0; parents != NULL && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive) {
            tpBodyIslands_Join(parents, system, joint->bodyA, joint->bodyB);
        }
    }
    for (int i = 0; parents != NULL && i < system->couplings.count; ++i) {
        const tpCoupling* coupling = &system->couplings.data[i];
        for (int k = 1; coupling->isLive && k < coupling->partCount; ++k) {
            tpBodyIslands_Join(parents, system, movedBy(system, coupling->parts[0].joint),
                               movedBy(system, coupling->parts[k].joint));
        }
    }
    return parents;
}

double* tpSystem_ReservedMargins(tpSystem* system, double h) {
    double* margins = tpSystem_Margins(system, system->velocities.data, NULL, h);
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            margins[i] *= 1.0 + reserve;
        }
    }
    return margins;
}

// How far the points of a body have come, at most.
static double wayOf(const tpSystem* system, int body, const tpPose* from) {
    const tpPose* pose = &system->poses.data[body];
    tpQuat turn = tpMulQQ(pose->rotation, tpConjugate(from->rotation));
    return tpDistanceBetween(pose->position, from->position) +
           system->bodies.data[body].reach * tpLength(tpQuatLog(turn));
}

static bool hasOutrun(const tpSystem* system, int body, const tpPose* starts,
                      const double* margins) {
    return tpSystem_IsDynamic(system, body) &&
           !(wayOf(system, body, &starts[body]) <=
             margins[body] + TP_TOUCH_DISTANCE * system->units.length);
}

bool tpSystem_HasOutrun(const tpSystem* system, const tpPose* starts, const double* margins) {
    bool isFound = false;
    for (int i = 0; !isFound && i < system->bodyCount; ++i) {
        isFound = hasOutrun(system, i, starts, margins);
    }
    return isFound;
}

bool tpSystem_WidenMargins(const tpSystem* system, const tpPose* starts, double* margins) {
    bool isFound = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (hasOutrun(system, i, starts, margins)) {
            margins[i] = (1.0 + reserve) * wayOf(system, i, &starts[i]);
            isFound = true;
        }
    }
    return isFound;
}

void tpSystem_FollowMasses(tpSystem* system) {
    for (int i = 0; system->collider != NULL && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        bool isMovable = body->inverseMass > 0.0;
        if (body->isLive && body->firstShape >= 0 &&
            tpCollider_IsMovable(system->collider, body->firstShape) != isMovable) {
            tpSystem_MoveShapes(system, i, isMovable);
        }
    }
    tpSystem_ForgetFound(system);
}

void tpSystem_TakeOut(tpSystem* system, const bool* isMarked) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (isMarked[i] && tpSystem_IsDynamic(system, i)) {
            system->bodies.data[i].inverseMass = 0.0;
            system->velocities.data[i].linear = system->velocities.data[i].angular = tpZeroVec3();
        }
    }
    tpSystem_FollowMasses(system);
}

void tpSystem_PutIn(tpSystem* system, const bool* isMarked) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        if (isMarked[i]) {
            body->inverseMass = 1.0 / body->mass;
        }
    }
    tpSystem_FollowMasses(system);
}
