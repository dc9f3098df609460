// The table of shapes, and the functions that dispatch through it.

#include "base/assert.h"
#include "base/error.h"
#include "geometry/height_field.h"
#include "geometry/mass.h"
#include "geometry/shape_parts.h"

const tpShapeClass* const tp_shapeClasses[tp_shapeTypeCount] = {
    [tp_sphereShape] = &tp_sphereClass,
    [tp_boxShape] = &tp_boxClass,
    [tp_roundedBoxShape] = &tp_roundedBoxClass,
    [tp_capsuleShape] = &tp_capsuleClass,
    [tp_cylinderShape] = &tp_cylinderClass,
    [tp_coneShape] = &tp_coneClass,
    [tp_prismShape] = &tp_prismClass,
    [tp_ellipsoidShape] = &tp_ellipsoidClass,
    [tp_superellipsoidShape] = &tp_superellipsoidClass,
    [tp_hullShape] = &tp_hullClass,
    [tp_meshShape] = &tp_meshClass,
    [tp_heightFieldShape] = &tp_heightFieldClass,
    [tp_planeShape] = &tp_planeClass,
    [tp_intersectionShape] = &tp_intersectionClass,
    [tp_implicitShape] = &tp_implicitClass,
};

const char* tpShapeTypeName(tpShapeType type) {
    bool isKnown = (int)type >= 0 &&
                   (size_t)type < sizeof(tp_shapeClasses) / sizeof(*tp_shapeClasses) &&
                   tp_shapeClasses[type] != NULL;
    return TP_REQUIRE(isKnown, "type", "is %d", (int)type) ? tp_shapeClasses[type]->name : "";
}

bool tpGeometry_IsConvex(const tpGeometry* geometry) {
    TP_NEED(geometry, false);
    return tpClassOf(geometry)->isConvex;
}

tpBounds tpGeometry_Bounds(const tpGeometry* geometry, tpPose body) {
    TP_NEED(geometry, (tpBounds){ 0 });
    return tpClassOf(geometry)->bounds(geometry, tpGeometry_Pose(geometry, body));
}

tpVec3 tpGeometry_Support(const tpGeometry* geometry, tpVec3 direction) {
    TP_ASSERT(tpClassOf(geometry)->support != NULL);
    return tpClassOf(geometry)->support(geometry, direction);
}

const tpHull* tpGeometry_Core(const tpGeometry* geometry, tpCoreStorage* storage, double* radius) {
    *radius = 0.0;
    const tpShapeClass* class = tpClassOf(geometry);
    return class->core != NULL ? class->core(geometry, storage, radius) : NULL;
}

double tpGeometry_RadiusAbout(const tpGeometry* geometry, tpVec3 point) {
    return tpClassOf(geometry)->radius(geometry, tpUntransformPoint(geometry->pose, point));
}

double tpGeometry_FeatureRadius(const tpGeometry* geometry, tpVec3 normal) {
    tpCoreStorage storage;
    double radius;
    if (tpClassOf(geometry)->featureRadius != NULL) {
        return tpClassOf(geometry)->featureRadius(geometry, normal);
    }
    tpGeometry_Core(geometry, &storage, &radius);
    return radius;
}

double tpGeometry_InnerRadius(const tpGeometry* geometry) {
    if (tpClassOf(geometry)->innerRadius != NULL) {
        return tpClassOf(geometry)->innerRadius(geometry);
    }
    tpSmoothCore core;
    tpPrepareSmoothCore(geometry, &core);
    return tpSmoothCore_InnerRadius(&core) + core.rounding;
}

double tpGeometry_TurningRadius(const tpGeometry* geometry) {
    tpCoreStorage storage;
    double radius;
    const tpHull* core = tpGeometry_Core(geometry, &storage, &radius);
    if (core != NULL && core->vertexCount == 1) {
        return tpLength(geometry->pose.position);
    }
    return tpGeometry_RadiusAbout(geometry, tpZeroVec3()) - radius;
}

tpResult tpGeometry_Mass(const tpGeometry* geometry, double density, tpMassProperties* out,
                         tpError* error) {
    TP_NEED(geometry, tp_badInput);
    TP_NEED(out, tp_badInput);
    if (tpClassOf(geometry)->mass == NULL) {
        return tpError_Set(error, tp_badInput,
                           "a %s has no finite volume; the mass of its body must be given",
                           tpClassOf(geometry)->name);
    }
    if (!(density > 0.0) || !isfinite(density)) {
        return tpError_Set(error, tp_badInput,
                           "density must be positive and finite, not %.9g kg/m^3", density);
    }
    tpMassProperties unit;
    tpResult result = tpClassOf(geometry)->mass(geometry, &unit, error);
    if (result == tp_success) {
        unit.mass *= density;
        unit.inertia = tpScaleM(density, unit.inertia);
        *out = tpTransformMass(&unit, geometry->pose);
    }
    return result;
}

// Surfaces ------------------------------------------------------------------------------------

int tpSurfaceCount(const tpGeometry* geometry) {
    return tpClassOf(geometry)->surfaceCount != NULL ? tpClassOf(geometry)->surfaceCount(geometry)
                                                     : 0;
}

double tpSurfaceValue(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian) {
    return tpClassOf(geometry)->surface(geometry, k, p, gradient, hessian);
}

double tpSurfaceMaximum(const tpGeometry* geometry, tpVec3 p, int* k) {
    int count = tpSurfaceCount(geometry);
    double most = -HUGE_VAL;
    *k = 0;
    for (int i = 0; i < count; ++i) {
        double value = tpSurfaceValue(geometry, i, p, NULL, NULL);
        if (value > most) {
            most = value;
            *k = i;
        }
    }
    return most;
}

// The line is measured from its point nearest to the shape's origin, in metres: a ray from far away
// loses no digits in the squares of its distance.
bool tpClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    double speed = tpLength(direction);
    if (!(speed > 0.0)) {
        return false;
    }
    tpVec3 unit = tpScale(1.0 / speed, direction);
    double shift = -tpDot(origin, unit);
    tpVec3 nearest = tpMulAdd(origin, shift, unit);
    if (!tpClassOf(geometry)->clipLine(geometry, nearest, unit, clip)) {
        return false;
    }
    clip->enter = (clip->enter + shift) / speed;
    clip->leave = (clip->leave + shift) / speed;
    return true;
}

// Rays ----------------------------------------------------------------------------------------

static bool castAtConvex(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, double limit,
                         tpRayHit* hit) {
    tpLineClip clip;
    if (!tpClipLine(geometry, origin, direction, &clip) || clip.leave < 0.0 || clip.enter > limit) {
        return false;
    }
    hit->startsInside = clip.enter < 0.0;
    hit->t = fmax(clip.enter, 0.0);
    hit->normal = hit->startsInside ? tpNeg(tpNormalize(direction)) : clip.enterNormal;
    hit->triangle = -1;
    return true;
}

// A ray meets the inside of a closed surface when the first triangle on its way faces along it.
// Below a height field everything is inside.
static bool castAtTriangles(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                            double limit, tpRayHit* hit) {
    double t;
    tpVec3 normal;
    double reach = geometry->type == tp_meshShape ? HUGE_VAL : limit;
    int32_t triangle = tpCastRayAtTriangles(geometry, origin, direction, reach, &t, &normal);
    bool inside = triangle >= 0 && tpDot(tpGetTriangle(geometry, triangle).normal, direction) > 0.0;
    if (geometry->type == tp_heightFieldShape) {
        inside = tpHeightField_IsBelow(geometry->heightField, origin);
    }
    hit->startsInside = inside;
    if (inside) {
        hit->t = 0.0;
        hit->normal = tpNeg(tpNormalize(direction));
        hit->triangle = triangle;
        return true;
    }
    double sideT;
    tpVec3 sideNormal;
    if (geometry->type == tp_heightFieldShape &&
        tpHeightField_CastRayAtSides(geometry->heightField, origin, direction, limit, &sideT,
                                     &sideNormal)) {
        t = sideT;
        normal = sideNormal;
        triangle = -1;
    } else if (triangle < 0 || t > limit) {
        return false;
    }
    hit->t = t;
    hit->normal = normal;
    hit->triangle = triangle;
    return true;
}

bool tpGeometry_CastRay(const tpGeometry* geometry, tpPose body, tpVec3 origin, tpVec3 direction,
                        double limit, tpRayHit* hit) {
    tpPose pose = tpGeometry_Pose(geometry, body);
    tpVec3 o = tpUntransformPoint(pose, origin);
    tpVec3 d = tpUnrotate(pose.rotation, direction);
    bool found = tpClassOf(geometry)->isConvex ? castAtConvex(geometry, o, d, limit, hit)
                                               : castAtTriangles(geometry, o, d, limit, hit);
    if (found) {
        hit->point = tpMulAdd(origin, hit->t, direction);
        hit->normal = tpRotate(pose.rotation, hit->normal);
    }
    return found;
}

// Sharing -------------------------------------------------------------------------------------

const void* tpGeometry_Shared(const tpGeometry* geometry) {
    const tpShapeClass* class = tpClassOf(geometry);
    return class->shared != NULL ? class->shared(geometry) : NULL;
}

tpGeometry tpRetainGeometry(const tpGeometry* geometry) {
    TP_NEED(geometry, (tpGeometry){ 0 });
    if (tpClassOf(geometry)->retain != NULL) {
        tpClassOf(geometry)->retain(geometry);
    }
    return *geometry;
}

void tpReleaseGeometry(tpGeometry* geometry) {
    if (geometry == NULL) {
        return;
    }
    if (tpClassOf(geometry)->release != NULL) {
        tpClassOf(geometry)->release(geometry);
    }
}
