// Problems from files: loads the file, and gives it to the reader of its format.

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/input_file.h"
#include "problems/problem_reader.h"

// What a pipe may hold; files are as long as they are.
static const size_t longestStream = (size_t)1 << 30;

const char* tpProblemKind_Name(tpProblemKind kind) {
    static const char* const names[] = { "any", "lcp", "mlcp", "fc2d", "fc3d" };
    bool isKnown = (unsigned)kind < sizeof(names) / sizeof(names[0]);
    return TP_REQUIRE(isKnown, "kind", "is %d, which stands for nothing", (int)kind) ? names[kind]
                                                                                     : "none";
}

tpOwnedProblem* tpCreateOwnedProblem(const tpAllocator* allocator) {
    tpAllocator source = allocator != NULL ? *allocator : tpDefaultAllocator();
    tpOwnedProblem* owned = tpAllocateZeroed(&source, sizeof(tpOwnedProblem));
    if (owned != NULL) {
        owned->allocator = source;
        tpArena_Create(&owned->arena, &source);
    }
    return owned;
}

void tpDestroyProblem(tpProblem* problem) {
    if (problem != NULL) {
        tpOwnedProblem* owned = (tpOwnedProblem*)problem;
        tpAllocator allocator = owned->allocator;
        tpArena_Destroy(&owned->arena);
        tpRelease(&allocator, owned, sizeof(*owned));
    }
}

tpResult tpParseProblem(const char* text, size_t length, const char* name, tpProblemKind kind,
                        const tpAllocator* allocator, tpProblem** problem, tpError* error) {
    TP_NEED(text, tp_badInput);
    TP_NEED(name, tp_badInput);
    TP_NEED(problem, tp_badInput);
    tpError unused;
    error = error != NULL ? error : &unused;
    *problem = NULL;
    tpOwnedProblem* owned = tpCreateOwnedProblem(allocator);
    if (owned == NULL) {
        return tpError_OutOfMemory(error);
    }
    // strtod follows the locale of the thread: a program that has set one with a decimal comma must
    // read the same numbers.
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    tpScanner scanner;
    tpScanner_Start(&scanner, name, text, length, error);
    tpResult result = tpReadProblemText(&scanner, kind, owned);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
    if (result != tp_success) {
        tpDestroyProblem(&owned->problem);
        return result;
    }
    *problem = &owned->problem;
    return tp_success;
}

// Files ---------------------------------------------------------------------------------------

typedef struct FileText {
    char* data;
    size_t length;
    size_t capacity;
} FileText;

// Room for at least one more byte.
static bool growText(const tpAllocator* allocator, FileText* text) {
    size_t capacity = text->capacity < 4096 ? 4096 : 2 * text->capacity;
    char* data = tpAllocate(allocator, capacity);
    if (data == NULL) {
        return false;
    }
    if (text->length > 0) {
        memcpy(data, text->data, text->length);
    }
    tpRelease(allocator, text->data, text->capacity);
    text->data = data;
    text->capacity = capacity;
    return true;
}

static tpResult loadText(FILE* file, const char* path, size_t expected,
                         const tpAllocator* allocator, FileText* text, tpError* error) {
    text->capacity = expected + 1; // one more, to see the end without growing
    text->data = tpAllocate(allocator, text->capacity);
    if (text->data == NULL) {
        text->capacity = 0;
        return tpError_OutOfMemory(error);
    }
    for (;;) {
        size_t got = fread(text->data + text->length, 1, text->capacity - text->length, file);
        text->length += got;
        if (ferror(file)) {
            return tpError_Set(error, tp_ioError, "%s: %s", path, strerror(errno));
        }
        if (text->length < text->capacity) {
            return tp_success;
        }
        if (text->length > expected && text->length > longestStream) {
            return tpError_Set(error, tp_badInput, "%s: more than %zu bytes from a stream", path,
                               longestStream);
        }
        if (!growText(allocator, text)) {
            return tpError_OutOfMemory(error);
        }
    }
}

// HDF5 files begin with their signature, or have it behind a user block at 512, 1024, 2048, ...
static bool isHdf5(FILE* file) {
    static const unsigned char signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    bool found = false;
    for (long offset = 0; !found && offset <= 1 << 20; offset = offset == 0 ? 512 : 2 * offset) {
        unsigned char head[8];
        if (fseek(file, offset, SEEK_SET) != 0 || fread(head, 1, 8, file) != 8) {
            break;
        }
        found = memcmp(head, signature, 8) == 0;
    }
    rewind(file);
    return found;
}

static tpResult readHdf5(const char* path, tpProblemKind kind, const tpAllocator* allocator,
                         tpProblem** problem, tpError* error) {
    tpOwnedProblem* owned = tpCreateOwnedProblem(allocator);
    if (owned == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = tpReadFclib(path, kind, owned, error);
    if (result != tp_success) {
        tpDestroyProblem(&owned->problem);
        return result;
    }
    *problem = &owned->problem;
    return tp_success;
}

tpResult tpReadProblem(const char* path, tpProblemKind kind, const tpAllocator* allocator,
                       tpProblem** problem, tpError* error) {
    TP_NEED(path, tp_badInput);
    TP_NEED(problem, tp_badInput);
    tpAllocator source = allocator != NULL ? *allocator : tpDefaultAllocator();
    *problem = NULL;
    int64_t size;
    FILE* file = tpOpenInput(path, &size, error);
    if (file == NULL) {
        return tp_ioError;
    }
    if (size >= 0 && isHdf5(file)) {
        fclose(file);
        return readHdf5(path, kind, &source, problem, error);
    }
    FileText text = { 0 };
    tpResult result = loadText(file, path, size >= 0 ? (size_t)size : 0, &source, &text, error);
    fclose(file);
    if (result == tp_success) {
        result = tpParseProblem(text.data, text.length, path, kind, &source, problem, error);
    }
    tpRelease(&source, text.data, text.capacity);
    return result;
}
