// Kernels of flights.h over W bodies at once, on top of wide_quats.h: the operations of
// articulation_flights.c and dynamics/rotation.c in their order.

static inline WideQuat loadQuat(const wide* four) {
    return (WideQuat){ four[0], four[1], four[2], four[3] };
}

// Turns on as tpTurnOn does. Returns the lanes that turn little: others have no number that means
// something.
static inline unsigned turnOn(WideVec by, WideQuat rotation, WideQuat* to) {
    wide x = 0.25 * dotVec(by, by);
    wide s = 0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x * (1.0 / 10080.0 - x / 725760.0)));
    wide c = 1.0 - x * (0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x / 40320.0)));
    WideQuat q = multiplyQuats((WideQuat){ c, s * by.x, s * by.y, s * by.z }, rotation);
    wide length = wideSqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    wide inverse = 1.0 / length;
    *to = (WideQuat){ inverse * q.w, inverse * q.x, inverse * q.y, inverse * q.z };
    return wideBits(wideGreater(wideOf(0.01), x)) & wideBits(wideGreater(length, wideOf(0.0)));
}

// Turns a vector by q, whatever its length.
static inline WideVec turnVec(WideQuat q, wide twiceInverse, WideVec v) {
    WideVec u = { q.x, q.y, q.z };
    WideVec t = scaleVec(twiceInverse, crossVec(u, v));
    return addVec(mulAddVec(v, q.w, t), crossVec(u, t));
}

static inline WideVec loadThree(const double (*parts)[tp_flightPackWidth], int lane) {
    return (WideVec){ loadWide(&parts[0][lane]), loadWide(&parts[1][lane]),
                      loadWide(&parts[2][lane]) };
}

// The rotation from principal axes to the world.
static inline WideQuat principalIn(const tpFlightPack* pack, int lane, WideQuat rotation) {
    const double(*q)[tp_flightPackWidth] = pack->principal;
    return multiplyQuats(rotation, (WideQuat){ loadWide(&q[0][lane]), loadWide(&q[1][lane]),
                                               loadWide(&q[2][lane]), loadWide(&q[3][lane]) });
}

static inline WidePose loadPose(const tpPose* const* poses) {
    const double* rows[W];
    wide first[4], second[4];
    for (int k = 0; k < W; ++k) {
        rows[k] = &poses[k]->position.x;
    }
    loadFours(rows, 0, first);
    loadFours(rows, 3, second);
    return (WidePose){ { first[0], first[1], first[2] }, loadQuat(second) };
}

static inline void storePose(tpPose* const* poses, int count, unsigned lanes, WideVec position,
                             WideQuat rotation) {
    tpPose none;
    double* rows[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = &(lanes >> k & 1 ? poses[k] : &none)->position.x;
    }
    const wide first[4] = { position.x, position.y, position.z, rotation.w };
    const wide second[4] = { rotation.w, rotation.x, rotation.y, rotation.z };
    storeFours(rows, 0, count, first);
    storeFours(rows, 3, count, second);
}

// Opening -----------------------------------------------------------------------------------------

typedef struct WideAxes {
    WideVec x, y, z;
} WideAxes;

static inline WideAxes axesOf(WideQuat q) {
    wide xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    wide xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    wide wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (WideAxes){ { 1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy) },
                       { 2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx) },
                       { 2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy) } };
}

// xx yy zz xy xz yz. Of what is the same in all directions nothing turns.
static inline void turnInertia(const tpFlightPack* pack, int lane, const WideAxes* r, wide* six) {
    WideVec moments = loadThree(pack->moments, lane);
    WideVec x = scaleVec(moments.x, r->x), y = scaleVec(moments.y, r->y),
            z = scaleVec(moments.z, r->z);
    wide none = wideOf(0.0);
    wideMask isEven = wideGreater(loadWide(&pack->isEven[lane]), none);
    six[0] = wideSelect(isEven, moments.x, x.x * r->x.x + y.x * r->y.x + z.x * r->z.x);
    six[1] = wideSelect(isEven, moments.x, x.y * r->x.y + y.y * r->y.y + z.y * r->z.y);
    six[2] = wideSelect(isEven, moments.x, x.z * r->x.z + y.z * r->y.z + z.z * r->z.z);
    six[3] = wideSelect(isEven, none, x.x * r->x.y + y.x * r->y.y + z.x * r->z.y);
    six[4] = wideSelect(isEven, none, x.x * r->x.z + y.x * r->y.z + z.x * r->z.z);
    six[5] = wideSelect(isEven, none, x.y * r->x.z + y.y * r->y.z + z.y * r->z.z);
}

// How angular velocities change in free flight: I w' = I w x w.
static inline WideVec eulerChanges(const tpFlightPack* pack, int lane, const WideAxes* axes,
                                   WideVec w) {
    WideVec ratio = loadThree(pack->ratios, lane);
    wide x = dotVec(axes->x, w), y = dotVec(axes->y, w), z = dotVec(axes->z, w);
    WideVec along = scaleVec(ratio.x * y * z, axes->x);
    along = mulAddVec(along, ratio.y * z * x, axes->y);
    return mulAddVec(along, ratio.z * x * y, axes->z);
}

// Into masses and nodes.
static inline void storeInertias(const tpFlightPack* pack, int lane, int count, const wide* six) {
    double *masses[W], *nodes[W], last[W];
    for (int k = 0; k < W; ++k) {
        masses[k] = pack->masses[tpFlightPack_Lane(pack, lane + k)].inertia;
        nodes[k] = pack->nodes[tpFlightPack_Lane(pack, lane + k)].inertia;
    }
    const wide first[4] = { six[0], six[3], six[4], six[3] };
    const wide second[4] = { six[1], six[5], six[4], six[5] };
    storeFours(masses, 0, count, first);
    storeFours(masses, 4, count, second);
    storeSixes(nodes, count, six);
    memcpy(last, &six[2], sizeof(wide));
    for (int k = 0; k < count; ++k) {
        masses[k][8] = last[k];
    }
}

_Static_assert(offsetof(tpNodeFlight, moved) == 7 * sizeof(double) &&
                   offsetof(tpNodeFlight, velocity) == 10 * sizeof(double) &&
                   offsetof(tpNodeFlight, change) == 13 * sizeof(double),
               "a flight begins with a row of numbers");

static inline void storeFlights(const tpFlightPack* pack, int lane, int count, const WidePose* at,
                                WideVec moved, WideVec w, WideVec change) {
    double* rows[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = &pack->flights[tpFlightPack_Lane(pack, lane + k)].start.position.x;
    }
    WideVec p = at->position;
    WideQuat q = at->rotation;
    const wide numbers[16] = { p.x,     p.y,     p.z, q.w, q.x, q.y,      q.z,      moved.x,
                               moved.y, moved.z, w.x, w.y, w.z, change.x, change.y, change.z };
    for (int k = 0; k < 16; k += 4) {
        storeFours(rows, k, count, numbers + k);
    }
}

static inline WideVec loadAngular(const tpVelocity* const* lines) {
    const double* rows[W];
    wide four[4];
    for (int k = 0; k < W; ++k) {
        rows[k] = &lines[k]->angular.x;
    }
    loadFours(rows, 0, four);
    return (WideVec){ four[0], four[1], four[2] };
}

static void openFlights(tpFlightPack* pack, const tpFlightTimes* times, unsigned* tumbling,
                        unsigned* isShort) {
    wide none = wideOf(0.0);
    *tumbling = *isShort = 0;
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        WidePose at = loadPose((const tpPose* const*)pack->poses + lane);
        WideAxes axes = axesOf(principalIn(pack, lane, at.rotation));
        wide six[6];
        turnInertia(pack, lane, &axes, six);
        storeInertias(pack, lane, count, six);
        for (int k = 0; k < 6; ++k) {
            storeWide(&pack->inertia[k][lane], six[k]);
        }
        WideVec w = loadAngular((const tpVelocity* const*)pack->velocities + lane);
        WideVec moved = { none, none, none }, still = moved;
        if (times->isOpen) {
            moved = loadAngular((const tpVelocity* const*)pack->moved + lane);
        }
        wide speed = wideSqrt(dotVec(w, w));
        wide tumbles = wideSelect(wideGreater(times->step * speed, wideOf(times->leastTurn)),
                                  loadWide(&pack->tumbles[lane]), none);
        wide little = wideSelect(wideGreater(wideOf(times->mostTurn), times->untilRows * speed),
                                 tumbles, none);
        // Others have no change of their own.
        wideMask has = wideGreater(little, none);
        WideVec change = scaleVec(wideOf(times->substep), eulerChanges(pack, lane, &axes, w));
        change = selectVec(has, change, still);
        storeFlights(pack, lane, count, &at, moved, w, change);
        storeWide(&pack->change[0][lane], change.x);
        storeWide(&pack->change[1][lane], change.y);
        storeWide(&pack->change[2][lane], change.z);
        unsigned used = (1u << count) - 1u;
        *tumbling |= (used & wideBits(wideGreater(tumbles, none))) << lane;
        *isShort |= (used & wideBits(has)) << lane;
    }
}

// Substeps ----------------------------------------------------------------------------------------

static void addUpBodies(const tpFlightPack* pack, const double* last, const double* pushes,
                        bool isTumbling, double* bases, double* momenta) {
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        const double *rows[W], *pushRows[W];
        double *baseRows[W], *momentumRows[W];
        wide v[6], b[6], p[6], I[6], more[6];
        for (int k = 0; k < W; ++k) {
            int place = 6 * (k < count ? lane + k : lane);
            rows[k] = last + place;
            pushRows[k] = pushes + place;
            baseRows[k] = bases + place;
            momentumRows[k] = momenta + place;
        }
        loadSixes(rows, v);
        for (int k = 0; k < 6; ++k) {
            b[k] = v[k] + loadWide(&pack->kick[k][lane]);
            I[k] = loadWide(&pack->inertia[k][lane]);
        }
        for (int k = 0; isTumbling && k < 3; ++k) {
            b[3 + k] += loadWide(&pack->change[k][lane]);
        }
        wide mass = loadWide(&pack->mass[lane]);
        for (int k = 0; k < 3; ++k) {
            p[k] = mass * b[k];
        }
        p[3] = I[0] * b[3] + I[3] * b[4] + I[4] * b[5];
        p[4] = I[3] * b[3] + I[1] * b[4] + I[5] * b[5];
        p[5] = I[4] * b[3] + I[5] * b[4] + I[2] * b[5];
        loadSixes(pushRows, more);
        for (int k = 0; k < 6; ++k) {
            p[k] = more[k] + p[k];
        }
        storeSixes(baseRows, count, b);
        storeSixes(momentumRows, count, p);
    }
}

static void sumUpBodies(const tpFlightPack* pack, double substeps, const double* begun,
                        const double* given, bool isTumbling, double* momenta) {
    wide times = wideOf(substeps);
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        const double *rows[W], *givenRows[W];
        double* momentumRows[W];
        wide v[6], p[6], I[6];
        for (int k = 0; k < W; ++k) {
            int place = 6 * (k < count ? lane + k : lane);
            rows[k] = begun + place;
            givenRows[k] = given + place;
            momentumRows[k] = momenta + place;
        }
        loadSixes(rows, v);
        loadSixes(givenRows, p);
        for (int k = 0; k < 6; ++k) {
            wide more = loadWide(&pack->kick[k][lane]);
            if (isTumbling && k >= 3) {
                more += loadWide(&pack->change[k - 3][lane]);
            }
            v[k] += times * more;
            I[k] = loadWide(&pack->inertia[k][lane]);
        }
        wide mass = loadWide(&pack->mass[lane]);
        for (int k = 0; k < 3; ++k) {
            p[k] += mass * v[k];
        }
        p[3] += I[0] * v[3] + I[3] * v[4] + I[4] * v[5];
        p[4] += I[3] * v[3] + I[1] * v[4] + I[5] * v[5];
        p[5] += I[4] * v[3] + I[5] * v[4] + I[2] * v[5];
        storeSixes(momentumRows, count, p);
    }
}

static void followBodies(int count, double factor, const double* x, double* sum) {
    int k = 0;
    for (; k + W <= count; k += W) {
        wide to, by;
        memcpy(&to, sum + k, sizeof(to));
        memcpy(&by, x + k, sizeof(by));
        to = to + wideOf(factor) * by;
        memcpy(sum + k, &to, sizeof(to));
    }
    for (; k < count; ++k) {
        sum[k] += factor * x[k];
    }
}

// Landing -----------------------------------------------------------------------------------------

static inline WideVec momentumOf(const tpFlightPack* pack, int lane, WideVec w) {
    const double* rows[W];
    wide I[6];
    for (int k = 0; k < W; ++k) {
        rows[k] = pack->nodes[tpFlightPack_Lane(pack, lane + k)].inertia;
    }
    loadSixes(rows, I);
    wide xx = I[0], yy = I[1], zz = I[2], xy = I[3], xz = I[4], yz = I[5];
    return (WideVec){ xx * w.x + xy * w.y + xz * w.z, xy * w.x + yy * w.y + yz * w.z,
                      xz * w.x + yz * w.y + zz * w.z };
}

static inline WideVec velocityOf(const tpFlightPack* pack, int lane, WideQuat rotation,
                                 WideVec momentum) {
    WideVec moments = loadThree(pack->moments, lane);
    WideQuat q = principalIn(pack, lane, rotation);
    wide s = 2.0 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    WideVec m = turnVec(conjugateQuat(q), s, momentum);
    WideVec w = { m.x / moments.x, m.y / moments.y, m.z / moments.z };
    return turnVec(q, s, w);
}

// Writes angular velocities of some lanes.
static inline void storeAngular(tpVelocity* const* lines, unsigned lanes, WideVec w) {
    double parts[3][W];
    memcpy(parts[0], &w.x, sizeof(wide));
    memcpy(parts[1], &w.y, sizeof(wide));
    memcpy(parts[2], &w.z, sizeof(wide));
    for (int k = 0; k < W; ++k) {
        if (lanes >> k & 1) {
            lines[k]->angular = tpMakeVec3(parts[0][k], parts[1][k], parts[2][k]);
        }
    }
}

static unsigned landFlights(const tpFlightPack* pack, double substep, double count) {
    unsigned left = 0;
    for (int lane = 0; lane < pack->count; lane += W) {
        int used = pack->count - lane < W ? pack->count - lane : W;
        unsigned lanes = 0, turning = 0;
        const double* rows[W];
        wide q[4], m[4], c[4];
        for (int k = 0; k < W; ++k) {
            const tpNodeFlight* flight = &pack->flights[tpFlightPack_Lane(pack, lane + k)];
            rows[k] = &flight->start.position.x;
            lanes |= k < used && (!flight->isTumbling || flight->isShort) ? 1u << k : 0u;
            turning |= flight->isTumbling ? 1u << k : 0u;
        }
        loadFours(rows, 3, q);
        loadFours(rows, 7, m);
        loadFours(rows, 12, c);
        WideVec change = { c[1], c[2], c[3] };
        WideVec way = subVec(loadAngular((const tpVelocity* const*)pack->moved + lane),
                             (WideVec){ m[0], m[1], m[2] });
        WideQuat rotation;
        lanes &=
            turnOn(mulAddVec(way, wideOf(-0.5 * count * substep), change), loadQuat(q), &rotation);
        for (int k = 0; k < W; ++k) {
            rows[k] = &pack->starts[lane + k]->position.x;
        }
        loadFours(rows, 0, q);
        for (int k = 0; k < W; ++k) {
            rows[k] = &pack->moved[lane + k]->linear.x;
        }
        loadFours(rows, 0, m);
        WideVec position = { q[0] + m[0], q[1] + m[1], q[2] + m[2] };
        storePose(pack->poses + lane, used, lanes, position, rotation);
        if ((turning & lanes) != 0) {
            WideVec w = loadAngular((const tpVelocity* const*)pack->velocities + lane);
            WideVec momentum = momentumOf(pack, lane, mulAddVec(w, wideOf(-count), change));
            storeAngular(pack->velocities + lane, turning & lanes,
                         velocityOf(pack, lane, rotation, momentum));
        }
        left |= (((1u << used) - 1u) & ~lanes) << lane;
    }
    return left;
}

// Shifts ------------------------------------------------------------------------------------------

static unsigned shiftPoses(const tpFlightPack* pack, const double* by) {
    unsigned left = 0;
    for (int lane = 0; lane < pack->count; lane += W) {
        int used = pack->count - lane < W ? pack->count - lane : W;
        const double* rows[W];
        wide x[6];
        for (int k = 0; k < W; ++k) {
            rows[k] = by + 6 * (k < used ? lane + k : lane);
        }
        loadSixes(rows, x);
        WideVec linear = { x[0], x[1], x[2] }, angular = { x[3], x[4], x[5] };
        WidePose at = loadPose((const tpPose* const*)pack->poses + lane);
        WideQuat rotation;
        unsigned lanes = turnOn(angular, at.rotation, &rotation);
        storePose(pack->poses + lane, used, lanes, addVec(at.position, linear), rotation);
        left |= (((1u << used) - 1u) & ~lanes) << lane;
    }
    return left;
}

// Displacements of the step -----------------------------------------------------------------------

static unsigned measureBodies(const tpFlightPack* pack) {
    unsigned left = 0;
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        double *rows[W], *angular[W];
        for (int k = 0; k < W; ++k) {
            rows[k] = &pack->moved[lane + k]->linear.x;
            angular[k] = &pack->moved[lane + k]->angular.x;
        }
        WidePose from = loadPose(pack->starts + lane);
        WidePose to = loadPose((const tpPose* const*)pack->poses + lane);
        WideQuat q = multiplyQuats(to.rotation, conjugateQuat(from.rotation));
        wide none = wideOf(0.0), y = q.x * q.x + q.y * q.y + q.z * q.z;
        unsigned near = wideBits(wideGreater(wideOf(0.0025), y)) & wideBits(wideGreater(q.w, none));
        wide series =
            1.0 +
            y * (1.0 / 6.0 +
                 y * (3.0 / 40.0 + y * (5.0 / 112.0 + y * (35.0 / 1152.0 + y * (63.0 / 2816.0)))));
        wide twice = 2.0 * series;
        WideVec way = subVec(to.position, from.position);
        // Lines have a place behind each vector that nobody has asked for yet.
        const wide linear[4] = { way.x, way.y, way.z, none };
        const wide turn[4] = { twice * q.x, twice * q.y, twice * q.z, none };
        storeFours(rows, 0, count, linear);
        storeFours(angular, 0, count, turn);
        left |= (((1u << count) - 1u) & ~near) << lane;
    }
    return left;
}
