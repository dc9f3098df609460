// What rows say of velocities, and what their impulses do to them.

#include "complementarity/friction_island.h"
#include "dynamics/rows.h"

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

static inline double quadraticForm(int componentCount, const double* row, const double* inverse) {
    double sum = 0.0;
    for (int i = 0; i < componentCount; ++i) {
        for (int j = 0; j < componentCount; ++j) {
            sum += row[i] * inverse[i * componentCount + j] * row[j];
        }
    }
    return sum;
}

static double responseThrough(const tpRows* rows, int body, const double* row) {
    int componentCount = rows->componentCount;
    const double* inverse =
        rows->inverseMass + (size_t)body * (size_t)(componentCount * componentCount);
    return componentCount == 6 ? quadraticForm(6, row, inverse) : quadraticForm(3, row, inverse);
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
