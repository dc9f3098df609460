// The solvers of one island. Each improves island->r, u and residual (never makes them worse),
// adds its cost to island->work and returns why it stopped. `limit` is its number of iterations.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_SOLVERS_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_SOLVERS_H

#include "complementarity/held_blocks.h"

// One sweep over all blocks: each is solved exactly with the others fixed, with `proximal` added to
// its diagonal and -proximal r on the right. r and u = W r + q change together.
void tpFrictionIsland_Sweep(const tpFrictionIsland* island, double proximal, double* r, double* u);

// Multiply-adds of a sweep or a product.
double tpFrictionIsland_SweepWork(const tpFrictionIsland* island);

tpSolveStatus tpFrictionIsland_GaussSeidel(tpFrictionIsland* island,
                                           const tpFrictionOptions* options, int limit,
                                           tpArena* arena, int* iterations);

tpSolveStatus tpFrictionIsland_Nncg(tpFrictionIsland* island, const tpFrictionOptions* options,
                                    int limit, tpArena* arena, int* iterations);

// For islands with free blocks, given by bodies; not applicable to others. Bilateral solves joints
// alone directly, and chains with W formed; Formed takes any of them with W formed.
tpSolveStatus tpFrictionIsland_Formed(tpFrictionIsland* island, const tpFrictionOptions* options,
                                      int limit, tpArena* arena, int* iterations);
tpSolveStatus tpFrictionIsland_Bilateral(tpFrictionIsland* island, const tpFrictionOptions* options,
                                         int limit, tpArena* arena, int* iterations);

// With the joints eliminated, a small problem of the contacts; `held` are the island's. Not
// applicable if there are no contacts, or too many.
tpSolveStatus tpFrictionIsland_Condense(tpFrictionIsland* island, tpHeldBlocks* held,
                                        const tpFrictionOptions* options, int limit, tpArena* arena,
                                        int* iterations);

// How much is done for a small problem.
typedef enum tpSmallEffort {
    tp_allEffort,
    tp_quickEffort, // steps of Newton's method alone
    tp_restOfEffort // all that comes after them
} tpSmallEffort;

// The small problem of what is left when joints are eliminated: a few steps of Newton's method,
// then interior points, then proximal points.
typedef struct tpSmallSolve {
    double tolerance; // of the residual, in units of velocity
    int limit;        // of iterations
    double workLimit;
    tpSmallEffort effort;
    bool* isReached;  // not NULL: receives whether the tolerance was met
    double slack;     // as in tpFrictionOptions, 0: none
    double* shift;    // receives what was added to q, of each row; needed for `slack`
    bool hasJoints;   // what is left of a mechanism
    bool knowsStates; // what contacts do was tried already (friction_states.h)
} tpSmallSolve;

// Contacts are solved to this part of what the whole is asked for: Newton's last step gets there,
// and what is told apart by small differences (efforts found from velocities) profits.
static const double tp_smallPart = 3e-3;

// Where velocities contradict each other so much more is enough.
static const double tp_settledFactor = 100.0;

// If Newton's method does not get further, this part of the velocities will do: contacts that are
// about to open, and gaps that contradict each other by what joints are apart, let it crawl.
static const double tp_stalledPart = 3e-10;

// Solves J x = b of `count` rows by elimination with row pivots; b is the last column, of which x
// takes the place. Rows are tpDense_Stride apart. J holds its factors afterwards, `pivots` the row
// that came to each place. False if no pivot is above `least`.
size_t tpDense_Stride(int count);
bool tpDense_Eliminate(int count, double* J, int* pivots, double least);

// Whole steps of Newton's method on a dense W with few rows. True if they solve the problem;
// otherwise r is as it was.
bool tpFriction_SolveDense(const tpFrictionProblem* problem, const tpSmallSolve* small,
                           tpArena* arena, double* r, int* iterations, double* work);

// A dense problem by what each contact and drive does, from r, whose velocities are u, to a
// velocity that is allowed in each row; contacts that are open may close by `closing`. False if it
// does not find out what they do. Velocities that contradict each other are left, or go into the
// shift of `small`, zero before. With `isSoft` contacts give by a part of the slack, which goes
// into the shift. Adds to `rounds`.
bool tpFriction_SolveByStates(const tpFrictionProblem* problem, const tpSmallSolve* small,
                              const double* u, double allowed, double closing, bool isSoft,
                              tpArena* arena, double* r, int* rounds);

// What it takes of the arena for a block, beside its rows: callers that solve in threads set memory
// aside.
size_t tpFriction_DenseLawSize(void);

// Improves r and adds to iterations and work. False if memory ran out.
bool tpFriction_SolveSmall(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                           const tpSmallSolve* small, tpArena* arena, double* r, int* iterations,
                           double* work);

// Takes over r, which solves the island's problem with u + weight (r - center) in place of u: what
// was added goes into q. For contradictions that no move of the center makes smaller. False, and
// the island stays as it is, if that is beyond its slack, not small beside q, or no better. Writes
// u = W r + q.
bool tpFrictionIsland_TakeShift(tpFrictionIsland* island, double weight, const double* r,
                                const double* center, double* u);

// Looks whether the data allow a better residual. If they do not, the island is exhausted and
// `rounding` says what they allow. Not applicable to islands of which that cannot be proved.
tpSolveStatus tpFrictionIsland_FindRounding(tpFrictionIsland* island,
                                            const tpFrictionOptions* options, int limit,
                                            tpArena* arena, int* iterations);

// Looks for impulses of contacts that balance each other (W y = 0) and work against the motion
// without impulses: bodies that are pressed together on several sides. `bound`: what they let no
// residual fall below, in units of velocity; 0 if there are none. False if memory ran out.
bool tpFrictionIsland_FindJam(tpFrictionIsland* island, int limit, tpArena* arena, double* bound);

tpSolveStatus tpFrictionIsland_Newton(tpFrictionIsland* island, const tpFrictionOptions* options,
                                      int limit, tpArena* arena, int* iterations);

tpSolveStatus tpFrictionIsland_Proximal(tpFrictionIsland* island, const tpFrictionOptions* options,
                                        int limit, tpArena* arena, int* iterations);

// The same as the first try of the portfolio: it goes on beyond `limit` if many bodies slide.
tpSolveStatus tpFrictionIsland_ProximalFirst(tpFrictionIsland* island,
                                             const tpFrictionOptions* options, int limit,
                                             tpArena* arena, int* iterations);

// For small islands, dense: the path inside the cones.
tpSolveStatus tpFrictionIsland_Interior(tpFrictionIsland* island, const tpFrictionOptions* options,
                                        int limit, tpArena* arena, int* iterations);

// Puts the middle of the solutions in place of the island's point, whatever its residual: of all
// impulses that contacts of more points than their bodies need may have, those farthest from the
// borders of all cones, from where Newton's method is short. Not applicable if there is none.
tpSolveStatus tpFrictionIsland_Center(tpFrictionIsland* island, int limit, tpArena* arena,
                                      int* iterations);

tpSolveStatus tpFrictionIsland_Apgd(tpFrictionIsland* island, const tpFrictionOptions* options,
                                    int limit, tpArena* arena, int* iterations);

// Solves a problem that need not have W or bodies but a `mechanism` along its tree, with the
// verdict of the judge. Leaves what the impulses change of the velocities of bodies in `velocity`,
// unless that is NULL. False if that does not get there: r is then as it was.
bool tpFriction_SolveMechanism(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                               tpSolverMemory* memory, double* r, double* u, double* velocity,
                               tpSolveReport* report);

// tpFriction_Solve without a try along the tree, for whoever has made one.
tpSolveStatus tpFriction_SolveIslands(const tpFrictionProblem* problem,
                                      const tpFrictionOptions* options, tpSolverMemory* memory,
                                      double* r, double* u, tpSolveReport* report);

#endif
