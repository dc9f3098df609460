// How columns are divided into chunks. This is part of the format: other chunks tell a reader that
// the file is damaged.
//
// Large chunks are fewer, but a reader unpacks whole ones, and those of the last frames are packed
// and written again at every commit. So all chunks that hold the same frames are kept small
// together: a few frames of a large scene, many of a small one; and bodies are divided among them,
// so that one body's history need not unpack all others.

#ifndef TIPPE_SRC_RECORDING_CHUNKS_H
#define TIPPE_SRC_RECORDING_CHUNKS_H

#include <hdf5.h>

enum {
    tp_frameChunk = 1024,       // rows of columns with one number per frame
    tp_contactChunk = 2048,     // rows of the columns of contacts and of pairs
    tp_noteChunk = 8,           // rows of texts
    tp_chunkBytes = 128 * 1024, // of the states, about
    tp_blockBytes = 512 * 1024, // of the states, all chunks of the same frames, about
};

static inline hsize_t tpWithin(hsize_t value, hsize_t low, hsize_t high) {
    return value < low ? low : value > high ? high : value;
}

// Of frames x things x numbers of each thing: frames and things of a chunk.
static inline void tpBlockChunk(hsize_t things, hsize_t width, hsize_t* frames, hsize_t* together) {
    hsize_t one = width * sizeof(double), count = things > 0 ? things : 1;
    *frames = tpWithin(tp_blockBytes / (count * one), 1, tp_frameChunk);
    *together = tpWithin(tp_chunkBytes / (*frames * one), 1, count);
}

#endif
