// A contact whose point moves over its body, as that of an egg that spins: of second order.
//
// Sweeps hold the normal velocity u of a contact with one arm for the whole step, that of its
// middle, and a body comes with a velocity that suited the middle of the step before. To stop u0,
// what is left of it, takes u0^2 / 2W of energy in each step, and kicks that act at the starts of
// substeps are ahead of the motion by half of one: together of first order in h. What moves
// smoothly has u = 0 in the middle of the step and -u0 at its end. So, with k the kick of a
// substep,
//
//     p = -(u0 + u(k) / 2) / W
//     v <- v - k / 2 + M^-1 J' p          before the substeps
//     v <- v + k / 2 + M^-1 J' p          after them
//
// The substeps have the velocities of their middles, and what the first p takes the second one
// gives back. A contact that carried something to the end of the last step holds; its p may pull by
// no more than the load that it had.

#include "steppers/small_steps/turning_points.h"

// With more manifolds nobody looks for such points: in crowds bodies touch each other at several.
enum { mostManifolds = 40 };

// Bodies that turn by more than this in a step, rad, are beyond what a second order is good for.
static const double mostTurn = 0.5;

typedef struct tpTurningPoint {
    int number;        // of the body
    tpVelocity kick;   // of a substep
    tpVelocity change; // by the impulse
    double impulse;    // along the normal, N s
    tpSoftPack* pack;  // its contact
    int lane;
} tpTurningPoint;

static bool isOpen(const tpSmallStep* step) {
    return step->joints == NULL && step->substeps > 1 &&
           step->state->store.slotCount <= mostManifolds;
}

bool tpSmallStep_LooksForTurning(const tpSmallStep* step, int bodyA, int bodyB) {
    const tpSystem* system = step->system;
    bool isMovedA = tpSystem_IsDynamic(system, bodyA), isMovedB = tpSystem_IsDynamic(system, bodyB);
    int body = isMovedA ? bodyA : bodyB;
    return isOpen(step) && isMovedA != isMovedB &&
           step->h * tpLength(system->velocities.data[body].angular) <= mostTurn;
}

static tpVec3 vectorOf(float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

static tpVec3 turnOf(const tpSweepBody* mass, tpVec3 moment) {
    const double* m = mass->inverseInertia;
    return tpMakeVec3(m[0] * moment.x + m[3] * moment.y + m[4] * moment.z,
                      m[3] * moment.x + m[1] * moment.y + m[5] * moment.z,
                      m[4] * moment.x + m[5] * moment.y + m[2] * moment.z);
}

// Adds the points of a run to those of its bodies.
static void countPoints(const tpSoftRun* run, int* counts) {
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if ((run->used >> lane & 1) != 0) {
            counts[run->bodyA[lane]] += run->points[lane];
            counts[run->bodyB[lane]] += run->points[lane];
        }
    }
}

static bool isStill(const tpSmallStep* step, int n) {
    const tpVelocity* v = &step->velocities[n];
    return step->masses[n].inverseMass == 0.0 && tpLengthSquared(v->linear) == 0.0 &&
           tpLengthSquared(v->angular) == 0.0;
}

// Whether the only contact of a body runs over it, on something that stands still, and holds.
static bool isTurning(const tpSmallStep* step, const tpSoftRun* run, int lane, const int* counts,
                      int moved, int still) {
    if ((run->used >> lane & 1) == 0 || run->points[lane] != 1 || counts[moved] != 1 ||
        !(step->masses[moved].inverseMass > 0.0) || !isStill(step, still) ||
        step->isDisturbed[moved] || run->restitution[lane] > 0.0f) {
        return false;
    }
    tpShapePair shapes = step->state->shapes.data[run->slots[lane]];
    const tpShape* list = step->system->shapes.data;
    return run->packs[0].impulse[0][lane] > 0.0 &&
           step->h * tpLength(step->velocities[moved].angular) <= mostTurn &&
           (tpIsCurved(&list[shapes.shapeA]) || tpIsCurved(&list[shapes.shapeB]));
}

static bool findTurning(const tpSmallStep* step, const tpSoftRun* run, int lane, const int* counts,
                        tpTurningPoint* out) {
    int a = run->bodyA[lane], b = run->bodyB[lane];
    bool isA = step->masses[a].inverseMass > 0.0;
    int n = isA ? a : b;
    if (!isTurning(step, run, lane, counts, n, isA ? b : a)) {
        return false;
    }
    tpSoftPack* pack = &run->packs[0];
    const tpSweepBody* mass = &step->masses[n];
    tpVec3 normal = vectorOf(pack->normal, lane);
    normal = isA ? normal : tpNeg(normal);
    tpVec3 lever = tpCross(vectorOf(isA ? pack->armA : pack->armB, lane), normal);
    tpVec3 turn = turnOf(mass, lever);
    const tpVelocity *v = &step->velocities[n], *kick = &step->kicks[n];
    double u = tpDot(normal, tpMulAdd(v->linear, 0.5, kick->linear)) +
               tpDot(lever, tpMulAdd(v->angular, 0.5, kick->angular));
    double p = -u / (mass->inverseMass + tpDot(lever, turn));
    if (-2.0 * p > pack->load[lane]) {
        return false;
    }
    *out = (tpTurningPoint){ .number = n,
                             .kick = *kick,
                             .change = { .linear = tpScale(p * mass->inverseMass, normal),
                                         .angular = tpScale(p, turn) },
                             .impulse = p,
                             .pack = pack,
                             .lane = lane };
    return true;
}

// Adds the impulses so many times, and that part of the kicks.
static void change(tpSmallStep* step, double impulses, double kicks) {
    for (int i = 0; i < step->turningCount; ++i) {
        const tpTurningPoint* point = &step->turning[i];
        tpVelocity* v = &step->velocities[point->number];
        tpVec3 linear = tpScale(kicks, point->kick.linear);
        tpVec3 angular = tpScale(kicks, point->kick.angular);
        v->linear = tpAdd(v->linear, tpMulAdd(linear, impulses, point->change.linear));
        v->angular = tpAdd(v->angular, tpMulAdd(angular, impulses, point->change.angular));
    }
}

bool tpSmallStep_BeginTurning(tpSmallStep* step) {
    const tpPackStore* store = &step->state->store;
    tpArena* arena = &step->system->arena;
    if (store->slotCount == 0 || !isOpen(step)) {
        return true;
    }
    int* counts = TP_SCRATCH_ZEROED(arena, int, step->count);
    step->isTurning = TP_SCRATCH_ZEROED(arena, bool, step->count);
    step->turning = TP_SCRATCH(arena, tpTurningPoint, store->slotCount);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < store->order.count; ++i) {
        countPoints(&store->runs.data[store->order.data[i]], counts);
    }
    for (int i = 0; i < store->order.count; ++i) {
        const tpSoftRun* run = &store->runs.data[store->order.data[i]];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            tpTurningPoint* point = &step->turning[step->turningCount];
            if (findTurning(step, run, lane, counts, point)) {
                step->isTurning[point->number] = true;
                ++step->turningCount;
            }
        }
    }
    change(step, 1.0, -0.5);
    return true;
}

void tpSmallStep_EndTurning(tpSmallStep* step) {
    change(step, 1.0, 0.5);
    for (int i = 0; i < step->turningCount; ++i) {
        const tpTurningPoint* point = &step->turning[i];
        // What bodies are told of their flight counts as if it came at the starts of substeps.
        tpVec3* turned = &step->moved[point->number].angular;
        *turned = tpMulAdd(*turned, 0.5 * step->h, point->kick.angular);
        point->pack->total[0][point->lane] += 2.0 * point->impulse;
    }
}

void tpSmallStep_LeaveTurning(tpSmallStep* step) {
    change(step, -1.0, -0.5);
}
