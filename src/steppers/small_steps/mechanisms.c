#include "steppers/small_steps/mechanisms.h"

#include <limits.h>
#include <string.h>

#include "base/forest.h"
#include "dynamics/couplings.h"
#include "dynamics/joint_types.h"
#include "math/minimum_degree.h"

void tpMechanismMap_Destroy(tpMechanismMap* map, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, map->places);
    TP_FREE_ARRAY(allocator, map->joints);
    TP_FREE_ARRAY(allocator, map->couplings);
    TP_FREE_ARRAY(allocator, map->blocks);
    TP_FREE_ARRAY(allocator, map->bodies);
    TP_FREE_ARRAY(allocator, map->links);
    TP_FREE_ARRAY(allocator, map->starts);
    TP_FREE_ARRAY(allocator, map->below);
    TP_FREE_ARRAY(allocator, map->owners);
    TP_FREE_ARRAY(allocator, map->nodes);
    TP_FREE_ARRAY(allocator, map->hinges);
    map->structure = map->hingesStructure = map->countedStructure = 0;
    map->count = 0;
}

static bool isMoving(const tpSystem* system, int body) {
    return body >= 0 && tpMayMove(&system->bodies.data[body]);
}

// Who belongs together ----------------------------------------------------------------------------

// Mechanisms in the order of their first bodies: `owners` of all bodies, -1 for those without one.
static bool findOwners(tpMechanismMap* map, const tpSystem* system, tpArena* arena) {
    int count = system->bodyCount;
    int32_t* parents = TP_SCRATCH(arena, int32_t, count);
    bool* isHeld = TP_SCRATCH(arena, bool, count);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        parents[i] = i;
        isHeld[i] = isMoving(system, i) && system->bodies.data[i].locked != 0;
    }
    for (int k = 0; k < system->joints.count; ++k) {
        const tpJoint* joint = &system->joints.data[k];
        if (!joint->isLive) {
            continue;
        }
        bool movesA = isMoving(system, joint->bodyA), movesB = isMoving(system, joint->bodyB);
        if (movesA) {
            isHeld[joint->bodyA] = true;
        }
        if (movesB) {
            isHeld[joint->bodyB] = true;
        }
        if (movesA && movesB) {
            int32_t a = tpForest_Root(parents, joint->bodyA),
                    b = tpForest_Root(parents, joint->bodyB);
            // The lowest number is the root.
            parents[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int c = 0; c < system->couplings.count; ++c) {
        int32_t first = -1;
        int body;
        for (int k = 0; tpCoupling_BodyAt(system, c, k, &body); ++k) {
            if (isMoving(system, body)) {
                int32_t root = tpForest_Root(parents, body);
                first = first < 0 ? root : tpForest_Root(parents, first);
                parents[first > root ? first : root] = first > root ? root : first;
            }
        }
    }
    map->count = 0;
    for (int i = 0; i < count; ++i) {
        int32_t root = isHeld[i] ? tpForest_Root(parents, i) : -1;
        map->owners.data[i] = root < 0 ? -1 : root == i ? map->count++ : map->owners.data[root];
    }
    return true;
}

static int mechanismOf(const tpMechanismMap* map, const tpSystem* system, const tpJoint* joint) {
    int a = isMoving(system, joint->bodyA) ? map->owners.data[joint->bodyA] : -1;
    int b = isMoving(system, joint->bodyB) ? map->owners.data[joint->bodyB] : -1;
    return !joint->isLive ? -1 : a >= 0 ? a : b;
}

static int mechanismOfCoupling(const tpMechanismMap* map, const tpSystem* system, int coupling) {
    int body;
    for (int k = 0; tpCoupling_BodyAt(system, coupling, k, &body); ++k) {
        if (isMoving(system, body)) {
            return map->owners.data[body];
        }
    }
    return -1;
}

// The same of couplings.
static void sortCouplings(tpMechanismMap* map, const tpSystem* system) {
    map->couplings.count = 0;
    for (int m = 0; m < map->count; ++m) {
        map->places.data[m].coupling = map->couplings.count;
        for (int c = 0; c < system->couplings.count; ++c) {
            if (mechanismOfCoupling(map, system, c) == m) {
                map->couplings.data[map->couplings.count++] = c;
            }
        }
    }
    map->places.data[map->count].coupling = map->couplings.count;
}

// Sorts bodies and joints by mechanism; each keeps the order of its numbers.
static void sortByMechanism(tpMechanismMap* map, const tpSystem* system) {
    memset(map->places.data, 0, sizeof(tpMechanismPlace) * ((size_t)map->count + 1));
    for (int i = 0; i < system->bodyCount; ++i) {
        if (map->owners.data[i] >= 0) {
            map->places.data[map->owners.data[i] + 1].node += 1;
        }
    }
    for (int k = 0; k < system->joints.count; ++k) {
        int owner = mechanismOf(map, system, &system->joints.data[k]);
        if (owner >= 0) {
            map->places.data[owner + 1].joint += 1;
        }
    }
    for (int m = 0; m < map->count; ++m) {
        map->places.data[m + 1].node += map->places.data[m].node;
        map->places.data[m + 1].joint += map->places.data[m].joint;
    }
    map->bodies.count = map->places.data[map->count].node;
    map->joints.count = map->blocks.count = map->places.data[map->count].joint;
    // From the back, each to the end of its part; then the parts begin where they are to begin.
    for (int i = system->bodyCount - 1; i >= 0; --i) {
        if (map->owners.data[i] >= 0) {
            map->bodies.data[--map->places.data[map->owners.data[i] + 1].node] = i;
        }
    }
    for (int k = system->joints.count - 1; k >= 0; --k) {
        int owner = mechanismOf(map, system, &system->joints.data[k]);
        if (owner >= 0) {
            map->joints.data[--map->places.data[owner + 1].joint] = k;
        }
    }
    for (int m = 0; m < map->count; ++m) {
        map->places.data[m].node = map->places.data[m + 1].node;
        map->places.data[m].joint = map->places.data[m + 1].joint;
    }
    map->places.data[map->count].node = map->bodies.count;
    map->places.data[map->count].joint = map->joints.count;
}

// Patterns ----------------------------------------------------------------------------------------

// Neighbours of the bodies of one mechanism, by columns of a symmetric matrix.
typedef struct JointGraph {
    int count;
    int* starts;
    int* neighbours;
} JointGraph;

// Counts an edge, and in the second pass writes it.
static void addEdge(JointGraph* graph, int pass, int a, int b) {
    if (pass == 0) {
        graph->starts[a + 2] += 1;
        graph->starts[b + 2] += 1;
    } else {
        graph->neighbours[graph->starts[a + 1]++] = b;
        graph->neighbours[graph->starts[b + 1]++] = a;
    }
}

static bool makeGraph(const tpMechanismMap* map, const tpSystem* system, int m, tpArena* arena,
                      JointGraph* graph) {
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    graph->count = end->node - at->node;
    graph->starts = TP_SCRATCH_ZEROED(arena, int, (size_t)graph->count + 2);
    int pairs = end->joint - at->joint;
    for (int c = at->coupling; c < end->coupling; ++c) {
        int bodies = 2 * system->couplings.data[map->couplings.data[c]].partCount;
        pairs += bodies * bodies;
    }
    graph->neighbours = TP_SCRATCH(arena, int, 2 * (size_t)pairs);
    if (arena->failed) {
        return false;
    }
    // Counted two places ahead, summed, then filled: each start ends up where it belongs.
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = at->joint; k < end->joint; ++k) {
            const tpJoint* joint = &system->joints.data[map->joints.data[k]];
            if (!isMoving(system, joint->bodyA) || !isMoving(system, joint->bodyB)) {
                continue;
            }
            addEdge(graph, pass, map->nodes.data[joint->bodyA], map->nodes.data[joint->bodyB]);
        }
        for (int c = at->coupling; c < end->coupling; ++c) {
            int index = map->couplings.data[c], one, other;
            for (int k = 0; tpCoupling_BodyAt(system, index, k, &one); ++k) {
                for (int j = 0; j < k && tpCoupling_BodyAt(system, index, j, &other); ++j) {
                    if (isMoving(system, one) && isMoving(system, other) && one != other) {
                        addEdge(graph, pass, map->nodes.data[one], map->nodes.data[other]);
                    }
                }
            }
        }
        for (int i = 0; pass == 0 && i < graph->count; ++i) {
            graph->starts[i + 2] += graph->starts[i + 1];
        }
    }
    return true;
}

static void sortRows(int32_t* rows, int count) {
    for (int i = 1; i < count; ++i) {
        int32_t row = rows[i];
        int j = i;
        for (; j > 0 && rows[j - 1] > row; --j) {
            rows[j] = rows[j - 1];
        }
        rows[j] = row;
    }
}

// The columns of the factors: neighbours that are eliminated later, and the same of those columns
// whose first entry this is.
static bool findPattern(tpMechanismMap* map, const tpAllocator* allocator, const JointGraph* graph,
                        const int* order, const int* ranks, tpArena* arena) {
    int n = graph->count, first = map->below.count;
    int* marks = TP_SCRATCH(arena, int, n);
    int* children =
        TP_SCRATCH(arena, int, n); // of each column: the first child, and then its brothers
    int* brothers = TP_SCRATCH(arena, int, n);
    if (arena->failed || !TP_RESERVE(allocator, map->starts, map->starts.count + n + 1)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        marks[i] = children[i] = brothers[i] = -1;
    }
    int32_t* starts = map->starts.data + map->starts.count;
    map->starts.count += n + 1;
    for (int i = 0; i < n; ++i) {
        starts[i] = map->below.count - first;
        marks[i] = i;
        if (!TP_RESERVE(allocator, map->below, map->below.count + n - i)) {
            return false;
        }
        int32_t* column = map->below.data + map->below.count;
        int count = 0, node = order[i];
        for (int k = graph->starts[node]; k < graph->starts[node + 1]; ++k) {
            int rank = ranks[graph->neighbours[k]];
            if (rank > i && marks[rank] != i) {
                marks[rank] = i;
                column[count++] = rank;
            }
        }
        for (int child = children[i]; child >= 0; child = brothers[child]) {
            for (int p = starts[child]; p < starts[child + 1]; ++p) {
                int rank = map->below.data[first + p];
                if (rank > i && marks[rank] != i) {
                    marks[rank] = i;
                    column[count++] = rank;
                }
            }
        }
        sortRows(column, count);
        map->below.count += count;
        starts[i + 1] = map->below.count - first;
        if (count > 0) {
            brothers[i] = children[column[0]];
            children[column[0]] = i;
        }
    }
    return true;
}

static void placeJoints(tpMechanismMap* map, const tpSystem* system, int m) {
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    for (int k = at->joint; k < end->joint; ++k) {
        const tpJoint* joint = &system->joints.data[map->joints.data[k]];
        map->blocks.data[k] = -1;
        if (isMoving(system, joint->bodyA) && isMoving(system, joint->bodyB)) {
            int a = map->nodes.data[joint->bodyA], b = map->nodes.data[joint->bodyB];
            int column = a < b ? a : b, row = a < b ? b : a;
            int place = map->starts.data[at->start + column];
            while (map->below.data[at->below + place] != row) {
                ++place;
            }
            map->blocks.data[k] = place;
        }
    }
}

// Trees -------------------------------------------------------------------------------------------

static bool isLink(const tpJoint* joint) {
    return tpJointType_IsChain(joint->type) || joint->type == tp_ballJoint;
}

// The node that a tree's root is to be; -1 if it is none. A tree has at most one joint to what does
// not move, at its root.
static int rootOfTree(const tpMechanismMap* map, const tpSystem* system, int m) {
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    int root = 0, grounded = 0, joints = end->joint - at->joint;
    bool isTree = !system->isPlanar && end->coupling == at->coupling;
    for (int i = at->node; i < end->node; ++i) {
        isTree = isTree && system->bodies.data[map->bodies.data[i]].locked == 0;
    }
    for (int k = at->joint; k < end->joint; ++k) {
        const tpJoint* joint = &system->joints.data[map->joints.data[k]];
        bool movesA = isMoving(system, joint->bodyA), movesB = isMoving(system, joint->bodyB);
        isTree = isTree && isLink(joint);
        if (!movesA || !movesB) {
            root = map->nodes.data[movesA ? joint->bodyA : joint->bodyB];
            grounded += 1;
        }
    }
    bool hasNoLoop = grounded <= 1 && joints - grounded == end->node - at->node - 1;
    return isTree && hasNoLoop ? root : -1;
}

// An order in which each node comes before its parent. Returns false if memory ran out.
static bool orderTree(const JointGraph* graph, int root, tpArena* arena, int* order) {
    int n = graph->count, count = 0, last = n;
    int* stack = TP_SCRATCH(arena, int, n);
    bool* isSeen = TP_SCRATCH_ZEROED(arena, bool, n);
    if (arena->failed) {
        return false;
    }
    stack[count++] = root;
    isSeen[root] = true;
    while (count > 0) {
        int node = stack[--count];
        order[--last] = node;
        for (int k = graph->starts[node + 1] - 1; k >= graph->starts[node]; --k) {
            int other = graph->neighbours[k];
            if (!isSeen[other]) {
                isSeen[other] = true;
                stack[count++] = other;
            }
        }
    }
    return true;
}

// Each node's joint to its parent: of the two nodes of a joint the later one is the parent.
static void placeLinks(tpMechanismMap* map, const tpSystem* system, int m) {
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    for (int i = at->node; i < end->node; ++i) {
        map->links.data[i] = -1;
    }
    for (int k = at->joint; at->isTree && k < end->joint; ++k) {
        const tpJoint* joint = &system->joints.data[map->joints.data[k]];
        int a = isMoving(system, joint->bodyA) ? map->nodes.data[joint->bodyA] : INT_MAX;
        int b = isMoving(system, joint->bodyB) ? map->nodes.data[joint->bodyB] : INT_MAX;
        map->links.data[at->node + (a < b ? a : b)] = map->joints.data[k];
    }
}

static bool orderMechanism(tpMechanismMap* map, const tpSystem* system, int m, tpArena* arena) {
    tpMechanismPlace* at = &map->places.data[m];
    int32_t* bodies = TP_PLACE(map->bodies, at->node);
    int n = at[1].node - at->node;
    at->start = map->starts.count;
    at->below = map->below.count;
    for (int i = 0; i < n; ++i) {
        map->nodes.data[bodies[i]] = i;
    }
    JointGraph graph;
    int* order = TP_SCRATCH(arena, int, n);
    int* ranks = TP_SCRATCH(arena, int, n);
    int32_t* sorted = TP_SCRATCH(arena, int32_t, n);
    if (arena->failed || !makeGraph(map, system, m, arena, &graph)) {
        return false;
    }
    int root = rootOfTree(map, system, m);
    at->isTree = root >= 0;
    if (at->isTree ? !orderTree(&graph, root, arena, order)
                   : !tpMinimumDegree_Order(n, graph.starts, graph.neighbours, arena, order)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        ranks[order[i]] = i;
        sorted[i] = bodies[order[i]];
    }
    if (!findPattern(map, &system->allocator, &graph, order, ranks, arena)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        bodies[i] = sorted[i];
        map->nodes.data[sorted[i]] = i;
    }
    placeJoints(map, system, m);
    placeLinks(map, system, m);
    return true;
}

bool tpMechanismMap_Follow(tpMechanismMap* map, const tpSystem* system, tpArena* arena) {
    if (map->structure == system->structure) {
        return true;
    }
    const tpAllocator* allocator = &system->allocator;
    int bodies = system->bodyCount, joints = system->joints.count;
    map->structure = map->hingesStructure = map->countedStructure = 0;
    if (!TP_RESERVE(allocator, map->owners, bodies) || !TP_RESERVE(allocator, map->nodes, bodies) ||
        !TP_RESERVE(allocator, map->bodies, bodies) || !TP_RESERVE(allocator, map->links, bodies) ||
        !TP_RESERVE(allocator, map->joints, joints) ||
        !TP_RESERVE(allocator, map->blocks, joints) || !findOwners(map, system, arena) ||
        !TP_RESERVE(allocator, map->couplings, system->couplings.count) ||
        !TP_RESERVE(allocator, map->places, map->count + 1)) {
        return false;
    }
    map->owners.count = map->nodes.count = bodies;
    map->places.count = map->count + 1;
    sortByMechanism(map, system);
    sortCouplings(map, system);
    map->starts.count = map->below.count = 0;
    for (int m = 0; m < map->count; ++m) {
        tpArenaMark mark = tpArena_Mark(arena);
        bool isOrdered = orderMechanism(map, system, m, arena);
        tpArena_Release(arena, mark);
        if (!isOrdered) {
            return false;
        }
    }
    map->places.data[map->count].start = map->starts.count;
    map->places.data[map->count].below = map->below.count;
    map->structure = system->structure;
    return true;
}
