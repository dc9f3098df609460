// User forces.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "world/require.h"

tpForceDef tpDefaultForceDef(void) {
    tpForceDef def;
    memset(&def, 0, sizeof(def));
    def.from = -INFINITY;
    def.to = INFINITY;
    return def;
}

static tpResult checkForceDef(const tpForceDef* def, tpError* error) {
    if (!tpIsFiniteVec3(def->force) || !tpIsFiniteVec3(def->torque) ||
        !tpIsFiniteVec3(def->point) || !(def->from <= def->to)) {
        return tpError_Set(error, tp_badInput,
                           "a force needs finite numbers, and 'from' before 'to'");
    }
    if (def->frame != tp_worldFrame && def->frame != tp_bodyFrame) {
        return tpError_Set(error, tp_badInput, "there is no frame %d", (int)def->frame);
    }
    return tp_success;
}

static tpForceId idOf(const tpWorld* world, int index) {
    tpForceId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->forceIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->forceIds.generations.data[index];
    }
    return id;
}

tpForceId tpCreateForce(tpWorld* world, const tpForceDef* def, tpError* error) {
    TP_NEED(world, (tpForceId){ 0 });
    tpSystem* system = &world->system;
    tpForceId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    int body = tpWorld_BodyIndex(world, def->body);
    if (body < 0) {
        tpError_Set(error, tp_badInput, "the body of the force does not exist");
        return none;
    }
    if (checkForceDef(def, error) != tp_success) {
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
    tpSystem_Disturb(system, body);
    return idOf(world, index);
}

void tpWorld_RemoveForce(tpWorld* world, int index) {
    tpSystem_Disturb(&world->system, world->system.forces.data[index].body);
    memset(&world->system.forces.data[index], 0, sizeof(tpForce));
    tpIdPool_GiveBack(&world->forceIds, index);
}

void tpDestroyForce(tpWorld* world, tpForceId id) {
    TP_NEED(world, );
    int index = TP_FORCE(world, id);
    if (index >= 0) {
        tpWorld_RemoveForce(world, index);
    }
}

bool tpForce_IsValid(const tpWorld* world, tpForceId id) {
    TP_NEED(world, false);
    return tpWorld_ForceIndex(world, id) >= 0;
}

int tpWorld_GetForceCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->forceIds.liveCount;
}

tpForceId tpWorld_GetForce(const tpWorld* world, int number) {
    TP_NEED(world, (tpForceId){ 0 });
    bool isThere = TP_INDEX(number, tpWorld_GetForceCount(world));
    for (int i = 0; isThere && i < world->system.forces.count; ++i) {
        if (world->system.forces.data[i].isLive && number-- == 0) {
            return idOf(world, i);
        }
    }
    return idOf(world, -1);
}

tpForceDef tpForce_GetDef(const tpWorld* world, tpForceId id) {
    TP_NEED(world, (tpForceDef){ 0 });
    int index = TP_FORCE(world, id);
    return index >= 0 ? world->system.forces.data[index].def : tpDefaultForceDef();
}

tpResult tpForce_SetDef(tpWorld* world, tpForceId id, const tpForceDef* def, tpError* error) {
    TP_NEED(world, tp_badInput);
    int index = TP_FORCE(world, id);
    if (index < 0 || !TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no such force, or no definition");
    }
    tpResult result = checkForceDef(def, error);
    if (result == tp_success) {
        tpForce* force = &world->system.forces.data[index];
        tpBodyId body = force->def.body;
        force->def = *def;
        force->def.body = body;
        tpSystem_Disturb(&world->system, force->body);
    }
    return result;
}
