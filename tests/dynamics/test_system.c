// Bodies of a system: their masses may change under them, and what hangs on them stays in place.

#include "ball_cases.h"

static tpBodyId addLink(tpWorld* world, tpVec3 place) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.5);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25));
    return tpCreateBody(world, &def, NULL);
}

static tpVec3 anchorOf(const tpSystem* system, int body, tpVec3 anchor) {
    return tpTransformPoint(system->poses.data[body], anchor);
}

// The centre of mass moves within the body: its frame and the anchors of joints on either side stay
// where they were, and those of other bodies are left alone.
static void testShift(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    joint.bodyB = addLink(world, tpMakeVec3(1.0, 0.0, 0.0));
    joint.anchorA = joint.anchorB = tpMakeVec3(0.4, 0.1, 0.2);
    tpCreateJoint(world, &joint, NULL);
    const tpJoint* made = &system->joints.data[0];
    for (int side = 0; side < 2; ++side) {
        tpPose frame = tpSystem_BodyFrame(system, side);
        tpVec3 before = system->poses.data[side].position;
        system->bodies.data[side].given.center = tpMakeVec3(0.1, -0.2, 0.3);
        system->bodies.data[side].given.mass = 2.0;
        tpSystem_UpdateMass(system, side);
        assert_true(tpDistanceBetween(before, system->poses.data[side].position) > 0.3);
        CHECK_VEC3(tpSystem_BodyFrame(system, side).position, frame.position, 1e-15);
        CHECK_VEC3(anchorOf(system, 0, made->anchorA), joint.anchorA, 1e-15);
        CHECK_VEC3(anchorOf(system, 1, made->anchorB), joint.anchorB, 1e-15);
        CHECK_NEAR(system->bodies.data[side].inverseMass, 0.5, 1e-15);
    }
    tpDestroyWorld(world);
}

// The inverse inertia in world axes, and how far shapes reach from the centre of mass.
static void testInertia(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyId id = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    tpMat33 inverse = tpSystem_InverseInertia(system, 0);
    double c = cos(0.5), s = sin(0.5);
    CHECK_NEAR(inverse.cx.x, c * c / 0.1 + s * s / 0.2, 1e-13);
    CHECK_NEAR(inverse.cx.y, c * s * (1.0 / 0.1 - 1.0 / 0.2), 1e-13);
    CHECK_NEAR(inverse.cz.z, 1.0 / 0.25, 1e-13);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateBox(world, id, &shape, &(tpBox){ .size = tpMakeVec3(2.0, 4.0, 4.0) }, NULL);
    CHECK_NEAR(system->bodies.data[0].reach, 3.0, 1e-13);
    tpDestroyWorld(world);
}

// In the plane only the turn about z is left, and a lock takes that, too.
static void testPlanarInertia(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    system->isPlanar = true;
    tpMat33 inverse = tpSystem_InverseInertia(system, 0);
    CHECK_VEC3(inverse.cx, tpZeroVec3(), 0.0);
    CHECK_VEC3(inverse.cy, tpZeroVec3(), 0.0);
    CHECK_VEC3(inverse.cz, tpMakeVec3(0.0, 0.0, 1.0 / 0.25), 1e-13);
    system->bodies.data[0].locked = tp_lockTurnZ;
    CHECK_VEC3(tpSystem_InverseInertia(system, 0).cz, tpZeroVec3(), 0.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testShift), cmocka_unit_test(testInertia),
                                        cmocka_unit_test(testPlanarInertia) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
