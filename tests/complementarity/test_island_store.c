// Arrays of islands in common memory, and a system that is built by a matrix and by bodies alike.

#include "complementarity/island_store.h"
#include "complementarity/solver.h"
#include "solver_memory.h"
#include "support/check.h"

// Islands lie one behind the other, each with its own end of rows; frictionless blocks have no mu.
static void islandsFollowEachOther(void** state) {
    (void)state;
    static const unsigned char kinds[3] = { tp_frictionCone, tp_frictionNonnegative,
                                            tp_frictionCone };
    static const double mu[3] = { 0.5, 0.7, 0.25 };
    tpFrictionProblem problem = { .blockCount = 3, .kinds = kinds, .mu = mu };
    tpIslandStore store;
    assert_true(tpIslandStore_Reserve(&store, &memory->arena, 3, 7, 2));
    tpIslandStore_SetLaw(&store, &problem, 0, 2);
    tpIslandStore_SetLaw(&store, &problem, 1, 1);
    store.row[0] = 0;
    store.row[1] = 3;
    tpFrictionIsland first = tpIslandStore_Take(&store, 2, 4);
    tpIslandStore_SetLaw(&store, &problem, 0, 0);
    store.row[0] = 0;
    store.q[0] = 9.0;
    tpFrictionIsland second = tpIslandStore_Take(&store, 1, 3);
    assert_int_equal(first.row[2], 4);
    assert_int_equal(second.row[1], 3);
    CHECK_NEAR(first.mu[0], 0.25, 0.0);
    CHECK_NEAR(first.mu[1], 0.0, 0.0);
    CHECK_NEAR(second.mu[0], 0.5, 0.0);
    assert_int_equal(first.kind[1], tp_frictionNonnegative);
    assert_ptr_equal(second.q, first.q + 4);
    assert_ptr_equal(second.r, first.r + 4);
    assert_ptr_equal(second.diagonal, first.diagonal + 2 * tp_diagonalStride);
    CHECK_NEAR(first.q[4], 9.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(second.r[i], 0.0, 0.0);
        CHECK_NEAR(second.u[i], 0.0, 0.0);
    }
}

// Two balls of masses 2 and 4 on a floor, which touch nothing else: two islands of one contact.
static void bothWaysAgree(void** state) {
    (void)state;
    static const int dimensions[2] = { 3, 3 }, bodyA[2] = { 0, 1 }, bodyB[2] = { -1, -1 };
    static const double mu[2] = { 0.5, 0.3 }, q[6] = { -1.0, 0.2, 0.0, -2.0, 0.0, 0.4 };
    double inverseMass[2 * 36] = { 0 }, jacobianA[6 * 6] = { 0 }, jacobianB[6 * 6] = { 0 };
    double W[36] = { 0 };
    for (int b = 0; b < 2; ++b) {
        for (int k = 0; k < 6; ++k) {
            inverseMass[b * 36 + k * 7] = b == 0 ? 0.5 : 0.25;
        }
        for (int k = 0; k < 3; ++k) {
            jacobianA[(3 * b + k) * 6 + k] = 1.0;
            W[(3 * b + k) * 7] = b == 0 ? 0.5 : 0.25;
        }
    }
    tpFrictionBodies bodies = { .bodyCount = 2,
                                .componentCount = 6,
                                .inverseMass = inverseMass,
                                .bodyA = bodyA,
                                .bodyB = bodyB,
                                .jacobianA = jacobianA,
                                .jacobianB = jacobianB };
    tpMatrix matrix = tpDenseMatrix(6, 6, W);
    tpFrictionProblem byBodies = {
        .blockCount = 2, .dimensions = dimensions, .mu = mu, .q = q, .bodies = &bodies
    };
    tpFrictionProblem byMatrix = byBodies;
    byMatrix.bodies = NULL;
    byMatrix.W = &matrix;
    tpFrictionSystem one, other;
    assert_true(tpFrictionSystem_Build(&one, &byBodies, &memory->arena));
    assert_true(tpFrictionSystem_Build(&other, &byMatrix, &memory->arena));
    assert_int_equal(one.islandCount, 2);
    assert_int_equal(other.islandCount, 2);
    CHECK_NEAR(one.qNorm, sqrt(1.0 + 0.04 + 4.0 + 0.16), 1e-15);
    CHECK_NEAR(other.qNorm, one.qNorm, 1e-15);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(one.sourceRow[i], i);
        assert_int_equal(other.sourceRow[i], i);
        // Scaled so that the mean of W's diagonal in a block is one.
        CHECK_NEAR(one.scale[i], i < 3 ? sqrt(2.0) : 2.0, 1e-15);
        CHECK_NEAR(other.scale[i], one.scale[i], 1e-15);
    }
    for (int i = 0; i < 2; ++i) {
        const tpFrictionIsland *a = &one.islands[i], *b = &other.islands[i];
        CHECK_NEAR(a->mu[0], mu[i], 0.0);
        CHECK_NEAR(b->mu[0], mu[i], 0.0);
        CHECK_NEAR(a->weight[0], i == 0 ? 0.5 : 0.25, 1e-15);
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(a->q[k], b->q[k], 1e-15);
        }
        for (int k = 0; k < 9; ++k) {
            CHECK_NEAR(a->diagonal[k], k % 4 == 0 ? 1.0 : 0.0, 1e-15);
            CHECK_NEAR(b->diagonal[k], a->diagonal[k], 1e-15);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(islandsFollowEachOther),
        cmocka_unit_test(bothWaysAgree),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
