#include "steppers/small_steps/apart.h"

#include "collision/boxes.h"
#include "geometry/shape.h"

// Directions -------------------------------------------------------------------------------------

tpPairState tpMakeApart(double slack, tpVec3 along) {
    return (tpPairState){ -1, (float)slack, tpPackDirection(along) };
}

// Shapes -----------------------------------------------------------------------------------------

tpPose tpShapePose(const tpSystem* system, const tpShape* shape) {
    tpPose pose = system->poses.data[shape->body];
    tpVec3 offset =
        tpSub(shape->form->geometry.pose.position, system->bodies.data[shape->body].center);
    tpQuat q = shape->form->geometry.pose.rotation;
    bool isTurned = q.x != 0.0 || q.y != 0.0 || q.z != 0.0;
    bool isMoved = offset.x != 0.0 || offset.y != 0.0 || offset.z != 0.0;
    tpVec3 place = isMoved ? tpAdd(pose.position, tpRotate(pose.rotation, offset)) : pose.position;
    return tpMakePose(place, isTurned ? tpMulQQ(pose.rotation, q) : pose.rotation);
}

// How far a shape reaches along a direction, from the origin.
static double reachAlong(const tpGeometry* shape, tpPose pose, tpVec3 direction) {
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    double place = tpDot(direction, pose.position);
    if (shape->type == tp_boxShape) {
        tpVec3 size = shape->box.size;
        return place +
               0.5 * (fabs(local.x) * size.x + fabs(local.y) * size.y + fabs(local.z) * size.z);
    }
    if (shape->type == tp_planeShape) {
        return tpDot(local, shape->plane.normal) > 1.0 - 1e-15 ? place + shape->plane.offset
                                                               : INFINITY;
    }
    const tpShapeClass* class = tpClassOf(shape);
    if (class->support == NULL || class->supportIsSearch) {
        return INFINITY;
    }
    return place + tpDot(local, class->support(shape, local));
}

double tpSeparationAlong(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along) {
    return -reachAlong(a, poseA, tpNeg(along)) - reachAlong(b, poseB, along);
}

// Bodies that turn by more than this in a step, rad, are not bounded by where they are at its ends.
static const double mostTurn = 3.0;

// Up to this turn, rad, series of six terms are sine and cosine to rounding, for half of what the
// quaternion takes.
static const double seriesTurn = 0.5;

// A vector turned about an axis, by the angle that is its length [rad].
static tpVec3 turnedBy(tpVec3 turn, tpVec3 v) {
    double xx = tpLengthSquared(turn);
    if (!(xx <= seriesTurn * seriesTurn)) {
        return tpRotate(tpQuatExp(turn), v);
    }
    // sin(x) / x and (1 - cos(x)) / x^2.
    double s = 1.0, c = 1.0;
    static const double sines[5] = { 1.0 / 110.0, 1.0 / 72.0, 1.0 / 42.0, 1.0 / 20.0, 1.0 / 6.0 };
    static const double cosines[5] = { 1.0 / 132.0, 1.0 / 90.0, 1.0 / 56.0, 1.0 / 30.0,
                                       1.0 / 12.0 };
    for (int k = 0; k < 5; ++k) {
        s = 1.0 - xx * sines[k] * s;
        c = 1.0 - xx * cosines[k] * c;
    }
    tpVec3 across = tpCross(turn, v);
    return tpMulAdd(tpMulAdd(v, s, across), 0.5 * c, tpCross(turn, across));
}

// How far a shape reached along a direction at the start of the step. Its orientation then, asked
// along n, is the present one, asked along n that has turned with the body.
static double reachBefore(const tpGeometry* shape, tpPose pose, const tpBodyShift* shift,
                          tpVec3 n) {
    tpVec3 turned = turnedBy(shift->turn, n);
    double center = tpDot(tpSub(n, turned), shift->center) - tpDot(n, shift->shift);
    return center + reachAlong(shape, pose, turned);
}

// The square of how far a point is from the axis about which its body turns, times that of the
// turn.
static double aboutAxis(const tpBodyShift* shift, tpVec3 point) {
    return tpLengthSquared(tpCross(shift->turn, tpSub(point, shift->center)));
}

// How far points of a body may be off from the line between where they are at both ends of the
// step: the height of the arc. Balls, and capsules as all balls along a line, have their centres
// for points, so that a capsule may roll.
static double bendOf(const tpGeometry* shape, tpPose pose, const tpBodyShift* shift) {
    double square = tpLengthSquared(shift->turn);
    // The reach of a plane is infinite.
    if (square == 0.0) {
        return 0.0;
    }
    if (!(square <= mostTurn * mostTurn)) {
        return INFINITY;
    }
    if (shape->type == tp_sphereShape) {
        return 0.125 * sqrt(aboutAxis(shift, pose.position) * square);
    }
    if (shape->type == tp_capsuleShape) {
        tpVec3 half = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 0.5 * shape->capsule.length));
        double a = aboutAxis(shift, tpAdd(pose.position, half));
        double b = aboutAxis(shift, tpSub(pose.position, half));
        return 0.125 * sqrt((a > b ? a : b) * square);
    }
    return 0.125 * shift->reach * square;
}

// The direction from B to A along which shapes are apart, if one of them is a plane: its normal, to
// the last bit. Otherwise the one that is given.
static tpVec3 alongPlane(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along) {
    return a->type == tp_planeShape   ? tpNeg(tpRotate(poseA.rotation, a->plane.normal))
           : b->type == tp_planeShape ? tpRotate(poseB.rotation, b->plane.normal)
                                      : along;
}

// Each point of a shape is on its line at any time, but for the bend. The separation along n is the
// least of what grows evenly from one end of the step to the other, so that it is never less than
// the lesser of those at both ends.
double tpLeastSeparationAlong(const tpGeometry* a, tpPose poseA, const tpBodyShift* shiftA,
                              const tpGeometry* b, tpPose poseB, const tpBodyShift* shiftB,
                              tpVec3 along) {
    double bend = bendOf(a, poseA, shiftA) + bendOf(b, poseB, shiftB);
    if (!(bend < INFINITY)) {
        return -INFINITY;
    }
    along = alongPlane(a, poseA, b, poseB, along);
    double end = tpSeparationAlong(a, poseA, b, poseB, along);
    double start =
        -reachBefore(a, poseA, shiftA, tpNeg(along)) - reachBefore(b, poseB, shiftB, along);
    return fmin(start, end) - bend;
}

bool tpFindApart(const tpSystem* system, tpShapePair shapes, const tpBodyWay* a, const tpBodyWay* b,
                 tpPairState* pair) {
    if (pair->along == 0) {
        return false;
    }
    const tpShape* shapeA = &system->shapes.data[shapes.shapeA];
    const tpShape* shapeB = &system->shapes.data[shapes.shapeB];
    tpPose poseA = tpShapePose(system, shapeA), poseB = tpShapePose(system, shapeB);
    const tpGeometry *formA = &shapeA->form->geometry, *formB = &shapeB->form->geometry;
    tpVec3 along = tpNormalize(tpUnpackDirection(pair->along));
    along = alongPlane(formA, poseA, formB, poseB, along);
    double apart = tpSeparationAlong(formA, poseA, formB, poseB, along);
    if (!(apart > 0.0 && apart > tpPairNeedAlong(a, b, along))) {
        return false;
    }
    *pair = tpMakeApart(apart, along);
    return true;
}

bool tpFindBallsApart(const tpSystem* system, tpShapePair shapes, const tpBodyWay* a,
                      const tpBodyWay* b, tpPairState* pair) {
    const tpShape* shapeA = &system->shapes.data[shapes.shapeA];
    const tpShape* shapeB = &system->shapes.data[shapes.shapeB];
    tpPose rooms[2];
    tpVec3 way = tpSub(tpFindShapePose(system, shapeA, &rooms[0])->position,
                       tpFindShapePose(system, shapeB, &rooms[1])->position);
    double distance = tpLength(way);
    double apart =
        distance - shapeA->form->geometry.sphere.radius - shapeB->form->geometry.sphere.radius;
    if (!(apart > 0.0)) {
        return false;
    }
    // Beyond what the narrow phase looks at, less has to be computed of a distance in each step. No
    // need is larger than the margins.
    double beyond = apart - tp_farther * tpPairSize(system, shapeA, shapeB);
    bool isFar = beyond > (double)a->margin + b->margin || beyond > tpPairNeed(a, b);
    tpVec3 along = isFar ? tpZeroVec3() : tpScale(1.0 / distance, way);
    if (!isFar && !(apart > tpPairNeedAlong(a, b, along))) {
        return false;
    }
    *pair = tpMakeApart(apart, along);
    return true;
}

void tpFindBoxesApart(const tpSystem* system, tpBoxesApart* list, int count) {
    tpBoxBatch batch;
    for (int lane = 0; lane < count; ++lane) {
        const tpShape* a = &system->shapes.data[list[lane].shapes.shapeA];
        const tpShape* b = &system->shapes.data[list[lane].shapes.shapeB];
        tpPose rooms[2];
        tpBoxBatch_Set(&batch, lane, &a->form->geometry, *tpFindShapePose(system, a, &rooms[0]),
                       &b->form->geometry, *tpFindShapePose(system, b, &rooms[1]));
    }
    for (int lane = count; lane < tp_boxesAtOnce; ++lane) {
        tpBoxBatch_Copy(&batch, count - 1, lane);
    }
    tpBoxBatch_FindAxes(&batch);
    for (int lane = 0; lane < count; ++lane) {
        tpBoxesApart* boxes = &list[lane];
        double apart = batch.separation[lane];
        boxes->isApart = false;
        if (!(apart > 0.0)) {
            continue;
        }
        tpVec3 along = tpBoxBatch_FaceNormal(&batch, lane);
        boxes->isApart = apart > tpPairNeedAlong(boxes->a, boxes->b, along);
        if (boxes->isApart) {
            *boxes->pair = tpMakeApart(apart, along);
        }
    }
}
