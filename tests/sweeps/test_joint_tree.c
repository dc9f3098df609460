// Trees of joints against the laws that they stand for: Newton's law with the impulses of joints,
// motion along the axes alone, rows that answer within their bounds.

#include "sweeps/joint_tree.h"

#include <string.h>

#include "support/check.h"
#include "sweeps/tree_packs.h"

enum { nodes = 7, size = 6 * nodes, mostAxes = 3 * nodes, mostRows = 3 * mostAxes };

typedef struct Case {
    tpJointNode nodes[nodes];
    tpJointAxis axes[mostAxes];
    tpAxisRow rows[mostRows];
    tpRowAnswer answers[mostRows];
    double impulses[size], momenta[size], velocities[size];
    tpJointTree tree;
} Case;

static void openCase(Case* test, tpRandom* random, bool isFree) {
    memset(test, 0, sizeof(*test));
    int axis = 0;
    for (int i = 0; i < nodes; ++i) {
        test->nodes[i].child = test->nodes[i].sibling = -1;
    }
    for (int i = 0; i < nodes; ++i) {
        tpJointNode* node = &test->nodes[i];
        bool isRoot = i == nodes - 1;
        node->parent = isRoot ? -1 : i + 1 + (int)randomBetween(random, 0.0, nodes - 1 - i);
        if (!isRoot) {
            node->sibling = test->nodes[node->parent].child;
            test->nodes[node->parent].child = i;
        }
        // Joints of no, one, two and three axes.
        int count = isRoot && isFree ? 0 : i % 4;
        node->axis = axis;
        node->axisEnd = axis += count;
        for (int k = node->axis; k < node->axisEnd; ++k) {
            for (int j = 0; j < 6; ++j) {
                test->axes[k].motion[j] = randomBetween(random, -1.0, 1.0);
            }
        }
        node->mass = randomBetween(random, 0.5, 5.0);
        for (int k = 0; k < 6; ++k) {
            node->inertia[k] =
                k < 3 ? randomBetween(random, 1.0, 2.0) : randomBetween(random, -0.3, 0.3);
        }
        for (int k = 0; k < 3; ++k) {
            node->arm[k] = randomBetween(random, -1.0, 1.0);
        }
    }
    test->tree = (tpJointTree){ .nodeCount = nodes,
                                .isFree = isFree,
                                .nodes = test->nodes,
                                .axes = test->axes,
                                .rows = test->rows,
                                .answers = test->answers,
                                .impulses = test->impulses };
    for (int k = 0; k < size; ++k) {
        test->momenta[k] = randomBetween(random, -1.0, 1.0);
    }
    for (int k = 0; k < 6 && !isFree; ++k) {
        test->tree.base[k] = randomBetween(random, -1.0, 1.0);
    }
    tpJointTree_MarkAll(&test->tree);
}

static tpRowAnswer* addRow(Case* test, tpRandom* random, int node, int axis, double stiffness) {
    int k = test->tree.rowCount++;
    test->rows[k] = (tpAxisRow){ .node = node, .axis = axis, .sign = k % 2 == 0 ? 1.0 : -1.0 };
    test->answers[k] = (tpRowAnswer){ .stiffness = stiffness,
                                      .bias = randomBetween(random, -1.0, 1.0),
                                      .least = -INFINITY,
                                      .most = INFINITY };
    return &test->answers[k];
}

// The velocity of a node less what its parent and its axes, at their rates, make of it.
static double slipOf(const Case* test, int i, const double* velocities, const double* jumps) {
    const tpJointNode* node = &test->nodes[i];
    double left[6];
    memcpy(left, &velocities[6 * i], sizeof(left));
    if (node->parent >= 0) {
        const double *v = &velocities[6 * node->parent], *w = v + 3, *r = node->arm;
        const double carried[6] = { v[0] + w[1] * r[2] - w[2] * r[1],
                                    v[1] + w[2] * r[0] - w[0] * r[2],
                                    v[2] + w[0] * r[1] - w[1] * r[0],
                                    w[0],
                                    w[1],
                                    w[2] };
        for (int k = 0; k < 6; ++k) {
            left[k] -= carried[k];
        }
    }
    for (int k = node->axis; k < node->axisEnd; ++k) {
        for (int j = 0; j < 6; ++j) {
            left[j] -= test->axes[k].rate * test->axes[k].motion[j];
        }
    }
    double most = 0.0;
    for (int k = 0; k < 6; ++k) {
        double base = node->parent < 0 && jumps == NULL ? test->tree.base[k] : 0.0;
        most = fmax(most, fabs(left[k] - base - (jumps != NULL ? jumps[6 * i + k] : 0.0)));
    }
    return most;
}

// Impulses of joints, which keep Newton's law by construction, do what the rows of their axes ask
// for and nothing else along the axes; a free root gets none.
static double missOf(const Case* test) {
    double reactions[size], miss = 0.0;
    tpJointTree_Reactions(&test->tree, test->momenta, test->velocities, reactions);
    for (int i = 0; i < nodes; ++i) {
        for (int k = test->nodes[i].axis; k < test->nodes[i].axisEnd; ++k) {
            double along = 0.0;
            for (int j = 0; j < 6; ++j) {
                along += test->axes[k].motion[j] * reactions[6 * i + j];
            }
            for (int row = 0; row < test->tree.rowCount; ++row) {
                along -= test->rows[row].axis == k
                             ? test->rows[row].sign * test->answers[row].impulse
                             : 0.0;
            }
            miss = fmax(miss, fabs(along));
        }
    }
    for (int k = 0; test->tree.isFree && k < 6; ++k) {
        miss = fmax(miss, fabs(reactions[size - 6 + k]));
    }
    return miss;
}

static void checkLaws(const Case* test) {
    for (int k = 0; k < test->tree.rowCount; ++k) {
        const tpRowAnswer* row = &test->answers[k];
        double wanted = row->offset - row->stiffness * (row->velocity + row->bias);
        CHECK_NEAR(row->impulse, fmin(fmax(wanted, row->least), row->most),
                   1e-9 * (1.0 + fabs(wanted)));
        CHECK_NEAR(row->velocity, test->rows[k].sign * test->axes[test->rows[k].axis].rate, 1e-15);
    }
}

static void addSprings(Case* test, tpRandom* random) {
    for (int i = 0; i < nodes; ++i) {
        for (int k = test->nodes[i].axis; k < test->nodes[i].axisEnd; ++k) {
            addRow(test, random, i, k, 3.0);
            if (k % 2 == 0) {
                addRow(test, random, i, k, 1e4);
            }
        }
    }
}

static void treesKeepNewtonsLaw(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int trial = 0; trial < 100; ++trial) {
        Case test;
        openCase(&test, &random, trial % 2 == 0);
        if (trial % 3 != 0) {
            addSprings(&test, &random);
        }
        tpJointTree_Factorise(&test.tree);
        assert_int_equal(tpJointTree_SolveBounded(&test.tree, test.momenta, test.velocities), 0);
        tpJointTree_ReadRows(&test.tree);
        CHECK_BELOW(missOf(&test), 1e-9);
        checkLaws(&test);
        for (int i = 0; i < nodes - (test.tree.isFree ? 1 : 0); ++i) {
            CHECK_BELOW(slipOf(&test, i, test.velocities, NULL), 1e-12);
        }
    }
}

// Factors of a changed state are those that a new factorisation of everything gives.
static void boundsHold(void** state) {
    (void)state;
    tpRandom random = { 8 };
    int changes = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Case test;
        openCase(&test, &random, trial % 2 == 0);
        for (int i = 0; i < nodes; ++i) {
            test.nodes[i].mass *= i % 2 == 0 ? 1.0 : 1e-2;
            for (int k = test.nodes[i].axis; k < test.nodes[i].axisEnd; ++k) {
                addRow(&test, &random, i, k, 1e3)->least = 0.0;
                tpRowAnswer* drive = addRow(&test, &random, i, k, trial % 3 == 0 ? 20.0 : 1e4);
                drive->most = 0.1;
                drive->least = -0.1;
            }
        }
        tpJointTree_Factorise(&test.tree);
        int trials = tpJointTree_SolveBounded(&test.tree, test.momenta, test.velocities);
        tpJointTree_ReadRows(&test.tree);
        CHECK_BELOW(missOf(&test), 1e-8);
        checkLaws(&test);
        changes += trials > 0 ? 1 : 0;
        assert_true(trials < 20);
        double before[size];
        memcpy(before, test.velocities, sizeof(before));
        tpJointTree_MarkAll(&test.tree);
        tpJointTree_Factorise(&test.tree);
        tpJointTree_Solve(&test.tree, test.momenta, test.velocities);
        assert_memory_equal(before, test.velocities, sizeof(before));
    }
    assert_true(changes > 100);
}

// What nodes are asked to move by beyond their joints they move by, whatever bounds rows come to,
// and also after contacts have pushed them.
static void jumpsAreMetWithinBounds(void** state) {
    (void)state;
    tpRandom random = { 21 };
    int changes = 0;
    for (int trial = 0; trial < 100; ++trial) {
        Case test;
        double jumps[size], pushes[size];
        openCase(&test, &random, trial % 2 == 0);
        memset(test.tree.base, 0, sizeof(test.tree.base));
        for (int k = 0; k < size; ++k) {
            bool isFreeRoot = test.tree.isFree && k >= size - 6;
            jumps[k] = isFreeRoot ? 0.0 : randomBetween(&random, -1.0, 1.0);
            pushes[k] = randomBetween(&random, -1.0, 1.0);
        }
        for (int i = 0; i < nodes; ++i) {
            test.nodes[i].isWanted = true;
            for (int k = test.nodes[i].axis; k < test.nodes[i].axisEnd; ++k) {
                addRow(&test, &random, i, k, 1e3)->least = 0.0;
            }
        }
        test.tree.jumps = jumps;
        tpJointTree_Factorise(&test.tree);
        changes += tpJointTree_SolveBounded(&test.tree, test.momenta, test.velocities);
        for (int pass = 0; pass < 2; ++pass) {
            tpJointTree_ReadRows(&test.tree);
            CHECK_BELOW(missOf(&test), 1e-8);
            checkLaws(&test);
            for (int i = 0; i < nodes - (test.tree.isFree ? 1 : 0); ++i) {
                CHECK_BELOW(slipOf(&test, i, test.velocities, jumps), 1e-11);
            }
            for (int k = 0; pass == 0 && k < size; ++k) {
                test.momenta[k] += pushes[k];
            }
            if (pass == 0) {
                changes +=
                    tpJointTree_PushBounded(&test.tree, test.momenta, pushes, test.velocities);
            }
        }
    }
    assert_true(changes > 100);
}

// Limits that are far, and are not looked at until an axis hurries, change nothing: velocities and
// impulses are those of a tree in which none is far.
static void farLimitsAreMetToo(void** state) {
    (void)state;
    tpRandom random = { 18 };
    int met = 0, left = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Case test, whole;
        int32_t near[mostRows];
        openCase(&test, &random, trial % 2 == 0);
        for (int i = 0; i < nodes; ++i) {
            for (int k = test.nodes[i].axis; k < test.nodes[i].axisEnd; ++k) {
                double room = randomBetween(&random, 0.0, trial % 3 == 0 ? 0.5 : 4.0);
                tpRowAnswer* limit = addRow(&test, &random, i, k, 1e5);
                *limit = (tpRowAnswer){
                    .stiffness = 1e5, .bias = room, .most = INFINITY, .state = tp_atLeastRow
                };
                addRow(&test, &random, i, k, 3.0);
                tpAxisRow* row = &test.rows[test.tree.rowCount - 2];
                row->sign = k % 3 == 0 ? 1.0 : -1.0;
            }
        }
        whole = test;
        whole.tree.nodes = whole.nodes;
        whole.tree.axes = whole.axes;
        whole.tree.rows = whole.rows;
        whole.tree.answers = whole.answers;
        whole.tree.impulses = whole.impulses;
        test.tree.near = near;
        for (int k = 0; k < test.tree.rowCount; ++k) {
            tpJointAxis* axis = &test.axes[test.rows[k].axis];
            test.rows[k].isFar = k % 2 == 0;
            if (k % 2 == 1) {
                near[test.tree.nearCount++] = k;
                continue;
            }
            double bound = 0.5 * test.answers[k].bias;
            axis->farLowest = test.rows[k].sign > 0.0 ? -bound : -INFINITY;
            axis->farHighest = test.rows[k].sign > 0.0 ? INFINITY : bound;
        }
        tpJointTree_Factorise(&test.tree);
        tpJointTree_Factorise(&whole.tree);
        tpJointTree_SolveBounded(&test.tree, test.momenta, test.velocities);
        tpJointTree_SolveBounded(&whole.tree, whole.momenta, whole.velocities);
        tpJointTree_ReadRows(&test.tree);
        tpJointTree_ReadRows(&whole.tree);
        checkLaws(&whole);
        for (int k = 0; k < size; ++k) {
            CHECK_NEAR(test.velocities[k], whole.velocities[k], 1e-9);
        }
        for (int k = 0; k < test.tree.rowCount; ++k) {
            CHECK_NEAR(test.answers[k].impulse, whole.answers[k].impulse, 1e-8);
            met += k % 2 == 0 && whole.answers[k].impulse > 0.0 ? 1 : 0;
            left += test.rows[k].isFar ? 1 : 0;
        }
    }
    assert_true(met > 100 && left > 100);
}

// A push on some nodes gives the velocities, rates and states that solving for all momenta gives.
static void pushesAddUp(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int changed = 0, same = 0;
    for (int trial = 0; trial < 100; ++trial) {
        Case test, whole;
        openCase(&test, &random, trial % 2 == 0);
        for (int i = 0; i < nodes; ++i) {
            for (int k = test.nodes[i].axis; k < test.nodes[i].axisEnd; ++k) {
                tpRowAnswer* drive = addRow(&test, &random, i, k, 20.0);
                drive->most = trial % 4 == 0 ? INFINITY : 2.0;
                drive->least = -drive->most;
            }
        }
        tpJointTree_Factorise(&test.tree);
        assert_true(test.tree.hasBounds == (trial % 4 != 0));
        tpJointTree_SolveBounded(&test.tree, test.momenta, test.velocities);
        double changes[size] = { 0.0 };
        int pushed[2] = { trial % nodes, trial * 3 % nodes };
        for (int p = 0; p < 2; ++p) {
            test.nodes[pushed[p]].isWanted = true;
            for (int k = 6 * pushed[p]; k < 6 * pushed[p] + 6; ++k) {
                changes[k] = randomBetween(&random, -1.0, 1.0);
            }
        }
        for (int k = 0; k < size; ++k) {
            test.momenta[k] += changes[k];
        }
        tpJointTree_Want(&test.tree);
        int trials = tpJointTree_PushBounded(&test.tree, test.momenta, changes, test.velocities);
        changed += trials > 0 ? 1 : 0;
        same += trials == 0 ? 1 : 0;
        tpJointTree_ReadRows(&test.tree);
        checkLaws(&test);
        CHECK_BELOW(missOf(&test), 1e-9);
        whole = test;
        tpJointTree_Solve(&test.tree, test.momenta, test.velocities);
        for (int k = 0; k < size; ++k) {
            CHECK_NEAR(whole.velocities[k], test.velocities[k], 1e-10);
        }
        for (int k = 0; k < test.tree.rowCount; ++k) {
            CHECK_NEAR(whole.answers[k].velocity, test.answers[k].velocity, 1e-10);
        }
    }
    assert_true(changed > 10 && same > 10);
}

// An entry of a symmetric 6 x 6 matrix.
static double entryOf(const tpSpatialInertia* block, int row, int column) {
    static const int places[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };
    if (row < 3) {
        return column < 3 ? block->mass[places[row][column]]
                          : block->coupling[3 * row + column - 3];
    }
    return column < 3 ? block->coupling[3 * column + row - 3]
                      : block->inertia[places[row - 3][column - 3]];
}

static void inverseAnswersUnitImpulses(void** state) {
    (void)state;
    tpRandom random = { 9 };
    for (int trial = 0; trial < 10; ++trial) {
        Case test;
        tpSpatialInertia inverses[nodes];
        double zero[size] = { 0.0 };
        openCase(&test, &random, trial % 2 == 0);
        memset(test.tree.base, 0, sizeof(test.tree.base));
        addSprings(&test, &random);
        for (int k = 0; k < test.tree.rowCount; ++k) {
            test.answers[k].bias = 0.0;
        }
        tpJointTree_Factorise(&test.tree);
        test.nodes[1].isWanted = test.nodes[3].isWanted = true;
        tpJointTree_Want(&test.tree);
        tpJointTree_Invert(&test.tree, inverses);
        for (int column = 0; column < size; ++column) {
            if (!test.nodes[column / 6].isWanted) {
                continue;
            }
            zero[column] = 1.0;
            tpJointTree_Solve(&test.tree, zero, test.velocities);
            zero[column] = 0.0;
            for (int i = 0; i < 6; ++i) {
                CHECK_NEAR(entryOf(&inverses[column / 6], i, column % 6),
                           test.velocities[column / 6 * 6 + i], 1e-11);
            }
        }
        assert_true(test.nodes[nodes - 1].isWanted);
    }
}

// The velocity along one impulse under another, by their traces and by a push through the tree.
static void tracesAnswerImpulses(void** state) {
    (void)state;
    tpRandom random = { 77 };
    for (int trial = 0; trial < 20; ++trial) {
        Case test;
        openCase(&test, &random, trial % 2 == 0);
        addSprings(&test, &random);
        tpJointTree* tree = &test.tree;
        tpJointTree_Factorise(tree);
        double traces[nodes][mostAxes + 8][tp_traceWidth],
            answers[nodes][mostAxes + 8][tp_traceWidth];
        double impulses[nodes][3][6];
        for (int i = 0; i < nodes; ++i) {
            for (int k = 0; k < 18; ++k) {
                impulses[i][k / 6][k % 6] = randomBetween(&random, -1.0, 1.0);
            }
            tree->nodes[i].isWanted = true;
            tpJointTree_Trace(tree, i, impulses[i], 3, traces[i], answers[i]);
        }
        for (int i = 0; i < nodes; ++i) {
            double changes[size] = { 0.0 }, velocities[size] = { 0.0 };
            memcpy(&changes[6 * i], impulses[i][1], 6 * sizeof(double));
            tpJointTree_Push(tree, changes, velocities);
            for (int j = 0; j < nodes; ++j) {
                int shared = tpJointTree_SharedLength(tree, i, tpJointTree_TraceLength(tree, i), j);
                int ofI = tpJointTree_TraceLength(tree, i) - shared;
                int ofJ = tpJointTree_TraceLength(tree, j) - shared;
                double expected = 0.0, sum = 0.0;
                for (int k = 0; k < 6; ++k) {
                    expected += impulses[j][2][k] * velocities[6 * j + k];
                }
                for (int k = 0; k < shared; ++k) {
                    sum += traces[j][ofJ + k][2] * answers[i][ofI + k][1];
                }
                CHECK_NEAR(sum, expected, 1e-11 * (1.0 + fabs(expected)));
            }
        }
    }
}

// Impulses between the halves of a solve do what they do as momenta before it, and velocities along
// their rows are known before the second half.
static void solvesTakeTracedImpulses(void** state) {
    (void)state;
    tpRandom random = { 78 };
    for (int trial = 0; trial < 20; ++trial) {
        Case test;
        openCase(&test, &random, trial % 2 == 0);
        memset(test.tree.base, 0, sizeof(test.tree.base));
        addSprings(&test, &random);
        tpJointTree* tree = &test.tree;
        tpJointTree_Factorise(tree);
        tpJointTree_Begin(tree, test.momenta);
        double traces[mostAxes + 8][tp_traceWidth], answers[mostAxes + 8][tp_traceWidth];
        double impulses[tp_traceWidth][6], r[tp_traceWidth], velocities[size], changes[size];
        int node = trial % nodes;
        for (int k = 0; k < 6 * tp_traceWidth; ++k) {
            impulses[k / 6][k % 6] = randomBetween(&random, -1.0, 1.0);
            r[k / 6] = randomBetween(&random, -1.0, 1.0);
        }
        tpJointTree_Trace(tree, node, impulses, tp_traceWidth, traces, answers);
        tpJointTree_PushTraced(tree, node, answers, r);
        for (int k = 0; k < 6 * tp_traceWidth; ++k) {
            test.momenta[6 * node + k % 6] += r[k / 6] * impulses[k / 6][k % 6];
        }
        double u[tp_traceWidth];
        tpJointTree_ReadTraced(tree, node, traces, u);
        assert_int_equal(tpJointTree_End(tree, test.momenta, velocities), 0);
        tpJointTree_BeginChange(tree);
        tpJointTree_PushTraced(tree, node, answers, r);
        tpJointTree_EndChange(tree, changes);
        tpJointTree_Solve(tree, test.momenta, test.velocities);
        for (int i = 0; i < tp_traceWidth; ++i) {
            for (int k = 0; k < 6; ++k) {
                u[i] -= impulses[i][k] * test.velocities[6 * node + k];
                test.momenta[6 * node + k] -= r[i] * impulses[i][k];
            }
            CHECK_NEAR(u[i], 0.0, 1e-10);
        }
        for (int k = 0; k < size; ++k) {
            CHECK_NEAR(velocities[k], test.velocities[k], 1e-10);
            velocities[k] -= changes[k];
        }
        tpJointTree_Solve(tree, test.momenta, test.velocities);
        for (int k = 0; k < size; ++k) {
            CHECK_NEAR(velocities[k], test.velocities[k], 1e-10);
        }
    }
}

// Traces have the same bits on every width.
static void widthsTraceAlike(void** state) {
    (void)state;
    tpRandom random = { 79 };
    Case test;
    openCase(&test, &random, true);
    addSprings(&test, &random);
    tpJointTree_Factorise(&test.tree);
    tpJointTree_Begin(&test.tree, test.momenta);
    double components[6][tp_traceWidth], r[tp_traceWidth];
    for (int k = 0; k < 6 * tp_traceWidth; ++k) {
        components[k / tp_traceWidth][k % tp_traceWidth] = randomBetween(&random, -1.0, 1.0);
        r[k % tp_traceWidth] = randomBetween(&random, -1.0, 1.0);
    }
    for (int node = 0; node < nodes; ++node) {
        Case cases[2] = { test, test };
        double traces[2][mostAxes + 8][tp_traceWidth], answers[2][mostAxes + 8][tp_traceWidth];
        double sums[2][tp_traceWidth][tp_traceWidth] = { { { 0.0 } } };
        double u[2][tp_traceWidth];
        memset(traces, 0, sizeof(traces));
        memset(answers, 0, sizeof(answers));
        int length = tpJointTree_TraceLength(&test.tree, node);
        for (int k = 0; k < 2; ++k) {
            const tpTreeKernels* kernels = tpGetTreeKernels(k == 0 ? 1 : 4);
            cases[k].tree.nodes = cases[k].nodes;
            cases[k].tree.axes = cases[k].axes;
            kernels->trace(&cases[k].tree, node, components, traces[k], answers[k]);
            kernels->push(&cases[k].tree, node, answers[k], r);
            kernels->read(&cases[k].tree, node, traces[k], u[k]);
            kernels->multiply(length, traces[k], answers[k], sums[k]);
        }
        assert_memory_equal(traces[0], traces[1], sizeof(traces[0]));
        assert_memory_equal(answers[0], answers[1], sizeof(answers[0]));
        assert_memory_equal(sums[0], sums[1], sizeof(sums[0]));
        assert_memory_equal(u[0], u[1], sizeof(u[0]));
        assert_memory_equal(cases[0].axes, cases[1].axes, sizeof(test.axes));
        assert_memory_equal(cases[0].tree.rootPush, cases[1].tree.rootPush,
                            sizeof(test.tree.rootPush));
    }
}

// Factors are made of nodes that are marked, and of those between them and the root: others keep
// theirs, whatever has become of their masses.
static void onlyMarkedNodesHaveNewFactors(void** state) {
    (void)state;
    tpRandom random = { 80 };
    for (int trial = 0; trial < 50; ++trial) {
        Case test;
        openCase(&test, &random, trial % 2 == 0);
        addSprings(&test, &random);
        tpJointTree_Factorise(&test.tree);
        Case before = test;
        for (int i = 0; i < nodes; ++i) {
            test.nodes[i].mass *= 2.0;
        }
        tpJointTree_Factorise(&test.tree);
        assert_memory_equal(test.axes, before.axes, sizeof(test.axes));
        int marked = trial % nodes;
        bool isOnWay[nodes] = { false };
        for (int i = marked; i >= 0; i = test.nodes[i].parent) {
            isOnWay[i] = true;
        }
        test.nodes[marked].isDirty = true;
        tpJointTree_Factorise(&test.tree);
        for (int i = 0; i < nodes; ++i) {
            assert_false(test.nodes[i].isDirty);
            bool isSame =
                memcmp(&test.nodes[i].lent, &before.nodes[i].lent, sizeof(test.nodes[i].lent)) == 0;
            assert_true(isSame || isOnWay[i]);
            assert_true(!isSame || !isOnWay[i] || i == nodes - 1);
        }
    }
}

// Displacements close what is off, and no lesser ones do: their momenta are impulses of joints
// alone, which do nothing along the axes.
static void errorsAreTakenBack(void** state) {
    (void)state;
    tpRandom random = { 10 };
    for (int trial = 0; trial < 20; ++trial) {
        Case test;
        double jumps[size], errors[mostRows] = { 0.0 };
        openCase(&test, &random, trial % 2 == 0);
        for (int k = 0; k < size; ++k) {
            bool isFreeRoot = test.tree.isFree && k >= size - 6;
            jumps[k] = isFreeRoot ? 0.0 : randomBetween(&random, -0.01, 0.01);
        }
        int axis = test.nodes[2].axis;
        addRow(&test, &random, 2, axis, 1e9);
        errors[0] = 0.003;
        tpJointTree_Factorise(&test.tree);
        tpJointTree_Correct(&test.tree, jumps, errors, test.velocities);
        for (int i = 0; i < nodes - (test.tree.isFree ? 1 : 0); ++i) {
            CHECK_BELOW(slipOf(&test, i, test.velocities, jumps), 1e-13);
        }
        CHECK_NEAR(test.rows[0].sign * test.axes[axis].rate, -0.003, 1e-9);
        memset(test.momenta, 0, sizeof(test.momenta));
        double reactions[size];
        tpJointTree_Reactions(&test.tree, test.momenta, test.velocities, reactions);
        for (int i = 0; i < nodes; ++i) {
            for (int k = test.nodes[i].axis; k < test.nodes[i].axisEnd; ++k) {
                double along = 0.0;
                for (int j = 0; j < 6; ++j) {
                    along += test.axes[k].motion[j] * reactions[6 * i + j];
                }
                assert_true(k == axis || fabs(along) < 1e-12);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesKeepNewtonsLaw),
        cmocka_unit_test(boundsHold),
        cmocka_unit_test(jumpsAreMetWithinBounds),
        cmocka_unit_test(farLimitsAreMetToo),
        cmocka_unit_test(pushesAddUp),
        cmocka_unit_test(inverseAnswersUnitImpulses),
        cmocka_unit_test(errorsAreTakenBack),
        cmocka_unit_test(tracesAnswerImpulses),
        cmocka_unit_test(solvesTakeTracedImpulses),
        cmocka_unit_test(widthsTraceAlike),
        cmocka_unit_test(onlyMarkedNodesHaveNewFactors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
