// Many small worlds: how much faster two threads step them than one.
//
//     bench_batches [WORLDS [STEPS [THREADS]]]
//
// Two kinds of worlds (a cart with a driven pole; a leg of three links with servos that lands on a
// floor), 4,096 of each if nothing is said. Both counts of threads take the same steps in turns,
// three times over; the least time of each counts. Prints a line per kind: wall and CPU time of a
// step of all worlds, the gain by wall time, and the gain that the CPU times allow (THREADS times
// one thread's over that of all threads together), which other programs on the machine disturb
// less. A hash says that the ends are the same.

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tippe/batch.h"

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tpBodyId addBox(tpWorld* world, tpVec3 position, tpVec3 half) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateBox(world, body, &shape, &(tpBox){ half }, NULL);
    return body;
}

static void addJoint(tpWorld* world, tpJointType type, tpBodyId a, tpBodyId b, tpVec3 anchor,
                     tpVec3 axis, double stiffness) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    def.coordinate.hasServo = stiffness > 0.0;
    def.coordinate.servo.stiffness = stiffness;
    def.coordinate.servo.damping = 0.1 * stiffness;
    tpCreateJoint(world, &def, NULL);
}

static tpWorld* createWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef rough = tpDefaultMaterialDef();
    rough.friction.staticCoefficient = rough.friction.dynamicCoefficient = 0.7;
    tpCreateMaterial(world, &rough, NULL);
    return world;
}

static tpWorld* createCartPole(int index) {
    tpWorld* world = createWorld();
    tpVec3 x = { 1.0, 0.0, 0.0 }, y = { 0.0, 1.0, 0.0 };
    tpBodyId cart = addBox(world, (tpVec3){ 0.0, 0.0, 1.0 }, (tpVec3){ 0.2, 0.1, 0.05 });
    tpBodyId pole = addBox(world, (tpVec3){ 0.0, 0.0, 1.5 }, (tpVec3){ 0.02, 0.02, 0.5 });
    addJoint(world, tp_prismaticJoint, (tpBodyId){ 0, 0 }, cart, (tpVec3){ 0.0, 0.0, 1.0 }, x,
             100.0);
    addJoint(world, tp_revoluteJoint, cart, pole, (tpVec3){ 0.0, 0.0, 1.0 }, y, 0.0);
    tpJoint_SetValue(world, tpWorld_GetJoint(world, 1), 0, 0.001 * (index % 1000), NULL);
    return world;
}

static tpWorld* createLeg(int index) {
    tpWorld* world = createWorld();
    tpBodyDef ground = tpDefaultBodyDef();
    ground.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreatePlane(world, tpCreateBody(world, &ground, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    tpVec3 y = { 0.0, 1.0, 0.0 };
    double lift = 0.0001 * (index % 1000);
    tpBodyId trunk = addBox(world, (tpVec3){ 0.0, 0.0, 0.85 + lift }, (tpVec3){ 0.15, 0.1, 0.05 });
    tpBodyId thigh = addBox(world, (tpVec3){ 0.0, 0.0, 0.6 + lift }, (tpVec3){ 0.03, 0.03, 0.19 });
    tpBodyId shin = addBox(world, (tpVec3){ 0.0, 0.0, 0.2 + lift }, (tpVec3){ 0.03, 0.03, 0.16 });
    tpBodyId foot = addBox(world, (tpVec3){ 0.05, 0.0, 0.02 + lift }, (tpVec3){ 0.15, 0.1, 0.02 });
    addJoint(world, tp_revoluteJoint, trunk, thigh, (tpVec3){ 0.0, 0.0, 0.8 + lift }, y, 300.0);
    addJoint(world, tp_revoluteJoint, thigh, shin, (tpVec3){ 0.0, 0.0, 0.4 + lift }, y, 300.0);
    addJoint(world, tp_revoluteJoint, shin, foot, (tpVec3){ 0.0, 0.0, 0.04 + lift }, y, 300.0);
    return world;
}

static tpBatch* createBatch(tpWorld* (*create)(int index), int worldCount, int threadCount) {
    tpWorld** worlds = malloc(sizeof(tpWorld*) * (size_t)worldCount);
    for (int i = 0; i < worldCount; ++i) {
        worlds[i] = create(i);
    }
    tpBatchDef def = tpDefaultBatchDef();
    def.worlds = worlds;
    def.worldCount = worldCount;
    def.threadCount = threadCount;
    def.ownsWorlds = true;
    tpError error;
    tpBatch* batch = tpCreateBatch(&def, &error);
    if (batch == NULL) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    free(worlds);
    return batch;
}

static uint64_t hashOf(const tpBatch* batch) {
    uint64_t hash = 0;
    for (int i = 0; i < tpBatch_GetWorldCount(batch); ++i) {
        hash = hash * 31 + tpWorld_HashState(tpBatch_GetWorld(batch, i));
    }
    return hash;
}

static void compare(const char* name, tpWorld* (*create)(int index), int worldCount, int stepCount,
                    int threadCount) {
    tpBatch* batches[2] = { createBatch(create, worldCount, 1),
                            createBatch(create, worldCount, threadCount) };
    double wall[2] = { INFINITY, INFINITY }, cpu[2] = { INFINITY, INFINITY };
    for (int round = 0; round < 4; ++round) {
        for (int k = 0; k < 2; ++k) {
            double wallStart = now(CLOCK_MONOTONIC), cpuStart = now(CLOCK_PROCESS_CPUTIME_ID);
            tpBatch_Step(batches[k], 0.005, stepCount, NULL);
            if (round > 0) { // the first warms up
                wall[k] = fmin(wall[k], (now(CLOCK_MONOTONIC) - wallStart) / stepCount);
                cpu[k] = fmin(cpu[k], (now(CLOCK_PROCESS_CPUTIME_ID) - cpuStart) / stepCount);
            }
        }
    }
    printf("%-9s %d worlds  1 thread %.2f ms (CPU %.2f)  %d threads %.2f ms (CPU %.2f)  gain %.2f, "
           "by CPU "
           "time %.2f  %s\n",
           name, worldCount, 1e3 * wall[0], 1e3 * cpu[0], threadCount, 1e3 * wall[1], 1e3 * cpu[1],
           wall[0] / wall[1], threadCount * cpu[0] / cpu[1],
           hashOf(batches[0]) == hashOf(batches[1]) ? "same ends" : "OTHER ENDS");
    tpDestroyBatch(batches[0]);
    tpDestroyBatch(batches[1]);
}

int main(int argc, char** argv) {
    int worldCount = argc > 1 ? atoi(argv[1]) : 4096;
    int stepCount = argc > 2 ? atoi(argv[2]) : 10;
    int threadCount = argc > 3 ? atoi(argv[3]) : 2;
    if (worldCount < 1 || stepCount < 1 || threadCount < 1) {
        fprintf(stderr, "usage: bench_batches [WORLDS [STEPS [THREADS]]]\n");
        return 2;
    }
    compare("cart-pole", createCartPole, worldCount, stepCount, threadCount);
    compare("leg", createLeg, worldCount, stepCount, threadCount);
    return 0;
}
