// Memory of the mechanisms of a step, and what is done before and after the substeps.

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/joint_laws.h"
#include "steppers/small_steps/articulation_tree.h"
#include "steppers/small_steps/few_contacts.h"
#include "steppers/small_steps/flights.h"
#include "steppers/small_steps/hinges.h"
#include "steppers/small_steps/plain_laws.h"
#include "sweeps/tree_packs.h"

// The part of a list of rows from a block and a row on.
static tpRows partOfRows(const tpRows* all, int block, int row, int term, int blocks, int rows,
                         int terms) {
    tpRows slice = *all;
    size_t wide = (size_t)row * (size_t)all->componentCount;
    slice.blockCapacity = blocks;
    slice.rowCapacity = rows;
    slice.infos += block;
    slice.firstRows += block;
    slice.dimensions += block;
    slice.kinds += block;
    slice.mu += block;
    slice.bodyA += block;
    slice.bodyB += block;
    slice.givenA += block;
    slice.givenB += block;
    slice.scale += row;
    slice.compliance += row;
    slice.damping += row;
    slice.rotor += row;
    slice.missed += row;
    slice.bias += row;
    slice.q += row;
    slice.impulse += row;
    slice.velocity += row;
    slice.firstTerms += row;
    slice.termCounts += row;
    slice.terms += term;
    slice.termCapacity = terms;
    slice.jacobianA += wide;
    slice.jacobianB += wide;
    return slice;
}

// Memory of all mechanisms, one array of each kind.
typedef struct Room {
    tpRows rows, ends;
    tpMechanismTerm* terms;
    tpMechanismRow* solverRows;
    tpRowAnswer* answers;
    tpArticulatedRow* laws;
    double *errors, *lateErrors;
    bool* isLoose;
    tpNodeMass *masses, *felt;
    tpSweepBody* own;
    double *pushes, *changes, *given, *begun, *last, *bases, *moved, *momenta, *shifts;
    int32_t *numbers, *touching;
    tpNodeFlight* flights;
    double (*diagonal)[36];
    bool* isStale;
    double (*blocks)[36];
    double (*inverses)[36];
    double (*between)[36];
    tpSpatialInertia* responses;
    tpJointNode* treeNodes;
    tpJointAxis* treeAxes;
    tpAxisRow* treeRows;
    int32_t* nearRows;
    tpFlightPack* flightPacks;
    tpTreePack* treePacks;
    tpTreePackAxis* packAxes;
    tpNodePlace* nodePlaces;
    tpAxisPlace* axisPlaces;
    double* axisPushes;
    int32_t* traceLengths;
    tpVec3* startArms;
    double *impulses, *startJumps, *jumps, *reactions;
} Room;

// Numbers of blocks, rows, terms, axes and packs of bodies.
typedef struct tpMechanismExtent {
    int blocks, rows, terms, axes, packs;
} Extent;

static void addExtent(Extent* sum, const Extent* more) {
    sum->blocks += more->blocks;
    sum->rows += more->rows;
    sum->terms += more->terms;
    sum->axes += more->axes;
    sum->packs += more->packs;
}

// Counts rows and axes of the joints of all mechanisms, if there are others than last time.
static void countJoints(tpMechanismMap* map, const tpSystem* system) {
    if (map->countedStructure == system->structure && map->countedLaws == system->lawChanges) {
        return;
    }
    for (int m = 0; m < map->count; ++m) {
        tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
        at->blocks = at->rows = at->axes = 0;
        at->areCarried = true;
        for (int k = at->joint; k < end->joint; ++k) {
            const tpJoint* joint = &system->joints.data[map->joints.data[k]];
            tpJoint_CountRows(joint, &at->blocks, &at->rows);
            at->axes += tpTree_AxisCount(joint);
            at->areCarried = at->areCarried && tpTree_Carries(joint);
        }
    }
    map->countedStructure = system->structure;
    map->countedLaws = system->lawChanges;
}

// Of each mechanism, in the arena, and of all. NULL if memory ran out.
static Extent* measure(const tpSmallStep* step, Extent* all) {
    const tpSystem* system = step->system;
    const tpMechanismMap* map = &step->state->map;
    countJoints(&step->state->map, system);
    Extent* sizes = TP_SCRATCH(&step->system->arena, Extent, map->count);
    memset(all, 0, sizeof(*all));
    for (int m = 0; sizes != NULL && m < map->count; ++m) {
        const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
        Extent* size = &sizes[m];
        *size = (Extent){ .blocks = at->blocks, .rows = at->rows, .axes = at->axes };
        for (int k = at->coupling; k < end->coupling; ++k) {
            tpCoupling_Count(&system->couplings.data[map->couplings.data[k]], &size->blocks,
                             &size->rows, &size->terms);
        }
        size->packs = tpFlights_PackCount(end->node - at->node);
        addExtent(all, size);
    }
    return sizes;
}

static bool takeTreeRoom(const tpSmallStep* step, const Extent* all, Room* room) {
    tpArena* arena = &step->state->jointRoom;
    size_t nodes = (size_t)step->state->map.bodies.count;
    int axes = all->axes, packs = all->packs, rows = all->rows;
    room->treeNodes = TP_SCRATCH(arena, tpJointNode, nodes);
    room->treeAxes = TP_SCRATCH(arena, tpJointAxis, axes);
    room->treeRows = TP_SCRATCH(arena, tpAxisRow, rows);
    room->nearRows = TP_SCRATCH(arena, int32_t, rows);
    room->flightPacks = TP_SCRATCH(arena, tpFlightPack, packs);
    room->treePacks = TP_SCRATCH(arena, tpTreePack, nodes);
    room->packAxes = TP_SCRATCH(arena, tpTreePackAxis, axes);
    room->nodePlaces = TP_SCRATCH(arena, tpNodePlace, nodes);
    room->responses = TP_SCRATCH(arena, tpSpatialInertia, nodes);
    room->axisPlaces = TP_SCRATCH(arena, tpAxisPlace, axes);
    room->axisPushes = TP_SCRATCH(arena, double, axes);
    room->traceLengths = TP_SCRATCH(arena, int32_t, nodes);
    room->impulses = TP_SCRATCH(arena, double, 6 * nodes);
    room->startJumps = TP_SCRATCH(arena, double, 6 * nodes);
    room->startArms = TP_SCRATCH(arena, tpVec3, nodes);
    room->jumps = TP_SCRATCH(arena, double, 6 * nodes);
    room->reactions = TP_SCRATCH(arena, double, 6 * nodes);
    return !arena->failed;
}

static bool takeRoom(const tpSmallStep* step, const Extent* all, Room* room) {
    const tpSystem* system = step->system;
    const tpMechanismMap* map = &step->state->map;
    tpArena* arena = &step->state->jointRoom;
    int blocks = all->blocks, rows = all->rows, terms = all->terms;
    int componentCount = system->isPlanar ? 3 : 6;
    if (!tpRows_Reserve(&room->rows, arena, componentCount, blocks, rows) ||
        !tpRows_Reserve(&room->ends, arena, componentCount, blocks, rows)) {
        return false;
    }
    room->rows.terms = TP_SCRATCH(arena, tpRowTerm, terms);
    room->ends.terms = TP_SCRATCH(arena, tpRowTerm, terms);
    room->terms = TP_SCRATCH(arena, tpMechanismTerm, terms);
    size_t nodes = (size_t)map->bodies.count;
    room->solverRows = TP_SCRATCH(arena, tpMechanismRow, rows);
    room->answers = TP_SCRATCH(arena, tpRowAnswer, rows);
    room->laws = TP_SCRATCH(arena, tpArticulatedRow, rows);
    room->errors = TP_SCRATCH(arena, double, rows);
    room->lateErrors = TP_SCRATCH(arena, double, rows);
    room->isLoose = TP_SCRATCH(arena, bool, rows);
    room->masses = TP_SCRATCH(arena, tpNodeMass, nodes);
    room->felt = TP_SCRATCH(arena, tpNodeMass, nodes);
    room->own = TP_SCRATCH(arena, tpSweepBody, nodes);
    room->inverses = tpArena_Get(arena, sizeof(*room->inverses) * nodes);
    room->between = tpArena_Get(arena, sizeof(*room->between) * (size_t)map->below.count);
    room->pushes = TP_SCRATCH(arena, double, 6 * nodes);
    room->changes = TP_SCRATCH(arena, double, 6 * nodes);
    room->given = TP_SCRATCH(arena, double, 6 * nodes);
    room->begun = TP_SCRATCH(arena, double, 6 * nodes);
    room->numbers = TP_SCRATCH(arena, int32_t, nodes);
    room->touching = TP_SCRATCH(arena, int32_t, nodes);
    room->last = TP_SCRATCH(arena, double, 6 * nodes);
    room->bases = TP_SCRATCH(arena, double, 6 * nodes);
    room->moved = TP_SCRATCH(arena, double, 6 * nodes);
    room->momenta = TP_SCRATCH(arena, double, 6 * nodes);
    room->shifts = TP_SCRATCH(arena, double, 6 * nodes);
    room->flights = TP_SCRATCH(arena, tpNodeFlight, nodes);
    room->diagonal = tpArena_Get(arena, sizeof(*room->diagonal) * nodes);
    room->isStale = TP_SCRATCH(arena, bool, nodes);
    room->blocks = tpArena_Get(arena, sizeof(*room->blocks) * (size_t)map->below.count);
    return !arena->failed && takeTreeRoom(step, all, room);
}

// Whether a mechanism is solved as a tree in this step.
static bool isTree(const tpSmallStep* step, int m) {
    const tpMechanismMap* map = &step->state->map;
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    bool isOne = at->isTree && at->areCarried;
    for (int i = at->node; isOne && i < end->node; ++i) {
        isOne = tpSystem_IsDynamic(step->system, map->bodies.data[i]);
    }
    return isOne;
}

static void placeTree(const tpSmallStep* step, int m, const Room* room, const Extent* first,
                      tpArticulation* articulation) {
    const tpMechanismMap* map = &step->state->map;
    const tpMechanismPlace* at = &map->places.data[m];
    tpJointTree* tree = &articulation->tree;
    size_t node = (size_t)at->node;
    int axis = 0, count = articulation->solver.nodeCount;
    articulation->links = TP_PLACE(map->links, at->node);
    articulation->nodePlaces = room->nodePlaces + node;
    articulation->axisPlaces = room->axisPlaces + first->axes;
    articulation->axisPushes = room->axisPushes + first->axes;
    articulation->traceLengths = room->traceLengths + node;
    articulation->startJumps = room->startJumps + 6 * node;
    articulation->startArms = room->startArms + node;
    articulation->jumps = room->jumps + 6 * node;
    articulation->responses = room->responses + node;
    articulation->reactions = room->reactions + 6 * node;
    *tree = (tpJointTree){ .nodeCount = count,
                           .isFree = articulation->links[count - 1] < 0,
                           .nodes = room->treeNodes + node,
                           .axes = room->treeAxes + first->axes,
                           .rows = room->treeRows + first->rows,
                           .answers = articulation->solver.answers,
                           .impulses = room->impulses + 6 * node };
    articulation->areAllB = tree->isFree;
    for (int i = 0; i < count; ++i) {
        int link = articulation->links[i];
        tree->nodes[i].axis = axis;
        if (link >= 0) {
            const tpJoint* joint = &step->system->joints.data[link];
            articulation->nodePlaces[i].isB = joint->bodyB == articulation->bodies[i];
            articulation->areAllB = articulation->areAllB && articulation->nodePlaces[i].isB;
            axis += tpTree_AxisCount(joint);
        }
        tree->nodes[i].axisEnd = axis;
        tree->nodes[i].child = tree->nodes[i].sibling = -1;
    }
    for (int i = 0; i < count; ++i) {
        tpJointNode* own = &tree->nodes[i];
        int place = articulation->solver.starts[i];
        own->parent = i < count - 1 ? articulation->solver.below[place] : -1;
        if (own->parent >= 0) {
            own->sibling = tree->nodes[own->parent].child;
            tree->nodes[own->parent].child = i;
        }
    }
    for (int i = 0; i < count; ++i) {
        articulation->traceLengths[i] = tpJointTree_TraceLength(tree, i);
    }
}

static int blockOfMechanism(const tpSmallStep* step, int m) {
    const tpSmallSteps* state = step->state;
    int body = state->map.bodies.data[state->map.places.data[m].node];
    return state->store.blocks.data[state->numbers.data[body]];
}

static void placeArticulation(const tpSmallStep* step, int m, const Room* room, const Extent* first,
                              const Extent* size, tpArticulation* articulation) {
    int firstRow = first->rows;
    const tpMechanismMap* map = &step->state->map;
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    memset(articulation, 0, sizeof(*articulation));
    size_t node = (size_t)at->node;
    articulation->bodies = TP_PLACE(map->bodies, at->node);
    articulation->joints = TP_PLACE(map->joints, at->joint);
    articulation->blocks = TP_PLACE(map->blocks, at->joint);
    articulation->jointCount = end->joint - at->joint;
    articulation->couplings = TP_PLACE(map->couplings, at->coupling);
    articulation->couplingCount = end->coupling - at->coupling;
    articulation->terms = room->terms + first->terms;
    articulation->rows = partOfRows(&room->rows, first->blocks, firstRow, first->terms,
                                    size->blocks, size->rows, size->terms);
    articulation->ends = partOfRows(&room->ends, first->blocks, firstRow, first->terms,
                                    size->blocks, size->rows, size->terms);
    articulation->masses = room->masses + node;
    articulation->felt = room->felt + node;
    articulation->own = room->own + node;
    articulation->inverses = room->inverses + node;
    articulation->between = room->between + at->below;
    articulation->laws = room->laws + firstRow;
    articulation->errors = room->errors + firstRow;
    articulation->lateErrors = room->lateErrors + firstRow;
    articulation->isLoose = room->isLoose + firstRow;
    articulation->pushes = room->pushes + 6 * node;
    articulation->changes = room->changes + 6 * node;
    articulation->given = room->given + 6 * node;
    articulation->begun = room->begun + 6 * node;
    articulation->numbers = room->numbers + node;
    articulation->touching = room->touching + node;
    articulation->last = room->last + 6 * node;
    articulation->bases = room->bases + 6 * node;
    articulation->moved = room->moved + 6 * node;
    articulation->momenta = room->momenta + 6 * node;
    articulation->shifts = room->shifts + 6 * node;
    articulation->flights = room->flights + node;
    articulation->solver = (tpMechanism){ .nodeCount = end->node - at->node,
                                          .starts = TP_PLACE(map->starts, at->start),
                                          .below = TP_PLACE(map->below, at->below),
                                          .masses = articulation->masses,
                                          .rows = room->solverRows + firstRow,
                                          .answers = room->answers + firstRow,
                                          .diagonal = room->diagonal + node,
                                          .blocks = room->blocks + at->below,
                                          .isStale = room->isStale + node };
    articulation->size = INFINITY;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int index = articulation->bodies[i];
        const tpBody* body = &step->system->bodies.data[index];
        articulation->numbers[i] = step->state->numbers.data[index];
        articulation->mass += body->mass;
        articulation->size = body->size < articulation->size ? body->size : articulation->size;
    }
    articulation->isTree = isTree(step, m);
    if (articulation->isTree) {
        placeTree(step, m, room, first, articulation);
        articulation->plain = tpPlainLaws_Reserve(&step->state->jointRoom, size->rows);
        articulation->hinges = TP_PLACE(map->hinges, at->hingePack);
        articulation->hingePackCount = end->hingePack - at->hingePack;
        articulation->hingeCount = at->hingeCount;
        articulation->flightPacks = room->flightPacks + first->packs;
        articulation->tree.packs = room->treePacks + node;
        articulation->nearRows = room->nearRows + first->rows;
        articulation->packAxes = room->packAxes + first->axes;
        tpJointTree_Pack(&articulation->tree, articulation->tree.packs, articulation->packAxes,
                         articulation->touching);
    }
    for (int k = 0; k < articulation->jointCount; ++k) {
        tpJointType type = step->system->joints.data[articulation->joints[k]].type;
        bool turns = type == tp_revoluteJoint || type == tp_ballJoint;
        articulation->hasSlides = articulation->hasSlides || !turns;
    }
    articulation->isAnchored = tpArticulation_IsAnchored(step, articulation);
    tpFlights_Pack(step, articulation);
}

// Room for all mechanisms, in which they stay. NULL if memory ran out.
static tpStepJoints* reserveJoints(const tpSmallStep* step, const Extent* sizes) {
    const tpMechanismMap* map = &step->state->map;
    tpArena* arena = &step->state->jointRoom;
    size_t count = (size_t)map->count;
    tpArena_Reset(arena);
    tpStepJoints* joints = TP_SCRATCH_ZEROED(arena, tpStepJoints, 1);
    Extent* kept = TP_SCRATCH(arena, Extent, count);
    if (arena->failed) {
        return NULL;
    }
    memcpy(kept, sizes, sizeof(Extent) * count);
    joints->sizes = kept;
    joints->blockCount = step->state->store.blockCount;
    joints->list = TP_SCRATCH(arena, tpArticulation, count);
    joints->placed = TP_SCRATCH(arena, tpArticulation, count);
    joints->blockStart = TP_SCRATCH_ZEROED(arena, int32_t, (size_t)joints->blockCount + 2);
    joints->blockOf = TP_SCRATCH(arena, int32_t, count);
    joints->listPlaces = TP_SCRATCH(arena, int32_t, count);
    joints->poses = TP_SCRATCH(arena, tpPose, step->system->bodyCount);
    joints->touches = TP_SCRATCH(arena, bool, step->count);
    joints->isDone = TP_SCRATCH(arena, bool, step->system->joints.count);
    return arena->failed ? NULL : joints;
}

// Places all mechanisms, by block. NULL if memory ran out.
static tpStepJoints* placeMechanisms(const tpSmallStep* step, const Extent* sizes,
                                     const Extent* all) {
    const tpSystem* system = step->system;
    const tpMechanismMap* map = &step->state->map;
    tpStepJoints* joints = reserveJoints(step, sizes);
    Room room;
    Extent first = { 0 };
    if (joints == NULL || !takeRoom(step, all, &room)) {
        return NULL;
    }
    joints->count = map->count;
    joints->structure = system->structure;
    joints->anchors = system->anchorShifts;
    joints->numberCount = step->count;
    joints->width = tpChooseWidth(tp_treePackWidth);
    joints->hinges = tpGetHingeKernels(tpChooseWidth(tp_hingePackWidth));
    joints->flights = tpGetFlightKernels(tpChooseWidth(tp_flightPackWidth));
    // Counted two places ahead: filling makes the starts what they are to be.
    for (int m = 0; m < map->count; ++m) {
        joints->blockOf[m] = blockOfMechanism(step, m);
        joints->blockStart[joints->blockOf[m] + 2] += 1;
    }
    for (int b = 0; b < joints->blockCount; ++b) {
        joints->blockStart[b + 2] += joints->blockStart[b + 1];
    }
    for (int m = 0; m < map->count; ++m) {
        int place = joints->blockStart[joints->blockOf[m] + 1]++;
        joints->listPlaces[m] = place;
        placeArticulation(step, m, &room, &first, &sizes[m], &joints->placed[place]);
        addExtent(&first, &sizes[m]);
    }
    return step->state->jointRoom.failed ? NULL : joints;
}

// Whether a mechanism is where it was, with the numbers that its bodies had.
static bool isInPlace(const tpSmallStep* step, const tpStepJoints* joints, int m) {
    const tpArticulation* articulation = &joints->placed[joints->listPlaces[m]];
    const int32_t* numbers = step->state->numbers.data;
    if (joints->blockOf[m] != blockOfMechanism(step, m) ||
        articulation->isTree != isTree(step, m)) {
        return false;
    }
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        if (articulation->numbers[i] != numbers[articulation->bodies[i]]) {
            return false;
        }
    }
    return true;
}

// Whether the mechanisms of the last step serve. Masses and anchors change together.
static bool areInPlace(const tpSmallStep* step, const tpStepJoints* joints, const Extent* sizes) {
    const tpSystem* system = step->system;
    int count = step->state->map.count;
    if (joints == NULL || joints->structure != system->structure ||
        joints->anchors != system->anchorShifts || joints->count != count ||
        joints->blockCount != step->state->store.blockCount || joints->numberCount != step->count ||
        joints->width != tpChooseWidth(tp_treePackWidth) ||
        memcmp(joints->sizes, sizes, sizeof(Extent) * (size_t)count) != 0) {
        return false;
    }
    bool areThere = true;
    for (int m = 0; areThere && m < count; ++m) {
        areThere = isInPlace(step, joints, m);
    }
    return areThere;
}

bool tpSmallStep_PlaceJoints(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    step->joints = NULL;
    if (state->map.count == 0) {
        tpJoints_ClearReactions(system);
        return true;
    }
    Extent all;
    const Extent* sizes = measure(step, &all);
    if (sizes == NULL) {
        return false;
    }
    if (!areInPlace(step, state->joints, sizes)) {
        state->joints = placeMechanisms(step, sizes, &all);
    }
    if (state->joints == NULL) {
        return false;
    }
    tpStepJoints_Begin(step, state->joints);
    tpJoints_ClearReactions(system);
    step->joints = state->joints;
    return tpFewContacts_Place(step) && tpStepJoints_MarkInside(step);
}

void tpSmallStep_WeighJoints(const tpSmallStep* step, tpSchedule* schedule) {
    enum { packsPerJoint = 4 };
    for (int b = 0; step->joints != NULL && b < step->state->store.blockCount; ++b) {
        tpArticulationSpan span = tpArticulationsOf(step, b);
        for (const tpArticulation* articulation = span.begin; articulation < span.end;
             ++articulation) {
            schedule->weights[b] += packsPerJoint * articulation->jointCount;
            schedule->totalWeight += packsPerJoint * articulation->jointCount;
        }
    }
}

tpPose tpSmallStep_JointedPose(const tpSmallStep* step, int body) {
    return step->joints->poses[body];
}

void tpSmallStep_FinishJoints(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpStepReport* report = step->report;
    if (step->joints == NULL && system->joints.count > 0) {
        // Joints between bodies that move as told.
        tpJoints_FollowAngles(system);
        tpJoints_EndRotors(system);
        report->jointDrift =
            fmax(report->jointDrift, tpJoints_PositionError(system, system->poses.data));
    }
    if (step->joints == NULL) {
        return;
    }
    step->joints->areEnded = true;
    for (int m = 0; m < step->joints->count; ++m) {
        report->externalWork += step->joints->list[m].work;
        report->jointDrift = fmax(report->jointDrift, step->joints->list[m].drift);
    }
    report->jointDrift = fmax(report->jointDrift, tpJoints_End(system, step->joints->isDone));
}
