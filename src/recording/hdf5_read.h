// Careful reading of HDF5: every size and type is checked before memory is asked for or filled.
//
// All functions return false for what is not as it should be, and never print.

#ifndef TIPPE_SRC_RECORDING_HDF5_READ_H
#define TIPPE_SRC_RECORDING_HDF5_READ_H

#include "base/memory.h"
#include "recording/column_types.h"

// Attributes of one number, or of `count` numbers.
bool tpReadIntAttribute(hid_t place, const char* name, int* value);
bool tpReadNumberAttributes(hid_t place, const char* name, int count, double* values);

// Texts of a fixed length, into the arena and closed with a zero. None may be longer than `limit`.
bool tpReadTextAttribute(hid_t place, const char* name, size_t limit, tpArena* arena,
                         const char** text);
bool tpReadText(hid_t place, const char* name, size_t limit, tpArena* arena, const char** text);
// A list of texts; `stride` is the room of each with its closing zero.
bool tpReadTexts(hid_t place, const char* name, size_t limit, tpArena* arena, char** texts,
                 size_t* stride, hsize_t* count);

// A dataset of `rows` x `width` numbers that is not chunked, whole.
bool tpReadTable(hid_t place, const char* name, tpColumnKind kind, hsize_t rows, hsize_t width,
                 void* values);

// Opens a dataset only if it is plain: numbers of exactly the type of its kind, of the given rank,
// in chunks of moderate size that are packed with nothing but shuffle and deflate, and no larger
// than its storage can hold. `size` receives its dimensions. Negative otherwise.
hid_t tpOpenColumn(hid_t file, const char* path, tpColumnKind kind, int rank, hsize_t* size);

// Rows `first` to `first` + `count` - 1 of a column; in the second dimension those from `from` on,
// `many` of them, or all of them if `many` is 0.
bool tpReadRows(hid_t column, tpColumnKind kind, hsize_t first, hsize_t count, hsize_t from,
                hsize_t many, void* values);

#endif
