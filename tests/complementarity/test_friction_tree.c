// Mechanisms solved along the tree of their bodies: by the judge, which knows no solver.

#include "complementarity/friction_tree.h"

#include "complementarity/solver.h"
#include "solver_memory.h"
#include "support/check.h"
#include "tree_cases.h"

// Solves, refines and judges the mechanism. False if there is no tree.
static bool solveTree(double goal, tpFrictionResidual* residual) {
    FrictionCase* c = &mechanism;
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, &memory->arena);
    if (tree != NULL) {
        tpFrictionOptions options = tpDefaultFrictionOptions();
        int iterations = 0;
        double work = 0.0;
        assert_true(tpFrictionTree_Solve(tree, &options, goal, c->r, &iterations, &work));
        assert_true(iterations > 0 && work > 0.0);
        assert_true(tpFriction_Judge(&c->problem, c->r, c->u, memory, residual));
        tpFrictionTree_Refine(tree, c->u, c->r);
        assert_true(tpFriction_Judge(&c->problem, c->r, c->u, memory, residual));
    }
    tpArena_Release(&memory->arena, mark);
    return tree != NULL;
}

// Directions at random now and then make a problem without a solution: then nobody may find one.
// Returns whether there is one.
static bool checkSolved(void) {
    FrictionCase* c = &mechanism;
    tpFrictionResidual residual;
    assert_true(solveTree(1e-10, &residual));
    if (residual.velocity <= 1e-9) {
        return true;
    }
    tpSolveReport report;
    memset(c->r, 0, sizeof(c->r));
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.workLimit = 1e8;
    tpSolveStatus status = tpFriction_Solve(&c->problem, &options, memory, c->r, c->u, &report);
    assert_int_not_equal(status, tp_solved);
    return false;
}

static void treesAreSolved(void** state) {
    (void)state;
    int carried = 0, solved = 0;
    for (uint64_t seed = 0; seed < 120; ++seed) {
        makeTree(seed, 6, 6 + (int)(seed % 20), seed % 2 == 0, false);
        solved += checkSolved();
        for (int b = 0, row = 0; b < mechanism.problem.blockCount; ++b) {
            bool isContact = mechanism.kinds[b] == tp_frictionCone;
            carried += isContact && mechanism.r[row] > 0.0;
            row += mechanism.dimensions[b];
        }
    }
    assert_true(solved > 110 && carried > 100);
}

// A body may be locked in some directions: those have no inverse mass.
static void lockedDirectionsStay(void** state) {
    (void)state;
    int solved = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        makeTree(seed, 6, 8, false, false);
        for (int i = 0; i < 8; i += 3) {
            int locked = (int)((seed + (uint64_t)i) % 6);
            mechanism.inverseMass[i * 36 + 7 * locked] = 0.0;
        }
        solved += checkSolved();
    }
    assert_true(solved > 36);
}

// Turns the servos of a tree, its free blocks of one row, into drives of bounded effort: a cone of
// two rows, of which the first has the bound for its load. Returns their number and first rows.
static int boundServos(int* first) {
    FrictionCase* c = &mechanism;
    int count = 0;
    static FrictionCase from;
    static double given[CASE_ROWS];
    from = *c;
    memcpy(given, compliance, sizeof(given));
    c->problem.blockCount = c->rows = 0;
    for (int b = 0, row = 0; b < from.problem.blockCount; ++b) {
        bool isServo = from.kinds[b] == tp_frictionFree && from.dimensions[b] == 1;
        caseBlock(c, isServo ? tp_frictionCone : from.kinds[b], from.dimensions[b] + isServo,
                  isServo ? 1.0 : from.mu[b], from.bodyA[b], from.bodyB[b]);
        if (isServo) {
            first[count++] = c->rows;
            memset(c->jacobianA + (size_t)(6 * c->rows), 0, sizeof(double) * 6);
            memset(c->jacobianB + (size_t)(6 * c->rows), 0, sizeof(double) * 6);
            compliance[c->rows] = 0.5;
            c->scale[c->rows] = 1.0;
            c->q[c->rows++] = -0.5 * (count % 4 == 0 ? 0.0 : caseUniform(c, 0.0, 2.0));
        }
        for (int k = 0; k < from.dimensions[b]; ++k, ++row, ++c->rows) {
            memcpy(c->jacobianA + (size_t)(6 * c->rows), from.jacobianA + (size_t)(6 * row),
                   sizeof(double) * 6);
            memcpy(c->jacobianB + (size_t)(6 * c->rows), from.jacobianB + (size_t)(6 * row),
                   sizeof(double) * 6);
            compliance[c->rows] = given[row];
            c->scale[c->rows] = 1.0;
            c->q[c->rows] = from.q[row];
        }
    }
    return count;
}

static void drivesHoldWithinTheirBounds(void** state) {
    (void)state;
    int atBound = 0, within = 0, first[40];
    for (uint64_t seed = 0; seed < 60; ++seed) {
        makeTree(seed, 6, 12, seed % 2 == 0, false);
        int count = boundServos(first);
        for (int k = checkSolved() ? 0 : count; k < count; ++k) {
            double bound = mechanism.r[first[k]], effort = fabs(mechanism.r[first[k] + 1]);
            double give = fabs(mechanism.u[first[k] + 1]);
            assert_true(effort <= bound * (1.0 + 1e-9) + 1e-10);
            // It holds, or gives all that it has.
            assert_true(give < 1e-9 || effort > bound * (1.0 - 1e-9) - 1e-10);
            atBound += give > 1e-6;
            within += effort < 0.99 * bound;
        }
    }
    assert_true(atBound > 50 && within > 50);
}

// Dry friction in a joint holds two bodies together that touch. If they approach each other it must
// give way; if they do not, there is nothing that the contact could do.
static void heldBodiesAreMovedApart(void** state) {
    (void)state;
    FrictionCase* c = &mechanism;
    int solved = 0, pushed = 0, idle = 0, first[40];
    for (uint64_t seed = 0; seed < 60; ++seed) {
        makeTree(seed, 6, 8, seed % 2 == 0, false);
        int count = boundServos(first), contact = c->problem.blockCount - 4, row = c->rows - 12;
        for (int k = 0; k < count; ++k) {
            compliance[first[k] + 1] = 0.0;
        }
        c->rows = row;
        for (int b = 0; contact < c->problem.blockCount; ++b) {
            if (c->kinds[b] == tp_frictionCone) { // the drive of a joint, and a contact along it
                c->bodyA[contact] = c->bodyA[b];
                c->bodyB[contact++] = c->bodyB[b];
                addRandomRows(5, 1);
                addRandomRows(0, 2);
            }
        }
        bool isSolved = checkSolved();
        for (int k = 0; isSolved && k < 4; ++k) {
            pushed += c->r[row + 3 * k] > 0.0;
            idle += c->r[row + 3 * k] == 0.0;
        }
        solved += isSolved;
    }
    assert_true(solved > 50 && pushed > 50 && idle > 50);
}

// Joints that close a loop, or blocks that are given by W, are for others.
static void loopsAreNoTrees(void** state) {
    (void)state;
    tpFrictionResidual residual;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        makeTree(seed, 6, 8, true, true);
        assert_false(solveTree(1e-10, &residual));
        makeTree(seed, 3, 8, true, false);
        assert_false(solveTree(1e-10, &residual));
    }
}

// What is left of rounding is taken out.
static void impulsesAreRefined(void** state) {
    (void)state;
    makeTree(7, 6, 20, true, false);
    FrictionCase* c = &mechanism;
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, &memory->arena);
    assert_non_null(tree);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    int iterations = 0;
    double work = 0.0;
    tpFrictionResidual before, after;
    assert_true(tpFrictionTree_Solve(tree, &options, 1e-10, c->r, &iterations, &work));
    for (int i = 0; i < 5; ++i) {
        c->r[i] += 1e-3;
    }
    assert_true(tpFriction_Judge(&c->problem, c->r, c->u, memory, &before));
    tpFrictionTree_Refine(tree, c->u, c->r);
    assert_true(tpFriction_Judge(&c->problem, c->r, c->u, memory, &after));
    assert_true(before.separation > 1e-5);
    CHECK_BELOW(after.separation, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesAreSolved),
        cmocka_unit_test(lockedDirectionsStay),
        cmocka_unit_test(drivesHoldWithinTheirBounds),
        cmocka_unit_test(heldBodiesAreMovedApart),
        cmocka_unit_test(loopsAreNoTrees),
        cmocka_unit_test(impulsesAreRefined),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
