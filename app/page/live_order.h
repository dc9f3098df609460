// Orders of the page to a live run.

#ifndef TIPPE_APP_PAGE_LIVE_ORDER_H
#define TIPPE_APP_PAGE_LIVE_ORDER_H

#include "tippe/world.h"

// A number of the scene that is to be another from now on. Changes outlive a restart.
typedef enum tpLiveChangeKind {
    tp_noChange,
    tp_materialChange,
    tp_massChange,
    tp_gravityChange,
    tp_optionChange,
    tp_targetChange,   // of a servo
    tp_motorChange,    // speed of a motor
    tp_couplingChange, // target of the servo of a coupling
} tpLiveChangeKind;

typedef struct tpLiveChange {
    tpLiveChangeKind kind;
    char name[64]; // of the material or the option
    char text[64]; // of the option, as the command line takes it
    int body;      // among all
    int joint, coordinate;
    int coupling; // among all of the world
    double value; // of the target or the speed: rad, m, rad/s, m/s
    bool hasFriction, hasTorsion, hasRestitution;
    double friction; // dynamic; the static one keeps its ratio to it
    double torsion;  // m, the arm
    double restitution;
    double mass; // kg; the inertia grows in proportion
    tpVec3 gravity;
} tpLiveChange;

// Fields that are not set are left as they are.
typedef struct tpLiveOrder {
    bool setsRunning, running;
    bool setsStep, setsSpeed, setsStepper, setsLimit;
    double step, speed;
    double limit; // s of the world, at which it stands
    tpStepperId stepper;
    int steps;   // to be done while it does not run
    bool begins; // runs if it has never run
    bool restart;
    bool forks;
    int64_t frame; // from which to go on, forgetting what came after it
    bool drags, drops;
    int body;      // to be pulled by a spring
    tpVec3 point;  // of the body, in its frame
    tpVec3 target; // of the spring's other end, in the world
    tpLiveChange change;
} tpLiveOrder;

// Reads an order: { "running": true }, { "begin": true }, { "steps": 1 }, { "restart": true }, {
// "fork": 120 }, { "stepper": "anitescu" }, { "step": 0.01 }, { "speed": 2 }, { "limit": 1.5 }, {
// "drop": true }, { "drag": { "body": 3, "point": [x, y, z], "target": [x, y, z] } }, { "material":
// { "name": "wood", "friction": 0.5, "torsional": 0, "restitution": 0 } }, { "mass": { "body": 3,
// "mass": 2 } }, { "gravity": [x, y, z] }, { "option": { "name": "theta", "value": "0.5" } }.
// { "target": { "joint": 2, "coordinate": 0, "value": 0.5 } } (of a servo), { "motor": ... } (its
// speed), { "target": { "coupling": 1, "value": 0.5 } }. Unknown keys and numbers that make no
// sense are errors.
tpResult readLiveOrder(const char* text, size_t length, tpLiveOrder* order, tpError* error);

#endif
