// Light sweeps with momentum.

#include "light_rounds.h"
#include "support/column.h"
#include "sweeps/light_kernels.h"

// Each cube of a column bears all above it.
static void columnIsBorne(void** state) {
    (void)state;
    Column* column = makeColumn();
    tpVelocity* start = TP_SCRATCH(&column->arena, tpVelocity, height + 1);
    memcpy(start, column->velocities, sizeof(tpVelocity) * (height + 1));
    int plain = lightSweepsTo(&column->sweeper, start, &column->arena, INFINITY, false, 1e-5);
    startColumn(column);
    int fast = lightSweepsTo(&column->sweeper, start, &column->arena, INFINITY, true, 1e-5);
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 1e-3);
    }
    print_message("%d light sweeps, %d with momentum\n", plain, fast);
    assert_true(fast < never && 3 * fast < plain);
    destroyColumn(column);
}

// Changes are rounded, not impulses: residuals fall far below the rounding of loads to floats,
// which is up to 1e-6 m/s in the lowest cube.
static void roundingIsThatOfChanges(void** state) {
    (void)state;
    Column* column = makeColumn();
    tpVelocity* start = TP_SCRATCH(&column->arena, tpVelocity, height + 1);
    memcpy(start, column->velocities, sizeof(tpVelocity) * (height + 1));
    int sweeps = lightSweepsTo(&column->sweeper, start, &column->arena, INFINITY, true, 1e-11);
    print_message("%d light sweeps to 1e-11 m/s\n", sweeps);
    assert_true(sweeps < never);
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 1e-9);
    }
    destroyColumn(column);
}

static void beginColumn(Column* column, tpLightSweeper* light, tpLightMomentum* momentum) {
    tpSweeper_FindSpeeds(&column->sweeper);
    assert_true(tpLight_Choose(light, &column->sweeper, INFINITY, 0.9, &column->arena));
    tpLightMomentum_Reset(momentum);
    assert_true(tpLightMomentum_Create(momentum, light, &column->arena));
    tpLight_Load(light);
    tpLightMomentum_Begin(momentum, light);
}

// Velocities go along with the impulses for hundreds of sweeps, to rounding.
static void velocitiesStayThoseOfTheImpulses(void** state) {
    (void)state;
    Column* column = makeColumn();
    tpLightSweeper light;
    tpLightMomentum momentum;
    beginColumn(column, &light, &momentum);
    for (int k = 0; k < 100; ++k) {
        tpLightMomentum_Sweep(&momentum, &light, 4);
        tpLightMomentum_GoOn(&momentum, &light);
    }
    tpLightMomentum_Sweep(&momentum, &light, 4);
    float* followed = TP_SCRATCH(&column->arena, float, light.changeCount);
    memcpy(followed, light.changes, sizeof(float) * (size_t)light.changeCount);
    tpLight_Refresh(&light);
    for (int i = 0; i < light.changeCount; ++i) {
        CHECK_NEAR(followed[i], light.changes[i], 3e-5);
    }
    destroyColumn(column);
}

// Steps that grow take momentum away: the next sweep goes on from where the last one ended, and
// less is made of a change once more from then on, but after many sweeps where pairs have several
// points.
static void startAnew(bool isLong, int age) {
    Column* column = makeColumn();
    tpLightSweeper light;
    tpLightMomentum momentum;
    beginColumn(column, &light, &momentum);
    momentum.isLong = isLong;
    for (int k = 0; k < 5; ++k) {
        tpLightMomentum_Sweep(&momentum, &light, 4);
        tpLightMomentum_GoOn(&momentum, &light);
    }
    double most = momentum.most;
    size_t bytes = sizeof(float) * (size_t)light.impulseCount;
    float* ended = TP_SCRATCH(&column->arena, float, light.impulseCount);

    tpLightMomentum_Sweep(&momentum, &light, 4);
    memcpy(ended, light.impulses, bytes);
    tpLightMomentum_GoOn(&momentum, &light);
    assert_memory_not_equal(light.impulses, ended, bytes);
    assert_true(momentum.most == most);

    tpLightMomentum_Sweep(&momentum, &light, 4);
    memcpy(ended, light.impulses, bytes);
    momentum.least = 0.01 * momentum.size;
    momentum.age = age;
    tpLightMomentum_GoOn(&momentum, &light);
    assert_memory_equal(light.impulses, ended, bytes);
    assert_true(isLong && age > 100 ? momentum.most == most : momentum.most < most);
    destroyColumn(column);
}

static void growingStepsStartAnew(void** state) {
    (void)state;
    startAnew(false, 20);
    startAnew(false, 200);
    startAnew(true, 20);
    startAnew(true, 200);
}

// The measure of a step, and what momentum makes of a change, by hand.
static void kernelsDoWhatTheySay(void** state) {
    (void)state;
    _Alignas(64) float weight[32], a[32], b[32];
    double sum = 0.0;
    for (int i = 0; i < 32; ++i) {
        weight[i] = 0.5f + (float)i;
        a[i] = (float)(i % 5);
        b[i] = (float)(i % 3);
        sum += weight[i] * (a[i] - b[i]) * (a[i] - b[i]);
    }
    for (int width = 1; width <= 8; width *= 2) {
        const tpLightKernels* kernels = tpGetLightKernels(width);
        if (kernels != NULL) {
            _Alignas(64) float values[32], last[32];
            memcpy(values, a, sizeof(a));
            memcpy(last, b, sizeof(b));
            assert_true(kernels->measure(weight, a, b, 32) == sum);
            kernels->advance(values, last, 0.25f, 32);
            for (int i = 0; i < 32; ++i) {
                assert_true(values[i] == a[i] + 0.25f * (a[i] - b[i]) && last[i] == a[i]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columnIsBorne),
        cmocka_unit_test(roundingIsThatOfChanges),
        cmocka_unit_test(velocitiesStayThoseOfTheImpulses),
        cmocka_unit_test(growingStepsStartAnew),
        cmocka_unit_test(kernelsDoWhatTheySay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
