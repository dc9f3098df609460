// What the page asks for, and what it gets: the same questions whether a server carries them
// (server.h) or the playground's worker asks in its own memory.
//
//     head labels settings coordinates frames overview body joint coordinate       answered
//     carrier contacts live                                                        answered
//     command                                                                      obeyed
//
// run_data.h says what is in the answers, live_order.h what in the orders.

#ifndef TIPPE_APP_PAGE_ANSWERS_H
#define TIPPE_APP_PAGE_ANSWERS_H

#include "page/live_run.h"
#include "page/run_data.h"

typedef struct tpPageRequest {
    bool isOrder;      // has a body; otherwise it asks
    const char* path;  // "frames"
    const char* query; // "first=0&count=3", or ""
    const char* body;
    size_t bodySize;
} tpPageRequest;

typedef struct tpReply {
    int status;       // as HTTP has them; 0: not yet, ask again when there is news or time is up
    const char* type; // of the content
    tpBytes bytes;    // the whole content, or nothing
    const unsigned char* text; // content that stays where it is; NULL: it is in `bytes`
    size_t textSize;
    bool hasSeries; // the content is what `series` gives
    tpSeriesCursor series;
} tpReply;

// A run that is looked at.
typedef struct tpView {
    tpRunSource* source;
    tpLiveRun* live; // NULL: a recording
    tpRunLabels labels;
} tpView;

// With `isLate` the answer may be put off no longer.
void answerPage(tpView* view, const tpPageRequest* request, bool isLate, tpReply* reply);

void replyWithError(tpReply* reply, int status, const char* message);
void clearReply(tpReply* reply);

// The value of NAME=VALUE in a query: a whole number of at most 15 digits. `missing` if it is not
// there; false if it is there and no such number.
bool readQueryNumber(const char* query, const char* name, int64_t missing, int64_t* number);

#endif
