// What is done with a run, W contacts at once: included by one file for each width, which defines
//
//     W             lanes, a divisor of tp_packWidth
//     wide          a vector of W doubles
//     wideMask      what comparisons give
//     loadWide, storeWide, wideOf, wideMax, wideAbs, wideSqrt, wideGreater, wideSelect, wideLargest
//     loadLines, storeLines
//
// The operations of the sweep and their order are those of sweep.c, which explains them.

// W lines of a cache, transposed: numbers[k] has the k-th number of each.
typedef struct WideLines {
    wide numbers[8];
} WideLines;

static inline void loadLines(const double* base, const int32_t* indices, WideLines* lines);
static inline void storeLines(double* base, const int32_t* indices, unsigned mask,
                              const WideLines* lines);

typedef struct WideVec {
    wide x, y, z;
} WideVec;

// `parts` are the lanes of x, then those of y and z.
static inline WideVec loadVec(const double* parts, int lane) {
    return (WideVec){ loadWide(parts + lane), loadWide(parts + tp_packWidth + lane),
                      loadWide(parts + 2 * tp_packWidth + lane) };
}

static inline wide dotVec(WideVec a, WideVec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline WideVec crossVec(WideVec a, WideVec b) {
    return (WideVec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

// Numbers 0 to 2 of a velocity's line are linear, 4 to 6 angular.
static inline WideVec pointVelocity(const WideLines* v, WideVec arm) {
    WideVec angular = { v->numbers[4], v->numbers[5], v->numbers[6] };
    WideVec turn = crossVec(angular, arm);
    return (WideVec){ v->numbers[0] + turn.x, v->numbers[1] + turn.y, v->numbers[2] + turn.z };
}

// A body's line: 1/m, then xx yy zz xy xz yz of 1/I.
static inline WideVec turnedBy(const WideLines* body, WideVec moment) {
    const wide* j = body->numbers + 1;
    return (WideVec){ j[0] * moment.x + j[3] * moment.y + j[4] * moment.z,
                      j[3] * moment.x + j[1] * moment.y + j[5] * moment.z,
                      j[4] * moment.x + j[5] * moment.y + j[2] * moment.z };
}

// W pairs of bodies at work.
typedef struct WideBodies {
    WideLines velocityA, velocityB, massA, massB;
} WideBodies;

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
    wide* a = bodies->velocityA.numbers;
    wide* b = bodies->velocityB.numbers;
    wide inverseA = bodies->massA.numbers[0], inverseB = bodies->massB.numbers[0];
    a[0] += inverseA * impulse.x;
    a[1] += inverseA * impulse.y;
    a[2] += inverseA * impulse.z;
    b[0] -= inverseB * impulse.x;
    b[1] -= inverseB * impulse.y;
    b[2] -= inverseB * impulse.z;
    WideVec turnA = turnedBy(&bodies->massA, crossVec(loadVec(pack->armA[0], lane), impulse));
    WideVec turnB = turnedBy(&bodies->massB, crossVec(loadVec(pack->armB[0], lane), impulse));
    a[4] += turnA.x;
    a[5] += turnA.y;
    a[6] += turnA.z;
    b[4] -= turnB.x;
    b[5] -= turnB.y;
    b[6] -= turnB.z;
}

// Friction from the velocity after the normal impulse has changed: what stops it where it may, else a
// projected step against it.
static inline void solveFriction(const tpContactPack* pack, int lane, wide ut, wide uo, wide load,
                                 wide* rt, wide* ro) {
    wide slide = loadWide(&pack->slide[lane]);
    wide stickTO = loadWide(&pack->stick[1][lane]);
    wide stopT = *rt - (loadWide(&pack->stick[0][lane]) * ut + stickTO * uo);
    wide stopO = *ro - (stickTO * ut + loadWide(&pack->stick[2][lane]) * uo);
    wide limit = loadWide(&pack->muStatic[lane]) * load;
    wideMask slips = wideGreater(stopT * stopT + stopO * stopO, limit * limit);
    wide slideT = *rt - slide * ut, slideO = *ro - slide * uo;
    wide length = wideSqrt(slideT * slideT + slideO * slideO);
    limit = loadWide(&pack->muDynamic[lane]) * load;
    wide factor = wideSelect(wideGreater(length, limit), limit / length, wideOf(1.0));
    *rt = wideSelect(slips, factor * slideT, stopT);
    *ro = wideSelect(slips, factor * slideO, stopO);
}

// Velocities of A against B: along n, t and o.
static inline void speedsOf(const tpContactPack* pack, int lane, const WideLines* velocityA,
                            const WideLines* velocityB, wide u[3]) {
    WideVec onA = pointVelocity(velocityA, loadVec(pack->armA[0], lane));
    WideVec onB = pointVelocity(velocityB, loadVec(pack->armB[0], lane));
    WideVec relative = { onA.x - onB.x, onA.y - onB.y, onA.z - onB.z };
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
    solveFriction(pack, lane, ut, uo, wideMax(normal, wideOf(0.0)), &rt, &ro);
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

static double sweepRun(tpSweeper* sweeper, const tpPackRun* run) {
    tpContactPack* first = &sweeper->packs[run->first];
    if (first->torsion >= 0) {
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
    if (first->torsion >= 0) {
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

// Preparation ------------------------------------------------------------------------------------

// What one body gives to W of n, t and o: nn nt no tt to oo.
static inline void addResponse(const WideLines* body, WideVec arm, const WideVec directions[3],
                               wide response[6]) {
    WideVec moments[3], turns[3];
    for (int i = 0; i < 3; ++i) {
        moments[i] = crossVec(arm, directions[i]);
        turns[i] = turnedBy(body, moments[i]);
    }
    int place = 0;
    for (int i = 0; i < 3; ++i) {
        for (int k = i; k < 3; ++k) {
            response[place++] += body->numbers[0] * dotVec(directions[i], directions[k]) +
                                 dotVec(moments[i], turns[k]);
        }
    }
}

// Inverse and largest eigenvalue of the two friction rows; zeros where nothing responds.
static inline void invertFriction(tpContactPack* pack, int lane, wide tt, wide to, wide oo) {
    wide half = wideOf(0.5) * (tt + oo), skew = wideOf(0.5) * (tt - oo);
    wide largest = half + wideSqrt(skew * skew + to * to), determinant = tt * oo - to * to;
    wideMask responds = wideGreater(largest, wideOf(0.0));
    wideMask inverts = wideGreater(determinant, wideOf(1e-12) * largest * largest);
    wide slide = wideSelect(responds, wideOf(1.0) / largest, wideOf(0.0));
    storeWide(&pack->slide[lane], slide);
    storeWide(&pack->stick[0][lane], wideSelect(inverts, oo / determinant, slide));
    storeWide(&pack->stick[1][lane],
              wideSelect(inverts, wideOf(0.0) - to / determinant, wideOf(0.0)));
    storeWide(&pack->stick[2][lane], wideSelect(inverts, tt / determinant, slide));
}

static void respondRun(tpSweeper* sweeper, const tpPackRun* run) {
    const double* masses = (const double*)sweeper->bodies;
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines massA, massB;
        loadLines(masses, first->bodyA + lane, &massA);
        loadLines(masses, first->bodyB + lane, &massB);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            WideVec directions[3] = { loadVec(pack->normal[0], lane),
                                      loadVec(pack->tangents[0][0], lane),
                                      loadVec(pack->tangents[1][0], lane) };
            wide zero = wideOf(0.0), response[6] = { zero, zero, zero, zero, zero, zero };
            addResponse(&massA, loadVec(pack->armA[0], lane), directions, response);
            addResponse(&massB, loadVec(pack->armB[0], lane), directions, response);
            for (int k = 0; k < 6; ++k) {
                storeWide(&pack->response[k][lane], response[k]);
            }
            wide inverse =
                wideSelect(wideGreater(response[0], zero), wideOf(1.0) / response[0], zero);
            storeWide(&pack->inverseNormal[lane], inverse);
            invertFriction(pack, lane, response[3], response[4], response[5]);
        }
    }
}

// Parts of a step --------------------------------------------------------------------------------

static void gapRun(tpSweeper* sweeper, const tpPackRun* run) {
    const double* displacements = (const double*)sweeper->velocities;
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadLines(displacements, first->bodyA + lane, &a);
        loadLines(displacements, first->bodyB + lane, &b);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            WideVec onA = pointVelocity(&a, loadVec(pack->armA[0], lane));
            WideVec onB = pointVelocity(&b, loadVec(pack->armB[0], lane));
            WideVec relative = { onA.x - onB.x, onA.y - onB.y, onA.z - onB.z };
            wide moved = dotVec(relative, loadVec(pack->normal[0], lane));
            storeWide(&pack->gap[lane], loadWide(&pack->startGap[lane]) + moved);
        }
    }
}

static inline void softPack(tpContactPack* pack, int lane, const tpSoftness* soft,
                            WideBodies* bodies) {
    wide u[3];
    speedsOf(pack, lane, &bodies->velocityA, &bodies->velocityB, u);
    wide gap = loadWide(&pack->gap[lane]), old = loadWide(&pack->impulse[0][lane]);
    wideMask isOpen = wideGreater(gap, wideOf(0.0));
    wide led = wideMax(wideOf(soft->rate) * gap, wideOf(-soft->push));
    wide bias = wideSelect(isOpen, wideOf(soft->inverseTime) * gap, led);
    wide mass = wideSelect(isOpen, wideOf(1.0), wideOf(soft->mass));
    wide kept = wideSelect(isOpen, old, wideOf(1.0 - soft->impulse) * old);
    wide normal =
        wideMax(kept - mass * ((u[0] + bias) * loadWide(&pack->inverseNormal[lane])), wideOf(0.0));
    wide change[3];
    change[0] = normal - old;
    wide ut = u[1] + loadWide(&pack->response[1][lane]) * change[0];
    wide uo = u[2] + loadWide(&pack->response[2][lane]) * change[0];
    wide oldT = loadWide(&pack->impulse[1][lane]), oldO = loadWide(&pack->impulse[2][lane]);
    wide rt = oldT, ro = oldO;
    solveFriction(pack, lane, ut, uo, normal, &rt, &ro);
    change[1] = rt - oldT;
    change[2] = ro - oldO;
    storeWide(&pack->impulse[0][lane], normal);
    storeWide(&pack->impulse[1][lane], rt);
    storeWide(&pack->impulse[2][lane], ro);
    push(bodies, pack, lane, change);
}

static void softRun(tpSweeper* sweeper, const tpPackRun* run, const tpSoftness* softness,
                    bool isBackward) {
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweeper, first, lane, &bodies);
        for (int k = 0; k < run->count; ++k) {
            int place = isBackward ? run->count - 1 - k : k;
            softPack(first + place, lane, softness, &bodies);
        }
        storeBodies(sweeper, first, lane, &bodies);
    }
}

static void bounceRun(tpSweeper* sweeper, const tpPackRun* run) {
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweeper, first, lane, &bodies);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide u[3], zero = wideOf(0.0);
            speedsOf(pack, lane, &bodies.velocityA, &bodies.velocityB, u);
            wide bias = loadWide(&pack->bias[0][lane]), old = loadWide(&pack->impulse[0][lane]);
            wide wanted = old - (u[0] + bias) * loadWide(&pack->inverseNormal[lane]);
            wide normal = wideSelect(wideGreater(zero, bias), wideMax(wanted, zero), old);
            wide change[3] = { normal - old, zero, zero };
            storeWide(&pack->impulse[0][lane], normal);
            push(&bodies, pack, lane, change);
        }
        storeBodies(sweeper, first, lane, &bodies);
    }
}
