#include "dynamics/sleep.h"

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "dynamics/couplings.h"
#include "dynamics/forces.h"
#include "dynamics/motion.h"

static bool isAsleep(const tpSleep* sleep, int body) {
    return body >= 0 && body < sleep->islands.count && sleep->islands.data[body] > 0;
}

static double speedOf(const tpSystem* system, int body) {
    return tpVelocity_LargestSpeed(system, body, &system->velocities.data[body]);
}

// Waking ------------------------------------------------------------------------------------------

// Puts a contact into its place in a list that has room for it.
static void insertInfo(tpContactInfo* list, int* count, const tpContactInfo* info) {
    int place = *count;
    for (; place > 0 && tpContactInfo_Compare(&list[place - 1], info) > 0; --place) {
        list[place] = list[place - 1];
    }
    list[place] = *info;
    *count += 1;
}

static void wakeIsland(tpSleep* sleep, tpSystem* system, int island) {
    int kept = 0;
    for (int i = 0; i < sleep->contacts.count; ++i) {
        const tpContactInfo info = sleep->contacts.data[i];
        int a = tpContactInfo_BodyA(&info), b = tpContactInfo_BodyB(&info);
        bool isOfIt = (isAsleep(sleep, a) && sleep->islands.data[a] == island) ||
                      (isAsleep(sleep, b) && sleep->islands.data[b] == island);
        if (isOfIt) {
            insertInfo(sleep->woken.data, &sleep->woken.count, &info);
        } else {
            sleep->contacts.data[kept++] = info;
        }
    }
    sleep->contacts.count = kept;
    for (int i = 0; i < sleep->islands.count; ++i) {
        if (sleep->islands.data[i] != island) {
            continue;
        }
        sleep->islands.data[i] = 0;
        sleep->quiet.data[i] = 0.0;
        sleep->sleepingCount -= 1;
        tpBody* body = &system->bodies.data[i];
        body->isAsleep = false;
        body->inverseMass = sleep->isTaken ? 1.0 / body->mass : body->inverseMass;
    }
}

// The same if something comes near that may throw its bodies so far within the step.
static void wakeThrown(tpSleep* sleep, tpSystem* system, int island, double way) {
    for (int i = 0; i < sleep->islands.count; ++i) {
        if (sleep->islands.data[i] == island) {
            sleep->thrown.data[i] = way;
        }
    }
    wakeIsland(sleep, system, island);
}

static void setMovable(const tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        bool isMovable = body->inverseMass > 0.0 && !isAsleep(sleep, i);
        if (body->firstShape >= 0 &&
            tpCollider_IsMovable(system->collider, body->firstShape) != isMovable) {
            tpSystem_MoveShapes(system, i, isMovable);
        }
    }
}

void tpSleep_WakeAll(tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count && sleep->sleepingCount > 0; ++i) {
        if (isAsleep(sleep, i)) {
            wakeIsland(sleep, system, sleep->islands.data[i]);
        }
    }
    if (sleep->isTaken) {
        setMovable(sleep, system);
    }
}

// Bodies, shapes or joints have come or gone. Slots may have other owners now: whoever slept there
// wakes, and so does whoever leaned on them.
static void wakeOwners(tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count && sleep->sleepingCount > 0; ++i) {
        bool isSame = system->bodies.data[i].birth == sleep->births.data[i];
        if (!isSame && isAsleep(sleep, i)) {
            wakeIsland(sleep, system, sleep->islands.data[i]);
        }
    }
    for (int i = 0; i < sleep->contacts.count;) {
        const tpContactInfo* info = &sleep->contacts.data[i];
        int a = tpContactInfo_BodyA(info), b = tpContactInfo_BodyB(info);
        bool isSame = system->bodies.data[a].birth == sleep->births.data[a] &&
                      system->bodies.data[b].birth == sleep->births.data[b];
        if (isSame) {
            i += 1;
        } else {
            int sleeper = isAsleep(sleep, a) ? a : b;
            wakeIsland(sleep, system, sleep->islands.data[sleeper]); // takes its contacts out
            i = 0;
        }
    }
}

// Room for all bodies and joints there are now, newcomers awake. False if memory ran out.
static bool followStructure(tpSleep* sleep, tpSystem* system) {
    const tpAllocator* allocator = &system->allocator;
    int count = system->bodyCount, joints = system->joints.count;
    if (!TP_RESERVE(allocator, sleep->islands, count) ||
        !TP_RESERVE(allocator, sleep->quiet, count) ||
        !TP_RESERVE(allocator, sleep->births, count) ||
        !TP_RESERVE(allocator, sleep->poses, count) ||
        !TP_RESERVE(allocator, sleep->velocities, count) ||
        !TP_RESERVE(allocator, sleep->joints, joints)) {
        return false;
    }
    wakeOwners(sleep, system);
    for (int i = 0; i < count; ++i) {
        uint64_t birth = system->bodies.data[i].birth;
        bool isNew = i >= sleep->islands.count || sleep->births.data[i] != birth;
        if (isNew) {
            sleep->islands.data[i] = 0;
            sleep->quiet.data[i] = 0.0;
            sleep->births.data[i] = birth;
            sleep->poses.data[i] = system->poses.data[i];
            sleep->velocities.data[i] = system->velocities.data[i];
        }
    }
    sleep->islands.count = sleep->quiet.count = sleep->births.count = count;
    sleep->poses.count = sleep->velocities.count = count;
    for (int i = sleep->joints.count; i < joints; ++i) {
        memset(&sleep->joints.data[i], 0, sizeof(tpJointRest));
    }
    sleep->joints.count = joints;
    sleep->structure = system->structure;
    return true;
}

// Begin -------------------------------------------------------------------------------------------

static bool isSameVelocity(const tpVelocity* a, const tpVelocity* b) {
    return memcmp(&a->linear, &b->linear, sizeof(tpVec3)) == 0 &&
           memcmp(&a->angular, &b->angular, sizeof(tpVec3)) == 0;
}

// What users have done to bodies since the last step.
static void wakeMoved(tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count && sleep->sleepingCount > 0; ++i) {
        bool isMoved = system->bodies.data[i].isDisturbed ||
                       memcmp(&system->poses.data[i], &sleep->poses.data[i], sizeof(tpPose)) != 0 ||
                       !isSameVelocity(&system->velocities.data[i], &sleep->velocities.data[i]);
        if (!isMoved) {
            continue;
        }
        if (isAsleep(sleep, i)) {
            wakeIsland(sleep, system, sleep->islands.data[i]);
        } else if (!tpSystem_IsDynamic(system, i)) {
            tpSleep_WakeAll(sleep, system); // a floor, perhaps
        }
    }
}

static bool acts(const tpForce* force, double time, double h) {
    return force->isLive && force->def.from < time + h && force->def.to > time;
}

static void wakeForced(tpSleep* sleep, tpSystem* system, double h) {
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (acts(force, system->time, h) && isAsleep(sleep, force->body)) {
            wakeIsland(sleep, system, sleep->islands.data[force->body]);
        }
    }
}

static bool isTold(const tpSystem* system, int body) {
    const tpBody* owner = &system->bodies.data[body];
    const tpVelocity* velocity = &system->velocities.data[body];
    return owner->isLive && owner->kind == tp_kinematicBody &&
           tpLengthSquared(velocity->linear) + tpLengthSquared(velocity->angular) > 0.0;
}

// Whether a shape comes within `margin` of any of a body's.
static bool isShapeNear(const tpSystem* system, int shape, int body, double margin) {
    int own = system->shapes.data[shape].body;
    for (int k = system->bodies.data[body].firstShape; k >= 0; k = system->shapes.data[k].next) {
        tpClosest closest;
        tpResult result = tpCollider_Closest(system->collider, shape, k, system->poses.data[own],
                                             system->poses.data[body], &closest);
        if (result != tp_success || closest.distance <= margin) {
            return true;
        }
    }
    return false;
}

static bool isNear(const tpSystem* system, int told, int body, double h) {
    const tpBody* owner = &system->bodies.data[told];
    const tpBody* sleeper = &system->bodies.data[body];
    double margin = TP_TOUCH_DISTANCE * system->units.length + 2.0 * h * speedOf(system, told);
    double apart =
        tpDistanceBetween(system->poses.data[told].position, system->poses.data[body].position) -
        owner->reach - sleeper->reach;
    for (int k = owner->firstShape; k >= 0; k = system->shapes.data[k].next) {
        bool isEndless = system->shapes.data[k].form->geometry.type == tp_planeShape;
        if ((isEndless || apart <= margin) && isShapeNear(system, k, body, margin)) {
            return true;
        }
    }
    return false;
}

// Those coupled to a body that sets off.
static void wakeCoupled(tpSleep* sleep, tpSystem* system, int told) {
    for (int i = 0; i < system->couplings.count; ++i) {
        int body;
        bool isPart = false;
        for (int k = 0; tpCoupling_BodyAt(system, i, k, &body); ++k) {
            isPart = isPart || body == told;
        }
        for (int k = 0; isPart && tpCoupling_BodyAt(system, i, k, &body); ++k) {
            if (body >= 0 && isAsleep(sleep, body)) {
                wakeIsland(sleep, system, sleep->islands.data[body]);
            }
        }
    }
}

// Those that something is near, or joined to, which sets off.
static void wakeDriven(tpSleep* sleep, tpSystem* system, double h) {
    tpSystem_AimKinematic(system, system->time, h);
    for (int told = 0; told < system->bodyCount; ++told) {
        if (!isTold(system, told)) {
            continue;
        }
        for (int i = 0; i < sleep->islands.count; ++i) {
            if (isAsleep(sleep, i) && isNear(system, told, i, h)) {
                wakeIsland(sleep, system, sleep->islands.data[i]);
            }
        }
        for (int k = 0; k < system->joints.count; ++k) {
            const tpJoint* joint = &system->joints.data[k];
            bool isHeld = joint->isLive && (joint->bodyA == told || joint->bodyB == told);
            int other = joint->bodyA == told ? joint->bodyB : joint->bodyA;
            if (isHeld && isAsleep(sleep, other)) {
                wakeIsland(sleep, system, sleep->islands.data[other]);
            }
        }
        wakeCoupled(sleep, system, told);
    }
}

// Tells the collider which shapes may move.
static void takeMasses(const tpSleep* sleep, tpSystem* system) {
    for (int i = 0; i < sleep->islands.count; ++i) {
        if (isAsleep(sleep, i)) {
            system->bodies.data[i].inverseMass = 0.0;
        }
    }
}

bool tpSleep_Begin(tpSleep* sleep, tpSystem* system, double h) {
    sleep->woken.count = 0;
    if (sleep->structure != system->structure && !followStructure(sleep, system)) {
        tpSleep_WakeAll(sleep, system);
        return false;
    }
    if (memcmp(&sleep->gravity, &system->gravity, sizeof(tpVec3)) != 0) {
        tpSleep_WakeAll(sleep, system);
        sleep->gravity = system->gravity;
    }
    bool hasRoom = TP_RESERVE(&system->allocator, sleep->thrown, system->bodyCount);
    if (!hasRoom || tpSystem_NeedCollider(system) != tp_success) {
        tpSleep_WakeAll(sleep, system);
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        sleep->thrown.data[i] = 0.0;
    }
    if (sleep->sleepingCount > 0) {
        wakeMoved(sleep, system);
        wakeForced(sleep, system, h);
        wakeDriven(sleep, system, h);
    }
    takeMasses(sleep, system);
    sleep->isTaken = true;
    setMovable(sleep, system);
    return true;
}

bool tpSleep_IsAll(const tpSystem* system) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i) || isTold(system, i)) {
            return false;
        }
    }
    return true;
}

bool tpSleep_Meet(tpSleep* sleep, tpSystem* system, const tpContact* contacts, int count,
                  double speed, double h) {
    bool hasWoken = false;
    double fall = 2.0 * h * h * tpLength(system->gravity);
    for (int i = 0; i < count && sleep->sleepingCount > 0; ++i) {
        const tpContact* contact = &contacts[i];
        bool sleepsA = isAsleep(sleep, contact->bodyA), sleepsB = isAsleep(sleep, contact->bodyB);
        if (sleepsA == sleepsB) {
            continue;
        }
        int sleeper = sleepsA ? contact->bodyA : contact->bodyB;
        int other = sleepsA ? contact->bodyB : contact->bodyA;
        tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                         tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
        double closing = -h * tpDot(u, contact->normal);
        // What is thrown goes at most twice as fast, and throws others in turn. (A ball that
        // strikes the first of a row of pendulums drives the last one within the step.)
        bool isMoving = speedOf(system, other) > speed;
        double thrown = sleep->thrown.data[other];
        double way = fmax(isMoving ? fall + fmax(0.0, closing) : 0.0, thrown);
        if (contact->gap <= way + TP_TOUCH_DISTANCE * system->units.length) {
            double farther = isMoving ? fall + 2.0 * fmax(0.0, closing) : 0.0;
            wakeThrown(sleep, system, sleep->islands.data[sleeper], fmax(farther, thrown));
            hasWoken = true;
        }
    }
    if (hasWoken) {
        setMovable(sleep, system);
    }
    return hasWoken;
}
