// Bodies that are too deep in each other after a step: by half the inner radius of the thinner one.

#include "dynamics/deep_bodies.h"

#include "support/check.h"
#include "support/floor.h"
#include "world/world.h"

// A plate of 2 cm that lies on the floor, in a ball of 1 m and away from all.
static void thinnerBodiesCount(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_anitescu, 0.3, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = 0.01;
    addSolidBox(world, &def, tpMakeVec3(0.4, 0.4, 0.02), 1000.0);
    def.position = tpMakeVec3(5.0, 0.0, 3.0);
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 1.0 }, NULL);
    tpWorld_Step(world, 1e-3);
    tpSystem* system = &world->system;
    tpPose starts[3];
    for (int i = 0; i < 3; ++i) {
        starts[i] = system->poses.data[i];
    }
    int plate = 1, round = 2;
    assert_true(tpSystem_IsDynamic(system, plate) && tpSystem_IsDynamic(system, round));
    const struct {
        double sunk;  // of the plate, m
        double start; // the same at the start of the step
        bool isDeep;
    } cases[] = { { 0.0, 0.0, false },
                  { 0.0045, 0.0, false },
                  { 0.0055, 0.0, true },
                  { 0.0055, 0.0054, false },
                  { 0.0075, 0.0054, true } };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        bool isMarked[3] = { false, false, false };
        tpArena_Reset(&system->arena);
        system->poses.data[plate].position.z = 0.01 - cases[k].sunk;
        starts[plate].position.z = 0.01 - cases[k].start;
        assert_int_equal(tpSystem_MarkDeep(system, starts, NULL), cases[k].isDeep);
        assert_int_equal(tpSystem_MarkDeep(system, starts, isMarked), cases[k].isDeep);
        assert_int_equal(isMarked[plate], cases[k].isDeep);
        assert_false(isMarked[0] || isMarked[round]);
    }
    // The ball is deep at half a metre.
    starts[plate].position.z = system->poses.data[plate].position.z = 0.01;
    for (int k = 0; k < 2; ++k) {
        bool isMarked[3] = { false, false, false };
        tpArena_Reset(&system->arena);
        system->poses.data[round].position.z = k == 0 ? 0.51 : 0.49;
        assert_int_equal(tpSystem_MarkDeep(system, starts, isMarked), k == 1);
        assert_true(isMarked[round] == (k == 1) && !isMarked[plate]);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(thinnerBodiesCount) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
