// Steps of the bodies that were handed over (hand_over.c says who they are).
//
// All of them step together. A step gives them the forces of its length, solves for impulses under
// which the constrained drift ends with no gap closed further than it may be (steppers/drift.c, the
// careful way, which gives no energy), and leaves them to drift at constant velocity v' until it
// ends. What has collided then bounces: the gaps of contacts that pushed open with e times the
// approach from before the step [Anitescu03, (4.10)], as far as the energy goes that the step has
// taken.
//
// What is in flight may hit a body on its way, at the part s of the step. The step then ends there,
// with the velocities
//
//     v(s) = v + s (v' - v),
//
// those of a body in free fall or at rest. Kinetic energy is convex in v and potential energy
// linear in the drift, so that the energy at s is no more than the mean of those at both ends: none
// is gained by ending a step early. After the collision the next step begins at once.

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/drift.h"
#include "steppers/mirtich_canny/frame.h"

// Overlaps beyond the collision tolerance, which no step has left, are taken back in about this
// time, in units of time.
static const double pushOutTime = 0.05;

// Velocities of contacts are solved to this part of what gravity gives in a step at least: contact
// forces then carry a weight to a part of a billion.
static const double weightPart = 2e-10;

// Steps of a frame that may use up all their means; after these, none has any.
enum { exhaustedLimit = 4 };

// Of what a frame may cost, for a step that begins again after an impact on its way, and for
// velocities after one, at the least.
static const double leastShare = 0.005;

// Contacts --------------------------------------------------------------------------------------

// Contacts among stepped bodies and with bodies that do not move by impulses, in order.
static bool findContacts(void* context, const tpTimeStep* step, tpContact** contacts, int* count) {
    tpEvents* events = context;
    events->touches.count = 0;
    for (int p = 0; p < events->nearPairs.count; ++p) {
        if (!tpEvents_IsStepped(events, p)) {
            continue;
        }
        const tpNearPair* pair = &events->nearPairs.data[p];
        double margin = step->margins[pair->body[0]] + step->margins[pair->body[1]];
        margin += 2.0 * events->settings.tolerance;
        for (int i = pair->firstShapes; i >= 0; i = events->nearShapes.data[i].next) {
            int first = events->touches.count;
            if (!tpEvents_CollectTouches(events, i, margin)) {
                return false;
            }
            events->report->figures[tp_checkFigure] += 1;
            events->searchWork += tp_touchesWork;
            tpShapePair asked = { events->nearShapes.data[i].shapeA,
                                  events->nearShapes.data[i].shapeB };
            tpStepBudget_SpendPairs(events->system, &asked, 1, events->touches.count - first);
            tpNearShapes* shapes = &events->nearShapes.data[i];
            shapes->isClose = false;
            for (int k = first; k < events->touches.count; ++k) {
                double gap = events->touches.data[k].contact.gap;
                shapes->isClose = shapes->isClose || gap <= events->settings.tolerance;
            }
        }
    }
    *contacts = TP_SCRATCH(&events->system->arena, tpContact, events->touches.count);
    *count = 0;
    for (int i = 0; *contacts != NULL && i < events->touches.count; ++i) {
        const tpContact* contact = &events->touches.data[i].contact;
        int place = (*count)++;
        while (place > 0 && tpContact_CompareKeys(contact, &(*contacts)[place - 1]) < 0) {
            (*contacts)[place] = (*contacts)[place - 1];
            --place;
        }
        (*contacts)[place] = *contact;
    }
    return *contacts != NULL;
}

// The step --------------------------------------------------------------------------------------

// Who touches nothing where the step ends leaves then.
static void findFree(tpEvents* events, const tpTimeStep* step) {
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        flight->leaves = flight->kind == tp_stepped && !flight->isBound;
    }
    for (int i = 0; step->rows.rowCount > 0 && i < step->endCount; ++i) {
        const tpContact* contact = &step->endContacts[i];
        if (contact->gap <= 2.0 * events->settings.tolerance) {
            events->flights.data[contact->bodyA].leaves = false;
            events->flights.data[contact->bodyB].leaves = false;
        }
        events->report->penetration = fmax(events->report->penetration, -contact->gap);
    }
}

// What the contacts carry, for the tally when the step ends, and for the start of the next solve.
// Contacts that were ended early on their way to a collision remember the approach that it began
// with.
static bool keepImpulses(tpEvents* events, const tpTimeStep* step, const tpTally* tally) {
    tpContactHistory* history = &events->memory->history;
    if (!TP_RESERVE(&events->allocator, events->carried, tally->count)) {
        return false;
    }
    tpContactMemory* list = TP_SCRATCH(&events->system->arena, tpContactMemory, tally->count);
    if (list == NULL) {
        return false;
    }
    events->carried.count = tally->count;
    double threshold = 2.0 * step->h * events->settings.pull;
    int cursor = 0;
    for (int i = 0; i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        tpContact contact = tpContactInfo_Contact(info);
        const tpContactMemory* last = tpContactHistory_Find(history, &contact, &cursor);
        tpVec3 approach = tpSub(
            tpTimeStep_PointVelocity(step, contact.bodyA, info->point, step->startVelocities),
            tpTimeStep_PointVelocity(step, contact.bodyB, info->point, step->startVelocities));
        tpContactMemory memory;
        memset(&memory, 0, sizeof(memory));
        memory.key = tpContactInfo_Key(info);
        memory.point = info->point;
        memory.impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
        memory.torsion = info->torsionalImpulse;
        memory.normalSpeed = tpDot(approach, info->normal);
        if (last != NULL && last->hasHit) {
            memory.normalSpeed = fmin(memory.normalSpeed, last->normalSpeed);
        }
        memory.hasHit = info->normalImpulse > 0.0 && memory.normalSpeed < -threshold;
        list[i] = memory;
        events->carried.data[i] = *info;
    }
    history->list.count = 0;
    if (!TP_RESERVE(&events->allocator, history->list, tally->count)) {
        return false;
    }
    if (tally->count > 0) {
        memcpy(history->list.data, list, sizeof(tpContactMemory) * (size_t)tally->count);
    }
    history->list.count = tally->count;
    return true;
}

// Velocities at both ends of the step, and of the drift.
static void keepVelocities(tpEvents* events, const tpTimeStep* step, const double* kinetic) {
    tpSystem* system = events->system;
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped) {
            flight->before = step->startVelocities[i];
            flight->after = step->velocities[i];
            flight->kineticBefore = kinetic[i];
            flight->kineticAfter = tpSystem_BodyKineticEnergy(system, i);
        }
    }
}

// If solves have not come to their end energy could rise: velocities at the end of the step make
// up for that.
static void guardEnergy(tpEvents* events) {
    double kinetic = 0.0;
    for (int i = 0; i < events->flights.count; ++i) {
        const tpFlight* flight = &events->flights.data[i];
        kinetic += flight->kind == tp_stepped ? flight->kineticAfter : 0.0;
    }
    if (events->stepTaken >= 0.0 || !(kinetic > 0.0)) {
        return;
    }
    double part = fmax(0.0, 1.0 + events->stepTaken / kinetic), factor = sqrt(part);
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped) {
            flight->after.linear = tpScale(factor, flight->after.linear);
            flight->after.angular = tpScale(factor, flight->after.angular);
            flight->kineticAfter *= part;
        }
    }
    events->stepLosses.impact -= events->stepTaken;
    events->stepTaken = 0.0;
}

static bool solveStep(tpEvents* events, double h, tpTimeStep* step) {
    tpSystem* system = events->system;
    tpStepReport* report = events->report;
    tpStepLosses start = { report->externalWork, report->frictionLoss, report->impactLoss };
    double energy = tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system);
    double* kinetic = TP_SCRATCH(&system->arena, double, system->bodyCount);
    if (kinetic == NULL ||
        !TP_RESERVE(&events->allocator, events->reactions, 2 * tpJoints_ReactionCount(system))) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        kinetic[i] = tpSystem_BodyKineticEnergy(system, i);
    }
    tpJoints_ReadReactions(system, events->reactions.data);
    // Velocities need not be known better than gaps.
    double exact = 0.1 * events->settings.landing;
    tpSolveSettings solve = events->settings.solve;
    solve.tolerance = fmax(solve.tolerance, exact / tpEvents_LongestStep(events));
    double fall = tpLength(system->gravity) * h;
    solve.tolerance = fall > 0.0 ? fmin(solve.tolerance, weightPart * fall) : solve.tolerance;
    tpDriftSettings settings = { .solve = solve,
                                 .gamma = h / (pushOutTime * system->units.time),
                                 .isCareful = true,
                                 .isWhole = true,
                                 .tolerance = exact,
                                 .room = 0.9 * events->settings.tolerance,
                                 .find = findContacts,
                                 .context = events };
    tpDriftResult drift;
    tpTally tally = { NULL, 0 };
    if (!tpTimeStep_Begin(step, system, h, h) ||
        !tpDrift_Solve(step, events->memory, &settings, &drift, report) ||
        !tpTimeStep_Tally(step, &tally)) {
        return false;
    }
    tpTimeStep_AccountEnergy(step, report);
    tpJoints_AddReactions(system, &step->rows, events->length);
    events->stepLosses =
        (tpStepLosses){ report->externalWork - start.external,
                        report->frictionLoss - start.friction, report->impactLoss - start.impact };
    events->stepTaken = energy + events->stepLosses.external - tpSystem_KineticEnergy(system) -
                        tpSystem_PotentialEnergy(system);
    // They come into the report when it is known how much of the step was made.
    report->externalWork = start.external;
    report->frictionLoss = start.friction;
    report->impactLoss = start.impact;
    keepVelocities(events, step, kinetic);
    guardEnergy(events);
    findFree(events, step);
    return keepImpulses(events, step, &tally);
}

// Something that is done with all bodies in flight and mechanisms that have swung already as if
// they could not move, and those that move as told at constant velocities, at a time after the
// frame's start.
typedef bool tpApart(tpEvents* events, tpTimeStep* step);

static bool solveApart(tpEvents* events, double time, tpApart* solve) {
    tpSystem* system = events->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    int count = system->bodyCount;
    double* masses = TP_SCRATCH(&system->arena, double, count);
    tpKeyframe** keyframes = TP_SCRATCH(&system->arena, tpKeyframe*, count);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, count);
    tpVelocity* velocities = TP_SCRATCH(&system->arena, tpVelocity, count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpBody* body = &system->bodies.data[i];
        masses[i] = body->inverseMass;
        keyframes[i] = body->keyframes;
        poses[i] = system->poses.data[i];
        velocities[i] = system->velocities.data[i];
        body->keyframes = NULL;
        if (events->flights.data[i].kind != tp_stepped) {
            body->inverseMass = 0.0;
        }
    }
    double start = system->time;
    system->time += time;
    // Each step has the means that go with the time that it adds, as long as they suffice.
    if (events->exhaustedCount < exhaustedLimit) {
        system->solveWork = 0.0;
        double end = fmin(1.0, (time + events->stepLength) / events->length);
        double share = fmax(end - events->givenShare, leastShare);
        tpStepBudget_BeginPart(system, share * events->share);
        events->givenShare += share;
        double left = fmax(tpEvents_LeftShare(events), leastShare * events->share);
        system->stepShare = fmin(system->stepShare, left);
    }
    tpTimeStep step;
    bool isDone = solve(events, &step);
    events->exhaustedCount += tpSystem_HasWorkLeft(system) ? 0 : 1;
    system->time = start;
    for (int i = 0; i < count; ++i) {
        bool isOurs = isDone && events->flights.data[i].kind == tp_stepped;
        system->bodies.data[i].inverseMass = masses[i];
        system->bodies.data[i].keyframes = keyframes[i];
        system->poses.data[i] = poses[i];
        system->velocities.data[i] = isOurs ? step.meanVelocities[i] : velocities[i];
    }
    tpArena_Release(&system->arena, mark);
    return isDone;
}

// Impulses of what lasts grow with the length of the step.
static void scaleHistory(tpEvents* events) {
    double factor =
        events->stepLength / fmax(events->historyLength, 1e-12 * events->system->units.time);
    for (int i = 0; i < events->memory->history.list.count; ++i) {
        tpContactMemory* memory = &events->memory->history.list.data[i];
        memory->impulse = tpScale(factor, memory->impulse);
        memory->torsion *= factor;
    }
}

static bool beginStep(tpEvents* events, tpTimeStep* step) {
    if (events->historyLength > 0.0) {
        scaleHistory(events);
    }
    events->historyLength = events->stepLength;
    return solveStep(events, events->stepLength, step);
}

// Bounces ---------------------------------------------------------------------------------------

// The largest part of the impulses with which kinetic energy grows by no more than `allowed`.
static double affordablePart(const tpSystem* system, const tpTimeStep* step, double allowed) {
    // The energy is quadratic in the part: a l + b l^2.
    double a = 0.0, b = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        const tpBody* body = &system->bodies.data[i];
        tpQuat rotation = system->poses.data[i].rotation;
        tpVec3 linear = tpSub(step->pushed[i].linear, step->kicked[i].linear);
        tpVec3 angular = tpSub(step->pushed[i].angular, step->kicked[i].angular);
        tpVec3 momentum = tpInertia_Momentum(&body->form->inertia, rotation, angular);
        a += body->mass * tpDot(linear, step->kicked[i].linear) +
             tpDot(momentum, step->kicked[i].angular);
        b += 0.5 * (body->mass * tpLengthSquared(linear) + tpDot(momentum, angular));
    }
    if (a + b <= allowed || !(b > 0.0)) {
        return 1.0;
    }
    double root = sqrt(fmax(0.0, a * a + 4.0 * b * allowed));
    return fmin(1.0, fmax(0.0, (root - a) / (2.0 * b)));
}

// Whether a contact has collided in the step that has just ended, and how fast it came.
static const tpContactMemory* hitOf(const tpEvents* events, const tpContact* contact, int* cursor) {
    const tpContactMemory* last = tpContactHistory_Find(&events->memory->history, contact, cursor);
    bool isClosed = contact->gap <= 0.1 * events->settings.tolerance;
    return last != NULL && last->hasHit && isClosed ? last : NULL;
}

// Velocities with which everything that has collided bounces.
static bool solveBounce(tpEvents* events, tpTimeStep* step) {
    tpSystem* system = events->system;
    tpRows* rows = &step->rows;
    tpContact* contacts;
    int count, cursor = 0;
    if (!tpTimeStep_Begin(step, system, events->stepLength, 0.0) ||
        !findContacts(events, step, &contacts, &count) ||
        !tpTimeStep_UseContacts(step, contacts, count)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpContactMemory* hit = hitOf(events, &contacts[i], &cursor);
        if (contacts[i].gap <= events->settings.tolerance) {
            double bias = hit != NULL ? step->laws[i].restitution * hit->normalSpeed : 0.0;
            tpRows_AddContact(rows, system, step->startPoses, &contacts[i], i, &step->laws[i],
                              bias);
        }
    }
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.0, 0.0, false };
    tpJoints_AddRows(rows, system, step->startPoses, &treatment);
    // Nothing drifts here: velocities are those of the moment.
    step->freeMeanVelocities = step->freeVelocities = step->startVelocities;
    tpTimeStep_SetFreeVelocities(step);
    if (!tpRows_Solve(rows, system, events->memory->solver, &events->settings.solve,
                      events->report)) {
        return false;
    }
    memcpy(step->pushed, step->kicked, sizeof(tpVelocity) * (size_t)step->bodyCount);
    tpRows_ApplyImpulses(rows, step->pushed);
    double part = affordablePart(system, step, fmax(events->stepTaken, 0.0));
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] *= part;
    }
    memcpy(step->pushed, step->kicked, sizeof(tpVelocity) * (size_t)step->bodyCount);
    tpRows_ApplyImpulses(rows, step->pushed);
    step->meanVelocities = step->pushed;
    tpRowVelocities velocities = { step->kicked, step->pushed, NULL, NULL };
    tpRows_AccountEnergy(rows, &velocities, events->report);
    tpTally tally = { NULL, 0 };
    if (!tpTimeStep_Tally(step, &tally)) {
        return false;
    }
    for (int i = 0; i < tally.count; ++i) {
        const tpContactInfo* info = &tally.list[i];
        tpContact contact = tpContactInfo_Contact(info);
        tpTallied tallied = { .impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse,
                                                  info->normal),
                              .torsion = info->torsionalImpulse };
        if (info->normalImpulse > 0.0 && !tpEvents_Tally(events, &contact, &tallied)) {
            return false;
        }
    }
    return true;
}

static bool bounce(tpEvents* events, double time) {
    tpContactHistory* history = &events->memory->history;
    bool hasHit = false;
    for (int i = 0; i < history->list.count; ++i) {
        hasHit = hasHit || history->list.data[i].hasHit;
    }
    if (!hasHit) {
        return true;
    }
    bool isDone = solveApart(events, time, solveBounce);
    for (int i = 0; i < history->list.count; ++i) {
        history->list.data[i].hasHit = false;
    }
    return isDone;
}

// Ends ------------------------------------------------------------------------------------------

// The velocities of a body after a part of the step.
static void interpolate(tpEvents* events, int index, double part) {
    tpSystem* system = events->system;
    tpFlight* flight = &events->flights.data[index];
    tpVelocity* velocity = &system->velocities.data[index];
    if (part >= 1.0) {
        *velocity = flight->after;
        return;
    }
    tpVec3 linear = tpSub(flight->after.linear, flight->before.linear);
    tpVec3 angular = tpSub(flight->after.angular, flight->before.angular);
    velocity->linear = tpMulAdd(flight->before.linear, part, linear);
    velocity->angular = tpMulAdd(flight->before.angular, part, angular);
    // The inertia of a body that turns is not that of either end: no energy comes from that.
    double allowed = (1.0 - part) * flight->kineticBefore + part * flight->kineticAfter;
    double kinetic = tpSystem_BodyKineticEnergy(system, index);
    if (kinetic > allowed) {
        double factor = sqrt(allowed / kinetic);
        velocity->linear = tpScale(factor, velocity->linear);
        velocity->angular = tpScale(factor, velocity->angular);
        kinetic = allowed;
    }
    events->report->impactLoss += allowed - kinetic;
}

bool tpEvents_EndStep(tpEvents* events, double time) {
    tpSystem* system = events->system;
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlightKind kind = events->flights.data[i].kind;
        if (kind == tp_stepped || kind == tp_told) {
            tpEvents_Advance(events, i, time);
        }
    }
    if (!events->isStepping) {
        return true;
    }
    events->isStepping = false;
    double part = (time - events->stepStart) / events->stepLength;
    part = part > 1.0 - 1e-9 ? 1.0 : fmax(part, 0.0);
    for (int i = 0; i < events->flights.count; ++i) {
        if (events->flights.data[i].kind == tp_stepped) {
            interpolate(events, i, part);
            events->flights.data[i].leaves = events->flights.data[i].leaves && part == 1.0;
        }
    }
    tpStepReport* report = events->report;
    report->externalWork += part * events->stepLosses.external;
    report->frictionLoss += part * events->stepLosses.friction;
    report->impactLoss += part * events->stepLosses.impact;
    int count = tpJoints_ReactionCount(system);
    if (part < 1.0 && count > 0) {
        // Of what the whole step would have added, the part that was made.
        double *before = events->reactions.data, *after = before + count;
        tpJoints_ReadReactions(system, after);
        for (int i = 0; i < count; ++i) {
            after[i] = before[i] + part * (after[i] - before[i]);
        }
        tpJoints_WriteReactions(system, after);
    }
    for (int i = 0; part > 0.0 && i < events->carried.count; ++i) {
        const tpContactInfo* info = &events->carried.data[i];
        tpVec3 impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
        tpContact contact = tpContactInfo_Contact(info);
        tpTallied tallied = { .impulse = tpScale(part, impulse),
                              .torsion = part * info->torsionalImpulse };
        if (info->normalImpulse > 0.0 && !tpEvents_Tally(events, &contact, &tallied)) {
            return false;
        }
    }
    return part < 1.0 || bounce(events, time);
}

bool tpEvents_HasManySteps(const tpEvents* events) {
    enum { steps = 6, bodySteps = 400 };
    int count = 1;
    for (int i = 0; i < events->flights.count; ++i) {
        count += events->flights.data[i].kind == tp_stepped;
    }
    return events->stepCount > steps + bodySteps / count;
}

// Bodies that have got free fly, unless there have been many steps in the frame. Returns how many
// are left.
static int release(tpEvents* events, double time) {
    int count = 0;
    bool mayLeave = !tpEvents_HasManySteps(events);
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped && flight->leaves && mayLeave) {
            flight->kind = tp_ballistic;
            flight->leaves = false;
            flight->eventCount = 0;
            tpSystem_HandOver(events->system, i, false);
            tpStepReport_AddNote(events->report, "bodies were taken back from the time stepper");
            tpEvents_UpdateBody(events, i, time, -1);
        }
        count += flight->kind == tp_stepped;
    }
    return count;
}

bool tpEvents_StepTime(tpEvents* events, double time) {
    enum { passLimit = 3 };
    if (!tpEvents_EndStep(events, time)) {
        return false;
    }
    if (release(events, time) == 0) {
        events->stepTime = INFINITY;
        tpHeap_Remove(&events->heap, 0);
        return true;
    }
    events->report->fallback = "time stepper";
    events->stepCount += 1;
    // Bodies that are driven farther than anybody looked meet others: then it is solved again with
    // them.
    for (int pass = 0; pass < passLimit; ++pass) {
        events->stepStart = time;
        tpEvents_ChooseStep(events, time);
        events->hasNewcomers = false;
        events->report->substepCount += 1;
        if (!solveApart(events, time, beginStep)) {
            return false;
        }
        events->isStepping = true;
        for (int i = 0; i < events->flights.count; ++i) {
            if (events->flights.data[i].kind == tp_stepped) {
                tpEvents_UpdateBody(events, i, time, -1);
            }
        }
        if (!events->hasNewcomers || pass + 1 == passLimit) {
            break;
        }
        tpEvents_EndStep(events, time);
    }
    events->stepTime = time + events->stepLength;
    if (events->stepTime > events->length * (1.0 - 1e-9)) {
        events->stepTime = events->length;
        tpHeap_Remove(&events->heap, 0);
    } else {
        tpHeap_Set(&events->heap, 0, events->stepTime);
    }
    return true;
}

void tpEvents_ScheduleStep(tpEvents* events, double time) {
    events->stepTime = time;
    tpHeap_Set(&events->heap, 0, time);
}
