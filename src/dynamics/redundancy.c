#include "dynamics/redundancy.h"

#include <string.h>

#include "base/forest.h"

// More rows than this are left as they are: looking for dependent ones takes the cube of their
// number.
enum { mostRows = 400 };

// A row depends on others if they leave it less than this part of its response to impulses. Poses
// are within 1e-12 m of what joints allow; the softest mode of a long chain has 1e-5.
static const double dependent = 1e-10;

// A rigid row of a joint, and what its impulse does to the velocities of its two bodies.
typedef struct tpRigidRow {
    int row, body[2];
    double change[2][6];
} tpRigidRow;

static const double* jacobianOf(const tpRows* rows, int row, int side) {
    const double* all = side == 0 ? rows->jacobianA : rows->jacobianB;
    return all + (size_t)row * (size_t)rows->componentCount;
}

static tpRigidRow makeRigidRow(const tpRows* rows, int block, int row) {
    int componentCount = rows->componentCount;
    tpRigidRow rigid = { .row = row, .body = { rows->bodyA[block], rows->bodyB[block] } };
    for (int side = 0; side < 2; ++side) {
        if (rigid.body[side] < 0) {
            continue;
        }
        const double* jacobian = jacobianOf(rows, row, side);
        const double* inverse = rows->inverseMass + (size_t)rigid.body[side] *
                                                        (size_t)(componentCount * componentCount);
        for (int i = 0; i < componentCount; ++i) {
            for (int j = 0; j < componentCount; ++j) {
                rigid.change[side][i] += inverse[i * componentCount + j] * jacobian[j];
            }
        }
    }
    return rigid;
}

// W_ij: the velocity of row i under a unit of the impulse of row j.
static double responseOf(const tpRows* rows, const tpRigidRow* i, const tpRigidRow* j) {
    double sum = 0.0;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 2; ++b) {
            if (i->body[a] < 0 || i->body[a] != j->body[b]) {
                continue;
            }
            const double* jacobian = jacobianOf(rows, i->row, a);
            for (int k = 0; k < rows->componentCount; ++k) {
                sum += jacobian[k] * j->change[b][k];
            }
        }
    }
    return sum;
}

// Rows of couplings act on more than two bodies and are left alone.
static bool isRigid(const tpRows* rows, int block, int row) {
    return rows->infos[block].source == tp_jointSource && !rows->infos[block].isCoupling &&
           rows->kinds[block] == tp_frictionFree && rows->compliance[row] == 0.0;
}

static bool hasRigid(const tpRows* rows, int block) {
    return rows->dimensions[block] > 0 && isRigid(rows, block, rows->firstRows[block]);
}

// Joins the bodies of joints into trees. Marks the root of every tree in which a joint closes a
// loop; all that does not move is one node, the last. Returns whether there are any.
static bool findLoops(const tpRows* rows, int world, int* parents, bool* isLooped) {
    bool hasLoop = false;
    for (int i = 0; i <= world; ++i) {
        parents[i] = i;
    }
    for (int b = 0, last = -1; b < rows->blockCount; ++b) {
        if (!hasRigid(rows, b) || rows->infos[b].index == last) {
            continue;
        }
        last = rows->infos[b].index;
        int first = tpForest_Root(parents, rows->bodyA[b] >= 0 ? rows->bodyA[b] : world);
        int second = tpForest_Root(parents, rows->bodyB[b] >= 0 ? rows->bodyB[b] : world);
        bool isClosed = first == second;
        isLooped[first] = isLooped[first] || isLooped[second] || isClosed;
        parents[second] = first;
        hasLoop = hasLoop || isClosed;
    }
    return hasLoop;
}

// The rigid rows of joints in loops, and their number; the list may be NULL.
static int listRigid(const tpRows* rows, int world, int* parents, const bool* isLooped,
                     tpRigidRow* list) {
    int count = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int body = rows->bodyA[b] >= 0 ? rows->bodyA[b] : rows->bodyB[b];
        bool isIn = hasRigid(rows, b) && isLooped[tpForest_Root(parents, body >= 0 ? body : world)];
        for (int k = 0; isIn && k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            if (isRigid(rows, b, row)) {
                if (list != NULL) {
                    list[count] = makeRigidRow(rows, b, row);
                }
                count += 1;
            }
        }
    }
    return count;
}

// Factors W by Cholesky's method, the row that is least dependent on those before it first, until
// all that are left depend on them. `left` is what the pivots leave of each row's own response,
// relative to the whole. Lists the dependent rows in `found` by their places in the list, in order,
// and returns their number.
static int findDependent(const tpRows* rows, const tpRigidRow* list, int count, double* columns,
                         double* left, int* found) {
    bool isTaken[mostRows] = { false };
    double scales[mostRows];
    for (int i = 0; i < count; ++i) {
        double response = responseOf(rows, &list[i], &list[i]);
        scales[i] = response > 0.0 ? 1.0 / sqrt(response) : 0.0;
        left[i] = response > 0.0 ? 1.0 : 0.0;
    }
    for (int k = 0; k < count; ++k) {
        int pivot = -1;
        for (int i = 0; i < count; ++i) {
            if (!isTaken[i] && (pivot < 0 || left[i] > left[pivot])) {
                pivot = i;
            }
        }
        if (!(left[pivot] > dependent)) {
            break;
        }
        isTaken[pivot] = true;
        double root = sqrt(left[pivot]);
        double* own = columns + (size_t)k * (size_t)count;
        for (int i = 0; i < count; ++i) {
            if (isTaken[i]) {
                continue;
            }
            double sum = scales[i] * scales[pivot] * responseOf(rows, &list[i], &list[pivot]);
            for (int j = 0; j < k; ++j) {
                const double* column = columns + (size_t)j * (size_t)count;
                sum -= column[i] * column[pivot];
            }
            own[i] = sum / root;
            left[i] -= own[i] * own[i];
        }
        own[pivot] = root;
    }
    int foundCount = 0;
    for (int i = 0; i < count; ++i) {
        if (!isTaken[i]) {
            found[foundCount++] = i;
        }
    }
    return foundCount;
}

static void setAside(tpRedundancy* redundancy, tpRows* rows, int i) {
    int row = redundancy->rows[i];
    size_t componentCount = (size_t)rows->componentCount, bytes = sizeof(double) * componentCount;
    double* here[2] = { rows->jacobianA + (size_t)row * componentCount,
                        rows->jacobianB + (size_t)row * componentCount };
    double* kept[2] = { redundancy->jacobianA + (size_t)i * componentCount,
                        redundancy->jacobianB + (size_t)i * componentCount };
    for (int side = 0; side < 2; ++side) {
        memcpy(kept[side], here[side], bytes);
        memset(here[side], 0, bytes);
    }
    redundancy->biases[i] = rows->bias[row];
    redundancy->q[i] = rows->q[row];
    // Alone with itself, and content.
    rows->compliance[row] = 1.0 / (rows->massUnit * rows->scale[row] * rows->scale[row]);
    rows->bias[row] = rows->q[row] = rows->impulse[row] = 0.0;
}

// Keeps what was found for the other solves of the step. Which rows depend on others changes with
// the poses, but not within a step. They are kept by their places among the rigid rows: other rows,
// of servos and limits, stand between them in some solves and not in others.
static bool keepFound(tpSystem* system, const tpRedundancy* redundancy, int rigidCount) {
    tpFoundRedundancy* found = &system->redundancy;
    if (!TP_RESERVE(&system->allocator, found->rows, redundancy->count)) {
        return false;
    }
    found->isKnown = true;
    found->step = system->stepCount;
    found->rigidCount = rigidCount;
    found->rows.count = redundancy->count;
    for (int i = 0; i < redundancy->count; ++i) {
        found->rows.data[i] = redundancy->rows[i];
    }
    return true;
}

static bool recall(const tpSystem* system, int rigidCount, tpRedundancy* redundancy) {
    const tpFoundRedundancy* found = &system->redundancy;
    if (!found->isKnown || found->step != system->stepCount || found->rigidCount != rigidCount) {
        return false;
    }
    redundancy->count = found->rows.count;
    for (int i = 0; i < redundancy->count; ++i) {
        redundancy->rows[i] = found->rows.data[i];
    }
    return true;
}

// Looks for rows that depend on others. False if memory ran out.
static bool search(tpRedundancy* redundancy, const tpRows* rows, tpSystem* system) {
    tpArena* arena = &system->arena;
    int world = rows->bodyCount;
    int* parents = TP_SCRATCH(arena, int, world + 1);
    bool* isLooped = TP_SCRATCH_ZEROED(arena, bool, world + 1);
    if (arena->failed || !findLoops(rows, world, parents, isLooped)) {
        return !arena->failed;
    }
    int count = listRigid(rows, world, parents, isLooped, NULL);
    redundancy->rows = TP_SCRATCH(arena, int, count);
    if (count > mostRows || arena->failed) {
        return !arena->failed;
    }
    tpArenaMark mark = tpArena_Mark(arena);
    tpRigidRow* list = TP_SCRATCH(arena, tpRigidRow, count);
    if (list == NULL) {
        return false;
    }
    listRigid(rows, world, parents, isLooped, list);
    if (!recall(system, count, redundancy)) {
        double* columns = TP_SCRATCH(arena, double, (size_t)count*(size_t)count);
        double* left = TP_SCRATCH(arena, double, count);
        if (arena->failed) {
            return false;
        }
        redundancy->count = findDependent(rows, list, count, columns, left, redundancy->rows);
        if (!keepFound(system, redundancy, count)) {
            return false;
        }
    }
    for (int i = 0; i < redundancy->count; ++i) {
        redundancy->rows[i] = list[redundancy->rows[i]].row;
    }
    tpArena_Release(arena, mark);
    return true;
}

bool tpRedundancy_Find(const tpRows* rows, tpSystem* system) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpRedundancy found = { .count = 0 };
    bool isDone = search(&found, rows, system);
    tpArena_Release(&system->arena, mark);
    return isDone;
}

bool tpRedundancy_SetAside(tpRedundancy* redundancy, tpRows* rows, tpSystem* system) {
    tpArena* arena = &system->arena;
    *redundancy = (tpRedundancy){ .count = 0 };
    if (!search(redundancy, rows, system)) {
        return false;
    }
    if (redundancy->count == 0) {
        return true;
    }
    size_t componentCount = (size_t)rows->componentCount, numbers = (size_t)redundancy->count;
    redundancy->jacobianA = TP_SCRATCH(arena, double, numbers* componentCount);
    redundancy->jacobianB = TP_SCRATCH(arena, double, numbers* componentCount);
    redundancy->biases = TP_SCRATCH(arena, double, numbers);
    redundancy->q = TP_SCRATCH(arena, double, numbers);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < redundancy->count; ++i) {
        setAside(redundancy, rows, i);
    }
    return true;
}

bool tpRedundancy_PutBack(const tpRedundancy* redundancy, tpRows* rows, tpSystem* system) {
    size_t componentCount = (size_t)rows->componentCount, bytes = sizeof(double) * componentCount;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpVelocity* changes = TP_SCRATCH_ZEROED(&system->arena, tpVelocity, system->bodyCount);
    if (changes == NULL) {
        return false;
    }
    tpRows_ApplyImpulses(rows, changes);
    for (int i = 0, block = 0; i < redundancy->count; ++i) {
        int row = redundancy->rows[i];
        size_t from = (size_t)i * componentCount, to = (size_t)row * componentCount;
        memcpy(rows->jacobianA + to, redundancy->jacobianA + from, bytes);
        memcpy(rows->jacobianB + to, redundancy->jacobianB + from, bytes);
        while (row >= rows->firstRows[block] + rows->dimensions[block]) {
            block += 1;
        }
        double change =
            tpRows_RowVelocity(rows, row, changes, rows->bodyA[block], rows->bodyB[block]);
        rows->compliance[row] = 0.0;
        rows->bias[row] = redundancy->biases[i] - (redundancy->q[i] + change);
        rows->q[row] = -change;
        rows->velocity[row] = 0.0;
    }
    tpArena_Release(&system->arena, mark);
    return true;
}
