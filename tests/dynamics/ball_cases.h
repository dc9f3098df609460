// A ball over a floor, as a world and as one contact: what tests of rows start from.

#ifndef TIPPE_TESTS_DYNAMICS_BALL_CASES_H
#define TIPPE_TESTS_DYNAMICS_BALL_CASES_H

#include "dynamics/rows.h"
#include "support/check.h"
#include "world/world.h"

// The moment of the ball is far from that of a real one, so that no factor hides another.
static const double ballMass = 2.0, ballMoment = 0.05, ballRadius = 0.25;

static inline tpWorld* makeEmptyWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpMakeVec3(0.0, 0.0, -10.0);
    return tpCreateWorld(&def);
}

// Returns the body's number.
static inline int addBall(tpWorld* world, tpVec3 place, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    def.hasMass = true;
    def.mass.mass = ballMass;
    def.mass.inertia = tpDiagonal(tpMakeVec3(ballMoment, ballMoment, ballMoment));
    int body = world->system.bodyCount;
    tpCreateBody(world, &def, NULL);
    return body;
}

static inline int addFloor(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    int body = world->system.bodyCount;
    tpCreateBody(world, &def, NULL);
    return body;
}

// The lowest point of body A on body B, which is below it.
static inline tpContact makeContact(const tpSystem* system, int a, int b) {
    tpContact contact = { .bodyA = a, .bodyB = b, .normal = tpMakeVec3(0.0, 0.0, 1.0) };
    tpVec3 down = tpMakeVec3(0.0, 0.0, -ballRadius);
    contact.pointA = contact.pointB = tpAdd(system->poses.data[a].position, down);
    return contact;
}

static inline tpContactLaw makeLaw(double mu) {
    return (tpContactLaw){ .mu = mu,
                           .muStatic = mu,
                           .ellipse = { 1.0, 1.0 },
                           .tangents = { tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.0, 1.0, 0.0) } };
}

// Rows of the given contacts with q from the velocities of the system. 3 rows each.
static inline tpRows makeRows(tpSystem* system, const tpContact* contacts, int count, double mu) {
    tpRows rows;
    tpContactLaw law = makeLaw(mu);
    assert_true(tpRows_Create(&rows, system, count, 3 * count));
    tpRows_SetMasses(&rows, system);
    for (int i = 0; i < count; ++i) {
        tpRows_AddContact(&rows, system, system->poses.data, &contacts[i], i, &law, 0.0);
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < rows.dimensions[i]; ++k) {
            int row = rows.firstRows[i] + k;
            rows.q[row] = tpRows_RowVelocity(&rows, row, system->velocities.data, contacts[i].bodyA,
                                             contacts[i].bodyB);
        }
    }
    return rows;
}

#endif
