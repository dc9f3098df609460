#include "steppers/auto/calm.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "steppers/auto/apart.h"

void tpCalm_Destroy(tpCalm* calm, tpSystem* system) {
    TP_FREE_ARRAY(&system->allocator, calm->poses);
    TP_FREE_ARRAY(&system->allocator, calm->velocities);
    TP_FREE_ARRAY(&system->allocator, calm->formerPoses);
    TP_FREE_ARRAY(&system->allocator, calm->formerVelocities);
    TP_FREE_ARRAY(&system->allocator, calm->rooms);
    calm->leftCount = 0;
}

// Leaving ----------------------------------------------------------------------------------------

void tpCalm_FindEnergies(tpCalm* calm, const tpSystem* system) {
    tpSystem_FindEnergies(system, &calm->kinetic, &calm->potential);
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
    tpCalm_FindEnergies(calm, system);
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

void tpCalm_Last(tpCalm* calm, const tpSystem* system, int count, double h, double accuracy) {
    calm->leftCount = count;
    calm->h = h;
    calm->accuracy = accuracy;
    calm->structure = system->structure;
    calm->gravity = system->gravity;
    leave(calm, system);
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
    tpCalm_Last(calm, system, 1, h, accuracy);
}

// Going on ----------------------------------------------------------------------------------------

// Whether gravity moves a body, if no stride puts it where it is.
static bool moves(const tpSystem* system, int body) {
    return tpSystem_IsDynamic(system, body) && !system->bodies.data[body].isAsleep;
}

// How far a body may come in the next step, m.
static double wayOf(const tpSystem* system, int body, double h) {
    const tpVelocity* velocity = &system->velocities.data[body];
    return tpSystem_Margin(system, body, velocity, velocity, h);
}

// Uses up the room of all bodies for the next step. False if one has not enough.
static bool useRoom(tpCalm* calm, const tpSystem* system, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (moves(system, i)) {
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
    const tpSleep* sleep;
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
    if (!isDone || margins == NULL || !tpTally_List(&tally, system, margins, &unused) ||
        !tpSleep_ListContacts(promise->sleep, system)) {
        system->contacts.count = 0;
    }
}

// What is to be expected of the positions of all bodies, by their velocities.
static void growErrors(tpSystem* system, tpCarriers* carriers, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpCarried* carried = &carriers->bodies.data[i];
        carried->positionError += system->bodies.data[i].isAsleep ? 0.0 : h * carried->speedError;
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
static void fly(tpSystem* system, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (moves(system, i)) {
            tpVelocity* velocity = &system->velocities.data[i];
            tpPose* pose = &system->poses.data[i];
            tpVec3 pull = tpSystem_Gravity(system, i);
            velocity->linear = tpMulAdd(velocity->linear, 0.5 * h, pull);
            pose->position = tpMulAdd(pose->position, h, velocity->linear);
            tpSystem_Rotate(system, i, h, &pose->rotation, &velocity->angular);
            velocity->linear = tpMulAdd(velocity->linear, 0.5 * h, pull);
        }
    }
}

static bool isInStride(const tpCalm* calm, const tpCarriers* carriers, int body) {
    for (int i = 0; i < calm->strideCount; ++i) {
        const tpStride* stride = &carriers->list[calm->strides[i]].stride;
        for (int k = 0; k < stride->bodies.count; ++k) {
            if (stride->bodies.data[k].body == body) {
                return true;
            }
        }
    }
    return false;
}

// Names what carries bodies that a method has left to fly on.
static void nameFlying(const tpCalm* calm, const tpCarriers* carriers, tpSystem* system, double h) {
    const char* name = tpMethod_Stepper(tp_flyingMethod)->name;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (moves(system, i) && !isInStride(calm, carriers, i)) {
            system->bodies.data[i].carrier = name;
            system->bodies.data[i].carrierStep = h;
        }
    }
}

// Puts joints right that the polynomials have left open.
static void closeJoints(const tpCalm* calm, tpSystem* system, tpSolverMemory* solver,
                        tpStepReport* report) {
    double drift = tpJoints_PositionError(system, system->poses.data);
    double length = system->scales.length;
    if (drift > tpStride_Drift(calm->accuracy, length)) {
        tpJoints_FollowAngles(system);
        drift = tpJoints_CorrectAndMeasure(system, solver, 1e-10 * length);
    }
    report->jointDrift = drift;
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

bool tpCalm_Take(tpCalm* calm, tpSystem* system, tpCarriers* carriers, const tpSleep* sleep,
                 tpSolverMemory* solver, tpStepReport* report) {
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
    if (calm->hasFlying && calm->leftCount == calm->lastCount) {
        nameFlying(calm, carriers, system, h);
    }
    tpSystem_AimKinematic(system, system->time, h);
    tpSystem_MoveKinematic(system, system->time, h);
    for (int i = 0; i < calm->strideCount; ++i) {
        tpStride* stride = &carriers->list[calm->strides[i]].stride;
        tpStride_Advance(stride, system);
        tpStride_AddLoads(stride, system, reactions, report);
        addErrors(stride, carriers);
        report->contactCount += tpStrideLoads_ContactCount(&stride->loads);
        // The deepest of the stride: nothing else can touch. (Measured in each step it was a third
        // of what the step of a ball that rolls took.)
        report->penetration = fmax(report->penetration, stride->loads.penetration);
    }
    if (calm->strideCount > 0 && system->joints.count > 0) {
        closeJoints(calm, system, solver, report);
    }
    for (int i = 0; i < calm->strideCount; ++i) {
        tpStride_Leave(&carriers->list[calm->strides[i]].stride, system);
    }
    for (int i = 0; i < reactionCount; ++i) {
        reactions[i] /= h;
    }
    tpJoints_WriteReactions(system, reactions);
    report->sleepingCount = sleep->sleepingCount;
    report->contactCount += sleep->contacts.count;
    report->penetration = fmax(report->penetration, calm->penetration);
    report->errorEstimate = largestError(system, carriers);
    *promise = (Promise){ calm, carriers, sleep };
    tpSystem_PromiseContacts(system, listContacts, promise);
    calm->leftCount -= 1;
    leave(calm, system);
    finishReport(calm, system, report);
    return true;
}
