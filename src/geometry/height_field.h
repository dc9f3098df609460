// Height fields: a grid of heights over x and y, each cell two triangles, solid below.
//
//     (c, r+1) o-----o (c+1, r+1)
//              | 1 / |                triangle 2 (r (columns - 1) + c) + half
//              | / 0 |
//       (c, r) o-----o (c+1, r)
//
// A grid is its own tree: the cells under a box follow from its extent. A triangle stands for the
// column of solid below it, so a query finds the triangles above a box that has sunk in.

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

// Whether a point is over the field's area and below its surface.
bool tpHeightField_IsBelow(const tpHeightField* field, tpVec3 p);

// Triangles of height fields; see geometry/triangles.h.
void tpHeightField_Corners(const tpHeightField* field, int32_t index, tpTriangle* out);
void tpHeightField_AddNeighbors(const tpHeightField* field, int32_t index, tpTriangle* triangle);
void tpHeightField_StartQuery(const tpHeightField* field, tpTriangleQuery* query);
int32_t tpHeightField_NextTriangle(const tpHeightField* field, tpTriangleQuery* query);
int32_t tpHeightField_CastRay(const tpHeightField* field, tpVec3 origin, tpVec3 direction,
                              double limit, double* t);

// Where the ray comes into the solid through one of its upright sides.
bool tpHeightField_CastRayAtSides(const tpHeightField* field, tpVec3 origin, tpVec3 direction,
                                  double limit, double* t, tpVec3* normal);

static inline tpVec3 tpHeightField_Point(const tpHeightField* field, int32_t column, int32_t row) {
    return tpMakeVec3(field->corner.x + column * field->spacingX,
                      field->corner.y + row * field->spacingY,
                      field->heights[row * field->columns + column]);
}

#endif
