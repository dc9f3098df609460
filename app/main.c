// The program: finds the subcommand and runs it. Each subcommand is a file of its own.

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "command.h"
#include "completion.h"
#include "tippe/base.h"

static const tpCommand commands[] = {
    { "run", "run a scene and print a summary", runRun },
    { "check", "check a scene without running it", runCheck },
    { "list", "list steppers, solvers, shapes, joints, options and scenes", runList },
    { "solve", "solve a complementarity problem from a file", runSolve },
    { "compare", "compare steppers and step sizes on one scene", runCompare },
    { "advise", "recommend a stepper and a step for a given accuracy", runAdvise },
    { "collide", "resolve impacts with friction, one per row of a table", runCollide },
    { "view", "show a run in the browser, recorded or live", runView },
    { "export", "write a recording as tables or as a page", runExport },
    { "repair", "make the recording of a killed run readable again", runRepair },
    { "verify", "repeat a recorded run and compare it bit for bit", runVerify },
    { "schema", "print the JSON Schema of scene files", runSchema },
};

// Commands of the program `tippe` that the Python package installs; it hands all others to this
// one.
static const struct {
    const char* name;
    const char* summary;
} pythonCommands[] = {
    { "fit", "identify numbers of a scene from measured motions" },
    { "score", "measure how far simulations are from measured motions" },
};

enum {
    pythonCommandCount = sizeof(pythonCommands) / sizeof(pythonCommands[0]),
    commandCount = sizeof(commands) / sizeof(commands[0]),
    mostCompletedWords = 256 // of a line that is being typed
};

static void printUsage(FILE* stream) {
    fprintf(stream, "usage: tippe COMMAND [options]\n\n"
                    "Simulates rigid bodies with contact and friction.\n\n");
    for (int i = 0; i < commandCount; ++i) {
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(stream,
            "\nIn the program that the Python package installs (pip install . in a clone):\n\n");
    for (int i = 0; i < pythonCommandCount; ++i) {
        fprintf(stream, "  %-10s %s\n", pythonCommands[i].name, pythonCommands[i].summary);
    }
    fprintf(stream, "\n  --help     print this, or with a command before it all about that\n"
                    "  --version  print the version\n\n"
                    "Exit status: 0 done; 2 bad input or usage; 3 the simulation could not go on. "
                    "tippe solve: 0 solved,\n1 not solved, 4 proved infeasible.\n");
}

static const tpCommand* findCommand(const char* name) {
    for (int i = 0; i < commandCount; ++i) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

// Whether the command is one of the Python package; if so, says where it is.
static bool tellOfPython(const char* name, FILE* stream) {
    for (int i = 0; i < pythonCommandCount; ++i) {
        if (strcmp(name, pythonCommands[i].name) == 0) {
            fprintf(stream,
                    "usage: tippe %s SCENE MOTIONS [options]\n\nTo %s\n\n"
                    "This command is part of the Python package: `pip install .` in a clone of "
                    "Tippe installs a\nprogram `tippe` that has it; there `tippe %s --help` lists "
                    "its options. docs/measured.md shows\nhow to use it.\n",
                    name, pythonCommands[i].summary, name);
            return true;
        }
    }
    return false;
}

static int complainOfCommand(const char* name) {
    if (tellOfPython(name, stderr)) {
        return exitBadInput;
    }
    const char* names[commandCount];
    for (int i = 0; i < commandCount; ++i) {
        names[i] = commands[i].name;
    }
    const char* nearest = tpNearestName(name, names, commandCount);
    if (nearest != NULL) {
        fprintf(stderr, "tippe: unknown command '%s'; did you mean '%s'?\n", name, nearest);
    } else {
        fprintf(stderr, "tippe: unknown command '%s'; see tippe --help\n", name);
    }
    return exitBadInput;
}

static void offerCommands(const char* typed) {
    for (int i = 0; i < commandCount; ++i) {
        offerWord(typed, commands[i].name, commands[i].summary);
    }
    offerWord(typed, "help", "all about a command");
}

// tippe complete WORD...: for the scripts of shells.
static int runComplete(int argumentCount, char** arguments) {
    const char* typed = argumentCount > 1 ? arguments[argumentCount - 1] : "";
    bool isHelp = argumentCount == 3 && strcmp(arguments[1], "help") == 0;
    if (argumentCount <= 2 || isHelp) {
        offerCommands(typed);
        offerWord(typed, "--help", "the commands");
        offerWord(typed, "--version", "the version");
        return exitDone;
    }
    const tpCommand* command = findCommand(arguments[1]);
    char* line[mostCompletedWords];
    if (command == NULL || argumentCount > mostCompletedWords) {
        return exitDone;
    }
    char mark[16];
    snprintf(mark, sizeof(mark), "%s", completionMark);
    line[0] = arguments[1];
    line[1] = mark;
    for (int i = 2; i < argumentCount; ++i) {
        line[i] = arguments[i];
    }
    return command->run(argumentCount, line);
}

// tippe help [COMMAND]
static int runHelp(int argumentCount, char** arguments) {
    if (argumentCount < 2) {
        printUsage(stdout);
        return exitDone;
    }
    if (tellOfPython(arguments[1], stdout)) {
        return exitDone;
    }
    const tpCommand* command = findCommand(arguments[1]);
    char help[] = "--help";
    char* line[] = { arguments[1], help, NULL };
    return command != NULL ? command->run(2, line) : complainOfCommand(arguments[1]);
}

int main(int argumentCount, char** arguments) {
    if (argumentCount < 2) {
        printUsage(stderr);
        return exitBadInput;
    }
    const char* name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        return runHelp(argumentCount - 1, arguments + 1);
    }
    if (strcmp(name, "--version") == 0) {
        printf("tippe %s\n", tpVersion());
        return exitDone;
    }
    if (strcmp(name, "complete") == 0) {
        return runComplete(argumentCount - 1, arguments + 1);
    }
    const tpCommand* command = findCommand(name);
    if (command == NULL) {
        bool isAsking = argumentCount == 3 && strcmp(arguments[2], "--help") == 0;
        return isAsking && tellOfPython(name, stdout) ? exitDone : complainOfCommand(name);
    }
    signal(SIGXFSZ, SIG_IGN); // a file that has reached its limit is a write that fails
    int status = command->run(argumentCount - 1, arguments + 1);
    // What was printed has to have arrived: a full disk is not success.
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "tippe %s: standard output could not be written\n", name);
        return status == exitDone ? exitCouldNotGoOn : status;
    }
    return status;
}
