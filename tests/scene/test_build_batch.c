// Worlds of a scene as a batch: as many as asked for, each as the scene alone.

#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

static const char text[] =
    "{ \"tippe\": 1, \"materials\": { \"wood\": { \"friction\": 0.4 } }, \"bodies\": ["
    "{ \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"wood\","
    " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    "{ \"name\": \"box\", \"density\": 500, \"material\": \"wood\", \"position\": [0, 0, 0.3],"
    " \"velocity\": [1, 0, 0], \"shapes\": [ { \"type\": \"box\", \"size\": [0.2, 0.2, 0.2] } ] } "
    "],"
    "\"simulation\": { \"step\": 0.01, \"until\": 1 } }";

static void worldsAreThoseOfTheScene(void** state) {
    (void)state;
    tpScene* scene;
    tpError error = { tp_success, "" };
    if (tpParseScene(text, strlen(text), "drop.json", NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpBatch* batch;
    assert_int_equal(tpScene_CreateBatch(scene, NULL, 5, 2, &batch, &error), tp_success);
    tpWorld* alone;
    assert_int_equal(tpScene_CreateWorld(scene, NULL, 1, &alone, &error), tp_success);
    tpBatch_Step(batch, 0.01, 40, NULL);
    for (int k = 0; k < 40; ++k) {
        tpWorld_Step(alone, 0.01);
    }
    for (int i = 0; i < 5; ++i) {
        assert_true(tpWorld_HashState(tpBatch_GetWorld(batch, i)) == tpWorld_HashState(alone));
    }
    tpDestroyWorld(alone);
    tpDestroyBatch(batch);
    assert_int_equal(tpScene_CreateBatch(scene, NULL, 0, 2, &batch, &error), tp_badInput);
    assert_non_null(strstr(error.message, "worldCount"));
    assert_null(batch);
    assert_int_equal(tpScene_CreateBatch(scene, NULL, 1, 0, &batch, &error), tp_badInput);
    assert_non_null(strstr(error.message, "threadCount"));
    tpDestroyScene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worldsAreThoseOfTheScene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
