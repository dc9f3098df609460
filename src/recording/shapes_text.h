// The shapes of a world as JSON, for whoever wants to draw a recording: docs/recordings.md has its
// keys. It stands on its own: files of meshes that the scene names are not needed any more.

#ifndef TIPPE_SRC_RECORDING_SHAPES_TEXT_H
#define TIPPE_SRC_RECORDING_SHAPES_TEXT_H

#include "base/memory.h"
#include "recording/roster.h"

typedef TP_ARRAY(char) tpShapesText;

// Ends in a zero that is not counted. False where memory ran out; the text is then empty. Free it with
// TP_FREE_ARRAY.
bool tpWriteShapesText(const tpRoster* roster, const tpWorld* world, const tpAllocator* allocator,
                       tpShapesText* text);

#endif
