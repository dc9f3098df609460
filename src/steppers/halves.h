// A step in halves of halves, if it breaks a law that shorter steps keep.
//
// A stepper whose rows are linear has no guard of its own against steps that are too long for how
// fast its joints turn: such a step gains energy, or leaves joints that cannot be brought back. It
// is undone and taken in shorter parts by the islands for which it was too long, and whole by all
// others. The next step begins with parts that are one halving longer.

#ifndef TIPPE_SRC_STEPPERS_HALVES_H
#define TIPPE_SRC_STEPPERS_HALVES_H

#include "steppers/memory.h"

// Takes h seconds from where the system is. False if memory ran out.
typedef bool (*tpTakePart)(void* context, double h, tpStepReport* report);

// The step of h seconds, with the contacts, reactions and report of all its parts. False if memory
// ran out.
bool tpHalves_Step(tpSystem* system, tpStepperMemory* memory, double h, tpTakePart take,
                   void* context, tpStepReport* report);

#endif
