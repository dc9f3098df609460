// Separating axes of pairs of boxes, several pairs at once [GottschalkLinManocha96].
//
// Of the fifteen axes (three faces of each, nine crosses of edges) the best face is found, and
// which crosses may separate by more: that few of them need a root and a quotient each, which is
// left to whoever asks.

#ifndef TIPPE_SRC_COLLISION_BOX_AXES_H
#define TIPPE_SRC_COLLISION_BOX_AXES_H

#include "math/widths.h"
#include "tippe/collision.h"

enum { tp_boxesAtOnce = tp_packWidth };

// Pairs of boxes, a lane each.
typedef struct tpBoxBatch {
    // Given: rotations (w, x, y, z), the way from the centre of A to that of B, half sizes. All
    // lanes have some.
    _Alignas(64) double rotationA[4][tp_boxesAtOnce];
    double rotationB[4][tp_boxesAtOnce];
    double way[3][tp_boxesAtOnce];
    double a[3][tp_boxesAtOnce], b[3][tp_boxesAtOnce];
    // Found: B in the frame of A, as in tpBoxes.
    double r[3][3][tp_boxesAtOnce];
    double t[3][tp_boxesAtOnce], s[3][tp_boxesAtOnce];
    // The face with the largest separation (0 to 2 of A, 3 to 5 of B), and that separation, m.
    double face[tp_boxesAtOnce], separation[tp_boxesAtOnce];
    // bit 3 i + j, as a whole number: the cross of edges i of A and j of B may beat it
    double edges[tp_boxesAtOnce];
} tpBoxBatch;

// How much the axis of a cross must separate beyond a face's, as a part of the sum of all half
// sizes.
#define TP_EDGE_SLACK 1e-10

// Finds them for all lanes. The bits do not depend on how many go at once.
void tpBoxBatch_FindAxes(tpBoxBatch* batch);

// The same with a given width, 1 or 4. False if this build or this machine lacks that width.
bool tpBoxBatch_FindAxesBy(tpBoxBatch* batch, int width);

void tpFindBoxAxes_plain(tpBoxBatch* batch);
void tpFindBoxAxes_avx2(tpBoxBatch* batch);

#endif
