// For how long two bodies that fly cannot meet.
//
// The nearest points of two convex shapes have a slab between them that none of the shapes enters.
// Its width along the normal n is the gap g. Both bodies follow parabolas and turn freely, so
//
//     g(t) >= g + n . (vA - vB) t + 1/2 n . (aA - aB) t^2 - (wA rA + wB rB) t
//
// with w a bound on the angular speed and r the reach of a body, 0 for balls. Unlike a bound by
// speeds alone it knows that bodies which leave each other do not meet.

#ifndef TIPPE_SRC_STEPPERS_AUTO_APART_H
#define TIPPE_SRC_STEPPERS_AUTO_APART_H

#include "dynamics/contacts.h"

// Whether a body is one sphere about its centre of mass: its surface stays where it is as it turns.
bool tpBody_IsRound(const tpSystem* system, const tpBody* body);

// Whether it has equal moments too: nobody sees it turn.
bool tpBody_IsBall(const tpSystem* system, const tpBody* body);

// Whether a body stands still, or moves evenly whatever happens.
bool tpBody_IsSteady(const tpBody* body);

// The same of one that does so for now: it may sleep.
bool tpBody_IsSteadyNow(const tpSystem* system, int body);

// Whether a body does so from a time on for so many seconds, at the velocity that it has: it may go
// from keyframe to keyframe.
bool tpBody_IsSteadyFor(const tpBody* body, double time, double seconds);

// How fast points of a shape can move by the turning of its body if that flies or is steady, m/s.
// INFINITY for planes that turn: they have no end.
double tpSystem_TurningSpeed(const tpSystem* system, int body, int shape);

// The time for which the two shapes of a contact cannot come to touch if nothing but gravity acts
// on their bodies, or they are steady, s. Shapes that touch and leave each other do so until they
// come back. 0 if nothing is known: shapes that are not convex, or overlap.
double tpContact_TimeApart(const tpSystem* system, const tpContact* contact);

#endif
