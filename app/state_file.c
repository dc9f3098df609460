#include "state_file.h"

#include <stdlib.h>

#include "base/input_file.h"

bool saveState(const char* command, tpOutputFile* output, const tpWorld* world) {
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    if (snapshot == NULL) {
        fprintf(stderr, "tippe %s: out of memory\n", command);
        discardOutput(output);
        return false;
    }
    size_t size;
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    putOutput(output, bytes, size);
    tpDestroySnapshot(snapshot);
    return commitOutput(command, output);
}

// All bytes of a stream, or NULL with the reason in `error`.
static void* readAll(FILE* stream, const char* path, size_t* size, tpError* error) {
    size_t capacity = 1 << 16;
    char* bytes = malloc(capacity);
    *size = 0;
    while (bytes != NULL) {
        *size += fread(bytes + *size, 1, capacity - *size, stream);
        if (*size < capacity) {
            break;
        }
        char* more = realloc(bytes, 2 * capacity);
        if (more == NULL) {
            free(bytes);
        }
        bytes = more;
        capacity *= 2;
    }
    if (bytes == NULL) {
        snprintf(error->message, sizeof(error->message), "%.600s: out of memory", path);
    } else if (ferror(stream)) {
        snprintf(error->message, sizeof(error->message), "%.600s: cannot be read", path);
        free(bytes);
        return NULL;
    }
    return bytes;
}

bool restoreState(const char* command, const char* path, tpWorld* world) {
    tpError error = { tp_success, "" };
    tpSnapshot* snapshot = NULL;
    size_t size;
    FILE* stream = tpOpenInput(path, NULL, &error);
    void* bytes = stream != NULL ? readAll(stream, path, &size, &error) : NULL;
    bool isRestored = false;
    if (bytes != NULL) {
        snapshot = tpCreateSnapshot(bytes, size, NULL, &error);
        isRestored = snapshot != NULL && tpWorld_Restore(world, snapshot, &error) == tp_success;
        if (!isRestored) {
            fprintf(stderr, "tippe %s: %s: %s\n", command, path, error.message);
        }
    } else {
        fprintf(stderr, "tippe %s: %s\n", command, error.message);
    }
    free(bytes);
    tpDestroySnapshot(snapshot);
    if (stream != NULL) {
        fclose(stream);
    }
    return isRestored;
}
