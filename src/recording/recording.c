// Opening a recording: everything but the frames is read and checked here.
//
// A file may be cut short, damaged or made to deceive. Nothing in it is believed before it is
// checked: its structure before HDF5 sees it (base/hdf5_check.h), then types, ranks and lengths,
// and that lengths which belong together agree.

#include "recording/recording.h"
#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hdf5_check.h"
#include "recording/hdf5_read.h"
#include "recording/journal.h"
#include "recording/writer.h"

enum { formatVersion = 1, shortText = 4096, mostBodies = 1 << 28 };

// Before HDF5 sees the file ----------------------------------------------------------------------

// Whether the file is there, whole, and put together as recordings are.
static tpResult checkOpenFile(int file, const char* path, const tpAllocator* allocator,
                              size_t* size, tpError* error) {
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        return tpError_Set(error, tp_badInput, "%s: not a regular file", path);
    }
    *size = (size_t)status.st_size;
    char journal[4096];
    tpJournalState state = tpMakeJournalPath(path, journal, sizeof(journal))
                               ? tpJournal_GetState(journal)
                               : tp_noJournal;
    if (state == tp_journalBusy) {
        return tpError_Set(error, tp_ioError,
                           "%s: its run is writing to it at this moment; try again", path);
    }
    if (state == tp_journalLeft) {
        return tpError_Set(error, tp_badInput,
                           "%s: its run was killed while writing; `tippe repair %s` completes it",
                           path, path);
    }
    bool outOfMemory = false;
    const char* wrong = tpCheckHdf5(file, *size, tp_recordingFile, NULL, allocator, &outOfMemory);
    if (outOfMemory) {
        return tpError_OutOfMemory(error);
    }
    return wrong == NULL ? tp_success
                         : tpError_Set(error, tp_badInput, "%s: not a recording, or damaged: %s",
                                       path, wrong);
}

static tpResult checkFile(const char* path, const tpAllocator* allocator, size_t* size,
                          tpError* error) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return tpError_Set(error, tp_ioError, "%s: %s", path, strerror(errno));
    }
    tpResult result = checkOpenFile(file, path, allocator, size, error);
    close(file);
    return result;
}

// Head -------------------------------------------------------------------------------------------

static tpResult damaged(const tpRecording* recording, const char* what, tpError* error) {
    if (recording->texts.failed) {
        return tpError_OutOfMemory(error);
    }
    return tpError_Set(error, tp_badInput, "%s: not a recording, or damaged: %s", recording->path,
                       what);
}

static tpResult readAttributes(tpRecording* recording, tpError* error) {
    hid_t file = recording->file;
    tpArena* arena = &recording->texts;
    tpRecordingInfo* info = &recording->info;
    const char* format = NULL;
    int version = 0, finished = 0, planar = 0;
    if (!tpReadTextAttribute(file, "format", shortText, arena, &format) ||
        strcmp(format, "tippe recording") != 0 ||
        !tpReadIntAttribute(file, "format_version", &version)) {
        return damaged(recording, "it does not say that it is one", error);
    }
    if (version != formatVersion) {
        return tpError_Set(error, tp_unsupported, "%s: format version %d, this is Tippe %s for %d",
                           recording->path, version, tpVersion(), formatVersion);
    }
    double gravity[3];
    if (!tpReadTextAttribute(file, "tippe_version", shortText, arena, &info->version) ||
        !tpReadTextAttribute(file, "stepper", shortText, arena, &info->stepper) ||
        !tpReadTextAttribute(file, "scene_name", shortText, arena, &info->sceneName) ||
        !tpReadNumberAttributes(file, "step", 1, &info->step) ||
        !tpReadIntAttribute(file, "every", &info->every) ||
        !tpReadIntAttribute(file, "planar", &planar) ||
        !tpReadIntAttribute(file, "finished", &finished) ||
        !tpReadNumberAttributes(file, "gravity", 3, gravity)) {
        return damaged(recording, "an attribute is missing", error);
    }
    info->scenePath = ""; // earlier recordings do not have it
    if (H5Aexists(file, "scene_path") > 0 &&
        !tpReadTextAttribute(file, "scene_path", shortText, arena, &info->scenePath)) {
        return damaged(recording, "an attribute is wrong", error);
    }
    info->planar = planar != 0;
    info->finished = finished != 0;
    info->gravity = tpMakeVec3(gravity[0], gravity[1], gravity[2]);
    return tp_success;
}

static bool parseKind(const char* text, tpBodyKind* kind) {
    static const char* const names[] = {
        [tp_dynamicBody] = "dynamic", [tp_fixedBody] = "fixed", [tp_kinematicBody] = "kinematic"
    };
    for (int i = 0; i < 3; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *kind = (tpBodyKind)i;
            return true;
        }
    }
    return false;
}

typedef struct ReadTables {
    char *names, *kinds;
    size_t nameStride, kindStride;
    double *mass, *position, *rotation;
    int* moving;
} ReadTables;

static bool readBodyTables(tpRecording* recording, size_t limit, ReadTables* tables) {
    tpArena* arena = &recording->texts;
    hid_t file = recording->file;
    hsize_t count = 0, kindCount = 0;
    if (!tpReadTexts(file, "bodies/name", limit, arena, &tables->names, &tables->nameStride,
                     &count) ||
        !tpReadTexts(file, "bodies/kind", limit, arena, &tables->kinds, &tables->kindStride,
                     &kindCount) ||
        count != kindCount || count > mostBodies) {
        return false;
    }
    recording->info.bodyCount = (int)count;
    tables->mass = TP_SCRATCH(arena, double, count);
    tables->position = TP_SCRATCH(arena, double, 3 * count);
    tables->rotation = TP_SCRATCH(arena, double, 4 * count);
    tables->moving = TP_SCRATCH(arena, int, count);
    recording->bodies = TP_SCRATCH(arena, tpRecordedBody, count);
    recording->moving = TP_SCRATCH(arena, int, count);
    return !arena->failed &&
           tpReadTable(file, "bodies/mass", tp_doubleColumn, count, 1, tables->mass) &&
           tpReadTable(file, "bodies/position", tp_doubleColumn, count, 3, tables->position) &&
           tpReadTable(file, "bodies/rotation", tp_doubleColumn, count, 4, tables->rotation) &&
           tpReadTable(file, "bodies/moving", tp_intColumn, count, 1, tables->moving);
}

static bool readBodies(tpRecording* recording, size_t limit) {
    ReadTables tables = { 0 };
    if (!readBodyTables(recording, limit, &tables)) {
        return false;
    }
    tpRecordingInfo* info = &recording->info;
    for (int i = 0; i < info->bodyCount; ++i) {
        tpRecordedBody* body = &recording->bodies[i];
        const double *p = tables.position + 3 * i, *q = tables.rotation + 4 * i;
        *body = (tpRecordedBody){ .name = tables.names + (size_t)i * tables.nameStride,
                                  .mass = tables.mass[i],
                                  .moving = tables.moving[i],
                                  .pose = tpMakePose(tpMakeVec3(p[0], p[1], p[2]),
                                                     tpMakeQuat(q[0], q[1], q[2], q[3])) };
        // Bodies that move are numbered in their order.
        bool known = parseKind(tables.kinds + (size_t)i * tables.kindStride, &body->kind);
        int expected = known && body->kind != tp_fixedBody ? info->movingCount : -1;
        if (!known || body->moving != expected) {
            return false;
        }
        if (expected >= 0) {
            recording->moving[info->movingCount++] = i;
        }
    }
    return true;
}

// Whether a dataset is there; false also where its group is not.
static bool hasDataset(hid_t file, const char* group, const char* path) {
    return H5Lexists(file, group, H5P_DEFAULT) > 0 && H5Lexists(file, path, H5P_DEFAULT) > 0;
}

// Names that recordings of earlier versions do not have: there are none of these things then.
static bool readLaterNames(tpRecording* recording, const char* path, size_t limit, char** names,
                           size_t* stride, int* count) {
    hsize_t found = 0;
    char group[16] = "";
    strncat(group, path, strcspn(path, "/"));
    *count = 0;
    if (!hasDataset(recording->file, group, path)) {
        return true;
    }
    bool isRead =
        tpReadTexts(recording->file, path, limit, &recording->texts, names, stride, &found) &&
        found <= mostBodies;
    *count = isRead ? (int)found : 0;
    return isRead;
}

static tpResult readHead(tpRecording* recording, size_t size, tpError* error) {
    tpArena* arena = &recording->texts;
    hid_t file = recording->file;
    tpRecordingInfo* info = &recording->info;
    tpResult result = readAttributes(recording, error);
    if (result != tp_success) {
        return result;
    }
    hsize_t jointCount = 0, labelCount = 0;
    if (!tpReadText(file, "scene", size, arena, &info->sceneText)) {
        return damaged(recording, "/scene", error);
    }
    if (!tpReadText(file, "shapes", size, arena, &info->shapesText)) {
        return damaged(recording, "/shapes", error);
    }
    if (!readBodies(recording, size)) {
        return damaged(recording, "/bodies", error);
    }
    if (!tpReadTexts(file, "joints/name", size, arena, &recording->jointNames,
                     &recording->jointStride, &jointCount) ||
        jointCount > mostBodies) {
        return damaged(recording, "/joints", error);
    }
    if (!readLaterNames(recording, "joints/coordinate_name", size, &recording->coordinateNames,
                        &recording->coordinateStride, &info->coordinateCount) ||
        !readLaterNames(recording, "sensors/column", size, &recording->sensorColumns,
                        &recording->sensorStride, &info->sensorValueCount)) {
        return damaged(recording, "names of coordinates or sensors", error);
    }
    info->hasCarriers = hasDataset(file, "carriers", "carriers/method");
    if (!tpReadTexts(file, "labels", size, arena, &recording->labels, &recording->labelStride,
                     &labelCount) ||
        labelCount > shortText) {
        return damaged(recording, "/labels", error);
    }
    info->jointCount = (int)jointCount;
    recording->labelCount = (int)labelCount;
    recording->summary = "";
    if (info->finished && H5Lexists(file, "summary", H5P_DEFAULT) > 0 &&
        !tpReadText(file, "summary", size, arena, &recording->summary)) {
        return damaged(recording, "/summary", error);
    }
    return tp_success;
}

// Columns ----------------------------------------------------------------------------------------

int tpRecording_CountThings(const tpRecording* recording, int block) {
    const tpRecordingInfo* info = &recording->info;
    switch (block) {
    case tp_statesColumn:
        return info->movingCount;
    case tp_reactionsColumn:
        return info->jointCount;
    case tp_coordinatesColumn:
        return info->coordinateCount;
    case tp_sensorsColumn:
        return info->sensorValueCount;
    default:
        return info->hasCarriers ? info->movingCount : 0;
    }
}

static bool openColumn(tpRecording* recording, int i) {
    const tpColumn* column = &tpColumns[i];
    bool isBlock = i < tp_blockCount;
    int things = isBlock ? tpRecording_CountThings(recording, i) : 1;
    if (things == 0) {
        return true;
    }
    // Blocks of later versions come with their names, or not at all.
    if (!isBlock && column->isLater && H5Lexists(recording->file, column->path, H5P_DEFAULT) == 0) {
        return true;
    }
    int rank = tpColumn_GetRank(i);
    hsize_t size[3] = { 0, 0, 0 };
    hid_t data = tpOpenColumn(recording->file, column->path, column->kind, rank, size);
    recording->columns[i] = data;
    if (data < 0) {
        return false;
    }
    const tpRecordingInfo* info = &recording->info;
    const int64_t counts[tp_columnRowsCount] = { info->frameCount, info->contactCount,
                                                 info->pairCount };
    hsize_t rows = (hsize_t)counts[column->rows];
    bool isOffset = i == tp_offsetColumn || i == tp_pairOffsetColumn;
    hsize_t second = (hsize_t)(isBlock ? things : column->width);
    return size[0] == rows + (isOffset ? 1 : 0) && (rank < 2 || size[1] == second) &&
           (rank < 3 || size[2] == (hsize_t)column->width);
}

// The number of rows is that of one column; the others are then held to it.
static bool countRows(const tpRecording* recording, const char* path, tpColumnKind kind,
                      int64_t* count) {
    hsize_t size[3] = { 0, 0, 0 };
    hid_t data = tpOpenColumn(recording->file, path, kind, 1, size);
    *count = (int64_t)size[0];
    H5Dclose(data);
    return data >= 0 && size[0] < (hsize_t)1 << 48;
}

static tpResult openColumns(tpRecording* recording, tpError* error) {
    tpRecordingInfo* info = &recording->info;
    if (!countRows(recording, "/time", tp_doubleColumn, &info->frameCount)) {
        return damaged(recording, "/time", error);
    }
    if (!countRows(recording, "/contacts/gap", tp_doubleColumn, &info->contactCount)) {
        return damaged(recording, "/contacts", error);
    }
    if (!countRows(recording, "/pairs/energy_lost", tp_doubleColumn, &info->pairCount)) {
        return damaged(recording, "/pairs", error);
    }
    for (int i = 0; i < tp_columnCount; ++i) {
        if (!openColumn(recording, i)) {
            return damaged(recording, tpColumns[i].path, error);
        }
    }
    return tp_success;
}

// Opening and closing ----------------------------------------------------------------------------

static tpResult openRecording(tpRecording* recording, const char* path, tpError* error) {
    size_t size = 0;
    tpResult result = checkFile(path, &recording->allocator, &size, error);
    if (result != tp_success) {
        return result;
    }
    char* copy = tpArena_Get(&recording->texts, strlen(path) + 1);
    if (copy == NULL) {
        return tpError_OutOfMemory(error);
    }
    recording->path = strcpy(copy, path);
    recording->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (recording->file < 0) {
        return damaged(recording, "HDF5 cannot open it", error);
    }
    result = readHead(recording, size, error);
    return result == tp_success ? openColumns(recording, error) : result;
}

tpRecording* tpOpenRecording(const char* path, const tpAllocator* given, tpError* error) {
    TP_NEED(path, NULL);
    tpAllocator allocator = given != NULL ? *given : tpDefaultAllocator();
    tpRecording* recording = tpAllocateZeroed(&allocator, sizeof(tpRecording));
    if (recording == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    recording->allocator = allocator;
    recording->file = -1;
    for (int i = 0; i < tp_columnCount; ++i) {
        recording->columns[i] = -1;
    }
    tpArena_Create(&recording->texts, &allocator);
    tpQuiet quiet = tpQuiet_Begin();
    tpResult result = openRecording(recording, path, error);
    tpQuiet_End(quiet);
    if (result != tp_success) {
        tpCloseRecording(recording);
        return NULL;
    }
    return recording;
}

void tpCloseRecording(tpRecording* recording) {
    if (recording == NULL) {
        return;
    }
    tpQuiet quiet = tpQuiet_Begin();
    for (int i = 0; i < tp_columnCount; ++i) {
        if (recording->columns[i] >= 0) {
            H5Dclose(recording->columns[i]);
        }
    }
    if (recording->file >= 0) {
        H5Fclose(recording->file);
    }
    tpQuiet_End(quiet);
    tpArena_Destroy(&recording->texts);
    tpAllocator allocator = recording->allocator;
    tpRelease(&allocator, recording, sizeof(tpRecording));
}

const tpRecordingInfo* tpRecording_GetInfo(const tpRecording* recording) {
    TP_NEED(recording, NULL);
    return &recording->info;
}

tpRecordedBody tpRecording_GetBody(const tpRecording* recording, int body) {
    TP_NEED(recording, (tpRecordedBody){ 0 });
    TP_ASSERT(body >= 0 && body < recording->info.bodyCount);
    return recording->bodies[body];
}

const char* tpRecording_GetJointName(const tpRecording* recording, int joint) {
    TP_NEED(recording, NULL);
    TP_ASSERT(joint >= 0 && joint < recording->info.jointCount);
    return recording->jointNames + (size_t)joint * recording->jointStride;
}

const char* tpRecording_GetCoordinateName(const tpRecording* recording, int coordinate) {
    TP_NEED(recording, NULL);
    TP_ASSERT(coordinate >= 0 && coordinate < recording->info.coordinateCount);
    return recording->coordinateNames + (size_t)coordinate * recording->coordinateStride;
}

const char* tpRecording_GetSensorColumn(const tpRecording* recording, int value) {
    TP_NEED(recording, NULL);
    TP_ASSERT(value >= 0 && value < recording->info.sensorValueCount);
    return recording->sensorColumns + (size_t)value * recording->sensorStride;
}

const char* tpRecording_GetSummary(const tpRecording* recording) {
    TP_NEED(recording, NULL);
    return recording->summary;
}
