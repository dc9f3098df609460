// Runs the real program in a directory of its own, and tells what it printed and how it ended.

#ifndef TIPPE_TESTS_APP_PROGRAM_H
#define TIPPE_TESTS_APP_PROGRAM_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

typedef struct tpOutcome {
    int status; // exit status, or -1 if a signal ended it
    char out[16384], err[4096];
} tpOutcome;

static inline void readText(const char* path, char* buffer, size_t size) {
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(buffer, 1, size - 1, file);
    buffer[length] = '\0';
    fclose(file);
}

static inline void writeText(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// Every test works in a directory of its own, which is gone afterwards.
static inline int enterDirectory(void** state) {
    char* directory = strdup("/tmp/tippe_program_XXXXXX");
    *state = directory;
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static inline int leaveDirectory(void** state) {
    char command[100];
    snprintf(command, sizeof(command), "rm -r %s", (char*)*state);
    int result = chdir("/tmp") == 0 && system(command) == 0 ? 0 : -1;
    free(*state);
    return result;
}

// "run scene.json --json": what follows the program's name, as a shell takes it.
static inline tpOutcome runTippe(const char* arguments) {
    static const char *const outPath = "../tippe_program_out", *const errPath =
                                                                   "../tippe_program_err";
    char out[100], err[100], command[2000];
    snprintf(out, sizeof(out), "%s.%d", outPath, (int)getpid());
    snprintf(err, sizeof(err), "%s.%d", errPath, (int)getpid());
    snprintf(command, sizeof(command), "%s %s > %s 2> %s", TIPPE_PROGRAM, arguments, out, err);
    tpOutcome outcome;
    int status = system(command);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (outcome.status > 128) {
        outcome.status = -1; // the shell's way to say that a signal ended it
    }
    readText(out, outcome.out, sizeof(outcome.out));
    readText(err, outcome.err, sizeof(outcome.err));
    remove(out);
    remove(err);
    return outcome;
}

// The number of files in the current directory.
static inline int countFiles(void) {
    DIR* entries = opendir(".");
    int count = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(entries);
    return count;
}

static inline int countLines(const char* path) {
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    int count = 0;
    for (int c; (c = fgetc(file)) != EOF;) {
        count += c == '\n';
    }
    fclose(file);
    return count;
}

#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL) {                                                      \
            fail_msg("%s:%d: no \"%s\" in:\n%s", __FILE__, __LINE__, (part), (text));              \
        }                                                                                          \
    } while (0)

#define CHECK_STATUS(outcome, expected)                                                            \
    do {                                                                                           \
        if ((outcome).status != (expected)) {                                                      \
            fail_msg("%s:%d: exit status %d, expected %d; it said:\n%s%s", __FILE__, __LINE__,     \
                     (outcome).status, (expected), (outcome).out, (outcome).err);                  \
        }                                                                                          \
    } while (0)

#endif
