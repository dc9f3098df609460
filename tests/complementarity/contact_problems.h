// Contact problems for tests: bodies, contacts with a friction pyramid, and the LCPs they lead to.
//
// Two forms of one problem. Reduced: z = (c_n, beta, lambda) with
//     M = | n'Wn  n'WD  0 |
//         | D'Wn  D'WD  E |,   q = (n'v + gap, D'v, 0),   W the inverse mass.
//         |  mu    -E'  0 |
// Mixed: z = (v+, c_joint, c_n, beta, lambda), v+ and c_joint free, nothing inverted. With gap >= 0
// a solution exists whatever the bodies do [AnitescuPotra97].

#ifndef TIPPE_TESTS_COMPLEMENTARITY_CONTACT_PROBLEMS_H
#define TIPPE_TESTS_COMPLEMENTARITY_CONTACT_PROBLEMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/lcp.h"

enum { maxBodies = 64, maxContacts = 256, maxDirections = 8, maxJoints = 32 };

typedef struct ContactRow {
    int a; // body, -1 for none
    int b;
    double wrench[12]; // on a, then on b
} ContactRow;

typedef struct ContactProblem {
    int bodyCount, contactCount, directionCount, jointCount;
    double inverseMass[maxBodies][6]; // diagonal in body axes that are the world's
    double velocity[maxBodies][6];    // without contact
    double mu[maxContacts];
    double gap[maxContacts]; // over the step, m/s
    ContactRow normal[maxContacts];
    ContactRow tangent[maxContacts][maxDirections];
    ContactRow joint[maxJoints];
} ContactProblem;

// A problem in memory of its own.
typedef struct OwnedLcp {
    tpLcp lcp;
    double* values;
    int* starts;
    int* rows;
    double* q;
    bool* isFree;
} OwnedLcp;

static inline void freeLcp(OwnedLcp* owned) {
    free(owned->values);
    free(owned->starts);
    free(owned->rows);
    free(owned->q);
    free(owned->isFree);
}

static inline ContactRow makeRow(int a, int b, tpVec3 direction, tpVec3 armA, tpVec3 armB) {
    tpVec3 turnA = tpCross(armA, direction);
    tpVec3 turnB = tpCross(armB, direction);
    ContactRow row = { a,
                       b,
                       { direction.x, direction.y, direction.z, turnA.x, turnA.y, turnA.z,
                         -direction.x, -direction.y, -direction.z, -turnB.x, -turnB.y, -turnB.z } };
    return row;
}

static inline void addContact(ContactProblem* problem, int a, int b, tpVec3 normal, tpVec3 armA,
                              tpVec3 armB, double mu, double gap) {
    int c = problem->contactCount++;
    tpVec3 other = fabs(normal.x) < 0.7 ? tpMakeVec3(1, 0, 0) : tpMakeVec3(0, 1, 0);
    tpVec3 t = tpNormalize(tpCross(normal, other));
    tpVec3 o = tpCross(normal, t);
    problem->normal[c] = makeRow(a, b, normal, armA, armB);
    problem->mu[c] = mu;
    problem->gap[c] = gap;
    for (int k = 0; k < problem->directionCount; ++k) {
        double angle = 2.0 * 3.14159265358979323846 * k / problem->directionCount;
        tpVec3 direction = tpAdd(tpScale(cos(angle), t), tpScale(sin(angle), o));
        // Opposite directions are exact negatives, as steppers make them.
        if (2 * k >= problem->directionCount) {
            problem->tangent[c][k] = problem->tangent[c][k - problem->directionCount / 2];
            for (int e = 0; e < 12; ++e) {
                problem->tangent[c][k].wrench[e] = -problem->tangent[c][k].wrench[e];
            }
        } else {
            problem->tangent[c][k] = makeRow(a, b, direction, armA, armB);
        }
    }
}

static inline tpVec3 randomDirection(tpRandom* random) {
    tpVec3 v;
    do {
        v = randomVec3(random, -1.0, 1.0);
    } while (tpDot(v, v) > 1.0 || tpDot(v, v) < 0.01);
    return tpNormalize(v);
}

// Bodies and contacts at random: a third of the contacts touch the ground.
static inline void makeRandomProblem(ContactProblem* problem, tpRandom* random, int bodyCount,
                                     int contactCount, int directionCount, double muMax) {
    memset(problem, 0, sizeof(*problem));
    problem->bodyCount = bodyCount;
    problem->directionCount = directionCount;
    for (int b = 0; b < bodyCount; ++b) {
        double mass = pow(10.0, randomBetween(random, -1.0, 1.0));
        for (int e = 0; e < 6; ++e) {
            problem->inverseMass[b][e] = (e < 3 ? 1.0 : randomBetween(random, 2.0, 20.0)) / mass;
            problem->velocity[b][e] = randomBetween(random, -2.0, 2.0);
        }
    }
    for (int c = 0; c < contactCount; ++c) {
        int a = (int)(randomBits(random) % (uint64_t)bodyCount);
        int b = (int)(randomBits(random) % (uint64_t)bodyCount);
        bool isGround = b == a || randomBits(random) % 3 == 0;
        double mu = randomBits(random) % 5 == 0 ? 0.0 : randomBetween(random, 0.0, muMax);
        double gap = randomBits(random) % 2 == 0 ? 0.0 : randomBetween(random, 0.0, 0.5);
        tpVec3 armA = randomVec3(random, -0.5, 0.5);
        addContact(problem, a, isGround ? -1 : b, randomDirection(random), armA,
                   randomVec3(random, -0.5, 0.5), mu, gap);
    }
}

// Unit cubes on each other, four corner contacts an interface, falling for one step of 0.01 s.
static inline void makeStack(ContactProblem* problem, int boxCount, int directionCount, double mu,
                             double push) {
    memset(problem, 0, sizeof(*problem));
    problem->bodyCount = boxCount;
    problem->directionCount = directionCount;
    for (int b = 0; b < boxCount; ++b) {
        for (int e = 0; e < 6; ++e) {
            problem->inverseMass[b][e] = e < 3 ? 1.0 : 6.0;
        }
        problem->velocity[b][2] = -0.0981;
        for (int corner = 0; corner < 4; ++corner) {
            double x = corner & 1 ? 0.5 : -0.5;
            double y = corner & 2 ? 0.5 : -0.5;
            addContact(problem, b, b - 1, tpMakeVec3(0, 0, 1), tpMakeVec3(x, y, -0.5),
                       tpMakeVec3(x, y, 0.5), mu, 0.0);
        }
    }
    problem->velocity[boxCount - 1][0] += push;
}

static inline double rowTimesVelocity(const ContactRow* row, double v[][6]) {
    double sum = 0.0;
    for (int e = 0; e < 6; ++e) {
        sum += row->a >= 0 ? row->wrench[e] * v[row->a][e] : 0.0;
        sum += row->b >= 0 ? row->wrench[6 + e] * v[row->b][e] : 0.0;
    }
    return sum;
}

static inline double rowTimesInverseMass(const ContactProblem* problem, const ContactRow* left,
                                         const ContactRow* right) {
    double sum = 0.0;
    int leftBodies[2] = { left->a, left->b };
    int rightBodies[2] = { right->a, right->b };
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (int e = 0; leftBodies[i] >= 0 && leftBodies[i] == rightBodies[j] && e < 6; ++e) {
                sum += left->wrench[6 * i + e] * problem->inverseMass[leftBodies[i]][e] *
                       right->wrench[6 * j + e];
            }
        }
    }
    return sum;
}

// The impulse rows in the order of z: normals, then tangents contact by contact.
static inline const ContactRow* impulseRow(const ContactProblem* problem, int index) {
    int c = index - problem->contactCount;
    return c < 0 ? &problem->normal[index]
                 : &problem->tangent[c / problem->directionCount][c % problem->directionCount];
}

static inline OwnedLcp makeReducedLcp(ContactProblem* problem) {
    int nc = problem->contactCount;
    int nk = problem->directionCount;
    int m = nc * (1 + nk);
    int n = m + nc;
    OwnedLcp owned = { 0 };
    owned.values = calloc((size_t)n * (size_t)n, sizeof(double));
    owned.q = calloc((size_t)n, sizeof(double));
    for (int i = 0; i < m; ++i) {
        const ContactRow* row = impulseRow(problem, i);
        for (int j = 0; j < m; ++j) {
            owned.values[i + (size_t)j * (size_t)n] =
                rowTimesInverseMass(problem, row, impulseRow(problem, j));
        }
        owned.q[i] = rowTimesVelocity(row, problem->velocity) + (i < nc ? problem->gap[i] : 0.0);
    }
    for (int c = 0; c < nc; ++c) {
        owned.values[m + c + (size_t)c * (size_t)n] = problem->mu[c];
        for (int k = 0; k < nk; ++k) {
            int beta = nc + c * nk + k;
            owned.values[m + c + (size_t)beta * (size_t)n] = -1.0;
            owned.values[beta + (size_t)(m + c) * (size_t)n] = 1.0;
        }
    }
    owned.lcp.n = n;
    owned.lcp.M = tpDenseMatrix(n, n, owned.values);
    owned.lcp.q = owned.q;
    return owned;
}

static inline void putRow(OwnedLcp* owned, int* used, const ContactRow* row, double sign) {
    for (int e = 0; e < 12; ++e) {
        int body = e < 6 ? row->a : row->b;
        if (body >= 0 && row->wrench[e] != 0.0) {
            owned->rows[*used] = 6 * body + e % 6;
            owned->values[(*used)++] = sign * row->wrench[e];
        }
    }
}

static inline double wrenchOn(const ContactRow* row, int body, int e) {
    return (row->a == body ? row->wrench[e] : 0.0) + (row->b == body ? row->wrench[6 + e] : 0.0);
}

// Sparse and mixed: rows and columns (v+, c_joint, c_n, beta, lambda).
static inline OwnedLcp makeMixedLcp(ContactProblem* problem) {
    int nv = 6 * problem->bodyCount;
    int nj = problem->jointCount;
    int nc = problem->contactCount;
    int nk = problem->directionCount;
    int m = nc * (1 + nk);
    int n = nv + nj + m + nc;
    int capacity = nv * (1 + nj + m) + (nj + m) * 12 + 4 * m + nc * (nk + 2);
    OwnedLcp owned = { 0 };
    owned.values = calloc((size_t)capacity, sizeof(double));
    owned.rows = calloc((size_t)capacity, sizeof(int));
    owned.starts = calloc((size_t)n + 1, sizeof(int));
    owned.q = calloc((size_t)n, sizeof(double));
    owned.isFree = calloc((size_t)n, sizeof(bool));
    int used = 0;
    for (int j = 0; j < nv; ++j) {
        int body = j / 6;
        double mass = 1.0 / problem->inverseMass[body][j % 6];
        owned.starts[j] = used;
        owned.isFree[j] = true;
        owned.q[j] = -mass * problem->velocity[body][j % 6];
        owned.rows[used] = j;
        owned.values[used++] = mass;
        for (int i = 0; i < nj + m; ++i) {
            const ContactRow* row = i < nj ? &problem->joint[i] : impulseRow(problem, i - nj);
            double value = wrenchOn(row, body, j % 6);
            if (value != 0.0) {
                owned.rows[used] = nv + i;
                owned.values[used++] = value;
            }
        }
    }
    for (int i = 0; i < nj + m; ++i) {
        int contact = i - nj < nc ? i - nj : (i - nj - nc) / nk;
        owned.starts[nv + i] = used;
        owned.isFree[nv + i] = i < nj;
        putRow(&owned, &used, i < nj ? &problem->joint[i] : impulseRow(problem, i - nj), -1.0);
        if (i >= nj) {
            owned.rows[used] = nv + nj + m + contact;
            owned.values[used++] = i - nj < nc ? problem->mu[contact] : -1.0;
        }
        if (i >= nj && i - nj < nc) {
            owned.q[nv + i] = problem->gap[contact];
        }
    }
    for (int c = 0; c < nc; ++c) {
        owned.starts[nv + nj + m + c] = used;
        for (int k = 0; k < nk; ++k) {
            owned.rows[used] = nv + nj + nc + c * nk + k;
            owned.values[used++] = 1.0;
        }
    }
    owned.starts[n] = used;
    owned.lcp.n = n;
    owned.lcp.M = tpSparseMatrix(n, n, owned.starts, owned.rows, owned.values);
    owned.lcp.q = owned.q;
    owned.lcp.isFree = owned.isFree;
    return owned;
}

// Velocities after the impulses z = (c_n, beta, ...) of the reduced problem.
static inline void velocitiesAfter(ContactProblem* problem, const double* z, double v[][6]) {
    memcpy(v, problem->velocity, sizeof(double) * 6 * (size_t)problem->bodyCount);
    for (int i = 0; i < problem->contactCount * (1 + problem->directionCount); ++i) {
        const ContactRow* row = impulseRow(problem, i);
        for (int e = 0; e < 6; ++e) {
            if (row->a >= 0) {
                v[row->a][e] += problem->inverseMass[row->a][e] * row->wrench[e] * z[i];
            }
            if (row->b >= 0) {
                v[row->b][e] += problem->inverseMass[row->b][e] * row->wrench[6 + e] * z[i];
            }
        }
    }
}

#endif
