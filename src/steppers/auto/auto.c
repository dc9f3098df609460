// The method and the step chosen on the fly, to an accuracy the user asks for. README.md has the
// ideas and the norms.

#include "steppers/auto/auto.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "dynamics/sleep.h"
#include "steppers/auto/carriers.h"

// Methods are compared again when a group has cost this many times what the last comparison did.
static const double comparisonShare = 8.0;

// Another method has to be cheaper by this factor.
static const double clearlyCheaper = 0.8;

// A method is given up if it costs this many times what the best one did.
static const double hopeless = 1.2;

// The work of methods that miss the accuracy, or a limit of the certificate, counts so many times.
static const double shortfall = 1e3;

// A step of the user that costs so many times what it did when methods were last compared is taken
// back, and they are compared again.
static const double surprising = 5.0;

// Of a comparison: the work that each method gets at first for a body, ns, and how often it gets
// twice as much.
static const double firstBudget = 1.6e4;
enum { maxRounds = 16 };

// A method that misses the accuracy is taken if the others have not come to the end with so many
// times its work.
static const double patience = 2.0;

static const char* const notAccurate =
    "auto: the accuracy was not met in this step; the error estimate says by how much";
static const char* const isCrowded =
    "auto: paths in a crowd cannot be followed; it is judged by its laws";
static const char* const hasSwitched = "auto: another method is cheaper for this accuracy";

typedef struct Auto {
    tpCarriers carriers;
    tpSleep sleep;
    tpSolverMemory* solver;
} Auto;

// One step of the user.
typedef struct Frame {
    tpSystem* system;
    Auto* own;
    const tpOptions* options;
    double h;
    tpGroups groups;
    tpKept start; // motion alone
    tpPose* targets;
    tpPose* poses; // at the end, of the groups that are done
    tpVelocity* velocities;
    const char** carriers;
    double* carrierSteps; // s
    double* motion;
    double *positionErrors, *speedErrors;
    tpTaken taken;
    double lengthScale, timeScale, accuracy;
    int switchCount, rejectedCount;
    bool isAccurate, isCrowded;
} Frame;

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
    tpSleep_Destroy(&own->sleep, system);
    tpDestroySolverMemory(own->solver);
    tpRelease(&system->allocator, own, sizeof(Auto));
}

static size_t savedSize(const void* state) {
    const Auto* own = state;
    return tpCarriers_SavedSize(&own->carriers) + tpSleep_SavedSize(&own->sleep);
}

static void save(const void* state, void* memory) {
    const Auto* own = state;
    unsigned char* place = memory;
    tpCarriers_Save(&own->carriers, place);
    tpSleep_Save(&own->sleep, place + tpCarriers_SavedSize(&own->carriers));
}

static bool restore(tpSystem* system, void* state, tpSavedReader* reader) {
    Auto* own = state;
    return tpCarriers_Restore(&own->carriers, system, reader) &&
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
static void findScales(Frame* frame) {
    const tpSystem* system = frame->system;
    frame->lengthScale = system->scales.length;
    double pull = tpLength(system->gravity), speed = largestSpeed(system);
    double fall = pull > 0.0 ? sqrt(frame->lengthScale / pull) : INFINITY;
    double way = speed > 0.0 ? frame->lengthScale / speed : INFINITY;
    frame->timeScale = pull > 0.0 ? fall : isfinite(way) ? way : frame->h;
}

// Trials ------------------------------------------------------------------------------------------

static tpGroupRun makeRun(const Frame* frame, int group, const tpCarrier* carrier,
                          const tpStepReport* report) {
    tpGroupRun run = { .system = frame->system,
                       .options =
                           tpMethod_Options(carrier->method, frame->options, &frame->groups, group),
                       .groups = &frame->groups,
                       .group = group,
                       .method = carrier->method,
                       .state = carrier->state,
                       .solver = frame->own->solver,
                       .targets = frame->targets,
                       .limits = report->limits,
                       .begin = frame->system->time,
                       .length = frame->h,
                       .lengthScale = frame->lengthScale,
                       .timeScale = frame->timeScale,
                       .accuracy = frame->accuracy,
                       .workLimit = INFINITY,
                       .pace = carrier->pace };
    return run;
}

// Errors as they are at the start of the frame.
static bool startErrors(const Frame* frame, tpGroupRun* run) {
    int count = frame->system->bodyCount;
    run->positionErrors = TP_SCRATCH(&frame->system->arena, double, count);
    run->speedErrors = TP_SCRATCH(&frame->system->arena, double, count);
    if (frame->system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpCarried* body = &frame->own->carriers.bodies.data[i];
        run->positionErrors[i] = body->positionError;
        run->speedErrors[i] = body->speedError;
    }
    return true;
}

// How a method did in a comparison.
typedef struct Racer {
    tpMethod method;
    double work;     // of the last try
    double lasting;  // of a frame like this one, if the method goes on
    bool isOver;     // no more tries: it is done, or it cannot
    bool isDone;     // it came to the end
    bool isAccurate; // as was asked for, and within the limits of the certificate
} Racer;

// Lets a method carry the group over the frame for at most `limit` of work. Nothing is changed.
static void tryMethod(Frame* frame, int group, const tpKept* before, const tpPace* pace,
                      double limit, const tpStepReport* report, Racer* racer) {
    tpSystem* system = frame->system;
    double time = system->time;
    tpCarrier carrier = { .state = NULL };
    racer->isOver = !tpCarrier_Change(&carrier, system, racer->method);
    if (racer->isOver) {
        return;
    }
    tpCarrier_Pace(&carrier, pace);
    tpGroupRun run = makeRun(frame, group, &carrier, report);
    run.mayGiveUp = true;
    run.workLimit = limit;
    if (startErrors(frame, &run)) {
        tpGroupRun_Take(&run);
        racer->work = run.taken.work;
        racer->lasting = tpGroupRun_LastingWork(&run);
        racer->isDone = run.hasMemory && !run.isGivenUp && !run.isPassedOn;
        racer->isAccurate = racer->isDone && run.isAccurate && !run.taken.isBad;
    }
    racer->isOver = racer->isDone || run.isPassedOn || !run.hasMemory;
    const tpStepper* stepper = tpMethod_Stepper(racer->method);
    if (stepper->destroy != NULL) {
        stepper->destroy(system, carrier.state);
    }
    tpKept_PutBack(before, system, NULL, NULL);
    system->time = time;
}

// The methods that can carry the group, what it has now first.
static int listRacers(const Frame* frame, int group, tpMethod present,
                      Racer racers[tp_methodCount]) {
    int count = 0;
    for (int i = 0; i < tp_methodCount; ++i) {
        tpMethod method = (tpMethod)((present + i) % tp_methodCount);
        if (tpMethod_CanCarry(method, frame->system, &frame->groups, group)) {
            racers[count++] = (Racer){ .method = method };
        }
    }
    return count;
}

// What counts in a comparison: what it has now has an advantage, those that miss something come
// last.
static double countedWork(const Racer* racer, const tpCarrier* carrier) {
    bool isPresent = racer->method == carrier->method && !carrier->isFresh;
    return racer->lasting * (isPresent ? clearlyCheaper : 1.0) *
           (racer->isAccurate ? 1.0 : shortfall);
}

// Whether all that have not come to the end have had as much work as the best one.
static bool isBehind(const Racer* racers, int count, double work) {
    for (int i = 0; i < count; ++i) {
        if (!racers[i].isOver && racers[i].work < work) {
            return false;
        }
    }
    return true;
}

// All go in turn, each for the same work at most, and for twice as much in the next round, until
// one is there: so a comparison costs no more than a few times what the best one does, whatever the
// others need.
static const Racer* race(Frame* frame, int group, const tpKept* before, const tpCarrier* carrier,
                         const tpStepReport* report, Racer* racers, int count, double* spent) {
    const Racer* best = NULL;
    double budget = firstBudget * frame->groups.sizes[group];
    for (int round = 0; round < maxRounds; ++round, budget *= 2.0) {
        bool isOver = true;
        for (int i = 0; i < count; ++i) {
            Racer* racer = &racers[i];
            if (racer->isOver) {
                continue;
            }
            double least = best != NULL && best->isAccurate ? hopeless * best->work : INFINITY;
            double limit = round + 1 == maxRounds ? INFINITY : budget;
            tryMethod(frame, group, before, &carrier->pace, fmin(limit, least), report, racer);
            *spent += racer->work;
            isOver = isOver && racer->isOver;
            if (racer->isDone &&
                (best == NULL || countedWork(racer, carrier) < countedWork(best, carrier))) {
                best = racer;
            }
        }
        bool isGood = best != NULL && (best->isAccurate || budget > patience * best->work);
        if (isOver || (isGood && isBehind(racers, count, best->work))) {
            break;
        }
    }
    return best;
}

// Compares all methods that can carry the group. False if memory ran out.
static bool chooseMethod(Frame* frame, int group, tpCarrier* carrier, const tpStepReport* report) {
    tpSystem* system = frame->system;
    tpKept before;
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    Racer racers[tp_methodCount];
    int count = listRacers(frame, group, carrier->method, racers);
    if (count == 1 && racers[0].method == carrier->method) {
        carrier->isFresh = false;
        return true;
    }
    if (!tpKept_Take(&before, system, stepper, carrier->state)) {
        return false;
    }
    double spent = 0.0;
    const Racer* best =
        count > 1 ? race(frame, group, &before, carrier, report, racers, count, &spent) : NULL;
    if (!tpKept_PutBack(&before, system, stepper, carrier->state)) {
        return false;
    }
    tpMethod method = best != NULL ? best->method
                      : count > 0  ? racers[0].method
                                   : tp_standardMethod;
    tpPace pace = carrier->pace;
    if (method != carrier->method) {
        frame->switchCount += carrier->isFresh ? 0 : 1;
        if (!tpCarrier_Change(carrier, system, method)) {
            return false;
        }
        tpCarrier_Pace(carrier, &pace);
    }
    carrier->isFresh = false;
    carrier->spent = 0.0;
    carrier->compared = spent;
    carrier->typical = best != NULL ? fmax(best->lasting, best->work / surprising) : INFINITY;
    frame->taken.work += spent;
    return true;
}

static bool needsComparison(const Frame* frame, int group, const tpCarrier* carrier) {
    if (!tpMethod_CanCarry(carrier->method, frame->system, &frame->groups, group)) {
        return true;
    }
    return group != frame->groups.flying &&
           (carrier->isFresh || carrier->spent > comparisonShare * carrier->compared);
}

// Where steps have become cheaper, a comparison costs less too.
static void foreseeComparison(tpCarrier* carrier, double work) {
    if (isfinite(carrier->typical) && work * surprising < carrier->typical) {
        carrier->compared *= work / carrier->typical;
        carrier->typical = work;
    }
}

// Groups ------------------------------------------------------------------------------------------

static void keepGroup(Frame* frame, int group, const tpGroupRun* run) {
    tpSystem* system = frame->system;
    const char* name = tpMethod_Stepper(run->method)->name;
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isKinematic = frame->groups.ofBody[i] < 0;
        if (frame->groups.ofBody[i] == group || isKinematic) {
            frame->poses[i] = system->poses.data[i];
            frame->velocities[i] = system->velocities.data[i];
            frame->positionErrors[i] = run->positionErrors[i];
            frame->speedErrors[i] = run->speedErrors[i];
            frame->carriers[i] = isKinematic ? NULL : name;
            frame->carrierSteps[i] = isKinematic ? 0.0 : run->pace.step;
        }
    }
}

// Turns and rotors of the joints of a group.
static void keepMotion(Frame* frame, int group) {
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

// Carries the group over the frame. A surprising cost makes it give up, with all as it was, unless
// methods have just been compared. False if memory ran out.
static bool runGroup(Frame* frame, int group, tpCarrier* carrier, bool isCompared,
                     const tpStepReport* report, tpGroupRun* run) {
    tpSystem* system = frame->system;
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    double time = system->time;
    bool mayGiveUp = !isCompared && isfinite(carrier->typical) && group != frame->groups.flying;
    tpKept before;
    *run = makeRun(frame, group, carrier, report);
    if (!startErrors(frame, run) ||
        (mayGiveUp && !tpKept_Take(&before, system, stepper, carrier->state))) {
        return false;
    }
    run->mayGiveUp = mayGiveUp;
    run->workLimit = mayGiveUp ? surprising * carrier->typical : INFINITY;
    tpGroupRun_Take(run);
    if (run->isGivenUp) {
        frame->taken.work += run->taken.work;
        system->time = time;
        return tpKept_PutBack(&before, system, stepper, carrier->state);
    }
    return run->hasMemory;
}

static bool carryGroup(Frame* frame, int group, const tpStepReport* report) {
    tpSystem* system = frame->system;
    tpCarrier* carrier = tpCarriers_For(&frame->own->carriers, system, &frame->groups, group);
    if (carrier == NULL) {
        return false;
    }
    tpGroups_Isolate(&frame->groups, system, group);
    double time = system->time;
    bool isCompared = needsComparison(frame, group, carrier);
    bool isDone = !isCompared || chooseMethod(frame, group, carrier, report);
    tpGroupRun run;
    isDone = isDone && runGroup(frame, group, carrier, isCompared, report, &run);
    if (isDone && run.isGivenUp) {
        isDone = chooseMethod(frame, group, carrier, report) &&
                 runGroup(frame, group, carrier, true, report, &run);
    }
    if (isDone) {
        isDone = tpTaken_Append(&frame->taken, system, &run.taken);
        carrier->pace = run.pace;
        carrier->spent += run.taken.work;
        foreseeComparison(carrier, run.taken.work);
        frame->rejectedCount += run.rejectedCount;
        frame->isAccurate = frame->isAccurate && run.isAccurate;
        frame->isCrowded = frame->isCrowded || (frame->groups.sizes[group] > tp_crowdSize &&
                                                frame->groups.pairCounts[group] > 0);
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
static void moveKinematic(Frame* frame) {
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

static bool startFrame(Frame* frame, const tpStepReport* report, bool isOne) {
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
    for (int i = 0; i < count; ++i) {
        system->bodies.data[i].carrier = NULL; // methods have words of their own there
    }
    if (system->arena.failed || !tpKept_Take(&frame->start, system, NULL, NULL) ||
        !tpTaken_Start(&frame->taken, system, &report->limits) ||
        !tpGroups_Find(&frame->groups, system, frame->h, isOne)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpCarried* body = &frame->own->carriers.bodies.data[i];
        frame->targets[i] = system->bodies.data[i].target;
        frame->positionErrors[i] = body->positionError;
        frame->speedErrors[i] = body->speedError;
    }
    tpJoints_ReadMotion(system, frame->motion);
    return true;
}

static bool carryAll(Frame* frame, const tpStepReport* report) {
    tpCarriers_Begin(&frame->own->carriers);
    for (int group = 0; group < frame->groups.count; ++group) {
        if (!carryGroup(frame, group, report)) {
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
        system->bodies.data[i].target = frame->targets[i];
    }
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        frame->taken.reactions[i] /= frame->h;
    }
    tpJoints_WriteReactions(system, frame->taken.reactions);
    tpJoints_WriteMotion(system, frame->motion);
    return true;
}

static void finishReport(Frame* frame, tpStepReport* report) {
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
        tpCarried* body = &frame->own->carriers.bodies.data[i];
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
    if (frame->switchCount > 0) {
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
// less.
static const double stillPart = 1e-3, stillTime = 0.5;

static tpSleepSettings restSettings(const Frame* frame) {
    return (tpSleepSettings){ stillPart * frame->accuracy * frame->lengthScale / frame->timeScale,
                              fmax(stillTime * frame->timeScale, 4.0 * frame->h) };
}

// Who wakes, who is left out of the step, and the groups of the others. False if memory ran out.
static bool wakeAndStart(Frame* frame, const tpStepReport* report) {
    tpSleep* sleep = &frame->own->sleep;
    tpSleepSettings settings = restSettings(frame);
    if (!tpSleep_Begin(sleep, frame->system, frame->h)) {
        return false;
    }
    bool isDone;
    do {
        isDone = startFrame(frame, report, false);
    } while (isDone && sleep->sleepingCount > 0 &&
             tpSleep_Meet(sleep, frame->system, frame->groups.contacts, frame->groups.contactCount,
                          settings.speed, frame->h));
    return isDone;
}

// All together and awake, from the start.
static bool startAgain(Frame* frame, const tpStepReport* report) {
    tpSystem* system = frame->system;
    tpKept start = frame->start;
    tpSleep_WakeAll(&frame->own->sleep, system);
    return tpKept_PutBack(&start, system, NULL, NULL) && startFrame(frame, report, true);
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    Frame frame = { .system = system, .own = state, .options = options, .h = h };
    frame.accuracy = options->values[tp_accuracyOption];
    findScales(&frame);
    bool isDone = tpCarriers_Follow(&frame.own->carriers, system) && wakeAndStart(&frame, report) &&
                  carryAll(&frame, report);
    // Somebody came so far that he can have met another group: all together, from the start.
    if (isDone && (frame.groups.count > 1 || frame.own->sleep.sleepingCount > 0) &&
        tpGroups_HaveOutrun(&frame.groups, system, frame.start.motion.poses)) {
        double work = frame.taken.work;
        isDone = startAgain(&frame, report) && carryAll(&frame, report);
        frame.taken.work += work;
    }
    if (isDone) {
        finishReport(&frame, report);
        double* margins = tpSystem_Margins(system, system->velocities.data, NULL, h);
        isDone = margins != NULL && tpTally_List(&frame.taken.tally, system, margins, report);
    }
    if (frame.own->sleep.isTaken) {
        tpSleepSettings settings = restSettings(&frame);
        isDone = tpSleep_End(&frame.own->sleep, system, &settings, h, report) && isDone;
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
    .summary = "the method and the step chosen on the fly, to the accuracy asked for",
    .options = used,
    .lacks = tp_lacksCompliance,
    .figures = figures,
    .seesCrossings = true,
    .hasCarriers = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .savedSize = savedSize,
    .save = save,
    .restore = restore,
};
