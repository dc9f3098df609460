#include "dynamics/rows.h"

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/locks.h"

// Gaps of one step are known to this, in units of length. Those of faces that turn are linear in
// the turn, which leaves far more; those of bodies at rest are off by rounding, which is far less.
static const double consistentGap = 1e-8;

// Lists of so many numbers begin on cache lines: the next one begins after this many.
static size_t roundUp(size_t count) {
    return (count + 15) & ~(size_t)15;
}

// Takes the next list out of one piece of memory.
static double* nextNumbers(double** room, size_t count) {
    double* own = *room;
    *room += roundUp(count);
    return own;
}

static int* nextCounts(int** room, size_t count) {
    int* own = *room;
    *room += roundUp(count);
    return own;
}

bool tpRows_Reserve(tpRows* rows, tpArena* arena, int componentCount, int blockCapacity,
                    int rowCapacity) {
    memset(rows, 0, sizeof(*rows));
    rows->componentCount = componentCount;
    rows->speedUnit = rows->lengthUnit = rows->massUnit = 1.0;
    rows->blockCapacity = blockCapacity;
    rows->rowCapacity = rowCapacity;
    rows->arena = arena;
    size_t blocks = (size_t)blockCapacity, all = (size_t)rowCapacity;
    size_t components = all * (size_t)componentCount;
    rows->infos = TP_SCRATCH(arena, tpBlockInfo, blockCapacity);
    rows->kinds = TP_SCRATCH(arena, unsigned char, blockCapacity);
    int* counts = TP_SCRATCH(arena, int, 6 * roundUp(blocks) + 2 * roundUp(all));
    double* numbers =
        TP_SCRATCH(arena, double, roundUp(blocks) + 9 * roundUp(all) + 2 * roundUp(components));
    if (arena->failed) {
        return false;
    }
    int** const ofBlocks[] = { &rows->firstRows, &rows->dimensions, &rows->bodyA,
                               &rows->bodyB,     &rows->givenA,     &rows->givenB };
    for (size_t i = 0; i < sizeof(ofBlocks) / sizeof(ofBlocks[0]); ++i) {
        *ofBlocks[i] = nextCounts(&counts, blocks);
    }
    rows->firstTerms = nextCounts(&counts, all);
    rows->termCounts = nextCounts(&counts, all);
    rows->mu = nextNumbers(&numbers, blocks);
    double** const ofRows[] = { &rows->scale, &rows->compliance, &rows->damping,
                                &rows->rotor, &rows->missed,     &rows->bias,
                                &rows->q,     &rows->impulse,    &rows->velocity };
    for (size_t i = 0; i < sizeof(ofRows) / sizeof(ofRows[0]); ++i) {
        *ofRows[i] = nextNumbers(&numbers, all);
    }
    rows->jacobianA = nextNumbers(&numbers, components);
    rows->jacobianB = nextNumbers(&numbers, components);
    return true;
}

// The place of a body's inverse mass, cleared.
static double* clearMass(tpRows* rows, int body) {
    size_t size = (size_t)(rows->componentCount * rows->componentCount);
    double* block = rows->inverseMass + (size_t)body * size;
    memset(block, 0, sizeof(double) * size);
    return block;
}

bool tpRows_Create(tpRows* rows, tpSystem* system, int blockCapacity, int rowCapacity) {
    int componentCount = system->isPlanar ? 3 : 6;
    if (!tpRows_Reserve(rows, &system->arena, componentCount, blockCapacity, rowCapacity)) {
        return false;
    }
    rows->bodyCount = system->bodyCount;
    tpRows_SetUnits(rows, system);
    rows->termCapacity = tpCouplings_TermCapacity(system);
    rows->terms = TP_SCRATCH(&system->arena, tpRowTerm, rows->termCapacity);
    size_t massCount = (size_t)rows->bodyCount * (size_t)(componentCount * componentCount);
    rows->inverseMass = TP_SCRATCH(&system->arena, double, massCount);
    rows->changeRoom =
        TP_SCRATCH(&system->arena, double, (size_t)rows->bodyCount*(size_t)componentCount);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < rows->bodyCount; ++i) {
        clearMass(rows, i);
    }
    return true;
}

void tpRows_SetUnits(tpRows* rows, const tpSystem* system) {
    rows->speedUnit = system->units.speed;
    rows->lengthUnit = system->units.length;
    rows->massUnit = system->units.mass;
}

void tpRows_AllowSlack(tpRows* rows, const tpSystem* system, double h) {
    rows->h = h;
    rows->gapSlack = h > 0.0 ? consistentGap * system->units.length / h : 0.0;
}

void tpRows_Clear(tpRows* rows) {
    rows->blockCount = rows->rowCount = rows->termCount = 0;
}

void tpRows_SetMass(tpRows* rows, const tpSystem* system, int body) {
    if (!tpSystem_IsDynamic(system, body)) {
        return;
    }
    double* block =
        rows->inverseMass + (size_t)body * (size_t)(rows->componentCount * rows->componentCount);
    double inverse = system->bodies.data[body].inverseMass;
    tpVec3 free =
        tpLocks_Linear(system->bodies.data[body].locked, tpMakeVec3(inverse, inverse, inverse));
    tpMat33 turn = tpSystem_InverseInertia(system, body);
    if (rows->componentCount == 3) {
        block[0] = free.x;
        block[4] = free.y;
        block[8] = turn.cz.z;
        return;
    }
    block[0] = free.x;
    block[7] = free.y;
    block[14] = free.z;
    const tpVec3 columns[3] = { turn.cx, turn.cy, turn.cz };
    for (int j = 0; j < 3; ++j) {
        block[3 * 6 + 3 + j] = columns[j].x;
        block[4 * 6 + 3 + j] = columns[j].y;
        block[5 * 6 + 3 + j] = columns[j].z;
    }
}

void tpRows_SetMasses(tpRows* rows, const tpSystem* system) {
    for (int i = 0; i < rows->bodyCount; ++i) {
        clearMass(rows, i);
        tpRows_SetMass(rows, system, i);
    }
}

int tpRows_OpenBlock(tpRows* rows, const tpSystem* system, tpBlockInfo info, tpFrictionKind kind,
                     int dimension, int bodyA, int bodyB) {
    TP_ASSERT(rows->blockCount < rows->blockCapacity);
    TP_ASSERT(rows->rowCount + dimension <= rows->rowCapacity);
    int block = rows->blockCount++;
    int first = rows->rowCount;
    rows->rowCount += dimension;
    rows->infos[block] = info;
    rows->firstRows[block] = first;
    rows->dimensions[block] = dimension;
    rows->kinds[block] = (unsigned char)kind;
    rows->mu[block] = 0.0;
    rows->bodyA[block] = tpSystem_IsDynamic(system, bodyA) ? bodyA : -1;
    rows->bodyB[block] = tpSystem_IsDynamic(system, bodyB) ? bodyB : -1;
    rows->givenA[block] = bodyA;
    rows->givenB[block] = bodyB;
    for (int k = first; k < first + dimension; ++k) {
        rows->scale[k] = 1.0;
        rows->compliance[k] = 0.0;
        rows->damping[k] = 0.0;
        rows->rotor[k] = 0.0;
        rows->missed[k] = 0.0;
        rows->bias[k] = 0.0;
        rows->q[k] = 0.0;
        rows->impulse[k] = 0.0;
        rows->velocity[k] = 0.0;
        rows->firstTerms[k] = rows->termCount;
        rows->termCounts[k] = 0;
    }
    return block;
}

int tpRows_AddBlock(tpRows* rows, const tpSystem* system, tpBlockInfo info, tpFrictionKind kind,
                    int dimension, int bodyA, int bodyB) {
    int block = tpRows_OpenBlock(rows, system, info, kind, dimension, bodyA, bodyB);
    int first = rows->firstRows[block];
    double* a = rows->jacobianA + (size_t)rows->componentCount * (size_t)first;
    double* b = rows->jacobianB + (size_t)rows->componentCount * (size_t)first;
    for (int k = 0; k < rows->componentCount * dimension; ++k) {
        a[k] = b[k] = 0.0;
    }
    return block;
}

static void copyNumbers(int count, const double* from, double* to) {
    for (int k = 0; k < count; ++k) {
        to[k] = from[k];
    }
}

void tpRows_CopyBlock(tpRows* rows, const tpRows* from, int b) {
    TP_ASSERT(rows->blockCount < rows->blockCapacity);
    TP_ASSERT(rows->rowCount + from->dimensions[b] <= rows->rowCapacity);
    int block = rows->blockCount++, count = from->dimensions[b], n = rows->componentCount;
    int to = rows->rowCount, first = from->firstRows[b];
    rows->rowCount += count;
    rows->infos[block] = from->infos[b];
    rows->firstRows[block] = to;
    rows->dimensions[block] = count;
    rows->kinds[block] = from->kinds[b];
    rows->mu[block] = from->mu[b];
    rows->bodyA[block] = from->bodyA[b];
    rows->bodyB[block] = from->bodyB[b];
    rows->givenA[block] = from->givenA[b];
    rows->givenB[block] = from->givenB[b];
    rows->terms = from->terms;
    for (int k = 0; k < count; ++k) {
        rows->firstTerms[to + k] = from->firstTerms[first + k];
        rows->termCounts[to + k] = from->termCounts[first + k];
        rows->termCount += from->termCounts[first + k];
    }
    copyNumbers(count, from->scale + first, rows->scale + to);
    copyNumbers(count, from->compliance + first, rows->compliance + to);
    copyNumbers(count, from->damping + first, rows->damping + to);
    copyNumbers(count, from->rotor + first, rows->rotor + to);
    copyNumbers(count, from->missed + first, rows->missed + to);
    copyNumbers(count, from->bias + first, rows->bias + to);
    copyNumbers(count, from->q + first, rows->q + to);
    copyNumbers(count, from->impulse + first, rows->impulse + to);
    copyNumbers(count, from->velocity + first, rows->velocity + to);
    size_t source = (size_t)(n * first), target = (size_t)(n * to);
    copyNumbers(n * count, from->jacobianA + source, rows->jacobianA + target);
    copyNumbers(n * count, from->jacobianB + source, rows->jacobianB + target);
}

void tpRows_CopyBlocks(tpRows* rows, const tpRows* from, int begin) {
    int count = from->blockCount - begin;
    if (count <= 0) {
        return;
    }
    int first = from->firstRows[begin], rowCount = from->rowCount - first;
    int block = rows->blockCount, to = rows->rowCount, n = rows->componentCount;
    TP_ASSERT(block + count <= rows->blockCapacity && to + rowCount <= rows->rowCapacity);
    rows->blockCount += count;
    rows->rowCount += rowCount;
    memcpy(rows->infos + block, from->infos + begin, sizeof(tpBlockInfo) * (size_t)count);
    memcpy(rows->dimensions + block, from->dimensions + begin, sizeof(int) * (size_t)count);
    memcpy(rows->kinds + block, from->kinds + begin, (size_t)count);
    memcpy(rows->mu + block, from->mu + begin, sizeof(double) * (size_t)count);
    memcpy(rows->bodyA + block, from->bodyA + begin, sizeof(int) * (size_t)count);
    memcpy(rows->bodyB + block, from->bodyB + begin, sizeof(int) * (size_t)count);
    memcpy(rows->givenA + block, from->givenA + begin, sizeof(int) * (size_t)count);
    memcpy(rows->givenB + block, from->givenB + begin, sizeof(int) * (size_t)count);
    for (int b = 0; b < count; ++b) {
        rows->firstRows[block + b] = from->firstRows[begin + b] - first + to;
    }
    rows->terms = from->terms;
    for (int k = 0; k < rowCount; ++k) {
        rows->termCount += from->termCounts[first + k];
    }
    memcpy(rows->firstTerms + to, from->firstTerms + first, sizeof(int) * (size_t)rowCount);
    memcpy(rows->termCounts + to, from->termCounts + first, sizeof(int) * (size_t)rowCount);
    double* const targets[] = { rows->scale, rows->compliance, rows->damping,
                                rows->rotor, rows->missed,     rows->bias,
                                rows->q,     rows->impulse,    rows->velocity };
    const double* const sources[] = { from->scale, from->compliance, from->damping,
                                      from->rotor, from->missed,     from->bias,
                                      from->q,     from->impulse,    from->velocity };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
        memcpy(targets[i] + to, sources[i] + first, sizeof(double) * (size_t)rowCount);
    }
    size_t bytes = sizeof(double) * (size_t)n * (size_t)rowCount;
    memcpy(rows->jacobianA + (size_t)n * (size_t)to, from->jacobianA + (size_t)n * (size_t)first,
           bytes);
    memcpy(rows->jacobianB + (size_t)n * (size_t)to, from->jacobianB + (size_t)n * (size_t)first,
           bytes);
}

static void writeRow(int componentCount, double* row, tpWrench wrench) {
    row[0] = wrench.linear.x;
    row[1] = wrench.linear.y;
    if (componentCount == 3) {
        row[2] = wrench.angular.z;
        return;
    }
    row[2] = wrench.linear.z;
    row[3] = wrench.angular.x;
    row[4] = wrench.angular.y;
    row[5] = wrench.angular.z;
}

void tpRows_SetRow(tpRows* rows, int block, int k, tpWrench onA, tpWrench onB) {
    tpRows_WriteRow(rows, rows->firstRows[block] + k, &onA, &onB);
}

void tpRows_AddTerm(tpRows* rows, const tpSystem* system, int block, int k, int body, tpWrench on) {
    int row = rows->firstRows[block] + k;
    TP_ASSERT(rows->termCount < rows->termCapacity);
    if (rows->termCounts[row] == 0) {
        rows->firstTerms[row] = rows->termCount;
    }
    TP_ASSERT(rows->firstTerms[row] + rows->termCounts[row] == rows->termCount);
    tpRowTerm* term = &rows->terms[rows->termCount++];
    rows->termCounts[row] += 1;
    term->body = body;
    term->isDynamic = tpSystem_IsDynamic(system, body);
    memset(term->jacobian, 0, sizeof(term->jacobian));
    writeRow(rows->componentCount, term->jacobian, on);
    if (rows->lengthUnit != 1.0) {
        tpRows_ScaleTurn(rows, row);
    }
}

void tpRows_CopyTerms(tpRows* rows, int row, const tpRows* from, int fromRow) {
    TP_ASSERT(rows->termCount + from->termCounts[fromRow] <= rows->termCapacity);
    rows->firstTerms[row] = rows->termCount;
    rows->termCounts[row] = from->termCounts[fromRow];
    for (int k = 0; k < from->termCounts[fromRow]; ++k) {
        rows->terms[rows->termCount++] = from->terms[from->firstTerms[fromRow] + k];
    }
}

bool tpRows_BodyAt(const tpRows* rows, int block, int k, int* body) {
    if (k < 2) {
        *body = k == 0 ? rows->bodyA[block] : rows->bodyB[block];
        return true;
    }
    // One row of a block has all of them: the last.
    int row = rows->firstRows[block] + rows->dimensions[block] - 1;
    if (k - 2 >= rows->termCounts[row]) {
        return false;
    }
    const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k - 2];
    *body = term->isDynamic ? term->body : -1;
    return true;
}

tpVec3 tpContactLaw_RollingAxis(const tpContactLaw* law, const tpRows* rows, int k) {
    return rows->componentCount == 3 ? tpMakeVec3(0.0, 0.0, 1.0) : law->tangents[k];
}

tpFrictionRows tpRows_FrictionRows(const tpRows* rows, int block) {
    // By the number of rows: 2 or 3 in the plane, 3 to 6 in space.
    int dimension = rows->dimensions[block];
    bool isPlanar = rows->componentCount == 3;
    tpFrictionRows found = { .slidingCount = isPlanar ? 1 : 2 };
    if (dimension == 1) {
        return (tpFrictionRows){ 0 };
    }
    int further = dimension - 1 - found.slidingCount;
    bool isTorsional = !isPlanar && (further == 1 || further == 3);
    found.torsion = isTorsional ? 3 : 0;
    found.rollingCount = further - (isTorsional ? 1 : 0);
    found.rolling = found.rollingCount > 0 ? dimension - found.rollingCount : 0;
    return found;
}

void tpRows_SetContact(tpRows* rows, int block, const tpPose* poses, const tpContact* contact,
                       const tpContactLaw* law) {
    int first = rows->firstRows[block];
    tpFrictionRows friction = tpRows_FrictionRows(rows, block);
    // Impulses act at each body's own surface point: while there is a gap the two differ, and
    // angular momentum is kept only up to gap times impulse, which is nothing where bodies touch.
    tpVec3 armA = tpSub(contact->pointA, poses[contact->bodyA].position);
    tpVec3 armB = tpSub(contact->pointB, poses[contact->bodyB].position);
    const tpVec3 directions[3] = { contact->normal, law->tangents[0], law->tangents[1] };
    for (int k = 0; k <= friction.slidingCount; ++k) {
        tpRows_SetRow(rows, block, k, tpMakeWrench(directions[k], armA),
                      tpNegativeWrench(tpMakeWrench(directions[k], armB)));
    }
    for (int k = 1; k <= friction.slidingCount; ++k) {
        rows->scale[first + k] = law->ellipse[k - 1];
    }
    if (friction.torsion > 0) {
        tpWrench spin = { tpZeroVec3(), contact->normal };
        tpRows_SetRow(rows, block, friction.torsion, spin, tpNegativeWrench(spin));
        rows->scale[first + friction.torsion] = law->arm;
    }
    // Rolling about the first tangent, then about the second; in the plane about its normal.
    for (int k = 0; k < friction.rollingCount; ++k) {
        tpWrench roll = { tpZeroVec3(), tpContactLaw_RollingAxis(law, rows, k) };
        tpRows_SetRow(rows, block, friction.rolling + k, roll, tpNegativeWrench(roll));
        rows->scale[first + friction.rolling + k] = law->rollingArm;
    }
}

int tpRows_AddContact(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpContact* contact, int contactIndex, const tpContactLaw* law,
                      double bias) {
    bool isRough = law->mu > 0.0;
    bool isTorsional = isRough && law->arm > 0.0 && rows->componentCount == 6;
    bool isRolling = isRough && law->rollingArm > 0.0;
    int dimension = !isRough                    ? 1
                    : rows->componentCount == 3 ? 2 + (isRolling ? 1 : 0)
                                                : 3 + (isTorsional ? 1 : 0) + (isRolling ? 2 : 0);
    tpBlockInfo info = { .source = tp_contactSource, .index = contactIndex };
    tpFrictionKind kind = isRough ? tp_frictionCone : tp_frictionNonnegative;
    int block =
        tpRows_AddBlock(rows, system, info, kind, dimension, contact->bodyA, contact->bodyB);
    rows->mu[block] = law->mu;
    rows->bias[rows->firstRows[block]] = bias;
    tpRows_SetContact(rows, block, poses, contact, law);
    return block;
}

// Whether a row measures a turn: it turns bodies, and moves no centre of any.
static bool isTurn(const tpRows* rows, int row) {
    int linear = rows->componentCount == 3 ? 2 : 3;
    const double* a = rows->jacobianA + (size_t)rows->componentCount * (size_t)row;
    const double* b = rows->jacobianB + (size_t)rows->componentCount * (size_t)row;
    bool turns = false;
    for (int k = 0; k < rows->componentCount; ++k) {
        bool acts = a[k] != 0.0 || b[k] != 0.0;
        for (int i = 0; i < rows->termCounts[row]; ++i) {
            acts = acts || rows->terms[rows->firstTerms[row] + i].jacobian[k] != 0.0;
        }
        if (acts && k < linear) {
            return false;
        }
        turns = turns || acts;
    }
    return turns;
}

void tpRows_ScaleTurn(tpRows* rows, int row) {
    rows->scale[row] = isTurn(rows, row) ? rows->lengthUnit : 1.0;
}

double tpRows_ErrorUnit(const tpRows* rows, int row) {
    return rows->lengthUnit == 1.0 || isTurn(rows, row) ? 1.0 : rows->lengthUnit;
}
