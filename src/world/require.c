#include "world/require.h"

static int found(int index, const char* argument, const char* function) {
    if (index < 0) {
        tpMisused(function, argument, "does not exist, or not any more");
    }
    return index;
}

int tpRequireBody(const tpWorld* world, tpBodyId id, const char* function) {
    return found(tpWorld_BodyIndex(world, id), "body", function);
}

int tpRequireShape(const tpWorld* world, tpShapeId id, const char* function) {
    return found(tpWorld_ShapeIndex(world, id), "shape", function);
}

int tpRequireJoint(const tpWorld* world, tpJointId id, const char* function) {
    return found(tpWorld_JointIndex(world, id), "joint", function);
}

int tpRequireCoupling(const tpWorld* world, tpCouplingId id, const char* function) {
    return found(tpWorld_CouplingIndex(world, id), "coupling", function);
}

int tpRequireSensor(const tpWorld* world, tpSensorId id, const char* function) {
    return found(tpWorld_SensorIndex(world, id), "sensor", function);
}

int tpRequireForce(const tpWorld* world, tpForceId id, const char* function) {
    return found(tpWorld_ForceIndex(world, id), "force", function);
}

bool tpRequireIndex(int index, int count, const char* function) {
    bool isThere = index >= 0 && index < count;
    if (!isThere) {
        tpMisused(function, "index", "is %d, of %d", index, count);
    }
    return isThere;
}

bool tpRequireFinite(double number, const char* argument, const char* function) {
    if (!isfinite(number)) {
        tpMisused(function, argument, "is not finite");
        return false;
    }
    return true;
}

bool tpRequireFiniteVec3(tpVec3 v, const char* argument, const char* function) {
    if (!tpIsFiniteVec3(v)) {
        tpMisused(function, argument, "is not finite");
        return false;
    }
    return true;
}

bool tpRequirePose(tpPose* pose, const char* argument, const char* function) {
    double square = tpDotQQ(pose->rotation, pose->rotation);
    if (!tpIsFiniteVec3(pose->position) || !isfinite(square)) {
        tpMisused(function, argument, "is not finite");
        return false;
    }
    if (!(square > 1e-300)) {
        tpMisused(function, argument, "has a rotation of length zero");
        return false;
    }
    pose->rotation = tpNormalizeQuat(pose->rotation);
    return true;
}
