#include "dynamics/rows.h"

#include <string.h>

#include "complementarity/block_graph.h"
#include "complementarity/friction_island.h"
#include "dynamics/couplings.h"
#include "dynamics/islands.h"
#include "dynamics/locks.h"

bool tpRows_Reserve(tpRows* rows, tpArena* arena, int componentCount, int blockCapacity,
                    int rowCapacity) {
    memset(rows, 0, sizeof(*rows));
    rows->componentCount = componentCount;
    rows->speedUnit = 1.0;
    rows->blockCapacity = blockCapacity;
    rows->rowCapacity = rowCapacity;
    rows->infos = TP_SCRATCH(arena, tpBlockInfo, blockCapacity);
    rows->firstRows = TP_SCRATCH(arena, int, blockCapacity);
    rows->dimensions = TP_SCRATCH(arena, int, blockCapacity);
    rows->kinds = TP_SCRATCH(arena, unsigned char, blockCapacity);
    rows->mu = TP_SCRATCH(arena, double, blockCapacity);
    rows->bodyA = TP_SCRATCH(arena, int, blockCapacity);
    rows->bodyB = TP_SCRATCH(arena, int, blockCapacity);
    rows->givenA = TP_SCRATCH(arena, int, blockCapacity);
    rows->givenB = TP_SCRATCH(arena, int, blockCapacity);
    rows->firstTerms = TP_SCRATCH(arena, int, rowCapacity);
    rows->termCounts = TP_SCRATCH(arena, int, rowCapacity);
    rows->arena = arena;
    rows->scale = TP_SCRATCH(arena, double, rowCapacity);
    rows->compliance = TP_SCRATCH(arena, double, rowCapacity);
    rows->damping = TP_SCRATCH(arena, double, rowCapacity);
    rows->rotor = TP_SCRATCH(arena, double, rowCapacity);
    rows->bias = TP_SCRATCH(arena, double, rowCapacity);
    rows->q = TP_SCRATCH(arena, double, rowCapacity);
    rows->impulse = TP_SCRATCH(arena, double, rowCapacity);
    rows->velocity = TP_SCRATCH(arena, double, rowCapacity);
    rows->jacobianA = TP_SCRATCH(arena, double, (size_t)rowCapacity*(size_t)componentCount);
    rows->jacobianB = TP_SCRATCH(arena, double, (size_t)rowCapacity*(size_t)componentCount);
    return !arena->failed;
}

bool tpRows_Create(tpRows* rows, tpSystem* system, int blockCapacity, int rowCapacity) {
    int componentCount = system->isPlanar ? 3 : 6;
    if (!tpRows_Reserve(rows, &system->arena, componentCount, blockCapacity, rowCapacity)) {
        return false;
    }
    rows->bodyCount = system->bodyCount;
    rows->speedUnit = system->units.speed;
    rows->termCapacity = tpCouplings_TermCapacity(system);
    rows->terms = TP_SCRATCH(&system->arena, tpRowTerm, rows->termCapacity);
    size_t massCount = (size_t)rows->bodyCount * (size_t)(componentCount * componentCount);
    rows->inverseMass = TP_SCRATCH_ZEROED(&system->arena, double, massCount);
    return rows->inverseMass != NULL;
}

void tpRows_Clear(tpRows* rows) {
    rows->blockCount = rows->rowCount = rows->termCount = 0;
}

void tpRows_SetMasses(tpRows* rows, const tpSystem* system) {
    int componentCount = rows->componentCount;
    memset(rows->inverseMass, 0,
           sizeof(double) * (size_t)rows->bodyCount * (size_t)(componentCount * componentCount));
    for (int i = 0; i < rows->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        double* block = rows->inverseMass + (size_t)i * (size_t)(componentCount * componentCount);
        double inverse = system->bodies.data[i].inverseMass;
        tpVec3 free =
            tpLocks_Linear(system->bodies.data[i].locked, tpMakeVec3(inverse, inverse, inverse));
        tpMat33 turn = tpSystem_InverseInertia(system, i);
        if (componentCount == 3) {
            block[0] = free.x;
            block[4] = free.y;
            block[8] = turn.cz.z;
            continue;
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
}

// Frames ----------------------------------------------------------------------------------------

static void defaultTangents(tpVec3 normal, tpVec3 tangents[2]) {
    // On a table x; elsewhere along z cross n, the level line.
    tpVec3 level = tpMakeVec3(-normal.y, normal.x, 0.0);
    double length = tpLength(level);
    if (length < 1e-9) {
        tangents[0] = tpMakeVec3(1.0, 0.0, 0.0);
        tangents[0] = tpNormalize(tpMulAdd(tangents[0], -tpDot(tangents[0], normal), normal));
    } else {
        tangents[0] = tpScale(1.0 / length, level);
    }
    tangents[1] = tpCross(normal, tangents[0]);
}

tpContactLaw tpMakeContactLaw(const tpSystem* system, const tpContact* contact) {
    tpContactLaw law;
    tpFriction friction;
    const tpShape* shapeA = &system->shapes.data[contact->shapeA];
    const tpShape* shapeB = &system->shapes.data[contact->shapeB];
    int owner = tpSystem_MixMaterials(system, shapeA->material, shapeB->material, &friction,
                                      &law.restitution);
    law.mu = friction.dynamicCoefficient;
    law.muStatic = friction.staticCoefficient;
    law.ellipse[0] = friction.ellipse[0];
    law.ellipse[1] = friction.ellipse[1];
    law.arm = friction.torsionalArm;
    bool canRoll = (system->leftOut & tp_lacksRollingFriction) == 0;
    law.rollingArm = canRoll ? friction.rollingArm : 0.0;
    law.impactReduction = friction.impactReduction;
    law.stiffness = law.damping = 0.0;
    if (system->gives) {
        tpCompliance gives = tpSystem_MixCompliance(system, shapeA->material, shapeB->material);
        if (gives.compliance > 0.0) {
            law.stiffness = 1.0 / gives.compliance;
            law.damping = gives.damping;
            law.restitution = 0.0; // the spring bounces
        }
    }
    defaultTangents(contact->normal, law.tangents);
    if (friction.ellipse[0] != friction.ellipse[1] && tpLength(friction.direction) > 0.0) {
        int body = owner == 0 ? contact->bodyA : contact->bodyB;
        tpVec3 along = tpRotate(system->poses.data[body].rotation, friction.direction);
        along = tpMulAdd(along, -tpDot(along, contact->normal), contact->normal);
        if (tpLength(along) > 1e-9 * tpLength(friction.direction)) {
            law.tangents[0] = tpNormalize(along);
            law.tangents[1] = tpCross(contact->normal, law.tangents[0]);
        }
    }
    return law;
}

double tpContact_Approach(const tpContact* contact, const tpPose* poses,
                          const tpVelocity* velocities) {
    const int bodies[2] = { contact->bodyA, contact->bodyB };
    const tpVec3 points[2] = { contact->pointA, contact->pointB };
    double along[2];
    for (int k = 0; k < 2; ++k) {
        const tpVelocity* v = &velocities[bodies[k]];
        tpVec3 arm = tpSub(points[k], poses[bodies[k]].position);
        along[k] = tpDot(tpAdd(v->linear, tpCross(v->angular, arm)), contact->normal);
    }
    return along[1] - along[0];
}

// Approaches at which friction begins and ceases to be that of sliding, m/s.
static const double slowImpact = 0.1, fastImpact = 0.2;

void tpContactLaw_Meet(tpContactLaw* law, double approach) {
    if (law->impactReduction != 0.0 && approach > slowImpact) {
        double part = fmin(1.0, (approach - slowImpact) / (fastImpact - slowImpact));
        law->mu *= 1.0 - part * law->impactReduction;
        law->muStatic *= 1.0 - part * law->impactReduction;
    }
}

double tpRows_ErrorUnit(const tpRows* rows, const tpSystem* system, int row) {
    int linear = rows->componentCount == 3 ? 2 : 3;
    const double* a = rows->jacobianA + (size_t)rows->componentCount * (size_t)row;
    const double* b = rows->jacobianB + (size_t)rows->componentCount * (size_t)row;
    for (int k = 0; k < linear; ++k) {
        if (a[k] != 0.0 || b[k] != 0.0) {
            return system->units.length;
        }
    }
    return 1.0;
}

// Blocks ----------------------------------------------------------------------------------------

int tpRows_AddBlock(tpRows* rows, const tpSystem* system, tpBlockInfo info, tpFrictionKind kind,
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
        rows->bias[k] = 0.0;
        rows->q[k] = 0.0;
        rows->impulse[k] = 0.0;
        rows->velocity[k] = 0.0;
        rows->firstTerms[k] = rows->termCount;
        rows->termCounts[k] = 0;
    }
    size_t numbers = (size_t)rows->componentCount * (size_t)dimension;
    memset(rows->jacobianA + (size_t)rows->componentCount * (size_t)first, 0,
           sizeof(double) * numbers);
    memset(rows->jacobianB + (size_t)rows->componentCount * (size_t)first, 0,
           sizeof(double) * numbers);
    return block;
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
    size_t place = (size_t)(rows->firstRows[block] + k) * (size_t)rows->componentCount;
    writeRow(rows->componentCount, rows->jacobianA + place, onA);
    writeRow(rows->componentCount, rows->jacobianB + place, onB);
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

static tpWrench alongAt(tpVec3 direction, tpVec3 arm) {
    tpWrench wrench = { direction, tpCross(arm, direction) };
    return wrench;
}

static tpWrench opposite(tpWrench wrench) {
    tpWrench other = { tpNeg(wrench.linear), tpNeg(wrench.angular) };
    return other;
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
        tpRows_SetRow(rows, block, k, alongAt(directions[k], armA),
                      opposite(alongAt(directions[k], armB)));
    }
    for (int k = 1; k <= friction.slidingCount; ++k) {
        rows->scale[first + k] = law->ellipse[k - 1];
    }
    if (friction.torsion > 0) {
        tpWrench spin = { tpZeroVec3(), contact->normal };
        tpRows_SetRow(rows, block, friction.torsion, spin, opposite(spin));
        rows->scale[first + friction.torsion] = law->arm;
    }
    // Rolling about the first tangent, then about the second; in the plane about its normal.
    for (int k = 0; k < friction.rollingCount; ++k) {
        tpWrench roll = { tpZeroVec3(), tpContactLaw_RollingAxis(law, rows, k) };
        tpRows_SetRow(rows, block, friction.rolling + k, roll, opposite(roll));
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

// Velocities ------------------------------------------------------------------------------------

static double rowTimesVelocity(int componentCount, const double* row, const tpVelocity* velocity) {
    if (componentCount == 3) {
        return row[0] * velocity->linear.x + row[1] * velocity->linear.y +
               row[2] * velocity->angular.z;
    }
    return row[0] * velocity->linear.x + row[1] * velocity->linear.y + row[2] * velocity->linear.z +
           row[3] * velocity->angular.x + row[4] * velocity->angular.y +
           row[5] * velocity->angular.z;
}

double tpRows_RowVelocity(const tpRows* rows, int row, const tpVelocity* velocities, int bodyA,
                          int bodyB) {
    size_t place = (size_t)row * (size_t)rows->componentCount;
    double sum = 0.0;
    if (bodyA >= 0) {
        sum += rowTimesVelocity(rows->componentCount, rows->jacobianA + place, &velocities[bodyA]);
    }
    if (bodyB >= 0) {
        sum += rowTimesVelocity(rows->componentCount, rows->jacobianB + place, &velocities[bodyB]);
    }
    for (int k = 0; k < rows->termCounts[row]; ++k) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k];
        sum += rowTimesVelocity(rows->componentCount, term->jacobian, &velocities[term->body]);
    }
    return sum;
}

double tpRows_KinematicVelocity(const tpRows* rows, int block, int row,
                                const tpVelocity* velocities) {
    size_t place = (size_t)row * (size_t)rows->componentCount;
    double sum = 0.0;
    if (rows->bodyA[block] < 0 && rows->givenA[block] >= 0) {
        sum += rowTimesVelocity(rows->componentCount, rows->jacobianA + place,
                                &velocities[rows->givenA[block]]);
    }
    if (rows->bodyB[block] < 0 && rows->givenB[block] >= 0) {
        sum += rowTimesVelocity(rows->componentCount, rows->jacobianB + place,
                                &velocities[rows->givenB[block]]);
    }
    for (int k = 0; k < rows->termCounts[row]; ++k) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k];
        if (!term->isDynamic) {
            sum += rowTimesVelocity(rows->componentCount, term->jacobian, &velocities[term->body]);
        }
    }
    return sum;
}

static void addRow(int componentCount, const double* row, const double* inverseMass, double impulse,
                   tpVelocity* velocity) {
    double change[6];
    for (int i = 0; i < componentCount; ++i) {
        double sum = 0.0;
        for (int j = 0; j < componentCount; ++j) {
            sum += inverseMass[i * componentCount + j] * row[j];
        }
        change[i] = sum * impulse;
    }
    velocity->linear.x += change[0];
    velocity->linear.y += change[1];
    if (componentCount == 3) {
        velocity->angular.z += change[2];
        return;
    }
    velocity->linear.z += change[2];
    velocity->angular.x += change[3];
    velocity->angular.y += change[4];
    velocity->angular.z += change[5];
}

void tpRows_ApplyImpulses(const tpRows* rows, tpVelocity* velocities) {
    int componentCount = rows->componentCount;
    size_t massSize = (size_t)(componentCount * componentCount);
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        for (int k = first; k < first + rows->dimensions[b]; ++k) {
            size_t place = (size_t)k * (size_t)componentCount;
            int a = rows->bodyA[b], c = rows->bodyB[b];
            if (a >= 0) {
                addRow(componentCount, rows->jacobianA + place,
                       rows->inverseMass + massSize * (size_t)a, rows->impulse[k], &velocities[a]);
            }
            if (c >= 0) {
                addRow(componentCount, rows->jacobianB + place,
                       rows->inverseMass + massSize * (size_t)c, rows->impulse[k], &velocities[c]);
            }
            for (int t = 0; t < rows->termCounts[k]; ++t) {
                const tpRowTerm* term = &rows->terms[rows->firstTerms[k] + t];
                if (term->isDynamic) {
                    addRow(componentCount, term->jacobian,
                           rows->inverseMass + massSize * (size_t)term->body, rows->impulse[k],
                           &velocities[term->body]);
                }
            }
        }
    }
}

static double responseThrough(const tpRows* rows, int body, const double* row) {
    int componentCount = rows->componentCount;
    const double* inverse =
        rows->inverseMass + (size_t)body * (size_t)(componentCount * componentCount);
    double sum = 0.0;
    for (int i = 0; i < componentCount; ++i) {
        for (int j = 0; j < componentCount; ++j) {
            sum += row[i] * inverse[i * componentCount + j] * row[j];
        }
    }
    return sum;
}

double tpRows_Response(const tpRows* rows, int block, int row) {
    size_t place = (size_t)row * (size_t)rows->componentCount;
    double response = rows->compliance[row];
    if (rows->bodyA[block] >= 0) {
        response += responseThrough(rows, rows->bodyA[block], rows->jacobianA + place);
    }
    if (rows->bodyB[block] >= 0) {
        response += responseThrough(rows, rows->bodyB[block], rows->jacobianB + place);
    }
    for (int k = 0; k < rows->termCounts[row]; ++k) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k];
        response += term->isDynamic ? responseThrough(rows, term->body, term->jacobian) : 0.0;
    }
    return response;
}

double tpRows_ResidualSquared(const tpRows* rows, int block) {
    int first = rows->firstRows[block], count = rows->dimensions[block];
    double trace = 0.0;
    for (int k = first; k < first + count; ++k) {
        trace += tpRows_Response(rows, block, k) * rows->scale[k] * rows->scale[k];
    }
    double rho = trace > 0.0 ? (double)count / trace : 1.0;
    double r[TP_FRICTION_MAX_ROWS] = { 0 }, u[TP_FRICTION_MAX_ROWS] = { 0 };
    double map[TP_FRICTION_MAX_ROWS];
    for (int k = 0; k < count; ++k) {
        r[k] = rows->impulse[first + k] / rows->scale[first + k];
        u[k] = rho * rows->velocity[first + k] * rows->scale[first + k];
    }
    tpFrictionNaturalMap(count, rows->kinds[block], rows->mu[block], r, u, map);
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
        sum += (map[k] / rho) * (map[k] / rho);
    }
    return sum;
}

// W -----------------------------------------------------------------------------------------------

// The directions of row k of a block on one body, or NULL.
static const double* directionsOn(const tpRows* rows, int block, int k, int body) {
    int row = rows->firstRows[block] + k;
    size_t place = (size_t)row * (size_t)rows->componentCount;
    if (rows->bodyA[block] == body) {
        return rows->jacobianA + place;
    }
    if (rows->bodyB[block] == body) {
        return rows->jacobianB + place;
    }
    for (int t = 0; t < rows->termCounts[row]; ++t) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + t];
        if (term->body == body) {
            return term->jacobian;
        }
    }
    return NULL;
}

// W of two blocks through one body.
static void addThroughBody(const tpRows* rows, int body, int b, int c,
                           double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]) {
    int componentCount = rows->componentCount;
    const double* inverse =
        rows->inverseMass + (size_t)body * (size_t)(componentCount * componentCount);
    for (int j = 0; j < rows->dimensions[c]; ++j) {
        const double* Jc = directionsOn(rows, c, j, body);
        if (Jc == NULL) {
            continue;
        }
        double response[6];
        for (int i = 0; i < componentCount; ++i) {
            double sum = 0.0;
            for (int k = 0; k < componentCount; ++k) {
                sum += inverse[i * componentCount + k] * Jc[k];
            }
            response[i] = sum;
        }
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            const double* Jb = directionsOn(rows, b, i, body);
            double sum = 0.0;
            for (int k = 0; Jb != NULL && k < componentCount; ++k) {
                sum += Jb[k] * response[k];
            }
            W[i][j] += sum;
        }
    }
}

void tpRows_Coupling(const tpRows* rows, int b, int c,
                     double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]) {
    memset(W, 0, sizeof(double) * TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS);
    int ofB, ofC;
    for (int i = 0; tpRows_BodyAt(rows, b, i, &ofB); ++i) {
        for (int k = 0; ofB >= 0 && tpRows_BodyAt(rows, c, k, &ofC); ++k) {
            if (ofB == ofC) {
                addThroughBody(rows, ofB, b, c, W);
            }
        }
    }
}

// W as a sparse matrix; NULL where memory ran out.
static const tpMatrix* makeMatrix(const tpRows* rows) {
    tpArena* arena = rows->arena;
    tpBlockGraph graph;
    if (!tpRows_Graph(rows, arena, &graph)) {
        return NULL;
    }
    int* starts = TP_SCRATCH(arena, int, rows->rowCount + 1);
    if (starts == NULL) {
        return NULL;
    }
    int entries = 0;
    for (int c = 0; c < rows->blockCount; ++c) {
        int count, height = 0;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, c, &count);
        for (int k = 0; k < count; ++k) {
            height += rows->dimensions[neighbours[k]];
        }
        for (int j = 0; j < rows->dimensions[c]; ++j) {
            starts[rows->firstRows[c] + j] = entries;
            entries += height;
        }
    }
    starts[rows->rowCount] = entries;
    int* indices = TP_SCRATCH(arena, int, entries);
    double* values = TP_SCRATCH(arena, double, entries);
    tpMatrix* matrix = tpArena_Get(arena, sizeof(tpMatrix));
    if (arena->failed) {
        return NULL;
    }
    for (int c = 0; c < rows->blockCount; ++c) {
        int count, offset = 0;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, c, &count);
        for (int k = 0; k < count; ++k) {
            int b = neighbours[k];
            double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
            tpRows_Coupling(rows, b, c, W);
            for (int j = 0; j < rows->dimensions[c]; ++j) {
                int place = starts[rows->firstRows[c] + j] + offset;
                for (int i = 0; i < rows->dimensions[b]; ++i) {
                    indices[place + i] = rows->firstRows[b] + i;
                    values[place + i] = W[i][j];
                }
            }
            offset += rows->dimensions[b];
        }
    }
    *matrix = tpSparseMatrix(rows->rowCount, rows->rowCount, starts, indices, values);
    return matrix;
}

tpFrictionProblem tpRows_FrictionProblem(const tpRows* rows, tpFrictionBodies* bodies) {
    tpFrictionProblem problem;
    memset(&problem, 0, sizeof(problem));
    problem.blockCount = rows->blockCount;
    problem.dimensions = rows->dimensions;
    problem.kinds = rows->kinds;
    problem.mu = rows->mu;
    problem.scale = rows->scale;
    problem.compliance = rows->compliance;
    problem.q = rows->q;
    if (rows->termCount > 0) {
        problem.W = makeMatrix(rows);
        problem.blockCount = problem.W != NULL ? rows->blockCount : 0;
        return problem;
    }
    bodies->bodyCount = rows->bodyCount;
    bodies->componentCount = rows->componentCount;
    bodies->inverseMass = rows->inverseMass;
    bodies->bodyA = rows->bodyA;
    bodies->bodyB = rows->bodyB;
    bodies->jacobianA = rows->jacobianA;
    bodies->jacobianB = rows->jacobianB;
    problem.bodies = bodies;
    return problem;
}
