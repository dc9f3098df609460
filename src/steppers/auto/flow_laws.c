#include "steppers/auto/flow_laws.h"

#include "dynamics/joint_types.h"

// Slower rates are none, in units of speed; and so much may that of a motor differ from its speed
// that it holds it.
static const double slowestRate = 1e-6, heldRate = 1e-5;

// In units of the coordinate: nearer to a limit it is there.
static const double atLimit = 1e-7;

// Of an effort: servos at its edge are on both sides of it.
static const double edge = 1e-9;

static const tpJoint* jointOf(const tpFlowLaw* law, const tpSystem* system,
                              const tpFlowPlan* plan) {
    return &system->joints.data[plan->joints[law->joint]];
}

// 1 or -1: a coordinate with this value and rate is at its lower or its upper limit, and does not
// leave it. 0: neither.
static double limitSignOf(const tpCoordinate* coordinate, const tpSystem* system, double value,
                          double rate) {
    const tpCoordinateDef* def = &coordinate->def;
    bool isSlide = coordinate->kind == tp_slideAxis;
    if (!def->hasLimits || fabs(rate) > heldRate * tpUnits_OfRate(&system->units, isSlide)) {
        return 0.0;
    }
    double near = atLimit * tpUnits_OfValue(&system->units, isSlide);
    return value <= def->limits[0] + near ? 1.0 : value >= def->limits[1] - near ? -1.0 : 0.0;
}

static tpJointRow rowOf(const tpJoint* joint, const tpSystem* system, int coordinate,
                        double* rate) {
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, coordinate);
    *rate = tpJointRow_Speed(joint, &row, system->velocities.data);
    return row;
}

bool tpFlowLaw_IsNeeded(const tpJoint* joint, const tpSystem* system, int coordinate) {
    const tpCoordinateDef* def = &joint->coordinates[coordinate].def;
    bool hasMotor = def->hasMotor && def->motor.effort > 0.0;
    if (def->hasSpring || def->damping > 0.0 || def->friction > 0.0 || def->hasServo || hasMotor) {
        return true;
    }
    if (!def->hasLimits) {
        return false;
    }
    double rate;
    tpJointRow row = rowOf(joint, system, coordinate, &rate);
    return limitSignOf(&joint->coordinates[coordinate], system, row.error, rate) != 0.0;
}

bool tpFlowLaw_Holds(const tpFlowLaw* law) {
    return law->holdsSpeed || law->limitSign != 0.0;
}

// What the gains of a servo ask for.
static double wantedEffort(const tpServo* servo, double value, double rate) {
    return servo->stiffness * (servo->target - value) + servo->damping * (servo->speed - rate);
}

static double signOf(double number) {
    return number < 0.0 ? -1.0 : 1.0;
}

bool tpFlowLaw_Make(tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan, int place,
                    int coordinate) {
    const tpJoint* joint = &system->joints.data[plan->joints[place]];
    const tpCoordinateDef* def = &joint->coordinates[coordinate].def;
    if (joint->type == tp_ballJoint) {
        return false;
    }
    double rate;
    tpJointRow row = rowOf(joint, system, coordinate, &rate);
    bool isSlide = joint->coordinates[coordinate].kind == tp_slideAxis;
    double unit = tpUnits_OfRate(&system->units, isSlide);
    *law = (tpFlowLaw){ .joint = place, .coordinate = coordinate, .direction = signOf(rate) };
    if (def->hasServo) {
        double wanted = wantedEffort(&def->servo, row.error, rate);
        law->servoSign = fabs(wanted) > def->servo.effort ? signOf(wanted) : 0.0;
    }
    if (def->hasMotor && def->motor.effort > 0.0) {
        double missing = def->motor.speed - rate;
        law->holdsSpeed = fabs(missing) <= heldRate * unit;
        law->motorSign = law->holdsSpeed ? 0.0 : signOf(missing);
    }
    law->limitSign = limitSignOf(&joint->coordinates[coordinate], system, row.error, rate);
    // A coordinate that is held twice has shares that nobody knows.
    return !(law->holdsSpeed && law->limitSign != 0.0) &&
           (def->friction == 0.0 || fabs(rate) > slowestRate * unit) &&
           (law->motorSign == 0.0 || isfinite(def->motor.effort));
}

// The effort of a servo. False if it has come to the edge of what it can give, or back from there.
static bool findServo(const tpFlowLaw* law, const tpServo* servo, double value, double rate,
                      double* effort) {
    double wanted = wantedEffort(servo, value, rate);
    if (law->servoSign == 0.0) {
        *effort = wanted;
        return fabs(wanted) <= servo->effort * (1.0 + edge);
    }
    *effort = law->servoSign * servo->effort;
    return law->servoSign * wanted >= servo->effort * (1.0 - edge);
}

tpFlowLawForce tpFlowLaw_Force(const tpFlowLaw* law, const tpSystem* system,
                               const tpFlowPlan* plan) {
    const tpJoint* joint = jointOf(law, system, plan);
    const tpCoordinateDef* def = &joint->coordinates[law->coordinate].def;
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, law->coordinate);
    tpFlowLawForce force = { .goesOn = true, .margins = { INFINITY, INFINITY, INFINITY } };
    force.push =
        (tpFlowRow){ joint->bodyA, joint->bodyB, law->joint, row.onA, row.onB, 0.0, 0, 0.0, NULL };
    force.rate = tpFlowRow_Speed(&force.push, system->velocities.data);
    force.stored = def->hasSpring ? -def->spring.stiffness * (row.error - def->spring.rest) : 0.0;
    double damping = def->damping + (def->hasSpring ? def->spring.damping : 0.0);
    if (def->hasServo) {
        force.goesOn = findServo(law, &def->servo, row.error, force.rate, &force.effort);
        double wanted = wantedEffort(&def->servo, row.error, force.rate);
        force.margins[tp_servoPart] = law->servoSign == 0.0
                                          ? def->servo.effort - fabs(wanted)
                                          : law->servoSign * wanted - def->servo.effort;
    }
    if (law->motorSign != 0.0) {
        force.effort += law->motorSign * def->motor.effort;
        force.margins[tp_motorPart] = law->motorSign * (def->motor.speed - force.rate);
        force.goesOn = force.goesOn && force.margins[tp_motorPart] >= 0.0;
    }
    force.taken = force.effort - damping * force.rate - def->friction * law->direction;
    if (def->friction > 0.0) {
        force.margins[tp_frictionPart] = force.rate * law->direction;
        force.goesOn = force.goesOn && force.margins[tp_frictionPart] > 0.0;
    }
    return force;
}

tpFlowRow tpFlowLaw_Row(const tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan) {
    const tpJoint* joint = jointOf(law, system, plan);
    double rate;
    tpJointRow row = rowOf(joint, system, law->coordinate, &rate);
    double speed = law->holdsSpeed ? joint->coordinates[law->coordinate].def.motor.speed : 0.0;
    return (tpFlowRow){ joint->bodyA,
                        joint->bodyB,
                        law->joint,
                        row.onA,
                        row.onB,
                        speed,
                        1 + (int)(law - plan->laws),
                        0.0,
                        NULL };
}

double tpFlowLaw_Margin(const tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan,
                        double force) {
    if (law->limitSign != 0.0) {
        return law->limitSign * force;
    }
    const tpJoint* joint = jointOf(law, system, plan);
    return joint->coordinates[law->coordinate].def.motor.effort - fabs(force);
}
