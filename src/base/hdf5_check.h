// Whether a file is put together as HDF5 puts such files together, before HDF5 is let near it.
//
// HDF5 1.10 trusts much of what a file says of itself, and crashes on files made to deceive, or by
// bad luck. So the whole structure is walked first, by the published format [HDF5Format]:
// superblock, groups, object headers, indices of chunks. Only what files of the kind consist of
// passes, each part with the versions and sizes it has there, within the file, and no two of them
// in the same place. Both kinds are of the oldest format, version 0.

#ifndef TIPPE_SRC_BASE_HDF5_CHECK_H
#define TIPPE_SRC_BASE_HDF5_CHECK_H

#include "tippe/base.h"

typedef enum tpHdf5Kind {
    tp_recordingFile, // as the recorder writes it, and in no other way
    tp_problemFile    // whatever programs write with HDF5's defaults: plain numbers in groups
} tpHdf5Kind;

// NULL if the file passes, otherwise what is wrong with it. `names`, ended by NULL, are those of
// the datasets that will be opened, in whatever group: they must be plain numbers or texts, while
// others in a problem may be of any type. NULL: all will be. `outOfMemory` tells that the file
// could not be checked for want of memory.
const char* tpCheckHdf5(int file, uint64_t size, tpHdf5Kind kind, const char* const* names,
                        const tpAllocator* allocator, bool* outOfMemory);

#endif
