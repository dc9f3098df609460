// Velocities, impulses and responses of W contacts at once, on top of math/lanes.h: what the sweeps
// of every kind share.

#ifndef TIPPE_SRC_SWEEPS_CONTACT_LANES_H
#define TIPPE_SRC_SWEEPS_CONTACT_LANES_H

// Numbers 0 to 2 of a velocity's line are linear, 4 to 6 angular.
static inline WideVec pointVelocity(const WideLines* v, WideVec arm) {
    WideVec angular = { v->numbers[4], v->numbers[5], v->numbers[6] };
    WideVec turn = crossVec(angular, arm);
    return (WideVec){ v->numbers[0] + turn.x, v->numbers[1] + turn.y, v->numbers[2] + turn.z };
}

static inline WideVec relativeVelocity(const WideLines* a, WideVec armA, const WideLines* b,
                                       WideVec armB) {
    WideVec onA = pointVelocity(a, armA), onB = pointVelocity(b, armB);
    return (WideVec){ onA.x - onB.x, onA.y - onB.y, onA.z - onB.z };
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

// What an impulse on A, and its opposite on B, add to the linear velocities.
static inline void addLinear(WideBodies* bodies, WideVec impulse) {
    wide* a = bodies->velocityA.numbers;
    wide* b = bodies->velocityB.numbers;
    wide inverseA = bodies->massA.numbers[0], inverseB = bodies->massB.numbers[0];
    a[0] += inverseA * impulse.x;
    a[1] += inverseA * impulse.y;
    a[2] += inverseA * impulse.z;
    b[0] -= inverseB * impulse.x;
    b[1] -= inverseB * impulse.y;
    b[2] -= inverseB * impulse.z;
}

// Adds these changes to the angular velocities: of A, and taken from B's.
static inline void addAngular(WideBodies* bodies, WideVec turnA, WideVec turnB) {
    wide* a = bodies->velocityA.numbers;
    wide* b = bodies->velocityB.numbers;
    a[4] += turnA.x;
    a[5] += turnA.y;
    a[6] += turnA.z;
    b[4] -= turnB.x;
    b[5] -= turnB.y;
    b[6] -= turnB.z;
}

// Adds an impulse on A, and its opposite on B.
static inline void pushBodies(WideBodies* bodies, WideVec armA, WideVec armB, WideVec impulse) {
    addLinear(bodies, impulse);
    addAngular(bodies, turnedBy(&bodies->massA, crossVec(armA, impulse)),
               turnedBy(&bodies->massB, crossVec(armB, impulse)));
}

// The same for bodies that turn as easily about any axis, of which only the first two numbers are
// asked for.
static inline void pushRound(WideBodies* bodies, WideVec armA, WideVec armB, WideVec impulse) {
    wide turnA = bodies->massA.numbers[1], turnB = bodies->massB.numbers[1];
    WideVec momentA = crossVec(armA, impulse), momentB = crossVec(armB, impulse);
    addLinear(bodies, impulse);
    addAngular(bodies, (WideVec){ turnA * momentA.x, turnA * momentA.y, turnA * momentA.z },
               (WideVec){ turnB * momentB.x, turnB * momentB.y, turnB * momentB.z });
}

// Friction from the velocity after the normal impulse has changed: what stops it where it may, else
// a projected step against it.
static inline void solveFriction(const wide stick[3], wide slide, wide muStatic, wide muDynamic,
                                 wide ut, wide uo, wide load, wide* rt, wide* ro) {
    wide stopT = *rt - (stick[0] * ut + stick[1] * uo);
    wide stopO = *ro - (stick[1] * ut + stick[2] * uo);
    wide limit = muStatic * load;
    wideMask slips = wideGreater(stopT * stopT + stopO * stopO, limit * limit);
    // If all stick, the rule in stacks, root and quotient are spared.
    if (!wideAny(slips)) {
        *rt = stopT;
        *ro = stopO;
        return;
    }
    wide slideT = *rt - slide * ut, slideO = *ro - slide * uo;
    wide length = wideSqrt(slideT * slideT + slideO * slideO);
    limit = muDynamic * load;
    wide factor = wideSelect(wideGreater(length, limit), limit / length, wideOf(1.0));
    *rt = wideSelect(slips, factor * slideT, stopT);
    *ro = wideSelect(slips, factor * slideO, stopO);
}

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

static inline wide inverseOrZero(wide a) {
    return wideSelect(wideGreater(a, wideOf(0.0)), wideOf(1.0) / a, wideOf(0.0));
}

// Inverse (tt to oo) and inverse of the largest eigenvalue of the two friction rows; zeros where
// nothing responds.
static inline void invertFriction(wide tt, wide to, wide oo, wide stick[3], wide* slide) {
    wide half = wideOf(0.5) * (tt + oo), skew = wideOf(0.5) * (tt - oo);
    wide largest = half + wideSqrt(skew * skew + to * to), determinant = tt * oo - to * to;
    wideMask inverts = wideGreater(determinant, wideOf(1e-12) * largest * largest);
    *slide = inverseOrZero(largest);
    stick[0] = wideSelect(inverts, oo / determinant, *slide);
    stick[1] = wideSelect(inverts, wideOf(0.0) - to / determinant, wideOf(0.0));
    stick[2] = wideSelect(inverts, tt / determinant, *slide);
}

#endif
