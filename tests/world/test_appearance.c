// Colours and shapes that are only seen: kept with the bodies, forgotten with them, and without
// effect on any motion.

#include <string.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/world.h"

static const tpColor red = { 0.8, 0.1, 0.1 }, blue = { 0.1, 0.2, 0.9 };

static tpWorld* makeWorld(const tpAllocator* allocator, bool isSeen) {
    tpWorldDef def = tpDefaultWorldDef();
    if (allocator != NULL) {
        def.allocator = *allocator;
    }
    def.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shapeDef,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.6);
    bodyDef.angularVelocity = tpMakeVec3(1.0, 2.0, 3.0);
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpCreateBox(world, body, &shapeDef, &(tpBox){ { 0.5, 0.4, 0.3 } }, NULL);
    if (isSeen) { // far larger than the box: it would touch the floor at once
        tpGeometry geometry;
        tpMakeSphere(&(tpSphere){ 2.0 }, tpIdentityPose(), &geometry, NULL);
        assert_int_equal(tpBody_AddVisual(world, body, &geometry, &red, NULL), tp_success);
    }
    return world;
}

static void visualsChangeNoMotion(void** state) {
    (void)state;
    tpWorld* plain = makeWorld(NULL, false);
    tpWorld* seen = makeWorld(NULL, true);
    tpBodyId a = tpWorld_GetBody(plain, 1), b = tpWorld_GetBody(seen, 1);
    assert_true(tpBody_GetMass(plain, a).mass == tpBody_GetMass(seen, b).mass);
    for (int k = 0; k < 120; ++k) {
        tpWorld_Step(plain, 1.0 / 120.0);
        tpWorld_Step(seen, 1.0 / 120.0);
        tpVec3 p = tpBody_GetPosition(plain, a), q = tpBody_GetPosition(seen, b);
        assert_true(p.x == q.x && p.y == q.y && p.z == q.z);
    }
    tpDestroyWorld(plain);
    tpDestroyWorld(seen);
}

static void colorsAndVisualsAreKept(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpWorld* world = makeWorld(&allocator, true);
    tpBodyId floor = tpWorld_GetBody(world, 0), body = tpWorld_GetBody(world, 1);
    tpShapeId box = tpBody_GetShape(world, body, 0);
    tpColor color = { -1.0, -1.0, -1.0 };
    assert_false(tpShape_GetColor(world, box, &color));
    assert_int_equal(tpShape_SetColor(world, box, blue, NULL), tp_success);
    assert_true(tpShape_GetColor(world, box, &color) && color.blue == blue.blue);
    assert_int_equal(tpBody_GetVisualCount(world, floor), 0);

    tpGeometry geometry;
    tpMakeCylinder(&(tpCylinder){ 0.1, 0.5, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &geometry, NULL);
    assert_int_equal(tpBody_AddVisual(world, body, &geometry, NULL, NULL), tp_success);
    assert_int_equal(tpBody_GetVisualCount(world, body), 2);
    assert_true(tpBody_GetVisual(world, body, 0).hasColor);
    assert_false(tpBody_GetVisual(world, body, 1).hasColor);
    assert_int_equal(tpBody_GetVisual(world, body, 1).geometry->type, tp_cylinderShape);
    assert_null(tpBody_GetVisual(world, body, 2).geometry);

    // A new body or shape in the slot of an old one inherits nothing.
    tpDestroyBody(world, body);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    tpBodyId next = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpShapeId ball = tpCreateSphere(world, next, &shapeDef, &(tpSphere){ 1.0 }, NULL);
    assert_int_equal(next.slot, body.slot);
    assert_int_equal(tpBody_GetVisualCount(world, next), 0);
    assert_false(tpShape_GetColor(world, ball, &color));
    tpDestroyWorld(world);
    assert_int_equal(heap.outstanding, 0);
}

static void wrongArgumentsAreTold(void** state) {
    (void)state;
    tpWorld* world = makeWorld(NULL, false);
    tpBodyId body = tpWorld_GetBody(world, 1), nobody = { 77, 1 };
    tpShapeId box = tpBody_GetShape(world, body, 0), nothing = { 77, 1 };
    tpGeometry geometry;
    tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &geometry, NULL);
    tpColor wrong = { 0.5, NAN, 0.5 }, glaring = { 0.5, 1.5, 0.5 };
    tpError error;
    assert_int_equal(tpShape_SetColor(world, box, wrong, &error), tp_badInput);
    assert_non_null(strstr(error.message, "colour"));
    assert_int_equal(tpShape_SetColor(world, nothing, red, &error), tp_badInput);
    assert_int_equal(tpBody_AddVisual(world, nobody, &geometry, NULL, &error), tp_badInput);
    assert_int_equal(tpBody_AddVisual(world, body, &geometry, &glaring, &error), tp_badInput);
    assert_int_equal(tpBody_GetVisualCount(world, body), 0);
    assert_int_equal(tpBody_GetVisualCount(world, nobody), 0);
    tpColor color;
    assert_false(tpShape_GetColor(world, nothing, &color));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visualsChangeNoMotion),
        cmocka_unit_test(colorsAndVisualsAreKept),
        cmocka_unit_test(wrongArgumentsAreTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
