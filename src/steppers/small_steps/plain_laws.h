// Laws of the axes of a tree without bounds, side by side: servos, springs and dampers that nothing
// limits. Most trees have no others. Nobody has to ask whether such a row is at a bound, so that a
// substep visits the few numbers that change, not the rows. The bits are those of the rows.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_PLAIN_LAWS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_PLAIN_LAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

typedef struct tpSmallStep tpSmallStep;
typedef struct tpArticulation tpArticulation;

// One number per row of each.
typedef struct tpPlainLaws {
    int32_t* axes;
    double *stiffness, *bias;
    double *startBias, *wayFactor, *ending, *damping; // as in tpArticulatedRow
    double *way, *total;
    double *elastic, *viscous; // stiffness and damping that the numbers above have been made of
    double substep;            // s, the same; 0: they have not been made yet
    bool hasSprings;
    // Rows of servos and dampers alone stay from step to step as long as coordinates have the laws
    // that they have, and only their numbers are written anew.
    bool areKept;
    bool areLimits; // rows of limits alone stay too, where rows with bounds are
    int count;
    uint64_t lawChanges; // of the system, when rows were written
} tpPlainLaws;

// Room for so many rows, in which nothing is kept yet. NULL if memory ran out.
tpPlainLaws* tpPlainLaws_Reserve(tpArena* arena, int rows);

// Takes rows that have been written, if all of them are plain.
void tpPlainLaws_Take(const tpSmallStep* step, tpArticulation* articulation);

// Rows that have been written stay from step to step if they are limits alone.
void tpPlainLaws_KeepLimits(const tpSmallStep* step, tpArticulation* articulation, bool areLimits);

// The rows of the last step with the values of now. False if they do not serve.
bool tpPlainLaws_WriteAgain(const tpSmallStep* step, tpArticulation* articulation);

// The biases with which a substep begins; at the start of a step springs may pull with a part.
void tpPlainLaws_Begin(tpPlainLaws* laws, bool endsSprings);

// Bodies are about to move for that time.
void tpPlainLaws_Follow(const tpArticulation* articulation, double time);

// The substep is over: impulses and their work.
void tpPlainLaws_End(tpArticulation* articulation);

// Rows get what they would have by then.
void tpPlainLaws_Return(const tpArticulation* articulation);

#endif
