// The islands of a step and how they are solved, and what is done when Newton's method fails.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_ISLANDS_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_ISLANDS_H

#include "dynamics/islands.h"
#include "steppers/chakraborty_trinkle/newton.h"
#include "steppers/memory.h"

// Overlaps that do not matter, m: far above what solves leave, far below what can be seen.
#define TP_SMALL_OVERLAP 1e-7

typedef struct tpImplicitSettings {
    double theta, gamma;
    double tolerance; // m/s
    int directionCount;
    bool isFull;      // the paper's own formulation where it applies
    int impactLaw;    // tp_inelasticImpact, tp_newtonImpact or tp_poissonImpact
    double threshold; // m/s, for the whole step: slower approaches do not bounce
    bool isScaled;    // in a part of the step it is smaller in proportion
    double wholeStep; // s
    // Joints have held velocities in the step before: what is left along them is the midpoint
    // rule's own.
    bool hasHeldJoints;
} tpImplicitSettings;

// A step in the making.
typedef struct tpImplicitStep {
    tpTimeStep base;
    tpImplicitSettings settings;
    tpStepGeometry geometry;
    tpIslands islands;
    tpIslandProblem* problems; // one per island
    bool* isImpact;  // of islands: taken with theta = 1 although the settings ask for less
    bool* isTurned;  // of islands: taken so after a solve, for a velocity that the midpoint
                     // reflects
    double* thetaOf; // of bodies
    // What contacts carried in the part of the step before this one, if there is one.
    tpTally lastPart;
    bool hasLastPart;
    // Rims (rims.h): contacts keep their features in this step; some contacts were joined; one of
    // these runs so far along its rim that the step is too long for it.
    bool keepsFeatures, hasRims, runsFar;
    bool foresees;  // impacts for which the step is halved: it was not solved
    bool mayHalve;  // a step that is not solved may be taken in halves
    bool misses;    // contacts that overlap where the step ends were still missed in its last pass
    bool isTooDear; // its work was spent before it was solved: the whole step is taken otherwise
} tpImplicitStep;

// Blocks, implicit contacts and islands for the contacts that `base` has. False: out of memory.
bool tpImplicitStep_Prepare(tpImplicitStep* step);

// Joints begin with the impulses of the last step, but for islands that are held twice: those begin
// with what was written. False: out of memory.
bool tpImplicitStep_StartJoints(tpImplicitStep* step, const tpRowHistory* history);

// Whether something in an island can strike: a contact or a limit. Else a step that is not solved
// was too long for Newton's method, or joints begin with velocities that they do not allow.
bool tpIsland_HasOneSided(const tpImplicitStep* step, const tpIslandProblem* problem);

// Whether linear rows may take steps that are too dear. They take all bodies: joints of others
// would be met less exactly, and what strikes would not part. The paper's own form stays what it
// is.
bool tpImplicitStep_MayHandOver(const tpImplicitStep* step);

// Solves all islands and moves free bodies. `isSolved` is false if an island resisted
// everything. False: out of memory.
bool tpImplicitStep_Solve(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report,
                          bool* isSolved);

#endif
