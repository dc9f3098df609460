// What is done with a run of light packs, F contacts at once: included by one file for each width.
// The rule is that of sweeper.c.

#include "sweeps/light_round_lanes.h"

// F pairs of bodies at work.
typedef struct LightBodies {
    LightLines velocityA, velocityB;
    light massA[7], massB[7];
} LightBodies;

static inline LightVec lightPointVelocity(const LightLines* v, LightVec arm) {
    LightVec angular = { v->numbers[4], v->numbers[5], v->numbers[6] };
    LightVec turn = crossLight(angular, arm);
    return (LightVec){ v->numbers[0] + turn.x, v->numbers[1] + turn.y, v->numbers[2] + turn.z };
}

// Adds an impulse to a body's velocity.
static inline void pushLightBody(LightLines* velocity, const light mass[7], LightVec arm,
                                 LightVec impulse) {
    light* v = velocity->numbers;
    LightVec moment = crossLight(arm, impulse);
    v[0] += mass[0] * impulse.x;
    v[1] += mass[0] * impulse.y;
    v[2] += mass[0] * impulse.z;
    v[4] += mass[1] * moment.x + mass[4] * moment.y + mass[5] * moment.z;
    v[5] += mass[4] * moment.x + mass[2] * moment.y + mass[6] * moment.z;
    v[6] += mass[5] * moment.x + mass[6] * moment.y + mass[3] * moment.z;
}

// Adds an impulse to A's velocity, and takes it from B's.
static inline void pushLight(const tpLightPack* pack, int lane, light alongN, light alongT,
                             light alongO, LightBodies* bodies) {
    LightVec n = loadLightVec(pack->normal[0], lane);
    LightVec t = loadLightVec(pack->tangents[0][0], lane);
    LightVec o = loadLightVec(pack->tangents[1][0], lane);
    LightVec impulse = { alongN * n.x + alongT * t.x + alongO * o.x,
                         alongN * n.y + alongT * t.y + alongO * o.y,
                         alongN * n.z + alongT * t.z + alongO * o.z };
    LightVec back = { lightOf(0.0f) - impulse.x, lightOf(0.0f) - impulse.y,
                      lightOf(0.0f) - impulse.z };
    pushLightBody(&bodies->velocityA, bodies->massA, loadLightVec(pack->armA[0], lane), impulse);
    pushLightBody(&bodies->velocityB, bodies->massB, loadLightVec(pack->armB[0], lane), back);
}

// Friction from the velocity after the normal impulse has changed: what stops it if it may, else a
// projected step against it. All changes are since the impulses were loaded, and so is the square
// by which friction is beyond its limit: differences of large numbers would leave their rounding.
static inline void solveLightFriction(const tpLightPack* pack, const float* loaded, int lane,
                                      light ut, light uo, light changeN, light* changeT,
                                      light* changeO) {
    light stickTT = loadLight(pack->stick[0] + lane), stickTO = loadLight(pack->stick[1] + lane);
    light stickOO = loadLight(pack->stick[2] + lane), slide = loadLight(pack->slide + lane);
    light muStatic = loadLight(pack->muStatic + lane), mu = loadLight(pack->muDynamic + lane);
    LoadedLight from = loadLoadedLight(pack->beyond, loaded, lane);
    light load = from.normal + changeN, more = changeN * (from.normal + load);
    light beyond = from.beyond - mu * mu * more;
    light easier = (muStatic * muStatic - mu * mu) * (load * load);
    light stopT = *changeT - (stickTT * ut + stickTO * uo);
    light stopO = *changeO - (stickTO * ut + stickOO * uo);
    light stopped = beyond + growthLight(&from, stopT, stopO);
    lightMask slips = lightGreater(stopped, easier);
    if (!lightAny(slips)) {
        *changeT = stopT;
        *changeO = stopO;
        return;
    }
    light slideT = *changeT - slide * ut, slideO = *changeO - slide * uo;
    light rt = from.alongT + slideT, ro = from.alongO + slideO;
    light excess = beyond + growthLight(&from, slideT, slideO);
    light length = lightSqrt(rt * rt + ro * ro);
    light limit = mu * load, left = excess / (length * (length + limit));
    left = lightSelect(lightGreater(excess, lightOf(0.0f)), left, lightOf(0.0f));
    slideT = slideLight(left, from.alongT, slideT, rt, limit, length);
    slideO = slideLight(left, from.alongO, slideO, ro, limit, length);
    *changeT = lightSelect(slips, slideT, stopT);
    *changeO = lightSelect(slips, slideO, stopO);
}

static inline void sweepLightPack(const tpLightPack* pack, float* changes, const float* loaded,
                                  int lane, LightBodies* bodies) {
    LightVec armA = loadLightVec(pack->armA[0], lane), armB = loadLightVec(pack->armB[0], lane);
    LightVec n = loadLightVec(pack->normal[0], lane);
    LightVec t = loadLightVec(pack->tangents[0][0], lane);
    LightVec o = loadLightVec(pack->tangents[1][0], lane);
    LightVec onA = lightPointVelocity(&bodies->velocityA, armA);
    LightVec onB = lightPointVelocity(&bodies->velocityB, armB);
    LightVec relative = { onA.x - onB.x, onA.y - onB.y, onA.z - onB.z };
    light un = loadLight(pack->speed[0] + lane) + dotLight(relative, n);
    light ut = loadLight(pack->speed[1] + lane) + dotLight(relative, t);
    light uo = loadLight(pack->speed[2] + lane) + dotLight(relative, o);

    float *normals = changes + lane, *alongT = normals + tp_lightWidth;
    float* alongO = alongT + tp_lightWidth;
    light oldN = loadLight(normals), oldT = loadLight(alongT), oldO = loadLight(alongO);
    light least = lightOf(0.0f) - loadLight(loaded + lane);
    light rn = lightMax(least, oldN - un * loadLight(pack->inverseNormal + lane));
    light changeN = rn - oldN;
    ut += loadLight(pack->crossed[0] + lane) * changeN;
    uo += loadLight(pack->crossed[1] + lane) * changeN;
    light rt = oldT, ro = oldO;
    solveLightFriction(pack, loaded, lane, ut, uo, rn, &rt, &ro);
    light changeT = rt - oldT, changeO = ro - oldO;
    storeLight(normals, rn);
    storeLight(alongT, rt);
    storeLight(alongO, ro);

    pushLight(pack, lane, changeN, changeT, changeO, bodies);
}

// The same where nothing rubs: there are normal impulses alone.
static inline void pushNormalLight(const tpLightPack* pack, int lane, light along,
                                   LightBodies* bodies) {
    LightVec n = loadLightVec(pack->normal[0], lane);
    LightVec impulse = { along * n.x, along * n.y, along * n.z };
    LightVec back = { lightOf(0.0f) - impulse.x, lightOf(0.0f) - impulse.y,
                      lightOf(0.0f) - impulse.z };
    pushLightBody(&bodies->velocityA, bodies->massA, loadLightVec(pack->armA[0], lane), impulse);
    pushLightBody(&bodies->velocityB, bodies->massB, loadLightVec(pack->armB[0], lane), back);
}

static inline void sweepNormalPack(const tpLightPack* pack, float* changes, const float* loaded,
                                   int lane, LightBodies* bodies) {
    LightVec armA = loadLightVec(pack->armA[0], lane), armB = loadLightVec(pack->armB[0], lane);
    LightVec n = loadLightVec(pack->normal[0], lane);
    LightVec onA = lightPointVelocity(&bodies->velocityA, armA);
    LightVec onB = lightPointVelocity(&bodies->velocityB, armB);
    LightVec relative = { onA.x - onB.x, onA.y - onB.y, onA.z - onB.z };
    light un = loadLight(pack->speed[0] + lane) + dotLight(relative, n);
    light old = loadLight(changes + lane), least = lightOf(0.0f) - loadLight(loaded + lane);
    light rn = lightMax(least, old - un * loadLight(pack->inverseNormal + lane));
    storeLight(changes + lane, rn);
    pushNormalLight(pack, lane, rn - old, bodies);
}

static inline void loadLightBodies(const tpLightSweeper* sweeper, const tpLightRun* run, int lane,
                                   LightBodies* bodies) {
    loadLightLines(sweeper->changes, run->bodyA + lane, &bodies->velocityA);
    loadLightLines(sweeper->changes, run->bodyB + lane, &bodies->velocityB);
    for (int k = 0; k < 7; ++k) {
        bodies->massA[k] = loadLight(run->massA[k] + lane);
        bodies->massB[k] = loadLight(run->massB[k] + lane);
    }
}

static inline void storeLightBodies(tpLightSweeper* sweeper, const tpLightRun* run, int lane,
                                    const LightBodies* bodies) {
    storeLightLines(sweeper->changes, run->bodyA + lane, &bodies->velocityA);
    storeLightLines(sweeper->changes, run->bodyB + lane, &bodies->velocityB);
}

static void sweepLightRun(tpLightSweeper* sweeper, const tpLightRun* run) {
    bool rubs = sweeper->rowCount > 1;
    ptrdiff_t stride = (ptrdiff_t)sweeper->rowCount * tp_lightWidth;
    for (int lane = 0; lane < tp_lightWidth; lane += F) {
        LightBodies bodies;
        loadLightBodies(sweeper, run, lane, &bodies);
        for (int p = run->first; p < run->first + run->count; ++p) {
            float* impulses = sweeper->impulses + stride * p;
            const float* loaded = sweeper->loaded + stride * p;
            if (rubs) {
                sweepLightPack(&sweeper->packs[p], impulses, loaded, lane, &bodies);
            } else {
                sweepNormalPack(&sweeper->packs[p], impulses, loaded, lane, &bodies);
            }
        }
        storeLightBodies(sweeper, run, lane, &bodies);
    }
}

static void startLightRun(tpLightSweeper* sweeper, const tpLightRun* run) {
    ptrdiff_t stride = (ptrdiff_t)sweeper->rowCount * tp_lightWidth;
    for (int lane = 0; lane < tp_lightWidth; lane += F) {
        LightBodies bodies;
        loadLightBodies(sweeper, run, lane, &bodies);
        for (int p = run->first; p < run->first + run->count; ++p) {
            const tpLightPack* pack = &sweeper->packs[p];
            const float* impulses = sweeper->impulses + stride * p + lane;
            if (sweeper->rowCount > 1) {
                pushLight(pack, lane, loadLight(impulses), loadLight(impulses + tp_lightWidth),
                          loadLight(impulses + 2 * tp_lightWidth), &bodies);
            } else {
                pushNormalLight(pack, lane, loadLight(impulses), &bodies);
            }
        }
        storeLightBodies(sweeper, run, lane, &bodies);
    }
}

// Sixteen sums in double precision: the order of additions is the same for every width.
static double measureLight(const float* weight, const float* a, const float* b, int count) {
    double sums[tp_lightWidth] = { 0.0 }, sum = 0.0;
    for (int lane = 0; lane < tp_lightWidth; lane += F) {
        for (int i = lane; i < count; i += tp_lightWidth) {
            light step = loadLight(a + i) - loadLight(b + i);
            addProducts(loadLight(weight + i) * step, step, sums + lane);
        }
    }
    for (int lane = 0; lane < tp_lightWidth; ++lane) {
        sum += sums[lane];
    }
    return sum;
}

static void advanceLight(float* values, float* last, float part, int count) {
    light factor = lightOf(part);
    for (int i = 0; i < count; i += F) {
        light value = loadLight(values + i);
        storeLight(values + i, value + factor * (value - loadLight(last + i)));
        storeLight(last + i, value);
    }
}
