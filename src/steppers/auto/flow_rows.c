#include "steppers/auto/flow_rows.h"

#include <string.h>

#include "dynamics/contact_info.h"
#include "dynamics/joint_types.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/flow_laws.h"
#include "steppers/auto/stride.h"

// Of the size of a body: how far from each other the surfaces of a contact may come between the
// ends of a step.
static const double nearPart = 0.02;

// Slower slips are none, and what touches and leaves faster does not hold, in units of speed.
static const double slowestSlip = 1e-6, partingSpeed = 1e-4;

// Rows -------------------------------------------------------------------------------------------

double tpFlowRow_Speed(const tpFlowRow* row, const tpVelocity* velocities) {
    if (row->coupling != NULL) {
        return tpCouplingRow_Speed(row->coupling, velocities);
    }
    double a = row->bodyA >= 0 ? tpWrench_Power(&row->onA, &velocities[row->bodyA]) : 0.0;
    double b = row->bodyB >= 0 ? tpWrench_Power(&row->onB, &velocities[row->bodyB]) : 0.0;
    return a + b;
}

// What is left of it in the plane.
static tpWrench inPlane(tpWrench wrench) {
    return (tpWrench){ tpMakeVec3(wrench.linear.x, wrench.linear.y, 0.0),
                       tpMakeVec3(0.0, 0.0, wrench.angular.z) };
}

static bool isNothing(const tpWrench* wrench) {
    return tpLengthSquared(wrench->linear) + tpLengthSquared(wrench->angular) == 0.0;
}

// Adds the rows that a joint of the plan holds; returns how many there are then, or more than there
// is room.
static int addJoint(tpFlowRow* rows, int count, const tpSystem* system, const tpFlowPlan* plan,
                    int which) {
    const tpJoint* joint = &system->joints.data[plan->joints[which]];
    if (joint->type == tp_springJoint) {
        return count; // it holds nothing
    }
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRows held = tpJoint_HeldRows(joint, &place);
    for (int k = 0; k < held.rowCount && count <= tp_flowRows; ++k) {
        tpFlowRow row = {
            joint->bodyA, joint->bodyB, which, held.rows[k].onA, held.rows[k].onB, 0.0, 0, 0.0, NULL
        };
        if (system->isPlanar) {
            row.onA = inPlane(row.onA);
            row.onB = inPlane(row.onB);
            if (isNothing(&row.onA) && isNothing(&row.onB)) {
                continue;
            }
        }
        if (count < tp_flowRows) {
            rows[count] = row;
        }
        count += 1;
    }
    return count;
}

// The same for the motors that hold their speed, and for limits that hold.
static int addHolding(tpFlowRow* rows, int count, const tpSystem* system, const tpFlowPlan* plan) {
    for (int i = 0; i < plan->lawCount; ++i) {
        if (tpFlowLaw_Holds(&plan->laws[i])) {
            if (count < tp_flowRows) {
                rows[count] = tpFlowLaw_Row(&plan->laws[i], system, plan);
            }
            count += 1;
        }
    }
    return count;
}

// The same for couplings that hold a value.
static int addCouplings(tpFlowRows* rows, int count, const tpSystem* system,
                        const tpFlowPlan* plan) {
    rows->firstCoupling = count;
    for (int i = 0; i < plan->couplingCount; ++i, ++count) {
        tpCouplingRow* place = &rows->couplings[i];
        tpCoupling_Place(system, &system->couplings.data[plan->couplings[i]], system->poses.data,
                         place);
        if (count < tp_flowRows) {
            rows->rows[count] =
                (tpFlowRow){ .bodyA = -1, .bodyB = -1, .joint = -1, .coupling = place };
        }
    }
    return count;
}

// The same for rotors.
static int addRotors(tpFlowRow* rows, int count, const tpSystem* system, const tpFlowPlan* plan) {
    for (int i = 0; i < plan->rotorCount; ++i, ++count) {
        const tpFlowRotor* rotor = &plan->rotors[i];
        const tpJoint* joint = &system->joints.data[plan->joints[rotor->joint]];
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpJointRow row = tpJoint_CoordinateRow(joint, &place, rotor->coordinate);
        if (count < tp_flowRows) {
            double armature = joint->coordinates[rotor->coordinate].def.armature;
            rows[count] =
                (tpFlowRow){ joint->bodyA,   joint->bodyB, rotor->joint, row.onA, row.onB, 0.0, 0,
                             1.0 / armature, NULL };
        }
    }
    return count;
}

// A row of a contact along a direction. Both bodies have it at the same point, half way between the
// surfaces: what one gets the other loses, moments too.
static tpFlowRow alongContact(const tpSystem* system, const tpContact* contact, tpVec3 direction) {
    tpVec3 point = tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
    const tpPose* poses = system->poses.data;
    tpWrench onA = tpMakeWrench(direction, tpSub(point, poses[contact->bodyA].position));
    tpWrench onB =
        tpNegativeWrench(tpMakeWrench(direction, tpSub(point, poses[contact->bodyB].position)));
    return (tpFlowRow){ contact->bodyA, contact->bodyB, -1, onA, onB, 0.0, 0, 0.0, NULL };
}

int tpFlowRows_RollingPlace(const tpFlowRows* rows, const tpSystem* system, int contact) {
    return system->isPlanar ? 1 : rows->laws[contact].arm > 0.0 ? 3 : 2;
}

int tpFlowRows_FrictionCount(const tpFlowRows* rows, const tpSystem* system, int contact) {
    int rolling = rows->laws[contact].rollingArm == 0.0 ? 0 : system->isPlanar ? 1 : 2;
    return tpFlowRows_RollingPlace(rows, system, contact) + rolling;
}

// Against turning about an axis.
static tpFlowRow aboutContact(const tpContact* contact, tpVec3 axis) {
    tpWrench turn = { tpZeroVec3(), axis };
    return (tpFlowRow){
        contact->bodyA, contact->bodyB, -1, turn, tpNegativeWrench(turn), 0.0, 0, 0.0, NULL
    };
}

tpFlowRow tpFlowRows_Friction(const tpFlowRows* rows, const tpSystem* system, int contact, int k,
                              double* scale) {
    const tpContactLaw* law = &rows->laws[contact];
    const tpContact* place = &rows->contacts[contact];
    int rolling = tpFlowRows_RollingPlace(rows, system, contact);
    if (k >= rolling) {
        *scale = law->rollingArm;
        tpVec3 axis = system->isPlanar ? tpMakeVec3(0.0, 0.0, 1.0) : law->tangents[k - rolling];
        return aboutContact(place, axis);
    }
    if (k < 2) {
        *scale = law->ellipse[k];
        return alongContact(system, place, law->tangents[k]);
    }
    *scale = law->arm;
    return aboutContact(place, place->normal);
}

double tpFlowRows_SlipAlong(const tpFlowRows* rows, const tpSystem* system, int contact,
                            double slip[tp_flowFriction], tpFlowRow friction[tp_flowFriction],
                            double scales[tp_flowFriction]) {
    double sum = 0.0;
    int count = tpFlowRows_FrictionCount(rows, system, contact);
    for (int k = 0; k < tp_flowFriction; ++k) {
        slip[k] = 0.0;
        if (k < count) {
            friction[k] = tpFlowRows_Friction(rows, system, contact, k, &scales[k]);
            slip[k] = scales[k] * tpFlowRow_Speed(&friction[k], system->velocities.data);
        }
        sum += slip[k] * slip[k];
    }
    return sqrt(sum);
}

double tpFlowRows_Slip(const tpFlowRows* rows, const tpSystem* system, int contact,
                       double slip[tp_flowFriction]) {
    tpFlowRow friction[tp_flowFriction];
    double scales[tp_flowFriction];
    return tpFlowRows_SlipAlong(rows, system, contact, slip, friction, scales);
}

// Adds the rows that a contact holds; returns how many there are then, or more than there is room.
static int addContact(tpFlowRows* rows, int count, const tpSystem* system, int contact,
                      tpFlowMode mode) {
    rows->firstRows[contact] = count;
    if (count < tp_flowRows) {
        const tpContact* place = &rows->contacts[contact];
        rows->rows[count] = alongContact(system, place, place->normal);
    }
    count += 1;
    int held = mode == tp_flowSticks ? tpFlowRows_FrictionCount(rows, system, contact) : 0;
    for (int k = 0; k < held; ++k, ++count) {
        double scale;
        if (count < tp_flowRows) {
            rows->rows[count] = tpFlowRows_Friction(rows, system, contact, k, &scale);
        }
    }
    return count;
}

// Finding ----------------------------------------------------------------------------------------

static bool isOurs(const tpContact* contact, const tpSystem* system) {
    return tpSystem_IsDynamic(system, contact->bodyA) || tpSystem_IsDynamic(system, contact->bodyB);
}

static int findAll(tpFlowRows* rows, const tpFlowPlan* plan, const tpSystem* system) {
    int count = 0;
    for (int i = 0; i < plan->jointCount; ++i) {
        count = addJoint(rows->rows, count, system, plan, i);
    }
    count = addCouplings(rows, count, system, plan);
    count = addHolding(rows->rows, count, system, plan);
    count = addRotors(rows->rows, count, system, plan);
    for (int i = 0; i < plan->contactCount; ++i) {
        count = addContact(rows, count, system, i, plan->modes[i]);
    }
    return count;
}

static tpFlowSpot spotOn(const tpPose* pose, tpVec3 point, tpVec3 normal) {
    return (tpFlowSpot){ tpUnrotate(pose->rotation, tpSub(point, pose->position)),
                         tpUnrotate(pose->rotation, normal) };
}

// Takes a contact that is found in place `i` of the rows.
static void setContact(tpFlowRows* rows, int i, const tpSystem* system, const tpContact* found) {
    const tpPose* poses = system->poses.data;
    const tpContact* last = i > 0 ? &rows->contacts[i - 1] : NULL;
    bool isLikeLast = last != NULL && last->shapeA == found->shapeA &&
                      last->shapeB == found->shapeB &&
                      memcmp(&last->normal, &found->normal, sizeof(tpVec3)) == 0;
    rows->contacts[i] = *found;
    rows->laws[i] = isLikeLast ? rows->laws[i - 1] : tpMakeContactLaw(system, found);
    rows->spots[i][0] = spotOn(&poses[found->bodyA], found->pointA, found->normal);
    rows->spots[i][1] = spotOn(&poses[found->bodyB], found->pointB, found->normal);
}

// The contacts of the plan among those that are found.
static bool sortContacts(tpFlowRows* rows, const tpFlowPlan* plan, const tpSystem* system,
                         const tpContact* found, int count) {
    int next = 0;
    for (int i = 0; i < count && next < plan->contactCount; ++i) {
        if (tpContactKey_Compare(tpContact_Key(&found[i]), plan->keys[next]) == 0) {
            setContact(rows, next++, system, &found[i]);
        }
    }
    return next == plan->contactCount;
}

// Whether the shapes of a contact touch by the plan, and whether it is one of the plan.
static bool isTouchingPair(const tpFlowPlan* plan, const tpContact* contact, bool* isPlanned) {
    bool isPair = false;
    *isPlanned = false;
    for (int i = 0; i < plan->contactCount; ++i) {
        const tpContactKey* key = &plan->keys[i];
        isPair = isPair || (key->shapeA == contact->shapeA && key->shapeB == contact->shapeB);
        *isPlanned = *isPlanned || tpContactKey_Compare(tpContact_Key(contact), *key) == 0;
    }
    return isPair;
}

static bool isOursOrSteady(const tpSystem* system, int body) {
    return tpSystem_IsDynamic(system, body) || tpBody_IsSteadyNow(system, body);
}

// How fast a body goes, as far as its surface moves by it: that of a sphere does not by its
// turning.
static double surfaceSpeed(const tpSystem* system, int body) {
    const tpVelocity* velocity = &system->velocities.data[body];
    return tpBody_IsRound(system, &system->bodies.data[body])
               ? tpLength(velocity->linear)
               : tpVelocity_LargestSpeed(system, body, velocity);
}

// How far surfaces can come towards each other within so many seconds, ahead or behind: at the
// speed at which they approach, and with what gravity and the turn of their ways make of it, taken
// `closingPart` times; less the way at which they part, before the turn brings them back. Where
// accelerations are known, and less, they count instead of gravity and turns. (With twice that
// turn, and the turning of balls in it, a ball that rolls into a valley took 13.6 million
// instructions, and 9.3 since. By gravity balls that hang side by side, a millimetre apart, could
// meet within .03 s.)
static const double closingPart = 1.5;
static double closingWay(const tpFlowPlan* plan, const tpSystem* system, const tpContact* contact,
                         tpFlowWatch watch, double time) {
    double bend = tpLength(system->gravity), known = 0.0;
    for (int side = 0; side < 2; ++side) {
        int i = side == 0 ? contact->bodyA : contact->bodyB;
        bool isDynamic = tpSystem_IsDynamic(system, i);
        double speed = isDynamic ? surfaceSpeed(system, i) : 0.0;
        bend += speed > 0.0 ? speed * speed / system->bodies.data[i].size : 0.0;
        known += isDynamic ? plan->accelerations[i] : 0.0;
    }
    double turn = 0.5 * closingPart * fmin(bend, closingPart * known) * time * time;
    double approach = tpContact_Approach(contact, system->poses.data, system->velocities.data);
    double ahead = (approach > 0.0 ? closingPart : 1.0) * approach * time;
    double behind = (approach < 0.0 ? closingPart : 1.0) * -approach * time;
    double way = tpFlowWatch_IsAhead(watch) ? ahead : -INFINITY;
    return turn + (tpFlowWatch_IsBehind(watch) ? fmax(way, behind) : way);
}

// Whether shapes that touch leave each other, as after an impact. What has been left comes back by
// an approach, which is seen.
static bool isParting(const tpSystem* system, const tpContact* contact) {
    return -tpContact_Approach(contact, system->poses.data, system->velocities.data) >
           partingSpeed * system->units.speed;
}

// Whether shapes that are as near as if they touched are still apart and approach each other: what
// touches is nearer. (A hull whose face came down on the floor had such corners at the end of a
// step of the user. Flows went half of the way to there, and half of the rest, ten times.)
static const double touchingPart = 1e-2;
static bool isApproaching(const tpSystem* system, const tpContact* contact) {
    return contact->gap > touchingPart * TP_TOUCH_DISTANCE * system->units.length &&
           tpContact_Approach(contact, system->poses.data, system->velocities.data) >
               partingSpeed * system->units.speed;
}

// Whether a contact that pulled where the flow begins does not come back: it touches there.
static bool isComingOff(const tpFlowPlan* plan, const tpSystem* system, const tpContact* contact) {
    bool isDropped = false;
    for (int i = 0; i < plan->droppedCount; ++i) {
        isDropped =
            isDropped || tpContactKey_Compare(tpContact_Key(contact), plan->dropped[i]) == 0;
    }
    return isDropped && tpContact_Approach(contact, system->poses.data, system->velocities.data) <=
                            slowestSlip * system->units.speed;
}

// Whether a contact that is not in the plan is there, or may have been within so many seconds: of
// other shapes all that are near count, but for bodies that are not carried now, which are
// somewhere else by then.
static bool isNewcomer(const tpFlowPlan* plan, const tpSystem* system, const tpContact* contact,
                       tpFlowWatch watch, double time) {
    bool isPlanned, isPair = isTouchingPair(plan, contact, &isPlanned);
    bool isNear = !isPair && isOursOrSteady(system, contact->bodyA) &&
                  isOursOrSteady(system, contact->bodyB) &&
                  contact->gap <= closingWay(plan, system, contact, watch, time);
    bool isTouching =
        contact->gap <= TP_TOUCH_DISTANCE * system->units.length && !isParting(system, contact);
    if (isTouching && isComingOff(plan, system, contact)) {
        return false;
    }
    // What is still apart where the time ends, and comes nearer, is met after it.
    bool isAhead = !tpFlowWatch_IsAhead(watch) && isApproaching(system, contact);
    return isOurs(contact, system) && !isPlanned && (isNear || (isTouching && !isAhead));
}

bool tpFlowRows_Find(tpFlowRows* rows, const tpFlowPlan* plan, tpSystem* system) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpContact* found;
    int count;
    bool isFound =
        plan->contactCount == 0 ||
        (tpSystem_FindContactsOf(system, plan->pairs, plan->pairCount, system->poses.data,
                                 plan->margins, &found, &count) == tp_success &&
         sortContacts(rows, plan, system, found, count));
    tpArena_Release(&system->arena, mark);
    return isFound && findAll(rows, plan, system) == plan->rowCount;
}

// For how long shapes that overlap have done so, by their speed.
static double timeSinceTouch(const tpSystem* system, const tpContact* contact) {
    double speed = tpContact_Approach(contact, system->poses.data, system->velocities.data);
    return contact->gap < 0.0 && speed > 0.0 ? -contact->gap / speed : 0.0;
}

// In how many seconds shapes that are apart touch, by their speed.
static double timeToTouch(const tpSystem* system, const tpContact* contact) {
    double speed = tpContact_Approach(contact, system->poses.data, system->velocities.data);
    return contact->gap > 0.0 && speed > 0.0 ? contact->gap / speed : INFINITY;
}

// The first of what approaches.
static void findFirst(const tpSystem* system, const tpContact* contact, tpFlowMeeting* meeting) {
    double speed = tpContact_Approach(contact, system->poses.data, system->velocities.data);
    if (speed > 0.0 && contact->gap / speed < meeting->first) {
        meeting->first = contact->gap / speed;
        meeting->firstGap = contact->gap;
    }
}

bool tpFlowRows_FindAround(tpFlowRows* rows, const tpFlowPlan* plan, tpSystem* system, double h,
                           tpFlowWatch watch, tpFlowMeeting* meeting) {
    *meeting = (tpFlowMeeting){ false, 0.0, INFINITY, INFINITY, INFINITY, 0.0 };
    if (watch == tp_flowBlind) {
        return tpFlowRows_Find(rows, plan, system);
    }
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpContact* found;
    int count;
    for (int i = 0; i < system->bodyCount; ++i) {
        double way = tpSystem_Margin(system, i, &system->velocities.data[i], NULL, 0.5 * h);
        plan->wideMargins[i] = fmax(plan->margins[i], way);
    }
    bool isFound = tpSystem_FindContacts(system, system->poses.data, plan->wideMargins, &found,
                                         &count) == tp_success &&
                   sortContacts(rows, plan, system, found, count);
    for (int i = 0; isFound && i < count; ++i) {
        if (isNewcomer(plan, system, &found[i], watch, 0.5 * h)) {
            meeting->isThere = true;
            meeting->since = fmax(meeting->since, timeSinceTouch(system, &found[i]));
            meeting->ahead = fmin(meeting->ahead, timeToTouch(system, &found[i]));
            meeting->deepest = fmax(meeting->deepest, -found[i].gap);
            findFirst(system, &found[i], meeting);
        }
    }
    tpArena_Release(&system->arena, mark);
    return isFound && findAll(rows, plan, system) == plan->rowCount;
}

// Plans ------------------------------------------------------------------------------------------

// Takes the law of a coordinate into the plan. False if there is no room, or flows have no such
// law.
static bool planLaw(tpFlowPlan* plan, const tpSystem* system, int place, int coordinate) {
    return plan->lawCount < tp_flowLaws &&
           tpFlowLaw_Make(&plan->laws[plan->lawCount++], system, plan, place, coordinate);
}

// The same for its armature.
static bool planRotor(tpFlowPlan* plan, const tpSystem* system, int place, int coordinate) {
    const tpJoint* joint = &system->joints.data[plan->joints[place]];
    if (joint->coordinates[coordinate].def.armature == 0.0) {
        return true;
    }
    if (joint->type == tp_ballJoint || plan->rotorCount == tp_flowLaws) {
        return false;
    }
    plan->rotors[plan->rotorCount++] = (tpFlowRotor){ place, coordinate };
    return true;
}

// The couplings of the group; false if one has a law that flows have not.
static bool planCouplings(tpFlowPlan* plan, const tpSystem* system) {
    plan->couplingCount = 0;
    for (int i = 0; i < system->couplings.count; ++i) {
        if (tpCoupling_AnyBody(system, i) < 0) {
            continue;
        }
        if (plan->couplingCount == tp_flowCouplings ||
            !tpStride_IsGear(&system->couplings.data[i])) {
            return false;
        }
        plan->couplings[plan->couplingCount++] = i;
    }
    return true;
}

// The joints of the group; false if one has a law that flows have not.
static bool planJoints(tpFlowPlan* plan, const tpSystem* system, const tpGroups* groups,
                       int group) {
    bool isPlain = true;
    plan->jointCount = plan->lawCount = plan->rotorCount = 0;
    for (int i = 0; groups->jointCounts[group] > 0 && isPlain && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        bool isHeld = joint->isLive && (tpSystem_IsDynamic(system, joint->bodyA) ||
                                        tpSystem_IsDynamic(system, joint->bodyB));
        if (!isHeld) {
            continue;
        }
        int place = plan->jointCount++;
        plan->joints[place] = i;
        for (int k = 0; isPlain && k < joint->coordinateCount; ++k) {
            isPlain = (!tpFlowLaw_IsNeeded(joint, system, k) || planLaw(plan, system, place, k)) &&
                      planRotor(plan, system, place, k);
        }
    }
    return isPlain;
}

static tpFlowMode modeOf(const tpFlowRows* rows, const tpFlowPlan* plan, const tpSystem* system,
                         int contact, bool slides) {
    double slip[tp_flowFriction], least = fmax(slowestSlip * system->units.speed, plan->stopSpeed);
    // What rolls against friction slips in the same cone, whatever its contact point does.
    bool mayRoll = rows->laws[contact].rollingArm > 0.0;
    bool isSliding = (slides || mayRoll) && tpFlowRows_Slip(rows, system, contact, slip) > least;
    return rows->laws[contact].mu == 0.0 ? tp_flowSlick : isSliding ? tp_flowSlides : tp_flowSticks;
}

// Room for contacts to be looked for. False if memory ran out.
static bool planMargins(tpFlowPlan* plan, tpSystem* system) {
    plan->margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    plan->wideMargins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    plan->accelerations = TP_SCRATCH(&system->arena, double, system->bodyCount);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isDynamic = tpSystem_IsDynamic(system, i);
        plan->margins[i] = isDynamic ? nearPart * system->bodies.data[i].size : 0.0;
        plan->accelerations[i] = INFINITY;
    }
    return true;
}

// Contacts come pair by pair.
static void takePair(tpFlowPlan* plan, const tpContact* contact) {
    const tpShapePair* last = plan->pairCount > 0 ? &plan->pairs[plan->pairCount - 1] : NULL;
    if (last == NULL || last->shapeA != contact->shapeA || last->shapeB != contact->shapeB) {
        plan->pairs[plan->pairCount++] = (tpShapePair){ contact->shapeA, contact->shapeB };
    }
}

// The contacts that touch now, with their places. False if there are too many, or their law has
// what flows have not.
static bool takeContacts(tpFlowPlan* plan, tpFlowRows* rows, const tpSystem* system,
                         const tpContact* found, int count, bool slides) {
    double touching = TP_TOUCH_DISTANCE * system->units.length;
    for (int i = 0; i < count; ++i) {
        if (!isOurs(&found[i], system) || found[i].gap > touching || isParting(system, &found[i])) {
            continue;
        }
        int place = plan->contactCount;
        if (place == tp_flowContacts) {
            return false;
        }
        setContact(rows, place, system, &found[i]);
        plan->keys[place] = tpContact_Key(&found[i]);
        plan->modes[place] = modeOf(rows, plan, system, place, slides);
        if (rows->laws[place].rollingArm > 0.0 && plan->modes[place] == tp_flowSticks) {
            return false;
        }
        plan->contactCount += 1;
        takePair(plan, &found[i]);
    }
    return true;
}

static bool planContacts(tpFlowPlan* plan, tpFlowRows* rows, tpSystem* system, bool slides,
                         bool* isPlain) {
    tpContact* found;
    int count;
    bool isFound = tpSystem_FindContacts(system, system->poses.data, plan->margins, &found,
                                         &count) == tp_success;
    *isPlain = isFound && takeContacts(plan, rows, system, found, count, slides);
    return isFound;
}

void tpFlowPlan_Drop(tpFlowPlan* plan, tpFlowRows* rows, const tpSystem* system, unsigned dropped) {
    int kept = 0;
    for (int i = 0; i < plan->contactCount; ++i) {
        if ((dropped >> i & 1u) != 0) {
            plan->dropped[plan->droppedCount++] = plan->keys[i];
        } else {
            plan->keys[kept] = plan->keys[i];
            plan->modes[kept] = plan->modes[i];
            rows->contacts[kept] = rows->contacts[i];
            rows->laws[kept] = rows->laws[i];
            memmove(rows->spots[kept], rows->spots[i], sizeof(rows->spots[i]));
            kept += 1;
        }
    }
    plan->contactCount = kept;
    plan->rowCount = findAll(rows, plan, system);
}

bool tpFlowPlan_Make(tpFlowPlan* plan, tpFlowRows* rows, tpSystem* system, const tpGroups* groups,
                     int group, bool slides, bool* isPlain) {
    *isPlain = false;
    plan->bodyCount = plan->contactCount = plan->pairCount = plan->rowCount = 0;
    plan->droppedCount = 0;
    plan->bodies = TP_SCRATCH(&system->arena, int, groups->sizes[group]);
    plan->places = TP_SCRATCH(&system->arena, int, system->bodyCount);
    plan->joints = TP_SCRATCH(&system->arena, int, system->joints.count);
    if (plan->bodies == NULL || plan->places == NULL || plan->joints == NULL ||
        !planMargins(plan, system)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        plan->places[i] = groups->ofBody[i] == group ? plan->bodyCount : -1;
        if (groups->ofBody[i] == group) {
            plan->bodies[plan->bodyCount++] = i;
        }
    }
    *isPlain = planJoints(plan, system, groups, group) && planCouplings(plan, system);
    if (*isPlain && groups->pairCounts[group] > 0 &&
        !planContacts(plan, rows, system, slides, isPlain)) {
        return false;
    }
    plan->rowCount = *isPlain ? findAll(rows, plan, system) : 0;
    *isPlain = *isPlain && plan->rowCount <= tp_flowRows;
    return true;
}
