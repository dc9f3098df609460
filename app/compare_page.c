// A comparison as one page that needs nothing else: the page of viewer/src/compare.js with the data
// in it.

#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "page_file.h"

bool writeComparisonPage(const tpComparison* comparison, const char* path) {
    tpPageFile file;
    if (!openPageFile("compare", path, tpComparePage(), &file)) {
        return false;
    }
    char* json = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&json, &size);
    if (stream != NULL) {
        writeComparisonJson(comparison, true, stream);
    }
    if (stream == NULL || fclose(stream) != 0) {
        file.failed = true;
    } else {
        putPageText(&file, "comparison", json);
    }
    free(json);
    return closePageFile("compare", &file);
}
