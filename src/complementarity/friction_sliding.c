#include "complementarity/friction_sliding.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "math/pairs.h"

// A contact that slides, at the impulses and velocities of now.
typedef struct SlidingLook {
    int first, rows;              // its tangential rows, among those that slide
    double normal, rho;           // its normal impulse; impulse per velocity
    double hat[tp_statedRowRoom]; // r - rho u
    double length, ratio;         // of hat; the part of hat that is within the bound
    bool sticks;                  // all of it is
} SlidingLook;

// By W and not by S, in which nothing may be left of a row that others hold.
static double stiffnessOf(const tpFrictionStates* states, const tpStatedContact* contact,
                          int lead) {
    double trace = 0.0;
    for (int i = lead; i < contact->rows; ++i) {
        trace += states->W[(size_t)(contact->row + i) * ((size_t)states->rowCount + 1)];
    }
    return trace > 0.0 ? (contact->rows - lead) / trace : 1.0;
}

static SlidingLook lookAt(const tpSliding* sliding, const tpStatedContact* contact, double normal) {
    int lead = contact->isDrive ? 0 : 1; // rows before those that slide
    SlidingLook look = { .first = contact->slidingPlace,
                         .rows = contact->rows - lead,
                         .normal = normal,
                         .rho = stiffnessOf(sliding->states, contact, lead) };
    double radius = contact->isDrive ? contact->bound : fmax(contact->mu * normal, 0.0);
    double square = 0.0;
    for (int i = 0; i < look.rows; ++i) {
        look.hat[i] = sliding->r[look.first + i] - look.rho * sliding->u[look.first + i];
        square += look.hat[i] * look.hat[i];
    }
    look.length = sqrt(square);
    look.sticks = look.length <= radius;
    look.ratio = look.sticks ? 1.0 : radius / look.length;
    return look;
}

// How far it is from its law along one of its rows, as an impulse.
static double missOf(const tpSliding* sliding, const SlidingLook* look, int i) {
    return sliding->r[look->first + i] - look->ratio * look->hat[i];
}

// Writes Newton's rows of a contact.
static void writeRows(const tpSliding* sliding, const tpStatedContact* contact,
                      const SlidingLook* look) {
    const tpFrictionStates* states = sliding->states;
    int first = look->first, rows = look->rows, count = sliding->count;
    const double* hat = look->hat;
    double unit = look->length > 0.0 ? 1.0 / look->length : 0.0;
    for (int i = 0; i < rows; ++i) {
        double* restrict J = sliding->J + (size_t)(first + i) * tpDense_Stride(count);
        double outward = look->sticks || look->normal <= 0.0 ? 0.0 : contact->mu * hat[i] * unit;
        memset(J, 0, sizeof(double) * (size_t)count);
        // The normal impulse follows what slides.
        const double* follows =
            outward != 0.0 ? tpFrictionStates_Follows(states, contact->heldPlace) : NULL;
        for (int k = 0; follows != NULL && k < count; ++k) {
            J[k] = outward * follows[k];
        }
        J[first + i] += 1.0 + fmax(tp_leastSlidingPivot, states->shift);
        for (int j = 0; j < rows; ++j) {
            double part = look->sticks ? 0.0 : hat[i] * unit * hat[j] * unit;
            double along = look->ratio * ((i == j ? 1.0 : 0.0) - part);
            const double* restrict S = states->S + (first + j) * count;
            double factor = along * look->rho;
            J[first + j] -= along;
            for (int k = 0; k < count; ++k) {
                J[k] += factor * S[k];
            }
        }
        J[tpDense_Stride(count) - 1] = 0.0; // the place after the right-hand side, if there is one
        J[count] = -missOf(sliding, look, i);
    }
}

// The normal impulse of a contact that slides, after these changes.
static double normalOf(const tpSliding* sliding, const tpStatedContact* contact,
                       const double* change) {
    const tpFrictionStates* states = sliding->states;
    if (contact->isDrive) {
        return 0.0;
    }
    return states->solved[contact->row] + states->heldChange[contact->heldPlace] -
           tpDotNumbers(sliding->count, change,
                        tpFrictionStates_Follows(states, contact->heldPlace));
}

double tpSliding_Look(const tpSliding* sliding, const double* change, bool writes) {
    const tpFrictionStates* states = sliding->states;
    double most = 0.0;
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        if (!contact->isDrive && contact->state != tp_slidingContact) {
            continue;
        }
        SlidingLook look = lookAt(sliding, contact, normalOf(sliding, contact, change));
        double miss = 0.0;
        for (int i = 0; i < look.rows; ++i) {
            double velocity = missOf(sliding, &look, i) / look.rho;
            miss += velocity * velocity;
        }
        most = fmax(most, sqrt(miss));
        if (writes) {
            writeRows(sliding, contact, &look);
        }
    }
    return most;
}
