// Cylinders and cones, with their axis along z.

#include "geometry/shape_kinds.h"
#include "math/elementary.h"

static const double pi = 3.14159265358979323846;

// Extent of a disc of radius r whose unit normal is `axis`, along each coordinate.
static tpVec3 discExtent(double r, tpVec3 axis) {
    return tpMakeVec3(r * sqrt(fmax(0.0, (1.0 - axis.x) * (1.0 + axis.x))),
                      r * sqrt(fmax(0.0, (1.0 - axis.y) * (1.0 + axis.y))),
                      r * sqrt(fmax(0.0, (1.0 - axis.z) * (1.0 + axis.z))));
}

// Farthest point of a disc in x-y; any point of the rim where the direction is along z.
static tpVec3 discSupport(double r, tpVec3 direction) {
    tpVec3 across = tpNormalize(tpMakeVec3(direction.x, direction.y, 0.0));
    return tpScale(r, across);
}

static bool isAlongZ(tpVec3 direction) {
    return direction.x == 0.0 && direction.y == 0.0;
}

// Narrows the clip to -half <= z <= half.
static bool clipBySlab(tpLineClip* clip, double half, tpVec3 origin, tpVec3 direction) {
    return tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, 1.0), half, origin, direction) &&
           tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, -1.0), half, origin, direction);
}

// Narrows one end of the clip where the new bound is tighter.
static void raiseEnter(tpLineClip* clip, double t, tpVec3 normal) {
    if (t > clip->enter) {
        clip->enter = t;
        clip->enterNormal = normal;
    }
}

static void lowerLeave(tpLineClip* clip, double t, tpVec3 normal) {
    if (t < clip->leave) {
        clip->leave = t;
        clip->leaveNormal = normal;
    }
}

// Cylinder ------------------------------------------------------------------------------------

tpBounds tpCylinderBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 axis = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 half = tpAdd(tpAbsVec3(tpScale(0.5 * geometry->cylinder.length, axis)),
                        discExtent(geometry->cylinder.radius, axis));
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

tpVec3 tpCylinderSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 p =
        isAlongZ(direction) ? tpZeroVec3() : discSupport(geometry->cylinder.radius, direction);
    p.z = copysign(0.5 * geometry->cylinder.length, direction.z);
    return p;
}

tpResult tpCylinderMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->cylinder.radius, l = geometry->cylinder.length;
    out->mass = pi * r * r * l;
    out->center = tpZeroVec3();
    double across = out->mass * (3.0 * r * r + l * l) / 12.0;
    out->inertia = tpDiagonal(tpMakeVec3(across, across, 0.5 * out->mass * r * r));
    return tp_success;
}

double tpCylinderRadius(const tpGeometry* geometry, tpVec3 point) {
    double radial = sqrt(point.x * point.x + point.y * point.y) + geometry->cylinder.radius;
    double axial = fabs(point.z) + 0.5 * geometry->cylinder.length;
    return sqrt(radial * radial + axial * axial);
}

int tpCylinderSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 3;
}

// z <= half (sign +1) or -z <= half (sign -1).
static double endSurface(double sign, double half, tpVec3 p, tpVec3* gradient, tpMat33* hessian) {
    if (gradient != NULL) {
        *gradient = tpMakeVec3(0.0, 0.0, sign);
    }
    if (hessian != NULL) {
        *hessian = tpZeroMat33();
    }
    return sign * p.z - half;
}

double tpCylinderSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                         tpMat33* hessian) {
    if (k > 0) {
        return endSurface(k == 1 ? 1.0 : -1.0, 0.5 * geometry->cylinder.length, p, gradient,
                          hessian);
    }
    double r = geometry->cylinder.radius;
    if (gradient != NULL) {
        *gradient = tpMakeVec3(p.x / r, p.y / r, 0.0);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, 0.0));
    }
    double distance = sqrt(p.x * p.x + p.y * p.y);
    return (distance - r) * (distance + r) / (2.0 * r);
}

bool tpCylinderClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                        tpLineClip* clip) {
    *clip = tpWholeLine();
    double r = geometry->cylinder.radius;
    double speed = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (speed > 0.0) {
        double ux = direction.x / speed, uy = direction.y / speed;
        double middle = -(origin.x * ux + origin.y * uy);
        double nearest = fabs(origin.x * uy - origin.y * ux);
        if (nearest > r) {
            return false;
        }
        double half = sqrt((r - nearest) * (r + nearest));
        tpVec3 first = tpMulAdd(origin, (middle - half) / speed, direction);
        tpVec3 last = tpMulAdd(origin, (middle + half) / speed, direction);
        raiseEnter(clip, (middle - half) / speed, tpNormalize(tpMakeVec3(first.x, first.y, 0.0)));
        lowerLeave(clip, (middle + half) / speed, tpNormalize(tpMakeVec3(last.x, last.y, 0.0)));
    } else if (origin.x * origin.x + origin.y * origin.y > r * r) {
        return false;
    }
    return clipBySlab(clip, 0.5 * geometry->cylinder.length, origin, direction);
}

// Cone ----------------------------------------------------------------------------------------

tpBounds tpConeBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 axis = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 tip = tpMulAdd(pose.position, 0.5 * geometry->cone.length, axis);
    tpVec3 base = tpMulAdd(pose.position, -0.5 * geometry->cone.length, axis);
    tpVec3 disc = discExtent(geometry->cone.radius, axis);
    return (tpBounds){ tpMinVec3(tip, tpSub(base, disc)), tpMaxVec3(tip, tpAdd(base, disc)) };
}

tpVec3 tpConeSupport(const tpGeometry* geometry, tpVec3 direction) {
    double half = 0.5 * geometry->cone.length;
    double radial = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (direction.z * 2.0 * half > geometry->cone.radius * radial) {
        return tpMakeVec3(0.0, 0.0, half);
    }
    tpVec3 p = isAlongZ(direction) ? tpZeroVec3() : discSupport(geometry->cone.radius, direction);
    p.z = -half;
    return p;
}

// The centre of mass is a quarter of the height above the base.
tpResult tpConeMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->cone.radius, l = geometry->cone.length;
    out->mass = pi * r * r * l / 3.0;
    out->center = tpMakeVec3(0.0, 0.0, -0.25 * l);
    double across = out->mass * (3.0 / 20.0 * r * r + 3.0 / 80.0 * l * l);
    out->inertia = tpDiagonal(tpMakeVec3(across, across, 0.3 * out->mass * r * r));
    return tp_success;
}

double tpConeRadius(const tpGeometry* geometry, tpVec3 point) {
    double half = 0.5 * geometry->cone.length;
    double distance = sqrt(point.x * point.x + point.y * point.y);
    double rim = tpHypot(distance + geometry->cone.radius, point.z + half);
    return fmax(rim, tpHypot(distance, point.z - half));
}

int tpConeSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 2;
}

double tpConeSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                     tpMat33* hessian) {
    double half = 0.5 * geometry->cone.length;
    if (k == 1) {
        return endSurface(-1.0, half, p, gradient, hessian);
    }
    // Distance from the axis against the radius at this height, times the cosine of the half angle.
    double slope = geometry->cone.radius / geometry->cone.length;
    double cosine = 1.0 / sqrt(1.0 + slope * slope);
    double distance = sqrt(p.x * p.x + p.y * p.y);
    double safe = fmax(distance, 1e-9 * geometry->cone.radius);
    double ux = p.x / safe, uy = p.y / safe;
    if (gradient != NULL) {
        *gradient = tpMakeVec3(cosine * ux, cosine * uy, cosine * slope);
    }
    if (hessian != NULL) {
        double c = cosine / safe;
        *hessian = tpMakeMat33(tpMakeVec3(c * (1.0 - ux * ux), -c * ux * uy, 0.0),
                               tpMakeVec3(-c * ux * uy, c * (1.0 - uy * uy), 0.0), tpZeroVec3());
    }
    return cosine * (distance - slope * (half - p.z));
}

static tpVec3 coneNormal(const tpGeometry* geometry, tpVec3 p) {
    tpVec3 gradient;
    tpConeSurface(geometry, 0, p, &gradient, NULL);
    return tpNormalize(gradient);
}

// x^2 + y^2 <= (slope (half - z))^2 below the tip: with z = z0 + t dz a quadratic A t^2 + 2 B t + C
// <= 0.
bool tpConeClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    *clip = tpWholeLine();
    double half = 0.5 * geometry->cone.length,
           slope = geometry->cone.radius / geometry->cone.length;
    double height = slope * (half - origin.z), fall = -slope * direction.z;
    double A = direction.x * direction.x + direction.y * direction.y - fall * fall;
    double B = direction.x * origin.x + direction.y * origin.y - fall * height;
    double C = origin.x * origin.x + origin.y * origin.y - height * height;
    if (!clipBySlab(clip, half, origin, direction)) {
        return false;
    }
    double discriminant = B * B - A * C;
    if (discriminant < 0.0 && A >= 0.0) {
        return false;
    }
    // Roots without cancellation. A line steeper than the side (A < 0) always meets the double
    // cone, and one parallel to it (A = 0) has a root at infinity, of the other half.
    double q = -(B + copysign(sqrt(fmax(discriminant, 0.0)), B));
    if (q == 0.0 && A == 0.0) {
        return C <= 0.0;
    }
    double one = A != 0.0 ? q / A : copysign(HUGE_VAL, -q), two = q != 0.0 ? C / q : one;
    double low = fmin(one, two), high = fmax(one, two);
    bool between = A > 0.0; // otherwise outside the roots, on the side of the base
    if (between || direction.z <= 0.0) {
        double t = between ? low : high;
        raiseEnter(clip, t, coneNormal(geometry, tpMulAdd(origin, t, direction)));
    }
    if (between || direction.z > 0.0) {
        double t = between ? high : low;
        lowerLeave(clip, t, coneNormal(geometry, tpMulAdd(origin, t, direction)));
    }
    return clip->enter <= clip->leave;
}
