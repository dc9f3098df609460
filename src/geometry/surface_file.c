// Surfaces from files: loads the file, lets the reader of its format work, and hands over the
// arrays.

#include "geometry/surface_file.h"
#include "base/assert.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

// Numbers of vertices and corners are 32-bit; a file beyond this would overflow them.
static const long longestFile = 2000000000L;

tpResult tpSurfaceReader_Fail(tpSurfaceReader* reader, size_t at, const char* message) {
    return tpError_Set(reader->error, tp_badInput, "%s:%d:%d: %s", reader->path, reader->line,
                       (int)(at - reader->lineStart) + 1, message);
}

void tpSurfaceReader_SkipBlanks(tpSurfaceReader* reader) {
    for (;;) {
        char c = reader->text[reader->at];
        const char* rest = reader->text + reader->at;
        if (c == ' ' || c == '\t' || c == '\v' || c == '\f') {
            ++reader->at;
        } else if (c == '\\' && (rest[1] == '\n' || (rest[1] == '\r' && rest[2] == '\n'))) {
            reader->at += rest[1] == '\n' ? 2 : 3;
            reader->lineStart = reader->at;
            ++reader->line;
        } else {
            return;
        }
    }
}

bool tpSurfaceReader_AtLineEnd(const tpSurfaceReader* reader) {
    char c = reader->text[reader->at];
    return reader->at >= reader->length || c == '\n' || c == '\r' || c == '#';
}

void tpSurfaceReader_NextLine(tpSurfaceReader* reader) {
    while (reader->at < reader->length && reader->text[reader->at] != '\n') {
        ++reader->at;
    }
    reader->at += reader->at < reader->length ? 1 : 0;
    reader->lineStart = reader->at;
    ++reader->line;
}

static bool isWordEnd(char c) {
    return c == '\0' || isspace((unsigned char)c) || c == '/';
}

tpResult tpSurfaceReader_Number(tpSurfaceReader* reader, double* value) {
    tpSurfaceReader_SkipBlanks(reader);
    const char* start = reader->text + reader->at;
    if (tpSurfaceReader_AtLineEnd(reader)) {
        return tpSurfaceReader_Fail(reader, reader->at,
                                    "expected a number, found the end of the line");
    }
    char* end;
    *value = strtod(start, &end);
    if (end == start || !isWordEnd(*end)) {
        return tpSurfaceReader_Fail(reader, reader->at, "expected a number");
    }
    if (!isfinite(*value)) {
        return tpSurfaceReader_Fail(reader, reader->at, "expected a finite number");
    }
    reader->at += (size_t)(end - start);
    return tp_success;
}

bool tpSurfaceReader_Word(tpSurfaceReader* reader, const char* word) {
    size_t length = strlen(word);
    const char* here = reader->text + reader->at;
    if (strncasecmp(here, word, length) != 0 || !isWordEnd(here[length])) {
        return false;
    }
    reader->at += length;
    return true;
}

// A corner used twice leaves no triangle: such ones, common in exported files, are left out.
bool tpSurfaceReader_AddTriangle(tpSurfaceReader* reader, int32_t a, int32_t b, int32_t c) {
    if (a == b || b == c || c == a) {
        return true;
    }
    return TP_PUSH(&reader->allocator, reader->corners, a) &&
           TP_PUSH(&reader->allocator, reader->corners, b) &&
           TP_PUSH(&reader->allocator, reader->corners, c);
}

static tpResult fileError(tpSurfaceReader* reader, const char* what) {
    char reason[128];
    int code = errno;
#if defined(_WIN32)
    bool isKnown = strerror_s(reason, sizeof(reason), code) == 0;
#else
    bool isKnown = strerror_r(code, reason, sizeof(reason)) == 0;
#endif
    if (!isKnown) {
        snprintf(reason, sizeof(reason), "error %d", code);
    }
    return tpError_Set(reader->error, tp_ioError, "%s: %s: %s", reader->path, what, reason);
}

// The whole file with a zero behind it.
static tpResult loadFile(tpSurfaceReader* reader, FILE* file, char** text) {
    if (fseek(file, 0, SEEK_END) != 0) {
        return fileError(reader, "cannot be read");
    }
    long length = ftell(file);
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return fileError(reader, "cannot be read");
    }
    if (length > longestFile) {
        return tpError_Set(reader->error, tp_badInput, "%s: the file is too long (%ld bytes)",
                           reader->path, length);
    }
    *text = tpAllocate(&reader->allocator, (size_t)length + 1);
    if (*text == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    reader->text = *text;
    reader->length = (size_t)length;
    (*text)[length] = '\0';
    if (fread(*text, 1, (size_t)length, file) != (size_t)length) {
        return tpError_Set(reader->error, tp_ioError, "%s: cannot be read to its end",
                           reader->path);
    }
    return tp_success;
}

static const char* endingOf(const char* path) {
    const char* dot = strrchr(path, '.');
    const char* slash = strrchr(path, '/');
    return dot != NULL && (slash == NULL || dot > slash) ? dot : "";
}

// Numbers have a point in every country: the thread reads in the C locale meanwhile.
static tpResult parseNumbers(tpSurfaceReader* reader) {
    bool isObj = strcasecmp(endingOf(reader->path), ".obj") == 0;
    return isObj ? tpReadObj(reader) : tpReadStl(reader);
}

#if defined(_WIN32)
static tpResult parse(tpSurfaceReader* reader) {
    char before[128] = "C";
    int mode = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char* name = setlocale(LC_NUMERIC, NULL);
    if (name != NULL) {
        snprintf(before, sizeof(before), "%s", name);
    }
    setlocale(LC_NUMERIC, "C");
    tpResult result = parseNumbers(reader);
    setlocale(LC_NUMERIC, before);
    _configthreadlocale(mode);
    return result;
}
#else
static tpResult parse(tpSurfaceReader* reader) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return tpError_OutOfMemory(reader->error);
    }
    locale_t before = uselocale(plain);
    tpResult result = parseNumbers(reader);
    uselocale(before);
    freelocale(plain);
    return result;
}
#endif

// Arrays of exactly the right size, for the caller to keep.
static tpResult handOver(tpSurfaceReader* reader, tpSurface* out) {
    size_t vertexBytes = (size_t)reader->vertices.count * sizeof(tpVec3);
    size_t cornerBytes = (size_t)reader->corners.count * sizeof(int32_t);
    tpSurface surface = { 0 };
    surface.allocator = reader->allocator;
    surface.vertexCount = reader->vertices.count;
    surface.triangleCount = reader->corners.count / 3;
    surface.vertices = tpAllocate(&reader->allocator, vertexBytes);
    surface.triangles = tpAllocate(&reader->allocator, cornerBytes);
    if (surface.vertices == NULL || (cornerBytes > 0 && surface.triangles == NULL)) {
        tpReleaseSurface(&surface);
        return tpError_OutOfMemory(reader->error);
    }
    memcpy(surface.vertices, reader->vertices.data, vertexBytes);
    if (cornerBytes > 0) {
        memcpy(surface.triangles, reader->corners.data, cornerBytes);
    }
    *out = surface;
    return tp_success;
}

tpResult tpReadSurface(const tpAllocator* allocator, const char* path, tpSurface* out,
                       tpError* error) {
    TP_NEED(path, tp_badInput);
    TP_NEED(out, tp_badInput);
    memset(out, 0, sizeof(*out));
    const char* ending = endingOf(path);
    if (strcasecmp(ending, ".obj") != 0 && strcasecmp(ending, ".stl") != 0) {
        return tpError_Set(error, tp_badInput, "%s: expected a file that ends in .obj or .stl",
                           path);
    }
    tpSurfaceReader reader = { .path = path, .line = 1, .allocator = *allocator, .error = error };
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return fileError(&reader, "cannot be opened");
    }
    char* text = NULL;
    tpResult result = loadFile(&reader, file, &text);
    fclose(file);
    if (result == tp_success) {
        result = parse(&reader);
    }
    if (result == tp_success && reader.vertices.count == 0) {
        result = tpError_Set(error, tp_badInput, "%s: there are no vertices in the file", path);
    }
    if (result == tp_success) {
        result = handOver(&reader, out);
    }
    tpRelease(allocator, text, reader.length + 1);
    TP_FREE_ARRAY(allocator, reader.vertices);
    TP_FREE_ARRAY(allocator, reader.corners);
    return result;
}

void tpReleaseSurface(tpSurface* surface) {
    if (surface == NULL) {
        return;
    }
    tpRelease(&surface->allocator, surface->vertices,
              (size_t)surface->vertexCount * sizeof(tpVec3));
    tpRelease(&surface->allocator, surface->triangles,
              (size_t)surface->triangleCount * sizeof(int32_t[3]));
    memset(surface, 0, sizeof(*surface));
}
