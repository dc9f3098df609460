// The way of one body through a step, as a function of what its impulses make of its velocity.
//
// The unknown of a body is its pushed velocity z: momentum after all impulses of the step, as a
// velocity at the orientation of the start (angular momentum is kept in free rotation, so that
// impulses add up there whatever the body does meanwhile). With z0 the velocity at the start, the
// body travels for h seconds freely at
//
//     z_theta = (1 - theta) z0 + theta z,
//
// passes the middle of the method at theta h, and at the end has the momentum of z.
//
// Impulses work against the velocity W of the middle. With L = I0 z_theta the angular momentum on
// the way, D = I0 (z - z0) what impulses add to it, I0 and I1 the inertia at the start and at the
// end,
//
//     W = theta I0^-1 L + (1 - theta) I1^-1 L + (1 - theta)^2 / 2 (I1^-1 - I0^-1) D.
//
// Free rotation keeps L . I^-1 L, so that the kinetic energy of rotation changes by exactly
// D . W - (theta - 1/2) D . I0^-1 D; that of translation by the same with W = z_theta.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_TRAVEL_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_TRAVEL_H

#include "dynamics/system.h"

// Where a body is at one of the two places that matter, and how that follows z.
typedef struct tpWaypoint {
    tpPose pose;
    tpVelocity velocity;  // world axes: what impulses work against in the middle, true at the end
    double shift, change; // d position = shift d z.linear, d velocity.linear = change d z.linear
    tpMat33 turn;         // small rotation in world axes by d z.angular
    tpMat33 spin;         // d velocity.angular by d z.angular
} tpWaypoint;

typedef struct tpTravel {
    tpWaypoint middle; // at theta h
    tpWaypoint end;
    tpVelocity move; // mean velocity of the whole way
} tpTravel;

// For a dynamic body. Derivatives are left out where they are not asked for.
void tpTravel_Compute(const tpSystem* system, int body, tpPose start,
                      const tpVelocity* startVelocity, const tpVelocity* pushed, double theta,
                      double h, bool withDerivatives, tpTravel* out);

// For one that does not move by impulses: it goes where its velocity leads.
void tpTravel_Follow(tpPose start, const tpVelocity* velocity, double theta, double h,
                     tpTravel* out);

#endif
