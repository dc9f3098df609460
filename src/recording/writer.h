// Batches of frames into an HDF5 file that is whole at every commit. Knows no world.

#ifndef TIPPE_SRC_RECORDING_WRITER_H
#define TIPPE_SRC_RECORDING_WRITER_H

#include "base/part_file.h"
#include "recording/frame_batch.h"
#include "recording/hdf5_types.h"
#include "recording/roster.h"

typedef struct tpHeadOption {
    const char* name;
    double value;
    const char* choice; // NULL: a number
} tpHeadOption;

// What is known before the first frame.
typedef struct tpRecordingHead {
    const tpRoster* roster;
    const char *sceneText, *sceneName, *scenePath, *shapesText, *stepper; // none NULL
    const tpHeadOption* options;
    int optionCount;
    double step;
    int every;
    int compression;
    bool sync; // force commits to the disk
    bool planar;
    tpVec3 gravity;
} tpRecordingHead;

typedef struct tpWriter {
    tpAllocator allocator;
    char *path, *journalPath; // in one piece of memory, `pathsSize` bytes
    size_t pathsSize;
    tpPartFile part; // holds the lock of the recording as long as it is open
    hid_t file;
    hid_t columns[tp_columnCount]; // open datasets; negative: not in this file
    hid_t labels;
    hsize_t rowCounts[tp_columnRowsCount], labelCount;
    int failure; // errno of what went wrong, or 0
} tpWriter;

// The file appears at `path` once its head is whole; until then one that was there stays. A
// recording that another writer has open is refused.
tpResult tpWriter_Create(tpWriter* writer, const char* path, const tpRecordingHead* head,
                         const tpAllocator* allocator, tpError* error);

// Adds frames. They are part of the file after the next commit.
tpResult tpWriter_Append(tpWriter* writer, const tpFrameBatch* batch, tpError* error);
tpResult tpWriter_Commit(tpWriter* writer, tpError* error);

// Marks the recording finished, with its summary (may be NULL), and closes. Frees everything, also
// on failure; the file then stays at its last commit.
tpResult tpWriter_Close(tpWriter* writer, const char* summary, tpError* error);

// The longest label kept, with its closing zero.
enum { tp_labelCapacity = 96 };

// The journal of a recording at `path`, into `buffer`; false if it does not fit.
bool tpMakeJournalPath(const char* path, char* buffer, size_t size);

// Writes everything that stands before the frames (writer_head.c). False on failure.
bool tpWriteHead(hid_t file, const tpRecordingHead* head, const tpAllocator* allocator);

// A scalar string dataset or attribute; false on failure.
bool tpWriteText(hid_t place, const char* name, const char* text);
bool tpWriteTextAttribute(hid_t place, const char* name, const char* text);
bool tpWriteNumberAttribute(hid_t place, const char* name, double value);
bool tpWriteIntAttribute(hid_t place, const char* name, int value);

#ifdef TIPPE_HAVE_HDF5
// HDF5 prints its errors unless it is told not to, thread by thread.
typedef struct tpQuiet {
    H5E_auto2_t function;
    void* data;
} tpQuiet;
tpQuiet tpQuiet_Begin(void);
void tpQuiet_End(tpQuiet quiet);
#endif

// Whether HDF5 may be used by a thread of the pump's own.
bool tpWriter_IsThreadSafe(void);

#endif
