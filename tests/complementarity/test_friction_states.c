// Small problems by what contacts do: what they find meets the law, with the velocities they tell.

#include "complementarity/friction_states.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_island.h"
#include "complementarity/solver.h"
#include "friction_cases.h"
#include "solver_memory.h"
#include "support/check.h"

enum { mostContacts = 12, mostRows = 3 * mostContacts, rounds = 6 };

static double W[mostRows * mostRows], q[mostRows], r[mostRows];

// Contacts of one to three rows on a body with more velocities than they have rows. Contacts of odd
// numbers hold better than they slide.
static void makeProblem(uint64_t seed, int contacts, tpFrictionStates* states) {
    static FrictionCase random;
    double G[mostRows][mostRows + 6];
    random.state = 88172645463325252u + 7919u * seed;
    assert_true(tpFrictionStates_Reserve(states, &memory->arena, contacts, 3 * contacts));
    int rows = 0;
    for (int c = 0; c < contacts; ++c) {
        int count = 1 + (int)caseUniform(&random, 0.0, 2.999);
        double mu = count > 1 ? caseUniform(&random, 0.1, 1.0) : 0.0;
        states->contacts[c] = (tpStatedContact){
            .row = rows, .rows = count, .muStatic = c % 2 == 1 ? 1.5 * mu : mu, .muDynamic = mu
        };
        for (int i = 0; i < count; ++i, ++rows) {
            q[rows] = caseUniform(&random, -1.0, i == 0 ? 0.3 : 1.0);
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < rows + 6; ++k) {
            G[i][k] = caseUniform(&random, -1.0, 1.0) + (i == k ? 3.0 : 0.0);
        }
    }
    memset(W, 0, sizeof(W));
    for (int i = 0; i < rows * rows; ++i) {
        for (int k = 0; k < rows + 6; ++k) {
            W[i] += G[i / rows][k] * G[i % rows][k];
        }
    }
    states->contactCount = contacts;
    states->rowCount = rows;
    states->W = W;
}

// From r, which is in `solved`.
static bool solve(tpFrictionStates* states, int* taken) {
    int n = states->rowCount;
    memcpy(r, states->solved, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; ++i) {
        states->u[i] = q[i];
        for (int k = 0; k < n; ++k) {
            states->u[i] += W[i * n + k] * r[k];
        }
    }
    tpFrictionStates_Read(states);
    *taken = rounds;
    bool isSolved = tpFrictionStates_Solve(states, r, 1e-12, taken);
    tpFrictionStates_KeepInCones(states);
    return isSolved;
}

// How far these impulses are from the law, by W and q themselves.
static double missOf(const tpFrictionStates* states, const double* impulses) {
    double u[mostRows], map[3], square = 0.0;
    int n = states->rowCount;
    for (int i = 0; i < n; ++i) {
        u[i] = q[i];
        for (int k = 0; k < n; ++k) {
            u[i] += W[i * n + k] * impulses[k];
        }
    }
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        tpFrictionNaturalMap(contact->rows, tp_frictionCone, contact->mu, impulses + contact->row,
                             u + contact->row, map);
        for (int i = 0; i < contact->rows; ++i) {
            square += map[i] * map[i];
        }
    }
    return sqrt(square);
}

static void answersMeetTheLaw(void** state) {
    (void)state;
    int solved = 0, counts[3] = { 0 };
    for (uint64_t seed = 0; seed < 200; ++seed) {
        tpArenaMark mark = tpArena_Mark(&memory->arena);
        tpFrictionStates states;
        int taken;
        makeProblem(seed, 1 + (int)(seed % mostContacts), &states);
        memset(states.solved, 0, sizeof(double) * (size_t)states.rowCount);
        if (solve(&states, &taken)) {
            double half[mostRows], push = 0.0;
            assert_true(taken >= 1 && taken <= rounds);
            CHECK_BELOW(missOf(&states, states.solved), 1e-11);
            for (int i = 0; i < states.rowCount; ++i) {
                half[i] = 0.5 * states.solved[i];
                push = fmax(push, half[i]);
            }
            assert_true(push == 0.0 || missOf(&states, half) > 1e-6);
            for (int c = 0; c < states.contactCount; ++c) {
                const tpStatedContact* contact = &states.contacts[c];
                counts[contact->state] += 1;
                // What slides does so by its lower friction.
                double slip = 0.0;
                for (int i = 1; i < contact->rows; ++i) {
                    slip = fmax(slip, fabs(states.u[contact->row + i]));
                }
                bool slides = contact->state == tp_slidingContact && slip > 1e-9;
                assert_true(!slides || contact->mu == contact->muDynamic);
            }
            solved += 1;
        }
        tpArena_Release(&memory->arena, mark);
    }
    assert_true(solved > 100); // from nothing; sweeps come first where it matters
    assert_true(counts[tp_openContact] > 50 && counts[tp_stickingContact] > 50 &&
                counts[tp_slidingContact] > 50);
}

// A foot of a leg that leans, with all that the rest of the robot answers: along one direction it
// moves sideways as it is pushed, and nothing else. Whole steps of Newton's method go around
// between sticking and sliding there.
static void leaningLegIsFollowed(void** state) {
    (void)state;
    const double leg[9] = {
        1.1580, 0.8024, -0.0672, 0.8024, 0.5636, 0.0204, -0.0672, 0.0204, 0.6007
    };
    for (int k = 0; k < 17; ++k) {
        tpArenaMark mark = tpArena_Mark(&memory->arena);
        const double free[3] = { -1.97e-3, -1.47e-3, -(0.705 + 0.005 * k) * 1e-3 };
        const double before[3] = { hypot(0.4616e-3, 1.3888e-3), 0.4616e-3, 1.3888e-3 };
        tpFrictionStates states;
        int taken;
        assert_true(tpFrictionStates_Reserve(&states, &memory->arena, 1, 3));
        memcpy(W, leg, sizeof(leg));
        memcpy(q, free, sizeof(free));
        memcpy(states.solved, before, sizeof(before));
        states.contacts[0] = (tpStatedContact){ .rows = 3, .muStatic = 1.0, .muDynamic = 1.0 };
        states.contactCount = 1;
        states.rowCount = 3;
        states.W = W;
        assert_true(solve(&states, &taken));
        CHECK_BELOW(missOf(&states, states.solved), 1e-11);
        tpArena_Release(&memory->arena, mark);
    }
}

// Contacts along which nothing moves: their rows of W are rounding of any sign. Pivots of these
// left the range of numbers, and impulses that were no numbers passed as solved.
static void immovableContactsGiveNumbers(void** state) {
    (void)state;
    int solved = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        tpArenaMark mark = tpArena_Mark(&memory->arena);
        tpFrictionStates states;
        int contacts = 12, taken;
        makeProblem(seed, contacts, &states);
        FrictionCase random = { .state = 88172645463325252u + 104729u * seed };
        int n = states.rowCount;
        for (int c = 2; c < contacts; ++c) {
            for (int i = states.contacts[c].row;
                 i < states.contacts[c].row + states.contacts[c].rows; ++i) {
                for (int k = 0; k < n; ++k) {
                    W[i * n + k] = W[k * n + i] = 1e-17 * caseUniform(&random, -1.0, 1.0);
                }
            }
        }
        for (int i = 0; i < n; ++i) {
            states.solved[i] = caseUniform(&random, 0.0, 1.0);
        }
        solved += solve(&states, &taken);
        for (int i = 0; i < n; ++i) {
            assert_true(isfinite(states.solved[i]) && isfinite(states.u[i]));
        }
        tpArena_Release(&memory->arena, mark);
    }
    assert_int_equal(solved, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answersMeetTheLaw),
        cmocka_unit_test(leaningLegIsFollowed),
        cmocka_unit_test(immovableContactsGiveNumbers),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
