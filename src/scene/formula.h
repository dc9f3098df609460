// Formulas in scene files: numbers that follow from others, and coordinates as functions of time.
//
//     formula    = conjunction { "||" conjunction }            1 where one holds, else 0
//     conjunction = comparison { "&&" comparison }
//     comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//     sum        = product { ("+" | "-") product }
//     product    = sign { ("*" | "/") sign }
//     sign       = { "+" | "-" } power
//     power      = atom [ ("^" | "**") sign ]                  to the right: 2^3^2 is 2^9
//     atom       = number | NAME | NAME "(" formula { "," formula } ")" | "(" formula ")"
//
// Functions: abs acos asin atan atan2 ceil cos cosh exp floor hypot if log max min mod random round
// sin sinh sqrt tan tanh. if(c, a, b) is a if c is not 0, else b; random(x) is a number from 0 to 1
// that looks random and is the same for the same x. `pi` is known everywhere; what other names mean
// is the caller's to say.

#ifndef TIPPE_SRC_SCENE_FORMULA_H
#define TIPPE_SRC_SCENE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tpFormulaFault {
    int column;        // from one, of the character where it went wrong
    char message[200]; // what was expected there
} tpFormulaFault;

// What names mean. `find` gives the value of one, which does not end in a zero; false if there is
// none such, after it may have said more in `message` (of 200 characters, "" before).
typedef struct tpFormulaNames {
    bool (*find)(void* context, const char* name, int length, double* value, char* message);
    void* context;
} tpFormulaNames;

// The value, which may be infinite or not a number. False if the text is no formula; `fault`
// (may be NULL) says where.
bool tpEvaluateFormula(const char* text, const tpFormulaNames* names, double* value,
                       tpFormulaFault* fault);

// The same of a function of the time t in seconds.
bool tpEvaluateAtTime(const char* text, double t, double* value, tpFormulaFault* fault);

// Whether a word means something in every formula: pi, or a function. Not ended by a zero.
bool tpIsFormulaWord(const char* word, int length);

// The length of the name that a text begins with; 0: it begins with none.
int tpFormulaNameLength(const char* text);

#endif
