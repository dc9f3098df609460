// The vocabulary of scene files: one table that the reader, the writer, the JSON Schema and the
// page of the documentation all follow.
//
// A record describes an object of the file: its keys, and the struct of tippe/scene.h that each key
// fills. Kinds of objects that share keys and differ in others (shapes by their `type`) are
// families: a record each, with the shared keys in a base. To add a key: a member in scene.h and a
// line here.

#ifndef TIPPE_SRC_SCENE_VOCABULARY_H
#define TIPPE_SRC_SCENE_VOCABULARY_H

#include "tippe/scene.h"

// What a key holds, and the type of the member it fills.
typedef enum tpFieldKind {
    tp_versionField,      // uint32_t: 1
    tp_textField,         // tpSceneText
    tp_formulaField,      // tpSceneText: of the time
    tp_parametersField,   // nothing: names and numbers that formulas use, read first
    tp_includeField,      // nothing: files, read first
    tp_nameField,         // tpSceneText: letters, digits, _ and -
    tp_fileField,         // tpSceneText
    tp_stepperField,      // tpSceneText
    tp_typeField,         // int32_t: which of a family
    tp_choiceField,       // int32_t: index of `choices`
    tp_booleanField,      // bool
    tp_numberField,       // double
    tp_integerField,      // uint32_t
    tp_pairField,         // double[2]
    tp_vectorField,       // tpVec3
    tp_quaternionField,   // double[4]
    tp_bitsField,         // uint32_t: an array of `choices`, a bit each
    tp_colorField,        // tpColor: three numbers, or a text "#rrggbb"
    tp_twoPointsField,    // tpVec3[2]
    tp_inertiaField,      // tpSceneInertia
    tp_numbersField,      // tpSceneNumbers, rows of one
    tp_points2Field,      // tpSceneNumbers, rows of two
    tp_points3Field,      // tpSceneNumbers, rows of three
    tp_bodyField,         // tpSceneReference
    tp_materialField,     // tpSceneReference
    tp_twoBodiesField,    // tpSceneReference[2], null is the world
    tp_twoMaterialsField, // tpSceneReference[2]
    tp_coordinateField,   // tpSceneCoordinate
    tp_termsField,        // tpSceneTerms: pairs of a coordinate and a factor
    tp_frictionField,     // tpSceneFriction: a number or a record
    tp_recordField,       // the struct of `record`
    tp_listField,         // { items, count } of `family`
    tp_mapField,          // the same, as an object of names
    tp_optionsField,      // tpSceneOptions
    tp_fieldKindCount
} tpFieldKind;

// What numbers a key takes, component by component.
typedef enum tpNumberRange {
    tp_anyNumber,
    tp_positive,    // > 0
    tp_notNegative, // >= 0
    tp_zeroToOne,   // 0 to 1
    tp_zeroToTwo,   // > 0 and at most 2
    tp_notZero,     // the vector as a whole
    tp_ascending,   // the first at most the second
    tp_atLeastTwo,  // of integers
    tp_rangeCount
} tpNumberRange;

typedef struct tpRangeInfo {
    const char* words; // "greater than zero"
    double minimum, maximum;
    bool isOpen; // the minimum itself is excluded
} tpRangeInfo;

typedef struct tpField {
    const char* key;
    tpFieldKind kind;
    uint32_t offset; // of the member in the record's struct
    bool isRequired;
    tpNumberRange range;
    const char* unit;
    const char* byDefault; // as JSON, or in words; NULL: none
    const char* summary;   // one sentence
    const char* const* choices;
    const struct tpRecord* record;
    const struct tpFamily* family;
} tpField;

struct tpReader;

typedef struct tpRecord {
    const char* name;    // the last word of its place in the schema: "body"
    const char* article; // "a body"
    const char* summary;
    const struct tpRecord* base; // whose keys come first, or NULL
    const tpField* fields;
    int fieldCount;
    int32_t type; // of a family with several members: the value of its tp_typeField
    void (*setDefaults)(void* part);
    // What the keys must be to each other. places[i] is that of the value of key i.
    tpResult (*check)(struct tpReader* reader, void* part, const tpScenePlace* places);
} tpRecord;

// Records of a list: one, or several told apart by the key "type".
typedef struct tpFamily {
    const char* name;
    const char* article;
    const tpRecord* const* members;
    int memberCount;
    size_t size;         // of the struct
    uint32_t nameOffset; // of a map: the tpSceneText that takes the key
} tpFamily;

// A tpScenes... struct, whichever it is.
typedef struct tpSceneList {
    void* items;
    int32_t count;
} tpSceneList;

enum { tp_mostFields = 32 }; // of a record, its base included: a bit each in tpScenePart.given

extern const tpRecord tpSceneRecord, tpRotationRecord, tpFrictionRecord;
extern const tpFamily tpShapeFamily, tpJointFamily, tpCouplingFamily, tpSensorFamily;

// Joints by tpJointType: names as scenes spell them (ended by NULL), and a line about each.
extern const char* const tpJointNames[];
extern const char* const tpJointSummaries[];

const tpRangeInfo* tpRangeOf(tpNumberRange range);

// The keys of a record, those of its base first.
int tpRecord_FieldCount(const tpRecord* record);
const tpField* tpRecord_Field(const tpRecord* record, int index);
int tpRecord_Find(const tpRecord* record, const char* key); // -1: not there

static inline void* tpMember(const tpField* field, void* part) {
    return (char*)part + field->offset;
}

static inline const void* tpConstMember(const tpField* field, const void* part) {
    return (const char*)part + field->offset;
}

#endif
