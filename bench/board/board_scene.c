#include "board_scene.h"

#include <math.h>
#include <stdlib.h>

static void fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(2);
}

void boardCannot(const char* what) {
    fprintf(stderr, "has no %s\n", what);
    exit(3);
}

static void writeHeader(BoardScene* board) {
    static const char* const columns[] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                           "vx", "vy", "vz", "wx", "wy", "wz" };
    fputs("time", board->table);
    for (int i = 0; i < board->scene->bodies.count; ++i) {
        const tpSceneBody* body = &board->scene->bodies.items[i];
        for (int k = 0; body->kind != tp_fixedBody && k < 13; ++k) {
            fprintf(board->table, ",%s.%s", body->name.text, columns[k]);
        }
    }
    fputs("\n", board->table);
}

BoardScene openBoardScene(int argumentCount, char** arguments) {
    BoardScene board = { 0 };
    tpError error;
    if (argumentCount < 4) {
        fail("arguments: SCENE STEP TABLE");
    }
    tpSceneOverrides overrides = { .stepper = "free-flight", .step = strtod(arguments[2], NULL) };
    if (tpReadScene(arguments[1], NULL, &board.scene, &error) != tp_success ||
        tpScene_Override(board.scene, &overrides, &error) != tp_success ||
        tpScene_CreateWorld(board.scene, NULL, 1, &board.world, &error) != tp_success) {
        fail(error.message);
    }
    const tpSceneMaterial* material = &board.scene->materials.items[0];
    bool isNumber = material->friction.part.record == NULL;
    board.friction = isNumber ? material->friction.number : material->friction.dynamicCoefficient;
    board.torsionalArm = isNumber ? 0.0 : material->friction.torsional;
    board.restitution = material->restitution;
    board.step = board.scene->simulation.step;
    board.stepCount = tpScene_GetStepCount(board.scene);
    board.table = fopen(arguments[3], "w");
    if (board.table == NULL) {
        fail("the table cannot be written");
    }
    writeHeader(&board);
    return board;
}

void closeBoardScene(BoardScene* board) {
    fclose(board->table);
    tpDestroyWorld(board->world);
    tpDestroyScene(board->scene);
}

void startRow(BoardScene* board, int64_t step) {
    fprintf(board->table, "%.17g", (double)step * board->step);
}

void addState(BoardScene* board, BoardState s) {
    const double numbers[] = { s.position.x, s.position.y, s.position.z, s.rotation.w, s.rotation.x,
                               s.rotation.y, s.rotation.z, s.velocity.x, s.velocity.y, s.velocity.z,
                               s.spin.x,     s.spin.y,     s.spin.z };
    for (int k = 0; k < 13; ++k) {
        if (!isfinite(numbers[k])) {
            fprintf(stderr, "gives numbers that are not finite\n");
            exit(3);
        }
        fprintf(board->table, ",%.17g", numbers[k]);
    }
}

void endRow(BoardScene* board) {
    fputs("\n", board->table);
}
