// Random trees of bodies, joined to each other and to the world, with contacts between them.

#ifndef TIPPE_TESTS_TREE_CASES_H
#define TIPPE_TESTS_TREE_CASES_H

#include "friction_cases.h"

static FrictionCase mechanism;
static double compliance[CASE_ROWS];

// Rows near the axes from `first` on.
static inline void addRandomRows(int first, int count) {
    FrictionCase* c = &mechanism;
    int n = c->bodies.componentCount;
    for (int k = 0; k < count; ++k, ++c->rows) {
        for (int i = 0; i < n; ++i) {
            double along = i == first + k ? 1.0 : 0.0;
            c->jacobianA[c->rows * n + i] = along + caseUniform(c, -0.2, 0.2);
            c->jacobianB[c->rows * n + i] = -along + caseUniform(c, -0.2, 0.2);
        }
        c->scale[c->rows] = 1.0;
        compliance[c->rows] = 0.0;
        c->q[c->rows] = caseUniform(c, -1.0, 1.0);
    }
}

// A tree of bodies of n velocities. A joint has n - 1 rigid rows, a servo one with compliance;
// contacts lie between any two bodies. With `isLooped` the first and the last body are joined to
// the world too.
static inline void makeTree(uint64_t seed, int n, int count, bool isGrounded, bool isLooped) {
    FrictionCase* c = &mechanism;
    memset(c, 0, sizeof(*c));
    c->state = 88172645463325252u + 104729u * seed;
    c->bodies.componentCount = n;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < n; ++k) {
            c->inverseMass[(size_t)(i * n * n + k * (n + 1))] = caseUniform(c, 0.1, 10.0);
        }
    }
    for (int i = isGrounded ? 0 : 1; i < count; ++i) {
        int parent = i == 0 ? -1 : (int)caseUniform(c, 0.0, i);
        bool isTurned = caseUniform(c, 0.0, 1.0) < 0.5;
        caseBlock(c, tp_frictionFree, n - 1, 0.0, isTurned ? i : parent, isTurned ? parent : i);
        addRandomRows(0, n - 1);
        caseBlock(c, tp_frictionFree, 1, 0.0, parent, i);
        addRandomRows(n - 1, 1);
        compliance[c->rows - 1] = caseUniform(c, 0.1, 1.0);
    }
    for (int k = 0; isLooped && k < 2; ++k) {
        caseBlock(c, tp_frictionFree, 1, 0.0, -1, k == 0 ? 0 : count - 1);
        addRandomRows(n - 1, 1);
    }
    for (int k = 0; k < 4; ++k) {
        int body = (int)caseUniform(c, 0.0, count), other = (int)caseUniform(c, -1.0, count);
        other = other == body || k == 0 ? -1 : other;
        caseBlock(c, tp_frictionCone, n == 6 ? 3 : 2, 0.5, body, other);
        addRandomRows(0, n == 6 ? 3 : 2);
    }
    c->bodies = (tpFrictionBodies){ .bodyCount = count,
                                    .componentCount = n,
                                    .inverseMass = c->inverseMass,
                                    .bodyA = c->bodyA,
                                    .bodyB = c->bodyB,
                                    .jacobianA = c->jacobianA,
                                    .jacobianB = c->jacobianB };
    c->problem.dimensions = c->dimensions;
    c->problem.kinds = c->kinds;
    c->problem.mu = c->mu;
    c->problem.compliance = compliance;
    c->problem.q = c->q;
    c->problem.bodies = &c->bodies;
}

#endif
