// What the impulses of a step did with energy: work from outside, losses to friction and in
// impacts.

#ifndef TIPPE_SRC_DYNAMICS_ENERGY_ACCOUNT_H
#define TIPPE_SRC_DYNAMICS_ENERGY_ACCOUNT_H

#include "dynamics/rows.h"

// Velocities of all bodies around the impulses of rows.
typedef struct tpRowVelocities {
    const tpVelocity *before, *after;
    const tpVelocity* drift; // with which bodies go their way in the step; NULL if they do not move
    const tpVelocity* stroke; // what acts at one stroke does its work by these; NULL: by the mean
                              // of
                              // before and after
} tpRowVelocities;

// A kick that came before the impulses at one stroke, while bodies move, and the impulses with
// them, all along the step: a share of its velocities times the impulses is only exchanged.
typedef struct tpKick {
    const tpVelocity *start, *kicked;
    double share;
} tpKick;

// By how much the work of drives, dampers and dry friction in joints may be off so far in the step,
// J. It stands in the report's reserve while the step lasts, for the energy guard.
static inline double tpStepReport_GetDriveSlack(const tpStepReport* report) {
    return report->reserved[0];
}
static inline void tpStepReport_SetDriveSlack(tpStepReport* report, double slack) {
    report->reserved[0] = slack;
}

// Adds work of drives, dampers or dry friction in joints, and its slack.
void tpAddDriveWork(double work, tpStepReport* report);

// Adds the energies that impulses changed. Contacts and what joints hold act at one stroke, by the
// mean of the velocities before and after; motors, springs and dry friction of joints act all along
// the way.
void tpRows_AccountEnergy(const tpRows* rows, const tpRowVelocities* velocities,
                          tpStepReport* report);

// The velocities of one stroke less what is only exchanged with kicks: with them nothing is lost in
// what holds bodies at rest. NULL if memory ran out.
const tpVelocity* tpStrokeVelocities(tpSystem* system, const tpRowVelocities* velocities,
                                     const tpKick* kicks, int kickCount);

// Takes off the energies that were added already what is only exchanged with a kick.
void tpRows_AccountKick(const tpRows* rows, const tpVelocity* start, const tpVelocity* kicked,
                        double share, tpStepReport* report);

#endif
