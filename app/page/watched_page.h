// The page of a world that someone else steps: the Python package's, whose server carries questions
// and answers (answers.h).
//
// Steps are noted by the thread that takes them; questions may come from another one. Also for C++.

#ifndef TIPPE_APP_PAGE_WATCHED_PAGE_H
#define TIPPE_APP_PAGE_WATCHED_PAGE_H

#include <stddef.h>

#include "tippe/tippe.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tpWatchedPage tpWatchedPage;

// An answer; the content holds until the next question.
typedef struct tpPageAnswer {
    int status;       // as HTTP has them; 0: nothing is new yet, ask again
    const char* type; // of the content
    const unsigned char* content;
    size_t size;
} tpPageAnswer;

// The world has to live longer. `step` is the length that its steps usually have, s; beyond
// `memoryLimit` bytes the oldest frames are forgotten. NULL on failure, with the reason in `error`.
tpWatchedPage* createWatchedPage(tpWorld* world, double step, const char* title, size_t memoryLimit,
                                 tpError* error);
void destroyWatchedPage(tpWatchedPage* page);

// Before steps, while nobody asks: looks whether bodies came or went; the run begins anew then.
void noteWatchedChange(tpWatchedPage* page);

// After each step.
void noteWatchedStep(tpWatchedPage* page, const tpStepReport* report, double h);

// With `isLate` the answer may be put off no longer.
tpPageAnswer askWatchedPage(tpWatchedPage* page, const char* path, const char* query, bool isLate);
tpPageAnswer orderWatchedPage(tpWatchedPage* page, const char* body, size_t size);

#ifdef __cplusplus
}
#endif

#endif
