// Formulas in scene files: what a coordinate is known to be as a function of time.
//
//     formula    = comparison
//     comparison = sum [ ("<" | "<=" | ">" | ">=") sum ]      1 where it holds, else 0
//     sum        = product { ("+" | "-") product }
//     product    = sign { ("*" | "/") sign }
//     sign       = { "+" | "-" } power
//     power      = atom [ ("^" | "**") sign ]                  to the right: 2^3^2 is 2^9
//     atom       = number | "t" | "pi" | NAME "(" formula { "," formula } ")" | "(" formula ")"
//
// Functions: abs acos asin atan atan2 ceil cos cosh exp floor hypot if log max min mod sin sinh sqrt
// tan tanh. if(c, a, b) is a where c is not 0, else b.

#ifndef TIPPE_SRC_SCENE_FORMULA_H
#define TIPPE_SRC_SCENE_FORMULA_H

#include <stdbool.h>

typedef struct tpFormulaFault {
    int column;       // from one, of the character where it went wrong
    char message[96]; // what was expected there
} tpFormulaFault;

// The value at time t, which may be infinite or not a number. False where the text is no formula;
// `fault` (may be NULL) says where.
bool tpEvaluateFormula(const char* text, double t, double* value, tpFormulaFault* fault);

#endif
