// Steps that nobody checks: flights, which are exact, lone impacts, which are located, steps after
// others whose errors were small, and those of groups whose paths nobody can follow.

#ifndef TIPPE_SRC_STEPPERS_AUTO_UNCHECKED_H
#define TIPPE_SRC_STEPPERS_AUTO_UNCHECKED_H

#include "steppers/auto/check.h"

// Whether impacts are located. Otherwise each moment is as wrong as it happens to lie in its step;
// so it is with contacts that give, which are pressed in from then on.
bool tpGroupRun_Locates(const tpGroupRun* run);

// Whether nothing but gravity acts on the group if nothing pushes: steps are exact then.
bool tpGroupRun_FliesFreely(const tpGroupRun* run);

// Whether nothing has pushed in the group so far, flights are exact and impacts located: a step
// with no impact in it, or with one of two bodies alone, need not be checked.
bool tpGroupRun_MayBeExact(const tpGroupRun* run);

// Whether all bodies of the group are balls: all methods have the same law for an impact of two of
// them, or of one with what is fixed.
bool tpGroupRun_AreBalls(const tpGroupRun* run);

// Whether the last check does not speak for the next step.
bool tpGroupRun_NeedsCheck(const tpGroupRun* run);

// Adds what was taken, which is kept.
void tpGroupRun_Accept(tpGroupRun* run, const tpTaken* next);

// The errors of a step that nobody checks, by the rates of the last one that was. Velocities are
// off by no more than what is moving: rates of a short step at an impact say nothing of long ones.
// (Eight coins were said to be off by 34 km.)
void tpGroupRun_GrowErrors(tpGroupRun* run, double h);

// Nobody knows how well a step is that is taken as it is though it should be checked: bodies may be
// off by half of what impacts can make of the way, from these velocities on.
void tpGroupRun_AddUnknown(tpGroupRun* run, const tpVelocity* starts, double h);

// Takes a step that nobody checks. False if other shapes push each other in it than before, and
// that is to be looked at, unless it `isBlind`: then `check` has it as its whole step, and `before`
// the state to go back to.
bool tpGroupRun_GoUnchecked(tpGroupRun* run, double start, double h, bool isBlind, tpCheck* check,
                            tpKept* before);

// Lets the method of events take a step of balls that fly: it needs a tenth of what a method with
// contacts that rest does for one impact. False if the step is not that simple; then nothing has
// moved. (A ball between walls took 1.45 million instructions, 200,000 for each impact.)
bool tpGroupRun_GoByEvents(tpGroupRun* run, double start, double h);

// What a step from `before` has raised the energy by without work, in parts of what the certificate
// allows; 2 at least if an island has gained more than its own energies allow. `report` has the
// energies of its start.
double tpGroupRun_EnergyPart(tpSystem* system, const tpKept* before, tpStepReport* report);

// Judges the energy of a run that was not as accurate as was asked for, since its steps were as
// short as they may be, or halves too dear: `before` is its start, of these energies, J. Gains
// beyond what a certificate allows make it bad.
void tpGroupRun_JudgeEnergy(tpGroupRun* run, const tpKept* before, double kinetic,
                            double potential);

// Takes a step whatever it does: of bodies that fly, of a crowd, or of a group whose checks have
// been given up.
void tpGroupRun_GoBlindly(tpGroupRun* run, double start, double h, bool isCrowd);

#endif
