// A comparison as a table for people, and as CSV and JSON for programs.

#include <math.h>
#include <string.h>

#include "arguments.h"
#include "compare.h"
#include "output_file.h"
#include "recording/number.h"

static const char* const errorKeys[] = { "error_position", "error_angle", "error_velocity",
                                         "error_spin" };

const char* runStatusWord(const tpComparedRun* run) {
    static const char* const words[] = {
        [runWaiting] = "not run", [runGoing] = "not done",   [runDone] = "done",
        [runStopped] = "stopped", [runTimedOut] = "time up", [runCrashed] = "crashed",
        [runRefused] = "refused"
    };
    return words[run->outcome->status];
}

static const double shortestTime = 5e-3; // s

bool isCheaperRun(const tpComparedRun* run, const tpComparedRun* than) {
    if (than == NULL) {
        return true;
    }
    double a = run->outcome->cpuTime, b = than->outcome->cpuTime;
    return a < shortestTime && b < shortestTime ? run->step > than->step : a < b;
}

const char* runTimeText(const tpComparedRun* run, const char* below, char* buffer, size_t size) {
    bool isShort = run->outcome->cpuTime < shortestTime;
    snprintf(buffer, size, "%s%.3g", isShort ? below : "",
             isShort ? shortestTime : run->outcome->cpuTime);
    return buffer;
}

static int64_t fallbackSteps(const tpAudit* audit) {
    int64_t count = audit->otherFallbackCount;
    for (int i = 0; i < audit->fallbackCount; ++i) {
        count += audit->fallbacks[i].count;
    }
    return count;
}

// The table -----------------------------------------------------------------------------------

// A number in `width` columns; a dash if there is none.
static void printCell(int width, const char* format, double value) {
    char text[32] = "-";
    if (!isnan(value)) {
        snprintf(text, sizeof(text), format, value);
    }
    printf("  %*s", width, text);
}

static void printRun(const tpComparedRun* run, int leading) {
    const tpAudit* audit = &run->outcome->audit;
    printf("  %-20s", tpStepperName(run->stepper));
    printCell(9, "%.4g", run->step);
    if (run->isTruth) {
        printf("  %9s  %5s", "(truth)", "");
    } else {
        printCell(9, "%.2e", errorAt(&run->errors, leading));
        printCell(5, "%.2f", run->order);
    }
    char time[32];
    printf("  %8s", runTimeText(run, "<", time, sizeof(time)));
    printCell(8, "%.1e", audit->penetrationMax);
    printCell(8, "%.1e", audit->residualMax);
    printCell(8, "%.1e", fabs(run->energyImbalance));
    printCell(8, "%.1e", audit->energyIncreaseMax);
    printf("  %6lld  %s\n", (long long)audit->failureCount,
           run->outcome->status == runDone ? "" : runStatusWord(run));
}

static const tpRunNote* findNote(const tpComparedRun* run, const char* text) {
    for (int k = 0; k < run->outcome->noteCount; ++k) {
        if (strcmp(run->outcome->notes[k].text, text) == 0) {
            return &run->outcome->notes[k];
        }
    }
    return NULL;
}

// A sentence of a stepper's, once: at the first run that said it, with all that did.
static void printNote(const tpComparison* comparison, int index, const char* text) {
    const tpComparedRun* run = &comparison->runs[index];
    for (int i = 0; i < index; ++i) {
        const tpComparedRun* earlier = &comparison->runs[i];
        if (earlier->stepper == run->stepper && findNote(earlier, text) != NULL) {
            return;
        }
    }
    printf("  %s: %s (", tpStepperName(run->stepper), text);
    for (int i = index; i < comparison->runCount; ++i) {
        const tpComparedRun* other = &comparison->runs[i];
        const tpRunNote* note = other->stepper == run->stepper ? findNote(other, text) : NULL;
        if (note != NULL) {
            printf("%s%lld of %lld steps", i == index ? "" : ", ", (long long)note->stepCount,
                   (long long)other->outcome->audit.stepCount);
        }
    }
    printf(")\n");
}

// What the runs said besides numbers.
static void printNotes(const tpComparison* comparison) {
    printf("\n");
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        const tpRunOutcome* outcome = run->outcome;
        if (outcome->message[0] != '\0') {
            printf("  %s, step %.4g: %s\n", tpStepperName(run->stepper), run->step,
                   outcome->message);
        }
        for (int k = 0; k < outcome->noteCount; ++k) {
            printNote(comparison, i, outcome->notes[k].text);
        }
        for (int k = 0; k < outcome->audit.fallbackCount; ++k) {
            printf("  %s, step %.4g: %lld steps taken by the fallback '%s'\n",
                   tpStepperName(run->stepper), run->step,
                   (long long)outcome->audit.fallbacks[k].count, outcome->audit.fallbacks[k].name);
        }
    }
}

void printComparison(const tpComparison* comparison) {
    const char *name, *unit;
    int leading = leadingError(comparison, &name, &unit);
    printf("%s, until %.6g s; errors (%s, %s) against %s\n\n", comparison->title, comparison->until,
           name, unit, comparison->against);
    printf("  %-20s  %9s  %9s  %5s  %8s  %8s  %8s  %8s  %8s  %6s\n", "stepper", "step s", "error",
           "order", "time s", "overlap", "residual", "energy", "gain", "failed");
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        if (i > 0 && run->stepper != comparison->runs[i - 1].stepper) {
            printf("\n");
        }
        printRun(run, leading);
    }
    printNotes(comparison);
    tpVerdict verdict;
    giveVerdict(comparison, &verdict);
    for (int i = 0; i < verdict.count; ++i) {
        printf("%s", i == 0 ? "\n" : "");
        char sentence[sizeof(verdict.sentences[i].text) + 32];
        snprintf(sentence, sizeof(sentence), "%s%s", verdict.sentences[i].word,
                 verdict.sentences[i].text);
        printWrapped(0, 0, sentence);
    }
    printf("\n  time: CPU seconds of the steps; overlap: the deepest, m; energy: error of the "
           "energy account, J;\n  gain: largest rise of energy in one step beyond the work done, "
           "J; failed: number of solves\n");
}

// CSV and JSON --------------------------------------------------------------------------------

static void writeNumber(FILE* stream, double value, const char* unknown) {
    char number[tp_numberCapacity];
    if (!isfinite(value)) {
        fputs(unknown, stream);
        return;
    }
    int length = tpFormatNumber(number, value);
    fwrite(number, 1, (size_t)length, stream);
}

typedef struct tpRunNumber {
    const char* key;
    double value;
} tpRunNumber;

enum { runNumberCount = 23 };

// The numbers of a run in the order of the columns.
static void listNumbers(const tpComparedRun* run, tpRunNumber* numbers) {
    const tpRunOutcome* outcome = run->outcome;
    const tpAudit* audit = &outcome->audit;
    const tpRunNumber list[runNumberCount] = {
        { "step", run->step },
        { "steps", (double)audit->stepCount },
        { errorKeys[0], run->errors.position },
        { errorKeys[1], run->errors.angle },
        { errorKeys[2], run->errors.velocity },
        { errorKeys[3], run->errors.spin },
        { "order", run->order },
        { "cpu_time", outcome->cpuTime },
        { "contacts_mean",
          audit->stepCount > 0 ? (double)audit->contactTotal / (double)audit->stepCount : 0.0 },
        { "contacts_max", audit->contactMax },
        { "penetration_max", audit->penetrationMax },
        { "residual_max", audit->residualMax },
        { "joint_drift_max", audit->jointDriftMax },
        { "energy_error", run->energyImbalance },
        { "energy_increase_max", audit->energyIncreaseMax },
        { "solves", (double)audit->solveCount },
        { "iterations", (double)audit->iterationCount },
        { "failures", (double)audit->failureCount },
        { "fallback_steps", (double)fallbackSteps(audit) },
        { "error_position_mean", run->errors.positionMean },
        { "error_angle_mean", run->errors.angleMean },
        { "error_position_end", run->errors.positionEnd },
        { "error_angle_end", run->errors.angleEnd },
    };
    memcpy(numbers, list, sizeof(list));
}

bool writeComparisonCsv(const tpComparison* comparison, const char* path) {
    tpOutputFile output;
    if (!openOutput("compare", path, &output)) {
        return false;
    }
    tpRunNumber numbers[runNumberCount];
    for (int i = 0; i < comparison->runCount && checkOutput(&output); ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        listNumbers(run, numbers);
        for (int k = 0; i == 0 && k < runNumberCount; ++k) {
            fprintf(output.stream, "%s,%s", k == 0 ? "stepper" : "", numbers[k].key);
        }
        fprintf(output.stream, "%s%s", i == 0 ? ",status,is_truth\n" : "",
                tpStepperName(run->stepper));
        for (int k = 0; k < runNumberCount; ++k) {
            fputc(',', output.stream);
            writeNumber(output.stream, numbers[k].value, "");
        }
        fprintf(output.stream, ",%s,%d\n", runStatusWord(run), run->isTruth ? 1 : 0);
    }
    return commitOutput("compare", &output);
}

void writeJsonText(const char* text, FILE* stream) {
    fputc('"', stream);
    for (const char* c = text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            fprintf(stream, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20 || *c == '<') {
            fprintf(stream, "\\u%04x", (unsigned)*c);
        } else {
            fputc(*c, stream);
        }
    }
    fputc('"', stream);
}

static void writeNotes(FILE* stream, const tpRunOutcome* outcome) {
    fputs(", \"notes\": [", stream);
    for (int k = 0; k < outcome->noteCount; ++k) {
        fputs(k > 0 ? ", " : "", stream);
        writeJsonText(outcome->notes[k].text, stream);
    }
    fputs("], \"fallbacks\": {", stream);
    for (int k = 0; k < outcome->audit.fallbackCount; ++k) {
        fputs(k > 0 ? ", " : "", stream);
        writeJsonText(outcome->audit.fallbacks[k].name, stream);
        fprintf(stream, ": %lld", (long long)outcome->audit.fallbacks[k].count);
    }
    fputs("}", stream);
}

// For plots: six digits, the first bodies, and not more times than a screen has columns.
enum { mostPlottedBodies = 40, mostPlottedTimes = 600 };

static int plottedStride(const tpComparison* comparison) {
    return (comparison->sampleCount + mostPlottedTimes - 1) / mostPlottedTimes;
}

static int plottedBodies(const tpComparison* comparison) {
    return comparison->movingCount < mostPlottedBodies ? comparison->movingCount
                                                       : mostPlottedBodies;
}

static void writePlotted(FILE* stream, const char* separator, double value) {
    fputs(separator, stream);
    if (isfinite(value)) {
        fprintf(stream, "%.6g", value);
    } else {
        fputs("null", stream);
    }
}

static void writeStates(const tpComparison* comparison, const double* states, int64_t count,
                        FILE* stream) {
    int64_t width = (int64_t)comparison->movingCount * tp_stateWidth;
    int64_t shown = (int64_t)plottedBodies(comparison) * tp_stateWidth;
    for (int64_t s = 0; s < count; s += plottedStride(comparison)) {
        for (int64_t i = 0; i < shown; ++i) {
            writePlotted(stream, s + i > 0 ? "," : "", states[s * width + i]);
        }
    }
}

static void writeTimes(const tpComparison* comparison, FILE* stream) {
    for (int s = 0; s < comparison->sampleCount; s += plottedStride(comparison)) {
        writePlotted(stream, s > 0 ? "," : "", comparison->times[s]);
    }
}

static void writeRunJson(const tpComparison* comparison, const tpComparedRun* run,
                         bool withTrajectories, FILE* stream) {
    tpRunNumber numbers[runNumberCount];
    fprintf(stream, "{\"stepper\": \"%s\", \"status\": \"%s\", \"is_truth\": %s, \"message\": ",
            tpStepperName(run->stepper), runStatusWord(run), run->isTruth ? "true" : "false");
    writeJsonText(run->outcome->message, stream);
    listNumbers(run, numbers);
    for (int k = 0; k < runNumberCount; ++k) {
        fprintf(stream, ", \"%s\": ", numbers[k].key);
        writeNumber(stream, numbers[k].value, "null");
    }
    writeNotes(stream, run->outcome);
    if (withTrajectories) {
        fputs(", \"states\": [", stream);
        writeStates(comparison, run->states, run->outcome->sampleCount, stream);
        fputs("]", stream);
    }
    fputs("}", stream);
}

static void writeVerdict(const tpComparison* comparison, FILE* stream) {
    tpVerdict verdict;
    giveVerdict(comparison, &verdict);
    for (int i = 0; i < verdict.count; ++i) {
        const tpSentence* sentence = &verdict.sentences[i];
        fprintf(stream, "%s{\"kind\": \"%s\", \"word\": \"%s\", \"text\": ", i > 0 ? ", " : "",
                sentence->kind, sentence->word);
        writeJsonText(sentence->text, stream);
        fputs("}", stream);
    }
}

void writeComparisonJson(const tpComparison* comparison, bool withTrajectories, FILE* stream) {
    const char *name, *unit;
    int leading = leadingError(comparison, &name, &unit);
    fputs("{\"scene\": ", stream);
    writeJsonText(comparison->title, stream);
    fputs(", \"until\": ", stream);
    writeNumber(stream, comparison->until, "null");
    fputs(", \"against\": ", stream);
    writeJsonText(comparison->against, stream);
    fprintf(stream, ", \"leading_error\": \"%s\", \"leading_unit\": \"%s\"", errorKeys[leading],
            unit);
    if (withTrajectories) {
        fputs(", \"bodies\": [", stream);
        for (int i = 0; i < plottedBodies(comparison); ++i) {
            fputs(i > 0 ? ", " : "", stream);
            writeJsonText(comparison->movingNames[i], stream);
        }
        fputs("], \"times\": [", stream);
        writeTimes(comparison, stream);
        fputs("], \"truth\": [", stream);
        writeStates(comparison, comparison->truth, comparison->sampleCount, stream);
        fputs("]", stream);
    }
    fputs(", \"runs\": [", stream);
    for (int i = 0; i < comparison->runCount; ++i) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        writeRunJson(comparison, &comparison->runs[i], withTrajectories, stream);
    }
    fputs("\n], \"verdict\": [", stream);
    writeVerdict(comparison, stream);
    fputs("]}\n", stream);
}
