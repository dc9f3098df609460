// tippe verify: repeats a recorded run and compares every frame with the recording, bit for bit.

#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "recorded_scene.h"
#include "scene_file.h"
#include "tippe/recording.h"
#include "tippe/scene.h"

enum { exitDiffers = 1 };

typedef struct tpVerifyOptions {
    const char* recording;
    const char* beside;
    bool quiet;
    int threads;
} tpVerifyOptions;

static const char notes[] =
    "The scene is the one that the recording holds. The meshes and hulls it names are looked for\n"
    "beside the recording, then beside the scene as the run named it; or beside the file that\n"
    "--beside names.\n"
    "\n"
    "Exit status: 0 every frame has the same bits; 1 one has not; 2 bad input or usage.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpVerifyOptions* options) {
    const tpArgument table[] = {
        { "beside", optionText, &options->beside, "SCENE",
          "look for the files of the scene beside this one", NULL },
        { "threads", optionCount, &options->threads, "N",
          "threads to use, default 1; the results are the same for any number", NULL },
        { "quiet", optionFlag, &options->quiet, NULL, "print nothing but errors", NULL },
    };
    const tpOperand operands[] = { { "RUN.h5", &options->recording, true, "the recording", NULL } };
    const tpArgumentTable line = {
        .command = "verify",
        .summary = "Repeats a recorded run and compares every frame, bit for bit",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    if (result == argumentsParsed && !checkThreads("verify", options->threads)) {
        return argumentsWrong;
    }
    return result;
}

// The first frame that differs, frameCount where none does, -1 on failure.
static int64_t findDifference(tpRecording* recording, tpWorld* world, tpError* error) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    enum { framesAtOnce = 1024 };
    uint64_t hashes[framesAtOnce];
    for (int64_t first = 0; first < info->frameCount; first += framesAtOnce) {
        int64_t left = info->frameCount - first;
        int64_t count = left < framesAtOnce ? left : framesAtOnce;
        if (tpRecording_ReadHashes(recording, first, count, hashes, error) != tp_success) {
            return -1;
        }
        for (int64_t k = 0; k < count; ++k) {
            for (int i = 0; i < info->every && first + k > 0; ++i) {
                tpWorld_Step(world, info->step);
            }
            if (tpWorld_HashState(world) != hashes[k]) {
                return first + k;
            }
        }
    }
    return info->frameCount;
}

static int verifyWorld(const tpVerifyOptions* options, tpRecording* recording, tpWorld* world) {
    tpError error = { tp_success, "" };
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    double start = 0.0;
    if (info->frameCount > 0 &&
        tpRecording_ReadTimes(recording, 0, 1, &start, &error) == tp_success && start != 0.0) {
        fprintf(stderr,
                "tippe verify: %s: the run started from a state at t = %.9g s, which the recording "
                "does not hold\n",
                options->recording, start);
        return exitBadInput;
    }
    int64_t frame = findDifference(recording, world, &error);
    if (frame < 0) {
        fprintf(stderr, "tippe verify: %s\n", error.message);
        return exitBadInput;
    }
    bool same = frame == info->frameCount;
    if (!options->quiet && same) {
        printf("%s: %lld frames, the same bits in every one\n", options->recording,
               (long long)info->frameCount);
    } else if (!options->quiet) {
        printf("%s: differs from frame %lld on, t = %.9g s (recorded by Tippe %s, this is %s)\n",
               options->recording, (long long)frame, tpWorld_GetTime(world), info->version,
               tpVersion());
    }
    return same ? exitDone : exitDiffers;
}

static int verifyRecording(const tpVerifyOptions* options, tpRecording* recording) {
    tpError error = { tp_success, "" };
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    if (info->sceneText[0] == '\0' || info->every < 1 || !(info->step > 0.0)) {
        fprintf(stderr, "tippe verify: %s: holds no scene to repeat\n", options->recording);
        return exitBadInput;
    }
    tpScene* scene = openRecordedScene(options->recording, options->beside, info, &error);
    tpWorld* world = NULL;
    tpResult result = scene == NULL
                          ? error.result
                          : tpScene_CreateWorld(scene, NULL, options->threads, &world, &error);
    int status = exitBadInput;
    if (result == tp_success) {
        status = verifyWorld(options, recording, world);
    } else {
        fprintf(stderr, "tippe verify: the scene in the recording: %s\n", error.message);
    }
    tpDestroyWorld(world);
    tpDestroyScene(scene);
    return status;
}

int runVerify(int argumentCount, char** arguments) {
    tpVerifyOptions options = { .threads = 1 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpError error = { tp_success, "" };
    tpRecording* recording = tpOpenRecording(options.recording, NULL, &error);
    if (recording == NULL) {
        fprintf(stderr, "tippe verify: %s\n", error.message);
        return exitBadInput;
    }
    int status = verifyRecording(&options, recording);
    tpCloseRecording(recording);
    return status;
}
