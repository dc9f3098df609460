// Mechanisms that touch: trees of bodies on hinges with drives of bounded size, and contacts at
// their ends. The joints are eliminated; the first stage solves all of them, in a few iterations.

#include <math.h>
#include <string.h>

#include "complementarity/solver_memory.h"
#include "friction_cases.h"

static FrictionCase mechanism;
static double compliance[CASE_ROWS];

static void addBlock(int bodyA, int bodyB, unsigned char kind, int rows, double mu) {
    FrictionCase* c = &mechanism;
    int b = c->problem.blockCount++;
    c->dimensions[b] = rows;
    c->kinds[b] = kind;
    c->mu[b] = mu;
    c->bodyA[b] = bodyA;
    c->bodyB[b] = bodyB;
}

static void emptyRow(void) {
    FrictionCase* c = &mechanism;
    memset(c->jacobianA + 6 * c->rows, 0, 6 * sizeof(double));
    memset(c->jacobianB + 6 * c->rows, 0, 6 * sizeof(double));
    c->scale[c->rows++] = 1.0;
}

// q = J v of the rows, v the velocities without impulses.
static void setVelocities(void) {
    FrictionCase* c = &mechanism;
    for (int b = 0, row = 0; b < c->problem.blockCount; ++b) {
        for (int k = 0; k < c->dimensions[b]; ++k, ++row) {
            for (int i = 0; i < 6; ++i) {
                c->q[row] += c->jacobianA[6 * row + i] * c->freeVelocity[6 * c->bodyA[b] + i];
                if (c->bodyB[b] >= 0) {
                    c->q[row] += c->jacobianB[6 * row + i] * c->freeVelocity[6 * c->bodyB[b] + i];
                }
            }
        }
    }
}

// A tree of `count` bodies; every leaf touches the ground in two points. Drives give `bound` at
// most.
static void makeMechanism(uint64_t seed, int count, double bound) {
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    FrictionCase* c = &mechanism;
    memset(c, 0, sizeof(*c));
    memset(compliance, 0, sizeof compliance);
    c->state = 88172645463325252u + 7919u * seed;
    c->bodies.componentCount = 6; // of caseRow
    bool isLeaf[CASE_BODIES];
    for (int i = 0; i < count; ++i) {
        double mass = caseUniform(c, 0.2, 5.0);
        isLeaf[i] = true;
        for (int k = 0; k < 6; ++k) {
            c->inverseMass[36 * i + 7 * k] = k < 3 ? 1.0 / mass : 1.0 / (0.02 * mass);
            c->freeVelocity[6 * i + k] = caseUniform(c, -1.0, 1.0);
        }
        c->freeVelocity[6 * i + 2] -= 1.0;
    }
    for (int i = 1; i < count; ++i) {
        int parent = (int)caseUniform(c, 0.0, i), axis = i % 3;
        isLeaf[parent] = false;
        double armA[3], armB[3];
        for (int k = 0; k < 3; ++k) {
            armA[k] = caseUniform(c, -0.3, 0.3);
            armB[k] = caseUniform(c, -0.3, 0.3);
        }
        addBlock(parent, i, tp_frictionFree, 3, 0.0);
        for (int k = 0; k < 3; ++k) {
            caseRow(c, axes[k], armA, armB, false);
        }
        addBlock(parent, i, tp_frictionFree, 2, 0.0);
        caseRow(c, axes[(axis + 1) % 3], armA, armB, true);
        caseRow(c, axes[(axis + 2) % 3], armA, armB, true);
        // The drive: a cone with a fixed load, and give in its row.
        addBlock(parent, i, tp_frictionCone, 2, 1.0);
        compliance[c->rows] = 1e-2;
        c->q[c->rows] = -1e-2 * bound;
        emptyRow();
        compliance[c->rows] = 0.5;
        c->q[c->rows] = caseUniform(c, -1.0, 1.0);
        caseRow(c, axes[axis], armA, armB, true);
    }
    for (int i = 0; i < count; ++i) {
        for (int n = 0; isLeaf[i] && n < 2; ++n) {
            double arm[3] = { caseUniform(c, -0.1, 0.1), caseUniform(c, -0.1, 0.1), -0.1 };
            addBlock(i, -1, tp_frictionCone, 3, 0.6);
            caseRow(c, axes[2], arm, arm, false);
            caseRow(c, axes[0], arm, arm, false);
            caseRow(c, axes[1], arm, arm, false);
        }
    }
    setVelocities();
    c->bodies = (tpFrictionBodies){ .bodyCount = count,
                                    .componentCount = 6,
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

// Contacts of the bodies with the ground that open by `speed` if nothing pushes.
static void addOpenContacts(int count, int bodyCount, double speed) {
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    FrictionCase* c = &mechanism;
    for (int n = 0; n < count; ++n) {
        double arm[3] = { caseUniform(c, -0.3, 0.3), caseUniform(c, -0.3, 0.3), -0.1 };
        int first = c->rows;
        addBlock(n % bodyCount, -1, tp_frictionCone, 3, 0.6);
        caseRow(c, axes[2], arm, arm, false);
        caseRow(c, axes[0], arm, arm, false);
        caseRow(c, axes[1], arm, arm, false);
        c->q[first] = speed;
    }
}

static int pushing(int firstBlock) {
    int count = 0;
    for (int b = 0, row = 0; b < mechanism.problem.blockCount; row += mechanism.dimensions[b++]) {
        count += b >= firstBlock && mechanism.r[row] > 0.0;
    }
    return count;
}

static int drivesAtBound(double bound) {
    int count = 0;
    for (int b = 0, row = 0; b < mechanism.problem.blockCount; row += mechanism.dimensions[b++]) {
        bool isDrive = mechanism.kinds[b] == tp_frictionCone && mechanism.dimensions[b] == 2;
        count += isDrive && fabs(fabs(mechanism.r[row + 1]) - bound) < 1e-6 * bound;
    }
    return count;
}

// Returns the iterations; adds up the drives at their bounds.
static int solveMechanisms(double bound, int* atBound) {
    int iterations = 0;
    *atBound = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        makeMechanism(seed, 4 + (int)(seed % 23), bound);
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-11;
        tpSolveReport report;
        assert_int_equal(tpFriction_Solve(&mechanism.problem, &options, memory, mechanism.r,
                                          mechanism.u, &report),
                         tp_solved);
        assert_int_equal(report.stageCount, 1);
        iterations += report.iterations;
        tpFrictionResidual residual;
        assert_true(
            tpFriction_Judge(&mechanism.problem, mechanism.r, mechanism.u, memory, &residual));
        assert_true(residual.natural <= 1e-11);
        *atBound += drivesAtBound(bound);
    }
    return iterations;
}

static void strongDrivesHold(void** state) {
    (void)state;
    int atBound;
    assert_true(solveMechanisms(1e3, &atBound) < 40 * 40);
    assert_int_equal(atBound, 0);
}

// Some of the drives give way: they leave the rows that are eliminated.
static void weakDrivesGiveWay(void** state) {
    (void)state;
    int atBound;
    solveMechanisms(0.2, &atBound);
    assert_true(atBound > 20);
}

// Contacts that neither push nor close cost nothing: with them there are more rows than a small
// problem may have. Those that the others make close join.
static void openContactsAreLeftOut(void** state) {
    (void)state;
    const double speeds[2] = { 1e3, 1e-3 };
    int joined = 0;
    for (int k = 0; k < 2; ++k) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            int bodyCount = 8 + (int)(seed % 9);
            makeMechanism(seed, bodyCount, 1e3);
            int firstBlock = mechanism.problem.blockCount;
            addOpenContacts(100 - 70 * k, bodyCount, speeds[k]);
            tpFrictionOptions options = tpDefaultFrictionOptions();
            options.tolerance = 1e-11;
            tpSolveReport report;
            tpFriction_Solve(&mechanism.problem, &options, memory, mechanism.r, mechanism.u,
                             &report);
            assert_int_equal(report.status, tp_solved);
            assert_true(k > 0 || report.stageCount == 1);
            joined += pushing(firstBlock);
            assert_true(k > 0 || joined == 0);
        }
    }
    assert_true(joined > 10);
}

// From its own solution nothing is left to do.
static void startsWhereItIs(void** state) {
    (void)state;
    makeMechanism(5, 25, 1.0);
    tpSolveReport report;
    tpFriction_Solve(&mechanism.problem, NULL, memory, mechanism.r, mechanism.u, &report);
    assert_int_equal(
        tpFriction_Solve(&mechanism.problem, NULL, memory, mechanism.r, mechanism.u, &report),
        tp_solved);
    assert_int_equal(report.iterations, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strongDrivesHold),
        cmocka_unit_test(weakDrivesGiveWay),
        cmocka_unit_test(openContactsAreLeftOut),
        cmocka_unit_test(startsWhereItIs),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
