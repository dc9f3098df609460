// The geometrically implicit stepper on worlds made for it: functions of the user's, elliptic
// friction, intersections, impacts, and what is done when a step is hard.

#include <math.h>

#include "support/scene_text.h"
#include "tippe/joints.h"

static tpWorld* makeWorld(tpFriction friction, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_chakrabortyTrinkle;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    materialDef.friction = friction;
    materialDef.restitution = restitution;
    assert_int_equal(tpCreateMaterial(world, &materialDef, NULL), 1);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shapeDef, &plane, NULL);
    return world;
}

static tpFriction isotropic(double mu) {
    tpFriction friction = tpDefaultMaterialDef().friction;
    friction.staticCoefficient = friction.dynamicCoefficient = mu;
    return friction;
}

static tpBodyId addBody(tpWorld* world, const tpGeometry* geometry, tpBodyDef def) {
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 1000.0;
    tpError error;
    tpBodyId body = tpCreateBody(world, &def, &error);
    if (tpCreateShape(world, body, &shapeDef, geometry, &error).slot == 0) {
        fail_msg("%s", error.message);
    }
    return body;
}

// An ellipsoid as a user would write it, with gradient and Hessian.
static const double radii[3] = { .3, .2, .15 };

static double ownEllipsoid(tpVec3 p, tpVec3* gradient, tpMat33* hessian, void* context) {
    const double* r = context;
    tpVec3 scaled = { p.x / (r[0] * r[0]), p.y / (r[1] * r[1]), p.z / (r[2] * r[2]) };
    if (gradient != NULL) {
        *gradient = tpScale(2.0, scaled);
    }
    if (hessian != NULL) {
        *hessian =
            tpDiagonal(tpMakeVec3(2.0 / (r[0] * r[0]), 2.0 / (r[1] * r[1]), 2.0 / (r[2] * r[2])));
    }
    return tpDot(p, scaled) - 1.0;
}

static void functionsOfTheUserRollAlike(void** state) {
    (void)state;
    tpGeometry shapes[2];
    tpEllipsoid ellipsoid = { { radii[0], radii[1], radii[2] } };
    tpImplicit implicit = { .evaluate = ownEllipsoid, .context = (void*)radii };
    implicit.bounds.lower = tpMakeVec3(-.3, -.2, -.15);
    implicit.bounds.upper = tpMakeVec3(.3, .2, .15);
    tpError error;
    assert_int_equal(tpMakeEllipsoid(&ellipsoid, tpIdentityPose(), &shapes[0], &error), tp_success);
    assert_int_equal(tpMakeImplicit(&implicit, tpIdentityPose(), &shapes[1], &error), tp_success);
    tpWorld* worlds[2];
    tpBodyId bodies[2];
    for (int k = 0; k < 2; ++k) {
        worlds[k] = makeWorld(isotropic(.5), 0.0);
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 2.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(.02, .04, .05));
        def.position = tpMakeVec3(0.0, 0.0, .151);
        def.velocity = tpMakeVec3(.4, .1, 0.0);
        def.angularVelocity = tpMakeVec3(.3, 2.0, 1.0);
        bodies[k] = addBody(worlds[k], &shapes[k], def);
    }
    for (int i = 0; i < 200; ++i) {
        for (int k = 0; k < 2; ++k) {
            tpStepReport report = tpWorld_Step(worlds[k], .002);
            assert_int_equal(report.failureCount, 0);
            CHECK_BELOW(report.residual, 1e-8);
        }
    }
    CHECK_VEC3(tpBody_GetPosition(worlds[1], bodies[1]), tpBody_GetPosition(worlds[0], bodies[0]),
               1e-8);
    CHECK_VEC3(tpBody_GetAngularVelocity(worlds[1], bodies[1]),
               tpBody_GetAngularVelocity(worlds[0], bodies[0]), 1e-6);
    tpDestroyWorld(worlds[0]);
    tpDestroyWorld(worlds[1]);
}

// A cube slides over grooves: friction is E^2 u / |E u|, of greatest dissipation, not against the
// motion.
static void ellipticFrictionTurnsTheMotion(void** state) {
    (void)state;
    tpFriction friction = isotropic(.4);
    friction.ellipse[0] = 1.0;
    friction.ellipse[1] = .5;
    friction.direction = tpMakeVec3(1.0, 0.0, 0.0);
    tpWorld* world = makeWorld(friction, 0.0);
    tpBox box = { { .4, .4, .1 } };
    tpGeometry geometry;
    assert_int_equal(tpMakeBox(&box, tpIdentityPose(), &geometry, NULL), tp_success);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = .05;
    def.velocity = tpMakeVec3(2.0, 2.0, 0.0);
    // Too heavy against turning to turn.
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(1e6, 1e6, 1e6));
    tpBodyId body = addBody(world, &geometry, def);
    double u[2] = { 2.0, 2.0 }, h = .001;
    for (int k = 0; k < 300; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.dissipationViolation, 1e-6);
        // The law itself, in small steps.
        for (int i = 0; i < 100; ++i) {
            double size = sqrt(u[0] * u[0] + .25 * u[1] * u[1]);
            double x = u[0] / size, y = .25 * u[1] / size;
            u[0] -= .4 * 9.81 * .01 * h * x;
            u[1] -= .4 * 9.81 * .01 * h * y;
        }
    }
    tpVec3 v = tpBody_GetVelocity(world, body);
    CHECK_NEAR(v.x, u[0], 1e-4);
    CHECK_NEAR(v.y, u[1], 1e-4);
    tpDestroyWorld(world);
}

// A box as six half spaces, and a box: dropped flat and on a corner, both come to rest.
static void halfSpacesMakeABox(void** state) {
    (void)state;
    tpGeometry parts[6];
    for (int k = 0; k < 6; ++k) {
        tpPlane plane = { { 0.0, 0.0, 0.0 }, .1 };
        double* parts3[3] = { &plane.normal.x, &plane.normal.y, &plane.normal.z };
        *parts3[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
        assert_int_equal(tpMakePlane(&plane, tpIdentityPose(), &parts[k], NULL), tp_success);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry cut;
    tpError error;
    if (tpMakeIntersection(&allocator, parts, 6, tpIdentityPose(), &cut, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpWorld* world = makeWorld(isotropic(.5), 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = .3;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(1.0, .3, .2), .7);
    tpBodyId body = addBody(world, &cut, def);
    tpReleaseGeometry(&cut);
    for (int k = 0; k < 1500; ++k) {
        tpStepReport report = tpWorld_Step(world, .002);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.penetration, 1e-6);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, .1, 1e-6);
    CHECK_BELOW(tpLength(tpBody_GetVelocity(world, body)), 1e-8);
    tpDestroyWorld(world);
}

// A ball dropped with a slip: it leaves with e times its approach, after the friction impulse that
// the impact allows. The paper's own step is inelastic, and has a note if there is restitution.
static void impactsFollowNewtonsLaw(void** state) {
    (void)state;
    for (int bounce = 0; bounce < 3; ++bounce) {
        double e = bounce == 1 ? .5 : 0.0;
        tpWorld* world = makeWorld(isotropic(.1), bounce > 0 ? .5 : 0.0);
        if (bounce == 2) {
            assert_int_equal(tpWorld_SetOption(world, "theta", "1", NULL), tp_success);
        }
        tpSphere sphere = { .1 };
        tpGeometry geometry;
        assert_int_equal(tpMakeSphere(&sphere, tpIdentityPose(), &geometry, NULL), tp_success);
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = .35;
        def.velocity.x = 3.0;
        tpBodyId ball = addBody(world, &geometry, def);
        bool hasNote = false;
        double hit = sqrt(2.0 * 9.81 * .25);
        for (int k = 0; k < 500; ++k) {
            tpStepReport report = tpWorld_Step(world, .001);
            assert_int_equal(report.failureCount, 0);
            CHECK_BELOW(report.penetration, 1e-12);
            hasNote = hasNote || report.noteCount > 0;
            if (k == 250) { // after .226 s: it slides on
                double t = .251 - hit / 9.81;
                // In flight again, or it slides on.
                double up = e > 0.0 ? e * hit - 9.81 * t : 0.0;
                double pushed = (1.0 + e) * hit + (e > 0.0 ? 0.0 : 9.81 * t);
                CHECK_NEAR(tpBody_GetVelocity(world, ball).z, up, e > 0.0 ? 2e-4 : 1e-9);
                CHECK_NEAR(tpBody_GetVelocity(world, ball).x, 3.0 - .1 * pushed, 2e-3);
            }
        }
        assert_int_equal(hasNote, bounce == 2);
        tpDestroyWorld(world);
    }
}

static tpGeometry randomShape(tpRandom* random, int kind) {
    tpGeometry geometry;
    tpVec3 size = randomVec3(random, .08, .2);
    tpBox box = { size };
    tpCylinder cylinder = { .radius = .5 * size.x, .length = 1.2 * size.y };
    tpResult result = kind == 0 ? tpMakeBox(&box, tpIdentityPose(), &geometry, NULL)
                                : tpMakeCylinder(&cylinder, tpIdentityPose(), &geometry, NULL);
    assert_int_equal(result, tp_success);
    return geometry;
}

// Boxes and cylinders that fall on each other and tumble: no step gains energy, the report says
// where it went, and nothing overlaps, whatever faces, edges and rims meet within a step.
static void pilesNeitherGainNorOverlap(void** state) {
    (void)state;
    for (int pile = 0; pile < 4; ++pile) {
        tpWorld* world = makeWorld(isotropic(pile == 3 ? 0.0 : .5), 0.0);
        tpRandom seed = { 17 + (uint64_t)pile };
        for (int i = 0; i < 6; ++i) {
            tpGeometry geometry = randomShape(&seed, pile == 0 ? 0 : pile == 1 ? 1 : i % 2);
            tpBodyDef def = tpDefaultBodyDef();
            def.position = randomVec3(&seed, -.08, .08);
            def.position.z = .3 + .36 * i;
            def.rotation = tpQuatExp(randomVec3(&seed, -2.0, 2.0));
            def.angularVelocity = randomVec3(&seed, -5.0, 5.0);
            addBody(world, &geometry, def);
        }
        double start = tpWorld_GetPotentialEnergy(world), overlap = 0.0, rise = 0.0;
        for (int k = 0; k < 300; ++k) {
            tpStepReport report = tpWorld_Step(world, .005);
            assert_int_equal(report.failureCount, 0);
            double change = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                            report.potentialBefore;
            CHECK_NEAR(change, -report.frictionLoss - report.impactLoss, 1e-9 * start);
            overlap = fmax(overlap, report.penetration);
            rise = fmax(rise, change / start);
        }
        tpDestroyWorld(world);
        printf("pile %d: overlaps by %.1e m, gains %.1e of its energy in a step\n", pile, overlap,
               rise);
        CHECK_BELOW(overlap, 1e-5);
        CHECK_BELOW(rise, 1e-12);
    }
}

// Planks crosswise, three a layer, every face on three others: five times as many rows as
// velocities. The tower stands, a plank is pulled out of it, and every step is certified.
static void towersOfPlanksAreSolved(void** state) {
    (void)state;
    tpWorld* world = makeWorld(isotropic(.4), 0.0);
    tpBodyId pulled = { 0 };
    for (int i = 0; i < 18; ++i) {
        int layer = i / 3;
        double aside = .0255 * (i % 3 - 1);
        bool isAlongX = layer % 2 == 0;
        tpBox box = { isAlongX ? tpMakeVec3(.075, .025, .015) : tpMakeVec3(.025, .075, .015) };
        tpGeometry geometry;
        assert_int_equal(tpMakeBox(&box, tpIdentityPose(), &geometry, NULL), tp_success);
        tpBodyDef def = tpDefaultBodyDef();
        def.position =
            tpMakeVec3(isAlongX ? 0.0 : aside, isAlongX ? aside : 0.0, .0075 + .015 * layer);
        tpBodyId body = addBody(world, &geometry, def);
        pulled = i == 7 ? body : pulled;
    }
    for (int k = 0; k < 60; ++k) {
        if (k > 20) { // a quarter of what friction holds, then more than it
            tpBody_ApplyForce(world, pulled, tpMakeVec3(k < 40 ? .1 : 3.0, 0.0, 0.0),
                              tp_worldFrame);
        }
        tpStepReport report = tpWorld_Step(world, .01);
        assert_int_equal(report.violations, 0);
        assert_true(report.gapShift < 1e-7);
    }
    assert_true(tpBody_GetPosition(world, pulled).x > .04);
    tpDestroyWorld(world);
}

// A marble of flat faces that turns by two radians in a step runs up to four that lie: all points
// of its lower half may touch. Most steps are certified, and no marble sinks into the table.
static void rollingMarblesAreSolved(void** state) {
    (void)state;
    enum { pointCount = 100, marbles = 5, steps = 30 };
    const double radius = .008, speed = .5, golden = 2.399963229728653;
    tpWorld* world = makeWorld(isotropic(.2), 0.0);
    tpVec3 points[pointCount];
    for (int i = 0; i < pointCount; ++i) {
        double z = 1.0 - 2.0 * (i + .5) / pointCount, aside = sqrt(1.0 - z * z);
        points[i] = tpMakeVec3(radius * aside * cos(golden * i), radius * aside * sin(golden * i),
                               radius * z);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry geometry;
    assert_int_equal(tpMakeHull(&allocator, points, pointCount, tpIdentityPose(), &geometry, NULL),
                     tp_success);
    tpBodyId bodies[marbles];
    for (int i = 0; i < marbles; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(.0165 * i - (i == 0 ? .03 : 0.0), 0.0, points[0].z + 1e-4);
        def.velocity = tpMakeVec3(i == 0 ? speed : 0.0, 0.0, 0.0);
        def.angularVelocity = tpMakeVec3(0.0, i == 0 ? speed / radius : 0.0, 0.0);
        bodies[i] = addBody(world, &geometry, def);
    }
    int uncertified = 0;
    for (int k = 0; k < steps; ++k) {
        uncertified += tpWorld_Step(world, 1.0 / 30.0).violations != 0;
    }
    assert_true(uncertified <= 4);
    for (int i = 0; i < marbles; ++i) {
        double height = tpBody_GetPosition(world, bodies[i]).z;
        assert_true(height > .95 * radius && height < 1.05 * radius);
    }
    tpDestroyWorld(world);
    tpReleaseGeometry(&geometry);
}

// Two bodies on a joint, tossed and spinning: nothing is lost or won.
static void jointsKeepEnergy(void** state) {
    (void)state;
    tpWorld* world = makeWorld(isotropic(.5), 0.0);
    tpRandom seed = { 5 };
    tpBodyId bodies[2];
    for (int i = 0; i < 2; ++i) {
        tpGeometry geometry = randomShape(&seed, 0);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(.3 * i, 0.0, 9.0);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, 8.0);
        def.velocity = tpMakeVec3(0.0, 8.0 * (.3 * i - .15), 0.0);
        bodies[i] = addBody(world, &geometry, def);
    }
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = bodies[0];
    joint.bodyB = bodies[1];
    joint.anchorA = joint.anchorB = tpMakeVec3(.15, 0.0, 9.0);
    assert_true(tpCreateJoint(world, &joint, NULL).slot != 0);
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    for (int k = 0; k < 100; ++k) {
        assert_int_equal(tpWorld_Step(world, .01).failureCount, 0);
    }
    double end = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    CHECK_NEAR(end, start, 1e-10 * start);
    tpDestroyWorld(world);
}

static tpBodyId addOnRow(tpWorld* world, const tpGeometry* geometry, tpVec3 place, double mass) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.inertia = tpDiagonal(tpMakeVec3(mass, mass, mass));
    return addBody(world, geometry, def);
}

// A heavy ball drives a row of balls into a plate, and the plate into a crowd. Each body is set in
// motion by the one before it, a pass later: in one of the rows it is the plate that outruns its
// margin in the last pass of the step. What the step lists is what it has solved for: gaps are
// those between the bodies where it ends.
static void driveRow(int rowCount) {
    const double gap = .01, r = .4;
    const int crowdSide = 8;
    tpWorld* world = makeWorld(isotropic(0.0), 0.0);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, 0.0));
    tpGeometry ball, plate, small;
    tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &ball, NULL);
    tpMakeBox(&(tpBox){ { 2.0, 40.0, 40.0 } }, tpIdentityPose(), &plate, NULL);
    tpMakeSphere(&(tpSphere){ r }, tpIdentityPose(), &small, NULL);
    for (int i = 0; i <= rowCount; ++i) {
        tpVec3 place = tpMakeVec3((2.0 + gap) * i, 0.0, 100.0);
        addOnRow(world, i < rowCount ? &ball : &plate, place, i == 0 ? 1000.0 : 1.0);
    }
    double x = (2.0 + gap) * rowCount + 1.0 + gap + r;
    for (int i = 0; i < crowdSide * crowdSide; ++i) {
        double y = 4.0 * (i % crowdSide) - 2.0 * (crowdSide - 1);
        double z = 4.0 * (i / crowdSide) - 2.0 * (crowdSide - 1);
        addOnRow(world, &small, tpMakeVec3(x, y, 100.0 + z), 1.0);
    }
    tpBody_SetVelocity(world, tpWorld_GetBody(world, 1), tpMakeVec3(50.0, 0.0, 0.0),
                       tpMakeVec3(0.0, 0.0, 0.0));
    tpStepReport report = tpWorld_Step(world, .01);
    assert_int_equal(report.failureCount, 0);
    CHECK_BELOW(report.kineticAfter, report.kineticBefore);
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_true(count >= rowCount);
    tpBodyId plateBody = tpWorld_GetBody(world, rowCount + 1);
    for (int i = 0; i < count; ++i) {
        tpVec3 a = tpBody_GetPosition(world, contacts[i].bodyA);
        tpVec3 b = tpBody_GetPosition(world, contacts[i].bodyB);
        bool isSmall = fmax(a.x, b.x) > x - 1e-9; // the crowd is ahead of all others
        // The plate may have turned by some 1e-5 as bodies were moved apart.
        tpVec3 face =
            tpRotate(tpBody_GetPose(world, plateBody).rotation, tpMakeVec3(1.0, 0.0, 0.0));
        bool isOnPlate = isSmall || contacts[i].bodyA.slot == plateBody.slot ||
                         contacts[i].bodyB.slot == plateBody.slot;
        double way = isOnPlate ? fabs(tpDot(face, tpSub(a, b))) : tpLength(tpSub(a, b));
        double between = way - (isSmall ? 1.0 + r : 2.0);
        CHECK_NEAR(contacts[i].gap, between, 1e-9);
        CHECK_NEAR(fabs(contacts[i].normal.x), 1.0, 1e-9);
    }
    tpDestroyWorld(world);
}

static void rowsOutrunTheirMargins(void** state) {
    (void)state;
    for (int rowCount = 2; rowCount <= 12; ++rowCount) {
        driveRow(rowCount);
    }
}

// Two links, of which a screw carries the second; a sum of angles of the ball joint that carries
// both has limits. A limit that is met in the middle of a step gave energy in one step of eight.
static const char* const screwed =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": {"
    " \"m0\": { \"friction\": 0.407834355, \"restitution\": 0.479646304 },"
    " \"m1\": { \"friction\": 0.489114684, \"restitution\": 0.089624584 } }, \"bodies\": ["
    " { \"name\": \"a\", \"density\": 300, \"material\": \"m0\", \"position\": [0.057186281, "
    "0.03039396, 1.121213516],"
    " \"shapes\": [ { \"type\": \"cylinder\", \"radius\": 0.03, \"length\": 0.116930238 } ] },"
    " { \"name\": \"b\", \"density\": 1000, \"material\": \"m1\", \"position\": [0.196457796, "
    "-0.042159239, 0.986028461],"
    " \"shapes\": [ { \"type\": \"cylinder\", \"radius\": 0.03, \"length\": 0.136992609 } ] } ],"
    " \"joints\": [ { \"name\": \"j\", \"type\": \"compound\", \"bodies\": [null, \"a\"],"
    " \"anchor\": [0, 0, 1.218571706], \"axes\": [ { \"turn\": [1, 0, 0], \"name\": \"x\" },"
    " { \"turn\": [0, 1, 0], \"name\": \"y\" }, { \"turn\": [0, 0, 1], \"name\": \"z\" } ] },"
    " { \"name\": \"s\", \"type\": \"screw\", \"bodies\": [\"a\", \"b\"],"
    " \"anchor\": [0.114372563, 0.06078792, 1.023855327],"
    " \"axis\": [-0.479718971, -0.865715249, 0.142852429], \"pitch\": -0.09253954 } ],"
    " \"couplings\": [ { \"name\": \"pair\", \"of\": [[\"j.z\", 1], [\"j.x\", 1.917003955]],"
    " \"limits\": [-0.3, 0.3] } ],"
    " \"simulation\": { \"stepper\": \"chakraborty-trinkle\", \"step\": 0.01, \"until\": 1 } }";

static void limitsGiveNothing(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(screwed);
    double rise = 0.0;
    for (int i = 0; i < 144; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
        assert_int_equal(report.violations, 0);
        rise = fmax(rise, report.energyIncrease);
    }
    CHECK_BELOW(rise, 1e-4); // of some joules
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functionsOfTheUserRollAlike),
        cmocka_unit_test(ellipticFrictionTurnsTheMotion),
        cmocka_unit_test(halfSpacesMakeABox),
        cmocka_unit_test(impactsFollowNewtonsLaw),
        cmocka_unit_test(pilesNeitherGainNorOverlap),
        cmocka_unit_test(towersOfPlanksAreSolved),
        cmocka_unit_test(rollingMarblesAreSolved),
        cmocka_unit_test(jointsKeepEnergy),
        cmocka_unit_test(rowsOutrunTheirMargins),
        cmocka_unit_test(limitsGiveNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
