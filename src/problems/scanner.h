// Words and numbers of a text file, and messages that say where one was wrong.
//
// Words are separated by white space; a '#' starts a comment that ends with its line. Nothing is
// counted while reading: line and column of an error are found by going over the text once more.

#ifndef TIPPE_SRC_PROBLEMS_SCANNER_H
#define TIPPE_SRC_PROBLEMS_SCANNER_H

#include "tippe/base.h"

typedef struct tpScanner {
    const char* name; // of the file, for messages
    const char* start;
    const char* end;
    const char* at;       // next unread character
    tpError* error;       // first failure, never NULL
    const char* failedAt; // where it was, NULL while all is well
} tpScanner;

// A word in the text; length zero at the end.
typedef struct tpWord {
    const char* start;
    int length;
} tpWord;

void tpScanner_Start(tpScanner* scanner, const char* name, const char* text, size_t length,
                     tpError* error);

// Records a failure at a place of the text; returns tp_badInput.
tpResult tpScanner_Fail(tpScanner* scanner, const char* at, const char* format, ...)
    TP_PRINTF(3, 4);

// "expected EXPECTED, found WORD" (or the end of the file).
tpResult tpScanner_FailExpected(tpScanner* scanner, tpWord found, const char* expected);

// Records that memory ran out; returns tp_outOfMemory.
tpResult tpScanner_OutOfMemory(tpScanner* scanner);

// The next word; length zero at the end of the text. Peek leaves it unread.
tpWord tpScanner_Next(tpScanner* scanner);
tpWord tpScanner_Peek(const tpScanner* scanner);

// A whole number from `least` to `most`. `what` completes "expected ... ".
tpResult tpScanner_Int(tpScanner* scanner, const char* what, int least, int most, int* value);

// `count` finite numbers. `what` names the vector or matrix they belong to.
tpResult tpScanner_Reals(tpScanner* scanner, const char* what, double* values, size_t count);

// `count` whole numbers from `least` to `most`, never falling where `rising`.
tpResult tpScanner_Ints(tpScanner* scanner, const char* what, int least, int most, bool rising,
                        int* values, int count);

// The value of a word that is a whole number, or -1 if it is none or does not fit.
int tpWord_ToInt(tpWord word);
bool tpWord_ToReal(tpWord word, double* value);
bool tpWord_Is(tpWord word, const char* text);

// The rest of the line, line break read but not part of it.
tpWord tpScanner_RestOfLine(tpScanner* scanner);

// Whether `count` more words can stand in what is left. Sizes are held against this before memory
// is asked for, so that a file of a few bytes cannot ask for gigabytes.
bool tpScanner_CanHold(const tpScanner* scanner, double count);

#endif
