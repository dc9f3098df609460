// Contacts that give (dynamics/contact_spring.h) in the drift.
//
// They have a law between impulse and way instead of a gap to meet. It is bent where a contact
// opens or closes within the step: solves with its tangent follow each other until they agree with
// it.

#include <string.h>

#include "dynamics/contact_spring.h"
#include "dynamics/report.h"
#include "steppers/drift_problem.h"

enum { maxTangents = 40 };

// Springs of contacts are met to this part of the velocities, and to this speed, m/s.
static const double springPart = 1e-10, springSpeed = 1e-13;

// The contact's spring in this step, or one without stiffness.
static tpPointSpring springAt(const tpDrift* drift, int contact) {
    tpRows* rows = &drift->step->rows;
    const tpContactLaw* law = &drift->step->laws[contact];
    int row = rows->firstRows[contact];
    double response = tpRows_Response(rows, contact, row) - rows->compliance[row];
    return tpMakePointSpring(law, drift->gap[contact], drift->step->h, response);
}

// Writes the tangents of springs at the velocities of the last solve, or before the first at those
// that each would come to alone.
static void writeTangents(tpDrift* drift, bool isFirst) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double response = tpRows_Response(rows, i, row) - rows->compliance[row];
            rows->q[row] -= rows->bias[row];
            double u = isFirst ? tpPointSpring_Settle(&spring, response, rows->q[row])
                               : tpRows_BareVelocity(rows, row);
            tpPointSpring_Linearise(&spring, u, rows, row);
            rows->q[row] += rows->bias[row];
        }
    }
}

// How far the tangents are from the springs where the solve has led, m/s.
static double missOfSprings(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double miss = 0.0;
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double response = tpRows_Response(rows, i, row) - rows->compliance[row], slope;
            double u = tpRows_BareVelocity(rows, row);
            double wanted = tpPointSpring_FirstImpulse(&spring, u, &slope);
            double tangent = fmax(0.0, -(u + rows->bias[row]) / rows->compliance[row]);
            miss = fmax(miss, response * fabs(wanted - tangent));
        }
    }
    return miss;
}

// Solves with the tangents of springs until they are met.
bool tpDrift_SolveSprings(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    const tpStepReport verdict = *drift->report;
    double miss = 0.0, size = 0.0;
    for (int k = 0; k < maxTangents; ++k) {
        writeTangents(drift, k == 0);
        tpStepReport_ForgetVerdict(drift->report, &verdict);
        if (!tpRows_Solve(&step->rows, step->system, drift->memory->solver, &drift->settings->solve,
                          drift->report)) {
            return false;
        }
        size = 0.0;
        for (int row = 0; row < rows->rowCount; ++row) {
            size = fmax(size, fabs(rows->scale[row] * rows->q[row]));
        }
        miss = missOfSprings(drift);
        if (miss <= springPart * size + springSpeed * step->system->units.speed) {
            break;
        }
    }
    // The certificate is that of the springs themselves.
    drift->report->residual =
        fmax(drift->report->residual, miss / fmax(size, 1e-6 * step->system->units.speed));
    return true;
}

// What is left of the springs' impulses for the second half, and what dampers take: what bodies
// lose in both halves less what the springs store.
bool tpDrift_FinishSprings(tpDrift* drift, tpDriftResult* result) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    tpArena* arena = &step->system->arena;
    result->rest = TP_SCRATCH_ZEROED(arena, double, step->contactCount);
    double* solved = TP_SCRATCH(arena, double, rows->rowCount);
    double* early = TP_SCRATCH_ZEROED(arena, double, rows->rowCount);
    tpVelocity* moved = tpArena_GetZeroed(arena, sizeof(tpVelocity) * (size_t)step->bodyCount);
    if (arena->failed) {
        return false;
    }
    // The first impulse less half of the whole: what comes too early to act over the way of the
    // drift alone.
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double whole = tpPointSpring_WholeImpulse(&spring, tpRows_BareVelocity(rows, row));
            result->rest[i] = whole - rows->impulse[row];
            early[row] = rows->impulse[row] - 0.5 * whole;
        }
    }
    memcpy(solved, rows->impulse, sizeof(double) * (size_t)rows->rowCount);
    memcpy(rows->impulse, early, sizeof(double) * (size_t)rows->rowCount);
    tpRows_ApplyImpulses(rows, moved);
    memcpy(rows->impulse, solved, sizeof(double) * (size_t)rows->rowCount);
    for (int i = 0; i < step->contactCount; ++i) {
        if (!(step->laws[i].damping > 0.0)) {
            continue;
        }
        int row = rows->firstRows[i];
        double u = tpRows_BareVelocity(rows, row), whole = rows->impulse[row] + result->rest[i];
        double sooner = tpRows_RowVelocity(rows, row, moved, rows->bodyA[i], rows->bodyB[i]);
        double stored = tpPointSpring_Energy(step->laws[i].stiffness, drift->gap[i] + step->h * u) -
                        tpPointSpring_Energy(step->laws[i].stiffness, drift->gap[i]);
        result->dampingLoss += fmax(0.0, whole * (sooner - u) - stored);
    }
    double rigid = 0.0;
    bool isDone = tpRows_JudgeRigid(rows, step->laws, drift->gap, step->h, arena,
                                    drift->memory->solver, &rigid);
    drift->report->rigidResidual = fmax(drift->report->rigidResidual, rigid);
    return isDone;
}
