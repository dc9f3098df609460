// What the impulses of a step did with energy: work from outside, losses to friction and in impacts.

#ifndef TIPPE_SRC_DYNAMICS_ENERGY_ACCOUNT_H
#define TIPPE_SRC_DYNAMICS_ENERGY_ACCOUNT_H

#include "dynamics/rows.h"

// Adds the energies that impulses changed, between velocities before and after them.
void tpRows_AccountEnergy(const tpRows* rows, const tpSystem* system, const tpVelocity* before,
                          const tpVelocity* after, const tpContact* contacts, tpStepReport* report);

// Takes off these energies what is only exchanged with a kick that came before the impulses at one stroke,
// while bodies move, and the impulses with them, all along the step: a share of the kick's velocities
// times the impulses. Nothing is lost then in what holds bodies at rest.
void tpRows_AccountKick(const tpRows* rows, const tpSystem* system, const tpVelocity* start,
                        const tpVelocity* kicked, double share, tpStepReport* report);

#endif
