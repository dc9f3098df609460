// A body of an impact as a row of a table has it: 16 numbers, which are
//
//     m  Jxx Jyy Jzz Jxy Jxz Jyz  rx ry rz  vx vy vz  wx wy wz
//
// A mass that is infinite cannot be moved; an inertia of zeros, with such a mass only, cannot be
// turned.

#ifndef TIPPE_DYNAMICS_IMPACT_COLUMNS_H
#define TIPPE_DYNAMICS_IMPACT_COLUMNS_H

#include <math.h>

#include "tippe/impact.h"

enum {
    tp_impactMass = 0,
    tp_impactInertia = 1,
    tp_impactArm = 7,
    tp_impactVelocity = 10,
    tp_impactSpin = 13,
    tp_impactBodyColumns = 16
};

static inline tpVec3 tpVectorOfColumns(const double* v) {
    return tpMakeVec3(v[0], v[1], v[2]);
}

static inline tpMat33 tpInertiaOfColumns(const double* v) {
    const double* j = v + tp_impactInertia;
    return tpMakeMat33(tpMakeVec3(j[0], j[3], j[4]), tpMakeVec3(j[3], j[1], j[5]),
                       tpMakeVec3(j[4], j[5], j[2]));
}

// Whether the inertia is left out: six zeros, of a body that cannot be moved.
static inline bool tpColumnsCannotTurn(const double* v) {
    bool isZero = isinf(v[tp_impactMass]);
    for (int i = 0; i < 6; ++i) {
        isZero = isZero && v[tp_impactInertia + i] == 0.0;
    }
    return isZero;
}

static inline tpImpactBody tpImpactBodyOfColumns(const double* v) {
    tpImpactBody body = { .inverseMass = isinf(v[tp_impactMass]) ? 0.0 : 1.0 / v[tp_impactMass],
                          .arm = tpVectorOfColumns(v + tp_impactArm),
                          .velocity = tpVectorOfColumns(v + tp_impactVelocity),
                          .angularVelocity = tpVectorOfColumns(v + tp_impactSpin) };
    if (!tpColumnsCannotTurn(v)) {
        body.inverseInertia = tpInvert(tpInertiaOfColumns(v));
    }
    return body;
}

#endif
