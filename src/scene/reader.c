// Objects, lists and maps of the file, by the tables of vocabulary.h.

#include "scene/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/options.h"
#include "scene/text.h"

const char* tpReader_PathAt(const tpReader* reader, tpScenePlace place) {
    return place.file < reader->sourceCount ? reader->sources[place.file].path
                                            : reader->scene->path;
}

tpResult tpReader_Fail(tpReader* reader, tpScenePlace place, const char* format, ...) {
    char message[sizeof(reader->error->message)], indices[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    tpScope_Describe(&reader->scope, indices, sizeof(indices));
    reader->failedAt = place;
    bool isRepeated = indices[0] != '\0';
    return tpFailAt(reader->error, tpReader_PathAt(reader, place), place, "%s%s%s%s", message,
                    isRepeated ? " (" : "", indices, isRepeated ? ")" : "");
}

bool tpReader_GoOn(tpReader* reader, tpResult result) {
    if (result != tp_badInput || reader->errorCount + 1 >= reader->errorCapacity) {
        return false;
    }
    reader->errorPlaces[reader->errorCount++] = reader->failedAt;
    reader->error = &reader->errors[reader->errorCount];
    return true;
}

bool tpReader_SkipValue(tpReader* reader, const tpJson* value, tpResult result) {
    if (!tpReader_GoOn(reader, result)) {
        return false;
    }
    reader->json = *value;
    tpJson_Skip(&reader->json);
    return true;
}

// What other programs call what is known here; NULL if the word is none of theirs.
static const char* translate(const char* word, const char* const* known, int count) {
    static const char* const words[][2] = {
        { "hinge", "revolute" },  { "continuous", "revolute" }, { "slider", "prismatic" },
        { "slide", "prismatic" }, { "spherical", "ball" },      { "weld", "fixed" },
        { "static", "fixed" },    { "free", "dynamic" },        { "cube", "box" },
        { "cuboid", "box" },      { "halfspace", "plane" },     { "ground", "plane" },
        { "convex", "hull" },     { "hfield", "heightfield" },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        for (int k = 0; strcmp(word, words[i][0]) == 0 && k < count; ++k) {
            if (known[k] != NULL && strcmp(known[k], words[i][1]) == 0) {
                return known[k];
            }
        }
    }
    return NULL;
}

tpResult tpFailUnknown(tpReader* reader, tpScenePlace place, const char* what, const char* word,
                       const char* where, const char* const* known, int count) {
    const char* nearest = translate(word, known, count);
    if (nearest == NULL) {
        nearest = tpNearestName(word, known, count);
    }
    if (nearest != NULL) {
        return TP_FAIL(reader, place, "unknown %s \"%.60s\"%s; did you mean \"%s\"?", what, word,
                       where, nearest);
    }
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof(list) - 70; ++i) {
        if (known[i] != NULL) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s",
                                     used == 0 ? "" : ", ", known[i]);
        }
    }
    return TP_FAIL(reader, place, "unknown %s \"%.60s\"%s; expected one of: %s", what, word, where,
                   used > 0 ? list : "(there are none)");
}

tpResult tpExpect(tpReader* reader, tpJsonType type, const char* key, const char* what) {
    tpJsonType found = tpJson_Peek(&reader->json);
    if (found == type) {
        return tp_success;
    }
    return TP_FAIL(reader, tpJson_Place(&reader->json), "\"%s\" takes %s, found %s", key, what,
                   tpJsonTypeName(found));
}

// What went wrong where a function returned NULL.
static tpResult resultOf(const tpReader* reader) {
    return reader->error != NULL ? reader->error->result : tp_badInput;
}

// Records -------------------------------------------------------------------------------------

// The key of the record's own under which an unknown one has its place, as "step" has it under
// "simulation"; NULL if there is none.
static const char* findHolder(const tpRecord* record, const char* key) {
    for (int i = 0; i < tpRecord_FieldCount(record); ++i) {
        const tpField* field = tpRecord_Field(record, i);
        if (field->kind == tp_recordField && tpRecord_Find(field->record, key) >= 0) {
            return field->key;
        }
    }
    return NULL;
}

static tpResult failUnknownKey(tpReader* reader, tpScenePlace place, const tpRecord* record,
                               const char* key) {
    const char* holder = findHolder(record, key);
    if (holder != NULL) {
        return TP_FAIL(reader, place, "unknown key \"%.60s\" in %s; it is a key of \"%s\"", key,
                       record->article, holder);
    }
    const char* known[tp_mostFields];
    int count = tpRecord_FieldCount(record);
    for (int i = 0; i < count; ++i) {
        known[i] = tpRecord_Field(record, i)->key;
    }
    char where[80];
    snprintf(where, sizeof(where), " in %s", record->article);
    return tpFailUnknown(reader, place, "key", key, where, known, count);
}

// Reads the key that comes next and finds it among those of the record; -1 if it is none of
// them. In entries of lists the keys of repeats are none either, and are fine.
static tpResult readKey(tpReader* reader, const tpRecord* record, bool isEntry, uint32_t seen,
                        int* index) {
    tpScenePlace place = tpJson_Place(&reader->json);
    tpArenaMark mark = tpArena_Mark(reader->arena);
    const char* key = tpReadPlain(reader, true);
    if (key == NULL) {
        return resultOf(reader);
    }
    *index = tpRecord_Find(record, key);
    if (*index < 0 && isEntry && tpIsRepeatKey(key)) {
        tpArena_Release(reader->arena, mark);
        return tp_success;
    }
    if (*index < 0) {
        return failUnknownKey(reader, place, record, key);
    }
    if ((seen >> *index & 1) != 0) {
        return TP_FAIL(reader, place, "the key \"%s\" stands twice in %s", key, record->article);
    }
    tpArena_Release(reader->arena, mark);
    return tp_success;
}

// What a record has had so far, its head apart.
typedef struct tpRecordState {
    uint32_t seen;     // keys, a bit each, right or wrong
    bool isStrange;    // a key was none of its own: one of those may have been meant
    bool isEntry;      // of a list
    uint32_t changing; // keys that asked for one of the indices
    uint32_t indices;  // that count, a bit each
    tpJson* values;    // of `changing`; NULL: nobody asks
    tpScenePlace places[tp_mostFields];
} tpRecordState;

// The next key and its value. If they are wrong and reading goes on, the key counts as not
// given.
static tpResult readEntry(tpReader* reader, const tpRecord* record, tpScenePart* part,
                          tpRecordState* state) {
    int index = -1;
    tpResult result = readKey(reader, record, state->isEntry, state->seen, &index);
    tpJson value = reader->json; // the key has been read, whatever it was
    if (result == tp_success && index < 0) {
        tpJson_Skip(&reader->json);
        return tp_success;
    }
    uint32_t used = reader->scope.used;
    reader->scope.used = 0;
    if (result == tp_success) {
        state->seen |= (uint32_t)1 << index;
        part->given |= (uint32_t)1 << index;
        state->places[index] = tpJson_Place(&reader->json);
        result = tpReadField(reader, tpRecord_Field(record, index), part);
        if (result != tp_success) {
            part->given &= ~((uint32_t)1 << index);
        }
    } else {
        state->isStrange = true;
    }
    if (result == tp_success && state->values != NULL &&
        (reader->scope.used & state->indices) != 0) {
        state->changing |= (uint32_t)1 << index;
        state->values[index] = value;
    }
    reader->scope.used |= used;
    bool isRead = result == tp_success || tpReader_SkipValue(reader, &value, result);
    return isRead ? tp_success : result;
}

static tpResult checkRequired(tpReader* reader, const tpRecord* record, const tpScenePart* part,
                              uint32_t seen) {
    for (int i = 0; i < tpRecord_FieldCount(record); ++i) {
        const tpField* field = tpRecord_Field(record, i);
        if (field->isRequired && (seen >> i & 1) == 0) {
            tpResult result = TP_FAIL(reader, part->place, "%s needs the key \"%s\"",
                                      record->article, field->key);
            if (!tpReader_GoOn(reader, result)) {
                return result;
            }
        }
    }
    return tp_success;
}

// What keys must be to each other.
static tpResult checkKeys(tpReader* reader, const tpRecord* record, void* part,
                          const tpScenePlace* places) {
    tpResult result = record->check != NULL ? record->check(reader, part, places) : tp_success;
    return result == tp_success || tpReader_GoOn(reader, result) ? tp_success : result;
}

// The keys and values of the object at the cursor.
static tpResult readKeys(tpReader* reader, const tpRecord* record, void* part,
                         tpRecordState* state) {
    tpScenePart* head = part;
    head->record = record;
    head->place = tpJson_Place(&reader->json);
    if (tpJson_Peek(&reader->json) != tp_jsonObject) {
        return TP_FAIL(reader, head->place, "expected %s, which is an object, found %s",
                       record->article, tpJsonTypeName(tpJson_Peek(&reader->json)));
    }
    if (record->setDefaults != NULL) {
        record->setDefaults(part);
    }
    tpResult result = tp_success;
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        result = readEntry(reader, record, part, state);
    }
    return result;
}

static tpResult readRecord(tpReader* reader, const tpRecord* record, void* part,
                           tpRecordState* state) {
    int errorCount = reader->errorCount;
    tpResult result = readKeys(reader, record, part, state);
    if (result == tp_success && !state->isStrange) {
        result = checkRequired(reader, record, part, state->seen);
    }
    // Asked of keys that are right.
    bool isRight = result == tp_success && reader->errorCount == errorCount;
    return isRight ? checkKeys(reader, record, part, state->places) : result;
}

tpResult tpReadRecord(tpReader* reader, const tpRecord* record, void* part) {
    tpRecordState state = { .seen = 0 };
    return readRecord(reader, record, part, &state);
}

tpResult tpReadSceneFile(tpReader* reader, int file, bool isLast) {
    tpScene* scene = reader->scene;
    tpRecordState state = { .seen = 0 };
    const tpSourceFile* source = &reader->sources[file];
    tpResult result =
        tpJson_Open(&reader->json, source->path, file, source->text, source->length, reader->error);
    if (result == tp_success) {
        result = readKeys(reader, &tpSceneRecord, scene, &state);
    }
    // What no file gives is missing.
    return result == tp_success && isLast && !state.isStrange
               ? checkRequired(reader, &tpSceneRecord, &scene->part, state.seen | scene->part.given)
               : result;
}

// Families ------------------------------------------------------------------------------------

static tpResult matchType(tpReader* reader, tpJson* ahead, const tpFamily* family,
                          const tpRecord** record) {
    tpScenePlace place = tpJson_Place(ahead);
    if (tpJson_Peek(ahead) != tp_jsonText) {
        return TP_FAIL(reader, place, "\"type\" takes a text, found %s",
                       tpJsonTypeName(tpJson_Peek(ahead)));
    }
    size_t length;
    const char* type = tpJson_ReadText(ahead, reader->arena, &length);
    if (type == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    const char* known[tp_shapeTypeCount];
    for (int i = 0; i < family->memberCount; ++i) {
        known[i] = family->members[i]->name;
        if (strcmp(type, known[i]) == 0) {
            *record = family->members[i];
            return tp_success;
        }
    }
    char what[80];
    snprintf(what, sizeof(what), "type of %s", family->name);
    return tpFailUnknown(reader, place, what, type, "", known, family->memberCount);
}

// Which record of the family comes next: looks ahead for its "type", which may stand anywhere.
static tpResult findMember(tpReader* reader, const tpFamily* family, const tpRecord** record) {
    *record = family->members[0];
    if (family->memberCount == 1) {
        return tp_success;
    }
    tpScenePlace place = tpJson_Place(&reader->json);
    if (tpJson_Peek(&reader->json) != tp_jsonObject) {
        return TP_FAIL(reader, place, "expected %s, which is an object, found %s", family->article,
                       tpJsonTypeName(tpJson_Peek(&reader->json)));
    }
    tpJson ahead = reader->json;
    tpResult result = tp_badInput;
    bool isFound = false;
    tpArenaMark mark = tpArena_Mark(reader->arena);
    tpJson_Enter(&ahead);
    while (!isFound && tpJson_Next(&ahead)) {
        size_t length;
        const char* key = tpJson_ReadKey(&ahead, reader->arena, &length);
        if (key == NULL) {
            return tpError_OutOfMemory(reader->error);
        }
        isFound = strcmp(key, "type") == 0;
        if (isFound) {
            result = matchType(reader, &ahead, family, record);
        } else {
            tpJson_Skip(&ahead);
        }
    }
    tpArena_Release(reader->arena, mark);
    return isFound ? result : TP_FAIL(reader, place, "%s needs the key \"type\"", family->article);
}

tpResult tpReadEntry(tpReader* reader, const tpFamily* family, void* part, int firstIndex,
                     tpRecordPlan* plan) {
    const tpRecord* record;
    tpJson value = reader->json;
    tpRecordState state = { .isEntry = firstIndex >= 0,
                            .indices = plan != NULL ? ~(((uint32_t)1 << firstIndex) - 1) : 0,
                            .values = plan != NULL ? plan->values : NULL };
    tpResult result = findMember(reader, family, &record);
    if (result == tp_success) {
        result = readRecord(reader, record, part, &state);
    }
    if (result == tp_success && plan != NULL) {
        plan->record = record;
        plan->changing = state.changing;
        memcpy(plan->places, state.places, sizeof(plan->places));
    }
    return result == tp_success || tpReader_SkipValue(reader, &value, result) ? tp_success : result;
}

tpResult tpReadEntryAgain(tpReader* reader, const tpRecordPlan* plan, const void* first,
                          size_t size, void* part) {
    memcpy(part, first, size);
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && plan->changing >> i != 0; ++i) {
        if ((plan->changing >> i & 1) != 0) {
            reader->json = plan->values[i];
            result = tpReadField(reader, tpRecord_Field(plan->record, i), part);
        }
    }
    return result == tp_success ? checkKeys(reader, plan->record, part, plan->places) : result;
}

tpResult tpReader_MakeItems(tpReader* reader, const void* member, int32_t count, size_t size,
                            tpSceneList* list) {
    tpSceneList before;
    memcpy(&before, member, sizeof(before));
    list->count = 0;
    list->items = tpArena_GetZeroed(reader->arena, size * ((size_t)before.count + (size_t)count));
    if (list->items == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    if (before.count > 0) {
        memcpy(list->items, before.items, size * (size_t)before.count);
    }
    list->count = before.count + count;
    return tp_success;
}

tpResult tpReadList(tpReader* reader, const tpField* field, void* part) {
    const tpFamily* family = field->family;
    char what[80];
    snprintf(what, sizeof(what), "an array, each entry %s", family->article);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    tpSceneList list = { NULL, 0 };
    int32_t count = 0;
    // What a list of another list's entry holds is its own; only files add to each other.
    static const tpSceneList none = { NULL, 0 };
    bool isOfScene = part == (void*)reader->scene;
    if (result == tp_success) {
        result = tpCountEntries(reader, &count);
    }
    if (result == tp_success) {
        result = tpReader_MakeItems(reader, isOfScene ? tpMember(field, part) : &none, count,
                                    family->size, &list);
    }
    if (result == tp_success) {
        memcpy(tpMember(field, part), &list, sizeof(list));
        char* item = (char*)list.items + family->size * (size_t)(list.count - count);
        tpJson_Enter(&reader->json);
        while (result == tp_success && tpJson_Next(&reader->json)) {
            result = tpReadEntries(reader, family, &item);
        }
    }
    return result;
}

tpResult tpReadMapName(tpReader* reader, tpSceneText* name) {
    name->place = tpJson_Place(&reader->json);
    name->text = tpReadPlain(reader, true);
    return name->text != NULL ? tp_success : resultOf(reader);
}

tpResult tpReadMap(tpReader* reader, const tpField* field, void* part) {
    const tpFamily* family = field->family;
    char what[80];
    snprintf(what, sizeof(what), "an object that names each entry, %s", family->article);
    tpResult result = tpExpect(reader, tp_jsonObject, field->key, what);
    tpSceneList list = { NULL, 0 };
    int32_t count = result == tp_success ? tpJson_CountItems(&reader->json) : 0;
    if (result == tp_success) {
        result = tpReader_MakeItems(reader, tpMember(field, part), count, family->size, &list);
    }
    if (result == tp_success) {
        memcpy(tpMember(field, part), &list, sizeof(list));
        char* item = (char*)list.items + family->size * (size_t)(list.count - count);
        tpJson_Enter(&reader->json);
        for (; result == tp_success && tpJson_Next(&reader->json); item += family->size) {
            tpSceneText* name = (tpSceneText*)(item + family->nameOffset);
            result = tpReadMapName(reader, name);
            if (result == tp_success) {
                result = tpCheckName(reader, name->place, name->text);
            }
            if (result == tp_success || tpReader_GoOn(reader, result)) {
                result = tpReadEntry(reader, family, item, -1, NULL);
            }
        }
    }
    return result;
}
