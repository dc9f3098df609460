#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double redrawInterval = 0.1; // s

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int terminalWidth(void) {
    struct winsize size;
    bool isKnown = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return isKnown ? size.ws_col : 80;
}

// Seconds as 0:07, 12:34 or 1:02:03.
static void formatDuration(char* buffer, size_t size, double seconds) {
    if (!(seconds < 359999.0)) {
        snprintf(buffer, size, "> 99 h");
        return;
    }
    int whole = (int)(seconds + 0.5);
    if (whole < 3600) {
        snprintf(buffer, size, "%d:%02d", whole / 60, whole % 60);
    } else {
        snprintf(buffer, size, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
    }
}

void formatProgress(char* line, int size, int width, int64_t stepsDone, int64_t stepCount,
                    double step, double elapsed) {
    double fraction = stepCount > 0 ? (double)stepsDone / (double)stepCount : 1.0;
    double rate = elapsed > 0.0 ? (double)stepsDone / elapsed : 0.0;
    char left[16] = "-:--";
    if (rate > 0.0) {
        formatDuration(left, sizeof(left), (double)(stepCount - stepsDone) / rate);
    }
    char words[128], times[64] = "", pace[32] = "";
    if (step > 0.0) {
        snprintf(times, sizeof(times), "t = %.4g s  ", (double)stepsDone * step);
        snprintf(pace, sizeof(pace), "%.3gx real time  ", rate * step);
    }
    int length = snprintf(words, sizeof(words), " %3.0f%%  %s%.3g steps/s  %s%s left",
                          100.0 * fraction, times, rate, pace, left);
    int room = width - 1 - length - 2; // of the bar; the last column stays free
    int barWidth = room < 40 ? room : 40;
    if (barWidth < 5) {
        snprintf(line, (size_t)size, "%.*s", width - 1, words + 1);
        return;
    }
    char bar[41];
    int filled = (int)(fraction * barWidth + 0.5);
    memset(bar, '#', (size_t)filled);
    memset(bar + filled, '.', (size_t)(barWidth - filled));
    bar[barWidth] = '\0';
    snprintf(line, (size_t)size, "[%s]%s", bar, words);
}

void startProgress(tpProgress* progress, bool isWanted, int64_t stepCount, double step) {
    *progress = (tpProgress){ .stepCount = stepCount, .step = step };
    progress->isShown = isWanted && isatty(STDERR_FILENO) == 1;
    progress->started = now();
    progress->redraw = progress->started + redrawInterval;
}

void showProgress(tpProgress* progress, int64_t stepsDone) {
    if (!progress->isShown) {
        return;
    }
    double time = now();
    if (time < progress->redraw) {
        return;
    }
    char line[256];
    formatProgress(line, sizeof(line), terminalWidth(), stepsDone, progress->stepCount,
                   progress->step, time - progress->started);
    fprintf(stderr, "\r%s\033[K", line); // back to the start, then clear what the last line left
    fflush(stderr);
    progress->redraw = time + redrawInterval;
    progress->isDrawn = true;
}

void endProgress(tpProgress* progress) {
    if (progress->isDrawn) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        progress->isDrawn = false;
    }
}
