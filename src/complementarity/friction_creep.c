#include "complementarity/friction_creep.h"

#include <math.h>
#include <string.h>

#include "math/dense_lu.h"
#include "math/elementary.h"

enum { mostHalvings = 5 };

// A contact that holds creeps with this part of the largest response: rows that nothing else moves
// leave S singular.
static const double noCreep = 1e-13;

// Steps of the logarithm of lambda are no longer than this.
static const double longestStep = 5.0;

// Parts of the bounds that count as met.
static const double tolerance = 1e-10;

typedef struct Creep {
    int rows, count;
    const double *S, *b;
    const tpCreepingContact* contacts;
    size_t stride;
    double least;                                        // lambda of what holds
    double A[tp_mostCreepingRows * tp_mostCreepingRows]; // S + Lambda, then its factors
    int pivots[tp_mostCreepingRows];
    double lambda[tp_mostCreepingContacts];
    double r[tp_mostCreepingRows];
    double length[tp_mostCreepingContacts], bound[tp_mostCreepingContacts];
    double slopes[tp_mostCreepingContacts][tp_mostCreepingRows]; // of r, by each log lambda
} Creep;

// Impulses for the lambdas, and how far they are from their bounds. False if there are none.
static bool findImpulses(Creep* creep) {
    int n = creep->rows;
    memcpy(creep->A, creep->S, sizeof(double) * (size_t)n * (size_t)n);
    for (int c = 0; c < creep->count; ++c) {
        for (int i = 0; i < creep->contacts[c].rows; ++i) {
            creep->A[(creep->contacts[c].first + i) * (n + 1)] += creep->lambda[c];
        }
    }
    if (!tpDenseLu_Factorise(n, creep->A, creep->pivots)) {
        return false;
    }
    memcpy(creep->r, creep->b, sizeof(double) * (size_t)n);
    tpDenseLu_Solve(n, creep->A, creep->pivots, creep->r);
    bool isAll = true;
    for (int c = 0; c < creep->count; ++c) {
        const tpCreepingContact* contact = &creep->contacts[c];
        double square = 0.0, normal = contact->normal;
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            square += creep->r[i] * creep->r[i];
        }
        for (int k = 0; k < n; ++k) {
            normal -= contact->follows[(size_t)k * creep->stride] * creep->r[k];
        }
        creep->length[c] = sqrt(square);
        creep->bound[c] = contact->mu * normal;
        isAll = isAll && creep->bound[c] > 0.0 && creep->length[c] > 0.0 && isfinite(square);
    }
    return isAll;
}

static bool slides(const Creep* creep, int c) {
    return creep->lambda[c] > creep->least || creep->length[c] > creep->bound[c];
}

// How far a contact is from its law, as the logarithm of its impulse over its bound.
static double missOf(const Creep* creep, int c) {
    return slides(creep, c) ? tpLog(creep->length[c] / creep->bound[c]) : 0.0;
}

static double wholeMiss(const Creep* creep) {
    double square = 0.0;
    for (int c = 0; c < creep->count; ++c) {
        double miss = missOf(creep, c);
        square += miss * miss;
    }
    return sqrt(square);
}

static void findSlopes(Creep* creep) {
    for (int k = 0; k < creep->count; ++k) {
        const tpCreepingContact* contact = &creep->contacts[k];
        memset(creep->slopes[k], 0, sizeof(double) * (size_t)creep->rows);
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            creep->slopes[k][i] = -creep->lambda[k] * creep->r[i];
        }
        tpDenseLu_Solve(creep->rows, creep->A, creep->pivots, creep->slopes[k]);
    }
}

// How the miss of a contact changes with the logarithm of one of the lambdas.
static double slopeOf(const Creep* creep, int c, int k) {
    const tpCreepingContact* contact = &creep->contacts[c];
    const double* by = creep->slopes[k];
    double bound = 0.0, along = 0.0;
    for (int i = 0; i < creep->rows; ++i) {
        bound -= contact->mu * contact->follows[(size_t)i * creep->stride] * by[i];
    }
    for (int i = contact->first; i < contact->first + contact->rows; ++i) {
        along += creep->r[i] * by[i];
    }
    return along / (creep->length[c] * creep->length[c]) - bound / creep->bound[c];
}

// Newton's step on the logarithms. False if it is none.
static bool findStep(Creep* creep, double* step) {
    int m = creep->count, pivots[tp_mostCreepingContacts];
    double J[tp_mostCreepingContacts * tp_mostCreepingContacts];
    findSlopes(creep);
    for (int c = 0; c < m; ++c) {
        bool isOne = slides(creep, c);
        step[c] = -missOf(creep, c);
        for (int k = 0; k < m; ++k) {
            J[c * m + k] = isOne ? slopeOf(creep, c, k) : c == k ? 1.0 : 0.0;
        }
        // Of what all but holds the slope is next to nothing.
        J[c * m + c] -= isOne ? 1e-9 : 0.0;
    }
    if (!tpDenseLu_Factorise(m, J, pivots)) {
        return false;
    }
    tpDenseLu_Solve(m, J, pivots, step);
    for (int c = 0; c < m; ++c) {
        if (!isfinite(step[c])) {
            return false;
        }
        step[c] = fmin(fmax(step[c], -longestStep), longestStep);
    }
    return true;
}

static void goOn(Creep* creep, const double* from, const double* step, double part) {
    for (int c = 0; c < creep->count; ++c) {
        creep->lambda[c] = fmax(from[c] * tpExp(part * step[c]), creep->least);
    }
}

// Takes a step that leaves less than before, or a short one.
static bool takeStep(Creep* creep) {
    double from[tp_mostCreepingContacts], step[tp_mostCreepingContacts];
    if (!findStep(creep, step)) {
        return false;
    }
    double before = wholeMiss(creep), part = 1.0;
    memcpy(from, creep->lambda, sizeof(from));
    for (int k = 0; k <= mostHalvings; ++k, part *= 0.5) {
        goOn(creep, from, step, part);
        if (findImpulses(creep) && wholeMiss(creep) < before) {
            return true;
        }
    }
    return findImpulses(creep);
}

bool tpFriction_Creep(int rows, const double* S, const double* b, int count,
                      const tpCreepingContact* contacts, size_t stride, int steps, double* r) {
    if (rows > tp_mostCreepingRows || count > tp_mostCreepingContacts) {
        return false;
    }
    Creep creep; // large: what is read is written first
    creep.rows = rows;
    creep.count = count;
    creep.S = S;
    creep.b = b;
    creep.contacts = contacts;
    creep.stride = stride;
    double largest = 0.0;
    for (int i = 0; i < rows; ++i) {
        largest = fmax(largest, S[i * (rows + 1)]);
    }
    creep.least = noCreep * largest;
    // From above, where all rows answer to lambda alone.
    for (int c = 0; c < count; ++c) {
        double square = 0.0, bound = contacts[c].mu * contacts[c].normal;
        for (int i = contacts[c].first; i < contacts[c].first + contacts[c].rows; ++i) {
            square += b[i] * b[i];
        }
        creep.lambda[c] = fmax(bound > 0.0 ? sqrt(square) / bound : largest, creep.least);
    }
    if (!(largest > 0.0) || !findImpulses(&creep)) {
        return false;
    }
    for (int step = 0; step < steps && wholeMiss(&creep) > tolerance; ++step) {
        if (!takeStep(&creep)) {
            return false;
        }
    }
    if (!(wholeMiss(&creep) <= tolerance)) {
        return false;
    }
    memcpy(r, creep.r, sizeof(double) * (size_t)rows);
    return true;
}
