// What bounds on times of impact are made of.

#ifndef TIPPE_SRC_COLLISION_TIME_OF_IMPACT_H
#define TIPPE_SRC_COLLISION_TIME_OF_IMPACT_H

// The first root of d + s t + 1/2 c t^2 = 0 with d > 0; INFINITY if there is none.
double tpFirstRoot(double d, double s, double c);

#endif
