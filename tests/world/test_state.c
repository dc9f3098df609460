// The state as arrays: reading, writing, order, and what is refused.

#include "tippe/state.h"

#include <string.h>

#include "support/check.h"

enum { most = 8 };

typedef struct Arrays {
    double positions[3 * most], rotations[4 * most], velocities[3 * most], spins[3 * most];
} Arrays;

static tpStateArrays pointersTo(Arrays* arrays) {
    return (tpStateArrays){ arrays->positions, arrays->rotations, arrays->velocities,
                            arrays->spins };
}

static tpBodyId addBody(tpWorld* world, tpBodyKind kind, double x) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = tpMakeVec3(x, 0.0, 0.0);
    def.velocity = tpMakeVec3(0.0, x, 0.0);
    def.angularVelocity = tpMakeVec3(0.0, 0.0, x);
    def.hasMass = true;
    def.mass = (tpMassProperties){ 1.0, { 0.0, 0.5, 0.0 }, tpIdentityMat33() };
    return tpCreateBody(world, &def, NULL);
}

static void rowsAreThoseOfMovingBodies(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId first = addBody(world, tp_dynamicBody, 1.0);
    addBody(world, tp_fixedBody, 2.0);
    tpBodyId second = addBody(world, tp_kinematicBody, 3.0);
    assert_int_equal(tpWorld_GetMovingCount(world), 2);
    assert_int_equal(tpWorld_GetMoving(world, 1).slot, second.slot);
    assert_int_equal(tpWorld_GetMoving(world, 2).slot, 0);
    assert_int_equal(tpWorld_GetMoving(world, -1).slot, 0);
    Arrays arrays;
    tpStateArrays pointers = pointersTo(&arrays);
    tpWorld_ReadState(world, &pointers);
    CHECK_VEC3(tpMakeVec3(arrays.positions[0], arrays.positions[1], arrays.positions[2]),
               tpBody_GetPosition(world, first), 0.0);
    assert_true(arrays.positions[3] == 3.0 && arrays.rotations[4] == 1.0);
    assert_true(arrays.velocities[4] == 3.0 && arrays.spins[5] == 3.0);

    // A body that takes the slot of a destroyed one comes last all the same.
    uint64_t structure = tpWorld_GetStructure(world);
    tpDestroyBody(world, first);
    tpBodyId third = addBody(world, tp_dynamicBody, 4.0);
    assert_int_equal(third.slot, first.slot);
    assert_true(tpWorld_GetStructure(world) != structure);
    assert_int_equal(tpWorld_GetMoving(world, 0).slot, second.slot);
    assert_int_equal(tpWorld_GetMoving(world, 1).slot, third.slot);
    assert_int_equal(tpWorld_GetBody(world, 2).slot, third.slot);

    // Forces are no change of structure.
    structure = tpWorld_GetStructure(world);
    tpForceDef force = tpDefaultForceDef();
    force.body = third;
    tpDestroyForce(world, tpCreateForce(world, &force, NULL));
    assert_true(tpWorld_GetStructure(world) == structure);
    tpDestroyWorld(world);
}

// Hundreds of bodies, some of which have taken the slots of others: every row is its body's.
static void manyRowsKeepTheirOrder(void** state) {
    (void)state;
    enum { count = 700 };
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    for (int i = 0; i < count; ++i) {
        tpBodyId body = addBody(world, tp_dynamicBody, i + 1.0);
        if (i % 97 == 5) {
            tpDestroyBody(world, body);
            addBody(world, tp_dynamicBody, -1.0 - i);
        }
    }
    tpDestroyBody(world, tpWorld_GetMoving(world, 300));
    tpDestroyBody(world, tpWorld_GetMoving(world, 10));
    addBody(world, tp_dynamicBody, 1e4);
    addBody(world, tp_dynamicBody, 2e4);
    assert_int_equal(tpWorld_GetMovingCount(world), count);
    static double positions[3 * count], rotations[4 * count], velocities[3 * count];
    static double spins[3 * count];
    tpStateArrays pointers = { positions, rotations, velocities, spins };
    tpWorld_ReadState(world, &pointers);
    for (int i = 0; i < count; ++i) {
        tpBodyId body = tpWorld_GetMoving(world, i);
        tpVec3 x = tpBody_GetPosition(world, body);
        tpQuat q = tpBody_GetRotation(world, body);
        tpVec3 v = tpBody_GetVelocity(world, body), w = tpBody_GetAngularVelocity(world, body);
        assert_memory_equal(&positions[3 * i], &x, sizeof(tpVec3));
        assert_memory_equal(&rotations[4 * i], &q, sizeof(tpQuat));
        assert_memory_equal(&velocities[3 * i], &v, sizeof(tpVec3));
        assert_memory_equal(&spins[3 * i], &w, sizeof(tpVec3));
    }
    tpDestroyWorld(world);
}

static void writingIsReadingBack(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId bodies[3];
    for (int i = 0; i < 3; ++i) {
        bodies[i] = addBody(world, tp_dynamicBody, i);
    }
    Arrays arrays, back;
    tpStateArrays pointers = pointersTo(&arrays);
    tpWorld_ReadState(world, &pointers);
    uint64_t hash = tpWorld_HashState(world);
    assert_int_equal(tpWorld_WriteState(world, &pointers, NULL), tp_success);
    assert_true(tpWorld_HashState(world) == hash);

    arrays.positions[4] = 7.0;
    arrays.rotations[4] = arrays.rotations[5] = 1.0; // not a unit quaternion
    arrays.velocities[8] = -2.0;
    arrays.spins[0] = 3.0;
    assert_int_equal(tpWorld_WriteState(world, &pointers, NULL), tp_success);
    pointers = pointersTo(&back);
    tpWorld_ReadState(world, &pointers);
    CHECK_NEAR(back.rotations[4], sqrt(0.5), 1e-15);
    CHECK_NEAR(back.rotations[5], sqrt(0.5), 1e-15);
    arrays.rotations[4] = back.rotations[4];
    arrays.rotations[5] = back.rotations[5];
    assert_memory_equal(arrays.positions, back.positions, sizeof(double) * 9);
    assert_memory_equal(arrays.rotations, back.rotations, sizeof(double) * 12);
    assert_memory_equal(arrays.velocities, back.velocities, sizeof(double) * 9);
    assert_memory_equal(arrays.spins, back.spins, sizeof(double) * 9);

    // One array alone.
    tpStateArrays places = { .positions = arrays.positions };
    arrays.positions[0] = 11.0;
    assert_int_equal(tpWorld_WriteState(world, &places, NULL), tp_success);
    assert_true(tpBody_GetPosition(world, bodies[0]).x == 11.0);
    tpDestroyWorld(world);
}

static void badRowsChangeNothing(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    addBody(world, tp_dynamicBody, 0.0);
    addBody(world, tp_dynamicBody, 1.0);
    Arrays arrays;
    tpStateArrays pointers = pointersTo(&arrays);
    tpWorld_ReadState(world, &pointers);
    uint64_t hash = tpWorld_HashState(world);
    tpError error = { 0 };
    arrays.positions[0] = 5.0; // good, but its row comes with a bad one
    arrays.velocities[5] = NAN;
    assert_int_equal(tpWorld_WriteState(world, &pointers, &error), tp_badInput);
    assert_string_equal(error.message, "velocities[1] is not finite");
    arrays.velocities[5] = 0.0;
    memset(arrays.rotations + 4, 0, sizeof(double) * 4);
    assert_int_equal(tpWorld_WriteState(world, &pointers, &error), tp_badInput);
    assert_string_equal(error.message, "rotations[1] is no rotation");
    assert_true(tpWorld_HashState(world) == hash);
    tpDestroyWorld(world);
}

static void theViewShowsEverySlot(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    addBody(world, tp_fixedBody, 0.0);
    tpBodyId body = addBody(world, tp_dynamicBody, 2.0);
    tpStateView view = tpWorld_ViewState(world);
    assert_int_equal(view.slotCount, 2);
    size_t slot = (size_t)tpBody_GetSlot(world, body);
    const double* place = view.positions + slot * view.poseStride;
    CHECK_VEC3(tpMakeVec3(place[0], place[1], place[2]), tpBody_GetPosition(world, body), 0.0);
    assert_true(view.angularVelocities[slot * view.velocityStride + 2] == 2.0);
    assert_true(view.rotations[slot * view.poseStride] == 1.0);
    tpWorld_Step(world, 0.01);
    CHECK_VEC3(tpMakeVec3(place[0], place[1], place[2]), tpBody_GetPosition(world, body), 0.0);
    tpDestroyWorld(world);
}

// A chain of three links on the world, and a compound joint beside it.
static tpWorld* makeChain(void) {
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId last = { 0, 0 };
    for (int i = 0; i < 3; ++i) {
        tpBodyId link = addBody(world, tp_dynamicBody, 1.0 + i);
        tpBody_SetVelocity(world, link, tpZeroVec3(), tpZeroVec3());
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyA = last;
        joint.bodyB = link;
        joint.anchorA = joint.anchorB = tpMakeVec3(0.5 + i, 0.0, 0.0);
        joint.axis = tpMakeVec3(0.0, i == 1 ? 1.0 : 0.0, i == 1 ? 0.0 : 1.0);
        joint.coordinate.hasServo = i < 2;
        joint.coordinate.servo.stiffness = 10.0;
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
        last = link;
    }
    tpAxisDef axes[2] = {
        { "up", tp_slideAxis, { 0.0, 0.0, 1.0 }, tpDefaultCoordinateDef() },
        { "round", tp_turnAxis, { 0.0, 0.0, 1.0 }, tpDefaultCoordinateDef() },
    };
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_compoundJoint;
    joint.bodyB = addBody(world, tp_dynamicBody, -3.0);
    joint.axes = axes;
    joint.axisCount = 2;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    return world;
}

static void coordinatesComeInOneCall(void** state) {
    (void)state;
    tpWorld* world = makeChain();
    assert_int_equal(tpWorld_GetCoordinateCount(world), 5);
    tpJointId joint;
    int coordinate;
    assert_true(tpWorld_GetCoordinateAt(world, 4, &joint, &coordinate));
    assert_int_equal(coordinate, 1);
    assert_int_equal(tpJoint_GetFirstCoordinate(world, joint), 3);
    assert_false(tpWorld_GetCoordinateAt(world, 5, &joint, &coordinate));
    assert_false(tpWorld_GetCoordinateAt(world, -1, &joint, &coordinate));
    const double values[5] = { 0.3, -0.4, 7.0, 0.2, -1.5 };
    const double speeds[5] = { 1.0, 2.0, -3.0, 0.5, 0.25 };
    tpError error = { 0 };
    if (tpWorld_WriteCoordinates(world, values, speeds, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    double read[5], rates[5];
    tpWorld_ReadCoordinates(world, read, rates, NULL);
    for (int i = 0; i < 5; ++i) {
        CHECK_NEAR(read[i], values[i], 1e-12);
        CHECK_NEAR(rates[i], speeds[i], 1e-12);
        assert_true(tpWorld_GetCoordinateAt(world, i, &joint, &coordinate));
        CHECK_NEAR(tpJoint_GetValue(world, joint, coordinate), values[i], 1e-12);
    }
    // One number that is not finite, and nothing changes.
    uint64_t hash = tpWorld_HashState(world);
    const double bad[5] = { 1.0, 1.0, INFINITY, 1.0, 1.0 };
    assert_int_equal(tpWorld_WriteCoordinates(world, bad, NULL, &error), tp_badInput);
    assert_string_equal(error.message, "values[2] is not finite");
    assert_true(tpWorld_HashState(world) == hash);
    // A closed loop: nothing changes.
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_ballJoint;
    def.bodyB = tpWorld_GetMoving(world, 2);
    def.anchorA = def.anchorB = tpBody_GetPosition(world, def.bodyB);
    tpCreateJoint(world, &def, NULL);
    double six[6] = { 0.0, 0.0, 0.0, 1.0, 1.0, 0.0 };
    hash = tpWorld_HashState(world);
    assert_int_equal(tpWorld_WriteCoordinates(world, six, NULL, &error), tp_unsupported);
    assert_true(tpWorld_HashState(world) == hash);
    tpDestroyWorld(world);
}

static void targetsAndEffortsComeInOneCall(void** state) {
    (void)state;
    tpWorld* world = makeChain();
    const double targets[5] = { 0.5, NAN, NAN, NAN, NAN }, speeds[5] = { NAN, 2.0, NAN, NAN, NAN };
    tpError error = { 0 };
    assert_int_equal(tpWorld_WriteTargets(world, targets, speeds, &error), tp_success);
    tpJointId first = tpWorld_GetJoint(world, 0), second = tpWorld_GetJoint(world, 1);
    assert_true(tpJoint_GetCoordinate(world, first, 0).servo.target == 0.5);
    assert_true(tpJoint_GetCoordinate(world, second, 0).servo.speed == 2.0);
    const double wrong[5] = { 0.7, 0.0, 1.0, NAN, NAN };
    assert_int_equal(tpWorld_WriteTargets(world, wrong, NULL, &error), tp_badInput);
    assert_string_equal(error.message, "targets[2] is for a coordinate without a servo");
    assert_true(tpJoint_GetCoordinate(world, first, 0).servo.target == 0.5);
    const double efforts[5] = { 0.0, 0.0, 0.0, 0.0, 3.0 };
    tpWorld_SetGravity(world, tpZeroVec3());
    assert_int_equal(tpWorld_ApplyEfforts(world, efforts, &error), tp_success);
    double read[5], before, after;
    tpJointId last;
    int coordinate;
    tpWorld_GetCoordinateAt(world, 4, &last, &coordinate);
    before = tpJoint_GetSpeed(world, last, coordinate);
    tpWorld_Step(world, 0.01);
    after = tpJoint_GetSpeed(world, last, coordinate);
    tpWorld_ReadCoordinates(world, NULL, NULL, read);
    CHECK_NEAR(read[4], 3.0, 1e-9);
    assert_true(after > before);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rowsAreThoseOfMovingBodies),
        cmocka_unit_test(manyRowsKeepTheirOrder),
        cmocka_unit_test(writingIsReadingBack),
        cmocka_unit_test(badRowsChangeNothing),
        cmocka_unit_test(theViewShowsEverySlot),
        cmocka_unit_test(coordinatesComeInOneCall),
        cmocka_unit_test(targetsAndEffortsComeInOneCall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
