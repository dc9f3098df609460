// A symmetric step: half a kick, constrained drift, half a kick, constrained velocities.
//
// Deviation from the paper: (4.11) is solved twice a step, once for impulses that keep the positions at
// the end of the drift admissible, with geometry and inertia of the start, and once for those that keep
// the velocities at the end admissible, with geometry and inertia of the end:
//
//     v' = v + (h/2) M^-1 f(q) + M^-1 J(q)' r1,      gap(q1) >= 0, Theta(q1) = 0,  q1 = drift(q, v', h)
//     v1 = v' + (h/2) M^-1 f(q1) + M^-1 J(q1)' r2,   n . v1 >= -e n . v at closed contacts, nu . v1 = 0
//
// Without contacts this is RATTLE [Andersen83], of second order, and the drift of a free body is exact.
// The first problem is nonlinear in q1: its rows are linearised at the start, and their biases are
// corrected by what the true gaps and joint errors at the end say, until they agree; those of friction
// by the slip half way through the drift. Restitution acts
// in the step of the collision, on the approach velocity before it, as (4.10) does one step later.

#include "steppers/anitescu/midpoint.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"

typedef struct tpMidpointSettings {
    tpSolveSettings solve;
    double gamma;       // part of an overlap that one step takes back
    double threshold;   // approaches slower than this do not bounce, m/s
    double restitution; // factor of the restitution, 1 unless the energy guard lowers it
} tpMidpointSettings;

enum { maxCorrections = 12, maxPasses = 5 };

// The drift has to meet gaps and joints to this, m or rad.
static const double driftTolerance = 1e-12;

// The guard lets energy rise by this part of the energy: rounding and the tolerance of the solves.
static const double guardSlack = 1e-10;

// A contact is closed at the end of the drift below this gap, m.
static const double closedGap = 1e-8;

static void addPositionRows(tpTimeStep* step, const tpMidpointSettings* settings) {
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        double part = contact->gap > 0.0 ? 1.0 : settings->gamma;
        tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i, &step->laws[i],
                          part * contact->gap / step->h);
    }
    tpJointTreatment treatment = { step->h, 1.0, NULL, 0.5 * step->h };
    tpJoints_AddRows(&step->rows, step->system, step->startPoses, &treatment);
}

// Velocities of the rows without impulses: those of the drift.
static void setDriftVelocities(tpTimeStep* step) {
    tpVelocity* kept = step->freeVelocities;
    step->freeVelocities = step->freeMoves;
    tpTimeStep_SetFreeVelocities(step);
    step->freeVelocities = kept;
}

static tpVec3 halfWay(tpVec3 a, tpVec3 b) {
    return tpScale(0.5, tpAdd(a, b));
}

// Velocity of a body's surface at a contact half way through the drift; `start` and `end` are the
// contact's points on it.
static tpVec3 surfaceVelocity(const tpTimeStep* step, int body, tpVec3 start, tpVec3 end) {
    const tpPose* poses = step->system->poses.data;
    const tpVelocity *first = &step->pushed[body], *last = &step->system->velocities.data[body];
    tpVec3 arm =
        halfWay(tpSub(start, step->startPoses[body].position), tpSub(end, poses[body].position));
    return tpAdd(halfWay(first->linear, last->linear),
                 tpCross(halfWay(first->angular, last->angular), arm));
}

// Friction acts on the slip half way through the drift, of which the rows of the start know nothing:
// with theirs a ball on a turntable spirals outwards. Returns the largest change, m or rad.
static double correctSlip(tpTimeStep* step, int block, const tpContact* start,
                          const tpContact* end) {
    tpRows* rows = &step->rows;
    int first = rows->firstRows[block];
    tpVec3 slip = tpSub(surfaceVelocity(step, start->bodyA, start->pointA, end->pointA),
                        surfaceVelocity(step, start->bodyB, start->pointB, end->pointB));
    const tpContactLaw* law = &step->laws[rows->infos[block].index];
    double largest = 0.0;
    for (int k = 1; k < rows->dimensions[block] && k < 3; ++k) {
        double linear = rows->velocity[first + k] - rows->bias[first + k];
        double bias = tpDot(law->tangents[k - 1], slip) - linear;
        largest = fmax(largest, step->h * fabs(bias - rows->bias[first + k]));
        rows->bias[first + k] = bias;
    }
    return largest;
}

// Adds to each bias what the linearised row has missed at the end of the drift. Returns the largest
// miss, m or rad; negative where memory ran out.
static double correctBiases(tpTimeStep* step, const tpMidpointSettings* settings) {
    tpSystem* system = step->system;
    tpRows* rows = &step->rows;
    if (tpSystem_FindContacts(system, system->poses.data, step->margins, &step->endContacts,
                              &step->endCount) != tp_success) {
        return -1.0;
    }
    // The joints' errors at the end, row by row: the same rows written there with h = 1.
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpRows end;
    if (!tpRows_Create(&end, system, blocks, count)) {
        return -1.0;
    }
    tpJointTreatment treatment = { 1.0, 1.0, NULL, 0.5 * step->h };
    tpJoints_AddRows(&end, system, system->poses.data, &treatment);

    double largest = 0.0;
    int cursor = 0, joint = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        bool isContact = rows->infos[b].source == tp_contactSource;
        if (isContact) {
            const tpContact* contact = &step->contacts[rows->infos[b].index];
            const tpContact* same =
                tpContacts_FindSame(contact, step->endContacts, step->endCount, &cursor);
            // Of an overlap at the start only a part is to be taken back: what remains is meant.
            double meant = contact->gap < 0.0 ? (1.0 - settings->gamma) * contact->gap : 0.0;
            // What carries nothing matters only where it has been let through.
            bool counts = same != NULL && (rows->impulse[first] > 0.0 || same->gap < meant);
            if (counts) {
                double miss = same->gap - meant - step->h * rows->velocity[first];
                rows->bias[first] += miss / step->h;
                largest = fmax(largest, fabs(miss));
            }
            if (same != NULL && rows->impulse[first] > 0.0) {
                largest = fmax(largest, correctSlip(step, b, contact, same));
            }
            continue;
        }
        int endFirst = end.firstRows[joint++];
        bool isHeld = rows->infos[b].source == tp_jointSource;
        for (int k = 0; isHeld && k < rows->dimensions[b]; ++k) {
            bool isIdle = rows->kinds[b] == tp_frictionNonnegative && rows->impulse[first] == 0.0;
            if (rows->compliance[first + k] > 0.0 || isIdle) {
                continue;
            }
            double miss = end.bias[endFirst + k] - step->h * rows->velocity[first + k];
            rows->bias[first + k] += miss / step->h;
            largest = fmax(largest, fabs(miss));
        }
    }
    return largest;
}

static bool solveOnce(tpTimeStep* step, tpStepperMemory* memory, const tpMidpointSettings* settings,
                      tpStepReport* report) {
    setDriftVelocities(step);
    if (!tpRows_Solve(&step->rows, step->system, memory->solver, &settings->solve, report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    tpTimeStep_Drift(step);
    return true;
}

// First problem: impulses that bring the drift to admissible positions.
static bool solveDrift(tpTimeStep* step, tpStepperMemory* memory,
                       const tpMidpointSettings* settings, tpStepReport* report) {
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (pass > 0) {
            // The drift of the last pass has turned bodies; inertia is that of the start.
            memcpy(step->system->poses.data, step->startPoses,
                   sizeof(tpPose) * (size_t)step->bodyCount);
        }
        if (!tpTimeStep_FindContacts(step, step->startPoses)) {
            return false;
        }
        addPositionRows(step, settings);
        tpTimeStep_WarmStart(step, &memory->history, 0.5);
        int rowCount = step->rows.rowCount;
        double* linear = TP_SCRATCH(&step->system->arena, double, rowCount);
        if (linear == NULL) {
            return false;
        }
        for (int k = 0; k < rowCount; ++k) {
            linear[k] = step->rows.bias[k];
        }
        double miss = INFINITY;
        for (int k = 0; k < maxCorrections && miss > driftTolerance; ++k) {
            if (!solveOnce(step, memory, settings, report)) {
                return false;
            }
            if (rowCount == 0) {
                break;
            }
            tpArenaMark mark = tpArena_Mark(&step->system->arena);
            miss = correctBiases(step, settings);
            tpArena_Release(&step->system->arena, mark);
            if (miss < 0.0) {
                return false;
            }
        }
        if (rowCount > 0 && miss > closedGap) {
            // The corrections do not settle (contacts open and close among them): keep of them only
            // what holds bodies farther apart, which cannot overlap where linear rows do not.
            for (int k = 0; k < rowCount; ++k) {
                step->rows.bias[k] = fmin(step->rows.bias[k], linear[k]);
            }
            if (!solveOnce(step, memory, settings, report)) {
                return false;
            }
        }
        if (!tpTimeStep_Outran(step, NULL)) {
            break;
        }
    }
    return true;
}

// Rows on the velocities at the end, for what is closed there.
static bool addVelocityRows(tpTimeStep* step, const tpTally* first,
                            const tpVelocity* startVelocities, const tpMidpointSettings* settings) {
    bool bounces = false;
    int cursor = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        bool hasPushed = tpTally_Find(first, contact, &cursor) > 0.0;
        if (contact->gap > closedGap && !hasPushed) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, step->system, step->system->poses.data, contact,
                                      i, &step->laws[i], 0.0);
        int row = step->rows.firstRows[block];
        double approach =
            tpRows_RowVelocity(&step->rows, row, startVelocities, contact->bodyA, contact->bodyB);
        if (approach < -settings->threshold && step->laws[i].restitution > 0.0) {
            step->rows.bias[row] = settings->restitution * step->laws[i].restitution * approach;
            bounces = true;
        }
    }
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.5 * step->h };
    tpJoints_AddRows(&step->rows, step->system, step->system->poses.data, &treatment);
    return bounces;
}

// One step; leaves the system at its end.
static bool stepOnce(tpSystem* system, tpStepperMemory* memory, const tpMidpointSettings* settings,
                     double h, bool* bounces, tpStepReport* report) {
    tpTimeStep step;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    if (!tpTimeStep_Begin(&step, system, h, 0.5 * h, report)) {
        return false;
    }
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    if (before == NULL) {
        return false;
    }
    tpTally tally = { NULL, 0 };
    if (!solveDrift(&step, memory, settings, report) || !tpTimeStep_Tally(&step, &tally)) {
        return false;
    }
    tpRows_AccountEnergy(&step.rows, system, step.kicked, step.pushed, step.contacts, report);
    tpJoints_StoreReactions(system, &step.rows, h);

    // The second half: the system is at the end of the drift.
    report->externalWork += tpSystem_KickWithoutSprings(system, system->time + 0.5 * h, 0.5 * h);
    if (bytes > 0) {
        memcpy(before, system->velocities.data, bytes);
    }
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, step.margins, &contacts, &count) !=
            tp_success ||
        !tpTimeStep_UseContacts(&step, contacts, count)) {
        return false;
    }
    *bounces = addVelocityRows(&step, &tally, step.startVelocities, settings);
    step.freeVelocities = step.freeMoves = before;
    tpTimeStep_SetFreeVelocities(&step);
    tpTimeStep_WarmStart(&step, &memory->history, 0.5);
    if (!tpRows_Solve(&step.rows, system, memory->solver, &settings->solve, report)) {
        return false;
    }
    tpRows_ApplyImpulses(&step.rows, system->velocities.data);
    tpRows_AccountEnergy(&step.rows, system, before, system->velocities.data, step.contacts,
                         report);
    tpJoints_AddReactions(system, &step.rows, h);
    return tpTimeStep_Tally(&step, &tally) &&
           tpTimeStep_Report(&step, &tally, memory->solver, &memory->history, report);
}

// The state that a step changes, to try it again.
typedef struct tpAttempt {
    tpPose* poses;
    tpVelocity* velocities;
    tpContactMemory* history;
    int historyCount;
} tpAttempt;

static bool keepState(tpSystem* system, const tpStepperMemory* memory, tpAttempt* kept) {
    size_t bodies = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    kept->historyCount = memory->history.list.count;
    kept->history = TP_SCRATCH(&system->arena, tpContactMemory, kept->historyCount);
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(kept->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(kept->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    if (kept->historyCount > 0) {
        memcpy(kept->history, memory->history.list.data,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
    return true;
}

static void goBack(tpSystem* system, tpStepperMemory* memory, const tpAttempt* kept) {
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, kept->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, kept->velocities, sizeof(tpVelocity) * bodies);
    }
    // There was room for as many before.
    memory->history.list.count = kept->historyCount;
    if (kept->historyCount > 0) {
        memcpy(memory->history.list.data, kept->history,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
}

static double energyRise(const tpSystem* system, const tpStepReport* report) {
    return tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) -
           (report->kineticBefore + report->potentialBefore + report->externalWork);
}

// Undoes the step and starts its report afresh; what the attempt has cost stays in it.
static void retreat(tpSystem* system, tpStepperMemory* memory, const tpAttempt* kept,
                    const tpStepReport* start, tpStepReport* report) {
    int solves = report->solveCount, iterations = report->iterationCount;
    goBack(system, memory, kept);
    *report = *start;
    report->solveCount = solves;
    report->iterationCount = iterations;
    report->note = "the energy guard acted";
}

tpGuardVerdict tpMidpoint_GuardedStep(tpSystem* system, tpStepperMemory* memory,
                                      const tpOptions* options, double threshold, double h,
                                      tpStepReport* report) {
    tpMidpointSettings settings = { tpSolveSettings_FromOptions(options),
                                    options->values[tp_gammaOption], threshold, 1.0 };
    bool isGuarded = options->values[tp_energyGuardOption] != 0.0;
    tpStepReport start = *report;
    tpAttempt kept;
    if (!keepState(system, memory, &kept)) {
        return tp_guardOutOfMemory;
    }
    double allowed = guardSlack * (fabs(start.kineticBefore) + fabs(start.potentialBefore));
    static const double factors[] = { 1.0, 0.75, 0.5, 0.25, 0.0 };
    for (int trial = 0; trial < 5; ++trial) {
        bool bounces;
        settings.restitution = factors[trial];
        if (!stepOnce(system, memory, &settings, h, &bounces, report)) {
            return tp_guardOutOfMemory;
        }
        // Without contacts energy only swings about its mean, as with all symmetric integrators.
        bool isFine =
            !isGuarded || report->contactCount == 0 || energyRise(system, report) <= allowed;
        if (isFine) {
            return tp_guardAccepts;
        }
        retreat(system, memory, &kept, &start, report);
        if (!bounces) {
            break; // restitution is not the cause
        }
    }
    return tp_guardRejects;
}
