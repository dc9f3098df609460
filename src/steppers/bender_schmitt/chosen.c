// Contacts on which sweeps stall, solved by the friction portfolio.
//
// Friction that hangs on other contacts' loads, or loads that have to grow a hundredfold between
// two bodies, keep sweeps from a certificate that is near. A few Newton steps of proximal points
// from there, over the contacts that matter, mostly meet it.
//
// Tried without gain: the neighbourhood of the worst contacts alone, with all others held. It is
// solved at once, and the contacts around it miss a hundred times as much then.

#include "steppers/bender_schmitt/crowd.h"

// It may cost so many multiply-adds, and have so many contacts.
static const double mostWork = 6e9;
enum { mostContacts = 10000 };

bool tpCrowd_SolveChosen(tpTouch* touch, tpSolverMemory* memory, const tpLightSweeper* light,
                         const tpVelocity* start, double goal, tpStepReport* report) {
    tpSystem* system = touch->system;
    int count = light->chosenCount <= mostContacts ? light->chosenCount : 0;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpRows rows;
    if (!tpRows_Create(&rows, system, count, TP_FRICTION_MAX_ROWS * count)) {
        return false;
    }
    tpRows_SetMasses(&rows, system);
    for (int i = 0; count > 0 && i < touch->contactCount; ++i) {
        if (light->isChosen[i]) {
            tpTouch_AddContactRows(touch, &rows, i, start);
        }
    }
    if (count > 0) {
        tpFrictionBodies bodies;
        tpFrictionProblem problem = tpRows_FrictionProblem(&rows, &bodies);
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-14;
        options.velocityTolerance = goal;
        options.workLimit = mostWork;
        options.isUntimed = true;
        options.stop = system->stop;
        tpSolveReport solve;
        tpFriction_Solve(&problem, &options, memory, rows.impulse, rows.velocity, &solve);
        report->iterationCount += solve.iterations;
        for (int b = 0; b < rows.blockCount; ++b) {
            tpTouch_TakeContactRows(touch, &rows, b);
        }
    }
    tpArena_Release(&system->arena, mark);
    return true;
}
