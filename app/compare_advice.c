// What to take for which accuracy: of the runs of a comparison, the cheapest that are exact enough.

#include <math.h>

#include "compare.h"

static const double shares[] = { 1e-2, 1e-3, 1e-4 };
enum { shareCount = sizeof(shares) / sizeof(shares[0]) };

typedef struct Advice {
    int leading; // the error that decides
    const char* unit;
    double scale;
} Advice;

static Advice startAdvice(const tpComparison* comparison) {
    Advice advice;
    const char* name;
    advice.leading = leadingError(comparison, &name, &advice.unit);
    advice.scale = scaleOfMotion(comparison, advice.leading);
    return advice;
}

static bool isWithin(const tpComparedRun* run, const Advice* advice, double share) {
    return !run->isTruth && run->outcome->status == runDone &&
           errorAt(&run->errors, advice->leading) <= share * advice->scale;
}

// The run of least cost that is exact enough: of one stepper, or of all but `auto`. NULL: none is.
static const tpComparedRun* findCheapest(const tpComparison* comparison, const Advice* advice,
                                         double share, int stepper) {
    const tpComparedRun* best = NULL;
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        bool isMeant = stepper >= 0 ? (int)run->stepper == stepper : run->stepper != tp_auto;
        if (isMeant && isWithin(run, advice, share) && isCheaperRun(run, best)) {
            best = run;
        }
    }
    return best;
}

// The cheapest run of another stepper than the best one, to say what the choice is worth.
static const tpComparedRun* findSecond(const tpComparison* comparison, const Advice* advice,
                                       double share, const tpComparedRun* best) {
    const tpComparedRun* second = NULL;
    for (int id = 0; id < tp_stepperCount; ++id) {
        const tpComparedRun* run = findCheapest(comparison, advice, share, id);
        if (run != NULL && run->stepper != best->stepper && run->stepper != tp_auto &&
            isCheaperRun(run, second)) {
            second = run;
        }
    }
    return second;
}

// The smallest error of all, where none is small enough.
static const tpComparedRun* findMostExact(const tpComparison* comparison, const Advice* advice) {
    const tpComparedRun* best = NULL;
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        if (isWithin(run, advice, INFINITY) &&
            (best == NULL ||
             errorAt(&run->errors, advice->leading) < errorAt(&best->errors, advice->leading))) {
            best = run;
        }
    }
    return best;
}

static void printRun(const char* lead, const tpComparedRun* run, const Advice* advice) {
    char time[32];
    printf("%s%s at a step of %.4g s: off by %.2g %s, %s s of CPU time", lead,
           tpStepperName(run->stepper), run->step, errorAt(&run->errors, advice->leading),
           advice->unit, runTimeText(run, "less than ", time, sizeof(time)));
    if (!isnan(run->order)) {
        printf(", order %.1f", run->order);
    }
    printf("\n");
}

static void printShare(const tpComparison* comparison, const Advice* advice, double share) {
    printf("For an accuracy of %.0e of the %.3g %s that bodies move (%.2g %s):\n", share,
           advice->scale, advice->unit, share * advice->scale, advice->unit);
    const tpComparedRun* best = findCheapest(comparison, advice, share, -1);
    const tpComparedRun* automatic = findCheapest(comparison, advice, share, tp_auto);
    if (best == NULL) {
        printf("  no stepper reaches it at these steps\n");
        const tpComparedRun* exact = findMostExact(comparison, advice);
        if (exact != NULL) {
            printRun("  nearest  ", exact, advice);
        }
    } else {
        printRun("  take     ", best, advice);
        const tpComparedRun* second = findSecond(comparison, advice, share, best);
        if (second != NULL) {
            printRun("  next     ", second, advice);
        } else {
            printf("  no other stepper reaches it\n");
        }
    }
    if (automatic != NULL) {
        printRun("  or       ", automatic, advice);
    }
}

// Steppers that no step brings near, with the reason.
static void printWarnings(const tpComparison* comparison, const Advice* advice) {
    for (int id = 0; id < tp_stepperCount; ++id) {
        const tpComparedRun* finest = NULL;
        const tpComparedRun* last = NULL;
        for (int i = 0; i < comparison->runCount; ++i) {
            const tpComparedRun* run = &comparison->runs[i];
            if ((int)run->stepper != id || run->isTruth) {
                continue;
            }
            last = run;
            if (run->outcome->status == runDone && (finest == NULL || run->step < finest->step)) {
                finest = run;
            }
        }
        if (last == NULL || (finest != NULL && isWithin(finest, advice, shares[0]))) {
            continue;
        }
        if (finest == NULL) {
            printf("Not %s: %s%s%s\n", tpStepperName((tpStepperId)id), runStatusWord(last),
                   last->outcome->message[0] != '\0' ? ", " : "", last->outcome->message);
        } else {
            const char* note = finest->outcome->noteCount > 0 ? finest->outcome->notes[0].text : "";
            printf("Not %s: off by %.2g %s at a step of %.4g s%s%s\n",
                   tpStepperName((tpStepperId)id), errorAt(&finest->errors, advice->leading),
                   advice->unit, finest->step, note[0] != '\0' ? "; " : "", note);
        }
    }
}

// Errors that fall more slowly than this power of the step do not come to nothing.
static const double leastOrder = 0.7;

// Whether the runs do not come together as steps become shorter: none is near to the truth, and
// the errors of most hardly fall. So it is with crowds, and after impacts that have no single
// outcome. A closed form is right whatever the runs do.
static bool areApart(const tpComparison* comparison, const Advice* advice) {
    bool hasTruthRun = false;
    int fallingCount = 0, knownCount = 0;
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        hasTruthRun = hasTruthRun || run->isTruth;
        if (isWithin(run, advice, shares[0])) {
            return false;
        }
        knownCount += isWithin(run, advice, INFINITY) && !isnan(run->order) ? 1 : 0;
        fallingCount += isWithin(run, advice, INFINITY) && run->order >= leastOrder ? 1 : 0;
    }
    return hasTruthRun && 2 * fallingCount < knownCount;
}

// What can be said of such a scene: the cheapest run whose steps are all certified.
static void printApart(const tpComparison* comparison, const Advice* advice) {
    const tpComparedRun *best = NULL, *exact = findMostExact(comparison, advice);
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        bool isCertified = run->outcome->status == runDone && !run->isTruth &&
                           run->outcome->audit.uncertifiedCount == 0;
        best = isCertified && isCheaperRun(run, best) ? run : best;
    }
    printf(
        "This motion has no reproducible path: no run comes within %.0e of the %.3g %s that bodies "
        "move,\nand shorter steps do not bring the runs together. Small differences grow, as "
        "in crowds, or\nimpacts at several points at once have no single outcome. Compare "
        "energy, overlap and other laws instead.\n",
        shares[0], advice->scale, advice->unit);
    printRun("  nearest  ", exact, advice);
    if (best != NULL) {
        printRun("  cheapest with all steps certified: ", best, advice);
    } else {
        printf("  in no run are all steps certified\n");
    }
}

void printAdvice(const tpComparison* comparison) {
    Advice advice = startAdvice(comparison);
    printf("%s, until %g s; errors against %s\n\n", comparison->title, comparison->until,
           comparison->against);
    if (areApart(comparison, &advice)) {
        printApart(comparison, &advice);
    } else {
        for (int i = 0; i < shareCount; ++i) {
            printShare(comparison, &advice, shares[i]);
        }
    }
    printf("\n");
    printWarnings(comparison, &advice);
}

// JSON --------------------------------------------------------------------------------------------

static void writeRun(const char* key, const tpComparedRun* run, const Advice* advice,
                     FILE* stream) {
    if (run == NULL) {
        fprintf(stream, ", \"%s\": null", key);
        return;
    }
    fprintf(
        stream,
        ", \"%s\": {\"stepper\": \"%s\", \"step\": %.17g, \"error\": %.17g, \"cpu_time\": %.17g}",
        key, tpStepperName(run->stepper), run->step, errorAt(&run->errors, advice->leading),
        run->outcome->cpuTime);
}

void writeAdviceJson(const tpComparison* comparison, FILE* stream) {
    Advice advice = startAdvice(comparison);
    fprintf(stream, "{\"scene\": ");
    writeJsonText(comparison->title, stream);
    fprintf(stream, ", \"against\": ");
    writeJsonText(comparison->against, stream);
    fprintf(stream, ", \"until\": %.17g, \"scale\": %.17g, \"unit\": \"%s\", \"advice\": [",
            comparison->until, advice.scale, advice.unit);
    for (int i = 0; i < shareCount; ++i) {
        const tpComparedRun* best = findCheapest(comparison, &advice, shares[i], -1);
        fprintf(stream, "%s\n{\"accuracy\": %g", i > 0 ? "," : "", shares[i]);
        writeRun("take", best, &advice, stream);
        writeRun("next", best != NULL ? findSecond(comparison, &advice, shares[i], best) : NULL,
                 &advice, stream);
        writeRun("auto", findCheapest(comparison, &advice, shares[i], tp_auto), &advice, stream);
        fprintf(stream, "}");
    }
    fprintf(stream, "\n]}\n");
}
