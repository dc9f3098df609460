// Two runs that want the same file: one has it, the other is told so, and the file is whole.

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "falling_world.h"
#include "made_frames.h"

static char path[256];

static tpRecorder* openRecorder(const char* where, const tpWorld* world, tpError* error) {
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = where;
    def.step = fallingStep;
    return tpCreateRecorder(&def, world, error);
}

static void recordSteps(tpRecorder* recorder, tpWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    }
}

static int64_t countFrames(const char* where) {
    tpError error;
    tpRecording* recording = tpOpenRecording(where, NULL, &error);
    if (recording == NULL) {
        fail_msg("%s", error.message);
    }
    assert_true(tpRecording_GetInfo(recording)->finished);
    int64_t count = tpRecording_GetInfo(recording)->frameCount;
    tpCloseRecording(recording);
    return count;
}

// By its own name, through a link, and by the path of the program that has it open.
static void testSecondIsRefused(void** state) {
    (void)state;
    char soft[256];
    strcpy(soft, testPath("soft.h5"));
    assert_int_equal(symlink(path, soft), 0);
    tpWorld* world = makeFallingWorld();
    tpError error = { tp_success, "" };
    tpRecorder* first = openRecorder(soft, world, &error); // the link leads to where nothing is yet
    assert_non_null(first);
    recordSteps(first, world, 10);
    const char* const names[] = { path, soft };
    for (int i = 0; i < 2; ++i) {
        assert_null(openRecorder(names[i], world, &error));
        assert_int_equal(error.result, tp_ioError);
        assert_non_null(strstr(error.message, "two.h5: another run is recording to it"));
    }
    recordSteps(first, world, 10);
    CHECK_OK(tpCloseRecorder(first, NULL, failure));
    assert_int_equal(countFrames(path), 21);
    // Then it is free again.
    tpRecorder* second = openRecorder(path, world, &error);
    assert_non_null(second);
    recordSteps(second, world, 3);
    CHECK_OK(tpCloseRecorder(second, NULL, failure));
    assert_int_equal(countFrames(path), 4);
    struct stat status;
    assert_int_equal(lstat(soft, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    tpDestroyWorld(world);
}

// Readers of other programs may look at a recording that is being written.
static void testReadersAreWelcome(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpError error;
    tpRecorder* recorder = openRecorder(path, world, &error);
    recordSteps(recorder, world, 10);
    int file = open(path, O_RDONLY);
    assert_int_equal(flock(file, LOCK_SH | LOCK_NB), 0); // as HDF5 does
    close(file);
    hid_t other = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(other >= 0);
    H5Fclose(other);
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
}

// Links that lie where the part or the journal would go lead to files that are not touched.
static void testPlantedLinks(void** state) {
    (void)state;
    char victim[256], name[400];
    strcpy(victim, testPath("victim"));
    FILE* file = fopen(victim, "w");
    fputs("precious", file);
    fclose(file);
    static const char* const endings[] = { ".part", ".journal" };
    for (int i = 0; i < 2; ++i) {
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
        assert_int_equal(symlink(victim, name), 0);
    }
    tpWorld* world = makeFallingWorld();
    tpError error;
    tpRecorder* recorder = openRecorder(path, world, &error);
    assert_non_null(recorder);
    // A link that comes while the run goes on stops the recording; it is not written through.
    recordSteps(recorder, world, 3);
    while (symlink(victim, name) != 0) { // a journal may be there at this moment
        assert_int_equal(errno, EEXIST);
    }
    tpResult result = tpCloseRecorder(recorder, NULL, &error);
    char text[20] = "";
    file = fopen(victim, "r");
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "precious");
    assert_int_equal(result, tp_ioError);
    unlink(name);
    tpDestroyWorld(world);
}

// Whole programs, started together: whichever has the file, it holds one run, to the last frame.
static void testPrograms(void** state) {
    (void)state;
    char command[600], together[256];
    strcpy(together, testPath("d.h5"));
    for (int round = 0; round < 6; ++round) {
        unlink(together);
        pid_t children[2];
        for (int i = 0; i < 2; ++i) {
            snprintf(command, sizeof(command),
                     TIPPE_PROGRAM " run " TIPPE_SOURCE_DIR
                                   "/scenes/t_handle.json --until %d --quiet --out %s 2> /dev/null",
                     round % 2 == 0 ? 2 : 4, together);
            fflush(NULL);
            children[i] = fork();
            if (children[i] == 0) {
                execl("/bin/sh", "sh", "-c", command, (char*)NULL);
                _exit(127);
            }
        }
        int done = 0;
        for (int i = 0; i < 2; ++i) {
            int status = 0;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status));
            assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
            done += WEXITSTATUS(status) == 0 ? 1 : 0;
        }
        assert_true(done >= 1);
        countFrames(together);
        snprintf(command, sizeof(command), TIPPE_PROGRAM " verify --quiet %s", together);
        assert_int_equal(system(command), 0);
    }
    // Nothing else is left of them.
    snprintf(command, sizeof(command), "ls %s* | wc -l | grep -qx 1", together);
    assert_int_equal(system(command), 0);
}

static int setUp(void** state) {
    (void)state;
    strcpy(path, testPath("two.h5"));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return 0;
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSecondIsRefused),
        cmocka_unit_test(testReadersAreWelcome),
        cmocka_unit_test(testPlantedLinks),
        cmocka_unit_test(testPrograms),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
