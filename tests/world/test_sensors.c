// Sensors and events against closed forms, with every stepper that has contacts.

#include <string.h>

#include "support/check.h"
#include "tippe/tippe.h"

static const double g = 9.81;
static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu,           tp_benderSchmitt,
                                        tp_mirtichCanny,   tp_chakrabortyTrinkle, tp_penalty,
                                        tp_smallSteps };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static tpWorld* worldOf(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -g);
    return tpCreateWorld(&def);
}

static tpBodyId addBody(tpWorld* world, tpBodyKind kind, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = position;
    return tpCreateBody(world, &def, NULL);
}

static tpShapeId addBox(tpWorld* world, tpBodyId body, tpVec3 place, tpVec3 size,
                        tpMaterialId material) {
    tpShapeDef def = tpDefaultShapeDef();
    def.density = 1000.0;
    def.pose.position = place;
    def.material = material;
    return tpCreateBox(world, body, &def, &(tpBox){ size }, NULL);
}

static void addFloor(tpWorld* world, tpMaterialId material) {
    tpBodyId floor = addBody(world, tp_fixedBody, tpZeroVec3());
    tpShapeDef def = tpDefaultShapeDef();
    def.material = material;
    tpCreatePlane(world, floor, &def, &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
}

static tpMaterialId rough(tpWorld* world) {
    tpMaterialDef def = tpDefaultMaterialDef();
    def.friction.staticCoefficient = def.friction.dynamicCoefficient = 0.8;
    return tpCreateMaterial(world, &def, NULL);
}

static tpSensorId addSensor(tpWorld* world, tpSensorType type, tpBodyId body, tpJointId joint) {
    tpSensorDef def = tpDefaultSensorDef();
    def.name = tpSensorTypeName(type);
    def.type = type;
    def.body = body;
    def.joint = joint;
    tpError error = { 0 };
    tpSensorId sensor = tpCreateSensor(world, &def, &error);
    if (!tpSensor_IsValid(world, sensor)) {
        fail_msg("%s", error.message);
    }
    return sensor;
}

static const tpJointId noJoint = { 0, 0 };

// A quadruped of boxes stands: its feet carry its weight, the floor pushes up, and it feels g
// upwards.
static void feetCarryTheWeight(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = worldOf(steppers[s]);
        tpMaterialId material = rough(world);
        addFloor(world, material);
        tpBodyId robot = addBody(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, 0.5));
        addBox(world, robot, tpZeroVec3(), tpMakeVec3(1.0, 0.6, 0.2), material);
        tpShapeId feet[4];
        for (int i = 0; i < 4; ++i) {
            tpVec3 place = tpMakeVec3(i % 2 == 0 ? 0.4 : -0.4, i < 2 ? 0.2 : -0.2, -0.3);
            feet[i] = addBox(world, robot, place, tpMakeVec3(0.1, 0.1, 0.4), material);
        }
        double weight = g * tpBody_GetMass(world, robot).mass;
        tpSensorId whole = addSensor(world, tp_contactForceSensor, robot, noJoint);
        tpSensorId imu = addSensor(world, tp_accelerometer, robot, noJoint);
        tpSensorId foot[4];
        for (int i = 0; i < 4; ++i) {
            tpSensorDef def = tpDefaultSensorDef();
            def.type = tp_contactForceSensor;
            def.shape = feet[i];
            foot[i] = tpCreateSensor(world, &def, NULL);
            assert_true(tpSensor_IsValid(world, foot[i]));
        }
        for (int i = 0; i < 300; ++i) {
            tpWorld_Step(world, 0.005);
        }
        bool isSoft = steppers[s] == tp_penalty || steppers[s] == tp_smallSteps;
        double tolerance = (isSoft ? 1e-4 : 1e-9) * weight;
        double values[6], sum = 0.0;
        assert_int_equal(tpSensor_GetValues(world, whole, values), 4);
        CHECK_NEAR(values[0], weight, tolerance);
        CHECK_NEAR(values[1], 0.0, 10.0 * tolerance);
        CHECK_NEAR(values[2], 0.0, 10.0 * tolerance);
        CHECK_NEAR(values[3], weight, tolerance);
        for (int i = 0; i < 4; ++i) {
            tpSensor_GetValues(world, foot[i], values);
            sum += values[0];
        }
        CHECK_NEAR(sum, weight, tolerance);
        tpSensor_GetValues(world, imu, values);
        CHECK_NEAR(values[0], 0.0, isSoft ? 1e-3 : 1e-7);
        CHECK_NEAR(values[2], g, isSoft ? 1e-3 : 1e-7);
        // A snapshot brings the forces of its last step with it, also if it is taken of what was
        // restored; the next step measures anew.
        double before[6], after[6];
        tpSensor_GetValues(world, whole, before);
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        tpBody_ApplyForce(world, robot, tpMakeVec3(0.0, 0.0, 0.5 * weight), tp_worldFrame);
        tpWorld_Step(world, 0.005);
        tpSensor_GetValues(world, whole, after);
        assert_true(after[0] < 0.9 * weight);
        for (int i = 0; i < 2; ++i) {
            assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
            tpSensor_GetValues(world, whole, after);
            assert_memory_equal(before, after, 4 * sizeof(double));
            tpDestroySnapshot(snapshot);
            snapshot = tpWorld_Snapshot(world);
        }
        tpDestroySnapshot(snapshot);
        tpWorld_Step(world, 0.005);
        tpSensor_GetValues(world, whole, after);
        CHECK_NEAR(after[0], weight, tolerance);
        tpDestroyWorld(world);
    }
}

// A wheel that spins at a constant rate: the sensor on its rim feels w^2 r inwards and g, in
// turning axes.
static void rimFeelsItsTurning(void** state) {
    (void)state;
    double w = 3.0, r = 0.5, h = 1e-3;
    for (int s = 0; s < stepperCount - 1; ++s) {
        tpWorld* world = worldOf(steppers[s]);
        tpBodyId wheel = addBody(world, tp_dynamicBody, tpZeroVec3());
        addBox(world, wheel, tpZeroVec3(), tpMakeVec3(0.2, 0.2, 0.2), 0);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyB = wheel;
        tpJointId axle = tpCreateJoint(world, &joint, NULL);
        assert_int_equal(tpJoint_SetSpeed(world, axle, 0, w, NULL), tp_success);
        tpSensorDef def = tpDefaultSensorDef();
        def.type = tp_accelerometer;
        def.body = wheel;
        def.pose.position = tpMakeVec3(r, 0.0, 0.0);
        def.pose.rotation =
            tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.5 * 3.14159265358979323846);
        tpSensorId rim = tpCreateSensor(world, &def, NULL);
        tpSensorId gyroscope = addSensor(world, tp_gyroscope, wheel, noJoint);
        tpSensorId state3 = addSensor(world, tp_jointStateSensor, wheel, axle);
        tpSensorId bearing = addSensor(world, tp_forceTorqueSensor, wheel, axle);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, h);
        }
        double values[6];
        assert_int_equal(tpSensor_GetValues(world, rim, values), 3);
        CHECK_NEAR(values[0], 0.0, 1e-5);
        CHECK_NEAR(values[1], w * w * r, 1e-5); // the sensor's y looks inwards
        CHECK_NEAR(values[2], g, 1e-10 / h);    // solves end at 1e-10 m/s
        tpSensor_GetValues(world, gyroscope, values);
        CHECK_NEAR(values[2], w, 1e-9);
        tpSensor_GetValues(world, state3, values);
        CHECK_NEAR(values[0], w * 0.1, 1e-9);
        CHECK_NEAR(values[1], w, 1e-9);
        assert_int_equal(tpSensor_GetValues(world, bearing, values), 6);
        double mass = tpBody_GetMass(world, wheel).mass;
        CHECK_NEAR(values[2], g * mass, 1e-10 * mass / h);
        tpDestroyWorld(world);
    }
}

// A ball falls through a zone onto the floor: the zone tells, does not touch, and the events come
// in order.
static void ballFallsThroughAZone(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = worldOf(steppers[s]);
        addFloor(world, 0);
        tpBodyId zone = addBody(world, tp_fixedBody, tpMakeVec3(0.0, 0.0, 2.0));
        addBox(world, zone, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 0.4), 0);
        tpSensorId gate = addSensor(world, tp_overlapSensor, zone, noJoint);
        tpBodyId ball = addBody(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, 3.0));
        tpShapeDef def = tpDefaultShapeDef();
        def.density = 1000.0;
        tpCreateSphere(world, ball, &def, &(tpSphere){ .radius = 0.1 }, NULL);
        int count;
        tpWorld_GetEvents(world, &count);
        assert_int_equal(count, 0);
        tpEventKind seen[8];
        int seenCount = 0;
        double h = 1.0 / 240.0, speed = 0.0;
        for (int i = 0; i < 240; ++i) {
            tpWorld_Step(world, h);
            const tpEvent* events = tpWorld_GetEvents(world, &count);
            for (int k = 0; k < count; ++k) {
                bool isFirst = seenCount == 0 || events[k].kind != seen[seenCount - 1];
                if (isFirst && seenCount < 8 && events[k].kind != tp_touchEnded) {
                    seen[seenCount++] = events[k].kind;
                }
                if (events[k].kind == tp_hit && speed == 0.0) {
                    speed = events[k].speed;
                    assert_true(events[k].impulse > 0.0);
                    CHECK_NEAR(fabs(events[k].normal.z), 1.0, 1e-9);
                }
            }
            double values[6], z = tpBody_GetPosition(world, ball).z;
            tpSensor_GetValues(world, gate, values);
            CHECK_NEAR(values[0], z < 2.3 && z > 1.7 ? 1.0 : 0.0, 0.0);
        }
        assert_true(seenCount >= 4);
        assert_int_equal(seen[0], tp_overlapBegan);
        assert_int_equal(seen[1], tp_overlapEnded);
        assert_int_equal(seen[2], tp_touchBegan);
        assert_int_equal(seen[3], tp_hit);
        // 2.9 m of fall.
        CHECK_NEAR(speed, sqrt(2.0 * g * 2.9), 2.0 * g * h);
        tpDestroyWorld(world);
    }
}

// An arm falls on its limit.
static void armReachesItsLimit(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu);
    tpBodyId arm = addBody(world, tp_dynamicBody, tpMakeVec3(0.5, 0.0, 0.0));
    addBox(world, arm, tpZeroVec3(), tpMakeVec3(1.0, 0.1, 0.1), 0);
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyB = arm;
    def.axis = tpMakeVec3(0.0, 1.0, 0.0);
    def.coordinate.hasLimits = true;
    def.coordinate.limits[0] = -1.0;
    def.coordinate.limits[1] = 0.5;
    tpCreateJoint(world, &def, NULL);
    int count, reached = 0;
    tpWorld_GetEvents(world, &count);
    for (int i = 0; i < 300; ++i) {
        tpWorld_Step(world, 0.005);
        const tpEvent* events = tpWorld_GetEvents(world, &count);
        for (int k = 0; k < count; ++k) {
            reached += events[k].kind == tp_limitReached;
            assert_int_not_equal(events[k].kind, tp_limitLeft);
        }
    }
    assert_int_equal(reached, 1);
    tpDestroyWorld(world);
}

static int mistakes;
static void countMistake(const char* function, const char* argument, const char* message) {
    (void)function;
    (void)argument;
    (void)message;
    mistakes += 1;
}

static void wrongSensorsAreRefused(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu);
    tpBodyId body = addBody(world, tp_dynamicBody, tpZeroVec3());
    addBox(world, body, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0), 0);
    tpError error = { 0 };
    for (int type = 0; type <= tp_sensorTypeCount; ++type) {
        tpSensorDef def = tpDefaultSensorDef();
        def.type = (tpSensorType)type;
        assert_false(tpSensor_IsValid(world, tpCreateSensor(world, &def, &error)));
        assert_true(strlen(error.message) > 0);
    }
    tpSensorDef def = tpDefaultSensorDef();
    def.body = body;
    def.pose.position.x = NAN;
    assert_false(tpSensor_IsValid(world, tpCreateSensor(world, &def, &error)));
    tpSensorId sensor = addSensor(world, tp_gyroscope, body, noJoint);
    assert_int_equal(tpWorld_GetSensorValueCount(world), 3);
    assert_true(memcmp(&(tpSensorId){ sensor.slot, sensor.generation },
                       &(tpSensorId){ tpWorld_FindSensor(world, "gyroscope").slot,
                                      tpWorld_FindSensor(world, "gyroscope").generation },
                       sizeof(sensor)) == 0);
    tpDestroyBody(world, body);
    assert_int_equal(tpWorld_GetSensorCount(world), 0);
    double values[6];
    tpSetMisuseHook(countMistake);
    assert_int_equal(tpSensor_GetValues(world, sensor, values), 0);
    tpDestroySensor(world, sensor);
    tpSetMisuseHook(NULL);
    assert_int_equal(mistakes, 2);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feetCarryTheWeight),     cmocka_unit_test(rimFeelsItsTurning),
        cmocka_unit_test(ballFallsThroughAZone),  cmocka_unit_test(armReachesItsLimit),
        cmocka_unit_test(wrongSensorsAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
