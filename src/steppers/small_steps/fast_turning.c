// Bodies that turn far in a step: they pass through nothing, and gain nothing.
//
// A manifold stops the point that it has. A body that strikes with a corner at high speed turns
// about it by many radians in a substep, while gaps follow displacements to first order: the rest
// of it may end on the far side of a plate. So the way of a body whose points turning moves by more
// than half its thickness is followed from the start of the step to its end
// (collision/crossings.h). What it would have passed through holds it where they met, with the
// velocity that it has. The next step is taken in pieces (steppers/pieces.h): the body turns until
// another corner of it strikes.
//
// Impulses act on such a body with the inertia of the start of the step, and its momentum at the
// end has another velocity there. Energy that steps would gain by bodies that turn by more than
// half a turn is taken from their spins, if it is more than a certified step may gain.

#include "base/constants.h"
#include "collision/crossings.h"
#include "dynamics/forces.h"
#include "steppers/small_steps/apart.h"

// Ways ------------------------------------------------------------------------------------------

static const char* const mayPass =
    "a body of a mechanism may have passed through another: too fast for this step";

// From the start of the step to where the body is now.
static tpBodyPath pathOf(const tpSmallStep* step, int n, int body) {
    const tpPose* end = &step->system->poses.data[body];
    tpVec3 shift = step->moved[n].linear, turn = step->moved[n].angular;
    tpBodyPath path = { .velocity = tpScale(1.0 / step->h, shift),
                        .angularVelocity = tpScale(1.0 / step->h, turn) };
    path.pose.position = tpSub(end->position, shift);
    path.pose.rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(-1.0, turn)), end->rotation));
    return path;
}

static tpBodyShift shiftOf(const tpSmallStep* step, int n, int body) {
    return (tpBodyShift){ step->system->poses.data[body].position, step->moved[n].linear,
                          step->moved[n].angular, step->system->bodies.data[body].reach };
}

// Shapes that overlap along some direction by less than this part of the depth from which they are
// seen from the other side have not passed through each other.
static const double shallowPart = 0.5;

// Whether a manifold's shapes have stayed on their sides along one of its normals. Nearly all do;
// that takes a tenth of following them along their paths.
static bool staysBeside(const tpSmallStep* step, const tpSoftRun* run, int lane,
                        const int bodies[2]) {
    const tpSystem* system = step->system;
    tpShapePair pair = step->state->shapes.data[run->slots[lane]];
    const tpShape *a = &system->shapes.data[pair.shapeA], *b = &system->shapes.data[pair.shapeB];
    tpPose rooms[2];
    const tpPose* poseA = tpFindShapePose(system, a, &rooms[0]);
    const tpPose* poseB = tpFindShapePose(system, b, &rooms[1]);
    tpBodyShift shiftA = shiftOf(step, run->bodyA[lane], bodies[0]);
    tpBodyShift shiftB = shiftOf(step, run->bodyB[lane], bodies[1]);
    double depth = shallowPart * tpCollider_CrossingDepth(system->collider, pair);
    int normals = run->isFlat ? 1 : run->points[lane];
    for (int k = 0; k < normals; ++k) {
        const tpSoftPack* pack = &run->packs[k];
        tpVec3 along = tpNormalize(
            tpMakeVec3(pack->normal[0][lane], pack->normal[1][lane], pack->normal[2][lane]));
        if (tpLeastSeparationAlong(&a->form->geometry, *poseA, &shiftA, &b->form->geometry, *poseB,
                                   &shiftB, along) > -depth) {
            return true;
        }
    }
    return false;
}

// How far turning moves points of a body in the step, m.
static double turningOf(const tpSmallStep* step, int n, int body) {
    double turn = tpLength(step->moved[n].angular);
    // The reach of a plane is infinite.
    return turn > 0.0 ? turn * step->system->bodies.data[body].reach : 0.0;
}

// Whether points of a manifold's bodies move so little against each other that none can have passed
// through: half of those that turn far.
static bool movesTooLittle(const tpSmallStep* step, tpShapePair pair, const int numbers[2],
                           const int bodies[2]) {
    tpVec3 shift = tpSub(step->moved[numbers[0]].linear, step->moved[numbers[1]].linear);
    double way = tpLength(shift) + turningOf(step, numbers[0], bodies[0]) +
                 turningOf(step, numbers[1], bodies[1]);
    return way <= tpCollider_CrossingDepth(step->system->collider, pair);
}

// The part of the step after which a manifold's bodies would pass through each other; 1 if they do
// not.
static double partUntilCrossing(const tpSmallStep* step, const tpSoftRun* run, int lane) {
    const tpSmallSteps* state = step->state;
    int numbers[2] = { run->bodyA[lane], run->bodyB[lane] };
    int bodies[2] = { state->bodies.data[numbers[0]], state->bodies.data[numbers[1]] };
    if (bodies[0] < 0 || bodies[1] < 0 ||
        (!tpSmallStep_TurnsFar(step, numbers[0], bodies[0]) &&
         !tpSmallStep_TurnsFar(step, numbers[1], bodies[1])) ||
        movesTooLittle(step, state->shapes.data[run->slots[lane]], numbers, bodies) ||
        staysBeside(step, run, lane, bodies)) {
        return 1.0;
    }
    tpBodyPath pathA = pathOf(step, numbers[0], bodies[0]);
    tpBodyPath pathB = pathOf(step, numbers[1], bodies[1]);
    tpCrossing crossing;
    if (!tpCollider_PairCrosses(step->system->collider, state->shapes.data[run->slots[lane]],
                                &pathA, &pathB, step->h, &crossing)) {
        return 1.0;
    }
    return crossing.time / step->h;
}

static double spinEnergy(const tpSystem* system, int body) {
    tpVec3 spin = system->velocities.data[body].angular;
    tpQuat rotation = system->poses.data[body].rotation;
    return 0.5 * tpDot(spin, tpInertia_Momentum(&system->bodies.data[body].form->inertia, rotation,
                                                spin));
}

// Turns a body back. Its angular momentum keeps its direction and its spin its energy, as in free
// flight: the same velocity at another orientation has another energy.
static void turnBack(tpSystem* system, int body, tpQuat rotation) {
    const tpInertia* inertia = &system->bodies.data[body].form->inertia;
    tpQuat* now = &system->poses.data[body].rotation;
    tpVec3* spin = &system->velocities.data[body].angular;
    double energy = spinEnergy(system, body);
    tpVec3 momentum = tpInertia_Momentum(inertia, *now, *spin);
    *now = rotation;
    *spin = tpInertia_Velocity(inertia, rotation, momentum);
    double changed = spinEnergy(system, body);
    *spin = tpScale(changed > 0.0 ? sqrt(energy / changed) : 0.0, *spin);
}

// Puts a body back to where it was after a part of its way.
static void hold(tpSmallStep* step, int n, double part) {
    tpSystem* system = step->system;
    int body = step->state->bodies.data[n];
    tpBodyPath path = pathOf(step, n, body);
    tpVelocity* moved = &step->moved[n];
    moved->linear = tpScale(part, moved->linear);
    moved->angular = tpScale(part, moved->angular);
    moved->padding0 *= part;
    tpPose held = tpBodyPath_PoseAt(&path, part * step->h);
    system->poses.data[body].position = held.position;
    turnBack(system, body, held.rotation);
    step->places[n].linear = system->poses.data[body].position;
    tpBodyWay* way = &step->state->ways.data[n];
    way->moved[0] = (float)moved->linear.x;
    way->moved[1] = (float)moved->linear.y;
    way->moved[2] = (float)moved->linear.z;
    way->turned = (float)moved->padding0;
    step->state->motionMarks.data[n] =
        tpHashMotion(&system->poses.data[body], &system->velocities.data[body]);
}

// Threads share runs in chunks of so many.
enum { runsPerChunk = 8 };

typedef struct Passings {
    const tpSmallStep* step;
    double* parts; // of each lane of each run
} Passings;

static void findPartsOfChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Passings* passings = context;
    const tpPackStore* store = &passings->step->state->store;
    tpRange range = tpChunkAt(store->runs.count, runsPerChunk, chunk);
    for (int r = range.begin; r < range.end; ++r) {
        const tpSoftRun* run = &store->runs.data[r];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            bool isUsed = run->packs != NULL && (run->used >> lane & 1) != 0;
            passings->parts[r * tp_packWidth + lane] =
                isUsed ? partUntilCrossing(passings->step, run, lane) : 1.0;
        }
    }
}

// The least part for each body. False if memory ran out.
static bool findParts(const tpSmallStep* step, double* parts) {
    const tpPackStore* store = &step->state->store;
    tpArena* arena = &step->system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    Passings passings = { step,
                          TP_SCRATCH(arena, double, (size_t)store->runs.count* tp_packWidth) };
    if (passings.parts == NULL) {
        return false;
    }
    tpTasks_Run(step->system->tasks, findPartsOfChunk, &passings,
                tpChunksOf(store->runs.count, runsPerChunk));
    for (int r = 0; r < store->runs.count; ++r) {
        const tpSoftRun* run = &store->runs.data[r];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            double part = passings.parts[r * tp_packWidth + lane];
            if (part < 1.0) {
                parts[run->bodyA[lane]] = fmin(parts[run->bodyA[lane]], part);
                parts[run->bodyB[lane]] = fmin(parts[run->bodyB[lane]], part);
            }
        }
    }
    tpArena_Release(arena, mark);
    return true;
}

bool tpSmallStep_HoldPassing(tpSmallStep* step) {
    step->state->hasHeld = false;
    if (!step->turnsFar) {
        return true;
    }
    double* parts = TP_SCRATCH(&step->system->arena, double, step->count);
    if (parts == NULL) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        parts[n] = 1.0;
    }
    if (!findParts(step, parts)) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        if (!(parts[n] < 1.0) || !(step->masses[n].inverseMass > 0.0)) {
            continue;
        }
        if (step->state->map.owners.data[step->state->bodies.data[n]] >= 0) {
            tpStepReport_AddNote(step->report, mayPass);
        } else {
            hold(step, n, parts[n]);
            step->state->hasHeld = true;
        }
    }
    return true;
}

// Spins -------------------------------------------------------------------------------------------

// Gains below this part of the kinetic energy are left.
static const double ripple = 1e-3;

// Whether contacts have pushed a body that turns by more than half a turn. Joints have a say in the
// turning of others.
static bool hasLooseSpin(const tpSmallStep* step, int n) {
    int body = step->state->bodies.data[n];
    return body >= 0 && (step->isPushed[n] || step->strikes[n] > 0) &&
           step->masses[n].inverseMass > 0.0 && step->state->map.owners.data[body] < 0 &&
           step->h * tpLength(step->system->velocities.data[body].angular) > TP_PI;
}

void tpSmallStep_LimitSpins(tpSmallStep* step) {
    tpSystem* system = step->system;
    double spins = 0.0;
    if (!step->turnsFar) {
        return;
    }
    for (int n = 0; n < step->count; ++n) {
        spins += hasLooseSpin(step, n) ? spinEnergy(system, step->state->bodies.data[n]) : 0.0;
    }
    if (!(spins > 0.0)) {
        return;
    }
    const tpStepReport* report = step->report;
    double gain = tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) -
                  report->kineticBefore - report->potentialBefore - report->externalWork;
    if (!(gain > ripple * report->kineticBefore)) {
        return;
    }
    double left = sqrt(fmax(0.0, 1.0 - gain / spins));
    for (int n = 0; n < step->count; ++n) {
        if (hasLooseSpin(step, n)) {
            int body = step->state->bodies.data[n];
            tpVelocity* velocity = &system->velocities.data[body];
            velocity->angular = tpScale(left, velocity->angular);
            step->state->motionMarks.data[n] = tpHashMotion(&system->poses.data[body], velocity);
        }
    }
}
