#include "dynamics/joint_types.h"
#include "math/elementary.h"

// The angle nearest to `last` among those that differ from `angle` by whole turns.
static double nearestTurn(double angle, double last) {
    const double full = 6.283185307179586477;
    return angle + full * nearbyint((last - angle) / full);
}

tpJointPlace tpJoint_Place(const tpJoint* joint, const tpPose* poses) {
    tpPose a = tpPoseOrWorld(poses, joint->bodyA);
    tpPose b = tpPoseOrWorld(poses, joint->bodyB);
    tpJointPlace place;
    place.centerA = a.position;
    place.centerB = b.position;
    place.pointA = tpTransformPoint(a, joint->anchorA);
    place.pointB = tpTransformPoint(b, joint->anchorB);
    place.axisA = tpRotate(a.rotation, joint->frameA.cx);
    place.sideA = tpRotate(a.rotation, joint->frameA.cy);
    place.thirdA = tpRotate(a.rotation, joint->frameA.cz);
    place.axisB = tpRotate(b.rotation, joint->frameB.cx);
    tpQuat start = tpMulQQ(a.rotation, joint->relativeRotation);
    tpQuat relative = tpMulQQ(b.rotation, tpConjugate(start));
    place.twist = tpQuatLog(relative);
    tpVec3 vector = tpMakeVec3(relative.x, relative.y, relative.z);
    double angle = 2.0 * tpAtan2(tpDot(vector, place.axisA), relative.w);
    place.turn = nearestTurn(angle, joint->turn);
    return place;
}

// Rows ------------------------------------------------------------------------------------------

static void addRow(tpJointRows* list, tpWrench onA, tpWrench onB, double error) {
    tpJointRow row = { onA, onB, error };
    list->rows[list->rowCount++] = row;
}

static void endBlock(tpJointRows* list, int size) {
    list->blockSizes[list->blockCount++] = size;
}

static tpWrench pushAt(tpVec3 direction, tpVec3 point, tpVec3 center) {
    tpWrench wrench = { direction, tpCross(tpSub(point, center), direction) };
    return wrench;
}

// The two anchors are one point.
static void holdPoint(tpJointRows* list, const tpJointPlace* place) {
    tpVec3 error = tpSub(place->pointB, place->pointA);
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    for (int k = 0; k < 3; ++k) {
        addRow(list, tpNegativeWrench(pushAt(axes[k], place->pointA, place->centerA)),
               pushAt(axes[k], place->pointB, place->centerB), tpDot(axes[k], error));
    }
    endBlock(list, 3);
}

// Anchor B stays in place along a direction fixed in A: the point of A that matters is where B's
// anchor is now.
static void holdAlong(tpJointRows* list, const tpJointPlace* place, tpVec3 direction) {
    double error = tpDot(direction, tpSub(place->pointB, place->pointA));
    addRow(list, tpNegativeWrench(pushAt(direction, place->pointB, place->centerA)),
           pushAt(direction, place->pointB, place->centerB), error);
}

static void holdAcross(tpJointRows* list, const tpJointPlace* place) {
    holdAlong(list, place, place->sideA);
    holdAlong(list, place, place->thirdA);
    endBlock(list, 2);
}

static void turnRow(tpJointRows* list, tpVec3 direction, double error) {
    tpWrench onB = { tpZeroVec3(), direction };
    addRow(list, tpNegativeWrench(onB), onB, error);
}

// The axes of A and B stay parallel: a x b has no part across.
static void holdAxes(tpJointRows* list, const tpJointPlace* place) {
    tpVec3 error = tpCross(place->axisA, place->axisB);
    turnRow(list, place->sideA, tpDot(place->sideA, error));
    turnRow(list, place->thirdA, tpDot(place->thirdA, error));
    endBlock(list, 2);
}

static void holdRotation(tpJointRows* list, const tpJointPlace* place) {
    const tpVec3 axes[3] = { place->axisA, place->sideA, place->thirdA };
    for (int k = 0; k < 3; ++k) {
        turnRow(list, axes[k], tpDot(axes[k], place->twist));
    }
    endBlock(list, 3);
}

// Types -----------------------------------------------------------------------------------------

static void ballRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdPoint(list, place);
}

static void revoluteRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdPoint(list, place);
    holdAxes(list, place);
}

static void prismaticRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdAcross(list, place);
    holdRotation(list, place);
}

static void cylindricalRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdAcross(list, place);
    holdAxes(list, place);
}

// The two axes stay at the angle they had (usually a right one).
static void universalRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    holdPoint(list, place);
    tpVec3 normal = tpCross(place->axisA, place->axisB);
    double wanted = joint->startCosine;
    double error = wanted - tpDot(place->axisA, place->axisB);
    double sine = tpLength(normal);
    if (sine > 1e-6) {
        // d/dt (a . b) = -(w_B - w_A) . (a x b): the row's velocity is that of -cosine / sine.
        turnRow(list, tpScale(1.0 / sine, normal), error / sine);
        endBlock(list, 1);
    }
}

static void fixedRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdPoint(list, place);
    holdRotation(list, place);
}

static tpVec3 spanDirection(const tpJointPlace* place) {
    tpVec3 span = tpSub(place->pointB, place->pointA);
    return tpLength(span) > 0.0 ? tpNormalize(span) : place->axisA;
}

static void spanRow(const tpJointPlace* place, double length, tpJointRows* list) {
    tpVec3 direction = spanDirection(place);
    double now = tpDot(direction, tpSub(place->pointB, place->pointA));
    addRow(list, tpNegativeWrench(pushAt(direction, place->pointA, place->centerA)),
           pushAt(direction, place->pointB, place->centerB), now - length);
}

static void distanceRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    if (!joint->def.hasLimits && !joint->def.hasSpring) {
        spanRow(place, joint->startLength, list);
        endBlock(list, 1);
    }
}

static void planarRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdAlong(list, place, place->axisA);
    endBlock(list, 1);
    holdAxes(list, place);
}

// ratio * turn of A = turn of B, each about its own axis, as rates: axes stand still in the world.
static void gearRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    tpWrench onA = { tpZeroVec3(), tpScale(-joint->def.ratio, place->axisA) };
    tpWrench onB = { tpZeroVec3(), place->axisB };
    addRow(list, onA, onB, 0.0);
    endBlock(list, 1);
}

static void screwRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    holdAcross(list, place);
    holdAxes(list, place);
    double lead = joint->def.pitch / 6.283185307179586477;
    double slide = tpDot(place->axisA, tpSub(place->pointB, place->pointA));
    tpWrench onB = pushAt(place->axisA, place->pointB, place->centerB);
    tpWrench onA = tpNegativeWrench(pushAt(place->axisA, place->pointB, place->centerA));
    onB.angular = tpMulAdd(onB.angular, -lead, place->axisA);
    onA.angular = tpMulAdd(onA.angular, lead, place->axisA);
    addRow(list, onA, onB, slide - lead * place->turn);
    endBlock(list, 1);
}

static void noRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    (void)place;
    (void)list;
}

// Coordinates: the one quantity that limits, motors, springs and dry friction act on.

static tpJointRow turnCoordinate(const tpJointPlace* place) {
    tpJointRow row;
    row.onB.linear = tpZeroVec3();
    row.onB.angular = place->axisA;
    row.onA = tpNegativeWrench(row.onB);
    row.error = place->turn;
    return row;
}

static tpJointRow slideCoordinate(const tpJointPlace* place) {
    tpJointRow row;
    row.onB = pushAt(place->axisA, place->pointB, place->centerB);
    row.onA = tpNegativeWrench(pushAt(place->axisA, place->pointB, place->centerA));
    row.error = tpDot(place->axisA, tpSub(place->pointB, place->pointA));
    return row;
}

static tpJointRow spanCoordinate(const tpJointPlace* place) {
    tpJointRows list = { .rowCount = 0, .blockCount = 0 };
    spanRow(place, 0.0, &list);
    return list.rows[0];
}

// The angle between the two axes of a ball joint.
static tpJointRow swingCoordinate(const tpJointPlace* place) {
    tpJointRow row;
    tpVec3 normal = tpCross(place->axisA, place->axisB);
    double sine = tpLength(normal);
    row.onB.linear = tpZeroVec3();
    row.onB.angular = sine > 1e-9 ? tpScale(1.0 / sine, normal) : place->sideA;
    row.onA = tpNegativeWrench(row.onB);
    row.error = tpAtan2(sine, tpDot(place->axisA, place->axisB));
    return row;
}

typedef struct tpJointClass {
    void (*rows)(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list);
    tpJointRow (*coordinate)(const tpJointPlace* place); // NULL where there is none
} tpJointClass;

static const tpJointClass classes[tp_jointTypeCount] = {
    [tp_ballJoint] = { ballRows, swingCoordinate },
    [tp_revoluteJoint] = { revoluteRows, turnCoordinate },
    [tp_prismaticJoint] = { prismaticRows, slideCoordinate },
    [tp_cylindricalJoint] = { cylindricalRows, slideCoordinate },
    [tp_universalJoint] = { universalRows, NULL },
    [tp_fixedJoint] = { fixedRows, NULL },
    [tp_distanceJoint] = { distanceRows, spanCoordinate },
    [tp_planarJoint] = { planarRows, NULL },
    [tp_gearJoint] = { gearRows, NULL },
    [tp_screwJoint] = { screwRows, turnCoordinate },
    [tp_springJoint] = { noRows, spanCoordinate },
};

tpJointRows tpJoint_HeldRows(const tpJoint* joint, const tpJointPlace* place) {
    tpJointRows list = { .rowCount = 0, .blockCount = 0 };
    classes[joint->type].rows(joint, place, &list);
    return list;
}

bool tpJoint_Coordinate(const tpJoint* joint, const tpJointPlace* place, tpJointRow* row) {
    if (classes[joint->type].coordinate == NULL) {
        return false;
    }
    *row = classes[joint->type].coordinate(place);
    return true;
}
