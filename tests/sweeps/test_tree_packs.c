// Nodes of a tree side by side: every pass gives the bits that it gives one node after the other,
// on every width.

#include "sweeps/tree_packs.h"

#include <string.h>

#include "support/check.h"

enum { nodes = 14, size = 6 * nodes, mostAxes = 3 * nodes, mostRows = mostAxes };

typedef struct Case {
    tpJointNode nodes[nodes];
    tpJointAxis axes[mostAxes];
    tpAxisRow rows[mostRows];
    tpRowAnswer answers[mostRows];
    double impulses[size], momenta[size], jumps[size], changes[size];
    double velocities[5][size]; // after each pass
    double reactions[2][size];  // without and with momenta
    int32_t depths[nodes];
    tpTreePack packs[nodes];
    tpTreePackAxis packAxes[mostAxes];
    tpJointTree tree;
} Case;

// Arrays know where they are: a copy has its own.
static void settle(Case* test) {
    test->tree.nodes = test->nodes;
    test->tree.axes = test->axes;
    test->tree.rows = test->rows;
    test->tree.answers = test->answers;
    test->tree.impulses = test->impulses;
}

static double any(tpRandom* random) {
    return randomBetween(random, -1.0, 1.0);
}

// A tree whose parents are at most `reach` nodes away: a chain, or a bush.
static void openCase(Case* test, tpRandom* random, bool isFree, int reach, bool isMixed) {
    memset(test, 0, sizeof(*test));
    test->tree = (tpJointTree){ .nodeCount = nodes, .isFree = isFree };
    settle(test);
    int axis = 0;
    for (int i = 0; i < nodes; ++i) {
        test->nodes[i].child = test->nodes[i].sibling = -1;
    }
    for (int i = 0; i < nodes; ++i) {
        tpJointNode* node = &test->nodes[i];
        bool isRoot = i == nodes - 1;
        int most = nodes - 1 - i < reach ? nodes - 1 - i : reach;
        node->parent = isRoot ? -1 : i + 1 + (int)randomBetween(random, 0.0, most);
        if (!isRoot) {
            node->sibling = test->nodes[node->parent].child;
            test->nodes[node->parent].child = i;
        }
        node->axis = axis;
        node->axisEnd = axis += isRoot && isFree ? 0 : isMixed ? i % 4 : 1;
        for (int k = node->axis; k < node->axisEnd; ++k) {
            for (int j = 0; j < 6; ++j) {
                test->axes[k].motion[j] = any(random);
            }
            int row = test->tree.rowCount++;
            test->rows[row] =
                (tpAxisRow){ .node = i, .axis = k, .sign = row % 2 == 0 ? 1.0 : -1.0 };
            test->answers[row] =
                (tpRowAnswer){ .stiffness = 20.0, .bias = any(random), .least = -2.0, .most = 2.0 };
        }
        node->mass = randomBetween(random, 0.5, 5.0);
        node->isWanted = i % 3 == 0;
        for (int k = 0; k < 6; ++k) {
            node->inertia[k] = k < 3 ? randomBetween(random, 1.0, 2.0) : 0.3 * any(random);
        }
        for (int k = 0; k < 3; ++k) {
            node->arm[k] = any(random);
        }
    }
    for (int k = 0; k < size; ++k) {
        test->momenta[k] = any(random);
        test->jumps[k] = any(random);
    }
    tpJointTree_Want(&test->tree);
    for (int k = 0; k < size; ++k) {
        test->changes[k] = test->nodes[k / 6].isWanted ? any(random) : 0.0;
    }
}

// All passes, with rows that come to their bounds.
static void goThrough(Case* test, int width) {
    tpJointTree* tree = &test->tree;
    if (width > 0) {
        tpJointTree_Pack(tree, test->packs, test->packAxes, test->depths);
        tree->kernels = tpGetTreeKernels(width);
    }
    tpJointTree_MarkAll(tree);
    tpJointTree_Factorise(tree);
    tpJointTree_SolveBounded(tree, test->momenta, test->velocities[0]);
    memcpy(test->velocities[1], test->velocities[0], sizeof(test->velocities[0]));
    tpJointTree_Push(tree, test->changes, test->velocities[1]);
    memcpy(test->velocities[2], test->velocities[1], sizeof(test->velocities[0]));
    tpJointTree_PushBounded(tree, test->momenta, test->changes, test->velocities[2]);
    tpJointTree_SolveJumping(tree, test->momenta, test->jumps, test->velocities[3]);
    tpJointTree_Correct(tree, test->jumps, NULL, test->velocities[4]);
    tpJointTree_Reactions(tree, NULL, test->velocities[0], test->reactions[0]);
    tpJointTree_Reactions(tree, test->momenta, test->velocities[0], test->reactions[1]);
}

// M v - p of all bodies, then all that a body needs beside its own goes on to its parent, in the
// order of nodes.
static void reactOneByOne(const Case* test, const double* momenta, double (*f)[6]) {
    for (int i = 0; i < nodes; ++i) {
        const double *I = test->nodes[i].inertia, *v = &test->velocities[0][6 * i];
        for (int k = 0; k < 3; ++k) {
            f[i][k] = test->nodes[i].mass * v[k];
        }
        f[i][3] = I[0] * v[3] + I[3] * v[4] + I[4] * v[5];
        f[i][4] = I[3] * v[3] + I[1] * v[4] + I[5] * v[5];
        f[i][5] = I[4] * v[3] + I[5] * v[4] + I[2] * v[5];
        for (int k = 0; k < 6; ++k) {
            f[i][k] -= momenta != NULL ? momenta[6 * i + k] : 0.0;
        }
    }
    for (int i = 0; i < nodes - 1; ++i) {
        const double *r = test->nodes[i].arm, *own = f[i];
        double* sum = f[test->nodes[i].parent];
        for (int k = 0; k < 3; ++k) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            sum[k] += own[k];
            sum[3 + k] += own[3 + k] + (r[l] * own[m] - r[m] * own[l]);
        }
    }
}

// Without packs what children need is added up first: the same but for rounding.
static void checkReactions(const Case* packed, const Case* alone) {
    for (int k = 0; k < 2; ++k) {
        double expected[nodes][6];
        reactOneByOne(alone, k == 0 ? NULL : alone->momenta, expected);
        const double* whole = expected[0];
        if (packed->tree.packs != NULL) {
            assert_memory_equal(packed->reactions[k], expected, sizeof(expected));
        }
        for (int j = 0; j < size; ++j) {
            CHECK_NEAR(alone->reactions[k][j], whole[j], 1e-11);
        }
    }
}

static void packsKeepTheBits(void** state) {
    (void)state;
    static Case start, alone, packed;
    tpRandom random = { 17 };
    int packs = 0;
    for (int trial = 0; trial < 200; ++trial) {
        openCase(&start, &random, trial % 2 == 0, trial % 3 == 0 ? 4 : nodes, trial % 5 == 0);
        alone = start;
        settle(&alone);
        goThrough(&alone, 0);
        for (int width = 1; width <= 4; width += 3) {
            if (!tpHasWidth(width)) {
                continue;
            }
            packed = start;
            settle(&packed);
            goThrough(&packed, width);
            packs += packed.tree.packCount;
            assert_memory_equal(packed.velocities, alone.velocities, sizeof(alone.velocities));
            checkReactions(&packed, &alone);
            assert_memory_equal(packed.answers, alone.answers, sizeof(alone.answers));
            for (int k = 0; k < start.nodes[nodes - 1].axisEnd; ++k) {
                const tpJointAxis *a = &packed.axes[k], *b = &alone.axes[k];
                assert_memory_equal(a->shown, b->shown, sizeof(a->shown));
                assert_true(a->inverse == b->inverse && a->rate == b->rate);
            }
        }
    }
    assert_true(packs > 200);
}

// A chain has one node per distance: packs would be in its way.
static void chainsHaveNone(void** state) {
    (void)state;
    static Case test;
    tpRandom random = { 3 };
    openCase(&test, &random, false, 1, false);
    tpJointTree_Pack(&test.tree, test.packs, test.packAxes, test.depths);
    assert_null(test.tree.packs);
    assert_int_equal(test.tree.packCount, 0);
}

// The 13 links of a ragdoll fill four packs, each after those of its children.
static void packsAreFew(void** state) {
    (void)state;
    static Case test;
    // Foot, shin and thigh of both legs; lower and upper arms; head, neck, chest and belly; pelvis.
    static const int parents[nodes] = { 1, 2, 13, 4, 5, 13, 7, 12, 9, 12, 11, 12, 13, -1 };
    tpRandom random = { 5 };
    openCase(&test, &random, true, 1, false);
    for (int i = 0; i < nodes; ++i) {
        test.nodes[i].child = test.nodes[i].sibling = -1;
    }
    for (int i = 0; i < nodes; ++i) {
        test.nodes[i].parent = parents[i];
        if (parents[i] >= 0) {
            test.nodes[i].sibling = test.nodes[parents[i]].child;
            test.nodes[parents[i]].child = i;
        }
    }
    tpJointTree_Pack(&test.tree, test.packs, test.packAxes, test.depths);
    assert_int_equal(test.tree.packCount, 4);
    int packOf[nodes], count = 0;
    for (int p = 0; p < 4; ++p) {
        for (int k = 0; k < test.packs[p].count; ++k) {
            packOf[test.packs[p].nodes[k]] = p;
            count += 1;
        }
    }
    assert_int_equal(count, nodes - 1);
    for (int i = 0; i < nodes - 1; ++i) {
        assert_true(parents[i] == nodes - 1 || packOf[i] < packOf[parents[i]]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packsKeepTheBits),
        cmocka_unit_test(chainsHaveNone),
        cmocka_unit_test(packsAreFew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
