// Round bodies that roll downhill in small steps, on floors of all kinds with faces.

#include <string.h>

#include "steppers/small_steps/step.h"
#include "support/check.h"
#include "support/triangle_box.h"
#include "world/world.h"

static const double pull = 3.4, weight = 9.2; // along the floor and onto it, m/s^2
static const double radius = 0.13, beta = 0.45, mass = 2.3;

typedef enum Floor { plane, box, hull, disc, field, ridge, otherRidge } Floor;

// A wedge whose level half ends where the roller rolls, on the edge.
static tpResult makeRidge(double side, tpGeometry* out) {
    tpAllocator allocator = tpDefaultAllocator();
    const tpVec3 corners[6] = { { -6.0, -side, 0.0 }, { 6.0, -side, 0.0 },  { -6.0, 0.0, 0.0 },
                                { 6.0, 0.0, 0.0 },    { -6.0, side, -1.0 }, { 6.0, side, -1.0 } };
    const tpVec3 low[2] = { { -6.0, -side, -1.0 }, { 6.0, -side, -1.0 } };
    tpVec3 points[8];
    memcpy(points, corners, sizeof(corners));
    memcpy(points + 6, low, sizeof(low));
    int32_t triangles[12][3] = { { 0, 1, 3 }, { 0, 3, 2 }, { 2, 3, 5 }, { 2, 5, 4 },
                                 { 4, 5, 7 }, { 4, 7, 6 }, { 6, 7, 1 }, { 6, 1, 0 },
                                 { 0, 2, 6 }, { 2, 4, 6 }, { 1, 7, 3 }, { 3, 7, 5 } };
    for (int k = 0; k < 12 && side < 0.0; ++k) {
        int32_t last = triangles[k][2];
        triangles[k][2] = triangles[k][1];
        triangles[k][1] = last;
    }
    return tpMakeMesh(&allocator, points, 8, (const int32_t(*)[3])triangles, 12, tpIdentityPose(),
                      out, NULL);
}

static tpGeometry makeFloor(Floor kind) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPose id = tpIdentityPose(), low = tpMakePose(tpMakeVec3(0.0, 0.0, -0.5), tpIdentityQuat());
    static const double heights[21 * 21];
    tpVec3 corners[8];
    for (int k = 0; k < 8; ++k) {
        corners[k] = tpMakeVec3(k & 1 ? 6.0 : -6.0, k & 2 ? 6.0 : -6.0, k & 4 ? 0.0 : -1.0);
    }
    tpGeometry geometry;
    tpResult result =
        kind == plane   ? tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, id, &geometry, NULL)
        : kind == box   ? tpMakeBox(&(tpBox){ { 12.0, 12.0, 1.0 } }, low, &geometry, NULL)
        : kind == hull  ? tpMakeHull(&allocator, corners, 8, id, &geometry, NULL)
        : kind == ridge ? makeRidge(4.0, &geometry)
        : kind == otherRidge ? makeRidge(-4.0, &geometry)
        : kind == disc
            ? tpMakeCylinder(&(tpCylinder){ .radius = 8.0, .length = 1.0 }, low, &geometry, NULL)
            : tpMakeHeightField(&allocator, 21, 21, 0.6, 0.6, heights, id, &geometry, NULL);
    assert_int_equal(result, tp_success);
    return geometry;
}

static tpGeometry makeRoller(tpShapeType type) {
    tpQuat across = tpMakeQuat(sqrt(0.5), sqrt(0.5), 0.0, 0.0); // z becomes y
    tpPose pose = tpMakePose(tpZeroVec3(), across);
    tpGeometry geometry;
    tpResult result =
        type == tp_sphereShape ? tpMakeSphere(&(tpSphere){ radius }, pose, &geometry, NULL)
        : type == tp_capsuleShape
            ? tpMakeCapsule(&(tpCapsule){ .radius = radius, .length = 0.3 }, pose, &geometry, NULL)
            : tpMakeCylinder(&(tpCylinder){ .radius = radius, .length = 0.3 }, pose, &geometry,
                             NULL);
    assert_int_equal(result, tp_success);
    return geometry;
}

static tpBodyId addBody(tpWorld* world, tpBodyKind kind, tpVec3 place, tpGeometry* geometry) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = place;
    if (kind == tp_dynamicBody) {
        def.hasMass = true;
        def.mass.mass = mass;
        double moment = beta * mass * radius * radius;
        def.mass.inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
    }
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateShape(world, body, &shape, geometry, NULL);
    tpReleaseGeometry(geometry);
    return body;
}

// Velocities of a substep of s seconds act in it: x = a t (t + s) / 2, a = pull / (1 + beta).
// Points that turned with the body let it sink until they were found anew, and it gained 1 to 2 %
// however short the step.
static void rollDown(tpShapeType type, Floor floor, int rate) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(pull, 0.0, -weight);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.7;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    tpGeometry ground = makeFloor(floor), roller = makeRoller(type);
    addBody(world, tp_fixedBody, tpZeroVec3(), &ground);
    bool isRidge = floor == ridge || floor == otherRidge;
    tpVec3 start = tpMakeVec3(-2.0, isRidge ? 0.0 : 0.05, radius);
    tpBodyId body = addBody(world, tp_dynamicBody, start, &roller);
    double h = 1.0 / rate, rise = 0.0;
    for (int k = 0; k < rate; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        rise = fmax(rise, report.kineticAfter + report.potentialAfter - report.kineticBefore -
                              report.potentialBefore);
    }
    double way = tpBody_GetPosition(world, body).x - start.x;
    double exact = 0.5 * pull / (1.0 + beta) * (1.0 + 0.25 * h);
    print_message("type %d, floor %d, h = 1/%d: way off by %.1e, largest rise %.1e J\n", type,
                  floor, rate, way / exact - 1.0, rise);
    CHECK_NEAR(way, exact, 1e-6 * exact);
    CHECK_BELOW(rise, 1e-6);
    tpDestroyWorld(world);
}

static void rollersKeepTheirPace(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_sphereShape, tp_capsuleShape, tp_cylinderShape };
    for (int k = 0; k < 3; ++k) {
        for (Floor floor = plane; floor <= field; ++floor) {
            rollDown(types[k], floor, 240);
        }
        rollDown(tp_sphereShape, k == 0 ? ridge : otherRidge, 240);
        rollDown(types[k], plane, 60);
        rollDown(types[k], plane, 480);
    }
}

// What a contact of these two shapes is said to be, A the roller or B, with a normal given in the
// frame of the floor.
static void describe(tpWorld* world, bool isA, tpQuat rotation, tpVec3 normal, tpVec3 place,
                     tpSoftRun* run) {
    tpVec3 up = tpRotate(rotation, normal), there = tpRotate(rotation, place);
    tpContactPoint point = { .pointA = there, .pointB = there, .normal = isA ? up : tpNeg(up) };
    tpFoundManifold found = { .shapes = { 0, 1 }, .points = &point, .count = 1 };
    if (!isA) {
        found.bodyB = 1;
    }
    memset(run, 0, sizeof(*run));
    run->share[2] = 0.5f;
    tpDescribeRolling(&world->system, &found, run, 2);
}

// A ball rolls on any face of a box, a hull, a disc and a plate of triangles, however they lie; not
// on what is turned by more than a thousandth from it, and not over an edge.
static void ballsRollOnFacesAlone(void** state) {
    (void)state;
    static const tpShapeType floors[] = { tp_boxShape, tp_hullShape, tp_cylinderShape,
                                          tp_meshShape };
    tpRandom random = { 4 };
    tpAllocator allocator = tpDefaultAllocator();
    for (int n = 0; n < 4 * 2 * 3; ++n) {
        bool isA = n / 4 % 2 == 0;
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = tp_smallSteps;
        tpWorld* world = tpCreateWorld(&def);
        tpMaterialDef material = tpDefaultMaterialDef();
        assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
        tpQuat rotation = randomRotation(&random);
        tpVec3 half = tpMakeVec3(0.5, 0.7, 0.9);
        tpVec3 corners[8];
        for (int k = 0; k < 8; ++k) {
            corners[k] = tpMakeVec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
                                    k & 4 ? half.z : -half.z);
        }
        tpGeometry floor, roller = makeRoller(tp_sphereShape);
        tpPose id = tpIdentityPose();
        tpShapeType type = floors[n % 4];
        if (type == tp_boxShape) {
            tpMakeBox(&(tpBox){ tpScale(2.0, half) }, id, &floor, NULL);
        } else if (type == tp_hullShape) {
            tpMakeHull(&allocator, corners, 8, id, &floor, NULL);
        } else if (type == tp_meshShape) {
            floor = makeTriangleBox(tpScale(2.0, half));
        } else {
            tpMakeCylinder(&(tpCylinder){ 0.5, 1.8, { 0.0, 0.0, 1.0 } }, id, &floor, NULL);
        }
        for (int k = 0; k < 2; ++k) {
            tpBodyId body =
                addBody(world, tp_dynamicBody, tpZeroVec3(), isA == (k == 0) ? &roller : &floor);
            tpBody_SetPose(world, body, tpMakePose(tpZeroVec3(), rotation));
        }
        for (int face = 0; face < 6; ++face) {
            int axis = face / 2;
            double side = face % 2 == 0 ? 1.0 : -1.0;
            const double sizes[3] = { half.x, half.y, half.z };
            double normal[3] = { 0.0, 0.0, 0.0 }, place[3] = { 0.1, 0.15, 0.2 };
            normal[axis] = side;
            place[axis] = side * sizes[axis];
            tpVec3 at = tpMakeVec3(place[0], place[1], place[2]);
            tpVec3 up = tpMakeVec3(normal[0], normal[1], normal[2]);
            bool isFace = type != tp_cylinderShape || axis == 2;
            for (int k = 0; k < 6; ++k) {
                static const double tilts[] = { 0.0, 0.9e-3, 1.2e-3, 0.1, 0.785, 1.0 };
                tpVec3 aside =
                    axis == 0 ? tpMakeVec3(0.0, tilts[k], 0.0) : tpMakeVec3(tilts[k], 0.0, 0.0);
                tpSoftRun run;
                describe(world, isA, rotation, tpNormalize(tpAdd(up, aside)), at, &run);
                bool rolls = isFace && tilts[k] < 1e-3;
                CHECK_NEAR(run.radiusA[2], rolls && isA ? radius : 0.0, 1e-7);
                CHECK_NEAR(run.radiusB[2], rolls && !isA ? radius : 0.0, 1e-7);
                CHECK_NEAR(run.share[2], !rolls ? 0.5 : isA ? 0.0 : 1.0, 0.0);
            }
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollersKeepTheirPace),
        cmocka_unit_test(ballsRollOnFacesAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
