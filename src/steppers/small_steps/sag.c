// Turns that are only the sag of contacts.
//
// A contact under load sags: its spring is as soft as the substep asks for. So a body on others
// also tilts a little, and the load above it comes to stand beside what carries it. If arms turned
// with that tilt, a stack of rigid boxes would be an elastic column. With K the stiffness of an
// interface against tilting and q the weight per length, a column of 1 m per interface buckles
// under its own weight if it is higher than (7.84 K / q)^(1/3): 18.7 unit boxes at four substeps of
// 1/240 s.
//
// A body that is carried by faces cannot tilt against what carries it but by sag. Its arms turn as
// the arms of that do, and with its own turn about the normal:
//
//     tilt    = (1 - n n') (turn - S)        S: how the arms of its support turned
//     sag    += tilt,     S = turn - tilt for those above
//
// The support is the body that pushes this one most against gravity, by a manifold of one
// normal with three points or more under load, in the step before. On the ground S is zero, so the
// arms of a stack at rest stay as they are; on a plate that tilts they follow, one body per step.
// If a body is not carried so, its arms get back what they lack; if it tilts faster than contacts
// sag, they turn with it.

#include <math.h>

#include "steppers/small_steps/step.h"

// Turns beyond this are real, rad; so are those that come about faster, rad
// per unit of time.
static const double mostSag = 0.03, mostRate = 0.03;

// Part of the sag that stays in a step if the body is not carried, and what is none, rad.
static const double keptPart = 0.9, leastSag = 1e-7;

static tpVec3 readTurn(const float* turn) {
    return tpMakeVec3(turn[0], turn[1], turn[2]);
}

static void writeTurn(float* to, tpVec3 turn) {
    to[0] = (float)turn.x;
    to[1] = (float)turn.y;
    to[2] = (float)turn.z;
}

// What of a body's turn is a tilt against the faces that carry it. False if none do.
static bool findTilt(const tpSmallStep* step, int n, tpVec3 turn, tpVec3* tilt) {
    const tpSupport* support = &step->supports[n];
    if (support->carrier < 0) {
        return false;
    }
    tpVec3 normal = readTurn(support->normal);
    tpVec3 against = tpSub(turn, readTurn(step->supports[support->carrier].turned));
    *tilt = tpMulAdd(against, -tpDot(normal, against) / tpDot(normal, normal), normal);
    return true;
}

tpVec3 tpSmallStep_Sag(tpSmallStep* step, int n, int body, tpVec3 turn) {
    tpBodyWay* way = &step->state->ways.data[n];
    if (!(step->masses[n].inverseMass > 0.0)) {
        writeTurn(way->carried, turn);
        return tpZeroVec3();
    }
    bool isJointed = step->state->map.owners.data[body] >= 0;
    if (isJointed && !tpHasSag(way)) {
        writeTurn(way->carried, turn);
        return tpZeroVec3();
    }
    tpVec3 before = readTurn(way->sag), sag = before, tilt;
    double most = mostRate * step->h / step->system->units.time;
    if (isJointed || !findTilt(step, n, turn, &tilt)) {
        sag = tpScale(tpDot(sag, sag) > leastSag * leastSag ? keptPart : 0.0, sag);
    } else if (tpDot(tilt, tilt) <= most * most) {
        sag = tpAdd(sag, tilt);
        double square = tpDot(sag, sag);
        sag = square > mostSag * mostSag ? tpScale(mostSag / sqrt(square), sag) : sag;
    }
    tpVec3 change = tpSub(sag, before);
    writeTurn(way->sag, sag);
    writeTurn(way->carried, tpSub(turn, change));
    return change;
}

tpVec3 tpArmWithoutSag(const tpBodyWay* way, tpVec3 arm) {
    tpVec3 sag = readTurn(way->sag), first = tpCross(sag, arm);
    return tpMulAdd(tpSub(arm, first), 0.5, tpCross(sag, first));
}
