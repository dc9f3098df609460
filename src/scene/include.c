// The files of a scene: the scene itself, those that it includes, and the parameters of all of
// them.
//
// Files are read in the order in which they are named, each before the one that includes it, so
// that what a file says itself replaces what it includes. A file is read once, however often it is
// named. The parameters of an including file come first: those of the file that it includes are
// then defaults.

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/input_file.h"
#include "base/part_file.h"
#include "scene/reader.h"

enum { deepestIncludes = 16 };

typedef struct Opening {
    tpReader* reader;
    int* order;
    int orderCount;
    int stack[deepestIncludes]; // files that are being opened, each included by the one before
    int depth;
    size_t length; // of all files so far
} Opening;

// Parameters --------------------------------------------------------------------------------------

static tpResult checkParameterName(tpReader* reader, tpScenePlace place, const char* name) {
    int length = tpFormulaNameLength(name);
    if (length == 0 || name[length] != '\0' || length > 63) {
        return TP_FAIL(reader, place,
                       "a parameter has a name of letters, digits and _ only, found \"%.80s\"",
                       name);
    }
    if (tpIsFormulaWord(name, length) || strcmp(name, "t") == 0) {
        return TP_FAIL(reader, place, "the name \"%s\" is taken: formulas use it", name);
    }
    return tp_success;
}

static tpResult readParameter(tpReader* reader) {
    tpScenePlace place = tpJson_Place(&reader->json);
    size_t length;
    tpParameter parameter = { .state = tp_parameterKnown };
    parameter.name = tpJson_ReadKey(&reader->json, reader->arena, &length);
    parameter.place = tpJson_Place(&reader->json);
    if (parameter.name == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    tpResult result = checkParameterName(reader, place, parameter.name);
    if (result != tp_success) {
        return result;
    }
    if (tpJson_Peek(&reader->json) == tp_jsonText) {
        parameter.formula = tpReadString(reader, true);
        parameter.state = tp_parameterWaiting;
        result = parameter.formula != NULL ? tp_success : reader->error->result;
    } else {
        result =
            tpExpect(reader, tp_jsonNumber, parameter.name, "a number, or a formula in quotes");
        if (result == tp_success && !tpJson_ReadNumber(&reader->json, &parameter.value)) {
            result = TP_FAIL(reader, parameter.place, "numbers must be finite");
        }
    }
    if (result == tp_success && reader->scope.parameterCount == tp_mostParameters) {
        result = TP_FAIL(reader, place, "a scene has at most %d parameters", tp_mostParameters);
    }
    bool isNew;
    if (result == tp_success &&
        !tpScope_Define(&reader->scope, reader->arena, &parameter, &isNew)) {
        result = tpError_OutOfMemory(reader->error);
    }
    if (result == tp_success && !isNew) {
        // Of an including file: it stays. Of the same file: a slip.
        for (int i = 0; i < reader->scope.parameterCount; ++i) {
            const tpParameter* other = &reader->scope.parameters[i];
            if (strcmp(other->name, parameter.name) == 0 && other->place.file == place.file) {
                return TP_FAIL(reader, place, "the parameter \"%s\" stands twice", parameter.name);
            }
        }
    }
    return result;
}

static tpResult readParameters(tpReader* reader) {
    tpResult result =
        tpExpect(reader, tp_jsonObject, "parameters", "an object of names and numbers");
    if (result != tp_success) {
        return result;
    }
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        result = readParameter(reader);
    }
    return result;
}

// Each parameter once, so that what is wrong with one is told at its place.
static tpResult evaluateParameters(tpReader* reader) {
    tpScope* scope = &reader->scope;
    for (int i = 0; i < scope->parameterCount; ++i) {
        const tpParameter* parameter = &scope->parameters[i];
        double value;
        char message[256] = "";
        if (!tpScope_Find(scope, parameter->name, (int)strlen(parameter->name), &value, message)) {
            return TP_FAIL(reader, parameter->place, "%s", message);
        }
    }
    return tp_success;
}

// Files -------------------------------------------------------------------------------------------

static const char* keepText(tpArena* arena, const char* text, size_t length) {
    char* copy = tpArena_Get(arena, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

// Whether a key of repeats may stand in the text; a look that is cheap and errs on the safe side.
static bool mayRepeat(const char* text) {
    return strstr(text, "\"repeat\"") != NULL || strstr(text, "\"where\"") != NULL;
}

static tpResult readText(Opening* opening, tpScenePlace place, const char* path,
                         tpSourceFile* source) {
    tpReader* reader = opening->reader;
    int64_t size;
    tpError error;
    FILE* file = tpOpenInput(path, &size, &error);
    if (file == NULL) {
        return TP_FAIL(reader, place, "%.700s", error.message);
    }
    char* text = NULL;
    tpResult result = tp_success;
    if (size < 0) {
        result = TP_FAIL(reader, place, "%.600s is not a regular file", path);
    } else if (opening->length + (size_t)size > TP_LONGEST_SCENE) {
        result = TP_FAIL(reader, place, "the files of a scene have at most %zu bytes together",
                         TP_LONGEST_SCENE);
    } else if ((text = tpArena_Get(reader->arena, (size_t)size + 1)) == NULL) {
        result = tpError_OutOfMemory(reader->error);
    } else if (fread(text, 1, (size_t)size, file) != (size_t)size) {
        result = TP_FAIL(reader, place, "%.600s could not be read to its end", path);
    }
    fclose(file);
    if (result == tp_success) {
        text[size] = '\0';
        source->text = text;
        source->length = (size_t)size;
        opening->length += (size_t)size;
    }
    return result;
}

// The file of an include by its real path among those that are open; -1: it is new.
static int findSource(const tpReader* reader, const char* path) {
    char real[tp_pathCapacity], other[tp_pathCapacity];
    if (!tpResolvePath(path, real, sizeof(real))) {
        return -1;
    }
    for (int i = 0; i < reader->sourceCount; ++i) {
        if (tpResolvePath(reader->sources[i].path, other, sizeof(other)) &&
            strcmp(real, other) == 0) {
            return i;
        }
    }
    return -1;
}

// "a.json includes b.json, which includes a.json".
static tpResult failCycle(Opening* opening, tpScenePlace place, int again) {
    const tpReader* reader = opening->reader;
    char words[600] = "";
    size_t used = 0;
    bool isInside = false;
    for (int i = 0; i < opening->depth && used + 100 < sizeof(words); ++i) {
        isInside = isInside || opening->stack[i] == again;
        if (isInside) {
            used += (size_t)snprintf(words + used, sizeof(words) - used, "%.80s includes ",
                                     reader->sources[opening->stack[i]].path);
        }
    }
    return TP_FAIL(opening->reader, place, "files include each other in a circle: %s%.80s", words,
                   reader->sources[again].path);
}

static tpResult openSource(Opening* opening, int index);

// The file that an include names, from the file whose number is `from`.
static tpResult addSource(Opening* opening, int from, tpScenePlace place, const char* name) {
    tpReader* reader = opening->reader;
    const char* base = reader->sources[from].path;
    const char* slash = strrchr(base, '/');
    char path[tp_pathCapacity], folder[tp_pathCapacity];
    bool isAbsolute = name[0] == '/';
    int directory = isAbsolute || slash == NULL ? 0 : (int)(slash - base) + 1;
    int length = snprintf(path, sizeof(path), "%.*s%s", directory, base, name);
    const char* nameSlash = strrchr(name, '/');
    int nameDirectory = nameSlash != NULL ? (int)(nameSlash - name) + 1 : 0;
    snprintf(folder, sizeof(folder), "%s%.*s", isAbsolute ? "" : reader->sources[from].folder,
             nameDirectory, name);
    if (length >= (int)sizeof(path)) {
        return TP_FAIL(reader, place, "the path of the file is too long");
    }
    int known = findSource(reader, path);
    for (int i = 0; i < opening->depth; ++i) {
        if (opening->stack[i] == known) {
            return failCycle(opening, place, known);
        }
    }
    if (known >= 0) {
        return tp_success;
    }
    if (reader->sourceCount == tp_mostSourceFiles || opening->depth == deepestIncludes) {
        return TP_FAIL(reader, place, "a scene has at most %d files, nested at most %d deep",
                       tp_mostSourceFiles, deepestIncludes);
    }
    tpSourceFile source = { .path = keepText(reader->arena, path, strlen(path)),
                            .folder = keepText(reader->arena, folder, strlen(folder)) };
    if (source.path == NULL || source.folder == NULL) {
        return tpError_OutOfMemory(reader->error);
    }
    tpResult result = readText(opening, place, path, &source);
    if (result != tp_success) {
        return result;
    }
    reader->sources[reader->sourceCount++] = source;
    return openSource(opening, reader->sourceCount - 1);
}

static tpResult readIncludes(Opening* opening, int from) {
    tpReader* reader = opening->reader;
    bool isList = tpJson_Peek(&reader->json) == tp_jsonArray;
    if (isList) {
        tpJson_Enter(&reader->json);
    }
    tpResult result = tp_success;
    while (result == tp_success && (!isList || tpJson_Next(&reader->json))) {
        tpScenePlace place = tpJson_Place(&reader->json);
        result =
            tpExpect(reader, tp_jsonText, "include", "the path of a file, or an array of them");
        const char* name = result == tp_success ? tpReadString(reader, true) : NULL;
        if (result == tp_success && name == NULL) {
            result = reader->error->result;
        }
        if (result == tp_success) {
            tpJson rest = reader->json;
            result = addSource(opening, from, place, name);
            reader->json = result == tp_success ? rest : reader->json;
        }
        if (!isList) {
            break;
        }
    }
    return result;
}

// Checks a file, takes its parameters, and opens what it includes.
static tpResult openSource(Opening* opening, int index) {
    tpReader* reader = opening->reader;
    tpSourceFile* source = &reader->sources[index];
    source->mayRepeat = mayRepeat(source->text);
    tpResult result = tpJson_Open(&reader->json, source->path, index, source->text, source->length,
                                  reader->error);
    if (result != tp_success) {
        reader->failedAt = tpJson_Place(&reader->json);
        return result;
    }
    if (tpJson_Peek(&reader->json) != tp_jsonObject) {
        opening->order[opening->orderCount++] = index;
        return tp_success; // reading it will tell
    }
    opening->stack[opening->depth++] = index;
    tpJson include = { .text = NULL };
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        int length;
        const char* key = tpJson_RawKey(&reader->json, &length);
        tpJson value = reader->json;
        if (length == 10 && strncmp(key, "parameters", 10) == 0) {
            result = readParameters(reader);
        } else if (length == 7 && strncmp(key, "include", 7) == 0) {
            include = value;
        }
        if (result == tp_success) {
            reader->json = value;
            tpJson_Skip(&reader->json);
        }
    }
    if (result == tp_success && include.text != NULL) {
        reader->json = include;
        result = readIncludes(opening, index);
    }
    opening->depth -= 1;
    opening->order[opening->orderCount++] = index;
    return result;
}

tpResult tpOpenSources(tpReader* reader, int order[tp_mostSourceFiles]) {
    Opening opening = { .reader = reader, .order = order };
    tpScene* scene = reader->scene;
    reader->sources[0] = (tpSourceFile){
        .path = scene->path, .folder = "", .text = scene->text, .length = scene->textLength
    };
    reader->sourceCount = 1;
    opening.length = scene->textLength;
    tpResult result = openSource(&opening, 0);
    return result == tp_success ? evaluateParameters(reader) : result;
}
