// Bodies that joints and couplings hold together are one island; the floor joins nothing. Bodies
// that are taken out of the system stay where they are.

#include "dynamics/body_islands.h"

#include <string.h>

#include "ball_cases.h"
#include "dynamics/contacts.h"
#include "tippe/joints.h"

// Balls in a row: 0 and 1 on a hinge, 2 and 3 on one, 4 hinged to the floor, 5 and 6 alone.
enum { ballCount = 7 };

static tpJointId hinge(tpWorld* world, int a, int b) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.axis = tpMakeVec3(0.0, 1.0, 0.0);
    def.bodyA = tpWorld_BodyId(world, a);
    def.bodyB = tpWorld_BodyId(world, b);
    return tpCreateJoint(world, &def, NULL);
}

static tpWorld* makeRow(int* balls, tpJointId* hinges) {
    tpWorld* world = makeEmptyWorld();
    for (int i = 0; i < ballCount; ++i) {
        balls[i] = addBall(world, tpMakeVec3(4.0 * i, 0.0, 1.0), tpMakeVec3(0.0, 0.0, 1.0));
    }
    tpBodyDef fixed = tpDefaultBodyDef();
    fixed.kind = tp_fixedBody;
    tpCreateBody(world, &fixed, NULL);
    hinges[0] = hinge(world, balls[0], balls[1]);
    hinges[1] = hinge(world, balls[2], balls[3]);
    hinges[2] = hinge(world, ballCount, balls[4]);
    hinge(world, ballCount, balls[5]);
    return world;
}

static void checkRoots(int* parents, const int* balls, const int* roots) {
    for (int i = 0; i < ballCount; ++i) {
        assert_int_equal(tpBodyIslands_Root(parents, balls[i]), balls[roots[i]]);
    }
}

static void testIslands(void** state) {
    (void)state;
    int balls[ballCount];
    tpJointId hinges[3];
    tpWorld* world = makeRow(balls, hinges);
    tpSystem* system = &world->system;
    int* parents = tpBodyIslands_Find(system);
    checkRoots(parents, balls, (int[]){ 0, 0, 2, 2, 4, 5, 6 });
    tpBodyIslands_Join(parents, system, balls[6], balls[3]);
    checkRoots(parents, balls, (int[]){ 0, 0, 2, 2, 4, 5, 2 });
    tpBodyIslands_Join(parents, system, balls[0], ballCount); // the floor
    tpBodyIslands_Join(parents, system, -1, balls[0]);        // the world
    checkRoots(parents, balls, (int[]){ 0, 0, 2, 2, 4, 5, 2 });

    tpCouplingTerm terms[2] = { { .joint = hinges[0], .factor = 1.0 },
                                { .joint = hinges[2], .factor = 1.0 } };
    tpCouplingDef coupling = { .terms = terms, .termCount = 2, .hasValue = true };
    tpCreateCoupling(world, &coupling, NULL);
    tpDestroyJoint(world, hinges[1]);
    checkRoots(tpBodyIslands_Find(system), balls, (int[]){ 0, 0, 2, 3, 0, 5, 6 });
    tpDestroyWorld(world);
}

static void testTakenOut(void** state) {
    (void)state;
    int balls[ballCount];
    tpJointId hinges[3];
    tpWorld* world = makeRow(balls, hinges);
    tpSystem* system = &world->system;
    bool isMarked[ballCount + 1] = { false };
    isMarked[balls[0]] = isMarked[balls[1]] = true;
    double mass = system->bodies.data[balls[0]].mass;
    tpSystem_TakeOut(system, isMarked);
    for (int i = 0; i < ballCount; ++i) {
        assert_true(tpSystem_IsDynamic(system, balls[i]) == (i > 1));
        CHECK_NEAR(system->velocities.data[balls[i]].linear.z, i > 1 ? 1.0 : 0.0, 0.0);
    }
    tpVec3 out = system->poses.data[balls[0]].position, in = system->poses.data[balls[6]].position;
    tpWorld_Step(world, 0.01);
    CHECK_NEAR(tpDistanceBetween(system->poses.data[balls[0]].position, out), 0.0, 0.0);
    assert_true(tpDistanceBetween(system->poses.data[balls[6]].position, in) > 1e-3);
    tpSystem_PutIn(system, isMarked);
    CHECK_NEAR(system->bodies.data[balls[0]].inverseMass, 1.0 / mass, 0.0);
    assert_false(tpSystem_IsDynamic(system, ballCount));
    tpDestroyWorld(world);
}

// Margins are half as long again as what bodies can come at their speeds.
static void testOutrun(void** state) {
    (void)state;
    int balls[ballCount];
    tpJointId hinges[3];
    tpWorld* world = makeRow(balls, hinges);
    tpSystem* system = &world->system;
    tpPose starts[ballCount + 1];
    memcpy(starts, system->poses.data, sizeof(starts));
    const double h = 0.01;
    double* margins = tpSystem_ReservedMargins(system, h);
    double* plain = tpSystem_Margins(system, system->velocities.data, NULL, h);
    assert_true(margins[balls[6]] >= 1.5 * h);
    CHECK_NEAR(margins[balls[6]], 1.5 * plain[balls[6]], 1e-15);
    CHECK_NEAR(margins[ballCount], 0.0, 0.0);
    system->poses.data[balls[6]].position.z += 0.99 * margins[balls[6]];
    assert_false(tpSystem_HasOutrun(system, starts, margins));
    system->poses.data[balls[6]].position.z += 0.02 * margins[balls[6]];
    assert_true(tpSystem_HasOutrun(system, starts, margins));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testIslands),
        cmocka_unit_test(testTakenOut),
        cmocka_unit_test(testOutrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
