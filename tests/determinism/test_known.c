// The bits that are known: states, contacts, joints and reports of many runs by each stepper, as
// hashes in known.txt. Every compiler, every width of vectors and every machine gives them, and so
// does the next version, if it does not say otherwise.
//
// A change that is meant to change trajectories says so in CHANGELOG.md and writes the file anew:
//
//     build/release/tests/determinism/test_determinism_known --write
//
// The same command resolves two changes of known.txt that met.

#include <stdlib.h>
#include <string.h>

#include "support/part_worlds.h"
#include "tippe/scene.h"

static const char* const listPath = TIPPE_SOURCE_DIR "/tests/determinism/known.txt";

enum { maxRuns = 300, columnCount = 7 };

static const tpStepperId columns[columnCount] = { tp_stewartTrinkle,     tp_anitescu,
                                                  tp_mirtichCanny,       tp_benderSchmitt,
                                                  tp_chakrabortyTrinkle, tp_penalty,
                                                  tp_smallSteps };

// A line of the list: what runs, for how many steps, and what is known of it by each stepper.
typedef struct KnownRun {
    char name[128]; // a scene, or the number of a world of part_worlds.h
    int steps;
    char hashes[columnCount][16]; // "-": too slow to be run
} KnownRun;

// FNV-1a.
static void hashBytes(uint64_t* hash, const void* start, size_t size) {
    const unsigned char* bytes = start;
    for (size_t k = 0; k < size; ++k) {
        *hash = (*hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    }
}

static void hashNumber(uint64_t* hash, double number) {
    number += 0.0; // one zero
    hashBytes(hash, &number, sizeof(number));
}

static void hashVector(uint64_t* hash, tpVec3 v) {
    hashNumber(hash, v.x);
    hashNumber(hash, v.y);
    hashNumber(hash, v.z);
}

static void hashMotion(uint64_t* hash, const tpWorld* world) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        tpQuat rotation = tpBody_GetRotation(world, body);
        hashVector(hash, tpBody_GetPosition(world, body));
        hashBytes(hash, &rotation, sizeof(rotation));
        hashVector(hash, tpBody_GetVelocity(world, body));
        hashVector(hash, tpBody_GetAngularVelocity(world, body));
    }
}

static void hashContact(uint64_t* hash, const tpContactInfo* c) {
    hashBytes(hash, &c->feature, sizeof(c->feature));
    hashVector(hash, c->point);
    hashVector(hash, c->normal);
    hashNumber(hash, c->gap);
    hashNumber(hash, c->normalImpulse);
    hashVector(hash, c->frictionImpulse);
    hashNumber(hash, c->torsionalImpulse);
    hashVector(hash, c->rollingImpulse);
    hashNumber(hash, c->slidingSpeed);
    hashNumber(hash, c->state);
    hashNumber(hash, c->collisionCount);
    hashNumber(hash, c->microcollisionCount);
    hashNumber(hash, c->energyLost);
}

static void hashForces(uint64_t* hash, const tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        hashContact(hash, &contacts[i]);
    }
    for (int i = 0; i < tpWorld_GetJointCount(world); ++i) {
        tpJointId joint = tpWorld_GetJoint(world, i);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, joint, &force, &torque);
        hashVector(hash, force);
        hashVector(hash, torque);
        for (int k = 0; k < tpJoint_GetCoordinateCount(world, joint); ++k) {
            tpCoordinateState state = tpJoint_GetState(world, joint, k);
            hashNumber(hash, state.value);
            hashNumber(hash, state.speed);
            hashNumber(hash, state.effort);
            hashNumber(hash, state.limitEffort);
        }
    }
}

static void hashReport(uint64_t* hash, const tpStepReport* r) {
    const double numbers[] = { r->time,
                               r->residual,
                               r->energyIncrease,
                               r->energyExcess,
                               r->jointDrift,
                               r->penetration,
                               r->contactCount,
                               r->solveCount,
                               r->iterationCount,
                               r->failureCount,
                               r->substepCount,
                               r->contactQueryCount,
                               r->sleepingCount,
                               r->noteCount,
                               r->converged,
                               r->undone,
                               r->coneViolation,
                               r->dissipationViolation,
                               r->kineticBefore,
                               r->kineticAfter,
                               r->potentialBefore,
                               r->potentialAfter,
                               r->externalWork,
                               r->frictionLoss,
                               r->impactLoss,
                               r->numericalLoss,
                               r->violations,
                               r->rigidResidual,
                               r->gapShift,
                               r->rounding,
                               r->limits.residual,
                               r->limits.energy,
                               r->limits.jointDrift,
                               r->limits.penetration };
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); ++k) {
        hashNumber(hash, numbers[k]);
    }
    hashBytes(hash, r->figures, sizeof(r->figures));
    for (int k = 0; k < r->noteCount; ++k) {
        hashBytes(hash, r->notes[k], strlen(r->notes[k]));
    }
    if (r->fallback != NULL) {
        hashBytes(hash, r->fallback, strlen(r->fallback));
    }
}

// The world of a run, and its step.
static tpWorld* makeRun(const KnownRun* run, tpStepperId stepper, double* step) {
    if (strchr(run->name, '.') == NULL) {
        Setting setting = { stepper, { 1.0, 1.0, 1.0 }, 0.0, atoi(run->name) };
        *step = 0.01;
        return makeWorld(&setting);
    }
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", TIPPE_SOURCE_DIR, run->name);
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, NULL, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    *step = scene->simulation.step;
    tpDestroyScene(scene);
    assert_int_equal(tpWorld_SetStepper(world, stepper), tp_success);
    return world;
}

static void follow(const KnownRun* run, tpStepperId stepper, char text[16]) {
    double step;
    tpWorld* world = makeRun(run, stepper, &step);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int k = 0; k < run->steps; ++k) {
        tpStepReport report = tpWorld_Step(world, step);
        hashMotion(&hash, world);
        hashForces(&hash, world);
        hashReport(&hash, &report);
    }
    tpDestroyWorld(world);
    snprintf(text, 16, "%08x", (unsigned)(hash ^ (hash >> 32)));
}

static bool isComment(const char* line) {
    return line[0] == '#' || line[0] == '\n';
}

static void readRun(const char* line, KnownRun* run) {
    int used = 0;
    assert_int_equal(sscanf(line, "%127s %d%n", run->name, &run->steps, &used), 2);
    for (int i = 0; i < columnCount; ++i) {
        int more = 0;
        strcpy(run->hashes[i], "?");
        if (sscanf(line + used, "%15s%n", run->hashes[i], &more) == 1) {
            used += more;
        }
    }
}

// The list's comments, which come first, are put into `head`. A run that is there twice is so
// because two changes of the list met.
static int readList(KnownRun* runs, char* head, size_t size) {
    FILE* file = fopen(listPath, "r");
    assert_non_null(file);
    char line[512];
    int count = 0;
    head[0] = '\0';
    while (fgets(line, sizeof(line), file) != NULL) {
        if (isComment(line)) {
            strncat(head, line, size - strlen(head) - 1);
            continue;
        }
        assert_true(count < maxRuns);
        readRun(line, &runs[count]);
        int first = 0;
        while (strcmp(runs[first].name, runs[count].name) != 0) {
            ++first;
        }
        count += first == count;
    }
    fclose(file);
    return count;
}

static int countChanged(const KnownRun* run) {
    int changed = 0;
    for (int i = 0; i < columnCount; ++i) {
        char hash[16];
        if (strcmp(run->hashes[i], "-") != 0) {
            follow(run, columns[i], hash);
            if (strcmp(hash, run->hashes[i]) != 0) {
                printf("%s by %s: %s, known as %s\n", run->name, tpStepperName(columns[i]), hash,
                       run->hashes[i]);
                ++changed;
            }
        }
    }
    return changed;
}

static void bitsAreKnown(void** state) {
    (void)state;
    static KnownRun runs[maxRuns];
    static char head[4096];
    int count = readList(runs, head, sizeof(head)), changed = 0;
    assert_true(count > 0);
    for (int n = 0; n < count; ++n) {
        changed += countChanged(&runs[n]);
    }
    if (changed > 0) {
        fail_msg("%d runs have other bits than tests/determinism/known.txt says. If that is meant, "
                 "say so in CHANGELOG.md, run test_determinism_known --write and commit the file",
                 changed);
    }
}

static int writeList(void) {
    static KnownRun runs[maxRuns];
    static char head[4096];
    int count = readList(runs, head, sizeof(head));
    FILE* file = fopen(listPath, "w");
    if (file == NULL) {
        return 1;
    }
    fputs(head, file);
    for (int n = 0; n < count; ++n) {
        fprintf(file, "%s %d", runs[n].name, runs[n].steps);
        for (int i = 0; i < columnCount; ++i) {
            if (strcmp(runs[n].hashes[i], "-") != 0) {
                follow(&runs[n], columns[i], runs[n].hashes[i]);
            }
            fprintf(file, " %s", runs[n].hashes[i]);
        }
        fprintf(file, "\n");
    }
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argumentCount, char** arguments) {
    if (argumentCount > 1 && strcmp(arguments[1], "--write") == 0) {
        return writeList();
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(bitsAreKnown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
