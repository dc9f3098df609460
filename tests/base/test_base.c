// Memory, ids, and names that are near.

#include <string.h>

#include "base/error.h"
#include "base/id_pool.h"
#include "support/check.h"
#include "support/failing_allocator.h"

// Of the address sanitizer; without it there are no guards to look at.
extern int __asan_address_is_poisoned(void const volatile* address) __attribute__((weak));

static void assertClosed(const unsigned char* begin, size_t size, bool isClosed) {
    for (size_t i = 0; i < size; ++i) {
        assert_int_equal(__asan_address_is_poisoned(begin + i) != 0, isClosed);
    }
}

// A piece of scratch can be touched from its first byte to its last, while it is handed out.
static void arenaGuardsItsPieces(void** state) {
    (void)state;
    if (__asan_address_is_poisoned == NULL) {
        skip();
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    tpArenaMark mark = { 0 };
    unsigned char* pieces[3];
    static const size_t sizes[3] = { 64, 1000, 24 };
    for (int i = 0; i < 3; ++i) {
        mark = tpArena_Mark(&arena);
        pieces[i] = tpArena_Get(&arena, sizes[i]);
    }
    for (int i = 0; i < 3; ++i) {
        assertClosed(pieces[i], sizes[i], false);
        assertClosed(pieces[i] + sizes[i], 16, true);
        assert_int_equal(pieces[i][sizes[i] - 1], 0xff);
    }
    tpArena_Release(&arena, mark);
    assertClosed(pieces[1], sizes[1], false);
    assertClosed(pieces[2], sizes[2], true);
    tpArena_Reset(&arena);
    assertClosed(pieces[0], sizes[0], true);
    tpArena_Destroy(&arena);
}

static void arenaWarmsUp(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    long long warm = 0;
    for (int round = 0; round < 10; ++round) {
        tpArena_Reset(&arena);
        for (int i = 0; i < 200; ++i) {
            unsigned char* memory = tpArena_Get(&arena, (size_t)(997 * i));
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % 64, 0);
            memset(memory, round, (size_t)(997 * i));
        }
        if (round == 2) {
            warm = heap.requests;
        }
    }
    assert_int_equal(heap.requests, warm); // nothing is allocated once warm
    tpArena_Destroy(&arena);
    assert_int_equal(heap.outstanding, 0);
}

// If the newest block holds all that a round has needed the next round has it, without a request:
// its pages have been touched.
static void arenaKeepsWhatIsLargeEnough(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    for (int round = 0; round < 3; ++round) {
        tpArena_Reset(&arena);
        memset(tpArena_Get(&arena, 1000), 1, 1000);
        memset(tpArena_Get(&arena, 100000), 2, 100000); // a second block, twice the first
    }
    assert_int_equal(heap.requests, 2);
    tpArena_Destroy(&arena);
    assert_int_equal(heap.outstanding, 0);
}

static void arenaReleasesToMarks(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    int* kept = TP_SCRATCH(&arena, int, 100);
    for (int i = 0; i < 100; ++i) {
        kept[i] = i;
    }
    tpArenaMark mark = tpArena_Mark(&arena);
    void* first = tpArena_Get(&arena, 1000);
    memset(first, 0xff, 1000);
    tpArena_Release(&arena, mark);
    assert_ptr_equal(tpArena_Get(&arena, 1000), first); // used again
    for (int round = 0; round < 100; ++round) {
        mark = tpArena_Mark(&arena);
        memset(tpArena_Get(&arena, 300000), 0xff, 300000); // more than a block
        tpArena_Release(&arena, mark);
    }
    for (int i = 0; i < 100; ++i) {
        assert_int_equal(kept[i], i);
    }
    tpArena_Destroy(&arena);
}

// However many blocks a round has added, the next ones do with the largest of them.
static void arenaDoesNotGrowBetweenMarks(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    memset(tpArena_Get(&arena, 1000), 1, 1000);
    tpArenaMark mark = tpArena_Mark(&arena);
    long long requests = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 50; ++i) {
            unsigned char* memory = tpArena_Get(&arena, 100000);
            memset(memory, round, 100000);
        }
        tpArena_Release(&arena, mark);
        // The largest of the first round's blocks holds at least half: one more may be needed,
        // once.
        requests = round == 1 ? heap.requests : requests;
    }
    assert_int_equal(heap.requests, requests);
    tpArena_Destroy(&arena);
}

// An arena that is prepared bit by bit asks a few times, hands out what it has, and asks no more;
// one that is in use, or whose memory ran out, is left as it is.
static void arenaIsPrepared(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    enum { pieces = 100, piece = 8192 };
    for (int i = 1; i <= pieces; ++i) {
        tpArena_Prepare(&arena, (size_t)i * piece);
        assert_true(arena.touched >= (size_t)i * piece && arena.touched < (size_t)(i + 1) * piece);
        assert_int_equal(arena.used, 0);
    }
    assert_in_range(heap.requests, 2, 10);
    assert_int_equal(heap.outstanding, 1);
    long long requests = heap.requests;
    unsigned char* first = NULL;
    for (int round = 0; round < 3; ++round) {
        tpArena_Reset(&arena);
        for (int i = 0; i < 3 * pieces / 2; ++i) {
            unsigned char* memory = tpArena_Get(&arena, piece - 64);
            memset(memory, round, piece - 64);
            first = round == 0 && i == 0 ? memory : first;
            assert_true(i > 0 || memory == first);
            assert_true(i % 50 != 0 || memory[0] == round);
            tpArena_Prepare(&arena, (size_t)1000 * piece);
        }
    }
    assert_int_equal(heap.requests, requests);
    tpArena_Reset(&arena);
    heap.failAt = heap.requests + 1;
    tpArena_Prepare(&arena, (size_t)1000 * piece);
    assert_false(arena.failed);
    assert_non_null(tpArena_Get(&arena, 100));
    tpArena_Destroy(&arena);
    assert_int_equal(heap.outstanding, 0);
}

static void arenaSaysWhenItFails(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    heap.failAt = 1;
    heap.failAllAfter = true;
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    assert_null(tpArena_Get(&arena, 10));
    assert_true(arena.failed);
    assert_null(tpArena_Get(&arena, SIZE_MAX - 5));
    tpArena_Destroy(&arena);
}

static void arraysGrowOrStay(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    TP_ARRAY(double) list = { NULL, 0, 0 };
    for (int i = 0; i < 100; ++i) {
        assert_true(TP_PUSH(&allocator, list, (double)i));
    }
    heap.failAt = heap.requests + 1;
    heap.failAllAfter = true;
    int pushed = 0;
    while (TP_PUSH(&allocator, list, 7.0)) {
        ++pushed;
    }
    assert_int_equal(list.count, 100 + pushed);
    assert_true(list.data[99] == 99.0);
    assert_false(TP_RESERVE(&allocator, list, 1 << 30));
    TP_FREE_ARRAY(&allocator, list);
    assert_int_equal(heap.outstanding, 0);
    assert_int_equal(heap.bytes, 0);
}

// What is not to be kept is given back before more is asked for.
static void arraysArePrepared(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    TP_ARRAY(int) list = { NULL, 0, 0 };
    for (int i = 0; i < 5000; ++i) {
        assert_true(TP_PUSH(&allocator, list, 7 * i + 1));
    }
    // Elements that are there stay, wherever room begins to be asked for.
    assert_true(TP_PREPARE(&allocator, list, 1000, 20000));
    assert_true(list.capacity >= 20000);
    assert_true(TP_PREPARE(&allocator, list, 0, 4000));
    heap.failAt = heap.requests + 1;
    assert_false(TP_PREPARE(&allocator, list, 0, 1000000));
    assert_int_equal(list.count, 5000);
    for (int i = 0; i < 5000; ++i) {
        assert_int_equal(list.data[i], 7 * i + 1);
    }
    TP_FREE_ARRAY(&allocator, list);
    assert_int_equal(heap.outstanding, 0);
}

static void arraysAreRenewed(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    TP_ARRAY(double) list = { NULL, 0, 0 };
    assert_true(TP_RENEW(&allocator, list, 100));
    assert_true(list.capacity >= 100 && list.capacity < 120);
    double* before = list.data;
    assert_true(TP_RENEW(&allocator, list, 50));
    assert_ptr_equal(list.data, before);
    assert_true(TP_RENEW(&allocator, list, 1000));
    assert_int_equal(heap.outstanding, 1);
    heap.failAt = heap.requests + 1;
    assert_false(TP_RENEW(&allocator, list, 100000));
    assert_null(list.data);
    assert_int_equal(list.capacity, 0);
    assert_int_equal(heap.bytes, 0);
}

// Blocks of 128 kB and more come from elsewhere than smaller ones, those of 8 MB and more in large
// pages: all are aligned, whole, and grow into each other.
static void largeBlocksAreWhole(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    const size_t edges[] = { (size_t)1 << 17, (size_t)1 << 23, (size_t)5 << 21 };
    for (int e = 0; e < 3; ++e) {
        for (size_t size = edges[e] - 1; size <= edges[e] + 1; ++size) {
            unsigned char* block = tpAllocate(&allocator, size);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 64, 0);
            memset(block, 7, size);
            assert_true(block[0] == 7 && block[size - 1] == 7);
            tpRelease(&allocator, block, size);
        }
    }
    TP_ARRAY(int) list = { NULL, 0, 0 };
    bool areKept = true;
    for (int i = 0; i < 5000000; ++i) {
        areKept = TP_PUSH(&allocator, list, i) && areKept;
    }
    for (int i = 0; i < list.count; ++i) {
        areKept = areKept && list.data[i] == i;
    }
    assert_true(areKept && list.count == 5000000);
    TP_FREE_ARRAY(&allocator, list);
}

static void idsAreNeverMistaken(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpIdPool pool = { 0 };
    int a = tpIdPool_Take(&pool, &allocator);
    uint32_t generation = pool.generations.data[a];
    assert_int_equal(tpIdPool_Find(&pool, (uint32_t)a + 1, generation), a);
    tpIdPool_GiveBack(&pool, a);
    assert_int_equal(tpIdPool_Find(&pool, (uint32_t)a + 1, generation), -1);
    assert_int_equal(tpIdPool_Find(&pool, (uint32_t)a + 1, generation + 1), -1);
    assert_int_equal(tpIdPool_Take(&pool, &allocator), a);
    assert_int_equal(tpIdPool_Find(&pool, (uint32_t)a + 1, generation), -1);
    assert_int_equal(tpIdPool_Find(&pool, 0, 0), -1);
    assert_int_equal(tpIdPool_Find(&pool, 1000, 1), -1);
    assert_int_equal(pool.liveCount, 1);
    tpIdPool_Destroy(&pool, &allocator);
}

static void nearNamesAreFound(void** state) {
    (void)state;
    const char* const known[] = { "friction", "restitution", "position", "rotation", "velocity" };
    assert_string_equal(tpNearestName("fricton", known, 5), "friction");
    assert_string_equal(tpNearestName("restituion", known, 5), "restitution");
    assert_string_equal(tpNearestName("positoin", known, 5), "position");
    assert_string_equal(tpNearestName("velo", known, 5), "velocity");
    assert_null(tpNearestName("banana", known, 5));
    assert_null(tpNearestName("", known, 5));
}

static void messagesAreCutNotOverrun(void** state) {
    (void)state;
    tpError error;
    char longText[5000];
    memset(longText, 'x', sizeof(longText) - 1);
    longText[sizeof(longText) - 1] = '\0';
    assert_int_equal(tpError_Set(&error, tp_badInput, "%s", longText), tp_badInput);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
    assert_int_equal(tpError_Set(NULL, tp_ioError, "nobody listens"), tp_ioError);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenaGuardsItsPieces),
        cmocka_unit_test(arenaWarmsUp),
        cmocka_unit_test(arenaKeepsWhatIsLargeEnough),
        cmocka_unit_test(arenaReleasesToMarks),
        cmocka_unit_test(arenaIsPrepared),
        cmocka_unit_test(arenaDoesNotGrowBetweenMarks),
        cmocka_unit_test(arenaSaysWhenItFails),
        cmocka_unit_test(arraysGrowOrStay),
        cmocka_unit_test(arraysArePrepared),
        cmocka_unit_test(arraysAreRenewed),
        cmocka_unit_test(largeBlocksAreWhole),
        cmocka_unit_test(idsAreNeverMistaken),
        cmocka_unit_test(nearNamesAreFound),
        cmocka_unit_test(messagesAreCutNotOverrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
