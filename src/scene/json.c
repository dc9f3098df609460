// The cursor of json.h over a text that tpJson_Open found to be well formed.

#include "scene/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/json_check.h"

tpResult tpFailAt(tpError* error, const char* name, tpScenePlace place, const char* format, ...) {
    if (error != NULL) {
        error->result = tp_badInput;
        // A path of any length leaves room for the message.
        size_t length = strlen(name);
        const char* shown = length > 400 ? name + (length - 400) : name;
        int used =
            snprintf(error->message, sizeof(error->message),
                     "%s%s:%d:%d: ", shown == name ? "" : "...", shown, place.line, place.column);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message + used, sizeof(error->message) - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return tp_badInput;
}

const char* tpJsonTypeName(tpJsonType type) {
    static const char* const names[] = { "null",   "true or false", "a number",
                                         "a text", "an array",      "an object" };
    return names[type];
}

tpResult tpJson_Open(tpJson* json, const char* name, int32_t file, const char* text, size_t length,
                     tpError* error) {
    *json = (tpJson){
        .name = name, .file = file, .text = text, .length = length, .place = { 1, 1, file }
    };
    tpJsonFault fault;
    if (!tpCheckJson(text, length, &fault)) {
        json->offset = fault.offset;
        return tpFailAt(error, name, tpJson_Place(json), "%s", fault.message);
    }
    tpSkipJsonSpace(json->text, &json->offset);
    return tp_success;
}

tpScenePlace tpJson_Place(tpJson* json) {
    if (json->offset < json->placeOffset) {
        json->placeOffset = 0;
        json->place = (tpScenePlace){ 1, 1, json->file };
    }
    for (; json->placeOffset < json->offset; ++json->placeOffset) {
        unsigned char byte = (unsigned char)json->text[json->placeOffset];
        if (byte == '\n') {
            json->place.line += 1;
            json->place.column = 1;
        } else if ((byte & 0xC0) != 0x80) { // bytes that continue a character do not count
            json->place.column += 1;
        }
    }
    return json->place;
}

tpJsonType tpJson_Peek(tpJson* json) {
    switch (json->text[json->offset]) {
    case '{':
        return tp_jsonObject;
    case '[':
        return tp_jsonArray;
    case '"':
        return tp_jsonText;
    case 't':
    case 'f':
        return tp_jsonBoolean;
    case 'n':
        return tp_jsonNull;
    default:
        return tp_jsonNumber;
    }
}

void tpJson_Enter(tpJson* json) {
    json->offset += 1;
    tpSkipJsonSpace(json->text, &json->offset);
}

bool tpJson_Next(tpJson* json) {
    tpSkipJsonSpace(json->text, &json->offset);
    char byte = json->text[json->offset];
    if (byte == ']' || byte == '}') {
        json->offset += 1;
        return false;
    }
    if (byte == ',') {
        json->offset += 1;
        tpSkipJsonSpace(json->text, &json->offset);
    }
    return true;
}

// Past the closing quote of the text at the cursor.
static void skipText(tpJson* json) {
    size_t offset = json->offset + 1;
    while (json->text[offset] != '"') {
        offset += json->text[offset] == '\\' ? 2 : 1;
    }
    json->offset = offset + 1;
}

static void skipWord(tpJson* json) {
    while (strchr(" \t\r\n,:]}/", json->text[json->offset]) == NULL) { // finds the final 0 as well
        json->offset += 1;
    }
}

void tpJson_Skip(tpJson* json) {
    int depth = 0;
    do {
        tpSkipJsonSpace(json->text, &json->offset);
        char byte = json->text[json->offset];
        if (byte == '"') {
            skipText(json);
        } else if (byte == '{' || byte == '[') {
            depth += 1;
            json->offset += 1;
        } else if (byte == '}' || byte == ']') {
            depth -= 1;
            json->offset += 1;
        } else if (byte == ',' || byte == ':') {
            json->offset += 1;
        } else {
            skipWord(json);
        }
    } while (depth > 0);
}

int32_t tpJson_CountItems(const tpJson* json) {
    tpJson ahead = *json;
    bool isObject = tpJson_Peek(&ahead) == tp_jsonObject;
    int32_t count = 0;
    tpJson_Enter(&ahead);
    while (tpJson_Next(&ahead)) {
        if (isObject) {
            skipText(&ahead);
            tpSkipJsonSpace(ahead.text, &ahead.offset);
            ahead.offset += 1; // the colon
        }
        tpJson_Skip(&ahead);
        count += 1;
    }
    return count;
}

bool tpJson_ReadNumber(tpJson* json, double* number) {
    char* end;
    *number = strtod(json->text + json->offset, &end);
    json->offset = (size_t)(end - json->text);
    return isfinite(*number);
}

bool tpJson_ReadBoolean(tpJson* json) {
    bool value = json->text[json->offset] == 't';
    skipWord(json);
    return value;
}

const char* tpJson_RawNumber(tpJson* json, int* length) {
    tpJson ahead = *json;
    skipWord(&ahead);
    *length = (int)(ahead.offset - json->offset);
    return json->text + json->offset;
}

// Text ----------------------------------------------------------------------------------------

static unsigned readHex4(const char* digits) {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i) {
        char c = digits[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        value = value * 16 + digit;
    }
    return value;
}

static char* putUtf8(char* out, unsigned code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

// Decodes the escape at `in`, just past the backslash. Returns where to go on.
static const char* decodeEscape(const char* in, char** out) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (*in != 'u') {
        *(*out)++ = meanings[strchr(letters, *in) - letters];
        return in + 1;
    }
    unsigned code = readHex4(in + 1);
    in += 5;
    if (code >= 0xD800 && code < 0xDC00) { // the check saw to it that the second half follows
        code = 0x10000 + ((code - 0xD800) << 10) + (readHex4(in + 2) - 0xDC00);
        in += 6;
    }
    *out = putUtf8(*out, code);
    return in;
}

const char* tpJson_ReadText(tpJson* json, tpArena* arena, size_t* length) {
    const char* in = json->text + json->offset + 1;
    skipText(json);
    const char* end = json->text + json->offset - 1;
    char* text = tpArena_Get(arena, (size_t)(end - in) + 1); // decoding never makes it longer
    if (text == NULL) {
        return NULL;
    }
    char* out = text;
    while (in < end) {
        if (*in == '\\') {
            in = decodeEscape(in + 1, &out);
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
    *length = (size_t)(out - text);
    return text;
}

const char* tpJson_ReadKey(tpJson* json, tpArena* arena, size_t* length) {
    const char* key = tpJson_ReadText(json, arena, length);
    tpSkipJsonSpace(json->text, &json->offset);
    json->offset += 1; // the colon
    tpSkipJsonSpace(json->text, &json->offset);
    return key;
}

const char* tpJson_RawKey(tpJson* json, int* length) {
    const char* key = json->text + json->offset + 1;
    skipText(json);
    *length = (int)(json->text + json->offset - 1 - key);
    tpSkipJsonSpace(json->text, &json->offset);
    json->offset += 1; // the colon
    tpSkipJsonSpace(json->text, &json->offset);
    return key;
}
