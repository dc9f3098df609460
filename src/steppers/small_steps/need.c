// How many substeps a step needs. README.md, "Substeps by need".
//
// Sweeps need all of them: a sweep leaves errors to the next one. Mechanisms outside the sweeps
// need them for accuracy alone. So, if nothing is swept, a step has as few as keep three errors
// small: that of directions, which turn with the bodies; that of forces, which act at the starts of
// substeps and move bodies by tau dv / 2 too far; and that of implicit servos, which damp as if
// they had tau k / 2 more of damping. What nothing damps keeps its energy by all substeps. Forces
// are those of the last step. In smooth motion errors add up from step to step: mechanisms that
// touch nothing have fewer only where their links rest or fall together.

#include "base/constants.h"
#include "steppers/small_steps/articulation.h"

enum { mostByNeed = 4 };

// A step with fewer whose contacts were left unsolved, beyond this residual, is followed by so many
// with all.
enum { warySteps = 50 };
static const double mostResidual = 1e-8;

// One that needed all, or left overlaps, is followed by so many: contacts that have just closed
// open again, and each substep takes its part of an overlap back.
enum { holdingSteps = 4 };

// A body turns by no more than this in a substep, rad, and a link swings by no more than this
// square of an angle under what pulls at its joints. With n substeps for which axes are placed once
// it is as much for all of them (articulation_rows.c).
static const double mostTurn = 0.01, mostSwing = 0.25;

// Forces turn bodies by no more than this too far in a step, rad; and move those that slide, in
// their own sizes.
static const double mostKick = 5e-4;

// Mechanisms that nothing touches turn, and are turned, by so much less.
static const double touchedToFree = 1e5;

// Servos damp by no more than this part of their damping too much.
static const double mostDamping = 1.0 / 16.0;

// Bodies that come nearer by more than this part of the smaller one's size, and meet, strike.
static const double struckPart = 0.01;

// Below this turn of a step velocities of mechanisms in contact are left to the next step to be
// turned, rad.
static const double slowTurn = 1e-3;

// What turns by less than this in a step, and is turned by less by forces, is at rest, rad.
static const double stillTurn = 1e-7, stillKick = 1e-9;

// What laws of joints say about damping, as long as they stay the same. Springs, whose energy is
// kept, and laws of the angles of ball joints need all substeps.
static void weighLaws(const tpSmallStep* step) {
    const tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    if (state->weighedLaws == system->lawChanges && state->weighedStructure == system->structure) {
        return;
    }
    state->weighedLaws = system->lawChanges;
    state->weighedStructure = system->structure;
    state->servoRate = system->lacksSprings ? 0.0 : INFINITY;
    state->leastDamping = INFINITY;
    for (int j = 0; j < system->joints.count; ++j) {
        const tpJoint* joint = &system->joints.data[j];
        bool isBall = joint->type == tp_ballJoint;
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            bool isCone = isBall && (def->hasLimits || def->hasServo || def->hasMotor);
            bool isServed = def->hasServo && def->servo.stiffness > 0.0;
            double damping = def->damping + (def->hasServo ? def->servo.damping : 0.0);
            if (isCone) {
                state->servoRate = INFINITY;
            } else if (isServed) {
                state->servoRate = fmax(state->servoRate, def->servo.stiffness / damping);
            } else {
                state->leastDamping = fmin(state->leastDamping, damping);
            }
        }
    }
}

// The largest stiffness over damping of an axis, 1/s: by its servo; without one as if it carried
// the heaviest mechanism at a unit of length.
static double stiffestRate(const tpSmallStep* step) {
    const tpSystem* system = step->system;
    double mass = 0.0;
    weighLaws(step);
    for (int m = 0; m < step->joints->count; ++m) {
        mass = fmax(mass, step->joints->list[m].mass);
    }
    double weight = tpLength(system->gravity) * system->units.length * mass;
    double damping = step->state->leastDamping;
    bool isDamped = weight > 0.0 ? damping > 0.0 : damping == INFINITY;
    return isDamped ? fmax(step->state->servoRate, weight / damping) : INFINITY;
}

// Whether contacts need all substeps: those that sweeps solve, or may have to; those that bounce;
// and those with torsion, whose solves begin nearer to their end with each substep.
static bool haveHardContacts(const tpSmallStep* step) {
    const tpPackStore* store = &step->state->store;
    for (int i = 0; i < store->order.count; ++i) {
        int r = store->order.data[i];
        const tpSoftRun* run = &store->runs.data[r];
        unsigned exact = step->exactLanes != NULL ? step->exactLanes[r] : 0;
        if (run->bounces || run->torsional != 0 || ((unsigned)run->used & ~exact) != 0) {
            return true;
        }
    }
    return false;
}

static tpVec3 readPoint(float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3((double)parts[0][lane], (double)parts[1][lane], (double)parts[2][lane]);
}

// The velocity of a point of a body at the end of the step, if nothing but forces changes it.
static tpVec3 speedAt(const tpSmallStep* step, int n, tpVec3 arm) {
    tpVec3 v = tpMulAdd(step->starts[n].linear, step->substeps, step->kicks[n].linear);
    return tpAdd(v, tpCross(step->starts[n].angular, arm));
}

// Whether points of a lane meet in this step that are apart, and not as slowly as what settles.
static bool isStruck(const tpSmallStep* step, const tpSoftRun* run, int lane) {
    for (int k = 0; k < run->points[lane]; ++k) {
        tpSoftPack* pack = &run->packs[k];
        double gap = (double)pack->gap[lane];
        if (pack->isPoint[lane] <= 0 || !(gap > 0.0)) {
            continue;
        }
        tpVec3 normal = readPoint(run->isFlat ? run->packs[0].normal : pack->normal, lane);
        tpVec3 a = speedAt(step, run->bodyA[lane], readPoint(pack->armA, lane));
        tpVec3 b = speedAt(step, run->bodyB[lane], readPoint(pack->armB, lane));
        double way = step->h * tpDot(normal, tpSub(b, a));
        if (way > gap && way > struckPart * (double)run->size[lane]) {
            return true;
        }
    }
    return false;
}

static bool hasImpacts(const tpSmallStep* step) {
    const tpPackStore* store = &step->state->store;
    for (int i = 0; i < store->order.count; ++i) {
        const tpSoftRun* run = &store->runs.data[store->order.data[i]];
        for (int lane = 0; run->used >> lane != 0; ++lane) {
            if ((run->used >> lane & 1) != 0 && isStruck(step, run, lane)) {
                return true;
            }
        }
    }
    return false;
}

// Whether a body without joints touches a mechanism, or another body beside one.
static bool isBeside(const tpSmallStep* step, int n) {
    int body = step->state->bodies.data[n];
    return body >= 0 && step->masses[n].inverseMass > 0.0 &&
           step->state->map.owners.data[body] < 0 && step->joints->touches[n];
}

// By how much more a mechanism that nothing touches counts: in smooth motion errors of steps add
// up, and it has fewer substeps only where its parts do not move against each other.
static double weightOf(const tpArticulation* articulation) {
    return articulation->hasFewContacts ? 1.0 : touchedToFree;
}

// How far the fastest body turns in the step.
static double largestTurn(const tpSmallStep* step) {
    double most = 0.0;
    for (int m = 0; m < step->joints->count; ++m) {
        const tpArticulation* articulation = &step->joints->list[m];
        double weight = weightOf(articulation);
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            double square = tpLengthSquared(step->starts[articulation->numbers[i]].angular);
            square *= weight * weight;
            most = square > most ? square : most;
        }
    }
    for (int n = 0; n < step->count; ++n) {
        double square = isBeside(step, n) ? tpLengthSquared(step->starts[n].angular) : 0.0;
        most = square > most ? square : most;
    }
    return step->h * sqrt(most);
}

static bool areTrees(const tpSmallStep* step) {
    for (int m = 0; m < step->joints->count; ++m) {
        if (!step->joints->list[m].isTree) {
            return false;
        }
    }
    return true;
}

// Whether nothing but accuracy asks for substeps.
static bool areEasy(const tpSmallStep* step) {
    return step->joints != NULL && areTrees(step) && !haveHardContacts(step) &&
           0.5 * step->h * stiffestRate(step) <= mostDamping;
}

static int neededSubsteps(tpSmallStep* step) {
    const tpSmallSteps* state = step->state;
    if (state->waryFor > 0 || !areEasy(step)) {
        return mostByNeed;
    }
    double turn = largestTurn(step), kick = 0.5 * step->h * step->h * state->unrest, swing = 0.0;
    for (int m = 0; m < step->joints->count; ++m) {
        swing = fmax(swing, step->joints->list[m].swing);
    }
    swing *= step->substeps * step->substeps;
    int n = 1;
    while (n < mostByNeed &&
           !(turn <= mostTurn * n && swing <= mostSwing * n * n && kick <= mostKick * n)) {
        n *= 2;
    }
    n = n < mostByNeed && hasImpacts(step) ? mostByNeed : n;
    step->isSlow = n == 1 && turn <= slowTurn;
    step->isStill = turn <= stillTurn && kick <= stillKick;
    return n;
}

void tpSmallStep_BeginSubsteps(tpSmallStep* step) {
    int last = step->state->substeps, asked = step->settings.substeps;
    step->substeps = asked > 0 ? asked : last == 1 || last == 2 ? last : mostByNeed;
    step->substepTime = step->h / step->substeps;
}

void tpSmallStep_ChooseSubsteps(tpSmallStep* step) {
    int before = step->substeps;
    int count = step->settings.substeps > 0 ? before : neededSubsteps(step);
    if (count == before) {
        return;
    }
    // By powers of two: no rounding tells what was expected.
    double ratio = (double)before / count;
    for (int n = 0; n < step->count; ++n) {
        step->kicks[n].linear = tpScale(ratio, step->kicks[n].linear);
        step->kicks[n].angular = tpScale(ratio, step->kicks[n].angular);
    }
    for (int m = 0; step->joints != NULL && m < step->joints->count; ++m) {
        step->joints->list[m].swing *= ratio * ratio;
    }
    step->substeps = count;
    step->substepTime = step->h / count;
}

// The change of a velocity of a body beyond that of its mechanism's centre of mass, as a turn.
static double unrestOf(const tpSmallStep* step, int n, tpVec3 common, bool slides) {
    const tpVelocity *start = &step->starts[n], *end = &step->velocities[n];
    double square = tpLengthSquared(tpSub(end->angular, start->angular));
    if (slides) {
        double size = step->system->bodies.data[step->state->bodies.data[n]].size;
        tpVec3 gain = tpSub(tpSub(end->linear, start->linear), common);
        square = fmax(square, tpLengthSquared(gain) / (size * size));
    }
    return square;
}

static double unrestOfMechanism(const tpSmallStep* step, const tpArticulation* articulation) {
    tpVec3 common = tpZeroVec3();
    int count = articulation->solver.nodeCount;
    bool slides = articulation->hasSlides;
    for (int i = 0; slides && !articulation->isAnchored && i < count; ++i) {
        int n = articulation->numbers[i];
        tpVec3 gain = tpSub(step->velocities[n].linear, step->starts[n].linear);
        common = tpMulAdd(common, articulation->masses[i].mass[0] / articulation->mass, gain);
    }
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        double square = unrestOf(step, articulation->numbers[i], common, slides);
        most = square > most ? square : most;
    }
    return most;
}

void tpSmallStep_EndSubsteps(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    state->substepTime = step->substepTime;
    state->substeps = step->substeps;
    state->unrest = INFINITY;
    state->waryFor -= state->waryFor > 0 ? 1 : 0;
    if (step->settings.substeps > 0 || step->joints == NULL || haveHardContacts(step)) {
        return;
    }
    double most = 0.0;
    for (int m = 0; m < step->joints->count; ++m) {
        double weight = weightOf(&step->joints->list[m]);
        most = fmax(most, weight * weight * unrestOfMechanism(step, &step->joints->list[m]));
    }
    for (int n = 0; n < step->count; ++n) {
        if (isBeside(step, n)) {
            most = fmax(most, unrestOf(step, n, tpZeroVec3(), true));
        }
    }
    state->unrest = sqrt(most) / step->h;
    if (step->substeps == mostByNeed && 0.5 * step->h * sqrt(most) > 2.0 * mostKick) {
        state->waryFor = state->waryFor > holdingSteps ? state->waryFor : holdingSteps;
    }
}

void tpSmallStep_NoteVerdict(const tpSmallStep* step, double residual) {
    tpSmallSteps* state = step->state;
    bool isByNeed = step->settings.substeps == 0;
    bool isDeep = step->penetration > step->report->limits.penetration;
    if (isByNeed && isDeep && state->waryFor < holdingSteps) {
        state->waryFor = holdingSteps;
    }
    if (isByNeed && step->substeps < mostByNeed && !(residual <= mostResidual)) {
        state->waryFor = warySteps;
    }
}
