// Which faces carry bodies (tpSupport), of W manifolds at once.

#ifndef TIPPE_SRC_SWEEPS_SOFT_SUPPORT_LANES_H
#define TIPPE_SRC_SWEEPS_SOFT_SUPPORT_LANES_H

#include "sweeps/soft_pack.h"

// What W manifolds carried in a step.
typedef struct WideLoad {
    wide sum;        // of the normal impulses, N s
    wide bearers;    // points that carried something
    WideVec carried; // impulse on A along the normals, N s; only if the run is not flat
} WideLoad;

static inline WideLoad noLoad(void) {
    wide zero = wideOf(0.0);
    return (WideLoad){ zero, zero, { zero, zero, zero } };
}

static inline void addLoad(WideLoad* all, bool isFlat, WideVec n, wide load) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    all->sum += load;
    all->bearers += wideSelect(wideGreater(load, zero), one, zero);
    if (!isFlat) {
        all->carried = (WideVec){ all->carried.x + load * n.x, all->carried.y + load * n.y,
                                  all->carried.z + load * n.z };
    }
}

// Bodies that faces push within 60 degrees of up are told, if no other faces carry more of them.
// Flat runs have the normals n.
static inline void findSupports(const tpSoftSweep* sweep, const tpSoftRun* run, int lane, WideVec n,
                                const WideLoad* all) {
    wide sum = all->sum, half = wideOf(0.5) * sum;
    WideVec carried = run->isFlat ? (WideVec){ sum * n.x, sum * n.y, sum * n.z } : all->carried;
    const double* up = sweep->up;
    wide rise = carried.x * wideOf(up[0]) + carried.y * wideOf(up[1]) + carried.z * wideOf(up[2]);
    unsigned onA = wideBits(wideGreater(rise, half)) & (unsigned)run->movesA >> lane;
    unsigned onB = wideBits(wideGreater(wideOf(0.0) - half, rise)) & (unsigned)run->movesB >> lane;
    // Faces: one normal, and three points or more under load.
    wide square = dotVec(carried, carried);
    unsigned firm = wideBits(wideGreater(all->bearers, wideOf(2.5))) &
                    wideBits(wideGreater(square, wideOf(0.999) * sum * sum));
    _Alignas(64) float loads[W], normals[3][W];
    storeFloats(loads, sum);
    storeFloats(normals[0], carried.x);
    storeFloats(normals[1], carried.y);
    storeFloats(normals[2], carried.z);
    for (unsigned left = (onA | onB) & firm; left != 0; left &= left - 1) {
        int k = __builtin_ctz(left), a = run->bodyA[lane + k], b = run->bodyB[lane + k];
        bool isA = (onA >> k & 1) != 0;
        tpSupport* support = &sweep->supports[isA ? a : b];
        if (loads[k] > support->load) {
            support->load = loads[k];
            support->carrier = isA ? b : a;
            for (int i = 0; i < 3; ++i) {
                support->normal[i] = normals[i][k];
            }
        }
    }
}

#endif
