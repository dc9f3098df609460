// The runs of a comparison, each in a process of its own: a stepper that crashes or does not end
// costs its row of the table, not the table.

#define _DEFAULT_SOURCE // memory shared with children, which POSIX 2008 cannot give

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "progress.h"
#include "tippe/state.h"

static const double nearEnough = 1e-9; // of a step: a sample time that counts as a step's end

static void* getShared(size_t bytes) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static size_t statesSize(const tpComparison* comparison) {
    size_t count = (size_t)comparison->sampleCount * (size_t)comparison->movingCount;
    return (count > 0 ? count : 1) * tp_stateWidth * sizeof(double);
}

static bool shareMemory(tpComparison* comparison) {
    for (int i = 0; i < comparison->runCount; ++i) {
        tpComparedRun* run = &comparison->runs[i];
        run->outcome = getShared(sizeof(tpRunOutcome));
        run->states = getShared(statesSize(comparison));
        if (run->outcome == NULL || run->states == NULL) {
            return false;
        }
    }
    return true;
}

void releaseRuns(tpComparison* comparison) {
    for (int i = 0; i < comparison->runCount; ++i) {
        tpComparedRun* run = &comparison->runs[i];
        if (run->outcome != NULL) {
            munmap(run->outcome, sizeof(tpRunOutcome));
        }
        if (run->states != NULL) {
            munmap(run->states, statesSize(comparison));
        }
        run->outcome = NULL;
        run->states = NULL;
    }
}

// In the run's process ------------------------------------------------------------------------

static void getStates(const tpWorld* world, double* states) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        if (tpBody_GetKind(world, body) == tp_fixedBody) {
            continue;
        }
        tpVec3 x = tpBody_GetPosition(world, body), v = tpBody_GetVelocity(world, body);
        tpQuat q = tpBody_GetRotation(world, body);
        tpVec3 w = tpBody_GetAngularVelocity(world, body);
        const double state[tp_stateWidth] = { x.x, x.y, x.z, q.w, q.x, q.y, q.z,
                                              v.x, v.y, v.z, w.x, w.y, w.z };
        memcpy(states, state, sizeof(state));
        states += tp_stateWidth;
    }
}

// States on the straight line from a (part 0) to b (part 1); quaternions along the shorter way.
static void mixStates(const double* a, const double* b, double part, int bodyCount, double* out) {
    for (int i = 0; i < bodyCount;
         ++i, a += tp_stateWidth, b += tp_stateWidth, out += tp_stateWidth) {
        double dot = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6];
        for (int k = 0; k < tp_stateWidth; ++k) {
            bool isRotation = k >= 3 && k < 7;
            double end = isRotation && dot < 0.0 ? -b[k] : b[k];
            out[k] = a[k] + part * (end - a[k]);
        }
        double length = sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5] + out[6] * out[6]);
        for (int k = 3; k < 7; ++k) {
            out[k] /= length;
        }
    }
}

// Samples up to the time of step k, whose states are `now`; `before` are those of the step before.
static void takeSamples(const tpComparison* comparison, tpComparedRun* run, int64_t k,
                        const double* before, const double* now) {
    tpRunOutcome* outcome = run->outcome;
    size_t width = (size_t)comparison->movingCount * tp_stateWidth;
    while (outcome->sampleCount < comparison->sampleCount) {
        double steps = comparison->times[outcome->sampleCount] / run->step; // counted in steps
        if (steps > (double)k + nearEnough) {
            break;
        }
        double* out = run->states + width * (size_t)outcome->sampleCount;
        if (fabs(steps - (double)k) <= nearEnough || k == 0) {
            memcpy(out, now, width * sizeof(double));
        } else {
            mixStates(before, now, steps - (double)(k - 1), comparison->movingCount, out);
        }
        outcome->sampleCount += 1;
    }
}

static void keepNote(tpRunOutcome* outcome, const char* text) {
    for (int i = 0; i < outcome->noteCount; ++i) {
        if (strncmp(outcome->notes[i].text, text, longestRunMessage - 1) == 0) {
            outcome->notes[i].stepCount += 1;
            return;
        }
    }
    if (outcome->noteCount < mostRunNotes) {
        tpRunNote* note = &outcome->notes[outcome->noteCount++];
        snprintf(note->text, sizeof(note->text), "%s", text);
        note->stepCount = 1;
    }
}

static double cpuSeconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Puts the bodies where the truth says that they are at the first time, as far as it knows.
static bool startAtTruth(const tpComparison* comparison, tpWorld* world, tpError* error) {
    size_t bodies = (size_t)comparison->movingCount;
    double* numbers = malloc((bodies * tp_stateWidth + 1) * sizeof(double));
    if (numbers == NULL) {
        return false;
    }
    tpStateArrays arrays = { numbers, numbers + 3 * bodies, numbers + 7 * bodies,
                             numbers + 10 * bodies };
    double* const starts[] = { arrays.positions, arrays.rotations, arrays.velocities,
                               arrays.angularVelocities };
    static const int firsts[] = { 0, 3, 7, 10 }, widths[] = { 3, 4, 3, 3 };
    tpWorld_ReadState(world, &arrays);
    for (size_t b = 0; b < bodies; ++b) {
        const double* truth = comparison->truth + b * tp_stateWidth;
        for (int part = 0; part < 4; ++part) {
            for (int k = 0; k < widths[part]; ++k) {
                double known = truth[firsts[part] + k];
                double* number = &starts[part][b * (size_t)widths[part] + (size_t)k];
                *number = isnan(known) ? *number : known;
            }
        }
    }
    tpResult result = tpWorld_WriteState(world, &arrays, error);
    free(numbers);
    return result == tp_success;
}

static tpRunStatus stepThrough(const tpComparison* comparison, tpComparedRun* run, tpWorld* world,
                               double* memory) {
    tpRunOutcome* outcome = run->outcome;
    size_t width = (size_t)comparison->movingCount * tp_stateWidth;
    double *before = memory, *now = memory + width;
    getStates(world, now);
    takeSamples(comparison, run, 0, now, now);
    tpAudit_Start(&outcome->audit, world);
    for (int64_t k = 1; k <= run->stepCount; ++k) {
        double started = cpuSeconds();
        tpStepReport report = tpWorld_Step(world, run->step);
        outcome->cpuTime += cpuSeconds() - started;
        tpAudit_AddStep(&outcome->audit, &report);
        for (int i = 0; i < report.noteCount; ++i) {
            keepNote(outcome, report.notes[i]);
        }
        if (report.undone) {
            snprintf(outcome->message, sizeof(outcome->message), "at t = %.6g s: %s",
                     (double)(k - 1) * run->step,
                     report.noteCount > 0 ? report.notes[0] : "the step was undone");
            return runStopped;
        }
        double* swapped = before;
        before = now;
        now = swapped;
        getStates(world, now);
        takeSamples(comparison, run, k, before, now);
        outcome->stepsDone = k;
    }
    return runDone;
}

// The whole life of the process. The scene is this process' own copy and may be changed.
static tpRunStatus carryOut(const tpComparison* comparison, tpComparedRun* run) {
    tpError error = { tp_success, "" };
    tpScene* scene = (tpScene*)comparison->scene;
    const tpSceneOverrides overrides = { .stepper = tpStepperName(run->stepper),
                                         .step = run->step };
    tpWorld* world = NULL;
    tpResult result = tpScene_Override(scene, &overrides, &error);
    if (result == tp_success) {
        result = tpScene_CreateWorld(scene, NULL, 1, &world, &error);
    }
    size_t width = (size_t)comparison->movingCount * tp_stateWidth;
    double* memory = malloc((2 * width + 1) * sizeof(double));
    tpRunStatus status = runRefused;
    if (result == tp_success && comparison->startsAtTruth &&
        !startAtTruth(comparison, world, &error)) {
        result = tp_badInput;
    }
    if (result == tp_success && memory != NULL) {
        status = stepThrough(comparison, run, world, memory);
    } else {
        snprintf(run->outcome->message, sizeof(run->outcome->message), "%.*s",
                 longestRunMessage - 1, result != tp_success ? error.message : "out of memory");
    }
    free(memory);
    tpDestroyWorld(world);
    return status;
}

// In the parent -------------------------------------------------------------------------------

static pid_t startRun(tpComparison* comparison, int index) {
    tpComparedRun* run = &comparison->runs[index];
    run->outcome->status = runGoing;
    fflush(NULL);
    pid_t process = fork();
    if (process != 0) {
        return process;
    }
    signal(SIGXCPU, SIG_DFL);
    rlim_t seconds = (rlim_t)ceil(comparison->timeLimit);
    const struct rlimit limit = { seconds, seconds + 5 };
    setrlimit(RLIMIT_CPU, &limit);
    run->outcome->status = carryOut(comparison, run);
    _exit(0);
}

// What a process that ended left unsaid.
static void noteEnd(const tpComparison* comparison, tpRunOutcome* outcome, int status) {
    if (outcome->status != runGoing) {
        return;
    }
    bool isTimeUp =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    outcome->status = isTimeUp ? runTimedOut : runCrashed;
    if (isTimeUp) {
        snprintf(outcome->message, sizeof(outcome->message),
                 "not done after %.0f s of processor time (%lld steps)", comparison->timeLimit,
                 (long long)outcome->stepsDone);
    } else {
        snprintf(outcome->message, sizeof(outcome->message),
                 "its process ended by %s after %lld steps",
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "itself",
                 (long long)outcome->stepsDone);
    }
}

static void showRuns(tpProgress* progress, const tpComparison* comparison) {
    int64_t done = 0;
    for (int i = 0; i < comparison->runCount; ++i) {
        const tpComparedRun* run = &comparison->runs[i];
        bool hasEnded = run->outcome->status > runGoing;
        done += hasEnded ? run->stepCount : run->outcome->stepsDone;
    }
    showProgress(progress, done);
}

bool carryOutRuns(tpComparison* comparison, bool showsProgress) {
    if (!shareMemory(comparison)) {
        return false;
    }
    int64_t stepTotal = 0;
    for (int i = 0; i < comparison->runCount; ++i) {
        stepTotal += comparison->runs[i].stepCount;
    }
    tpProgress progress;
    startProgress(&progress, showsProgress, stepTotal, 0.0);
    pid_t processes[mostComparedRuns];
    int started = 0, going = 0;
    bool hasStarted = true;
    while (going > 0 || (hasStarted && started < comparison->runCount)) {
        while (hasStarted && going < comparison->jobs && started < comparison->runCount) {
            processes[started] = startRun(comparison, started);
            hasStarted = processes[started] >= 0;
            started += hasStarted ? 1 : 0;
            going += hasStarted ? 1 : 0;
        }
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            for (int i = 0; i < started; ++i) {
                if (processes[i] == ended) {
                    noteEnd(comparison, comparison->runs[i].outcome, status);
                    going -= 1;
                }
            }
        } else {
            showRuns(&progress, comparison);
            const struct timespec moment = { 0, 5000000 };
            nanosleep(&moment, NULL);
        }
    }
    endProgress(&progress);
    return hasStarted;
}
