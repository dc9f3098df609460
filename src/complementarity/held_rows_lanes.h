// Kernels of held_rows.h. Rows begin anywhere: vectors of four are read and written unaligned.

typedef double four __attribute__((vector_size(32)));
typedef double looseFour __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p) (*(looseFour*)(p))
#define READ(p) (*(const looseFour*)(p))

// The inverse of a pivot takes its place.
static inline double invertPivot(double shift, double* diagonal) {
    double pivot = *diagonal + shift;
    pivot = pivot > shift ? pivot : shift;
    return *diagonal = pivot > 0.0 ? 1.0 / pivot : 0.0;
}

// row -= f a, from one number on to the end of the row.
static inline void takeRow(size_t from, size_t stride, double f, const double* a, double* row) {
    for (size_t j = from; j < stride; j += tp_heldWidth) {
        AT(row + j) -= f * READ(a + j);
    }
}

// Rows from k on, up to four, by each other; below them nothing is done yet. What is left of the
// diagonal of a row has no meaning, and is written over from a multiple of four on.
static inline void eliminateBlock(int k, int end, size_t stride, const double* shifts,
                                  double* rows) {
    for (int i = k; i < end; ++i) {
        double* a = rows + (size_t)i * stride;
        double inverse = invertPivot(shifts[i], &a[i]);
        for (int m = i + 1; m < end; ++m) {
            takeRow((size_t)k, stride, inverse * a[m], a, rows + (size_t)m * stride);
        }
    }
}

static void eliminate(int held, int count, size_t stride, const double* shifts, double* rows) {
    for (int k = 0; k < held; k += tp_heldWidth) {
        int end = k + tp_heldWidth < held ? k + tp_heldWidth : held;
        eliminateBlock(k, end, stride, shifts, rows);
        const double* a = rows + (size_t)k * stride;
        if (end - k < tp_heldWidth) {
            for (int i = end; i < count; ++i) {
                for (int m = k; m < end; ++m) {
                    const double* own = rows + (size_t)m * stride;
                    takeRow((size_t)i / tp_heldWidth * tp_heldWidth, stride, own[m] * own[i], own,
                            rows + (size_t)i * stride);
                }
            }
            return;
        }
        const double *b = a + stride, *c = b + stride, *d = c + stride;
        for (int i = end; i < count; ++i) {
            double* row = rows + (size_t)i * stride;
            double e = a[k] * a[i], f = b[k + 1] * b[i], g = c[k + 2] * c[i], h = d[k + 3] * d[i];
            for (size_t j = (size_t)i / tp_heldWidth * tp_heldWidth; j < stride;
                 j += tp_heldWidth) {
                AT(row + j) -=
                    (e * READ(a + j) + f * READ(b + j)) + (g * READ(c + j) + h * READ(d + j));
            }
        }
    }
}

// Inverses of the blocks on the diagonal of L, which has ones there: M. With them the numbers of a
// block follow from each other at once. Rows behind the last one are those of a unit matrix without
// pivots.
static void invertBlocks(int held, size_t stride, const double* rows, tpHeldBlock* blocks) {
    for (int k = 0; k < held; k += tp_heldWidth, ++blocks) {
        int size = held - k < tp_heldWidth ? held - k : tp_heldWidth;
        const double *a = rows + (size_t)k * (stride + 1), *b = a + stride, *c = b + stride;
        double d0 = a[0], d1 = size > 1 ? b[1] : 0.0, d2 = size > 2 ? c[2] : 0.0;
        double d3 = size > 3 ? c[stride + 3] : 0.0;
        double m10 = size > 1 ? -d0 * a[1] : 0.0, m21 = size > 2 ? -d1 * b[2] : 0.0;
        double m32 = size > 3 ? -d2 * c[3] : 0.0;
        double l20 = size > 2 ? d0 * a[2] : 0.0, l30 = size > 3 ? d0 * a[3] : 0.0;
        double l31 = size > 3 ? d1 * b[3] : 0.0;
        double m20 = -(l20 - m21 * m10), m31 = -(l31 - m32 * m21);
        double m30 = -(l30 + l31 * m10 - m32 * m20);
        AT(blocks->columns[0]) = (four){ 0.0, m10, m20, m30 };
        AT(blocks->columns[1]) = (four){ 0.0, 0.0, m21, m31 };
        AT(blocks->columns[2]) = (four){ 0.0, 0.0, 0.0, m32 };
        AT(blocks->rows[0]) = (four){ m10, 0.0, 0.0, 0.0 };
        AT(blocks->rows[1]) = (four){ m20, m21, 0.0, 0.0 };
        AT(blocks->rows[2]) = (four){ m30, m31, m32, 0.0 };
        AT(blocks->inverses) = (four){ d0, d1, d2, d3 };
    }
}

static void factorise(int held, int count, size_t stride, const double* shifts, double* rows,
                      tpHeldBlock* blocks) {
    eliminate(held, count, stride, shifts, rows);
    invertBlocks(held, stride, rows, blocks);
}

#define SUM_OF(n) (((n)[0] + (n)[1]) + ((n)[2] + (n)[3]))

// D^-1 L^-1
static inline void lower(int size, size_t stride, const double* rows, const tpHeldBlock* block,
                         double* x) {
    for (int k = 0; k < size; k += tp_heldWidth, ++block) {
        four own = READ(x + k);
        double e = own[0], f = own[1], g = own[2];
        own += e * READ(block->columns[0]) +
               (f * READ(block->columns[1]) + g * READ(block->columns[2]));
        own *= READ(block->inverses);
        AT(x + k) = own;
        const double *a = rows + (size_t)k * stride, *b = a + stride, *c = b + stride,
                     *d = c + stride;
        double h = own[3];
        e = own[0];
        f = own[1];
        g = own[2];
        for (int j = k + tp_heldWidth; j < size; j += tp_heldWidth) {
            AT(x + j) -= (e * READ(a + j) + f * READ(b + j)) + (g * READ(c + j) + h * READ(d + j));
        }
    }
}

// L'^-1
static inline void upper(int size, size_t stride, const double* rows, const tpHeldBlock* blocks,
                         double* x) {
    for (int k = size - tp_heldWidth; k >= 0; k -= tp_heldWidth) {
        const tpHeldBlock* block = &blocks[k / tp_heldWidth];
        four own = READ(x + k);
        if (k + tp_heldWidth < size) {
            const double *a = rows + (size_t)k * stride, *b = a + stride, *c = b + stride,
                         *d = c + stride;
            four sums[4] = { { 0.0 } };
            for (int j = k + tp_heldWidth; j < size; j += tp_heldWidth) {
                four by = READ(x + j);
                sums[0] += by * READ(a + j);
                sums[1] += by * READ(b + j);
                sums[2] += by * READ(c + j);
                sums[3] += by * READ(d + j);
            }
            four sum = { SUM_OF(sums[0]), SUM_OF(sums[1]), SUM_OF(sums[2]), SUM_OF(sums[3]) };
            own -= READ(block->inverses) * sum;
        }
        double f = own[1], g = own[2], h = own[3];
        own += f * READ(block->rows[0]) + (g * READ(block->rows[1]) + h * READ(block->rows[2]));
        AT(x + k) = own;
    }
}

static void solveFactored(int held, size_t stride, const double* rows, const tpHeldBlock* blocks,
                          bool isLowered, double* x) {
    int size = (int)tpHeldRows_Round(held);
    for (int i = held; i < size; ++i) {
        x[i] = 0.0;
    }
    if (!isLowered) {
        lower(size, stride, rows, blocks, x);
    }
    for (int i = held; i < size; ++i) {
        x[i] = 0.0;
    }
    upper(size, stride, rows, blocks, x);
}

static void takeSum(int count, size_t stride, const double* R, const double* x, double* y) {
    for (size_t j = 0; j < stride; j += tp_heldWidth) {
        four sum = READ(y + j);
        for (int i = 0; i < count; ++i) {
            sum -= x[i] * READ(R + (size_t)i * stride + j);
        }
        AT(y + j) = sum;
    }
}

static void takeDots(int count, size_t stride, const double* R, const double* x, double* y) {
    for (int i = 0; i < count; ++i, R += stride) {
        four sum = READ(R) * READ(x);
        for (size_t j = tp_heldWidth; j < stride; j += tp_heldWidth) {
            sum += READ(R + j) * READ(x + j);
        }
        y[i] -= SUM_OF(sum);
    }
}

static void addProduct(int n, const double* A, const double* x, double* y) {
    size_t stride = (size_t)n, k = 0;
    for (; k + 3 < stride; k += 4, A += 4 * stride) {
        const double *b = A + stride, *c = b + stride, *d = c + stride;
        size_t j = 0;
        for (; j + 3 < stride; j += 4) {
            AT(y + j) += (x[k] * READ(A + j) + x[k + 1] * READ(b + j)) +
                         (x[k + 2] * READ(c + j) + x[k + 3] * READ(d + j));
        }
        for (; j < stride; ++j) {
            y[j] += (x[k] * A[j] + x[k + 1] * b[j]) + (x[k + 2] * c[j] + x[k + 3] * d[j]);
        }
    }
    for (; k < stride; ++k, A += stride) {
        size_t j = 0;
        for (; j + 3 < stride; j += 4) {
            AT(y + j) += x[k] * READ(A + j);
        }
        for (; j < stride; ++j) {
            y[j] += x[k] * A[j];
        }
    }
}
