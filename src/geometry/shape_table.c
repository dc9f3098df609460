// The table of shapes, and the functions that dispatch through it.

#include "base/assert.h"
#include "base/error.h"
#include "geometry/height_field.h"
#include "geometry/hull.h"
#include "geometry/intersection.h"
#include "geometry/mass.h"
#include "geometry/mesh.h"
#include "geometry/shape_kinds.h"

int tpOneSurface(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

#define CONVEX(name, isPolyhedral, kind)                                                           \
    {                                                                                              \
        name, true, isPolyhedral, tp##kind##Bounds, tp##kind##Support, tp##kind##Mass,             \
            tp##kind##Radius, tp##kind##SurfaceCount, tp##kind##Surface, tp##kind##ClipLine        \
    }

// clang-format off
const tpShapeClass tp_shapeClasses[tp_shapeTypeCount] = {
    //                               name              polyhedral  functions
    [tp_sphereShape]         = CONVEX("sphere",         false,     Sphere),
    [tp_boxShape]            = CONVEX("box",            true,      Box),
    [tp_capsuleShape]        = CONVEX("capsule",        false,     Capsule),
    [tp_cylinderShape]       = CONVEX("cylinder",       false,     Cylinder),
    [tp_coneShape]           = CONVEX("cone",           false,     Cone),
    [tp_prismShape]          = CONVEX("prism",          true,      Hull),
    [tp_ellipsoidShape]      = CONVEX("ellipsoid",      false,     Ellipsoid),
    [tp_superellipsoidShape] = CONVEX("superellipsoid", false,     Superellipsoid),
    [tp_hullShape]           = CONVEX("hull",           true,      Hull),
    [tp_intersectionShape]   = CONVEX("intersection",   false,     Intersection),
    [tp_implicitShape]       = CONVEX("implicit",       false,     Implicit),
    [tp_meshShape]           = { "mesh", false, false, tpMeshBounds, NULL, tpMeshMass, tpMeshRadius,
                                 NULL, NULL, NULL },
    [tp_heightFieldShape]    = { "heightfield", false, false, tpHeightFieldBounds, NULL, NULL,
                                 tpHeightFieldRadius, NULL, NULL, NULL },
    [tp_planeShape]          = { "plane", true, false, tpPlaneBounds, NULL, NULL, tpPlaneRadius,
                                 tpOneSurface, tpPlaneSurface, tpPlaneClipLine },
};
// clang-format on

static const tpShapeClass* classOf(const tpGeometry* geometry) {
    return &tp_shapeClasses[geometry->type];
}

const char* tpShapeTypeName(tpShapeType type) {
    return tp_shapeClasses[type].name;
}

bool tpGeometry_IsConvex(const tpGeometry* geometry) {
    return classOf(geometry)->isConvex;
}

tpBounds tpGeometry_Bounds(const tpGeometry* geometry, tpPose body) {
    return classOf(geometry)->bounds(geometry, tpGeometry_Pose(geometry, body));
}

tpVec3 tpGeometry_Support(const tpGeometry* geometry, tpVec3 direction) {
    TP_ASSERT(classOf(geometry)->support != NULL);
    return classOf(geometry)->support(geometry, direction);
}

double tpGeometry_RadiusAbout(const tpGeometry* geometry, tpVec3 point) {
    return classOf(geometry)->radius(geometry, tpUntransformPoint(geometry->pose, point));
}

tpResult tpGeometry_Mass(const tpGeometry* geometry, double density, tpMassProperties* out,
                         tpError* error) {
    if (classOf(geometry)->mass == NULL) {
        return tpError_Set(error, tp_badInput,
                           "a %s has no finite volume; the mass of its body must be given",
                           classOf(geometry)->name);
    }
    if (!(density > 0.0) || !isfinite(density)) {
        return tpError_Set(error, tp_badInput,
                           "density must be positive and finite, not %.9g kg/m^3", density);
    }
    tpMassProperties unit;
    tpResult result = classOf(geometry)->mass(geometry, &unit, error);
    if (result == tp_success) {
        unit.mass *= density;
        unit.inertia = tpScaleM(density, unit.inertia);
        *out = tpTransformMass(&unit, geometry->pose);
    }
    return result;
}

// Surfaces ------------------------------------------------------------------------------------

int tpSurfaceCount(const tpGeometry* geometry) {
    return classOf(geometry)->surfaceCount != NULL ? classOf(geometry)->surfaceCount(geometry) : 0;
}

double tpSurfaceValue(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian) {
    return classOf(geometry)->surface(geometry, k, p, gradient, hessian);
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
    if (!classOf(geometry)->clipLine(geometry, nearest, unit, clip)) {
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
    bool found = classOf(geometry)->isConvex ? castAtConvex(geometry, o, d, limit, hit)
                                             : castAtTriangles(geometry, o, d, limit, hit);
    if (found) {
        hit->point = tpMulAdd(origin, hit->t, direction);
        hit->normal = tpRotate(pose.rotation, hit->normal);
    }
    return found;
}

// Sharing -------------------------------------------------------------------------------------

tpGeometry tpRetainGeometry(const tpGeometry* geometry) {
    switch (geometry->type) {
    case tp_prismShape:
    case tp_hullShape:
        tpRetainHull(geometry->hull);
        break;
    case tp_meshShape:
        tpRetainMesh(geometry->mesh);
        break;
    case tp_heightFieldShape:
        tpRetainHeightField(geometry->heightField);
        break;
    case tp_intersectionShape:
        tpRetainIntersection(geometry->intersection);
        break;
    default:
        break;
    }
    return *geometry;
}

void tpReleaseGeometry(tpGeometry* geometry) {
    switch (geometry->type) {
    case tp_prismShape:
    case tp_hullShape:
        tpReleaseHull(geometry->hull);
        geometry->hull = NULL;
        break;
    case tp_meshShape:
        tpReleaseMesh(geometry->mesh);
        geometry->mesh = NULL;
        break;
    case tp_heightFieldShape:
        tpReleaseHeightField(geometry->heightField);
        geometry->heightField = NULL;
        break;
    case tp_intersectionShape:
        tpReleaseIntersection(geometry->intersection);
        geometry->intersection = NULL;
        break;
    default:
        break;
    }
}
