// Mass properties as numbers: moved, added, turned to principal axes, and checked.

#include "geometry/mass.h"
#include "base/assert.h"

#include "base/error.h"

// How far moments may break the triangle inequality, relative to the largest: flat bodies typed
// with six digits (0.333333, 0.333333, 0.666667) are legal, and no motion can tell the difference.
static const double inequalitySlack = 1e-5;

// What parts of an inertia that should be equal or zero may differ by, relative to the largest.
static const double symmetrySlack = 1e-9;

void tpPrincipalFrame(tpMat33 inertia, tpVec3* moments, tpQuat* rotation) {
    if (inertia.cy.x == 0.0 && inertia.cz.x == 0.0 && inertia.cz.y == 0.0) {
        *moments = tpMakeVec3(inertia.cx.x, inertia.cy.y, inertia.cz.z);
        *rotation = tpIdentityQuat();
        return;
    }
    tpMat33 axes;
    tpEigenSymmetric(inertia, moments, &axes);
    *rotation = tpQuatFromMat(axes);
}

// mass (|d|^2 I - d d^T): what a point mass at d adds to an inertia.
static tpMat33 pointInertia(double mass, tpVec3 d) {
    double dd = tpDot(d, d);
    tpMat33 outer = tpOuter(d, d);
    return tpAddMM(tpDiagonal(tpMakeVec3(mass * dd, mass * dd, mass * dd)), tpScaleM(-mass, outer));
}

// Both halves equal, so that rounding leaves no asymmetry behind.
static tpMat33 symmetrized(tpMat33 m) {
    return tpScaleM(0.5, tpAddMM(m, tpTranspose(m)));
}

tpMassProperties tpTransformMass(const tpMassProperties* properties, tpPose pose) {
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpMassProperties moved;
    moved.mass = properties->mass;
    moved.center = tpTransformPoint(pose, properties->center);
    moved.inertia = symmetrized(tpMulMM(turn, tpMulMM(properties->inertia, tpTranspose(turn))));
    return moved;
}

tpMassProperties tpCombineMass(const tpMassProperties* parts, int count) {
    tpMassProperties sum = { 0.0, tpZeroVec3(), tpZeroMat33() };
    if (count <= 0) {
        return sum;
    }
    TP_NEED(parts, sum);
    // The centre is summed relative to the first part's: far from the origin no digits are lost.
    tpVec3 origin = parts[0].center;
    tpVec3 moment = tpZeroVec3();
    for (int i = 0; i < count; ++i) {
        sum.mass += parts[i].mass;
        moment = tpMulAdd(moment, parts[i].mass, tpSub(parts[i].center, origin));
    }
    sum.center = sum.mass != 0.0 ? tpMulAdd(origin, 1.0 / sum.mass, moment) : origin;
    for (int i = 0; i < count; ++i) {
        tpVec3 arm = tpSub(parts[i].center, sum.center);
        sum.inertia = tpAddMM(sum.inertia, parts[i].inertia);
        sum.inertia = tpAddMM(sum.inertia, pointInertia(parts[i].mass, arm));
    }
    return sum;
}

static bool isFiniteMat33(tpMat33 m) {
    return tpIsFiniteVec3(m.cx) && tpIsFiniteVec3(m.cy) && tpIsFiniteVec3(m.cz);
}

static tpResult checkMoments(tpVec3 moments, tpError* error) {
    double largest = moments.z; // they ascend
    if (moments.x < -symmetrySlack * largest || largest < 0.0) {
        return tpError_Set(error, tp_badInput,
                           "inertia must not have a negative moment; its principal moments are "
                           "%.9g, %.9g and %.9g kg m^2",
                           moments.x, moments.y, moments.z);
    }
    if (moments.x + moments.y < largest * (1.0 - inequalitySlack)) {
        return tpError_Set(
            error, tp_badInput,
            "inertia violates the triangle inequality: no body has principal moments "
            "%.9g, %.9g and %.9g kg m^2, for the largest is more than the sum of the "
            "others (%.9g)",
            moments.x, moments.y, largest, moments.x + moments.y);
    }
    return tp_success;
}

bool tpIsFiniteMass(const tpMassProperties* properties) {
    return isfinite(properties->mass) && tpIsFiniteVec3(properties->center) &&
           isFiniteMat33(properties->inertia);
}

tpResult tpCheckMass(const tpMassProperties* properties, tpError* error) {
    TP_NEED(properties, tp_badInput);
    if (!(properties->mass > 0.0) || !isfinite(properties->mass)) {
        return tpError_Set(error, tp_badInput, "mass must be positive and finite, not %.9g kg",
                           properties->mass);
    }
    if (!tpIsFiniteVec3(properties->center)) {
        return tpError_Set(error, tp_badInput, "the centre of mass must be finite");
    }
    tpMat33 m = properties->inertia;
    if (!isFiniteMat33(m)) {
        return tpError_Set(error, tp_badInput, "inertia must be finite");
    }
    double largest = fmax(tpMaxPart(tpAbsVec3(m.cx)),
                          fmax(tpMaxPart(tpAbsVec3(m.cy)), tpMaxPart(tpAbsVec3(m.cz))));
    double asymmetry =
        fmax(fabs(m.cx.y - m.cy.x), fmax(fabs(m.cx.z - m.cz.x), fabs(m.cy.z - m.cz.y)));
    if (asymmetry > symmetrySlack * largest) {
        return tpError_Set(error, tp_badInput,
                           "inertia must be symmetric; opposite entries differ by %.3g kg m^2",
                           asymmetry);
    }
    tpVec3 moments;
    tpMat33 axes;
    tpEigenSymmetric(m, &moments, &axes);
    return checkMoments(moments, error);
}
