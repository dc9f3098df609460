// The scales of a scene, and units that are powers of 1024.

#include "ball_cases.h"
#include "dynamics/scales.h"

static tpWorld* makeBalls(double factor) {
    tpWorld* world = makeEmptyWorld();
    const double radii[2] = { 0.5, 2.0 };
    for (int i = 0; i < 2; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 3.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(1e-9, 1e-9, 1e-9));
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        tpCreateSphere(world, body, &shape, &(tpSphere){ .radius = factor * radii[i] }, NULL);
    }
    addFloor(world);
    return world;
}

static void testScales(void** state) {
    (void)state;
    tpWorld* world = makeBalls(1.0);
    tpSystem* system = &world->system;
    assert_true(tpSystem_MeasureScales(system));
    // A body's size is the corner of the box around it: sqrt 3 times the radius.
    double a = 0.5 * sqrt(3.0), b = 2.0 * sqrt(3.0);
    CHECK_NEAR(system->scales.smallest, a, 1e-14);
    CHECK_NEAR(system->scales.length, sqrt((a + b) / (1.0 / a + 1.0 / b)), 1e-14);
    CHECK_NEAR(system->scales.fall, 3.0 * 10.0 * (a + b), 1e-12);
    tpSystem_MeasureUnits(system, 0.01);
    assert_true(system->units.length == 1.0 && system->units.time == 1.0);
    tpDestroyWorld(world);
}

// 2^20 times as large or as small, again and again: lengths count in 2^20 m, times in 2^10 s as
// gravity makes them.
static void testUnits(void** state) {
    (void)state;
    for (int k = -3; k <= 3; ++k) {
        tpWorld* world = makeBalls(ldexp(1.0, 20 * k));
        tpSystem* system = &world->system;
        assert_true(tpSystem_MeasureScales(system));
        tpSystem_MeasureUnits(system, ldexp(0.01, 10 * k));
        assert_true(system->units.length == ldexp(1.0, 20 * k));
        assert_true(system->units.time == ldexp(1.0, 10 * k));
        assert_true(system->units.speed == ldexp(1.0, 10 * k));
        tpDestroyWorld(world);
    }
}

// Units of lengths and times are the powers of 1024 whose ranges meet half way between them, in
// digits: lengths from 2^-7 to 2^3 m count in metres, times from 2^-6 to 2^4 s in seconds.
static void testRanges(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    for (int k = -25; k <= 25; ++k) {
        double unit = ldexp(1.0, 10 * k), inside = 1.0 - 1e-12, none = 0.0;
        const double ends[2] = { ldexp(unit, -7), ldexp(unit, 3) * inside };
        const double times[2] = { ldexp(unit, -6), ldexp(unit, 4) * inside };
        for (int i = 0; i < 2; ++i) {
            system->scales.reach = ends[i];
            system->gravity = tpZeroVec3();
            tpSystem_MeasureUnits(system, times[i] / 512.0);
            assert_true(system->units.length == unit && system->units.time == unit);
            assert_true(system->units.speed == 1.0);
            // In gravity the time is that in which it moves a body by its reach: g t^2 = reach.
            system->gravity = tpMakeVec3(0.0, 0.6 * ends[i], -0.8 * ends[i]);
            tpSystem_MeasureUnits(system, times[i]);
            assert_true(system->units.length == unit && system->units.time == 1.0);
        }
        system->gravity = tpZeroVec3();
        tpSystem_MeasureUnits(system, none);
        assert_true(system->units.time == 1.0);
    }
    tpDestroyWorld(world);
}

// A joint makes its bodies as large as its anchors are far, from the centre of mass or from each
// other; bodies that do not move by impulses have no size, nor do joints that are gone.
static void testAnchors(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    const double masses[3] = { 2.0, 3.0, 5.0 };
    tpBodyId bodies[5];
    for (int i = 0; i < 5; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = i < 3 ? tp_dynamicBody : i == 3 ? tp_kinematicBody : tp_fixedBody;
        def.hasMass = true;
        def.mass.mass = i < 3 ? masses[i] : 1.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(1e-9, 1e-9, 1e-9));
        def.position = tpMakeVec3(3.0 * i, 0.0, 0.0);
        bodies[i] = tpCreateBody(world, &def, NULL);
    }
    double sizes[3];
    for (int i = 0; i < 3; ++i) {
        sizes[i] = sqrt(1e-9 / masses[i]); // the radius of gyration alone
    }
    for (int k = 0; k < 5; ++k) {
        assert_true(tpSystem_MeasureScales(system));
        double sum = 0.0, inverses = 0.0, smallest = INFINITY, fall = 0.0;
        for (int i = 0; i < 3; ++i) {
            sum += sizes[i];
            inverses += 1.0 / sizes[i];
            smallest = fmin(smallest, sizes[i]);
            fall += 10.0 * masses[i] * sizes[i];
        }
        CHECK_NEAR(system->scales.length, sqrt(sum / inverses), 1e-14);
        CHECK_NEAR(system->scales.reach, sqrt(sum / inverses), 1e-14); // none has a shape
        CHECK_NEAR(system->scales.smallest, smallest, 1e-16);
        CHECK_NEAR(system->scales.fall, fall, 1e-13);
        tpJointDef def = tpDefaultJointDef();
        def.type = k == 2 ? tp_distanceJoint : tp_ballJoint;
        def.bodyA = bodies[k < 2 ? k : 3 - k % 2];
        def.bodyB = bodies[k < 2 ? 2 : 0];
        def.anchorA = def.anchorB = tpMakeVec3(3.0 * k + 0.25, 0.5, 0.0);
        def.anchorB.z += k == 2 ? 4.0 : 0.0;
        tpJointId joint = tpCreateJoint(world, &def, NULL);
        const tpJoint* made = &system->joints.data[system->joints.count - 1];
        if (k == 4) {
            tpDestroyJoint(world, joint);
            assert_true(tpSystem_MeasureScales(system));
            CHECK_NEAR(system->scales.fall, fall, 1e-13);
            break;
        }
        const int ends[2] = { made->bodyA, made->bodyB };
        for (int i = 0; i < 2; ++i) {
            if (ends[i] < 3) {
                tpVec3 anchor = i == 0 ? def.anchorA : def.anchorB;
                anchor.x -= 3.0 * ends[i];
                double arm = fmax(tpLength(anchor), k == 2 ? 4.0 : 0.0);
                sizes[ends[i]] = fmax(sizes[ends[i]], arm);
            }
        }
    }
    tpDestroyWorld(world);
    // Nothing that has a size: 1 m.
    world = makeEmptyWorld();
    assert_true(tpSystem_MeasureScales(&world->system));
    assert_true(world->system.scales.length == 1.0 && world->system.scales.reach == 1.0);
    assert_true(world->system.scales.smallest == 1.0 && world->system.scales.fall == 0.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testScales), cmocka_unit_test(testUnits),
                                        cmocka_unit_test(testRanges),
                                        cmocka_unit_test(testAnchors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
