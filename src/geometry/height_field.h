// Height fields: a grid of heights over x and y, each cell two triangles, solid below.
//
//     (c, r+1) o-----o (c+1, r+1)
//              | 1 / |                triangle 2 (r (columns - 1) + c) + half
//              | / 0 |
//       (c, r) o-----o (c+1, r)
//
// A grid is its own tree: the cells under a box follow from its extent. Rows of cells keep the lowest
// and highest height of each block, so that a query above or below the surface ends early.

#ifndef TIPPE_SRC_GEOMETRY_HEIGHT_FIELD_H
#define TIPPE_SRC_GEOMETRY_HEIGHT_FIELD_H

#include <stdatomic.h>

#include "geometry/triangles.h"

struct tpHeightField {
    int32_t columns, rows; // of points
    double spacingX, spacingY;
    tpVec3 corner;         // of point (0, 0), at height 0
    const double* heights; // [rows * columns]
    tpBounds bounds;       // of the surface
    atomic_int references;
    tpAllocator allocator;
    size_t byteCount;
};

tpResult tpCreateHeightField(const tpAllocator* allocator, int columns, int rows, double spacingX,
                             double spacingY, const double* heights, tpHeightField** out,
                             tpError* error);
tpHeightField* tpRetainHeightField(tpHeightField* field);
void tpReleaseHeightField(tpHeightField* field);

static inline tpVec3 tpHeightField_Point(const tpHeightField* field, int32_t column, int32_t row) {
    return tpMakeVec3(field->corner.x + column * field->spacingX,
                      field->corner.y + row * field->spacingY,
                      field->heights[row * field->columns + column]);
}

#endif
