// Parts of the iterated impulses: shock propagation, conjugate directions, contacts found again; and what
// the stepper promises its users.

#include <string.h>

#include "steppers/bender_schmitt/accelerate.h"
#include "steppers/bender_schmitt/matching.h"
#include "steppers/bender_schmitt/shock.h"
#include "support/check.h"

enum { height = 12, contactCount = 4 * height };

// A column of unit cubes on a body that does not move, falling at 1 m/s: each cube has mass 1.
typedef struct Column {
    tpAllocator allocator;
    tpArena arena;
    tpSystem system; // of which the sweep asks nothing but whether it is planar
    tpSweeper sweeper;
    tpPose poses[height + 1];
    tpVelocity* velocities;
    tpContact contacts[contactCount];
    tpContactLaw laws[contactCount];
} Column;

static void startColumn(Column* column) {
    memset(column->velocities, 0, sizeof(tpVelocity) * (height + 1));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    for (int i = 0; i < contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&column->sweeper, i, &lane);
        pack->impulse[0][lane] = pack->impulse[1][lane] = pack->impulse[2][lane] = 0.0;
    }
}

static Column* makeColumn(void) {
    tpAllocator allocator = tpDefaultAllocator();
    Column* column = tpAllocateZeroed(&allocator, sizeof(Column));
    assert_non_null(column);
    column->allocator = allocator;
    tpArena_Create(&column->arena, &allocator);
    column->velocities = TP_SCRATCH_ZEROED(&column->arena, tpVelocity, height + 1);
    assert_true(tpSweeper_Create(&column->sweeper, &column->arena, height + 1, contactCount));
    column->sweeper.velocities = column->velocities;
    for (int i = 0; i <= height; ++i) {
        column->poses[i] = tpMakePose(tpMakeVec3(0.0, 0.0, i - 0.5), tpIdentityQuat());
    }
    for (int i = 1; i <= height; ++i) {
        tpSweepBody* body = &column->sweeper.bodies[i];
        body->inverseMass = 1.0;
        body->inverseInertia[0] = body->inverseInertia[1] = body->inverseInertia[2] = 6.0;
        for (int k = 0; k < 4; ++k) {
            tpContact* contact = &column->contacts[4 * (i - 1) + k];
            tpContactLaw* law = &column->laws[4 * (i - 1) + k];
            contact->bodyA = i;
            contact->bodyB = i - 1;
            contact->shapeA = i;
            contact->shapeB = i - 1;
            contact->feature = (uint64_t)k;
            contact->normal = tpMakeVec3(0.0, 0.0, 1.0);
            contact->pointA = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, i - 1.0);
            contact->pointB = contact->pointA;
            law->mu = law->muStatic = 0.5;
            law->ellipse[0] = law->ellipse[1] = 1.0;
            tpMakeTangents(contact->normal, &law->tangents[0], &law->tangents[1]);
        }
    }
    assert_true(tpSweeper_AddContacts(&column->sweeper, &column->system, column->poses,
                                      column->contacts, column->laws, contactCount,
                                      &column->arena));
    startColumn(column);
    return column;
}

static void destroyColumn(Column* column) {
    tpAllocator allocator = column->allocator;
    tpArena_Destroy(&column->arena);
    tpRelease(&allocator, column, sizeof(Column));
}

// Sum of the normal impulses under cube `level` (1: on the ground).
static double loadUnder(const Column* column, int level) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&column->sweeper, 4 * (level - 1) + k, &lane);
        sum += pack->impulse[0][lane];
    }
    return sum;
}

static int sweepsTo(Column* column, double tolerance, bool isAccelerated) {
    tpAccelerator accelerator;
    assert_true(tpAccelerator_Create(&accelerator, &column->sweeper, &column->arena));
    tpAccelerator_Begin(&accelerator, &column->sweeper);
    for (int k = 1; k <= 20000; ++k) {
        tpSweeper_Sweep(&column->sweeper);
        if (tpSweeper_Judge(&column->sweeper).velocity <= tolerance) {
            return k;
        }
        if (isAccelerated) {
            tpAccelerator_End(&accelerator, &column->sweeper);
        }
    }
    return 20000;
}

static void directionsSaveSweeps(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-3, false);
    // Whichever way it was found, each cube bears all above it.
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 0.05);
    }
    startColumn(column);
    int accelerated = sweepsTo(column, 1e-3, true);
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 0.05);
    }
    print_message("%d sweeps, %d with conjugate directions\n", plain, accelerated);
    assert_true(10 * accelerated < plain);
    destroyColumn(column);
}

// Impulses and velocities stay together: the velocities are those of the impulses.
static void directionsKeepVelocities(void** state) {
    (void)state;
    Column* column = makeColumn();
    sweepsTo(column, 1e-3, true);
    tpVelocity kept[height + 1];
    memcpy(kept, column->velocities, sizeof(kept));
    memset(column->velocities, 0, sizeof(kept));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    tpSweeper_WarmStart(&column->sweeper);
    for (int i = 0; i <= height; ++i) {
        CHECK_VEC3(column->velocities[i].linear, kept[i].linear, 1e-12);
        CHECK_VEC3(column->velocities[i].angular, kept[i].angular, 1e-12);
    }
    destroyColumn(column);
}

static void shockCarriesLoadsDown(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-3, true);
    startColumn(column);
    assert_true(tpShock_Propagate(&column->sweeper, &column->arena));
    double worst = 0.0;
    for (int level = 1; level <= height; ++level) {
        double load = height + 1.0 - level;
        worst = fmax(worst, fabs(loadUnder(column, level) / load - 1.0));
    }
    // The pass leaves impulses; velocities follow from them with the true masses.
    memset(column->velocities, 0, sizeof(tpVelocity) * (height + 1));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    tpSweeper_WarmStart(&column->sweeper);
    int after = sweepsTo(column, 1e-3, true);
    print_message("loads after the pass within %.1e; %d sweeps after it, %d without\n", worst,
                  after, plain);
    CHECK_BELOW(worst, 1e-3);
    assert_true(20 * after < plain);
    destroyColumn(column);
}

static tpContact contactAt(int a, int b, uint64_t feature, double x, double y) {
    tpContact contact;
    memset(&contact, 0, sizeof(contact));
    contact.shapeA = a;
    contact.shapeB = b;
    contact.feature = feature;
    contact.pointA = contact.pointB = tpMakeVec3(x, y, 0.0);
    return contact;
}

static void contactsAreFoundAgain(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    // Pair (1, 2): one keeps its name, two change it; pair (1, 3) is gone, (2, 3) is new.
    const tpContact old[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 20, 1.0, 0.0),
                              contactAt(1, 2, 30, 0.0, 1.0), contactAt(1, 3, 10, 5.0, 5.0) };
    const tpContact new[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 21, 0.01, 1.0),
                              contactAt(1, 2, 22, 1.0, 0.01), contactAt(1, 2, 40, 0.5, 0.5),
                              contactAt(2, 3, 10, 0.0, 0.0) };
    const int* match = tpMatchContacts(old, 4, new, 5, &arena);
    assert_non_null(match);
    const int wanted[] = { 0, 2, 1, -1, -1 };
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(match[i], wanted[i]);
    }
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directionsSaveSweeps),
        cmocka_unit_test(directionsKeepVelocities),
        cmocka_unit_test(shockCarriesLoadsDown),
        cmocka_unit_test(contactsAreFoundAgain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
