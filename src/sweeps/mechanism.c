#include "sweeps/mechanism.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Blocks of six -----------------------------------------------------------------------------------

// block += factor left right'
static inline void addOuter(double* block, double factor, const double* left, const double* right) {
    for (int i = 0; i < 6; ++i) {
        double scaled = factor * left[i];
        for (int j = 0; j < 6; ++j) {
            block[6 * i + j] += scaled * right[j];
        }
    }
}

// A positive definite block becomes the inverse of its Cholesky factor, a lower triangle: A^-1 = T'
// T. By way of the triangle solves keep the digits that the inverse of a stiff block itself would
// lose.
static void invertTriangle(double* block) {
    double least = 0.0;
    for (int k = 0; k < 6; ++k) {
        least = fmax(least, block[7 * k]);
    }
    least *= 1e-15;
    double L[36] = { 0.0 }, T[36] = { 0.0 }, inverses[6];
    for (int k = 0; k < 6; ++k) {
        double pivot = block[7 * k];
        for (int j = 0; j < k; ++j) {
            pivot -= L[6 * k + j] * L[6 * k + j];
        }
        inverses[k] = 1.0 / sqrt(fmax(pivot, least));
        for (int i = k + 1; i < 6; ++i) {
            double entry = block[6 * i + k];
            for (int j = 0; j < k; ++j) {
                entry -= L[6 * i + j] * L[6 * k + j];
            }
            L[6 * i + k] = entry * inverses[k];
        }
    }
    for (int i = 0; i < 6; ++i) {
        T[7 * i] = inverses[i];
        for (int k = 0; k < i; ++k) {
            double sum = 0.0;
            for (int j = k; j < i; ++j) {
                sum += L[6 * i + j] * T[6 * j + k];
            }
            T[6 * i + k] = -sum * inverses[i];
        }
    }
    memcpy(block, T, sizeof(T));
}

// block becomes block T', T a lower triangle.
static inline void multiplyTriangle(double* block, const double* T) {
    for (int i = 0; i < 6; ++i) {
        double* row = &block[6 * i];
        for (int k = 5; k >= 0; --k) {
            double sum = 0.0;
            for (int j = 0; j <= k; ++j) {
                sum += row[j] * T[6 * k + j];
            }
            row[k] = sum;
        }
    }
}

// block -= left right'
static inline void subtractTransposed(double* block, const double* left, const double* right) {
    double turned[36];
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            turned[6 * j + i] = right[6 * i + j];
        }
    }
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            double factor = left[6 * i + k];
            for (int j = 0; j < 6; ++j) {
                block[6 * i + j] -= factor * turned[6 * k + j];
            }
        }
    }
}

// y -= block x
static inline void subtractProduct(double* restrict y, const double* restrict block,
                                   const double* restrict x) {
    for (int i = 0; i < 6; ++i) {
        const double* row = &block[6 * i];
        y[i] -= (row[0] * x[0] + row[1] * x[1] + row[2] * x[2]) +
                (row[3] * x[3] + row[4] * x[4] + row[5] * x[5]);
    }
}

// y -= block' x
static inline void subtractTurned(double* restrict y, const double* restrict block,
                                  const double* restrict x) {
    for (int i = 0; i < 6; ++i) {
        double factor = x[i];
        for (int j = 0; j < 6; ++j) {
            y[j] -= block[6 * i + j] * factor;
        }
    }
}

// x becomes T x.
static inline void applyTriangle(double* x, const double* T) {
    for (int i = 5; i >= 0; --i) {
        double sum = 0.0;
        for (int j = 0; j <= i; ++j) {
            sum += T[6 * i + j] * x[j];
        }
        x[i] = sum;
    }
}

// x becomes T' x.
static inline void applyTurnedTriangle(double* x, const double* T) {
    double y[6] = { 0.0 };
    for (int i = 0; i < 6; ++i) {
        double factor = x[i];
        for (int j = 0; j < 6; ++j) {
            y[j] += T[6 * i + j] * factor;
        }
    }
    memcpy(x, y, sizeof(y));
}

static inline double dotSix(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// Factors -----------------------------------------------------------------------------------------

static void placeMass(const tpNodeMass* mass, double* block) {
    memset(block, 0, 36 * sizeof(double));
    for (int k = 0; k < 3; ++k) {
        block[7 * k] = mass->mass[k];
        for (int j = 0; j < 3; ++j) {
            block[6 * (3 + k) + 3 + j] = mass->inertia[3 * k + j];
        }
    }
}

// Adds to the block of a node, if its factors are made again.
static void placeNode(tpMechanism* mechanism, double stiffness, int node, const double* on) {
    if (mechanism->isStale[node]) {
        addOuter(mechanism->diagonal[node], stiffness, on, on);
    }
}

static void placeRow(tpMechanism* mechanism, const tpMechanismRow* row, double stiffness) {
    if (row->nodeA >= 0) {
        placeNode(mechanism, stiffness, row->nodeA, row->onA);
    }
    if (row->nodeB >= 0) {
        placeNode(mechanism, stiffness, row->nodeB, row->onB);
    }
    if (row->place >= 0) {
        // The block has the rows of the later of the two.
        bool isLater = row->nodeA > row->nodeB;
        if (mechanism->isStale[isLater ? row->nodeB : row->nodeA]) {
            addOuter(mechanism->blocks[row->place], stiffness, isLater ? row->onA : row->onB,
                     isLater ? row->onB : row->onA);
        }
    }
}

static int findBlock(const tpMechanism* mechanism, int row, int column) {
    int place = mechanism->starts[column];
    while (mechanism->below[place] != row) {
        ++place;
    }
    return place;
}

static void placePair(tpMechanism* mechanism, double stiffness, int nodeA, const double* onA,
                      int nodeB, const double* onB) {
    bool isLater = nodeA > nodeB;
    if (!mechanism->isStale[isLater ? nodeB : nodeA]) {
        return;
    }
    int place = findBlock(mechanism, isLater ? nodeA : nodeB, isLater ? nodeB : nodeA);
    addOuter(mechanism->blocks[place], stiffness, isLater ? onA : onB, isLater ? onB : onA);
}

static void placeTerms(tpMechanism* mechanism, const tpMechanismRow* row, double stiffness) {
    for (int i = 0; i < row->termCount; ++i) {
        const tpMechanismTerm* term = &row->terms[i];
        placeNode(mechanism, stiffness, term->node, term->on);
        if (row->nodeA >= 0) {
            placePair(mechanism, stiffness, row->nodeA, row->onA, term->node, term->on);
        }
        if (row->nodeB >= 0) {
            placePair(mechanism, stiffness, row->nodeB, row->onB, term->node, term->on);
        }
        for (int j = 0; j < i; ++j) {
            placePair(mechanism, stiffness, row->terms[j].node, row->terms[j].on, term->node,
                      term->on);
        }
    }
}

// Rows of one direction, from its first one on.
static inline int endOfGroup(const tpMechanism* mechanism, int first) {
    int end = first + 1;
    while (end < mechanism->rowCount && mechanism->rows[end].sharedSign != 0.0) {
        ++end;
    }
    return end;
}

static inline double signOf(const tpMechanismRow* row) {
    return row->sharedSign != 0.0 ? row->sharedSign : 1.0;
}

// What a node that has been eliminated does to those whose factors are made again.
static void subtractFrom(tpMechanism* mechanism, int i) {
    int end = mechanism->starts[i + 1];
    for (int p = mechanism->starts[i]; p < end; ++p) {
        int column = mechanism->below[p];
        if (!mechanism->isStale[column]) {
            continue;
        }
        subtractTransposed(mechanism->diagonal[column], mechanism->blocks[p], mechanism->blocks[p]);
        for (int q = p + 1; q < end; ++q) {
            int place = findBlock(mechanism, mechanism->below[q], column);
            subtractTransposed(mechanism->blocks[place], mechanism->blocks[q],
                               mechanism->blocks[p]);
        }
    }
}

// Factors of the nodes that are stale. All that elimination leads to from a stale node is stale.
static void factoriseStale(tpMechanism* mechanism) {
    for (int i = 0; i < mechanism->nodeCount; ++i) {
        if (mechanism->isStale[i]) {
            int first = mechanism->starts[i], end = mechanism->starts[i + 1];
            placeMass(&mechanism->masses[i], mechanism->diagonal[i]);
            memset(mechanism->blocks + first, 0,
                   sizeof(*mechanism->blocks) * (size_t)(end - first));
        }
    }
    for (int k = 0, end; k < mechanism->rowCount; k = end) {
        const tpMechanismRow* row = &mechanism->rows[k];
        end = endOfGroup(mechanism, k);
        if (row->placed > 0.0) {
            placeRow(mechanism, row, row->placed);
            placeTerms(mechanism, row, row->placed);
        }
    }
    for (int i = 0; i < mechanism->nodeCount; ++i) {
        if (mechanism->isStale[i]) {
            invertTriangle(mechanism->diagonal[i]);
            for (int p = mechanism->starts[i]; p < mechanism->starts[i + 1]; ++p) {
                multiplyTriangle(mechanism->blocks[p], mechanism->diagonal[i]);
            }
        }
        subtractFrom(mechanism, i);
    }
}

// The stiffness of a direction with the states that its rows have.
static double stiffnessOf(const tpMechanism* mechanism, int first, int end) {
    double stiffness = 0.0;
    for (int j = first; j < end; ++j) {
        const tpRowAnswer* answer = &mechanism->answers[j];
        stiffness += answer->state == tp_withinRow ? answer->stiffness : 0.0;
    }
    return stiffness;
}

void tpMechanism_Factorise(tpMechanism* mechanism) {
    for (int i = 0; i < mechanism->nodeCount; ++i) {
        mechanism->isStale[i] = true;
    }
    for (int k = 0, end; k < mechanism->rowCount; k = end) {
        end = endOfGroup(mechanism, k);
        mechanism->rows[k].placed = stiffnessOf(mechanism, k, end);
    }
    factoriseStale(mechanism);
}

static void markRow(const tpMechanism* mechanism, const tpMechanismRow* row) {
    if (row->nodeA >= 0) {
        mechanism->isStale[row->nodeA] = true;
    }
    if (row->nodeB >= 0) {
        mechanism->isStale[row->nodeB] = true;
    }
    for (int k = 0; k < row->termCount; ++k) {
        mechanism->isStale[row->terms[k].node] = true;
    }
}

// Factors for other states of the same rows: the same bits as those of all nodes.
static void factoriseAgain(tpMechanism* mechanism) {
    memset(mechanism->isStale, 0, sizeof(bool) * (size_t)mechanism->nodeCount);
    for (int k = 0, end; k < mechanism->rowCount; k = end) {
        tpMechanismRow* row = &mechanism->rows[k];
        end = endOfGroup(mechanism, k);
        double stiffness = stiffnessOf(mechanism, k, end);
        if (stiffness != row->placed) {
            row->placed = stiffness;
            markRow(mechanism, row);
        }
    }
    for (int i = 0; i < mechanism->nodeCount; ++i) {
        for (int p = mechanism->starts[i]; mechanism->isStale[i] && p < mechanism->starts[i + 1];
             ++p) {
            mechanism->isStale[mechanism->below[p]] = true;
        }
    }
    factoriseStale(mechanism);
}

static void substitute(const tpMechanism* mechanism, double* x) {
    for (int i = 0; i < mechanism->nodeCount; ++i) {
        applyTriangle(&x[6 * i], mechanism->diagonal[i]);
        for (int p = mechanism->starts[i]; p < mechanism->starts[i + 1]; ++p) {
            subtractProduct(&x[6 * mechanism->below[p]], mechanism->blocks[p], &x[6 * i]);
        }
    }
    for (int i = mechanism->nodeCount - 1; i >= 0; --i) {
        for (int p = mechanism->starts[i]; p < mechanism->starts[i + 1]; ++p) {
            subtractTurned(&x[6 * i], mechanism->blocks[p], &x[6 * mechanism->below[p]]);
        }
        applyTurnedTriangle(&x[6 * i], mechanism->diagonal[i]);
    }
}

// Solves ------------------------------------------------------------------------------------------

// y += factor x
void tpMechanism_Answer(const tpMechanism* mechanism, double* impulses) {
    substitute(mechanism, impulses);
}

static inline void addSix(double* restrict y, double factor, const double* restrict x) {
    for (int j = 0; j < 6; ++j) {
        y[j] += factor * x[j];
    }
}

static inline void addRow(const tpMechanismRow* row, double impulse, double* x) {
    if (row->nodeA >= 0) {
        addSix(&x[6 * row->nodeA], impulse, row->onA);
    }
    if (row->nodeB >= 0) {
        addSix(&x[6 * row->nodeB], impulse, row->onB);
    }
    for (int k = 0; k < row->termCount; ++k) {
        addSix(&x[6 * row->terms[k].node], impulse, row->terms[k].on);
    }
}

// J v of a row that has its own directions.
static double speedAlong(const tpMechanismRow* row, const double* velocities) {
    double speed = (row->nodeA >= 0 ? dotSix(row->onA, &velocities[6 * row->nodeA]) : 0.0) +
                   (row->nodeB >= 0 ? dotSix(row->onB, &velocities[6 * row->nodeB]) : 0.0);
    for (int j = 0; j < row->termCount; ++j) {
        speed += dotSix(row->terms[j].on, &velocities[6 * row->terms[j].node]);
    }
    return speed;
}

void tpMechanism_Solve(tpMechanism* mechanism, const double* momenta, double* velocities) {
    memcpy(velocities, momenta, sizeof(double) * 6 * (size_t)mechanism->nodeCount);
    for (int k = 0, end; k < mechanism->rowCount; k = end) {
        double impulse = 0.0;
        end = endOfGroup(mechanism, k);
        for (int j = k; j < end; ++j) {
            impulse += signOf(&mechanism->rows[j]) * tpRowAnswer_Start(&mechanism->answers[j]);
        }
        if (impulse != 0.0) {
            addRow(&mechanism->rows[k], impulse, velocities);
        }
    }
    substitute(mechanism, velocities);
    double shared = 0.0;
    for (int k = 0; k < mechanism->rowCount; ++k) {
        const tpMechanismRow* row = &mechanism->rows[k];
        shared = row->sharedSign == 0.0 ? speedAlong(row, velocities) : shared;
        tpRowAnswer_Set(&mechanism->answers[k], signOf(row) * shared);
    }
}

int tpMechanism_SolveBounded(tpMechanism* mechanism, const double* momenta, double* velocities) {
    for (int trial = 0;; ++trial) {
        tpMechanism_Solve(mechanism, momenta, velocities);
        if (trial == tp_mostTrials ||
            !tpRowAnswers_Follow(mechanism->answers, mechanism->rowCount, trial)) {
            return trial;
        }
        factoriseAgain(mechanism);
    }
}

void tpMechanism_Correct(const tpMechanism* mechanism, const double* errors, double* shifts) {
    memset(shifts, 0, sizeof(double) * 6 * (size_t)mechanism->nodeCount);
    for (int k = 0, end; k < mechanism->rowCount; k = end) {
        double impulse = 0.0;
        end = endOfGroup(mechanism, k);
        for (int j = k; j < end; ++j) {
            const tpRowAnswer* answer = &mechanism->answers[j];
            double stiffness = answer->state == tp_withinRow ? answer->stiffness : 0.0;
            impulse -= signOf(&mechanism->rows[j]) * stiffness * errors[j];
        }
        if (impulse != 0.0) {
            addRow(&mechanism->rows[k], impulse, shifts);
        }
    }
    substitute(mechanism, shifts);
}

void tpMechanism_CorrectingImpulses(const tpMechanism* mechanism, const double* errors,
                                    const double* shifts, double* impulses) {
    double shared = 0.0;
    for (int k = 0; k < mechanism->rowCount; ++k) {
        const tpMechanismRow* row = &mechanism->rows[k];
        const tpRowAnswer* answer = &mechanism->answers[k];
        shared = row->sharedSign == 0.0 ? speedAlong(row, shifts) : shared;
        bool isIn = answer->state == tp_withinRow;
        impulses[k] = isIn ? -answer->stiffness * (errors[k] + signOf(row) * shared) : 0.0;
    }
}

// Inverse -----------------------------------------------------------------------------------------

// sum += left right, or left' right.
static inline void addProduct(double* sum, const double* left, bool isTurned, const double* right) {
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            double factor = left[isTurned ? 6 * k + i : 6 * i + k];
            for (int j = 0; j < 6; ++j) {
                sum[6 * i + j] += factor * right[6 * k + j];
            }
        }
    }
}

// Column i of the inverse on the pattern, from the columns after it. With L the column of the
// factors below the diagonal and T the inverse of the factor there, Y = Z L has the rows of the
// column; then Z_ji = -Y_j T and Z_ii = T' (1 + L' Y) T.
static void invertColumn(const tpMechanism* mechanism, int i, double (*inverses)[36],
                         double (*between)[36]) {
    int first = mechanism->starts[i], end = mechanism->starts[i + 1];
    const double* T = mechanism->diagonal[i];
    double own[36] = { 0.0 };
    for (int k = 0; k < 6; ++k) {
        own[7 * k] = 1.0;
    }
    for (int p = first; p < end; ++p) {
        int j = mechanism->below[p];
        memset(between[p], 0, sizeof(between[p]));
        for (int q = first; q < end; ++q) {
            int k = mechanism->below[q];
            const double* Z = j == k  ? inverses[j]
                              : j > k ? between[findBlock(mechanism, j, k)]
                                      : between[findBlock(mechanism, k, j)];
            addProduct(between[p], Z, j < k, mechanism->blocks[q]);
        }
        addProduct(own, mechanism->blocks[p], true, between[p]);
    }
    double half[36] = { 0.0 };
    addProduct(half, own, false, T);
    memset(inverses[i], 0, sizeof(inverses[i]));
    addProduct(inverses[i], T, true, half);
    for (int p = first; p < end; ++p) {
        double column[36] = { 0.0 };
        addProduct(column, between[p], false, T);
        for (int k = 0; k < 36; ++k) {
            between[p][k] = -column[k];
        }
    }
}

void tpMechanism_Invert(const tpMechanism* mechanism, double (*inverses)[36],
                        double (*between)[36]) {
    for (int i = mechanism->nodeCount - 1; i >= 0; --i) {
        invertColumn(mechanism, i, inverses, between);
    }
}
