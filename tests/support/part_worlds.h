// Worlds of one thing each: materials, forces, locks, kinematic bodies, every type of joint, every
// law of a coordinate, couplings. In any units, and turned about the direction of gravity.

#ifndef TIPPE_TESTS_SUPPORT_PART_WORLDS_H
#define TIPPE_TESTS_SUPPORT_PART_WORLDS_H

#include "support/check.h"
#include "tippe/joints.h"
#include "tippe/world.h"

typedef struct Units {
    double length, mass, time;
} Units;

typedef struct Setting {
    tpStepperId stepper;
    Units units;
    double turn; // rad, of the whole world about the direction of gravity
    int part;    // which of the things below the world holds
} Setting;

static double inUnits(const Setting* s, int length, int mass, int time) {
    return pow(s->units.length, length) * pow(s->units.mass, mass) * pow(s->units.time, time);
}

static tpVec3 turned(const Setting* s, tpVec3 v) {
    return tpRotate(tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), s->turn), v);
}

static tpVec3 place(const Setting* s, double x, double y, double z) {
    return turned(s, tpScale(s->units.length, tpMakeVec3(x, y, z)));
}

static tpVec3 speed(const Setting* s, double x, double y, double z) {
    return turned(s, tpScale(inUnits(s, 1, 0, -1), tpMakeVec3(x, y, z)));
}

static tpVec3 spin(const Setting* s, double x, double y, double z) {
    return turned(s, tpScale(inUnits(s, 0, 0, -1), tpMakeVec3(x, y, z)));
}

static void addMaterials(tpWorld* world, const Setting* s) {
    tpMaterialDef rough = tpDefaultMaterialDef();
    rough.friction.staticCoefficient = 0.6;
    rough.friction.dynamicCoefficient = 0.4;
    rough.friction.torsionalArm = 0.02 * s->units.length;
    rough.friction.rollingArm = 0.01 * s->units.length;
    rough.restitution = 0.3;
    assert_int_equal(tpCreateMaterial(world, &rough, NULL), 1);
    tpMaterialDef soft = tpDefaultMaterialDef();
    soft.friction.staticCoefficient = soft.friction.dynamicCoefficient = 0.5;
    soft.contact.compliance = 1e-4 * inUnits(s, 0, -1, 2);
    soft.contact.damping = 20.0 * inUnits(s, 0, 1, -1);
    assert_int_equal(tpCreateMaterial(world, &soft, NULL), 2);
    tpMaterialDef grooved = rough;
    grooved.friction.ellipse[0] = 1.0;
    grooved.friction.ellipse[1] = 0.5;
    grooved.friction.direction = tpMakeVec3(1.0, 0.0, 0.0);
    assert_int_equal(tpCreateMaterial(world, &grooved, NULL), 3);
}

static tpBodyDef bodyAt(const Setting* s, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), s->turn);
    return def;
}

static tpShapeDef shapeOf(const Setting* s, tpMaterialId material) {
    tpShapeDef def = tpDefaultShapeDef();
    def.material = material;
    def.density = 500.0 * inUnits(s, -3, 1, 0);
    return def;
}

static tpBodyId addBox(tpWorld* world, const Setting* s, const tpBodyDef* def,
                       tpMaterialId material, double x, double y, double z) {
    tpBodyId body = tpCreateBody(world, def, NULL);
    tpShapeDef shape = shapeOf(s, material);
    tpBox box = { tpScale(s->units.length, tpMakeVec3(x, y, z)) };
    tpError error = { 0 };
    tpCreateBox(world, body, &shape, &box, &error);
    return body;
}

static void addGround(tpWorld* world, const Setting* s) {
    tpBodyDef def = bodyAt(s, tpMakeVec3(0.0, 0.0, 0.0));
    def.kind = tp_fixedBody;
    tpShapeDef shape = shapeOf(s, 1);
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    def.position = place(s, 3.0, 0.0, 0.05);
    addBox(world, s, &def, 2, 1.0, 1.0, 0.1);
}

// Bodies that slide, roll, spin, bounce and lie on each other.

static void addSlider(tpWorld* world, const Setting* s) {
    tpBodyDef def = bodyAt(s, place(s, 0.0, 0.0, 0.0999));
    def.velocity = speed(s, 1.0, 0.4, 0.0);
    def.angularVelocity = spin(s, 0.0, 0.0, 3.0);
    addBox(world, s, &def, 3, 0.4, 0.3, 0.2);
    def = bodyAt(s, place(s, 0.02, 0.01, 0.27));
    addBox(world, s, &def, 1, 0.2, 0.25, 0.14);
}

static void addSoftFall(tpWorld* world, const Setting* s) {
    tpBodyDef def = bodyAt(s, place(s, 3.1, 0.1, 0.17));
    def.velocity = speed(s, 0.3, 0.0, -0.5);
    addBox(world, s, &def, 2, 0.2, 0.2, 0.13);
}

static void addBall(tpWorld* world, const Setting* s) {
    tpShapeDef shape = shapeOf(s, 1);
    tpBodyDef def = bodyAt(s, place(s, 1.0, 0.0, 0.12));
    def.velocity = speed(s, -0.7, 0.2, -1.0);
    def.angularVelocity = spin(s, 5.0, 2.0, 4.0);
    def.linearDamping = 0.3 * inUnits(s, 0, 0, -1);
    def.angularDamping = 0.2 * inUnits(s, 0, 0, -1);
    tpSphere ball = { 0.1 * s->units.length };
    tpCreateSphere(world, tpCreateBody(world, &def, NULL), &shape, &ball, NULL);
}

static void addCapsule(tpWorld* world, const Setting* s) {
    tpShapeDef shape = shapeOf(s, 1);
    tpBodyDef def = bodyAt(s, place(s, 1.5, 0.6, 0.13));
    def.velocity = speed(s, 0.0, -0.6, -0.4);
    def.angularVelocity = spin(s, 1.0, 0.0, 2.0);
    def.gravityScale = 0.5;
    double l = s->units.length;
    tpCreateCapsule(world, tpCreateBody(world, &def, NULL), &shape,
                    &(tpCapsule){ 0.1 * l, 0.3 * l, { 1.0, 0.0, 0.0 } }, NULL);
}

static void addPulledDisc(tpWorld* world, const Setting* s) {
    double l = s->units.length;
    tpShapeDef shape = shapeOf(s, 1);
    tpBodyDef def = bodyAt(s, place(s, -1.0, 0.5, 0.16));
    def.angularVelocity = spin(s, 0.5, 0.3, 8.0);
    tpBodyId disc = tpCreateBody(world, &def, NULL);
    tpCreateCylinder(world, disc, &shape, &(tpCylinder){ 0.2 * l, 0.3 * l, { 0.0, 0.0, 1.0 } },
                     NULL);
    tpForceDef force = tpDefaultForceDef();
    force.body = disc;
    force.force = turned(s, tpScale(inUnits(s, 1, 1, -2), tpMakeVec3(20.0, 5.0, 0.0)));
    force.torque = turned(s, tpScale(inUnits(s, 2, 1, -2), tpMakeVec3(0.0, 0.0, 1.0)));
    force.hasPoint = true;
    force.point = tpScale(l, tpMakeVec3(0.1, 0.0, 0.05));
    force.from = 0.02 * s->units.time;
    force.to = 0.055 * s->units.time;
    tpCreateForce(world, &force, NULL);
}

// A box on a platform that moves as told.
static void addCarried(tpWorld* world, const Setting* s) {
    tpBodyDef def = bodyAt(s, place(s, -2.0, -1.0, 0.3));
    def.kind = tp_kinematicBody;
    def.velocity = speed(s, 0.2, 0.1, 0.05);
    def.angularVelocity = spin(s, 0.0, 0.0, 0.4);
    addBox(world, s, &def, 1, 0.8, 0.8, 0.1);
    def = bodyAt(s, place(s, -2.0, -1.0, 0.4));
    addBox(world, s, &def, 1, 0.2, 0.1, 0.1);
}

// Locked against turning about two axes.
static void addLocked(tpWorld* world, const Setting* s) {
    tpBodyDef def = bodyAt(s, place(s, 0.0, 2.0, 0.0501));
    def.velocity = speed(s, 0.3, 0.3, 0.0);
    def.locked = tp_lockTurnX | tp_lockTurnY;
    addBox(world, s, &def, 1, 0.3, 0.1, 0.1);
}

// Laws of a coordinate whose unit is `length` times a length, with efforts to match.
static tpCoordinateDef lawsOf(const Setting* s, int length, int which) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    double value = inUnits(s, length, 0, 0), rate = inUnits(s, length, 0, -1);
    double inertia = inUnits(s, 2 - 2 * length, 1, 0), effort = inUnits(s, 2 - length, 1, -2);
    double drag = inUnits(s, 2 - 2 * length, 1, -1), stiffness = inUnits(s, 2 - 2 * length, 1, -2);
    def.zero = 0.01 * value;
    if (which & 1) {
        def.hasLimits = true;
        def.limits[0] = -0.02 * value;
        def.limits[1] = 0.03 * value;
    }
    if (which & 2) {
        def.hasSpring = true;
        def.spring = (tpSpring){ 30.0 * stiffness, 0.5 * drag, 0.02 * value };
    }
    if (which & 4) {
        def.hasMotor = true;
        def.motor = (tpMotor){ 0.7 * rate, 4.0 * effort };
    }
    if (which & 8) {
        def.hasServo = true;
        def.servo =
            (tpServo){ 0.05 * value, 0.1 * rate, 50.0 * stiffness, 2.0 * drag, 6.0 * effort };
    }
    if (which & 32) { // stiff for the step
        def.hasServo = true;
        def.servo = (tpServo){ 0.05 * value, 0.1 * rate, 2e4 * stiffness, 50.0 * drag, INFINITY };
    }
    if (which & 16) {
        def.armature = 0.2 * inertia;
        def.damping = 0.3 * drag;
        def.friction = 0.6 * effort;
    }
    return def;
}

// Two boxes of which the first hangs on the world, the second on the first by the joint.
static tpJointId addJoined(tpWorld* world, const Setting* s, double x, tpJointDef joint) {
    tpBodyDef def = bodyAt(s, place(s, x, 5.0, 2.0));
    tpBodyId a = addBox(world, s, &def, 1, 0.2, 0.1, 0.1);
    def = bodyAt(s, place(s, x, 5.3, 1.9));
    def.velocity = speed(s, 0.1, 0.05, 0.2);
    def.angularVelocity = spin(s, 0.3, -0.2, 0.4);
    tpBodyId b = addBox(world, s, &def, 1, 0.1, 0.2, 0.15);
    tpJointDef hinge = tpDefaultJointDef();
    hinge.type = tp_revoluteJoint;
    hinge.bodyB = a;
    hinge.anchorA = hinge.anchorB = place(s, x, 4.8, 2.1);
    hinge.axis = turned(s, tpMakeVec3(1.0, 0.0, 0.0));
    hinge.coordinate = lawsOf(s, 0, 16);
    tpError error = { 0 };
    tpJointId first = tpCreateJoint(world, &hinge, &error);
    assert_true(first.slot != 0);
    joint.bodyA = a;
    joint.bodyB = b;
    joint.anchorA = place(s, x, 5.1, 2.0);
    bool isLong = joint.type == tp_distanceJoint || joint.type == tp_springJoint;
    joint.anchorB = isLong ? place(s, x + 0.05, 5.3, 1.9) : joint.anchorA;
    joint.axis = turned(s, tpNormalize(tpMakeVec3(0.6, 0.3, 0.2)));
    if (joint.type == tp_universalJoint) {
        joint.axis = turned(s, tpMakeVec3(1.0, 0.0, 0.0));
        joint.secondAxis = turned(s, tpMakeVec3(0.0, 1.0, 0.0));
    }
    tpJointId made = tpCreateJoint(world, &joint, &error);
    if (made.slot == 0) {
        fail_msg("%s", error.message);
    }
    return made;
}

enum { lawCount = 9, typeCount = 8, looseCount = 7, couplingCount = 4 };

// A coordinate with some of the laws, a turn or a slide.
static tpJointId addDriven(tpWorld* world, const Setting* s, double x, int which, int length) {
    static const int laws[lawCount] = { 0, 1, 2, 4, 8, 16, 6, 26, 32 };
    tpJointDef def = tpDefaultJointDef();
    def.type = length == 1 ? tp_prismaticJoint : tp_revoluteJoint;
    def.coordinate = lawsOf(s, length, laws[which]);
    return addJoined(world, s, x, def);
}

static void addOtherJoint(tpWorld* world, const Setting* s, int which) {
    static const tpJointType types[typeCount] = { tp_ballJoint,      tp_cylindricalJoint,
                                                  tp_universalJoint, tp_fixedJoint,
                                                  tp_planarJoint,    tp_screwJoint,
                                                  tp_distanceJoint,  tp_springJoint };
    tpJointDef def = tpDefaultJointDef();
    def.type = types[which];
    def.pitch = 0.1 * s->units.length;
    bool isSlide =
        def.type == tp_cylindricalJoint || def.type == tp_planarJoint || def.type == tp_springJoint;
    bool hasLaws = def.type != tp_fixedJoint && def.type != tp_distanceJoint;
    if (hasLaws) {
        def.coordinate = lawsOf(s, isSlide ? 1 : 0, def.type == tp_springJoint ? 2 : 18);
    }
    if (def.type == tp_springJoint || def.type == tp_ballJoint) {
        def.coordinate.zero = 0.0;
    }
    addJoined(world, s, 10.0, def);
}

static void addCompound(tpWorld* world, const Setting* s) {
    tpVec3 x = { 1.0, 0.0, 0.0 }, y = { 0.0, 1.0, 0.0 }, z = { 0.0, 0.0, 1.0 };
    tpAxisDef axes[3] = { { "a", tp_turnAxis, turned(s, x), lawsOf(s, 0, 3) },
                          { "b", tp_slideAxis, turned(s, y), lawsOf(s, 1, 8) },
                          { "c", tp_turnAxis, turned(s, z), lawsOf(s, 0, 16) } };
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_compoundJoint;
    def.axes = axes;
    def.axisCount = 3;
    addJoined(world, s, 10.0, def);
}

// Two turns or two slides, their sum held, limited, sprung or driven.
static void addCoupled(tpWorld* world, const Setting* s, int which, int length) {
    tpCouplingTerm terms[2] = { { addDriven(world, s, 10.0, 5, length), 0, 1.0 },
                                { addDriven(world, s, 11.0, 2, length), 0, -0.7 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    tpCoordinateDef like = lawsOf(s, length, 11);
    def.terms = terms;
    def.termCount = 2;
    def.hasValue = which == 0;
    def.value = 0.003 * inUnits(s, length, 0, 0);
    def.hasLimits = which == 1;
    def.limits[0] = like.limits[0];
    def.limits[1] = like.limits[1];
    def.hasSpring = which == 2;
    def.spring = like.spring;
    def.hasServo = which == 3;
    def.servo = like.servo;
    assert_true(tpCreateCoupling(world, &def, NULL).slot != 0);
}

enum { partCount = looseCount + 2 * lawCount + typeCount + 1 + 2 * couplingCount };

static void addPart(tpWorld* world, const Setting* s) {
    static void (*const loose[looseCount])(tpWorld*, const Setting*) = {
        addSlider, addSoftFall, addBall, addCapsule, addPulledDisc, addCarried, addLocked
    };
    int part = s->part;
    if (part < looseCount) {
        loose[part](world, s);
        return;
    }
    part -= looseCount;
    if (part < 2 * lawCount) {
        addDriven(world, s, 10.0, part / 2, part % 2);
        return;
    }
    part -= 2 * lawCount;
    if (part < typeCount) {
        addOtherJoint(world, s, part);
        return;
    }
    part -= typeCount;
    if (part == 0) {
        addCompound(world, s);
        return;
    }
    addCoupled(world, s, (part - 1) / 2, (part - 1) % 2);
}

static tpWorld* makeWorld(const Setting* s) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = s->stepper;
    def.gravity = tpScale(inUnits(s, 1, 0, -2), tpMakeVec3(0.0, 0.0, -9.81));
    tpWorld* world = tpCreateWorld(&def);
    assert_non_null(world);
    addMaterials(world, s);
    addGround(world, s);
    addPart(world, s);
    return world;
}

#endif
