// The energy guard: energy less the work done stays within a band.
//
// No law lets energy less the work done rise, and where nothing collides it does not fall either
// but by friction. A symmetric step swings about a mean instead. A guard that acts on every rise
// takes what the swing would have given back (it is a ratchet); this one keeps book. The excess is
// how far energy less work, friction's loss added again, is above its lowest value since it was
// last told, the deficit how far it is below its highest value since the last collision. A part of
// a step is taken if both stay within the budget, a quarter of what the certificate allows, or if
// what it adds to them is as little as a step may leak.
//
// Shortly after a collision there is no swing that could be at its lower end: energy may then rise
// no higher than it was when the collision had ended.
//
// A step that varies its length with the phase of a swing would be a ratchet again. So once a
// smooth part has been found too long, the steps that follow are taken in parts of the length that
// was right (the level, in halvings of a step), until the swings at that length have been small for
// many steps. And once several smooth steps were refused whole and had no work left for halves,
// most that follow are not tried: a robot of a millimetre at 1/200 s, whose servos are a thousand
// times as fast as the step, stands by the last resort, at a tenth of the work.

#ifndef TIPPE_SRC_DYNAMICS_ENERGY_GUARD_H
#define TIPPE_SRC_DYNAMICS_ENERGY_GUARD_H

#include "dynamics/system.h"

// What lasts from step to step.
typedef struct tpEnergyBook {
    double excess, deficit; // J
    int rattle;             // parts that still count as shortly after a collision
    int level;              // halvings of a step with which it begins
    double step;            // s: of this length
    int quiet;              // steps since the level was last changed
    int refused;            // smooth steps, one after the other, that were not right in any length
    int cut;                // steps since the rest of one was left out for some bodies, downwards
    double swing;           // J: largest sum of excess and deficit since then
} tpEnergyBook;

typedef struct tpEnergyGuard {
    tpEnergyBook* book;
    double budget; // J
    double h;      // of the whole step, s
    int level;     // halvings of it with which it begins
    bool isAtRest; // next to nothing moves at its start
    // Of the part at hand, as it began, J.
    double energy, work, friction, slack;
} tpEnergyGuard;

// The halvings of a step of h seconds after which its parts are as long as have been right: a step
// shorter than the one whose halvings are known needs fewer of them.
int tpEnergyBook_LevelOf(const tpEnergyBook* book, double h);

// What tolerances of solves may add to the energy of a step whatever its guard, J.
double tpEnergyGuard_RiseOfSolves(const tpSystem* system, const tpStepReport* report);

// For the whole step of h seconds; the report has the energies of its start.
void tpEnergyGuard_Begin(tpEnergyGuard* guard, tpEnergyBook* book, const tpSystem* system, double h,
                         const tpStepReport* report);

// A part begins.
void tpEnergyGuard_BeginPart(tpEnergyGuard* guard, const tpSystem* system,
                             const tpStepReport* report);

// By how much energy has risen in the part beyond what is accounted for, J. In collisions that is
// the work done; else friction's loss too, which would hide a gain. The slack of drives' work
// (tpStepReport) does not count.
double tpEnergyGuard_Rise(const tpEnergyGuard* guard, const tpSystem* system,
                          const tpStepReport* report, bool hasCollided);

// Whether the part may be taken. It is this part of the whole step.
bool tpEnergyGuard_Allows(const tpEnergyGuard* guard, double rise, double part, bool isTouched,
                          bool hasCollided);

// It is taken.
void tpEnergyGuard_Take(tpEnergyGuard* guard, double rise, bool hasCollided);

// A smooth part is too long: the band of shorter parts is another one.
void tpEnergyGuard_StartBand(tpEnergyGuard* guard);

// A smooth step has been taken in so many halvings.
void tpEnergyGuard_RaiseLevel(tpEnergyGuard* guard, int level);

// Whether a step is not worth trying: several before it were refused in any length that their work
// allowed. One in sixteen is tried if something moves, ever fewer at rest.
bool tpEnergyGuard_IsHopeless(const tpEnergyGuard* guard);

// A smooth step was refused in any length, or another step was not.
void tpEnergyGuard_NoteRefused(tpEnergyGuard* guard, bool isRefused);

// The step is done.
void tpEnergyGuard_End(tpEnergyGuard* guard);

#endif
