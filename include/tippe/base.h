// What every part of Tippe shares: versions, memory, assertions and results.
//
// Three kinds of trouble are reported in three ways:
//
//   a programming mistake   (a stale id, an index out of range, a number that is not finite, NULL
//                           where there must be an object) is reported to the misuse hook with the
//                           names of the function and of the argument. The call then changes
//                           nothing and returns zeros, or tp_badInput. Debug builds of the library
//                           stop there by default, release builds never do.
//   bad input               (an invalid definition or file) returns a tpResult other than
//                           tp_success, or a null id, with a message in a tpError of the caller's;
//                           nothing is changed.
//   a solve that did not    is a result: the report of the step says so.
//   converge
//
// NULL may be destroyed, closed and released without effect, and means the default for options,
// allocators and errors. Not checked, since only the caller can know: that pointers are valid, that
// objects were not destroyed before, that arrays are as long as the call says.

#ifndef TIPPE_BASE_H
#define TIPPE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TP_BEGIN_DECLS extern "C" {
#define TP_END_DECLS }
#else
#define TP_BEGIN_DECLS
#define TP_END_DECLS
#endif

#if defined(__GNUC__)
#if defined(_WIN32)
#define TP_API
#define TP_PRINTF(formatIndex, firstArgument)                                                      \
    __attribute__((format(gnu_printf, formatIndex, firstArgument)))
#else
#define TP_API __attribute__((visibility("default")))
#define TP_PRINTF(formatIndex, firstArgument)                                                      \
    __attribute__((format(printf, formatIndex, firstArgument)))
#endif
#else
#define TP_API
#define TP_PRINTF(formatIndex, firstArgument)
#endif

#define TP_VERSION_MAJOR 0
#define TP_VERSION_MINOR 1
#define TP_VERSION_PATCH 0

TP_BEGIN_DECLS

// The version of the library that is linked, as "major.minor.patch".
TP_API const char* tpVersion(void);

// Memory --------------------------------------------------------------------------------------

// Where memory comes from. `allocate` returns NULL when there is none left; `release` receives the
// size that was requested. Memory is aligned to 64 bytes, a cache line.
typedef struct tpAllocator {
    void* (*allocate)(size_t size, void* context);
    void (*release)(void* memory, size_t size, void* context);
    void* context;
} tpAllocator;

// The C library's heap.
TP_API tpAllocator tpDefaultAllocator(void);

// Results -------------------------------------------------------------------------------------

typedef enum tpResult {
    tp_success = 0,
    tp_badInput,    // the caller's data are wrong; the message says what was expected
    tp_outOfMemory, // the allocator returned NULL; nothing was changed
    tp_ioError,     // a file could not be read or written
    tp_unsupported, // this build or this combination cannot do it
    tp_notSolved    // a computation did not reach its tolerance
} tpResult;

// A message in memory of the caller. File errors start with "file:line:column: ".
typedef struct tpError {
    tpResult result;
    char message[1024];
} tpError;

// Misuse and assertions -------------------------------------------------------------------------

// Called after a programming mistake, on the thread that made it, before the call returns:
// "tpBody_SetVelocity", "velocity", "is not finite". A binding to another language can turn it into
// an exception.
typedef void (*tpMisuseHook)(const char* function, const char* argument, const char* message);

// Installs a hook for the whole process; NULL restores the default, which prints a line to the
// standard error and, in builds without NDEBUG, aborts.
TP_API void tpSetMisuseHook(tpMisuseHook hook);

// Called when an assertion of the library about itself fails, which is an error in the library.
// Return true to abort the process, false to go on.
typedef bool (*tpAssertHook)(const char* condition, const char* file, int line);

// Installs a hook for the whole process; NULL restores the default, which prints and aborts.
TP_API void tpSetAssertHook(tpAssertHook hook);

TP_END_DECLS

#endif
