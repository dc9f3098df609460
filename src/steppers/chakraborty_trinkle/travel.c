#include "steppers/chakraborty_trinkle/travel.h"

#include "dynamics/locks.h"
#include "math/elementary.h"

// Small angles by which orientations are changed to differentiate free rotation, rad: the error is
// of this size, and Newton's method gains seven digits an iteration at best.
static const double probe = 1e-7;

// Turns in a step above which they are, rad.
static const double fastTurn = 0.2;

// The left Jacobian of the rotation vector a: exp(a + da) = exp(J da) exp(a) to first order.
static tpMat33 leftJacobian(tpVec3 a) {
    double angle2 = tpLengthSquared(a), angle = sqrt(angle2);
    double first, second; // (1 - cos) / angle^2, (angle - sin) / angle^3
    if (angle < 1e-3) {
        first = 0.5 - angle2 / 24.0;
        second = 1.0 / 6.0 - angle2 / 120.0;
    } else {
        first = (1.0 - tpCos(angle)) / angle2;
        second = (angle - tpSin(angle)) / (angle2 * angle);
    }
    tpMat33 skew = tpSkew(a);
    return tpAddMM(tpAddMM(tpIdentityMat33(), tpScaleM(first, skew)),
                   tpScaleM(second, tpMulMM(skew, skew)));
}

static tpQuat turned(tpQuat rotation, tpVec3 by) {
    return tpNormalizeQuat(tpMulQQ(tpQuatExp(by), rotation));
}

static tpVec3 turnBetween(tpQuat from, tpQuat to) {
    return tpQuatLog(tpMulQQ(to, tpConjugate(from)));
}

// Free rotation at constant angular velocity: three equal moments, or a plane.
static void rotateSteadily(tpPose start, tpVec3 mean, tpVec3 pushed, double theta, double h,
                           bool withDerivatives, tpTravel* out) {
    out->middle.pose.rotation = turned(start.rotation, tpScale(theta * h, mean));
    out->end.pose.rotation = turned(start.rotation, tpScale(h, mean));
    out->middle.velocity.angular = mean;
    out->end.velocity.angular = pushed;
    out->move.angular = mean;
    if (withDerivatives) {
        tpMat33 unit = tpIdentityMat33();
        out->middle.turn = tpScaleM(theta * theta * h, leftJacobian(tpScale(theta * h, mean)));
        out->end.turn = tpScaleM(theta * h, leftJacobian(tpScale(h, mean)));
        out->middle.spin = tpScaleM(theta, unit);
        out->end.spin = unit;
    }
}

// Orientations in the middle and at the end of free rotation from `rotation` at `velocity`.
static void rotateToBoth(const tpInertia* inertia, tpQuat rotation, tpVec3 velocity, double theta,
                         double h, tpQuat* middle, tpQuat* end) {
    tpRotateFreely(inertia, theta * h, &rotation, &velocity);
    *middle = rotation;
    if (theta < 1.0) {
        tpRotateFreely(inertia, (1.0 - theta) * h, &rotation, &velocity);
    }
    *end = rotation;
}

// One step of the trapezoidal rule on p' = I^-1 (dL + L x p), the variation of free rotation: a
// small rotation p of the orientation, by a change dL of the momentum that stays. P is p by the
// unknowns, K dL.
static tpMat33 varyOver(double h, tpMat33 inverse0, tpMat33 inverse1, tpMat33 skew, tpMat33 P,
                        tpMat33 K) {
    tpMat33 from = tpMulMM(inverse0, tpAddMM(K, tpMulMM(skew, P)));
    tpMat33 right = tpAddMM(P, tpScaleM(0.5 * h, tpAddMM(from, tpMulMM(inverse1, K))));
    tpMat33 left = tpAddMM(tpIdentityMat33(), tpScaleM(-0.5 * h, tpMulMM(inverse1, skew)));
    return tpMulMM(tpInvert(left), right);
}

// Derivatives by the variation: right to (h w)^3 / 12, which is what Newton's method gains an
// iteration.
static void varyRotation(const tpInertia* inertia, tpQuat rotation, tpVec3 mean, tpMat33 inverseEnd,
                         double theta, double h, tpTravel* out) {
    tpVec3 momentum = tpInertia_Momentum(inertia, rotation, mean);
    tpMat33 skew = tpSkew(momentum);
    tpMat33 K = tpScaleM(theta, tpInertia_World(inertia, rotation));
    tpMat33 inverse0 = tpInertia_InverseWorld(inertia, rotation);
    tpMat33 inverse1 = tpInertia_InverseWorld(inertia, out->middle.pose.rotation);
    tpMat33 middle = varyOver(theta * h, inverse0, inverse1, skew, tpZeroMat33(), K);
    out->middle.turn = middle;
    out->end.turn =
        theta < 1.0 ? varyOver((1.0 - theta) * h, inverse1, inverseEnd, skew, middle, K) : middle;
}

// The same by differences, for fast turns.
static void probeRotation(const tpInertia* inertia, tpQuat rotation, tpVec3 mean, double theta,
                          double h, tpTravel* out) {
    tpVec3 middleTurn[3], endTurn[3];
    double size = probe / h;
    for (int k = 0; k < 3; ++k) {
        tpQuat middle, end;
        tpVec3 near = tpAdd(mean, tpScale(size, tpMakeVec3(k == 0, k == 1, k == 2)));
        rotateToBoth(inertia, rotation, near, theta, h, &middle, &end);
        middleTurn[k] = tpScale(theta / size, turnBetween(out->middle.pose.rotation, middle));
        endTurn[k] = tpScale(theta / size, turnBetween(out->end.pose.rotation, end));
    }
    out->middle.turn = tpMakeMat33(middleTurn[0], middleTurn[1], middleTurn[2]);
    out->end.turn = tpMakeMat33(endTurn[0], endTurn[1], endTurn[2]);
}

// d (I^-1 L) by a small rotation of the body, L staying: p x w - I^-1 (p x L) for w = I^-1 L.
static tpMat33 velocityByTurn(tpMat33 inverse, tpVec3 momentum) {
    return tpAddMM(tpScaleM(-1.0, tpSkew(tpMulMV(inverse, momentum))),
                   tpMulMM(inverse, tpSkew(momentum)));
}

static void rotateTumbling(const tpInertia* inertia, tpPose start, tpVec3 startSpin, tpVec3 mean,
                           tpVec3 pushed, double theta, double h, bool withDerivatives,
                           tpTravel* out) {
    tpQuat middle, end;
    rotateToBoth(inertia, start.rotation, mean, theta, h, &middle, &end);
    // Momentum of the way, its change, and after all impulses.
    tpVec3 L = tpInertia_Momentum(inertia, start.rotation, mean);
    tpVec3 D = tpInertia_Momentum(inertia, start.rotation, tpSub(pushed, startSpin));
    tpVec3 after = tpInertia_Momentum(inertia, start.rotation, pushed);
    double rest = 1.0 - theta, half = 0.5 * rest * rest;
    // Velocities at the end by momentum: rest L + half D, whose part at the start is taken off
    // again.
    tpVec3 both = tpMulAdd(tpScale(rest, L), half, D);
    tpVec3 work = tpAdd(tpScale(theta, mean), tpInertia_Velocity(inertia, end, both));
    out->middle.pose.rotation = middle;
    out->middle.velocity.angular = tpMulAdd(work, -half, tpSub(pushed, startSpin));
    out->end.pose.rotation = end;
    out->end.velocity.angular = tpInertia_Velocity(inertia, end, after);
    out->move.angular = tpScale(1.0 / h, turnBetween(start.rotation, end));
    if (!withDerivatives) {
        return;
    }
    tpMat33 inverse = tpInertia_InverseWorld(inertia, end);
    if (h * tpLength(mean) > fastTurn) {
        probeRotation(inertia, start.rotation, mean, theta, h, out);
    } else {
        varyRotation(inertia, start.rotation, mean, inverse, theta, h, out);
    }
    // Momenta follow z at the start's orientation, I the rotation at the end.
    tpMat33 byMomentum = tpMulMM(inverse, tpInertia_World(inertia, start.rotation));
    out->end.spin = tpAddMM(byMomentum, tpMulMM(velocityByTurn(inverse, after), out->end.turn));
    tpMat33 unit = tpIdentityMat33();
    out->middle.spin = tpAddMM(
        tpAddMM(tpScaleM(theta * theta - half, unit), tpScaleM(rest * theta + half, byMomentum)),
        tpMulMM(velocityByTurn(inverse, both), out->end.turn));
}

void tpTravel_Compute(const tpSystem* system, int body, tpPose start,
                      const tpVelocity* startVelocity, const tpVelocity* pushed, double theta,
                      double h, bool withDerivatives, tpTravel* out) {
    const tpInertia* inertia = &system->bodies.data[body].form->inertia;
    tpVec3 linear =
        tpAdd(tpScale(1.0 - theta, startVelocity->linear), tpScale(theta, pushed->linear));
    tpVec3 angular =
        tpAdd(tpScale(1.0 - theta, startVelocity->angular), tpScale(theta, pushed->angular));
    out->middle.pose.position = tpMulAdd(start.position, theta * h, linear);
    out->end.pose.position = tpMulAdd(start.position, h, linear);
    out->middle.velocity = out->end.velocity = out->move = *pushed; // padding too
    out->middle.velocity.linear = out->move.linear = linear;
    out->middle.shift = theta * theta * h;
    out->middle.change = theta;
    out->end.shift = theta * h;
    out->end.change = 1.0;
    if (!tpSystem_IsTumbling(system, body) || tpLocks_Turns(system->bodies.data[body].locked)) {
        rotateSteadily(start, angular, pushed->angular, theta, h, withDerivatives, out);
    } else {
        rotateTumbling(inertia, start, startVelocity->angular, angular, pushed->angular, theta, h,
                       withDerivatives, out);
    }
}

void tpTravel_Follow(tpPose start, const tpVelocity* velocity, double theta, double h,
                     tpTravel* out) {
    out->middle.pose = tpMakePose(tpMulAdd(start.position, theta * h, velocity->linear),
                                  turned(start.rotation, tpScale(theta * h, velocity->angular)));
    out->end.pose = tpMakePose(tpMulAdd(start.position, h, velocity->linear),
                               turned(start.rotation, tpScale(h, velocity->angular)));
    out->middle.velocity = out->end.velocity = out->move = *velocity;
    out->middle.shift = out->middle.change = out->end.shift = out->end.change = 0.0;
    out->middle.turn = out->middle.spin = out->end.turn = out->end.spin = tpZeroMat33();
}
