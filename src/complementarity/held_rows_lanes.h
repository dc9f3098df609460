// Kernels of held_rows.h. Rows begin anywhere: vectors of four are read and written unaligned.

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p) (*(four*)(p))
#define READ(p) (*(const four*)(p))

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

// D^-1 L^-1 of `size` rows, at most four: what they do to each other.
static inline __attribute__((always_inline)) void lowerBlock(int size, size_t stride,
                                                             const double* rows, double* x) {
    double y[tp_heldWidth];
    for (int i = 0; i < size; ++i) {
        y[i] = x[i];
    }
    for (int i = 0; i < size; ++i) {
        const double* a = rows + (size_t)i * stride;
        double by = y[i] * a[i];
        for (int m = i + 1; m < size; ++m) {
            y[m] -= by * a[m];
        }
        x[i] = by;
    }
}

// The last rows are fewer than four, or four.
static inline void lowerLast(int size, size_t stride, const double* rows, double* x) {
    switch (size) {
    case 1:
        lowerBlock(1, stride, rows, x);
        break;
    case 2:
        lowerBlock(2, stride, rows, x);
        break;
    case 3:
        lowerBlock(3, stride, rows, x);
        break;
    default:
        lowerBlock(4, stride, rows, x);
        break;
    }
}

static inline void lower(int held, size_t size, size_t stride, const double* rows, double* x) {
    int k = 0;
    for (; k + tp_heldWidth < held; k += tp_heldWidth) {
        const double *a = rows + (size_t)k * stride, *b = a + stride, *c = b + stride,
                     *d = c + stride;
        lowerBlock(tp_heldWidth, stride, a + k, x + k);
        double e = x[k], f = x[k + 1], g = x[k + 2], h = x[k + 3];
        for (size_t j = (size_t)k + tp_heldWidth; j < size; j += tp_heldWidth) {
            AT(x + j) -= (e * READ(a + j) + f * READ(b + j)) + (g * READ(c + j) + h * READ(d + j));
        }
    }
    lowerLast(held - k, stride, rows + (size_t)k * (stride + 1), x + k);
}

#define SUM_OF(n) (((n)[0] + (n)[1]) + ((n)[2] + (n)[3]))

// L'^-1 of `size` rows, at most four, which later ones give these sums.
static inline __attribute__((always_inline)) void
upperBlock(int size, size_t stride, const double* rows, const double* rest, double* x) {
    double y[tp_heldWidth];
    for (int i = size - 1; i >= 0; --i) {
        const double* a = rows + (size_t)i * stride;
        double sum = rest[i];
        for (int m = size - 1; m > i; --m) {
            sum += a[m] * y[m];
        }
        x[i] = y[i] = x[i] - a[i] * sum;
    }
}

static inline void upperLast(int size, size_t stride, const double* rows, double* x) {
    static const double none[tp_heldWidth] = { 0.0 };
    switch (size) {
    case 1:
        break;
    case 2:
        upperBlock(2, stride, rows, none, x);
        break;
    case 3:
        upperBlock(3, stride, rows, none, x);
        break;
    default:
        upperBlock(4, stride, rows, none, x);
        break;
    }
}

static inline void upper(int held, size_t size, size_t stride, const double* rows, double* x) {
    int k = (held - 1) / tp_heldWidth * tp_heldWidth;
    upperLast(held - k, stride, rows + (size_t)k * (stride + 1), x + k);
    for (k -= tp_heldWidth; k >= 0; k -= tp_heldWidth) {
        const double *a = rows + (size_t)k * stride, *b = a + stride, *c = b + stride,
                     *d = c + stride;
        four sums[4] = { { 0.0 } };
        for (size_t j = (size_t)k + tp_heldWidth; j < size; j += tp_heldWidth) {
            four by = READ(x + j);
            sums[0] += by * READ(a + j);
            sums[1] += by * READ(b + j);
            sums[2] += by * READ(c + j);
            sums[3] += by * READ(d + j);
        }
        const double rest[tp_heldWidth] = { SUM_OF(sums[0]), SUM_OF(sums[1]), SUM_OF(sums[2]),
                                            SUM_OF(sums[3]) };
        upperBlock(tp_heldWidth, stride, a + k, rest, x + k);
    }
}

static void solveFactored(int held, size_t stride, const double* rows, bool isLowered, double* x) {
    if (held == 0) {
        return;
    }
    size_t size = tpHeldRows_Round(held);
    for (size_t i = (size_t)held; i < size; ++i) {
        x[i] = 0.0;
    }
    if (!isLowered) {
        lower(held, size, stride, rows, x);
        for (size_t i = (size_t)held; i < size; ++i) {
            x[i] = 0.0;
        }
    }
    upper(held, size, stride, rows, x);
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
