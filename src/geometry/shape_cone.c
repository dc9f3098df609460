// Cones, with their axis along z: the base at -length / 2, the tip at length / 2.

#include "base/assert.h"
#include "base/constants.h"
#include "geometry/shape_parts.h"
#include "math/elementary.h"

static tpResult checkCone(tpGeometry* geometry, tpError* error) {
    tpCone* c = &geometry->cone;
    return tpCheckAxial(c->radius, c->length, false, &c->axis, &geometry->pose, error);
}

tpResult tpMakeCone(const tpCone* cone, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(cone, tp_badInput);
    tpGeometry given = { .type = tp_coneShape, .pose = pose, .cone = *cone };
    return tpMakeFromNumbers(&given, out, error);
}

static tpBounds coneBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 axis = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 tip = tpMulAdd(pose.position, 0.5 * geometry->cone.length, axis);
    tpVec3 base = tpMulAdd(pose.position, -0.5 * geometry->cone.length, axis);
    tpVec3 disc = tpDiscExtent(geometry->cone.radius, axis);
    return (tpBounds){ tpMinVec3(tip, tpSub(base, disc)), tpMaxVec3(tip, tpAdd(base, disc)) };
}

static tpVec3 coneSupport(const tpGeometry* geometry, tpVec3 direction) {
    double half = 0.5 * geometry->cone.length;
    double radial = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (direction.z * 2.0 * half > geometry->cone.radius * radial) {
        return tpMakeVec3(0.0, 0.0, half);
    }
    tpVec3 p = tpDiscSupport(geometry->cone.radius, direction);
    p.z = -half;
    return p;
}

// The centre of mass is a quarter of the height above the base.
static tpResult coneMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->cone.radius, l = geometry->cone.length;
    out->mass = TP_PI * r * r * l / 3.0;
    out->center = tpMakeVec3(0.0, 0.0, -0.25 * l);
    double across = out->mass * (3.0 / 20.0 * r * r + 3.0 / 80.0 * l * l);
    out->inertia = tpDiagonal(tpMakeVec3(across, across, 0.3 * out->mass * r * r));
    return tp_success;
}

static double coneRadius(const tpGeometry* geometry, tpVec3 point) {
    double half = 0.5 * geometry->cone.length;
    double distance = sqrt(point.x * point.x + point.y * point.y);
    double rim = tpHypot(distance + geometry->cone.radius, point.z + half);
    return fmax(rim, tpHypot(distance, point.z - half));
}

static int coneSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 2;
}

static double coneSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                          tpMat33* hessian) {
    double half = 0.5 * geometry->cone.length;
    if (k == 1) {
        return tpLinearSurface(tpMakeVec3(0.0, 0.0, -1.0), half, p, gradient, hessian);
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
    coneSurface(geometry, 0, p, &gradient, NULL);
    return tpNormalize(gradient);
}

// x^2 + y^2 <= (slope (half - z))^2 below the tip: with z = z0 + t dz a quadratic A t^2 + 2 B t + C
// <= 0.
static bool coneClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                         tpLineClip* clip) {
    *clip = tpWholeLine();
    double half = 0.5 * geometry->cone.length,
           slope = geometry->cone.radius / geometry->cone.length;
    double height = slope * (half - origin.z), fall = -slope * direction.z;
    double A = direction.x * direction.x + direction.y * direction.y - fall * fall;
    double B = direction.x * origin.x + direction.y * origin.y - fall * height;
    double C = origin.x * origin.x + origin.y * origin.y - height * height;
    if (!tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, 1.0), half, origin, direction) ||
        !tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, -1.0), half, origin, direction)) {
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
        tpRaiseEnter(clip, t, coneNormal(geometry, tpMulAdd(origin, t, direction)));
    }
    if (between || direction.z > 0.0) {
        double t = between ? high : low;
        tpLowerLeave(clip, t, coneNormal(geometry, tpMulAdd(origin, t, direction)));
    }
    return clip->enter <= clip->leave;
}

// The smooth core ---------------------------------------------------------------------------------

static tpVec3 coreSupport(tpSmoothCore* core, tpVec3 direction) {
    tpMeridian m = tpMeridianOf(direction);
    if (2.0 * core->half.z * direction.z >= core->radius * m.r) {
        return tpMakeVec3(0.0, 0.0, core->half.z);
    }
    return tpMeridian_Point(&m, core->radius, -core->half.z);
}

static void coreElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = tpMulAdd(point, core->size, normal);
    tpMeridian m = tpMeridianOf(offset);
    // The side leads from the rim to the tip along (-radius, height) / slant.
    double height = 2.0 * core->half.z, slant = tpHypot(core->radius, height);
    double dr = -core->radius / slant, dz = height / slant;
    double along = (m.r - core->radius) * dr + (m.z + core->half.z) * dz;
    double above = (m.r - core->radius) * dz - (m.z + core->half.z) * dr;
    double below = -core->half.z - m.z;
    if (below >= 0.0 && m.r <= core->radius) {
        tpDiskElement(offset, -core->half.z, -1.0, out);
    } else if (along <= 0.0) {
        tpRimElement(&m, core->radius, -core->half.z, out);
    } else if (along >= slant) {
        out->point = tpMakeVec3(0.0, 0.0, core->half.z);
        tpVec3 d = tpSub(offset, out->point);
        out->normal = tpLengthSquared(d) > 0.0 ? tpNormalize(d) : normal;
        out->curvature = tp_sharpCurvature;
    } else if (above < 0.0 && below > above) {
        tpDiskElement(offset, -core->half.z, -1.0, out);
    } else {
        double r = core->radius + along * dr;
        out->point = tpMeridian_Point(&m, r, -core->half.z + along * dz);
        out->normal = tpMeridian_Point(&m, dz, -dr);
        out->curvature = tpMeridian_Curvature(&m, dz / r, 0.0);
    }
}

static const tpSmoothCoreClass coneCore = { coreSupport, coreElement };

static void coneSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &coneCore;
    out->half.z = 0.5 * geometry->cone.length;
    out->radius = geometry->cone.radius;
    out->center.z = -0.5 * out->half.z;
    out->size = out->radius + out->half.z;
}

static void coneNearest(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    if (tpNearestOutside(geometry, p, out)) {
        return;
    }
    tpVec3 radial = tpMeridianOf(p).out;
    double r = geometry->cone.radius, height = geometry->cone.length, slant = tpHypot(r, height);
    tpVec3 n = tpMakeVec3(radial.x * height / slant, radial.y * height / slant, r / slant);
    out->distance = -INFINITY;
    tpTryNearestPlane(p, n, n.z * 0.5 * height, out);
    tpTryNearestPlane(p, tpMakeVec3(0.0, 0.0, -1.0), 0.5 * height, out);
    tpFinishNearest(geometry, out);
}

// Facets, outlines and lines ----------------------------------------------------------------------

static tpTurned turnedOf(const tpGeometry* geometry) {
    return (tpTurned){ { geometry->cone.radius, 0.0 }, 0.5 * geometry->cone.length };
}

static bool coneFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedFacet(&turned, pose, direction, out);
}

static bool coneOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedOutline(&turned, pose, normal, out);
}

static bool coneLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                     double* radius) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedLine(&turned, pose, direction, ends, radius);
}

const tpShapeClass tp_coneClass = {
    .name = "cone",
    .kind = tp_roundKind,
    .isConvex = true,
    .isCurved = true,
    .numbers = { TP_SHAPE_NUMBER("radius", cone.radius), TP_SHAPE_NUMBER("length", cone.length),
                 TP_SHAPE_AXIS(cone.axis) },
    .numberCount = 3,
    .check = checkCone,
    .bounds = coneBounds,
    .support = coneSupport,
    .mass = coneMass,
    .radius = coneRadius,
    .surfaceCount = coneSurfaceCount,
    .surface = coneSurface,
    .clipLine = coneClipLine,
    .smoothCore = coneSmoothCore,
    .nearest = coneNearest,
    .facet = coneFacet,
    .outline = coneOutline,
    .line = coneLine,
};
