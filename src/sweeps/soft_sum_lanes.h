// Sums over the contacts of a run, lane by lane. A lane's sum goes through its
// contacts in order whatever the width, so that the bits are the same.

#include "sweeps/soft_lanes.h"

static inline void addTo(double* sums, int lane, wide a) {
    storeWide(sums + lane, loadWide(sums + lane) + a);
}

static inline void raiseTo(double* largest, int lane, wide a) {
    storeWide(largest + lane, wideMax(a, loadWide(largest + lane)));
}

static inline wide squareOf(wide a) {
    return a * a;
}

// The natural map of sweeper_judge.c, squared; rho = rows / trace(W).
static inline wide squaredMiss(const wide diagonal[3], const wide r[3], const wide u[3], wide mu,
                               wide speed) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    wideMask isRough = wideGreater(mu, zero);
    wide trace = diagonal[0] + wideSelect(isRough, diagonal[1] + diagonal[2], zero);
    wide rows = wideSelect(
        isRough, wideSelect(wideGreater(diagonal[2], zero), wideOf(3.0), wideOf(2.0)), one);
    wide rho = wideSelect(wideGreater(trace, zero), rows / trace, one);
    // The nearest point of the cone.
    wide n = r[0] - rho * (u[0] + mu * speed), t = r[1] - rho * u[1], o = r[2] - rho * u[2];
    wide force = wideSqrt(t * t + o * o);
    wide edge = (n + mu * force) / (one + mu * mu);
    wideMask slips = wideGreater(force, mu * n);
    wide normal = wideSelect(slips, wideMax(edge, zero), n);
    wide factor = wideSelect(slips, mu * normal / force, one);
    wide miss = squareOf(r[0] - normal) + squareOf(r[1] - factor * t) + squareOf(r[2] - factor * o);
    return miss / squareOf(rho);
}

// The bias with which the last substep's contact law is judged: an open gap, or the bounce.
static inline wide judgedBias(const tpSoftSweep* sweep, const tpSoftPack* pack, int lane) {
    wide zero = wideOf(0.0), bounce = loadFloats(&pack->bounce[lane]);
    wide open = wideOf(sweep->softness.inverseTime) * wideMax(loadFloats(&pack->gap[lane]), zero);
    return wideSelect(wideGreater(zero, bounce), bounce, open);
}

// What holds beyond mu_d is judged in the cone of mu_s.
static inline wide judgedFriction(const WideFrame* frame, wide force, wide load) {
    wideMask holds = wideGreater(force, frame->muDynamic * load * wideOf(1.0 + 1e-9));
    return wideSelect(holds, frame->muStatic, frame->muDynamic);
}

static inline void judgePack(const tpSoftSweep* sweep, const tpSoftPack* pack, int lane,
                             const WideFrame* frame, const WideLines lines[6], tpLaneSums* sums) {
    WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
    wide zero = wideOf(0.0), bias = judgedBias(sweep, pack, lane);
    wide diagonal[3], r[3], u[3];
    for (int k = 0; k < 3; ++k) {
        diagonal[k] = loadFloats(&pack->diagonal[k][lane]);
    }
    wideMask responds = wideGreater(diagonal[0], zero);

    // What the impulses of all substeps did.
    speedsIn(frame, relativeVelocity(&lines[0], armA, &lines[1], armB), u);
    addTo(sums->normalWork, lane, loadWide(&pack->total[0][lane]) * u[0]);
    addTo(sums->frictionWork, lane,
          loadWide(&pack->total[1][lane]) * u[1] + loadWide(&pack->total[2][lane]) * u[2]);

    // The size of the last substep's problem.
    speedsIn(frame, relativeVelocity(&lines[2], armA, &lines[3], armB), u);
    wide slide =
        wideSelect(wideGreater(frame->muDynamic, zero), squareOf(u[1]) + squareOf(u[2]), zero);
    addTo(sums->freeSquares, lane, wideSelect(responds, squareOf(u[0] + bias) + slide, zero));

    // How far it is from solved.
    speedsIn(frame, relativeVelocity(&lines[4], armA, &lines[5], armB), u);
    u[0] = u[0] + bias;
    loadImpulse(pack, lane, r);
    wide force = wideSqrt(r[1] * r[1] + r[2] * r[2]), speed = wideSqrt(u[1] * u[1] + u[2] * u[2]);
    wide mu = judgedFriction(frame, force, r[0]);
    wide miss = squaredMiss(diagonal, r, u, mu, speed);
    addTo(sums->squares, lane, wideSelect(responds, miss, zero));
    raiseTo(sums->load, lane, r[0]);
    raiseTo(sums->speed, lane, wideSelect(responds, speed, zero));
}

// What a contact has carried in all substeps, in world axes.
static inline void closeTotal(tpSoftPack* pack, int lane, const WideFrame* frame) {
    wide total[3];
    for (int k = 0; k < 3; ++k) {
        total[k] = loadWide(&pack->total[k][lane]);
    }
    WideVec world = along(frame, total);
    storeWide(&pack->load[lane], total[0]);
    storeWide(&pack->total[0][lane], world.x);
    storeWide(&pack->total[1][lane], world.y);
    storeWide(&pack->total[2][lane], world.z);
}

static void judgeRun(const tpSoftSweep* sweep, const tpSoftRun* run, tpLaneSums* sums) {
    tpSoftPack* first = run->packs;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines lines[6];
        loadPair(sweep->means, run, lane, &lines[0], &lines[1]);
        loadPair(sweep->bases, run, lane, &lines[2], &lines[3]);
        loadPair(sweep->velocities, run, lane, &lines[4], &lines[5]);
        for (tpSoftPack* pack = first; pack < first + run->active; ++pack) {
            WideFrame frame = loadFrame(framePack(run, first, pack), lane);
            judgePack(sweep, pack, lane, &frame, lines, sums);
            closeTotal(pack, lane, &frame);
        }
    }
}

static void ratioRun(const tpSoftSweep* sweep, const tpSoftRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums) {
    const tpSoftPack* first = run->packs;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadPair(sweep->velocities, run, lane, &a, &b);
        for (const tpSoftPack* pack = first; pack < first + run->active; ++pack) {
            WideFrame frame = loadFrame(framePack(run, first, pack), lane);
            wide zero = wideOf(0.0), one = wideOf(1.0), r[3], u[3];
            speedsIn(&frame,
                     relativeVelocity(&a, loadFloatVec(pack->armA[0], lane), &b,
                                      loadFloatVec(pack->armB[0], lane)),
                     u);
            loadImpulse(pack, lane, r);
            wide force = wideSqrt(r[1] * r[1] + r[2] * r[2]);
            wide speed = wideSqrt(u[1] * u[1] + u[2] * u[2]);
            wide limit = judgedFriction(&frame, force, r[0]) * r[0];
            limit = wideSelect(wideGreater(r[0], wideOf(leastLoad)), limit, zero);
            wideMask carries = wideGreater(limit, zero);
            raiseTo(sums->cone, lane, wideSelect(carries, force / limit - one, zero));
            wide gap = one + (r[1] * u[1] + r[2] * u[2]) / (limit * speed);
            gap = wideSelect(wideGreater(speed, wideOf(leastSpeed)), gap, zero);
            raiseTo(sums->dissipation, lane, wideSelect(carries, gap, zero));
        }
    }
}
