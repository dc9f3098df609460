// Reads command lines by tables, and prints their help.

#include "arguments.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command.h"
#include "completion.h"

enum { helpColumn = 28, helpWidth = 96, mostNames = 64 };

// The words up to NULL; more than mostNames are cut, which only costs suggestions.
static int countNames(const char* const* names) {
    int count = 0;
    while (count < mostNames && names[count] != NULL) {
        ++count;
    }
    return count;
}

void complainOfName(const char* command, const char* what, const char* word,
                    const char* const* known) {
    int count = countNames(known);
    fprintf(stderr, "tippe %s: unknown %s '%s'; ", command, what, word);
    const char* nearest = tpNearestName(word, known, count);
    if (nearest != NULL) {
        fprintf(stderr, "did you mean '%s'?\n", nearest);
        return;
    }
    fprintf(stderr, "known are");
    for (int i = 0; i < count; ++i) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", known[i]);
    }
    fprintf(stderr, "\n");
}

// Help ----------------------------------------------------------------------------------------

void printWrapped(int used, int start, const char* text) {
    int column = used;
    if (column > 0 && column >= start) {
        printf("\n");
        column = 0;
    }
    column += printf("%*s", start - column, "");
    bool first = true;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > helpWidth) {
            column = printf("\n%*s", start, "") - 1;
            first = true;
        }
        column += printf("%s%.*s", first ? "" : " ", length, text);
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void printHelp(const tpArgumentTable* table) {
    printf("usage: tippe %s", table->command);
    for (int i = 0; i < table->operandCount; ++i) {
        printf(table->operands[i].required ? " %s" : " [%s]", table->operands[i].name);
    }
    printf(" [options]\n\n%s\n\n", table->summary);
    for (int i = 0; i < table->operandCount; ++i) {
        printWrapped(printf("  %s", table->operands[i].name), helpColumn, table->operands[i].help);
    }
    for (int i = 0; i < table->optionCount; ++i) {
        const tpArgument* option = &table->options[i];
        int used = printf("  --%s", option->name);
        if (option->kind == optionChoice) {
            for (int k = 0; option->choices[k] != NULL; ++k) {
                used += printf("%c%s", k == 0 ? ' ' : '|', option->choices[k]);
            }
        } else if (option->kind != optionFlag) {
            used += printf(" %s", option->valueName);
        }
        printWrapped(used, helpColumn, option->help);
    }
    printWrapped(printf("  --help"), helpColumn, "print this");
    if (table->notes != NULL) {
        printf("\n%s", table->notes);
    }
}

// Reading -------------------------------------------------------------------------------------

static tpArgumentsResult complainOfValue(const tpArgumentTable* table, const tpArgument* option,
                                         const char* value, const char* expected) {
    fprintf(stderr, "tippe %s: --%s takes %s, not '%s'\n", table->command, option->name, expected,
            value);
    return argumentsWrong;
}

static tpArgumentsResult readNumber(const tpArgumentTable* table, const tpArgument* option,
                                    const char* value) {
    char* end;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(number)) {
        return complainOfValue(table, option, value, "a number");
    }
    if (option->kind == optionPositive && !(number > 0.0)) {
        return complainOfValue(table, option, value, "a number greater than zero");
    }
    *(double*)option->target = number;
    return argumentsParsed;
}

static tpArgumentsResult readCount(const tpArgumentTable* table, const tpArgument* option,
                                   const char* value) {
    char* end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < 0 || number > INT_MAX) {
        return complainOfValue(table, option, value, "a whole number, zero or more");
    }
    *(int*)option->target = (int)number;
    return argumentsParsed;
}

static tpArgumentsResult readChoice(const tpArgumentTable* table, const tpArgument* option,
                                    const char* value) {
    for (int i = 0; option->choices[i] != NULL; ++i) {
        if (strcmp(option->choices[i], value) == 0) {
            *(const char**)option->target = option->choices[i];
            return argumentsParsed;
        }
    }
    char what[80];
    snprintf(what, sizeof(what), "value of --%s", option->name);
    complainOfName(table->command, what, value, option->choices);
    return argumentsWrong;
}

static tpArgumentsResult readList(const tpArgumentTable* table, const tpArgument* option,
                                  const char* value) {
    tpArgumentList* list = option->target;
    if (list->count == longestArgumentList) {
        fprintf(stderr, "tippe %s: --%s is given more than %d times\n", table->command,
                option->name, longestArgumentList);
        return argumentsWrong;
    }
    list->items[list->count++] = value;
    return argumentsParsed;
}

static tpArgumentsResult readValue(const tpArgumentTable* table, const tpArgument* option,
                                   const char* value) {
    switch (option->kind) {
    case optionNumber:
    case optionPositive:
        return readNumber(table, option, value);
    case optionCount:
        return readCount(table, option, value);
    case optionChoice:
        return readChoice(table, option, value);
    case optionList:
        return readList(table, option, value);
    case optionFlag:
    case optionText:
        break;
    }
    *(const char**)option->target = value;
    return argumentsParsed;
}

static tpArgumentsResult complainOfOption(const tpArgumentTable* table, const char* argument,
                                          int length) {
    const char* names[mostNames + 1];
    int count = 0;
    names[count++] = "help";
    for (int i = 0; i < table->optionCount && count < mostNames; ++i) {
        names[count++] = table->options[i].name;
    }
    char word[64];
    int dashes = length > 1 && argument[1] == '-' ? 2 : 1;
    snprintf(word, sizeof(word), "%.*s", length - dashes, argument + dashes);
    const char* nearest = tpNearestName(word, names, count);
    fprintf(stderr, "tippe %s: unknown option %.*s; ", table->command, length, argument);
    if (nearest != NULL) {
        fprintf(stderr, "did you mean --%s?\n", nearest);
    } else {
        fprintf(stderr, "see tippe %s --help\n", table->command);
    }
    return argumentsWrong;
}

// Reads the option at arguments[*index], and its value where that stands by itself.
static tpArgumentsResult readOption(const tpArgumentTable* table, int argumentCount,
                                    char** arguments, int* index) {
    const char* argument = arguments[*index];
    int length = (int)strcspn(argument, "=");
    const tpArgument* option = NULL;
    for (int i = 0; i < table->optionCount && option == NULL; ++i) {
        const char* name = table->options[i].name;
        if (length == (int)strlen(name) + 2 && strncmp(argument, "--", 2) == 0 &&
            strncmp(argument + 2, name, strlen(name)) == 0) {
            option = &table->options[i];
        }
    }
    if (option == NULL) {
        return complainOfOption(table, argument, length);
    }
    bool hasValue = argument[length] == '=';
    if (option->kind == optionFlag) {
        if (hasValue) {
            fprintf(stderr, "tippe %s: --%s takes no value\n", table->command, option->name);
            return argumentsWrong;
        }
        *(bool*)option->target = true;
        return argumentsParsed;
    }
    if (hasValue) {
        return readValue(table, option, argument + length + 1);
    }
    if (*index + 1 == argumentCount || strncmp(arguments[*index + 1], "--", 2) == 0) {
        fprintf(stderr, "tippe %s: --%s needs a value%s%s\n", table->command, option->name,
                option->valueName != NULL ? ": " : "",
                option->valueName != NULL ? option->valueName : "");
        return argumentsWrong;
    }
    *index += 1;
    return readValue(table, option, arguments[*index]);
}

int exitAfter(tpArgumentsResult parsed) {
    return parsed == argumentsHelped ? exitDone : exitBadInput;
}

tpArgumentsResult parseArguments(const tpArgumentTable* table, int argumentCount,
                                 char** arguments) {
    if (argumentCount > 1 && strcmp(arguments[1], completionMark) == 0) {
        completeArguments(table, argumentCount - 2, arguments + 2);
        return argumentsHelped;
    }
    // Help first, so that it is there for someone whose command line is wrong.
    for (int i = 1; i < argumentCount && strcmp(arguments[i], "--") != 0; ++i) {
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            printHelp(table);
            return argumentsHelped;
        }
    }
    int operandsRead = 0;
    bool optionsEnded = false;
    for (int i = 1; i < argumentCount; ++i) {
        const char* argument = arguments[i];
        if (!optionsEnded && strcmp(argument, "--") == 0) {
            optionsEnded = true;
        } else if (!optionsEnded && argument[0] == '-' && argument[1] != '\0') {
            tpArgumentsResult result = readOption(table, argumentCount, arguments, &i);
            if (result != argumentsParsed) {
                return result;
            }
        } else if (operandsRead < table->operandCount) {
            *table->operands[operandsRead++].target = argument;
        } else {
            fprintf(stderr, "tippe %s: unexpected argument '%s'; see tippe %s --help\n",
                    table->command, argument, table->command);
            return argumentsWrong;
        }
    }
    if (operandsRead < table->operandCount && table->operands[operandsRead].required) {
        fprintf(stderr, "tippe %s: %s is missing; see tippe %s --help\n", table->command,
                table->operands[operandsRead].name, table->command);
        return argumentsWrong;
    }
    return argumentsParsed;
}
