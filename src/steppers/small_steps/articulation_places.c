// Joints of a tree where the bodies are: axes, arms, and what is off.
//
// A link is a body and its joint to the parent. With P the anchor of the joint's body B, an axis of
// the joint moves B against A by a velocity at P and a turn (dynamics/joint_chain.h); seen from B,
// A moves the other way. Arms leave out the gap between the anchors, which the next correction
// takes back: velocities then fulfil the joints where these will be.

#include <string.h>

#include "dynamics/joint_laws.h"
#include "dynamics/joint_types.h"
#include "steppers/small_steps/articulation_tree.h"

static const double fullTurn = 6.283185307179586477;

bool tpTree_Carries(const tpJoint* joint) {
    if (joint->type != tp_ballJoint) {
        return tpJointType_IsChain(joint->type);
    }
    // The angle of a ball joint and its three turns are different axes.
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    bool hasSwing = def->hasLimits || def->hasSpring || def->hasServo || def->hasMotor;
    return !hasSwing || (def->friction == 0.0 && def->armature == 0.0);
}

// The pose of a body that does not belong to the mechanism, now.
static tpPose groundPose(const tpSmallStep* step, const tpArticulation* articulation, int body) {
    if (body < 0) {
        return tpIdentityPose();
    }
    tpPose pose = step->joints->poses[body];
    const tpVelocity* v = &step->starts[step->state->numbers.data[body]];
    double time = articulation->passed * step->substepTime;
    if (time > 0.0 && !tpIsSameVelocity(v, &(tpVelocity){ 0 })) {
        pose.position = tpMulAdd(pose.position, time, v->linear);
        pose.rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(time, v->angular)), pose.rotation));
    }
    return pose;
}

static tpPose poseOf(const tpSmallStep* step, const tpArticulation* articulation, int body) {
    bool isNode = body >= 0 && step->state->map.owners.data[body] >= 0;
    return isNode ? step->joints->poses[body] : groundPose(step, articulation, body);
}

// A joint from A to B: what bodies of a link need of it.
typedef struct JointAt {
    tpVec3 armA, armB; // from the centres to the anchors
    tpVec3 span;       // from A's anchor to B's, as the slides explain it
    tpVec3 gap, twist; // what is off
    bool isB;          // the link's own body is B
    tpAxisPlace* axes;
} JointAt;

static void setSix(double* six, double sign, tpVec3 linear, tpVec3 angular) {
    six[0] = sign * linear.x;
    six[1] = sign * linear.y;
    six[2] = sign * linear.z;
    six[3] = sign * angular.x;
    six[4] = sign * angular.y;
    six[5] = sign * angular.z;
}

// The motion of the link's own body for a unit rate of an axis: B's anchor moves at `along`
// against A, and B turns about `axis`.
static void setMotion(const JointAt* place, int k, tpVec3 along, tpVec3 axis) {
    tpVec3 toCenter = place->isB ? tpNeg(place->armB) : tpNeg(tpAdd(place->armA, place->span));
    setSix(place->axes[k].motion, place->isB ? 1.0 : -1.0, tpAdd(along, tpCross(axis, toCenter)),
           axis);
}

// An axis of turning that nothing else of the joint moves along.
static void setTurn(const JointAt* place, int k, tpVec3 axis) {
    setMotion(place, k, tpZeroVec3(), axis);
    setSix(place->axes[k].reading, place->isB ? 1.0 : -1.0, tpZeroVec3(), axis);
}

static bool hasValue(const tpCoordinateDef* def) {
    return def->hasLimits || def->hasSpring || def->hasServo;
}

// A single turn, as most joints are.
static void placeHinge(const tpJoint* joint, const tpPose* a, const tpPose* b, JointAt* place) {
    const tpCoordinate* coordinate = &joint->coordinates[0];
    place->span = tpZeroVec3();
    place->gap = tpSub(tpAdd(b->position, place->armB), tpAdd(a->position, place->armA));
    tpVec3 twist;
    tpHalfTurn half = tpHinge_Split(joint, a->rotation, b->rotation, &twist);
    place->twist = tpRotate(a->rotation, twist);
    setTurn(place, 0, tpRotate(a->rotation, coordinate->axis));
    if (hasValue(&coordinate->def)) {
        tpAxisPlace* axis = &place->axes[0];
        if (!tpHinge_ValueNear(half, axis->knownHalf, axis->known, &axis->value)) {
            axis->known = axis->value = tpHinge_ValueOf(joint, half) + coordinate->def.zero;
            axis->knownHalf = half;
        }
    }
}

// What of the rotation that turns do not explain is held.
static tpVec3 heldTwist(const tpChain* chain) {
    if (chain->turnCount >= 3) {
        return tpZeroVec3();
    }
    if (chain->turnCount == 2) {
        tpVec3 normal = tpNormalize(tpCross(chain->turns[0].axis, chain->turns[1].axis));
        return tpScale(tpDot(normal, chain->twist), normal);
    }
    return chain->twist;
}

static void placeChain(const tpJoint* joint, const tpPose* a, const tpPose* b, JointAt* place) {
    tpJointPlace at = tpJoint_PlaceAt(joint, *a, *b);
    const tpChain* chain = &at.chain;
    tpVec3 all = tpSub(at.pointB, at.pointA);
    double lead = joint->type == tp_screwJoint ? joint->def.pitch / fullTurn : 0.0;
    place->gap = chain->slideCount >= 3 ? tpZeroVec3() : chain->gap;
    if (joint->type == tp_screwJoint) {
        place->gap = tpMulAdd(all, -lead * chain->turns[0].value, at.axisA);
    }
    place->span = tpSub(all, place->gap);
    place->twist = heldTwist(chain);
    for (int i = 0; i < chain->turnCount; ++i) {
        const tpChainAxis* turn = &chain->turns[i];
        setMotion(place, turn->coordinate, tpMulAdd(turn->lever, lead, turn->axis), turn->axis);
    }
    for (int i = 0; i < chain->slideCount; ++i) {
        setMotion(place, chain->slides[i].coordinate, chain->slides[i].axis, tpZeroVec3());
    }
    for (int k = 0; k < joint->coordinateCount; ++k) {
        tpJointRow row = tpJoint_CoordinateRow(joint, &at, k);
        const tpWrench* own = place->isB ? &row.onB : &row.onA;
        setSix(place->axes[k].reading, 1.0, own->linear, own->angular);
        place->axes[k].value = row.error;
    }
}

// Of a ball joint with something on its angle the first axis is that of the angle; else the three
// are those of A.
static void placeBall(const tpJoint* joint, const tpPose* a, const tpPose* b, JointAt* place) {
    tpJointPlace at = tpJoint_PlaceAt(joint, *a, *b);
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    tpVec3 axes[3] = { at.axisA, at.sideA, at.thirdA };
    place->gap = tpSub(at.pointB, at.pointA);
    place->span = place->twist = tpZeroVec3();
    if (hasValue(def) || def->hasMotor) {
        tpJointRow swing = tpJoint_CoordinateRow(joint, &at, 0);
        place->axes[0].value = swing.error;
        axes[0] = swing.onB.angular;
        tpMakeTangents(axes[0], &axes[1], &axes[2]);
    }
    for (int k = 0; k < 3; ++k) {
        setTurn(place, k, axes[k]);
    }
}

// Where the joint of a link begins and ends.
static JointAt openLink(const tpSmallStep* step, const tpArticulation* articulation, int i,
                        tpPose* a, tpPose* b) {
    const tpJointNode* node = &articulation->tree.nodes[i];
    const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    *a = poseOf(step, articulation, joint->bodyA);
    *b = poseOf(step, articulation, joint->bodyB);
    return (JointAt){ .armA = tpRotate(a->rotation, joint->anchorA),
                      .armB = tpRotate(b->rotation, joint->anchorB),
                      .isB = joint->bodyB == articulation->bodies[i],
                      .axes = articulation->axisPlaces + node->axis };
}

static void setArm(const JointAt* place, tpNodePlace* to) {
    tpVec3 arm = tpSub(tpAdd(place->armA, place->span), place->armB);
    to->arm = place->isB ? arm : tpNeg(arm);
}

static void placeLink(const tpSmallStep* step, tpArticulation* articulation, int i) {
    const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    tpNodePlace* to = &articulation->nodePlaces[i];
    tpPose a, b;
    JointAt place = openLink(step, articulation, i, &a, &b);
    if (joint->type == tp_revoluteJoint) {
        placeHinge(joint, &a, &b, &place);
    } else if (joint->type == tp_ballJoint) {
        placeBall(joint, &a, &b, &place);
    } else {
        placeChain(joint, &a, &b, &place);
    }
    setArm(&place, to);
    // What takes the error back: the anchors onto each other, the twist away.
    tpVec3 own = place.isB ? place.armB : place.armA;
    setSix(to->jump, place.isB ? -1.0 : 1.0, tpSub(place.gap, tpCross(place.twist, own)),
           place.twist);
    double gap = tpLengthSquared(place.gap), twist = tpLengthSquared(place.twist);
    to->error = sqrt(gap > twist ? gap : twist);
}

void tpTree_LookAgain(const tpSmallStep* step, tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] < 0) {
            continue;
        }
        const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
        if (joint->type == tp_revoluteJoint) {
            tpPose a, b;
            JointAt place = openLink(step, articulation, i, &a, &b);
            place.span = tpZeroVec3();
            setArm(&place, &articulation->nodePlaces[i]);
            setTurn(&place, 0, tpRotate(a.rotation, joint->coordinates[0].axis));
        } else {
            placeLink(step, articulation, i);
        }
    }
}

void tpTree_Look(const tpSmallStep* step, tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] >= 0) {
            placeLink(step, articulation, i);
        } else {
            memset(&articulation->nodePlaces[i], 0, sizeof(tpNodePlace));
        }
    }
}

// The velocity of what the root is joined to, at the root's centre.
static void setBase(const tpSmallStep* step, tpArticulation* articulation) {
    tpJointTree* tree = &articulation->tree;
    int root = tree->nodeCount - 1;
    memset(tree->base, 0, sizeof(tree->base));
    if (tree->isFree) {
        return;
    }
    const tpJoint* joint = &step->system->joints.data[articulation->links[root]];
    int body = articulation->bodies[root];
    int ground = joint->bodyB == body ? joint->bodyA : joint->bodyB;
    if (ground >= 0) {
        const tpVelocity* v = &step->starts[step->state->numbers.data[ground]];
        tpPose pose = groundPose(step, articulation, ground);
        tpVec3 arm = tpSub(step->joints->poses[body].position, pose.position);
        setSix(tree->base, 1.0, tpAdd(v->linear, tpCross(v->angular, arm)), v->angular);
    }
}

void tpTree_TakePlaces(const tpSmallStep* step, tpArticulation* articulation) {
    tpJointTree* tree = &articulation->tree;
    for (int i = 0; i < tree->nodeCount; ++i) {
        tpJointNode* node = &tree->nodes[i];
        tpVec3 arm = articulation->nodePlaces[i].arm;
        node->arm[0] = arm.x;
        node->arm[1] = arm.y;
        node->arm[2] = arm.z;
        for (int k = node->axis; k < node->axisEnd; ++k) {
            memcpy(tree->axes[k].motion, articulation->axisPlaces[k].motion,
                   sizeof(tree->axes[k].motion));
        }
    }
    setBase(step, articulation);
}

// Takes the part along the axes of a link off a velocity of its body against its parent.
static void takeOffAxes(const tpAxisPlace* axes, int count, double* velocity) {
    double rates[tp_maxCoordinates];
    for (int i = 0; i < count; ++i) {
        rates[i] = 0.0;
        for (int k = 0; k < 6; ++k) {
            rates[i] += axes[i].reading[k] * velocity[k];
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 6; ++k) {
            velocity[k] -= rates[i] * axes[i].motion[k];
        }
    }
}

void tpTree_FindSlips(const tpArticulation* articulation, const double* velocities,
                      const double* base, double* jumps) {
    const tpJointTree* tree = &articulation->tree;
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        const double *own = &velocities[6 * i], *other = base;
        double* jump = &jumps[6 * i];
        if (articulation->links[i] < 0) {
            memset(jump, 0, 6 * sizeof(double));
            continue;
        }
        tpVec3 r = tpZeroVec3();
        if (node->parent >= 0) {
            r = articulation->nodePlaces[i].arm;
            other = &velocities[6 * node->parent];
        }
        jump[0] = other[0] + (other[4] * r.z - other[5] * r.y) - own[0];
        jump[1] = other[1] + (other[5] * r.x - other[3] * r.z) - own[1];
        jump[2] = other[2] + (other[3] * r.y - other[4] * r.x) - own[2];
        jump[3] = other[3] - own[3];
        jump[4] = other[4] - own[4];
        jump[5] = other[5] - own[5];
        takeOffAxes(articulation->axisPlaces + node->axis, node->axisEnd - node->axis, jump);
    }
}
