#include "page/live_settings.h"

#include <string.h>

#include "base/error.h"
#include "recording/shapes_text.h"

// One change
// ---------------------------------------------------------------------------------------

static tpResult changeMaterial(tpWorld* world, const tpLiveChange* change, tpError* error) {
    tpMaterialId material = tpWorld_FindMaterial(world, change->name);
    if (material < 0) {
        return tpError_Set(error, tp_badInput, "there is no material \"%s\"", change->name);
    }
    tpMaterialDef def = tpMaterial_GetDef(world, material);
    if (change->hasFriction) {
        tpFriction* friction = &def.friction;
        double ratio = friction->dynamicCoefficient > 0.0
                           ? friction->staticCoefficient / friction->dynamicCoefficient
                           : 1.0;
        friction->dynamicCoefficient = change->friction;
        friction->staticCoefficient = ratio * change->friction;
    }
    if (change->hasTorsion) {
        def.friction.torsionalArm = change->torsion;
    }
    if (change->hasRestitution) {
        def.restitution = change->restitution;
    }
    return tpMaterial_SetDef(world, material, &def, error);
}

static tpResult changeMass(tpWorld* world, const tpRoster* roster, const tpLiveChange* change,
                           tpError* error) {
    if (change->body >= roster->bodyCount || roster->bodies[change->body].kind != tp_dynamicBody) {
        return tpError_Set(error, tp_badInput, "only a dynamic body has a mass");
    }
    tpBodyId body = roster->bodies[change->body].id;
    tpMassProperties mass = tpBody_GetMass(world, body);
    mass.inertia = tpScaleM(change->mass / mass.mass, mass.inertia);
    mass.mass = change->mass;
    return tpBody_SetMass(world, body, &mass, error);
}

static tpResult makeChange(tpWorld* world, const tpRoster* roster, const tpLiveChange* change,
                           tpError* error) {
    switch (change->kind) {
    case tp_materialChange:
        return changeMaterial(world, change, error);
    case tp_massChange:
        return changeMass(world, roster, change, error);
    case tp_gravityChange:
        tpWorld_SetGravity(world, change->gravity);
        return tp_success;
    case tp_optionChange:
        return tpWorld_SetOption(world, change->name, change->text, error);
    default:
        return tp_success;
    }
}

// All of them
// --------------------------------------------------------------------------------------

bool isSameChange(const tpLiveChange* a, const tpLiveChange* b) {
    return a->kind == b->kind && a->body == b->body && strcmp(a->name, b->name) == 0;
}

// Numbers that the later change does not have stay those of the earlier one.
static void joinChanges(tpLiveChange* kept, const tpLiveChange* next) {
    tpLiveChange joined = *next;
    if (!next->hasFriction) {
        joined.hasFriction = kept->hasFriction;
        joined.friction = kept->friction;
    }
    if (!next->hasTorsion) {
        joined.hasTorsion = kept->hasTorsion;
        joined.torsion = kept->torsion;
    }
    if (!next->hasRestitution) {
        joined.hasRestitution = kept->hasRestitution;
        joined.restitution = kept->restitution;
    }
    *kept = joined;
}

tpResult changeLiveWorld(tpLiveSettings* settings, tpWorld* world, const tpRoster* roster,
                         const tpLiveChange* change, tpError* error) {
    if (change->kind == tp_noChange) {
        return tp_success;
    }
    tpResult result = makeChange(world, roster, change, error);
    if (result != tp_success) {
        return result;
    }
    for (int i = 0; i < settings->changes.count; ++i) {
        if (isSameChange(&settings->changes.data[i], change)) {
            joinChanges(&settings->changes.data[i], change);
            return tp_success;
        }
    }
    return TP_PUSH(&settings->allocator, settings->changes, *change) ? tp_success
                                                                     : tpError_OutOfMemory(error);
}

tpResult repeatLiveChanges(const tpLiveSettings* settings, tpWorld* world, const tpRoster* roster,
                           tpError* error) {
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < settings->changes.count; ++i) {
        result = makeChange(world, roster, &settings->changes.data[i], error);
    }
    return result;
}

void writeLiveSettings(const tpWorld* world, tpText* text) {
    tpAllocator allocator = tpDefaultAllocator();
    tpShapesText table = { 0 };
    tpText_Add(text, "{");
    if (tpWriteMaterialsText(world, &allocator, &table)) {
        tpText_AddBytes(text, table.data, (size_t)table.count);
        tpText_Add(text, ",");
    }
    TP_FREE_ARRAY(&allocator, table);
    tpText_Add(text, "\"values\":[");
    for (tpMaterialId i = 0; i < tpWorld_GetMaterialCount(world); ++i) {
        tpMaterialDef def = tpMaterial_GetDef(world, i);
        tpText_Add(text, i > 0 ? ",[" : "[");
        tpText_AddNumber(text, def.friction.dynamicCoefficient);
        tpText_Add(text, ",");
        tpText_AddNumber(text, def.friction.torsionalArm);
        tpText_Add(text, ",");
        tpText_AddNumber(text, def.restitution);
        tpText_Add(text, "]");
    }
    tpVec3 g = tpWorld_GetGravity(world);
    tpText_Add(text, "],\"gravity\":[");
    tpText_AddNumber(text, g.x);
    tpText_Add(text, ",");
    tpText_AddNumber(text, g.y);
    tpText_Add(text, ",");
    tpText_AddNumber(text, g.z);
    tpText_Add(text, "]}");
}

void freeLiveSettings(tpLiveSettings* settings) {
    TP_FREE_ARRAY(&settings->allocator, settings->changes);
}
