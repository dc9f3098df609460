// What laws of coordinates begin and end a step with: the shares of springs, servos and dampers in
// its first half, and the speeds of rotors.

#include "base/forest.h"
#include "dynamics/couplings.h"
#include "dynamics/joint_laws.h"
#include "dynamics/locks.h"

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
    return 1.0 - 1.0 / (half + sqrt(half * half + square));
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

double tpHinge_SpeedAbout(tpVec3 axis, const tpVec3* spinA, const tpVec3* spinB) {
    // The bits of tpJointRow_Speed.
    double speed = 0.0;
    speed += spinA != NULL ? tpDot(tpNeg(axis), *spinA) : 0.0;
    speed += spinB != NULL ? tpDot(axis, *spinB) : 0.0;
    return speed;
}

static double turnSpeed(const tpSystem* system, const tpJoint* joint) {
    const tpVelocity* velocities = system->velocities.data;
    tpQuat rotation = tpPoseOrWorld(system->poses.data, joint->bodyA).rotation;
    return tpHinge_SpeedAbout(tpRotate(rotation, joint->coordinates[0].axis),
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
    int count = tpJoint_OwnRows(joint, place, &row, own);
    coordinate->startValue = own[0].error;
    coordinate->startTurn = tpMulQQ(tpConjugate(place->rotationA), place->rotationB);
    for (int k = 0; k < count; ++k) {
        takeSpeed(system, coordinate, k, tpJointRow_Speed(joint, &own[k], system->velocities.data));
    }
}

static void endRotor(const tpSystem* system, tpJoint* joint, const tpJointPlace* place, int index) {
    tpJointRow row = tpJoint_CoordinateRow(joint, place, index), own[3];
    int count = tpJoint_OwnRows(joint, place, &row, own);
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
    double response = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(system, bodies[side])) {
            response += tpMaxPart(system->bodies.data[bodies[side]].form->inertia.inverseMoments);
        }
    }
    // About whatever axis: mostly that is enough.
    if (setShares(coordinate, h, withArmature(response, def->armature))) {
        return;
    }
    tpVec3 axis = tpRotate(rotations[0], coordinate->axis);
    response = 0.0;
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
            parents[tpForest_Root(parents, joint->bodyA)] = tpForest_Root(parents, joint->bodyB);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        int first = tpCoupling_AnyBody(system, i), body;
        for (int k = 0; first >= 0 && tpCoupling_BodyAt(system, i, k, &body); ++k) {
            if (tpSystem_IsDynamic(system, body)) {
                parents[tpForest_Root(parents, body)] = tpForest_Root(parents, first);
            }
        }
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < system->joints.count; ++i) {
            tpJoint* joint = &system->joints.data[i];
            int body = tpSystem_IsDynamic(system, joint->bodyB) ? joint->bodyB : joint->bodyA;
            for (int k = 0; joint->isLive && body >= 0 && k < joint->coordinateCount; ++k) {
                double* share = &shares[tpForest_Root(parents, body)];
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
                double* share = &shares[tpForest_Root(parents, body)];
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
    for (int i = 0; !system->lacksRotors && i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && isSingleTurn(joint)) {
            if (joint->coordinates[0].def.armature > 0.0) {
                beginHinge(system, joint);
            }
            continue;
        }
        visitRotors(system, joint, beginHinge, beginRotor);
    }
}

void tpJoint_EndRotors(const tpSystem* system, tpJoint* joint) {
    visitRotors(system, joint, endHinge, endRotor);
}

void tpJoints_EndRotors(tpSystem* system) {
    for (int i = 0; !system->lacksRotors && i < system->joints.count; ++i) {
        tpJoint_EndRotors(system, &system->joints.data[i]);
    }
}
