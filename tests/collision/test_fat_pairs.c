// Pairs of fat boxes: none is missed, what is known about a pair is handed on, and a restored list
// goes on the same way.

#include "collision/fat_pairs.h"

#include <string.h>

#include "geometry/shape.h"
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
    return (tpProxies){ yard->bounds, yard->kinds, boxCount, mayPair, NULL };
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
        yard->kinds[i] = i % 10 == 0 ? tp_fixedProxy : tp_movableProxy;
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
                (proxies->kinds[a] == tp_movableProxy || proxies->kinds[b] == tp_movableProxy);
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

// Shapes that fall together leave their boxes at once: the tree is fitted, all pairs are looked up,
// and none is missed or listed twice. Once they fly apart the tree is built anew.
static void crowdsFallTogether(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 17 };
    static Yard yard;
    static tpShapePair before[boxCount * boxCount];
    startYard(&yard, &random);
    tpFatPairs fat;
    tpCreateFatPairs(&fat, &allocator, true);
    int fitted = 0, built = 0;
    for (int k = 0; k < 80; ++k) {
        int count = fat.pairs.count;
        double area = fat.tree.builtArea;
        if (count > 0) {
            memcpy(before, fat.pairs.data, sizeof(tpShapePair) * (size_t)count);
        }
        tpProxies proxies = proxiesOf(&yard);
        assert_true(update(&fat, &proxies));
        checkPairs(&fat, &proxies);
        checkOrigins(&fat, before, count);
        fitted += k > 0 && fat.isWhole && fat.tree.builtArea == area ? 1 : 0;
        built += k > 0 && fat.tree.builtArea != area ? 1 : 0;
        for (int i = 0; i < boxCount; ++i) {
            tpVec3 apart = tpScale(k < 40 ? 0.0 : 3.0, yard.velocities[i]);
            yard.centers[i] = tpAdd(yard.centers[i], tpAdd(tpMakeVec3(0.0, 0.0, -0.1), apart));
        }
        placeBoxes(&yard);
    }
    print_message("fitted %d times, built %d times\n", fitted, built);
    assert_true(fitted > 5 && built > 0);
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
        tpProxies proxies = { bounds, kinds, count, mayPair, NULL };
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairsAreHandedOn),
        cmocka_unit_test(crowdsFallTogether),
        cmocka_unit_test(manyLeapAtOnce),
        cmocka_unit_test(restoredListsGoOn),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tpArena_Destroy(&arena);
    return failed;
}
