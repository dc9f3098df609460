#include "steppers/chakraborty_trinkle/joint_action.h"

#include "steppers/chakraborty_trinkle/problem_parts.h"

// What the rows of a joint may be changed by: wrenches along its relative twist in the middle of
// the step, and couples along the spins of its bodies.
typedef struct Changes {
    double twist[2][6], spins[2][6]; // on A and B, in the components of the rows
    double square;                   // of the twist
    tpTwistScale scale;
} Changes;

// A joint may hold a body to the world itself.
static tpWaypoint waypointOf(const tpStepGeometry* geometry, int slot) {
    tpWaypoint still = { .pose = tpIdentityPose() };
    return slot >= 0 ? geometry->travels[slot].middle : still;
}

static Changes changesOf(const tpStepGeometry* geometry, const tpJoint* joint, int componentCount) {
    tpWaypoint a = waypointOf(geometry, joint->bodyA), b = waypointOf(geometry, joint->bodyB);
    tpVec3 armA = tpRotate(a.pose.rotation, joint->anchorA);
    tpVec3 armB = tpRotate(b.pose.rotation, joint->anchorB);
    tpVec3 u = tpSub(tpAdd(a.velocity.linear, tpCross(a.velocity.angular, armA)),
                     tpAdd(b.velocity.linear, tpCross(b.velocity.angular, armB)));
    tpVec3 s = tpSub(a.velocity.angular, b.velocity.angular), none = tpZeroVec3();
    Changes out;
    out.scale = tpMakeTwistScale(geometry->step->system, joint->bodyA, joint->bodyB, &a, &b,
                                 geometry->step->h);
    double square = out.scale.square;
    tpVec3 couple = tpScale(square, s);
    tpVelocity onA = { u, 0.0, tpAdd(tpCross(armA, u), couple), 0.0 };
    tpVelocity onB = { tpNeg(u), 0.0, tpNeg(tpAdd(tpCross(armB, u), couple)), 0.0 };
    tpVelocity ownA = { none, 0.0, tpScale(square, out.scale.spinA), 0.0 };
    tpVelocity ownB = { none, 0.0, tpScale(square, out.scale.spinB), 0.0 };
    tpToComponents(componentCount, &onA, out.twist[0]);
    tpToComponents(componentCount, &onB, out.twist[1]);
    tpToComponents(componentCount, &ownA, out.spins[0]);
    tpToComponents(componentCount, &ownB, out.spins[1]);
    out.square = tpLengthSquared(u) + square * tpLengthSquared(s);
    return out;
}

static double timesMiddle(const tpStepGeometry* geometry, const double* J, int componentCount,
                          int slot) {
    double v[6], sum = 0.0;
    if (slot < 0) {
        return 0.0;
    }
    tpToComponents(componentCount, &geometry->travels[slot].middle.velocity, v);
    for (int i = 0; i < componentCount; ++i) {
        sum += J[i] * v[i];
    }
    return sum;
}

// The rate (x1 - x0) / h of a spring's coordinate x over the step. Also puts it into the row of the
// end, for the velocity of that end: the spring then pulls as the mean of x0 and x1 does, which is
// what takes exactly the change of its potential energy.
//
// A row of a spring has bias (a (x - rest) - c speed) / b, with a = h stiffness, c = h damping, and
// b = a h + c at the start, b = a theta h + c at the end, where x counts from the start by the
// velocity of the row.
static double takeSpringRate(const tpRows* starts, int start, tpRows* ends, int end, double speed,
                             double h) {
    double b0 = 1.0 / starts->compliance[start], b1 = 1.0 / ends->compliance[end];
    double elastic = (b0 - starts->damping[start]) / h;
    double bend = (ends->bias[end] * b1 - starts->bias[start] * b0) / (elastic * h);
    ends->bias[end] += bend * (1.0 - elastic * h / b1);
    return speed + bend;
}

static bool isSpring(const tpRows* rows, int block, int row) {
    tpRowRole role = rows->infos[block].role;
    bool isElastic = rows->compliance[row] * rows->damping[row] < 1.0 - 1e-9;
    return (role == tp_springRole || role == tp_servoRole) && isElastic;
}

void tpStepGeometry_DirectJoint(tpStepGeometry* geometry, int block) {
    const tpTimeStep* step = geometry->step;
    const tpRows* starts = &step->rows;
    tpRows* ends = &geometry->jointEnds;
    tpRows* middles = &geometry->jointMiddles;
    int componentCount = middles->componentCount;
    if (middles->infos[block].source == tp_boundedSource || middles->infos[block].isCoupling) {
        return;
    }
    const tpJoint* joint = &step->system->joints.data[middles->infos[block].index];
    Changes changes = changesOf(geometry, joint, componentCount);
    double weight = tpTwistWeight(changes.square, changes.scale.leastPair, NULL);
    int first = starts->firstRows[geometry->contactBlocks + block];
    for (int k = 0; k < middles->dimensions[block]; ++k) {
        int at = middles->firstRows[block] + k;
        bool isElastic = isSpring(starts, geometry->contactBlocks + block, first + k);
        if (middles->compliance[at] > 0.0 && !isElastic) {
            continue;
        }
        double* JA = middles->jacobianA + (size_t)at * (size_t)componentCount;
        double* JB = middles->jacobianB + (size_t)at * (size_t)componentCount;
        double speed =
            tpRows_RowVelocity(ends, at, step->meanVelocities, joint->bodyA, joint->bodyB);
        double rate = isElastic ? takeSpringRate(starts, first + k, ends, at, speed, step->h)
                                : ends->bias[at] + speed - starts->bias[first + k];
        double work = timesMiddle(geometry, JA, componentCount, joint->bodyA) +
                      timesMiddle(geometry, JB, componentCount, joint->bodyB);
        double missing = rate - work, part = weight * missing;
        double rest = tpSpinPart(&changes.scale, missing - part * changes.square);
        for (int i = 0; i < componentCount; ++i) {
            JA[i] += part * changes.twist[0][i] + rest * changes.spins[0][i];
            JB[i] += part * changes.twist[1][i] + rest * changes.spins[1][i];
        }
    }
}
