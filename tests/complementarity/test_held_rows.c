// Factors of rows that are held: they solve, leave the Schur complement of the others, and have the
// same bits whatever the machine has.

#include "complementarity/held_rows.h"

#include <math.h>
#include <string.h>

#include "math/widths.h"
#include "support/check.h"

enum { most = 23, room = 24, blocks = room / tp_heldWidth };

typedef struct Case {
    int held, count;
    size_t stride;
    double A[most][most], b[room], shifts[most];
} Case;

typedef struct Answer {
    double rows[most * room], x[room], lowered[room], sum[room], dots[room], product[room];
    tpHeldBlock blocks[blocks];
} Answer;

static Case makeCase(tpRandom* random, int held, int count) {
    Case test = { .held = held, .count = count, .stride = tpHeldRows_Round(count) };
    double G[most][most + 3];
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < count + 3; ++k) {
            G[i][k] = randomBetween(random, -1.0, 1.0);
        }
        test.b[i] = randomBetween(random, -1.0, 1.0);
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            for (int k = 0; k < count + 3; ++k) {
                test.A[i][j] += G[i][k] * G[j][k];
            }
        }
    }
    return test;
}

static void answer(const Case* test, const tpHeldKernels* kernels, Answer* to) {
    memset(to, 0, sizeof(*to));
    for (int i = 0; i < test->count; ++i) {
        memcpy(&to->rows[(size_t)i * test->stride + (size_t)i], &test->A[i][i],
               sizeof(double) * (size_t)(test->count - i));
    }
    kernels->factorise(test->held, test->count, test->stride, test->shifts, to->rows, to->blocks);
    memcpy(to->x, test->b, sizeof(to->x));
    kernels->solve(test->held, test->stride, to->rows, to->blocks, false, to->x);
    // A column right of the held ones is D^-1 L^-1 of it, but for D.
    for (int i = 0; test->count > test->held && i < test->held; ++i) {
        const double* row = to->rows + (size_t)i * test->stride;
        to->lowered[i] = row[i] * row[test->held];
    }
    kernels->solve(test->held, test->stride, to->rows, to->blocks, true, to->lowered);
    kernels->takeSum(test->count, test->stride, to->rows, test->b, to->sum);
    kernels->takeDots(test->count, test->stride, to->rows, test->b, to->dots);
    kernels->addProduct(test->count, to->rows, test->b, to->product);
}

// The velocity that impulses leave in a row of the held ones.
static double leftIn(const Case* test, int i, const double* x, const double* b) {
    double left = b[i];
    for (int k = 0; k < test->held; ++k) {
        left -= test->A[i][k] * x[k];
    }
    return left;
}

static void check(const Case* test, const Answer* found) {
    double column[room] = { 0.0 };
    for (int i = 0; i < test->held; ++i) {
        CHECK_NEAR(leftIn(test, i, found->x, test->b), 0.0, 1e-9);
        column[i] = test->count > test->held ? test->A[i][test->held] : 0.0;
    }
    for (int i = 0; i < test->held; ++i) {
        CHECK_NEAR(leftIn(test, i, found->lowered, column), 0.0, 1e-9);
    }
    for (int j = test->held; j < test->count; ++j) {
        // The first row of the Schur complement, by the column above.
        double S = test->A[test->held][j];
        for (int k = 0; k < test->held; ++k) {
            S -= test->A[k][j] * found->lowered[k];
        }
        CHECK_NEAR(found->rows[(size_t)test->held * test->stride + (size_t)j], S, 1e-9);
    }
}

static void factorsSolve(void** state) {
    (void)state;
    tpRandom random = { 51 };
    for (int count = 1; count <= most; ++count) {
        for (int held = 0; held <= count; held += 1 + count / 9) {
            Case test = makeCase(&random, held, count);
            Answer plain;
            answer(&test, tpGetHeldKernels(1), &plain);
            check(&test, &plain);
            if (tpHasWidth(4)) {
                Answer wide;
                answer(&test, tpGetHeldKernels(4), &wide);
                assert_memory_equal(&plain, &wide, sizeof(plain));
            }
        }
    }
}

// Sums by hand.
static void productsAreSums(void** state) {
    (void)state;
    enum { n = 7, width = 8 };
    tpRandom random = { 52 };
    double A[n * n], R[n * width], x[width] = { 0.0 }, y[width] = { 0.0 }, dots[n] = { 0.0 },
                                   sum[width] = { 0.0 };
    for (int i = 0; i < n; ++i) {
        x[i] = randomBetween(&random, -1.0, 1.0);
        for (int k = 0; k <= i; ++k) {
            A[n * i + k] = A[n * k + i] = randomBetween(&random, -1.0, 1.0);
        }
        for (int k = 0; k < width; ++k) {
            R[width * i + k] = randomBetween(&random, -1.0, 1.0);
        }
    }
    const tpHeldKernels* kernels = tpGetHeldKernels(tpChooseWidth(tp_heldWidth));
    kernels->addProduct(n, A, x, y);
    kernels->takeDots(n, width, R, x, dots);
    kernels->takeSum(n, width, R, x, sum);
    for (int i = 0; i < n; ++i) {
        double product = 0.0, dot = 0.0;
        for (int k = 0; k < n; ++k) {
            product += A[n * i + k] * x[k];
            dot += R[width * i + k] * x[k];
        }
        CHECK_NEAR(y[i], product, 1e-14);
        CHECK_NEAR(dots[i], -dot, 1e-14);
    }
    for (int k = 0; k < width; ++k) {
        double expected = 0.0;
        for (int i = 0; i < n; ++i) {
            expected -= R[width * i + k] * x[i];
        }
        CHECK_NEAR(sum[k], expected, 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(factorsSolve),
                                        cmocka_unit_test(productsAreSums) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
