// Which rows are held and which slide, and the factors of W that the states of contacts ask for:
// L D L' of the rows that are held, and what is left for those that slide.

#include <math.h>

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

// L D L' of W_HH: row i of L begins at i (i + 1) / 2, with 1 / D at its end.
static void factoriseHeld(tpFrictionStates* states) {
    double* row = states->factor;
    for (int i = 0; i < states->heldCount; row += ++i) {
        const double* W = states->W + (size_t)states->heldRows[i] * (size_t)states->rowCount;
        const double* other = states->factor;
        for (int j = 0; j < i; other += ++j) {
            row[j] = W[states->heldRows[j]] - tpDotNumbers(j, row, other); // times D as yet
        }
        double shift = fmax(tp_leastStateShift, states->shift);
        double own = W[states->heldRows[i]], pivot = own * (1.0 + shift);
        const double* inverse = states->factor;
        for (int k = 0; k < i; inverse += ++k + 1) {
            double scaled = row[k] * *inverse;
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        pivot = pivot > shift * own ? pivot : shift * own;
        row[i] = pivot > 0.0 ? 1.0 / pivot : 0.0; // 0: nothing moves along it
    }
}

void tpFrictionStates_SolveHeld(const tpFrictionStates* states, double* restrict x) {
    const double* restrict row = states->factor;
    for (int i = 0; i < states->heldCount; row += ++i) {
        x[i] -= tpDotNumbers(i, row, x);
    }
    const double* inverse = states->factor;
    for (int i = 0; i < states->heldCount; inverse += ++i + 1) {
        x[i] *= *inverse;
    }
    for (int i = states->heldCount - 1; i > 0; --i) {
        row = states->factor + i * (i + 1) / 2;
        tpAddNumbers(i, -x[i], row, x);
    }
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
