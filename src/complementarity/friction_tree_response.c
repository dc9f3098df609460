// What contacts feel of a mechanism: S = W_cc - W_ce W_ee^-1 W_ec.
//
// A unit impulse of a row is a force on its bodies, and goes from there to the root, as in the
// elimination itself. Each place on its way takes a part y of it (D^-1/2 N^T f of the motions that
// its link leaves free; for a link that is eliminated by rows L^-1 f, and z of its rows). Two rows
// feel each other by the parts that they leave at the same places: S = sum y y^T - z z^T. Places
// are gone through from the leaves to the root, each with all the rows that pass it.

#include <string.h>

#include "complementarity/friction_tree_parts.h"

typedef struct tpRowWays {
    int blockCount, rowCount;
    int* firstEnd;                 // of each block, one more at the end
    int* heads;                    // of each end: the place where it is, or -1
    int* firstForce;               // of each block: rows, and in each row its ends
    double (*force)[tp_treeWidth]; // of each row and end
    int* passing;                  // rows at the place in question
    double* parts;                 // of each motion of the place: one number per row in `passing`
} tpRowWays;

static int termsOfBlock(const tpFrictionTree* tree, int b) {
    return tpTree_FirstTerm(tree, tree->first[b + 1]) - tpTree_FirstTerm(tree, tree->first[b]);
}

// Adds further bodies of the rows of a block to its ends. Returns the number of all ends; those of
// one body are one.
static int addTerms(const tpFrictionTree* tree, int b, int room, int* heads,
                    double (*force)[tp_treeWidth]) {
    int count = 2;
    for (int k = 0; k < tpTree_RowsOfBlock(tree, b); ++k) {
        int row = tree->first[b] + k;
        for (int i = tpTree_FirstTerm(tree, row); i < tpTree_FirstTerm(tree, row + 1); ++i) {
            int place = tree->place[tree->given->termBodies[i]], end = 0;
            while (end < count && heads[end] != place) {
                end += 1;
            }
            heads[end] = place;
            count = end == count ? count + 1 : count;
            tpTree_AddScaled6(1.0, tree->termG + (size_t)i * tp_treeWidth, force[k * room + end]);
        }
    }
    return count;
}

static bool begin(const tpFrictionTree* tree, tpRowWays* ways) {
    tpArena* arena = tree->arena;
    size_t n = (size_t)tree->otherRows;
    int ends = 0, forces = 0;
    ways->blockCount = tree->otherCount;
    ways->rowCount = tree->otherRows;
    ways->firstEnd = TP_SCRATCH(arena, int, tree->otherCount + 1);
    ways->firstForce = TP_SCRATCH(arena, int, tree->otherCount);
    for (int i = 0; !arena->failed && i < tree->otherCount; ++i) {
        int own = 2 + termsOfBlock(tree, tree->others[i]);
        ways->firstEnd[i] = ends;
        ways->firstForce[i] = forces;
        ends += own;
        forces += own * tpTree_RowsOfBlock(tree, tree->others[i]);
    }
    ways->heads = TP_SCRATCH(arena, int, ends);
    ways->force = tpArena_Get(arena, sizeof(double[tp_treeWidth]) * (size_t)forces);
    ways->passing = TP_SCRATCH(arena, int, n);
    ways->parts = TP_SCRATCH(arena, double, n*(tp_treeWidth + tp_maxLinkRows));
    if (arena->failed) {
        return false;
    }
    ways->firstEnd[tree->otherCount] = ends;
    for (int i = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i], own = ways->firstEnd[i + 1] - ways->firstEnd[i];
        int* heads = ways->heads + ways->firstEnd[i];
        double(*force)[tp_treeWidth] = ways->force + ways->firstForce[i];
        if (own > 2) {
            memset(force, 0,
                   sizeof(double[tp_treeWidth]) * (size_t)(own * tpTree_RowsOfBlock(tree, b)));
        }
        for (int end = 0; end < own; ++end) {
            heads[end] = end < 2 ? tpTree_PlaceOf(tree, tree->pair[2 * b + end]) : -1;
        }
        for (int side = 0; side < 2; ++side) {
            for (int k = 0; heads[side] >= 0 && k < tpTree_RowsOfBlock(tree, b); ++k) {
                memcpy(force[k * own + side], tpTree_Row(tree, tree->first[b] + k, side),
                       sizeof(double[tp_treeWidth]));
            }
        }
        if (own > 2) {
            addTerms(tree, b, own, heads, force);
        }
    }
    return true;
}

// One row at a place whose link is eliminated by rows: its force becomes that on the parent; its
// parts come into `parts`, `stride` apart.
static void passPlace(const tpFrictionTree* tree, int k, double* force, double* parts,
                      size_t stride) {
    const tpTreeBody* own = &tree->bodies[k];
    double up[tp_treeWidth] = { 0.0 }, z[tp_maxLinkRows] = { 0.0 };
    int minus = own[1].firstRow - own->firstRow;
    tpTree_GoUp(tree, k, force, z, own->parent >= 0 ? up : NULL);
    for (int i = 0; i < tp_treeWidth; ++i) {
        parts[(size_t)i * stride] = force[i];
    }
    for (int i = 0; i < minus; ++i) {
        parts[(size_t)(tp_treeWidth + i) * stride] = z[i];
    }
    memcpy(force, up, sizeof(up));
}

// The first of a block's ends that is at place k, with the forces of all that are; -1 if none is.
static int meetAt(int k, int ends, int rows, int* heads, double (*force)[tp_treeWidth]) {
    int side = 0;
    while (side < ends && heads[side] != k) {
        side += 1;
    }
    for (int other = side + 1; other < ends; ++other) {
        if (heads[other] == k) {
            for (int i = 0; i < rows; ++i) {
                tpTree_AddScaled6(1.0, force[i * ends + other], force[i * ends + side]);
            }
            heads[other] = -1;
        }
    }
    return side < ends ? side : -1;
}

// Takes all rows that are at a place through it. Returns their number.
static int passRows(const tpFrictionTree* tree, int k, tpRowWays* ways) {
    int count = 0;
    size_t stride = (size_t)ways->rowCount;
    for (int i = 0; i < ways->blockCount; ++i) {
        int own = ways->firstEnd[i + 1] - ways->firstEnd[i];
        int* heads = ways->heads + ways->firstEnd[i];
        int side = meetAt(k, own, tree->otherFirst[i + 1] - tree->otherFirst[i], heads,
                          ways->force + ways->firstForce[i]);
        if (side < 0) {
            continue;
        }
        double(*force)[tp_treeWidth] = ways->force + ways->firstForce[i] + side;
        int first = tree->otherFirst[i], rows = tree->otherFirst[i + 1] - first;
        if (tree->bodies[k].isMotion) {
            tpTreeMotion_TraceRows(tree, k, rows, own, force, ways->parts + count, stride);
        } else {
            for (int row = 0; row < rows; ++row) {
                passPlace(tree, k, force[row * own], ways->parts + count + row, stride);
            }
        }
        for (int row = 0; row < rows; ++row) {
            ways->passing[count++] = first + row;
        }
        heads[side] = tree->bodies[k].parent;
    }
    return count;
}

// y += factor x.
static inline void addScaled(int n, double factor, const double* restrict x, double* restrict y) {
    for (int i = 0; i < n; ++i) {
        y[i] += factor * x[i];
    }
}

// Adds the products of six parts that all n rows have, those of a root, to the columns of S up to
// the diagonal: one pass over S instead of six.
static void addRoot(int n, const double* restrict parts, double* restrict S) {
    size_t m = (size_t)n;
    for (int j = 0; j < n; ++j) {
        const double* own = parts + j;
        double a = own[0], b = own[m], c = own[2 * m], d = own[3 * m], e = own[4 * m];
        double f = own[5 * m], *column = S + (size_t)j * m;
        for (int i = 0; i <= j; ++i) {
            const double* other = parts + i;
            column[i] += a * other[0] + b * other[m] + c * other[2 * m] + d * other[3 * m] +
                         e * other[4 * m] + f * other[5 * m];
        }
    }
}

// Adds the products of one part of `count` rows to the columns of S up to the diagonal.
static void addProducts(int count, const int* rows, const double* part, double sign, int n,
                        double* S) {
    if (count == n) {
        for (int j = 0; j < n; ++j) {
            addScaled(j + 1, sign * part[j], part, S + (size_t)j * (size_t)n);
        }
        return;
    }
    for (int j = 0; j < count; ++j) {
        double* column = S + (size_t)rows[j] * (size_t)n;
        double factor = sign * part[j];
        for (int i = 0; i <= j; ++i) {
            column[rows[i]] += factor * part[i];
        }
    }
}

// Room in the tree for a response of n rows with a key of that size. False if memory ran out.
static bool reserve(tpFrictionTree* tree, size_t n, size_t keySize) {
    tpKeptResponse* kept = &tree->response;
    if (kept->S == NULL || n * n > kept->room || keySize > kept->keyRoom) {
        kept->factors = 0;
        kept->room = n * n > kept->room ? 2 * n * n : kept->room;
        kept->keyRoom = keySize > kept->keyRoom ? 2 * keySize : kept->keyRoom;
        kept->S = TP_SCRATCH(&tree->kept, double, kept->room);
        kept->key = TP_SCRATCH(&tree->kept, double, kept->keyRoom);
        tree->arena->failed = tree->arena->failed || tree->kept.failed;
    }
    return !tree->kept.failed;
}

// All that S depends on beside the factors: planted rows are those of the factors. Returns how many
// numbers it is.
static size_t writeKey(const tpFrictionTree* tree, double* key) {
    double* to = key;
    for (int i = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        *to++ = b < tree->leadBlocks ? -1.0 : b - tree->leadBlocks;
        *to++ = tpTree_RowsOfBlock(tree, b);
        *to++ = b < tree->leadBlocks ? tree->pair[2 * b] : 0.0;
        *to++ = b < tree->leadBlocks ? tree->pair[2 * b + 1] : 0.0;
        for (int row = tree->first[b]; b < tree->leadBlocks && row < tree->first[b + 1]; ++row) {
            for (int side = 0; side < 2; ++side, to += tp_treeWidth) {
                const double* own = tpTree_Row(tree, row, side);
                for (int k = 0; k < tp_treeWidth; ++k) {
                    to[k] = tree->pair[2 * b + side] >= 0 ? own[k] : 0.0;
                }
            }
            *to++ = tpTree_Compliance(tree, row);
        }
    }
    return (size_t)(to - key);
}

// S, made anew. False if memory ran out.
static bool formMatrix(tpFrictionTree* tree, double* S) {
    int n = tree->otherRows;
    tpRowWays ways;
    if (!begin(tree, &ways)) {
        return false;
    }
    memset(S, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        int count = passRows(tree, k, &ways);
        const tpTreeBody* own = &tree->bodies[k];
        int plus = own->isMotion ? tree->motions[k].freeCount : tp_treeWidth;
        int minus = own->isMotion ? 0 : own[1].firstRow - own->firstRow;
        if (count == n && plus == tp_treeWidth && minus == 0) {
            addRoot(n, ways.parts, S);
            continue;
        }
        for (int i = 0; count > 0 && i < plus + minus; ++i) {
            addProducts(count, ways.passing, ways.parts + (size_t)i * (size_t)n,
                        i < plus ? 1.0 : -1.0, n, S);
        }
    }
    for (int i = 0; i < tree->otherCount; ++i) {
        int row = tree->first[tree->others[i]];
        for (int c = tree->otherFirst[i]; c < tree->otherFirst[i + 1]; ++c, ++row) {
            double* column = S + (size_t)c * (size_t)n;
            column[c] += tpTree_Compliance(tree, row);
            for (int k = 0; k < c; ++k) {
                S[(size_t)k * (size_t)n + (size_t)c] = column[k];
            }
        }
    }
    return true;
}

const double* tpFrictionTree_FormMatrix(tpFrictionTree* tree) {
    size_t n = (size_t)tree->otherRows;
    size_t most = 4 * (size_t)tree->otherCount + (2 * tp_treeWidth + 1) * n;
    double* key = TP_SCRATCH(tree->arena, double, most);
    if (key == NULL || !reserve(tree, n, most)) {
        return NULL;
    }
    tpKeptResponse* kept = &tree->response;
    size_t size = writeKey(tree, key);
    bool isSame = kept->factors == tree->factorisations && kept->keySize == size &&
                  memcmp(kept->key, key, sizeof(double) * size) == 0;
    if (isSame) {
        return kept->S;
    }
    kept->factors = 0;
    if (!formMatrix(tree, kept->S)) {
        return NULL;
    }
    // Further bodies of rows are no part of the key.
    kept->factors = tree->termG == NULL ? tree->factorisations : 0;
    kept->keySize = size;
    memcpy(kept->key, key, sizeof(double) * size);
    return kept->S;
}
