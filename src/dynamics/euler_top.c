// Jacobi's solution by its addition theorem: see "Free rotation" in README.md.
//
// Letters: n, e the directions of the momentum in principal axes before and after; axes 1, 2, 3
// with the middle one second; J inverse moments, a1 = J3 - J2, a2 = J1 - J3, a3 = J2 - J1; f1, f3
// those over a2 (both are negative, their sum is -1); A, G squares of parts 1 and 3 where the orbit
// crosses n2 = 0 (their sum is 1); s, c, d the elliptic functions with
//
//     s' = c d,   c^2 = 1 - P s^2,   d^2 = 1 - R s^2,   P = -f1 G,   R = -f3 A;
//
// their argument is a2 |L| t.

#include "dynamics/euler_top.h"

#include "math/elementary.h"

typedef struct topOrbit {
    double f1, f3;
    double A, G;
    double P, R;
} topOrbit;

typedef struct ellipticFunctions {
    double s, c, d;
} ellipticFunctions;

// Arguments up to this are summed by their series, which converge for those below 2.4 at least.
static const double seriesArgument = 0.25;

enum {
    mostTerms = 10,    // (0.25 / 2.4)^20 is below rounding
    mostDoublings = 50 // 1e15 radians: what is asked for beyond has no digit of its phase left
};

// A change of direction nearer than this to a half turn (the square of half the sum of both) is
// made in two parts, since the shortest rotation between both has no axis there.
static const double nearlyOpposite = 1e-4;

static topOrbit makeOrbit(double a1, double a2, double a3, double n1, double n2, double n3) {
    topOrbit orbit = { .f1 = a1 / a2, .f3 = a3 / a2 };
    orbit.A = n1 * n1 - orbit.f1 * n2 * n2;
    orbit.G = n3 * n3 - orbit.f3 * n2 * n2;
    orbit.P = -orbit.f1 * orbit.G;
    orbit.R = -orbit.f3 * orbit.A;
    return orbit;
}

// s^2 over v^2, and the mean of 1 / (1 - A G s^2) over the arguments up to v, less 1: series in
// z = v^2. Terms t of the first follow from (s^2)'' = 2 - 4 (P + R) s^2 + 6 P R s^4.
static void sumSeries(const topOrbit* orbit, double z, double* square, double* meanRest) {
    static const double perPair[mostTerms] = { 0.5,         1.0 / 12.0,  1.0 / 30.0,  1.0 / 56.0,
                                               1.0 / 90.0,  1.0 / 132.0, 1.0 / 182.0, 1.0 / 240.0,
                                               1.0 / 306.0, 1.0 / 380.0 };
    static const double perOdd[mostTerms] = { 1.0,        1.0 / 3.0,  1.0 / 5.0,  1.0 / 7.0,
                                              1.0 / 9.0,  1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0,
                                              1.0 / 17.0, 1.0 / 19.0 };
    double first = -4.0 * (orbit->P + orbit->R) * z, second = 6.0 * orbit->P * orbit->R * z * z;
    double third = orbit->A * orbit->G * z;
    double t[mostTerms] = { 1.0 }, u[mostTerms] = { 1.0 };
    *square = 1.0;
    *meanRest = 0.0;
    for (int n = 1; n < mostTerms; ++n) {
        double pairs = 0.0, products = 0.0;
        for (int k = 0; k + 2 <= n; ++k) {
            pairs += t[k] * t[n - 2 - k];
        }
        for (int k = 0; k < n; ++k) {
            products += t[k] * u[n - 1 - k];
        }
        t[n] = (first * t[n - 1] + second * pairs) * perPair[n];
        u[n] = third * products;
        *square += t[n];
        *meanRest += u[n] * perOdd[n];
        if (fabs(t[n]) + fabs(u[n]) < 1e-17) {
            break;
        }
    }
}

static ellipticFunctions doubleArgument(const topOrbit* orbit, ellipticFunctions f) {
    double ss = f.s * f.s, cc = f.c * f.c, dd = f.d * f.d;
    // 1 - P R s^4, as a sum: where c and d are both small the difference has no digits left.
    double scale = 1.0 / (cc + orbit->P * ss * dd);
    return (ellipticFunctions){ 2.0 * f.s * f.c * f.d * scale, (cc - orbit->P * ss * dd) * scale,
                                (dd - orbit->R * ss * cc) * scale };
}

// The area of the triangle on the unit sphere between directions of which the functions f lie apart
// in turn: the same wherever on the orbit they are.
static double triangleArea(const topOrbit* orbit, ellipticFunctions f) {
    double A = orbit->A, G = orbit->G;
    double volume = 2.0 * A * G * f.s * (f.d - f.c);
    double cosines = 2.0 * (A * f.c + G * f.d) + A * f.c * f.c + G * f.d * f.d - A * G * f.s * f.s;
    return 2.0 * tpAtan2(volume, 1.0 + cosines);
}

// What rounding of many doublings has changed of the energy e . J e is put back, along the sphere.
static tpVec3 restoreEnergy(tpVec3 J, double energy, tpVec3 e) {
    tpVec3 w = tpMulParts(J, e);
    double now = tpDot(e, w) / tpDot(e, e);
    tpVec3 slope = tpMulAdd(w, -now, e);
    double steepness = 2.0 * tpLengthSquared(slope), excess = now - energy;
    bool isClear = excess * excess < 1e-12 * energy * steepness;
    return tpNormalize(isClear ? tpMulAdd(e, -excess / steepness, slope) : e);
}

static double part(tpVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// Parts 1, 2, 3 of a vector, the second on the middle axis.
static tpVec3 sorted(tpVec3 v, int middle) {
    return tpMakeVec3(part(v, (middle + 2) % 3), part(v, middle), part(v, (middle + 1) % 3));
}

static tpVec3 unsorted(tpVec3 v, int middle) {
    return middle == 0 ? tpMakeVec3(v.y, v.z, v.x) : middle == 1 ? v : tpMakeVec3(v.z, v.x, v.y);
}

tpQuat tpEulerTop_Turn(tpVec3 inverseMoments, int middle, double h, tpVec3 momentum) {
    double size = tpLength(momentum);
    if (!(size > 0.0) || !isfinite(size)) {
        return tpIdentityQuat();
    }
    tpVec3 J = sorted(inverseMoments, middle);
    tpVec3 n = sorted(tpScale(1.0 / size, momentum), middle);
    double a1 = J.z - J.y, a2 = J.x - J.z, a3 = J.y - J.x;
    topOrbit orbit = makeOrbit(a1, a2, a3, n.x, n.y, n.z);

    double v = 0.5 * a2 * size * h;
    int doublings = 0;
    for (; fabs(v) > seriesArgument; v *= 0.5) {
        if (++doublings > mostDoublings) {
            return tpIdentityQuat();
        }
    }
    double square, meanRest;
    sumSeries(&orbit, v * v, &square, &meanRest);
    square *= v * v;
    ellipticFunctions f = { copysign(sqrt(square), v), sqrt(1.0 - orbit.P * square),
                            sqrt(1.0 - orbit.R * square) };
    double beyond = a1 * orbit.G - a3 * orbit.A, energy = J.y + beyond; // e . J e of all e
    double turned = size * ldexp(h, -doublings) * (energy + beyond * meanRest);
    f = doubleArgument(&orbit, f);
    for (int i = 0; i < doublings; ++i) {
        turned = 2.0 * turned - triangleArea(&orbit, f);
        f = doubleArgument(&orbit, f);
    }

    double scale = 1.0 / (f.c * f.c - orbit.f1 * f.s * f.s * n.z * n.z);
    tpVec3 e = { (n.x * f.c + orbit.f1 * f.s * f.d * n.y * n.z) * scale,
                 (n.y * f.c * f.d + f.s * n.x * n.z) * scale,
                 (n.z * f.d + orbit.f3 * f.s * f.c * n.x * n.y) * scale };
    e = doublings > 0 ? restoreEnergy(J, energy, e) : e;
    tpVec3 mean = tpScale(0.5, tpAdd(n, e));
    double sine, cosine, near = tpLengthSquared(mean);
    if (near < nearlyOpposite) {
        tpQuat half = tpEulerTop_Turn(inverseMoments, middle, 0.5 * h, momentum);
        momentum = tpUnrotate(half, momentum);
        return tpMulQQ(half, tpEulerTop_Turn(inverseMoments, middle, 0.5 * h, momentum));
    }
    tpSinCos(0.5 * turned, &sine, &cosine);
    tpVec3 axis = tpMulAdd(tpScale(sine, mean), 0.5 * cosine, tpCross(e, n));
    axis = unsorted(axis, middle);
    return tpNormalizeQuat(tpMakeQuat(near * cosine, axis.x, axis.y, axis.z));
}
