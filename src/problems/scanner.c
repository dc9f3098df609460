#include "problems/scanner.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longestNumber = 127, longestQuote = 24 };

void tpScanner_Start(tpScanner* scanner, const char* name, const char* text, size_t length,
                     tpError* error) {
    scanner->name = name;
    scanner->start = text;
    scanner->end = text + length;
    scanner->at = text;
    scanner->error = error;
    scanner->failedAt = NULL;
}

tpResult tpScanner_Fail(tpScanner* scanner, const char* at, const char* format, ...) {
    int line = 1;
    const char* lineStart = scanner->start;
    for (const char* c = scanner->start; c < at; ++c) {
        if (*c == '\n') {
            ++line;
            lineStart = c + 1;
        }
    }
    scanner->failedAt = at;
    tpError* error = scanner->error;
    error->result = tp_badInput;
    int used = snprintf(error->message, sizeof(error->message), "%.600s:%d:%d: ", scanner->name,
                        line, (int)(at - lineStart) + 1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof(error->message) - (size_t)used, format, arguments);
    va_end(arguments);
    return tp_badInput;
}

tpResult tpScanner_OutOfMemory(tpScanner* scanner) {
    scanner->error->result = tp_outOfMemory;
    snprintf(scanner->error->message, sizeof(scanner->error->message), "%.600s: out of memory",
             scanner->name);
    return tp_outOfMemory;
}

// The word as it may stand in a message: cut, and without characters that a terminal would obey.
static const char* quoteWord(tpWord word, char* buffer) {
    int length = word.length < longestQuote ? word.length : longestQuote;
    for (int i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)word.start[i];
        buffer[i] = c >= 32 && c < 127 ? (char)c : '?';
    }
    strcpy(buffer + length, length < word.length ? "..." : "");
    return buffer;
}

tpResult tpScanner_FailExpected(tpScanner* scanner, tpWord found, const char* expected) {
    if (found.length == 0) {
        return tpScanner_Fail(scanner, found.start, "expected %s, found the end of the file",
                              expected);
    }
    char quote[longestQuote + 4];
    return tpScanner_Fail(scanner, found.start, "expected %s, found '%s'", expected,
                          quoteWord(found, quote));
}

static bool isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char* skipSpace(const char* c, const char* end) {
    while (c < end) {
        if (isSpace(*c)) {
            ++c;
        } else if (*c == '#') {
            const char* newline = memchr(c, '\n', (size_t)(end - c));
            c = newline != NULL ? newline + 1 : end;
        } else {
            break;
        }
    }
    return c;
}

tpWord tpScanner_Peek(const tpScanner* scanner) {
    const char* start = skipSpace(scanner->at, scanner->end);
    const char* c = start;
    while (c < scanner->end && !isSpace(*c) && *c != '#' && c - start < INT_MAX) {
        ++c;
    }
    return (tpWord){ start, (int)(c - start) };
}

tpWord tpScanner_Next(tpScanner* scanner) {
    tpWord word = tpScanner_Peek(scanner);
    scanner->at = word.start + word.length;
    return word;
}

tpWord tpScanner_RestOfLine(tpScanner* scanner) {
    const char* start = scanner->at;
    const char* newline = memchr(start, '\n', (size_t)(scanner->end - start));
    const char* stop = newline != NULL ? newline : scanner->end;
    scanner->at = newline != NULL ? newline + 1 : scanner->end;
    return (tpWord){ start, stop - start < INT_MAX ? (int)(stop - start) : INT_MAX };
}

bool tpScanner_CanHold(const tpScanner* scanner, double count) {
    // A word and the space after it take two characters; the last needs no space.
    return 2.0 * count <= (double)(scanner->end - scanner->at) + 1.0;
}

bool tpWord_Is(tpWord word, const char* text) {
    return word.length == (int)strlen(text) && memcmp(word.start, text, (size_t)word.length) == 0;
}

int tpWord_ToInt(tpWord word) {
    int value = 0;
    int i = word.length > 1 && word.start[0] == '+' ? 1 : 0;
    if (word.length == 0) {
        return -1;
    }
    for (; i < word.length; ++i) {
        int digit = word.start[i] - '0';
        if (digit < 0 || digit > 9 || value > (INT_MAX - digit) / 10) {
            return -1;
        }
        value = 10 * value + digit;
    }
    return value;
}

// Decimal numbers of at most 15 digits and small exponents are exact in two roundings that are
// none: both mantissa and power of ten are exact doubles, so their product or quotient is rounded
// once [Clinger90, sec. 3]. Everything else goes to strtod. False if the fast way does not
// apply.
static bool readShortReal(tpWord word, double* value) {
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char* c = word.start;
    const char* end = c + word.length;
    bool isNegative = c < end && *c == '-';
    c += c < end && (*c == '-' || *c == '+') ? 1 : 0;
    long long mantissa = 0;
    int digits = 0, scale = 0, significant = 0;
    bool pointSeen = false;
    for (; c < end && ((*c >= '0' && *c <= '9') || (*c == '.' && !pointSeen)); ++c) {
        if (*c == '.') {
            pointSeen = true;
            continue;
        }
        ++digits;
        significant += significant > 0 || *c != '0' ? 1 : 0;
        if (significant > 15) {
            return false;
        }
        mantissa = 10 * mantissa + (*c - '0');
        scale -= pointSeen ? 1 : 0;
    }
    if (digits == 0) {
        return false;
    }
    if (c < end && (*c == 'e' || *c == 'E')) {
        ++c;
        bool isDown = c < end && *c == '-';
        c += c < end && (*c == '-' || *c == '+') ? 1 : 0;
        int exponent = 0;
        const char* first = c;
        for (; c < end && *c >= '0' && *c <= '9' && exponent < 1000; ++c) {
            exponent = 10 * exponent + (*c - '0');
        }
        if (c == first) {
            return false;
        }
        scale += isDown ? -exponent : exponent;
    }
    if (c != end || (mantissa != 0 && (scale < -22 || scale > 22))) {
        return false;
    }
    double magnitude = (double)mantissa;
    if (mantissa != 0) {
        magnitude = scale < 0 ? magnitude / powers[-scale] : magnitude * powers[scale];
    }
    *value = isNegative ? -magnitude : magnitude;
    return true;
}

bool tpWord_ToReal(tpWord word, double* value) {
    if (readShortReal(word, value)) {
        return true;
    }
    if (word.length == 0 || word.length > longestNumber) {
        return false;
    }
    // A copy that ends with a zero, with Fortran's D for an exponent understood. Only characters of
    // a decimal number pass: strtod alone would take hexadecimal numbers, infinities and NaN.
    char buffer[longestNumber + 1];
    for (int i = 0; i < word.length; ++i) {
        char c = word.start[i];
        if (c == 'd' || c == 'D') {
            c = 'e';
        }
        if (!((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E')) {
            return false;
        }
        buffer[i] = c;
    }
    buffer[word.length] = '\0';
    char* end;
    *value = strtod(buffer, &end);
    return end == buffer + word.length && isfinite(*value);
}

tpResult tpScanner_Int(tpScanner* scanner, const char* what, int least, int most, int* value) {
    tpWord word = tpScanner_Next(scanner);
    *value = tpWord_ToInt(word);
    if (*value < 0) {
        return tpScanner_FailExpected(scanner, word, what);
    }
    if (*value < least || *value > most) {
        if (least == most) {
            return tpScanner_Fail(scanner, word.start, "expected %s to be %d, found %d", what,
                                  least, *value);
        }
        return tpScanner_Fail(scanner, word.start, "expected %s from %d to %d, found %d", what,
                              least, most, *value);
    }
    return tp_success;
}

tpResult tpScanner_Reals(tpScanner* scanner, const char* what, double* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        tpWord word = tpScanner_Next(scanner);
        if (!tpWord_ToReal(word, &values[i])) {
            char expected[160];
            snprintf(expected, sizeof(expected), "number %zu of %zu of %s", i + 1, count, what);
            return tpScanner_FailExpected(scanner, word, expected);
        }
    }
    return tp_success;
}

tpResult tpScanner_Ints(tpScanner* scanner, const char* what, int least, int most, bool rising,
                        int* values, int count) {
    for (int i = 0; i < count; ++i) {
        tpResult result = tpScanner_Int(scanner, what, least, most, &values[i]);
        if (result != tp_success) {
            return result;
        }
        if (rising) {
            least = values[i];
        }
    }
    return tp_success;
}
