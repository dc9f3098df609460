#include "dynamics/joint_laws.h"

#include "dynamics/couplings.h"
#include "dynamics/locks.h"

// A limit this near counts as reached, in units of length, or rad.
static const double limitReached = 1e-9;

// The row that sets the load of a bounded force has at most this for a velocity, m/s.
static const double loadSpeed = 1.0;

// Rows of a coordinate ---------------------------------------------------------------------------

// Rows on which damping, dry friction and armature act: the coordinate itself, or the three turns
// of a ball joint in the axes of A.
static int ownRows(const tpJoint* joint, const tpJointPlace* place, const tpJointRow* row,
                   tpJointRow list[3]) {
    if (joint->type != tp_ballJoint) {
        list[0] = *row;
        return 1;
    }
    const tpVec3 axes[3] = { place->axisA, place->sideA, place->thirdA };
    for (int k = 0; k < 3; ++k) {
        list[k].onB.linear = tpZeroVec3();
        list[k].onB.angular = axes[k];
        list[k].onA = tpNegativeWrench(list[k].onB);
        list[k].error = 0.0;
    }
    return 3;
}

void tpJoint_CountLaws(const tpJoint* joint, int* blocks, int* rows) {
    int turns = joint->type == tp_ballJoint ? 3 : 1;
    for (int i = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinateDef* def = &joint->coordinates[i].def;
        int limits = def->hasLimits ? 2 : 0, springs = def->hasSpring ? 1 : 0;
        int drives = (def->hasServo ? 1 : 0) + (def->hasMotor ? 1 : 0);
        int frictions = def->friction > 0.0 ? turns : 0;
        int inertias = (def->damping > 0.0 ? turns : 0) + (def->armature > 0.0 ? turns : 0);
        *blocks += limits + springs + drives + frictions + inertias;
        *rows += limits + springs + 2 * drives + 2 * frictions + inertias;
    }
}

static tpLawRow lawRowOf(const tpJoint* joint, const tpJointRow* row) {
    return (tpLawRow){ joint->bodyA, joint->bodyB, *row, 0, NULL, NULL };
}

// Directions of a row.
static void setRow(tpRows* rows, const tpSystem* system, int block, int k, const tpLawRow* row,
                   double sign) {
    bool isPositive = sign > 0.0;
    if (isPositive) {
        tpRows_WriteRow(rows, rows->firstRows[block] + k, &row->row.onA, &row->row.onB);
    } else {
        tpRows_SetRow(rows, block, k, tpNegativeWrench(row->row.onA),
                      tpNegativeWrench(row->row.onB));
    }
    for (int i = 0; i < row->moreCount; ++i) {
        tpRows_AddTerm(rows, system, block, k, row->moreBodies[i],
                       isPositive ? row->more[i] : tpNegativeWrench(row->more[i]));
    }
}

void tpLawRow_Place(tpRows* rows, const tpSystem* system, int block, int k, const tpLawRow* row,
                    double sign, const tpJointTreatment* treatment) {
    setRow(rows, system, block, k, row, sign);
    int index = rows->firstRows[block] + k;
    rows->bias[index] = treatment->gain * sign * row->row.error / treatment->h;
    if (treatment->linearised != NULL) {
        rows->bias[index] -=
            tpRows_RowVelocity(rows, index, treatment->linearised, row->bodyA, row->bodyB);
    }
}

// An impulse of at most `limit` that drives the row's velocity, bias and compliance included, to
// zero. Returns the row.
static int addBounded(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      double limit) {
    info.source = tp_boundedSource;
    int block = tpRows_AddBlock(rows, system, info, tp_frictionCone, 2, row->bodyA, row->bodyB);
    int first = rows->firstRows[block];
    rows->mu[block] = 1.0;
    // The load is the limit; scaled so that strong motors have no large numbers among the
    // velocities.
    rows->compliance[first] = loadSpeed / (loadSpeed + limit);
    rows->bias[first] = -limit * rows->compliance[first];
    rows->impulse[first] = limit; // solvers start from what is known
    setRow(rows, system, block, 1, row, 1.0);
    return first + 1;
}

int tpLawRow_AddFree(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row) {
    int block = tpRows_OpenBlock(rows, system, info, tp_frictionFree, 1, row->bodyA, row->bodyB);
    setRow(rows, system, block, 0, row, 1.0);
    return rows->firstRows[block];
}

void tpLawRow_AddHeld(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpJointTreatment* treatment) {
    int block = tpRows_OpenBlock(rows, system, info, tp_frictionFree, 1, row->bodyA, row->bodyB);
    tpLawRow_Place(rows, system, block, 0, row, 1.0, treatment);
}

void tpLawRow_AddForce(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                       const tpForceLaw* law, const tpJointTreatment* treatment, double part,
                       bool isHalf) {
    double theta = treatment->theta > 0.0 ? treatment->theta : 1.0;
    double duration = part * treatment->h, lag = isHalf ? duration : theta * treatment->h;
    if (!(tpForceLaw_Soften(law, duration, lag, 0.0).stiffness > 0.0)) {
        return;
    }
    bool isBounded = isfinite(law->limit);
    int k = isBounded ? addBounded(rows, system, info, row, duration * law->limit)
                      : tpLawRow_AddFree(rows, system, info, row);
    double stretch = row->row.error - law->rest;
    if (treatment->linearised != NULL) {
        // The value is that at the poses given; the row counts from the start of the step.
        stretch -= treatment->h *
                   tpRows_RowVelocity(rows, k, treatment->linearised, row->bodyA, row->bodyB);
    }
    tpSoftLaw soft = tpForceLaw_Soften(law, duration, lag, stretch);
    rows->compliance[k] = 1.0 / soft.stiffness;
    rows->damping[k] = soft.damping;
    rows->bias[k] = soft.bias;
}

void tpLawRow_AddLimits(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                        const double limits[2], const tpJointTreatment* treatment) {
    info.role = tp_limitRole;
    for (int side = 0; side < 2; ++side) {
        if (!isfinite(limits[side])) {
            continue;
        }
        tpLawRow limit = *row;
        limit.row.error -= limits[side];
        double room = side == 0 ? limit.row.error : -limit.row.error;
        if (treatment->gain == 0.0 && room > limitReached * system->units.length) {
            continue; // on velocities alone a limit acts where it has been reached
        }
        info.part = side;
        int block =
            tpRows_OpenBlock(rows, system, info, tp_frictionNonnegative, 1, row->bodyA, row->bodyB);
        tpLawRow_Place(rows, system, block, 0, &limit, side == 0 ? 1.0 : -1.0, treatment);
    }
}

// Springs, servo and damping.
static void addForces(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpLawRow* own, int ownCount, const tpJointTreatment* treatment,
                      tpLawRows laws) {
    const tpCoordinate* coordinate = &system->joints.data[info.index].coordinates[info.coordinate];
    const tpCoordinateDef* def = &coordinate->def;
    bool isHalf = laws == tp_firstHalfLaws;
    if (def->hasSpring) {
        info.role = tp_springRole;
        tpForceLaw law = { def->spring.stiffness, def->spring.damping, def->spring.rest, 0.0,
                           INFINITY };
        tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                          isHalf ? coordinate->springShare : 1.0, isHalf);
    }
    if (def->hasServo) {
        info.role = tp_servoRole;
        tpForceLaw law = { def->servo.stiffness, def->servo.damping, def->servo.target,
                           def->servo.speed, def->servo.effort };
        tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                          isHalf ? coordinate->servoShare : 1.0, isHalf);
    }
    if (def->damping > 0.0) {
        info.role = tp_damperRole;
        tpForceLaw law = { 0.0, def->damping, 0.0, 0.0, INFINITY };
        for (int k = 0; k < ownCount; ++k) {
            info.part = k;
            tpLawRow_AddForce(rows, system, info, &own[k], &law, treatment,
                              isHalf ? coordinate->damperShare : 1.0, isHalf);
        }
    }
}

// A rotor of inertia a that moves with the coordinate: its speed s changes by -r / a, and the row
// is the coordinate's rate less that speed. Of a coordinate that is a turn or a slide the position
// is held too.
static void addRotor(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* own,
                     int ownCount, const tpJointTreatment* treatment) {
    const tpJoint* joint = &system->joints.data[info.index];
    const tpCoordinate* coordinate = &joint->coordinates[info.coordinate];
    double theta = treatment->theta > 0.0 ? treatment->theta : 1.0;
    info.role = joint->type == tp_ballJoint ? tp_turnRotorRole : tp_rotorRole;
    for (int k = 0; k < ownCount; ++k) {
        tpLawRow row = own[k];
        row.row.error -= coordinate->startValue;
        info.part = k;
        tpLawRow_AddHeld(rows, system, info, &row, treatment);
        int index = rows->rowCount - 1;
        rows->compliance[index] = theta / coordinate->def.armature;
        rows->rotor[index] = coordinate->rotorSpeed[k];
        rows->bias[index] -= coordinate->rotorSpeed[k];
    }
}

static bool isLawless(const tpCoordinateDef* def) {
    return !def->hasLimits && !def->hasSpring && !def->hasServo && !def->hasMotor &&
           def->damping == 0.0 && def->friction == 0.0 && def->armature == 0.0;
}

static void addLaws(tpRows* rows, const tpSystem* system, int index, int number,
                    const tpLawRow* row, const tpLawRow* own, int ownCount,
                    const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    const tpCoordinateDef* def = &joint->coordinates[number].def;
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .coordinate = number };
    if (def->hasLimits) {
        const double limits[2] = { tpCoordinate_MeetsLimit(joint, number, 0) ? def->limits[0]
                                                                             : -INFINITY,
                                   def->limits[1] };
        tpLawRow_AddLimits(rows, system, info, row, limits, treatment);
    }
    if (laws != tp_noLaws) {
        addForces(rows, system, info, row, own, ownCount, treatment, laws);
    }
    double motor = def->hasMotor ? treatment->duration * def->motor.effort : 0.0;
    if (motor > 0.0) {
        info.role = tp_motorRole;
        int k = addBounded(rows, system, info, row, motor);
        rows->bias[k] = -def->motor.speed;
    }
    double friction = treatment->duration * def->friction;
    for (int k = 0; friction > 0.0 && k < ownCount; ++k) {
        info.role = tp_frictionRole;
        addBounded(rows, system, info, &own[k], friction);
    }
    if (def->armature > 0.0) {
        addRotor(rows, system, info, own, ownCount, treatment);
    }
}

void tpJoint_AddLaws(tpRows* rows, const tpSystem* system, int index, int number,
                     const tpJointPlace* place, const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    if (isLawless(&joint->coordinates[number].def)) {
        return;
    }
    tpJointRow list[3], first = tpJoint_CoordinateRow(joint, place, number);
    int ownCount = ownRows(joint, place, &first, list);
    tpLawRow row = lawRowOf(joint, &first), own[3];
    for (int k = 0; k < ownCount; ++k) {
        own[k] = lawRowOf(joint, &list[k]);
    }
    addLaws(rows, system, index, number, &row, own, ownCount, treatment, laws);
}

void tpHinge_AddLaws(tpRows* rows, const tpSystem* system, int index, tpVec3 axis, double value,
                     const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    if (isLawless(&joint->coordinates[0].def)) {
        return;
    }
    tpLawRow row = { .bodyA = joint->bodyA, .bodyB = joint->bodyB };
    row.row.onA.angular = tpNeg(axis);
    row.row.onB.angular = axis;
    row.row.error = value;
    addLaws(rows, system, index, 0, &row, &row, 1, treatment, laws);
}

double tpPastLimit(const double limits[2], double value) {
    return fmin(value - limits[0], 0.0) + fmax(value - limits[1], 0.0);
}

// Shares -----------------------------------------------------------------------------------------

// Change of a body's velocity by a wrench.
static tpWrench responseOf(const tpSystem* system, int body, const tpWrench* wrench) {
    tpWrench change = { tpZeroVec3(), tpZeroVec3() };
    if (tpSystem_IsDynamic(system, body)) {
        const tpBody* owner = &system->bodies.data[body];
        change.linear = tpLocks_Linear(owner->locked, tpScale(owner->inverseMass, wrench->linear));
        change.linear.z = system->isPlanar ? 0.0 : change.linear.z;
        change.angular = tpMulMV(tpSystem_InverseInertia(system, body), wrench->angular);
    }
    return change;
}

static double dotWrench(const tpWrench* a, const tpWrench* b) {
    return tpDot(a->linear, b->linear) + tpDot(a->angular, b->angular);
}

// Velocity of a coordinate under a unit impulse in it, when the joint holds what it holds and the
// bodies are otherwise free: no less than in the whole mechanism. By elimination of the held rows
// one after the other.
static double freeResponse(const tpSystem* system, const tpJoint* joint, const tpJointPlace* place,
                           const tpJointRow* row) {
    tpJointRows held = tpJoint_HeldRows(joint, place);
    int n = held.rowCount;
    double W[tp_maxHeldRows + 1][tp_maxHeldRows + 1] = { { 0.0 } };
    for (int j = 0; j <= n; ++j) {
        const tpJointRow* column = j < n ? &held.rows[j] : row;
        tpWrench a = responseOf(system, joint->bodyA, &column->onA);
        tpWrench b = responseOf(system, joint->bodyB, &column->onB);
        for (int i = 0; i <= n; ++i) {
            const tpJointRow* other = i < n ? &held.rows[i] : row;
            W[i][j] = dotWrench(&other->onA, &a) + dotWrench(&other->onB, &b);
        }
    }
    for (int k = 0; k < n; ++k) {
        double pivot = W[k][k];
        for (int i = k + 1; i <= n && pivot > 1e-12 * W[n][n]; ++i) {
            double factor = W[i][k] / pivot;
            for (int j = k + 1; j <= n; ++j) {
                W[i][j] -= factor * W[k][j];
            }
        }
    }
    return fmax(W[n][n], 0.0);
}

// The share of a law's impulse before the drift: half of it, and with that second order, unless its
// fastest rate z, in units of the step, is so fast that the half after the drift would turn the
// motion round.
double tpLawShare(double h, double stiffness, double damping, double response) {
    double half = 0.5 * h * damping * response, square = h * h * stiffness * response;
    // z = half + sqrt(half^2 + square) is above 2 if and only if this is.
    if (!(4.0 * half + square > 4.0)) {
        return 0.5;
    }
    double z = half + sqrt(half * half + square);
    return z > 2.0 ? 1.0 - 1.0 / z : 0.5;
}

// What armature leaves of a response.
static double withArmature(double response, double armature) {
    return response > 0.0 ? 1.0 / (1.0 / response + armature) : 0.0;
}

double tpCoordinate_Response(const tpSystem* system, const tpJoint* joint,
                             const tpJointPlace* place, int coordinate) {
    tpJointRow row = tpJoint_CoordinateRow(joint, place, coordinate);
    double response = freeResponse(system, joint, place, &row);
    return withArmature(response, joint->coordinates[coordinate].def.armature);
}

// The same if the joint held nothing: no less.
static double looseResponse(const tpSystem* system, const tpJoint* joint, const tpJointPlace* place,
                            int coordinate) {
    tpJointRow row = tpJoint_CoordinateRow(joint, place, coordinate);
    tpWrench a = responseOf(system, joint->bodyA, &row.onA);
    tpWrench b = responseOf(system, joint->bodyB, &row.onB);
    double response = dotWrench(&row.onA, &a) + dotWrench(&row.onB, &b);
    return withArmature(response, joint->coordinates[coordinate].def.armature);
}

double tpHinge_Speed(const tpJoint* joint, tpQuat rotationA, const tpVec3* spinA,
                     const tpVec3* spinB) {
    // The bits of tpJointRow_Speed.
    tpVec3 axis = tpRotate(rotationA, joint->coordinates[0].axis);
    double speed = 0.0;
    speed += spinA != NULL ? tpDot(tpNeg(axis), *spinA) : 0.0;
    speed += spinB != NULL ? tpDot(axis, *spinB) : 0.0;
    return speed;
}

static double turnSpeed(const tpSystem* system, const tpJoint* joint) {
    const tpVelocity* velocities = system->velocities.data;
    return tpHinge_Speed(joint, tpPoseOrWorld(system->poses.data, joint->bodyA).rotation,
                         joint->bodyA >= 0 ? &velocities[joint->bodyA].angular : NULL,
                         joint->bodyB >= 0 ? &velocities[joint->bodyB].angular : NULL);
}

static bool isSingleTurn(const tpJoint* joint) {
    return joint->type == tp_revoluteJoint && tpJoint_IsHinge(joint);
}

// A rotor goes on at its own speed if nobody has changed the coordinate's since the last step.
static void takeSpeed(const tpSystem* system, tpCoordinate* coordinate, int k, double speed) {
    if (!system->carriesRotors) {
        bool goesOn = speed == coordinate->endSpeed[k];
        coordinate->rotorSpeed[k] = goesOn ? coordinate->rotorSpeed[k] : speed;
        coordinate->endSpeed[k] = NAN;
    }
}

static void beginRotor(const tpSystem* system, tpJoint* joint, const tpJointPlace* place,
                       int index) {
    tpCoordinate* coordinate = &joint->coordinates[index];
    tpJointRow row = tpJoint_CoordinateRow(joint, place, index), own[3];
    int count = ownRows(joint, place, &row, own);
    coordinate->startValue = own[0].error;
    for (int k = 0; k < count; ++k) {
        takeSpeed(system, coordinate, k, tpJointRow_Speed(joint, &own[k], system->velocities.data));
    }
}

static void endRotor(const tpSystem* system, tpJoint* joint, const tpJointPlace* place, int index) {
    tpJointRow row = tpJoint_CoordinateRow(joint, place, index), own[3];
    int count = ownRows(joint, place, &row, own);
    for (int k = 0; k < count; ++k) {
        joint->coordinates[index].endSpeed[k] =
            tpJointRow_Speed(joint, &own[k], system->velocities.data);
    }
}

// Shares of the laws of a coordinate. True if all are halves, as they are for any lesser response.
static bool setShares(tpCoordinate* coordinate, double h, double response) {
    const tpCoordinateDef* def = &coordinate->def;
    // The stiffness of a spring is taken by the mean of both ends, whatever it is: that keeps its
    // energy.
    coordinate->springShare = tpLawShare(h, 0.0, def->spring.damping, response);
    coordinate->servoShare = tpLawShare(h, def->servo.stiffness, def->servo.damping, response);
    coordinate->damperShare = tpLawShare(h, 0.0, def->damping, response);
    return coordinate->springShare == 0.5 && coordinate->servoShare == 0.5 &&
           coordinate->damperShare == 0.5;
}

static void beginCoordinate(tpSystem* system, tpJoint* joint, const tpJointPlace* place, int index,
                            double h) {
    tpCoordinate* coordinate = &joint->coordinates[index];
    const tpCoordinateDef* def = &coordinate->def;
    beginRotor(system, joint, place, index);
    bool isForced = def->hasSpring || def->hasServo || def->damping > 0.0;
    if (isForced && !setShares(coordinate, h, looseResponse(system, joint, place, index))) {
        setShares(coordinate, h, tpCoordinate_Response(system, joint, place, index));
    }
}

// The same of a single turn in space, which needs no place: an impulse about its axis turns each
// body by its inverse inertia.
static void beginTurn(tpSystem* system, tpJoint* joint, double h) {
    tpCoordinate* coordinate = &joint->coordinates[0];
    const tpCoordinateDef* def = &coordinate->def;
    tpQuat rotations[2] = { tpPoseOrWorld(system->poses.data, joint->bodyA).rotation,
                            tpPoseOrWorld(system->poses.data, joint->bodyB).rotation };
    coordinate->startValue = tpHinge_Value(joint, rotations[0], rotations[1]) + def->zero;
    takeSpeed(system, coordinate, 0, turnSpeed(system, joint));
    if (!(def->hasSpring || def->hasServo || def->damping > 0.0)) {
        return;
    }
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    tpVec3 axis = tpRotate(rotations[0], coordinate->axis);
    double response = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(system, bodies[side])) {
            tpMat33 inverse = tpSystem_InverseInertia(system, bodies[side]);
            response += tpDot(axis, tpMulMV(inverse, axis));
        }
    }
    if (!setShares(coordinate, h, withArmature(response, def->armature))) {
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        setShares(coordinate, h, tpCoordinate_Response(system, joint, &place, 0));
    }
}

static int rootOf(int* parents, int body) {
    while (parents[body] != body) {
        parents[body] = parents[parents[body]];
        body = parents[body];
    }
    return body;
}

// One share for all servos of a mechanism, the largest: with different ones the servos of coupled
// coordinates could give each other energy.
static void levelShares(tpSystem* system) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    int* parents = TP_SCRATCH(&system->arena, int, system->bodyCount);
    double* shares = TP_SCRATCH(&system->arena, double, system->bodyCount);
    if (parents == NULL || shares == NULL) {
        return;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        parents[i] = i;
        shares[i] = 0.5;
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        bool isBetween = joint->isLive && tpSystem_IsDynamic(system, joint->bodyA) &&
                         tpSystem_IsDynamic(system, joint->bodyB);
        if (isBetween) {
            parents[rootOf(parents, joint->bodyA)] = rootOf(parents, joint->bodyB);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        int first = tpCoupling_AnyBody(system, i), body;
        for (int k = 0; first >= 0 && tpCoupling_BodyAt(system, i, k, &body); ++k) {
            if (tpSystem_IsDynamic(system, body)) {
                parents[rootOf(parents, body)] = rootOf(parents, first);
            }
        }
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < system->joints.count; ++i) {
            tpJoint* joint = &system->joints.data[i];
            int body = tpSystem_IsDynamic(system, joint->bodyB) ? joint->bodyB : joint->bodyA;
            for (int k = 0; joint->isLive && body >= 0 && k < joint->coordinateCount; ++k) {
                double* share = &shares[rootOf(parents, body)];
                tpCoordinate* coordinate = &joint->coordinates[k];
                if (pass == 0 && coordinate->def.hasServo) {
                    *share = fmax(*share, coordinate->servoShare);
                }
                coordinate->servoShare = pass == 1 ? *share : coordinate->servoShare;
            }
        }
        for (int i = 0; i < system->couplings.count; ++i) {
            int body = tpCoupling_AnyBody(system, i);
            tpCoupling* coupling = &system->couplings.data[i];
            if (body >= 0 && coupling->def.hasServo) {
                double* share = &shares[rootOf(parents, body)];
                *share = fmax(*share, coupling->servoShare);
                coupling->servoShare = pass == 1 ? *share : coupling->servoShare;
            }
        }
    }
    tpArena_Release(&system->arena, mark);
}

static bool hasState(const tpCoordinateDef* def) {
    return def->armature > 0.0 || def->hasSpring || def->hasServo || def->damping > 0.0;
}

void tpJoints_BeginLaws(tpSystem* system, double h) {
    bool isStiff = tpCouplings_Begin(system, h);
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && isSingleTurn(joint)) {
            const tpCoordinate* coordinate = &joint->coordinates[0];
            if (hasState(&coordinate->def)) {
                beginTurn(system, joint, h);
                isStiff = isStiff || (coordinate->def.hasServo && coordinate->servoShare > 0.5);
            }
            continue;
        }
        tpJointPlace place;
        bool isPlaced = false;
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            if (hasState(&joint->coordinates[k].def)) {
                place = isPlaced ? place : tpJoint_Place(joint, system->poses.data);
                isPlaced = true;
                beginCoordinate(system, joint, &place, k, h);
                const tpCoordinate* coordinate = &joint->coordinates[k];
                isStiff = isStiff || (coordinate->def.hasServo && coordinate->servoShare > 0.5);
            }
        }
    }
    if (isStiff) {
        levelShares(system);
    }
}

typedef void RotorVisit(const tpSystem* system, tpJoint* joint, const tpJointPlace* place,
                        int index);

// A single turn needs no place: its angle and its speed.
typedef void HingeVisit(const tpSystem* system, tpJoint* joint);

static void beginHinge(const tpSystem* system, tpJoint* joint) {
    takeSpeed(system, &joint->coordinates[0], 0, turnSpeed(system, joint));
}

static void endHinge(const tpSystem* system, tpJoint* joint) {
    joint->coordinates[0].endSpeed[0] = turnSpeed(system, joint);
}

static void visitRotors(const tpSystem* system, tpJoint* joint, HingeVisit* visitHinge,
                        RotorVisit* visit) {
    tpJointPlace place;
    bool isPlaced = false;
    if (joint->isLive && isSingleTurn(joint)) {
        if (joint->coordinates[0].def.armature > 0.0) {
            visitHinge(system, joint);
        }
        return;
    }
    for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
        if (joint->coordinates[k].def.armature > 0.0) {
            place = isPlaced ? place : tpJoint_Place(joint, system->poses.data);
            isPlaced = true;
            visit(system, joint, &place, k);
        }
    }
}

void tpJoints_BeginRotors(tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        visitRotors(system, &system->joints.data[i], beginHinge, beginRotor);
    }
}

void tpJoint_EndRotors(const tpSystem* system, tpJoint* joint) {
    visitRotors(system, joint, endHinge, endRotor);
}

void tpJoints_EndRotors(tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint_EndRotors(system, &system->joints.data[i]);
    }
}

// Energies ---------------------------------------------------------------------------------------

// The rate of a joint that is a single turn: its angle is not needed.
static double hingeSpeed(const tpSystem* system, const tpJoint* joint) {
    const tpVelocity* velocities = system->velocities.data;
    tpVec3 axis = joint->coordinates[0].axis, turn = tpZeroVec3();
    if (joint->bodyA >= 0) {
        axis = tpRotate(system->poses.data[joint->bodyA].rotation, axis);
        turn = tpNeg(velocities[joint->bodyA].angular);
    }
    turn = joint->bodyB >= 0 ? tpAdd(turn, velocities[joint->bodyB].angular) : turn;
    return tpDot(axis, turn);
}

double tpJoints_KineticEnergy(const tpSystem* system) {
    double energy = 0.0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && tpJointType_IsChain(joint->type) && tpJoint_IsHinge(joint)) {
            double armature = joint->coordinates[0].def.armature;
            double speed = armature > 0.0 ? hingeSpeed(system, joint) : 0.0;
            energy += 0.5 * armature * speed * speed;
            continue;
        }
        tpJointPlace place;
        bool isPlaced = false;
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            double armature = joint->coordinates[k].def.armature;
            if (!(armature > 0.0)) {
                continue;
            }
            place = isPlaced ? place : tpJoint_Place(joint, system->poses.data);
            isPlaced = true;
            tpJointRow row = tpJoint_CoordinateRow(joint, &place, k), own[3];
            int count = ownRows(joint, &place, &row, own);
            for (int j = 0; j < count; ++j) {
                double speed = tpJointRow_Speed(joint, &own[j], system->velocities.data);
                energy += 0.5 * armature * speed * speed;
            }
        }
    }
    return energy;
}

double tpJoints_PotentialEnergy(const tpSystem* system) {
    double energy = 0.0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            if (def->hasSpring && def->spring.stiffness > 0.0) {
                tpJointPlace place = tpJoint_Place(joint, system->poses.data);
                double stretch = tpJoint_CoordinateRow(joint, &place, k).error - def->spring.rest;
                energy += 0.5 * def->spring.stiffness * stretch * stretch;
            }
        }
    }
    return energy + tpCouplings_PotentialEnergy(system);
}
