// tippe view: serves the page that shows a run, of a recording or of a simulation that goes on.

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "base/input_file.h"
#include "command.h"
#include "page/server.h"
#include "page_file.h"
#include "scene_file.h"

enum { mostPort = 65535 };

static const double longestFarewell = 0.3; // s, for the step that a live run is at when it is ended

// Frames of a live run, in memory.
static const size_t memoryLimit = (size_t)512 * 1024 * 1024;

typedef struct tpViewOptions {
    const char* run;
    tpSceneOverrides overrides;
    tpArgumentList settings;
    bool isQuiet; // opens no browser
    int port, threads;
} tpViewOptions;

static const char notes[] = "Prints the address of the page, and opens it if there is a desktop. "
                            "A scene is simulated while\n"
                            "it is shown; a recording is read as it is needed, whatever its size. "
                            "The page can be reached from\n"
                            "this machine only, and only by its address. Ctrl-C ends it.\n"
                            "\n"
                            "Exit status: 0 done; 2 bad input or usage.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpViewOptions* options) {
    const tpArgument table[] = {
        { "stepper", optionText, &options->overrides.stepper, "NAME",
          "the stepper to use instead of the scene's (see tippe list steppers)", NULL },
        { "step", optionPositive, &options->overrides.step, "SECONDS",
          "the length of a step, instead of the scene's", NULL },
        { "set", optionList, &options->settings, "NAME=VALUE",
          "an option of the stepper, instead of the scene's; may be given several times", NULL },
        { "threads", optionCount, &options->threads, "N", "threads of the simulation, default 1",
          NULL },
        { "port", optionCount, &options->port, "N", "the port, instead of any that is free", NULL },
        { "no-browser", optionFlag, &options->isQuiet, NULL,
          "print the address only, open no browser", NULL },
    };
    const tpOperand operands[] = { { "SCENE|RUN.h5", &options->run, true,
                                     "a scene to simulate, or a recording", NULL } };
    const tpArgumentTable line = {
        .command = "view",
        .summary = "Shows a run in the browser",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    if (result == argumentsParsed && options->port > mostPort) {
        fprintf(stderr, "tippe view: --port takes a number up to %d\n", mostPort);
        return argumentsWrong;
    }
    if (result == argumentsParsed && !checkThreads("view", options->threads)) {
        return argumentsWrong;
    }
    finishOverrides(&options->overrides, NAN, &options->settings);
    return result;
}

// Answers
// --------------------------------------------------------------------------------------------

// The page itself, and what it asks for.
static void answer(void* context, const tpPageRequest* request, bool isLate, tpReply* reply) {
    if (!request->isOrder && request->path[0] == '\0') {
        tpPage page = tpReplayPage();
        reply->status = 200;
        reply->type = "text/html; charset=utf-8";
        reply->text = page.text;
        reply->textSize = page.size;
    } else {
        answerPage(context, request, isLate, reply);
    }
}

// Serving
// --------------------------------------------------------------------------------------------

static volatile int isStopped;
static tpServer* stoppedServer; // for the signal's handler

static void noteSignal(int signal) {
    (void)signal;
    isStopped = 1;
    wakeServer(stoppedServer);
}

static void catchSignals(tpServer* server) {
    stoppedServer = server;
    struct sigaction action = { .sa_handler = noteSignal };
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

// Asks the desktop, if there is one, to open the page.
static void openBrowser(const char* address) {
    extern char** environ;
    const char* display = getenv("DISPLAY");
    const char* wayland = getenv("WAYLAND_DISPLAY");
    if ((display == NULL || display[0] == '\0') && (wayland == NULL || wayland[0] == '\0')) {
        return;
    }
    char program[] = "xdg-open", place[128];
    snprintf(place, sizeof(place), "%s", address);
    char* line[] = { program, place, NULL };
    pid_t process;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
        signal(SIGCHLD, SIG_IGN); // nobody waits for it
        posix_spawnp(&process, program, &actions, NULL, line, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
}

static int serve(tpServer* server, const tpViewOptions* options) {
    if (!openServer("view", server)) {
        return exitBadInput;
    }
    catchSignals(server);
    printf("%s\n", addressOfServer(server));
    fflush(stdout);
    if (!options->isQuiet) {
        openBrowser(addressOfServer(server));
    }
    runServer(server, &isStopped);
    return exitDone;
}

static int viewRecording(const tpViewOptions* options, tpView* view, tpServer* server) {
    tpError error;
    tpRecording* recording = tpOpenRecording(options->run, NULL, &error);
    if (recording == NULL) {
        fprintf(stderr, "tippe view: %s\n", error.message);
        return exitBadInput;
    }
    tpRecordedRun run = makeRecordedRun(recording);
    view->source = &run.source;
    int status = serve(server, options);
    tpCloseRecording(recording);
    return status;
}

static void tellServer(void* context) {
    wakeServer(context);
}

static int viewScene(const tpViewOptions* options, tpView* view, tpServer* server) {
    tpScene* scene = openScene("view", options->run);
    if (scene == NULL) {
        return exitBadInput;
    }
    tpError error;
    tpLiveDef def = { .scene = scene,
                      .name = titleOfScene(scene),
                      .threadCount = options->threads,
                      .memoryLimit = memoryLimit,
                      .news = tellServer,
                      .context = server };
    int status = exitDone;
    if (tpScene_Override(scene, &options->overrides, &error) != tp_success ||
        (view->live = createLiveRun(&def, &error)) == NULL) {
        complainOfScene("view", &error);
        status = exitBadInput;
    } else {
        view->source = sourceOfLiveRun(view->live);
        status = serve(server, options);
        // Nothing is lost with a run that is not recorded: whoever ends the program need not wait
        // for the end of a long step.
        if (!endLiveRun(view->live, longestFarewell)) {
            fflush(stdout);
            _Exit(status);
        }
        destroyLiveRun(view->live);
    }
    tpDestroyScene(scene);
    return status;
}

static bool isRecording(const char* path) {
    static const char signature[] = { '\x89', 'H', 'D', 'F' };
    char start[sizeof(signature)];
    tpError unheard; // what it is instead is told when it is read as a scene
    int64_t size = -1;
    FILE* file = tpOpenInput(path, &size, &unheard);
    bool isOne = file != NULL && size >= 0 &&
                 fread(start, 1, sizeof(start), file) == sizeof(start) &&
                 memcmp(start, signature, sizeof(start)) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return isOne;
}

int runView(int argumentCount, char** arguments) {
    tpViewOptions options = { .threads = 1 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    if (!hasPage("view", tpReplayPage())) {
        return exitBadInput;
    }
    tpView view = { .source = NULL };
    tpServerDef def = { .port = options.port, .answer = answer, .context = &view };
    tpServer* server = createServer("view", &def);
    if (server == NULL) {
        return exitBadInput;
    }
    int status = isRecording(options.run) ? viewRecording(&options, &view, server)
                                          : viewScene(&options, &view, server);
    destroyServer(server);
    return status;
}
