#include "dynamics/forces.h"

#include <string.h>

#include "base/tasks.h"
#include "dynamics/joint_laws.h"
#include "dynamics/loads.h"
#include "dynamics/locks.h"
#include "math/elementary.h"

// Energies and momenta --------------------------------------------------------------------------

static inline double kineticOf(const tpSystem* system, const tpBody* body, int index) {
    if (body->inverseMass == 0.0) {
        return 0.0;
    }
    const tpVelocity* velocity = &system->velocities.data[index];
    const tpInertia* inertia = &body->form->inertia;
    double twice = body->mass * tpLengthSquared(velocity->linear);
    if (inertia->isIsotropic) {
        return 0.5 * (twice + inertia->moments.x * tpLengthSquared(velocity->angular));
    }
    tpVec3 momentum =
        tpInertia_Momentum(inertia, system->poses.data[index].rotation, velocity->angular);
    return 0.5 * (twice + tpDot(momentum, velocity->angular));
}

static inline double weightOf(const tpSystem* system, const tpBody* body, int index) {
    return body->inverseMass > 0.0 ? -body->mass * body->gravityScale *
                                         tpDot(system->gravity, system->poses.data[index].position)
                                   : 0.0;
}

double tpSystem_BodyKineticEnergy(const tpSystem* system, int index) {
    return kineticOf(system, &system->bodies.data[index], index);
}

// Kinetic energy of bodies, and that of their weight.
typedef struct BodyEnergies {
    double kinetic, weight;
} BodyEnergies;

// Sums over many bodies go in a fixed number of chunks, which threads share: the same bits on any
// number of them.
enum { fewBodies = 512, sumChunks = 32 };

typedef struct Sum {
    const tpSystem* system;
    BodyEnergies parts[sumChunks];
} Sum;

static BodyEnergies sumRange(const tpSystem* system, tpRange range) {
    BodyEnergies sum = { 0.0, 0.0 };
    for (int i = range.begin; i < range.end; ++i) {
        const tpBody* body = &system->bodies.data[i];
        sum.kinetic += kineticOf(system, body, i);
        sum.weight += weightOf(system, body, i);
    }
    return sum;
}

static void sumChunk(void* context, int chunk, int worker) {
    (void)worker;
    Sum* sum = context;
    sum->parts[chunk] =
        sumRange(sum->system, tpChunkRange(sum->system->bodyCount, chunk, sumChunks));
}

static BodyEnergies sumBodies(const tpSystem* system) {
    if (system->bodyCount <= fewBodies) {
        return sumRange(system, (tpRange){ 0, system->bodyCount });
    }
    Sum sum = { .system = system };
    tpTasks_Run(tpSystem_BodyTasks(system), sumChunk, &sum, sumChunks);
    BodyEnergies all = { 0.0, 0.0 };
    for (int c = 0; c < sumChunks; ++c) {
        all.kinetic += sum.parts[c].kinetic;
        all.weight += sum.parts[c].weight;
    }
    return all;
}

double tpSystem_SpringEnergy(const tpSystem* system) {
    return tpJoints_PotentialEnergy(system);
}

double tpSystem_KineticEnergy(const tpSystem* system) {
    return sumBodies(system).kinetic + tpJoints_KineticEnergy(system);
}

double tpSystem_PotentialEnergy(const tpSystem* system) {
    return sumBodies(system).weight + tpSystem_SpringEnergy(system) + system->contactEnergy;
}

void tpSystem_FindEnergies(const tpSystem* system, double* kinetic, double* potential) {
    BodyEnergies energies = sumBodies(system);
    *kinetic = energies.kinetic + tpJoints_KineticEnergy(system);
    *potential = energies.weight + tpSystem_SpringEnergy(system) + system->contactEnergy;
}

double tpSystem_Energy(const tpSystem* system) {
    double kinetic, potential;
    tpSystem_FindEnergies(system, &kinetic, &potential);
    return kinetic + potential;
}

// Where the two ends of a spring are, and how far it is stretched.
typedef struct tpStretch {
    tpVec3 pointA, pointB;
    tpVec3 direction; // from A to B
    double length;
} tpStretch;

static tpVec3 anchorInWorld(const tpSystem* system, int body, tpVec3 anchor) {
    return body < 0 ? anchor : tpTransformPoint(system->poses.data[body], anchor);
}

static tpStretch stretchOf(const tpSystem* system, const tpJoint* spring) {
    tpStretch stretch;
    stretch.pointA = anchorInWorld(system, spring->bodyA, spring->anchorA);
    stretch.pointB = anchorInWorld(system, spring->bodyB, spring->anchorB);
    tpVec3 span = tpSub(stretch.pointB, stretch.pointA);
    stretch.length = tpLength(span);
    stretch.direction = tpNormalize(span);
    return stretch;
}

tpVec3 tpSystem_LinearMomentum(const tpSystem* system) {
    tpVec3 sum = tpZeroVec3();
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            sum = tpMulAdd(sum, system->bodies.data[i].mass, system->velocities.data[i].linear);
        }
    }
    return sum;
}

tpVec3 tpSystem_AngularMomentum(const tpSystem* system, tpVec3 about) {
    tpVec3 sum = tpZeroVec3();
    for (int i = 0; i < system->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        const tpBody* body = &system->bodies.data[i];
        tpPose pose = system->poses.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        tpVec3 arm = tpSub(pose.position, about);
        sum = tpMulAdd(sum, body->mass, tpCross(arm, velocity->linear));
        sum =
            tpAdd(sum, tpInertia_Momentum(&body->form->inertia, pose.rotation, velocity->angular));
    }
    return sum;
}

// Kicks -----------------------------------------------------------------------------------------

typedef struct GravityKick {
    tpSystem* system;
    double duration;
} GravityKick;

static void kickChunk(void* context, int chunk, int worker) {
    (void)worker;
    const GravityKick* kick = context;
    tpSystem* system = kick->system;
    tpRange range = tpChunkAt(system->bodyCount, tp_bodiesPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (body->inverseMass > 0.0) {
            tpVec3* linear = &system->velocities.data[i].linear;
            tpVec3 gravity = body->locked == 0 && !system->isPlanar
                                 ? tpScale(body->gravityScale, system->gravity)
                                 : tpSystem_Gravity(system, i);
            *linear = tpMulAdd(*linear, kick->duration, gravity);
        }
    }
}

static void kickGravity(tpSystem* system, double duration) {
    GravityKick kick = { system, duration };
    tpTasks_Run(tpSystem_BodyTasks(system), kickChunk, &kick,
                tpChunksOf(system->bodyCount, tp_bodiesPerChunk));
}

// The part of [time, time + duration] in which the force acts, in seconds.
static double activeTime(const tpForceDef* def, double time, double duration) {
    double from = fmax(def->from, time);
    double to = fmin(def->to, time + duration);
    return to > from ? to - from : 0.0;
}

tpWrench tpForce_Wrench(const tpSystem* system, const tpForce* force) {
    tpQuat rotation = system->poses.data[force->body].rotation;
    bool inBody = force->def.frame == tp_bodyFrame;
    tpVec3 push = inBody ? tpRotate(rotation, force->def.force) : force->def.force;
    tpVec3 twist = inBody ? tpRotate(rotation, force->def.torque) : force->def.torque;
    if (force->def.hasPoint) {
        tpVec3 center = system->bodies.data[force->body].center;
        tpVec3 arm = tpRotate(rotation, tpSub(force->def.point, center));
        twist = tpAdd(twist, tpCross(arm, push));
    }
    tpWrench wrench = { push, twist };
    return wrench;
}

// The impulse of one force over the part of the interval in which it acts.
static void kickUserForce(tpSystem* system, const tpForce* force, double time, double duration) {
    double active = force->isLive ? activeTime(&force->def, time, duration) : 0.0;
    if (active > 0.0 && tpSystem_IsDynamic(system, force->body)) {
        tpWrench wrench = tpForce_Wrench(system, force);
        tpSystem_ApplyImpulse(system, force->body, tpScale(active, wrench.linear),
                              tpScale(active, wrench.angular));
    }
}

// The same for what has been applied for this step.
static void kickLoad(tpSystem* system, int body, double duration) {
    const tpLoad* load = tpSystem_LoadOf(system, body);
    if (load != NULL && tpSystem_IsDynamic(system, body)) {
        tpWrench wrench = tpLoad_Wrench(load, system->poses.data[body].rotation);
        tpSystem_ApplyImpulse(system, body, tpScale(duration, wrench.linear),
                              tpScale(duration, wrench.angular));
    }
}

static void kickUserForces(tpSystem* system, double time, double duration) {
    tpJoints_KickEfforts(system, duration);
    for (int i = 0; system->hasLoads && i < system->bodyCount; ++i) {
        kickLoad(system, i, duration);
    }
    for (int i = 0; i < system->forces.count; ++i) {
        kickUserForce(system, &system->forces.data[i], time, duration);
    }
}

static void applyAtPoint(tpSystem* system, int body, tpVec3 point, tpVec3 impulse) {
    if (tpSystem_IsDynamic(system, body)) {
        tpVec3 arm = tpSub(point, system->poses.data[body].position);
        tpSystem_ApplyImpulse(system, body, impulse, tpCross(arm, impulse));
    }
}

// Response of the relative speed along the spring to a unit impulse along it.
static double responseOf(const tpSystem* system, int body, tpVec3 point, tpVec3 direction) {
    if (!tpSystem_IsDynamic(system, body)) {
        return 0.0;
    }
    tpVec3 along = tpLocks_Linear(system->bodies.data[body].locked, direction);
    if (system->isPlanar) {
        along.z = 0.0;
    }
    tpVec3 arm = tpSub(point, system->poses.data[body].position);
    tpVec3 turn = tpCross(arm, direction);
    return system->bodies.data[body].inverseMass * tpDot(along, along) +
           tpDot(turn, tpMulMV(tpSystem_InverseInertia(system, body), turn));
}

static double energyOf(const tpSystem* system, int body) {
    return body < 0 ? 0.0 : tpSystem_BodyKineticEnergy(system, body);
}

// Stiffness gives an impulse from the current length; the damper decays the speed of lengthening
// exactly, so that no damping, however stiff, is unstable. Returns the damper's work.
static double kickSpring(tpSystem* system, const tpJoint* spring, double duration) {
    tpStretch stretch = stretchOf(system, spring);
    const tpSpring* law = &spring->coordinates[0].def.spring;
    double pull = law->stiffness * (stretch.length - law->rest) * duration;
    tpVec3 impulse = tpScale(pull, stretch.direction);
    applyAtPoint(system, spring->bodyA, stretch.pointA, impulse);
    applyAtPoint(system, spring->bodyB, stretch.pointB, tpNeg(impulse));

    double response = responseOf(system, spring->bodyA, stretch.pointA, stretch.direction) +
                      responseOf(system, spring->bodyB, stretch.pointB, stretch.direction);
    if (!(law->damping > 0.0) || !(response > 0.0)) {
        return 0.0;
    }
    tpVec3 relative = tpSub(tpSystem_PointVelocity(system, spring->bodyB, stretch.pointB),
                            tpSystem_PointVelocity(system, spring->bodyA, stretch.pointA));
    double speed = tpDot(relative, stretch.direction);
    double lost = -tpExpm1(-law->damping * response * duration) * speed / response;
    double before = energyOf(system, spring->bodyA) + energyOf(system, spring->bodyB);
    impulse = tpScale(lost, stretch.direction);
    applyAtPoint(system, spring->bodyA, stretch.pointA, impulse);
    applyAtPoint(system, spring->bodyB, stretch.pointB, tpNeg(impulse));
    return energyOf(system, spring->bodyA) + energyOf(system, spring->bodyB) - before;
}

static double kickSprings(tpSystem* system, double duration, tpSweepOrder order) {
    double work = 0.0;
    int count = system->joints.count;
    for (int k = 0; k < count; ++k) {
        int i = order == tp_forwardSweep ? k : count - 1 - k;
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->type == tp_springJoint) {
            work += kickSpring(system, joint, duration);
        }
    }
    return work;
}

static double dampBody(tpSystem* system, int index, double duration) {
    const tpBody* body = &system->bodies.data[index];
    bool isDamped = body->linearDamping > 0.0 || body->angularDamping > 0.0;
    if (!isDamped || !tpSystem_IsDynamic(system, index)) {
        return 0.0;
    }
    double before = tpSystem_BodyKineticEnergy(system, index);
    tpVelocity* velocity = &system->velocities.data[index];
    velocity->linear = tpScale(tpExp(-body->linearDamping * duration), velocity->linear);
    velocity->angular = tpScale(tpExp(-body->angularDamping * duration), velocity->angular);
    return tpSystem_BodyKineticEnergy(system, index) - before;
}

static double dampAll(tpSystem* system, double duration) {
    double work = 0.0;
    for (int i = 0; system->mayDamp && i < system->bodyCount; ++i) {
        work += dampBody(system, i, duration);
    }
    return work;
}

double tpSystem_BodyPower(const tpSystem* system, int index, const tpVelocity* change,
                          const tpVelocity* against) {
    const tpBody* body = &system->bodies.data[index];
    tpQuat rotation = system->poses.data[index].rotation;
    tpVec3 turn = tpInertia_Momentum(&body->form->inertia, rotation, change->angular);
    return body->mass * tpDot(change->linear, against->linear) + tpDot(turn, against->angular);
}

double tpSystem_KickDamping(tpSystem* system, double duration) {
    double work = 0.0;
    for (int i = 0; system->mayDamp && i < system->bodyCount; ++i) {
        tpVelocity before = system->velocities.data[i];
        dampBody(system, i, duration);
        const tpVelocity* after = &system->velocities.data[i];
        if (tpSystem_IsDynamic(system, i)) {
            tpVelocity change = { .linear = tpSub(after->linear, before.linear),
                                  .angular = tpSub(after->angular, before.angular) };
            work += tpSystem_BodyPower(system, i, &change, &before);
        }
    }
    return work;
}

double tpSystem_Kick(tpSystem* system, double time, double duration, tpSweepOrder order) {
    double work = 0.0;
    if (order == tp_backwardSweep) {
        work += dampAll(system, duration);
        work += kickSprings(system, duration, order);
    }
    kickGravity(system, duration);
    kickUserForces(system, time, duration);
    if (order == tp_forwardSweep) {
        work += kickSprings(system, duration, order);
        work += dampAll(system, duration);
    }
    return work;
}

void tpSystem_KickForces(tpSystem* system, double time, double duration) {
    kickGravity(system, duration);
    kickUserForces(system, time, duration);
}

double tpSystem_KickBody(tpSystem* system, int body, double time, double duration) {
    double before = tpSystem_BodyKineticEnergy(system, body);
    kickLoad(system, body, duration);
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].body == body) {
            kickUserForce(system, &system->forces.data[i], time, duration);
        }
    }
    dampBody(system, body, duration);
    return tpSystem_BodyKineticEnergy(system, body) - before;
}
