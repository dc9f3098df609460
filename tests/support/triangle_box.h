// A box of triangles: each side is cut into four squares of two triangles.

#ifndef TIPPE_TESTS_SUPPORT_TRIANGLE_BOX_H
#define TIPPE_TESTS_SUPPORT_TRIANGLE_BOX_H

#include "support/check.h"
#include "tippe/geometry.h"

// `size` is that of its edges, m. Released by the caller.
static inline tpGeometry makeTriangleBox(tpVec3 size) {
    static const double corners[26][3] = {
        { -1, -1, -1 }, { -1, 0, -1 }, { -1, 0, 0 }, { -1, -1, 0 }, { -1, 0, 1 }, { -1, -1, 1 },
        { -1, 1, -1 },  { -1, 1, 0 },  { -1, 1, 1 }, { 1, -1, -1 }, { 1, 0, -1 }, { 1, 0, 0 },
        { 1, -1, 0 },   { 1, 0, 1 },   { 1, -1, 1 }, { 1, 1, -1 },  { 1, 1, 0 },  { 1, 1, 1 },
        { 0, -1, 0 },   { 0, -1, -1 }, { 0, -1, 1 }, { 0, 1, 0 },   { 0, 1, -1 }, { 0, 1, 1 },
        { 0, 0, -1 },   { 0, 0, 1 }
    };
    static const int32_t triangles[48][3] = {
        { 3, 2, 1 },    { 3, 1, 0 },    { 5, 4, 2 },    { 5, 2, 3 },    { 2, 7, 6 },
        { 2, 6, 1 },    { 4, 8, 7 },    { 4, 7, 2 },    { 9, 10, 11 },  { 9, 11, 12 },
        { 12, 11, 13 }, { 12, 13, 14 }, { 10, 15, 16 }, { 10, 16, 11 }, { 11, 16, 17 },
        { 11, 17, 13 }, { 19, 18, 3 },  { 19, 3, 0 },   { 9, 12, 18 },  { 9, 18, 19 },
        { 18, 20, 5 },  { 18, 5, 3 },   { 12, 14, 20 }, { 12, 20, 18 }, { 6, 7, 21 },
        { 6, 21, 22 },  { 22, 21, 16 }, { 22, 16, 15 }, { 7, 8, 23 },   { 7, 23, 21 },
        { 21, 23, 17 }, { 21, 17, 16 }, { 1, 24, 19 },  { 1, 19, 0 },   { 6, 22, 24 },
        { 6, 24, 1 },   { 24, 10, 9 },  { 24, 9, 19 },  { 22, 15, 10 }, { 22, 10, 24 },
        { 5, 20, 25 },  { 5, 25, 4 },   { 4, 25, 23 },  { 4, 23, 8 },   { 20, 14, 13 },
        { 20, 13, 25 }, { 25, 13, 17 }, { 25, 17, 23 }
    };
    tpVec3 vertices[26];
    for (int i = 0; i < 26; ++i) {
        vertices[i] = tpMakeVec3(0.5 * size.x * corners[i][0], 0.5 * size.y * corners[i][1],
                                 0.5 * size.z * corners[i][2]);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    assert_int_equal(
        tpMakeMesh(&allocator, vertices, 26, triangles, 48, tpIdentityPose(), &mesh, NULL),
        tp_success);
    return mesh;
}

#endif
