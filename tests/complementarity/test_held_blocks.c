// Blocks that hold, eliminated along a tree of bodies and as a sparse matrix: both against products
// with W itself. Trees hang on the world or fly, in space and in the plane.

#include "complementarity/friction_solvers.h"
#include "complementarity/held_blocks.h"

#include "complementarity/solver.h"
#include "solver_memory.h"
#include "support/check.h"
#include "tree_cases.h"

// The largest of W_ee x - b over held rows, x being the answer to b.
static double solveError(tpHeldBlocks* held, const bool* isHeld) {
    const tpFrictionIsland* island = held->island;
    static double x[CASE_ROWS], product[CASE_ROWS];
    double worst = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            x[i] = isHeld[b] ? island->q[i] : 0.0;
        }
    }
    tpHeldBlocks_Solve(held, x);
    tpFrictionIsland_Multiply(island, x, product);
    for (int b = 0; b < island->blockCount; ++b) {
        double rows[TP_FRICTION_MAX_ROWS] = { 0.0 };
        if (!isHeld[b]) {
            tpHeldBlocks_TakeResponse(held, b, x, rows);
        }
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            double expected = isHeld[b] ? island->q[i] : -rows[i - island->row[b]];
            worst = fmax(worst, fabs(product[i] - expected));
        }
    }
    return worst;
}

// A column of S is what other rows feel of a unit impulse while the held rows stay at rest.
static double reduceError(tpHeldBlocks* held, const bool* isHeld) {
    const tpFrictionIsland* island = held->island;
    static double S[400], r[CASE_ROWS], u[CASE_ROWS];
    int blocks[8] = { 0 }, firstRows[9] = { 0 }, count = 0;
    for (int b = 0; b < island->blockCount; ++b) {
        if (island->kind[b] == tp_frictionCone) {
            blocks[count] = b;
            firstRows[count + 1] = firstRows[count] + tpFrictionIsland_Rows(island, b);
            count += 1;
        }
    }
    int size = firstRows[count];
    assert_true(tpHeldBlocks_Reduce(held, count, blocks, firstRows, S));
    double worst = 0.0;
    for (int j = 0; j < count; ++j) {
        for (int c = 0; c < firstRows[j + 1] - firstRows[j]; ++c) {
            memset(r, 0, sizeof(r));
            r[island->row[blocks[j]] + c] = 1.0;
            for (int round = 0; round < 3; ++round) {
                tpFrictionIsland_Multiply(island, r, u);
                tpHeldBlocks_Solve(held, u);
                for (int b = 0; b < island->blockCount; ++b) {
                    for (int i = island->row[b]; isHeld[b] && i < island->row[b + 1]; ++i) {
                        r[i] -= u[i];
                    }
                }
            }
            tpFrictionIsland_Multiply(island, r, u);
            for (int i = 0; i < count; ++i) {
                for (int a = 0; a < firstRows[i + 1] - firstRows[i]; ++a) {
                    double entry = S[(firstRows[j] + c) * size + firstRows[i] + a];
                    worst = fmax(worst, fabs(entry - u[island->row[blocks[i]] + a]));
                }
            }
        }
    }
    return worst;
}

// What forming W counts: a hundred for each block of it, and twenty for each of its numbers. A tree
// needs none.
static double workOfForming(const tpHeldBlocks* held) {
    const tpBlockMatrix* W = &held->W;
    double work = 0.0;
    for (int j = 0; !held->isTree && j < W->count; ++j) {
        for (int k = W->columnStart[j]; k < W->columnStart[j + 1]; ++k) {
            int i = W->blockRow[k];
            work += 100.0 + 20.0 * (W->row[i + 1] - W->row[i]) * (W->row[j + 1] - W->row[j]);
        }
    }
    return work;
}

static void checkTrees(int n, bool isGrounded, bool isLooped) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
        makeTree(seed, n, 3 + (int)(seed % 20), isGrounded, isLooped);
        tpArenaMark mark = tpArena_Mark(&memory->arena);
        tpFrictionSystem system;
        assert_true(tpFrictionSystem_Build(&system, &mechanism.problem, &memory->arena));
        for (int k = 0; k < system.islandCount; ++k) {
            const tpFrictionIsland* island = &system.islands[k];
            bool isHeld[CASE_BLOCKS], hasJoint = false;
            for (int b = 0; b < island->blockCount; ++b) {
                // One of the servos lets go: the tree stays.
                bool isServo = tpFrictionIsland_Rows(island, b) == 1;
                isHeld[b] = island->kind[b] == tp_frictionFree && !(isServo && b % 5 == 0);
                hasJoint = hasJoint || isHeld[b];
            }
            tpHeldBlocks held;
            double work = 0.0;
            assert_true(tpHeldBlocks_Create(&held, island, &memory->arena));
            assert_int_equal(held.isTree, !isLooped);
            CHECK_NEAR(held.formWork, workOfForming(&held), 1e-9);
            assert_true(tpHeldBlocks_Factorise(&held, isHeld, &work));
            assert_true(!hasJoint || work > 0.0);
            // The diagonal has 1e-12 more.
            CHECK_BELOW(solveError(&held, isHeld), 1e-9);
            CHECK_BELOW(reduceError(&held, isHeld), 1e-9);
            // W is not begun if its blocks would take more than a part of the work that is left.
            tpFrictionIsland cramped = *island;
            tpFrictionOptions options = tpDefaultFrictionOptions();
            int iterations = 0;
            cramped.work = 0.0;
            cramped.workLimit = 1000.0;
            cramped.stop = NULL;
            assert_int_equal(
                tpFrictionIsland_Bilateral(&cramped, &options, 30, &memory->arena, &iterations),
                tp_notApplicable);
            assert_true(cramped.work == 0.0 && iterations == 0);
        }
        tpArena_Release(&memory->arena, mark);
    }
}

static void treesInSpace(void** state) {
    (void)state;
    checkTrees(6, false, false);
    checkTrees(6, true, false);
}

static void treesInThePlane(void** state) {
    (void)state;
    checkTrees(3, false, false);
    checkTrees(3, true, false);
}

// Two joints of a tree to the world close a loop: W is factorised.
static void loopsAreMatrices(void** state) {
    (void)state;
    checkTrees(6, true, true);
    checkTrees(3, false, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesInSpace),
        cmocka_unit_test(treesInThePlane),
        cmocka_unit_test(loopsAreMatrices),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
