// Events after a snapshot are those without it, bit for bit, in the same world and in another one.

#include <string.h>

#include "support/check.h"
#include "tippe/tippe.h"

enum { stepCount = 100, middle = 45, mostEvents = 64 };

typedef struct Told {
    tpEvent events[mostEvents];
    int counts[stepCount];
    int count;
} Told;

static void addBall(tpWorld* world, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 1000.0;
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.1 }, NULL);
}

static void addArm(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(5.5, 0.0, 3.0);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpIdentityMat33();
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpCreateBody(world, &def, NULL);
    joint.anchorA = joint.anchorB = tpMakeVec3(5.0, 0.0, 3.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.hasLimits = true;
    joint.coordinate.limits[0] = -1.0;
    joint.coordinate.limits[1] = 0.1;
    tpCreateJoint(world, &joint, NULL);
}

// In the middle one ball lies on the floor since long, one has just come into a zone, a third one
// will land, and an arm lies on its limit.
static tpWorld* makeWorld(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -9.81));
    tpBodyDef fixed = tpDefaultBodyDef();
    fixed.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &fixed, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreatePlane(world, floor, &shape, &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    fixed.position = tpMakeVec3(2.0, 0.0, 1.0);
    tpBodyId zone = tpCreateBody(world, &fixed, NULL);
    tpCreateBox(world, zone, &shape, &(tpBox){ { 1.0, 1.0, 0.5 } }, NULL);
    tpSensorDef sensor = tpDefaultSensorDef();
    sensor.type = tp_overlapSensor;
    sensor.body = zone;
    tpCreateSensor(world, &sensor, NULL);
    addBall(world, tpMakeVec3(0.0, 0.0, 0.1));
    addBall(world, tpMakeVec3(2.0, 0.0, 1.9));
    addBall(world, tpMakeVec3(-2.0, 0.0, 1.8));
    addArm(world);
    return world;
}

static void run(tpWorld* world, int first, int end, Told* told) {
    for (int i = first; i < end; ++i) {
        tpWorld_Step(world, 0.01);
        int count;
        const tpEvent* events = tpWorld_GetEvents(world, &count);
        told->counts[i] = count;
        for (int k = 0; k < count && told->count < mostEvents; ++k) {
            told->events[told->count++] = events[k];
        }
    }
}

static bool holds(const Told* told, tpEventKind kind) {
    for (int i = 0; i < told->count; ++i) {
        if (told->events[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void checkSame(const Told* a, const Told* b) {
    assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->events, b->events, sizeof(tpEvent) * (size_t)a->count);
}

// The whole run; the run with a snapshot in the middle; the second half again in the same world;
// the second half in another world, from bytes.
static void snapshotsKeepEvents(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        tpStepperId stepper = (tpStepperId)s;
        if (stepper == tp_freeFlight || !tpStepperIsAvailable(stepper)) {
            continue;
        }
        static Told whole, first, again, other;
        memset(&whole, 0, sizeof(whole));
        memset(&first, 0, sizeof(first));
        tpWorld* world = makeWorld(stepper);
        tpWorld_GetEvents(world, NULL);
        run(world, 0, stepCount, &whole);
        tpDestroyWorld(world);
        assert_true(holds(&whole, tp_touchBegan) && holds(&whole, tp_hit) &&
                    holds(&whole, tp_overlapBegan) && holds(&whole, tp_overlapEnded) &&
                    holds(&whole, tp_limitReached));

        world = makeWorld(stepper);
        tpWorld_GetEvents(world, NULL);
        run(world, 0, middle, &first);
        again = other = first;
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        run(world, middle, stepCount, &first);
        checkSame(&first, &whole);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        run(world, middle, stepCount, &again);
        checkSame(&again, &whole);
        tpDestroyWorld(world);

        // Nobody has watched the other world: what the snapshot knew is enough.
        world = makeWorld(stepper);
        size_t size;
        const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
        tpSnapshot* copy = tpCreateSnapshot(bytes, size, NULL, NULL);
        assert_int_equal(tpWorld_Restore(world, copy, NULL), tp_success);
        run(world, middle, stepCount, &other);
        checkSame(&other, &whole);
        tpDestroySnapshot(copy);
        tpDestroySnapshot(snapshot);
        tpDestroyWorld(world);
    }
}

// A snapshot of a world that nobody watches knows what touches, too.
static void touchesAreKnownUnwatched(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    for (int i = 0; i < middle; ++i) {
        tpWorld_Step(world, 0.01);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    for (int i = 0; i < 3; ++i) {
        int count;
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        tpWorld_GetEvents(world, &count);
        assert_int_equal(count, 0);
        tpWorld_Step(world, 1e-4);
        tpWorld_GetEvents(world, &count);
        assert_int_equal(count, 0); // what lay still lies
    }
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// Inverse dynamics steps on trial: the events of the last step stay.
static void trialsAreNoEvents(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpWorld_GetEvents(world, NULL);
    int count = 0, before = 0;
    const tpEvent* events = NULL;
    for (int i = 0; i < stepCount && before == 0; ++i) {
        tpWorld_Step(world, 0.01);
        events = tpWorld_GetEvents(world, &before);
    }
    assert_true(before > 0);
    tpEvent kept = events[0];
    double speed = 0.25, effort;
    tpWorld_InverseDynamics(world, 0.01, &speed, &effort, NULL, NULL);
    events = tpWorld_GetEvents(world, &count);
    assert_int_equal(count, before);
    assert_memory_equal(&events[0], &kept, sizeof(kept));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshotsKeepEvents),
        cmocka_unit_test(touchesAreKnownUnwatched),
        cmocka_unit_test(trialsAreNoEvents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
