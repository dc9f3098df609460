// Rows on one mass: with all of their bounds the velocity is where the sum of their answers is the
// momentum that the mass has got, which bisection finds too.

#include "sweeps/row_answers.h"

#include "support/check.h"

enum { count = 12 };

static double bounded(const tpRowAnswer* row, double velocity) {
    return fmin(fmax(tpRowAnswer_To(row, velocity), row->least), row->most);
}

static double byBisection(const tpRowAnswer* rows, double mass, double momentum) {
    double low = -1e3, high = 1e3;
    for (int k = 0; k < 200; ++k) {
        double v = 0.5 * (low + high), left = mass * v - momentum;
        for (int i = 0; i < count; ++i) {
            left -= bounded(&rows[i], v);
        }
        if (left > 0.0) {
            high = v;
        } else {
            low = v;
        }
    }
    return high;
}

// The linear solve with the rows that are within.
static double solve(tpRowAnswer* rows, double mass, double momentum) {
    double stiff = mass, pushed = momentum;
    for (int i = 0; i < count; ++i) {
        stiff += rows[i].state == tp_withinRow ? rows[i].stiffness : 0.0;
        pushed += tpRowAnswer_Start(&rows[i]);
    }
    for (int i = 0; i < count; ++i) {
        tpRowAnswer_Set(&rows[i], pushed / stiff);
    }
    return pushed / stiff;
}

static void newtonsStepsFindTheLeast(void** state) {
    (void)state;
    tpRandom random = { 3 };
    for (int trial = 0; trial < 500; ++trial) {
        tpRowAnswer rows[count] = { 0 };
        for (int i = 0; i < count; ++i) {
            rows[i].stiffness = randomBetween(&random, 0.1, i % 3 == 0 ? 1e4 : 10.0);
            rows[i].bias = randomBetween(&random, -1.0, 1.0);
            rows[i].most = i % 4 == 3 ? INFINITY : randomBetween(&random, 0.0, 1.0);
            rows[i].least = i % 4 == 3 ? -INFINITY : i % 4 == 2 ? 0.0 : -rows[i].most;
            rows[i].state = (int)(trial + i) % 3 - 1;
            rows[i].state = i % 4 == 3 ? tp_withinRow : rows[i].state;
        }
        double mass = randomBetween(&random, 1e-3, 1.0), v = 0.0;
        double momentum = randomBetween(&random, -5.0, 5.0);
        int trials = 0;
        do {
            v = solve(rows, mass, momentum);
        } while (tpRowAnswers_Follow(rows, count, trials) && ++trials < tp_mostTrials);
        assert_true(trials < tp_mostTrials);
        CHECK_NEAR(v, byBisection(rows, mass, momentum), 1e-9);
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR(rows[i].impulse, bounded(&rows[i], v), 1e-7);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(newtonsStepsFindTheLeast) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
