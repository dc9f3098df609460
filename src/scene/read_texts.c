// Texts and formulas of the file: {formula} in a text becomes its value, names in a formula of the
// time become numbers.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/reader.h"
#include "scene/text.h"

// The value of the formula between braces, written out: whole numbers without a point.
static tpResult putValue(tpReader* reader, tpScenePlace place, const char* formula, int length,
                         char* out, size_t size) {
    char text[256];
    tpFormulaFault fault;
    double value;
    if (length >= (int)sizeof(text)) {
        return TP_FAIL(reader, place, "a formula in a text has at most %zu characters",
                       sizeof(text) - 1);
    }
    memcpy(text, formula, (size_t)length);
    text[length] = '\0';
    if (!tpScope_Evaluate(&reader->scope, text, &value, &fault)) {
        return TP_FAIL(reader, place, "{%.60s}: %s", text, fault.message);
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(out, size, "%.0f", value + 0.0);
    } else if (isfinite(value)) {
        char number[tp_numberLength];
        snprintf(out, size, "%.*s", tpPrintNumber(number, value), number);
    } else {
        return TP_FAIL(reader, place, "{%.60s} is %g, which is not finite", text, value);
    }
    return tp_success;
}

// The text with {formula} replaced by its value and {{ by {.
static const char* fillIn(tpReader* reader, tpScenePlace place, const char* text) {
    size_t capacity = strlen(text) + 1, used = 0;
    for (const char* c = text; *c != '\0'; ++c) {
        capacity += *c == '{' ? tp_numberLength : 0;
    }
    char* filled = tpArena_Get(reader->arena, capacity);
    if (filled == NULL) {
        tpError_OutOfMemory(reader->error);
        return NULL;
    }
    for (const char* c = text; *c != '\0'; ++c) {
        const char* end = *c == '{' && c[1] != '{' ? strchr(c, '}') : NULL;
        if (*c != '{') {
            filled[used++] = *c;
        } else if (c[1] == '{') {
            filled[used++] = *c++;
        } else if (end == NULL) {
            TP_FAIL(reader, place, "a { without its }; {{ stands for a { itself");
            return NULL;
        } else {
            if (putValue(reader, place, c + 1, (int)(end - c) - 1, filled + used,
                         capacity - used) != tp_success) {
                return NULL;
            }
            used += strlen(filled + used);
            c = end;
        }
    }
    filled[used] = '\0';
    return filled;
}

const char* tpReadPlain(tpReader* reader, bool isKey) {
    tpScenePlace place = tpJson_Place(&reader->json);
    size_t length;
    const char* text = isKey ? tpJson_ReadKey(&reader->json, reader->arena, &length)
                             : tpJson_ReadText(&reader->json, reader->arena, &length);
    if (text == NULL) {
        tpError_OutOfMemory(reader->error);
    } else if (strlen(text) != length) {
        TP_FAIL(reader, place, "a text cannot hold the character \\u0000");
        return NULL;
    }
    return text;
}

const char* tpReadString(tpReader* reader, bool isPlain) {
    tpScenePlace place = tpJson_Place(&reader->json);
    const char* text = tpReadPlain(reader, false);
    return text == NULL || isPlain || strchr(text, '{') == NULL ? text
                                                                : fillIn(reader, place, text);
}

// Formulas ------------------------------------------------------------------------------------

tpResult tpReadFormula(tpReader* reader, const char* key, double* value) {
    tpScenePlace place = tpJson_Place(&reader->json);
    tpArenaMark mark = tpArena_Mark(reader->arena);
    const char* formula = tpReadPlain(reader, false);
    if (formula == NULL) {
        return reader->error->result;
    }
    tpFormulaFault fault;
    tpResult result = tp_success;
    if (!tpScope_Evaluate(&reader->scope, formula, value, &fault)) {
        result = TP_FAIL(reader, place,
                         "\"%.60s\" takes a number or a formula; formula, character %d: %s", key,
                         fault.column, fault.message);
    } else if (!isfinite(*value)) {
        result = TP_FAIL(reader, place, "the formula \"%.80s\" gives %g: numbers must be finite",
                         formula, *value);
    }
    tpArena_Release(reader->arena, mark);
    return result;
}

const char* tpBindFormula(tpReader* reader, const char* formula) {
    // Names become numbers in brackets; each is at least a character long.
    size_t capacity = (strlen(formula) + 1) * (tp_numberLength + 2), used = 0;
    char* bound = tpArena_Get(reader->arena, capacity);
    if (bound == NULL) {
        tpError_OutOfMemory(reader->error);
        return NULL;
    }
    bool isAfterNumber = false; // the e of 1e3 is no name
    for (const char* c = formula; *c != '\0';) {
        int length = isAfterNumber ? 0 : tpFormulaNameLength(c);
        double value;
        char message[256] = "";
        bool isOwn = length == 0 || tpIsFormulaWord(c, length) || (length == 1 && *c == 't');
        if (!isOwn && tpScope_Find(&reader->scope, c, length, &value, message)) {
            char number[tp_numberLength];
            used += (size_t)snprintf(bound + used, capacity - used, "(%.*s)",
                                     tpPrintNumber(number, value), number);
            c += length;
        } else {
            length = length > 0 ? length : 1;
            memcpy(bound + used, c, (size_t)length);
            used += (size_t)length;
            isAfterNumber = (*c >= '0' && *c <= '9') || *c == '.';
            c += length;
        }
    }
    bound[used] = '\0';
    return bound;
}
