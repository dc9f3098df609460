// Reading a scene by the tables of vocabulary.h: shared between the files that do it.

#ifndef TIPPE_SRC_SCENE_READER_H
#define TIPPE_SRC_SCENE_READER_H

#include "scene/json.h"
#include "scene/vocabulary.h"

typedef struct tpReader {
    tpJson json;
    tpArena* arena; // keeps everything that is read
    tpScene* scene;
    tpError* error; // where the next error goes, in the list below

    // Errors that reading went on from, and how many there may be before it ends.
    tpError* errors;
    int errorCount, errorCapacity;
    tpScenePlace failedAt;                          // place of the next error
    tpScenePlace errorPlaces[TP_MOST_SCENE_ERRORS]; // of those in the list
} tpReader;

// Fails at a place of the file; %s are cut by the caller where they come from the file.
#define TP_FAIL(reader, place, ...)                                                                \
    tpFailAt((reader)->error, (reader)->json.name, (reader)->failedAt = (place), __VA_ARGS__)

// Keeps an error, to go on with what does not depend on it. False where reading has to end: the list is full, or
// memory ran out.
bool tpReader_GoOn(tpReader* reader, tpResult result);

// The same after a value that could not be read: puts the cursor behind it. `value` is the cursor before it.
bool tpReader_SkipValue(tpReader* reader, const tpJson* value, tpResult result);

// Reads an object into `part`, which is as large as the record's struct.
tpResult tpReadRecord(tpReader* reader, const tpRecord* record, void* part);

// Reads a value into the member of `part` that the field says.
tpResult tpReadField(tpReader* reader, const tpField* field, void* part);

tpResult tpReadList(tpReader* reader, const tpField* field, void* part);
tpResult tpReadMap(tpReader* reader, const tpField* field, void* part);
tpResult tpReadOptions(tpReader* reader, const tpField* field, void* part);

// Fails unless the next value has the type: "KEY takes WHAT, found a number".
tpResult tpExpect(tpReader* reader, tpJsonType type, const char* key, const char* what);

// A text of the file without the character zero in it; NULL where `error` was set.
const char* tpReadString(tpReader* reader);

// "unknown WHAT "word" WHERE; did you mean "x"?", or what is known where nothing is near. `where`
// is empty or starts with a blank.
tpResult tpFailUnknown(tpReader* reader, tpScenePlace place, const char* what, const char* word,
                       const char* where, const char* const* known, int count);

// Letters, digits, _ and -, at most 63 of them; fails at `place` otherwise.
tpResult tpCheckName(tpReader* reader, tpScenePlace place, const char* name);

// Names are unique and exist: gives every reference its index.
tpResult tpResolveReferences(tpReader* reader);

#endif
