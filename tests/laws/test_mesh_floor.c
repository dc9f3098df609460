// Floors of triangles: bodies that slide over them feel no edges, and a body inside a closed
// surface stays there without gaining energy.

#include "geometry/mesh.h"
#include "support/floor.h"
#include "support/triangle_box.h"
#include "tippe/geometry.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_benderSchmitt,
                                        tp_chakrabortyTrinkle, tp_mirtichCanny };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]), cells = 12 };

// A slab with its top at zero, whose cells have uneven corners and diagonals either way. It
// collides by its triangles, not as its hull.
static tpGeometry makeSlab(void) {
    enum { points = cells + 1, perSide = points * points };
    static tpVec3 vertices[2 * perSide];
    static int32_t triangles[4 * cells * cells + 8 * cells][3];
    tpRandom random = { 3 };
    int count = 0;
    for (int i = 0; i < points; ++i) {
        for (int j = 0; j < points; ++j) {
            bool isInner = i > 0 && i < cells && j > 0 && j < cells;
            double x =
                0.3 * (i - 0.5 * cells) + (isInner ? randomBetween(&random, -0.1, 0.1) : 0.0);
            double y =
                0.3 * (j - 0.5 * cells) + (isInner ? randomBetween(&random, -0.1, 0.1) : 0.0);
            vertices[i * points + j] = tpMakeVec3(x, y, 0.0);
            vertices[perSide + i * points + j] = tpMakeVec3(x, y, -0.5);
        }
    }
    for (int i = 0; i < cells; ++i) {
        for (int j = 0; j < cells; ++j) {
            int32_t a = i * points + j, b = a + points, c = b + 1, d = a + 1;
            bool isTurned = randomBits(&random) % 2 == 0;
            const int32_t quad[4] = { isTurned ? b : a, isTurned ? c : b, isTurned ? d : c,
                                      isTurned ? a : d };
            for (int k = 0; k < 2; ++k) {
                for (int n = 0; n < 3; ++n) {
                    int32_t v = n == 0 ? quad[0] : quad[n + k];
                    triangles[count][n] = v;
                    triangles[count + 1][2 - n] = v + perSide;
                }
                count += 2;
            }
        }
    }
    for (int side = 0; side < 4; ++side) {
        for (int i = 0; i < cells; ++i) {
            int32_t p = side == 0   ? i * points
                        : side == 1 ? cells * points + i
                        : side == 2 ? (cells - i) * points + cells
                                    : cells - i;
            int32_t q = side == 0 ? p + points : side == 1 ? p + 1 : side == 2 ? p - points : p - 1;
            const int32_t sides[2][3] = { { p, p + perSide, q }, { q, p + perSide, q + perSide } };
            for (int k = 0; k < 2; ++k, ++count) {
                for (int n = 0; n < 3; ++n) {
                    triangles[count][n] = sides[k][n];
                }
            }
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    tpError error;
    if (tpMakeMesh(&allocator, vertices, 2 * perSide, (const int32_t(*)[3])triangles, count,
                   tpIdentityPose(), &mesh, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpForgetMeshHull(mesh.mesh);
    return mesh;
}

static tpGeometry makeField(void) {
    static double heights[(cells + 1) * (cells + 1)];
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field;
    tpMakeHeightField(&allocator, cells + 1, cells + 1, 0.3, 0.3, heights, tpIdentityPose(), &field,
                      NULL);
    return field;
}

static tpWorld* makeWorld(tpStepperId stepper, const tpGeometry* floor, double mu) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, mu, 0.0);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateShape(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, floor, NULL);
    return world;
}

static tpBodyId addBody(tpWorld* world, const tpGeometry* shape, tpVec3 position, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.velocity = velocity;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.3);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateShape(world, body, &shapeDef, shape, NULL);
    return body;
}

// Without friction nothing changes: a ball to rounding, others to what their solves leave (they
// have several contacts, as on a plane).
static void slidingFeelsNoEdges(void** state) {
    (void)state;
    tpGeometry floors[2] = { makeSlab(), makeField() }, shapes[4];
    tpPose id = tpIdentityPose();
    tpMakeSphere(&(tpSphere){ 0.1 }, id, &shapes[0], NULL);
    tpMakeBox(&(tpBox){ { 0.3, 0.2, 0.2 } }, id, &shapes[1], NULL);
    tpMakeCapsule(&(tpCapsule){ 0.1, 0.3, { 1.0, 0.0, 0.0 } }, id, &shapes[2], NULL);
    tpMakeCylinder(&(tpCylinder){ 0.15, 0.2, { 0.0, 0.0, 1.0 } }, id, &shapes[3], NULL);
    const tpVec3 start = { 2.0, 0.7, 0.0 };
    for (int s = 0; s < stepperCount; ++s) {
        for (int k = 0; k < 8; ++k) {
            tpWorld* world = makeWorld(steppers[s], &floors[k % 2], 0.0);
            tpBodyId body = addBody(world, &shapes[k / 2], tpMakeVec3(-1.2, -0.37, 0.1), start);
            double bump = 0.0, height = 0.0;
            for (int i = 0; i < 120; ++i) {
                tpWorld_Step(world, 1.0 / 120.0);
                tpVec3 v = tpBody_GetVelocity(world, body),
                       w = tpBody_GetAngularVelocity(world, body);
                bump = fmax(bump, fmax(tpDistanceBetween(v, start), tpLength(w)));
                height = fmax(height, fabs(tpBody_GetPosition(world, body).z - 0.1));
            }
            CHECK_BELOW(bump, k < 2 ? 1e-12 : 1e-7);
            CHECK_BELOW(height, 1e-11);
            tpDestroyWorld(world);
        }
    }
    tpReleaseGeometry(&floors[0]);
    tpReleaseGeometry(&floors[1]);
}

// In real time contacts are soft, and bodies settle by some hundredths of a millimetre; edges take
// nothing of their speed.
static void realTimeFeelsNoEdges(void** state) {
    (void)state;
    tpGeometry slab = makeSlab(), shapes[2];
    tpMakeSphere(&(tpSphere){ 0.1 }, tpIdentityPose(), &shapes[0], NULL);
    tpMakeBox(&(tpBox){ { 0.3, 0.2, 0.2 } }, tpIdentityPose(), &shapes[1], NULL);
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(tp_smallSteps, &slab, 0.0);
        tpBodyId body =
            addBody(world, &shapes[k], tpMakeVec3(-1.2, -0.37, 0.1), tpMakeVec3(2.0, 0.7, 0.0));
        for (int i = 0; i < 120; ++i) {
            tpWorld_Step(world, 1.0 / 120.0);
            CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.1, 1e-4);
        }
        tpVec3 v = tpBody_GetVelocity(world, body);
        CHECK_NEAR(v.x, 2.0, 1e-9);
        CHECK_NEAR(v.y, 0.7, 1e-9);
        tpDestroyWorld(world);
    }
    tpReleaseGeometry(&slab);
}

// A box dropped inside the slab, which is solid: it stays within, and its energy does not rise.
static void insideStaysInside(void** state) {
    (void)state;
    tpGeometry slab = makeSlab(), box;
    tpMakeBox(&(tpBox){ { 0.1, 0.1, 0.1 } }, tpIdentityPose(), &box, NULL);
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = makeWorld(steppers[s], &slab, 0.0);
        tpBodyId body = addBody(world, &box, tpMakeVec3(0.1, 0.2, -0.2), tpMakeVec3(0.3, 0.0, 0.5));
        for (int i = 0; i < 120; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
            double before = report.kineticBefore + report.potentialBefore;
            CHECK_BELOW(report.kineticAfter + report.potentialAfter - before, 1e-6);
        }
        double z = tpBody_GetPosition(world, body).z;
        CHECK_NEAR(z, -0.45, 1e-5);
        tpDestroyWorld(world);
    }
    tpReleaseGeometry(&slab);
}

// A cube of triangles at 500 m/s meets a plate of a millimetre: surfaces have no depth, so that
// a step of half its size had the plate inside it, and the way out on the far side. Linear rows
// of stewart-trinkle overlap by how much the cube turns, and chakraborty-trinkle may solve such an
// impact to 1e-6 only; both say so.
static void meshesDoNotPassPlates(void** state) {
    (void)state;
    tpGeometry plate, cube = makeTriangleBox(tpMakeVec3(0.6, 0.6, 0.6));
    tpBox box = { tpMakeVec3(4.0, 4.0, 0.001) };
    assert_int_equal(tpMakeBox(&box, tpIdentityPose(), &plate, NULL), tp_success);
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = makeWorld(steppers[s], &plate, 0.0);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.1, 0.2, 2.0);
        def.velocity = tpMakeVec3(0.0, 0.0, -500.0);
        def.angularVelocity = tpMakeVec3(3.0, 1.0, 2.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpCreateShape(world, body, &shapeDef, &cube, NULL);
        bool isLinear = steppers[s] == tp_stewartTrinkle;
        unsigned said = isLinear                               ? 1u << tp_overlapLaw
                        : steppers[s] == tp_chakrabortyTrinkle ? 1u << tp_contactLaw
                                                               : 0u;
        for (int k = 0; k < 4; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            assert_int_equal(report.violations & ~said, 0);
            CHECK_BELOW(report.penetration, isLinear ? 1e-3 : 1e-6);
            assert_true(tpBody_GetPosition(world, body).z > 0.0);
        }
        tpDestroyWorld(world);
    }
    tpReleaseGeometry(&cube);
}

// Bodies of the two tests below: friction .3, mass from the density 1000 or given.
static tpWorld* dropOn(tpStepperId stepper, const tpGeometry* floor, const tpBodyDef* def,
                       const tpGeometry* shape, tpBodyId* body) {
    tpWorld* world = makeWorld(stepper, floor, 0.3);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 1000.0;
    *body = tpCreateBody(world, def, NULL);
    tpCreateShape(world, *body, &shapeDef, shape, NULL);
    return world;
}

// A cube of triangles tumbles on a plate of triangles that is 2 cm thick: while one corner holds,
// another comes down by more than half of the plate in a step, and was seen from below. The energy
// rose to 130 times what there was (stewart-trinkle).
static void cornersStayAboveThinMeshes(void** state) {
    (void)state;
    tpGeometry plate = makeTriangleBox(tpMakeVec3(4.0, 4.0, 0.02));
    tpGeometry cube = makeTriangleBox(tpMakeVec3(0.6, 0.6, 0.6));
    for (int s = 0; s < stepperCount; ++s) {
        for (int k = 0; k < 3; ++k) {
            tpBodyDef def = tpDefaultBodyDef();
            tpRandom random = { 11u + (unsigned)k };
            def.position = tpMakeVec3(0.1, -0.2, 1.0);
            def.velocity = tpMakeVec3(0.0, 0.0, -6.0);
            def.rotation = randomRotation(&random);
            def.angularVelocity = randomVec3(&random, -4.0, 4.0);
            tpBodyId body;
            tpWorld* world = dropOn(steppers[s], &plate, &def, &cube, &body);
            for (int i = 0; i < 50; ++i) {
                tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
                assert_int_equal(report.violations & (1u << tp_energyLaw), 0);
                CHECK_BELOW(report.penetration, 1e-3);
            }
            assert_true(tpBody_GetPosition(world, body).z > 0.3);
            tpDestroyWorld(world);
        }
    }
    tpReleaseGeometry(&plate);
    tpReleaseGeometry(&cube);
}

// A cone of 2 cm strikes a plate of triangles on its rim at 1 km/s and turns at 80,000 rad/s then:
// it turned through the plate while mirtich-canny waited for a slow contact, and in one step of
// small-steps.
static void conesDoNotTurnThroughMeshes(void** state) {
    (void)state;
    tpGeometry plate = makeTriangleBox(tpMakeVec3(4.0, 4.0, 0.02)), cone;
    tpMakeCone(&(tpCone){ 0.005, 0.02, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &cone, NULL);
    for (int s = 0; s <= stepperCount; ++s) {
        tpStepperId stepper = s < stepperCount ? steppers[s] : tp_smallSteps;
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(-0.0704, -0.0302, 3.01);
        def.velocity = tpMakeVec3(40.0, 20.0, -1000.0);
        def.rotation = tpNormalizeQuat(tpMakeQuat(0.34273, -0.177256, 0.922299, 0.0219264));
        def.angularVelocity = tpMakeVec3(1.7524, -1.3069, 10.7844);
        tpBodyId body;
        tpWorld* world = dropOn(stepper, &plate, &def, &cone, &body);
        for (int i = 0; i < 2; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            assert_int_equal(report.violations & (1u << tp_energyLaw), 0);
        }
        assert_true(tpBody_GetPosition(world, body).z > 0.0);
        tpDestroyWorld(world);
    }
    tpReleaseGeometry(&plate);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slidingFeelsNoEdges),        cmocka_unit_test(realTimeFeelsNoEdges),
        cmocka_unit_test(insideStaysInside),          cmocka_unit_test(meshesDoNotPassPlates),
        cmocka_unit_test(cornersStayAboveThinMeshes), cmocka_unit_test(conesDoNotTurnThroughMeshes)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
