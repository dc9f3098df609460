// Repeats: an entry of a list that stands for many.
//
//     { "repeat": { "i": 3, "j": [1, "i + 1"] }, "where": "i != j", "name": "ball_{i}_{j}", ... }
//     { "repeat": { "i": 3 }, "each": [ {...}, {...} ] }
//
// Indices are nested in their order, the first one outermost; the range of one may follow from
// those before it. The entries are counted first, which is also where a repeat of repeats that
// would never end is found. Of the entries that stand for one object, the first is read as any
// other; the others are copies in which only what asks for an index is read again.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scene/reader.h"

enum { mostRounds = 1 << 23 }; // of all repeats of a scene

static const char repeatKey[] = "repeat", whereKey[] = "where", eachKey[] = "each";

bool tpIsRepeatKey(const char* key) {
    return strcmp(key, repeatKey) == 0 || strcmp(key, whereKey) == 0;
}

// An entry, taken apart.
typedef struct Repeat {
    bool isOne;    // neither repeated nor on a condition: an entry as any other
    bool hasWhere; // `where` is there
    bool hasEach;  // it stands for a list, `each`
    tpJson entry, where, each;
    tpJson ranges[tp_mostIndices];
    tpIndex indices[tp_mostIndices]; // names only
    int indexCount;
    tpScenePlace place; // of the key "repeat"
} Repeat;

// Ranges ------------------------------------------------------------------------------------------

typedef struct Range {
    double first, step;
    int64_t count;
} Range;

// The name of an index, for messages.
typedef struct Name {
    char text[64];
} Name;

static Name nameOf(const tpIndex* index) {
    Name name;
    snprintf(name.text, sizeof(name.text), "%.*s", index->length < 63 ? index->length : 63,
             index->name);
    return name;
}

static tpResult readNumberOrFormula(tpReader* reader, const char* name, double* number) {
    if (tpJson_Peek(&reader->json) == tp_jsonText) {
        return tpReadFormula(reader, name, number);
    }
    tpResult result =
        tpExpect(reader, tp_jsonNumber, name, "a number of rounds, or an array of first and last");
    if (result == tp_success && !tpJson_ReadNumber(&reader->json, number)) {
        return TP_FAIL(reader, tpJson_Place(&reader->json), "numbers must be finite");
    }
    return result;
}

// "i": count, [first, last] or [first, last, step].
static tpResult readRange(tpReader* reader, const Repeat* repeat, int index, Range* range) {
    Name named = nameOf(&repeat->indices[index]);
    const char* name = named.text;
    reader->json = repeat->ranges[index];
    tpScenePlace place = tpJson_Place(&reader->json);
    double numbers[3] = { 0.0, 0.0, 1.0 };
    tpResult result = tp_success;
    if (tpJson_Peek(&reader->json) != tp_jsonArray) {
        result = readNumberOrFormula(reader, name, &numbers[1]);
        if (result == tp_success &&
            (numbers[1] != floor(numbers[1]) || numbers[1] < 0.0 || numbers[1] > mostRounds)) {
            return TP_FAIL(reader, place, "\"%.60s\" takes a whole number from 0 to %d, found %g",
                           name, mostRounds, numbers[1]);
        }
        *range = (Range){ 0.0, 1.0, (int64_t)numbers[1] };
        return result;
    }
    int count = tpJson_CountItems(&reader->json);
    if (count != 2 && count != 3) {
        return TP_FAIL(reader, place, "\"%.60s\" takes [first, last] or [first, last, step]", name);
    }
    tpJson_Enter(&reader->json);
    for (int i = 0; result == tp_success && tpJson_Next(&reader->json); ++i) {
        result = readNumberOrFormula(reader, name, &numbers[i]);
    }
    if (result != tp_success) {
        return result;
    }
    // A last value that rounding has put just behind itself still counts.
    double rounds = floor((numbers[1] - numbers[0]) / numbers[2] + 1e-9) + 1.0;
    if (!(rounds <= mostRounds)) {
        return TP_FAIL(reader, place, "\"%.60s\" from %g to %g by %g: %s", name, numbers[0],
                       numbers[1], numbers[2],
                       numbers[2] == 0.0 ? "a step cannot be 0" : "too many rounds");
    }
    *range = (Range){ numbers[0], numbers[2], rounds > 0.0 ? (int64_t)rounds : 0 };
    return tp_success;
}

// Taking apart ------------------------------------------------------------------------------------

static tpResult checkIndexName(tpReader* reader, tpScenePlace place, const tpIndex* index,
                               const Repeat* repeat) {
    Name name = nameOf(index);
    int length = tpFormulaNameLength(name.text);
    if (length == 0 || length != index->length) {
        return TP_FAIL(reader, place, "an index has letters, digits and _ only, found \"%s\"",
                       name.text);
    }
    double value;
    char message[256] = "";
    bool isTaken = tpIsFormulaWord(name.text, length) || strcmp(name.text, "t") == 0 ||
                   tpScope_Find(&reader->scope, name.text, length, &value, message);
    for (int i = 0; i < repeat->indexCount && !isTaken; ++i) {
        isTaken = strcmp(nameOf(&repeat->indices[i]).text, name.text) == 0;
    }
    return isTaken ? TP_FAIL(reader, place, "the name \"%s\" is taken already", name.text)
                   : tp_success;
}

// The indices of the object at the cursor, which is the value of "repeat".
static tpResult readIndices(tpReader* reader, Repeat* repeat) {
    tpResult result =
        tpExpect(reader, tp_jsonObject, repeatKey, "an object of indices, such as { \"i\": 10 }");
    if (result != tp_success) {
        return result;
    }
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        tpScenePlace place = tpJson_Place(&reader->json);
        tpIndex index = { .value = 0.0 };
        index.name = tpJson_RawKey(&reader->json, &index.length);
        if (reader->scope.indexCount + repeat->indexCount == tp_mostIndices) {
            return TP_FAIL(reader, place, "more than %d indices within each other", tp_mostIndices);
        }
        result = checkIndexName(reader, place, &index, repeat);
        repeat->indices[repeat->indexCount] = index;
        repeat->ranges[repeat->indexCount++] = reader->json;
        tpJson_Skip(&reader->json);
    }
    return result;
}

static bool isKey(const char* key, int length, const char* word) {
    return (int)strlen(word) == length && strncmp(key, word, (size_t)length) == 0;
}

// Looks for the keys of repeats in the entry at the cursor, which stays there.
static tpResult takeApart(tpReader* reader, Repeat* repeat) {
    *repeat = (Repeat){ .isOne = true, .entry = reader->json };
    if (!reader->sources[reader->json.file].mayRepeat ||
        tpJson_Peek(&reader->json) != tp_jsonObject) {
        return tp_success;
    }
    tpResult result = tp_success;
    tpIndex other = { .name = NULL }; // a key that is neither of a repeat nor "each"
    tpScenePlace otherPlace = { 0, 0, 0 };
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        tpScenePlace place = tpJson_Place(&reader->json);
        int length;
        const char* key = tpJson_RawKey(&reader->json, &length);
        if (isKey(key, length, repeatKey)) {
            repeat->isOne = false;
            repeat->place = place;
            tpJson value = reader->json;
            result = readIndices(reader, repeat);
            reader->json = value;
        } else if (isKey(key, length, whereKey)) {
            repeat->isOne = false;
            repeat->hasWhere = true;
            repeat->where = reader->json;
            repeat->place = repeat->place.line > 0 ? repeat->place : place;
        } else if (isKey(key, length, eachKey)) {
            repeat->hasEach = true;
            repeat->each = reader->json;
        } else if (other.name == NULL) {
            other = (tpIndex){ key, length, 0.0 };
            otherPlace = place;
        }
        if (result == tp_success) {
            tpJson_Skip(&reader->json);
        }
    }
    if (result == tp_success && repeat->hasEach && !repeat->isOne && other.name != NULL) {
        result = TP_FAIL(reader, otherPlace,
                         "beside \"each\" stand \"repeat\" and \"where\" only, found \"%s\"",
                         nameOf(&other).text);
    }
    repeat->hasEach = repeat->hasEach && !repeat->isOne;
    if (result == tp_success) {
        reader->json = repeat->entry;
    }
    return result;
}

// Going round -------------------------------------------------------------------------------------

typedef tpResult Visit(tpReader* reader, const Repeat* repeat, void* context);

static tpResult isWanted(tpReader* reader, const Repeat* repeat, bool* wanted) {
    double value = 1.0;
    tpResult result = tp_success;
    if (repeat->hasWhere) {
        reader->json = repeat->where;
        result = tpExpect(reader, tp_jsonText, whereKey, "a formula in quotes");
        result = result == tp_success ? tpReadFormula(reader, whereKey, &value) : result;
    }
    *wanted = value != 0.0;
    return result;
}

// One round of all indices from number `depth` on.
static tpResult goRound(tpReader* reader, const Repeat* repeat, int depth, Visit* visit,
                        void* context) {
    tpScope* scope = &reader->scope;
    if (++reader->roundCount > mostRounds) {
        return TP_FAIL(reader, repeat->place, "the repeats of a scene go at most %d rounds",
                       mostRounds);
    }
    if (depth == repeat->indexCount) {
        bool wanted;
        tpResult result = isWanted(reader, repeat, &wanted);
        return result == tp_success && wanted ? visit(reader, repeat, context) : result;
    }
    Range range = { 0.0, 0.0, 0 };
    tpResult result = readRange(reader, repeat, depth, &range);
    if (result != tp_success) {
        return result;
    }
    tpIndex* index = &scope->indices[scope->indexCount++];
    *index = repeat->indices[depth];
    for (int64_t k = 0; result == tp_success && k < range.count; ++k) {
        index->value = range.first + (double)k * range.step;
        result = goRound(reader, repeat, depth + 1, visit, context);
    }
    scope->indexCount -= 1;
    return result;
}

// Counting ----------------------------------------------------------------------------------------

static tpResult countEntry(tpReader* reader, int32_t* count);

static tpResult countArray(tpReader* reader, int32_t* count) {
    tpResult result = tp_success;
    tpJson_Enter(&reader->json);
    while (result == tp_success && tpJson_Next(&reader->json)) {
        tpJson value = reader->json;
        result = countEntry(reader, count);
        reader->json = value;
        tpJson_Skip(&reader->json);
    }
    return result;
}

static tpResult countVisit(tpReader* reader, const Repeat* repeat, void* context) {
    int32_t* count = context;
    if (!repeat->hasEach) {
        *count += 1;
        reader->partCount += 1;
    } else {
        reader->json = repeat->each;
        tpResult result = tpExpect(reader, tp_jsonArray, eachKey, "an array of entries");
        result = result == tp_success ? countArray(reader, count) : result;
        if (result != tp_success) {
            return result;
        }
    }
    if (reader->partCount > TP_MOST_SCENE_PARTS) {
        return TP_FAIL(reader, repeat->place,
                       "the repeats of a scene make at most %d entries, this one would make more",
                       TP_MOST_SCENE_PARTS);
    }
    return tp_success;
}

static tpResult countEntry(tpReader* reader, int32_t* count) {
    Repeat repeat;
    tpResult result = takeApart(reader, &repeat);
    if (result == tp_success && repeat.isOne) {
        *count += 1;
        return tp_success;
    }
    return result == tp_success ? goRound(reader, &repeat, 0, countVisit, count) : result;
}

tpResult tpCountEntries(tpReader* reader, int32_t* count) {
    *count = 0;
    if (!reader->sources[reader->json.file].mayRepeat) {
        *count = tpJson_CountItems(&reader->json);
        return tp_success;
    }
    tpJson array = reader->json;
    uint32_t used = reader->scope.used;
    int64_t roundCount = reader->roundCount;
    tpResult result = countArray(reader, count);
    reader->json = array;
    reader->scope.used = used;
    reader->roundCount = result == tp_success ? roundCount : reader->roundCount; // for reading
    return result;
}

// Reading -----------------------------------------------------------------------------------------

typedef struct Reading {
    const tpFamily* family;
    char** item;
    int firstIndex;
    bool hasPlan;
    char* first; // the entry that the plan was made with
    tpRecordPlan plan;
} Reading;

static tpResult readVisit(tpReader* reader, const Repeat* repeat, void* context) {
    Reading* reading = context;
    if (repeat->hasEach) {
        reader->json = repeat->each;
        tpResult result = tp_success;
        tpJson_Enter(&reader->json);
        while (result == tp_success && tpJson_Next(&reader->json)) {
            result = tpReadEntries(reader, reading->family, reading->item);
        }
        return result;
    }
    char* part = *reading->item;
    *reading->item += reading->family->size;
    if (reading->hasPlan) {
        return tpReadEntryAgain(reader, &reading->plan, reading->first, reading->family->size,
                                part);
    }
    int errorCount = reader->errorCount;
    reader->json = repeat->entry;
    tpResult result =
        tpReadEntry(reader, reading->family, part, reading->firstIndex, &reading->plan);
    // An entry that is wrong is so in every round: it is told once.
    reading->hasPlan = result == tp_success && reader->errorCount == errorCount;
    reading->first = part;
    return result == tp_success && !reading->hasPlan ? tp_unsupported : result;
}

tpResult tpReadEntries(tpReader* reader, const tpFamily* family, char** item) {
    Repeat repeat;
    tpJson value = reader->json;
    tpResult result = takeApart(reader, &repeat);
    if (result == tp_success && repeat.isOne) {
        char* part = *item;
        *item += family->size;
        return tpReadEntry(reader, family, part, 0, NULL);
    }
    if (result == tp_success) {
        Reading reading = { .family = family, .item = item };
        reading.firstIndex = reader->scope.indexCount;
        result = goRound(reader, &repeat, 0, readVisit, &reading);
        reader->scope.indexCount = reading.firstIndex;
        if (result == tp_unsupported) { // told already
            result = tp_success;
        }
    }
    if (result == tp_badInput && tpReader_GoOn(reader, result)) {
        result = tp_success;
    }
    if (result == tp_success) {
        reader->json = value;
        tpJson_Skip(&reader->json);
    }
    return result;
}
