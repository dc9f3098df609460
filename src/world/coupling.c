// Couplings of coordinates: made, changed, read.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/couplings.h"
#include "world/require.h"

tpCouplingDef tpDefaultCouplingDef(void) {
    tpCouplingDef def;
    memset(&def, 0, sizeof(def));
    def.servo.effort = INFINITY;
    return def;
}

static tpCouplingId idOf(const tpWorld* world, int index) {
    tpCouplingId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->couplingIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->couplingIds.generations.data[index];
    }
    return id;
}

// Checks ------------------------------------------------------------------------------------------

tpResult tpCheckCouplingLaws(const tpCouplingDef* def, tpError* error) {
    if (def->hasValue && !isfinite(def->value)) {
        return tpError_Set(error, tp_badInput, "the value of a coupling must be finite");
    }
    if (def->hasValue && def->hasLimits) {
        return tpError_Set(error, tp_badInput,
                           "a coupling that has a value always needs no limits");
    }
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasLimits = def->hasLimits;
    laws.limits[0] = def->limits[0];
    laws.limits[1] = def->limits[1];
    laws.hasSpring = def->hasSpring;
    laws.spring = def->spring;
    laws.hasServo = def->hasServo;
    laws.servo = def->servo;
    return tpCheckCoordinateDef(&laws, true, error);
}

// The terms as parts. tp_badInput if one is wrong.
static tpResult makeParts(const tpWorld* world, const tpCouplingDef* def, tpCouplingPart* parts,
                          tpError* error) {
    for (int i = 0; i < def->termCount; ++i) {
        const tpCouplingTerm* term = &def->terms[i];
        int joint = tpWorld_JointIndex(world, term->joint);
        if (joint < 0) {
            return tpError_Set(error, tp_badInput, "the joint of term %d does not exist", i);
        }
        int count = world->system.joints.data[joint].coordinateCount;
        if (term->coordinate < 0 || term->coordinate >= count) {
            return tpError_Set(error, tp_badInput,
                               "term %d is for coordinate %d of a joint that has %d", i,
                               term->coordinate, count);
        }
        if (!isfinite(term->factor) || term->factor == 0.0) {
            return tpError_Set(error, tp_badInput,
                               "the factor of term %d must be finite and not zero", i);
        }
        for (int k = 0; k < i; ++k) {
            if (parts[k].joint == joint && parts[k].coordinate == term->coordinate) {
                return tpError_Set(error, tp_badInput, "terms %d and %d are the same coordinate", k,
                                   i);
            }
        }
        parts[i] = (tpCouplingPart){ joint, term->coordinate, term->factor };
    }
    return tp_success;
}

static void disturb(tpWorld* world, int index) {
    int body;
    for (int k = 0; tpCoupling_BodyAt(&world->system, index, k, &body); ++k) {
        if (tpSystem_IsDynamic(&world->system, body)) {
            tpSystem_Disturb(&world->system, body);
        }
    }
}

// Come and go -------------------------------------------------------------------------------------

static int place(tpWorld* world, const tpCoupling* coupling) {
    tpSystem* system = &world->system;
    int index = tpIdPool_Take(&world->couplingIds, &system->allocator);
    if (index >= 0 && !TP_RESERVE(&system->allocator, system->couplings, index + 1)) {
        tpIdPool_GiveBack(&world->couplingIds, index);
        index = -1;
    }
    if (index >= 0) {
        system->couplings.count =
            index >= system->couplings.count ? index + 1 : system->couplings.count;
        system->couplings.data[index] = *coupling;
    }
    return index;
}

tpCouplingId tpCreateCoupling(tpWorld* world, const tpCouplingDef* def, tpError* error) {
    TP_NEED(world, (tpCouplingId){ 0 });
    tpSystem* system = &world->system;
    tpCouplingId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    if (def->terms == NULL || def->termCount < 1 || def->termCount > tp_maxCouplingTerms) {
        tpError_Set(error, tp_badInput, "a coupling has 1 to %d terms, not %d", tp_maxCouplingTerms,
                    def->terms != NULL ? def->termCount : 0);
        return none;
    }
    tpCouplingPart parts[tp_maxCouplingTerms];
    if (tpCheckCouplingLaws(def, error) != tp_success ||
        makeParts(world, def, parts, error) != tp_success) {
        return none;
    }
    size_t bytes = sizeof(tpCouplingPart) * (size_t)def->termCount;
    tpCoupling coupling = { .isLive = true, .def = *def, .partCount = def->termCount };
    coupling.def.name = NULL;
    coupling.def.terms = NULL;
    coupling.springShare = coupling.servoShare = 0.5;
    tpCopyName(coupling.name, def->name);
    coupling.parts = tpAllocateZeroed(&system->allocator, bytes);
    int index = coupling.parts != NULL ? place(world, &coupling) : -1;
    if (index < 0) {
        tpRelease(&system->allocator, coupling.parts, bytes);
        tpError_OutOfMemory(error);
        return none;
    }
    memcpy(coupling.parts, parts, bytes);
    disturb(world, index);
    tpWorld_ChangeStructure(world);
    return idOf(world, index);
}

static void removeCoupling(tpWorld* world, int index) {
    tpSystem* system = &world->system;
    tpCoupling* coupling = &system->couplings.data[index];
    disturb(world, index);
    tpRelease(&system->allocator, coupling->parts,
              sizeof(tpCouplingPart) * (size_t)coupling->partCount);
    memset(coupling, 0, sizeof(tpCoupling));
    tpWorld_ChangeStructure(world);
    tpIdPool_GiveBack(&world->couplingIds, index);
}

void tpWorld_RemoveCouplings(tpWorld* world, int joint) {
    for (int i = 0; i < world->system.couplings.count; ++i) {
        const tpCoupling* coupling = &world->system.couplings.data[i];
        bool isPart = false;
        for (int k = 0; k < coupling->partCount; ++k) {
            isPart = isPart || coupling->parts[k].joint == joint;
        }
        if (isPart) {
            removeCoupling(world, i);
        }
    }
}

void tpDestroyCoupling(tpWorld* world, tpCouplingId id) {
    TP_NEED(world, );
    int index = TP_COUPLING(world, id);
    if (index >= 0) {
        removeCoupling(world, index);
    }
}

// Questions ---------------------------------------------------------------------------------------

bool tpCoupling_IsValid(const tpWorld* world, tpCouplingId id) {
    TP_NEED(world, false);
    return tpWorld_CouplingIndex(world, id) >= 0;
}

int tpWorld_GetCouplingCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->couplingIds.liveCount;
}

tpCouplingId tpWorld_GetCoupling(const tpWorld* world, int number) {
    TP_NEED(world, (tpCouplingId){ 0 });
    bool isThere = TP_INDEX(number, tpWorld_GetCouplingCount(world));
    for (int i = 0; isThere && i < world->system.couplings.count; ++i) {
        if (world->system.couplings.data[i].isLive && number-- == 0) {
            return idOf(world, i);
        }
    }
    return idOf(world, -1);
}

tpCouplingId tpWorld_FindCoupling(const tpWorld* world, const char* name) {
    TP_NEED(world, (tpCouplingId){ 0 });
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (int i = 0; isGiven && i < world->system.couplings.count; ++i) {
        const tpCoupling* coupling = &world->system.couplings.data[i];
        if (coupling->isLive && strcmp(coupling->name, name) == 0) {
            return idOf(world, i);
        }
    }
    return idOf(world, -1);
}

const char* tpCoupling_GetName(const tpWorld* world, tpCouplingId id) {
    TP_NEED(world, NULL);
    int index = TP_COUPLING(world, id);
    return index >= 0 ? world->system.couplings.data[index].name : "";
}

tpCouplingDef tpCoupling_GetDef(const tpWorld* world, tpCouplingId id) {
    TP_NEED(world, (tpCouplingDef){ 0 });
    int index = TP_COUPLING(world, id);
    if (index < 0) {
        return tpDefaultCouplingDef();
    }
    tpCouplingDef def = world->system.couplings.data[index].def;
    def.name = world->system.couplings.data[index].name;
    return def;
}

tpCouplingTerm tpCoupling_GetTerm(const tpWorld* world, tpCouplingId id, int term) {
    TP_NEED(world, (tpCouplingTerm){ 0 });
    tpCouplingTerm none = { { 0, 0 }, 0, 0.0 };
    int index = TP_COUPLING(world, id);
    if (index < 0) {
        return none;
    }
    const tpCoupling* coupling = &world->system.couplings.data[index];
    if (!TP_REQUIRE(term >= 0 && term < coupling->partCount, "term",
                    "is %d, of a coupling that has %d", term, coupling->partCount)) {
        return none;
    }
    const tpCouplingPart* part = &coupling->parts[term];
    return (tpCouplingTerm){ tpWorld_JointId(world, part->joint), part->coordinate, part->factor };
}

tpResult tpCoupling_SetLaws(tpWorld* world, tpCouplingId id, const tpCouplingDef* def,
                            tpError* error) {
    TP_NEED(world, tp_badInput);
    int index = TP_COUPLING(world, id);
    if (index < 0 || !TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no such coupling, or no definition");
    }
    tpResult result = tpCheckCouplingLaws(def, error);
    if (result == tp_success) {
        tpCoupling* coupling = &world->system.couplings.data[index];
        coupling->def = *def;
        coupling->def.name = NULL;
        coupling->def.terms = NULL;
        coupling->def.termCount = coupling->partCount;
        if (!def->hasServo) {
            coupling->servoMemory = (tpServoMemory){ 0.0, 0.0 };
        }
        disturb(world, index);
    }
    return result;
}

void tpCoupling_SetTarget(tpWorld* world, tpCouplingId id, double target, double speed) {
    TP_NEED(world, );
    int index = TP_COUPLING(world, id);
    if (index >= 0 && TP_FINITE(target) && TP_FINITE(speed) &&
        TP_REQUIRE(world->system.couplings.data[index].def.hasServo, "coupling", "has no servo")) {
        tpServo* servo = &world->system.couplings.data[index].def.servo;
        bool isOther = servo->target != target || servo->speed != speed;
        servo->target = target;
        servo->speed = speed;
        if (isOther) {
            disturb(world, index);
        }
    }
}

tpCoordinateState tpCoupling_GetState(const tpWorld* world, tpCouplingId id) {
    TP_NEED(world, (tpCoordinateState){ 0 });
    tpCoordinateState state = { 0.0, 0.0, 0.0, 0.0 };
    int index = TP_COUPLING(world, id);
    if (index >= 0) {
        const tpCoupling* coupling = &world->system.couplings.data[index];
        tpCouplingRow row;
        tpCoupling_Place(&world->system, coupling, world->system.poses.data, &row);
        state.value = row.value;
        state.speed = tpCouplingRow_Speed(&row, world->system.velocities.data);
        state.effort = coupling->effort;
        state.limitEffort = coupling->limitEffort;
    }
    return state;
}
