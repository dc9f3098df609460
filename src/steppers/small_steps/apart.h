// How far apart the shapes of a pair are known to be, and what motion takes from that.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_APART_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_APART_H

#include "steppers/small_steps/search.h"

// What is known of a pair without a manifold. Along a direction, from B to A, the shapes are at
// least `slack` apart; if that is zero, it is their distance.
tpPairState tpMakeApart(double slack, tpVec3 along);

// How far apart two shapes are along a unit vector from B to A, m; negative if they are not.
// -INFINITY if nobody knows, as of meshes.
double tpSeparationAlong(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along);

// How a body has moved in a step, at whose end it is.
typedef struct tpBodyShift {
    tpVec3 center;      // of mass, at the end, m
    tpVec3 shift, turn; // over the step, at constant rates; m, rad
    double reach;       // of its shapes from the centre, m
} tpBodyShift;

// How far apart two shapes have been along a unit vector from B to A at least, on their whole way
// to where they are now, m. -INFINITY if nobody knows, or if they have turned too far.
double tpLeastSeparationAlong(const tpGeometry* a, tpPose poseA, const tpBodyShift* shiftA,
                              const tpGeometry* b, tpPose poseB, const tpBodyShift* shiftB,
                              tpVec3 along);

// Where a shape is now.
tpPose tpShapePose(const tpSystem* system, const tpShape* shape);

// Where it is, in its body or in `room`: most shapes stand in the middle of their bodies.
static inline const tpPose* tpFindShapePose(const tpSystem* system, const tpShape* shape,
                                            tpPose* room) {
    const tpPose* own = &shape->form->geometry.pose;
    const tpVec3* center = &system->bodies.data[shape->body].center;
    bool isCentral = own->position.x == center->x && own->position.y == center->y &&
                     own->position.z == center->z;
    if (isCentral && own->rotation.x == 0.0 && own->rotation.y == 0.0 && own->rotation.z == 0.0) {
        return &system->poses.data[shape->body];
    }
    *room = tpShapePose(system, shape);
    return room;
}

// Measures how far apart the shapes of a pair are now along the direction that is known. True if
// that is enough for the next step; the pair knows it then.
bool tpFindApart(const tpSystem* system, tpShapePair shapes, const tpBodyWay* a, const tpBodyWay* b,
                 tpPairState* pair);

// The same for two balls, of which nothing has to be known.
bool tpFindBallsApart(const tpSystem* system, tpShapePair shapes, const tpBodyWay* a,
                      const tpBodyWay* b, tpPairState* pair);

// A pair of boxes, and whether a face keeps them apart in the next step; the pair knows it then.
typedef struct tpBoxesApart {
    tpShapePair shapes;
    const tpBodyWay *a, *b;
    tpPairState* pair;
    bool isApart; // found
} tpBoxesApart;

// Looks at a few pairs together, tp_boxesAtOnce at most, of which there is one.
void tpFindBoxesApart(const tpSystem* system, tpBoxesApart* list, int count);

// A direction is three numbers of ten bits, so that a list of many pairs stays short. Each is off
// by half of 1 / 511 at most, and the direction by 1.7e-3: what a way is along it, by that part of
// the way. The rest is for the rounding.
static const float tp_directionError = 2e-3f;
// Numbers from -1 to 1; the sum is positive, so that cutting it off rounds x.
static inline uint32_t tpPackNumber(double x, int shift) {
    return ((uint32_t)((int32_t)(511.0 * x + 512.5) - 512) & 0x3ffu) << shift;
}

static inline uint32_t tpPackDirection(tpVec3 v) {
    return tpPackNumber(v.x, 0) | tpPackNumber(v.y, 10) | tpPackNumber(v.z, 20);
}

static inline float tpUnpackNumber(uint32_t word, int shift) {
    int32_t x = (int32_t)(word >> shift & 0x3ffu);
    return (float)(x - ((x & 0x200) << 1)) * (1.0f / 511.0f);
}

static inline tpVec3 tpUnpackDirection(uint32_t word) {
    return tpMakeVec3(tpUnpackNumber(word, 0), tpUnpackNumber(word, 10), tpUnpackNumber(word, 20));
}

// How far turning may bring points of a body nearer along a unit vector n. A turn by the angle f
// about e moves n against the body by 2 sin(f / 2) |e x n|, and no point is farther away than the
// reach: what turns about n comes no nearer along it.
static inline double tpTurningAlong(const tpBodyWay* way, tpVec3 along) {
    if (way->spin == 0) {
        return way->turning;
    }
    double part = tpLength(tpCross(tpUnpackDirection(way->spin), along)) + 2.0 * tp_directionError;
    return part < 1.0 ? part * way->turning : way->turning;
}

static inline double tpNeedOf(const tpBodyWay* a, const tpBodyWay* b, double nearer) {
    double most = (double)a->margin + b->margin;
    return fmin(most, nearer + tp_asidePart * most);
}

// How near two bodies may come in the next step, m.
static inline double tpPairNeed(const tpBodyWay* a, const tpBodyWay* b) {
    double x = (double)a->ahead[0] - b->ahead[0], y = (double)a->ahead[1] - b->ahead[1];
    double z = (double)a->ahead[2] - b->ahead[2];
    return tpNeedOf(a, b, sqrt(x * x + y * y + z * z) + a->turning + b->turning);
}

// How far they may come nearer along a unit vector from B to A, m.
static inline double tpPairNeedAlong(const tpBodyWay* a, const tpBodyWay* b, tpVec3 along) {
    double x = (double)a->ahead[0] - b->ahead[0], y = (double)a->ahead[1] - b->ahead[1];
    double z = (double)a->ahead[2] - b->ahead[2];
    double nearer = -(along.x * x + along.y * y + along.z * z);
    double turning = tpTurningAlong(a, along) + tpTurningAlong(b, along);
    return tpNeedOf(a, b, (nearer > 0.0 ? nearer : 0.0) + turning);
}

// Takes from what is known what the two bodies have moved. True if it is still enough for the next
// step, whatever their axes of turning are.
static inline bool tpStaysApart(tpPairState* pair, const tpBodyWay* a, const tpBodyWay* b) {
    float x = a->moved[0] - b->moved[0], y = a->moved[1] - b->moved[1];
    float z = a->moved[2] - b->moved[2], way = sqrtf(x * x + y * y + z * z);
    // A little more for the rounding.
    float turned = 1.000001f * (a->turned + b->turned);
    if (pair->along == 0) {
        pair->slack -= 1.000001f * way + turned;
        // No need is larger than the margins.
        return pair->slack > (double)a->margin + b->margin || pair->slack > tpPairNeed(a, b);
    }
    float n[3] = { tpUnpackNumber(pair->along, 0), tpUnpackNumber(pair->along, 10),
                   tpUnpackNumber(pair->along, 20) };
    float nearer = tp_directionError * way - (n[0] * x + n[1] * y + n[2] * z);
    pair->slack -= nearer + turned;
    double next =
        -(n[0] * ((double)a->ahead[0] - b->ahead[0]) + n[1] * ((double)a->ahead[1] - b->ahead[1]) +
          n[2] * ((double)a->ahead[2] - b->ahead[2]));
    return pair->slack > tpNeedOf(a, b, (next > 0.0 ? next : 0.0) + a->turning + b->turning);
}

#endif
