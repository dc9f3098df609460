// What the broad phases share: when two boxes are a pair.

#include "collision/broad_phase.h"

#include "geometry/shape.h"

bool tpProxies_ArePair(const tpProxies* proxies, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    uint8_t kindA = proxies->kinds[a], kindB = proxies->kinds[b];
    return kindA != tp_noProxy && kindB != tp_noProxy &&
           (kindA >= tp_movableProxy || kindB >= tp_movableProxy) &&
           tpBoundsOverlap(&proxies->bounds[a], &proxies->bounds[b]) &&
           proxies->mayPair(proxies->context, low, high);
}

bool tpProxies_IsBounded(const tpProxies* proxies, int32_t proxy) {
    return tpIsFiniteBounds(&proxies->bounds[proxy]);
}
