// Energy from nothing is taken from the islands that have gained it, and from no others.

#include "dynamics/island_energy.h"

#include <string.h>

#include "dynamics/forces.h"
#include "support/floor.h"
#include "world/world.h"

static tpBodyId addRunner(tpWorld* world, tpVec3 place) {
    tpBodyDef body = tpDefaultBodyDef();
    body.position = place;
    body.hasMass = true;
    body.mass.mass = 3.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.1));
    body.velocity = tpMakeVec3(2.0, 0.0, 0.0);
    body.angularVelocity = tpMakeVec3(0.0, 5.0, 0.0);
    return tpCreateBody(world, &body, NULL);
}

// Two bodies on a joint, of which one has become faster, give back what they gained together. One
// that has lost energy, one that has fallen, and one that a force has accelerated are left alone.
static void gainsAreTakenFromThoseThatGained(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpMakeVec3(0.0, 0.0, -10.0);
    tpWorld* world = tpCreateWorld(&def);
    tpJointDef joint = tpDefaultJointDef();
    joint.bodyA = addRunner(world, tpZeroVec3());
    joint.bodyB = addRunner(world, tpMakeVec3(1.0, 0.0, 0.0));
    joint.type = tp_ballJoint;
    tpCreateJoint(world, &joint, NULL);
    for (int i = 2; i < 5; ++i) {
        addRunner(world, tpMakeVec3(10.0 * i, 0.0, 0.0));
    }
    tpForceDef force = tpDefaultForceDef();
    force.force = tpMakeVec3(1.0, 0.0, 0.0);
    force.body = tpWorld_BodyId(world, 4);
    tpCreateForce(world, &force, NULL);
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    double energy = tpSystem_Energy(system); // 6 + 2.5 J each
    CHECK_NEAR(energy, 5 * 8.5, 1e-12);
    system->velocities.data[1].linear.x = 4.0;  // 18 J more
    system->velocities.data[2].angular.y = 0.0; // 2.5 J less
    system->poses.data[3].position.z = -0.1;    // 3 J of gravity's
    system->velocities.data[3].linear.z = -sqrt(2.0);
    system->velocities.data[4].linear.x = 3.0; // 7.5 J of work
    tpVelocity before[5];
    memcpy(before, system->velocities.data, sizeof(before));
    double rise = tpSystem_Energy(system) - energy - 7.5;
    CHECK_NEAR(rise, 15.5, 1e-12);
    CHECK_NEAR(tpSystem_TakeGains(system, &start, rise), 18.0, 1e-11);
    const double factor = sqrt(17.0 / 35.0);
    for (int i = 0; i < 5; ++i) {
        double part = i < 2 ? factor : 1.0;
        const tpVelocity* now = &system->velocities.data[i];
        CHECK_NEAR(now->linear.x, part * before[i].linear.x, 1e-12);
        CHECK_NEAR(now->linear.z, part * before[i].linear.z, 1e-12);
        CHECK_NEAR(now->angular.y, part * before[i].angular.y, 1e-12);
    }
    tpDestroyWorld(world);
}

// Of islands on which forces act only the work of all together is known: what they have gained
// beyond it is taken in proportion to their gains.
static void drivenIslandsShareWhatIsTaken(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    tpForceDef force = tpDefaultForceDef();
    force.force = tpMakeVec3(1.0, 0.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        tpBodyId body = addRunner(world, tpMakeVec3(10.0 * i, 0.0, 0.0));
        if (i < 2) {
            force.body = body;
            tpCreateForce(world, &force, NULL);
        }
    }
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    system->velocities.data[0].linear.x = 4.0;                               // 18 J more
    system->velocities.data[1].linear.x = sqrt(4.0 + 6.0);                   // 9 J more
    CHECK_NEAR(tpSystem_TakeGains(system, &start, 27.0 - 9.0), 18.0, 1e-11); // 9 J of work
    CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 0), 8.5 + 18.0 - 12.0, 1e-12);
    CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 1), 8.5 + 9.0 - 6.0, 1e-12);
    CHECK_NEAR(system->velocities.data[2].linear.x, 2.0, 0.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gainsAreTakenFromThoseThatGained),
        cmocka_unit_test(drivenIslandsShareWhatIsTaken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
