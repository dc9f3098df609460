// Bullet on a scene of the board: board_bullet SCENE STEP TABLE
//
// Defaults of its sequential impulses, nothing ever deactivated. Bullet multiplies the two bodies'
// coefficients, so each gets the square root.

#include "board_scene.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

static btVector3 toBullet(tpVec3 v) {
    return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z));
}

static btQuaternion toBullet(tpQuat q) {
    return btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w));
}

static tpVec3 fromBullet(const btVector3& v) {
    return tpVec3{ double(v.x()), double(v.y()), double(v.z()) };
}

struct BulletRun {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{ &dispatcher, &broadphase, &solver, &configuration };
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;

    btCollisionShape* addShape(const tpSceneShape& shape, tpVec3 center) {
        if (shape.type == tp_planeShape) {
            shapes.push_back(std::make_unique<btStaticPlaneShape>(toBullet(shape.normal),
                                                                  btScalar(shape.offset)));
        } else if (shape.type == tp_sphereShape) {
            shapes.push_back(std::make_unique<btSphereShape>(btScalar(shape.radius)));
        } else if (shape.type == tp_boxShape) {
            shapes.push_back(std::make_unique<btBoxShape>(toBullet(tpScale(0.5, shape.size))));
        } else {
            boardCannot("such shape here");
        }
        if (tpLength(center) > 0.0) {
            auto compound = std::make_unique<btCompoundShape>();
            compound->addChildShape(
                btTransform(btQuaternion::getIdentity(), toBullet(tpScale(-1.0, center))),
                shapes.back().get());
            shapes.push_back(std::move(compound));
        }
        return shapes.back().get();
    }

    void addBody(const BoardScene& board, int index) {
        const tpSceneBody& body = board.scene->bodies.items[index];
        tpBodyId id = tpWorld_GetBody(board.world, index);
        tpMassProperties mass = tpBody_GetMass(board.world, id);
        bool isDynamic = body.kind == tp_dynamicBody;
        btRigidBody::btRigidBodyConstructionInfo info(
            btScalar(isDynamic ? mass.mass : 0.0), nullptr,
            addShape(body.shapes.items[0], isDynamic ? mass.center : tpVec3{ 0, 0, 0 }),
            btVector3(btScalar(mass.inertia.cx.x), btScalar(mass.inertia.cy.y),
                      btScalar(mass.inertia.cz.z)));
        info.m_startWorldTransform = btTransform(toBullet(tpBody_GetRotation(board.world, id)),
                                                 toBullet(tpBody_GetPosition(board.world, id)));
        info.m_friction = btScalar(std::sqrt(board.friction));
        info.m_restitution = btScalar(std::sqrt(board.restitution));
        // Combined as spin a x friction b + spin b x friction a.
        info.m_spinningFriction = btScalar(std::sqrt(board.friction) * board.torsionalArm / 2.0);
        bodies.push_back(std::make_unique<btRigidBody>(info));
        btRigidBody& bullet = *bodies.back();
        bullet.setActivationState(DISABLE_DEACTIVATION);
        if (body.kind == tp_kinematicBody) {
            bullet.setCollisionFlags(bullet.getCollisionFlags() |
                                     btCollisionObject::CF_KINEMATIC_OBJECT);
        }
        bullet.setLinearVelocity(toBullet(body.velocity));
        bullet.setAngularVelocity(toBullet(body.angularVelocity));
        world.addRigidBody(&bullet);
    }

    void addJoint(const tpSceneJoint& joint) {
        btRigidBody& body = *bodies[size_t(joint.bodies[1].index)];
        btRigidBody* other =
            joint.bodies[0].index >= 0 ? bodies[size_t(joint.bodies[0].index)].get() : nullptr;
        btVector3 anchor = toBullet(joint.anchor), axis = toBullet(joint.axis);
        auto local = [&](btRigidBody& b, const btVector3& p) {
            return b.getWorldTransform().inverse() * p;
        };
        auto turned = [&](btRigidBody& b, const btVector3& a) {
            return b.getWorldTransform().getBasis().transpose() * a;
        };
        if (joint.type == tp_ballJoint && other == nullptr) {
            joints.push_back(std::make_unique<btPoint2PointConstraint>(body, local(body, anchor)));
        } else if (joint.type == tp_revoluteJoint && other == nullptr) {
            joints.push_back(
                std::make_unique<btHingeConstraint>(body, local(body, anchor), turned(body, axis)));
        } else if (joint.type == tp_revoluteJoint) {
            joints.push_back(std::make_unique<btHingeConstraint>(
                *other, body, local(*other, anchor), local(body, anchor), turned(*other, axis),
                turned(body, axis)));
        } else {
            boardCannot("such joint here");
        }
        world.addConstraint(joints.back().get(), true);
    }

    // A kinematic body is moved by its owner before each step.
    void moveKinematic(const BoardScene& board) {
        for (int i = 0; i < board.scene->bodies.count; ++i) {
            if (board.scene->bodies.items[i].kind == tp_kinematicBody) {
                btTransform next;
                btTransformUtil::integrateTransform(
                    bodies[size_t(i)]->getWorldTransform(),
                    toBullet(board.scene->bodies.items[i].velocity),
                    toBullet(board.scene->bodies.items[i].angularVelocity), btScalar(board.step),
                    next);
                bodies[size_t(i)]->setWorldTransform(next);
                bodies[size_t(i)]->setLinearVelocity(
                    toBullet(board.scene->bodies.items[i].velocity));
                bodies[size_t(i)]->setAngularVelocity(
                    toBullet(board.scene->bodies.items[i].angularVelocity));
            }
        }
    }

    void write(BoardScene& board, int64_t step) {
        startRow(&board, step);
        for (int i = 0; i < board.scene->bodies.count; ++i) {
            if (board.scene->bodies.items[i].kind == tp_fixedBody) {
                continue;
            }
            const btRigidBody& body = *bodies[size_t(i)];
            btQuaternion q = body.getWorldTransform().getRotation();
            addState(&board, BoardState{ fromBullet(body.getWorldTransform().getOrigin()),
                                         tpQuat{ double(q.w()), double(q.x()), double(q.y()),
                                                 double(q.z()) },
                                         fromBullet(body.getLinearVelocity()),
                                         fromBullet(body.getAngularVelocity()) });
        }
        endRow(&board);
    }

    ~BulletRun() {
        for (auto& joint : joints) {
            world.removeConstraint(joint.get());
        }
        for (auto& body : bodies) {
            world.removeRigidBody(body.get());
        }
    }
};

int main(int argumentCount, char** arguments) {
    BoardScene board = openBoardScene(argumentCount, arguments);
    auto run = std::make_unique<BulletRun>();
    run->world.setGravity(toBullet(tpWorld_GetGravity(board.world)));
    for (int i = 0; i < board.scene->bodies.count; ++i) {
        run->addBody(board, i);
    }
    for (int i = 0; i < board.scene->joints.count; ++i) {
        run->addJoint(board.scene->joints.items[i]);
    }
    run->write(board, 0);
    for (int64_t k = 1; k <= board.stepCount; ++k) {
        run->moveKinematic(board);
        run->world.stepSimulation(btScalar(board.step), 0);
        run->write(board, k);
    }
    run.reset();
    closeBoardScene(&board);
    return 0;
}
