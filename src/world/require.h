// Checks of what users hand in: ids, numbers, rotations. What is wrong is told to the misuse hook
// under the name of the public function; the callers then change nothing.

#ifndef TIPPE_SRC_WORLD_REQUIRE_H
#define TIPPE_SRC_WORLD_REQUIRE_H

#include "world/world.h"

// Slots behind ids, or -1 if there is no such thing (any more).
int tpRequireBody(const tpWorld* world, tpBodyId id, const char* function);
int tpRequireShape(const tpWorld* world, tpShapeId id, const char* function);
int tpRequireJoint(const tpWorld* world, tpJointId id, const char* function);
int tpRequireCoupling(const tpWorld* world, tpCouplingId id, const char* function);
int tpRequireSensor(const tpWorld* world, tpSensorId id, const char* function);
int tpRequireForce(const tpWorld* world, tpForceId id, const char* function);

bool tpRequireMaterial(const tpWorld* world, tpMaterialId material, const char* argument,
                       const char* function);

// Whether there is such an index among `count` things.
bool tpRequireIndex(int index, int count, const char* function);
bool tpRequireFinite(double number, const char* argument, const char* function);
bool tpRequireFiniteVec3(tpVec3 v, const char* argument, const char* function);

// A finite place and a rotation that is not zero; the rotation comes out as a unit quaternion.
bool tpRequirePose(tpPose* pose, const char* argument, const char* function);

#define TP_BODY(world, id) tpRequireBody(world, id, __func__)
#define TP_SHAPE(world, id) tpRequireShape(world, id, __func__)
#define TP_JOINT(world, id) tpRequireJoint(world, id, __func__)
#define TP_COUPLING(world, id) tpRequireCoupling(world, id, __func__)
#define TP_SENSOR(world, id) tpRequireSensor(world, id, __func__)
#define TP_FORCE(world, id) tpRequireForce(world, id, __func__)
#define TP_INDEX(index, count) tpRequireIndex(index, count, __func__)
#define TP_FINITE(number) tpRequireFinite(number, #number, __func__)
#define TP_FINITE_VEC3(v) tpRequireFiniteVec3(v, #v, __func__)

// Whether a quaternion has length one, up to what printing and reading may leave.
static inline bool tpIsUnitQuat(tpQuat q) {
    return fabs(tpDotQQ(q, q) - 1.0) < 1e-6;
}

#endif
