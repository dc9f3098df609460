// A small dense problem by what each of its contacts and drives does (friction_states.h).
//
// What is left of a robot when its joints are eliminated is its contacts, and the drives that may
// be at their bounds: dry friction of all joints that move, servos that give all they have. A drive
// is a cone of two rows whose normal row touches nothing; its impulse, and so the bound of the
// other row, is known before anything is solved. The states have that one row of it.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_states.h"

// Rounds until nothing changes any more: of few contacts, for which there are other ways if they do
// not find out soon, and of many or beside drives.
enum { fewRounds = 3, mostRounds = 16 };

// Contacts that hardly share a load in many ways.
enum { fewContacts = 12 };

// Soles of many corners share their load in many ways, and what gaps at rounding contradict each
// other by is divided by this.
static const double sharing = 1e-6;

// Friction below this part of its bound does not slide.
static const double withinCone = 1.0 - 1e-9;

// The largest part of W's diagonal by which contacts may give, and how many softnesses are tried.
static const double mostSoftness = 1e-4;
enum { mostSofts = 2 };

// The bound of a drive; negative if the block, whose rows begin at `row`, is none.
static double boundOf(const tpFrictionProblem* problem, int b, int row) {
    int n = problem->W->rowCount;
    const double* S = problem->W->values + (size_t)row * (size_t)n;
    bool isDrive = problem->kinds[b] == tp_frictionCone && problem->dimensions[b] == 2;
    for (int k = 0; k < n && isDrive; ++k) {
        isDrive = k == row ? S[k] > 0.0 : S[k] == 0.0;
    }
    return isDrive ? problem->mu[b] * fmax(-problem->q[row] / S[row], 0.0) : -1.0;
}

// Lists contacts and drives; `rows` become the rows of the problem that the states have. Returns
// the number of drives.
static int listContacts(const tpFrictionProblem* problem, tpFrictionStates* states, int* rows) {
    int drives = 0;
    states->contactCount = problem->blockCount;
    states->rowCount = 0;
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        double mu = problem->kinds[b] == tp_frictionCone ? problem->mu[b] : 0.0;
        double bound = boundOf(problem, b, row);
        int lead = bound >= 0.0 ? 1 : 0;
        states->contacts[b] = (tpStatedContact){ .row = states->rowCount,
                                                 .rows = problem->dimensions[b] - lead,
                                                 .isDrive = lead == 1,
                                                 .bound = bound,
                                                 .muStatic = lead == 1 ? 0.0 : mu,
                                                 .muDynamic = lead == 1 ? 0.0 : mu };
        drives += lead;
        for (int i = lead; i < problem->dimensions[b]; ++i) {
            rows[states->rowCount++] = row + i;
        }
        row += problem->dimensions[b];
    }
    return drives;
}

// The rows of W that the states have; W itself if these are all.
static const double* chooseRows(const tpFrictionProblem* problem, const int* rows, int count,
                                tpArena* arena) {
    size_t n = (size_t)problem->W->rowCount;
    if ((size_t)count == n) {
        return problem->W->values;
    }
    double* W = TP_SCRATCH(arena, double, count* count);
    for (int i = 0; i < count && W != NULL; ++i) {
        for (int k = 0; k < count; ++k) {
            W[(size_t)i * (size_t)count + (size_t)k] =
                problem->W->values[(size_t)rows[i] * n + (size_t)rows[k]];
        }
    }
    return W;
}

// The rows of a contact or drive that are to have no velocity: those of one that slides less than
// its cone allows all are.
static int rowsThatHold(const tpStatedContact* contact, const double* r, const double* u) {
    if (contact->isDrive) {
        return fabs(r[0]) < contact->bound || r[0] * u[0] > 0.0 ? 1 : 0;
    }
    if (contact->state != tp_slidingContact) {
        return contact->state == tp_openContact ? 0 : contact->rows;
    }
    double square = 0.0, bound = withinCone * contact->mu * r[0];
    for (int i = 1; i < contact->rows; ++i) {
        square += r[i] * r[i];
    }
    return square < bound * bound ? contact->rows : 1;
}

// What held rows and drives that hold have left of their velocities though nothing changes any more
// is what they contradict each other by. Writes the change of q that makes them agree. False if one
// of them is beyond the slack.
static bool shiftLeft(const tpFrictionStates* states, const int* rows, double slack,
                      double* shift) {
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        const double *r = states->solved + contact->row, *u = states->u + contact->row;
        for (int i = 0; i < rowsThatHold(contact, r, u); ++i) {
            if (!(fabs(u[i]) <= slack)) {
                return false;
            }
            shift[rows[contact->row + i]] = -u[i];
        }
    }
    return true;
}

// Contacts that give -----------------------------------------------------------------------------

typedef struct SoftStates {
    tpFrictionStates* states;
    const double* rigid; // W without what contacts give
    double* W;
    double* gives; // added to the diagonal of W, of each row
} SoftStates;

// The largest velocity that contacts with these softnesses give by with these impulses.
static double mostGiven(const tpFrictionStates* states, const double* gives, const double* r) {
    double most = 0.0;
    for (int i = 0; i < states->rowCount; ++i) {
        most = fmax(most, gives[i] * fabs(r[i]));
    }
    return most;
}

// Rows of contacts give by `part` of what their own impulses move them by, or by what they give now
// times `factor`.
static void setGives(SoftStates* soft, double part, double factor) {
    tpFrictionStates* states = soft->states;
    size_t next = (size_t)states->rowCount + 1;
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        for (int i = contact->row; i < contact->row + contact->rows && !contact->isDrive; ++i) {
            double own = soft->rigid[(size_t)i * next];
            double gives = part * own + factor * soft->gives[i];
            states->u[i] += (gives - soft->gives[i]) * states->solved[i];
            soft->W[(size_t)i * next] = own + gives;
            soft->gives[i] = gives;
        }
    }
    states->isFactored = false;
}

// Solves with contacts that give: their shares are unique then, and they find out what they do
// though gaps contradict each other. What they have given by is the change of q. False if that is
// beyond the slack, or if they do not find out either.
static bool solveSoftly(tpFrictionStates* states, const int* rows, const double* last,
                        double allowed, double slack, tpArena* arena, double* shift, int* rounds) {
    size_t n = (size_t)states->rowCount;
    SoftStates soft = { states, states->W, TP_SCRATCH(arena, double, n* n),
                        TP_SCRATCH_ZEROED(arena, double, n) };
    if (arena->failed) {
        return false;
    }
    memcpy(soft.W, states->W, sizeof(double) * n * n);
    states->W = soft.W;
    states->shift = states->slack = 0.0;
    setGives(&soft, mostSoftness, 0.0);
    int most = *rounds;
    double given = mostGiven(states, soft.gives, last);
    *rounds = 0;
    for (int attempt = 0; attempt < mostSofts; ++attempt) {
        if (given > 0.5 * slack) {
            setGives(&soft, 0.0, 0.5 * slack / given);
        }
        int more = most;
        bool isSolved = tpFrictionStates_Solve(states, last, allowed, &more);
        *rounds += more;
        given = mostGiven(states, soft.gives, states->solved);
        if (!isSolved || given <= slack) {
            for (size_t i = 0; i < n; ++i) {
                shift[rows[i]] = soft.gives[i] * states->solved[i];
            }
            return isSolved;
        }
    }
    return false;
}

// What was found becomes the impulses of the problem.
static void writeImpulses(const tpFrictionProblem* problem, const tpFrictionStates* states,
                          const int* rows, double* r) {
    tpFrictionStates_KeepInCones(states);
    for (int b = 0, row = 0; b < problem->blockCount; row += problem->dimensions[b++]) {
        if (states->contacts[b].isDrive) {
            r[row] = problem->mu[b] > 0.0 ? states->contacts[b].bound / problem->mu[b] : r[row];
        }
    }
    for (int i = 0; i < states->rowCount; ++i) {
        r[rows[i]] = states->solved[i];
    }
}

bool tpFriction_SolveByStates(const tpFrictionProblem* problem, const tpSmallSolve* small,
                              const double* u, double allowed, double closing, bool isSoft,
                              tpArena* arena, double* r, int* rounds) {
    int n = problem->W->rowCount;
    tpFrictionStates states;
    int* rows = TP_SCRATCH(arena, int, n);
    if (rows == NULL || !tpFrictionStates_Reserve(&states, arena, problem->blockCount, n)) {
        return false;
    }
    int drives = listContacts(problem, &states, rows);
    states.W = chooseRows(problem, rows, states.rowCount, arena);
    double* last = TP_SCRATCH(arena, double, states.rowCount);
    bool isLarge = drives > 0 || (small->hasJoints && problem->blockCount > fewContacts);
    bool mayShift = small->slack > 0.0 && isLarge;
    if (arena->failed || (isSoft && !mayShift)) {
        return false;
    }
    for (int i = 0; i < states.rowCount; ++i) {
        states.u[i] = u[rows[i]];
        states.solved[i] = last[i] = r[rows[i]];
    }
    tpFrictionStates_Read(&states);
    states.slack = isLarge ? closing : 0.0;
    states.shift = isLarge ? sharing : 0.0;
    int most = isLarge ? mostRounds : fewRounds;
    if (isSoft) {
        if (!solveSoftly(&states, rows, last, allowed, small->slack, arena, small->shift, &most)) {
            *rounds += most;
            return false;
        }
    } else if (!tpFrictionStates_Solve(&states, last, allowed, &most)) {
        if (!states.isSettled) {
            *rounds += most;
            return false;
        }
        if (mayShift && !shiftLeft(&states, rows, small->slack, small->shift)) {
            memset(small->shift, 0, sizeof(double) * (size_t)n);
        }
    }
    *rounds += most;
    writeImpulses(problem, &states, rows, r);
    return true;
}
