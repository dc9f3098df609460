// Falling asleep: who is quiet, who hangs together, and what is kept of them.
//
// The certificate of a contact is the natural map of Coulomb's law [DeSaxceFeng98] in units of a
// velocity: how far r is from the projection of r - m (u + mu |u_T| n) on the cone, over the
// reduced mass m, with the impulse r of the step and the velocity u at its end. It knows no solver.

#include <string.h>

#include "base/forest.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/contact_spring.h"
#include "dynamics/couplings.h"
#include "dynamics/forces.h"
#include "dynamics/loads.h"
#include "dynamics/sleep.h"

static bool isAsleep(const tpSleep* sleep, int body) {
    return body >= 0 && sleep->islands.data[body] > 0;
}

// The certificate ---------------------------------------------------------------------------------

static tpVec3 projectOnCone(tpVec3 r, tpVec3 normal, double mu) {
    double along = tpDot(r, normal);
    tpVec3 across = tpMulAdd(r, -along, normal);
    double size = tpLength(across);
    if (size <= mu * along) {
        return r;
    }
    if (mu * size <= -along) {
        return tpMakeVec3(0.0, 0.0, 0.0);
    }
    double onEdge = (along + mu * size) / (1.0 + mu * mu);
    return tpMulAdd(tpScale(onEdge, normal), mu * onEdge / size, across);
}

double tpContactInfo_Residual(const tpSystem* system, const tpContactInfo* info) {
    int a = tpContactInfo_BodyA(info), b = tpContactInfo_BodyB(info);
    const tpShape* shapes = system->shapes.data;
    tpFriction friction;
    double restitution;
    tpSystem_MixMaterials(system, shapes[info->shapeA.slot - 1].material,
                          shapes[info->shapeB.slot - 1].material, &friction, &restitution);
    // What sticks may be anywhere in the larger cone.
    double mu = fmax(friction.staticCoefficient, friction.dynamicCoefficient);
    double inverse = system->bodies.data[a].inverseMass + system->bodies.data[b].inverseMass;
    tpVec3 r = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
    tpVec3 u = tpSub(tpSystem_PointVelocity(system, a, info->point),
                     tpSystem_PointVelocity(system, b, info->point));
    tpVec3 slip = tpMulAdd(u, -tpDot(u, info->normal), info->normal);
    tpVec3 z = tpMulAdd(u, mu * tpLength(slip), info->normal);
    tpVec3 projected = projectOnCone(tpMulAdd(r, -1.0 / inverse, z), info->normal, mu);
    return inverse * tpLength(tpSub(r, projected));
}

// Who is quiet ------------------------------------------------------------------------------------

static bool movesAsTold(const tpSystem* system, int body) {
    const tpVelocity* velocity = &system->velocities.data[body];
    return !tpSystem_IsDynamic(system, body) &&
           tpLengthSquared(velocity->linear) + tpLengthSquared(velocity->angular) > 0.0;
}

// Lengthens the time for which each body has been quiet, or ends it.
static void countQuiet(tpSleep* sleep, const tpSystem* system, const tpSleepSettings* settings,
                       double h) {
    double* quiet = sleep->quiet.data;
    // Time counts more for those that are as slow as the shorter time asks for.
    double part = settings->shortTime > 0.0 ? fmin(settings->shortTime / settings->time, 1.0) : 1.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        double speed = tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]);
        double gain = speed <= part * settings->speed ? h / part : h;
        quiet[i] = speed <= settings->speed ? quiet[i] + gain : 0.0;
        if (system->bodies.data[i].isTired && quiet[i] > 0.0) {
            quiet[i] = fmax(quiet[i], settings->time);
        }
    }
    for (int i = 0; i < system->contacts.count; ++i) {
        const tpContactInfo* info = &system->contacts.data[i];
        int a = tpContactInfo_BodyA(info), b = tpContactInfo_BodyB(info);
        if (isAsleep(sleep, a) || isAsleep(sleep, b)) {
            continue;
        }
        if (movesAsTold(system, a) || movesAsTold(system, b) ||
            tpContactInfo_Residual(system, info) > settings->speed) {
            quiet[a] = quiet[b] = 0.0;
        }
    }
    for (int i = 0; system->hasLoads && i < system->bodyCount; ++i) {
        quiet[i] = tpSystem_LoadOf(system, i) != NULL ? 0.0 : quiet[i];
    }
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (force->isLive && force->def.from < system->time + 2.0 * h &&
            force->def.to > system->time) {
            quiet[force->body] = 0.0;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int a = joint->bodyA, b = joint->bodyB;
        if (joint->isLive && a >= 0 && b >= 0 &&
            (movesAsTold(system, a) || movesAsTold(system, b))) {
            quiet[a] = quiet[b] = 0.0;
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        // What is coupled to a kinematic body stays awake, as a whole.
        int body;
        bool isDriven = false;
        for (int k = 0; tpCoupling_BodyAt(system, i, k, &body); ++k) {
            isDriven = isDriven || (body >= 0 && movesAsTold(system, body));
        }
        for (int k = 0; isDriven && tpCoupling_BodyAt(system, i, k, &body); ++k) {
            if (body >= 0) {
                quiet[body] = 0.0;
            }
        }
    }
}

// Who hangs together ------------------------------------------------------------------------------

static void join(const tpSystem* system, int* parents, int a, int b) {
    if (tpSystem_IsDynamic(system, a) && tpSystem_IsDynamic(system, b)) {
        tpForest_Join(parents, a, b);
    }
}

// The root of each body's island, and in `shortest` of each root for how long all have been quiet.
static bool findIslands(const tpSleep* sleep, tpSystem* system, int** roots, double** shortest) {
    int count = system->bodyCount;
    *roots = TP_SCRATCH(&system->arena, int, count);
    *shortest = TP_SCRATCH(&system->arena, double, count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        (*roots)[i] = i;
        (*shortest)[i] = INFINITY;
    }
    for (int i = 0; i < system->contacts.count; ++i) {
        const tpContactInfo* info = &system->contacts.data[i];
        join(system, *roots, tpContactInfo_BodyA(info), tpContactInfo_BodyB(info));
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->bodyA >= 0 && joint->bodyB >= 0) {
            join(system, *roots, joint->bodyA, joint->bodyB);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        int first = tpCoupling_AnyBody(system, i), body;
        for (int k = 0; first >= 0 && tpCoupling_BodyAt(system, i, k, &body); ++k) {
            if (body >= 0) {
                join(system, *roots, first, body);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        (*roots)[i] = tpForest_Root(*roots, i);
        double* time = &(*shortest)[(*roots)[i]];
        *time = fmin(*time, sleep->quiet.data[i]);
    }
    return true;
}

// What is kept ------------------------------------------------------------------------------------

bool tpSleep_ListContacts(const tpSleep* sleep, tpSystem* system) {
    int awake = system->contacts.count, asleep = sleep->contacts.count;
    if (!TP_RESERVE(&system->allocator, system->contacts, awake + asleep)) {
        return false;
    }
    system->contacts.count = awake + asleep;
    // From the back, so that nothing is overwritten that is still to be read.
    tpContactInfo* list = system->contacts.data;
    for (int place = awake + asleep - 1; asleep > 0; --place) {
        bool takesAwake = awake > 0 && tpContactInfo_Compare(&list[awake - 1],
                                                             &sleep->contacts.data[asleep - 1]) > 0;
        list[place] = takesAwake ? list[--awake] : sleep->contacts.data[--asleep];
    }
    return true;
}

// Puts the contacts of those asleep among the others, with the impulses of a step as long as this
// one.
static bool listContacts(tpSleep* sleep, tpSystem* system, double h, tpStepReport* report) {
    if (system->listContacts != NULL) {
        system->listContacts(system, system->listContext); // promises are kept now
        system->listContacts = NULL;
    }
    double part = h / sleep->h;
    for (int i = 0; i < sleep->contacts.count && h != sleep->h; ++i) {
        tpContactInfo* info = &sleep->contacts.data[i];
        info->normalImpulse *= part;
        info->frictionImpulse = tpScale(part, info->frictionImpulse);
        info->torsionalImpulse *= part;
        info->rollingImpulse = tpScale(part, info->rollingImpulse);
    }
    sleep->h = h;
    for (int i = 0; i < sleep->contacts.count; ++i) {
        tpContact contact = tpContactInfo_Contact(&sleep->contacts.data[i]);
        report->penetration = fmax(report->penetration, tpContact_Overlap(&contact, system));
    }
    bool isListed = tpSleep_ListContacts(sleep, system);
    report->contactCount = isListed ? system->contacts.count : report->contactCount;
    return isListed;
}

static void giveBack(tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count; ++i) {
        if (isAsleep(sleep, i)) {
            system->bodies.data[i].inverseMass = 1.0 / system->bodies.data[i].mass;
        }
    }
    sleep->isTaken = false;
}

// Keeps the contacts of all that sleep now, the old ones among them; and room to wake them without
// asking.
static bool keepContacts(tpSleep* sleep, tpSystem* system) {
    const tpAllocator* allocator = &system->allocator;
    if (!TP_RESERVE(allocator, sleep->contacts, system->contacts.count) ||
        !TP_RESERVE(allocator, sleep->woken, system->contacts.count)) {
        return false;
    }
    sleep->contacts.count = 0;
    for (int i = 0; i < system->contacts.count; ++i) {
        const tpContactInfo* info = &system->contacts.data[i];
        if (isAsleep(sleep, tpContactInfo_BodyA(info)) ||
            isAsleep(sleep, tpContactInfo_BodyB(info))) {
            sleep->contacts.data[sleep->contacts.count++] = *info;
        }
    }
    return true;
}

static bool isJointAsleep(const tpSleep* sleep, const tpJoint* joint) {
    return joint->isLive && (isAsleep(sleep, joint->bodyA) || isAsleep(sleep, joint->bodyB));
}

static void fallAsleep(tpSleep* sleep, tpSystem* system, int body, int island,
                       tpStepReport* report) {
    // What is left of its motion is lost.
    report->impactLoss += tpSystem_BodyKineticEnergy(system, body);
    tpVelocity* velocity = &system->velocities.data[body];
    velocity->linear = velocity->angular = tpMakeVec3(0.0, 0.0, 0.0);
    sleep->islands.data[body] = island;
    sleep->sleepingCount += 1;
    system->bodies.data[body].isAsleep = true;
}

void tpSleep_Mark(const tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count; ++i) {
        system->bodies.data[i].isAsleep = isAsleep(sleep, i);
    }
}

bool tpSleep_End(tpSleep* sleep, tpSystem* system, const tpSleepSettings* settings, double h,
                 tpStepReport* report) {
    giveBack(sleep, system);
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (isJointAsleep(sleep, joint)) {
            const tpJointRest* rest = &sleep->joints.data[i];
            joint->force = rest->force;
            joint->torque = rest->torque;
            for (int k = 0; k < joint->coordinateCount; ++k) {
                joint->coordinates[k].effort = rest->efforts[k];
                joint->coordinates[k].limitEffort = rest->limitEfforts[k];
            }
        }
    }
    int* roots;
    double* shortest;
    int* numbers = TP_SCRATCH_ZEROED(&system->arena, int, system->bodyCount);
    if (numbers == NULL || !listContacts(sleep, system, h, report)) {
        tpSleep_WakeAll(sleep, system);
        return false;
    }
    countQuiet(sleep, system, settings, h);
    if (!findIslands(sleep, system, &roots, &shortest)) {
        tpSleep_WakeAll(sleep, system);
        return false;
    }
    bool hasNew = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        int root = roots[i];
        if (!tpSystem_IsDynamic(system, i) || isAsleep(sleep, i) ||
            shortest[root] < settings->time) {
            continue;
        }
        numbers[root] = numbers[root] > 0 ? numbers[root] : ++sleep->lastIsland;
        fallAsleep(sleep, system, i, numbers[root], report);
        hasNew = true;
    }
    if (hasNew && !keepContacts(sleep, system)) {
        tpSleep_WakeAll(sleep, system);
        return false;
    }
    for (int i = 0; i < system->joints.count && hasNew; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (isJointAsleep(sleep, joint)) {
            tpJointRest* rest = &sleep->joints.data[i];
            *rest = (tpJointRest){ .force = joint->force, .torque = joint->torque };
            for (int k = 0; k < joint->coordinateCount; ++k) {
                rest->efforts[k] = joint->coordinates[k].effort;
                rest->limitEfforts[k] = joint->coordinates[k].limitEffort;
            }
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        sleep->poses.data[i] = system->poses.data[i];
        sleep->velocities.data[i] = system->velocities.data[i];
    }
    report->sleepingCount = sleep->sleepingCount;
    return true;
}

// Snapshots ---------------------------------------------------------------------------------------

typedef struct tpSavedSleep {
    int bodies, contacts, joints, lastIsland, sleepingCount;
    double h;
    tpVec3 gravity;
    uint64_t structure;
} tpSavedSleep;

static unsigned char* put(unsigned char* place, const void* data, size_t size) {
    if (size > 0) {
        memcpy(place, data, size);
    }
    return place + size;
}

size_t tpSleep_SavedSize(const tpSleep* sleep) {
    size_t body =
        sizeof(int) + sizeof(double) + sizeof(uint64_t) + sizeof(tpPose) + sizeof(tpVelocity);
    return sizeof(tpSavedSleep) + body * (size_t)sleep->islands.count +
           sizeof(tpContactInfo) * (size_t)sleep->contacts.count +
           sizeof(tpJointRest) * (size_t)sleep->joints.count;
}

void tpSleep_Save(const tpSleep* sleep, void* saved) {
    tpSavedSleep head;
    memset(&head, 0, sizeof(head));
    head.bodies = sleep->islands.count;
    head.contacts = sleep->contacts.count;
    head.joints = sleep->joints.count;
    head.lastIsland = sleep->lastIsland;
    head.sleepingCount = sleep->sleepingCount;
    head.h = sleep->h;
    head.gravity = sleep->gravity;
    head.structure = sleep->structure;
    size_t bodies = (size_t)head.bodies;
    unsigned char* place = put(saved, &head, sizeof(head));
    place = put(place, sleep->islands.data, sizeof(int) * bodies);
    place = put(place, sleep->quiet.data, sizeof(double) * bodies);
    place = put(place, sleep->births.data, sizeof(uint64_t) * bodies);
    place = put(place, sleep->poses.data, sizeof(tpPose) * bodies);
    place = put(place, sleep->velocities.data, sizeof(tpVelocity) * bodies);
    place = put(place, sleep->contacts.data, sizeof(tpContactInfo) * (size_t)head.contacts);
    put(place, sleep->joints.data, sizeof(tpJointRest) * (size_t)head.joints);
}

// Whether contacts that were saved are between bodies of the system.
static bool areIn(const tpSystem* system, const tpContactInfo* contacts, int count) {
    for (int i = 0; i < count; ++i) {
        int a = (int)contacts[i].bodyA.slot - 1, b = (int)contacts[i].bodyB.slot - 1;
        if (a < 0 || a >= system->bodyCount || b < 0 || b >= system->bodyCount) {
            return false;
        }
    }
    return true;
}

bool tpSleep_Restore(tpSleep* sleep, tpSystem* system, tpSavedReader* reader) {
    tpSavedSleep head;
    const tpAllocator* allocator = &system->allocator;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.bodies, sizeof(tpPose)) ||
        !tpSavedReader_Has(reader, head.contacts, sizeof(tpContactInfo)) ||
        !tpSavedReader_Has(reader, head.joints, sizeof(tpJointRest)) ||
        !TP_RESERVE(allocator, sleep->islands, head.bodies) ||
        !TP_RESERVE(allocator, sleep->quiet, head.bodies) ||
        !TP_RESERVE(allocator, sleep->births, head.bodies) ||
        !TP_RESERVE(allocator, sleep->poses, head.bodies) ||
        !TP_RESERVE(allocator, sleep->velocities, head.bodies) ||
        !TP_RESERVE(allocator, sleep->contacts, head.contacts) ||
        !TP_RESERVE(allocator, sleep->woken, head.contacts) ||
        !TP_RESERVE(allocator, sleep->joints, head.joints)) {
        return false;
    }
    size_t bodies = (size_t)head.bodies;
    tpSavedReader_Take(reader, sleep->islands.data, sizeof(int) * bodies);
    tpSavedReader_Take(reader, sleep->quiet.data, sizeof(double) * bodies);
    tpSavedReader_Take(reader, sleep->births.data, sizeof(uint64_t) * bodies);
    tpSavedReader_Take(reader, sleep->poses.data, sizeof(tpPose) * bodies);
    tpSavedReader_Take(reader, sleep->velocities.data, sizeof(tpVelocity) * bodies);
    tpSavedReader_Take(reader, sleep->contacts.data, sizeof(tpContactInfo) * (size_t)head.contacts);
    tpSavedReader_Take(reader, sleep->joints.data, sizeof(tpJointRest) * (size_t)head.joints);
    reader->failed = reader->failed || head.bodies > system->bodyCount ||
                     head.joints > system->joints.count ||
                     !areIn(system, sleep->contacts.data, head.contacts);
    if (reader->failed) {
        sleep->islands.count = sleep->contacts.count = sleep->sleepingCount = 0;
        return false;
    }
    sleep->lastIsland = head.lastIsland;
    sleep->sleepingCount = head.sleepingCount;
    sleep->h = head.h;
    sleep->gravity = head.gravity;
    sleep->structure = head.structure;
    sleep->islands.count = sleep->quiet.count = sleep->births.count = head.bodies;
    sleep->poses.count = sleep->velocities.count = head.bodies;
    sleep->contacts.count = head.contacts;
    sleep->joints.count = head.joints;
    for (int i = 0; i < system->bodyCount; ++i) {
        system->bodies.data[i].isAsleep = i < head.bodies && sleep->islands.data[i] > 0;
    }
    return true;
}

void tpSleep_Destroy(tpSleep* sleep, tpSystem* system) {
    const tpAllocator* allocator = &system->allocator;
    for (int i = 0; i < system->bodyCount; ++i) {
        system->bodies.data[i].isAsleep = false;
    }
    for (int i = 0; i < sleep->islands.count; ++i) {
        tpSystem_MoveShapes(system, i,
                            tpSystem_IsDynamic(system, i)); // the collider knows who slept
    }
    TP_FREE_ARRAY(allocator, sleep->islands);
    TP_FREE_ARRAY(allocator, sleep->quiet);
    TP_FREE_ARRAY(allocator, sleep->births);
    TP_FREE_ARRAY(allocator, sleep->poses);
    TP_FREE_ARRAY(allocator, sleep->velocities);
    TP_FREE_ARRAY(allocator, sleep->joints);
    TP_FREE_ARRAY(allocator, sleep->thrown);
    TP_FREE_ARRAY(allocator, sleep->contacts);
    TP_FREE_ARRAY(allocator, sleep->woken);
}
