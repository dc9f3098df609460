#include "base/input_file.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#if defined(_WIN32)

FILE* tpOpenInput(const char* path, int64_t* size, tpError* error) {
    FILE* stream = fopen(path, "rb");
    if (stream == NULL) {
        tpError_Set(error, tp_ioError, "%.600s: cannot be read: %s", path, strerror(errno));
    } else if (size != NULL) {
        bool isLong = fseek(stream, 0, SEEK_END) == 0;
        *size = isLong ? (int64_t)ftell(stream) : -1;
        rewind(stream);
    }
    return stream;
}

#else

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Paths of descriptors: opening one never waits.
static bool isDescriptor(const char* path) {
    static const char* const starts[] = { "/dev/stdin", "/dev/fd/", "/proc/self/fd/" };
    for (int i = 0; i < 3; ++i) {
        if (strncmp(path, starts[i], strlen(starts[i])) == 0) {
            return true;
        }
    }
    return false;
}

static FILE* refuse(tpError* error, const char* path, const char* reason) {
    tpError_Set(error, tp_ioError, "%.600s: %s", path, reason);
    return NULL;
}

FILE* tpOpenInput(const char* path, int64_t* size, tpError* error) {
    // Without waiting: what kind of file it is shows afterwards.
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    FILE* stream = NULL;
    if (file < 0 || fstat(file, &status) != 0) {
        tpError_Set(error, tp_ioError, "%.600s: cannot be read: %s", path, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        refuse(error, path, "is a directory; expected a file");
    } else if (S_ISFIFO(status.st_mode) && !isDescriptor(path)) {
        refuse(error, path, "is a named pipe; expected a file");
    } else if (fcntl(file, F_SETFL, 0) != 0 || (stream = fdopen(file, "rb")) == NULL) {
        tpError_Set(error, tp_ioError, "%.600s: cannot be read: %s", path, strerror(errno));
    }
    if (stream == NULL && file >= 0) {
        close(file);
    } else if (stream != NULL && size != NULL) {
        *size = S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
    }
    return stream;
}

#endif
