#include "steppers/bender_schmitt/touch.h"

#include <string.h>

#include "base/tasks.h"
#include "dynamics/energy_account.h"
#include "dynamics/joints.h"
#include "dynamics/posed_problem.h"
#include "dynamics/step_budget.h"
#include "dynamics/sweep_input.h"
#include "steppers/bender_schmitt/crowd.h"
#include "steppers/bender_schmitt/paper_rule.h"
#include "steppers/bender_schmitt/shock.h"
#include "sweeps/accelerate.h"

// A problem is small while the budget allows this many updates of each of its contacts.
enum { smallUpdates = 1500 };

// The same for a problem that the portfolio is asked to solve where sweeps are not enough.
enum { exactUpdates = 20 };

// The same for a problem that has all the work of an exact solve, the budget of the step bounds it:
// whatever touches, and if so few contacts do that a step of them takes at most .2 s.
enum { wholeUpdates = 300, openUpdates = 60, mostTouching = 1500 };

// Part of the work of an exact solve that is spent on a problem which is larger: where bodies
// rest, which it mostly solves, and where they flow, which it mostly does not.
static const double calmShare = 0.25, flowShare = 0.05;

// Bodies of a pile that stands are slower than this part of calm ones.
static const double standPart = 0.1;

// Sweeps after which a small problem that still moves is solved by the portfolio.
enum { fineSweeps = 60 };

// The same after a solve of the same step in which they were not enough.
enum { stalledSweeps = 6 };

// The same where there are joints alone, and many: those are equations, which a factorisation
// solves at once.
enum { jointSweeps = 4, manyJoints = 12 };

// Tolerances above this, in units of speed, are those of users who want it fast rather than exact.
static const double loosestSum = 1e-8;

// Velocities that are rounding have no scale of their own, in units of speed.
static const double smallestScale = 1e-6;

enum { contactsAChunk = 1024 };

static void makeLaws(void* context, int chunk, int worker) {
    (void)worker;
    tpTouch* touch = context;
    int end = (chunk + 1) * contactsAChunk;
    end = end < touch->contactCount ? end : touch->contactCount;
    for (int i = chunk * contactsAChunk; i < end; ++i) {
        tpContactLaw* law = &touch->laws[i];
        *law = tpMakeContactLaw(touch->system, &touch->contacts[i]);
        if (law->impactReduction != 0.0) {
            tpContactLaw_Meet(law,
                              tpContact_Approach(&touch->contacts[i], touch->poses, touch->before));
        }
    }
}

bool tpTouch_Create(tpTouch* touch, tpSystem* system, const tpPose* poses, const tpVelocity* before,
                    tpContact* contacts, int count, const tpBenderSettings* settings) {
    bool hasStalled = touch->hasStalled;
    memset(touch, 0, sizeof(*touch));
    touch->hasStalled = hasStalled;
    touch->system = system;
    touch->poses = poses;
    touch->before = before;
    touch->contacts = contacts;
    touch->contactCount = count;
    touch->isSmall = (double)count * smallUpdates <= settings->budget;
    bool areFew = tpStepBudget_Touching(system) <= mostTouching;
    touch->isWhole = (double)count * (areFew ? openUpdates : wholeUpdates) <= settings->budget;
    touch->isExact = touch->isWhole ||
                     (!settings->isWaiting && (double)count * exactUpdates <= settings->budget);
    touch->laws = TP_SCRATCH(&system->arena, tpContactLaw, count);
    if (touch->laws == NULL || tpSystem_IsStopped(system)) {
        return false;
    }
    tpTasks_Run(system->tasks, makeLaws, touch, (count + contactsAChunk - 1) / contactsAChunk);
    return tpSystem_CreateSweeper(system, poses, contacts, touch->laws, count, &system->arena,
                                  &touch->sweeper);
}

bool tpTouch_AddJoints(tpTouch* touch, const tpJointTreatment* treatment, tpStepHalf half,
                       const tpVelocity* velocities) {
    tpSystem* system = touch->system;
    int blocks, rowCount;
    tpJoints_Count(system, &blocks, &rowCount);
    bool hasRows = touch->isExact || system->problemHook != NULL;
    int contacts = hasRows ? touch->contactCount : 0;
    tpRows* rows = &touch->rows;
    if (!tpRows_Create(rows, system, blocks + contacts,
                       rowCount + TP_FRICTION_MAX_ROWS * contacts)) {
        return false;
    }
    tpRows_SetMasses(rows, system);
    tpRows_AllowSlack(rows, system, treatment->h);
    tpJoints_AddHalfRows(rows, system, touch->poses, treatment, half, NULL);
    touch->jointBlocks = rows->blockCount;
    touch->jointRows = rows->rowCount;
    // Kinematic bodies are no part of the sweep: their velocity is known.
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            rows->bias[row] += tpRows_KinematicVelocity(rows, b, row, velocities);
        }
    }
    return tpRows_AddToSweeper(rows, &system->arena, &touch->sweeper);
}

// Impulses in and out ----------------------------------------------------------------------------

void tpTouch_SetStart(tpTouch* touch, int contact, tpVec3 impulse, double torsion) {
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    const tpContactLaw* law = &touch->laws[contact];
    pack->impulse[0][lane] = fmax(pack->low[lane], tpDot(impulse, touch->contacts[contact].normal));
    pack->impulse[1][lane] = tpDot(impulse, law->tangents[0]) / law->ellipse[0];
    pack->impulse[2][lane] = tpDot(impulse, law->tangents[1]) / law->ellipse[1];
    if (!(law->mu > 0.0)) {
        pack->impulse[1][lane] = pack->impulse[2][lane] = 0.0;
    }
    if (pack->torsion >= 0) {
        touch->sweeper.torsions[pack->torsion].impulse[lane] = torsion / law->arm;
    }
}

tpVec3 tpTouch_Friction(const tpTouch* touch, int contact) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    const tpContactLaw* law = &touch->laws[contact];
    tpVec3 along = tpScale(law->ellipse[0] * pack->impulse[1][lane], law->tangents[0]);
    return tpMulAdd(along, law->ellipse[1] * pack->impulse[2][lane], law->tangents[1]);
}

double tpTouch_Normal(const tpTouch* touch, int contact) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    return pack->impulse[0][lane];
}

double tpTouch_Torsion(const tpTouch* touch, int contact) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    return pack->torsion >= 0
               ? touch->laws[contact].arm * touch->sweeper.torsions[pack->torsion].impulse[lane]
               : 0.0;
}

void tpTouch_StartJoints(tpTouch* touch, const double* kept, int count, double share) {
    if (count != touch->jointRows) {
        return; // rows have come or gone
    }
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        tpSweepJoint* joint = &touch->sweeper.joints[i];
        int first = touch->rows.firstRows[joint->block];
        int skipped = joint->kind == tp_boundedSweepJoint ? 1 : 0;
        for (int k = 0; k < joint->rowCount; ++k) {
            joint->impulse[k] = share * kept[first + skipped + k];
        }
    }
}

void tpTouch_StoreJoints(tpTouch* touch) {
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        const tpSweepJoint* joint = &touch->sweeper.joints[i];
        int first = touch->rows.firstRows[joint->block];
        if (joint->kind == tp_boundedSweepJoint) {
            touch->rows.impulse[first++] = joint->limit;
        }
        for (int k = 0; k < joint->rowCount; ++k) {
            touch->rows.impulse[first + k] = joint->impulse[k];
        }
    }
}

bool tpTouch_KeepJoints(const tpTouch* touch, const tpAllocator* allocator, double share,
                        double** kept, int* count, int* capacity) {
    if (!tpArray_Reserve(allocator, (void**)kept, capacity, touch->jointRows, sizeof(double))) {
        return false;
    }
    for (int k = 0; k < touch->jointRows; ++k) {
        (*kept)[k] = share * touch->rows.impulse[k];
    }
    *count = touch->jointRows;
    return true;
}

// The exact solve of a small problem --------------------------------------------------------------

static bool isOpen(const tpContactPack* pack, int lane) {
    return pack->bias[0][lane] >= TP_SWEEP_OPEN;
}

void tpTouch_AddContactRows(const tpTouch* touch, tpRows* rows, int contact,
                            const tpVelocity* start) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    const tpContact* at = &touch->contacts[contact];
    const tpContactLaw* law = &touch->laws[contact];
    int block = tpRows_AddContact(rows, touch->system, touch->poses, at, contact, law, 0.0);
    int first = rows->firstRows[block];
    double force = 0.0;
    for (int k = 0; k < rows->dimensions[block]; ++k) {
        double bias = 0.0, impulse = 0.0;
        if (k < 3) {
            bias = pack->bias[k][lane] / rows->scale[first + k];
            impulse = pack->impulse[k][lane];
        } else {
            const tpTorsionPack* torsion = &touch->sweeper.torsions[pack->torsion];
            bias = torsion->bias[lane] / rows->scale[first + k];
            impulse = torsion->impulse[lane];
        }
        force += k > 0 ? impulse * impulse : 0.0;
        rows->impulse[first + k] = impulse * rows->scale[first + k];
        rows->q[first + k] =
            bias + tpRows_RowVelocity(rows, first + k, start, at->bodyA, at->bodyB);
    }
    // What holds by static friction is solved in its cone.
    double limit = law->mu * pack->impulse[0][lane] * (1.0 + 1e-12);
    rows->mu[block] = force > limit * limit ? law->muStatic : law->mu;
}

void tpTouch_TakeContactRows(tpTouch* touch, const tpRows* rows, int block) {
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, rows->infos[block].index, &lane);
    for (int k = 0; k < rows->dimensions[block]; ++k) {
        int row = rows->firstRows[block] + k;
        double impulse = rows->impulse[row] / rows->scale[row];
        if (k < 3) {
            pack->impulse[k][lane] = impulse;
        } else {
            touch->sweeper.torsions[pack->torsion].impulse[lane] = impulse;
        }
    }
}

// Adds the contacts that take part to the rows of the joints, with what the sweeps have found.
static void addContactRows(tpTouch* touch, const tpVelocity* start) {
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        if (!isOpen(pack, lane)) {
            tpTouch_AddContactRows(touch, &touch->rows, i, start);
        }
    }
}

static void takeAnswers(tpTouch* touch) {
    const tpRows* rows = &touch->rows;
    for (int b = touch->jointBlocks; b < rows->blockCount; ++b) {
        tpTouch_TakeContactRows(touch, rows, b);
    }
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        tpSweepJoint* joint = &touch->sweeper.joints[i];
        int first = rows->firstRows[joint->block] + (joint->kind == tp_boundedSweepJoint ? 1 : 0);
        for (int k = 0; k < joint->rowCount; ++k) {
            joint->impulse[k] = rows->impulse[first + k];
        }
    }
}

static bool isCalm(const tpTouch* touch, const tpVelocity* velocities, double calm) {
    double sum = 0.0, count = 0.0;
    for (int i = 0; i < touch->system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(touch->system, i)) {
            sum += tpLengthSquared(velocities[i].linear);
            count += 1.0;
        }
    }
    return sum <= calm * calm * count;
}

// Joints and contacts as rows, with what the sweeps have found.
static void writeRows(tpTouch* touch, const tpVelocity* start) {
    tpRows* rows = &touch->rows;
    rows->blockCount = touch->jointBlocks;
    rows->rowCount = touch->jointRows;
    tpTouch_StoreJoints(touch);
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        const tpSweepJoint* joint = &touch->sweeper.joints[i];
        int row = rows->firstRows[joint->block];
        if (joint->kind == tp_boundedSweepJoint) {
            rows->q[row] = rows->bias[row];
            row += 1;
        }
        for (int k = 0; k < joint->rowCount; ++k, ++row) {
            rows->q[row] =
                joint->bias[k] + tpRows_RowVelocity(rows, row, start, joint->bodyA, joint->bodyB);
        }
    }
    addContactRows(touch, start);
}

// Leaves the joints' rows alone.
static void dropContactRows(tpTouch* touch) {
    touch->rows.blockCount = touch->jointBlocks;
    touch->rows.rowCount = touch->jointRows;
}

// Shows a problem that sweeps alone have worked on to whoever looks at problems.
static void showProblem(tpTouch* touch, const tpVelocity* start, double residual, bool isSolved) {
    if (touch->system->problemHook != NULL) {
        writeRows(touch, start);
        const double* impulse = tpPosedProblem_Begin(touch->system, &touch->rows);
        tpPosedProblem_End(touch->system, &touch->rows, impulse, residual, isSolved);
        dropContactRows(touch);
    }
}

// Whether bodies move so that light sweeps may begin: they do not keep the symmetry of what stands.
// Large problems that move slowly are piles that settle, smaller ones towers that lean.
static bool isFlowing(const tpTouch* touch, const tpVelocity* start,
                      const tpBenderSettings* settings) {
    bool isLarge = (double)touch->contactCount * wholeUpdates > settings->budget;
    double still = fmax((isLarge ? standPart : 1.0) * settings->calm, settings->flow);
    return touch->isWhole && !touch->isSmall && !isCalm(touch, start, still);
}

static bool solveExactly(tpTouch* touch, const tpBenderSettings* options, tpSolverMemory* memory,
                         const tpVelocity* start, tpVelocity* velocities, tpStepReport* report) {
    tpRows* rows = &touch->rows;
    writeRows(touch, start);
    double share = touch->isWhole                        ? 1.0
                   : isCalm(touch, start, options->calm) ? calmShare
                                                         : flowShare;
    tpSolveSettings settings = { .cone = tp_circularCone,
                                 .directionCount = 8,
                                 .tolerance = options->tolerance,
                                 .share = share,
                                 .isFlowing = isFlowing(touch, start, options),
                                 .isEnd = touch->isEnd };
    if (!tpRows_Solve(rows, touch->system, memory, &settings, report)) {
        return false;
    }
    takeAnswers(touch);
    size_t bytes = sizeof(tpVelocity) * (size_t)touch->system->bodyCount;
    if (bytes > 0) {
        memcpy(velocities, start, bytes);
    }
    tpRows_ApplyImpulses(rows, velocities);
    dropContactRows(touch);
    return true;
}

// Sweeps ------------------------------------------------------------------------------------------

static void reportSweeps(tpTouch* touch, const tpVelocity* start, const tpSweepVerdict* verdict,
                         double size, bool isSolved, tpStepReport* report) {
    double residual = verdict->velocity / size;
    report->failureCount += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, residual);
    showProblem(touch, start, residual, isSolved);
    report->coneViolation = fmax(report->coneViolation, verdict->cone);
    report->dissipationViolation = fmax(report->dissipationViolation, verdict->dissipation);
}

// A crowd under a certificate that the user has chosen.
static bool solveCrowd(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                       const tpVelocity* start, double goal, double size, tpStepReport* report) {
    tpSweepVerdict verdict;
    if (!tpCrowd_Solve(touch, settings, memory, start, goal, size, report, &verdict)) {
        return false;
    }
    report->solveCount += 1;
    bool isSolved = verdict.velocity <= fmax(goal, touch->system->certificate * size);
    reportSweeps(touch, start, &verdict, size, isSolved, report);
    return true;
}

// Work of a sweep, and of what comes with it. Contacts with torsion are swept one by one.
static double sweepWork(const tpTouch* touch) {
    double torsions = (double)tp_packWidth * touch->sweeper.torsionCount;
    return 30.0 * touch->contactCount + 1500.0 * fmin(torsions, touch->contactCount) +
           60.0 * touch->sweeper.jointCount + 20.0 * touch->system->bodyCount;
}

// Whether tolerances are meant for each contact.
static bool isLooseTolerance(const tpTouch* touch, const tpBenderSettings* settings) {
    return settings->tolerance > loosestSum * touch->system->units.speed;
}

// Whether the problem is swept until it meets a certificate that the user has chosen.
static bool isCertified(const tpTouch* touch, const tpBenderSettings* settings) {
    return touch->system->certificate > TP_USUAL_CERTIFICATE && !touch->isSmall &&
           !isLooseTolerance(touch, settings) && !settings->isPaperRule;
}

bool tpTouch_IsCertifiedCrowd(const tpTouch* touch, const tpBenderSettings* settings) {
    return touch->system->joints.count == 0 && isCertified(touch, settings);
}

bool tpTouch_Solve(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                   const tpVelocity* start, tpVelocity* velocities, int sweepLimit,
                   tpStepReport* report) {
    tpSweeper* sweeper = &touch->sweeper;
    size_t bytes = sizeof(tpVelocity) * (size_t)touch->system->bodyCount;
    if (bytes > 0) {
        memcpy(velocities, start, bytes);
    }
    sweeper->velocities = velocities;
    if (touch->contactCount == 0 && sweeper->jointCount == 0) {
        return true;
    }
    double speedUnit = touch->system->units.speed;
    double size = fmax(tpSweeper_FreeSpeed(sweeper), smallestScale * speedUnit);
    // A loose tolerance is meant for each contact; a tight one for all of them, and relative too.
    bool isLoose = isLooseTolerance(touch, settings);
    double certificate = touch->system->certificate;
    double goal =
        isLoose ? settings->tolerance : tpSolveGoal(settings->tolerance, certificate, size);
    if (isCertified(touch, settings)) {
        return solveCrowd(touch, settings, memory, start, goal, size, report);
    }
    bool isChain = touch->contactCount == 0 && sweeper->jointCount > manyJoints;
    bool hasStalled = touch->isSmall && touch->hasStalled;
    int most = isChain ? jointSweeps : hasStalled ? stalledSweeps : fineSweeps;
    int limit = touch->isExact && most < sweepLimit ? most : sweepLimit;
    unsigned char* marks = NULL;
    if (settings->isPaperRule) {
        marks = TP_SCRATCH_ZEROED(&touch->system->arena, unsigned char, touch->contactCount);
        if (marks == NULL) {
            return false;
        }
        limit = sweepLimit;
    }
    tpSweeper_WarmStart(sweeper);
    tpAccelerator accelerator;
    if (!tpAccelerator_Create(&accelerator, sweeper, &touch->system->arena)) {
        return false;
    }
    bool isAccelerated = marks == NULL && sweeper->torsionCount == 0;
    tpSweepVerdict verdict = { INFINITY, 0.0, 0.0, 0.0 };
    bool isSolved = false;
    int sweeps = 0;
    for (int k = 0; k < limit && !isSolved && !tpSystem_IsStopped(touch->system); ++k) {
        sweeps += 1;
        bool isShaken = settings->isShocked && k == limit / 4;
        if (isShaken) {
            if (!tpShock_Propagate(sweeper, &touch->system->arena)) {
                return false;
            }
            memcpy(velocities, start, bytes);
            tpSweeper_WarmStart(sweeper);
        }
        if (isAccelerated && (k == 0 || isShaken)) {
            tpAccelerator_Begin(&accelerator, sweeper);
        }
        double change =
            marks != NULL ? tpSweeper_SweepPaperRule(sweeper, marks) : tpSweeper_Sweep(sweeper);
        report->iterationCount += 1;
        if (change <= goal) {
            verdict = tpSweeper_Judge(sweeper);
            isSolved = (isLoose ? verdict.worst : verdict.velocity) <= goal;
            if (marks != NULL && change == 0.0) {
                break; // the paper's rule has come to rest, wherever that is
            }
        }
        if (isAccelerated && !isSolved && k + 1 < limit) {
            tpAccelerator_End(&accelerator, sweeper);
        }
    }
    report->solveCount += 1;
    tpStepBudget_Spend(touch->system, sweepWork(touch) * sweeps);
    if (!isSolved && touch->isExact && marks == NULL) {
        int failures = report->failureCount;
        touch->hasStalled = true;
        bool isDone = solveExactly(touch, settings, memory, start, velocities, report);
        touch->isLost = touch->isLost || report->failureCount > failures;
        return isDone;
    }
    if (!isSolved) {
        verdict = tpSweeper_Judge(sweeper);
        isSolved = isLoose ? verdict.worst <= goal : verdict.velocity <= certificate * size;
    }
    reportSweeps(touch, start, &verdict, size, isSolved, report);
    return true;
}

// Energy ------------------------------------------------------------------------------------------

// The work of all impulses on the given velocities: of normal ones, and of friction.
typedef struct tpContactWork {
    double normal, friction;
} tpContactWork;

static tpContactWork workOn(tpTouch* touch, tpVelocity* velocities) {
    tpSweeper* sweeper = &touch->sweeper;
    tpVelocity* kept = sweeper->velocities;
    tpContactWork work = { 0.0, 0.0 };
    sweeper->velocities = velocities;
    tpSweeper_FindSpeeds(sweeper);
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        const tpTorsionPack* torsion =
            pack->torsion >= 0 ? &sweeper->torsions[pack->torsion] : NULL;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] < 0 || isOpen(pack, lane)) {
                continue;
            }
            double turned = torsion != NULL ? torsion->impulse[lane] * torsion->speed[lane] : 0.0;
            work.normal += pack->impulse[0][lane] * pack->speed[0][lane];
            work.friction += pack->impulse[1][lane] * pack->speed[1][lane] +
                             pack->impulse[2][lane] * pack->speed[2][lane] + turned;
        }
    }
    sweeper->velocities = kept;
    return work;
}

bool tpTouch_AccountEnergy(tpTouch* touch, const tpRowVelocities* velocities,
                           tpStepReport* report) {
    tpSystem* system = touch->system;
    const tpVelocity *before = velocities->before, *after = velocities->after;
    tpVelocity* mean = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    tpVelocity* told = TP_SCRATCH_ZEROED(&system->arena, tpVelocity, system->bodyCount);
    if (mean == NULL || told == NULL) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        mean[i] = after[i];
        mean[i].linear = tpScale(0.5, tpAdd(before[i].linear, after[i].linear));
        mean[i].angular = tpScale(0.5, tpAdd(before[i].angular, after[i].angular));
        if (!tpSystem_IsDynamic(system, i)) {
            told[i] = after[i];
        }
    }
    tpContactWork work = workOn(touch, mean);
    tpContactWork driven = workOn(touch, told); // what kinematic bodies take out
    report->impactLoss -= work.normal;
    report->frictionLoss -= work.friction;
    report->externalWork -= driven.normal + driven.friction;
    tpTouch_StoreJoints(touch);
    tpRows_AccountEnergy(&touch->rows, velocities, report);
    return true;
}

bool tpTouch_AccountKick(tpTouch* touch, const tpVelocity* start, const tpVelocity* kicked,
                         double share, tpStepReport* report) {
    tpSystem* system = touch->system;
    tpVelocity* kicks = TP_SCRATCH_ZEROED(&system->arena, tpVelocity, system->bodyCount);
    if (kicks == NULL) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            kicks[i].linear = tpSub(kicked[i].linear, start[i].linear);
            kicks[i].angular = tpSub(kicked[i].angular, start[i].angular);
        }
    }
    tpContactWork work = workOn(touch, kicks);
    report->impactLoss += share * work.normal;
    report->frictionLoss += share * work.friction;
    tpRows_AccountKick(&touch->rows, start, kicked, share, report);
    return true;
}
