#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char* command, const char* path, int reason) {
    fprintf(stderr, "tippe %s: %s: %s\n", command, path,
            reason == ENXIO ? "is a named pipe that nobody reads" : strerror(reason));
    return false;
}

bool isStandardOutput(const char* path) {
    return strcmp(path, "-") == 0;
}

// Whether a part may take the place of what is there.
static bool isReplaceable(const char* path) {
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

// A stream of its own over a descriptor, which the part keeps for the end.
static FILE* openStream(int file) {
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    FILE* stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (stream == NULL && copy >= 0) {
        close(copy);
    }
    return stream;
}

bool openOutput(const char* command, const char* path, tpOutputFile* output) {
    *output = (tpOutputFile){ .path = path, .part = { .file = -1 } };
    if (isStandardOutput(path)) {
        fflush(stdout);
        output->stream = openStream(STDOUT_FILENO);
    } else if (!isReplaceable(path)) {
        int file = tpOpenInPlace(path);
        output->stream = file >= 0 ? openStream(file) : NULL;
        if (file >= 0) {
            close(file);
        }
    } else if (tpPartFile_Create(&output->part, path)) {
        output->hasPart = true;
        output->stream = openStream(output->part.file);
    }
    if (output->stream == NULL) {
        int reason = errno;
        discardOutput(output);
        return complain(command, path, reason);
    }
    return true;
}

static void noteFailure(tpOutputFile* output, bool failed) {
    if (failed && output->failure == 0) {
        output->failure = errno != 0 ? errno : EIO;
    }
}

bool putOutput(tpOutputFile* output, const void* bytes, size_t size) {
    errno = 0;
    noteFailure(output, fwrite(bytes, 1, size, output->stream) != size);
    return output->failure == 0;
}

bool checkOutput(tpOutputFile* output) {
    noteFailure(output, ferror(output->stream) != 0);
    return output->failure == 0;
}

bool commitOutput(const char* command, tpOutputFile* output) {
    errno = 0;
    noteFailure(output, fflush(output->stream) != 0 || ferror(output->stream) != 0);
    errno = 0;
    noteFailure(output, fclose(output->stream) != 0);
    output->stream = NULL;
    if (output->failure == 0 && output->hasPart) {
        noteFailure(output, !tpPartFile_Place(&output->part));
    }
    if (output->failure != 0) {
        int reason = output->failure;
        discardOutput(output);
        return complain(command, output->path, reason);
    }
    return true;
}

void discardOutput(tpOutputFile* output) {
    if (output->stream != NULL) {
        fclose(output->stream);
        output->stream = NULL;
    }
    tpPartFile_Discard(&output->part);
}

bool canWriteOutput(const char* command, const char* path) {
    struct stat status;
    if (isStandardOutput(path)) {
        return true;
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return S_ISDIR(status.st_mode) ? complain(command, path, EISDIR) : true;
    }
    tpOutputFile output;
    if (!openOutput(command, path, &output)) {
        return false;
    }
    discardOutput(&output);
    return true;
}
