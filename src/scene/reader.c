// Objects, lists and maps of the file, by the tables of vocabulary.h.

#include "scene/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/options.h"

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

tpResult tpFailUnknown(tpReader* reader, tpScenePlace place, const char* what, const char* word,
                       const char* where, const char* const* known, int count) {
    const char* nearest = tpNearestName(word, known, count);
    if (nearest != NULL) {
        return TP_FAIL(reader, place, "unknown %s \"%.60s\"%s; did you mean \"%s\"?", what, word,
                       where, nearest);
    }
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof(list) - 70; ++i) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s", i == 0 ? "" : ", ",
                                 known[i]);
    }
    return TP_FAIL(reader, place, "unknown %s \"%.60s\"%s; expected one of: %s", what, word, where,
                   count > 0 ? list : "(there are none)");
}

tpResult tpExpect(tpReader* reader, tpJsonType type, const char* key, const char* what) {
    tpJsonType found = tpJson_Peek(&reader->json);
    if (found == type) {
        return tp_success;
    }
    return TP_FAIL(reader, tpJson_Place(&reader->json), "\"%s\" takes %s, found %s", key, what,
                   tpJsonTypeName(found));
}

// The text or, with `isKey`, the key that comes next.
static const char* readString(tpReader* reader, bool isKey) {
    tpScenePlace place = tpJson_Place(&reader->json);
    size_t length;
    const char* text = isKey ? tpJson_ReadKey(&reader->json, reader->arena, &length)
                             : tpJson_ReadText(&reader->json, reader->arena, &length);
    if (text == NULL) {
        tpError_OutOfMemory(reader->error);
    } else if (strlen(text) != length) {
        TP_FAIL(reader, place, "a text cannot hold the character \\u0000");
        return NULL;
    }
    return text;
}

const char* tpReadString(tpReader* reader) {
    return readString(reader, false);
}

// What went wrong where a function returned NULL.
static tpResult resultOf(const tpReader* reader) {
    return reader->error != NULL ? reader->error->result : tp_badInput;
}

// Records -------------------------------------------------------------------------------------

static tpResult failUnknownKey(tpReader* reader, tpScenePlace place, const tpRecord* record,
                               const char* key) {
    const char* known[tp_mostFields];
    int count = tpRecord_FieldCount(record);
    for (int i = 0; i < count; ++i) {
        known[i] = tpRecord_Field(record, i)->key;
    }
    char where[80];
    snprintf(where, sizeof(where), " in %s", record->article);
    return tpFailUnknown(reader, place, "key", key, where, known, count);
}

// Reads the key that comes next and finds it among those of the record; -1 where it is none of them.
static tpResult readKey(tpReader* reader, const tpRecord* record, uint32_t seen, int* index) {
    tpScenePlace place = tpJson_Place(&reader->json);
    tpArenaMark mark = tpArena_Mark(reader->arena);
    const char* key = readString(reader, true);
    if (key == NULL) {
        return resultOf(reader);
    }
    *index = tpRecord_Find(record, key);
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
    uint32_t seen;  // keys, a bit each, right or wrong
    bool isStrange; // a key was none of its own: one of those may have been meant
    tpScenePlace places[tp_mostFields];
} tpRecordState;

// The next key and its value. Where they are wrong and reading goes on, the key counts as not given.
static tpResult readEntry(tpReader* reader, const tpRecord* record, tpScenePart* part,
                          tpRecordState* state) {
    int index = -1;
    tpResult result = readKey(reader, record, state->seen, &index);
    tpJson value = reader->json; // the key has been read, whatever it was
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

tpResult tpReadRecord(tpReader* reader, const tpRecord* record, void* part) {
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
    int errorCount = reader->errorCount;
    tpRecordState state = { .seen = 0 };
    tpResult result = tp_success;
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        result = readEntry(reader, record, part, &state);
    }
    if (result == tp_success && !state.isStrange) {
        result = checkRequired(reader, record, part, state.seen);
    }
    // What keys must be to each other is asked of those that are right.
    if (result != tp_success || reader->errorCount > errorCount || record->check == NULL) {
        return result;
    }
    result = record->check(reader, part, state.places);
    return result == tp_success || tpReader_GoOn(reader, result) ? tp_success : result;
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

// One part of a list or a map.
static tpResult readMember(tpReader* reader, const tpFamily* family, void* part) {
    const tpRecord* record;
    tpJson value = reader->json;
    tpResult result = findMember(reader, family, &record);
    if (result == tp_success) {
        result = tpReadRecord(reader, record, part);
    }
    return result == tp_success || tpReader_SkipValue(reader, &value, result) ? tp_success : result;
}

// Room for as many parts as the array or object that comes next has.
static tpResult makeItems(tpReader* reader, tpSceneList* list, size_t size) {
    int32_t count = tpJson_CountItems(&reader->json);
    list->items = tpArena_GetZeroed(reader->arena, size * (size_t)count);
    list->count = list->items != NULL ? count : 0;
    return list->items != NULL ? tp_success : tpError_OutOfMemory(reader->error);
}

tpResult tpReadList(tpReader* reader, const tpField* field, void* part) {
    const tpFamily* family = field->family;
    char what[80];
    snprintf(what, sizeof(what), "an array, each entry %s", family->article);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    tpSceneList list = { NULL, 0 };
    if (result == tp_success) {
        result = makeItems(reader, &list, family->size);
    }
    if (result == tp_success) {
        memcpy(tpMember(field, part), &list, sizeof(list));
        tpJson_Enter(&reader->json);
        for (char* item = list.items; result == tp_success && tpJson_Next(&reader->json);
             item += family->size) {
            result = readMember(reader, family, item);
        }
    }
    return result;
}

// The name that is the key of a map's entry.
static tpResult readMapName(tpReader* reader, tpSceneText* name) {
    name->place = tpJson_Place(&reader->json);
    name->text = readString(reader, true);
    return name->text != NULL ? tp_success : resultOf(reader);
}

tpResult tpReadMap(tpReader* reader, const tpField* field, void* part) {
    const tpFamily* family = field->family;
    char what[80];
    snprintf(what, sizeof(what), "an object that names each entry, %s", family->article);
    tpResult result = tpExpect(reader, tp_jsonObject, field->key, what);
    tpSceneList list = { NULL, 0 };
    if (result == tp_success) {
        result = makeItems(reader, &list, family->size);
    }
    if (result == tp_success) {
        memcpy(tpMember(field, part), &list, sizeof(list));
        tpJson_Enter(&reader->json);
        for (char* item = list.items; result == tp_success && tpJson_Next(&reader->json);
             item += family->size) {
            tpSceneText* name = (tpSceneText*)(item + family->nameOffset);
            result = readMapName(reader, name);
            if (result == tp_success) {
                result = tpCheckName(reader, name->place, name->text);
            }
            if (result == tp_success || tpReader_GoOn(reader, result)) {
                result = readMember(reader, family, item);
            }
        }
    }
    return result;
}

// Options -------------------------------------------------------------------------------------

static tpResult readOptionValue(tpReader* reader, tpSceneOption* option) {
    tpJsonType type = tpJson_Peek(&reader->json);
    option->place = tpJson_Place(&reader->json);
    if (type == tp_jsonText) {
        option->kind = tp_sceneWord;
        option->value = tpReadString(reader);
        return option->value != NULL ? tp_success : resultOf(reader);
    }
    if (type == tp_jsonBoolean) {
        option->kind = tp_sceneBoolean;
        option->value = tpJson_ReadBoolean(&reader->json) ? "true" : "false";
        return tp_success;
    }
    if (type != tp_jsonNumber) {
        return TP_FAIL(reader, option->place,
                       "an option takes a number, true or false, or a text, found %s",
                       tpJsonTypeName(type));
    }
    int length;
    const char* raw = tpJson_RawNumber(&reader->json, &length);
    char* copy = tpArena_Get(reader->arena, (size_t)length + 1);
    if (copy == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    memcpy(copy, raw, (size_t)length);
    copy[length] = '\0';
    option->kind = tp_sceneNumber;
    option->value = copy;
    tpJson_Skip(&reader->json);
    return tp_success;
}

// The option at `index`, whose name has been read.
static tpResult readOption(tpReader* reader, tpSceneOption* options, int index) {
    tpSceneOption* option = &options[index];
    for (int i = 0; i < index; ++i) {
        if (options[i].name.text != NULL && strcmp(options[i].name.text, option->name.text) == 0) {
            return TP_FAIL(reader, option->name.place, "the option \"%s\" stands twice",
                           option->name.text);
        }
    }
    tpResult result = readOptionValue(reader, option);
    if (result == tp_success) {
        reader->failedAt = option->name.place;
        result = tpCheckOption(option, reader->json.name, reader->error);
    }
    return result;
}

tpResult tpReadOptions(tpReader* reader, const tpField* field, void* part) {
    tpResult result = tpExpect(reader, tp_jsonObject, field->key, "an object of names and values");
    tpSceneList list = { NULL, 0 };
    if (result == tp_success) {
        result = makeItems(reader, &list, sizeof(tpSceneOption));
    }
    if (result != tp_success) {
        return result;
    }
    memcpy(tpMember(field, part), &list, sizeof(list));
    tpSceneOption* options = list.items;
    tpJson_Enter(&reader->json);
    for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
        result = readMapName(reader, &options[i].name);
        tpJson value = reader->json;
        if (result == tp_success) {
            result = readOption(reader, options, i);
        }
        if (result != tp_success && tpReader_SkipValue(reader, &value, result)) {
            result = tp_success;
        }
    }
    return result;
}
