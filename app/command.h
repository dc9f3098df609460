// What a subcommand of the program is.

#ifndef TIPPE_APP_COMMAND_H
#define TIPPE_APP_COMMAND_H

// Exit statuses, the same for every subcommand but `solve`, which adds two.
enum {
    exitDone = 0,
    exitNotSolved = 1,
    exitBadInput = 2,
    exitCouldNotGoOn = 3,
    exitInfeasible = 4
};

typedef struct tpCommand {
    const char* name;
    const char* summary;
    // arguments[0] is the subcommand's name; the result is the exit status.
    int (*run)(int argumentCount, char** arguments);
} tpCommand;

int runAdvise(int argumentCount, char** arguments);
int runCheck(int argumentCount, char** arguments);
int runCollide(int argumentCount, char** arguments);
int runCompare(int argumentCount, char** arguments);
int runExport(int argumentCount, char** arguments);
int runList(int argumentCount, char** arguments);
int runRepair(int argumentCount, char** arguments);
int runRun(int argumentCount, char** arguments);
int runSchema(int argumentCount, char** arguments);
int runSolve(int argumentCount, char** arguments);
int runVerify(int argumentCount, char** arguments);
int runView(int argumentCount, char** arguments);

#endif
