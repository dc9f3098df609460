// Contacts of small steps where one look per step is hardest: on curved bodies that rock, and on
// bodies that are faster than they are long.

#include <string.h>

#include "support/check.h"
#include "tippe/world.h"

static tpWorld* makeWorld(double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.8;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    return world;
}

static tpShapeDef denseShape(void) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1000.0;
    return shape;
}

static tpBodyId addFixed(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    return tpCreateBody(world, &def, NULL);
}

static void addEllipsoid(tpWorld* world, tpBodyId body, tpVec3 radii) {
    tpShapeDef shape = denseShape();
    tpEllipsoid ellipsoid = { { radii.x, radii.y, radii.z } };
    tpGeometry geometry;
    assert_int_equal(tpMakeEllipsoid(&ellipsoid, tpIdentityPose(), &geometry, NULL), tp_success);
    tpCreateShape(world, body, &shape, &geometry, NULL);
}

// An ellipsoid that is tilted and let go rolls to and fro. Its point of contact runs over it; one
// that lags behind would drive it to 2.4 times the amplitude. It gains nothing, and loses what the
// order of the method allows.
static void rockingGainsNothing(void** state) {
    (void)state;
    const double tilt = 0.2, wide = 0.12, high = 0.06;
    double left[2];
    for (int k = 0; k < 2; ++k) {
        double h = k == 0 ? 0.004 : 0.002;
        tpWorld* world = makeWorld(9.81);
        tpShapeDef shape = denseShape();
        tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
        tpCreatePlane(world, addFixed(world), &shape, &plane, NULL);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, hypot(wide * sin(tilt), high * cos(tilt)));
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        addEllipsoid(world, body, tpMakeVec3(wide, 0.1, high));
        double most = 0.0;
        left[k] = 0.0;
        int steps = (int)lround(3.0 / h);
        for (int i = 0; i < steps; ++i) {
            tpWorld_Step(world, h);
            tpQuat q = tpBody_GetRotation(world, body);
            double angle = fabs(2.0 * atan2(q.y, q.w));
            most = fmax(most, angle);
            left[k] = 3 * i > 2 * steps ? fmax(left[k], angle) : 0.0;
        }
        assert_true(most <= tilt * (1.0 + 1e-9));
        tpDestroyWorld(world);
    }
    assert_true(left[0] > 0.93 * tilt && left[1] > 0.96 * tilt);
    // What is lost halves with the step.
    CHECK_NEAR((tilt - left[0]) / (tilt - left[1]), 2.0, 0.35);
}

typedef enum Bullet { ball, egg, pill } Bullet;

static tpBodyId shoot(tpWorld* world, Bullet kind, double speed) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.1, 0.2, 2.0);
    def.velocity = tpMakeVec3(0.0, 0.0, -speed);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = denseShape();
    tpSphere sphere = { 0.05 };
    tpCapsule capsule = { 0.05, 0.2, { 0.0, 0.0, 1.0 } };
    if (kind == ball) {
        tpCreateSphere(world, body, &shape, &sphere, NULL);
    } else if (kind == pill) {
        tpCreateCapsule(world, body, &shape, &capsule, NULL);
    } else {
        addEllipsoid(world, body, tpMakeVec3(0.05, 0.06, 0.07));
    }
    return body;
}

// What flies at a plate of a millimetre is stopped on its surface, however far it goes in a step.
static void platesStopBullets(void** state) {
    (void)state;
    static const double speeds[] = { 50.0, 200.0, 470.0, 500.0, 900.0 };
    static const double below[] = { 0.05, 0.07, 0.15 }; // the lowest point under the centre, m
    for (int kind = ball; kind <= pill; ++kind) {
        for (size_t s = 0; s < sizeof(speeds) / sizeof(speeds[0]); ++s) {
            tpWorld* world = makeWorld(0.0);
            tpShapeDef shape = denseShape();
            tpBox plate = { { 4.0, 4.0, 0.001 } };
            tpCreateBox(world, addFixed(world), &shape, &plate, NULL);
            tpBodyId body = shoot(world, (Bullet)kind, speeds[s]);
            for (int i = 0; i < 5; ++i) {
                tpWorld_Step(world, 1.0 / 60.0);
            }
            CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.0005 + below[kind], 1e-6);
            CHECK_NEAR(tpLength(tpBody_GetVelocity(world, body)), 0.0, 1e-6);
            tpDestroyWorld(world);
        }
    }
}

// What strikes with a corner turns by hundreds of radians in a step, about a contact that was found
// once: it turned through the plate, and gained energy. Of these 40 shots 25 passed, 10 of them in
// steps that were certified; one is left, and is said.
static void spinningBulletsStay(void** state) {
    (void)state;
    tpRandom random = { 5 };
    int passed = 0, unsaid = 0, gained = 0;
    for (int k = 0; k < 40; ++k) {
        double speed = k % 2 == 0 ? 200.0 : 1000.0, h = k % 4 < 2 ? 1.0 / 60.0 : 1.0 / 1000.0;
        tpWorld* world = makeWorld(0.0);
        tpShapeDef shape = denseShape();
        tpBox plate = { { 4.0, 4.0, k % 3 == 0 ? 0.02 : 0.002 } };
        tpCreateBox(world, addFixed(world), &shape, &plate, NULL);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, randomBetween(&random, 0.05, 1.5));
        def.velocity = randomVec3(&random, -0.05 * speed, 0.05 * speed);
        def.velocity.z = -speed;
        def.rotation = randomRotation(&random);
        def.angularVelocity = randomVec3(&random, -20.0, 20.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpCylinder cylinder = { 0.004, 0.02, { 0.0, 0.0, 1.0 } };
        if (k % 2 == 0) {
            addEllipsoid(world, body, tpMakeVec3(0.003, 0.005, 0.01));
        } else {
            tpCreateCylinder(world, body, &shape, &cylinder, NULL);
        }
        bool isSaid = false;
        for (int i = 0; i < 10; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            gained += report.energyIncrease > 1e-3 * report.kineticBefore ? 1 : 0;
            isSaid = isSaid || report.violations != 0 || report.noteCount > 0;
            tpVec3 x = tpBody_GetPosition(world, body);
            if (fabs(x.x) < 2.0 && fabs(x.y) < 2.0 && x.z < -0.02) {
                passed += 1;
                unsaid += isSaid ? 0 : 1;
                break;
            }
        }
        tpDestroyWorld(world);
    }
    assert_int_equal(unsaid, 0);
    assert_true(passed <= 1);
    assert_true(gained <= 1);
}

// A level sheet of triangles, four squares per square metre; a point far below closes it.
static void addSheet(tpWorld* world) {
    enum { side = 40, points = side + 1, below = points * points };
    static tpVec3 vertices[points * points + 1];
    static int32_t triangles[2 * side * side + 4 * side][3];
    int count = 0;
    for (int i = 0; i < below; ++i) {
        vertices[i] = tpMakeVec3(0.5 * (i % points) - 10.0, 0.5 * (i / points) - 10.0, 0.0);
    }
    vertices[below] = tpMakeVec3(0.0, 0.0, -20.0);
    for (int k = 0; k < side * side; ++k) {
        int at = k / side * points + k % side;
        const int32_t both[2][3] = { { at, at + 1, at + points + 1 },
                                     { at, at + points + 1, at + points } };
        memcpy(triangles[count], both, sizeof(both));
        count += 2;
    }
    for (int k = 0; k < side; ++k) {
        int last = side * points;
        const int32_t skirt[4][3] = { { k + 1, k, below },
                                      { last + k, last + k + 1, below },
                                      { k * points, (k + 1) * points, below },
                                      { (k + 1) * points + side, k * points + side, below } };
        memcpy(triangles[count], skirt, sizeof(skirt));
        count += 4;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry sheet;
    tpShapeDef shape = denseShape();
    assert_int_equal(tpMakeMesh(&allocator, vertices, below + 1, (const int32_t(*)[3])triangles,
                                count, tpMakePose(tpZeroVec3(), tpIdentityQuat()), &sheet, NULL),
                     tp_success);
    tpCreateShape(world, addFixed(world), &shape, &sheet, NULL);
    tpReleaseGeometry(&sheet);
}

// What slides without friction over the edges between level triangles does not feel them.
static void edgesOfMeshesAreNotFelt(void** state) {
    (void)state;
    const double speed = 5.0, angle = 0.37;
    for (int kind = 0; kind < 5; ++kind) {
        tpWorld* world = makeWorld(9.81);
        tpMaterialDef smooth = tpDefaultMaterialDef();
        smooth.friction.staticCoefficient = smooth.friction.dynamicCoefficient = 0.0;
        tpMaterialId material = tpCreateMaterial(world, &smooth, NULL);
        addSheet(world);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(-8.0, -4.0, 0.3);
        def.velocity = tpMakeVec3(speed * cos(angle), speed * sin(angle), 0.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = denseShape();
        shape.material = material;
        if (kind == 0) {
            tpSphere sphere = { 0.3 };
            tpCreateSphere(world, body, &shape, &sphere, NULL);
        } else if (kind == 1) {
            tpBox box = { { 0.8, 0.7, 0.6 } };
            tpCreateBox(world, body, &shape, &box, NULL);
        } else if (kind == 2) {
            tpCapsule capsule = { 0.3, 0.6, { 0.0, 1.0, 0.0 } };
            tpCreateCapsule(world, body, &shape, &capsule, NULL);
        } else {
            // Lying, and standing.
            tpCylinder cylinder = { kind == 3 ? 0.3 : 0.4, 0.6, { 0.0, 1.0, 0.0 } };
            cylinder.axis = kind == 3 ? cylinder.axis : tpMakeVec3(0.0, 0.0, 1.0);
            tpCreateCylinder(world, body, &shape, &cylinder, NULL);
        }
        double lost = 0.0, lift = 0.0;
        for (int k = 0; k < 180; ++k) {
            tpWorld_Step(world, 1.0 / 60.0);
            tpVec3 v = tpBody_GetVelocity(world, body);
            lost = fmax(lost, fmax(fabs(v.x - def.velocity.x), fabs(v.y - def.velocity.y)));
            lift = fmax(lift, fabs(tpBody_GetPosition(world, body).z - 0.3));
        }
        print_message("kind %d: velocity off by %.1e m/s, height by %.1e m\n", kind, lost, lift);
        CHECK_BELOW(lost, 1e-9);
        CHECK_BELOW(lift, 3e-4);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rockingGainsNothing),
        cmocka_unit_test(platesStopBullets),
        cmocka_unit_test(spinningBulletsStay),
        cmocka_unit_test(edgesOfMeshesAreNotFelt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
