// tippe compare: one scene by several steppers at several step sizes, held against what is known.
//
// A plan lists the runs. Each is carried out by a process of its own (compare_runs.c), which leaves
// what it came to in memory that it shares with the parent: the audit, and the states at the sample
// times, which are the same for all runs. Then the truth at those times is found and every run is
// held against it (compare_truth.c), which steppers are right is said (compare_verdict.c), and the
// result is written (compare_output.c, compare_page.c).

#ifndef TIPPE_APP_COMPARE_H
#define TIPPE_APP_COMPARE_H

#include <stdio.h>

#include "tippe/recording.h"
#include "tippe/scene.h"

enum { mostComparedRuns = 256, mostRunNotes = 4, longestRunMessage = 200 };

typedef enum tpRunStatus {
    runWaiting,
    runGoing,
    runDone,
    runStopped, // the simulation could not go on
    runTimedOut,
    runCrashed,
    runRefused // no world of this kind; `message` says why
} tpRunStatus;

typedef struct tpRunNote {
    char text[longestRunMessage];
    int64_t stepCount; // steps whose report said so
} tpRunNote;

// What a run's process writes into shared memory. Strings of the audit are constants of the
// program, whose addresses a forked process shares.
typedef struct tpRunOutcome {
    tpRunStatus status;
    volatile int64_t stepsDone;
    int64_t sampleCount; // sample times reached
    double cpuTime;      // s, of the steps alone
    tpAudit audit;
    char message[longestRunMessage];
    tpRunNote notes[mostRunNotes];
    int noteCount;
} tpRunOutcome;

// Errors against the truth; NaN if it does not know such coordinates. Positions and angles: the
// largest over bodies and times. Velocities jump at impacts, where no two steppers agree on the
// very step: for them the mean over the times of the largest over the bodies.
typedef struct tpRunErrors {
    double position;                // m
    double angle;                   // rad
    double velocity;                // m/s
    double spin;                    // rad/s
    double positionMean, angleMean; // means over the times of the largest over the bodies
    double positionEnd, angleEnd;   // at the last time
} tpRunErrors;

typedef struct tpComparedRun {
    tpStepperId stepper;
    double step;
    int64_t stepCount;
    bool isTruth; // the run that the others are held against
    tpRunOutcome* outcome;
    double* states; // sampleCount x movingCount x tp_stateWidth, shared
    tpRunErrors errors;
    double order;           // observed, of the leading error, from the next larger step; NaN: none
    double energyImbalance; // J, what the energy account does not explain
} tpComparedRun;

typedef struct tpComparison {
    const tpScene* scene;
    const char* title;
    double until;
    int movingCount;
    const char** movingNames;
    double* times; // of the samples
    int sampleCount;
    double* truth;     // as tpComparedRun.states, NaN if nothing is known
    char against[160]; // what the truth is, in words
    tpComparedRun runs[mostComparedRuns];
    int runCount;
    bool startsAtTruth; // runs start in the first state that is known, not in the scene's
    int jobs;
    double timeLimit; // s of CPU a run
} tpComparison;

// The runs' processes, `jobs` at a time. False if memory or processes ran out.
bool carryOutRuns(tpComparison* comparison, bool showsProgress);
void releaseRuns(tpComparison* comparison);

// Truth ---------------------------------------------------------------------------------------

// Sample times and truth from a table in the format of --csv. Prints what is wrong, with its place.
bool readReference(tpComparison* comparison, const char* path);
// Sample times at multiples of the largest step.
bool chooseSampleTimes(tpComparison* comparison);
bool evaluateClosedForms(tpComparison* comparison);
bool takeFinestAsTruth(tpComparison* comparison);
void judgeRuns(tpComparison* comparison);

// The error that orders are about: positions where the truth knows some, else angles, and so on.
// Fills in its name and unit; index 0 to 3 in the order of tpRunErrors.
int leadingError(const tpComparison* comparison, const char** name, const char** unit);
double errorAt(const tpRunErrors* errors, int index);

// References in a folder ----------------------------------------------------------------------

// Whether the path is a folder.
bool isFolder(const char* path);

// What is wanted of a comparison with every table of a folder.
typedef struct tpFolderOptions {
    const char* folder;
    const char* csv; // NULL: not wanted
    bool json, quiet;
} tpFolderOptions;

// Holds the planned runs against every *.csv of the folder; each starts in the first state of its
// table. Returns the exit status.
int compareWithFolder(tpComparison* comparison, const tpFolderOptions* options);

// The largest way that a coordinate of the leading kind goes; 1 for angles.
double scaleOfMotion(const tpComparison* comparison, int leading);

// Who is right --------------------------------------------------------------------------------

typedef struct tpSentence {
    const char* kind; // "good", "warning", "error" or ""
    const char* word; // that the sentence begins with, or ""
    char text[1600];  // the rest of it
} tpSentence;

typedef struct tpVerdict {
    tpSentence sentences[8];
    int count;
} tpVerdict;

void giveVerdict(const tpComparison* comparison, tpVerdict* verdict);

// Advice --------------------------------------------------------------------------------------

// Which stepper and step reach a hundredth, a thousandth and a ten-thousandth of how far things
// move, at what cost and why.
void printAdvice(const tpComparison* comparison);
void writeAdviceJson(const tpComparison* comparison, FILE* stream);

// Output --------------------------------------------------------------------------------------

// A text as a JSON string. '<' is escaped as well, so that it may stand in a page's script.
void writeJsonText(const char* text, FILE* stream);
const char* runStatusWord(const tpComparedRun* run);

// Whether a run costs less than another one (NULL: nothing is cheaper than a run). Times of a few
// milliseconds are noise: such runs are ordered by their steps.
bool isCheaperRun(const tpComparedRun* run, const tpComparedRun* than);

// The CPU time of a run in seconds as text, after `below` the shortest time that means something.
const char* runTimeText(const tpComparedRun* run, const char* below, char* buffer, size_t size);
void printComparison(const tpComparison* comparison);
bool writeComparisonCsv(const tpComparison* comparison, const char* path);
void writeComparisonJson(const tpComparison* comparison, bool withTrajectories, FILE* stream);
bool writeComparisonPage(const tpComparison* comparison, const char* path);

#endif
