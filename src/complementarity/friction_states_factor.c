// Which rows are held and which slide, and the factors of W that the states of contacts ask for.
//
// With the rows that are held first, elimination of these leaves D L' of W_HH on their rows, with
// 1 / D on the diagonal, D L' W_HH^-1 W_HT right of it, and S on the rows that slide.

#include <math.h>
#include <string.h>

#include "complementarity/friction_states.h"
#include "math/pairs.h"

static void listRows(tpFrictionStates* states) {
    states->heldCount = states->slidingCount = 0;
    for (int c = 0; c < states->contactCount; ++c) {
        tpStatedContact* contact = &states->contacts[c];
        if (contact->isDrive) {
            contact->slidingPlace = states->slidingCount;
            states->slidingRows[states->slidingCount++] = contact->row;
        }
    }
    states->driveCount = states->slidingCount;
    for (int c = 0; c < states->contactCount; ++c) {
        tpStatedContact* contact = &states->contacts[c];
        if (contact->state == tp_openContact || contact->isDrive) {
            continue;
        }
        contact->heldPlace = states->heldCount;
        contact->slidingPlace = states->slidingCount;
        states->heldRows[states->heldCount++] = contact->row;
        for (int i = 1; i < contact->rows; ++i) {
            if (contact->state == tp_slidingContact) {
                states->slidingRows[states->slidingCount++] = contact->row + i;
            } else {
                states->heldRows[states->heldCount++] = contact->row + i;
            }
        }
    }
}

// Rows of the factors are an even number apart, with at least one place after the last of them.
static size_t strideOf(const tpFrictionStates* states) {
    return ((size_t)(states->heldCount + states->slidingCount) + 2) / 2 * 2;
}

size_t tpFrictionStates_FactorRoom(int rows) {
    return (size_t)rows * ((size_t)rows + 2);
}

// What is right of the diagonal: rows of W that are held, then those that slide.
static void gather(tpFrictionStates* states, size_t stride) {
    int held = states->heldCount, sliding = states->slidingCount;
    for (int i = 0; i < held + sliding; ++i) {
        int from = i < held ? states->heldRows[i] : states->slidingRows[i - held];
        const double* W = states->W + (size_t)from * (size_t)states->rowCount;
        double* row = states->factor + (size_t)i * stride;
        for (int j = i; j < held; ++j) {
            row[j] = W[states->heldRows[j]];
        }
        for (int j = i > held ? i : held; j < held + sliding; ++j) {
            row[j] = W[states->slidingRows[j - held]];
        }
        row[held + sliding] = 0.0;
    }
}

// The inverse of a pivot takes its place; 0: nothing moves along it.
static double pivotOf(const tpFrictionStates* states, int k, double* diagonal) {
    double shift = fmax(tp_leastStateShift, states->shift);
    double own = states->W[(size_t)states->heldRows[k] * ((size_t)states->rowCount + 1)];
    double pivot = *diagonal + shift * own;
    pivot = pivot > shift * own ? pivot : shift * own;
    *diagonal = pivot > 0.0 ? 1.0 / pivot : 0.0;
    return *diagonal;
}

// row -= f a + g b, of `count` numbers or one more.
static inline void takeTwo(int count, double f, const double* a, double g, const double* b,
                           double* row) {
    for (int j = 0; j < count; j += 2) {
        tpPair left = tpLoadPair(row + j) - (f * tpLoadPair(a + j) + g * tpLoadPair(b + j));
        memcpy(row + j, &left, sizeof(left));
    }
}

static inline void takeOne(int count, double f, const double* a, double* row) {
    for (int j = 0; j < count; j += 2) {
        tpPair left = tpLoadPair(row + j) - f * tpLoadPair(a + j);
        memcpy(row + j, &left, sizeof(left));
    }
}

// Eliminates the rows that are held, two at once: D L' of them, and S, right of the diagonal.
static void eliminateHeld(tpFrictionStates* states, size_t stride) {
    int held = states->heldCount, count = held + states->slidingCount, k = 0;
    for (; k + 1 < held; k += 2) {
        double *a = states->factor + (size_t)k * stride, *b = a + stride;
        double inverseA = pivotOf(states, k, &a[k]);
        takeOne(count - k - 1, inverseA * a[k + 1], a + k + 1, b + k + 1);
        double inverseB = pivotOf(states, k + 1, &b[k + 1]);
        for (int i = k + 2; i < count; ++i) {
            takeTwo(count - i, inverseA * a[i], a + i, inverseB * b[i], b + i,
                    states->factor + (size_t)i * stride + i);
        }
    }
    if (k < held) {
        double *a = states->factor + (size_t)k * stride, inverse = pivotOf(states, k, &a[k]);
        for (int i = k + 1; i < count; ++i) {
            takeOne(count - i, inverse * a[i], a + i, states->factor + (size_t)i * stride + i);
        }
    }
}

// x = L^-1 x, and then what the pivots make of it; one number after the last may change.
static void solveLower(const tpFrictionStates* states, size_t stride, double* x) {
    int held = states->heldCount, k = 0;
    for (; k + 1 < held; k += 2) {
        const double *a = states->factor + (size_t)k * stride, *b = a + stride;
        x[k] *= a[k];
        x[k + 1] = (x[k + 1] - x[k] * a[k + 1]) * b[k + 1];
        takeTwo(held - k - 2, x[k], a + k + 2, x[k + 1], b + k + 2, x + k + 2);
    }
    if (k < held) {
        x[k] *= states->factor[(size_t)k * (stride + 1)];
    }
}

// x = L'^-1 x.
static void solveUpper(const tpFrictionStates* states, size_t stride, double* x) {
    int held = states->heldCount;
    for (int k = held / 2 * 2 - 2; k >= 0; k -= 2) {
        const double *a = states->factor + (size_t)k * stride, *b = a + stride;
        tpPair sumA = { 0.0, 0.0 }, sumB = { 0.0, 0.0 };
        int i = k + 2;
        for (; i + 1 < held; i += 2) {
            tpPair by = tpLoadPair(x + i);
            sumA += tpLoadPair(a + i) * by;
            sumB += tpLoadPair(b + i) * by;
        }
        double restA = i < held ? a[i] * x[i] : 0.0, restB = i < held ? b[i] * x[i] : 0.0;
        x[k + 1] -= b[k + 1] * (tpPair_Sum(sumB) + restB);
        x[k] -= a[k] * (a[k + 1] * x[k + 1] + (tpPair_Sum(sumA) + restA));
    }
}

void tpFrictionStates_SolveHeld(const tpFrictionStates* states, double* x) {
    size_t stride = strideOf(states);
    solveLower(states, stride, x);
    solveUpper(states, stride, x);
}

// W_HH^-1 W_HT row by row, and S.
static void condense(tpFrictionStates* states, size_t stride) {
    int held = states->heldCount, sliding = states->slidingCount;
    double* x = states->heldChange;
    for (int j = 0; j < sliding; ++j) {
        for (int i = 0; i < held; ++i) {
            const double* row = states->factor + (size_t)i * stride;
            x[i] = row[i] * row[held + j];
        }
        solveUpper(states, stride, x);
        for (int i = 0; i < held; ++i) {
            states->follows[i * sliding + j] = x[i];
        }
    }
    for (int i = 0; i < sliding; ++i) {
        const double* row = states->factor + (size_t)(held + i) * stride + held;
        for (int j = i; j < sliding; ++j) {
            states->S[i * sliding + j] = states->S[j * sliding + i] = row[j];
        }
    }
}

void tpFrictionStates_Factorise(tpFrictionStates* states) {
    if (!states->isFactored) {
        listRows(states);
        size_t stride = strideOf(states);
        gather(states, stride);
        eliminateHeld(states, stride);
        condense(states, stride);
        states->isFactored = true;
    }
}
