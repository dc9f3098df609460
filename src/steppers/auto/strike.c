#include "steppers/auto/strike.h"

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/time_step.h"
#include "steppers/memory.h"

// Passes, each with what the one before has set in motion, and contacts that touch at most.
enum { mostPasses = 24, mostContacts = 16 };

// The time that impulses are told by, in time scales: they act in none.
static const double instant = 1e-9;

// In lengths of the scene: closer contacts are closed. What a fall from that height gives is the
// slowest approach that bounces.
static const double closedGap = 1e-8;

// Of the energy: what impulses may raise it by.
static const double energySlack = 1e-9;

typedef struct Strike {
    tpTimeStep step;
    tpSolveSettings settings;
    tpContact* contacts; // that touch
    int count;
    double threshold; // m/s: slower approaches stop
    tpTaken* taken;
} Strike;

// Contacts of the group that touch, in order. False if there are none, or too many.
static bool findTouching(tpGroupRun* run, Strike* strike) {
    tpSystem* system = run->system;
    double touching = TP_TOUCH_DISTANCE * system->units.length;
    double* margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    tpContact* found = NULL;
    int count = 0;
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        margins[i] = tpSystem_IsDynamic(system, i) ? touching : 0.0;
    }
    strike->contacts = TP_SCRATCH(&system->arena, tpContact, mostContacts);
    run->hasMemory =
        margins != NULL && strike->contacts != NULL &&
        tpSystem_FindContacts(system, system->poses.data, margins, &found, &count) == tp_success;
    strike->count = 0;
    for (int i = 0; run->hasMemory && i < count; ++i) {
        bool isOurs = tpSystem_IsDynamic(system, found[i].bodyA) ||
                      tpSystem_IsDynamic(system, found[i].bodyB);
        if (isOurs && found[i].gap <= touching) {
            if (strike->count == mostContacts) {
                return false;
            }
            strike->contacts[strike->count++] = found[i];
        }
    }
    return run->hasMemory && strike->count > 0;
}

// Adds the rows of contacts that close faster than the threshold and bounce, or of all if
// `isStop`, which come to nothing. Returns how many contacts close.
static int addContacts(Strike* strike, bool isStop) {
    tpTimeStep* step = &strike->step;
    tpSystem* system = step->system;
    int closing = 0;
    for (int i = 0; i < strike->count; ++i) {
        const tpContact* contact = &strike->contacts[i];
        double speed = -tpContact_Approach(contact, system->poses.data, system->velocities.data);
        double bias = step->laws[i].restitution * speed;
        bool collides = speed < -strike->threshold && bias < 0.0;
        if (!isStop && !collides) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, system, system->poses.data, contact, i,
                                      &step->laws[i], 0.0);
        step->rows.bias[step->rows.firstRows[block]] = isStop ? 0.0 : bias;
        closing += isStop && !(speed < -strike->settings.tolerance) ? 0 : 1;
    }
    return closing;
}

// Finds the impulses of a pass and applies them. False if memory ran out.
static bool solvePass(tpGroupRun* run, Strike* strike, const tpVelocity* before) {
    tpTimeStep* step = &strike->step;
    tpSystem* system = step->system;
    tpStepReport* report = &strike->taken->report;
    tpJointTreatment treatment = { step->h, 0.0, NULL, step->h, 0.0, false };
    tpJoints_AddHalfRows(&step->rows, system, system->poses.data, &treatment, tp_secondHalf, NULL);
    step->freeVelocities = step->freeMeanVelocities = system->velocities.data;
    tpTimeStep_SetFreeVelocities(step);
    if (!tpRows_Solve(&step->rows, system, run->solver, &strike->settings, report)) {
        return false;
    }
    tpRows_ApplySolved(&step->rows, system->velocities.data);
    tpRowVelocities velocities = { before, system->velocities.data, NULL, NULL };
    tpRows_AccountEnergy(&step->rows, &velocities, report);
    tpJoints_AddReactions(system, &step->rows, step->h);
    return tpTimeStep_Tally(step, &strike->taken->tally);
}

// Passes until nothing collides, then what closes still is stopped. False if that has no end, or
// memory ran out.
static bool passAll(tpGroupRun* run, Strike* strike) {
    tpSystem* system = run->system;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    run->hasMemory = before != NULL;
    bool isStop = false;
    for (int pass = 0; pass < mostPasses && run->hasMemory; ++pass) {
        memcpy(before, system->velocities.data, bytes);
        run->hasMemory = tpTimeStep_UseContacts(&strike->step, strike->contacts, strike->count);
        int closing = run->hasMemory ? addContacts(strike, isStop) : 0;
        if (closing == 0 && isStop) {
            return run->hasMemory;
        }
        if (closing > 0) {
            strike->taken->report.figures[tp_collisionFigure] += isStop ? 0 : closing;
            run->hasMemory = run->hasMemory && solvePass(run, strike, before);
        }
        // What was stopped may have set others in motion.
        isStop = closing == 0;
    }
    return false;
}

bool tpGroupRun_Strike(tpGroupRun* run, tpTaken* taken) {
    tpSystem* system = run->system;
    Strike strike = { .settings = tpSolveSettings_FromOptions(&run->options), .taken = taken };
    tpKeptMotion before;
    tpStepReport* report = &taken->report;
    double h = instant * run->timeScale;
    double asked = run->options.values[tp_restitutionThresholdOption];
    strike.threshold =
        asked >= 0.0 ? asked : sqrt(2.0 * tpLength(system->gravity) * closedGap * run->lengthScale);
    run->hasMemory = tpKeptMotion_Take(&before, system);
    if (!run->hasMemory || !findTouching(run, &strike)) {
        return false;
    }
    // What is told how to move has the speed that brought it here: its way within an instant is
    // rounding.
    bool mayMoveAsTold = system->mayMoveAsTold;
    system->mayMoveAsTold = false;
    run->hasMemory = tpTimeStep_Begin(&strike.step, system, h, 0.0);
    system->mayMoveAsTold = mayMoveAsTold;
    if (!run->hasMemory) {
        return false;
    }
    report->kineticBefore = tpSystem_KineticEnergy(system);
    report->potentialBefore = tpSystem_PotentialEnergy(system);
    tpJoints_ClearReactions(system);
    double work = system->solveWork;
    bool isDone = passAll(run, &strike);
    taken->work = system->solveWork - work;
    double rise = tpSystem_KineticEnergy(system) - report->kineticBefore - report->externalWork;
    isDone = isDone && report->failureCount == 0 && report->residual <= run->limits.residual &&
             rise <= energySlack * report->kineticBefore;
    if (!isDone) {
        tpKeptMotion_PutBack(&before, system);
        return false;
    }
    tpJoints_ReadReactions(system, taken->reactions);
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        taken->reactions[i] *= h;
    }
    return true;
}
