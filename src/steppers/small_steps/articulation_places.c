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
#include "steppers/small_steps/hinges.h"

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

// What takes an error back: the anchors onto each other, the twist away, which counts with `unit`,
// m.
static void setJump(tpNodePlace* to, bool isB, tpVec3 gap, tpVec3 twist, double unit) {
    setSix(to->jump, isB ? -1.0 : 1.0, tpSub(gap, tpCross(twist, to->own)), twist);
    double gaps = tpLengthSquared(gap), twists = unit * unit * tpLengthSquared(twist);
    to->error = sqrt(gaps > twists ? gaps : twists);
}

static bool hasValue(const tpCoordinateDef* def) {
    return def->hasLimits || def->hasSpring || def->hasServo;
}

// The value of a hinge, by one that is known if that is near.
static double hingeValue(const tpJoint* joint, tpHalfTurn half, tpAxisPlace* axis) {
    double value;
    if (!tpHinge_ValueNear(half, axis->knownHalf, axis->known, &value)) {
        axis->known = value = tpHinge_ValueOf(joint, half) + joint->coordinates[0].def.zero;
        axis->knownHalf = half;
    }
    return value;
}

// The poses of a link's own body and of what it is joined to.
static const tpPose* ownPose(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    return &step->joints->poses[articulation->bodies[i]];
}

static const tpPose* otherPose(const tpSmallStep* step, const tpArticulation* articulation, int i,
                               tpPose* ground) {
    int parent = articulation->tree.nodes[i].parent;
    if (parent >= 0) {
        return &step->joints->poses[articulation->bodies[parent]];
    }
    const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    bool isB = joint->bodyB == articulation->bodies[i];
    *ground = groundPose(step, articulation, isB ? joint->bodyA : joint->bodyB);
    return ground;
}

static void setHinge(bool isB, tpVec3 own, tpVec3 axis, double* motion) {
    setSix(motion, isB ? 1.0 : -1.0, tpCross(own, axis), axis);
}

// A link whose joint is a single turn, as most are. Returns the axes and anchors alone if nobody
// asks for what is off.
static void placeHinge(const tpSmallStep* step, tpArticulation* articulation, int i, bool isWhole) {
    const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    tpNodePlace* to = &articulation->nodePlaces[i];
    tpAxisPlace* place = &articulation->axisPlaces[articulation->tree.nodes[i].axis];
    bool isB = joint->bodyB == articulation->bodies[i];
    tpPose ground;
    const tpPose *own = ownPose(step, articulation, i),
                 *other = otherPose(step, articulation, i, &ground);
    const tpPose *a = isB ? other : own, *b = isB ? own : other;
    tpVec3 armA = tpRotate(a->rotation, joint->anchorA);
    tpVec3 armB = tpRotate(b->rotation, joint->anchorB);
    tpVec3 axis = tpHinge_Axis(joint, a->rotation);
    double sign = isB ? 1.0 : -1.0;
    to->own = isB ? armB : armA;
    to->arm = tpSub(isB ? armA : armB, to->own);
    setHinge(isB, to->own, axis, place->motion);
    setSix(place->reading, sign, tpZeroVec3(), axis);
    if (!isWhole) {
        return;
    }
    tpVec3 twist, gap = tpSub(tpAdd(b->position, armB), tpAdd(a->position, armA));
    tpHalfTurn half = tpHinge_Split(joint, a->rotation, b->rotation, &twist);
    twist = tpRotate(a->rotation, twist);
    if (hasValue(&joint->coordinates[0].def)) {
        place->value = hingeValue(joint, half, place);
    }
    setJump(to, isB, gap, twist, step->system->units.length);
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

// Of a ball joint with something on its angle the first axis is that of the angle, and the second
// that about which the angle's direction turns; else the three are those of A.
static void placeBall(const tpJoint* joint, const tpPose* a, const tpPose* b, JointAt* place) {
    tpJointPlace at = tpJoint_PlaceAt(joint, *a, *b);
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    tpVec3 axes[3] = { at.axisA, at.sideA, at.thirdA };
    place->gap = tpSub(at.pointB, at.pointA);
    place->span = place->twist = tpZeroVec3();
    if (hasValue(def) || def->hasMotor) {
        tpJointRow swing = tpJoint_CoordinateRow(joint, &at, 0);
        place->axes[0].value = swing.error;
        place->axes[1].value = 0.0;
        axes[0] = swing.onB.angular;
        axes[1] = tpNormalize(tpCross(axes[0], at.axisA));
        axes[2] = tpCross(axes[0], axes[1]);
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
    if (joint->type == tp_revoluteJoint) {
        placeHinge(step, articulation, i, true);
        return;
    }
    tpPose a, b;
    JointAt place = openLink(step, articulation, i, &a, &b);
    if (joint->type == tp_ballJoint) {
        placeBall(joint, &a, &b, &place);
    } else {
        placeChain(joint, &a, &b, &place);
    }
    setArm(&place, to);
    to->own = place.isB ? place.armB : place.armA;
    setJump(to, place.isB, place.gap, place.twist, step->system->units.length);
}

// The value of a hinge that is not near a known one. The first look of a step may find it where the
// last step has left it.
static void findValue(const tpSmallStep* step, tpArticulation* articulation,
                      const tpHingePack* pack, int lane, tpHalfTurn half) {
    const tpJoint* joint = &step->system->joints.data[articulation->links[pack->node[lane]]];
    tpAxisPlace* axis = &articulation->axisPlaces[pack->axisPlace[lane]];
    if (isfinite(axis->given)) {
        axis->value = axis->known = axis->given;
        axis->knownHalf = half;
        axis->given = NAN;
    } else {
        axis->value = hingeValue(joint, half, axis);
    }
}

// The turns of hinges at the end of a step are those with which the next one begins, or another
// look.
static void keepHalves(const tpArticulation* articulation, const tpHingePack* pack,
                       const tpHingeRest* rest) {
    for (int lane = 0; lane < pack->count; ++lane) {
        tpAxisPlace* axis = &articulation->axisPlaces[pack->axisPlace[lane]];
        axis->knownHalf = tpHingeRest_Half(rest, lane);
        axis->known = axis->value;
    }
}

// At both ends of a step all values are asked for, whether there are laws or not: the one at the
// end is found by the one at the start.
static void lookAtPacks(const tpSmallStep* step, tpArticulation* articulation, bool isWhole,
                        bool asksAll, bool isLast) {
    for (int p = 0; p < articulation->hingePackCount; ++p) {
        const tpHingePack* pack = &articulation->hinges[p];
        tpHingeRest rest;
        unsigned asked = asksAll ? (1u << pack->count) - 1u : pack->asked;
        step->joints->hinges->look(pack, step->joints->poses, isWhole, asked,
                                   articulation->nodePlaces, articulation->axisPlaces, &rest);
        for (int lane = 0; rest.lanes >> lane != 0; ++lane) {
            if (rest.lanes >> lane & 1) {
                findValue(step, articulation, pack, lane, tpHingeRest_Half(&rest, lane));
            }
        }
        if (isLast) {
            keepHalves(articulation, pack, &rest);
        }
    }
}

// Whether a link is in no pack.
static bool isAlone(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    return articulation->tree.nodes[i].parent < 0 ||
           step->system->joints.data[articulation->links[i]].type != tp_revoluteJoint;
}

// The first node that may be in no pack: if all links between bodies are, the root.
static int firstAlone(const tpArticulation* articulation) {
    int root = articulation->tree.nodeCount - 1;
    return articulation->hingeCount == root ? root : 0;
}

void tpTree_LookAgain(const tpSmallStep* step, tpArticulation* articulation) {
    lookAtPacks(step, articulation, false, false, false);
    for (int i = firstAlone(articulation); i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] < 0 || !isAlone(step, articulation, i)) {
            continue;
        }
        const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
        if (joint->type == tp_revoluteJoint) {
            placeHinge(step, articulation, i, false);
        } else {
            placeLink(step, articulation, i);
        }
    }
}

void tpTree_Look(const tpSmallStep* step, tpArticulation* articulation) {
    // The last step has looked where it ended.
    if (articulation->isPlaced || !articulation->wasPlaced) {
        bool isLast = articulation->isPlaced && articulation->isSlow;
        lookAtPacks(step, articulation, true, !articulation->isPlaced || isLast, isLast);
    }
    articulation->isPlaced = true;
    for (int i = firstAlone(articulation); i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] < 0) {
            memset(&articulation->nodePlaces[i], 0, sizeof(tpNodePlace));
        } else if (isAlone(step, articulation, i)) {
            placeLink(step, articulation, i);
        }
    }
}

// The velocity of what the root is joined to, at the root's centre some time ahead.
static void setBase(const tpSmallStep* step, tpArticulation* articulation, double ahead) {
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
        tpVec3 center = tpMulAdd(step->joints->poses[body].position, ahead,
                                 step->velocities[numberOf(articulation, root)].linear);
        tpVec3 arm = tpSub(center, tpMulAdd(pose.position, ahead, v->linear));
        setSix(tree->base, 1.0, tpAdd(v->linear, tpCross(v->angular, arm)), v->angular);
        tree->isCarried = !tpIsSameVelocity(v, &(tpVelocity){ 0 });
    }
}

static void setArmOf(tpJointNode* node, tpVec3 arm) {
    node->arm[0] = arm.x;
    node->arm[1] = arm.y;
    node->arm[2] = arm.z;
}

// A vector after a small turn, to second order.
static tpVec3 turned(tpVec3 by, tpVec3 v) {
    tpVec3 once = tpCross(by, v);
    return tpAdd(tpAdd(v, once), tpScale(0.5, tpCross(by, once)));
}

bool tpTree_TakeAhead(const tpSmallStep* step, tpArticulation* articulation, double time) {
    tpJointTree* tree = &articulation->tree;
    int root = tree->nodeCount - 1, link = articulation->links[root];
    if (articulation->hingeCount < root ||
        (link >= 0 && step->system->joints.data[link].type != tp_revoluteJoint)) {
        return false;
    }
    for (int p = 0; p < articulation->hingePackCount; ++p) {
        step->joints->hinges->takeAhead(&articulation->hinges[p], step->velocities,
                                        articulation->numbers, time, articulation->nodePlaces,
                                        articulation->axisPlaces, tree);
    }
    tpJointNode* node = &tree->nodes[root];
    const tpNodePlace* at = &articulation->nodePlaces[root];
    if (link < 0) {
        setArmOf(node, at->arm);
    } else {
        const double* reading = articulation->axisPlaces[node->axis].reading;
        bool isB = step->system->joints.data[link].bodyB == articulation->bodies[root];
        double sign = isB ? 1.0 : -1.0;
        tpVec3 axis = tpMakeVec3(sign * reading[3], sign * reading[4], sign * reading[5]);
        tpVec3 by = tpScale(time, step->velocities[numberOf(articulation, root)].angular);
        tpVec3 own = turned(by, at->own);
        setArmOf(node, tpSub(tpAdd(at->arm, at->own), own));
        setHinge(isB, own, isB ? axis : turned(by, axis), tree->axes[node->axis].motion);
    }
    setBase(step, articulation, time);
    return true;
}

void tpTree_TakePlaces(const tpSmallStep* step, tpArticulation* articulation) {
    tpJointTree* tree = &articulation->tree;
    for (int i = 0; i < tree->nodeCount; ++i) {
        tpJointNode* node = &tree->nodes[i];
        setArmOf(node, articulation->nodePlaces[i].arm);
        for (int k = node->axis; k < node->axisEnd; ++k) {
            memcpy(tree->axes[k].motion, articulation->axisPlaces[k].motion,
                   sizeof(tree->axes[k].motion));
        }
    }
    setBase(step, articulation, 0.0);
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

void tpTree_FindSlips(const tpSmallStep* step, const tpArticulation* articulation,
                      const double* velocities, const double* base, double* jumps) {
    const tpJointTree* tree = &articulation->tree;
    for (int p = 0; p < articulation->hingePackCount; ++p) {
        step->joints->hinges->slip(&articulation->hinges[p], velocities, articulation->nodePlaces,
                                   articulation->axisPlaces, jumps);
    }
    for (int i = firstAlone(articulation); i < tree->nodeCount; ++i) {
        if (articulation->links[i] >= 0 && !isAlone(step, articulation, i)) {
            continue;
        }
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

// The end of a link that is a hinge, by the last look; returns its drift.
static double endHinge(const tpSmallStep* step, tpArticulation* articulation, int i) {
    tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    tpCoordinate* coordinate = &joint->coordinates[0];
    const tpCoordinateDef* def = &coordinate->def;
    const tpAxisPlace* place = &articulation->axisPlaces[articulation->tree.nodes[i].axis];
    const double* jump = articulation->nodePlaces[i].jump;
    bool isB = joint->bodyB == articulation->bodies[i];
    coordinate->displacement = place->value - def->zero;
    if (def->armature > 0.0) {
        const tpVelocity* velocities = step->velocities;
        int parent = articulation->tree.nodes[i].parent;
        const tpVec3* mine = &velocities[numberOf(articulation, i)].angular;
        const tpVec3* its = &velocities[numberOf(articulation, parent)].angular;
        double sign = isB ? 1.0 : -1.0;
        tpVec3 axis = tpMakeVec3(sign * place->reading[3], sign * place->reading[4],
                                 sign * place->reading[5]);
        coordinate->endSpeed[0] = tpHinge_SpeedAbout(axis, isB ? its : mine, isB ? mine : its);
    }
    double unit = step->system->units.length;
    double drift = def->hasLimits ? unit * fabs(tpPastLimit(def->limits, place->value)) : 0.0;
    for (int k = 0; k < 6; ++k) {
        double part = (k < 3 ? 1.0 : unit) * fabs(jump[k]);
        drift = part > drift ? part : drift;
    }
    return drift;
}

void tpTree_EndJoints(const tpSmallStep* step, tpArticulation* articulation) {
    articulation->drift = 0.0;
    if (!articulation->isEndPlaced) {
        lookAtPacks(step, articulation, true, true, true);
    }
    for (int p = 0; p < articulation->hingePackCount; ++p) {
        const tpHingePack* pack = &articulation->hinges[p];
        for (int lane = 0; lane < pack->count; ++lane) {
            tpTree_ReportReaction(step, articulation, pack->node[lane]);
            double drift = endHinge(step, articulation, pack->node[lane]);
            articulation->drift = drift > articulation->drift ? drift : articulation->drift;
            step->joints->isDone[articulation->links[pack->node[lane]]] = true;
        }
    }
    for (int i = firstAlone(articulation); i < articulation->tree.nodeCount; ++i) {
        if (articulation->links[i] >= 0 && isAlone(step, articulation, i)) {
            tpTree_ReportReaction(step, articulation, i);
        }
    }
}
