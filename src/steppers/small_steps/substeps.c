// The substeps: two sweeps each [MacklinEtAl19; Catto24].
//
// A sweep does more good on a shorter step: what it leaves undone moves bodies less, and the next
// substep sees it. So a step of h is taken in n substeps of h / n, each with one sweep that also
// takes back overlaps and one that leaves only true velocities. Contacts are found once per step;
// their gaps follow the bodies' displacements, to first order. Impulses carry over from substep to
// substep and from step to step, as changes of the bodies' velocities: what all contacts together
// gave a body in one substep it gets at the beginning of the next.
//
// If bodies overlap, the normal row is an implicit spring with damping rather than rigid: with few
// sweeps rigid rows answer each other's errors with velocities, soft ones do not. The spring's
// frequency is as high as the substep resolves: overlaps vanish with h. Of the two sweeps one goes
// backward, from the last colour and point to the first, in turn: a wall of boxes swept one way
// only leans to the side that is always swept last.

#include <limits.h>
#include <string.h>

#include "base/constants.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/contact_info.h"
#include "steppers/small_steps/step.h"
#include "steppers/small_steps/turning_points.h"

// Turns of the contact spring in a substep, and its damping (1: critical). A pyramid of 50 rows
// overlaps by 6.6 mm at most. While it still leaned (sag.c) it was 7.6 mm, 9.9 with .15 turns and a
// damping of 5; with .25 it trembled (20 mm; README.md, "Sag", says why). Overlap taken back lifts
// a wall of bricks by 4.5 J of 2,000 in a step, by 2.8 with .15.
static const double springTurns = 0.17;
static const double springDamping = 6.0;

// Contacts that close by more than this part of the smaller body's size in a substep are rigid: the
// spring would let a fifteenth of that through.
static const double fastPart = 0.1;

// Impulses are made as many times larger as the substep is longer than the last one, up to this. A
// step that is much longer than the one before comes after a piece that ends at an impact, whose
// impulses are no loads: a thousand times those threw a cone at 20 times its speed.
static const double mostLonger = 2.0;

// How far manifolds follow their bodies before they are found anew. A gap is wrong by a thousandth
// of the smaller body's size at most, the region of contact by a sixteenth. With a third of that
// the funnel of cubes takes a fifth more time, and overlaps are no smaller.
static const tpSoftLimits limits = {
    .slip = 0.06f, .turn = 0.06f, .gap = 1e-3f, .age = 80.0f, .apart = 0.004f
};

// Steps of fewer bodies and manifolds together are over before other threads are awake. A body of a
// mechanism is as much work as several others. With 500 things per thread a pyramid of 1,275 boxes
// takes a seventh longer on 16 threads, a funnel of 1,000 cubes 4 percent less.
enum { fewThings = 400, thingsPerThread = 250, thingsPerJointed = 5 };

// Rounds in which mechanisms answer velocities of parting.
enum { bounceRounds = 4 };

// Sweeps in which an impact is handed on from body to body before a substep. With eight, a block of
// 216 elastic balls that lands loses a fifth of its energy, with sixteen a millionth. An impact
// with a restitution e that n bodies have handed on has e^n of its speed: sweeps end when a
// quarter is left.
enum { fewestStrikeSweeps = 2, mostStrikeSweeps = 16 };

static int strikeSweepsOf(double restitution) {
    int sweeps = fewestStrikeSweeps;
    for (double left = restitution * restitution; left > 0.25 && sweeps < mostStrikeSweeps;
         left *= restitution) {
        ++sweeps;
    }
    return sweeps;
}

static tpSoftness softnessOf(double time, double pushOut) {
    double frequency = 2.0 * TP_PI * springTurns / time;
    // An implicit step of m x'' + 2 zeta m w x' + m w^2 x = 0.
    double damped = 2.0 * springDamping + time * frequency;
    double stiff = time * frequency * damped;
    tpSoftness soft = { .inverseTime = 1.0 / time,
                        .rate = frequency / damped,
                        .push = pushOut,
                        .mass = stiff / (1.0 + stiff),
                        .impulse = 1.0 / (1.0 + stiff),
                        .fast = fastPart / time };
    return soft;
}

// Visits of bodies ----------------------------------------------------------------------------

static tpRange numbersOf(const tpSmallStep* step, int block) {
    const int32_t* firsts = step->state->blockFirsts.data;
    return (tpRange){ firsts[block], firsts[block + 1] };
}

// Whether a body is moved by impulses; others belong to all blocks, and no visit of one may change
// what the others see of them.
static bool hasBlock(const tpSmallStep* step, int n) {
    return step->state->store.blocks.data[n] >= 0;
}

// Whether visits of its block are for a body: those inside a mechanism are visited with that.
static bool isVisited(const tpSmallStep* step, int n) {
    return hasBlock(step, n) && !(step->isInside != NULL && step->isInside[n]);
}

// Whether a body without a block has somewhere to go: those that move as told do.
static bool isDriven(const tpSmallStep* step, int n) {
    static const tpVelocity none = { 0 };
    return !hasBlock(step, n) && !(tpIsSameVelocity(&step->velocities[n], &none) &&
                                   tpIsSameVelocity(&step->kicks[n], &none));
}

// Lists the driven bodies. False if memory ran out.
static bool beginDriven(tpSmallStep* step) {
    int count = 0;
    for (int n = 0; n < step->count; ++n) {
        if (!hasBlock(step, n)) {
            step->bases[n] = step->velocities[n];
            count += isDriven(step, n) ? 1 : 0;
        }
    }
    step->driven = TP_SCRATCH(&step->system->arena, int32_t, count);
    if (step->driven == NULL) {
        return false;
    }
    for (int n = 0; step->drivenCount < count; ++n) {
        if (isDriven(step, n)) {
            step->driven[step->drivenCount++] = n;
        }
    }
    return true;
}

static void moveDriven(void* context) {
    const tpSmallStep* step = context;
    for (int k = 0; k < step->drivenCount; ++k) {
        int n = step->driven[k];
        tpVelocity *v = &step->velocities[n], *moved = &step->moved[n];
        v->linear = tpAdd(v->linear, step->kicks[n].linear);
        v->angular = tpAdd(v->angular, step->kicks[n].angular);
        step->bases[n] = *v;
        moved->linear = tpMulAdd(moved->linear, step->substepTime, v->linear);
        moved->angular = tpMulAdd(moved->angular, step->substepTime, v->angular);
    }
}

// The first substep begins with forces and with what the contacts start with.
static void beginFirst(void* context, int block) {
    tpSmallStep* step = context;
    tpRange range = numbersOf(step, block);
    for (int n = range.begin; n < range.end; ++n) {
        if (!isVisited(step, n)) {
            continue;
        }
        tpVelocity *v = &step->velocities[n], *base = &step->bases[n], *given = &step->moved[n];
        *base = (tpVelocity){ .linear = tpAdd(v->linear, step->kicks[n].linear),
                              .angular = tpAdd(v->angular, step->kicks[n].angular) };
        v->linear = tpAdd(base->linear, given->linear);
        v->angular = tpAdd(base->angular, given->angular);
        given->linear = given->angular = tpZeroVec3();
    }
    if (step->joints != NULL) {
        tpSmallStep_BeginJoints(step, block, true);
    }
}

// Those that follow begin with forces, and what the contacts gave in the substep before.
static void beginNext(void* context, int block) {
    tpSmallStep* step = context;
    tpRange range = numbersOf(step, block);
    if (step->joints != NULL) {
        tpSmallStep_SettleJoints(step, block);
        tpSmallStep_EndJoints(step, block, false);
    }
    for (int n = range.begin; n < range.end; ++n) {
        if (!isVisited(step, n)) {
            continue;
        }
        tpVelocity *v = &step->velocities[n], *base = &step->bases[n];
        tpVec3 linear = tpSub(v->linear, base->linear), angular = tpSub(v->angular, base->angular);
        base->linear = tpAdd(v->linear, step->kicks[n].linear);
        base->angular = tpAdd(v->angular, step->kicks[n].angular);
        v->linear = tpAdd(base->linear, linear);
        v->angular = tpAdd(base->angular, angular);
    }
    if (step->joints != NULL) {
        tpSmallStep_BeginJoints(step, block, false);
    }
}

static void move(void* context, int block) {
    tpSmallStep* step = context;
    tpRange range = numbersOf(step, block);
    if (step->joints != NULL) {
        tpSmallStep_MoveJoints(step, block);
    }
    for (int n = range.begin; n < range.end; ++n) {
        if (!isVisited(step, n)) {
            continue;
        }
        const tpVelocity* v = &step->velocities[n];
        tpVelocity* moved = &step->moved[n];
        moved->linear = tpMulAdd(moved->linear, step->substepTime, v->linear);
        moved->angular = tpMulAdd(moved->angular, step->substepTime, v->angular);
        step->isPushed[n] = step->isPushed[n] || !tpIsSameVelocity(v, &step->bases[n]);
    }
}

static void openJoints(void* context, int block) {
    tpSmallStep_OpenJoints(context, block);
}

static void settleJoints(void* context, int block) {
    tpSmallStep_SettleJoints(context, block);
}

static void endJoints(void* context, int block) {
    tpSmallStep_SettleJoints(context, block);
    tpSmallStep_EndJoints(context, block, true);
}

// Sweeps --------------------------------------------------------------------------------------

static void prepareRun(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    step->kernels->prepareRun(&step->sweep, run);
}

// Whether a sweep has something to do: contacts that can close, and are not solved exactly.
static bool isSwept(const tpSmallStep* step, const tpSoftRun* run) {
    unsigned exact =
        step->exactLanes != NULL ? step->exactLanes[run - step->state->store.runs.data] : 0;
    return run->active > 0 && (run->used & ~exact) != 0;
}

static void leadRun(void* context, tpSoftRun* run, bool isBackward) {
    const tpSmallStep* step = context;
    if (isSwept(step, run)) {
        step->kernels->leadRun(&step->sweep, run, isBackward);
    }
}

static void settleRun(void* context, tpSoftRun* run, bool isBackward) {
    const tpSmallStep* step = context;
    if (isSwept(step, run)) {
        step->kernels->settleRun(&step->sweep, run, isBackward);
    }
}

static int32_t countStrikes(const tpSmallStep* step, const tpSoftRun* run) {
    int32_t count = 0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        count += step->strikes[run->bodyA[lane]] + step->strikes[run->bodyB[lane]];
    }
    return count;
}

static void strike(const tpSmallStep* step, const tpSoftRun* run, bool isFirst) {
    unsigned struck = step->kernels->strikeRun(&step->sweep, run, isFirst);
    for (int lane = 0; struck >> lane != 0; ++lane) {
        unsigned strikes = struck >> lane & 1;
        if ((strikes & (unsigned)run->movesA >> lane) != 0) {
            ++step->strikes[run->bodyA[lane]];
        }
        if ((strikes & (unsigned)run->movesB >> lane) != 0) {
            ++step->strikes[run->bodyB[lane]];
        }
    }
    step->seen[run - step->state->store.runs.data] = countStrikes(step, run);
}

// Before the first substep bodies have not moved.
static void strikeFirst(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    step->seen[run - step->state->store.runs.data] = 0;
    if (run->parts && run->strikes && isSwept(step, run)) {
        strike(step, run, true);
    }
}

// Before a later one those that approached fast at the start of the step may meet, and those whose
// bodies have been struck since.
static void strikeAnew(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    if (run->strikes && isSwept(step, run) && (run->parts || countStrikes(step, run) > 0)) {
        strike(step, run, false);
    }
}

// Impacts are handed on to those whose bodies have been struck since they were looked at.
static bool isHandedOn(const tpSmallStep* step, const tpSoftRun* run) {
    return run->strikes && isSwept(step, run) &&
           countStrikes(step, run) != step->seen[run - step->state->store.runs.data];
}

static void handOnFirst(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    if (isHandedOn(step, run)) {
        strike(step, run, true);
    }
}

static void handOn(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    if (isHandedOn(step, run)) {
        strike(step, run, false);
    }
}

static void bounceRun(void* context, tpSoftRun* run, bool isBackward) {
    (void)isBackward;
    const tpSmallStep* step = context;
    if (run->parts && isSwept(step, run)) {
        step->kernels->bounceRun(&step->sweep, run);
    }
}

static void addVisit(tpSmallStep* step, void (*visit)(void* context, int block)) {
    step->phases[step->phaseCount++] = (tpPhase){ .kind = tp_visitPhase, .visit = visit };
}

static void addSweep(tpSmallStep* step, void (*sweep)(void*, tpSoftRun*, bool), bool isBackward) {
    step->phases[step->phaseCount++] =
        (tpPhase){ .kind = tp_sweepPhase, .isBackward = isBackward, .sweep = sweep };
}

static void addStrikes(tpSmallStep* step, bool isFirst) {
    int sweeps = step->restitution < step->sweep.striking ? 0 : strikeSweepsOf(step->restitution);
    for (int i = 0; i < sweeps; ++i) {
        void (*handsOn)(void*, tpSoftRun*, bool) = isFirst ? handOnFirst : handOn;
        addSweep(step, i > 0 ? handsOn : isFirst ? strikeFirst : strikeAnew, i % 2 == 1);
    }
}

// What is done to bodies and contacts in a step, in this order. False if memory ran out.
static bool listPhases(tpSmallStep* step) {
    enum { inSubstep = 5 + mostStrikeSweeps, others = 3 + 2 * bounceRounds };
    step->phases =
        TP_SCRATCH(&step->system->arena, tpPhase, inSubstep * (size_t)step->substeps + others);
    if (step->phases == NULL) {
        return false;
    }
    step->phaseCount = 0;
    if (step->joints != NULL) {
        addVisit(step, openJoints);
    }
    addSweep(step, prepareRun, false);
    for (int k = 0; k < step->substeps; ++k) {
        bool isOdd = k % 2 == 1;
        addStrikes(step, k == 0);
        addVisit(step, k == 0 ? beginFirst : beginNext);
        addSweep(step, leadRun, isOdd);
        if (step->drivenCount > 0) {
            step->phases[step->phaseCount++] =
                (tpPhase){ .kind = tp_meetPhase, .meet = moveDriven };
        }
        addVisit(step, move);
        addSweep(step, settleRun, !isOdd);
    }
    // What a mechanism answers takes from the velocities of parting: a few rounds give them back.
    for (int round = 0; step->bounces && round < (step->joints != NULL ? bounceRounds : 1);
         ++round) {
        if (step->joints != NULL) {
            addVisit(step, settleJoints);
        }
        addSweep(step, bounceRun, false);
    }
    if (step->joints != NULL) {
        addVisit(step, endJoints);
    }
    return true;
}

static void solve(void* context, const tpCrew* crew, int member) {
    tpSmallStep* step = context;
    (void)crew;
    tpSchedule_Work(&step->schedule, member, step->phases, step->phaseCount, step);
}

// The step ------------------------------------------------------------------------------------

// False if memory ran out.
static bool openSweep(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    tpSoftSweep* sweep = &step->sweep;
    if (step->bounces) {
        int packs = tpPackStore_PackRoom(&state->store);
        sweep->bounces = TP_SCRATCH(&step->system->arena, tpSoftBounce, packs);
        step->seen = TP_SCRATCH(&step->system->arena, int32_t, state->store.runs.count);
    }
    sweep->masses = step->masses;
    sweep->velocities = step->velocities;
    sweep->given = step->moved;
    sweep->supports = step->supports;
    tpVec3 gravity = step->system->gravity;
    double weight = tpLength(gravity);
    tpVec3 up = tpScale(weight > 0.0 ? -1.0 / weight : 0.0, gravity);
    sweep->up[0] = up.x;
    sweep->up[1] = up.y;
    sweep->up[2] = up.z;
    sweep->starts = step->starts;
    sweep->kicks = step->kicks;
    sweep->moved = step->moved;
    sweep->bases = step->bases;
    sweep->means = step->kicks;
    sweep->shifts = step->moved;
    sweep->aheads = step->starts;
    sweep->places = step->places;
    sweep->softness = softnessOf(step->substepTime, step->settings.pushOut);
    sweep->h = step->h;
    sweep->time = step->substepTime;
    sweep->striking = step->joints == NULL ? (double)tp_strikingRestitution : INFINITY;
    sweep->substeps = step->substeps;
    // Impulses of what rests are as long as the substep.
    double last = state->substeps * state->substepTime;
    double longer = last > 0.0 ? step->h / last : 0.0;
    sweep->warm = fmin(longer, mostLonger) * state->substeps / step->substeps;
    sweep->threshold =
        fmax(step->settings.threshold, 2.0 * step->h * tpLength(step->system->gravity));
    sweep->touching = tpSmallStep_TouchDistance(step);
    return !step->bounces || (sweep->bounces != NULL && step->seen != NULL);
}

static double largestRestitution(const tpPackStore* store) {
    float largest = 0.0f;
    for (int i = 0; i < store->order.count; ++i) {
        const tpSoftRun* run = &store->runs.data[store->order.data[i]];
        for (int lane = 0; run->bounces && lane < tp_packWidth; ++lane) {
            largest = fmaxf(largest, run->restitution[lane]);
        }
    }
    return (double)largest;
}

static void lookAtFriction(const tpFriction* friction, bool* isTorsional, bool* isElliptic) {
    *isTorsional = *isTorsional || friction->torsionalArm > 0.0;
    *isElliptic = *isElliptic || friction->ellipse[0] != 1.0 || friction->ellipse[1] != 1.0;
}

// What the friction of the scene's materials asks for. False if memory ran out.
static bool openFriction(tpSmallStep* step) {
    const tpSystem* system = step->system;
    tpPackStore* store = &step->state->store;
    bool isTorsional = false;
    for (int i = 0; i < system->materials.count; ++i) {
        lookAtFriction(&system->materials.data[i].friction, &isTorsional, &step->hasEllipses);
    }
    for (int i = 0; i < system->pairs.count; ++i) {
        if (system->pairs.data[i].hasFriction) {
            lookAtFriction(&system->pairs.data[i].friction, &isTorsional, &step->hasEllipses);
        }
    }
    return !isTorsional || store->allowsTorsion || tpPackStore_AllowTorsion(store);
}

static bool takeStep(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    tpSystem* system = step->system;
    bool isSearch = false;
    if (tpSystem_NeedCollider(system) != tp_success || !openFriction(step) ||
        !tpSmallStep_NumberBodies(step) || !tpSmallStep_BeginBodies(step, &isSearch)) {
        return false;
    }
    state->departed.count = 0;
    if ((isSearch && !tpSmallStep_Search(step)) || !tpSmallStep_OpenBodies(step) ||
        !tpPackStore_Order(&state->store) ||
        !tpSchedule_Create(&step->schedule, &state->store, tpTasks_GetActiveCount(system->tasks),
                           &system->arena) ||
        !tpSmallStep_PlaceJoints(step)) {
        return false;
    }
    tpSmallStep_ChooseSubsteps(step);
    if (!beginDriven(step)) {
        return false;
    }
    tpSmallStep_WeighJoints(step, &step->schedule);
    state->departed.count = step->listed = 0;
    step->penetration = 0.0;
    step->restitution = largestRestitution(&state->store);
    step->bounces = step->restitution > 0.0;
    if (!openSweep(step) || !listPhases(step) || !tpSmallStep_BeginTurning(step)) {
        return false;
    }
    tpCrew_Run(system->tasks, step->schedule.memberCount, solve, step);
    tpSmallStep_EndSubsteps(step);
    tpSmallStep_EndTurning(step);
    if (!tpSmallStep_MoveBodies(step) || !tpSmallStep_HoldPassing(step)) {
        return false;
    }
    tpSmallStep_LeaveTurning(step);
    tpSmallStep_FinishJoints(step);
    tpSmallStep_LimitSpins(step);
    if (!tpSmallStep_Judge(step)) {
        return false;
    }
    tpArena_Release(&system->arena, step->judged);
    return tpSmallStep_Search(step) && tpSmallStep_Promise(step);
}

bool tpSmallStep_Take(tpSmallStep* step) {
    tpSmallStep_BeginSubsteps(step);
    step->kernels = tpGetSoftKernels(tpChooseWidth(tp_packWidth));
    step->sweep.limits = limits;
    tpTasks* tasks = step->system->tasks;
    int things = step->system->bodyCount + step->state->store.slotCount +
                 thingsPerJointed * step->state->map.bodies.count;
    if (things < fewThings) {
        step->system->tasks = NULL;
    }
    tpTasks_Limit(tasks, 1 + things / thingsPerThread);
    bool isTaken = takeStep(step);
    tpTasks_Limit(tasks, INT_MAX);
    step->system->tasks = tasks;
    return isTaken;
}
