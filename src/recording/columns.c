#include "recording/columns.h"

#define FRAME(path, kind, field, unit, about)                                                      \
    { path, kind, tp_frameRows, 1, offsetof(tpFrameRow, field), unit, about, false }
#define REPORT(name, kind, field, unit, about)                                                     \
    FRAME("/reports/" name, kind, report.field, unit, about)
#define LATER(name, kind, field, unit, about)                                                      \
    {                                                                                              \
        "/reports/" name, kind, tp_frameRows, 1, offsetof(tpFrameRow, report.field), unit, about,  \
            true                                                                                   \
    }
#define LATER_COUNT(name, field, about) LATER(name, tp_intColumn, field, "", about)
#define CONTACT(name, kind, width, field, unit, about)                                             \
    {                                                                                              \
        "/contacts/" name, kind, tp_contactRows, width, offsetof(tpRecordedContact, field), unit,  \
            about, false                                                                           \
    }

#define PAIR(name, kind, width, field, unit, about)                                                \
    {                                                                                              \
        "/pairs/" name, kind, tp_pairRows, width, offsetof(tpRecordedPair, field), unit, about,    \
            false                                                                                  \
    }

const tpColumn tpColumns[tp_columnCount] = {
    [tp_statesColumn] = { "/states", tp_doubleColumn, tp_frameRows, tp_stateWidth, 0,
                          "m, 1, m/s, rad/s",
                          "frame x moving body x (x y z qw qx qy qz vx vy vz wx wy wz)", false },
    [tp_reactionsColumn] = { "/joints/reactions", tp_doubleColumn, tp_frameRows, 6, 0, "N, N m",
                             "frame x joint x (fx fy fz tx ty tz) on body B, mean over the step",
                             false },
    [tp_coordinatesColumn] = { "/joints/coordinates", tp_doubleColumn, tp_frameRows,
                               tp_coordinateWidth, 0, "rad or m, per s; N m or N",
                               "frame x coordinate x (q qd effort target target_speed)", true },
    [tp_sensorsColumn] = { "/sensors/values", tp_doubleColumn, tp_frameRows, 1, 0, "SI",
                           "frame x value; /sensors/column names the values", true },
    [tp_carrierMethodColumn] = { "/carriers/method", tp_intColumn, tp_frameRows, 1, 0, "",
                                 "frame x moving body: place in /labels, or -1 for the stepper",
                                 true },
    [tp_carrierStepColumn] = { "/carriers/step", tp_doubleColumn, tp_frameRows, 1, 0, "s",
                               "frame x moving body: step of that method, 0 if not known", true },
    [tp_carrierErrorColumn] = { "/carriers/error", tp_doubleColumn, tp_frameRows, 1, 0, "m",
                                "frame x moving body: estimated error of its position", true },
    [tp_offsetColumn] = FRAME("/contacts/offset", tp_int64Column, contactEnd, "",
                              "frame k has the contacts offset[k] to offset[k + 1] - 1"),
    [tp_pairOffsetColumn] = FRAME("/pairs/offset", tp_int64Column, pairEnd, "",
                                  "frame k has the pairs offset[k] to offset[k + 1] - 1"),
    [tp_timeColumn] = FRAME("/time", tp_doubleColumn, report.time, "s", "of each frame"),
    [tp_hashColumn] = FRAME("/state_hash", tp_uint64Column, hash, "",
                            "of positions and velocities; equal states have equal hashes"),
    FRAME("/step", tp_int64Column, step, "", "steps done at each frame"),

    REPORT("contact_count", tp_intColumn, contactCount, "", "contacts of the last step"),
    REPORT("solve_count", tp_intColumn, solveCount, "", "problems solved"),
    REPORT("iteration_count", tp_intColumn, iterationCount, "", "iterations of all solves"),
    REPORT("failure_count", tp_intColumn, failureCount, "", "solves that missed their tolerance"),
    LATER_COUNT("budget_count", figures[tp_budgetEndFigure],
                "solves in real time that ended on their budget above it"),
    REPORT("substep_count", tp_intColumn, substepCount, "", "steps inside the steps"),
    LATER_COUNT("check_count", figures[tp_checkFigure], "questions how far two shapes are apart"),
    LATER_COUNT("collision_count", figures[tp_collisionFigure], "collisions of two bodies"),
    LATER_COUNT("microcollision_count", figures[tp_microcollisionFigure],
                "those that stand for lasting contact"),
    LATER_COUNT("heap_operation_count", figures[tp_heapOperationFigure],
                "changes of the queue of events"),
    LATER_COUNT("handed_over_count", figures[tp_handedOverFigure],
                "bodies that a time stepper carries at the end"),
    LATER_COUNT("switch_count", figures[tp_switchFigure],
                "groups that another method carries from now on"),
    LATER_COUNT("rejected_count", figures[tp_rejectedFigure],
                "steps taken back because their error was too large"),
    REPORT("residual", tp_doubleColumn, residual, "1", "of the contact law, largest"),
    REPORT("cone_violation", tp_doubleColumn, coneViolation, "1", "of the friction cone, largest"),
    REPORT("dissipation_violation", tp_doubleColumn, dissipationViolation, "1",
           "of maximal dissipation, largest"),
    REPORT("penetration", tp_doubleColumn, penetration, "m", "deepest"),
    REPORT("joint_drift", tp_doubleColumn, jointDrift, "m or rad", "largest"),
    REPORT("kinetic_before", tp_doubleColumn, kineticBefore, "J", "at the frame before"),
    REPORT("kinetic_after", tp_doubleColumn, kineticAfter, "J", "at this frame"),
    REPORT("potential_before", tp_doubleColumn, potentialBefore, "J", "at the frame before"),
    REPORT("potential_after", tp_doubleColumn, potentialAfter, "J", "at this frame"),
    REPORT("external_work", tp_doubleColumn, externalWork, "J", "since the frame before"),
    REPORT("friction_loss", tp_doubleColumn, frictionLoss, "J", "since the frame before"),
    REPORT("impact_loss", tp_doubleColumn, impactLoss, "J", "since the frame before"),
    REPORT("converged", tp_boolColumn, converged, "", "1: every solve reached its tolerance"),
    REPORT("undone", tp_boolColumn, undone, "", "1: a step was undone"),
    FRAME("/reports/fallback", tp_intColumn, fallback, "", "place in /labels, or -1 for none"),
    FRAME("/reports/note", tp_intColumn, note, "", "place in /labels, or -1 for none"),
    { "/reports/more_notes", tp_intColumn, tp_frameRows, tp_noteCapacity - 1,
      offsetof(tpFrameRow, moreNotes), "", "places in /labels of further notes, or -1", true },
    LATER_COUNT("contact_query_count", contactQueryCount,
                "how often contacts of all bodies were asked for"),
    LATER("energy_increase", tp_doubleColumn, energyIncrease, "J", "beyond the work done"),
    LATER("energy_excess", tp_doubleColumn, energyExcess, "J",
          "energy less the work done, above its lowest value so far"),
    LATER("numerical_loss", tp_doubleColumn, numericalLoss, "J",
          "part of impact_loss: what the step itself took"),
    LATER("error_estimate", tp_doubleColumn, errorEstimate, "m",
          "of positions since the start, by steppers that estimate it"),
    LATER("rigid_residual", tp_doubleColumn, rigidResidual, "1",
          "of steps with contacts that give: under the law of rigid contact"),
    LATER("gap_shift", tp_doubleColumn, gapShift, "m",
          "by which gaps were changed so that contacts that hold each other agree"),
    LATER("rounding", tp_doubleColumn, rounding, "1",
          "residual that the data of a solve were proved not to fall below"),
    LATER("error_asked", tp_doubleColumn, errorAsked, "m",
          "of positions: what the accuracy that was asked for comes to"),
    LATER("work", tp_doubleColumn, work, "ns",
          "counted work of steppers that choose by it, on the machine that weighed it"),
    LATER_COUNT("violations", violations,
                "laws beyond their limit: 1 contact, 2 energy, 4 joints, 8 overlap"),
    LATER("residual_limit", tp_doubleColumn, limits.residual, "1", "of the certificate"),
    LATER("energy_limit", tp_doubleColumn, limits.energy, "J", "of the certificate"),
    LATER("joint_drift_limit", tp_doubleColumn, limits.jointDrift, "m or rad",
          "of the certificate"),
    LATER("penetration_limit", tp_doubleColumn, limits.penetration, "m", "of the certificate"),

    CONTACT("body_a", tp_intColumn, 1, bodyA, "", "place in /bodies, or -1"),
    CONTACT("body_b", tp_intColumn, 1, bodyB, "", "place in /bodies, or -1"),
    CONTACT("feature", tp_uint64Column, 1, feature, "", "the same while the same features touch"),
    CONTACT("point", tp_doubleColumn, 3, point, "m", "world axes"),
    CONTACT("normal", tp_doubleColumn, 3, normal, "1", "from body B to body A"),
    CONTACT("gap", tp_doubleColumn, 1, gap, "m", "at the end of the step"),
    CONTACT("normal_impulse", tp_doubleColumn, 1, normalImpulse, "N s", "over the step, on body A"),
    CONTACT("friction_impulse", tp_doubleColumn, 3, frictionImpulse, "N s",
            "over the step, on body A, world axes"),
    CONTACT("torsional_impulse", tp_doubleColumn, 1, torsionalImpulse, "N m s",
            "over the step, on body A, about the normal"),
    CONTACT("sliding_speed", tp_doubleColumn, 1, slidingSpeed, "m/s", ""),
    CONTACT("state", tp_enumColumn, 1, state, "", "0 separated, 1 sliding, 2 sticking"),

    PAIR("body_a", tp_intColumn, 1, bodyA, "", "place in /bodies, or -1"),
    PAIR("body_b", tp_intColumn, 1, bodyB, "", "place in /bodies, or -1"),
    PAIR("impulse", tp_doubleColumn, 3, impulse, "N s",
         "since the frame before, on body A, world axes"),
    PAIR("normal_impulse", tp_doubleColumn, 1, normalImpulse, "N s",
         "since the frame before, sum of the normal parts"),
    PAIR("collision_count", tp_intColumn, 1, collisionCount, "", "since the frame before"),
    PAIR("microcollision_count", tp_intColumn, 1, microcollisionCount, "",
         "since the frame before: those that stand for lasting contact"),
    PAIR("energy_lost", tp_doubleColumn, 1, energyLost, "J",
         "since the frame before, in collisions of both kinds"),
};

size_t tpColumnKind_Size(tpColumnKind kind) {
    static const size_t sizes[tp_columnKindCount] = {
        [tp_doubleColumn] = sizeof(double), [tp_intColumn] = sizeof(int),
        [tp_int64Column] = sizeof(int64_t), [tp_uint64Column] = sizeof(uint64_t),
        [tp_boolColumn] = sizeof(bool),     [tp_enumColumn] = sizeof(int),
    };
    return sizes[kind];
}

int tpColumn_GetRank(int column) {
    int width = tpColumns[column].width;
    return column < tp_blockCount ? (width > 1 ? 3 : 2) : (width > 1 ? 2 : 1);
}

int tpRecordedColumnCount(void) {
    return tp_columnCount;
}

tpRecordedColumn tpColumn_Describe(int column) {
    static const char types[tp_columnKindCount] = {
        [tp_doubleColumn] = 'd', [tp_intColumn] = 'i',  [tp_int64Column] = 'q',
        [tp_uint64Column] = 'Q', [tp_boolColumn] = 'B', [tp_enumColumn] = 'i',
    };
    tpRecordedColumn made = { 0 };
    if (column >= 0 && column < tp_columnCount) {
        made.path = tpColumns[column].path;
        made.unit = tpColumns[column].unit;
        made.about = tpColumns[column].about;
        made.type = types[tpColumns[column].kind];
    }
    return made;
}
