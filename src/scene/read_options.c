// Options of steppers: names with numbers, formulas, words or truth values.

#include <string.h>

#include "base/error.h"
#include "scene/options.h"
#include "scene/reader.h"
#include "scene/text.h"

static tpResult readOptionFormula(tpReader* reader, tpSceneOption* option) {
    double value;
    tpResult result = tpReadFormula(reader, option->name.text, &value);
    char* text = tpArena_Get(reader->arena, tp_numberLength);
    if (result == tp_success && text == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    if (result == tp_success) {
        text[tpPrintNumber(text, value)] = '\0';
        option->kind = tp_sceneNumber;
        option->value = text;
    }
    return result;
}

static tpResult readOptionValue(tpReader* reader, tpSceneOption* option) {
    tpJsonType type = tpJson_Peek(&reader->json);
    option->place = tpJson_Place(&reader->json);
    if (type == tp_jsonText && tpIsNumberOption(option->name.text)) {
        return readOptionFormula(reader, option);
    }
    if (type == tp_jsonText) {
        option->kind = tp_sceneWord;
        option->value = tpReadString(reader, false);
        return option->value != NULL ? tp_success : reader->error->result;
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
        result = tpCheckOption(option, tpReader_PathAt(reader, option->name.place), reader->error);
    }
    return result;
}

tpResult tpReadOptions(tpReader* reader, const tpField* field, void* part) {
    tpResult result = tpExpect(reader, tp_jsonObject, field->key, "an object of names and values");
    static const tpSceneList none = { NULL, 0 };
    tpSceneList list = { NULL, 0 };
    if (result == tp_success) {
        result = tpReader_MakeItems(reader, &none, tpJson_CountItems(&reader->json),
                                    sizeof(tpSceneOption), &list);
    }
    if (result != tp_success) {
        return result;
    }
    memcpy(tpMember(field, part), &list, sizeof(list));
    tpSceneOption* options = list.items;
    tpJson_Enter(&reader->json);
    for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
        result = tpReadMapName(reader, &options[i].name);
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
