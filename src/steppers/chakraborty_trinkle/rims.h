// Contacts at the rims of cylinders and cones.
//
// A coin that leans touches a plane in one point, the lowest of its rim, and that point runs along
// the rim by 1 / sin(tilt) radians per radian that the coin turns. The
// collider lists it among the points of the rim that come near, fixed to the coin, as a coin that
// lies flat needs them. Kept through the step, these points make the rim a polygon: the coin falls
// from corner to corner, and each fall is an impact that takes energy. Where only the rim near its
// lowest point can touch in the step, all contacts of the two shapes are therefore joined to one,
// the closest points of the shapes wherever they are (implicit_contact.h). As the gap of the
// closest points is the smallest of all, nothing is left out.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_RIMS_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_RIMS_H

#include "steppers/chakraborty_trinkle/islands.h"

// Contacts where the step starts, those of rims joined unless the step keeps its features. Says
// whether there are such, and whether one runs so far that the step is too long for it. False if
// memory ran out.
bool tpImplicitStep_FindContacts(tpImplicitStep* step);

#endif
