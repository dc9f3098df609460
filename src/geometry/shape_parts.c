// What the files of shapes share: checks of numbers, bounds of turned boxes, linear surfaces.

#include "geometry/shape_parts.h"
#include "base/error.h"

tpResult tpCheckShapePose(tpPose pose, tpError* error) {
    if (!tpIsFiniteVec3(pose.position)) {
        return tpError_Set(error, tp_badInput, "the position of a shape must be finite");
    }
    double square = tpDotQQ(pose.rotation, pose.rotation);
    if (!(fabs(square - 1.0) < 1e-9)) {
        return tpError_Set(error, tp_badInput, "the rotation of a shape must be a unit quaternion");
    }
    return tp_success;
}

// Every length and radius: positive and finite.
tpResult tpCheckPositive(const char* name, double value, tpError* error) {
    if (value > 0.0 && isfinite(value)) {
        return tp_success;
    }
    return tpError_Set(error, tp_badInput, "%s must be positive and finite, not %.9g", name, value);
}

tpResult tpCheckPositiveVec3(const char* name, tpVec3 v, tpError* error) {
    if (tpIsFiniteVec3(v) && v.x > 0.0 && v.y > 0.0 && v.z > 0.0) {
        return tp_success;
    }
    return tpError_Set(error, tp_badInput, "%s must be positive and finite, not %.9g, %.9g, %.9g",
                       name, v.x, v.y, v.z);
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

tpResult tpCheckAxial(double radius, double length, bool mayBeShort, tpVec3* axis, tpPose* pose,
                      tpError* error) {
    tpResult result = tpCheckPositive("radius", radius, error);
    if (result == tp_success && !(mayBeShort && length == 0.0)) {
        result = tpCheckPositive("length", length, error);
    }
    if (result == tp_success) {
        result = turnToAxis(*axis, pose, error);
    }
    *axis = tpMakeVec3(0.0, 0.0, 1.0);
    return result;
}

tpResult tpMakeFromNumbers(const tpGeometry* given, tpGeometry* out, tpError* error) {
    tpGeometry made = *given;
    tpResult result = tpCheckShapePose(made.pose, error);
    if (result == tp_success) {
        result = tpClassOf(given)->check(&made, error);
    }
    if (result == tp_success) {
        *out = made;
    }
    return result;
}

tpBounds tpTransformBounds(tpBounds bounds, tpPose pose) {
    tpVec3 center = tpTransformPoint(pose, tpScale(0.5, tpAdd(bounds.lower, bounds.upper)));
    tpVec3 half = tpScale(0.5, tpSub(bounds.upper, bounds.lower));
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpVec3 extent =
        tpAdd(tpScale(half.x, tpAbsVec3(turn.cx)),
              tpAdd(tpScale(half.y, tpAbsVec3(turn.cy)), tpScale(half.z, tpAbsVec3(turn.cz))));
    return (tpBounds){ tpSub(center, extent), tpAdd(center, extent) };
}

int tpOneSurface(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

double tpLinearSurface(tpVec3 normal, double offset, tpVec3 p, tpVec3* gradient, tpMat33* hessian) {
    if (gradient != NULL) {
        *gradient = normal;
    }
    if (hessian != NULL) {
        *hessian = tpZeroMat33();
    }
    return tpDot(normal, p) - offset;
}
