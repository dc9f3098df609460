// For realpath.
#define _XOPEN_SOURCE 700

#include "recording/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/chunks.h"
#include "recording/column_types.h"
#include "recording/guarded_file.h"

typedef struct columnShape {
    int rank;
    hsize_t size[3], chunk[3]; // size[0] grows
} columnShape;

// Frames x things x numbers of each thing.
static columnShape shapeOfBlock(hsize_t things, hsize_t width) {
    hsize_t rows, together;
    tpBlockChunk(things, width, &rows, &together);
    int rank = width > 1 ? 3 : 2;
    return (columnShape){ rank, { 0, things, width }, { rows, together, width } };
}

static columnShape shapeOf(int column, const tpRoster* roster) {
    const tpColumn* info = &tpColumns[column];
    if (column < tp_blockCount) {
        return shapeOfBlock((hsize_t)tpRoster_CountThings(roster, column), (hsize_t)info->width);
    }
    hsize_t rows = info->rows == tp_frameRows ? tp_frameChunk : tp_contactChunk;
    hsize_t width = (hsize_t)info->width;
    return (columnShape){ info->width > 1 ? 2 : 1, { 0, width }, { rows, width } };
}

// A dataset that grows in its first dimension.
static hid_t createGrowing(hid_t file, const char* path, hid_t type, const columnShape* shape,
                           int compression) {
    hsize_t limit[3] = { H5S_UNLIMITED, shape->size[1], shape->size[2] };
    hsize_t block = sizeof(double);
    for (int i = 0; i < shape->rank; ++i) {
        block *= i == 1 && shape->rank == 3 ? shape->size[i] : shape->chunk[i];
    }
    hid_t space = H5Screate_simple(shape->rank, shape->size, limit);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_obj_track_times(create, 0); // the same run gives the same file
    H5Pset_chunk(create, shape->rank, shape->chunk);
    if (compression > 0) {
        H5Pset_shuffle(create);
        H5Pset_deflate(create, (unsigned)compression);
    }
    // The cache holds all chunks of the current frames twice over, so that none is read back. A
    // chunk that a single frame fills is complete at once.
    size_t cache = shape->chunk[0] > 1 ? (size_t)(2 * block) : tp_chunkBytes;
    H5Pset_chunk_cache(access, shape->rank == 3 ? 10007 : 127, cache, 1.0);
    H5Pset_create_intermediate_group(links, 1);
    hid_t data = H5Dcreate2(file, path, type, space, links, create, access);
    H5Pclose(links);
    H5Pclose(access);
    H5Pclose(create);
    H5Sclose(space);
    return data;
}

// Rows behind the last one of a dataset of which only the number of rows changes.
static bool appendRows(hid_t data, hid_t type, hsize_t before, hsize_t count, const void* rows) {
    hid_t old = H5Dget_space(data);
    hsize_t size[3] = { 0, 0, 0 }, start[3] = { before, 0, 0 };
    int rank = H5Sget_simple_extent_dims(old, size, NULL);
    H5Sclose(old);
    if (rank < 1) {
        return false;
    }
    size[0] = before + count;
    bool done = H5Dset_extent(data, size) >= 0;
    hid_t space = H5Dget_space(data);
    size[0] = count;
    hid_t memory = H5Screate_simple(rank, size, NULL);
    done = done && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
           H5Dwrite(data, type, memory, space, H5P_DEFAULT, rows) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return done;
}

// Errors -----------------------------------------------------------------------------------------

static tpResult failed(tpWriter* writer, int reason, tpError* error) {
    writer->failure = reason != 0 ? reason : EIO;
    bool completable = access(writer->journalPath, F_OK) == 0;
    return tpError_Set(error, tp_ioError, "%s: cannot write the recording: %s; %s", writer->path,
                       strerror(writer->failure),
                       completable ? "`tippe repair` completes it"
                                   : "what was recorded before stays readable");
}

// Creating ---------------------------------------------------------------------------------------

bool tpMakeJournalPath(const char* path, char* buffer, size_t size) {
    char* resolved = realpath(path, NULL);
    int length = snprintf(buffer, size, "%s.journal", resolved != NULL ? resolved : path);
    free(resolved); // the C library's own memory
    return length > 0 && (size_t)length < size;
}

// The paths of the recording and of its journal. A link is followed to what it stands for, which is
// what a rename would otherwise not do.
static tpResult makePaths(tpWriter* writer, const char* path, tpError* error) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return tpError_Set(error, tp_badInput, "%s: not a regular file", path);
    }
    char target[tp_pathCapacity];
    if (!tpResolvePath(path, target, sizeof(target))) {
        return tpError_Set(error, tp_ioError, "%s: cannot create the recording: %s", path,
                           strerror(errno));
    }
    size_t room = strlen(target) + sizeof(".journal");
    writer->pathsSize = 2 * room;
    writer->path = tpAllocate(&writer->allocator, writer->pathsSize);
    if (writer->path == NULL) {
        return tpError_OutOfMemory(error);
    }
    writer->journalPath = writer->path + room;
    strcpy(writer->path, target);
    snprintf(writer->journalPath, room, "%s.journal", target);
    return tp_success;
}

static bool createColumns(tpWriter* writer, const tpRecordingHead* head) {
    for (int i = 0; i < tp_columnCount; ++i) {
        const tpColumn* column = &tpColumns[i];
        columnShape shape = shapeOf(i, head->roster);
        if (i < tp_blockCount && shape.size[1] == 0) {
            continue; // nothing that moves, or no joints
        }
        hid_t data = createGrowing(writer->file, column->path, tpColumnKind_FileType(column->kind),
                                   &shape, head->compression);
        writer->columns[i] = data;
        if (data < 0 || !tpWriteTextAttribute(data, "unit", column->unit) ||
            !tpWriteTextAttribute(data, "about", column->about)) {
            return false;
        }
    }
    hid_t labelType = H5Tcopy(H5T_C_S1);
    H5Tset_size(labelType, tp_labelCapacity);
    H5Tset_strpad(labelType, H5T_STR_NULLPAD);
    columnShape shape = { 1, { 0 }, { tp_noteChunk } };
    writer->labels = createGrowing(writer->file, "/labels", labelType, &shape, 0);
    H5Tclose(labelType);
    // Offsets start with that of the first frame.
    int64_t zero = 0;
    return writer->labels >= 0 &&
           appendRows(writer->columns[tp_offsetColumn], H5T_NATIVE_INT64, 0, 1, &zero) &&
           appendRows(writer->columns[tp_pairOffsetColumn], H5T_NATIVE_INT64, 0, 1, &zero);
}

static tpResult failCreating(const tpWriter* writer, int reason, tpError* error) {
    if (reason == EWOULDBLOCK) {
        return tpError_Set(error, tp_ioError, "%s: another run is recording to it", writer->path);
    }
    return tpError_Set(error, tp_ioError, "%s: cannot create the recording: %s", writer->path,
                       strerror(reason != 0 ? reason : EIO));
}

// Puts the whole head where the recording is to be, and makes that last.
static bool placeHead(tpWriter* writer, bool sync) {
    // A journal of the recording that is replaced would be taken for this one's.
    return tpPartFile_PlaceOpen(&writer->part, writer->journalPath) &&
           (!sync || tpSyncDirectoryOf(writer->path));
}

static tpResult createFile(tpWriter* writer, const tpRecordingHead* head, tpError* error) {
    if (!tpPartFile_Create(&writer->part, writer->path)) {
        return failCreating(writer, errno, error);
    }
    int reason = 0;
    writer->file = tpGuardedFile_Create(writer->part.file, writer->part.path, writer->journalPath,
                                        head->sync, &writer->allocator, &reason);
    if (writer->file < 0) {
        return failCreating(writer, reason, error);
    }
    bool done = tpWriteHead(writer->file, head, &writer->allocator) && createColumns(writer, head);
    reason = done ? tpGuardedFile_Commit(writer->file) : EIO;
    if (reason == 0 && !placeHead(writer, head->sync)) {
        reason = errno;
    }
    return reason == 0 ? tp_success : failCreating(writer, reason, error);
}

static void freeWriter(tpWriter* writer) {
    if (writer->part.file >= 0) {
        close(writer->part.file); // and gives up the lock
    }
    tpRelease(&writer->allocator, writer->path, writer->pathsSize);
    memset(writer, 0, sizeof(*writer));
}

tpResult tpWriter_Create(tpWriter* writer, const char* path, const tpRecordingHead* head,
                         const tpAllocator* allocator, tpError* error) {
    memset(writer, 0, sizeof(*writer));
    writer->allocator = *allocator;
    writer->part.file = -1;
    writer->file = -1;
    writer->labels = -1;
    for (int i = 0; i < tp_columnCount; ++i) {
        writer->columns[i] = -1;
    }
    tpResult result = makePaths(writer, path, error);
    if (result != tp_success) {
        return result;
    }
    tpQuiet quiet = tpQuiet_Begin();
    result = createFile(writer, head, error);
    if (result != tp_success) {
        if (writer->file >= 0) {
            tpGuardedFile_Close(writer->file, true);
        }
        tpPartFile_Discard(&writer->part);
        freeWriter(writer);
    }
    tpQuiet_End(quiet);
    return result;
}

bool tpWriter_IsThreadSafe(void) {
    hbool_t safe = 0;
    return H5is_library_threadsafe(&safe) >= 0 && safe;
}

// Frames -----------------------------------------------------------------------------------------

static bool appendLabel(tpWriter* writer, const char* label) {
    char row[tp_labelCapacity] = { 0 };
    snprintf(row, sizeof(row), "%s", label);
    hid_t type = H5Dget_type(writer->labels);
    bool done = appendRows(writer->labels, type, writer->labelCount, 1, row);
    H5Tclose(type);
    writer->labelCount += 1;
    return done;
}

static bool appendBatch(tpWriter* writer, const tpFrameBatch* batch) {
    for (int i = 0; i < batch->labels.count; ++i) {
        if (!appendLabel(writer, batch->labels.data[i])) {
            return false;
        }
    }
    for (int i = 0; i < tp_columnCount; ++i) {
        hsize_t before = writer->rowCounts[tpColumns[i].rows];
        int count = batch->rowCounts[tpColumns[i].rows];
        if (writer->columns[i] < 0 || count == 0) {
            continue;
        }
        before += i == tp_offsetColumn || i == tp_pairOffsetColumn ? 1 : 0;
        if (!appendRows(writer->columns[i], tpColumnKind_MemoryType(tpColumns[i].kind), before,
                        (hsize_t)count, batch->columns[i].data)) {
            return false;
        }
    }
    return true;
}

tpResult tpWriter_Append(tpWriter* writer, const tpFrameBatch* batch, tpError* error) {
    if (writer->failure != 0) {
        return failed(writer, writer->failure, error);
    }
    tpQuiet quiet = tpQuiet_Begin();
    bool done = appendBatch(writer, batch);
    tpQuiet_End(quiet);
    if (!done) {
        return failed(writer, EIO, error);
    }
    for (int i = 0; i < tp_columnRowsCount; ++i) {
        writer->rowCounts[i] += (hsize_t)batch->rowCounts[i];
    }
    return tp_success;
}

tpResult tpWriter_Commit(tpWriter* writer, tpError* error) {
    if (writer->failure != 0) {
        return failed(writer, writer->failure, error);
    }
    tpQuiet quiet = tpQuiet_Begin();
    int reason = tpGuardedFile_Commit(writer->file);
    tpQuiet_End(quiet);
    return reason == 0 ? tp_success : failed(writer, reason, error);
}

tpResult tpWriter_Close(tpWriter* writer, const char* summary, tpError* error) {
    tpQuiet quiet = tpQuiet_Begin();
    tpResult result = tp_success;
    if (writer->failure == 0) {
        bool done = summary == NULL || tpWriteText(writer->file, "summary", summary);
        int finished = 1;
        hid_t attribute = H5Aopen(writer->file, "finished", H5P_DEFAULT);
        done = done && attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &finished) >= 0;
        H5Aclose(attribute);
        result = done ? tp_success : failed(writer, EIO, error);
    } else {
        result = failed(writer, writer->failure, error);
    }
    int reason = tpGuardedFile_Close(writer->file, result != tp_success);
    if (reason != 0) {
        result = failed(writer, reason, error);
    }
    tpQuiet_End(quiet);
    freeWriter(writer);
    return result;
}
