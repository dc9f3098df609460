#include "sweeps/light_round.h"

#include "sweeps/light.h"

// What is round is so to this, relative: rounding of points and of moments of inertia.
static const double roundness = 1e-9;

// Steps, in parts of what stops a contact. Three problems of 10,000 spheres that slide, with a
// damping of .9: these come to 1e-3 in 480, 770 and 1,020 sweeps, a normal part of .33 in 540, 900
// and 1,440, both parts 1 in 1,000 and more or not at all.
static const double normalPart = 0.45, tangentPart = 1.2;

static tpVec3 readVec(const double (*numbers)[tp_packWidth], int lane) {
    return tpMakeVec3(numbers[0][lane], numbers[1][lane], numbers[2][lane]);
}

// Whether impulses along the normal do not turn the body, and all others alike: a sphere, or a
// body that nothing moves.
static bool isRoundAt(const tpSweepBody* body, tpVec3 arm, tpVec3 normal) {
    if (!(body->inverseMass > 0.0)) {
        return true;
    }
    const double* inertia = body->inverseInertia;
    tpVec3 beside = tpMulAdd(arm, -tpDot(arm, normal), normal);
    double most = roundness * inertia[0];
    return tpLength(beside) <= roundness * tpLength(arm) && fabs(inertia[1] - inertia[0]) <= most &&
           fabs(inertia[2] - inertia[0]) <= most && fabs(inertia[3]) <= most &&
           fabs(inertia[4]) <= most && fabs(inertia[5]) <= most;
}

bool tpContactPack_IsRound(const tpContactPack* pack, int lane, const tpSweepBody* bodies) {
    tpVec3 normal = readVec(pack->normal, lane);
    tpVec3 other = tpCross(normal, readVec(pack->tangents[0], lane));
    return !pack->hasLocks &&
           tpLength(tpSub(other, readVec(pack->tangents[1], lane))) <= roundness &&
           isRoundAt(&bodies[pack->bodyA[lane]], readVec(pack->armA, lane), normal) &&
           isRoundAt(&bodies[pack->bodyB[lane]], readVec(pack->armB, lane), normal);
}

// One side of a contact.
static void fillSide(const tpSweepBody* body, tpVec3 arm, tpVec3 normal, int to, float* length,
                     float* mass, float* turn) {
    double along = tpDot(arm, normal);
    length[to] = (float)along;
    mass[to] = (float)body->inverseMass;
    turn[to] = body->inverseMass > 0.0 ? (float)(along * body->inverseInertia[0]) : 0.0f;
}

void tpRoundPack_Fill(tpRoundPack* pack, int to, const tpContactPack* from, int lane,
                      const tpSweepBody* bodies, double damping) {
    tpVec3 normal = readVec(from->normal, lane);
    int a = from->bodyA[lane], b = from->bodyB[lane];
    pack->bodyA[to] = a;
    pack->bodyB[to] = b;
    for (int k = 0; k < 3; ++k) {
        pack->normal[k][to] = (float)from->normal[k][lane];
        pack->tangent[k][to] = (float)from->tangents[0][k][lane];
    }
    fillSide(&bodies[a], readVec(from->armA, lane), normal, to, pack->armA, pack->massA,
             pack->turnA);
    fillSide(&bodies[b], readVec(from->armB, lane), normal, to, pack->armB, pack->massB,
             pack->turnB);
    double stepNormal = normalPart * damping * from->inverseNormal[lane];
    double stepTangent = tangentPart * damping * from->slide[lane];
    pack->stepNormal[to] = (float)stepNormal;
    pack->stepTangent[to] = (float)stepTangent;
    pack->ratio[to] = stepTangent > 0.0 ? (float)(stepNormal / stepTangent) : 0.0f;
    pack->muStatic[to] = (float)from->muStatic[lane];
    pack->muDynamic[to] = (float)from->muDynamic[lane];
}
