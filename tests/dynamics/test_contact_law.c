// The law of a contact: what two materials make together, the frame, and friction of impacts.

#include "ball_cases.h"

// Approach at the point, spin counted; friction of impacts is less from .1 to .2 m/s on.
static void testApproach(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    contact.pointA.x += 0.1; // off the vertical line, where turning moves the point up and down
    system->velocities.data[ball].angular = tpMakeVec3(0.0, 2.0, 0.0);
    double approach = tpContact_Approach(&contact, system->poses.data, system->velocities.data);
    CHECK_NEAR(approach, 3.0 + 2.0 * 0.1, 1e-14);
    const double speeds[] = { -1.0, 0.05, 0.1, 0.2, 5.0 }, factors[] = { 1.0, 1.0, 1.0, 0.6, 0.6 };
    for (int i = 0; i < 5; ++i) {
        tpContactLaw law = makeLaw(0.5);
        law.impactReduction = 0.4;
        tpContactLaw_Meet(&law, speeds[i]);
        CHECK_NEAR(law.mu, 0.5 * factors[i], 1e-15);
        CHECK_NEAR(law.muStatic, 0.5 * factors[i], 1e-15);
    }
    tpDestroyWorld(world);
}

// A ball with a shape over a floor with one, of the two materials.
typedef struct MadeContact {
    tpWorld* world;
    tpContact contact;
} MadeContact;

static MadeContact makeMade(const tpMaterialDef* onBall, const tpMaterialDef* onFloor) {
    MadeContact made = { .world = makeEmptyWorld() };
    tpWorld* world = made.world;
    const tpMaterialDef* materials[2] = { onBall, onFloor };
    int bodies[2];
    bodies[0] = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    bodies[1] = addFloor(world);
    for (int i = 0; i < 2; ++i) {
        tpShapeDef def = tpDefaultShapeDef();
        def.material = tpCreateMaterial(world, materials[i], NULL);
        assert_true(def.material > 0);
        tpSphere sphere = { .radius = ballRadius };
        tpCreateSphere(world, tpWorld_GetBody(world, i), &def, &sphere, NULL);
    }
    made.contact = makeContact(&world->system, bodies[0], bodies[1]);
    made.contact.shapeA = 0;
    made.contact.shapeB = 1;
    return made;
}

// Geometric means of friction, the larger restitution.
static void testMixing(void** state) {
    (void)state;
    tpMaterialDef a = tpDefaultMaterialDef(), b = tpDefaultMaterialDef();
    a.friction.staticCoefficient = 0.8;
    a.friction.dynamicCoefficient = 0.2;
    a.friction.torsionalArm = 0.01;
    a.restitution = 0.3;
    b.friction.staticCoefficient = 0.8;
    b.friction.dynamicCoefficient = 0.8;
    b.friction.torsionalArm = 0.04;
    b.restitution = 0.6;
    MadeContact made = makeMade(&a, &b);
    tpContactLaw law = tpMakeContactLaw(&made.world->system, &made.contact);
    CHECK_NEAR(law.mu, 0.4, 1e-15);
    CHECK_NEAR(law.muStatic, 0.8, 1e-15);
    CHECK_NEAR(law.arm, 0.02, 1e-15);
    CHECK_NEAR(law.restitution, 0.6, 0.0);
    CHECK_NEAR(law.stiffness, 0.0, 0.0);
    tpDestroyWorld(made.world);
}

// Two springs one after the other; a spring bounces on its own, without restitution.
static void testSprings(void** state) {
    (void)state;
    tpMaterialDef a = tpDefaultMaterialDef(), b = tpDefaultMaterialDef();
    a.contact = (tpCompliance){ .compliance = 1e-4, .damping = 2.0 };
    b.contact = (tpCompliance){ .compliance = 3e-4, .damping = 2.0 };
    b.restitution = 0.5;
    MadeContact made = makeMade(&a, &b);
    // Steppers that know no springs take the contact as rigid.
    CHECK_NEAR(tpMakeContactLaw(&made.world->system, &made.contact).stiffness, 0.0, 0.0);
    CHECK_NEAR(tpMakeContactLaw(&made.world->system, &made.contact).restitution, 0.5, 0.0);
    made.world->system.gives = true;
    tpContactLaw law = tpMakeContactLaw(&made.world->system, &made.contact);
    CHECK_NEAR(law.stiffness, 2500.0, 1e-9);
    CHECK_NEAR(law.damping, 2.0 * (1.0 / 16.0 + 9.0 / 16.0), 1e-14);
    CHECK_NEAR(law.restitution, 0.0, 0.0);
    tpDestroyWorld(made.world);
}

// Frames are right-handed for every normal: along x on a table, along the level line elsewhere.
static void testFrames(void** state) {
    (void)state;
    tpMaterialDef plain = tpDefaultMaterialDef();
    MadeContact made = makeMade(&plain, &plain);
    const tpVec3 normals[] = { { 0.0, 0.0, 1.0 }, { 0.0, 0.0, -1.0 },  { 1.0, 0.0, 0.0 },
                               { 0.6, 0.0, 0.8 }, { 0.48, 0.64, 0.6 }, { 1e-10, 0.0, 1.0 } };
    for (size_t i = 0; i < sizeof(normals) / sizeof(*normals); ++i) {
        made.contact.normal = normals[i];
        tpContactLaw law = tpMakeContactLaw(&made.world->system, &made.contact);
        CHECK_NEAR(tpLength(law.tangents[0]), 1.0, 1e-15);
        CHECK_NEAR(tpDot(law.tangents[0], normals[i]), 0.0, 1e-15);
        CHECK_VEC3(tpCross(normals[i], law.tangents[0]), law.tangents[1], 1e-15);
        bool isTable = fabs(normals[i].z) > 0.999;
        CHECK_NEAR(isTable ? fabs(law.tangents[0].x) - 1.0 : law.tangents[0].z, 0.0, 1e-9);
    }
    tpDestroyWorld(made.world);
}

// The axis of the ellipse turns with the body whose material has it.
static void testEllipse(void** state) {
    (void)state;
    tpMaterialDef plain = tpDefaultMaterialDef(), ski = tpDefaultMaterialDef();
    ski.friction.ellipse[0] = 0.25;
    ski.friction.direction = tpMakeVec3(1.0, 0.0, 0.3);
    MadeContact made = makeMade(&ski, &plain);
    tpSystem* system = &made.world->system;
    system->poses.data[0].rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.5);
    tpContactLaw law = tpMakeContactLaw(system, &made.contact);
    CHECK_NEAR(law.ellipse[0], 0.5, 1e-15);
    CHECK_NEAR(law.ellipse[1], 1.0, 1e-15);
    CHECK_VEC3(law.tangents[0], tpMakeVec3(cos(0.5), sin(0.5), 0.0), 1e-14);
    CHECK_VEC3(law.tangents[1], tpMakeVec3(-sin(0.5), cos(0.5), 0.0), 1e-14);
    tpDestroyWorld(made.world);
}

// Friction in units of its ellipsoid: the length of its parts over the scales along them. A scale
// of nothing is asked for nothing.
static void testFrictionSize(void** state) {
    (void)state;
    tpRandom random = { 6 };
    for (int k = 0; k < 100; ++k) {
        tpVec3 normal = tpNormalize(randomVec3(&random, -1.0, 1.0));
        tpContactLaw law = { .ellipse = { randomBetween(&random, 0.2, 3.0), 0.7 },
                             .arm = k % 2 == 0 ? 0.0 : 0.05 };
        tpMakeTangents(normal, &law.tangents[0], &law.tangents[1]);
        double x = randomBetween(&random, -1.0, 1.0), y = k % 3 == 0 ? 0.0 : 0.4;
        double torsion = k % 2 == 0 ? 0.0 : randomBetween(&random, -1.0, 1.0);
        tpVec3 friction =
            tpMulAdd(tpScale(x * law.ellipse[0], law.tangents[0]), y * 0.7, law.tangents[1]);
        CHECK_NEAR(tpContactLaw_FrictionSize(&law, friction, torsion * law.arm),
                   sqrt(x * x + y * y + torsion * torsion), 1e-13);
    }
}

// What a stepper with one coefficient of friction would leave out.
static void testAsked(void** state) {
    (void)state;
    tpFriction friction = tpDefaultMaterialDef().friction;
    friction.staticCoefficient = friction.dynamicCoefficient = 0.4;
    assert_int_equal(tpFriction_Asks(&friction), 0);
    friction.staticCoefficient = 0.5;
    assert_int_equal(tpFriction_Asks(&friction), tp_lacksStaticFriction);
    friction.staticCoefficient = 0.4;
    friction.ellipse[0] = friction.ellipse[1] = 0.5; // a circle, but another coefficient
    assert_int_equal(tpFriction_Asks(&friction), tp_lacksFrictionEllipse);
    for (int k = 0; k < 2; ++k) { // one axis alone
        friction.ellipse[k] = 1.0;
        friction.ellipse[1 - k] = 0.5;
        assert_int_equal(tpFriction_Asks(&friction), tp_lacksFrictionEllipse);
    }
    friction.torsionalArm = friction.rollingArm = 0.01;
    friction.impactReduction = 0.2;
    assert_int_equal(tpFriction_Asks(&friction), tp_lacksFrictionEllipse | tp_lacksTorsion |
                                                     tp_lacksRollingFriction |
                                                     tp_lacksImpactFriction);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testApproach),    cmocka_unit_test(testMixing),
        cmocka_unit_test(testSprings),     cmocka_unit_test(testFrames),
        cmocka_unit_test(testEllipse),     cmocka_unit_test(testAsked),
        cmocka_unit_test(testFrictionSize)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
