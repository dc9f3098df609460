// The tree of boxes after every change: its links, boxes and heights are what they are said to be,
// walks find what a scan finds, and its boxes are about as small as those of a tree built anew.

#include "collision/bounds_tree.h"
#include "support/check.h"

enum { most = 6000 };

typedef struct Grove {
    tpBoundsTree tree;
    tpRandom random;
    tpBounds bounds[most];
    int32_t leaves[most]; // -1: not there
    int count;            // numbers used so far
} Grove;

static Grove grove;

static double halfArea(const tpBounds* b) {
    tpVec3 e = tpSub(b->upper, b->lower);
    return e.x * e.y + e.y * e.z + e.z * e.x;
}

static tpBounds randomBox(double spread) {
    tpVec3 lower = randomVec3(&grove.random, -spread, spread);
    tpVec3 size = randomVec3(&grove.random, 0.1, 1.0);
    return (tpBounds){ lower, tpAdd(lower, size) };
}

static void start(uint64_t seed) {
    tpAllocator allocator = tpDefaultAllocator();
    grove.random.state = seed;
    grove.count = 0;
    tpCreateBoundsTree(&grove.tree, &allocator);
    assert_true(tpBoundsTree_Reserve(&grove.tree, most));
}

static void add(double spread, bool isLoose) {
    int n = grove.count++;
    grove.bounds[n] = randomBox(spread);
    grove.leaves[n] = isLoose ? tpBoundsTree_AddLoose(&grove.tree, n, grove.bounds[n])
                              : tpBoundsTree_Insert(&grove.tree, n, grove.bounds[n]);
}

// The height of a part of the tree, whose leaves and inner nodes are counted and marked.
static int checkPart(int32_t index, int32_t parent, bool* isSeen, int* leafCount, double* area) {
    const tpBoundsNode* node = &grove.tree.nodes.data[index];
    assert_false(isSeen[index]);
    isSeen[index] = true;
    assert_int_equal(node->parent, parent);
    if (node->child[0] < 0) {
        int number = node->child[1];
        assert_int_equal(grove.leaves[number], index);
        assert_memory_equal(&node->bounds, &grove.bounds[number], sizeof(tpBounds));
        assert_int_equal(node->height, 0);
        *leafCount += 1;
        return 0;
    }
    int a = checkPart(node->child[0], index, isSeen, leafCount, area);
    int b = checkPart(node->child[1], index, isSeen, leafCount, area);
    const tpBoundsNode* nodes = grove.tree.nodes.data;
    tpBounds both = tpUniteBounds(nodes[node->child[0]].bounds, nodes[node->child[1]].bounds);
    assert_memory_equal(&node->bounds, &both, sizeof(tpBounds));
    int height = 1 + (a > b ? a : b);
    assert_int_equal(node->height, height);
    *area += halfArea(&node->bounds);
    return height;
}

// Every node is in the tree once or in the list of free ones. Returns the half surfaces of the
// inner boxes together.
static double checkTree(int* height) {
    const tpBoundsTree* tree = &grove.tree;
    static bool isSeen[2 * most];
    for (int i = 0; i < tree->nodes.count; ++i) {
        isSeen[i] = false;
    }
    int leafCount = 0, there = 0;
    double area = 0.0;
    *height = tree->root < 0 ? 0 : checkPart(tree->root, -1, isSeen, &leafCount, &area);
    for (int i = 0; i < grove.count; ++i) {
        there += grove.leaves[i] >= 0;
    }
    assert_int_equal(leafCount, there);
    assert_int_equal(tree->leafCount, there);
    for (int32_t i = tree->firstFree; i >= 0; i = tree->nodes.data[i].parent) {
        assert_false(isSeen[i]);
        isSeen[i] = true;
        assert_int_equal(tree->nodes.data[i].height, -1);
    }
    for (int i = 0; i < tree->nodes.count; ++i) {
        assert_true(isSeen[i]);
    }
    return area;
}

// A box anywhere, against a scan.
static void checkWalks(void) {
    static bool isFound[most];
    for (int k = 0; k < 4; ++k) {
        tpBounds box = randomBox(4.0);
        for (int i = 0; i < grove.count; ++i) {
            isFound[i] = false;
        }
        tpTreeWalk walk = tpBoundsTree_Walk(&grove.tree);
        for (int32_t n; (n = tpTreeWalk_Next(&walk, &box)) >= 0;) {
            assert_false(isFound[n]);
            isFound[n] = true;
        }
        for (int i = 0; i < grove.count; ++i) {
            bool isThere = grove.leaves[i] >= 0 && tpBoundsOverlap(&grove.bounds[i], &box);
            assert_int_equal(isFound[i], isThere);
        }
    }
}

// Leaves come, go, move a little and move far, in any order.
static void testChanges(void** state) {
    (void)state;
    int height;
    start(41);
    checkTree(&height);
    assert_true(tpBoundsTree_RefitAll(&grove.tree, NULL) == 0.0);
    for (int k = 0; k < 1500; ++k) {
        int i = grove.count > 0 ? (int)(randomBits(&grove.random) % (uint64_t)grove.count) : 0;
        bool isThere = grove.count > 0 && grove.leaves[i] >= 0;
        int what = (int)(randomBits(&grove.random) % 8);
        if (what < 3 || !isThere) {
            add(4.0, false);
        } else if (what < 5) {
            tpBoundsTree_Remove(&grove.tree, grove.leaves[i]);
            grove.leaves[i] = -1;
        } else if (what < 7) {
            tpVec3 shift = randomVec3(&grove.random, -0.2, 0.2);
            grove.bounds[i].lower = tpAdd(grove.bounds[i].lower, shift);
            grove.bounds[i].upper = tpAdd(grove.bounds[i].upper, shift);
            tpBoundsTree_Refit(&grove.tree, grove.leaves[i], grove.bounds[i]);
        } else {
            grove.bounds[i] = randomBox(4.0);
            tpBoundsTree_SetLeaf(&grove.tree, grove.leaves[i], grove.bounds[i]);
            double area = tpBoundsTree_RefitAll(&grove.tree, NULL);
            CHECK_NEAR(area, checkTree(&height), 1e-12 * area);
        }
        if (k % 16 == 0) {
            checkTree(&height);
        }
        if (k % 100 == 0) {
            checkWalks();
        }
        if (k % 500 == 499) {
            tpBoundsTree_Rebuild(&grove.tree, NULL);
            assert_true(grove.tree.isOrdered);
            CHECK_NEAR(grove.tree.builtArea, checkTree(&height), 1e-12 * grove.tree.builtArea);
        }
    }
    // All of them go.
    for (int i = 0; i < grove.count; ++i) {
        if (grove.leaves[i] >= 0) {
            tpBoundsTree_Remove(&grove.tree, grove.leaves[i]);
            grove.leaves[i] = -1;
            checkTree(&height);
        }
    }
    assert_int_equal(grove.tree.root, -1);
    tpBoundsTree_Rebuild(&grove.tree, NULL);
    checkTree(&height);
    tpDestroyBoundsTree(&grove.tree);
}

// Parts that threads build: more leaves than one part has.
static void testLarge(void** state) {
    (void)state;
    int height;
    start(43);
    while (grove.count < most) {
        add(20.0, true);
    }
    tpBoundsTree_Rebuild(&grove.tree, NULL);
    double area = checkTree(&height);
    CHECK_NEAR(grove.tree.builtArea, area, 1e-12 * area);
    assert_in_range(height, 13, 26); // 6,000 leaves need 13
    double built = area;
    for (int i = 0; i < grove.count; ++i) {
        grove.bounds[i] = randomBox(20.0);
        tpBoundsTree_SetLeaf(&grove.tree, grove.leaves[i], grove.bounds[i]);
    }
    area = tpBoundsTree_RefitAll(&grove.tree, NULL);
    CHECK_NEAR(area, checkTree(&height), 1e-12 * area);
    assert_true(area > 10.0 * built); // neighbours no more
    tpBoundsTree_Rebuild(&grove.tree, NULL);
    CHECK_NEAR(checkTree(&height) / built, 1.0, 0.05);
    tpDestroyBoundsTree(&grove.tree);
}

// Insertion and rotations keep the boxes small, in whatever order leaves come: at random, and along
// a line, where a careless tree becomes a list.
static void testQuality(void** state) {
    (void)state;
    for (int inOrder = 0; inOrder < 2; ++inOrder) {
        int height, builtHeight;
        start(47);
        for (int k = 0; k < 1000; ++k) {
            add(10.0, true);
            if (inOrder) {
                tpVec3 lower = tpMakeVec3(1.5 * k, 0.0, 0.0);
                grove.bounds[k] = (tpBounds){ lower, tpAdd(lower, tpMakeVec3(1.0, 1.0, 1.0)) };
            }
        }
        // The same boxes come one by one.
        tpDestroyBoundsTree(&grove.tree);
        tpAllocator allocator = tpDefaultAllocator();
        tpCreateBoundsTree(&grove.tree, &allocator);
        assert_true(tpBoundsTree_Reserve(&grove.tree, most));
        for (int k = 0; k < 1000; ++k) {
            grove.leaves[k] = tpBoundsTree_Insert(&grove.tree, k, grove.bounds[k]);
        }
        double area = checkTree(&height);
        checkWalks();
        tpBoundsTree_Rebuild(&grove.tree, NULL);
        double built = checkTree(&builtHeight);
        print_message("%s: surfaces %.3f of a tree built anew, height %d (%d)\n",
                      inOrder ? "in order" : "at random", area / built, height, builtHeight);
        CHECK_BELOW(area / built, inOrder ? 1.01 : 1.2);
        assert_in_range(height, 10, inOrder ? 12 : 18);
        tpDestroyBoundsTree(&grove.tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testChanges), cmocka_unit_test(testLarge),
                                        cmocka_unit_test(testQuality) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
