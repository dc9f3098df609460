// A link eliminated by the motions that it leaves free.
//
// What a joint measures depends on how its two bodies lie to each other, so a motion of both as one
// rigid body changes nothing: the rows on the parent are g_p = -g X, where X takes the velocity of
// the parent to that of the child as if they were one. With the motion d = v - X v_p of the child
// relative to that, rows that are hard (no compliance) say H d = b, and leave d = d_0 + N y. Rows
// that give (rotors, servos) have x = (b - g d) / c and act on y alone. With the articulated mass A
// of the child and the force f on it,
//
//     U = A N,   D = N^T U + sum (g N)^T (g N) / c,   A_p += X^T (A - U D^-1 U^T) X,
//     e = N^T (f - A d_0) + sum (g N)^T (b - g d_0) / c,   f_p += X^T (f - A d_0 - U D^-1 e),
//     y = D^-1 (e - U^T X v_p),    H^T x_h = A v - f - sum g^T x.
//
// A hinge has one y where its rows are six or seven. Hard rows come in two kinds, those that turn
// alone (t . d_a = b) and those that also move (l . d_l + m . d_a = b); with the dual directions of
// the t and of the l everything is products of vectors. FRICTION.md has more.

#include <math.h>
#include <string.h>

#include "complementarity/friction_tree_parts.h"

// Rows are taken for those of a joint if g_p + g X is below this part of them: it is rounding.
static const double roundingOfRows = 1e-13;

// Directions nearer than this to depend on each other are for others.
static const double leastVolume = 1e-3;

// So are free motions of which one is hardly resisted beside the others.
static const double leastResistance = 1e-12;

enum { width = tp_treeWidth };

static inline void crossInto(const double* x, const double* y, double* product) {
    double a = x[1] * y[2] - x[2] * y[1], b = x[2] * y[0] - x[0] * y[2];
    product[2] = x[0] * y[1] - x[1] * y[0];
    product[0] = a;
    product[1] = b;
}

static inline double dot3(const double* x, const double* y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static inline void scaleInto(double factor, const double* x, double* y) {
    y[0] = factor * x[0];
    y[1] = factor * x[1];
    y[2] = factor * x[2];
}

static inline void addScaled3(double factor, const double* x, double* y) {
    y[0] += factor * x[0];
    y[1] += factor * x[1];
    y[2] += factor * x[2];
}

// Directions -------------------------------------------------------------------------------------

// Two unit vectors across x.
static void findAcross(const double* x, double* first, double* second) {
    int least = fabs(x[0]) < fabs(x[1]) ? 0 : 1;
    least = fabs(x[2]) < fabs(x[least]) ? 2 : least;
    double axis[3] = { 0.0 };
    axis[least] = 1.0;
    crossInto(x, axis, first);
    scaleInto(1.0 / sqrt(dot3(first, first)), first, first);
    crossInto(x, first, second);
    scaleInto(1.0 / sqrt(dot3(second, second)), second, second);
}

// Duals of `count` directions, dual_i . direction_j being 1 for i = j and 0 otherwise, and unit
// vectors across all of them, 3 - count. False if they nearly depend on each other.
static bool makeDuals(int count, const double* const* directions, double (*duals)[3],
                      double (*across)[3]) {
    if (count == 0) {
        memset(across, 0, sizeof(double) * 9);
        across[0][0] = across[1][1] = across[2][2] = 1.0;
        return true;
    }
    double first = dot3(directions[0], directions[0]);
    if (count == 1) {
        if (!(first > 0.0)) {
            return false;
        }
        scaleInto(1.0 / first, directions[0], duals[0]);
        findAcross(directions[0], across[0], across[1]);
        return true;
    }
    double second = dot3(directions[1], directions[1]), normal[3];
    crossInto(directions[0], directions[1], normal);
    if (count == 2) {
        double square = dot3(normal, normal);
        if (!(square > leastVolume * leastVolume * first * second)) {
            return false;
        }
        crossInto(directions[1], normal, duals[0]);
        crossInto(normal, directions[0], duals[1]);
        double inverse = 1.0 / square;
        scaleInto(inverse, duals[0], duals[0]);
        scaleInto(inverse, duals[1], duals[1]);
        scaleInto(1.0 / sqrt(square), normal, across[0]);
        return true;
    }
    double third = dot3(directions[2], directions[2]), volume = dot3(normal, directions[2]);
    if (!(volume * volume > leastVolume * leastVolume * first * second * third)) {
        return false;
    }
    double inverse = 1.0 / volume;
    crossInto(directions[1], directions[2], duals[0]);
    crossInto(directions[2], directions[0], duals[1]);
    scaleInto(inverse, duals[0], duals[0]);
    scaleInto(inverse, duals[1], duals[1]);
    scaleInto(inverse, normal, duals[2]);
    return true;
}

// The way from the parent's centre to the child's -------------------------------------------------

// x with A x = b for a symmetric A of three rows, of which only the lower half is read. False if it
// is nearly singular.
static bool solveThree(double A[3][3], const double* b, double* x) {
    double c00 = A[1][1] * A[2][2] - A[2][1] * A[2][1];
    double c10 = A[2][1] * A[2][0] - A[1][0] * A[2][2];
    double c20 = A[1][0] * A[2][1] - A[1][1] * A[2][0];
    double det = A[0][0] * c00 + A[1][0] * c10 + A[2][0] * c20;
    double size = A[0][0] + A[1][1] + A[2][2];
    if (!(det > leastVolume * size * size * size)) {
        return false;
    }
    double c11 = A[0][0] * A[2][2] - A[2][0] * A[2][0];
    double c21 = A[1][0] * A[2][0] - A[0][0] * A[2][1];
    double c22 = A[0][0] * A[1][1] - A[1][0] * A[1][0], inverse = 1.0 / det;
    x[0] = (c00 * b[0] + c10 * b[1] + c20 * b[2]) * inverse;
    x[1] = (c10 * b[0] + c11 * b[1] + c21 * b[2]) * inverse;
    x[2] = (c20 * b[0] + c21 * b[1] + c22 * b[2]) * inverse;
    return true;
}

// Whether three rows move along the axes, up to their common sign.
static bool areAxes(const double* const* rows) {
    bool isRight = fabs(rows[0][0]) == 1.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            isRight = isRight && rows[i][j] == (i == j ? rows[0][0] : 0.0);
        }
    }
    return isRight;
}

// The way s by what rows do to both bodies: for a row with the direction l the turning parts differ
// by s x l. False if it is not told.
static bool findWay(const tpFrictionTree* tree, const tpTreeRow* rows, int count,
                    const tpTreeMotion* motion, double* s) {
    if (motion->areAxes) {
        // s x e_z and s x e_y, the sums of what rows along these axes do to both bodies.
        const tpTreeRow *y = &rows[motion->moving[1]], *z = &rows[motion->moving[2]];
        const double *gy = tree->G + y->child, *py = tree->G + y->above;
        const double *gz = tree->G + z->child, *pz = tree->G + z->above;
        double sign = -tree->G[rows[motion->moving[0]].child];
        s[0] = -sign * (gz[4] + pz[4]);
        s[1] = sign * (gz[3] + pz[3]);
        s[2] = -sign * (gy[3] + py[3]);
        return true;
    }
    double A[3][3] = { { 0.0 } }, b[3] = { 0.0 };
    for (int i = 0; i < count; ++i) {
        const double *g = tree->G + rows[i].child, *p = tree->G + rows[i].above;
        double square = dot3(g, g);
        if (square == 0.0) {
            continue;
        }
        double moment[3] = { -g[3] - p[3], -g[4] - p[4], -g[5] - p[5] }, along[3];
        crossInto(g, moment, along);
        addScaled3(1.0, along, b);
        for (int j = 0; j < 3; ++j) {
            A[j][j] += square;
            for (int c = 0; c <= j; ++c) {
                A[j][c] -= g[j] * g[c];
            }
        }
    }
    return solveThree(A, b, s);
}

// Whether a row turns alone, both bodies by the same.
static inline bool isPureTurn(const double* g, const double* p) {
    return g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0 && p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0 &&
           g[3] == -p[3] && g[4] == -p[4] && g[5] == -p[5];
}

// Whether rows do nothing to bodies that move as one.
static bool agree(const tpFrictionTree* tree, const tpTreeRow* rows, int count, const double* s) {
    double way = dot3(s, s), bound = roundingOfRows * roundingOfRows;
    bool isAgreed = true;
    for (int i = 0; i < count; ++i) {
        const double *g = tree->G + rows[i].child, *p = tree->G + rows[i].above;
        if (isPureTurn(g, p)) {
            continue;
        }
        double moved[3], miss = 0.0, turn = 0.0, linear = dot3(g, g);
        crossInto(s, g, moved);
        for (int j = 0; j < 3; ++j) {
            double parts = g[j] + p[j], turned = g[3 + j] + p[3 + j] + moved[j];
            miss += parts * parts;
            turn += turned * turned;
        }
        double angular = dot3(g + 3, g + 3) + dot3(p + 3, p + 3);
        isAgreed = isAgreed && miss <= bound * linear && turn <= bound * (angular + way * linear);
    }
    return isAgreed;
}

// Factors ----------------------------------------------------------------------------------------

// Which rows are hard, and of which kind. False if there are too many.
static bool splitRows(const tpFrictionTree* tree, tpTreeRow* rows, int count,
                      tpTreeMotion* motion) {
    motion->moveCount = motion->turnCount = motion->softCount = 0;
    for (int i = 0; i < count; ++i) {
        const double* g = tree->G + rows[i].child;
        double compliance = tpTree_Compliance(tree, tree->leadRows + rows[i].row);
        bool isTurn = g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0;
        if (compliance > 0.0) {
            rows[i].size = 1.0 / compliance;
            motion->soft[motion->softCount++] = (unsigned char)i;
        } else if ((isTurn ? motion->turnCount : motion->moveCount) == 3) {
            return false;
        } else if (isTurn) {
            motion->turning[motion->turnCount++] = (unsigned char)i;
        } else {
            motion->moving[motion->moveCount++] = (unsigned char)i;
        }
    }
    motion->freeCount = width - motion->moveCount - motion->turnCount;
    return true;
}

// Duals of hard rows, and the motions N that they leave. False if they nearly depend on each other.
static bool findMotions(const tpFrictionTree* tree, const tpTreeRow* rows, tpTreeMotion* motion) {
    const double *moves[3], *turns[3];
    double acrossMoves[3][3], acrossTurns[3][3];
    for (int i = 0; i < motion->moveCount; ++i) {
        moves[i] = tree->G + rows[motion->moving[i]].child;
    }
    for (int i = 0; i < motion->turnCount; ++i) {
        turns[i] = tree->G + rows[motion->turning[i]].child + 3;
    }
    motion->areAxes = motion->moveCount == 3 && areAxes(moves);
    if (motion->areAxes) {
        memset(motion->moveDuals, 0, sizeof(motion->moveDuals));
        motion->moveDuals[0][0] = motion->moveDuals[1][1] = motion->moveDuals[2][2] = moves[0][0];
    }
    if ((!motion->areAxes &&
         !makeDuals(motion->moveCount, moves, motion->moveDuals, acrossMoves)) ||
        !makeDuals(motion->turnCount, turns, motion->turnDuals, acrossTurns)) {
        return false;
    }
    int count = 0;
    for (int a = 0; a < 3 - motion->turnCount; ++a) {
        double* N = motion->N[count++];
        N[0] = N[1] = N[2] = 0.0;
        memcpy(N + 3, acrossTurns[a], sizeof(double) * 3);
        for (int i = 0; i < motion->moveCount; ++i) {
            addScaled3(-dot3(moves[i] + 3, N + 3), motion->moveDuals[i], N);
        }
    }
    for (int a = 0; a < 3 - motion->moveCount; ++a) {
        double* N = motion->N[count++];
        memcpy(N, acrossMoves[a], sizeof(double) * 3);
        N[3] = N[4] = N[5] = 0.0;
    }
    return true;
}

// A x, by columns: A is symmetric.
static inline void timesMass(const tpTreeBody* own, const double* x, double* product) {
    for (int i = 0; i < width; ++i) {
        product[i] = own->mass[i] * x[0];
    }
    for (int k = 1; k < width; ++k) {
        const double* column = own->mass + (size_t)(k * width);
        for (int i = 0; i < width; ++i) {
            product[i] += column[i] * x[k];
        }
    }
}

// U, D and its factor. False if a motion is hardly resisted.
static bool resistMotions(const tpFrictionTree* tree, const tpTreeBody* own, tpTreeRow* rows,
                          tpTreeMotion* motion) {
    int n = motion->freeCount;
    for (int a = 0; a < n; ++a) {
        timesMass(own, motion->N[a], motion->U[a]);
        for (int b = 0; b <= a; ++b) {
            motion->D[a][b] = tpTree_Dot6(motion->U[a], motion->N[b]);
        }
    }
    for (int s = 0; s < motion->softCount; ++s) {
        tpTreeRow* row = &rows[motion->soft[s]];
        for (int a = 0; a < n; ++a) {
            row->a[a] = tpTree_Dot6(tree->G + row->child, motion->N[a]);
            for (int b = 0; b <= a; ++b) {
                motion->D[a][b] += row->size * row->a[a] * row->a[b];
            }
        }
    }
    for (int a = 0; a < n; ++a) {
        double* row = motion->D[a];
        double least = leastResistance * row[a];
        for (int b = 0; b < a; ++b) {
            row[b] = (row[b] - tpTree_Dot(b, row, motion->D[b])) * motion->D[b][b];
        }
        double pivot = row[a] - tpTree_Dot(a, row, row);
        if (!(pivot > least)) {
            return false;
        }
        row[a] = 1.0 / sqrt(pivot);
    }
    return true;
}

// What the parent feels: X^T (A - U D^-1 U^T) X, in the lower half of its mass.
static void addToParent(const tpTreeBody* own, const tpTreeMotion* motion, double* mass) {
    double P[width][width], V[width][width];
    memcpy(P, own->mass, sizeof(P));
    for (int a = 0; a < motion->freeCount; ++a) {
        memcpy(V[a], motion->U[a], sizeof(V[a]));
        for (int b = 0; b < a; ++b) {
            tpTree_AddScaled6(-motion->D[a][b], V[b], V[a]);
        }
        for (int i = 0; i < width; ++i) {
            V[a][i] *= motion->D[a][a];
        }
        for (int i = 0; i < width; ++i) {
            tpTree_AddScaled6(-V[a][i], V[a], P[i]);
        }
    }
    const double* s = motion->way;
    double mixed[3][3], turned[3];
    for (int i = 0; i < 3; ++i) {
        double product[3];
        crossInto(P[i], s, product);
        for (int j = 0; j < 3; ++j) {
            mixed[i][j] = P[i][3 + j] - product[j];
            mass[(3 + j) * width + i] += mixed[i][j];
        }
        for (int j = 0; j <= i; ++j) {
            mass[i * width + j] += P[i][j];
        }
    }
    for (int i = 0; i < 3; ++i) {
        crossInto(P[3 + i], s, turned);
        const double* next = mixed[(i + 1) % 3];
        const double* last = mixed[(i + 2) % 3];
        double one = s[(i + 1) % 3], two = s[(i + 2) % 3];
        for (int j = 0; j <= i; ++j) {
            mass[(3 + i) * width + 3 + j] +=
                P[3 + i][3 + j] - turned[j] + one * last[j] - two * next[j];
        }
    }
}

bool tpTreeMotion_Factorise(tpFrictionTree* tree, int k) {
    tpTreeBody* own = &tree->bodies[k];
    tpTreeRow* rows = tree->rows + own->firstRow;
    tpTreeMotion* motion = &tree->motions[k];
    int count = own[1].firstRow - own->firstRow;
    if (!splitRows(tree, rows, count, motion) || !findMotions(tree, rows, motion)) {
        return false;
    }
    if (own->parent >= 0 && (!findWay(tree, rows, count, motion, motion->way) ||
                             !agree(tree, rows, count, motion->way))) {
        return false;
    }
    for (int i = 1; i < width; ++i) {
        for (int j = 0; j < i; ++j) {
            own->mass[j * width + i] = own->mass[i * width + j];
        }
    }
    if (!resistMotions(tree, own, rows, motion)) {
        return false;
    }
    if (own->parent >= 0) {
        addToParent(own, motion, tree->bodies[own->parent].mass);
    }
    return true;
}

// Passes -----------------------------------------------------------------------------------------

// x <- D^-1/2 x and x <- D^-T/2 x of the motions.
static inline void lowerMotions(const tpTreeMotion* motion, double* x) {
    for (int a = 0; a < motion->freeCount; ++a) {
        x[a] = (x[a] - tpTree_Dot(a, motion->D[a], x)) * motion->D[a][a];
    }
}

static inline void upperMotions(const tpTreeMotion* motion, double* x) {
    for (int a = motion->freeCount - 1; a >= 0; --a) {
        x[a] *= motion->D[a][a];
        for (int b = 0; b < a; ++b) {
            x[b] -= x[a] * motion->D[a][b];
        }
    }
}

// Adds X^T f, if there is a parent.
static inline void pushParent(const tpTreeMotion* motion, const double* f, double* parent) {
    if (parent != NULL) {
        double turn[3];
        crossInto(motion->way, f, turn);
        addScaled3(1.0, f, parent);
        addScaled3(1.0, f + 3, parent + 3);
        addScaled3(1.0, turn, parent + 3);
    }
}

// y - A x.
static inline void takeMass(const tpTreeBody* own, const double* x, const double* y, double* rest) {
    double product[width];
    timesMass(own, x, product);
    for (int i = 0; i < width; ++i) {
        rest[i] = y[i] - product[i];
    }
}

// One row: its part in each free motion, `stride` apart; f becomes the force on the parent.
static inline void traceRow(const tpTreeMotion* motion, int n, bool hasParent, double* f,
                            double* parts, size_t stride) {
    double e[width], moved[width];
    for (int a = 0; a < n; ++a) {
        e[a] = tpTree_Dot6(motion->N[a], f);
    }
    for (int a = 0; a < n; ++a) {
        e[a] = (e[a] - tpTree_Dot(a, motion->D[a], e)) * motion->D[a][a];
        parts[(size_t)a * stride] = e[a];
    }
    if (!hasParent) {
        return;
    }
    for (int a = n - 1; a >= 0; --a) {
        e[a] *= motion->D[a][a];
        for (int b = 0; b < a; ++b) {
            e[b] -= e[a] * motion->D[a][b];
        }
    }
    for (int a = 0; a < n; ++a) {
        tpTree_AddScaled6(-e[a], motion->U[a], f);
    }
    crossInto(motion->way, f, moved);
    addScaled3(1.0, moved, f + 3);
}

void tpTreeMotion_TraceRows(const tpFrictionTree* tree, int k, int count, int step,
                            double (*force)[tp_treeWidth], double* parts, size_t stride) {
    const tpTreeMotion* motion = &tree->motions[k];
    bool hasParent = tree->bodies[k].parent >= 0;
    for (int i = 0; i < count; ++i) {
        // With the number of motions a constant, the loops unroll.
        if (motion->freeCount == 1) {
            traceRow(motion, 1, hasParent, force[i * step], parts + i, stride);
        } else {
            traceRow(motion, motion->freeCount, hasParent, force[i * step], parts + i, stride);
        }
    }
}

void tpTreeMotion_GoUp(tpFrictionTree* tree, int k, const double* f, double* z, double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    tpTreeRow* rows = tree->rows + own->firstRow;
    tpTreeMotion* motion = &tree->motions[k];
    double *start = motion->start, *y = motion->y, rest[width];
    memset(start, 0, sizeof(motion->start));
    memset(motion->more, 0, sizeof(motion->more));
    for (int i = 0; i < motion->turnCount; ++i) {
        addScaled3(z[motion->turning[i]], motion->turnDuals[i], start + 3);
    }
    for (int i = 0; i < motion->moveCount; ++i) {
        const double* m = tree->G + rows[motion->moving[i]].child + 3;
        addScaled3(z[motion->moving[i]] - dot3(m, start + 3), motion->moveDuals[i], start);
    }
    takeMass(own, start, f, rest);
    for (int a = 0; a < motion->freeCount; ++a) {
        y[a] = tpTree_Dot6(motion->N[a], rest);
    }
    for (int s = 0; s < motion->softCount; ++s) {
        tpTreeRow* row = &rows[motion->soft[s]];
        row->left = z[motion->soft[s]] - tpTree_Dot6(tree->G + row->child, start);
        for (int a = 0; a < motion->freeCount; ++a) {
            y[a] += row->size * row->a[a] * row->left;
        }
    }
    lowerMotions(motion, y);
    upperMotions(motion, y);
    for (int a = 0; a < motion->freeCount; ++a) {
        tpTree_AddScaled6(-y[a], motion->U[a], rest);
    }
    pushParent(motion, rest, parent);
}

void tpTreeMotion_GoUpMore(tpFrictionTree* tree, int k, const double* f, double* parent) {
    tpTreeMotion* motion = &tree->motions[k];
    double* more = motion->more;
    for (int a = 0; a < motion->freeCount; ++a) {
        more[a] = tpTree_Dot6(motion->N[a], f);
    }
    lowerMotions(motion, more);
    upperMotions(motion, more);
    if (parent != NULL) {
        double rest[width];
        memcpy(rest, f, sizeof(rest));
        for (int a = 0; a < motion->freeCount; ++a) {
            tpTree_AddScaled6(-more[a], motion->U[a], rest);
        }
        pushParent(motion, rest, parent);
    }
}

void tpTreeMotion_GoDown(tpFrictionTree* tree, int k, double* f, double* z, const double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const tpTreeMotion* motion = &tree->motions[k];
    double v[width] = { 0.0 }, left[width], y[width];
    if (parent != NULL) {
        crossInto(parent + 3, motion->way, v);
        addScaled3(1.0, parent, v);
        memcpy(v + 3, parent + 3, sizeof(double) * 3);
    }
    for (int a = 0; a < motion->freeCount; ++a) {
        y[a] = -tpTree_Dot6(motion->U[a], v);
    }
    lowerMotions(motion, y);
    upperMotions(motion, y);
    tpTree_AddScaled6(1.0, motion->start, v);
    for (int a = 0; a < motion->freeCount; ++a) {
        y[a] += motion->y[a] + motion->more[a];
        tpTree_AddScaled6(y[a], motion->N[a], v);
    }
    if (z == NULL) {
        memcpy(f, v, sizeof(v));
        return;
    }
    // f - A v + sum g^T x is what hard rows take.
    takeMass(own, v, f, left);
    for (int s = 0; s < motion->softCount; ++s) {
        const tpTreeRow* row = &rows[motion->soft[s]];
        double x = row->left;
        for (int a = 0; a < motion->freeCount; ++a) {
            x -= row->a[a] * y[a];
        }
        x *= row->size;
        z[motion->soft[s]] = x;
        tpTree_AddScaled6(x, tree->G + row->child, left);
    }
    for (int i = 0; i < motion->moveCount; ++i) {
        const double* m = tree->G + rows[motion->moving[i]].child + 3;
        double x = -dot3(motion->moveDuals[i], left);
        z[motion->moving[i]] = x;
        addScaled3(x, m, left + 3);
    }
    for (int i = 0; i < motion->turnCount; ++i) {
        z[motion->turning[i]] = -dot3(motion->turnDuals[i], left + 3);
    }
    memcpy(f, v, sizeof(v));
}
