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

static const size_t longestStream = (size_t)1 << 30; // of a device, which may have no end

static void* refuseState(void* bytes, const char* path, const char* reason, tpError* error) {
    snprintf(error->message, sizeof(error->message), "%.600s: %s", path, reason);
    free(bytes);
    return NULL;
}

// All bytes of a file of known size, or of a stream (size -1); NULL with the reason in `error`.
static void* readAll(FILE* stream, const char* path, int64_t known, size_t* size, tpError* error) {
    size_t capacity = known >= 0 ? (size_t)known + 1 : 1 << 16;
    char* bytes = malloc(capacity);
    *size = 0;
    while (bytes != NULL) {
        *size += fread(bytes + *size, 1, capacity - *size, stream);
        if (ferror(stream)) {
            return refuseState(bytes, path, "cannot be read", error);
        }
        if (*size < capacity) {
            return bytes;
        }
        if (capacity >= longestStream && known < 0) {
            return refuseState(bytes, path, "more than 1073741824 bytes from a stream", error);
        }
        char* more = realloc(bytes, 2 * capacity);
        if (more == NULL) {
            break;
        }
        bytes = more;
        capacity *= 2;
    }
    return refuseState(bytes, path, "out of memory", error);
}

bool restoreState(const char* command, const char* path, tpWorld* world) {
    tpError error = { tp_success, "" };
    tpSnapshot* snapshot = NULL;
    size_t size;
    int64_t known;
    FILE* stream = tpOpenInput(path, &known, &error);
    void* bytes = stream != NULL ? readAll(stream, path, known, &size, &error) : NULL;
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
