// When impulses bog down: bodies with too many events go to a time stepper, and come back.
//
// The paper leaves stacks and hinges to future work (sec. 5.2). Here a body that uses up its share of
// events takes its island, all that it touches through other bodies, to the time stepper; bodies of
// joints are always with it. Its steps are events of the same heap: one of them applies the forces of
// its length, solves contacts and joints on velocities as [Anitescu03, (4.11)] does, restitution (4.10)
// included, and leaves the bodies to drift at constant velocity until the next. Between two steps what is in
// flight can hit them. Where that pushes them into each other they settle before the next step: velocities
// alone are solved for, in no time. A body is taken back when nothing is nearer to it than 2 eps_c.
// Where joints bind all bodies a frame is one step of the anitescu stepper, with all that it can.

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "steppers/anitescu/anitescu.h"
#include "steppers/mirtich_canny/frame.h"

// Steps of the time stepper, s. Turning bends the ways of contacts beyond what their velocities tell: the
// step is as short as keeps that below some tolerances.
enum { freeSettlings = 20 };
static const double longestStep = 5e-3, shortestStep = 5e-4, bendingTolerances = 4.0;

// The length of a step from `time` on: a whole part of what is left of the frame.
static double stepLength(const tpEvents* events, double time) {
    double bending = 0.0;
    for (int i = 0; i < events->flights.count; ++i) {
        if (events->flights.data[i].kind == tp_stepped) {
            tpVec3 w = events->system->velocities.data[i].angular;
            bending = fmax(bending, tpLengthSquared(w) * events->system->bodies.data[i].reach);
        }
    }
    double way = bendingTolerances * events->settings.tolerance;
    double h = bending > 0.0 ? sqrt(2.0 * way / bending) : longestStep;
    h = fmin(fmax(h, shortestStep), longestStep);
    double left = events->length - time;
    return left / fmax(ceil(left / h * (1.0 - 1e-9)), 1.0);
}

void tpEvents_ScheduleStep(tpEvents* events, double time) {
    if (isinf(events->stepTime)) {
        events->settleTime = INFINITY;
        events->settledTime = time;
        events->stepTime = time;
        tpHeap_Set(&events->heap, 0, time);
    }
}

void tpEvents_ScheduleSettling(tpEvents* events, double time) {
    // At once, as long as that happens no more than a few times between two steps.
    double settleTime = fmax(time, events->settledTime);
    if (events->settleCount >= freeSettlings) {
        settleTime = fmax(time, events->settledTime + events->settings.period);
    }
    if (settleTime < events->stepTime && settleTime < events->settleTime) {
        events->settleTime = settleTime;
        tpHeap_Set(&events->heap, 0, settleTime);
    }
}

// Bodies of joints, and no reactions yet.
static void findBound(tpEvents* events) {
    tpSystem* system = events->system;
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        joint->force = joint->torque = tpZeroVec3();
        for (int side = 0; joint->isLive && side < 2; ++side) {
            int body = side == 0 ? joint->bodyA : joint->bodyB;
            if (tpSystem_IsDynamic(system, body)) {
                events->flights.data[body].isBound = true;
            }
        }
    }
}

bool tpEvents_StartTimeStepper(tpEvents* events) {
    tpSystem* system = events->system;
    events->stepTime = events->settleTime = INFINITY;
    events->settledTime = 0.0;
    events->settleCount = 0;
    findBound(events);
    bool isUsed = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        tpFlight* flight = &events->flights.data[i];
        bool isOurs = flight->kind == tp_ballistic && (body->isHandedOver || flight->isBound);
        body->isHandedOver = isOurs && events->settings.handsOver;
        if (body->isHandedOver) {
            flight->kind = tp_stepped;
            tpEvents_RefreshFlight(events, i);
            isUsed = true;
        } else if (isOurs) {
            events->report->note = "joints are not held without hand_over";
        }
    }
    return isUsed;
}

void tpEvents_HandOver(tpEvents* events, int body) {
    if (!events->settings.handsOver || events->flights.data[body].joins) {
        return;
    }
    // The island: through close pairs, from body to body that can move.
    events->island.count = 0;
    if (!TP_RESERVE(&events->allocator, events->island, events->flights.count)) {
        events->outOfMemory = true;
        return;
    }
    events->flights.data[body].joins = true;
    events->island.data[events->island.count++] = body;
    for (int k = 0; k < events->island.count; ++k) {
        int link = events->flights.data[events->island.data[k]].firstLink;
        while (link >= 0) {
            const tpNearPair* pair = &events->nearPairs.data[link / 2];
            int other = pair->body[1 - link % 2];
            tpFlight* flight = &events->flights.data[other];
            bool isClose = false;
            for (int i = pair->firstShapes; i >= 0; i = events->nearShapes.data[i].next) {
                isClose = isClose || events->nearShapes.data[i].isClose;
            }
            if (isClose && flight->kind == tp_ballistic && !flight->joins) {
                flight->joins = true;
                events->island.data[events->island.count++] = other;
            }
            link = pair->nextLink[link % 2];
        }
    }
    events->hasJoiners = true;
}

void tpEvents_TakeOver(tpEvents* events, double time) {
    tpSystem* system = events->system;
    tpEvents_ScheduleStep(events, time);
    // Until the next step they drift as the others do, with the forces of that time given at once.
    double rest = events->stepTime - time;
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (!flight->joins) {
            continue;
        }
        tpEvents_Advance(events, i, time);
        if (rest > 0.0) {
            tpVec3* linear = &system->velocities.data[i].linear;
            *linear = tpMulAdd(*linear, rest, flight->acceleration);
            events->report->externalWork += tpSystem_KickBody(system, i, system->time + time, rest);
        }
        flight->kind = tp_stepped;
        flight->joins = flight->leaves = false;
        system->bodies.data[i].isHandedOver = true;
        tpEvents_UpdateBody(events, i, time, -1);
    }
    if (rest > 0.0) {
        tpEvents_ScheduleSettling(events, time);
    }
    events->hasJoiners = false;
    events->report->note = "bodies were handed to the time stepper";
}

// Membership ------------------------------------------------------------------------------------

// Bodies end the last step, and leave. Returns how many are stepped.
static int endStep(tpEvents* events, double time) {
    tpSystem* system = events->system;
    int count = 0;
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped || flight->kind == tp_told) {
            tpEvents_Advance(events, i, time);
        }
        if (flight->kind == tp_stepped) {
            tpVec3* angular = &system->velocities.data[i].angular;
            *angular = tpAdd(*angular, flight->spinAfter);
            flight->spinAfter = tpZeroVec3();
        }
        if (flight->kind == tp_stepped && flight->leaves) {
            flight->kind = tp_ballistic;
            flight->leaves = false;
            flight->eventCount = 0;
            system->bodies.data[i].isHandedOver = false;
            events->report->note = "bodies were taken back from the time stepper";
            tpEvents_UpdateBody(events, i, time, -1);
        }
        count += flight->kind == tp_stepped;
    }
    return count;
}

// Contacts --------------------------------------------------------------------------------------

// Contacts among stepped bodies and with bodies that do not move by impulses, in order, with gaps of at most
// `farthest`.
static tpContact* findContacts(tpEvents* events, const tpTimeStep* step, double farthest,
                               int* count) {
    events->touches.count = 0;
    for (int p = 0; p < events->nearPairs.count; ++p) {
        const tpNearPair* pair = &events->nearPairs.data[p];
        const tpFlight* a = &events->flights.data[pair->body[0]];
        const tpFlight* b = &events->flights.data[pair->body[1]];
        bool isOurs = a->kind != tp_ballistic && b->kind != tp_ballistic &&
                      (a->kind == tp_stepped || b->kind == tp_stepped);
        double margin = step->margins[pair->body[0]] + step->margins[pair->body[1]];
        margin = fmin(margin + 2.0 * events->settings.tolerance, farthest);
        for (int i = pair->firstShapes; isOurs && i >= 0; i = events->nearShapes.data[i].next) {
            if (!tpEvents_CollectTouches(events, i, margin)) {
                return NULL;
            }
            events->report->checkCount += 1;
        }
    }
    tpContact* contacts = TP_SCRATCH(&events->system->arena, tpContact, events->touches.count);
    *count = 0;
    for (int i = 0; contacts != NULL && i < events->touches.count; ++i) {
        const tpContact* contact = &events->touches.data[i].contact;
        int place = (*count)++;
        while (place > 0 && tpContact_CompareKeys(contact, &contacts[place - 1]) < 0) {
            contacts[place] = contacts[place - 1];
            --place;
        }
        contacts[place] = *contact;
    }
    return contacts;
}

// The step --------------------------------------------------------------------------------------

// Rows of contacts and joints. A gap that is open is met exactly; overlaps within the room that contacts
// have anyhow are left alone, so that pushing them out costs no energy. What has hit in the step before bounces.
static void addRows(const tpEvents* events, tpTimeStep* step) {
    double room = events->settings.deepest;
    int cursor = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        double gap = contact->gap;
        double bias = (gap > 0.0 ? gap : fmin(0.0, gap + room)) / step->h;
        const tpContactMemory* last =
            tpContactHistory_Find(&events->memory->history, contact, &cursor);
        if (last != NULL && last->hasHit) {
            bias += step->laws[i].restitution * last->normalSpeed;
        }
        tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i, &step->laws[i],
                          bias);
    }
    tpJointTreatment treatment = { step->h, 1.0, NULL, step->h };
    tpJoints_AddRows(&step->rows, step->system, step->startPoses, &treatment);
}

// Tallies the impulses; remembers them where the next solve is to start from them.
static bool keepImpulses(tpEvents* events, const tpTimeStep* step, bool isRemembered) {
    tpContactHistory* history = &events->memory->history;
    const tpRows* rows = &step->rows;
    if (isRemembered) {
        history->list.count = 0;
        if (!TP_RESERVE(&events->allocator, history->list, step->contactCount)) {
            return false;
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        const tpContact* contact = &step->contacts[rows->infos[b].index];
        const tpContactLaw* law = &step->laws[rows->infos[b].index];
        const double* r = rows->impulse + rows->firstRows[b];
        tpContactMemory memory;
        memset(&memory, 0, sizeof(memory));
        memory.key = tpContact_Key(contact);
        memory.point = contact->pointA;
        memory.impulse = tpScale(r[0], contact->normal);
        for (int k = 1; k < rows->dimensions[b] && k < 3; ++k) {
            memory.impulse = tpMulAdd(memory.impulse, r[k], law->tangents[k - 1]);
        }
        memory.torsion = rows->dimensions[b] == 4 ? r[3] : 0.0;
        memory.normalSpeed = tpRows_RowVelocity(rows, rows->firstRows[b], step->startVelocities,
                                                contact->bodyA, contact->bodyB);
        double threshold = 2.0 * step->h * events->settings.pull;
        memory.hasHit = r[0] > 0.0 && memory.normalSpeed < -threshold;
        if (isRemembered) {
            history->list.data[history->list.count++] = memory;
        }
        tpTallied tallied = { .impulse = memory.impulse, .torsion = memory.torsion };
        if (r[0] > 0.0 && !tpEvents_Tally(events, contact, &tallied)) {
            return false;
        }
    }
    return true;
}

// Who touches nothing may leave.
static void findFree(tpEvents* events, const tpTimeStep* step) {
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        flight->leaves = flight->kind == tp_stepped && !flight->isBound;
    }
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        if (contact->gap <= 2.0 * events->settings.tolerance) {
            events->flights.data[contact->bodyA].leaves = false;
            events->flights.data[contact->bodyB].leaves = false;
        }
    }
}

static bool solveStep(tpEvents* events, tpTimeStep* step, double h) {
    tpSystem* system = events->system;
    int count;
    if (!tpTimeStep_Begin(step, system, h, h, events->report)) {
        return false;
    }
    tpContact* contacts = findContacts(events, step, INFINITY, &count);
    if (contacts == NULL || !tpTimeStep_UseContacts(step, contacts, count)) {
        return false;
    }
    addRows(events, step);
    tpTimeStep_SetFreeVelocities(step);
    tpTimeStep_WarmStart(step, &events->memory->history, 1.0);
    if (!tpRows_Solve(&step->rows, system, events->memory->solver, &events->settings.solve,
                      events->report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    tpRows_AccountEnergy(&step->rows, system, step->kicked, step->pushed, step->contacts,
                         events->report);
    tpJoints_AddReactions(system, &step->rows, events->length);
    findFree(events, step);
    return keepImpulses(events, step, true);
}

// Velocities with which nothing that touches sinks any deeper.
static bool settle(tpEvents* events, tpTimeStep* step) {
    tpSystem* system = events->system;
    int count;
    if (!tpTimeStep_Begin(step, system, events->stepLength, 0.0, events->report)) {
        return false;
    }
    tpContact* contacts = findContacts(events, step, events->settings.tolerance, &count);
    if (contacts == NULL || !tpTimeStep_UseContacts(step, contacts, count)) {
        return false;
    }
    tpRows* rows = &step->rows;
    for (int i = 0; i < count; ++i) {
        tpRows_AddContact(rows, system, step->startPoses, &contacts[i], i, &step->laws[i], 0.0);
    }
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.0 };
    tpJoints_AddRows(rows, system, step->startPoses, &treatment);
    for (int b = 0; b < rows->blockCount; ++b) {
        int index = rows->infos[b].index;
        bool isContact = rows->infos[b].source == tp_contactSource;
        int bodyA = isContact ? contacts[index].bodyA : system->joints.data[index].bodyA;
        int bodyB = isContact ? contacts[index].bodyB : system->joints.data[index].bodyB;
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k) {
            rows->q[k] =
                rows->bias[k] + tpRows_RowVelocity(rows, k, step->startVelocities, bodyA, bodyB);
        }
    }
    if (!tpRows_Solve(rows, system, events->memory->solver, &events->settings.solve,
                      events->report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    tpRows_AccountEnergy(rows, system, step->kicked, step->pushed, step->contacts, events->report);
    return keepImpulses(events, step, false);
}

// Solves with all other bodies as if they could not move, at a time after the frame's start. Gives stepped
// bodies their new velocities.
static bool solveApart(tpEvents* events, double time, bool isSettling) {
    tpSystem* system = events->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    int count = system->bodyCount;
    double* masses = TP_SCRATCH(&system->arena, double, count);
    tpVelocity* kept = TP_SCRATCH(&system->arena, tpVelocity, count);
    if (masses == NULL || kept == NULL) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        masses[i] = system->bodies.data[i].inverseMass;
        kept[i] = system->velocities.data[i];
        if (events->flights.data[i].kind == tp_ballistic) {
            system->bodies.data[i].inverseMass = 0.0;
        }
    }
    double start = system->time;
    system->time += time;
    tpTimeStep step;
    bool isDone = isSettling ? settle(events, &step) : solveStep(events, &step, events->stepLength);
    system->time = start;
    for (int i = 0; i < count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        system->bodies.data[i].inverseMass = masses[i];
        system->velocities.data[i] = kept[i];
        if (isDone && flight->kind == tp_stepped) {
            system->velocities.data[i] = isSettling ? step.pushed[i] : step.moves[i];
        }
        if (isDone && flight->kind == tp_stepped && !isSettling) {
            flight->spinAfter = tpSub(step.velocities[i].angular, step.moves[i].angular);
        }
    }
    tpArena_Release(&system->arena, mark);
    return isDone;
}

bool tpEvents_StepTime(tpEvents* events, double time) {
    bool isSettling = time < events->stepTime;
    if (isSettling) {
        for (int i = 0; i < events->flights.count; ++i) {
            tpFlightKind kind = events->flights.data[i].kind;
            if (kind == tp_stepped || kind == tp_told) {
                tpEvents_Advance(events, i, time);
            }
        }
    } else if (endStep(events, time) == 0) {
        events->stepTime = INFINITY;
        tpHeap_Remove(&events->heap, 0);
        return true;
    }
    events->report->fallback = "time stepper";
    events->report->substepCount += 1;
    if (!isSettling) {
        events->stepLength = stepLength(events, time);
    }
    if (!solveApart(events, time, isSettling)) {
        return false;
    }
    events->settledTime = time;
    events->settleTime = INFINITY;
    events->settleCount = isSettling ? events->settleCount + 1 : 0;
    if (!isSettling) {
        events->stepTime = time + events->stepLength;
    }
    if (events->stepTime > events->length * (1.0 - 1e-9)) {
        events->stepTime = events->length;
        tpHeap_Remove(&events->heap, 0);
    } else {
        tpHeap_Set(&events->heap, 0, events->stepTime);
    }
    for (int i = 0; i < events->flights.count; ++i) {
        if (events->flights.data[i].kind == tp_stepped) {
            tpEvents_UpdateBody(events, i, time, -1);
        }
    }
    return true;
}

bool tpEvents_FinishTimeStepper(tpEvents* events) {
    tpSystem* system = events->system;
    bool isUsed = false;
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped) {
            tpVec3* angular = &system->velocities.data[i].angular;
            *angular = tpAdd(*angular, flight->spinAfter);
            isUsed = isUsed || flight->isBound;
            // Whoever is to leave does so as the next frame starts.
            system->bodies.data[i].isHandedOver = !flight->leaves;
        }
        events->report->handedOverCount += system->bodies.data[i].isHandedOver ? 1 : 0;
    }
    if (isUsed) {
        tpJoints_FollowAngles(system);
        tpJoints_Correct(system, events->memory->solver, 1e-10);
        double drift = tpJoints_Drift(system, system->poses.data);
        events->report->jointDrift = fmax(events->report->jointDrift, drift);
    }
    return true;
}

// Joints alone -----------------------------------------------------------------------------------

bool tpEvents_IsAllBound(const tpEvents* events) {
    bool isBound = false;
    for (int i = 0; i < events->flights.count; ++i) {
        const tpFlight* flight = &events->flights.data[i];
        bool isMovable = flight->kind == tp_ballistic || flight->kind == tp_stepped;
        if (isMovable && !(flight->kind == tp_stepped && flight->isBound)) {
            return false;
        }
        isBound = isBound || isMovable;
    }
    return isBound;
}

void tpEvents_StepWhole(tpEvents* events, const tpOptions* options) {
    tpSystem* system = events->system;
    tpAnitescuStepper.step(system, events->memory, options, events->length, events->report);
    events->report->fallback = "time stepper";
    for (int i = 0; i < system->bodyCount; ++i) {
        system->bodies.data[i].isHandedOver = events->flights.data[i].kind == tp_stepped;
        events->report->handedOverCount += system->bodies.data[i].isHandedOver ? 1 : 0;
    }
}
