// A pack filled from W contacts at once.

#include <string.h>

#include "sweeps/soft_lanes.h"

static inline void storeVec(double (*parts)[tp_packWidth], int lane, WideVec v) {
    storeWide(&parts[0][lane], v.x);
    storeWide(&parts[1][lane], v.y);
    storeWide(&parts[2][lane], v.z);
}

static inline void storeFloatVec(float (*parts)[tp_packWidth], int lane, WideVec v) {
    storeFloats(&parts[0][lane], v.x);
    storeFloats(&parts[1][lane], v.y);
    storeFloats(&parts[2][lane], v.z);
}

static inline WideVec scaleVec(wide factor, WideVec v) {
    return (WideVec){ factor * v.x, factor * v.y, factor * v.z };
}

static inline WideVec subVec(WideVec a, WideVec b) {
    return (WideVec){ a.x - b.x, a.y - b.y, a.z - b.z };
}

// As tpMakeContactLaw does where friction has no direction of its own: the level line, and x on a table.
static inline WideVec levelTangent(WideVec n) {
    wide zero = wideOf(0.0), one = wideOf(1.0), back = zero - n.x;
    WideVec level = { zero - n.y, n.x, zero };
    WideVec ahead = { one + back * n.x, zero + back * n.y, zero + back * n.z };
    wide length = wideSqrt(dotVec(level, level));
    level = scaleVec(one / length, level);
    ahead = scaleVec(one / wideSqrt(dotVec(ahead, ahead)), ahead);
    wideMask isTable = wideGreater(wideOf(1e-9), length);
    return (WideVec){ wideSelect(isTable, ahead.x, level.x), wideSelect(isTable, ahead.y, level.y),
                      wideSelect(isTable, ahead.z, level.z) };
}

// Directions and friction, into the source for the packs that share them, and into this one.
static inline void fillFrame(tpPackSource* source, int lane, WideVec n, tpSoftPack* pack) {
    WideVec t = loadVec(source->tangents[0][0], lane), o = loadVec(source->tangents[1][0], lane);
    if (!source->isAligned) {
        t = levelTangent(n);
        o = crossVec(n, t);
        storeVec(source->tangents[0], lane, t);
        storeVec(source->tangents[1], lane, o);
    }
    storeVec(source->normal, lane, n);
    // In the plane friction has one direction.
    wide across = source->isPlanar ? wideOf(0.0) : loadWide(&source->ellipse[1][lane]);
    storeFloatVec(pack->normal, lane, n);
    storeFloatVec(pack->tangents[0], lane, scaleVec(loadWide(&source->ellipse[0][lane]), t));
    storeFloatVec(pack->tangents[1], lane, scaleVec(across, o));
    storeFloats(&pack->muStatic[lane], loadWide(&source->muStatic[lane]));
    storeFloats(&pack->muDynamic[lane], loadWide(&source->muDynamic[lane]));
}

static inline void fillImpulse(const tpPackSource* source, int lane, WideVec n, tpSoftPack* pack) {
    WideVec start = loadVec(source->impulse[0], lane);
    WideVec t = loadVec(source->tangents[0][0], lane), o = loadVec(source->tangents[1][0], lane);
    wide zero = wideOf(0.0);
    wideMask isRough = wideGreater(loadWide(&source->muDynamic[lane]), zero);
    wide along = dotVec(start, t) / loadWide(&source->ellipse[0][lane]);
    wide across = dotVec(start, o) / loadWide(&source->ellipse[1][lane]);
    storeWide(&pack->impulse[0][lane], wideMax(dotVec(start, n), zero));
    storeWide(&pack->impulse[1][lane], wideSelect(isRough, along, zero));
    storeWide(&pack->impulse[2][lane], wideSelect(isRough, across, zero));
    for (int k = 0; k < 3; ++k) {
        storeWide(&pack->total[k][lane], zero);
    }
}

// The velocity of parting of what approaches fast enough. Returns whether there is any.
static inline bool fillBounce(const tpSoftRun* run, const tpPackSource* source, int lane, WideVec n,
                              WideVec armA, WideVec armB, tpSoftPack* pack) {
    WideLines a, b;
    loadPair(source->starts, run, lane, &a, &b);
    wide zero = wideOf(0.0), e = loadWide(&source->restitution[lane]);
    wide approach = dotVec(relativeVelocity(&a, armA, &b, armB), n);
    wideMask isEmpty = wideGreater(wideOf(-0.5), loadInts(&source->numbers[lane]));
    wide parting = wideSelect(isEmpty, zero, e * approach);
    parting = wideSelect(wideGreater(wideOf(-source->threshold), approach), parting, zero);
    storeFloats(&pack->bounce[lane], parting);
    return wideLargest(zero - parting) > 0.0;
}

static bool fillPack(const tpSoftRun* run, tpPackSource* source, tpSoftPack* pack) {
    bool bounces = false;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        // pointA, pointB, normal, gap: eight numbers at once from the first and from the third on.
        const double* rows[W];
        WideLines head, tail;
        loadRows(source->contacts + lane, &head);
        for (int k = 0; k < W; ++k) {
            rows[k] = source->contacts[lane + k] + 2;
        }
        loadRows(rows, &tail);
        const wide *h = head.numbers, *r = tail.numbers;
        WideVec n = { r[4], r[5], r[6] };
        WideVec armA = subVec((WideVec){ h[0], h[1], r[0] }, loadVec(source->centerA[0], lane));
        WideVec armB = subVec((WideVec){ r[1], r[2], r[3] }, loadVec(source->centerB[0], lane));
        if (source->isFramed) {
            fillFrame(source, lane, n, pack);
        }
        storeFloatVec(pack->armA, lane, armA);
        storeFloatVec(pack->armB, lane, armB);
        storeFloats(&pack->startGap[lane], r[7]);
        storeFloats(&pack->gap[lane], r[7]);
        fillImpulse(source, lane, n, pack);
        if (source->bounces) {
            bounces = fillBounce(run, source, lane, n, armA, armB, pack) || bounces;
        } else {
            storeFloats(&pack->bounce[lane], wideOf(0.0));
        }
    }
    memcpy(pack->contact, source->numbers, sizeof(pack->contact));
    return bounces;
}
