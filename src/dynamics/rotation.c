// Inertia, and free rotation: spheres and tops by their closed forms, other bodies by that of
// euler_top.h.

#include "dynamics/rotation.h"

#include "dynamics/euler_top.h"
#include "math/elementary.h"

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

static int middleAxis(tpVec3 v) {
    bool isX = (v.y <= v.x) == (v.x <= v.z), isY = (v.x <= v.y) == (v.y <= v.z);
    return isX ? 0 : isY ? 1 : 2;
}

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
    result.symmetryAxis = axisOfSymmetry(moments);
    result.middleAxis = middleAxis(result.inverseMoments);
    return result;
}

// Turns by q, whatever its length: a unit quaternion is one only to rounding, and the lengths of
// vectors turned there and back millions of times would drift with it. `scale` is that of q.
static inline tpVec3 turn(tpQuat q, double scale, tpVec3 v) {
    tpVec3 u = tpMakeVec3(q.x, q.y, q.z);
    tpVec3 t = tpScale(scale, tpCross(u, v));
    return tpAdd(tpMulAdd(v, q.w, t), tpCross(u, t));
}

static double scaleOf(tpQuat q) {
    return 2.0 / tpDotQQ(q, q);
}

static inline tpVec3 turnBack(tpQuat q, double scale, tpVec3 v) {
    return turn(tpConjugate(q), scale, v);
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
    double scale = scaleOf(q);
    return turn(q, scale, tpMulParts(inertia->moments, turnBack(q, scale, angularVelocity)));
}

// Divided, not multiplied by inverses: I (1 / I) is not one, always to the same side.
static double quotient(double momentum, double moment) {
    return moment > 0.0 ? momentum / moment : 0.0;
}

tpVec3 tpInertia_Velocity(const tpInertia* inertia, tpQuat rotation, tpVec3 angularMomentum) {
    tpQuat q = tpMulQQ(rotation, inertia->principal);
    double scale = scaleOf(q);
    tpVec3 m = turnBack(q, scale, angularMomentum);
    tpVec3 w = tpMakeVec3(quotient(m.x, inertia->moments.x), quotient(m.y, inertia->moments.y),
                          quotient(m.z, inertia->moments.z));
    return turn(q, scale, w);
}

double tpInertia_SpeedBound(const tpInertia* inertia, tpQuat rotation, tpVec3 angularVelocity) {
    if (inertia->isIsotropic) {
        return tpLength(angularVelocity);
    }
    // Imin |w|^2 <= 2T, which is never more than |w| <= |L| / Imin says.
    tpVec3 momentum = tpInertia_Momentum(inertia, rotation, angularVelocity);
    double largestInverse = tpMaxPart(inertia->inverseMoments);
    double twiceEnergy = fmax(0.0, tpDot(momentum, angularVelocity));
    return sqrt(twiceEnergy * largestInverse);
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

void tpRotateFreely(const tpInertia* inertia, double h, tpQuat* rotation, tpVec3* angularVelocity) {
    if (inertia->isIsotropic) {
        *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, *angularVelocity)), *rotation));
        return;
    }
    tpQuat q = tpMulQQ(*rotation, inertia->principal);
    double scale = scaleOf(q);
    tpVec3 momentum = tpMulParts(inertia->moments, turnBack(q, scale, *angularVelocity));
    tpVec3 inSpace = turn(q, scale, momentum);
    if (inertia->symmetryAxis >= 0) {
        q = precess(inertia->moments, inertia->symmetryAxis, h, q, inSpace, momentum);
    } else {
        q = tpMulQQ(q, tpEulerTop_Turn(inertia->inverseMoments, inertia->middleAxis, h, momentum));
    }
    q = tpNormalizeQuat(q);
    // Momentum in space is the invariant: the new velocity follows from it.
    *rotation = tpNormalizeQuat(tpMulQQ(q, tpConjugate(inertia->principal)));
    *angularVelocity = tpInertia_Velocity(inertia, *rotation, inSpace);
}
