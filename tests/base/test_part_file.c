// Parts take their target's place whole; links are followed for targets and never for parts; what
// dead processes left goes, what living ones hold stays.

#include "base/part_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

static char directory[64];

static void putFile(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void checkText(const char* path, const char* expected) {
    char text[100] = "";
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static int countEntries(void) {
    DIR* entries = opendir(".");
    int count = -2; // . and ..
    while (readdir(entries) != NULL) {
        ++count;
    }
    closedir(entries);
    return count;
}

static int enter(void** state) {
    (void)state;
    strcpy(directory, "/tmp/tippe_parts_XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void** state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void placeOrDiscard(void** state) {
    (void)state;
    putFile("a", "old");
    assert_int_equal(chmod("a", 0640), 0);
    tpPartFile part;
    assert_true(tpPartFile_Create(&part, "a"));
    assert_int_equal(write(part.file, "new", 3), 3);
    checkText("a", "old");
    assert_true(tpPartFile_Place(&part));
    checkText("a", "new");
    struct stat status;
    assert_int_equal(stat("a", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_true(tpPartFile_Create(&part, "a"));
    tpPartFile_Discard(&part);
    checkText("a", "new");
    assert_int_equal(countEntries(), 1);
    assert_false(tpPartFile_Create(&part, "none/a"));
    assert_int_equal(errno, ENOENT);
}

// The file that a link points to is replaced, and the link stays; also where no file is there yet.
static void followLinks(void** state) {
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(symlink("d/b", "l1"), 0);
    assert_int_equal(symlink("l1", "l2"), 0);
    char resolved[tp_pathCapacity], expected[tp_pathCapacity];
    assert_true(tpResolvePath("l2", resolved, sizeof(resolved)));
    snprintf(expected, sizeof(expected), "%s/d/b", directory);
    assert_string_equal(resolved, expected);
    tpPartFile part;
    assert_true(tpPartFile_Create(&part, "l2"));
    assert_int_equal(write(part.file, "x", 1), 1);
    assert_true(tpPartFile_Place(&part));
    checkText("d/b", "x");
    assert_int_equal(lstat("l2", &(struct stat){ 0 }), 0);
    assert_int_equal(symlink("c1", "c2"), 0);
    assert_int_equal(symlink("c2", "c1"), 0);
    assert_false(tpResolvePath("c1", resolved, sizeof(resolved)));
    assert_int_equal(errno, ELOOP);
}

// Under a name that the program has chosen a link is replaced, and what it points to stays: a file,
// a directory, or nothing. A directory under that name is no link.
static void replaceLinks(void** state) {
    (void)state;
    static const char* const targets[] = { "victim", "d", "nothing" };
    putFile("victim", "precious");
    assert_int_equal(mkdir("d", 0777), 0);
    for (int i = 0; i < 3; ++i) {
        tpPartFile part;
        unlink("l");
        assert_int_equal(symlink(targets[i], "l"), 0);
        assert_true(tpPartFile_CreateOver(&part, "l"));
        assert_int_equal(write(part.file, "mine", 4), 4);
        assert_true(tpPartFile_Place(&part));
        struct stat status;
        assert_int_equal(lstat("l", &status), 0);
        assert_true(S_ISREG(status.st_mode));
        checkText("l", "mine");
        checkText("victim", "precious");
        assert_int_equal(countEntries(), 3);
    }
    tpPartFile part;
    assert_false(tpPartFile_CreateOver(&part, "d"));
    assert_int_equal(errno, EISDIR);
    assert_int_equal(symlink("d", "dl"), 0);
    assert_true(tpPartFile_CreateOver(&part, "dl/a"));
    assert_true(tpPartFile_Place(&part));
    assert_int_equal(access("d/a", F_OK), 0);
}

// A link that somebody has put where a part would go.
static void stepAside(void** state) {
    (void)state;
    putFile("victim", "precious");
    char name[100];
    snprintf(name, sizeof(name), "a.%ld.0.part", (long)getpid());
    assert_int_equal(symlink("victim", name), 0);
    tpPartFile part;
    assert_true(tpPartFile_Create(&part, "a"));
    assert_int_equal(write(part.file, "mine", 4), 4);
    assert_true(tpPartFile_Place(&part));
    checkText("victim", "precious");
    checkText("a", "mine");
}

static void clearWhatIsLeft(void** state) {
    (void)state;
    putFile("a.12345.0.part", "left by a dead process");
    putFile("a.12345.0.partial", "of the user");
    putFile("ab.1.0.part", "of another target");
    putFile("a.x.0.part", "of the user");
    tpPartFile living, part;
    assert_true(tpPartFile_Create(&living, "a"));
    assert_int_equal(access("a.12345.0.part", F_OK), -1);
    assert_int_equal(countEntries(), 4);
    assert_true(tpPartFile_Create(&part, "a"));
    assert_int_equal(access(living.path, F_OK), 0);
    tpPartFile_Discard(&part);
    // A process that is killed leaves its part; the next one takes it away.
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        tpPartFile own;
        raise(tpPartFile_Create(&own, "a") ? SIGKILL : SIGTERM);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(countEntries(), 5);
    assert_true(tpPartFile_Create(&part, "a"));
    assert_int_equal(countEntries(), 5);
    tpPartFile_Discard(&part);
    tpPartFile_Discard(&living);
    assert_int_equal(countEntries(), 3);
}

static void oneWriter(void** state) {
    (void)state;
    tpPartFile first, second;
    putFile("journal", "of the file before");
    assert_true(tpPartFile_Create(&first, "a"));
    assert_true(tpPartFile_Create(&second, "a"));
    assert_true(tpPartFile_PlaceOpen(&first, "journal"));
    assert_int_equal(access("journal", F_OK), -1);
    putFile("journal", "of the first");
    assert_false(tpPartFile_PlaceOpen(&second, "journal"));
    assert_int_equal(errno, EWOULDBLOCK);
    assert_int_equal(access("journal", F_OK), 0);
    // A copy of the descriptor holds the lock as well.
    int copy = dup(first.file);
    close(first.file);
    assert_false(tpPartFile_PlaceOpen(&second, NULL));
    close(copy);
    assert_true(tpPartFile_PlaceOpen(&second, NULL));
    int other = open("a", O_RDWR);
    assert_false(tpLockFile(other, false));
    assert_false(tpLockFile(other, true));
    close(second.file);
    assert_true(tpLockFile(other, false));
    close(other);
    assert_int_equal(countEntries(), 2);
}

// Waits until the other end of the pipe is closed everywhere.
static void waitForClose(const int pipe[2]) {
    char byte;
    close(pipe[1]);
    while (read(pipe[0], &byte, 1) > 0) {
    }
}

// Many processes want the same new file at once: exactly one of them has it.
static void race(void** state) {
    (void)state;
    enum { rivals = 8 };
    for (int round = 0; round < 20; ++round) {
        unlink("a");
        fflush(NULL);
        int start[2], result[2], end[2];
        assert_true(pipe(start) == 0 && pipe(result) == 0 && pipe(end) == 0);
        for (int i = 0; i < rivals; ++i) {
            if (fork() == 0) {
                tpPartFile part;
                bool isMade = tpPartFile_Create(&part, "a");
                close(end[1]);
                waitForClose(start);
                char won = isMade && tpPartFile_PlaceOpen(&part, NULL);
                if (won == 0) {
                    tpPartFile_Discard(&part);
                }
                bool isTold = write(result[1], &won, 1) == 1;
                waitForClose(end); // the winner holds the file until all have tried
                _exit(isTold ? 0 : 1);
            }
        }
        close(start[0]);
        close(start[1]);
        int winners = 0;
        for (int i = 0; i < rivals; ++i) {
            char won;
            assert_int_equal(read(result[0], &won, 1), 1);
            winners += won;
        }
        assert_int_equal(winners, 1);
        const int rest[] = { result[0], result[1], end[0], end[1] };
        for (int i = 0; i < 4; ++i) {
            close(rest[i]);
        }
        for (int i = 0; i < rivals; ++i) {
            int status;
            assert_true(wait(&status) > 0 && WEXITSTATUS(status) == 0);
        }
    }
    assert_int_equal(countEntries(), 1);
}

// A pipe is opened where somebody reads it, and never waited for.
static void openInPlace(void** state) {
    (void)state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(tpOpenInPlace("pipe"), -1);
    assert_int_equal(errno, ENXIO);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    int writer = tpOpenInPlace("pipe");
    assert_true(reader >= 0 && writer >= 0);
    assert_int_equal(fcntl(writer, F_GETFL) & O_NONBLOCK, 0); // writes wait, opening did not
    char got[8] = "";
    assert_int_equal(write(writer, "abc", 3), 3);
    assert_int_equal(read(reader, got, sizeof(got)), 3);
    assert_string_equal(got, "abc");
    close(writer);
    close(reader);
    tpPartFile part; // which would take its place
    assert_false(tpPartFile_Create(&part, "pipe"));
    assert_int_equal(errno, ENOTSUP);
    assert_false(tpPartFile_Create(&part, "."));
    assert_int_equal(errno, EISDIR);
    assert_int_equal(countEntries(), 1);
    int device = tpOpenInPlace("/dev/null");
    assert_true(device >= 0);
    close(device);
    assert_int_equal(tpOpenInPlace("."), -1);
    assert_int_equal(errno, EISDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(placeOrDiscard, enter, leave),
        cmocka_unit_test_setup_teardown(followLinks, enter, leave),
        cmocka_unit_test_setup_teardown(replaceLinks, enter, leave),
        cmocka_unit_test_setup_teardown(stepAside, enter, leave),
        cmocka_unit_test_setup_teardown(clearWhatIsLeft, enter, leave),
        cmocka_unit_test_setup_teardown(oneWriter, enter, leave),
        cmocka_unit_test_setup_teardown(race, enter, leave),
        cmocka_unit_test_setup_teardown(openInPlace, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
