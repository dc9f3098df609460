// Which rows are held and which slide, and the factors of W that the states of contacts ask for.
//
// With the rows that are held first, elimination of these leaves D L' of W_HH on their rows, with
// 1 / D on the diagonal, D L' W_HH^-1 W_HT right of it, and S on the rows that slide.

#include "complementarity/friction_states.h"

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

static size_t strideOf(const tpFrictionStates* states) {
    return tpHeldRows_Round(states->heldCount + states->slidingCount);
}

size_t tpFrictionStates_FactorRoom(int rows) {
    return (size_t)rows * tpHeldRows_Round(rows);
}

// What is right of the diagonal: rows of W that are held, then those that slide, then zeros. Also
// how much is added to the diagonal.
static void gather(tpFrictionStates* states, size_t stride) {
    int held = states->heldCount, count = held + states->slidingCount;
    double shift = states->shift > tp_leastStateShift ? states->shift : tp_leastStateShift;
    int* restrict rows = states->pivots;
    for (int i = 0; i < held; ++i) {
        rows[i] = states->heldRows[i];
    }
    for (int i = held; i < count; ++i) {
        rows[i] = states->slidingRows[i - held];
    }
    for (int i = 0; i < count; ++i) {
        const double* W = states->W + (size_t)rows[i] * (size_t)states->rowCount;
        double* restrict row = states->factor + (size_t)i * stride;
        for (int j = i; j < count; ++j) {
            row[j] = W[rows[j]];
        }
        for (size_t j = (size_t)count; j < stride; ++j) {
            row[j] = 0.0;
        }
        states->shifts[i] = shift * row[i];
    }
}

void tpFrictionStates_SolveHeld(const tpFrictionStates* states, double* x) {
    states->kernels->solve(states->heldCount, strideOf(states), states->factor, states->blocks,
                           false, x);
}

// W_HH^-1 W_HT row by row, and S.
static void condense(tpFrictionStates* states, size_t stride) {
    int held = states->heldCount, sliding = states->slidingCount;
    size_t width = states->followStride = tpHeldRows_Round(sliding);
    double* x = states->heldChange;
    for (int j = 0; j < sliding; ++j) {
        for (int i = 0; i < held; ++i) {
            const double* row = states->factor + (size_t)i * stride;
            x[i] = row[i] * row[held + j];
        }
        states->kernels->solve(held, stride, states->factor, states->blocks, true, x);
        for (int i = 0; i < held; ++i) {
            states->follows[(size_t)i * width + (size_t)j] = x[i];
        }
    }
    for (int i = 0; i < held; ++i) {
        for (size_t j = (size_t)sliding; j < width; ++j) {
            states->follows[(size_t)i * width + j] = 0.0;
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
        states->kernels->factorise(states->heldCount, states->heldCount + states->slidingCount,
                                   stride, states->shifts, states->factor, states->blocks);
        condense(states, stride);
        states->isFactored = true;
    }
}
