#include "recording/column_types.h"

// The names of HDF5 stand for variables of its own, so these tables cannot be static.

hid_t tpColumnKind_MemoryType(tpColumnKind kind) {
    hid_t types[tp_columnKindCount] = {
        [tp_doubleColumn] = H5T_NATIVE_DOUBLE, [tp_intColumn] = H5T_NATIVE_INT,
        [tp_int64Column] = H5T_NATIVE_INT64,   [tp_uint64Column] = H5T_NATIVE_UINT64,
        [tp_boolColumn] = H5T_NATIVE_UINT8,    [tp_enumColumn] = H5T_NATIVE_INT,
    };
    return types[kind];
}

hid_t tpColumnKind_FileType(tpColumnKind kind) {
    hid_t types[tp_columnKindCount] = {
        [tp_doubleColumn] = H5T_IEEE_F64LE, [tp_intColumn] = H5T_STD_I32LE,
        [tp_int64Column] = H5T_STD_I64LE,   [tp_uint64Column] = H5T_STD_U64LE,
        [tp_boolColumn] = H5T_STD_U8LE,     [tp_enumColumn] = H5T_STD_U8LE,
    };
    return types[kind];
}
