// Crowds in real time: how `small-steps` grows with bodies and gains by threads.
//
//     bench_crowds SCENE BODIES STEPS THREADS [THREADS ...]
//     bench_crowds SCENE BODIES STEPS ruler
//
// SCENE is spheres (a box of them that settles), cubes, capsules, rods (long thin capsules),
// cylinders, stones8, stones16 or stones64 (hulls of so many points; all of these are dropped into
// a funnel), hills (cubes on a mesh of triangles), pyramid (BODIES is its rows), dolls (ragdolls of
// 15 bodies that fall in heaps), chain (one chain of links that swings), robots (quadrupeds that
// stand on servos), or a crowd of five shapes: tumbler (in a box that turns), mixedhills (on a mesh
// of triangles), stairs (down a flight of steps). After a quarter of the steps as a warm-up the
// others are timed. Prints a line per count of threads: wall and CPU time per step, the slowest
// step over the median, the first step and the slowest of all steps over the median of all by CPU
// time, bytes per body, and a hash of the end, which is the same for all. With `ruler` it prints
// the largest and the mean overlap of every tenth step instead, by a collider in double precision.

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "crowds.h"
#include "overlap.h"
#include "tippe/joints.h"

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t seed = 1;

double chance(void) {
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

void addPlane(tpWorld* world, tpBodyId body, tpVec3 normal, double offset) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { normal, offset };
    tpCreatePlane(world, body, &shape, &plane, NULL);
}

tpBodyId addFixed(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    return tpCreateBody(world, &def, NULL);
}

// A floor and four walls about a square of that side; walls lean outwards by `lean`.
static void addPit(tpWorld* world, double side, double lean) {
    tpBodyId body = addFixed(world);
    double c = cos(lean), s = sin(lean);
    addPlane(world, body, (tpVec3){ 0.0, 0.0, 1.0 }, 0.0);
    addPlane(world, body, (tpVec3){ c, 0.0, s }, -0.5 * side * c);
    addPlane(world, body, (tpVec3){ -c, 0.0, s }, -0.5 * side * c);
    addPlane(world, body, (tpVec3){ 0.0, c, s }, -0.5 * side * c);
    addPlane(world, body, (tpVec3){ 0.0, -c, s }, -0.5 * side * c);
}

static tpBodyId addBox(tpWorld* world, tpVec3 place, tpQuat rotation, tpVec3 size) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = rotation;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1000.0;
    tpBox box = { size };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static const tpQuat upright = { 1.0, 0.0, 0.0, 0.0 };

static void makeSpheres(tpWorld* world, int count) {
    int side = (int)ceil(cbrt(count));
    addPit(world, 1.1 * side, 0.0);
    for (int i = 0; i < count; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = (tpVec3){ 1.05 * (i % side - 0.5 * (side - 1)) + 0.02 * chance(),
                                 1.05 * (i / side % side - 0.5 * (side - 1)) + 0.02 * chance(),
                                 0.6 + 1.05 * (i / (side * side)) };
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        shape.density = 1000.0;
        tpSphere ball = { 0.5 };
        tpCreateSphere(world, body, &shape, &ball, NULL);
    }
}

static void makeCubes(tpWorld* world, int count) {
    int side = (int)ceil(cbrt(0.5 * count));
    addPit(world, 2.0 * side, 0.4);
    for (int i = 0; i < count; ++i) {
        tpVec3 place = { 1.8 * (i % side - 0.5 * (side - 1)),
                         1.8 * (i / side % side - 0.5 * (side - 1)),
                         2.0 + 1.8 * (i / (side * side)) };
        tpQuat turn = { 1.0, chance() - 0.5, chance() - 0.5, chance() - 0.5 };
        double length = sqrt(turn.w * turn.w + turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
        turn = (tpQuat){ turn.w / length, turn.x / length, turn.y / length, turn.z / length };
        addBox(world, place, turn, (tpVec3){ 1.0, 1.0, 1.0 });
    }
}

tpQuat anyTurn(void) {
    double x = chance() - 0.5, y = chance() - 0.5, z = chance() - 0.5;
    double length = sqrt(1.0 + x * x + y * y + z * z);
    return (tpQuat){ 1.0 / length, x / length, y / length, z / length };
}

tpBodyId dropBody(tpWorld* world, int i, int side) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position =
        (tpVec3){ 1.8 * (i % side - 0.5 * (side - 1)), 1.8 * (i / side % side - 0.5 * (side - 1)),
                  2.0 + 1.8 * (i / (side * side)) };
    def.rotation = anyTurn();
    return tpCreateBody(world, &def, NULL);
}

tpShapeDef denseShape(void) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1000.0;
    return shape;
}

static int openPit(tpWorld* world, int count) {
    int side = (int)ceil(cbrt(0.5 * count));
    addPit(world, 2.0 * side, 0.4);
    return side;
}

static void makeCapsules(tpWorld* world, int count) {
    int side = openPit(world, count);
    tpShapeDef shape = denseShape();
    tpCapsule capsule = { 0.3, 0.8, { 0.0, 0.0, 1.0 } };
    for (int i = 0; i < count; ++i) {
        tpCreateCapsule(world, dropBody(world, i, side), &shape, &capsule, NULL);
    }
}

// Capsules 1.4 to 2 m long and .24 m thick: they turn far in every step.
static void makeRods(tpWorld* world, int count) {
    int side = openPit(world, count);
    tpShapeDef shape = denseShape();
    for (int i = 0; i < count; ++i) {
        tpCapsule capsule = { 0.12, 1.16 + 0.6 * chance(), { 0.0, 0.0, 1.0 } };
        tpCreateCapsule(world, dropBody(world, i, side), &shape, &capsule, NULL);
    }
}

static void makeCylinders(tpWorld* world, int count) {
    int side = openPit(world, count);
    tpShapeDef shape = denseShape();
    tpCylinder cylinder = { 0.45, 1.0, { 0.0, 0.0, 1.0 } };
    for (int i = 0; i < count; ++i) {
        tpCreateCylinder(world, dropBody(world, i, side), &shape, &cylinder, NULL);
    }
}

void addStone(tpWorld* world, tpBodyId body, int points) {
    tpShapeDef shape = denseShape();
    tpVec3 places[64];
    for (int k = 0; k < points; ++k) {
        double z = 2.0 * (k + 0.5) / points - 1.0, angle = 2.399963 * k + 0.3 * chance();
        double r = 0.6 * sqrt(1.0 - z * z);
        places[k] = (tpVec3){ r * cos(angle), r * sin(angle), 0.6 * z };
    }
    tpGeometry geometry;
    tpAllocator allocator = tpDefaultAllocator();
    if (tpMakeHull(&allocator, places, points, (tpPose){ { 0.0, 0.0, 0.0 }, upright }, &geometry,
                   NULL) == tp_success) {
        tpCreateShape(world, body, &shape, &geometry, NULL);
        tpReleaseGeometry(&geometry);
    }
}

static void dropStones(tpWorld* world, int count, int points) {
    int side = openPit(world, count);
    for (int i = 0; i < count; ++i) {
        addStone(world, dropBody(world, i, side), points);
    }
}

static void makeStones8(tpWorld* world, int count) {
    dropStones(world, count, 8);
}

static void makeStones16(tpWorld* world, int count) {
    dropStones(world, count, 16);
}

static void makeStones64(tpWorld* world, int count) {
    dropStones(world, count, 64);
}

void addHills(tpWorld* world, int side) {
    int points = side + 1;
    tpVec3* vertices = malloc(sizeof(tpVec3) * (size_t)(points * points + 4));
    int32_t(*triangles)[3] = malloc(sizeof(*triangles) * (size_t)(2 * side * side + 4 * side + 6));
    int32_t below = points * points, count = 0;
    for (int k = 0; k < 4; ++k) {
        vertices[below + k] =
            (tpVec3){ (k % 2 - 0.5) * side, (k / 2 - 0.5) * side, -0.1 * side - 2.0 };
    }
    for (int i = 0; i < points * points; ++i) {
        double x = i % points - 0.5 * side, y = i / points - 0.5 * side;
        vertices[i] = (tpVec3){ x, y, 0.4 * (sin(0.5 * x) + sin(0.6 * y)) };
    }
    for (int k = 0; k < side * side; ++k) {
        int32_t at = k / side * points + k % side;
        const int32_t both[2][3] = { { at, at + 1, at + points + 1 },
                                     { at, at + points + 1, at + points } };
        memcpy(triangles[count], both, sizeof(both));
        count += 2;
    }
    int32_t last = side * points, corner = last + side;
    for (int32_t k = 0; k < side; ++k) {
        const int32_t walls[4][3] = {
            { k + 1, k, below },
            { last + k, last + k + 1, below + 2 },
            { k * points, (k + 1) * points, below },
            { (k + 1) * points + side, k * points + side, below + 1 },
        };
        memcpy(triangles[count], walls, sizeof(walls));
        count += 4;
    }
    const int32_t rest[6][3] = {
        { side, below, below + 1 },       { below, last, below + 2 },
        { below + 2, corner, below + 3 }, { corner, below + 1, below + 3 },
        { below, below + 2, below + 3 },  { below, below + 3, below + 1 }
    };
    memcpy(triangles[count], rest, sizeof(rest));
    count += 6;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry geometry;
    tpShapeDef shape = denseShape();
    if (tpMakeMesh(&allocator, vertices, points * points + 4, (const int32_t(*)[3])triangles, count,
                   (tpPose){ { 0.0, 0.0, 0.0 }, upright }, &geometry, NULL) == tp_success) {
        tpCreateShape(world, addFixed(world), &shape, &geometry, NULL);
        tpReleaseGeometry(&geometry);
    }
    free(vertices);
    free(triangles);
}

// Cubes in one layer on hills.
static void makeHills(tpWorld* world, int count) {
    int side = (int)ceil(sqrt(count));
    addHills(world, 2 * side + 4);
    for (int i = 0; i < count; ++i) {
        tpBodyId body = dropBody(world, i, side);
        tpShapeDef shape = denseShape();
        tpBox box = { { 1.0, 1.0, 1.0 } };
        tpCreateBox(world, body, &shape, &box, NULL);
    }
}

static void makePyramid(tpWorld* world, int rows) {
    addPlane(world, addFixed(world), (tpVec3){ 0.0, 0.0, 1.0 }, 0.0);
    for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < rows - row; ++k) {
            tpVec3 place = { 1.02 * k + 0.51 * row - 0.51 * rows, 0.0, 0.5 + row };
            addBox(world, place, upright, (tpVec3){ 1.0, 1.0, 1.0 });
        }
    }
}

static tpJointId join(tpWorld* world, tpBodyId a, tpBodyId b, tpVec3 anchor, tpVec3 axis,
                      double range, double stiffness) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    if (range > 0.0) {
        def.coordinate.hasLimits = true;
        def.coordinate.limits[0] = -range;
        def.coordinate.limits[1] = range;
    }
    if (stiffness > 0.0) {
        def.coordinate.hasServo = true;
        def.coordinate.servo.stiffness = stiffness;
        def.coordinate.servo.damping = 0.05 * stiffness;
        def.coordinate.servo.effort = 200.0;
    }
    return tpCreateJoint(world, &def, NULL);
}

static const tpVec3 alongX = { 1.0, 0.0, 0.0 }, alongY = { 0.0, 1.0, 0.0 };

// Pelvis, belly, chest, head, and on both sides upper arm, lower arm, thigh, shin, foot: 14 bodies
// and a neck.
static void addDoll(tpWorld* world, tpVec3 o) {
    tpBodyId pelvis = addBox(world, (tpVec3){ o.x, o.y, o.z }, upright, (tpVec3){ 0.2, 0.3, 0.15 });
    tpBodyId belly =
        addBox(world, (tpVec3){ o.x, o.y, o.z + 0.17 }, upright, (tpVec3){ 0.18, 0.25, 0.15 });
    tpBodyId chest =
        addBox(world, (tpVec3){ o.x, o.y, o.z + 0.38 }, upright, (tpVec3){ 0.2, 0.3, 0.25 });
    tpBodyId neck =
        addBox(world, (tpVec3){ o.x, o.y, o.z + 0.55 }, upright, (tpVec3){ 0.08, 0.08, 0.06 });
    tpBodyId head =
        addBox(world, (tpVec3){ o.x, o.y, o.z + 0.7 }, upright, (tpVec3){ 0.18, 0.16, 0.2 });
    join(world, pelvis, belly, (tpVec3){ o.x, o.y, o.z + 0.085 }, alongY, 0.5, 0.0);
    join(world, belly, chest, (tpVec3){ o.x, o.y, o.z + 0.25 }, alongX, 0.5, 0.0);
    join(world, chest, neck, (tpVec3){ o.x, o.y, o.z + 0.51 }, alongY, 0.5, 0.0);
    join(world, neck, head, (tpVec3){ o.x, o.y, o.z + 0.59 }, alongX, 0.5, 0.0);
    for (int side = -1; side <= 1; side += 2) {
        double y = o.y + 0.1 * side, ya = o.y + 0.24 * side;
        tpBodyId upper =
            addBox(world, (tpVec3){ o.x, ya, o.z + 0.36 }, upright, (tpVec3){ 0.1, 0.1, 0.26 });
        tpBodyId lower =
            addBox(world, (tpVec3){ o.x, ya, o.z + 0.09 }, upright, (tpVec3){ 0.08, 0.08, 0.26 });
        tpBodyId thigh =
            addBox(world, (tpVec3){ o.x, y, o.z - 0.29 }, upright, (tpVec3){ 0.13, 0.13, 0.4 });
        tpBodyId shin =
            addBox(world, (tpVec3){ o.x, y, o.z - 0.7 }, upright, (tpVec3){ 0.1, 0.1, 0.38 });
        tpBodyId foot = addBox(world, (tpVec3){ o.x + 0.05, y, o.z - 0.94 }, upright,
                               (tpVec3){ 0.24, 0.1, 0.06 });
        join(world, chest, upper, (tpVec3){ o.x, ya, o.z + 0.48 }, alongY, 1.5, 0.0);
        join(world, upper, lower, (tpVec3){ o.x, ya, o.z + 0.225 }, alongY, 1.2, 0.0);
        join(world, pelvis, thigh, (tpVec3){ o.x, y, o.z - 0.08 }, alongY, 1.2, 0.0);
        join(world, thigh, shin, (tpVec3){ o.x, y, o.z - 0.5 }, alongY, 1.2, 0.0);
        join(world, shin, foot, (tpVec3){ o.x, y, o.z - 0.9 }, alongY, 0.6, 0.0);
    }
}

static void makeDolls(tpWorld* world, int count) {
    int side = (int)ceil(sqrt(0.25 * count));
    addPlane(world, addFixed(world), (tpVec3){ 0.0, 0.0, 1.0 }, 0.0);
    for (int i = 0; i < count; ++i) {
        addDoll(world, (tpVec3){ 1.0 * (i % side) + 0.2 * chance(),
                                 1.0 * (i / side % side) + 0.2 * chance(),
                                 1.2 + 2.0 * (i / (side * side)) });
    }
}

static void makeChain(tpWorld* world, int count) {
    tpBodyId last = { 0 };
    for (int i = 0; i < count; ++i) {
        tpBodyId link = addBox(world, (tpVec3){ 0.2 * i + 0.1, 0.0, 0.0 }, upright,
                               (tpVec3){ 0.18, 0.05, 0.05 });
        join(world, last, link, (tpVec3){ 0.2 * i, 0.0, 0.0 },
             i % 2 == 0 ? alongY : (tpVec3){ 0.0, 0.0, 1.0 }, 0.0, 0.0);
        last = link;
    }
}

// A trunk on four legs of two links.
static void makeRobots(tpWorld* world, int count) {
    int side = (int)ceil(sqrt(count));
    addPlane(world, addFixed(world), (tpVec3){ 0.0, 0.0, 1.0 }, 0.0);
    for (int i = 0; i < count; ++i) {
        double x = 2.0 * (i % side), y = 2.0 * (i / side);
        tpBodyId trunk = addBox(world, (tpVec3){ x, y, 0.55 }, upright, (tpVec3){ 0.6, 0.3, 0.15 });
        for (int leg = 0; leg < 4; ++leg) {
            double lx = x + (leg % 2 == 0 ? 0.25 : -0.25), ly = y + (leg / 2 == 0 ? 0.2 : -0.2);
            tpBodyId upper =
                addBox(world, (tpVec3){ lx, ly, 0.4 }, upright, (tpVec3){ 0.06, 0.06, 0.24 });
            tpBodyId lower =
                addBox(world, (tpVec3){ lx, ly, 0.14 }, upright, (tpVec3){ 0.05, 0.05, 0.28 });
            join(world, trunk, upper, (tpVec3){ lx, ly, 0.52 }, leg % 2 == 0 ? alongY : alongX, 1.0,
                 500.0);
            join(world, upper, lower, (tpVec3){ lx, ly, 0.28 }, alongY, 2.0, 500.0);
        }
    }
}

typedef struct Kind {
    const char* name;
    void (*make)(tpWorld* world, int count);
    double step;
} Kind;

static const Kind kinds[] = {
    { "spheres", makeSpheres, 1.0 / 120.0 },      { "cubes", makeCubes, 1.0 / 60.0 },
    { "pyramid", makePyramid, 1.0 / 60.0 },       { "dolls", makeDolls, 1.0 / 60.0 },
    { "chain", makeChain, 1.0 / 200.0 },          { "robots", makeRobots, 1.0 / 200.0 },
    { "capsules", makeCapsules, 1.0 / 60.0 },     { "rods", makeRods, 1.0 / 60.0 },
    { "cylinders", makeCylinders, 1.0 / 60.0 },   { "stones8", makeStones8, 1.0 / 60.0 },
    { "stones16", makeStones16, 1.0 / 60.0 },     { "stones64", makeStones64, 1.0 / 60.0 },
    { "hills", makeHills, 1.0 / 60.0 },           { "tumbler", makeTumbler, 1.0 / 60.0 },
    { "mixedhills", makeMixedHills, 1.0 / 60.0 }, { "stairs", makeStairs, 1.0 / 60.0 },
};

static int compareTimes(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static tpWorld* openWorld(const Kind* kind, int count, int threads) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = (tpVec3){ 0.0, 0.0, -9.81 };
    def.threadCount = threads;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    tpCreateMaterial(world, &material, NULL);
    seed = 1;
    kind->make(world, count);
    return world;
}

static void rule(const Kind* kind, int count, int steps) {
    tpWorld* world = openWorld(kind, count, 1);
    int bodies = tpWorld_GetBodyCount(world), frames = 0;
    tpCollider* ruler = makeOverlapRuler(world);
    tpPose* poses = calloc((size_t)bodies, sizeof(tpPose));
    double deepest = 0.0, meanSum = 0.0, frameDeepest, frameMean;
    for (int k = 0; k < steps; ++k) {
        tpWorld_Step(world, kind->step);
        if (k % 10 != 9) {
            continue;
        }
        for (int i = 0; i < bodies; ++i) {
            poses[i] = tpBody_GetPose(world, tpWorld_GetBody(world, i));
        }
        if (ruler == NULL || !measureOverlap(ruler, poses, &frameDeepest, &frameMean)) {
            fprintf(stderr, "out of memory\n");
            exit(3);
        }
        deepest = fmax(deepest, frameDeepest);
        meanSum += frameMean;
        ++frames;
    }
    double mean = frames > 0 ? meanSum / frames : 0.0;
    printf("%-8s %7d bodies, overlap largest %.2f mean %.3f mm, hash %016llx\n", kind->name, bodies,
           1e3 * deepest, 1e3 * mean, (unsigned long long)tpWorld_HashState(world));
    free(poses);
    tpDestroyCollider(ruler);
    tpDestroyWorld(world);
}

static void measure(const Kind* kind, int count, int steps, int threads) {
    tpWorld* world = openWorld(kind, count, threads);
    int warm = steps / 4, timed = steps - warm, contacts = 0;
    double *times = malloc(sizeof(double) * (size_t)timed), drift = 0.0, overlap = 0.0;
    double *cpuTimes = malloc(sizeof(double) * (size_t)steps), first = 0.0;
    double cpu = 0.0, wall = 0.0;
    for (int k = 0; k < steps; ++k) {
        double startCpu = now(CLOCK_PROCESS_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
        tpStepReport report = tpWorld_Step(world, kind->step);
        double took = now(CLOCK_MONOTONIC) - start;
        cpuTimes[k] = now(CLOCK_PROCESS_CPUTIME_ID) - startCpu;
        first = k == 0 ? cpuTimes[k] : first;
        contacts = report.contactCount;
        drift = fmax(drift, report.jointDrift);
        overlap = fmax(overlap, report.penetration);
        if (k >= warm) {
            times[k - warm] = took;
            wall += took;
            cpu += cpuTimes[k];
        }
    }
    qsort(times, (size_t)timed, sizeof(double), compareTimes);
    qsort(cpuTimes, (size_t)steps, sizeof(double), compareTimes);
    double median = cpuTimes[steps / 2];
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int bodies = tpWorld_GetBodyCount(world);
    printf("%-8s %7d bodies %7d contacts %2d threads: wall %9.3f cpu %9.3f median %9.3f ms/step, "
           "worst/median %5.2f, of all by cpu: first %5.2f worst %5.2f, "
           "%6.0f B/body, overlap %.1e drift %.1e hash %016llx\n",
           kind->name, bodies, contacts, threads, 1e3 * wall / timed, 1e3 * cpu / timed,
           1e3 * times[timed / 2], times[timed - 1] / times[timed / 2], first / median,
           cpuTimes[steps - 1] / median, 1024.0 * (double)usage.ru_maxrss / bodies, overlap, drift,
           (unsigned long long)tpWorld_HashState(world));
    fflush(stdout);
    free(times);
    free(cpuTimes);
    tpDestroyWorld(world);
}

int main(int argc, char** argv) {
    const Kind* kind = NULL;
    for (size_t k = 0; argc >= 5 && k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
        kind = strcmp(argv[1], kinds[k].name) == 0 ? &kinds[k] : kind;
    }
    if (kind == NULL) {
        fprintf(stderr, "usage: bench_crowds SCENE BODIES STEPS THREADS...|ruler; scenes:");
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
            fprintf(stderr, " %s", kinds[k].name);
        }
        fprintf(stderr, "\n");
        return 2;
    }
    for (int i = 4; i < argc; ++i) {
        if (strcmp(argv[i], "ruler") == 0) {
            rule(kind, atoi(argv[2]), atoi(argv[3]));
        } else {
            measure(kind, atoi(argv[2]), atoi(argv[3]), atoi(argv[i]));
        }
    }
    return 0;
}
