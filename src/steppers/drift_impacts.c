// Whether the drift has met an impact.

#include "dynamics/contact_spring.h"
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

// The largest velocity of a block's rows at the start, and with the smallest sign that of its first
// row.
static double startSpeed(const tpTimeStep* step, int block, int bodyA, int bodyB, bool isHeld) {
    const tpRows* rows = &step->rows;
    double speed = 0.0;
    for (int k = 0; k < (isHeld ? rows->dimensions[block] : 1); ++k) {
        double u = tpRows_RowVelocity(rows, rows->firstRows[block] + k, step->startVelocities,
                                      bodyA, bodyB);
        speed = isHeld ? fmax(speed, fabs(u)) : -u;
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

// Whether anything has collided: a contact or limit pushes that was open at the start, or
// approached; or a joint held velocities that it does not allow, as one that has just been made may
// find them.
bool tpDrift_HasCollided(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double least = fmax(leastApproach * step->h * tpLength(step->system->gravity),
                        leastPart * largestSpeed(step));
    for (int b = 0; b < rows->blockCount; ++b) {
        int row = rows->firstRows[b];
        bool isContact = rows->infos[b].source == tp_contactSource;
        bool isOneSided = isContact || rows->kinds[b] == tp_frictionNonnegative;
        bool isHeld = rows->infos[b].source == tp_jointSource &&
                      rows->kinds[b] == tp_frictionFree && !(rows->compliance[row] > 0.0);
        if (!isHeld && (!isOneSided || !(rows->impulse[row] > 0.0))) {
            continue;
        }
        int bodyA = rows->bodyA[b], bodyB = rows->bodyB[b];
        if (rows->infos[b].isCoupling) {
            continue; // its joints tell
        }
        if (!isContact) {
            bodyA = step->system->joints.data[rows->infos[b].index].bodyA;
            bodyB = step->system->joints.data[rows->infos[b].index].bodyB;
        } else {
            const tpContact* contact = &step->contacts[b];
            int place = drift->place[b];
            if (step->laws[b].stiffness > 0.0) {
                if (fabs(tpRows_BareVelocity(rows, row)) > least && isStiff(drift, b)) {
                    return true;
                }
                continue; // springs take their time
            }
            if (place < 0 || !drift->isClosed[place]) {
                return true;
            }
            bodyA = contact->bodyA;
            bodyB = contact->bodyB;
            if (drift->round[b] > 0) {
                continue; // a second row of a contact that has been looked at
            }
        }
        if (startSpeed(step, b, bodyA, bodyB, isHeld) > least) {
            return true;
        }
    }
    return false;
}
