// Bodies of a tree four at once: inertias, flights and poses are those of one body alone, with the
// same bits on every width.

#include "steppers/small_steps/flights.h"

#include <string.h>

#include "dynamics/rotation.h"
#include "support/check.h"

enum { bodies = 3 };

static const double substep = 1.0 / 240.0;

typedef struct Case {
    tpInertia inertias[bodies];
    tpPose starts[bodies], poses[bodies];
    tpVelocity velocities[bodies], moved[bodies];
    tpNodeFlight flights[bodies];
    tpNodeMass masses[bodies];
    tpJointNode nodes[bodies];
    double shifts[6 * bodies];
} Case;

static tpVec3 anyVec(tpRandom* random) {
    return tpMakeVec3(randomBetween(random, -1.0, 1.0), randomBetween(random, -1.0, 1.0),
                      randomBetween(random, -1.0, 1.0));
}

static tpQuat anyTurn(tpRandom* random) {
    return tpQuatExp(tpScale(2.0, anyVec(random)));
}

// The second body is the same in all directions; speeds of the third are up to `fastest`.
static void openCase(Case* test, tpRandom* random, double fastest) {
    memset(test, 0, sizeof(*test));
    for (int i = 0; i < bodies; ++i) {
        double a = randomBetween(random, 0.5, 1.0), b = randomBetween(random, 0.5, 1.0);
        tpMat33 turned = tpMatFromQuat(anyTurn(random));
        tpMat33 tensor = tpDiagonal(i == 1 ? tpMakeVec3(a, a, a) : tpMakeVec3(a, b, 1.2));
        test->inertias[i] =
            tpMakeInertia(i == 1 ? tensor : tpMulMM(tpMulMM(turned, tensor), tpTranspose(turned)));
        test->starts[i] = test->poses[i] = tpMakePose(anyVec(random), anyTurn(random));
        test->velocities[i].angular = tpScale(i == 2 ? fastest : 5.0, anyVec(random));
        test->moved[i].linear = tpScale(0.01, anyVec(random));
        test->moved[i].angular = tpScale(0.01, anyVec(random));
    }
    for (int k = 0; k < 6 * bodies; ++k) {
        test->shifts[k] = randomBetween(random, -0.01, 0.01);
    }
}

// A pack of them, whose moments are all positive.
static tpFlightPack packOf(Case* test) {
    tpFlightPack pack = {
        .count = bodies, .flights = test->flights, .masses = test->masses, .nodes = test->nodes
    };
    for (int lane = 0; lane < tp_flightPackWidth; ++lane) {
        int i = lane < bodies ? lane : 0;
        const tpInertia* inertia = &test->inertias[i];
        const double *I = &inertia->moments.x, *q = &inertia->principal.w;
        for (int k = 0; k < 3; ++k) {
            pack.moments[k][lane] = I[k];
            pack.ratios[k][lane] = (I[(k + 1) % 3] - I[(k + 2) % 3]) / I[k];
        }
        for (int k = 0; k < 4; ++k) {
            pack.principal[k][lane] = q[k];
        }
        pack.isEven[lane] = inertia->isIsotropic ? 1.0 : 0.0;
        pack.tumbles[lane] = inertia->isIsotropic ? 0.0 : 1.0;
        pack.starts[lane] = &test->starts[i];
        pack.poses[lane] = &test->poses[i];
        pack.velocities[lane] = &test->velocities[i];
        pack.moved[lane] = &test->moved[i];
    }
    return pack;
}

static void openAll(Case* test, int width, unsigned* tumbling, unsigned* isShort) {
    tpFlightPack pack = packOf(test);
    tpFlightTimes times = { substep, substep, 4.0 * substep, 1e-3, 0.1, true };
    tpGetFlightKernels(width)->open(&pack, &times, tumbling, isShort);
    for (int i = 0; i < bodies; ++i) {
        test->flights[i].isTumbling = (*tumbling >> i & 1) != 0;
        test->flights[i].isShort = (*isShort >> i & 1) != 0;
    }
}

// Inertias in the world, and what Euler's equations say.
static void checkOpened(const Case* test, int i) {
    const tpNodeFlight* flight = &test->flights[i];
    const tpInertia* inertia = &test->inertias[i];
    tpMat33 world = tpInertia_World(inertia, test->poses[i].rotation);
    const double* to = test->masses[i].inertia;
    CHECK_VEC3(tpMakeVec3(to[0], to[1], to[2]), world.cx, 1e-15);
    CHECK_VEC3(tpMakeVec3(to[3], to[4], to[5]), world.cy, 1e-15);
    CHECK_VEC3(tpMakeVec3(to[6], to[7], to[8]), world.cz, 1e-15);
    const double six[6] = { to[0], to[4], to[8], to[1], to[2], to[5] };
    assert_memory_equal(six, test->nodes[i].inertia, sizeof(six));
    assert_memory_equal(&flight->start, &test->poses[i], sizeof(tpPose));
    assert_memory_equal(&flight->moved, &test->moved[i].angular, sizeof(tpVec3));
    tpVec3 w = test->velocities[i].angular;
    assert_memory_equal(&flight->velocity, &w, sizeof(tpVec3));
    tpVec3 momentum = tpMulMV(world, w), expected = tpZeroVec3();
    if (flight->isShort) {
        tpVec3 torque = tpScale(substep, tpCross(momentum, w));
        expected = tpInertia_Velocity(inertia, test->poses[i].rotation, torque);
    }
    CHECK_VEC3(flight->change, expected, 1e-13);
}

static void flightsBeginAsEulerSays(void** state) {
    (void)state;
    tpRandom random = { 7 };
    static Case test, other;
    for (int trial = 0; trial < 200; ++trial) {
        unsigned tumbling, isShort, tumblingToo, isShortToo;
        openCase(&test, &random, trial % 2 == 0 ? 5.0 : 100.0);
        other = test;
        openAll(&test, 1, &tumbling, &isShort);
        openAll(&other, 4, &tumblingToo, &isShortToo);
        assert_int_equal(tumbling & 2, 0);
        assert_int_equal(tumbling, tumblingToo);
        assert_int_equal(isShort, isShortToo);
        for (int i = 0; i < bodies; ++i) {
            double turn = substep * tpLength(test.velocities[i].angular);
            assert_int_equal(isShort >> i & 1, (tumbling >> i & 1) && turn < 0.1);
            checkOpened(&test, i);
        }
        assert_memory_equal(&test, &other, sizeof(test));
    }
}

static unsigned landAll(Case* test, int width) {
    tpFlightPack pack = packOf(test);
    return tpGetFlightKernels(width)->land(&pack, substep, 1.0);
}

// With displacements of free flight bodies land where free flight leads, to third order, and keep
// their momentum to rounding.
static void shortFlightsAreFree(void** state) {
    (void)state;
    tpRandom random = { 8 };
    static Case test, other;
    for (int trial = 0; trial < 200; ++trial) {
        unsigned tumbling, isShort;
        tpVec3 momenta[bodies];
        openCase(&test, &random, 5.0);
        for (int i = 0; i < bodies; ++i) {
            test.moved[i].angular = tpZeroVec3();
            momenta[i] = tpInertia_Momentum(&test.inertias[i], test.poses[i].rotation,
                                            test.velocities[i].angular);
        }
        openAll(&test, 1, &tumbling, &isShort);
        Case before = test;
        for (int i = 0; i < bodies; ++i) {
            tpVec3* w = &test.velocities[i].angular;
            *w = tpAdd(*w, test.flights[i].change);
            test.moved[i].angular = tpScale(substep, *w);
        }
        other = test;
        assert_int_equal(landAll(&test, 1), 0);
        assert_int_equal(landAll(&other, 4), 0);
        for (int i = 0; i < bodies; ++i) {
            tpVec3 w = before.velocities[i].angular;
            tpQuat rotation = before.poses[i].rotation;
            tpRotateFreely(&test.inertias[i], substep, &rotation, &w);
            tpVec3 off = tpQuatLog(tpMulQQ(test.poses[i].rotation, tpConjugate(rotation)));
            CHECK_BELOW(tpLength(off), 5e-6);
            CHECK_BELOW(tpLength(tpSub(test.velocities[i].angular, w)), 1e-4);
            tpVec3 momentum = tpInertia_Momentum(&test.inertias[i], test.poses[i].rotation,
                                                 test.velocities[i].angular);
            CHECK_VEC3(momentum, momenta[i], 1e-13);
            CHECK_VEC3(test.poses[i].position, tpAdd(test.starts[i].position, test.moved[i].linear),
                       0.0);
        }
        assert_memory_equal(&test, &other, sizeof(test));
    }
}

// Bodies that turn far or have a long flight are told, and nothing of them changes.
static void longFlightsAreLeft(void** state) {
    (void)state;
    tpRandom random = { 9 };
    static Case test, before;
    for (int width = 1; width <= 4; width += 3) {
        unsigned tumbling, isShort;
        openCase(&test, &random, 5.0);
        openAll(&test, width, &tumbling, &isShort);
        assert_int_equal(isShort, 5);
        test.moved[0].angular.x += 0.3;
        test.flights[2].isShort = false;
        before = test;
        assert_int_equal(landAll(&test, width), 5);
        assert_memory_equal(&test.poses[0], &before.poses[0], sizeof(tpPose));
        assert_memory_equal(&test.poses[2], &before.poses[2], sizeof(tpPose));
        assert_memory_equal(test.velocities, before.velocities, sizeof(test.velocities));
        assert_true(memcmp(&test.poses[1], &before.poses[1], sizeof(tpPose)) != 0);
    }
}

static void shiftsAreTurns(void** state) {
    (void)state;
    tpRandom random = { 10 };
    static Case test, other, before;
    for (int trial = 0; trial < 50; ++trial) {
        openCase(&test, &random, 5.0);
        test.shifts[3] = trial % 2 == 0 ? 0.3 : 0.01; // of the first: it turns far
        before = other = test;
        tpFlightPack pack = packOf(&test), same = packOf(&other);
        unsigned left = trial % 2 == 0 ? 1 : 0;
        assert_int_equal(tpGetFlightKernels(1)->shift(&pack, test.shifts), left);
        assert_int_equal(tpGetFlightKernels(4)->shift(&same, other.shifts), left);
        assert_memory_equal(&test, &other, sizeof(test));
        for (int i = 0; i < bodies; ++i) {
            const double* by = &test.shifts[6 * i];
            tpVec3 turn = tpMakeVec3(by[3], by[4], by[5]);
            tpPose end = before.poses[i];
            if (!(left >> i & 1)) {
                end.position = tpAdd(end.position, tpMakeVec3(by[0], by[1], by[2]));
                end.rotation = tpMulQQ(tpQuatExp(turn), end.rotation);
            }
            CHECK_VEC3(test.poses[i].position, end.position, 0.0);
            tpVec3 off = tpQuatLog(tpMulQQ(test.poses[i].rotation, tpConjugate(end.rotation)));
            CHECK_BELOW(tpLength(off), 1e-15);
        }
    }
}

// Kernels of that width, by which a pack begins a substep in which each body is kicked and heavy in
// its own way.
static const tpFlightKernels* openKicked(tpFlightPack* pack, int width) {
    for (int lane = 0; lane < tp_flightPackWidth; ++lane) {
        for (int k = 0; k < 6; ++k) {
            pack->kick[k][lane] = 0.1 * k - lane;
        }
        pack->mass[lane] = 1.0 + lane;
    }
    const tpFlightKernels* kernels = tpGetFlightKernels(width);
    tpFlightTimes times = { substep, substep, 4.0 * substep, 1e-3, 0.1, true };
    unsigned tumbling, isShort;
    kernels->open(pack, &times, &tumbling, &isShort);
    return kernels;
}

// A substep begins with the momenta of velocities, of forces and of what contacts gave, body by
// body.
static void momentaAddUp(void** state) {
    (void)state;
    tpRandom random = { 11 };
    static Case test, other;
    for (int trial = 0; trial < 100; ++trial) {
        enum { numbers = 6 * bodies };
        double last[numbers], pushes[numbers], bases[2][numbers], momenta[2][numbers];
        double moved[2][numbers];
        bool isTumbling = trial % 2 == 0;
        openCase(&test, &random, 5.0);
        other = test;
        tpFlightPack packs[2] = { packOf(&test), packOf(&other) };
        for (int k = 0; k < numbers; ++k) {
            last[k] = randomBetween(&random, -1.0, 1.0);
            pushes[k] = randomBetween(&random, -1.0, 1.0);
            moved[0][k] = moved[1][k] = randomBetween(&random, -1.0, 1.0);
        }
        for (int w = 0; w < 2; ++w) {
            const tpFlightKernels* kernels = openKicked(&packs[w], w == 0 ? 1 : 4);
            kernels->addUp(&packs[w], last, pushes, isTumbling, bases[w], momenta[w]);
            kernels->follow(numbers, substep, last, moved[w]);
        }
        assert_memory_equal(bases[0], bases[1], sizeof(bases[0]));
        assert_memory_equal(momenta[0], momenta[1], sizeof(momenta[0]));
        assert_memory_equal(moved[0], moved[1], sizeof(moved[0]));
        for (int i = 0; i < bodies; ++i) {
            const double* b = &bases[0][6 * i];
            const double* change = &test.flights[i].change.x;
            double momentum[6];
            for (int k = 0; k < 6; ++k) {
                double flight = isTumbling && k >= 3 ? change[k - 3] : 0.0;
                CHECK_NEAR(b[k], last[6 * i + k] + (0.1 * k - i) + flight, 2e-15);
            }
            test.nodes[i].mass = 1.0 + i;
            tpJointNode_Momentum(&test.nodes[i], tpMakeVec3(b[0], b[1], b[2]),
                                 tpMakeVec3(b[3], b[4], b[5]), &pushes[6 * i], momentum);
            assert_memory_equal(momentum, &momenta[0][6 * i], sizeof(momentum));
        }
    }
}

// So many substeps at once: momenta are those of the velocities that all kicks and free flights
// would lead to, beside what bodies are given.
static void substepsAddUp(void** state) {
    (void)state;
    tpRandom random = { 12 };
    static Case test, other;
    for (int trial = 0; trial < 100; ++trial) {
        enum { numbers = 6 * bodies };
        double begun[numbers], given[numbers], momenta[2][numbers];
        bool isTumbling = trial % 2 == 0;
        openCase(&test, &random, 5.0);
        other = test;
        tpFlightPack packs[2] = { packOf(&test), packOf(&other) };
        for (int k = 0; k < numbers; ++k) {
            begun[k] = randomBetween(&random, -1.0, 1.0);
            given[k] = randomBetween(&random, -1.0, 1.0);
        }
        for (int w = 0; w < 2; ++w) {
            const tpFlightKernels* kernels = openKicked(&packs[w], w == 0 ? 1 : 4);
            kernels->sumUp(&packs[w], 3.0, begun, given, isTumbling, momenta[w]);
        }
        assert_memory_equal(momenta[0], momenta[1], sizeof(momenta[0]));
        for (int i = 0; i < bodies; ++i) {
            tpMat33 world = tpInertia_World(&test.inertias[i], test.poses[i].rotation);
            const double *start = &begun[6 * i], *more = &given[6 * i];
            const double* change = &test.flights[i].change.x;
            double v[6];
            for (int k = 0; k < 6; ++k) {
                double flight = isTumbling && k >= 3 ? change[k - 3] : 0.0;
                v[k] = start[k] + 3.0 * (0.1 * k - i + flight);
            }
            tpVec3 linear = tpScale(1.0 + i, tpMakeVec3(v[0], v[1], v[2]));
            tpVec3 angular = tpMulMV(world, tpMakeVec3(v[3], v[4], v[5]));
            const double* p = &momenta[0][6 * i];
            CHECK_VEC3(tpMakeVec3(p[0], p[1], p[2]),
                       tpAdd(linear, tpMakeVec3(more[0], more[1], more[2])), 1e-13);
            CHECK_VEC3(tpMakeVec3(p[3], p[4], p[5]),
                       tpAdd(angular, tpMakeVec3(more[3], more[4], more[5])), 1e-13);
        }
    }
}

// Displacements of a step are the ways and turns from the poses at its start; who turns far is
// told.
static void displacementsAreMeasured(void** state) {
    (void)state;
    tpRandom random = { 13 };
    static Case test, other;
    for (int trial = 0; trial < 100; ++trial) {
        openCase(&test, &random, 5.0);
        double sizes[bodies];
        tpVec3 turns[bodies];
        for (int i = 0; i < bodies; ++i) {
            bool isFar = (trial >> i & 1) != 0;
            sizes[i] =
                isFar ? randomBetween(&random, 0.12, 3.0) : randomBetween(&random, 0.0, 0.09);
            turns[i] = tpScale(sizes[i], tpNormalize(anyVec(&random)));
            test.poses[i].rotation = tpMulQQ(tpQuatExp(turns[i]), test.starts[i].rotation);
            test.poses[i].position = tpAdd(test.starts[i].position, anyVec(&random));
        }
        other = test;
        tpFlightPack pack = packOf(&test), same = packOf(&other);
        unsigned left = tpGetFlightKernels(1)->measure(&pack);
        assert_int_equal(tpGetFlightKernels(4)->measure(&same), left);
        assert_memory_equal(&test, &other, sizeof(test));
        for (int i = 0; i < bodies; ++i) {
            assert_int_equal(left >> i & 1, sizes[i] > 0.1);
            CHECK_VEC3(test.moved[i].linear, tpSub(test.poses[i].position, test.starts[i].position),
                       0.0);
            if (sizes[i] < 0.1) {
                CHECK_VEC3(test.moved[i].angular, turns[i], 2e-15);
            }
        }
        assert_int_equal(left >> bodies, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flightsBeginAsEulerSays),
        cmocka_unit_test(shortFlightsAreFree),
        cmocka_unit_test(longFlightsAreLeft),
        cmocka_unit_test(shiftsAreTurns),
        cmocka_unit_test(momentaAddUp),
        cmocka_unit_test(substepsAddUp),
        cmocka_unit_test(displacementsAreMeasured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
