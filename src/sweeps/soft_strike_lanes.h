// Impacts of soft contacts, W at once, after soft_lanes.h: pairs of bodies strike one after the
// other, each with the velocities that those before it have left, so that an impact is handed on
// from body to body within a substep.
//
// A pair strikes before the forces of a substep act, if a point of it closes in the substep and
// approaches faster than the threshold. Its points are solved together: u_n >= -e u_n(before) where
// they hit, with r_n >= 0 and friction below mu r_n. If that would give energy, as Newton's law
// with friction may, all of its impulses are made smaller alike until it does not.

#ifndef TIPPE_SRC_SWEEPS_SOFT_STRIKE_LANES_H
#define TIPPE_SRC_SWEEPS_SOFT_STRIKE_LANES_H

#include "sweeps/soft_lanes.h"

// Rounds in which the points of a pair are solved together, at most: pairs whose impulses change by
// less than a part of the largest are left.
enum { strikeRounds = 8 };
static const double strikeChange = 1e-3;

// A pair of bodies that strikes: its points, before and after.
typedef struct WideStrike {
    WideBodies bodies;
    WideLines startA, startB;
    wideMask strikes; // lanes in which some point meets fast enough to bounce
    wide goesOn;      // 1 in lanes of these whose impulses still change
} WideStrike;

// Whether a point of some pair approaches fast enough to bounce. Most do not, so that velocities
// alone are asked first.
static inline bool someApproachFast(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                                    WideStrike* s) {
    loadPair(sweep->velocities, run, lane, &s->startA, &s->startB);
    wide zero = wideOf(0.0), approach = zero;
    for (int k = 0; k < run->active; ++k) {
        const tpSoftPack* pack = &run->packs[k];
        WideVec n = loadFloatVec(framePack(run, run->packs, pack)->normal[0], lane);
        WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
        wide u = dotVec(relativeVelocity(&s->startA, armA, &s->startB, armB), n);
        wideMask canClose = wideGreater(loadWide(&pack->inverseNormal[lane]), zero);
        approach = wideMax(approach, wideSelect(canClose, zero - u, zero));
    }
    wideMask isLate = wideGreater(wideOf(sweep->striking), loadFloats(&run->restitution[lane]));
    return wideAny(wideGreater(wideSelect(isLate, zero, approach), wideOf(sweep->threshold)));
}

// The speed with which what has the velocity u (negative: it approaches) a gap away parts here, so
// that it rises as far as if it had struck where the gap is gone. `pull` is by how much forces make
// it approach faster, m/s^2.
static inline wide partingSpeed(wide e, wide u, wide gap, wide pull) {
    wide lifted = wideOf(2.0) * pull * wideMax(gap, wideOf(0.0));
    return wideSqrt(wideMax(e * e * (u * u + lifted) - lifted, wideOf(0.0)));
}

// What each point is to part with; 0 if it only must not approach, or stays open: then its response
// is left out.
static inline void aimStrike(const tpSoftSweep* sweep, const tpSoftRun* run, bool isFirst, int lane,
                             WideStrike* s) {
    WideLines movedA, movedB, kickA, kickB;
    loadPair(sweep->moved, run, lane, &movedA, &movedB);
    loadPair(sweep->kicks, run, lane, &kickA, &kickB);
    wide share = wideOf(isFirst ? 0.0 : 1.0);
    wide zero = wideOf(0.0), one = wideOf(1.0), any = zero, e = loadFloats(&run->restitution[lane]);
    wideMask isLate = wideGreater(wideOf(sweep->striking), e);
    for (int k = 0; k < run->active; ++k) {
        tpSoftPack* pack = &run->packs[k];
        WideContacts c;
        loadContacts(run, pack, framePack(run, run->packs, pack), lane, &s->bodies, &c);
        WideVec moved = relativeVelocity(&movedA, c.armA, &movedB, c.armB);
        wide gap = loadFloats(&pack->startGap[lane]) + share * dotVec(moved, c.frame.n);
        wide left = gap + wideOf(sweep->time) * (c.u[0] - wideOf(sweep->threshold));
        wide closes = wideSelect(wideGreater(zero, left), one, zero);
        wide hits = wideSelect(wideGreater(wideOf(-sweep->threshold), c.u[0]), closes, zero);
        hits = wideSelect(wideGreater(loadWide(&pack->inverseNormal[lane]), zero), hits, zero);
        any = wideMax(any, wideSelect(isLate, zero, hits));
        tpSoftBounce* bounce = bounceOf(sweep, run, pack);
        wide pull = wideOf(-1.0 / sweep->time) *
                    dotVec(relativeVelocity(&kickA, c.armA, &kickB, c.armB), c.frame.n);
        storeWide(&bounce->aim[lane], hits * partingSpeed(e, c.u[0], gap, pull));
        storeWide(&bounce->closes[lane], closes);
        for (int i = 0; i < 3; ++i) {
            storeWide(&bounce->struck[i][lane], zero);
        }
    }
    s->strikes = wideGreater(any, zero);
    s->goesOn = any;
}

// One round over the points of the pairs that go on.
static inline void strikePoints(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                                WideStrike* s) {
    wide zero = wideOf(0.0), largest = zero, most = zero;
    wideMask goesOn = wideGreater(s->goesOn, zero);
    for (int k = 0; k < run->active; ++k) {
        tpSoftPack* pack = &run->packs[k];
        tpSoftBounce* bounce = bounceOf(sweep, run, pack);
        WideContacts c;
        loadContacts(run, pack, framePack(run, run->packs, pack), lane, &s->bodies, &c);
        wide old[3], r[3];
        for (int i = 0; i < 3; ++i) {
            old[i] = r[i] = loadWide(&bounce->struck[i][lane]);
        }
        wide inverse = loadWide(&pack->inverseNormal[lane]) * loadWide(&bounce->closes[lane]);
        r[0] = wideMax(old[0] - (c.u[0] - loadWide(&bounce->aim[lane])) * inverse, zero);
        wide change = r[0] - old[0];
        const wide stick[3] = { loadFloats(&pack->stick[0][lane]),
                                loadFloats(&pack->stick[1][lane]),
                                loadFloats(&pack->stick[2][lane]) };
        solveFriction(stick, loadFloats(&pack->slide[lane]), c.frame.muStatic, c.frame.muDynamic,
                      c.u[1] + loadFloats(&pack->coupling[0][lane]) * change,
                      c.u[2] + loadFloats(&pack->coupling[1][lane]) * change, r[0], &r[1], &r[2]);
        for (int i = 0; i < 3; ++i) {
            r[i] = wideSelect(goesOn, r[i], old[i]);
            storeWide(&bounce->struck[i][lane], r[i]);
            largest = wideMax(largest, wideMax(r[i], zero - r[i]));
            r[i] = r[i] - old[i];
            most = wideMax(most, wideMax(r[i], zero - r[i]));
        }
        pushBodies(&s->bodies, c.armA, c.armB, along(&c.frame, r));
    }
    s->goesOn = wideSelect(wideGreater(most, wideOf(strikeChange) * largest), s->goesOn, zero);
}

// The part of the impulses that gives no energy: with p . (u0 + s (u1 - u0) / 2) <= 0.
static inline wide partOfStrike(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                                const WideStrike* s) {
    wide zero = wideOf(0.0), one = wideOf(1.0), before = zero, after = zero;
    for (int k = 0; k < run->active; ++k) {
        const tpSoftPack* pack = &run->packs[k];
        const tpSoftBounce* bounce = bounceOf(sweep, run, pack);
        WideFrame frame = loadFrame(run, framePack(run, run->packs, pack), lane);
        WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
        wide u0[3], u1[3];
        speedsIn(&frame, relativeVelocity(&s->startA, armA, &s->startB, armB), u0);
        speedsIn(&frame, relativeVelocity(&s->bodies.velocityA, armA, &s->bodies.velocityB, armB),
                 u1);
        for (int i = 0; i < 3; ++i) {
            wide r = loadWide(&bounce->struck[i][lane]);
            before += r * u0[i];
            after += r * u1[i];
        }
    }
    wide change = after - before;
    wideMask gains = wideGreater(before + after, zero);
    wide part = wideSelect(wideGreater(change, zero), wideOf(-2.0) * before / change, zero);
    return wideSelect(gains, wideMax(part, zero), one);
}

static inline WideLines goneTo(const WideLines* from, const WideLines* to, wide part) {
    WideLines at = *from;
    for (int k = 0; k < 7; ++k) {
        at.numbers[k] = from->numbers[k] + part * (to->numbers[k] - from->numbers[k]);
    }
    return at;
}

// What the velocities without the impulses of this substep become, so that none is added to them: a
// body that nothing else pushes has both the same.
static inline void storeBase(const tpSoftSweep* sweep, const int32_t* bodies, unsigned mask,
                             const WideLines* start, const WideLines* end) {
    WideLines base;
    loadLines((const double*)sweep->bases, bodies, &base);
    for (int k = 0; k < 7; ++k) {
        base.numbers[k] = end->numbers[k] - (start->numbers[k] - base.numbers[k]);
    }
    storeLines((double*)sweep->bases, bodies, mask, &base);
}

// Impacts of pairs one after the other, each with the velocities that those before it have left:
// the points of a pair together, by Newton's law.
static unsigned strikeRun(const tpSoftSweep* sweep, const tpSoftRun* run, bool isFirst) {
    unsigned struck = 0;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideStrike s;
        if (!someApproachFast(sweep, run, lane, &s)) {
            continue;
        }
        s.bodies.velocityA = s.startA;
        s.bodies.velocityB = s.startB;
        aimStrike(sweep, run, isFirst, lane, &s);
        if (!wideAny(s.strikes)) {
            continue;
        }
        struck |= wideBits(s.strikes) << lane;
        loadMasses(sweep, run, lane, false, &s.bodies);
        for (int round = 0; round < strikeRounds && wideAny(wideGreater(s.goesOn, wideOf(0.0)));
             ++round) {
            strikePoints(sweep, run, lane, &s);
        }
        wide part = partOfStrike(sweep, run, lane, &s);
        WideLines endA = goneTo(&s.startA, &s.bodies.velocityA, part);
        WideLines endB = goneTo(&s.startB, &s.bodies.velocityB, part);
        unsigned movesA = (unsigned)run->movesA >> lane & wideBits(s.strikes);
        unsigned movesB = (unsigned)run->movesB >> lane & wideBits(s.strikes);
        storeLines((double*)sweep->velocities, run->bodyA + lane, movesA, &endA);
        storeLines((double*)sweep->velocities, run->bodyB + lane, movesB, &endB);
        if (!isFirst) {
            storeBase(sweep, run->bodyA + lane, movesA, &s.startA, &endA);
            storeBase(sweep, run->bodyB + lane, movesB, &s.startB, &endB);
        }
        for (int k = 0; k < run->active; ++k) {
            tpSoftPack* pack = &run->packs[k];
            for (int i = 0; i < 3; ++i) {
                wide old = loadWide(&pack->total[i][lane]);
                wide sum = old + part * loadWide(&bounceOf(sweep, run, pack)->struck[i][lane]);
                storeWide(&pack->total[i][lane], wideSelect(s.strikes, sum, old));
            }
        }
    }
    return struck;
}

// What each point of a pair is to part with after the last substep: what has carried nothing has
// not met yet.
static inline void aimBounce(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                             WideStrike* s) {
    wide zero = wideOf(0.0), one = wideOf(1.0), any = zero;
    for (int k = 0; k < run->active; ++k) {
        tpSoftPack* pack = &run->packs[k];
        tpSoftBounce* bounce = bounceOf(sweep, run, pack);
        wideMask hasMet = wideGreater(loadWide(&pack->total[0][lane]), zero);
        wide speed = wideSelect(hasMet, loadFloats(&bounce->speed[lane]), zero);
        any = wideMax(any, wideSelect(wideGreater(zero, speed), one, zero));
        storeFloats(&bounce->speed[lane], speed);
        storeWide(&bounce->aim[lane], zero - speed);
        storeWide(&bounce->closes[lane], wideSelect(hasMet, one, zero));
        for (int i = 0; i < 3; ++i) {
            storeWide(&bounce->struck[i][lane], zero);
        }
    }
    s->strikes = wideGreater(any, zero);
    s->goesOn = any;
}

// What collides and does not strike within the step gets its velocity of parting: the points of a
// pair together. One after the other they would turn a box that lands flat.
static void bounceRun(const tpSoftSweep* sweep, const tpSoftRun* run) {
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideStrike s;
        aimBounce(sweep, run, lane, &s);
        if (!wideAny(s.strikes)) {
            continue;
        }
        loadBodies(sweep, run, lane, false, &s.bodies);
        for (int round = 0; round < strikeRounds && wideAny(wideGreater(s.goesOn, wideOf(0.0)));
             ++round) {
            strikePoints(sweep, run, lane, &s);
        }
        unsigned strikes = wideBits(s.strikes);
        storeLines((double*)sweep->velocities, run->bodyA + lane,
                   (unsigned)run->movesA >> lane & strikes, &s.bodies.velocityA);
        storeLines((double*)sweep->velocities, run->bodyB + lane,
                   (unsigned)run->movesB >> lane & strikes, &s.bodies.velocityB);
        for (int k = 0; k < run->active; ++k) {
            tpSoftPack* pack = &run->packs[k];
            for (int i = 0; i < 3; ++i) {
                wide more = wideSelect(
                    s.strikes, loadWide(&bounceOf(sweep, run, pack)->struck[i][lane]), wideOf(0.0));
                storeWide(&pack->impulse[i][lane], loadWide(&pack->impulse[i][lane]) + more);
                storeWide(&pack->total[i][lane], loadWide(&pack->total[i][lane]) + more);
            }
        }
    }
}

#endif
