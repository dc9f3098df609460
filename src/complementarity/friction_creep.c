#include "complementarity/friction_creep.h"

#include <math.h>
#include <string.h>

#include "math/dense_lu.h"
#include "math/elementary.h"
#include "math/pairs.h"

// Halvings of a step, and steps after the path.
enum { mostHalvings = 5, mostFinish = 12 };

// A contact that holds creeps with this part of the largest response: rows that nothing else moves
// leave S singular.
static const double noCreep = 1e-13;

// Steps of the logarithm of lambda are no longer than this.
static const double longestStep = 5.0;

// Parts of the bounds that count as met, and those that do if rounding leaves no less: contacts
// that answer with a billionth of the largest response know their impulses to a millionth of it.
static const double tolerance = 1e-10, roundedTolerance = 1e-6;

typedef struct Creep {
    int rows, count;
    const double *S, *b;
    const tpCreepingContact* contacts;
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
            normal -= contact->follows[k] * creep->r[k];
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
        bound -= contact->mu * contact->follows[i] * by[i];
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

// Newton's steps from the lambdas of now. Whether they have come to the law.
static bool finish(Creep* creep, int steps) {
    double before = INFINITY, miss = wholeMiss(creep);
    for (int step = 0; step < steps && miss > tolerance; ++step) {
        if (miss <= roundedTolerance && miss > 0.5 * before) {
            break;
        }
        if (!takeStep(creep)) {
            return false;
        }
        before = miss;
        miss = wholeMiss(creep);
    }
    return miss <= roundedTolerance;
}

// The path from inside ----------------------------------------------------------------------------

enum { mostPathSteps = 40 };

// Where the path begins, of the lambdas that all rows answer to.
static const double firstPart = 1e-2;

// Products of lambda and slack become smaller by no more than this, and by this if the step before
// was cut short.
static const double mostGain = 0.003, leastGain = 0.9;

// Of the way to where a lambda or a slack would be none.
static const double mostWay = 0.98;

// The path ends once equations hold to this part, and each contact either slides, with a slack
// below this part of its bound, or holds, with a lambda below this part of the largest response.
static const double pathTolerance = 1e-3, slidingSlack = 1e-5, holdingLambda = 1e-11;

typedef struct CreepPath {
    double slack[tp_mostCreepingContacts];  // half of bound^2 - |r|^2, along the path
    double actual[tp_mostCreepingContacts]; // what it is
    double grad[tp_mostCreepingContacts][tp_mostCreepingRows]; // of that, by r
    double residual[tp_mostCreepingRows];                      // (S + Lambda) r - b
    double gap;                                                // mean of lambda times slack
    double largest;                                            // response
} CreepPath;

// Slacks and bounds for the impulses of now.
static void lookAtBounds(Creep* creep, CreepPath* path) {
    int n = creep->rows;
    path->gap = 0.0;
    for (int c = 0; c < creep->count; ++c) {
        const tpCreepingContact* contact = &creep->contacts[c];
        double normal = contact->normal, square = 0.0;
        for (int k = 0; k < n; ++k) {
            normal -= contact->follows[k] * creep->r[k];
        }
        double bound = contact->mu * normal;
        for (int k = 0; k < n; ++k) {
            path->grad[c][k] = -bound * contact->mu * contact->follows[k];
        }
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            square += creep->r[i] * creep->r[i];
            path->grad[c][i] -= creep->r[i];
        }
        path->actual[c] = 0.5 * (bound * bound - square);
        path->gap += creep->lambda[c] * path->slack[c] / creep->count;
        creep->bound[c] = bound;
        creep->length[c] = sqrt(square);
    }
}

// The residual of the equations, by the largest number of b.
static double lookAtEquations(Creep* creep, CreepPath* path) {
    int n = creep->rows;
    double size = 0.0, rest = 0.0;
    for (int i = 0; i < n; ++i) {
        path->residual[i] =
            tpDotNumbers(n, creep->S + (size_t)i * (size_t)n, creep->r) - creep->b[i];
        size = fmax(size, fabs(creep->b[i]));
    }
    for (int c = 0; c < creep->count; ++c) {
        const tpCreepingContact* contact = &creep->contacts[c];
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            path->residual[i] += creep->lambda[c] * creep->r[i];
            rest = fmax(rest, fabs(path->residual[i]));
        }
    }
    return size > 0.0 ? rest / size : 0.0;
}

// Whether each contact is known to slide or to hold.
static bool isAtEnd(const Creep* creep, const CreepPath* path) {
    for (int c = 0; c < creep->count; ++c) {
        double square = creep->bound[c] * creep->bound[c];
        bool slides = path->slack[c] < slidingSlack * square;
        bool holds = creep->lambda[c] < holdingLambda * path->largest;
        bool isNear = fabs(path->actual[c] - path->slack[c]) < pathTolerance * square;
        if (!isNear || !(slides || holds) || !(creep->bound[c] > 0.0)) {
            return false;
        }
    }
    return true;
}

// Newton's step to products of `product`; slacks and lambdas are eliminated. False if it is none.
static bool findPathStep(Creep* creep, const CreepPath* path, double product, double* way) {
    int n = creep->rows;
    memcpy(creep->A, creep->S, sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; ++i) {
        way[i] = -path->residual[i];
    }
    for (int c = 0; c < creep->count; ++c) {
        const tpCreepingContact* contact = &creep->contacts[c];
        double ratio = creep->lambda[c] / path->slack[c];
        double by = (product - creep->lambda[c] * path->actual[c]) / path->slack[c];
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            creep->A[i * (n + 1)] += creep->lambda[c];
            tpAddNumbers(n, -ratio * creep->r[i], path->grad[c], creep->A + (size_t)i * (size_t)n);
            way[i] -= creep->r[i] * by;
        }
    }
    if (!tpDenseLu_Factorise(n, creep->A, creep->pivots)) {
        return false;
    }
    tpDenseLu_Solve(n, creep->A, creep->pivots, way);
    return true;
}

// Goes along the way as far as lambdas and slacks stay positive. Returns the part of it.
static double goAlongPath(Creep* creep, CreepPath* path, double product, const double* way) {
    double slacks[tp_mostCreepingContacts], lambdas[tp_mostCreepingContacts], part = 1.0;
    for (int c = 0; c < creep->count; ++c) {
        double along = tpDotNumbers(creep->rows, path->grad[c], way);
        double lambda = creep->lambda[c], slack = path->slack[c];
        slacks[c] = along + path->actual[c] - slack;
        lambdas[c] = (product - lambda * path->actual[c] - lambda * along) / slack;
        part = slacks[c] < 0.0 ? fmin(part, -mostWay * slack / slacks[c]) : part;
        part = lambdas[c] < 0.0 ? fmin(part, -mostWay * lambda / lambdas[c]) : part;
    }
    tpAddNumbers(creep->rows, part, way, creep->r);
    for (int c = 0; c < creep->count; ++c) {
        path->slack[c] += part * slacks[c];
        creep->lambda[c] += part * lambdas[c];
    }
    return part;
}

// Lambdas near those of the law, from inside of all bounds. False if the path was lost.
static bool followPath(Creep* creep, double largest) {
    CreepPath path; // large: what is read is written first
    path.largest = largest;
    double way[tp_mostCreepingRows], part = 1.0;
    memset(creep->r, 0, sizeof(double) * (size_t)creep->rows);
    for (int c = 0; c < creep->count; ++c) {
        double bound = creep->contacts[c].mu * creep->contacts[c].normal;
        path.slack[c] = 0.5 * bound * bound;
        creep->lambda[c] *= firstPart;
        if (!(bound > 0.0)) {
            return false;
        }
    }
    for (int step = 0; step < mostPathSteps; ++step) {
        lookAtBounds(creep, &path);
        double rest = lookAtEquations(creep, &path);
        if (rest < pathTolerance && isAtEnd(creep, &path)) {
            return true;
        }
        double cut = (1.0 - part) * (1.0 - part);
        double product = fmin(fmax(cut, mostGain), leastGain) * path.gap;
        if (!findPathStep(creep, &path, product, way)) {
            return false;
        }
        part = goAlongPath(creep, &path, product, way);
    }
    return false;
}

// Lambdas from above, with which all rows answer to them alone.
static void beginAbove(Creep* creep, double largest) {
    for (int c = 0; c < creep->count; ++c) {
        const tpCreepingContact* contact = &creep->contacts[c];
        double square = 0.0, bound = contact->mu * contact->normal;
        for (int i = contact->first; i < contact->first + contact->rows; ++i) {
            square += creep->b[i] * creep->b[i];
        }
        creep->lambda[c] = fmax(bound > 0.0 ? sqrt(square) / bound : largest, creep->least);
    }
}

// Contacts at the end of the path whose lambda is next to nothing hold.
static void holdWhatHolds(Creep* creep, double largest) {
    for (int c = 0; c < creep->count; ++c) {
        bool holds = creep->lambda[c] < holdingLambda * largest;
        creep->lambda[c] = holds ? creep->least : fmax(creep->lambda[c], creep->least);
    }
}

bool tpFriction_Creep(int rows, const double* S, const double* b, int count,
                      const tpCreepingContact* contacts, int steps, double* r) {
    if (rows > tp_mostCreepingRows || count > tp_mostCreepingContacts) {
        return false;
    }
    Creep creep; // large: what is read is written first
    creep.rows = rows;
    creep.count = count;
    creep.S = S;
    creep.b = b;
    creep.contacts = contacts;
    double largest = 0.0;
    for (int i = 0; i < rows; ++i) {
        largest = fmax(largest, S[i * (rows + 1)]);
    }
    creep.least = noCreep * largest;
    if (!(largest > 0.0)) {
        return false;
    }
    beginAbove(&creep, largest);
    bool isFound = followPath(&creep, largest);
    if (isFound) {
        holdWhatHolds(&creep, largest);
        isFound = findImpulses(&creep) && finish(&creep, mostFinish);
    }
    if (!isFound) {
        beginAbove(&creep, largest);
        isFound = findImpulses(&creep) && finish(&creep, steps);
    }
    if (isFound) {
        memcpy(r, creep.r, sizeof(double) * (size_t)rows);
    }
    return isFound;
}
