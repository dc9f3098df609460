// tippe view: serves the page that shows a run, of a recording or of a simulation that goes on.

#include "view.h"

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "base/input_file.h"
#include "command.h"
#include "page_file.h"
#include "scene_file.h"
#include "server.h"

enum { mostPort = 65535 };

// Frames of a live run, in memory.
static const size_t memoryLimit = (size_t)512 * 1024 * 1024;

typedef struct tpViewOptions {
    const char* run;
    tpSceneOverrides overrides;
    tpArgumentList settings;
    bool isQuiet; // opens no browser
    int port, threads;
} tpViewOptions;

typedef struct tpView {
    tpRunSource* source;
    tpLiveRun* live; // NULL: a recording
    tpRunLabels labels;
    tpServer* server;
} tpView;

static const char notes[] = "Prints the address of the page and opens it where there is a desktop. "
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
          "the method, instead of the scene's; tippe list shows them", NULL },
        { "step", optionPositive, &options->overrides.step, "SECONDS",
          "the time of one step, instead of the scene's", NULL },
        { "set", optionList, &options->settings, "NAME=VALUE",
          "an option of the stepper, instead of the scene's; may stand more than once", NULL },
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
        .operands = operands,
        .operandCount = 1,
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
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

// Answers --------------------------------------------------------------------------------------------

static void answerHead(tpView* view, tpReply* reply) {
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator }, steppers = { .allocator = &allocator };
    tpText_Add(&steppers, "");
    if (view->live != NULL) {
        tpText_Add(&steppers, ",\"steppers\":[");
        bool isFirst = true;
        for (int i = 0; i < tp_stepperCount; ++i) {
            if (tpStepperIsAvailable((tpStepperId)i)) {
                tpText_Format(&steppers, "%s\"%s\"", isFirst ? "" : ",",
                              tpStepperName((tpStepperId)i));
                isFirst = false;
            }
        }
        tpText_Add(&steppers, "]");
    }
    text.failed = steppers.failed;
    writeRunHead(view->source, view->live != NULL ? "live" : "recording",
                 steppers.failed ? "" : steppers.bytes.data, &text);
    tpText_Free(&steppers);
    replyWithText(reply, "application/json", &text);
}

static void answerLabels(const tpView* view, tpReply* reply) {
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    writeRunLabels(&view->labels, &text);
    replyWithText(reply, "application/json", &text);
}

// first, count and stride of a query, within what there is.
static bool readRange(tpView* view, const tpHttpRequest* request, int64_t* first, int64_t* count,
                      int64_t* stride, tpReply* reply) {
    tpRunRange range = view->source->class->getRange(view->source);
    bool isRead = readHttpNumber(request, "first", 0, first) &&
                  readHttpNumber(request, "count", 1, count) &&
                  readHttpNumber(request, "stride", 1, stride);
    if (!isRead || *count < 1 || *stride < 1) {
        replyWithError(reply, 400, "first, count and stride are whole numbers");
        return false;
    }
    if (*first < range.firstFrame || *first >= range.frameCount) {
        replyWithError(reply, 404, "there is no such frame");
        return false;
    }
    return true;
}

static void answerFrames(tpView* view, const tpHttpRequest* request, tpReply* reply) {
    tpFramesQuery query = { .width = poseWidth, .withReactions = true };
    int64_t contacts = 0;
    if (!readRange(view, request, &query.first, &query.count, &query.stride, reply)) {
        return;
    }
    tpRunRange range = view->source->class->getRange(view->source);
    int64_t most = (range.frameCount - 1 - query.first) / query.stride + 1;
    if (query.count > most || !readHttpNumber(request, "contacts", 1, &contacts)) {
        replyWithError(reply, 404, "there are no such frames");
        return;
    }
    query.withContacts = contacts != 0;
    tpError error;
    reply->status = 200;
    reply->type = "application/octet-stream";
    if (writeFrames(view->source, &query, &reply->bytes, &error) != tp_success) {
        freeBytes(&reply->bytes);
        replyWithError(reply, error.result == tp_badInput ? 404 : 500, error.message);
    }
}

static void answerSeries(tpView* view, const tpHttpRequest* request, tpSeriesKind kind,
                         tpReply* reply) {
    tpRunInfo info = view->source->class->getInfo(view->source);
    tpSeriesCursor series = { .source = view->source, .kind = kind, .labels = &view->labels };
    int64_t count, body = 0;
    if (!readRange(view, request, &series.next, &count, &series.stride, reply)) {
        return;
    }
    int64_t bodies = kind == tp_bodySeries    ? info.movingCount
                     : kind == tp_jointSeries ? info.jointCount
                                              : info.bodyCount;
    tpRunRange range = view->source->class->getRange(view->source);
    if (!readHttpNumber(request, kind == tp_jointSeries ? "joint" : "body", 0, &body) ||
        (kind != tp_overviewSeries && body >= bodies) || count > range.frameCount - series.next) {
        replyWithError(reply, 404, "there is no such body or joint, or not so many frames");
        return;
    }
    series.end = series.next + count;
    series.body = (int)body;
    reply->status = 200;
    reply->type = "application/octet-stream";
    reply->hasSeries = true;
    reply->series = series;
}

// What is new in a live run; put off while there is nothing.
static void answerLive(tpView* view, const tpHttpRequest* request, bool isLate, tpReply* reply) {
    int64_t after = 0, version = 0;
    if (view->live == NULL || !readHttpNumber(request, "after", 0, &after) ||
        !readHttpNumber(request, "version", 0, &version)) {
        replyWithError(reply, view->live == NULL ? 404 : 400, "after and version are numbers");
        return;
    }
    tpLiveStatus status = statusOfLiveRun(view->live);
    if (status.frameCount == after && status.version == (uint64_t)version && !isLate) {
        return;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    tpText_Format(&text, "{\"first\":%lld,\"frames\":%lld,\"version\":%llu,\"epoch\":%llu",
                  (long long)status.firstFrame, (long long)status.frameCount,
                  (unsigned long long)status.version, (unsigned long long)status.epoch);
    tpText_Format(&text, ",\"running\":%s,\"stepper\":\"%s\",\"step\":",
                  status.isRunning ? "true" : "false", tpStepperName(status.stepper));
    tpText_AddNumber(&text, status.step);
    tpText_Add(&text, ",\"speed\":");
    tpText_AddNumber(&text, status.speed);
    tpText_Add(&text, ",\"factor\":");
    tpText_AddNumber(&text, isfinite(status.factor) ? status.factor : 0.0);
    tpText_Add(&text, ",\"message\":");
    writeQuoted(&text, status.message);
    tpText_Add(&text, "}");
    replyWithText(reply, "application/json", &text);
}

static void answerCommand(tpView* view, const tpHttpRequest* request, const char* body,
                          tpReply* reply) {
    tpLiveOrder order;
    tpError error;
    if (view->live == NULL) {
        replyWithError(reply, 404, "a recording takes no orders");
    } else if (readLiveOrder(body, request->bodySize, &order, &error) != tp_success) {
        replyWithError(reply, 400, error.message);
    } else {
        orderLiveRun(view->live, &order);
        reply->status = 204;
        reply->type = "text/plain";
    }
}

static void answer(void* context, const tpHttpRequest* request, tpSpan path, const char* body,
                   bool isLate, tpReply* reply) {
    tpView* view = context;
    bool isPost = request->method == httpPost;
    if (isPost != isSpan(path, "command")) {
        replyWithError(reply, 405, "not that way");
    } else if (isPost) {
        answerCommand(view, request, body, reply);
    } else if (path.length == 0) {
        tpPage page = tpReplayPage();
        reply->status = 200;
        reply->type = "text/html; charset=utf-8";
        reply->text = page.text;
        reply->textSize = page.size;
    } else if (isSpan(path, "head")) {
        answerHead(view, reply);
    } else if (isSpan(path, "labels")) {
        answerLabels(view, reply);
    } else if (isSpan(path, "frames")) {
        answerFrames(view, request, reply);
    } else if (isSpan(path, "overview")) {
        answerSeries(view, request, tp_overviewSeries, reply);
    } else if (isSpan(path, "body")) {
        answerSeries(view, request, tp_bodySeries, reply);
    } else if (isSpan(path, "joint")) {
        answerSeries(view, request, tp_jointSeries, reply);
    } else if (isSpan(path, "contacts")) {
        answerSeries(view, request, tp_contactSeries, reply);
    } else if (isSpan(path, "live")) {
        answerLive(view, request, isLate, reply);
    } else {
        replyWithError(reply, 404, "nothing here");
    }
}

// Serving --------------------------------------------------------------------------------------------

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

// Asks the desktop, where there is one, to open the page.
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

static void serve(tpView* view, const tpViewOptions* options) {
    catchSignals(view->server);
    printf("%s\n", addressOfServer(view->server));
    fflush(stdout);
    if (!options->isQuiet) {
        openBrowser(addressOfServer(view->server));
    }
    runServer(view->server, &isStopped);
}

static int viewRecording(const tpViewOptions* options, tpView* view) {
    tpError error;
    tpRecording* recording = tpOpenRecording(options->run, NULL, &error);
    if (recording == NULL) {
        fprintf(stderr, "tippe view: %s\n", error.message);
        return exitBadInput;
    }
    tpRecordedRun run = makeRecordedRun(recording);
    view->source = &run.source;
    serve(view, options);
    tpCloseRecording(recording);
    return exitDone;
}

static void tellServer(void* context) {
    wakeServer(context);
}

static int viewScene(const tpViewOptions* options, tpView* view) {
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
                      .context = view->server };
    int status = exitDone;
    if (tpScene_Override(scene, &options->overrides, &error) != tp_success ||
        (view->live = createLiveRun(&def, &error)) == NULL) {
        complainOfScene("view", &error);
        status = exitBadInput;
    } else {
        view->source = sourceOfLiveRun(view->live);
        serve(view, options);
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
        return parsed == argumentsHelped ? exitDone : exitBadInput;
    }
    if (!hasPage("view", tpReplayPage())) {
        return exitBadInput;
    }
    tpView view = { .source = NULL };
    tpServerDef def = { .port = options.port, .answer = answer, .context = &view };
    view.server = createServer("view", &def);
    if (view.server == NULL) {
        return exitBadInput;
    }
    int status =
        isRecording(options.run) ? viewRecording(&options, &view) : viewScene(&options, &view);
    destroyServer(view.server);
    return status;
}
