#include "steppers/joined_step.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/contacts.h"
#include "dynamics/deep_bodies.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/parts.h"
#include "dynamics/step_budget.h"
#include "steppers/astray.h"
#include "steppers/late_overlaps.h"
#include "steppers/pieces.h"
#include "steppers/scene_parts.h"
#include "steppers/stewart_trinkle/taut.h"

// Of a step that tears joints apart: what their islands take instead, as a part of its duration,
// and the shares of the budget that each of these tries and the step of all other bodies have.
static const double shorterPart = 0.125, shorterShare = 0.1, otherShare = 0.5, tautShare = 1.0;
enum { shorterTries = 3 };

// All of them together may bring a step to so many times its budget: each try has a part of what
// is left of that, and never less than this part of its share: others are not to suffer.
static const double wholePart = 1.4, tryPartOfRest = 0.5, leastPart = 0.3;

static double shareOf(const tpSystem* system, double share) {
    double used = tpStepBudget_Work(system) / tpStepBudget_Whole(system);
    return fmax(leastPart * share, fmin(share, tryPartOfRest * (wholePart - used)));
}

// Joints of further islands may be torn when the step is taken again, and bodies may come farther
// than expected. After so many rounds all bodies go as far as all joints hold.
enum { lastRound = 3 };

static const char* const leftOutTorn =
    "joints would have come apart: the rest of the step was left out for what hangs on them";
static const char* const leftOutDeep =
    "bodies would have come too deep into each other: the rest of the step was left out for them";

static const char* const leftOutWild =
    "more energy would have come out of drives than they can give: the rest of the step was left "
    "out for what hangs together";

static const char* const tookLinear =
    "the step has failed for what hangs on joints: they take it with linear rows, as "
    "stewart-trinkle does";

static const char* const tookTaut =
    "what hangs on taut joints takes the step with linear rows, as stewart-trinkle does";

static bool hasJoints(const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        if (system->joints.data[i].isLive) {
            return true;
        }
    }
    return false;
}

static bool keepForces(tpJoinedStep* step) {
    const tpSystem* system = step->system;
    step->forces = TP_SCRATCH(&step->system->arena, tpVec3, system->joints.count);
    for (int i = 0; step->forces != NULL && i < system->joints.count; ++i) {
        step->forces[i] = system->joints.data[i].force;
    }
    return step->forces != NULL;
}

bool tpJoinedStep_Begin(tpJoinedStep* step) {
    step->mayTear = hasJoints(step->system);
    if (!step->mayTear && !step->stepper->closesAccount) {
        step->start = (tpKept){ 0 };
        return tpKeptMotion_Take(&step->start.motion, step->system);
    }
    if (tpTaut_Suits(step->system) && !keepForces(step)) {
        return false;
    }
    return tpKept_Take(&step->start, step->system, step->stepper, step->state);
}

// The two parts -----------------------------------------------------------------------------------

// Goes back to the start of the step, and takes bodies out of the system.
static bool startPart(const tpJoinedStep* step, const bool* isOut, tpStepReport* report) {
    if (!tpKept_PutBack(&step->start, step->system, step->stepper, step->state)) {
        tpStepReport_RunOut(report);
        return false;
    }
    tpJoints_ClearReactions(step->system);
    tpSystem_TakeOut(step->system, isOut);
    return true;
}

// Bodies that the step has left in each other come apart.
static void settle(const tpJoinedStep* step, tpStepReport* report) {
    if (step->stepper->closesAccount && !report->undone && !tpSystem_IsStopped(step->system) &&
        !tpLateOverlaps_Settle(step->system, step->start.motion.poses, report)) {
        tpStepReport_RunOut(report);
    }
}

// Takes a part that has been started. Whether it has torn joints or driven bodies into each other.
static bool takePart(const tpJoinedStep* step, double h, double share, tpStepReport* report) {
    tpSystem* system = step->system;
    tpStepReport part = { .converged = true, .substepCount = 1, .limits = report->limits };
    tpSystem_FindEnergies(system, &part.kineticBefore, &part.potentialBefore);
    system->solveWork = 0.0;
    tpStepBudget_BeginPart(system, shareOf(system, share));
    tpStepper_Take(step->stepper, system, step->state, step->options, h, &part);
    settle(step, &part);
    // What is out of the system has no part in what it has gained.
    bool hasGoneAstray = tpJoinedStep_IsAstray(step, tpStepBudget_IsSpent(system), &part);
    part.kineticBefore = report->kineticBefore;
    part.potentialBefore = report->potentialBefore;
    tpStepReport_Append(report, &part);
    return hasGoneAstray;
}

// One try of a part from the start of the step, with the other bodies out of the system.
static bool tryPart(const tpJoinedStep* step, const bool* isOut, double h, double share,
                    tpStepReport* report) {
    return startPart(step, isOut, report) && takePart(step, h, share, report);
}

// What hangs on distances takes so many steps with linear rows after one that was cut short.
enum { linearSteps = 16 };

static tpEnergyBook* bookOf(const tpJoinedStep* step) {
    return step->stepper->bookOf != NULL ? step->stepper->bookOf(step->state) : NULL;
}

// The whole step of the bodies that are not to blame. The lengths of parts that were right for
// those that are do not count: these bodies take parts as they would without the others. The next
// step of all bodies begins with the shorter parts again.
static bool takeOthers(const tpJoinedStep* step, const bool* isHeld, tpStepReport* report) {
    if (!startPart(step, isHeld, report)) {
        return false;
    }
    tpEnergyBook* book = bookOf(step);
    tpEnergyBook before = { 0 };
    if (book != NULL) {
        before = *book;
        book->level = 0;
    }
    bool hasGoneAstray = takePart(step, step->h, otherShare, report);
    if (book != NULL && book->level < before.level) {
        book->level = before.level;
        book->step = before.step;
        book->quiet = before.quiet;
        book->swing = before.swing;
    }
    return hasGoneAstray;
}

static bool mayTakeLinear(const tpJoinedStep* step) {
    return step->mayTear && step->stepper != tpStepper_Get(tp_stewartTrinkle) &&
           !step->system->gives && step->stepper->closesAccount;
}

// The tensions of the last step are what those of taut joints are sought from.
static void putForcesBack(const tpJoinedStep* step) {
    for (int i = 0; step->forces != NULL && i < step->system->joints.count; ++i) {
        step->system->joints.data[i].force = step->forces[i];
    }
}

// The same by linear rows, once, which cost little and seldom find no end: what hangs together goes
// on, where else it would stand still. Its memory is that of one step. Whether that went well.
static bool tryLinear(const tpJoinedStep* step, const bool* isOut, double h, double share,
                      tpStepReport* report) {
    tpSystem* system = step->system;
    const tpStepper* linear = tpStepper_Get(tp_stewartTrinkle);
    void* memory = NULL;
    if (!mayTakeLinear(step) || !linear->create(system, &memory)) {
        return false;
    }
    tpJoinedStep other = *step;
    other.stepper = linear;
    other.state = memory;
    tpProblemHook hook = system->problemHook; // sees the problems of the stepper itself
    system->problemHook = NULL;
    bool isGood = startPart(step, isOut, report);
    putForcesBack(step);
    isGood = isGood && !takePart(&other, h, share, report) && !report->undone;
    system->problemHook = hook;
    linear->destroy(system, memory);
    if (!isGood) {
        tpSystem_PutIn(system, isOut);
    }
    return isGood;
}

// Takes as much of the step as goes well; returns its duration, 0 if nothing does.
static double takeShorter(const tpJoinedStep* step, const bool* isOut, tpStepReport* report) {
    double h = step->h;
    tpStepReport before = *report;
    for (int k = 0; k < shorterTries; ++k) {
        h *= shorterPart;
        tpStepReport_Undo(report, &before);
        if (tpTaut_Suits(step->system) && tryLinear(step, isOut, h, shorterShare, report)) {
            return h;
        }
        tpStepReport_Undo(report, &before);
        bool isAstray = tryPart(step, isOut, h, shorterShare, report);
        isAstray =
            isAstray || tpJoinedStep_IsAstray(step, tpStepBudget_WasSpent(step->system), report);
        if (report->undone || !isAstray) {
            return h;
        }
        tpSystem_PutIn(step->system, isOut);
    }
    tpKept_PutBack(&step->start, step->system, step->stepper, step->state);
    tpJoints_ClearReactions(step->system);
    tpSystem_TakeOut(step->system, isOut);
    tpStepReport_Undo(report, &before);
    return 0.0;
}

// How the parts of a step went.
typedef struct Outcome {
    bool isCut;    // the first part was cut short
    bool isTaut;   // it has linear rows first: its joints have been left taut
    bool isLinear; // it was taken by linear rows
    bool isAstray; // the second one has gone astray, or bodies have come too far
    unsigned laws; // that the whole step would break
} Outcome;

// Takes the part of the islands that went astray. If they may only have been left behind when
// the work of the step ended, or have been drawn along by solves of others that failed, they try
// the whole step by themselves first; if that is about overlaps alone, as long as the step can pay
// for it.
static double takeHeld(const tpJoinedStep* step, const bool* isOther, bool mayBeWhole,
                       Outcome* outcome, tpStepReport* report) {
    tpStepReport before = *report;
    double used = tpStepBudget_Work(step->system) / tpStepBudget_Whole(step->system);
    if (outcome->isTaut) {
        outcome->isLinear = tryLinear(step, isOther, step->h, tautShare, report);
        if (outcome->isLinear) {
            tpStepReport_FallBack(report, "linear rows", tookTaut);
            return step->h;
        }
        tpStepReport_Undo(report, &before);
    }
    if (mayBeWhole && (step->mayTear || used + otherShare <= wholePart)) {
        if (!tryPart(step, isOther, step->h, otherShare, report)) {
            return step->h;
        }
        tpSystem_PutIn(step->system, isOther);
        tpStepReport_Undo(report, &before);
    }
    if (!outcome->isTaut && tryLinear(step, isOther, step->h, otherShare, report)) {
        tpStepReport_FallBack(report, "linear rows", tookLinear);
        outcome->isLinear = true;
        return step->h;
    }
    tpStepReport_Undo(report, &before);
    return takeShorter(step, isOther, report);
}

// Takes both parts of the step. If the second one goes astray its bodies are marked in `isHeld`
// too, and alone if the first part has taken the whole step. False if memory ran out.
static bool takeParts(const tpJoinedStep* step, bool mayBeWhole, bool* isHeld, Outcome* outcome,
                      tpStepReport* report) {
    tpSystem* system = step->system;
    bool* isOther = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    tpParts parts;
    tpEnds ends;
    if (isOther == NULL || !tpParts_Begin(&parts, system, step->h) ||
        !tpEnds_Begin(&ends, system)) {
        return false;
    }
    bool hasOthers = false, hasHeld = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        hasHeld = hasHeld || isHeld[i];
        isOther[i] = tpSystem_IsDynamic(system, i) && !isHeld[i];
        hasOthers = hasOthers || isOther[i];
    }
    // If no island is to blame, all of them take the step again, once.
    double h =
        hasHeld ? takeHeld(step, isOther, mayBeWhole && hasOthers, outcome, report) : step->h;
    outcome->isCut = h < step->h;
    bool isDone = true;
    if (hasHeld) {
        tpEnds_Keep(&ends, system, isOther);
        isDone = tpParts_Add(&parts, h, NULL);
        tpSystem_PutIn(system, isOther);
    }
    if (hasOthers && isDone && !report->undone) {
        outcome->isAstray = takeOthers(step, isHeld, report);
        tpEnds_Keep(&ends, system, isHeld);
        isDone = tpParts_Add(&parts, step->h, NULL);
        tpSystem_PutIn(system, isHeld);
        if (outcome->isAstray) {
            if (!outcome->isCut && !outcome->isLinear) {
                memset(isHeld, 0, sizeof(bool) * (size_t)system->bodyCount);
            }
            tpJoinedStep_MarkAstray(step, tpStepBudget_IsSpent(system), report, isHeld,
                                    &outcome->laws);
        }
    }
    tpEnds_Write(&ends, system);
    tpJoints_WriteReactions(system, parts.reactions);
    return isDone && (report->undone || tpParts_List(&parts, report));
}

// Bodies that have come farther than was expected may have met others that took another part: their
// islands are found again as far as they have come. `hasGrown`: more bodies hang together so.
// False if memory ran out.
static bool followOutrun(const tpJoinedStep* step, double* margins, bool* isHeld, bool* hasGrown) {
    tpSystem* system = step->system;
    *hasGrown = false;
    if (!tpSystem_WidenMargins(system, step->start.motion.poses, margins)) {
        return true;
    }
    bool* isWider = TP_SCRATCH(&system->arena, bool, system->bodyCount);
    if (isWider == NULL) {
        return false;
    }
    memcpy(isWider, isHeld, sizeof(bool) * (size_t)system->bodyCount);
    if (!tpSystem_MarkIslands(system, step->start.motion.poses, margins, isWider)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        *hasGrown = *hasGrown || isWider[i] != isHeld[i];
        isHeld[i] = isWider[i];
    }
    return true;
}

// Whether distances are for linear rows from the start: they have been left taut, or a step of late
// was cut short or not solved.
static bool isForLinear(const tpJoinedStep* step) {
    const tpEnergyBook* book = bookOf(step);
    bool wasCut = book != NULL && book->cut > 0 && tpTaut_Suits(step->system);
    return mayTakeLinear(step) && (wasCut || tpTaut_IsLeft(step->system));
}

// Takes the step again: as far as it goes well for the islands that went astray, whole for all
// others. `isTaut`: nothing has gone astray yet, but joints are taut.
static void takeAgain(const tpJoinedStep* step, const tpStepReport* before, bool isTaut,
                      tpStepReport* report) {
    tpSystem* system = step->system;
    bool* isHeld = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    bool isDone = isHeld != NULL, wasSpent = tpStepBudget_WasSpent(system);
    bool isNew = true; // nobody has seen what the marked islands do by themselves
    Outcome outcome = { .isCut = true, .isAstray = true, .isTaut = isTaut };
    if (isDone && isTaut) {
        tpTaut_Mark(system, !tpTaut_IsLeft(system), isHeld);
        outcome.laws = 1u << tp_jointLaw;
    } else if (isDone) {
        tpJoinedStep_MarkAstray(step, wasSpent, report, isHeld, &outcome.laws);
    }
    for (int round = 0; isDone && outcome.isAstray && round <= lastRound; ++round) {
        outcome.isAstray = outcome.isLinear = false;
        tpStepReport_Undo(report, before);
        tpKeptMotion_PutBack(&step->start.motion, system);
        double* margins = tpSystem_ReservedMargins(system, step->h);
        for (int i = 0; round == lastRound && i < system->bodyCount; ++i) {
            isHeld[i] = tpSystem_IsDynamic(system, i);
        }
        isDone = margins != NULL &&
                 tpSystem_MarkIslands(system, step->start.motion.poses, margins, isHeld) &&
                 takeParts(step, isNew, isHeld, &outcome, report);
        isNew = outcome.isAstray && !outcome.isCut && !outcome.isLinear;
        outcome.isTaut = outcome.isTaut && outcome.isLinear;
        bool hasGrown = false;
        // Where bodies have come that have gone astray says nothing.
        isDone = isDone && (outcome.isAstray || followOutrun(step, margins, isHeld, &hasGrown));
        outcome.isAstray =
            !report->undone && !tpSystem_IsStopped(system) && (outcome.isAstray || hasGrown);
    }
    if (!isDone) {
        tpStepReport_RunOut(report);
    }
    tpEnergyBook* book = bookOf(step);
    if (book != NULL) {
        book->cut = outcome.isCut ? linearSteps : book->cut > 0 ? book->cut - 1 : 0;
    }
    if (outcome.isCut) {
        system->breaches |= outcome.laws;
        report->failureCount += 1;
        report->converged = false;
        if ((outcome.laws & (1u << tp_jointLaw)) != 0) {
            tpStepReport_AddNote(report, leftOutTorn);
        }
        if ((outcome.laws & (1u << tp_overlapLaw)) != 0) {
            tpStepReport_AddNote(report, leftOutDeep);
        }
        if ((outcome.laws & (1u << tp_energyLaw)) != 0) {
            tpStepReport_AddNote(report, leftOutWild);
        }
    }
}

// Distances whose rows were not solved are left to linear rows for some steps, too.
static void noteUnsolved(const tpJoinedStep* step, const tpStepReport* report) {
    tpEnergyBook* book = bookOf(step);
    bool isSolved = report->residual <= report->limits.residual;
    if (!isSolved && book != NULL && mayTakeLinear(step) && tpTaut_Suits(step->system)) {
        book->cut = linearSteps;
    }
}

void tpJoinedStep_Take(tpJoinedStep* step, tpStepReport* report) {
    tpStepReport before = *report;
    if (isForLinear(step)) {
        takeAgain(step, &before, true, report);
        settle(step, report);
        return;
    }
    tpStepper_Take(step->stepper, step->system, step->state, step->options, step->h, report);
    settle(step, report);
    if (tpJoinedStep_IsAstray(step, tpStepBudget_WasSpent(step->system), report)) {
        takeAgain(step, &before, false, report);
        settle(step, report);
    }
    noteUnsolved(step, report);
}
