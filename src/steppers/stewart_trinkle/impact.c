// Laws of impact for contacts that collide at one instant.
//
// Newton: where a contact is approached at u < 0, it leaves at -e u at the least,
//
//     M (v+ - v) = n c + D beta,   0 <= c complementary to n.v+ + e n.v >= 0,   friction on D' v+
//
// Poisson [AnitescuPotra97, sec. 4]: a compression ends with n.v >= 0 as if e were 0; a
// decompression gives back at the least the part e of each compression impulse (decompression.h).
//
// Both laws can gain energy where friction couples with the normal direction. The guard then lowers
// all coefficients by one factor until they do not.

#include "steppers/stewart_trinkle/impact.h"

#include <string.h>

#include "dynamics/decompression.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "steppers/stewart_trinkle/solve.h"

enum { maxGuardTrials = 40 };

// Kinetic energy may rise by this part: rounding and the tolerance of the solves.
static const double guardSlack = 1e-12;

// One collision: contacts closed at this instant, velocities before it.
typedef struct tpCollision {
    tpTimeStep step; // of no duration; it holds contacts, laws and rows
    tpVelocity* before;
    double* reactions; // of the joints so far
    double* motion;    // of their armatures
    double* parts;     // of each contact: its restitution where it is fast enough, else 0
} tpCollision;

// The speed at which two bodies approach at a contact: negative.
static double approachOf(const tpSystem* system, const tpContact* contact) {
    tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                     tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
    return tpDot(u, contact->normal);
}

double tpStewartTrinkle_FastestApproach(tpSystem* system, const tpImpactLaw* settings,
                                        const double* margins) {
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count) !=
        tp_success) {
        return -1.0;
    }
    double fastest = 0.0;
    for (int i = 0; i < count; ++i) {
        double speed = -approachOf(system, &contacts[i]);
        bool isFast =
            contacts[i].gap <= tpTouchingGap * system->units.length && speed > settings->threshold;
        if (isFast && tpMakeContactLaw(system, &contacts[i]).restitution > 0.0) {
            fastest = fmax(fastest, speed);
        }
    }
    return fastest;
}

static bool begin(tpCollision* impact, tpSystem* system, const tpImpactLaw* settings,
                  const double* margins) {
    memset(impact, 0, sizeof(*impact));
    tpTimeStep* step = &impact->step;
    step->system = system;
    step->h = settings->wholeStep;
    step->bodyCount = system->bodyCount;
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count) !=
        tp_success) {
        return false;
    }
    int closed = 0;
    for (int i = 0; i < count; ++i) {
        if (contacts[i].gap <= tpTouchingGap * system->units.length) {
            contacts[closed++] = contacts[i];
        }
    }
    step->contacts = contacts;
    step->contactCount = closed;
    tpArena* arena = &system->arena;
    step->laws = TP_SCRATCH(arena, tpContactLaw, closed);
    step->startPoses = TP_SCRATCH(arena, tpPose, system->bodyCount);
    impact->before = TP_SCRATCH(arena, tpVelocity, system->bodyCount);
    impact->reactions = TP_SCRATCH(arena, double, tpJoints_ReactionCount(system));
    impact->motion = TP_SCRATCH(arena, double, tpJoints_MotionCount(system));
    impact->parts = TP_SCRATCH(arena, double, closed);
    int jointBlocks, jointRows;
    tpJoints_Count(system, &jointBlocks, &jointRows);
    if (arena->failed || !tpRows_Create(&step->rows, system, 2 * closed + jointBlocks,
                                        2 * TP_FRICTION_MAX_ROWS * closed + jointRows)) {
        return false;
    }
    tpRows_SetMasses(&step->rows, system);
    memcpy(step->startPoses, system->poses.data, sizeof(tpPose) * (size_t)system->bodyCount);
    memcpy(impact->before, system->velocities.data, sizeof(tpVelocity) * (size_t)system->bodyCount);
    tpJoints_ReadReactions(system, impact->reactions);
    tpJoints_ReadMotion(system, impact->motion);
    for (int i = 0; i < closed; ++i) {
        step->laws[i] = tpMakeContactLaw(system, &contacts[i]);
        tpContactLaw_Meet(&step->laws[i], -approachOf(system, &contacts[i]));
        bool isFast = approachOf(system, &contacts[i]) < -settings->threshold;
        impact->parts[i] = isFast ? step->laws[i].restitution : 0.0;
    }
    return true;
}

// Rows on velocities for all closed contacts, in order, and then for the joints.
static void addRows(tpCollision* impact) {
    tpTimeStep* step = &impact->step;
    tpRows_Clear(&step->rows);
    for (int i = 0; i < step->contactCount; ++i) {
        tpRows_AddContact(&step->rows, step->system, step->startPoses, &step->contacts[i], i,
                          &step->laws[i], 0.0);
    }
    // Motors and dry friction of joints are forces: they do nothing in no time.
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.0, 0.0, false };
    tpJoints_AddRows(&step->rows, step->system, step->startPoses, &treatment);
}

// Solves the rows from the given velocities, which must not be those of the system.
static bool solveFrom(tpCollision* impact, tpVelocity* velocities, tpStepperMemory* memory,
                      const tpImpactLaw* settings, tpStepReport* report) {
    tpTimeStep* step = &impact->step;
    step->freeVelocities = step->freeMeanVelocities = velocities;
    tpTimeStep_SetFreeVelocities(step);
    return tpRows_Solve(&step->rows, step->system, memory->solver, &settings->solve, report);
}

// Takes over what the rows say: velocities of the system, energies, impulses.
static bool accept(tpCollision* impact, const tpVelocity* from, const tpImpactLaw* settings,
                   tpTally* tally, tpStepReport* report) {
    tpSystem* system = impact->step.system;
    tpRows* rows = &impact->step.rows;
    memcpy(system->velocities.data, from, sizeof(tpVelocity) * (size_t)system->bodyCount);
    tpRows_ApplyImpulses(rows, system->velocities.data);
    tpRowVelocities velocities = { from, system->velocities.data, NULL, NULL };
    tpRows_AccountEnergy(rows, &velocities, report);
    tpJoints_AddReactions(system, rows, settings->wholeStep);
    return tpTimeStep_Tally(&impact->step, tally);
}

static bool resolveNewton(tpCollision* impact, double factor, tpStepperMemory* memory,
                          const tpImpactLaw* settings, tpTally* tally, tpStepReport* report) {
    tpTimeStep* step = &impact->step;
    addRows(impact);
    for (int i = 0; i < step->contactCount; ++i) {
        double approach = approachOf(step->system, &step->contacts[i]);
        step->rows.bias[step->rows.firstRows[i]] = factor * impact->parts[i] * approach;
    }
    return solveFrom(impact, impact->before, memory, settings, report) &&
           accept(impact, impact->before, settings, tally, report);
}

// Decompression: gives back `loads` (one per block) and what else it takes to keep bodies apart.
static bool decompress(tpCollision* impact, const double* loads, tpStepperMemory* memory,
                       const tpImpactLaw* settings, tpTally* tally, tpStepReport* report) {
    tpTimeStep* step = &impact->step;
    tpRows* rows = &step->rows;
    tpSystem* system = step->system;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    tpVelocity* compressed = tpArena_Get(&system->arena, bytes);
    tpVelocity* pushed = tpArena_Get(&system->arena, bytes);
    if (system->arena.failed) {
        return false;
    }
    memcpy(compressed, system->velocities.data, bytes);
    memcpy(pushed, compressed, bytes);
    addRows(impact);
    tpDecompression decompression = tpDecompression_Begin(rows, system, loads, pushed);
    if (!solveFrom(impact, pushed, memory, settings, report)) {
        return false;
    }
    tpDecompression_End(&decompression, rows);
    return accept(impact, compressed, settings, tally, report);
}

static bool resolvePoisson(tpCollision* impact, double factor, tpStepperMemory* memory,
                           const tpImpactLaw* settings, tpTally* tally, tpStepReport* report) {
    tpTimeStep* step = &impact->step;
    addRows(impact);
    double* loads = TP_SCRATCH_ZEROED(&step->system->arena, double, step->rows.blockCount);
    if (loads == NULL || !solveFrom(impact, impact->before, memory, settings, report) ||
        !accept(impact, impact->before, settings, tally, report)) {
        return false;
    }
    bool givesBack = false;
    for (int i = 0; i < step->contactCount; ++i) {
        loads[i] = factor * impact->parts[i] * step->rows.impulse[step->rows.firstRows[i]];
        givesBack = givesBack || loads[i] > 0.0;
    }
    return !givesBack || decompress(impact, loads, memory, settings, tally, report);
}

static bool resolveOnce(tpCollision* impact, double factor, tpStepperMemory* memory,
                        const tpImpactLaw* settings, tpTally* tally, tpStepReport* report) {
    return settings->law == tp_poissonImpact
               ? resolvePoisson(impact, factor, memory, settings, tally, report)
               : resolveNewton(impact, factor, memory, settings, tally, report);
}

// Back to the instant before the collision.
static void retreat(const tpCollision* impact) {
    tpSystem* system = impact->step.system;
    memcpy(system->velocities.data, impact->before, sizeof(tpVelocity) * (size_t)system->bodyCount);
    tpJoints_WriteReactions(system, impact->reactions);
    tpJoints_WriteMotion(system, impact->motion);
}

bool tpStewartTrinkle_Collide(tpSystem* system, tpStepperMemory* memory,
                              const tpImpactLaw* settings, const double* margins, tpTally* tally,
                              tpStepReport* report) {
    tpCollision impact;
    if (!begin(&impact, system, settings, margins)) {
        return false;
    }
    double energy = tpSystem_KineticEnergy(system);
    double low = 0.0, high = 1.0, factor = 1.0;
    tpTally kept = *tally;
    tpStepReport start = *report;
    for (int trial = 0; trial <= maxGuardTrials; ++trial) {
        tpStepReport attempt = start;
        attempt.solveCount = report->solveCount;
        attempt.iterationCount = report->iterationCount;
        *tally = kept;
        if (!resolveOnce(&impact, factor, memory, settings, tally, &attempt)) {
            return false;
        }
        *report = attempt;
        double driven = attempt.externalWork - start.externalWork;
        bool hasNotGained = tpSystem_KineticEnergy(system) <= energy * (1.0 + guardSlack) + driven;
        if (!settings->isGuarded || (hasNotGained && (factor == 1.0 || high - low < 1e-9)) ||
            trial == maxGuardTrials) {
            break;
        }
        // Halve the interval; the last trial is one that was fine.
        if (hasNotGained) {
            low = factor;
        } else {
            high = factor;
        }
        factor = high - low < 1e-9 ? low : 0.5 * (low + high);
        retreat(&impact);
    }
    if (factor < 1.0) {
        tpStepReport_AddNote(report, "the energy guard acted");
    }
    return true;
}
