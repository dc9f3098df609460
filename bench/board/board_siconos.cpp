// Siconos on a scene of the board: board_siconos SCENE STEP TABLE
//
// Moreau and Jean's time stepping with theta one half, Bullet's collision detection, friction in
// the true cone by its nonsmooth Gauss-Seidel to 1e-10. Joints and bodies that move as told are not
// asked for here.

#include "board_scene.h"

#include <RigidBodyDS.hpp>
#include <SiconosBulletCollisionManager.hpp>
#include <SiconosKernel.hpp>
#include <SiconosShape.hpp>
#include <SolverOptions.h>

#include <memory>
#include <vector>

static SP::SiconosVector place(tpVec3 x, tpQuat q) {
    auto vector = std::make_shared<SiconosVector>(7);
    const double numbers[] = { x.x, x.y, x.z, q.w, q.x, q.y, q.z };
    for (unsigned i = 0; i < 7; ++i) {
        vector->setValue(i, numbers[i]);
    }
    return vector;
}

static tpQuat conjugate(tpQuat q) {
    return tpQuat{ q.w, -q.x, -q.y, -q.z };
}

static SP::SiconosShape shapeOf(const tpSceneShape& shape) {
    if (shape.type == tp_planeShape) {
        return std::make_shared<SiconosPlane>();
    }
    if (shape.type == tp_sphereShape) {
        return std::make_shared<SiconosSphere>(shape.radius);
    }
    if (shape.type != tp_boxShape) {
        boardCannot("such shape here");
    }
    auto box = std::make_shared<SiconosBox>(shape.size.x, shape.size.y, shape.size.z);
    box->setInsideMargin(0.01 * shape.size.z);
    box->setOutsideMargin(0.0);
    return box;
}

struct SiconosRun {
    SP::NonSmoothDynamicalSystem model;
    SP::SiconosBulletCollisionManager collisions;
    std::vector<SP::RigidBodyDS> bodies; // empty for fixed ones

    void addBody(const BoardScene& board, int index) {
        const tpSceneBody& body = board.scene->bodies.items[index];
        tpBodyId id = tpWorld_GetBody(board.world, index);
        tpMassProperties mass = tpBody_GetMass(board.world, id);
        tpQuat turn = tpBody_GetRotation(board.world, id);
        auto contactors = std::make_shared<SiconosContactorSet>();
        contactors->push_back(std::make_shared<SiconosContactor>(shapeOf(body.shapes.items[0])));
        if (body.kind == tp_fixedBody) {
            collisions->insertStaticContactorSet(contactors,
                                                 place(tpBody_GetPosition(board.world, id), turn));
            bodies.push_back(nullptr);
            return;
        }
        if (body.kind == tp_kinematicBody) {
            boardCannot("bodies that move as told here");
        }
        if (tpLength(mass.center) > 0.0) {
            boardCannot("torsional friction");
        }
        auto inertia = std::make_shared<SimpleMatrix>(3, 3);
        inertia->zero();
        (*inertia)(0, 0) = mass.inertia.cx.x;
        (*inertia)(1, 1) = mass.inertia.cy.y;
        (*inertia)(2, 2) = mass.inertia.cz.z;
        auto velocity = std::make_shared<SiconosVector>(6);
        tpVec3 spin = tpRotate(conjugate(turn), body.angularVelocity); // in the body's axes
        const double numbers[] = { body.velocity.x, body.velocity.y, body.velocity.z,
                                   spin.x,          spin.y,          spin.z };
        auto force = std::make_shared<SiconosVector>(3);
        tpVec3 gravity = tpWorld_GetGravity(board.world);
        const double weights[] = { mass.mass * gravity.x, mass.mass * gravity.y,
                                   mass.mass * gravity.z };
        for (unsigned i = 0; i < 6; ++i) {
            velocity->setValue(i, numbers[i]);
            if (i < 3) {
                force->setValue(i, weights[i]);
            }
        }
        auto dynamic = std::make_shared<RigidBodyDS>(
            place(tpBody_GetPosition(board.world, id), turn), velocity, mass.mass, inertia);
        dynamic->setContactors(contactors);
        dynamic->setFExtPtr(force);
        model->insertDynamicalSystem(dynamic);
        bodies.push_back(dynamic);
    }

    void write(BoardScene& board, int64_t step) {
        startRow(&board, step);
        for (auto& body : bodies) {
            if (body == nullptr) {
                continue;
            }
            const SiconosVector &q = *body->q(), &v = *body->twist();
            tpQuat turn = { q(3), q(4), q(5), q(6) };
            addState(&board, BoardState{ { q(0), q(1), q(2) },
                                         turn,
                                         { v(0), v(1), v(2) },
                                         tpRotate(turn, tpVec3{ v(3), v(4), v(5) }) });
        }
        endRow(&board);
    }
};

int main(int argumentCount, char** arguments) {
    BoardScene board = openBoardScene(argumentCount, arguments);
    if (board.torsionalArm > 0.0) {
        boardCannot("torsional friction");
    }
    if (board.scene->joints.count > 0) {
        boardCannot("joints here");
    }
    double end = board.step * double(board.stepCount);
    SiconosBulletOptions options;
    SiconosRun run = { std::make_shared<NonSmoothDynamicalSystem>(0.0, 2.0 * end + 1.0),
                       std::make_shared<SiconosBulletCollisionManager>(options),
                       {} };
    run.collisions->insertNonSmoothLaw(
        std::make_shared<NewtonImpactFrictionNSL>(board.restitution, 0.0, board.friction, 3), 0, 0);
    for (int i = 0; i < board.scene->bodies.count; ++i) {
        run.addBody(board, i);
    }
    auto times = std::make_shared<TimeDiscretisation>(0.0, board.step);
    auto problem = std::make_shared<FrictionContact>(3);
    problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    problem->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-10;
    auto simulation = std::make_shared<TimeStepping>(run.model, times);
    simulation->insertIntegrator(std::make_shared<MoreauJeanOSI>(0.5));
    simulation->insertNonSmoothProblem(problem);
    simulation->insertInteractionManager(run.collisions);
    simulation->setNewtonMaxIteration(20);
    run.write(board, 0);
    for (int64_t k = 1; k <= board.stepCount; ++k) {
        simulation->computeOneStep();
        simulation->nextStep();
        run.write(board, k);
    }
    closeBoardScene(&board);
    return 0;
}
