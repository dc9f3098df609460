#include "scene/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tpEnterCLocale(tpLocaleScope* scope) {
    scope->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (scope->c == (locale_t)0) {
        return false;
    }
    scope->before = uselocale(scope->c);
    return true;
}

void tpLeaveCLocale(tpLocaleScope* scope) {
    uselocale(scope->before);
    freelocale(scope->c);
}

int tpPrintNumber(char buffer[tp_numberLength], double number) {
    int length = 0;
    for (int digits = 15; digits <= 17; ++digits) {
        length = snprintf(buffer, tp_numberLength, "%.*g", digits, number);
        if (strtod(buffer, NULL) == number) {
            break;
        }
    }
    return length;
}

void tpText_AddBytes(tpText* text, const char* bytes, size_t length) {
    if (text->failed || length > (size_t)INT32_MAX / 2 ||
        !TP_RESERVE(text->allocator, text->bytes, text->bytes.count + (int)length + 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->bytes.data + text->bytes.count, bytes, length);
    text->bytes.count += (int)length;
    text->bytes.data[text->bytes.count] = '\0';
}

void tpText_Add(tpText* text, const char* words) {
    tpText_AddBytes(text, words, strlen(words));
}

void tpText_Format(tpText* text, const char* format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    TP_ASSERT(length >= 0 && length < (int)sizeof(line));
    tpText_AddBytes(text, line, (size_t)length);
}

// As a JSON string; `doubled` is a character that is written twice.
static void addString(tpText* text, const char* words, char doubled) {
    tpText_Add(text, "\"");
    while (*words != '\0') {
        size_t plain = 0;
        while ((unsigned char)words[plain] >= 0x20 && words[plain] != '"' && words[plain] != '\\' &&
               words[plain] != doubled) {
            plain += 1;
        }
        tpText_AddBytes(text, words, plain);
        words += plain;
        if (*words != '\0' && *words == doubled) {
            tpText_AddBytes(text, words, 1);
            tpText_AddBytes(text, words++, 1);
        } else if (*words == '"' || *words == '\\') {
            tpText_Format(text, "\\%c", *words++);
        } else if (*words == '\n') {
            tpText_Add(text, "\\n");
            words += 1;
        } else if (*words != '\0') {
            tpText_Format(text, "\\u%04x", (unsigned)(unsigned char)*words++);
        }
    }
    tpText_Add(text, "\"");
}

void tpText_AddQuoted(tpText* text, const char* words) {
    addString(text, words, '\0');
}

void tpText_AddTemplate(tpText* text, const char* words) {
    addString(text, words, '{');
}

void tpText_AddNumber(tpText* text, double number) {
    char buffer[tp_numberLength];
    int length = tpPrintNumber(buffer, number);
    tpText_AddBytes(text, buffer, (size_t)length);
}

void tpText_Free(tpText* text) {
    TP_FREE_ARRAY(text->allocator, text->bytes);
}

bool tpText_Take(tpText* text, char** out, size_t* length) {
    *out = NULL;
    size_t count = (size_t)text->bytes.count;
    char* exact = text->failed ? NULL : tpAllocate(text->allocator, count + 1);
    if (exact != NULL) {
        memcpy(exact, text->bytes.count > 0 ? text->bytes.data : "", count);
        exact[count] = '\0';
        *out = exact;
        if (length != NULL) {
            *length = count;
        }
    }
    tpText_Free(text);
    return *out != NULL;
}
