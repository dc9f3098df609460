#include "steppers/chakraborty_trinkle/impacts.h"

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/decompression.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/options.h"

// Rows of a velocity problem that is solved to rounding.
enum { finestRows = 60 };

// Velocities that are rounding, in units of speed.
static const double restSpeed = 1e-13;

// Contacts nearer than this where a step ends are closed, in units of length.
static const double closedGap = 1e-9;

// Without restitution impacts are located only if there are so few contacts.
enum { fewContacts = 12 };

// The shortest parts in which impacts are located, in halvings of a step, for up to so many bodies:
// many hit each other all the time, and all of them take the short parts. In flight they cost
// little: crowds that have few contacts per body are followed as far as fewer bodies. Where they
// lie on each other each part is as hard as the step: a wall of bricks that is struck would have 89
// instead of 57 uncertified steps of 120.
// Joints alone, whose velocities do not agree at first, have fewer: in shorter parts what rounding
// leaves of their errors is a velocity to notice.
enum { deepestLocating = 7, deepestJoined = 5, deepestInFlight = 5, deepestOfMany = 2 };
static const struct {
    int bodyCount, halvings;
} deepest[] = { { 6, deepestLocating }, { 16, 5 }, { 40, 3 } };

// From so many bodies on a part is halved before it is solved if it is plain that it will be.
enum { foreseeingBodies = 16 };

// Approaches that are worth locating: parts of the largest speed, with restitution and without, and
// without of the threshold of bounces.
static const double leastPart = 1e-6, hardPart = 0.02, hardThreshold = 0.125;

// Parts of the energy that damping may take in a step that is no impact.
static const double dampedPart = 1e-3;

// Energy may rise by this part of it in an impact: the tolerance of the solves. Restitution is
// lowered to this part of it where it would rise by more, and nothing is said of a loss below
// 2 percent.
static const double guardSlack = 1e-10, guardPart = 1e-6, plainFactor = 0.98;
enum { maxGuardTrials = 24 };

double tpImpacts_Energy(const tpSystem* system, const tpStepReport* report) {
    return tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) - report->externalWork;
}

// Slower approaches do not bounce in this part of the step.
static double thresholdOf(const tpImplicitStep* step) {
    const tpImplicitSettings* settings = &step->settings;
    double part = step->base.h / settings->wholeStep;
    return settings->isScaled ? settings->threshold * part : settings->threshold;
}

// v . M v of a body, with its inertia as it is at the start.
static double massSquare(const tpTimeStep* base, int slot, const tpVelocity* v) {
    const tpBody* body = &base->system->bodies.data[slot];
    tpVec3 momentum =
        tpInertia_Momentum(&body->form->inertia, base->startPoses[slot].rotation, v->angular);
    return body->mass * tpLengthSquared(v->linear) + tpDot(v->angular, momentum);
}

static double largestSpeed(const tpTimeStep* base) {
    double speed = 0.0;
    for (int i = 0; i < base->bodyCount; ++i) {
        if (tpSystem_IsDynamic(base->system, i)) {
            const tpVelocity* velocity = &base->startVelocities[i];
            speed = fmax(speed, tpVelocity_LargestSpeed(base->system, i, velocity));
        }
    }
    return speed;
}

static bool isShorter(const tpImplicitStep* step, int halvings) {
    return step->base.h < 1.5 * ldexp(step->settings.wholeStep, -halvings);
}

static bool areInFlight(const tpImplicitStep* step) {
    int carrying = 0;
    for (int i = 0; i < step->base.contactCount; ++i) {
        carrying += step->geometry.carried[i];
    }
    return carrying <= step->base.bodyCount;
}

static bool isShortest(const tpImplicitStep* step) {
    int halvings = deepestOfMany;
    for (int i = (int)(sizeof(deepest) / sizeof(deepest[0])) - 1; i >= 0; --i) {
        halvings = step->base.bodyCount <= deepest[i].bodyCount ? deepest[i].halvings : halvings;
    }
    return isShorter(step, halvings);
}

static bool isShortestOfBounces(const tpImplicitStep* step) {
    return isShortest(step) && (isShorter(step, deepestInFlight) || !areInFlight(step));
}

// Whether an island that was taken with theta = 1 for a velocity that the midpoint rule would
// reflect loses a part of its energy to that alone: (theta - 1/2) |z - z0|^2, by mass.
static bool losesToDamping(const tpImplicitStep* step, int island) {
    const tpTimeStep* base = &step->base;
    const tpIslandProblem* problem = &step->problems[island];
    double loss = 0.0, energy = 0.0;
    if (!tpIsland_HasOneSided(step, problem) && isShorter(step, deepestJoined)) {
        return false;
    }
    for (int i = 0; step->isTurned[island] && i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        tpVelocity change = base->pushed[slot];
        change.linear = tpSub(change.linear, base->startVelocities[slot].linear);
        change.angular = tpSub(change.angular, base->startVelocities[slot].angular);
        loss += (problem->theta - 0.5) * massSquare(base, slot, &change);
        energy += 0.5 * massSquare(base, slot, &base->startVelocities[slot]);
    }
    return loss > dampedPart * energy;
}

// Approaches that are worth a shorter part, m/s: of contacts that bounce, and of others.
typedef struct tpWorth {
    double bouncing, hard;
} tpWorth;

static tpWorth worthOf(const tpImplicitStep* step) {
    double speed = largestSpeed(&step->base), threshold = step->settings.threshold;
    double lowest = step->settings.isScaled ? ldexp(threshold, -deepestLocating) : threshold;
    return (tpWorth){ fmax(lowest, leastPart * speed),
                      fmax(hardThreshold * threshold, hardPart * speed) };
}

static bool bouncesAt(const tpImplicitStep* step, int contact) {
    return step->base.laws[contact].restitution > 0.0 &&
           step->settings.impactLaw != tp_inelasticImpact;
}

static double approachOf(const tpImplicitStep* step, int contact) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    return -tpRows_RowVelocity(rows, rows->firstRows[contact], base->startVelocities,
                               rows->givenA[contact], rows->givenB[contact]);
}

bool tpImpacts_AreWorthLocating(const tpImplicitStep* step) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    if (isShortestOfBounces(step) || step->settings.theta >= 1.0) {
        return false;
    }
    bool isLong = !isShortest(step);
    bool isEasy = isLong && base->contactCount <= fewContacts && !tpStepBudget_IsHard(base->system);
    for (int k = 0; isEasy && k < step->islands.count; ++k) {
        if (losesToDamping(step, k)) {
            return true;
        }
    }
    tpWorth worth = worthOf(step);
    for (int i = 0; i < base->contactCount; ++i) {
        if (!step->isImpact[step->islands.ofBlock[i]] || step->geometry.carried[i] ||
            !(rows->impulse[rows->firstRows[i]] > 0.0)) {
            continue;
        }
        double approach = approachOf(step, i);
        if (bouncesAt(step, i)
                ? approach > worth.bouncing
                : isLong && approach > worth.hard && base->contactCount <= fewContacts) {
            return true;
        }
    }
    return false;
}

bool tpImpacts_AreForeseen(const tpImplicitStep* step) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    if (base->bodyCount <= foreseeingBodies || !areInFlight(step) || isShortestOfBounces(step) ||
        step->settings.theta >= 1.0) {
        return false;
    }
    tpWorth worth = worthOf(step);
    for (int i = 0; i < base->contactCount; ++i) {
        if (bouncesAt(step, i) && !step->geometry.carried[i] && rows->q[rows->firstRows[i]] < 0.0 &&
            approachOf(step, i) > worth.bouncing) {
            return true;
        }
    }
    return false;
}

// An impact in the making. If bodies bounce, impulses of contacts are those of the whole part of
// the step: what its position condition found is taken back first, and the law of impact says what
// acts in its place. Without bounces it only adds to them, which takes energy always.
typedef struct tpImpactEnd {
    tpImplicitStep* step;
    tpStepperMemory* memory;
    tpVelocity* reached;  // velocities where the part ends
    tpVelocity* before;   // the same without the impulses of the contacts that are closed
    double* carried;      // these impulses, one per row
    double* restitutions; // of blocks: that of contacts which are approached fast enough, else 0
    bool mayBounce;
} tpImpactEnd;

// Small problems to the last digit, where that can be had; others as exactly as is asked.
static bool solveVelocities(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report) {
    tpRows* rows = &step->base.rows;
    tpSystem* system = step->base.system;
    double asked = step->settings.tolerance, largest = 0.0, unit = system->units.speed;
    for (int k = 0; k < rows->rowCount; ++k) {
        largest = fmax(largest, fabs(rows->scale[k] * rows->q[k]));
    }
    tpSolveSettings settings = { .cone = tp_circularCone,
                                 .directionCount = step->settings.directionCount,
                                 .tolerance = fmin(asked, fmax(1e-12 * largest, 1e-16 * unit)) };
    if (rows->rowCount <= finestRows && !tpStepBudget_IsSpent(system)) {
        tpStepReport trial = *report;
        if (!tpRows_Solve(rows, system, memory->solver, &settings, &trial)) {
            return false;
        }
        if (trial.failureCount == report->failureCount) {
            *report = trial;
            return true;
        }
    }
    settings.tolerance = asked;
    return tpRows_Solve(rows, system, memory->solver, &settings, report);
}

// What a contact carried in the part, apart from the frame of its friction.
typedef struct tpContactShare {
    bool isClosed;
    double normal, torsion; // N s, N m s
    tpVec3 friction;        // N s
} tpContactShare;

static tpContactShare findShare(const tpImplicitStep* step, int contact) {
    const tpTimeStep* base = &step->base;
    const double* impulse = base->rows.impulse + base->rows.firstRows[contact];
    tpFrictionRows friction = tpRows_FrictionRows(&base->rows, contact);
    tpContactShare carried = { .normal = impulse[0] };
    carried.isClosed =
        step->isImpact[step->islands.ofBlock[contact]] &&
        (impulse[0] > 0.0 || base->contacts[contact].gap <= closedGap * base->system->units.length);
    for (int k = 1; k <= friction.slidingCount; ++k) {
        carried.friction =
            tpMulAdd(carried.friction, impulse[k], base->laws[contact].tangents[k - 1]);
    }
    carried.torsion = friction.torsion > 0 ? impulse[friction.torsion] : 0.0;
    return carried;
}

static void addContact(tpImplicitStep* step, const tpContactShare* carried, int contact) {
    tpTimeStep* base = &step->base;
    tpRows* rows = &base->rows;
    const tpContactLaw* law = &base->laws[contact];
    int block = tpRows_AddContact(rows, base->system, base->system->poses.data,
                                  &base->contacts[contact], contact, law, 0.0);
    double* impulse = rows->impulse + rows->firstRows[block];
    tpFrictionRows friction = tpRows_FrictionRows(rows, block);
    impulse[0] = carried->normal;
    for (int k = 1; k <= friction.slidingCount; ++k) {
        impulse[k] = tpDot(carried->friction, law->tangents[k - 1]);
    }
    if (friction.torsion > 0) {
        impulse[friction.torsion] = carried->torsion;
    }
}

// Joints and couplings of islands that end their part with an impact.
typedef struct tpEndingJoints {
    bool *joints, *couplings;
} tpEndingJoints;

// False if memory ran out.
static bool findEndingJoints(const tpImplicitStep* step, const bool* isEnding,
                             tpEndingJoints* ending) {
    const tpSystem* system = step->base.system;
    const tpRows* rows = &step->base.rows;
    ending->joints = TP_SCRATCH_ZEROED(&step->base.system->arena, bool, system->joints.count);
    ending->couplings = TP_SCRATCH_ZEROED(&step->base.system->arena, bool, system->couplings.count);
    if (system->arena.failed) {
        return false;
    }
    for (int b = step->geometry.contactBlocks; b < rows->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[b];
        bool* list = info->isCoupling ? ending->couplings : ending->joints;
        list[info->index] = list[info->index] || isEnding[step->islands.ofBlock[b]];
    }
    return true;
}

static void addJoints(tpImplicitStep* step, const tpEndingJoints* ending) {
    tpSystem* system = step->base.system;
    const tpPose* poses = system->poses.data;
    tpJointTreatment treatment = { step->base.h, 0.0, NULL, 0.0, 0.0, false };
    for (int i = 0; i < system->joints.count; ++i) {
        if (ending->joints[i]) {
            tpJoint_AddRows(&step->base.rows, system, i, poses, &treatment);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        if (ending->couplings[i]) {
            tpCoupling_AddRows(&step->base.rows, system, i, poses, &treatment, tp_noLaws);
        }
    }
}

// Rows of the contacts that are closed where the part ends, in islands that were hit, and of the
// joints of islands that end their part so, with the impulses that contacts carried. False if
// memory ran out.
static bool addRows(tpImplicitStep* step, const bool* isEnding) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    int count = base->contactCount;
    tpEndingJoints ending;
    tpContactShare* carried = TP_SCRATCH(&system->arena, tpContactShare, count);
    if (carried == NULL || !findEndingJoints(step, isEnding, &ending)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        carried[i] = findShare(step, i);
    }
    if (!tpTimeStep_UseContacts(base, base->contacts, count)) {
        return false;
    }
    // Decompression has a second block per contact.
    int jointBlocks, jointRows;
    tpJoints_Count(system, &jointBlocks, &jointRows);
    if (step->settings.impactLaw == tp_poissonImpact &&
        !tpRows_Create(&base->rows, system, 2 * count + jointBlocks,
                       2 * TP_FRICTION_MAX_ROWS * count + jointRows)) {
        return false;
    }
    tpRows_SetMasses(&base->rows, system);
    for (int i = 0; i < count; ++i) {
        if (carried[i].isClosed) {
            addContact(step, &carried[i], i);
        }
    }
    addJoints(step, &ending);
    return true;
}

static double rowVelocity(const tpRows* rows, int block, int row, const tpVelocity* velocities) {
    return tpRows_RowVelocity(rows, row, velocities, rows->givenA[block], rows->givenB[block]);
}

// False if memory ran out.
static bool beginEnd(tpImpactEnd* impact, const bool* isEnding) {
    tpTimeStep* base = &impact->step->base;
    tpSystem* system = base->system;
    size_t bytes = sizeof(tpVelocity) * (size_t)base->bodyCount;
    impact->reached = tpArena_Get(&system->arena, bytes);
    impact->before = tpArena_Get(&system->arena, bytes);
    if (system->arena.failed || !addRows(impact->step, isEnding)) {
        return false;
    }
    tpRows* rows = &base->rows;
    impact->carried = TP_SCRATCH(&system->arena, double, rows->rowCount);
    impact->restitutions = TP_SCRATCH_ZEROED(&system->arena, double, rows->blockCount);
    if (system->arena.failed) {
        return false;
    }
    memcpy(impact->reached, system->velocities.data, bytes);
    memcpy(impact->before, system->velocities.data, bytes);
    for (int k = 0; k < rows->rowCount; ++k) {
        impact->carried[k] = rows->impulse[k];
        rows->impulse[k] = -rows->impulse[k];
    }
    tpRows_ApplyImpulses(rows, impact->before);
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource ||
            impact->step->settings.impactLaw == tp_inelasticImpact) {
            continue;
        }
        double e = base->laws[rows->infos[b].index].restitution;
        double approach = -rowVelocity(rows, b, rows->firstRows[b], impact->before);
        if (e > 0.0 && approach > thresholdOf(impact->step)) {
            impact->restitutions[b] = e;
            impact->mayBounce = true;
        }
    }
    return true;
}

// Whether nothing moves along any row where the part ends: what contacts carried is the answer.
static bool isAtRest(const tpImpactEnd* impact) {
    const tpRows* rows = &impact->step->base.rows;
    double least = restSpeed * impact->step->base.system->units.speed;
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double speed = rows->bias[row] + rowVelocity(rows, b, row, impact->reached);
            if (rows->scale[row] * fabs(speed) >= least) {
                return false;
            }
        }
    }
    return !impact->mayBounce;
}

// Solves the rows from velocities that are not the system's, and adds the impulses to the system's.
static bool push(tpImpactEnd* impact, tpVelocity* from, tpStepReport* report) {
    tpTimeStep* base = &impact->step->base;
    base->freeVelocities = base->freeMeanVelocities = from;
    tpTimeStep_SetFreeVelocities(base);
    if (!solveVelocities(impact->step, impact->memory, report)) {
        return false;
    }
    memcpy(base->system->velocities.data, from, sizeof(tpVelocity) * (size_t)base->bodyCount);
    tpRows_ApplyImpulses(&base->rows, base->system->velocities.data);
    return true;
}

// Poisson's law: gives back a part of the impulses with which compression has ended.
static bool decompress(tpImpactEnd* impact, double factor, tpStepReport* report) {
    tpTimeStep* base = &impact->step->base;
    tpRows* rows = &base->rows;
    tpArena* arena = &base->system->arena;
    int blockCount = rows->blockCount, rowCount = rows->rowCount;
    double* loads = TP_SCRATCH(arena, double, blockCount);
    double* compression = TP_SCRATCH(arena, double, rowCount);
    tpVelocity* pushed = TP_SCRATCH(arena, tpVelocity, base->bodyCount);
    if (arena->failed) {
        return false;
    }
    memcpy(compression, rows->impulse, sizeof(double) * (size_t)rowCount);
    memcpy(pushed, base->system->velocities.data, sizeof(tpVelocity) * (size_t)base->bodyCount);
    for (int b = 0; b < blockCount; ++b) {
        loads[b] = factor * impact->restitutions[b] * rows->impulse[rows->firstRows[b]];
    }
    // Rotors of joints have the speed that compression gave them.
    for (int k = 0; k < rowCount; ++k) {
        rows->bias[k] += rows->compliance[k] * compression[k];
    }
    tpDecompression decompression = tpDecompression_Begin(rows, base->system, loads, pushed);
    if (!push(impact, pushed, report)) {
        return false;
    }
    tpDecompression_End(&decompression, rows);
    for (int k = 0; k < rowCount; ++k) {
        rows->bias[k] -= rows->compliance[k] * compression[k];
        rows->impulse[k] += compression[k];
    }
    return true;
}

// Ends the impact with this part of the restitution. False if memory ran out.
static bool solveWith(tpImpactEnd* impact, double factor, tpStepReport* report) {
    tpRows* rows = &impact->step->base.rows;
    bool isPoisson = impact->step->settings.impactLaw == tp_poissonImpact;
    for (int b = 0; b < rows->blockCount && !isPoisson; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            int row = rows->firstRows[b];
            rows->bias[row] =
                factor * impact->restitutions[b] * rowVelocity(rows, b, row, impact->before);
        }
    }
    memcpy(rows->impulse, impact->carried, sizeof(double) * (size_t)rows->rowCount);
    if (!push(impact, impact->before, report)) {
        return false;
    }
    return !isPoisson || !impact->mayBounce || factor == 0.0 || decompress(impact, factor, report);
}

// Leaves the impulses of the part as they are.
static void keepCarried(tpImpactEnd* impact) {
    const tpTimeStep* base = &impact->step->base;
    memset(impact->carried, 0, sizeof(double) * (size_t)base->rows.rowCount);
    memcpy(impact->before, impact->reached, sizeof(tpVelocity) * (size_t)base->bodyCount);
}

static bool gainsEnergy(const tpSystem* system, double allowed, const tpStepReport* report) {
    return tpImpacts_Energy(system, report) > allowed + guardSlack * tpSystem_KineticEnergy(system);
}

// The largest part of the restitution with which energy does not exceed `allowed`, by halving. A
// hit that happens before the end of its part gains what gravity does until then: that is not worth
// a word.
static bool solveGuarded(tpImpactEnd* impact, double allowed, tpStepReport* report) {
    const tpSystem* system = impact->step->base.system;
    double low = 0.0, high = 1.0, factor = impact->mayBounce ? 1.0 : 0.0;
    tpStepReport start = *report;
    for (int trial = 0; trial < maxGuardTrials; ++trial) {
        start.solveCount = report->solveCount;
        start.iterationCount = report->iterationCount;
        *report = start;
        if (!solveWith(impact, factor, report)) {
            return false;
        }
        bool gains = gainsEnergy(system, allowed, report);
        if (factor == 0.0 || tpStepBudget_IsSpent(system) ||
            (!gains && (factor == 1.0 || high - low < guardPart))) {
            break;
        }
        low = gains ? low : factor;
        high = gains ? factor : high;
        factor = trial + 2 < maxGuardTrials && high - low >= guardPart ? 0.5 * (low + high) : low;
    }
    if (impact->mayBounce && factor < plainFactor) {
        tpStepReport_AddNote(report, "the energy guard acted");
    }
    if (factor > 0.0 || !impact->mayBounce || !gainsEnergy(system, allowed, report)) {
        return true;
    }
    keepCarried(impact);
    return solveWith(impact, 0.0, report);
}

// Marks the islands whose velocities are made admissible where the part ends: those that were hit,
// and machines without contacts that are driven or damped. Joints hold in the mean of a midpoint
// step; a drive that sets in leaves velocities at its end which open the joints, change sign from
// step to step and never decay. Without drives they are small and part of the energy that is kept:
// what happens in one island is no reason to take them from another.
static bool markEnding(const tpImplicitStep* step, bool* isEnding) {
    const tpRows* rows = &step->base.rows;
    bool isAny = false;
    for (int k = 0; k < step->islands.count; ++k) {
        bool isDriven = false, touches = false;
        for (int i = step->islands.starts[k]; i < step->islands.starts[k + 1]; ++i) {
            const tpBlockInfo* info = &rows->infos[step->islands.blocks[i]];
            touches = touches || info->source == tp_contactSource;
            isDriven = isDriven || (info->source != tp_contactSource &&
                                    (info->role == tp_servoRole || info->role == tp_motorRole ||
                                     info->role == tp_damperRole || info->role == tp_frictionRole));
        }
        isEnding[k] = step->isImpact[k] || (isDriven && !touches);
        isAny = isAny || isEnding[k];
    }
    return isAny;
}

bool tpImpacts_End(tpImplicitStep* step, tpStepperMemory* memory, tpTally* tally, double energy,
                   tpStepReport* report) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    bool* isEnding = TP_SCRATCH(&system->arena, bool, step->islands.count);
    if (isEnding == NULL) {
        return false;
    }
    if (!markEnding(step, isEnding)) {
        return true;
    }
    tpImpactEnd impact = { .step = step, .memory = memory };
    if (!beginEnd(&impact, isEnding)) {
        return false;
    }
    if (!impact.mayBounce) {
        keepCarried(&impact);
    }
    if (isAtRest(&impact)) {
        return true;
    }
    if (!solveGuarded(&impact, energy, report)) {
        return false;
    }
    // What the law of impact adds to what the part has been given already.
    for (int k = 0; k < base->rows.rowCount; ++k) {
        base->rows.impulse[k] -= impact.carried[k];
    }
    tpRowVelocities velocities = { impact.reached, system->velocities.data, NULL, NULL };
    tpRows_AccountEnergy(&base->rows, &velocities, report);
    tpJoints_AddReactions(system, &base->rows, step->settings.wholeStep);
    return tpTimeStep_Tally(base, tally);
}
