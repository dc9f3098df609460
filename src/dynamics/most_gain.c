#include "dynamics/most_gain.h"

#include "dynamics/couplings.h"
#include "dynamics/joint_types.h"
#include "dynamics/loads.h"

// A body that is struck by one that is moved has twice its speed at most, and light ones that it
// strikes in turn more than that; but not all of them.
static const double struckSpeed = 2.5;

// What acts on a coordinate or coupling.
typedef struct tpDrives {
    const tpSpring* spring;
    const tpServo* servo;
    const tpMotor* motor;
    double applied;
} tpDrives;

// Work of an effort whose bound is `most`, that drives to a speed, or from a value.
static double workOf(const tpDrives* drives, double value, double rate, double h) {
    double work = fabs(drives->applied * rate) * h;
    if (drives->spring != NULL) {
        double stretch = value - drives->spring->rest;
        work += 0.5 * drives->spring->stiffness * stretch * stretch;
    }
    if (drives->servo != NULL) {
        const tpServo* servo = drives->servo;
        double way = fabs(value - servo->target), speed = fabs(servo->speed) + fabs(rate);
        double held = 0.5 * servo->stiffness * way * way + servo->damping * speed * speed * h;
        work += fmin(held, servo->effort * (way + speed * h));
    }
    if (drives->motor != NULL) {
        work += drives->motor->effort * (fabs(drives->motor->speed) + fabs(rate)) * h;
    }
    return work;
}

static double workOfJoint(const tpSystem* system, const tpJoint* joint, const tpKeptMotion* start,
                          double h) {
    double work = 0.0;
    tpJointPlace place;
    bool isPlaced = false;
    for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
        const tpCoordinate* coordinate = &joint->coordinates[k];
        const tpCoordinateDef* def = &coordinate->def;
        tpDrives drives = { def->hasSpring ? &def->spring : NULL,
                            def->hasServo ? &def->servo : NULL, def->hasMotor ? &def->motor : NULL,
                            coordinate->applied };
        if (!def->hasSpring && !def->hasServo && !def->hasMotor && coordinate->applied == 0.0) {
            continue;
        }
        place = isPlaced ? place : tpJoint_Place(joint, start->poses);
        isPlaced = true;
        tpJointRow row = tpJoint_CoordinateRow(joint, &place, k);
        work += workOf(&drives, row.error, tpJointRow_Speed(joint, &row, start->velocities), h);
        if (coordinate->applied != 0.0) {
            double response = tpCoordinate_Response(system, joint, &place, k);
            work += 0.5 * response * coordinate->applied * coordinate->applied * h * h;
        }
    }
    return work;
}

static double workOfCoupling(const tpSystem* system, const tpCoupling* coupling,
                             const tpKeptMotion* start, double h) {
    const tpCouplingDef* def = &coupling->def;
    if (!coupling->isLive || !(def->hasSpring || def->hasServo)) {
        return 0.0;
    }
    tpDrives drives = { def->hasSpring ? &def->spring : NULL, def->hasServo ? &def->servo : NULL,
                        NULL, 0.0 };
    tpCouplingRow row;
    tpCoupling_Place(system, coupling, start->poses, &row);
    return workOf(&drives, row.value, tpCouplingRow_Speed(&row, start->velocities), h);
}

// Of a body on which a force and a torque act.
static double workOnBody(const tpSystem* system, int index, double force, double torque,
                         const tpKeptMotion* start, double h) {
    const tpBody* body = &system->bodies.data[index];
    if (!tpSystem_IsDynamic(system, index)) {
        return 0.0;
    }
    double speed = tpLength(start->velocities[index].linear);
    double spin = tpLength(start->velocities[index].angular);
    double turning = tpMaxPart(body->form->inertia.inverseMoments);
    return force * h * (speed + 0.5 * force * h * body->inverseMass) +
           torque * h * (spin + 0.5 * torque * h * turning);
}

static bool isMoved(const tpSystem* system, int body, const tpKeptMotion* start) {
    if (body < 0 || system->bodies.data[body].kind != tp_kinematicBody) {
        return false;
    }
    const tpVelocity *now = &system->velocities.data[body], *then = &start->velocities[body];
    return tpLengthSquared(now->linear) + tpLengthSquared(now->angular) +
               tpLengthSquared(then->linear) + tpLengthSquared(then->angular) >
           0.0;
}

// What moves whatever strikes it, m/s; of a mechanism that hangs on such a body there is no bound.
static double movedSpeed(const tpSystem* system, const tpKeptMotion* start) {
    double fastest = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (body->isLive && isMoved(system, i, start)) {
            const tpVelocity *now = &system->velocities.data[i], *then = &start->velocities[i];
            double reach = body->reach;
            fastest = fmax(fastest, tpLength(now->linear) + reach * tpLength(now->angular));
            fastest = fmax(fastest, tpLength(then->linear) + reach * tpLength(then->angular));
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive &&
            (isMoved(system, joint->bodyA, start) || isMoved(system, joint->bodyB, start))) {
            return INFINITY;
        }
    }
    return fastest;
}

double tpSystem_MostGain(const tpSystem* system, const tpKeptMotion* start, double h) {
    double struck = struckSpeed * movedSpeed(system, start), gain = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        const tpLoad* load = tpSystem_LoadOf(system, i);
        double force = body->mass * fabs(body->gravityScale) * tpLength(system->gravity);
        force += load != NULL ? tpLoad_LargestForce(load) : 0.0;
        double torque = load != NULL ? tpLoad_LargestTorque(load) : 0.0;
        gain += workOnBody(system, i, force, torque, start, h);
        gain += 0.5 * body->mass * struck * struck;
    }
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (force->isLive) {
            tpVec3 arm = force->def.hasPoint
                             ? tpSub(force->def.point, system->bodies.data[force->body].center)
                             : tpZeroVec3();
            double push = tpLength(force->def.force);
            double twist = tpLength(force->def.torque) + tpLength(arm) * push;
            gain += workOnBody(system, force->body, push, twist, start, h);
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        gain += workOfJoint(system, &system->joints.data[i], start, h);
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        gain += workOfCoupling(system, &system->couplings.data[i], start, h);
    }
    return gain;
}
