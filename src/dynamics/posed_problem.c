#include "dynamics/posed_problem.h"

#include <string.h>

#include "dynamics/reduced.h"

double* tpPosedProblem_Begin(tpSystem* system, const tpRows* rows) {
    if (system->problemHook == NULL || rows->rowCount == 0) {
        return NULL;
    }
    double* start = TP_SCRATCH(&system->arena, double, rows->rowCount);
    if (start != NULL) {
        memcpy(start, rows->impulse, sizeof(double) * (size_t)rows->rowCount);
    }
    return start;
}

void tpPosedProblem_End(tpSystem* system, tpRows* rows, const double* start, double residual,
                        bool isSolved) {
    if (start == NULL) {
        return;
    }
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(rows, &bodies);
    tpMatrix matrix;
    if (rows->reduced != NULL && !tpReduced_Pose(rows->reduced, rows, &problem, &matrix)) {
        return;
    }
    tpPosedProblem posed = { .problem = &problem,
                             .start = start,
                             .impulse = rows->impulse,
                             .residual = residual,
                             .isSolved = isSolved,
                             .time = system->time,
                             .step = (long long)system->stepCount,
                             .index = system->problemCount++ };
    system->problemHook(&posed, system->problemContext);
}
