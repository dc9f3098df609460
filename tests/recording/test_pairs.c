// What pairs of bodies did to each other: impulses that close the balance of momentum, whatever
// part of the steps is recorded, in the recording and in its table.

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forged.h"
#include "tippe/recording.h"

static const double mass = 2.0, gravity = 9.81, step = 1.0 / 128.0;

// A box that is thrown onto a floor, slides and comes to rest, and a ball that falls on it.
static tpWorld* makeWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_stewartTrinkle;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    assert_non_null(world);
    tpMaterialDef rough = tpDefaultMaterialDef();
    rough.friction.dynamicCoefficient = rough.friction.staticCoefficient = 0.4;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &rough, NULL);
    const char* names[] = { "floor", "box", "ball" };
    for (int i = 0; i < 3; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.name = names[i];
        body.kind = i == 0 ? tp_fixedBody : tp_dynamicBody;
        body.position = tpMakeVec3(0.0, 0.0, i == 0 ? 0.0 : i == 1 ? 0.6 : 1.5);
        body.velocity = tpMakeVec3(i == 1 ? 0.7 : 0.0, 0.0, 0.0);
        body.hasMass = i > 0;
        body.mass.mass = mass;
        body.mass.inertia = tpDiagonal(tpMakeVec3(0.3, 0.3, 0.3));
        tpBodyId id = tpCreateBody(world, &body, NULL);
        if (i == 0) {
            tpCreatePlane(world, id, &shape, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
        } else if (i == 1) {
            tpCreateBox(world, id, &shape, &(tpBox){ .size = { 1.0, 1.0, 1.0 } }, NULL);
        } else {
            tpCreateSphere(world, id, &shape, &(tpSphere){ .radius = 0.2 }, NULL);
        }
    }
    return world;
}

static tpRecording* record(const char* path, int every, int steps) {
    tpError error = { .result = tp_success };
    tpWorld* world = makeWorld();
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = path;
    def.step = step;
    def.every = every;
    def.background = false;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(recorder);
    for (int i = 0; i < steps; ++i) {
        tpStepReport report = tpWorld_Step(world, step);
        assert_int_equal(tpRecorder_Step(recorder, world, &report, &error), tp_success);
    }
    assert_int_equal(tpCloseRecorder(recorder, NULL, &error), tp_success);
    tpDestroyWorld(world);
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording == NULL) {
        fail_msg("%s", error.message);
    }
    return recording;
}

// Sum of all impulses on a body.
static tpVec3 impulseOn(tpRecording* recording, int body) {
    int64_t count = tpRecording_GetInfo(recording)->pairCount;
    tpRecordedPair* pairs = malloc((size_t)count * sizeof(tpRecordedPair));
    assert_int_equal(tpRecording_ReadPairs(recording, 0, count, pairs, NULL), tp_success);
    tpVec3 sum = tpZeroVec3();
    for (int64_t i = 0; i < count; ++i) {
        assert_true(pairs[i].bodyA < pairs[i].bodyB);
        sum = pairs[i].bodyA == body ? tpAdd(sum, pairs[i].impulse) : sum;
        sum = pairs[i].bodyB == body ? tpSub(sum, pairs[i].impulse) : sum;
    }
    free(pairs);
    return sum;
}

static void test_momentum(void** state) {
    (void)state;
    const int everies[] = { 1, 7, 128 };
    for (int k = 0; k < 3; ++k) {
        int steps = 128 - 128 % everies[k];
        tpRecording* recording = record("pairs.h5", everies[k], steps);
        int64_t last = tpRecording_GetInfo(recording)->frameCount - 1;
        for (int moving = 0; moving < 2; ++moving) {
            double first[tp_stateWidth], end[tp_stateWidth];
            tpRecording_ReadBodyStates(recording, moving, 0, 1, first, NULL);
            tpRecording_ReadBodyStates(recording, moving, last, 1, end, NULL);
            double time = steps * step;
            tpVec3 expected = tpMakeVec3(mass * (end[7] - first[7]), mass * (end[8] - first[8]),
                                         mass * (end[9] - first[9] + gravity * time));
            CHECK_VEC3(impulseOn(recording, moving + 1), expected, 1e-11);
        }
        int64_t offsets[200];
        assert_int_equal(tpRecording_ReadPairOffsets(recording, 0, last + 1, offsets, NULL),
                         tp_success);
        assert_int_equal(offsets[0], 0);
        assert_int_equal(offsets[1], 0); // nothing before the first step
        assert_int_equal(offsets[last + 1], tpRecording_GetInfo(recording)->pairCount);
        tpCloseRecording(recording);
        remove("pairs.h5");
    }
}

// At the end the box carries the ball and the floor both: the mean force over the last window.
static void test_table(void** state) {
    (void)state;
    tpRecording* recording = record("pairs.h5", 4, 512);
    assert_int_equal(tpExportPairs(recording, "pairs.csv", 1.0, NULL), tp_success);
    assert_int_equal(tpExportPairs(recording, "bad.csv", -1.0, NULL), tp_badInput);
    tpCloseRecording(recording);
    FILE* file = fopen("pairs.csv", "r");
    assert_non_null(file);
    char line[1000];
    assert_non_null(fgets(line, sizeof(line), file));
    int rows = 0, ends = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        double from, to, p[4], f[3];
        char a[32], b[32];
        assert_int_equal(sscanf(line, "%lf,%lf,%31[^,],%31[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,", &from,
                                &to, a, b, &p[0], &p[1], &p[2], &p[3], &f[0], &f[1], &f[2]),
                         11);
        CHECK_NEAR(to - from, 1.0, 0.05);
        CHECK_NEAR(f[2] * (to - from), p[2], 1e-12);
        if (from > 2.9) {
            bool isFloor = strcmp(a, "floor") == 0 && strcmp(b, "box") == 0;
            assert_true(isFloor || (strcmp(a, "box") == 0 && strcmp(b, "ball") == 0));
            CHECK_NEAR(f[2], -(isFloor ? 2.0 : 1.0) * mass * gravity, 1e-6);
            ends += 1;
        }
        rows += 1;
    }
    fclose(file);
    assert_int_equal(ends, 2);
    assert_int_equal(rows, 8);
    remove("pairs.csv");
    remove("pairs.h5");
}

// Collisions of an event-driven run: their number and energy are those of the reports.
static void test_collisions(void** state) {
    (void)state;
    tpError error = { .result = tp_success };
    tpWorld* world = makeWorld();
    assert_int_equal(tpWorld_SetStepper(world, tp_mirtichCanny), tp_success);
    // Losses of a time stepper are not those of collisions.
    assert_int_equal(tpWorld_SetOption(world, "hand_over", "false", &error), tp_success);
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = "events.h5";
    def.step = step;
    def.every = 16;
    def.background = false;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(recorder);
    int64_t collisions = 0, microcollisions = 0;
    double lost = 0.0;
    for (int i = 0; i < 64; ++i) {
        tpStepReport report = tpWorld_Step(world, step);
        collisions += tpStepReport_GetFigure(&report, "collisions");
        microcollisions += tpStepReport_GetFigure(&report, "microcollisions");
        lost += report.impactLoss + report.frictionLoss;
        assert_int_equal(tpRecorder_Step(recorder, world, &report, &error), tp_success);
    }
    assert_int_equal(tpCloseRecorder(recorder, NULL, &error), tp_success);
    tpDestroyWorld(world);
    tpRecording* recording = tpOpenRecording("events.h5", NULL, &error);
    assert_non_null(recording);
    tpRecordedPair pairs[64];
    int64_t count = tpRecording_GetInfo(recording)->pairCount;
    assert_true(count > 0 && count <= 64);
    assert_int_equal(tpRecording_ReadPairs(recording, 0, count, pairs, &error), tp_success);
    for (int64_t i = 0; i < count; ++i) {
        collisions -= pairs[i].collisionCount;
        microcollisions -= pairs[i].microcollisionCount;
        lost -= pairs[i].energyLost;
    }
    assert_int_equal(collisions, 0);
    assert_int_equal(microcollisions, 0);
    CHECK_NEAR(lost, 0.0, 1e-10);
    tpCloseRecording(recording);
    remove("events.h5");
}

static tpResult readPairs(void) {
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording("pairs.h5", NULL, &error);
    assert_non_null(recording);
    int64_t count = tpRecording_GetInfo(recording)->pairCount;
    tpRecordedPair* pairs = malloc(sizeof(tpRecordedPair) * (size_t)count);
    tpResult result = tpRecording_ReadPairs(recording, 0, count, pairs, &error);
    assert_int_equal(result, error.result);
    free(pairs);
    tpCloseRecording(recording);
    return result;
}

// Bodies that are none, and numbers of collisions below none, are damage; those at the bounds are
// not.
static void test_forged(void** state) {
    (void)state;
    tpRecording* recording = record("pairs.h5", 4, 256);
    int64_t last = tpRecording_GetInfo(recording)->pairCount - 1;
    tpCloseRecording(recording);
    assert_true(last > 0);
    static const struct {
        const char* column;
        int least, most; // the floor is body 0
    } bounds[] = { { "/pairs/body_a", -1, 2 },
                   { "/pairs/body_b", -1, 2 },
                   { "/pairs/collision_count", 0, INT_MAX },
                   { "/pairs/microcollision_count", 0, INT_MAX } };
    for (int i = 0; i < 8; ++i) {
        const char* column = bounds[i / 2].column;
        int64_t row = i % 2 == 0 ? 0 : last;
        int least = bounds[i / 2].least, most = bounds[i / 2].most;
        int old = forge("pairs.h5", column, row, least);
        assert_int_equal(readPairs(), tp_success);
        forge("pairs.h5", column, row, least - 1);
        assert_int_equal(readPairs(), tp_badInput);
        forge("pairs.h5", column, row, most);
        assert_int_equal(readPairs(), tp_success);
        if (most < INT_MAX) {
            forge("pairs.h5", column, row, most + 1);
            assert_int_equal(readPairs(), tp_badInput);
        }
        forge("pairs.h5", column, row, old);
    }
    remove("pairs.h5");
}

static int enter(void** state) {
    static char directory[] = "/tmp/tippe_pairs_XXXXXX";
    *state = directory;
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void** state) {
    return chdir("/tmp") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
