// Bullet on a benchmark scene: run_bullet SCENE STEPS EVERY OUT [ITERATIONS]
//
// Its sequential impulses with 10 iterations (its default), dynamic tree, nothing ever deactivated.
// Bullet multiplies the two bodies' coefficients, so each gets the square root.

#include "scene_bodies.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

static btVector3 toBullet(tpVec3 v) {
    return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z));
}

static btTransform toBullet(tpPose p) {
    return btTransform(btQuaternion(btScalar(p.rotation.x), btScalar(p.rotation.y),
                                    btScalar(p.rotation.z), btScalar(p.rotation.w)),
                       toBullet(p.position));
}

static tpPose fromBullet(const btTransform& t) {
    btQuaternion q = t.getRotation();
    return tpPose{ { double(t.getOrigin().x()), double(t.getOrigin().y()),
                     double(t.getOrigin().z()) },
                   { double(q.w()), double(q.x()), double(q.y()), double(q.z()) } };
}

struct BulletRun {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{ &dispatcher, &broadphase, &solver, &configuration };
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;

    void add(const BenchBody& body, const BenchScene& scene) {
        if (body.type == tp_boxShape) {
            shapes.push_back(std::make_unique<btBoxShape>(toBullet(tpScale(0.5, body.size))));
        } else {
            shapes.push_back(std::make_unique<btSphereShape>(btScalar(body.size.x)));
        }
        btRigidBody::btRigidBodyConstructionInfo info(btScalar(body.isFixed ? 0.0 : body.mass),
                                                      nullptr, shapes.back().get(),
                                                      toBullet(body.inertia));
        info.m_startWorldTransform = toBullet(body.pose);
        info.m_friction = btScalar(std::sqrt(scene.friction));
        info.m_restitution = btScalar(std::sqrt(scene.restitution));
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(bodies.back().get());
    }

    ~BulletRun() {
        for (auto& body : bodies) {
            world.removeRigidBody(body.get());
        }
    }

    int contacts() {
        int count = 0;
        for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
            count += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
        }
        return count;
    }
};

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "run_bullet SCENE STEPS EVERY OUT [ITERATIONS]\n");
        return 2;
    }
    BenchScene scene = openBenchScene(argv[1], "free-flight", 1);
    auto run = std::make_unique<BulletRun>();
    run->world.setGravity(toBullet(scene.gravity));
    run->world.getSolverInfo().m_numIterations = argc > 5 ? std::atoi(argv[5]) : 10;
    for (int i = 0; i < scene.bodyCount; ++i) {
        run->add(scene.bodies[i], scene);
    }
    int steps = std::atoi(argv[2]);
    RunJournal* journal = openRunJournal(argv[4], scene.bodyCount, std::atoi(argv[3]));
    double contacts = 0.0;
    for (int i = 0; i < steps; ++i) {
        runJournal_StartStep(journal);
        run->world.stepSimulation(btScalar(scene.step), 0);
        runJournal_EndStep(journal);
        contacts += run->contacts();
        for (int b = 0; runJournal_WantsPoses(journal) && b < scene.bodyCount; ++b) {
            runJournal_AddPose(journal, fromBullet(run->bodies[size_t(b)]->getWorldTransform()));
        }
    }
    closeRunJournal(journal, "Bullet", contacts / steps, "");
    run.reset();
    closeBenchScene(&scene);
    return 0;
}
