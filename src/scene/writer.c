// Writes a scene by the tables of vocabulary.h: the keys that were given, in the vocabulary's
// order.
//
// What fits on a line of 100 columns stands on one line; what does not is broken up, one entry a
// line, each of them tried again. Long rows of numbers are filled like words of a paragraph.

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "scene/text.h"
#include "scene/vocabulary.h"

enum { lineWidth = 100, indentWidth = 2 };

typedef struct tpSceneWriter {
    tpText text;
    int indent;    // of the current line
    int lineStart; // its offset in the text
    bool isFlat;   // on one line: stops when that is full
} tpSceneWriter;

typedef void (*tpFieldWriter)(tpSceneWriter* writer, const tpField* field, const void* part);

static void writeField(tpSceneWriter* writer, const tpField* field, const void* part);

static bool isLineFull(const tpSceneWriter* writer) {
    return writer->text.bytes.count - writer->lineStart > lineWidth - 1; // a comma may follow
}

static void startLine(tpSceneWriter* writer) {
    tpText_Add(&writer->text, "\n");
    writer->lineStart = writer->text.bytes.count;
    for (int i = 0; i < writer->indent; ++i) {
        tpText_Add(&writer->text, " ");
    }
}

// Containers ----------------------------------------------------------------------------------

// A container is a function that writes entry i; this writes all of them between brackets, flat
// when they fit.
typedef void (*tpEntryWriter)(tpSceneWriter* writer, const void* container, int index);

static void writeEntries(tpSceneWriter* writer, const char* brackets, int count,
                         tpEntryWriter entry, const void* container) {
    bool isObject = brackets[0] == '{';
    tpText_AddBytes(&writer->text, brackets, 1);
    writer->indent += indentWidth;
    for (int i = 0; i < count && !(writer->isFlat && isLineFull(writer)); ++i) {
        if (!writer->isFlat) {
            startLine(writer);
        } else if (i > 0 || isObject) {
            tpText_Add(&writer->text, " ");
        }
        entry(writer, container, i);
        if (i + 1 < count) {
            tpText_Add(&writer->text, ",");
        }
    }
    writer->indent -= indentWidth;
    if (!writer->isFlat && count > 0) {
        startLine(writer);
    } else if (isObject && count > 0) {
        tpText_Add(&writer->text, " ");
    }
    tpText_AddBytes(&writer->text, brackets + 1, 1);
}

static void writeContainer(tpSceneWriter* writer, const char* brackets, int count,
                           tpEntryWriter entry, const void* container) {
    if (writer->isFlat || count == 0) {
        writeEntries(writer, brackets, count, entry, container);
        return;
    }
    int start = writer->text.bytes.count;
    writer->isFlat = true;
    writeEntries(writer, brackets, count, entry, container);
    writer->isFlat = false;
    if (isLineFull(writer) && !writer->text.failed) {
        writer->text.bytes.count = start;
        writeEntries(writer, brackets, count, entry, container);
    }
}

// The field of the n-th key that was given.
static const tpField* givenField(const tpScenePart* part, int n) {
    for (int i = 0;; ++i) {
        if ((part->given >> i & 1) != 0 && n-- == 0) {
            return tpRecord_Field(part->record, i);
        }
    }
}

static void writeKeyAndValue(tpSceneWriter* writer, const void* container, int index) {
    const tpField* field = givenField(container, index);
    tpText_Format(&writer->text, "\"%s\": ", field->key);
    writeField(writer, field, container);
}

static void writeRecord(tpSceneWriter* writer, const void* part) {
    const tpScenePart* head = part;
    int count = 0;
    for (uint32_t bits = head->given; bits != 0; bits &= bits - 1) {
        count += 1;
    }
    writeContainer(writer, "{}", count, writeKeyAndValue, part);
}

// Values --------------------------------------------------------------------------------------

static void writeVersion(tpSceneWriter* writer, const tpField* field, const void* part) {
    (void)field;
    (void)part;
    tpText_Add(&writer->text, "1");
}

static void writeText(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneText* text = tpConstMember(field, part);
    tpText_AddTemplate(&writer->text, text->text);
}

// What is evaluated later is read as it stands.
static void writeFormula(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneText* text = tpConstMember(field, part);
    tpText_AddQuoted(&writer->text, text->text);
}

static void writeType(tpSceneWriter* writer, const tpField* field, const void* part) {
    (void)field;
    tpText_AddQuoted(&writer->text, ((const tpScenePart*)part)->record->name);
}

static void writeChoice(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpText_AddQuoted(&writer->text, field->choices[*(const int32_t*)tpConstMember(field, part)]);
}

static void writeBoolean(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpText_Add(&writer->text, *(const bool*)tpConstMember(field, part) ? "true" : "false");
}

static void writeNumber(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpText_AddNumber(&writer->text, *(const double*)tpConstMember(field, part));
}

static void writeInteger(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpText_Format(&writer->text, "%u", *(const uint32_t*)tpConstMember(field, part));
}

// Short rows always stand on one line.
static void writeRow(tpSceneWriter* writer, const double* numbers, int count) {
    for (int i = 0; i < count; ++i) {
        tpText_Add(&writer->text, i == 0 ? "[" : ", ");
        tpText_AddNumber(&writer->text, numbers[i]);
    }
    tpText_Add(&writer->text, "]");
}

static void writePair(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRow(writer, tpConstMember(field, part), 2);
}

static void writeQuaternion(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRow(writer, tpConstMember(field, part), 4);
}

static void writeBits(tpSceneWriter* writer, const tpField* field, const void* part) {
    uint32_t bits = *(const uint32_t*)tpConstMember(field, part);
    const char* comma = "";
    tpText_Add(&writer->text, "[");
    for (int i = 0; field->choices[i] != NULL; ++i) {
        if ((bits >> i & 1u) != 0) {
            tpText_Add(&writer->text, comma);
            tpText_AddQuoted(&writer->text, field->choices[i]);
            comma = ", ";
        }
    }
    tpText_Add(&writer->text, "]");
}

// In hexadecimal if that says it all.
static void writeColor(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpColor* color = tpConstMember(field, part);
    double numbers[3] = { color->red, color->green, color->blue };
    int steps[3];
    bool isWhole = true;
    for (int i = 0; i < 3; ++i) {
        steps[i] = (int)(255.0 * numbers[i] + 0.5);
        isWhole = isWhole && steps[i] / 255.0 == numbers[i];
    }
    if (isWhole) {
        tpText_Format(&writer->text, "\"#%02x%02x%02x\"", (unsigned)steps[0], (unsigned)steps[1],
                      (unsigned)steps[2]);
    } else {
        writeRow(writer, numbers, 3);
    }
}

static void writeVec3(tpSceneWriter* writer, const tpVec3* vector) {
    double numbers[3] = { vector->x, vector->y, vector->z };
    writeRow(writer, numbers, 3);
}

static void writeVector(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeVec3(writer, tpConstMember(field, part));
}

static void writeTwoPoints(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpVec3* points = tpConstMember(field, part);
    tpText_Add(&writer->text, "[");
    writeVec3(writer, &points[0]);
    tpText_Add(&writer->text, ", ");
    writeVec3(writer, &points[1]);
    tpText_Add(&writer->text, "]");
}

static void writeInertia(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneInertia* inertia = tpConstMember(field, part);
    writeRow(writer, inertia->values, inertia->count);
}

// Rows of numbers, as many on a line as fit.
static void writeRows(tpSceneWriter* writer, const tpSceneNumbers* numbers, int width) {
    tpText_Add(&writer->text, "[");
    writer->indent += indentWidth;
    for (int32_t i = 0; i < numbers->count && !(writer->isFlat && isLineFull(writer)); ++i) {
        int start = writer->text.bytes.count;
        for (int attempt = 0; attempt < 2; ++attempt) {
            if (attempt == 1) {
                writer->text.bytes.count = start;
                startLine(writer);
            } else if (i > 0) {
                tpText_Add(&writer->text, " ");
            }
            const double* row = &numbers->values[(size_t)i * (size_t)width];
            if (width == 1) {
                tpText_AddNumber(&writer->text, row[0]);
            } else {
                writeRow(writer, row, width);
            }
            tpText_Add(&writer->text, i + 1 < numbers->count ? "," : "");
            if (writer->isFlat || !isLineFull(writer) || writer->text.failed) {
                break;
            }
        }
    }
    writer->indent -= indentWidth;
    tpText_Add(&writer->text, "]");
}

static void writeNumbers(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRows(writer, tpConstMember(field, part), 1);
}

static void writePoints2(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRows(writer, tpConstMember(field, part), 2);
}

static void writePoints3(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRows(writer, tpConstMember(field, part), 3);
}

static void writeName(tpSceneWriter* writer, const tpSceneReference* reference) {
    if (reference->name != NULL) {
        tpText_AddQuoted(&writer->text, reference->name);
    } else {
        tpText_Add(&writer->text, "null");
    }
}

static void writeReference(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeName(writer, tpConstMember(field, part));
}

static void writeTwoReferences(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneReference* references = tpConstMember(field, part);
    tpText_Add(&writer->text, "[");
    writeName(writer, &references[0]);
    tpText_Add(&writer->text, ", ");
    writeName(writer, &references[1]);
    tpText_Add(&writer->text, "]");
}

static void writeCoordinate(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneCoordinate* coordinate = tpConstMember(field, part);
    tpText_AddQuoted(&writer->text, coordinate->name);
}

static void writeTerms(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneTerms* terms = tpConstMember(field, part);
    tpText_Add(&writer->text, "[");
    for (int i = 0; i < terms->count; ++i) {
        tpText_Add(&writer->text, i == 0 ? "[" : ", [");
        tpText_AddQuoted(&writer->text, terms->items[i].of.name);
        tpText_Add(&writer->text, ", ");
        tpText_AddNumber(&writer->text, terms->items[i].factor);
        tpText_Add(&writer->text, "]");
    }
    tpText_Add(&writer->text, "]");
}

// Parts ---------------------------------------------------------------------------------------

static void writeFriction(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneFriction* friction = tpConstMember(field, part);
    if (friction->part.record == NULL) {
        tpText_AddNumber(&writer->text, friction->number);
    } else {
        writeRecord(writer, friction);
    }
}

static void writeNestedRecord(tpSceneWriter* writer, const tpField* field, const void* part) {
    writeRecord(writer, tpConstMember(field, part));
}

typedef struct tpListView {
    const tpFamily* family;
    tpSceneList list;
} tpListView;

static tpListView viewList(const tpField* field, const void* part) {
    tpListView view = { field->family, { NULL, 0 } };
    memcpy(&view.list, tpConstMember(field, part), sizeof(view.list));
    return view;
}

static const char* itemOf(const tpListView* view, int index) {
    return (const char*)view->list.items + view->family->size * (size_t)index;
}

static void writeItem(tpSceneWriter* writer, const void* container, int index) {
    writeRecord(writer, itemOf(container, index));
}

static void writeList(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpListView view = viewList(field, part);
    writeContainer(writer, "[]", view.list.count, writeItem, &view);
}

static void writeNamedItem(tpSceneWriter* writer, const void* container, int index) {
    const tpListView* view = container;
    const char* item = itemOf(view, index);
    const tpSceneText* name = (const tpSceneText*)(item + view->family->nameOffset);
    tpText_AddQuoted(&writer->text, name->text);
    tpText_Add(&writer->text, ": ");
    writeRecord(writer, item);
}

static void writeMap(tpSceneWriter* writer, const tpField* field, const void* part) {
    tpListView view = viewList(field, part);
    writeContainer(writer, "{}", view.list.count, writeNamedItem, &view);
}

static void writeOption(tpSceneWriter* writer, const void* container, int index) {
    const tpSceneOption* option = &((const tpSceneOptions*)container)->items[index];
    tpText_AddQuoted(&writer->text, option->name.text);
    tpText_Add(&writer->text, ": ");
    if (option->kind == tp_sceneWord) {
        tpText_AddTemplate(&writer->text, option->value);
    } else {
        tpText_Add(&writer->text, option->value);
    }
}

static void writeOptions(tpSceneWriter* writer, const tpField* field, const void* part) {
    const tpSceneOptions* options = tpConstMember(field, part);
    writeContainer(writer, "{}", options->count, writeOption, options);
}

static void writeField(tpSceneWriter* writer, const tpField* field, const void* part) {
    static const tpFieldWriter writers[tp_fieldKindCount] = {
        [tp_versionField] = writeVersion,
        [tp_textField] = writeText,
        [tp_formulaField] = writeFormula,
        [tp_nameField] = writeText,
        [tp_fileField] = writeText,
        [tp_stepperField] = writeText,
        [tp_typeField] = writeType,
        [tp_choiceField] = writeChoice,
        [tp_booleanField] = writeBoolean,
        [tp_numberField] = writeNumber,
        [tp_integerField] = writeInteger,
        [tp_pairField] = writePair,
        [tp_vectorField] = writeVector,
        [tp_quaternionField] = writeQuaternion,
        [tp_bitsField] = writeBits,
        [tp_colorField] = writeColor,
        [tp_twoPointsField] = writeTwoPoints,
        [tp_inertiaField] = writeInertia,
        [tp_numbersField] = writeNumbers,
        [tp_points2Field] = writePoints2,
        [tp_points3Field] = writePoints3,
        [tp_bodyField] = writeReference,
        [tp_materialField] = writeReference,
        [tp_twoBodiesField] = writeTwoReferences,
        [tp_twoMaterialsField] = writeTwoReferences,
        [tp_coordinateField] = writeCoordinate,
        [tp_termsField] = writeTerms,
        [tp_frictionField] = writeFriction,
        [tp_recordField] = writeNestedRecord,
        [tp_listField] = writeList,
        [tp_mapField] = writeMap,
        [tp_optionsField] = writeOptions,
    };
    writers[field->kind](writer, field, part);
}

tpResult tpFormatScene(const tpScene* scene, const tpAllocator* allocator, char** text,
                       size_t* length, tpError* error) {
    TP_NEED(scene, tp_badInput);
    tpAllocator heap = tpDefaultAllocator();
    tpSceneWriter writer = { .text = { .allocator = allocator != NULL ? allocator : &heap } };
    tpLocaleScope locale;
    *text = NULL;
    if (!tpEnterCLocale(&locale)) {
        return tpError_OutOfMemory(error);
    }
    writeRecord(&writer, scene);
    tpText_Add(&writer.text, "\n");
    tpLeaveCLocale(&locale);
    return tpText_Take(&writer.text, text, length) ? tp_success : tpError_OutOfMemory(error);
}

void tpReleaseSceneText(const tpAllocator* allocator, char* text, size_t length) {
    tpAllocator heap = tpDefaultAllocator();
    tpRelease(allocator != NULL ? allocator : &heap, text, text != NULL ? length + 1 : 0);
}
