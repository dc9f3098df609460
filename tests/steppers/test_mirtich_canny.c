// The impulse-based stepper: what has a closed form, what must not be missed, what must not hang.

#include <string.h>

#include "support/check.h"
#include "tippe/tippe.h"

static tpWorld* makeWorld(double friction, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_mirtichCanny;
    tpWorld* world = tpCreateWorld(&def);
    tpWorld_SetOption(world, "collision_tolerance", "1e-6", NULL);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = friction;
    material.restitution = restitution;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    return world;
}

static tpShapeDef solid(void) {
    tpShapeDef def = tpDefaultShapeDef();
    def.material = 1;
    def.density = 1000.0;
    return def;
}

static void addPlane(tpWorld* world, tpVec3 normal) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shape = solid();
    tpPlane plane = { normal, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape, &plane, NULL);
}

static tpBodyId addSphere(tpWorld* world, tpVec3 place, tpVec3 velocity, double radius) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = solid();
    tpSphere sphere = { radius };
    tpCreateSphere(world, body, &shape, &sphere, NULL);
    return body;
}

static tpBodyId addBox(tpWorld* world, tpPose pose, tpVec3 size, tpBodyKind kind) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = pose.position;
    def.rotation = pose.rotation;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = solid();
    tpBox box = { size };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static double energyRise(const tpStepReport* report) {
    return report->kineticAfter + report->potentialAfter - report->kineticBefore -
           report->potentialBefore - report->externalWork;
}

// A ball from 1 m with e = 0.5: apexes e^(2n), at rest t1 (1 + e) / (1 - e) after t1 = sqrt(2 H /
// g).
static void ballBouncesToRest(void** state) {
    (void)state;
    const double h = 1e-3, e = 0.5, tolerance = 1e-6;
    tpWorld* world = makeWorld(0.0, e);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId ball = addSphere(world, tpMakeVec3(0.0, 0.0, 1.1), tpZeroVec3(), 0.1);
    double last = 0.0, lastSpeed = 0.0, deepest = 0.0;
    int apex = 0;
    for (int k = 1; k <= 2000; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        double z = tpBody_GetPosition(world, ball).z - 0.1;
        double speed = tpBody_GetVelocity(world, ball).z;
        if (lastSpeed > 0.0 && speed <= 0.0 && apex < 5) {
            double height = z + speed * speed / (2.0 * 9.81);
            ++apex;
            CHECK_NEAR(height, pow(e, 2.0 * apex), 1e-9);
        }
        last = z > tolerance ? k * h : last;
        lastSpeed = speed;
        deepest = fmax(deepest, report.penetration);
        CHECK_BELOW(energyRise(&report), 1e-11);
    }
    assert_int_equal(apex, 5);
    CHECK_NEAR(last, 1.354571, 3e-3); // of which one step is the sampling
    CHECK_BELOW(deepest, tolerance);
    tpDestroyWorld(world);
}

// A block that friction holds on a ramp does not creep, and one that slides stops where it should.
static tpWorld* makeWideWorld(double mu, double along, double across, double arm, double e) {
    tpWorld* world = makeWorld(mu, e);
    tpPairDef pair = { .materials = { 1, 1 }, .hasFriction = true };
    pair.friction.staticCoefficient = pair.friction.dynamicCoefficient = mu;
    pair.friction.ellipse[0] = along;
    pair.friction.ellipse[1] = across;
    pair.friction.direction = tpMakeVec3(1.0, 0.0, 0.0);
    pair.friction.torsionalArm = arm;
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

// A ball that spins about the normal: the first hit takes mu arm (1 + e) m v of its spin, what
// follows mu arm m g t, until nothing is left.
static void spinIsBraked(void** state) {
    (void)state;
    const double mu = 0.4, arm = 0.02, radius = 0.1, height = 0.2, e = 0.5, g = 9.81;
    tpWorld* world = makeWideWorld(mu, 1.0, 1.0, arm, e);
    tpBodyId ball = addSphere(world, tpMakeVec3(0.0, 0.0, radius + height), tpZeroVec3(), radius);
    const double spin = 30.0, perMass = mu * arm / (0.4 * radius * radius);
    tpBody_SetVelocity(world, ball, tpZeroVec3(), tpMakeVec3(0.0, 0.0, spin));
    double v = sqrt(2.0 * g * height), touch = v / g;
    for (int k = 1; k <= 1600; ++k) {
        tpStepReport report = tpWorld_Step(world, 1e-3);
        CHECK_BELOW(energyRise(&report), 1e-12);
        assert_int_equal(report.violations, 0);
        double now = tpBody_GetAngularVelocity(world, ball).z;
        if (k * 1e-3 > touch && k * 1e-3 < touch + 2.0 * e * v / g - 1e-3) {
            CHECK_NEAR(now, spin - perMass * (1.0 + e) * v, 1e-9);
        }
        // Momentum: what the floor gave is the weight over the time at rest, hops or not.
        if (k == 900) {
            CHECK_NEAR(now, spin - perMass * g * 0.9, 2e-3 * spin);
        }
    }
    CHECK_NEAR(tpBody_GetAngularVelocity(world, ball).z, 0.0, 1e-6);
    CHECK_NEAR(tpLength(tpBody_GetVelocity(world, ball)), 0.0, 1e-2);
    tpDestroyWorld(world);
}

// A box slides on a floor whose friction is an ellipse: the friction at its corners has the
// direction and size of greatest dissipation, (e_t^2 u_t, e_o^2 u_o) mu g / |(e_t u_t, e_o u_o)|,
// and bends its way.
static void ellipseBendsTheWay(void** state) {
    (void)state;
    const double mu = 0.3, along = 0.4, across = 1.2, g = 9.81;
    tpWorld* world = makeWideWorld(mu, along, across, 0.0, 0.0);
    tpPose pose = tpIdentityPose();
    pose.position.z = 0.05;
    tpBodyId box = addBox(world, pose, tpMakeVec3(0.4, 0.4, 0.1), tp_dynamicBody);
    tpBody_SetVelocity(world, box, tpMakeVec3(1.0, 1.0, 0.0), tpZeroVec3());
    double x = 0.0, y = 0.0, vx = 1.0, vy = 1.0;
    const double h = 1e-3, small = 1e-5;
    for (int k = 0; k < 250; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        CHECK_BELOW(energyRise(&report), 1e-12);
        for (int i = 0; i < 100; ++i) {
            double s = sqrt(along * along * vx * vx + across * across * vy * vy);
            double ax = -mu * g * along * along * vx / s, ay = -mu * g * across * across * vy / s;
            x += small * (vx + 0.5 * small * ax);
            y += small * (vy + 0.5 * small * ay);
            vx += small * ax;
            vy += small * ay;
        }
    }
    tpVec3 place = tpBody_GetPosition(world, box), v = tpBody_GetVelocity(world, box);
    print_message("an ellipse of friction: at (%.4f, %.4f), by its equation (%.4f, %.4f)\n",
                  place.x, place.y, x, y);
    CHECK_NEAR(place.x, x, 2e-3);
    CHECK_NEAR(place.y, y, 2e-3);
    CHECK_NEAR(v.x, vx, 1e-2);
    CHECK_NEAR(v.y, vy, 1e-2);
    tpDestroyWorld(world);
}

static void blockOnRamp(void** state) {
    (void)state;
    double slope = 20.0 * acos(-1.0) / 180.0;
    tpVec3 n = tpMakeVec3(-sin(slope), 0.0, cos(slope)),
           down = tpMakeVec3(-cos(slope), 0.0, -sin(slope));
    tpQuat turn = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), -slope);
    for (int run = 0; run < 2; ++run) {
        tpWorld* world = makeWorld(0.5, 0.3);
        addPlane(world, n);
        tpPose pose = { tpScale(0.1, n), turn };
        tpBodyId block = addBox(world, pose, tpMakeVec3(0.2, 0.2, 0.2), tp_dynamicBody);
        tpBody_SetVelocity(world, block, tpScale(run == 0 ? 0.0 : 3.0, down), tpZeroVec3());
        for (int k = 0; k < 300; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            CHECK_BELOW(report.penetration, 1e-6);
            CHECK_BELOW(energyRise(&report), 1e-9);
        }
        double way = tpDot(tpSub(tpBody_GetPosition(world, block), pose.position), down);
        if (run == 0) {
            CHECK_BELOW(fabs(way), 1e-12);
            CHECK_BELOW(tpLength(tpBody_GetAngularVelocity(world, block)), 1e-12);
        } else {
            CHECK_NEAR(way, 3.588589, 1e-4);
        }
        tpDestroyWorld(world);
    }
}

// A ball on a turning platter goes round at 2/7 of its rate, on a circle that does not grow.
static void ballOnPlatter(void** state) {
    (void)state;
    const double pi = acos(-1.0), h = 0.01;
    tpWorld* world = makeWorld(0.5, 0.2);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.position.z = -0.05;
    def.angularVelocity.z = 2.0 * pi;
    tpBodyId platter = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = solid();
    tpCylinder disc = { .radius = 2.0, .length = 0.1, .axis = { 0.0, 0.0, 1.0 } };
    tpCreateCylinder(world, platter, &shape, &disc, NULL);
    tpBodyId ball = addSphere(world, tpMakeVec3(0.5, 0.0, 0.05), tpZeroVec3(), 0.05);
    tpBody_SetVelocity(world, ball, tpMakeVec3(0.0, 0.3, 0.0),
                       tpMakeVec3(56.83185307179586, 0.0, 0.0));
    double angle = 0.0, last = 0.0;
    for (int k = 1; k <= 350; ++k) { // one orbit takes 3.5 s
        tpWorld_Step(world, h);
        tpVec3 x = tpBody_GetPosition(world, ball);
        double now = atan2(x.y, x.x - 0.3328873);
        angle += remainder(now - last, 2.0 * pi);
        last = now;
        CHECK_NEAR(hypot(x.x - 0.3328873, x.y), 0.1671127, 1e-5);
    }
    CHECK_NEAR(angle / 3.5 / (4.0 * pi / 7.0), 1.0, 1e-5);
    tpDestroyWorld(world);
}

// Fast, small and thin: a bullet is never on the other side of a sheet.
static void nothingIsMissed(void** state) {
    (void)state;
    tpRandom random = { 17 };
    for (int run = 0; run < 20; ++run) {
        tpWorld* world = makeWorld(0.3, 0.5);
        tpPose pose = { tpZeroVec3(), tpIdentityQuat() };
        addBox(world, pose, tpMakeVec3(4.0, 4.0, 1e-4), tp_fixedBody);
        tpVec3 velocity =
            tpMakeVec3(randomBetween(&random, -20.0, 20.0), randomBetween(&random, -20.0, 20.0),
                       -randomBetween(&random, 100.0, 3000.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = randomBetween(&random, 0.5, 1.5);
        def.velocity = velocity;
        def.angularVelocity = randomVec3(&random, -300.0, 300.0);
        def.rotation = randomRotation(&random);
        tpBodyId bullet = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = solid();
        tpBox splinter = { { 0.05, 0.002, 0.0005 } };
        tpCreateBox(world, bullet, &shape, &splinter, NULL);
        int collisions = 0;
        for (int k = 0; k < 3; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 30.0);
            collisions += tpStepReport_GetFigure(&report, "collisions");
            CHECK_BELOW(report.penetration, 1e-6);
            CHECK_BELOW(energyRise(&report), 1e-9 * report.kineticBefore);
        }
        assert_true(collisions > 0);
        assert_true(tpBody_GetPosition(world, bullet).z > 0.0);
        tpDestroyWorld(world);
    }
}

// Two bodies in free flight collide in a frame exactly when they touch in it, asked at many times.
static void collisionsAgreeWithBruteForce(void** state) {
    (void)state;
    enum { samples = 600 };
    tpRandom random = { 23 };
    const double h = 0.05;
    int hits = 0, misses = 0;
    for (int run = 0; run < 200; ++run) {
        tpWorld* world = makeWorld(0.0, 0.0);
        tpBodyId bodies[2];
        tpBodyPath paths[2];
        tpShapeId shapes[2];
        for (int i = 0; i < 2; ++i) {
            tpPose pose = { randomVec3(&random, -0.45, 0.45), randomRotation(&random) };
            bodies[i] = addBox(world, pose, tpMakeVec3(0.3, 0.3, 0.3), tp_dynamicBody);
            tpVec3 velocity = randomVec3(&random, -15.0, 15.0);
            tpVec3 spin = randomVec3(&random, -20.0, 20.0);
            tpBody_SetVelocity(world, bodies[i], velocity, spin);
            paths[i] = (tpBodyPath){ .pose = pose, .velocity = velocity, .angularVelocity = spin };
            shapes[i] = tpBody_GetShape(world, bodies[i], 0);
        }
        double nearest = INFINITY;
        bool startsApart = true;
        for (int k = 0; k <= samples; ++k) {
            tpClosest closest;
            tpClosestPoints(tpShape_GetGeometry(world, shapes[0]),
                            tpBodyPath_PoseAt(&paths[0], h * k / samples),
                            tpShape_GetGeometry(world, shapes[1]),
                            tpBodyPath_PoseAt(&paths[1], h * k / samples), NULL, &closest);
            nearest = fmin(nearest, closest.distance);
            startsApart = startsApart && (k > 0 || closest.distance > 1e-3);
        }
        tpStepReport report = tpWorld_Step(world, h);
        // Grazing is for neither to decide.
        if (startsApart && fabs(nearest) > 2e-3) {
            assert_true((tpStepReport_GetFigure(&report, "collisions") > 0) == (nearest < 0.0));
            *(nearest < 0.0 ? &hits : &misses) += 1;
        }
        tpDestroyWorld(world);
    }
    printf("%d pairs met, %d missed each other\n", hits, misses);
    assert_true(hits > 15 && misses > 40);
}

// What never comes near is asked about once and no more, however many there are.
static void farBodiesCostNothing(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.3, 0.5);
    for (int i = 0; i < 400; ++i) {
        addSphere(world, tpMakeVec3(i % 20, (i / 20) % 20, 0.0), tpMakeVec3(0.0, 0.0, 3.0), 0.1);
    }
    int checks = 0;
    for (int k = 0; k < 20; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        checks += tpStepReport_GetFigure(&report, "checks");
    }
    assert_int_equal(checks, 0);
    tpDestroyWorld(world);
}

// A stack is handed over, says so, and stands; with the pure paper it ends with an honest report.
static void stacksAreHandedOver(void** state) {
    (void)state;
    for (int pure = 0; pure < 2; ++pure) {
        tpWorld* world = makeWorld(0.5, 0.2);
        addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyId top = { 0 };
        for (int i = 0; i < 6; ++i) {
            tpPose pose = { tpMakeVec3(0.0, 0.0, 0.5 + i), tpIdentityQuat() };
            top = addBox(world, pose, tpMakeVec3(1.0, 1.0, 1.0), tp_dynamicBody);
        }
        if (pure) {
            assert_int_equal(tpWorld_SetOption(world, "hand_over", "false", NULL), tp_success);
            assert_int_equal(tpWorld_SetOption(world, "event_share", "0.2", NULL), tp_success);
        }
        int handedOver = 0;
        for (int k = 0; k < 60; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            handedOver = tpStepReport_GetFigure(&report, "handed_over") > handedOver
                             ? tpStepReport_GetFigure(&report, "handed_over")
                             : handedOver;
            if (report.undone) {
                assert_true(pure);
                assert_true(report.noteCount > 0);
                break;
            }
        }
        assert_true(pure ? handedOver == 0 : handedOver == 6);
        assert_true((tpBody_GetCarrier(world, top) != NULL) == !pure);
        CHECK_NEAR(tpBody_GetPosition(world, top).z, 5.5, 1e-5);
        tpDestroyWorld(world);
    }
}

// A pile of boxes and cylinders that tumble onto each other, thrown by chance.
static tpWorld* makePile(int seed) {
    tpRandom random = { (uint64_t)seed };
    tpWorld* world = makeWorld(0.4, 0.3);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < 8; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(randomBetween(&random, -0.1, 0.1),
                                  randomBetween(&random, -0.1, 0.1), 0.3 + 0.35 * i);
        def.rotation = randomRotation(&random);
        def.velocity = randomVec3(&random, -0.5, 0.5);
        def.angularVelocity = randomVec3(&random, -8.0, 8.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = solid();
        tpBox box = { { 0.2, 0.25, 0.15 } };
        tpCylinder cylinder = { .radius = 0.1, .length = 0.08, .axis = { 0.0, 0.0, 1.0 } };
        if (i % 2 == 0) {
            tpCreateBox(world, body, &shape, &box, NULL);
        } else {
            tpCreateCylinder(world, body, &shape, &cylinder, NULL);
        }
    }
    return world;
}

// What is handed over keeps to the tolerance too, and gains no energy.
static void pilesKeepTheLaws(void** state) {
    (void)state;
    int handedOver = 0;
    double deepest = 0.0, largestRise = 0.0;
    for (int seed = 1; seed <= 4; ++seed) {
        tpWorld* world = makePile(seed);
        for (int k = 0; k < 60; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 40.0);
            handedOver += tpStepReport_GetFigure(&report, "handed_over");
            deepest = fmax(deepest, report.penetration);
            double energy = report.kineticBefore + fabs(report.potentialBefore);
            largestRise = fmax(largestRise, energyRise(&report) / energy);
            assert_false(report.undone);
            CHECK_BELOW(report.penetration, tpWorld_GetOption(world, "collision_tolerance"));
            CHECK_BELOW(energyRise(&report), 1e-11 * (1.0 + energy));
            // What is lost is accounted for, but for the drift of the time stepper.
            CHECK_BELOW(-energyRise(&report) - report.frictionLoss - report.impactLoss,
                        0.02 * energy);
        }
        tpDestroyWorld(world);
    }
    printf("piles: deepest %.2e m, energy rises by %.1e of it at most\n", deepest, largestRise);
    assert_true(handedOver > 0);
}

// What was solved before has no say: a state gives the same bits whenever it is stepped on from.
static void stepsDependOnTheStateAlone(void** state) {
    (void)state;
    tpWorld* world = makePile(3);
    for (int k = 0; k < 30; ++k) {
        tpWorld_Step(world, 1.0 / 40.0);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    uint64_t first[20];
    for (int round = 0; round < 3; ++round) {
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        for (int k = 0; k < 20; ++k) {
            tpWorld_Step(world, 1.0 / 40.0);
            uint64_t hash = tpWorld_HashState(world);
            first[k] = round == 0 ? hash : first[k];
            assert_true(first[k] == hash);
        }
    }
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// Bodies bound by joints that fall on a floor: neither deeper than the tolerance nor richer.
static void jointsMeetTheFloor(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.4, 0.2);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId last = { 0 };
    for (int i = 0; i < 3; ++i) {
        tpPose pose = { tpMakeVec3(0.3 * i, 0.0, 0.5 + 0.1 * i), tpIdentityQuat() };
        tpBodyId box = addBox(world, pose, tpMakeVec3(0.2, 0.1, 0.1), tp_dynamicBody);
        tpBody_SetVelocity(world, box, tpMakeVec3(1.0, 0.0, -1.0), tpMakeVec3(0.0, 2.0, 1.0 * i));
        if (i > 0) {
            tpJointDef joint = tpDefaultJointDef();
            joint.type = tp_ballJoint;
            joint.bodyA = last;
            joint.bodyB = box;
            joint.anchorA = joint.anchorB = tpMakeVec3(0.3 * i - 0.15, 0.0, 0.45 + 0.1 * i);
            tpCreateJoint(world, &joint, NULL);
        }
        last = box;
    }
    double touched = 0.0;
    for (int k = 0; k < 60; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        touched += report.contactCount;
        assert_false(report.undone);
        CHECK_BELOW(report.penetration, tpWorld_GetOption(world, "collision_tolerance"));
        CHECK_BELOW(report.jointDrift, 1e-9);
        // Swings of joints alone go up and down a little.
        CHECK_BELOW(energyRise(&report), report.contactCount > 0 ? 1e-9 : 1e-2);
    }
    assert_true(touched > 0.0);
    tpDestroyWorld(world);
}

// Bodies that have flown apart are taken back.
static void bodiesAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.5, 0.0);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId boxes[4];
    for (int i = 0; i < 4; ++i) {
        tpPose pose = { tpMakeVec3(0.0, 0.0, 0.5 + i), tpIdentityQuat() };
        boxes[i] = addBox(world, pose, tpMakeVec3(1.0, 1.0, 1.0), tp_dynamicBody);
    }
    for (int k = 0; k < 30; ++k) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    assert_non_null(tpBody_GetCarrier(world, boxes[3]));
    tpBody_SetVelocity(world, boxes[3], tpMakeVec3(0.0, 0.0, 5.0), tpZeroVec3());
    tpWorld_Step(world, 1.0 / 60.0);
    tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
    assert_null(tpBody_GetCarrier(world, boxes[3]));
    assert_false(report.undone);
    tpDestroyWorld(world);
}

// A force below the friction limit moves nothing; one above it, in its window only, does as it
// should.
static void forcesPushBlocks(void** state) {
    (void)state;
    for (int run = 0; run < 2; ++run) {
        tpWorld* world = makeWorld(0.5, 0.0);
        addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpPose pose = { tpMakeVec3(0.0, 0.0, 0.05), tpIdentityQuat() };
        tpBodyId block = addBox(world, pose, tpMakeVec3(0.1, 0.1, 0.1), tp_dynamicBody);
        tpForceDef force = tpDefaultForceDef();
        force.body = block;
        force.force = tpMakeVec3(run == 0 ? 4.5 : 7.0, 0.0, 0.0); // 1 kg, limit 4.905 N
        force.from = 0.1;
        force.to = 0.4;
        tpCreateForce(world, &force, NULL);
        for (int k = 0; k < 40; ++k) {
            tpWorld_Step(world, 0.01);
        }
        double speed = tpBody_GetVelocity(world, block).x;
        CHECK_NEAR(speed, run == 0 ? 0.0 : 0.3 * (7.0 - 4.905), 3e-3);
        tpDestroyWorld(world);
    }
}

// One step of a body on the floor that is pressed down with 1e12 N, so that the beat of its contact
// takes ten nanoseconds: a million checks of the ball, and ten million of the ellipsoid.
static tpStepReport stepPressed(bool isRound, const volatile sig_atomic_t* stop) {
    tpWorld* world = makeWorld(0.5, 0.0);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpForceDef force = tpDefaultForceDef();
    if (isRound) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, 0.4);
        def.velocity = tpMakeVec3(1.0, 0.0, 0.0);
        force.body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = solid();
        tpEllipsoid ellipsoid = { tpMakeVec3(0.3, 0.3, 0.4) };
        tpGeometry geometry;
        assert_int_equal(tpMakeEllipsoid(&ellipsoid, tpIdentityPose(), &geometry, NULL),
                         tp_success);
        tpCreateShape(world, force.body, &shape, &geometry, NULL);
    } else {
        tpVec3 place = tpMakeVec3(0.0, 0.0, 0.3);
        force.body = addSphere(world, place, tpMakeVec3(1.0, 0.0, 0.0), 0.3);
    }
    force.force = tpMakeVec3(0.0, 0.0, -1e12);
    tpCreateForce(world, &force, NULL);
    tpWorld_SetStop(world, stop);
    tpStepReport report = tpWorld_Step(world, 0.01);
    tpDestroyWorld(world);
    return report;
}

// What such a step costs is bounded: the time stepper takes the rest of it. A stop is heard between
// two checks.
static void strongForcesEnd(void** state) {
    (void)state;
    for (int isRound = 0; isRound < 2; ++isRound) {
        tpStepReport report = stepPressed(isRound != 0, NULL);
        assert_false(report.undone);
        assert_string_equal(report.fallback, "time stepper");
        CHECK_BELOW(tpStepReport_GetFigure(&report, "checks"), 100e3);
        const volatile sig_atomic_t stop = 1;
        report = stepPressed(isRound != 0, &stop);
        assert_true(report.undone);
        CHECK_BELOW(tpStepReport_GetFigure(&report, "checks"), 3);
    }
}

// Steps of the time stepper go with the time in which gravity moves a body by its size. With 1e9
// m/s^2 a frame had 300 thousand of them and took 19 s; once they have cost enough another stepper
// takes the frame, and the report says so.
static void strongGravityEnds(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.5, 0.5);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -1e9));
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < 3; ++i) {
        addSphere(world, tpMakeVec3(0.3 * i, 0.0, 1.0 + 0.5 * i), tpZeroVec3(), 0.1);
    }
    for (int k = 0; k < 2; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        assert_false(report.undone);
        bool isSaid = false;
        for (int i = 0; i < report.noteCount; ++i) {
            isSaid = isSaid || strstr(report.notes[i], "frames of events cost too much") != NULL;
        }
        assert_true(isSaid);
        assert_true(report.substepCount < 5000);
        CHECK_BELOW(report.penetration, 1e-5);
    }
    tpDestroyWorld(world);
}

// Bodies of a crowd that sweep kilometres in a frame are all in pairs with all, and each event
// gives all pairs of two bodies another time. A crowd that is large says so and ends; a frame of
// 1,300 spheres took minutes.
static void crowdsUnderStrongGravityEnd(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.5, 0.3);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -1e9));
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    enum { side = 16, layers = 5 };
    for (int i = 0; i < side * side * layers; ++i) {
        tpVec3 place = { 0.11 * (i % side), 0.11 * (i / side % side),
                         1.0 + 0.11 * (i / side / side) };
        addSphere(world, place, tpZeroVec3(), 0.05);
    }
    tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
    assert_true(report.undone);
    assert_true(report.noteCount > 0);
    assert_non_null(strstr(report.notes[0], "too many pairs of them could meet"));
    tpDestroyWorld(world);
}

// A pendulum: joints are held by the time stepper, and energy stays.
static void jointsAreHeld(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0, 0.0);
    tpBodyId ball = addSphere(world, tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3(), 0.1);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyB = ball;
    tpCreateJoint(world, &joint, NULL);
    double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    for (int k = 0; k < 300; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.005);
        CHECK_BELOW(report.jointDrift, 1e-9);
        assert_int_equal(tpStepReport_GetFigure(&report, "handed_over"), 1);
        assert_string_equal(report.fallback, "time stepper");
    }
    double after = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    CHECK_NEAR(after, energy, 0.05);
    tpDestroyWorld(world);
}

// The slot of a shape that was destroyed belongs to no body, also if joints make frames of steps.
static void destroyedShapesHaveNoBody(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.5, 0.0);
    addPlane(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId first = addSphere(world, tpMakeVec3(0.0, 0.0, 0.5), tpZeroVec3(), 0.1);
    tpBodyId second = addSphere(world, tpMakeVec3(0.4, 0.0, 0.5), tpZeroVec3(), 0.1);
    tpBodyId gone = addSphere(world, tpMakeVec3(5.0, 0.0, 0.5), tpZeroVec3(), 0.1);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = first;
    joint.bodyB = second;
    tpCreateJoint(world, &joint, NULL);
    tpMassProperties mass = tpBody_GetMass(world, gone);
    tpBody_SetMass(world, gone, &mass, NULL);
    tpDestroyShape(world, tpBody_GetShape(world, gone, 0));
    for (int k = 1; k <= 30; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_int_equal(report.violations, 0);
        double t = 0.01 * k, fall = 0.5 * 9.81 * t * t;
        CHECK_NEAR(tpBody_GetPosition(world, gone).z, 0.5 - fall, 1e-12);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ballBouncesToRest),
        cmocka_unit_test(blockOnRamp),
        cmocka_unit_test(spinIsBraked),
        cmocka_unit_test(ellipseBendsTheWay),
        cmocka_unit_test(ballOnPlatter),
        cmocka_unit_test(nothingIsMissed),
        cmocka_unit_test(collisionsAgreeWithBruteForce),
        cmocka_unit_test(farBodiesCostNothing),
        cmocka_unit_test(stacksAreHandedOver),
        cmocka_unit_test(bodiesAreTakenBack),
        cmocka_unit_test(pilesKeepTheLaws),
        cmocka_unit_test(stepsDependOnTheStateAlone),
        cmocka_unit_test(jointsMeetTheFloor),
        cmocka_unit_test(forcesPushBlocks),
        cmocka_unit_test(strongForcesEnd),
        cmocka_unit_test(strongGravityEnds),
        cmocka_unit_test(crowdsUnderStrongGravityEnd),
        cmocka_unit_test(jointsAreHeld),
        cmocka_unit_test(destroyedShapesHaveNoBody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
