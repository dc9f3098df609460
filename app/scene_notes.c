#include "scene_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/part_file.h"
#include "recording/left_out.h"
#include "scene/files.h"
#include "tippe/queries.h"

static void printNote(const tpScene* scene, tpScenePlace place, const char* words,
                      const char* name) {
    printf("%s:%d:%d: note: %s \"%s\"\n", tpScene_GetPath(scene, place), place.line, place.column,
           words, name);
}

static void noteOptions(const tpScene* scene) {
    tpStepperId stepper = tpScene_GetStepper(scene);
    for (int i = 0; i < scene->simulation.options.count; ++i) {
        const tpSceneOption* option = &scene->simulation.options.items[i];
        for (int k = 0; k < tpOptionCount(); ++k) {
            if (strcmp(tpOption(k)->name, option->name.text) == 0 &&
                !tpStepperUsesOption(stepper, k)) {
                char words[128];
                snprintf(words, sizeof(words), "the stepper %s does not use the option",
                         tpStepperName(stepper));
                printNote(scene, option->name.place, words, option->name.text);
            }
        }
    }
}

// What friction asks for, as tp_lacks bits.
static unsigned frictionNeeds(const tpSceneFriction* friction) {
    if (friction->part.record == NULL) {
        return 0;
    }
    bool isRound = friction->ellipse[0] == 1.0 && friction->ellipse[1] == 1.0;
    bool isOne = !tpScenePart_Gives(&friction->part, "static") ||
                 friction->staticCoefficient == friction->dynamicCoefficient;
    return (isRound ? 0u : tp_lacksFrictionEllipse) | (isOne ? 0u : tp_lacksStaticFriction) |
           (tpScenePart_Gives(&friction->part, "impact") ? tp_lacksImpactFriction : 0u) |
           (friction->rolling > 0.0 ? tp_lacksRollingFriction : 0u) |
           (friction->torsional > 0.0 ? tp_lacksTorsion : 0u);
}

// The steppers that use what a bit stands for, one after the other. free-flight knows no contacts.
static void printUsers(unsigned bit) {
    const char* before = "; used by ";
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (i != tp_freeFlight && (tpStepperLacks((tpStepperId)i) & bit) == 0) {
            printf("%s%s", before, tpStepperName((tpStepperId)i));
            before = ", ";
        }
    }
}

// A note for each bit of `leftOut`, at the part of the scene that asks for it.
static void notePart(const tpScene* scene, unsigned leftOut, tpScenePlace place, const char* of,
                     const char* name) {
    const char* stepper = tpStepperName(tpScene_GetStepper(scene));
    for (int i = 0; i < tp_leftOutCount; ++i) {
        if ((leftOut & tpLeftOutNames[i].bit) != 0) {
            printf("%s:%d:%d: note: the stepper %s does not use the %s of%s \"%s\"",
                   tpScene_GetPath(scene, place), place.line, place.column, stepper,
                   tpLeftOutNames[i].name, of, name);
            printUsers(tpLeftOutNames[i].bit);
            printf("\n");
        }
    }
}

// Contacts that give bounce by their spring: a restitution beside it does nothing.
static void noteSpring(const tpScene* scene, unsigned lacks, double restitution,
                       const tpSceneCompliance* contact, tpScenePlace place, const char* name) {
    bool gives = contact->compliance > 0.0 && (lacks & tp_lacksCompliance) == 0 &&
                 tpScene_GetStepper(scene) != tp_freeFlight;
    if (gives && restitution > 0.0) {
        printNote(scene, place,
                  "contacts that give bounce by their spring, not by the restitution of", name);
    }
}

// What the stepper would leave out of the scene.
static void noteGaps(const tpScene* scene, const tpWorld* world) {
    unsigned lacks = tpWorld_GetLacks(world);
    for (int i = 0; i < scene->materials.count; ++i) {
        const tpSceneMaterial* material = &scene->materials.items[i];
        unsigned needs = frictionNeeds(&material->friction) |
                         (material->restitution > 0.0 ? tp_lacksRestitution : 0u) |
                         (material->contact.compliance > 0.0 ? tp_lacksCompliance : 0u);
        notePart(scene, needs & lacks, material->name.place, "", material->name.text);
        noteSpring(scene, lacks, material->restitution, &material->contact, material->name.place,
                   material->name.text);
    }
    for (int i = 0; i < scene->pairs.count; ++i) {
        const tpScenePair* pair = &scene->pairs.items[i];
        unsigned needs = frictionNeeds(&pair->friction) |
                         (pair->restitution > 0.0 ? tp_lacksRestitution : 0u) |
                         (pair->contact.compliance > 0.0 ? tp_lacksCompliance : 0u);
        notePart(scene, needs & lacks, pair->part.place, " the pair with", pair->between[0].name);
        noteSpring(scene, lacks, pair->restitution, &pair->contact, pair->part.place,
                   pair->between[0].name);
    }
    for (int i = 0; (lacks & tp_lacksJoints) != 0 && i < scene->joints.count; ++i) {
        const tpSceneJoint* joint = &scene->joints.items[i];
        char words[160];
        snprintf(words, sizeof(words), "the stepper %s does not use the joint",
                 tpStepperName(tpScene_GetStepper(scene)));
        printNote(scene, joint->part.place, words,
                  joint->name.text != NULL ? joint->name.text : "");
    }
}

static bool isMaterialUsed(const tpScene* scene, int material) {
    for (int i = 0; i < scene->bodies.count; ++i) {
        const tpSceneBody* body = &scene->bodies.items[i];
        if (body->material.name != NULL && body->material.index == material) {
            return true;
        }
        for (int k = 0; k < body->shapes.count; ++k) {
            const tpSceneReference* own = &body->shapes.items[k].material;
            if (own->name != NULL && own->index == material) {
                return true;
            }
        }
    }
    return false;
}

static void noteUnused(const tpScene* scene) {
    for (int i = 0; i < scene->materials.count; ++i) {
        const tpSceneMaterial* material = &scene->materials.items[i];
        if (!isMaterialUsed(scene, i)) {
            printNote(scene, material->name.place, "no shape is made of the material",
                      material->name.text);
        }
    }
    for (int i = 0; i < scene->forces.count; ++i) {
        const tpSceneForce* force = &scene->forces.items[i];
        if (scene->bodies.items[force->body.index].kind != tp_dynamicBody) {
            printNote(scene, force->body.place, "a force does nothing to the body",
                      force->body.name);
        }
    }
}

// The results that tippe compare would look for beside the scene.
static void noteReference(const tpScene* scene) {
    if (scene->reference.text == NULL) {
        return;
    }
    char path[tp_pathCapacity];
    tpJoinScenePath(scene, scene->reference.text, path, sizeof(path));
    if (access(path, R_OK) != 0) {
        printNote(scene, scene->reference.place, "there is no file of known results at", path);
    }
}

// Scenes in free fall say so with zeros.
static void noteGravity(const tpScene* scene) {
    bool hasDynamic = false;
    for (int i = 0; i < scene->bodies.count; ++i) {
        hasDynamic = hasDynamic || scene->bodies.items[i].kind == tp_dynamicBody;
    }
    if (hasDynamic && !tpScenePart_Gives(&scene->part, "gravity")) {
        printNote(scene, scene->part.place, "there is no gravity: the scene does not give",
                  "gravity");
    }
}

enum { mostOverlaps = 4096, shownOverlaps = 5 };

// An overlap of less than this share of the thinner shape is taken for rounding.
static const double leastOverlap = 1e-3;

// The least extent of a shape, infinite for one without end.
static double thicknessOf(const tpWorld* world, tpShapeId shape) {
    tpBounds bounds = tpGeometry_Bounds(tpShape_GetGeometry(world, shape), tpIdentityPose());
    tpVec3 size = tpSub(bounds.upper, bounds.lower);
    return fmin(size.x, fmin(size.y, size.z));
}

// Leaves out overlaps that are rounding; returns how many are left.
static int dropSmall(const tpWorld* world, tpOverlap* overlaps, int count) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        double a = thicknessOf(world, overlaps[i].shapeA);
        double b = thicknessOf(world, overlaps[i].shapeB);
        if (overlaps[i].depth > leastOverlap * fmin(a, b)) {
            overlaps[kept++] = overlaps[i];
        }
    }
    return kept;
}

// The place of a body in the scene.
static int indexOfBody(const tpWorld* world, const tpScene* scene, tpBodyId body) {
    int index = 0;
    while (index + 1 < scene->bodies.count && tpWorld_GetBody(world, index).slot != body.slot) {
        ++index;
    }
    return index;
}

static const char* nameOfBody(const tpScene* scene, int index) {
    return scene->bodies.items[index].name.text != NULL ? scene->bodies.items[index].name.text : "";
}

// Bodies that start inside each other, by more than rounding: the deepest contact of each two, for
// the first few pairs.
static void noteOverlaps(const tpScene* scene, tpWorld* world) {
    static tpOverlap overlaps[mostOverlaps];
    int all = tpWorld_FindOverlaps(world, 0.0, overlaps, mostOverlaps);
    int count = dropSmall(world, overlaps, all < mostOverlaps ? all : mostOverlaps);
    int pairCount = 0;
    for (int i = 0; i < count; ++i) {
        tpBodyId a = tpShape_GetBody(world, overlaps[i].shapeA);
        tpBodyId b = tpShape_GetBody(world, overlaps[i].shapeB);
        double depth = overlaps[i].depth;
        bool isToldOf = false;
        for (int k = 0; k < count; ++k) {
            bool isSamePair = tpShape_GetBody(world, overlaps[k].shapeA).slot == a.slot &&
                              tpShape_GetBody(world, overlaps[k].shapeB).slot == b.slot;
            isToldOf = isToldOf || (isSamePair && k < i);
            depth = isSamePair ? fmax(depth, overlaps[k].depth) : depth;
        }
        pairCount += isToldOf ? 0 : 1;
        if (isToldOf || pairCount > shownOverlaps) {
            continue;
        }
        int first = indexOfBody(world, scene, a), second = indexOfBody(world, scene, b);
        tpScenePlace place = scene->bodies.items[second].part.place;
        printf("%s:%d:%d: note: \"%s\" and \"%s\" overlap by %.2g m at the start\n",
               tpScene_GetPath(scene, place), place.line, place.column, nameOfBody(scene, first),
               nameOfBody(scene, second), depth);
    }
    if (pairCount > shownOverlaps) {
        printf("%s: note: and %s%d more pairs overlap at the start\n", scene->path,
               all > mostOverlaps ? "at least " : "", pairCount - shownOverlaps);
    }
}

// Turns in a step from which on an error of first order shows, rad.
static const double fastTurn = 0.05;

// Says where the first order of a step is seen: at the first joint, and at the first body that
// spins fast. What spins free is exact by small-steps, but not what spins on its soft contacts.
static void noteOrder(const tpScene* scene) {
    tpStepperId stepper = tpScene_GetStepper(scene);
    bool isRealTime = stepper == tp_smallSteps;
    if (stepper != tp_stewartTrinkle && stepper != tp_penalty && !isRealTime) {
        return;
    }
    char text[160];
    const char* format =
        "the stepper %s is of first order: a shorter step, or anitescu, keeps the %s";
    if (scene->joints.count > 0) {
        const tpSceneJoint* joint = &scene->joints.items[0];
        snprintf(text, sizeof(text), format, tpStepperName(stepper),
                 "energy of what swings on the joint");
        printNote(scene, joint->part.place, text, joint->name.text != NULL ? joint->name.text : "");
    }
    if (isRealTime) {
        format = "the stepper %s damps how bodies wobble on contacts: anitescu keeps the %s";
    }
    snprintf(text, sizeof(text), format, tpStepperName(stepper), "path of the spinning body");
    for (int i = 0; i < scene->bodies.count; ++i) {
        const tpSceneBody* body = &scene->bodies.items[i];
        bool isTold = !isRealTime || body->shapes.count > 0;
        if (isTold && scene->simulation.step * tpLength(body->angularVelocity) > fastTurn) {
            printNote(scene, body->part.place, text,
                      body->name.text != NULL ? body->name.text : "");
            return;
        }
    }
}

void printSceneNotes(const tpScene* scene, tpWorld* world) {
    tpStepperId stepper = tpScene_GetStepper(scene);
    noteGravity(scene);
    noteOverlaps(scene, world);
    noteOptions(scene);
    noteGaps(scene, world);
    noteOrder(scene);
    noteUnused(scene);
    noteReference(scene);
    if (!tpStepperIsAvailable(stepper)) {
        printNote(scene, scene->simulation.stepper.place, "this build does not have the stepper",
                  tpStepperName(stepper));
    }
}
