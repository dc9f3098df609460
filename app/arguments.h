// Command lines of subcommands, described by tables.
//
// A subcommand lists its options and its operands (what stands without a name) in const tables
// whose targets are variables of its own, then calls parseArguments once. `--name value` and
// `--name=value` mean the same; `--` ends the options; the last of a repeated option counts, except
// for a list, which keeps them all. `--help` and its text come from the same tables.
//
//     const char* file = NULL;
//     bool quiet = false;
//     const tpArgument options[] = {
//         { "quiet", optionFlag, &quiet, NULL, "print nothing", NULL },
//     };
//     const tpOperand operands[] = { { "FILE", &file, true, "what to read" } };

#ifndef TIPPE_APP_ARGUMENTS_H
#define TIPPE_APP_ARGUMENTS_H

#include <stdbool.h>

typedef enum tpArgumentKind {
    optionFlag,     // target bool, no value
    optionText,     // target const char*
    optionNumber,   // target double, finite
    optionPositive, // target double, finite and greater than zero
    optionCount,    // target int, zero or more
    optionChoice,   // target const char*, one of `choices`
    optionList      // target tpArgumentList: every time it is given
} tpArgumentKind;

enum { longestArgumentList = 64 };

typedef struct tpArgumentList {
    const char* items[longestArgumentList];
    int count;
} tpArgumentList;

typedef struct tpArgument {
    const char* name; // without dashes
    tpArgumentKind kind;
    void* target;          // written only when the option is given
    const char* valueName; // how the value is called in the help: FILE, SECONDS; NULL for a flag
    const char* help;      // one sentence without a full stop; wrapped
    const char* const* choices; // of optionChoice: the words, ended by NULL
} tpArgument;

typedef struct tpOperand {
    const char* name; // as it stands in the usage line: SCENE
    const char** target;
    bool required;
    const char* help;
    const char* const* choices; // for completion: the words it may be, ended by NULL; NULL: any
} tpOperand;

typedef struct tpArgumentTable {
    const char* command; // the subcommand's name
    const char* summary; // what it does, one sentence without a full stop
    const tpOperand* operands;
    int operandCount;
    const tpArgument* options;
    int optionCount;
    const char* notes; // printed at the end of the help as it is, or NULL
} tpArgumentTable;

// Fields of the table above for whole arrays.
#define TP_OPERANDS(list) .operands = list, .operandCount = (int)(sizeof(list) / sizeof((list)[0]))
#define TP_OPTIONS(list) .options = list, .optionCount = (int)(sizeof(list) / sizeof((list)[0]))

typedef enum tpArgumentsResult {
    argumentsParsed, // go on
    argumentsHelped, // --help was asked for and printed: exit with exitDone
    argumentsWrong   // a message was printed to standard error: exit with exitBadInput
} tpArgumentsResult;

// arguments[0] is the subcommand's name.
tpArgumentsResult parseArguments(const tpArgumentTable* table, int argumentCount, char** arguments);

// Prints `text` from column `start` on, wrapped at 96 columns, after a label of `used` columns.
void printWrapped(int used, int start, const char* text);

// The exit status if the arguments are not parsed.
int exitAfter(tpArgumentsResult parsed);

// A word that should be one of `known` (ended by NULL) and is not: prints to standard error
// "tippe COMMAND: unknown WHAT 'word'; did you mean 'x'?", or the whole list where nothing is near.
void complainOfName(const char* command, const char* what, const char* word,
                    const char* const* known);

#endif
