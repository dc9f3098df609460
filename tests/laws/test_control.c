// Driven machines against solutions of their equations to 14 digits, with every stepper that holds
// joints.
//
// The numbers of `after` are states at t = 1 s by Dormand and Prince's method of eighth order
// (DOP853, relative tolerance 3e-14) of the equations that stand above each machine.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/scene_text.h"
#include "tippe/scene.h"
#include "tippe/tippe.h"

typedef struct Machine {
    const char* name;
    const char* parts;  // bodies and joints of the scene
    const char* driven; // the joint that `drive` acts on, or NULL
    double (*drive)(double time);
    int count; // coordinates; `before` and `after` have values, then speeds
    double before[4], after[4];
} Machine;

static double pushPendulum(double time) {
    return 3.0 * sin(4.0 * time);
}

static double pushCart(double time) {
    return 2.0 * cos(3.0 * time);
}

#define PENDULUM(laws)                                                                             \
    "\"bodies\": [ { \"name\": \"bob\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": " \
    "[0, 0, -0.5] } ], \"joints\": [ { \"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": "  \
    "[null, \"bob\"], \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], " laws " } ]"

static const Machine machines[] = {
    // (I + m l^2) q'' = -m g l sin q - 0.2 q' + 3 sin 4t
    { "pendulum driven by a torque",
      PENDULUM("\"damping\": 0.2"),
      "hinge",
      pushPendulum,
      1,
      { 0.3, 0.0 },
      { 0.0887169240797622, -0.989272363296459 } },
    // (I + m l^2 + 0.05) q'' = -m g l sin q + 80 (0.8 - q) - 4 q'
    { "pendulum driven by a servo",
      PENDULUM(
          "\"armature\": 0.05, \"servo\": { \"target\": 0.8, \"stiffness\": 80, \"damping\": 4 }"),
      NULL,
      NULL,
      1,
      { 0.0, 0.0 },
      { 0.722051403401059, -0.394515119016938 } },
    // (M + m) s'' + m l (q'' cos q - q'^2 sin q) = 2 cos 3t - 0.1 s',
    // (I + m l^2) q'' + m l s'' cos q = m g l sin q; the pole falls over
    { "cart and pole",
      "\"bodies\": [ { \"name\": \"cart\", \"mass\": 1, \"inertia\": [1, 1, 1] }, { \"name\": "
      "\"pole\", "
      "\"mass\": 0.2, \"inertia\": [0.02, 0.02, 0.02], \"position\": [0, 0, 0.5] } ], \"joints\": "
      "[ { "
      "\"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [null, \"cart\"], \"anchor\": [0, "
      "0, 0], "
      "\"axis\": [1, 0, 0], \"damping\": 0.1 }, { \"name\": \"pivot\", \"type\": \"revolute\", "
      "\"bodies\": [\"cart\", \"pole\"], \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0] } ]",
      "rail",
      pushCart,
      2,
      { 0.0, 0.2, 0.0, 0.0 },
      { 0.297551198733091, 2.01953551552492, 0.286274987529138, 6.4358197269909 } },
    // Two links of 2 and 1 kg with servos and rotors, by Lagrange's equations
    { "two-link arm",
      "\"bodies\": [ { \"name\": \"upper\", \"mass\": 2, \"inertia\": [0.08, 0.08, 0.08], "
      "\"position\": [0, 0, -0.3] }, { \"name\": \"lower\", \"mass\": 1, \"inertia\": [0.03, 0.03, "
      "0.03], \"position\": [0, 0, -0.85] } ], \"joints\": [ { \"name\": \"shoulder\", \"type\": "
      "\"revolute\", \"bodies\": [null, \"upper\"], \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], "
      "\"armature\": 0.02, \"servo\": { \"target\": 0.9, \"stiffness\": 60, \"damping\": 6 } }, { "
      "\"name\": \"elbow\", \"type\": \"revolute\", \"bodies\": [\"upper\", \"lower\"], "
      "\"anchor\": [0, "
      "0, -0.6], \"axis\": [0, 1, 0], \"armature\": 0.01, \"servo\": { \"target\": -0.7, "
      "\"stiffness\": 40, \"damping\": 3 } } ]",
      NULL,
      NULL,
      2,
      { 0.0, 0.0, 0.0, 0.0 },
      { 0.747888703523396, -0.705886796735404, 0.284913619764908, 0.105448846881162 } },
};
enum { machineCount = sizeof(machines) / sizeof(machines[0]) };

static tpWorld* build(const char* parts, const char* stepper) {
    char text[6000];
    snprintf(text, sizeof(text),
             "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], %s, \"simulation\": { \"stepper\": "
             "\"%s\", \"step\": 0.01, \"until\": 1 } }",
             parts, stepper);
    return makeWorldFrom(text);
}

// The largest difference of values and speeds after a second. What drives is held over a step at
// its value in the middle.
static double errorOf(const Machine* machine, const char* stepper, int stepCount) {
    tpWorld* world = build(machine->parts, stepper);
    double h = 1.0 / stepCount, now[4], error = 0.0;
    assert_int_equal(tpWorld_GetCoordinateCount(world), machine->count);
    assert_int_equal(
        tpWorld_WriteCoordinates(world, machine->before, machine->before + machine->count, NULL),
        tp_success);
    for (int i = 0; i < stepCount; ++i) {
        if (machine->driven != NULL) {
            tpJoint_ApplyEffort(world, tpWorld_FindJoint(world, machine->driven), 0,
                                machine->drive((i + 0.5) * h));
        }
        tpWorld_Step(world, h);
    }
    tpWorld_ReadCoordinates(world, now, now + machine->count, NULL);
    for (int i = 0; i < 2 * machine->count; ++i) {
        error = fmax(error, fabs(now[i] - machine->after[i]));
    }
    tpDestroyWorld(world);
    return error;
}

// What each method promises: the error at 100 steps per second, and how much smaller it is at 200.
// bender-schmitt, mirtich-canny and auto choose steps of their own.
static const struct {
    const char* name;
    double most, gain;
    bool isSoft; // contacts that give, or joints by some sweeps
} methods[] = {
    { "anitescu", 5e-3, 3.6, false },
    { "bender-schmitt", 4e-4, 0.0, false },
    { "chakraborty-trinkle", 5e-3, 3.6, false },
    { "mirtich-canny", 5e-3, 0.0, false },
    { "stewart-trinkle", 0.2, 1.75, false },
    { "penalty", 0.2, 1.75, true },
    { "small-steps", 0.05, 1.75, true },
    { "auto", 5e-4, 0.0, false },
};
enum { methodCount = sizeof(methods) / sizeof(methods[0]) };

static void machinesFollowTheirEquations(void** state) {
    (void)state;
    for (int m = 0; m < machineCount; ++m) {
        for (int s = 0; s < methodCount; ++s) {
            double coarse = errorOf(&machines[m], methods[s].name, 100);
            double fine = errorOf(&machines[m], methods[s].name, 200);
            print_message("%s, %s: %.1e, %.1e\n", machines[m].name, methods[s].name, coarse, fine);
            CHECK_BELOW(coarse, methods[s].most);
            CHECK_BELOW(fine, methods[s].most);
            CHECK_BELOW(fine * methods[s].gain, coarse);
        }
    }
}

// Held against gravity: sin(q) m g l = stiffness (target - q), the effort is the moment of the
// weight, and nothing moves.
static void servosHoldWithTheirStaticError(void** state) {
    (void)state;
    for (int s = 0; s < methodCount; ++s) {
        tpWorld* world = build(PENDULUM("\"servo\": { \"target\": 1.5, \"stiffness\": 300, "
                                        "\"damping\": 40 }"),
                               methods[s].name);
        for (int i = 0; i < 300; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        double expected = 1.5;
        for (int i = 0; i < 100; ++i) {
            expected = 1.5 - 2.0 * 9.81 * 0.5 * sin(expected) / 300.0;
        }
        tpCoordinateState held = tpJoint_GetState(world, tpWorld_FindJoint(world, "hinge"), 0);
        double off = fabs(held.value - expected);
        print_message("static error, %s: %.1e, speed %.1e, effort %.1e\n", methods[s].name, off,
                      held.speed, held.effort - 9.81 * sin(expected));
        // auto leaves the arm alone once it is as still as the accuracy asks.
        bool isAuto = strcmp(methods[s].name, "auto") == 0;
        CHECK_BELOW(off, methods[s].isSoft || isAuto ? 1e-6 : 1e-9);
        CHECK_BELOW(fabs(held.speed), 1e-6);
        CHECK_BELOW(fabs(held.effort - 9.81 * sin(expected)), isAuto ? 1e-3 : 1e-5);
        tpDestroyWorld(world);
    }
}

// Ten times the gain at which an explicit step of 1/60 s would become unstable, critically damped:
// the arm goes to its target, does not pass it by more than a percent, and stays.
static void stiffServosDoNotRing(void** state) {
    (void)state;
    double h = 1.0 / 60.0, inertia = 0.1 + 2.0 * 0.25;
    double stiffness = 10.0 * 4.0 * inertia / (h * h), damping = 2.0 * sqrt(stiffness * inertia);
    char parts[1000];
    snprintf(parts, sizeof(parts),
             PENDULUM("\"servo\": { \"target\": 0.4, \"stiffness\": %.17g, \"damping\": %.17g }"),
             stiffness, damping);
    for (int s = 0; s < methodCount; ++s) {
        tpWorld* world = build(parts, methods[s].name);
        tpJointId hinge = tpWorld_FindJoint(world, "hinge");
        double expected = 0.4, last = 0.0;
        for (int i = 0; i < 100; ++i) {
            expected = 0.4 - 2.0 * 9.81 * 0.5 * sin(expected) / stiffness;
        }
        for (int i = 0; i < 60; ++i) {
            tpWorld_Step(world, h);
            double value = tpJoint_GetValue(world, hinge, 0);
            assert_true(value < 1.01 * 0.4 && value > last - 0.004);
            last = value;
        }
        print_message("stiff servo, %s: %.1e\n", methods[s].name, last - expected);
        CHECK_BELOW(fabs(last - expected), 1e-6);
        CHECK_BELOW(fabs(tpJoint_GetSpeed(world, hinge, 0)), 1e-5);
        tpDestroyWorld(world);
    }
}

// A motor with a limited effort reaches its speed within a step, and dry friction stops a joint
// within one: from then on speeds stay. The law asked for in the middle of a step would let them
// swing about that for ever, by as much as they were off at its start.
static void drivesDoNotSwing(void** state) {
    (void)state;
    static const char slider[] = "\"bodies\": [ { \"name\": \"cart\", \"mass\": 12, \"inertia\": "
                                 "[1, 1, 1] } ], \"joints\": [ { "
                                 "\"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [null, "
                                 "\"cart\"], \"axis\": [1, 0, 0], "
                                 "\"anchor\": [0, 0, 0], %s } ]";
    for (int isMotor = 0; isMotor < 2; ++isMotor) {
        char parts[1000];
        snprintf(parts, sizeof(parts), slider,
                 isMotor ? "\"motor\": { \"speed\": 1.5, \"effort\": 400 }" : "\"friction\": 310");
        double reached = isMotor ? 1.5 : 0.0, start = isMotor ? 0.0 : 1.0;
        for (int s = 0; s < methodCount; ++s) {
            tpWorld* world = build(parts, methods[s].name);
            tpJointId rail = tpWorld_FindJoint(world, "rail");
            assert_int_equal(tpWorld_WriteCoordinates(world, &(double){ 0.0 }, &start, NULL),
                             tp_success);
            for (int i = 0; i < 30; ++i) {
                tpWorld_Step(world, 0.01);
                if (i >= 6) {
                    CHECK_NEAR(tpJoint_GetSpeed(world, rail, 0), reached, 1e-9);
                }
            }
            tpDestroyWorld(world);
        }
    }
}

// A body of boxes on four legs, each held by a servo at the hip.
static void writeQuadruped(char* parts, size_t size) {
    size_t used = 0;
    used += (size_t)snprintf(parts + used, size - used,
                             "\"materials\": { \"rubber\": { \"friction\": 0.9 } }, \"bodies\": [ "
                             "{ \"name\": \"floor\", "
                             "\"kind\": \"fixed\", \"material\": \"rubber\", \"shapes\": [ { "
                             "\"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { "
                             "\"name\": \"trunk\", \"density\": 300, \"material\": \"rubber\", "
                             "\"position\": [0, 0, 0.5], "
                             "\"shapes\": [ { \"type\": \"box\", \"size\": [1, 0.5, 0.2] } ] }");
    for (int i = 0; i < 4; ++i) {
        used += (size_t)snprintf(
            parts + used, size - used,
            ", { \"name\": \"leg%d\", \"density\": 500, \"material\": \"rubber\", \"position\": "
            "[%g, "
            "%g, 0.2], \"shapes\": [ { \"type\": \"box\", \"size\": [0.1, 0.1, 0.4] } ] }",
            i, i % 2 == 0 ? 0.4 : -0.4, i < 2 ? 0.32 : -0.32);
    }
    used += (size_t)snprintf(parts + used, size - used, " ], \"joints\": [");
    for (int i = 0; i < 4; ++i) {
        used += (size_t)snprintf(
            parts + used, size - used,
            "%s { \"name\": \"hip%d\", \"type\": \"revolute\", \"bodies\": [\"trunk\", \"leg%d\"], "
            "\"anchor\": [%g, %g, 0.4], \"axis\": [0, 1, 0], \"armature\": 0.02, \"servo\": { "
            "\"target\": 0, \"stiffness\": 2000, \"damping\": 60 } }",
            i > 0 ? "," : "", i, i, i % 2 == 0 ? 0.4 : -0.4, i < 2 ? 0.3 : -0.3);
    }
    used += (size_t)snprintf(parts + used, size - used, " ], \"sensors\": [");
    for (int i = 0; i < 4; ++i) {
        used += (size_t)snprintf(
            parts + used, size - used,
            "%s { \"name\": \"foot%d\", \"type\": \"contact_force\", \"body\": \"leg%d\" }",
            i > 0 ? "," : "", i, i);
    }
    snprintf(parts + used, size - used, " ]");
}

static void quadrupedsStandStill(void** state) {
    (void)state;
    char parts[5000];
    writeQuadruped(parts, sizeof(parts));
    for (int s = 0; s < methodCount; ++s) {
        tpWorld* world = build(parts, methods[s].name);
        double mass = 0.0, sum = 0.0, fastest = 0.0, values[tp_mostSensorValues];
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 1.0 / 200.0);
        }
        for (int i = 0; i < tpWorld_GetMovingCount(world); ++i) {
            mass += tpBody_GetMass(world, tpWorld_GetMoving(world, i)).mass;
        }
        for (int i = 0; i < 4; ++i) {
            char name[16];
            snprintf(name, sizeof(name), "foot%d", i);
            tpSensor_GetValues(world, tpWorld_FindSensor(world, name), values);
            sum += values[0];
            snprintf(name, sizeof(name), "leg%d", i);
            tpBodyId leg = tpWorld_FindBody(world, name);
            tpVec3 foot = tpBody_GetPosition(world, leg);
            foot.z = 0.0;
            fastest = fmax(fastest, tpLength(tpBody_GetPointVelocity(world, leg, foot)));
        }
        double off = sum / (9.81 * mass) - 1.0;
        print_message("quadruped, %s: weight off by %.1e, feet %.1e m/s\n", methods[s].name, off,
                      fastest);
        CHECK_BELOW(fabs(off), methods[s].isSoft ? 1e-8 : 1e-9);
        CHECK_BELOW(fastest, methods[s].isSoft ? 1e-7 : 1e-9);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machinesFollowTheirEquations),
        cmocka_unit_test(servosHoldWithTheirStaticError),
        cmocka_unit_test(stiffServosDoNotRing),
        cmocka_unit_test(drivesDoNotSwing),
        cmocka_unit_test(quadrupedsStandStill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
