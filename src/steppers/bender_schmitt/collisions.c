// Collisions [BenderSchmitt06, sec. 3.1], and the velocities of what rests.
//
// A contact that closes faster than sqrt(2 g eps_c) collides: it has to reach -e times its
// velocity, set when its collision begins. The impulses (1) to (3) with their friction (4) to (6)
// are iterated over all contacts that close now, and only over those; what they set in motion
// closes next, in another pass, until no contact collides. Resting contacts take no part: with a
// target of zero they would turn the pairwise collisions of a row of balls into a single one of
// all.
//
// Deviation from the paper: resting contacts then get impulses too, so that velocities at the end
// of the step are admissible; the paper leaves a body at rest with the velocity -g h / 2. A step
// that does not end at its first impact (`impacts: in_step`) has stopped what hit inside it
// already: such a contact collides with the velocity that it had at the start of the step.

#include <string.h>

#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/bender_schmitt/first_impact.h"
#include "steppers/bender_schmitt/paper_rule.h"

// Passes, and sweeps of a pass, before the collisions of a step are left as they are.
enum { maxPasses = 200, maxSweeps = 500, hastyPasses = 3, hastySweeps = 8 };

// Impacts of a crowd that come within this part of a step are taken at once.
static const double atOncePart = 2e-3;

typedef struct tpCollisions {
    tpBenderStep* step;
    tpTouch* touch;
    tpVelocity* velocities;
    bool* isClosed;   // of each contact
    double* approach; // m/s, the velocity with which it collides
    double* held;     // m/s, of its velocity what forces gave a contact that rests
    int* closing;     // contacts of this pass
    int closingCount;
} tpCollisions;

// The normal velocity of a contact as last asked for.
static double speedOf(const tpTouch* touch, int contact) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    return pack->speed[0][lane];
}

// Whether a contact at the end has carried something in the drift.
static bool hasCarried(const tpBenderStep* step, int contact) {
    int same = step->match[contact];
    return same >= 0 && tpTouch_Normal(&step->start, same) > 0.0;
}

// A contact that has held since the part began rests: the velocity that forces give it at the end
// is no approach. Without this, bodies at rest would bounce whenever others strike within a step.
// One that has carried nothing rests if it does not close in the drift either.
static void leaveResting(tpCollisions* c) {
    const tpBenderStep* step = c->step;
    tpVelocity* ends[] = { step->time.startVelocities, step->time.pushed };
    for (int k = 0; k < 2; ++k) {
        c->touch->sweeper.velocities = ends[k];
        tpSweeper_FindSpeeds(&c->touch->sweeper);
        for (int i = 0; i < c->touch->contactCount; ++i) {
            bool counts = k == 0 || !hasCarried(step, i);
            bool isClosing = speedOf(c->touch, i) < -step->settings->threshold;
            c->held[i] = counts && isClosing ? 0.0 : c->held[i];
        }
    }
    for (int i = 0; i < c->touch->contactCount; ++i) {
        c->approach[i] -= c->held[i];
    }
}

static bool isClosedAt(const tpBenderStep* step, const tpContact* contact) {
    return contact->gap <= step->settings->epsilon;
}

// Which contacts touch, and how fast they closed.
static void classify(tpCollisions* c) {
    const tpBenderStep* step = c->step;
    tpTouch* touch = c->touch;
    touch->sweeper.velocities = step->isLocating ? c->velocities : step->time.startVelocities;
    tpSweeper_FindSpeeds(&touch->sweeper);
    bool isCrowd = step->isLocating && step->isCrowd;
    double window = atOncePart * step->duration;
    for (int i = 0; i < touch->contactCount; ++i) {
        const tpContact* contact = &touch->contacts[i];
        int same = step->match[i];
        bool carries = hasCarried(step, i);
        // Of redundant contacts some carry nothing, and hold all the same. One that the drift has
        // left free has been open in between.
        bool isFree = tpFirstImpact_IsFree(step, same);
        bool hasHeld = carries || (!isFree && isClosedAt(step, contact) &&
                                   isClosedAt(step, &step->start.contacts[same]));
        c->approach[i] = speedOf(touch, i);
        double near = isCrowd ? fmax(0.0, -window * c->approach[i]) : 0.0;
        c->isClosed[i] = contact->gap <= fmax(near, step->settings->epsilon) || carries;
        c->held[i] = step->isLocating && hasHeld ? fmin(c->approach[i], 0.0) : 0.0;
    }
    if (step->isLocating) {
        leaveResting(c);
    }
}

// Of a step whose impacts are not located: what forces have given to the velocities of contacts
// since the step began is no approach either. Without this a coin that lies jumped by e g h / 2
// whenever another one was struck in the same step.
static void holdForces(tpCollisions* c) {
    tpTouch* touch = c->touch;
    touch->sweeper.velocities = c->velocities;
    tpSweeper_FindSpeeds(&touch->sweeper);
    for (int i = 0; i < touch->contactCount; ++i) {
        c->held[i] = fmin(speedOf(touch, i) - fmin(c->approach[i], 0.0), 0.0);
    }
}

static void clearContact(tpTouch* touch, int contact, double bias) {
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    pack->bias[0][lane] = bias;
    pack->bias[1][lane] = pack->bias[2][lane] = 0.0;
    pack->low[lane] = 0.0;
    pack->impulse[0][lane] = pack->impulse[1][lane] = pack->impulse[2][lane] = 0.0;
    if (pack->torsion >= 0) {
        touch->sweeper.torsions[pack->torsion].impulse[lane] = 0.0;
        touch->sweeper.torsions[pack->torsion].bias[lane] = 0.0;
    }
}

// The contacts that collide in this pass, with what they have to reach. The first pass knows how
// fast they closed; later ones ask the velocities as they are.
static void gatherClosing(tpCollisions* c, int pass, double restitution) {
    tpTouch* touch = c->touch;
    c->closingCount = 0;
    touch->sweeper.velocities = c->velocities;
    if (pass > 0) {
        tpSweeper_FindSpeeds(&touch->sweeper);
    }
    for (int i = 0; i < touch->contactCount; ++i) {
        double closing = pass > 0 ? speedOf(touch, i) - c->held[i] : c->approach[i];
        // Without restitution a collision ends as a resting contact: it is stopped with those.
        double bias = restitution * touch->laws[i].restitution * closing;
        bool collides = c->isClosed[i] && closing < -c->step->settings->threshold && bias < 0.0;
        clearContact(touch, i, collides ? bias : TP_SWEEP_OPEN);
        if (collides) {
            c->closing[c->closingCount++] = i;
        }
    }
}

// Rows of armatures go on from the speeds that their impulses have left.
static void carryRotors(tpTouch* touch) {
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        tpSweepJoint* joint = &touch->sweeper.joints[i];
        if (tpRowRole_IsRotor(touch->rows.infos[joint->block].role)) {
            double change = joint->compliance[0] * joint->impulse[0];
            joint->bias[0] += change;
            touch->rows.bias[touch->rows.firstRows[joint->block]] += change;
            touch->rows.rotor[touch->rows.firstRows[joint->block]] -= change;
        }
    }
}

static void forgetJoints(tpTouch* touch) {
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        tpSweepJoint* joint = &touch->sweeper.joints[i];
        joint->impulse[0] = joint->impulse[1] = joint->impulse[2] = 0.0;
    }
}

// Takes over what the contacts of a pass have carried.
static void collect(tpCollisions* c) {
    for (int k = 0; k < c->closingCount; ++k) {
        int i = c->closing[k];
        tpVec3 impulse = tpMulAdd(tpTouch_Friction(c->touch, i), tpTouch_Normal(c->touch, i),
                                  c->touch->contacts[i].normal);
        c->step->collided[i] = tpAdd(c->step->collided[i], impulse);
        c->step->collidedTorsion[i] += tpTouch_Torsion(c->touch, i);
    }
}

// Work of one collision in a sweep, and of one with torsion, whose cone has four rows.
static const double collisionWork = 200.0, torsionWork = 2000.0;

// The loop of the paper's figure 1: passes until nothing collides.
static bool resolve(tpCollisions* c, double restitution) {
    tpBenderStep* step = c->step;
    tpTouch* touch = c->touch;
    tpArena* arena = &step->system->arena;
    unsigned char* marks = TP_SCRATCH(arena, unsigned char, touch->contactCount);
    tpVelocity* before = TP_SCRATCH(arena, tpVelocity, step->system->bodyCount);
    if (marks == NULL || before == NULL) {
        return false;
    }
    size_t bytes = sizeof(tpVelocity) * (size_t)step->system->bodyCount;
    bool isFine = touch->isSmall || step->isLocating;
    for (int pass = 0; pass < maxPasses; ++pass) {
        // Bodies that are wedged between others pass an impact on for ever.
        isFine = isFine && !tpStepBudget_IsSpent(step->system);
        int sweeps = isFine ? maxSweeps : hastySweeps;
        if (!isFine && pass >= hastyPasses) {
            break;
        }
        gatherClosing(c, pass, restitution);
        if (c->closingCount == 0) {
            return true;
        }
        if (pass == 0 && !step->isLocating) {
            holdForces(c);
        }
        step->report->figures[tp_collisionFigure] += c->closingCount;
        memcpy(before, c->velocities, bytes);
        memset(marks, 0, (size_t)touch->contactCount);
        forgetJoints(touch);
        double change = INFINITY;
        int sweepCount = 0;
        for (; sweepCount < sweeps && change > 1e-3 * step->settings->tolerance; ++sweepCount) {
            change = step->settings->isPaperRule
                         ? tpSweeper_SweepPaperRule(&touch->sweeper, marks)
                         : tpSweeper_SweepSome(&touch->sweeper, c->closing, c->closingCount);
            step->report->iterationCount += 1;
        }
        step->report->solveCount += 1;
        double work = touch->sweeper.torsionCount > 0 ? torsionWork : collisionWork;
        tpStepBudget_Spend(step->system, work * sweepCount * (c->closingCount + 1));
        collect(c);
        if (!tpTouch_AccountEnergy(touch, &(tpRowVelocities){ before, c->velocities, NULL, NULL },
                                   step->report)) {
            return false;
        }
        tpJoints_AddReactions(step->system, &touch->rows, step->duration);
        carryRotors(touch);
    }
    if (touch->isSmall) {
        tpStepReport_AddNote(step->report, "collisions did not come to an end");
    }
    return true;
}

// The impulse of a contact of the drift, in world axes.
static tpVec3 driftImpulse(const tpTouch* start, int contact) {
    return tpMulAdd(tpTouch_Friction(start, contact), tpTouch_Normal(start, contact),
                    start->contacts[contact].normal);
}

// The forces of the second half of a part are nearly those of the first: so are the impulses of
// what rests.
static void startFromDrift(tpCollisions* c, int contact) {
    const tpTouch* start = &c->step->start;
    int same = c->step->match[contact];
    if (same >= 0 && !c->step->settings->isPaperRule) {
        tpTouch_SetStart(c->touch, contact, driftImpulse(start, same),
                         tpTouch_Torsion(start, same));
    }
}

// Impulses that resting contacts may start from at the end of a part: those of the last step, those
// of the drift, none. An impact that has just been stopped, or was in the last step, makes the
// first ones wrong. A crowd under a certificate that the user has chosen starts from the mean of
// the first two, which is in the cones too: the same motion has many impulses, each solve ends at
// others of them, and with steps they would wander off.
typedef enum tpStopStart {
    tp_rememberedStart,
    tp_driftStart,
    tp_zeroStart,
    tp_meanStart
} tpStopStart;

static void startFromMean(tpCollisions* c, int contact, double share) {
    const tpTouch* start = &c->step->start;
    int same = c->step->match[contact];
    const tpRestMemory* rest = c->step->remembered[same];
    if (rest == NULL) {
        startFromDrift(c, contact);
        return;
    }
    tpVec3 sum = tpMulAdd(driftImpulse(start, same), share, rest->stop);
    double torsion = tpTouch_Torsion(start, same) + share * rest->stopTorsion;
    tpTouch_SetStart(c->touch, contact, tpScale(0.5, sum), 0.5 * torsion);
}

static void startAll(tpCollisions* c, tpStopStart start) {
    const tpBenderStep* step = c->step;
    double share = step->time.h / step->duration;
    for (int i = 0; i < c->touch->contactCount; ++i) {
        clearContact(c->touch, i, c->isClosed[i] ? 0.0 : TP_SWEEP_OPEN);
        if (!c->isClosed[i] || step->match[i] < 0 || step->settings->isPaperRule) {
            continue;
        }
        const tpRestMemory* rest = step->remembered[step->match[i]];
        if (start == tp_meanStart) {
            startFromMean(c, i, share);
        } else if (start == tp_driftStart) {
            startFromDrift(c, i);
        } else if (start == tp_rememberedStart && rest != NULL) {
            tpTouch_SetStart(c->touch, i, tpScale(share, rest->stop), share * rest->stopTorsion);
        }
    }
}

// By how much the impulses of a start miss the law of contact.
static double judgeStart(tpCollisions* c, tpStopStart start, tpVelocity* scratch) {
    tpSweeper* sweeper = &c->touch->sweeper;
    memcpy(scratch, c->velocities, sizeof(tpVelocity) * (size_t)c->step->system->bodyCount);
    startAll(c, start);
    sweeper->velocities = scratch;
    tpSweeper_WarmStart(sweeper);
    double residual = tpSweeper_Judge(sweeper).velocity;
    sweeper->velocities = c->velocities;
    return residual;
}

// The start that misses the law of contact by least. False if memory ran out.
static bool chooseStart(tpCollisions* c) {
    tpSystem* system = c->step->system;
    bool isChosen =
        c->touch->isSmall && c->touch->sweeper.jointCount == 0 && !c->step->settings->isPaperRule;
    tpVelocity* scratch = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (scratch == NULL) {
        return false;
    }
    bool isCrowd = !c->touch->isSmall && c->touch->sweeper.jointCount == 0 &&
                   system->certificate > TP_USUAL_CERTIFICATE;
    tpStopStart best = isCrowd ? tp_meanStart : tp_rememberedStart, last = best;
    double least = INFINITY;
    for (int k = tp_rememberedStart; isChosen && k <= tp_zeroStart; ++k) {
        last = (tpStopStart)k;
        double residual = judgeStart(c, last, scratch);
        best = residual < least ? last : best;
        least = fmin(least, residual);
        if (least <= c->step->settings->tolerance) {
            break;
        }
    }
    if (!isChosen || best != last) {
        startAll(c, best);
    }
    return true;
}

// Impulses that leave the contacts that are not open, and joints, with admissible velocities.
static bool stopClosed(tpCollisions* c) {
    tpBenderStep* step = c->step;
    tpTouch* touch = c->touch;
    tpSystem* system = step->system;
    forgetJoints(touch);
    tpTouch_StartJoints(touch, step->state->stopImpulses.data, step->state->stopImpulses.count,
                        step->time.h / step->duration);
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    if (before == NULL) {
        return false;
    }
    memcpy(before, c->velocities, bytes);
    int limit = tpBenderStep_SweepLimit(step, touch);
    // Drives have acted along the drift, not from velocities that springs have kicked to those that
    // the drives restore.
    const tpVelocity* drift = step->forced != NULL ? step->time.velocities : NULL;
    if (!tpTouch_Solve(touch, step->settings, step->state->memory->solver, before, c->velocities,
                       limit, step->report) ||
        !tpTouch_AccountEnergy(touch, &(tpRowVelocities){ before, c->velocities, drift, NULL },
                               step->report)) {
        return false;
    }
    // What rows answer to the laws of joints is no motion, and no loss: half of it is in the drift.
    if (step->forced != NULL &&
        !tpTouch_AccountKick(touch, step->forced, step->lawed, 0.5, step->report)) {
        return false;
    }
    tpJoints_AddReactions(system, &touch->rows, step->duration);
    return true;
}

// The same of all closed contacts.
static bool stopResting(tpCollisions* c) {
    return chooseStart(c) && stopClosed(c);
}

// Whether a contact that was open strikes while others, or joints, hold.
static bool strikesWhileHeld(const tpCollisions* c) {
    bool strikes = false, holds = c->touch->sweeper.jointCount > 0;
    for (int i = 0; i < c->touch->contactCount; ++i) {
        bool isHeld = c->held[i] < 0.0;
        holds = holds || isHeld;
        strikes = strikes ||
                  (!isHeld && c->isClosed[i] && c->approach[i] < -c->step->settings->threshold);
    }
    return strikes && holds;
}

// Contacts and joints that have held up to the impact carry the forces up to then too. The impact
// may open contacts, and what strikes would carry for them: a block that rocks lost 4 percent more
// than it should in an impact at 1/240 s. What joints have not carried yet changes how fast the
// impact is, and friction of contacts brakes what it sets off: errors of first order in the part
// before the impact.
static bool holdResting(tpCollisions* c) {
    tpTouch* touch = c->touch;
    c->closingCount = 0;
    for (int i = 0; i < touch->contactCount; ++i) {
        bool isHeld = c->held[i] < 0.0;
        clearContact(touch, i, isHeld ? 0.0 : TP_SWEEP_OPEN);
        if (isHeld) {
            c->closing[c->closingCount++] = i;
            startFromDrift(c, i);
        }
    }
    if (!stopClosed(c)) {
        return false;
    }
    carryRotors(touch);
    collect(c);
    touch->sweeper.velocities = c->velocities;
    tpSweeper_FindSpeeds(&touch->sweeper);
    for (int i = 0; i < touch->contactCount; ++i) {
        c->approach[i] = speedOf(touch, i);
        c->held[i] = 0.0;
    }
    return true;
}

bool tpCollisions_Resolve(tpBenderStep* step, double restitution) {
    tpTouch* touch = &step->end;
    tpArena* arena = &step->system->arena;
    tpCollisions c;
    memset(&c, 0, sizeof(c));
    c.step = step;
    c.touch = touch;
    c.velocities = step->system->velocities.data;
    c.isClosed = TP_SCRATCH(arena, bool, touch->contactCount);
    c.approach = TP_SCRATCH(arena, double, touch->contactCount);
    c.held = TP_SCRATCH(arena, double, touch->contactCount);
    c.closing = TP_SCRATCH(arena, int, touch->contactCount);
    step->collided = TP_SCRATCH_ZEROED(arena, tpVec3, touch->contactCount);
    step->collidedTorsion = TP_SCRATCH_ZEROED(arena, double, touch->contactCount);
    tpJointTreatment treatment = { step->time.h, 0.0, NULL, 0.5 * step->time.h, 0.0, false };
    if (arena->failed || !tpTouch_AddJoints(touch, &treatment, tp_secondHalf, c.velocities)) {
        return false;
    }
    if (touch->contactCount == 0 && touch->sweeper.jointCount == 0) {
        return true;
    }
    classify(&c);
    if (strikesWhileHeld(&c) && !holdResting(&c)) {
        return false;
    }
    if (!resolve(&c, restitution)) {
        return false;
    }
    if (step->hasOneSolve) {
        startAll(&c, tp_zeroStart); // velocities are those of the drift
        return true;
    }
    return stopResting(&c);
}
