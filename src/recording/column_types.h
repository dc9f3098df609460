// The types of columns in HDF5's terms.

#ifndef TIPPE_SRC_RECORDING_COLUMN_TYPES_H
#define TIPPE_SRC_RECORDING_COLUMN_TYPES_H

#include <hdf5.h>

#include "recording/columns.h"

hid_t tpColumnKind_MemoryType(tpColumnKind kind);
hid_t tpColumnKind_FileType(tpColumnKind kind);

#endif
