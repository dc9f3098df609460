#include "steppers/stewart_trinkle/end_depth.h"

#include "dynamics/body_islands.h"
#include "dynamics/couplings.h"
#include "dynamics/joints.h"

// By how much joints and couplings are off where the step ends, for the bodies that these hold
// together. NULL if memory ran out.
static double* findJointErrors(tpTimeStep* step, int* islands) {
    tpSystem* system = step->system;
    double* errors = TP_SCRATCH_ZEROED(&system->arena, double, step->bodyCount);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, step->bodyCount);
    if (errors == NULL || poses == NULL) {
        return NULL;
    }
    tpTimeStep_Move(step, step->meanVelocities, poses);
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int body = tpSystem_IsDynamic(system, joint->bodyA) ? joint->bodyA : joint->bodyB;
        if (tpSystem_IsDynamic(system, body)) {
            double* error = &errors[tpBodyIslands_Root(islands, body)];
            *error = fmax(*error, tpJoint_PositionError(system, joint, poses));
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        int body = tpCoupling_AnyBody(system, i);
        if (body >= 0) {
            double* error = &errors[tpBodyIslands_Root(islands, body)];
            *error = fmax(*error, tpCoupling_PositionError(system, i, poses));
        }
    }
    return errors;
}

double tpStewartTrinkle_DeepestEnd(tpTimeStep* step, double* off) {
    double deepest = 0.0, *errors = NULL;
    int* islands = NULL;
    *off = 0.0;
    if (step->system->joints.count > 0 && step->endCount > 0) {
        islands = tpBodyIslands_Find(step->system);
        errors = islands != NULL ? findJointErrors(step, islands) : NULL;
        if (errors == NULL) {
            return -1.0;
        }
    }
    for (int i = 0; i < step->endCount; ++i) {
        const tpContact* contact = &step->endContacts[i];
        double error = 0.0;
        if (errors != NULL) {
            error = fmax(errors[tpBodyIslands_Root(islands, contact->bodyA)],
                         errors[tpBodyIslands_Root(islands, contact->bodyB)]);
        }
        if (error - contact->gap > deepest) {
            deepest = error - contact->gap;
            *off = error;
        }
    }
    return deepest;
}
