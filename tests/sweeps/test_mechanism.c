// Mechanisms of random trees and loops, against the same equations solved densely.

#include "sweeps/mechanism.h"

#include <string.h>

#include "support/check.h"

enum { nodes = 6, size = 6 * nodes, mostRows = 96 };

typedef struct Case {
    tpNodeMass masses[nodes];
    tpMechanismRow rows[mostRows];
    tpRowAnswer answers[mostRows];
    int32_t starts[nodes + 1], below[nodes * nodes];
    double diagonal[nodes][36], blocks[nodes * nodes][36];
    bool isStale[nodes];
    double momenta[size], velocities[size];
    tpMechanism mechanism;
} Case;

// All blocks below the diagonal: whatever rows there are, elimination needs no others.
static void openCase(Case* test, tpRandom* random) {
    memset(test, 0, sizeof(*test));
    int place = 0;
    for (int i = 0; i < nodes; ++i) {
        test->starts[i] = place;
        for (int j = i + 1; j < nodes; ++j) {
            test->below[place++] = j;
        }
        tpNodeMass* mass = &test->masses[i];
        for (int k = 0; k < 3; ++k) {
            mass->mass[k] = randomBetween(random, 0.5, 5.0);
            mass->inertia[4 * k] = randomBetween(random, 0.5, 2.0);
        }
        for (int k = 0; k < 6; ++k) {
            mass->free[k] = 1.0;
        }
    }
    test->starts[nodes] = place;
    for (int k = 0; k < size; ++k) {
        test->momenta[k] = randomBetween(random, -1.0, 1.0);
    }
    test->mechanism = (tpMechanism){ .nodeCount = nodes,
                                     .starts = test->starts,
                                     .below = test->below,
                                     .masses = test->masses,
                                     .rows = test->rows,
                                     .answers = test->answers,
                                     .diagonal = test->diagonal,
                                     .blocks = test->blocks,
                                     .isStale = test->isStale };
}

static int blockOf(const Case* test, int a, int b) {
    int column = a < b ? a : b, row = a < b ? b : a, place = test->starts[column];
    while (test->below[place] != row) {
        ++place;
    }
    return place;
}

static tpRowAnswer* addRow(Case* test, tpRandom* random, int a, int b, double stiffness) {
    tpRowAnswer* answer = &test->answers[test->mechanism.rowCount];
    tpMechanismRow* row = &test->rows[test->mechanism.rowCount++];
    memset(row, 0, sizeof(*row));
    memset(answer, 0, sizeof(*answer));
    for (int k = 0; k < 6; ++k) {
        row->onA[k] = randomBetween(random, -1.0, 1.0);
        row->onB[k] = randomBetween(random, -1.0, 1.0);
    }
    row->nodeA = a;
    row->nodeB = b;
    row->place = a >= 0 && b >= 0 ? blockOf(test, a, b) : -1;
    answer->stiffness = stiffness;
    answer->bias = randomBetween(random, -1.0, 1.0);
    answer->least = -INFINITY;
    answer->most = INFINITY;
    return answer;
}

// M v = p + sum of J' r, and each r as its law says: what is missing, relative to the momenta.
static double missOf(const Case* test) {
    double left[size];
    memcpy(left, test->momenta, sizeof(left));
    for (int k = 0; k < test->mechanism.rowCount; ++k) {
        const tpMechanismRow *row = &test->rows[k], *first = row;
        while (first->sharedSign != 0.0) {
            --first;
        }
        double sign = row->sharedSign != 0.0 ? row->sharedSign : 1.0;
        for (int j = 0; j < 6; ++j) {
            if (row->nodeA >= 0) {
                left[6 * row->nodeA + j] += sign * first->onA[j] * test->answers[k].impulse;
            }
            if (row->nodeB >= 0) {
                left[6 * row->nodeB + j] += sign * first->onB[j] * test->answers[k].impulse;
            }
        }
    }
    double miss = 0.0;
    for (int i = 0; i < size; ++i) {
        const tpNodeMass* mass = &test->masses[i / 6];
        double m = i % 6 < 3 ? mass->mass[i % 6] : mass->inertia[4 * (i % 6 - 3)];
        miss = fmax(miss, fabs(left[i] - m * test->velocities[i]));
    }
    return miss;
}

static void checkLaws(const Case* test) {
    for (int k = 0; k < test->mechanism.rowCount; ++k) {
        const tpRowAnswer* row = &test->answers[k];
        double wanted = row->offset - row->stiffness * (row->velocity + row->bias);
        double impulse = fmin(fmax(wanted, row->least), row->most);
        CHECK_NEAR(row->impulse, impulse, 1e-9 * (1.0 + fabs(wanted)));
    }
}

static void rowsAndMomentaAgree(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int trial = 0; trial < 50; ++trial) {
        Case test;
        openCase(&test, &random);
        for (int i = 0; i < nodes; ++i) {
            // A tree, and in half of the cases loops.
            int other = i == 0 ? -1 : (int)randomBetween(&random, 0.0, i);
            addRow(&test, &random, other, i, 1e6);
            addRow(&test, &random, other, i, 3.0);
            if (trial % 2 == 1 && i > 1) {
                addRow(&test, &random, i, (other + 1) % i, 50.0);
            }
        }
        tpMechanism_Factorise(&test.mechanism);
        assert_int_equal(tpMechanism_SolveBounded(&test.mechanism, test.momenta, test.velocities),
                         0);
        // Of rows with a stiffness of a million impulses are known to fewer digits.
        CHECK_BELOW(missOf(&test), 1e-8);
        checkLaws(&test);
    }
}

// Blocks of the inverse are velocities under unit impulses.
static void inverseAnswersUnitImpulses(void** state) {
    (void)state;
    tpRandom random = { 9 };
    for (int trial = 0; trial < 10; ++trial) {
        Case test;
        openCase(&test, &random);
        for (int i = 0; i < nodes; ++i) {
            int other = i == 0 ? -1 : (int)randomBetween(&random, 0.0, i);
            for (int k = 0; k < 4; ++k) {
                addRow(&test, &random, other, i, k % 2 == 0 ? 1e4 : 3.0)->bias = 0.0;
            }
            if (trial % 2 == 1 && i > 1) {
                addRow(&test, &random, i, (other + 1) % i, 50.0)->bias = 0.0;
            }
        }
        tpMechanism_Factorise(&test.mechanism);
        double inverses[nodes][36], between[nodes * nodes][36];
        tpMechanism_Invert(&test.mechanism, inverses, between);
        for (int column = 0; column < size; ++column) {
            memset(test.momenta, 0, sizeof(test.momenta));
            test.momenta[column] = 1.0;
            tpMechanism_Solve(&test.mechanism, test.momenta, test.velocities);
            int node = column / 6, k = column % 6;
            for (int i = 0; i < 6; ++i) {
                CHECK_NEAR(inverses[node][6 * i + k], test.velocities[6 * node + i], 1e-9);
                for (int p = test.starts[node]; p < test.starts[node + 1]; ++p) {
                    CHECK_NEAR(between[p][6 * i + k], test.velocities[6 * test.below[p] + i], 1e-9);
                }
            }
        }
    }
}

static void boundsHold(void** state) {
    (void)state;
    tpRandom random = { 8 };
    int most = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Case test;
        openCase(&test, &random);
        for (int i = 0; i < nodes; ++i) {
            for (int k = 0; k < 3; ++k) {
                test.masses[i].mass[k] *= i % 2 == 0 ? 1.0 : 1e-2;
                test.masses[i].inertia[4 * k] *= i % 2 == 0 ? 1.0 : 1e-2;
            }
            addRow(&test, &random, i - 1, i, 1e4);
            tpRowAnswer* limit = addRow(&test, &random, i - 1, i, 1e3);
            limit->least = 0.0;
            // Stiff ones with small bounds on light bodies: states that change all at once go
            // around in circles.
            for (int n = 0; n < 4; ++n) {
                double stiffness = trial % 2 == 0 ? 20.0 : 1e4;
                tpRowAnswer* drive = addRow(&test, &random, i - 1, i, stiffness);
                drive->most = 0.1;
                drive->least = -0.1;
            }
            // A second law in the same direction, the other way round.
            addRow(&test, &random, i - 1, i, 5.0);
            test.rows[test.mechanism.rowCount - 1].sharedSign = -1.0;
        }
        tpMechanism_Factorise(&test.mechanism);
        int factorisations =
            tpMechanism_SolveBounded(&test.mechanism, test.momenta, test.velocities);
        // Of states that have changed, only what follows from them is made again: the same bits.
        double diagonal[nodes][36], blocks[nodes * nodes][36];
        memcpy(diagonal, test.diagonal, sizeof(diagonal));
        memcpy(blocks, test.blocks, sizeof(blocks));
        tpMechanism_Factorise(&test.mechanism);
        assert_memory_equal(diagonal, test.diagonal, sizeof(diagonal));
        assert_memory_equal(blocks, test.blocks, sizeof(blocks));
        CHECK_BELOW(missOf(&test), 1e-8);
        checkLaws(&test);
        most = factorisations > most ? factorisations : most;
    }
    assert_true(most < 20);
}

static void errorsAreTakenBack(void** state) {
    (void)state;
    tpRandom random = { 9 };
    Case test;
    double errors[mostRows] = { 0.0 }, shifts[size];
    openCase(&test, &random);
    for (int i = 0; i < nodes; ++i) {
        for (int k = 0; k < 3; ++k) {
            errors[test.mechanism.rowCount] = randomBetween(&random, -0.01, 0.01);
            addRow(&test, &random, i - 1, i, 1e7);
        }
    }
    tpMechanism_Factorise(&test.mechanism);
    tpMechanism_Correct(&test.mechanism, errors, shifts);
    for (int k = 0; k < test.mechanism.rowCount; ++k) {
        const tpMechanismRow* row = &test.rows[k];
        double moved = 0.0;
        for (int j = 0; j < 6; ++j) {
            moved += (row->nodeA >= 0 ? row->onA[j] * shifts[6 * row->nodeA + j] : 0.0) +
                     row->onB[j] * shifts[6 * row->nodeB + j];
        }
        CHECK_NEAR(moved, -errors[k], 1e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rowsAndMomentaAgree),
        cmocka_unit_test(inverseAnswersUnitImpulses),
        cmocka_unit_test(boundsHold),
        cmocka_unit_test(errorsAreTakenBack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
