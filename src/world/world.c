// Creation, stepping and the questions about the world as a whole.

#include "world/world.h"
#include "base/assert.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/tasks.h"
#include "dynamics/certificate.h"
#include "dynamics/contact_spring.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/least_norm.h"
#include "dynamics/loads.h"
#include "dynamics/step_budget.h"
#include "steppers/joined_step.h"
#include "world/require.h"

tpWorldDef tpDefaultWorldDef(void) {
    tpWorldDef def;
    memset(&def, 0, sizeof(def));
    def.stepper = tp_anitescu;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    def.threadCount = 1;
    def.allocator = tpDefaultAllocator();
    return def;
}

static bool createStepperState(tpWorld* world) {
    world->stepperState = NULL;
    return world->stepper->create == NULL ||
           world->stepper->create(&world->system, &world->stepperState);
}

static void destroyStepperState(tpWorld* world) {
    if (world->stepper->destroy != NULL) {
        world->stepper->destroy(&world->system, world->stepperState);
    }
    world->stepperState = NULL;
}

tpWorld* tpCreateWorld(const tpWorldDef* def) {
    if (!TP_REQUIRE(def != NULL, "def", "is NULL") ||
        !TP_REQUIRE(def->allocator.allocate != NULL && def->allocator.release != NULL,
                    "def->allocator", "has no functions") ||
        !TP_REQUIRE(tpIsFiniteVec3(def->gravity), "def->gravity", "is not finite")) {
        return NULL;
    }
    const tpStepper* stepper = tpStepper_Get(def->stepper);
    if (!TP_REQUIRE(stepper != NULL, "def->stepper", "is one that this build does not have")) {
        return NULL;
    }
    tpWorld* world = tpAllocateZeroed(&def->allocator, sizeof(tpWorld));
    if (world == NULL) {
        return NULL;
    }
    tpSystem_Create(&world->system, &def->allocator);
    world->system.lacksRotors = world->system.lacksSprings = true; // there are no joints
    world->system.gravity = def->gravity;
    world->system.isPlanar = def->planar;
    world->stepperId = def->stepper;
    world->stepper = stepper;
    world->options = tpDefaultOptions();
    // More threads than the system gives are no reason to fail: results do not depend on their
    // number.
    if (def->threadCount > 1 &&
        tpCreateTasks(&def->allocator, def->threadCount, &world->system.tasks) == tp_outOfMemory) {
        tpDestroyWorld(world);
        return NULL;
    }
    world->watch.hitSpeed = 1.0;
    // Material 0, the default: neither friction nor restitution.
    tpMaterialDef material = tpDefaultMaterialDef();
    if (tpCreateMaterial(world, &material, NULL) != 0 || !createStepperState(world)) {
        tpDestroyWorld(world);
        return NULL;
    }
    return world;
}

void tpDestroyWorld(tpWorld* world) {
    if (world == NULL || !TP_REQUIRE(world->batch == NULL, "world", "is in a batch")) {
        return;
    }
    tpAllocator allocator = world->system.allocator;
    destroyStepperState(world);
    tpDestroyTasks(world->system.tasks);
    tpIdPool_Destroy(&world->bodyIds, &allocator);
    tpIdPool_Destroy(&world->shapeIds, &allocator);
    tpIdPool_Destroy(&world->jointIds, &allocator);
    tpIdPool_Destroy(&world->couplingIds, &allocator);
    tpIdPool_Destroy(&world->sensorIds, &allocator);
    TP_FREE_ARRAY(&allocator, world->sensors);
    tpWatch_Destroy(&world->watch, &allocator);
    tpIdPool_Destroy(&world->forceIds, &allocator);
    TP_FREE_ARRAY(&allocator, world->moving);
    TP_FREE_ARRAY(&allocator, world->births);
    TP_FREE_ARRAY(&allocator, world->shown);
    tpLastEnergy_Destroy(&world->lastEnergy, &allocator);
    tpAppearance_Destroy(&world->appearance, &allocator);
    tpSystem_Destroy(&world->system);
    tpRelease(&allocator, world, sizeof(tpWorld));
}

typedef struct FiniteCheck {
    const tpSystem* system;
    atomic_bool hasFailed;
} FiniteCheck;

static void checkChunk(void* context, int chunk, int worker) {
    (void)worker;
    FiniteCheck* check = context;
    const tpSystem* system = check->system;
    tpRange range = tpChunkAt(system->bodyCount, tp_bodiesPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        const tpPose* pose = &system->poses.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        double turn = tpDotQQ(pose->rotation, pose->rotation);
        if (!tpIsFiniteVec3(pose->position) || !isfinite(turn) ||
            !tpIsFiniteVec3(velocity->linear) || !tpIsFiniteVec3(velocity->angular)) {
            atomic_store(&check->hasFailed, true);
            return;
        }
    }
}

static bool isStateFinite(const tpSystem* system) {
    FiniteCheck check = { .system = system };
    tpTasks_Run(tpSystem_BodyTasks(system), checkChunk, &check,
                tpChunksOf(system->bodyCount, tp_bodiesPerChunk));
    return !atomic_load(&check.hasFailed);
}

// Compensated, so that after k equal steps the time is k h to rounding.
static void advanceTime(tpSystem* system, double h) {
    double addend = h - system->timeError;
    double sum = system->time + addend;
    system->timeError = (sum - system->time) - addend;
    system->time = sum;
}

// Steppers know slots; ids have generations.
static void completeIds(tpWorld* world) {
    for (int i = 0; i < world->system.contacts.count; ++i) {
        tpContactInfo* contact = &world->system.contacts.data[i];
        contact->bodyA = tpWorld_BodyId(world, (int)contact->bodyA.slot - 1);
        contact->bodyB = tpWorld_BodyId(world, (int)contact->bodyB.slot - 1);
        contact->shapeA = tpWorld_ShapeId(world, (int)contact->shapeA.slot - 1);
        contact->shapeB = tpWorld_ShapeId(world, (int)contact->shapeB.slot - 1);
    }
}

// Lists the contacts of the last step where its stepper has left that for when somebody asks.
static void listPromised(tpWorld* world) {
    tpSystem* system = &world->system;
    if (system->listContacts != NULL) {
        system->listContacts(system, system->listContext);
        system->listContacts = NULL;
        completeIds(world);
    }
}

// Of the residual, which is relative. A tolerance (a velocity) that is larger says that less will
// do.
static double residualLimit(const tpWorld* world) {
    const double* values = world->options.values;
    return fmax(values[tp_toleranceOption], values[tp_certificateOption]);
}

// A step that is not taken.
static tpStepReport stillReport(const tpWorld* world, tpStepReport report) {
    report.undone = true;
    report.converged = false;
    tpStepReport_AddNote(&report, "bad step size");
    report.time = world->system.time;
    report.kineticBefore = report.kineticAfter = tpSystem_KineticEnergy(&world->system);
    report.potentialBefore = report.potentialAfter = tpSystem_PotentialEnergy(&world->system);
    return report;
}

// What users asked for this step alone is over.
static void forgetRequests(tpSystem* system, bool isTaken) {
    tpSystem_ForgetLoads(system);
    tpJoints_FinishEfforts(system);
    for (int i = 0; system->hasDisturbed && i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        if (body->hasTarget && isTaken) {
            tpSystem_SetVelocity(system, i, tpZeroVec3(), tpZeroVec3());
        }
        body->isDisturbed = body->isTired = body->hasTarget = false;
    }
    system->hasDisturbed = false;
}

static void undo(tpStepReport* report) {
    report->undone = true;
    report->converged = false;
}

// Why a step was undone whose search for contacts was given up: not for want of memory.
static void sayTooManyPairs(tpStepReport* report) {
    report->noteCount = 0;
    tpStepReport_AddNote(report,
                         "bodies move so far in a step, for their size, that too many pairs "
                         "of them could meet: take a smaller step");
}

// Whether a step can begin: with a copy of the state to go back to, and with finite energies.
static bool canBegin(tpWorld* world, tpJoinedStep* step, tpStepReport* report) {
    tpSystem* system = &world->system;
    system->leftOut = tpStepper_Lacks(world->stepper, &world->options);
    system->gives = tpSystem_Gives(system);
    bool hasEnergy = tpSystem_FindContactEnergy(system);
    tpLastEnergy_Find(&world->lastEnergy, system, &report->kineticBefore, &report->potentialBefore);
    if (!hasEnergy || !tpJoinedStep_Begin(step)) {
        tpStepReport_AddNote(report, "out of memory");
        return false;
    }
    if (!isfinite(report->kineticBefore + report->potentialBefore)) {
        tpStepReport_AddNote(report, "the energy is beyond what numbers can hold");
        return false;
    }
    return true;
}

// The stepper's work. Back to the start if the step gives numbers that are not finite.
static void takeStep(tpWorld* world, tpJoinedStep* step, tpStepReport* report) {
    tpSystem* system = &world->system;
    tpCertificate_Begin(system, residualLimit(world), report);
    tpSystem_MeasureUnits(system, step->h);
    system->certificate = world->options.values[tp_certificateOption];
    system->stepDuration = step->h;
    system->solveWork = 0.0;
    system->solveRows = 0;
    tpStepBudget_Begin(system);
    system->contactQueryCount = 0;
    system->problemCount = 0;
    system->hasTooManyPairs = false;
    tpJoinedStep_Take(step, report);
    if (report->undone && system->hasTooManyPairs) {
        sayTooManyPairs(report);
    }
    bool isStopped = tpSystem_IsStopped(system);
    system->stop = NULL; // a step that is kept is finished, whatever comes now
    if (isStopped) {
        undo(report);
        report->noteCount = 0;
        tpStepReport_AddNote(report, "stopped");
    }
    tpStepBudget_End(system, &step->start.motion, report);
    bool isGuarded = world->options.values[tp_energyGuardOption] != 0.0;
    bool isKnown = world->stepper->closesAccount && isGuarded && !report->undone &&
                   tpCertificate_TakeGrossGains(system, &step->start.motion, report);
    if (!isKnown) {
        tpSystem_FindEnergies(system, &report->kineticAfter, &report->potentialAfter);
    }
    bool isFinite =
        isStateFinite(system) && isfinite(report->kineticAfter + report->potentialAfter);
    world->lastEnergy.isKnown = false;
    if (!report->undone && isFinite && !isKnown) {
        tpLastEnergy_Note(&world->lastEnergy, system, report->kineticAfter, report->potentialAfter);
    }
    if (report->undone || !isFinite) {
        tpKeptMotion_PutBack(&step->start.motion, system);
        undo(report);
        if (report->noteCount == 0) {
            tpStepReport_AddNote(report, "the step was not finite");
        }
    }
}

// Takes the step if its stepper knows the motion already. False if it does not.
static bool followStep(tpWorld* world, double h, tpStepReport* report, tpStepStart* start) {
    tpSystem* system = &world->system;
    if (world->stepper->follow == NULL || tpSystem_IsStopped(system)) {
        return false;
    }
    tpCertificate_Begin(system, residualLimit(world), report);
    system->gives = tpSystem_Gives(system);
    system->contactQueryCount = system->problemCount = 0;
    if (!world->stepper->follow(system, world->stepperState, &world->options, h, report, start)) {
        return false;
    }
    if (!isStateFinite(system)) {
        tpStepReport_AddNote(report, "the step was not finite");
        undo(report);
    }
    size_t count = (size_t)system->bodyCount;
    if (report->undone && count > 0) {
        memcpy(system->poses.data, start->poses, sizeof(tpPose) * count);
        memcpy(system->velocities.data, start->velocities, sizeof(tpVelocity) * count);
        tpJoints_FollowAngles(system);
    }
    return true;
}

// Takes the step by its stepper's work.
static void workStep(tpWorld* world, double h, tpStepReport* report, tpStepStart* start) {
    tpJoinedStep step = { .stepper = world->stepper,
                          .system = &world->system,
                          .state = world->stepperState,
                          .options = &world->options,
                          .h = h };
    if (canBegin(world, &step, report)) {
        takeStep(world, &step, report);
    } else {
        undo(report);
    }
    *start = (tpStepStart){ step.start.motion.poses, step.start.motion.velocities };
}

tpStepReport tpWorld_Step(tpWorld* world, double h) {
    TP_NEED(world, (tpStepReport){ 0 });
    tpSystem* system = &world->system;
    tpStepReport report;
    memset(&report, 0, sizeof(report));
    report.converged = true;
    report.substepCount = 1;
    if (!TP_REQUIRE(h > 0.0 && isfinite(h), "h", "is %g, not a positive time", h)) {
        return stillReport(world, report);
    }

    // What is left of a promise lies in the arena.
    if (system->listContacts != NULL) {
        tpSystem_ForgetContacts(system);
    }
    world->areShown = false;
    tpArena_Reset(&system->arena);
    tpStepStart start;
    system->stop = world->stop;
    if (!followStep(world, h, &report, &start)) {
        workStep(world, h, &report, &start);
    }
    system->stop = NULL;
    if (!report.undone) {
        advanceTime(system, h);
        system->stepCount += 1;
        completeIds(world);
        tpWorld_MeasureSensors(world, start.poses, start.velocities, h);
        tpWorld_ListEvents(world, start.poses, start.velocities);
        // Contacts that are only promised are those of bodies at rest.
        if (world->stepper->closesAccount && system->listContacts == NULL) {
            tpCertificate_JudgeIslands(system, start.poses, start.velocities, &report);
        }
    } else {
        world->watch.events.count = 0;
    }
    forgetRequests(system, !report.undone);
    report.time = system->time;
    if (report.undone) {
        report.kineticAfter = report.kineticBefore;
        report.potentialAfter = report.potentialBefore;
    }
    report.contactQueryCount = system->contactQueryCount;
    tpCertificate_End(system, &report);
    return report;
}

void tpWorld_SetProblemHook(tpWorld* world, tpProblemHook hook, void* context) {
    TP_NEED(world, );
    world->system.problemHook = hook;
    world->system.problemContext = context;
}

void tpWorld_SetStop(tpWorld* world, const volatile sig_atomic_t* stop) {
    TP_NEED(world, );
    world->stop = stop;
}

double tpWorld_GetTime(const tpWorld* world) {
    TP_NEED(world, 0.0);
    return world->system.time;
}

int64_t tpWorld_GetStepCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->system.stepCount;
}

tpVec3 tpWorld_GetGravity(const tpWorld* world) {
    TP_NEED(world, (tpVec3){ 0 });
    return world->system.gravity;
}

void tpWorld_SetGravity(tpWorld* world, tpVec3 gravity) {
    TP_NEED(world, );
    if (TP_FINITE_VEC3(gravity)) {
        world->system.gravity = gravity;
    }
}

void tpWorld_ChangeStructure(tpWorld* world) {
    world->system.structure += 1;
}

void tpWorld_ChangePairs(tpWorld* world) {
    tpWorld_ChangeStructure(world);
    world->structureShift -= 1;
}

void tpWorld_DisturbAll(tpWorld* world) {
    for (int i = 0; i < world->system.bodyCount; ++i) {
        tpSystem_Disturb(&world->system, i);
    }
}

bool tpWorld_IsPlanar(const tpWorld* world) {
    TP_NEED(world, false);
    return world->system.isPlanar;
}

tpStepperId tpWorld_GetStepper(const tpWorld* world) {
    TP_NEED(world, (tpStepperId){ 0 });
    return world->stepperId;
}

tpResult tpWorld_SetStepper(tpWorld* world, tpStepperId id) {
    TP_NEED(world, tp_badInput);
    const tpStepper* stepper = tpStepper_Get(id);
    if (!TP_REQUIRE(stepper != NULL, "stepper", "is one that this build does not have")) {
        return tp_unsupported;
    }
    void* state = NULL;
    if (stepper->create != NULL && !stepper->create(&world->system, &state)) {
        return tp_outOfMemory;
    }
    listPromised(world);
    destroyStepperState(world);
    world->stepper = stepper;
    world->stepperId = id;
    world->stepperState = state;
    tpJoints_ForgetSteady(&world->system);
    return tp_success;
}

const tpAllocator* tpWorld_GetAllocator(const tpWorld* world) {
    TP_NEED(world, NULL);
    return &world->system.allocator;
}

double tpWorld_GetKineticEnergy(const tpWorld* world) {
    TP_NEED(world, 0.0);
    return tpSystem_KineticEnergy(&world->system);
}

double tpWorld_GetPotentialEnergy(const tpWorld* world) {
    TP_NEED(world, 0.0);
    return tpSystem_PotentialEnergy(&world->system);
}

tpVec3 tpWorld_GetLinearMomentum(const tpWorld* world) {
    TP_NEED(world, (tpVec3){ 0 });
    return tpSystem_LinearMomentum(&world->system);
}

tpVec3 tpWorld_GetAngularMomentum(const tpWorld* world, tpVec3 about) {
    TP_NEED(world, (tpVec3){ 0 });
    return TP_FINITE_VEC3(about) ? tpSystem_AngularMomentum(&world->system, about) : tpZeroVec3();
}

// The contacts with their impulses of least norm. No step reads them. If a user has moved bodies
// since the step, or if memory runs out, they stay as they are.
static const tpContactInfo* showContacts(tpWorld* world) {
    tpSystem* system = &world->system;
    int count = system->contacts.count;
    if (count < 2 || system->hasDisturbed) {
        return system->contacts.data;
    }
    if (world->areShown && world->shown.count == count) {
        return world->shown.data;
    }
    world->shown.count = 0;
    if (!TP_RESERVE(&system->allocator, world->shown, count)) {
        return system->contacts.data;
    }
    memcpy(world->shown.data, system->contacts.data, sizeof(tpContactInfo) * (size_t)count);
    world->shown.count = count;
    tpSystem_SpreadImpulses(system, world->shown.data, count);
    world->areShown = true;
    return world->shown.data;
}

const tpContactInfo* tpWorld_GetContacts(const tpWorld* world, int* count) {
    TP_NEED(world, NULL);
    tpWorld* own = (tpWorld*)world;
    listPromised(own);
    if (count != NULL) {
        *count = world->system.contacts.count;
    }
    return showContacts(own);
}

tpResult tpWorld_SetOption(tpWorld* world, const char* name, const char* text, tpError* error) {
    TP_NEED(world, tp_badInput);
    if (!TP_REQUIRE(name != NULL, "name", "is NULL") ||
        !TP_REQUIRE(text != NULL, "text", "is NULL")) {
        return tpError_Set(error, tp_badInput, "an option needs a name and a value");
    }
    const char* other = tpStepperRefusesOption(world->stepperId, tpOptions_Find(name));
    if (other != NULL) {
        return tpError_Set(error, tp_badInput, "%s has no option '%s'; the stepper %s has it",
                           world->stepper->name, name, other);
    }
    return tpOptions_Set(&world->options, name, text, error);
}

unsigned tpWorld_GetLacks(const tpWorld* world) {
    TP_NEED(world, (unsigned){ 0 });
    return tpStepper_Lacks(world->stepper, &world->options);
}

double tpWorld_GetOption(const tpWorld* world, const char* name) {
    TP_NEED(world, 0.0);
    int index = TP_REQUIRE(name != NULL, "name", "is NULL") ? tpOptions_Find(name) : -1;
    return index >= 0 ? world->options.values[index] : NAN;
}
