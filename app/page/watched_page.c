#include "page/watched_page.h"

#include <stdio.h>

#include "base/error.h"
#include "page/answers.h"

struct tpWatchedPage {
    tpView view;
    tpReply reply;
    tpBytes series; // a reply that was read piece by piece
    char title[128];
};

static void hearNothing(void* context) {
    (void)context;
}

tpWatchedPage* createWatchedPage(tpWorld* world, double step, const char* title, size_t memoryLimit,
                                 tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    tpWatchedPage* page = tpAllocateZeroed(&allocator, sizeof(*page));
    if (page == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    snprintf(page->title, sizeof(page->title), "%s", title);
    const tpLiveDef def = { .world = world,
                            .step = step,
                            .name = page->title,
                            .memoryLimit = memoryLimit,
                            .news = hearNothing };
    page->view.live = createLiveRun(&def, error);
    if (page->view.live == NULL) {
        tpRelease(&allocator, page, sizeof(*page));
        return NULL;
    }
    page->view.source = sourceOfLiveRun(page->view.live);
    return page;
}

void destroyWatchedPage(tpWatchedPage* page) {
    if (page == NULL) {
        return;
    }
    tpAllocator allocator = tpDefaultAllocator();
    destroyLiveRun(page->view.live);
    clearReply(&page->reply);
    freeBytes(&page->series);
    tpRelease(&allocator, page, sizeof(*page));
}

void noteWatchedChange(tpWatchedPage* page) {
    noteLiveChange(page->view.live);
}

void noteWatchedStep(tpWatchedPage* page, const tpStepReport* report, double h) {
    noteLiveStep(page->view.live, report, h);
}

static tpPageAnswer answer(tpWatchedPage* page, const tpPageRequest* request, bool isLate) {
    clearReply(&page->reply);
    page->reply = (tpReply){ 0 };
    page->series.count = 0;
    answerPage(&page->view, request, isLate, &page->reply);
    tpSeriesCursor* series = &page->reply.series;
    tpError error;
    while (page->reply.hasSeries && series->next < series->end) {
        if (readSeries(series, &page->series, &error) != tp_success) {
            page->series.count = 0;
            clearReply(&page->reply);
            page->reply = (tpReply){ 0 };
            replyWithError(&page->reply, 404, error.message);
        }
    }
    const tpBytes* content = page->series.count > 0 ? &page->series : &page->reply.bytes;
    return (tpPageAnswer){ .status = page->reply.status,
                           .type = page->reply.type,
                           .content = content->data,
                           .size = (size_t)content->count };
}

tpPageAnswer askWatchedPage(tpWatchedPage* page, const char* path, const char* query, bool isLate) {
    const tpPageRequest request = { .path = path, .query = query };
    return answer(page, &request, isLate);
}

tpPageAnswer orderWatchedPage(tpWatchedPage* page, const char* body, size_t size) {
    const tpPageRequest request = {
        .isOrder = true, .path = "command", .query = "", .body = body, .bodySize = size
    };
    return answer(page, &request, true);
}
