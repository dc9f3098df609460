// Blocks that share a body that moves are one island; the floor joins nothing.

#include "ball_cases.h"
#include "dynamics/islands.h"

static void testFind(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int balls[4];
    for (int i = 0; i < 4; ++i) {
        balls[i] = addBall(world, tpMakeVec3(i, 0.0, ballRadius), tpZeroVec3());
    }
    int ground = addFloor(world);
    // 2 stands on the floor; 0 on 1, 3 on the floor, 1 on the floor.
    tpContact contacts[4] = { makeContact(system, balls[2], ground),
                              makeContact(system, balls[0], balls[1]),
                              makeContact(system, balls[3], ground),
                              makeContact(system, balls[1], ground) };
    tpRows rows = makeRows(system, contacts, 4, 0.5);
    tpIslands islands;
    assert_true(tpIslands_Find(&islands, &rows, &system->arena));
    assert_int_equal(islands.count, 3);
    const int expected[4] = { 0, 1, 2, 1 };
    for (int b = 0; b < 4; ++b) {
        assert_int_equal(islands.ofBlock[b], expected[b]);
    }
    assert_int_equal(islands.starts[1] - islands.starts[0], 1);
    assert_int_equal(islands.starts[2] - islands.starts[1], 2);
    assert_int_equal(islands.blocks[islands.starts[1]], 1);
    assert_int_equal(islands.blocks[islands.starts[1] + 1], 3);
    assert_int_equal(islands.starts[3], 4);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testFind) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
