// Pairs of fat boxes: none is missed, what is known about a pair is handed on, and a restored list
// goes on the same way.

#include "collision/fat_pairs.h"

#include <string.h>

#include "collision/fat_balls.h"
#include "geometry/shape.h"
#include "geometry/shape_parts.h"
#include "support/check.h"

enum { boxCount = 150, rounds = 60 };

typedef struct Yard {
    tpBounds bounds[boxCount];
    tpVec3 centers[boxCount], velocities[boxCount];
    uint8_t kinds[boxCount];
} Yard;

static bool mayPair(const void* context, int32_t a, int32_t b) {
    (void)context;
    return (a * 31 + b * 17) % 7 != 0;
}

static tpProxies proxiesOf(const Yard* yard) {
    return (tpProxies){ yard->bounds, yard->kinds, boxCount, mayPair, NULL, NULL };
}

static void placeBoxes(Yard* yard) {
    for (int i = 0; i < boxCount; ++i) {
        tpVec3 half = tpMakeVec3(0.2, 0.2, 0.1 + 0.001 * i);
        yard->bounds[i] =
            (tpBounds){ tpSub(yard->centers[i], half), tpAdd(yard->centers[i], half) };
        if (i % 70 == 3) { // half spaces
            yard->bounds[i] = (tpBounds){ { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL },
                                          { HUGE_VAL, HUGE_VAL, yard->centers[i].z - 1.0 } };
        }
    }
}

static void startYard(Yard* yard, tpRandom* random) {
    for (int i = 0; i < boxCount; ++i) {
        yard->centers[i] = randomVec3(random, -1.0, 1.0);
        yard->velocities[i] = randomVec3(random, -0.02, 0.02);
        yard->kinds[i] = i % 10 == 0  ? tp_fixedProxy
                         : i % 4 == 1 ? tp_linkedProxy
                                      : tp_movableProxy;
    }
    placeBoxes(yard);
}

// Scratch of updates, which keeps `origins` until the next one.
static tpArena arena;

static bool update(tpFatPairs* fat, const tpProxies* proxies) {
    if (arena.allocator.allocate == NULL) {
        tpAllocator allocator = tpDefaultAllocator();
        tpArena_Create(&arena, &allocator);
    }
    tpArena_Reset(&arena);
    return tpFatPairs_Update(fat, proxies, NULL, &arena);
}

// Boxes drift, some leap, some come and go.
static void moveYard(Yard* yard, tpRandom* random) {
    for (int i = 0; i < boxCount; ++i) {
        yard->centers[i] = tpAdd(yard->centers[i], yard->velocities[i]);
        uint64_t chance = randomBits(random) % 100;
        if (chance == 0) {
            yard->centers[i] = randomVec3(random, -1.0, 1.0);
        } else if (chance == 1) {
            yard->kinds[i] = yard->kinds[i] == tp_noProxy ? tp_movableProxy : tp_noProxy;
        }
    }
    placeBoxes(yard);
}

// Every pair of true boxes that is wanted stands in the list, none is unwanted, and all are in
// order.
static void checkPairs(const tpFatPairs* fat, const tpProxies* proxies) {
    for (int i = 1; i < fat->pairs.count; ++i) {
        assert_true(tpShapePair_IsBefore(fat->pairs.data[i - 1], fat->pairs.data[i]));
    }
    for (int32_t a = 0; a < boxCount; ++a) {
        for (int32_t b = a + 1; b < boxCount; ++b) {
            int place = tpPairs_Find(&fat->pairs, (tpShapePair){ a, b });
            bool isListed = place < fat->pairs.count && fat->pairs.data[place].shapeA == a &&
                            fat->pairs.data[place].shapeB == b;
            assert_true(isListed || !tpProxies_ArePair(proxies, a, b));
            bool isWanted =
                mayPair(NULL, a, b) && proxies->kinds[a] != tp_noProxy &&
                proxies->kinds[b] != tp_noProxy &&
                (proxies->kinds[a] >= tp_movableProxy || proxies->kinds[b] >= tp_movableProxy);
            assert_true(!isListed || isWanted);
        }
    }
}

// Origins lead to the same pair in the list before.
static void checkOrigins(const tpFatPairs* fat, const tpShapePair* before, int beforeCount) {
    assert_int_equal(fat->oldCount, beforeCount);
    int kept = 0;
    for (int i = 0; i < fat->pairs.count; ++i) {
        int origin = fat->hasChanged ? fat->origins[i] : i;
        bool wasThere = false;
        for (int k = 0; k < beforeCount; ++k) {
            wasThere = wasThere || memcmp(&before[k], &fat->pairs.data[i], sizeof(*before)) == 0;
        }
        assert_true(wasThere == (origin >= 0));
        if (origin >= 0) {
            assert_memory_equal(&before[origin], &fat->pairs.data[i], sizeof(*before));
            ++kept;
        }
    }
    assert_true(kept <= beforeCount);
}

static void pairsAreHandedOn(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 5 };
    static Yard yard;
    static tpShapePair before[boxCount * boxCount];
    startYard(&yard, &random);
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    int unchanged = 0;
    for (int k = 0; k < rounds; ++k) {
        int count = fat.pairs.count;
        if (count > 0) {
            memcpy(before, fat.pairs.data, sizeof(tpShapePair) * (size_t)count);
        }
        tpProxies proxies = proxiesOf(&yard);
        assert_true(update(&fat, &proxies));
        checkPairs(&fat, &proxies);
        checkOrigins(&fat, before, count);
        unchanged += fat.hasChanged ? 0 : 1;
        if (k % 3 != 0) {
            moveYard(&yard, &random);
        }
    }
    assert_true(unchanged >= rounds / 3 - 1);
    tpDestroyFatPairs(&fat);
}

// Shapes that fall together leave their boxes at once: pairs are found by rows, and none is missed
// or listed twice. When a few ask, the tree is fitted; once they fly apart it is built anew. Some
// go and come back in between, while the tree waits.
static void crowdsFallTogether(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 17 };
    static Yard yard;
    static tpShapePair before[boxCount * boxCount];
    startYard(&yard, &random);
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    int byRows = 0, fitted = 0, built = 0;
    for (int k = 0; k < 120; ++k) {
        int count = fat.pairs.count;
        double area = fat.tree.builtArea;
        bool isOld = fat.isTreeOld;
        if (count > 0) {
            memcpy(before, fat.pairs.data, sizeof(tpShapePair) * (size_t)count);
        }
        tpProxies proxies = proxiesOf(&yard);
        assert_true(update(&fat, &proxies));
        checkPairs(&fat, &proxies);
        checkOrigins(&fat, before, count);
        byRows += fat.usesRows ? 1 : 0;
        fitted += isOld && !fat.isTreeOld && fat.tree.builtArea == area ? 1 : 0;
        built += isOld && !fat.isTreeOld && fat.tree.builtArea != area ? 1 : 0;
        for (int i = 0; i < boxCount; ++i) {
            tpVec3 apart = tpScale(k < 60 ? 0.0 : 3.0, yard.velocities[i]);
            // A few in ten fall later than the others.
            double fall = i % 10 == 1 && k % 8 != 0 ? 0.0 : i % 10 == 1 ? -0.8 : -0.1;
            yard.centers[i] = tpAdd(yard.centers[i], tpAdd(tpMakeVec3(0.0, 0.0, fall), apart));
            if (k > 90 && i % 20 == k % 20) {
                yard.kinds[i] = yard.kinds[i] == tp_noProxy ? tp_movableProxy : tp_noProxy;
            }
        }
        placeBoxes(&yard);
    }
    print_message("by rows %d times, fitted %d times, built %d times\n", byRows, fitted, built);
    assert_true(byRows > 10 && fitted > 2 && built > 2);
    tpDestroyFatPairs(&fat);
}

// More boxes than threads take at a time, of which two in five leap: these find their pairs.
static void manyLeapAtOnce(void** state) {
    (void)state;
    enum { count = 5000 };
    static tpBounds bounds[count];
    static uint8_t kinds[count];
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 29 };
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < count; ++i) {
            if (k == 0 || randomBits(&random) % 10 < 4) {
                tpVec3 lower = randomVec3(&random, -5.0, 5.0);
                bounds[i] = (tpBounds){ lower, tpAdd(lower, tpMakeVec3(0.4, 0.4, 0.4)) };
                kinds[i] = tp_movableProxy;
            }
        }
        tpProxies proxies = { bounds, kinds, count, mayPair, NULL, NULL };
        assert_true(update(&fat, &proxies));
        int overlaps = 0;
        for (int32_t a = 0; a < count; ++a) {
            for (int32_t b = a + 1; b < count; ++b) {
                if (tpBoundsOverlap(&bounds[a], &bounds[b]) && mayPair(NULL, a, b)) {
                    int place = tpPairs_Find(&fat.pairs, (tpShapePair){ a, b });
                    assert_true(place < fat.pairs.count && fat.pairs.data[place].shapeA == a &&
                                fat.pairs.data[place].shapeB == b);
                    overlaps += 1;
                }
            }
        }
        assert_true(overlaps > 1000);
    }
    tpDestroyFatPairs(&fat);
}

// A pair comes when shapes are disturbed after it has become wanted: here both lists agree with a
// fresh one.
static void restoredListsGoOn(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 11 };
    static Yard yard;
    startYard(&yard, &random);
    tpFatPairs fat, copy;
    tpCreateFatPairs(&fat, &allocator, true);
    tpCreateFatPairs(&copy, &allocator, true);
    for (int k = 0; k < 20; ++k) {
        tpProxies proxies = proxiesOf(&yard);
        assert_true(update(&fat, &proxies));
        moveYard(&yard, &random);
    }
    void* saved = tpAllocate(&allocator, tpFatPairs_SavedSize(&fat));
    size_t size = tpFatPairs_SavedSize(&fat);
    tpFatPairs_Save(&fat, saved);
    tpSavedReader reader = { saved, tpFatPairs_SavedSize(&fat), false };
    assert_true(tpFatPairs_Load(&copy, &reader));
    assert_int_equal(copy.changeCount, 0); // its tree is new
    tpRelease(&allocator, saved, size);
    for (int k = 0; k < 30; ++k) {
        tpProxies proxies = proxiesOf(&yard);
        tpFatPairs_Disturb(&fat, k);
        tpFatPairs_Disturb(&copy, k);
        assert_true(update(&fat, &proxies));
        assert_true(update(&copy, &proxies));
        assert_int_equal(fat.pairs.count, copy.pairs.count);
        assert_memory_equal(fat.pairs.data, copy.pairs.data,
                            sizeof(tpShapePair) * (size_t)fat.pairs.count);
        moveYard(&yard, &random);
    }
    tpDestroyFatPairs(&fat);
    tpDestroyFatPairs(&copy);
}

// A point of an interval that is shorter by `less` at both ends: the nearest to x.
static double nearestIn(double low, double high, double less, double x) {
    return fmin(fmax(x, low + less), high - less);
}

// Where balls in boxes may be is known: apart are those that touch nowhere, with margins or
// without, and others do touch somewhere.
static void ballsInBoxesStayApart(void** state) {
    (void)state;
    tpRandom random = { 1618 };
    int apart = 0, cases = 20000;
    for (int i = 0; i < cases; ++i) {
        double margin = i % 2 == 0 ? 0.0 : randomBetween(&random, 0.0, 0.2);
        double radii[2], low[2][3], high[2][3], nearest[2][3];
        for (int k = 0; k < 2; ++k) {
            radii[k] = randomBetween(&random, 0.2, 0.6);
            for (int m = 0; m < 3; ++m) {
                double half = radii[k] + margin + randomBetween(&random, 0.0, 0.3);
                double center = k * randomBetween(&random, -2.0, 2.0);
                low[k][m] = center - half;
                high[k][m] = center + half;
            }
        }
        // The nearest centres, axis by axis.
        double square = 0.0;
        for (int m = 0; m < 3; ++m) {
            nearest[0][m] =
                nearestIn(low[0][m], high[0][m], radii[0] + margin, 0.5 * (low[1][m] + high[1][m]));
            nearest[1][m] = nearestIn(low[1][m], high[1][m], radii[1] + margin, nearest[0][m]);
            nearest[0][m] = nearestIn(low[0][m], high[0][m], radii[0] + margin, nearest[1][m]);
            square += (nearest[1][m] - nearest[0][m]) * (nearest[1][m] - nearest[0][m]);
        }
        tpBounds a = { { low[0][0], low[0][1], low[0][2] },
                       { high[0][0], high[0][1], high[0][2] } };
        tpBounds b = { { low[1][0], low[1][1], low[1][2] },
                       { high[1][0], high[1][1], high[1][2] } };
        double reach = radii[0] + radii[1], distance = sqrt(square);
        bool areApart = tpFatBallsApart(&a, &b, reach);
        assert_true(!areApart || distance > reach + 2.0 * margin);
        assert_true(margin > 0.0 || areApart || distance <= reach * (1.0 + 1e-4));
        apart += areApart ? 1 : 0;
    }
    assert_in_range(apart, cases / 10, cases - cases / 10);
}

// Balls in boxes that are larger than they are by margins, which change from call to call: no two
// of them that come as near as their margins are missed, and fewer pairs are listed than of boxes.
static void ballsAreNotMissed(void** state) {
    (void)state;
    static Yard yard;
    float radii[boxCount], specks[boxCount];
    tpRandom random = { 271828 };
    startYard(&yard, &random);
    tpAllocator allocator = tpDefaultAllocator();
    tpFatPairs balls, boxes;
    tpCreateFatPairs(&balls, &allocator, true);
    tpCreateFatPairs(&boxes, &allocator, true);
    int listed = 0, near = 0, ofBoxes = 0;
    for (int round = 0; round < rounds; ++round) {
        double reach[boxCount];
        for (int i = 0; i < boxCount; ++i) {
            yard.centers[i] = tpAdd(yard.centers[i], yard.velocities[i]);
            radii[i] = i % 9 == 0 ? 0.0f : (float)(0.05 + 0.001 * i);
            specks[i] = radii[i] > 0.0f ? 1e-9f : 0.0f;
            double margin = randomBetween(&random, 0.0, 0.02);
            reach[i] = (radii[i] > 0.0f ? radii[i] : 0.1) + margin;
            tpVec3 half = tpMakeVec3(reach[i], reach[i], reach[i]);
            yard.bounds[i] =
                (tpBounds){ tpSub(yard.centers[i], half), tpAdd(yard.centers[i], half) };
        }
        tpProxies proxies = proxiesOf(&yard);
        // Specks that may be anywhere in the same boxes.
        proxies.radii = specks;
        assert_true(update(&boxes, &proxies));
        proxies.radii = radii;
        assert_true(update(&balls, &proxies));
        for (int32_t a = 0; a < boxCount; ++a) {
            for (int32_t b = a + 1; b < boxCount; ++b) {
                bool isWanted = mayPair(NULL, a, b) && (yard.kinds[a] == tp_movableProxy ||
                                                        yard.kinds[b] == tp_movableProxy);
                tpVec3 way = tpSub(yard.centers[a], yard.centers[b]);
                bool areBalls = radii[a] > 0.0f && radii[b] > 0.0f;
                bool isNear = areBalls ? tpLength(way) <= reach[a] + reach[b]
                                       : tpBoundsOverlap(&yard.bounds[a], &yard.bounds[b]);
                if (isWanted && isNear) {
                    int place = tpPairs_Find(&balls.pairs, (tpShapePair){ a, b });
                    assert_true(place < balls.pairs.count);
                    assert_true(balls.pairs.data[place].shapeA == a &&
                                balls.pairs.data[place].shapeB == b);
                    ++near;
                }
            }
        }
        listed += balls.pairs.count;
        ofBoxes += boxes.pairs.count;
    }
    assert_true(near > 0 && listed < 0.9 * ofBoxes);
    tpDestroyFatPairs(&balls);
    tpDestroyFatPairs(&boxes);
}

// Small balls in a wide space, two by two askew, about as near as boxes can tell: rows, which see
// them in single precision, leave none out.
static void smallBallsAreNotMissed(void** state) {
    (void)state;
    enum { count = 2000 };
    static const double r = 0.0093;
    static tpBounds bounds[count];
    static uint8_t kinds[count];
    static float radii[count];
    memset(kinds, tp_movableProxy, sizeof(kinds));
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 31 };
    for (int i = 0; i < count; i += 2) {
        tpVec3 place = randomVec3(&random, -500.0, 500.0), half = { r, r, r };
        for (int k = 0; k < 2; ++k) {
            double way = k * 2.37421 * r * randomBetween(&random, 0.999, 1.001);
            tpVec3 center = tpAdd(place, tpMakeVec3(0.0, way, way));
            bounds[i + k] = (tpBounds){ tpSub(center, half), tpAdd(center, half) };
            radii[i + k] = (float)r;
        }
    }
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, false);
    tpProxies proxies = { bounds, kinds, count, mayPair, NULL, radii };
    assert_true(update(&fat, &proxies));
    assert_true(fat.usesRows);
    int near = 0;
    for (int32_t i = 0; i < count; i += 2) {
        bool isNear = !tpFatBallsApart(&fat.proxies.data[i].fat, &fat.proxies.data[i + 1].fat,
                                       2.0 * (float)r);
        int place = tpPairs_Find(&fat.pairs, (tpShapePair){ i, i + 1 });
        bool isListed = place < fat.pairs.count && fat.pairs.data[place].shapeA == i &&
                        fat.pairs.data[place].shapeB == i + 1;
        assert_int_equal(isListed, isNear);
        near += isNear ? 1 : 0;
    }
    assert_in_range(near, count / 8, 3 * count / 8);
    tpDestroyFatPairs(&fat);
}

// Boxes far apart, of which the first few leap to another place.
static void leap(tpBounds* bounds, int count, int moved, int round) {
    for (int i = 0; i < count; ++i) {
        double side = i < moved ? round % 2 : 0.0;
        tpVec3 center = tpMakeVec3(10.0 * i, 5.0 * side, 0.0), half = { 0.5, 0.5, 0.5 };
        bounds[i] = (tpBounds){ tpSub(center, half), tpAdd(center, half) };
    }
}

// Pairs are found by rows when more than .6 of the boxes have moved at once, but never those of 32
// boxes or fewer; then the tree waits until no more than .5 move. It is fitted or built anew when a
// quarter of more than 4096 have moved, or since it was built twice as many as there are; then it
// counts from the start.
static void treesAreBuiltAnew(void** state) {
    (void)state;
    enum { most = 5000 };
    static tpBounds bounds[most];
    static uint8_t kinds[most];
    memset(kinds, tp_movableProxy, sizeof(kinds));
    tpAllocator allocator = tpDefaultAllocator();
    const struct {
        int count, moved;
        int byRows[6];      // of each round
        int64_t changed[6]; // after it
    } cases[] = {
        { 100, 60, { 1, 1, 1, 1, 1, 1 }, { 0 } },
        { 100, 50, { 0 }, { 0, 50, 100, 150, 200, 0 } },
        { 100, 51, { 1, 1, 1, 1, 1, 1 }, { 0 } },
        { 20, 20, { 0 }, { 20, 40, 60, 80, 100, 120 } },
        { 34, 33, { 1, 1, 1, 1, 1, 1 }, { 0 } },
        { 33, 32, { 0 }, { 0, 32, 64, 96, 128, 160 } },
        { 4096, 1400, { 0 }, { 0, 1400, 2800, 4200, 5600, 7000 } },
        { most, 1250, { 0 }, { 0, 1250, 2500, 3750, 5000, 6250 } },
        { most, 1251, { 0 }, { 0, 0, 0, 0, 0, 0 } },
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
        tpFatPairs fat;
        tpCreateFatPairs(&fat, &allocator, true);
        tpProxies proxies = { bounds, kinds, cases[c].count, mayPair, NULL, NULL };
        leap(bounds, cases[c].count, 0, 0);
        assert_true(update(&fat, &proxies));
        assert_int_equal(fat.usesRows, cases[c].count > 32);
        int64_t start = cases[c].count > 32 ? 0 : cases[c].count;
        for (int round = 1; round <= 6; ++round) {
            leap(bounds, cases[c].count, cases[c].moved, round);
            assert_true(update(&fat, &proxies));
            assert_int_equal(fat.usesRows, cases[c].byRows[round - 1]);
            assert_int_equal(fat.isTreeOld, fat.usesRows);
            if (!fat.usesRows) {
                assert_int_equal(fat.changeCount - start, cases[c].changed[round - 1]);
            }
        }
        tpDestroyFatPairs(&fat);
    }
}

// More than half of the boxes move again and again: a tree that is in use is left for rows.
static void treesInUseWait(void** state) {
    (void)state;
    enum { count = 100 };
    static tpBounds bounds[count];
    static uint8_t kinds[count];
    memset(kinds, tp_movableProxy, sizeof(kinds));
    tpAllocator allocator = tpDefaultAllocator();
    const int moved[] = { 10, 60, 60, 61, 51, 50, 51, 61, 10 };
    const bool byRows[] = { false, false, false, true, true, false, false, true, false };
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    tpProxies proxies = { bounds, kinds, count, mayPair, NULL, NULL };
    leap(bounds, count, 0, 0);
    assert_true(update(&fat, &proxies));
    for (int k = 0; k < (int)(sizeof(moved) / sizeof(moved[0])); ++k) {
        for (int i = 0; i < moved[k]; ++i) {
            bounds[i].lower.y += 20.0;
            bounds[i].upper.y += 20.0;
        }
        assert_true(update(&fat, &proxies));
        assert_int_equal(fat.moved.count, moved[k]);
        assert_int_equal(fat.usesRows, byRows[k]);
    }
    tpDestroyFatPairs(&fat);
}

// Boxes that spread too far for single precision are found all the same, in the tree.
static void farBoxesAreFound(void** state) {
    (void)state;
    enum { count = 80 };
    static tpBounds bounds[count];
    static uint8_t kinds[count];
    memset(kinds, tp_movableProxy, sizeof(kinds));
    tpAllocator allocator = tpDefaultAllocator();
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    tpProxies proxies = { bounds, kinds, count, mayPair, NULL, NULL };
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < count; ++i) {
            tpVec3 at = { i == count - 1 ? 1e35 : 0.5 * i, 5.0 * round, 0.0 };
            bounds[i] = (tpBounds){ at, tpAdd(at, tpMakeVec3(1.0, 1.0, 1.0)) };
        }
        assert_true(update(&fat, &proxies));
        assert_true(fat.usesRows && !fat.isTreeOld);
        for (int32_t a = 0; a + 1 < count - 1; ++a) {
            int place = tpPairs_Find(&fat.pairs, (tpShapePair){ a, a + 1 });
            bool isListed = place < fat.pairs.count && fat.pairs.data[place].shapeA == a &&
                            fat.pairs.data[place].shapeB == a + 1;
            assert_int_equal(isListed, mayPair(NULL, a, a + 1));
        }
    }
    tpDestroyFatPairs(&fat);
}

// A link leaves its box after twice as much motion as a body without joints, and pairs with both
// kinds; one that joints let go has the smaller box from then on.
static void linksHaveLargerBoxes(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, false);
    fat.sizeMargin = 0.01;
    fat.motionMargin = 0.0;
    tpBounds bounds[4];
    uint8_t kinds[4] = { tp_movableProxy, tp_linkedProxy, tp_linkedProxy, tp_fixedProxy };
    tpProxies proxies = { bounds, kinds, 4, NULL, NULL, NULL };
    // Sides of 1 m: margins of 3 and 6 cm.
    const double ways[5] = { 0.0, 0.02, 0.04, 0.05, 0.08 };
    const bool leaves[5][2] = {
        { true, true }, { false, false }, { true, false }, { false, false }, { true, true }
    };
    for (int k = 0; k < 5; ++k) {
        for (int i = 0; i < 4; ++i) {
            bounds[i] =
                tpBoundsAbout(tpMakeVec3(0.8 * i + ways[k], 0.0, 0.0), tpMakeVec3(0.5, 0.5, 0.5));
        }
        assert_true(update(&fat, &proxies));
        assert_int_equal(fat.pairs.count, 3);
        assert_int_equal(fat.hasChanged && fat.hasMoved.data[0], leaves[k][0]);
        assert_int_equal(fat.hasChanged && fat.hasMoved.data[1], leaves[k][1]);
    }
    tpVec3 side = tpSub(fat.proxies.data[1].fat.upper, fat.proxies.data[1].fat.lower);
    CHECK_NEAR(side.x, 1.12, 1e-9);
    kinds[1] = tp_movableProxy;
    assert_true(update(&fat, &proxies));
    side = tpSub(fat.proxies.data[1].fat.upper, fat.proxies.data[1].fat.lower);
    CHECK_NEAR(side.x, 1.06, 1e-9);
    tpDestroyFatPairs(&fat);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairsAreHandedOn),      cmocka_unit_test(crowdsFallTogether),
        cmocka_unit_test(manyLeapAtOnce),        cmocka_unit_test(restoredListsGoOn),
        cmocka_unit_test(ballsInBoxesStayApart), cmocka_unit_test(ballsAreNotMissed),
        cmocka_unit_test(treesAreBuiltAnew),     cmocka_unit_test(treesInUseWait),
        cmocka_unit_test(farBoxesAreFound),      cmocka_unit_test(smallBallsAreNotMissed),
        cmocka_unit_test(linksHaveLargerBoxes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tpArena_Destroy(&arena);
    return failed;
}
