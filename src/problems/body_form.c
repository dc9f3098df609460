// Friction problems with blocks of all kinds, given by bodies or by W: the group /tippe of a file.
//
//     /tippe/degrees, bodies, inverse_mass             velocities of a body; bodies; degrees^2
//                                                      numbers each
//     /tippe/blocks/dimension, kind, mu, body_a, body_b
//     /tippe/rows/q, jacobian_a, jacobian_b            `componentCount` numbers per row
//     /tippe/rows/scale, compliance, start             may be missing
//     /tippe/W                                         instead of bodies and jacobians

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "problems/problem_file.h"

static const char blocks[] = "/tippe/blocks", rows[] = "/tippe/rows";

// Exactly `count` whole numbers.
static tpResult readIntList(const tpProblemFile* file, const char* group, const char* name,
                            int count, tpArena* arena, int** values) {
    int length;
    tpResult result = tpProblemFile_ReadInts(file, group, name, count, arena, values, &length);
    if (result == tp_success && length != count) {
        return tpProblemFile_Fail(file, group, "its lists are not of equal length");
    }
    return result;
}

// Numbers of the rows that may be missing: *values is NULL then.
static tpResult readOptional(const tpProblemFile* file, const char* name, int count, tpArena* arena,
                             const double** values) {
    char path[40] = "/tippe/rows/";
    strcat(path, name);
    *values = NULL;
    return tpProblemFile_Has(file, path)
               ? tpProblemFile_ReadReals(file, rows, name, count, arena, values)
               : tp_success;
}

static tpResult readBlocks(const tpProblemFile* file, tpOwnedProblem* owned,
                           tpFrictionProblem* friction, int* rowCount) {
    tpArena* arena = &owned->arena;
    int *dimensions, *kinds, count;
    tpResult result;
    if ((result =
             tpProblemFile_ReadInts(file, blocks, "dimension", 0, arena, &dimensions, &count)) ||
        (result = readIntList(file, blocks, "kind", count, arena, &kinds)) ||
        (result = tpProblemFile_ReadReals(file, blocks, "mu", count, arena, &friction->mu))) {
        return result;
    }
    unsigned char* bytes = TP_SCRATCH(arena, unsigned char, count);
    if (bytes == NULL) {
        return tpError_OutOfMemory(file->error);
    }
    *rowCount = 0;
    for (int b = 0; b < count; ++b) {
        if (dimensions[b] < 1 || dimensions[b] > TP_FRICTION_MAX_ROWS) {
            return tpProblemFile_Fail(file, "/tippe/blocks/dimension", "a block of 1 to 4 rows");
        }
        bytes[b] = kinds[b] < 0 || kinds[b] > UCHAR_MAX ? UCHAR_MAX : (unsigned char)kinds[b];
        *rowCount += dimensions[b];
    }
    friction->blockCount = count;
    friction->dimensions = dimensions;
    friction->kinds = bytes;
    return tp_success;
}

static tpResult readBodies(const tpProblemFile* file, tpOwnedProblem* owned, int blockCount,
                           int rowCount, tpFrictionProblem* friction) {
    tpArena* arena = &owned->arena;
    tpFrictionBodies* bodies = TP_SCRATCH_ZEROED(arena, tpFrictionBodies, 1);
    if (bodies == NULL) {
        return tpError_OutOfMemory(file->error);
    }
    tpResult result;
    if ((result =
             tpProblemFile_ReadInt(file, "/tippe", "degrees", 1, arena, &bodies->componentCount)) ||
        (result = tpProblemFile_ReadInt(file, "/tippe", "bodies", 0, arena, &bodies->bodyCount))) {
        return result;
    }
    int componentCount = bodies->componentCount, square = componentCount * componentCount;
    if (componentCount > 6 || bodies->bodyCount > INT_MAX / 36 || rowCount > INT_MAX / 6) {
        return tpProblemFile_Fail(file, "/tippe/degrees", "bodies have 1 to 6 velocities");
    }
    int *bodyA, *bodyB;
    if ((result =
             tpProblemFile_ReadReals(file, "/tippe", "inverse_mass", bodies->bodyCount * square,
                                     arena, &bodies->inverseMass)) ||
        (result = readIntList(file, blocks, "body_a", blockCount, arena, &bodyA)) ||
        (result = readIntList(file, blocks, "body_b", blockCount, arena, &bodyB)) ||
        (result = tpProblemFile_ReadReals(file, rows, "jacobian_a", rowCount * componentCount,
                                          arena, &bodies->jacobianA)) ||
        (result = tpProblemFile_ReadReals(file, rows, "jacobian_b", rowCount * componentCount,
                                          arena, &bodies->jacobianB))) {
        return result;
    }
    bodies->bodyA = bodyA;
    bodies->bodyB = bodyB;
    friction->bodies = bodies;
    return tp_success;
}

static tpResult readW(const tpProblemFile* file, tpOwnedProblem* owned,
                      tpFrictionProblem* friction) {
    static const char q[] = "/tippe/rows/q";
    tpResult result =
        tpProblemFile_ReadMatrix(file, "/tippe/W", q, q, owned, &owned->problem.matrix);
    friction->W = &owned->problem.matrix;
    return result;
}

tpResult tpReadBodyForm(const tpProblemFile* file, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    tpArena* arena = &owned->arena;
    tpFrictionProblem* friction = TP_SCRATCH_ZEROED(arena, tpFrictionProblem, 1);
    if (friction == NULL) {
        return tpError_OutOfMemory(file->error);
    }
    int rowCount = 0;
    tpResult result = readBlocks(file, owned, friction, &rowCount);
    if (result ||
        (result = tpProblemFile_ReadReals(file, rows, "q", rowCount, arena, &friction->q)) ||
        (result = readOptional(file, "scale", rowCount, arena, &friction->scale)) ||
        (result = readOptional(file, "compliance", rowCount, arena, &friction->compliance)) ||
        (result = readOptional(file, "start", rowCount, arena, &problem->start))) {
        return result;
    }
    bool hasW = tpProblemFile_Has(file, "/tippe/W");
    result = hasW ? readW(file, owned, friction)
                  : readBodies(file, owned, friction->blockCount, rowCount, friction);
    if (result) {
        return result;
    }
    tpError wrong;
    if (tpFriction_Check(friction, &wrong) != tp_success) {
        return tpProblemFile_Fail(file, "/tippe", wrong.message);
    }
    bool isPlanar = !hasW && friction->bodies->componentCount == 3;
    problem->kind = isPlanar ? tp_friction2dProblem : tp_friction3dProblem;
    problem->dimension = isPlanar ? 2 : 3;
    problem->size = rowCount;
    problem->contactCount = friction->blockCount;
    problem->q = friction->q;
    problem->friction = friction;
    return tp_success;
}
