// The JSON Schema (draft 7, the one that editors know) of scene files, from the vocabulary.

#include "scene/schema.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "scene/text.h"

// Records -------------------------------------------------------------------------------------

static void addRecord(tpRecordList* list, const tpRecord* record) {
    for (int i = 0; i < list->count; ++i) {
        if (list->records[i] == record) {
            return;
        }
    }
    TP_ASSERT(list->count < tp_mostRecords);
    list->records[list->count++] = record;
}

void tpListRecords(tpRecordList* list) {
    list->count = 0;
    addRecord(list, &tpSceneRecord);
    for (int i = 0; i < list->count; ++i) { // the list grows as it is walked
        for (int k = 0; k < tpRecord_FieldCount(list->records[i]); ++k) {
            const tpField* field = tpRecord_Field(list->records[i], k);
            if (field->kind == tp_frictionField) {
                addRecord(list, &tpFrictionRecord);
            }
            if (field->record != NULL) {
                addRecord(list, field->record);
            }
            for (int m = 0; field->family != NULL && m < field->family->memberCount; ++m) {
                addRecord(list, field->family->members[m]);
            }
        }
    }
}

// Emitting ------------------------------------------------------------------------------------

typedef struct tpEmitter {
    tpText text;
    int depth;
    bool isFirst; // in its object
} tpEmitter;

// A new line with a key, after a comma where one is due.
static void emitKey(tpEmitter* emitter, const char* key) {
    tpText_Add(&emitter->text, emitter->isFirst ? "\n" : ",\n");
    for (int i = 0; i < emitter->depth; ++i) {
        tpText_Add(&emitter->text, "  ");
    }
    tpText_AddQuoted(&emitter->text, key);
    tpText_Add(&emitter->text, ": ");
    emitter->isFirst = false;
}

static void openObject(tpEmitter* emitter, const char* key) {
    if (key != NULL) {
        emitKey(emitter, key);
    }
    tpText_Add(&emitter->text, "{");
    emitter->depth += 1;
    emitter->isFirst = true;
}

static void closeObject(tpEmitter* emitter) {
    emitter->depth -= 1;
    tpText_Add(&emitter->text, "\n");
    for (int i = 0; i < emitter->depth; ++i) {
        tpText_Add(&emitter->text, "  ");
    }
    tpText_Add(&emitter->text, "}");
    emitter->isFirst = false;
}

static void emitText(tpEmitter* emitter, const char* key, const char* value) {
    emitKey(emitter, key);
    tpText_AddQuoted(&emitter->text, value);
}

static void emitRaw(tpEmitter* emitter, const char* key, const char* value) {
    emitKey(emitter, key);
    tpText_Add(&emitter->text, value);
}

static void emitInteger(tpEmitter* emitter, const char* key, int value) {
    emitKey(emitter, key);
    tpText_Format(&emitter->text, "%d", value);
}

static void emitReference(tpEmitter* emitter, const char* name) {
    emitKey(emitter, "$ref");
    tpText_Format(&emitter->text, "\"#/definitions/%s\"", name);
}

// Values --------------------------------------------------------------------------------------

static void emitNumberLimits(tpEmitter* emitter, const char* type, tpNumberRange range) {
    const tpRangeInfo* info = tpRangeOf(range);
    emitText(emitter, "type", type);
    if (isfinite(info->minimum)) {
        emitKey(emitter, info->isOpen ? "exclusiveMinimum" : "minimum");
        tpText_AddNumber(&emitter->text, info->minimum);
    }
    if (isfinite(info->maximum)) {
        emitKey(emitter, "maximum");
        tpText_AddNumber(&emitter->text, info->maximum);
    }
}

// Wherever a number stands, a formula may.
static void openNumber(tpEmitter* emitter) {
    emitRaw(emitter, "anyOf", "[{");
    emitter->depth += 1;
    emitter->isFirst = true;
}

static void closeNumber(tpEmitter* emitter) {
    closeObject(emitter);
    tpText_Add(&emitter->text, ", { \"$ref\": \"#/definitions/formula\" }]");
}

static void emitNumber(tpEmitter* emitter, const tpField* field) {
    openNumber(emitter);
    emitNumberLimits(emitter, "number", field->range);
    closeNumber(emitter);
}

static void emitWholeNumber(tpEmitter* emitter, const tpField* field) {
    openNumber(emitter);
    emitNumberLimits(emitter, "integer", field->range);
    if (field->range == tp_anyNumber) {
        emitRaw(emitter, "minimum", "0");
        emitRaw(emitter, "maximum", "4294967295");
    }
    closeNumber(emitter);
}

static void emitVersion(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitRaw(emitter, "const", "1");
}

static void emitString(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "string");
    if (field->kind == tp_fileField) {
        emitRaw(emitter, "minLength", "1");
    }
}

static void emitName(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitReference(emitter, "name");
}

static void emitStepper(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitKey(emitter, "enum");
    for (int i = 0; i < tp_stepperCount; ++i) {
        tpText_Add(&emitter->text, i == 0 ? "[" : ", ");
        tpText_AddQuoted(&emitter->text, tpStepperName((tpStepperId)i));
    }
    tpText_Add(&emitter->text, "]");
}

static void emitChoice(tpEmitter* emitter, const tpField* field) {
    emitKey(emitter, "enum");
    for (int i = 0; field->choices[i] != NULL; ++i) {
        tpText_Add(&emitter->text, i == 0 ? "[" : ", ");
        tpText_AddQuoted(&emitter->text, field->choices[i]);
    }
    tpText_Add(&emitter->text, "]");
}

static void emitBoolean(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitText(emitter, "type", "boolean");
}

static void emitLengths(tpEmitter* emitter, int least, int most) {
    emitText(emitter, "type", "array");
    emitInteger(emitter, "minItems", least);
    emitInteger(emitter, "maxItems", most);
}

// An array of `count` numbers of the field's range.
static void emitRow(tpEmitter* emitter, const tpField* field, int count) {
    emitLengths(emitter, count, count);
    openObject(emitter, "items");
    emitNumber(emitter, field);
    closeObject(emitter);
    if (field->range == tp_notZero) {
        openObject(emitter, "contains");
        emitRaw(emitter, "not", "{ \"const\": 0 }");
        closeObject(emitter);
    }
}

static void emitPair(tpEmitter* emitter, const tpField* field) {
    emitRow(emitter, field, 2);
}

static void emitVector(tpEmitter* emitter, const tpField* field) {
    emitRow(emitter, field, 3);
}

static void emitQuaternion(tpEmitter* emitter, const tpField* field) {
    emitRow(emitter, field, 4);
}

static void emitBits(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "array");
    emitRaw(emitter, "uniqueItems", "true");
    emitKey(emitter, "items");
    tpText_Add(&emitter->text, "{ \"enum\": [");
    for (int i = 0; field->choices[i] != NULL; ++i) {
        tpText_Add(&emitter->text, i == 0 ? "" : ", ");
        tpText_AddQuoted(&emitter->text, field->choices[i]);
    }
    tpText_Add(&emitter->text, "] }");
}

static void emitColor(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitRaw(emitter, "anyOf",
            "[{ \"type\": \"string\", \"pattern\": \"^#[0-9a-fA-F]{6}$\" }, "
            "{ \"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, "
            "\"items\": { \"anyOf\": [{ \"type\": \"number\", \"minimum\": 0, \"maximum\": 1 }, "
            "{ \"$ref\": \"#/definitions/formula\" }] } }]");
}

static void emitInertia(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "array");
    emitRaw(emitter, "anyOf",
            "[{ \"minItems\": 3, \"maxItems\": 3 }, { \"minItems\": 6, \"maxItems\": 6 }]");
    openObject(emitter, "items");
    emitNumber(emitter, field);
    closeObject(emitter);
}

static void emitNumbers(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "array");
    openObject(emitter, "items");
    emitNumber(emitter, field);
    closeObject(emitter);
}

static void emitPoints(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "array");
    if (field->kind == tp_twoPointsField) {
        emitRaw(emitter, "minItems", "2");
        emitRaw(emitter, "maxItems", "2");
    }
    openObject(emitter, "items");
    emitRow(emitter, field, field->kind == tp_points2Field ? 2 : 3);
    closeObject(emitter);
}

static void emitTwoNames(tpEmitter* emitter, const tpField* field) {
    emitLengths(emitter, 2, 2);
    openObject(emitter, "items");
    if (field->kind == tp_twoBodiesField) {
        emitRaw(emitter, "anyOf", "[{ \"$ref\": \"#/definitions/name\" }, { \"type\": \"null\" }]");
    } else {
        emitReference(emitter, "name");
    }
    closeObject(emitter);
}

static void emitTerms(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitLengths(emitter, 1, tp_maxCouplingTerms);
    openObject(emitter, "items");
    emitLengths(emitter, 2, 2);
    emitRaw(emitter, "items", "[{ \"type\": \"string\" }, { \"type\": \"number\" }]");
    closeObject(emitter);
}

static void emitFriction(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitRaw(emitter, "anyOf",
            "[{ \"type\": \"number\", \"minimum\": 0 }, "
            "{ \"$ref\": \"#/definitions/formula\" }, "
            "{ \"$ref\": \"#/definitions/friction\" }]");
}

// The keys that make one entry of a list stand for many.
static void emitRepeat(tpEmitter* emitter) {
    emitRaw(emitter, "repeat", "{ \"$ref\": \"#/definitions/repeat\" }");
    emitRaw(emitter, "where", "{ \"$ref\": \"#/definitions/formula\" }");
}

static void emitRecordReference(tpEmitter* emitter, const tpField* field) {
    emitReference(emitter, field->record->name);
}

// Entries, and repeats that stand for a list of them: { "repeat", "where", "each" }.
static void emitList(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "array");
    openObject(emitter, "items");
    emitRaw(emitter, "if", "{ \"required\": [\"each\"] }");
    openObject(emitter, "then");
    emitText(emitter, "type", "object");
    openObject(emitter, "properties");
    emitRepeat(emitter);
    openObject(emitter, "each");
    emitRaw(emitter, "type", "\"array\"");
    emitRaw(emitter, "items", "{ \"type\": \"object\" }");
    closeObject(emitter);
    closeObject(emitter);
    emitRaw(emitter, "additionalProperties", "false");
    closeObject(emitter);
    openObject(emitter, "else");
    emitReference(emitter, field->family->name);
    closeObject(emitter);
    closeObject(emitter);
}

static void emitParameters(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitText(emitter, "type", "object");
    emitRaw(emitter, "propertyNames", "{ \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]{0,62}$\" }");
    emitRaw(emitter, "additionalProperties",
            "{ \"anyOf\": [{ \"type\": \"number\" }, { \"$ref\": \"#/definitions/formula\" }] }");
}

static void emitInclude(tpEmitter* emitter, const tpField* field) {
    (void)field;
    emitRaw(emitter, "anyOf",
            "[{ \"type\": \"string\" }, "
            "{ \"type\": \"array\", \"items\": { \"type\": \"string\" } }]");
}

static void emitMap(tpEmitter* emitter, const tpField* field) {
    emitText(emitter, "type", "object");
    openObject(emitter, "propertyNames");
    emitReference(emitter, "name");
    closeObject(emitter);
    openObject(emitter, "additionalProperties");
    emitReference(emitter, field->family->name);
    closeObject(emitter);
}

// Options of steppers, from the library's own table.
static void emitOptions(tpEmitter* emitter, const tpField* field) {
    (void)field;
    static const char* const types[] = {
        [tp_numberOption] = "number", [tp_integerOption] = "integer", [tp_booleanOption] = "boolean"
    };
    emitText(emitter, "type", "object");
    openObject(emitter, "properties");
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        openObject(emitter, info->name);
        if (info->kind == tp_choiceOption) {
            tpField choices = { .choices = info->choices };
            emitChoice(emitter, &choices);
        } else if (info->kind == tp_booleanOption) {
            emitText(emitter, "type", types[info->kind]);
        } else {
            openNumber(emitter);
            emitText(emitter, "type", types[info->kind]);
            closeNumber(emitter);
        }
        if (info->summary != NULL) {
            emitText(emitter, "description", info->summary);
        }
        closeObject(emitter);
    }
    closeObject(emitter);
    emitRaw(emitter, "additionalProperties", "false");
}

static void emitValue(tpEmitter* emitter, const tpField* field) {
    typedef void (*tpValueEmitter)(tpEmitter*, const tpField*);
    static const tpValueEmitter emitters[tp_fieldKindCount] = {
        [tp_versionField] = emitVersion,
        [tp_textField] = emitString,
        [tp_formulaField] = emitString,
        [tp_parametersField] = emitParameters,
        [tp_includeField] = emitInclude,
        [tp_nameField] = emitName,
        [tp_fileField] = emitString,
        [tp_stepperField] = emitStepper,
        [tp_typeField] = NULL, // emitProperty knows which
        [tp_choiceField] = emitChoice,
        [tp_booleanField] = emitBoolean,
        [tp_numberField] = emitNumber,
        [tp_integerField] = emitWholeNumber,
        [tp_pairField] = emitPair,
        [tp_vectorField] = emitVector,
        [tp_quaternionField] = emitQuaternion,
        [tp_bitsField] = emitBits,
        [tp_colorField] = emitColor,
        [tp_twoPointsField] = emitPoints,
        [tp_inertiaField] = emitInertia,
        [tp_numbersField] = emitNumbers,
        [tp_points2Field] = emitPoints,
        [tp_points3Field] = emitPoints,
        [tp_bodyField] = emitName,
        [tp_materialField] = emitName,
        [tp_twoBodiesField] = emitTwoNames,
        [tp_twoMaterialsField] = emitTwoNames,
        [tp_coordinateField] = emitString,
        [tp_termsField] = emitTerms,
        [tp_frictionField] = emitFriction,
        [tp_recordField] = emitRecordReference,
        [tp_listField] = emitList,
        [tp_mapField] = emitMap,
        [tp_optionsField] = emitOptions,
    };
    emitters[field->kind](emitter, field);
}

// Objects -------------------------------------------------------------------------------------

static bool isReference(tpFieldKind kind) {
    return kind == tp_recordField || kind == tp_nameField || kind == tp_bodyField ||
           kind == tp_materialField;
}

static void emitProperty(tpEmitter* emitter, const tpRecord* record, const tpField* field) {
    openObject(emitter, field->key);
    emitKey(emitter, "description");
    char words[600];
    size_t length = strlen(field->summary);
    memcpy(words, field->summary, length + 1);
    if (field->unit != NULL) {
        strcat(strcat(strcat(words, " ("), field->unit), ")");
    }
    tpText_AddQuoted(&emitter->text, words);
    if (field->byDefault != NULL && strchr("[{\"0123456789tf", field->byDefault[0]) != NULL &&
        strncmp(field->byDefault, "the", 3) != 0) {
        emitRaw(emitter, "default", field->byDefault);
    }
    if (field->kind == tp_typeField) {
        emitText(emitter, "const", record->name);
    } else if (isReference(field->kind)) { // what stands beside a $ref is ignored: one level down
        emitRaw(emitter, "allOf", "[");
        emitter->isFirst = true;
        tpText_Add(&emitter->text, "{");
        emitter->depth += 1;
        emitValue(emitter, field);
        closeObject(emitter);
        tpText_Add(&emitter->text, "]");
    } else {
        emitValue(emitter, field);
    }
    closeObject(emitter);
}

static void emitRequired(tpEmitter* emitter, const tpRecord* record) {
    bool hasRequired = false;
    for (int i = 0; i < tpRecord_FieldCount(record); ++i) {
        const tpField* field = tpRecord_Field(record, i);
        if (field->isRequired) {
            if (!hasRequired) {
                emitKey(emitter, "required");
            }
            tpText_Add(&emitter->text, hasRequired ? ", " : "[");
            tpText_AddQuoted(&emitter->text, field->key);
            hasRequired = true;
        }
    }
    tpText_Add(&emitter->text, hasRequired ? "]" : "");
}

// Whether the record is an entry of a list, which may repeat it.
static bool isListed(const tpRecord* record) {
    tpRecordList list;
    tpListRecords(&list);
    for (int i = 0; i < list.count; ++i) {
        for (int k = 0; k < tpRecord_FieldCount(list.records[i]); ++k) {
            const tpField* field = tpRecord_Field(list.records[i], k);
            for (int m = 0; field->kind == tp_listField && m < field->family->memberCount; ++m) {
                if (field->family->members[m] == record) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void emitRecord(tpEmitter* emitter, const tpRecord* record) {
    emitText(emitter, "description", record->summary);
    emitText(emitter, "type", "object");
    openObject(emitter, "properties");
    for (int i = 0; i < tpRecord_FieldCount(record); ++i) {
        emitProperty(emitter, record, tpRecord_Field(record, i));
    }
    if (isListed(record)) {
        emitRepeat(emitter);
    }
    closeObject(emitter);
    // What a scene does not give, a file may that it includes.
    if (record == &tpSceneRecord) {
        emitRaw(emitter, "if", "{ \"not\": { \"required\": [\"include\"] } }");
        openObject(emitter, "then");
    }
    emitRequired(emitter, record);
    if (record == &tpSceneRecord) {
        closeObject(emitter);
    }
    emitRaw(emitter, "additionalProperties", "false");
}

static void emitShapes(tpEmitter* emitter) {
    openObject(emitter, tpShapeFamily.name);
    emitKey(emitter, "oneOf");
    for (int i = 0; i < tpShapeFamily.memberCount; ++i) {
        tpText_Format(&emitter->text, "%s{ \"$ref\": \"#/definitions/%s\" }", i == 0 ? "[" : ", ",
                      tpShapeFamily.members[i]->name);
    }
    tpText_Add(&emitter->text, "]");
    closeObject(emitter);
}

static void emitRepeatDefinition(tpEmitter* emitter) {
    static const char number[] =
        "{ \"anyOf\": [{ \"type\": \"number\" }, { \"$ref\": \"#/definitions/formula\" }] }";
    openObject(emitter, "repeat");
    emitText(emitter, "description",
             "Indices by name: a number of rounds, counted from 0, or [first, last] or "
             "[first, last, step]. The entry stands once for all of their values, the first index "
             "outermost.");
    emitText(emitter, "type", "object");
    openObject(emitter, "additionalProperties");
    emitKey(emitter, "anyOf");
    tpText_Format(&emitter->text,
                  "[%s, { \"type\": \"array\", \"minItems\": 2, \"maxItems\": 3, \"items\": %s }]",
                  number, number);
    closeObject(emitter);
    closeObject(emitter);
}

static void emitSchema(tpEmitter* emitter) {
    tpRecordList list;
    tpListRecords(&list);
    openObject(emitter, NULL);
    emitText(emitter, "$schema", "http://json-schema.org/draft-07/schema#");
    emitText(emitter, "title", "Tippe scene");
    emitRecord(emitter, &tpSceneRecord);
    openObject(emitter, "definitions");
    openObject(emitter, "name");
    emitText(emitter, "type", "string");
    emitText(emitter, "pattern", "^([A-Za-z0-9_-]|\\{[^{}]+\\}){1,63}$");
    closeObject(emitter);
    openObject(emitter, "formula");
    emitText(emitter, "description",
             "A formula of parameters and of the indices of repeats, such as \"2 * r + 0.1\".");
    emitText(emitter, "type", "string");
    closeObject(emitter);
    emitRepeatDefinition(emitter);
    emitShapes(emitter);
    for (int i = 1; i < list.count; ++i) {
        openObject(emitter, list.records[i]->name);
        emitRecord(emitter, list.records[i]);
        closeObject(emitter);
    }
    closeObject(emitter);
    closeObject(emitter);
    tpText_Add(&emitter->text, "\n");
}

tpResult tpFormatSceneSchema(const tpAllocator* allocator, char** text, size_t* length,
                             tpError* error) {
    TP_NEED(text, tp_badInput);
    TP_NEED(length, tp_badInput);
    tpAllocator heap = tpDefaultAllocator();
    tpEmitter emitter = { .text = { .allocator = allocator != NULL ? allocator : &heap } };
    tpLocaleScope locale;
    *text = NULL;
    if (!tpEnterCLocale(&locale)) {
        return tpError_OutOfMemory(error);
    }
    emitSchema(&emitter);
    tpLeaveCLocale(&locale);
    return tpText_Take(&emitter.text, text, length) ? tp_success : tpError_OutOfMemory(error);
}
