// Contacts as stiff springs, stepped implicitly [Anitescu03, sec. II].
//
// The impulse of a contact over the step is h times the spring's force at the overlap where the
// step ends. Newton's method on that overlap turns each spring into a row with a compliance, so
// that one iteration is the complementarity problem of the rigid steppers, softened; friction and
// joints stand in the same problem. README.md beside this file has the equations and the table of
// symbols.

#include "steppers/penalty/penalty.h"

#include <string.h>

#include "dynamics/joints.h"
#include "math/elementary.h"
#include "steppers/memory.h"
#include "steppers/penalty/spring.h"

enum { maxPasses = 5, maxNewton = 60, maxFixedPoints = 60 };

// Newton's method starts no nearer to zero overlap than this, in units of length: there the spring
// has no slope.
static const double smallestOverlap = 1e-12;

// The fixed point of the implicit scheme has settled when no velocity changes by more, relative.
static const double fixedPointTolerance = 1e-12;

// A contact softer than this carries nothing that matters, m/s per N s; more would upset the
// solver.
static const double largestCompliance = 1e12;

typedef struct tpPenaltySettings {
    tpSolveSettings solve;
    tpContactSpring spring; // start is set contact by contact
    double creep;           // sliding speed up to which friction grows, m/s
} tpPenaltySettings;

// Where the rows are linearised: poses, and the velocities that led there from the start of the
// step as rows have them (tpTimeStep_LinearMeanVelocities).
typedef struct tpPlace {
    const tpPose* poses;
    const tpVelocity* meanVelocities; // NULL: the poses are those of the start
} tpPlace;

// What the rigid rows have: the gap at the end of the step over h, as far as the rows know it.
static double rigidBias(const tpTimeStep* step, const tpPlace* at, int block) {
    int row = step->rows.firstRows[block];
    const tpContact* contact = &step->contacts[step->rows.infos[block].index];
    double bias = contact->gap / step->h;
    if (at->meanVelocities != NULL) {
        bias -= tpRows_RowVelocity(&step->rows, row, at->meanVelocities, contact->bodyA,
                                   contact->bodyB);
    }
    return bias;
}

static void addRows(tpTimeStep* step, const tpPlace* at) {
    tpRows_Clear(&step->rows);
    for (int i = 0; i < step->contactCount; ++i) {
        int block = tpRows_AddContact(&step->rows, step->system, at->poses, &step->contacts[i], i,
                                      &step->laws[i], 0.0);
        step->rows.bias[step->rows.firstRows[block]] = rigidBias(step, at, block);
    }
    tpJointTreatment treatment = { step->h, 1.0, at->meanVelocities, step->h, 0.0, false };
    tpJoints_AddRows(&step->rows, step->system, at->poses, &treatment);
}

// The overlap at the end of the step, negative if there is none, as the rows just solved have
// it.
static double endOverlap(const tpTimeStep* step, const tpPlace* at, int block) {
    const tpRows* rows = &step->rows;
    int row = rows->firstRows[block];
    double soft =
        rows->compliance[row] * rows->impulse[row] + rows->bias[row] - rigidBias(step, at, block);
    return step->h * (soft - rows->velocity[row]);
}

// The spring of a contact with the overlap at the start of the step.
static tpContactSpring springOf(const tpTimeStep* step, const tpPlace* at,
                                const tpPenaltySettings* settings, int block) {
    tpContactSpring spring = settings->spring;
    spring.start = -step->h * rigidBias(step, at, block);
    return spring;
}

// Replaces the spring by its tangent at the overlap: r = h (f + f' (overlap' - overlap)), which is
// the rigid row with the compliance 1 / (h^2 f') and a bias. Friction that grows up to the speed
// `creep` is a compliance of the sliding rows, for the load of the last iteration.
static void softenRows(tpTimeStep* step, const tpPlace* at, const tpPenaltySettings* settings,
                       const double* overlaps) {
    tpRows* rows = &step->rows;
    double h = step->h;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        int first = rows->firstRows[b];
        tpContactSpring spring = springOf(step, at, settings, b);
        double overlap = overlaps[b];
        tpSpringForce at0 = tpContactSpring_At(&spring, overlap);
        double compliance = largestCompliance;
        double shift = 0.0;
        if (h * h * at0.slope * largestCompliance > 1.0) {
            compliance = 1.0 / (h * h * at0.slope);
            shift = (overlap - at0.force / at0.slope) / h;
        }
        rows->compliance[first] = compliance;
        rows->bias[first] = rigidBias(step, at, b) + shift;
        double limit = rows->mu[b] * h * at0.force;
        for (int k = first + 1; k < first + rows->dimensions[b] && settings->creep > 0.0; ++k) {
            double e = rows->scale[k];
            bool isLoaded = limit * e * e * largestCompliance > settings->creep;
            rows->compliance[k] = isLoaded ? settings->creep / (limit * e * e) : largestCompliance;
        }
    }
}

static void stiffenRows(tpTimeStep* step, const tpPlace* at) {
    tpRows* rows = &step->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            int first = rows->firstRows[b];
            rows->bias[first] = rigidBias(step, at, b);
            for (int k = first; k < first + rows->dimensions[b]; ++k) {
                rows->compliance[k] = 0.0;
            }
        }
    }
    tpTimeStep_SetFreeVelocities(step);
}

// One problem, with its cost and its failures in the report. The residuals are judged at the end.
static bool solveRows(tpTimeStep* step, tpStepperMemory* memory, const tpPenaltySettings* settings,
                      bool* isSolved, tpStepReport* report) {
    tpStepReport inner;
    memset(&inner, 0, sizeof(inner));
    inner.converged = true;
    tpTimeStep_SetFreeVelocities(step);
    if (!tpRows_Solve(&step->rows, step->system, memory->solver, &settings->solve, &inner)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    report->solveCount += inner.solveCount;
    report->iterationCount += inner.iterationCount;
    report->fallback = inner.fallback != NULL ? inner.fallback : report->fallback;
    *isSolved = inner.converged;
    return true;
}

// Newton's method on the overlaps at the end of the step, from the springs that would carry what
// rigid contacts carry: too stiff a start, from which the overlaps fall to the solution. `isSolved`
// says whether they got there.
static bool solveSprings(tpTimeStep* step, const tpPlace* at, tpStepperMemory* memory,
                         const tpPenaltySettings* settings, bool* isSolved, tpStepReport* report) {
    tpRows* rows = &step->rows;
    addRows(step, at);
    double* overlaps = TP_SCRATCH(&step->system->arena, double, rows->blockCount);
    tpTimeStep_WarmStart(step, &memory->history, 1.0);
    if (overlaps == NULL || !solveRows(step, memory, settings, isSolved, report)) {
        return false;
    }
    bool hasSprings = false;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            tpContactSpring spring = springOf(step, at, settings, b);
            double force = rows->impulse[rows->firstRows[b]] / step->h;
            overlaps[b] = fmax(tpContactSpring_OverlapOf(&spring, force),
                               smallestOverlap * step->system->units.length);
            hasSprings = true;
        }
    }
    double change = hasSprings ? INFINITY : 0.0;
    // What the solves leave in the velocities cannot be improved upon.
    double settled = 4.0 * settings->solve.tolerance * step->h;
    for (int k = 0; k < maxNewton && change > settled; ++k) {
        softenRows(step, at, settings, overlaps);
        if (!solveRows(step, memory, settings, isSolved, report)) {
            return false;
        }
        change = 0.0;
        for (int b = 0; b < rows->blockCount; ++b) {
            if (rows->infos[b].source == tp_contactSource) {
                double overlap =
                    fmax(endOverlap(step, at, b), smallestOverlap * step->system->units.length);
                change = fmax(change, fabs(overlap - overlaps[b]));
                overlaps[b] = overlap;
            }
        }
    }
    *isSolved = *isSolved && change <= settled;
    return true;
}

// The linearly implicit scheme: contacts and their directions as they are at the start [sec. II B].
static bool solveLinearly(tpTimeStep* step, tpStepperMemory* memory,
                          const tpPenaltySettings* settings, bool* isSolved, tpStepReport* report) {
    tpPlace at = { step->startPoses, NULL };
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (!tpTimeStep_FindContacts(step, at.poses) ||
            !solveSprings(step, &at, memory, settings, isSolved, report)) {
            return false;
        }
        if (!tpTimeStep_Outran(step, NULL)) {
            break;
        }
    }
    stiffenRows(step, &at);
    return true;
}

// The implicit scheme: gaps and directions where the step ends [sec. II A], found by linearising
// there again and again. `isSettled` says whether that came to an end.
static bool solveImplicitly(tpTimeStep* step, tpStepperMemory* memory,
                            const tpPenaltySettings* settings, bool* isSettled,
                            tpStepReport* report) {
    tpArena* arena = &step->system->arena;
    tpPose* poses = TP_SCRATCH(arena, tpPose, step->bodyCount);
    tpVelocity* meanVelocities = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    tpVelocity* towards = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    bool isSolved;
    if (arena->failed || !solveLinearly(step, memory, settings, &isSolved, report)) {
        return false;
    }
    tpPlace at = { poses, towards };
    *isSettled = step->contactCount == 0 && step->system->joints.count == 0;
    for (int k = 0; k < maxFixedPoints && !*isSettled; ++k) {
        memcpy(meanVelocities, step->meanVelocities, sizeof(tpVelocity) * (size_t)step->bodyCount);
        tpTimeStep_Move(step, meanVelocities, poses);
        tpTimeStep_LinearMeanVelocities(step, towards);
        if (!tpTimeStep_FindContacts(step, poses) ||
            !solveSprings(step, &at, memory, settings, &isSolved, report)) {
            return false;
        }
        bool outran = tpTimeStep_Outran(step, meanVelocities);
        double change = tpTimeStep_LargestChange(step, step->meanVelocities, meanVelocities);
        double settled = fmax(fixedPointTolerance, 10.0 * settings->solve.tolerance);
        *isSettled = !outran && isSolved && change <= settled;
    }
    stiffenRows(step, &at);
    return true;
}

static bool solve(tpTimeStep* step, tpStepperMemory* memory, const tpPenaltySettings* settings,
                  bool isImplicit, tpStepReport* report) {
    bool isSolved = false;
    if (isImplicit && !solveImplicitly(step, memory, settings, &isSolved, report)) {
        return false;
    }
    if (isImplicit && !isSolved) {
        tpStepReport_FallBack(report, "linearly implicit step",
                              "the implicit springs did not settle: they are linearised instead");
        report->failureCount += 1;
        report->converged = false;
    }
    if (!isSolved && !solveLinearly(step, memory, settings, &isSolved, report)) {
        return false;
    }
    if (!isSolved) {
        report->failureCount += 1;
        report->converged = false;
        tpStepReport_FallBack(report,
                              report->fallback != NULL ? report->fallback : "last Newton step",
                              "the linearised springs were not solved: the last iterate is taken");
    }
    return tpRows_Judge(&step->rows, memory->solver, report);
}

// So stiff that the weight of all bodies on one contact overlaps by this part of what bodies reach:
// 1e-6 m for bodies that reach 0.25 m.
static const double defaultOverlap = 4e-6;

static double defaultStiffness(const tpSystem* system, double exponent) {
    double mass = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        mass += tpSystem_IsDynamic(system, i) ? system->bodies.data[i].mass : 0.0;
    }
    // Without gravity as if there were the earth's.
    double gravity = tpLength(system->gravity);
    double weight = mass * (gravity > 0.0 ? gravity : 9.81);
    return weight > 0.0 ? weight / tpPow(defaultOverlap * system->scales.reach, exponent) : 1.0;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpStepperMemory* memory = state;
    tpPenaltySettings settings;
    settings.solve = tpSolveSettings_FromOptions(options);
    settings.solve.cone = tp_circularCone;
    settings.spring.stiffness = options->values[tp_stiffnessOption];
    settings.spring.exponent = options->values[tp_exponentOption];
    if (!(settings.spring.stiffness > 0.0)) {
        settings.spring.stiffness = defaultStiffness(system, settings.spring.exponent);
    }
    settings.spring.damping = options->values[tp_dampingOption];
    settings.spring.start = 0.0;
    settings.spring.h = h;
    settings.creep = options->values[tp_creepOption];
    bool isImplicit = (int)options->values[tp_schemeOption] == tp_implicitScheme;
    tpTimeStep step;
    if (!tpTimeStep_Begin(&step, system, h, h) ||
        !solve(&step, memory, &settings, isImplicit, report) ||
        !tpTimeStep_Finish(&step, memory->solver, &memory->history, report)) {
        tpStepReport_RunOut(report);
        return;
    }
    if (tpTimeStep_HasRestitution(&step)) {
        tpStepReport_AddNote(report, "penalty does not use restitution: see its damping");
    }
}

static const tpOptionIndex used[] = { tp_toleranceOption, tp_certificateOption, tp_schemeOption,
                                      tp_stiffnessOption, tp_exponentOption,    tp_dampingOption,
                                      tp_creepOption,     tp_optionCount };

const tpStepper tpPenaltyStepper = {
    .name = "penalty",
    .summary = "contacts as stiff springs, implicit",
    .options = used,
    .lacks = tp_lacksRestitution | tp_lacksRollingFriction | tp_lacksCompliance,
    .yields = true,
    .step = step,
    TP_STEPPER_MEMORY,
};
