// The Python example of docs/recordings.md, run as it stands there on a recording made here.
// Skipped if there is no h5py.

#include <stdlib.h>
#include <string.h>

#include "made_frames.h"

// Copies the first block of a language out of a document.
static void extractBlock(const char* document, const char* fence, const char* to) {
    FILE* in = fopen(document, "r");
    FILE* out = fopen(to, "w");
    assert_non_null(in);
    assert_non_null(out);
    char line[1000];
    bool inside = false;
    int lines = 0;
    while (fgets(line, sizeof(line), in) != NULL) {
        if (!inside && strcmp(line, fence) == 0) {
            inside = true;
        } else if (inside && strcmp(line, "```\n") == 0) {
            break;
        } else if (inside) {
            fputs(line, out);
            lines += 1;
        }
    }
    fclose(in);
    fclose(out);
    assert_true(lines > 10);
}

static void testExample(void** state) {
    (void)state;
    if (system("python3 -c 'import h5py' 2>/dev/null") != 0) {
        print_message("python3 with h5py is not installed\n");
        skip();
    }
    char run[256], script[256], output[256], command[1000];
    strcpy(run, testPath("run.h5"));
    strcpy(script, testPath("example.py"));
    strcpy(output, testPath("output.txt"));
    MadeRun made;
    makeRun(&made, 3, 1);
    tpRecordingHead head = madeHead(&made);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    CHECK_OK(tpWriter_Create(&writer, run, &head, &allocator, failure));
    tpPump_Start(&pump, &writer, &made.roster, false, &allocator);
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(addMadeFrame(&pump, &made, k, failure));
    }
    CHECK_OK(tpPump_Stop(&pump, failure));
    CHECK_OK(tpWriter_Close(&writer, NULL, failure));
    freeRun(&made);

    extractBlock(TIPPE_SOURCE_DIR "/docs/recordings.md", "```python\n", script);
    snprintf(command, sizeof(command), "python3 %s %s > %s 2>&1", script, run, output);
    int status = system(command);
    FILE* file = fopen(output, "r");
    char text[8000] = "";
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    if (status != 0) {
        fail_msg("the example failed:\n%s", text);
    }
    assert_non_null(strstr(text, "free-flight with a step of 0.125 s\n"));
    assert_non_null(strstr(text, "ball1 goes from ["));
    assert_non_null(strstr(text, "largest residual at t = "));
    // Frame 2 has 14 contacts; that of number 13 is on the second ball, with 13 N s.
    assert_non_null(strstr(text, "ball2 on ground 13.0 N s\n"));
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testExample) };
    return cmocka_run_group_tests(tests, NULL, tearDown);
}
