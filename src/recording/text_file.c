#include "recording/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "recording/clock.h"
#include "recording/number.h"

enum { bufferSize = 256 * 1024 };

static const double flushInterval = 0.25; // s

static bool isReplaceable(const char* path) {
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

// The file itself, locked.
static int openGrowing(tpTextFile* text, const char* path) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    text->isNew = file >= 0;
    if (file < 0 && errno == EEXIST) { // links are followed, also to where no file is yet
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (file >= 0 && !tpLockFile(file, false)) {
        int reason = errno;
        close(file);
        errno = reason;
        return -1;
    }
    return file;
}

static int openText(tpTextFile* text, const char* path, tpTextFileKind kind) {
    if (strcmp(path, "-") == 0) {
        text->isCleared = true;
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    }
    text->isCleared = true;
    if (!isReplaceable(path)) {
        return tpOpenInPlace(path);
    }
    if (kind == tp_growingText) {
        text->isCleared = false;
        return openGrowing(text, path);
    }
    text->part = tpAllocate(&text->allocator, sizeof(tpPartFile));
    if (text->part == NULL) {
        errno = ENOMEM;
        return -1;
    }
    return tpPartFile_Create(text->part, path) ? text->part->file : -1;
}

static void freeText(tpTextFile* text) {
    tpRelease(&text->allocator, text->path, text->pathSize);
    tpRelease(&text->allocator, text->buffer, bufferSize);
    tpRelease(&text->allocator, text->part, sizeof(tpPartFile));
    memset(text, 0, sizeof(*text));
}

static tpResult failCreating(const char* path, tpError* error) {
    if (errno == ENOMEM) {
        return tpError_OutOfMemory(error);
    }
    if (errno == EWOULDBLOCK) {
        return tpError_Set(error, tp_ioError, "%s: another run is writing it", path);
    }
    return tpError_Set(error, tp_ioError, "%s: cannot create: %s", path,
                       errno == ENXIO ? "a named pipe that nobody reads" : strerror(errno));
}

tpResult tpTextFile_Create(tpTextFile* text, const char* path, tpTextFileKind kind,
                           const tpAllocator* allocator, tpError* error) {
    memset(text, 0, sizeof(*text));
    text->allocator = *allocator;
    text->pathSize = strlen(path) + 1;
    text->path = tpAllocate(allocator, text->pathSize);
    text->buffer = tpAllocate(allocator, bufferSize);
    tpResult result = tp_success;
    if (text->path == NULL || text->buffer == NULL) {
        result = tpError_OutOfMemory(error);
    } else {
        memcpy(text->path, path, text->pathSize);
        text->file = openText(text, path, kind);
        if (text->file < 0) {
            result = failCreating(path, error);
        }
    }
    if (result != tp_success) {
        freeText(text);
    }
    text->lastFlush = tpSecondsNow();
    return result;
}

// After a failure the file ends with a whole row again. Pipes and devices refuse that, and need it
// not.
static void cutAtRow(tpTextFile* text, size_t done) {
    while (done > 0 && text->buffer[done - 1] != '\n') {
        done -= 1;
        text->written -= 1;
    }
    uint64_t end = done > 0 ? text->written : text->rowEnd;
    if (ftruncate(text->file, (off_t)end) == 0) {
        text->written = end;
    }
}

static void clearFile(tpTextFile* text) {
    if (!text->isCleared && text->failure == 0 && ftruncate(text->file, 0) != 0) {
        text->failure = errno;
    }
    text->isCleared = true;
}

static void flush(tpTextFile* text) {
    size_t done = 0;
    clearFile(text);
    while (text->failure == 0 && done < text->used) {
        ssize_t put = write(text->file, text->buffer + done, text->used - done);
        if (put > 0) {
            done += (size_t)put;
            text->written += (uint64_t)put;
        } else if (put == 0 || errno != EINTR) {
            text->failure = put == 0 ? ENOSPC : errno;
            cutAtRow(text, done);
        }
    }
    if (text->failure == 0 && text->bufferedEnd > 0) {
        text->rowEnd = text->bufferedEnd;
    }
    text->used = 0;
    text->bufferedEnd = 0;
    text->lastFlush = tpSecondsNow();
}

// Room for `size` more bytes, far less than the buffer.
static char* makeRoom(tpTextFile* text, size_t size) {
    if (text->used + size > bufferSize) {
        flush(text);
    }
    return text->buffer + text->used;
}

void tpTextFile_PutChar(tpTextFile* text, char c) {
    *makeRoom(text, 1) = c;
    text->used += 1;
}

void tpTextFile_PutText(tpTextFile* text, const char* piece) {
    for (; *piece != '\0'; ++piece) {
        tpTextFile_PutChar(text, *piece);
    }
}

void tpTextFile_PutNumber(tpTextFile* text, double value) {
    text->used += (size_t)tpFormatNumber(makeRoom(text, tp_numberCapacity), value);
}

void tpTextFile_PutName(tpTextFile* text, const char* name) {
    if (strpbrk(name, ",\"\r\n") == NULL) {
        tpTextFile_PutText(text, name);
        return;
    }
    tpTextFile_PutChar(text, '"');
    for (const char* c = name; *c != '\0'; ++c) {
        if (*c == '"') {
            tpTextFile_PutChar(text, '"');
        }
        tpTextFile_PutChar(text, *c);
    }
    tpTextFile_PutChar(text, '"');
}

static tpResult reportFailure(const tpTextFile* text, tpError* error) {
    return text->failure == 0 ? tp_success
                              : tpError_Set(error, tp_ioError, "%s: cannot write: %s", text->path,
                                            strerror(text->failure));
}

tpResult tpTextFile_EndRow(tpTextFile* text, tpError* error) {
    tpTextFile_PutChar(text, '\n');
    text->bufferedEnd = text->written + text->used;
    if (tpSecondsNow() - text->lastFlush >= flushInterval) {
        flush(text);
    }
    return reportFailure(text, error);
}

// Closes the file; a part is placed or removed.
static void closeFile(tpTextFile* text, bool isDone) {
    bool isClosed = true;
    if (text->part == NULL) {
        isClosed = close(text->file) == 0;
    } else if (isDone && text->failure == 0) {
        isClosed = tpPartFile_Place(text->part);
    } else {
        tpPartFile_Discard(text->part);
    }
    if (!isClosed && text->failure == 0) {
        text->failure = errno;
    }
}

tpResult tpTextFile_Close(tpTextFile* text, tpError* error) {
    flush(text);
    closeFile(text, true);
    tpResult result = reportFailure(text, error);
    freeText(text);
    return result;
}

void tpTextFile_Abandon(tpTextFile* text) {
    if (text->part == NULL && !text->isCleared && text->isNew) {
        unlink(text->path);
    } else if (text->part == NULL && text->isCleared) {
        flush(text);
    }
    closeFile(text, false);
    freeText(text);
}
