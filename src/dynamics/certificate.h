// The certificate of a step: how far its end is from the laws of mechanics, and how far it may be.
//
//     contact law   residual of the natural map               at most the tolerance of the solves,
//                                                             or what data at rounding allow
//     energy        energy less the work done never rises     by 1e-3 of the energies at play
//     joints        errors of position                        1e-6 of the length of the scene
//     overlap       deepest penetration                       1e-3 of the smallest body that moves
//
// Energy has two figures: the rise in the step, and the excess, how far energy less the work done
// is above its lowest value so far. A symmetric step swings about a mean and has a bounded excess;
// a slow gain adds up in it. Once an excess beyond the limit has been told, the next one counts
// from there. And what one island gains in a step is held against the energies of that island: a
// flywheel elsewhere is no reason to let a spinning top gain half of what it has.

#ifndef TIPPE_SRC_DYNAMICS_CERTIFICATE_H
#define TIPPE_SRC_DYNAMICS_CERTIFICATE_H

#include "dynamics/kept_motion.h"

// Of the energies at play: what a certified step may gain.
static const double tp_certifiedEnergyPart = 1e-3;

// Limits for the step that begins, from the scene's scales. `residual` is the largest one that a
// solve may leave. False if memory ran out.
bool tpCertificate_Begin(tpSystem* system, double residual, tpStepReport* report);

// The limit of the energy for a step that has got as far as its report says, J.
double tpCertificate_EnergyLimit(const tpSystem* system, const tpStepReport* report);

// Takes what a step that began at `start`, and whose work has ended, has gained beyond the work
// done from the islands that have gained it. A step that was beyond its limit stays so.
void tpCertificate_TakeEndGains(tpSystem* system, const tpKeptMotion* start, tpStepReport* report);

// The same for any step that has gained more than a tenth of the energies at play: no motion that
// anybody wants to see. Bodies that were placed inside each other and are pushed out at once are
// the usual case. Islands on which forces or drives do work are left as they are.
// True if it has not, so that the energies after the step are those in the report.
bool tpCertificate_TakeGrossGains(tpSystem* system, const tpKeptMotion* start,
                                  tpStepReport* report);

// Whether an island has gained energy beyond its own scale, in the step from this motion to that of
// the system. Requests of users for the step are still known; the report has its energies.
bool tpCertificate_HasIslandGained(tpSystem* system, const tpPose* startPoses,
                                   const tpVelocity* startVelocities, const tpStepReport* report);

// Judges the energy of each island so.
void tpCertificate_JudgeIslands(tpSystem* system, const tpPose* startPoses,
                                const tpVelocity* startVelocities, tpStepReport* report);

// Judges the step that has ended by its report, which has its energies.
void tpCertificate_End(tpSystem* system, tpStepReport* report);

#endif
