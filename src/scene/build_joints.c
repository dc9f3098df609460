#include "scene/build_joints.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/build_shapes.h"

static tpSpring springOf(const tpSceneSpring* spring) {
    return (tpSpring){ spring->stiffness, spring->damping, spring->rest };
}

static tpServo servoOf(const tpSceneServo* servo) {
    return (tpServo){ servo->target, servo->speed, servo->stiffness, servo->damping,
                      servo->effort };
}

// What acts on a coordinate. `part` has the keys of the laws.
static tpCoordinateDef makeLaws(const tpScenePart* part, const tpSceneLaws* laws) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.zero = laws->zero;
    def.hasLimits = tpScenePart_Gives(part, "limits");
    def.limits[0] = laws->limits[0];
    def.limits[1] = laws->limits[1];
    def.hasMotor = tpScenePart_Gives(part, "motor");
    def.motor = (tpMotor){ laws->motor.speed, laws->motor.effort };
    def.hasSpring = tpScenePart_Gives(part, "spring");
    def.spring = springOf(&laws->spring);
    def.hasServo = tpScenePart_Gives(part, "servo");
    if (def.hasServo) {
        def.servo = servoOf(&laws->servo);
    }
    def.armature = laws->armature;
    def.damping = laws->damping;
    def.friction = laws->friction;
    return def;
}

// The ends of a distance or a spring that gives one anchor: that is the end on the first body, or
// on the world, and the other end is the origin of the other body.
static void placeAnchors(const tpScene* scene, const tpSceneJoint* joint, tpJointDef* def) {
    bool isBetweenPoints = joint->type == tp_distanceJoint || joint->type == tp_springJoint;
    if (tpScenePart_Gives(&joint->part, "anchors")) {
        def->anchorA = joint->anchors[0];
        def->anchorB = joint->anchors[1];
        return;
    }
    def->anchorA = def->anchorB = joint->anchor;
    const tpSceneBody* bodies = scene->bodies.items;
    int first = joint->bodies[0].index, second = joint->bodies[1].index;
    bool hasAnchor = tpScenePart_Gives(&joint->part, "anchor");
    if (isBetweenPoints && second >= 0) {
        def->anchorB = bodies[second].position;
    } else if (isBetweenPoints) {
        def->anchorA = bodies[first].position;
    } else if (!hasAnchor) { // of joints that need none: where the second body is
        def->anchorA = def->anchorB = bodies[second >= 0 ? second : first].position;
    }
}

static int listAxes(const tpSceneJoint* joint, tpAxisDef axes[tp_maxCoordinates]) {
    int count = joint->axes.count < tp_maxCoordinates ? joint->axes.count : tp_maxCoordinates;
    for (int i = 0; i < count; ++i) {
        const tpSceneAxis* axis = &joint->axes.items[i];
        bool isTurn = tpScenePart_Gives(&axis->part, "turn");
        axes[i].name = axis->name.text;
        axes[i].kind = isTurn ? tp_turnAxis : tp_slideAxis;
        axes[i].direction = tpNormalize(isTurn ? axis->turn : axis->slide);
        axes[i].coordinate = makeLaws(&axis->part, &axis->laws);
    }
    return count;
}

tpResult tpFindSceneCoordinate(const tpScene* scene, const tpSceneCoordinate* coordinate,
                               const tpJointId* joints, const tpWorld* world, tpJointId* joint,
                               int* number, tpError* error) {
    *joint = joints[coordinate->joint];
    *number = tpJoint_FindCoordinate(world, *joint, coordinate->axis);
    if (*number >= 0) {
        return tp_success;
    }
    char names[200] = "";
    int count = tpJoint_GetCoordinateCount(world, *joint);
    for (int i = 0; i < count; ++i) {
        const char* name = tpJoint_GetAxis(world, *joint, i).name;
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s\"%s%s%s\"", i == 0 ? "" : ", ",
                 tpJoint_GetName(world, *joint), name[0] != '\0' ? "." : "", name);
    }
    tpError_Set(error, tp_badInput, "there is no coordinate \"%.80s\"; the joint has %s",
                coordinate->name, count > 0 ? names : "none");
    return tpFailBuilding(scene, coordinate->place, error);
}

tpResult tpBuildSceneCoupling(const tpScene* scene, const tpSceneCoupling* coupling,
                              const tpJointId* joints, tpWorld* world, tpError* error) {
    tpCouplingTerm terms[tp_maxCouplingTerms];
    tpCouplingDef def = tpDefaultCouplingDef();
    tpResult result = tp_success;
    def.name = coupling->name.text;
    def.terms = terms;
    def.termCount = coupling->of.count;
    for (int i = 0; result == tp_success && i < def.termCount; ++i) {
        const tpSceneTerm* term = &coupling->of.items[i];
        terms[i].factor = term->factor;
        result = tpFindSceneCoordinate(scene, &term->of, joints, world, &terms[i].joint,
                                       &terms[i].coordinate, error);
    }
    if (result != tp_success) {
        return result;
    }
    def.hasValue = tpScenePart_Gives(&coupling->part, "value");
    def.value = coupling->value;
    def.hasLimits = tpScenePart_Gives(&coupling->part, "limits");
    def.limits[0] = coupling->limits[0];
    def.limits[1] = coupling->limits[1];
    def.hasSpring = tpScenePart_Gives(&coupling->part, "spring");
    def.spring = springOf(&coupling->spring);
    def.hasServo = tpScenePart_Gives(&coupling->part, "servo");
    def.servo = def.hasServo ? servoOf(&coupling->servo) : def.servo;
    tpCouplingId id = tpCreateCoupling(world, &def, error);
    return tpCoupling_IsValid(world, id) ? tp_success
                                         : tpFailBuilding(scene, coupling->part.place, error);
}

static tpBodyId bodyOf(const tpSceneReference* reference, const tpBodyId* bodies) {
    tpBodyId world = { 0, 0 };
    return reference->index >= 0 ? bodies[reference->index] : world;
}

tpResult tpBuildSceneJoint(const tpScene* scene, const tpSceneJoint* joint, const tpBodyId* bodies,
                           tpWorld* world, tpJointId* id, tpError* error) {
    tpAxisDef axes[tp_maxCoordinates];
    tpJointDef def = tpDefaultJointDef();
    def.name = joint->name.text;
    def.type = (tpJointType)joint->type;
    def.bodyA = bodyOf(&joint->bodies[0], bodies);
    def.bodyB = bodyOf(&joint->bodies[1], bodies);
    placeAnchors(scene, joint, &def);
    def.axis = tpNormalize(joint->axis);
    def.secondAxis = tpNormalize(joint->axis2);
    def.coordinate = makeLaws(&joint->part, &joint->laws);
    def.axisCount = listAxes(joint, axes);
    def.axes = axes;
    def.ratio = joint->ratio;
    def.pitch = joint->pitch;
    def.collide = joint->collide;
    *id = tpCreateJoint(world, &def, error);
    return tpJoint_IsValid(world, *id) ? tp_success
                                       : tpFailBuilding(scene, joint->part.place, error);
}

tpResult tpBuildSceneSensor(const tpScene* scene, const tpSceneSensor* sensor,
                            const tpBodyId* bodies, const tpJointId* joints, tpWorld* world,
                            tpError* error) {
    tpSensorDef def = tpDefaultSensorDef();
    def.name = sensor->name.text;
    def.type = (tpSensorType)sensor->type;
    def.pose = tpMakePose(sensor->position, tpSceneRotation_Get(&sensor->rotation));
    tpResult result = tp_success;
    if (def.type == tp_jointStateSensor) {
        result = tpFindSceneCoordinate(scene, &sensor->joint, joints, world, &def.joint,
                                       &def.coordinate, error);
    } else if (def.type == tp_forceTorqueSensor) {
        def.joint = joints[sensor->joint.joint];
    } else {
        def.body = bodies[sensor->body.index];
    }
    if (result != tp_success) {
        return result;
    }
    tpSensorId id = tpCreateSensor(world, &def, error);
    return tpSensor_IsValid(world, id) ? tp_success
                                       : tpFailBuilding(scene, sensor->part.place, error);
}
