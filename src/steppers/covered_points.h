// Corners over a face that a step cannot reach, because another corner touches first.

#ifndef TIPPE_SRC_STEPPERS_COVERED_POINTS_H
#define TIPPE_SRC_STEPPERS_COVERED_POINTS_H

#include "dynamics/contacts.h"

// Leaves out corners that cannot touch while no body moves farther than twice its margin and the
// other corners stay above the face. Returns how many contacts stay, in their order.
int tpContacts_DropCovered(tpSystem* system, const double* margins, tpContact* contacts, int count);

#endif
