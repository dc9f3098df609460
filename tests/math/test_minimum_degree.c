// Orders of elimination: permutations, no fill in trees, little in grids, and the same for columns.

#include "math/minimum_degree.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/failing_allocator.h"

enum { most = 1600 };

typedef struct Pattern {
    int n;
    int starts[most + 1];
    int neighbours[16 * most];
} Pattern;

static tpArena arena;

static int start(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena_Create(&arena, &allocator);
    return 0;
}

static int stop(void** state) {
    (void)state;
    tpArena_Destroy(&arena);
    return 0;
}

// A symmetric pattern from a list of edges.
static void fromEdges(Pattern* pattern, int n, int edgeCount, int (*edges)[2]) {
    memset(pattern->starts, 0, sizeof(pattern->starts));
    pattern->n = n;
    for (int e = 0; e < edgeCount; ++e) {
        ++pattern->starts[edges[e][0] + 1];
        ++pattern->starts[edges[e][1] + 1];
    }
    for (int i = 0; i < n; ++i) {
        pattern->starts[i + 1] += pattern->starts[i];
    }
    static int at[most];
    memcpy(at, pattern->starts, sizeof(int) * (size_t)n);
    for (int e = 0; e < edgeCount; ++e) {
        pattern->neighbours[at[edges[e][0]]++] = edges[e][1];
        pattern->neighbours[at[edges[e][1]]++] = edges[e][0];
    }
}

static void checkPermutation(const int* order, int n) {
    static bool seen[most];
    memset(seen, 0, sizeof(seen));
    for (int k = 0; k < n; ++k) {
        assert_in_range(order[k], 0, n - 1);
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
    }
}

// Entries of L below the diagonal, by elimination of the dense pattern.
static int countFactor(const Pattern* pattern, const int* order) {
    int n = pattern->n, count = 0;
    static bool edge[most][most];
    static int place[most];
    memset(edge, 0, sizeof(edge));
    for (int k = 0; k < n; ++k) {
        place[order[k]] = k;
    }
    for (int i = 0; i < n; ++i) {
        for (int k = pattern->starts[i]; k < pattern->starts[i + 1]; ++k) {
            edge[place[i]][place[pattern->neighbours[k]]] = true;
        }
    }
    for (int p = 0; p < n; ++p) {
        static int above[most];
        int aboveCount = 0;
        for (int i = p + 1; i < n; ++i) {
            if (edge[i][p]) {
                above[aboveCount++] = i;
            }
        }
        for (int a = 0; a < aboveCount; ++a) {
            for (int b = 0; b < aboveCount; ++b) {
                edge[above[a]][above[b]] = true;
            }
        }
        count += aboveCount;
    }
    return count;
}

static int gridEdges(int side, int (*edges)[2]) {
    int count = 0;
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            if (x + 1 < side) {
                edges[count][0] = y * side + x;
                edges[count++][1] = y * side + x + 1;
            }
            if (y + 1 < side) {
                edges[count][0] = y * side + x;
                edges[count++][1] = (y + 1) * side + x;
            }
        }
    }
    return count;
}

static void treesFillNothing(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int trial = 0; trial < 20; ++trial) {
        static Pattern pattern;
        static int edges[most][2], order[most];
        int n = 2 + (int)(randomBits(&random) % 300);
        for (int i = 1; i < n; ++i) {
            edges[i - 1][0] = i;
            edges[i - 1][1] = (int)(randomBits(&random) % (uint64_t)i);
        }
        fromEdges(&pattern, n, n - 1, edges);
        assert_true(tpMinimumDegree_Order(n, pattern.starts, pattern.neighbours, &arena, order));
        checkPermutation(order, n);
        assert_int_equal(countFactor(&pattern, order), n - 1);
    }
}

// A 40 x 40 grid row by row fills a band: 61,620 entries. Orders of minimum degree leave less than
// a third of that (18,900 here; the same to 2 percent with other programs).
static void gridsFillLittle(void** state) {
    (void)state;
    static Pattern pattern;
    static int edges[2 * most][2], order[most];
    int side = 40, count = gridEdges(side, edges);
    fromEdges(&pattern, side * side, count, edges);
    assert_true(
        tpMinimumDegree_Order(pattern.n, pattern.starts, pattern.neighbours, &arena, order));
    checkPermutation(order, pattern.n);
    assert_in_range(countFactor(&pattern, order), 2 * side * side, 20000);
}

// A wheel: the hub is adjacent to all, and must come last (it is dense); the rim then fills like a
// ring.
static void hubsComeLast(void** state) {
    (void)state;
    static Pattern pattern;
    static int edges[2 * most][2], order[most];
    int n = 1000, count = 0;
    for (int i = 1; i < n; ++i) {
        edges[count][0] = 0;
        edges[count++][1] = i;
        edges[count][0] = i;
        edges[count++][1] = i + 1 < n ? i + 1 : 1;
    }
    fromEdges(&pattern, n, count, edges);
    assert_true(tpMinimumDegree_Order(n, pattern.starts, pattern.neighbours, &arena, order));
    checkPermutation(order, n);
    assert_int_equal(order[n - 1], 0);
    assert_int_equal(countFactor(&pattern, order), (n - 1) + 2 * (n - 1) - 3);
}

static void smallAndEmptyPatterns(void** state) {
    (void)state;
    int starts[4] = { 0, 0, 0, 0 }, order[3] = { 7, 7, 7 };
    assert_true(tpMinimumDegree_Order(0, starts, NULL, &arena, order));
    assert_int_equal(order[0], 7);
    assert_true(tpMinimumDegree_Order(3, starts, NULL, &arena, order));
    checkPermutation(order, 3);
    int self[3] = { 0, 1, 2 }, ones[4] = { 0, 1, 2, 3 };
    assert_true(tpMinimumDegree_Order(3, ones, self, &arena, order));
    checkPermutation(order, 3);
    assert_true(tpMinimumDegree_OrderColumns(0, 0, starts, NULL, &arena, order));
    assert_true(tpMinimumDegree_OrderColumns(2, 3, starts, NULL, &arena, order));
    checkPermutation(order, 3);
}

static void randomPatternsArePermuted(void** state) {
    (void)state;
    tpRandom random = { 6 };
    for (int trial = 0; trial < 300; ++trial) {
        static Pattern pattern;
        static int edges[4 * most][2], order[most];
        int n = 2 + (int)(randomBits(&random) % 200), count = 0;
        int wanted = (int)(randomBits(&random) % (uint64_t)(4 * n));
        static bool used[200 + 2][200 + 2];
        memset(used, 0, sizeof(used));
        for (int e = 0; e < wanted; ++e) {
            int a = (int)(randomBits(&random) % (uint64_t)n);
            int b = (int)(randomBits(&random) % (uint64_t)n);
            if (a != b && !used[a][b]) {
                used[a][b] = used[b][a] = true;
                edges[count][0] = a;
                edges[count++][1] = b;
            }
        }
        fromEdges(&pattern, n, count, edges);
        assert_true(tpMinimumDegree_Order(n, pattern.starts, pattern.neighbours, &arena, order));
        checkPermutation(order, n);
        int natural[most];
        for (int i = 0; i < n; ++i) {
            natural[i] = i;
        }
        // Never much worse than no order at all.
        assert_true(countFactor(&pattern, order) <= countFactor(&pattern, natural) + n);
    }
}

// The edges of a graph as rows of two columns: A'A has the graph's pattern.
static void columnsAreThoseOfTheProduct(void** state) {
    (void)state;
    static Pattern pattern;
    static int edges[2 * most][2], order[most], starts[most + 1], rows[4 * most];
    int side = 40, n = side * side, count = gridEdges(side, edges);
    fromEdges(&pattern, n, count, edges);
    int used = 0;
    for (int j = 0; j < n; ++j) {
        starts[j] = used;
        for (int e = 0; e < count; ++e) {
            if (edges[e][0] == j || edges[e][1] == j) {
                rows[used++] = e;
            }
        }
    }
    starts[n] = used;
    assert_true(tpMinimumDegree_OrderColumns(count, n, starts, rows, &arena, order));
    checkPermutation(order, n);
    assert_in_range(countFactor(&pattern, order), 2 * n, 20000);
}

static void columnsWithRepeatsAndDenseRows(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int trial = 0; trial < 200; ++trial) {
        static int starts[most + 1], rows[64 * most], order[most];
        int m = 1 + (int)(randomBits(&random) % 100), n = 1 + (int)(randomBits(&random) % 400);
        int used = 0;
        for (int j = 0; j < n; ++j) {
            starts[j] = used;
            for (int k = (int)(randomBits(&random) % 6); k > 0; --k) {
                rows[used++] = (int)(randomBits(&random) % (uint64_t)m);
            }
            rows[used++] = 0; // in every column
        }
        starts[n] = used;
        assert_true(tpMinimumDegree_OrderColumns(m, n, starts, rows, &arena, order));
        checkPermutation(order, n);
    }
}

static void survivesFailingMemory(void** state) {
    (void)state;
    static Pattern pattern;
    static int edges[2 * most][2], order[most];
    fromEdges(&pattern, 400, gridEdges(20, edges), edges);
    for (int n = 1;; ++n) {
        tpFailingAllocator heap = { .failAt = n, .failAllAfter = true };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpArena failing;
        tpArena_Create(&failing, &allocator);
        bool enough =
            tpMinimumDegree_Order(400, pattern.starts, pattern.neighbours, &failing, order);
        tpArena_Destroy(&failing);
        assert_int_equal(heap.outstanding, 0);
        if (heap.requests < n) {
            assert_true(enough);
            break;
        }
        assert_false(enough);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesFillNothing),
        cmocka_unit_test(gridsFillLittle),
        cmocka_unit_test(hubsComeLast),
        cmocka_unit_test(smallAndEmptyPatterns),
        cmocka_unit_test(randomPatternsArePermuted),
        cmocka_unit_test(columnsAreThoseOfTheProduct),
        cmocka_unit_test(columnsWithRepeatsAndDenseRows),
        cmocka_unit_test(survivesFailingMemory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
