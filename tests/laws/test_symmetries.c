// What must not change: worlds of all that there is, one thing at a time, in other units and turned
// about the direction of gravity.
//
// Units of 1024 are exact in binary, and tolerances follow the scene by powers of 1024. Motion,
// contacts, joints and reports stay the same but for rounding, so that a term of the wrong
// dimension, a lost component or a wrong axis shows wherever it has any effect.

#include <string.h>

#include "support/check.h"
#include "tippe/joints.h"

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

// What there is to see of a world, in plain units and not turned: so many numbers.
enum { maxNumbers = 20000 };
typedef struct Seen {
    double numbers[maxNumbers];
    int count;
    const char* names[maxNumbers];
} Seen;

static void put(Seen* seen, const char* name, double number) {
    assert_true(seen->count < maxNumbers);
    seen->names[seen->count] = name;
    seen->numbers[seen->count++] = number;
}

static void putVector(Seen* seen, const Setting* s, const char* name, tpVec3 v, double unit) {
    v = tpUnrotate(tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), s->turn), v);
    put(seen, name, v.x / unit);
    put(seen, name, v.y / unit);
    put(seen, name, v.z / unit);
}

static void lookAtReport(Seen* seen, const Setting* s, const tpStepReport* r) {
    double energy = inUnits(s, 2, 1, -2);
    put(seen, "residual", r->residual);
    put(seen, "energy increase", r->energyIncrease / energy);
    put(seen, "penetration", r->penetration / s->units.length);
    put(seen, "energy limit", r->limits.energy / energy);
    put(seen, "overlap limit", r->limits.penetration / s->units.length);
    put(seen, "violations", r->violations);
    put(seen, "contacts", r->contactCount);
    put(seen, "iterations", r->iterationCount);
    put(seen, "failures", r->failureCount);
    put(seen, "kinetic", r->kineticAfter / energy);
    put(seen, "potential", r->potentialAfter / energy);
    put(seen, "work", r->externalWork / energy);
    put(seen, "friction loss", r->frictionLoss / energy);
    put(seen, "impact loss", r->impactLoss / energy);
    put(seen, "numerical loss", r->numericalLoss / energy);
    put(seen, "cone violation", r->coneViolation);
}

static void lookAtWorld(Seen* seen, const Setting* s, const tpWorld* world) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        putVector(seen, s, "position", tpBody_GetPosition(world, body), s->units.length);
        putVector(seen, s, "velocity", tpBody_GetVelocity(world, body), inUnits(s, 1, 0, -1));
        putVector(seen, s, "spin", tpBody_GetAngularVelocity(world, body), inUnits(s, 0, 0, -1));
    }
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* c = &contacts[i];
        double impulse = inUnits(s, 1, 1, -1);
        put(seen, "gap", c->gap / s->units.length);
        put(seen, "normal impulse", c->normalImpulse / impulse);
        putVector(seen, s, "friction", c->frictionImpulse, impulse);
        put(seen, "torsion", c->torsionalImpulse / inUnits(s, 2, 1, -1));
        putVector(seen, s, "rolling", c->rollingImpulse, inUnits(s, 2, 1, -1));
        put(seen, "sliding speed", c->slidingSpeed / inUnits(s, 1, 0, -1));
        put(seen, "contact state", c->state);
    }
    for (int i = 0; i < tpWorld_GetJointCount(world); ++i) {
        tpJointId joint = tpWorld_GetJoint(world, i);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, joint, &force, &torque);
        putVector(seen, s, "reaction force", force, inUnits(s, 1, 1, -2));
        putVector(seen, s, "reaction torque", torque, inUnits(s, 2, 1, -2));
        for (int k = 0; k < tpJoint_GetCoordinateCount(world, joint); ++k) {
            int length = tpJoint_GetAxis(world, joint, k).kind == tp_slideAxis ? 1 : 0;
            tpCoordinateState state = tpJoint_GetState(world, joint, k);
            put(seen, "coordinate", state.value / inUnits(s, length, 0, 0));
            put(seen, "coordinate's speed", state.speed / inUnits(s, length, 0, -1));
            put(seen, "effort", state.effort / inUnits(s, 2 - length, 1, -2));
            put(seen, "limit's effort", state.limitEffort / inUnits(s, 2 - length, 1, -2));
        }
    }
}

// Energy that is there before and after, work and losses: nothing is missing.
static void checkAccount(const Setting* s, const tpStepReport* r) {
    double gain = r->kineticAfter + r->potentialAfter - r->kineticBefore - r->potentialBefore;
    double open = gain - r->externalWork + r->frictionLoss + r->impactLoss;
    double scale = inUnits(s, 2, 1, -2) + fabs(r->kineticAfter) + fabs(r->potentialAfter);
    bool isClosed = fabs(open) <= 1e-9 * scale && r->frictionLoss >= -1e-9 * scale &&
                    fabs(r->energyIncrease - gain + r->externalWork) <= 1e-9 * scale;
    if (!isClosed) {
        fail_msg("%s, part %d: the account is open by %g J", tpStepperName(s->stepper), s->part,
                 open);
    }
}

static void look(const Setting* s, int steps, Seen* seen) {
    tpWorld* world = makeWorld(s);
    seen->count = 0;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01 * s->units.time);
        lookAtReport(seen, s, &report);
        checkAccount(s, &report);
    }
    lookAtWorld(seen, s, world);
    tpDestroyWorld(world);
}

// Counts of work and what is left over by rounding may differ.
static bool isRounding(const char* name) {
    return strcmp(name, "residual") == 0 || strcmp(name, "iterations") == 0 ||
           strcmp(name, "cone violation") == 0;
}

static void compare(const Setting* s, const Seen* plain, double tolerance) {
    static Seen other;
    look(s, 8, &other);
    assert_int_equal(other.count, plain->count);
    for (int n = 0; n < other.count; ++n) {
        double a = plain->numbers[n], b = other.numbers[n];
        if (!isRounding(plain->names[n]) && !(fabs(a - b) <= tolerance * fmax(1.0, fabs(a)))) {
            fail_msg("%s, part %d, in units %g m, %g kg, %g s, turned by %g: %s is %.12g instead "
                     "of %.12g",
                     tpStepperName(s->stepper), s->part, s->units.length, s->units.mass,
                     s->units.time, s->turn, plain->names[n], b, a);
        }
    }
}

// The directions that a ball joint swings in and a planar one slides in are chosen by world axes.
static bool hasFreeAxes(int part) {
    int type = part - looseCount - 2 * lawCount;
    return type == 0 || type == 4;
}

static void comparePart(tpStepperId stepper, int part) {
    static Seen plain;
    static const Units units[] = { { 1.0 / 1024.0, 1024.0, 1.0 },
                                   { 1.0, 1.0, 1024.0 },
                                   { 1024.0, 1.0, 1.0 } };
    Setting s = { stepper, { 1.0, 1.0, 1.0 }, 0.0, part };
    look(&s, 8, &plain);
    if (!hasFreeAxes(part)) {
        s.turn = 0.7;
        compare(&s, &plain, 1e-6);
        s.turn = 0.0;
    }
    for (int k = 0; k < (part < looseCount ? 3 : 2); ++k) {
        s.units = units[k];
        compare(&s, &plain, 1e-7);
    }
}

static void sameByEachStepper(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_benderSchmitt };
    for (int part = 0; part < partCount; ++part) {
        for (int i = 0; i < 3; ++i) {
            comparePart(steppers[i], part);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sameByEachStepper) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
