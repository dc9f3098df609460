#include "complementarity/lorentz.h"

#include <math.h>

static double tailProduct(int rows, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 1; i < rows; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

double tpLorentz_Depth(int rows, const double* x) {
    return x[0] - sqrt(tailProduct(rows, x, x));
}

// x'J x without the cancellation of squares.
static double square(int rows, const double* x) {
    double tail = sqrt(tailProduct(rows, x, x));
    return (x[0] - tail) * (x[0] + tail);
}

bool tpLorentzScaling_Make(tpLorentzScaling* scaling, int rows, const double* x, const double* y) {
    double xSquare = square(rows, x), ySquare = square(rows, y);
    if (!(x[0] > 0.0 && y[0] > 0.0 && xSquare > 0.0 && ySquare > 0.0)) {
        return false;
    }
    double xNorm = sqrt(xSquare), yNorm = sqrt(ySquare);
    double product = (x[0] * y[0] + tailProduct(rows, x, y)) / (xNorm * yNorm);
    double gamma = sqrt(0.5 * (1.0 + product)), size = sqrt(xNorm * yNorm);
    double x0 = x[0] / xNorm, y0 = y[0] / yNorm, sum = x0 + y0 + 2.0 * gamma;
    scaling->rows = rows;
    scaling->eta = sqrt(xNorm / yNorm);
    scaling->w[0] = (x0 + y0) / (2.0 * gamma);
    scaling->lambda[0] = size * gamma;
    for (int i = 1; i < rows; ++i) {
        double xi = x[i] / xNorm, yi = y[i] / yNorm;
        scaling->w[i] = (xi - yi) / (2.0 * gamma);
        scaling->lambda[i] = size * ((gamma + y0) * xi + (gamma + x0) * yi) / sum;
    }
    return isfinite(scaling->eta) && isfinite(gamma);
}

// out = factor [w_0, sign w_1'; sign w_1, I + w_1 w_1' / (1 + w_0)] x.
static void apply(const tpLorentzScaling* scaling, double sign, double factor, const double* x,
                  double* out) {
    const double* w = scaling->w;
    double product = tailProduct(scaling->rows, w, x), first = x[0];
    out[0] = factor * (w[0] * first + sign * product);
    for (int i = 1; i < scaling->rows; ++i) {
        out[i] = factor * (x[i] + w[i] * (sign * first + product / (1.0 + w[0])));
    }
}

void tpLorentzScaling_Apply(const tpLorentzScaling* scaling, const double* x, double* out) {
    apply(scaling, 1.0, scaling->eta, x, out);
}

void tpLorentzScaling_ApplyInverse(const tpLorentzScaling* scaling, const double* x, double* out) {
    apply(scaling, -1.0, 1.0 / scaling->eta, x, out);
}

double tpLorentzScaling_InverseSquare(const tpLorentzScaling* scaling, int i, int j) {
    const double* w = scaling->w;
    double sign = (i == 0) == (j == 0) ? 1.0 : -1.0;
    double metric = i != j ? 0.0 : i == 0 ? 1.0 : -1.0;
    return (sign * 2.0 * w[i] * w[j] - metric) / (scaling->eta * scaling->eta);
}

void tpLorentz_Multiply(int rows, const double* a, const double* b, double* out) {
    double a0 = a[0], b0 = b[0];
    out[0] = a0 * b0 + tailProduct(rows, a, b);
    for (int i = 1; i < rows; ++i) {
        out[i] = a0 * b[i] + b0 * a[i];
    }
}

void tpLorentz_Divide(int rows, const double* a, const double* b, double* out) {
    double first = (a[0] * b[0] - tailProduct(rows, a, b)) / square(rows, a);
    for (int i = 1; i < rows; ++i) {
        out[i] = (b[i] - first * a[i]) / a[0];
    }
    out[0] = first;
}

double tpLorentz_Reach(int rows, const double* x, const double* dx, double most) {
    // The first root of c + 2 b t + a t^2 over t > 0: with c > 0 it is the smaller positive one.
    double a = dx[0] * dx[0] - tailProduct(rows, dx, dx);
    double b = x[0] * dx[0] - tailProduct(rows, x, dx);
    double c = square(rows, x), reach = most;
    double discriminant = b * b - a * c;
    if (discriminant >= 0.0) {
        double root = sqrt(discriminant);
        if (b < 0.0) {
            reach = fmin(reach, c / (root - b));
        } else if (a < 0.0) {
            reach = fmin(reach, (b + root) / -a);
        }
    }
    // The half line of the axis: the mantle of the opposite cone is no border.
    return dx[0] < 0.0 ? fmin(reach, -x[0] / dx[0]) : reach;
}
