#include "steppers/auto/flow.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"
#include "dynamics/locks.h"
#include "steppers/auto/flow_laws.h"
#include "steppers/auto/flow_moments.h"
#include "steppers/auto/flow_solve.h"
#include "steppers/auto/outer_forces.h"

// The method of Brasey and Hairer: five stages, of fourth order in positions and velocities. Row i
// leads to stage i; the last one is the step itself.
enum { stageCount = tp_flowStages };
#define ROOT6 2.449489742783178
static const double coefficients[stageCount + 1][stageCount] = {
    { 0.0 },
    { 0.3 },
    { (1.0 + ROOT6) / 30.0, (11.0 - 4.0 * ROOT6) / 30.0 },
    { (-79.0 - 31.0 * ROOT6) / 150.0, (-1.0 - 4.0 * ROOT6) / 30.0, (24.0 + 11.0 * ROOT6) / 25.0 },
    { (14.0 + 5.0 * ROOT6) / 6.0, (-8.0 + 7.0 * ROOT6) / 6.0, (-9.0 - 7.0 * ROOT6) / 4.0,
      (9.0 - ROOT6) / 4.0 },
    { 0.0, 0.0, (16.0 - ROOT6) / 36.0, (16.0 + ROOT6) / 36.0, 1.0 / 9.0 },
};
// The weights of the first half of a step: of the parabola through the forces of the last three
// stages, whose weights are those of the whole step too.
static const double earlyWeights[stageCount] = { 0.0, 0.0, (38.0 + 7.0 * ROOT6) / 144.0,
                                                 (38.0 - 7.0 * ROOT6) / 144.0, -1.0 / 36.0 };

// Work in nanoseconds: of each stage, of a body, a contact, a row, and a product in the solve.
static const double stageWork = 60.0, bodyWork = 80.0, contactWork = 500.0, rowWork = 30.0,
                    productWork = 0.15;

// Bodies -----------------------------------------------------------------------------------------

static tpQuat addQuat(tpQuat a, double part, tpQuat b) {
    return tpMakeQuat(a.w + part * b.w, a.x + part * b.x, a.y + part * b.y, a.z + part * b.z);
}

static void start(tpFlow* flow, const tpSystem* system) {
    tpFlowMemory* memory = flow->memory;
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        int i = flow->plan.bodies[k];
        const tpVelocity* velocity = &system->velocities.data[i];
        memory->starts[k] = (FlowStart){
            .position = system->poses.data[i].position,
            .rotation = system->poses.data[i].rotation,
            .momentum = tpScale(system->bodies.data[i].mass, velocity->linear),
            .angularMomentum = tpOuterForce_AngularMomentum(system, i),
            .spin = tpUnrotate(system->poses.data[i].rotation, tpSystem_OwnSpin(system, i)),
        };
    }
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        memory->given[i] = system->poses.data[i];
    }
}

// The turn of a body is a slow one, U, after the one that its first spin in its own axes makes, E:
//     R = U E,   U' = 1/2 (w - R spin) U
// So tops may spin as fast as they like.
static void setRates(tpFlow* flow, const tpSystem* system, int stage) {
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        int i = flow->plan.bodies[k];
        FlowState* state = &flow->memory->states[stage * flow->plan.bodyCount + k];
        const tpVelocity* velocity = &system->velocities.data[i];
        tpVec3 spin = tpRotate(system->poses.data[i].rotation, flow->memory->starts[k].spin);
        tpVec3 rest = tpScale(0.5, tpSub(velocity->angular, spin));
        state->velocity = velocity->linear;
        state->turnRate = tpMulQQ(tpMakeQuat(0.0, rest.x, rest.y, rest.z), state->turn);
    }
}

// Puts bodies where the stages before lead to.
static void place(tpFlow* flow, tpSystem* system, int stage, double h) {
    tpFlowMemory* memory = flow->memory;
    int count = flow->plan.bodyCount;
    for (int k = 0; k < count; ++k) {
        const FlowStart* first = &memory->starts[k];
        tpVec3 position = first->position;
        tpQuat turn = first->rotation;
        for (int j = 0; j < stage; ++j) {
            const FlowState* state = &memory->states[j * count + k];
            position = tpMulAdd(position, h * coefficients[stage][j], state->velocity);
            turn = addQuat(turn, h * coefficients[stage][j], state->turnRate);
        }
        tpQuat spun = tpQuatExp(tpScale(tpFlow_Times[stage] * h, first->spin));
        tpPose* pose = &system->poses.data[flow->plan.bodies[k]];
        pose->position = position;
        pose->rotation = tpNormalizeQuat(tpMulQQ(turn, spun));
        memory->inverseInertias[k] = tpSystem_InverseInertia(system, flow->plan.bodies[k]);
        if (stage < stageCount) {
            memory->states[stage * count + k].turn = turn;
        }
    }
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        if (system->bodies.data[i].kind == tp_kinematicBody) {
            const tpVelocity* velocity = &system->velocities.data[i];
            double time = tpFlow_Times[stage] * h;
            tpQuat turned = tpQuatExp(tpScale(time, velocity->angular));
            system->poses.data[i].position =
                tpMulAdd(memory->given[i].position, time, velocity->linear);
            system->poses.data[i].rotation =
                tpNormalizeQuat(tpMulQQ(turned, memory->given[i].rotation));
        }
    }
}

// The velocities of bodies by the momenta that the stages before lead to; of the last one there is
// what acts without joints and contacts.
static void setVelocities(tpFlow* flow, tpSystem* system, int stage, double h) {
    tpFlowMemory* memory = flow->memory;
    int count = flow->plan.bodyCount;
    for (int k = 0; k < count; ++k) {
        int i = flow->plan.bodies[k];
        tpVec3 momentum = memory->starts[k].momentum, angular = memory->starts[k].angularMomentum;
        for (int j = 0; j < stage; ++j) {
            const tpWrench* force = &memory->states[j * count + k].force;
            momentum = tpMulAdd(momentum, h * coefficients[stage][j], force->linear);
            angular = tpMulAdd(angular, h * coefficients[stage][j], force->angular);
        }
        tpVelocity* velocity = &system->velocities.data[i];
        velocity->linear = tpScale(system->bodies.data[i].inverseMass, momentum);
        if (system->bodies.data[i].locked != 0) {
            velocity->linear = tpLocks_Linear(system->bodies.data[i].locked, velocity->linear);
        }
        velocity->angular = tpMulMV(memory->inverseInertias[k], angular);
    }
}

// Pushes -----------------------------------------------------------------------------------------

// What a push does on bodies that move as told, W: the group gets the rest.
static double givenPower(const tpFlowPlan* plan, const tpSystem* system, const tpFlowRow* push) {
    if (!system->mayMoveAsTold) {
        return 0.0;
    }
    const tpVelocity* velocities = system->velocities.data;
    double power = tpFlowRow_Speed(push, velocities);
    for (int k = 0; k < tpFlowRow_BodyCount(push); ++k) {
        int body;
        const tpWrench* on = tpFlowRow_On(push, k, &body);
        power -= tpFlow_IsOurs(plan, body) ? tpWrench_Power(on, &velocities[body]) : 0.0;
    }
    return power;
}

// The directions along which rows push: a contact that slides has its friction with the normal.
// False if a slip has stopped, or turned far.
static bool findPushes(tpFlow* flow, const tpSystem* system, int stage) {
    const tpFlowPlan* plan = &flow->plan;
    tpFlowMemory* memory = flow->memory;
    const tpFlowRows* rows = memory->now;
    bool goesOn = true;
    for (int i = 0; i < plan->rowCount; ++i) {
        memory->pushes.rows[i] = rows->rows[i];
    }
    for (int i = 0; i < plan->contactCount; ++i) {
        if (plan->modes[i] != tp_flowSlides) {
            continue;
        }
        tpFlowSlip* slip = &memory->pushes.slips[i];
        tpFlowRow friction[tp_flowFriction];
        double scales[tp_flowFriction];
        slip->size = tpFlowRows_SlipAlong(rows, system, i, slip->direction, friction, scales);
        double cosine = 0.0;
        tpFlowRow* push = &memory->pushes.rows[rows->firstRows[i]];
        for (int k = 0; k < tpFlowRows_FrictionCount(rows, system, i); ++k) {
            slip->direction[k] /= fmax(slip->size, 1e-300);
            double part = -rows->laws[i].mu * scales[k] * slip->direction[k];
            tpWrench_Add(&push->onA, part, &friction[k].onA);
            tpWrench_Add(&push->onB, part, &friction[k].onB);
        }
        if (stage == 0) {
            memory->firstSlips[i] = *slip;
        }
        for (int k = 0; k < tp_flowFriction; ++k) {
            cosine += slip->direction[k] * memory->firstSlips[i].direction[k];
        }
        memory->slips[stage][i] = cosine * slip->size;
        if (cosine < tpFlow_LeastCosine) {
            tpFlow_GuessSlip(flow, stage, i, cosine * slip->size);
            flow->slipHasTurned = true;
            goesOn = false;
        }
    }
    for (int i = 0; i < plan->rowCount; ++i) {
        memory->pushes.givenPowers[i] = givenPower(plan, system, &memory->pushes.rows[i]);
    }
    return goesOn;
}

// Adds a force along a push to what acts on the two bodies.
static void addPush(const tpFlowPlan* plan, FlowState* states, const tpFlowRow* push,
                    double force) {
    for (int k = 0; k < tpFlowRow_BodyCount(push); ++k) {
        int body;
        const tpWrench* on = tpFlowRow_On(push, k, &body);
        if (tpFlow_IsOurs(plan, body)) {
            tpWrench_Add(&states[plan->places[body]].force, force, on);
        }
    }
}

// Adds the forces of joints and contacts to what acts at a stage.
static void addForces(tpFlow* flow, int stage) {
    FlowState* states = &flow->memory->states[stage * flow->plan.bodyCount];
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        addPush(&flow->plan, states, &flow->memory->pushes.rows[i],
                flow->memory->impulses[stage][i]);
    }
}

// Steps ------------------------------------------------------------------------------------------

// Adds the laws of coordinates to what acts at a stage, and to what joints do in the step. False if
// one of them is not what it was.
static bool addLaws(tpFlow* flow, const tpSystem* system, int stage, double h) {
    const tpFlowPlan* plan = &flow->plan;
    FlowState* states = &flow->memory->states[stage * plan->bodyCount];
    double part = h * coefficients[stageCount][stage], early = h * earlyWeights[stage];
    bool goesOn = true;
    for (int i = 0; i < plan->lawCount; ++i) {
        tpFlowLawForce law = tpFlowLaw_Force(&plan->laws[i], system, plan);
        double force = law.stored + law.taken;
        addPush(plan, states, &law.push, force);
        double power = law.taken * law.rate - force * givenPower(plan, system, &law.push);
        tpFlowLoads_AddLaw(&flow->memory->loads, &law, i, power, part);
        if (flow->memory->isEarlyAsked) {
            tpFlowLoads_AddLaw(&flow->memory->early, &law, i, power, early);
        }
        if (stage == 0) {
            memcpy(flow->memory->firstLawMargins[i], law.margins, sizeof(law.margins));
        } else if (!law.goesOn) {
            tpFlow_GuessLawMoment(flow, stage, i, &law);
        }
        goesOn = goesOn && law.goesOn;
    }
    return goesOn;
}

// What acts without joints and contacts. Forces of the user are the same all along the step.
static void setForces(tpFlow* flow, const tpSystem* system, int stage, double h) {
    tpFlowMemory* memory = flow->memory;
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        FlowState* state = &memory->states[stage * flow->plan.bodyCount + k];
        double power;
        state->force =
            tpOuterForce_On(system, flow->plan.bodies[k], system->time + 0.5 * h, &power);
        memory->loads.work += h * coefficients[stageCount][stage] * power;
        memory->early.work += h * earlyWeights[stage] * power;
    }
}

// From one stage to the next. False if something has changed in between.
static bool advance(tpFlow* flow, tpSystem* system, int stage, double h) {
    tpFlowMemory* memory = flow->memory;
    bool isLast = stage + 1 == stageCount;
    tpFlowMeeting meeting = { false, 0.0, INFINITY, INFINITY, INFINITY, 0.0 };
    if (!findPushes(flow, system, stage)) {
        return false;
    }
    for (int i = 0; stage == 0 && flow->plan.rotorCount > 0 && i < flow->plan.rowCount; ++i) {
        memory->rotorSpeeds[i] = tpFlowRow_Speed(&memory->now->rows[i], system->velocities.data);
    }
    setRates(flow, system, stage);
    setForces(flow, system, stage, h);
    if (!addLaws(flow, system, stage, h)) {
        return false;
    }
    place(flow, system, stage + 1, h);
    bool isFound =
        isLast ? tpFlowRows_FindAround(memory->next, &flow->plan, system, h, flow->watch, &meeting)
               : tpFlowRows_Find(memory->next, &flow->plan, system);
    if (!isFound || meeting.isThere) {
        tpFlow_GuessSince(flow, meeting.since, h);
        tpFlow_GuessAhead(flow, &meeting, 1.0, h);
        flow->hasMet = isFound && meeting.since > 0.0;
        if (!isFound) {
            tpFlow_GuessBetween(flow, stage + 1);
        }
        return false;
    }
    if (!isLast && !tpFlow_AreSurfacesAlike(flow, system)) {
        tpFlow_GuessBetween(flow, stage + 1);
        return false;
    }
    setVelocities(flow, system, stage + 1, h);
    tpFlow_SetRotors(flow, stage - 1, h, coefficients[stage + 1]);
    if (!tpFlow_Solve(flow, system, stage, h * coefficients[stage + 1][stage])) {
        return false;
    }
    tpFlow_SetRotors(flow, stage, h, coefficients[stage + 1]);
    if ((stage == 0 || isLast) && !tpFlow_AreHeld(flow, system, stage)) {
        return false;
    }
    addForces(flow, stage);
    setVelocities(flow, system, stage + 1, h);
    if (coefficients[stageCount][stage] != 0.0) {
        tpFlowLoads_Add(&memory->loads, &flow->plan, system, memory->now, &memory->pushes,
                        memory->impulses[stage], h * coefficients[stageCount][stage]);
    }
    if (coefficients[stageCount][stage] != 0.0 && memory->isEarlyAsked) {
        tpFlowLoads_Add(&memory->early, &flow->plan, system, memory->now, &memory->pushes,
                        memory->impulses[stage], h * earlyWeights[stage]);
    }
    memory->now = memory->next;
    memory->next = &memory->rows[memory->now == &memory->rows[0] ? 1 : 0];
    return true;
}

static double workOf(const tpFlowPlan* plan) {
    double rows = plan->rowCount;
    return stageCount * (stageWork + bodyWork * plan->bodyCount + contactWork * plan->contactCount +
                         rowWork * rows + productWork * rows * rows * (rows + 24.0) / 3.0);
}

// Finds the rows where the step starts: those of the last stage of the step before are there, and
// those of the start of the flow were kept. Whether nothing is met there.
static bool findFirst(tpFlow* flow, tpSystem* system, double h) {
    tpFlowMemory* memory = flow->memory;
    tpFlowMeeting meeting;
    if (!flow->isAtStart) {
        return true;
    }
    flow->isAtStart = false;
    memory->now = &memory->first;
    memory->next = &memory->rows[0];
    if (flow->watch != tp_flowNear && flow->watch != tp_flowBehind) {
        return true;
    }
    bool isFound =
        tpFlowRows_FindAround(memory->now, &flow->plan, system, h, tp_flowAhead, &meeting);
    tpFlow_GuessAhead(flow, &meeting, 0.0, h);
    return isFound && !meeting.isThere;
}

bool tpFlow_Slides(const tpFlow* flow) {
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        if (flow->plan.modes[i] == tp_flowSlides) {
            return true;
        }
    }
    return false;
}

bool tpFlow_Holds(const tpFlow* flow) {
    return flow->plan.rowCount > 0 || flow->plan.lawCount > 0;
}

bool tpFlow_TakeStep(tpFlow* flow, tpGroupRun* run, double begin, double h, tpTaken* taken,
                     tpTaken* early) {
    tpSystem* system = run->system;
    tpFlowMemory* memory = flow->memory;
    if (!tpTaken_Start(taken, system, &run->limits) ||
        (early != NULL && !tpTaken_Start(early, system, &run->limits))) {
        return false;
    }
    tpStepReport* report = &taken->report;
    report->substepCount = 1;
    report->solveCount = report->iterationCount = stageCount;
    report->contactQueryCount = flow->plan.contactCount > 0 ? stageCount + 1 : 2;
    system->time = run->begin + begin;
    tpFlowLoads_Clear(&memory->loads, &flow->plan);
    memory->isEarlyAsked = early != NULL;
    tpFlowLoads_Clear(&memory->early, &flow->plan);
    start(flow, system);
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        memory->states[k].turn = memory->starts[k].rotation;
    }
    flow->momentPart = flow->aheadPart = -1.0;
    flow->laterPart = flow->endingSlip = INFINITY;
    flow->pulls = 0;
    flow->hasMet = flow->slipHasTurned = false;
    taken->isBad = !findFirst(flow, system, h);
    for (int stage = 0; stage < stageCount && !taken->isBad; ++stage) {
        taken->isBad = !advance(flow, system, stage, h);
        taken->work += workOf(&flow->plan) / stageCount;
    }
    run->lastWork = taken->work;
    run->lastStep = h;
    if (taken->isBad) {
        return true;
    }
    taken->isBad = !tpFlow_GoesOnAtEnd(flow, system);
    if (!taken->isBad && tpFlow_AreEdgesLeft(flow, system)) {
        flow->momentPart = 0.5 * (tpFlow_Times[stageCount - 2] + 1.0);
        taken->isBad = true;
    }
    if (taken->isBad) {
        return true;
    }
    tpFlow_FindAccelerations(flow, system);
    tpJoints_FollowAngles(system);
    tpJoints_ForgetSteady(system); // velocities are those of bodies, servos have lent none
    bool hasMemory = (early == NULL || tpFlowLoads_Report(&memory->early, &flow->plan, system,
                                                          memory->now, 0.5 * h, early)) &&
                     tpFlowLoads_Report(&memory->loads, &flow->plan, system, memory->now, h, taken);
    if (taken->isBad) {
        tpFlow_GuessSince(flow, tpFlowPlan_TimeBeyondLimits(&flow->plan, system), h);
    }
    return hasMemory;
}

// Whether velocities keep what is held. After a step they do; what users give may have an impulse
// to come.
static bool isKept(const tpFlow* flow, const tpSystem* system, double limit) {
    const tpFlowRows* rows = flow->memory->now;
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        const tpFlowRow* row = &rows->rows[i];
        double speed = tpFlowRow_Speed(row, system->velocities.data) - row->speed;
        bool isFree = row->inverseArmature > 0.0; // rotors have the speed of their coordinate
        if (!isFree && !(fabs(speed) <= limit * system->units.speed)) {
            return false;
        }
    }
    return true;
}

// What there is to know of the plan where the flow begins. Whether it has a flow.
static bool prepare(tpFlow* flow, tpSystem* system) {
    tpFlow_FindSurfaces(flow, system);
    tpFlow_FindRedundancy(flow, system);
    findPushes(flow, system, 0);
    return tpFlow_IsDetermined(flow, system);
}

// In parts of the time scale: contacts that pull on average for so long where a flow begins come
// off there.
static const double lettingPart = 1e-5;

bool tpFlow_LetGo(tpFlow* flow, tpGroupRun* run, const tpKeptMotion* start, bool* canGo) {
    tpSystem* system = run->system;
    tpFlowMemory* memory = flow->memory;
    tpFlow before = *flow; // with what the step before has told
    tpTaken taken;
    tpKeptMotion_PutBack(start, system);
    flow->watch = tp_flowBlind;
    flow->isAtStart = true;
    run->hasMemory = tpFlow_TakeStep(flow, run, 0.0, lettingPart * run->timeScale, &taken, NULL) &&
                     run->hasMemory;
    tpKeptMotion_PutBack(start, system);
    unsigned all = (1u << flow->plan.contactCount) - 1u;
    if (!run->hasMemory || flow->pulls == 0 || flow->pulls == all) {
        *flow = before;
        return false; // what holds nothing flies, which is the method's
    }
    memory->now = &memory->first;
    memory->next = &memory->rows[0];
    tpFlowPlan_Drop(&flow->plan, memory->now, system, flow->pulls);
    *canGo = prepare(flow, system);
    return true;
}

bool tpFlow_Begin(tpFlow* flow, const tpGroupRun* run, bool* canGo) {
    tpSystem* system = run->system;
    tpArena* arena = &system->arena;
    *canGo = false;
    tpFlowMemory* memory = flow->memory = TP_SCRATCH(arena, tpFlowMemory, 1);
    if (memory == NULL) {
        return false;
    }
    flow->plan.stopSpeed = run->stopSpeed;
    flow->watch = tp_flowNear;
    flow->isFar = false;
    flow->isAtStart = true;
    flow->momentPart = flow->aheadPart = -1.0;
    flow->hasMet = flow->slipHasTurned = false;
    memory->now = &memory->first;
    memory->next = &memory->rows[0];
    if (!tpFlowPlan_Make(&flow->plan, memory->now, system, run->groups, run->group,
                         !run->pace.knowsPushing || (run->pace.pushing & tp_slidingBit) != 0,
                         canGo)) {
        return false;
    }
    memory->starts = TP_SCRATCH(arena, FlowStart, flow->plan.bodyCount);
    memory->states = TP_SCRATCH(arena, FlowState, stageCount * flow->plan.bodyCount);
    memory->loads.joints = TP_SCRATCH(arena, tpWrench, flow->plan.jointCount);
    memory->early.joints = TP_SCRATCH(arena, tpWrench, flow->plan.jointCount);
    memory->given = TP_SCRATCH(arena, tpPose, system->bodyCount);
    memory->poses = TP_SCRATCH(arena, tpPose, system->bodyCount);
    memory->inverseInertias = TP_SCRATCH(arena, tpMat33, flow->plan.bodyCount);
    memory->rowLists = TP_SCRATCH(arena, int, flow->plan.bodyCount);
    bool hasMemory = memory->starts != NULL && memory->states != NULL &&
                     memory->loads.joints != NULL && memory->early.joints != NULL &&
                     memory->given != NULL && memory->poses != NULL &&
                     memory->inverseInertias != NULL && memory->rowLists != NULL;
    *canGo = *canGo && hasMemory;
    *canGo = *canGo && prepare(flow, system) &&
             (run->pace.knowsPushing || isKept(flow, system, run->limits.residual));
    return hasMemory;
}
