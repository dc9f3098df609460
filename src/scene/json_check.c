// The grammar of JSON (RFC 8259) by recursive descent, for its messages: a person reads them.
//
// Stricter than the RFC asks in three ways: half a surrogate pair is refused, the nesting is
// limited (the recursion with it), and a byte order mark is. Comments, // to the end of the line
// and /* to */, are allowed wherever a blank is.

#include "scene/json_check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tippe/scene.h"

typedef struct tpChecker {
    const char* text;
    size_t length, offset;
    tpJsonFault* fault;
} tpChecker;

static bool failAt(tpChecker* checker, size_t offset, const char* format, ...) TP_PRINTF(3, 4);

static bool failAt(tpChecker* checker, size_t offset, const char* format, ...) {
    checker->fault->offset = offset;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(checker->fault->message, sizeof(checker->fault->message), format, arguments);
    va_end(arguments);
    return false;
}

// Past the comment at `at`; NULL if none begins there, or where it does not end.
static const char* skipComment(const char* at) {
    if (at[1] == '/') {
        return at + strcspn(at, "\n");
    }
    const char* end = at[1] == '*' ? strstr(at + 2, "*/") : NULL;
    return end != NULL ? end + 2 : NULL;
}

void tpSkipJsonSpace(const char* text, size_t* offset) {
    const char* at = text + *offset;
    for (;;) {
        if (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') {
            ++at;
        } else {
            const char* after = *at == '/' ? skipComment(at) : NULL;
            if (after == NULL) {
                break;
            }
            at = after;
        }
    }
    *offset = (size_t)(at - text);
}

// Encoding ------------------------------------------------------------------------------------

// The length of the well-formed UTF-8 character at `bytes`, or 0 (Unicode, table 3-7). The final
// zero of the text stops every sequence that is cut short.
static int utf8Length(const unsigned char* bytes) {
    unsigned char first = bytes[0];
    if (first < 0x80) {
        return 1;
    }
    int length = first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4) {
        return 0;
    }
    unsigned char lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < lowest || bytes[1] > highest) {
        return 0;
    }
    for (int i = 2; i < length; ++i) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static bool checkEncoding(tpChecker* checker) {
    const unsigned char* bytes = (const unsigned char*)checker->text;
    if (checker->length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        return failAt(checker, 0, "the file starts with a byte order mark; save it as plain UTF-8");
    }
    if (checker->length >= 2 &&
        ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF))) {
        return failAt(checker, 0, "the file is UTF-16; save it as plain UTF-8");
    }
    for (size_t i = 0; i < checker->length;) {
        if (bytes[i] == 0) {
            return failAt(checker, i, "a zero byte; the file is not a text");
        }
        int length = utf8Length(bytes + i);
        if (length == 0) {
            return failAt(checker, i, "the byte 0x%02X is not UTF-8", (unsigned)bytes[i]);
        }
        i += (size_t)length;
    }
    return true;
}

// Tokens --------------------------------------------------------------------------------------

// What stands at the cursor, for "found ...": a word, a character, or the end.
static const char* found(const tpChecker* checker, char buffer[40]) {
    const char* at = checker->text + checker->offset;
    if (checker->offset >= checker->length) {
        return "the end of the file";
    }
    size_t length = 0;
    while (length < 24 && (isalnum((unsigned char)at[length]) != 0 || at[length] == '_' ||
                           at[length] == '.' || at[length] == '-' || at[length] == '+')) {
        length += 1;
    }
    if (at[0] == '"') {
        return "a text";
    }
    if (length == 0) {
        length = (size_t)utf8Length((const unsigned char*)at);
    }
    snprintf(buffer, 40, "'%.*s'", (int)length, at);
    return buffer;
}

static bool failExpected(tpChecker* checker, const char* expected) {
    char buffer[40];
    const char* at = checker->text + checker->offset;
    if (at[0] == '/' && at[1] == '*') {
        return failAt(checker, checker->offset, "the comment that starts here has no end");
    }
    if (at[0] == '\'') {
        return failAt(checker, checker->offset, "expected %s; texts stand in double quotes",
                      expected);
    }
    return failAt(checker, checker->offset, "expected %s, found %s", expected,
                  found(checker, buffer));
}

static bool isHex4(const char* digits) {
    for (int i = 0; i < 4; ++i) {
        if (isxdigit((unsigned char)digits[i]) == 0) { // the final zero ends this as well
            return false;
        }
    }
    return true;
}

// Of the four digits of \u: 1 for the first half of a surrogate pair, 2 for the second, 0 for
// neither.
static int surrogateHalf(const char* digits) {
    int high = tolower((unsigned char)digits[0]), low = tolower((unsigned char)digits[1]);
    if (high != 'd' || low < '8' || (low > '9' && low < 'a')) {
        return 0;
    }
    return low <= 'b' ? 1 : 2;
}

// The escape whose backslash is at the cursor.
static bool checkEscape(tpChecker* checker) {
    const char* at = checker->text + checker->offset;
    if (at[1] != 'u') {
        if (at[1] == '\0' || strchr("\"\\/bfnrt", at[1]) == NULL) {
            return failAt(checker, checker->offset,
                          "a backslash in a text is followed by one of \" \\ / b f n r t u");
        }
        checker->offset += 2;
        return true;
    }
    if (!isHex4(at + 2)) {
        return failAt(checker, checker->offset, "\\u is followed by four hexadecimal digits");
    }
    int half = surrogateHalf(at + 2);
    if (half == 2) {
        return failAt(checker, checker->offset, "half a surrogate pair: its first half is missing");
    }
    if (half == 1 &&
        !(at[6] == '\\' && at[7] == 'u' && isHex4(at + 8) && surrogateHalf(at + 8) == 2)) {
        return failAt(checker, checker->offset,
                      "half a surrogate pair: its second half is missing");
    }
    checker->offset += half == 1 ? 12 : 6;
    return true;
}

static bool checkText(tpChecker* checker) {
    size_t start = checker->offset;
    checker->offset += 1;
    for (;;) {
        unsigned char byte = (unsigned char)checker->text[checker->offset];
        if (byte == '"') {
            checker->offset += 1;
            return true;
        }
        if (checker->offset >= checker->length) {
            return failAt(checker, start, "the text that starts here has no closing quote");
        }
        if (byte == '\n' || byte == '\r') {
            return failAt(checker, start,
                          "the text that starts here has no closing quote on its line");
        }
        if (byte < 0x20) {
            return failAt(checker, checker->offset,
                          "the control character 0x%02X in a text; write \\u%04x", (unsigned)byte,
                          (unsigned)byte);
        }
        if (byte == '\\') {
            if (!checkEscape(checker)) {
                return false;
            }
        } else {
            checker->offset += 1;
        }
    }
}

static void skipDigits(tpChecker* checker) {
    while (isdigit((unsigned char)checker->text[checker->offset]) != 0) {
        checker->offset += 1;
    }
}

static bool isDigitAt(const tpChecker* checker) {
    return isdigit((unsigned char)checker->text[checker->offset]) != 0;
}

static bool checkNumber(tpChecker* checker) {
    size_t start = checker->offset;
    const char* text = checker->text;
    checker->offset += text[checker->offset] == '-' ? 1 : 0;
    if (!isDigitAt(checker)) {
        bool isInfinite =
            strchr("iInN", text[checker->offset]) != NULL && start + 1 < checker->length;
        return failAt(checker, start,
                      isInfinite ? "expected a finite number"
                                 : "a number needs a digit after the minus sign");
    }
    if (text[checker->offset] == '0' && isdigit((unsigned char)text[checker->offset + 1]) != 0) {
        return failAt(checker, start, "a number does not start with a needless 0");
    }
    skipDigits(checker);
    if (text[checker->offset] == '.') {
        checker->offset += 1;
        if (!isDigitAt(checker)) {
            return failAt(checker, start, "a number needs a digit after the decimal point");
        }
        skipDigits(checker);
    }
    if (text[checker->offset] == 'e' || text[checker->offset] == 'E') {
        checker->offset += 1;
        if (text[checker->offset] == '+' || text[checker->offset] == '-') {
            checker->offset += 1;
        }
        if (!isDigitAt(checker)) {
            return failAt(checker, start, "a number needs a digit in its exponent");
        }
        skipDigits(checker);
    }
    return true;
}

static bool checkWord(tpChecker* checker) {
    static const char* const words[] = { "true", "false", "null" };
    static const char* const notFinite[] = { "NaN", "nan", "Infinity", "inf", "Inf", "infinity" };
    const char* at = checker->text + checker->offset;
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) != 0 || at[length] == '_') {
        length += 1;
    }
    for (int i = 0; i < 3; ++i) {
        if (length == strlen(words[i]) && strncmp(at, words[i], length) == 0) {
            checker->offset += length;
            return true;
        }
    }
    for (int i = 0; i < 6; ++i) {
        if (length == strlen(notFinite[i]) && strncmp(at, notFinite[i], length) == 0) {
            return failAt(checker, checker->offset, "expected a finite number, found %s",
                          notFinite[i]);
        }
    }
    return failExpected(checker, "a value");
}

// Values --------------------------------------------------------------------------------------

static bool checkValue(tpChecker* checker, int depth);

static bool checkKey(tpChecker* checker) {
    if (checker->text[checker->offset] != '"') {
        return failExpected(checker, "a key in double quotes");
    }
    if (!checkText(checker)) {
        return false;
    }
    tpSkipJsonSpace(checker->text, &checker->offset);
    if (checker->text[checker->offset] != ':') {
        return failExpected(checker, "':' after the key");
    }
    checker->offset += 1;
    tpSkipJsonSpace(checker->text, &checker->offset);
    return true;
}

// An array or an object, from its opening bracket on.
static bool checkContainer(tpChecker* checker, int depth, bool isObject) {
    char closing = isObject ? '}' : ']';
    if (depth >= TP_DEEPEST_SCENE) {
        return failAt(checker, checker->offset, "brackets nest more than %d deep",
                      TP_DEEPEST_SCENE);
    }
    checker->offset += 1;
    tpSkipJsonSpace(checker->text, &checker->offset);
    if (checker->text[checker->offset] == closing) {
        checker->offset += 1;
        return true;
    }
    for (;;) {
        if (isObject && !checkKey(checker)) {
            return false;
        }
        if (!checkValue(checker, depth + 1)) {
            return false;
        }
        tpSkipJsonSpace(checker->text, &checker->offset);
        if (checker->text[checker->offset] == closing) {
            checker->offset += 1;
            return true;
        }
        if (checker->text[checker->offset] != ',') {
            return failExpected(checker, isObject ? "',' or '}'" : "',' or ']'");
        }
        checker->offset += 1;
        tpSkipJsonSpace(checker->text, &checker->offset);
        if (checker->text[checker->offset] == closing) {
            return failAt(checker, checker->offset, "expected %s after the comma, found '%c'",
                          isObject ? "a key" : "a value", closing);
        }
    }
}

static bool checkValue(tpChecker* checker, int depth) {
    char byte = checker->text[checker->offset];
    if (byte == '{' || byte == '[') {
        return checkContainer(checker, depth, byte == '{');
    }
    if (byte == '"') {
        return checkText(checker);
    }
    if (byte == '-' || isdigit((unsigned char)byte) != 0) {
        return checkNumber(checker);
    }
    if (isalpha((unsigned char)byte) != 0) {
        return checkWord(checker);
    }
    return failExpected(checker, "a value");
}

bool tpCheckJson(const char* text, size_t length, tpJsonFault* fault) {
    tpChecker checker = { text, length, 0, fault };
    if (!checkEncoding(&checker)) {
        return false;
    }
    tpSkipJsonSpace(text, &checker.offset);
    if (checker.offset >= length) {
        return failAt(&checker, checker.offset, "the file is empty; expected a scene");
    }
    if (!checkValue(&checker, 0)) {
        return false;
    }
    tpSkipJsonSpace(text, &checker.offset);
    return checker.offset >= length || failExpected(&checker, "the end of the file");
}
