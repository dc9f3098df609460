// What rows say of velocities, and what their impulses do to them.

#include "complementarity/friction_island.h"
#include "dynamics/rows.h"
#include "math/pairs.h"

static double rowTimesVelocity(int componentCount, const double* row, const tpVelocity* velocity) {
    if (componentCount == 3) {
        return row[0] * velocity->linear.x + row[1] * velocity->linear.y +
               row[2] * velocity->angular.z;
    }
    return row[0] * velocity->linear.x + row[1] * velocity->linear.y + row[2] * velocity->linear.z +
           row[3] * velocity->angular.x + row[4] * velocity->angular.y +
           row[5] * velocity->angular.z;
}

static const tpVelocity atRest;

static inline tpSix velocityOf(const tpVelocity* velocities, int body) {
    const tpVelocity* own = body >= 0 ? &velocities[body] : &atRest;
    return (tpSix){ { own->linear.x, own->linear.y },
                    { own->linear.z, own->angular.x },
                    { own->angular.y, own->angular.z } };
}

// Rows of two bodies in space, from `first` on.
static inline void readRows(const tpRows* rows, int first, int count, tpSix v, tpSix w, double* u) {
    const double* a = rows->jacobianA + (size_t)6 * (size_t)first;
    const double* b = rows->jacobianB + (size_t)6 * (size_t)first;
    for (int k = 0; k < count; ++k, a += 6, b += 6) {
        u[k] = tpPair_Sum(tpSix_AddProducts(tpSix_Products(a, v), b, w));
    }
}

void tpRows_ReadBlock(const tpRows* rows, int block, const tpVelocity* velocities, double* u) {
    int first = rows->firstRows[block], count = rows->dimensions[block];
    int bodyA = rows->givenA[block], bodyB = rows->givenB[block];
    if (rows->componentCount == 6 && rows->termCount == 0) {
        readRows(rows, first, count, velocityOf(velocities, bodyA), velocityOf(velocities, bodyB),
                 u);
        return;
    }
    for (int k = 0; k < count; ++k) {
        u[k] = tpRows_RowVelocity(rows, first + k, velocities, bodyA, bodyB);
    }
}

int tpRows_ReadJoint(const tpRows* rows, int block, const tpVelocity* velocities, double* u) {
    int end = block + 1, bodyA = rows->givenA[block], bodyB = rows->givenB[block];
    while (end < rows->blockCount && rows->givenA[end] == bodyA && rows->givenB[end] == bodyB &&
           rows->infos[end].source != tp_contactSource) {
        end += 1;
    }
    int first = rows->firstRows[block];
    int count = rows->firstRows[end - 1] + rows->dimensions[end - 1] - first;
    if (rows->componentCount == 6 && rows->termCount == 0) {
        readRows(rows, first, count, velocityOf(velocities, bodyA), velocityOf(velocities, bodyB),
                 u + first);
        return end;
    }
    for (int row = first; row < first + count; ++row) {
        u[row] = tpRows_RowVelocity(rows, row, velocities, bodyA, bodyB);
    }
    return end;
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

// What a row's impulse does to a body. An inverse mass is a diagonal of the linear components and,
// in space, three by three numbers of the angular ones.
static void addRow(int componentCount, const double* row, const double* inverse, double impulse,
                   tpVelocity* velocity) {
    if (impulse == 0.0) {
        return;
    }
    if (componentCount == 3) {
        velocity->linear.x += inverse[0] * row[0] * impulse;
        velocity->linear.y += inverse[4] * row[1] * impulse;
        velocity->angular.z += inverse[8] * row[2] * impulse;
        return;
    }
    const double* turn = inverse + 21;
    double x = row[3], y = row[4], z = row[5];
    velocity->linear.x += inverse[0] * row[0] * impulse;
    velocity->linear.y += inverse[7] * row[1] * impulse;
    velocity->linear.z += inverse[14] * row[2] * impulse;
    velocity->angular.x += (turn[0] * x + turn[1] * y + turn[2] * z) * impulse;
    velocity->angular.y += (turn[6] * x + turn[7] * y + turn[8] * z) * impulse;
    velocity->angular.z += (turn[12] * x + turn[13] * y + turn[14] * z) * impulse;
}

// Adds J' r of `count` rows to the force on a body, six numbers.
static inline void addForce(int count, const double* J, const double* r, double* force) {
    double sums[6];
    for (int i = 0; i < 6; ++i) {
        sums[i] = force[i];
    }
    for (int k = 0; k < count; ++k, J += 6) {
        for (int i = 0; i < 6; ++i) {
            sums[i] += J[i] * r[k];
        }
    }
    for (int i = 0; i < 6; ++i) {
        force[i] = sums[i];
    }
}

static inline bool isIdle(int count, const double* impulse) {
    for (int k = 0; k < count; ++k) {
        if (impulse[k] != 0.0) {
            return false;
        }
    }
    return true;
}

// Whether bodies have many rows each: most blocks are those of joints in space.
static bool isMechanism(const tpRows* rows) {
    int contacts = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        contacts += rows->infos[b].source == tp_contactSource;
    }
    return rows->componentCount == 6 && rows->termCount == 0 && 2 * contacts < rows->blockCount &&
           rows->bodyCount <= 4 * rows->blockCount;
}

// Rows of two bodies, in space: what all impulses do to a body meets its mass once. False if there
// is no memory for it.
static bool applyTogether(const tpRows* rows, tpVelocity* velocities) {
    tpArenaMark mark = tpArena_Mark(rows->arena);
    size_t count = 6 * (size_t)rows->bodyCount;
    double* total = TP_SCRATCH_ZEROED(rows->arena, double, count);
    if (total == NULL) {
        return false;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        size_t first = (size_t)rows->firstRows[b];
        int n = rows->dimensions[b], x = rows->bodyA[b], y = rows->bodyB[b];
        const double* impulse = rows->impulse + first;
        if (isIdle(n, impulse)) {
            continue;
        }
        if (x >= 0) {
            addForce(n, rows->jacobianA + 6 * first, impulse, total + 6 * (size_t)x);
        }
        if (y >= 0) {
            addForce(n, rows->jacobianB + 6 * first, impulse, total + 6 * (size_t)y);
        }
    }
    for (int i = 0; i < rows->bodyCount; ++i) {
        const double* own = total + (size_t)6 * (size_t)i;
        addRow(6, own, rows->inverseMass + (size_t)36 * (size_t)i, 1.0, &velocities[i]);
    }
    tpArena_Release(rows->arena, mark);
    return true;
}

void tpRows_ApplyImpulses(const tpRows* rows, tpVelocity* velocities) {
    int componentCount = rows->componentCount;
    size_t massSize = (size_t)(componentCount * componentCount);
    if (isMechanism(rows) && applyTogether(rows, velocities)) {
        return;
    }
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

void tpRows_ApplySolved(const tpRows* rows, tpVelocity* velocities) {
    if (rows->solvedChange == NULL || rows->componentCount != 6) {
        tpRows_ApplyImpulses(rows, velocities);
        return;
    }
    const double* change = rows->solvedChange;
    for (int i = 0; i < rows->bodyCount; ++i, change += 6) {
        velocities[i].linear =
            tpAdd(velocities[i].linear, tpMakeVec3(change[0], change[1], change[2]));
        velocities[i].angular =
            tpAdd(velocities[i].angular, tpMakeVec3(change[3], change[4], change[5]));
    }
}

// Nothing turns a body that is pushed, and nothing pushes one that is turned.
static inline double responseInSpace(const double* row, const double* inverse) {
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        sum += row[i] * inverse[7 * i] * row[i];
    }
    for (int i = 3; i < 6; ++i) {
        for (int j = 3; j < 6; ++j) {
            sum += row[i] * inverse[6 * i + j] * row[j];
        }
    }
    return sum;
}

static inline double responseInPlane(const double* row, const double* inverse) {
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        sum += row[i] * inverse[4 * i] * row[i];
    }
    return sum;
}

static double responseThrough(const tpRows* rows, int body, const double* row) {
    int componentCount = rows->componentCount;
    const double* inverse =
        rows->inverseMass + (size_t)body * (size_t)(componentCount * componentCount);
    return componentCount == 6 ? responseInSpace(row, inverse) : responseInPlane(row, inverse);
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

double tpRows_FreeSize(const tpRows* rows) {
    double sum = 0.0;
    for (int i = 0; i < rows->rowCount; ++i) {
        double speed = rows->scale[i] * rows->q[i];
        sum += speed * speed;
    }
    return sqrt(sum);
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
