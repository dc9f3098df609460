// Vectors, quaternions, matrices and poses.
//
// Right-handed axes, SI units. A quaternion is (w, x, y, z); a unit quaternion turns body axes into
// world axes. Matrices are stored by columns: m.cx is the image of the x axis.

#ifndef TIPPE_MATH_H
#define TIPPE_MATH_H

#include <math.h>

#include "tippe/base.h"

typedef struct tpVec3 {
    double x, y, z;
} tpVec3;

typedef struct tpQuat {
    double w, x, y, z;
} tpQuat;

typedef struct tpMat33 {
    tpVec3 cx, cy, cz; // columns
} tpMat33;

// A place and an orientation: a point p of the body is at position + rotation * p in the world.
typedef struct tpPose {
    tpVec3 position;
    tpQuat rotation;
} tpPose;

// An axis-aligned box.
typedef struct tpBounds {
    tpVec3 lower, upper;
} tpBounds;

// Vectors -------------------------------------------------------------------------------------

static inline tpVec3 tpMakeVec3(double x, double y, double z) {
    tpVec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

static inline tpVec3 tpZeroVec3(void) {
    return tpMakeVec3(0.0, 0.0, 0.0);
}

static inline tpVec3 tpAdd(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline tpVec3 tpSub(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline tpVec3 tpNeg(tpVec3 a) {
    return tpMakeVec3(-a.x, -a.y, -a.z);
}

static inline tpVec3 tpScale(double s, tpVec3 a) {
    return tpMakeVec3(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline tpVec3 tpMulAdd(tpVec3 a, double s, tpVec3 b) {
    return tpMakeVec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// Component by component.
static inline tpVec3 tpMulParts(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline double tpDot(tpVec3 a, tpVec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline tpVec3 tpCross(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double tpLengthSquared(tpVec3 a) {
    return tpDot(a, a);
}

static inline double tpLength(tpVec3 a) {
    return sqrt(tpDot(a, a));
}

static inline double tpDistanceBetween(tpVec3 a, tpVec3 b) {
    return tpLength(tpSub(a, b));
}

static inline tpVec3 tpMinVec3(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

static inline tpVec3 tpMaxVec3(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

static inline tpVec3 tpAbsVec3(tpVec3 a) {
    return tpMakeVec3(fabs(a.x), fabs(a.y), fabs(a.z));
}

static inline double tpMaxPart(tpVec3 a) {
    return fmax(a.x, fmax(a.y, a.z));
}

static inline bool tpIsFiniteVec3(tpVec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// The unit vector along a, safe from overflow and underflow; zero for a zero vector.
TP_BEGIN_DECLS
TP_API tpVec3 tpNormalize(tpVec3 a);

// Two unit vectors that complete the unit vector n to a right-handed frame (n, t, o), t cross o =
// n.
TP_API void tpMakeTangents(tpVec3 n, tpVec3* t, tpVec3* o);
TP_END_DECLS

// Matrices ------------------------------------------------------------------------------------

static inline tpMat33 tpMakeMat33(tpVec3 cx, tpVec3 cy, tpVec3 cz) {
    tpMat33 m;
    m.cx = cx;
    m.cy = cy;
    m.cz = cz;
    return m;
}

static inline tpMat33 tpDiagonal(tpVec3 d) {
    return tpMakeMat33(tpMakeVec3(d.x, 0.0, 0.0), tpMakeVec3(0.0, d.y, 0.0),
                       tpMakeVec3(0.0, 0.0, d.z));
}

static inline tpMat33 tpIdentityMat33(void) {
    return tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
}

static inline tpMat33 tpZeroMat33(void) {
    return tpDiagonal(tpZeroVec3());
}

static inline tpVec3 tpMulMV(tpMat33 m, tpVec3 v) {
    return tpMakeVec3(m.cx.x * v.x + m.cy.x * v.y + m.cz.x * v.z,
                      m.cx.y * v.x + m.cy.y * v.y + m.cz.y * v.z,
                      m.cx.z * v.x + m.cy.z * v.y + m.cz.z * v.z);
}

// transpose(m) v
static inline tpVec3 tpMulMTV(tpMat33 m, tpVec3 v) {
    return tpMakeVec3(tpDot(m.cx, v), tpDot(m.cy, v), tpDot(m.cz, v));
}

static inline tpMat33 tpMulMM(tpMat33 a, tpMat33 b) {
    return tpMakeMat33(tpMulMV(a, b.cx), tpMulMV(a, b.cy), tpMulMV(a, b.cz));
}

static inline tpMat33 tpTranspose(tpMat33 m) {
    return tpMakeMat33(tpMakeVec3(m.cx.x, m.cy.x, m.cz.x), tpMakeVec3(m.cx.y, m.cy.y, m.cz.y),
                       tpMakeVec3(m.cx.z, m.cy.z, m.cz.z));
}

static inline tpMat33 tpAddMM(tpMat33 a, tpMat33 b) {
    return tpMakeMat33(tpAdd(a.cx, b.cx), tpAdd(a.cy, b.cy), tpAdd(a.cz, b.cz));
}

static inline tpMat33 tpScaleM(double s, tpMat33 m) {
    return tpMakeMat33(tpScale(s, m.cx), tpScale(s, m.cy), tpScale(s, m.cz));
}

// The matrix of v -> a cross v.
static inline tpMat33 tpSkew(tpVec3 a) {
    return tpMakeMat33(tpMakeVec3(0.0, a.z, -a.y), tpMakeVec3(-a.z, 0.0, a.x),
                       tpMakeVec3(a.y, -a.x, 0.0));
}

// a transpose(b)
static inline tpMat33 tpOuter(tpVec3 a, tpVec3 b) {
    return tpMakeMat33(tpScale(b.x, a), tpScale(b.y, a), tpScale(b.z, a));
}

static inline double tpDeterminant(tpMat33 m) {
    return tpDot(m.cx, tpCross(m.cy, m.cz));
}

TP_BEGIN_DECLS
// The inverse; all zeros if m is singular.
TP_API tpMat33 tpInvert(tpMat33 m);

// The solution x of m x = b by Gaussian elimination with full pivoting; false if m is singular.
TP_API bool tpSolve33(tpMat33 m, tpVec3 b, tpVec3* x);

// Eigenvalues (ascending) and orthonormal right-handed eigenvectors (columns) of a symmetric
// matrix, by cyclic Jacobi rotations: accurate to rounding even for nearly equal eigenvalues.
TP_API void tpEigenSymmetric(tpMat33 m, tpVec3* values, tpMat33* vectors);
TP_END_DECLS

// Quaternions ---------------------------------------------------------------------------------

static inline tpQuat tpMakeQuat(double w, double x, double y, double z) {
    tpQuat q;
    q.w = w;
    q.x = x;
    q.y = y;
    q.z = z;
    return q;
}

static inline tpQuat tpIdentityQuat(void) {
    return tpMakeQuat(1.0, 0.0, 0.0, 0.0);
}

static inline tpQuat tpConjugate(tpQuat q) {
    return tpMakeQuat(q.w, -q.x, -q.y, -q.z);
}

static inline tpQuat tpMulQQ(tpQuat a, tpQuat b) {
    return tpMakeQuat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

static inline double tpDotQQ(tpQuat a, tpQuat b) {
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

// Turns v by the unit quaternion q.
static inline tpVec3 tpRotate(tpQuat q, tpVec3 v) {
    tpVec3 u = tpMakeVec3(q.x, q.y, q.z);
    tpVec3 t = tpScale(2.0, tpCross(u, v));
    return tpAdd(tpMulAdd(v, q.w, t), tpCross(u, t));
}

// Turns v back.
static inline tpVec3 tpUnrotate(tpQuat q, tpVec3 v) {
    return tpRotate(tpConjugate(q), v);
}

static inline tpMat33 tpMatFromQuat(tpQuat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return tpMakeMat33(tpMakeVec3(1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)),
                       tpMakeVec3(2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)),
                       tpMakeVec3(2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)));
}

TP_BEGIN_DECLS
TP_API tpQuat tpNormalizeQuat(tpQuat q);

// The rotation by |a| radians about a: the exponential map.
TP_API tpQuat tpQuatExp(tpVec3 a);

// The rotation vector of q, of length at most pi: the inverse of tpQuatExp.
TP_API tpVec3 tpQuatLog(tpQuat q);

TP_API tpQuat tpQuatFromAxisAngle(tpVec3 axis, double radians);
TP_API tpQuat tpQuatFromMat(tpMat33 rotation);

// The shortest rotation that takes the unit vector a to the unit vector b.
TP_API tpQuat tpQuatBetween(tpVec3 a, tpVec3 b);
TP_END_DECLS

// Poses ---------------------------------------------------------------------------------------

static inline tpPose tpMakePose(tpVec3 position, tpQuat rotation) {
    tpPose pose;
    pose.position = position;
    pose.rotation = rotation;
    return pose;
}

static inline tpPose tpIdentityPose(void) {
    return tpMakePose(tpZeroVec3(), tpIdentityQuat());
}

static inline tpVec3 tpTransformPoint(tpPose pose, tpVec3 p) {
    return tpAdd(pose.position, tpRotate(pose.rotation, p));
}

static inline tpVec3 tpUntransformPoint(tpPose pose, tpVec3 p) {
    return tpUnrotate(pose.rotation, tpSub(p, pose.position));
}

// First inner, then outer.
static inline tpPose tpComposePoses(tpPose outer, tpPose inner) {
    return tpMakePose(tpTransformPoint(outer, inner.position),
                      tpMulQQ(outer.rotation, inner.rotation));
}

static inline tpPose tpInversePose(tpPose pose) {
    tpQuat q = tpConjugate(pose.rotation);
    return tpMakePose(tpRotate(q, tpNeg(pose.position)), q);
}

#endif
