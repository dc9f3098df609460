#include "steppers/auto/flow_loads.h"

#include "dynamics/joint_laws.h"
#include "dynamics/joint_state.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"
#include "steppers/auto/flow_laws.h"

void tpFlowLoads_Clear(tpFlowLoads* loads, const tpFlowPlan* plan) {
    loads->frictionLoss = loads->work = 0.0;
    for (int i = 0; i < plan->jointCount; ++i) {
        loads->joints[i] = (tpWrench){ tpZeroVec3(), tpZeroVec3() };
    }
    for (int i = 0; i < plan->lawCount; ++i) {
        loads->efforts[i] = loads->limitEfforts[i] = 0.0;
    }
    for (int i = 0; i < plan->couplingCount; ++i) {
        loads->couplings[i] = 0.0;
    }
    for (int i = 0; i < plan->contactCount; ++i) {
        loads->contacts[i] = tpZeroVec3();
        loads->spins[i] = 0.0;
        loads->rolls[i] = tpZeroVec3();
    }
}

static void addContact(tpFlowLoads* loads, const tpFlowPlan* plan, const tpSystem* system,
                       const tpFlowRows* rows, const tpFlowPushes* pushes, const double* forces,
                       double part, int i) {
    int first = rows->firstRows[i];
    int count = plan->modes[i] == tp_flowSticks ? tpFlowRows_FrictionCount(rows, system, i) : 0;
    for (int k = 0; k <= count; ++k) {
        double impulse = part * forces[first + k];
        tpVec3 direction = pushes->rows[first + k].onA.linear;
        loads->contacts[i] = tpMulAdd(loads->contacts[i], impulse, direction);
        loads->spins[i] += k == 3 ? impulse : 0.0;
    }
    if (plan->modes[i] == tp_flowSlides) {
        double friction = part * rows->laws[i].mu * forces[first];
        loads->spins[i] -= friction * rows->laws[i].arm * pushes->slips[i].direction[2];
        loads->frictionLoss += friction * pushes->slips[i].size;
        for (int k = tpFlowRows_RollingPlace(rows, system, i);
             k < tpFlowRows_FrictionCount(rows, system, i); ++k) {
            double scale;
            tpVec3 axis = tpFlowRows_Friction(rows, system, i, k, &scale).onA.angular;
            loads->rolls[i] =
                tpMulAdd(loads->rolls[i], -friction * scale * pushes->slips[i].direction[k], axis);
        }
    }
}

void tpFlowLoads_Add(tpFlowLoads* loads, const tpFlowPlan* plan, const tpSystem* system,
                     const tpFlowRows* rows, const tpFlowPushes* pushes, const double* forces,
                     double part) {
    for (int i = 0; i < plan->rowCount; ++i) {
        const tpFlowRow* push = &pushes->rows[i];
        // A motor that holds its speed works by it; what else is held stands still. What a rotor
        // gets stays in the system.
        double speed = push->inverseArmature > 0.0 ? 0.0 : push->speed;
        loads->work += part * forces[i] * (speed - pushes->givenPowers[i]);
        if (push->law > 0) {
            bool isLimit = plan->laws[push->law - 1].limitSign != 0.0;
            double* efforts = isLimit ? loads->limitEfforts : loads->efforts;
            efforts[push->law - 1] += part * forces[i];
        }
        if (push->joint >= 0) {
            tpWrench_Add(&loads->joints[push->joint], part * forces[i], &push->onB);
        }
    }
    for (int i = 0; i < plan->couplingCount; ++i) {
        loads->couplings[i] += part * forces[rows->firstCoupling + i];
    }
    for (int i = 0; i < plan->contactCount; ++i) {
        addContact(loads, plan, system, rows, pushes, forces, part, i);
    }
}

void tpFlowLoads_AddLaw(tpFlowLoads* loads, const tpFlowLawForce* law, int which, double power,
                        double part) {
    double force = law->stored + law->taken;
    tpWrench_Add(&loads->joints[law->push.joint], part * force, &law->push.onB);
    loads->efforts[which] += part * law->effort;
    loads->work += part * power;
}

// A contact of the step as users see it, where the bodies are now.
static tpContactInfo listContact(const tpFlowLoads* loads, const tpFlowPlan* plan,
                                 const tpSystem* system, const tpFlowRows* rows, int i) {
    tpContactInfo info = tpContactInfo_Make(&rows->contacts[i]);
    tpContactInfo_AddImpulse(&info, loads->contacts[i]);
    info.torsionalImpulse = loads->spins[i];
    info.rollingImpulse = loads->rolls[i];
    double slip[tp_flowFriction];
    tpFlowRows_Slip(rows, system, i, slip);
    bool isSliding = plan->modes[i] != tp_flowSticks;
    double across = system->isPlanar ? 0.0 : slip[1];
    info.slidingSpeed = isSliding ? sqrt(slip[0] * slip[0] + across * across) : 0.0;
    info.state = tpContactInfo_StateOf(&info, system->units.speed);
    return info;
}

// Whether a contact has pushed, and one that sticks was able to.
static bool isHeld(const tpContactInfo* info, const tpContactLaw* law, tpFlowMode mode) {
    double friction = tpContactLaw_FrictionSize(law, info->frictionImpulse, info->torsionalImpulse);
    return info->normalImpulse > 0.0 &&
           (mode != tp_flowSticks || friction <= law->muStatic * info->normalImpulse);
}

static bool isAtLimit(const tpFlowPlan* plan, int joint, int coordinate) {
    for (int i = 0; i < plan->lawCount; ++i) {
        const tpFlowLaw* law = &plan->laws[i];
        if (law->joint == joint && law->coordinate == coordinate && law->limitSign != 0.0) {
            return true;
        }
    }
    return false;
}

double tpFlowPlan_TimeBeyondLimits(const tpFlowPlan* plan, const tpSystem* system) {
    double longest = 0.0;
    for (int i = 0; i < plan->jointCount; ++i) {
        const tpJoint* joint = &system->joints.data[plan->joints[i]];
        for (int k = 0; k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            if (def->hasLimits && !isAtLimit(plan, i, k)) {
                tpJointPlace place = tpJoint_Place(joint, system->poses.data);
                tpJointRow row = tpJoint_CoordinateRow(joint, &place, k);
                double past = tpPastLimit(def->limits, row.error);
                double rate = tpJointRow_Speed(joint, &row, system->velocities.data);
                double time = past == 0.0 ? 0.0 : past * rate > 0.0 ? past / rate : INFINITY;
                longest = fmax(longest, time);
            }
        }
    }
    return longest;
}

// Efforts as means over the step.
static void reportEfforts(const tpFlowLoads* loads, const tpFlowPlan* plan, tpSystem* system,
                          double h) {
    for (int i = 0; i < plan->lawCount; ++i) {
        const tpFlowLaw* law = &plan->laws[i];
        tpJoint* joint = &system->joints.data[plan->joints[law->joint]];
        joint->coordinates[law->coordinate].effort = loads->efforts[i] / h;
        joint->coordinates[law->coordinate].limitEffort = loads->limitEfforts[i] / h;
    }
}

// Whether motors and limits that hold were able to.
static bool canHold(const tpFlowLoads* loads, const tpFlowPlan* plan, const tpSystem* system,
                    double h) {
    bool canHold = true;
    for (int i = 0; i < plan->lawCount; ++i) {
        const tpFlowLaw* law = &plan->laws[i];
        double impulse = law->limitSign != 0.0 ? loads->limitEfforts[i] : loads->efforts[i];
        canHold = canHold && (!tpFlowLaw_Holds(law) ||
                              tpFlowLaw_Margin(law, system, plan, impulse / h) >= 0.0);
    }
    return canHold;
}

// Means over the step, and what parts of steps add up.
static void reportJoints(const tpFlowLoads* loads, const tpFlowPlan* plan, tpSystem* system,
                         double h, double* reactions) {
    tpJoints_ClearReactions(system);
    for (int i = 0; i < plan->jointCount; ++i) {
        tpWrench mean = { tpZeroVec3(), tpZeroVec3() };
        tpWrench_Add(&mean, 1.0 / h, &loads->joints[i]);
        tpJoint_AddReaction(system, &system->joints.data[plan->joints[i]], mean);
    }
    for (int i = 0; i < plan->couplingCount; ++i) {
        tpCoupling_AddHold(system, plan->couplings[i], loads->couplings[i] / h);
    }
    reportEfforts(loads, plan, system, h);
    tpJoints_ReadReactions(system, reactions);
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        reactions[i] *= h;
    }
}

bool tpFlowLoads_Report(const tpFlowLoads* loads, const tpFlowPlan* plan, tpSystem* system,
                        const tpFlowRows* rows, double h, tpTaken* taken) {
    tpStepReport* report = &taken->report;
    tpContactInfo list[tp_flowContacts];
    reportJoints(loads, plan, system, h, taken->reactions);
    taken->isBad = taken->isBad || tpFlowPlan_TimeBeyondLimits(plan, system) > 0.0 ||
                   !canHold(loads, plan, system, h);
    for (int i = 0; i < plan->contactCount; ++i) {
        list[i] = listContact(loads, plan, system, rows, i);
        taken->isBad = taken->isBad || !isHeld(&list[i], &rows->laws[i], plan->modes[i]);
        report->penetration = fmax(report->penetration, -list[i].gap);
    }
    for (int i = 0; i < plan->rowCount; ++i) {
        const tpFlowRow* row = &rows->rows[i];
        double speed = tpFlowRow_Speed(row, system->velocities.data) - row->speed;
        report->residual = fmax(report->residual, fabs(speed) / system->units.speed);
    }
    report->frictionLoss = loads->frictionLoss;
    report->externalWork = loads->work;
    return tpTally_Merge(&taken->tally, list, plan->contactCount, &system->arena);
}
