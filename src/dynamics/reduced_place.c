// Where the links of trees are: axes, arms, biases of what joints hold, laws of coordinates.

#include <string.h>

#include "dynamics/joint_laws.h"
#include "dynamics/reduced.h"

// A hinge at two poses.
typedef struct tpHingeAt {
    tpVec3 armA, armB; // from the centres to the anchors
    tpVec3 gap;        // from A's anchor to B's
    tpVec3 twist;      // what the turn does not explain, in the axes of A
    tpHalfTurn half;
} tpHingeAt;

static tpHingeAt lookAt(const tpJoint* joint, const tpPose* a, const tpPose* b) {
    tpHingeAt at = { .armA = tpRotate(a->rotation, joint->anchorA),
                     .armB = tpRotate(b->rotation, joint->anchorB) };
    at.gap = tpSub(tpAdd(b->position, at.armB), tpAdd(a->position, at.armA));
    at.half = tpHinge_Split(joint, a->rotation, b->rotation, &at.twist);
    return at;
}

// Laws --------------------------------------------------------------------------------------------

static void setForce(tpReducedLaw* law, const tpForceLaw* force, double duration, double value) {
    tpSoftLaw soft = tpForceLaw_Soften(force, duration, duration, value - force->rest);
    *law = (tpReducedLaw){ soft.stiffness, soft.bias, soft.damping, 0.0 };
}

// What acts before the drift; the rest is tpReduced_KickRest's.
static void setForces(tpReducedLink* link, const tpCoordinate* coordinate, double h) {
    const tpCoordinateDef* def = &coordinate->def;
    if (def->hasSpring) {
        tpForceLaw law = { def->spring.stiffness, def->spring.damping, def->spring.rest, 0.0,
                           INFINITY };
        setForce(&link->laws[tp_reducedSpring], &law, coordinate->springShare * h, link->value);
    }
    if (def->hasServo && !tpServo_IsBounded(def)) {
        tpForceLaw law = { def->servo.stiffness, def->servo.damping, def->servo.target,
                           def->servo.speed, INFINITY };
        setForce(&link->laws[tp_reducedServo], &law, coordinate->servoShare * h, link->value);
    }
    if (def->damping > 0.0) {
        tpForceLaw law = { 0.0, def->damping, 0.0, 0.0, INFINITY };
        setForce(&link->laws[tp_reducedDamper], &law, coordinate->damperShare * h, link->value);
    }
}

static void setLaws(tpReducedLink* link, const tpCoordinate* coordinate, double h, bool isFirst) {
    memset(link->laws, 0, sizeof(link->laws));
    if (isFirst) {
        setForces(link, coordinate, h);
    }
    double armature = coordinate->def.armature;
    link->bias[5] = -coordinate->rotorSpeed[0];
    link->laws[tp_reducedRotor] = (tpReducedLaw){ .stiffness = armature };
}

// The sum of the laws of a coordinate is one row of its tree.
void tpReducedLink_SumLaws(const tpReducedLink* link, tpRowAnswer* answer) {
    double stiffness = link->driveStiffness, start = link->driveStart;
    for (int k = 0; k < tp_reducedLawCount; ++k) {
        double bias = k == tp_reducedRotor ? link->bias[5] : link->laws[k].bias;
        stiffness += link->laws[k].stiffness;
        start -= link->laws[k].stiffness * bias;
    }
    answer->stiffness = stiffness;
    answer->offset = start;
}

// Nodes -------------------------------------------------------------------------------------------

// What the body is to move by against its parent beyond its coordinate, at its centre.
static void setJump(tpReduced* reduced, int i) {
    const tpReducedLink* link = &reduced->links[i];
    const double* b = link->bias;
    tpVec3 turn = tpAdd(tpScale(b[3], link->across[0]), tpScale(b[4], link->across[1]));
    tpVec3 angular = tpScale(-link->sign, turn);
    tpVec3 linear = tpScale(-link->sign, tpMakeVec3(b[0], b[1], b[2]));
    tpWriteSix(&reduced->jumps[6 * i], tpSub(linear, tpCross(angular, link->arm)), angular);
}

static void setInertia(const tpSystem* system, int body, const tpPose* poses, tpJointNode* node) {
    const tpBody* owner = &system->bodies.data[body];
    tpMat33 world = tpInertia_World(&owner->form->inertia, poses[body].rotation);
    node->mass = owner->mass;
    node->inertia[0] = world.cx.x;
    node->inertia[1] = world.cy.y;
    node->inertia[2] = world.cz.z;
    node->inertia[3] = world.cy.x;
    node->inertia[4] = world.cz.x;
    node->inertia[5] = world.cz.y;
}

// Axis, arms and biases of a link's joint. Positions count if `gain`, per second, is not zero.
static void placeLink(tpReduced* reduced, int i, const tpPose* poses, double gain,
                      bool needsValue) {
    tpReducedLink* link = &reduced->links[i];
    const tpJoint* joint = &reduced->system->joints.data[link->joint];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    const tpVec3 across[2] = { joint->frameA.cy, joint->frameA.cz };
    tpVec3 arms[2];
    memset(link->bias, 0, sizeof(link->bias));
    link->value = 0.0;
    if (gain != 0.0 || needsValue) {
        tpHingeAt at = lookAt(joint, &a, &b);
        arms[0] = at.armA;
        arms[1] = at.armB;
        link->value = needsValue ? tpHinge_ValueOf(joint, at.half) + coordinate->def.zero : 0.0;
        link->startHalf = at.half;
        link->bias[0] = gain * at.gap.x;
        link->bias[1] = gain * at.gap.y;
        link->bias[2] = gain * at.gap.z;
        link->bias[3] = gain * tpDot(across[0], at.twist);
        link->bias[4] = gain * tpDot(across[1], at.twist);
    } else {
        arms[0] = tpRotate(a.rotation, joint->anchorA);
        arms[1] = tpRotate(b.rotation, joint->anchorB);
    }
    tpMat33 turnA = tpMatFromQuat(a.rotation);
    link->axis = tpMulMV(turnA, coordinate->axis);
    link->across[0] = tpMulMV(turnA, across[0]);
    link->across[1] = tpMulMV(turnA, across[1]);
    int own = link->sign > 0.0 ? 1 : 0;
    link->arm = arms[own];
    link->way = tpSub(arms[1 - own], arms[own]);
}

// The rows of the laws of a coordinate that have bounds.
static void addBounded(const tpReduced* reduced, tpRows* rows, const tpReducedLink* link,
                       const tpJointTreatment* treatment, bool isFirst) {
    const tpJoint* joint = &reduced->system->joints.data[link->joint];
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    if (!def->hasLimits && !def->hasMotor && !(def->friction > 0.0) && !tpServo_IsBounded(def)) {
        return;
    }
    int count = rows->blockCount;
    tpHinge_AddBoundedLaws(rows, reduced->system, link->joint, link->axis, link->value, treatment,
                           isFirst ? tp_firstHalfLaws : tp_noLaws);
    if (rows->blockCount > count) {
        tpRows_SetMass(rows, reduced->system, joint->bodyA);
        tpRows_SetMass(rows, reduced->system, joint->bodyB);
    }
}

void tpReduced_Place(tpReduced* reduced, tpRows* rows, const tpPose* poses,
                     const tpJointTreatment* treatment, tpStepHalf half) {
    const tpSystem* system = reduced->system;
    bool isFirst = half == tp_firstHalf;
    double gain = treatment->gain / treatment->h;
    for (int i = 0; i < reduced->linkCount; ++i) {
        tpReducedLink* link = &reduced->links[i];
        int number = reduced->treeOf[i], local = i - reduced->firstLinks[number];
        tpJointTree* tree = &reduced->trees[number];
        tpJointNode* node = &tree->nodes[local];
        setInertia(system, link->body, poses, node);
        node->isDirty = true;
        node->isWanted = false;
        if (link->joint < 0) {
            continue;
        }
        const tpCoordinate* coordinate = &system->joints.data[link->joint].coordinates[0];
        const tpCoordinateDef* def = &coordinate->def;
        bool hasForce = def->hasSpring || def->hasServo || def->damping > 0.0;
        // Laws have asked for the value at the start.
        bool isKnown = isFirst && (hasForce || def->armature > 0.0);
        placeLink(reduced, i, poses, gain, def->hasLimits && !isKnown);
        link->value = isKnown ? coordinate->startValue : link->value;
        setLaws(link, coordinate, treatment->h, isFirst);
        memcpy(link->written, link->bias, sizeof(link->written));
        link->driveStiffness = link->driveStart = 0.0;
        tpReducedLink_SumLaws(link, &tree->answers[local]);
        tpVec3 turn = tpScale(link->sign, link->axis);
        tpWriteSix(tree->axes[local].motion, tpCross(link->arm, turn), turn);
        node->arm[0] = link->way.x;
        node->arm[1] = link->way.y;
        node->arm[2] = link->way.z;
        setJump(reduced, i);
        addBounded(reduced, rows, link, treatment, isFirst);
    }
    if (reduced->hasOthers) {
        tpJoints_AddHalfRows(rows, system, poses, treatment, half, reduced->isOther);
    }
    tpReduced_ReserveKept(reduced, rows);
}

// Where the drift has ended -----------------------------------------------------------------------

static double larger(double size, double largest) {
    return size <= largest ? largest : size; // what is no number stays
}

// The value at the end of the drift. Near to that at the start it is found from that.
static double endValue(const tpReducedLink* link, const tpJoint* joint, tpHalfTurn half) {
    double value;
    if (tpHinge_ValueNear(half, link->startHalf, link->value, &value)) {
        return value;
    }
    return tpHinge_ValueOf(joint, half) + joint->coordinates[0].def.zero;
}

// What one link has missed.
static double correctLink(tpReduced* reduced, int i, const tpPose* poses) {
    tpReducedLink* link = &reduced->links[i];
    const tpJoint* joint = &reduced->system->joints.data[link->joint];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    double h = reduced->h, unit = reduced->system->units.length, largest = 0.0;
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    tpHingeAt at = lookAt(joint, &a, &b);
    double missed[tp_bentRows] = { at.gap.x,
                                   at.gap.y,
                                   at.gap.z,
                                   tpDot(joint->frameA.cy, at.twist),
                                   tpDot(joint->frameA.cz, at.twist),
                                   0.0 };
    const tpReducedLaw* rotor = &link->laws[tp_reducedRotor];
    if (rotor->stiffness > 0.0) {
        // The coordinate has to go as far as the rotor, at the speed that the impulse has left it.
        double value = endValue(link, joint, at.half);
        double speed = coordinate->rotorSpeed[0] - rotor->impulse / rotor->stiffness;
        missed[5] = value - coordinate->startValue - h * speed;
        link->endValue = value;
    }
    link->endHalf = at.half;
    link->endError = 0.0;
    for (int k = 0; k < 5; ++k) {
        link->endError = larger(fabs(missed[k]) / (k < 3 ? unit : 1.0), link->endError);
    }
    for (int k = 0; k < tp_bentRows; ++k) {
        largest = larger(fabs(missed[k]) / (k < 3 ? unit : 1.0), largest);
        link->bias[k] += missed[k] / h;
    }
    return largest;
}

// Biases of a link have changed.
static void takeBias(tpReduced* reduced, int i) {
    int number = reduced->treeOf[i];
    tpReducedLink_SumLaws(&reduced->links[i],
                          &reduced->trees[number].answers[i - reduced->firstLinks[number]]);
    setJump(reduced, i);
}

double tpReduced_Correct(tpReduced* reduced, const tpPose* poses) {
    double largest = 0.0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        if (reduced->links[i].joint >= 0) {
            largest = larger(correctLink(reduced, i, poses), largest);
            takeBias(reduced, i);
        }
    }
    return largest;
}

double tpReduced_StartError(const tpReduced* reduced) {
    double largest = 0.0, unit = reduced->system->units.length;
    for (int i = 0; i < reduced->linkCount; ++i) {
        const tpReducedLink* link = &reduced->links[i];
        if (link->joint < 0) {
            continue;
        }
        for (int k = 0; k < 5; ++k) {
            double weight = k < 3 ? 1.0 : unit; // turns count with the unit of length
            largest = larger(weight * fabs(link->written[k]) * reduced->h, largest);
        }
        const tpCoordinateDef* def = &reduced->system->joints.data[link->joint].coordinates[0].def;
        if (def->hasLimits) {
            largest = larger(unit * fabs(tpPastLimit(def->limits, link->value)), largest);
        }
    }
    return largest;
}

double tpReduced_FollowAngles(tpReduced* reduced) {
    double largest = 0.0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        const tpReducedLink* link = &reduced->links[i];
        if (link->joint < 0) {
            continue;
        }
        tpJoint* joint = &reduced->system->joints.data[link->joint];
        tpCoordinate* coordinate = &joint->coordinates[0];
        bool isKnown = link->laws[tp_reducedRotor].stiffness > 0.0;
        coordinate->displacement =
            isKnown ? link->endValue - coordinate->def.zero : tpHinge_ValueOf(joint, link->endHalf);
        largest = larger(link->endError, largest);
        if (coordinate->def.hasLimits) {
            double value = coordinate->displacement + coordinate->def.zero;
            largest = larger(fabs(tpPastLimit(coordinate->def.limits, value)), largest);
        }
    }
    return largest;
}

// Bends -------------------------------------------------------------------------------------------

// The next bends of a joint (row_history.h, tpForeseeBend), two rows at a time while all bends are
// known.
static void foresee(const tpJointBends* own, double next[tp_bentRows]) {
    if (own->count == tp_keptBends) {
        tpForeseeBends(tp_bentRows, own->bends[0], next);
        return;
    }
    for (int k = 0; k < tp_bentRows; ++k) {
        double bends[tp_keptBends];
        for (int i = 0; i < tp_keptBends; ++i) {
            bends[i] = own->bends[i][k];
        }
        next[k] = tpForeseeBend(bends, own->count);
    }
}

void tpReduced_Foresee(tpReduced* reduced, const tpJointBendsList* bends) {
    int at = 0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        tpReducedLink* link = &reduced->links[i];
        if (link->joint < 0) {
            continue;
        }
        const tpJointBends* own = at < bends->count ? &bends->data[at++] : NULL;
        if (own == NULL || own->joint != link->joint || own->count < 2 || own->h != reduced->h) {
            continue;
        }
        double next[tp_bentRows];
        foresee(own, next);
        for (int k = 0; k < tp_bentRows; ++k) {
            link->bias[k] += reduced->h * next[k];
        }
        takeBias(reduced, i);
    }
}

static void keepLink(const tpReducedLink* link, tpJointBends* own, double h) {
    bool isNext = own->joint == link->joint && own->count > 0 && own->h == h;
    if (!isNext) {
        memset(own, 0, sizeof(*own));
        own->joint = link->joint;
        own->h = h;
    }
    own->count += own->count < tp_keptBends ? 1 : 0;
    memmove(own->bends[1], own->bends[0], sizeof(own->bends[0]) * (tp_keptBends - 1));
    for (int k = 0; k < tp_bentRows; ++k) {
        own->bends[0][k] = (link->bias[k] - link->written[k]) / h;
    }
}

bool tpReduced_KeepBends(const tpReduced* reduced, tpJointBendsList* bends,
                         const tpAllocator* allocator) {
    if (!TP_RESERVE(allocator, *bends, reduced->linkCount)) {
        return false;
    }
    int count = 0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        if (reduced->links[i].joint >= 0) {
            if (count >= bends->count) {
                bends->data[count].count = 0;
                bends->data[count].joint = -1;
            }
            keepLink(&reduced->links[i], &bends->data[count++], reduced->h);
        }
    }
    bends->count = count;
    return true;
}
