// Which rows are held and which slide, and the factors of W that the states of contacts ask for:
// L D L' of the rows that are held, and what is left for those that slide.

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

// Rows of L are an even number apart, with 1 / D on the diagonal.
static size_t strideOf(const tpFrictionStates* states) {
    return ((size_t)states->heldCount + 1) / 2 * 2;
}

// x = L^-1 x by the first rows of L, four at once.
static void solveLower(int count, const double* L, size_t stride, double* x) {
    int i = 0;
    for (; i + 3 < count; i += 4) {
        const double *a = L + (size_t)i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        tpPair sums[4] = { { 0.0, 0.0 } };
        for (int k = 0; k < i; k += 2) {
            tpPair by = tpLoadPair(x + k);
            sums[0] += tpLoadPair(a + k) * by;
            sums[1] += tpLoadPair(b + k) * by;
            sums[2] += tpLoadPair(c + k) * by;
            sums[3] += tpLoadPair(d + k) * by;
        }
        double x0 = x[i] - tpPair_Sum(sums[0]);
        double x1 = x[i + 1] - tpPair_Sum(sums[1]) - b[i] * x0;
        double x2 = x[i + 2] - tpPair_Sum(sums[2]) - c[i] * x0 - c[i + 1] * x1;
        x[i + 3] = x[i + 3] - tpPair_Sum(sums[3]) - d[i] * x0 - d[i + 1] * x1 - d[i + 2] * x2;
        x[i] = x0;
        x[i + 1] = x1;
        x[i + 2] = x2;
    }
    for (; i < count; ++i) {
        x[i] -= tpDotNumbers(i, L + (size_t)i * stride, x);
    }
}

// x = L'^-1 x.
static void solveUpper(int count, const double* L, size_t stride, double* x) {
    int i = count;
    for (; i % 4 != 0; --i) {
        tpAddNumbers(i - 1, -x[i - 1], L + (size_t)(i - 1) * stride, x);
    }
    for (i -= 4; i >= 0; i -= 4) {
        const double *a = L + (size_t)i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        double x3 = x[i + 3], x2 = x[i + 2] - d[i + 2] * x3;
        double x1 = x[i + 1] - c[i + 1] * x2 - d[i + 1] * x3;
        double x0 = x[i] - b[i] * x1 - c[i] * x2 - d[i] * x3;
        for (int k = 0; k < i; k += 2) {
            tpPair left = tpLoadPair(x + k) - x0 * tpLoadPair(a + k) - x1 * tpLoadPair(b + k) -
                          x2 * tpLoadPair(c + k) - x3 * tpLoadPair(d + k);
            memcpy(x + k, &left, sizeof(left));
        }
        x[i] = x0;
        x[i + 1] = x1;
        x[i + 2] = x2;
    }
}

// L D L' of W_HH.
static void factoriseHeld(tpFrictionStates* states) {
    size_t stride = strideOf(states);
    double *L = states->factor, *row = L, shift = fmax(tp_leastStateShift, states->shift);
    for (int i = 0; i < states->heldCount; ++i, row += stride) {
        const double* W = states->W + (size_t)states->heldRows[i] * (size_t)states->rowCount;
        for (int j = 0; j < i; ++j) {
            row[j] = W[states->heldRows[j]];
        }
        solveLower(i, L, stride, row); // times D as yet
        double own = W[states->heldRows[i]], pivot = own * (1.0 + shift);
        for (int k = 0; k < i; ++k) {
            double scaled = row[k] * L[(size_t)k * (stride + 1)];
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        pivot = pivot > shift * own ? pivot : shift * own;
        row[i] = pivot > 0.0 ? 1.0 / pivot : 0.0; // 0: nothing moves along it
    }
}

void tpFrictionStates_SolveHeld(const tpFrictionStates* states, double* x) {
    size_t stride = strideOf(states);
    solveLower(states->heldCount, states->factor, stride, x);
    for (int i = 0; i < states->heldCount; ++i) {
        x[i] *= states->factor[(size_t)i * (stride + 1)];
    }
    solveUpper(states->heldCount, states->factor, stride, x);
}

// Columns of W_HH^-1 W_HT, and S.
static void condense(tpFrictionStates* states) {
    int held = states->heldCount, sliding = states->slidingCount;
    size_t n = (size_t)states->rowCount;
    for (int j = 0; j < sliding; ++j) {
        const double* W = states->W + (size_t)states->slidingRows[j] * n;
        double* column = states->columns + (size_t)j * (size_t)held;
        for (int i = 0; i < held; ++i) {
            states->heldChange[i] = column[i] = W[states->heldRows[i]];
        }
        tpFrictionStates_SolveHeld(states, column);
        for (int k = 0; k <= j; ++k) {
            double sum =
                W[states->slidingRows[k]] -
                tpDotNumbers(held, states->heldChange, states->columns + (size_t)k * (size_t)held);
            states->S[j * sliding + k] = states->S[k * sliding + j] = sum;
        }
    }
}

void tpFrictionStates_Factorise(tpFrictionStates* states) {
    if (!states->isFactored) {
        listRows(states);
        factoriseHeld(states);
        condense(states);
        states->isFactored = true;
    }
}
