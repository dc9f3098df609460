// Coordinates of joints, sensors and carriers: what a recording says is what the world said, frame
// by frame, in a file, in memory and in the tables.

#include <stdlib.h>
#include <string.h>

#include "made_frames.h"
#include "recording/roster.h"
#include "support/scene_text.h"
#include "tippe/joints.h"
#include "tippe/scene.h"
#include "tippe/sensors.h"

// A compound arm with a servo and a named axis, a slide without either, a ball that flies and falls
// into a zone, and sensors of four types.
static const char scene[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{ \"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [ { \"type\": \"plane\", \"normal\": "
    "[0, "
    "0, 1] } ] },"
    "{ \"name\": \"arm\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.3], \"position\": [5, 0, 4] },"
    "{ \"name\": \"sled\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [9, 0, 4] },"
    "{ \"name\": \"zone\", \"kind\": \"fixed\", \"position\": [0, 0, 1], \"shapes\": [ { \"type\": "
    "\"box\", \"size\": [1, 1, 0.2] } ] },"
    "{ \"name\": \"ball\", \"density\": 1000, \"position\": [0, 0, 1.4], \"shapes\": [ { \"type\": "
    "\"sphere\", \"radius\": 0.1 } ] } ],"
    "\"joints\": ["
    "{ \"name\": \"shoulder\", \"type\": \"compound\", \"bodies\": [null, \"arm\"], \"anchor\": "
    "[5, 0, "
    "4.5], \"axes\": [ { \"turn\": [0, 1, 0], \"name\": \"pitch\", \"zero\": 0.25, \"servo\": { "
    "\"target\": 0.5, \"speed\": 0.125, \"stiffness\": 100, \"damping\": 5 } }, { \"turn\": [1, 0, "
    "0], "
    "\"name\": \"roll\" } ] },"
    "{ \"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [null, \"sled\"], \"anchor\": [9, "
    "0, "
    "4], \"axis\": [1, 0, 1] } ],"
    "\"sensors\": [ { \"name\": \"imu\", \"type\": \"accelerometer\", \"body\": \"arm\" },"
    "{ \"name\": \"track\", \"type\": \"joint_state\", \"joint\": \"rail\" },"
    "{ \"name\": \"wrist\", \"type\": \"force_torque\", \"joint\": \"shoulder\" },"
    "{ \"name\": \"inside\", \"type\": \"overlap\", \"body\": \"zone\" } ],"
    "\"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

static const char* const coordinateNames[] = { "shoulder.pitch", "shoulder.roll", "rail" };
static const char* const valueNames[] = { "imu.x",    "imu.y",        "imu.z",    "track.q",
                                          "track.qd", "track.effort", "wrist.fx", "wrist.fy",
                                          "wrist.fz", "wrist.tx",     "wrist.ty", "wrist.tz",
                                          "inside.on" };
enum { coordinates = 3, values = 13, movers = 3, frames = 61 };

typedef struct Seen {
    double numbers[frames][coordinates][tp_coordinateWidth];
    double values[frames][values];
    const char* methods[frames][movers];
    double steps[frames][movers], errors[frames][movers];
} Seen;

// Straight from the world, by the functions that programs call.
static void look(tpWorld* world, Seen* seen, int frame) {
    static const char* const names[movers] = { "arm", "sled", "ball" };
    tpJointId shoulder = tpWorld_FindJoint(world, "shoulder"),
              rail = tpWorld_FindJoint(world, "rail");
    for (int i = 0; i < coordinates; ++i) {
        tpJointId joint = i < 2 ? shoulder : rail;
        int index = i < 2 ? i : 0;
        double* to = seen->numbers[frame][i];
        tpCoordinateState now = tpJoint_GetState(world, joint, index);
        tpCoordinateDef def = tpJoint_GetCoordinate(world, joint, index);
        to[0] = now.value;
        to[1] = now.speed;
        to[2] = now.effort;
        to[3] = def.hasServo ? def.servo.target : NAN;
        to[4] = def.hasServo ? def.servo.speed : NAN;
    }
    assert_int_equal(tpWorld_GetSensorValueCount(world), values);
    tpWorld_ReadSensors(world, seen->values[frame]);
    for (int i = 0; i < movers; ++i) {
        tpBodyId body = tpWorld_FindBody(world, names[i]);
        seen->methods[frame][i] = tpBody_GetCarrier(world, body);
        seen->steps[frame][i] = tpBody_GetCarrierStep(world, body);
        seen->errors[frame][i] = tpBody_GetErrorEstimate(world, body);
    }
}

// Records a run, in memory if the path is NULL, with its tables if they are wanted. The target
// moves on the way.
static tpRecorder* record(tpWorld* world, const char* path, const char* csv, const char* joints,
                          Seen* seen) {
    tpRecorderDef def = tpDefaultRecorderDef();
    tpError error = { .result = tp_success };
    def.path = path;
    def.step = 0.01;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(recorder);
    tpTable* tables[2] = { NULL, NULL };
    if (csv != NULL) {
        tables[0] = tpCreateTrajectoryTable(csv, world, 1, &error);
        tables[1] = tpCreateJointTable(joints, world, 1, &error);
        assert_true(tables[0] != NULL && tables[1] != NULL);
    }
    look(world, seen, 0);
    for (int k = 1; k < frames; ++k) {
        if (k == 30) {
            tpJoint_SetTarget(world, tpWorld_FindJoint(world, "shoulder"), 0, -0.5, 0.0);
        }
        tpStepReport report = tpWorld_Step(world, 0.01);
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
        for (int i = 0; i < 2 && csv != NULL; ++i) {
            CHECK_OK(tpTable_Step(tables[i], world, failure));
        }
        look(world, seen, k);
    }
    for (int i = 0; i < 2 && csv != NULL; ++i) {
        CHECK_OK(tpCloseTable(tables[i], failure));
    }
    return recorder;
}

static void checkSame(const char* a, const char* b) {
    char command[600];
    snprintf(command, sizeof(command), "cmp %s %s", a, b);
    assert_int_equal(system(command), 0);
}

static void checkCarriers(tpRecording* recording, const Seen* seen) {
    static const char flight[] = "free-flight";
    tpRecordedCarrier carriers[frames];
    int flying = 0;
    for (int i = 0; i < movers; ++i) {
        CHECK_OK(tpRecording_ReadCarriers(recording, i, 0, frames, carriers, failure));
        for (int k = 0; k < frames; ++k) {
            const char* method = seen->methods[k][i];
            assert_int_equal(carriers[k].method != NULL, method != NULL);
            assert_true(method == NULL || strcmp(carriers[k].method, method) == 0);
            assert_true(carriers[k].step == seen->steps[k][i]);
            assert_true(carriers[k].error == seen->errors[k][i]);
            flying += method != NULL && strcmp(method, flight) == 0;
        }
    }
    assert_true(flying > 10); // the ball, before it lands
}

static void testFileSaysWhatTheWorldSaid(void** state) {
    (void)state;
    char path[256], csv[256], joints[256], again[256];
    strcpy(path, testPath("values.h5"));
    strcpy(csv, testPath("values.csv"));
    strcpy(joints, testPath("joints.csv"));
    strcpy(again, testPath("again.csv"));
    static Seen seen;
    tpWorld* world = makeWorldFrom(scene);
    tpRecorder* recorder = record(world, path, csv, joints, &seen);
    assert_string_equal(tpRecorder_GetCoordinateName(recorder, 1), "shoulder.roll");
    assert_null(tpRecorder_GetCoordinateName(recorder, coordinates));
    assert_null(tpRecorder_GetSensorColumn(recorder, -1));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    assert_non_null(recording);
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    assert_int_equal(info->coordinateCount, coordinates);
    assert_int_equal(info->sensorValueCount, values);
    assert_true(info->hasCarriers);
    for (int i = 0; i < coordinates; ++i) {
        assert_string_equal(tpRecording_GetCoordinateName(recording, i), coordinateNames[i]);
    }
    for (int i = 0; i < values; ++i) {
        assert_string_equal(tpRecording_GetSensorColumn(recording, i), valueNames[i]);
    }
    static Seen read;
    CHECK_OK(tpRecording_ReadCoordinates(recording, 0, frames, read.numbers[0][0], failure));
    CHECK_OK(tpRecording_ReadSensors(recording, 0, frames, read.values[0], failure));
    assert_memory_equal(read.numbers, seen.numbers, sizeof(seen.numbers));
    assert_memory_equal(read.values, seen.values, sizeof(seen.values));
    // The numbers mean what they should: zero, the servo's target before and after, the zone.
    assert_true(fabs(read.numbers[0][0][0] - 0.25) < 1e-15);
    assert_true(read.numbers[29][0][3] == 0.5 && read.numbers[29][0][4] == 0.125);
    assert_true(read.numbers[30][0][3] == -0.5 && isnan(read.numbers[30][2][3]));
    assert_true(read.values[0][12] == 0.0 && read.values[30][12] == 1.0);
    checkCarriers(recording, &seen);
    // What is out of range is refused.
    double one[tp_coordinateWidth];
    assert_int_equal(tpRecording_ReadCoordinate(recording, coordinates, 0, 1, one, &error),
                     tp_badInput);
    assert_int_equal(tpRecording_ReadSensorValue(recording, -1, 0, 1, one, &error), tp_badInput);
    assert_int_equal(tpRecording_ReadCoordinate(recording, 0, frames, 1, one, &error), tp_badInput);
    tpRecordedCarrier carrier;
    assert_int_equal(tpRecording_ReadCarriers(recording, movers, 0, 1, &carrier, &error),
                     tp_badInput);
    // Tables of the recording are those of the run.
    CHECK_OK(tpExportTrajectory(recording, again, failure));
    checkSame(csv, again);
    CHECK_OK(tpExportJoints(recording, again, failure));
    checkSame(joints, again);
    tpCloseRecording(recording);
}

// A sensor and a joint that go during the run have no numbers from then on; the others keep theirs.
static void testWhatIsDestroyed(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(scene);
    tpRecorderDef def = tpDefaultRecorderDef();
    def.step = 0.01;
    tpRecorder* recorder = tpCreateRecorder(&def, world, NULL);
    tpDestroySensor(world, tpWorld_FindSensor(world, "imu"));
    tpDestroyJoint(world, tpWorld_FindJoint(world, "rail"));
    tpStepReport report = tpWorld_Step(world, 0.01);
    CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    double now[2][values], numbers[2][coordinates][tp_coordinateWidth];
    for (int i = 0; i < tpRecordedColumnCount(); ++i) {
        tpRecordedColumn column = tpRecorder_GetColumn(recorder, i);
        if (strcmp(column.path, "/sensors/values") == 0) {
            assert_true(column.width == values && column.rowCount == 2);
            tpRecorder_CopyColumn(recorder, i, now);
        } else if (strcmp(column.path, "/joints/coordinates") == 0) {
            assert_true(column.width == coordinates * tp_coordinateWidth);
            tpRecorder_CopyColumn(recorder, i, numbers);
        }
    }
    assert_true(isfinite(now[0][0]) && isnan(now[1][0])); // imu
    assert_true(isfinite(now[0][3]) && isnan(now[1][3])); // the state of the rail
    assert_true(isfinite(now[1][6]) && now[1][6] != 0.0); // wrist
    assert_true(isfinite(numbers[0][2][0]) && isnan(numbers[1][2][0]));
    assert_true(isfinite(numbers[1][0][0]));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
}

// Axes of compound joints go by their names, if only of one letter, and those without by their
// number in the scene; joints without a name by theirs.
static void namesOfAxes(void** state) {
    (void)state;
    static const char text[] =
        "{ \"tippe\": 1, \"bodies\": ["
        "{ \"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1] },"
        "{ \"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1] } ],"
        "\"joints\": ["
        "{ \"name\": \"hand\", \"type\": \"compound\", \"bodies\": [null, \"a\"], \"anchor\": [0, "
        "0, 0], \"axes\": [ "
        "{ \"turn\": [0, 1, 0] }, { \"slide\": [1, 0, 0], \"name\": \"x\" }, "
        "{ \"slide\": [0, 0, 1] } ] },"
        "{ \"type\": \"compound\", \"bodies\": [null, \"b\"], \"anchor\": [0, 0, 0], \"axes\": [ "
        "{ \"turn\": [0, 1, 0], \"name\": \"q\" }, { \"turn\": [1, 0, 0] } ] } ] "
        ", \"simulation\": { \"step\": 0.01, \"until\": 1 } }";
    static const char* const names[5] = { "hand.0", "hand.x", "hand.2", "joint1.q", "joint1.1" };
    tpWorld* world = makeWorldFrom(text);
    tpAllocator allocator = tpDefaultAllocator();
    tpRoster roster;
    assert_true(tpRoster_Create(&roster, world, &allocator));
    assert_int_equal(roster.coordinateCount, 5);
    for (int i = 0; i < 5; ++i) {
        assert_string_equal(roster.coordinates[i].name, names[i]);
    }
    tpRoster_Destroy(&roster);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testFileSaysWhatTheWorldSaid),
        cmocka_unit_test(testWhatIsDestroyed),
        cmocka_unit_test(namesOfAxes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    removeTestDirectory();
    return failed;
}
