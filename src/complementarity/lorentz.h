// The algebra of one Lorentz cone { x_0 >= |x_1| }, of at most TP_FRICTION_MAX_ROWS rows; with one
// row it is the half line.
//
// Nesterov and Todd's scaling of a pair x, y inside the cone is the symmetric matrix W with
// W y = W^-1 x = lambda; x.y = |lambda|^2. With J = diag(1, -1, ..., -1),
//
//     W^-2 = (2 v v' - J) / eta^2,    v = J w,   w'J w = 1.

#ifndef TIPPE_SRC_COMPLEMENTARITY_LORENTZ_H
#define TIPPE_SRC_COMPLEMENTARITY_LORENTZ_H

#include <stdbool.h>

#include "tippe/friction.h"

typedef struct tpLorentzScaling {
    int rows;
    double eta;
    double w[TP_FRICTION_MAX_ROWS];
    double lambda[TP_FRICTION_MAX_ROWS];
} tpLorentzScaling;

// x_0 - |x_1|: positive inside.
double tpLorentz_Depth(int rows, const double* x);

// False if x or y is not inside.
bool tpLorentzScaling_Make(tpLorentzScaling* scaling, int rows, const double* x, const double* y);

// out = W x, and out = W^-1 x.
void tpLorentzScaling_Apply(const tpLorentzScaling* scaling, const double* x, double* out);
void tpLorentzScaling_ApplyInverse(const tpLorentzScaling* scaling, const double* x, double* out);

// W^-2 at row i, column j.
double tpLorentzScaling_InverseSquare(const tpLorentzScaling* scaling, int i, int j);

// Jordan's product, out = a o b = (a.b, a_0 b_1 + b_0 a_1), and its inverse: a o out = b.
void tpLorentz_Multiply(int rows, const double* a, const double* b, double* out);
void tpLorentz_Divide(int rows, const double* a, const double* b, double* out);

// The largest t up to `most` with x + t dx in the cone; x is inside.
double tpLorentz_Reach(int rows, const double* x, const double* dx, double most);

#endif
