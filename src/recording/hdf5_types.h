// The types of HDF5 that stand in structs, or stand-ins for them in a build without it.

#ifndef TIPPE_SRC_RECORDING_HDF5_TYPES_H
#define TIPPE_SRC_RECORDING_HDF5_TYPES_H

#ifdef TIPPE_HAVE_HDF5
#include <hdf5.h>
#else
#include <stdint.h>
typedef int64_t hid_t;
typedef uint64_t hsize_t;
#endif

#endif
