// The energy guard keeps book: swings pass, gains and losses that add up do not, and a collision
// starts a new account.

#include "dynamics/energy_guard.h"

#include <string.h>

#include "dynamics/energy_account.h"
#include "support/check.h"

static const double budget = 1.0;

static tpEnergyGuard makeGuard(tpEnergyBook* book) {
    *book = (tpEnergyBook){ .excess = 0.0 };
    return (tpEnergyGuard){ .book = book, .budget = budget };
}

// Takes a smooth part if it may be taken.
static bool take(tpEnergyGuard* guard, double rise) {
    bool isRight = tpEnergyGuard_Allows(guard, rise, 1.0, true, false);
    if (isRight) {
        tpEnergyGuard_Take(guard, rise, false);
    }
    return isRight;
}

static void testSwingsPass(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    for (int k = 0; k < 1000; ++k) {
        double rise = 0.45 * (sin(0.3 * (k + 1)) - sin(0.3 * k));
        assert_true(take(&guard, rise));
    }
    CHECK_NEAR(book.excess + book.deficit, 0.9, 0.02);
}

// A steady gain or loss passes until it has used up the budget; what leaks afterwards is small.
static void testDriftsDoNot(void** state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        tpEnergyBook book;
        tpEnergyGuard guard = makeGuard(&book);
        double sum = 0.0;
        for (int k = 0; k < 100; ++k) {
            sum += take(&guard, sign * 0.03) ? sign * 0.03 : 0.0;
        }
        assert_true(fabs(sum) <= budget && fabs(sum) > 0.9 * budget);
        assert_true(take(&guard, sign * 0.01)); // within the leak
        assert_true(take(&guard, -sign * 0.5)); // back into the band
        assert_false(take(&guard, sign * 0.6));
    }
}

// With the budget used up, a part of a step leaks its part of what a whole step may.
static void testLeaksOfParts(void** state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        tpEnergyBook book;
        tpEnergyGuard guard = makeGuard(&book);
        *(sign > 0 ? &book.excess : &book.deficit) = budget;
        for (double part = 1.0; part > 0.1; part *= 0.5) {
            double leak = sign * part * budget / 64.0;
            assert_true(tpEnergyGuard_Allows(&guard, 0.9 * leak, part, false, false));
            assert_false(tpEnergyGuard_Allows(&guard, 1.1 * leak, part, false, false));
            assert_true(tpEnergyGuard_Allows(&guard, -1.1 * leak, part, false, false));
        }
    }
}

// In a collision energy may fall by anything and rise by nothing, and shortly after it only as high
// as it was then.
static void testCollisions(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    assert_true(tpEnergyGuard_Allows(&guard, -100.0, 1.0, true, true));
    assert_false(tpEnergyGuard_Allows(&guard, 1e-3, 1.0, true, true));
    tpEnergyGuard_Take(&guard, -100.0, true);
    assert_true(book.deficit == 0.0);
    assert_false(take(&guard, 1e-3));
    assert_true(take(&guard, -0.2));
    assert_true(take(&guard, 0.15));
    assert_false(take(&guard, 0.1));
    for (int k = 0; k < 8; ++k) {
        assert_true(take(&guard, 0.0));
    }
    assert_true(take(&guard, 0.1));
}

// Parts get longer again after many quiet steps with small swings.
static void testLevels(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    tpEnergyGuard_RaiseLevel(&guard, 3);
    tpEnergyGuard_RaiseLevel(&guard, 2);
    assert_int_equal(book.level, 3);
    for (int k = 0; k < 1000; ++k) {
        take(&guard, k % 2 == 0 ? 0.4 : -0.4);
        tpEnergyGuard_End(&guard);
    }
    assert_int_equal(book.level, 3);
    tpEnergyGuard_StartBand(&guard);
    for (int k = 0; k < 1000; ++k) {
        take(&guard, k % 2 == 0 ? 0.04 : -0.04);
        tpEnergyGuard_End(&guard);
    }
    assert_int_equal(book.level, 0);
    // Where nothing swings at all, after a few steps, and to the whole step at once.
    tpEnergyGuard_StartBand(&guard);
    tpEnergyGuard_RaiseLevel(&guard, 4);
    for (int k = 0; k < 40; ++k) {
        take(&guard, 0.0);
        tpEnergyGuard_End(&guard);
    }
    assert_int_equal(book.level, 0);
}

// Halvings that were right for a step are too many for a shorter one.
static void testShorterSteps(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    guard.h = 0.01;
    tpEnergyGuard_RaiseLevel(&guard, 3);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 0.01), 3);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 0.02), 3);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 0.005), 2);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 0.003), 2);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 0.00125), 0);
    assert_int_equal(tpEnergyBook_LevelOf(&book, 1e-6), 0);
}

// Of steps that were all refused one in sixteen is tried, however long that goes on; at rest ever
// fewer, and one in 1,024 at the least.
static void testHopelessSteps(void** state) {
    (void)state;
    const int firstTries = 4, moving = 16384 / 16, resting = 16 + 6; // the 16th to the 512th, then
    for (int isAtRest = 0; isAtRest < 2; ++isAtRest) {
        tpEnergyBook book;
        tpEnergyGuard guard = makeGuard(&book);
        guard.isAtRest = isAtRest;
        int tried = 0;
        for (int k = 0; k <= 16384; ++k) {
            bool isHopeless = tpEnergyGuard_IsHopeless(&guard);
            assert_false(k < 4 && isHopeless);
            tried += isHopeless ? 0 : 1;
            tpEnergyGuard_NoteRefused(&guard, true);
        }
        assert_int_equal(tried, firstTries + (isAtRest ? resting : moving));
        tpEnergyGuard_NoteRefused(&guard, false);
        assert_false(tpEnergyGuard_IsHopeless(&guard));
    }
}

// What the books of drives may be off by does not count, but no more of it than the budget: a crank
// that a motor turns by .4 rad per step left one step of eight uncertified.
static void testSlackIsBounded(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    tpSystem system; // without bodies: its energy is 0
    memset(&system, 0, sizeof(system));
    tpStepReport report;
    memset(&report, 0, sizeof(report));
    const double slacks[] = { 0.0, 0.3, 50.0 };
    const double rises[] = { 5.0, 4.7, 4.0 };
    for (int i = 0; i < 3; ++i) {
        tpStepReport_SetDriveSlack(&report, slacks[i]);
        guard.energy = -5.0;
        CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), rises[i], 1e-15);
        guard.energy = 5.0;
        CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), -rises[i], 1e-15);
    }
    tpStepReport_SetDriveSlack(&report, 0.4);
    guard.energy = -0.3;
    CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), 0.0, 1e-15);
}

// Only what the part itself has added to the report counts: work from outside and friction are its
// own shares, and in a collision friction is no longer told apart.
static void testPartsCountTheirOwn(void** state) {
    (void)state;
    tpEnergyBook book;
    tpEnergyGuard guard = makeGuard(&book);
    tpSystem system;
    memset(&system, 0, sizeof(system));
    tpStepReport report;
    memset(&report, 0, sizeof(report));
    report.externalWork = 3.0;
    report.frictionLoss = 7.0;
    tpEnergyGuard_BeginPart(&guard, &system, &report);
    CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), 0.0, 1e-15);
    report.externalWork += 0.5;
    CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), -0.5, 1e-15);
    report.frictionLoss += 2.0;
    CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, false), 1.5, 1e-15);
    CHECK_NEAR(tpEnergyGuard_Rise(&guard, &system, &report, true), -0.5, 1e-15);
}

// After sixteen steps the whole step is tried again if its swings, sixteen times those seen and
// four times as large per level, will be below half of the budget.
static void testStillLevels(void** state) {
    (void)state;
    for (int level = 1; level <= 6; ++level) {
        for (int side = 0; side < 2; ++side) {
            tpEnergyBook book;
            tpEnergyGuard guard = makeGuard(&book);
            tpEnergyGuard_RaiseLevel(&guard, level);
            double limit = 0.5 * budget / 16.0 / pow(4.0, level);
            for (int k = 0; k < 16; ++k) {
                assert_int_equal(book.level, level);
                take(&guard, (k % 2 == 0 ? 1.0 : -1.0) * (side == 0 ? 0.99 : 1.01) * limit);
                tpEnergyGuard_End(&guard);
            }
            assert_int_equal(book.level, side == 0 ? 0 : level);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSlackIsBounded),     cmocka_unit_test(testSwingsPass),
        cmocka_unit_test(testDriftsDoNot),        cmocka_unit_test(testLeaksOfParts),
        cmocka_unit_test(testCollisions),         cmocka_unit_test(testLevels),
        cmocka_unit_test(testPartsCountTheirOwn), cmocka_unit_test(testShorterSteps),
        cmocka_unit_test(testHopelessSteps),      cmocka_unit_test(testStillLevels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
