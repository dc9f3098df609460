// A convex shape against the triangles of a surface: the shape, and what is asked of one triangle.

#ifndef TIPPE_SRC_COLLISION_MESH_QUERY_H
#define TIPPE_SRC_COLLISION_MESH_QUERY_H

#include "collision/contact.h"
#include "collision/triangle_cone.h"
#include "geometry/shape.h"

enum { tp_maxOnTriangle = 320 };

// One convex shape (A) against one surface (B), in the frame of the surface.
typedef struct tpMeshQuery {
    tpGeometry convex; // with an identity pose
    tpSurfaceView view;
    tpPose pose;         // of the convex shape
    tpVec3 center;       // of the convex shape
    const tpHull* core;  // NULL for round shapes without a polyhedral core
    tpSmoothCore smooth; // of round shapes
    double radius;       // about the core
    double size;         // of the convex shape, for tolerances, m
    double reach;        // radius of a ball about the centre that holds it, m
    double margin;
    bool hasOutline; // it has faces, lines or rims
    tpPose toWorld;
    tpContactList* out;
    tpCoreStorage storage;
    int32_t lowest; // vertex of the core that was found last, to start from
    // The outline that was asked for last.
    tpVec3 outlineNormal;
    tpOutline outline;
} tpMeshQuery;

void tpStartMeshQuery(const tpPair* pair, tpContactList* out, tpMeshQuery* query);

// A query over the triangles near the shape.
tpTriangleQuery tpMeshQuery_Near(const tpMeshQuery* query);

// The point of the shape that is lowest along n (frame of the surface).
tpVec3 tpMeshQuery_Lowest(tpMeshQuery* query, tpVec3 n);

// What became of a triangle: it matters not or has answered, it looks away from the shape's centre,
// or it overlaps the shape and its neighbours look more in the direction to push.
typedef enum tpTriangleOutcome {
    tp_triangleAnswered,
    tp_triangleBehind,
    tp_triangleLeaves
} tpTriangleOutcome;

// Appends the contacts of one triangle.
tpTriangleOutcome tpMeshQuery_Ask(tpMeshQuery* query, int32_t index);

// The signed distance of the shape and one triangle, seen from its outer side; false if it is
// greater than `limit`.
bool tpMeshQuery_Distance(tpMeshQuery* query, int32_t index, double limit, tpClosest* out);

// Appends the contacts along a triangle's own normal, wherever the nearest features are.
void tpMeshQuery_PushAlong(tpMeshQuery* query, int32_t index);

// Appends one contact (frame of the surface) at a triangle.
void tpMeshQuery_Deliver(const tpMeshQuery* query, int32_t index, const tpContactPoint* contact);

// The feature of a contact that is a single point of the shape.
#define TP_LONE_POINT tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0)

#endif
