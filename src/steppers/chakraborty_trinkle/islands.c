#include "steppers/chakraborty_trinkle/islands.h"

#include <float.h>
#include <string.h>

#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/chakraborty_trinkle/frozen.h"
#include "steppers/chakraborty_trinkle/full_form.h"
#include "steppers/chakraborty_trinkle/modes.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"

enum { iterationLimit = 60, modeChanges = 6, frozenLimit = 25, lastFrozen = 1 };

// Rows up to which Lemke's method is a good place to start from.
enum { largestLemke = 150 };

// Newton's method comes first in islands of up to so many bodies, and of up to fewer if contacts
// are redundant: some contact then changes its state at every iteration, and the solvers of the
// linear problem are made for that.
enum { largestNewton = 60, largestRedundant = 3 };

// Bodies up to which nothing less than the tolerance asked for is enough.
enum { largestExact = 4 };

// Preparing -------------------------------------------------------------------------------------

static bool isAlone(const tpTimeStep* step, int i) {
    const tpContact* c = &step->contacts[i];
    for (int k = i - 1; k <= i + 1; k += 2) {
        if (k >= 0 && k < step->contactCount && step->contacts[k].shapeA == c->shapeA &&
            step->contacts[k].shapeB == c->shapeB) {
            return false;
        }
    }
    return true;
}

static bool reserve(tpImplicitStep* step) {
    tpTimeStep* base = &step->base;
    tpStepGeometry* geometry = &step->geometry;
    tpArena* arena = &base->system->arena;
    int bodies = base->bodyCount, contacts = base->contactCount;
    memset(geometry, 0, sizeof(*geometry));
    geometry->step = base;
    geometry->gamma = step->settings.gamma;
    geometry->travels = TP_SCRATCH(arena, tpTravel, bodies);
    geometry->middlePoses = TP_SCRATCH(arena, tpPose, bodies);
    geometry->endPoses = TP_SCRATCH(arena, tpPose, bodies);
    geometry->contacts = TP_SCRATCH(arena, tpImplicitContact, contacts);
    geometry->middles = TP_SCRATCH(arena, tpContactPlace, contacts);
    geometry->ends = TP_SCRATCH(arena, tpContactPlace, contacts);
    geometry->actions = TP_SCRATCH(arena, tpNormalAction, contacts);
    geometry->startGaps = TP_SCRATCH(arena, double, contacts);
    geometry->frictionAtEnd = TP_SCRATCH(arena, bool, contacts);
    geometry->carried = TP_SCRATCH(arena, bool, contacts);
    geometry->stuck = TP_SCRATCH(arena, bool, contacts);
    geometry->targets = TP_SCRATCH(arena, double, contacts);
    geometry->shifts = TP_SCRATCH_ZEROED(arena, double, base->rows.rowCapacity);
    geometry->rho = TP_SCRATCH(arena, double, base->rows.blockCapacity);
    geometry->response = TP_SCRATCH(arena, double, base->rows.rowCapacity);
    geometry->contactBlocks = contacts;
    step->thetaOf = TP_SCRATCH(arena, double, bodies);
    int blocks, rows;
    tpJoints_Count(base->system, &blocks, &rows);
    return !arena->failed && tpRows_Create(&geometry->jointEnds, base->system, blocks, rows) &&
           tpRows_Create(&geometry->jointMiddles, base->system, blocks, rows);
}

// rho of the certificate: rows over the trace of the block's response, in scaled rows.
static double rhoOf(const tpRows* rows, int block, double* response) {
    double trace = 0.0;
    for (int k = 0; k < rows->dimensions[block]; ++k) {
        int row = rows->firstRows[block] + k;
        response[row] = tpRows_Response(rows, block, row);
        trace += rows->scale[row] * rows->scale[row] * response[row];
    }
    return trace > 0.0 ? rows->dimensions[block] / trace : 1.0;
}

// The gap to be met. Overlaps that nobody sees are left, for taking them back costs energy; those
// that rounding makes are taken back, or gaps would drift.
static double targetOf(double startGap, double gamma, double unit) {
    if (startGap < -TP_SMALL_OVERLAP * unit) {
        return (1.0 - gamma) * startGap;
    }
    return startGap < -1e-13 * unit ? startGap : 0.0;
}

static void addBlocks(tpImplicitStep* step) {
    tpTimeStep* base = &step->base;
    tpStepGeometry* geometry = &step->geometry;
    double gamma = geometry->gamma * tpSystem_ShareOfStep(base->system, base->h);
    for (int i = 0; i < base->contactCount; ++i) {
        const tpContact* contact = &base->contacts[i];
        tpImplicitContact_Make(base->system, base->startPoses, contact, isAlone(base, i),
                               &geometry->contacts[i]);
        geometry->startGaps[i] = tpImplicitStep_StartPlace(step, i).gap;
        geometry->targets[i] = targetOf(geometry->startGaps[i], gamma, base->system->units.length);
        tpRows_AddContact(&base->rows, base->system, base->startPoses, contact, i, &base->laws[i],
                          (contact->gap - geometry->targets[i]) / base->h);
    }
    tpJointTreatment treatment = { base->h, 1.0, NULL, base->h, 0.0, false };
    tpJoints_AddRows(&base->rows, base->system, base->startPoses, &treatment);
    tpTimeStep_SetFreeVelocities(base);
    for (int b = 0; b < base->rows.blockCount; ++b) {
        geometry->rho[b] = rhoOf(&base->rows, b, geometry->response);
    }
}

// Rows of a joint that hold something: in the plane, and where bodies are locked, some do not.
static int movingRows(const tpRows* rows, int block, const double* response) {
    int count = 0;
    for (int k = 0; k < rows->dimensions[block]; ++k) {
        count += response[rows->firstRows[block] + k] > 0.0;
    }
    return count;
}

// Hyperstatic islands of more bodies than this are handed over at once if something strikes in
// them: what they could do in their part of the work is missing afterwards.
enum { mostStruck = 40 };

// Linear rows know less of marbles that roll on by more than this in the step, rad; but where one
// of many bodies does, more than passes that have not come to an end.
static const double farthestTurn = 0.6;

// Of a step's work: what hyperstatic islands may take before the step is handed over.
static const double hyperstaticPart = 0.4;

static bool hasRedundantRows(const tpIslandProblem* problem) {
    return problem->rowCount > problem->bodyCount * problem->geometry->step->rows.componentCount;
}

static bool isHyperstatic(const tpIslandProblem* problem) {
    return problem->bodyCount > largestNewton ||
           (problem->bodyCount > largestRedundant && hasRedundantRows(problem));
}

bool tpImplicitStep_MayHandOver(const tpImplicitStep* step) {
    bool bounces =
        step->settings.impactLaw != tp_inelasticImpact && tpTimeStep_HasRestitution(&step->base);
    return !step->settings.isFull && step->base.system->joints.count == 0 && !bounces;
}

static bool fillProblem(tpImplicitStep* step, int island, int* bodyAt) {
    tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    tpArena* arena = &base->system->arena;
    tpIslandProblem* problem = &step->problems[island];
    memset(problem, 0, sizeof(*problem));
    int begin = step->islands.starts[island], end = step->islands.starts[island + 1];
    problem->geometry = &step->geometry;
    problem->theta = step->settings.theta;
    problem->keepsEnergy = problem->theta < 1.0;
    problem->blocks = step->islands.blocks + begin;
    problem->blockCount = end - begin;
    problem->bodyAt = bodyAt;
    problem->bodies = TP_SCRATCH(arena, int, 2 * problem->blockCount);
    problem->firstRow = TP_SCRATCH(arena, int, problem->blockCount);
    if (arena->failed) {
        return false;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        problem->firstRow[b] = problem->rowCount;
        problem->rowCount += rows->dimensions[block];
        if (block >= step->geometry.contactBlocks) {
            problem->jointRowCount += movingRows(rows, block, step->geometry.response);
            problem->hasJoints = true;
        }
        int slot;
        for (int k = 0; tpRows_BodyAt(rows, block, k, &slot); ++k) {
            if (slot >= 0 && bodyAt[slot] < 0) {
                bodyAt[slot] = problem->bodyCount;
                problem->bodies[problem->bodyCount++] = slot;
            }
        }
    }
    problem->size = problem->bodyCount * rows->componentCount + problem->rowCount;
    bool handsOver = isHyperstatic(problem) && tpImplicitStep_MayHandOver(step);
    problem->ownPart = handsOver ? hyperstaticPart : 1.0;
    return true;
}

// Bodies that nothing touches, and those that move as told.
static void moveFree(tpImplicitStep* step, int slot) {
    tpTimeStep* base = &step->base;
    tpTravel* travel = &step->geometry.travels[slot];
    const tpBody* body = &base->system->bodies.data[slot];
    if (tpSystem_IsDynamic(base->system, slot)) {
        tpTravel_Compute(base->system, slot, base->startPoses[slot], &base->startVelocities[slot],
                         &base->kicked[slot], step->settings.theta, base->h, false, travel);
    } else {
        tpVelocity still = { tpZeroVec3(), 0.0, tpZeroVec3(), 0.0 };
        bool isKinematic = body->isLive && body->kind == tp_kinematicBody;
        tpTravel_Follow(base->startPoses[slot], isKinematic ? &base->kicked[slot] : &still,
                        step->settings.theta, base->h, travel);
    }
    step->geometry.middlePoses[slot] = travel->middle.pose;
    step->geometry.endPoses[slot] = travel->end.pose;
    base->meanVelocities[slot] = travel->move;
}

bool tpImplicitStep_Prepare(tpImplicitStep* step) {
    tpTimeStep* base = &step->base;
    tpArena* arena = &base->system->arena;
    if (!reserve(step)) {
        return false;
    }
    addBlocks(step);
    if (!tpIslands_Find(&step->islands, &base->rows, arena)) {
        return false;
    }
    int count = step->islands.count;
    step->problems = TP_SCRATCH(arena, tpIslandProblem, count);
    step->isImpact = TP_SCRATCH_ZEROED(arena, bool, count);
    step->isTurned = TP_SCRATCH_ZEROED(arena, bool, count);
    int* bodyAt = TP_SCRATCH(arena, int, base->bodyCount);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < base->bodyCount; ++i) {
        bodyAt[i] = -1;
        step->thetaOf[i] = step->settings.theta;
        moveFree(step, i);
    }
    for (int k = 0; k < count; ++k) {
        if (!fillProblem(step, k, bodyAt)) {
            return false;
        }
    }
    return true;
}

bool tpImplicitStep_StartJoints(tpImplicitStep* step, const tpRowHistory* history) {
    tpRows* rows = &step->base.rows;
    double* written = TP_SCRATCH(&step->base.system->arena, double, rows->rowCount);
    if (step->base.system->arena.failed) {
        return false;
    }
    memcpy(written, rows->impulse, sizeof(double) * (size_t)rows->rowCount);
    tpRowHistory_Start(history, rows, step->base.h);
    // Impulses of rows that are nearly dependent would grow from step to step.
    for (int k = 0; k < step->islands.count; ++k) {
        const tpIslandProblem* problem = &step->problems[k];
        for (int b = 0; tpIslandProblem_IsHeldTwice(problem) && b < problem->blockCount; ++b) {
            int block = problem->blocks[b], first = rows->firstRows[block];
            memcpy(rows->impulse + first, written + first,
                   sizeof(double) * (size_t)rows->dimensions[block]);
        }
    }
    return true;
}

// Solving ---------------------------------------------------------------------------------------

// z from the impulses, directions as at the start: where Newton's method begins.
static void pushByImpulses(tpImplicitStep* step, const tpIslandProblem* problem) {
    tpTimeStep* base = &step->base;
    for (int i = 0; i < problem->bodyCount; ++i) {
        base->pushed[problem->bodies[i]] = base->kicked[problem->bodies[i]];
    }
    tpRows only = base->rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        only.blockCount = 1;
        only.firstRows = base->rows.firstRows + block;
        only.dimensions = base->rows.dimensions + block;
        only.bodyA = base->rows.bodyA + block;
        only.bodyB = base->rows.bodyB + block;
        tpRows_ApplyImpulses(&only, base->pushed);
    }
}

static double roundingOf(const tpImplicitStep* step, const tpIslandProblem* problem) {
    // Positions are known to a part of 1e-16, gaps are divided by h.
    const tpTimeStep* base = &step->base;
    double size = 0.0, speed = 0.0;
    for (int i = 0; i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        size = fmax(size, tpLength(base->startPoses[slot].position) +
                              base->system->bodies.data[slot].reach);
        speed = fmax(speed, tpVelocity_LargestSpeed(base->system, slot, &base->pushed[slot]));
    }
    return 64.0 * DBL_EPSILON * (size / base->h + speed) * sqrt((double)problem->rowCount);
}

static tpIslandTolerance toleranceOf(const tpImplicitStep* step, const tpIslandProblem* problem) {
    double scale = fmax(tpIslandProblem_Scale(problem), 1e-6 * step->base.system->units.speed);
    double asked = step->settings.tolerance, rounding = roundingOf(step, problem);
    double goal = fmin(asked, 1e-12 * scale);
    tpIslandTolerance tolerance = { goal, fmax(goal, rounding), fmax(asked, rounding) };
    int bodies = problem->bodyCount;
    bool isHard = isHyperstatic(problem) || tpStepBudget_IsHard(step->base.system);
    double part = isHard ? 0.5e-8 : bodies > largestExact ? 1e-9 : 0.0;
    tolerance.enough = fmax(tolerance.enough, part * scale);
    return tolerance;
}

static bool runNewton(tpImplicitStep* step, tpIslandProblem* problem, tpStepperMemory* memory,
                      tpStepReport* report, tpIslandSolve* solve) {
    if (!tpIslandProblem_Solve(problem, toleranceOf(step, problem), iterationLimit, memory->solver,
                               solve)) {
        return false;
    }
    report->solveCount += 1;
    report->iterationCount += solve->iterations;
    return true;
}

static bool runFrozen(tpImplicitStep* step, tpIslandProblem* problem, tpFrozenMethod method,
                      tpStepperMemory* memory, tpStepReport* report, tpIslandSolve* solve) {
    bool isEnding = tpStepBudget_IsSpent(step->base.system);
    int passes = method == tp_frozenLemke ? 1 : isEnding ? lastFrozen : frozenLimit;
    return tpIslandProblem_SolveFrozen(problem, method, step->settings.directionCount,
                                       toleranceOf(step, problem), passes, memory->solver, report,
                                       solve);
}

static void forgetImpulses(tpImplicitStep* step, const tpIslandProblem* problem) {
    tpRows* rows = &step->base.rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        memset(rows->impulse + rows->firstRows[block], 0,
               sizeof(double) * (size_t)rows->dimensions[block]);
    }
}

// Where the first linear problem is written. Nothing has moved there: gaps and directions of the
// start agree with each other. Where impulses of the last step would take the bodies, or an
// iteration that went astray, they may not.
static void standStill(tpImplicitStep* step, const tpIslandProblem* problem) {
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpVelocity* pushed = &step->base.pushed[problem->bodies[i]];
        pushed->linear = pushed->angular = tpZeroVec3();
    }
}

// Where the last linear problem of a step is written that has cost what it may. What rolls on is
// not understood where it stands: points of a marble ahead of its contact seem to run into the
// table. If one body turns far, all bodies of the island go on as they have moved, since gaps
// between them agree only then.
static void startAnew(tpImplicitStep* step, const tpIslandProblem* problem) {
    forgetImpulses(step, problem);
    standStill(step, problem);
    if (!tpIslandProblem_TurnsFar(problem)) {
        return;
    }
    for (int i = 0; i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        step->base.pushed[slot] = step->base.startVelocities[slot];
    }
}

static bool hasContact(const tpImplicitStep* step, const tpIslandProblem* problem) {
    for (int b = 0; b < problem->blockCount; ++b) {
        if (problem->blocks[b] < step->geometry.contactBlocks) {
            return true;
        }
    }
    return false;
}

bool tpIsland_HasOneSided(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpRows* rows = &step->base.rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        if (rows->kinds[block] != tp_frictionFree &&
            rows->infos[block].source != tp_boundedSource) {
            return true;
        }
    }
    return false;
}

// Whether an island that Newton's method has not solved has to be taken in shorter parts: where
// nothing can strike its equations are smooth, and no other method knows more of them. Implicit
// Euler would, but damps: a linkage lost 10 J of 160 in such a step.
static bool isTooLong(const tpImplicitStep* step, const tpIslandProblem* problem) {
    return step->mayHalve && problem->theta < 1.0 && !tpIsland_HasOneSided(step, problem);
}

// Newton's method from what is there, then from the answer of the linear problem: by Lemke's method
// where that is short, else in the cone. Large and hyperstatic islands begin in the cone.
static bool solveMode(tpImplicitStep* step, tpIslandProblem* problem, tpStepperMemory* memory,
                      tpStepReport* report, tpIslandSolve* solve) {
    if (step->settings.isFull && tpFullForm_Applies(problem)) {
        report->solveCount += 1;
        bool isDone = tpFullForm_Solve(problem, toleranceOf(step, problem), memory->solver, solve);
        report->iterationCount += solve->iterations;
        if (!isDone || solve->isSolved) {
            return isDone;
        }
        tpStepReport_FallBack(report, "eliminated form",
                              "the full form of the paper was not solved");
    }
    // Once the step has cost what it may, the linear problem is all that is solved.
    const tpSystem* system = step->base.system;
    bool isEnded = tpStepBudget_IsSpent(system);
    bool isLinearFirst = (isHyperstatic(problem) || isEnded) && hasContact(step, problem);
    if (isLinearFirst && isEnded) {
        startAnew(step, problem);
    } else if (isLinearFirst) {
        standStill(step, problem);
    }
    bool isDone = isLinearFirst ? runFrozen(step, problem, tp_frozenCone, memory, report, solve)
                                : runNewton(step, problem, memory, report, solve);
    if (!isDone || solve->isSolved || (isLinearFirst && tpIslandProblem_IsDear(problem)) ||
        isTooLong(step, problem)) {
        return isDone;
    }
    if (isLinearFirst) {
        isDone = runNewton(step, problem, memory, report, solve);
        if (!isDone || solve->isSolved || problem->rowCount > largestLemke) {
            return isDone;
        }
    }
    const char* names[2] = { "linearised Lemke", "linearised cone" };
    for (int k = problem->rowCount <= largestLemke ? 0 : 1; k < 2 && !solve->isSolved; ++k) {
        if (tpStepBudget_IsSpent(system)) {
            startAnew(step, problem);
        } else {
            pushByImpulses(step, problem);
        }
        tpFrozenMethod method = k == 0 ? tp_frozenLemke : tp_frozenCone;
        bool isEnding = tpStepBudget_IsSpent(system);
        if (isEnding && k == 0) {
            continue;
        }
        if (!runFrozen(step, problem, method, memory, report, solve) ||
            (!solve->isSolved && !isEnding && !runNewton(step, problem, memory, report, solve))) {
            return false;
        }
        if (solve->isSolved) {
            tpStepReport_FallBack(
                report, names[k],
                "Newton's method did not converge: it starts from the linearised problem");
        }
    }
    return true;
}

// Impulses of what is open are zero to rounding; they are made zero.
static void clearOpen(tpImplicitStep* step, const tpIslandProblem* problem) {
    tpRows* rows = &step->base.rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = rows->firstRows[block];
        double scale = rows->scale[first];
        double load = rows->impulse[first] / scale -
                      step->geometry.rho[block] * scale * rows->velocity[first];
        bool isOpen = rows->kinds[block] != tp_frictionFree && load <= 0.0;
        for (int k = 0; isOpen && k < rows->dimensions[block]; ++k) {
            rows->impulse[first + k] = 0.0;
        }
    }
}

static void takeImplicitEuler(tpImplicitStep* step, int island) {
    tpIslandProblem* problem = &step->problems[island];
    problem->theta = 1.0;
    step->isImpact[island] = true;
    for (int i = 0; i < problem->bodyCount; ++i) {
        step->thetaOf[problem->bodies[i]] = 1.0;
    }
    tpImplicitStep_ChooseFriction(step, problem);
    pushByImpulses(step, problem);
}

static bool solveIsland(tpImplicitStep* step, int island, tpStepperMemory* memory,
                        tpStepReport* report, bool* isSolved) {
    tpIslandProblem* problem = &step->problems[island];
    tpIslandSolve solve = { 0.0, 0, false };
    pushByImpulses(step, problem);
    tpImplicitStep_ChooseFriction(step, problem);
    // Or it was taken so before something that was missed joined it.
    bool isKnown = problem->bodyCount > 0 && step->thetaOf[problem->bodies[0]] > problem->theta;
    bool isEnding = tpStepBudget_IsSpent(step->base.system) && hasContact(step, problem);
    if (problem->ownPart < 1.0 && problem->bodyCount > mostStruck && hasRedundantRows(problem) &&
        tpImplicitStep_IsBoundToHit(step, problem)) {
        *isSolved = false;
        step->isTooDear = true;
        return true;
    }
    if (problem->theta < 1.0 && (isKnown || isEnding || tpImplicitStep_IsStiff(step, problem) ||
                                 tpImplicitStep_IsBoundToHit(step, problem))) {
        takeImplicitEuler(step, island);
    }
    for (int change = 0; change < modeChanges; ++change) {
        if (!solveMode(step, problem, memory, report, &solve)) {
            return false;
        }
        if (!solve.isSolved && isTooLong(step, problem)) {
            break;
        }
        bool isHit = !solve.isSolved || tpImplicitStep_IsHit(step, problem);
        bool isSmooth = !isHit && !tpImplicitStep_GainsBySlip(step, problem);
        if (problem->theta < 1.0 && !isSmooth) {
            step->isTurned[island] = !isHit || !tpIsland_HasOneSided(step, problem);
            takeImplicitEuler(step, island);
        } else if (problem->theta == 1.0 || !tpImplicitStep_ChangeFriction(step, problem)) {
            break;
        }
    }
    clearOpen(step, problem);
    *isSolved = *isSolved && solve.isSolved;
    step->isTooDear =
        step->isTooDear || (!solve.isSolved && tpIslandProblem_IsDear(problem) &&
                            (tpIslandProblem_LargestTurn(problem) < farthestTurn ||
                             (problem->bodyCount > mostStruck && hasRedundantRows(problem))));
    return true;
}

bool tpImplicitStep_Solve(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report,
                          bool* isSolved) {
    *isSolved = true;
    step->isTooDear = false;
    if (step->base.bodyCount > 0) {
        memcpy(step->base.pushed, step->base.kicked,
               sizeof(tpVelocity) * (size_t)step->base.bodyCount);
    }
    for (int k = 0; k < step->islands.count; ++k) {
        if (!solveIsland(step, k, memory, report, isSolved)) {
            return false;
        }
    }
    return true;
}
