// A comparison as one page that needs nothing else: the page of viewer/compare with the data put
// where it says so.

#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "output_file.h"

extern const unsigned char comparePage[]; // viewer/compare/compare.html
extern const size_t comparePageSize;

static const char mark[] = "/*comparison*/null";

// Where the data goes, or NULL.
static const unsigned char* findMark(void) {
    size_t length = strlen(mark);
    for (size_t i = 0; i + length <= comparePageSize; ++i) {
        if (memcmp(comparePage + i, mark, length) == 0) {
            return comparePage + i;
        }
    }
    return NULL;
}

bool writeComparisonPage(const tpComparison* comparison, const char* path) {
    tpOutputFile output;
    const unsigned char* place = findMark();
    if (place == NULL || !openOutput("compare", path, &output)) {
        return false;
    }
    size_t before = (size_t)(place - comparePage), after = before + strlen(mark);
    fwrite(comparePage, 1, before, output.stream);
    writeComparisonJson(comparison, true, output.stream);
    fwrite(comparePage + after, 1, comparePageSize - after, output.stream);
    return commitOutput("compare", &output);
}
