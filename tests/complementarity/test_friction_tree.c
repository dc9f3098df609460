// Mechanisms solved along the tree of their bodies: by the judge, which knows no solver.

#include "complementarity/friction_tree.h"

#include "complementarity/friction_solvers.h"
#include "complementarity/solver.h"
#include "solver_memory.h"
#include "support/check.h"
#include "tree_cases.h"

// Solves, refines and judges the mechanism. False if there is no tree.
static bool solveTree(double goal, tpFrictionResidual* residual) {
    FrictionCase* c = &mechanism;
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, memory);
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

// Joints that close loops hold as those of the tree do.
static void loopsAreClosed(void** state) {
    (void)state;
    int solved = 0, first[40];
    for (uint64_t seed = 0; seed < 60; ++seed) {
        makeTree(seed, 6, 8, seed % 2 == 0, true);
        if (seed % 3 == 0) {
            boundServos(first);
        }
        solved += checkSolved();
    }
    assert_true(solved > 50);
}

// A row that is there twice carries nothing the second time, and holds all the same.
static void dependentLoopsAreClosed(void** state) {
    (void)state;
    FrictionCase* c = &mechanism;
    int solved = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        makeTree(seed, 6, 8, false, true);
        int last = c->rows - 13; // the row that closes the second loop, before four contacts
        caseBlock(c, tp_frictionFree, 1, 0.0, -1, 7);
        memcpy(c->jacobianA + (size_t)(6 * c->rows), c->jacobianA + (size_t)(6 * last), 48);
        memcpy(c->jacobianB + (size_t)(6 * c->rows), c->jacobianB + (size_t)(6 * last), 48);
        c->scale[c->rows] = 1.0;
        compliance[c->rows] = 0.0;
        c->q[c->rows] = c->q[last];
        c->rows += 1;
        solved += checkSolved();
    }
    assert_true(solved > 15);
}

// A loop leaves body 0 no motion, and rounding alone lets a limit of it close. No impulse answers
// that, and none may try: all that is solved beside it would drown in it.
static void stuckLimitsCarryNothing(void** state) {
    (void)state;
    FrictionCase* c = &mechanism;
    int solved = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        makeTree(seed, 6, 8, true, true);
        for (int b = 0, row = 0; b < c->problem.blockCount; row += c->dimensions[b++]) {
            bool isOfFirst = c->kinds[b] == tp_frictionFree && c->bodyA[b] + c->bodyB[b] == -1;
            for (int i = row; isOfFirst && i < row + c->dimensions[b]; ++i) {
                c->q[i] = 0.0; // nothing moves body 0
            }
        }
        caseBlock(c, tp_frictionNonnegative, 1, 0.0, -1, 0);
        addRandomRows(5, 1);
        c->q[c->rows - 1] = -1e-11;
        tpFrictionResidual residual;
        assert_true(solveTree(1e-10, &residual));
        if (residual.velocity > 1e-9) {
            continue; // contacts may press on body 0, which has no answer
        }
        solved += 1;
        assert_true(c->r[c->rows - 1] == 0.0);
    }
    assert_true(solved > 30);
}

enum { termRows = 200 };

// J M^-1 J^T with further bodies of rows, by columns.
static void formW(const tpFrictionBodies* bodies, int rows, double* W) {
    const FrictionCase* c = &mechanism;
    static double J[termRows][6 * 40];
    memset(J, 0, sizeof(J));
    for (int b = 0, row = 0; b < c->problem.blockCount; ++b) {
        for (int end = row + c->dimensions[b]; row < end; ++row) {
            for (int i = 0; i < 6; ++i) {
                if (c->bodyA[b] >= 0) {
                    J[row][6 * c->bodyA[b] + i] += c->jacobianA[6 * row + i];
                }
                if (c->bodyB[b] >= 0) {
                    J[row][6 * c->bodyB[b] + i] += c->jacobianB[6 * row + i];
                }
                for (int k = bodies->firstTerms[row]; k < bodies->firstTerms[row + 1]; ++k) {
                    J[row][6 * bodies->termBodies[k] + i] += bodies->termJacobians[6 * k + i];
                }
            }
        }
    }
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < rows; ++i) {
            double sum = 0.0;
            for (int k = 0; k < 6 * bodies->bodyCount; ++k) {
                sum += J[i][k] * J[j][k] * c->inverseMass[k / 6 * 36 + k % 6 * 7];
            }
            W[j * rows + i] = sum;
        }
    }
}

// Couplings of joints act on four bodies: solved along the tree, judged by W.
static void couplingsAreSolved(void** state) {
    (void)state;
    FrictionCase* c = &mechanism;
    static double W[termRows * termRows], terms[6 * termRows];
    static int first[termRows + 1], of[termRows];
    int solved = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        makeTree(seed, 6, 10, seed % 2 == 0, seed % 4 == 0);
        int count = 0, from = c->rows;
        for (int k = 0; k < 3; ++k) {
            caseBlock(c, k < 2 ? tp_frictionFree : tp_frictionNonnegative, 1, 0.0, 2 * k,
                      2 * k + 1);
            addRandomRows(5, 1);
        }
        for (int row = 0; row < c->rows; ++row) {
            first[row] = count;
            for (int k = 0; row >= from && k < 2; ++k, ++count) {
                of[count] = 6 + (row + k) % 4;
                for (int i = 0; i < 6; ++i) {
                    terms[6 * count + i] = caseUniform(c, -1.0, 1.0);
                }
            }
        }
        first[c->rows] = count;
        tpFrictionBodies bodies = c->bodies;
        bodies.firstTerms = first;
        bodies.termBodies = of;
        bodies.termJacobians = terms;
        tpFrictionProblem problem = c->problem;
        problem.bodies = NULL;
        problem.mechanism = &bodies;
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.velocityTolerance = 1e-10;
        options.tolerance = 1e-14;
        tpSolveReport report;
        tpFrictionResidual residual;
        if (!tpFriction_SolveMechanism(&problem, &options, memory, c->r, c->u, NULL, &report)) {
            continue;
        }
        formW(&bodies, c->rows, W);
        tpMatrix matrix = tpDenseMatrix(c->rows, c->rows, W);
        problem.W = &matrix;
        assert_int_equal(tpFriction_Check(&problem, NULL), tp_success);
        assert_true(tpFriction_Judge(&problem, c->r, c->u, memory, &residual));
        CHECK_BELOW(residual.velocity, 1e-9);
        // With W and the mechanism too.
        memset(c->r, 0, sizeof(c->r));
        assert_int_equal(tpFriction_Solve(&problem, &options, memory, c->r, c->u, &report),
                         tp_solved);
        solved += 1;
    }
    assert_true(solved > 30);
}

// A round sole of many corners on the floor under body 0.
static void addSole(int corners) {
    FrictionCase* c = &mechanism;
    for (int k = 0; k < corners; ++k) {
        double angle = 6.283185307179586 * k / corners;
        double arm[3] = { 0.1 * cos(angle), 0.05 * sin(angle), -0.1 };
        caseBlock(c, tp_frictionCone, 3, 0.8, 0, -1);
        for (int i = 0; i < 3; ++i, ++c->rows) {
            double axis[3] = { i == 1, i == 2, i == 0 };
            double* J = c->jacobianA + (size_t)(6 * c->rows);
            memset(c->jacobianB + (size_t)(6 * c->rows), 0, sizeof(double) * 6);
            for (int a = 0; a < 3; ++a) {
                int next = (a + 1) % 3, last = (a + 2) % 3;
                J[a] = axis[a];
                J[3 + a] = arm[next] * axis[last] - arm[last] * axis[next];
            }
            compliance[c->rows] = 0.0;
            c->scale[c->rows] = 1.0;
            c->q[c->rows] = i == 0 ? -0.5 : 0.0;
        }
    }
}

// Of the forty corners of a sole a few carry the load; that solves the problem of all.
static void fewCornersCarry(void** state) {
    (void)state;
    FrictionCase* c = &mechanism;
    static FrictionCase from;
    static double given[CASE_ROWS];
    int solved = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        makeTree(seed, 6, 20, false, false);
        from = *c;
        memcpy(given, compliance, sizeof(given));
        c->problem.blockCount = c->rows = 0;
        addSole(40);
        for (int b = 0, row = 0; b < from.problem.blockCount - 4; ++b) { // without its contacts
            caseBlock(c, from.kinds[b], from.dimensions[b], from.mu[b], from.bodyA[b],
                      from.bodyB[b]);
            for (int k = 0; k < from.dimensions[b]; ++k, ++row, ++c->rows) {
                memcpy(c->jacobianA + (size_t)(6 * c->rows), from.jacobianA + (size_t)(6 * row),
                       48);
                memcpy(c->jacobianB + (size_t)(6 * c->rows), from.jacobianB + (size_t)(6 * row),
                       48);
                compliance[c->rows] = given[row];
                c->scale[c->rows] = 1.0;
                c->q[c->rows] = 0.1 * from.q[row];
            }
        }
        tpFrictionResidual residual;
        assert_true(solveTree(1e-10, &residual));
        CHECK_BELOW(residual.velocity, 1e-8);
        solved += residual.velocity <= 1e-10;
        int carrying = 0;
        for (int k = 0; k < 40; ++k) {
            carrying += c->r[3 * k] > 0.0;
        }
        assert_true(carrying > 0 && carrying <= 12);
    }
    assert_true(solved >= 18);
}

// Bodies in the plane are for others.
static void planesHaveNoTrees(void** state) {
    (void)state;
    tpFrictionResidual residual;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        makeTree(seed, 3, 8, true, false);
        assert_false(solveTree(1e-10, &residual));
    }
}

// What is left of rounding is taken out.
static void impulsesAreRefined(void** state) {
    (void)state;
    makeTree(7, 6, 20, true, false);
    FrictionCase* c = &mechanism;
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, memory);
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

// Solves from zero with the memory given.
static void solveWith(tpSolverMemory* own, double* r) {
    FrictionCase* c = &mechanism;
    tpArenaMark mark = tpSolverMemory_Begin(own);
    assert_true(tpFrictionTree_Suits(&c->problem, own));
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, own);
    assert_non_null(tree);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    int iterations = 0;
    double work = 0.0;
    memset(r, 0, sizeof(c->r));
    assert_true(tpFrictionTree_Solve(tree, &options, 1e-10, r, &iterations, &work));
    tpSolverMemory_End(own, mark);
}

// Changes one number that the factors of a tree are made from, or that they are not.
static void changeSomething(int what) {
    FrictionCase* c = &mechanism;
    switch (what) {
    case 0:
        c->q[3] += 0.25;
        break;
    case 1:
        c->jacobianA[7 * 6 + 2] += 0.01;
        break;
    case 2:
        c->jacobianB[2] -= 0.01;
        break;
    case 3:
        compliance[5] *= 1.5;
        break;
    case 4:
        c->inverseMass[36 * 2 + 7] *= 2.0;
        break;
    case 5:
        c->scale[4] = 0.5;
        break;
    case 6:
        c->jacobianA[(c->rows - 1) * 6 + 1] += 0.1;
        break;
    case 7:
        c->inverseMass[36 * 3] = 0.0;
        break;
    default:
        break;
    }
}

// What is kept of the last tree changes no bit, whatever changes from solve to solve.
static void keptTreesChangeNothing(void** state) {
    (void)state;
    static double kept[CASE_ROWS], fresh[CASE_ROWS];
    for (uint64_t seed = 0; seed < 12; ++seed) {
        for (int what = 0; what < 9; ++what) {
            makeTree(seed, 6, 8, true, false);
            solveWith(memory, kept);
            makeTree(seed + 1, 6, 9, false, false);
            solveWith(memory, kept);
            makeTree(seed, 6, 8, true, false);
            changeSomething(what);
            solveWith(memory, kept);
            tpSolverMemory* own = tpCreateSolverMemory(NULL);
            solveWith(own, fresh);
            tpDestroySolverMemory(own);
            assert_memory_equal(kept, fresh, sizeof(double) * (size_t)mechanism.rows);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesAreSolved),
        cmocka_unit_test(lockedDirectionsStay),
        cmocka_unit_test(drivesHoldWithinTheirBounds),
        cmocka_unit_test(heldBodiesAreMovedApart),
        cmocka_unit_test(loopsAreClosed),
        cmocka_unit_test(dependentLoopsAreClosed),
        cmocka_unit_test(stuckLimitsCarryNothing),
        cmocka_unit_test(couplingsAreSolved),
        cmocka_unit_test(fewCornersCarry),
        cmocka_unit_test(planesHaveNoTrees),
        cmocka_unit_test(impulsesAreRefined),
        cmocka_unit_test(keptTreesChangeNothing),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
