// What runs are held against, and how far from it they are.
//
// Whatever it comes from, the truth is a table of states at the sample times, with NaN for what is
// not known; every error is computed from it in the same way.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/input_file.h"
#include "compare.h"

// Samples and states of a comparison stay within these, by leaving out times.
enum { mostSamples = 2000 };
static const double mostSampleBytes = 64e6; // a run

static const char* const coordinateNames[tp_stateWidth] = { "x",  "y",  "z",  "qw", "qx",
                                                            "qy", "qz", "vx", "vy", "vz",
                                                            "wx", "wy", "wz" };

static size_t widthOf(const tpComparison* comparison) {
    return (size_t)comparison->movingCount * tp_stateWidth;
}

static int sampleLimit(const tpComparison* comparison) {
    double bytes = (double)widthOf(comparison) * sizeof(double);
    double fitting = bytes > 0.0 ? mostSampleBytes / bytes : mostSamples;
    return fitting < 2.0 ? 2 : fitting < mostSamples ? (int)fitting : mostSamples;
}

// The table of the truth, all unknown. False if memory ran out.
static bool makeTruth(tpComparison* comparison) {
    size_t count = (size_t)comparison->sampleCount * widthOf(comparison);
    comparison->truth = malloc((count > 0 ? count : 1) * sizeof(double));
    for (size_t i = 0; comparison->truth != NULL && i < count; ++i) {
        comparison->truth[i] = NAN;
    }
    return comparison->truth != NULL;
}

bool chooseSampleTimes(tpComparison* comparison) {
    double interval = 0.0;
    for (int i = 0; i < comparison->runCount; ++i) {
        interval = fmax(interval, comparison->runs[i].step);
    }
    double count = floor(comparison->until / interval + 1e-9);
    double every = fmax(ceil(count / (sampleLimit(comparison) - 1)), 1.0);
    comparison->sampleCount = (int)floor(count / every) + 1;
    comparison->times = malloc((size_t)comparison->sampleCount * sizeof(double));
    for (int i = 0; comparison->times != NULL && i < comparison->sampleCount; ++i) {
        comparison->times[i] = (double)i * every * interval;
    }
    return comparison->times != NULL && makeTruth(comparison);
}

bool evaluateClosedForms(tpComparison* comparison) {
    const tpScene* scene = comparison->scene;
    for (int i = 0; i < scene->closedForms.count; ++i) {
        const tpSceneClosedForm* form = &scene->closedForms.items[i];
        int moving = 0;
        for (int b = 0; b < form->body.index; ++b) {
            moving += scene->bodies.items[b].kind != tp_fixedBody ? 1 : 0;
        }
        size_t column = (size_t)moving * tp_stateWidth + (size_t)form->coordinate;
        for (int s = 0; s < comparison->sampleCount; ++s) {
            double time = comparison->times[s];
            if (time >= form->from && time <= form->to) {
                comparison->truth[(size_t)s * widthOf(comparison) + column] =
                    tpScene_EvaluateClosedForm(scene, i, time);
            }
        }
    }
    snprintf(comparison->against, sizeof(comparison->against), "the scene's closed form");
    return true;
}

bool takeFinestAsTruth(tpComparison* comparison) {
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        if (run->isTruth && run->outcome->status == runDone) {
            memcpy(comparison->truth, run->states,
                   (size_t)run->outcome->sampleCount * widthOf(comparison) * sizeof(double));
            snprintf(comparison->against, sizeof(comparison->against), "%s at step %.6g s",
                     tpStepperName(run->stepper), run->step);
            return true;
        }
    }
    snprintf(comparison->against, sizeof(comparison->against),
             "nothing: the finest run did not end");
    return false;
}

// Reference files -----------------------------------------------------------------------------

// A table that is taken apart in place, line by line and cell by cell.
typedef struct tpTableFile {
    const char* path;
    char* text;
    char* rest; // of the text
    int line;   // from one
    char* lineStart;
    char* cells; // of the line, those not yet taken; NULL after the last
} tpTableFile;

static bool complainOfFile(const char* message) {
    fprintf(stderr, "tippe compare: %s\n", message);
    return false;
}

static bool readWhole(const char* path, char** text) {
    tpError error;
    int64_t size;
    *text = NULL;
    FILE* file = tpOpenInput(path, &size, &error);
    if (file == NULL) {
        return complainOfFile(error.message);
    }
    *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    bool isRead = *text != NULL && fread(*text, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (isRead) {
        (*text)[size] = '\0';
    }
    bool isText = isRead && strlen(*text) == (size_t)size;
    if (!isText) {
        tpError_Set(&error, tp_ioError, "%s: %s", path,
                    size < 0        ? "is not a regular file"
                    : isRead        ? "a zero byte is no text"
                    : *text != NULL ? "could not be read to its end"
                                    : "out of memory");
        complainOfFile(error.message);
    }
    return isText;
}

static bool complainOfTable(const tpTableFile* file, const char* at, const char* what) {
    fprintf(stderr, "%s:%d:%d: %s\n", file->path, file->line, (int)(at - file->lineStart) + 1,
            what);
    return false;
}

// False at the end of the file.
static bool nextLine(tpTableFile* file) {
    if (*file->rest == '\0') {
        return false;
    }
    file->lineStart = file->cells = file->rest;
    size_t length = strcspn(file->rest, "\n");
    file->rest += length + (file->rest[length] == '\n' ? 1 : 0);
    file->lineStart[length] = '\0';
    if (length > 0 && file->lineStart[length - 1] == '\r') {
        file->lineStart[length - 1] = '\0';
    }
    file->line += 1;
    return true;
}

// The next cell of the line without the blanks around it; NULL after the last.
static char* nextCell(tpTableFile* file) {
    char* cell = file->cells;
    if (cell == NULL) {
        return NULL;
    }
    char* end = cell + strcspn(cell, ",");
    file->cells = *end == ',' ? end + 1 : NULL;
    while (end > cell && (end[-1] == ' ' || end[-1] == '\t')) {
        --end;
    }
    *end = '\0';
    return cell + strspn(cell, " \t");
}

static int findColumn(const tpComparison* comparison, const char* name) {
    const char* dot = strrchr(name, '.');
    for (int b = 0; dot != NULL && b < comparison->movingCount; ++b) {
        const char* body = comparison->movingNames[b];
        if (strlen(body) != (size_t)(dot - name) || strncmp(body, name, strlen(body)) != 0) {
            continue;
        }
        for (int k = 0; k < tp_stateWidth; ++k) {
            if (strcmp(coordinateNames[k], dot + 1) == 0) {
                return b * tp_stateWidth + k;
            }
        }
    }
    return -1;
}

enum { mostColumns = 4096 };

// The header: for each column its place in a row of states, -1 if the scene has no such thing.
static bool readHeader(tpTableFile* file, const tpComparison* comparison, int* columns,
                       int* columnCount) {
    int known = 0;
    *columnCount = 0;
    if (!nextLine(file)) {
        fprintf(stderr, "%s:1:1: the file is empty\n", file->path);
        return false;
    }
    for (char* name; (name = nextCell(file)) != NULL; *columnCount += 1) {
        if (*columnCount == mostColumns) {
            return complainOfTable(file, name, "more than 4096 columns");
        }
        if (*columnCount == 0 && strcmp(name, "time") != 0) {
            return complainOfTable(file, name, "the first column is to be \"time\"");
        }
        columns[*columnCount] = *columnCount == 0 ? -1 : findColumn(comparison, name);
        known += columns[*columnCount] >= 0 ? 1 : 0;
    }
    return known > 0 ||
           complainOfTable(file, file->lineStart,
                           "no column belongs to a body of the scene; columns are called NAME.x, "
                           "as --csv writes them");
}

static bool readRow(tpTableFile* file, int columnCount, double* row) {
    for (int i = 0; i < columnCount; ++i) {
        char* cell = nextCell(file);
        if (cell == NULL) {
            return complainOfTable(file, file->lineStart,
                                   "the row has fewer columns than the header");
        }
        char* end;
        row[i] = strtod(cell, &end);
        if (end == cell || *end != '\0' || (i == 0 && !isfinite(row[i]))) {
            return complainOfTable(file, cell, "expected a number");
        }
    }
    char* more = nextCell(file);
    return more == NULL || complainOfTable(file, more, "the row has more columns than the header");
}

static int countRows(const char* text) {
    int count = 1;
    for (const char* at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        ++count;
    }
    return count;
}

// Every `every`-th row of the file up to the end of the runs becomes a sample.
static bool readRows(tpTableFile* file, tpComparison* comparison, const int* columns,
                     int columnCount, int every) {
    double row[mostColumns];
    double before = -INFINITY;
    for (int number = 0; nextLine(file); ++number) {
        if (!readRow(file, columnCount, row)) {
            return false;
        }
        if (!(row[0] > before) || row[0] < 0.0) {
            return complainOfTable(file, file->lineStart,
                                   "times are to start at 0 or later and to ascend");
        }
        before = row[0];
        if (number % every != 0 || row[0] > comparison->until * (1.0 + 1e-12)) {
            continue;
        }
        comparison->times[comparison->sampleCount] = row[0];
        double* truth = comparison->truth + widthOf(comparison) * (size_t)comparison->sampleCount;
        for (int i = 1; i < columnCount; ++i) {
            if (columns[i] >= 0) {
                truth[columns[i]] = row[i];
            }
        }
        comparison->sampleCount += 1;
    }
    return true;
}

bool readReference(tpComparison* comparison, const char* path) {
    tpTableFile file = { .path = path };
    if (!readWhole(path, &file.text)) {
        free(file.text);
        return false;
    }
    file.rest = file.text;
    int rows = countRows(file.text), limit = sampleLimit(comparison);
    int every = rows > limit ? (rows + limit - 1) / limit : 1;
    int columns[mostColumns], columnCount;
    bool isRead = readHeader(&file, comparison, columns, &columnCount);
    if (isRead) {
        comparison->sampleCount = (rows + every - 1) / every;
        comparison->times = malloc((size_t)comparison->sampleCount * sizeof(double));
        isRead = comparison->times != NULL && makeTruth(comparison);
        comparison->sampleCount = 0;
    }
    isRead = isRead && readRows(&file, comparison, columns, columnCount, every);
    if (isRead && comparison->sampleCount == 0) {
        isRead = complainOfTable(&file, file.lineStart, "no row lies within the time of the runs");
    }
    free(file.text);
    const char* slash = strrchr(path, '/');
    snprintf(comparison->against, sizeof(comparison->against), "%.140s",
             slash != NULL ? slash + 1 : path);
    return isRead;
}

// Errors --------------------------------------------------------------------------------------

// The length of the difference over the coordinates that the truth knows; NaN if it knows none.
static double distance(const double* state, const double* truth, int first) {
    double sum = 0.0;
    bool isKnown = false;
    for (int k = first; k < first + 3; ++k) {
        if (!isnan(truth[k])) {
            sum += (state[k] - truth[k]) * (state[k] - truth[k]);
            isKnown = true;
        }
    }
    return isKnown ? sqrt(sum) : NAN;
}

// The angle between two orientations; signs of quaternions do not matter. By its sine, so that it
// is exact for small angles.
static double angleBetween(const double* a, const double* b) {
    if (isnan(b[0]) || isnan(b[1]) || isnan(b[2]) || isnan(b[3])) {
        return NAN;
    }
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot < 0.0 ? -1.0 : 1.0, square = 0.0;
    for (int k = 0; k < 4; ++k) {
        square += (a[k] - sign * b[k]) * (a[k] - sign * b[k]);
    }
    return 4.0 * asin(fmin(0.5 * sqrt(square), 1.0));
}

// fmax that takes NaN as "not known yet".
static double larger(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

static void judgeRun(const tpComparison* comparison, tpComparedRun* run) {
    size_t width = widthOf(comparison);
    enum { kinds = 4 }; // velocity, spin, position, angle
    double sums[kinds] = { 0.0 }, means[kinds];
    int counts[kinds] = { 0 };
    run->errors = (tpRunErrors){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    for (int64_t s = 0; s < run->outcome->sampleCount; ++s) {
        const double* state = run->states + width * (size_t)s;
        const double* truth = comparison->truth + width * (size_t)s;
        double worst[kinds] = { NAN, NAN, NAN, NAN };
        for (int b = 0; b < comparison->movingCount;
             ++b, state += tp_stateWidth, truth += tp_stateWidth) {
            worst[0] = larger(worst[0], distance(state, truth, 7));
            worst[1] = larger(worst[1], distance(state, truth, 10));
            worst[2] = larger(worst[2], distance(state, truth, 0));
            worst[3] = larger(worst[3], angleBetween(state + 3, truth + 3));
        }
        for (int k = 0; k < kinds; ++k) {
            sums[k] += isnan(worst[k]) ? 0.0 : worst[k];
            counts[k] += isnan(worst[k]) ? 0 : 1;
        }
        run->errors.position = larger(run->errors.position, worst[2]);
        run->errors.angle = larger(run->errors.angle, worst[3]);
        run->errors.positionEnd = worst[2];
        run->errors.angleEnd = worst[3];
    }
    for (int k = 0; k < kinds; ++k) {
        means[k] = counts[k] > 0 ? sums[k] / counts[k] : NAN;
    }
    run->errors.velocity = means[0];
    run->errors.spin = means[1];
    run->errors.positionMean = means[2];
    run->errors.angleMean = means[3];
    const tpAudit* audit = &run->outcome->audit;
    run->energyImbalance = audit->energyEnd - audit->energyStart - audit->externalWork +
                           audit->frictionLoss + audit->impactLoss;
}

double errorAt(const tpRunErrors* errors, int index) {
    const double values[] = { errors->position, errors->angle, errors->velocity, errors->spin };
    return values[index];
}

int leadingError(const tpComparison* comparison, const char** name, const char** unit) {
    static const char* const names[] = { "position", "angle", "velocity", "spin" };
    static const char* const units[] = { "m", "rad", "m/s", "rad/s" };
    int leading = 0;
    for (int k = 3; k >= 0; --k) {
        for (int i = 0; i < comparison->runCount; ++i) {
            leading = isnan(errorAt(&comparison->runs[i].errors, k)) ? leading : k;
        }
    }
    *name = names[leading];
    *unit = units[leading];
    return leading;
}

// From the run of the same stepper with the next larger step.
static double observedOrder(const tpComparison* comparison, const tpComparedRun* run, int leading) {
    const tpComparedRun* coarser = NULL;
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* other = &comparison->runs[i];
        bool isCandidate = other->stepper == run->stepper && other->step > run->step &&
                           !other->isTruth && other->outcome->status == runDone;
        if (isCandidate && (coarser == NULL || other->step < coarser->step)) {
            coarser = other;
        }
    }
    if (coarser == NULL || run->isTruth || run->outcome->status != runDone) {
        return NAN;
    }
    double mine = errorAt(&run->errors, leading), its = errorAt(&coarser->errors, leading);
    return mine > 0.0 && its > 0.0 ? log(its / mine) / log(coarser->step / run->step) : NAN;
}

void judgeRuns(tpComparison* comparison) {
    for (int i = 0; i < comparison->runCount; ++i) {
        judgeRun(comparison, &comparison->runs[i]);
    }
    const char *name, *unit;
    int leading = leadingError(comparison, &name, &unit);
    for (int i = 0; i < comparison->runCount; ++i) {
        comparison->runs[i].order = observedOrder(comparison, &comparison->runs[i], leading);
    }
}
