// Overlaps that a large problem leaves at the end of its drift, and those of a step that has cost
// all it may.
//
// They come from unfinished solves, from contacts that were none at the start of the step, and from
// edges that turn about each other. Each is taken back to a depth that may stay: bodies are moved
// along the contacts' normals, as far as masses and neighbours say, by light sweeps without
// friction (sweeps/light_solve.h), in metres instead of metres a second; contacts are looked for
// again, and so on until none is deeper. Only bodies that overlap, and their neighbours, take part;
// each round that is needed adds the neighbours of those. Contacts that are farther from closing
// than a few times the longest way out are left out.
//
// Deviation from the paper: [BenderSchmitt06] takes an overlap back by the impulses of (8), which
// also give the bodies the velocity of the way out. In a high wall that is solved within a budget,
// these velocities feed a swaying that nothing damps (a wall of 20 layers gains a joule in four
// seconds, and stands still without them). Here velocities stay as they are, in the bodies' own
// axes.

#include "steppers/push_out.h"

#include <string.h>

#include "dynamics/contact_law.h"
#include "dynamics/forces.h"
#include "dynamics/step_budget.h"
#include "dynamics/sweep_input.h"
#include "sweeps/light_solve.h"

// Light sweeps of a round.
enum { maxSweeps = 512 };

// Neighbours of neighbours that take part: where the first that do not are pushed into others, it
// takes another round.
enum { rings = 3 };

// What is squeezed between bodies that do not give way stays so: that many rounds that leave more
// than this part.
enum { maxIdleRounds = 12 };
static const double gainPart = 0.9;

// Small bodies keep no more than this part of their size.
static const double restPart = 2e-3;

// Parts of that: to which a deeper one is taken back, and which the others may not exceed on the
// way.
static const double targetPart = 0.5, roomPart = 0.9;

// What a round may miss, root of the sum of squares, as a part of it.
static const double missPart = 0.1;

// Contacts with room for more than this, in longest ways out, are left out.
static const double farWays = 4.0;

// The overlap that a contact may keep.
static double restOf(const tpPushOut* push, const tpContact* contact) {
    const tpSystem* system = push->system;
    const int bodies[2] = { contact->bodyA, contact->bodyB };
    double rest = push->rest;
    for (int k = 0; k < 2; ++k) {
        if (tpSystem_IsDynamic(system, bodies[k])) {
            rest = fmin(rest, restPart * system->bodies.data[bodies[k]].reach);
        }
    }
    return rest;
}

static double keptOf(const tpPushOut* push, int contact) {
    return push->kept != NULL ? push->kept[contact] : 0.0;
}

static void include(tpPushOut* push, const tpContact* contact) {
    push->isMoved[contact->bodyA] = push->isMoved[contact->bodyB] = true;
}

// How far a contact may close, m; negative: it has to open.
static double roomOf(const tpPushOut* push, int contact) {
    const tpContact* at = &push->found[contact];
    double rest = restOf(push, at), kept = keptOf(push, contact), depth = -at->gap;
    return depth > fmax(rest, kept) ? fmax(targetPart * rest, kept) - depth
                                    : fmax(roomPart * rest - depth, 0.0);
}

// Bodies that have to move; returns by how much they overlap too deep, all together, m.
static double findDeep(tpPushOut* push) {
    double sum = 0.0;
    push->longest = 0.0;
    for (int i = 0; i < push->foundCount; ++i) {
        const tpContact* contact = &push->found[i];
        double most = fmax(restOf(push, contact), keptOf(push, i) * (1.0 + 1e-12));
        if (-contact->gap > most) {
            include(push, contact);
            sum += -contact->gap - most;
            push->longest = fmax(push->longest, -roomOf(push, i));
        }
    }
    return sum;
}

static bool takesPart(const tpPushOut* push, const tpContact* contact) {
    const tpSystem* system = push->system;
    return (push->isMoved[contact->bodyA] && tpSystem_IsDynamic(system, contact->bodyA)) ||
           (push->isMoved[contact->bodyB] && tpSystem_IsDynamic(system, contact->bodyB));
}

// The contacts of bodies that take part, and the room that each has.
static void gather(tpPushOut* push) {
    double far = farWays * push->longest;
    push->nearCount = 0;
    for (int i = 0; i < push->foundCount; ++i) {
        if (push->found[i].gap < far && takesPart(push, &push->found[i])) {
            push->near[push->nearCount] = push->found[i];
            push->room[push->nearCount] = roomOf(push, i);
            push->nearCount += 1;
        }
    }
}

// The contacts of this round, and of what they touch.
static void gatherRings(tpPushOut* push) {
    gather(push);
    for (int ring = 1; ring < rings; ++ring) {
        for (int i = 0; i < push->nearCount; ++i) {
            include(push, &push->near[i]);
        }
        gather(push);
    }
}

static void moveBodies(const tpPushOut* push, const tpVelocity* way) {
    tpSystem* system = push->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        double size = tpLengthSquared(way[i].linear) + tpLengthSquared(way[i].angular);
        if (!tpSystem_IsDynamic(system, i) || size == 0.0) {
            continue;
        }
        tpPose* pose = &system->poses.data[i];
        tpQuat turn = tpQuatExp(way[i].angular);
        pose->position = tpAdd(pose->position, way[i].linear);
        pose->rotation = tpNormalizeQuat(tpMulQQ(turn, pose->rotation));
        // In the body's axes its velocity stays the same: so does its energy.
        tpVec3* spin = &system->velocities.data[i].angular;
        *spin = tpRotate(turn, *spin);
    }
}

// One round: the least way, by mass, after which nothing is too deep, as far as directions stay the
// same.
static bool moveApart(tpPushOut* push) {
    tpSystem* system = push->system;
    tpArena* arena = &system->arena;
    tpSweeper sweeper;
    push->near = TP_SCRATCH(arena, tpContact, push->foundCount);
    push->room = TP_SCRATCH(arena, double, push->foundCount);
    if (arena->failed) {
        return false;
    }
    gatherRings(push);
    int count = push->nearCount;
    tpContactLaw* laws = TP_SCRATCH_ZEROED(arena, tpContactLaw, count); // no friction
    tpVelocity* rest = TP_SCRATCH_ZEROED(arena, tpVelocity, system->bodyCount);
    tpVelocity* way = TP_SCRATCH_ZEROED(arena, tpVelocity, system->bodyCount);
    if (laws == NULL || rest == NULL || way == NULL ||
        !tpSystem_CreateSweeper(system, system->poses.data, push->near, laws, count, arena,
                                &sweeper)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&sweeper, i, &lane);
        pack->bias[0][lane] = push->room[i];
    }
    sweeper.velocities = way;
    tpLightTask task = {
        .start = rest, .goal = missPart * push->rest, .limit = maxSweeps, .stop = system->stop
    };
    if (!tpLight_Solve(&sweeper, &task, arena)) {
        return false;
    }
    moveBodies(push, way);
    return true;
}

bool tpPushOut_Settle(tpPushOut* push) {
    tpSystem* system = push->system;
    tpArena* arena = &system->arena;
    push->isMoved = TP_SCRATCH_ZEROED(arena, bool, system->bodyCount);
    if (push->isMoved == NULL) {
        return false;
    }
    double least = INFINITY;
    int idle = 0;
    for (int round = 0; round < push->rounds && !tpSystem_IsStopped(system); ++round) {
        double left = findDeep(push);
        idle = left > gainPart * least ? idle + 1 : 0;
        least = fmin(least, left);
        if (!(left > 0.0) || idle == maxIdleRounds) {
            break;
        }
        double energy = tpSystem_Energy(system);
        tpArenaMark mark = tpArena_Mark(arena);
        bool isDone = moveApart(push);
        tpArena_Release(arena, mark);
        if (!isDone || !push->look(push)) {
            return false;
        }
        // What has been lifted has lost less than the impulses say.
        push->report->impactLoss -= tpSystem_Energy(system) - energy;
    }
    return true;
}
