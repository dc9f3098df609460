// Torsional friction of W contacts: friction has three rows then, t, o and r, within one ball of
// radius mu times the load.
//
// With W the response of these rows, u the velocity and r0 the impulse before, the impulse that
// stops the contact is r = W^-1 b, b = W r0 - u. If it is too large the contact slides: its impulse
// is as large as it may be and against the velocity it leaves, u + W (r - r0) = -lambda r, so
//
//     (W + lambda) r = b,     |r| = limit,
//
// of which lambda is found by Newton steps on 1/|r| = 1/limit [MoreSorensen83]: they approach it
// from below, few are needed, and as many are taken in every lane, so that the bits are the same at
// any width. The arm is small against a body: a projected step, which serves without torsion, would
// take many substeps to find the moment.

#ifndef TIPPE_SRC_SWEEPS_SOFT_TORSION_LANES_H
#define TIPPE_SRC_SWEEPS_SOFT_TORSION_LANES_H

#include "sweeps/contact_lanes.h"
#include "sweeps/soft_pack.h"

enum { torsionSteps = 5 };

// L D L' of a symmetric matrix tt to oo tr or rr.
typedef struct WideFactors {
    wide ot, rt, ro;
    wide inverse[3];
} WideFactors;

static inline WideFactors factorThree(const wide a[6], wide lambda, wide least) {
    WideFactors f;
    wide one = wideOf(1.0);
    f.inverse[0] = one / wideMax(a[0] + lambda, least);
    f.ot = a[1] * f.inverse[0];
    f.rt = a[3] * f.inverse[0];
    f.inverse[1] = one / wideMax(a[2] + lambda - f.ot * a[1], least);
    wide left = a[4] - f.rt * a[1];
    f.ro = left * f.inverse[1];
    f.inverse[2] = one / wideMax(a[5] + lambda - f.rt * a[3] - f.ro * left, least);
    return f;
}

static inline void solveThree(const WideFactors* f, const wide b[3], wide x[3]) {
    wide y1 = b[1] - f->ot * b[0], y2 = b[2] - f->rt * b[0] - f->ro * y1;
    x[2] = y2 * f->inverse[2];
    x[1] = y1 * f->inverse[1] - f->ro * x[2];
    x[0] = b[0] * f->inverse[0] - f->ot * x[1] - f->rt * x[2];
}

static inline wide dotThree(const wide a[3], const wide b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Friction of three rows from the velocities after the normal impulse has changed; `r` are the
// impulses before, then after.
static inline void solveTorsion(const wide response[6], const wide u[3], wide muStatic,
                                wide muDynamic, wide load, wide r[3]) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    const wide b[3] = {
        response[0] * r[0] + response[1] * r[1] + response[3] * r[2] - u[0],
        response[1] * r[0] + response[2] * r[1] + response[4] * r[2] - u[1],
        response[3] * r[0] + response[4] * r[1] + response[5] * r[2] - u[2],
    };
    // Rows that nothing moves, as that of a contact without torsion, have neither velocity nor
    // impulse.
    wide largest = wideMax(wideMax(response[0], response[2]), response[5]);
    largest = wideSelect(wideGreater(largest, zero), largest, one);
    wide a[6];
    for (int k = 0; k < 6; ++k) {
        a[k] = response[k];
    }
    a[0] = wideSelect(wideGreater(a[0], zero), a[0], largest);
    a[2] = wideSelect(wideGreater(a[2], zero), a[2], largest);
    a[5] = wideSelect(wideGreater(a[5], zero), a[5], largest);
    wide least = wideOf(1e-14) * largest;
    WideFactors factors = factorThree(a, zero, least);
    wide stop[3];
    solveThree(&factors, b, stop);
    wide limit = muStatic * load;
    wideMask slips = wideGreater(dotThree(stop, stop), limit * limit);
    if (!wideAny(slips)) {
        for (int k = 0; k < 3; ++k) {
            r[k] = stop[k];
        }
        return;
    }
    limit = muDynamic * load;
    wideMask carries = wideGreater(limit, zero);
    wide positive = wideSelect(carries, limit, one), lambda = zero, slide[3], gain[3];
    for (int k = 0; k < 3; ++k) {
        slide[k] = stop[k];
    }
    for (int step = 0; step < torsionSteps; ++step) {
        wide square = dotThree(slide, slide), length = wideSqrt(square);
        solveThree(&factors, slide, gain);
        wide slope = dotThree(slide, gain);
        wideMask isLong = wideGreater(length, positive);
        wide by = square / wideSelect(wideGreater(slope, zero), slope, one) *
                  ((length - positive) / positive);
        lambda += wideSelect(isLong, by, zero);
        factors = factorThree(a, lambda, least);
        solveThree(&factors, b, slide);
    }
    wide length = wideSqrt(dotThree(slide, slide));
    wide factor =
        wideSelect(wideGreater(length, zero), limit / wideMax(length, wideOf(1e-300)), zero);
    factor = wideSelect(carries, factor, zero);
    for (int k = 0; k < 3; ++k) {
        r[k] = wideSelect(slips, factor * slide[k], stop[k]);
    }
}

// A moment about the normals, on A, and its opposite on B.
static inline void twistBodies(WideBodies* bodies, WideVec moment) {
    addAngular(bodies, turnedBy(&bodies->massA, moment), turnedBy(&bodies->massB, moment));
}

static inline WideVec timesVec(wide factor, WideVec v) {
    return (WideVec){ factor * v.x, factor * v.y, factor * v.z };
}

// e_r times the velocity of spin of A against B.
static inline wide spinSpeed(const WideLines* a, const WideLines* b, WideVec n, wide arm) {
    WideVec spin = { a->numbers[4] - b->numbers[4], a->numbers[5] - b->numbers[5],
                     a->numbers[6] - b->numbers[6] };
    return arm * dotVec(spin, n);
}

// What one body gives to the torsional row of W: nr tr or rr.
static inline void addSpinResponse(const WideLines* body, WideVec armOn,
                                   const WideVec directions[3], WideVec spin, wide response[4]) {
    WideVec turn = turnedBy(body, spin);
    for (int i = 0; i < 3; ++i) {
        response[i] += dotVec(crossVec(armOn, directions[i]), turn);
    }
    response[3] += dotVec(spin, turn);
}

#endif
