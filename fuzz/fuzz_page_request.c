// What a page may send, as any bytes: queries are read or refused, orders are read or refused, and
// a world obeys every order that was read without losing its state.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "page/answers.h"

static const char sceneText[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": { \"friction\": 0.5 } },"
    " \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { \"name\": \"ball\", \"density\": 1000,"
    " \"material\": \"m\", \"position\": [0, 0, 1], \"shapes\": [ { \"type\": \"sphere\","
    " \"radius\": 0.3 } ] } ], \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01,"
    " \"until\": 10 } }";

static void hearNothing(void* context) {
    (void)context;
}

static tpLiveRun* makeRun(void) {
    static tpScene* scene;
    tpError error;
    if (scene == NULL) {
        REQUIRE(tpParseScene(sceneText, sizeof(sceneText) - 1, "scene", NULL, &scene, &error) ==
                tp_success);
    }
    tpLiveDef def = { .scene = scene,
                      .name = "fuzz",
                      .threadCount = 1,
                      .memoryLimit = 1 << 20,
                      .isDriven = true,
                      .news = hearNothing };
    return createLiveRun(&def, &error);
}

static void ask(tpView* view, bool isOrder, const char* path, const char* words) {
    tpPageRequest request = { .isOrder = isOrder,
                              .path = path,
                              .query = isOrder ? "" : words,
                              .body = words,
                              .bodySize = strlen(words) };
    tpReply reply = { 0 };
    answerPage(view, &request, true, &reply);
    REQUIRE(reply.status >= 200 && reply.status < 600 && reply.type != NULL);
    tpError error;
    while (reply.hasSeries && reply.series.next < reply.series.end) {
        REQUIRE(readSeries(&reply.series, &reply.bytes, &error) == tp_success);
    }
    clearReply(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 2000) {
        return 0;
    }
    char* words = malloc(size + 1);
    REQUIRE(words != NULL);
    memcpy(words, data, size);
    words[size] = '\0';
    int64_t number = 0;
    REQUIRE(!readQueryNumber(words, "first", 7, &number) ||
            (number >= 0 && number < 1000000000000000));
    tpLiveRun* run = makeRun();
    REQUIRE(run != NULL);
    tpView view = { .source = sourceOfLiveRun(run), .live = run };
    const char* const paths[] = { "head",  "labels",   "frames", "overview", "body",
                                  "joint", "contacts", "live",   words };
    // Orders, one per line, each followed by a step; then the whole as a query.
    for (char* line = words; line != NULL;) {
        char* end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        ask(&view, true, "command", line);
        advanceLiveRun(run, 0.0);
        ask(&view, true, "command", "{\"steps\":1,\"step\":0.01,\"running\":false}");
        advanceLiveRun(run, 0.0);
        line = end != NULL ? end + 1 : NULL;
    }
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); ++i) {
        ask(&view, false, paths[i], (const char*)words);
    }
    destroyLiveRun(run);
    free(words);
    return 0;
}
