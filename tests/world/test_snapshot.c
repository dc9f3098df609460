// Snapshots as bytes: into another world built the same way, in another process, and what is
// refused.

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/tippe.h"

static const double h = 1.0 / 60.0;

// A pile with a motorised arm, a kinematic lift, forces and a servo: something of everything.
static tpWorld* build(tpStepperId stepper, int boxCount) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.4;
    material.restitution = 0.2;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef floor = tpDefaultBodyDef();
    floor.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floor, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    tpRandom random = { 5 };
    for (int i = 0; i < boxCount; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.position = tpMakeVec3(0.1 * i, 0.05 * (i % 2), 0.4 + 0.5 * i);
        body.rotation = randomRotation(&random);
        tpCreateBox(world, tpCreateBody(world, &body, NULL), &shape, &(tpBox){ { 0.5, 0.4, 0.3 } },
                    NULL);
    }
    tpBodyDef arm = tpDefaultBodyDef();
    arm.name = "arm";
    arm.position = tpMakeVec3(3.5, 0.0, 2.0);
    tpBodyId armId = tpCreateBody(world, &arm, NULL);
    tpCreateBox(world, armId, &shape, &(tpBox){ { 1.0, 0.1, 0.1 } }, NULL);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.name = "elbow";
    joint.bodyB = armId;
    joint.anchorA = joint.anchorB = tpMakeVec3(3.0, 0.0, 2.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.hasServo = true;
    joint.coordinate.servo = (tpServo){ 12.0, 0.0, 200.0, 20.0, 300.0 };
    joint.coordinate.armature = 0.5;
    tpCreateJoint(world, &joint, NULL);
    tpForceDef force = tpDefaultForceDef();
    force.body = armId;
    force.force = tpMakeVec3(0.0, 0.0, 5.0);
    force.from = 0.2;
    tpCreateForce(world, &force, NULL);
    return world;
}

// What a user may do while it runs.
static void meddle(tpWorld* world) {
    tpJointId elbow = tpWorld_FindJoint(world, "elbow");
    tpJoint_SetTarget(world, elbow, 0, 8.0, 0.0);
    tpBodyId box = tpWorld_GetBody(world, 2);
    tpMassProperties mass = tpBody_GetMass(world, box);
    mass.mass *= 2.0;
    mass.inertia = tpScaleM(2.0, mass.inertia);
    mass.center.x += 0.02;
    assert_int_equal(tpBody_SetMass(world, box, &mass, NULL), tp_success);
    tpBody_SetGravityScale(world, box, 0.8);
    tpMaterialDef material = tpMaterial_GetDef(world, 1);
    material.friction.dynamicCoefficient = material.friction.staticCoefficient = 0.7;
    assert_int_equal(tpMaterial_SetDef(world, 1, &material, NULL), tp_success);
    tpWorld_SetGravity(world, tpMakeVec3(0.5, 0.0, -9.0));
    tpBody_ApplyForce(world, box, tpMakeVec3(40.0, 0.0, 0.0), tp_worldFrame);
    tpJoint_ApplyEffort(world, elbow, 0, 3.0);
}

static uint64_t run(tpWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        tpWorld_Step(world, h);
    }
    return tpWorld_HashState(world);
}

static const tpStepperId steppers[] = { tp_freeFlight,         tp_stewartTrinkle, tp_anitescu,
                                        tp_mirtichCanny,       tp_benderSchmitt,  tp_smallSteps,
                                        tp_chakrabortyTrinkle, tp_penalty };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

// Saved in the middle of things, with a force waiting for the next step.
static void anotherWorldContinues(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = build(steppers[s], 3);
        run(world, 20);
        meddle(world);
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        size_t size;
        const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
        uint64_t expected = run(world, 15);
        double value = tpJoint_GetValue(world, tpWorld_FindJoint(world, "elbow"), 0);

        tpWorld* other = build(steppers[s], 3);
        tpError error = { 0 };
        tpSnapshot* copy = tpCreateSnapshot(bytes, size, NULL, &error);
        if (copy == NULL || tpWorld_Restore(other, copy, &error) != tp_success) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(tpWorld_GetStepCount(other), 20);
        if (run(other, 15) != expected) {
            fail_msg("%s goes another way", tpStepperName(steppers[s]));
        }
        assert_true(tpJoint_GetValue(other, tpWorld_FindJoint(other, "elbow"), 0) == value);
        // And again from the middle, in the first world.
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        assert_true(run(world, 15) == expected);
        tpDestroySnapshot(copy);
        tpDestroySnapshot(snapshot);
        tpDestroyWorld(other);
        tpDestroyWorld(world);
    }
}

// Through a file, into a process that has never seen the first world.
static void anotherProcessContinues(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        char path[] = "/tmp/tippe_snapshot_XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        tpWorld* world = build(steppers[s], 3);
        run(world, 15);
        meddle(world);
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        size_t size;
        const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
        assert_true(write(file, bytes, size) == (ssize_t)size);
        uint64_t expected = run(world, 15);
        tpDestroySnapshot(snapshot);
        tpDestroyWorld(world);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            void* read = malloc(size);
            bool isRead = pread(file, read, size, 0) == (ssize_t)size;
            tpWorld* other = build(steppers[s], 3);
            tpSnapshot* copy = tpCreateSnapshot(read, size, NULL, NULL);
            bool isSame = isRead && copy != NULL &&
                          tpWorld_Restore(other, copy, NULL) == tp_success &&
                          run(other, 15) == expected;
            _exit(isSame ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        close(file);
        unlink(path);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void refuse(tpWorld* world, const void* bytes, size_t size, const char* words) {
    tpError error = { 0 };
    uint64_t before = tpWorld_HashState(world);
    tpSnapshot* snapshot = tpCreateSnapshot(bytes, size, NULL, &error);
    if (snapshot != NULL) {
        assert_int_equal(tpWorld_Restore(world, snapshot, &error), tp_badInput);
        tpDestroySnapshot(snapshot);
    }
    if (strstr(error.message, words) == NULL) {
        fail_msg("expected ...%s..., found %s", words, error.message);
    }
    assert_true(tpWorld_HashState(world) == before);
}

static void wrongBytesAreRefused(void** state) {
    (void)state;
    tpWorld* world = build(tp_anitescu, 3);
    run(world, 10);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    size_t size;
    const unsigned char* bytes = tpSnapshot_GetBytes(snapshot, &size);
    unsigned char* copy = malloc(size);
    refuse(world, "", 0, "not a snapshot");
    refuse(world, bytes, 20, "not a snapshot");
    refuse(world, bytes, size - 1, "cut off");
    memcpy(copy, bytes, size);
    copy[0] = 'x';
    refuse(world, copy, size, "not a snapshot");
    memcpy(copy, bytes, size);
    assert_int_equal(copy[8], tpSnapshotVersion());
    assert_int_equal(tpSnapshotVersion(), TP_SNAPSHOT_VERSION);
    copy[8] = 77;
    refuse(world, copy, size, "format 77");
    memcpy(copy, bytes, size);
    copy[20] ^= 1;
    refuse(world, copy, size, "another version");
    // Of the head, too: what it says of the world (from byte 24 on) is not taken for granted. The
    // size stands at byte 40.
    for (size_t i = 24; i < size; i += i < 200 ? (i == 39 ? 9 : 1) : 997) {
        memcpy(copy, bytes, size);
        copy[i] ^= 16;
        refuse(world, copy, size, "damaged");
    }
    tpWorld* other = build(tp_anitescu, 4);
    refuse(other, bytes, size, "other bodies");
    tpWorld* stepped = build(tp_stewartTrinkle, 3);
    refuse(stepped, bytes, size, "of the stepper anitescu");
    // The same number of bodies, but another joint.
    tpWorld* jointed = build(tp_anitescu, 3);
    tpDestroyJoint(jointed, tpWorld_FindJoint(jointed, "elbow"));
    refuse(jointed, bytes, size, "other bodies");
    free(copy);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(jointed);
    tpDestroyWorld(stepped);
    tpDestroyWorld(other);
    tpDestroyWorld(world);
}

// The counter of structures does not go back to a number that has meant something else.
static void restoringTellsOfStructure(void** state) {
    (void)state;
    tpWorld* world = build(tp_anitescu, 2);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    size_t size;
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    tpWorld* other = build(tp_anitescu, 2);
    tpBodyDef def = tpDefaultBodyDef();
    tpDestroyBody(other, tpCreateBody(other, &def, NULL));
    uint64_t seen = tpWorld_GetStructure(other);
    tpSnapshot* copy = tpCreateSnapshot(bytes, size, NULL, NULL);
    tpError error = { 0 };
    // A slot that is empty is not the same structure.
    assert_int_equal(tpWorld_Restore(other, copy, &error), tp_badInput);
    assert_true(tpWorld_GetStructure(other) == seen);
    tpDestroySnapshot(copy);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(other);
    tpDestroyWorld(world);
}

static void memoryMayFail(void** state) {
    (void)state;
    tpWorld* world = build(tp_anitescu, 2);
    run(world, 5);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    size_t size;
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    heap.failAt = 1;
    tpError error = { 0 };
    assert_null(tpCreateSnapshot(bytes, size, &allocator, &error));
    assert_int_equal(error.result, tp_outOfMemory);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// A force that is applied, and then a body that comes: the snapshot is whole.
static void loadsOfNewBodiesAreKept(void** state) {
    (void)state;
    tpWorld* world = build(tp_anitescu, 2);
    tpBody_ApplyForce(world, tpWorld_FindBody(world, "arm"), tpMakeVec3(0.0, 0.0, 30.0),
                      tp_worldFrame);
    tpBodyDef def = tpDefaultBodyDef();
    def.name = "late";
    def.position = tpMakeVec3(-5.0, 0.0, 3.0);
    def.hasMass = true;
    def.mass.mass = 2.0;
    def.mass.inertia = tpIdentityMat33();
    tpCreateBody(world, &def, NULL);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpWorld_Step(world, h);
    uint64_t after = tpWorld_HashState(world);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    CHECK_NEAR(tpBody_GetPosition(world, tpWorld_FindBody(world, "late")).x, -5.0, 0.0);
    tpWorld_Step(world, h);
    assert_true(tpWorld_HashState(world) == after);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anotherWorldContinues), cmocka_unit_test(anotherProcessContinues),
        cmocka_unit_test(wrongBytesAreRefused),  cmocka_unit_test(restoringTellsOfStructure),
        cmocka_unit_test(memoryMayFail),         cmocka_unit_test(loadsOfNewBodiesAreKept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
