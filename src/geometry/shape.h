// What a type of shape can do: one struct of functions per type, and one row per type in the table.
//
// A new shape is one file (shape_<name>.c) that defines its tpShapeClass, and one row in
// shape_table.c; README.md of this folder walks through it. Functions of a class work in the
// shape's own frame, that of tpGeometry.pose. The functions below the class take a tpGeometry;
// those with a `body` pose work in the world.

#ifndef TIPPE_SRC_GEOMETRY_SHAPE_H
#define TIPPE_SRC_GEOMETRY_SHAPE_H

#include <stddef.h>

#include "geometry/patches.h"
#include "geometry/small_hull.h"
#include "geometry/smooth_core.h"
#include "geometry/surface.h"

// The kinds of shapes that pair functions distinguish (collision/pair_table.c).
typedef enum tpShapeKind {
    tp_ballKind,        // spheres
    tp_boxKind,         // boxes, with a radius or without
    tp_segmentKind,     // capsules
    tp_coreKind,        // a polyhedral core and a radius: prisms, hulls
    tp_roundKind,       // every other bounded convex shape
    tp_meshKind,        // closed surfaces of triangles
    tp_heightFieldKind, // open surfaces of triangles, solid below
    tp_planeKind,
    tp_shapeKindCount
} tpShapeKind;

// A number of a shape, as scenes and recordings name it.
typedef struct tpShapeNumber {
    const char* name;
    int count;     // 1 to 3 doubles
    size_t offset; // of the first one, in tpGeometry
    bool isInPose; // `check` has turned the pose by it: recordings leave it out
} tpShapeNumber;

enum { tp_maxShapeNumbers = 3 };

#define TP_SHAPE_NUMBER(name, member)                                                              \
    {                                                                                              \
        name, (int)(sizeof(((tpGeometry*)0)->member) / sizeof(double)),                            \
            offsetof(tpGeometry, member), false                                                    \
    }
#define TP_SHAPE_AXIS(member)                                                                      \
    { "axis", 3, offsetof(tpGeometry, member), true }

typedef struct tpShapeClass {
    const char* name; // as scenes spell it
    tpShapeKind kind;
    bool isConvex;
    bool isPolyhedral; // convex with flat faces and sharp corners: box, prism, hull
    bool isCurved;     // its contact point moves along the body as the body rolls: cylinder, cone

    // Shapes that a few numbers describe: their names, and a check that also turns the pose so that
    // the shape's own axis is z. NULL for shapes with data of their own.
    tpShapeNumber numbers[tp_maxShapeNumbers];
    int numberCount;
    tpResult (*check)(tpGeometry* geometry, tpError* error);

    // Shapes with data: what copies share, and counts of who does. NULL for the others.
    const void* (*shared)(const tpGeometry* geometry);
    void (*retain)(const tpGeometry* geometry);
    void (*release)(tpGeometry* geometry);

    // The box around the shape. An infinite shape gives infinite bounds.
    tpBounds (*bounds)(const tpGeometry* geometry, tpPose pose);
    // The point farthest along `direction` (not zero, any length). NULL if there may be none. A
    // support map that is a search takes some thousand evaluations.
    tpVec3 (*support)(const tpGeometry* geometry, tpVec3 direction);
    bool supportIsSearch;
    // At density one. NULL if there is no volume.
    tpResult (*mass)(const tpGeometry* geometry, tpMassProperties* out, tpError* error);
    // Radius of a ball about `point` that holds the shape: the smallest one if that has a closed
    // form, else a bound.
    double (*radius)(const tpGeometry* geometry, tpVec3 point);

    // Half the thickness of shapes without a smooth core (tpGeometry_InnerRadius). NULL for the
    // others.
    double (*innerRadius)(const tpGeometry* geometry);

    // Convex shapes: inequalities (surface.h), and the interval of a line inside.
    int (*surfaceCount)(const tpGeometry* geometry);
    double (*surface)(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian);
    bool (*clipLine)(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip);

    // Contacts: the polyhedral core with its radius (NULL for shapes that have none), the smooth
    // core, the nearest point of the surface in closed form (NULL if there is none), and the flat
    // and straight parts of the surface (each may be NULL).
    const tpHull* (*core)(const tpGeometry* geometry, tpCoreStorage* storage, double* radius);
    void (*smoothCore)(const tpGeometry* geometry, tpSmoothCore* out);
    void (*nearest)(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out);
    // The radius of the ball about the feature that touches along `normal`; NULL: the core's
    // radius.
    double (*featureRadius)(const tpGeometry* geometry, tpVec3 normal);
    bool (*facet)(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out);
    bool (*outline)(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out);
    bool (*line)(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                 double* radius);
} tpShapeClass;

extern const tpShapeClass* const tp_shapeClasses[tp_shapeTypeCount];

static inline const tpShapeClass* tpClassOf(const tpGeometry* geometry) {
    return tp_shapeClasses[geometry->type];
}

// The pose of the shape itself if its body is at `body`.
static inline tpPose tpGeometry_Pose(const tpGeometry* geometry, tpPose body) {
    return tpComposePoses(body, geometry->pose);
}

// Checks the numbers of `given` and makes the shape. For types with a `check`.
tpResult tpMakeFromNumbers(const tpGeometry* given, tpGeometry* out, tpError* error);

// What copies of a geometry share: the hull, mesh, field or intersection; NULL for other shapes.
const void* tpGeometry_Shared(const tpGeometry* geometry);

// Support point in the shape's own frame. Convex bounded shapes only.
tpVec3 tpGeometry_Support(const tpGeometry* geometry, tpVec3 direction);

// Radius of a ball about `point` (in the body's frame) that holds the shape; infinite for planes.
double tpGeometry_RadiusAbout(const tpGeometry* geometry, tpVec3 point);

// How far from the body's origin turning moves the surface: the radius of a ball about the origin
// that holds the core. A ball about its own centre turns without moving its surface.
double tpGeometry_TurningRadius(const tpGeometry* geometry);

// The radius of a ball that fits into the shape, about half its thickness: two shapes whose motion
// in a step is shorter than the sum of both cannot pass through each other unseen (against a mesh,
// whose triangles have no depth: shorter than the other's). For meshes the volume divided by the
// surface; infinite for planes.
double tpGeometry_InnerRadius(const tpGeometry* geometry);

// The core of a shape and its radius; NULL for shapes that have none. The distance of two cores
// less both radii is that of the shapes.
const tpHull* tpGeometry_Core(const tpGeometry* geometry, tpCoreStorage* storage, double* radius);

// The radius of the ball about the feature that touches along `normal` (shape's frame): the surface
// stays at this distance from a point fixed to the body while the body rolls a little. 0 for sharp
// and flat features.
double tpGeometry_FeatureRadius(const tpGeometry* geometry, tpVec3 normal);

// Edge lengths of the core of a shape of the box kind, and its radius.
static inline tpVec3 tpBoxCoreSize(const tpGeometry* geometry, double* radius) {
    if (geometry->type == tp_boxShape) {
        *radius = 0.0;
        return geometry->box.size;
    }
    double r = *radius = geometry->roundedBox.radius;
    return tpSub(geometry->roundedBox.size, tpMakeVec3(2.0 * r, 2.0 * r, 2.0 * r));
}

// The first hit of a ray with a shape whose body is at `body`.
typedef struct tpRayHit {
    double t; // hit at origin + t direction
    tpVec3 point;
    tpVec3 normal;     // unit, outward; against the ray if it starts inside
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
