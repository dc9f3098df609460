// Which stepper is right? Says it of a comparison in sentences, with what they rest on.
//
// A stepper is right if its finest run is off by less than a hundredth of how far things move. It
// is on its way if its error shrinks with the step. Otherwise it goes elsewhere.

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "compare.h"

static const double rightShare = 0.01, shrinking = 0.7;

typedef enum Standing { standsRight, standsCloser, standsElsewhere, standsFailed } Standing;

typedef struct Stander {
    tpStepperId stepper;
    Standing standing;
    const tpComparedRun *coarsest, *finest; // of those that were done; NULL: none was
    int doneCount;
    const char* message; // why nothing was done
} Stander;

typedef struct Judgement {
    const tpComparison* comparison;
    int leading; // index of the error that decides
    const char* unit;
    double scale; // how far things move, in that unit
    Stander standers[tp_stepperCount];
    int standerCount;
} Judgement;

double scaleOfMotion(const tpComparison* comparison, int leading) {
    static const int firstOf[] = { 0, -1, 7, 10 };
    int first = firstOf[leading];
    size_t width = (size_t)comparison->movingCount * tp_stateWidth;
    double most = 0.0;
    for (size_t k = 0; first >= 0 && k < width; ++k) {
        int coordinate = (int)(k % tp_stateWidth);
        if (coordinate < first || coordinate >= first + 3) {
            continue;
        }
        double low = INFINITY, high = -INFINITY;
        for (int s = 0; s < comparison->sampleCount; ++s) {
            double value = comparison->truth[(size_t)s * width + k];
            low = value < low ? value : low; // false for what is not known
            high = value > high ? value : high;
        }
        most = high - low > most ? high - low : most;
    }
    return most > 0.0 ? most : 1.0;
}

static bool isJudged(const tpComparedRun* run, int leading) {
    return !run->isTruth && run->outcome->status == runDone &&
           !isnan(errorAt(&run->errors, leading));
}

static void addRun(Judgement* judgement, const tpComparedRun* run) {
    Stander* stander = NULL;
    for (int i = 0; i < judgement->standerCount; ++i) {
        stander =
            judgement->standers[i].stepper == run->stepper ? &judgement->standers[i] : stander;
    }
    if (stander == NULL) {
        stander = &judgement->standers[judgement->standerCount++];
        *stander = (Stander){ .stepper = run->stepper, .message = runStatusWord(run) };
    }
    if (run->outcome->message[0] != '\0') {
        stander->message = run->outcome->message;
    }
    if (isJudged(run, judgement->leading)) {
        stander->doneCount += 1;
        stander->coarsest = stander->coarsest == NULL || run->step > stander->coarsest->step
                                ? run
                                : stander->coarsest;
        stander->finest =
            stander->finest == NULL || run->step < stander->finest->step ? run : stander->finest;
    }
}

static Standing judgeStander(const Judgement* judgement, const Stander* stander) {
    if (stander->finest == NULL) {
        return standsFailed;
    }
    double finest = errorAt(&stander->finest->errors, judgement->leading);
    double coarsest = errorAt(&stander->coarsest->errors, judgement->leading);
    return finest < rightShare * judgement->scale                    ? standsRight
           : stander->doneCount > 1 && finest < shrinking * coarsest ? standsCloser
                                                                     : standsElsewhere;
}

// The most exact one first.
static void sortStanders(Judgement* judgement) {
    for (int i = 1; i < judgement->standerCount; ++i) {
        Stander stander = judgement->standers[i];
        int k = i;
        for (; k > 0 && stander.finest != NULL && judgement->standers[k - 1].finest != NULL &&
               errorAt(&stander.finest->errors, judgement->leading) <
                   errorAt(&judgement->standers[k - 1].finest->errors, judgement->leading);
             --k) {
            judgement->standers[k] = judgement->standers[k - 1];
        }
        judgement->standers[k] = stander;
    }
}

// Sentences ---------------------------------------------------------------------------------------

TP_PRINTF(2, 3)
static void say(tpSentence* sentence, const char* format, ...) {
    size_t used = strlen(sentence->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, arguments);
    va_end(arguments);
}

// The steppers of one standing, with how far they are off: "a (off by 1 m), b (...) and c (...)".
static void listStanders(const Judgement* judgement, Standing standing, tpSentence* sentence) {
    int count = 0, said = 0;
    for (int i = 0; i < judgement->standerCount; ++i) {
        count += judgement->standers[i].standing == standing ? 1 : 0;
    }
    for (int i = 0; i < judgement->standerCount; ++i) {
        const Stander* stander = &judgement->standers[i];
        if (stander->standing != standing) {
            continue;
        }
        ++said;
        say(sentence, "%s%s (",
            said == 1       ? ""
            : said == count ? " and "
                            : ", ",
            tpStepperName(stander->stepper));
        if (stander->finest != NULL) {
            say(sentence, "off by %.2g %s)", errorAt(&stander->finest->errors, judgement->leading),
                judgement->unit);
        } else {
            say(sentence, "%s)", stander->message);
        }
    }
    say(sentence, ".");
}

static bool hasStanding(const Judgement* judgement, Standing standing) {
    for (int i = 0; i < judgement->standerCount; ++i) {
        if (judgement->standers[i].standing == standing) {
            return true;
        }
    }
    return false;
}

// The run with the least processor time among those that are right.
static const tpComparedRun* findLeastWork(const Judgement* judgement) {
    const tpComparedRun* least = NULL;
    for (int i = 0; i < judgement->comparison->runCount; ++i) {
        const tpComparedRun* run = &judgement->comparison->runs[i];
        bool isRight = false;
        for (int k = 0; k < judgement->standerCount; ++k) {
            const Stander* stander = &judgement->standers[k];
            isRight =
                isRight || (stander->stepper == run->stepper && stander->standing == standsRight);
        }
        if (isRight && isJudged(run, judgement->leading) &&
            errorAt(&run->errors, judgement->leading) < rightShare * judgement->scale &&
            isCheaperRun(run, least)) {
            least = run;
        }
    }
    return least;
}

static tpSentence* addSentence(tpVerdict* verdict, const char* kind, const char* word) {
    tpSentence* sentence = &verdict->sentences[verdict->count++];
    *sentence = (tpSentence){ .kind = kind, .word = word };
    return sentence;
}

static void sayRight(const Judgement* judgement, tpVerdict* verdict) {
    tpSentence* sentence = addSentence(verdict, "good", "Right");
    say(sentence, " to within 1 %% of the %.2g %s that bodies %s: ", judgement->scale,
        judgement->unit, judgement->leading == 0 ? "move" : "change");
    listStanders(judgement, standsRight, sentence);
    const tpComparedRun* least = findLeastWork(judgement);
    if (least != NULL) {
        char time[32];
        say(addSentence(verdict, "", ""),
            "The cheapest of these: %s at a step of %.4g s, %s s of CPU time.",
            tpStepperName(least->stepper), least->step,
            runTimeText(least, "less than ", time, sizeof(time)));
    }
}

static void sayElsewhere(const Judgement* judgement, tpVerdict* verdict) {
    bool wasTried = true;
    for (int i = 0; i < judgement->standerCount; ++i) {
        const Stander* stander = &judgement->standers[i];
        wasTried = wasTried && (stander->standing != standsElsewhere || stander->doneCount > 1);
    }
    tpSentence* sentence = addSentence(verdict, "error", "Wrong");
    say(sentence, "%s: ", wasTried ? ", and smaller steps do not help" : "");
    listStanders(judgement, standsElsewhere, sentence);
}

static void sayTruth(const tpComparison* comparison, tpVerdict* verdict) {
    for (int i = 0; i < comparison->runCount; ++i) {
        if (comparison->runs[i].isTruth) {
            say(addSentence(verdict, "", ""),
                "All are compared with %s itself at a step of %.4g s: this shows which steppers "
                "agree with it, not that it is right.",
                tpStepperName(comparison->runs[i].stepper), comparison->runs[i].step);
            return;
        }
    }
}

void giveVerdict(const tpComparison* comparison, tpVerdict* verdict) {
    Judgement judgement = { .comparison = comparison };
    const char* name;
    verdict->count = 0;
    judgement.leading = leadingError(comparison, &name, &judgement.unit);
    judgement.scale = scaleOfMotion(comparison, judgement.leading);
    for (int i = 0; i < comparison->runCount; ++i) {
        if (!comparison->runs[i].isTruth) {
            addRun(&judgement, &comparison->runs[i]);
        }
    }
    for (int i = 0; i < judgement.standerCount; ++i) {
        judgement.standers[i].standing = judgeStander(&judgement, &judgement.standers[i]);
    }
    sortStanders(&judgement);
    if (hasStanding(&judgement, standsRight)) {
        sayRight(&judgement, verdict);
    }
    if (hasStanding(&judgement, standsCloser)) {
        tpSentence* sentence = addSentence(verdict, "warning", "Converging");
        say(sentence, ", closer with every smaller step: ");
        listStanders(&judgement, standsCloser, sentence);
    }
    if (hasStanding(&judgement, standsElsewhere)) {
        sayElsewhere(&judgement, verdict);
    }
    if (hasStanding(&judgement, standsFailed)) {
        tpSentence* sentence = addSentence(verdict, "error", "Failed");
        say(sentence, ": ");
        listStanders(&judgement, standsFailed, sentence);
    }
    sayTruth(comparison, verdict);
}
