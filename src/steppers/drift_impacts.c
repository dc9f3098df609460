// Whether the drift has met an impact.

#include "dynamics/contact_spring.h"
#include "dynamics/reduced.h"
#include "steppers/drift_problem.h"

// Slower approaches than this part of what gravity gives in the step, and this part of the largest
// speed, are none: rolling and sliding, and tolerances, leave as much.
static const double leastApproach = 0.01, leastPart = 1e-6;

static double largestSpeed(const tpTimeStep* step) {
    double speed = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        if (tpSystem_IsDynamic(step->system, i)) {
            speed =
                fmax(speed, tpVelocity_LargestSpeed(step->system, i, &step->startVelocities[i]));
        }
    }
    return speed;
}

// How fast the first row of a one-sided block is approached at the start.
static double approachOf(const tpTimeStep* step, int block, int bodyA, int bodyB) {
    return -tpRows_RowVelocity(&step->rows, step->rows.firstRows[block], step->startVelocities,
                               bodyA, bodyB);
}

// The largest velocity at the start of rows that a joint holds.
static double heldSpeed(const tpTimeStep* step, int block) {
    double u[TP_FRICTION_MAX_ROWS], speed = 0.0;
    int count = step->rows.dimensions[block];
    tpRows_ReadBlock(&step->rows, block, step->startVelocities, u);
    for (int k = 0; k < count; ++k) {
        speed = fabs(u[k]) > speed ? fabs(u[k]) : speed;
    }
    return speed;
}

// Whether a spring or its damper stops a body in not much more than the step: to the step that is
// an impact.
static bool isStiff(const tpDrift* drift, int contact) {
    const tpTimeStep* step = drift->step;
    const tpContactLaw* law = &step->laws[contact];
    int row = step->rows.firstRows[contact];
    double response = tpRows_Response(&step->rows, contact, row) - step->rows.compliance[row];
    return step->h * response * (step->h * law->stiffness + law->damping) > 0.1;
}

// Whether a contact that has pushed had collided.
static bool contactHasCollided(const tpDrift* drift, int block, double least) {
    const tpTimeStep* step = drift->step;
    const tpContact* contact = &step->contacts[block];
    int place = drift->place[block];
    if (step->laws[block].stiffness > 0.0) {
        // Springs take their time.
        double velocity = tpRows_BareVelocity(&step->rows, step->rows.firstRows[block]);
        return fabs(velocity) > least && isStiff(drift, block);
    }
    if (place < 0 || !drift->isClosed[place]) {
        return true;
    }
    // A second row belongs to a contact that has been looked at.
    return drift->round[block] == 0 &&
           approachOf(step, block, contact->bodyA, contact->bodyB) > least;
}

// Whether anything has collided: a contact or limit pushes that was open at the start, or
// approached; or a joint held velocities that it does not allow, as one that has just been made may
// find them. Joints of couplings tell of these.
bool tpDrift_HasCollided(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double least = fmax(leastApproach * step->h * tpLength(step->system->gravity),
                        leastPart * largestSpeed(step));
    if (step->reduced != NULL &&
        tpReduced_HeldSpeed(step->reduced, step->startVelocities) > least) {
        return true;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int row = rows->firstRows[b];
        const tpBlockInfo* info = &rows->infos[b];
        bool isContact = info->source == tp_contactSource, hasCollided = false;
        if (info->isCoupling) {
            continue;
        }
        if (info->source == tp_jointSource && rows->kinds[b] == tp_frictionFree) {
            hasCollided = !(rows->compliance[row] > 0.0) && heldSpeed(step, b) > least;
        } else if (isContact) {
            hasCollided = rows->impulse[row] > 0.0 && contactHasCollided(drift, b, least);
        } else if (rows->kinds[b] == tp_frictionNonnegative) {
            hasCollided = rows->impulse[row] > 0.0 &&
                          approachOf(step, b, rows->givenA[b], rows->givenB[b]) > least;
        }
        if (hasCollided) {
            return true;
        }
    }
    return false;
}

bool tpDrift_ForeseesStrike(const tpDrift* drift, bool* isLively) {
    const tpTimeStep* step = drift->step;
    const tpSystem* system = step->system;
    const tpStrikes* strikes = &drift->settings->strikes;
    bool isForeseen = false;
    int cursor = 0;
    *isLively = false;
    for (int i = 0; strikes->areSought && i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactLaw* law = &step->laws[i];
        bool isElastic = law->restitution > 0.0;
        if (contact->gap <= tpClosedGap * system->units.length || law->stiffness > 0.0 ||
            (!isElastic && step->contactCount > tp_fewStrikes)) {
            continue;
        }
        double approach = tpContact_Approach(contact, step->startPoses, step->startVelocities);
        if (!(approach > (isElastic ? strikes->least : strikes->hard)) ||
            !(contact->gap < approach * step->h)) {
            continue;
        }
        // What has pushed in the last step too is no impact.
        const tpContactMemory* last =
            isElastic ? NULL : tpContactHistory_Find(&drift->memory->history, contact, &cursor);
        if (last == NULL || !(tpLengthSquared(last->impulse) > 0.0)) {
            isForeseen = true;
            *isLively = *isLively || law->restitution > 0.5;
        }
    }
    return isForeseen;
}
