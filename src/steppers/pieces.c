#include "steppers/pieces.h"

#include <string.h>

#include "collision/crossings.h"
#include "dynamics/contacts.h"
#include "dynamics/forces.h"
#include "dynamics/locks.h"
#include "dynamics/parts.h"
#include "dynamics/step_budget.h"
#include "geometry/shape.h"

// A step in more pieces than this goes on without looking for crossings, and says so.
enum { maxPieces = 64 };

// Pieces shorter than this part of the step are none.
static const double shortest = 1e-9;

static const char* const mayPass = "a body may have passed through another: too fast for this step";

static bool hasMesh(const tpSystem* system, const tpBody* body) {
    for (int i = body->firstShape; i >= 0; i = system->shapes.data[i].next) {
        if (tpClassOf(&system->shapes.data[i].form->geometry)->kind == tp_meshKind) {
            return true;
        }
    }
    return false;
}

// The larger one goes first.
static void putLarger(double largest[2], double value) {
    largest[1] = value > largest[0] ? largest[0] : fmax(largest[1], value);
    largest[0] = fmax(largest[0], value);
}

// Whether any two bodies can move against each other by more than the sum of their inner radii:
// what the two fastest do beyond their own (a fixed body: what it is short of it). Triangles have
// no depth of their own: against a mesh, by more than half the least radius of all.
static bool hasFastPair(const tpSystem* system, double h) {
    double excess[2] = { -INFINITY, -INFINITY }, ways[2] = { 0.0, 0.0 };
    double leastSolid = INFINITY, leastMesh = INFINITY;
    int meshCount = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (!body->isLive || body->firstShape < 0) {
            continue;
        }
        bool isMoving = body->kind != tp_fixedBody;
        double way =
            isMoving ? h * tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]) : 0.0;
        putLarger(excess, way - body->innerRadius);
        putLarger(ways, way);
        if (hasMesh(system, body)) {
            leastMesh = fmin(leastMesh, body->innerRadius);
            meshCount += 1;
        } else {
            leastSolid = fmin(leastSolid, body->innerRadius);
        }
    }
    double least = meshCount > 1 ? fmin(leastSolid, leastMesh) : leastSolid;
    return excess[0] + excess[1] > 0.0 || (meshCount > 0 && ways[0] + ways[1] > 0.5 * least);
}

static tpBodyPath* makeSweeps(tpSystem* system) {
    tpBodyPath* paths = TP_SCRATCH_ZEROED(&system->arena, tpBodyPath, system->bodyCount);
    for (int i = 0; paths != NULL && i < system->bodyCount; ++i) {
        paths[i].pose = system->poses.data[i];
        if (system->bodies.data[i].kind != tp_fixedBody) {
            paths[i].velocity = system->velocities.data[i].linear;
            paths[i].angularVelocity = system->velocities.data[i].angular;
        }
        if (tpSystem_IsDynamic(system, i)) {
            paths[i].acceleration = tpSystem_Gravity(system, i);
        }
    }
    return paths;
}

// The piece ends where shapes meet, or, if they do so now, before they are through each other.
static double pieceUpTo(const tpCrossing* crossing, double rest, double least) {
    double piece = crossing->time > least ? crossing->time : fmax(crossing->pause, least);
    return piece > rest - least ? rest : piece;
}

// How long the next piece is, of at most `rest` seconds. False if memory ran out.
static bool measurePiece(const tpStepper* stepper, tpSystem* system, double rest, double least,
                         double* piece) {
    *piece = rest;
    if (!hasFastPair(system, rest)) {
        return true;
    }
    // The pairs that can meet; a stepper that looks for contacts at the start finds them asked for.
    tpContact* contacts;
    int count;
    double* margins = tpSystem_Margins(system, system->velocities.data, NULL, rest);
    tpBodyPath* paths = makeSweeps(system);
    if (margins == NULL || paths == NULL ||
        tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count) !=
            tp_success) {
        return false;
    }
    tpCrossing crossing;
    if (tpCollider_FindCrossing(system->collider, paths, rest, &crossing)) {
        *piece = pieceUpTo(&crossing, rest, least);
    }
    if (!stepper->yields &&
        tpCollider_FindPassing(system->collider, contacts, count, paths, *piece, &crossing)) {
        *piece = pieceUpTo(&crossing, *piece, least);
    }
    return true;
}

void tpPieces_AimTargets(tpSystem* system, const tpPose* targets, double part) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        if (body->hasTarget) {
            tpPose now = system->poses.data[i];
            tpVec3 turn = tpQuatLog(tpMulQQ(targets[i].rotation, tpConjugate(now.rotation)));
            body->target->position =
                tpMulAdd(now.position, part, tpSub(targets[i].position, now.position));
            body->target->rotation =
                tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(part, turn)), now.rotation));
        }
    }
}

// Where kinematic bodies are to be at the end of the whole step. NULL if memory ran out.
static tpPose* keepTargets(tpSystem* system) {
    tpPose* targets = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    for (int i = 0; targets != NULL && i < system->bodyCount; ++i) {
        targets[i] = tpBody_Target(&system->bodies.data[i]);
    }
    return targets;
}

// The step in pieces, of which the first is known.
static void takePieces(const tpStepper* stepper, tpSystem* system, void* state,
                       const tpOptions* options, double h, double piece, tpStepReport* report) {
    tpParts parts;
    double begin = system->time, done = 0.0;
    tpPose* targets = keepTargets(system);
    bool isDone = tpParts_Begin(&parts, system, h) && targets != NULL;
    for (int count = 0; isDone && !report->undone && done < h; ++count) {
        tpStepReport part = { .converged = true, .substepCount = 1, .limits = report->limits };
        part.kineticBefore = tpSystem_KineticEnergy(system);
        part.potentialBefore = tpSystem_PotentialEnergy(system);
        system->time = begin + done;
        tpPieces_AimTargets(system, targets, piece / (h - done));
        stepper->step(system, state, options, piece, &part);
        part.kineticBefore = report->kineticBefore;
        part.potentialBefore = report->potentialBefore;
        if (count == 0) {
            report->substepCount = 0;
        }
        tpStepReport_Append(report, &part);
        done = piece >= h - done ? h : done + piece;
        isDone = tpParts_Add(&parts, piece, NULL);
        piece = h - done;
        if (isDone && done < h && count < maxPieces && !tpStepBudget_IsSpent(system)) {
            isDone = measurePiece(stepper, system, h - done, shortest * h, &piece);
        } else if (done < h) {
            tpStepReport_AddNote(report, mayPass);
        }
    }
    system->time = begin;
    if (!isDone || !tpParts_List(&parts, report)) {
        tpStepReport_RunOut(report);
    }
}

void tpPieces_Take(const tpStepper* stepper, tpSystem* system, void* state,
                   const tpOptions* options, double h, tpStepReport* report) {
    double piece = h;
    bool asks =
        !stepper->seesCrossings || (stepper->needsPieces != NULL && stepper->needsPieces(state));
    if (asks && !measurePiece(stepper, system, h, shortest * h, &piece)) {
        tpStepReport_RunOut(report);
    } else if (piece == h) {
        stepper->step(system, state, options, h, report);
    } else {
        takePieces(stepper, system, state, options, h, piece, report);
    }
}

void tpStepper_Take(const tpStepper* stepper, tpSystem* system, void* state,
                    const tpOptions* options, double h, tpStepReport* report) {
    tpOptions scaled = tpOptions_InScales(options, system);
    tpPieces_Take(stepper, system, state, &scaled, h, report);
}
