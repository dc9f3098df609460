#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tpResult tpError_Set(tpError* error, tpResult result, const char* format, ...) {
    if (error != NULL) {
        error->result = result;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof(error->message), format, arguments);
        va_end(arguments);
    }
    return result;
}

tpResult tpError_OutOfMemory(tpError* error) {
    return tpError_Set(error, tp_outOfMemory, "out of memory");
}

enum { longestName = 63 };

static int smallest(int a, int b, int c) {
    int least = a < b ? a : b;
    return least < c ? least : c;
}

// Edit distance with swaps of neighbours (optimal string alignment).
static int editDistance(const char* a, int lengthA, const char* b, int lengthB) {
    int rows[3][longestName + 1];
    int* before = rows[0];
    int* last = rows[1];
    int* current = rows[2];
    for (int j = 0; j <= lengthB; ++j) {
        last[j] = j;
    }
    for (int i = 1; i <= lengthA; ++i) {
        current[0] = i;
        for (int j = 1; j <= lengthB; ++j) {
            int change = a[i - 1] == b[j - 1] ? 0 : 1;
            current[j] = smallest(last[j] + 1, current[j - 1] + 1, last[j - 1] + change);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < current[j]) {
                current[j] = before[j - 2] + 1;
            }
        }
        int* oldest = before;
        before = last;
        last = current;
        current = oldest;
    }
    return last[lengthB];
}

const char* tpNearestName(const char* word, const char* const* known, int count) {
    size_t length = strlen(word);
    if (length == 0 || length > longestName) {
        return NULL;
    }
    const char* nearest = NULL;
    int least = (int)length / 3 + 1; // a third of the letters may be wrong, and one more
    for (int i = 0; i < count; ++i) {
        size_t knownLength = known[i] != NULL ? strlen(known[i]) : 0;
        if (knownLength == 0 || knownLength > longestName) {
            continue;
        }
        int distance = editDistance(word, (int)length, known[i], (int)knownLength);
        bool extends = length >= 3 && strncmp(word, known[i], length) == 0; // a prefix
        if (distance < least || (distance == least && nearest == NULL)) {
            least = distance;
            nearest = known[i];
        } else if (extends && nearest == NULL) {
            nearest = known[i];
        }
    }
    return nearest;
}
