// Shapes and what follows from them: bounds, mass, surfaces.
//
// A shape is given in the frame of its body, centred on the body's origin unless it has a pose of
// its own. Everything here is immutable once made; hulls, meshes, height fields and intersections
// are shared by reference counts.

#ifndef TIPPE_GEOMETRY_H
#define TIPPE_GEOMETRY_H

#include "tippe/math.h"

typedef enum tpShapeType {
    tp_sphereShape,
    tp_boxShape,
    tp_roundedBoxShape,
    tp_capsuleShape,
    tp_cylinderShape,
    tp_coneShape,
    tp_prismShape,
    tp_ellipsoidShape,
    tp_superellipsoidShape,
    tp_hullShape,
    tp_meshShape,
    tp_heightFieldShape,
    tp_planeShape,
    tp_intersectionShape,
    tp_implicitShape,
    tp_shapeTypeCount
} tpShapeType;

typedef struct tpSphere {
    double radius; // m
} tpSphere;

typedef struct tpBox {
    tpVec3 size; // m, full edge lengths
} tpBox;

// A box with round edges and corners. The body is as large as the box of the same size.
typedef struct tpRoundedBox {
    tpVec3 size;   // m, full edge lengths of the whole body
    double radius; // m, of its edges and corners; less than half the smallest edge length
} tpRoundedBox;

// Lengths along `axis`, which need not be a unit vector; the zero vector means z.
typedef struct tpCapsule {
    double radius, length; // m; length between the centres of the caps
    tpVec3 axis;
} tpCapsule;

typedef struct tpCylinder {
    double radius, length; // m; full height
    tpVec3 axis;
} tpCylinder;

// The base is at -length/2, the tip at +length/2 along the axis.
typedef struct tpCone {
    double radius, length; // m; radius of the base, full height
    tpVec3 axis;
} tpCone;

typedef struct tpEllipsoid {
    tpVec3 radii; // m
} tpEllipsoid;

// (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1; convex for exponents up to 2.
typedef struct tpSuperellipsoid {
    tpVec3 radii;        // m
    double exponents[2]; // e1 (towards z), e2 (around z), 0.01 to 2; 1, 1 is an ellipsoid
} tpSuperellipsoid;

// The half space normal . x <= offset.
typedef struct tpPlane {
    tpVec3 normal; // need not be a unit vector; offset is along the unit vector
    double offset; // m
} tpPlane;

typedef struct tpHull tpHull;
typedef struct tpMesh tpMesh;
typedef struct tpHeightField tpHeightField;
typedef struct tpIntersection tpIntersection;

// A smooth convex body {f <= 0} given by functions in the shape's frame. f must be convex, and
// twice differentiable where it is near zero. `bounds` encloses the body.
typedef struct tpImplicit {
    // Value at p; gradient and hessian if they are not NULL.
    double (*evaluate)(tpVec3 p, tpVec3* gradient, tpMat33* hessian, void* context);
    void* context;
    tpBounds bounds;
} tpImplicit;

// A shape of any type with its pose in the frame of its body. Shapes with an axis have been turned
// so that their own axis is z. Made by the functions below; read-only afterwards.
typedef struct tpGeometry {
    tpShapeType type;
    tpPose pose;
    union {
        tpSphere sphere;
        tpBox box;
        tpRoundedBox roundedBox;
        tpCapsule capsule;   // axis z
        tpCylinder cylinder; // axis z
        tpCone cone;         // axis z
        tpEllipsoid ellipsoid;
        tpSuperellipsoid superellipsoid;
        tpPlane plane; // unit normal
        tpHull* hull;  // hull and prism
        tpMesh* mesh;
        tpHeightField* heightField;
        tpIntersection* intersection;
        tpImplicit implicit;
    };
} tpGeometry;

// Mass, centre of mass, and inertia about the centre of mass, in the axes in which they were asked
// for.
typedef struct tpMassProperties {
    double mass;     // kg
    tpVec3 center;   // m
    tpMat33 inertia; // kg m^2
} tpMassProperties;

TP_BEGIN_DECLS

// Making ----------------------------------------------------------------------------------------
// Each checks its numbers and says in `error` what is wrong. `pose` places the shape in the body.

TP_API tpResult tpMakeSphere(const tpSphere* sphere, tpPose pose, tpGeometry* out, tpError* error);
TP_API tpResult tpMakeBox(const tpBox* box, tpPose pose, tpGeometry* out, tpError* error);
TP_API tpResult tpMakeRoundedBox(const tpRoundedBox* box, tpPose pose, tpGeometry* out,
                                 tpError* error);
TP_API tpResult tpMakeCapsule(const tpCapsule* capsule, tpPose pose, tpGeometry* out,
                              tpError* error);
TP_API tpResult tpMakeCylinder(const tpCylinder* cylinder, tpPose pose, tpGeometry* out,
                               tpError* error);
TP_API tpResult tpMakeCone(const tpCone* cone, tpPose pose, tpGeometry* out, tpError* error);
TP_API tpResult tpMakeEllipsoid(const tpEllipsoid* ellipsoid, tpPose pose, tpGeometry* out,
                                tpError* error);
TP_API tpResult tpMakeSuperellipsoid(const tpSuperellipsoid* superellipsoid, tpPose pose,
                                     tpGeometry* out, tpError* error);
TP_API tpResult tpMakePlane(const tpPlane* plane, tpPose pose, tpGeometry* out, tpError* error);
TP_API tpResult tpMakeImplicit(const tpImplicit* implicit, tpPose pose, tpGeometry* out,
                               tpError* error);

// The convex hull of points.
TP_API tpResult tpMakeHull(const tpAllocator* allocator, const tpVec3* points, int count,
                           tpPose pose, tpGeometry* out, tpError* error);

// A convex polygon in x-y (either sense of turn), extruded by length / 2 to both sides along the z
// axis.
TP_API tpResult tpMakePrism(const tpAllocator* allocator, const double (*points)[2], int count,
                            double length, tpPose pose, tpGeometry* out, tpError* error);

// A closed surface of triangles seen counter-clockwise from outside. An open surface, an edge with
// more than two triangles, or one that is inside out is refused, with the edge or the reason named.
TP_API tpResult tpMakeMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                           const int32_t (*triangles)[3], int triangleCount, tpPose pose,
                           tpGeometry* out, tpError* error);

// A surface of triangles that is only drawn (tpBody_AddVisual): it may be open and intersect
// itself. tpCreateShape refuses it.
TP_API tpResult tpMakeOpenSurface(const tpAllocator* allocator, const tpVec3* vertices,
                                  int vertexCount, const int32_t (*triangles)[3], int triangleCount,
                                  tpPose pose, tpGeometry* out, tpError* error);

// Heights over a grid of columns x rows points, spaced in x and y, centred on the origin, up along
// z. heights[row * columns + column]. Solid below.
TP_API tpResult tpMakeHeightField(const tpAllocator* allocator, int columns, int rows,
                                  double spacingX, double spacingY, const double* heights,
                                  tpPose pose, tpGeometry* out, tpError* error);

// The intersection of convex shapes, each with its pose.
TP_API tpResult tpMakeIntersection(const tpAllocator* allocator, const tpGeometry* parts, int count,
                                   tpPose pose, tpGeometry* out, tpError* error);

// Points and triangles of an OBJ or STL (text or binary) file, by its ending. Errors name file and
// line. The caller releases both arrays with tpReleaseSurface.
typedef struct tpSurface {
    tpVec3* vertices;
    int32_t (*triangles)[3];
    int vertexCount, triangleCount;
    tpAllocator allocator;
} tpSurface;
TP_API tpResult tpReadSurface(const tpAllocator* allocator, const char* path, tpSurface* out,
                              tpError* error);
TP_API void tpReleaseSurface(tpSurface* surface);

// Shared data: a copy of a tpGeometry that outlives the original is retained; each is released
// once.
TP_API tpGeometry tpRetainGeometry(const tpGeometry* geometry);
TP_API void tpReleaseGeometry(tpGeometry* geometry);

// Asking ----------------------------------------------------------------------------------------

TP_API const char* tpShapeTypeName(tpShapeType type); // as scenes spell it
TP_API bool tpGeometry_IsConvex(const tpGeometry* geometry);

// Bounds of the shape when its body is at `body`; infinite for infinite shapes.
TP_API tpBounds tpGeometry_Bounds(const tpGeometry* geometry, tpPose body);

// Mass properties in the body's frame, exact for uniform density; for implicit shapes, and for
// intersections with round parts, by quadrature to a relative 1e-10. tp_badInput for shapes without
// volume (planes, height fields).
TP_API tpResult tpGeometry_Mass(const tpGeometry* geometry, double density, tpMassProperties* out,
                                tpError* error);

// Mass properties of several bodies together.
TP_API tpMassProperties tpCombineMass(const tpMassProperties* parts, int count);

// Refuses what no body can have: negative or zero mass, an inertia that is not symmetric positive
// semidefinite or violates the triangle inequality (equality, a flat body, is legal).
TP_API tpResult tpCheckMass(const tpMassProperties* properties, tpError* error);

TP_END_DECLS

#endif
