// What stands before the frames of a recording: scene, stepper, options, bodies, joints and
// sensors.
//
// Texts have a fixed length and are padded with zeros: every reader of HDF5 knows them, and no heap
// of variable-length objects has to survive a crash.

#include <string.h>

#include "base/memory.h"
#include "recording/writer.h"

enum { formatVersion = 1 };

tpQuiet tpQuiet_Begin(void) {
    tpQuiet quiet;
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void tpQuiet_End(tpQuiet quiet) {
    H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

static hid_t makeTextType(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                      H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

// A dataset in one piece, without the time of its making: the same run gives the same file.
static hid_t createDataset(hid_t place, const char* name, hid_t type, hid_t space) {
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, 0);
    hid_t data = H5Dcreate2(place, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    H5Pclose(create);
    return data;
}

bool tpWriteText(hid_t place, const char* name, const char* text) {
    hid_t type = makeTextType(text[0] != '\0' ? strlen(text) : 1);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t data = createDataset(place, name, type, space);
    bool done = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    H5Dclose(data);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

static bool writeAttribute(hid_t place, const char* name, hid_t fileType, hid_t memoryType,
                           hsize_t count, const void* value) {
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(place, name, fileType, space, H5P_DEFAULT, H5P_DEFAULT);
    bool done = attribute >= 0 && H5Awrite(attribute, memoryType, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

bool tpWriteTextAttribute(hid_t place, const char* name, const char* text) {
    hid_t type = makeTextType(text[0] != '\0' ? strlen(text) : 1);
    bool done = type >= 0 && writeAttribute(place, name, type, type, 1, text);
    H5Tclose(type);
    return done;
}

bool tpWriteNumberAttribute(hid_t place, const char* name, double value) {
    return writeAttribute(place, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &value);
}

bool tpWriteIntAttribute(hid_t place, const char* name, int value) {
    return writeAttribute(place, name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, &value);
}

// A dataset of `count` rows of `width` numbers, not chunked.
static bool writeTable(hid_t place, const char* name, hid_t fileType, hid_t memoryType,
                       hsize_t count, hsize_t width, const void* values) {
    hsize_t size[2] = { count, width };
    hid_t space = H5Screate_simple(width == 1 ? 1 : 2, size, NULL);
    hid_t data = createDataset(place, name, fileType, space);
    bool done = data >= 0 && (count == 0 || H5Dwrite(data, memoryType, H5S_ALL, H5S_ALL,
                                                     H5P_DEFAULT, values) >= 0);
    H5Dclose(data);
    H5Sclose(space);
    return done;
}

// Texts of `capacity` bytes each.
static bool writeTexts(hid_t place, const char* name, int count, size_t capacity,
                       const char* names) {
    hid_t type = makeTextType(capacity);
    bool done = type >= 0 && writeTable(place, name, type, type, (hsize_t)count, 1, names);
    H5Tclose(type);
    return done;
}

static bool writeNames(hid_t place, const char* name, int count, const char* names) {
    return writeTexts(place, name, count, tp_nameCapacity, names);
}

static const char* const kindNames[] = {
    [tp_dynamicBody] = "dynamic", [tp_fixedBody] = "fixed", [tp_kinematicBody] = "kinematic"
};

// Numbers of a body beside its name: gathered into tables, one after the other.
typedef struct WrittenTables {
    char (*names)[tp_nameCapacity];
    char (*kinds)[tp_nameCapacity];
    double *mass, *center, *inertia, *position, *rotation;
    int* moving;
} WrittenTables;

static void putVec3(double* to, tpVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void fillBody(WrittenTables* tables, const tpRosterBody* body, int i) {
    strcpy(tables->names[i], body->name);
    strcpy(tables->kinds[i], kindNames[body->kind]);
    tables->mass[i] = body->mass.mass;
    putVec3(tables->center + 3 * i, body->mass.center);
    const tpMat33* inertia = &body->mass.inertia;
    double parts[6] = { inertia->cx.x, inertia->cy.y, inertia->cz.z,
                        inertia->cy.x, inertia->cz.x, inertia->cz.y };
    memcpy(tables->inertia + 6 * i, parts, sizeof(parts));
    putVec3(tables->position + 3 * i, body->pose.position);
    tpQuat q = body->pose.rotation;
    double rotation[4] = { q.w, q.x, q.y, q.z };
    memcpy(tables->rotation + 4 * i, rotation, sizeof(rotation));
    tables->moving[i] = body->moving;
}

static bool writeBodyTables(hid_t bodies, const WrittenTables* tables, int bodyCount) {
    hsize_t count = (hsize_t)bodyCount;
    hid_t f64 = H5T_IEEE_F64LE, real = H5T_NATIVE_DOUBLE;
    return writeNames(bodies, "name", bodyCount, tables->names[0]) &&
           writeNames(bodies, "kind", bodyCount, tables->kinds[0]) &&
           writeTable(bodies, "mass", f64, real, count, 1, tables->mass) &&
           writeTable(bodies, "center_of_mass", f64, real, count, 3, tables->center) &&
           writeTable(bodies, "inertia", f64, real, count, 6, tables->inertia) &&
           writeTable(bodies, "position", f64, real, count, 3, tables->position) &&
           writeTable(bodies, "rotation", f64, real, count, 4, tables->rotation) &&
           writeTable(bodies, "moving", H5T_STD_I32LE, H5T_NATIVE_INT, count, 1, tables->moving);
}

static bool writeBodies(hid_t file, const tpRoster* roster, const tpAllocator* allocator) {
    size_t count = (size_t)roster->bodyCount;
    tpArena arena;
    tpArena_Create(&arena, allocator);
    WrittenTables tables = { .names = tpArena_GetZeroed(&arena, (count + 1) * tp_nameCapacity),
                             .kinds = tpArena_GetZeroed(&arena, (count + 1) * tp_nameCapacity),
                             .mass = TP_SCRATCH(&arena, double, count),
                             .center = TP_SCRATCH(&arena, double, 3 * count),
                             .inertia = TP_SCRATCH(&arena, double, 6 * count),
                             .position = TP_SCRATCH(&arena, double, 3 * count),
                             .rotation = TP_SCRATCH(&arena, double, 4 * count),
                             .moving = TP_SCRATCH(&arena, int, count) };
    hid_t bodies = H5Gcreate2(file, "bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = !arena.failed && bodies >= 0;
    for (int i = 0; done && i < roster->bodyCount; ++i) {
        fillBody(&tables, &roster->bodies[i], i);
    }
    done = done && writeBodyTables(bodies, &tables, roster->bodyCount);
    // The names of the states' columns, so that nobody has to look up who moves.
    for (int i = 0; done && i < roster->movingCount; ++i) {
        memset(tables.names[i], 0, tp_nameCapacity);
        strcpy(tables.names[i], roster->bodies[roster->moving[i]].name);
    }
    done = done && writeNames(file, "state_names", roster->movingCount, tables.names[0]);
    H5Gclose(bodies);
    tpArena_Destroy(&arena);
    return done;
}

// Names out of structs that begin with one, `stride` bytes each.
static bool writeNamesOf(hid_t place, const char* title, const void* structs, size_t stride,
                         size_t capacity, int count, const tpAllocator* allocator) {
    size_t size = ((size_t)count + 1) * capacity;
    char* names = tpAllocateZeroed(allocator, size);
    for (int i = 0; names != NULL && i < count; ++i) {
        strcpy(names + (size_t)i * capacity, (const char*)structs + (size_t)i * stride);
    }
    bool done = names != NULL && writeTexts(place, title, count, capacity, names);
    tpRelease(allocator, names, size);
    return done;
}

static bool writeJoints(hid_t file, const tpRoster* roster, const tpAllocator* allocator) {
    hid_t joints = H5Gcreate2(file, "joints", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done =
        joints >= 0 &&
        writeNamesOf(joints, "name", roster->joints, sizeof(tpRosterJoint), tp_nameCapacity,
                     roster->jointCount, allocator) &&
        writeNamesOf(joints, "coordinate_name", roster->coordinates, sizeof(tpRosterCoordinate),
                     tp_coordinateNameCapacity, roster->coordinateCount, allocator);
    H5Gclose(joints);
    return done;
}

static bool writeSensors(hid_t file, const tpRoster* roster, const tpAllocator* allocator) {
    hid_t sensors = H5Gcreate2(file, "sensors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done =
        sensors >= 0 && writeNamesOf(sensors, "column", roster->values, sizeof(tpRosterValue),
                                     tp_sensorColumnCapacity, roster->valueCount, allocator);
    H5Gclose(sensors);
    return done;
}

static bool writeOptions(hid_t file, const tpRecordingHead* head) {
    hid_t options = H5Gcreate2(file, "options", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = options >= 0;
    for (int i = 0; done && i < head->optionCount; ++i) {
        const tpHeadOption* option = &head->options[i];
        done = option->choice != NULL
                   ? tpWriteTextAttribute(options, option->name, option->choice)
                   : tpWriteNumberAttribute(options, option->name, option->value);
    }
    H5Gclose(options);
    return done;
}

bool tpWriteHead(hid_t file, const tpRecordingHead* head, const tpAllocator* allocator) {
    double gravity[3];
    putVec3(gravity, head->gravity);
    return tpWriteTextAttribute(file, "format", "tippe recording") &&
           tpWriteIntAttribute(file, "format_version", formatVersion) &&
           tpWriteTextAttribute(file, "tippe_version", tpVersion()) &&
           tpWriteTextAttribute(file, "stepper", head->stepper) &&
           tpWriteTextAttribute(file, "scene_name", head->sceneName) &&
           tpWriteTextAttribute(file, "scene_path", head->scenePath) &&
           tpWriteNumberAttribute(file, "step", head->step) &&
           tpWriteIntAttribute(file, "every", head->every) &&
           tpWriteIntAttribute(file, "planar", head->planar ? 1 : 0) &&
           writeAttribute(file, "gravity", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, gravity) &&
           tpWriteIntAttribute(file, "finished", 0) &&
           tpWriteText(file, "scene", head->sceneText) &&
           tpWriteText(file, "shapes", head->shapesText) &&
           writeBodies(file, head->roster, allocator) &&
           writeJoints(file, head->roster, allocator) &&
           writeSensors(file, head->roster, allocator) && writeOptions(file, head);
}
