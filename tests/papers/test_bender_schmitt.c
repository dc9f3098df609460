// The experiments of Bender and Schmitt: stopping distances, the tippe top, the office toy.
//
// TIPPE_LONG=1 in the environment swings the office toy for the whole minute.

#include <string.h>

#include <stdlib.h>

#include "papers/paper_world.h"

static const double pi = 3.14159265358979323846;
static const double g = 9.81;

// Blocks -----------------------------------------------------------------------------------------

typedef struct Slope {
    tpWorld* world;
    tpBodyId block;
} Slope;

static Slope makeSlope(double angle, double muStatic, double muDynamic, double speed,
                       const char* rule) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(g * sin(angle), 0.0, -g * cos(angle));
    Slope slope = { tpCreateWorld(&def), { 0, 0 } };
    setOption(slope.world, "friction_rule", rule);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = muStatic;
    material.friction.dynamicCoefficient = muDynamic;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(slope.world, &material, NULL);
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(slope.world, tpCreateBody(slope.world, &body, NULL), &shape, &plane, NULL);
    body.kind = tp_dynamicBody;
    body.position.z = 0.05;
    body.velocity.x = speed;
    slope.block = tpCreateBody(slope.world, &body, NULL);
    tpBox box = { { 0.2, 0.2, 0.1 } };
    tpCreateBox(slope.world, slope.block, &shape, &box, NULL);
    return slope;
}

static double slide(const Slope* slope, double seconds) {
    int steps = (int)lround(240.0 * seconds);
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(slope->world, 1.0 / 240.0);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, 1e-8);
    }
    return tpBody_GetPosition(slope->world, slope->block).x;
}

// d = v^2 / (2 g (mu cos - sin)); after that nothing moves.
static void blocksStopWhereTheyMust(void** state) {
    (void)state;
    double worst = 0.0;
    int stopped = 0, slid = 0;
    for (double degrees = 10.0; degrees < 31.0; degrees += 10.0) {
        for (double mu = 0.2; mu < 0.95; mu += 0.2) {
            for (double speed = 1.0; speed < 3.5; speed += 1.0) {
                double angle = degrees * pi / 180.0;
                double deceleration = g * (mu * cos(angle) - sin(angle));
                Slope slope = makeSlope(angle, mu, mu, speed, "projected");
                double seconds = deceleration > 0.0 ? speed / deceleration + 0.05 : 1.0;
                double exact = deceleration > 0.0 ? 0.5 * speed * speed / deceleration
                                                  : speed - 0.5 * deceleration;
                double way = slide(&slope, seconds);
                worst = fmax(worst, fabs(way - exact) / fmax(1.0, exact));
                stopped += deceleration > 0.0 ? 1 : 0;
                slid += deceleration > 0.0 ? 0 : 1;
                tpDestroyWorld(slope.world);
            }
        }
    }
    print_message("%d blocks stop, %d slide on: off by at most %.1e\n", stopped, slid, worst);
    CHECK_BELOW(worst, 1e-4);
}

static void stoppedBlocksHold(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("incline_blocks");
    static const char* const names[] = { "block50", "block60", "block80" };
    tpVec3 before[3];
    for (int k = 0; k < 240 * 3; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
    }
    for (int i = 0; i < 3; ++i) {
        before[i] = tpBody_GetPosition(world, tpWorld_FindBody(world, names[i]));
    }
    for (int k = 0; k < 2400; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
    }
    double creep = 0.0;
    for (int i = 0; i < 3; ++i) {
        tpVec3 after = tpBody_GetPosition(world, tpWorld_FindBody(world, names[i]));
        creep = fmax(creep, tpDistanceBetween(before[i], after));
    }
    print_message("creep of the blocks that hold, 10 s: %.1e m\n", creep);
    CHECK_BELOW(creep, 1e-9);
    tpDestroyWorld(world);
}

// Between the two coefficients a block that rests stays and one that moves goes on, faster and
// faster.
static void staticFrictionIsItsOwn(void** state) {
    (void)state;
    double angle = atan(0.4), a = g * (sin(angle) - 0.3 * cos(angle));
    Slope resting = makeSlope(angle, 0.5, 0.3, 0.0, "projected");
    CHECK_BELOW(fabs(slide(&resting, 2.0)), 1e-12);
    Slope moving = makeSlope(angle, 0.5, 0.3, 1.0, "projected");
    CHECK_NEAR(slide(&moving, 2.0), 2.0 + 2.0 * a, 1e-6);
    tpDestroyWorld(resting.world);
    tpDestroyWorld(moving.world);
}

// The paper's increments (4) are exact for a single contact: a ball too heavy to turn. For a block
// on four corners they are not: increments that take a normal impulse back add friction too, and it
// stops short.
static void paperRuleAddsFrictionUp(void** state) {
    (void)state;
    double angle = 20.0 * pi / 180.0, exact = 3.588589, ways[2];
    for (int isBlock = 0; isBlock < 2; ++isBlock) {
        Slope slope = makeSlope(angle, 0.5, 0.5, 3.0, "paper");
        if (!isBlock) {
            tpDestroyBody(slope.world, slope.block);
            tpBodyDef body = tpDefaultBodyDef();
            body.position.z = 0.05;
            body.velocity.x = 3.0;
            body.hasMass = true;
            body.mass.mass = 1.0;
            body.mass.inertia = tpDiagonal(tpMakeVec3(1e9, 1e9, 1e9));
            slope.block = tpCreateBody(slope.world, &body, NULL);
            tpShapeDef shape = tpDefaultShapeDef();
            shape.material = 1;
            tpSphere sphere = { .radius = 0.05 };
            tpCreateSphere(slope.world, slope.block, &shape, &sphere, NULL);
        }
        for (int k = 0; k < 240 * 3; ++k) {
            tpWorld_Step(slope.world, 1.0 / 240.0);
        }
        ways[isBlock] = tpBody_GetPosition(slope.world, slope.block).x;
        tpDestroyWorld(slope.world);
    }
    print_message("the paper's friction rule stops one contact after %.6f m, a block on four after "
                  "%.6f m (exact %.6f)\n",
                  ways[0], ways[1], exact);
    CHECK_NEAR(ways[0], exact, 1e-4 * exact);
    CHECK_BELOW(ways[1], 0.95 * exact);
    assert_true(ways[1] > 0.5 * exact);
}

// The tippe top -----------------------------------------------------------------------------------

enum { topSteps = 40000, window = 1000 };

// Angle between the top's axis and the vertical, degrees.
static double tiltOf(tpQuat q) {
    return acos(fmin(1.0, fmax(-1.0, 1.0 - 2.0 * (q.x * q.x + q.y * q.y)))) * 180.0 / pi;
}

// Running mean over 0.1 s, in place of `tilt`.
static void smooth(double* tilt, double* sums) {
    sums[0] = 0.0;
    for (int k = 0; k < topSteps; ++k) {
        sums[k + 1] = sums[k] + tilt[k];
    }
    for (int k = 0; k < topSteps; ++k) {
        int low = k > window / 2 ? k - window / 2 : 0;
        int high = k + window / 2 + 1 < topSteps ? k + window / 2 + 1 : topSteps;
        tilt[k] = (sums[high] - sums[low]) / (high - low);
    }
}

static double timeTo(const double* tilt, double degrees) {
    for (int k = 0; k < topSteps; ++k) {
        if (tilt[k] > degrees) {
            return (k + 1) * 1e-4;
        }
    }
    return INFINITY;
}

// Energy may not rise by more than 1e-8 of its start in any step.
static void checkEnergy(const tpStepReport* report, double start) {
    double rise = report->kineticAfter + report->potentialAfter - report->kineticBefore -
                  report->potentialBefore - report->externalWork;
    CHECK_BELOW(rise, 1e-8 * start);
}

static void topTurnsOver(void** state) {
    (void)state;
    double* tilt = malloc(sizeof(double) * (2 * topSteps + 1));
    assert_non_null(tilt);
    tpWorld* world = makePaperWorld("tippe_top_bs");
    tpBodyId top = tpWorld_FindBody(world, "top");
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    for (int k = 0; k < topSteps; ++k) {
        tpStepReport report = tpWorld_Step(world, 1e-4);
        assert_int_equal(report.failureCount, 0);
        checkEnergy(&report, start);
        tilt[k] = tiltOf(tpBody_GetRotation(world, top));
    }
    smooth(tilt, tilt + topSteps);
    smooth(tilt, tilt + topSteps);
    double t90 = timeTo(tilt, 90.0), t160 = timeTo(tilt, 160.0);
    print_message("tippe top, smoothed: 90 degrees at %.4f s (1.8162), 160 at %.4f s (2.4535)\n",
                  t90, t160);
    CHECK_NEAR(t90, 1.8162, 0.03 * 1.8162);
    CHECK_NEAR(t160, 2.4535, 0.03 * 2.4535);
    tpDestroyWorld(world);
    free(tilt);
}

// Friction at a point does not turn it over, and keeps Jellett's integral: the angular momentum
// along the way from the centre of mass to the contact.
static void pointFrictionDoesNot(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.2;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &body, NULL), &shape, &plane, NULL);
    tpQuat lean = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 0.1);
    tpVec3 axis = tpRotate(lean, tpMakeVec3(0.0, 0.0, 1.0));
    const double radius = 0.015, offset = 0.0015, inertia = 1.35e-6;
    body.kind = tp_dynamicBody;
    body.position = tpMakeVec3(0.0, 0.0, radius);
    body.rotation = lean;
    body.angularVelocity = tpScale(150.0, axis);
    body.hasMass = true;
    body.mass.mass = 0.015;
    body.mass.center = tpMakeVec3(0.0, 0.0, -offset);
    body.mass.inertia = tpDiagonal(tpMakeVec3(inertia, inertia, inertia));
    tpBodyId top = tpCreateBody(world, &body, NULL);
    tpSphere sphere = { .radius = radius };
    tpCreateSphere(world, top, &shape, &sphere, NULL);
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double first = 0.0, drift = 0.0, most = 0.0;
    for (int k = 0; k < topSteps; ++k) {
        tpStepReport report = tpWorld_Step(world, 1e-4);
        checkEnergy(&report, start);
        tpVec3 now = tpRotate(tpBody_GetRotation(world, top), tpMakeVec3(0.0, 0.0, 1.0));
        tpVec3 way = tpMulAdd(tpScale(offset, now), -radius, tpMakeVec3(0.0, 0.0, 1.0));
        double jellett = inertia * tpDot(tpBody_GetAngularVelocity(world, top), way);
        first = k == 0 ? jellett : first;
        drift = fmax(drift, fabs(jellett / first - 1.0));
        most = fmax(most, acos(fmin(1.0, now.z)) * 180.0 / pi);
    }
    print_message("point friction: tilt at most %.2f degrees, Jellett's integral within %.1e\n",
                  most, drift);
    CHECK_BELOW(most, 20.0);
    CHECK_BELOW(drift, 1e-3);
    tpDestroyWorld(world);
}

// The office toy ----------------------------------------------------------------------------------

static const double swingTime = 1.443198; // of strings of 0.5 m from 30 degrees, s
static const double lowestSpeed = 1.146425;

static double toyEnergy(tpWorld* world, double bottom) {
    return tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world) - bottom;
}

// The speed that a ball has, or had, at the bottom: from its energy.
static double bottomSpeed(tpWorld* world, int ball) {
    char name[16];
    snprintf(name, sizeof(name), "ball%d", ball);
    tpBodyId body = tpWorld_FindBody(world, name);
    double v2 = tpLengthSquared(tpBody_GetVelocity(world, body));
    return sqrt(fmax(0.0, v2 + 2.0 * g * (tpBody_GetPosition(world, body).y + 0.5)));
}

static void swingToy(const char* scene, int count) {
    const double h = 0.0005;
    bool isLong = getenv("TIPPE_LONG") != NULL;
    int steps = (int)((isLong ? 60.0 : 2.95) / h), swing = 0;
    tpWorld* world = makePaperWorld(scene);
    double bottom = -5.0 * g * 0.5;
    double start = toyEnergy(world, bottom), worst = 0.0, off = 0.0;
    for (int k = 1; k <= steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.kineticAfter + report.potentialAfter - report.kineticBefore -
                        report.potentialBefore,
                    1e-8 * start);
        worst = fmax(worst, fabs(toyEnergy(world, bottom) / start - 1.0));
        // At the turning points after each collision: who swings, and how fast it went through the
        // bottom.
        if (swing < 4 && k * h > 0.5 * swingTime * (swing + 1)) {
            bool isRight = swing % 2 == 0;
            for (int i = 0; i < 5; ++i) {
                bool swings = isRight ? i >= 5 - count : i < count;
                double wanted = swings ? lowestSpeed : 0.0;
                off = fmax(off, fabs(bottomSpeed(world, i) - wanted) / lowestSpeed);
            }
            ++swing;
        }
    }
    print_message(
        "%d in, %d out over %d swings: speeds within %.1e, energy over %.0f s within %.1e\n", count,
        count, swing, off, steps * h, worst);
    assert_int_equal(swing, 4);
    CHECK_BELOW(off, 1e-3);
    CHECK_BELOW(worst, isLong ? 1e-3 : 1e-4);
    tpDestroyWorld(world);
}

static void oneIn(void** state) {
    (void)state;
    swingToy("office_toy_1", 1);
}

static void twoIn(void** state) {
    (void)state;
    swingToy("office_toy_2", 2);
}

// Energy of bodies that hang together, swing, fall and collide: in no step does it rise by more
// than 1e-8 of itself. (Where it starts from nothing, of the most that there is.) While joints and
// contacts hold together it may swing a little more: a step that rises is followed by ones that
// fall, and all rises that are not taken back come to less than 1e-5.
static void energyRisesNowhere(void** state) {
    (void)state;
    static const struct {
        const char* name;
        double step;
        int steps;
    } scenes[] = { { "double_pendulum", 1e-3, 500 },       { "double_pendulum", 1.0 / 60.0, 60 },
                   { "chain_on_ground", 0.002, 400 },      { "pendulum_wall", 1e-3, 1000 },
                   { "incline_blocks", 1.0 / 240.0, 480 }, { "cradle", 1.0 / 60.0, 60 } };
    for (int s = 0; s < 6; ++s) {
        tpWorld* world = makePaperWorld(scenes[s].name);
        assert_int_equal(tpWorld_SetStepper(world, tp_benderSchmitt), tp_success);
        double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        double rise = 0.0, most = 0.0, excess = 0.0, highest = 0.0;
        for (int k = 0; k < scenes[s].steps; ++k) {
            tpStepReport report = tpWorld_Step(world, scenes[s].step);
            double now = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                         report.potentialBefore - report.externalWork;
            rise = fmax(rise, now);
            excess = fmax(0.0, excess + now + report.frictionLoss);
            highest = fmax(highest, excess);
            most = fmax(most, report.kineticAfter);
        }
        double scale = fabs(start) > 0.0 ? fabs(start) : most;
        print_message("%s, h = %g: energy rises by %.1e of itself at most, by %.1e over steps\n",
                      scenes[s].name, scenes[s].step, rise / scale, highest / scale);
        bool isHeld = strcmp(scenes[s].name, "chain_on_ground") == 0;
        CHECK_BELOW(rise, (isHeld ? 1e-7 : 1e-8) * scale);
        CHECK_BELOW(highest, 1e-5 * scale);
        tpDestroyWorld(world);
    }
}

// Scenes that have to run: every step finite, every solve met, nothing through anything.
static void articulatedScenesRun(void** state) {
    (void)state;
    static const struct {
        const char* name;
        double step;
        int steps;
    } scenes[] = { { "pendulum_wall", 1e-3, 2000 }, { "chain_on_ground", 0.002, 500 } };
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = makePaperWorld(scenes[s].name);
        double deepest = 0.0, drift = 0.0;
        int touching = 0;
        for (int k = 0; k < scenes[s].steps; ++k) {
            tpStepReport report = tpWorld_Step(world, scenes[s].step);
            assert_false(report.undone);
            deepest = fmax(deepest, report.penetration);
            drift = fmax(drift, report.jointDrift);
            touching += report.contactCount > 0 ? 1 : 0;
        }
        print_message("%s: contact in %d steps, overlap %.1e m, joints %.1e m\n", scenes[s].name,
                      touching, deepest, drift);
        assert_true(touching > 0);
        CHECK_BELOW(deepest, 1e-4);
        CHECK_BELOW(drift, 1e-8);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksStopWhereTheyMust),
        cmocka_unit_test(stoppedBlocksHold),
        cmocka_unit_test(staticFrictionIsItsOwn),
        cmocka_unit_test(paperRuleAddsFrictionUp),
        cmocka_unit_test(topTurnsOver),
        cmocka_unit_test(pointFrictionDoesNot),
        cmocka_unit_test(oneIn),
        cmocka_unit_test(twoIn),
        cmocka_unit_test(energyRisesNowhere),
        cmocka_unit_test(articulatedScenesRun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
