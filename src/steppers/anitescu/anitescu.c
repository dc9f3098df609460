// Fixed-step velocity complementarity with joints and restitution [Anitescu03].
//
// The step in the paper's order: active set at the current configuration, restitution of what hit
// in the step before (4.10), the mixed complementarity problem (4.11), move. README.md beside this
// file has the equations and the table of symbols.

#include "steppers/anitescu/anitescu.h"

#include <string.h>

#include "dynamics/contact_spring.h"
#include "dynamics/energy_guard.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/anitescu/guard.h"

enum { maxPasses = 5, maxGuardTrials = 12 };

// How the problem is softened where energy would rise: factors of the restitution and of the
// push-out.
typedef struct tpSoftening {
    double restitution, pushOut;
} tpSoftening;

// Lambda of (4.10): e times the approach velocity before the collision, where it was a collision.
static double restitutionTerm(const tpTimeStep* step, const tpStepperMemory* memory, int block,
                              int contact, const tpContactMemory* last, double threshold) {
    if (last == NULL || !last->hasHit || memory->before.count != step->bodyCount) {
        return 0.0;
    }
    const tpContact* c = &step->contacts[contact];
    int row = step->rows.firstRows[block];
    double approach = tpRows_RowVelocity(&step->rows, row, memory->before.data, c->bodyA, c->bodyB);
    return approach < -threshold ? step->laws[contact].restitution * approach : 0.0;
}

// Delta + Lambda of (4.11) for each contact, and the joints' Upsilon.
static bool addRows(tpTimeStep* step, const tpStepperMemory* memory, double gamma, double threshold,
                    tpSoftening guard) {
    int cursor = 0;
    bool bounces = false;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactMemory* last = tpContactHistory_Find(&memory->history, contact, &cursor);
        int block = tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i,
                                      &step->laws[i], 0.0);
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring_WriteImplicit(&step->laws[i], contact->gap, step->h, &step->rows,
                                        step->rows.firstRows[block]);
            continue;
        }
        double lambda = restitutionTerm(step, memory, block, i, last, threshold);
        bounces = bounces || lambda < 0.0;
        // A gap that is open is met exactly; of an overlap one step takes back the part gamma.
        double part = contact->gap > 0.0 ? 1.0 : gamma * guard.pushOut;
        step->rows.bias[step->rows.firstRows[block]] =
            part * contact->gap / step->h + guard.restitution * lambda;
    }
    tpJointTreatment treatment = { step->h, guard.pushOut, NULL, step->h, 0.0, false };
    tpJoints_AddRows(&step->rows, step->system, step->startPoses, &treatment);
    return bounces;
}

static bool solve(tpTimeStep* step, tpStepperMemory* memory, const tpSolveSettings* settings,
                  double gamma, double threshold, tpSoftening guard, bool* bounces,
                  tpStepReport* report) {
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (!tpTimeStep_FindContacts(step, step->startPoses)) {
            return false;
        }
        *bounces = addRows(step, memory, gamma, threshold, guard);
        tpTimeStep_SetFreeVelocities(step);
        tpTimeStep_WarmStart(step, &memory->history, 1.0);
        if (!tpRows_Solve(&step->rows, step->system, memory->solver, settings, report)) {
            return false;
        }
        tpTimeStep_ApplyImpulses(step);
        // Solves that have come to the end of their work throw bodies far, and to look for all that
        // these may meet takes longer each time.
        if (!tpTimeStep_Outran(step, NULL) || tpStepBudget_IsSpent(step->system)) {
            break;
        }
    }
    return true;
}

// What the springs of contacts store in the step, J.
static double storedEnergy(const tpTimeStep* step) {
    double energy = 0.0;
    for (int i = 0; i < step->contactCount; ++i) {
        double k = step->laws[i].stiffness, gap = step->contacts[i].gap;
        if (k > 0.0) {
            double u = tpRows_BareVelocity(&step->rows, step->rows.firstRows[i]);
            energy += tpPointSpring_Energy(k, gap + step->h * u) - tpPointSpring_Energy(k, gap);
        }
    }
    return energy;
}

// Energy at the end of the step less what it may be: that of the start and the work done.
static double energyRise(tpTimeStep* step, const tpStepReport* report) {
    tpSystem* system = step->system;
    size_t count = (size_t)step->bodyCount;
    tpStepReport trial = *report;
    tpTimeStep_AccountEnergy(step, &trial);
    tpVelocity* velocities = system->velocities.data;
    tpPose* poses = system->poses.data;
    if (count > 0) {
        memcpy(velocities, step->velocities, sizeof(tpVelocity) * count);
        tpTimeStep_Move(step, step->meanVelocities, poses);
    }
    double after = tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system);
    if (count > 0) {
        memcpy(poses, step->startPoses, sizeof(tpPose) * count);
        memcpy(velocities, step->kicked, sizeof(tpVelocity) * count);
    }
    return after + storedEnergy(step) -
           (report->kineticBefore + report->potentialBefore + trial.externalWork);
}

// Solves, and where energy rises solves again with less restitution and then less push-out, by
// halving the interval, until it does not. A rise of `rounding` J does not count.
static bool solveGuarded(tpTimeStep* step, tpStepperMemory* memory, const tpSolveSettings* settings,
                         double gamma, double threshold, double rounding, bool isGuarded,
                         tpStepReport* report) {
    tpSoftening full = { 1.0, 1.0 };
    bool bounces;
    if (!solve(step, memory, settings, gamma, threshold, full, &bounces, report)) {
        return false;
    }
    // A bounce may give back what its collision took one step before, not more.
    double scale = fabs(report->kineticBefore) + fabs(report->potentialBefore);
    double allowed = fmax(1e-12 * scale, rounding) + (bounces ? memory->lastLoss : 0.0);
    if (!isGuarded || energyRise(step, report) <= allowed) {
        return true;
    }
    tpStepReport_AddNote(report, "the energy guard acted");
    // Without any restitution: does the rest stay within bounds?
    tpSoftening guard = { 0.0, 1.0 };
    double low = 0.0, high = 1.0;
    bool useRestitution = bounces;
    if (bounces) {
        if (!solve(step, memory, settings, gamma, threshold, guard, &bounces, report)) {
            return false;
        }
        useRestitution = energyRise(step, report) <= allowed;
    }
    if (!useRestitution) {
        guard.restitution = 0.0;
    }
    for (int trial = 0; trial < maxGuardTrials && tpSystem_HasWorkLeft(step->system); ++trial) {
        double middle = 0.5 * (low + high);
        guard = useRestitution ? (tpSoftening){ middle, 1.0 } : (tpSoftening){ 0.0, middle };
        if (!solve(step, memory, settings, gamma, threshold, guard, &bounces, report)) {
            return false;
        }
        if (energyRise(step, report) <= allowed) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // The last trial may have been one too many: take the best that was within bounds.
    guard = useRestitution ? (tpSoftening){ low, 1.0 } : (tpSoftening){ 0.0, low };
    return solve(step, memory, settings, gamma, threshold, guard, &bounces, report);
}

// A contact that pushed and was approached faster than the threshold has collided: it bounces in
// the next step. This also holds when the step before ended exactly on contact.
static void markHits(tpStepperMemory* memory, double threshold) {
    for (int i = 0; i < memory->history.list.count; ++i) {
        tpContactMemory* contact = &memory->history.list.data[i];
        bool isPushed = tpLengthSquared(contact->impulse) > 0.0;
        contact->hasHit = isPushed && contact->normalSpeed < -threshold;
    }
}

static bool keepVelocities(tpStepperMemory* memory, const tpTimeStep* step) {
    if (!TP_RESERVE(&memory->allocator, memory->before, step->bodyCount)) {
        return false;
    }
    if (step->bodyCount > 0) {
        memcpy(memory->before.data, step->startVelocities,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    memory->before.count = step->bodyCount;
    return true;
}

// The certificate of rigid contact beside that of springs.
static bool judgeRigid(tpTimeStep* step, tpStepperMemory* memory, tpStepReport* report) {
    tpArena* arena = &step->system->arena;
    double* gaps = TP_SCRATCH(arena, double, step->contactCount);
    double rigid = 0.0;
    for (int i = 0; gaps != NULL && i < step->contactCount; ++i) {
        gaps[i] = step->contacts[i].gap;
    }
    bool isDone = !step->system->gives ||
                  (gaps != NULL && tpRows_JudgeRigid(&step->rows, step->laws, gaps, step->h, arena,
                                                     memory->solver, &rigid));
    report->rigidResidual = fmax(report->rigidResidual, rigid);
    return isDone;
}

// The paper's step, theta = 1.
static bool stepEuler(tpSystem* system, tpStepperMemory* memory, const tpOptions* options,
                      double threshold, double h, tpStepReport* report) {
    tpSolveSettings settings = tpSolveSettings_FromOptions(options);
    double gamma = options->values[tp_gammaOption] * tpSystem_ShareOfStep(system, h);
    bool isGuarded = options->values[tp_energyGuardOption] != 0.0;
    tpTimeStep step;
    bool isDone = tpTimeStep_Begin(&step, system, h, h);
    // If it only stands in for the symmetric step, bodies that have no part in it are not to
    // suffer.
    // Nor are solves to be repeated because of their last digits.
    step.isFlightExact = !(options->values[tp_thetaOption] > 0.5);
    double rounding = step.isFlightExact ? tpEnergyGuard_RiseOfSolves(system, report) : 0.0;
    isDone =
        isDone &&
        solveGuarded(&step, memory, &settings, gamma, threshold, rounding, isGuarded, report) &&
        judgeRigid(&step, memory, report) &&
        tpTimeStep_Finish(&step, memory->solver, &memory->history, report) &&
        keepVelocities(memory, &step);
    if (isDone) {
        markHits(memory, threshold);
        double after = tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system);
        memory->lastLoss = fmax(0.0, report->kineticBefore + report->potentialBefore +
                                         report->externalWork - after);
    }
    return isDone;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpStepperMemory* memory = state;
    double threshold = options->values[tp_restitutionThresholdOption];
    if (threshold < 0.0) {
        threshold = 2.0 * h * tpLength(system->gravity);
    }
    bool isDone = options->values[tp_thetaOption] > 0.5
                      ? stepEuler(system, memory, options, threshold, h, report)
                      : tpGuard_Step(system, memory, options, threshold, h, stepEuler, report);
    if (!isDone) {
        tpStepReport_RunOut(report);
    }
}

static const tpOptionIndex used[] = { tp_toleranceOption,   tp_certificateOption,
                                      tp_coneOption,        tp_directionsOption,
                                      tp_thetaOption,       tp_gammaOption,
                                      tp_energyGuardOption, tp_restitutionThresholdOption,
                                      tp_optionCount };

const tpStepper tpAnitescuStepper = {
    .name = "anitescu",
    .summary = "the default: joints, restitution, stacks; second order in smooth motion",
    .closesAccount = true,
    .options = used,
    .step = step,
    TP_STEPPER_MEMORY,
};
