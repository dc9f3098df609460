// Decompression of a ball that has hit the floor: what it gives back, and the friction with it.

#include <string.h>

#include "ball_cases.h"
#include "dynamics/decompression.h"
#include "dynamics/solve.h"

// A ball of velocity (vx, 0, vz) gives back `load`; `impulse` receives the whole of decompression.
static void decompress(double vx, double vz, double mu, double load, double impulse[3]) {
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(vx, 0.0, vz));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpContactLaw law = makeLaw(mu);
    tpRows rows;
    assert_true(tpRows_Create(&rows, system, 2, 6));
    tpRows_SetMasses(&rows, system);
    rows.speedUnit = 1.0;
    system->certificate = TP_USUAL_CERTIFICATE;
    tpRows_AddContact(&rows, system, system->poses.data, &contact, 0, &law, 0.0);
    rows.impulse[0] = 7.0; // of compression: it does not matter any more
    tpVelocity pushed[2];
    memcpy(pushed, system->velocities.data, sizeof(pushed));
    tpDecompression decompression = tpDecompression_Begin(&rows, system, &load, pushed);
    CHECK_NEAR(pushed[ball].linear.z, vz + load / ballMass, 1e-14);
    assert_int_equal(rows.blockCount, mu > 0.0 && load > 0.0 ? 2 : 1);
    for (int b = 0; b < rows.blockCount; ++b) {
        for (int k = 0; k < rows.dimensions[b]; ++k) {
            int row = rows.firstRows[b] + k;
            rows.q[row] = rows.bias[row] +
                          tpRows_RowVelocity(&rows, row, pushed, rows.givenA[b], rows.givenB[b]);
        }
    }
    tpSolveSettings settings = { .cone = tp_circularCone, .directionCount = 8, .tolerance = 1e-12 };
    tpStepReport report = { .converged = true };
    assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
    assert_true(report.converged);
    tpDecompression_End(&decompression, &rows);
    assert_int_equal(rows.blockCount, 1);
    for (int k = 0; k < rows.dimensions[0]; ++k) {
        impulse[k] = rows.impulse[k];
    }
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

// It slides: friction is mu times what is given back. It stops sliding: friction is what that
// takes. It still approaches: the floor gives what is missing, and friction goes with the sum.
static void ballLeavesTheFloor(void** state) {
    (void)state;
    const double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    double r[3];
    decompress(30.0, 0.0, 0.5, 4.0, r);
    CHECK_NEAR(r[0], 4.0, 1e-9);
    CHECK_NEAR(r[1], -2.0, 1e-9);
    CHECK_NEAR(r[2], 0.0, 1e-9);
    decompress(0.3, 0.0, 0.5, 4.0, r);
    CHECK_NEAR(r[0], 4.0, 1e-9);
    CHECK_NEAR(r[1], -0.3 / along, 1e-9);
    decompress(30.0, -3.0, 0.5, 4.0, r);
    CHECK_NEAR(r[0], 3.0 * ballMass, 1e-9);
    CHECK_NEAR(r[1], -0.5 * 3.0 * ballMass, 1e-8);
    decompress(30.0, 0.0, 0.0, 4.0, r);
    CHECK_NEAR(r[0], 4.0, 1e-9);
    decompress(30.0, 0.0, 0.5, 0.0, r);
    CHECK_NEAR(r[0], 0.0, 1e-9);
    CHECK_NEAR(r[1], 0.0, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(ballLeavesTheFloor) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
