// Random contact problems, the same on every machine: towers of bodies that lean on each other,
// with patches of redundant contacts, mass ratios, joints, limits and torsional friction as asked
// for.

#ifndef TIPPE_TESTS_FRICTION_CASES_H
#define TIPPE_TESTS_FRICTION_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tippe/friction.h"

typedef struct CaseOptions {
    int bodies;
    int componentCount; // 6, or 3 in the plane
    int patch;          // contacts between two bodies, some of them exact duplicates
    double massRatio;   // masses are between 1 and this
    double muLow, muHigh;
    bool joints;  // some pairs are joined by a ball (a hinge in the plane) instead
    bool limits;  // some one-row nonnegative blocks
    bool torsion; // contacts in space have four rows, elliptic
} CaseOptions;

enum { CASE_BLOCKS = 2000, CASE_ROWS = 4 * CASE_BLOCKS, CASE_BODIES = 400 };

typedef struct FrictionCase {
    tpFrictionProblem problem;
    tpFrictionBodies bodies;
    int dimensions[CASE_BLOCKS];
    unsigned char kinds[CASE_BLOCKS];
    double mu[CASE_BLOCKS];
    int bodyA[CASE_BLOCKS], bodyB[CASE_BLOCKS];
    double scale[CASE_ROWS], q[CASE_ROWS];
    double jacobianA[CASE_ROWS * 6], jacobianB[CASE_ROWS * 6];
    double inverseMass[CASE_BODIES * 36];
    double freeVelocity[CASE_BODIES * 6];
    double r[CASE_ROWS], u[CASE_ROWS];
    int rows;
    uint64_t state;
} FrictionCase;

static inline double caseUniform(FrictionCase* c, double low, double high) {
    c->state ^= c->state >> 12;
    c->state ^= c->state << 25;
    c->state ^= c->state >> 27;
    return low + (high - low) * (double)((c->state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static inline void caseCross(const double* a, const double* b, double* c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

// Adds a row along `axis` at arms rA, rB (an angular row where `angular`).
static inline void caseRow(FrictionCase* c, const double* axis, const double* rA, const double* rB,
                           bool angular) {
    int n = c->bodies.componentCount;
    double* JA = c->jacobianA + (size_t)(c->rows * n);
    double* JB = c->jacobianB + (size_t)(c->rows * n);
    memset(JA, 0, sizeof(double) * (size_t)n);
    memset(JB, 0, sizeof(double) * (size_t)n);
    if (n == 3) {
        JA[0] = axis[0];
        JA[1] = axis[1];
        JA[2] = rA[0] * axis[1] - rA[1] * axis[0];
        JB[0] = -axis[0];
        JB[1] = -axis[1];
        JB[2] = -(rB[0] * axis[1] - rB[1] * axis[0]);
    } else {
        double mA[3], mB[3];
        caseCross(rA, axis, mA);
        caseCross(rB, axis, mB);
        for (int i = 0; i < 3; ++i) {
            JA[i] = angular ? 0.0 : axis[i];
            JB[i] = angular ? 0.0 : -axis[i];
            JA[3 + i] = angular ? axis[i] : mA[i];
            JB[3 + i] = angular ? -axis[i] : -mB[i];
        }
    }
    c->scale[c->rows++] = 1.0;
}

static inline void caseBlock(FrictionCase* c, int kind, int rows, double mu, int a, int b) {
    int k = c->problem.blockCount++;
    c->kinds[k] = (unsigned char)kind;
    c->dimensions[k] = rows;
    c->mu[k] = mu;
    c->bodyA[k] = a;
    c->bodyB[k] = b;
}

// Normal and two tangents; in the plane the normal and one.
static inline void caseFrame(FrictionCase* c, int componentCount, double tilt, double frame[3][3]) {
    double* n = frame[0];
    int up = componentCount == 3 ? 1 : 2;
    double length = 0.0;
    for (int i = 0; i < 3; ++i) {
        n[i] = (i == up ? 1.0 : 0.0) + tilt * caseUniform(c, -1.0, 1.0);
    }
    n[2] = componentCount == 3 ? 0.0 : n[2];
    for (int i = 0; i < 3; ++i) {
        length += n[i] * n[i];
    }
    for (int i = 0; i < 3; ++i) {
        n[i] /= sqrt(length);
    }
    if (componentCount == 3) {
        frame[1][0] = n[1];
        frame[1][1] = -n[0];
        frame[1][2] = 0.0;
        return;
    }
    double helper[3] = { fabs(n[0]) < 0.7 ? 1.0 : 0.0, fabs(n[0]) < 0.7 ? 0.0 : 1.0, 0.0 };
    caseCross(n, helper, frame[1]);
    length =
        sqrt(frame[1][0] * frame[1][0] + frame[1][1] * frame[1][1] + frame[1][2] * frame[1][2]);
    for (int i = 0; i < 3; ++i) {
        frame[1][i] /= length;
    }
    caseCross(n, frame[1], frame[2]);
}

static inline void caseContacts(FrictionCase* c, const CaseOptions* options, int a, int b) {
    double frame[3][3], center[3], rA[3], rB[3];
    bool space = options->componentCount == 6;
    caseFrame(c, options->componentCount, 0.4, frame);
    double mu = caseUniform(c, options->muLow, options->muHigh);
    for (int i = 0; i < 3; ++i) {
        center[i] = caseUniform(c, -0.3, 0.3) - 0.5 * frame[0][i];
    }
    int points = 1 + (int)caseUniform(c, 0.0, options->patch);
    for (int p = 0; p < points; ++p) {
        double x = 0.4 * (p % 2 ? 1.0 : -1.0), y = 0.4 * (p / 2 % 2 ? 1.0 : -1.0);
        for (int i = 0; i < 3; ++i) {
            rA[i] = center[i] + x * frame[1][i] + (space ? y * frame[2][i] : 0.0);
            rB[i] = rA[i] + frame[0][i];
        }
        caseRow(c, frame[0], rA, rB, false);
        caseRow(c, frame[1], rA, rB, false);
        if (space) {
            caseRow(c, frame[2], rA, rB, false);
        }
        if (space && options->torsion) {
            caseRow(c, frame[0], rA, rB, true);
            c->scale[c->rows - 1] = 0.05;
            c->scale[c->rows - 2] = 0.6;
        }
        caseBlock(c, tp_frictionCone, space ? (options->torsion ? 4 : 3) : 2, mu, a, b);
    }
}

static inline void caseJoint(FrictionCase* c, int componentCount, int a, int b) {
    double rA[3], rB[3];
    for (int i = 0; i < 3; ++i) {
        rA[i] = caseUniform(c, -0.5, 0.5);
        rB[i] = caseUniform(c, -0.5, 0.5);
    }
    int rows = componentCount == 6 ? 3 : 2;
    for (int i = 0; i < rows; ++i) {
        double axis[3] = { i == 0, i == 1, i == 2 };
        caseRow(c, axis, rA, rB, false);
    }
    caseBlock(c, tp_frictionFree, rows, 0.0, a, b);
}

static inline void caseLimit(FrictionCase* c, int componentCount, int a, int b) {
    double frame[3][3], rA[3] = { 0.2, 0.1, -0.1 }, rB[3] = { -0.1, 0.2, 0.1 };
    caseFrame(c, componentCount, 2.0, frame);
    caseRow(c, frame[0], rA, rB, componentCount == 6);
    caseBlock(c, tp_frictionNonnegative, 1, 0.0, a, b);
}

// Velocities fall and spin, and q = J v.
static inline void caseVelocities(FrictionCase* c, int componentCount, int bodies) {
    for (int i = 0; i < bodies * componentCount; ++i) {
        c->freeVelocity[i] = caseUniform(c, -1.0, 1.0);
    }
    for (int i = 0; i < bodies; ++i) {
        c->freeVelocity[i * componentCount + (componentCount == 3 ? 1 : 2)] -= 1.0;
    }
    for (int b = 0, row = 0; b < c->problem.blockCount; ++b) {
        for (int k = 0; k < c->dimensions[b]; ++k, ++row) {
            double sum = 0.0;
            for (int i = 0; i < componentCount; ++i) {
                int at = row * componentCount + i;
                sum += c->bodyA[b] >= 0
                           ? c->jacobianA[at] * c->freeVelocity[c->bodyA[b] * componentCount + i]
                           : 0.0;
                sum += c->bodyB[b] >= 0
                           ? c->jacobianB[at] * c->freeVelocity[c->bodyB[b] * componentCount + i]
                           : 0.0;
            }
            c->q[row] = sum;
        }
    }
}

static inline void makeCase(FrictionCase* c, const CaseOptions* options, uint64_t seed) {
    memset(c, 0, sizeof *c);
    c->state = seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du;
    int n = options->componentCount;
    c->bodies = (tpFrictionBodies){ .bodyCount = options->bodies,
                                    .componentCount = n,
                                    .inverseMass = c->inverseMass,
                                    .bodyA = c->bodyA,
                                    .bodyB = c->bodyB,
                                    .jacobianA = c->jacobianA,
                                    .jacobianB = c->jacobianB };
    for (int i = 0; i < options->bodies; ++i) {
        double mass = pow(options->massRatio, caseUniform(c, 0.0, 1.0));
        for (int k = 0; k < n; ++k) {
            bool angular = n == 6 ? k >= 3 : k == 2;
            double inertia = angular ? mass * caseUniform(c, 0.1, 0.4) : mass;
            c->inverseMass[(i * n + k) * n + k] = 1.0 / inertia;
        }
    }
    for (int i = 0; i < options->bodies; ++i) {
        int supports = 1 + (int)caseUniform(c, 0.0, 2.5);
        for (int s = 0; s < supports; ++s) {
            int below = i > 0 ? (int)caseUniform(c, fmax(-1.0, i - 4.0), (double)i) : -1;
            if (c->problem.blockCount + options->patch + 2 > CASE_BLOCKS) {
                break;
            }
            if (options->joints && caseUniform(c, 0.0, 1.0) < 0.3) {
                caseJoint(c, n, i, below);
            } else {
                caseContacts(c, options, i, below);
            }
            if (options->limits && caseUniform(c, 0.0, 1.0) < 0.3) {
                caseLimit(c, n, i, below);
            }
        }
    }
    caseVelocities(c, n, options->bodies);
    c->problem.dimensions = c->dimensions;
    c->problem.kinds = c->kinds;
    c->problem.mu = c->mu;
    c->problem.scale = c->scale;
    c->problem.q = c->q;
    c->problem.bodies = &c->bodies;
}

// W = J M^-1 J^T, dense by columns; the caller frees it.
static inline double* caseMatrix(const FrictionCase* c) {
    int rows = c->rows, n = c->bodies.componentCount;
    double* W = calloc((size_t)rows * (size_t)rows, sizeof(double));
    double* e = calloc((size_t)rows, sizeof(double));
    double* v = malloc(sizeof(double) * (size_t)(c->bodies.bodyCount * n));
    for (int j = 0; j < rows; ++j) {
        memset(v, 0, sizeof(double) * (size_t)(c->bodies.bodyCount * n));
        e[j] = 1.0;
        tpFriction_ApplyImpulses(&c->problem, e, v);
        e[j] = 0.0;
        for (int b = 0, i = 0; b < c->problem.blockCount; ++b) {
            for (int k = 0; k < c->dimensions[b]; ++k, ++i) {
                double sum = 0.0;
                for (int a = 0; a < n; ++a) {
                    sum +=
                        c->bodyA[b] >= 0 ? c->jacobianA[i * n + a] * v[c->bodyA[b] * n + a] : 0.0;
                    sum +=
                        c->bodyB[b] >= 0 ? c->jacobianB[i * n + a] * v[c->bodyB[b] * n + a] : 0.0;
                }
                W[(size_t)j * (size_t)rows + (size_t)i] = sum;
            }
        }
    }
    free(e);
    free(v);
    return W;
}

#endif
