#include "dynamics/light_start.h"

#include <string.h>

#include "sweeps/light_solve.h"

// Fewer contacts than this are solved as fast without.
enum { leastContacts = 100 };

// Light sweeps of a start.
enum { leastSweeps = 64, mostSweeps = 600 };

// Work of a start, and of a light sweep, per contact within reach.
static const double contactWork = 800.0, sweepWork = 20.0;

// Of |q| of the contacts that bodies approach: the residual from which a start is made, that from
// which Newton's method begins well, and that to which sweeps go. In single precision they come to
// some 1e-7.
static const double farPart = 1e-4, nearPart = 1e-2, goalPart = 1e-6;

// Friction rows shorter than this part of the normal have no direction.
static const double leastPart = 1e-9;

static bool isFree(const tpRows* rows, int block) {
    int first = rows->firstRows[block];
    for (int k = 0; k < 3; ++k) {
        if (rows->compliance[first + k] != 0.0 || !(rows->scale[first + k] > leastPart)) {
            return false;
        }
    }
    return true;
}

bool tpLightStart_Suits(const tpRows* rows) {
    if (rows->reduced != NULL || rows->componentCount != 6 || rows->blockCount < leastContacts) {
        return false;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource || rows->dimensions[b] != 3 ||
            rows->kinds[b] != tp_frictionCone || !isFree(rows, b)) {
            return false;
        }
    }
    return true;
}

// Inverse masses as the rows have them. Locked axes of a centre do not suit: false.
static bool writeBodies(const tpRows* rows, tpSweeper* sweeper) {
    for (int i = 0; i < rows->bodyCount; ++i) {
        const double* m = rows->inverseMass + 36 * (size_t)i;
        tpSweepBody* body = &sweeper->bodies[i];
        if (m[0] != m[7] || m[0] != m[14]) {
            return false;
        }
        body->inverseMass = m[0];
        const int places[6] = { 21, 28, 35, 22, 23, 29 };
        for (int k = 0; k < 6; ++k) {
            body->inverseInertia[k] = m[places[k]];
        }
    }
    return true;
}

static tpVec3 vectorAt(const double* numbers) {
    return tpMakeVec3(numbers[0], numbers[1], numbers[2]);
}

// The arm to the contact's point, from what three directions at right angles do to the body's turn:
// the sum of e x (arm x e) over them is twice the arm.
static tpVec3 armOf(const double* jacobian, double sign, const tpVec3 directions[3]) {
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < 3; ++k) {
        tpVec3 turn = tpScale(sign, vectorAt(jacobian + 6 * k + 3));
        sum = tpAdd(sum, tpCross(directions[k], turn));
    }
    return tpScale(0.5, sum);
}

// What the rows of a contact are made of.
static tpSweepContact writeContact(const tpRows* rows, int block) {
    int first = rows->firstRows[block];
    int bodyA = rows->bodyA[block], bodyB = rows->bodyB[block];
    const double* ofA = rows->jacobianA + 6 * (size_t)first;
    const double* ofB = rows->jacobianB + 6 * (size_t)first;
    tpVec3 directions[3];
    for (int k = 0; k < 3; ++k) {
        directions[k] = bodyA >= 0 ? vectorAt(ofA + 6 * k) : tpScale(-1.0, vectorAt(ofB + 6 * k));
    }
    int world = rows->bodyCount;
    return (tpSweepContact){
        .bodyA = bodyA >= 0 ? bodyA : world,
        .bodyB = bodyB >= 0 ? bodyB : world,
        .normal = directions[0],
        .tangents = { tpScale(rows->scale[first + 1], directions[1]),
                      tpScale(rows->scale[first + 2], directions[2]) },
        .armA = bodyA >= 0 ? armOf(ofA, 1.0, directions) : tpZeroVec3(),
        .armB = bodyB >= 0 ? armOf(ofB, -1.0, directions) : tpZeroVec3(),
        .muStatic = rows->mu[block],
        .muDynamic = rows->mu[block],
    };
}

// Velocities are those that impulses make; what bodies have without them is in the biases.
static void fill(const tpRows* rows, tpSweeper* sweeper) {
    for (int b = 0; b < rows->blockCount; ++b) {
        int lane, first = rows->firstRows[b];
        tpContactPack* pack = tpSweeper_PackOf(sweeper, b, &lane);
        for (int k = 0; k < 3; ++k) {
            double scale = k == 0 ? 1.0 : rows->scale[first + k];
            pack->bias[k][lane] = scale * rows->q[first + k];
            pack->impulse[k][lane] = rows->impulse[first + k] / scale;
        }
    }
}

static void takeBack(const tpSweeper* sweeper, tpRows* rows) {
    for (int b = 0; b < rows->blockCount; ++b) {
        int lane, first = rows->firstRows[b];
        const tpContactPack* pack = tpSweeper_PackOf(sweeper, b, &lane);
        for (int k = 0; k < 3; ++k) {
            double scale = k == 0 ? 1.0 : rows->scale[first + k];
            rows->impulse[first + k] = scale * pack->impulse[k][lane];
        }
    }
}

// |q| of what would be violated without impulses, and of what carries something. Contacts far away
// are in |q| of the whole, next to which residuals would look small.
static double sizeOf(const tpRows* rows) {
    double square = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        if (!(rows->q[first] < 0.0) && rows->impulse[first] == 0.0) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            double speed = rows->scale[first + k] * rows->q[first + k];
            square += speed * speed;
        }
    }
    return sqrt(square);
}

// The sweeper of the rows, with impulses and the velocities that they make. `isDone`: nothing has
// been found that does not suit. False if memory ran out.
static bool makeSweeper(const tpRows* rows, tpSweeper* sweeper, bool* isDone, tpArena* arena) {
    int count = rows->blockCount, bodyCount = rows->bodyCount + 1;
    tpSweepContact* contacts = TP_SCRATCH(arena, tpSweepContact, count);
    tpVelocity* velocities = TP_SCRATCH_ZEROED(arena, tpVelocity, bodyCount);
    if (arena->failed || !tpSweeper_Create(sweeper, arena, bodyCount, count, tpFriction_SolveOne)) {
        return false;
    }
    sweeper->speedUnit = rows->speedUnit;
    *isDone = writeBodies(rows, sweeper);
    if (!*isDone) {
        return true;
    }
    for (int b = 0; b < count; ++b) {
        contacts[b] = writeContact(rows, b);
    }
    if (!tpSweeper_AddContacts(sweeper, contacts, count, NULL, arena)) {
        return false;
    }
    sweeper->velocities = velocities;
    fill(rows, sweeper);
    tpSweeper_WarmStart(sweeper);
    return true;
}

static bool sweep(tpLightStart* start, tpRows* rows, tpSweeper* sweeper, double limit,
                  tpArena* arena) {
    double size = sizeOf(rows), miss = tpSweeper_Miss(sweeper);
    start->isSwept = miss <= nearPart * size;
    if (!(miss > fmax(farPart * size, start->goal))) {
        return true;
    }
    double goal = fmax(goalPart * size, 0.1 * start->goal);
    tpVelocity* rest = TP_SCRATCH_ZEROED(arena, tpVelocity, sweeper->bodyCount);
    tpLightTask task = { .start = rest,
                         .goal = goal,
                         .enough = goal,
                         .limit = limit < mostSweeps ? (int)limit : mostSweeps,
                         .stop = start->stop };
    if (rest == NULL || !tpLight_Solve(sweeper, &task, arena)) {
        return false;
    }
    if (task.miss < miss) {
        takeBack(sweeper, rows);
    }
    start->isSwept = fmin(task.miss, miss) <= nearPart * size;
    start->spent += sweepWork * rows->blockCount * task.sweeps;
    return true;
}

bool tpLightStart_Find(tpLightStart* start, tpRows* rows, tpArena* arena) {
    double begin = contactWork * rows->blockCount;
    double limit = (start->work - begin) / (sweepWork * rows->blockCount);
    start->spent = 0.0;
    start->isSwept = false;
    if (!(limit >= leastSweeps)) {
        return true;
    }
    tpArenaMark mark = tpArena_Mark(arena);
    tpSweeper sweeper;
    bool suits = false;
    start->spent = begin;
    bool isDone = makeSweeper(rows, &sweeper, &suits, arena) &&
                  (!suits || sweep(start, rows, &sweeper, limit, arena));
    tpArena_Release(arena, mark);
    return isDone;
}
