// Making shapes: numbers are checked here, once, and what is wrong is said with the name a scene
// uses.

#include "base/error.h"
#include "geometry/height_field.h"
#include "geometry/hull.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

static tpResult checkPose(tpPose pose, tpError* error) {
    if (!tpIsFiniteVec3(pose.position)) {
        return tpError_Set(error, tp_badInput, "the position of a shape must be finite");
    }
    double square = tpDotQQ(pose.rotation, pose.rotation);
    if (!(fabs(square - 1.0) < 1e-9)) {
        return tpError_Set(error, tp_badInput, "the rotation of a shape must be a unit quaternion");
    }
    return tp_success;
}

// Every length, radius and exponent: positive and finite.
static tpResult checkPositive(const char* name, double value, tpError* error) {
    if (value > 0.0 && isfinite(value)) {
        return tp_success;
    }
    return tpError_Set(error, tp_badInput, "%s must be positive and finite, not %.9g", name, value);
}

static tpResult checkPositiveVec3(const char* name, tpVec3 v, tpError* error) {
    if (tpIsFiniteVec3(v) && v.x > 0.0 && v.y > 0.0 && v.z > 0.0) {
        return tp_success;
    }
    return tpError_Set(error, tp_badInput, "%s must be positive and finite, not %.9g, %.9g, %.9g",
                       name, v.x, v.y, v.z);
}

static tpGeometry begin(tpShapeType type, tpPose pose) {
    tpGeometry geometry = { .type = type, .pose = pose };
    return geometry;
}

// Turns the pose so that the shape's own z is along `axis`.
static tpResult turnToAxis(tpVec3 axis, tpPose* pose, tpError* error) {
    if (!tpIsFiniteVec3(axis)) {
        return tpError_Set(error, tp_badInput, "axis must be finite");
    }
    if (axis.x == 0.0 && axis.y == 0.0 && axis.z >= 0.0) {
        return tp_success; // z itself, or the zero vector that means z
    }
    tpQuat turn = tpQuatBetween(tpMakeVec3(0.0, 0.0, 1.0), tpNormalize(axis));
    pose->rotation = tpMulQQ(pose->rotation, turn);
    return tp_success;
}

// Radius, length and axis of the shapes that have one; a capsule's length may be zero.
static tpResult checkAxial(double radius, double length, bool mayBeShort, tpVec3 axis, tpPose* pose,
                           tpError* error) {
    tpResult result = checkPose(*pose, error);
    if (result == tp_success) {
        result = checkPositive("radius", radius, error);
    }
    if (result == tp_success && !(mayBeShort && length == 0.0)) {
        result = checkPositive("length", length, error);
    }
    return result == tp_success ? turnToAxis(axis, pose, error) : result;
}

static const tpVec3 zAxis = { 0.0, 0.0, 1.0 };

tpResult tpMakeSphere(const tpSphere* sphere, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result == tp_success) {
        result = checkPositive("radius", sphere->radius, error);
    }
    if (result == tp_success) {
        *out = begin(tp_sphereShape, pose);
        out->sphere = *sphere;
    }
    return result;
}

tpResult tpMakeBox(const tpBox* box, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result == tp_success) {
        result = checkPositiveVec3("size", box->size, error);
    }
    if (result == tp_success) {
        *out = begin(tp_boxShape, pose);
        out->box = *box;
    }
    return result;
}

tpResult tpMakeCapsule(const tpCapsule* capsule, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result =
        checkAxial(capsule->radius, capsule->length, true, capsule->axis, &pose, error);
    if (result == tp_success) {
        *out = begin(tp_capsuleShape, pose);
        out->capsule = (tpCapsule){ capsule->radius, capsule->length, zAxis };
    }
    return result;
}

tpResult tpMakeCylinder(const tpCylinder* cylinder, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result =
        checkAxial(cylinder->radius, cylinder->length, false, cylinder->axis, &pose, error);
    if (result == tp_success) {
        *out = begin(tp_cylinderShape, pose);
        out->cylinder = (tpCylinder){ cylinder->radius, cylinder->length, zAxis };
    }
    return result;
}

tpResult tpMakeCone(const tpCone* cone, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkAxial(cone->radius, cone->length, false, cone->axis, &pose, error);
    if (result == tp_success) {
        *out = begin(tp_coneShape, pose);
        out->cone = (tpCone){ cone->radius, cone->length, zAxis };
    }
    return result;
}

tpResult tpMakeEllipsoid(const tpEllipsoid* ellipsoid, tpPose pose, tpGeometry* out,
                         tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result == tp_success) {
        result = checkPositiveVec3("radii", ellipsoid->radii, error);
    }
    if (result == tp_success) {
        *out = begin(tp_ellipsoidShape, pose);
        out->ellipsoid = *ellipsoid;
    }
    return result;
}

tpResult tpMakeSuperellipsoid(const tpSuperellipsoid* superellipsoid, tpPose pose, tpGeometry* out,
                              tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result == tp_success) {
        result = checkPositiveVec3("radii", superellipsoid->radii, error);
    }
    for (int i = 0; i < 2 && result == tp_success; ++i) {
        double e = superellipsoid->exponents[i];
        // Below 0.01 powers of 200 and more make the surface a box to all digits of a float.
        if (!(e >= 0.01 && e <= 2.0)) {
            result =
                tpError_Set(error, tp_badInput,
                            "exponents must be between 0.01 and 2 for a convex body, not %.9g", e);
        }
    }
    if (result == tp_success) {
        *out = begin(tp_superellipsoidShape, pose);
        out->superellipsoid = *superellipsoid;
    }
    return result;
}

tpResult tpMakePlane(const tpPlane* plane, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result != tp_success) {
        return result;
    }
    tpVec3 normal = tpNormalize(plane->normal);
    if (!tpIsFiniteVec3(plane->normal) || tpLengthSquared(normal) == 0.0) {
        return tpError_Set(error, tp_badInput, "normal must be finite and not zero");
    }
    if (!isfinite(plane->offset)) {
        return tpError_Set(error, tp_badInput, "offset must be finite");
    }
    *out = begin(tp_planeShape, pose);
    out->plane = (tpPlane){ normal, plane->offset };
    return tp_success;
}

tpResult tpMakeImplicit(const tpImplicit* implicit, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    if (result != tp_success) {
        return result;
    }
    tpVec3 extent = tpSub(implicit->bounds.upper, implicit->bounds.lower);
    if (implicit->evaluate == NULL) {
        return tpError_Set(error, tp_badInput, "an implicit shape needs its function");
    }
    if (!tpIsFiniteBounds(&implicit->bounds) ||
        !(extent.x > 0.0 && extent.y > 0.0 && extent.z > 0.0)) {
        return tpError_Set(error, tp_badInput,
                           "the bounds of an implicit shape must be finite and have a volume");
    }
    tpGeometry made = begin(tp_implicitShape, pose);
    made.implicit = *implicit;
    double value;
    tpInteriorPoint(&made, &value);
    if (!(value < 0.0)) {
        return tpError_Set(error, tp_badInput,
                           "the function of the implicit shape is nowhere negative in its bounds");
    }
    *out = made;
    return tp_success;
}

tpResult tpMakeHull(const tpAllocator* allocator, const tpVec3* points, int count, tpPose pose,
                    tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    tpHull* hull;
    if (result == tp_success) {
        result = tpHullFromPoints(allocator, points, count, &hull, error);
    }
    if (result == tp_success) {
        *out = begin(tp_hullShape, pose);
        out->hull = hull;
    }
    return result;
}

tpResult tpMakePrism(const tpAllocator* allocator, const double (*points)[2], int count,
                     double length, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = checkPose(pose, error);
    tpHull* hull;
    if (result == tp_success) {
        result = tpHullFromPrism(allocator, points, count, length, &hull, error);
    }
    if (result == tp_success) {
        *out = begin(tp_prismShape, pose);
        out->hull = hull;
    }
    return result;
}

tpResult tpMakeMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                    const int32_t (*triangles)[3], int triangleCount, tpPose pose, tpGeometry* out,
                    tpError* error) {
    tpResult result = checkPose(pose, error);
    tpMesh* mesh;
    if (result == tp_success) {
        result =
            tpCreateMesh(allocator, vertices, vertexCount, triangles, triangleCount, &mesh, error);
    }
    if (result == tp_success) {
        *out = begin(tp_meshShape, pose);
        out->mesh = mesh;
    }
    return result;
}

tpResult tpMakeHeightField(const tpAllocator* allocator, int columns, int rows, double spacingX,
                           double spacingY, const double* heights, tpPose pose, tpGeometry* out,
                           tpError* error) {
    tpResult result = checkPose(pose, error);
    tpHeightField* field;
    if (result == tp_success) {
        result = tpCreateHeightField(allocator, columns, rows, spacingX, spacingY, heights, &field,
                                     error);
    }
    if (result == tp_success) {
        *out = begin(tp_heightFieldShape, pose);
        out->heightField = field;
    }
    return result;
}
