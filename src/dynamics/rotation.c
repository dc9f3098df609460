// Free rotation by a Lie midpoint rule that keeps momentum and energy, composed to fourth order.
//
// With L the angular momentum in principal axes and I the moments, one stage solves
//
//     L1 = exp(-h [w]) L0,   w = I^-1 (L0 + L1) / 2,   R1 = R0 exp(h [w]).
//
// Then R1 L1 = R0 L0: momentum in space is kept. And L1 - L0 = k (L0 + L1)/2 x w for a scalar k
// (the half-angle formula of a rotation), so that the change of energy, (L1 - L0) . w, vanishes:
// energy is kept as well, whatever k is. With k = 2 tan(h |w| / 2) / |w| the angle is h |w|, exact
// for a sphere; k = h would be the implicit midpoint rule, whose orientation lags by (h |w|)^3 / 12
// a step. Five stages of lengths p, p, 1 - 4p, p, p with p = 1 / (4 - 4^(1/3)) give order four
// [Suzuki90].

#include "dynamics/rotation.h"

#include "math/elementary.h"

tpInertia tpMakeInertia(tpMat33 inertia) {
    tpInertia result;
    tpMat33 axes;
    tpVec3 moments;
    bool isDiagonal = inertia.cx.y == 0.0 && inertia.cx.z == 0.0 && inertia.cy.z == 0.0;
    if (isDiagonal) {
        // Kept in the order given, so that body and principal axes are the same bits.
        moments = tpMakeVec3(inertia.cx.x, inertia.cy.y, inertia.cz.z);
        axes = tpIdentityMat33();
    } else {
        tpEigenSymmetric(inertia, &moments, &axes);
    }
    result.moments = tpMaxVec3(moments, tpZeroVec3());
    result.inverseMoments =
        tpMakeVec3(moments.x > 0.0 ? 1.0 / moments.x : 0.0, moments.y > 0.0 ? 1.0 / moments.y : 0.0,
                   moments.z > 0.0 ? 1.0 / moments.z : 0.0);
    result.principal = isDiagonal ? tpIdentityQuat() : tpQuatFromMat(axes);
    double largest = tpMaxPart(moments);
    double smallest = fmin(moments.x, fmin(moments.y, moments.z));
    result.isIsotropic = largest - smallest <= 1e-14 * largest;
    return result;
}

// Turns by q, whatever its length: a unit quaternion is one only to rounding, and the lengths of
// vectors turned there and back millions of times would drift with it.
static tpVec3 turn(tpQuat q, tpVec3 v) {
    double s = 2.0 / tpDotQQ(q, q);
    tpVec3 u = tpMakeVec3(q.x, q.y, q.z);
    tpVec3 t = tpScale(s, tpCross(u, v));
    return tpAdd(tpMulAdd(v, q.w, t), tpCross(u, t));
}

static tpVec3 turnBack(tpQuat q, tpVec3 v) {
    return turn(tpConjugate(q), v);
}

static tpMat33 worldTensor(tpVec3 moments, tpQuat principalInWorld) {
    tpMat33 r = tpMatFromQuat(principalInWorld);
    tpMat33 scaled =
        tpMakeMat33(tpScale(moments.x, r.cx), tpScale(moments.y, r.cy), tpScale(moments.z, r.cz));
    return tpMulMM(scaled, tpTranspose(r));
}

tpMat33 tpInertia_World(const tpInertia* inertia, tpQuat rotation) {
    if (inertia->isIsotropic) {
        return tpDiagonal(inertia->moments);
    }
    return worldTensor(inertia->moments, tpMulQQ(rotation, inertia->principal));
}

tpMat33 tpInertia_InverseWorld(const tpInertia* inertia, tpQuat rotation) {
    if (inertia->isIsotropic) {
        return tpDiagonal(inertia->inverseMoments);
    }
    return worldTensor(inertia->inverseMoments, tpMulQQ(rotation, inertia->principal));
}

tpVec3 tpInertia_Momentum(const tpInertia* inertia, tpQuat rotation, tpVec3 angularVelocity) {
    tpQuat q = tpMulQQ(rotation, inertia->principal);
    return turn(q, tpMulParts(inertia->moments, turnBack(q, angularVelocity)));
}

// Divided, not multiplied by inverses: I (1 / I) is not one, always to the same side.
static double quotient(double momentum, double moment) {
    return moment > 0.0 ? momentum / moment : 0.0;
}

tpVec3 tpInertia_Velocity(const tpInertia* inertia, tpQuat rotation, tpVec3 angularMomentum) {
    tpQuat q = tpMulQQ(rotation, inertia->principal);
    tpVec3 m = turnBack(q, angularMomentum);
    tpVec3 w = tpMakeVec3(quotient(m.x, inertia->moments.x), quotient(m.y, inertia->moments.y),
                          quotient(m.z, inertia->moments.z));
    return turn(q, w);
}

double tpInertia_SpeedBound(const tpInertia* inertia, tpQuat rotation, tpVec3 angularVelocity) {
    if (inertia->isIsotropic) {
        return tpLength(angularVelocity);
    }
    // |w| <= |L| / Imin and Imin |w|^2 <= 2T; the smaller inverse moment is that of the largest
    // moment.
    tpVec3 momentum = tpInertia_Momentum(inertia, rotation, angularVelocity);
    double largestInverse = tpMaxPart(inertia->inverseMoments);
    double twiceEnergy = fmax(0.0, tpDot(momentum, angularVelocity));
    return fmin(tpLength(momentum) * largestInverse, sqrt(twiceEnergy * largestInverse));
}

// One stage: momentum and orientation of the principal axes over h, |h| |w| below about 1.
static void rotateStage(const tpInertia* inertia, double h, tpQuat* q, tpVec3* momentum) {
    tpVec3 inverse = inertia->inverseMoments;
    tpVec3 start = *momentum;
    tpVec3 end = start;
    tpVec3 w = tpMulParts(inverse, start);
    double size = tpLength(start);
    // Newton on L1 - L0 - k m x w(m) = 0 with m = (L0 + L1)/2; k changes little and is refreshed.
    for (int iteration = 0; iteration < 30; ++iteration) {
        tpVec3 middle = tpScale(0.5, tpAdd(start, end));
        w = tpMulParts(inverse, middle);
        double speed = tpLength(w);
        double angle = h * speed;
        double k = fabs(angle) > 1e-4 ? 2.0 * tpTan(0.5 * angle) / speed
                                      : h * (1.0 + angle * angle / 12.0);
        tpVec3 defect = tpSub(tpMulAdd(start, k, tpCross(middle, w)), end);
        tpMat33 slope =
            tpAddMM(tpScaleM(-1.0, tpSkew(w)), tpMulMM(tpSkew(middle), tpDiagonal(inverse)));
        tpMat33 jacobian = tpAddMM(tpIdentityMat33(), tpScaleM(-0.5 * k, slope));
        tpVec3 change;
        if (!tpSolve33(jacobian, defect, &change)) {
            break;
        }
        end = tpAdd(end, change);
        if (tpLength(change) <= 1e-16 * size) {
            break;
        }
    }
    w = tpMulParts(inverse, tpScale(0.5, tpAdd(start, end)));
    *q = tpMulQQ(*q, tpQuatExp(tpScale(h, w)));
    *momentum = end;
}

// The body as it is about the axis of its momentum, which keeps momentum and energy: for more than
// a hundred turns at once, of which nobody can mean the phase. Iterations try such speeds on their
// way.
static void spinAboutMomentum(const tpInertia* inertia, double h, tpQuat* rotation,
                              tpVec3* angularVelocity) {
    tpVec3 momentum = tpInertia_Momentum(inertia, *rotation, *angularVelocity);
    double size = tpLength(momentum);
    if (!(size > 0.0) || !isfinite(size)) {
        return;
    }
    tpVec3 axis = tpScale(1.0 / size, momentum);
    tpQuat spin = tpQuatExp(tpScale(h * tpDot(*angularVelocity, axis), axis));
    *rotation = tpNormalizeQuat(tpMulQQ(spin, *rotation));
    *angularVelocity = turn(spin, *angularVelocity);
}

void tpRotateFreely(const tpInertia* inertia, double h, tpQuat* rotation, tpVec3* angularVelocity) {
    if (inertia->isIsotropic) {
        *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, *angularVelocity)), *rotation));
        return;
    }
    // Stages short enough that Newton's iteration is far from its limits, however fast the spin.
    double bound = tpInertia_SpeedBound(inertia, *rotation, *angularVelocity);
    double parts = ceil(fabs(h) * bound / 0.7);
    if (parts > 1000.0) {
        spinAboutMomentum(inertia, h, rotation, angularVelocity);
        return;
    }
    int count = parts >= 1.0 ? (int)parts : 1;
    double stage = h / count;
    static const double p = 0.41449077179437573714;
    const double lengths[5] = { p, p, 1.0 - 4.0 * p, p, p };

    tpQuat q = tpMulQQ(*rotation, inertia->principal);
    tpVec3 inSpace = tpInertia_Momentum(inertia, *rotation, *angularVelocity);
    tpVec3 momentum = turnBack(q, inSpace);
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < 5; ++j) {
            rotateStage(inertia, lengths[j] * stage, &q, &momentum);
        }
    }
    q = tpNormalizeQuat(q);
    // Momentum in space is the invariant: the new velocity follows from it, not from the stages.
    *rotation = tpNormalizeQuat(tpMulQQ(q, tpConjugate(inertia->principal)));
    *angularVelocity = tpInertia_Velocity(inertia, *rotation, inSpace);
}

// Short times -------------------------------------------------------------------------------------

// Turns by more than this are given to the stages of fourth order, rad.
static const double shortTurn = 0.2;

// Moments that differ by less, of the largest, are equal.
static const double equalMoments = 1e-12;

// The axis of a body with two equal moments; -1 if it has none.
static int axisOfSymmetry(tpVec3 moments) {
    double near = equalMoments * tpMaxPart(moments);
    return fabs(moments.x - moments.y) <= near   ? 2
           : fabs(moments.y - moments.z) <= near ? 0
           : fabs(moments.x - moments.z) <= near ? 1
                                                 : -1;
}

// A symmetric top precesses about its momentum L at L / I and spins about its axis: w is
// L / I plus what of the spin about the axis is not in that.
static tpQuat precess(tpVec3 moments, int axis, double h, tpQuat q, tpVec3 inSpace,
                      tpVec3 momentum) {
    double across = axis == 0 ? moments.y : moments.x, along = axis == 0 ? moments.x : 0.0;
    along = axis == 1 ? moments.y : axis == 2 ? moments.z : along;
    double part = axis == 0 ? momentum.x : axis == 1 ? momentum.y : momentum.z;
    double spin = h * (quotient(part, along) - quotient(part, across));
    tpVec3 about =
        tpMakeVec3(axis == 0 ? spin : 0.0, axis == 1 ? spin : 0.0, axis == 2 ? spin : 0.0);
    tpVec3 turned = tpScale(quotient(h, across), inSpace);
    return tpMulQQ(tpMulQQ(tpQuatExp(turned), q), tpQuatExp(about));
}

// x of (1 - k S) x = d for the slope S of m x w(m): by Cramer's rule, since the matrix is near 1.
static tpVec3 solveNearOne(tpVec3 w, tpVec3 middle, tpVec3 inverse, double k, tpVec3 d) {
    tpVec3 cx = { 1.0, k * (w.z - middle.z * inverse.x), -k * (w.y - middle.y * inverse.x) };
    tpVec3 cy = { -k * (w.z - middle.z * inverse.y), 1.0, k * (w.x - middle.x * inverse.y) };
    tpVec3 cz = { k * (w.y - middle.y * inverse.z), -k * (w.x - middle.x * inverse.z), 1.0 };
    tpVec3 yz = tpCross(cy, cz);
    double scale = 1.0 / tpDot(cx, yz);
    return tpMakeVec3(scale * tpDot(d, yz), scale * tpDot(cx, tpCross(d, cz)),
                      scale * tpDot(cx, tpCross(cy, d)));
}

// One stage as above. The factor k is found with the speed before the stage: whatever it is, energy
// and momentum are kept, if the equation is solved with the same k throughout.
static tpQuat rotateOnce(tpVec3 inverse, double h, tpQuat q, tpVec3 start) {
    tpVec3 end = start, w = tpMulParts(inverse, start);
    double square = h * h * tpLengthSquared(w);
    double k = h * (1.0 + square * (1.0 / 12.0 + square / 120.0));
    double enough = 1e-31 * tpLengthSquared(start);
    for (int iteration = 0; iteration < 8; ++iteration) {
        tpVec3 middle = tpScale(0.5, tpAdd(start, end));
        w = tpMulParts(inverse, middle);
        tpVec3 defect = tpSub(tpMulAdd(start, k, tpCross(middle, w)), end);
        tpVec3 change = solveNearOne(w, middle, inverse, 0.5 * k, defect);
        end = tpAdd(end, change);
        if (!(tpLengthSquared(change) > enough)) {
            break;
        }
    }
    // The rotation of which k is the factor: tan of half its angle is k |w| / 2.
    w = tpMulParts(inverse, tpScale(0.5, tpAdd(start, end)));
    tpQuat by = { 1.0, 0.5 * k * w.x, 0.5 * k * w.y, 0.5 * k * w.z };
    return tpMulQQ(q, tpNormalizeQuat(by));
}

void tpRotateShortly(const tpInertia* inertia, double h, tpQuat* rotation,
                     tpVec3* angularVelocity) {
    double turn = h * h * tpLengthSquared(*angularVelocity);
    if (inertia->isIsotropic || !(turn <= shortTurn * shortTurn)) {
        tpRotateFreely(inertia, h, rotation, angularVelocity);
        return;
    }
    tpQuat q = tpMulQQ(*rotation, inertia->principal);
    tpVec3 inSpace = tpInertia_Momentum(inertia, *rotation, *angularVelocity);
    tpVec3 momentum = turnBack(q, inSpace);
    int axis = axisOfSymmetry(inertia->moments);
    q = axis >= 0 ? precess(inertia->moments, axis, h, q, inSpace, momentum)
                  : rotateOnce(inertia->inverseMoments, h, q, momentum);
    *rotation = tpNormalizeQuat(tpMulQQ(q, tpConjugate(inertia->principal)));
    *angularVelocity = tpInertia_Velocity(inertia, *rotation, inSpace);
}
