// Shock propagation on the contact graph [GuendelmanBridsonFedkiw03; BenderSchmitt06, sec. 3.2].
//
// Bodies are nodes, contacts edges, bodies that do not move by impulses the roots. Level by level
// from the roots normal impulses are found with the bodies of lower levels infinitely heavy:
//
//     level 2      [ ]          solved last, level 1 frozen
//     level 1    [ ] [ ]        solved first, against the ground
//     roots     ---------
//
// The pass changes the physics (what lies below cannot give way, momentum is not kept), so it is a
// start for sweeps with the true masses and never the end of a solve.
// Deviation from the paper: a pass back from the top hands each level the reactions that were kept
// from it, and solves it again. Without it loads do not add up on the way to the ground, and the
// sweeps that follow have to begin anew; with it a column of bodies is solved at once.

#include "steppers/bender_schmitt/shock.h"

// Updates of a level's contacts before it is left: enough for the four corners of a box to agree.
enum { levelSweeps = 8 };

typedef struct tpShock {
    tpSweeper* sweeper;
    int* levels; // of each body: steps from the roots; -1 if no root is reached
    int levelCount;
    // contacts by level; those of level l are order[starts[l]] .. order[starts[l + 1] - 1]
    int* order;
    int* starts;
    double* owed; // of each contact: impulse that a frozen body has not felt
} tpShock;

static bool takesPart(const tpContactPack* pack, int lane) {
    return pack->bias[0][lane] < TP_SWEEP_OPEN;
}

// Level by level over all contacts: as many passes as there are levels.
static void findLevels(tpShock* shock) {
    const tpSweeper* sweeper = shock->sweeper;
    int* levels = shock->levels;
    for (int i = 0; i < sweeper->bodyCount; ++i) {
        levels[i] = sweeper->bodies[i].inverseMass > 0.0 ? -1 : 0;
    }
    bool isReached = true;
    for (shock->levelCount = 0; isReached; ++shock->levelCount) {
        int below = shock->levelCount;
        isReached = false;
        for (int i = 0; i < sweeper->contactCount; ++i) {
            int lane;
            const tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
            int a = pack->bodyA[lane], b = pack->bodyB[lane];
            if (!takesPart(pack, lane) || (levels[a] != below && levels[b] != below)) {
                continue;
            }
            int above = levels[a] == below ? b : a;
            if (levels[above] < 0) {
                levels[above] = below + 1;
                isReached = true;
            }
        }
    }
}

// A contact is solved at the level of the higher of its bodies.
static int levelOf(const tpShock* shock, int contact) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(shock->sweeper, contact, &lane);
    int a = shock->levels[pack->bodyA[lane]], b = shock->levels[pack->bodyB[lane]];
    return !takesPart(pack, lane) || a < 0 || b < 0 ? 0 : a > b ? a : b;
}

// Counting sort.
static void sortContacts(tpShock* shock) {
    int count = shock->sweeper->contactCount;
    for (int i = 0; i < count; ++i) {
        shock->starts[levelOf(shock, i) + 1] += 1;
    }
    for (int level = 0; level < shock->levelCount; ++level) {
        shock->starts[level + 1] += shock->starts[level];
    }
    for (int i = count - 1; i >= 0; --i) {
        int level = levelOf(shock, i);
        shock->order[--shock->starts[level + 1]] = i;
    }
    // Each start has moved to that of the level itself, one place too far on.
    for (int level = 0; level < shock->levelCount; ++level) {
        shock->starts[level] = shock->starts[level + 1];
    }
    shock->starts[shock->levelCount] = count;
}

// Pushes the two bodies by a normal impulse; the frozen ones among them do not move.
static void push(const tpShock* shock, const tpContactPack* pack, int lane, double impulse,
                 bool movesA, bool movesB) {
    static const tpSweepBody frozen = { 0 };
    tpSweepBody* a = &shock->sweeper->bodies[pack->bodyA[lane]];
    tpSweepBody* b = &shock->sweeper->bodies[pack->bodyB[lane]];
    tpSweepBody keptA = *a, keptB = *b;
    const double change[4] = { impulse, 0.0, 0.0, 0.0 };
    *a = movesA ? keptA : frozen;
    *b = movesB ? keptB : frozen;
    tpSweeper_Push(shock->sweeper, pack, lane, change);
    *a = keptA;
    *b = keptB;
}

// The normal row of a contact with bodies below its level frozen.
static void solveNormal(tpShock* shock, int contact, int level) {
    tpSweeper* sweeper = shock->sweeper;
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(sweeper, contact, &lane);
    int a = pack->bodyA[lane], b = pack->bodyB[lane];
    bool movesA = shock->levels[a] >= level, movesB = shock->levels[b] >= level;
    // What an impulse does with the frozen masses is found by trying it.
    tpVelocity velocityA = sweeper->velocities[a], velocityB = sweeper->velocities[b];
    double probe = pack->inverseNormal[lane], u[4], pushed[4];
    tpSweeper_ContactVelocity(sweeper, contact, u);
    push(shock, pack, lane, probe, movesA, movesB);
    tpSweeper_ContactVelocity(sweeper, contact, pushed);
    sweeper->velocities[a] = velocityA;
    sweeper->velocities[b] = velocityB;
    double response = pushed[0] - u[0];
    if (!(response > 0.0)) {
        return;
    }
    double old = pack->impulse[0][lane];
    double sum = fmax(pack->low[lane], old - (u[0] + pack->bias[0][lane]) * probe / response);
    pack->impulse[0][lane] = sum;
    push(shock, pack, lane, sum - old, movesA, movesB);
    shock->owed[contact] += sum - old;
}

static void solveLevel(tpShock* shock, int level) {
    for (int sweep = 0; sweep < levelSweeps; ++sweep) {
        for (int k = shock->starts[level]; k < shock->starts[level + 1]; ++k) {
            solveNormal(shock, shock->order[k], level);
        }
    }
}

// Hands the bodies below the reactions they have not felt.
static void payLevel(tpShock* shock, int level) {
    for (int k = shock->starts[level]; k < shock->starts[level + 1]; ++k) {
        int contact = shock->order[k], lane;
        const tpContactPack* pack = tpSweeper_PackOf(shock->sweeper, contact, &lane);
        bool owesA = shock->levels[pack->bodyA[lane]] < level;
        bool owesB = shock->levels[pack->bodyB[lane]] < level;
        push(shock, pack, lane, shock->owed[contact], owesA, owesB);
        shock->owed[contact] = 0.0;
    }
}

bool tpShock_Propagate(tpSweeper* sweeper, tpArena* arena) {
    tpArenaMark mark = tpArena_Mark(arena);
    tpShock shock = { sweeper, NULL, 0, NULL, NULL, NULL };
    shock.levels = TP_SCRATCH(arena, int, sweeper->bodyCount);
    shock.order = TP_SCRATCH(arena, int, sweeper->contactCount);
    shock.owed = TP_SCRATCH_ZEROED(arena, double, sweeper->contactCount);
    if (arena->failed) {
        return false;
    }
    findLevels(&shock);
    shock.starts = TP_SCRATCH_ZEROED(arena, int, shock.levelCount + 1);
    if (arena->failed) {
        return false;
    }
    sortContacts(&shock);
    for (int level = 1; level < shock.levelCount; ++level) {
        solveLevel(&shock, level);
    }
    for (int level = shock.levelCount - 1; level > 1; --level) {
        payLevel(&shock, level);
        solveLevel(&shock, level - 1);
    }
    tpArena_Release(arena, mark);
    return true;
}
