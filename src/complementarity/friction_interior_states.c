// The end of a path of interior points, in dense islands: which contacts are open, stick or slide
// can be read off the path long before its end. The law is then a system of smooth equations, which
// Newton's method solves to the last digit in a few steps.

#include <float.h>
#include <math.h>
#include <string.h>

#include "complementarity/friction_interior.h"
#include "math/dense_lu.h"

// Steps of Newton's method in states that are guessed, and what each must bring.
enum { stateSteps = 4 };
static const double slowest = 0.1;

// What keeps its matrix regular where contacts are redundant.
static const double redundancy = 1e-12;

int tpInteriorStates_Guess(tpInterior* interior) {
    int changed = 0;
    for (int p = 0; p < interior->partCount; ++p) {
        tpInteriorPart* part = &interior->parts[p];
        const double *x = interior->x + part->row, *y = interior->y + part->row;
        double xDepth = tpLorentz_Depth(part->rows, x), yDepth = tpLorentz_Depth(part->rows, y);
        tpInteriorState state = part->isFree ? tp_interiorFree
                                : part->rows == 1
                                    ? (x[0] > y[0] ? tp_interiorSticking : tp_interiorOpen)
                                : yDepth > x[0] ? tp_interiorOpen
                                : xDepth > y[0] ? tp_interiorSticking
                                                : tp_interiorSliding;
        changed += state != part->state;
        part->state = state;
    }
    return changed;
}

// The equations of a sliding contact: u_0 = 0 and x_T + x_0 t = 0, t = u_T / |u_T|; into F and M,
// which holds P in the rows of the contact.
static void addSliding(tpInterior* interior, const tpInteriorPart* part) {
    int n = interior->n, row = part->row, rows = part->rows;
    const double *x = interior->x + row, *u = interior->u + row;
    double slip = fmax(tpInterior_TailNorm(rows, u), DBL_MIN), ratio = x[0] / slip;
    for (int j = 0; j < n; ++j) {
        double along = 0.0;
        for (int i = 1; i < rows; ++i) {
            along += u[i] / slip * interior->P[(row + i) * n + j];
        }
        for (int i = 1; i < rows; ++i) {
            double across = interior->P[(row + i) * n + j] - u[i] / slip * along;
            interior->M[(row + i) * n + j] = ratio * across;
        }
    }
    for (int i = 1; i < rows; ++i) {
        interior->M[(row + i) * n + row] += u[i] / slip;
        interior->M[(row + i) * n + row + i] += 1.0;
        interior->F[row + i] = x[i] + x[0] * u[i] / slip;
    }
}

// One step of Newton's method on the equations of the states. False if it cannot be taken.
static bool stepInStates(tpInterior* interior) {
    int n = interior->n;
    size_t size = sizeof(double) * (size_t)n;
    memcpy(interior->M, interior->P, size * (size_t)n);
    memcpy(interior->F, interior->u, size);
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        for (int i = part->row; part->state == tp_interiorOpen && i < part->row + part->rows; ++i) {
            memset(interior->M + (size_t)i * (size_t)n, 0, size);
            interior->M[i * n + i] = 1.0;
            interior->F[i] = interior->x[i];
        }
        for (int i = part->row; part->state == tp_interiorSticking && i < part->row + part->rows;
             ++i) {
            interior->M[i * n + i] += redundancy;
        }
        if (part->state == tp_interiorSliding) {
            addSliding(interior, part);
        }
    }
    if (!tpDenseLu_Factorise(n, interior->M, interior->pivots)) {
        return false;
    }
    tpDenseLu_Solve(n, interior->M, interior->pivots, interior->F);
    for (int i = 0; i < n; ++i) {
        interior->x[i] -= interior->F[i];
    }
    tpInterior_FindVelocities(interior);
    return true;
}

void tpInteriorStates_Try(tpInterior* interior) {
    size_t size = sizeof(double) * (size_t)interior->n;
    memcpy(interior->kept, interior->x, size);
    for (int k = 0; k < stateSteps; ++k) {
        double before = interior->island->residual;
        if (!stepInStates(interior)) {
            break;
        }
        interior->island->work += tpInterior_DenseWork(interior->n);
        bool isBetter = tpInterior_Offer(interior, NULL);
        if (!isBetter || interior->island->residual > slowest * before ||
            tpFrictionIsland_IsDone(interior->island)) {
            break;
        }
    }
    memcpy(interior->x, interior->kept, size);
    tpInterior_FindVelocities(interior);
}
