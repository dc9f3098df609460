// Mechanisms that touch: trees of bodies on hinges with drives of bounded size, and contacts at
// their ends. The joints are eliminated; the first stage solves all of them, in a few iterations.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
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

enum { gapCount = 4 };

// Points of masses 1 to 4, each between a floor and a ceiling with friction. Both move, by 1 and by
// 1 - squeeze: if that is positive they contradict each other, and nothing solves it. From zero, to
// 1e-13; returns the residual as a part of |q|.
static double solveGaps(double squeeze, int* iterations) {
    enum { rows = 6 * gapCount };
    int dimensions[2 * gapCount];
    double mu[2 * gapCount], q[rows], r[rows] = { 0.0 }, u[rows], W[rows * rows] = { 0.0 };
    double sum = 0.0, work = 0.0;
    for (int b = 0; b < 2 * gapCount; ++b) {
        int point = b / 2, row = 3 * b;
        dimensions[b] = 3;
        mu[b] = 0.5;
        q[row] = b % 2 == 0 ? -1.0 : 1.0 - squeeze;
        q[row + 1] = 0.3 * point;
        q[row + 2] = -0.1;
        for (int k = 0; k < 3; ++k) {
            double mirrored = k == 0 ? -1.0 : 1.0;
            int other = 3 * (b ^ 1) + k;
            W[(row + k) * rows + row + k] = 1.0 / (1.0 + point);
            W[(row + k) * rows + other] = mirrored / (1.0 + point);
            sum += q[row + k] * q[row + k];
        }
    }
    tpMatrix matrix = tpDenseMatrix(rows, rows, W);
    tpFrictionProblem problem = {
        .blockCount = 2 * gapCount, .dimensions = dimensions, .mu = mu, .q = q, .W = &matrix
    };
    tpFrictionOptions options = tpDefaultFrictionOptions();
    tpSmallSolve small = { .tolerance = 1e-13, .limit = 30, .workLimit = 1e9 };
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    *iterations = 0;
    assert_true(
        tpFriction_SolveSmall(&problem, &options, &small, &memory->arena, r, iterations, &work));
    tpArena_Release(&memory->arena, mark);
    tpFrictionResidual residual;
    assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
    return residual.velocity / sqrt(sum);
}

// Newton's steps on one small problem.
enum { newtonSteps = 6 };

// The part of the velocities that Newton's method may leave.
static const double leftPart = 3e-10;

// Contradictions below that part, as gaps have where joints are a little apart, are left by
// Newton's method alone. What has a solution is solved all the way.
static void smallContradictionsStay(void** state) {
    (void)state;
    const double solvable[] = { -1e-3, -1e-10, 0.0 };
    const double small[] = { 1e-12, 1e-11, 1e-10, 3e-10 };
    const double large[] = { 2e-9, 1e-6 };
    int iterations;
    for (int k = 0; k < 3; ++k) {
        CHECK_BELOW(solveGaps(solvable[k], &iterations), 1e-13);
        assert_true(iterations <= newtonSteps * gapCount);
    }
    for (int k = 0; k < 4; ++k) {
        CHECK_BELOW(solveGaps(small[k], &iterations), leftPart);
        assert_true(iterations <= newtonSteps * gapCount);
    }
    // Nobody can solve these, but it is not for Newton's method to say so.
    for (int k = 0; k < 2; ++k) {
        assert_true(solveGaps(large[k], &iterations) > leftPart);
        assert_true(iterations > newtonSteps * gapCount);
    }
}

// A floor and a ceiling that a body cannot meet both, by `squeeze`.
static void addSqueeze(int body, double squeeze) {
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const double down[3] = { 0, 0, -1 }, arm[3] = { 0.0, 0.0, 0.0 };
    FrictionCase* c = &mechanism;
    for (int side = 0; side < 2; ++side) {
        int first = c->rows;
        addBlock(body, -1, tp_frictionCone, 3, 0.6);
        caseRow(c, side == 0 ? axes[2] : down, arm, arm, false);
        caseRow(c, axes[0], arm, arm, false);
        caseRow(c, axes[1], arm, arm, false);
        c->q[first] = side == 0 ? -1.0 : 1.0 - squeeze;
    }
}

// Solves a mechanism that is squeezed by 1e-10, to 1e-13 of its velocities or, if less will do, to
// `enough` of them. Returns the residual as such a part.
static double solveSqueezed(uint64_t seed, double enough, tpSolveReport* report) {
    makeMechanism(seed, 4 + (int)seed, 1e3);
    addSqueeze(1, 1e-10);
    double sum = 0.0;
    for (int i = 0; i < mechanism.rows; ++i) {
        sum += mechanism.q[i] * mechanism.q[i];
    }
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-13;
    options.enough = enough * sqrt(sum);
    options.workLimit = 1e7;
    tpFriction_Solve(&mechanism.problem, &options, memory, mechanism.r, mechanism.u, report);
    tpFrictionResidual residual;
    assert_true(tpFriction_Judge(&mechanism.problem, mechanism.r, mechanism.u, memory, &residual));
    return residual.velocity / sqrt(sum);
}

// If less will do, the first stage is the last, and leaves far less than would do. If not, what
// Newton's method has left is not called solved.
static void squeezedMechanismsAreLeft(void** state) {
    (void)state;
    int byFirstStage = 0;
    for (uint64_t seed = 1; seed < 12; ++seed) {
        tpSolveReport report;
        CHECK_BELOW(solveSqueezed(seed, 1e-6, &report), leftPart);
        assert_int_equal(report.status, tp_solved);
        byFirstStage += report.stageCount == 1;
        assert_true(solveSqueezed(seed, 0.0, &report) > 1e-13);
        assert_int_not_equal(report.status, tp_solved);
    }
    assert_true(byFirstStage >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strongDrivesHold),        cmocka_unit_test(weakDrivesGiveWay),
        cmocka_unit_test(openContactsAreLeftOut),  cmocka_unit_test(startsWhereItIs),
        cmocka_unit_test(smallContradictionsStay), cmocka_unit_test(squeezedMechanismsAreLeft),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
