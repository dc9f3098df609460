// Mechanisms with few contacts: these are solved exactly, so that steps have their certificate, and
// closed forms of sliding and bouncing hold.

#include "steppers/small_steps/few_contacts.h"
#include "support/floor.h"
#include "tippe/joints.h"

enum { links = 9 };

static tpWorld* makeWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    return tpCreateWorld(&def);
}

static tpBodyId addBall(tpWorld* world, tpVec3 place, double radius) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1000.0;
    shape.group = 2;
    shape.mask = ~2u; // balls do not meet each other
    tpSphere sphere = { .radius = radius };
    tpCreateSphere(world, body, &shape, &sphere, NULL);
    return body;
}

static tpBodyId addBox(tpWorld* world, tpVec3 place, tpVec3 size, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    return addSolidBox(world, &def, size, 1000.0);
}

static void join(tpWorld* world, tpJointType type, tpBodyId a, tpBodyId b, tpVec3 anchor,
                 tpVec3 axis, const tpCoordinateDef* laws) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    if (laws != NULL) {
        def.coordinate = *laws;
    }
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
}

// A tree of balls on hinges with servos that falls onto the floor and comes to rest there, some of
// its balls sliding. With a spring that pulls nothing it has a loop, and rows in place of axes.
static void fallOf(bool isLoop) {
    tpWorld* world = makeWorld();
    addMaterial(world, 0.7, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId list[links];
    tpVec3 places[links];
    static const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    for (int i = 0; i < links; ++i) {
        int parent = (i - 1) / 2;
        places[i] = i == 0 ? tpMakeVec3(0.0, 0.0, 0.5)
                           : tpAdd(places[parent], tpMakeVec3(i % 2 == 1 ? 0.25 : -0.25,
                                                              0.03 * (i % 5 - 2), -0.12));
        list[i] = addBall(world, places[i], 0.05);
        if (i > 0) {
            tpCoordinateDef laws = tpDefaultCoordinateDef();
            laws.hasServo = true;
            laws.servo = (tpServo){ 0.0, 0.0, 20.0, 1.0, 6.0 };
            laws.armature = 0.01;
            laws.hasLimits = i % 3 == 0;
            laws.limits[0] = -0.1;
            laws.limits[1] = 0.1;
            join(world, tp_revoluteJoint, list[parent], list[i], places[parent], axes[i % 3],
                 &laws);
        }
    }
    if (isLoop) {
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_springJoint;
        def.bodyA = list[0];
        def.bodyB = list[links - 1];
        def.anchorB = tpMakeVec3(1.0, 1.0, 1.0);
        tpCreateJoint(world, &def, NULL);
    }
    int touching = 0;
    for (int k = 0; k < 300; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 200.0);
        touching += report.contactCount > 0 ? 1 : 0;
        assert_int_equal(report.violations, 0);
        CHECK_BELOW(report.penetration, 1e-4);
    }
    assert_true(touching > 200);
    tpDestroyWorld(world);
}

static void treesThatFallAreCertified(void** state) {
    (void)state;
    fallOf(false);
}

static void loopsThatFallAreCertified(void** state) {
    (void)state;
    fallOf(true);
}

// Two boxes on a hinge slide with the friction of sliding, come to rest, and then stick on a floor
// that is tilted by less than the friction of sticking allows.
static void sledsSlideAndStick(void** state) {
    (void)state;
    const double muStatic = 0.6, muDynamic = 0.4, h = 1.0 / 240.0, speed = 1.5;
    tpWorld* world = makeWorld();
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = muStatic;
    material.friction.dynamicCoefficient = muDynamic;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 velocity = tpMakeVec3(speed, 0.0, 0.0), size = tpMakeVec3(0.2, 0.2, 0.1);
    tpBodyId a = addBox(world, tpMakeVec3(0.0, 0.0, 0.05), size, velocity);
    tpBodyId b = addBox(world, tpMakeVec3(0.3, 0.0, 0.05), size, velocity);
    join(world, tp_revoluteJoint, a, b, tpMakeVec3(0.15, 0.0, 0.05), tpMakeVec3(0.0, 1.0, 0.0),
         NULL);
    for (int k = 0; k < 60; ++k) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
    }
    double expected = speed - muDynamic * 9.81 * 60.0 * h;
    CHECK_NEAR(tpBody_GetVelocity(world, a).x, expected, 1e-6);
    CHECK_NEAR(tpBody_GetVelocity(world, b).x, expected, 1e-6);
    for (int k = 0; k < 60; ++k) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
    }
    // Between the two coefficients.
    tpWorld_SetGravity(world, tpMakeVec3(9.81 * sin(0.5), 0.0, -9.81 * cos(0.5)));
    for (int k = 0; k < 60; ++k) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
    }
    CHECK_BELOW(tpLength(tpBody_GetVelocity(world, a)), 1e-9);
    tpDestroyWorld(world);
}

// A dumbbell that falls flat bounces with its restitution, whatever its joint would do.
static void dumbbellsBounce(void** state) {
    (void)state;
    const double h = 1.0 / 1000.0, e = 0.5;
    tpWorld* world = makeWorld();
    addMaterial(world, 0.3, e);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId a = addBall(world, tpMakeVec3(-0.2, 0.0, 0.3), 0.1);
    tpBodyId b = addBall(world, tpMakeVec3(0.2, 0.0, 0.3), 0.1);
    join(world, tp_revoluteJoint, a, b, tpMakeVec3(0.0, 0.0, 0.3), tpMakeVec3(0.0, 1.0, 0.0), NULL);
    double meeting = 0.0;
    for (int k = 0; k < 300; ++k) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
        double speed = tpBody_GetVelocity(world, a).z;
        if (speed > 0.0) {
            // Of the speed where the gap is gone; that of parting is in single precision.
            CHECK_NEAR(speed, e * meeting, 1e-7);
            CHECK_NEAR(tpBody_GetVelocity(world, b).z, speed, 1e-9);
            tpDestroyWorld(world);
            return;
        }
        double gap = tpBody_GetPosition(world, a).z - 0.1;
        meeting = sqrt(speed * speed + 2.0 * 9.81 * gap);
    }
    fail();
}

// A lever that a motor turns against its limit lifts a ball that has no joints.
static void leversCarryBalls(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    addMaterial(world, 0.8, 0.0);
    tpBodyId lever =
        addBox(world, tpMakeVec3(0.5, 0.0, 0.0), tpMakeVec3(1.0, 0.4, 0.1), tpZeroVec3());
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasMotor = true;
    laws.motor = (tpMotor){ -0.5, 2000.0 };
    laws.hasLimits = true;
    laws.limits[0] = -0.2;
    laws.limits[1] = 0.2;
    join(world, tp_revoluteJoint, (tpBodyId){ 0 }, lever, tpZeroVec3(), tpMakeVec3(0.0, 1.0, 0.0),
         &laws);
    tpBodyId ball = addBall(world, tpMakeVec3(0.7, 0.0, 0.15), 0.1);
    for (int k = 0; k < 100; ++k) {
        assert_int_equal(tpWorld_Step(world, 1.0 / 240.0).violations, 0);
    }
    assert_true(tpBody_GetPosition(world, ball).z > 0.17);
    tpDestroyWorld(world);
}

// Beside a mechanism bodies without joints fall, slide and come to rest with a certificate too, and
// with their closed form; two of them lie on each other.
static void looseBodiesAreCertified(void** state) {
    (void)state;
    const double mu = 0.4, h = 1.0 / 200.0, speed = 2.0;
    tpWorld* world = makeWorld();
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpVec3 size = tpMakeVec3(0.4, 0.4, 0.2);
    tpBodyId lever = addBox(world, tpMakeVec3(0.5, 0.0, 2.0), size, tpZeroVec3());
    join(world, tp_revoluteJoint, (tpBodyId){ 0 }, lever, tpMakeVec3(0.0, 0.0, 2.0),
         tpMakeVec3(0.0, 1.0, 0.0), NULL);
    addBox(world, tpMakeVec3(5.0, 0.0, 0.1), size, tpZeroVec3());
    tpBodyId upper = addBox(world, tpMakeVec3(5.0, 0.0, 0.3), size, tpZeroVec3());
    tpBodyId sled = addBox(world, tpMakeVec3(-5.0, 0.0, 0.1), size, tpMakeVec3(-speed, 0.0, 0.0));
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 5.0, 0.3), 0.1);
    for (int k = 0; k < 200; ++k) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
        double left = fmax(0.0, speed - mu * 9.81 * h * (k + 1));
        CHECK_NEAR(tpBody_GetVelocity(world, sled).x, -left, 1e-6);
    }
    CHECK_NEAR(tpBody_GetPosition(world, upper).z, 0.3, 1e-6);
    CHECK_NEAR(tpBody_GetPosition(world, ball).z, 0.1, 1e-6);
    tpDestroyWorld(world);
}

// A material whose friction acts on spins too.
static void addTorsional(tpWorld* world, double mu, double arm) {
    tpMaterialDef def = tpDefaultMaterialDef();
    def.friction.staticCoefficient = def.friction.dynamicCoefficient = mu;
    def.friction.torsionalArm = arm;
    tpCreateMaterial(world, &def, NULL);
}

static void spinUp(tpWorld* world, tpBodyId body, double spin) {
    tpBody_SetVelocity(world, body, tpZeroVec3(), tpMakeVec3(0.0, 0.0, spin));
}

// Two balls of the same mass, one above the other on a stiff hinge, spin about the vertical on the
// lower one: friction has the moment mu e m g, and the spin falls by that over the inertia.
static void torsionStopsMechanisms(void** state) {
    (void)state;
    const double mu = 0.5, arm = 0.02, radius = 0.1, spin = 3.0, h = 1.0 / 200.0;
    tpWorld* world = makeWorld();
    addTorsional(world, mu, arm);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId low = addBall(world, tpMakeVec3(0.0, 0.0, radius), radius);
    tpBodyId high = addBall(world, tpMakeVec3(0.0, 0.0, 3.0 * radius), radius);
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasServo = true;
    laws.servo = (tpServo){ 0.0, 0.0, 1e4, 1e2, INFINITY };
    join(world, tp_revoluteJoint, low, high, tpMakeVec3(0.0, 0.0, 2.0 * radius),
         tpMakeVec3(1.0, 0.0, 0.0), &laws);
    spinUp(world, low, spin);
    spinUp(world, high, spin);
    // m = 2 m1, I = 2 (2/5) m1 radius^2
    double slowing = mu * arm * 9.81 / (0.4 * radius * radius);
    for (int k = 1; k <= 300; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        double expected = fmax(spin - slowing * k * h, 0.0);
        CHECK_NEAR(tpBody_GetAngularVelocity(world, low).z, expected, 1e-6 * spin);
    }
    tpDestroyWorld(world);
}

// A trunk on three legs of two links that end in balls with torsional friction sways and comes to
// rest.
static void feetWithTorsionAreCertified(void** state) {
    (void)state;
    enum { legs = 3 };
    tpWorld* world = makeWorld();
    addTorsional(world, 0.8, 0.02);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId trunk = addBox(world, tpMakeVec3(0.0, 0.0, 0.54), tpMakeVec3(0.8, 0.4, 0.12),
                            tpMakeVec3(0.02, 0.01, 0.0));
    for (int leg = 0; leg < legs; ++leg) {
        double angle = 6.283185307179586 * (leg + 0.5) / legs;
        double x = 0.35 * cos(angle), y = 0.25 * sin(angle);
        tpCoordinateDef laws = tpDefaultCoordinateDef();
        laws.hasServo = true;
        laws.servo = (tpServo){ 0.0, 0.0, 300.0, 10.0, INFINITY };
        tpBodyId upper =
            addBox(world, tpMakeVec3(x, y, 0.34), tpMakeVec3(0.05, 0.05, 0.2), tpZeroVec3());
        tpBodyId foot = addBall(world, tpMakeVec3(x, y, 0.04), 0.04);
        join(world, tp_revoluteJoint, trunk, upper, tpMakeVec3(x, y, 0.44),
             tpMakeVec3(0.0, 1.0, 0.0), &laws);
        join(world, tp_revoluteJoint, upper, foot, tpMakeVec3(x, y, 0.19),
             tpMakeVec3(1.0, 0.0, 0.0), &laws);
    }
    for (int k = 0; k < 200; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 200.0);
        assert_int_equal(report.contactCount, legs);
        assert_int_equal(report.violations, 0);
    }
    tpDestroyWorld(world);
}

// A train of boxes on hinges slides on more points than are solved one by one in a crowd: all of it
// slows down by mu g.
static void trainsOfManyPointsSlide(void** state) {
    (void)state;
    enum { wagons = 8 };
    const double mu = 0.4, h = 1.0 / 200.0, speed = 1.0;
    tpWorld* world = makeWorld();
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId list[wagons];
    for (int i = 0; i < wagons; ++i) {
        list[i] = addBox(world, tpMakeVec3(0.5 * i, 0.0, 0.1), tpMakeVec3(0.4, 0.4, 0.2),
                         tpMakeVec3(speed, 0.0, 0.0));
        if (i > 0) {
            join(world, tp_revoluteJoint, list[i - 1], list[i],
                 tpMakeVec3(0.5 * i - 0.25, 0.0, 0.1), tpMakeVec3(0.0, 1.0, 0.0), NULL);
        }
    }
    for (int k = 1; k <= 100; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        assert_int_equal(report.contactCount, 4 * wagons);
        double left = fmax(0.0, speed - mu * 9.81 * h * k);
        for (int i = 0; i < wagons; ++i) {
            CHECK_NEAR(tpBody_GetVelocity(world, list[i]).x, left, 1e-6);
        }
    }
    tpDestroyWorld(world);
}

// Robots that lie on many points with joints that all but hold: W has six large numbers and many
// small ones. The last solve of a step gets to the law whatever it takes.
enum { lyingContacts = 12, lyingRows = 3 * lyingContacts };

static void fillLying(tpRandom* random, double soft, double* W, double* q) {
    double J[lyingRows][6], G[lyingRows][lyingRows], v[6];
    for (int k = 0; k < 6; ++k) {
        v[k] = randomBetween(random, -0.05, 0.05);
    }
    for (int c = 0; c < lyingContacts; ++c) {
        double x = randomBetween(random, -0.3, 0.3), y = randomBetween(random, -0.2, 0.2);
        double arm[3] = { x, y, -0.1 };
        for (int i = 0; i < 3; ++i) {
            // Rows n, t, o along z, x, y.
            int axis = (i + 2) % 3, next = (axis + 1) % 3, last = (axis + 2) % 3;
            double* row = J[3 * c + i];
            memset(row, 0, sizeof(J[0]));
            row[axis] = 1.0;
            row[3 + next] = 3.0 * arm[last];
            row[3 + last] = -3.0 * arm[next];
            q[3 * c + i] = (i == 0 ? -0.05 : 0.0) + randomBetween(random, -0.01, 0.01);
            for (int k = 0; k < 6; ++k) {
                q[3 * c + i] += row[k] * v[k];
            }
        }
    }
    for (int k = 0; k < lyingRows; ++k) {
        // Ways to give, from as much as the whole moves to next to nothing.
        double size = exp(randomBetween(random, log(soft), 0.0));
        for (int i = 0; i < lyingRows; ++i) {
            G[i][k] = k < 12 ? size * randomBetween(random, -1.0, 1.0) : 0.0;
        }
    }
    for (int i = 0; i < lyingRows; ++i) {
        for (int j = 0; j < lyingRows; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 6; ++k) {
                sum += J[i][k] * J[j][k] / 10.0;
            }
            for (int k = 0; k < lyingRows; ++k) {
                sum += G[i][k] * G[j][k];
            }
            W[i * lyingRows + j] = sum;
        }
    }
}

static bool solveLying(tpArena* arena, const double* W, const double* q, double allowed) {
    tpFewContacts few = { .contactCount = lyingContacts, .rowCount = lyingRows };
    tpFewContact contacts[lyingContacts] = { 0 };
    double r[lyingRows] = { 0.0 }, free[lyingRows], swept[lyingRows], mu[lyingContacts];
    double own[lyingRows * lyingRows];
    int dimensions[lyingContacts];
    unsigned char kinds[lyingContacts] = { 0 };
    tpFrictionStates_Reserve(&few.states, arena, lyingContacts, lyingRows);
    memcpy(own, W, sizeof(own));
    few.contacts = contacts;
    few.states.W = few.W = own;
    few.states.contactCount = lyingContacts;
    few.states.rowCount = lyingRows;
    few.u = few.states.u;
    few.solved = few.states.solved;
    few.r = r;
    few.q = free;
    few.swept = swept;
    few.mu = mu;
    few.dimensions = dimensions;
    few.kinds = kinds;
    for (int c = 0; c < lyingContacts; ++c) {
        contacts[c].row = 3 * c;
        contacts[c].rows = dimensions[c] = 3;
        few.states.contacts[c] =
            (tpStatedContact){ .row = 3 * c, .rows = 3, .muStatic = 0.8, .muDynamic = 0.8 };
    }
    memset(few.solved, 0, sizeof(r));
    tpFrictionStates_Read(&few.states);
    memcpy(few.u, q, sizeof(free));
    return tpFewContacts_Solve(&few, allowed, true, arena);
}

static void lyingRobotsAreSolved(void** state) {
    (void)state;
    tpRandom random = { 5 };
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    for (int trial = 0; trial < 60; ++trial) {
        static double W[lyingRows * lyingRows];
        double q[lyingRows];
        fillLying(&random, trial % 2 == 0 ? 1e-3 : 1e-5, W, q);
        assert_true(solveLying(&arena, W, q, 1e-11));
        tpArena_Reset(&arena);
    }
    tpArena_Destroy(&arena);
}

// Boxes on hinges in a row along x, at rest on a floor. Returns the first.
static tpBodyId addTrain(tpWorld* world, int wagons, double y) {
    tpBodyId first = { 0 }, last = { 0 };
    for (int i = 0; i < wagons; ++i) {
        tpBodyId wagon =
            addBox(world, tpMakeVec3(0.5 * i, y, 0.1), tpMakeVec3(0.4, 0.4, 0.2), tpZeroVec3());
        if (i > 0) {
            join(world, tp_revoluteJoint, last, wagon, tpMakeVec3(0.5 * i - 0.25, y, 0.1),
                 tpMakeVec3(0.0, 1.0, 0.0), NULL);
        }
        first = i == 0 ? wagon : first;
        last = wagon;
    }
    return first;
}

// The height at which the first wagon of two rests beside other trains.
static double heightBeside(int trains, int wagons) {
    tpWorld* world = makeWorld();
    addMaterial(world, 0.4, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId wagon = addTrain(world, 2, 0.0);
    for (int k = 1; k <= trains; ++k) {
        addTrain(world, wagons, 2.0 * k);
    }
    for (int k = 0; k < 200; ++k) {
        tpWorld_Step(world, 1.0 / 200.0);
    }
    double height = tpBody_GetPosition(world, wagon).z;
    tpDestroyWorld(world);
    return height;
}

// In a crowd all mechanisms are swept, and sink in as far as springs give way: the rows of those
// that would have too many of their own to be solved exactly count as well.
static void crowdsAreSweptAsAWhole(void** state) {
    (void)state;
    CHECK_NEAR(heightBeside(2, 2), 0.1, 1e-7);
    double inCrowd = heightBeside(8, 2);
    assert_true(inCrowd < 0.1 - 1e-6);
    CHECK_NEAR(heightBeside(1, 12), inCrowd, 1e-9);
}

// The energy by which solves are compared: of all bodies of the mechanisms, that of their motion
// and of their turning, and of what they touch and impulses move. What is fixed has none, and
// bodies that are part of a mechanism count there alone.
static void energiesAreThoseOfMotion(void** state) {
    (void)state;
    enum { nodes = 2, ends = 3 };
    tpRandom random = { 77 };
    for (int n = 0; n < 50; ++n) {
        tpNodeMass masses[nodes];
        double last[6 * nodes], energy = 0.0;
        for (int i = 0; i < nodes; ++i) {
            double m = randomBetween(&random, 0.5, 3.0);
            tpVec3 v = randomVec3(&random, -2.0, 2.0), w = randomVec3(&random, -5.0, 5.0);
            tpVec3 a = randomVec3(&random, -1.0, 1.0);
            // The inertia of four points on two lines through the centre: sum of m (r r - r r').
            tpVec3 b = randomVec3(&random, -1.0, 1.0);
            const double of[2][3] = { { a.x, a.y, a.z }, { b.x, b.y, b.z } };
            for (int k = 0; k < 9; ++k) {
                masses[i].inertia[k] = 0.0;
                for (int p = 0; p < 2; ++p) {
                    double square = of[p][0] * of[p][0] + of[p][1] * of[p][1] + of[p][2] * of[p][2];
                    masses[i].inertia[k] +=
                        0.5 * m * ((k % 4 == 0 ? square : 0.0) - of[p][k / 3] * of[p][k % 3]);
                }
            }
            for (int k = 0; k < 6; ++k) {
                masses[i].mass[k % 3] = m;
                masses[i].free[k] = 1.0;
            }
            memcpy(&last[6 * i], &v, sizeof(v));
            memcpy(&last[6 * i + 3], &w, sizeof(w));
            // A quarter of the mass in each point, at a, -a, b and -b.
            const tpVec3 points[4] = { a, tpScale(-1.0, a), b, tpScale(-1.0, b) };
            for (int p = 0; p < 4; ++p) {
                energy += 0.125 * m * tpLengthSquared(tpAdd(v, tpCross(w, points[p])));
            }
        }
        tpArticulation owner = { .solver.nodeCount = nodes, .masses = masses, .last = last };
        tpArticulation* owners[1] = { &owner };
        tpFewContact contacts[ends];
        memset(contacts, 0, sizeof(contacts));
        tpSweepBody bodies[2 * ends];
        tpVelocity velocities[2 * ends];
        for (int c = 0; c < ends; ++c) {
            for (int side = 0; side < 2; ++side) {
                tpContactEnd* end = &contacts[c].ends[side];
                int number = 2 * c + side;
                double m = randomBetween(&random, 0.5, 3.0);
                end->number = number;
                end->isMoved = number % 3 != 1;
                end->owner = number % 3 == 0 ? &owner : NULL;
                bodies[number].inverseMass = 1.0 / m;
                velocities[number].linear = randomVec3(&random, -2.0, 2.0);
                energy +=
                    number % 3 == 2 ? 0.5 * m * tpLengthSquared(velocities[number].linear) : 0.0;
            }
        }
        tpSmallStep step = { .masses = bodies, .velocities = velocities };
        tpFewContacts few = {
            .owners = owners, .ownerCount = 1, .contacts = contacts, .contactCount = ends
        };
        CHECK_NEAR(tpFewContacts_Energy(&step, &few), energy, 1e-12 * (1.0 + energy));
    }
}

// What a contact that gives can add: of bodies at rest that answer an impulse p by the velocity
// W p, the bias b makes p = b / (W + give), and they have the energy W p^2 / 2 then. What they are
// is not asked: the most for any W counts.
static void biasesGiveTheirMost(void** state) {
    (void)state;
    tpFewContact contacts[3];
    memset(contacts, 0, sizeof(contacts));
    contacts[0].bias = -0.3;
    contacts[0].ease = 0.2;
    contacts[1].bias = 0.4; // it is not pushed out
    contacts[1].ease = 0.2;
    contacts[2].bias = -0.5; // it does not give
    double most = 0.0;
    for (int k = 1; k <= 1000; ++k) {
        double W = 1e-3 * k, p = 0.3 / (W + 0.2);
        most = fmax(most, 0.5 * W * p * p);
    }
    tpFewContacts few = { .contacts = contacts, .contactCount = 3 };
    CHECK_NEAR(tpFewContacts_BiasEnergy(&few), most, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesThatFallAreCertified), cmocka_unit_test(loopsThatFallAreCertified),
        cmocka_unit_test(sledsSlideAndStick),        cmocka_unit_test(dumbbellsBounce),
        cmocka_unit_test(leversCarryBalls),          cmocka_unit_test(looseBodiesAreCertified),
        cmocka_unit_test(torsionStopsMechanisms),    cmocka_unit_test(feetWithTorsionAreCertified),
        cmocka_unit_test(trainsOfManyPointsSlide),   cmocka_unit_test(crowdsAreSweptAsAWhole),
        cmocka_unit_test(lyingRobotsAreSolved),      cmocka_unit_test(energiesAreThoseOfMotion),
        cmocka_unit_test(biasesGiveTheirMost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
