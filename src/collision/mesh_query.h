// A convex shape against the triangles of a surface: the shape, and what is asked of one triangle.

#ifndef TIPPE_SRC_COLLISION_MESH_QUERY_H
#define TIPPE_SRC_COLLISION_MESH_QUERY_H

#include "collision/contact.h"
#include "collision/difference.h"
#include "collision/triangle_cone.h"
#include "geometry/shape.h"

enum { tp_maxOnTriangle = 320 };

// Corners of a shape up to this many are brought into the frame of the surface once.
enum { tp_fewCorners = 32 };

// Where the search for the nearest features of a triangle ended, to start from when the pair is
// asked again.
enum { tp_mostStarts = 9 };

typedef struct tpTriangleStart {
    int32_t triangle;
    uint32_t word; // of tpPackStart
} tpTriangleStart;

typedef struct tpTriangleStarts {
    tpTriangleStart known[tp_mostStarts], found[tp_mostStarts];
    int knownCount, foundCount;
} tpTriangleStarts;

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
    double roughness; // of the nearest points of round shapes (smooth_distance.h)
    bool hasOutline;  // it has faces, lines or rims
    tpPose toWorld;
    tpContactList* out;
    tpCoreStorage storage;
    int32_t lowest;                // vertex of the core that was found last, to start from
    int cornerCount;               // of the core, if they are few; else 0
    tpVec3 corners[tp_fewCorners]; // of the core, in the frame of the surface
    tpDifference difference;       // of the core and the triangle that is asked
    tpTriangleStarts* starts;      // NULL: none
    // The outline that was asked for last.
    tpVec3 outlineNormal;
    tpOutline outline;
} tpMeshQuery;

void tpStartMeshQuery(const tpPair* pair, tpContactList* out, tpMeshQuery* query);

// The corners of the core, if they are few, and its difference from triangles: after the pose or
// the core of a query has changed.
void tpMeshQuery_PlaceCore(tpMeshQuery* query);

// A query over the triangles near the shape.
tpTriangleQuery tpMeshQuery_Near(const tpMeshQuery* query);

// Where the search for the nearest features of a triangle may start (NULL: nothing is known), and
// where it has ended.
const tpTriangleStart* tpMeshQuery_StartOf(const tpMeshQuery* query, int32_t index);
void tpMeshQuery_KeepStart(tpMeshQuery* query, int32_t index, uint32_t word);

// The point of the shape that is lowest along n (frame of the surface).
tpVec3 tpMeshQuery_Lowest(tpMeshQuery* query, tpVec3 n);

// Whether a plane between the shape and a triangle shows that they are farther apart than `limit`,
// which is much sooner found than how far: the first one is across the way to the shape's centre,
// the next ones across the way to the point that the last one has found nearest.
bool tpMeshQuery_IsBeyond(tpMeshQuery* query, double limit, const tpVec3 corners[3]);

// What such planes have shown: that the two are farther apart than the margin, what their nearest
// features are, or nothing.
typedef enum tpPlaneAnswer {
    tp_planesAreBetween,
    tp_planesAtFeatures,
    tp_planesAreOpen
} tpPlaneAnswer;

// The same for a shape of few sharp corners, from one of them or from the centre (-1). A corner
// that is the lowest across the way from the triangle to itself is the nearest point of the shape:
// `query->lowest` is that corner, `closest` and the weights of the triangle's corners are the
// nearest points.
tpPlaneAnswer tpMeshQuery_TryPlanes(tpMeshQuery* query, int32_t vertex, const tpVec3 corners[3],
                                    tpClosest* closest, double weights[3]);

// The same from the features that were nearest when the pair was asked last: where two edges cross,
// or a corner of the triangle is below a face, the plane along them settles it.
tpPlaneAnswer tpMeshQuery_TryFeatures(tpMeshQuery* query, const tpStartCorners* start,
                                      const tpVec3 corners[3], tpClosest* closest,
                                      double weights[3]);

// A cylinder and a corner or an edge of a triangle, which is also a hull; `height` is that of the
// cylinder's lowest point over its plane. An overlap counts if it is shallow, and less deep than
// along the triangle's normal. False if that is not what is nearest, or if the query wants nearest
// points to rounding.
bool tpMeshQuery_NearestOfCylinder(const tpMeshQuery* query, const tpTriangle* triangle,
                                   const tpHull* hull, double height, tpClosest* out);

// Whether a cylinder, of which that is asked, has one lowest point along n.
bool tpMeshQuery_IsCylinderTilted(const tpMeshQuery* query, tpVec3 n);

// What became of a triangle: it matters not or has answered, it looks away from the shape's centre,
// or it overlaps the shape and its neighbours look more in the direction to push.
typedef enum tpTriangleOutcome {
    tp_triangleAnswered,
    tp_triangleBehind,
    tp_triangleLeaves
} tpTriangleOutcome;

// Appends the contacts of one triangle.
tpTriangleOutcome tpMeshQuery_Ask(tpMeshQuery* query, int32_t index);

// Appends the contacts of a core of few corners, one of them the lowest, over a triangle, before
// rounding: the facing polygon clipped by the triangle's sides, and other corners over it. `offset`
// is that of the triangle's plane, `radius` its size.
void tpMeshQuery_CollideOver(const tpMeshQuery* query, const tpTriangle* triangle, double offset,
                             double radius, int32_t lowest, tpContactList* out);

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
