// A recording as a page in one file.

#ifndef TIPPE_APP_RUN_PAGE_H
#define TIPPE_APP_RUN_PAGE_H

#include "tippe/recording.h"

typedef enum tpPageResult { pageWritten, pageNotRead, pageNotWritten } tpPageResult;

// Every `every`-th frame; 0: all of them, or as many as make a file that can be mailed. What was
// wrong is printed to standard error. `kept` is told how many frames lie between two of the page's.
tpPageResult writeRunPage(const char* command, tpRecording* recording, const char* path, int every,
                          int64_t* kept);

#endif
