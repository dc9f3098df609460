// A line on the terminal that tells how far a run is. If standard error is no terminal, nothing.

#ifndef TIPPE_APP_PROGRESS_H
#define TIPPE_APP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tpProgress {
    bool isShown;
    int64_t stepCount;
    double step;            // s, simulated; 0: of several runs, which have no common time
    double started, redraw; // s, of the monotonic clock
    bool isDrawn;           // there is a line to erase
} tpProgress;

void startProgress(tpProgress* progress, bool isWanted, int64_t stepCount, double step);
void showProgress(tpProgress* progress, int64_t stepsDone);
void endProgress(tpProgress* progress); // erases the line

// The line for `width` columns: bar, percentage, simulated time, rate, real-time factor, time left.
void formatProgress(char* line, int size, int width, int64_t stepsDone, int64_t stepCount,
                    double step, double elapsed);

#endif
