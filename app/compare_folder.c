// Runs held against many references: all tables of a folder, such as measured motions of one thing.

#define _DEFAULT_SOURCE // kinds of directory entries

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "compare.h"
#include "output_file.h"
#include "recording/number.h"

enum { mostReferences = 100000, statisticsCount = 6 };

bool isFolder(const char* path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

typedef struct tpReferenceList {
    char** names;
    int count;
} tpReferenceList;

// What a run came to against one reference.
typedef struct tpReferenceResult {
    tpRunErrors errors;
    tpRunStatus status;
    double cpuTime, residual, penetration;
} tpReferenceResult;

// One error over all references.
typedef struct tpStatistics {
    const char* key;
    double mean, median, largest;
} tpStatistics;

// The tables -----------------------------------------------------------------------------------

static int compareNames(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static void freeReferences(tpReferenceList* list) {
    for (int i = 0; i < list->count; ++i) {
        free(list->names[i]);
    }
    free(list->names);
}

// All *.csv of the folder, by name. False, with the reason printed, if there are none.
static bool listReferences(const char* folder, tpReferenceList* list) {
    *list = (tpReferenceList){ NULL, 0 };
    DIR* entries = opendir(folder);
    if (entries == NULL) {
        fprintf(stderr, "tippe compare: %s: %s\n", folder, strerror(errno));
        return false;
    }
    bool isRead = true;
    for (struct dirent* entry; isRead && (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".csv") != 0 ||
            entry->d_name[0] == '.' || list->count == mostReferences) {
            continue;
        }
        char** more = realloc(list->names, (size_t)(list->count + 1) * sizeof(char*));
        list->names = more != NULL ? more : list->names;
        char* name = more != NULL ? strdup(entry->d_name) : NULL;
        isRead = name != NULL;
        if (isRead) {
            list->names[list->count++] = name;
        }
    }
    closedir(entries);
    if (!isRead) {
        fprintf(stderr, "tippe compare: out of memory\n");
    } else if (list->count == 0) {
        fprintf(stderr, "tippe compare: %s holds no tables (*.csv)\n", folder);
        isRead = false;
    } else {
        qsort(list->names, (size_t)list->count, sizeof(char*), compareNames);
    }
    return isRead;
}

// The runs -------------------------------------------------------------------------------------

// All runs against one table. What is wrong with the table is printed.
static bool compareWithOne(tpComparison* comparison, const char* path, tpReferenceResult* results) {
    free(comparison->times);
    free(comparison->truth);
    comparison->times = comparison->truth = NULL;
    comparison->sampleCount = 0;
    if (!readReference(comparison, path)) {
        return false;
    }
    if (comparison->times[0] != 0.0) {
        fprintf(stderr, "%s:2:1: the first row must be at time 0: runs start there\n", path);
        return false;
    }
    if (!carryOutRuns(comparison, false)) {
        fprintf(stderr, "tippe compare: out of memory\n");
        return false;
    }
    judgeRuns(comparison);
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        results[i] = (tpReferenceResult){ run->errors, run->outcome->status, run->outcome->cpuTime,
                                          run->outcome->audit.residualMax,
                                          run->outcome->audit.penetrationMax };
    }
    releaseRuns(comparison);
    return true;
}

// Statistics -----------------------------------------------------------------------------------

static double errorNumber(const tpRunErrors* errors, int which) {
    const double numbers[statisticsCount] = { errors->positionMean, errors->position,
                                              errors->positionEnd,  errors->angleMean,
                                              errors->angle,        errors->angleEnd };
    return numbers[which];
}

static const char* const errorNames[statisticsCount] = { "error_position_mean", "error_position",
                                                         "error_position_end",  "error_angle_mean",
                                                         "error_angle",         "error_angle_end" };

static int compareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Of the runs that ended; NaN if none has.
static tpStatistics summarise(const tpReferenceResult* results, int references, int runCount,
                              int run, int which, double* sorted) {
    tpStatistics made = { errorNames[which], NAN, NAN, NAN };
    int count = 0;
    double sum = 0.0;
    for (int i = 0; i < references; ++i) {
        const tpReferenceResult* result = &results[i * runCount + run];
        double number = errorNumber(&result->errors, which);
        if (result->status == runDone && !isnan(number)) {
            sorted[count++] = number;
            sum += number;
        }
    }
    if (count > 0) {
        qsort(sorted, (size_t)count, sizeof(double), compareNumbers);
        made.mean = sum / count;
        made.median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
        made.largest = sorted[count - 1];
    }
    return made;
}

static int countDone(const tpReferenceResult* results, int references, int runCount, int run) {
    int count = 0;
    for (int i = 0; i < references; ++i) {
        count += results[i * runCount + run].status == runDone ? 1 : 0;
    }
    return count;
}

// Output ---------------------------------------------------------------------------------------

static void putNumber(FILE* stream, double value, const char* unknown) {
    char number[tp_numberCapacity];
    if (isfinite(value)) {
        fwrite(number, 1, (size_t)tpFormatNumber(number, value), stream);
    } else {
        fputs(unknown, stream);
    }
}

static void printTable(const tpComparison* comparison, const tpReferenceResult* results,
                       int references, double* sorted) {
    const double degrees = 57.29577951308232;
    printf("%s against %d references, each from the reference's first state\n\n", comparison->title,
           references);
    printf("  %-20s  %9s  %29s  %29s  %6s\n", "", "", "position, m", "rotation, degrees", "");
    printf("  %-20s  %9s  %9s %9s %9s  %9s %9s %9s  %6s\n", "stepper", "step s", "mean", "median",
           "largest", "mean", "median", "largest", "ended");
    for (int run = 0; run < comparison->runCount; ++run) {
        tpStatistics s[statisticsCount];
        for (int k = 0; k < statisticsCount; ++k) {
            s[k] = summarise(results, references, comparison->runCount, run, k, sorted);
        }
        printf("  %-20s  %9.4g  %9.3g %9.3g %9.3g  %9.3g %9.3g %9.3g  %6d\n",
               tpStepperName(comparison->runs[run].stepper), comparison->runs[run].step, s[0].mean,
               s[0].median, s[1].largest, degrees * s[3].mean, degrees * s[3].median,
               degrees * s[4].largest, countDone(results, references, comparison->runCount, run));
    }
    printf("\n  mean and median: over the references, of the means over the time; largest: at any "
           "time\n"
           "  of any reference; ended: runs that came to their end\n");
}

static void printJson(const tpComparison* comparison, const tpReferenceResult* results,
                      const tpReferenceList* list, double* sorted) {
    printf("{\"references\": %d, \"steppers\": [", list->count);
    for (int run = 0; run < comparison->runCount; ++run) {
        printf("%s{\"stepper\": \"%s\", \"step\": ", run == 0 ? "" : ", ",
               tpStepperName(comparison->runs[run].stepper));
        putNumber(stdout, comparison->runs[run].step, "null");
        printf(", \"ended\": %d", countDone(results, list->count, comparison->runCount, run));
        for (int k = 0; k < statisticsCount; ++k) {
            tpStatistics s = summarise(results, list->count, comparison->runCount, run, k, sorted);
            printf(", \"%s\": {\"mean\": ", s.key);
            putNumber(stdout, s.mean, "null");
            printf(", \"median\": ");
            putNumber(stdout, s.median, "null");
            printf(", \"largest\": ");
            putNumber(stdout, s.largest, "null");
            printf("}");
        }
        printf("}");
    }
    printf("]}\n");
}

static bool writeCsv(const tpComparison* comparison, const tpReferenceResult* results,
                     const tpReferenceList* list, const char* path) {
    tpOutputFile output;
    if (!openOutput("compare", path, &output)) {
        return false;
    }
    fprintf(output.stream, "reference,stepper,step,status");
    for (int k = 0; k < statisticsCount; ++k) {
        fprintf(output.stream, ",%s", errorNames[k]);
    }
    fprintf(output.stream, ",error_velocity,error_spin,cpu_time,residual_max,penetration_max\n");
    for (int i = 0; i < list->count * comparison->runCount && checkOutput(&output); ++i) {
        const tpReferenceResult* result = &results[i];
        tpComparedRun run = comparison->runs[i % comparison->runCount];
        tpRunOutcome outcome = { .status = result->status };
        run.outcome = &outcome;
        fprintf(output.stream, "%s,%s,", list->names[i / comparison->runCount],
                tpStepperName(run.stepper));
        putNumber(output.stream, run.step, "");
        fprintf(output.stream, ",%s", runStatusWord(&run));
        double numbers[statisticsCount + 5] = { 0.0 };
        for (int k = 0; k < statisticsCount; ++k) {
            numbers[k] = errorNumber(&result->errors, k);
        }
        numbers[statisticsCount] = result->errors.velocity;
        numbers[statisticsCount + 1] = result->errors.spin;
        numbers[statisticsCount + 2] = result->cpuTime;
        numbers[statisticsCount + 3] = result->residual;
        numbers[statisticsCount + 4] = result->penetration;
        for (int k = 0; k < statisticsCount + 5; ++k) {
            fputc(',', output.stream);
            putNumber(output.stream, numbers[k], "");
        }
        fputc('\n', output.stream);
    }
    return commitOutput("compare", &output);
}

static int writeResults(const tpComparison* comparison, const tpFolderOptions* options,
                        const tpReferenceList* list, const tpReferenceResult* results,
                        double* sorted) {
    if (options->json) {
        printJson(comparison, results, list, sorted);
    } else if (!options->quiet) {
        printTable(comparison, results, list->count, sorted);
    }
    bool isWritten = options->csv == NULL || writeCsv(comparison, results, list, options->csv);
    int done = 0;
    for (int run = 0; run < comparison->runCount; ++run) {
        done += countDone(results, list->count, comparison->runCount, run);
    }
    return isWritten && done > 0 ? exitDone : exitCouldNotGoOn;
}

int compareWithFolder(tpComparison* comparison, const tpFolderOptions* options) {
    tpReferenceList list;
    int status = exitBadInput;
    tpReferenceResult* results = NULL;
    double* sorted = NULL;
    comparison->startsAtTruth = true;
    bool isRead = listReferences(options->folder, &list);
    if (isRead) {
        size_t count = (size_t)list.count * (size_t)comparison->runCount;
        results = calloc(count, sizeof(tpReferenceResult));
        sorted = malloc((size_t)list.count * sizeof(double));
        isRead = results != NULL && sorted != NULL;
    }
    for (int i = 0; isRead && i < list.count; ++i) {
        char path[4096];
        int length = snprintf(path, sizeof(path), "%s/%s", options->folder, list.names[i]);
        isRead =
            length < (int)sizeof(path) &&
            compareWithOne(comparison, path, results + (size_t)i * (size_t)comparison->runCount);
    }
    if (isRead) {
        status = writeResults(comparison, options, &list, results, sorted);
    }
    free(results);
    free(sorted);
    freeReferences(&list);
    return status;
}
