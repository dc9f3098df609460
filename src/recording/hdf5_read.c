#include "recording/hdf5_read.h"

#include <string.h>

#include "recording/chunks.h"

enum {
    largestChunk = 64 * 1024 * 1024, // bytes
    deflateGain = 1100               // deflate makes nothing smaller than 1 : 1032
};

// Attributes -------------------------------------------------------------------------------------

// Opens an attribute of `count` values of a type, or of a text where the type is negative.
static hid_t openAttribute(hid_t place, const char* name, hid_t wanted, hssize_t count) {
    hid_t attribute = H5Aopen(place, name, H5P_DEFAULT);
    if (attribute < 0) {
        return -1;
    }
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool fits = type >= 0 && space >= 0 &&
                (wanted < 0 ? H5Tget_class(type) == H5T_STRING : H5Tequal(type, wanted) > 0) &&
                H5Sget_simple_extent_npoints(space) == count;
    H5Sclose(space);
    H5Tclose(type);
    if (!fits) {
        H5Aclose(attribute);
        return -1;
    }
    return attribute;
}

bool tpReadIntAttribute(hid_t place, const char* name, int* value) {
    hid_t attribute = openAttribute(place, name, H5T_STD_I32LE, 1);
    bool done = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT, value) >= 0;
    H5Aclose(attribute);
    return done;
}

bool tpReadNumberAttributes(hid_t place, const char* name, int count, double* values) {
    hid_t attribute = openAttribute(place, name, H5T_IEEE_F64LE, count);
    bool done = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
    H5Aclose(attribute);
    return done;
}

// Texts ------------------------------------------------------------------------------------------

// The length of a fixed-length text type; zero if it is something else.
static size_t textLength(hid_t type) {
    bool fixed = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    return fixed ? H5Tget_size(type) : 0;
}

bool tpReadTextAttribute(hid_t place, const char* name, size_t limit, tpArena* arena,
                         const char** text) {
    hid_t attribute = openAttribute(place, name, -1, 1);
    if (attribute < 0) {
        return false;
    }
    hid_t type = H5Aget_type(attribute);
    size_t length = textLength(type);
    char* room = length > 0 && length <= limit ? tpArena_GetZeroed(arena, length + 1) : NULL;
    bool done = room != NULL && H5Aread(attribute, type, room) >= 0;
    *text = room;
    H5Tclose(type);
    H5Aclose(attribute);
    return done;
}

// Opens a dataset that is not chunked and whose texts are no larger than `limit` together.
static hid_t openTexts(hid_t place, const char* name, size_t limit, size_t* length,
                       hsize_t* count) {
    hid_t data = H5Dopen2(place, name, H5P_DEFAULT);
    if (data < 0) {
        return -1;
    }
    hid_t type = H5Dget_type(data), space = H5Dget_space(data), create = H5Dget_create_plist(data);
    *length = textLength(type);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    H5D_layout_t layout = H5Pget_layout(create);
    bool fits = *length > 0 && *length <= limit && points >= 0 &&
                (hsize_t)points <= limit / *length && H5Sget_simple_extent_ndims(space) <= 1 &&
                (layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
                H5Pget_external_count(create) == 0 && H5Pget_nfilters(create) == 0;
    *count = fits ? (hsize_t)points : 0;
    H5Pclose(create);
    H5Sclose(space);
    H5Tclose(type);
    if (!fits) {
        H5Dclose(data);
        return -1;
    }
    return data;
}

bool tpReadTexts(hid_t place, const char* name, size_t limit, tpArena* arena, char** texts,
                 size_t* stride, hsize_t* count) {
    size_t length = 0;
    hid_t data = openTexts(place, name, limit, &length, count);
    if (data < 0) {
        return false;
    }
    // Memory has one byte more for each text than the file, so that all are closed.
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t given = H5Dget_type(data);
    H5Tset_size(type, length + 1);
    H5Tset_cset(type, H5Tget_cset(given));
    H5Tclose(given);
    *stride = length + 1;
    *texts = tpArena_GetZeroed(arena, (size_t)*count * *stride + 1);
    bool done = *texts != NULL && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *texts) >= 0;
    H5Tclose(type);
    H5Dclose(data);
    return done;
}

bool tpReadText(hid_t place, const char* name, size_t limit, tpArena* arena, const char** text) {
    char* texts = NULL;
    size_t stride = 0;
    hsize_t count = 0;
    bool done = tpReadTexts(place, name, limit, arena, &texts, &stride, &count) && count == 1;
    *text = texts;
    return done;
}

// Tables -----------------------------------------------------------------------------------------

static bool hasType(hid_t data, hid_t wanted) {
    hid_t type = H5Dget_type(data);
    bool same = H5Tequal(type, wanted) > 0;
    H5Tclose(type);
    return same;
}

bool tpReadTable(hid_t place, const char* name, tpColumnKind kind, hsize_t rows, hsize_t width,
                 void* values) {
    hid_t data = H5Dopen2(place, name, H5P_DEFAULT);
    if (data < 0) {
        return false;
    }
    hid_t space = H5Dget_space(data), create = H5Dget_create_plist(data);
    hsize_t size[2] = { 0, 1 };
    int rank = H5Sget_simple_extent_ndims(space);
    bool fits = rank == (width == 1 ? 1 : 2) && H5Sget_simple_extent_dims(space, size, NULL) > 0 &&
                size[0] == rows && (rank == 1 || size[1] == width) &&
                hasType(data, tpColumnKind_FileType(kind)) &&
                H5Pget_layout(create) == H5D_CONTIGUOUS && H5Pget_external_count(create) == 0;
    bool done = fits && (rows == 0 || H5Dread(data, tpColumnKind_MemoryType(kind), H5S_ALL, H5S_ALL,
                                              H5P_DEFAULT, values) >= 0);
    H5Pclose(create);
    H5Sclose(space);
    H5Dclose(data);
    return done;
}

// Columns ----------------------------------------------------------------------------------------

// Whether chunks are those that the writer makes. HDF5 believes the sizes that a damaged file
// gives, and reads beyond the end of its buffer.
static bool isOurChunk(int rank, const hsize_t* size, const hsize_t* chunk) {
    bool isTable = chunk[0] == tp_frameChunk || chunk[0] == tp_contactChunk;
    if (rank == 1) {
        return isTable || chunk[0] == tp_noteChunk;
    }
    hsize_t frames, together, width = rank == 3 ? size[2] : 1;
    if (width == 0 || width > largestChunk || size[1] > UINT32_MAX) {
        return false;
    }
    tpBlockChunk(size[1], width, &frames, &together);
    bool isBlock = chunk[0] == frames && chunk[1] == together && (rank < 3 || chunk[2] == width);
    return isBlock || (rank == 2 && isTable && chunk[1] == size[1]);
}

// Chunks of moderate size, packed with nothing but shuffle and deflate.
static bool isPlainlyChunked(hid_t create, int rank, const hsize_t* size, size_t numberSize,
                             hsize_t* chunkSize) {
    hsize_t chunk[3] = { 0, 0, 0 };
    if (H5Pget_layout(create) != H5D_CHUNKED || H5Pget_chunk(create, rank, chunk) != rank ||
        !isOurChunk(rank, size, chunk)) {
        return false;
    }
    *chunkSize = numberSize;
    for (int i = 0; i < rank; ++i) {
        if (chunk[i] == 0 || chunk[i] > largestChunk / *chunkSize) {
            return false;
        }
        *chunkSize *= chunk[i];
    }
    int filterCount = H5Pget_nfilters(create);
    for (int i = 0; i < filterCount; ++i) {
        unsigned flags, config;
        size_t parameterCount = 0;
        H5Z_filter_t filter =
            H5Pget_filter2(create, (unsigned)i, &flags, &parameterCount, NULL, 0, NULL, &config);
        if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE) {
            return false;
        }
    }
    return filterCount >= 0 && filterCount <= 2;
}

// Numbers that no storage stands behind would let a small file claim any length.
static bool isBacked(hid_t data, int rank, const hsize_t* size, size_t numberSize,
                     hsize_t chunkSize) {
    hsize_t stored = H5Dget_storage_size(data);
    hsize_t most = (stored > UINT64_MAX / 2 / deflateGain ? 0 : stored) * deflateGain + chunkSize;
    hsize_t bytes = numberSize;
    for (int i = 0; i < rank; ++i) {
        if (size[i] != 0 && bytes > most / size[i]) {
            return false;
        }
        bytes *= size[i];
    }
    return true;
}

hid_t tpOpenColumn(hid_t file, const char* path, tpColumnKind kind, int rank, hsize_t* size) {
    hid_t data = H5Dopen2(file, path, H5P_DEFAULT);
    if (data < 0) {
        return -1;
    }
    hid_t space = H5Dget_space(data), create = H5Dget_create_plist(data), given = H5Dget_type(data);
    size_t numberSize = H5Tget_size(given);
    hsize_t chunkSize = 0;
    bool plain = H5Sget_simple_extent_ndims(space) == rank &&
                 H5Sget_simple_extent_dims(space, size, NULL) == rank &&
                 hasType(data, tpColumnKind_FileType(kind)) &&
                 isPlainlyChunked(create, rank, size, numberSize, &chunkSize) &&
                 isBacked(data, rank, size, numberSize, chunkSize);
    H5Tclose(given);
    H5Pclose(create);
    H5Sclose(space);
    if (!plain) {
        H5Dclose(data);
        return -1;
    }
    return data;
}

bool tpReadRows(hid_t column, tpColumnKind kind, hsize_t first, hsize_t count, hsize_t from,
                hsize_t many, void* values) {
    if (count == 0) {
        return true;
    }
    hid_t space = H5Dget_space(column);
    hsize_t start[3] = { first, from, 0 }, size[3] = { 0, 0, 0 };
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    size[0] = count;
    if (rank > 1 && many > 0) {
        size[1] = many;
    } else {
        start[1] = 0;
    }
    hid_t memory = H5Screate_simple(rank, size, NULL);
    bool done =
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
        H5Dread(column, tpColumnKind_MemoryType(kind), memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return done;
}
