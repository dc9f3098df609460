// A motion that is put back goes on as it would have gone on.

#include "dynamics/kept_motion.h"
#include "support/check.h"
#include "world/world.h"

static void testPutBack(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass = (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25)) };
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.anchorA = joint.anchorB = tpMakeVec3(-1.0, 0.0, 0.0);
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.coordinate.armature = 0.5;
    tpCreateJoint(world, &joint, NULL);
    for (int k = 0; k < 20; ++k) {
        tpWorld_Step(world, 0.01);
    }

    tpSystem* system = &world->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpKeptMotion kept;
    assert_true(tpKeptMotion_Take(&kept, system));
    uint64_t then = tpWorld_HashState(world);
    tpPose pose = system->poses.data[0];
    tpJoint* held = &system->joints.data[0];
    double turn = held->coordinates[0].displacement, load = held->force.z;
    assert_true(load != 0.0);
    system->poses.data[0].position = tpMakeVec3(3.0, 4.0, 5.0);
    system->velocities.data[0].angular = tpMakeVec3(1.0, 1.0, 1.0);
    held->coordinates[0].displacement += 1.0;
    held->force.z = 0.0;
    assert_true(tpWorld_HashState(world) != then);

    tpKeptMotion_PutBack(&kept, system);
    assert_true(tpWorld_HashState(world) == then);
    assert_true(system->poses.data[0].position.x == pose.position.x);
    assert_true(held->coordinates[0].displacement == turn && held->force.z == load);
    tpArena_Release(&system->arena, mark);
    tpDestroyWorld(world);
}

// Bodies are copied in chunks: of more than a few chunks each body comes back.
static void testManyBodies(void** state) {
    (void)state;
    enum { many = 2 * tp_bodiesPerChunk + 100 };
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_freeFlight;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass = (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25)) };
    for (int i = 0; i < many; ++i) {
        body.position = tpMakeVec3(i, 0.5 * i, -i);
        body.velocity = tpMakeVec3(-i, 1.0, 0.25 * i);
        tpCreateBody(world, &body, NULL);
    }
    tpSystem* system = &world->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpKeptMotion kept;
    assert_true(tpKeptMotion_Take(&kept, system));
    for (int i = 0; i < many; ++i) {
        system->poses.data[i].position = system->velocities.data[i].linear = tpZeroVec3();
    }
    tpKeptMotion_PutBack(&kept, system);
    for (int i = 0; i < many; ++i) {
        CHECK_VEC3(system->poses.data[i].position, tpMakeVec3(i, 0.5 * i, -i), 0.0);
        CHECK_VEC3(system->velocities.data[i].linear, tpMakeVec3(-i, 1.0, 0.25 * i), 0.0);
    }
    tpArena_Release(&system->arena, mark);
    // They all fall alike, too.
    tpStepReport report = tpWorld_Step(world, 0.5);
    for (int i = 0; i < many; ++i) {
        double fall = 0.5 * 9.81;
        CHECK_VEC3(system->velocities.data[i].linear, tpMakeVec3(-i, 1.0, 0.25 * i - fall), 1e-9);
        CHECK_VEC3(system->poses.data[i].position,
                   tpMakeVec3(i - 0.5 * i, 0.5 * i + 0.5, -i + 0.125 * i - 0.25 * fall), 1e-9);
    }
    CHECK_NEAR(report.energyIncrease, 0.0, 1e-12 * report.kineticAfter);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testPutBack),
                                        cmocka_unit_test(testManyBodies) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
