// Vectors and quaternions of W bodies at once, on top of math/lanes.h: the operations of
// tippe/math.h in their order.

typedef struct WideQuat {
    wide w, x, y, z;
} WideQuat;

static inline WideVec addVec(WideVec a, WideVec b) {
    return (WideVec){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline WideVec subVec(WideVec a, WideVec b) {
    return (WideVec){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline WideVec scaleVec(wide s, WideVec a) {
    return (WideVec){ s * a.x, s * a.y, s * a.z };
}

static inline WideVec mulAddVec(WideVec a, wide s, WideVec b) {
    return (WideVec){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}

static inline WideVec selectVec(wideMask mask, WideVec yes, WideVec no) {
    return (WideVec){ wideSelect(mask, yes.x, no.x), wideSelect(mask, yes.y, no.y),
                      wideSelect(mask, yes.z, no.z) };
}

static inline WideVec rotateVec(WideQuat q, WideVec v) {
    WideVec u = { q.x, q.y, q.z };
    WideVec t = scaleVec(wideOf(2.0), crossVec(u, v));
    return addVec(mulAddVec(v, q.w, t), crossVec(u, t));
}

static inline WideQuat conjugateQuat(WideQuat q) {
    return (WideQuat){ q.w, -q.x, -q.y, -q.z };
}

static inline WideQuat multiplyQuats(WideQuat a, WideQuat b) {
    return (WideQuat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                       a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w };
}

typedef struct WidePose {
    WideVec position;
    WideQuat rotation;
} WidePose;
