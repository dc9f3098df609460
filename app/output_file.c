#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char* command, const char* path, int reason) {
    fprintf(stderr, "tippe %s: %s: %s\n", command, path, strerror(reason));
    return false;
}

// The mode of a new file, or that of the one it replaces.
static bool isReplaceable(const char* path, mode_t* mode) {
    struct stat status;
    *mode = 0666;
    if (stat(path, &status) != 0) {
        return true;
    }
    *mode = status.st_mode & 07777;
    return S_ISREG(status.st_mode);
}

bool openOutput(const char* command, const char* path, tpOutputFile* output) {
    output->path = path;
    output->temporary[0] = '\0';
    output->stream = NULL;
    mode_t mode;
    if (!isReplaceable(path, &mode)) {
        output->stream = fopen(path, "w");
        return output->stream != NULL || complain(command, path, errno);
    }
    int length =
        snprintf(output->temporary, sizeof(output->temporary), "%s.%ld.part", path, (long)getpid());
    if (length >= (int)sizeof(output->temporary)) {
        output->temporary[0] = '\0';
        return complain(command, path, ENAMETOOLONG);
    }
    int file = open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC, mode);
    output->stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (output->stream == NULL) {
        int reason = errno;
        if (file >= 0) {
            close(file);
            unlink(output->temporary);
        }
        output->temporary[0] = '\0';
        return complain(command, path, reason);
    }
    return true;
}

bool commitOutput(const char* command, tpOutputFile* output) {
    bool failed = ferror(output->stream) != 0;
    int reason = failed ? EIO : 0;
    if (fflush(output->stream) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    if (fclose(output->stream) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    output->stream = NULL;
    if (!failed && output->temporary[0] != '\0' && rename(output->temporary, output->path) != 0) {
        failed = true;
        reason = errno;
    }
    if (failed) {
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
    if (output->temporary[0] != '\0') {
        unlink(output->temporary);
        output->temporary[0] = '\0';
    }
}

bool canWriteOutput(const char* command, const char* path) {
    struct stat status;
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
