#include "complementarity/friction_sliding.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// By W and not by S, in which nothing may be left of a row that others hold.
static double responseOf(const tpFrictionStates* states, const tpStatedContact* contact, int lead) {
    double trace = 0.0;
    for (int i = lead; i < contact->rows; ++i) {
        trace += states->W[(size_t)(contact->row + i) * ((size_t)states->rowCount + 1)];
    }
    return trace > 0.0 ? trace / (contact->rows - lead) : 1.0;
}

void tpSliding_Open(tpSliding* sliding) {
    const tpFrictionStates* states = sliding->states;
    sliding->lookCount = 0;
    sliding->arePlain = true;
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        if (!contact->isDrive && contact->state != tp_slidingContact) {
            continue;
        }
        int lead = contact->isDrive ? 0 : 1; // rows before those that slide
        tpSlidingLook* look = &states->looks[sliding->lookCount++];
        look->first = contact->slidingPlace;
        look->rows = contact->rows - lead;
        look->isDrive = contact->isDrive;
        sliding->arePlain = sliding->arePlain && !look->isDrive && look->rows == 2;
        look->mu = contact->mu;
        look->bound = contact->bound;
        look->speed = responseOf(states, contact, lead);
        look->rho = 1.0 / look->speed;
        look->follows = NULL;
        look->start = 0.0;
        if (!contact->isDrive) {
            look->follows = tpFrictionStates_Follows(states, contact->heldPlace);
            look->start = states->solved[contact->row] + states->heldChange[contact->heldPlace];
        }
    }
}

// How far it is from its law along one of its rows, as an impulse.
static inline double missOf(const tpSliding* sliding, const tpSlidingLook* look, int i) {
    return sliding->r[look->first + i] - look->ratio * look->hat[i];
}

// Returns the square of how far the contact is from its law, m/s.
static double lookAt(const tpSliding* sliding, const double* change, tpSlidingLook* look) {
    double sum = 0.0, radius = look->bound;
    if (!look->isDrive) {
        for (int k = 0; k < sliding->count; ++k) {
            sum += change[k] * look->follows[k];
        }
        look->normal = look->start - sum;
        radius = look->mu * look->normal;
        radius = radius > 0.0 ? radius : 0.0;
    }
    double square = 0.0;
    for (int i = 0; i < look->rows; ++i) {
        look->hat[i] = sliding->r[look->first + i] - look->rho * sliding->u[look->first + i];
        square += look->hat[i] * look->hat[i];
    }
    look->sticks = square <= radius * radius;
    look->length = sqrt(square);
    look->ratio = look->sticks ? 1.0 : radius / look->length;
    double miss = 0.0;
    for (int i = 0; i < look->rows; ++i) {
        double velocity = missOf(sliding, look, i) * look->speed;
        miss += velocity * velocity;
    }
    return miss;
}

double tpSliding_Look(const tpSliding* sliding, const double* change) {
    double most = 0.0;
    for (int c = 0; c < sliding->lookCount; ++c) {
        double miss = lookAt(sliding, change, &sliding->states->looks[c]);
        most = miss > most || isnan(miss) ? miss : most;
    }
    return sqrt(most);
}

// Newton's rows of a contact, and their right-hand side. Inlined for the sizes that are known.
static inline __attribute__((always_inline)) void writeRows(const tpSliding* sliding,
                                                            const tpSlidingLook* look, int rows,
                                                            int count, size_t stride,
                                                            double* restrict at) {
    const tpFrictionStates* states = sliding->states;
    int first = look->first;
    double unit = look->length > 0.0 ? 1.0 / look->length : 0.0;
    bool slides = !look->isDrive && !look->sticks && look->normal > 0.0;
    double shift = states->shift > tp_leastSlidingPivot ? states->shift : tp_leastSlidingPivot;
    double turned[tp_statedRowRoom];
    for (int i = 0; i < rows; ++i) {
        turned[i] = look->sticks ? 0.0 : look->hat[i] * unit;
    }
    for (int i = 0; i < rows; ++i) {
        double* restrict J = at + (size_t)i * stride;
        // The normal impulse follows what slides.
        double outward = slides ? look->mu * turned[i] : 0.0;
        for (int k = 0; k < count; ++k) {
            J[k] = slides ? outward * look->follows[k] : 0.0;
        }
        J[first + i] += 1.0 + shift;
        for (int j = 0; j < rows; ++j) {
            double along = look->ratio * ((i == j ? 1.0 : 0.0) - turned[i] * turned[j]);
            const double* restrict S = states->S + (first + j) * count;
            double factor = along * look->rho;
            J[first + j] -= along;
            for (int k = 0; k < count; ++k) {
                J[k] += factor * S[k];
            }
        }
        J[stride - 1] = 0.0; // the place after the right-hand side, if there is one
        J[count] = -missOf(sliding, look, i);
    }
}

// A column of Newton's matrix with the largest number in the way of the others.
static inline __attribute__((always_inline)) bool eliminate(int k, int count, int stride,
                                                            double* J) {
    int best = k;
    for (int i = k + 1; i < count; ++i) {
        best = fabs(J[i * stride + k]) > fabs(J[best * stride + k]) ? i : best;
    }
    double *own = J + k * stride, *other = J + best * stride;
    for (int c = k; best != k && c <= count; ++c) {
        double swap = own[c];
        own[c] = other[c];
        other[c] = swap;
    }
    if (!(fabs(own[k]) > 0.5 * tp_leastSlidingPivot)) {
        return false;
    }
    double inverse = 1.0 / own[k];
    for (int i = k + 1; i < count; ++i) {
        double* row = J + i * stride;
        double by = row[k] * inverse;
        for (int c = k + 1; c <= count; ++c) {
            row[c] -= by * own[c];
        }
    }
    own[k] = inverse;
    return true;
}

// One or two contacts, in registers as far as they go.
static inline __attribute__((always_inline)) bool findFew(const tpSliding* sliding, int count,
                                                          double* step) {
    double J[4 * 5];
    int stride = count + 1;
    for (int c = 0; 2 * c < count; ++c) {
        writeRows(sliding, &sliding->states->looks[c], 2, count, (size_t)stride,
                  J + 2 * c * stride);
    }
    for (int k = 0; k < count; ++k) {
        if (!eliminate(k, count, stride, J)) {
            return false;
        }
    }
    for (int k = count - 1; k >= 0; --k) {
        double sum = J[k * stride + count];
        for (int c = k + 1; c < count; ++c) {
            sum -= J[k * stride + c] * step[c];
        }
        step[k] = sum * J[k * stride + k];
    }
    return true;
}

bool tpSliding_FindStep(const tpSliding* sliding, double* step) {
    int count = sliding->count;
    if (sliding->arePlain && count == 2) {
        return findFew(sliding, 2, step);
    }
    if (sliding->arePlain && count == 4) {
        return findFew(sliding, 4, step);
    }
    size_t stride = tpDense_Stride(count);
    for (int c = 0; c < sliding->lookCount; ++c) {
        const tpSlidingLook* look = &sliding->states->looks[c];
        writeRows(sliding, look, look->rows, count, stride,
                  sliding->J + (size_t)look->first * stride);
    }
    if (!tpDense_Eliminate(count, sliding->J, sliding->states->pivots,
                           0.5 * tp_leastSlidingPivot)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        step[i] = sliding->J[(size_t)i * stride + (size_t)count];
    }
    return true;
}
