// Shapes and masses of the document. Shapes of a few numbers are made by the names of the numbers;
// shapes with data of their own have a maker each, in a table.

#include "scene/build_shapes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/part_file.h"
#include "geometry/shape.h"
#include "scene/files.h"
#include "scene/vocabulary.h"

typedef tpResult (*tpShapeMaker)(const tpScene* scene, const tpSceneShape* shape, tpPose pose,
                                 const tpAllocator* allocator, tpGeometry* out, tpError* error);

#define MAKER(name)                                                                                \
    static tpResult name(const tpScene* scene, const tpSceneShape* shape, tpPose pose,             \
                         const tpAllocator* allocator, tpGeometry* out, tpError* error)

// Shapes of a few numbers ---------------------------------------------------------------------

static const tpRecord* recordOf(int32_t type) {
    int i = 0;
    while (tpShapeFamily.members[i]->type != type) {
        ++i;
    }
    return tpShapeFamily.members[i];
}

// The numbers of the document go to the geometry by their names (geometry/shape.h).
static tpResult makeFromNumbers(const tpSceneShape* shape, tpPose pose, tpGeometry* out,
                                tpError* error) {
    const tpRecord* record = recordOf(shape->type);
    const tpShapeClass* class = tp_shapeClasses[shape->type];
    tpGeometry given = { .type = (tpShapeType)shape->type, .pose = pose };
    for (int i = 0; i < class->numberCount; ++i) {
        const tpShapeNumber* number = &class->numbers[i];
        for (int k = 0; k < record->fieldCount; ++k) {
            if (strcmp(record->fields[k].key, number->name) == 0) {
                memcpy((char*)&given + number->offset,
                       (const char*)shape + record->fields[k].offset,
                       (size_t)number->count * sizeof(double));
            }
        }
    }
    return tpMakeFromNumbers(&given, out, error);
}

MAKER(makePrism) {
    (void)scene;
    return tpMakePrism(allocator, (const double(*)[2])(const void*)shape->points.values,
                       shape->points.count, shape->length, pose, out, error);
}

MAKER(makeHeightField) {
    (void)scene;
    return tpMakeHeightField(allocator, (int)shape->columns, (int)shape->rows, shape->spacing[0],
                             shape->spacing[1], shape->heights.values, pose, out, error);
}

// Shapes from files ---------------------------------------------------------------------------

static tpResult readSurface(const tpScene* scene, const tpSceneShape* shape,
                            const tpAllocator* allocator, tpSurface* surface, tpError* error) {
    char path[tp_pathCapacity];
    if (!tpJoinScenePath(scene, shape->file.text, path, sizeof(path))) {
        return tpError_Set(error, tp_badInput, "the name of the file is too long");
    }
    // Only regular files: a device or a pipe might never end.
    struct stat status;
    tpResult result;
    if (stat(path, &status) != 0) {
        result = tpError_Set(error, tp_badInput, "the file %.500s cannot be read: %s", path,
                             strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        result = tpError_Set(error, tp_badInput, "%.500s is not a file", path);
    } else {
        result = tpReadSurface(allocator, path, surface, error);
    }
    return result;
}

MAKER(makeHull) {
    if (shape->file.text == NULL) {
        return tpMakeHull(allocator, (const tpVec3*)(const void*)shape->points.values,
                          shape->points.count, pose, out, error);
    }
    tpSurface surface;
    tpResult result = readSurface(scene, shape, allocator, &surface, error);
    if (result == tp_success) {
        result = tpMakeHull(allocator, surface.vertices, surface.vertexCount, pose, out, error);
        tpReleaseSurface(&surface);
    }
    return result;
}

MAKER(makeMesh) {
    tpSurface surface;
    tpResult result = readSurface(scene, shape, allocator, &surface, error);
    if (result == tp_success) {
        // What is only seen need not be closed.
        result = (shape->visual ? tpMakeOpenSurface : tpMakeMesh)(
            allocator, surface.vertices, surface.vertexCount,
            (const int32_t(*)[3])surface.triangles, surface.triangleCount, pose, out, error);
        tpReleaseSurface(&surface);
    }
    return result;
}

// Intersections -------------------------------------------------------------------------------

static tpResult makeParts(const tpScene* scene, const tpSceneShape* shape,
                          const tpAllocator* allocator, tpGeometry* parts, int* made,
                          tpError* error) {
    tpResult result = tp_success;
    while (result == tp_success && *made < shape->of.count) {
        result = tpMakeSceneShape(scene, &shape->of.items[*made], allocator, &parts[*made], error);
        *made += result == tp_success ? 1 : 0;
    }
    return result;
}

static tpResult makeIntersection(const tpScene* scene, const tpSceneShape* shape, tpPose pose,
                                 const tpAllocator* allocator, tpGeometry* out, tpError* error) {
    size_t size = sizeof(tpGeometry) * (size_t)shape->of.count;
    tpGeometry* parts = tpAllocate(allocator, size);
    if (parts == NULL) {
        return tpError_OutOfMemory(error);
    }
    int made = 0;
    tpResult result = makeParts(scene, shape, allocator, parts, &made, error);
    if (result == tp_success) {
        result = tpMakeIntersection(allocator, parts, made, pose, out, error);
        if (result != tp_success) {
            tpFailBuilding(scene, shape->part.place, error);
        }
    }
    for (int i = 0; i < made; ++i) {
        tpReleaseGeometry(&parts[i]);
    }
    tpRelease(allocator, parts, size);
    return result;
}

tpResult tpMakeSceneShape(const tpScene* scene, const tpSceneShape* shape,
                          const tpAllocator* allocator, tpGeometry* out, tpError* error) {
    static const tpShapeMaker makers[tp_shapeTypeCount] = {
        [tp_prismShape] = makePrism,
        [tp_hullShape] = makeHull,
        [tp_meshShape] = makeMesh,
        [tp_heightFieldShape] = makeHeightField,
    };
    tpPose pose = tpMakePose(shape->position, tpSceneRotation_Get(&shape->rotation));
    if (shape->type == tp_intersectionShape) { // its shapes name their own places
        return makeIntersection(scene, shape, pose, allocator, out, error);
    }
    tpShapeMaker make = makers[shape->type];
    tpResult result = make != NULL ? make(scene, shape, pose, allocator, out, error)
                                   : makeFromNumbers(shape, pose, out, error);
    if (result != tp_success) {
        tpFailBuilding(scene, shape->file.text != NULL ? shape->file.place : shape->part.place,
                       error);
    }
    return result;
}

// Masses --------------------------------------------------------------------------------------

double tpShapeDensity(const tpSceneBody* body, const tpSceneShape* shape) {
    return tpScenePart_Gives(&shape->part, "density") ? shape->density : body->density;
}

static tpMassProperties givenMass(const tpSceneBody* body) {
    const double* i = body->inertia.values; // xx yy zz xy xz yz, the last three zero if left out
    tpMassProperties mass = { .mass = body->mass, .center = body->centerOfMass };
    mass.inertia = tpMakeMat33(tpMakeVec3(i[0], i[3], i[4]), tpMakeVec3(i[3], i[1], i[5]),
                               tpMakeVec3(i[4], i[5], i[2]));
    return mass;
}

// Adds up the shapes one by one; with density one where the body gives its mass.
static tpResult massOfShapes(const tpScene* scene, const tpSceneBody* body,
                             const tpGeometry* geometries, tpMassProperties* sum, tpError* error) {
    bool hasMass = tpScenePart_Gives(&body->part, "mass"), isFirst = true;
    for (int i = 0; i < body->shapes.count; ++i) {
        const tpSceneShape* shape = &body->shapes.items[i];
        if (shape->visual) {
            continue;
        }
        double density = hasMass ? 1.0 : tpShapeDensity(body, shape);
        tpMassProperties both[2] = { *sum };
        if (tpGeometry_Mass(&geometries[i], density, &both[1], error) != tp_success) {
            return tpFailBuilding(scene, shape->part.place, error);
        }
        *sum = isFirst ? both[1] : tpCombineMass(both, 2);
        isFirst = false;
    }
    return tp_success;
}

tpResult tpSceneBody_Mass(const tpScene* scene, const tpSceneBody* body,
                          const tpGeometry* geometries, tpBodyDef* def, tpError* error) {
    if (body->kind != tp_dynamicBody) {
        return tp_success;
    }
    tpMassProperties mass = { 0 };
    if (tpScenePart_Gives(&body->part, "inertia")) {
        mass = givenMass(body);
    } else {
        tpResult result = massOfShapes(scene, body, geometries, &mass, error);
        if (result != tp_success) {
            return result;
        }
        if (tpScenePart_Gives(&body->part, "mass")) {
            mass.inertia = tpScaleM(body->mass / mass.mass, mass.inertia);
            mass.mass = body->mass;
        }
    }
    if (tpCheckMass(&mass, error) != tp_success) {
        return tpFailBuilding(scene, body->part.place, error);
    }
    def->hasMass = true;
    def->mass = mass;
    return tp_success;
}
