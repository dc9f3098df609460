// realpath is an extension of POSIX by X/Open.
#define _XOPEN_SOURCE 700

#include "scene_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scene_list.h"

enum { longestPath = PATH_MAX };
enum { mostThreads = 1024 }; // more is a slip of the finger

static bool exists(const char* path) {
    return access(path, F_OK) == 0;
}

static bool isDirectory(const char* path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// The scene of that name that came with Tippe, into `buffer`.
static bool findByName(const char* name, char buffer[PATH_MAX]) {
    char directory[longestPath];
    if (name[0] == '/' || name[0] == '.' || !findSceneDirectory(directory, sizeof(directory))) {
        return false;
    }
    // NAME, NAME.json, and NAME/NAME.json of a folder with its meshes and tables.
    const char* slash = strrchr(name, '/');
    const char* last = slash != NULL ? slash + 1 : name;
    for (int i = 0; i < 3; ++i) {
        char path[3 * longestPath];
        int length = i == 2 ? snprintf(path, sizeof(path), "%s/%s/%s.json", directory, name, last)
                            : snprintf(path, sizeof(path), "%s/%s%s", directory, name,
                                       i == 0 ? "" : ".json");
        struct stat status;
        if (length > 0 && length < (int)sizeof(path) && stat(path, &status) == 0 &&
            S_ISREG(status.st_mode) && realpath(path, buffer) != NULL) {
            return true;
        }
    }
    return false;
}

bool findScene(const char* path, char buffer[PATH_MAX]) {
    if (exists(path) && !isDirectory(path)) {
        snprintf(buffer, PATH_MAX, "%s", path);
        return true;
    }
    return findByName(path, buffer);
}

void complainOfScene(const char* command, const tpError* error) {
    // A place in a file comes first on the line, where editors look for it.
    const char* colon = strchr(error->message, ':');
    bool hasPlace = false;
    for (; colon != NULL && !hasPlace; colon = strchr(colon + 1, ':')) {
        int line, column, length = 0;
        hasPlace = sscanf(colon, ":%d:%d:%n", &line, &column, &length) == 2 && length > 0;
    }
    if (hasPlace) {
        fprintf(stderr, "%s\n", error->message);
    } else {
        fprintf(stderr, "tippe %s: %s\n", command, error->message);
    }
}

static const char standardInput[] = "<stdin>"; // in messages

// All of standard input, up to one byte more than the longest scene. False, with a message, on
// failure.
static bool readStandardInput(const char* command, char** text, size_t* length) {
    size_t capacity = 1 << 16, got = 0;
    *text = malloc(capacity);
    *length = 0;
    do {
        if (*text != NULL && capacity - *length < capacity / 2) {
            char* larger = realloc(*text, capacity *= 2);
            if (larger == NULL) {
                free(*text);
            }
            *text = larger;
        }
        if (*text == NULL) {
            fprintf(stderr, "tippe %s: out of memory\n", command);
            return false;
        }
        got = fread(*text + *length, 1, capacity - *length, stdin);
        *length += got;
    } while (got > 0 && *length <= TP_LONGEST_SCENE);
    if (ferror(stdin) != 0) {
        fprintf(stderr, "tippe %s: standard input could not be read\n", command);
        free(*text);
        return false;
    }
    return true;
}

static tpResult readScene(const char* command, const char* path, tpScene** scene,
                          tpSceneErrors* errors) {
    char found[PATH_MAX];
    errors->count = 0;
    errors->isCut = false;
    if (strcmp(path, "-") == 0) {
        char* text;
        size_t length;
        if (!readStandardInput(command, &text, &length)) {
            return tp_ioError;
        }
        tpResult result = tpParseSceneErrors(text, length, standardInput, NULL, scene, errors);
        free(text);
        return result;
    }
    tpResult result = tpReadSceneErrors(findScene(path, found) ? found : path, NULL, scene, errors);
    char nearest[256];
    if (result == tp_ioError && !exists(path) && suggestScene(path, nearest, sizeof(nearest))) {
        size_t length = strlen(errors->list[0].message);
        snprintf(errors->list[0].message + length, sizeof(errors->list[0].message) - length,
                 "; did you mean %s?", nearest);
    }
    return result;
}

tpScene* openScene(const char* command, const char* path) {
    tpScene* scene = NULL;
    tpSceneErrors errors;
    if (readScene(command, path, &scene, &errors) != tp_success) {
        for (int i = 0; i < errors.count; ++i) {
            complainOfScene(command, &errors.list[i]);
        }
        if (errors.isCut) {
            fprintf(stderr, "tippe %s: there may be more errors after the first %d\n", command,
                    errors.count);
        }
    }
    return scene;
}

void finishOverrides(tpSceneOverrides* overrides, double until, const tpArgumentList* settings) {
    if (!isnan(until)) {
        overrides->until = until;
        overrides->hasUntil = true;
    }
    overrides->options = settings->items;
    overrides->optionCount = settings->count;
}

bool checkThreads(const char* command, int threads) {
    bool isWithin = threads >= 1 && threads <= mostThreads;
    if (!isWithin) {
        fprintf(stderr, "tippe %s: --threads takes a whole number from 1 to %d\n", command,
                mostThreads);
    }
    return isWithin;
}

const char* titleOfScene(const tpScene* scene) {
    const char* slash = strrchr(scene->path, '/');
    return scene->name.text != NULL ? scene->name.text : slash != NULL ? slash + 1 : scene->path;
}
