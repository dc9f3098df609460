// Overlaps that unfinished solves leave behind.
//
// Deviation from the paper: it takes an overlap back by the impulses of (8), which also give the bodies
// the velocity of the way out. In a high wall that is solved within a budget, these velocities feed a
// swaying that nothing damps (a wall of 20 layers gains a joule in four seconds, and stands still without
// them). Here the way out is a displacement of its own: the same sweep without friction, from zero
// velocities, whose result moves the bodies once and is forgotten.

#include "steppers/bender_schmitt/push_out.h"

enum { pushSweeps = 8 };

// Part of an overlap that one step takes back.
static const double pushPart = 0.2;

// Overlaps that are left alone: those to which the paper resolves its contacts, m, and for small bodies
// this part of their size. Without such a rest the way out of one contact is the way into the next,
// and the contacts of a pile never come to an end.
static const double restOverlap = 1e-4;
static const double restPart = 2e-3;

typedef struct tpKeptRow {
    double bias[3], impulse[3], mu[2];
} tpKeptRow;

static double overlapOf(const tpTouch* touch, int contact) {
    const tpSystem* system = touch->system;
    const int bodies[2] = { touch->contacts[contact].bodyA, touch->contacts[contact].bodyB };
    double rest = restOverlap;
    for (int k = 0; k < 2; ++k) {
        if (tpSystem_IsDynamic(system, bodies[k])) {
            rest = fmin(rest, restPart * system->bodies.data[bodies[k]].reach);
        }
    }
    return -touch->contacts[contact].gap - rest;
}

static bool hasOverlap(const tpTouch* touch) {
    for (int i = 0; i < touch->contactCount; ++i) {
        if (overlapOf(touch, i) > 0.0) {
            return true;
        }
    }
    return false;
}

// The rows of the way out: overlaps move apart, what is apart may come together by its gap.
static void makeRows(tpBenderStep* step, tpKeptRow* kept) {
    tpTouch* touch = &step->start;
    const tpBenderSettings* settings = step->settings;
    double h = step->time.h;
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        double u[4];
        tpSweeper_ContactVelocity(&touch->sweeper, i, u);
        double left = fmax(0.0, u[0] + pack->bias[0][lane]); // room that the drift leaves
        double overlap = overlapOf(touch, i);
        double push = fmin(settings->gamma * pushPart * overlap / h, settings->pushOut);
        for (int k = 0; k < 3; ++k) {
            kept[i].bias[k] = pack->bias[k][lane];
            kept[i].impulse[k] = pack->impulse[k][lane];
            pack->bias[k][lane] = pack->impulse[k][lane] = 0.0;
        }
        kept[i].mu[0] = pack->muStatic[lane];
        kept[i].mu[1] = pack->muDynamic[lane];
        pack->muStatic[lane] = pack->muDynamic[lane] = 0.0;
        pack->bias[0][lane] = overlap > 0.0 ? -push : left;
    }
}

static void restoreRows(tpTouch* touch, const tpKeptRow* kept) {
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        for (int k = 0; k < 3; ++k) {
            pack->bias[k][lane] = kept[i].bias[k];
            pack->impulse[k][lane] = kept[i].impulse[k];
        }
        pack->muStatic[lane] = kept[i].mu[0];
        pack->muDynamic[lane] = kept[i].mu[1];
    }
}

bool tpPushOut_Move(tpBenderStep* step) {
    tpTouch* touch = &step->start;
    tpSweeper* sweeper = &touch->sweeper;
    if (!hasOverlap(touch)) {
        return true;
    }
    tpArena* arena = &step->system->arena;
    tpKeptRow* kept = TP_SCRATCH(arena, tpKeptRow, touch->contactCount);
    tpVelocity* way = TP_SCRATCH_ZEROED(arena, tpVelocity, step->time.bodyCount);
    if (kept == NULL || way == NULL) {
        return false;
    }
    sweeper->velocities = step->time.pushed;
    makeRows(step, kept);
    // Joints and torsional friction hold velocities, not ways: the joints are brought back after the step.
    int jointCount = sweeper->jointCount;
    sweeper->jointCount = 0;
    sweeper->velocities = way;
    for (int k = 0; k < pushSweeps; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    sweeper->jointCount = jointCount;
    sweeper->velocities = step->time.pushed;
    restoreRows(touch, kept);
    for (int i = 0; i < step->time.bodyCount; ++i) {
        tpVelocity* move = &step->time.moves[i];
        move->linear = tpAdd(move->linear, way[i].linear);
        move->angular = tpAdd(move->angular, way[i].angular);
    }
    return true;
}
