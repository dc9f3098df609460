// Which contacts are few: islands of mechanisms, of bodies that they touch and of all their
// contacts, other islands beside them, and the way of these contacts out of the packs and back.

#include "steppers/small_steps/few_contacts.h"

#include <string.h>

#include "base/forest.h"

// Contacts that may close in a step are few if they have no more rows than a dense factorisation is
// worth; those that a search has found, and may not close, as many more as memory is worth.
enum { mostRows = 120, mostPoints = 40 };

// In a crowd of mechanisms all contacts are swept: to solve those of each exactly takes two to
// three times as long, and where many move it is speed that is asked for. Islands that have too
// many contacts of their own count too: 20 ragdolls, most of them in heaps, took twice as long
// while one or two that lay aside were solved exactly, in steps that have no certificate anyway.
enum { mostSceneRows = 128 };

// Of bodies without joints beside them: a box at rest takes 23,000 instructions more per step than
// its sweeps do, one that slides two to three times as many.
enum { mostLooseRows = 64 };

// Traces cost as much as solves if their lengths add up to so many times the bodies.
enum { tracePerNode = 8, freeTrace = 512 };

// An island, by the least of its numbers.
typedef struct Tally {
    int32_t mechanisms, nodes, points, rows, lanes, work, room, block;
    int32_t place; // among those that are few; -1: not one of them
    bool isBarred; // it has what is not solved here
} Tally;

typedef struct Census {
    tpSmallStep* step;
    int32_t* parents; // of each number, towards the least number of its island
    Tally* tallies;   // of each number
} Census;

static bool isMoved(const tpSmallStep* step, int number) {
    return step->masses[number].inverseMass > 0.0;
}

static tpArticulation* ownerOf(const tpSmallStep* step, int number) {
    int body = step->state->bodies.data[number];
    int32_t owner = body >= 0 ? step->state->map.owners.data[body] : -1;
    return owner >= 0 ? &step->joints->list[step->joints->listPlaces[owner]] : NULL;
}

static int nodeOf(const tpSmallStep* step, int number) {
    return step->state->map.nodes.data[step->state->bodies.data[number]];
}

// Points of a lane that may close in the step. All that a preparation finds are among them: it asks
// for an eighth of what bodies may move, beyond what they will.
static int countNear(const tpSmallStep* step, const tpSoftRun* run, int lane) {
    int count = 0;
    double way =
        1.15 * (step->masses[run->bodyA[lane]].spare + step->masses[run->bodyB[lane]].spare);
    for (int k = 0; k < run->points[lane]; ++k) {
        const tpSoftPack* pack = &run->packs[k];
        count += pack->isPoint[lane] > 0 && pack->gap[lane] <= way ? 1 : 0;
    }
    return count;
}

typedef struct Lengths {
    int trace, answer;
    int work; // in axes of a tree, or in nodes of another mechanism
} Lengths;

static Lengths lengthsOf(const tpSmallStep* step, int number) {
    const tpArticulation* owner = isMoved(step, number) ? ownerOf(step, number) : NULL;
    if (owner != NULL && owner->isTree) {
        int length = owner->traceLengths[nodeOf(step, number)];
        return (Lengths){ length, length, length };
    }
    if (owner != NULL) {
        return (Lengths){ 6, 6 * owner->solver.nodeCount, owner->solver.nodeCount };
    }
    return isMoved(step, number) ? (Lengths){ 6, 6, 6 } : (Lengths){ 0, 0, 0 };
}

// Calls back for each lane of which a body moves, in the order of sweeps.
typedef void (*LaneVisitor)(Census* census, int run, int lane);

static void visitLanes(Census* census, LaneVisitor visit) {
    const tpSmallStep* step = census->step;
    const tpPackStore* store = &step->state->store;
    for (int i = 0; i < store->order.count; ++i) {
        const tpSoftRun* run = &store->runs.data[store->order.data[i]];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if ((run->used >> lane & 1) != 0 &&
                (isMoved(step, run->bodyA[lane]) || isMoved(step, run->bodyB[lane]))) {
                visit(census, store->order.data[i], lane);
            }
        }
    }
}

static void connectLane(Census* census, int index, int lane) {
    const tpSoftRun* run = &census->step->state->store.runs.data[index];
    int32_t a = run->bodyA[lane], b = run->bodyB[lane];
    if (isMoved(census->step, a) && isMoved(census->step, b)) {
        tpForest_Join(census->parents, a, b);
    }
}

static Tally* tallyOf(const Census* census, int index, int lane) {
    const tpSoftRun* run = &census->step->state->store.runs.data[index];
    int32_t a = run->bodyA[lane];
    int32_t moving = isMoved(census->step, a) ? a : run->bodyB[lane];
    return &census->tallies[tpForest_Root(census->parents, moving)];
}

static void countLane(Census* census, int index, int lane) {
    const tpSmallStep* step = census->step;
    const tpPackStore* store = &step->state->store;
    const tpSoftRun* run = &store->runs.data[index];
    Tally* tally = tallyOf(census, index, lane);
    int near = countNear(step, run, lane);
    tally->lanes += 1;
    tally->block = run->group;
    tally->points += run->points[lane];
    bool isTorsional = (run->torsional >> lane & 1) != 0;
    tally->rows += (isTorsional ? 4 : 3) * near;
    Lengths a = lengthsOf(step, run->bodyA[lane]), b = lengthsOf(step, run->bodyB[lane]);
    tally->work += run->points[lane] * (a.work + b.work);
    tally->room += run->points[lane] * (a.trace + a.answer + b.trace + b.answer);
    tally->isBarred = tally->isBarred || run->group >= store->blockCount;
}

static void countMechanism(const Census* census, const tpArticulation* articulation) {
    Tally* tally = &census->tallies[tpForest_Root(census->parents, numberOf(articulation, 0))];
    tally->mechanisms += 1;
    tally->nodes += articulation->solver.nodeCount;
    tally->isBarred = tally->isBarred || !articulation->isAwake;
    tally->block = census->step->state->store.blocks.data[numberOf(articulation, 0)];
}

static bool isFew(const Tally* tally) {
    return !tally->isBarred && tally->points > 0 && tally->points <= mostPoints &&
           tally->rows <= mostRows && tally->work <= tracePerNode * tally->nodes + freeTrace;
}

// Says which islands are solved here: those with mechanisms if these are few, others if all are
// few, since one island that is swept leaves the step without its certificate. The places of a
// block's islands are side by side, as its numbers are.
static void choose(const Census* census, tpFewContactsList* few) {
    int count = census->step->count, jointedRows = 0, rows = 0;
    bool areAllFew = true;
    for (int n = 0; n < count; ++n) {
        const Tally* tally = &census->tallies[n];
        bool isOne = isFew(tally);
        jointedRows += tally->mechanisms > 0 ? tally->rows : 0;
        rows += tally->rows;
        areAllFew = areAllFew && (isOne || tally->lanes == 0);
    }
    bool takesJointed = jointedRows <= mostSceneRows;
    bool takesLoose = areAllFew && takesJointed && rows - jointedRows <= mostLooseRows;
    for (int n = 0; n < count; ++n) {
        Tally* tally = &census->tallies[n];
        bool isTaken = isFew(tally) && (tally->mechanisms > 0 ? takesJointed : takesLoose);
        tally->place = -1;
        if (isTaken) {
            tally->place = few->count++;
            few->blockStart[tally->block + 1] += 1;
        }
    }
}

static bool takeCensus(Census* census) {
    tpSmallStep* step = census->step;
    const tpStepJoints* joints = step->joints;
    census->parents = TP_SCRATCH(&step->system->arena, int32_t, step->count);
    census->tallies = TP_SCRATCH_ZEROED(&step->system->arena, Tally, step->count);
    if (step->system->arena.failed) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        census->parents[n] = n;
    }
    for (int m = 0; m < joints->count; ++m) {
        const tpArticulation* articulation = &joints->list[m];
        int least = numberOf(articulation, 0);
        for (int i = 1; i < articulation->solver.nodeCount; ++i) {
            int number = numberOf(articulation, i);
            least = number < least ? number : least;
        }
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            census->parents[numberOf(articulation, i)] = least;
        }
    }
    visitLanes(census, connectLane);
    visitLanes(census, countLane);
    for (int m = 0; m < joints->count; ++m) {
        countMechanism(census, &joints->list[m]);
    }
    return true;
}

// Room for one island.
static void takeRoom(const Tally* tally, tpArena* arena, tpFewContacts* few) {
    enum { rowsPerPoint = tp_traceWidth };
    size_t points = (size_t)tally->points, rows = points * rowsPerPoint;
    few->lanes = TP_SCRATCH(arena, tpFewLane, tally->lanes);
    few->owners = TP_SCRATCH(arena, tpArticulation*, tally->mechanisms);
    few->contacts = TP_SCRATCH(arena, tpFewContact, points);
    few->traceRoom = tpArena_Get(arena, sizeof(*few->traceRoom) * ((size_t)tally->room + 2));
    tpFrictionStates_Reserve(&few->states, arena, tally->points, (int)rows);
    few->states.W = few->W = TP_SCRATCH(arena, double, rows* rows);
    few->u = few->states.u;
    few->solved = few->states.solved;
    few->q = TP_SCRATCH(arena, double, rows);
    few->r = TP_SCRATCH(arena, double, rows);
    few->first = TP_SCRATCH(arena, double, rows);
    few->swept = TP_SCRATCH(arena, double, rows);
    few->change = TP_SCRATCH(arena, double, rows + tp_traceWidth - 1);
    few->mu = TP_SCRATCH(arena, double, points);
    few->dimensions = TP_SCRATCH(arena, int, points);
    few->kinds = TP_SCRATCH_ZEROED(arena, unsigned char, points);
}

static void placeLane(Census* census, int index, int lane) {
    const tpSmallStep* step = census->step;
    const Tally* tally = tallyOf(census, index, lane);
    if (tally->place >= 0) {
        tpFewContacts* few = &step->joints->few.list[tally->place];
        few->lanes[few->laneCount++] = (tpFewLane){ index, lane };
        step->exactLanes[index] |= (uint8_t)(1u << lane);
    }
}

// Threads share the memory that the arenas of blocks come from: these get no more of it later.
static void* getNothing(size_t size, void* context) {
    (void)size;
    (void)context;
    return NULL;
}

static void leaveNothing(void* memory, size_t size, void* context) {
    (void)memory;
    (void)size;
    (void)context;
}

// A block's islands are solved one after the other, with the same scratch.
static bool openArenas(tpSmallStep* step, const Tally* tallies) {
    tpFewContactsList* few = &step->joints->few;
    tpArena* arena = &step->system->arena;
    tpAllocator allocator = tpArena_AsAllocator(arena);
    int blocks = step->state->store.blockCount;
    int32_t* rows = TP_SCRATCH_ZEROED(arena, int32_t, blocks);
    int32_t* near = TP_SCRATCH_ZEROED(arena, int32_t, blocks);
    few->arenas = TP_SCRATCH(arena, tpArena, blocks);
    if (arena->failed) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        if (tallies[n].place >= 0) {
            int32_t* most = &rows[tallies[n].block];
            int32_t own = tp_traceWidth * tallies[n].points;
            *most = own > *most ? own : *most;
            int32_t* nearMost = &near[tallies[n].block];
            *nearMost = tallies[n].rows > *nearMost ? tallies[n].rows : *nearMost;
        }
    }
    for (int b = 0; b < blocks; ++b) {
        tpArena_Create(&few->arenas[b], &allocator);
        if (rows[b] > 0) {
            tpArenaMark mark = tpArena_Mark(&few->arenas[b]);
            if (tpArena_Get(&few->arenas[b], tpFewContacts_ScratchSize(rows[b], near[b])) == NULL) {
                return false;
            }
            tpArena_Release(&few->arenas[b], mark);
        }
        few->arenas[b].allocator = (tpAllocator){ getNothing, leaveNothing, NULL };
    }
    return true;
}

bool tpFewContacts_Place(tpSmallStep* step) {
    tpStepJoints* joints = step->joints;
    tpFewContactsList* few = &joints->few;
    tpArena* arena = &step->system->arena;
    int blocks = step->state->store.blockCount;
    Census census = { .step = step };
    few->blockStart = TP_SCRATCH_ZEROED(arena, int32_t, (size_t)blocks + 1);
    if (arena->failed || !takeCensus(&census)) {
        return false;
    }
    choose(&census, few);
    if (few->count == 0) {
        return true;
    }
    for (int b = 0; b < blocks; ++b) {
        few->blockStart[b + 1] += few->blockStart[b];
    }
    few->list = TP_SCRATCH_ZEROED(arena, tpFewContacts, few->count);
    step->exactLanes = TP_SCRATCH_ZEROED(arena, uint8_t, step->state->store.runs.count);
    if (arena->failed) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        if (census.tallies[n].place >= 0) {
            takeRoom(&census.tallies[n], arena, &few->list[census.tallies[n].place]);
        }
    }
    if (arena->failed || !openArenas(step, census.tallies)) {
        return false;
    }
    for (int m = 0; m < joints->count; ++m) {
        tpArticulation* articulation = &joints->list[m];
        int32_t place =
            census.tallies[tpForest_Root(census.parents, numberOf(articulation, 0))].place;
        if (place >= 0) {
            articulation->hasFewContacts = true;
            few->list[place].owners[few->list[place].ownerCount++] = articulation;
        }
    }
    visitLanes(&census, placeLane);
    return true;
}

// Out of the packs --------------------------------------------------------------------------------

static void writeEnd(const tpSmallStep* step, int number, double sign, const tpFewContact* contact,
                     const tpVec3* directions, tpVec3 arm, double spinArm, tpFewContacts* few,
                     tpContactEnd* end) {
    static const tpVelocity none = { 0 };
    end->number = number;
    end->isMoved = isMoved(step, number);
    end->isStill = !end->isMoved && tpIsSameVelocity(&step->velocities[number], &none) &&
                   tpIsSameVelocity(&step->kicks[number], &none);
    end->owner = NULL;
    end->node = end->length = end->answerLength = 0;
    if (end->isStill) {
        return;
    }
    end->owner = end->isMoved ? ownerOf(step, number) : NULL;
    end->node = end->owner != NULL ? nodeOf(step, number) : 0;
    Lengths lengths = lengthsOf(step, number);
    end->length = lengths.trace;
    end->answerLength = lengths.answer;
    end->traces = few->traceRoom + few->traceUsed;
    end->answers = end->traces + end->length;
    few->traceUsed += (size_t)(lengths.trace + lengths.answer);
    const double* free =
        end->owner != NULL && !end->owner->isTree ? end->owner->masses[end->node].free : NULL;
    for (int i = 0; i < tp_traceWidth; ++i) {
        double* row = end->jacobian[i];
        if (i < contact->rows) {
            // The fourth row is the spin about the normal, times its arm.
            bool isSpin = i == 3;
            tpVec3 linear = isSpin ? tpZeroVec3() : tpScale(sign, directions[i]);
            tpVec3 angular = isSpin ? tpScale(sign * spinArm, directions[0]) : tpCross(arm, linear);
            const double six[6] = { linear.x, linear.y, linear.z, angular.x, angular.y, angular.z };
            for (int k = 0; k < 6; ++k) {
                row[k] = free != NULL ? free[k] * six[k] : six[k];
            }
        } else {
            memset(row, 0, sizeof(end->jacobian[i]));
        }
        for (int k = 0; k < 6; ++k) {
            end->components[k][i] = row[k];
        }
    }
}

static tpVec3 vectorOf(float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

// The torsional row of a point, NULL if the lane has none.
static tpSoftTorsion* torsionOf(const tpSoftRun* run, int lane, int point) {
    return (run->torsional >> lane & 1) != 0 ? &run->torsions[point] : NULL;
}

static double inverseOrZero(double a) {
    return a > 0.0 ? 1.0 / a : 0.0;
}

// What a pack says of the diagonal of W, and back: it has inverses.
static void readResponse(const tpSoftPack* pack, int lane, double own[3]) {
    double tt = pack->stick[0][lane], to = pack->stick[1][lane], oo = pack->stick[2][lane];
    double inverse = inverseOrZero(tt * oo - to * to);
    own[0] = inverseOrZero(pack->inverseNormal[lane]);
    own[1] = inverse * oo;
    own[2] = inverse * tt;
}

static void writeResponse(tpSoftPack* pack, int lane, const double own[3]) {
    pack->inverseNormal[lane] = inverseOrZero(own[0]);
    pack->stick[0][lane] = (float)inverseOrZero(own[1]);
    pack->stick[1][lane] = 0.0f;
    pack->stick[2][lane] = (float)inverseOrZero(own[2]);
    pack->slide[lane] = (float)inverseOrZero(fmax(own[1], own[2]));
}

static double bounceOf(const tpSmallStep* step, const tpSoftRun* run, int lane, int point) {
    return run->bounces ? step->sweep.bounces[run->first + point].speed[lane] : 0.0;
}

// How much a contact that is pushed out gives: by the masses of its bodies alone, as in the sweeps.
static double easeOf(const tpSmallStep* step, const tpFewContact* contact) {
    const tpSoftness* soft = &step->sweep.softness;
    double response = 0.0;
    for (int side = 0; side < 2; ++side) {
        const tpContactEnd* end = &contact->ends[side];
        if (end->isMoved) {
            const tpSweepBody* own =
                end->owner != NULL ? &end->owner->own[end->node] : &step->masses[end->number];
            response += tpSweepBody_Response(own, end->jacobian[0]);
        }
    }
    return response * (1.0 - soft->mass) / soft->mass;
}

static void takeContact(const tpSmallStep* step, tpSoftRun* run, int lane, int point,
                        tpFewContacts* few) {
    tpSoftPack *pack = &run->packs[point], *framed = run->isFlat ? run->packs : pack;
    tpFewContact* contact = &few->contacts[few->contactCount];
    const tpVec3 directions[3] = { vectorOf(framed->normal, lane),
                                   vectorOf(framed->tangents[0], lane),
                                   vectorOf(framed->tangents[1], lane) };
    contact->run = run;
    contact->lane = lane;
    contact->point = point;
    contact->row = few->rowCount;
    contact->startGap = pack->startGap[lane];
    contact->bounce = bounceOf(step, run, lane, point);
    contact->gap = contact->bias = contact->give = contact->rigid = 0.0;
    memset(contact->total, 0, sizeof(contact->total));
    readResponse(pack, lane, contact->own);
    bool isRough = run->muStatic[lane] > 0.0;
    bool isPlanar = tpLengthSquared(directions[2]) == 0.0;
    tpSoftTorsion* torsion = torsionOf(run, lane, point);
    double spinArm = torsion != NULL ? torsion->arm[lane] : 0.0;
    contact->rows = !isRough ? 1 : isPlanar ? 2 : spinArm > 0.0 ? 4 : 3;
    writeEnd(step, run->bodyA[lane], 1.0, contact, directions, vectorOf(pack->armA, lane), spinArm,
             few, &contact->ends[0]);
    writeEnd(step, run->bodyB[lane], -1.0, contact, directions, vectorOf(pack->armB, lane), spinArm,
             few, &contact->ends[1]);
    contact->ease = easeOf(step, contact);
    few->hasTorsion = few->hasTorsion || contact->rows > 3;
    for (int i = 0; i < contact->rows; ++i) {
        few->r[few->rowCount + i] = i < 3 ? pack->impulse[i][lane] : torsion->impulse[lane];
    }
    few->states.contacts[few->contactCount] =
        (tpStatedContact){ .row = contact->row,
                           .rows = contact->rows,
                           .muStatic = run->muStatic[lane],
                           .muDynamic = run->muDynamic[lane] };
    few->dimensions[few->contactCount] = contact->rows;
    few->states.contactCount = few->contactCount += 1;
    few->states.rowCount = few->rowCount += contact->rows;
}

// Sweeps find nothing to do in this lane.
static void silenceLane(const tpSoftRun* run, int lane) {
    for (int k = 0; k < run->active; ++k) {
        tpSoftPack* pack = &run->packs[k];
        pack->inverseNormal[lane] = 0.0;
        pack->slide[lane] = pack->coupling[0][lane] = pack->coupling[1][lane] = 0.0f;
        for (int i = 0; i < 3; ++i) {
            pack->stick[i][lane] = 0.0f;
            pack->impulse[i][lane] = 0.0;
        }
        // Without a load sweeps leave torsion without an impulse.
        tpSoftTorsion* torsion = torsionOf(run, lane, k);
        if (torsion != NULL) {
            torsion->impulse[lane] = 0.0;
        }
    }
}

void tpFewContacts_Open(tpSmallStep* step, int block) {
    const tpFewContactsList* list = &step->joints->few;
    for (int i = list->blockStart[block]; i < list->blockStart[block + 1]; ++i) {
        tpFewContacts* few = &list->list[i];
        few->isSlow = few->isCalm = true;
        for (int m = 0; m < few->ownerCount; ++m) {
            few->isSlow = few->isSlow && few->owners[m]->isSlow;
            few->isCalm = few->isCalm && !few->owners[m]->isFast;
        }
        for (int l = 0; l < few->laneCount; ++l) {
            int lane = few->lanes[l].lane;
            tpSoftRun* run = &step->state->store.runs.data[few->lanes[l].run];
            for (int k = 0; k < run->active; ++k) {
                if (run->packs[k].inverseNormal[lane] > 0.0) {
                    takeContact(step, run, lane, k, few);
                }
            }
            silenceLane(run, lane);
        }
        // Feet with torsion creep as they are meant to.
        few->isCalm = few->isCalm && !few->hasTorsion;
        // What is behind the last row is read with it.
        memset(few->change + few->rowCount, 0, sizeof(double) * (tp_traceWidth - 1));
        tpFewContacts_Start(few);
    }
}

// And back ----------------------------------------------------------------------------------------

void tpFewContacts_Return(const tpSmallStep* step, const tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        const tpSoftRun* run = contact->run;
        int lane = contact->lane;
        tpSoftPack* pack = &run->packs[contact->point];
        double own[3] = { contact->own[0], contact->own[1], contact->own[2] };
        pack->gap[lane] = (float)contact->gap;
        if (run->bounces) {
            step->sweep.bounces[run->first + contact->point].speed[lane] = (float)contact->bounce;
        }
        for (int i = 0; i < contact->rows; ++i) {
            size_t row = (size_t)(contact->row + i);
            tpSoftTorsion* torsion = torsionOf(run, lane, contact->point);
            *(i < 3 ? &pack->impulse[i][lane] : &torsion->impulse[lane]) = few->r[row];
            *(i < 3 ? &pack->total[i][lane] : &torsion->total[lane]) = contact->total[i];
            // The certificate's measure of velocities against impulses: the bodies' own masses, if
            // W was not asked for.
            double weight = few->isBuilt ? few->W[row * (size_t)few->rowCount + row] : 0.0;
            if (few->isBuilt && i < 3) {
                own[i] = weight;
            } else if (few->isBuilt) {
                torsion->friction[5][lane] = (float)weight;
            }
        }
        // In the plane friction has one direction.
        own[2] = contact->rows == 2 ? own[1] : own[2];
        writeResponse(pack, lane, own);
    }
}
