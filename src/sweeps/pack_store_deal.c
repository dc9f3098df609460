// Lanes of one colour are dealt anew, so that manifolds of as many points share a run.
//
// A run has as many packs as its longest manifold has points, and a sweep costs as much for a lane
// without a point as for another. Manifolds of one colour share no body that moves: any of them may
// be in any of the colour's runs. The fewest packs are needed if the eight longest manifolds have
// the first run, the next eight the second, and so on. Runs are looked at group by group, an eighth
// of the groups in each step, and lanes change places only if packs are saved.

#include <string.h>

#include "sweeps/pack_store_parts.h"

// Runs of a colour that are looked at together; groups per step, a part of all and one.
enum { mostRuns = 64, dealPart = 8 };

typedef struct Deal {
    tpPackStore* store;
    int runCount;
    int32_t runs[mostRuns]; // those with most packs first
    // Of each run: lanes for manifolds of so many points that are still to be filled.
    uint8_t quotas[mostRuns][tp_mostPoints + 1];
    uint8_t settled[mostRuns]; // a bit per lane: what is there stays
    int saved;                 // packs
} Deal;

static tpSoftRun* runOf(const Deal* deal, int place) {
    return &deal->store->runs.data[deal->runs[place]];
}

// Runs of a stretch of the order, which are of one colour, with balls or without.
static void openDeal(Deal* deal, tpPackStore* store, int begin, int end, bool areBalls) {
    deal->store = store;
    deal->runCount = 0;
    deal->saved = 0;
    for (int i = begin; i < end; ++i) {
        const tpSoftRun* run = &store->runs.data[store->order.data[i]];
        if (run->areBalls != areBalls) {
            continue;
        }
        int place = deal->runCount++;
        for (; place > 0 && runOf(deal, place - 1)->count < run->count; --place) {
            deal->runs[place] = deal->runs[place - 1];
        }
        deal->runs[place] = store->order.data[i];
    }
}

// How many manifolds of each number of points each run is to have, and what that saves.
static void planDeal(Deal* deal) {
    int left[tp_mostPoints + 1] = { 0 }, points = 0;
    for (int r = 0; r < deal->runCount; ++r) {
        const tpSoftRun* run = runOf(deal, r);
        deal->saved += run->count;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if ((run->used >> lane & 1) != 0) {
                left[run->points[lane]] += 1;
                points = run->points[lane] > points ? run->points[lane] : points;
            }
        }
    }
    memset(deal->quotas, 0, sizeof(deal->quotas[0]) * (size_t)deal->runCount);
    for (int r = 0; r < deal->runCount; ++r) {
        int most = 0;
        for (int lanes = tp_packWidth; lanes > 0 && points >= 0;) {
            int count = left[points] < lanes ? left[points] : lanes;
            deal->quotas[r][points] = (uint8_t)count;
            most = count > 0 && points > most ? points : most;
            left[points] -= count;
            lanes -= count;
            points -= left[points] == 0 ? 1 : 0;
        }
        deal->saved -= most;
    }
}

// Lanes whose manifolds may stay where they are.
static void settleLanes(Deal* deal) {
    for (int r = 0; r < deal->runCount; ++r) {
        const tpSoftRun* run = runOf(deal, r);
        deal->settled[r] = 0;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            uint8_t* quota = &deal->quotas[r][run->points[lane]];
            if ((run->used >> lane & 1) != 0 && *quota > 0) {
                *quota -= 1;
                deal->settled[r] = (uint8_t)(deal->settled[r] | 1u << lane);
            }
        }
    }
}

static int unsettledLane(const Deal* deal, int place) {
    return __builtin_ctz(~(unsigned)deal->settled[place]);
}

// Moves what does not stay to runs that wait for it: whatever is there comes back in exchange.
static bool exchangeLanes(Deal* deal) {
    for (int r = 0; r < deal->runCount; ++r) {
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            const tpSoftRun* run = runOf(deal, r);
            while ((deal->settled[r] >> lane & 1) == 0 && (run->used >> lane & 1) != 0) {
                int points = run->points[lane], to = 0;
                while (deal->quotas[to][points] == 0) {
                    ++to;
                }
                deal->quotas[to][points] -= 1;
                int toLane = to == r ? lane : unsettledLane(deal, to);
                if (to != r && !tpPackStore_ExchangeLanes(deal->store, deal->runs[r], lane,
                                                          deal->runs[to], toLane)) {
                    return false;
                }
                deal->settled[to] = (uint8_t)(deal->settled[to] | 1u << toLane);
            }
        }
    }
    return true;
}

static bool dealColour(tpPackStore* store, int begin, int end) {
    for (int areBalls = 0; areBalls < tp_runSorts; ++areBalls) {
        Deal deal;
        openDeal(&deal, store, begin, end, areBalls != 0);
        planDeal(&deal);
        if (deal.saved <= 0) {
            continue;
        }
        settleLanes(&deal);
        if (!exchangeLanes(&deal)) {
            return false;
        }
        for (int r = 0; r < deal.runCount; ++r) {
            tpPackStore_CloseIfEmpty(store, deal.runs[r]);
        }
    }
    return true;
}

static bool dealGroup(tpPackStore* store, int32_t group) {
    const tpSoftRun* runs = store->runs.data;
    const int32_t* order = store->order.data;
    int end = store->groupFirsts.data[group + 1];
    for (int i = store->groupFirsts.data[group]; i < end;) {
        int colour = runs[order[i]].colour, first = i;
        while (i < end && i < first + mostRuns && runs[order[i]].colour == colour) {
            ++i;
        }
        if (colour < tp_maskColours && !dealColour(store, first, i)) {
            return false;
        }
    }
    return true;
}

bool tpPackStore_Deal(tpPackStore* store) {
    if (!tpPackStore_Order(store)) {
        return false;
    }
    int groups = store->groups.count, looks = groups / dealPart + 1;
    for (int k = 0; k < looks && k < groups; ++k) {
        store->dealt = (store->dealt + 1) % groups;
        if (!dealGroup(store, store->dealt)) {
            return false;
        }
    }
    return tpPackStore_Order(store);
}
