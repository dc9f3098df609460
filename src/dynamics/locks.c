#include "dynamics/locks.h"

tpVec3 tpLocks_Linear(uint32_t locked, tpVec3 v) {
    v.x = locked & tp_lockX ? 0.0 : v.x;
    v.y = locked & tp_lockY ? 0.0 : v.y;
    v.z = locked & tp_lockZ ? 0.0 : v.z;
    return v;
}

tpVec3 tpLocks_Angular(uint32_t locked, tpVec3 v) {
    v.x = locked & tp_lockTurnX ? 0.0 : v.x;
    v.y = locked & tp_lockTurnY ? 0.0 : v.y;
    v.z = locked & tp_lockTurnZ ? 0.0 : v.z;
    return v;
}

static double inverseOf(double number) {
    return number > 0.0 ? 1.0 / number : 0.0;
}

// The inverse of [a c; c b], or of what has inertia in it.
static void invertPair(double a, double b, double c, double* out) {
    double determinant = a * b - c * c;
    if (determinant > 1e-14 * a * b) {
        out[0] = b / determinant;
        out[1] = a / determinant;
        out[2] = -c / determinant;
    } else {
        out[0] = inverseOf(a);
        out[1] = inverseOf(b);
        out[2] = 0.0;
    }
}

tpMat33 tpLocks_InverseInertia(const tpInertia* inertia, uint32_t locked, tpQuat rotation) {
    if (!tpLocks_Turns(locked)) {
        return tpInertia_InverseWorld(inertia, rotation);
    }
    tpMat33 I = tpInertia_World(inertia, rotation);
    tpMat33 result = tpZeroMat33();
    bool freeX = !(locked & tp_lockTurnX), freeY = !(locked & tp_lockTurnY);
    bool freeZ = !(locked & tp_lockTurnZ);
    double pair[3];
    if (freeX && freeY) {
        invertPair(I.cx.x, I.cy.y, I.cx.y, pair);
        result.cx = tpMakeVec3(pair[0], pair[2], 0.0);
        result.cy = tpMakeVec3(pair[2], pair[1], 0.0);
    } else if (freeX && freeZ) {
        invertPair(I.cx.x, I.cz.z, I.cx.z, pair);
        result.cx = tpMakeVec3(pair[0], 0.0, pair[2]);
        result.cz = tpMakeVec3(pair[2], 0.0, pair[1]);
    } else if (freeY && freeZ) {
        invertPair(I.cy.y, I.cz.z, I.cy.z, pair);
        result.cy = tpMakeVec3(0.0, pair[0], pair[2]);
        result.cz = tpMakeVec3(0.0, pair[2], pair[1]);
    } else {
        result.cx.x = freeX ? inverseOf(I.cx.x) : 0.0;
        result.cy.y = freeY ? inverseOf(I.cy.y) : 0.0;
        result.cz.z = freeZ ? inverseOf(I.cz.z) : 0.0;
    }
    return result;
}

void tpLocks_Rotate(const tpInertia* inertia, uint32_t locked, double h, tpQuat* rotation,
                    tpVec3* angularVelocity) {
    tpVec3 momentum =
        tpLocks_Angular(locked, tpInertia_Momentum(inertia, *rotation, *angularVelocity));
    // The velocity half way through, by iteration; each turn of it is nearer by h |w|.
    tpVec3 middle = *angularVelocity;
    for (int iteration = 0; iteration < 50; ++iteration) {
        tpQuat half = tpMulQQ(tpQuatExp(tpScale(0.5 * h, middle)), *rotation);
        tpVec3 next = tpMulMV(tpLocks_InverseInertia(inertia, locked, half), momentum);
        double change = tpDistanceBetween(next, middle);
        middle = next;
        if (change <= 1e-15 * tpLength(middle)) {
            break;
        }
    }
    *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, middle)), *rotation));
    *angularVelocity = tpMulMV(tpLocks_InverseInertia(inertia, locked, *rotation), momentum);
}
