// What is known of many runs by each stepper, in known.txt: their bits, as hashes, and their work,
// as a count. Every compiler, every width of vectors and every machine gives both, and so does the
// next version, if it does not say otherwise.
//
// The bits are those of states, contacts, joints and reports, and of what the world keeps for its
// next step (a snapshot). The work is what step_budget.h counts: multiply-adds of solves, and
// queries by the pairs of shapes that were near. No clock is read.
//
// Neither tells that something is right: they tell that something is another. A change that is
// meant to change trajectories says so in CHANGELOG.md, one that is meant to change the work says
// in its commit by how much; then the file is written anew:
//
//     build/release/tests/determinism/test_determinism_known --write
//
// The same command resolves two changes of known.txt that met.

#include <stdlib.h>
#include <string.h>

#include "dynamics/step_budget.h"
#include "support/hash.h"
#include "support/part_worlds.h"
#include "tippe/queries.h"
#include "tippe/scene.h"
#include "world/world.h"

static const char* const listPath = TIPPE_SOURCE_DIR "/tests/determinism/known.txt";

enum { maxRuns = 300, columnCount = 8 };

static const tpStepperId columns[columnCount] = { tp_stewartTrinkle,     tp_anitescu,
                                                  tp_mirtichCanny,       tp_benderSchmitt,
                                                  tp_chakrabortyTrinkle, tp_penalty,
                                                  tp_smallSteps,         tp_auto };

// What is known of a run by a stepper, as text.
typedef struct Known {
    char bits[16]; // "-": too slow to be run
    char work[24];
} Known;

// A line of the list: what runs, for how many steps, and what is known of it by each stepper.
typedef struct KnownRun {
    // A scene, or the number of a world of part_worlds.h; then ?option=value, &option=value.
    char name[192];
    int steps;
    Known known[columnCount];
} KnownRun;

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
static tpWorld* makeRun(const char* name, tpStepperId stepper, double* step) {
    if (strchr(name, '.') == NULL) {
        Setting setting = { stepper, { 1.0, 1.0, 1.0 }, 0.0, atoi(name) };
        *step = 0.01;
        return makeWorld(&setting);
    }
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", TIPPE_SOURCE_DIR, name);
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

static void setOptions(tpWorld* world, char* options) {
    for (char* key = strtok(options, "&"); key != NULL; key = strtok(NULL, "&")) {
        char* value = strchr(key, '=');
        assert_non_null(value);
        *value = '\0';
        tpError error;
        if (tpWorld_SetOption(world, key, value + 1, &error) != tp_success) {
            fail_msg("%s", error.message);
        }
    }
}

// What a user does to a world between steps: forces, impulses and efforts, now and then.
static void meddle(tpWorld* world, int step) {
    int count = tpWorld_GetBodyCount(world), joints = tpWorld_GetJointCount(world);
    tpBodyId body = tpWorld_GetBody(world, step % count);
    tpVec3 force = { 0.3, -0.2, 0.5 }, point = { 0.01, 0.02, -0.03 };
    tpFrame frame = step % 2 == 0 ? tp_bodyFrame : tp_worldFrame;
    if (step % 5 == 1) {
        tpBody_ApplyForce(world, body, force, frame);
        tpBody_ApplyTorque(world, body, tpScale(0.01, force), frame);
    }
    if (step % 7 == 2) {
        tpVec3 place =
            frame == tp_bodyFrame ? point : tpAdd(tpBody_GetPosition(world, body), point);
        tpBody_ApplyForceAt(world, body, force, place, frame);
        tpBody_ApplyImpulseAt(world, body, tpScale(0.01, force), place, frame);
    }
    if (joints > 0 && step % 3 == 1) {
        tpJointId joint = tpWorld_GetJoint(world, step % joints);
        if (tpJoint_GetCoordinateCount(world, joint) > 0) {
            tpJoint_ApplyEffort(world, joint, 0, 0.2);
        }
    }
}

static bool hashRay(const tpRayResult* ray, void* context) {
    uint64_t* hash = context;
    hashNumber(hash, ray->isHit);
    if (ray->isHit) {
        hashNumber(hash, ray->fraction);
        hashVector(hash, ray->point);
        hashVector(hash, ray->normal);
        hashNumber(hash, ray->triangle);
    }
    return true;
}

// From all around to the body, and through it.
static void hashRays(uint64_t* hash, const tpWorld* world, tpVec3 center) {
    for (int k = 0; k < 6; ++k) {
        tpVec3 to = { 0.9 - 0.3 * k, k % 2 == 0 ? 0.7 : -0.4, 0.6 - 0.25 * k };
        tpRayResult ray =
            tpWorld_CastRay(world, tpMulAdd(center, 2.0, to), tpScale(-3.0, to), UINT32_MAX);
        hashRay(&ray, hash);
    }
    tpWorld_CastRayAtAll(world, tpAdd(center, tpMakeVec3(0.01, 0.02, 3.0)),
                         tpMakeVec3(0.02, -0.01, -5.0), UINT32_MAX, hashRay, hash);
}

// A shape of the world against the others: distances, casts, overlaps.
static void hashNeighbours(uint64_t* hash, const tpWorld* world, tpShapeId shape, tpShapeId other) {
    tpClosest closest = { 0 };
    tpShapeCastResult cast = { 0 };
    tpPose pose = tpBody_GetPose(world, tpShape_GetBody(world, shape));
    if (tpWorld_ClosestPoints(world, shape, other, &closest) == tp_success) {
        hashClosest(hash, &closest);
    }
    pose.position.z += 1.5;
    const tpGeometry* geometry = tpShape_GetGeometry(world, shape);
    if (tpWorld_CastShape(world, geometry, pose, tpMakeVec3(0.1, 0.05, -2.0), 1e-4, UINT32_MAX,
                          &cast) == tp_success &&
        cast.hit.isHit) {
        hashNumber(hash, cast.hit.fraction);
        hashNumber(hash, cast.hit.startsTouching);
        hashClosest(hash, &cast.hit.closest);
        hashNumber(hash, cast.shape.slot);
    }
    pose.position.z -= 1.45;
    tpShapeId ids[8] = { 0 };
    int count = tpWorld_OverlapShape(world, geometry, pose, UINT32_MAX, ids, 8);
    hashNumber(hash, count);
    for (int k = 0; k < count && k < 8; ++k) {
        hashNumber(hash, ids[k].slot);
    }
}

// What can be asked of a world where it stands.
static void hashQueries(uint64_t* hash, tpWorld* world) {
    hashNumber(hash, tpWorld_GetKineticEnergy(world));
    hashVector(hash, tpWorld_GetLinearMomentum(world));
    hashVector(hash, tpWorld_GetAngularMomentum(world, tpMakeVec3(0.3, 0.1, -0.2)));
    tpOverlap overlaps[16];
    int count = tpWorld_FindOverlaps(world, 0.0, overlaps, 16);
    hashNumber(hash, count);
    for (int k = 0; k < count && k < 16; ++k) {
        hashNumber(hash, overlaps[k].depth);
    }
    tpShapeId last = { 0 };
    int bodies = tpWorld_GetBodyCount(world);
    for (int i = bodies - 1; i >= 0 && i >= bodies - 8; --i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        hashRays(hash, world, tpBody_GetPosition(world, body));
        if (tpBody_GetShapeCount(world, body) > 0) {
            tpShapeId shape = tpBody_GetShape(world, body, 0);
            if (last.slot != 0) {
                hashNeighbours(hash, world, shape, last);
            }
            last = shape;
        }
    }
}

// A world of the run as it begins.
static tpWorld* beginRun(const KnownRun* run, tpStepperId stepper, double* step) {
    char name[sizeof(run->name)];
    strcpy(name, run->name);
    char* options = strchr(name, '?');
    if (options != NULL) {
        *options++ = '\0';
    }
    tpWorld* world = makeRun(name, stepper, step);
    if (options != NULL) {
        setOptions(world, options);
    }
    return world;
}

// The state as bytes, into another world that has just begun: it goes on in the same way. The world
// is given back in the place of the old one.
static tpWorld* moveOver(tpWorld* world, tpWorld* other) {
    size_t size;
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    assert_non_null(snapshot);
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    tpSnapshot* copy = tpCreateSnapshot(bytes, size, NULL, NULL);
    assert_non_null(copy);
    tpDestroySnapshot(snapshot);
    assert_int_equal(tpWorld_Restore(other, copy, NULL), tp_success);
    tpDestroySnapshot(copy);
    tpDestroyWorld(world);
    return other;
}

// What queries have found near each other, and keep of it for the next one.
static void hashPairs(uint64_t* hash, const tpWorld* world) {
    const tpCollider* collider = world->system.collider;
    if (collider == NULL) {
        return;
    }
    size_t size = tpCollider_StateSize(collider);
    void* state = malloc(size + 1);
    assert_non_null(state);
    tpCollider_SaveState(collider, state);
    hashNumber(hash, (double)size);
    hashBytes(hash, state, size);
    free(state);
}

static void follow(const KnownRun* run, tpStepperId stepper, Known* known) {
    double step, work = 0.0;
    tpWorld* world = beginRun(run, stepper, &step);
    bool isOwn = strncmp(run->name, "tests/", 6) == 0;
    uint64_t hash = hashStart;
    for (int k = 0; k < run->steps; ++k) {
        if (isOwn && (k == run->steps / 2 || k == run->steps - 10)) {
            world = moveOver(world, beginRun(run, stepper, &step));
        }
        if (isOwn) {
            meddle(world, k);
        }
        tpStepReport report = tpWorld_Step(world, step);
        hashMotion(&hash, world);
        hashForces(&hash, world);
        hashReport(&hash, &report);
        hashPairs(&hash, world);
        work += tpStepBudget_Work(&world->system) + report.work;
    }
    if (isOwn) {
        hashQueries(&hash, world);
    }
    tpDestroyWorld(world);
    writeHash(hash, known->bits);
    snprintf(known->work, sizeof(known->work), "%.10g", work);
}

static bool isComment(const char* line) {
    return line[0] == '#' || line[0] == '\n';
}

static void readRun(const char* line, KnownRun* run) {
    int used = 0;
    assert_int_equal(sscanf(line, "%191s %d%n", run->name, &run->steps, &used), 2);
    for (int i = 0; i < columnCount; ++i) {
        Known* known = &run->known[i];
        int more = 0;
        strcpy(known->bits, columns[i] == tp_auto ? "-" : "?"); // auto where the list asks for it
        strcpy(known->work, "?");
        if (sscanf(line + used, " %15[^: \n]%n", known->bits, &more) == 1) {
            used += more;
        }
        if (sscanf(line + used, ":%23s%n", known->work, &more) == 1) {
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

static bool isRun(const KnownRun* run, int column) {
    return strcmp(run->known[column].bits, "-") != 0;
}

// How many runs are another, by their bits and by their work. A run with other bits may well cost
// another amount: that is not told twice.
typedef struct Changed {
    int bits, work;
} Changed;

static void countChanged(const KnownRun* run, Changed* changed) {
    for (int i = 0; i < columnCount; ++i) {
        if (!isRun(run, i)) {
            continue;
        }
        const Known* known = &run->known[i];
        const char* name = tpStepperName(columns[i]);
        Known now;
        follow(run, columns[i], &now);
        if (strcmp(now.bits, known->bits) != 0) {
            printf("%s by %s: %s, known as %s\n", run->name, name, now.bits, known->bits);
            ++changed->bits;
        } else if (strcmp(now.work, known->work) != 0) {
            printf("%s by %s: work %s, known as %s\n", run->name, name, now.work, known->work);
            ++changed->work;
        }
    }
}

static Changed changed;

static int runAll(void** state) {
    (void)state;
    static KnownRun runs[maxRuns];
    static char head[4096];
    int count = readList(runs, head, sizeof(head));
    assert_true(count > 0);
    for (int n = 0; n < count; ++n) {
        countChanged(&runs[n], &changed);
    }
    return 0;
}

static void bitsAreKnown(void** state) {
    (void)state;
    if (changed.bits > 0) {
        fail_msg("%d runs have other bits than tests/determinism/known.txt says. If that is meant, "
                 "say so in CHANGELOG.md, run test_determinism_known --write and commit the file",
                 changed.bits);
    }
}

static void workIsKnown(void** state) {
    (void)state;
    if (changed.work > 0) {
        fail_msg("%d runs give the same bits as before by another amount of counted work. If that "
                 "is meant, say in the commit by how much, run test_determinism_known --write and "
                 "commit tests/determinism/known.txt",
                 changed.work);
    }
}

static int writeList(void) {
    static KnownRun runs[maxRuns];
    static char head[4096];
    int count = readList(runs, head, sizeof(head));
    for (int n = 0; n < count; ++n) {
        for (int i = 0; i < columnCount; ++i) {
            if (isRun(&runs[n], i)) {
                follow(&runs[n], columns[i], &runs[n].known[i]);
            }
        }
    }
    FILE* file = fopen(listPath, "w");
    if (file == NULL) {
        return 1;
    }
    fputs(head, file);
    for (int n = 0; n < count; ++n) {
        fprintf(file, "%s %d", runs[n].name, runs[n].steps);
        for (int i = 0; i < columnCount; ++i) {
            const Known* known = &runs[n].known[i];
            fprintf(file, isRun(&runs[n], i) ? " %s:%s" : " %s", known->bits, known->work);
        }
        fprintf(file, "\n");
    }
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argumentCount, char** arguments) {
    if (argumentCount > 1 && strcmp(arguments[1], "--write") == 0) {
        return writeList();
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(bitsAreKnown),
                                        cmocka_unit_test(workIsKnown) };
    return cmocka_run_group_tests(tests, runAll, NULL);
}
