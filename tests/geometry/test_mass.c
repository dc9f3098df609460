// Mass properties: closed forms against integration along rays, invariance, and what is refused.

#include "geometry/mass.h"

#include <string.h>

#include "geometry/shape.h"
#include "sample_shapes.h"

static double relativeDifference(const tpMassProperties* a, const tpMassProperties* b) {
    double size = cbrt(fabs(a->mass));
    double mass = fabs(a->mass - b->mass) / fabs(a->mass);
    double center = tpDistanceBetween(a->center, b->center) / size;
    double inertia = matrixDistance(a->inertia, b->inertia) / (fabs(a->mass) * size * size);
    return fmax(mass, fmax(center, inertia));
}

static void compareWithRays(tpGeometry* geometry, double tolerance) {
    tpError error = { 0 };
    tpMassProperties exact, rays;
    double depth;
    geometry->pose = tpIdentityPose();
    tpVec3 interior = tpInteriorPoint(geometry, &depth);
    assert_true(depth < 0.0);
    assert_int_equal(tpGeometry_Mass(geometry, 1.0, &exact, &error), tp_success);
    assert_int_equal(tpIntegrateConvex(geometry, interior, &rays, &error), tp_success);
    CHECK_BELOW(relativeDifference(&exact, &rays), tolerance);
}

static void closedFormsAgreeWithRays(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_sphereShape,    tp_boxShape,       tp_capsuleShape,
                                         tp_cylinderShape,  tp_coneShape,      tp_prismShape,
                                         tp_ellipsoidShape, tp_roundedBoxShape };
    tpRandom random = { 11 };
    tpAllocator allocator = tpDefaultAllocator();
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        tpGeometry geometry;
        tpError error = { 0 };
        assert_int_equal(
            randomShape(&allocator, &random, types[i], tpIdentityPose(), &geometry, &error),
            tp_success);
        compareWithRays(&geometry, 1e-10);
        tpReleaseGeometry(&geometry);
    }
}

// The Beta functions of superellipsoids, by slices: at height z the section is a scaled
// superellipse, whose area and second moment are integrated along its own radius. Substitutions
// make both smooth.
static void superellipsoidsAgreeWithSlices(void** state) {
    (void)state;
    const double exponents[][2] = { { 1.0, 1.0 }, { 0.5, 0.5 }, { 0.5, 1.0 }, { 1.0, 0.5 },
                                    { 2.0, 1.0 }, { 1.0, 2.0 }, { 1.5, 0.7 }, { 0.3, 1.8 } };
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); ++i) {
        double e1 = exponents[i][0], e2 = exponents[i][1];
        tpSuperellipsoid shape = { tpMakeVec3(0.7, 1.1, 0.4), { e1, e2 } };
        tpGeometry geometry;
        tpMassProperties exact;
        assert_int_equal(tpMakeSuperellipsoid(&shape, tpIdentityPose(), &geometry, NULL),
                         tp_success);
        assert_int_equal(tpGeometry_Mass(&geometry, 1.0, &exact, NULL), tp_success);
        // First quadrant of the unit superellipse x = cos^e, y = sin^e: area, and integral of x^2.
        // The tanh-sinh rule takes the powers at both ends.
        double area = 0.0, second = 0.0, volume = 0.0, across = 0.0, along = 0.0;
        const double h = 0.01;
        for (int k = -400; k <= 400; ++k) {
            double s = 0.5 * 3.14159265358979323846 * sinh(k * h);
            double t = 1.0 / (1.0 + exp(-2.0 * s)); // in (0, 1), with 1 - t exact enough below
            double u = 1.0 / (1.0 + exp(2.0 * s));
            double w = h * 3.14159265358979323846 * cosh(k * h) * t * u;
            // y(x) = (1 - x^(2/e))^(e/2), by expm1 and log for x near 1, where 1 - x = u.
            double logX = t > 0.5 ? log1p(-u) : log(t);
            double y = pow(-expm1(2.0 / e2 * logX), 0.5 * e2);
            area += w * y;
            second += w * t * t * y;
            double r = pow(-expm1(2.0 / e1 * logX), 0.5 * e1); // radius of the section at height t
            volume += w * r * r;
            across += w * r * r * r * r;
            along += w * t * t * r * r;
        }
        double abc = 8.0 * 0.7 * 1.1 * 0.4;
        double xx = abc * 0.7 * 0.7 * second * across, yy = abc * 1.1 * 1.1 * second * across;
        double zz = abc * 0.4 * 0.4 * area * along;
        CHECK_NEAR(exact.mass, abc * area * volume, 1e-11 * exact.mass);
        CHECK_NEAR(exact.inertia.cx.x, yy + zz, 1e-11 * exact.mass);
        CHECK_NEAR(exact.inertia.cy.y, xx + zz, 1e-11 * exact.mass);
        CHECK_NEAR(exact.inertia.cz.z, xx + yy, 1e-11 * exact.mass);
    }
}

// A regular tetrahedron of edge s has moments m s^2 / 20; any tetrahedron follows by an affine map
// of its covariance.
static void tetrahedraFollowTheFormula(void** state) {
    (void)state;
    tpRandom random = { 5 };
    const int32_t triangles[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    for (int trial = 0; trial < 1000; ++trial) {
        tpVec3 v[4];
        for (int k = 0; k < 4; ++k) {
            v[k] = randomVec3(&random, -1.0, 1.0);
        }
        tpMat33 edges = tpMakeMat33(tpSub(v[1], v[0]), tpSub(v[2], v[0]), tpSub(v[3], v[0]));
        if (tpDeterminant(edges) < 0.0) {
            tpVec3 swap = v[1];
            v[1] = v[2];
            v[2] = swap;
            edges = tpMakeMat33(edges.cy, edges.cx, edges.cz);
        }
        tpMassProperties found = tpIntegrateTriangles(v, triangles, 4);
        double volume = tpDeterminant(edges) / 6.0;
        tpVec3 center = tpScale(0.25, tpAdd(tpAdd(v[0], v[1]), tpAdd(v[2], v[3])));
        // Covariance about the centroid: m/20 times the sum of (v - c)(v - c)^T.
        tpMat33 covariance = tpZeroMat33();
        for (int k = 0; k < 4; ++k) {
            tpVec3 d = tpSub(v[k], center);
            covariance = tpAddMM(covariance, tpScaleM(volume / 20.0, tpOuter(d, d)));
        }
        double trace = covariance.cx.x + covariance.cy.y + covariance.cz.z;
        tpMat33 inertia =
            tpAddMM(tpDiagonal(tpMakeVec3(trace, trace, trace)), tpScaleM(-1.0, covariance));
        CHECK_NEAR(found.mass, volume, 1e-14);
        CHECK_VEC3(found.center, center, 1e-11);
        CHECK_BELOW(matrixDistance(found.inertia, inertia), 1e-14);
    }
}

// Far from the origin the inertia keeps its digits, up to those that the vertices themselves lost.
static void translationKeepsDigits(void** state) {
    (void)state;
    tpRandom random = { 6 };
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3 points[40], moved[40];
    tpVec3 shift = tpMakeVec3(1024.0 * 1024.0, -512.0 * 1024.0, 256.0 * 1024.0);
    for (int i = 0; i < 40; ++i) {
        // Multiples of 2^-30, so that moving them is exact.
        tpVec3 p = randomUnit(&random);
        points[i] = tpMakeVec3(ldexp(floor(ldexp(p.x, 30)), -30), ldexp(floor(ldexp(p.y, 30)), -30),
                               ldexp(floor(ldexp(p.z, 30)), -30));
        moved[i] = tpAdd(points[i], shift);
    }
    tpGeometry near, far;
    tpError error;
    assert_int_equal(tpMakeHull(&allocator, points, 40, tpIdentityPose(), &near, &error),
                     tp_success);
    assert_int_equal(tpMakeHull(&allocator, moved, 40, tpIdentityPose(), &far, &error), tp_success);
    tpMassProperties a, b;
    assert_int_equal(tpGeometry_Mass(&near, 1.0, &a, &error), tp_success);
    assert_int_equal(tpGeometry_Mass(&far, 1.0, &b, &error), tp_success);
    b.center = tpSub(b.center, shift);
    CHECK_NEAR(b.mass, a.mass, 1e-14 * a.mass);
    CHECK_VEC3(b.center, a.center, 1e-9);
    CHECK_BELOW(matrixDistance(a.inertia, b.inertia), 1e-14);
    tpReleaseGeometry(&near);
    tpReleaseGeometry(&far);
}

// A shape with a pose has the properties of the shape, moved.
static void posesMoveMass(void** state) {
    (void)state;
    tpRandom random = { 7 };
    tpAllocator allocator = tpDefaultAllocator();
    for (int i = 0; i < convexTypeCount; ++i) {
        if (convexTypes[i] == tp_implicitShape || convexTypes[i] == tp_intersectionShape) {
            continue; // as the others, but slow
        }
        tpGeometry geometry;
        tpPose pose = randomPose(&random, 3.0);
        tpPose outer = randomPose(&random, 3.0);
        assert_int_equal(randomShape(&allocator, &random, convexTypes[i], pose, &geometry, NULL),
                         tp_success);
        tpMassProperties before, after;
        assert_int_equal(tpGeometry_Mass(&geometry, 2.5, &before, NULL), tp_success);
        tpPose own = geometry.pose;
        geometry.pose = tpComposePoses(outer, own);
        assert_int_equal(tpGeometry_Mass(&geometry, 2.5, &after, NULL), tp_success);
        tpMassProperties expected = tpTransformMass(&before, outer);
        CHECK_BELOW(relativeDifference(&expected, &after), 1e-13);
        assert_int_equal(tpCheckMass(&after, NULL), tp_success);
        tpReleaseGeometry(&geometry);
    }
}

// Two halves of a box make the box, wherever they are.
static void halvesMakeTheWhole(void** state) {
    (void)state;
    tpRandom random = { 8 };
    tpPose body = randomPose(&random, 100.0);
    tpGeometry whole, left, right;
    tpMakeBox(&(tpBox){ tpMakeVec3(2.0, 3.0, 4.0) }, body, &whole, NULL);
    tpPose a = tpComposePoses(body, tpMakePose(tpMakeVec3(-0.75, 0.0, 0.0), tpIdentityQuat()));
    tpPose b = tpComposePoses(body, tpMakePose(tpMakeVec3(0.25, 0.0, 0.0), tpIdentityQuat()));
    tpMakeBox(&(tpBox){ tpMakeVec3(0.5, 3.0, 4.0) }, a, &left, NULL);
    tpMakeBox(&(tpBox){ tpMakeVec3(1.5, 3.0, 4.0) }, b, &right, NULL);
    tpMassProperties parts[2], expected;
    tpGeometry_Mass(&whole, 7.0, &expected, NULL);
    tpGeometry_Mass(&left, 7.0, &parts[0], NULL);
    tpGeometry_Mass(&right, 7.0, &parts[1], NULL);
    tpMassProperties sum = tpCombineMass(parts, 2);
    CHECK_BELOW(relativeDifference(&expected, &sum), 1e-13);
}

static void principalFrameRebuildsInertia(void** state) {
    (void)state;
    tpRandom random = { 9 };
    for (int trial = 0; trial < 1000; ++trial) {
        double a = randomBetween(&random, 0.1, 2.0), b = randomBetween(&random, 0.1, 2.0);
        double c = trial % 3 == 0 ? b : randomBetween(&random, fabs(a - b), a + b);
        tpMat33 turn = tpMatFromQuat(randomRotation(&random));
        tpMat33 inertia =
            tpMulMM(turn, tpMulMM(tpDiagonal(tpMakeVec3(a, b, c)), tpTranspose(turn)));
        tpVec3 moments;
        tpQuat rotation;
        tpPrincipalFrame(inertia, &moments, &rotation);
        tpMat33 axes = tpMatFromQuat(rotation);
        tpMat33 again = tpMulMM(axes, tpMulMM(tpDiagonal(moments), tpTranspose(axes)));
        CHECK_BELOW(matrixDistance(inertia, again), 4e-15 * (a + b + c));
    }
    tpVec3 moments;
    tpQuat rotation;
    tpPrincipalFrame(tpDiagonal(tpMakeVec3(3.0, 1.0, 2.0)), &moments, &rotation);
    CHECK_VEC3(moments, tpMakeVec3(3.0, 1.0, 2.0), 0.0);
    assert_true(rotation.w == 1.0);
}

static void expectRefused(tpMassProperties properties, const char* words) {
    tpError error = { 0 };
    assert_int_equal(tpCheckMass(&properties, &error), tp_badInput);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static void impossibleMassIsRefused(void** state) {
    (void)state;
    tpMassProperties good = { 2.0, { 0.0, 0.0, 0.0 }, tpDiagonal(tpMakeVec3(1.0, 2.0, 3.0)) };
    assert_int_equal(tpCheckMass(&good, NULL), tp_success); // flat: 1 + 2 = 3
    tpMassProperties typed = good;
    typed.inertia = tpDiagonal(tpMakeVec3(0.333333, 0.333333, 0.666667));
    assert_int_equal(tpCheckMass(&typed, NULL), tp_success);
    tpMassProperties rod = good;
    rod.inertia = tpDiagonal(tpMakeVec3(0.0, 1.0, 1.0));
    assert_int_equal(tpCheckMass(&rod, NULL), tp_success);

    tpMassProperties bad = good;
    bad.mass = 0.0;
    expectRefused(bad, "mass must be positive");
    bad.mass = -1.0;
    expectRefused(bad, "mass must be positive");
    bad.mass = NAN;
    expectRefused(bad, "mass must be positive");
    bad = good;
    bad.center.y = HUGE_VAL;
    expectRefused(bad, "centre of mass must be finite");
    bad = good;
    bad.inertia.cx.x = NAN;
    expectRefused(bad, "inertia must be finite");
    bad = good;
    bad.inertia.cx.y = 0.1;
    expectRefused(bad, "symmetric");
    bad = good;
    bad.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 2.001));
    expectRefused(bad, "triangle inequality");
    bad.inertia = tpDiagonal(tpMakeVec3(-1.0, 1.0, 1.0));
    expectRefused(bad, "negative");
    // Turned, the violation is hidden off the diagonal.
    tpRandom random = { 10 };
    tpMat33 turn = tpMatFromQuat(randomRotation(&random));
    bad.inertia = tpMulMM(turn, tpMulMM(tpDiagonal(tpMakeVec3(1.0, 1.0, 2.5)), tpTranspose(turn)));
    expectRefused(bad, "triangle inequality");
}

static void shapesWithoutVolumeSaySo(void** state) {
    (void)state;
    tpGeometry plane;
    tpMassProperties properties;
    tpError error = { 0 };
    tpMakePlane(&(tpPlane){ tpMakeVec3(0.0, 0.0, 1.0), 0.0 }, tpIdentityPose(), &plane, NULL);
    assert_int_equal(tpGeometry_Mass(&plane, 1.0, &properties, &error), tp_badInput);
    assert_non_null(strstr(error.message, "a plane has no finite volume"));
    tpGeometry ball;
    tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &ball, NULL);
    assert_int_equal(tpGeometry_Mass(&ball, -1.0, &properties, &error), tp_badInput);
    assert_non_null(strstr(error.message, "density"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closedFormsAgreeWithRays),
        cmocka_unit_test(superellipsoidsAgreeWithSlices),
        cmocka_unit_test(tetrahedraFollowTheFormula),
        cmocka_unit_test(translationKeepsDigits),
        cmocka_unit_test(posesMoveMass),
        cmocka_unit_test(halvesMakeTheWhole),
        cmocka_unit_test(principalFrameRebuildsInertia),
        cmocka_unit_test(impossibleMassIsRefused),
        cmocka_unit_test(shapesWithoutVolumeSaySo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
