// The coordinates of all joints, as arrays.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/joint_state.h"
#include "dynamics/joint_types.h"
#include "tippe/state.h"
#include "world/hanging.h"
#include "world/require.h"
#include "world/state_checks.h"

int tpWorld_GetCoordinateCount(const tpWorld* world) {
    TP_NEED(world, 0);
    int count = 0;
    for (int i = 0; i < world->system.joints.count; ++i) {
        count += world->system.joints.data[i].coordinateCount; // 0 in empty slots
    }
    return count;
}

bool tpWorld_GetCoordinateAt(const tpWorld* world, int index, tpJointId* joint, int* coordinate) {
    TP_NEED(world, false);
    int place = index, at = -1;
    for (int i = 0; at < 0 && index >= 0 && i < world->system.joints.count; ++i) {
        int count = world->system.joints.data[i].coordinateCount;
        if (place < count) {
            at = i;
        } else {
            place -= count;
        }
    }
    if (joint != NULL) {
        *joint = tpWorld_JointId(world, at);
    }
    if (coordinate != NULL) {
        *coordinate = at >= 0 ? place : -1;
    }
    return at >= 0;
}

int tpJoint_GetFirstCoordinate(const tpWorld* world, tpJointId joint) {
    TP_NEED(world, 0);
    int index = TP_JOINT(world, joint), count = 0;
    for (int i = 0; i < index; ++i) {
        count += world->system.joints.data[i].coordinateCount;
    }
    return index >= 0 ? count : -1;
}

void tpWorld_ReadCoordinates(const tpWorld* world, double* values, double* speeds,
                             double* efforts) {
    TP_NEED(world, );
    const tpSystem* system = &world->system;
    for (int i = 0, place = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->coordinateCount == 0) {
            continue;
        }
        tpJointPlace at = tpJoint_Place(joint, system->poses.data);
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            tpJointRow row = tpJoint_CoordinateRow(joint, &at, k);
            if (values != NULL) {
                values[place] = row.error;
            }
            if (speeds != NULL) {
                speeds[place] = tpJointRow_Speed(joint, &row, system->velocities.data);
            }
            if (efforts != NULL) {
                efforts[place] = joint->coordinates[k].effort;
            }
        }
    }
}

static tpResult checkFinite(const tpWorld* world, const double* numbers, const char* name,
                            tpError* error) {
    int count = numbers != NULL ? tpWorld_GetCoordinateCount(world) : 0;
    for (int i = 0; i < count; ++i) {
        if (!isfinite(numbers[i])) {
            return tpError_Set(error, tp_badInput, "%s[%d] is not finite", name, i);
        }
    }
    return tp_success;
}

// Which coordinates of a pass (0: values, 1: speeds) are to be changed. They are told before the
// first is set: setting one may change others by a rounding error.
static void findChanges(const tpWorld* world, const double* values, const double* speeds,
                        bool* changes[2]) {
    const tpSystem* system = &world->system;
    for (int i = 0, place = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->coordinateCount == 0) {
            continue;
        }
        tpJointPlace at = tpJoint_Place(joint, system->poses.data);
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            tpJointRow row = tpJoint_CoordinateRow(joint, &at, k);
            double speed = tpJointRow_Speed(joint, &row, system->velocities.data);
            changes[0][place] = values != NULL && values[place] != row.error;
            changes[1][place] = speeds != NULL && speeds[place] != speed;
        }
    }
}

static tpResult setAll(tpWorld* world, const double* values, const double* speeds,
                       bool* const changes[2], tpError* error) {
    tpResult result = tp_success;
    // All values first: speeds are those in the new place.
    for (int pass = 0; pass < 2; ++pass) {
        const double* numbers = pass == 0 ? values : speeds;
        for (int i = 0, place = 0; numbers != NULL && i < world->system.joints.count; ++i) {
            tpJoint* joint = &world->system.joints.data[i];
            for (int k = 0; result == tp_success && k < joint->coordinateCount; ++k, ++place) {
                if (!changes[pass][place]) {
                    continue;
                }
                result = pass == 0
                             ? tpWorld_SetCoordinateValue(world, joint, k, numbers[place], error)
                             : tpWorld_SetCoordinateSpeed(world, joint, k, numbers[place], error);
            }
        }
    }
    return result;
}

static tpResult checkChanges(tpWorld* world, const double* values, bool* const changes[2],
                             tpError* error) {
    tpResult result = tp_success;
    for (int i = 0, place = 0; i < world->system.joints.count; ++i) {
        const tpJoint* joint = &world->system.joints.data[i];
        for (int k = 0; result == tp_success && k < joint->coordinateCount; ++k, ++place) {
            if (changes[0][place]) {
                result = tpWorld_CheckCoordinateValue(world, joint, values[place], error);
            } else if (changes[1][place]) {
                result = tpWorld_CheckCoordinateSpeed(world, joint, error);
            }
        }
    }
    return result;
}

// Room for the changes of both passes, from the arena.
static bool takeChanges(tpWorld* world, bool* changes[2]) {
    int count = tpWorld_GetCoordinateCount(world);
    changes[0] = TP_SCRATCH(&world->system.arena, bool, count);
    changes[1] = TP_SCRATCH(&world->system.arena, bool, count);
    return changes[0] != NULL && changes[1] != NULL;
}

tpResult tpWorld_CheckCoordinates(tpWorld* world, const double* values, const double* speeds,
                                  tpError* error) {
    if (checkFinite(world, values, "values", error) != tp_success ||
        checkFinite(world, speeds, "speeds", error) != tp_success) {
        return tp_badInput;
    }
    tpArena* arena = &world->system.arena;
    tpArenaMark mark = tpArena_Mark(arena);
    bool* changes[2];
    tpResult result = tp_success;
    if (!takeChanges(world, changes)) {
        result = tpError_OutOfMemory(error);
    } else {
        findChanges(world, values, speeds, changes);
        result = checkChanges(world, values, changes, error);
    }
    tpArena_Release(arena, mark);
    return result;
}

tpResult tpWorld_WriteCoordinates(tpWorld* world, const double* values, const double* speeds,
                                  tpError* error) {
    TP_NEED(world, tp_badInput);
    tpResult result = tpWorld_CheckCoordinates(world, values, speeds, error);
    if (result != tp_success) {
        return result;
    }
    tpSystem* system = &world->system;
    size_t bodies = (size_t)system->bodyCount;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    tpVelocity* velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    double* motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    bool* changes[2];
    if (!takeChanges(world, changes) || poses == NULL || velocities == NULL || motion == NULL) {
        result = tpError_OutOfMemory(error);
    } else {
        if (bodies > 0) {
            memcpy(poses, system->poses.data, sizeof(tpPose) * bodies);
            memcpy(velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
        }
        tpJoints_ReadMotion(system, motion);
        findChanges(world, values, speeds, changes);
        result = setAll(world, values, speeds, changes, error);
        // Memory ran out on the way: back.
        if (result != tp_success && bodies > 0) {
            memcpy(system->poses.data, poses, sizeof(tpPose) * bodies);
            memcpy(system->velocities.data, velocities, sizeof(tpVelocity) * bodies);
            tpJoints_WriteMotion(system, motion);
        }
    }
    tpArena_Release(&system->arena, mark);
    return result;
}

tpResult tpWorld_CheckTargets(const tpWorld* world, const double* targets, const double* speeds,
                              tpError* error) {
    const double* arrays[2] = { targets, speeds };
    static const char* const names[2] = { "targets", "speeds" };
    for (int i = 0, place = 0; i < world->system.joints.count; ++i) {
        const tpJoint* joint = &world->system.joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            bool hasServo = joint->coordinates[k].def.hasServo;
            for (int a = 0; a < 2; ++a) {
                if (arrays[a] == NULL || isnan(arrays[a][place])) {
                    continue;
                }
                if (isinf(arrays[a][place]) || !hasServo) {
                    return tpError_Set(error, tp_badInput, "%s[%d] %s", names[a], place,
                                       hasServo ? "is not finite"
                                                : "is for a coordinate without a servo");
                }
            }
        }
    }
    return tp_success;
}

tpResult tpWorld_WriteTargets(tpWorld* world, const double* targets, const double* speeds,
                              tpError* error) {
    TP_NEED(world, tp_badInput);
    tpResult result = tpWorld_CheckTargets(world, targets, speeds, error);
    const double* arrays[2] = { targets, speeds };
    for (int i = 0, place = 0; result == tp_success && i < world->system.joints.count; ++i) {
        tpJoint* joint = &world->system.joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            tpCoordinateDef* def = &joint->coordinates[k].def;
            double* own[2] = { &def->servo.target, &def->servo.speed };
            for (int a = 0; a < 2; ++a) {
                if (arrays[a] != NULL && !isnan(arrays[a][place]) && *own[a] != arrays[a][place]) {
                    *own[a] = arrays[a][place];
                    tpWorld_DisturbJoint(world, joint);
                }
            }
        }
    }
    return result;
}

tpResult tpWorld_CheckEfforts(const tpWorld* world, const double* efforts, tpError* error) {
    return checkFinite(world, efforts, "efforts", error);
}

tpResult tpWorld_ApplyEfforts(tpWorld* world, const double* efforts, tpError* error) {
    TP_NEED(world, tp_badInput);
    if (!TP_REQUIRE(efforts != NULL, "efforts", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there are no efforts");
    }
    if (tpWorld_CheckEfforts(world, efforts, error) != tp_success) {
        return tp_badInput;
    }
    for (int i = 0, place = 0; i < world->system.joints.count; ++i) {
        tpJoint* joint = &world->system.joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            if (efforts[place] != 0.0) {
                joint->coordinates[k].applied += efforts[place];
                world->system.hasEfforts = true;
                tpWorld_DisturbJoint(world, joint);
            }
        }
    }
    return tp_success;
}
