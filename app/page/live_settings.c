#include "page/live_settings.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "page/run_data.h"
#include "recording/left_out.h"
#include "recording/shapes_text.h"
#include "tippe/joints.h"

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

// A coordinate of a joint that has what is to be changed.
static tpResult changeCoordinate(tpWorld* world, const tpRoster* roster, const tpLiveChange* change,
                                 tpError* error) {
    tpJointId joint =
        change->joint < roster->jointCount ? roster->joints[change->joint].id : (tpJointId){ 0 };
    if (!tpJoint_IsValid(world, joint) ||
        change->coordinate >= tpJoint_GetCoordinateCount(world, joint)) {
        return tpError_Set(error, tp_badInput, "there is no such joint, or no such coordinate");
    }
    tpCoordinateDef def = tpJoint_GetCoordinate(world, joint, change->coordinate);
    if (change->kind == tp_targetChange && def.hasServo) {
        tpJoint_SetTarget(world, joint, change->coordinate, change->value, def.servo.speed);
    } else if (change->kind == tp_motorChange && def.hasMotor) {
        tpJoint_SetMotorSpeed(world, joint, change->coordinate, change->value);
    } else {
        return tpError_Set(error, tp_badInput, "joint \"%s\" has no %s there",
                           roster->joints[change->joint].name,
                           change->kind == tp_targetChange ? "servo" : "motor");
    }
    return tp_success;
}

static tpResult changeCoupling(tpWorld* world, const tpLiveChange* change, tpError* error) {
    tpCouplingId coupling = change->coupling < tpWorld_GetCouplingCount(world)
                                ? tpWorld_GetCoupling(world, change->coupling)
                                : (tpCouplingId){ 0 };
    if (!tpCoupling_IsValid(world, coupling)) {
        return tpError_Set(error, tp_badInput, "there is no such coupling");
    }
    tpCouplingDef def = tpCoupling_GetDef(world, coupling);
    if (!def.hasServo) {
        return tpError_Set(error, tp_badInput, "coupling \"%s\" has no servo",
                           tpCoupling_GetName(world, coupling));
    }
    tpCoupling_SetTarget(world, coupling, change->value, def.servo.speed);
    return tp_success;
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
    case tp_targetChange:
    case tp_motorChange:
        return changeCoordinate(world, roster, change, error);
    case tp_couplingChange:
        return changeCoupling(world, change, error);
    default:
        return tp_success;
    }
}

// All of them
// --------------------------------------------------------------------------------------

bool isSameChange(const tpLiveChange* a, const tpLiveChange* b) {
    return a->kind == b->kind && a->body == b->body && a->joint == b->joint &&
           a->coordinate == b->coordinate && a->coupling == b->coupling &&
           strcmp(a->name, b->name) == 0;
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

static void writeNumberOrNull(double number, tpText* text) {
    if (isfinite(number)) {
        tpText_AddNumber(text, number);
    } else {
        tpText_Add(text, "null");
    }
}

static void writeCoordinate(const tpWorld* world, tpJointId joint, int coordinate, tpText* text) {
    tpAxisDef axis = tpJoint_GetAxis(world, joint, coordinate);
    const tpCoordinateDef* def = &axis.coordinate;
    tpText_Add(text, "{\"name\":");
    writeQuoted(text, axis.name != NULL ? axis.name : "");
    tpText_Add(text, axis.kind == tp_turnAxis ? ",\"unit\":\"rad\"" : ",\"unit\":\"m\"");
    tpText_Add(text, ",\"limits\":[");
    writeNumberOrNull(def->hasLimits ? def->limits[0] : INFINITY, text);
    tpText_Add(text, ",");
    writeNumberOrNull(def->hasLimits ? def->limits[1] : INFINITY, text);
    tpText_Add(text, "]");
    if (def->hasServo) {
        tpText_Add(text, ",\"target\":");
        writeNumberOrNull(def->servo.target, text);
    }
    if (def->hasMotor) {
        tpText_Add(text, ",\"speed\":");
        writeNumberOrNull(def->motor.speed, text);
    }
    tpText_Add(text, "}");
}

// Coordinates of each joint of the roster.
static void writeJoints(const tpWorld* world, const tpRoster* roster, tpText* text) {
    tpText_Add(text, ",\"joints\":[");
    for (int i = 0; i < roster->jointCount; ++i) {
        tpJointId joint = roster->joints[i].id;
        tpText_Add(text, i > 0 ? ",[" : "[");
        int count = tpJoint_IsValid(world, joint) ? tpJoint_GetCoordinateCount(world, joint) : 0;
        for (int k = 0; k < count; ++k) {
            tpText_Add(text, k > 0 ? "," : "");
            writeCoordinate(world, joint, k, text);
        }
        tpText_Add(text, "]");
    }
    tpText_Add(text, "]");
}

// Couplings, whose sum is in the unit of the coordinates in it; "" if these have several.
static void writeCoupling(const tpWorld* world, tpCouplingId coupling, tpText* text) {
    tpCouplingDef def = tpCoupling_GetDef(world, coupling);
    int turns = 0;
    tpText_Add(text, "{\"name\":");
    writeQuoted(text, tpCoupling_GetName(world, coupling));
    // Which coordinates are summed, with their factors: from these the page knows the sum.
    tpText_Add(text, ",\"terms\":[");
    for (int k = 0; k < def.termCount; ++k) {
        tpCouplingTerm term = tpCoupling_GetTerm(world, coupling, k);
        turns += tpJoint_GetAxis(world, term.joint, term.coordinate).kind == tp_turnAxis ? 1 : 0;
        tpText_Add(text, k > 0 ? ",[" : "[");
        writeQuoted(text, tpJoint_GetName(world, term.joint));
        tpText_Add(text, ",");
        tpText_AddNumber(text, term.coordinate);
        tpText_Add(text, ",");
        tpText_AddNumber(text, term.factor);
        tpText_Add(text, "]");
    }
    tpText_Add(text, "],\"unit\":");
    writeQuoted(text, turns == def.termCount ? "rad" : turns == 0 ? "m" : "");
    tpText_Add(text, ",\"limits\":[");
    writeNumberOrNull(def.hasLimits ? def.limits[0] : INFINITY, text);
    tpText_Add(text, ",");
    writeNumberOrNull(def.hasLimits ? def.limits[1] : INFINITY, text);
    tpText_Add(text, "]");
    if (def.hasServo) {
        tpText_Add(text, ",\"target\":");
        writeNumberOrNull(def.servo.target, text);
    }
    tpText_Add(text, "}");
}

static void writeCouplings(const tpWorld* world, tpText* text) {
    tpText_Add(text, ",\"couplings\":[");
    for (int i = 0; i < tpWorld_GetCouplingCount(world); ++i) {
        tpText_Add(text, i > 0 ? "," : "");
        writeCoupling(world, tpWorld_GetCoupling(world, i), text);
    }
    tpText_Add(text, "]");
}

// What there is and the stepper does not use.
static void writeLeftOut(const tpWorld* world, tpText* text) {
    unsigned leftOut = tpFindLeftOut(world);
    bool isFirst = true;
    tpText_Add(text, ",\"left_out\":[");
    for (int i = 0; i < tp_leftOutCount; ++i) {
        if ((leftOut & tpLeftOutNames[i].bit) != 0) {
            tpText_Add(text, isFirst ? "" : ",");
            writeQuoted(text, tpLeftOutNames[i].name);
            isFirst = false;
        }
    }
    tpText_Add(text, "]");
}

void writeLiveSettings(const tpWorld* world, const tpRoster* roster, tpText* text) {
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
    tpText_Add(text, "]");
    writeJoints(world, roster, text);
    writeCouplings(world, text);
    writeLeftOut(world, text);
    tpText_Add(text, "}");
}

void freeLiveSettings(tpLiveSettings* settings) {
    TP_FREE_ARRAY(&settings->allocator, settings->changes);
}
