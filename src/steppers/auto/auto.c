// The method and the step chosen on the fly, to an accuracy the user asks for. README.md has the
// ideas and the norms.

#include "steppers/auto/auto.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "dynamics/sleep.h"
#include "dynamics/step_budget.h"
#include "steppers/auto/calm.h"
#include "steppers/auto/choice.h"
#include "steppers/auto/unchecked.h"

static const char* const notAccurate =
    "auto: the accuracy was not met in this step; the error estimate says by how much";
static const char* const isCrowded =
    "auto: paths in a crowd cannot be followed; it is judged by its laws";
static const char* const isNotFollowed =
    "auto: errors are estimated to be larger than bodies; paths cannot be followed any more and "
    "are judged by their laws";
static const char* const isLeftToCrowds =
    "auto: a crowd whose contacts other methods leave unsolved goes to small-steps";
static const char* const isTakenBack =
    "auto: the method of a crowd cannot carry it beside other groups; another one does";
// Steps of the user for which methods are not compared again if all have failed.
enum { failedFrames = 8 };

static const char* const hasSwitched = "auto: another method is cheaper for this accuracy";

typedef struct Auto {
    tpCarriers carriers;
    tpCalm calm;
    tpSleep sleep;
    tpSolverMemory* solver;
} Auto;

// State -------------------------------------------------------------------------------------------

static bool create(tpSystem* system, void** state) {
    Auto* own = tpAllocateZeroed(&system->allocator, sizeof(Auto));
    if (own == NULL) {
        return false;
    }
    own->solver = tpCreateSolverMemory(&system->allocator);
    if (own->solver == NULL) {
        tpRelease(&system->allocator, own, sizeof(Auto));
        return false;
    }
    *state = own;
    return true;
}

static void destroy(tpSystem* system, void* state) {
    Auto* own = state;
    if (own == NULL) {
        return;
    }
    tpCarriers_Destroy(&own->carriers, system);
    tpCalm_Destroy(&own->calm, system);
    tpSleep_Destroy(&own->sleep, system);
    tpDestroySolverMemory(own->solver);
    tpRelease(&system->allocator, own, sizeof(Auto));
}

static size_t savedSize(const void* state) {
    const Auto* own = state;
    return tpCarriers_SavedSize(&own->carriers) + tpCalm_SavedSize(&own->calm) +
           tpSleep_SavedSize(&own->sleep);
}

static void save(const void* state, void* memory) {
    const Auto* own = state;
    unsigned char* place = memory;
    tpCarriers_Save(&own->carriers, place);
    place = tpCalm_Save(&own->calm, place + tpCarriers_SavedSize(&own->carriers));
    tpSleep_Save(&own->sleep, place);
}

static bool restore(tpSystem* system, void* state, tpSavedReader* reader) {
    Auto* own = state;
    return tpCarriers_Restore(&own->carriers, system, reader) &&
           tpCalm_Restore(&own->calm, &own->carriers, system, reader) &&
           tpSleep_Restore(&own->sleep, system, reader);
}

// Scales ------------------------------------------------------------------------------------------

static double largestSpeed(const tpSystem* system) {
    double largest = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            double speed = tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]);
            largest = fmax(largest, speed);
        }
    }
    return largest;
}

// The time in which gravity moves a body by its length; without gravity, that in which the fastest
// moves so far.
static void findScales(tpUserStep* frame) {
    const tpSystem* system = frame->system;
    frame->lengthScale = system->scales.length;
    double pull = tpLength(system->gravity);
    if (pull > 0.0) {
        frame->timeScale = sqrt(frame->lengthScale / pull);
        return;
    }
    double speed = largestSpeed(system);
    double way = speed > 0.0 ? frame->lengthScale / speed : INFINITY;
    frame->timeScale = isfinite(way) ? way : frame->h;
}

// Groups ------------------------------------------------------------------------------------------

static void keepGroup(tpUserStep* frame, int group, const tpGroupRun* run) {
    tpSystem* system = frame->system;
    tpMethod method = run->isByEvents ? tp_eventMethod : run->method;
    const char* name = tpMethod_Stepper(method)->name;
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isKinematic = frame->groups.ofBody[i] < 0;
        if (frame->groups.ofBody[i] == group || isKinematic) {
            frame->poses[i] = system->poses.data[i];
            frame->velocities[i] = system->velocities.data[i];
            frame->positionErrors[i] = run->positionErrors[i];
            frame->speedErrors[i] = run->speedErrors[i];
            frame->carriers[i] = isKinematic ? NULL : name;
            frame->carrierSteps[i] = isKinematic ? 0.0 : run->lastStep;
        }
    }
}

// Turns and rotors of the joints of a group.
static void keepMotion(tpUserStep* frame, int group) {
    tpSystem* system = frame->system;
    int count = tpJoints_MotionCount(system);
    double* now = TP_SCRATCH(&system->arena, double, count);
    if (now == NULL) {
        return;
    }
    tpJoints_ReadMotion(system, now);
    int place = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int body = tpSystem_IsDynamic(system, joint->bodyA) ? joint->bodyA : joint->bodyB;
        int end = place + tpJoint_MotionCount(joint);
        bool isOurs = body >= 0 && frame->groups.ofBody[body] == group;
        for (; place < end; ++place) {
            frame->motion[place] = isOurs ? now[place] : frame->motion[place];
        }
    }
}

// Whether a step beyond a limit of the certificate is taken back and methods are compared: another
// one may carry the group within it. Not if all have failed lately, nor if it was the work that ran
// out for the method that crowds are left to.
static bool isToBeMended(const tpUserStep* frame, int group, const tpCarrier* carrier,
                         const tpGroupRun* run) {
    bool isHard = carrier->method == tp_standardMethod && tpStepBudget_IsHard(frame->system) &&
                  frame->groups.sizes[group] > tp_crowdSize;
    return run->taken.isBad && carrier->pace.failedCount == 0 && !isHard &&
           tpChoice_CanCompare(frame, group);
}

// Carries the group over the frame. A surprising cost, or a step beyond a limit of the certificate,
// makes it give up, with all as it was, unless methods have just been compared. False if memory ran
// out.
static bool runGroup(tpUserStep* frame, int group, tpCarrier* carrier, bool isCompared,
                     tpGroupRun* run) {
    tpSystem* system = frame->system;
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    double time = system->time, kinetic, potential;
    tpKept before;
    *run = tpUserStep_MakeRun(frame, group, carrier);
    run->workLimit = isCompared ? INFINITY : tpChoice_WorkLimit(frame, group, carrier);
    run->mayGiveUp = isfinite(run->workLimit);
    bool isFlying = group == frame->groups.flying, mayGoBack = !isCompared && !isFlying;
    const tpStepper* kept = mayGoBack ? stepper : NULL;
    if (!tpUserStep_StartErrors(frame, run) ||
        (!isFlying && !tpKept_Take(&before, system, kept, carrier->state))) {
        return false;
    }
    tpSystem_FindEnergies(system, &kinetic, &potential);
    tpGroupRun_Take(run);
    if (!isFlying) {
        tpGroupRun_JudgeEnergy(run, &before, kinetic, potential);
    }
    run->isGivenUp = run->isGivenUp || (mayGoBack && isToBeMended(frame, group, carrier, run));
    // What no method can, nobody tries to mend for a while.
    bool hasFailed = isCompared && run->taken.isBad;
    run->pace.failedCount -= run->pace.failedCount > 0 ? 1 : 0;
    run->pace.failedCount = hasFailed ? failedFrames : run->pace.failedCount;
    if (run->isGivenUp) {
        frame->taken.work += run->taken.work;
        carrier->spent += run->taken.work;
        system->time = time;
        return tpKept_PutBack(&before, system, stepper, carrier->state);
    }
    return run->hasMemory;
}

// Carries the group over the frame as a part of a stride, if there is one, or one can begin.
static bool followStride(tpUserStep* frame, int group, tpCarrier* carrier, tpGroupRun* run) {
    tpSystem* system = frame->system;
    *run = tpUserStep_MakeRun(frame, group, carrier);
    if (!tpUserStep_StartErrors(frame, run)) {
        return false;
    }
    bool isUnderWay =
        tpStride_IsUnderWay(&carrier->stride, system, &frame->groups, group, frame->h) &&
        tpTaken_Start(&run->taken, system, frame->limits);
    isUnderWay = isUnderWay || tpGroupRun_TryStride(run, &carrier->stride);
    if (isUnderWay) {
        tpGroupRun_FollowStride(run, &carrier->stride);
        return true;
    }
    frame->taken.work += run->taken.work;
    frame->rejectedCount += run->rejectedCount;
    carrier->pace = run->pace;
    return false;
}

static bool carryGroup(tpUserStep* frame, int group) {
    tpSystem* system = frame->system;
    tpCarrier* carrier = tpCarriers_For(frame->carriersOf, system, &frame->groups, group);
    if (carrier == NULL) {
        return false;
    }
    tpGroups_Isolate(&frame->groups, system, group);
    double time = system->time;
    tpUserStep_GiveShare(frame, group, 1.0);
    bool isDone = !carrier->isFresh || tpChoice_Begin(frame, group, carrier);
    if (isDone && tpChoice_IsLeft(frame, group, carrier)) {
        isDone = tpChoice_Leave(frame, carrier);
    }
    tpGroupRun run;
    bool isStriding = isDone && followStride(frame, group, carrier, &run);
    if (isStriding) {
        isDone = run.hasMemory;
    } else {
        bool isCompared = tpChoice_IsDue(frame, group, carrier);
        isDone = isDone && (!isCompared || tpChoice_Compare(frame, group, carrier)) &&
                 runGroup(frame, group, carrier, isCompared, &run);
        if (isDone && run.isGivenUp) {
            isDone = tpChoice_Compare(frame, group, carrier) &&
                     runGroup(frame, group, carrier, true, &run);
        }
    }
    if (isDone) {
        isDone = tpTaken_Append(&frame->taken, system, &run.taken);
        carrier->pace = run.pace;
        carrier->pace.badCount = run.taken.isBad ? carrier->pace.badCount + 1 : 0;
        if (!isStriding) {
            tpChoice_Book(carrier, run.taken.work);
        }
        frame->rejectedCount += run.rejectedCount;
        frame->isAccurate = frame->isAccurate && run.isAccurate;
        frame->isCrowded = frame->isCrowded || (frame->groups.sizes[group] > tp_crowdSize &&
                                                frame->groups.pairCounts[group] > 0);
        frame->isLost = frame->isLost || tpGroupRun_IsLost(&run);
        keepGroup(frame, group, &run);
        keepMotion(frame, group);
    }
    system->time = time;
    tpKept_PutBack(&frame->start, system, NULL, NULL);
    tpGroups_Rejoin(&frame->groups, system, group, frame->start.motion.poses,
                    frame->start.motion.velocities);
    return isDone;
}

// Bodies that are told how to move, where nothing else does.
static void moveKinematic(tpUserStep* frame) {
    tpSystem* system = frame->system;
    tpSystem_AimKinematic(system, system->time, frame->h);
    tpSystem_MoveKinematic(system, system->time, frame->h);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (frame->groups.ofBody[i] < 0) {
            frame->poses[i] = system->poses.data[i];
            frame->velocities[i] = system->velocities.data[i];
        }
    }
}

// The frame ---------------------------------------------------------------------------------------

static bool startFrame(tpUserStep* frame, bool isOne) {
    tpSystem* system = frame->system;
    int count = system->bodyCount;
    frame->poses = TP_SCRATCH(&system->arena, tpPose, count);
    frame->velocities = TP_SCRATCH(&system->arena, tpVelocity, count);
    frame->carriers = TP_SCRATCH_ZEROED(&system->arena, const char*, count);
    frame->carrierSteps = TP_SCRATCH_ZEROED(&system->arena, double, count);
    frame->targets = TP_SCRATCH(&system->arena, tpPose, count);
    frame->positionErrors = TP_SCRATCH_ZEROED(&system->arena, double, count);
    frame->speedErrors = TP_SCRATCH_ZEROED(&system->arena, double, count);
    frame->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    frame->isAccurate = true;
    tpSystem_AimKinematic(system, system->time, frame->h);
    for (int i = 0; i < count; ++i) {
        system->bodies.data[i].carrier = NULL; // methods have words of their own there
    }
    if (system->arena.failed || !tpKept_Take(&frame->start, system, NULL, NULL) ||
        !tpTaken_Start(&frame->taken, system, frame->limits) ||
        !tpGroups_Find(&frame->groups, system, frame->h, isOne)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpCarried* body = &frame->carriersOf->bodies.data[i];
        frame->targets[i] = tpBody_Target(&system->bodies.data[i]);
        frame->positionErrors[i] = body->positionError;
        frame->speedErrors[i] = body->speedError;
    }
    tpJoints_ReadMotion(system, frame->motion);
    return true;
}

static bool carryAll(tpUserStep* frame) {
    tpCarriers_Begin(frame->carriersOf);
    for (int group = 0; group < frame->groups.count; ++group) {
        if (!carryGroup(frame, group)) {
            return false;
        }
    }
    if (frame->groups.count == 0) {
        moveKinematic(frame);
    }
    tpSystem* system = frame->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        system->poses.data[i] = frame->poses[i];
        system->velocities.data[i] = frame->velocities[i];
        system->bodies.data[i].carrier = frame->carriers[i];
        system->bodies.data[i].carrierStep = frame->carrierSteps[i];
        if (system->bodies.data[i].target != NULL) {
            *system->bodies.data[i].target = frame->targets[i];
        }
    }
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        frame->taken.reactions[i] /= frame->h;
    }
    tpJoints_WriteReactions(system, frame->taken.reactions);
    tpJoints_WriteMotion(system, frame->motion);
    return true;
}

static void finishReport(tpUserStep* frame, tpStepReport* report) {
    tpSystem* system = frame->system;
    tpStepReport start = *report;
    *report = frame->taken.report;
    report->kineticBefore = start.kineticBefore;
    report->potentialBefore = start.potentialBefore;
    report->limits = start.limits;
    report->figures[tp_switchFigure] = frame->switchCount;
    report->figures[tp_rejectedFigure] = frame->rejectedCount;
    double largest = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        tpCarried* body = &frame->carriersOf->bodies.data[i];
        body->positionError = frame->positionErrors[i];
        body->speedError = frame->speedErrors[i];
        system->bodies.data[i].carrierError = body->positionError;
        largest = fmax(largest, body->positionError);
    }
    report->errorEstimate = largest;
    report->errorAsked = frame->accuracy * frame->lengthScale;
    report->work = frame->taken.work;
    if (!frame->isAccurate) {
        tpStepReport_AddNote(report, notAccurate);
    }
    if (frame->isCrowded) {
        tpStepReport_AddNote(report, isCrowded);
    }
    if (frame->isLost) {
        tpStepReport_AddNote(report, isNotFollowed);
    }
    if (frame->isLeft) {
        tpStepReport_AddNote(report, isLeftToCrowds);
    } else if (frame->isTaken) {
        tpStepReport_AddNote(report, isTakenBack);
    } else if (frame->switchCount > 0) {
        tpStepReport_AddNote(report, hasSwitched);
    }
}

static void fail(tpStepReport* report) {
    report->undone = true;
    tpStepReport_AddNote(report, "out of memory");
}

// Rest --------------------------------------------------------------------------------------------

// Of the speed at which an error as large as was asked for comes together: slower groups are at
// rest. And the time for which they have to be, in time scales: those that turn around are slow for
// less. Groups that are slower still by as much need no more than some steps.
static const double stillPart = 1e-3, stillTime = 0.5, stillSteps = 4.0;

static tpSleepSettings restSettings(const tpUserStep* frame) {
    double shortest = stillSteps * frame->h;
    return (tpSleepSettings){ stillPart * frame->accuracy * frame->lengthScale / frame->timeScale,
                              fmax(stillTime * frame->timeScale, shortest), shortest };
}

// Who wakes, who is left out of the step, and the groups of the others. False if memory ran out.
static bool wakeAndStart(tpUserStep* frame, tpSleep* sleep) {
    tpSleepSettings settings = restSettings(frame);
    if (!tpSleep_Begin(sleep, frame->system, frame->h)) {
        return false;
    }
    bool isDone;
    do {
        isDone = startFrame(frame, tpChoice_StaysOne(frame));
    } while (isDone && sleep->sleepingCount > 0 &&
             tpSleep_Meet(sleep, frame->system, frame->groups.contacts, frame->groups.contactCount,
                          settings.speed, frame->h));
    return isDone;
}

// Whether a body has met another group, or has come so far that it can have met one: then all go
// together, from the start. (A ball that another one drives against a third can be back at the end
// of the step, as if from a wall.)
static bool hasLeftGroup(const tpUserStep* frame) {
    return tpSystem_HasOutrun(frame->system, frame->start.motion.poses, frame->groups.margins) ||
           tpGroups_HaveMet(&frame->groups, frame->system, &frame->taken.tally);
}

// All together and awake, from the start.
static bool startAgain(tpUserStep* frame, tpSleep* sleep) {
    tpSystem* system = frame->system;
    tpKept start = frame->start;
    tpSleep_WakeAll(sleep, system);
    return tpKept_PutBack(&start, system, NULL, NULL) && startFrame(frame, true);
}

static bool follow(tpSystem* system, void* state, const tpOptions* options, double h,
                   tpStepReport* report, tpStepStart* start) {
    Auto* own = state;
    if (!tpCalm_GoesOn(&own->calm, system, h, options->values[tp_accuracyOption])) {
        return false;
    }
    if (!tpCalm_Take(&own->calm, system, &own->carriers, &own->sleep, own->solver, report)) {
        tpCalm_End(&own->calm);
        fail(report);
    }
    *start = tpCalm_Start(&own->calm);
    return true;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    Auto* own = state;
    tpUserStep frame = { .system = system,
                         .carriersOf = &own->carriers,
                         .solver = own->solver,
                         .options = options,
                         .limits = &report->limits,
                         .h = h };
    frame.accuracy = options->values[tp_accuracyOption];
    findScales(&frame);
    tpCalm_End(&own->calm);
    bool isDone = tpCarriers_Follow(&own->carriers, system) && wakeAndStart(&frame, &own->sleep) &&
                  carryAll(&frame);
    if (isDone && (frame.groups.count > 1 || own->sleep.sleepingCount > 0) &&
        hasLeftGroup(&frame)) {
        double work = frame.taken.work;
        isDone = startAgain(&frame, &own->sleep) && carryAll(&frame);
        frame.taken.work += work;
    }
    tpSleep_Mark(&own->sleep, system);
    if (isDone) {
        finishReport(&frame, report);
        double* margins = tpSystem_Margins(system, system->velocities.data, NULL, h);
        report->penetration = 0.0; // where bodies are at the end
        isDone = margins != NULL && tpTally_List(&frame.taken.tally, system, margins, report);
        tpCalm_Begin(&own->calm, &frame, &own->sleep, restSettings(&frame).speed);
    }
    if (own->sleep.isTaken) {
        tpSleepSettings settings = restSettings(&frame);
        isDone = tpSleep_End(&own->sleep, system, &settings, h, report) && isDone;
        if (own->sleep.sleepingCount > 0) {
            tpCalm_FindEnergies(&own->calm, system);
        }
        if (isDone && frame.groups.count == 0 && own->sleep.sleepingCount > 0) {
            tpCalm_Rest(&own->calm, system, report, h, frame.accuracy);
        }
    }
    if (!isDone) {
        fail(report);
    }
}

static const tpOptionIndex used[] = { tp_accuracyOption,
                                      tp_toleranceOption,
                                      tp_coneOption,
                                      tp_directionsOption,
                                      tp_restitutionThresholdOption,
                                      tp_optionCount };

static const tpFigureIndex figures[] = { tp_switchFigure, tp_rejectedFigure, tp_checkFigure,
                                         tp_collisionFigure, tp_figureCount };

const tpStepper tpAutoStepper = {
    .name = "auto",
    .summary = "chooses method and step while it runs, for a requested accuracy",
    .closesAccount = true,
    .options = used,
    .figures = figures,
    .seesCrossings = true,
    .hasCarriers = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .follow = follow,
    .savedSize = savedSize,
    .save = save,
    .restore = restore,
};
