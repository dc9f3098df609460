// Time of an impact with friction: for the table of tests/data/collisions.csv class by class, and
// for random boxes that hit each other. Minimum and median of interleaved runs.
//
// usage: bench_impacts [RUNS]

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/impact_table.h"

enum { mostRows = 64, mostClasses = 16, mostRuns = 101, repeats = 200, randomCount = 4096 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compareTimes(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

typedef struct Group {
    const char* name;
    tpImpact* impacts;
    int count, repeats;
    double times[mostRuns]; // microseconds per impact
    double steps;           // of the integration, on average
} Group;

static double sink; // keeps the compiler from leaving the work out

static void measure(Group* group, int run) {
    double start = seconds();
    long steps = 0;
    for (int k = 0; k < group->repeats; ++k) {
        for (int i = 0; i < group->count; ++i) {
            tpImpactResult result;
            tpImpact_Resolve(&group->impacts[i], &result);
            sink += result.impulse.z;
            steps += result.stepCount;
        }
    }
    double total = (double)group->repeats * group->count;
    group->times[run] = 1e6 * (seconds() - start) / total;
    group->steps = (double)steps / total;
}

static double uniform(uint64_t* state, double low, double high) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

// Boxes of all proportions that hit with a random point of theirs.
static tpImpact randomImpact(uint64_t* state) {
    tpImpactBody bodies[2];
    for (int i = 0; i < 2; ++i) {
        double m = uniform(state, 0.2, 5.0);
        double x = uniform(state, 0.1, 1.0), y = uniform(state, 0.1, 1.0),
               z = uniform(state, 0.1, 1.0);
        bodies[i].inverseMass = 1.0 / m;
        bodies[i].inverseInertia = tpDiagonal(tpMakeVec3(
            3.0 / (m * (y * y + z * z)), 3.0 / (m * (x * x + z * z)), 3.0 / (m * (x * x + y * y))));
        bodies[i].arm = tpMakeVec3(uniform(state, -x, x), uniform(state, -y, y), i == 0 ? -z : z);
        bodies[i].velocity =
            tpMakeVec3(uniform(state, -2.0, 2.0), uniform(state, -2.0, 2.0), i == 0 ? -2.0 : 0.0);
        bodies[i].angularVelocity = tpMakeVec3(uniform(state, -1.0, 1.0), uniform(state, -1.0, 1.0),
                                               uniform(state, -1.0, 1.0));
    }
    tpImpact impact = tpMakeImpact(&bodies[0], &bodies[1], tpMakeVec3(0.0, 0.0, 1.0));
    impact.friction = uniform(state, 0.1, 1.0);
    impact.restitution = uniform(state, 0.0, 1.0);
    return impact;
}

int main(int argumentCount, char** arguments) {
    static tpImpactRow rows[mostRows];
    static tpImpact table[mostRows], random[randomCount];
    static Group groups[mostClasses + 2];
    int runs = argumentCount > 1 ? atoi(arguments[1]) : 21;
    runs = runs < 1 ? 1 : runs > mostRuns ? mostRuns : runs;
    int count = readImpactTable(TIPPE_SOURCE_DIR "/tests/data/collisions.csv", rows, mostRows);
    int groupCount = 0;
    for (int i = 0; i < count; ++i) {
        table[i] = rows[i].impact;
        // The table is sorted by class.
        if (i == 0 || strcmp(rows[i].kind, rows[i - 1].kind) != 0) {
            groups[groupCount++] = (Group){ rows[i].kind, &table[i], 0, repeats, { 0.0 }, 0.0 };
        }
        groups[groupCount - 1].count += 1;
    }
    uint64_t state = 1;
    for (int i = 0; i < randomCount; ++i) {
        random[i] = randomImpact(&state);
    }
    groups[groupCount++] = (Group){ "whole table", table, count, repeats, { 0.0 }, 0.0 };
    groups[groupCount++] = (Group){ "random boxes", random, randomCount, 1, { 0.0 }, 0.0 };
    for (int run = 0; run < runs; ++run) {
        for (int i = 0; i < groupCount; ++i) {
            measure(&groups[i], run);
        }
    }
    printf("class,impacts,steps_mean,microseconds_min,microseconds_median\n");
    for (int i = 0; i < groupCount; ++i) {
        Group* group = &groups[i];
        qsort(group->times, (size_t)runs, sizeof(double), compareTimes);
        printf("%s,%d,%.2f,%.3f,%.3f\n", group->name, group->count, group->steps, group->times[0],
               group->times[runs / 2]);
    }
    return sink > 0.0 ? 0 : 1;
}
