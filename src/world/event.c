// Events of a step, by comparing what is with what was when they were last listed.

#include "world/event.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#include "world/require.h"

// Shapes this near touch, m, also where no impulse acts.
static const double touchGap = 1e-6;

// A coordinate this near to a limit is at it, m or rad.
static const double atLimit = 1e-6;

static const char* const names[tp_eventKindCount] = {
    [tp_touchBegan] = "touch_began",
    [tp_touchEnded] = "touch_ended",
    [tp_hit] = "hit",
    [tp_overlapBegan] = "overlap_began",
    [tp_overlapEnded] = "overlap_ended",
    [tp_limitReached] = "limit_reached",
    [tp_limitLeft] = "limit_left",
    [tp_fellAsleep] = "fell_asleep",
    [tp_wokeUp] = "woke_up",
};

const char* tpEventKindName(tpEventKind kind) {
    return (unsigned)kind < tp_eventKindCount ? names[kind] : "";
}

void tpWatch_Destroy(tpWatch* watch, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, watch->pairs);
    TP_FREE_ARRAY(allocator, watch->before);
    TP_FREE_ARRAY(allocator, watch->events);
}

static tpEvent* add(tpWorld* world, tpEventKind kind) {
    tpWatch* watch = &world->watch;
    if (!TP_RESERVE(&world->system.allocator, watch->events, watch->events.count + 1)) {
        static tpEvent lost; // memory has run out: the event is not told
        return &lost;
    }
    tpEvent* event = &watch->events.data[watch->events.count++];
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    return event;
}

// Touches -----------------------------------------------------------------------------------------

static int comparePairs(const void* a, const void* b) {
    const tpTouchingPair *x = a, *y = b;
    return x->shapeA != y->shapeA ? (x->shapeA < y->shapeA ? -1 : 1)
                                  : (x->shapeB > y->shapeB) - (x->shapeB < y->shapeB);
}

// Speed at which the bodies of a contact approached each other at the start of the step.
static double approachOf(const tpContactInfo* contact, const tpPose* poses,
                         const tpVelocity* velocities) {
    const int bodies[2] = { (int)contact->bodyA.slot - 1, (int)contact->bodyB.slot - 1 };
    double speed = 0.0;
    for (int side = 0; side < 2 && poses != NULL; ++side) {
        const tpVelocity* v = &velocities[bodies[side]];
        tpVec3 arm = tpSub(contact->point, poses[bodies[side]].position);
        double along = tpDot(contact->normal, tpAdd(v->linear, tpCross(v->angular, arm)));
        speed += side == 0 ? -along : along;
    }
    return speed;
}

// Pairs that touch now, merged from contacts, ascending.
static void listPairs(tpWorld* world, const tpPose* poses, const tpVelocity* velocities) {
    tpWatch* watch = &world->watch;
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    watch->pairs.count = 0;
    if (!TP_RESERVE(&world->system.allocator, watch->pairs, count)) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* contact = &contacts[i];
        if (!(contact->normalImpulse > 0.0) && contact->gap > touchGap) {
            continue;
        }
        bool isSwapped = contact->shapeA.slot > contact->shapeB.slot;
        int a = (int)contact->shapeA.slot - 1, b = (int)contact->shapeB.slot - 1;
        watch->pairs.data[watch->pairs.count++] =
            (tpTouchingPair){ .shapeA = isSwapped ? b : a,
                              .shapeB = isSwapped ? a : b,
                              .point = contact->point,
                              .normal = isSwapped ? tpNeg(contact->normal) : contact->normal,
                              .largest = contact->normalImpulse,
                              .impulse = contact->normalImpulse,
                              .speed = approachOf(contact, poses, velocities) };
    }
    tpTouchingPair* pairs = watch->pairs.data;
    if (watch->pairs.count > 1) {
        qsort(pairs, (size_t)watch->pairs.count, sizeof(tpTouchingPair), comparePairs);
    }
    int kept = 0;
    for (int i = 0; i < watch->pairs.count; ++i) {
        tpTouchingPair* last = &pairs[kept - 1];
        if (kept == 0 || comparePairs(last, &pairs[i]) != 0) {
            pairs[kept++] = pairs[i];
            continue;
        }
        last->impulse += pairs[i].impulse;
        last->speed = fmax(last->speed, pairs[i].speed);
        // Of equal ones the order must not depend on how they were sorted.
        bool isLarger = pairs[i].largest > last->largest ||
                        (pairs[i].largest == last->largest &&
                         memcmp(&pairs[i].point, &last->point, sizeof(tpVec3)) < 0);
        if (isLarger) {
            last->largest = pairs[i].largest;
            last->point = pairs[i].point;
            last->normal = pairs[i].normal;
        }
    }
    watch->pairs.count = kept;
}

static tpEvent* addPair(tpWorld* world, tpEventKind kind, const tpTouchingPair* pair) {
    const tpShape* shapes = world->system.shapes.data;
    tpEvent* event = add(world, kind);
    event->shapeA = tpWorld_ShapeId(world, pair->shapeA);
    event->shapeB = tpWorld_ShapeId(world, pair->shapeB);
    // Shapes that have gone since have no ids any more.
    event->bodyA =
        tpWorld_BodyId(world, shapes[pair->shapeA].isLive ? shapes[pair->shapeA].body : -1);
    event->bodyB =
        tpWorld_BodyId(world, shapes[pair->shapeB].isLive ? shapes[pair->shapeB].body : -1);
    return event;
}

static void tellTouch(tpWorld* world, tpEventKind kind, const tpTouchingPair* pair) {
    tpEvent* event = addPair(world, kind, pair);
    event->point = pair->point;
    event->normal = pair->normal;
    event->impulse = pair->impulse;
    event->speed = pair->speed;
}

static void tellTouches(tpWorld* world) {
    const tpWatch* watch = &world->watch;
    int i = 0, k = 0;
    while (i < watch->pairs.count || k < watch->before.count) {
        int order = i == watch->pairs.count ? 1
                    : k == watch->before.count
                        ? -1
                        : comparePairs(&watch->pairs.data[i], &watch->before.data[k]);
        if (order < 0) {
            tellTouch(world, tp_touchBegan, &watch->pairs.data[i]);
        } else if (order > 0) {
            addPair(world, tp_touchEnded, &watch->before.data[k]);
        }
        i += order <= 0 ? 1 : 0;
        k += order >= 0 ? 1 : 0;
    }
    for (i = 0; i < watch->pairs.count; ++i) {
        const tpTouchingPair* pair = &watch->pairs.data[i];
        if (pair->impulse > 0.0 && pair->speed > tpWorld_GetHitSpeed(world)) {
            tellTouch(world, tp_hit, pair);
        }
    }
}

// The others --------------------------------------------------------------------------------------

static void followOverlaps(tpWorld* world, bool tells) {
    for (int i = 0; i < world->sensors.count; ++i) {
        tpSensor* sensor = &world->sensors.data[i];
        if (!sensor->isLive || sensor->type != tp_overlapSensor) {
            continue;
        }
        bool isOn = tpWorld_IsOverlapped(world, sensor);
        if (tells && isOn != sensor->wasOn) {
            tpEvent* event = add(world, isOn ? tp_overlapBegan : tp_overlapEnded);
            event->sensor.slot = (uint32_t)i + 1;
            event->sensor.generation = world->sensorIds.generations.data[i];
            event->bodyA = tpWorld_BodyId(world, sensor->body);
        }
        sensor->wasOn = isOn;
    }
}

static void followLimits(tpWorld* world, bool tells) {
    tpSystem* system = &world->system;
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            tpCoordinate* coordinate = &joint->coordinates[k];
            bool isAt = false;
            tpCoordinateState state = { 0.0, 0.0, 0.0, 0.0 };
            if (coordinate->def.hasLimits) {
                state = tpWorld_CoordinateState(world, joint, k);
                isAt = state.limitEffort != 0.0 ||
                       state.value < coordinate->def.limits[0] + atLimit ||
                       state.value > coordinate->def.limits[1] - atLimit;
            }
            if (tells && isAt != coordinate->wasAtLimit) {
                tpEvent* event = add(world, isAt ? tp_limitReached : tp_limitLeft);
                event->joint = tpWorld_JointId(world, i);
                event->coordinate = k;
                event->speed = state.speed;
                event->impulse = state.limitEffort;
            }
            coordinate->wasAtLimit = isAt;
        }
    }
}

static void followSleep(tpWorld* world, bool tells) {
    tpSystem* system = &world->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        if (tells && body->isLive && body->isAsleep != body->wasAsleep) {
            add(world, body->isAsleep ? tp_fellAsleep : tp_wokeUp)->bodyA =
                tpWorld_BodyId(world, i);
        }
        body->wasAsleep = body->isAsleep;
    }
}

static void keepPairs(tpWatch* watch, const tpAllocator* allocator) {
    if (TP_RESERVE(allocator, watch->before, watch->pairs.count)) {
        watch->before.count = watch->pairs.count;
        if (watch->pairs.count > 0) {
            memcpy(watch->before.data, watch->pairs.data,
                   sizeof(tpTouchingPair) * (size_t)watch->pairs.count);
        }
    }
}

static void follow(tpWorld* world, const tpPose* poses, const tpVelocity* velocities, bool tells) {
    world->watch.events.count = 0;
    listPairs(world, poses, velocities);
    if (tells) {
        tellTouches(world);
    }
    keepPairs(&world->watch, &world->system.allocator);
    followOverlaps(world, tells);
    followLimits(world, tells);
    followSleep(world, tells);
}

void tpWorld_ListEvents(tpWorld* world, const tpPose* poses, const tpVelocity* velocities) {
    world->watch.isCurrent = false;
    if (world->watch.isOn) {
        follow(world, poses, velocities, true);
    }
}

void tpWorld_RememberTouches(tpWorld* world) {
    if (!world->watch.isOn && !world->watch.isCurrent) {
        follow(world, NULL, NULL, false);
        world->watch.isCurrent = true;
    }
}

const tpEvent* tpWorld_GetEvents(tpWorld* world, int* count) {
    TP_NEED(world, NULL);
    tpWorld_RememberTouches(world);
    world->watch.isOn = true;
    if (count != NULL) {
        *count = world->watch.events.count;
    }
    return world->watch.events.data;
}

void tpWorld_SetHitSpeed(tpWorld* world, double speed) {
    TP_NEED(world, );
    if (TP_REQUIRE(speed >= 0.0 && isfinite(speed), "speed", "is %g, not zero or more", speed)) {
        world->watch.hitSpeed = speed;
    }
}

double tpWorld_GetHitSpeed(const tpWorld* world) {
    TP_NEED(world, 0.0);
    return world->watch.hitSpeed;
}
