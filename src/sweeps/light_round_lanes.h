// What is done with packs of round contacts, F at once: included by one file for each width.
//
// With arms a n and b n, the other tangent o = n x t, moments of inertia I about every axis, and
// the spin s = a w_A - b w_B, the velocity of the contact is v_A - v_B + s x n:
//
//     u_n = dv . n,    u_t = dv . t + s . o,    u_o = dv . o - s . t
//
// and impulses turn bodies by a n x r = a (r_t o - r_o t). A normal impulse changes no velocity
// along the surface, and friction has the same response in all directions.

// Impulses of F contacts when they were loaded, and by how much friction was beyond its limit.
typedef struct LoadedLight {
    light normal, alongT, alongO, beyond;
} LoadedLight;

static inline LoadedLight loadLoadedLight(const float* beyond, const float* loaded, int lane) {
    return (LoadedLight){ .normal = loadLight(loaded + lane),
                          .alongT = loadLight(loaded + tp_lightWidth + lane),
                          .alongO = loadLight(loaded + 2 * tp_lightWidth + lane),
                          .beyond = loadLight(beyond + lane) };
}

// What the square of friction grows by.
static inline light growthLight(const LoadedLight* from, light changeT, light changeO) {
    return changeT * (from->alongT + (from->alongT + changeT)) +
           changeO * (from->alongO + (from->alongO + changeO));
}

// F pairs of bodies at work.
typedef struct RoundBodies {
    LightLines velocityA, velocityB;
} RoundBodies;

// Adds an impulse to A's velocity, and takes it from B's.
static inline void pushRound(const tpRoundPack* pack, int lane, LightVec n, LightVec t, LightVec o,
                             light alongN, light alongT, light alongO, RoundBodies* bodies) {
    light massA = loadLight(pack->massA + lane), massB = loadLight(pack->massB + lane);
    light turnA = loadLight(pack->turnA + lane), turnB = loadLight(pack->turnB + lane);
    light impulse[3] = { alongN * n.x + alongT * t.x + alongO * o.x,
                         alongN * n.y + alongT * t.y + alongO * o.y,
                         alongN * n.z + alongT * t.z + alongO * o.z };
    light moment[3] = { alongT * o.x - alongO * t.x, alongT * o.y - alongO * t.y,
                        alongT * o.z - alongO * t.z };
    for (int k = 0; k < 3; ++k) {
        bodies->velocityA.numbers[k] += massA * impulse[k];
        bodies->velocityB.numbers[k] -= massB * impulse[k];
        bodies->velocityA.numbers[k + 4] += turnA * moment[k];
        bodies->velocityB.numbers[k + 4] -= turnB * moment[k];
    }
}

// Friction that slides, when the part `left` of it is taken away: by the difference, or by what
// remains, `most` in all, whichever is rounded less.
static inline light slideLight(light left, light from, light change, light all, light most,
                               light length) {
    lightMask isMost = lightGreater(left, lightOf(0.5f));
    return lightSelect(isMost, most / length * all - from, change - left * all);
}

// The nearest impulses in the cone of friction, as the steps measure distances. All changes are
// since the impulses were loaded.
static inline void projectLight(const LoadedLight* from, light muStatic, light mu, light ratio,
                                light* changeN, light* changeT, light* changeO) {
    light zero = lightOf(0.0f), least = zero - from->normal;
    light rn = from->normal + *changeN, load = lightMax(zero, rn);
    light rt = from->alongT + *changeT, ro = from->alongO + *changeO;
    light force = rt * rt + ro * ro;
    light excess = from->beyond + growthLight(from, *changeT, *changeO) -
                   mu * mu * (*changeN * (from->normal + rn));
    light easier = (muStatic * muStatic - mu * mu) * (load * load);
    lightMask presses = lightGreater(rn, zero);
    lightMask slips = lightGreater(lightSelect(presses, excess, force), easier);
    light stepped = *changeN;
    *changeN = lightMax(least, stepped);
    if (lightAny(slips)) {
        light length = lightSqrt(force), leaning = mu * ratio;
        // what friction is beyond its limit by, and as much of it as is left at the nearest point
        light beyond = lightSelect(presses, excess / (length + mu * load), length - mu * rn);
        light left = beyond / (lightOf(1.0f) + leaning * mu);
        light nearest = stepped + leaning * left;
        lightMask opens = lightGreater(least, nearest);
        left = lightSelect(opens, length, left) / length;
        light slipping = lightMax(least, nearest), most = mu * (from->normal + slipping);
        light slidT = slideLight(left, from->alongT, *changeT, rt, most, length);
        light slidO = slideLight(left, from->alongO, *changeO, ro, most, length);
        *changeN = lightSelect(slips, slipping, *changeN);
        *changeT = lightSelect(slips, slidT, *changeT);
        *changeO = lightSelect(slips, slidO, *changeO);
    }
}

static inline void sweepRoundPack(const tpRoundPack* pack, float* changes, const float* loaded,
                                  int lane, RoundBodies* bodies) {
    LightVec n = loadLightVec(pack->normal[0], lane), t = loadLightVec(pack->tangent[0], lane);
    LightVec o = crossLight(n, t);
    const light *a = bodies->velocityA.numbers, *b = bodies->velocityB.numbers;
    light armA = loadLight(pack->armA + lane), armB = loadLight(pack->armB + lane);
    LightVec relative = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
    LightVec spin = { armA * a[4] - armB * b[4], armA * a[5] - armB * b[5],
                      armA * a[6] - armB * b[6] };
    light un = loadLight(pack->speed[0] + lane) + dotLight(relative, n);
    light ut = loadLight(pack->speed[1] + lane) + (dotLight(relative, t) + dotLight(spin, o));
    light uo = loadLight(pack->speed[2] + lane) + (dotLight(relative, o) - dotLight(spin, t));

    float *normals = changes + lane, *alongT = normals + tp_lightWidth;
    float* alongO = alongT + tp_lightWidth;
    light oldN = loadLight(normals), oldT = loadLight(alongT), oldO = loadLight(alongO);
    light stepN = loadLight(pack->stepNormal + lane), stepT = loadLight(pack->stepTangent + lane);
    light muStatic = loadLight(pack->muStatic + lane), mu = loadLight(pack->muDynamic + lane);
    light rn = oldN - stepN * (un + mu * lightSqrt(ut * ut + uo * uo));
    light rt = oldT - stepT * ut, ro = oldO - stepT * uo;
    LoadedLight from = loadLoadedLight(pack->beyond, loaded, lane);
    projectLight(&from, muStatic, mu, loadLight(pack->ratio + lane), &rn, &rt, &ro);
    storeLight(normals, rn);
    storeLight(alongT, rt);
    storeLight(alongO, ro);
    pushRound(pack, lane, n, t, o, rn - oldN, rt - oldT, ro - oldO, bodies);
}

static inline void loadRoundBodies(const tpLightSweeper* sweeper, const tpRoundPack* pack, int lane,
                                   RoundBodies* bodies) {
    loadLightLines(sweeper->changes, pack->bodyA + lane, &bodies->velocityA);
    loadLightLines(sweeper->changes, pack->bodyB + lane, &bodies->velocityB);
}

static inline void storeRoundBodies(tpLightSweeper* sweeper, const tpRoundPack* pack, int lane,
                                    const RoundBodies* bodies) {
    storeLightLines(sweeper->changes, pack->bodyA + lane, &bodies->velocityA);
    storeLightLines(sweeper->changes, pack->bodyB + lane, &bodies->velocityB);
}

static void sweepRounds(tpLightSweeper* sweeper) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpRoundPack* pack = &sweeper->rounds[p];
        float* impulses = sweeper->impulses + (ptrdiff_t)3 * tp_lightWidth * p;
        const float* loaded = sweeper->loaded + (ptrdiff_t)3 * tp_lightWidth * p;
        for (int lane = 0; lane < tp_lightWidth; lane += F) {
            RoundBodies bodies;
            loadRoundBodies(sweeper, pack, lane, &bodies);
            sweepRoundPack(pack, impulses, loaded, lane, &bodies);
            storeRoundBodies(sweeper, pack, lane, &bodies);
        }
    }
}

static void startRounds(tpLightSweeper* sweeper) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpRoundPack* pack = &sweeper->rounds[p];
        ptrdiff_t first = (ptrdiff_t)3 * tp_lightWidth * p;
        for (int lane = 0; lane < tp_lightWidth; lane += F) {
            RoundBodies bodies;
            light change[3];
            for (int k = 0; k < 3; ++k) {
                change[k] = loadLight(sweeper->impulses + first + k * tp_lightWidth + lane);
            }
            LightVec n = loadLightVec(pack->normal[0], lane);
            LightVec t = loadLightVec(pack->tangent[0], lane);
            loadRoundBodies(sweeper, pack, lane, &bodies);
            pushRound(pack, lane, n, t, crossLight(n, t), change[0], change[1], change[2], &bodies);
            storeRoundBodies(sweeper, pack, lane, &bodies);
        }
    }
}
