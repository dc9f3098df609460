// tippe check: whether a scene is valid, and what about it deserves a second look.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "scene/files.h"
#include "scene_file.h"

typedef struct tpCheckOptions {
    const char* scene;
    tpSceneOverrides overrides;
    const char* write;
    bool quiet;
} tpCheckOptions;

static const char notes[] = "Reads the scene and everything it names, builds its bodies, joints "
                            "and forces, and says what is\n"
                            "wrong as file:line:column: message, a line for each of up to 20 "
                            "errors of which none follows from another.\n"
                            "Notes are about things that are allowed but may not be meant.\n"
                            "\n"
                            "Exit status: 0 the scene is valid; 2 it is not.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpCheckOptions* options) {
    const tpArgument table[] = {
        { "stepper", optionText, &options->overrides.stepper, "NAME",
          "check for this stepper instead of the scene's", NULL },
        { "write", optionText, &options->write, "FILE",
          "write the scene again, in the order and the layout of the documentation", NULL },
        { "quiet", optionFlag, &options->quiet, NULL, "print nothing if the scene is valid", NULL },
    };
    const tpOperand operands[] = { { "SCENE", &options->scene, true, "the scene to check", NULL } };
    const tpArgumentTable line = {
        .command = "check",
        .summary = "Checks a scene without running it",
        .operands = operands,
        .operandCount = 1,
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .notes = notes,
    };
    return parseArguments(&line, argumentCount, arguments);
}

// Notes ---------------------------------------------------------------------------------------

static void printNote(const tpScene* scene, tpScenePlace place, const char* words,
                      const char* name) {
    printf("%s:%d:%d: note: %s \"%s\"\n", scene->path, place.line, place.column, words, name);
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

// What the stepper would leave out of the scene.
static void noteGaps(const tpScene* scene) {
    tpStepperId stepper = tpScene_GetStepper(scene);
    unsigned lacks = tpStepperLacks(stepper);
    char words[160];
    for (int i = 0; i < scene->materials.count; ++i) {
        const tpSceneMaterial* material = &scene->materials.items[i];
        const tpSceneFriction* friction = &material->friction;
        if (friction->part.record == NULL) {
            continue;
        }
        bool isRound = friction->ellipse[0] == 1.0 && friction->ellipse[1] == 1.0;
        if ((lacks & tp_lacksFrictionEllipse) != 0 && !isRound) {
            snprintf(words, sizeof(words), "the stepper %s leaves out the friction ellipse of",
                     tpStepperName(stepper));
            printNote(scene, material->name.place, words, material->name.text);
        }
        if ((lacks & tp_lacksTorsion) != 0 && friction->torsional > 0.0) {
            snprintf(words, sizeof(words), "the stepper %s leaves out the torsional friction of",
                     tpStepperName(stepper));
            printNote(scene, material->name.place, words, material->name.text);
        }
    }
    for (int i = 0; (lacks & tp_lacksJoints) != 0 && i < scene->joints.count; ++i) {
        const tpSceneJoint* joint = &scene->joints.items[i];
        snprintf(words, sizeof(words), "the stepper %s leaves out the joint",
                 tpStepperName(stepper));
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

static int countShapes(const tpScene* scene) {
    int count = 0;
    for (int i = 0; i < scene->bodies.count; ++i) {
        count += scene->bodies.items[i].shapes.count;
    }
    return count;
}

static void printCount(int count, const char* one, const char* many, const char* after) {
    printf("%d %s%s", count, count == 1 ? one : many, after);
}

static void printFindings(const tpScene* scene, bool isAvailable, const char* stepper) {
    noteOptions(scene);
    noteGaps(scene);
    noteUnused(scene);
    noteReference(scene);
    if (!isAvailable) {
        printNote(scene, scene->simulation.stepper.place, "this build does not have the stepper",
                  stepper);
    }
    printf("%s: valid: ", scene->path);
    printCount(scene->bodies.count, "body", "bodies", ", ");
    printCount(countShapes(scene), "shape", "shapes", ", ");
    printCount(scene->joints.count, "joint", "joints", ", ");
    printCount(scene->forces.count, "force", "forces", ", ");
    long long stepCount = (long long)tpScene_GetStepCount(scene);
    printf("%lld %s of %g s with %s\n", stepCount, stepCount == 1 ? "step" : "steps",
           scene->simulation.step, stepper);
}

// The check -----------------------------------------------------------------------------------

// Builds the world to see whether that works; with the default stepper where the scene's is not in
// this build, since the scene itself may still be right.
static tpResult buildWorld(tpScene* scene, bool isAvailable, tpError* error) {
    tpSceneText asked = scene->simulation.stepper;
    if (!isAvailable) {
        scene->simulation.stepper.text = tpStepperName(tpDefaultWorldDef().stepper);
    }
    tpWorld* world = NULL;
    tpResult result = tpScene_CreateWorld(scene, NULL, 1, &world, error);
    scene->simulation.stepper = asked;
    tpDestroyWorld(world);
    return result;
}

static int checkScene(const tpCheckOptions* options, tpScene* scene) {
    tpError error;
    tpResult result = tpScene_Override(scene, &options->overrides, &error);
    bool isAvailable = tpStepperIsAvailable(tpScene_GetStepper(scene));
    if (result == tp_success) {
        result = buildWorld(scene, isAvailable, &error);
    }
    tpCommandFiles files = startFiles("check");
    addOutput(&files, "--write", options->write);
    addSceneInputs(&files, scene);
    if (result == tp_success && !canWriteFiles(&files)) {
        return exitBadInput;
    }
    if (result == tp_success && options->write != NULL) {
        result = tpWriteScene(scene, options->write, &error);
    }
    if (result != tp_success) {
        complainOfScene("check", &error);
        return exitBadInput;
    }
    if (!options->quiet) {
        printFindings(scene, isAvailable, tpStepperName(tpScene_GetStepper(scene)));
    }
    return exitDone;
}

int runCheck(int argumentCount, char** arguments) {
    tpCheckOptions options = { 0 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return parsed == argumentsHelped ? exitDone : exitBadInput;
    }
    tpScene* scene = openScene("check", options.scene);
    int status = scene != NULL ? checkScene(&options, scene) : exitBadInput;
    tpDestroyScene(scene);
    return status;
}
