// Reports of several steps added up, notes, and figures by name.

#include "dynamics/figures.h"
#include "dynamics/report.h"
#include "support/check.h"

static tpStepReport makeReport(void) {
    tpStepReport report = { .converged = true };
    report.kineticBefore = 4.0;
    report.kineticAfter = 3.0;
    report.externalWork = 0.5;
    report.energyIncrease = -1.5;
    report.frictionLoss = 0.25;
    report.residual = 1e-9;
    report.solveCount = 3;
    report.contactQueryCount = 2;
    report.figures[tp_checkFigure] = 5;
    report.figures[tp_handedOverFigure] = 7;
    return report;
}

static void testAppend(void** state) {
    (void)state;
    tpStepReport report = makeReport(), next = makeReport();
    next.kineticBefore = 3.0;
    next.kineticAfter = 2.0;
    next.residual = 1e-12;
    next.violations = 1u << tp_overlapLaw;
    next.converged = false;
    next.fallback = "another way";
    next.figures[tp_handedOverFigure] = 1;
    report.violations = 1u << tp_energyLaw;
    tpStepReport_Append(&report, &next);
    assert_true(report.kineticBefore == 4.0 && report.kineticAfter == 2.0);
    assert_true(report.externalWork == 1.0 && report.frictionLoss == 0.5);
    assert_true(report.energyIncrease == -3.0 && report.residual == 1e-9);
    assert_int_equal(report.violations, (1u << tp_overlapLaw) | (1u << tp_energyLaw));
    assert_int_equal(report.solveCount, 6);
    assert_int_equal(report.contactQueryCount, 4);
    assert_int_equal(report.figures[tp_checkFigure], 10);
    assert_int_equal(report.figures[tp_handedOverFigure], 1); // a level
    assert_false(report.converged);
    assert_string_equal(report.fallback, "another way");
}

// Of a try that is given up the report keeps what it cost.
static void testUndo(void** state) {
    (void)state;
    tpStepReport before = makeReport(), report = before;
    report.solveCount = 8;
    report.iterationCount = 90;
    report.residual = 1.0;
    report.externalWork = 2.0;
    report.failureCount = 1;
    tpStepReport_AddNote(&report, "tried");
    tpStepReport_Undo(&report, &before);
    assert_int_equal(report.solveCount, 8);
    assert_int_equal(report.iterationCount, 90);
    assert_true(report.residual == before.residual);
    assert_true(report.externalWork == before.externalWork);
    assert_int_equal(report.failureCount, 0);
    assert_int_equal(report.noteCount, 0);
}

// Numbers that are not numbers stay, whichever of the two reports has them.
static void testNan(void** state) {
    (void)state;
    tpStepReport report = makeReport(), next = makeReport();
    report.penetration = NAN;
    next.residual = NAN;
    tpStepReport_Append(&report, &next);
    assert_true(isnan(report.penetration) && isnan(report.residual));
}

static void testNotes(void** state) {
    (void)state;
    tpStepReport report = makeReport(), next = makeReport();
    tpStepReport_AddNote(&report, "one");
    tpStepReport_AddNote(&report, "one");
    tpStepReport_AddNote(&report, "two");
    assert_int_equal(report.noteCount, 2);
    tpStepReport_AddNote(&next, "two");
    tpStepReport_AddNote(&next, "three");
    tpStepReport_Append(&report, &next);
    assert_int_equal(report.noteCount, 3);
    assert_string_equal(report.notes[2], "three");
    assert_true(tpStepReport_HasNote(&report, "one"));
    assert_false(tpStepReport_HasNote(&report, "four"));
    tpStepReport_AddNote(&report, "four");
    tpStepReport_AddNote(&report, "five"); // is one too many
    assert_int_equal(report.noteCount, tp_noteCapacity);
}

static void testFigures(void** state) {
    (void)state;
    tpStepReport report = makeReport();
    assert_int_equal(tpStepReport_GetFigure(&report, "checks"), 5);
    assert_int_equal(tpStepReport_GetFigure(&report, "no such figure"), -1);
    assert_null(tpFigure(tpFigureCount()));
    for (int i = 0; i < tpFigureCount(); ++i) {
        bool isUsed = false;
        for (int stepper = 0; stepper < tp_stepperCount; ++stepper) {
            isUsed = isUsed || tpStepperUsesFigure((tpStepperId)stepper, i);
        }
        assert_true(isUsed);
        assert_false(tpStepperUsesFigure(tp_freeFlight, i));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testAppend), cmocka_unit_test(testUndo),    cmocka_unit_test(testNan),
        cmocka_unit_test(testNotes),  cmocka_unit_test(testFigures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
