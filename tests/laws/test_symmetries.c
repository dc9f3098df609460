// What must not change: worlds of all that there is, one thing at a time, in other units and turned
// about the direction of gravity.
//
// Units of 1024 are exact in binary, and tolerances follow the scene by powers of 1024. Motion,
// contacts, joints and reports stay the same but for rounding, so that a term of the wrong
// dimension, a lost component or a wrong axis shows wherever it has any effect.

#include <string.h>

#include "support/part_worlds.h"

// What there is to see of a world, in plain units and not turned: so many numbers.
enum { maxNumbers = 20000 };
typedef struct Seen {
    double numbers[maxNumbers];
    int count;
    const char* names[maxNumbers];
} Seen;

static void put(Seen* seen, const char* name, double number) {
    assert_true(seen->count < maxNumbers);
    seen->names[seen->count] = name;
    seen->numbers[seen->count++] = number;
}

static void putVector(Seen* seen, const Setting* s, const char* name, tpVec3 v, double unit) {
    v = tpUnrotate(tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), s->turn), v);
    put(seen, name, v.x / unit);
    put(seen, name, v.y / unit);
    put(seen, name, v.z / unit);
}

static void lookAtReport(Seen* seen, const Setting* s, const tpStepReport* r) {
    double energy = inUnits(s, 2, 1, -2);
    put(seen, "residual", r->residual);
    put(seen, "energy increase", r->energyIncrease / energy);
    put(seen, "penetration", r->penetration / s->units.length);
    put(seen, "energy limit", r->limits.energy / energy);
    put(seen, "overlap limit", r->limits.penetration / s->units.length);
    put(seen, "violations", r->violations);
    put(seen, "contacts", r->contactCount);
    put(seen, "iterations", r->iterationCount);
    put(seen, "failures", r->failureCount);
    put(seen, "kinetic", r->kineticAfter / energy);
    put(seen, "potential", r->potentialAfter / energy);
    put(seen, "work", r->externalWork / energy);
    put(seen, "friction loss", r->frictionLoss / energy);
    put(seen, "impact loss", r->impactLoss / energy);
    put(seen, "numerical loss", r->numericalLoss / energy);
    put(seen, "cone violation", r->coneViolation);
}

static void lookAtWorld(Seen* seen, const Setting* s, const tpWorld* world) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        putVector(seen, s, "position", tpBody_GetPosition(world, body), s->units.length);
        putVector(seen, s, "velocity", tpBody_GetVelocity(world, body), inUnits(s, 1, 0, -1));
        putVector(seen, s, "spin", tpBody_GetAngularVelocity(world, body), inUnits(s, 0, 0, -1));
    }
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* c = &contacts[i];
        double impulse = inUnits(s, 1, 1, -1);
        put(seen, "gap", c->gap / s->units.length);
        put(seen, "normal impulse", c->normalImpulse / impulse);
        putVector(seen, s, "friction", c->frictionImpulse, impulse);
        put(seen, "torsion", c->torsionalImpulse / inUnits(s, 2, 1, -1));
        putVector(seen, s, "rolling", c->rollingImpulse, inUnits(s, 2, 1, -1));
        put(seen, "sliding speed", c->slidingSpeed / inUnits(s, 1, 0, -1));
        put(seen, "contact state", c->state);
    }
    for (int i = 0; i < tpWorld_GetJointCount(world); ++i) {
        tpJointId joint = tpWorld_GetJoint(world, i);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, joint, &force, &torque);
        putVector(seen, s, "reaction force", force, inUnits(s, 1, 1, -2));
        putVector(seen, s, "reaction torque", torque, inUnits(s, 2, 1, -2));
        for (int k = 0; k < tpJoint_GetCoordinateCount(world, joint); ++k) {
            int length = tpJoint_GetAxis(world, joint, k).kind == tp_slideAxis ? 1 : 0;
            tpCoordinateState state = tpJoint_GetState(world, joint, k);
            put(seen, "coordinate", state.value / inUnits(s, length, 0, 0));
            put(seen, "coordinate's speed", state.speed / inUnits(s, length, 0, -1));
            put(seen, "effort", state.effort / inUnits(s, 2 - length, 1, -2));
            put(seen, "limit's effort", state.limitEffort / inUnits(s, 2 - length, 1, -2));
        }
    }
}

// Energy that is there before and after, work and losses: nothing is missing.
static void checkAccount(const Setting* s, const tpStepReport* r) {
    double gain = r->kineticAfter + r->potentialAfter - r->kineticBefore - r->potentialBefore;
    double open = gain - r->externalWork + r->frictionLoss + r->impactLoss;
    double scale = inUnits(s, 2, 1, -2) + fabs(r->kineticAfter) + fabs(r->potentialAfter);
    bool isClosed = fabs(open) <= 1e-9 * scale && r->frictionLoss >= -1e-9 * scale &&
                    fabs(r->energyIncrease - gain + r->externalWork) <= 1e-9 * scale;
    if (!isClosed) {
        fail_msg("%s, part %d: the account is open by %g J", tpStepperName(s->stepper), s->part,
                 open);
    }
}

// What is listed carries something or touches, and what carries something is pressed together.
static void checkListed(const Setting* s, const tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* c = &contacts[i];
        if (!(c->normalImpulse > 0.0) && !(c->gap <= 1e-4 * s->units.length)) {
            fail_msg("%s, part %d: a contact with a gap of %g m and no impulse is listed",
                     tpStepperName(s->stepper), s->part, c->gap);
        }
    }
}

static void look(const Setting* s, int steps, Seen* seen) {
    tpWorld* world = makeWorld(s);
    seen->count = 0;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01 * s->units.time);
        lookAtReport(seen, s, &report);
        checkAccount(s, &report);
        checkListed(s, world);
    }
    lookAtWorld(seen, s, world);
    tpDestroyWorld(world);
}

// Counts of work and what is left over by rounding may differ.
static bool isRounding(const char* name) {
    return strcmp(name, "residual") == 0 || strcmp(name, "iterations") == 0 ||
           strcmp(name, "cone violation") == 0;
}

static void compare(const Setting* s, const Seen* plain, double tolerance) {
    static Seen other;
    look(s, 8, &other);
    assert_int_equal(other.count, plain->count);
    for (int n = 0; n < other.count; ++n) {
        double a = plain->numbers[n], b = other.numbers[n];
        if (!isRounding(plain->names[n]) && !(fabs(a - b) <= tolerance * fmax(1.0, fabs(a)))) {
            fail_msg("%s, part %d, in units %g m, %g kg, %g s, turned by %g: %s is %.12g instead "
                     "of %.12g",
                     tpStepperName(s->stepper), s->part, s->units.length, s->units.mass,
                     s->units.time, s->turn, plain->names[n], b, a);
        }
    }
}

// The directions that a ball joint swings in and a planar one slides in are chosen by world axes.
static bool hasFreeAxes(int part) {
    int type = part - looseCount - 2 * lawCount;
    return type == 0 || type == 4;
}

// Which comparisons a stepper stands.
enum { whenTurned = 1, otherTimes = 2, otherLengths = 4, allUnits = 6, everything = 7 };

static void comparePart(tpStepperId stepper, int part, int which) {
    static Seen plain;
    static const Units units[] = { { 1.0 / 1024.0, 1024.0, 1.0 },
                                   { 1.0, 1.0, 1024.0 },
                                   { 1024.0, 1.0, 1.0 } };
    Setting s = { stepper, { 1.0, 1.0, 1.0 }, 0.0, part };
    look(&s, 8, &plain);
    if ((which & whenTurned) != 0 && !hasFreeAxes(part)) {
        s.turn = 0.7;
        compare(&s, &plain, 1e-6);
        s.turn = 0.0;
    }
    for (int k = 0; k < (part < looseCount ? 3 : 2); ++k) {
        s.units = units[k];
        if ((which & (s.units.time != 1.0 ? otherTimes : otherLengths)) != 0) {
            compare(&s, &plain, 1e-7);
        }
    }
}

static void sameByEachStepper(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_benderSchmitt };
    for (int part = 0; part < partCount; ++part) {
        for (int i = 0; i < 3; ++i) {
            comparePart(steppers[i], part, everything);
        }
    }
}

// Where rounding may decide how a solve goes, or which of many loads of a box on four corners is
// found: turned steps of the one may be halved, and the other's friction of a spinning box differs.
static void sameInOtherUnits(void** state) {
    (void)state;
    for (int part = 0; part < partCount; ++part) {
        comparePart(tp_chakrabortyTrinkle, part, allUnits);
        comparePart(tp_mirtichCanny, part, otherTimes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sameByEachStepper),
                                        cmocka_unit_test(sameInOtherUnits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
