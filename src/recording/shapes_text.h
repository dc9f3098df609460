// The shapes of a world as JSON, for whoever wants to draw a recording: docs/recordings.md has its
// keys. It stands on its own: files of meshes that the scene names are not needed any more.

#ifndef TIPPE_SRC_RECORDING_SHAPES_TEXT_H
#define TIPPE_SRC_RECORDING_SHAPES_TEXT_H

#include "base/memory.h"
#include "recording/roster.h"

typedef TP_ARRAY(char) tpShapesText;

// Ends in a zero that is not counted. False if memory ran out; the text is then empty. Free it
// with TP_FREE_ARRAY.
bool tpWriteShapesText(const tpRoster* roster, const tpWorld* world, const tpAllocator* allocator,
                       tpShapesText* text);

// The names of the materials and what holds between each two of them, as they are now, appended
// without braces: "materials": ["", "wood"], "pairs": [[static, dynamic, torsional, et, eo,
// restitution], ...], those of material i with the materials up to i after those of the ones
// before. False if memory ran out.
bool tpWriteMaterialsText(const tpWorld* world, const tpAllocator* allocator, tpShapesText* text);

#endif
