// What the keys of a part must be to each other: too few, too many, or at odds.

#include "scene/checks.h"

#include <string.h>

#include <math.h>

#include "base/error.h"
#include "scene/formula.h"
#include "scene/options.h"
#include "scene/reader.h"

static bool gives(const void* part, const char* key) {
    return tpScenePart_Gives(part, key);
}

static tpScenePlace placeOf(const void* part, const tpScenePlace* places, const char* key) {
    return places[tpRecord_Find(((const tpScenePart*)part)->record, key)];
}

static bool isZero(tpVec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

tpResult tpCheckRotation(tpReader* reader, void* part, const tpScenePlace* places) {
    bool hasAxis = gives(part, "axis"), hasDegrees = gives(part, "degrees");
    bool hasQuaternion = gives(part, "quaternion");
    if (hasQuaternion && (hasAxis || hasDegrees)) {
        return TP_FAIL(reader, placeOf(part, places, "quaternion"),
                       "a rotation takes \"axis\" and \"degrees\", or \"quaternion\", not both");
    }
    if (!hasQuaternion && !(hasAxis && hasDegrees)) {
        return TP_FAIL(reader, ((tpScenePart*)part)->place,
                       "a rotation needs \"axis\" and \"degrees\", or \"quaternion\"");
    }
    return tp_success;
}

tpResult tpCheckFriction(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneFriction* friction = part;
    bool hasStatic = gives(part, "static"), hasDynamic = gives(part, "dynamic");
    if (!hasStatic && !hasDynamic) {
        return TP_FAIL(reader, friction->part.place,
                       "a friction needs the key \"dynamic\" or the key \"static\"");
    }
    if (hasStatic && hasDynamic && friction->staticCoefficient < friction->dynamicCoefficient) {
        return TP_FAIL(reader, placeOf(part, places, "static"),
                       "static friction must not be below dynamic friction, found %g below %g",
                       friction->staticCoefficient, friction->dynamicCoefficient);
    }
    bool isSmooth =
        (hasDynamic ? friction->dynamicCoefficient : friction->staticCoefficient) == 0.0;
    if (isSmooth && gives(part, "impact")) {
        return TP_FAIL(reader, placeOf(part, places, "impact"),
                       "friction in impacts needs friction that is not zero otherwise");
    }
    if (friction->ellipse[0] != friction->ellipse[1] && !gives(part, "direction")) {
        return TP_FAIL(reader, placeOf(part, places, "ellipse"),
                       "an ellipse with two different factors needs the key \"direction\"");
    }
    return tp_success;
}

// Shapes --------------------------------------------------------------------------------------

static tpResult checkHeights(tpReader* reader, const tpSceneShape* shape) {
    double wanted = (double)shape->columns * (double)shape->rows;
    if ((double)shape->heights.count != wanted) {
        return TP_FAIL(reader, shape->heights.place,
                       "\"heights\" takes columns x rows = %.0f numbers, found %d", wanted,
                       shape->heights.count);
    }
    return tp_success;
}

static tpResult checkParts(tpReader* reader, const tpSceneShape* shape) {
    static const char* const ofTheWhole[] = { "material", "density", "group",
                                              "mask",     "color",   "visual" };
    if (shape->of.count == 0) {
        return TP_FAIL(reader, shape->part.place, "an intersection needs at least one shape");
    }
    for (int i = 0; i < shape->of.count; ++i) {
        const tpSceneShape* member = &shape->of.items[i];
        for (int k = 0; k < 6; ++k) {
            if (gives(member, ofTheWhole[k])) {
                return TP_FAIL(reader, member->part.place,
                               "\"%s\" belongs to the intersection as a whole, not to one of its "
                               "shapes",
                               ofTheWhole[k]);
            }
        }
    }
    return tp_success;
}

// What is only seen has nothing that matters to contacts or masses.
static tpResult checkVisual(tpReader* reader, const tpSceneShape* shape,
                            const tpScenePlace* places) {
    static const char* const others[] = { "material", "density", "group", "mask" };
    for (int i = 0; i < 4; ++i) {
        if (gives(shape, others[i])) {
            return TP_FAIL(reader, placeOf(shape, places, others[i]),
                           "a shape that is only seen takes no \"%s\"", others[i]);
        }
    }
    return tp_success;
}

tpResult tpCheckShape(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneShape* shape = part;
    if (shape->visual && checkVisual(reader, shape, places) != tp_success) {
        return reader->error->result;
    }
    switch (shape->type) {
    case tp_hullShape:
        if (gives(part, "points") == gives(part, "file")) {
            return TP_FAIL(reader, shape->part.place,
                           "a hull needs either \"points\" or \"file\", and not both");
        }
        return tp_success;
    case tp_heightFieldShape:
        return checkHeights(reader, shape);
    case tp_intersectionShape:
        return checkParts(reader, shape);
    default:
        return tp_success;
    }
}

// Bodies --------------------------------------------------------------------------------------

static bool anyShapeGivesDensity(const tpSceneBody* body) {
    for (int i = 0; i < body->shapes.count; ++i) {
        if (gives(&body->shapes.items[i], "density")) {
            return true;
        }
    }
    return false;
}

// Of the shapes that can touch.
static int countSolids(const tpSceneBody* body) {
    int count = 0;
    for (int i = 0; i < body->shapes.count; ++i) {
        count += body->shapes.items[i].visual ? 0 : 1;
    }
    return count;
}

static bool allShapesGiveDensity(const tpSceneBody* body) {
    for (int i = 0; i < body->shapes.count; ++i) {
        if (!body->shapes.items[i].visual && !gives(&body->shapes.items[i], "density")) {
            return false;
        }
    }
    return countSolids(body) > 0;
}

// Mass properties are given, or follow from the shapes: one way, and nothing missing.
static tpResult checkMass(tpReader* reader, const tpSceneBody* body, const tpScenePlace* places) {
    bool hasMass = gives(body, "mass"), hasInertia = gives(body, "inertia");
    bool hasDensity = gives(body, "density");
    if (hasMass && hasDensity) {
        return TP_FAIL(reader, placeOf(body, places, "density"),
                       "a body takes \"mass\" or \"density\", not both");
    }
    if (hasInertia && !hasMass) {
        return TP_FAIL(reader, placeOf(body, places, "inertia"),
                       "\"inertia\" goes with the key \"mass\", which is missing");
    }
    if (gives(body, "center_of_mass") && !(hasMass && hasInertia)) {
        return TP_FAIL(
            reader, placeOf(body, places, "center_of_mass"),
            "\"center_of_mass\" goes with the keys \"mass\" and \"inertia\"; otherwise it "
            "follows from the shapes");
    }
    if (hasMass && anyShapeGivesDensity(body)) {
        return TP_FAIL(reader, placeOf(body, places, "mass"),
                       "a body takes \"mass\", or a \"density\" of its shapes, not both");
    }
    if (body->kind != tp_dynamicBody) {
        return tp_success;
    }
    if (!hasMass && !hasDensity && !allShapesGiveDensity(body)) {
        return TP_FAIL(reader, body->part.place,
                       "the dynamic body \"%s\" needs the key \"mass\" or the key \"density\"",
                       body->name.text);
    }
    if (!hasInertia && countSolids(body) == 0) {
        return TP_FAIL(
            reader, body->part.place,
            "the body \"%s\" has no shapes that can touch, so it needs the keys \"mass\" and "
            "\"inertia\"",
            body->name.text);
    }
    return tp_success;
}

static tpResult checkKeyframes(tpReader* reader, const tpSceneBody* body,
                               const tpScenePlace* places) {
    if (body->kind != tp_kinematicBody) {
        return TP_FAIL(reader, placeOf(body, places, "keyframes"),
                       "only a kinematic body takes \"keyframes\"; \"%s\" is not one",
                       body->name.text);
    }
    if (!isZero(body->velocity) || !isZero(body->angularVelocity)) {
        return TP_FAIL(reader, placeOf(body, places, "keyframes"),
                       "a kinematic body takes \"keyframes\" or velocities, not both");
    }
    if (body->keyframes.count == 0) {
        return TP_FAIL(reader, placeOf(body, places, "keyframes"),
                       "\"keyframes\" needs at least one keyframe");
    }
    for (int i = 1; i < body->keyframes.count; ++i) {
        const tpSceneKeyframe* keyframes = body->keyframes.items;
        if (!(keyframes[i].time > keyframes[i - 1].time)) {
            return TP_FAIL(reader, keyframes[i].part.place,
                           "the times of keyframes must ascend, found %g after %g",
                           keyframes[i].time, keyframes[i - 1].time);
        }
    }
    return tp_success;
}

tpResult tpCheckBody(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneBody* body = part;
    if (body->kind == tp_fixedBody && !isZero(body->velocity)) {
        return TP_FAIL(reader, placeOf(part, places, "velocity"),
                       "a fixed body has no velocity; a kinematic one has");
    }
    if (body->kind == tp_fixedBody && !isZero(body->angularVelocity)) {
        return TP_FAIL(reader, placeOf(part, places, "angular_velocity"),
                       "a fixed body has no velocity; a kinematic one has");
    }
    tpResult result = checkMass(reader, body, places);
    if (result == tp_success && gives(part, "keyframes")) {
        result = checkKeyframes(reader, body, places);
    }
    return result;
}

tpResult tpCheckPlanar(tpReader* reader) {
    const tpScene* scene = reader->scene;
    for (int i = 0; scene->planar && i < scene->bodies.count; ++i) {
        const tpSceneBody* body = &scene->bodies.items[i];
        bool isOut = body->velocity.z != 0.0 || body->angularVelocity.x != 0.0 ||
                     body->angularVelocity.y != 0.0;
        if (isOut && body->name.text != NULL) {
            tpResult result = TP_FAIL(reader, body->part.place,
                                      "in a planar scene velocities lie in the x-y plane and "
                                      "angular velocities along z; those of \"%s\" do not",
                                      body->name.text);
            if (!tpReader_GoOn(reader, result)) {
                return result;
            }
        }
    }
    return tp_success;
}

// Joints, forces, simulation ------------------------------------------------------------------

tpResult tpCheckAxis(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneAxis* axis = part;
    bool isTurn = gives(part, "turn"), isSlide = gives(part, "slide");
    if (isTurn && isSlide) {
        return TP_FAIL(reader, placeOf(part, places, "slide"),
                       "an axis is a \"turn\" or a \"slide\", not both");
    }
    if (!isTurn && !isSlide) {
        return TP_FAIL(reader, axis->part.place, "an axis needs the key \"turn\" or \"slide\"");
    }
    return tp_success;
}

static const char* const lawKeys[] = { "zero",   "limits",   "motor",   "servo",
                                       "spring", "armature", "damping", "friction" };

static tpResult checkAxes(tpReader* reader, const tpSceneJoint* joint, const tpScenePlace* places) {
    if (joint->type != tp_compoundJoint) {
        return !gives(&joint->part, "axes")
                   ? tp_success
                   : TP_FAIL(reader, placeOf(&joint->part, places, "axes"),
                             "\"axes\" is for joints of type \"compound\"");
    }
    for (int i = 0; i < 8; ++i) {
        if (gives(&joint->part, lawKeys[i])) {
            return TP_FAIL(reader, placeOf(&joint->part, places, lawKeys[i]),
                           "each axis of a compound joint has a \"%s\" of its own", lawKeys[i]);
        }
    }
    if (joint->axes.count < 1 || joint->axes.count > tp_maxCoordinates) {
        return TP_FAIL(reader, joint->part.place,
                       "a compound joint needs 1 to %d \"axes\", found %d", tp_maxCoordinates,
                       joint->axes.count);
    }
    for (int i = 0; i < joint->axes.count; ++i) {
        const tpSceneText* name = &joint->axes.items[i].name;
        for (int k = 0; name->text != NULL && k < i; ++k) {
            const char* other = joint->axes.items[k].name.text;
            if (other != NULL && strcmp(other, name->text) == 0) {
                return TP_FAIL(reader, name->place, "two axes of the joint are called \"%s\"",
                               name->text);
            }
        }
    }
    return tp_success;
}

// Keys of a coordinate go with types that have one.
static tpResult checkLaws(tpReader* reader, const tpSceneJoint* joint, const tpScenePlace* places) {
    bool isFixed = joint->type == tp_fixedJoint || joint->type == tp_gearJoint;
    bool isMeasured = joint->type == tp_ballJoint || joint->type == tp_distanceJoint ||
                      joint->type == tp_springJoint;
    for (int i = 0; i < 8; ++i) {
        bool isWrong = isFixed || (isMeasured && i == 0);
        if (isWrong && gives(&joint->part, lawKeys[i])) {
            return TP_FAIL(reader, placeOf(&joint->part, places, lawKeys[i]),
                           "a joint of type \"%s\" has no coordinate for \"%s\"",
                           tpJointNames[joint->type], lawKeys[i]);
        }
    }
    return tp_success;
}

tpResult tpCheckJoint(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneJoint* joint = part;
    bool isBetweenPoints = joint->type == tp_distanceJoint || joint->type == tp_springJoint;
    bool needsAnchor = isBetweenPoints || joint->type == tp_ballJoint ||
                       joint->type == tp_revoluteJoint || joint->type == tp_cylindricalJoint ||
                       joint->type == tp_universalJoint || joint->type == tp_screwJoint ||
                       joint->type == tp_compoundJoint;
    bool hasAnchor = gives(part, "anchor"), hasAnchors = gives(part, "anchors");
    const char* type = tpJointNames[joint->type];
    if (hasAnchors && !isBetweenPoints) {
        return TP_FAIL(reader, placeOf(part, places, "anchors"),
                       "a joint of type \"%s\" takes \"anchor\", not \"anchors\"", type);
    }
    if (hasAnchors && hasAnchor) {
        return TP_FAIL(reader, placeOf(part, places, "anchors"),
                       "a joint takes \"anchor\" or \"anchors\", not both");
    }
    if (needsAnchor && !hasAnchor && !hasAnchors) {
        return TP_FAIL(reader, joint->part.place, "a joint of type \"%s\" needs the key \"%s\"",
                       type, isBetweenPoints ? "anchors" : "anchor");
    }
    if (joint->type == tp_springJoint && !gives(part, "spring")) {
        return TP_FAIL(reader, joint->part.place,
                       "a joint of type \"spring\" needs the key \"spring\"");
    }
    if (joint->type == tp_screwJoint && !gives(part, "pitch")) {
        return TP_FAIL(reader, joint->part.place,
                       "a joint of type \"screw\" needs the key \"pitch\"");
    }
    if (joint->type == tp_gearJoint && joint->ratio == 0.0) {
        return TP_FAIL(reader, placeOf(part, places, "ratio"), "\"ratio\" must not be zero");
    }
    tpResult result = checkAxes(reader, joint, places);
    return result == tp_success ? checkLaws(reader, joint, places) : result;
}

tpResult tpCheckSensor(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneSensor* sensor = part;
    bool isOfJoint = sensor->type == tp_forceTorqueSensor || sensor->type == tp_jointStateSensor;
    const char* needed = isOfJoint ? "joint" : "body";
    const char* other = isOfJoint ? "body" : "joint";
    if (!gives(&sensor->part, needed)) {
        return TP_FAIL(reader, sensor->part.place, "a sensor of type \"%s\" needs the key \"%s\"",
                       tpSensorTypeName((tpSensorType)sensor->type), needed);
    }
    if (gives(&sensor->part, other)) {
        return TP_FAIL(reader, placeOf(&sensor->part, places, other),
                       "a sensor of type \"%s\" takes \"%s\", not \"%s\"",
                       tpSensorTypeName((tpSensorType)sensor->type), needed, other);
    }
    return tp_success;
}

tpResult tpCheckCoupling(tpReader* reader, void* part, const tpScenePlace* places) {
    static const char* const laws[] = { "value", "limits", "spring", "servo" };
    const tpSceneCoupling* coupling = part;
    bool hasLaw = false;
    for (int i = 0; i < 4; ++i) {
        hasLaw = hasLaw || gives(&coupling->part, laws[i]);
    }
    if (!hasLaw) {
        return TP_FAIL(reader, coupling->part.place,
                       "a coupling needs one of the keys \"value\", \"limits\", \"spring\", "
                       "\"servo\"");
    }
    if (gives(&coupling->part, "value") && gives(&coupling->part, "limits")) {
        return TP_FAIL(reader, placeOf(&coupling->part, places, "limits"),
                       "a coupling that always has a \"value\" takes no \"limits\"");
    }
    return tp_success;
}

tpResult tpCheckForce(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneForce* force = part;
    if (force->from > force->to) {
        return TP_FAIL(reader, placeOf(part, places, gives(part, "to") ? "to" : "from"),
                       "\"to\" must not be before \"from\", found %g before %g", force->to,
                       force->from);
    }
    if (gives(part, "at") && !gives(part, "force")) {
        return TP_FAIL(reader, placeOf(part, places, "at"),
                       "\"at\" goes with the key \"force\", which is missing");
    }
    return tp_success;
}

tpResult tpCheckClosedForm(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneClosedForm* form = part;
    double value;
    tpFormulaFault fault;
    if (!tpEvaluateAtTime(form->formula.text, 0.0, &value, &fault)) {
        return TP_FAIL(reader, placeOf(part, places, "formula"), "formula, character %d: %s",
                       fault.column, fault.message);
    }
    if (form->from > form->to) {
        return TP_FAIL(reader, placeOf(part, places, gives(part, "to") ? "to" : "from"),
                       "\"to\" must not be before \"from\", found %g before %g", form->to,
                       form->from);
    }
    return tp_success;
}

tpResult tpCheckTimes(double step, double until, tpError* error) {
    if (until / step > TP_MOST_STEPS) {
        return tpError_Set(error, tp_badInput, "until / step is %g steps; a run has at most %g",
                           until / step, TP_MOST_STEPS);
    }
    if (until > 0.0 && llround(until / step) == 0) {
        return tpError_Set(error, tp_badInput,
                           "a step of %g s is too long: the run ends at %g s, before half of its "
                           "first step",
                           step, until);
    }
    return tp_success;
}

tpResult tpCheckSimulation(tpReader* reader, void* part, const tpScenePlace* places) {
    const tpSceneSimulation* simulation = part;
    tpError error;
    if (tpCheckTimes(simulation->step, simulation->until, &error) != tp_success) {
        return TP_FAIL(reader, placeOf(part, places, "step"), "%s", error.message);
    }
    for (int i = 0; i < simulation->options.count; ++i) {
        const tpSceneOption* option = &simulation->options.items[i];
        reader->failedAt = option->name.place;
        tpResult result = tpCheckRefusal(
            simulation, option, tpReader_PathAt(reader, option->name.place), reader->error);
        if (result != tp_success) {
            return result;
        }
    }
    return tp_success;
}
