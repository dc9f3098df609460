// The kernels of block_column.h, compiled once for each width. Four numbers lie side by side; where
// the machine has no registers for four, the compiler takes two pairs, with the same bits.

#include <math.h>
#include <string.h>

typedef double Four __attribute__((vector_size(32)));
typedef double Two __attribute__((vector_size(16)));

// What is at C less x, into C.
static inline void subtractFour(double* C, const Four* x) {
    Four four;
    memcpy(&four, C, sizeof(four));
    four -= *x;
    memcpy(C, &four, sizeof(four));
}

static inline void subtractTwo(double* C, const Two* x) {
    Two two;
    memcpy(&two, C, sizeof(two));
    two -= *x;
    memcpy(C, &two, sizeof(two));
}

// Nine numbers are two fours and one: row 0 and the begin of row 1, the rest of row 1 and two of
// row 2, and the last.
static void TP_SUBTRACT_THREE(const double* L, const int* rows, int count, const double* U,
                              double* column) {
    Four head[3], tail[3];
    for (int k = 0; k < 3; ++k) {
        const double* B = U + 3 * k;
        head[k] = (Four){ B[0], B[1], B[2], B[0] };
        tail[k] = (Four){ B[1], B[2], B[0], B[1] };
    }
    for (int e = 0; e < count; ++e, L += 9) {
        double* C = column + (size_t)rows[e] * 9;
        Four x = (Four){ L[0], L[0], L[0], L[3] } * head[0];
        Four y = (Four){ L[3], L[3], L[6], L[6] } * tail[0];
        x += (Four){ L[1], L[1], L[1], L[4] } * head[1];
        y += (Four){ L[4], L[4], L[7], L[7] } * tail[1];
        x += (Four){ L[2], L[2], L[2], L[5] } * head[2];
        y += (Four){ L[5], L[5], L[8], L[8] } * tail[2];
        subtractFour(C, &x);
        subtractFour(C + 4, &y);
        C[8] -= L[6] * U[2] + L[7] * U[5] + L[8] * U[8];
    }
}

static void TP_SUBTRACT_SIX(const double* L, const int* rows, int count, const double* U,
                            double* column) {
    Four left[6];
    Two right[6];
    for (int k = 0; k < 6; ++k) {
        memcpy(&left[k], U + 6 * k, sizeof(left[k]));
        memcpy(&right[k], U + 6 * k + 4, sizeof(right[k]));
    }
    for (int e = 0; e < count; ++e, L += 36) {
        double* C = column + (size_t)rows[e] * 36;
        for (int i = 0; i < 6; ++i, C += 6) {
            const double* A = L + 6 * i;
            Four sum = { A[0], A[0], A[0], A[0] };
            Two rest = { A[0], A[0] };
            sum *= left[0];
            rest *= right[0];
            for (int k = 1; k < 6; ++k) {
                Four a = { A[k], A[k], A[k], A[k] };
                Two b = { A[k], A[k] };
                sum += a * left[k];
                rest += b * right[k];
            }
            subtractFour(C, &sum);
            subtractTwo(C + 4, &rest);
        }
    }
}

// Rows are left where they are as long as no entry below a pivot is so many times as large.
#define TOLERABLE_GROWTH 10.0

typedef struct SixRow {
    Four left;
    Two right;
} SixRow;

static inline double entryOf(const SixRow* row, int k) {
    return k < 4 ? row->left[k] : row->right[k - 4];
}

static inline void setEntry(SixRow* row, int k, double value) {
    if (k < 4) {
        row->left[k] = value;
    } else {
        row->right[k - 4] = value;
    }
}

// One step of Gauss and Jordan's method. With k a constant the rows stay in registers. False if
// rows have to change places.
static inline bool takePivot(SixRow work[6], int k) {
    double pivot = entryOf(&work[k], k), largest = TP_SMALLEST_PIVOT;
    for (int i = k + 1; i < 6; ++i) {
        double size = fabs(entryOf(&work[i], k));
        largest = size > largest ? size : largest;
    }
    if (!(TOLERABLE_GROWTH * fabs(pivot) >= largest)) {
        return false;
    }
    double inverse = 1.0 / pivot;
    setEntry(&work[k], k, 1.0);
    work[k].left *= inverse;
    work[k].right *= inverse;
    for (int i = 0; i < 6; ++i) {
        if (i != k) {
            double factor = entryOf(&work[i], k);
            setEntry(&work[i], k, 0.0);
            work[i].left -= factor * work[k].left;
            work[i].right -= factor * work[k].right;
        }
    }
    return true;
}

static bool TP_INVERT_SIX(const double* A, double* inverse) {
    SixRow work[6];
    for (int i = 0; i < 6; ++i) {
        memcpy(&work[i].left, A + 6 * i, sizeof(work[i].left));
        memcpy(&work[i].right, A + 6 * i + 4, sizeof(work[i].right));
    }
    if (!(takePivot(work, 0) && takePivot(work, 1) && takePivot(work, 2) && takePivot(work, 3) &&
          takePivot(work, 4) && takePivot(work, 5))) {
        return false;
    }
    for (int i = 0; i < 6; ++i) {
        memcpy(inverse + 6 * i, &work[i].left, sizeof(work[i].left));
        memcpy(inverse + 6 * i + 4, &work[i].right, sizeof(work[i].right));
    }
    return true;
}

static void TP_MULTIPLY_SIX(const double* A, const double* B, double* C) {
    SixRow rows[6];
    for (int k = 0; k < 6; ++k) {
        memcpy(&rows[k].left, B + 6 * k, sizeof(rows[k].left));
        memcpy(&rows[k].right, B + 6 * k + 4, sizeof(rows[k].right));
    }
    for (int i = 0; i < 6; ++i) {
        SixRow sum = { { 0.0, 0.0, 0.0, 0.0 }, { 0.0, 0.0 } };
        for (int k = 0; k < 6; ++k) {
            sum.left += A[6 * i + k] * rows[k].left;
            sum.right += A[6 * i + k] * rows[k].right;
        }
        memcpy(C + 6 * i, &sum.left, sizeof(sum.left));
        memcpy(C + 6 * i + 4, &sum.right, sizeof(sum.right));
    }
}

// out += left right' of `count` pairs of vectors, two rows at once: they are three fours.
static inline void addOuter(int count, const double* left, const double* right, double* out) {
    Four head[3], middle[3], tail[3];
    for (int k = 0; k < count; ++k) {
        const double* B = right + 12 * k;
        memcpy(&head[k], B, sizeof(head[k]));
        middle[k] = (Four){ B[4], B[5], B[0], B[1] };
        memcpy(&tail[k], B + 2, sizeof(tail[k]));
    }
    for (int i = 0; i < 6; i += 2, out += 12) {
        Four x, y, z;
        memcpy(&x, out, sizeof(x));
        memcpy(&y, out + 4, sizeof(y));
        memcpy(&z, out + 8, sizeof(z));
        for (int k = 0; k < count; ++k) {
            double a = left[12 * k + i], b = left[12 * k + i + 1];
            x += a * head[k];
            y += (Four){ a, a, b, b } * middle[k];
            z += b * tail[k];
        }
        memcpy(out, &x, sizeof(x));
        memcpy(out + 4, &y, sizeof(y));
        memcpy(out + 8, &z, sizeof(z));
    }
}

static inline void addCouples(int count, const double* left, const double* right, const int* couple,
                              double* values) {
    for (int c = 0; c < 4; ++c) {
        if (couple[c] >= 0) {
            addOuter(count, left + 6 * (c / 2), right + 6 * (c % 2), values + couple[c]);
        }
    }
}

// With the count a constant, the loops unroll.
static void TP_ADD_COUPLES(int count, const double* left, const double* right, const int* couple,
                           double* values) {
    if (count == 3) {
        addCouples(3, left, right, couple, values);
    } else {
        addCouples(2, left, right, couple, values);
    }
}

tpSixKernels TP_FIND_SIX(void) {
    return (tpSixKernels){ .invert = TP_INVERT_SIX,
                           .multiply = TP_MULTIPLY_SIX,
                           .addCouples = TP_ADD_COUPLES };
}

tpBlockColumn_Subtract* TP_FIND_SUBTRACT(int size) {
    return size == 3 ? TP_SUBTRACT_THREE : size == 6 ? TP_SUBTRACT_SIX : NULL;
}
