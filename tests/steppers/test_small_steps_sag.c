// Contacts of small steps sag under load, and bodies tilt with them. A stack of rigid boxes must
// not buckle because of that as an elastic column would, and must fall when rigid ones do.

#include <string.h>

#include "steppers/small_steps/step.h"
#include "support/check.h"
#include "tippe/world.h"

static const double step = 1.0 / 60.0;

static tpWorld* makeWorld(tpStepperId stepper, tpVec3 gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = gravity;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.6;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    return world;
}

static tpBodyId addBox(tpWorld* world, tpBodyKind kind, tpVec3 place, tpVec3 size, tpVec3 spin) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = place;
    def.angularVelocity = spin;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1.0;
    tpBox box = { size };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

// Unit boxes on a plate whose upper side is at 0, which turns about the origin.
static tpBodyId addStack(tpWorld* world, int boxes, tpVec3 spin) {
    tpVec3 unit = tpMakeVec3(1.0, 1.0, 1.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tpLength(spin) > 0.0 ? tp_kinematicBody : tp_fixedBody;
    def.angularVelocity = spin;
    tpBodyId plate = tpCreateBody(world, &def, NULL), top = plate;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, plate, &shape, &plane, NULL);
    for (int i = 0; i < boxes; ++i) {
        top = addBox(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, i + 0.5), unit, tpZeroVec3());
    }
    return top;
}

// A push sideways of q per metre bends a clamped column of stiffness B and height H by
// q H^4 / 8 B, twice that if it comes at once. Contacts are springs of w^2 / W with w 256 per
// second and W 8 per kilogram at the corners, so that B is 8,200 N m^2. With arms that turn with
// the sag, columns above 18.7 m buckle.
static void towersDoNotBuckle(void** state) {
    (void)state;
    static const int heights[] = { 15, 20, 30 };
    for (int k = 0; k < 3; ++k) {
        double push = 0.02, height = heights[k];
        tpWorld* world = makeWorld(tp_smallSteps, tpMakeVec3(push, 0.0, -9.81));
        tpBodyId top = addStack(world, heights[k], tpZeroVec3());
        double most = 0.0;
        for (int i = 0; i < 20 * 60; ++i) {
            tpWorld_Step(world, step);
            tpVec3 place = tpBody_GetPosition(world, top);
            most = fmax(most, fmax(fabs(place.x), fabs(place.y)));
        }
        CHECK_BELOW(most, 2.0 * push * pow(height, 4.0) / (8.0 * 8200.0));
        tpDestroyWorld(world);
    }
}

// When a stack on a plate that turns at `spin` has tilted by 0.05 against it.
static double tippingTime(tpStepperId stepper, int boxes, double spin) {
    tpWorld* world = makeWorld(stepper, tpMakeVec3(0.0, 0.0, -9.81));
    tpBodyId top = addStack(world, boxes, tpMakeVec3(0.0, spin, 0.0));
    int i = 0;
    for (double tilt = 0.0; i < 900 && tilt < 0.05; ++i) {
        tpWorld_Step(world, step);
        tpQuat turned = tpBody_GetRotation(world, top);
        tilt = 2.0 * atan2(turned.y, turned.w) - spin * step * (i + 1);
    }
    tpDestroyWorld(world);
    return step * i;
}

// Arms follow what carries the body. A stack on a plate that tilts falls when rigid boxes do, whose
// centre of mass is above the edge at tan(angle) = 1 / height; soft contacts let it go a little
// sooner.
static void stacksTipWithTheirPlate(void** state) {
    (void)state;
    static const int heights[] = { 6, 8 };
    for (int k = 0; k < 2; ++k) {
        double spin = 0.02, rigid = tippingTime(tp_anitescu, heights[k], spin);
        double soft = tippingTime(tp_smallSteps, heights[k], spin);
        assert_true(rigid > atan(1.0 / heights[k]) / spin);
        CHECK_NEAR(soft, rigid, 0.04 * rigid);
    }
}

// Of a body that lies on another one with a face across z: its tilts against that one are sag as
// long as they are slow and small, and what is no sag any more comes back to its arms. At most .03
// rad in all, and per unit of time.
static void tiltsAreSag(void** state) {
    (void)state;
    tpSystem system = { .units.time = 2.0 };
    tpBodyWay way;
    int32_t owners[1] = { -1 };
    tpSweepBody masses[1] = { { .inverseMass = 1.0 } };
    tpSupport supports[2];
    memset(&way, 0, sizeof(way));
    memset(supports, 0, sizeof(supports));
    supports[0].carrier = 1;
    supports[0].normal[2] = 2.0f; // of any length
    supports[1].turned[0] = 2e-3f;
    static tpSmallSteps of;
    of.ways.data = &way;
    of.map.owners.data = owners;
    tpSmallStep small = {
        .system = &system, .state = &of, .masses = masses, .supports = supports, .h = 1.0
    };
    double most = 0.03 * 1.0 / 2.0, sag = 0.0;
    const double tilts[] = { 1e-3, 0.9 * most, 0.5 * most, 1.1 * most, 0.9 * most, -0.2 * most };
    for (int k = 0; k < 6; ++k) {
        tpVec3 turn = tpMakeVec3(2e-3 + tilts[k], 0.0, 0.4); // what turns about the normal is none
        tpVec3 change = tpSmallStep_Sag(&small, 0, 0, turn);
        double next = fabs(tilts[k]) < most ? fmin(sag + tilts[k], 0.03) : sag;
        CHECK_VEC3(change, tpMakeVec3(next - sag, 0.0, 0.0), 1e-8);
        CHECK_NEAR(way.sag[0], next, 1e-8);
        CHECK_NEAR(way.carried[0], turn.x - change.x, 1e-8);
        CHECK_NEAR(way.carried[2], 0.4, 1e-7);
        sag = next;
    }
    assert_true(sag > 0.02 && tpHasSag(&way));
    supports[0].carrier = -1; // nobody carries it: the rest comes back by tenths
    for (int k = 0; k < 130; ++k) {
        tpSmallStep_Sag(&small, 0, 0, tpZeroVec3());
        sag = sag > 1e-7 ? 0.9 * sag : 0.0;
        CHECK_NEAR(way.sag[0], sag, 1e-6 * sag + 1e-9);
        CHECK_NEAR(way.carried[0], sag / 9.0, 1e-6); // the tenth that has come back
    }
    assert_false(tpHasSag(&way));
    masses[0].inverseMass = 0.0; // nor do bodies sag that nothing moves
    supports[0].carrier = 1;
    tpVec3 none = tpSmallStep_Sag(&small, 0, 0, tpMakeVec3(1e-3, 0.0, 0.0));
    assert_true(tpLength(none) == 0.0 && !tpHasSag(&way));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(towersDoNotBuckle),
        cmocka_unit_test(tiltsAreSag),
        cmocka_unit_test(stacksTipWithTheirPlate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
