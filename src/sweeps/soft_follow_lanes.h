// Manifolds that follow their bodies to the end of a step, W at once.
//
// A contact is a point of one body and a plane of the other: its gap is their distance, exact
// however far the two have slid. With D the displacement of A's point against B's, and n' the
// normal turned with the body that has the plane,
//
//     gap' = gap + n' . D,     slip = D - (n' . D) n'
//
// The plane's point is moved by the slip, so that it stays opposite the other. A surface that is
// round about the point rolls: what moves with its body is the centre of its curvature, c = p + r n
// of A, and p' = c' - r n'. A point that turned with the body would rise by r phi^2 / 2, and the
// body sink as much, until the manifold is found anew: a ball rolled downhill on level ground. What
// is not followed: which points bound the region of contact. It moves by the slip at most, and a
// gap is wrong by the slip times the angle between the surfaces at most; both are bounded
// (tpSoftLimits).

#include "sweeps/soft_lanes.h"

static inline WideVec addVec(WideVec a, WideVec b) {
    return (WideVec){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline WideVec subVec(WideVec a, WideVec b) {
    return (WideVec){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline WideVec scaleVec(wide factor, WideVec v) {
    return (WideVec){ factor * v.x, factor * v.y, factor * v.z };
}

static inline void storeFloatVec(float* parts, int lane, WideVec v) {
    storeFloats(parts + lane, v.x);
    storeFloats(parts + tp_packWidth + lane, v.y);
    storeFloats(parts + 2 * tp_packWidth + lane, v.z);
}

static inline WideVec linearOf(const WideLines* line) {
    return (WideVec){ line->numbers[0], line->numbers[1], line->numbers[2] };
}

static inline WideVec angularOf(const WideLines* line) {
    return (WideVec){ line->numbers[4], line->numbers[5], line->numbers[6] };
}

static inline wide lengthOf(WideVec v) {
    return wideSqrt(dotVec(v, v));
}

// A turn, and the coefficients of what it adds to a vector, to fourth order: a corner .2 m from the
// centre that lands with 2 rad/s misses 4e-7 m in a step of 1/100 s to second order, and its gap
// has that from there on. The series is not followed beyond a radian.
typedef struct WideTurn {
    WideVec angle;
    wide first, second;
} WideTurn;

static inline WideTurn turnBy(WideVec angle) {
    wide one = wideOf(1.0), square = dotVec(angle, angle);
    square = wideSelect(wideGreater(square, one), one, square);
    return (WideTurn){ angle, one - wideOf(1.0 / 6.0) * square,
                       wideOf(0.5) - wideOf(1.0 / 24.0) * square };
}

static inline WideVec turnGain(const WideTurn* turn, WideVec v) {
    WideVec once = crossVec(turn->angle, v), twice = crossVec(turn->angle, once);
    return addVec(scaleVec(turn->first, once), scaleVec(turn->second, twice));
}

// Of W manifolds: how their bodies have moved, and may move next.
typedef struct WideMotion {
    WideVec moveA, moveB; // displacements of the step
    WideTurn turnA, turnB;
    WideVec sagA, sagB;    // parts of the turns that arms leave out
    WideTurn lead;         // the turning of the normals
    wide reachA, reachB;   // of the bodies, m
    WideVec ahead;         // how A will move against B in the next step, m
    wide aside;            // what else may bring points nearer then, m
    wide came;             // how much nearer a point may have come, m
    wide need, most;       // how much nearer it may come in the next step, m
    wide radiusA, radiusB; // about which the surfaces are round, m
    bool rolls;            // one of them is not 0
    wide share;            // of the turning that is A's
} WideMotion;

static inline void loadMotion(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                              WideMotion* m) {
    WideLines a, b;
    loadPair(sweep->shifts, run, lane, &a, &b);
    m->moveA = linearOf(&a);
    m->moveB = linearOf(&b);
    m->turnA = turnBy(angularOf(&a));
    m->turnB = turnBy(angularOf(&b));
    m->reachA = a.numbers[7];
    m->reachB = b.numbers[7];
    m->came = lengthOf(subVec(m->moveA, m->moveB)) + a.numbers[3] + b.numbers[3];
    wide share = m->share = loadFloats(&run->share[lane]), rest = wideOf(1.0) - share;
    m->lead = turnBy(addVec(scaleVec(share, m->turnA.angle), scaleVec(rest, m->turnB.angle)));
    loadPair(sweep->aheads, run, lane, &a, &b);
    m->sagA = angularOf(&a);
    m->sagB = angularOf(&b);
    wide most = m->most = a.numbers[7] + b.numbers[7];
    m->ahead = subVec(linearOf(&a), linearOf(&b));
    m->aside = a.numbers[3] + b.numbers[3] + wideOf(0.125) * most;
    wide need = lengthOf(m->ahead) + m->aside;
    m->need = wideSelect(wideGreater(need, most), most, need);
    m->radiusA = loadWide(&run->radiusA[lane]);
    m->radiusB = loadWide(&run->radiusB[lane]);
    m->rolls = wideBits(wideGreater(m->radiusA + m->radiusB, wideOf(0.0))) != 0;
}

// Points that a manifold does not have are at least so much farther apart along the normal as its
// slack says, and along it they come nearer by as much as the manifold's own points do, and as the
// bodies turn against the normal: with p a point of the manifold, q one of A,
//
//     n' . (q' - p') = n . (q - p) + (turn of A - turn of n) . ((q - p) x n) + ...
//
// so that what slides or spins along the plane takes nothing from the slack.
static inline void lookAlong(const tpSoftRun* run, const tpSoftPack* pack, int lane, WideVec n,
                             WideMotion* m) {
    wide zero = wideOf(0.0), one = wideOf(1.0), tilted = loadFloats(&run->tilt[lane]);
    // Of both kinds, which are a distance of 1.5 or more from others.
    wide kind = wideSelect(wideGreater(tilted, zero), tilted, zero - tilted - tilted);
    wideMask isKnown = wideGreater(kind, wideOf(1.5));
    if (wideBits(isKnown) == 0) {
        return;
    }
    wide lever = wideOf(2.0) * ((one - m->share) * m->reachA + m->share * m->reachB);
    WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
    WideVec apart = subVec(addVec(m->moveA, turnGain(&m->turnA, armA)),
                           addVec(m->moveB, turnGain(&m->turnB, armB)));
    WideVec turn = subVec(m->turnA.angle, m->turnB.angle);
    WideVec tilt = subVec(turn, scaleVec(dotVec(n, turn), n));
    wide came = lengthOf(tilt) * lever - dotVec(n, apart);
    wide need = wideMax(zero - dotVec(n, m->ahead), zero) + m->aside;
    wideMask isLess = wideGreater(m->came, came);
    m->came = wideSelect(isKnown, wideSelect(isLess, came, m->came), m->came);
    need = wideSelect(wideGreater(need, m->most), m->most, need);
    m->need = wideSelect(isKnown, need, m->need);
}

// How much the points of a contact slip against each other, squared: it is what limits are about.
// What rolls moves along the other surface.
static inline wide slipOf(const WideMotion* m, WideVec gainA, WideVec gainB, WideVec n) {
    WideVec apart = subVec(addVec(m->moveA, gainA), addVec(m->moveB, gainB));
    WideVec slip = subVec(apart, scaleVec(dotVec(n, apart), n));
    return dotVec(slip, slip);
}

// What a point of a round surface gains instead of this: p' - p = c' - c - r (n' - n), c = p + r n.
// Nothing is added to points of others, no zero either: W must not show.
static inline WideVec rollGain(WideVec gain, const WideTurn* turn, wide radius, WideVec last,
                               WideVec n) {
    WideVec turned = subVec(turnGain(turn, last), subVec(n, last));
    WideVec rolled = addVec(gain, scaleVec(radius, turned));
    wideMask isRound = wideGreater(radius * radius, wideOf(0.0));
    return (WideVec){ wideSelect(isRound, rolled.x, gain.x), wideSelect(isRound, rolled.y, gain.y),
                      wideSelect(isRound, rolled.z, gain.z) };
}

// The side over the face turns with its body.
static inline WideVec turnSide(tpSoftRun* run, int lane, const WideMotion* m) {
    WideVec side = loadFloatVec(run->incident[0], lane);
    WideTurn turn = turnBy(addVec(scaleVec(m->share, m->turnB.angle),
                                  scaleVec(wideOf(1.0) - m->share, m->turnA.angle)));
    side = addVec(side, turnGain(&turn, side));
    storeFloatVec(run->incident[0], lane, side);
    return side;
}

// What the slip along a face is multiplied by for how much higher the side over it is there.
static inline WideVec riseOf(WideVec side, WideVec n) {
    wide along = dotVec(side, n);
    wideMask isKnown = wideGreater(along * along, wideOf(0.0));
    return scaleVec(wideOf(1.0) / wideSelect(isKnown, along, wideOf(1.0)), side);
}

// Moves a manifold's point; returns its slip, squared. The normal was `last` and is n.
static inline wide followPoint(tpSoftPack* pack, int lane, const WideMotion* m, WideVec rise,
                               WideVec last, WideVec n) {
    WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
    WideVec gainA = turnGain(&m->turnA, armA), gainB = turnGain(&m->turnB, armB);
    if (m->rolls) {
        gainA = rollGain(gainA, &m->turnA, m->radiusA, last, n);
        gainB = rollGain(gainB, &m->turnB, wideOf(0.0) - m->radiusB, last, n);
    }
    wide slipped = slipOf(m, gainA, gainB, n);
    WideVec apart = subVec(addVec(m->moveA, gainA), addVec(m->moveB, gainB));
    wide closer = dotVec(n, apart);
    WideVec slip = subVec(apart, scaleVec(closer, n));
    wide isPoint = loadInts(&pack->isPoint[lane]), zero = wideOf(0.0), one = wideOf(1.0);
    wideMask isEmpty = wideGreater(zero, isPoint), isOfFace = wideGreater(isPoint, one);
    // One that stays on the face has another point of the side above it now.
    wide risen = wideSelect(isOfFace, dotVec(rise, slip), zero);
    wide gap = loadFloats(&pack->startGap[lane]) + closer + risen;
    wide share = wideSelect(isOfFace, one - m->share, m->share);
    storeFloats(&pack->gap[lane], wideSelect(isEmpty, wideOf(0.0), gap));
    gainA = subVec(gainA, crossVec(m->sagA, armA));
    gainB = subVec(gainB, crossVec(m->sagB, armB));
    WideVec shift = subVec(slip, scaleVec(risen, n));
    armA = subVec(addVec(armA, gainA), scaleVec(share, shift));
    armB = addVec(addVec(armB, gainB), scaleVec(one - share, shift));
    storeFloatVec(pack->armA[0], lane, armA);
    storeFloatVec(pack->armB[0], lane, armB);
    return wideSelect(isEmpty, wideOf(0.0), slipped);
}

static inline WideVec turnFrame(tpSoftPack* pack, int lane, const WideTurn* lead) {
    WideVec n = loadFloatVec(pack->normal[0], lane);
    WideVec t = loadFloatVec(pack->tangents[0][0], lane);
    WideVec o = loadFloatVec(pack->tangents[1][0], lane);
    n = addVec(n, turnGain(lead, n));
    storeFloatVec(pack->normal[0], lane, n);
    storeFloatVec(pack->tangents[0][0], lane, addVec(t, turnGain(lead, t)));
    storeFloatVec(pack->tangents[1][0], lane, addVec(o, turnGain(lead, o)));
    return n;
}

// A bit for each lane in which a is greater than b.
static inline unsigned bitsGreater(wide a, wide b) {
    return wideBits(wideGreater(a, b));
}

// What is left of the manifolds' limits; marks those that have reached one.
static inline unsigned spendLimits(const tpSoftLimits* limits, tpSoftRun* run, int lane,
                                   const WideMotion* m, wide slipped) {
    wide slack = loadFloats(&run->slack[lane]) - m->came;
    wide slip = loadFloats(&run->slip[lane]) + slipped;
    wide turn = loadFloats(&run->turn[lane]) + lengthOf(subVec(m->turnA.angle, m->turnB.angle));
    wide age = loadFloats(&run->age[lane]) + wideOf(1.0);
    storeFloats(&run->slack[lane], slack);
    storeFloats(&run->slip[lane], slip);
    storeFloats(&run->turn[lane], turn);
    storeFloats(&run->age[lane], age);
    wide size = loadFloats(&run->size[lane]);
    wide tilt = loadFloats(&run->tilt[lane]), along = wideOf((double)tp_alongTilt);
    tilt = wideSelect(wideGreater(along, tilt), tilt, tilt - along);
    tilt = wideMax(tilt + turn, wideOf(0.0));
    return bitsGreater(m->need, slack) | bitsGreater(slip, wideOf(limits->slip) * size) |
           bitsGreater(turn, wideOf(limits->turn)) |
           bitsGreater(slip * tilt, wideOf(limits->gap) * size) |
           bitsGreater(age, wideOf(limits->age));
}

// Contacts that carried something or touch, a bit for each lane.
static inline int countListed(const tpSoftSweep* sweep, const tpSoftPack* pack, int lane,
                              wide gap) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    wide is = wideSelect(wideGreater(gap, wideOf(sweep->touching)), zero, one);
    is = wideSelect(wideGreater(loadWide(&pack->load[lane]), zero), one, is);
    is = wideSelect(wideGreater(zero, loadInts(&pack->isPoint[lane])), zero, is);
    return __builtin_popcount(bitsGreater(is, zero));
}

static inline unsigned followLanes(const tpSoftSweep* sweep, tpSoftRun* run, int lane) {
    WideMotion m;
    loadMotion(sweep, run, lane, &m);
    wide slipped = wideOf(0.0), nearest = wideOf(-1e30);
    WideVec side = turnSide(run, lane, &m), last, n, rise;
    // Apart, it gives its lane back.
    wide far = wideOf(sweep->limits.apart) * loadFloats(&run->size[lane]);
    for (tpSoftPack* pack = run->packs; pack < run->packs + run->count; ++pack) {
        if (pack == run->packs || !run->isFlat) {
            last = loadFloatVec(pack->normal[0], lane);
            n = turnFrame(pack, lane, &m.lead);
            rise = riseOf(side, n);
        }
        if (pack == run->packs) {
            far = m.need + far;
            lookAlong(run, pack, lane, n, &m);
        }
        slipped = wideMax(followPoint(pack, lane, &m, rise, last, n), slipped);
        wide gap = loadFloats(&pack->gap[lane]);
        wideMask isEmpty = wideGreater(wideOf(0.0), loadInts(&pack->isPoint[lane]));
        nearest = wideMax(wideSelect(isEmpty, wideOf(-1e30), wideOf(0.0) - gap), nearest);
        run->listed += countListed(sweep, pack, lane, gap);
    }
    storeFloats(&run->deepest[lane], wideMax(nearest, wideOf(0.0)));
    return spendLimits(&sweep->limits, run, lane, &m, wideSqrt(slipped)) |
           bitsGreater(wideOf(0.0) - nearest, far);
}

// Two balls touch in one point, found anew from their places. They are stale if they are farther
// apart than the next step may bring them together.
static inline unsigned followBalls(const tpSoftSweep* sweep, tpSoftRun* run, int lane) {
    tpSoftPack* pack = run->packs;
    WideMotion m;
    loadMotion(sweep, run, lane, &m);
    WideLines a, b;
    loadPair(sweep->places, run, lane, &a, &b);
    wide zero = wideOf(0.0), one = wideOf(1.0);
    wide radiusA = loadWide(&run->radiusA[lane]), radiusB = loadWide(&run->radiusB[lane]);
    WideVec way = subVec(linearOf(&a), linearOf(&b));
    wide distance = lengthOf(way);
    WideVec old = loadFloatVec(pack->normal[0], lane);
    // Without a direction of its own the old one stays.
    wideMask isApart = wideGreater(distance, wideOf(1e-9) * (radiusA + radiusB));
    wide inverse = one / wideSelect(isApart, distance, one);
    WideVec n = { wideSelect(isApart, inverse * way.x, old.x),
                  wideSelect(isApart, inverse * way.y, old.y),
                  wideSelect(isApart, inverse * way.z, old.z) };
    wide gap = distance - radiusA - radiusB;
    // The tangent turned along, and straightened.
    WideVec t = loadFloatVec(pack->tangents[0][0], lane);
    t = addVec(t, turnGain(&m.lead, t));
    t = subVec(t, scaleVec(dotVec(t, n), n));
    wide length = lengthOf(t);
    wideMask isEmpty = wideGreater(zero, loadInts(&pack->isPoint[lane]));
    t = scaleVec(one / wideSelect(isEmpty, one, length), t);
    storeFloatVec(pack->normal[0], lane, n);
    storeFloatVec(pack->tangents[0][0], lane, t);
    storeFloatVec(pack->tangents[1][0], lane, crossVec(n, t));
    storeFloatVec(pack->armA[0], lane, scaleVec(zero - radiusA, n));
    storeFloatVec(pack->armB[0], lane, scaleVec(radiusB, n));
    storeFloats(&pack->gap[lane], wideSelect(isEmpty, zero, gap));
    storeFloats(&run->deepest[lane], wideSelect(isEmpty, zero, wideMax(zero - gap, zero)));
    run->listed += countListed(sweep, pack, lane, loadFloats(&pack->gap[lane]));
    return bitsGreater(gap, m.need) | bitsGreater(wideOf(0.1), length);
}

static void followRun(const tpSoftSweep* sweep, tpSoftRun* run) {
    unsigned stale = 0;
    run->listed = 0;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        unsigned bits =
            run->areBalls ? followBalls(sweep, run, lane) : followLanes(sweep, run, lane);
        stale |= bits << lane;
    }
    run->stale = (uint8_t)(stale & run->used);
}
