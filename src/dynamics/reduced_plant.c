// The trees that hinges make of bodies, if a system has nothing else that needs rows.

#include <string.h>

#include "base/forest.h"
#include "dynamics/couplings.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"
#include "dynamics/reduced.h"

// Whether a joint is a turn of which no two laws hold the speed at once.
static bool isSimple(const tpJoint* joint) {
    if (joint->type != tp_revoluteJoint) {
        return false;
    }
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    return tpJoint_IsHinge(joint) && !(def->hasMotor && def->friction > 0.0);
}

static bool isWhole(const tpBody* body) {
    tpVec3 moments = body->form->inertia.moments;
    return body->locked == 0 && moments.x > 0.0 && moments.y > 0.0 && moments.z > 0.0;
}

// Room while trees are planted.
typedef struct tpPlan {
    int* root;     // of each body's tree so far, as tpForest_Root has it
    int* grounded; // of each root: the joint that holds its tree to what does not move, or -1
    int* first;    // of each body: its joints, chained through `next`, twice the joint and its side
    int* next;
    bool* isChild; // of each body: it is B of a joint between two that move
    int* order;    // bodies, parents first
    int* holder;   // of each body: the joint to its parent, or -1
    int* loops;    // a forest of all joints, with what does not move last
} tpPlan;

static bool makePlan(tpPlan* plan, tpSystem* system) {
    tpArena* arena = &system->arena;
    plan->root = TP_SCRATCH(arena, int, system->bodyCount);
    plan->grounded = TP_SCRATCH(arena, int, system->bodyCount);
    plan->first = TP_SCRATCH(arena, int, system->bodyCount);
    plan->next = TP_SCRATCH(arena, int, 2 * system->joints.count);
    plan->isChild = TP_SCRATCH_ZEROED(arena, bool, system->bodyCount);
    plan->order = TP_SCRATCH(arena, int, system->bodyCount);
    plan->holder = TP_SCRATCH(arena, int, system->bodyCount);
    plan->loops = TP_SCRATCH(arena, int, system->bodyCount + 1);
    for (int i = 0; !arena->failed && i < system->bodyCount; ++i) {
        plan->root[i] = plan->loops[i] = i;
        plan->grounded[i] = plan->first[i] = plan->holder[i] = -1;
    }
    if (!arena->failed) {
        plan->loops[system->bodyCount] = system->bodyCount;
    }
    return !arena->failed;
}

// Takes a joint in. False if it closes a loop.
static bool addJoint(tpPlan* plan, const tpSystem* system, int index) {
    const tpJoint* joint = &system->joints.data[index];
    bool moves[2] = { tpSystem_IsDynamic(system, joint->bodyA),
                      tpSystem_IsDynamic(system, joint->bodyB) };
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    for (int side = 0; side < 2; ++side) {
        if (moves[side]) {
            plan->next[2 * index + side] = plan->first[bodies[side]];
            plan->first[bodies[side]] = 2 * index + side;
        }
    }
    int own = tpForest_Root(plan->root, moves[0] ? bodies[0] : bodies[1]);
    if (!moves[0] || !moves[1]) {
        bool isFirst = plan->grounded[own] < 0;
        plan->grounded[own] = index;
        return isFirst;
    }
    int other = tpForest_Root(plan->root, bodies[1]);
    bool isTree = own != other && (plan->grounded[own] < 0 || plan->grounded[other] < 0);
    int ground = plan->grounded[own] < 0 ? plan->grounded[other] : plan->grounded[own];
    plan->isChild[bodies[1]] = true;
    tpForest_Join(plan->root, own, other);
    plan->grounded[tpForest_Root(plan->root, own)] = ground;
    return isTree;
}

// Whether a body with joints is the root of its tree: the one that is held by what does not move;
// else the first that is nobody's child, as robots are described, or the first at all.
static int chooseRoot(const tpPlan* plan, const tpSystem* system, int tree, int begin) {
    int ground = plan->grounded[tree];
    if (ground >= 0) {
        const tpJoint* joint = &system->joints.data[ground];
        return tpSystem_IsDynamic(system, joint->bodyB) ? joint->bodyB : joint->bodyA;
    }
    for (int i = begin; i < system->bodyCount; ++i) {
        if (plan->first[i] >= 0 && !plan->isChild[i] && tpForest_Root(plan->root, i) == tree) {
            return i;
        }
    }
    return begin;
}

// Bodies from a root on, each after its parent. Returns the end of the list.
static int spread(const tpPlan* plan, const tpSystem* system, int root, int count) {
    int done = count;
    plan->order[count++] = root;
    for (; done < count; ++done) {
        int body = plan->order[done];
        for (int k = plan->first[body]; k >= 0; k = plan->next[k]) {
            const tpJoint* joint = &system->joints.data[k / 2];
            int other = k % 2 == 0 ? joint->bodyB : joint->bodyA;
            if (k / 2 != plan->holder[body] && tpSystem_IsDynamic(system, other)) {
                plan->holder[other] = k / 2;
                plan->order[count++] = other;
            }
        }
    }
    return count;
}

// Links of one tree, bodies `order` from its root on, in the opposite order.
static void addLinks(tpReduced* reduced, const tpPlan* plan, const int* order, int count) {
    const tpSystem* system = reduced->system;
    int tree = reduced->treeCount++, first = reduced->linkCount;
    for (int i = 0; i < count; ++i) {
        int body = order[count - 1 - i], joint = plan->holder[body];
        tpReducedLink* link = &reduced->links[first + i];
        link->body = body;
        link->felt = (tpWrench){ tpZeroVec3(), tpZeroVec3() };
        link->joint = joint;
        link->other = -1;
        link->sign = 1.0;
        if (joint >= 0) {
            const tpJoint* holder = &system->joints.data[joint];
            link->sign = holder->bodyB == body ? 1.0 : -1.0;
            link->other = holder->bodyB == body ? holder->bodyA : holder->bodyB;
        }
        reduced->linkOf[body] = first + i;
        reduced->treeOf[first + i] = tree;
    }
    reduced->linkCount += count;
    for (int i = first; i < reduced->linkCount; ++i) {
        int joint = reduced->links[i].joint;
        if (joint >= 0) {
            const tpCoordinateDef* def = &system->joints.data[joint].coordinates[0].def;
            reduced->limitCount += def->hasLimits ? 2 : 0;
            reduced->driveRoom += (tpServo_IsBounded(def) ? 1 : 0) + (def->hasMotor ? 1 : 0) +
                                  (def->friction > 0.0 ? 1 : 0);
        }
    }
    reduced->firstLinks[tree] = first;
    reduced->firstLinks[tree + 1] = reduced->linkCount;
}

static bool reserve(tpReduced* reduced, int linkCount, int treeCount) {
    tpArena* arena = &reduced->system->arena;
    reduced->trees = tpArena_GetZeroed(arena, sizeof(tpJointTree) * (size_t)treeCount);
    reduced->firstLinks = TP_SCRATCH(arena, int, treeCount + 1);
    reduced->links = TP_SCRATCH(arena, tpReducedLink, linkCount);
    reduced->treeOf = TP_SCRATCH(arena, int, linkCount);
    reduced->linkOf = TP_SCRATCH(arena, int, reduced->system->bodyCount);
    reduced->momenta = TP_SCRATCH(arena, double, 6 * linkCount);
    reduced->jumps = TP_SCRATCH(arena, double, 6 * linkCount);
    reduced->velocities = TP_SCRATCH(arena, double, 6 * linkCount);
    return !arena->failed;
}

// The tree of links from `first` on as sweeps/joint_tree.h has it: an axis per joint, and a row
// with the sum of its laws.
static bool makeTree(tpReduced* reduced, int number) {
    tpArena* arena = &reduced->system->arena;
    tpJointTree* tree = &reduced->trees[number];
    int first = reduced->firstLinks[number], count = reduced->firstLinks[number + 1] - first;
    tpReducedLink* links = reduced->links + first;
    tree->nodeCount = count;
    tree->isFree = links[count - 1].joint < 0;
    tree->rowCount = tree->isFree ? count - 1 : count;
    tree->nodes = TP_SCRATCH(arena, tpJointNode, count);
    tree->axes = TP_SCRATCH_ZEROED(arena, tpJointAxis, count);
    tree->rows = TP_SCRATCH(arena, tpAxisRow, count);
    tree->answers = TP_SCRATCH(arena, tpRowAnswer, count);
    tree->impulses = TP_SCRATCH(arena, double, 6 * count);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tree->nodes[i].child = tree->nodes[i].sibling = -1;
    }
    for (int i = 0; i < count; ++i) {
        tpJointNode* node = &tree->nodes[i];
        bool isRoot = i == count - 1;
        node->parent = isRoot ? -1 : reduced->linkOf[links[i].other] - first;
        node->axis = i;
        node->axisEnd = i < tree->rowCount ? i + 1 : i;
        if (!isRoot) {
            node->sibling = tree->nodes[node->parent].child;
            tree->nodes[node->parent].child = i;
        }
        tree->rows[i] = (tpAxisRow){ .node = i, .axis = i, .sign = 1.0, .isIn = true };
        tree->answers[i] =
            (tpRowAnswer){ .least = -INFINITY, .most = INFINITY, .state = tp_withinRow };
    }
    for (int i = count - 1; i >= 0; --i) {
        int parent = tree->nodes[i].parent;
        links[i].length = parent >= 0 ? links[parent].length + 1 : tree->isFree ? 6 : 1;
    }
    return true;
}

static tpReduced* plant(tpReduced* reduced, tpPlan* plan) {
    tpSystem* system = reduced->system;
    int linkCount = 0, treeCount = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        linkCount += plan->first[i] >= 0 ? 1 : 0;
        treeCount += plan->first[i] >= 0 && plan->root[i] == i ? 1 : 0;
    }
    if (linkCount == 0 || !reserve(reduced, linkCount, treeCount)) {
        return NULL;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        reduced->linkOf[i] = -1;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (plan->first[i] >= 0 && plan->root[i] == i) {
            int root = chooseRoot(plan, system, i, i), from = reduced->linkCount;
            plan->holder[root] = plan->grounded[i];
            int end = spread(plan, system, root, from);
            addLinks(reduced, plan, plan->order + from, end - from);
            if (!makeTree(reduced, reduced->treeCount - 1)) {
                return NULL;
            }
        }
    }
    return reduced;
}

// Whether a joint may be one of a tree: bodies have inertia in all directions.
static bool isLink(const tpSystem* system, const tpJoint* joint) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    bool mayBe = isSimple(joint);
    for (int side = 0; side < 2; ++side) {
        mayBe = mayBe && (!tpSystem_IsDynamic(system, bodies[side]) ||
                          isWhole(&system->bodies.data[bodies[side]]));
    }
    return mayBe;
}

// Whether a joint closes a loop, with all that does not move as one body.
static bool closesLoop(const tpSystem* system, int* loops, const tpJoint* joint) {
    int world = system->bodyCount;
    int a = tpSystem_IsDynamic(system, joint->bodyA) ? joint->bodyA : world;
    int b = tpSystem_IsDynamic(system, joint->bodyB) ? joint->bodyB : world;
    int rootA = tpForest_Root(loops, a), rootB = tpForest_Root(loops, b);
    tpForest_Join(loops, rootA, rootB);
    return rootA == rootB;
}

// Sorts joints into those of trees and others. False if others have too many rows or there is a
// loop.
static bool sortJoints(tpReduced* reduced, tpPlan* plan) {
    const tpSystem* system = reduced->system;
    int otherBlocks = 0, otherRows = 0, still = 0;
    tpCouplings_Count(system, &otherBlocks, &otherRows);
    reduced->hasOthers = otherBlocks > 0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        bool isMovable = tpJoint_IsMovable(system, joint);
        still += joint->isLive && !isMovable ? 1 : 0;
        reduced->isOther[i] = isMovable && !isLink(system, joint);
        if (!isMovable) {
            continue;
        }
        if (closesLoop(system, plan->loops, joint)) {
            return false;
        }
        if (reduced->isOther[i]) {
            tpJoint_CountRows(joint, &otherBlocks, &otherRows);
            reduced->hasOthers = true;
        } else if (!addJoint(plan, system, i)) {
            return false;
        }
    }
    reduced->hasAll = still == 0 && !reduced->hasOthers;
    return otherRows <= tp_mostOtherRows;
}

tpReduced* tpReduced_Create(tpSystem* system, double h) {
    if (system->isPlanar || system->joints.count == 0) {
        return NULL;
    }
    tpReduced* reduced = tpArena_GetZeroed(&system->arena, sizeof(tpReduced));
    bool* isOther = TP_SCRATCH(&system->arena, bool, system->joints.count);
    tpPlan plan;
    if (reduced == NULL || isOther == NULL || !makePlan(&plan, system)) {
        return NULL;
    }
    reduced->system = system;
    reduced->h = h;
    reduced->isOther = isOther;
    if (!sortJoints(reduced, &plan) || plant(reduced, &plan) == NULL) {
        return NULL;
    }
    reduced->drives = TP_SCRATCH(&system->arena, tpReducedDrive, reduced->driveRoom);
    return system->arena.failed ? NULL : reduced;
}
