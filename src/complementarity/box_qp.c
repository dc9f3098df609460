#include "complementarity/box_qp.h"

#include <math.h>
#include <string.h>

#include "math/pairs.h"

// Proximal points; and steps for each variable.
enum { mostCenters = 6, stepsPerVariable = 4 };

typedef struct BoxSolve {
    const tpBoxQp* qp;
    double *factor, *step, *center, *change;
    int* free;   // numbers of the variables that are
    bool* isSet; // of each variable: it is at its bound, and stays
    int freeCount;
} BoxSolve;

size_t tpBoxQp_Room(int n) {
    size_t count = (size_t)n;
    return count * (count + 1) / 2 + 5 * count;
}

static BoxSolve begin(const tpBoxQp* qp) {
    size_t n = (size_t)qp->n;
    double* rest = qp->scratch + n * (n + 1) / 2;
    return (BoxSolve){ .qp = qp,
                       .factor = qp->scratch,
                       .step = rest,
                       .center = rest + n,
                       .change = rest + 2 * n,
                       .free = (int*)(void*)(rest + 3 * n),
                       .isSet = (bool*)(void*)(rest + 4 * n) };
}

static const double* rowOf(const tpBoxQp* qp, int i) {
    return qp->A + (size_t)i * qp->stride;
}

// The gradient with the shift.
static double gradient(const BoxSolve* solve, int i) {
    const tpBoxQp* qp = solve->qp;
    return qp->g[i] + qp->shift[i] * (qp->x[i] - solve->center[i]);
}

static void listFree(BoxSolve* solve) {
    solve->freeCount = 0;
    for (int i = 0; i < solve->qp->n; ++i) {
        if (!solve->isSet[i]) {
            solve->free[solve->freeCount++] = i;
        }
    }
}

// L D L' of the free part of A + E, with 1 / D at the ends of rows; the step follows from the
// gradient.
static void findStep(const BoxSolve* solve) {
    const tpBoxQp* qp = solve->qp;
    int count = solve->freeCount;
    double* row = solve->factor;
    for (int i = 0; i < count; row += ++i) {
        const double* A = rowOf(qp, solve->free[i]);
        const double* other = solve->factor;
        for (int j = 0; j < i; other += ++j) {
            row[j] = A[solve->free[j]] - tpDotNumbers(j, row, other); // times D as yet
        }
        double shift = qp->shift[solve->free[i]], pivot = A[solve->free[i]] + shift;
        const double* inverse = solve->factor;
        for (int k = 0; k < i; inverse += ++k + 1) {
            double scaled = row[k] * *inverse;
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        row[i] = 1.0 / fmax(pivot, 0.5 * shift);
        solve->step[i] = -gradient(solve, solve->free[i]) - tpDotNumbers(i, row, solve->step);
    }
    const double* inverse = solve->factor;
    for (int i = 0; i < count; inverse += ++i + 1) {
        solve->step[i] *= *inverse;
    }
    for (int i = count - 1; i > 0; --i) {
        const double* L = solve->factor + i * (i + 1) / 2;
        for (int k = 0; k < i; ++k) {
            solve->step[k] -= L[k] * solve->step[i];
        }
    }
}

// Goes along the step until the first variable is at its bound. Returns whether one is.
static bool takeStep(BoxSolve* solve) {
    const tpBoxQp* qp = solve->qp;
    double part = 1.0;
    int first = -1;
    for (int k = 0; k < solve->freeCount; ++k) {
        int i = solve->free[k];
        double way = solve->step[k], room = qp->bound[i] - copysign(qp->x[i], way * qp->x[i]);
        if (fabs(way) * part > room) {
            part = fmax(room, 0.0) / fabs(way);
            first = i;
        }
    }
    memset(solve->change, 0, sizeof(double) * (size_t)qp->n);
    for (int k = 0; k < solve->freeCount; ++k) {
        int i = solve->free[k];
        double x = i == first
                       ? copysign(qp->bound[i], solve->step[k])
                       : fmin(fmax(qp->x[i] + part * solve->step[k], -qp->bound[i]), qp->bound[i]);
        double way = x - qp->x[i];
        const double* restrict A = rowOf(qp, i);
        double* restrict change = solve->change;
        for (int j = 0; way != 0.0 && j < qp->n; ++j) {
            change[j] += way * A[j];
        }
        qp->x[i] = x;
    }
    for (int i = 0; i < qp->n; ++i) {
        qp->g[i] += solve->change[i];
    }
    if (first >= 0) {
        solve->isSet[first] = true;
    }
    return first >= 0;
}

// Variables that want to leave their bounds by more than `least` are free. Returns their number.
static int freeSet(BoxSolve* solve, double least) {
    int count = 0;
    for (int i = 0; i < solve->qp->n; ++i) {
        double inwards =
            solve->isSet[i] ? copysign(1.0, solve->qp->x[i]) * gradient(solve, i) : 0.0;
        if (inwards > least) {
            solve->isSet[i] = false;
            count += 1;
        }
    }
    return count;
}

// How far the conditions are from being met without the shift.
static double missOf(const BoxSolve* solve) {
    const tpBoxQp* qp = solve->qp;
    double largest = 0.0;
    for (int i = 0; i < qp->n; ++i) {
        bool isHeld = fabs(qp->x[i]) >= qp->bound[i] && qp->x[i] * qp->g[i] <= 0.0;
        largest = isHeld ? largest : fmax(largest, fabs(qp->g[i]));
    }
    return largest;
}

bool tpBoxQp_Solve(tpBoxQp* qp, double least, int* steps) {
    BoxSolve solve = begin(qp);
    for (int i = 0; i < qp->n; ++i) {
        solve.isSet[i] = fabs(qp->x[i]) >= qp->bound[i];
    }
    int left = stepsPerVariable * qp->n + mostCenters;
    for (int k = 0; k < mostCenters && missOf(&solve) > least; ++k) {
        memcpy(solve.center, qp->x, sizeof(double) * (size_t)qp->n);
        bool isOver = false;
        freeSet(&solve, 0.5 * least);
        for (; !isOver && left > 0; --left) {
            listFree(&solve);
            findStep(&solve);
            *steps += 1;
            isOver = !takeStep(&solve) && freeSet(&solve, 0.5 * least) == 0;
        }
    }
    return missOf(&solve) <= least;
}
