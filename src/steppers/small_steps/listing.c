// What a step leaves: the contacts at its end with what the next step starts from, and the list of
// contacts for the user. Contacts at the start carry the impulses, those at the end have the gaps.
//
// The list is made when somebody asks for it, of what lies in the arena until the next step.

#include <string.h>

#include "dynamics/matching.h"
#include "steppers/small_steps/step.h"

enum { runsAChunk = 64, contactsAChunk = 1024 };

// What the loops over runs and contacts share.
typedef struct Remembering {
    tpSmallStep* step;
    tpCarried* carried; // of each contact at the start; zeros for those left out
    const tpContact* ends;
    int endCount;
    tpMatching matching; // of those at the end with those at the start
    int* listed;         // of each chunk
    double* overlaps;    // the deepest of each chunk, m
} Remembering;

// The list --------------------------------------------------------------------------------------------

// A contact of the start is listed where it carried something or touches at the end.
static tpContactInfo describe(const tpContact* contact, double gap) {
    tpContactInfo info = tpContactInfo_Make(contact);
    info.gap = gap;
    return info;
}

static tpVec3 laneVector(const float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

// Velocity of A against B where a contact is, at the end of the step.
static tpVec3 velocityAt(const tpSmallStep* step, const tpSoftRun* run, const tpSoftPack* pack,
                         int lane) {
    const tpVelocity* a = &step->velocities[run->bodyA[lane]];
    const tpVelocity* b = &step->velocities[run->bodyB[lane]];
    tpVec3 onA = tpAdd(a->linear, tpCross(a->angular, laneVector(pack->armA, lane)));
    tpVec3 onB = tpAdd(b->linear, tpCross(b->angular, laneVector(pack->armB, lane)));
    return tpSub(onA, onB);
}

static void addImpulses(const tpSmallStep* step, const tpSoftRun* run, const tpSoftPack* pack,
                        int lane, tpContactInfo* info) {
    const tpSoftPack* framed = run->isFlat ? &step->sweep.packs[run->first] : pack;
    tpVec3 t = laneVector(framed->tangents[0], lane), o = laneVector(framed->tangents[1], lane);
    tpVec3 u = velocityAt(step, run, pack, lane);
    double ut = tpDot(u, t), uo = tpDot(u, o);
    info->normalImpulse = pack->total[0][lane];
    info->frictionImpulse = tpMulAdd(tpScale(pack->total[1][lane], t), pack->total[2][lane], o);
    info->slidingSpeed = sqrt(ut * ut + uo * uo);
    if (info->normalImpulse > 0.0) {
        info->state = info->slidingSpeed > tpStickingSpeed ? tp_sliding : tp_sticking;
    }
}

// Gaps at the end of the contacts of the start; those that have left the margins are apart.
static void findGaps(const Remembering* all, double* gaps) {
    const tpSmallStep* step = all->step;
    for (int i = 0; i < step->contactCount; ++i) {
        gaps[i] = fmax(step->contacts[i].gap, 2.0 * tpTouchDistance);
    }
    for (int j = 0; j < all->endCount; ++j) {
        int i = all->matching.match[j];
        if (i >= 0) {
            gaps[i] = all->ends[j].gap;
        }
    }
}

// Where there is no memory for the list, it is empty.
static void listContacts(tpSystem* system, void* context) {
    const Remembering* all = context;
    const tpSmallStep* step = all->step;
    system->contacts.count = 0;
    double* gaps = TP_SCRATCH(&system->arena, double, step->contactCount);
    int32_t* places = TP_SCRATCH(&system->arena, int32_t, step->contactCount);
    if (gaps == NULL || places == NULL) {
        return;
    }
    findGaps(all, gaps);
    for (int i = 0; i < step->contactCount; ++i) {
        bool isListed = all->carried[i].normal > 0.0 || gaps[i] <= tpTouchDistance;
        places[i] = isListed ? system->contacts.count : -1;
        if (isListed) {
            system->contacts.data[system->contacts.count++] = describe(&step->contacts[i], gaps[i]);
        }
    }
    for (int r = 0; r < step->runCount; ++r) {
        const tpSoftRun* run = &step->runs[r];
        for (int k = 0; k < run->count * run->lanes; ++k) {
            const tpSoftPack* pack = &step->sweep.packs[run->first + k / run->lanes];
            int lane = k % run->lanes, contact = pack->contact[lane];
            if (contact >= 0 && places[contact] >= 0) {
                addImpulses(step, run, pack, lane, &system->contacts.data[places[contact]]);
            }
        }
    }
}

// The next step ---------------------------------------------------------------------------------------

static void carryChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Remembering* all = context;
    const tpSmallStep* step = all->step;
    tpRange range = tpChunkAt(step->runCount, runsAChunk, chunk);
    all->listed[chunk] = 0;
    for (int r = range.begin; r < range.end; ++r) {
        all->listed[chunk] += step->wide->carryRun(&step->sweep, &step->runs[r], all->carried);
    }
}

static void rememberChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Remembering* all = context;
    tpRange range = tpMatching_Run(&all->matching, tpChunkAt(all->endCount, contactsAChunk, chunk));
    double deepest = 0.0;
    int listed = 0;
    for (int j = range.begin; j < range.end; ++j) {
        deepest = fmax(deepest, -all->ends[j].gap);
        tpVec3* start = &all->step->state->starts.data[j];
        *start = tpZeroVec3();
        int i = all->matching.match[j];
        if (i < 0) {
            continue;
        }
        const tpCarried* carried = &all->carried[i];
        listed += !(carried->normal > 0.0) && all->ends[j].gap <= tpTouchDistance ? 1 : 0;
        // A step that gives no numbers is undone; the next one must not start from them.
        tpVec3 impulse = tpScale(all->step->substeps, carried->last);
        *start = tpIsFiniteVec3(impulse) ? impulse : *start;
    }
    all->overlaps[chunk] = deepest;
    all->listed[chunk] = listed;
}

static bool reserve(Remembering* all, int carryChunks, int chunks) {
    tpSmallStep* step = all->step;
    tpArena* arena = &step->system->arena;
    all->carried = TP_SCRATCH_ZEROED(arena, tpCarried, step->contactCount);
    all->listed = TP_SCRATCH(arena, int, carryChunks > chunks ? carryChunks : chunks);
    all->overlaps = TP_SCRATCH(arena, double, chunks);
    return !arena->failed &&
           tpMatching_Create(&all->matching, step->contacts, step->contactCount, all->ends,
                             all->endCount, arena) &&
           TP_RESERVE(&step->system->allocator, step->state->starts, all->endCount);
}

bool tpSmallStep_Remember(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    Remembering* all = TP_SCRATCH_ZEROED(&system->arena, Remembering, 1);
    if (all == NULL) {
        return false;
    }
    // The contacts of the start stay where they are, under another name.
    tpContactArray contacts = state->past;
    state->past = state->contacts;
    state->contacts = contacts;
    state->structure = 0;
    state->starts.count = 0;
    if (tpSystem_CollectContacts(system, step->margins, &state->contacts) != tp_success) {
        return false;
    }
    all->step = step;
    all->ends = state->contacts.data;
    all->endCount = state->contacts.count;
    int carryChunks = tpChunksOf(step->runCount, runsAChunk);
    int chunks = tpChunksOf(all->endCount, contactsAChunk), listed = 0;
    if (!reserve(all, carryChunks, chunks)) {
        return false;
    }
    tpTasks_Run(system->tasks, carryChunk, all, carryChunks);
    for (int c = 0; c < carryChunks; ++c) {
        listed += all->listed[c];
    }
    tpTasks_Run(system->tasks, rememberChunk, all, chunks);
    for (int c = 0; c < chunks; ++c) {
        listed += all->listed[c];
        step->report->penetration = fmax(step->report->penetration, all->overlaps[c]);
    }
    state->starts.count = all->endCount;
    state->structure = system->structure;
    step->report->contactCount = listed;
    if (!TP_RESERVE(&system->allocator, system->contacts, listed)) {
        return false;
    }
    tpSystem_PromiseContacts(system, listContacts, all);
    return true;
}
