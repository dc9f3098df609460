#include "steppers/halves.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/island_rises.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/parts.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/scene_parts.h"

enum { deepest = 6 };

// Energy may rise in a step by this part of what the certificate allows, for all and for each
// island.
static const double leak = 1.0 / 64.0;

static bool hasJoint(const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->type != tp_springJoint) {
            return true;
        }
    }
    return false;
}

static double riseOf(const tpSystem* system, const tpStepReport* part) {
    return tpSystem_Energy(system) - part->kineticBefore - part->potentialBefore -
           part->externalWork;
}

typedef struct Halves {
    tpSystem* system;
    tpStepperMemory* memory;
    double duration;
    tpTakePart take;
    void* context;
    tpStepReport* report;
    bool areSeveral; // islands
    bool* isTooLong; // of bodies: the part was too long for their islands
} Halves;

// Whether there are several islands of joints. False if memory ran out.
static bool findIslands(Halves* halves) {
    tpSystem* system = halves->system;
    halves->isTooLong = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    int* islands = tpBodyIslands_Find(system);
    int first = -1;
    for (int i = 0; islands != NULL && i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            int root = tpBodyIslands_Root(islands, i);
            first = first < 0 ? root : first;
            halves->areSeveral = halves->areSeveral || root != first;
        }
    }
    return !system->arena.failed;
}

// Judges the part that the report tells about, `share` of the whole step: `isAny` if it has to be
// taken again, and marks the bodies because of which. Islands without joints swing about their
// energies by springs that give back what they gain: to take gains again and let losses be would
// drain them. Nor does what one island gains say anything about the others. False if memory ran
// out.
static bool judge(const Halves* halves, const tpIslandRises* rises, const tpStepReport* part,
                  double share, bool* isAny) {
    tpSystem* system = halves->system;
    double rise = riseOf(system, part), drift = part->limits.jointDrift;
    if (!halves->areSeveral) {
        double allowed = leak * share * tpCertificate_EnergyLimit(system, part);
        *isAny = !(rise <= allowed) || !(part->jointDrift <= drift);
        for (int i = 0; i < system->bodyCount; ++i) {
            halves->isTooLong[i] = *isAny && tpSystem_IsDynamic(system, i);
        }
        return true;
    }
    *isAny = false;
    if (!tpIslandRises_Mark(rises, system, leak * share * tp_certifiedEnergyPart, rise,
                            part->externalWork, drift, halves->isTooLong)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        *isAny = *isAny || halves->isTooLong[i];
    }
    return true;
}

static tpStepReport beginPart(const Halves* halves) {
    return (tpStepReport){ .converged = true,
                           .substepCount = 1,
                           .limits = halves->report->limits,
                           .kineticBefore = tpSystem_KineticEnergy(halves->system),
                           .potentialBefore = tpSystem_PotentialEnergy(halves->system) };
}

static bool endPart(const Halves* halves, double h, tpStepReport* part, tpParts* parts) {
    part->kineticBefore = halves->report->kineticBefore;
    part->potentialBefore = halves->report->potentialBefore;
    tpStepReport_Append(halves->report, part);
    return tpParts_Add(parts, h, NULL);
}

// Takes a part of the step if that may be, and adds it to the report and to the parts.
static bool takePart(const Halves* halves, int level, double h, tpParts* parts, bool* isTaken) {
    tpSystem* system = halves->system;
    tpStepReport part = beginPart(halves);
    tpIslandRises rises = { NULL, NULL, NULL };
    tpTrial start;
    bool isTooLong;
    system->solveWork = 0.0; // a part has means of its own
    if ((halves->areSeveral && !tpIslandRises_Begin(&rises, system)) ||
        !tpTrial_Begin(&start, system, &halves->memory->history, &part) ||
        !halves->take(halves->context, h, &part) ||
        !judge(halves, &rises, &part, ldexp(1.0, -level), &isTooLong)) {
        return false;
    }
    *isTaken = level == deepest || tpStepBudget_IsSpent(system) || !isTooLong;
    if (!*isTaken) {
        tpTrial_Undo(&start);
        halves->report->solveCount += part.solveCount;
        halves->report->iterationCount += part.iterationCount;
        return true;
    }
    return endPart(halves, h, &part, parts);
}

// The whole step in parts, for all bodies that are in the system.
static bool takeHalves(const Halves* halves, int level, tpParts* parts) {
    tpSystem* system = halves->system;
    double begin = system->time;
    bool isDone = true;
    int all = 1 << deepest; // the whole step in its shortest parts
    for (int taken = 0; isDone && taken < all;) {
        bool isTaken;
        double shortest = ldexp(halves->duration, -deepest);
        int length = tpStepBudget_IsSpent(system) ? all - taken : all >> level;
        system->time = begin + taken * shortest;
        isDone = takePart(halves, level, length * shortest, parts, &isTaken);
        taken += isTaken ? length : 0;
        level += isTaken ? 0 : 1;
    }
    system->time = begin;
    halves->memory->book.level = level;
    return isDone;
}

static bool takeAllParts(const Halves* halves, int level) {
    tpParts parts;
    halves->report->substepCount = 0;
    bool isDone = tpParts_Begin(&parts, halves->system, halves->duration) &&
                  takeHalves(halves, level, &parts);
    tpStepReport_FallBack(halves->report, "halved step",
                          "the whole step gains energy or loses joints: it is taken in parts");
    return isDone && tpParts_List(&parts, halves->report);
}

// Two parts of the scene: the islands that a step was too long for, and all others.
typedef struct Sides {
    bool *isHeld, *isOther; // of bodies
    double* margins;        // within which they were told apart
    bool hasOthers;
} Sides;

// From the start of the step. False if memory ran out.
static bool findSides(const Halves* halves, Sides* sides) {
    tpSystem* system = halves->system;
    *sides = (Sides){ .isHeld = halves->isTooLong };
    sides->isOther = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    sides->margins = tpSystem_ReservedMargins(system, halves->duration);
    if (system->arena.failed ||
        !tpSystem_MarkIslands(system, system->poses.data, sides->margins, sides->isHeld)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        sides->isOther[i] = tpSystem_IsDynamic(system, i) && !sides->isHeld[i];
        sides->hasOthers = sides->hasOthers || sides->isOther[i];
    }
    return true;
}

// The memory of contacts of the first side, while the second one moves.
typedef struct KeptContacts {
    tpContactMemory* list;
    int count;
} KeptContacts;

static bool keepContacts(const Halves* halves, KeptContacts* kept) {
    const tpContactHistory* history = &halves->memory->history;
    kept->count = history->list.count;
    kept->list = TP_SCRATCH(&halves->system->arena, tpContactMemory, kept->count);
    if (kept->list != NULL && kept->count > 0) {
        memcpy(kept->list, history->list.data, sizeof(tpContactMemory) * (size_t)kept->count);
    }
    return kept->list != NULL;
}

static void takeOut(tpSystem* system, const bool* isOut) {
    tpJoints_ClearReactions(system);
    tpSystem_TakeOut(system, isOut);
}

// Takes the step in parts for one side, and whole for the other. What is out of the system has no
// part in what a side gains. False if memory ran out.
static bool takeSides(const Halves* halves, int level, const Sides* sides, tpTrial* start) {
    tpSystem* system = halves->system;
    tpStepReport* report = halves->report;
    tpParts parts;
    tpEnds ends;
    KeptContacts kept;
    bool* isHeld = TP_SCRATCH(&system->arena, bool, system->bodyCount);
    if (isHeld == NULL || !tpParts_Begin(&parts, system, halves->duration) ||
        !tpEnds_Begin(&ends, system)) {
        return false;
    }
    // The parts have marks of their own.
    memcpy(isHeld, sides->isHeld, sizeof(bool) * (size_t)system->bodyCount);
    report->substepCount = 0;
    takeOut(system, sides->isOther);
    bool isDone = takeHalves(halves, level, &parts) && keepContacts(halves, &kept);
    tpEnds_Keep(&ends, system, sides->isOther);
    tpSystem_PutIn(system, sides->isOther);
    if (!isDone) {
        return false;
    }
    tpStepReport first = *report;
    tpTrial_KeepScratch(start);
    tpTrial_Undo(start);
    *report = first;
    takeOut(system, isHeld);
    tpStepReport part = beginPart(halves);
    system->solveWork = 0.0;
    isDone = halves->take(halves->context, halves->duration, &part) &&
             endPart(halves, halves->duration, &part, &parts) &&
             tpContactHistory_Merge(&halves->memory->history, &halves->memory->allocator, kept.list,
                                    kept.count);
    tpEnds_Keep(&ends, system, isHeld);
    tpSystem_PutIn(system, isHeld);
    tpEnds_Write(&ends, system);
    tpJoints_WriteReactions(system, parts.reactions);
    tpStepReport_FallBack(report, "halved step",
                          "the step gains energy or loses joints: what hangs on these takes it in "
                          "parts");
    return isDone && tpParts_List(&parts, report);
}

// Takes the step in parts from its start, for the islands that it was too long for.
static bool takeAgain(const Halves* halves, int level, tpTrial* start) {
    Sides sides;
    if (!halves->areSeveral) {
        return takeAllParts(halves, level);
    }
    if (!findSides(halves, &sides)) {
        return false;
    }
    if (!sides.hasOthers) {
        return takeAllParts(halves, level);
    }
    tpTrial_KeepScratch(start);
    if (!takeSides(halves, level, &sides, start)) {
        return false;
    }
    if (!tpSystem_HasOutrun(halves->system, start->motion.poses, sides.margins)) {
        return true;
    }
    // They may have met.
    tpTrial_Undo(start);
    return takeAllParts(halves, level);
}

bool tpHalves_Step(tpSystem* system, tpStepperMemory* memory, double h, tpTakePart take,
                   void* context, tpStepReport* report) {
    if (!hasJoint(system)) {
        return take(context, h, report);
    }
    Halves halves = { system, memory, h, take, context, report, false, NULL };
    tpIslandRises rises = { NULL, NULL, NULL };
    if (!findIslands(&halves)) {
        return false;
    }
    int level = memory->book.level;
    if (level > 1 && !halves.areSeveral) {
        return takeAllParts(&halves, level - 1);
    }
    tpTrial start;
    bool isTooLong;
    if ((halves.areSeveral && !tpIslandRises_Begin(&rises, system)) ||
        !tpTrial_Begin(&start, system, &memory->history, report) || !take(context, h, report) ||
        !judge(&halves, &rises, report, 1.0, &isTooLong)) {
        return false;
    }
    if (tpStepBudget_IsSpent(system) || !isTooLong) {
        memory->book.level = 0;
        return true;
    }
    double rise = riseOf(system, report);
    bool isJoined = report->jointDrift <= report->limits.jointDrift;
    tpTrial_Undo(&start);
    if (!takeAgain(&halves, level > 1 ? level - 1 : 1, &start)) {
        return false;
    }
    // What overlaps at the start is brought out within the first part: the shorter, the faster.
    if (!isJoined || !(riseOf(system, report) > rise)) {
        return true;
    }
    memory->book.level = 0;
    tpTrial_Undo(&start);
    return take(context, h, report);
}
