// Cylinders and cones about z.
//
// The element nearest to a point p and a normal n is that of the projection of p + size n, which is a
// problem in the half plane of the distance from the axis, r, and z:
//
//        z                              z
//        |  top                         o tip
//        |------o rim                   | .
//        |      |                       |   .  side
//        |      | side                  |-----o rim
//        +---------- r                  | base

#include "collision/smooth_body.h"
#include "math/elementary.h"

static const tpCurvature flat = { { 0.0, 0.0, 0.0 }, 0.0, 0.0 };

// The point of the half plane as (unit direction from the axis, r, z).
typedef struct {
    tpVec3 out; // unit, x on the axis
    double r, z;
} Meridian;

static Meridian meridianOf(tpVec3 p) {
    double r = sqrt(p.x * p.x + p.y * p.y);
    Meridian m = { r > 0.0 ? tpMakeVec3(p.x / r, p.y / r, 0.0) : tpMakeVec3(1.0, 0.0, 0.0), r,
                   p.z };
    return m;
}

static tpVec3 pointAt(const Meridian* m, double r, double z) {
    return tpMakeVec3(r * m->out.x, r * m->out.y, z);
}

// Around the axis the curvature is that of the circle, times the part of the normal that leaves it.
static tpCurvature aroundAxis(const Meridian* m, double around, double across) {
    tpCurvature c = { tpMakeVec3(-m->out.y, m->out.x, 0.0), around, across };
    return c;
}

static void rimElement(const Meridian* m, double radius, double z, tpElement* out) {
    double dr = m->r - radius, dz = m->z - z, length = tpHypot(dr, dz);
    out->point = pointAt(m, radius, z);
    out->normal = pointAt(m, dr / length, dz / length);
    out->curvature = aroundAxis(m, dr / length / radius, INFINITY);
}

static void diskElement(tpVec3 p, double z, double side, tpElement* out) {
    out->point = tpMakeVec3(p.x, p.y, z);
    out->normal = tpMakeVec3(0.0, 0.0, side);
    out->curvature = flat;
}

static tpVec3 cylinderSupport(tpSmoothBody* body, tpVec3 direction) {
    Meridian m = meridianOf(direction);
    return pointAt(&m, body->radius, copysign(body->half.z, direction.z));
}

static void cylinderElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = tpMulAdd(point, body->size, normal);
    Meridian m = meridianOf(offset);
    double top = copysign(body->half.z, m.z);
    bool beside = m.r > body->radius, beyond = fabs(m.z) > body->half.z;
    // An offset point inside can only come from a start that is far off: take the nearer surface.
    if (!beside && !beyond) {
        beyond = body->half.z - fabs(m.z) < body->radius - m.r;
        beside = !beyond;
    }
    if (beside && beyond) {
        rimElement(&m, body->radius, top, out);
    } else if (beyond) {
        diskElement(offset, top, copysign(1.0, top), out);
    } else {
        out->point = pointAt(&m, body->radius, m.z);
        out->normal = m.out;
        out->curvature = aroundAxis(&m, 1.0 / body->radius, 0.0);
    }
}

const tpCoreClass tp_cylinderCore = { cylinderSupport, cylinderElement };

// The base is at -half.z, the tip at half.z.
static tpVec3 coneSupport(tpSmoothBody* body, tpVec3 direction) {
    Meridian m = meridianOf(direction);
    if (2.0 * body->half.z * direction.z >= body->radius * m.r) {
        return tpMakeVec3(0.0, 0.0, body->half.z);
    }
    return pointAt(&m, body->radius, -body->half.z);
}

static void coneElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = tpMulAdd(point, body->size, normal);
    Meridian m = meridianOf(offset);
    // The side leads from the rim to the tip along (-radius, height) / slant.
    double height = 2.0 * body->half.z, slant = tpHypot(body->radius, height);
    double dr = -body->radius / slant, dz = height / slant;
    double along = (m.r - body->radius) * dr + (m.z + body->half.z) * dz;
    double above = (m.r - body->radius) * dz - (m.z + body->half.z) * dr;
    double below = -body->half.z - m.z;
    if (below >= 0.0 && m.r <= body->radius) {
        diskElement(offset, -body->half.z, -1.0, out);
    } else if (along <= 0.0) {
        rimElement(&m, body->radius, -body->half.z, out);
    } else if (along >= slant) {
        out->point = tpMakeVec3(0.0, 0.0, body->half.z);
        tpVec3 d = tpSub(offset, out->point);
        out->normal = tpLengthSquared(d) > 0.0 ? tpNormalize(d) : normal;
        out->curvature = (tpCurvature){ tpZeroVec3(), INFINITY, INFINITY };
    } else if (above < 0.0 && below > above) {
        diskElement(offset, -body->half.z, -1.0, out);
    } else {
        double r = body->radius + along * dr;
        out->point = pointAt(&m, r, -body->half.z + along * dz);
        out->normal = pointAt(&m, dz, -dr);
        out->curvature = aroundAxis(&m, dz / r, 0.0);
    }
}

const tpCoreClass tp_coneCore = { coneSupport, coneElement };
