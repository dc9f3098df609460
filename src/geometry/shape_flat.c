// Boxes, hulls (and prisms), and planes: shapes with linear inequalities.

#include "geometry/hull.h"
#include "geometry/shape_kinds.h"

tpBounds tpTransformBounds(tpBounds bounds, tpPose pose) {
    tpVec3 center = tpTransformPoint(pose, tpScale(0.5, tpAdd(bounds.lower, bounds.upper)));
    tpVec3 half = tpScale(0.5, tpSub(bounds.upper, bounds.lower));
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpVec3 extent =
        tpAdd(tpScale(half.x, tpAbsVec3(turn.cx)),
              tpAdd(tpScale(half.y, tpAbsVec3(turn.cy)), tpScale(half.z, tpAbsVec3(turn.cz))));
    return (tpBounds){ tpSub(center, extent), tpAdd(center, extent) };
}

bool tpClipByPlane(tpLineClip* clip, tpVec3 normal, double offset, tpVec3 origin,
                   tpVec3 direction) {
    double height = tpDot(normal, origin) - offset;
    double rate = tpDot(normal, direction);
    if (rate == 0.0) {
        return height <= 0.0;
    }
    double t = -height / rate;
    if (rate > 0.0) {
        if (t < clip->leave) {
            clip->leave = t;
            clip->leaveNormal = normal;
        }
    } else if (t > clip->enter) {
        clip->enter = t;
        clip->enterNormal = normal;
    }
    return clip->enter <= clip->leave;
}

static double linearSurface(tpVec3 normal, double offset, tpVec3 p, tpVec3* gradient,
                            tpMat33* hessian) {
    if (gradient != NULL) {
        *gradient = normal;
    }
    if (hessian != NULL) {
        *hessian = tpZeroMat33();
    }
    return tpDot(normal, p) - offset;
}

// Box -----------------------------------------------------------------------------------------

tpBounds tpBoxBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 half = tpScale(0.5, geometry->box.size);
    return tpTransformBounds((tpBounds){ tpNeg(half), half }, pose);
}

tpVec3 tpBoxSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 half = tpScale(0.5, geometry->box.size);
    return tpMakeVec3(copysign(half.x, direction.x), copysign(half.y, direction.y),
                      copysign(half.z, direction.z));
}

tpResult tpBoxMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    tpVec3 s = geometry->box.size;
    tpVec3 squares = tpMulParts(s, s);
    out->mass = s.x * s.y * s.z;
    out->center = tpZeroVec3();
    out->inertia = tpDiagonal(
        tpScale(out->mass / 12.0,
                tpMakeVec3(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y)));
    return tp_success;
}

double tpBoxRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(tpMulAdd(tpAbsVec3(point), 0.5, geometry->box.size));
}

int tpBoxSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 6;
}

// In the order of tpBoxHull's faces: +x, -x, +y, -y, +z, -z.
static tpVec3 boxNormal(int face) {
    double sign = face % 2 == 0 ? 1.0 : -1.0;
    return tpMakeVec3(face / 2 == 0 ? sign : 0.0, face / 2 == 1 ? sign : 0.0,
                      face / 2 == 2 ? sign : 0.0);
}

static double boxOffset(tpVec3 size, int face) {
    return 0.5 * (face / 2 == 0 ? size.x : face / 2 == 1 ? size.y : size.z);
}

double tpBoxSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                    tpMat33* hessian) {
    return linearSurface(boxNormal(k), boxOffset(geometry->box.size, k), p, gradient, hessian);
}

bool tpBoxClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    *clip = tpWholeLine();
    for (int face = 0; face < 6; ++face) {
        if (!tpClipByPlane(clip, boxNormal(face), boxOffset(geometry->box.size, face), origin,
                           direction)) {
            return false;
        }
    }
    return true;
}

// Hull ----------------------------------------------------------------------------------------

// Hulls larger than this find their extent by climbing rather than by visiting every vertex.
enum { climbLimit = 64 };

static tpBounds boundsByScan(const tpHull* hull, tpMat33 turn) {
    tpVec3 first = tpMulMV(turn, hull->vertices[0]);
    tpBounds bounds = { first, first };
    for (int32_t i = 1; i < hull->vertexCount; ++i) {
        tpVec3 p = tpMulMV(turn, hull->vertices[i]);
        bounds.lower = tpMinVec3(bounds.lower, p);
        bounds.upper = tpMaxVec3(bounds.upper, p);
    }
    return bounds;
}

static tpBounds boundsByClimb(const tpHull* hull, tpMat33 turn) {
    tpMat33 rows = tpTranspose(turn);
    const tpVec3 axes[3] = { rows.cx, rows.cy, rows.cz };
    double lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
        upper[k] = tpDot(axes[k], hull->vertices[tpHull_Support(hull, axes[k], -1)]);
        lower[k] = tpDot(axes[k], hull->vertices[tpHull_Support(hull, tpNeg(axes[k]), -1)]);
    }
    return (tpBounds){ tpMakeVec3(lower[0], lower[1], lower[2]),
                       tpMakeVec3(upper[0], upper[1], upper[2]) };
}

tpBounds tpHullBounds(const tpGeometry* geometry, tpPose pose) {
    const tpHull* hull = geometry->hull;
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpBounds b =
        hull->vertexCount > climbLimit ? boundsByClimb(hull, turn) : boundsByScan(hull, turn);
    return (tpBounds){ tpAdd(pose.position, b.lower), tpAdd(pose.position, b.upper) };
}

tpVec3 tpHullSupport(const tpGeometry* geometry, tpVec3 direction) {
    return geometry->hull->vertices[tpHull_Support(geometry->hull, direction, -1)];
}

tpResult tpHullMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    *out = geometry->hull->mass;
    return tp_success;
}

// Exact for small hulls, and for large ones about their centre; elsewhere a bound.
double tpHullRadius(const tpGeometry* geometry, tpVec3 point) {
    const tpHull* hull = geometry->hull;
    if (hull->vertexCount > climbLimit) {
        return tpDistanceBetween(point, hull->center) + hull->radius;
    }
    double radius = 0.0;
    for (int32_t i = 0; i < hull->vertexCount; ++i) {
        radius = fmax(radius, tpDistanceBetween(point, hull->vertices[i]));
    }
    return radius;
}

int tpHullSurfaceCount(const tpGeometry* geometry) {
    return geometry->hull->faceCount;
}

double tpHullSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                     tpMat33* hessian) {
    return linearSurface(geometry->hull->normals[k], geometry->hull->offsets[k], p, gradient,
                         hessian);
}

bool tpHullClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    const tpHull* hull = geometry->hull;
    *clip = tpWholeLine();
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        if (!tpClipByPlane(clip, hull->normals[f], hull->offsets[f], origin, direction)) {
            return false;
        }
    }
    return true;
}

// Plane ---------------------------------------------------------------------------------------

// A half space is bounded on one side where its normal is along an axis, else not at all.
tpBounds tpPlaneBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 n = tpRotate(pose.rotation, geometry->plane.normal);
    double offset = geometry->plane.offset + tpDot(n, pose.position);
    double along[3] = { n.x, n.y, n.z };
    double lower[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    double upper[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL };
    for (int k = 0; k < 3; ++k) {
        if (along[k] == 1.0) {
            upper[k] = offset;
        } else if (along[k] == -1.0) {
            lower[k] = -offset;
        }
    }
    return (tpBounds){ tpMakeVec3(lower[0], lower[1], lower[2]),
                       tpMakeVec3(upper[0], upper[1], upper[2]) };
}

double tpPlaneRadius(const tpGeometry* geometry, tpVec3 point) {
    (void)geometry;
    (void)point;
    return HUGE_VAL;
}

double tpPlaneSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian) {
    (void)k;
    return linearSurface(geometry->plane.normal, geometry->plane.offset, p, gradient, hessian);
}

bool tpPlaneClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                     tpLineClip* clip) {
    *clip = tpWholeLine();
    return tpClipByPlane(clip, geometry->plane.normal, geometry->plane.offset, origin, direction);
}
