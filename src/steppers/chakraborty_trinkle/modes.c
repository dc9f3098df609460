#include "steppers/chakraborty_trinkle/modes.h"

#include "dynamics/joints.h"

// Contacts that slide faster than this at the start have a direction of friction, in units of
// speed.
static const double slowestSlip = 1e-8;

// Approaches beyond what forces make of them that are tolerances, in units of speed.
static const double slowestHit = 1e-9;

// A contact is hit when it approaches faster than these parts of what impulses and forces change
// along it in a step. In smooth motion the midpoint rule leaves velocities of the order of h^2
// along contacts that stay closed, and along those that stick, with a sign that changes from step
// to step: they may be larger.
static const double impulsePart = 0.25, forcePart = 0.05, residuePart = 0.5;

tpContactPlace tpImplicitStep_StartPlace(const tpImplicitStep* step, int block) {
    tpImplicitContact contact = step->geometry.contacts[block];
    tpContactPlace place;
    const tpPose* poses = step->base.startPoses;
    tpImplicitContact_Place(&contact, step->base.system->isPlanar, poses[contact.bodyA],
                            poses[contact.bodyB], false, &place);
    return place;
}

// Scaled slip of a contact (t, o, spin) for given velocities of its bodies at a place.
static void scaledSlip(const tpRows* rows, int block, const tpContactPlace* place, tpVelocity a,
                       tpVelocity b, double slip[3]) {
    int first = rows->firstRows[block], dimension = rows->dimensions[block];
    tpVec3 v = tpSub(tpAdd(a.linear, tpCross(a.angular, place->armA)),
                     tpAdd(b.linear, tpCross(b.angular, place->armB)));
    slip[0] = slip[1] = slip[2] = 0.0;
    for (int k = 1; k < dimension && k < 3; ++k) {
        slip[k - 1] = rows->scale[first + k] * tpDot(place->tangents[k - 1], v);
    }
    if (dimension == 4) {
        slip[2] = rows->scale[first + 3] * tpDot(place->normal, tpSub(a.angular, b.angular));
    }
}

static void startSlip(const tpImplicitStep* step, int block, double slip[3]) {
    const tpContact* contact = &step->base.contacts[block];
    tpContactPlace place = tpImplicitStep_StartPlace(step, block);
    scaledSlip(&step->base.rows, block, &place, step->base.startVelocities[contact->bodyA],
               step->base.startVelocities[contact->bodyB], slip);
}

static double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// What forces make of the velocities of an island's bodies in this step, the largest.
static double forceEffect(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpTimeStep* base = &step->base;
    double largest = 0.0;
    for (int i = 0; i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        tpVelocity change = base->kicked[slot];
        change.linear = tpSub(change.linear, base->startVelocities[slot].linear);
        change.angular = tpSub(change.angular, base->startVelocities[slot].angular);
        largest = fmax(largest, tpVelocity_LargestSpeed(base->system, slot, &change));
    }
    return largest;
}

bool tpSticks(const tpRows* rows, int block) {
    int first = rows->firstRows[block];
    double sum = 0.0, limit = rows->mu[block] * rows->impulse[first];
    for (int k = 1; k < rows->dimensions[block]; ++k) {
        double r = rows->impulse[first + k] / rows->scale[first + k];
        sum += r * r;
    }
    return limit > 0.0 && sqrt(sum) < (1.0 - 1e-9) * limit;
}

// Whether a contact stuck in the part before, by what it carried there.
static bool stuckThen(const tpContactLaw* law, const tpContactInfo* info) {
    double size = tpContactLaw_FrictionSize(law, info->frictionImpulse, info->torsionalImpulse);
    double limit = law->mu * info->normalImpulse;
    return limit > 0.0 && size < (1.0 - 1e-9) * limit;
}

// The normal velocity of a contact that was closed, and the slip of one that stuck, are what the
// midpoint rule leaves. A later part of a step goes on from the part before it, whatever a contact
// was in the step before.
void tpImplicitStep_Recall(tpImplicitStep* step) {
    tpStepGeometry* geometry = &step->geometry;
    const tpTimeStep* base = &step->base;
    int cursor = 0;
    for (int b = 0; b < geometry->contactBlocks; ++b) {
        const tpRows* rows = &base->rows;
        geometry->carried[b] = rows->impulse[rows->firstRows[b]] > 0.0;
        geometry->stuck[b] = tpSticks(rows, b);
        const tpContactInfo* then =
            step->hasLastPart ? tpTally_Find(&step->lastPart, &base->contacts[b], &cursor) : NULL;
        if (then != NULL && then->normalImpulse > 0.0) {
            geometry->carried[b] = true;
            geometry->stuck[b] = geometry->stuck[b] || stuckThen(&base->laws[b], then);
        }
    }
}

// At theta = 1 the middle is the end, with the velocity that impulses work against.
void tpImplicitStep_ChooseFriction(tpImplicitStep* step, const tpIslandProblem* problem) {
    tpStepGeometry* geometry = &step->geometry;
    for (int b = 0; b < problem->blockCount; ++b) {
        if (problem->blocks[b] < geometry->contactBlocks) {
            geometry->frictionAtEnd[problem->blocks[b]] = !problem->keepsEnergy;
        }
    }
}

// Whether slip stops or turns round within the step. A contact that stuck before has none to stop.
static bool stopsSliding(const tpImplicitStep* step, int block, double residue) {
    const tpStepGeometry* geometry = &step->geometry;
    const tpRows* rows = &step->base.rows;
    const tpContact* contact = &step->base.contacts[block];
    double before[3], after[3];
    startSlip(step, block, before);
    double speed = sqrt(dot3(before, before));
    if (speed <= slowestSlip * step->base.system->units.speed ||
        (geometry->stuck[block] && speed <= residue)) {
        return false;
    }
    scaledSlip(rows, block, &geometry->ends[block], geometry->travels[contact->bodyA].end.velocity,
               geometry->travels[contact->bodyB].end.velocity, after);
    return tpSticks(rows, block) || dot3(before, after) <= 0.0;
}

// A contact whose slip has stopped or turned round within the step is asked again at the end: the
// law in the middle would let the velocity swing to the other side.
bool tpImplicitStep_ChangeFriction(tpImplicitStep* step, const tpIslandProblem* problem) {
    tpStepGeometry* geometry = &step->geometry;
    const tpRows* rows = &step->base.rows;
    double residue = residuePart * forceEffect(step, problem);
    bool isChanged = false;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        bool isLoaded = rows->impulse[rows->firstRows[block]] > 0.0;
        if (block >= geometry->contactBlocks || geometry->frictionAtEnd[block] || !isLoaded ||
            rows->dimensions[block] == 1) {
            continue;
        }
        if (stopsSliding(step, block, residue)) {
            geometry->frictionAtEnd[block] = true;
            isChanged = true;
        }
    }
    return isChanged;
}

// Whether friction at the end of the step gave energy: a slip that others have turned round in
// between. The midpoint rule has no place for that.
bool tpImplicitStep_GainsBySlip(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpStepGeometry* geometry = &step->geometry;
    const tpRows* rows = &step->base.rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = rows->firstRows[block];
        if (block >= geometry->contactBlocks || !geometry->frictionAtEnd[block] ||
            rows->impulse[first] <= 0.0) {
            continue;
        }
        const tpContact* contact = &step->base.contacts[block];
        double slip[3], work = 0.0;
        scaledSlip(rows, block, &geometry->middles[block],
                   geometry->travels[contact->bodyA].middle.velocity,
                   geometry->travels[contact->bodyB].middle.velocity, slip);
        for (int k = 1; k < rows->dimensions[block]; ++k) {
            work += rows->impulse[first + k] / rows->scale[first + k] * slip[k - 1];
        }
        double limit = rows->mu[block] * rows->impulse[first];
        if (work > limit * (1e-6 * sqrt(dot3(slip, slip)) +
                            slowestSlip * step->base.system->units.speed)) {
            return true;
        }
    }
    return false;
}

// Velocity of a row of the start's geometry.
static double rowVelocity(const tpImplicitStep* step, int block, int row,
                          const tpVelocity* velocities) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    return tpRows_RowVelocity(rows, row, velocities, rows->givenA[block], rows->givenB[block]);
}

// Whether a joint held its velocities in the step before, and nobody has changed those of its
// bodies since. The midpoint rule leaves velocities along it that change sign from step to step:
// they are no hit, however large.
static bool hasHeld(const tpImplicitStep* step, int block) {
    const tpSystem* system = step->base.system;
    const tpBlockInfo* info = &step->base.rows.infos[block];
    if (info->isCoupling || !step->settings.hasHeldJoints) {
        return step->settings.hasHeldJoints;
    }
    const tpJoint* joint = &system->joints.data[info->index];
    bool isDisturbed = (joint->bodyA >= 0 && system->bodies.data[joint->bodyA].isDisturbed) ||
                       (joint->bodyB >= 0 && system->bodies.data[joint->bodyB].isDisturbed);
    return !isDisturbed;
}

// Whether velocities have to jump in this step: a contact, a limit or a joint that carries an
// impulse starts the step with a velocity along it.
bool tpImplicitStep_IsHit(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    double forces = forceEffect(step, problem);
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        bool isContact = block < step->geometry.contactBlocks;
        bool isOneSided = rows->kinds[block] != tp_frictionFree;
        if (!isContact && (rows->infos[block].source == tp_boundedSource ||
                           (!isOneSided && hasHeld(step, block)))) {
            continue;
        }
        bool stays = isContact && step->geometry.carried[block];
        double byForces = (stays ? residuePart : forcePart) * forces;
        int count = isContact ? 1 : rows->dimensions[block];
        for (int k = 0; k < count; ++k) {
            int row = rows->firstRows[block] + k;
            double impulse = rows->impulse[row];
            if ((isOneSided && impulse <= 0.0) || rows->compliance[row] > 0.0) {
                continue;
            }
            double byImpulses = rowVelocity(step, block, row, base->pushed) -
                                rowVelocity(step, block, row, base->kicked);
            double scale = rows->scale[row];
            double allowed = byForces + impulsePart * scale * fabs(byImpulses);
            if (scale * fabs(rowVelocity(step, block, row, base->startVelocities)) >
                allowed + slowestHit * base->system->units.speed) {
                return true;
            }
        }
    }
    return false;
}

// The same before anything is solved, where it is plain: a contact that carried nothing closes in
// this step faster than forces alone would do it.
bool tpImplicitStep_IsStiff(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpRows* rows = &step->base.rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[problem->blocks[b]];
        bool isLaw = info->role == tp_servoRole || info->role == tp_damperRole ||
                     info->role == tp_springRole;
        if (isLaw) {
            if (tpJoints_Share(step->base.system, info) > 0.5) {
                return true;
            }
        }
    }
    return false;
}

bool tpImplicitStep_IsBoundToHit(const tpImplicitStep* step, const tpIslandProblem* problem) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    double forces = forceEffect(step, problem);
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], row = rows->firstRows[block];
        if (block < step->geometry.contactBlocks && !step->geometry.carried[block] &&
            rows->q[row] < 0.0 &&
            rowVelocity(step, block, row, base->startVelocities) <
                -forces - slowestHit * base->system->units.speed) {
            return true;
        }
    }
    return false;
}
