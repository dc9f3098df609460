// What a shell may offer for the word that is being typed.
//
// The scripts in app/completion ask `tippe complete WORD...` with the words after the program's
// name, the last one being that which is typed and may be empty. The answer is a line per offer,
// the word and after a tab a few words about it; the line "@files" stands for the names of files.

#ifndef TIPPE_APP_COMPLETION_H
#define TIPPE_APP_COMPLETION_H

#include "arguments.h"

// How main hands the words of a subcommand on to its table: as its first argument.
extern const char completionMark[];

void offerWord(const char* typed, const char* word, const char* about);

// Offers for the last of `words`, by a subcommand's table.
void completeArguments(const tpArgumentTable* table, int wordCount, char** words);

#endif
