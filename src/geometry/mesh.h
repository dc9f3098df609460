// Closed triangle meshes: adjacency for contact without bumps, and a tree of boxes over the
// triangles.
//
// The tree is flat and needs no stack: nodes stand in the order of a depth-first walk, a node's
// first child follows it, and `skip` leads past everything below it.

#ifndef TIPPE_SRC_GEOMETRY_MESH_H
#define TIPPE_SRC_GEOMETRY_MESH_H

#include <stdatomic.h>

#include "base/memory.h"
#include "geometry/hull.h"
#include "geometry/triangles.h"

typedef struct tpTreeNode {
    tpBounds bounds;
    int32_t skip;         // node that comes after everything below this one
    int32_t first, count; // leaf: its range of `order`; inner node: count is 0
} tpTreeNode;

typedef struct tpTriangleTree {
    const tpTreeNode* nodes;
    const int32_t* order; // triangles, leaf by leaf
    int32_t nodeCount;
} tpTriangleTree;

struct tpMesh {
    int32_t vertexCount, triangleCount;
    const tpVec3* vertices;
    const int32_t (*triangles)[3];
    const int32_t (*neighbors)[3]; // triangle across the edge from corner k to corner k + 1
    const uint8_t (*edges)[3];     // tpEdgeKind of that edge
    const tpVec3* normals;         // of triangles, unit, outward
    tpTriangleTree tree;
    tpBounds bounds;
    tpMassProperties mass; // at density one
    double radius;         // largest distance of a corner from the centre of mass
    double thickness;      // volume / surface: half the thickness of a plate, m
    // The hull of the vertices (NULL: not made), and where the body is its hull: see mesh_hull.c.
    tpHull* hull;
    bool isConvex;        // the body is its hull everywhere
    const bool* isOnHull; // [triangleCount]
    tpBounds* lids;       // [lidCount] boxes of faces of the hull that span dents
    int lidCount;
    size_t lidBytes; // of the block of lids and marks
    bool isOpen;     // only seen: neighbours, edges and mass mean nothing
    atomic_int references;
    tpAllocator allocator;
    size_t byteCount;
};

// At most 2 n - 1 nodes for n triangles; `nodes` and `order` have that room and room for n.
void tpBuildTriangleTree(const tpBounds* bounds, int32_t count, tpTreeNode* nodes, int32_t* order,
                         int32_t* nodeCount);

tpResult tpCreateMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                      const int32_t (*triangles)[3], int triangleCount, bool mayBeOpen,
                      tpMesh** out, tpError* error);
// Refuses a surface of which a part is inside out and no cavity of another part.
tpResult tpCheckMeshParts(const tpMesh* mesh, tpError* error);

// Finds the hull of a mesh, whose arrays are complete, and compares the two.
tpResult tpFindMeshHull(tpMesh* mesh, tpError* error);
// The mesh then collides by its triangles.
void tpForgetMeshHull(tpMesh* mesh);

// Whether a mesh with a hull is its hull within a box (shape's frame), and has triangles there.
bool tpMesh_IsHullWithin(const tpGeometry* geometry, tpBounds bounds);

tpMesh* tpRetainMesh(tpMesh* mesh);
void tpReleaseMesh(tpMesh* mesh);

#endif
