// Reading a scene by the tables of vocabulary.h: shared between the files that do it.

#ifndef TIPPE_SRC_SCENE_READER_H
#define TIPPE_SRC_SCENE_READER_H

#include "scene/json.h"
#include "scene/scope.h"
#include "scene/vocabulary.h"

// A file that the scene is read from.
typedef struct tpSourceFile {
    const char* path;   // for messages and for opening
    const char* folder; // of the files it names, as seen from the scene: "", or it ends in a slash
    const char* text;
    size_t length;
    bool mayRepeat; // the word "repeat" or "where" stands in it as a key may
} tpSourceFile;

enum { tp_mostSourceFiles = 64 };

typedef struct tpReader {
    tpJson json;
    tpArena* arena; // keeps everything that is read
    tpScene* scene;
    tpError* error; // where the next error goes, in the list below

    tpSourceFile sources[tp_mostSourceFiles]; // by tpScenePlace.file
    int sourceCount;
    tpScope scope;
    int64_t partCount;  // entries that repeats have made
    int64_t roundCount; // rounds that they went

    // Errors that reading went on from, and how many there may be before it ends.
    tpError* errors;
    int errorCount, errorCapacity;
    tpScenePlace failedAt;                          // place of the next error
    tpScenePlace errorPlaces[TP_MOST_SCENE_ERRORS]; // of those in the list
} tpReader;

// Fails at a place of the scene; %s are cut by the caller where they come from the file. In a
// repeat the indices are told as well.
#define TP_FAIL(reader, place, ...) tpReader_Fail(reader, place, __VA_ARGS__)
tpResult tpReader_Fail(tpReader* reader, tpScenePlace place, const char* format, ...)
    TP_PRINTF(3, 4);

// The path of the file of a place.
const char* tpReader_PathAt(const tpReader* reader, tpScenePlace place);

// Keeps an error, to go on with what does not depend on it. False where reading has to end: the
// list is full, or memory ran out.
bool tpReader_GoOn(tpReader* reader, tpResult result);

// The same after a value that could not be read: puts the cursor behind it. `value` is the cursor
// before it.
bool tpReader_SkipValue(tpReader* reader, const tpJson* value, tpResult result);

// Reads an object into `part`, which is as large as the record's struct.
tpResult tpReadRecord(tpReader* reader, const tpRecord* record, void* part);

// Reads a value into the member of `part` that the field says.
tpResult tpReadField(tpReader* reader, const tpField* field, void* part);

// The keys of one of the scene's files; after the last one those that are missing are told.
tpResult tpReadSceneFile(tpReader* reader, int file, bool isLast);

tpResult tpReadList(tpReader* reader, const tpField* field, void* part);
tpResult tpReadMap(tpReader* reader, const tpField* field, void* part);
tpResult tpReadOptions(tpReader* reader, const tpField* field, void* part);

// Fails unless the next value has the type: "KEY takes WHAT, found a number".
tpResult tpExpect(tpReader* reader, tpJsonType type, const char* key, const char* what);

// Room for `count` more parts behind those that files before this one gave.
tpResult tpReader_MakeItems(tpReader* reader, const void* member, int32_t count, size_t size,
                            tpSceneList* list);

// The name that is the key of a map's entry.
tpResult tpReadMapName(tpReader* reader, tpSceneText* name);

// The text or, with `isKey`, the key that comes next, as it stands; NULL where `error` was set.
const char* tpReadPlain(tpReader* reader, bool isKey);

// A text of the file without the character zero in it, with {formula} replaced by its value; NULL
// where `error` was set. With `isPlain` braces are left as they are.
const char* tpReadString(tpReader* reader, bool isPlain);

// The value of the formula that comes next, a text; finite.
tpResult tpReadFormula(tpReader* reader, const char* key, double* value);

// A formula of the time in which everything else that has a value is replaced by that; NULL where
// `error` was set.
const char* tpBindFormula(tpReader* reader, const char* formula);

// The shape of an entry that is being read, to read further ones like it.
typedef struct tpRecordPlan {
    const tpRecord* record;
    uint32_t changing;            // keys whose values ask for an index of the repeat, a bit each
    tpJson values[tp_mostFields]; // where the values of those keys stand
    tpScenePlace places[tp_mostFields];
} tpRecordPlan;

// One entry of a list into `part`. If it is right and `plan` is not NULL, tells which keys ask for
// one of the indices from number `firstIndex` on. -1: an entry that cannot be repeated, such as a
// material.
tpResult tpReadEntry(tpReader* reader, const tpFamily* family, void* part, int firstIndex,
                     tpRecordPlan* plan);

// Another entry like `first`, which was read by the plan, for other indices.
tpResult tpReadEntryAgain(tpReader* reader, const tpRecordPlan* plan, const void* first,
                          size_t size, void* part);

// Repeats (repeat.c). The number of entries that the array at the cursor stands for.
tpResult tpCountEntries(tpReader* reader, int32_t* count);

// Reads the entries that the value at the cursor stands for, one or none or many, into *item, which
// moves on.
tpResult tpReadEntries(tpReader* reader, const tpFamily* family, char** item);

// Whether a key of an entry belongs to repeats and is not one of its own.
bool tpIsRepeatKey(const char* key);

// Includes (include.c). Reads the scene file and those that it includes, and finds the parameters
// of all. `order` gets the numbers of the files in the order in which they are to be read, the
// scene last.
tpResult tpOpenSources(tpReader* reader, int order[tp_mostSourceFiles]);

// "unknown WHAT "word" WHERE; did you mean "x"?", or what is known where nothing is near. `where`
// is empty or starts with a blank.
tpResult tpFailUnknown(tpReader* reader, tpScenePlace place, const char* what, const char* word,
                       const char* where, const char* const* known, int count);

// Letters, digits, _ and -, at most 63 of them; fails at `place` otherwise.
tpResult tpCheckName(tpReader* reader, tpScenePlace place, const char* name);

// Names are unique and exist: gives every reference its index.
tpResult tpResolveReferences(tpReader* reader);

#endif
