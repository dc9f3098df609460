// Materials and the pairs that have numbers of their own.

#include <string.h>

#include "base/error.h"
#include "world/world.h"

tpMaterialDef tpDefaultMaterialDef(void) {
    tpMaterialDef def;
    memset(&def, 0, sizeof(def));
    def.friction.ellipse[0] = def.friction.ellipse[1] = 1.0;
    return def;
}

static tpResult checkFriction(const tpFriction* friction, tpError* error) {
    const double numbers[5] = { friction->staticCoefficient, friction->dynamicCoefficient,
                                friction->torsionalArm, friction->ellipse[0],
                                friction->ellipse[1] };
    for (int i = 0; i < 5; ++i) {
        if (!(numbers[i] >= 0.0) || !isfinite(numbers[i])) {
            return tpError_Set(error, tp_badInput, "friction numbers must be zero or positive");
        }
    }
    return tp_success;
}

static bool isRestitution(double restitution) {
    return restitution >= 0.0 && restitution <= 1.0;
}

tpMaterialId tpCreateMaterial(tpWorld* world, const tpMaterialDef* def) {
    bool isGood =
        checkFriction(&def->friction, NULL) == tp_success && isRestitution(def->restitution);
    TP_ASSERT(isGood);
    if (!isGood) {
        return -1;
    }
    tpMaterial material;
    material.friction = def->friction;
    material.restitution = def->restitution;
    tpCopyName(material.name, def->name);
    if (!TP_PUSH(&world->system.allocator, world->system.materials, material)) {
        return -1;
    }
    return world->system.materials.count - 1;
}

tpResult tpSetMaterialPair(tpWorld* world, const tpPairDef* def, tpError* error) {
    tpSystem* system = &world->system;
    tpPairDef pair = *def;
    for (int k = 0; k < 2; ++k) {
        if (pair.materials[k] < 0 || pair.materials[k] >= system->materials.count) {
            return tpError_Set(error, tp_badInput, "a pair names a material that does not exist");
        }
    }
    if (pair.hasFriction && checkFriction(&pair.friction, error) != tp_success) {
        return tp_badInput;
    }
    if (pair.hasRestitution && !isRestitution(pair.restitution)) {
        return tpError_Set(error, tp_badInput, "restitution lies between 0 and 1");
    }
    if (!TP_PUSH(&system->allocator, system->pairs, pair)) {
        return tpError_OutOfMemory(error);
    }
    // Insertion keeps the list sorted; a pair set again replaces the old one.
    int i = system->pairs.count - 1;
    while (i > 0) {
        int order = tpComparePairs(system->pairs.data[i - 1].materials, pair.materials);
        if (order < 0) {
            break;
        }
        if (order == 0) {
            // Close the gap behind the pair that is replaced.
            memmove(&system->pairs.data[i], &system->pairs.data[i + 1],
                    sizeof(tpPairDef) * (size_t)(system->pairs.count - 1 - i));
            system->pairs.count -= 1;
            i -= 1;
            break;
        }
        system->pairs.data[i] = system->pairs.data[i - 1];
        i -= 1;
    }
    system->pairs.data[i] = pair;
    return tp_success;
}

void tpGetMaterialPair(const tpWorld* world, tpMaterialId a, tpMaterialId b, tpFriction* friction,
                       double* restitution) {
    tpSystem_MixMaterials(&world->system, a, b, friction, restitution);
}
