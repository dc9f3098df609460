// Materials and the pairs that have numbers of their own.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "world/require.h"

tpMaterialDef tpDefaultMaterialDef(void) {
    tpMaterialDef def;
    memset(&def, 0, sizeof(def));
    def.friction.ellipse[0] = def.friction.ellipse[1] = 1.0;
    return def;
}

static tpResult checkFriction(const tpFriction* friction, tpError* error) {
    const double numbers[6] = { friction->staticCoefficient, friction->dynamicCoefficient,
                                friction->torsionalArm,      friction->rollingArm,
                                friction->ellipse[0],        friction->ellipse[1] };
    for (int i = 0; i < 6; ++i) {
        if (!(numbers[i] >= 0.0) || !isfinite(numbers[i])) {
            return tpError_Set(error, tp_badInput, "friction numbers must be zero or positive");
        }
    }
    if (!isfinite(friction->impactReduction) || friction->impactReduction > 1.0) {
        return tpError_Set(error, tp_badInput, "impactReduction is 1 at most");
    }
    return tp_success;
}

static bool isRestitution(double restitution) {
    return restitution >= 0.0 && restitution <= 1.0;
}

static tpResult checkContact(const tpCompliance* contact, tpError* error) {
    bool isRight = contact->compliance >= 0.0 && isfinite(contact->compliance) &&
                   contact->damping >= 0.0 && isfinite(contact->damping);
    if (!isRight) {
        return tpError_Set(error, tp_badInput,
                           "contact.compliance and contact.damping must be zero or positive");
    }
    if (contact->damping > 0.0 && !(contact->compliance > 0.0)) {
        return tpError_Set(error, tp_badInput, "contact.damping needs contact.compliance");
    }
    return tp_success;
}

static tpResult checkMaterial(const tpMaterialDef* def, tpError* error) {
    tpResult result = checkFriction(&def->friction, error);
    if (result == tp_success && !isRestitution(def->restitution)) {
        result = tpError_Set(error, tp_badInput, "restitution lies between 0 and 1");
    }
    return result == tp_success ? checkContact(&def->contact, error) : result;
}

tpMaterialId tpCreateMaterial(tpWorld* world, const tpMaterialDef* def, tpError* error) {
    TP_NEED(world, (tpMaterialId){ 0 });
    if (!TP_REQUIRE(def != NULL, "def", "is NULL") || checkMaterial(def, error) != tp_success) {
        return -1;
    }
    tpMaterial material;
    material.friction = def->friction;
    material.restitution = def->restitution;
    material.contact = def->contact;
    tpCopyName(material.name, def->name);
    if (!TP_PUSH(&world->system.allocator, world->system.materials, material)) {
        tpError_OutOfMemory(error);
        return -1;
    }
    return world->system.materials.count - 1;
}

int tpWorld_GetMaterialCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->system.materials.count;
}

tpMaterialId tpWorld_FindMaterial(const tpWorld* world, const char* name) {
    TP_NEED(world, (tpMaterialId){ 0 });
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (int i = 0; isGiven && i < world->system.materials.count; ++i) {
        if (strcmp(world->system.materials.data[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

bool tpRequireMaterial(const tpWorld* world, tpMaterialId material, const char* argument,
                       const char* function) {
    bool isThere = material >= 0 && material < world->system.materials.count;
    if (!isThere) {
        tpMisused(function, argument, "is %d, of %d materials", (int)material,
                  world->system.materials.count);
    }
    return isThere;
}

tpMaterialDef tpMaterial_GetDef(const tpWorld* world, tpMaterialId material) {
    TP_NEED(world, (tpMaterialDef){ 0 });
    tpMaterialDef def = tpDefaultMaterialDef();
    if (tpRequireMaterial(world, material, "material", __func__)) {
        const tpMaterial* own = &world->system.materials.data[material];
        def.name = own->name;
        def.friction = own->friction;
        def.restitution = own->restitution;
        def.contact = own->contact;
    }
    return def;
}

tpResult tpMaterial_SetDef(tpWorld* world, tpMaterialId material, const tpMaterialDef* def,
                           tpError* error) {
    TP_NEED(world, tp_badInput);
    if (!tpRequireMaterial(world, material, "material", __func__) ||
        !TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no such material, or no definition");
    }
    tpResult result = checkMaterial(def, error);
    if (result == tp_success) {
        world->system.materials.data[material].friction = def->friction;
        world->system.materials.data[material].restitution = def->restitution;
        world->system.materials.data[material].contact = def->contact;
        tpWorld_DisturbAll(world);
    }
    return result;
}

tpResult tpSetMaterialPair(tpWorld* world, const tpPairDef* def, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpSystem* system = &world->system;
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no definition");
    }
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
    if (pair.hasContact && checkContact(&pair.contact, error) != tp_success) {
        return tp_badInput;
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
    tpWorld_DisturbAll(world);
    return tp_success;
}

void tpGetMaterialPair(const tpWorld* world, tpMaterialId a, tpMaterialId b, tpFriction* friction,
                       double* restitution) {
    TP_NEED(world, );
    tpMaterialDef none = tpDefaultMaterialDef();
    tpFriction ownFriction = none.friction;
    double ownRestitution = none.restitution;
    if (tpRequireMaterial(world, a, "a", __func__) && tpRequireMaterial(world, b, "b", __func__)) {
        tpSystem_MixMaterials(&world->system, a, b, &ownFriction, &ownRestitution);
    }
    if (friction != NULL) {
        *friction = ownFriction;
    }
    if (restitution != NULL) {
        *restitution = ownRestitution;
    }
}

tpCompliance tpGetPairCompliance(const tpWorld* world, tpMaterialId a, tpMaterialId b) {
    TP_NEED(world, (tpCompliance){ 0 });
    bool areThere =
        tpRequireMaterial(world, a, "a", __func__) && tpRequireMaterial(world, b, "b", __func__);
    return areThere ? tpSystem_MixCompliance(&world->system, a, b) : (tpCompliance){ 0 };
}
