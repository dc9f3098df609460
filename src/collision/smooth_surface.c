// Surfaces in world coordinates, for steppers that solve the paper's own equations: values,
// gradients and Hessians, and which inequalities carry a normal [ChakrabortyBerardAkellaTrinkle07,
// eq. 10, 22].

#include "collision/smooth_distance.h"

#include "geometry/shape.h"
#include "geometry/surface.h"

double tpWorldSurface(const tpGeometry* geometry, tpPose body, int k, tpVec3 point,
                      tpVec3* gradient, tpMat33* hessian) {
    tpPose shape = tpGeometry_Pose(geometry, body);
    double value = tpSurfaceValue(geometry, k, tpUntransformPoint(shape, point), gradient, hessian);
    if (gradient != NULL) {
        *gradient = tpRotate(shape.rotation, *gradient);
    }
    if (hessian != NULL) {
        tpMat33 R = tpMatFromQuat(shape.rotation);
        *hessian = tpMulMM(tpMulMM(R, *hessian), tpTranspose(R));
    }
    return value;
}

// Least squares of sum l_i g_i = n by the normal equations; false if the gradients depend on
// each other or a multiplier is negative.
static bool fitMultipliers(const tpVec3* g, int count, tpVec3 n, double* multiplier,
                           double* residual) {
    double m[3][3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    double r[3] = { 0.0, 0.0, 0.0 }, scale = 1.0;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            m[i][j] = tpDot(g[i], g[j]);
        }
        r[i] = tpDot(g[i], n);
        scale *= m[i][i];
    }
    tpMat33 M =
        tpMakeMat33(tpMakeVec3(m[0][0], m[1][0], m[2][0]), tpMakeVec3(m[0][1], m[1][1], m[2][1]),
                    tpMakeVec3(m[0][2], m[1][2], m[2][2]));
    tpVec3 x;
    if (!(tpDeterminant(M) > 1e-20 * scale) || !tpSolve33(M, tpMakeVec3(r[0], r[1], r[2]), &x)) {
        return false;
    }
    const double parts[3] = { x.x, x.y, x.z };
    tpVec3 rest = n;
    for (int i = 0; i < count; ++i) {
        if (parts[i] < 0.0) {
            return false;
        }
        multiplier[i] = parts[i];
        rest = tpMulAdd(rest, -parts[i], g[i]);
    }
    *residual = tpLength(rest);
    return true;
}

enum { maxCandidates = 16 };

// Tries one choice of candidates and keeps it where it fits better by more than rounding.
static void tryChoice(const tpVec3* gradients, const int* numbers, const int* choice, int count,
                      tpVec3 n, tpActiveSurfaces* best, int* bestCount) {
    tpVec3 g[3];
    tpActiveSurfaces trial;
    for (int i = 0; i < count; ++i) {
        g[i] = gradients[choice[i]];
        trial.index[i] = numbers[choice[i]];
    }
    if (fitMultipliers(g, count, n, trial.multiplier, &trial.residual) &&
        trial.residual < best->residual - 1e-12) {
        *best = trial;
        *bestCount = count;
    }
}

int tpFindActiveSurfaces(const tpGeometry* geometry, tpPose body, tpVec3 point, tpVec3 normal,
                         double tolerance, tpActiveSurfaces* out) {
    tpPose shape = tpGeometry_Pose(geometry, body);
    tpVec3 p = tpUntransformPoint(shape, point), n = tpUnrotate(shape.rotation, normal);
    tpVec3 gradients[maxCandidates];
    int numbers[maxCandidates], candidates = 0, count = 0;
    int surfaces = tpSurfaceCount(geometry);
    for (int k = 0; k < surfaces && candidates < maxCandidates; ++k) {
        tpVec3 g;
        if (fabs(tpSurfaceValue(geometry, k, p, &g, NULL)) <= tolerance) {
            numbers[candidates] = k;
            gradients[candidates++] = g;
        }
    }
    // Fewest inequalities first: more are taken only where they fit better.
    out->residual = INFINITY;
    for (int i = 0; i < candidates; ++i) {
        tryChoice(gradients, numbers, (int[]){ i }, 1, n, out, &count);
    }
    for (int i = 0; i < candidates; ++i) {
        for (int j = i + 1; j < candidates; ++j) {
            tryChoice(gradients, numbers, (int[]){ i, j }, 2, n, out, &count);
        }
    }
    for (int i = 0; i < candidates; ++i) {
        for (int j = i + 1; j < candidates; ++j) {
            for (int k = j + 1; k < candidates; ++k) {
                tryChoice(gradients, numbers, (int[]){ i, j, k }, 3, n, out, &count);
            }
        }
    }
    return count;
}
