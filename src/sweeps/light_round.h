// Contacts of spheres with each other and with what does not move, for light sweeps.
//
// Their rule is another one: a step against the velocity of De Saxce and Feng [DeSaxceFeng98] and
// back to the cone,
//
//     r <- P(r - D (u + mu |u_T| e_N)),    D = diag(stepNormal, stepTangent, stepTangent)
//
// with P the nearest point of the cone in the norm of D^-1. Solving each contact exactly, as other
// packs do, is the same where it sticks or opens. Where it slides it takes all of a load at once,
// which its neighbours then change in turn: piles that flow stall at 1.5 times the residual, or
// take twice as many sweeps.
//
// What a light sweep costs is memory. An arm along the normal is one number, a moment of inertia
// that is the same about every axis another, and the second tangent follows from the first: 92
// bytes per contact in place of 204, and half of the arithmetic (light_round_lanes.h).

#ifndef TIPPE_SRC_SWEEPS_LIGHT_ROUND_H
#define TIPPE_SRC_SWEEPS_LIGHT_ROUND_H

#include "sweeps/sweeper.h"

// Sixteen contacts, each of another pair of bodies. Lanes without a contact have a body of their
// own, behind all others, that nothing moves.
typedef struct tpRoundPack {
    int32_t bodyA[tp_lightWidth], bodyB[tp_lightWidth];
    float normal[3][tp_lightWidth], tangent[3][tp_lightWidth];   // the other one: normal x tangent
    float armA[tp_lightWidth], armB[tp_lightWidth];              // along the normal, m
    float massA[tp_lightWidth], massB[tp_lightWidth];            // 1 / m
    float turnA[tp_lightWidth], turnB[tp_lightWidth];            // arm / I
    float stepNormal[tp_lightWidth], stepTangent[tp_lightWidth]; // per velocity, kg
    float ratio[tp_lightWidth];                                  // of them
    float muStatic[tp_lightWidth], muDynamic[tp_lightWidth];
    // When it was loaded: u + bias, m/s, and |r_T|^2 - (mu r_N)^2, (N s)^2.
    float speed[3][tp_lightWidth], beyond[tp_lightWidth];
} tpRoundPack;

// Whether a contact has the same response as one between spheres.
bool tpContactPack_IsRound(const tpContactPack* pack, int lane, const tpSweepBody* bodies);

// Takes a round contact over to a lane; `damping` is the part of each step that is made. Speeds are
// left alone.
void tpRoundPack_Fill(tpRoundPack* pack, int to, const tpContactPack* from, int lane,
                      const tpSweepBody* bodies, double damping);

#endif
