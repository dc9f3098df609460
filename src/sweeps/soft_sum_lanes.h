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

// The torsional row of W contacts; zeros if they have none.
typedef struct WideSpin {
    wide arm, diagonal, impulse, total;
} WideSpin;

TP_ALWAYS_INLINE WideSpin loadSpin(const tpSoftTorsion* torsion, int lane) {
    if (torsion == NULL) {
        wide zero = wideOf(0.0);
        return (WideSpin){ zero, zero, zero, zero };
    }
    return (WideSpin){ loadFloats(&torsion->arm[lane]), loadFloats(&torsion->friction[5][lane]),
                       loadWide(&torsion->impulse[lane]), loadWide(&torsion->total[lane]) };
}

// The responses of W contacts, as the natural map measures them.
typedef struct WideTrace {
    wide normal, friction, spin; // W_nn; W_tt + W_oo; W_rr
    wideMask isSpatial;          // friction has two directions
} WideTrace;

// From what sweeps read: with L the larger eigenvalue of the two friction rows and S their inverse,
// W_tt + W_oo = L + 1 / (L det S). The smaller eigenvalue is between 0 and L, whatever rounding has
// made of S.
static inline WideTrace traceOf(const tpSoftPack* pack, int lane, WideVec o) {
    wide zero = wideOf(0.0), inverse = loadFloats(&pack->slide[lane]);
    wide tt = loadFloats(&pack->stick[0][lane]), to = loadFloats(&pack->stick[1][lane]);
    wide oo = loadFloats(&pack->stick[2][lane]), determinant = tt * oo - to * to;
    wide larger = inverseOrZero(inverse), smaller = inverse * inverseOrZero(determinant);
    smaller = wideSelect(wideGreater(smaller, larger), larger, smaller);
    WideTrace trace = { .normal = inverseOrZero(loadWide(&pack->inverseNormal[lane])),
                        .spin = zero,
                        .isSpatial = wideGreater(dotVec(o, o), zero) };
    trace.friction = larger + wideSelect(trace.isSpatial, smaller, zero);
    return trace;
}

// The natural map of sweeper_judge.c, squared; rho = rows / trace(W).
TP_ALWAYS_INLINE wide squaredMiss(const WideTrace* w, const wide r[4], const wide u[4], wide mu,
                                  wide speed, bool isTorsional) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    wideMask isRough = wideGreater(mu, zero);
    wide trace = w->normal + wideSelect(isRough, w->friction, zero);
    wide rows = wideSelect(isRough, wideSelect(w->isSpatial, wideOf(3.0), wideOf(2.0)), one);
    if (isTorsional) {
        trace += wideSelect(isRough, w->spin, zero);
        rows = wideSelect(isRough, wideSelect(wideGreater(w->spin, zero), wideOf(4.0), rows), one);
    }
    wide rho = wideSelect(wideGreater(trace, zero), rows / trace, one);
    // The nearest point of the cone.
    wide n = r[0] - rho * (u[0] + mu * speed), t = r[1] - rho * u[1], o = r[2] - rho * u[2];
    wide spin = zero, square = t * t + o * o;
    if (isTorsional) {
        spin = r[3] - rho * u[3];
        square += spin * spin;
    }
    wide force = wideSqrt(square);
    wide edge = (n + mu * force) / (one + mu * mu);
    wideMask slips = wideGreater(force, mu * n);
    wide normal = wideSelect(slips, wideMax(edge, zero), n);
    wide factor = wideSelect(slips, mu * normal / force, one);
    wide miss = squareOf(r[0] - normal) + squareOf(r[1] - factor * t) + squareOf(r[2] - factor * o);
    if (isTorsional) {
        miss += squareOf(r[3] - factor * spin);
    }
    return miss / squareOf(rho);
}

// The bias with which the last substep's contact law is judged: an open gap, or the bounce.
static inline wide judgedBias(const tpSoftSweep* sweep, const tpSoftRun* run,
                              const tpSoftPack* pack, int lane) {
    wide zero = wideOf(0.0);
    wide open = wideOf(sweep->softness.inverseTime) * wideMax(loadFloats(&pack->gap[lane]), zero);
    if (!run->bounces) {
        return open;
    }
    wide bounce = loadFloats(&bounceOf(sweep, run, pack)->speed[lane]);
    return wideSelect(wideGreater(zero, bounce), bounce, open);
}

// What holds beyond mu_d is judged in the cone of mu_s.
static inline wide judgedFriction(const WideFrame* frame, wide force, wide load) {
    wideMask holds = wideGreater(force, frame->muDynamic * load * wideOf(1.0 + 1e-9));
    return wideSelect(holds, frame->muStatic, frame->muDynamic);
}

// The length of a contact's friction impulse or sliding velocity, rows 1 to 2 or 3.
TP_ALWAYS_INLINE wide slideOf(const wide x[4], bool isTorsional) {
    return isTorsional ? wideSqrt(x[1] * x[1] + x[2] * x[2] + x[3] * x[3])
                       : wideSqrt(x[1] * x[1] + x[2] * x[2]);
}

// Without torsion `torsion` is NULL.
TP_ALWAYS_INLINE void judgePack(const tpSoftSweep* sweep, const tpSoftRun* run,
                                const tpSoftPack* pack, const tpSoftTorsion* torsion, int lane,
                                const WideFrame* frame, const WideLines lines[6],
                                tpLaneSums* sums) {
    WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
    wide zero = wideOf(0.0), bias = judgedBias(sweep, run, pack, lane), r[4], u[4];
    bool isTorsional = torsion != NULL;
    WideSpin spin = loadSpin(torsion, lane);
    WideTrace trace = traceOf(pack, lane, frame->o);
    trace.spin = spin.diagonal;
    r[3] = spin.impulse;
    wideMask responds = wideGreater(trace.normal, zero);

    // What the impulses of all substeps did.
    speedsIn(frame, relativeVelocity(&lines[0], armA, &lines[1], armB), u);
    addTo(sums->normalWork, lane, loadWide(&pack->total[0][lane]) * u[0]);
    addTo(sums->frictionWork, lane,
          loadWide(&pack->total[1][lane]) * u[1] + loadWide(&pack->total[2][lane]) * u[2]);
    if (isTorsional) {
        addTo(sums->frictionWork, lane,
              spin.total * spinSpeed(&lines[0], &lines[1], frame->n, spin.arm));
    }

    // The size of the last substep's problem.
    speedsIn(frame, relativeVelocity(&lines[2], armA, &lines[3], armB), u);
    wide slide = squareOf(u[1]) + squareOf(u[2]);
    if (isTorsional) {
        slide += squareOf(spinSpeed(&lines[2], &lines[3], frame->n, spin.arm));
    }
    slide = wideSelect(wideGreater(frame->muDynamic, zero), slide, zero);
    addTo(sums->freeSquares, lane, wideSelect(responds, squareOf(u[0] + bias) + slide, zero));

    // How far it is from solved.
    speedsIn(frame, relativeVelocity(&lines[4], armA, &lines[5], armB), u);
    u[0] = u[0] + bias;
    loadImpulse(pack, lane, r);
    u[3] = isTorsional ? spinSpeed(&lines[4], &lines[5], frame->n, spin.arm) : zero;
    wide force = slideOf(r, isTorsional), speed = slideOf(u, isTorsional);
    wide mu = judgedFriction(frame, force, r[0]);
    wide miss = squaredMiss(&trace, r, u, mu, speed, isTorsional);
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
    // The response is done with.
    storeWide(&pack->load[lane], total[0]);
    storeWide(&pack->total[0][lane], world.x);
    storeWide(&pack->total[1][lane], world.y);
    storeWide(&pack->total[2][lane], world.z);
}

TP_ALWAYS_INLINE void judge(const tpSoftSweep* sweep, const tpSoftRun* run, bool isTorsional,
                            tpLaneSums* sums) {
    tpSoftPack* first = run->packs;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines lines[6];
        loadPair(sweep->means, run, lane, &lines[0], &lines[1]);
        loadPair(sweep->bases, run, lane, &lines[2], &lines[3]);
        loadPair(sweep->velocities, run, lane, &lines[4], &lines[5]);
        for (tpSoftPack* pack = first; pack < first + run->active; ++pack) {
            WideFrame frame = loadFrame(run, framePack(run, first, pack), lane);
            const tpSoftTorsion* torsion = isTorsional ? &run->torsions[pack - first] : NULL;
            judgePack(sweep, run, pack, torsion, lane, &frame, lines, sums);
            closeTotal(pack, lane, &frame);
        }
    }
}

static void judgeRun(const tpSoftSweep* sweep, const tpSoftRun* run, tpLaneSums* sums) {
    if (run->torsional != 0) {
        judge(sweep, run, true, sums);
    } else {
        judge(sweep, run, false, sums);
    }
}

TP_ALWAYS_INLINE void findRatios(const tpSoftSweep* sweep, const tpSoftRun* run, bool isTorsional,
                                 double leastLoad, double leastSpeed, tpLaneSums* sums) {
    const tpSoftPack* first = run->packs;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadPair(sweep->velocities, run, lane, &a, &b);
        for (const tpSoftPack* pack = first; pack < first + run->active; ++pack) {
            WideFrame frame = loadFrame(run, framePack(run, first, pack), lane);
            WideSpin spin = loadSpin(isTorsional ? &run->torsions[pack - first] : NULL, lane);
            wide zero = wideOf(0.0), one = wideOf(1.0), r[4], u[4];
            speedsIn(&frame,
                     relativeVelocity(&a, loadFloatVec(pack->armA[0], lane), &b,
                                      loadFloatVec(pack->armB[0], lane)),
                     u);
            loadImpulse(pack, lane, r);
            r[3] = spin.impulse;
            u[3] = isTorsional ? spinSpeed(&a, &b, frame.n, spin.arm) : zero;
            wide force = slideOf(r, isTorsional), speed = slideOf(u, isTorsional);
            wide power = r[1] * u[1] + r[2] * u[2];
            if (isTorsional) {
                power += r[3] * u[3];
            }
            wide limit = judgedFriction(&frame, force, r[0]) * r[0];
            limit = wideSelect(wideGreater(r[0], wideOf(leastLoad)), limit, zero);
            wideMask carries = wideGreater(limit, zero);
            raiseTo(sums->cone, lane, wideSelect(carries, force / limit - one, zero));
            wide gap = one + power / (limit * speed);
            gap = wideSelect(wideGreater(speed, wideOf(leastSpeed)), gap, zero);
            raiseTo(sums->dissipation, lane, wideSelect(carries, gap, zero));
        }
    }
}

static void ratioRun(const tpSoftSweep* sweep, const tpSoftRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums) {
    if (run->torsional != 0) {
        findRatios(sweep, run, true, leastLoad, leastSpeed, sums);
    } else {
        findRatios(sweep, run, false, leastLoad, leastSpeed, sums);
    }
}
