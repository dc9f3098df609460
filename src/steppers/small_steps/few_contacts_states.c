// Newton's method on few contacts, by what each of them does.
//
// Contacts are open, stick or slide. Rows that have no velocity, all of those that stick and the
// normal ones of those that slide, are eliminated: with H these rows and T the tangential rows of
// contacts that slide,
//
//     r_H = -W_HH^-1 (q_H + W_HT r_T),     u_T = S r_T + ...,   S = W_TT - W_TH W_HH^-1 W_HT
//
// and what is left, r_T against u_T with |r_T| = mu r_n, is a problem of a few rows, on which
// Newton's method with Alart and Curnier's function takes next to nothing (friction_newton.c). The
// factors of W_HH and S last as long as W does and contacts do the same: over all substeps of a
// step that turns little. Then contacts are looked at: one that pulls opens, one that goes into the
// other body sticks, one that sticks beyond its cone slides, until nothing changes.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "steppers/small_steps/few_contacts.h"

// Rounds in which contacts find out what they do; Newton's steps in each, of which more would be
// for nothing as long as they do not know; sweeps if that does not get there, and if nothing does.
enum { mostRounds = 4, mostSteps = 4, someSweeps = 10, mostSweeps = 40 };

// Contacts may share a load in many ways: the diagonal of W_HH is larger by this part, and what
// that leaves is taken up by another round.
static const double shift = 1e-9;

// Rows along which nothing moves are left as they are.
static const double leastPivot = 1e-13;

// A contact whose friction is within this part of its bound slides.
static const double onCone = 1e-6;

static double frictionOf(const tpFewContact* contact, const double* r) {
    double square = 0.0;
    for (int i = 1; i < contact->rows; ++i) {
        square += r[i] * r[i];
    }
    return sqrt(square);
}

tpFewContactState tpFewContact_StateOf(const tpFewContact* contact, const double* r) {
    if (!(r[0] > 0.0)) {
        return tp_openContact;
    }
    double friction = frictionOf(contact, r), bound = contact->muDynamic * r[0];
    bool slides = contact->rows > 1 && fabs(friction - bound) <= onCone * bound;
    return slides ? tp_slidingContact : tp_stickingContact;
}

// Whether a contact with these impulses and velocities meets its law, to a velocity that is
// allowed. Any factor between impulses and velocities will do: this one lets friction follow the
// velocity from where it is known to.
static bool isMet(const tpFewContact* contact, const double* r, const double* u, double allowed) {
    if (!(r[0] > 0.0)) {
        return u[0] >= -allowed && r[0] == 0.0 && frictionOf(contact, r) == 0.0;
    }
    double speed = frictionOf(contact, u), friction = frictionOf(contact, r), power = 0.0;
    for (int i = 1; i < contact->rows; ++i) {
        power += r[i] * u[i];
    }
    if (fabs(u[0]) > allowed || friction > contact->muStatic * r[0] * (1.0 + 1e-12)) {
        return false;
    }
    // It sticks, or slides against its friction.
    double bound = contact->muDynamic * r[0];
    return speed <= allowed ||
           (fabs(friction - bound) <= 1e-12 * bound && power < 0.0 &&
            power * power >= (1.0 - 1e-16) * friction * friction * speed * speed);
}

bool tpFewContacts_AreMet(const tpFewContacts* few, double allowed) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        if (!isMet(contact, few->r + contact->row, few->u + contact->row, allowed)) {
            return false;
        }
    }
    return true;
}

// Factors -----------------------------------------------------------------------------------------

static void listRows(tpFewContacts* few) {
    few->heldCount = few->slidingCount = 0;
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        if (contact->state == tp_openContact) {
            continue;
        }
        contact->heldPlace = few->heldCount;
        contact->slidingPlace = few->slidingCount;
        few->heldRows[few->heldCount++] = contact->row;
        for (int i = 1; i < contact->rows; ++i) {
            if (contact->state == tp_slidingContact) {
                few->slidingRows[few->slidingCount++] = contact->row + i;
            } else {
                few->heldRows[few->heldCount++] = contact->row + i;
            }
        }
    }
}

static inline double dot(int n, const double* x, const double* y) {
    double even = 0.0, odd = 0.0;
    int i = 0;
    for (; i + 1 < n; i += 2) {
        even += x[i] * y[i];
        odd += x[i + 1] * y[i + 1];
    }
    return even + odd + (i < n ? x[i] * y[i] : 0.0);
}

// L D L' of W_HH: row i of L begins at i (i + 1) / 2, with 1 / D at its end.
static void factoriseHeld(tpFewContacts* few) {
    double* row = few->factor;
    for (int i = 0; i < few->heldCount; row += ++i) {
        const double* W = few->W + (size_t)few->heldRows[i] * (size_t)few->rowCount;
        const double* other = few->factor;
        for (int j = 0; j < i; other += ++j) {
            row[j] = W[few->heldRows[j]] - dot(j, row, other); // times D as yet
        }
        double own = W[few->heldRows[i]], pivot = own * (1.0 + shift);
        const double* inverse = few->factor;
        for (int k = 0; k < i; inverse += ++k + 1) {
            double scaled = row[k] * *inverse;
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        pivot = pivot > shift * own ? pivot : shift * own;
        row[i] = pivot > 0.0 ? 1.0 / pivot : 0.0; // 0: nothing moves along it
    }
}

// x = W_HH^-1 x
static void solveHeld(const tpFewContacts* few, double* restrict x) {
    const double* restrict row = few->factor;
    for (int i = 0; i < few->heldCount; row += ++i) {
        x[i] -= dot(i, row, x);
    }
    const double* inverse = few->factor;
    for (int i = 0; i < few->heldCount; inverse += ++i + 1) {
        x[i] *= *inverse;
    }
    for (int i = few->heldCount - 1; i > 0; --i) {
        row = few->factor + i * (i + 1) / 2;
        double by = x[i];
        for (int k = 0; k < i; ++k) {
            x[k] -= row[k] * by;
        }
    }
}

// Columns of W_HH^-1 W_HT, and S.
static void condense(tpFewContacts* few) {
    int held = few->heldCount, sliding = few->slidingCount;
    size_t n = (size_t)few->rowCount;
    for (int j = 0; j < sliding; ++j) {
        const double* W = few->W + (size_t)few->slidingRows[j] * n;
        double* column = few->columns + (size_t)j * (size_t)held;
        for (int i = 0; i < held; ++i) {
            few->heldChange[i] = column[i] = W[few->heldRows[i]];
        }
        solveHeld(few, column);
        for (int k = 0; k <= j; ++k) {
            double sum = W[few->slidingRows[k]] -
                         dot(held, few->heldChange, few->columns + (size_t)k * (size_t)held);
            few->S[j * sliding + k] = few->S[k * sliding + j] = sum;
        }
    }
}

static void factorise(tpFewContacts* few) {
    if (!few->isFactored) {
        listRows(few);
        factoriseHeld(few);
        condense(few);
        few->isFactored = true;
    }
}

// Changes of impulses -----------------------------------------------------------------------------

// Gives a row more impulse, in `solved` and `u`.
static void addToRow(tpFewContacts* few, int row, double change) {
    const double* restrict W = few->W + (size_t)row * (size_t)few->rowCount;
    double* restrict u = few->u;
    few->solved[row] += change;
    for (int i = 0; i < few->rowCount; ++i) {
        u[i] += change * W[i];
    }
}

// Contacts that have opened let go of their impulses.
static void letGo(tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        for (int i = 0; contact->state == tp_openContact && i < contact->rows; ++i) {
            int row = contact->row + i;
            if (few->solved[row] != 0.0) {
                addToRow(few, row, -few->solved[row]);
            }
        }
    }
}

// The changes of impulses that leave held rows no velocity, if nothing changes in the others.
static void stopHeld(tpFewContacts* few) {
    for (int i = 0; i < few->heldCount; ++i) {
        few->heldChange[i] = -few->u[few->heldRows[i]];
    }
    solveHeld(few, few->heldChange);
}

// The velocity of a row after these changes.
static double velocityAfter(const tpFewContacts* few, int row) {
    const double* W = few->W + (size_t)row * (size_t)few->rowCount;
    double sum = few->u[row];
    for (int i = 0; i < few->heldCount; ++i) {
        sum += W[few->heldRows[i]] * few->heldChange[i];
    }
    return sum;
}

// Sliding -----------------------------------------------------------------------------------------

// The small problem at work: impulses and velocities of the tangential rows, and Newton's matrix
// with the right-hand side last.
typedef struct Sliding {
    tpFewContacts* few;
    int count;
    double* r;
    double* u;
    double* J;
} Sliding;

// Writes Newton's rows of one contact with the normal impulse `normal`; returns how far it is from
// its law, m/s.
static double writeRows(const Sliding* sliding, const tpFewContact* contact, double normal) {
    const tpFewContacts* few = sliding->few;
    int first = contact->slidingPlace, rows = contact->rows - 1, count = sliding->count;
    double trace = 0.0, hat[tp_traceWidth], square = 0.0;
    // By W and not by S, in which nothing may be left of a row that others hold.
    for (int i = 1; i <= rows; ++i) {
        trace += few->W[(size_t)(contact->row + i) * ((size_t)few->rowCount + 1)];
    }
    double rho = trace > 0.0 ? rows / trace : 1.0, radius = fmax(contact->mu * normal, 0.0);
    for (int i = 0; i < rows; ++i) {
        hat[i] = sliding->r[first + i] - rho * sliding->u[first + i];
        square += hat[i] * hat[i];
    }
    double length = sqrt(square), miss = 0.0;
    bool sticks = length <= radius;
    double ratio = sticks ? 1.0 : radius / length, unit = length > 0.0 ? 1.0 / length : 0.0;
    for (int i = 0; i < rows; ++i) {
        double* restrict J = sliding->J + (first + i) * (count + 1);
        double F = sliding->r[first + i] - ratio * hat[i];
        double outward = sticks || normal <= 0.0 ? 0.0 : contact->mu * hat[i] * unit;
        for (int k = 0; k < count; ++k) {
            // The normal impulse follows what slides.
            J[k] = outward *
                   few->columns[(size_t)k * (size_t)few->heldCount + (size_t)contact->heldPlace];
        }
        J[first + i] += 1.0 + leastPivot;
        for (int j = 0; j < rows; ++j) {
            double part = sticks ? 0.0 : hat[i] * unit * hat[j] * unit;
            double along = ratio * ((i == j ? 1.0 : 0.0) - part);
            const double* restrict S = few->S + (first + j) * count;
            double factor = along * rho;
            J[first + j] -= along;
            for (int k = 0; k < count; ++k) {
                J[k] += factor * S[k];
            }
        }
        J[count] = -F;
        miss += F / rho * (F / rho);
    }
    return sqrt(miss);
}

// Solves J x = b, b being the last column, by elimination with row pivots; x takes the place of b.
// False if J is singular.
static bool eliminate(int count, double* J) {
    int width = count + 1;
    for (int k = 0; k < count; ++k) {
        int best = k;
        for (int i = k + 1; i < count; ++i) {
            best = fabs(J[i * width + k]) > fabs(J[best * width + k]) ? i : best;
        }
        double* restrict own = J + k * width;
        for (int c = k; best != k && c < width; ++c) {
            double swap = own[c];
            own[c] = J[best * width + c];
            J[best * width + c] = swap;
        }
        if (!(fabs(own[k]) > 0.5 * leastPivot)) {
            return false;
        }
        double inverse = 1.0 / own[k];
        for (int i = k + 1; i < count; ++i) {
            double* restrict row = J + i * width, factor = row[k] * inverse;
            for (int c = k + 1; factor != 0.0 && c < width; ++c) {
                row[c] -= factor * own[c];
            }
        }
    }
    for (int k = count - 1; k >= 0; --k) {
        double* own = J + k * width;
        for (int c = k + 1; c < count; ++c) {
            own[count] -= own[c] * J[c * width + count];
        }
        own[count] /= own[k];
    }
    return true;
}

// How far the contacts that slide are from their law; writes Newton's rows.
static double lookAtSliding(const Sliding* sliding, const double* change) {
    const tpFewContacts* few = sliding->few;
    double most = 0.0;
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        if (contact->state == tp_slidingContact) {
            double normal = few->solved[contact->row] + few->heldChange[contact->heldPlace];
            for (int k = 0; k < sliding->count; ++k) {
                normal -=
                    change[k] *
                    few->columns[(size_t)k * (size_t)few->heldCount + (size_t)contact->heldPlace];
            }
            most = fmax(most, writeRows(sliding, contact, normal));
        }
    }
    return most;
}

// Changes of impulses of contacts that slide, and of held rows with them. False if Newton's steps
// do not get there.
static bool slide(tpFewContacts* few, double allowed) {
    int count = few->slidingCount;
    double* change = few->change;
    Sliding sliding = { few, count, few->slidingScratch, few->slidingScratch + count,
                        few->slidingScratch + 2 * count };
    for (int i = 0; i < count; ++i) {
        sliding.r[i] = few->solved[few->slidingRows[i]];
        sliding.u[i] = velocityAfter(few, few->slidingRows[i]);
        change[i] = 0.0;
    }
    bool isSolved = lookAtSliding(&sliding, change) <= allowed;
    for (int step = 0; !isSolved && step < mostSteps; ++step) {
        if (!eliminate(count, sliding.J)) {
            break;
        }
        for (int i = 0; i < count; ++i) {
            double by = sliding.J[i * (count + 1) + count];
            change[i] += by;
            sliding.r[i] += by;
            for (int k = 0; k < count; ++k) {
                sliding.u[k] += by * few->S[i * count + k];
            }
        }
        isSolved = lookAtSliding(&sliding, change) <= allowed;
    }
    for (int j = 0; j < count; ++j) {
        const double* column = few->columns + (size_t)j * (size_t)few->heldCount;
        for (int i = 0; i < few->heldCount; ++i) {
            few->heldChange[i] -= change[j] * column[i];
        }
        addToRow(few, few->slidingRows[j], change[j]);
    }
    return isSolved;
}

// States ------------------------------------------------------------------------------------------

// What contacts do with the impulses of now: whether that is something else for one of them, and
// the largest velocity that is left in held rows.
static bool changeStates(tpFewContacts* few, double allowed, double* velocity) {
    bool isChanged = false;
    *velocity = 0.0;
    for (int i = 0; i < few->heldCount; ++i) {
        *velocity = fmax(*velocity, fabs(few->u[few->heldRows[i]]));
    }
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        const double* r = few->solved + contact->row;
        tpFewContactState state = contact->state;
        if (state == tp_openContact) {
            size_t diagonal = (size_t)contact->row * ((size_t)few->rowCount + 1);
            bool closes = few->u[contact->row] < -allowed && few->W[diagonal] > 0.0;
            state = closes ? tp_stickingContact : tp_openContact;
        } else if (!(r[0] > 0.0)) {
            state = tp_openContact;
        } else if (state == tp_stickingContact && contact->rows > 1 &&
                   frictionOf(contact, r) > contact->muStatic * r[0]) {
            state = tp_slidingContact;
        }
        isChanged = isChanged || state != contact->state;
        contact->state = state;
    }
    return isChanged;
}

// Contacts hold with the friction of sticking until they slide. Whether one has begun to.
static bool lowerFriction(tpFewContacts* few, double allowed) {
    bool isAny = false;
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        bool begins = contact->state == tp_slidingContact && contact->mu > contact->muDynamic &&
                      frictionOf(contact, few->u + contact->row) > allowed;
        contact->mu = begins ? contact->muDynamic : contact->mu;
        isAny = isAny || begins;
    }
    return isAny;
}

// What slid before goes on sliding; all others hold.
static void beginFriction(tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        bool slides = contact->muStatic > contact->muDynamic &&
                      contact->state == tp_slidingContact &&
                      tpFewContact_StateOf(contact, few->r + contact->row) == tp_slidingContact;
        contact->mu = slides ? contact->muDynamic : contact->muStatic;
    }
}

static bool solveByStates(tpFewContacts* few, double allowed) {
    beginFriction(few);
    for (int round = 0; round < mostRounds; ++round) {
        factorise(few);
        letGo(few);
        stopHeld(few);
        bool isSolved = few->slidingCount == 0 || slide(few, 0.5 * allowed);
        for (int i = 0; i < few->heldCount; ++i) {
            addToRow(few, few->heldRows[i], few->heldChange[i]);
        }
        double velocity = 0.0;
        bool isChanged = changeStates(few, allowed, &velocity);
        few->isFactored = !isChanged;
        isChanged = isChanged || (isSolved && lowerFriction(few, allowed));
        if (!isChanged && isSolved && velocity <= allowed) {
            return true;
        }
    }
    return false;
}

// Other ways --------------------------------------------------------------------------------------

static void sweep(tpFewContacts* few) {
    size_t n = (size_t)few->rowCount;
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double A[tp_traceWidth * tp_traceWidth], rest[tp_traceWidth], own[tp_traceWidth];
        for (int i = 0; i < contact->rows; ++i) {
            const double* W = few->W + (size_t)(contact->row + i) * n;
            rest[i] = few->q[contact->row + i] + dot(few->rowCount, W, few->solved) -
                      dot(contact->rows, W + contact->row, few->solved + contact->row);
            memcpy(A + i * contact->rows, W + contact->row, sizeof(double) * (size_t)contact->rows);
        }
        if (tpFriction_SolveOne(contact->rows, A, rest, few->mu[c], own)) {
            memcpy(few->solved + contact->row, own, sizeof(double) * (size_t)contact->rows);
        }
    }
}

// q = u - W r, q being u as it began.
static void findFree(const tpFewContacts* few) {
    size_t n = (size_t)few->rowCount;
    for (int i = 0; i < few->rowCount; ++i) {
        few->q[i] -= dot(few->rowCount, few->W + (size_t)i * n, few->r);
    }
}

// Contacts do what the impulses tell.
static void readStates(tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        contact->state = tpFewContact_StateOf(contact, few->solved + contact->row);
    }
    few->isFactored = false;
}

// Sweeps from r, and the states that they lead to.
static void sweepFrom(tpFewContacts* few, int count) {
    size_t n = (size_t)few->rowCount;
    memcpy(few->solved, few->r, sizeof(double) * n);
    for (int c = 0; c < few->contactCount; ++c) {
        few->mu[c] = few->contacts[c].muDynamic;
    }
    for (int k = 0; k < count; ++k) {
        sweep(few);
    }
    for (int i = 0; i < few->rowCount; ++i) {
        few->u[i] = few->q[i] + dot(few->rowCount, few->W + (size_t)i * n, few->solved);
    }
    readStates(few);
}

// By the solver of small dense problems, from r. False if that does not get there.
static bool solveDense(tpFewContacts* few, double allowed, tpArena* arena) {
    int iterations = 0;
    double work = 0.0;
    tpMatrix W = tpDenseMatrix(few->rowCount, few->rowCount, few->W);
    tpFrictionProblem problem = { .blockCount = few->contactCount,
                                  .dimensions = few->dimensions,
                                  .kinds = few->kinds,
                                  .mu = few->mu,
                                  .q = few->q,
                                  .W = &W };
    tpSmallSolve settings = { .tolerance = allowed };
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    if (!tpFriction_SolveDense(&problem, &settings, arena, few->solved, &iterations, &work)) {
        return false;
    }
    readStates(few);
    return true;
}

// What is allowed in velocities may be beyond the cone by more than its rounding, and is brought
// back: beyond the friction of sliding a contact counts as one that sticks.
static void keepInCones(tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double* r = few->solved + contact->row;
        double friction = frictionOf(contact, r), bound = contact->mu * r[0];
        if (contact->state == tp_slidingContact && friction > bound) {
            for (int i = 1; i < contact->rows; ++i) {
                r[i] *= bound / friction;
            }
        }
    }
}

void tpFewContacts_Solve(tpFewContacts* few, double allowed, bool isLast, tpArena* arena) {
    memcpy(few->q, few->u, sizeof(double) * (size_t)few->rowCount);
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    if (!solveByStates(few, allowed)) {
        // Many contacts that meet at once: sweeps find out what most of them do.
        findFree(few);
        sweepFrom(few, someSweeps);
        if (!solveByStates(few, allowed) && !(isLast && solveDense(few, allowed, arena))) {
            sweepFrom(few, mostSweeps);
        }
    }
    keepInCones(few);
}
