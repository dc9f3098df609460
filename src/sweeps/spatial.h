// Velocities, impulses and inertias of bodies as six numbers and 6 x 6 matrices, linear part first.

#ifndef TIPPE_SRC_SWEEPS_SPATIAL_H
#define TIPPE_SRC_SWEEPS_SPATIAL_H

#include <string.h>

#include "sweeps/joint_tree.h"
#include "tippe/math.h"

static inline void multiply(const tpSpatialInertia* I, const double* v, double* momentum) {
    const double *A = I->mass, *B = I->coupling, *C = I->inertia;
    momentum[0] = A[0] * v[0] + A[3] * v[1] + A[4] * v[2] + B[0] * v[3] + B[1] * v[4] + B[2] * v[5];
    momentum[1] = A[3] * v[0] + A[1] * v[1] + A[5] * v[2] + B[3] * v[3] + B[4] * v[4] + B[5] * v[5];
    momentum[2] = A[4] * v[0] + A[5] * v[1] + A[2] * v[2] + B[6] * v[3] + B[7] * v[4] + B[8] * v[5];
    momentum[3] = B[0] * v[0] + B[3] * v[1] + B[6] * v[2] + C[0] * v[3] + C[3] * v[4] + C[4] * v[5];
    momentum[4] = B[1] * v[0] + B[4] * v[1] + B[7] * v[2] + C[3] * v[3] + C[1] * v[4] + C[5] * v[5];
    momentum[5] = B[2] * v[0] + B[5] * v[1] + B[8] * v[2] + C[4] * v[3] + C[5] * v[4] + C[2] * v[5];
}

static inline double dotSix(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// I -= U U' / d
static inline void subtractSquare(tpSpatialInertia* I, const double* U, double inverse) {
    double *A = I->mass, *B = I->coupling, *C = I->inertia, x[6];
    for (int k = 0; k < 6; ++k) {
        x[k] = inverse * U[k];
    }
    A[0] -= x[0] * U[0];
    A[1] -= x[1] * U[1];
    A[2] -= x[2] * U[2];
    A[3] -= x[0] * U[1];
    A[4] -= x[0] * U[2];
    A[5] -= x[1] * U[2];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[3 * i + j] -= x[i] * U[3 + j];
        }
    }
    C[0] -= x[3] * U[3];
    C[1] -= x[4] * U[4];
    C[2] -= x[5] * U[5];
    C[3] -= x[3] * U[4];
    C[4] -= x[3] * U[5];
    C[5] -= x[4] * U[5];
}

// The same inertia for velocities at a point from which r leads to where it is known. With R w =
// r x w: B' = B - A R, C' = C - B' R + R B'.
static inline void moveInertia(const tpSpatialInertia* I, const double* r, tpSpatialInertia* to) {
    const double *A = I->mass, *B = I->coupling, *C = I->inertia;
    double* G = to->coupling;
    double x = r[0], y = r[1], z = r[2];
    memcpy(to->mass, A, sizeof(to->mass));
    // Columns of R: (0, z, -y), (-z, 0, x), (y, -x, 0).
    G[0] = B[0] - (A[3] * z - A[4] * y);
    G[1] = B[1] - (A[4] * x - A[0] * z);
    G[2] = B[2] - (A[0] * y - A[3] * x);
    G[3] = B[3] - (A[1] * z - A[5] * y);
    G[4] = B[4] - (A[5] * x - A[3] * z);
    G[5] = B[5] - (A[3] * y - A[1] * x);
    G[6] = B[6] - (A[5] * z - A[2] * y);
    G[7] = B[7] - (A[2] * x - A[4] * z);
    G[8] = B[8] - (A[4] * y - A[5] * x);
    // Entry ij of B' R is column i of B times column j of R; of R G: row i of R times column j of
    // G. Rows of R: (0, -z, y), (z, 0, -x), (-y, x, 0).
    to->inertia[0] = C[0] - (B[3] * z - B[6] * y) + (y * G[6] - z * G[3]);
    to->inertia[1] = C[1] - (B[7] * x - B[1] * z) + (z * G[1] - x * G[7]);
    to->inertia[2] = C[2] - (B[2] * y - B[5] * x) + (x * G[5] - y * G[2]);
    to->inertia[3] = C[3] - (B[6] * x - B[0] * z) + (y * G[7] - z * G[4]);
    to->inertia[4] = C[4] - (B[0] * y - B[3] * x) + (y * G[8] - z * G[5]);
    to->inertia[5] = C[5] - (B[1] * y - B[4] * x) + (z * G[2] - x * G[8]);
}

static inline void addInertia(tpSpatialInertia* sum, const tpSpatialInertia* I) {
    for (int k = 0; k < 6; ++k) {
        sum->mass[k] += I->mass[k];
        sum->inertia[k] += I->inertia[k];
    }
    for (int k = 0; k < 9; ++k) {
        sum->coupling[k] += I->coupling[k];
    }
}

// Adds an impulse on a body to its parent's, about the parent's centre.
static inline void addMoved(double* sum, const double* r, const double* impulse) {
    sum[0] += impulse[0];
    sum[1] += impulse[1];
    sum[2] += impulse[2];
    sum[3] += impulse[3] + (r[1] * impulse[2] - r[2] * impulse[1]);
    sum[4] += impulse[4] + (r[2] * impulse[0] - r[0] * impulse[2]);
    sum[5] += impulse[5] + (r[0] * impulse[1] - r[1] * impulse[0]);
}

// The velocity of the parent at the body's centre.
static inline void carry(const double* velocity, const double* r, double* there) {
    const double* w = velocity + 3;
    there[0] = velocity[0] + (w[1] * r[2] - w[2] * r[1]);
    there[1] = velocity[1] + (w[2] * r[0] - w[0] * r[2]);
    there[2] = velocity[2] + (w[0] * r[1] - w[1] * r[0]);
    there[3] = w[0];
    there[4] = w[1];
    there[5] = w[2];
}

// Six numbers in registers: those of a node while its axes are gone through.
typedef struct Six {
    tpVec3 linear, angular;
} Six;

static inline Six readSix(const double* x) {
    return (Six){ { x[0], x[1], x[2] }, { x[3], x[4], x[5] } };
}

static inline void writeSix(Six v, double* x) {
    x[0] = v.linear.x;
    x[1] = v.linear.y;
    x[2] = v.linear.z;
    x[3] = v.angular.x;
    x[4] = v.angular.y;
    x[5] = v.angular.z;
}

// In the order of dotSix.
static inline double along(const double* a, Six b) {
    return (a[0] * b.linear.x + a[1] * b.linear.y + a[2] * b.linear.z) +
           (a[3] * b.angular.x + a[4] * b.angular.y + a[5] * b.angular.z);
}

static inline Six plus(Six v, double factor, const double* x) {
    v.linear.x += factor * x[0];
    v.linear.y += factor * x[1];
    v.linear.z += factor * x[2];
    v.angular.x += factor * x[3];
    v.angular.y += factor * x[4];
    v.angular.z += factor * x[5];
    return v;
}

#endif
