// What it costs to add a body to many and to take one away, in CPU time of one thread.
//
//     bench_structure [BODIES]
//
// Balls float side by side. In turns, a step without a change and a step after one ball has come or
// gone; of each kind the least of all turns. The first row is what a collider made from nothing
// would cost.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tippe/world.h"

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tpBodyId addBall(tpWorld* world, int number) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(number % 25, number / 25 % 25, number / 625);
    def.velocity = tpMakeVec3(0.1, 0.2, 0.3);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateSphere(world, ball, &shape, &(tpSphere){ .radius = 0.3 }, NULL);
    return ball;
}

static double timeStep(tpWorld* world) {
    double start = cpuSeconds();
    tpWorld_Step(world, 1e-3);
    return cpuSeconds() - start;
}

static void benchStepper(tpStepperId stepper, int count) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    for (int i = 0; i < count; ++i) {
        addBall(world, i);
    }
    double first = timeStep(world);
    double plain = 1e9, add = 1e9, afterAdd = 1e9, take = 1e9, afterTake = 1e9;
    for (int turn = 0; turn < 100; ++turn) {
        double time = timeStep(world);
        plain = time < plain ? time : plain;
        double start = cpuSeconds();
        tpBodyId ball = addBall(world, count);
        time = cpuSeconds() - start;
        add = time < add ? time : add;
        time = timeStep(world);
        afterAdd = time < afterAdd ? time : afterAdd;
        start = cpuSeconds();
        tpDestroyBody(world, ball);
        time = cpuSeconds() - start;
        take = time < take ? time : take;
        time = timeStep(world);
        afterTake = time < afterTake ? time : afterTake;
    }
    printf("%s,%d,%.1f,%.1f,%.2f,%.1f,%.2f,%.1f\n", tpStepperName(stepper), count, 1e6 * first,
           1e6 * plain, 1e6 * add, 1e6 * (afterAdd - plain), 1e6 * take, 1e6 * (afterTake - plain));
    tpDestroyWorld(world);
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    printf("stepper,bodies,first_step_us,step_us,add_us,step_after_add_more_us,take_us,"
           "step_after_take_more_us\n");
    benchStepper(tp_anitescu, count);
    benchStepper(tp_benderSchmitt, count);
    benchStepper(tp_smallSteps, count);
    return 0;
}
