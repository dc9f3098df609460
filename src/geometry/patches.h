// What a convex shape offers to be touched: flat parts, lines and rims.
//
// A facet is a flat part of the surface that looks along a direction: a polygon, the disc of a cap,
// or a plane without end. An outline is what a shape shows to a plane: points, segments between
// them, and a rim. collision/patch_manifold.c lays the outline of one shape over the facet of
// another.

#ifndef TIPPE_SRC_GEOMETRY_PATCHES_H
#define TIPPE_SRC_GEOMETRY_PATCHES_H

#include "tippe/geometry.h"

enum {
    tp_maxPatch = 256,   // corners of a facet, points of an outline
    tp_rimPoints = 8,    // contacts of a cap that lies flat: this many, fixed to the body
    tp_lowestRim = 1000, // ids: the lowest point of a rim, and its crossings with sides
    tp_rimCrossing = 2000
};

// Lines lie across a direction if they do so within about 6 degrees (a sine).
#define TP_ACROSS_SINE 0.1

typedef struct tpFacet {
    double cosine; // of the angle between its normal and the direction asked for
    tpVec3 normal; // unit, outward
    tpVec3 center; // a point of its plane; the disc's centre
    double radius; // of the disc; 0 for polygons; INFINITY for planes
    int count;     // corners of the polygon, counter-clockwise from outside
    tpVec3 corners[tp_maxPatch];
    int32_t ids[tp_maxPatch]; // vertices of the hull; rim points are numbered from 0
} tpFacet;

typedef struct tpOutline {
    double radius; // how far the surface stands out beyond the points (capsules)
    int count;
    tpVec3 points[tp_maxPatch];
    int32_t ids[tp_maxPatch];
    bool isPolygon;     // the points are corners of a polygon, joined to their successors
    int segments[2][2]; // otherwise: pairs of points that are joined
    int segmentCount;
    double rimRadius; // 0 for none
    tpVec3 rimCenter, rimAxis;
} tpOutline;

// The flat part whose normal is nearest to `direction` (unit, world); false if there is none.
bool tpFindFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out);

// The cosine that its facet would have; -2 if there is none. Sooner found than the facet.
double tpFacetCosine(const tpGeometry* geometry, tpPose pose, tpVec3 direction);

// What the shape shows to a plane with normal `normal` below it; false if only its lowest point.
bool tpFindOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out);

// The segment of the surface that lies across `direction` (within some degrees) where the shape is
// farthest along it, before its radius; false if there is none.
bool tpFindLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                double* radius);

#endif
