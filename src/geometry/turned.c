// Bodies of revolution about z between two caps: cylinders, and cones, whose second cap is a tip.
//
// Elements are found in the half plane of the distance from the axis, r, and z:
//
//        z                              z
//        |  top                         o tip
//        |------o rim                   | .
//        |      |                       |   .  side
//        |      | side                  |-----o rim
//        +---------- r                  | base

#include "base/constants.h"
#include "geometry/shape_parts.h"
#include "math/elementary.h"

// A cap lies flat below this: 1 minus the cosine of its tilt, some 1e-6 rad.
static const double leastTilt = 1e-12;

tpVec3 tpDiscExtent(double r, tpVec3 axis) {
    return tpMakeVec3(r * sqrt(fmax(0.0, (1.0 - axis.x) * (1.0 + axis.x))),
                      r * sqrt(fmax(0.0, (1.0 - axis.y) * (1.0 + axis.y))),
                      r * sqrt(fmax(0.0, (1.0 - axis.z) * (1.0 + axis.z))));
}

tpVec3 tpDiscSupport(double r, tpVec3 direction) {
    if (direction.x == 0.0 && direction.y == 0.0) {
        return tpZeroVec3();
    }
    return tpScale(r, tpNormalize(tpMakeVec3(direction.x, direction.y, 0.0)));
}

// Elements --------------------------------------------------------------------------------------

tpMeridian tpMeridianOf(tpVec3 p) {
    double r = sqrt(p.x * p.x + p.y * p.y);
    tpMeridian m = { r > 0.0 ? tpMakeVec3(p.x / r, p.y / r, 0.0) : tpMakeVec3(1.0, 0.0, 0.0), r,
                     p.z };
    return m;
}

tpVec3 tpMeridian_Point(const tpMeridian* m, double r, double z) {
    return tpMakeVec3(r * m->out.x, r * m->out.y, z);
}

tpCurvature tpMeridian_Curvature(const tpMeridian* m, double around, double across) {
    return (tpCurvature){ tpMakeVec3(-m->out.y, m->out.x, 0.0), around, across };
}

void tpRimElement(const tpMeridian* m, double radius, double z, tpElement* out) {
    double dr = m->r - radius, dz = m->z - z, length = tpHypot(dr, dz);
    out->point = tpMeridian_Point(m, radius, z);
    out->normal = tpMeridian_Point(m, dr / length, dz / length);
    out->curvature = tpMeridian_Curvature(m, dr / length / radius, INFINITY);
}

void tpDiskElement(tpVec3 p, double z, double side, tpElement* out) {
    out->point = tpMakeVec3(p.x, p.y, z);
    out->normal = tpMakeVec3(0.0, 0.0, side);
    out->curvature = tp_flatCurvature;
}

// Facets, outlines and lines ----------------------------------------------------------------------

// Points of a rim, fixed to the body.
static int addRim(tpPose pose, double radius, double height, tpVec3* points, int32_t* ids) {
    static const double cosines[tp_rimPoints] = { 1.0,  0.70710678118654752,
                                                  0.0,  -0.70710678118654752,
                                                  -1.0, -0.70710678118654752,
                                                  0.0,  0.70710678118654752 };
    for (int i = 0; i < tp_rimPoints; ++i) {
        double c = cosines[i], s = cosines[(i + 6) % tp_rimPoints];
        points[i] = tpTransformPoint(pose, tpMakeVec3(radius * c, radius * s, height));
        ids[i] = i;
    }
    return tp_rimPoints;
}

bool tpTurnedFacet(const tpTurned* shape, tpPose pose, tpVec3 direction, tpFacet* out) {
    double axial = tpUnrotate(pose.rotation, direction).z;
    int end = axial > 0.0 ? 1 : 0;
    if (shape->radius[end] <= 0.0) {
        return false;
    }
    double height = end == 1 ? shape->half : -shape->half;
    out->cosine = fabs(axial);
    out->normal = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, end == 1 ? 1.0 : -1.0));
    out->center = tpTransformPoint(pose, tpMakeVec3(0.0, 0.0, height));
    out->radius = shape->radius[end];
    out->count = addRim(pose, out->radius, height, out->corners, out->ids);
    return true;
}

// The generator that is lowest: its two ends are the lowest points of both rims.
static void lowestGenerator(const tpTurned* shape, tpPose pose, tpVec3 direction, tpVec3 ends[2]) {
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    double across = sqrt(local.x * local.x + local.y * local.y);
    double x = across > 0.0 ? local.x / across : 1.0, y = across > 0.0 ? local.y / across : 0.0;
    for (int end = 0; end < 2; ++end) {
        double r = shape->radius[end], z = end == 1 ? shape->half : -shape->half;
        ends[end] = tpTransformPoint(pose, tpMakeVec3(r * x, r * y, z));
    }
}

// A generator within 20 degrees of the plane shows both its ends; a cap that looks towards the
// plane shows its rim, and the rim's lowest point if that is none of the fixed ones.
bool tpTurnedOutline(const tpTurned* shape, tpPose pose, tpVec3 normal, tpOutline* out) {
    tpVec3 ends[2], down = tpNeg(normal);
    lowestGenerator(shape, pose, down, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    bool isLying = fabs(tpDot(along, normal)) <= TP_FACING_SINE * tpLength(along);
    tpFillSegmentOutline(out, ends, 0.0);
    if (!isLying) {
        out->count = out->segmentCount = 0;
    }
    tpFacet cap;
    int low = tpDot(normal, along) < 0.0 ? 1 : 0;
    if (!tpTurnedFacet(shape, pose, down, &cap) || cap.cosine < TP_FACING_SINE) {
        out->points[0] = ends[isLying ? 0 : low];
        out->count = isLying ? 2 : 1;
        return true;
    }
    double lowest = tpDot(normal, cap.corners[0]);
    for (int i = 1; i < cap.count; ++i) {
        lowest = fmin(lowest, tpDot(normal, cap.corners[i]));
    }
    // The lowest point has a name of its own wherever it runs, also where a fixed point is. A cap
    // that lies flat has none.
    bool isBetween = !isLying && tpDot(normal, ends[low]) < lowest - 1e-9 * cap.radius;
    bool isFixed = !isLying && !isBetween && 1.0 - cap.cosine > leastTilt;
    if (isBetween) {
        out->points[out->count++] = ends[low];
    }
    out->rimRadius = cap.radius;
    out->rimCenter = cap.center;
    out->rimAxis = cap.normal;
    for (int i = 0; i < cap.count; ++i) {
        bool isThere = isFixed && tpDot(normal, cap.corners[i]) == lowest;
        isFixed = isFixed && !isThere;
        out->ids[out->count] = isThere ? tp_lowestRim : cap.ids[i];
        out->points[out->count++] = cap.corners[i];
    }
    return true;
}

bool tpTurnedLine(const tpTurned* shape, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                  double* radius) {
    *radius = 0.0;
    lowestGenerator(shape, pose, direction, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    return fabs(tpDot(along, direction)) <= TP_ACROSS_SINE * tpLength(along);
}
