#include "steppers/halves.h"

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/parts.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"

enum { deepest = 6 };

// Energy may rise in a step by this part of what the certificate allows.
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

// Whether the part that the report tells about has to be taken again. `share`: of the whole step.
static bool isTooLong(const tpSystem* system, const tpStepReport* part, double share) {
    double rise = riseOf(system, part);
    double allowed = leak * share * tpCertificate_EnergyLimit(system, part);
    return !(rise <= allowed) || !(part->jointDrift <= part->limits.jointDrift);
}

typedef struct Halves {
    tpSystem* system;
    tpStepperMemory* memory;
    double duration;
    tpTakePart take;
    void* context;
    tpStepReport* report;
} Halves;

// Takes a part of the step if that may be, and adds it to the report and to the parts.
static bool takePart(const Halves* halves, int level, double h, tpParts* parts, bool* isTaken) {
    tpSystem* system = halves->system;
    tpStepReport part = { .converged = true,
                          .substepCount = 1,
                          .limits = halves->report->limits,
                          .kineticBefore = tpSystem_KineticEnergy(system),
                          .potentialBefore = tpSystem_PotentialEnergy(system) };
    tpTrial start;
    system->solveWork = 0.0; // a part has means of its own
    if (!tpTrial_Begin(&start, system, &halves->memory->history, &part) ||
        !halves->take(halves->context, h, &part)) {
        return false;
    }
    *isTaken = level == deepest || tpStepBudget_IsSpent(system) ||
               !isTooLong(system, &part, ldexp(1.0, -level));
    tpStepReport* report = halves->report;
    if (!*isTaken) {
        tpTrial_Undo(&start);
        report->solveCount += part.solveCount;
        report->iterationCount += part.iterationCount;
        return true;
    }
    part.kineticBefore = report->kineticBefore;
    part.potentialBefore = report->potentialBefore;
    tpStepReport_Append(report, &part);
    return tpParts_Add(parts, h, NULL);
}

static bool takeParts(const Halves* halves, int level) {
    tpSystem* system = halves->system;
    double begin = system->time;
    tpParts parts;
    bool isDone = tpParts_Begin(&parts, system, halves->duration);
    halves->report->substepCount = 0;
    int all = 1 << deepest; // the whole step in its shortest parts
    for (int taken = 0; isDone && taken < all;) {
        bool isTaken;
        double shortest = ldexp(halves->duration, -deepest);
        int length = tpStepBudget_IsSpent(system) ? all - taken : all >> level;
        system->time = begin + taken * shortest;
        isDone = takePart(halves, level, length * shortest, &parts, &isTaken);
        taken += isTaken ? length : 0;
        level += isTaken ? 0 : 1;
    }
    system->time = begin;
    halves->memory->book.level = level;
    tpStepReport_FallBack(halves->report, "halved step",
                          "the whole step gains energy or loses joints: it is taken in parts");
    return isDone && tpParts_List(&parts, halves->report);
}

bool tpHalves_Step(tpSystem* system, tpStepperMemory* memory, double h, tpTakePart take,
                   void* context, tpStepReport* report) {
    if (!hasJoint(system)) {
        return take(context, h, report);
    }
    Halves halves = { system, memory, h, take, context, report };
    int level = memory->book.level;
    if (level > 1) {
        return takeParts(&halves, level - 1);
    }
    tpTrial start;
    if (!tpTrial_Begin(&start, system, &memory->history, report) || !take(context, h, report)) {
        return false;
    }
    if (tpStepBudget_IsSpent(system) || !isTooLong(system, report, 1.0)) {
        memory->book.level = 0;
        return true;
    }
    double rise = riseOf(system, report);
    bool isJoined = report->jointDrift <= report->limits.jointDrift;
    tpTrial_Undo(&start);
    if (!takeParts(&halves, 1)) {
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
