// The kernels of block_column.h, compiled once for each width. Four numbers lie side by side; where
// the machine has no registers for four, the compiler takes two pairs, with the same bits.

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

tpBlockColumn_Subtract* TP_FIND_SUBTRACT(int size) {
    return size == 3 ? TP_SUBTRACT_THREE : size == 6 ? TP_SUBTRACT_SIX : NULL;
}
