// What joints and motors of moving mechanisms are told to have given, against closed forms. A
// part of it is given when positions are corrected: directions turn.

#include "support/check.h"
#include "tippe/joints.h"

static const tpBodyId nobody = { 0 };

static tpWorld* makeWorld(double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    return tpCreateWorld(&def);
}

static tpBodyId addBody(tpWorld* world, tpVec3 place, tpVec3 velocity, double spin, double mass,
                        double inertia) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    def.angularVelocity = tpMakeVec3(0.0, spin, 0.0);
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.inertia = tpDiagonal(tpMakeVec3(inertia, inertia, inertia));
    return tpCreateBody(world, &def, NULL);
}

static tpJointId join(tpWorld* world, tpJointType type, tpBodyId a, tpBodyId b, tpVec3 anchor,
                      tpVec3 axis, double motor) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    if (motor != 0.0) {
        def.coordinate.hasMotor = true;
        def.coordinate.motor = (tpMotor){ motor, 1e5 };
    }
    tpJointId joint = tpCreateJoint(world, &def, NULL);
    assert_true(tpJoint_IsValid(world, joint));
    return joint;
}

// A body of 1.5 kg goes round its pin at 8 rad/s and .5 m: the pin pulls with m w^2 l, and turns
// with it. On a hinge (a tree) and on a rod between two points (rows); long steps write directions
// in each substep, short ones once. Seen from either body.
static void circlingBodiesPullAtTheirPin(void** state) {
    (void)state;
    const double l = 0.5, w = 8.0, m = 1.5, hs[] = { 1.0 / 240.0, 1.0 / 2000.0 };
    for (int k = 0; k < 8; ++k) {
        double h = hs[k & 1];
        bool isRod = (k & 2) != 0, isTurned = (k & 4) != 0;
        tpWorld* world = makeWorld(0.0);
        tpVec3 start = tpMakeVec3(l, 0.0, 0.0);
        tpBodyId body = addBody(world, start, tpMakeVec3(0.0, 0.0, -l * w), w, m, 0.01);
        tpJointDef def = tpDefaultJointDef();
        def.type = isRod ? tp_distanceJoint : tp_revoluteJoint;
        def.bodyA = isTurned ? body : nobody;
        def.bodyB = isTurned ? nobody : body;
        def.anchorA = isRod && isTurned ? start : tpZeroVec3();
        def.anchorB = isRod && !isTurned ? start : tpZeroVec3();
        def.axis = tpMakeVec3(0.0, 1.0, 0.0);
        tpJointId joint = tpCreateJoint(world, &def, NULL);
        for (int i = 0; i < 60; ++i) {
            tpVec3 before = tpBody_GetPosition(world, body), force;
            tpWorld_Step(world, h);
            tpJoint_GetReaction(world, joint, &force, NULL);
            if (i > 0) { // the first step has no end of a step before it to take back
                tpVec3 middle = tpScale(0.5, tpAdd(before, tpBody_GetPosition(world, body)));
                double pull = isTurned ? m * w * w : -m * w * w;
                CHECK_VEC3(force, tpScale(pull, middle), 0.03 * m * w * w * l);
            }
        }
        tpDestroyWorld(world);
    }
}

// A motor turns the crank of a slider-crank (a loop of hinges and a slide) at 12 rad/s. What it
// gives in a step is the energy that the parts gain, none of which is lost.
static void motorsOfLoopsGiveWhatPartsGain(void** state) {
    (void)state;
    const double r = 0.13, w = 12.0, x = 0.28142494558940578, h = 1.0 / 240.0;
    tpWorld* world = makeWorld(9.81);
    tpVec3 along = tpMakeVec3(-r * w, 0.0, 0.0), y = tpMakeVec3(0.0, 1.0, 0.0);
    tpBodyId crank = addBody(world, tpMakeVec3(0.0, 0.0, 0.5 * r),
                             tpMakeVec3(-0.5 * r * w, 0.0, 0.0), -w, 0.5, 0.001);
    tpBodyId rod = addBody(world, tpMakeVec3(0.5 * x, 0.0, 0.5 * r), along, 0.0, 0.3, 0.0024);
    tpBodyId slider = addBody(world, tpMakeVec3(x, 0.0, 0.0), along, 0.0, 2.0, 0.002);
    tpVec3 end = tpMakeVec3(x, 0.0, 0.0);
    tpJointId drive =
        join(world, tp_revoluteJoint, nobody, crank, tpZeroVec3(), tpScale(-1.0, y), w);
    join(world, tp_revoluteJoint, crank, rod, tpMakeVec3(0.0, 0.0, r), y, 0.0);
    join(world, tp_revoluteJoint, rod, slider, end, y, 0.0);
    join(world, tp_prismaticJoint, nobody, slider, end, tpMakeVec3(1.0, 0.0, 0.0), 0.0);
    double given = 0.0, most = 0.0, first = 0.0;
    for (int i = 0; i < 240; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double before = report.kineticBefore + report.potentialBefore;
        double gain = report.kineticAfter + report.potentialAfter - before;
        first = i == 0 ? before : first;
        most = fmax(most, fabs(gain));
        CHECK_NEAR(report.externalWork, gain, 2e-4 * first);
        CHECK_NEAR(tpJoint_GetState(world, drive, 0).effort * w * h, gain, 1e-3 * first);
        given += report.externalWork;
        if (i == 239) {
            CHECK_NEAR(given, before + gain - first, 1e-3 * first);
        }
    }
    assert_true(most > 0.04 * first);
    tpDestroyWorld(world);
}

// An arm of two links on a carriage that is moved: the same, of a tree. The motor between the links
// swings the outer one, and the carriage does work on all.
static void motorsAndCarriagesOfTreesGiveWhatPartsGain(void** state) {
    (void)state;
    const double h = 1.0 / 240.0;
    tpWorld* world = makeWorld(9.81);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.velocity = tpMakeVec3(0.4, 0.0, 0.1);
    def.angularVelocity = tpMakeVec3(0.0, 3.0, 0.0);
    tpBodyId carriage = tpCreateBody(world, &def, NULL);
    tpVec3 y = tpMakeVec3(0.0, 1.0, 0.0), start = tpMakeVec3(0.4, 0.0, 0.1);
    tpBodyId inner = addBody(world, tpMakeVec3(0.3, 0.0, 0.0), start, 0.0, 0.8, 0.01);
    tpBodyId outer = addBody(world, tpMakeVec3(0.8, 0.0, 0.0), start, 0.0, 0.4, 0.008);
    join(world, tp_revoluteJoint, carriage, inner, tpMakeVec3(0.05, 0.0, 0.0), y, 0.0);
    join(world, tp_revoluteJoint, inner, outer, tpMakeVec3(0.6, 0.0, 0.0), y, 5.0);
    double given = 0.0, gained = 0.0, scale = 0.0;
    for (int i = 0; i < 240; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double gain = report.kineticAfter + report.potentialAfter -
                      (report.kineticBefore + report.potentialBefore);
        scale = fmax(scale, report.kineticAfter);
        given += i > 0 ? report.externalWork : 0.0; // the first step brings the motor to its speed
        gained += i > 0 ? gain : 0.0;
    }
    assert_true(fabs(gained) > 0.05 * scale);
    CHECK_NEAR(given, gained, 0.01 * scale);
    tpDestroyWorld(world);
}

// A wheel swings on its axle against a spring, with a rotor beside it that has as much inertia: 300
// times at sqrt(k / (I + a)), and loses nothing. On a hinge alone (a tree) and with a second body
// joined by a loop. A spring that is too fast for substeps comes to rest instead: it does not ring.
static void springsSwingOrComeToRest(void** state) {
    (void)state;
    const double inertia = 0.02, start = 0.3, h = 1.0 / 240.0;
    for (int n = 0; n < 4; ++n) {
        bool isStiff = n >= 2, isLoop = n % 2 == 1;
        double rate = isStiff ? 8000.0 : 20.0; // rad/s
        tpWorld* world = makeWorld(0.0);
        tpBodyId wheel = addBody(world, tpZeroVec3(), tpZeroVec3(), 0.0, 1.0, inertia);
        tpVec3 y = tpMakeVec3(0.0, 1.0, 0.0);
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_revoluteJoint;
        def.bodyB = wheel;
        def.axis = y;
        def.coordinate.armature = inertia;
        def.coordinate.hasSpring = true;
        def.coordinate.spring = (tpSpring){ 2.0 * inertia * rate * rate, 0.0, start };
        tpJointId axle = tpCreateJoint(world, &def, NULL);
        if (isLoop) { // two hinges on one line hold the same wheel
            join(world, tp_revoluteJoint, nobody, wheel, tpMakeVec3(0.0, 0.5, 0.0), y, 0.0);
        }
        double most = 0.0;
        for (int i = 0; i < (int)lround(300.0 * 2.0 * 3.14159265358979323846 / rate / h) + 240;
             ++i) {
            tpWorld_Step(world, h);
            most = i % 240 == 0 ? 0.0 : most;
            most = fmax(most, fabs(tpJoint_GetValue(world, axle, 0) - start));
        }
        CHECK_NEAR(most, isStiff ? 0.0 : start, isStiff ? 1e-3 * start : 2e-3 * start);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circlingBodiesPullAtTheirPin),
        cmocka_unit_test(motorsOfLoopsGiveWhatPartsGain),
        cmocka_unit_test(motorsAndCarriagesOfTreesGiveWhatPartsGain),
        cmocka_unit_test(springsSwingOrComeToRest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
