// Links that overlap in a pose where joints at their limits keep them from parting: no impulses
// move them apart as fast as overlaps are taken back, and those that would are a million times too
// large for joints that are not at their limits.

#include "support/check.h"
#include "support/floor.h"
#include "tippe/joints.h"

static const double pushOutSpeed = 0.5;

typedef struct Link {
    tpVec3 position, size;
    double cosine, sine; // of half its turn about y
    double density;
    tpVec3 anchor; // of the joint to the link before
    double side;   // of the joint's axis, along y
    double damping, effort;
} Link;

// An arm of three links that is folded: the last one lies 2 mm deep in the first.
static const Link links[3] = {
    { { -0.07592452, 0.0, 0.28794362 },
      { 0.13837645, 0.03669632, 0.05945885 },
      0.07865840,
      0.99690163,
      1112.0,
      { 0.0, 0.0, 0.3 },
      1.0,
      5.72,
      7.0 },
    { { -0.07610741, 0.0, 0.26077373 },
      { 0.13902262, 0.04516066, 0.03106144 },
      0.99515509,
      0.09831762,
      538.6,
      { -0.15184905, 0.0, 0.27588723 },
      -1.0,
      2.76,
      27.0 },
    { { -0.12805587, 0.0, 0.19970690 },
      { 0.24427311, 0.05417458, 0.05792558 },
      0.17186786,
      0.98512001,
      708.3,
      { -0.00036578, 0.0, 0.24566023 },
      1.0,
      2.72,
      27.0 },
};

static double massOf(const Link* link) {
    return link->density * link->size.x * link->size.y * link->size.z;
}

static tpBodyId addLink(tpWorld* world, const Link* link, tpBodyId parent) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = link->position;
    def.rotation = tpMakeQuat(link->cosine, 0.0, link->sine, 0.0);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = link->density;
    shape.material = 1;
    tpCreateBox(world, body, &shape, &(tpBox){ link->size }, NULL);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyA = parent;
    joint.bodyB = body;
    joint.anchorA = joint.anchorB = link->anchor;
    joint.axis = tpMakeVec3(0.0, link->side, 0.0);
    joint.coordinate.hasLimits = true;
    joint.coordinate.limits[0] = 0.0;
    joint.coordinate.limits[1] = 2.5;
    joint.coordinate.hasServo = true;
    joint.coordinate.servo.stiffness = 450.0;
    joint.coordinate.servo.damping = link->damping;
    joint.coordinate.servo.effort = link->effort;
    tpError error = { 0 };
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, &error)));
    return body;
}

// Nothing acts on the arm, and it begins at rest where its servos want it. A contact that gives by
// g = (1 / m_A + 1 / m_B) / s or more, s = x (12 + x) with x = 0.34 pi, adds at most b^2 / (8 g)
// while it takes back an overlap with the speed b: two faces meet in eight points at most.
static void keepFolded(double h) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.8, 0.0);
    tpBodyId body = { 0 };
    for (int i = 0; i < 3; ++i) {
        body = addLink(world, &links[i], body);
    }
    double x = 0.34 * 3.14159265358979, s = x * (12.0 + x);
    double give = (1.0 / massOf(&links[0]) + 1.0 / massOf(&links[2])) / s;
    double most = 8.0 * pushOutSpeed * pushOutSpeed / (8.0 * give);
    for (int k = 0; k < 0.5 / h; ++k) {
        tpWorld_Step(world, h);
        CHECK_BELOW(tpWorld_GetKineticEnergy(world), most);
    }
    CHECK_BELOW(tpWorld_GetKineticEnergy(world), 1e-3);
    tpDestroyWorld(world);
}

static void foldedArmsGainNoEnergy(void** state) {
    (void)state;
    keepFolded(1.0 / 200.0);
    keepFolded(1.0 / 1000.0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(foldedArmsGainNoEnergy) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
