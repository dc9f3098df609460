// For how long nothing can happen: the paths of all bodies are known, and none can meet another.
// They fly, follow strides, are steady or sleep.

#include "dynamics/contact_spring.h"
#include "geometry/shape.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/calm.h"
#include "steppers/auto/modes.h"
#include "steppers/auto/outer_forces.h"

// Fewer steps are not worth looking for among many bodies, so many are tried at first, and so many
// times more than last time. If nothing was found nobody looks again for a while, twice as long
// each time.
enum { leastCount = 3, firstCount = 4, growth = 4, firstPatience = 4 };

// Among few bodies there are few pairs however far one looks: as far as there is to go, be it one
// step, and again soon.
enum { fewBodies = 8, fewPatience = 2, leastOfFew = 1 };

// In a crowd all are near to each other after a few steps: looking far would cost far more than a
// step.
enum { mostBodies = 128 };

// What impulses in strides can add to the way of a body, in parts of it.
static const double reserve = 0.5;

// Of the way that a change of velocity in a step bends off a straight one, an eighth of it times
// the step: taken so many times.
static const double bulgePart = 0.25;

// What is known of the bodies.
typedef struct Paths {
    const tpUserStep* frame;
    bool* flies; // of each body
    // the stride that it follows and its part of it, NULL: none
    const tpStride** strides;
    const tpStrideBody** parts;
} Paths;

// Who moves how -----------------------------------------------------------------------------------

// Nothing but gravity, forces that strides know, joints and contacts moves anybody, and nobody is
// about to come to rest.
static bool isPlain(const tpUserStep* frame, double restSpeed) {
    const tpSystem* system = frame->system;
    bool isPlain = !system->gives && !system->hasLoads;
    for (int i = 0; isPlain && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        // From the start of the last step on: velocities are those of that step.
        isPlain = !body->isLive || body->isAsleep ||
                  tpBody_IsSteadyFor(body, system->time, 2.0 * frame->h) ||
                  (body->kind == tp_dynamicBody && body->inverseMass > 0.0 &&
                   tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]) > restSpeed);
    }
    return isPlain;
}

// Whether those asleep may lie on: nothing wakes them but what comes near, and they hang on no
// joints.
static bool mayLie(const tpSystem* system, const tpSleep* sleep) {
    return sleep->sleepingCount == 0 || (system->joints.count == 0 && system->forces.count == 0 &&
                                         system->couplings.count == 0 && !system->mayMoveAsTold);
}

// Whether a group that a method has carried flies on from where it is: nothing but gravity acts,
// and nothing touches but what parts.
static bool fliesOn(const tpUserStep* frame, int group) {
    const tpSystem* system = frame->system;
    if (frame->groups.jointCounts[group] > 0 ||
        tpOuterForce_IsThere(system, &frame->groups, group)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (frame->groups.ofBody[i] == group && system->bodies.data[i].locked != 0) {
            return false;
        }
    }
    double touch = TP_TOUCH_DISTANCE * system->units.length;
    for (int i = 0; i < system->contacts.count; ++i) {
        const tpContactInfo* info = &system->contacts.data[i];
        int a = tpContactInfo_BodyA(info), b = tpContactInfo_BodyB(info);
        bool isOurs = frame->groups.ofBody[a] == group || frame->groups.ofBody[b] == group;
        if (isOurs && info->gap <= touch && !(tpModes_SpeedApart(info, system) > 0.0)) {
            return false;
        }
    }
    return true;
}

// The strides of all groups that do not fly, and for how many steps they last; 0: the path of one
// is not known.
static int listPaths(tpCalm* calm, Paths* paths) {
    const tpGroups* groups = &paths->frame->groups;
    const tpCarriers* carriers = paths->frame->carriersOf;
    int count = tp_maxStride;
    calm->strideCount = 0;
    calm->hasFlying = false;
    for (int group = 0; group < groups->count && count > 0; ++group) {
        int first = 0;
        while (groups->ofBody[first] != group) {
            ++first;
        }
        int place = carriers->bodies.data[first].carrier;
        const tpStride* stride = &carriers->list[place].stride;
        int left = stride->frameCount - stride->doneCount;
        bool isFlying = group == groups->flying || (left <= 0 && fliesOn(paths->frame, group));
        for (int i = first; isFlying && i < paths->frame->system->bodyCount; ++i) {
            paths->flies[i] = paths->flies[i] || groups->ofBody[i] == group;
        }
        calm->hasFlying = calm->hasFlying || isFlying;
        if (!isFlying) {
            for (int i = 0; i < stride->bodies.count; ++i) {
                paths->strides[stride->bodies.data[i].body] = stride;
                paths->parts[stride->bodies.data[i].body] = &stride->bodies.data[i];
            }
            calm->strides[calm->strideCount++] = place;
            count = left < count ? left : count;
        }
    }
    return count;
}

// Of so many steps those before a body that goes from keyframe to keyframe comes to one.
static int countEven(const tpUserStep* frame, int count) {
    const tpSystem* system = frame->system;
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        while (count > 0 && body->isLive && body->kind == tp_kinematicBody &&
               !tpBody_IsSteadyFor(body, system->time, (count + 1) * frame->h)) {
            count /= 2;
        }
    }
    return count;
}

// Who meets whom ----------------------------------------------------------------------------------

// Whether a contact is of a stride: within its group, or of that with what is fixed.
static bool isKnown(const Paths* paths, const tpContact* contact) {
    const tpGroups* groups = &paths->frame->groups;
    const tpBody* bodies = paths->frame->system->bodies.data;
    int a = groups->ofBody[contact->bodyA], b = groups->ofBody[contact->bodyB];
    int body = a >= 0 ? contact->bodyA : contact->bodyB;
    bool isAsleep = bodies[contact->bodyA].isAsleep || bodies[contact->bodyB].isAsleep;
    return paths->strides[body] != NULL && !isAsleep && (a < 0 || b < 0 || a == b);
}

// How far a body may go in so many steps. Those that fly go as far as gravity takes them, and each
// step takes a little more of the room than that, by margins of its own; others have a reserve for
// impulses.
static double roomOf(const Paths* paths, int body, int count) {
    const tpSystem* system = paths->frame->system;
    const tpVelocity* velocity = &system->velocities.data[body];
    double h = paths->frame->h, time = count * h;
    if (!paths->flies[body]) {
        return (1.0 + reserve) * tpSystem_Margin(system, body, velocity, NULL, time);
    }
    return count * tpSystem_Margin(system, body, velocity, NULL, h) +
           0.5 * time * time * tpLength(tpSystem_Gravity(system, body));
}

// Whether the path of a body is a parabola: it flies, is steady or sleeps.
static bool isPredictable(const Paths* paths, int body) {
    return paths->flies[body] || paths->frame->groups.ofBody[body] < 0;
}

// How far a body has gone along a direction after so many steps, at most as far back as what its
// turning can make of it, and less what its way is bent by within a step, m.
static double wayAlong(const Paths* paths, int body, int shape, tpVec3 direction, int count) {
    const tpSystem* system = paths->frame->system;
    double h = paths->frame->h, time = count * h;
    const tpStride* stride = paths->strides[body];
    if (stride == NULL) {
        tpVec3 pull = paths->flies[body] ? tpSystem_Gravity(system, body) : tpZeroVec3();
        tpVec3 way =
            tpMulAdd(tpScale(time, system->velocities.data[body].linear), 0.5 * time * time, pull);
        return tpDot(direction, way) - time * tpSystem_TurningSpeed(system, body, shape) -
               bulgePart * h * h * tpLength(pull);
    }
    const tpStrideBody* part = paths->parts[body];
    double s = (double)(stride->doneCount + count) / stride->frameCount;
    double before = (stride->doneCount + count - 1.0) / stride->frameCount;
    tpVec3 way = tpSub(tpStride_PositionAt(stride, part, s), system->poses.data[body].position);
    double change = tpDistanceBetween(tpStride_VelocityAt(stride, part, s),
                                      tpStride_VelocityAt(stride, part, before));
    double turn = 0.0;
    if (!tpBody_IsRound(system, &system->bodies.data[body])) {
        double now = (double)stride->doneCount / stride->frameCount;
        turn = time * tpLength(part->spin) + tpStride_TurnAt(stride, part, s) +
               tpStride_TurnAt(stride, part, now);
    }
    return tpDot(direction, way) - turn * system->bodies.data[body].reach - bulgePart * h * change;
}

// Of so many steps those in which two convex shapes cannot meet, along the paths of their bodies:
// the slab between them (apart.h) stays open.
static int countAlong(const Paths* paths, const tpContact* contact, int count) {
    const tpSystem* system = paths->frame->system;
    if (isPredictable(paths, contact->bodyA) && isPredictable(paths, contact->bodyB)) {
        return 0; // their parabolas have told
    }
    bool areConvex = tpGeometry_IsConvex(&system->shapes.data[contact->shapeA].form->geometry) &&
                     tpGeometry_IsConvex(&system->shapes.data[contact->shapeB].form->geometry);
    double left = contact->gap - TP_TOUCH_DISTANCE * system->units.length;
    int done = 0;
    tpVec3 back = tpScale(-1.0, contact->normal);
    while (areConvex && left > 0.0 && done < count &&
           left + wayAlong(paths, contact->bodyA, contact->shapeA, contact->normal, done + 1) +
                   wayAlong(paths, contact->bodyB, contact->shapeB, back, done + 1) >
               0.0) {
        ++done;
    }
    return done;
}

// Of so many steps those in which two bodies that are no farther apart than the contact tells
// cannot meet.
static int countApart(const Paths* paths, const tpContact* contact, int count) {
    const tpUserStep* frame = paths->frame;
    int least = 0;
    if (isPredictable(paths, contact->bodyA) && isPredictable(paths, contact->bodyB)) {
        double time = tpContact_TimeApart(frame->system, contact) * (1.0 - 1e-9);
        least = (int)fmin(count, time / frame->h);
    }
    while (count > least) {
        int middle = (least + count + 1) / 2;
        bool isApart = contact->gap > roomOf(paths, contact->bodyA, middle) +
                                          roomOf(paths, contact->bodyB, middle);
        least = isApart ? middle : least;
        count = isApart ? count : middle - 1;
    }
    return least;
}

// Of so many steps those in which nobody can meet another one or leave his room; fewer than `least`
// are not looked into.
static int countEmpty(tpCalm* calm, const Paths* paths, int count, int least) {
    tpSystem* system = paths->frame->system;
    tpContact* contacts;
    int contactCount;
    double* margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        margins[i] = roomOf(paths, i, count);
    }
    if (margins == NULL || tpSystem_FindContacts(system, system->poses.data, margins, &contacts,
                                                 &contactCount) != tp_success) {
        return 0;
    }
    for (int i = 0; i < contactCount && count >= least; ++i) {
        if (!isKnown(paths, &contacts[i])) {
            int apart = countApart(paths, &contacts[i], count);
            int along = apart < count ? countAlong(paths, &contacts[i], count) : 0;
            count = apart > along ? apart : along;
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        calm->rooms.data[i] = roomOf(paths, i, count);
    }
    return count;
}

// How deep those asleep overlap, m.
static double overlapAsleep(const tpSystem* system, const tpSleep* sleep) {
    double deepest = 0.0;
    for (int i = 0; i < sleep->contacts.count; ++i) {
        tpContact contact = tpContactInfo_Contact(&sleep->contacts.data[i]);
        deepest = fmax(deepest, tpContact_Overlap(&contact, system));
    }
    return deepest;
}

// False if memory ran out.
static bool startPaths(Paths* paths, const tpUserStep* frame) {
    tpSystem* system = frame->system;
    int count = system->bodyCount;
    paths->frame = frame;
    paths->flies = TP_SCRATCH_ZEROED(&system->arena, bool, count);
    paths->strides = TP_SCRATCH_ZEROED(&system->arena, const tpStride*, count);
    paths->parts = TP_SCRATCH_ZEROED(&system->arena, const tpStrideBody*, count);
    return !system->arena.failed;
}

void tpCalm_Begin(tpCalm* calm, const tpUserStep* frame, const tpSleep* sleep, double restSpeed) {
    tpSystem* system = frame->system;
    Paths paths;
    bool mayBe = system->bodyCount > 0 && system->bodyCount <= mostBodies && calm->patience == 0;
    calm->patience -= calm->patience > 0 ? 1 : 0;
    int last = calm->lastCount;
    calm->leftCount = calm->lastCount = 0;
    mayBe = mayBe && frame->groups.count > 0 && mayLie(system, sleep) &&
            isPlain(frame, restSpeed) && startPaths(&paths, frame);
    int count = mayBe ? countEven(frame, listPaths(calm, &paths)) : 0;
    bool areFew = system->bodyCount <= fewBodies;
    int most = areFew ? tp_maxStride : last > 0 ? growth * last : firstCount;
    int least = areFew ? leastOfFew : leastCount;
    count = most < count ? most : count;
    if (count < least || !tpCalm_MakeRoom(calm, system)) {
        return;
    }
    count = countEmpty(calm, &paths, count, least);
    if (count < least) {
        calm->patience = areFew ? fewPatience : firstPatience << calm->failureCount;
        calm->failureCount += calm->failureCount < tp_calmFailures ? 1 : 0;
        return;
    }
    calm->failureCount = 0;
    calm->lastCount = count;
    calm->penetration = overlapAsleep(system, sleep);
    tpCalm_Last(calm, system, count, frame->h, frame->accuracy);
}
