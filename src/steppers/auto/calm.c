#include "steppers/auto/calm.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "steppers/auto/apart.h"

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

void tpCalm_Destroy(tpCalm* calm, tpSystem* system) {
    TP_FREE_ARRAY(&system->allocator, calm->poses);
    TP_FREE_ARRAY(&system->allocator, calm->velocities);
    TP_FREE_ARRAY(&system->allocator, calm->formerPoses);
    TP_FREE_ARRAY(&system->allocator, calm->formerVelocities);
    TP_FREE_ARRAY(&system->allocator, calm->rooms);
    calm->leftCount = 0;
}

// Finding out -------------------------------------------------------------------------------------

// Nothing but gravity, joints and contacts moves anybody, and nobody is about to come to rest.
static bool isPlain(const tpSystem* system, double restSpeed) {
    bool isPlain = !system->gives && !system->hasLoads;
    for (int i = 0; isPlain && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        isPlain = !body->isLive || tpBody_IsSteady(body) ||
                  (body->kind == tp_dynamicBody && body->inverseMass > 0.0 &&
                   tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]) > restSpeed);
    }
    return isPlain;
}

// The strides of all groups that do not fly, and for how many steps they last; 0: one has none.
static int listStrides(tpCalm* calm, const tpUserStep* frame) {
    const tpGroups* groups = &frame->groups;
    bool isListed[tp_groupLimit + 2] = { false };
    int count = tp_maxStride;
    calm->strideCount = 0;
    calm->hasFlying = groups->flying >= 0;
    for (int i = 0; i < frame->system->bodyCount; ++i) {
        int place = groups->ofBody[i] >= 0 && groups->ofBody[i] != groups->flying
                        ? frame->carriersOf->bodies.data[i].carrier
                        : -1;
        if (place < 0 || isListed[place]) {
            continue;
        }
        const tpStride* stride = &frame->carriersOf->list[place].stride;
        int left = stride->frameCount - stride->doneCount;
        isListed[place] = true;
        calm->strides[calm->strideCount++] = place;
        count = left < count ? left : count;
    }
    return count;
}

// Whether a contact is within a group that does not fly, or of one with what is fixed.
static bool isKnown(const tpGroups* groups, const tpContact* contact) {
    int a = groups->ofBody[contact->bodyA], b = groups->ofBody[contact->bodyB];
    int group = a >= 0 ? a : b;
    return group != groups->flying && (a < 0 || b < 0 || a == b);
}

static bool isFlying(const tpGroups* groups, int body) {
    return groups->flying >= 0 && groups->ofBody[body] == groups->flying;
}

// How far a body may go in so many steps. Those that fly go as far as gravity takes them, and each
// step takes a little more of the room than that, by margins of its own; others have a reserve for
// impulses.
static double roomOf(const tpUserStep* frame, int body, int count) {
    const tpSystem* system = frame->system;
    const tpVelocity* velocity = &system->velocities.data[body];
    double time = count * frame->h;
    if (!isFlying(&frame->groups, body)) {
        return (1.0 + reserve) * tpSystem_Margin(system, body, velocity, NULL, time);
    }
    return count * tpSystem_Margin(system, body, velocity, NULL, frame->h) +
           0.5 * time * time * tpLength(tpSystem_Gravity(system, body));
}

// Whether the path of a body is known: it flies, or is steady.
static bool isPredictable(const tpUserStep* frame, int body) {
    return isFlying(&frame->groups, body) ||
           (frame->groups.ofBody[body] < 0 && tpBody_IsSteady(&frame->system->bodies.data[body]));
}

// Of so many steps those in which two bodies that are no farther apart than the contact tells
// cannot meet.
static int countApart(const tpUserStep* frame, const tpContact* contact, int count) {
    int least = 0;
    if (isPredictable(frame, contact->bodyA) && isPredictable(frame, contact->bodyB)) {
        double time = tpContact_TimeApart(frame->system, contact) * (1.0 - 1e-9);
        least = (int)fmin(count, time / frame->h);
    }
    while (count > least) {
        int middle = (least + count + 1) / 2;
        bool isApart = contact->gap > roomOf(frame, contact->bodyA, middle) +
                                          roomOf(frame, contact->bodyB, middle);
        least = isApart ? middle : least;
        count = isApart ? count : middle - 1;
    }
    return least;
}

// The pairs of shapes of contacts that are as near as bodies can come while the calm lasts.
static void takePairs(tpCalm* calm, const tpContact* contacts, int count) {
    calm->pairCount = 0;
    for (int i = 0; i < count; ++i) {
        tpShapePair pair = { contacts[i].shapeA, contacts[i].shapeB };
        bool isNew = i == 0 || contacts[i - 1].shapeA != pair.shapeA ||
                     contacts[i - 1].shapeB != pair.shapeB;
        if (isNew && calm->pairCount < tp_calmPairs) {
            calm->pairs[calm->pairCount] = pair;
        }
        calm->pairCount += isNew && calm->pairCount <= tp_calmPairs ? 1 : 0;
    }
}

// Of so many steps those in which nobody can meet another one or leave his room; fewer than `least`
// are not looked into.
static int countEmpty(tpCalm* calm, const tpUserStep* frame, int count, int least) {
    tpSystem* system = frame->system;
    tpContact* contacts;
    int contactCount;
    double* margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        margins[i] = roomOf(frame, i, count);
    }
    if (margins == NULL || tpSystem_FindContacts(system, system->poses.data, margins, &contacts,
                                                 &contactCount) != tp_success) {
        return 0;
    }
    for (int i = 0; i < contactCount && count >= least; ++i) {
        if (!isKnown(&frame->groups, &contacts[i])) {
            count = countApart(frame, &contacts[i], count);
        }
    }
    takePairs(calm, contacts, contactCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        calm->rooms.data[i] = roomOf(frame, i, count);
    }
    return count;
}

// Remembers where all bodies are left, and where they were left before.
static void leave(tpCalm* calm, const tpSystem* system) {
    size_t count = (size_t)system->bodyCount;
    tpPose* poses = calm->poses.data;
    tpVelocity* velocities = calm->velocities.data;
    calm->poses.data = calm->formerPoses.data;
    calm->velocities.data = calm->formerVelocities.data;
    calm->formerPoses.data = poses;
    calm->formerVelocities.data = velocities;
    if (count > 0) {
        memcpy(calm->poses.data, system->poses.data, sizeof(tpPose) * count);
        memcpy(calm->velocities.data, system->velocities.data, sizeof(tpVelocity) * count);
    }
    calm->kinetic = tpSystem_KineticEnergy(system);
    calm->potential = tpSystem_PotentialEnergy(system);
}

tpStepStart tpCalm_Start(const tpCalm* calm) {
    return (tpStepStart){ calm->formerPoses.data, calm->formerVelocities.data };
}

bool tpCalm_MakeRoom(tpCalm* calm, tpSystem* system) {
    int count = system->bodyCount;
    bool isDone = TP_RESERVE(&system->allocator, calm->poses, count) &&
                  TP_RESERVE(&system->allocator, calm->velocities, count) &&
                  TP_RESERVE(&system->allocator, calm->formerPoses, count) &&
                  TP_RESERVE(&system->allocator, calm->formerVelocities, count) &&
                  TP_RESERVE(&system->allocator, calm->rooms, count);
    calm->poses.count = calm->velocities.count = calm->rooms.count = isDone ? count : 0;
    return isDone;
}

// It lasts for so many steps of h from where all bodies are now.
static void last(tpCalm* calm, const tpSystem* system, int count, double h, double accuracy) {
    calm->leftCount = count;
    calm->h = h;
    calm->accuracy = accuracy;
    calm->structure = system->structure;
    calm->gravity = system->gravity;
    leave(calm, system);
}

void tpCalm_Begin(tpCalm* calm, const tpUserStep* frame, double restSpeed) {
    tpSystem* system = frame->system;
    bool mayBe = system->bodyCount > 0 && system->bodyCount <= mostBodies && calm->patience == 0;
    calm->patience -= calm->patience > 0 ? 1 : 0;
    int count = mayBe && isPlain(system, restSpeed) ? listStrides(calm, frame) : 0;
    bool areFew = system->bodyCount <= fewBodies;
    int most = areFew ? tp_maxStride : calm->lastCount > 0 ? growth * calm->lastCount : firstCount;
    calm->leftCount = calm->lastCount = 0;
    int least = areFew ? leastOfFew : leastCount;
    count = most < count ? most : count;
    if (count < least || !tpCalm_MakeRoom(calm, system)) {
        return;
    }
    count = countEmpty(calm, frame, count, least);
    if (count < least) {
        calm->patience = areFew ? fewPatience : firstPatience << calm->failureCount;
        calm->failureCount += calm->failureCount < tp_calmFailures ? 1 : 0;
        return;
    }
    calm->failureCount = 0;
    calm->lastCount = count;
    last(calm, system, count, frame->h, frame->accuracy);
}

void tpCalm_Rest(tpCalm* calm, tpSystem* system, const tpStepReport* report, double h,
                 double accuracy) {
    bool isAlone = system->forces.count == 0 && system->couplings.count == 0 && !system->gives &&
                   !system->hasLoads && !system->mayMoveAsTold && report->noteCount == 0;
    if (!isAlone || !tpCalm_MakeRoom(calm, system)) {
        return;
    }
    calm->isStill = true;
    calm->hasFlying = false;
    calm->strideCount = 0;
    calm->contactCount = report->contactCount;
    calm->residual = report->residual;
    calm->penetration = report->penetration;
    calm->jointDrift = report->jointDrift;
    leave(calm, system); // the step before, too
    last(calm, system, 1, h, accuracy);
}

// Going on ----------------------------------------------------------------------------------------

// How far a body may come in the next step, m.
static double wayOf(const tpSystem* system, int body, double h) {
    const tpVelocity* velocity = &system->velocities.data[body];
    return tpSystem_Margin(system, body, velocity, velocity, h);
}

// Uses up the room of all bodies for the next step. False if one has not enough.
static bool useRoom(tpCalm* calm, const tpSystem* system, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            calm->rooms.data[i] -= wayOf(system, i, h);
            if (calm->rooms.data[i] < 0.0) {
                return false;
            }
        }
    }
    return true;
}

// Whether all is as the last step has left it.
static bool isUntouched(const tpCalm* calm, const tpSystem* system, double h, double accuracy) {
    size_t count = (size_t)system->bodyCount;
    return calm->leftCount > 0 && calm->h == h && calm->accuracy == accuracy &&
           calm->structure == system->structure && calm->poses.count == system->bodyCount &&
           !system->hasDisturbed && !system->hasLoads &&
           memcmp(&calm->gravity, &system->gravity, sizeof(tpVec3)) == 0 &&
           memcmp(calm->poses.data, system->poses.data, sizeof(tpPose) * count) == 0 &&
           memcmp(calm->velocities.data, system->velocities.data, sizeof(tpVelocity) * count) == 0;
}

bool tpCalm_GoesOn(tpCalm* calm, const tpSystem* system, double h, double accuracy) {
    // Contacts of what sleeps stay listed; a snapshot has no list.
    bool isListed = calm->isStill && system->contacts.count == calm->contactCount;
    bool isSame = isUntouched(calm, system, h, accuracy) &&
                  (calm->isStill ? isListed : useRoom(calm, system, h));
    calm->leftCount = isSame ? calm->leftCount : 0;
    return isSame;
}

void tpCalm_End(tpCalm* calm) {
    calm->leftCount = 0;
    calm->isStill = false;
}

// What is to be listed for those who ask.
typedef struct Promise {
    const tpCalm* calm;
    const tpCarriers* carriers;
} Promise;

static void listContacts(tpSystem* system, void* context) {
    const Promise* promise = context;
    tpTally tally = { NULL, 0 };
    tpStepReport unused = { 0 };
    bool isDone = true;
    for (int i = 0; isDone && i < promise->calm->strideCount; ++i) {
        const tpCarrier* carrier = &promise->carriers->list[promise->calm->strides[i]];
        isDone = tpStride_AddContacts(&carrier->stride, system, &tally);
    }
    double* margins = tpSystem_TouchMargins(system);
    if (!isDone || margins == NULL || !tpTally_List(&tally, system, margins, &unused)) {
        system->contacts.count = 0;
    }
}

// What is to be expected of the positions of all bodies, by their velocities.
static void growErrors(tpSystem* system, tpCarriers* carriers, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpCarried* carried = &carriers->bodies.data[i];
        carried->positionError += h * carried->speedError;
    }
}

static void addErrors(const tpStride* stride, tpCarriers* carriers) {
    for (int k = 0; k < stride->bodies.count; ++k) {
        const tpStrideBody* body = &stride->bodies.data[k];
        tpCarried* carried = &carriers->bodies.data[body->body];
        carried->positionError += body->positionError / stride->frameCount;
        carried->speedError += body->speedError / stride->frameCount;
    }
}

static double largestError(tpSystem* system, const tpCarriers* carriers) {
    double largest = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        double error = carriers->bodies.data[i].positionError;
        system->bodies.data[i].carrierError = error;
        largest = fmax(largest, error);
    }
    return largest;
}

// Gravity for h seconds: nothing else acts on bodies that fly, and strides put the others where
// they are.
static void kick(tpSystem* system, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            tpVelocity* velocity = &system->velocities.data[i];
            velocity->linear = tpMulAdd(velocity->linear, h, tpSystem_Gravity(system, i));
        }
    }
}

static void fly(tpSystem* system, double h) {
    kick(system, 0.5 * h);
    tpSystem_Drift(system, h);
    kick(system, 0.5 * h);
}

// Puts joints right that the polynomials have left open.
static void closeJoints(tpSystem* system, tpSolverMemory* solver, tpStepReport* report) {
    double drift = tpJoints_PositionError(system, system->poses.data);
    double length = system->scales.length;
    if (tpStride_IsOpen(drift, length)) {
        tpJoints_FollowAngles(system);
        tpJoints_Correct(system, solver, 1e-10 * length);
        drift = tpJoints_PositionError(system, system->poses.data);
    }
    report->jointDrift = drift;
}

// How deep bodies overlap where something touches: of the pairs that can, if they are known. False
// if memory ran out.
static bool measureOverlap(const tpCalm* calm, tpSystem* system, tpStepReport* report) {
    tpContact* contacts;
    int count;
    if (report->contactCount == 0) {
        return true;
    }
    double* margins = tpSystem_TouchMargins(system);
    tpResult result =
        margins == NULL ? tp_outOfMemory
        : calm->pairCount > tp_calmPairs
            ? tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count)
            : tpSystem_FindContactsOf(system, calm->pairs, calm->pairCount, system->poses.data,
                                      margins, &contacts, &count);
    if (result != tp_success) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        report->penetration = fmax(report->penetration, -contacts[i].gap);
    }
    return true;
}

// The step in which all bodies sleep: contacts stay listed.
static void takeStill(const tpCalm* calm, const tpSystem* system, tpStepReport* report) {
    report->substepCount = 0;
    report->contactCount = calm->contactCount;
    report->residual = calm->residual;
    report->penetration = calm->penetration;
    report->jointDrift = calm->jointDrift;
    for (int i = 0; i < system->bodyCount; ++i) {
        report->errorEstimate = fmax(report->errorEstimate, system->bodies.data[i].carrierError);
        report->sleepingCount += tpSystem_IsDynamic(system, i) ? 1 : 0;
    }
}

// What all calm steps say.
static void finishReport(const tpCalm* calm, const tpSystem* system, tpStepReport* report) {
    report->errorAsked = calm->accuracy * system->scales.length;
    report->kineticAfter = calm->kinetic;
    report->potentialAfter = calm->potential;
}

bool tpCalm_Take(tpCalm* calm, tpSystem* system, tpCarriers* carriers, tpSolverMemory* solver,
                 tpStepReport* report) {
    report->kineticBefore = calm->kinetic;
    report->potentialBefore = calm->potential;
    if (calm->isStill) {
        takeStill(calm, system, report);
        finishReport(calm, system, report);
        return true;
    }
    double h = calm->h;
    int reactionCount = tpJoints_ReactionCount(system);
    double* reactions = TP_SCRATCH_ZEROED(&system->arena, double, reactionCount);
    Promise* promise = TP_SCRATCH(&system->arena, Promise, 1);
    if (reactions == NULL || promise == NULL) {
        return false;
    }
    report->substepCount = calm->hasFlying ? 1 : 0;
    growErrors(system, carriers, h);
    if (calm->hasFlying) {
        fly(system, h);
    }
    tpSystem_MoveKinematic(system, system->time, h);
    for (int i = 0; i < calm->strideCount; ++i) {
        tpStride* stride = &carriers->list[calm->strides[i]].stride;
        tpStride_Advance(stride, system);
        tpStride_AddLoads(stride, system, reactions, report);
        addErrors(stride, carriers);
        report->contactCount += tpStrideLoads_ContactCount(&stride->loads);
    }
    if (calm->strideCount > 0) {
        closeJoints(system, solver, report);
    }
    for (int i = 0; i < calm->strideCount; ++i) {
        tpStride_Leave(&carriers->list[calm->strides[i]].stride, system);
    }
    for (int i = 0; i < reactionCount; ++i) {
        reactions[i] /= h;
    }
    tpJoints_WriteReactions(system, reactions);
    if (!measureOverlap(calm, system, report)) {
        return false;
    }
    report->errorEstimate = largestError(system, carriers);
    *promise = (Promise){ calm, carriers };
    tpSystem_PromiseContacts(system, listContacts, promise);
    calm->leftCount -= 1;
    leave(calm, system);
    finishReport(calm, system, report);
    return true;
}
