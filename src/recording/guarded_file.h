// A file driver for HDF5 whose file is whole at every moment.
//
// HDF5 1.10 writes its metadata in place and in any order, so a process that dies inside or between
// flushes may leave a file that nobody can open. Here the file only ever changes from one flushed
// state to the next: what HDF5 writes behind the end of the last state goes to the file at once
// (nothing there refers to it yet), what it writes below that end stays in memory, by pages, until
// tpGuardedFile_Commit puts them into the file through a journal (recording/journal.h).
//
//     0 ............. committed end ............. end of file
//     | kept in memory until commit | written at once |
//
// When a write fails (a full disk) the driver goes on in memory alone, so that HDF5 can close in
// peace; nothing more is committed, and the file stays at its last state.

#ifndef TIPPE_SRC_RECORDING_GUARDED_FILE_H
#define TIPPE_SRC_RECORDING_GUARDED_FILE_H

#include <hdf5.h>

#include "tippe/base.h"

// Makes an open, empty file an HDF5 file behind the driver, which keeps a descriptor of its own.
// `name` is what HDF5 calls it, and `journalPath` must stay valid while it is open. With `sync` a
// commit is on the disk when it is done. Negative on failure, with errno in `reason` where the
// system gave one.
hid_t tpGuardedFile_Create(int descriptor, const char* name, const char* journalPath, bool sync,
                           const tpAllocator* allocator, int* reason);

// Flushes HDF5 and makes what was written since the last commit part of the file. Zero on success,
// errno on failure; once failed, always failed.
int tpGuardedFile_Commit(hid_t file);

// Closes; commits first, unless a commit or a write has failed before, or `discard` is asked for.
// Zero on success, errno on failure.
int tpGuardedFile_Close(hid_t file, bool discard);

#endif
