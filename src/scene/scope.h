// The names that the formulas of a scene know: its parameters, and the indices of the repeats that
// a value stands in.
//
// Parameters may follow from each other in any order: one is evaluated when it is first asked for.
// Which indices were asked for is noted, so that a repeat reads again only what changes.

#ifndef TIPPE_SRC_SCENE_SCOPE_H
#define TIPPE_SRC_SCENE_SCOPE_H

#include "base/memory.h"
#include "scene/formula.h"
#include "tippe/scene.h"

enum { tp_mostIndices = 16, tp_mostParameters = 1000 };

typedef enum tpParameterState {
    tp_parameterWaiting,
    tp_parameterUnderway, // somebody up the chain is asking for it
    tp_parameterKnown
} tpParameterState;

typedef struct tpParameter {
    const char* name;
    const char* formula; // NULL: a number
    double value;
    tpScenePlace place; // of the value
    tpParameterState state;
} tpParameter;

typedef struct tpIndex {
    const char* name; // in the text of the file: does not end in a zero
    int length;
    double value;
} tpIndex;

typedef struct tpScope {
    tpParameter* parameters;
    int parameterCount, parameterCapacity;
    tpIndex indices[tp_mostIndices]; // the outermost first
    int indexCount;
    uint32_t used; // indices that were asked for, a bit each
    int depth;     // of parameters that ask for others
} tpScope;

// Adds a parameter, unless there is one of this name: then it returns false in `isNew`. False if
// memory ran out.
bool tpScope_Define(tpScope* scope, tpArena* arena, const tpParameter* parameter, bool* isNew);

// The value of a formula with these names.
bool tpScope_Evaluate(tpScope* scope, const char* formula, double* value, tpFormulaFault* fault);

// The value of a name, which does not end in a zero; false if there is none such.
bool tpScope_Find(tpScope* scope, const char* name, int length, double* value, char* message);

// "i = 3, j = 0" of the indices at hand, or "".
void tpScope_Describe(const tpScope* scope, char* buffer, size_t size);

#endif
