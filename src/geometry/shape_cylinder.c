// Cylinders, with their axis along z.

#include "base/assert.h"
#include "base/constants.h"
#include "geometry/shape_parts.h"

static tpResult checkCylinder(tpGeometry* geometry, tpError* error) {
    tpCylinder* c = &geometry->cylinder;
    return tpCheckAxial(c->radius, c->length, false, &c->axis, &geometry->pose, error);
}

tpResult tpMakeCylinder(const tpCylinder* cylinder, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(cylinder, tp_badInput);
    tpGeometry given = { .type = tp_cylinderShape, .pose = pose, .cylinder = *cylinder };
    return tpMakeFromNumbers(&given, out, error);
}

static tpBounds cylinderBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 axis = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 half = tpAdd(tpAbsVec3(tpScale(0.5 * geometry->cylinder.length, axis)),
                        tpDiscExtent(geometry->cylinder.radius, axis));
    return tpBoundsAbout(pose.position, half);
}

static tpVec3 cylinderSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 p = tpDiscSupport(geometry->cylinder.radius, direction);
    p.z = copysign(0.5 * geometry->cylinder.length, direction.z);
    return p;
}

static tpResult cylinderMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->cylinder.radius, l = geometry->cylinder.length;
    out->mass = TP_PI * r * r * l;
    out->center = tpZeroVec3();
    double across = out->mass * (3.0 * r * r + l * l) / 12.0;
    out->inertia = tpDiagonal(tpMakeVec3(across, across, 0.5 * out->mass * r * r));
    return tp_success;
}

static double cylinderRadius(const tpGeometry* geometry, tpVec3 point) {
    double radial = sqrt(point.x * point.x + point.y * point.y) + geometry->cylinder.radius;
    double axial = fabs(point.z) + 0.5 * geometry->cylinder.length;
    return sqrt(radial * radial + axial * axial);
}

static int cylinderSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 3;
}

static double cylinderSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                              tpMat33* hessian) {
    double r = geometry->cylinder.radius;
    if (k > 0) {
        tpVec3 end = tpMakeVec3(0.0, 0.0, k == 1 ? 1.0 : -1.0);
        return tpLinearSurface(end, 0.5 * geometry->cylinder.length, p, gradient, hessian);
    }
    if (gradient != NULL) {
        *gradient = tpMakeVec3(p.x / r, p.y / r, 0.0);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, 0.0));
    }
    double distance = sqrt(p.x * p.x + p.y * p.y);
    return (distance - r) * (distance + r) / (2.0 * r);
}

bool tpClipByCylinder(double r, double half, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    *clip = tpWholeLine();
    double speed = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (speed > 0.0) {
        double ux = direction.x / speed, uy = direction.y / speed;
        double middle = -(origin.x * ux + origin.y * uy);
        double nearest = fabs(origin.x * uy - origin.y * ux);
        if (nearest > r) {
            return false;
        }
        double reach = sqrt((r - nearest) * (r + nearest));
        double enter = (middle - reach) / speed, leave = (middle + reach) / speed;
        tpVec3 first = tpMulAdd(origin, enter, direction);
        tpVec3 last = tpMulAdd(origin, leave, direction);
        tpRaiseEnter(clip, enter, tpNormalize(tpMakeVec3(first.x, first.y, 0.0)));
        tpLowerLeave(clip, leave, tpNormalize(tpMakeVec3(last.x, last.y, 0.0)));
    } else if (origin.x * origin.x + origin.y * origin.y > r * r) {
        return false;
    }
    return tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, 1.0), half, origin, direction) &&
           tpClipByPlane(clip, tpMakeVec3(0.0, 0.0, -1.0), half, origin, direction);
}

static bool cylinderClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                             tpLineClip* clip) {
    return tpClipByCylinder(geometry->cylinder.radius, 0.5 * geometry->cylinder.length, origin,
                            direction, clip);
}

// The smooth core ---------------------------------------------------------------------------------

static tpVec3 coreSupport(tpSmoothCore* core, tpVec3 direction) {
    tpMeridian m = tpMeridianOf(direction);
    return tpMeridian_Point(&m, core->radius, copysign(core->half.z, direction.z));
}

static void coreElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = tpMulAdd(point, core->size, normal);
    tpMeridian m = tpMeridianOf(offset);
    double top = copysign(core->half.z, m.z);
    bool beside = m.r > core->radius, beyond = fabs(m.z) > core->half.z;
    // An offset point inside can only come from a start that is far off: take the nearer surface.
    if (!beside && !beyond) {
        beyond = core->half.z - fabs(m.z) < core->radius - m.r;
        beside = !beyond;
    }
    if (beside && beyond) {
        tpRimElement(&m, core->radius, top, out);
    } else if (beyond) {
        tpDiskElement(offset, top, copysign(1.0, top), out);
    } else {
        out->point = tpMeridian_Point(&m, core->radius, m.z);
        out->normal = m.out;
        out->curvature = tpMeridian_Curvature(&m, 1.0 / core->radius, 0.0);
    }
}

static const tpSmoothCoreClass cylinderCore = { coreSupport, coreElement };

static void cylinderSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &cylinderCore;
    out->half.z = 0.5 * geometry->cylinder.length;
    out->radius = geometry->cylinder.radius;
    out->size = out->radius + out->half.z;
    out->innerRadius = fmin(out->radius, out->half.z);
}

static void cylinderNearest(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    if (tpNearestOutside(geometry, p, out)) {
        return;
    }
    out->distance = -INFINITY;
    tpTryNearestPlane(p, tpMeridianOf(p).out, geometry->cylinder.radius, out);
    tpTryNearestPlane(p, tpMakeVec3(0.0, 0.0, copysign(1.0, p.z)), 0.5 * geometry->cylinder.length,
                      out);
    tpFinishNearest(geometry, out);
}

// A cylinder that lies on its side: the feature is a point of the axis, a radius away.
static double cylinderFeatureRadius(const tpGeometry* geometry, tpVec3 normal) {
    return fabs(normal.z) < 0.02 ? geometry->cylinder.radius : 0.0;
}

// Facets, outlines and lines ----------------------------------------------------------------------

static tpTurned turnedOf(const tpGeometry* geometry) {
    double r = geometry->cylinder.radius;
    return (tpTurned){ { r, r }, 0.5 * geometry->cylinder.length };
}

static bool cylinderFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedFacet(&turned, pose, direction, out);
}

static bool cylinderOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal,
                            tpOutline* out) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedOutline(&turned, pose, normal, out);
}

static bool cylinderLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                         double* radius) {
    tpTurned turned = turnedOf(geometry);
    return tpTurnedLine(&turned, pose, direction, ends, radius);
}

const tpShapeClass tp_cylinderClass = {
    .name = "cylinder",
    .kind = tp_roundKind,
    .isConvex = true,
    .isCurved = true,
    .numbers = { TP_SHAPE_NUMBER("radius", cylinder.radius),
                 TP_SHAPE_NUMBER("length", cylinder.length), TP_SHAPE_AXIS(cylinder.axis) },
    .numberCount = 3,
    .check = checkCylinder,
    .bounds = cylinderBounds,
    .support = cylinderSupport,
    .mass = cylinderMass,
    .radius = cylinderRadius,
    .surfaceCount = cylinderSurfaceCount,
    .surface = cylinderSurface,
    .clipLine = cylinderClipLine,
    .smoothCore = cylinderSmoothCore,
    .nearest = cylinderNearest,
    .featureRadius = cylinderFeatureRadius,
    .facet = cylinderFacet,
    .outline = cylinderOutline,
    .line = cylinderLine,
};
