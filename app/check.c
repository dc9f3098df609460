// tippe check: whether a scene is valid, and what about it deserves a second look.

#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "output_file.h"
#include "scene_file.h"
#include "scene_notes.h"

typedef struct tpCheckOptions {
    const char* scene;
    tpSceneOverrides overrides;
    const char* write;
    bool quiet;
} tpCheckOptions;

static const char notes[] =
    "Reads the scene and all files that it names, builds its bodies, joints and forces, and "
    "prints\n"
    "up to 20 independent errors as file:line:column: message.\n"
    "Notes point out what is allowed but may be a mistake.\n"
    "\n"
    "Exit status: 0 the scene is valid; 2 it is not; 3 it could not be written.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpCheckOptions* options) {
    const tpArgument table[] = {
        { "stepper", optionText, &options->overrides.stepper, "NAME",
          "check for this stepper instead of the scene's", NULL },
        { "write", optionText, &options->write, "FILE",
          "write the scene again, in the order and the layout of the documentation; - is standard "
          "output",
          NULL },
        { "quiet", optionFlag, &options->quiet, NULL, "print nothing if the scene is valid", NULL },
    };
    const tpOperand operands[] = { { "SCENE", &options->scene, true, "the scene to check", NULL } };
    const tpArgumentTable line = {
        .command = "check",
        .summary = "Checks a scene without running it",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    return parseArguments(&line, argumentCount, arguments);
}

// What is there ----------------------------------------------------------------------------------

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

static void printCounts(const tpScene* scene, const char* stepper) {
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

// Builds the world to see whether that works, and for the notes; with the default stepper where the
// scene's is not in this build, since the scene itself may still be right.
static tpResult buildWorld(tpScene* scene, tpWorld** world, tpError* error) {
    tpSceneText asked = scene->simulation.stepper;
    if (!tpStepperIsAvailable(tpScene_GetStepper(scene))) {
        scene->simulation.stepper.text = tpStepperName(tpDefaultWorldDef().stepper);
    }
    tpResult result = tpScene_CreateWorld(scene, NULL, 1, world, error);
    scene->simulation.stepper = asked;
    return result;
}

static int writeScene(const tpScene* scene, const char* path) {
    tpError error;
    char* text = NULL;
    size_t length = 0;
    if (tpFormatScene(scene, NULL, &text, &length, &error) != tp_success) {
        complainOfScene("check", &error);
        return exitBadInput;
    }
    tpOutputFile output;
    int status = exitBadInput;
    if (openOutput("check", path, &output)) {
        putOutput(&output, text, length);
        status = commitOutput("check", &output) ? exitDone : exitCouldNotGoOn;
    }
    tpReleaseSceneText(NULL, text, length);
    return status;
}

// Writes the scene where the command line says so, and tells about it.
static int tellOfScene(const tpCheckOptions* options, const tpScene* scene, tpWorld* world) {
    tpCommandFiles files = startFiles("check");
    addOutput(&files, "--write", options->write);
    addSceneInputs(&files, scene);
    if (!canWriteFiles(&files)) {
        return exitBadInput;
    }
    int status = options->write != NULL ? writeScene(scene, options->write) : exitDone;
    bool isTaken = options->write != NULL && isStandardOutput(options->write);
    if (status == exitDone && !options->quiet && !isTaken) {
        printSceneNotes(scene, world);
        printCounts(scene, tpStepperName(tpScene_GetStepper(scene)));
    }
    return status;
}

static int checkScene(const tpCheckOptions* options, tpScene* scene) {
    tpError error;
    tpWorld* world = NULL;
    tpResult result = tpScene_Override(scene, &options->overrides, &error);
    if (result == tp_success) {
        result = buildWorld(scene, &world, &error);
    }
    int status = exitBadInput;
    if (result == tp_success) {
        status = tellOfScene(options, scene, world);
    } else {
        complainOfScene("check", &error);
    }
    tpDestroyWorld(world);
    return status;
}

int runCheck(int argumentCount, char** arguments) {
    tpCheckOptions options = { 0 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpScene* scene = openScene("check", options.scene);
    int status = scene != NULL ? checkScene(&options, scene) : exitBadInput;
    tpDestroyScene(scene);
    return status;
}
