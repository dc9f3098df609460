#include "scene/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    messageSize = sizeof(((tpFormulaFault*)NULL)->message),
    mostSuggested = 64,
    deepestParameters = 100 // that follow from each other
};

static bool isNamed(const char* name, const char* word, int length) {
    return strncmp(name, word, (size_t)length) == 0 && name[length] == '\0';
}

static tpParameter* findParameter(const tpScope* scope, const char* name, int length) {
    for (int i = 0; i < scope->parameterCount; ++i) {
        if (isNamed(scope->parameters[i].name, name, length)) {
            return &scope->parameters[i];
        }
    }
    return NULL;
}

bool tpScope_Define(tpScope* scope, tpArena* arena, const tpParameter* parameter, bool* isNew) {
    *isNew = findParameter(scope, parameter->name, (int)strlen(parameter->name)) == NULL;
    if (!*isNew) {
        return true;
    }
    if (scope->parameterCount == scope->parameterCapacity) {
        int capacity = scope->parameterCapacity > 0 ? 2 * scope->parameterCapacity : 16;
        tpParameter* more = TP_SCRATCH(arena, tpParameter, capacity);
        if (more == NULL) {
            return false;
        }
        if (scope->parameterCount > 0) {
            memcpy(more, scope->parameters, sizeof(tpParameter) * (size_t)scope->parameterCount);
        }
        scope->parameters = more;
        scope->parameterCapacity = capacity;
    }
    scope->parameters[scope->parameterCount++] = *parameter;
    return true;
}

// Names -------------------------------------------------------------------------------------------

static void suggest(const tpScope* scope, const char* name, int length, char* message) {
    const char* known[mostSuggested];
    char indices[tp_mostIndices][64];
    int count = 0;
    for (int i = scope->indexCount - 1; i >= 0; --i) {
        const tpIndex* index = &scope->indices[i];
        snprintf(indices[i], sizeof(indices[i]), "%.*s", index->length, index->name);
        known[count++] = indices[i];
    }
    for (int i = 0; i < scope->parameterCount && count < mostSuggested; ++i) {
        known[count++] = scope->parameters[i].name;
    }
    char word[64];
    snprintf(word, sizeof(word), "%.*s", length < 63 ? length : 63, name);
    const char* nearest = tpNearestName(word, known, count);
    int used = snprintf(message, messageSize, "unknown name '%s'", word);
    if (nearest != NULL) {
        snprintf(message + used, messageSize - (size_t)used, "; did you mean '%s'?", nearest);
        return;
    }
    for (int i = 0; i < count && used < messageSize - 70; ++i) {
        used += snprintf(message + used, messageSize - (size_t)used, "%s%.60s",
                         i == 0 ? "; known are " : ", ", known[i]);
    }
}

// Evaluates a parameter that nobody asked for before.
static bool evaluateParameter(tpScope* scope, tpParameter* parameter, char* message) {
    // Indices do not reach into parameters, nor does what they ask for count for a repeat.
    int indexCount = scope->indexCount;
    tpFormulaFault fault = { 0, "" };
    if (scope->depth == deepestParameters) {
        snprintf(message, messageSize, "more than %d parameters follow from each other",
                 deepestParameters);
        return false;
    }
    parameter->state = tp_parameterUnderway;
    scope->indexCount = 0;
    scope->depth += 1;
    bool isKnown = tpScope_Evaluate(scope, parameter->formula, &parameter->value, &fault);
    scope->depth -= 1;
    scope->indexCount = indexCount;
    parameter->state = isKnown ? tp_parameterKnown : tp_parameterWaiting;
    if (!isKnown) {
        snprintf(message, messageSize, "in the parameter '%.60s': %.100s", parameter->name,
                 fault.message);
    } else if (!isfinite(parameter->value)) {
        snprintf(message, messageSize, "the parameter '%.60s' is %g, which is not finite",
                 parameter->name, parameter->value);
        parameter->state = tp_parameterWaiting;
        isKnown = false;
    }
    return isKnown;
}

bool tpScope_Find(tpScope* scope, const char* name, int length, double* value, char* message) {
    for (int i = scope->indexCount - 1; i >= 0; --i) {
        if (scope->indices[i].length == length &&
            strncmp(scope->indices[i].name, name, (size_t)length) == 0) {
            scope->used |= (uint32_t)1 << i;
            *value = scope->indices[i].value;
            return true;
        }
    }
    tpParameter* parameter = findParameter(scope, name, length);
    if (parameter == NULL) {
        suggest(scope, name, length, message);
        return false;
    }
    if (parameter->state == tp_parameterUnderway) {
        snprintf(message, messageSize, "the parameter '%.60s' depends on itself", parameter->name);
        return false;
    }
    if (parameter->state == tp_parameterWaiting && !evaluateParameter(scope, parameter, message)) {
        return false;
    }
    *value = parameter->value;
    return true;
}

static bool findName(void* context, const char* name, int length, double* value, char* message) {
    return tpScope_Find(context, name, length, value, message);
}

bool tpScope_Evaluate(tpScope* scope, const char* formula, double* value, tpFormulaFault* fault) {
    tpFormulaNames names = { findName, scope };
    return tpEvaluateFormula(formula, &names, value, fault);
}

void tpScope_Describe(const tpScope* scope, char* buffer, size_t size) {
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < scope->indexCount && used + 80 < size; ++i) {
        const tpIndex* index = &scope->indices[i];
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%.*s = %g", i == 0 ? "" : ", ",
                             index->length < 30 ? index->length : 30, index->name, index->value);
    }
}
