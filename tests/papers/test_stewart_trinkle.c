// Stewart and Trinkle 1996: the falling rod and the four balls, against an independent calculation
// of the same schemes (docs/papers.md), and the convergence of the rod to the event-driven truth.

#include <math.h>
#include <stdlib.h>

#include "papers/paper_world.h"

// Example 1 -------------------------------------------------------------------------------------

typedef struct RodRow {
    const char* variant;
    const char* linearise;
    double h;
    double contact, full, rest; // ends of the steps in which it happens
    double x, lowestVx, highestOmega;
} RodRow;

static const RodRow rodRows[] = {
    { "position", "predicted", .04, .40, .56, .72, -.241219, -1.5031, 8.4795 },
    { "position", "predicted", .02, .38, .56, .62, -.249972, -1.3814, 7.8198 },
    { "position", "predicted", .01, .39, .55, .58, -.236210, -1.4522, 8.3723 },
    { "position", "predicted", .005, .385, .55, .57, -.233247, -1.4130, 8.3943 },
    { "position", "predicted", .0025, .385, .55, .57, -.230068, -1.4022, 8.4873 },
    { "position", "predicted", .00125, .38625, .5475, .5675, -.228501, -1.4119, 8.5245 },
    { "position", "predicted", .0005, .386, .5475, .567, -.227801, -1.4084, 8.5466 },
    { "nonlinear", "predicted", .04, .40, .44, .48, -.024809, -.4896, 19.658 },
    { "nonlinear", "predicted", .02, .38, .56, .60, -.255279, -1.4483, 8.0090 },
    { "nonlinear", "predicted", .01, .39, .55, .58, -.239794, -1.4874, 8.4738 },
    { "nonlinear", "predicted", .005, .385, .55, .575, -.233879, -1.4208, 8.4205 },
    { "nonlinear", "predicted", .0025, .385, .55, .57, -.230786, -1.4104, 8.5165 },
    { "nonlinear", "predicted", .0005, .386, .547, .567, -.227886, -1.4094, 8.5310 },
    { "velocity", "current", .04, .44, .52, .52, -.066700, -.8337, 17.902 },
    { "velocity", "current", .02, .40, .56, .60, -.252085, -1.5571, 8.5363 },
    { "velocity", "current", .01, .40, .55, .59, -.237719, -1.5571, 8.5379 },
    { "velocity", "current", .005, .39, .55, .57, -.231497, -1.4429, 8.6023 },
    { "velocity", "current", .0025, .3875, .55, .5675, -.231021, -1.4203, 8.6227 },
    { "velocity", "current", .0005, .3865, .547, .567, -.227086, -1.4123, 8.5440 },
    { "velocity", "predicted", .04, .40, .56, .68, -.266476, -1.5571, 7.9767 },
    { "velocity", "predicted", .02, .38, .56, .70, -.238143, -1.3204, 8.5129 },
    { "velocity", "predicted", .01, .39, .55, .60, -.233085, -1.4409, 8.4292 },
    { "velocity", "predicted", .005, .385, .55, .61, -.235176, -1.4107, 8.4476 },
    { "velocity", "predicted", .0025, .385, .55, .59, -.234642, -1.4149, 8.5008 },
    { "velocity", "predicted", .0005, .386, .5475, .5665, -.227726, -1.4079, 8.5491 },
};

static int countLoaded(const tpWorld* world) {
    int count, loaded = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        loaded += contacts[i].normalImpulse > 0.0 ? 1 : 0;
    }
    return loaded;
}

static RodRow runRod(const char* variant, const char* linearise, double h) {
    tpWorld* world = makePaperWorld("falling_rod");
    setOption(world, "variant", variant);
    setOption(world, "linearise", linearise);
    tpBodyId rod = tpWorld_FindBody(world, "rod");
    RodRow row = { variant, linearise, h, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
    int steps = (int)lround(1.0 / h);
    for (int k = 1; k <= steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, 1e-8);
        tpVec3 v = tpBody_GetVelocity(world, rod), w = tpBody_GetAngularVelocity(world, rod);
        int loaded = countLoaded(world);
        row.contact = loaded > 0 && row.contact == 0.0 ? k * h : row.contact;
        row.full = loaded > 1 && row.full == 0.0 ? k * h : row.full;
        bool isMoving = tpLength(v) > 1e-6 || fabs(w.z) > 1e-6;
        row.rest = isMoving ? 0.0 : row.rest == 0.0 ? k * h : row.rest;
        row.lowestVx = fmin(row.lowestVx, v.x);
        row.highestOmega = fmax(row.highestOmega, w.z);
    }
    row.x = tpBody_GetPosition(world, rod).x;
    tpDestroyWorld(world);
    return row;
}

static void rodFollowsTheTable(void** state) {
    (void)state;
    printf("variant    linearise  h        contact  full     rest     x          min vx   max "
           "omega\n");
    for (size_t i = 0; i < sizeof(rodRows) / sizeof(rodRows[0]); ++i) {
        const RodRow* row = &rodRows[i];
        RodRow ours = runRod(row->variant, row->linearise, row->h);
        printf("%-10s %-10s %-8g %-8g %-8g %-8g %.6f  %.4f  %.4f\n", row->variant, row->linearise,
               row->h, ours.contact, ours.full, ours.rest, ours.x, ours.lowestVx,
               ours.highestOmega);
        CHECK_NEAR(ours.contact, row->contact, 1e-9);
        CHECK_NEAR(ours.full, row->full, 1e-9);
        CHECK_NEAR(ours.rest, row->rest, 1e-9);
        CHECK_NEAR(ours.x, row->x, 1e-6);
        CHECK_NEAR(ours.lowestVx, row->lowestVx, 1e-4);
        CHECK_NEAR(ours.highestOmega, row->highestOmega, 6e-4);
    }
}

// The event-driven solution comes to rest at t = .566342754 with x = -.227359983.
static void rodConvergesToTheTruth(void** state) {
    (void)state;
    const char* const variants[] = { "position", "nonlinear" };
    for (int i = 0; i < 2; ++i) {
        double coarse = fabs(runRod(variants[i], "predicted", .01).x + .227359983);
        double fine = fabs(runRod(variants[i], "predicted", .00025).x + .227359983);
        printf("%s: error of x %.2e at h = .01, %.2e at h = .00025, order %.2f\n", variants[i],
               coarse, fine, log(coarse / fine) / log(40.0));
        CHECK_BELOW(fine, coarse / 20.0); // first order: 40
    }
}

// Example 2 -------------------------------------------------------------------------------------

enum { numbers = 24 };

typedef struct Balls {
    double h;
    int steps;
    double* velocity; // (steps + 1) x 24
    double* position; // the rotational part is the integral of omega
} Balls;

static Balls runBalls(double h) {
    Balls run = { h, (int)lround(1.0 / h), NULL, NULL };
    run.velocity = calloc((size_t)(run.steps + 1) * numbers, sizeof(double));
    run.position = calloc((size_t)(run.steps + 1) * numbers, sizeof(double));
    tpWorld* world = makePaperWorld("four_balls");
    for (int k = 0; k <= run.steps; ++k) {
        for (int b = 0; b < 4; ++b) {
            char name[8];
            snprintf(name, sizeof(name), "ball%d", b);
            tpBodyId ball = tpWorld_FindBody(world, name);
            tpVec3 x = tpBody_GetPosition(world, ball), v = tpBody_GetVelocity(world, ball);
            tpVec3 w = tpBody_GetAngularVelocity(world, ball);
            const double now[12] = { v.x, v.y, v.z, w.x, w.y, w.z, x.x, x.y, x.z, w.x, w.y, w.z };
            for (int i = 0; i < 6; ++i) {
                int place = k * numbers + 6 * b + i;
                run.velocity[place] = now[i];
                run.position[place] =
                    i < 3 ? now[6 + i] : (k > 0 ? run.position[place - numbers] + h * now[i] : 0.0);
            }
        }
        if (k < run.steps) {
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.failureCount, 0);
            CHECK_BELOW(report.residual, 1e-8);
        }
    }
    tpDestroyWorld(world);
    return run;
}

// Largest over the components of the sum of |changes of velocity|.
static double variationOf(const Balls* run) {
    double largest = 0.0;
    for (int i = 0; i < numbers; ++i) {
        double sum = 0.0;
        for (int k = 0; k < run->steps; ++k) {
            sum += fabs(run->velocity[(k + 1) * numbers + i] - run->velocity[k * numbers + i]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

// Integral of the largest velocity difference (piecewise constant) and the largest position
// difference (piecewise linear) against a finer run.
static void compareBalls(const Balls* run, const Balls* finest, double* velocity,
                         double* position) {
    int ratio = finest->steps / run->steps;
    *velocity = *position = 0.0;
    for (int k = 1; k <= finest->steps; ++k) {
        int next = (k - 1) / ratio + 1, before = k / ratio;
        double part = (double)(k % ratio) / ratio;
        double largest = 0.0;
        for (int i = 0; i < numbers; ++i) {
            largest = fmax(largest, fabs(run->velocity[next * numbers + i] -
                                         finest->velocity[k * numbers + i]));
            double place = run->position[before * numbers + i];
            if (part > 0.0) {
                place += part * (run->position[(before + 1) * numbers + i] - place);
            }
            *position = fmax(*position, fabs(place - finest->position[k * numbers + i]));
        }
        *velocity += finest->h * largest;
    }
}

static void ballsFollowTheTable(void** state) {
    (void)state;
    static const double rows[5][7] = {
        // h, velocity error ours / paper, position error ours / paper, variation ours / paper
        { .02, .4959, .5050, .2517, .2505, 19.4028, 19.4046 },
        { .01, .3511, .3523, .2007, .2015, 19.1698, 19.1728 },
        { .005, .1657, .1657, .0831, .0838, 19.1703, 19.1702 },
        { .0025, .0660, .0700, .0342, .0298, 19.0976, 19.0862 },
        { .00125, 0, 0, 0, 0, 19.0682, 19.0690 },
    };
    Balls finest = runBalls(rows[4][0]);
    printf("Table 1        velocity error      position error      variation of velocity\n");
    printf("h              ours     paper      ours     paper      ours      paper\n");
    for (int i = 0; i < 5; ++i) {
        Balls run = i < 4 ? runBalls(rows[i][0]) : finest;
        double velocity = 0.0, position = 0.0, variation = variationOf(&run);
        if (i < 4) {
            compareBalls(&run, &finest, &velocity, &position);
        }
        printf("%-12g   %.4f   %.4f     %.4f   %.4f     %.4f   %.4f\n", rows[i][0], velocity,
               rows[i][2], position, rows[i][4], variation, rows[i][6]);
        CHECK_NEAR(velocity, rows[i][1], 6e-5);
        CHECK_NEAR(position, rows[i][3], 6e-5);
        CHECK_NEAR(variation, rows[i][5], 6e-5);
        if (i < 4) {
            free(run.velocity);
            free(run.position);
        }
    }
    free(finest.velocity);
    free(finest.position);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rodFollowsTheTable),
        cmocka_unit_test(rodConvergesToTheTruth),
        cmocka_unit_test(ballsFollowTheTable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
