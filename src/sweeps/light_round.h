// Contacts of spheres with each other and with what does not move, for light sweeps.
//
// What a light sweep costs is memory. An arm along the normal is one number, a moment of inertia
// that is the same about every axis another, and the second tangent follows from the first: 84
// bytes per contact in place of 200, and half of the arithmetic (light_round_lanes.h).

#ifndef TIPPE_SRC_SWEEPS_LIGHT_ROUND_H
#define TIPPE_SRC_SWEEPS_LIGHT_ROUND_H

#include "sweeps/sweeper.h"

// Sixteen contacts, each of another pair of bodies. Lanes without a contact have a body of their
// own, behind all others, that nothing moves.
typedef struct tpRoundPack {
    int32_t bodyA[tp_lightWidth], bodyB[tp_lightWidth];
    float normal[3][tp_lightWidth], tangent[3][tp_lightWidth]; // the other one: normal x tangent
    float armA[tp_lightWidth], armB[tp_lightWidth];            // along the normal, m
    float massA[tp_lightWidth], massB[tp_lightWidth];          // 1 / m
    float turnA[tp_lightWidth], turnB[tp_lightWidth];          // arm / I
    float inverseNormal[tp_lightWidth], inverseTangent[tp_lightWidth];
    float muStatic[tp_lightWidth], muDynamic[tp_lightWidth];
    float speed[3][tp_lightWidth]; // u + bias when it was loaded, m/s
} tpRoundPack;

// Whether a contact has the same response as one between spheres.
bool tpContactPack_IsRound(const tpContactPack* pack, int lane, const tpSweepBody* bodies);

// Takes a round contact over to a lane; `damping` is the part of each change that is made. Speeds
// are left alone.
void tpRoundPack_Fill(tpRoundPack* pack, int to, const tpContactPack* from, int lane,
                      const tpSweepBody* bodies, double damping);

#endif
