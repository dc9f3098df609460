// Marks of shapes by what they are made of. Snapshots hold marks: they must not hold addresses,
// which are others in another world, or bytes of the union that the form does not use.

#include "steppers/small_steps/shape_marks.h"

#include <string.h>

#include "geometry/height_field.h"
#include "geometry/hull.h"
#include "geometry/intersection.h"
#include "geometry/mesh.h"
#include "steppers/small_steps/state.h"

static uint64_t hashNumbers(uint64_t hash, const double* numbers, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        uint64_t word;
        memcpy(&word, &numbers[k], sizeof(word));
        hash = tpHashWord(hash, word);
    }
    return hash;
}

// A struct that is doubles alone.
#define TP_HASH_DOUBLES(hash, value)                                                               \
    hashNumbers((hash), (const double*)&(value), sizeof(value) / sizeof(double))

_Static_assert(sizeof(tpBounds) == 6 * sizeof(double) && sizeof(tpPose) == 7 * sizeof(double) &&
                   sizeof(tpMassProperties) == 13 * sizeof(double) &&
                   sizeof(tpSuperellipsoid) == 5 * sizeof(double) &&
                   sizeof(tpCapsule) == 5 * sizeof(double),
               "these are doubles alone");

static uint64_t hashCounts(uint64_t hash, int32_t a, int32_t b) {
    return tpHashWord(hash, (uint64_t)(uint32_t)a << 32 | (uint32_t)b);
}

// Of hulls and meshes counts, bounds, mass, centre and inertia: not all of their corners, of which
// there may be many.
static uint64_t hashHull(uint64_t hash, const tpHull* hull) {
    hash = hashCounts(hash, hull->vertexCount, hull->faceCount);
    hash = TP_HASH_DOUBLES(hash, hull->bounds);
    hash = hashNumbers(hash, &hull->radius, 1);
    return TP_HASH_DOUBLES(hash, hull->mass);
}

static uint64_t hashMesh(uint64_t hash, const tpMesh* mesh) {
    hash = hashCounts(hash, mesh->vertexCount, mesh->triangleCount);
    hash = TP_HASH_DOUBLES(hash, mesh->bounds);
    hash = hashNumbers(hash, &mesh->radius, 1);
    hash = hashNumbers(hash, &mesh->thickness, 1);
    return TP_HASH_DOUBLES(hash, mesh->mass);
}

static uint64_t hashHeights(uint64_t hash, const tpHeightField* field) {
    hash = hashCounts(hash, field->columns, field->rows);
    hash = hashNumbers(hash, &field->spacingX, 1);
    hash = hashNumbers(hash, &field->spacingY, 1);
    return hashNumbers(hash, field->heights, (size_t)field->columns * (size_t)field->rows);
}

static uint64_t hashGeometry(uint64_t hash, const tpGeometry* g) {
    hash = tpHashWord(hash, (uint64_t)g->type);
    hash = TP_HASH_DOUBLES(hash, g->pose);
    switch (g->type) {
    case tp_sphereShape:
        return TP_HASH_DOUBLES(hash, g->sphere);
    case tp_boxShape:
        return TP_HASH_DOUBLES(hash, g->box);
    case tp_roundedBoxShape:
        return TP_HASH_DOUBLES(hash, g->roundedBox);
    case tp_capsuleShape:
        return TP_HASH_DOUBLES(hash, g->capsule);
    case tp_cylinderShape:
        return TP_HASH_DOUBLES(hash, g->cylinder);
    case tp_coneShape:
        return TP_HASH_DOUBLES(hash, g->cone);
    case tp_ellipsoidShape:
        return TP_HASH_DOUBLES(hash, g->ellipsoid);
    case tp_superellipsoidShape:
        return TP_HASH_DOUBLES(hash, g->superellipsoid);
    case tp_planeShape:
        return TP_HASH_DOUBLES(hash, g->plane);
    case tp_prismShape:
    case tp_hullShape:
        return hashHull(hash, g->hull);
    case tp_meshShape:
        return hashMesh(hash, g->mesh);
    case tp_heightFieldShape:
        return hashHeights(hash, g->heightField);
    case tp_intersectionShape:
        hash = tpHashWord(hash, (uint64_t)g->intersection->partCount);
        for (int i = 0; i < g->intersection->partCount; ++i) {
            hash = hashGeometry(hash, &g->intersection->parts[i]);
        }
        return hash;
    default: // a function of the user's has nothing else to be known by
        hash = tpHashWord(hash, (uint64_t)(uintptr_t)g->implicit.evaluate);
        hash = tpHashWord(hash, (uint64_t)(uintptr_t)g->implicit.context);
        return TP_HASH_DOUBLES(hash, g->implicit.bounds);
    }
}

uint64_t tpShape_Mark(const tpShape* shape) {
    uint64_t hash = tpHashWord(UINT64_C(0xcbf29ce484222325), (uint64_t)(uint32_t)shape->body);
    hash = hashGeometry(hash, &shape->form->geometry);
    hash = tpHashWord(hash, (uint64_t)shape->group << 1 | (shape->isSensor ? 1 : 0));
    return tpHashWord(hash, shape->mask);
}
