// Rounds of light sweeps for tests.

#ifndef TIPPE_TESTS_SWEEPS_LIGHT_ROUNDS_H
#define TIPPE_TESTS_SWEEPS_LIGHT_ROUNDS_H

#include <string.h>

#include "support/check.h"
#include "sweeps/light_momentum.h"

enum { roundSweeps = 200, never = 1000000 };

// Rounds until the judge in double precision has a residual below the tolerance.
static inline int lightSweepsTo(tpSweeper* sweeper, const tpVelocity* start, tpArena* arena,
                                double margin, bool hasMomentum, double tolerance) {
    tpLightSweeper light;
    tpLightMomentum momentum;
    int sweeps = 0;
    tpLightMomentum_Reset(&momentum);
    bool isStale = true;
    for (int round = 0; round < 80; ++round) {
        tpSweeper_FindSpeeds(sweeper);
        if (isStale) {
            assert_true(tpLight_Choose(&light, sweeper, margin, 0.9, arena));
            assert_true(tpLightMomentum_Create(&momentum, &light, arena));
        }
        tpLight_Load(&light);
        tpLightMomentum_Begin(&momentum, &light);
        for (int k = 1; k <= roundSweeps; ++k, ++sweeps) {
            if (hasMomentum && k % 4 == 0) {
                tpLightMomentum_Sweep(&momentum, &light, 4);
                if (k < roundSweeps) {
                    tpLightMomentum_GoOn(&momentum, &light);
                }
            } else if (!hasMomentum) {
                tpLight_Sweep(&light);
            }
        }
        tpLight_Store(&light);
        memcpy(sweeper->velocities, start, sizeof(tpVelocity) * (size_t)sweeper->bodyCount);
        tpSweeper_WarmStart(sweeper);
        tpSweepVerdict verdict = tpSweeper_Judge(sweeper);
        CHECK_NEAR(tpSweeper_Miss(sweeper), verdict.velocity, 1e-12 * verdict.velocity);
        assert_true(verdict.cone <= 1e-12);
        if (verdict.velocity <= tolerance) {
            return sweeps;
        }
        isStale = tpLight_MissOutside(&light) > 0.1 * tolerance;
    }
    return never;
}

#endif
