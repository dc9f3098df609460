// What every type of shape can do: a table of functions, one row a type.
//
// Functions of the table work in the shape's own frame (that of tpGeometry.pose). The functions
// below it take a tpGeometry; those with a `body` pose work in the world.

#ifndef TIPPE_SRC_GEOMETRY_SHAPE_H
#define TIPPE_SRC_GEOMETRY_SHAPE_H

#include "geometry/surface.h"
#include "tippe/geometry.h"

typedef struct tpShapeClass {
    const char* name; // as scenes spell it
    bool isConvex;
    bool isPolyhedral; // convex with flat faces and corners: box, prism, hull
    // Half-open boxes do not exist here: an infinite shape gives infinite bounds.
    tpBounds (*bounds)(const tpGeometry* geometry, tpPose pose);
    // The point farthest along `direction` (not zero, any length). NULL where there may be none.
    tpVec3 (*support)(const tpGeometry* geometry, tpVec3 direction);
    // At density one. NULL where there is no volume.
    tpResult (*mass)(const tpGeometry* geometry, tpMassProperties* out, tpError* error);
    // Radius of a ball about `point` that holds the shape: the smallest one where that has a closed
    // form, else a bound.
    double (*radius)(const tpGeometry* geometry, tpVec3 point);
    int (*surfaceCount)(const tpGeometry* geometry);
    double (*surface)(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian);
    bool (*clipLine)(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip);
} tpShapeClass;

extern const tpShapeClass tp_shapeClasses[tp_shapeTypeCount];

// The pose of the shape itself when its body is at `body`.
static inline tpPose tpGeometry_Pose(const tpGeometry* geometry, tpPose body) {
    return tpComposePoses(body, geometry->pose);
}

// Support point in the shape's own frame. Convex bounded shapes only.
tpVec3 tpGeometry_Support(const tpGeometry* geometry, tpVec3 direction);

// Radius of a ball about `point` (in the body's frame) that holds the shape; infinite for planes.
double tpGeometry_RadiusAbout(const tpGeometry* geometry, tpVec3 point);

// The first hit of a ray with a shape whose body is at `body`.
typedef struct tpRayHit {
    double t; // hit at origin + t direction
    tpVec3 point;
    tpVec3 normal;     // unit, outward; against the ray where it starts inside
    int32_t triangle;  // of meshes and height fields, else -1
    bool startsInside; // of a solid: then t is 0
} tpRayHit;

// `direction` need not be a unit vector; hits with 0 <= t <= limit count.
bool tpGeometry_CastRay(const tpGeometry* geometry, tpPose body, tpVec3 origin, tpVec3 direction,
                        double limit, tpRayHit* hit);

// Whether two boxes overlap; touching counts.
static inline bool tpBoundsOverlap(const tpBounds* a, const tpBounds* b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

// By comparisons rather than fmin and fmax, which are calls: bounds are never NaN.
static inline tpBounds tpUniteBounds(tpBounds a, tpBounds b) {
    tpBounds u;
    u.lower.x = a.lower.x < b.lower.x ? a.lower.x : b.lower.x;
    u.lower.y = a.lower.y < b.lower.y ? a.lower.y : b.lower.y;
    u.lower.z = a.lower.z < b.lower.z ? a.lower.z : b.lower.z;
    u.upper.x = a.upper.x > b.upper.x ? a.upper.x : b.upper.x;
    u.upper.y = a.upper.y > b.upper.y ? a.upper.y : b.upper.y;
    u.upper.z = a.upper.z > b.upper.z ? a.upper.z : b.upper.z;
    return u;
}

static inline bool tpIsFiniteBounds(const tpBounds* b) {
    return tpIsFiniteVec3(b->lower) && tpIsFiniteVec3(b->upper);
}

#endif
