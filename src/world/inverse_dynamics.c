// Efforts that make a motion, found by taking the step: whatever the stepper, its contacts and
// laws, the efforts are those which that very step needs.
//
// With e the efforts of the driven coordinates and s(e) their speeds after the step, s(e) = wanted
// is solved by Newton's method. The derivative comes from one step per driven coordinate; between
// solves that do not change which contacts slide the speeds are linear in the efforts, up to the
// curvature of the step, so that it is made anew only if an iteration gains too little.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "tippe/state.h"
#include "world/require.h"

typedef struct EffortSearch {
    tpWorld* world;
    tpSnapshot* start;
    double h;
    int count;      // coordinates of the world
    int driven;     // of them
    int* places;    // of the driven ones among all
    double* wanted; // speeds of the driven ones
    double *efforts, *trial, *step, *kept;
    double *speeds, *missed, *other; // of all coordinates
    double *matrix, *factors;        // driven x driven, column by column
    double reach;                    // change of speeds by which the next derivatives are taken
    bool isOutOfMemory;
} EffortSearch;

// Speeds after a step with these efforts; the world goes back afterwards. False if the step
// could not be taken.
static bool stepWith(EffortSearch* search, const double* efforts, double* speeds) {
    tpWorld* world = search->world;
    for (int i = 0; i < search->driven; ++i) {
        search->other[search->places[i]] = efforts[i];
    }
    bool isDone = tpWorld_ApplyEfforts(world, search->other, NULL) == tp_success &&
                  !tpWorld_Step(world, search->h).undone;
    tpWorld_ReadCoordinates(world, NULL, speeds, NULL);
    return tpWorld_Restore(world, search->start, NULL) == tp_success && isDone;
}

// Largest difference from the speeds wanted; `missed` receives all of them.
static double judge(const EffortSearch* search, const double* speeds, double* missed) {
    double largest = 0.0;
    for (int i = 0; i < search->driven; ++i) {
        missed[i] = search->wanted[i] - speeds[search->places[i]];
        largest = fmax(largest, fabs(missed[i]));
        largest = isfinite(missed[i]) ? largest : INFINITY;
    }
    return largest;
}

// Pushes that are tried to find one that moves a coordinate by a useful amount.
enum { maxPushes = 8 };

// Derivatives of the speeds by the efforts, at efforts with the speeds given.
static bool differentiate(EffortSearch* search, const double* speeds) {
    int n = search->driven;
    double* changed =
        search->matrix + (size_t)n * (size_t)n; // one more column: scratch of all speeds
    for (int k = 0; k < n; ++k) {
        // A push that changes a speed by a part that rounding leaves alone; found from one of unit
        // size.
        double push = 1.0;
        bool isScaled = false;
        for (int pass = 0; pass < maxPushes; ++pass) {
            memcpy(search->trial, search->efforts, sizeof(double) * (size_t)n);
            search->trial[k] += push;
            if (!stepWith(search, search->trial, changed)) {
                return false;
            }
            double change = fabs(changed[search->places[k]] - speeds[search->places[k]]);
            double goal = search->reach * (1.0 + fabs(speeds[search->places[k]]));
            bool isGood = change > 1e-3 * goal && change < 1e3 * goal;
            if (isGood || pass == maxPushes - 1 || (isScaled && change > 0.0)) {
                break;
            }
            // What friction holds does not move at all, or by rounding, before it gives way.
            isScaled = change > 1e-9 * goal;
            push *= isScaled ? goal / change : 100.0;
        }
        for (int i = 0; i < n; ++i) {
            search->matrix[(size_t)k * (size_t)n + (size_t)i] =
                (changed[search->places[i]] - speeds[search->places[i]]) / push;
        }
    }
    return true;
}

// step = matrix^-1 missed, by elimination with partial pivoting. False if the matrix is
// singular: some efforts do nothing.
static bool solve(EffortSearch* search) {
    int n = search->driven;
    double *A = search->factors, *x = search->step;
    memcpy(A, search->matrix, sizeof(double) * (size_t)n * (size_t)n);
    memcpy(x, search->missed, sizeof(double) * (size_t)n);
    double scale = 0.0;
    for (int i = 0; i < n * n; ++i) {
        scale = fmax(scale, fabs(A[i]));
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(A[k * n + i]) > fabs(A[k * n + best]) ? i : best;
        }
        if (!(fabs(A[k * n + best]) > 1e-13 * scale)) {
            return false;
        }
        for (int j = 0; j < n && best != k; ++j) {
            double kept = A[j * n + k];
            A[j * n + k] = A[j * n + best];
            A[j * n + best] = kept;
        }
        double kept = x[k];
        x[k] = x[best];
        x[best] = kept;
        for (int i = k + 1; i < n; ++i) {
            double factor = A[k * n + i] / A[k * n + k];
            for (int j = k; j < n; ++j) {
                A[j * n + i] -= factor * A[j * n + k];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            x[k] -= A[j * n + k] * x[j];
        }
        x[k] /= A[k * n + k];
    }
    return true;
}

// Leaves the last efforts tried; the best are kept. Returns by how much these miss the speeds.
static double approach(EffortSearch* search) {
    enum { maxIterations = 40 };
    static const double goal = 1e-12; // of the speeds, relative to one
    double largest = 0.0, best = INFINITY, last = INFINITY;
    bool hasMatrix = false;
    for (int iteration = 0; iteration < maxIterations; ++iteration) {
        if (!stepWith(search, search->efforts, search->speeds)) {
            return best;
        }
        largest = judge(search, search->speeds, search->missed);
        if (largest < best) {
            best = largest;
            memcpy(search->kept, search->efforts, sizeof(double) * (size_t)search->driven);
        }
        bool isSlow = iteration > 0 && !(largest < 0.1 * last);
        if (largest <= goal || (isSlow && largest < 1e-11) || !isfinite(largest)) {
            return best;
        }
        if (!hasMatrix || isSlow) {
            if (!differentiate(search, search->speeds)) {
                return best;
            }
            hasMatrix = true;
            // Efforts that come to a kink are followed from nearer by.
            search->reach = fmax(0.1 * search->reach, 1e-8);
        }
        last = largest;
        if (!solve(search)) {
            return best;
        }
        for (int i = 0; i < search->driven; ++i) {
            search->efforts[i] += search->step[i];
        }
    }
    return best;
}

static double search(EffortSearch* search) {
    double missed = approach(search);
    memcpy(search->efforts, search->kept, sizeof(double) * (size_t)search->driven);
    return missed;
}

// Room for the numbers of a search.
typedef struct SearchMemory {
    double* numbers;
    size_t bytes;
} SearchMemory;

// Lays out the arrays of a search, and takes the speeds that are wanted. False if memory ran out.
static bool layOut(EffortSearch* search, SearchMemory* memory, const double* speeds) {
    size_t n = (size_t)search->driven, all = (size_t)search->count;
    size_t numbers = 6 * n + 3 * all + n * n + all + n * n;
    memory->bytes = sizeof(double) * (numbers + 1) + sizeof(int) * (n + 1);
    memory->numbers = tpAllocateZeroed(&search->world->system.allocator, memory->bytes);
    if (memory->numbers == NULL) {
        return false;
    }
    search->wanted = memory->numbers;
    search->efforts = search->wanted + n;
    search->trial = search->efforts + n;
    search->step = search->trial + n;
    search->missed = search->step + n;
    search->kept = search->missed + n;
    search->speeds = search->kept + n;
    search->other = search->speeds + all;
    search->matrix = search->other + 2 * all;
    search->factors = search->matrix + n * n + all;
    search->places = (int*)(memory->numbers + numbers + 1);
    for (int i = 0, k = 0; i < search->count; ++i) {
        if (!isnan(speeds[i])) {
            search->wanted[k] = speeds[i];
            search->places[k++] = i;
        }
    }
    return true;
}

// The search from the state of now, with trial steps that are nobody's events; `missed` is by how
// much the speeds are missed. False if memory ran out.
static bool searchUnseen(EffortSearch* state, double* missed) {
    tpWorld* world = state->world;
    bool isWatching = world->watch.isOn;
    int eventCount = world->watch.events.count;
    world->watch.isOn = false;
    world->watch.isCurrent = world->watch.isCurrent || isWatching;
    state->start = tpWorld_Snapshot(world);
    bool isDone = state->start != NULL;
    if (isDone) {
        *missed = search(state);
        world->watch.events.count = eventCount;
    }
    world->watch.isOn = isWatching;
    tpDestroySnapshot(state->start);
    return isDone;
}

tpResult tpWorld_InverseDynamics(tpWorld* world, double h, const double* speeds, double* efforts,
                                 double* residual, tpError* error) {
    TP_NEED(world, tp_badInput);
    if (!TP_REQUIRE(h > 0.0 && isfinite(h), "h", "is %g, not a positive time", h) ||
        !TP_REQUIRE(speeds != NULL, "speeds", "is NULL") ||
        !TP_REQUIRE(efforts != NULL, "efforts", "is NULL")) {
        return tpError_Set(error, tp_badInput, "inverse dynamics needs a step, speeds and efforts");
    }
    int count = tpWorld_GetCoordinateCount(world), driven = 0;
    for (int i = 0; i < count; ++i) {
        driven += isnan(speeds[i]) ? 0 : 1;
        if (isinf(speeds[i])) {
            return tpError_Set(error, tp_badInput, "speed %d is not finite", i);
        }
    }
    EffortSearch state = {
        .world = world, .h = h, .count = count, .driven = driven, .reach = 1e-3
    };
    SearchMemory memory;
    double missed = INFINITY;
    bool isDone = layOut(&state, &memory, speeds) && searchUnseen(&state, &missed);
    for (int i = 0; isDone && i < count; ++i) {
        efforts[i] = 0.0;
    }
    for (int k = 0; isDone && k < driven; ++k) {
        efforts[state.places[k]] = state.efforts[k];
    }
    tpRelease(&world->system.allocator, memory.numbers, memory.bytes);
    if (!isDone) {
        return tpError_OutOfMemory(error);
    }
    if (residual != NULL) {
        *residual = missed;
    }
    return missed <= 1e-9
               ? tp_success
               : tpError_Set(error, tp_notSolved,
                             "no efforts make these speeds; the nearest miss by %.3g", missed);
}
