// A build without HDF5 records in memory, and says what it lacks where a file is asked for.

#include <string.h>

#include "falling_world.h"
#include "problems/problem_reader.h"

static void testMemoryWorks(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpRecorderDef def = tpDefaultRecorderDef();
    def.step = fallingStep;
    tpError error = { .result = tp_success };
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(recorder);
    for (int k = 0; k < 10; ++k) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        assert_int_equal(tpRecorder_Step(recorder, world, &report, &error), tp_success);
    }
    assert_string_equal(tpRecorder_GetColumn(recorder, 0).path, "/states");
    assert_int_equal(tpRecorder_GetColumn(recorder, 0).rowCount, 11);
    double states[11 * 3 * tp_stateWidth];
    tpRecorder_CopyColumn(recorder, 0, states);
    tpBodyId top = tpWorld_FindBody(world, "top");
    assert_true(states[10 * 3 * tp_stateWidth + 2] == tpBody_GetPosition(world, top).z);
    assert_int_equal(tpRecorder_Save(recorder, "/tmp/never.h5", NULL, &error), tp_unsupported);
    assert_non_null(strstr(error.message, "/tmp/never.h5: this build of Tippe has no HDF5"));
    tpCloseRecorder(recorder, NULL, NULL);
    tpDestroyWorld(world);
}

static void testFilesAreRefused(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = "/tmp/never.h5";
    def.step = fallingStep;
    tpError error = { .result = tp_success };
    assert_null(tpCreateRecorder(&def, world, &error));
    assert_int_equal(error.result, tp_unsupported);
    assert_null(tpOpenRecording("/tmp/never.h5", NULL, &error));
    assert_int_equal(error.result, tp_unsupported);
    bool repaired = true;
    assert_int_equal(tpRepairRecording("/tmp/never.h5", &repaired, &error), tp_unsupported);
    assert_false(repaired);
    assert_int_equal(tpReadFclib("fclib.hdf5", tp_anyProblem, NULL, &error), tp_unsupported);
    assert_non_null(strstr(error.message, "fclib.hdf5"));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testMemoryWorks),
        cmocka_unit_test(testFilesAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
