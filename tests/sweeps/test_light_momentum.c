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

// A column of balls, each on the one below by a single point, that falls at 1 m/s.
typedef struct Balls {
    tpAllocator allocator;
    tpArena arena;
    tpSweeper sweeper;
    tpVelocity *start, *velocities;
} Balls;

enum { balls = 60 };

static Balls* makeBalls(void) {
    tpAllocator allocator = tpDefaultAllocator();
    Balls* column = tpAllocateZeroed(&allocator, sizeof(Balls));
    column->allocator = allocator;
    tpArena_Create(&column->arena, &allocator);
    column->start = TP_SCRATCH_ZEROED(&column->arena, tpVelocity, balls + 1);
    column->velocities = TP_SCRATCH_ZEROED(&column->arena, tpVelocity, balls + 1);
    assert_true(
        tpSweeper_Create(&column->sweeper, &column->arena, balls + 1, balls, tpFriction_SolveOne));
    column->sweeper.velocities = column->velocities;
    tpSweepContact contacts[balls];
    memset(contacts, 0, sizeof(contacts));
    for (int i = 1; i <= balls; ++i) {
        column->start[i].linear.z = column->velocities[i].linear.z = -1.0;
        tpSweepBody* body = &column->sweeper.bodies[i];
        body->inverseMass = 1.0;
        body->inverseInertia[0] = body->inverseInertia[1] = body->inverseInertia[2] = 10.0;
        tpSweepContact* contact = &contacts[i - 1];
        contact->bodyA = i;
        contact->bodyB = i - 1;
        contact->normal = tpMakeVec3(0.0, 0.0, 1.0);
        contact->armA = tpMakeVec3(0.0, 0.0, -0.5);
        contact->armB = tpMakeVec3(0.0, 0.0, 0.5);
        contact->muDynamic = contact->muStatic = 0.5;
        tpMakeTangents(contact->normal, &contact->tangents[0], &contact->tangents[1]);
    }
    assert_true(tpSweeper_AddContacts(&column->sweeper, contacts, balls, NULL, &column->arena));
    return column;
}

static void destroyBalls(Balls* column) {
    tpAllocator allocator = column->allocator;
    tpArena_Destroy(&column->arena);
    tpRelease(&allocator, column, sizeof(Balls));
}

// Sweeps until each ball bears all above it to 1e-6 m/s, with or without more momentum once the
// pile is calm; it is calm when steps are small beside all loads, and not before.
static int sweepBalls(bool mayBeCalm) {
    Balls* column = makeBalls();
    tpLightSweeper light;
    tpLightMomentum momentum;
    tpSweeper_FindSpeeds(&column->sweeper);
    assert_true(tpLight_Choose(&light, &column->sweeper, INFINITY, 0.9, &column->arena));
    tpLightMomentum_Reset(&momentum);
    assert_true(tpLightMomentum_Create(&momentum, &light, &column->arena));
    assert_true(momentum.mayBeCalm);
    momentum.mayBeCalm = mayBeCalm;
    int sweeps = 0;
    for (double miss = INFINITY; miss > 1e-6 && sweeps < never; sweeps += 256) {
        tpLight_Load(&light);
        tpLightMomentum_Begin(&momentum, &light);
        double loads = 0.0;
        for (int i = 0; i < light.impulseCount; ++i) {
            loads += (double)light.weight[i] * light.loaded[i] * light.loaded[i];
        }
        for (int k = 0; k < 64; ++k) {
            tpLightMomentum_Sweep(&momentum, &light, 4);
            bool isSmall = momentum.size < 4e-10 * loads;
            assert_int_equal(momentum.isCalm, mayBeCalm && isSmall);
            tpLightMomentum_GoOn(&momentum, &light);
        }
        tpLight_Store(&light);
        memcpy(column->velocities, column->start, sizeof(tpVelocity) * (balls + 1));
        tpSweeper_WarmStart(&column->sweeper);
        miss = tpSweeper_Miss(&column->sweeper);
    }
    for (int i = 0; i < balls; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&column->sweeper, i, &lane);
        CHECK_NEAR(pack->impulse[0][lane], balls - i, 1e-2);
    }
    destroyBalls(column);
    return sweeps;
}

static void calmPilesHaveMoreMomentum(void** state) {
    (void)state;
    int usual = sweepBalls(false), calm = sweepBalls(true);
    print_message("%d light sweeps, %d with more momentum where it is calm\n", usual, calm);
    assert_true(usual < never && 4 * calm < 3 * usual);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columnIsBorne),
        cmocka_unit_test(roundingIsThatOfChanges),
        cmocka_unit_test(velocitiesStayThoseOfTheImpulses),
        cmocka_unit_test(growingStepsStartAnew),
        cmocka_unit_test(kernelsDoWhatTheySay),
        cmocka_unit_test(calmPilesHaveMoreMomentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
