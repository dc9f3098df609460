// User forces.

#include <string.h>

#include "base/error.h"
#include "world/world.h"

tpForceDef tpDefaultForceDef(void) {
    tpForceDef def;
    memset(&def, 0, sizeof(def));
    def.from = -INFINITY;
    def.to = INFINITY;
    return def;
}

tpForceId tpCreateForce(tpWorld* world, const tpForceDef* def, tpError* error) {
    tpSystem* system = &world->system;
    tpForceId none = { 0, 0 };
    int body = tpWorld_BodyIndex(world, def->body);
    if (body < 0) {
        tpError_Set(error, tp_badInput, "the body of the force does not exist");
        return none;
    }
    if (!tpIsFiniteVec3(def->force) || !tpIsFiniteVec3(def->torque) ||
        !tpIsFiniteVec3(def->point) || !(def->from <= def->to)) {
        tpError_Set(error, tp_badInput, "a force needs finite numbers, and 'from' before 'to'");
        return none;
    }
    int index = tpIdPool_Take(&world->forceIds, &system->allocator);
    if (index < 0 || !TP_RESERVE(&system->allocator, system->forces, index + 1)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->forceIds, index);
        }
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->forces.count) {
        system->forces.count = index + 1;
    }
    tpForce force = { true, body, *def };
    system->forces.data[index] = force;
    system->layout += 1;
    tpForceId id = { (uint32_t)index + 1, world->forceIds.generations.data[index] };
    return id;
}

void tpWorld_RemoveForce(tpWorld* world, int index) {
    memset(&world->system.forces.data[index], 0, sizeof(tpForce));
    world->system.layout += 1;
    tpIdPool_GiveBack(&world->forceIds, index);
}

void tpDestroyForce(tpWorld* world, tpForceId id) {
    int index = tpWorld_ForceIndex(world, id);
    TP_ASSERT(index >= 0);
    if (index >= 0) {
        tpWorld_RemoveForce(world, index);
    }
}
