// Points of rims that a step does not ask.

#ifndef TIPPE_SRC_STEPPERS_RIM_POINTS_H
#define TIPPE_SRC_STEPPERS_RIM_POINTS_H

#include "dynamics/contacts.h"

// Leaves the lowest point of rims that lean, without the points fixed to them. Returns how many
// contacts stay.
int tpContacts_DropRimPoints(tpContact* contacts, int count);

#endif
