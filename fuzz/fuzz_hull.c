// Hulls of any points: refused with a message, or right in everything that hull.h promises.
//
// Bytes are read as coordinates on a coarse grid or as doubles, so that coplanar, equal and nearly
// equal points come often.

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "geometry/hull.h"

enum { pointLimit = 128 };

static int readPoints(const uint8_t* data, size_t size, tpVec3* points) {
    int count = 0;
    double scale = ldexp(1.0, (int)(data[0] % 64) - 32);
    size_t step = data[1] % 2 == 0 ? 3 : 3 * sizeof(double);
    for (size_t at = 2; at + step <= size && count < pointLimit; at += step) {
        tpVec3 p;
        if (step == 3) {
            p = tpMakeVec3((int8_t)data[at], (int8_t)data[at + 1], (int8_t)data[at + 2]);
            p = tpScale(scale, p);
        } else {
            memcpy(&p, data + at, sizeof(p));
            // Doubles of any size may overflow in products; that is for the caller to keep out.
            if (!(tpMaxPart(tpAbsVec3(p)) < 1e100)) {
                continue;
            }
        }
        points[count++] = p;
    }
    return count;
}

static void checkHull(const tpHull* hull, const tpVec3* points, int count) {
    REQUIRE(hull->vertexCount - hull->edgeCount + hull->faceCount == 2);
    REQUIRE(hull->mass.mass > 0.0);
    double size = tpLength(tpSub(hull->bounds.upper, hull->bounds.lower));
    double reach =
        tpMaxPart(tpMaxVec3(tpAbsVec3(hull->bounds.lower), tpAbsVec3(hull->bounds.upper)));
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        for (int i = 0; i < count; ++i) {
            double height = tpDot(hull->normals[f], points[i]) - hull->offsets[f];
            REQUIRE(height <= 1e-6 * size + 1e-14 * reach);
        }
    }
    for (int32_t h = 0; h < 2 * hull->edgeCount; ++h) {
        REQUIRE(hull->halfEdges[hull->halfEdges[h].next].origin == tpHull_Target(hull, h));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static tpVec3 points[pointLimit];
    if (size < 2) {
        return 0;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpError error = { 0 };
    tpHull* hull;
    int count = readPoints(data, size, points);
    if (tpHullFromPoints(&allocator, points, count, &hull, &error) == tp_success) {
        checkHull(hull, points, count);
        tpReleaseHull(hull);
    } else {
        REQUIRE(hull == NULL && error.message[0] != '\0');
    }
    return 0;
}
