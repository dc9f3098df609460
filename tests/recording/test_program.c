// The program on recordings: run, kill, repair, export, verify, and a disk that is full.

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "made_frames.h"

static char directory[256];

// Runs a command line in the test's directory; `tippe` in it is the program. Returns its exit
// status.
static int runLine(const char* line) {
    char command[2000];
    snprintf(command, sizeof(command), "cd %s; tippe() { " TIPPE_PROGRAM " \"$@\"; }; %s",
             directory, line);
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void testExportIsTheRun(void** state) {
    (void)state;
    assert_int_equal(runLine("tippe run falling_rod --quiet --every 3 --out a.h5 --csv a.csv "
                             "--contacts a_contacts.csv"),
                     0);
    assert_int_equal(runLine("tippe export a.h5 --csv b.csv --contacts b_contacts.csv"), 0);
    assert_int_equal(runLine("cmp a.csv b.csv && cmp a_contacts.csv b_contacts.csv"), 0);
    assert_int_equal(runLine("test $(wc -l < a_contacts.csv) -gt 50"), 0);
    assert_int_equal(runLine("tippe repair a.h5 > /dev/null"), 0);
}

static void testVerify(void** state) {
    (void)state;
    assert_int_equal(runLine("tippe run four_balls --quiet --out v.h5"), 0);
    assert_int_equal(runLine("tippe verify v.h5 --quiet"), 0);
    // The same head and another hash in one frame: the run is no longer this one.
    char path[300];
    snprintf(path, sizeof(path), "%s/v.h5", directory);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t data = H5Dopen2(file, "/state_hash", H5P_DEFAULT);
    hid_t space = H5Dget_space(data), one = H5Screate(H5S_SCALAR);
    hsize_t place = 20;
    uint64_t hash = 1;
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &place);
    assert_true(H5Dwrite(data, H5T_NATIVE_UINT64, one, space, H5P_DEFAULT, &hash) >= 0);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    assert_int_equal(runLine("tippe verify v.h5 > verdict"), 1);
    assert_int_equal(runLine("grep -q 'from frame 20 on' verdict"), 0);
}

static void testBadInput(void** state) {
    (void)state;
    assert_int_equal(runLine("tippe export nothing.h5 --csv n.csv 2> message"), 2);
    assert_int_equal(runLine("grep -q 'nothing.h5: No such file' message && test ! -e n.csv"), 0);
    assert_int_equal(runLine("echo words > w.h5; tippe export w.h5 --csv n.csv 2> message"), 2);
    assert_int_equal(runLine("grep -q 'not a recording' message && test ! -e n.csv"), 0);
    assert_int_equal(runLine("tippe repair w.h5 2> message"), 2);
    assert_int_equal(runLine("tippe verify w.h5 2> message"), 2);
    assert_int_equal(runLine("tippe export w.h5 2> message"), 2);
}

// A long run that is killed can be repaired, exported and verified up to where it came.
static void testKilled(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (chdir(directory) == 0) {
                execl(TIPPE_PROGRAM, "tippe", "run", "t_handle", "--quiet", "--until", "1e6",
                      "--every", "50", "--out", "killed.h5", (char*)NULL);
            }
            _exit(127);
        }
        struct timespec time = { 1, 300000000L + 37000000L * i };
        nanosleep(&time, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(runLine("tippe repair killed.h5 > /dev/null"), 0);
        assert_int_equal(runLine("tippe export killed.h5 --csv killed.csv"), 0);
        assert_int_equal(runLine("test $(wc -l < killed.csv) -ge 2"), 0);
        assert_int_equal(runLine("tippe verify killed.h5 --quiet"), 0);
    }
}

static void testFull(void** state) {
    (void)state;
    assert_int_equal(runLine("ulimit -f 300; tippe run t_handle --quiet --until 1e6 --out full.h5 "
                             "2> message"),
                     3);
    assert_int_equal(runLine("grep -q 'full.h5: cannot write' message"), 0);
    assert_int_equal(runLine("tippe export full.h5 --csv full.csv && tippe verify full.h5 --quiet"),
                     0);
    assert_int_equal(runLine("tippe run t_handle --quiet --csv /dev/full 2> message"), 3);
    assert_int_equal(runLine("grep -q 'No space left on device' message"), 0);
}

static int setUp(void** state) {
    (void)state;
    strcpy(directory, testPath(""));
    return access(TIPPE_PROGRAM, X_OK);
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testExportIsTheRun), cmocka_unit_test(testVerify),
        cmocka_unit_test(testBadInput),       cmocka_unit_test(testKilled),
        cmocka_unit_test(testFull),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
