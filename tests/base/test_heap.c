// The heap of events against a plain list, through random insertions, changes and removals.

#include "base/heap.h"
#include "support/check.h"

enum { idCount = 200, operationCount = 20000 };

static void theLeastComesFirst(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpHeap heap = { 0 };
    assert_true(tpHeap_Reserve(&heap, &allocator, idCount));
    double keys[idCount];
    bool isIn[idCount] = { false };
    tpRandom random = { 5 };
    for (int k = 0; k < operationCount; ++k) {
        int id = (int)(randomBetween(&random, 0.0, 1.0) * idCount);
        if (randomBetween(&random, 0.0, 1.0) < 0.3) {
            tpHeap_Remove(&heap, id);
            isIn[id] = false;
        } else {
            // Few different keys, so that many are equal.
            keys[id] = floor(randomBetween(&random, 0.0, 40.0));
            tpHeap_Set(&heap, id, keys[id]);
            isIn[id] = true;
        }
        int best = -1;
        for (int i = 0; i < idCount; ++i) {
            assert_true(tpHeap_Has(&heap, i) == isIn[i]);
            if (isIn[i] && (best < 0 || keys[i] < keys[best])) {
                best = i;
            }
        }
        int32_t top;
        double key;
        assert_true(tpHeap_Top(&heap, &top, &key) == (best >= 0));
        if (best >= 0) {
            assert_int_equal(top, best);
            assert_true(key == keys[best]);
        }
    }
    assert_true(heap.operationCount > operationCount / 2);
    tpHeap_Clear(&heap);
    int32_t top;
    double key;
    assert_false(tpHeap_Top(&heap, &top, &key));
    tpHeap_Destroy(&heap, &allocator);
}

static void outOrderIsSorted(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpHeap heap = { 0 };
    assert_true(tpHeap_Reserve(&heap, &allocator, 1000));
    tpRandom random = { 9 };
    for (int i = 0; i < 1000; ++i) {
        tpHeap_Set(&heap, i, floor(randomBetween(&random, 0.0, 300.0)));
    }
    double last = -1.0;
    int lastId = -1, count = 0;
    int32_t id;
    double key;
    while (tpHeap_Top(&heap, &id, &key)) {
        assert_true(key > last || (key == last && id > lastId));
        last = key;
        lastId = id;
        tpHeap_Remove(&heap, id);
        ++count;
    }
    assert_int_equal(count, 1000);
    tpHeap_Destroy(&heap, &allocator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theLeastComesFirst),
        cmocka_unit_test(outOrderIsSorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
