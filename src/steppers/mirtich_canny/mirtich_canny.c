// Event loop of the impulse-based stepper [MirtichCanny94, sec. 3].
//
// Between collisions every body moves ballistically on its own clock. The heap holds, for each near
// pair, a lower bound on its time of impact; the pair on top either collides or goes back with a
// later bound. Invariant: no pair outside the heap can touch in this frame, and none in it before
// its time. Deviation from the paper: equal times are ordered by pair number, so that runs repeat
// exactly. README.md beside this file has the equations, the table of symbols and all deviations.

#include "steppers/mirtich_canny/mirtich_canny.h"

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "dynamics/loads.h"
#include "dynamics/motion.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/mirtich_canny/frame.h"

// Of what a step may cost, for a frame that is a part of it, at the least.
static const double leastFrame = 0.5;

// Frames that another stepper takes after one that cost too much.
enum { shortestAway = 15, longestAway = 240 };

// State -------------------------------------------------------------------------------------------

static void destroy(tpSystem* system, void* state) {
    tpEvents* events = state;
    if (events == NULL) {
        return;
    }
    const tpAllocator* allocator = &events->allocator;
    tpStepperMemory_Destroy(system, events->memory);
    tpStepperMemory_Destroy(system, events->mechanisms);
    if (events->hash != NULL) {
        tp_hashBroadPhase.destroy(events->hash);
    }
    tpHeap_Destroy(&events->heap, allocator);
    TP_FREE_ARRAY(allocator, events->known);
    TP_FREE_ARRAY(allocator, events->flights);
    TP_FREE_ARRAY(allocator, events->boxes);
    TP_FREE_ARRAY(allocator, events->kinds);
    TP_FREE_ARRAY(allocator, events->radii);
    TP_FREE_ARRAY(allocator, events->pairs);
    TP_FREE_ARRAY(allocator, events->nearShapes);
    TP_FREE_ARRAY(allocator, events->nearPairs);
    TP_FREE_ARRAY(allocator, events->touches);
    TP_FREE_ARRAY(allocator, events->points);
    TP_FREE_ARRAY(allocator, events->island);
    TP_FREE_ARRAY(allocator, events->tally);
    TP_FREE_ARRAY(allocator, events->carried);
    TP_FREE_ARRAY(allocator, events->reactions);
    TP_FREE_ARRAY(allocator, events->pair.poses);
    TP_FREE_ARRAY(allocator, events->pair.velocities);
    TP_FREE_ARRAY(allocator, events->pair.bodies);
    tpArena_Destroy(&events->pair.arena);
    for (int i = 0; i < system->bodyCount; ++i) {
        tpSystem_HandOver(system, i, false);
    }
    tpAllocator own = events->allocator;
    tpRelease(&own, events, sizeof(tpEvents));
}

static bool create(tpSystem* system, void** state) {
    tpEvents* events = tpAllocateZeroed(&system->allocator, sizeof(tpEvents));
    if (events == NULL) {
        return false;
    }
    events->allocator = system->allocator;
    events->system = system;
    tpArena_Create(&events->pair.arena, &system->allocator);
    void *memory = NULL, *mechanisms = NULL;
    bool isMade = tpStepperMemory_Create(system, &memory) &&
                  tpStepperMemory_Create(system, &mechanisms) &&
                  tp_hashBroadPhase.create(&system->allocator, &events->hash) == tp_success;
    events->memory = memory;
    events->mechanisms = mechanisms;
    if (!isMade) {
        destroy(system, events);
        return false;
    }
    *state = events;
    return true;
}

// A snapshot: who is handed over, what is known of pairs, and the time stepper's memory.
typedef struct SavedEvents {
    int bodyCount, knownCount, awayCount, awayLength, awayBodies;
    uint64_t knownStructure;
} SavedEvents;

static size_t savedSize(const void* state) {
    const tpEvents* events = state;
    return sizeof(SavedEvents) + sizeof(tpKnownShapes) * (size_t)events->known.count +
           (size_t)events->system->bodyCount + tpStepperMemory_SavedSize(events->memory) +
           tpStepperMemory_SavedSize(events->mechanisms);
}

static void save(const void* state, void* saved) {
    const tpEvents* events = state;
    SavedEvents head;
    memset(&head, 0, sizeof(head)); // padding too
    head.bodyCount = events->system->bodyCount;
    head.knownCount = events->known.count;
    head.awayCount = events->awayCount;
    head.awayLength = events->awayLength;
    head.awayBodies = events->awayBodies;
    head.knownStructure = events->knownStructure;
    unsigned char* place = saved;
    memcpy(place, &head, sizeof(head));
    place += sizeof(head);
    size_t knownBytes = sizeof(tpKnownShapes) * (size_t)head.knownCount;
    if (knownBytes > 0) {
        memcpy(place, events->known.data, knownBytes);
    }
    place += knownBytes;
    for (int i = 0; i < head.bodyCount; ++i) {
        *place++ = events->system->bodies.data[i].carrier != NULL ? 1 : 0;
    }
    tpStepperMemory_Save(events->memory, place);
    tpStepperMemory_Save(events->mechanisms, place + tpStepperMemory_SavedSize(events->memory));
}

static bool restore(tpSystem* system, void* state, tpSavedReader* reader) {
    tpEvents* events = state;
    SavedEvents head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.knownCount, sizeof(tpKnownShapes)) ||
        !TP_RESERVE(&events->allocator, events->known, head.knownCount) ||
        !tpSavedReader_Take(reader, events->known.data,
                            sizeof(tpKnownShapes) * (size_t)head.knownCount)) {
        return false;
    }
    events->known.count = head.knownCount;
    events->knownStructure = head.knownStructure;
    events->awayCount = head.awayCount;
    events->awayLength = head.awayLength;
    events->awayBodies = head.awayBodies;
    reader->failed = head.bodyCount != system->bodyCount || head.awayCount < 0 ||
                     head.awayLength < 0 || head.awayLength > longestAway;
    for (int i = 0; i < head.bodyCount && !reader->failed; ++i) {
        unsigned char isHandedOver = 0;
        tpSavedReader_Take(reader, &isHandedOver, 1);
        tpSystem_HandOver(system, i, isHandedOver != 0);
    }
    return !reader->failed && tpStepperMemory_Restore(system, events->memory, reader) &&
           tpStepperMemory_Restore(system, events->mechanisms, reader);
}

// Settings ----------------------------------------------------------------------------------------

// How fast forces can press bodies together, at most: the scale of what rest means.
static double largestPull(const tpSystem* system) {
    double pull = tpLength(system->gravity);
    double push = 0.0;
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (force->isLive && tpSystem_IsDynamic(system, force->body)) {
            double own = tpLength(force->def.force) * system->bodies.data[force->body].inverseMass;
            push = fmax(push, own);
        }
    }
    double scale = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        const tpLoad* load = tpSystem_LoadOf(system, i);
        push = load != NULL ? fmax(push, body->inverseMass * tpLoad_LargestForce(load)) : push;
        scale = body->inverseMass > 0.0 ? fmax(scale, fabs(body->gravityScale)) : scale;
    }
    return (scale > 0.0 ? scale : 1.0) * pull + push;
}

// The least speed that tells a collision from a microcollision, in units of speed.
static const double leastMicroSpeed = 1e-7;

static tpEventSettings settingsFrom(const tpOptions* options, const tpSystem* system, double h) {
    tpEventSettings settings;
    memset(&settings, 0, sizeof(settings));
    settings.tolerance = options->values[tp_collisionToleranceOption];
    settings.landing = 1e-4 * settings.tolerance;
    settings.deepest = 0.4 * settings.tolerance;
    settings.pressed = 0.7 * settings.tolerance;
    double pull = largestPull(system);
    settings.pull = pull;
    settings.leastSpeed = leastMicroSpeed * system->units.speed;
    settings.microSpeed = options->values[tp_restitutionThresholdOption];
    // In a period a body at rest falls by a part of the room it has.
    double hop = pull > 0.0 ? sqrt(0.5 * settings.tolerance / pull) : h;
    settings.period = h / ceil(fmin(h / hop, 1e9) * (1.0 - 1e-9));
    settings.shortest = 0.02 * settings.period;
    settings.useStronge = options->values[tp_restitutionLawOption] != 0.0;
    settings.handsOver = options->values[tp_handOverOption] != 0.0;
    double share = options->values[tp_eventShareOption];
    double limit = share * (8.0 + h / settings.period);
    settings.eventLimit = limit < 1e6 ? (int)limit : 1000000;
    settings.checkLimit = 1000 + (int64_t)50 * settings.eventLimit * (system->bodyCount + 1);
    settings.solve = tpSolveSettings_FromOptions(options);
    return settings;
}

// The frame ---------------------------------------------------------------------------------------

// What a frame may cost in pairs that get another time, are looked at by the time stepper or come
// by new boxes: some .25 s, or 6 ms per body. Bodies that have few neighbours need a twentieth of
// it.
static const double leastSearch = 2e8, searchPerBody = 5e6;

// Whether events have used up the budget of the frame: its number of checks, and the work that a
// step of the world may cost. Strong forces make the beat of slow contacts so short that the number
// alone would last for minutes.
static bool isTooDear(const tpEvents* events) {
    const tpSystem* system = events->system;
    double checks = (double)events->report->figures[tp_checkFigure];
    double search = fmax(leastSearch, searchPerBody * system->bodyCount);
    return checks > (double)events->settings.checkLimit || events->searchWork > search ||
           !(tpEvents_LeftShare(events) > 0.0);
}

// The budget of the whole frame: what prevents a hang when nothing else does.
static bool isWithinBudget(tpEvents* events) {
    if (tpSystem_IsStopped(events->system)) {
        events->report->undone = true;
        return false;
    }
    if (!isTooDear(events)) {
        return true;
    }
    events->isTooDear = true;
    if (!events->settings.handsOver) {
        // That is why the step is undone, whatever was noted before.
        events->report->undone = true;
        events->report->noteCount = 0;
        tpStepReport_AddNote(events->report,
                             "the frame's budget of events ran out: take a smaller step");
    }
    return false;
}

static bool runEvents(tpEvents* events) {
    int32_t id;
    double time;
    while (tpHeap_Top(&events->heap, &id, &time) && time < events->length) {
        if (id == 0) {
            events->outOfMemory = !tpEvents_StepTime(events, time) || events->outOfMemory;
        } else {
            tpEvents_Check(events, id - 1, time);
        }
        if (events->hasJoiners) {
            tpEvents_TakeOver(events, time);
        }
        if (events->outOfMemory || !isWithinBudget(events)) {
            return false;
        }
    }
    return true;
}

static bool runFrame(tpEvents* events, const tpOptions* options) {
    tpSystem* system = events->system;
    events->tally.count = 0;
    if (tpSystem_NeedCollider(system) != tp_success || !tpEvents_StartFlights(events)) {
        return false;
    }
    // Swept boxes through the hash; every near pair is due at once.
    bool isStepped = tpEvents_StartTimeStepper(events);
    if (!tpEvents_FindNearPairs(events)) {
        return false;
    }
    bool areAll = false;
    if (isStepped && !tpEvents_SwingMechanisms(events, options, &areAll)) {
        return false;
    }
    if (areAll) {
        tpEvents_TellWhole(events);
        return true;
    }
    if (isStepped) {
        tpEvents_ScheduleStep(events, 0.0);
    }
    if (!runEvents(events)) {
        return false;
    }
    // All clocks to the end of the frame.
    for (int i = 0; i < system->bodyCount; ++i) {
        tpEvents_Advance(events, i, events->length);
    }
    tpSystem_MoveKinematic(system, system->time + events->length, 0.0);
    if (!tpEvents_FinishTimeStepper(events)) {
        return false;
    }
    int64_t operations = events->heap.operationCount;
    events->report->figures[tp_heapOperationFigure] =
        operations < INT32_MAX ? (int)operations : INT32_MAX;
    return tpEvents_ListContacts(events) && tpEvents_KeepKnown(events);
}

static int countDynamic(const tpSystem* system) {
    int count = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        count += tpSystem_IsDynamic(system, i);
    }
    return count;
}

// A frame whose events are not looked at, since those of one before it cost too much.
static bool leave(tpEvents* events, const tpOptions* options) {
    events->awayCount -= events->awayCount > 0 ? 1 : 0;
    tpEvents_StepAway(events, options);
    return !events->report->undone;
}

// The frame by events; if they cost too much, from its start by another stepper, and the next ones
// with it, twice as many each time.
static bool tryFrame(tpEvents* events, const tpOptions* options) {
    tpTrial trial;
    if (!tpTrial_Begin(&trial, events->system, &events->memory->history, events->report)) {
        return false;
    }
    bool isDone = runFrame(events, options);
    // Not spent as one solve of that size would be: it does not end what follows.
    events->system->stepWork += events->work + events->steppingWork;
    events->awayLength = isDone ? 0 : events->awayLength;
    if (isDone || !events->isTooDear || events->report->undone) {
        return isDone;
    }
    tpTrial_Undo(&trial);
    events->awayLength = events->awayLength > 0 ? 2 * events->awayLength : shortestAway;
    events->awayLength = events->awayLength < longestAway ? events->awayLength : longestAway;
    events->awayCount = events->awayLength;
    events->awayBodies = countDynamic(events->system);
    return leave(events, options);
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpEvents* events = state;
    events->settings = settingsFrom(options, system, h);
    events->report = report;
    events->length = h;
    events->outOfMemory = events->hasJoiners = events->isTooDear = false;
    events->work = events->steppingWork = events->searchWork = 0.0;
    events->startWork = tpStepBudget_Work(system);
    events->share = fmax(tpStepBudget_Share(system), leastFrame);
    events->givenShare = 0.0;
    bool isAway = events->awayCount > 0 && countDynamic(system) == events->awayBodies;
    bool isDone = isAway ? leave(events, options) : tryFrame(events, options);
    if (!isDone && !report->undone) {
        tpStepReport_RunOut(report);
    }
    events->report = NULL;
}

static tpEnergyBook* bookOf(void* state) {
    return &((tpEvents*)state)->mechanisms->book;
}

static const tpOptionIndex used[] = { tp_collisionToleranceOption,
                                      tp_restitutionThresholdOption,
                                      tp_restitutionLawOption,
                                      tp_handOverOption,
                                      tp_eventShareOption,
                                      tp_toleranceOption,
                                      tp_certificateOption,
                                      tp_coneOption,
                                      tp_directionsOption,
                                      tp_thetaOption,
                                      tp_gammaOption,
                                      tp_energyGuardOption,
                                      tp_optionCount };

static const tpFigureIndex figures[] = { tp_checkFigure,          tp_collisionFigure,
                                         tp_microcollisionFigure, tp_heapOperationFigure,
                                         tp_handedOverFigure,     tp_figureCount };

const tpStepper tpMirtichCannyStepper = {
    .name = "mirtich-canny",
    .summary = "impacts one by one at their exact times; resting contact by microcollisions",
    .closesAccount = true,
    .seesCrossings = true,
    .hasCarriers = true,
    .options = used,
    .figures = figures,
    .lacks = tp_lacksStaticFriction | tp_lacksRollingFriction | tp_lacksCompliance,
    .create = create,
    .destroy = destroy,
    .step = step,
    .bookOf = bookOf,
    .savedSize = savedSize,
    .save = save,
    .restore = restore,
};
