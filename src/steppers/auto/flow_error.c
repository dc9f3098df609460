#include "steppers/auto/flow_error.h"

#include "steppers/auto/apart.h"
#include "steppers/auto/flow_solve.h"

// The last three stages, whose weights lead to the end of the step.
enum { firstStage = 2, usedStages = tp_flowStages - firstStage };

// Their weights less those of the first two of them alone, which are of second order: a second
// difference, 1/60 of the second derivative of what is summed up, times the square of the step.
#define ROOT6 2.449489742783178
static const double secondParts[usedStages] = {
    (16.0 - ROOT6) / 36.0 - (ROOT6 - 1.0) / (2.0 * ROOT6),
    (16.0 + ROOT6) / 36.0 - (ROOT6 + 1.0) / (2.0 * ROOT6),
    1.0 / 9.0,
};

// That difference, over what the last of them differs by from the first one, is a fiftieth of how
// much the slope changes in the step. That change counts twice: a part of the slope is that of
// something simple beside it, as the braking of a ball whose slip is stiff.
static const double slopeParts = 100.0;

// Of that difference of accelerations, times h: 60/384, which a polynomial of third degree is off
// by in the middle.
static const double middlePart = 60.0 / 384.0;

// The estimate is taken so many times. (Of 434 steps of 86 motions that told less than what is
// allowed, halves found none off by more than .4 of that, beyond rounding.)
static const double safety = 3.0;

// Values at the three stages: vectors, or quaternions.
typedef struct Values {
    double at[usedStages][4];
} Values;

static void setVector(Values* values, int stage, tpVec3 vector) {
    values->at[stage][0] = vector.x;
    values->at[stage][1] = vector.y;
    values->at[stage][2] = vector.z;
    values->at[stage][3] = 0.0;
}

static void setQuat(Values* values, int stage, tpQuat quat) {
    setVector(values, stage, tpMakeVec3(quat.x, quat.y, quat.z));
    values->at[stage][3] = quat.w;
}

// The second difference of values, and what their sum over a step of a second is off by. If their
// slope changes by a part x in the step, each order more makes about x of an error, and the sum is
// of two orders more than the one that the difference holds it against. If the slope changes by all
// of it, as that of something stiff does, orders mean nothing, and the difference itself counts.
typedef struct Differences {
    double second, error;
} Differences;

static Differences differencesOf(const Values* values) {
    double second = 0.0, slope = 0.0;
    for (int i = 0; i < 4; ++i) {
        double sum = 0.0, change = values->at[usedStages - 1][i] - values->at[0][i];
        for (int k = 0; k < usedStages; ++k) {
            sum += secondParts[k] * values->at[k][i];
        }
        second += sum * sum;
        slope += change * change;
    }
    double part = slope > 0.0 ? slopeParts * slopeParts * second / slope : 1.0;
    return (Differences){ sqrt(second), sqrt(second) * fmin(1.0, part) };
}

tpFlowError tpFlow_BodyError(const tpFlow* flow, const tpGroupRun* run, int body, double h) {
    const tpSystem* system = run->system;
    const tpBody* own = &system->bodies.data[body];
    int place = flow->plan.places[body];
    const tpMat33* inverse = &flow->memory->inverseInertias[place];
    Values ways, turnRates, pushes, torques;
    for (int k = 0; k < usedStages; ++k) {
        const FlowState* state =
            &flow->memory->states[(firstStage + k) * flow->plan.bodyCount + place];
        setVector(&ways, k, state->velocity);
        setQuat(&turnRates, k, state->turnRate);
        setVector(&pushes, k, tpScale(own->inverseMass, state->force.linear));
        setVector(&torques, k, tpMulMV(*inverse, state->force.angular));
    }
    Differences push = differencesOf(&pushes), torque = differencesOf(&torques);
    double turn = 2.0 * h * differencesOf(&turnRates).error; // quaternions have half of the angle
    // The same momentum makes another spin of a body that lies otherwise.
    double tilt =
        tpBody_IsBall(system, own) ? 0.0 : turn * tpLength(system->velocities.data[body].angular);
    double size = run->groups->turnSizes[body];
    return (tpFlowError){
        .position = safety * (h * differencesOf(&ways).error + size * turn),
        .speed = safety * (h * push.error + own->size * (h * torque.error + tilt)),
        .middle = middlePart * h * h * (push.second + size * torque.second),
    };
}

double tpFlow_Error(const tpFlow* flow, const tpGroupRun* run, double h, double* middle) {
    double largest = 0.0, largestMiddle = 0.0;
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        tpFlowError error = tpFlow_BodyError(flow, run, flow->plan.bodies[k], h);
        largest = fmax(largest, error.position + run->timeScale * error.speed);
        largestMiddle = fmax(largestMiddle, error.middle);
    }
    if (middle != NULL) {
        *middle = largestMiddle;
    }
    return largest;
}
