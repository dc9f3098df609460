// What is done with a run of the accurate sweeps, W contacts at once: included by one file for each
// width. The operations and their order are those of sweep.c, which explains them.

static inline void loadBodies(const tpSweeper* sweeper, const tpContactPack* pack, int lane,
                              WideBodies* bodies) {
    const double* velocities = (const double*)sweeper->velocities;
    const double* masses = (const double*)sweeper->bodies;
    loadLines(velocities, pack->bodyA + lane, &bodies->velocityA);
    loadLines(velocities, pack->bodyB + lane, &bodies->velocityB);
    loadLines(masses, pack->bodyA + lane, &bodies->massA);
    loadLines(masses, pack->bodyB + lane, &bodies->massB);
}

static inline void storeBodies(tpSweeper* sweeper, const tpContactPack* pack, int lane,
                               const WideBodies* bodies) {
    double* velocities = (double*)sweeper->velocities;
    storeLines(velocities, pack->bodyA + lane, (unsigned)pack->movesA >> lane, &bodies->velocityA);
    storeLines(velocities, pack->bodyB + lane, (unsigned)pack->movesB >> lane, &bodies->velocityB);
}

static inline void push(WideBodies* bodies, const tpContactPack* pack, int lane,
                        const wide* change) {
    WideVec n = loadVec(pack->normal[0], lane), t = loadVec(pack->tangents[0][0], lane);
    WideVec o = loadVec(pack->tangents[1][0], lane);
    WideVec impulse = { change[0] * n.x + change[1] * t.x + change[2] * o.x,
                        change[0] * n.y + change[1] * t.y + change[2] * o.y,
                        change[0] * n.z + change[1] * t.z + change[2] * o.z };
    pushBodies(bodies, loadVec(pack->armA[0], lane), loadVec(pack->armB[0], lane), impulse);
}

// Velocities of A against B: along n, t and o.
static inline void speedsOf(const tpContactPack* pack, int lane, const WideLines* velocityA,
                            const WideLines* velocityB, wide u[3]) {
    WideVec relative = relativeVelocity(velocityA, loadVec(pack->armA[0], lane), velocityB,
                                        loadVec(pack->armB[0], lane));
    u[0] = dotVec(relative, loadVec(pack->normal[0], lane));
    u[1] = dotVec(relative, loadVec(pack->tangents[0][0], lane));
    u[2] = dotVec(relative, loadVec(pack->tangents[1][0], lane));
}

static inline wide sweepPack(tpContactPack* pack, int lane, WideBodies* bodies) {
    wide u[3];
    speedsOf(pack, lane, &bodies->velocityA, &bodies->velocityB, u);
    wide un = u[0], ut = u[1], uo = u[2];

    wide old = loadWide(&pack->impulse[0][lane]);
    wide normal =
        wideMax(loadWide(&pack->low[lane]),
                old - (un + loadWide(&pack->bias[0][lane])) * loadWide(&pack->inverseNormal[lane]));
    wide change[3];
    change[0] = normal - old;
    ut += loadWide(&pack->bias[1][lane]) + loadWide(&pack->response[1][lane]) * change[0];
    uo += loadWide(&pack->bias[2][lane]) + loadWide(&pack->response[2][lane]) * change[0];
    wide oldT = loadWide(&pack->impulse[1][lane]), oldO = loadWide(&pack->impulse[2][lane]);
    wide rt = oldT, ro = oldO;
    const wide stick[3] = { loadWide(&pack->stick[0][lane]), loadWide(&pack->stick[1][lane]),
                            loadWide(&pack->stick[2][lane]) };
    solveFriction(stick, loadWide(&pack->slide[lane]), loadWide(&pack->muStatic[lane]),
                  loadWide(&pack->muDynamic[lane]), ut, uo, wideMax(normal, wideOf(0.0)), &rt, &ro);
    change[1] = rt - oldT;
    change[2] = ro - oldO;
    storeWide(&pack->impulse[0][lane], normal);
    storeWide(&pack->impulse[1][lane], rt);
    storeWide(&pack->impulse[2][lane], ro);
    push(bodies, pack, lane, change);
    wide moved = wideMax(wideAbs(change[0]) * loadWide(&pack->response[0][lane]),
                         wideAbs(change[1]) * loadWide(&pack->response[3][lane]));
    return wideMax(moved, wideAbs(change[2]) * loadWide(&pack->response[5][lane]));
}

// Torsion and locked axes are known to the contact by contact way alone.
static inline bool isSlow(const tpContactPack* first) {
    return first->torsion >= 0 || first->hasLocks != 0;
}

static double sweepRun(tpSweeper* sweeper, const tpPackRun* run) {
    tpContactPack* first = &sweeper->packs[run->first];
    if (isSlow(first)) {
        return tpSweepRunSlowly(sweeper, run);
    }
    wide largest = wideOf(0.0);
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweeper, first, lane, &bodies);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            largest = wideMax(sweepPack(pack, lane, &bodies), largest);
        }
        storeBodies(sweeper, first, lane, &bodies);
    }
    return wideLargest(largest);
}

static void startRun(tpSweeper* sweeper, const tpPackRun* run) {
    const tpContactPack* first = &sweeper->packs[run->first];
    if (isSlow(first)) {
        tpStartRunSlowly(sweeper, run);
        return;
    }
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweeper, first, lane, &bodies);
        for (const tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide impulse[3] = { loadWide(&pack->impulse[0][lane]),
                                loadWide(&pack->impulse[1][lane]),
                                loadWide(&pack->impulse[2][lane]) };
            push(&bodies, pack, lane, impulse);
        }
        storeBodies(sweeper, first, lane, &bodies);
    }
}

static void speedRun(tpSweeper* sweeper, const tpPackRun* run) {
    const double* velocities = (const double*)sweeper->velocities;
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines velocityA, velocityB;
        loadLines(velocities, first->bodyA + lane, &velocityA);
        loadLines(velocities, first->bodyB + lane, &velocityB);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide u[3];
            speedsOf(pack, lane, &velocityA, &velocityB, u);
            for (int k = 0; k < 3; ++k) {
                storeWide(&pack->speed[k][lane], u[k]);
            }
        }
    }
}

static void respondRun(tpSweeper* sweeper, const tpPackRun* run) {
    const double* masses = (const double*)sweeper->bodies;
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines massA, massB;
        loadLines(masses, first->bodyA + lane, &massA);
        loadLines(masses, first->bodyB + lane, &massB);
        if (first->hasLocks) {
            massA.numbers[0] = massB.numbers[0] = wideOf(0.0);
        }
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            WideVec directions[3] = { loadVec(pack->normal[0], lane),
                                      loadVec(pack->tangents[0][0], lane),
                                      loadVec(pack->tangents[1][0], lane) };
            wide zero = wideOf(0.0), response[6] = { zero, zero, zero, zero, zero, zero };
            if (first->hasLocks) {
                for (int k = 0; k < 6; ++k) {
                    response[k] = loadWide(&pack->response[k][lane]);
                }
            }
            addResponse(&massA, loadVec(pack->armA[0], lane), directions, response);
            addResponse(&massB, loadVec(pack->armB[0], lane), directions, response);
            wide stick[3], slide;
            invertFriction(response[3], response[4], response[5], stick, &slide);
            if (first->hasLocks) {
                // Friction that moves nothing still has a size and a direction.
                wide step = inverseOrZero(response[0]);
                step = wideSelect(wideGreater(slide, wideOf(0.0)), wideOf(0.0), step);
                slide += step;
                stick[0] += step;
                stick[2] += step;
            }
            for (int k = 0; k < 6; ++k) {
                storeWide(&pack->response[k][lane], response[k]);
            }
            for (int k = 0; k < 3; ++k) {
                storeWide(&pack->stick[k][lane], stick[k]);
            }
            storeWide(&pack->slide[lane], slide);
            storeWide(&pack->inverseNormal[lane], inverseOrZero(response[0]));
        }
    }
}

static void addChanges(const tpSweeper* sweeper, const double* last, double sums[tp_packWidth]) {
    static const int diagonal[3] = { 0, 3, 5 };
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        wide sum = loadWide(sums + lane);
        for (int p = 0; p < sweeper->packCount; ++p) {
            const tpContactPack* pack = &sweeper->packs[p];
            for (int k = 0; k < 3; ++k) {
                const double* before = last + (3 * (size_t)p + (size_t)k) * tp_packWidth;
                wide change = loadWide(&pack->impulse[k][lane]) - loadWide(before + lane);
                sum += change * change * loadWide(&pack->response[diagonal[k]][lane]);
            }
        }
        storeWide(sums + lane, sum);
    }
}

static void advance(double* values, double* last, double* direction, int count, double beta) {
    for (int i = 0; i < count; i += W) {
        wide value = loadWide(values + i), step = wideOf(beta) * loadWide(direction + i);
        storeWide(direction + i, step + (value - loadWide(last + i)));
        storeWide(values + i, value + step);
        storeWide(last + i, value + step);
    }
}
