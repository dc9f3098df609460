// Whether a file is put together as HDF5 puts recordings together, before HDF5 is let near it.
//
// HDF5 1.10 trusts much of what a file says of itself, and crashes on files made to deceive, or by bad
// luck. So the whole structure is walked first, by the published format [HDF5Format]: superblock, groups,
// object headers, indices of chunks. Only what recordings consist of passes, each part with the versions
// and sizes it has there, within the file, and no two of them in the same place.

#ifndef TIPPE_SRC_RECORDING_FILE_CHECK_H
#define TIPPE_SRC_RECORDING_FILE_CHECK_H

#include "tippe/base.h"

// NULL where the file passes, otherwise what is wrong with it. `outOfMemory` tells that it could not be
// checked for want of memory.
const char* tpCheckFile(int file, uint64_t size, const tpAllocator* allocator, bool* outOfMemory);

#endif
