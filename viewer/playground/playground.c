// The playground's side of WebAssembly: a scene is opened, asked, ordered and stepped between the
// messages of a page.
//
// One run at a time. Texts and blocks of bytes go through memory that the page takes with
// tpPlay_Take and gives back; what comes back lies at tpPlay_Reply until the next call.

#include <emscripten/emscripten.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/answers.h"

// Frames in memory. The module itself may grow to a gigabyte.
static const size_t memoryLimit = (size_t)192 * 1024 * 1024;

enum { mostBodies = 20000 };

static tpScene* scene;
static tpView view;
static tpReply reply;
static tpBytes series; // a reply that was read piece by piece

static void hearNothing(void* context) {
    (void)context;
}

// What is wrong with a scene, each message with its place, as JSON.
static void writeErrors(const tpSceneErrors* errors, tpText* text) {
    tpText_Add(text, "{\"errors\":[");
    for (int i = 0; i < errors->count; ++i) {
        tpText_Add(text, i > 0 ? "," : "");
        writeQuoted(text, errors->list[i].message);
    }
    tpText_Add(text, "]}");
}

static void replyWith(int status, tpText* text) {
    clearReply(&reply);
    reply.status = status;
    if (!text->failed) {
        appendBytes(&reply.bytes, text->bytes.data, (size_t)text->bytes.count);
    }
    tpText_Free(text);
}

static tpResult openRun(tpSceneErrors* errors) {
    if (scene->bodies.count > mostBodies) {
        snprintf(errors->list[0].message, sizeof(errors->list[0].message),
                 "the playground takes scenes of up to %d bodies, this one has %d", mostBodies,
                 (int)scene->bodies.count);
        return tp_badInput;
    }
    tpLiveDef def = { .scene = scene,
                      .name = scene->name.text != NULL ? scene->name.text : "A scene",
                      .threadCount = 1,
                      .memoryLimit = memoryLimit,
                      .isDriven = true,
                      .news = hearNothing };
    view = (tpView){ .live = createLiveRun(&def, &errors->list[0]) };
    if (view.live == NULL) {
        return tp_badInput;
    }
    view.source = sourceOfLiveRun(view.live);
    return tp_success;
}

// The reply ---------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void* tpPlay_Take(int size) {
    return malloc((size_t)size + 1);
}

EMSCRIPTEN_KEEPALIVE void tpPlay_GiveBack(void* memory) {
    free(memory);
}

EMSCRIPTEN_KEEPALIVE const unsigned char* tpPlay_Reply(void) {
    return series.count > 0 ? series.data : reply.bytes.data;
}

EMSCRIPTEN_KEEPALIVE int tpPlay_ReplySize(void) {
    return series.count > 0 ? series.count : reply.bytes.count;
}

// Calls -------------------------------------------------------------------------------------------

// Opens a scene of the module's own files; the run stands at its start. 200, or 400 with {
// "errors": [...] }: then the run that was there before still is.
EMSCRIPTEN_KEEPALIVE int tpPlay_Open(const char* path) {
    static tpSceneErrors errors;
    tpAllocator allocator = tpDefaultAllocator();
    tpScene *opened = NULL, *before = scene;
    tpView viewBefore = view;
    series.count = 0;
    errors = (tpSceneErrors){ 0 };
    tpResult result = tpReadSceneErrors(path, NULL, &opened, &errors);
    if (result == tp_success) {
        scene = opened;
        errors.count = 1;
        result = openRun(&errors);
    }
    tpText text = { .allocator = &allocator };
    if (result != tp_success) {
        if (opened != NULL) {
            tpDestroyScene(opened);
        }
        scene = before;
        view = viewBefore;
        writeErrors(&errors, &text);
        replyWith(400, &text);
        return 400;
    }
    destroyLiveRun(viewBefore.live);
    tpDestroyScene(before);
    tpText_Add(&text, "{}");
    replyWith(200, &text);
    return 200;
}

// Reads a scene without opening it: 200, or 400 with { "errors": [...] }.
EMSCRIPTEN_KEEPALIVE int tpPlay_Check(const char* path) {
    static tpSceneErrors errors;
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    tpScene* read = NULL;
    series.count = 0;
    errors = (tpSceneErrors){ 0 };
    int status = tpReadSceneErrors(path, NULL, &read, &errors) == tp_success ? 200 : 400;
    tpDestroyScene(read);
    writeErrors(&errors, &text);
    replyWith(status, &text);
    return status;
}

// Asks as the page asks a server; see app/page/answers.h.
EMSCRIPTEN_KEEPALIVE int tpPlay_Ask(const char* path, const char* query) {
    clearReply(&reply);
    series.count = 0;
    if (view.source == NULL) {
        replyWithError(&reply, 404, "no scene is open");
        return reply.status;
    }
    answerPage(&view, &(tpPageRequest){ .path = path, .query = query }, true, &reply);
    tpError error;
    while (reply.hasSeries && reply.series.next < reply.series.end) {
        if (readSeries(&reply.series, &series, &error) != tp_success) {
            series.count = 0;
            clearReply(&reply);
            replyWithError(&reply, 404, error.message);
        }
    }
    return reply.status;
}

EMSCRIPTEN_KEEPALIVE int tpPlay_Order(const char* body, int size) {
    clearReply(&reply);
    series.count = 0;
    if (view.live == NULL) {
        replyWithError(&reply, 404, "no scene is open");
        return reply.status;
    }
    answerPage(&view,
               &(tpPageRequest){ .isOrder = true,
                                 .path = "command",
                                 .query = "",
                                 .body = body,
                                 .bodySize = (size_t)size },
               true, &reply);
    return reply.status;
}

// Takes the steps that are due, for some seconds; the time until the next one, or -1 if the run
// stands.
EMSCRIPTEN_KEEPALIVE double tpPlay_Advance(double seconds) {
    double wait = view.live != NULL ? advanceLiveRun(view.live, seconds) : INFINITY;
    return isinf(wait) ? -1.0 : wait;
}

// The hash of the state after some steps of a scene from its start, as tippe run --hash prints it.
// The run of the page is not touched. 0 if the scene cannot be run.
static tpScene* hashedScene;
static tpWorld* hashedWorld;

EMSCRIPTEN_KEEPALIVE const char* tpPlay_EndHash(void) {
    static char words[17];
    snprintf(words, sizeof(words), "%016llx",
             hashedWorld != NULL ? (unsigned long long)tpWorld_HashState(hashedWorld) : 0ULL);
    tpDestroyWorld(hashedWorld);
    tpDestroyScene(hashedScene);
    hashedWorld = NULL;
    hashedScene = NULL;
    return words;
}

EMSCRIPTEN_KEEPALIVE int tpPlay_BeginHash(const char* path) {
    tpError error;
    tpPlay_EndHash();
    return tpReadScene(path, NULL, &hashedScene, &error) == tp_success &&
           tpScene_CreateWorld(hashedScene, NULL, 1, &hashedWorld, &error) == tp_success;
}

EMSCRIPTEN_KEEPALIVE void tpPlay_StepHash(int steps) {
    for (int k = 0; k < steps && hashedWorld != NULL; ++k) {
        tpWorld_Step(hashedWorld, hashedScene->simulation.step);
    }
}
