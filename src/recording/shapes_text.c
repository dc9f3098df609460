// The shapes of a world as JSON.
//
// Round and boxy shapes are given by their numbers. Polyhedra, meshes, height fields and whatever
// has no simple drawing of its own are given as triangles in a list of surfaces, each once however
// many shapes share it.

#include "recording/shapes_text.h"

#include <stdio.h>
#include <string.h>

#include "geometry/shape.h"
#include "geometry/triangulate.h"
#include "recording/number.h"

// A shape without a drawing of its own, and its place in the list of surfaces.
typedef struct sharedSurface {
    const void* identity; // the hull, mesh, field or intersection that shapes share
    const tpGeometry* geometry;
} sharedSurface;

enum { mostMaterials = 40 }; // whose pairs are told

typedef struct shapesWriter {
    const tpAllocator* allocator;
    tpShapesText* text;
    TP_ARRAY(sharedSurface) surfaces;
    bool failed;
} shapesWriter;

static void put(shapesWriter* writer, const char* words) {
    int length = (int)strlen(words);
    if (writer->failed ||
        !TP_RESERVE(writer->allocator, *writer->text, writer->text->count + length + 1)) {
        writer->failed = true;
        return;
    }
    memcpy(writer->text->data + writer->text->count, words, (size_t)length + 1);
    writer->text->count += length;
}

static void putRow(shapesWriter* writer, const double* numbers, int count) {
    char buffer[tp_numberCapacity + 1];
    put(writer, "[");
    for (int i = 0; i < count; ++i) {
        buffer[tpFormatNumber(buffer, numbers[i])] = '\0';
        put(writer, i > 0 ? ", " : "");
        put(writer, buffer);
    }
    put(writer, "]");
}

static void putNumbers(shapesWriter* writer, const char* key, const double* numbers, int count) {
    char buffer[tp_numberCapacity + 1];
    put(writer, ", \"");
    put(writer, key);
    put(writer, "\": ");
    if (count > 1) {
        putRow(writer, numbers, count);
    } else {
        buffer[tpFormatNumber(buffer, numbers[0])] = '\0';
        put(writer, buffer);
    }
}

static void putVec3(shapesWriter* writer, const char* key, tpVec3 v) {
    putNumbers(writer, key, (double[]){ v.x, v.y, v.z }, 3);
}

static void putPose(shapesWriter* writer, tpPose pose) {
    tpVec3 p = pose.position;
    tpQuat q = pose.rotation;
    if (p.x != 0.0 || p.y != 0.0 || p.z != 0.0) {
        putVec3(writer, "position", p);
    }
    if (q.x != 0.0 || q.y != 0.0 || q.z != 0.0) {
        putNumbers(writer, "rotation", (double[]){ q.w, q.x, q.y, q.z }, 4);
    }
}

// Shapes that share a surface mostly follow one another: the search starts at the end.
static void putSurfaceNumber(shapesWriter* writer, const tpGeometry* geometry) {
    const void* shared = tpGeometry_Shared(geometry);
    sharedSurface surface = { shared != NULL ? shared : geometry, geometry };
    int place = writer->surfaces.count - 1;
    while (place >= 0 && writer->surfaces.data[place].identity != surface.identity) {
        --place;
    }
    if (place < 0) {
        place = writer->surfaces.count;
        writer->failed = !TP_PUSH(writer->allocator, writer->surfaces, surface) || writer->failed;
    }
    char words[32];
    snprintf(words, sizeof(words), ", \"surface\": %d", place);
    put(writer, words);
}

static void putColor(shapesWriter* writer, tpColor color) {
    char words[40];
    snprintf(words, sizeof(words), ", \"color\": \"#%02x%02x%02x\"",
             (unsigned)(255.0 * color.red + 0.5), (unsigned)(255.0 * color.green + 0.5),
             (unsigned)(255.0 * color.blue + 0.5));
    put(writer, words);
}

// Without the closing brace.
static void putShape(shapesWriter* writer, const tpGeometry* geometry) {
    put(writer, "{ \"type\": \"");
    put(writer, tpShapeTypeName(geometry->type));
    put(writer, "\"");
    putPose(writer, geometry->pose);
    const tpShapeClass* class = tpClassOf(geometry);
    for (int i = 0; i < class->numberCount; ++i) {
        const tpShapeNumber* number = &class->numbers[i];
        if (!number->isInPose) {
            const void* values = (const char*)geometry + number->offset;
            putNumbers(writer, number->name, values, number->count);
        }
    }
    if (class->numberCount == 0) {
        putSurfaceNumber(writer, geometry);
    }
}

static void putBody(shapesWriter* writer, const tpWorld* world, const tpRosterBody* body) {
    tpVec3 center = body->kind == tp_fixedBody ? tpMakeVec3(0.0, 0.0, 0.0) : body->mass.center;
    put(writer, "{ \"shapes\": [");
    int shapeCount = tpBody_GetShapeCount(world, body->id);
    tpColor color;
    for (int i = 0; i < shapeCount; ++i) {
        tpShapeId shape = tpBody_GetShape(world, body->id, i);
        put(writer, i > 0 ? ", " : "");
        putShape(writer, tpShape_GetGeometry(world, shape));
        if (tpShape_GetColor(world, shape, &color)) {
            putColor(writer, color);
        }
        char words[40];
        snprintf(words, sizeof(words), ", \"material\": %d }",
                 (int)tpShape_GetMaterial(world, shape));
        put(writer, words);
    }
    for (int i = 0; i < tpBody_GetVisualCount(world, body->id); ++i) {
        tpVisual visual = tpBody_GetVisual(world, body->id, i);
        put(writer, i + shapeCount > 0 ? ", " : "");
        putShape(writer, visual.geometry);
        if (visual.hasColor) {
            putColor(writer, visual.color);
        }
        put(writer, ", \"visual\": true }");
    }
    put(writer, "]");
    if (center.x != 0.0 || center.y != 0.0 || center.z != 0.0) {
        putVec3(writer, "center_of_mass", center);
    }
    put(writer, " }");
}

static void putSurface(shapesWriter* writer, const tpGeometry* geometry) {
    tpSurface surface;
    if (tpTriangulate(geometry, writer->allocator, &surface) != tp_success) {
        writer->failed = true;
        return;
    }
    put(writer, "{ \"vertices\": [");
    char buffer[tp_numberCapacity + 1];
    for (int i = 0; i < 3 * surface.vertexCount; ++i) {
        const tpVec3* v = &surface.vertices[i / 3];
        double coordinate = i % 3 == 0 ? v->x : i % 3 == 1 ? v->y : v->z;
        buffer[tpFormatNumber(buffer, coordinate)] = '\0';
        put(writer, i > 0 ? "," : "");
        put(writer, buffer);
    }
    put(writer, "], \"triangles\": [");
    for (int i = 0; i < 3 * surface.triangleCount; ++i) {
        snprintf(buffer, sizeof(buffer), i > 0 ? ",%d" : "%d", surface.triangles[i / 3][i % 3]);
        put(writer, buffer);
    }
    put(writer, "] }");
    tpReleaseSurface(&surface);
}

// Programs may give any name; here letters and digits are enough.
static void putName(shapesWriter* writer, const char* name) {
    char plain[64];
    size_t length = 0;
    for (; name != NULL && name[length] != '\0' && length < sizeof(plain) - 1; ++length) {
        bool isPlain =
            (unsigned char)name[length] >= ' ' && strchr("\"\\<>&", name[length]) == NULL;
        plain[length] = name[length];
        if (!isPlain) {
            plain[length] = '_';
        }
    }
    plain[length] = '\0';
    put(writer, "\"");
    put(writer, plain);
    put(writer, "\"");
}

// What holds between each two materials.
static void putPairs(shapesWriter* writer, const tpWorld* world, int count) {
    put(writer, "\n  \"pairs\": [");
    for (tpMaterialId i = 0; i < count; ++i) {
        for (tpMaterialId j = 0; j <= i; ++j) {
            tpFriction friction;
            double restitution;
            tpGetMaterialPair(world, i, j, &friction, &restitution);
            double numbers[] = { friction.staticCoefficient, friction.dynamicCoefficient,
                                 friction.torsionalArm,      friction.ellipse[0],
                                 friction.ellipse[1],        restitution };
            put(writer, i + j > 0 ? "," : "");
            putRow(writer, numbers, 6);
        }
    }
    put(writer, "]");
}

bool tpWriteMaterialsText(const tpWorld* world, const tpAllocator* allocator, tpShapesText* text) {
    shapesWriter writer = { .allocator = allocator, .text = text };
    int count = tpWorld_GetMaterialCount(world);
    count = count < mostMaterials ? count : mostMaterials;
    put(&writer, "\"materials\": [");
    for (tpMaterialId i = 0; i < count; ++i) {
        put(&writer, i > 0 ? ", " : "");
        putName(&writer, tpMaterial_GetDef(world, i).name);
    }
    put(&writer, "],");
    putPairs(&writer, world, count);
    return !writer.failed;
}

bool tpWriteShapesText(const tpRoster* roster, const tpWorld* world, const tpAllocator* allocator,
                       tpShapesText* text) {
    *text = (tpShapesText){ 0 };
    shapesWriter writer = { .allocator = allocator, .text = text };
    put(&writer, "{ \"bodies\": [");
    for (int i = 0; i < roster->bodyCount; ++i) {
        put(&writer, i > 0 ? ",\n  " : "\n  ");
        putBody(&writer, world, &roster->bodies[i]);
    }
    put(&writer, "],\n  \"surfaces\": [");
    for (int i = 0; i < writer.surfaces.count && !writer.failed; ++i) {
        put(&writer, i > 0 ? ",\n  " : "\n  ");
        putSurface(&writer, writer.surfaces.data[i].geometry);
    }
    put(&writer, "],\n  ");
    writer.failed = writer.failed || !tpWriteMaterialsText(world, allocator, text);
    put(&writer, " }\n");
    TP_FREE_ARRAY(allocator, writer.surfaces);
    if (writer.failed) {
        TP_FREE_ARRAY(allocator, *text);
    }
    return !writer.failed;
}
