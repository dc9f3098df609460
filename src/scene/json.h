// A cursor over a JSON text in memory that knows the line and the column of every token.
//
// tpJson_Open checks the whole text against the grammar (RFC 8259: UTF-8, no trailing commas; with
// comments) before anything is read from it. What follows walks a text that is known to be well
// formed:
//
//     tpJson_Enter(&json);                    // past [ or {
//     while (tpJson_Next(&json)) {            // past commas; false past the closing bracket
//         tpJson_ReadNumber(&json, &number);  // exactly one value (in objects: a key, a value)
//     }
//
// A cursor is a plain value: a copy looks ahead without moving the original.
//
// Why not yajl, which tests hold this against: of a text that is wrong it tells the byte after the
// wrong token (and 0 after trailing garbage), a lone surrogate becomes "?", overlong UTF-8 passes,
// and an allocation that fails crashes it.

#ifndef TIPPE_SRC_SCENE_JSON_H
#define TIPPE_SRC_SCENE_JSON_H

#include "base/memory.h"
#include "tippe/scene.h"

typedef enum tpJsonType {
    tp_jsonNull,
    tp_jsonBoolean,
    tp_jsonNumber,
    tp_jsonText,
    tp_jsonArray,
    tp_jsonObject
} tpJsonType;

typedef struct tpJson {
    const char* name; // of the file, for messages
    int32_t file;     // its number, for places
    const char* text; // text[length] is 0
    size_t length;
    size_t offset; // of the next byte to read

    // The place of text[placeOffset], moved forward on demand: the work of all places together is
    // one pass over the text, even when it is a single line.
    size_t placeOffset;
    tpScenePlace place;
} tpJson;

// Checks the text and puts the cursor before its only value.
tpResult tpJson_Open(tpJson* json, const char* name, int32_t file, const char* text, size_t length,
                     tpError* error);

// The type and the place of the next value or key.
tpJsonType tpJson_Peek(tpJson* json);
tpScenePlace tpJson_Place(tpJson* json);

void tpJson_Enter(tpJson* json);
bool tpJson_Next(tpJson* json);
void tpJson_Skip(tpJson* json); // a whole value

// The number of values in the array or object that comes next. Moves nothing.
int32_t tpJson_CountItems(const tpJson* json);

// False if the number is too large for a double. Needs the C locale.
bool tpJson_ReadNumber(tpJson* json, double* number);
bool tpJson_ReadBoolean(tpJson* json);

// Bytes of the number as it is written, without reading it.
const char* tpJson_RawNumber(tpJson* json, int* length);

// The text that comes next, a value or a key (with its colon); NULL if memory ran out. A text
// that holds the character zero is cut there; *length tells.
const char* tpJson_ReadText(tpJson* json, tpArena* arena, size_t* length);
const char* tpJson_ReadKey(tpJson* json, tpArena* arena, size_t* length);

// The key that comes next as it is written, without its quotes, and past its colon.
const char* tpJson_RawKey(tpJson* json, int* length);

// "a number", "an object", and so on, for messages.
const char* tpJsonTypeName(tpJsonType type);

// Sets "name:line:column: message" and returns tp_badInput.
tpResult tpFailAt(tpError* error, const char* name, tpScenePlace place, const char* format, ...)
    TP_PRINTF(4, 5);

#endif
