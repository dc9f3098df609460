// The program: finds the subcommand and runs it. Each subcommand is a file of its own.

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "tippe/base.h"

static const tpCommand commands[] = {
    { "solve", "solve a complementarity problem from a file", runSolve },
    { "--version", "print the version", runVersion },
};

enum { commandCount = sizeof(commands) / sizeof(commands[0]) };

int runVersion(int argumentCount, char** arguments) {
    (void)argumentCount;
    (void)arguments;
    printf("tippe %s\n", tpVersion());
    return exitDone;
}

int main(int argumentCount, char** arguments) {
    for (int i = 0; argumentCount > 1 && i < commandCount; ++i) {
        if (strcmp(arguments[1], commands[i].name) == 0) {
            return commands[i].run(argumentCount - 1, arguments + 1);
        }
    }
    fprintf(stderr, "usage: tippe COMMAND ...\n");
    return exitBadInput;
}
