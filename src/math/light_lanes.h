// Arithmetic on F floats at once: what math/lanes.h is for doubles.
//
// Floats lie sixteen side by side on every machine (tp_lightWidth). light_lanes_plain.h, _avx2.h
// and _avx512.h go over the sixteen in 16 pieces, in two, or in one. Each of them defines
//
//     F             lanes, a divisor of tp_lightWidth
//     light         a vector of F floats
//     lightMask     what comparisons give
//     loadLight, storeLight, lightOf, lightMax, lightSqrt, lightGreater, lightSelect, lightAny,
//     addProducts (products of floats, added to F sums in double precision), loadLightLines,
//     storeLightLines
//
// Every width does the same operations in the same order with the same rounding: the bits are the
// same.

// F lines of eight floats, transposed: numbers[k] has the k-th number of each.
typedef struct LightLines {
    light numbers[8];
} LightLines;

typedef struct LightVec {
    light x, y, z;
} LightVec;

// `parts` are the lanes of x, then those of y and z.
static inline LightVec loadLightVec(const float* parts, int lane) {
    return (LightVec){ loadLight(parts + lane), loadLight(parts + tp_lightWidth + lane),
                       loadLight(parts + 2 * tp_lightWidth + lane) };
}

static inline light dotLight(LightVec a, LightVec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline LightVec crossLight(LightVec a, LightVec b) {
    return (LightVec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
