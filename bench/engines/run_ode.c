// ODE on a benchmark scene: run_ode SCENE STEPS EVERY OUT [ITERATIONS]
//
// Its quick stepper with 20 iterations (its default), sweep and prune, at most 8 points per pair,
// nothing ever disabled. Bounces slower than 2 g h are left out, as Tippe does.

#include "scene_bodies.h"

#include <ode/ode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { pointsAPair = 8 };

typedef struct OdeRun {
    const BenchScene* scene;
    dWorldID world;
    dSpaceID space;
    dJointGroupID joints;
    dGeomID* geoms;
    double threshold;
    long contactCount;
} OdeRun;

static void collide(void* context, dGeomID a, dGeomID b) {
    OdeRun* run = context;
    dBodyID bodyA = dGeomGetBody(a), bodyB = dGeomGetBody(b);
    if (bodyA == NULL && bodyB == NULL) {
        return;
    }
    dContact contacts[pointsAPair];
    int count = dCollide(a, b, pointsAPair, &contacts[0].geom, sizeof(dContact));
    for (int i = 0; i < count; ++i) {
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = run->scene->friction;
        if (run->scene->restitution > 0.0) {
            contacts[i].surface.mode |= dContactBounce;
            contacts[i].surface.bounce = run->scene->restitution;
            contacts[i].surface.bounce_vel = run->threshold;
        }
        dJointAttach(dJointCreateContact(run->world, run->joints, &contacts[i]), bodyA, bodyB);
    }
    run->contactCount += count;
}

static dGeomID addBody(OdeRun* run, const BenchBody* body) {
    dGeomID geom = body->type == tp_boxShape
                       ? dCreateBox(run->space, body->size.x, body->size.y, body->size.z)
                       : dCreateSphere(run->space, body->size.x);
    if (!body->isFixed) {
        dBodyID ode = dBodyCreate(run->world);
        dMass mass;
        dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia.x, body->inertia.y,
                           body->inertia.z, 0, 0, 0);
        dBodySetMass(ode, &mass);
        dGeomSetBody(geom, ode);
    }
    dGeomSetPosition(geom, body->pose.position.x, body->pose.position.y, body->pose.position.z);
    dQuaternion q = { body->pose.rotation.w, body->pose.rotation.x, body->pose.rotation.y,
                      body->pose.rotation.z };
    dGeomSetQuaternion(geom, q);
    return geom;
}

static tpPose poseOf(dGeomID geom) {
    const dReal* p = dGeomGetPosition(geom);
    dQuaternion q;
    dGeomGetQuaternion(geom, q);
    tpPose pose = { { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } };
    return pose;
}

int main(int argc, char** argv) {
    if (argc < 5) {
        fprintf(stderr, "run_ode SCENE STEPS EVERY OUT [ITERATIONS]\n");
        return 2;
    }
    BenchScene scene = openBenchScene(argv[1], "free-flight", 1);
    dInitODE2(0);
    OdeRun run = { &scene,
                   dWorldCreate(),
                   dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XZY),
                   dJointGroupCreate(0),
                   NULL,
                   2.0 * scene.step * tpLength(scene.gravity),
                   0 };
    run.geoms = calloc((size_t)scene.bodyCount, sizeof(dGeomID));
    dWorldSetGravity(run.world, scene.gravity.x, scene.gravity.y, scene.gravity.z);
    dWorldSetAutoDisableFlag(run.world, 0);
    dWorldSetQuickStepNumIterations(run.world, argc > 5 ? atoi(argv[5]) : 20);
    for (int i = 0; i < scene.bodyCount; ++i) {
        run.geoms[i] = addBody(&run, &scene.bodies[i]);
    }
    int steps = atoi(argv[2]);
    RunJournal* journal = openRunJournal(argv[4], scene.bodyCount, atoi(argv[3]));
    for (int i = 0; i < steps; ++i) {
        runJournal_StartStep(journal);
        dSpaceCollide(run.space, &run, collide);
        dWorldQuickStep(run.world, scene.step);
        dJointGroupEmpty(run.joints);
        runJournal_EndStep(journal);
        for (int b = 0; runJournal_WantsPoses(journal) && b < scene.bodyCount; ++b) {
            runJournal_AddPose(journal, poseOf(run.geoms[b]));
        }
    }
    closeRunJournal(journal, "ODE", (double)run.contactCount / steps, "");
    free(run.geoms);
    dJointGroupDestroy(run.joints);
    dSpaceDestroy(run.space);
    dWorldDestroy(run.world);
    dCloseODE();
    closeBenchScene(&scene);
    return 0;
}
