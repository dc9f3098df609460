// Bodies between events: parabolas, free rotation, and boxes around what they sweep.
//
// A ballistic body flies on its own clock. Gravity is exact; other forces and torques are added by
// half a kick before and half a kick after each piece of its flight. In free rotation |L| / I_min
// and sqrt(2 T / I_min) bound the angular speed for all time, so that no angular accelerations need
// to be bounded [MirtichCanny94, sec. 3.1]; torques add what they can give until the frame ends.

#include "dynamics/forces.h"
#include "dynamics/loads.h"
#include "dynamics/motion.h"
#include "geometry/shape.h"
#include "steppers/mirtich_canny/frame.h"

static tpVec3 inPlane(const tpSystem* system, tpVec3 v) {
    if (system->isPlanar) {
        v.z = 0.0;
    }
    return v;
}

// Forces other than gravity on a body, now and at most.
static void measureForces(tpEvents* events, int index) {
    const tpSystem* system = events->system;
    tpFlight* flight = &events->flights.data[index];
    const tpBody* body = &system->bodies.data[index];
    double now = system->time + flight->time;
    double largestInverse = tpMaxPart(body->form->inertia.inverseMoments);
    tpWrench wrench = { tpZeroVec3(), tpZeroVec3() };
    flight->unsteady = flight->unsteadyTurn = 0.0;
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        bool acts = force->isLive && force->body == index &&
                    force->def.from < system->time + events->length && force->def.to > now;
        if (!acts) {
            continue;
        }
        tpWrench one = tpForce_Wrench(system, force);
        if (force->def.from <= now) {
            wrench.linear = tpAdd(wrench.linear, one.linear);
            wrench.angular = tpAdd(wrench.angular, one.angular);
        }
        double arm = force->def.hasPoint ? tpDistanceBetween(force->def.point, body->center) : 0.0;
        double moment = tpLength(force->def.torque) + arm * tpLength(force->def.force);
        flight->unsteady += body->inverseMass * tpLength(force->def.force);
        flight->unsteadyTurn += largestInverse * moment;
    }
    const tpLoad* load = tpSystem_LoadOf(system, index);
    if (load != NULL) {
        tpWrench one = tpLoad_Wrench(load, system->poses.data[index].rotation);
        wrench.linear = tpAdd(wrench.linear, one.linear);
        wrench.angular = tpAdd(wrench.angular, one.angular);
        flight->unsteady += body->inverseMass * tpLoad_LargestForce(load);
        flight->unsteadyTurn += largestInverse * tpLoad_LargestTorque(load);
    }
    flight->hasForces = flight->unsteady > 0.0 || flight->unsteadyTurn > 0.0 ||
                        body->linearDamping > 0.0 || body->angularDamping > 0.0;
    const tpVelocity* velocity = &system->velocities.data[index];
    flight->push = inPlane(system, tpScale(body->inverseMass, wrench.linear));
    flight->push = tpMulAdd(flight->push, -body->linearDamping, velocity->linear);
    flight->twist = tpMulMV(tpSystem_InverseInertia(system, index), wrench.angular);
    double pull = fabs(body->gravityScale) * tpLength(system->gravity);
    double speed = tpLength(velocity->linear) + events->length * pull;
    flight->unsteady += body->linearDamping * speed;
}

void tpEvents_RefreshFlight(tpEvents* events, int index) {
    const tpSystem* system = events->system;
    tpFlight* flight = &events->flights.data[index];
    const tpBody* body = &system->bodies.data[index];
    tpVec3 angular = system->velocities.data[index].angular;
    flight->spin = tpLength(angular);
    if (flight->kind != tp_ballistic) {
        flight->hasForces = false;
        flight->acceleration = flight->push = flight->twist = tpZeroVec3();
        flight->unsteady = flight->unsteadyTurn = 0.0;
        return;
    }
    flight->acceleration = tpSystem_Gravity(system, index);
    measureForces(events, index);
    if (!system->isPlanar) {
        tpQuat rotation = system->poses.data[index].rotation;
        flight->spin = tpInertia_SpeedBound(&body->form->inertia, rotation, angular);
    }
    flight->spin += flight->unsteadyTurn * (events->length - flight->time);
}

static tpFlightKind kindOf(const tpSystem* system, int index) {
    const tpBody* body = &system->bodies.data[index];
    if (tpSystem_IsDynamic(system, index)) {
        return tp_ballistic;
    }
    return body->isLive && body->kind == tp_kinematicBody ? tp_told : tp_standing;
}

bool tpEvents_StartFlights(tpEvents* events) {
    tpSystem* system = events->system;
    int shapeCount = system->shapes.count;
    if (!TP_RESERVE(&events->allocator, events->flights, system->bodyCount) ||
        !TP_RESERVE(&events->allocator, events->boxes, shapeCount) ||
        !TP_RESERVE(&events->allocator, events->kinds, shapeCount) ||
        !TP_RESERVE(&events->allocator, events->radii, shapeCount)) {
        return false;
    }
    tpSystem_AimKinematic(system, system->time, events->length);
    events->flights.count = system->bodyCount;
    for (int i = 0; i < system->bodyCount; ++i) {
        events->flights.data[i] = (tpFlight){ .kind = kindOf(system, i), .firstLink = -1 };
        tpEvents_RefreshFlight(events, i);
    }
    events->boxes.count = events->kinds.count = events->radii.count = shapeCount;
    for (int i = 0; i < shapeCount; ++i) {
        bool isThere = tpCollider_HasShape(system->collider, i);
        events->radii.data[i] =
            isThere ? tpGeometry_TurningRadius(tpCollider_GetGeometry(system->collider, i)) : 0.0;
    }
    return true;
}

tpVec3 tpEvents_PlaceAt(const tpEvents* events, int body, double time) {
    const tpFlight* flight = &events->flights.data[body];
    double dt = time - flight->time;
    tpVec3 place = events->system->poses.data[body].position;
    if (flight->kind == tp_standing || !(dt > 0.0)) {
        return place;
    }
    tpVec3 velocity = events->system->velocities.data[body].linear;
    tpVec3 acceleration = tpAdd(flight->acceleration, flight->push);
    return tpMulAdd(tpMulAdd(place, dt, velocity), 0.5 * dt * dt, acceleration);
}

tpVec3 tpEvents_VelocityAt(const tpEvents* events, int body, double time) {
    const tpFlight* flight = &events->flights.data[body];
    tpVec3 velocity = events->system->velocities.data[body].linear;
    tpVec3 acceleration = tpAdd(flight->acceleration, flight->push);
    return tpMulAdd(velocity, time - flight->time, acceleration);
}

static void turn(tpSystem* system, int index, bool isFree, double dt) {
    tpPose* pose = &system->poses.data[index];
    tpVelocity* velocity = &system->velocities.data[index];
    if (isFree) {
        tpSystem_Rotate(system, index, dt, &pose->rotation, &velocity->angular);
    } else {
        tpQuat by = tpQuatExp(tpScale(dt, velocity->angular));
        pose->rotation = tpNormalizeQuat(tpMulQQ(by, pose->rotation));
    }
}

void tpEvents_Advance(tpEvents* events, int body, double time) {
    tpSystem* system = events->system;
    tpFlight* flight = &events->flights.data[body];
    double dt = time - flight->time;
    if (!(dt > 0.0) || flight->kind == tp_standing) {
        flight->time = fmax(flight->time, time);
        return;
    }
    tpPose* pose = &system->poses.data[body];
    tpVelocity* velocity = &system->velocities.data[body];
    double start = system->time + flight->time;
    if (flight->hasForces) {
        events->report->externalWork += tpSystem_KickBody(system, body, start, 0.5 * dt);
    }
    tpVec3 acceleration = flight->acceleration;
    pose->position =
        tpMulAdd(tpMulAdd(pose->position, dt, velocity->linear), 0.5 * dt * dt, acceleration);
    velocity->linear = tpMulAdd(velocity->linear, dt, acceleration);
    turn(system, body, flight->kind == tp_ballistic, dt);
    if (flight->hasForces) {
        events->report->externalWork += tpSystem_KickBody(system, body, start + 0.5 * dt, 0.5 * dt);
    }
    flight->turned += flight->spin * dt;
    flight->time = time;
    if (flight->hasForces) {
        tpEvents_RefreshFlight(events, body);
    }
}

// Bounds ----------------------------------------------------------------------------------------

double tpEvents_TurningSpeed(const tpEvents* events, int32_t shape, tpVec3 n, double radius) {
    int body = tpCollider_GetBody(events->system->collider, shape);
    const tpFlight* flight = &events->flights.data[body];
    const tpBody* b = &events->system->bodies.data[body];
    if (!(flight->spin > 0.0) || radius == 0.0) {
        return 0.0;
    }
    // About a steady axis nothing moves along n faster than r |w x n|.
    bool isSteady = flight->kind != tp_ballistic || events->system->isPlanar ||
                    (b->form->inertia.isIsotropic && !(flight->unsteadyTurn > 0.0));
    double spin = flight->spin;
    if (isSteady) {
        spin = tpLength(tpCross(events->system->velocities.data[body].angular, n)) +
               flight->unsteadyTurn * (events->length - flight->time);
    }
    return spin > 0.0 ? spin * radius : 0.0;
}

// Least and greatest way along one axis within T, with at most `unsteady` more or less
// acceleration.
static void pathRange(double v, double a, double unsteady, double T, double* low, double* high) {
    double end = T * (v + 0.5 * T * a);
    *low = fmin(0.0, end);
    *high = fmax(0.0, end);
    double turning = a != 0.0 ? -v / a : -1.0;
    if (turning > 0.0 && turning < T) {
        double apex = 0.5 * v * turning;
        *low = fmin(*low, apex);
        *high = fmax(*high, apex);
    }
    *low -= 0.5 * T * T * unsteady;
    *high += 0.5 * T * T * unsteady;
}

tpBounds tpEvents_SweptBox(const tpEvents* events, int32_t shape) {
    const tpSystem* system = events->system;
    const tpGeometry* geometry = tpCollider_GetGeometry(system->collider, shape);
    int body = tpCollider_GetBody(system->collider, shape);
    const tpFlight* flight = &events->flights.data[body];
    tpPose pose = system->poses.data[body];
    tpBounds now = tpGeometry_Bounds(geometry, pose);
    double T = events->length - flight->time;
    if (flight->kind == tp_standing || !(T > 0.0)) {
        return now;
    }
    // What turning can add to the box of the moment, and the ball that holds the shape anyhow.
    double radius = tpGeometry_RadiusAbout(geometry, tpZeroVec3());
    double turningSpan = events->radii.data[shape] * fmin(flight->spin * T, 2.0);
    double chord = flight->spin > 0.0 && turningSpan > 0.0 ? turningSpan : 0.0;
    tpVec3 v = system->velocities.data[body].linear;
    const double lower[3] = { now.lower.x, now.lower.y, now.lower.z };
    const double upper[3] = { now.upper.x, now.upper.y, now.upper.z };
    const double place[3] = { pose.position.x, pose.position.y, pose.position.z };
    const double velocity[3] = { v.x, v.y, v.z };
    const double acceleration[3] = { flight->acceleration.x, flight->acceleration.y,
                                     flight->acceleration.z };
    // The time stepper's steps to come will change a velocity about as fast as gravity does.
    double unsteady = flight->kind == tp_stepped ? tpLength(system->gravity) : flight->unsteady;
    double boxLower[3], boxUpper[3];
    for (int k = 0; k < 3; ++k) {
        double low, high;
        pathRange(velocity[k], acceleration[k], unsteady, T, &low, &high);
        boxLower[k] = fmax(lower[k] - chord, place[k] - radius) + low;
        boxUpper[k] = fmin(upper[k] + chord, place[k] + radius) + high;
    }
    tpBounds box = { { boxLower[0], boxLower[1], boxLower[2] },
                     { boxUpper[0], boxUpper[1], boxUpper[2] } };
    return box;
}
