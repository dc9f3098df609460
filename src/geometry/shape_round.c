// Spheres, capsules and ellipsoids.

#include "geometry/shape_kinds.h"

static const double pi = 3.14159265358979323846;

// Widens the interval of `clip` (nothing yet where *any is false) by that of the ball of radius r
// about (0, 0, z).
static void uniteBall(tpLineClip* clip, double r, double z, tpVec3 origin, tpVec3 direction,
                      bool* any) {
    tpVec3 o = tpMakeVec3(origin.x, origin.y, origin.z - z);
    double middle = -tpDot(o, direction);
    double nearest = tpLength(tpMulAdd(o, middle, direction));
    if (nearest > r) {
        return;
    }
    double half = sqrt((r - nearest) * (r + nearest));
    if (!*any || middle - half < clip->enter) {
        clip->enter = middle - half;
        clip->enterNormal = tpNormalize(tpMulAdd(o, clip->enter, direction));
    }
    if (!*any || middle + half > clip->leave) {
        clip->leave = middle + half;
        clip->leaveNormal = tpNormalize(tpMulAdd(o, clip->leave, direction));
    }
    *any = true;
}

// Sphere --------------------------------------------------------------------------------------

tpBounds tpSphereBounds(const tpGeometry* geometry, tpPose pose) {
    double r = geometry->sphere.radius;
    tpVec3 half = tpMakeVec3(r, r, r);
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

tpVec3 tpSphereSupport(const tpGeometry* geometry, tpVec3 direction) {
    return tpScale(geometry->sphere.radius, tpNormalize(direction));
}

tpResult tpSphereMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->sphere.radius;
    out->mass = 4.0 / 3.0 * pi * r * r * r;
    out->center = tpZeroVec3();
    double moment = 0.4 * out->mass * r * r;
    out->inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
    return tp_success;
}

double tpSphereRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(point) + geometry->sphere.radius;
}

int tpSphereSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

double tpSphereSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                       tpMat33* hessian) {
    (void)k;
    double r = geometry->sphere.radius;
    if (gradient != NULL) {
        *gradient = tpScale(1.0 / r, p);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, 1.0 / r));
    }
    double distance = tpLength(p);
    return (distance - r) * (distance + r) / (2.0 * r);
}

bool tpSphereClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                      tpLineClip* clip) {
    bool any = false;
    uniteBall(clip, geometry->sphere.radius, 0.0, origin, direction, &any);
    return any;
}

// Capsule -------------------------------------------------------------------------------------

tpBounds tpCapsuleBounds(const tpGeometry* geometry, tpPose pose) {
    double r = geometry->capsule.radius;
    tpVec3 arm =
        tpAbsVec3(tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 0.5 * geometry->capsule.length)));
    tpVec3 half = tpAdd(arm, tpMakeVec3(r, r, r));
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

tpVec3 tpCapsuleSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 p = tpScale(geometry->capsule.radius, tpNormalize(direction));
    p.z += copysign(0.5 * geometry->capsule.length, direction.z);
    return p;
}

// A cylinder and two half balls, whose centre of mass is 3/8 r from their flat side.
tpResult tpCapsuleMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->capsule.radius, l = geometry->capsule.length;
    double cylinder = pi * r * r * l, ball = 4.0 / 3.0 * pi * r * r * r;
    out->mass = cylinder + ball;
    out->center = tpZeroVec3();
    double axial = 0.5 * cylinder * r * r + 0.4 * ball * r * r;
    double across = cylinder * (3.0 * r * r + l * l) / 12.0 +
                    ball * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l);
    out->inertia = tpDiagonal(tpMakeVec3(across, across, axial));
    return tp_success;
}

double tpCapsuleRadius(const tpGeometry* geometry, tpVec3 point) {
    point.z = fabs(point.z) + 0.5 * geometry->capsule.length;
    return tpLength(point) + geometry->capsule.radius;
}

int tpCapsuleSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

double tpCapsuleSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                        tpMat33* hessian) {
    (void)k;
    double r = geometry->capsule.radius, half = 0.5 * geometry->capsule.length;
    bool beside = fabs(p.z) < half;
    // From the nearest point of the axis.
    tpVec3 d = tpMakeVec3(p.x, p.y, beside ? 0.0 : p.z - copysign(half, p.z));
    if (gradient != NULL) {
        *gradient = tpScale(1.0 / r, d);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, beside ? 0.0 : 1.0 / r));
    }
    double distance = tpLength(d);
    return (distance - r) * (distance + r) / (2.0 * r);
}

// The union of two balls and a cylinder is convex: its interval is the hull of theirs.
bool tpCapsuleClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                       tpLineClip* clip) {
    double r = geometry->capsule.radius, half = 0.5 * geometry->capsule.length;
    bool any = false;
    if (half > 0.0) {
        tpGeometry middle = *geometry;
        middle.cylinder = (tpCylinder){ r, 2.0 * half, tpMakeVec3(0.0, 0.0, 1.0) };
        any = tpCylinderClipLine(&middle, origin, direction, clip);
    }
    uniteBall(clip, r, half, origin, direction, &any);
    uniteBall(clip, r, -half, origin, direction, &any);
    return any;
}

// Ellipsoid -----------------------------------------------------------------------------------

tpBounds tpEllipsoidBounds(const tpGeometry* geometry, tpPose pose) {
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpVec3 radii = geometry->ellipsoid.radii;
    tpVec3 x = tpScale(radii.x, turn.cx), y = tpScale(radii.y, turn.cy),
           z = tpScale(radii.z, turn.cz);
    tpVec3 half =
        tpMakeVec3(sqrt(x.x * x.x + y.x * y.x + z.x * z.x), sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                   sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

tpVec3 tpEllipsoidSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 radii = geometry->ellipsoid.radii;
    return tpMulParts(radii, tpNormalize(tpMulParts(radii, direction)));
}

tpResult tpEllipsoidMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    tpVec3 r = geometry->ellipsoid.radii;
    out->mass = 4.0 / 3.0 * pi * r.x * r.y * r.z;
    out->center = tpZeroVec3();
    tpVec3 squares = tpMulParts(r, r);
    out->inertia =
        tpDiagonal(tpScale(0.2 * out->mass, tpMakeVec3(squares.y + squares.z, squares.x + squares.z,
                                                       squares.x + squares.y)));
    return tp_success;
}

double tpEllipsoidRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(point) + tpMaxPart(geometry->ellipsoid.radii);
}

int tpEllipsoidSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

double tpEllipsoidSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                          tpMat33* hessian) {
    (void)k;
    tpVec3 r = geometry->ellipsoid.radii;
    double scale = fmin(r.x, fmin(r.y, r.z));
    tpVec3 q = tpMakeVec3(p.x / r.x, p.y / r.y, p.z / r.z);
    if (gradient != NULL) {
        *gradient = tpScale(scale, tpMakeVec3(q.x / r.x, q.y / r.y, q.z / r.z));
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(
            tpScale(scale, tpMakeVec3(1.0 / (r.x * r.x), 1.0 / (r.y * r.y), 1.0 / (r.z * r.z))));
    }
    double gauge = tpLength(q);
    return 0.5 * scale * (gauge - 1.0) * (gauge + 1.0);
}

static tpVec3 ellipsoidNormal(tpVec3 radii, tpVec3 onSphere) {
    return tpNormalize(
        tpMakeVec3(onSphere.x / radii.x, onSphere.y / radii.y, onSphere.z / radii.z));
}

// Scaled by its radii the ellipsoid is the unit ball.
bool tpEllipsoidClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                         tpLineClip* clip) {
    tpVec3 r = geometry->ellipsoid.radii;
    tpVec3 o = tpMakeVec3(origin.x / r.x, origin.y / r.y, origin.z / r.z);
    tpVec3 d = tpMakeVec3(direction.x / r.x, direction.y / r.y, direction.z / r.z);
    double speed = tpLength(d);
    tpVec3 unit = tpScale(1.0 / speed, d);
    double middle = -tpDot(o, unit);
    double nearest = tpLength(tpMulAdd(o, middle, unit));
    if (nearest > 1.0) {
        return false;
    }
    double half = sqrt((1.0 - nearest) * (1.0 + nearest));
    clip->enter = (middle - half) / speed;
    clip->leave = (middle + half) / speed;
    clip->enterNormal = ellipsoidNormal(r, tpMulAdd(o, middle - half, unit));
    clip->leaveNormal = ellipsoidNormal(r, tpMulAdd(o, middle + half, unit));
    return true;
}
