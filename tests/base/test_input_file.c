// Files, devices and open pipes can be read; directories and named pipes are refused at once.

#include "base/input_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

static char directory[64];

static const char* pathOf(const char* name) {
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void openWhatCanBeRead(void** state) {
    (void)state;
    FILE* file = fopen(pathOf("file"), "w");
    fputs("text", file);
    fclose(file);
    int64_t size = 0;
    char text[8] = "";
    tpError error;
    file = tpOpenInput(pathOf("file"), &size, &error);
    assert_non_null(file);
    assert_int_equal(size, 4);
    assert_int_equal(fread(text, 1, 8, file), 4);
    fclose(file);
    file = tpOpenInput("/dev/null", &size, &error);
    assert_non_null(file);
    assert_int_equal(size, -1);
    fclose(file);
    // A pipe as a shell hands it over: a descriptor with a name. Reading it waits for the writer.
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char name[32];
    snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    file = tpOpenInput(name, &size, &error);
    assert_non_null(file);
    assert_int_equal(fcntl(fileno(file), F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    assert_int_equal(fread(text, 1, 8, file), 3);
    fclose(file);
    close(ends[0]);
}

static void refuseTheRest(void** state) {
    (void)state;
    tpError error;
    char expected[200];
    assert_null(tpOpenInput(pathOf("none"), NULL, &error));
    snprintf(expected, sizeof(expected), "%s: cannot be read: No such file or directory",
             pathOf("none"));
    assert_string_equal(error.message, expected);
    assert_null(tpOpenInput(directory, NULL, &error));
    snprintf(expected, sizeof(expected), "%s: is a directory; expected a file", directory);
    assert_string_equal(error.message, expected);
    assert_int_equal(mkfifo(pathOf("pipe"), 0666), 0);
    assert_null(tpOpenInput(pathOf("pipe"), NULL, &error));
    snprintf(expected, sizeof(expected), "%s: is a named pipe; expected a file", pathOf("pipe"));
    assert_string_equal(error.message, expected);
}

static int setUp(void** state) {
    (void)state;
    strcpy(directory, "/tmp/tippe_input_XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int tearDown(void** state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openWhatCanBeRead),
        cmocka_unit_test(refuseTheRest),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
