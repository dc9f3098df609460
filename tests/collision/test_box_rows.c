// Rows of boxes: every pair that overlaps is met, once, and hardly any other.

#include "collision/box_rows.h"

#include <string.h>

#include "collision/fat_balls.h"
#include "geometry/shape.h"
#include "support/check.h"

enum { most = 3000 };

typedef struct Crowd {
    tpBounds bounds[most];
    int32_t numbers[most];
    float radii[most];
    int count;
} Crowd;

static Crowd crowd;
static uint8_t met[most][most];

typedef struct Meeting {
    int pairs, apart; // met, and no pairs in truth
} Meeting;

// Whether two boxes overlap, and are not those of balls that cannot touch in them.
static bool arePair(int32_t a, int32_t b) {
    const tpBounds *boxA = &crowd.bounds[a], *boxB = &crowd.bounds[b];
    double reach = (double)crowd.radii[a] + crowd.radii[b];
    bool areBalls = crowd.radii[a] > 0.0f && crowd.radii[b] > 0.0f;
    return tpBoundsOverlap(boxA, boxB) && !(areBalls && tpFatBallsApart(boxA, boxB, reach));
}

static bool meet(void* context, const tpRowBox* a, const tpRowBox* b) {
    Meeting* meeting = context;
    int32_t low = a->number < b->number ? a->number : b->number;
    int32_t high = a->number < b->number ? b->number : a->number;
    assert_true(low < high && high < most);
    met[low][high] += 1;
    meeting->pairs += 1;
    meeting->apart += arePair(low, high) ? 0 : 1;
    assert_true(a->radius == crowd.radii[a->number] && b->radius == crowd.radii[b->number]);
    return true;
}

// Sorts, visits in pieces of any size, and compares with a scan. Returns the pairs.
static int checkCrowd(int step, tpTasks* tasks) {
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    tpBoxRows rows;
    tpRowInput input = {
        { crowd.bounds, sizeof(tpBounds) }, crowd.radii, crowd.numbers, crowd.count
    };
    assert_true(tpBoxRows_Sort(&rows, &input, tasks, &arena));
    assert_int_equal(rows.count, crowd.count);
    memset(met, 0, sizeof(met));
    Meeting meeting = { 0, 0 };
    for (int begin = 0; begin < crowd.count; begin += step) {
        int end = begin + step < crowd.count ? begin + step : crowd.count;
        tpBoxRows_Visit(&rows, begin, end, meet, &meeting);
    }
    int overlaps = 0;
    double spread = 0.0;
    for (int i = 0; i < crowd.count; ++i) {
        const tpBounds* box = &crowd.bounds[crowd.numbers[i]];
        spread = fmax(spread, tpMaxPart(tpAbsVec3(tpSub(box->lower, crowd.bounds[0].lower))));
        for (int k = i + 1; k < crowd.count; ++k) {
            int32_t a = crowd.numbers[i], b = crowd.numbers[k];
            bool isPair = arePair(a, b);
            assert_true(isPair ? met[a][b] == 1 : met[a][b] <= 1);
            overlaps += isPair ? 1 : 0;
        }
    }
    assert_int_equal(meeting.pairs - meeting.apart, overlaps);
    // Single precision sees a ten-millionth of the spread.
    assert_true(spread > 1e4 || meeting.apart <= 5 + overlaps / 50);
    tpArena_Destroy(&arena);
    return overlaps;
}

static void useAll(int count) {
    crowd.count = count;
    for (int i = 0; i < count; ++i) {
        crowd.numbers[i] = i;
        crowd.radii[i] = 0.0f;
    }
}

static void putBox(int i, tpVec3 lower, tpVec3 sides) {
    crowd.bounds[i] = (tpBounds){ lower, tpAdd(lower, sides) };
}

// Of any size and place: sizes over `octaves` octaves.
static void scatter(tpRandom* random, int count, tpVec3 room, double octaves) {
    useAll(count);
    for (int i = 0; i < count; ++i) {
        double size = exp2(-randomBetween(random, 0.0, octaves));
        tpVec3 place = tpMakeVec3(room.x * randomBetween(random, -1.0, 1.0),
                                  room.y * randomBetween(random, -1.0, 1.0),
                                  room.z * randomBetween(random, -1.0, 1.0));
        tpVec3 sides = tpScale(size, randomVec3(random, 0.3, 1.0));
        putBox(i, place, sides);
        // Two of three are balls that nearly fill their boxes.
        double least = fmin(sides.x, fmin(sides.y, sides.z));
        crowd.radii[i] = i % 3 == 0 ? 0.0f : (float)(0.45 * least);
    }
}

static void testCrowds(void** state) {
    (void)state;
    tpRandom random = { 4711 };
    const tpVec3 rooms[] = { { 4.0, 4.0, 4.0 },   { 20.0, 20.0, 0.0 }, { 200.0, 0.0, 0.0 },
                             { 0.0, 200.0, 0.0 }, { 0.0, 0.1, 300.0 }, { 0.0, 0.0, 0.0 } };
    for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); ++r) {
        int pairs = 0;
        for (int octaves = 0; octaves <= 20; octaves += 5) {
            scatter(&random, r == 5 ? 60 : 900, rooms[r], octaves);
            pairs += checkCrowd(r % 2 == 0 ? most : 37, NULL);
        }
        assert_true(pairs > 200);
    }
}

// A large crowd, by threads and without, in which some numbers are left out.
static void testThreads(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 99 };
    tpTasks* tasks;
    assert_int_equal(tpCreateTasks(&allocator, 3, &tasks), tp_success);
    scatter(&random, most, tpMakeVec3(6.0, 6.0, 6.0), 1.0);
    crowd.count = 0;
    for (int32_t i = 0; i < most; ++i) {
        crowd.numbers[crowd.count] = i;
        crowd.count += i % 11 != 3 ? 1 : 0;
    }
    int alone = checkCrowd(500, NULL);
    assert_true(alone > 1000);
    assert_int_equal(checkCrowd(100, tasks), alone);
    tpDestroyTasks(tasks);
}

// Boxes of one size side by side, whose faces touch: each has 26 neighbours, far from the origin as
// well.
static void testTouching(void** state) {
    (void)state;
    enum { side = 12 };
    for (int far = 0; far < 2; ++far) {
        useAll(side * side * side);
        for (int i = 0; i < crowd.count; ++i) {
            tpVec3 place = tpMakeVec3(i % side, i / side % side, i / (side * side));
            putBox(i, tpAdd(place, tpMakeVec3(far * 1e6, 0.0, -far * 1e5)),
                   tpMakeVec3(1.0, 1.0, 1.0));
        }
        int across = side * (side - 1), corners = (side - 1) * (side - 1);
        int expected = 3 * across * side + 6 * corners * side + 4 * corners * (side - 1);
        assert_int_equal(checkCrowd(64, NULL), expected);
    }
}

// One box that holds all others, one far away, and points.
static void testExtremes(void** state) {
    (void)state;
    tpRandom random = { 12 };
    scatter(&random, 500, tpMakeVec3(5.0, 5.0, 5.0), 2.0);
    int pairs = checkCrowd(most, NULL);
    putBox(250, tpMakeVec3(-1e4, -1e4, -1e4), tpMakeVec3(2e4, 2e4, 2e4));
    assert_true(checkCrowd(most, NULL) >= pairs + 400);
    putBox(17, tpMakeVec3(3e5, 0.0, 0.0), tpMakeVec3(1.0, 1.0, 1.0));
    checkCrowd(100, NULL);
    useAll(40);
    for (int i = 0; i < crowd.count; ++i) {
        putBox(i, tpMakeVec3(i / 2, 0.0, 0.0), tpZeroVec3());
    }
    assert_int_equal(checkCrowd(most, NULL), 20);
    useAll(1);
    assert_int_equal(checkCrowd(most, NULL), 0);
    useAll(0);
    assert_int_equal(checkCrowd(most, NULL), 0);
}

// Boxes that spread beyond single precision are refused.
static void testRefusals(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    useAll(2);
    putBox(0, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0));
    putBox(1, tpMakeVec3(0.0, 1e31, 0.0), tpMakeVec3(1.0, 1.0, 1.0));
    tpBoxRows rows;
    tpRowInput input = { { crowd.bounds, sizeof(tpBounds) }, NULL, crowd.numbers, 2 };
    assert_false(tpBoxRows_Sort(&rows, &input, NULL, &arena));
    assert_false(arena.failed);
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testCrowds),   cmocka_unit_test(testThreads),
        cmocka_unit_test(testTouching), cmocka_unit_test(testExtremes),
        cmocka_unit_test(testRefusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
