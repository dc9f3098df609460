// Arithmetic on W numbers at once: the one SIMD layer of the library.
//
// lanes_plain.h, lanes_avx2.h and lanes_avx512.h are its widths. A kernel is a header of functions
// over W lanes that is included by one source file per width, after the header of that width;
// math/widths.h says which of the compiled widths a machine takes. The header of a width defines
//
//     W             lanes, a divisor of tp_packWidth
//     wide          a vector of W doubles
//     wideMask      what comparisons give
//     loadWide, storeWide, loadFloats, storeFloats, loadInts, wideOf, wideMax, wideAbs, wideSqrt,
//     wideGreater, wideSelect, wideAny, wideBits, wideLargest, loadLines, loadRows, storeLines
//     gatherWide, loadFours, storeFours, loadSixes, storeSixes, addSixes,     up to four lanes only
//     dotFour, dotFours
//
// Every width does the same operations in the same order with the same rounding: the bits are the
// same.

// W lines of a cache, transposed: numbers[k] has the k-th number of each.
typedef struct WideLines {
    wide numbers[8];
} WideLines;

typedef struct WideVec {
    wide x, y, z;
} WideVec;

// `parts` are the lanes of x, then those of y and z.
static inline WideVec loadVec(const double* parts, int lane) {
    return (WideVec){ loadWide(parts + lane), loadWide(parts + tp_packWidth + lane),
                      loadWide(parts + 2 * tp_packWidth + lane) };
}

static inline WideVec loadFloatVec(const float* parts, int lane) {
    return (WideVec){ loadFloats(parts + lane), loadFloats(parts + tp_packWidth + lane),
                      loadFloats(parts + 2 * tp_packWidth + lane) };
}

static inline wide dotVec(WideVec a, WideVec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline WideVec crossVec(WideVec a, WideVec b) {
    return (WideVec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
