// Names: no two the same, and every reference to one that exists.
//
// Tables of names are open-addressing hashes (FNV-1a), so that a hundred thousand bodies resolve in
// the time it takes to read them.

#include <string.h>

#include "base/error.h"
#include "scene/reader.h"

typedef struct tpNames {
    const char** names; // in the order of the scene; NULL if a part has none
    int32_t count;
    int32_t* slots; // indices into names, -1: free
    uint32_t mask;  // number of slots less one, a power of two less one
    // parts are wrong whose names are not known: a name that is not here may be one of theirs
    bool isPartial;
} tpNames;

static uint32_t hashName(const char* name) {
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; ++name) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash;
}

static bool makeNames(tpNames* names, tpArena* arena, int32_t count) {
    uint32_t slotCount = 8;
    while (slotCount < 2 * (uint32_t)count) {
        slotCount *= 2;
    }
    names->names = tpArena_GetZeroed(arena, sizeof(const char*) * (size_t)count);
    names->slots = tpArena_Get(arena, sizeof(int32_t) * slotCount);
    names->count = count;
    names->mask = slotCount - 1;
    names->isPartial = false;
    if (names->names == NULL || names->slots == NULL) {
        return false;
    }
    memset(names->slots, 0xFF, sizeof(int32_t) * slotCount);
    return true;
}

// The slot that holds the name, or the free one where it belongs.
static int32_t* findSlot(const tpNames* names, const char* name) {
    uint32_t slot = hashName(name) & names->mask;
    while (names->slots[slot] >= 0 && strcmp(names->names[names->slots[slot]], name) != 0) {
        slot = (slot + 1) & names->mask;
    }
    return &names->slots[slot];
}

// Takes in the name of part `index`, unless an earlier part has it: then returns that one's index.
static int32_t addName(tpNames* names, int32_t index, const char* name) {
    int32_t* slot = findSlot(names, name);
    int32_t earlier = *slot;
    if (earlier < 0) {
        *slot = index;
    }
    names->names[index] = name;
    return earlier;
}

// Names of the parts of a list whose tpSceneText lies at nameOffset; `what` is its key in the
// scene.
static tpResult collectNames(tpReader* reader, const void* items, int32_t count, size_t size,
                             size_t nameOffset, const char* what, tpNames* names) {
    if (!makeNames(names, reader->arena, count)) {
        return tpError_OutOfMemory(reader->error);
    }
    bool hasErrors = reader->errorCount > 0;
    names->isPartial = hasErrors && !tpScenePart_Gives(&reader->scene->part, what);
    for (int32_t i = 0; i < count; ++i) {
        const tpSceneText* name =
            (const tpSceneText*)((const char*)items + size * (size_t)i + nameOffset);
        if (name->text == NULL) {
            names->isPartial = names->isPartial || hasErrors;
            continue;
        }
        int32_t earlier = addName(names, i, name->text);
        if (earlier >= 0) {
            const tpSceneText* first =
                (const tpSceneText*)((const char*)items + size * (size_t)earlier + nameOffset);
            tpResult result =
                name->place.file == first->place.file
                    ? TP_FAIL(reader, name->place,
                              "two %s are called \"%s\"; the first is at %d:%d", what, name->text,
                              first->place.line, first->place.column)
                    : TP_FAIL(reader, name->place,
                              "two %s are called \"%s\"; the first is at %.200s:%d:%d", what,
                              name->text, tpReader_PathAt(reader, first->place), first->place.line,
                              first->place.column);
            if (!tpReader_GoOn(reader, result)) {
                return result;
            }
        }
    }
    return tp_success;
}

// The index of a name; -1 if there is none, or reading goes on without it.
static tpResult resolve(tpReader* reader, const tpNames* names, const char* what,
                        tpSceneReference* reference) {
    reference->index = reference->name != NULL ? *findSlot(names, reference->name) : -1;
    if (reference->name == NULL || reference->index >= 0 || names->isPartial) {
        return tp_success;
    }
    tpResult result = tpFailUnknown(reader, reference->place, what, reference->name, "",
                                    names->names, names->count);
    return tpReader_GoOn(reader, result) ? tp_success : result;
}

// Fails where a pair of materials stands twice, in either order.
static tpResult checkTwice(tpReader* reader, const tpScenePairs* pairs) {
    tpNames seen;
    if (!makeNames(&seen, reader->arena, pairs->count)) {
        return tpError_OutOfMemory(reader->error);
    }
    tpResult result = tp_success;
    for (int32_t i = 0; result == tp_success && i < pairs->count; ++i) {
        const tpSceneReference* a = pairs->items[i].between;
        if (a[0].index < 0 || a[1].index < 0) {
            continue;
        }
        uint32_t low = (uint32_t)(a[0].index < a[1].index ? a[0].index : a[1].index);
        uint32_t high = (uint32_t)(a[0].index < a[1].index ? a[1].index : a[0].index);
        uint32_t slot = (low * 2654435761u ^ high * 2246822519u) & seen.mask;
        for (; seen.slots[slot] >= 0; slot = (slot + 1) & seen.mask) {
            const tpSceneReference* b = pairs->items[seen.slots[slot]].between;
            if ((a[0].index == b[0].index && a[1].index == b[1].index) ||
                (a[0].index == b[1].index && a[1].index == b[0].index)) {
                result = TP_FAIL(reader, a[0].place,
                                 "the pair of \"%s\" and \"%s\" stands twice; first at %d:%d",
                                 a[0].name, a[1].name, b[0].place.line, b[0].place.column);
                break;
            }
        }
        seen.slots[slot] = i;
        result = result == tp_success || tpReader_GoOn(reader, result) ? tp_success : result;
    }
    return result;
}

static tpResult resolvePairs(tpReader* reader, const tpNames* materials) {
    const tpScenePairs* pairs = &reader->scene->pairs;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < pairs->count; ++i) {
        for (int k = 0; result == tp_success && k < 2; ++k) {
            result = resolve(reader, materials, "material", &pairs->items[i].between[k]);
        }
    }
    return result == tp_success ? checkTwice(reader, pairs) : result;
}

static tpResult resolveBodies(tpReader* reader, const tpNames* materials) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->bodies.count; ++i) {
        tpSceneBody* body = &scene->bodies.items[i];
        result = resolve(reader, materials, "material", &body->material);
        for (int k = 0; result == tp_success && k < body->shapes.count; ++k) {
            result = resolve(reader, materials, "material", &body->shapes.items[k].material);
        }
    }
    return result;
}

static tpResult resolveJoints(tpReader* reader, const tpNames* bodies) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->joints.count; ++i) {
        tpSceneReference* pair = scene->joints.items[i].bodies;
        if (!tpScenePart_Gives(&scene->joints.items[i].part, "bodies")) {
            continue; // known to be wrong
        }
        for (int k = 0; result == tp_success && k < 2; ++k) {
            result = resolve(reader, bodies, "body", &pair[k]);
        }
        bool isWorld = pair[0].name == NULL && pair[1].name == NULL;
        bool isSame = pair[0].index >= 0 && pair[0].index == pair[1].index;
        if (result == tp_success && (isWorld || isSame)) {
            result =
                TP_FAIL(reader, pair[1].place, "a joint needs two different bodies, found %s twice",
                        isWorld ? "the world" : pair[0].name);
            result = tpReader_GoOn(reader, result) ? tp_success : result;
        }
    }
    return result;
}

// The joint of "joint" or "joint.axis".
static tpResult resolveCoordinate(tpReader* reader, const tpNames* joints,
                                  tpSceneCoordinate* coordinate) {
    if (coordinate->name == NULL) {
        return tp_success; // known to be wrong
    }
    size_t length = strcspn(coordinate->name, ".");
    char name[64] = "";
    if (length < sizeof(name)) {
        memcpy(name, coordinate->name, length);
        name[length] = '\0';
    }
    tpSceneReference reference = { .name = length < sizeof(name) ? name : coordinate->name,
                                   .place = coordinate->place };
    tpResult result = resolve(reader, joints, "joint", &reference);
    coordinate->joint = reference.index;
    return result;
}

static tpResult resolveCouplings(tpReader* reader, const tpNames* joints) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->couplings.count; ++i) {
        tpSceneTerms* terms = &scene->couplings.items[i].of;
        for (int k = 0; result == tp_success && k < terms->count; ++k) {
            result = resolveCoordinate(reader, joints, &terms->items[k].of);
        }
    }
    return result;
}

static tpResult resolveSensors(tpReader* reader, const tpNames* bodies, const tpNames* joints) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->sensors.count; ++i) {
        tpSceneSensor* sensor = &scene->sensors.items[i];
        if (tpScenePart_Gives(&sensor->part, "body")) {
            result = resolve(reader, bodies, "body", &sensor->body);
        }
        if (result == tp_success) {
            result = resolveCoordinate(reader, joints, &sensor->joint);
        }
    }
    return result;
}

static tpResult resolveExcludes(tpReader* reader, const tpNames* bodies) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->excludes.count; ++i) {
        tpSceneReference* pair = scene->excludes.items[i].bodies;
        if (!tpScenePart_Gives(&scene->excludes.items[i].part, "bodies")) {
            continue; // known to be wrong
        }
        for (int k = 0; result == tp_success && k < 2; ++k) {
            result = resolve(reader, bodies, "body", &pair[k]);
        }
        bool isWorld = pair[0].name == NULL || pair[1].name == NULL;
        if (result == tp_success &&
            (isWorld || (pair[0].index >= 0 && pair[0].index == pair[1].index))) {
            result =
                TP_FAIL(reader, pair[1].place, "an exclude needs two different bodies, found %s",
                        isWorld ? "null" : pair[0].name);
            result = tpReader_GoOn(reader, result) ? tp_success : result;
        }
    }
    return result;
}

static tpResult resolveForces(tpReader* reader, const tpNames* bodies) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->forces.count; ++i) {
        result = resolve(reader, bodies, "body", &scene->forces.items[i].body);
    }
    return result;
}

static tpResult resolveClosedForms(tpReader* reader, const tpNames* bodies) {
    tpScene* scene = reader->scene;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < scene->closedForms.count; ++i) {
        tpSceneReference* body = &scene->closedForms.items[i].body;
        result = resolve(reader, bodies, "body", body);
        if (result == tp_success && body->index >= 0 &&
            scene->bodies.items[body->index].kind == tp_fixedBody) {
            result =
                TP_FAIL(reader, body->place, "body \"%s\" is fixed and does not move", body->name);
            result = tpReader_GoOn(reader, result) ? tp_success : result;
        }
    }
    return result;
}

tpResult tpResolveReferences(tpReader* reader) {
    const tpScene* scene = reader->scene;
    tpNames materials, bodies, joints, couplings, sensors;
    tpResult result = collectNames(reader, scene->materials.items, scene->materials.count,
                                   sizeof(tpSceneMaterial), offsetof(tpSceneMaterial, name),
                                   "materials", &materials);
    if (result == tp_success) {
        result = collectNames(reader, scene->bodies.items, scene->bodies.count, sizeof(tpSceneBody),
                              offsetof(tpSceneBody, name), "bodies", &bodies);
    }
    if (result == tp_success) {
        result =
            collectNames(reader, scene->joints.items, scene->joints.count, sizeof(tpSceneJoint),
                         offsetof(tpSceneJoint, name), "joints", &joints);
    }
    if (result == tp_success) {
        result = collectNames(reader, scene->couplings.items, scene->couplings.count,
                              sizeof(tpSceneCoupling), offsetof(tpSceneCoupling, name), "couplings",
                              &couplings);
    }
    if (result == tp_success) {
        result =
            collectNames(reader, scene->sensors.items, scene->sensors.count, sizeof(tpSceneSensor),
                         offsetof(tpSceneSensor, name), "sensors", &sensors);
    }
    if (result == tp_success) {
        result = resolvePairs(reader, &materials);
    }
    if (result == tp_success) {
        result = resolveBodies(reader, &materials);
    }
    if (result == tp_success) {
        result = resolveJoints(reader, &bodies);
    }
    if (result == tp_success) {
        result = resolveCouplings(reader, &joints);
    }
    if (result == tp_success) {
        result = resolveSensors(reader, &bodies, &joints);
    }
    if (result == tp_success) {
        result = resolveExcludes(reader, &bodies);
    }
    if (result == tp_success) {
        result = resolveForces(reader, &bodies);
    }
    if (result == tp_success) {
        result = resolveClosedForms(reader, &bodies);
    }
    return result;
}
