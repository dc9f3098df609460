// Formulas by recursive descent, evaluated as they are read: they are short, and are asked for some
// thousand times at most.

#include "scene/formula.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "math/elementary.h"
#include "tippe/base.h"

enum { deepest = 64, mostArguments = 3 };

typedef struct parser {
    const char* start;
    const char* at;
    const tpFormulaNames* names;
    int depth;
    bool failed;
    tpFormulaFault* fault;
} parser;

static double disjunction(parser* in);

// Remembers the first fault only. The value does not matter any more.
TP_PRINTF(2, 3)
static double fail(parser* in, const char* format, ...) {
    if (!in->failed && in->fault != NULL) {
        in->fault->column = (int)(in->at - in->start) + 1;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(in->fault->message, sizeof(in->fault->message), format, arguments);
        va_end(arguments);
    }
    in->failed = true;
    return 0.0;
}

static void skipBlanks(parser* in) {
    in->at += strspn(in->at, " \t\r\n");
}

// Whether `word` stands next; then it is passed.
static bool takes(parser* in, const char* word) {
    skipBlanks(in);
    size_t length = strlen(word);
    if (strncmp(in->at, word, length) != 0) {
        return false;
    }
    in->at += length;
    return true;
}

// Functions -----------------------------------------------------------------------------------

static double choose(const double* x) {
    return x[0] != 0.0 ? x[1] : x[2];
}

// The bits of x, mixed (splitmix64). The same on every machine.
static double randomOf(double x) {
    uint64_t bits;
    x += 0.0; // -0 is 0
    memcpy(&bits, &x, sizeof(bits));
    bits += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

typedef struct function {
    const char* name;
    int argumentCount;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(const double*);
} function;

static const function functions[] = {
    { "abs", 1, fabs, NULL, NULL },        { "acos", 1, tpAcos, NULL, NULL },
    { "asin", 1, tpAsin, NULL, NULL },     { "atan", 1, tpAtan, NULL, NULL },
    { "atan2", 2, NULL, tpAtan2, NULL },   { "ceil", 1, ceil, NULL, NULL },
    { "cos", 1, tpCos, NULL, NULL },       { "cosh", 1, tpCosh, NULL, NULL },
    { "exp", 1, tpExp, NULL, NULL },       { "floor", 1, floor, NULL, NULL },
    { "hypot", 2, NULL, tpHypot, NULL },   { "if", 3, NULL, NULL, choose },
    { "log", 1, tpLog, NULL, NULL },       { "max", 2, NULL, fmax, NULL },
    { "min", 2, NULL, fmin, NULL },        { "mod", 2, NULL, fmod, NULL },
    { "random", 1, randomOf, NULL, NULL }, { "round", 1, round, NULL, NULL },
    { "sin", 1, tpSin, NULL, NULL },       { "sinh", 1, tpSinh, NULL, NULL },
    { "sqrt", 1, sqrt, NULL, NULL },       { "tan", 1, tpTan, NULL, NULL },
    { "tanh", 1, tpTanh, NULL, NULL },
};

static double call(parser* in, const function* known) {
    double arguments[mostArguments] = { 0.0, 0.0, 0.0 };
    if (!takes(in, "(")) {
        return fail(in, "expected '(' after '%s'", known->name);
    }
    for (int i = 0; i < known->argumentCount && !in->failed; ++i) {
        if (i > 0 && !takes(in, ",")) {
            return fail(in, "expected ',': '%s' takes %d values", known->name,
                        known->argumentCount);
        }
        arguments[i] = disjunction(in);
    }
    if (!in->failed && !takes(in, ")")) {
        return fail(in, "expected ')' to close '%s('", known->name);
    }
    return known->one != NULL   ? known->one(arguments[0])
           : known->two != NULL ? known->two(arguments[0], arguments[1])
                                : known->three(arguments);
}

static const function* findFunction(const char* name, int length) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        if ((int)strlen(functions[i].name) == length &&
            strncmp(functions[i].name, name, (size_t)length) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}

static bool isPi(const char* name, int length) {
    return length == 2 && strncmp(name, "pi", 2) == 0;
}

bool tpIsFormulaWord(const char* word, int length) {
    return isPi(word, length) || findFunction(word, length) != NULL;
}

int tpFormulaNameLength(const char* text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return text[0] >= '0' && text[0] <= '9' ? 0 : (int)strspn(text, letters);
}

static double namedValue(parser* in) {
    int length = tpFormulaNameLength(in->at);
    const char* name = in->at;
    double value = 0.0;
    char message[sizeof(in->fault->message)] = "";
    in->at += length;
    const function* known = findFunction(name, length);
    if (known != NULL) {
        return call(in, known);
    }
    if (isPi(name, length)) {
        return TP_PI;
    }
    if (in->names->find(in->names->context, name, length, &value, message)) {
        return value;
    }
    in->at = name;
    return message[0] != '\0' ? fail(in, "%s", message)
                              : fail(in, "unknown name '%.*s'", length < 60 ? length : 60, name);
}

// Operators -----------------------------------------------------------------------------------

static double number(parser* in) {
    char* end;
    double value = strtod(in->at, &end);
    if (end == in->at) {
        return fail(in, "expected a number");
    }
    in->at = end;
    return value;
}

static double atom(parser* in) {
    skipBlanks(in);
    char c = *in->at;
    if (takes(in, "(")) {
        double value = disjunction(in);
        return in->failed || takes(in, ")") ? value : fail(in, "expected ')'");
    }
    if ((c >= '0' && c <= '9') || c == '.') {
        return number(in);
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
        return namedValue(in);
    }
    return c == '\0' ? fail(in, "the formula ends where a value is expected")
                     : fail(in, "expected a value");
}

static double signedPower(parser* in);

static double power(parser* in) {
    double base = atom(in);
    if (!in->failed && (takes(in, "**") || takes(in, "^"))) {
        return tpPow(base, signedPower(in));
    }
    return base;
}

// Every way down passes here, so that this is where depth is counted.
static double signedPower(parser* in) {
    if (in->depth == deepest) {
        return fail(in, "the formula is nested too deeply");
    }
    in->depth += 1;
    double value = takes(in, "-") ? -signedPower(in) : takes(in, "+") ? signedPower(in) : power(in);
    in->depth -= 1;
    return value;
}

static double product(parser* in) {
    double value = signedPower(in);
    while (!in->failed) {
        if (takes(in, "*")) {
            value *= signedPower(in);
        } else if (takes(in, "/")) {
            value /= signedPower(in);
        } else {
            break;
        }
    }
    return value;
}

static double sum(parser* in) {
    double value = product(in);
    while (!in->failed) {
        if (takes(in, "+")) {
            value += product(in);
        } else if (takes(in, "-")) {
            value -= product(in);
        } else {
            break;
        }
    }
    return value;
}

static double comparison(parser* in) {
    double left = sum(in);
    if (in->failed) {
        return 0.0;
    }
    if (takes(in, "<=")) {
        return left <= sum(in);
    }
    if (takes(in, ">=")) {
        return left >= sum(in);
    }
    if (takes(in, "<")) {
        return left < sum(in);
    }
    if (takes(in, ">")) {
        return left > sum(in);
    }
    if (takes(in, "==")) {
        return left == sum(in);
    }
    if (takes(in, "!=")) {
        return left != sum(in);
    }
    return left;
}

static double conjunction(parser* in) {
    double value = comparison(in);
    while (!in->failed && takes(in, "&&")) {
        double right = comparison(in);
        value = value != 0.0 && right != 0.0 ? 1.0 : 0.0;
    }
    return value;
}

static double disjunction(parser* in) {
    double value = conjunction(in);
    while (!in->failed && takes(in, "||")) {
        double right = conjunction(in);
        value = value != 0.0 || right != 0.0 ? 1.0 : 0.0;
    }
    return value;
}

bool tpEvaluateFormula(const char* text, const tpFormulaNames* names, double* value,
                       tpFormulaFault* fault) {
    parser in = { .start = text, .at = text, .names = names, .fault = fault };
    *value = disjunction(&in);
    skipBlanks(&in);
    if (!in.failed && *in.at != '\0') {
        fail(&in, "expected an operator or the end");
    }
    return !in.failed;
}

static bool findTime(void* context, const char* name, int length, double* value, char* message) {
    if (length == 1 && name[0] == 't') {
        *value = *(const double*)context;
        return true;
    }
    snprintf(message, sizeof(((tpFormulaFault*)NULL)->message),
             "unknown name '%.*s'; known are t, pi and functions such as sin",
             length < 60 ? length : 60, name);
    return false;
}

bool tpEvaluateAtTime(const char* text, double t, double* value, tpFormulaFault* fault) {
    tpFormulaNames names = { findTime, &t };
    return tpEvaluateFormula(text, &names, value, fault);
}
