// Vectors, matrices and quaternions against identities.

#include "support/check.h"

static void normalizeSurvivesExtremes(void** state) {
    (void)state;
    const double sizes[] = { 1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e300 };
    for (int i = 0; i < 7; ++i) {
        tpVec3 unit = tpNormalize(tpScale(sizes[i], tpMakeVec3(1.0, -2.0, 2.0)));
        CHECK_VEC3(unit, tpMakeVec3(1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0), 1e-15);
    }
    CHECK_VEC3(tpNormalize(tpZeroVec3()), tpZeroVec3(), 0.0);
}

static void tangentsMakeAFrame(void** state) {
    (void)state;
    tpRandom random = { 1 };
    for (int i = 0; i < 10000; ++i) {
        tpVec3 n = tpNormalize(randomVec3(&random, -1.0, 1.0));
        n = i == 0 ? tpMakeVec3(0.0, 0.0, -1.0) : n;
        tpVec3 t, o;
        tpMakeTangents(n, &t, &o);
        CHECK_NEAR(tpLength(t), 1.0, 1e-14);
        CHECK_NEAR(tpDot(t, n), 0.0, 1e-14);
        CHECK_VEC3(tpCross(t, o), n, 1e-14);
    }
}

static void solvesAndInverses(void** state) {
    (void)state;
    tpRandom random = { 2 };
    for (int i = 0; i < 10000; ++i) {
        tpMat33 m = tpMakeMat33(randomVec3(&random, -1.0, 1.0), randomVec3(&random, -1.0, 1.0),
                                randomVec3(&random, -1.0, 1.0));
        tpVec3 x = randomVec3(&random, -1.0, 1.0), y;
        double size = fabs(tpDeterminant(m));
        if (size < 1e-3) {
            continue;
        }
        assert_true(tpSolve33(m, tpMulMV(m, x), &y));
        CHECK_VEC3(y, x, 1e-12 / size);
        CHECK_VEC3(tpMulMV(tpInvert(m), tpMulMV(m, x)), x, 1e-12 / size);
    }
    tpVec3 unused;
    tpVec3 a = tpMakeVec3(1.0, 2.0, 3.0);
    assert_false(tpSolve33(tpMakeMat33(a, a, tpZeroVec3()), a, &unused));
}

static void eigenvectorsRebuildTheMatrix(void** state) {
    (void)state;
    tpRandom random = { 3 };
    for (int i = 0; i < 10000; ++i) {
        tpVec3 moments = randomVec3(&random, 0.1, 3.0);
        if (i % 3 == 0) {
            moments.y = moments.x * (1.0 + 1e-13 * (i % 7)); // nearly equal
        }
        tpMat33 r = tpMatFromQuat(randomRotation(&random));
        tpMat33 m = tpMulMM(tpMulMM(r, tpDiagonal(moments)), tpTranspose(r));
        tpVec3 values;
        tpMat33 vectors;
        tpEigenSymmetric(m, &values, &vectors);
        assert_true(values.x <= values.y && values.y <= values.z);
        CHECK_NEAR(tpDeterminant(vectors), 1.0, 1e-13);
        tpMat33 again = tpMulMM(tpMulMM(vectors, tpDiagonal(values)), tpTranspose(vectors));
        CHECK_VEC3(again.cx, m.cx, 1e-13);
        CHECK_VEC3(again.cy, m.cy, 1e-13);
        CHECK_VEC3(again.cz, m.cz, 1e-13);
    }
}

static void quaternionsTurn(void** state) {
    (void)state;
    tpRandom random = { 4 };
    for (int i = 0; i < 10000; ++i) {
        tpQuat q = randomRotation(&random);
        tpVec3 v = randomVec3(&random, -1.0, 1.0);
        CHECK_VEC3(tpMulMV(tpMatFromQuat(q), v), tpRotate(q, v), 1e-14);
        CHECK_VEC3(tpUnrotate(q, tpRotate(q, v)), v, 1e-14);
        CHECK_NEAR(fabs(tpDotQQ(tpQuatFromMat(tpMatFromQuat(q)), q)), 1.0, 1e-14);
        tpVec3 turn = tpQuatLog(q);
        CHECK_BELOW(tpLength(turn), 3.1415926535897940);
        CHECK_NEAR(fabs(tpDotQQ(tpQuatExp(turn), q)), 1.0, 1e-14);
        tpVec3 a = tpNormalize(v), b = tpNormalize(randomVec3(&random, -1.0, 1.0));
        CHECK_VEC3(tpRotate(tpQuatBetween(a, b), a), b, 1e-13);
        CHECK_VEC3(tpRotate(tpQuatBetween(a, tpNeg(a)), a), tpNeg(a), 1e-13);
    }
    // Small turns keep their digits.
    CHECK_VEC3(tpQuatLog(tpQuatExp(tpMakeVec3(1e-9, 2e-9, -3e-9))), tpMakeVec3(1e-9, 2e-9, -3e-9),
               1e-23);
}

static void posesCompose(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int i = 0; i < 1000; ++i) {
        tpPose a = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpPose b = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpVec3 p = randomVec3(&random, -1.0, 1.0);
        CHECK_VEC3(tpTransformPoint(tpComposePoses(a, b), p),
                   tpTransformPoint(a, tpTransformPoint(b, p)), 1e-14);
        CHECK_VEC3(tpTransformPoint(tpInversePose(a), tpTransformPoint(a, p)), p, 1e-14);
        CHECK_VEC3(tpUntransformPoint(a, tpTransformPoint(a, p)), p, 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalizeSurvivesExtremes), cmocka_unit_test(tangentsMakeAFrame),
        cmocka_unit_test(solvesAndInverses),         cmocka_unit_test(eigenvectorsRebuildTheMatrix),
        cmocka_unit_test(quaternionsTurn),           cmocka_unit_test(posesCompose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
