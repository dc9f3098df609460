// How bodies look: colours of shapes, and shapes that are only seen. Nothing here takes part in a
// step.

#ifndef TIPPE_SRC_WORLD_APPEARANCE_H
#define TIPPE_SRC_WORLD_APPEARANCE_H

#include "base/memory.h"
#include "tippe/world.h"

typedef struct tpShapeColor {
    bool isGiven;
    tpColor color;
} tpShapeColor;

// Those of one body are chained in the order in which they came.
typedef struct tpVisualEntry {
    tpVisual visual;
    tpGeometry geometry;
    int next; // or -1
} tpVisualEntry;

typedef struct tpVisualChain {
    int first, last, count; // first and last are -1 if there is none
} tpVisualChain;

typedef struct tpAppearance {
    TP_ARRAY(tpShapeColor) shapes;  // by slot; shorter than the shapes if the last have no colour
    TP_ARRAY(tpVisualChain) bodies; // by slot, likewise
    TP_ARRAY(tpVisualEntry) visuals;
} tpAppearance;

void tpAppearance_Destroy(tpAppearance* appearance, const tpAllocator* allocator);

// A shape or a body goes: its slot will be another's.
void tpAppearance_ForgetShape(tpAppearance* appearance, int shape);
void tpAppearance_ForgetBody(tpAppearance* appearance, int body);

#endif
