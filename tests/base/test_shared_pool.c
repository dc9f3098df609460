// Equal records have one place, others have their own, whatever comes and goes.

#include <string.h>

#include "base/shared_pool.h"
#include "support/check.h"
#include "support/failing_allocator.h"

typedef struct Record {
    int32_t number;
    char tail[9]; // not a whole number of words
} Record;

static Record recordOf(int number) {
    Record record;
    memset(&record, 0, sizeof(record));
    record.number = number / 3;
    record.tail[8] = (char)(number % 3);
    return record;
}

enum { kinds = 300, turns = 6000 };

// Random draws of what is taken and given back, beside a plain count of users.
static void equalOnesShare(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpSharedPool pool;
    tpCreateSharedPool(&pool, &allocator, sizeof(Record));
    const Record* places[kinds] = { NULL };
    int users[kinds] = { 0 }, live = 0;
    uint32_t draw = 7;
    for (int t = 0; t < turns; ++t) {
        draw = draw * 1664525u + 1013904223u;
        int kind = (int)(draw >> 10) % kinds;
        if ((draw >> 30) != 0 && t < turns / 2) {
            Record record = recordOf(kind);
            const Record* place = tpSharedPool_Take(&pool, &record);
            assert_true(place != NULL && (users[kind] == 0 || place == places[kind]));
            live += users[kind]++ == 0 ? 1 : 0;
            places[kind] = place;
        } else if (users[kind] > 0) {
            tpSharedPool_GiveBack(&pool, places[kind]);
            live -= --users[kind] == 0 ? 1 : 0;
        }
        assert_int_equal(pool.count, live);
    }
    for (int i = 0; i < kinds; ++i) {
        Record record = recordOf(i);
        assert_true(users[i] == 0 || memcmp(places[i], &record, sizeof(record)) == 0);
        for (int k = 0; k < i && users[i] > 0; ++k) {
            assert_true(users[k] == 0 || places[k] != places[i]);
        }
    }
    assert_true(live > 0 && pool.entryCount <= kinds);
    tpDestroySharedPool(&pool);
}

// Whichever request for memory fails, nothing is lost and what was taken stays.
static void survivesFailures(void** state) {
    (void)state;
    for (int n = 1;; ++n) {
        tpFailingAllocator heap = { .failAt = n };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpSharedPool pool;
        tpCreateSharedPool(&pool, &allocator, sizeof(Record));
        int refused = 0;
        for (int i = 0; i < 100; ++i) {
            Record record = recordOf(i);
            refused += tpSharedPool_Take(&pool, &record) == NULL ? 1 : 0;
        }
        assert_int_equal(pool.count, 100 - refused);
        assert_int_equal(refused, heap.requests >= n ? 1 : 0);
        tpDestroySharedPool(&pool);
        assert_int_equal(heap.outstanding, 0);
        if (heap.requests < n) {
            break;
        }
    }
}

// A record that is given back leaves its place to the next one.
static void placesAreUsedAgain(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpSharedPool pool;
    tpCreateSharedPool(&pool, &allocator, sizeof(Record));
    for (int i = 0; i < 1000; ++i) {
        Record record = recordOf(i);
        const void* place = tpSharedPool_Take(&pool, &record);
        assert_memory_equal(place, &record, sizeof(record));
        tpSharedPool_GiveBack(&pool, place);
    }
    assert_int_equal(pool.entryCount, 1);
    tpDestroySharedPool(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equalOnesShare),
        cmocka_unit_test(survivesFailures),
        cmocka_unit_test(placesAreUsedAgain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
