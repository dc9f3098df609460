// Exact integrals over polyhedra: every triangle spans a signed tetrahedron with a common point,
// and the integrals of 1, x and x x^T over a tetrahedron are polynomials in its corners [Blow04].
//
// The common point is first the mean of the corners and then the centre of mass itself, so that a
// body far from the origin keeps its digits: what is subtracted in the end is nothing but rounding.

#include "geometry/mass.h"

typedef struct FaceIntegrals {
    double volume;
    tpVec3 first;     // of x
    double second[6]; // of xx, yy, zz, xy, xz, yz
} FaceIntegrals;

// A tetrahedron with the corners 0, a, b, c has volume d / 6, d = a . b x c; the integral of x is
// d/24 s and that of x x^T is d/120 (a a^T + b b^T + c c^T + s s^T), with s = a + b + c.
static void addTetrahedron(FaceIntegrals* sum, tpVec3 a, tpVec3 b, tpVec3 c) {
    double d = tpDot(a, tpCross(b, c));
    tpVec3 s = tpAdd(a, tpAdd(b, c));
    sum->volume += d / 6.0;
    sum->first = tpMulAdd(sum->first, d / 24.0, s);
    sum->second[0] += d / 120.0 * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    sum->second[1] += d / 120.0 * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    sum->second[2] += d / 120.0 * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    sum->second[3] += d / 120.0 * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    sum->second[4] += d / 120.0 * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    sum->second[5] += d / 120.0 * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
}

static FaceIntegrals integrateAbout(tpVec3 origin, const tpVec3* vertices,
                                    const int32_t (*triangles)[3], int count) {
    FaceIntegrals sum = { 0.0, tpZeroVec3(), { 0.0 } };
    for (int i = 0; i < count; ++i) {
        const int32_t* t = triangles[i];
        addTetrahedron(&sum, tpSub(vertices[t[0]], origin), tpSub(vertices[t[1]], origin),
                       tpSub(vertices[t[2]], origin));
    }
    return sum;
}

static tpVec3 meanCorner(const tpVec3* vertices, const int32_t (*triangles)[3], int count) {
    tpVec3 anchor = vertices[triangles[0][0]];
    tpVec3 sum = tpZeroVec3();
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            sum = tpAdd(sum, tpSub(vertices[triangles[i][k]], anchor));
        }
    }
    return tpMulAdd(anchor, 1.0 / (3.0 * count), sum);
}

tpMassProperties tpIntegrateTriangles(const tpVec3* vertices, const int32_t (*triangles)[3],
                                      int count) {
    tpMassProperties properties = { 0.0, tpZeroVec3(), tpZeroMat33() };
    if (count <= 0) {
        return properties;
    }
    tpVec3 origin = meanCorner(vertices, triangles, count);
    FaceIntegrals sum = integrateAbout(origin, vertices, triangles, count);
    if (sum.volume > 0.0) {
        origin = tpMulAdd(origin, 1.0 / sum.volume, sum.first);
        sum = integrateAbout(origin, vertices, triangles, count);
    }
    properties.mass = sum.volume;
    if (!(sum.volume > 0.0)) {
        return properties;
    }
    tpVec3 rest = tpScale(1.0 / sum.volume, sum.first);
    properties.center = tpAdd(origin, rest);
    double xx = sum.second[0] - sum.volume * rest.x * rest.x;
    double yy = sum.second[1] - sum.volume * rest.y * rest.y;
    double zz = sum.second[2] - sum.volume * rest.z * rest.z;
    double xy = sum.second[3] - sum.volume * rest.x * rest.y;
    double xz = sum.second[4] - sum.volume * rest.x * rest.z;
    double yz = sum.second[5] - sum.volume * rest.y * rest.z;
    properties.inertia = tpMakeMat33(tpMakeVec3(yy + zz, -xy, -xz), tpMakeVec3(-xy, xx + zz, -yz),
                                     tpMakeVec3(-xz, -yz, xx + yy));
    return properties;
}
