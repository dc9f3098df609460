#include "dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool prepareDump(const char* command, const char* directory) {
    struct stat status;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "tippe %s: --dump %s: %s\n", command, directory, strerror(errno));
        return false;
    }
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode)) {
        fprintf(stderr, "tippe %s: --dump %s is no directory\n", command, directory);
        return false;
    }
    if (access(directory, W_OK | X_OK) != 0) {
        fprintf(stderr, "tippe %s: --dump %s: %s\n", command, directory, strerror(errno));
        return false;
    }
    return true;
}

static void writeProblem(const tpPosedProblem* posed, void* context) {
    tpDump* dump = context;
    if (posed->residual <= dump->above) {
        return;
    }
    char path[4096], title[256];
    snprintf(path, sizeof(path), "%s/%s-%06lld-%04d.hdf5", dump->directory, dump->name, posed->step,
             dump->count);
    snprintf(title, sizeof(title), "%s, t = %.9g s, residual %.3g", dump->name, posed->time,
             posed->residual);
    tpError error;
    if (tpWriteFrictionProblem(path, posed->problem, posed->start, posed->impulse, title, &error) !=
        tp_success) {
        dump->error = dump->failed == 0 ? error : dump->error;
        dump->failed += 1;
    }
    dump->count += 1;
}

void startDump(tpDump* dump, tpWorld* world) {
    tpWorld_SetProblemHook(world, writeProblem, dump);
}
