// Batches: worlds that move as they would alone, rows that come back as they were written, and what
// is refused.

#include "tippe/batch.h"

#include <string.h>

#include "support/check.h"

enum { worlds = 19, bodies = 3 };

static const char *expectedFunction, *expectedArgument;

static void hear(const char* function, const char* argument, const char* message) {
    assert_true(strlen(message) > 0);
    assert_non_null(expectedFunction);
    assert_string_equal(function, expectedFunction);
    assert_string_equal(argument, expectedArgument);
    expectedFunction = NULL;
}

// The next call will tell of this argument; the one before has told.
static void expectMisuse(const char* function, const char* argument) {
    tpSetMisuseHook(hear);
    assert_null(expectedFunction);
    expectedFunction = function;
    expectedArgument = argument;
}

// A cart on a rail with a driven arm, and a box that slides on a floor.
static tpWorld* createPlant(tpStepperId stepper, int threadCount) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.threadCount = threadCount;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef rough = tpDefaultMaterialDef();
    rough.friction.staticCoefficient = rough.friction.dynamicCoefficient = 0.3;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &rough, NULL);
    tpBodyDef floor = tpDefaultBodyDef();
    floor.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floor, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    tpBodyId ids[bodies];
    const tpVec3 places[bodies] = { { 0.0, 0.0, 2.0 }, { 0.0, 0.0, 1.7 }, { 1.5, 0.0, 0.1 } };
    for (int i = 0; i < bodies; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.position = places[i];
        body.velocity = i == 2 ? tpMakeVec3(1.0, 0.2, 0.0) : tpZeroVec3();
        ids[i] = tpCreateBody(world, &body, NULL);
        tpCreateBox(world, ids[i], &shape, &(tpBox){ { 0.1, 0.1, 0.1 } }, NULL);
    }
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_prismaticJoint;
    joint.bodyB = ids[0];
    joint.anchorA = joint.anchorB = places[0];
    joint.axis = tpMakeVec3(1.0, 0.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    joint.type = tp_revoluteJoint;
    joint.bodyA = ids[0];
    joint.bodyB = ids[1];
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.hasServo = true;
    joint.coordinate.servo.stiffness = 40.0;
    joint.coordinate.servo.damping = 4.0;
    tpJointId arm = tpCreateJoint(world, &joint, NULL);
    tpSensorDef sensor = tpDefaultSensorDef();
    sensor.type = tp_jointStateSensor;
    sensor.joint = arm;
    tpCreateSensor(world, &sensor, NULL);
    return world;
}

static tpBatch* createBatch(tpStepperId stepper, int threadCount) {
    tpWorld* list[worlds];
    for (int i = 0; i < worlds; ++i) {
        list[i] = createPlant(stepper, 1 + i % 2);
    }
    tpBatchDef def = tpDefaultBatchDef();
    def.worlds = list;
    def.worldCount = worlds;
    def.threadCount = threadCount;
    def.ownsWorlds = true;
    tpBatch* batch = tpCreateBatch(&def, NULL);
    assert_non_null(batch);
    return batch;
}

// Numbers of a world's own, by the functions on one world.
static void vary(tpWorld* world, int index) {
    double share = (double)index / worlds;
    tpWorld_SetGravity(world, tpMakeVec3(0.0, share, -9.81 + share));
    tpMaterialDef rough = tpMaterial_GetDef(world, 1);
    rough.friction.staticCoefficient = 0.2 + share;
    rough.friction.dynamicCoefficient = 0.1 + share;
    rough.restitution = 0.5 * share;
    assert_int_equal(tpMaterial_SetDef(world, 1, &rough, NULL), tp_success);
    tpMassProperties mass = tpBody_GetMass(world, tpWorld_GetMoving(world, 2));
    mass.inertia = tpScaleM((mass.mass + share) / mass.mass, mass.inertia);
    mass.mass += share;
    assert_int_equal(tpBody_SetMass(world, tpWorld_GetMoving(world, 2), &mass, NULL), tp_success);
    tpJoint_SetTarget(world, tpWorld_GetJoint(world, 1), 0, share, 0.1 * share);
}

// The same numbers for all worlds at once.
static void varyAll(tpBatch* batch) {
    double gravity[worlds][3], still[worlds][2], sliding[worlds][2], bounce[worlds][2];
    double masses[worlds][bodies], targets[worlds][2], speeds[worlds][2];
    assert_int_equal(tpBatch_Read(batch, tp_batchMasses, masses[0], NULL), tp_success);
    for (int i = 0; i < worlds; ++i) {
        double share = (double)i / worlds;
        gravity[i][0] = 0.0;
        gravity[i][1] = share;
        gravity[i][2] = -9.81 + share;
        still[i][0] = sliding[i][0] = bounce[i][0] = 0.0;
        still[i][1] = 0.2 + share;
        sliding[i][1] = 0.1 + share;
        bounce[i][1] = 0.5 * share;
        masses[i][2] += share;
        targets[i][0] = speeds[i][0] = NAN;
        targets[i][1] = share;
        speeds[i][1] = 0.1 * share;
    }
    const double* const rows[] = { gravity[0], still[0],   sliding[0], bounce[0],
                                   masses[0],  targets[0], speeds[0] };
    const tpBatchField fields[] = { tp_batchGravity,         tp_batchStaticFriction,
                                    tp_batchDynamicFriction, tp_batchRestitution,
                                    tp_batchMasses,          tp_batchTargets,
                                    tp_batchTargetSpeeds };
    for (int k = 0; k < 7; ++k) {
        tpError error = { tp_success, "" };
        if (tpBatch_Write(batch, fields[k], rows[k], &error) != tp_success) {
            fail_msg("%s: %s", tpBatchFieldName(fields[k]), error.message);
        }
    }
}

static void worldsMoveAsAlone(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_anitescu, tp_smallSteps, tp_stewartTrinkle };
    for (int s = 0; s < 3; ++s) {
        tpBatch* one = createBatch(steppers[s], 1);
        tpBatch* three = createBatch(steppers[s], 3);
        varyAll(one);
        varyAll(three);
        tpStepReport reports[worlds];
        for (int k = 0; k < 10; ++k) {
            assert_int_equal(tpBatch_Step(one, 0.005, 1, reports), tp_success);
        }
        assert_int_equal(tpBatch_Step(three, 0.005, 10, reports), tp_success);
        for (int i = 0; i < worlds; ++i) {
            tpWorld* alone = createPlant(steppers[s], 1);
            vary(alone, i);
            tpStepReport report = tpWorld_Step(alone, 0.005);
            for (int k = 1; k < 10; ++k) {
                report = tpWorld_Step(alone, 0.005);
            }
            uint64_t hash = tpWorld_HashState(alone);
            assert_true(hash == tpWorld_HashState(tpBatch_GetWorld(one, i)));
            assert_true(hash == tpWorld_HashState(tpBatch_GetWorld(three, i)));
            assert_true(report.residual == reports[i].residual);
            assert_true(report.kineticAfter == reports[i].kineticAfter);
            tpDestroyWorld(alone);
        }
        tpDestroyBatch(one);
        tpDestroyBatch(three);
    }
}

static void rowsComeBackAsWritten(void** state) {
    (void)state;
    tpBatch* batch = createBatch(tp_anitescu, 2);
    const int widths[tp_batchFieldCount] = { 9, 12, 9, 9, 2, 2, 2, 2, 2, 3, 3, 3, 2, 2, 2 };
    for (int field = 0; field < tp_batchFieldCount; ++field) {
        assert_int_equal(tpBatch_GetWidth(batch, (tpBatchField)field), widths[field]);
        double before[worlds * 12], after[worlds * 12];
        int count = worlds * widths[field];
        assert_int_equal(tpBatch_Read(batch, (tpBatchField)field, before, NULL), tp_success);
        tpError error = { tp_success, "" };
        tpResult result = tpBatch_Write(batch, (tpBatchField)field, before, &error);
        if (field == tp_batchSensors) {
            assert_int_equal(result, tp_unsupported);
            assert_non_null(strstr(error.message, "sensors"));
            continue;
        }
        assert_int_equal(result, tp_success);
        if (field == tp_batchEfforts || field == tp_batchTargets || field == tp_batchTargetSpeeds ||
            field == tp_batchRotations || field == tp_batchCoordinates) {
            continue;
        }
        // A third more of each; restitution stays below one.
        for (int i = 0; i < count; ++i) {
            before[i] = before[i] * 4.0 / 3.0 + (field == tp_batchRestitution ? 0.25 : 0.0);
        }
        assert_int_equal(tpBatch_Write(batch, (tpBatchField)field, before, NULL), tp_success);
        assert_int_equal(tpBatch_Read(batch, (tpBatchField)field, after, NULL), tp_success);
        for (int i = 0; i < count; ++i) {
            assert_true(fabs(before[i] - after[i]) <= 1e-15 * fabs(before[i]));
        }
    }
    // Coordinates move what hangs on them.
    double values[worlds][2], positions[worlds][bodies][3];
    assert_int_equal(tpBatch_Reset(batch, NULL, NULL), tp_success);
    for (int i = 0; i < worlds; ++i) {
        values[i][0] = 0.01 * i;
        values[i][1] = 0.1 * i;
    }
    assert_int_equal(tpBatch_Write(batch, tp_batchCoordinates, values[0], NULL), tp_success);
    assert_int_equal(tpBatch_Read(batch, tp_batchPositions, positions[0][0], NULL), tp_success);
    for (int i = 0; i < worlds; ++i) {
        assert_true(fabs(positions[i][0][0] - 0.01 * i) < 1e-14);
        assert_true(fabs(positions[i][1][0] - (0.01 * i - 0.3 * sin(0.1 * i))) < 1e-14);
    }
    tpDestroyBatch(batch);
}

static void wrongRowsChangeNothing(void** state) {
    (void)state;
    tpBatch* batch = createBatch(tp_anitescu, 2);
    varyAll(batch);
    uint64_t hashes[worlds];
    for (int i = 0; i < worlds; ++i) {
        hashes[i] = tpWorld_HashState(tpBatch_GetWorld(batch, i));
    }
    for (int field = 0; field < tp_batchFieldCount; ++field) {
        double numbers[worlds * 12], after[worlds * 12];
        int width = tpBatch_GetWidth(batch, (tpBatchField)field);
        if (field == tp_batchSensors) {
            continue;
        }
        assert_int_equal(tpBatch_Read(batch, (tpBatchField)field, numbers, NULL), tp_success);
        for (int i = 0; i < worlds * width; ++i) {
            numbers[i] = isnan(numbers[i]) ? NAN : numbers[i] + 0.125;
        }
        numbers[17 * width + 1] = INFINITY;
        tpError error = { tp_success, "" };
        assert_int_equal(tpBatch_Write(batch, (tpBatchField)field, numbers, &error), tp_badInput);
        assert_int_equal(strncmp(error.message, "world 17: ", 10), 0);
        assert_int_equal(tpBatch_Read(batch, (tpBatchField)field, after, NULL), tp_success);
        for (int i = 0; i < worlds * width; ++i) {
            bool isSame = after[i] == numbers[i] - 0.125 || isnan(after[i]) ||
                          fabs(after[i] - (numbers[i] - 0.125)) < 1e-12 || isinf(numbers[i]);
            assert_true(isSame);
        }
    }
    for (int i = 0; i < worlds; ++i) {
        assert_true(hashes[i] == tpWorld_HashState(tpBatch_GetWorld(batch, i)));
    }
    tpDestroyBatch(batch);
}

static void viewsFollowWithoutACopy(void** state) {
    (void)state;
    tpBatch* batch = createBatch(tp_anitescu, 2);
    assert_int_equal(tpBatch_GetWorldCount(batch), worlds);
    assert_int_equal(tpBatch_GetThreadCount(batch), 2);
    tpBatchView view;
    assert_int_equal(tpBatch_ViewState(batch, &view, NULL), tp_success);
    assert_int_equal(view.worldCount, worlds);
    assert_int_equal(view.slotCount, bodies + 1);
    varyAll(batch);
    tpBatch_Step(batch, 0.005, 3, NULL);
    double velocities[worlds][bodies][3], positions[worlds][bodies][3];
    tpBatch_Read(batch, tp_batchVelocities, velocities[0][0], NULL);
    tpBatch_Read(batch, tp_batchPositions, positions[0][0], NULL);
    for (int i = 0; i < worlds; ++i) {
        tpWorld* world = tpBatch_GetWorld(batch, i);
        for (int k = 0; k < bodies; ++k) {
            size_t slot = (size_t)tpBody_GetSlot(world, tpWorld_GetMoving(world, k));
            const double* velocity =
                view.velocities + (size_t)i * view.worldVelocityStride + slot * view.velocityStride;
            const double* position =
                view.positions + (size_t)i * view.worldPoseStride + slot * view.poseStride;
            assert_memory_equal(velocity, velocities[i][k], sizeof(double[3]));
            assert_memory_equal(position, positions[i][k], sizeof(double[3]));
        }
    }
    // A world that grows leaves the common array and goes on.
    tpWorld* grown = tpBatch_GetWorld(batch, 4);
    uint64_t hash = tpWorld_HashState(grown);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass = (tpMassProperties){ 1.0, { 0.0, 0.0, 0.0 }, tpIdentityMat33() };
    tpBodyId added = tpCreateBody(grown, &body, NULL);
    assert_true(tpBody_IsValid(grown, added));
    tpError error = { tp_success, "" };
    assert_int_equal(tpBatch_ViewState(batch, &view, &error), tp_unsupported);
    assert_non_null(strstr(error.message, "world 4"));
    assert_int_equal(tpBatch_Read(batch, tp_batchPositions, positions[0][0], &error), tp_badInput);
    tpDestroyBody(grown, added);
    assert_true(tpWorld_HashState(grown) != hash); // one slot more
    assert_int_equal(tpBatch_Read(batch, tp_batchPositions, positions[0][0], NULL), tp_success);
    assert_int_equal(tpBatch_Step(batch, 0.005, 1, NULL), tp_success);
    tpDestroyBatch(batch);
}

static void someGoBackToTheirStart(void** state) {
    (void)state;
    tpBatch* batch = createBatch(tp_anitescu, 2);
    varyAll(batch);
    assert_int_equal(tpBatch_Keep(batch, NULL, NULL), tp_success);
    uint64_t starts[worlds], ends[worlds];
    for (int i = 0; i < worlds; ++i) {
        starts[i] = tpWorld_HashState(tpBatch_GetWorld(batch, i));
    }
    tpBatch_Step(batch, 0.005, 5, NULL);
    bool which[worlds];
    for (int i = 0; i < worlds; ++i) {
        ends[i] = tpWorld_HashState(tpBatch_GetWorld(batch, i));
        which[i] = i % 3 == 0;
    }
    tpWorld_SetGravity(tpBatch_GetWorld(batch, 3), tpZeroVec3());
    assert_int_equal(tpBatch_Reset(batch, which, NULL), tp_success);
    for (int i = 0; i < worlds; ++i) {
        uint64_t hash = tpWorld_HashState(tpBatch_GetWorld(batch, i));
        assert_true(hash == (which[i] ? starts[i] : ends[i]));
    }
    // Numbers come back too, and the motion repeats.
    tpBatch_Reset(batch, NULL, NULL);
    tpBatch_Step(batch, 0.005, 5, NULL);
    for (int i = 0; i < worlds; ++i) {
        assert_true(tpWorld_HashState(tpBatch_GetWorld(batch, i)) == ends[i]);
    }
    tpDestroyBatch(batch);
}

static void count(void* context, tpWorld* world, int index) {
    ((double*)context)[index] = tpWorld_GetTime(world) + index;
}

static void functionsSeeEveryWorldOnce(void** state) {
    (void)state;
    tpBatch* batch = createBatch(tp_freeFlight, 3);
    tpBatch_Step(batch, 0.5, 1, NULL);
    double seen[worlds] = { 0.0 };
    tpBatch_ForEach(batch, count, seen);
    for (int i = 0; i < worlds; ++i) {
        assert_true(seen[i] == 0.5 + i);
    }
    tpDestroyBatch(batch);
}

static void misuseIsTold(void** state) {
    (void)state;
    tpWorld* list[3] = { createPlant(tp_anitescu, 1), createPlant(tp_anitescu, 1), NULL };
    tpBatchDef def = tpDefaultBatchDef();
    def.worlds = list;
    def.worldCount = 3;
    tpError error = { tp_success, "" };
    assert_null(tpCreateBatch(&def, &error));
    assert_non_null(strstr(error.message, "worlds[2] is NULL"));
    list[2] = list[0];
    assert_null(tpCreateBatch(&def, &error));
    assert_non_null(strstr(error.message, "worlds[2] is in the list twice"));
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpBodyId extra = tpCreateBody(list[1], &body, NULL);
    def.worldCount = 2;
    assert_null(tpCreateBatch(&def, &error));
    assert_non_null(strstr(error.message, "worlds[1] has other bodies"));
    assert_true(tpBody_IsValid(list[1], extra));

    def.worldCount = 1;
    tpBatch* batch = tpCreateBatch(&def, &error);
    assert_non_null(batch);
    assert_null(tpCreateBatch(&def, &error));
    assert_non_null(strstr(error.message, "already"));
    expectMisuse("tpDestroyWorld", "world");
    tpDestroyWorld(list[0]);
    expectMisuse("tpBatch_Step", "h");
    assert_int_equal(tpBatch_Step(batch, NAN, 1, NULL), tp_badInput);
    expectMisuse("tpBatch_Step", "stepCount");
    assert_int_equal(tpBatch_Step(batch, 0.01, 0, NULL), tp_badInput);
    expectMisuse("tpBatch_GetWorld", "index");
    assert_null(tpBatch_GetWorld(batch, 1));
    expectMisuse("tpBatch_Read", "field");
    double number = 0.0;
    assert_int_equal(tpBatch_Read(batch, tp_batchFieldCount, &number, &error), tp_badInput);
    expectMisuse("tpBatch_Write", "numbers");
    assert_int_equal(tpBatch_Write(batch, tp_batchGravity, NULL, &error), tp_badInput);
    expectMisuse("tpCreateBatch", "def->threadCount");
    def.threadCount = 0;
    assert_null(tpCreateBatch(&def, &error));
    assert_null(expectedFunction);
    tpSetMisuseHook(NULL);
    // The worlds are the caller's again, and whole.
    uint64_t hash = tpWorld_HashState(list[0]);
    tpDestroyBatch(batch);
    assert_true(tpWorld_HashState(list[0]) == hash);
    tpWorld_Step(list[0], 0.01);
    tpDestroyWorld(list[0]);
    tpDestroyWorld(list[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worldsMoveAsAlone),      cmocka_unit_test(rowsComeBackAsWritten),
        cmocka_unit_test(wrongRowsChangeNothing), cmocka_unit_test(viewsFollowWithoutACopy),
        cmocka_unit_test(someGoBackToTheirStart), cmocka_unit_test(functionsSeeEveryWorldOnce),
        cmocka_unit_test(misuseIsTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
