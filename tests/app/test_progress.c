// The progress line: what it says, that it fits, and that it is drawn on terminals alone.

// Pseudo-terminals are an extension of POSIX by X/Open.
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "support/check.h"

static void sayHowFar(void** state) {
    (void)state;
    char line[256];
    formatProgress(line, sizeof(line), 120, 250, 1000, 0.01, 0.5);
    assert_string_equal(line, "[##########..............................]  25%  t = 2.5 s  500 "
                              "steps/s  5x real time  0:02 left");
    formatProgress(line, sizeof(line), 120, 1, 1000000, 0.01, 60.0);
    assert_non_null(strstr(line, "> 99 h left"));
    formatProgress(line, sizeof(line), 120, 10, 36000, 0.01, 1.0);
    assert_non_null(strstr(line, "59:59 left"));
    formatProgress(line, sizeof(line), 120, 0, 1000, 0.01, 0.0);
    assert_non_null(strstr(line, "-:-- left"));
}

static void fitTerminal(void** state) {
    (void)state;
    for (int width = 10; width < 200; ++width) {
        for (int64_t done = 0; done <= 1000; done += 250) {
            char line[256];
            formatProgress(line, sizeof(line), width, done, 1000, 0.01, 3.0);
            assert_true((int)strlen(line) < width);
        }
    }
}

// What the program prints on standard error when that is a terminal.
static void drawOnTerminal(void** state) {
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        skip();
    }
    const char* name = ptsname(master);
    pid_t child = fork();
    if (child == 0) {
        int terminal = open(name, O_RDWR | O_NOCTTY);
        dup2(terminal, STDERR_FILENO);
        if (freopen("/dev/null", "w", stdout) == NULL) {
            _exit(99);
        }
        execl(TIPPE_PROGRAM, "tippe", "run", TIPPE_SOURCE_DIR "/scenes/t_handle.json", "--step",
              "1e-5", "--until", "6", (char*)NULL);
        _exit(99);
    }
    assert_true(child > 0);
    int terminal = open(name, O_RDWR | O_NOCTTY); // keeps the master readable until we are done
    static char text[65536];
    size_t length = 0;
    int status = 0;
    fcntl(master, F_SETFL, O_NONBLOCK);
    for (bool isOver = false; !isOver;) {
        isOver = waitpid(child, &status, WNOHANG) == child;
        ssize_t got;
        while ((got = read(master, text + length, sizeof(text) - 1 - length)) > 0) {
            length += (size_t)got;
        }
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    close(terminal);
    close(master);
    text[length] = '\0';
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(text, "steps/s"));
    assert_non_null(strstr(text, "left"));
    // The last thing done is to erase the line.
    assert_true(length > 4 && strcmp(text + length - 4, "\r\033[K") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sayHowFar),
        cmocka_unit_test(fitTerminal),
        cmocka_unit_test(drawOnTerminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
