// Hulls on the grid: held to the definition in exact arithmetic, for points of all degenerate
// kinds.

#include "geometry/grid_hull.h"

#include <string.h>

#include "sample_shapes.h"

__extension__ typedef __int128 Wide;

// Above (1), in (0) or below (-1) the plane of three points.
static int sideOf(const tpGridPoint* a, const tpGridPoint* b, const tpGridPoint* c,
                  const tpGridPoint* p) {
    Wide m[3][3] = { { b->x - a->x, b->y - a->y, b->z - a->z },
                     { c->x - a->x, c->y - a->y, c->z - a->z },
                     { p->x - a->x, p->y - a->y, p->z - a->z } };
    Wide d = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
             m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
             m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

// Four points that span a volume, by trying; false if there are none.
static bool findStart(const tpGridPoint* points, int count, int32_t start[4]) {
    for (int a = 1; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            for (int c = b + 1; c < count; ++c) {
                if (sideOf(&points[0], &points[a], &points[b], &points[c]) != 0) {
                    memcpy(start, (int32_t[4]){ 0, a, b, c }, 4 * sizeof(int32_t));
                    return true;
                }
            }
        }
    }
    return false;
}

// No point lies above a triangle, no triangle is degenerate, and every edge has its twin.
static void checkHull(const tpGridHull* hull, const tpGridPoint* points, int count) {
    bool isUsed[256] = { false };
    int used = 0;
    for (int i = 0; i < hull->count; ++i) {
        const tpGridTriangle* t = &hull->triangles[i];
        const tpGridPoint *a = &points[t->corners[0]], *b = &points[t->corners[1]];
        const tpGridPoint* c = &points[t->corners[2]];
        bool hasInside = false;
        for (int k = 0; k < count; ++k) {
            int side = sideOf(a, b, c, &points[k]);
            assert_true(side <= 0);
            hasInside = hasInside || side < 0;
        }
        assert_true(hasInside);
        for (int k = 0; k < 3; ++k) {
            const tpGridTriangle* other = &hull->triangles[t->across[k]];
            int32_t from = t->corners[k], to = t->corners[(k + 1) % 3];
            int twins = 0;
            for (int m = 0; m < 3; ++m) {
                twins += other->across[m] == i && other->corners[m] == to &&
                         other->corners[(m + 1) % 3] == from;
            }
            assert_int_equal(twins, 1);
            used += !isUsed[from];
            isUsed[from] = true;
        }
    }
    assert_int_equal(used - 3 * hull->count / 2 + hull->count, 2); // Euler
}

static int64_t inGrid(tpRandom* random, int64_t size) {
    return (int64_t)(randomBetween(random, -1.0, 1.0) * (double)size);
}

// Of five kinds: anywhere, in a small cube (most coplanar, collinear or equal), near a plane, near
// a line of a plane, at the ends of the grid.
static void samplePoint(tpRandom* random, int kind, tpGridPoint* p) {
    const int64_t whole = (int64_t)1 << tp_gridBits;
    static const int64_t sizes[5][3] = {
        { 1, 1, 1 }, { 0, 0, 0 }, { 1, 1, 0 }, { 1, 0, 0 }, { 0, 0, 0 }
    };
    if (kind == 4) {
        *p = (tpGridPoint){ randomBelow(random, 2) ? whole : -whole,
                            randomBelow(random, 2) ? whole : -whole,
                            randomBelow(random, 2) ? whole - randomBelow(random, 3) : -whole };
        return;
    }
    const int64_t* s = sizes[kind];
    *p = (tpGridPoint){ s[0] ? inGrid(random, whole) : randomBelow(random, 4),
                        s[1] ? inGrid(random, whole) : randomBelow(random, 4),
                        s[2] ? inGrid(random, whole) : randomBelow(random, 4) };
}

static void hullsAreExact(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 71 };
    int made = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        tpGridPoint points[120];
        int count = 4 + randomBelow(&random, 100);
        for (int i = 0; i < count; ++i) {
            samplePoint(&random, trial % 5, &points[i]);
        }
        // Sums of two points, halved, lie on edges and in faces.
        for (int i = 4; i < count; i += 3) {
            const tpGridPoint *a = &points[randomBelow(&random, i)],
                              *b = &points[randomBelow(&random, i)];
            points[i] = (tpGridPoint){ (a->x + b->x) / 2, (a->y + b->y) / 2, (a->z + b->z) / 2 };
        }
        int32_t start[4];
        if (!findStart(points, count, start)) {
            continue;
        }
        tpGridHull hull;
        assert_int_equal(tpCreateGridHull(&allocator, points, count, start, &hull), tp_success);
        checkHull(&hull, points, count);
        tpDestroyGridHull(&allocator, &hull);
        ++made;
    }
    assert_true(made > 900);
}

static void aFlatStartIsRefused(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    const tpGridPoint points[4] = { { 0, 0, 0 }, { 5, 0, 0 }, { 0, 7, 0 }, { 3, 3, 0 } };
    tpGridHull hull;
    assert_int_equal(tpCreateGridHull(&allocator, points, 4, (int32_t[4]){ 0, 1, 2, 3 }, &hull),
                     tp_badInput);
    assert_null(hull.triangles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hullsAreExact),
        cmocka_unit_test(aFlatStartIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
