// Files that are there whole or not at all, and files with one writer at a time.
//
// A new file is written as a part beside its target, TARGET.PID.N.part, and takes the target's
// place when it is whole. A part is always a new file (O_EXCL): a link that lies in its place is
// not followed, and two processes never share one. It is locked until it is closed, so a part
// without a lock was left behind by a process that died; the next part of the same target removes
// it.
//
//     tpPartFile part;
//     if (tpPartFile_Create(&part, "page.html") && writePage(part.file)) {
//         isDone = tpPartFile_Place(&part);
//     }
//
// Locks are those of open file descriptions (F_OFD_SETLK where the system has them, else flock):
// they end with the process, hold between two threads as well, and are not the locks that HDF5's
// own readers take. On a file system without locks every lock is granted.

#ifndef TIPPE_SRC_BASE_PART_FILE_H
#define TIPPE_SRC_BASE_PART_FILE_H

#include "tippe/base.h"

enum { tp_pathCapacity = 4096 }; // of a path with its closing zero

typedef struct tpPartFile {
    int file; // open for reading and writing, and locked; -1: closed
    char path[tp_pathCapacity];
    char target[tp_pathCapacity]; // absolute, links followed
} tpPartFile;

// All functions return false with errno on failure.

// Reads or writes all of it, through interruptions; reading past the end of the file gives zeros.
bool tpReadAll(int file, void* bytes, size_t size, uint64_t offset);
bool tpWriteAll(int file, const void* bytes, size_t size, uint64_t offset);

// The absolute path of a file, links followed. The file itself need not exist, nor what a link at
// its place points to; its directory must.
bool tpResolvePath(const char* path, char* resolved, size_t size);

// Takes the lock of an open file, or fails with EWOULDBLOCK if another open file holds it. The file
// must be open for writing, or `isShared` asks for a lock that only an exclusive one excludes.
bool tpLockFile(int file, bool isShared);

// Opens what no part may replace, a device or a pipe, for writing; -1 on failure. A named pipe that
// nobody reads fails with ENXIO: opening it would wait for a reader that may never come.
int tpOpenInPlace(const char* path);

// Creates a part for `target`, with the permissions of the file it will replace. Devices, pipes and
// directories are not replaced: ENOTSUP, EISDIR.
bool tpPartFile_Create(tpPartFile* part, const char* target);

// The same for a name that the program has chosen, not its user: a link that lies there is replaced
// like a file, not followed.
bool tpPartFile_CreateOver(tpPartFile* part, const char* target);

// Moves the part to its target, forced to disk first; the file at the target is replaced. The part
// is closed, also on failure, and then removed.
bool tpPartFile_Place(tpPartFile* part);

// The same for a file that is still written afterwards: the part stays open and locked. Fails with
// EWOULDBLOCK if the file at the target is locked, which means that another process is writing it.
// `obsolete` (may be NULL) is a file that belongs to the one that is replaced, and goes with it.
bool tpPartFile_PlaceOpen(tpPartFile* part, const char* obsolete);

// Closes and removes the part.
void tpPartFile_Discard(tpPartFile* part);

// Forces the entry of a file in its directory to disk.
bool tpSyncDirectoryOf(const char* path);

#endif
