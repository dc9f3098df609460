// Values of the file, kind by kind.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/options.h"
#include "scene/reader.h"

// Texts ---------------------------------------------------------------------------------------

static tpResult readText(tpReader* reader, const tpField* field, void* part) {
    tpSceneText* text = tpMember(field, part);
    tpResult result = tpExpect(reader, tp_jsonText, field->key, "a text");
    if (result != tp_success) {
        return result;
    }
    text->place = tpJson_Place(&reader->json);
    text->text = tpReadString(reader, false);
    return text->text != NULL ? tp_success : reader->error->result;
}

// A function of the time: names that have a value are replaced by that, braces are left alone.
static tpResult readTimeFormula(tpReader* reader, const tpField* field, void* part) {
    tpSceneText* formula = tpMember(field, part);
    tpResult result = tpExpect(reader, tp_jsonText, field->key, "a formula in quotes");
    if (result != tp_success) {
        return result;
    }
    formula->place = tpJson_Place(&reader->json);
    formula->text = tpReadString(reader, true);
    formula->text = formula->text != NULL ? tpBindFormula(reader, formula->text) : NULL;
    return formula->text != NULL ? tp_success : reader->error->result;
}

// Read before everything else, by include.c.
static tpResult skipField(tpReader* reader, const tpField* field, void* part) {
    ((tpScenePart*)part)->given &=
        ~((uint32_t)1 << tpRecord_Find(((tpScenePart*)part)->record, field->key));
    tpJson_Skip(&reader->json);
    return tp_success;
}

tpResult tpCheckName(tpReader* reader, tpScenePlace place, const char* name) {
    static const char* const allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(name);
    if (length == 0) {
        return TP_FAIL(reader, place, "expected a name, found an empty text");
    }
    if (name[strspn(name, allowed)] != '\0') {
        return TP_FAIL(reader, place, "a name has letters, digits, _ and - only, found \"%.80s\"",
                       name);
    }
    if (length > 63) {
        return TP_FAIL(reader, place, "a name has at most 63 characters, this one has %zu", length);
    }
    return tp_success;
}

static tpResult readName(tpReader* reader, const tpField* field, void* part) {
    const tpSceneText* name = tpMember(field, part);
    tpResult result = readText(reader, field, part);
    return result == tp_success ? tpCheckName(reader, name->place, name->text) : result;
}

// What an included file names lies beside it; the scene has it as seen from itself.
static tpResult readFile(tpReader* reader, const tpField* field, void* part) {
    tpSceneText* file = tpMember(field, part);
    tpResult result = readText(reader, field, part);
    if (result == tp_success && file->text[0] == '\0') {
        return TP_FAIL(reader, file->place, "\"%s\" takes the path of a file, found an empty text",
                       field->key);
    }
    const char* folder = reader->sources[reader->json.file].folder;
    if (result == tp_success && folder[0] != '\0' && file->text[0] != '/') {
        size_t length = strlen(folder) + strlen(file->text);
        char* path = tpArena_Get(reader->arena, length + 1);
        if (path == NULL) {
            return tpError_OutOfMemory(reader->error);
        }
        snprintf(path, length + 1, "%s%s", folder, file->text);
        file->text = path;
    }
    return result;
}

static tpResult readStepper(tpReader* reader, const tpField* field, void* part) {
    tpSceneText* stepper = tpMember(field, part);
    tpResult result = readText(reader, field, part);
    if (result == tp_success) {
        reader->failedAt = stepper->place;
        result = tpCheckStepper(stepper, tpReader_PathAt(reader, stepper->place), reader->error);
    }
    return result;
}

// The number of a word among the choices of a key, in `choice`.
static tpResult readWord(tpReader* reader, const tpField* field, const char* what, int* choice) {
    tpScenePlace place = tpJson_Place(&reader->json);
    tpResult result = tpExpect(reader, tp_jsonText, field->key, what);
    const char* word = result == tp_success ? tpReadString(reader, false) : NULL;
    if (word == NULL) {
        return reader->error->result;
    }
    for (*choice = 0; field->choices[*choice] != NULL; *choice += 1) {
        if (strcmp(word, field->choices[*choice]) == 0) {
            return tp_success;
        }
    }
    return tpFailUnknown(reader, place, field->key, word, "", field->choices, *choice);
}

static tpResult readChoice(tpReader* reader, const tpField* field, void* part) {
    int choice = 0;
    tpResult result = readWord(reader, field, "a text", &choice);
    if (result == tp_success) {
        *(int32_t*)tpMember(field, part) = choice;
    }
    return result;
}

static tpResult readBits(tpReader* reader, const tpField* field, void* part) {
    static const char* const what = "an array of texts";
    uint32_t bits = 0;
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    if (result == tp_success) {
        tpJson_Enter(&reader->json);
    }
    while (result == tp_success && tpJson_Next(&reader->json)) {
        tpScenePlace place = tpJson_Place(&reader->json);
        int choice = 0;
        result = readWord(reader, field, what, &choice);
        if (result == tp_success && (bits >> choice & 1u) != 0) {
            return TP_FAIL(reader, place, "\"%s\" has \"%s\" twice", field->key,
                           field->choices[choice]);
        }
        bits |= result == tp_success ? 1u << choice : 0u;
    }
    *(uint32_t*)tpMember(field, part) = bits;
    return result;
}

// The look ahead for it has already found which.
static tpResult readType(tpReader* reader, const tpField* field, void* part) {
    *(int32_t*)tpMember(field, part) = ((const tpScenePart*)part)->record->type;
    tpJson_Skip(&reader->json);
    return tp_success;
}

static tpResult readBoolean(tpReader* reader, const tpField* field, void* part) {
    tpResult result = tpExpect(reader, tp_jsonBoolean, field->key, "true or false");
    if (result == tp_success) {
        *(bool*)tpMember(field, part) = tpJson_ReadBoolean(&reader->json);
    }
    return result;
}

// Numbers -------------------------------------------------------------------------------------

// A number, or a formula in quotes that gives one. `raw` and `length` are it as it is written.
static tpResult readValue(tpReader* reader, const tpField* field, const char* what, double* number,
                          const char** raw, int* length) {
    tpScenePlace place = tpJson_Place(&reader->json);
    *raw = reader->json.text + reader->json.offset;
    if (tpJson_Peek(&reader->json) == tp_jsonText) {
        size_t start = reader->json.offset;
        tpResult result = tpReadFormula(reader, field->key, number);
        *length = (int)(reader->json.offset - start);
        return result;
    }
    tpResult result = tpExpect(reader, tp_jsonNumber, field->key, what);
    if (result != tp_success) {
        return result;
    }
    *raw = tpJson_RawNumber(&reader->json, length);
    if (!tpJson_ReadNumber(&reader->json, number)) {
        return TP_FAIL(reader, place, "%.*s is too large: numbers must be finite",
                       *length < 40 ? *length : 40, *raw);
    }
    return tp_success;
}

static tpResult readOneNumber(tpReader* reader, const tpField* field, const char* what,
                              double* number) {
    tpScenePlace place = tpJson_Place(&reader->json);
    const char* raw;
    int length;
    tpResult result = readValue(reader, field, what, number, &raw, &length);
    if (result != tp_success) {
        return result;
    }
    const tpRangeInfo* range = tpRangeOf(field->range);
    bool isInside = *number >= range->minimum && *number <= range->maximum &&
                    !(range->isOpen && *number == range->minimum);
    if (!isInside && raw[0] == '"') {
        return TP_FAIL(reader, place, "\"%s\" must be %s, found %g, which is %.*s", field->key,
                       range->words, *number, length < 80 ? length : 80, raw);
    }
    if (!isInside) {
        return TP_FAIL(reader, place, "\"%s\" must be %s, found %.*s", field->key, range->words,
                       length < 40 ? length : 40, raw);
    }
    return tp_success;
}

static tpResult readNumber(tpReader* reader, const tpField* field, void* part) {
    return readOneNumber(reader, field, "a number", tpMember(field, part));
}

static tpResult readInteger(tpReader* reader, const tpField* field, void* part) {
    tpScenePlace place = tpJson_Place(&reader->json);
    double number;
    tpResult result = readOneNumber(reader, field, "a whole number", &number);
    if (result != tp_success) {
        return result;
    }
    if (number < 0.0 || number > 4294967295.0 || number != floor(number)) {
        return TP_FAIL(reader, place, "\"%s\" takes a whole number from 0 to 4294967295, found %g",
                       field->key, number);
    }
    *(uint32_t*)tpMember(field, part) = (uint32_t)number;
    return tp_success;
}

static tpResult readVersion(tpReader* reader, const tpField* field, void* part) {
    tpScenePlace place = tpJson_Place(&reader->json);
    double number;
    tpResult result = readOneNumber(reader, field, "the number 1", &number);
    if (result == tp_success && number != 1.0) {
        return TP_FAIL(reader, place, "this version reads scenes of version %d, found %g",
                       TP_SCENE_VERSION, number);
    }
    *(uint32_t*)tpMember(field, part) = 1;
    return result;
}

// Exactly `count` numbers in an array.
static tpResult readRow(tpReader* reader, const tpField* field, int count, double* numbers) {
    char what[40];
    snprintf(what, sizeof(what), "an array of %d numbers", count);
    tpScenePlace place = tpJson_Place(&reader->json);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    if (result != tp_success) {
        return result;
    }
    int found = tpJson_CountItems(&reader->json);
    if (found != count) {
        return TP_FAIL(reader, place, "\"%s\" takes %s, found %d", field->key, what, found);
    }
    tpJson_Enter(&reader->json);
    for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
        result = readOneNumber(reader, field, what, &numbers[i]);
    }
    if (result == tp_success && field->range == tp_notZero) {
        bool isZero = true;
        for (int i = 0; i < count; ++i) {
            isZero = isZero && numbers[i] == 0.0;
        }
        if (isZero) {
            return TP_FAIL(reader, place, "\"%s\" must not be zero", field->key);
        }
    }
    if (result == tp_success && field->range == tp_ascending && numbers[0] > numbers[1]) {
        return TP_FAIL(reader, place, "\"%s\" must have the lower first, found %g above %g",
                       field->key, numbers[0], numbers[1]);
    }
    return result;
}

static tpResult readPair(tpReader* reader, const tpField* field, void* part) {
    return readRow(reader, field, 2, tpMember(field, part));
}

static tpResult readQuaternion(tpReader* reader, const tpField* field, void* part) {
    return readRow(reader, field, 4, tpMember(field, part));
}

static tpResult readVec3(tpReader* reader, const tpField* field, tpVec3* vector) {
    double numbers[3];
    tpResult result = readRow(reader, field, 3, numbers);
    if (result == tp_success) {
        *vector = tpMakeVec3(numbers[0], numbers[1], numbers[2]);
    }
    return result;
}

// Two digits of a colour in hexadecimal, or -1.
static int readHexPair(const char* digits) {
    int value = 0;
    for (int i = 0; i < 2; ++i) {
        static const char hexadecimal[] = "0123456789abcdefABCDEF";
        const char* found = digits[i] != '\0' ? strchr(hexadecimal, digits[i]) : NULL;
        if (found == NULL) {
            return -1;
        }
        int digit = (int)(found - hexadecimal);
        value = 16 * value + (digit < 16 ? digit : digit - 6);
    }
    return value;
}

static tpResult readColor(tpReader* reader, const tpField* field, void* part) {
    tpColor* color = tpMember(field, part);
    double numbers[3];
    if (tpJson_Peek(&reader->json) != tp_jsonText) {
        tpResult result = readRow(reader, field, 3, numbers);
        *color = (tpColor){ numbers[0], numbers[1], numbers[2] };
        return result;
    }
    tpScenePlace place = tpJson_Place(&reader->json);
    const char* text = tpReadString(reader, false);
    if (text == NULL) {
        return reader->error->result;
    }
    bool isColor = strlen(text) == 7 && text[0] == '#';
    for (int i = 0; i < 3 && isColor; ++i) {
        int value = readHexPair(text + 1 + 2 * i);
        isColor = value >= 0;
        numbers[i] = value / 255.0;
    }
    if (!isColor) {
        return TP_FAIL(reader, place,
                       "\"%s\" takes an array of 3 numbers or a text like \"#c65b45\", found "
                       "\"%.40s\"",
                       field->key, text);
    }
    *color = (tpColor){ numbers[0], numbers[1], numbers[2] };
    return tp_success;
}

static tpResult readVector(tpReader* reader, const tpField* field, void* part) {
    return readVec3(reader, field, tpMember(field, part));
}

// Fails unless an array of two comes next.
static tpResult expectTwo(tpReader* reader, const tpField* field, const char* what) {
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    if (result == tp_success && tpJson_CountItems(&reader->json) != 2) {
        return TP_FAIL(reader, tpJson_Place(&reader->json), "\"%s\" takes %s, found %d", field->key,
                       what, tpJson_CountItems(&reader->json));
    }
    return result;
}

static tpResult readTwoPoints(tpReader* reader, const tpField* field, void* part) {
    tpVec3* points = tpMember(field, part);
    tpResult result = expectTwo(reader, field, "an array of 2 points");
    if (result == tp_success) {
        tpJson_Enter(&reader->json);
        for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
            result = readVec3(reader, field, &points[i]);
        }
    }
    return result;
}

static tpResult readInertia(tpReader* reader, const tpField* field, void* part) {
    tpSceneInertia* inertia = tpMember(field, part);
    tpScenePlace place = tpJson_Place(&reader->json);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, "an array of 3 or 6 numbers");
    if (result != tp_success) {
        return result;
    }
    int count = tpJson_CountItems(&reader->json);
    if (count != 3 && count != 6) {
        return TP_FAIL(reader, place, "\"%s\" takes an array of 3 or 6 numbers, found %d",
                       field->key, count);
    }
    inertia->count = count;
    return readRow(reader, field, count, inertia->values);
}

// An array of numbers (width 1) or of rows of numbers.
static tpResult readRows(tpReader* reader, const tpField* field, void* part, int width) {
    tpSceneNumbers* numbers = tpMember(field, part);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key,
                               width == 1 ? "an array of numbers" : "an array of points");
    if (result != tp_success) {
        return result;
    }
    numbers->place = tpJson_Place(&reader->json);
    int32_t count = tpJson_CountItems(&reader->json);
    numbers->values = tpArena_Get(reader->arena, sizeof(double) * (size_t)width * (size_t)count);
    if (numbers->values == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    numbers->count = count;
    double* row = numbers->values;
    tpJson_Enter(&reader->json);
    for (; result == tp_success && tpJson_Next(&reader->json); row += width) {
        result = width == 1 ? readOneNumber(reader, field, "an array of numbers", row)
                            : readRow(reader, field, width, row);
    }
    return result;
}

static tpResult readNumbers(tpReader* reader, const tpField* field, void* part) {
    return readRows(reader, field, part, 1);
}

static tpResult readPoints2(tpReader* reader, const tpField* field, void* part) {
    return readRows(reader, field, part, 2);
}

static tpResult readPoints3(tpReader* reader, const tpField* field, void* part) {
    return readRows(reader, field, part, 3);
}

// References ----------------------------------------------------------------------------------

static tpResult readOneReference(tpReader* reader, const tpField* field, bool takesNull,
                                 tpSceneReference* reference) {
    reference->place = tpJson_Place(&reader->json);
    reference->index = -1;
    if (takesNull && tpJson_Peek(&reader->json) == tp_jsonNull) {
        tpJson_Skip(&reader->json);
        return tp_success;
    }
    tpResult result =
        tpExpect(reader, tp_jsonText, field->key, takesNull ? "names, or null" : "a name");
    if (result != tp_success) {
        return result;
    }
    reference->name = tpReadString(reader, false);
    return reference->name != NULL ? tp_success : reader->error->result;
}

static tpResult readReference(tpReader* reader, const tpField* field, void* part) {
    return readOneReference(reader, field, false, tpMember(field, part));
}

static tpResult readTwoReferences(tpReader* reader, const tpField* field, void* part) {
    bool takesNull = field->kind == tp_twoBodiesField;
    tpSceneReference* references = tpMember(field, part);
    tpResult result =
        expectTwo(reader, field,
                  takesNull ? "an array of 2 names (or null, the world)" : "an array of 2 names");
    if (result == tp_success) {
        tpJson_Enter(&reader->json);
        for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
            result = readOneReference(reader, field, takesNull, &references[i]);
        }
    }
    return result;
}

// "joint" or "joint.axis"; whether there is such a joint is found out when all is read.
static tpResult readOneCoordinate(tpReader* reader, const char* key, const char* what,
                                  tpSceneCoordinate* coordinate) {
    coordinate->place = tpJson_Place(&reader->json);
    coordinate->joint = -1;
    coordinate->axis = "";
    tpResult result = tpExpect(reader, tp_jsonText, key, what);
    if (result == tp_success) {
        coordinate->name = tpReadString(reader, false);
        result = coordinate->name != NULL ? tp_success : reader->error->result;
    }
    const char* dot = result == tp_success ? strchr(coordinate->name, '.') : NULL;
    if (dot != NULL) {
        coordinate->axis = dot + 1;
    }
    return result;
}

static tpResult readCoordinate(tpReader* reader, const tpField* field, void* part) {
    return readOneCoordinate(reader, field->key, "the name of a joint", tpMember(field, part));
}

static tpResult readTerm(tpReader* reader, const tpField* field, tpSceneTerm* term) {
    static const char* const what = "pairs like [\"joint\", 2.0]";
    tpScenePlace place = tpJson_Place(&reader->json);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, what);
    if (result == tp_success && tpJson_CountItems(&reader->json) != 2) {
        return TP_FAIL(reader, place, "\"%s\" takes %s, found an array of %d", field->key, what,
                       tpJson_CountItems(&reader->json));
    }
    if (result == tp_success) {
        tpJson_Enter(&reader->json);
        for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
            place = tpJson_Place(&reader->json);
            result = i == 0 ? readOneCoordinate(reader, field->key, what, &term->of)
                            : readOneNumber(reader, field, what, &term->factor);
        }
    }
    if (result == tp_success && term->factor == 0.0) {
        return TP_FAIL(reader, place, "a factor must not be zero");
    }
    return result;
}

static tpResult readTerms(tpReader* reader, const tpField* field, void* part) {
    tpSceneTerms* terms = tpMember(field, part);
    tpScenePlace place = tpJson_Place(&reader->json);
    tpResult result = tpExpect(reader, tp_jsonArray, field->key, "an array of pairs");
    if (result != tp_success) {
        return result;
    }
    int32_t count = tpJson_CountItems(&reader->json);
    if (count < 1 || count > tp_maxCouplingTerms) {
        return TP_FAIL(reader, place, "\"%s\" takes 1 to %d pairs, found %d", field->key,
                       tp_maxCouplingTerms, count);
    }
    terms->items = TP_SCRATCH_ZEROED(reader->arena, tpSceneTerm, count);
    if (terms->items == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    terms->count = count;
    tpJson_Enter(&reader->json);
    for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
        result = readTerm(reader, field, &terms->items[i]);
    }
    return result;
}

// Records -------------------------------------------------------------------------------------

static tpResult readFriction(tpReader* reader, const tpField* field, void* part) {
    tpSceneFriction* friction = tpMember(field, part);
    if (tpJson_Peek(&reader->json) == tp_jsonObject) {
        return tpReadRecord(reader, &tpFrictionRecord, friction);
    }
    friction->part.place = tpJson_Place(&reader->json);
    return readOneNumber(reader, field, "a number or an object", &friction->number);
}

static tpResult readNestedRecord(tpReader* reader, const tpField* field, void* part) {
    return tpReadRecord(reader, field->record, tpMember(field, part));
}

tpResult tpReadField(tpReader* reader, const tpField* field, void* part) {
    typedef tpResult (*tpFieldReader)(tpReader*, const tpField*, void*);
    static const tpFieldReader readers[tp_fieldKindCount] = {
        [tp_versionField] = readVersion,
        [tp_textField] = readText,
        [tp_formulaField] = readTimeFormula,
        [tp_parametersField] = skipField,
        [tp_includeField] = skipField,
        [tp_nameField] = readName,
        [tp_fileField] = readFile,
        [tp_stepperField] = readStepper,
        [tp_typeField] = readType,
        [tp_choiceField] = readChoice,
        [tp_booleanField] = readBoolean,
        [tp_numberField] = readNumber,
        [tp_integerField] = readInteger,
        [tp_pairField] = readPair,
        [tp_vectorField] = readVector,
        [tp_quaternionField] = readQuaternion,
        [tp_bitsField] = readBits,
        [tp_colorField] = readColor,
        [tp_twoPointsField] = readTwoPoints,
        [tp_inertiaField] = readInertia,
        [tp_numbersField] = readNumbers,
        [tp_points2Field] = readPoints2,
        [tp_points3Field] = readPoints3,
        [tp_bodyField] = readReference,
        [tp_materialField] = readReference,
        [tp_twoBodiesField] = readTwoReferences,
        [tp_twoMaterialsField] = readTwoReferences,
        [tp_coordinateField] = readCoordinate,
        [tp_termsField] = readTerms,
        [tp_frictionField] = readFriction,
        [tp_recordField] = readNestedRecord,
        [tp_listField] = tpReadList,
        [tp_mapField] = tpReadMap,
        [tp_optionsField] = tpReadOptions,
    };
    return readers[field->kind](reader, field, part);
}
