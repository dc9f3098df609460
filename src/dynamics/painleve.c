#include "dynamics/painleve.h"

#include <math.h>

#include "dynamics/report.h"

// A slip below this, in units of speed, has no direction.
static const double leastSlip = 1e-6;

// A contact that approaches faster than this part of its slip collides: that is no paradox.
static const double collision = 0.1;

// What the normal row feels of its load with the friction that this load has against the slip.
static double pressedResponse(const tpRows* rows, int block, const double* slip, double speed) {
    double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    tpRows_Coupling(rows, block, block, W);
    double response = W[0][0];
    for (int k = 1; k < rows->dimensions[block]; ++k) {
        double scale = rows->scale[rows->firstRows[block] + k];
        response -= rows->mu[block] * W[0][k] * scale * scale * slip[k] / speed;
    }
    return response;
}

void tpRows_NamePainleve(const tpRows* rows, tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        if (rows->infos[b].source != tp_contactSource || !(rows->impulse[first] > 0.0)) {
            continue;
        }
        const double* slip = rows->q + first;
        double square = 0.0;
        for (int k = 1; k < rows->dimensions[b]; ++k) {
            double speed = rows->scale[first + k] * slip[k];
            square += speed * speed;
        }
        double least = fmax(leastSlip * rows->speedUnit, -slip[0] / collision);
        if (square > least * least && pressedResponse(rows, b, slip, sqrt(square)) < 0.0) {
            tpStepReport_AddNote(report, "Painleve's paradox: friction presses a sliding contact "
                                         "on, which stops it like an impact");
            return;
        }
    }
}
