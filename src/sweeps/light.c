#include "sweeps/light.h"

#include <string.h>

#include "sweeps/colour.h"
#include "sweeps/light_kernels.h"
#include "sweeps/sweeper_kernels.h"

enum { velocityNumbers = 8 };

// Friction at its limit is rounded to a float beside it: within this part of the limit, and of the
// load before, it is at it.
static const double limitRounding = 1e-6;

const tpLightKernels* tpGetLightKernels(int width) {
    if (!tpHasWidth(width)) {
        return NULL;
    }
#ifdef TP_HAS_WIDE_KERNELS
    if (width > 1) {
        return width == 8 ? &tp_avx512LightKernels : &tp_avx2LightKernels;
    }
#endif
    return &tp_plainLightKernels;
}

// Where the impulses of a pack begin.
static ptrdiff_t placeOf(const tpLightSweeper* light, int pack) {
    return (ptrdiff_t)light->rowCount * tp_lightWidth * pack;
}

// Numbers of all bodies' changes of velocity, in whole packs. The body of empty lanes is the last.
static int changeNumbers(const tpSweeper* sweeper) {
    int numbers = velocityNumbers * (sweeper->bodyCount + 1);
    return (numbers + tp_lightWidth - 1) / tp_lightWidth * tp_lightWidth;
}

// Choosing ---------------------------------------------------------------------------------------

static bool matters(const tpContactPack* pack, int lane, double margin) {
    return pack->bias[0][lane] < TP_SWEEP_OPEN &&
           (pack->impulse[0][lane] > 0.0 || pack->speed[0][lane] + pack->bias[0][lane] < margin);
}

// The chosen contacts of each pair of bodies; `list` receives the contacts. Returns the number of
// manifolds. `isRound`: whether the contacts of all of them are.
static int findManifolds(tpLightSweeper* light, double margin, tpManifold* manifolds, int32_t* list,
                         bool* isRound) {
    const tpSweeper* sweeper = light->sweeper;
    int count = 0, lastA = -1, lastB = -1;
    light->chosenCount = 0;
    light->rowCount = 1;
    *isRound = true;
    for (int i = 0; i < sweeper->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        light->isChosen[i] = matters(pack, lane, margin);
        if (!light->isChosen[i]) {
            continue;
        }
        bool rubs = pack->muStatic[lane] > 0.0 || pack->muDynamic[lane] > 0.0;
        light->rowCount = rubs ? 3 : light->rowCount;
        *isRound = *isRound && tpContactPack_IsRound(pack, lane, sweeper->bodies);
        int a = pack->bodyA[lane], b = pack->bodyB[lane];
        if (count == 0 || a != lastA || b != lastB) {
            bool movesA = sweeper->bodies[a].inverseMass > 0.0;
            bool movesB = sweeper->bodies[b].inverseMass > 0.0;
            manifolds[count++] =
                (tpManifold){ light->chosenCount, 0, movesA ? a : -1, movesB ? b : -1, 0 };
        }
        lastA = a;
        lastB = b;
        manifolds[count - 1].count += 1;
        list[light->chosenCount++] = i;
    }
    return count;
}

static void fillContact(const tpLightSweeper* light, int place, const tpContactPack* from,
                        int lane) {
    tpLightPack* pack = &light->packs[place / tp_lightWidth];
    static const int diagonal[3] = { 0, 3, 5 };
    float* weight = light->weight + placeOf(light, place / tp_lightWidth);
    int to = place % tp_lightWidth;
    for (int k = 0; k < 3; ++k) {
        pack->normal[k][to] = (float)from->normal[k][lane];
        pack->tangents[0][k][to] = (float)from->tangents[0][k][lane];
        pack->tangents[1][k][to] = (float)from->tangents[1][k][lane];
        pack->armA[k][to] = (float)from->armA[k][lane];
        pack->armB[k][to] = (float)from->armB[k][lane];
        pack->stick[k][to] = (float)(light->damping * from->stick[k][lane]);
    }
    pack->inverseNormal[to] = (float)(light->damping * from->inverseNormal[lane]);
    pack->crossed[0][to] = (float)from->response[1][lane];
    pack->crossed[1][to] = (float)from->response[2][lane];
    pack->slide[to] = (float)(light->damping * from->slide[lane]);
    pack->muStatic[to] = (float)from->muStatic[lane];
    pack->muDynamic[to] = (float)from->muDynamic[lane];
    for (int k = 0; k < light->rowCount; ++k) {
        weight[tp_lightWidth * k + to] = (float)from->response[diagonal[k]][lane];
    }
}

// Packs of round contacts, place by place as the others.
static void fillRounds(const tpLightSweeper* light) {
    const tpSweeper* sweeper = light->sweeper;
    memset(light->rounds, 0, sizeof(tpRoundPack) * (size_t)light->packCount);
    for (int place = 0; place < tp_lightWidth * light->packCount; ++place) {
        tpRoundPack* pack = &light->rounds[place / tp_lightWidth];
        int to = place % tp_lightWidth, contact = light->contacts[place], lane;
        pack->bodyA[to] = pack->bodyB[to] = sweeper->bodyCount;
        if (contact >= 0) {
            const tpContactPack* from = tpSweeper_PackOf(sweeper, contact, &lane);
            tpRoundPack_Fill(pack, to, from, lane, sweeper->bodies, light->damping);
        }
    }
}

static void fillBody(const tpSweeper* sweeper, int body, int lane, int32_t* bodies,
                     float (*mass)[tp_lightWidth]) {
    bodies[lane] = body;
    mass[0][lane] = (float)sweeper->bodies[body].inverseMass;
    for (int k = 0; k < 6; ++k) {
        mass[k + 1][lane] = (float)sweeper->bodies[body].inverseInertia[k];
    }
}

// The points of the largest of some manifolds. Those with more points come first, but only up to
// sixteen of them count for the order.
static int mostPoints(const tpManifold* manifolds, const int32_t* order, int count) {
    int most = 0;
    for (int k = 0; k < count; ++k) {
        int points = manifolds[order[k]].count;
        most = points > most ? points : most;
    }
    return most;
}

// Up to sixteen manifolds side by side.
static void fillRun(tpLightSweeper* light, const tpManifold* manifolds, const int32_t* order,
                    int manifoldCount, const int32_t* list) {
    tpLightRun* run = &light->runs[light->runCount++];
    memset(run, 0, sizeof(*run));
    run->first = light->packCount;
    for (int lane = 0; lane < tp_lightWidth; ++lane) {
        run->bodyA[lane] = run->bodyB[lane] = light->sweeper->bodyCount;
    }
    run->count = mostPoints(manifolds, order, manifoldCount);
    light->packCount += run->count;
    memset(&light->packs[run->first], 0, sizeof(tpLightPack) * (size_t)run->count);
    memset(light->weight + placeOf(light, run->first), 0,
           sizeof(float) * (size_t)placeOf(light, run->count));
    memset(light->contacts + tp_lightWidth * (ptrdiff_t)run->first, -1,
           sizeof(int32_t) * tp_lightWidth * (size_t)run->count);
    for (int lane = 0; lane < manifoldCount; ++lane) {
        const tpManifold* manifold = &manifolds[order[lane]];
        for (int k = 0; k < manifold->count; ++k) {
            int place = (run->first + k) * tp_lightWidth + lane,
                contact = list[manifold->first + k];
            int from;
            const tpContactPack* pack = tpSweeper_PackOf(light->sweeper, contact, &from);
            light->contacts[place] = contact;
            fillContact(light, place, pack, from);
            if (k == 0) {
                fillBody(light->sweeper, pack->bodyA[from], lane, run->bodyA, run->massA);
                fillBody(light->sweeper, pack->bodyB[from], lane, run->bodyB, run->massB);
                run->hasLocks |= pack->hasLocks;
            }
        }
    }
}

// Packs that runs of so many manifolds take.
static int countPacks(const tpManifold* manifolds, const int32_t* order, int count) {
    int packs = 0;
    for (int m = 0; m < count;) {
        int end = tpEndOfColour(manifolds, order, count, m);
        for (; m < end; m += tp_lightWidth) {
            int lanes = end - m < tp_lightWidth ? end - m : tp_lightWidth;
            packs += mostPoints(manifolds, order + m, lanes);
        }
        m = end;
    }
    return packs;
}

bool tpLight_Choose(tpLightSweeper* light, tpSweeper* sweeper, double margin, double damping,
                    tpArena* arena) {
    int contactCount = sweeper->contactCount;
    memset(light, 0, sizeof(*light));
    light->kernels = tpGetLightKernels(sweeper->wide->width);
    light->sweeper = sweeper;
    light->damping = damping;
    light->isChosen = TP_SCRATCH(arena, bool, contactCount);
    tpManifold* manifolds = TP_SCRATCH(arena, tpManifold, contactCount);
    int32_t* order = TP_SCRATCH(arena, int32_t, contactCount);
    int32_t* list = TP_SCRATCH(arena, int32_t, contactCount);
    uint64_t* used = TP_SCRATCH_ZEROED(arena, uint64_t, sweeper->bodyCount);
    if (arena->failed) {
        return false;
    }
    bool isRound;
    int count = findManifolds(light, margin, manifolds, list, &isRound);
    isRound = isRound && light->rowCount == 3 && count == light->chosenCount;
    tpColourManifolds(manifolds, count, used, order);
    int packs = countPacks(manifolds, order, count);
    light->impulseCount = (int)placeOf(light, packs);
    light->runs = TP_SCRATCH(arena, tpLightRun, count);
    light->packs = TP_SCRATCH(arena, tpLightPack, packs);
    light->rounds = isRound ? TP_SCRATCH(arena, tpRoundPack, packs) : NULL;
    light->contacts = TP_SCRATCH(arena, int32_t, tp_lightWidth * (size_t)packs);
    light->weight = TP_SCRATCH(arena, float, light->impulseCount);
    light->impulses = TP_SCRATCH_ZEROED(arena, float, light->impulseCount);
    light->loaded = TP_SCRATCH_ZEROED(arena, float, light->impulseCount);
    light->from = TP_SCRATCH(arena, double, light->impulseCount);
    light->changeCount = changeNumbers(sweeper);
    light->changes = TP_SCRATCH(arena, float, light->changeCount);
    if (arena->failed) {
        return false;
    }
    for (int m = 0; m < count;) {
        int end = tpEndOfColour(manifolds, order, count, m);
        for (; m < end; m += tp_lightWidth) {
            int lanes = end - m < tp_lightWidth ? end - m : tp_lightWidth;
            fillRun(light, manifolds, order + m, lanes, list);
        }
        m = end;
    }
    if (isRound) {
        fillRounds(light);
    }
    return true;
}

// Rounds -----------------------------------------------------------------------------------------

// What is known of a contact in double precision.
static void loadContact(tpLightSweeper* light, int place, const tpContactPack* from, int lane) {
    int to = place % tp_lightWidth, pack = place / tp_lightWidth;
    bool isRound = light->rounds != NULL;
    float(*speeds)[tp_lightWidth] = isRound ? light->rounds[pack].speed : light->packs[pack].speed;
    float* beyond = isRound ? light->rounds[pack].beyond : light->packs[pack].beyond;
    float* loaded = light->loaded + placeOf(light, pack);
    for (int k = 0; k < light->rowCount; ++k) {
        speeds[k][to] = (float)(from->speed[k][lane] + from->bias[k][lane]);
        loaded[tp_lightWidth * k + to] = (float)from->impulse[k][lane];
        light->from[placeOf(light, pack) + tp_lightWidth * k + to] = from->impulse[k][lane];
    }
    double rt = from->impulse[1][lane], ro = from->impulse[2][lane];
    double limit = from->muDynamic[lane] * from->impulse[0][lane];
    beyond[to] = (float)(rt * rt + ro * ro - limit * limit);
}

void tpLight_Load(tpLightSweeper* light) {
    memset(light->changes, 0, sizeof(float) * (size_t)light->changeCount);
    memset(light->impulses, 0, sizeof(float) * (size_t)light->impulseCount);
    for (int place = 0; place < tp_lightWidth * light->packCount; ++place) {
        int contact = light->contacts[place], lane;
        if (contact >= 0) {
            const tpContactPack* pack = tpSweeper_PackOf(light->sweeper, contact, &lane);
            loadContact(light, place, pack, lane);
        }
    }
}

// Takes back what a pack has added to velocities along locked axes, where there was nothing.
static void hold(tpLightSweeper* light, const tpLightRun* run) {
    for (int side = 0; side < 2; ++side) {
        const int32_t* ofLane = side == 0 ? run->bodyA : run->bodyB;
        for (int lane = 0; lane < tp_lightWidth; ++lane) {
            int body = ofLane[lane];
            if (body < light->sweeper->bodyCount && tpSweeper_IsLocked(light->sweeper, body)) {
                tpVec3 free = light->sweeper->freeAxes[body];
                float* change = light->changes + 8 * (ptrdiff_t)body;
                change[0] *= (float)free.x;
                change[1] *= (float)free.y;
                change[2] *= (float)free.z;
            }
        }
    }
}

// Sweeps or starts a run; one with locked axes pack by pack.
static void goOver(tpLightSweeper* light, const tpLightRun* run,
                   void (*go)(tpLightSweeper* light, const tpLightRun* run)) {
    if (!run->hasLocks) {
        go(light, run);
        return;
    }
    _Alignas(64) tpLightRun one = *run;
    one.count = 1;
    for (int p = 0; p < run->count; ++p) {
        one.first = run->first + p;
        go(light, &one);
        hold(light, run);
    }
}

void tpLight_Sweep(tpLightSweeper* light) {
    if (light->rounds != NULL) {
        light->kernels->sweepRounds(light);
        return;
    }
    for (int r = 0; r < light->runCount; ++r) {
        goOver(light, &light->runs[r], light->kernels->sweepRun);
    }
}

void tpLight_Refresh(tpLightSweeper* light) {
    memset(light->changes, 0, sizeof(float) * (size_t)light->changeCount);
    if (light->rounds != NULL) {
        light->kernels->startRounds(light);
        return;
    }
    for (int r = 0; r < light->runCount; ++r) {
        goOver(light, &light->runs[r], light->kernels->startRun);
    }
}

// The impulses of a place; false: it is open.
static bool impulseOf(const tpLightSweeper* light, ptrdiff_t first, double r[3]) {
    for (int k = 0; k < light->rowCount; ++k) {
        ptrdiff_t at = first + (ptrdiff_t)k * tp_lightWidth;
        r[k] = light->from[at] + light->impulses[at];
    }
    return r[0] > 0.0 && light->loaded[first] + light->impulses[first] > 0.0f;
}

void tpLight_Store(const tpLightSweeper* light) {
    for (int place = 0; place < tp_lightWidth * light->packCount; ++place) {
        int contact = light->contacts[place], lane;
        if (contact < 0) {
            continue;
        }
        tpContactPack* pack = tpSweeper_PackOf(light->sweeper, contact, &lane);
        double r[3] = { 0.0, 0.0, 0.0 };
        ptrdiff_t first = placeOf(light, place / tp_lightWidth) + place % tp_lightWidth;
        if (!impulseOf(light, first, r)) {
            memset(r, 0, sizeof(r));
        }
        double limit = pack->muDynamic[lane] * r[0], force = sqrt(r[1] * r[1] + r[2] * r[2]);
        double rounding = limitRounding * (limit + light->from[first]);
        bool slips = force > pack->muStatic[lane] * r[0];
        slips = slips || (force > limit && force < limit + rounding);
        double factor = slips ? limit / force : 1.0;
        pack->impulse[0][lane] = r[0];
        pack->impulse[1][lane] = factor * r[1];
        pack->impulse[2][lane] = factor * r[2];
    }
}

double tpLight_MissOutside(const tpLightSweeper* light) {
    const tpSweeper* sweeper = light->sweeper;
    double sum = 0.0;
    for (int i = 0; i < sweeper->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        double u = pack->speed[0][lane] + pack->bias[0][lane];
        sum += !light->isChosen[i] && u < 0.0 ? u * u : 0.0;
    }
    return sqrt(sum);
}
