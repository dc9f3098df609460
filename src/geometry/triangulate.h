// Surfaces as triangles, for drawing: polyhedra, meshes and height fields exactly, other convex
// shapes by points of their surface.

#ifndef TIPPE_SRC_GEOMETRY_TRIANGULATE_H
#define TIPPE_SRC_GEOMETRY_TRIANGULATE_H

#include "tippe/geometry.h"

// The surface in the shape's own frame, seen counter-clockwise from outside; a height field has its
// upper side only. tp_unsupported for planes. Released with tpReleaseSurface.
tpResult tpTriangulate(const tpGeometry* geometry, const tpAllocator* allocator, tpSurface* out);

#endif
