// Scenes as wholes: read, written to files, overridden, destroyed.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/part_file.h"
#include "scene/checks.h"
#include "scene/formula.h"
#include "scene/options.h"
#include "scene/reader.h"
#include "scene/text.h"

struct tpSceneStorage {
    tpScene scene;
    tpArena arena;
};

// Reading -------------------------------------------------------------------------------------

// Where errors go: as many as there is room for.
typedef struct tpErrorRoom {
    tpError* list;
    int capacity;
    int count;
    bool isCut;
} tpErrorRoom;

static tpErrorRoom roomForOne(tpError* error) {
    return (tpErrorRoom){ .list = error, .capacity = 1 };
}

static tpErrorRoom roomForAll(tpSceneErrors* errors) {
    return (tpErrorRoom){ .list = errors->list, .capacity = TP_MOST_SCENE_ERRORS };
}

static bool isBefore(tpScenePlace a, tpScenePlace b) {
    return a.file != b.file   ? a.file < b.file
           : a.line != b.line ? a.line < b.line
                              : a.column < b.column;
}

// The first error stays where it is; the others come into the order of the file.
static void sortErrors(tpReader* reader) {
    for (int i = 2; i < reader->errorCount; ++i) {
        tpError error = reader->errors[i];
        tpScenePlace place = reader->errorPlaces[i];
        int k = i;
        for (; k > 1 && isBefore(place, reader->errorPlaces[k - 1]); --k) {
            reader->errors[k] = reader->errors[k - 1];
            reader->errorPlaces[k] = reader->errorPlaces[k - 1];
        }
        reader->errors[k] = error;
        reader->errorPlaces[k] = place;
    }
}

// The paths of all files, for places.
static tpResult listFiles(tpReader* reader, tpScene* scene) {
    const char** files = TP_SCRATCH(reader->arena, const char*, reader->sourceCount);
    if (files == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    for (int i = 0; i < reader->sourceCount; ++i) {
        files[i] = reader->sources[i].path;
    }
    scene->files = files;
    scene->fileCount = reader->sourceCount;
    return tp_success;
}

static tpResult readParts(tpReader* reader, tpScene* scene) {
    int order[tp_mostSourceFiles];
    tpResult result = tpOpenSources(reader, order);
    if (result == tp_success) {
        result = listFiles(reader, scene);
    }
    for (int i = 0; result == tp_success && i < reader->sourceCount; ++i) {
        result = tpReadSceneFile(reader, order[i], i + 1 == reader->sourceCount);
    }
    if (result == tp_success) {
        result = tpResolveReferences(reader);
    }
    return result == tp_success ? tpCheckPlanar(reader) : result;
}

static tpResult readScene(struct tpSceneStorage* storage, tpErrorRoom* room) {
    tpScene* scene = &storage->scene;
    tpReader reader = { .arena = &storage->arena,
                        .scene = scene,
                        .error = room->list,
                        .errors = room->list,
                        .errorCapacity = room->capacity };
    tpResult result = readParts(&reader, scene);
    if (result != tp_success) {
        room->isCut = result == tp_badInput && reader.errorCount > 0;
        reader.errorPlaces[reader.errorCount++] = reader.failedAt;
    }
    sortErrors(&reader);
    room->count = reader.errorCount;
    return room->count > 0 ? room->list[0].result : tp_success;
}

static const char* copyText(tpArena* arena, const char* text, size_t length) {
    char* copy = tpArena_Get(arena, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static tpResult parseScene(const char* text, size_t length, const char* name,
                           const tpAllocator* allocator, tpScene** out, tpErrorRoom* room) {
    tpAllocator heap = tpDefaultAllocator();
    tpError* error = room->list;
    allocator = allocator != NULL ? allocator : &heap;
    *out = NULL;
    room->count = 1; // until it is read
    if (length > TP_LONGEST_SCENE) {
        return tpFailAt(error, name, (tpScenePlace){ 1, 1, 0 },
                        "the scene has %zu bytes; the most that is read are %zu (large surfaces "
                        "belong in mesh files)",
                        length, TP_LONGEST_SCENE);
    }
    tpLocaleScope locale;
    struct tpSceneStorage* storage = tpAllocateZeroed(allocator, sizeof(struct tpSceneStorage));
    if (storage == NULL || !tpEnterCLocale(&locale)) {
        tpRelease(allocator, storage, sizeof(struct tpSceneStorage));
        return tpError_OutOfMemory(error);
    }
    tpScene* scene = &storage->scene;
    tpArena_Create(&storage->arena, allocator);
    scene->storage = storage;
    scene->path = copyText(&storage->arena, name, strlen(name));
    scene->text = copyText(&storage->arena, text, length);
    scene->textLength = length;
    tpResult result = scene->path != NULL && scene->text != NULL ? readScene(storage, room)
                                                                 : tpError_OutOfMemory(error);
    tpLeaveCLocale(&locale);
    if (result != tp_success) {
        tpDestroyScene(scene);
        return result;
    }
    *out = scene;
    return tp_success;
}

tpResult tpParseScene(const char* text, size_t length, const char* name,
                      const tpAllocator* allocator, tpScene** out, tpError* error) {
    TP_NEED(text, tp_badInput);
    TP_NEED(name, tp_badInput);
    TP_NEED(out, tp_badInput);
    tpError unheard;
    tpErrorRoom room = roomForOne(error != NULL ? error : &unheard);
    return parseScene(text, length, name, allocator, out, &room);
}

tpResult tpParseSceneErrors(const char* text, size_t length, const char* name,
                            const tpAllocator* allocator, tpScene** out, tpSceneErrors* errors) {
    TP_NEED(text, tp_badInput);
    TP_NEED(name, tp_badInput);
    TP_NEED(out, tp_badInput);
    TP_NEED(errors, tp_badInput);
    tpErrorRoom room = roomForAll(errors);
    tpResult result = parseScene(text, length, name, allocator, out, &room);
    errors->count = room.count;
    errors->isCut = room.isCut;
    return result;
}

void tpDestroyScene(tpScene* scene) {
    if (scene != NULL) {
        struct tpSceneStorage* storage = scene->storage;
        tpAllocator allocator = storage->arena.allocator;
        tpArena_Destroy(&storage->arena);
        tpRelease(&allocator, storage, sizeof(struct tpSceneStorage));
    }
}

typedef TP_ARRAY(char) tpBytes;

// The whole file, up to one byte more than the longest scene (pipes have no size to ask for).
static tpResult readBytes(FILE* file, const char* path, const tpAllocator* allocator,
                          tpBytes* bytes, tpError* error) {
    enum { chunk = 1 << 16 };
    size_t got;
    do {
        if (!TP_RESERVE(allocator, *bytes, bytes->count + chunk)) {
            return tpError_OutOfMemory(error);
        }
        got = fread(bytes->data + bytes->count, 1, chunk, file);
        bytes->count += (int)got;
    } while (got == chunk && (size_t)bytes->count <= TP_LONGEST_SCENE);
    if (ferror(file) != 0) {
        return tpError_Set(error, tp_ioError, "%.600s: cannot be read: %s", path, strerror(errno));
    }
    return tp_success;
}

static tpResult readFile(const char* path, const tpAllocator* allocator, tpScene** out,
                         tpErrorRoom* room) {
    tpAllocator heap = tpDefaultAllocator();
    tpError* error = room->list;
    allocator = allocator != NULL ? allocator : &heap;
    *out = NULL;
    room->count = 1; // until it is read
    int64_t size;
    FILE* file = tpOpenInput(path, &size, error);
    if (file == NULL) {
        return error->result;
    }
    if (size > (int64_t)TP_LONGEST_SCENE) {
        fclose(file);
        return tpError_Set(error, tp_badInput,
                           "%.600s: the file has %jd bytes; the most that is read are %zu (large "
                           "surfaces belong in mesh files)",
                           path, (intmax_t)size, TP_LONGEST_SCENE);
    }
    tpBytes bytes = { NULL, 0, 0 };
    tpResult result = readBytes(file, path, allocator, &bytes, error);
    fclose(file);
    if (result == tp_success) {
        result = parseScene(bytes.data, (size_t)bytes.count, path, allocator, out, room);
    }
    TP_FREE_ARRAY(allocator, bytes);
    return result;
}

tpResult tpReadScene(const char* path, const tpAllocator* allocator, tpScene** out,
                     tpError* error) {
    TP_NEED(path, tp_badInput);
    TP_NEED(out, tp_badInput);
    tpError unheard;
    tpErrorRoom room = roomForOne(error != NULL ? error : &unheard);
    return readFile(path, allocator, out, &room);
}

tpResult tpReadSceneErrors(const char* path, const tpAllocator* allocator, tpScene** out,
                           tpSceneErrors* errors) {
    TP_NEED(path, tp_badInput);
    TP_NEED(out, tp_badInput);
    TP_NEED(errors, tp_badInput);
    tpErrorRoom room = roomForAll(errors);
    tpResult result = readFile(path, allocator, out, &room);
    errors->count = room.count;
    errors->isCut = room.isCut;
    return result;
}

// Writing -------------------------------------------------------------------------------------

static tpResult failWriting(tpError* error, const char* path) {
    return tpError_Set(error, tp_ioError, "%.600s: cannot be written: %s", path, strerror(errno));
}

tpResult tpWriteScene(const tpScene* scene, const char* path, tpError* error) {
    TP_NEED(scene, tp_badInput);
    const tpAllocator* allocator = &scene->storage->arena.allocator;
    char* text = NULL;
    size_t length = 0;
    tpResult result = tpFormatScene(scene, allocator, &text, &length, error);
    tpPartFile part = { .file = -1 };
    if (result == tp_success) {
        bool isWritten = tpPartFile_Create(&part, path);
        for (size_t done = 0; isWritten && done < length;) {
            ssize_t put = write(part.file, text + done, length - done);
            isWritten = put > 0 || (put < 0 && errno == EINTR);
            done += put > 0 ? (size_t)put : 0;
        }
        if (!isWritten || !tpPartFile_Place(&part)) {
            result = failWriting(error, path);
            tpPartFile_Discard(&part);
        }
    }
    tpReleaseSceneText(allocator, text, length);
    return result;
}

// Overriding ----------------------------------------------------------------------------------

static void markGiven(tpSceneSimulation* simulation, const char* key) {
    simulation->part.given |= (uint32_t)1 << tpRecord_Find(simulation->part.record, key);
}

static const tpOptionInfo* findOption(const char* name) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        if (strcmp(tpOption(i)->name, name) == 0) {
            return tpOption(i);
        }
    }
    return NULL;
}

// The value as a scene file would have it: a number as JSON writes it.
static tpResult normaliseOption(tpArena* arena, tpSceneOption* option, tpError* error) {
    const tpOptionInfo* info = findOption(option->name.text);
    option->kind = tp_sceneWord;
    if (info->kind == tp_booleanOption) {
        option->kind = tp_sceneBoolean;
        bool truth = false;
        tpReadTruth(option->value, &truth);
        option->value = truth ? "true" : "false";
    } else if (info->kind != tp_choiceOption) {
        char buffer[tp_numberLength];
        int length = tpPrintNumber(buffer, strtod(option->value, NULL));
        option->kind = tp_sceneNumber;
        option->value = copyText(arena, buffer, (size_t)length);
    }
    return option->value != NULL ? tp_success : tpError_OutOfMemory(error);
}

// "name=value" into an option without a place.
static tpResult parseOption(tpArena* arena, const char* text, tpSceneOption* option,
                            tpError* error) {
    const char* equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return tpError_Set(error, tp_badInput, "expected name=value, found \"%.200s\"", text);
    }
    *option = (tpSceneOption){ .kind = tp_sceneWord };
    option->name.text = copyText(arena, text, (size_t)(equals - text));
    option->value = copyText(arena, equals + 1, strlen(equals + 1));
    if (option->name.text == NULL || option->value == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = tpCheckOption(option, "", error);
    return result == tp_success ? normaliseOption(arena, option, error) : result;
}

// Replaces the option of the same name, or adds it.
static tpResult setOption(tpArena* arena, tpSceneOptions* options, const tpSceneOption* option,
                          tpError* error) {
    for (int i = 0; i < options->count; ++i) {
        if (strcmp(options->items[i].name.text, option->name.text) == 0) {
            options->items[i] = *option;
            return tp_success;
        }
    }
    tpSceneOption* more = TP_SCRATCH(arena, tpSceneOption, options->count + 1);
    if (more == NULL) {
        return tpError_OutOfMemory(error);
    }
    if (options->count > 0) {
        memcpy(more, options->items, sizeof(tpSceneOption) * (size_t)options->count);
    }
    more[options->count] = *option;
    options->items = more;
    options->count += 1;
    return tp_success;
}

static tpResult overrideStepper(tpScene* scene, const char* name, tpError* error) {
    tpSceneText stepper = { copyText(&scene->storage->arena, name, strlen(name)), { 0, 0, 0 } };
    if (stepper.text == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = tpCheckStepper(&stepper, "", error);
    if (result == tp_success) {
        scene->simulation.stepper = stepper;
        markGiven(&scene->simulation, "stepper");
    }
    return result;
}

static tpResult overrideTimes(tpScene* scene, const tpSceneOverrides* overrides, tpError* error) {
    tpSceneSimulation* simulation = &scene->simulation;
    double step = overrides->step != 0.0 ? overrides->step : simulation->step;
    double until = overrides->hasUntil ? overrides->until : simulation->until;
    if (!(step > 0.0) || !isfinite(step)) {
        return tpError_Set(error, tp_badInput, "the step must be greater than zero, found %g",
                           step);
    }
    if (!(until >= 0.0) || !isfinite(until)) {
        return tpError_Set(error, tp_badInput, "the end must be zero or more, found %g", until);
    }
    tpResult result = tpCheckTimes(step, until, error);
    if (result == tp_success) {
        simulation->step = step;
        simulation->until = until;
    }
    return result;
}

static tpResult overrideAll(tpScene* scene, const tpSceneOverrides* overrides, tpError* error) {
    tpResult result = tp_success;
    if (overrides->stepper != NULL) {
        result = overrideStepper(scene, overrides->stepper, error);
    }
    if (result == tp_success) {
        result = overrideTimes(scene, overrides, error);
    }
    for (int i = 0; result == tp_success && i < overrides->optionCount; ++i) {
        tpArena* arena = &scene->storage->arena;
        tpSceneOption option;
        result = parseOption(arena, overrides->options[i], &option, error);
        if (result == tp_success) {
            result = tpCheckRefusal(&scene->simulation, &option, "", error);
        }
        if (result == tp_success) {
            result = setOption(arena, &scene->simulation.options, &option, error);
        }
        if (result == tp_success) {
            markGiven(&scene->simulation, "options");
        }
    }
    return result;
}

tpResult tpScene_Override(tpScene* scene, const tpSceneOverrides* overrides, tpError* error) {
    TP_NEED(scene, tp_badInput);
    tpLocaleScope locale;
    if (!tpEnterCLocale(&locale)) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = overrideAll(scene, overrides, error);
    tpLeaveCLocale(&locale);
    return result;
}

int tpSceneVersion(void) {
    return TP_SCENE_VERSION;
}

tpStepperId tpScene_GetStepper(const tpScene* scene) {
    TP_NEED(scene, (tpStepperId){ 0 });
    tpStepperId stepper = tpDefaultWorldDef().stepper;
    if (scene->simulation.stepper.text != NULL) {
        tpFindStepper(scene->simulation.stepper.text, &stepper);
    }
    return stepper;
}

int64_t tpScene_GetStepCount(const tpScene* scene) {
    TP_NEED(scene, 0);
    return (int64_t)llround(scene->simulation.until / scene->simulation.step);
}

double tpScene_EvaluateClosedForm(const tpScene* scene, int index, double time) {
    TP_NEED(scene, 0.0);
    double value = NAN;
    tpEvaluateAtTime(scene->closedForms.items[index].formula.text, time, &value, NULL);
    return value;
}
