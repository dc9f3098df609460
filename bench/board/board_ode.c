// ODE on a scene of the board: board_ode SCENE STEP TABLE quick|exact
//
// Its iterative stepper with 20 iterations or its direct one; ERP and CFM as they come, friction
// pyramids along the velocity (dContactApprox1), nothing ever disabled. A kinematic body is a body
// of its own that ODE moves.

#include "board_scene.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

enum { pointsAPair = 8 };

typedef struct OdeRun {
    BoardScene* board;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID* bodies;
} OdeRun;

static void collide(void* context, dGeomID a, dGeomID b) {
    OdeRun* run = context;
    dBodyID bodyA = dGeomGetBody(a), bodyB = dGeomGetBody(b);
    if (bodyA != NULL && bodyB != NULL && dAreConnected(bodyA, bodyB)) {
        return;
    }
    dContact contacts[pointsAPair];
    int count = dCollide(a, b, pointsAPair, &contacts[0].geom, sizeof(dContact));
    for (int i = 0; i < count; ++i) {
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = run->board->friction;
        if (run->board->restitution > 0.0) {
            contacts[i].surface.mode |= dContactBounce;
            contacts[i].surface.bounce = run->board->restitution;
            contacts[i].surface.bounce_vel = 0.1; // m/s, that of its documents
        }
        dJointAttach(dJointCreateContact(run->world, run->contacts, &contacts[i]), bodyA, bodyB);
    }
}

static void setMass(dBodyID body, tpMassProperties mass) {
    dMass ode;
    dMassSetParameters(&ode, mass.mass, 0, 0, 0, mass.inertia.cx.x, mass.inertia.cy.y,
                       mass.inertia.cz.z, 0, 0, 0);
    dBodySetMass(body, &ode);
}

static dBodyID addBody(OdeRun* run, int index) {
    const tpSceneBody* body = &run->board->scene->bodies.items[index];
    const tpSceneShape* shape = &body->shapes.items[0];
    dGeomID geom = NULL;
    if (shape->type == tp_planeShape) {
        dCreatePlane(run->space, shape->normal.x, shape->normal.y, shape->normal.z, shape->offset);
        return NULL;
    }
    if (shape->type == tp_sphereShape) {
        geom = dCreateSphere(run->space, shape->radius);
    } else if (shape->type == tp_boxShape) {
        geom = dCreateBox(run->space, shape->size.x, shape->size.y, shape->size.z);
    } else {
        boardCannot("such shape here");
    }
    tpBodyId id = tpWorld_GetBody(run->board->world, index);
    tpMassProperties mass = tpBody_GetMass(run->board->world, id);
    tpVec3 x = tpBody_GetPosition(run->board->world, id);
    tpQuat r = tpBody_GetRotation(run->board->world, id);
    dQuaternion q = { r.w, r.x, r.y, r.z };
    dBodyID ode = dBodyCreate(run->world);
    if (body->kind == tp_kinematicBody) {
        dBodySetKinematic(ode);
    } else {
        setMass(ode, mass);
    }
    dGeomSetBody(geom, ode);
    dBodySetPosition(ode, x.x, x.y, x.z);
    dBodySetQuaternion(ode, q);
    if (body->kind == tp_dynamicBody && tpLength(mass.center) > 0.0) {
        dGeomSetOffsetPosition(geom, -mass.center.x, -mass.center.y, -mass.center.z);
    }
    dBodySetLinearVel(ode, body->velocity.x, body->velocity.y, body->velocity.z);
    dBodySetAngularVel(ode, body->angularVelocity.x, body->angularVelocity.y,
                       body->angularVelocity.z);
    return ode;
}

static void addJoint(OdeRun* run, const tpSceneJoint* joint) {
    dBodyID second = run->bodies[joint->bodies[1].index];
    dBodyID first = joint->bodies[0].index >= 0 ? run->bodies[joint->bodies[0].index] : NULL;
    if (joint->type == tp_ballJoint) {
        dJointID ball = dJointCreateBall(run->world, NULL);
        dJointAttach(ball, second, first);
        dJointSetBallAnchor(ball, joint->anchor.x, joint->anchor.y, joint->anchor.z);
    } else if (joint->type == tp_revoluteJoint) {
        dJointID hinge = dJointCreateHinge(run->world, NULL);
        dJointAttach(hinge, second, first);
        dJointSetHingeAnchor(hinge, joint->anchor.x, joint->anchor.y, joint->anchor.z);
        dJointSetHingeAxis(hinge, joint->axis.x, joint->axis.y, joint->axis.z);
    } else {
        boardCannot("such joint here");
    }
}

static void writeRow(OdeRun* run, int64_t step) {
    startRow(run->board, step);
    for (int i = 0; i < run->board->scene->bodies.count; ++i) {
        dBodyID body = run->bodies[i];
        if (run->board->scene->bodies.items[i].kind == tp_fixedBody) {
            continue;
        }
        const dReal *x = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
        const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
        addState(run->board, (BoardState){ { x[0], x[1], x[2] },
                                           { q[0], q[1], q[2], q[3] },
                                           { v[0], v[1], v[2] },
                                           { w[0], w[1], w[2] } });
    }
    endRow(run->board);
}

int main(int argumentCount, char** arguments) {
    BoardScene board = openBoardScene(argumentCount, arguments);
    if (board.torsionalArm > 0.0) {
        boardCannot("torsional friction");
    }
    bool isExact = argumentCount > 4 && strcmp(arguments[4], "exact") == 0;
    dInitODE2(0);
    OdeRun run = { &board, dWorldCreate(), dHashSpaceCreate(NULL), dJointGroupCreate(0), NULL };
    tpVec3 gravity = tpWorld_GetGravity(board.world);
    dWorldSetGravity(run.world, gravity.x, gravity.y, gravity.z);
    dWorldSetAutoDisableFlag(run.world, 0);
    run.bodies = calloc((size_t)board.scene->bodies.count, sizeof(dBodyID));
    for (int i = 0; i < board.scene->bodies.count; ++i) {
        run.bodies[i] = addBody(&run, i);
    }
    for (int i = 0; i < board.scene->joints.count; ++i) {
        addJoint(&run, &board.scene->joints.items[i]);
    }
    writeRow(&run, 0);
    for (int64_t k = 1; k <= board.stepCount; ++k) {
        dSpaceCollide(run.space, &run, collide);
        if (isExact) {
            dWorldStep(run.world, board.step);
        } else {
            dWorldQuickStep(run.world, board.step);
        }
        dJointGroupEmpty(run.contacts);
        writeRow(&run, k);
    }
    free(run.bodies);
    dJointGroupDestroy(run.contacts);
    dSpaceDestroy(run.space);
    dWorldDestroy(run.world);
    dCloseODE();
    closeBoardScene(&board);
    return 0;
}
