#include "recording/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "recording/clock.h"
#include "recording/number.h"

enum { bufferSize = 256 * 1024 };

static const double flushInterval = 0.25; // s

tpResult tpTextFile_Create(tpTextFile* text, const char* path, const tpAllocator* allocator,
                           tpError* error) {
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
        text->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (text->file < 0) {
            result = tpError_Set(error, tp_ioError, "%s: cannot create: %s", path, strerror(errno));
        }
    }
    if (result != tp_success) {
        tpRelease(allocator, text->path, text->pathSize);
        tpRelease(allocator, text->buffer, bufferSize);
        memset(text, 0, sizeof(*text));
    }
    text->lastFlush = tpSecondsNow();
    return result;
}

// After a failure the file ends with a whole row again. Pipes and devices refuse that, and need it not.
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

static void flush(tpTextFile* text) {
    size_t done = 0;
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

tpResult tpTextFile_Close(tpTextFile* text, tpError* error) {
    flush(text);
    if (close(text->file) != 0 && text->failure == 0) {
        text->failure = errno;
    }
    tpResult result = reportFailure(text, error);
    tpRelease(&text->allocator, text->path, text->pathSize);
    tpRelease(&text->allocator, text->buffer, bufferSize);
    memset(text, 0, sizeof(*text));
    return result;
}
