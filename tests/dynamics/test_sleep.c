// Quiet islands fall asleep after their time, and wake when something concerns them.

#include "ball_cases.h"
#include "dynamics/sleep.h"

static const tpSleepSettings settings = { .speed = 1e-3, .time = 0.45 };

// A step in which nothing happens.
static void passStep(tpSleep* sleep, tpSystem* system) {
    tpStepReport report = { .converged = true };
    tpArena_Reset(&system->arena);
    assert_true(tpSleep_Begin(sleep, system, 0.1));
    assert_true(tpSleep_End(sleep, system, &settings, 0.1, &report));
}

static void testSleep(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int still = addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    int moving = addBall(world, tpMakeVec3(5.0, 0.0, 1.0), tpMakeVec3(0.1, 0.0, 0.0));
    system->gravity = tpZeroVec3();
    tpSleep sleep = { 0 };
    for (int k = 1; k <= 6; ++k) {
        passStep(&sleep, system);
        assert_int_equal(system->bodies.data[still].isAsleep, k >= 5);
        assert_false(system->bodies.data[moving].isAsleep);
    }
    // Within a step it is out of the system, between steps it is as if nobody slept.
    tpArena_Reset(&system->arena);
    assert_true(tpSleep_Begin(&sleep, system, 0.1));
    assert_true(system->bodies.data[still].inverseMass == 0.0);
    assert_false(tpSleep_IsAll(system)); // the other one moves
    tpStepReport report = { .converged = true };
    assert_true(tpSleep_End(&sleep, system, &settings, 0.1, &report));
    assert_true(system->bodies.data[still].inverseMass == 1.0 / ballMass);

    // A user gives it a velocity: it wakes.
    system->velocities.data[still].linear.y = 0.5;
    system->bodies.data[still].isDisturbed = true;
    system->hasDisturbed = true;
    passStep(&sleep, system);
    assert_false(system->bodies.data[still].isAsleep);
    CHECK_NEAR(system->velocities.data[still].linear.y, 0.5, 0.0);
    tpSleep_Destroy(&sleep, system);
    tpDestroyWorld(world);
}

// Gravity that changes wakes all.
static void testGravity(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    system->gravity = tpZeroVec3();
    tpSleep sleep = { 0 };
    for (int k = 0; k < 8; ++k) {
        passStep(&sleep, system);
    }
    assert_true(system->bodies.data[0].isAsleep);
    system->gravity = tpMakeVec3(0.0, 0.0, -1.0);
    passStep(&sleep, system);
    assert_false(system->bodies.data[0].isAsleep);
    tpSleep_Destroy(&sleep, system);
    tpDestroyWorld(world);
}

// The law of a contact ----------------------------------------------------------------------------

static const double lawMu = 0.6;

// A ball with a shape on a floor with a shape, and their contact.
static tpWorld* makeTouching(tpContactInfo* info) {
    tpWorld* world = makeEmptyWorld();
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = lawMu;
    material.friction.dynamicCoefficient = 0.5 * lawMu;
    tpMaterialId rough = tpCreateMaterial(world, &material, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = rough;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    int floor = addFloor(world);
    info->bodyA = tpWorld_GetBody(world, ball);
    info->bodyB = tpWorld_GetBody(world, floor);
    info->shapeA =
        tpCreateSphere(world, info->bodyA, &shape, &(tpSphere){ .radius = ballRadius }, NULL);
    info->shapeB =
        tpCreatePlane(world, info->bodyB, &shape, &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    info->normal = tpMakeVec3(0.0, 0.0, 1.0);
    world->system.gravity = tpZeroVec3();
    return world;
}

static double residualWith(tpWorld* world, tpContactInfo* info, tpVec3 r, tpVec3 u) {
    info->normalImpulse = r.z;
    info->frictionImpulse = tpMakeVec3(r.x, r.y, 0.0);
    world->system.velocities.data[0].linear = u;
    world->system.velocities.data[0].angular = tpZeroVec3();
    return tpContactInfo_Residual(&world->system, info);
}

// The nearest point of the cone, by trying.
static tpVec3 searchCone(tpVec3 x) {
    double size = hypot(x.x, x.y), best = size * size + x.z * x.z;
    tpVec3 found = tpZeroVec3();
    if (size <= lawMu * x.z) {
        return x;
    }
    double low = 0.0, high = 10.0;
    for (int k = 0; k < 200; ++k) {
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        double da = hypot(size - lawMu * a, x.z - a), db = hypot(size - lawMu * b, x.z - b);
        low = da > db ? a : low;
        high = da > db ? high : b;
    }
    double load = 0.5 * (low + high), distance = hypot(size - lawMu * load, x.z - load);
    if (distance * distance < best) {
        double part = lawMu * load / size;
        found = tpMakeVec3(part * x.x, part * x.y, load);
    }
    return found;
}

static void testContactLaw(void** state) {
    (void)state;
    tpContactInfo info = { .gap = 0.0 };
    tpWorld* world = makeTouching(&info);
    const double m = ballMass;
    tpVec3 none = tpZeroVec3();
    // Solutions: it sticks in the cone, slides against the friction at its limit, or leaves.
    CHECK_NEAR(residualWith(world, &info, tpMakeVec3(0.3, 0.4, 1.0), none), 0.0, 1e-15);
    tpVec3 sliding = tpMakeVec3(-0.6 * lawMu, -0.8 * lawMu, 1.0);
    CHECK_NEAR(residualWith(world, &info, sliding, tpMakeVec3(0.3, 0.4, 0.0)), 0.0, 1e-15);
    CHECK_NEAR(residualWith(world, &info, none, tpMakeVec3(0.3, 0.4, 0.7)), 0.0, 1e-15);
    // An approach without an impulse, and a load on a contact that opens.
    CHECK_NEAR(residualWith(world, &info, none, tpMakeVec3(0.0, 0.0, -0.2)), 0.2, 1e-15);
    CHECK_NEAR(residualWith(world, &info, tpMakeVec3(0.0, 0.0, 9.0), tpMakeVec3(0.0, 0.0, 0.2)),
               0.2, 1e-14);
    // Anything else, by the definition of the natural map.
    tpRandom random = { 12 };
    for (int k = 0; k < 300; ++k) {
        tpVec3 r = randomVec3(&random, -1.0, 1.0), u = randomVec3(&random, -1.0, 1.0);
        r.z = fabs(r.z);
        tpVec3 z = tpMakeVec3(u.x, u.y, u.z + lawMu * hypot(u.x, u.y));
        tpVec3 projected = searchCone(tpMulAdd(r, -m, z));
        CHECK_NEAR(residualWith(world, &info, r, u), tpDistanceBetween(r, projected) / m, 1e-7);
    }
    tpDestroyWorld(world);
}

// Five steps in which the contact is there while its bodies are awake.
static void passSteps(tpSleep* sleep, tpSystem* system, const tpContactInfo* info) {
    for (int k = 0; k < 5; ++k) {
        assert_true(TP_RESERVE(&system->allocator, system->contacts, 1));
        system->contacts.data[0] = *info;
        system->contacts.count = system->bodies.data[0].isAsleep ? 0 : 1;
        passStep(sleep, system);
    }
}

// Bodies are slow, but the contact between them breaks the law: they stay awake.
static void testLawKeepsAwake(void** state) {
    (void)state;
    for (int isLawful = 0; isLawful < 2; ++isLawful) {
        tpContactInfo info = { .gap = 0.0 };
        tpWorld* world = makeTouching(&info);
        tpSystem* system = &world->system;
        info.normalImpulse = 1.0;
        info.frictionImpulse = tpMakeVec3(isLawful ? 0.5 : 0.9, 0.0, 0.0); // beyond the cone
        tpSleep sleep = { 0 };
        passSteps(&sleep, system, &info);
        assert_int_equal(system->bodies.data[0].isAsleep, isLawful);
        tpSleep_Destroy(&sleep, system);
        tpDestroyWorld(world);
    }
}

// What sleeps is listed among what is awake, with impulses of a step as long as this one and the
// deepest overlap of all.
static void testListed(void** state) {
    (void)state;
    tpContactInfo info = { .gap = -0.003 };
    tpWorld* world = makeTouching(&info);
    tpSystem* system = &world->system;
    info.normalImpulse = 1.0;
    info.frictionImpulse = tpMakeVec3(0.1, 0.2, 0.0);
    info.torsionalImpulse = 0.3;
    info.rollingImpulse = tpMakeVec3(0.0, 0.4, 0.0);
    tpSleep sleep = { 0 };
    passSteps(&sleep, system, &info);
    assert_true(system->bodies.data[0].isAsleep);
    system->contacts.count = 0;
    tpStepReport report = { .converged = true };
    assert_true(tpSleep_End(&sleep, system, &settings, 0.05, &report));
    assert_int_equal(system->contacts.count, 1);
    assert_int_equal(report.contactCount, 1);
    CHECK_NEAR(report.penetration, 0.003, 0.0);
    const tpContactInfo* listed = &system->contacts.data[0];
    CHECK_NEAR(listed->normalImpulse, 0.5, 1e-15);
    CHECK_VEC3(listed->frictionImpulse, tpMakeVec3(0.05, 0.1, 0.0), 1e-15);
    CHECK_NEAR(listed->torsionalImpulse, 0.15, 1e-15);
    CHECK_VEC3(listed->rollingImpulse, tpMakeVec3(0.0, 0.2, 0.0), 1e-15);
    tpSleep_Destroy(&sleep, system);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testContactLaw),
                                        cmocka_unit_test(testLawKeepsAwake),
                                        cmocka_unit_test(testListed), cmocka_unit_test(testSleep),
                                        cmocka_unit_test(testGravity) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
