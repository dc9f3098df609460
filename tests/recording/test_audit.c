// The audit of a run: sums and extremes of reports made by hand, as numbers, JSON and a table.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "falling_world.h"

static void startAudit(tpAudit* audit) {
    tpWorld* world = makeFallingWorld();
    tpAudit_Start(audit, world);
    CHECK_NEAR(audit->energyStart,
               tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world), 0.0);
    tpDestroyWorld(world);
    audit->tolerance = 1e-6;
}

static tpStepReport makeReport(int step) {
    return (tpStepReport){ .time = 0.5 * step, .converged = true, .substepCount = 1 };
}

static void testSums(void** state) {
    (void)state;
    tpAudit audit;
    startAudit(&audit);
    for (int k = 1; k <= 4; ++k) {
        tpStepReport report = makeReport(k);
        report.contactCount = 2 * k;
        report.solveCount = 3;
        report.iterationCount = 10 * k;
        report.failureCount = k == 3 ? 2 : 0;
        report.converged = k != 3;
        report.residual = k == 3 ? 0.25 : 1e-8 * k;
        report.penetration = k == 2 ? 1e-3 : 1e-5;
        report.dissipationViolation = 0.125 * k;
        report.kineticBefore = 10.0;
        report.kineticAfter = k == 4 ? 12.0 : 9.0;
        report.potentialBefore = 1.0;
        report.potentialAfter = 1.5;
        report.externalWork = k == 4 ? 2.0 : 0.0;
        report.frictionLoss = 0.5;
        report.undone = k == 1;
        report.violations = k == 2   ? 1u << tp_jointLaw
                            : k == 4 ? 1u << tp_energyLaw | 1u << tp_jointLaw
                                     : 0u;
        report.energyExcess = 0.25 * k;
        report.contactQueryCount = 2;
        report.figures[0] = k;
        report.noteCount = k == 2 ? 2 : 0;
        report.notes[0] = "a note";
        report.notes[1] = "another";
        report.fallback = k >= 3 ? "slower" : k == 1 ? "slowest" : NULL;
        tpAudit_AddStep(&audit, &report);
    }
    assert_int_equal(audit.stepCount, 4);
    assert_int_equal(audit.contactTotal, 20);
    assert_int_equal(audit.contactMax, 8);
    assert_int_equal(audit.solveCount, 12);
    assert_int_equal(audit.iterationCount, 100);
    assert_int_equal(audit.failureCount, 2);
    assert_int_equal(audit.unconvergedCount, 1);
    assert_int_equal(audit.undoneCount, 1);
    assert_int_equal(audit.firstAboveTolerance, 3);
    assert_true(audit.residualMax == 0.25 && audit.penetrationMax == 1e-3);
    assert_true(audit.dissipationMax == 0.5 && audit.frictionLoss == 2.0);
    assert_true(audit.energyEnd == 13.5);
    assert_true(audit.energyIncreaseMax == 0.5); // 2.5 in the last step, of which 2 are work
    assert_true(audit.energyExcessMax == 1.0);
    assert_int_equal(audit.uncertifiedCount, 2);
    assert_int_equal(audit.firstUncertified, 2);
    assert_int_equal(audit.violationCounts[tp_jointLaw], 2);
    assert_int_equal(audit.violationCounts[tp_energyLaw], 1);
    assert_int_equal(audit.violationCounts[tp_contactLaw], 0);
    assert_int_equal(audit.contactQueryCount, 8);
    assert_int_equal(audit.figures[0], 10);
    assert_int_equal(audit.noteCount, 2);
    assert_string_equal(audit.notes[1].text, "another");
    assert_int_equal(audit.fallbackCount, 2);
    assert_string_equal(audit.fallbacks[0].name, "slowest");
    assert_int_equal(audit.fallbacks[1].count, 2);
    assert_true(audit.endTime - audit.startTime == 2.0 && audit.wallTime >= 0.0);
}

// The value of a key of the JSON text, as it stands there.
// Sums, extremes and last values of all that reports have, against the same of random numbers, by
// rules that are written here; an extreme of what is no number is none.
static void everyNumberIsWorkedOut(void** state) {
    (void)state;
    tpRandom random = { 71 };
    for (int n = 0; n < 24; ++n) {
        tpAudit audit;
        startAudit(&audit);
        double most[9] = { 0.0 }, sums[5] = { 0.0 };
        int64_t counts[7] = { 0 }, figures[tp_figureCapacity] = { 0 };
        int steps = 1 + n % 7, broken = n < 9 ? n : -1; // which extreme a step has none of
        tpStepReport report = makeReport(0);
        for (int k = 1; k <= steps; ++k) {
            report = makeReport(k);
            double* extremes[8] = {
                &report.penetration,   &report.residual,     &report.dissipationViolation,
                &report.coneViolation, &report.jointDrift,   &report.gapShift,
                &report.rounding,      &report.rigidResidual
            };
            double* others[9] = { &report.externalWork,  &report.frictionLoss,
                                  &report.impactLoss,    &report.numericalLoss,
                                  &report.work,          &report.kineticBefore,
                                  &report.kineticAfter,  &report.potentialBefore,
                                  &report.potentialAfter };
            int* whole[6] = { &report.solveCount,   &report.iterationCount,
                              &report.failureCount, &report.substepCount,
                              &report.contactCount, &report.contactQueryCount };
            for (int i = 0; i < 8; ++i) {
                *extremes[i] =
                    i == broken && k == (steps + 1) / 2 ? NAN : randomBetween(&random, 0, 1);
                most[i] = isnan(*extremes[i]) || isnan(most[i]) ? NAN : fmax(most[i], *extremes[i]);
            }
            for (int i = 0; i < 9; ++i) {
                *others[i] = randomBetween(&random, -1.0, 1.0);
                sums[i < 5 ? i : 0] += i < 5 ? *others[i] : 0.0;
            }
            for (int i = 0; i < 6; ++i) {
                *whole[i] = (int)(randomBits(&random) % 9);
                counts[i] += *whole[i];
            }
            counts[6] = report.contactCount > counts[6] ? report.contactCount : counts[6];
            for (int i = 0; i < tpFigureCount(); ++i) {
                report.figures[i] = (int)(randomBits(&random) % 9);
                int64_t larger = report.figures[i] > figures[i] ? report.figures[i] : figures[i];
                figures[i] = tpFigure(i)->isLevel ? larger : figures[i] + report.figures[i];
            }
            report.errorEstimate = randomBetween(&random, 0.0, 1.0);
            report.errorAsked = randomBetween(&random, 0.0, 1.0);
            double rise = report.kineticAfter - report.kineticBefore + report.potentialAfter -
                          report.potentialBefore - report.externalWork;
            most[8] = fmax(most[8], rise);
            tpAudit_AddStep(&audit, &report);
        }
        const double found[8] = { audit.penetrationMax, audit.residualMax,     audit.dissipationMax,
                                  audit.coneMax,        audit.jointDriftMax,   audit.gapShiftMax,
                                  audit.roundingMax,    audit.rigidResidualMax };
        for (int i = 0; i < 8; ++i) {
            assert_true(isnan(most[i]) ? isnan(found[i]) : found[i] == most[i]);
        }
        CHECK_NEAR(audit.energyIncreaseMax, most[8], 1e-14);
        const double totals[5] = { audit.externalWork, audit.frictionLoss, audit.impactLoss,
                                   audit.numericalLoss, audit.work };
        for (int i = 0; i < 5; ++i) {
            CHECK_NEAR(totals[i], sums[i], 1e-13);
        }
        const int64_t numbers[7] = { audit.solveCount,   audit.iterationCount,
                                     audit.failureCount, audit.substepCount,
                                     audit.contactTotal, audit.contactQueryCount,
                                     audit.contactMax };
        for (int i = 0; i < 7; ++i) {
            assert_int_equal(numbers[i], counts[i]);
        }
        for (int i = 0; i < tpFigureCount(); ++i) {
            assert_int_equal(audit.figures[i], figures[i]);
        }
        assert_true(audit.errorEstimate == report.errorEstimate);
        assert_true(audit.errorAsked == report.errorAsked && audit.endTime == report.time);
        CHECK_NEAR(audit.energyEnd, report.kineticAfter + report.potentialAfter, 1e-15);
    }
}

static void checkValue(const char* json, const char* key, const char* value) {
    char pattern[200];
    snprintf(pattern, sizeof(pattern), "\"%s\": %s", key, value);
    const char* at = strstr(json, pattern);
    if (at == NULL || strchr(",}", at[strlen(pattern)]) == NULL) {
        fail_msg("%s not in %s", pattern, json);
    }
}

static void testJson(void** state) {
    (void)state;
    tpAudit audit;
    startAudit(&audit);
    tpStepReport report = makeReport(1);
    report.residual = NAN;
    report.penetration = INFINITY;
    report.contactCount = 3;
    report.fallback = "odd \"name\"";
    report.violations = 1u << tp_overlapLaw;
    report.notes[report.noteCount++] = "a \"note\"";
    tpAudit_AddStep(&audit, &report);
    report.residual = 0.5; // does not hide the NaN before
    tpAudit_AddStep(&audit, &report);
    char json[4096];
    size_t length = tpAudit_FormatJson(&audit, json, sizeof(json));
    assert_int_equal(length, strlen(json));
    assert_true(json[0] == '{' && strcmp(json + length - 2, "}\n") == 0);
    assert_null(strstr(json, "nan"));
    assert_null(strstr(json, "inf"));
    checkValue(json, "steps", "2");
    checkValue(json, "contacts_mean", "3");
    checkValue(json, "contacts_max", "3");
    checkValue(json, "residual_max", "null");
    checkValue(json, "penetration_max", "null");
    checkValue(json, "first_step_above_tolerance", "1");
    checkValue(json, "uncertified_steps", "2");
    checkValue(json, "first_uncertified_step", "1");
    checkValue(json, "uncertified_overlap", "2");
    checkValue(json, "uncertified_joints", "0");
    checkValue(json, "a \\\"note\\\"", "2");
    assert_non_null(strstr(json, "{\"odd \\\"name\\\"\": 2}"));
    static const char* const keys[] = {
        "steps",           "simulated_time", "wall_time",       "realtime_factor",
        "contacts_mean",   "contacts_max",   "penetration_max", "residual_max",
        "dissipation_max", "energy_start",   "energy_end",      "energy_increase_max",
        "solves",          "iterations",     "failures",        "peak_memory_bytes",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        char pattern[64];
        snprintf(pattern, sizeof(pattern), "\"%s\": ", keys[i]);
        assert_non_null(strstr(json, pattern));
    }
    // Too small a buffer is cut, closed, and told of.
    char small[40];
    assert_int_equal(tpAudit_FormatJson(&audit, small, sizeof(small)), length);
    assert_int_equal(strlen(small), sizeof(small) - 1);
    assert_memory_equal(small, json, sizeof(small) - 1);
}

// No steps at all: nothing is divided by zero.
static void testEmpty(void** state) {
    (void)state;
    tpAudit audit;
    startAudit(&audit);
    char text[4096];
    tpAudit_FormatJson(&audit, text, sizeof(text));
    assert_null(strstr(text, "nan"));
    checkValue(text, "contacts_mean", "0");
    checkValue(text, "realtime_factor", "null");
    assert_true(tpAudit_FormatTable(&audit, text, sizeof(text)) < sizeof(text));
    assert_true(tpPeakMemory() > 1 << 20);
}

// What materials have and the stepper does not use is said, and nothing else.
static void testLeftOut(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_penalty, tp_anitescu };
    for (int i = 0; i < 4; ++i) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = steppers[i % 2];
        tpWorld* world = tpCreateWorld(&def);
        tpMaterialDef material = tpDefaultMaterialDef();
        material.restitution = i < 2 ? 0.5 : 0.0;
        tpCreateMaterial(world, &material, NULL);
        tpAudit audit;
        tpAudit_Start(&audit, world);
        char text[4096];
        tpAudit_FormatJson(&audit, text, sizeof(text));
        assert_non_null(
            strstr(text, i == 0 ? "\"left_out\": [\"restitution\"]" : "\"left_out\": []"));
        tpAudit_FormatTable(&audit, text, sizeof(text));
        assert_int_equal(strstr(text, "restitution: this stepper does not support it") != NULL,
                         i == 0);
        tpDestroyWorld(world);
    }
}

// A row of the table: its label and, behind it, its value.
static void checkRow(const char* table, const char* label, const char* value) {
    char row[256];
    snprintf(row, sizeof(row), "  %-22s %s\n", label, value);
    if (strstr(table, row) == NULL) {
        fail_msg("%s is not in\n%s", row, table);
    }
}

// Every figure of the audit is in the row of its name: all of them differ here.
static void testTable(void** state) {
    (void)state;
    tpAudit audit;
    startAudit(&audit);
    audit.stepCount = 4;
    audit.startTime = 1.0;
    audit.endTime = 3.5;
    audit.wallTime = 5.0;
    audit.contactTotal = 22;
    audit.contactMax = 9;
    audit.penetrationMax = 0.0625;
    audit.residualMax = 0.5;
    audit.firstAboveTolerance = 3;
    audit.gapShiftMax = 0.03125;
    audit.roundingMax = 0.015625;
    audit.dissipationMax = 0.25;
    audit.jointDriftMax = 0.125;
    audit.energyStart = 11.0;
    audit.energyEnd = 12.0;
    audit.energyIncreaseMax = 13.0;
    audit.externalWork = 14.0;
    audit.frictionLoss = 15.0;
    audit.impactLoss = 16.0;
    audit.numericalLoss = 17.0;
    audit.solveCount = 18;
    audit.iterationCount = 19;
    audit.failureCount = 20;
    audit.work = 1.0;
    audit.errorEstimate = 21.0;
    audit.errorAsked = 22.0;
    audit.undoneCount = 23;
    audit.notes[0] = (tpNoteCount){ .text = "first note", .count = 24 };
    audit.notes[1] = (tpNoteCount){ .text = "second note", .count = 1 };
    audit.noteCount = 2;
    for (int i = 0; i < tpFigureCount(); ++i) {
        audit.figures[i] = 100 + i;
    }
    static char table[16384];
    assert_true(tpAudit_FormatTable(&audit, table, sizeof(table)) < sizeof(table));
    checkRow(table, "steps", "4");
    checkRow(table, "simulated time", "2.5 s");
    checkRow(table, "wall time", "5 s  (0.8 steps/s, 0.5 x real time)");
    checkRow(table, "contacts", "5.5 on average, 9 at most");
    checkRow(table, "deepest penetration", "0.0625 m");
    checkRow(table, "largest residual", "0.5  (above 1e-06 first in step 3)");
    checkRow(table, "adjusted gaps", "by at most 0.0312 m, since contacts contradicted each other");
    checkRow(table, "solved to rounding", "no residual below 0.0156 is possible");
    checkRow(table, "maximal dissipation", "violated by at most 0.25, relative");
    checkRow(table, "joint drift", "at most 0.125 m or rad");
    checkRow(table, "energy", "11 J at the start, 12 J at the end");
    checkRow(table, "energy increase", "at most 13 J in a step");
    checkRow(table, "work and losses",
             "14 J external work; 15 J lost in friction, 16 J in impacts (17 J numerical)");
    checkRow(table, "solves", "18, 19 iterations, 20 failed");
    checkRow(table, "error estimate", "21 m at the end, 22 m requested");
    checkRow(table, "certified", "all steps");
    checkRow(table, "notes", "first note (24 steps)");
    checkRow(table, "", "second note (1 step)");
    checkRow(table, "steps undone", "23");
    for (int i = 0; i < tpFigureCount(); ++i) {
        const tpFigureInfo* figure = tpFigure(i);
        char label[64], value[256];
        snprintf(label, sizeof(label), "%s", figure->name);
        for (char* c = strchr(label, '_'); c != NULL; c = strchr(c, '_')) {
            *c = ' ';
        }
        snprintf(value, sizeof(value), "%d%s: %s", 100 + i, figure->isLevel ? " at most" : "",
                 figure->summary);
        value[159] = '\0';
        checkRow(table, label, value);
    }
    // Nothing is said of what there is not.
    tpAudit none;
    startAudit(&none);
    tpAudit_FormatTable(&none, table, sizeof(table));
    checkRow(table, "largest residual", "0");
    static const char* const others[] = {
        "adjusted gaps",  "solved to", "joint drift", "notes",
        "error estimate", "undone",    "wall time",   "fallbacks"
    };
    for (int i = 0; i < 8; ++i) {
        assert_null(strstr(table, others[i]));
    }
}

// Steps beyond a limit are counted, and each limit by its name; those that hold are not named.
static void testVerdict(void** state) {
    (void)state;
    static const char* const names[tp_lawCount] = { [tp_contactLaw] = "the contact law",
                                                    [tp_energyLaw] = "energy",
                                                    [tp_jointLaw] = "joints",
                                                    [tp_overlapLaw] = "overlap" };
    for (unsigned laws = 1; laws < 1u << tp_lawCount; ++laws) {
        tpAudit audit;
        startAudit(&audit);
        for (int k = 1; k <= 3; ++k) {
            tpStepReport report = makeReport(k);
            report.violations = k > 1 ? laws : 0u;
            tpAudit_AddStep(&audit, &report);
        }
        char table[8192], json[8192];
        tpAudit_FormatTable(&audit, table, sizeof(table));
        tpAudit_FormatJson(&audit, json, sizeof(json));
        checkRow(table, "not certified", "2 steps, first in step 2");
        checkValue(json, "uncertified_steps", "2");
        checkValue(json, "first_uncertified_step", "2");
        for (int law = 0; law < tp_lawCount; ++law) {
            char value[64];
            snprintf(value, sizeof(value), "2 beyond the limit of %s\n", names[law]);
            assert_true((strstr(table, value) != NULL) == ((laws >> law & 1u) != 0));
        }
    }
}

// One step is a step.
static void testWords(void** state) {
    (void)state;
    for (int count = 1; count <= 2; ++count) {
        tpAudit audit;
        startAudit(&audit);
        for (int k = 0; k < count; ++k) {
            tpStepReport report = makeReport(k);
            report.violations = 1u << tp_energyLaw;
            report.fallback = "way";
            tpAudit_AddStep(&audit, &report);
        }
        char text[4096];
        tpAudit_FormatTable(&audit, text, sizeof(text));
        assert_non_null(strstr(text, count == 1 ? " 1 step, first in" : " 2 steps, first in"));
        assert_non_null(strstr(text, count == 1 ? "way in 1 step\n" : "way in 2 steps\n"));
    }
}

static void testManyFallbacks(void** state) {
    (void)state;
    tpAudit audit;
    startAudit(&audit);
    char names[20][8];
    for (int k = 0; k < 20; ++k) {
        snprintf(names[k], sizeof(names[k]), "way%d", k);
        tpStepReport report = makeReport(k);
        report.fallback = names[k];
        tpAudit_AddStep(&audit, &report);
    }
    assert_int_equal(audit.fallbackCount, tp_auditFallbackCapacity);
    assert_int_equal(audit.otherFallbackCount, 20 - tp_auditFallbackCapacity);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSums),    cmocka_unit_test(everyNumberIsWorkedOut),
        cmocka_unit_test(testJson),    cmocka_unit_test(testEmpty),
        cmocka_unit_test(testLeftOut), cmocka_unit_test(testManyFallbacks),
        cmocka_unit_test(testWords),   cmocka_unit_test(testTable),
        cmocka_unit_test(testVerdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
