// The smooth motion of a group by steps of fourth order: closed forms of what slides, rolls, swings
// and spins, and the steps in which something happens.

#include "auto_flows.h"
#include "dynamics/figures.h"
#include "dynamics/forces.h"
#include "steppers/auto/flow_moments.h"

static tpWorld* makeBallWorld(double friction, tpVec3 up, tpVec3 velocity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, 0.0);
    addFloor(world, up);
    addBall(world, tpScale(0.1, up), velocity);
    tpWorld_Step(world, 1e-12); // measures the scales
    tpSystem_SetVelocity(&world->system, 1, velocity, tpZeroVec3());
    world->system.poses.data[1].position = tpScale(0.1, up);
    return world;
}

// A ball that slides is braked by mu g, and gets a spin of 5/2 mu g t / r. What it loses is the
// friction's way.
static void slidingIsExact(void** state) {
    (void)state;
    const double mu = 0.2, g = 9.81, h = 0.05, v = 3.0;
    tpWorld* world = makeBallWorld(mu, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(v, 0.0, 0.0));
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, true));
    tpTaken taken = takeStep(&flowing, h);
    assert_false(taken.isBad);
    const tpSystem* system = &world->system;
    CHECK_NEAR(system->velocities.data[1].linear.x, v - mu * g * h, 1e-12);
    CHECK_NEAR(system->poses.data[1].position.x, v * h - 0.5 * mu * g * h * h, 1e-12);
    CHECK_NEAR(system->poses.data[1].position.z, 0.1, 1e-12);
    CHECK_NEAR(system->velocities.data[1].angular.y, 2.5 * mu * g * h / 0.1, 1e-11);
    double mass = system->bodies.data[1].mass;
    double slip = v * h - 0.5 * 3.5 * mu * g * h * h;
    CHECK_NEAR(taken.report.frictionLoss, mu * mass * g * slip, 1e-12 * mass);
    assert_int_equal(taken.tally.count, 1);
    CHECK_NEAR(taken.tally.list[0].normalImpulse, mass * g * h, 1e-12 * mass);
    // on A, the floor
    CHECK_NEAR(taken.tally.list[0].frictionImpulse.x, mu * mass * g * h, 1e-12 * mass);
    assert_int_equal(taken.tally.list[0].state, tp_sliding);
    tpDestroyWorld(world);
}

// The slip of 3 m/s is used up after 2 v / (7 mu g): a step beyond that has a moment in it, and
// tells when, since the slip goes evenly.
static void slipsThatEndAreSeen(void** state) {
    (void)state;
    const double end = 2.0 * 3.0 / (7.0 * 0.2 * 9.81);
    for (int k = 0; k < 2; ++k) {
        tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0), velocity = tpMakeVec3(3.0, 0.0, 0.0);
        tpWorld* world = makeBallWorld(0.2, up, velocity);
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, true));
        assert_int_equal(takeStep(&flowing, (k == 0 ? 0.9 : 1.2) * end).isBad, k == 1);
        CHECK_NEAR(flowing.flow.momentPart, k == 0 ? -1.0 : 1.0 / 1.2, 1e-9);
        tpDestroyWorld(world);
    }
}

// Guesses of when something happens, in parts of a step whose stages are at given times.
static void guessesFollowLines(void** state) {
    (void)state;
    for (int stage = 1; stage <= tp_flowStages; ++stage) {
        // What falls evenly from a at the start to b at the stage is 0 at t a / (a - b).
        double t = tpFlow_Times[stage];
        tpFlow flow = { .momentPart = -1.0, .aheadPart = -1.0 };
        tpFlow_GuessMoment(&flow, stage, 3.0, -1.0);
        CHECK_NEAR(flow.momentPart, 0.75 * t, 1e-15);
        tpFlow_GuessMoment(&flow, stage, 1.0, -1.0); // earlier
        CHECK_NEAR(flow.momentPart, 0.5 * t, 1e-15);
        tpFlow_GuessMoment(&flow, stage, 5.0, -1.0); // later
        tpFlow_GuessMoment(&flow, stage, 1.0, 2.0);  // it grows
        tpFlow_GuessMoment(&flow, stage, 9.0, 8.0);  // beyond the step
        CHECK_NEAR(flow.momentPart, 0.5 * t, 1e-15);

        // Half way between this stage and the last one that is before it in time.
        double before = 0.0;
        for (int k = 1; k < stage; ++k) {
            before = tpFlow_Times[k] < t && tpFlow_Times[k] > before ? tpFlow_Times[k] : before;
        }
        tpFlow_GuessBetween(&flow, stage);
        CHECK_NEAR(flow.momentPart, 0.5 * (before + t), 1e-15);
    }
    tpFlow flow = { .momentPart = -1.0, .aheadPart = -1.0 };
    tpFlow_GuessSince(&flow, 0.0, 0.1);
    tpFlow_GuessSince(&flow, 0.2, 0.1);
    CHECK_NEAR(flow.momentPart, -1.0, 0.0);
    tpFlow_GuessSince(&flow, 0.03, 0.1);
    CHECK_NEAR(flow.momentPart, 0.7, 1e-15);
    tpFlowMeeting meeting = { .isThere = true, .since = 0.0, .ahead = 0.05 };
    tpFlow_GuessAhead(&flow, &meeting, 0.4, 0.1);
    CHECK_NEAR(flow.aheadPart, 0.9, 1e-15);
    meeting.isThere = false;
    tpFlow_GuessAhead(&flow, &meeting, 0.1, 0.1);
    meeting.isThere = true;
    meeting.since = 0.01;
    tpFlow_GuessAhead(&flow, &meeting, 0.1, 0.1);
    meeting.since = 0.0;
    meeting.ahead = INFINITY;
    tpFlow_GuessAhead(&flow, &meeting, 0.1, 0.1);
    CHECK_NEAR(flow.aheadPart, 0.9, 1e-15);
}

// Two balls that slide, each evenly braked: a step that goes well tells when the slip that ends
// first comes to its end, and the least slip of those that have less than .7 of their speed left.
static void slipsThatAreLeftAreTold(void** state) {
    (void)state;
    const double slow = 2.0, rate = 3.5 * 0.2 * 9.81, none = INFINITY;
    const struct {
        double part, other, least; // of the time of the slower ball; speed of the other one
    } cases[] = {
        { 0.2, 3.0, none },
        { 0.4, 3.0, 0.6 * slow },
        { 0.6, 3.0, 0.4 * slow }, // the other one has .6 left
        { 0.4, 9.0, 0.6 * slow },
    };
    for (int k = 0; k < 8; ++k) {
        double part = cases[k / 2].part, other = cases[k / 2].other, h = part * slow / rate;
        double first = k % 2 == 0 ? slow : other, second = k % 2 == 0 ? other : slow;
        tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0), place = tpMakeVec3(0.0, 5.0, 0.1);
        tpWorld* world = makeBallWorld(0.2, up, tpMakeVec3(first, 0.0, 0.0));
        addBall(world, place, tpMakeVec3(second, 0.0, 0.0));
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, true));
        assert_false(takeStep(&flowing, h).isBad);
        CHECK_NEAR(flowing.flow.laterPart, 1.0 / part, 1e-9);
        double least = cases[k / 2].least;
        assert_true(isinf(least) == isinf(flowing.flow.endingSlip));
        if (isfinite(least)) {
            CHECK_NEAR(flowing.flow.endingSlip, least, 1e-9);
        }
        tpDestroyWorld(world);
    }
}

// So strides come near to it at once: without that they are cut short again and again.
static void strideEndsBeforeTheSlipDoes(void** state) {
    (void)state;
    const double v = 3.0, mu = 0.2, g = 9.81, h = 0.002;
    const double end = 2.0 * v / (7.0 * mu * g);
    tpWorld* world = makeBallWorld(mu, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(v, 0.0, 0.0));
    int refusedCount = 0, freeCount = 0;
    for (int i = 1; i <= 200; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        refusedCount += report.figures[tp_rejectedFigure];
        freeCount += report.substepCount == 0 ? 1 : 0;
        double t = fmin(i * h, end);
        double right = v * t - 0.5 * mu * g * t * t + fmax(i * h - end, 0.0) * 5.0 / 7.0 * v;
        CHECK_NEAR(world->system.poses.data[1].position.x, right, 1e-4);
    }
    assert_true(refusedCount <= 1); // 3 without
    assert_true(freeCount > 180);
    tpDestroyWorld(world);
}

// A ball that rolls down a slope has 5/7 of g sin a, and a friction of 2/7 m g sin a, which the
// slope has to give.
static void rollingIsExact(void** state) {
    (void)state;
    const double angle = 0.5, g = 9.81, h = 0.1;
    tpVec3 up = tpMakeVec3(sin(angle), 0.0, cos(angle));
    tpVec3 down = tpMakeVec3(cos(angle), 0.0, -sin(angle));
    double needed = 2.0 / 7.0 * tan(angle);
    for (int k = 0; k < 2; ++k) {
        double mu = (k == 0 ? 1.01 : 0.99) * needed;
        tpWorld* world = makeBallWorld(mu, up, tpZeroVec3());
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        tpTaken taken = takeStep(&flowing, h);
        assert_int_equal(taken.isBad, k == 1);
        if (k == 0) {
            const tpSystem* system = &world->system;
            double speed = 5.0 / 7.0 * g * sin(angle) * h, mass = system->bodies.data[1].mass;
            CHECK_VEC3(system->velocities.data[1].linear, tpScale(speed, down), 1e-12);
            CHECK_NEAR(system->velocities.data[1].angular.y, speed / 0.1, 1e-11);
            CHECK_NEAR(taken.tally.list[0].normalImpulse, mass * g * cos(angle) * h, 1e-12 * mass);
            CHECK_NEAR(tpLength(taken.tally.list[0].frictionImpulse),
                       2.0 / 7.0 * mass * g * sin(angle) * h, 1e-12 * mass);
            assert_true(taken.report.frictionLoss == 0.0);
        }
        tpDestroyWorld(world);
    }
}

// A body that turns at 2 rad/s comes to its limit of .3 rad after .15 s.
static void limitsTellTheirTime(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    body.angularVelocity = tpMakeVec3(0.0, 2.0, 0.0);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.hasLimits = true;
    joint.coordinate.limits[0] = -0.3;
    joint.coordinate.limits[1] = 0.3;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    for (int k = 0; k < 2; ++k) {
        double h = k == 0 ? 0.1 : 0.2;
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, &world->system));
        assert_int_equal(takeStep(&flowing, h).isBad, k == 1);
        CHECK_NEAR(flowing.flow.momentPart, k == 0 ? -1.0 : 0.15 / h, 1e-9);
        tpKeptMotion_PutBack(&start, &world->system);
    }
    tpDestroyWorld(world);
}

// A ball that comes to another one touches something new, and tells when.
static void newcomersAreSeen(void** state) {
    (void)state;
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0);
    tpWorld* world = makeBallWorld(0.2, up, tpMakeVec3(3.0, 0.0, 0.0));
    addBall(world, tpMakeVec3(0.35, 0.0, 0.1), tpZeroVec3());
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, true));
    assert_false(takeStep(&flowing, 0.02).isBad);
    const tpSystem* system = &world->system;
    double way = 0.15 - system->poses.data[1].position.x;
    double speed = system->velocities.data[1].linear.x, brake = 0.2 * 9.81;
    flowing.flow.watch = tp_flowTouching; // what is near at the start does not count
    assert_true(takeStep(&flowing, 0.05).isBad);
    double time = (speed - sqrt(speed * speed - 2.0 * brake * way)) / brake;
    CHECK_NEAR(0.05 * flowing.flow.momentPart, time, 5e-3 * time);
    tpDestroyWorld(world);
}

// Two balls on a joint above a plate of 1 mm, or beside it.
static tpWorld* makePlateWorld(double height, tpVec3 velocity, bool isAbove) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    tpBodyDef fixed = tpDefaultBodyDef();
    fixed.kind = tp_fixedBody;
    fixed.position = tpMakeVec3(isAbove ? 0.0 : 9.0, 0.0, 0.0);
    tpBodyId plate = tpCreateBody(world, &fixed, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBox box = { tpMakeVec3(2.0, 2.0, 0.001) };
    tpCreateBox(world, plate, &shape, &box, NULL);
    int first = addBall(world, tpMakeVec3(0.0, 0.0, height), velocity);
    int second = addBall(world, tpMakeVec3(0.3, 0.0, height), velocity);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = tpWorld_GetBody(world, first);
    joint.bodyB = tpWorld_GetBody(world, second);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    return world;
}

// They fall at 20 m/s through the plate, of which nothing is near at either end of the step. Beside
// it they just fall.
static void platesOnTheWayAreSeen(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makePlateWorld(1.0, tpMakeVec3(0.0, 0.0, -20.0), k == 0);
        tpWorld_Step(world, 1e-12); // measures the scales
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        assert_int_equal(takeStep(&flowing, 0.1).isBad, k == 0);
        tpDestroyWorld(world);
    }
}

// Nothing is near for a second, strides are long by then, and they come down at any part of one.
static void platesStopStrides(void** state) {
    (void)state;
    for (int k = 0; k < 16; ++k) {
        tpWorld* world = makePlateWorld(5.0 + 0.3 * k, tpMakeVec3(0.0, 0.0, -6.0), true);
        int longCount = 0;
        for (int i = 0; i < 250; ++i) {
            longCount += tpWorld_Step(world, 0.005).substepCount == 0 ? 1 : 0;
            assert_true(world->system.poses.data[1].position.z > 0.1);
        }
        assert_true(longCount > 50);
        tpDestroyWorld(world);
    }
}

// Where a pendulum is after half a second, by so many steps.
static tpVec3 swing(int count) {
    tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
    tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments,
                                    tpZeroVec3(), tpZeroVec3());
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int i = 0; i < count; ++i) {
        assert_false(takeStep(&flowing, 0.5 / count).isBad);
    }
    tpVec3 end = world->system.poses.data[0].position;
    tpDestroyWorld(world);
    return end;
}

// Half the step, a sixteenth of the error.
static void stepsAreOfFourthOrder(void** state) {
    (void)state;
    tpVec3 right = swing(256);
    double coarse = tpDistanceBetween(swing(8), right), fine = tpDistanceBetween(swing(16), right);
    assert_true(coarse < 1e-3 && coarse > 1e-7);
    double order = log2(coarse / fine);
    assert_true(order > 3.5 && order < 5.5);
}

// The impulse of the pivot of a pendulum in x: of a step, and of the first half of it.
static double pivotImpulse(double length, double* early) {
    tpWorld* world =
        makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.02, 0.03, 0.04),
                       tpMakeVec3(0.0, 0.0, -3.0), tpMakeVec3(0.0, 3.0, 0.0));
    Flowing flowing;
    tpTaken all, first;
    assert_true(beginFlow(&flowing, world, false));
    assert_true(tpFlow_TakeStep(&flowing.flow, &flowing.run, 0.0, length, &all, &first));
    double impulse = all.reactions[0];
    *early = first.reactions[0];
    tpDestroyWorld(world);
    return impulse;
}

// What the first half of a step has carried is what a step of half the length carries, to the
// fourth order.
static void halvesAreTold(void** state) {
    (void)state;
    double misses[2], unused;
    for (int k = 0; k < 2; ++k) {
        double early, length = k == 0 ? 0.1 : 0.05;
        double all = pivotImpulse(length, &early), half = pivotImpulse(0.5 * length, &unused);
        misses[k] = fabs(early - half) / fabs(all);
    }
    assert_true(misses[0] < 1e-3 && misses[0] > 1e-6);
    assert_true(misses[1] < misses[0] / 7.0);
}

// A fast top in steady precession, with 200 rad/s about its own axis: its tilt stays, and the axis
// goes round at 2.789422 rad/s. A step of 20 ms has four radians of spin in it.
static void fastTopsTakeLongSteps(void** state) {
    (void)state;
    const double tilt = 0.5235987755982988, rate = 2.789422, h = 0.02;
    tpVec3 axis = tpMakeVec3(sin(tilt), 0.0, cos(tilt)), up = tpMakeVec3(0.0, 0.0, 1.0);
    tpVec3 angular = tpAdd(tpScale(200.0 - rate * cos(tilt), axis), tpScale(rate, up));
    tpVec3 place = tpScale(0.1, axis), moments = tpMakeVec3(0.01, 0.01, 0.002);
    tpWorld* world = makeJointWorld(tp_ballJoint, place, moments, tpCross(angular, place), angular);
    tpSystem* system = &world->system;
    // The body's axis of symmetry is its own z axis.
    system->poses.data[0].rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
    system->joints.data[0].anchorB = tpMakeVec3(0.0, 0.0, -0.1);
    tpSystem_SetVelocity(system, 0, tpCross(angular, place), angular);
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int i = 0; i < 25; ++i) {
        assert_false(takeStep(&flowing, h).isBad);
    }
    tpVec3 end = system->poses.data[0].position;
    CHECK_NEAR(end.z, 0.1 * cos(tilt), 1e-6);
    CHECK_NEAR(atan2(end.y, end.x), 25 * h * rate, 1e-5);
    tpDestroyWorld(world);
}

// A slider on a spring with a damper: the closed form of a damped swing, and an account of energy
// that closes by what the damper has taken.
static void springsAndDampersSwing(void** state) {
    (void)state;
    const double k = 40.0, c = 0.8, x = 0.3, h = 0.02;
    tpWorld* world = makeJointWorld(tp_prismaticJoint, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0),
                                    tpZeroVec3(), tpZeroVec3());
    tpSystem* system = &world->system;
    tpCoordinateDef* def = &system->joints.data[0].coordinates[0].def;
    def->hasSpring = true;
    def->spring = (tpSpring){ .stiffness = k, .damping = 0.5 * c, .rest = -x };
    def->damping = 0.5 * c;
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    double energy = tpSystem_Energy(system), work = 0.0;
    for (int i = 0; i < 20; ++i) {
        tpTaken taken = takeStep(&flowing, h);
        assert_false(taken.isBad);
        work += taken.report.externalWork;
    }
    double time = 20 * h, rate = 0.5 * c, turn = sqrt(k - rate * rate);
    double swing = x * exp(-rate * time) * (cos(turn * time) + rate / turn * sin(turn * time));
    CHECK_NEAR(system->poses.data[0].position.y, swing - x, 1e-5);
    assert_true(work < -0.1);
    CHECK_NEAR(tpSystem_Energy(system) - energy, work, 1e-5);
    tpDestroyWorld(world);
}

// A slider with dry friction is braked evenly; a step beyond its end has a moment in it, and one
// that rests is held by friction, which no flow does.
static void dryFrictionBrakes(void** state) {
    (void)state;
    const double force = 4.0, v = 2.0;
    tpWorld* world = makeJointWorld(tp_prismaticJoint, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0),
                                    tpMakeVec3(0.0, v, 0.0), tpZeroVec3());
    tpSystem* system = &world->system;
    system->joints.data[0].coordinates[0].def.friction = force;
    tpWorld_Step(world, 1e-12); // measures the scales
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    tpTaken taken = takeStep(&flowing, 0.25);
    assert_false(taken.isBad);
    CHECK_NEAR(system->velocities.data[0].linear.y, v - 0.25 * force, 1e-9);
    CHECK_NEAR(system->poses.data[0].position.y, 0.25 * v - 0.5 * 0.0625 * force, 1e-9);
    CHECK_NEAR(taken.report.externalWork, -force * (0.25 * v - 0.5 * 0.0625 * force), 1e-9);
    assert_true(takeStep(&flowing, 0.5).isBad);
    tpSystem_SetVelocity(system, 0, tpZeroVec3(), tpZeroVec3());
    assert_false(beginFlow(&flowing, world, false));
    tpDestroyWorld(world);
}

// Rates of speed and spin of a ball of radius r under one cone of sliding and rolling friction: its
// slip v - r w and the spin, with the arm, have the direction that friction is against.
static void rollingRates(const double x[2], double rates[2]) {
    const double mu = 0.3, g = 9.81, r = 0.1, arm = 0.005;
    double slip = x[0] - r * x[1], roll = arm * x[1], size = sqrt(slip * slip + roll * roll);
    rates[0] = -mu * g * slip / size;
    rates[1] = 2.5 / (r * r) * mu * g * (r * slip - arm * roll) / size;
}

// A ball that begins to roll against rolling friction, by small steps of Runge and Kutta's method.
static void rollingFrictionBrakes(void** state) {
    (void)state;
    const double h = 0.004;
    double x[2] = { 1.0, 9.0 }, way = 0.0;
    tpWorld* world = makeBallWorld(0.3, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(x[0], 0.0, 0.0));
    tpSystem* system = &world->system;
    system->materials.data[1].friction.rollingArm = 0.005;
    tpSystem_SetVelocity(system, 1, tpMakeVec3(x[0], 0.0, 0.0), tpMakeVec3(0.0, x[1], 0.0));
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, true));
    double loss = 0.0, mass = system->bodies.data[1].mass, before = tpSystem_KineticEnergy(system);
    for (int i = 0; i < 5; ++i) {
        tpTaken taken = takeStep(&flowing, h);
        assert_false(taken.isBad);
        loss += taken.report.frictionLoss;
    }
    for (int i = 0; i < 5000; ++i) {
        double a[2], b[2], c[2], d[2], dt = h / 1000.0;
        rollingRates(x, a);
        rollingRates((double[]){ x[0] + 0.5 * dt * a[0], x[1] + 0.5 * dt * a[1] }, b);
        rollingRates((double[]){ x[0] + 0.5 * dt * b[0], x[1] + 0.5 * dt * b[1] }, c);
        rollingRates((double[]){ x[0] + dt * c[0], x[1] + dt * c[1] }, d);
        way += dt * (x[0] + dt / 6.0 * (a[0] + b[0] + c[0]));
        for (int k = 0; k < 2; ++k) {
            x[k] += dt / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]);
        }
    }
    CHECK_NEAR(system->velocities.data[1].linear.x, x[0], 1e-5);
    CHECK_NEAR(system->velocities.data[1].angular.y, x[1], 1e-4);
    CHECK_NEAR(system->poses.data[1].position.x, way, 1e-6);
    CHECK_NEAR(before - tpSystem_KineticEnergy(system), loss, 1e-4 * mass);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slidingIsExact),
        cmocka_unit_test(slipsThatEndAreSeen),
        cmocka_unit_test(slipsThatAreLeftAreTold),
        cmocka_unit_test(guessesFollowLines),
        cmocka_unit_test(strideEndsBeforeTheSlipDoes),
        cmocka_unit_test(rollingIsExact),
        cmocka_unit_test(rollingFrictionBrakes),
        cmocka_unit_test(limitsTellTheirTime),
        cmocka_unit_test(newcomersAreSeen),
        cmocka_unit_test(platesOnTheWayAreSeen),
        cmocka_unit_test(platesStopStrides),
        cmocka_unit_test(stepsAreOfFourthOrder),
        cmocka_unit_test(halvesAreTold),
        cmocka_unit_test(fastTopsTakeLongSteps),
        cmocka_unit_test(springsAndDampersSwing),
        cmocka_unit_test(dryFrictionBrakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
