// The state of all bodies that can move, as arrays.

#include "tippe/state.h"
#include "base/assert.h"

#include <string.h>

#include "base/error.h"
#include "world/require.h"
#include "world/state_checks.h"

uint64_t tpWorld_GetStructure(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->system.structure + world->structureShift;
}

int tpWorld_GetMovingCount(const tpWorld* world) {
    TP_NEED(world, 0);
    tpWorld_ListBodies(world);
    return world->moving.count;
}

tpBodyId tpWorld_GetMoving(const tpWorld* world, int index) {
    TP_NEED(world, (tpBodyId){ 0 });
    tpWorld_ListBodies(world);
    bool isThere = TP_INDEX(index, world->moving.count);
    return tpWorld_BodyId(world, isThere ? world->moving.data[index] : -1);
}

int tpBody_GetSlot(const tpWorld* world, tpBodyId body) {
    TP_NEED(world, 0);
    return TP_BODY(world, body);
}

tpStateView tpWorld_ViewState(const tpWorld* world) {
    TP_NEED(world, (tpStateView){ 0 });
    const tpSystem* system = &world->system;
    tpStateView view;
    memset(&view, 0, sizeof(view));
    view.slotCount = system->bodyCount;
    view.poseStride = sizeof(tpPose) / sizeof(double);
    view.velocityStride = sizeof(tpVelocity) / sizeof(double);
    if (system->bodyCount > 0) {
        view.positions = &system->poses.data[0].position.x;
        view.rotations = &system->poses.data[0].rotation.w;
        view.velocities = &system->velocities.data[0].linear.x;
        view.angularVelocities = &system->velocities.data[0].angular.x;
    }
    return view;
}

// Whether slots follow each other: they do as long as no body was removed.
static bool isRunOfSlots(const int* slots, int count) {
    int steps = 0;
    for (int i = 1; i < count; ++i) {
        steps += slots[i] == slots[i - 1] + 1;
    }
    return steps == count - 1;
}

// Gathers rows of `width` numbers, `stride` apart, in the order of the slots. Nothing here
// overlaps: without that the compiler would read every pointer anew after every number.
static inline void gather(const double* restrict from, size_t stride, const int* restrict slots,
                          bool isRun, int count, size_t width, double* restrict to) {
    if (to == NULL) {
        return;
    }
    const double* first = from + stride * (size_t)slots[0];
    for (int i = 0; isRun && i < count; ++i) {
        memcpy(to + width * (size_t)i, first + stride * (size_t)i, width * sizeof(double));
    }
    for (int i = 0; !isRun && i < count; ++i) {
        memcpy(to + width * (size_t)i, from + stride * (size_t)slots[i], width * sizeof(double));
    }
}

// Where the numbers of body `row` begin, or NULL.
static double* startAt(double* numbers, int row, int width) {
    return numbers != NULL ? numbers + (size_t)row * (size_t)width : NULL;
}

// The bodies from `begin` up to `end` in the order of moving ones.
static void readBodies(const tpWorld* world, const tpStateArrays* arrays, int begin, int end) {
    // Strides that are constants make short loops.
    enum { pose = sizeof(tpPose) / sizeof(double), velocity = sizeof(tpVelocity) / sizeof(double) };
    tpStateView view = tpWorld_ViewState(world);
    const int* slots = world->moving.data + begin;
    int count = end - begin;
    bool isRun = isRunOfSlots(slots, count);
    gather(view.positions, pose, slots, isRun, count, 3, startAt(arrays->positions, begin, 3));
    gather(view.rotations, pose, slots, isRun, count, 4, startAt(arrays->rotations, begin, 4));
    gather(view.velocities, velocity, slots, isRun, count, 3,
           startAt(arrays->velocities, begin, 3));
    gather(view.angularVelocities, velocity, slots, isRun, count, 3,
           startAt(arrays->angularVelocities, begin, 3));
}

void tpWorld_ReadState(const tpWorld* world, const tpStateArrays* arrays) {
    TP_NEED(world, );
    // As many at a time as stay in the cache from one array to the next.
    enum { bodiesAtATime = 256 };
    tpWorld_ListBodies(world);
    int count = world->moving.count;
    if (!TP_REQUIRE(arrays != NULL, "arrays", "is NULL")) {
        return;
    }
    for (int begin = 0; begin < count; begin += bodiesAtATime) {
        int end = begin + bodiesAtATime;
        readBodies(world, arrays, begin, end < count ? end : count);
    }
}

static tpResult checkArray(const double* numbers, int count, int width, const char* name,
                           tpError* error) {
    for (int i = 0; numbers != NULL && i < count; ++i) {
        const double* row = numbers + (size_t)width * (size_t)i;
        double square = 0.0;
        for (int k = 0; k < width; ++k) {
            if (!isfinite(row[k])) {
                return tpError_Set(error, tp_badInput, "%s[%d] is not finite", name, i);
            }
            square += row[k] * row[k];
        }
        if (width == 4 && !(square > 1e-300 && isfinite(square))) {
            return tpError_Set(error, tp_badInput, "%s[%d] is no rotation", name, i);
        }
    }
    return tp_success;
}

tpResult tpWorld_CheckState(const tpWorld* world, const tpStateArrays* arrays, tpError* error) {
    int count = tpWorld_GetMovingCount(world);
    bool isGood =
        checkArray(arrays->positions, count, 3, "positions", error) == tp_success &&
        checkArray(arrays->rotations, count, 4, "rotations", error) == tp_success &&
        checkArray(arrays->velocities, count, 3, "velocities", error) == tp_success &&
        checkArray(arrays->angularVelocities, count, 3, "angularVelocities", error) == tp_success;
    return isGood ? tp_success : tp_badInput;
}

// Takes a row over where it differs. True if it does.
static bool take(const double* rows, int row, int width, void* own) {
    size_t bytes = sizeof(double) * (size_t)width;
    if (rows == NULL || memcmp(rows + (size_t)width * (size_t)row, own, bytes) == 0) {
        return false;
    }
    memcpy(own, rows + (size_t)width * (size_t)row, bytes);
    return true;
}

tpResult tpWorld_WriteState(tpWorld* world, const tpStateArrays* arrays, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpWorld_ListBodies(world);
    int count = world->moving.count;
    if (!TP_REQUIRE(arrays != NULL, "arrays", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there are no arrays");
    }
    if (tpWorld_CheckState(world, arrays, error) != tp_success) {
        return tp_badInput;
    }
    tpSystem* system = &world->system;
    for (int i = 0; i < count; ++i) {
        int slot = world->moving.data[i];
        tpPose* pose = &system->poses.data[slot];
        tpVelocity* velocity = &system->velocities.data[slot];
        bool isMoved = take(arrays->positions, i, 3, &pose->position);
        if (take(arrays->rotations, i, 4, &pose->rotation)) {
            pose->rotation = tpNormalizeQuat(pose->rotation);
            isMoved = true;
        }
        bool isPushed = take(arrays->velocities, i, 3, &velocity->linear);
        isPushed = take(arrays->angularVelocities, i, 3, &velocity->angular) || isPushed;
        if (isPushed) {
            tpSystem_SetVelocity(system, slot, velocity->linear, velocity->angular);
        }
        if (isMoved || isPushed) {
            tpSystem_Disturb(system, slot);
        }
    }
    return tp_success;
}
