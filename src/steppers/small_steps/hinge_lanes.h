// Kernels of hinges over W links at once, on top of math/lanes.h: the operations of placeHinge and
// tpHinge_Split in their order, so that the bits are those of one link after the other.

static inline WideVec loadParts(const double (*parts)[tp_hingePackWidth], int lane) {
    return (WideVec){ loadWide(&parts[0][lane]), loadWide(&parts[1][lane]),
                      loadWide(&parts[2][lane]) };
}

// A pose is seven numbers: two overlapping fours.
static inline WidePose loadPoses(const tpPose* poses, const int32_t* bodies) {
    const double* rows[W];
    wide first[4], second[4];
    for (int k = 0; k < W; ++k) {
        rows[k] = &poses[bodies[k]].position.x;
    }
    loadFours(rows, 0, first);
    loadFours(rows, 3, second);
    return (WidePose){ { first[0], first[1], first[2] },
                       { second[0], second[1], second[2], second[3] } };
}

typedef struct WideHinge {
    WideVec armA, armB, axis, own, arm;
    wide sign;
    wideMask isB;
} WideHinge;

static inline WideHinge placeHinges(const tpHingePack* pack, int lane, const WidePose* a,
                                    const WidePose* b) {
    WideHinge hinge;
    hinge.armA = rotateVec(a->rotation, loadParts(pack->anchorA, lane));
    hinge.armB = rotateVec(b->rotation, loadParts(pack->anchorB, lane));
    hinge.axis = rotateVec(a->rotation, loadParts(pack->axis, lane));
    hinge.sign = loadWide(&pack->sign[lane]);
    hinge.isB = wideGreater(hinge.sign, wideOf(0.0));
    hinge.own = selectVec(hinge.isB, hinge.armB, hinge.armA);
    hinge.arm = subVec(selectVec(hinge.isB, hinge.armA, hinge.armB), hinge.own);
    return hinge;
}

static inline void storeMotions(const WideHinge* hinge, double* const* rows, int count) {
    WideVec along = scaleVec(hinge->sign, crossVec(hinge->own, hinge->axis));
    WideVec about = scaleVec(hinge->sign, hinge->axis);
    wide none = hinge->sign * wideOf(0.0);
    const wide motion[4] = { along.x, along.y, along.z, about.x };
    const wide mixed[4] = { about.y, about.z, none, none };
    const wide reading[4] = { none, about.x, about.y, about.z };
    storeFours(rows, 0, count, motion);
    storeFours(rows, 4, count, mixed);
    storeFours(rows, 8, count, reading);
}

// Half of the turn of each hinge, and what it does not explain, in world axes.
static inline void splitHinges(const tpHingePack* pack, int lane, WideQuat rotationA,
                               WideQuat rotationB, wide* sine, wide* cosine, WideVec* twist) {
    WideQuat relative = { loadWide(&pack->relative[0][lane]), loadWide(&pack->relative[1][lane]),
                          loadWide(&pack->relative[2][lane]), loadWide(&pack->relative[3][lane]) };
    WideQuat R =
        multiplyQuats(multiplyQuats(conjugateQuat(rotationA), rotationB), conjugateQuat(relative));
    WideVec a = loadParts(pack->axis, lane), v = { R.x, R.y, R.z };
    wide along = dotVec(v, a), size = wideSqrt(along * along + R.w * R.w);
    wideMask isTurn = wideGreater(size, wideOf(0.0));
    wide c = wideSelect(isTurn, R.w / size, wideOf(1.0));
    wide s = wideSelect(isTurn, along / size, wideOf(0.0));
    WideVec left = subVec(mulAddVec(scaleVec(c, v), -s * R.w, a), scaleVec(s, crossVec(v, a)));
    *twist = rotateVec(rotationA, scaleVec(wideOf(2.0), left));
    *sine = s;
    *cosine = c;
}

// Values of coordinates by ones that are known and near; returns the lanes for which there are
// none. tpHinge_ValueNear is one of these.
static inline unsigned findValues(tpAxisPlace* const* axes, int count, wide sine, wide cosine,
                                  unsigned asked) {
    const double* rows[W];
    wide known[4], far = wideOf(0.05);
    double values[W] = { 0.0 };
    for (int k = 0; k < W; ++k) {
        rows[k] = &axes[k]->knownHalf.sine;
    }
    loadFours(rows, 0, known); // sine, cosine, value, and one that is not asked for
    wide x = sine * known[1] - cosine * known[0], c = cosine * known[1] + sine * known[0];
    x = wideSelect(wideGreater(wideOf(0.0), c), -x, x);
    unsigned near =
        wideBits(wideGreater(far, wideAbs(x))) & wideBits(wideGreater(wideAbs(c), wideOf(0.5)));
    wide y = x * x;
    wide series =
        1.0 + y * (1.0 / 6.0 + y * (3.0 / 40.0 +
                                    y * (5.0 / 112.0 + y * (35.0 / 1152.0 + y * (63.0 / 2816.0)))));
    wide value = known[2] + 2.0 * x * series;
    memcpy(values, &value, sizeof(value));
    for (int k = 0; k < count; ++k) {
        if ((asked & near) >> k & 1) {
            axes[k]->value = values[k];
        }
    }
    return asked & ~near;
}

// What takes errors back, and how large they are.
static inline void storeJumps(const WideHinge* hinge, WideVec gap, WideVec twist,
                              double* const* rows, int count) {
    wide sign = -hinge->sign;
    WideVec jump = scaleVec(sign, subVec(gap, crossVec(twist, hinge->own)));
    WideVec turn = scaleVec(sign, twist);
    wide gaps = dotVec(gap, gap), twists = dotVec(twist, twist);
    wide error = wideSqrt(wideSelect(wideGreater(gaps, twists), gaps, twists));
    double errors[W];
    memcpy(errors, &error, sizeof(error));
    const wide first[4] = { hinge->arm.x, hinge->arm.y, hinge->arm.z, hinge->own.x };
    const wide second[4] = { hinge->own.y, hinge->own.z, jump.x, jump.y };
    const wide third[4] = { jump.z, turn.x, turn.y, turn.z };
    storeFours(rows, 0, count, first);
    storeFours(rows, 4, count, second);
    storeFours(rows, 8, count, third);
    for (int k = 0; k < count; ++k) {
        rows[k][12] = errors[k];
    }
}

static inline void storeArms(const WideHinge* hinge, double* const* rows, int count) {
    // The own arm's last two numbers are followed by the jump, which stays.
    const wide first[4] = { hinge->arm.x, hinge->arm.y, hinge->arm.z, hinge->own.x };
    double rest[2][W];
    memcpy(rest[0], &hinge->own.y, sizeof(wide));
    memcpy(rest[1], &hinge->own.z, sizeof(wide));
    storeFours(rows, 0, count, first);
    for (int k = 0; k < count; ++k) {
        rows[k][4] = rest[0][k];
        rows[k][5] = rest[1][k];
    }
}

_Static_assert(offsetof(tpNodePlace, jump) == 6 * sizeof(double) &&
                   offsetof(tpNodePlace, error) == 12 * sizeof(double) &&
                   offsetof(tpAxisPlace, reading) == 6 * sizeof(double),
               "places are rows of numbers");

static void lookAtHinges(const tpHingePack* pack, const tpPose* poses, bool isWhole,
                         unsigned allAsked, tpNodePlace* nodes, tpAxisPlace* axes,
                         tpHingeRest* rest) {
    rest->lanes = 0;
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        double *nodeRows[W], *axisRows[W];
        tpAxisPlace* places[W];
        for (int k = 0; k < W; ++k) {
            places[k] = &axes[pack->axisPlace[lane + k]];
            nodeRows[k] = &nodes[pack->node[lane + k]].arm.x;
            axisRows[k] = places[k]->motion;
        }
        WidePose a = loadPoses(poses, pack->bodyA + lane), b = loadPoses(poses, pack->bodyB + lane);
        WideHinge hinge = placeHinges(pack, lane, &a, &b);
        storeMotions(&hinge, axisRows, count);
        if (!isWhole) {
            storeArms(&hinge, nodeRows, count);
            continue;
        }
        wide sine, cosine;
        WideVec twist, gap = subVec(addVec(b.position, hinge.armB), addVec(a.position, hinge.armA));
        splitHinges(pack, lane, a.rotation, b.rotation, &sine, &cosine, &twist);
        storeJumps(&hinge, gap, twist, nodeRows, count);
        unsigned asked = allAsked >> lane & ((1u << W) - 1u);
        unsigned left = asked != 0 ? findValues(places, count, sine, cosine, asked) : 0;
        storeWide(&rest->sines[lane], sine);
        storeWide(&rest->cosines[lane], cosine);
        rest->lanes |= left << lane;
    }
}

// A vector after a small turn, to second order.
static inline WideVec turnedVec(WideVec by, WideVec v) {
    WideVec once = crossVec(by, v);
    return addVec(addVec(v, once), scaleVec(wideOf(0.5), crossVec(by, once)));
}

static void takeHingesAhead(const tpHingePack* pack, const tpVelocity* velocities,
                            const int32_t* numbers, double time, const tpNodePlace* nodes,
                            const tpAxisPlace* axes, tpJointTree* tree) {
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        const double *own[W], *other[W], *places[W], *readings[W];
        for (int k = 0; k < W; ++k) {
            own[k] = &velocities[numbers[pack->node[lane + k]]].angular.x;
            other[k] = &velocities[numbers[pack->parent[lane + k]]].angular.x;
            places[k] = &nodes[pack->node[lane + k]].arm.x;
            readings[k] = axes[pack->axisPlace[lane + k]].reading + 2;
        }
        wide x[4], y[4], z[4], at[4], more[4];
        loadFours(own, 0, x);
        loadFours(other, 0, y);
        loadFours(readings, 0, z);
        loadFours(places, 0, at);
        loadFours(places, 4, more);
        wide sign = loadWide(&pack->sign[lane]), t = wideOf(time);
        wideMask isB = wideGreater(sign, wideOf(0.0));
        WideVec axis = { sign * z[1], sign * z[2], sign * z[3] };
        WideVec by = { t * x[0], t * x[1], t * x[2] }, byOther = { t * y[0], t * y[1], t * y[2] };
        WideVec arm = { at[0], at[1], at[2] }, ownArm = { at[3], more[0], more[1] };
        WideHinge hinge = { .sign = sign, .own = turnedVec(by, ownArm) };
        WideVec moved = subVec(turnedVec(byOther, addVec(arm, ownArm)), hinge.own);
        hinge.axis = turnedVec(selectVec(isB, byOther, by), axis);
        WideVec along = scaleVec(sign, crossVec(hinge.own, hinge.axis));
        WideVec about = scaleVec(sign, hinge.axis);
        double found[9][W];
        const wide results[9] = { moved.x, moved.y, moved.z, along.x, along.y,
                                  along.z, about.x, about.y, about.z };
        memcpy(found, results, sizeof(results));
        for (int k = 0; k < count; ++k) {
            tpJointNode* node = &tree->nodes[pack->node[lane + k]];
            double* motion = tree->axes[node->axis].motion;
            for (int i = 0; i < 3; ++i) {
                node->arm[i] = found[i][k];
                motion[i] = found[3 + i][k];
                motion[3 + i] = found[6 + i][k];
            }
        }
    }
}

static void findHingeSlips(const tpHingePack* pack, const double* velocities,
                           const tpNodePlace* nodes, const tpAxisPlace* axes, double* jumps) {
    for (int lane = 0; lane < pack->count; lane += W) {
        int count = pack->count - lane < W ? pack->count - lane : W;
        const double *own[W], *other[W], *places[W], *motions[W], *readings[W];
        double* to[W];
        for (int k = 0; k < W; ++k) {
            int node = pack->node[lane + k];
            const tpAxisPlace* axis = &axes[pack->axisPlace[lane + k]];
            own[k] = velocities + 6 * node;
            other[k] = velocities + 6 * pack->parent[lane + k];
            places[k] = &nodes[node].arm.x;
            motions[k] = axis->motion;
            readings[k] = axis->reading;
            to[k] = jumps + 6 * node;
        }
        wide v[6], u[6], r[4], s[6], reading[6];
        loadSixes(own, v);
        loadSixes(other, u);
        loadFours(places, 0, r);
        loadSixes(motions, s);
        loadSixes(readings, reading);
        wide jump[6] = { u[0] + (u[4] * r[2] - u[5] * r[1]) - v[0],
                         u[1] + (u[5] * r[0] - u[3] * r[2]) - v[1],
                         u[2] + (u[3] * r[1] - u[4] * r[0]) - v[2],
                         u[3] - v[3],
                         u[4] - v[4],
                         u[5] - v[5] };
        wide rate = wideOf(0.0);
        for (int k = 0; k < 6; ++k) {
            rate += reading[k] * jump[k];
        }
        for (int k = 0; k < 6; ++k) {
            jump[k] = jump[k] - rate * s[k];
        }
        storeSixes(to, count, jump);
    }
}
