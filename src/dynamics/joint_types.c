#include "dynamics/joint_types.h"

#include "math/elementary.h"

static const double fullTurn = 6.283185307179586477;

tpJointPlace tpJoint_Place(const tpJoint* joint, const tpPose* poses) {
    return tpJoint_PlaceAt(joint, tpPoseOrWorld(poses, joint->bodyA),
                           tpPoseOrWorld(poses, joint->bodyB));
}

tpJointRow tpHinge_Direction(const tpJoint* joint, const tpPose* poses) {
    tpJointRow row;
    row.onB.linear = tpZeroVec3();
    row.onB.angular = tpHinge_Axis(joint, tpPoseOrWorld(poses, joint->bodyA).rotation);
    row.onA = tpNegativeWrench(row.onB);
    row.error = 0.0;
    return row;
}

tpJointPlace tpJoint_PlaceAt(const tpJoint* joint, tpPose a, tpPose b) {
    tpJointPlace place;
    tpMat33 turnA = tpMatFromQuat(a.rotation);
    place.centerA = a.position;
    place.centerB = b.position;
    place.pointA = tpAdd(tpMulMV(turnA, joint->anchorA), a.position);
    place.pointB = tpTransformPoint(b, joint->anchorB);
    place.axisA = tpMulMV(turnA, joint->frameA.cx);
    place.sideA = tpMulMV(turnA, joint->frameA.cy);
    place.thirdA = tpMulMV(turnA, joint->frameA.cz);
    place.axisB = tpRotate(b.rotation, joint->frameB.cx);
    place.rotationA = a.rotation;
    place.rotationB = b.rotation;
    if (tpJointType_IsChain(joint->type)) {
        tpChain_Place(joint, a.rotation, b.rotation, tpSub(place.pointB, place.pointA),
                      &place.chain);
    } else {
        place.chain.turnCount = place.chain.slideCount = 0;
    }
    return place;
}

double tpJointRow_Speed(const tpJoint* joint, const tpJointRow* row, const tpVelocity* velocities) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    const tpWrench* sides[2] = { &row->onA, &row->onB };
    double speed = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (bodies[side] >= 0) {
            const tpVelocity* velocity = &velocities[bodies[side]];
            speed += tpDot(sides[side]->linear, velocity->linear) +
                     tpDot(sides[side]->angular, velocity->angular);
        }
    }
    return speed;
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

// Velocity of B's anchor along a direction that moves with A and with the turns of the chain: the
// point of A that matters is where B's anchor is now, and what turns do to the anchor is taken off.
static tpJointRow slideRow(const tpJointPlace* place, tpVec3 direction, double error) {
    tpJointRow row;
    row.onB = pushAt(direction, place->pointB, place->centerB);
    row.onA = tpNegativeWrench(pushAt(direction, place->pointB, place->centerA));
    for (int i = 0; i < place->chain.turnCount; ++i) {
        const tpChainAxis* turn = &place->chain.turns[i];
        double part = tpDot(direction, turn->lever);
        row.onB.angular = tpMulAdd(row.onB.angular, -part, turn->dual);
        row.onA.angular = tpMulAdd(row.onA.angular, part, turn->dual);
    }
    row.error = error;
    return row;
}

static void holdAlong(tpJointRows* list, const tpJointPlace* place, tpVec3 direction, tpVec3 gap) {
    list->rows[list->rowCount++] = slideRow(place, direction, tpDot(direction, gap));
}

static void turnRow(tpJointRows* list, tpVec3 direction, double error) {
    tpWrench onB = { tpZeroVec3(), direction };
    addRow(list, tpNegativeWrench(onB), onB, error);
}

// Chains -----------------------------------------------------------------------------------------

// What slides leave: across one, along the normal of two.
static void holdSlides(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    const tpChain* chain = &place->chain;
    if (chain->slideCount == 0) {
        holdPoint(list, place);
    } else if (chain->slideCount == 1) {
        // Directions that follow the slide smoothly.
        const tpChainAxis* slide = &chain->slides[0];
        tpVec3 across[2];
        tpMakeTangents(joint->coordinates[slide->coordinate].axis, &across[0], &across[1]);
        tpQuat rotation = tpMulQQ(place->rotationA, slide->before);
        for (int k = 0; k < 2; ++k) {
            holdAlong(list, place, tpRotate(rotation, across[k]), chain->gap);
        }
        endBlock(list, 2);
    } else if (chain->slideCount == 2) {
        tpVec3 normal = tpNormalize(tpCross(chain->slides[0].axis, chain->slides[1].axis));
        holdAlong(list, place, normal, chain->gap);
        endBlock(list, 1);
    }
}

static void holdTurns(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    const tpChain* chain = &place->chain;
    if (chain->turnCount == 0) {
        const tpVec3 axes[3] = { place->axisA, place->sideA, place->thirdA };
        for (int k = 0; k < 3; ++k) {
            turnRow(list, axes[k], tpDot(axes[k], chain->twist));
        }
        endBlock(list, 3);
    } else if (chain->turnCount == 1) {
        tpVec3 across[2];
        tpMakeTangents(joint->coordinates[chain->turns[0].coordinate].axis, &across[0], &across[1]);
        for (int k = 0; k < 2; ++k) {
            tpVec3 direction = tpRotate(place->rotationA, across[k]);
            turnRow(list, direction, tpDot(direction, chain->twist));
        }
        endBlock(list, 2);
    } else if (chain->turnCount == 2) {
        tpVec3 normal = tpNormalize(tpCross(chain->turns[0].axis, chain->turns[1].axis));
        turnRow(list, normal, tpDot(normal, chain->twist));
        endBlock(list, 1);
    }
}

static void chainRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    holdSlides(joint, place, list);
    holdTurns(joint, place, list);
}

static tpJointRow chainCoordinate(const tpJoint* joint, const tpJointPlace* place, int index) {
    const tpChain* chain = &place->chain;
    bool isTurn = joint->coordinates[index].kind == tp_turnAxis;
    const tpChainAxis* axis = isTurn ? chain->turns : chain->slides;
    while (axis->coordinate != index) {
        axis += 1;
    }
    double value = axis->value + joint->coordinates[index].def.zero;
    if (!isTurn) {
        return slideRow(place, axis->dual, value);
    }
    tpJointRow row;
    row.onB.linear = tpZeroVec3();
    row.onB.angular = axis->dual;
    row.onA = tpNegativeWrench(row.onB);
    row.error = value;
    return row;
}

// Other types ------------------------------------------------------------------------------------

static void ballRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    holdPoint(list, place);
}

// The angle between the two axes of a ball joint.
static tpJointRow swingCoordinate(const tpJoint* joint, const tpJointPlace* place, int index) {
    (void)joint;
    (void)index;
    tpJointRow row;
    tpVec3 normal = tpCross(place->axisA, place->axisB);
    double sine = tpLength(normal);
    row.onB.linear = tpZeroVec3();
    row.onB.angular = sine > 1e-9 ? tpScale(1.0 / sine, normal) : place->sideA;
    row.onA = tpNegativeWrench(row.onB);
    row.error = tpAtan2(sine, tpDot(place->axisA, place->axisB));
    return row;
}

static tpJointRow spanRow(const tpJointPlace* place, double length) {
    tpVec3 span = tpSub(place->pointB, place->pointA);
    tpVec3 direction = tpLength(span) > 0.0 ? tpNormalize(span) : place->axisA;
    tpJointRow row;
    row.onA = tpNegativeWrench(pushAt(direction, place->pointA, place->centerA));
    row.onB = pushAt(direction, place->pointB, place->centerB);
    row.error = tpDot(direction, span) - length;
    return row;
}

static tpJointRow spanCoordinate(const tpJoint* joint, const tpJointPlace* place, int index) {
    (void)joint;
    (void)index;
    return spanRow(place, 0.0);
}

// A distance is held unless something else acts on it.
static void distanceRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    if (!def->hasLimits && !def->hasSpring && !def->hasServo && !def->hasMotor) {
        list->rows[list->rowCount++] = spanRow(place, joint->startLength);
        endBlock(list, 1);
    }
}

// ratio * turn of A = turn of B, each about its own axis, as rates: axes stand still in the world.
static void gearRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    tpWrench onA = { tpZeroVec3(), tpScale(-joint->def.ratio, place->axisA) };
    tpWrench onB = { tpZeroVec3(), place->axisB };
    addRow(list, onA, onB, 0.0);
    endBlock(list, 1);
}

static void screwRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    tpVec3 gap = tpSub(place->pointB, place->pointA);
    holdAlong(list, place, place->sideA, gap);
    holdAlong(list, place, place->thirdA, gap);
    endBlock(list, 2);
    holdTurns(joint, place, list);
    double lead = joint->def.pitch / fullTurn;
    tpJointRow row = slideRow(place, place->axisA, 0.0);
    row.onB.angular = tpMulAdd(row.onB.angular, -lead, place->axisA);
    row.onA.angular = tpMulAdd(row.onA.angular, lead, place->axisA);
    row.error = tpDot(place->axisA, gap) - lead * place->chain.turns[0].value;
    list->rows[list->rowCount++] = row;
    endBlock(list, 1);
}

static void noRows(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list) {
    (void)joint;
    (void)place;
    (void)list;
}

typedef struct tpJointClass {
    bool isChain;
    void (*rows)(const tpJoint* joint, const tpJointPlace* place, tpJointRows* list);
    tpJointRow (*coordinate)(const tpJoint* joint, const tpJointPlace* place, int index);
} tpJointClass;

static const tpJointClass classes[tp_jointTypeCount] = {
    [tp_ballJoint] = { false, ballRows, swingCoordinate },
    [tp_revoluteJoint] = { true, chainRows, chainCoordinate },
    [tp_prismaticJoint] = { true, chainRows, chainCoordinate },
    [tp_cylindricalJoint] = { true, chainRows, chainCoordinate },
    [tp_universalJoint] = { true, chainRows, chainCoordinate },
    [tp_fixedJoint] = { true, chainRows, chainCoordinate },
    [tp_distanceJoint] = { false, distanceRows, spanCoordinate },
    [tp_planarJoint] = { true, chainRows, chainCoordinate },
    [tp_gearJoint] = { false, gearRows, NULL },
    [tp_screwJoint] = { true, screwRows, chainCoordinate },
    [tp_springJoint] = { false, noRows, spanCoordinate },
    [tp_compoundJoint] = { true, chainRows, chainCoordinate },
};

tpJointRows tpJoint_HeldRows(const tpJoint* joint, const tpJointPlace* place) {
    tpJointRows list;
    list.rowCount = list.blockCount = 0;
    classes[joint->type].rows(joint, place, &list);
    return list;
}

tpJointRow tpJoint_CoordinateRow(const tpJoint* joint, const tpJointPlace* place, int coordinate) {
    return classes[joint->type].coordinate(joint, place, coordinate);
}

bool tpJointType_IsChain(tpJointType type) {
    return classes[type].isChain;
}

void tpJoint_Displacements(const tpJoint* joint, const tpJointPlace* place, double* displacements) {
    (void)joint;
    const tpChain* chain = &place->chain;
    for (int i = 0; i < chain->turnCount; ++i) {
        displacements[chain->turns[i].coordinate] = chain->turns[i].value;
    }
    for (int j = 0; j < chain->slideCount; ++j) {
        displacements[chain->slides[j].coordinate] = chain->slides[j].value;
    }
}

tpPose tpJoint_PoseOfB(const tpJoint* joint, tpPose a, const double* displacements) {
    tpQuat rotation;
    tpVec3 span;
    tpChain_Pose(joint, displacements, &rotation, &span);
    if (joint->type == tp_screwJoint) {
        double slide = joint->def.pitch / fullTurn * displacements[0];
        span = tpScale(slide, joint->coordinates[0].axis);
    }
    tpPose pose;
    pose.rotation = tpNormalizeQuat(tpMulQQ(a.rotation, rotation));
    tpVec3 point = tpTransformPoint(a, tpAdd(joint->anchorA, span));
    pose.position = tpSub(point, tpRotate(pose.rotation, joint->anchorB));
    return pose;
}

void tpJoint_ApplyRow(tpSystem* system, const tpJoint* joint, const tpJointRow* row,
                      double impulse) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    const tpWrench* sides[2] = { &row->onA, &row->onB };
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(system, bodies[side])) {
            tpSystem_ApplyImpulse(system, bodies[side], tpScale(impulse, sides[side]->linear),
                                  tpScale(impulse, sides[side]->angular));
        }
    }
}
