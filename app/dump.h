// Friction problems of a run, each into a file of its own.

#ifndef TIPPE_APP_DUMP_H
#define TIPPE_APP_DUMP_H

#include "tippe/problems.h"
#include "tippe/world.h"

typedef struct tpDump {
    const char* directory;
    double above;     // problems with a residual of at most this are left out; negative: none is
    const char* name; // of the files: NAME-STEP-NUMBER.hdf5
    int count, failed;
    tpError error; // of the first file that could not be written
} tpDump;

// Makes the directory unless it is there. False with a message of `command` if it cannot be used.
bool prepareDump(const char* command, const char* directory);

// Writes the problems of `world` from now on; `dump` must outlive the last step.
void startDump(tpDump* dump, tpWorld* world);

#endif
