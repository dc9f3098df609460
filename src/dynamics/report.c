#include "dynamics/report.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "dynamics/figures.h"

_Static_assert(sizeof(void*) != 8 || sizeof(tpStepReport) == tp_reportSize,
               "a report keeps its size: take new fields from `reserved`");
_Static_assert((int)tp_figureCount <= (int)tp_figureCapacity, "there is room for all figures");

bool tpStepReport_HasNote(const tpStepReport* report, const char* note) {
    for (int i = 0; i < report->noteCount; ++i) {
        if (strcmp(report->notes[i], note) == 0) {
            return true;
        }
    }
    return false;
}

void tpStepReport_AddNote(tpStepReport* report, const char* note) {
    if (report->noteCount < tp_noteCapacity && !tpStepReport_HasNote(report, note)) {
        report->notes[report->noteCount++] = note;
    }
}

void tpStepReport_RunOut(tpStepReport* report) {
    report->undone = true;
    tpStepReport_AddNote(report, "out of memory");
}

void tpStepReport_FallBack(tpStepReport* report, const char* name, const char* why) {
    report->fallback = name;
    tpStepReport_AddNote(report, why);
}

void tpStepReport_Undo(tpStepReport* report, const tpStepReport* before) {
    int solves = report->solveCount, iterations = report->iterationCount;
    *report = *before;
    report->solveCount = solves;
    report->iterationCount = iterations;
}

static int addCounts(int a, int b) {
    return a > INT_MAX - b ? INT_MAX : a + b;
}

// The larger one; NaN if one of them is NaN.
static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

void tpStepReport_Append(tpStepReport* report, const tpStepReport* next) {
    tpStepReport sum = *next;
    const tpStepReport* first = report;
    sum.residual = worse(first->residual, next->residual);
    sum.energyIncrease = first->energyIncrease + next->energyIncrease;
    sum.energyExcess = worse(first->energyExcess, next->energyExcess);
    sum.jointDrift = worse(first->jointDrift, next->jointDrift);
    sum.penetration = worse(first->penetration, next->penetration);
    sum.violations = first->violations | next->violations;
    sum.solveCount = addCounts(first->solveCount, next->solveCount);
    sum.iterationCount = addCounts(first->iterationCount, next->iterationCount);
    sum.failureCount = addCounts(first->failureCount, next->failureCount);
    sum.substepCount = addCounts(first->substepCount, next->substepCount);
    sum.contactQueryCount = addCounts(first->contactQueryCount, next->contactQueryCount);
    sum.converged = first->converged && next->converged;
    sum.gapShift = worse(first->gapShift, next->gapShift);
    sum.rounding = worse(first->rounding, next->rounding);
    sum.undone = first->undone || next->undone;
    sum.coneViolation = worse(first->coneViolation, next->coneViolation);
    sum.dissipationViolation = worse(first->dissipationViolation, next->dissipationViolation);
    sum.kineticBefore = first->kineticBefore;
    sum.potentialBefore = first->potentialBefore;
    sum.externalWork = first->externalWork + next->externalWork;
    sum.frictionLoss = first->frictionLoss + next->frictionLoss;
    sum.impactLoss = first->impactLoss + next->impactLoss;
    sum.numericalLoss = first->numericalLoss + next->numericalLoss;
    sum.work = first->work + next->work;
    sum.fallback = next->fallback != NULL ? next->fallback : first->fallback;
    memcpy(sum.notes, first->notes, sizeof(sum.notes));
    sum.noteCount = first->noteCount;
    for (int i = 0; i < next->noteCount; ++i) {
        tpStepReport_AddNote(&sum, next->notes[i]);
    }
    for (int i = 0; i < tp_figureCount; ++i) {
        if (!tpFigureTable[i].isLevel) {
            sum.figures[i] = addCounts(first->figures[i], next->figures[i]);
        }
    }
    *report = sum;
}

void tpStepReport_ForgetVerdict(tpStepReport* report, const tpStepReport* before) {
    report->residual = before->residual;
    report->coneViolation = before->coneViolation;
    report->dissipationViolation = before->dissipationViolation;
    report->failureCount = before->failureCount;
    report->converged = before->converged;
}
