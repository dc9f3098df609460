#include "math/profile_lu.h"

#include <math.h>
#include <stddef.h>

#include "math/pairs.h"

// Smaller matrices are taken as full: to look for their zeros costs more than these do.
enum { leastProfile = 16 };

// The first and the last column of each row, and the last row of each column, or of one before it.
static void findProfile(int n, const double* A, tpLuProfile* profile) {
    int *lows = profile->lows, *ends = profile->ends;
    bool isFull = n < leastProfile;
    for (int k = 0; k < n; ++k) {
        lows[k] = ends[k] = isFull ? n - 1 : k;
        profile->firsts[k] = 0;
    }
    for (int i = 0; !isFull && i < n; ++i) {
        const double* row = A + (size_t)i * (size_t)n;
        int first = 0, last = n - 1;
        while (first < i && row[first] == 0.0) {
            ++first;
        }
        while (last > i && row[last] == 0.0) {
            --last;
        }
        lows[first] = i;
        profile->firsts[i] = first;
        ends[i] = last;
    }
    for (int k = 1; k < n; ++k) {
        lows[k] = lows[k - 1] > lows[k] ? lows[k - 1] : lows[k];
    }
}

static void swapPlaces(int* list, int a, int b) {
    int kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

// Swaps two rows, with the factors that they have left of the diagonal.
static void swapRows(int n, double* A, int one, int other, tpLuProfile* profile) {
    double *a = A + (size_t)one * (size_t)n, *b = A + (size_t)other * (size_t)n;
    int end = profile->ends[one] > profile->ends[other] ? profile->ends[one] : profile->ends[other];
    for (int j = 0; j <= end; ++j) {
        double kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
    swapPlaces(profile->firsts, one, other);
    swapPlaces(profile->ends, one, other);
}

// Takes the row of the pivot away from those below it.
static void eliminate(int n, double* A, int k, int low, int* ends) {
    const double* top = A + (size_t)k * (size_t)n;
    double inverse = 1.0 / top[k];
    int end = ends[k];
    for (int i = k + 1; i <= low; ++i) {
        double* row = A + (size_t)i * (size_t)n;
        if (row[k] == 0.0) {
            continue;
        }
        double factor = row[k] * inverse;
        row[k] = factor;
        tpAddNumbers(end - k, -factor, top + k + 1, row + k + 1);
        ends[i] = ends[i] > end ? ends[i] : end;
    }
}

bool tpProfileLu_Factorise(int n, double* A, int* pivots, tpLuProfile* profile) {
    const int* lows = profile->lows;
    findProfile(n, A, profile);
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i <= lows[k]; ++i) {
            if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) >
                fabs(A[(size_t)best * (size_t)n + (size_t)k])) {
                best = i;
            }
        }
        pivots[k] = best;
        if (best != k) {
            swapRows(n, A, k, best, profile);
        }
        double pivot = fabs(A[(size_t)k * (size_t)n + (size_t)k]);
        if (!(pivot > 0.0 && pivot < INFINITY)) {
            return false;
        }
        eliminate(n, A, k, lows[k], profile->ends);
    }
    return true;
}

void tpProfileLu_Solve(int n, const double* A, const int* pivots, const tpLuProfile* profile,
                       double* b) {
    for (int k = 0; k < n; ++k) {
        double kept = b[pivots[k]];
        b[pivots[k]] = b[k];
        b[k] = kept;
    }
    for (int i = 1; i < n; ++i) {
        const double* row = A + (size_t)i * (size_t)n;
        double sum = b[i];
        for (int j = profile->firsts[i]; j < i; ++j) {
            sum -= row[j] * b[j];
        }
        b[i] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
        const double* row = A + (size_t)i * (size_t)n;
        double sum = b[i];
        for (int j = i + 1; j <= profile->ends[i]; ++j) {
            sum -= row[j] * b[j];
        }
        b[i] = sum / row[i];
    }
}
