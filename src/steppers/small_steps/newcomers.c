// Manifolds that have been given lanes are written into them.
//
// One thread hands out lanes, which is little work; writing is more, and shared. Lanes of one run
// have masks and counts in common, so that all of a run's belong to one share: shares go by the
// runs' numbers, and there are as many on any number of threads.

#include <string.h>

#include "steppers/small_steps/search.h"

enum { shareCount = 64, fewNewcomers = 32 };

typedef struct Newcomer {
    int32_t chunk, answer;
} Newcomer;

typedef struct Share {
    int first, count; // in the list of newcomers
    int listed;
    double penetration; // deepest, m
} Share;

typedef struct Newcomers {
    tpContactSearch* search;
    Newcomer* list; // by share
    Share shares[shareCount];
} Newcomers;

static int shareOf(const tpSmallSteps* state, const tpAnswer* answer) {
    return state->store.places.data[answer->slot] / tp_packWidth % shareCount;
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

static void writeNewcomer(const tpSmallStep* step, const tpAnswer* answer,
                          const tpContactPoint* points, tpLawMemo* memo, Share* share) {
    const tpSmallSteps* state = step->state;
    const tpShape* shapes = step->system->shapes.data;
    tpFoundManifold found = {
        answer->shapes, shapes[answer->shapes.shapeA].body, shapes[answer->shapes.shapeB].body,
        points,         tpAnswer_PointCount(answer),        answer->slack,
        &answer->over
    };
    int lane;
    tpSoftRun* run = tpPackStore_Find(&state->store, answer->slot, &lane);
    tpKeptPoint woken[tp_mostPoints];
    tpKeptManifold kept = { woken, 0 };
    recallManifold(step, answer->shapes, &kept);
    // What slept has no load of the last step: nothing departs.
    tpDeparted departed = { NULL, 0 };
    tpWriteManifold(step, &found, memo, &kept, run, lane, &departed);
    share->listed += tpCountListed(step, run, lane, &share->penetration);
}

static const tpAnswer* answerOf(const Newcomers* newcomers, int k) {
    const Newcomer* newcomer = &newcomers->list[k];
    return &newcomers->search->answers[newcomer->chunk].list[newcomer->answer];
}

static void writeShare(void* context, int number, int worker) {
    (void)worker;
    Newcomers* newcomers = context;
    const tpContactSearch* search = newcomers->search;
    Share* share = &newcomers->shares[number];
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int k = share->first; k < share->first + share->count; ++k) {
        const tpAnswer* answer = answerOf(newcomers, k);
        const tpContactPoint* points = search->answers[newcomers->list[k].chunk].points;
        writeNewcomer(search->step, answer, points + answer->first, memo, share);
    }
}

// How many newcomers each share has; returns how many there are.
static int countNewcomers(Newcomers* newcomers, int chunks) {
    const tpSmallSteps* state = newcomers->search->step->state;
    int count = 0;
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &newcomers->search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            if (answers->list[k].isPlaced) {
                newcomers->shares[shareOf(state, &answers->list[k])].count += 1;
            }
        }
    }
    for (int s = 0; s < shareCount; ++s) {
        Share* share = &newcomers->shares[s];
        share->first = count;
        count += share->count;
        share->count = 0;
    }
    return count;
}

static void listNewcomers(Newcomers* newcomers, int chunks) {
    const tpSmallSteps* state = newcomers->search->step->state;
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &newcomers->search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            if (answers->list[k].isPlaced) {
                Share* share = &newcomers->shares[shareOf(state, &answers->list[k])];
                newcomers->list[share->first + share->count++] = (Newcomer){ c, k };
            }
        }
    }
}

bool tpContactSearch_WriteNewcomers(tpContactSearch* search, int chunks) {
    tpSmallStep* step = search->step;
    Newcomers newcomers;
    memset(&newcomers, 0, sizeof(newcomers));
    newcomers.search = search;
    int count = countNewcomers(&newcomers, chunks);
    if (count == 0) {
        return true;
    }
    newcomers.list = TP_SCRATCH(&step->system->arena, Newcomer, count);
    if (newcomers.list == NULL) {
        return false;
    }
    listNewcomers(&newcomers, chunks);
    tpTasks* tasks = count > fewNewcomers ? step->system->tasks : NULL;
    tpTasks_Run(tasks, writeShare, &newcomers, shareCount);
    for (int s = 0; s < shareCount; ++s) {
        const Share* share = &newcomers.shares[s];
        step->listed += share->listed;
        step->penetration = fmax(step->penetration, share->penetration);
    }
    return true;
}
