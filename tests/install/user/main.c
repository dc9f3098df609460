// A ball dropped on the floor, with an installed library.
#include <stdio.h>
#include <tippe/scene.h>
#include <tippe/tippe.h>

int main(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shapeDef, &plane, NULL);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 2.0);
    tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
    tpSphere sphere = { 0.5 };
    tpCreateSphere(world, ball, &shapeDef, &sphere, NULL);
    for (int i = 0; i < 90; ++i) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    double height = tpBody_GetPosition(world, ball).z;
    printf("%s %.6f\n", tpVersion(), height);
    tpDestroyWorld(world);
    return height > 0.4999 && height < 0.5001 ? 0 : 1;
}
