// The vocabulary as Markdown, for docs/scenes.md: a table for each kind of object.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "scene/schema.h"
#include "scene/text.h"

// What a key takes, in words.
static void addKind(tpText* text, const tpField* field) {
    static const char* const words[tp_fieldKindCount] = {
        [tp_versionField] = "`1`",
        [tp_textField] = "text",
        [tp_formulaField] = "formula of the time",
        [tp_parametersField] = "object of names and numbers",
        [tp_includeField] = "path of a file, or an array of them",
        [tp_nameField] = "name",
        [tp_fileField] = "path of a file",
        [tp_stepperField] = "name of a stepper",
        [tp_booleanField] = "`true` or `false`",
        [tp_numberField] = "number",
        [tp_integerField] = "whole number",
        [tp_pairField] = "2 numbers",
        [tp_vectorField] = "3 numbers",
        [tp_quaternionField] = "4 numbers",
        [tp_bitsField] = "array of words",
        [tp_colorField] = "`\"#rrggbb\"` or 3 numbers",
        [tp_twoPointsField] = "2 points of 3 numbers",
        [tp_inertiaField] = "3 or 6 numbers",
        [tp_numbersField] = "numbers",
        [tp_points2Field] = "points of 2 numbers",
        [tp_points3Field] = "points of 3 numbers",
        [tp_bodyField] = "name of a body",
        [tp_materialField] = "name of a material",
        [tp_twoBodiesField] = "2 names of bodies",
        [tp_twoMaterialsField] = "2 names of materials",
        [tp_coordinateField] = "name of a joint, or `joint.axis`",
        [tp_termsField] = "array of `[\"joint\", factor]`",
        [tp_frictionField] = "number, or object ([friction](#friction))",
        [tp_optionsField] = "object",
    };
    if (field->kind == tp_choiceField) {
        for (int i = 0; field->choices[i] != NULL; ++i) {
            tpText_Format(text, "%s`\"%s\"`", i == 0 ? "" : ", ", field->choices[i]);
        }
    } else if (field->kind == tp_recordField) {
        tpText_Format(text, "object ([%s](#%s))", field->record->name, field->record->name);
    } else if (field->kind == tp_listField) {
        tpText_Format(text, "array ([%s](#%s))", field->family->name, field->family->name);
    } else if (field->kind == tp_mapField) {
        tpText_Format(text, "object of names ([%s](#%s))", field->family->name,
                      field->family->name);
    } else {
        tpText_Add(text, field->kind == tp_typeField ? "name of a shape" : words[field->kind]);
    }
    const char* range = tpRangeOf(field->range)->words;
    if (range[0] != '\0') {
        tpText_Format(text, ", %s", range);
    }
}

static void addTable(tpText* text, const tpField* fields, int count) {
    tpText_Add(text, "| key | takes | unit | default | meaning |\n|---|---|---|---|---|\n");
    for (int i = 0; i < count; ++i) {
        const tpField* field = &fields[i];
        tpText_Format(text, "| `%s` | ", field->key);
        addKind(text, field);
        const char* byDefault = field->byDefault != NULL ? field->byDefault : "";
        bool isCode = byDefault[0] != '\0' && strchr("[{\"0123456789", byDefault[0]) != NULL;
        tpText_Format(text, " | %s | %s%s%s | ", field->unit != NULL ? field->unit : "",
                      isCode ? "`" : "", field->isRequired ? "(required)" : byDefault,
                      isCode ? "`" : "");
        // A bar would end the cell.
        for (const char* c = field->summary; *c != '\0'; ++c) {
            tpText_AddBytes(text, *c == '|' ? "\\|" : c, *c == '|' ? 2 : 1);
        }
        tpText_Add(text, " |\n");
    }
    tpText_Add(text, "\n");
}

static void addRecordTable(tpText* text, const tpRecord* record) {
    if (record == tpShapeFamily.members[0]) { // before the first shape: what all of them share
        tpText_Format(text, "## %s\n\n%s\n\n", record->base->name, record->base->summary);
        addTable(text, record->base->fields, record->base->fieldCount);
    }
    const char* level = record->base != NULL ? "###" : "##";
    tpText_Format(text, "%s %s\n\n", level, record->name);
    tpText_Add(text, record->summary);
    tpText_Add(text, "\n\n");
    addTable(text, record->fields, record->fieldCount);
}

static void addOptions(tpText* text) {
    tpText_Add(text, "## options\n\nOptions of steppers, in `simulation.options` and as `--set "
                     "name=value`.\n\n| option | unit | steppers | meaning |\n|---|---|---|---|\n");
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        tpText_Format(text, "| `%s` | %s | ", info->name, info->unit != NULL ? info->unit : "");
        bool isFirst = true;
        for (int s = 0; s < tp_stepperCount; ++s) {
            if (tpStepperUsesOption((tpStepperId)s, i)) {
                tpText_Format(text, "%s%s", isFirst ? "" : ", ", tpStepperName((tpStepperId)s));
                isFirst = false;
            }
        }
        tpText_Add(text, " | ");
        tpText_Add(text, info->summary != NULL ? info->summary : "");
        tpText_Add(text, " |\n");
    }
}

static void addJointTypes(tpText* text) {
    tpText_Add(text, "Types of joints:\n\n| type | leaves free |\n|---|---|\n");
    for (int i = 0; tpJointNames[i] != NULL; ++i) {
        tpText_Format(text, "| `%s` | %s |\n", tpJointNames[i], tpJointSummaries[i]);
    }
    tpText_Add(text, "\n");
}

tpResult tpFormatSceneVocabulary(const tpAllocator* allocator, char** out, size_t* length,
                                 tpError* error) {
    TP_NEED(out, tp_badInput);
    TP_NEED(length, tp_badInput);
    tpAllocator heap = tpDefaultAllocator();
    tpText text = { .allocator = allocator != NULL ? allocator : &heap };
    tpRecordList list;
    tpListRecords(&list);
    *out = NULL;
    for (int i = 0; i < list.count; ++i) {
        addRecordTable(&text, list.records[i]);
        if (strcmp(list.records[i]->name, "joint") == 0) {
            addJointTypes(&text);
        }
    }
    addOptions(&text);
    return tpText_Take(&text, out, length) ? tp_success : tpError_OutOfMemory(error);
}
