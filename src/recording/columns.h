// The columns of a recording: what a frame, a contact and a pair of bodies consist of in the file.
//
// One table says, for each dataset that grows, its name, its types in memory and in the file, and
// where its numbers stand in the struct they are gathered from. Writer and reader both go by it.

#ifndef TIPPE_SRC_RECORDING_COLUMNS_H
#define TIPPE_SRC_RECORDING_COLUMNS_H

#include "dynamics/figures.h"
#include "tippe/recording.h"

typedef enum tpColumnKind {
    tp_doubleColumn,
    tp_intColumn, // int in memory, 32 bits in the file
    tp_int64Column,
    tp_uint64Column,
    tp_boolColumn, // 0 or 1 in a byte
    tp_enumColumn, // int in memory, a byte in the file
    tp_columnKindCount
} tpColumnKind;

// What a row of a column belongs to.
typedef enum tpColumnRows {
    tp_frameRows,
    tp_contactRows,
    tp_pairRows,
    tp_columnRowsCount
} tpColumnRows;

typedef struct tpColumn {
    const char* path; // of the dataset
    tpColumnKind kind;
    tpColumnRows rows;
    int width;     // numbers in a row; of blocks: numbers of each thing
    size_t offset; // of the numbers in a tpFrameRow, a tpRecordedContact or a tpRecordedPair; 0 of
                   // blocks
    const char* unit;
    const char* about;
    bool isLater; // recordings of earlier versions do not have it
} tpColumn;

// A frame without what has a width of its own. Labels are places in the list of labels, or -1.
typedef struct tpFrameRow {
    int64_t step;
    uint64_t hash;
    int64_t contactEnd; // contacts of this and all frames before
    int64_t pairEnd;    // pairs, likewise
    tpStepReport report;
    int fallback;
    int note;                           // the first
    int moreNotes[tp_noteCapacity - 1]; // those after it
} tpFrameRow;

// Note number i of a frame.
static inline int* tpFrameRow_Note(tpFrameRow* row, int i) {
    return i == 0 ? &row->note : &row->moreNotes[i - 1];
}

enum {
    // Blocks: a row has things of the scene side by side, as many as its roster says.
    tp_statesColumn,        // of moving bodies
    tp_reactionsColumn,     // of joints
    tp_coordinatesColumn,   // of coordinates of joints
    tp_sensorsColumn,       // of values of sensors
    tp_carrierMethodColumn, // of moving bodies, if the stepper leaves some to other methods
    tp_carrierStepColumn,   // the same
    tp_carrierErrorColumn,  // the same
    tp_blockCount,

    tp_offsetColumn = tp_blockCount, // one row more than there are frames: the first is 0
    tp_pairOffsetColumn,             // the same
    tp_timeColumn,
    tp_hashColumn,
    tp_columnCount = 75
};

extern const tpColumn tpColumns[tp_columnCount];

// Bytes of one number in memory.
size_t tpColumnKind_Size(tpColumnKind kind);

// Dimensions of the dataset of a column.
int tpColumn_GetRank(int column);

// A column without its width and rows; its path is NULL for a number that is none.
tpRecordedColumn tpColumn_Describe(int column);

#endif
