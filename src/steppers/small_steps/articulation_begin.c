// Mechanisms as a step begins: what the last one knew, and who is in no sweep.

#include <string.h>

#include "dynamics/joint_chain.h"
#include "steppers/small_steps/articulation_tree.h"

// Values of hinges go on from step to step as long as nobody moves their bodies. They are found by
// their arcs again every so many steps: roundings do not add up for longer.
enum { stepsByArc = 64 };

// A hinge between two bodies of a mechanism, as those of packs are.
static bool isHinge(const tpSmallStep* step, const tpJoint* joint) {
    const int32_t* owners = step->state->map.owners.data;
    return joint->type == tp_revoluteJoint && joint->bodyA >= 0 && joint->bodyB >= 0 &&
           owners[joint->bodyA] >= 0 && owners[joint->bodyB] >= 0;
}

static bool goesOn(const tpSmallStep* step, const tpJoint* joint, int index) {
    bool isTurn = joint->type == tp_revoluteJoint && joint->bodyA >= 0 && joint->bodyB >= 0;
    uint64_t turn = (uint64_t)step->system->stepCount + (uint64_t)index;
    if (!isTurn || turn % stepsByArc == 0) {
        return false;
    }
    const int32_t* numbers = step->state->numbers.data;
    return !step->isDisturbed[numbers[joint->bodyA]] && !step->isDisturbed[numbers[joint->bodyB]];
}

// A hinge between two bodies of a tree whose turn the last step has left: nobody looks at it.
static inline void beginHinge(const tpSmallStep* step, int index, tpAxisPlace* axis) {
    const tpJoint* joint = &step->system->joints.data[index];
    const tpCoordinate* first = &joint->coordinates[0];
    axis->rigid = axis->pull = 0.0;
    axis->given = NAN;
    axis->known = axis->value = goesOn(step, joint, index)
                                    ? first->displacement + first->def.zero
                                    : tpHinge_ValueOf(joint, axis->knownHalf) + first->def.zero;
}

// Nothing is known of an axis yet but the value of a hinge, and what has pulled at a ball joint's
// angle in the last step.
static void beginAxis(const tpSmallStep* step, int index, bool wasPlaced, tpAxisPlace* axis) {
    if (wasPlaced && isHinge(step, &step->system->joints.data[index])) {
        beginHinge(step, index, axis);
        return;
    }
    const tpJoint* joint = &step->system->joints.data[index];
    const tpCoordinate* first = &joint->coordinates[0];
    bool isGiven = goesOn(step, joint, index);
    axis->rigid = axis->pull = 0.0;
    axis->given = isGiven ? first->displacement + first->def.zero : NAN;
    axis->knownHalf = (tpHalfTurn){ 0.0, 0.0 };
    axis->value = 0.0;
    if (joint->type == tp_ballJoint) {
        axis->pull = -(joint->coordinates[0].effort + joint->coordinates[0].limitEffort);
    }
}

// How fast links of a tree swing under the forces that their joints had in the last step: the
// square of the angle by which the fastest one does so in a substep.
static double swingOf(const tpSmallStep* step, const tpArticulation* articulation) {
    double most = 0.0;
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] < 0) {
            continue;
        }
        double ease = tpArticulation_EaseOf(articulation, i);
        double force =
            tpLengthSquared(step->system->joints.data[articulation->links[i]].force) * ease * ease;
        most = force > most ? force : most;
    }
    return step->substepTime * step->substepTime * sqrt(most);
}

// What a step knows of the axes when it begins.
static void beginAxes(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        const tpJointNode* node = &articulation->tree.nodes[i];
        for (int k = node->axis; k < node->axisEnd; ++k) {
            beginAxis(step, articulation->links[i], articulation->wasPlaced,
                      &articulation->axisPlaces[k]);
        }
    }
}

// Which numbers have manifolds.
static void markTouching(const tpSmallStep* step, bool* touches) {
    const tpPackStore* store = &step->state->store;
    for (int r = 0; r < store->order.count; ++r) {
        const tpSoftRun* run = &store->runs.data[store->order.data[r]];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            touches[run->bodyA[lane]] = touches[run->bodyB[lane]] = true;
        }
    }
}

// Whether the bodies of a tree are where the last step has left them.
static bool areWhereTheyWere(const tpStepJoints* joints, const tpPose* poses,
                             const tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i];
        if (memcmp(&joints->poses[body], &poses[body], sizeof(tpPose)) != 0) {
            return false;
        }
    }
    return articulation->isTree;
}

void tpStepJoints_Begin(const tpSmallStep* step, tpStepJoints* joints) {
    const tpSystem* system = step->system;
    memset(joints->touches, 0, sizeof(bool) * (size_t)step->count);
    memset(joints->isDone, 0, sizeof(bool) * (size_t)system->joints.count);
    memset(&joints->few, 0, sizeof(joints->few));
    markTouching(step, joints->touches);
    memcpy(joints->list, joints->placed, sizeof(tpArticulation) * (size_t)joints->count);
    for (int m = 0; m < joints->count; ++m) {
        tpArticulation* articulation = &joints->list[m];
        articulation->wasPlaced =
            joints->areEnded && areWhereTheyWere(joints, system->poses.data, articulation);
        articulation->isAwake = articulation->isTree;
        for (int i = 0; !articulation->isAwake && i < articulation->solver.nodeCount; ++i) {
            articulation->isAwake = tpSystem_IsDynamic(system, articulation->bodies[i]);
        }
        size_t bytes = sizeof(double) * 6 * (size_t)articulation->solver.nodeCount;
        memset(articulation->pushes, 0, bytes);
        memset(articulation->changes, 0, bytes);
        memset(articulation->given, 0, bytes);
        if (articulation->isTree) {
            memset(articulation->reactions, 0, bytes);
            articulation->swing = swingOf(step, articulation);
            beginAxes(step, articulation);
        }
    }
    memcpy(joints->poses, system->poses.data, sizeof(tpPose) * (size_t)system->bodyCount);
    joints->areEnded = false;
}

bool tpStepJoints_MarkInside(tpSmallStep* step) {
    const tpStepJoints* joints = step->joints;
    step->isInside = TP_SCRATCH_ZEROED(&step->system->arena, bool, step->count);
    if (step->isInside == NULL) {
        return false;
    }
    for (int m = 0; m < joints->count; ++m) {
        tpArticulation* articulation = &joints->list[m];
        bool isTouched = false;
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            isTouched = isTouched || joints->touches[articulation->numbers[i]];
        }
        articulation->isInside =
            articulation->isTree && (articulation->hasFewContacts || !isTouched);
        for (int i = 0; articulation->isInside && i < articulation->solver.nodeCount; ++i) {
            step->isInside[articulation->numbers[i]] = true;
        }
    }
    return true;
}
