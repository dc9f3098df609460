// Manifolds that have been given lanes are written into them, and lanes that others have left are
// cleared.
//
// One thread hands out lanes, which is little work; writing and clearing are more, and shared.
// Lanes of one run have masks and counts in common, so that all of a run's belong to one share:
// shares go by the runs' numbers, and there are as many on any number of threads.

#include <string.h>

#include "steppers/small_steps/search.h"

enum { shareCount = 64, fewNewcomers = 32 };

typedef struct Newcomer {
    int32_t chunk, answer;
} Newcomer;

typedef struct Share {
    int first, count; // in the list of newcomers
    int firstLeft, leftCount;
    int listed;
    double penetration; // deepest, m
    tpDeparted departed;
    int departedRoom;
} Share;

typedef struct Newcomers {
    tpContactSearch* search;
    Newcomer* list;       // by share
    tpKeptManifold* kept; // of each of them
    int keptRoom;         // points of them all, at most
    int32_t* left;        // places that manifolds have left, by share
    Share shares[shareCount];
} Newcomers;

static int shareOfPlace(int32_t place) {
    return place / tp_packWidth % shareCount;
}

static int shareOf(const tpSmallSteps* state, const tpAnswer* answer) {
    return shareOfPlace(state->store.places.data[answer->slot]);
}

// What a manifold carried when its bodies fell asleep, if they have just woken.
static void recallManifold(const tpSmallStep* step, tpShapePair shapes, tpKeptManifold* kept) {
    const tpSleep* sleep = &step->state->sleep;
    kept->count = 0;
    for (int i = 0; i < sleep->woken.count && kept->count < tp_mostPoints; ++i) {
        const tpContactInfo* info = &sleep->woken.data[i];
        if ((int32_t)info->shapeA.slot - 1 != shapes.shapeA ||
            (int32_t)info->shapeB.slot - 1 != shapes.shapeB) {
            continue;
        }
        tpVec3 total = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
        kept->points[kept->count++] =
            (tpKeptPoint){ .feature = info->feature,
                           .place = info->point,
                           .normal = info->normal,
                           .impulse = tpScale(1.0 / step->substeps, total),
                           .twist = info->torsionalImpulse / step->substeps };
    }
}

// What a newcomer keeps of the manifold that it was before. The run where that lies may be one that
// others come into: all is read before anything is written.
static void keepNewcomer(const tpSmallStep* step, const tpAnswer* answer, tpKeptManifold* kept,
                         Share* share) {
    const tpSmallSteps* state = step->state;
    if (answer->from >= 0) {
        const tpSoftRun* old = &state->store.runs.data[answer->from / tp_packWidth];
        double deepest = 0.0;
        tpKeepManifold(step, old, answer->from % tp_packWidth, kept);
        share->listed -= tpCountListed(old, answer->from % tp_packWidth, &deepest);
    } else {
        recallManifold(step, answer->shapes, kept);
    }
}

static void writeNewcomer(const tpSmallStep* step, const tpAnswer* answer,
                          const tpContactPoint* points, tpKeptManifold* kept, tpLawMemo* memo,
                          Share* share) {
    const tpSmallSteps* state = step->state;
    const tpShape* shapes = step->system->shapes.data;
    tpFoundManifold found = {
        answer->shapes, shapes[answer->shapes.shapeA].body, shapes[answer->shapes.shapeB].body,
        points,         tpAnswer_PointCount(answer),        answer->slack,
        &answer->over
    };
    int lane, gone = share->departed.count;
    tpSoftRun* run = tpPackStore_Find(&state->store, answer->slot, &lane);
    tpWriteManifold(step, &found, memo, kept, run, lane, &share->departed);
    share->listed += tpCountListed(run, lane, &share->penetration);
    share->listed += share->departed.count - gone;
}

static const tpAnswer* answerOf(const Newcomers* newcomers, int k) {
    const Newcomer* newcomer = &newcomers->list[k];
    return &newcomers->search->answers[newcomer->chunk].list[newcomer->answer];
}

static void keepShare(void* context, int number, int worker) {
    (void)worker;
    Newcomers* newcomers = context;
    Share* share = &newcomers->shares[number];
    for (int k = share->first; k < share->first + share->count; ++k) {
        keepNewcomer(newcomers->search->step, answerOf(newcomers, k), &newcomers->kept[k], share);
    }
}

static void writeShare(void* context, int number, int worker) {
    (void)worker;
    Newcomers* newcomers = context;
    const tpContactSearch* search = newcomers->search;
    Share* share = &newcomers->shares[number];
    for (int k = share->firstLeft; k < share->firstLeft + share->leftCount; ++k) {
        int32_t place = newcomers->left[k];
        tpSoftRun_ClearLane(&search->step->state->store.runs.data[place / tp_packWidth],
                            place % tp_packWidth);
    }
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int k = share->first; k < share->first + share->count; ++k) {
        const tpAnswer* answer = answerOf(newcomers, k);
        const tpContactPoint* points = search->answers[newcomers->list[k].chunk].points;
        writeNewcomer(search->step, answer, points + answer->first, &newcomers->kept[k], memo,
                      share);
    }
}

// Contacts of this manifold that may depart.
static int mayDepart(const tpSmallSteps* state, const tpAnswer* answer) {
    return answer->from >= 0 ? state->store.runs.data[answer->from / tp_packWidth]
                                   .points[answer->from % tp_packWidth]
                             : 0;
}

// Points of it that are to be kept at most.
static int mayKeep(const tpSmallSteps* state, const tpAnswer* answer) {
    int recalled = state->sleep.woken.count > 0 ? tp_mostPoints : 0;
    return answer->from >= 0 ? mayDepart(state, answer) : recalled;
}

// How many newcomers and left lanes each share has, and how many there are.
static void countNewcomers(Newcomers* newcomers, int chunks, int* count, int* leftCount) {
    const tpSmallSteps* state = newcomers->search->step->state;
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &newcomers->search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            if (answers->list[k].from >= 0) {
                newcomers->shares[shareOfPlace(answers->list[k].from)].leftCount += 1;
            }
            if (answers->list[k].isPlaced) {
                Share* share = &newcomers->shares[shareOf(state, &answers->list[k])];
                share->count += 1;
                share->departedRoom += mayDepart(state, &answers->list[k]);
                newcomers->keptRoom += mayKeep(state, &answers->list[k]);
            }
        }
    }
    for (int s = 0; s < shareCount; ++s) {
        Share* share = &newcomers->shares[s];
        share->first = *count;
        share->firstLeft = *leftCount;
        *count += share->count;
        *leftCount += share->leftCount;
        share->count = share->leftCount = 0;
    }
}

static bool listNewcomers(Newcomers* newcomers, int chunks, int count, int leftCount) {
    const tpSmallSteps* state = newcomers->search->step->state;
    tpArena* arena = &newcomers->search->step->system->arena;
    newcomers->list = TP_SCRATCH(arena, Newcomer, count);
    newcomers->kept = TP_SCRATCH(arena, tpKeptManifold, count);
    newcomers->left = TP_SCRATCH(arena, int32_t, leftCount);
    tpKeptPoint* points = TP_SCRATCH(arena, tpKeptPoint, newcomers->keptRoom);
    for (int s = 0; s < shareCount; ++s) {
        Share* share = &newcomers->shares[s];
        share->departed.list = TP_SCRATCH(arena, tpContactInfo, share->departedRoom);
    }
    if (arena->failed) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &newcomers->search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            int32_t from = answers->list[k].from;
            if (from >= 0) {
                Share* share = &newcomers->shares[shareOfPlace(from)];
                newcomers->left[share->firstLeft + share->leftCount++] = from;
            }
            if (answers->list[k].isPlaced) {
                Share* share = &newcomers->shares[shareOf(state, &answers->list[k])];
                newcomers->kept[share->first + share->count] = (tpKeptManifold){ points, 0 };
                newcomers->list[share->first + share->count++] = (Newcomer){ c, k };
                points += mayKeep(state, &answers->list[k]);
            }
        }
    }
    return true;
}

bool tpContactSearch_WriteNewcomers(tpContactSearch* search, int chunks) {
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    const tpAllocator* allocator = &step->system->allocator;
    Newcomers newcomers;
    memset(&newcomers, 0, sizeof(newcomers));
    newcomers.search = search;
    int count = 0, leftCount = 0;
    countNewcomers(&newcomers, chunks, &count, &leftCount);
    if (count + leftCount == 0) {
        return true;
    }
    if (!listNewcomers(&newcomers, chunks, count, leftCount)) {
        return false;
    }
    tpTasks* tasks = count + leftCount > fewNewcomers ? step->system->tasks : NULL;
    tpTasks_Run(tasks, keepShare, &newcomers, shareCount);
    tpTasks_Run(tasks, writeShare, &newcomers, shareCount);
    for (int s = 0; s < shareCount; ++s) {
        const Share* share = &newcomers.shares[s];
        step->listed += share->listed;
        step->penetration = fmax(step->penetration, share->penetration);
        for (int k = 0; k < share->departed.count; ++k) {
            if (!TP_PUSH(allocator, state->departed, share->departed.list[k])) {
                return false;
            }
        }
    }
    return true;
}
