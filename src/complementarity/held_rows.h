// Factors of rows that are held, and products with dense matrices: what friction_states.c does most
// of, four numbers at once.
//
// Sums go over four numbers side by side, whatever the machine has: the same source is compiled for
// AVX2 and for what every machine has, and gives the same bits.

#ifndef TIPPE_SRC_COMPLEMENTARITY_HELD_ROWS_H
#define TIPPE_SRC_COMPLEMENTARITY_HELD_ROWS_H

#include <stdbool.h>
#include <stddef.h>

// Numbers in rows of factors, and in what is solved for, are a multiple of this.
enum { tp_heldWidth = 4 };

static inline size_t tpHeldRows_Round(int count) {
    return ((size_t)count + tp_heldWidth - 1) / tp_heldWidth * tp_heldWidth;
}

// The inverse of a block of four rows on the diagonal of L, which has ones there, column by column
// and row by row without these ones; and that of D.
typedef struct tpHeldBlock {
    double columns[tp_heldWidth - 1][tp_heldWidth], rows[tp_heldWidth - 1][tp_heldWidth];
    double inverses[tp_heldWidth];
} tpHeldBlock;

typedef struct tpHeldKernels {
    // Eliminates `held` of `count` rows of a symmetric matrix, whose numbers right of the diagonal
    // are there: D L' of the rows that are held, with 1 / D on the diagonal, and what is left of
    // the others. `shifts` are added to the diagonal, pivots are no less than those; one that is
    // zero has the inverse zero.
    void (*factorise)(int held, int count, size_t stride, const double* shifts, double* rows,
                      tpHeldBlock* blocks);
    // x = A^-1 x by these factors; x has a multiple of four numbers, and those behind the held ones
    // become zero. If `isLowered`, D^-1 L^-1 is done already.
    void (*solve)(int held, size_t stride, const double* rows, const tpHeldBlock* blocks,
                  bool isLowered, double* x);
    // y -= R' x and y -= R x: R has `count` rows of `stride` numbers, as many as the shorter of x
    // and y has room for.
    void (*takeSum)(int count, size_t stride, const double* R, const double* x, double* y);
    void (*takeDots)(int count, size_t stride, const double* R, const double* x, double* y);
    // y += A x, A being symmetric, of n numbers.
    void (*addProduct)(int n, const double* A, const double* x, double* y);
} tpHeldKernels;

#define TP_HELD_KERNELS                                                                            \
    {                                                                                              \
        .factorise = factorise, .solve = solveFactored, .takeSum = takeSum, .takeDots = takeDots,  \
        .addProduct = addProduct                                                                   \
    }

extern const tpHeldKernels tp_plainHeldKernels;
extern const tpHeldKernels tp_avx2HeldKernels;

// For 1 or 4 numbers at once.
const tpHeldKernels* tpGetHeldKernels(int width);

#endif
