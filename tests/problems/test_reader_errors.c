// Bad problem files: every message names the place and what was expected there; nothing leaks, and
// a file of a few bytes cannot ask for much memory.

#include <sys/stat.h>
#include <unistd.h>

#include "problem_text.h"
#include "support/failing_allocator.h"

typedef struct BadFile {
    const char* text;
    tpProblemKind kind;
    const char* message; // begins with the place
} BadFile;

static const BadFile badFiles[] = {
    // Nothing that could be a problem.
    { "", tp_anyProblem, "f:1:1: cannot tell what problem this is" },
    { "hello world", tp_anyProblem, "f:1:1: cannot tell what problem this is" },
    { "# only\n# comments\n", tp_anyProblem, "f:3:1: cannot tell what problem this is" },
    { "17", tp_anyProblem, "f:1:1: cannot tell what problem this is" },
    { "-3 0 1 2", tp_anyProblem, "f:1:1: cannot tell what problem this is" },
    { "5 7 0 35 35", tp_anyProblem, "f:1:1: cannot tell what problem this is" },
    // The same where the kind is known.
    { "", tp_lcpProblem, "f:1:1: expected the size of the problem, found the end of the file" },
    { "x", tp_lcpProblem, "f:1:1: expected the size of the problem, found 'x'" },
    { "\n  x", tp_mixedLcpProblem, "f:2:3: expected 0 or 1, whether M is stored as a whole," },
    { "5 7 0 35 35", tp_friction3dProblem,
      "f:1:1: expected the dimension, 2 or 3, from 2 to 3, found 5" },
    { "2 1 0 2 2 2 2 1 0 0 1 -1 0.5 0.3", tp_friction3dProblem,
      "f:1:1: expected a problem fc3d, found fc2d" },
    { "2 1 0 2 2 2 2 1 0 0 1 -1 0.5 0.3", tp_lcpProblem,
      "f:1:1: expected a problem lcp, found fc2d" },
    // Plain LCP.
    { "2 1\n1 2\n3 x\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2, found 'x'" },
    { "2 1\n1 2\n3 4\n5\n", tp_anyProblem,
      "f:5:1: expected number 2 of 2 of q, found the end of the file" },
    { "2 1\n1 2\n3 4\n5 6\n7 8 9\n", tp_anyProblem, "f:5:5: expected the end of the file, found" },
    { "99999 1\n1 2\n", tp_anyProblem, "f:1:8: a matrix of 99999 x 99999 numbers is more than" },
    { "2147483647 1\n1 2\n", tp_anyProblem, "f:1:1: expected the size of the problem from 0 to" },
    { "2 1\n1 2\n3 nan\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    { "2 1\n1 2\n3 inf\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    { "2 1\n1 2\n3 0x1p3\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    { "2 1\n1 2\n3 1e999\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    { "2 1\n1 2\n3 1,5\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    { "2 1\n1 2\n3 1.5.2\n5 6\n", tp_anyProblem, "f:3:3: expected M in row 2 and column 2" },
    // Siconos LCP.
    { "3\n0\n3\n3\n3 2\n", tp_anyProblem,
      "f:5:3: expected the number of columns again to be 3, found 2" },
    { "3\n0\n3\n2\n3 2\n1 2 3 4 5 6\n1 2 3", tp_lcpProblem,
      "f:7:6: expected number 1 of 1 of z, found the end of the file" },
    { "3\n3\n3\n3\n3 3\n", tp_lcpProblem,
      "f:2:1: expected 0 or 1, whether a solution is stored, from 0 to 1, found 3" },
    { "2\n0\n2\n2\n2 2\n1 0\n0 one\n-1 -1\n", tp_anyProblem,
      "f:7:3: expected number 4 of 4 of M, found 'one'" },
    { "2\n0\n2\n2\n2 2\n1 0\n0 1\n-1\n", tp_anyProblem,
      "f:9:1: expected number 2 of 2 of q, found the end of the file" },
    { "70000\n0\n70000\n70000\n70000 70000\n1", tp_anyProblem,
      "f:5:12: M has 70000 x 70000 numbers, more than the rest of the file can hold" },
    { "1000000000\n2\n1000000000\n1000000000\n1\n", tp_anyProblem,
      "f:2:2: M is 1000000000 x 1000000000, and the file is too short" },
    // Blocks.
    { "4 1 4 4 4 2 2 2 3 2 4 3 4 0 2 4 0 1 0 1 0 1 2 3 4", tp_anyProblem,
      "f:1:18: the last end of a block row should be 4" },
    { "4 1 4 4 4 9 2 1 1", tp_anyProblem,
      "f:1:11: expected the number of block rows from 1 to 4, found 9" },
    { "4 1 4 4 4 2 2 4 2", tp_anyProblem, "f:1:17: expected end of a block row to be 4, found 2" },
    { "2 1 2 2 2 2 2 1 2 1 2 3 2 0 2 1 0 0 0 1", tp_anyProblem,
      "f:1:31: expected start of a block row to be 2, found 1" },
    { "2 1 2 2 2 2 2 1 2 1 2 3 2 0 1 1 0 0 0 1", tp_anyProblem,
      "f:1:36: block-row starts should go from 0 to 2" },
    { "2 1 2 2 2 2 2 1 2 1 2 3 2 0 1 2 0 2 0 1", tp_anyProblem,
      "f:1:35: expected block column from 0 to 1, found 2" },
    { "2 1 2 2 2 2 2 1 2 1 2 3 2 0 1 2 0 1 0 7 2 8 9 9", tp_anyProblem,
      "f:1:41: expected the number of the next block to be 1, found 2" },
    { "2 1 2 2 2 2 2 1 2 1 2 3 2 0 1 2 0 1 0 7 1 x 9 9", tp_anyProblem,
      "f:1:43: expected a number of block 1, found 'x'" },
    { "2 1 2 2 3 2 2 1 2 1 2 3 2 0 1 2 0 1 0 7 1 x 9 9", tp_anyProblem,
      "f:1:25: expected the number of block columns listed to be 3, found 2" },
    { "4 1 4 4 2000000000 4 4 1 2 3 4 1 2 3 4 5 2000000000 0 1 2 3 4", tp_anyProblem,
      "f:1:62: expected 2000000000 times block column, more than" },
    // Sparse.
    { "2 2 2 2 9\n", tp_anyProblem, "f:1:9: expected the origin of a sparse matrix from 0 to 4" },
    { "2 2 2 2 4 4\nbanner\ntriplet: 2-by-4, nzmax: 2 nnz: 2\n0 0 : 2\n1 3 : 2\n",
      tp_friction2dProblem,
      "f:1:11: the lower half of a symmetric matrix, which is 2-by-4: not square" },
    { "2 2 2 2 1\nbanner\nnothing\n1 2\n", tp_anyProblem,
      "f:2:1: expected a banner line and then the header of a sparse matrix" },
    { "2 2 2 2 1\nbanner\ntriplet: 3-by-2, nzmax: 1 nnz: 1\n0 0 : 1\n1 1", tp_anyProblem,
      "f:3:1: expected a matrix 2-by-2, found 3-by-2" },
    { "2 2 2 2 1\nbanner\ntriplet: 2-by-2, nzmax: 1\n0 0 : 1\n1 1", tp_anyProblem,
      "f:3:1: expected 'nnz: ' and a number of entries" },
    { "2 2 2 2 1\nbanner\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 2 : 1\n1 1", tp_anyProblem,
      "f:4:3: expected the column of an entry from 0 to 1, found 2" },
    { "2 2 2 2 1\nbanner\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 1 ; 1\n1 1", tp_anyProblem,
      "f:4:5: expected ':', found ';'" },
    { "2 2 2 2 1\nbanner\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 1 : oh\n1 1", tp_anyProblem,
      "f:4:7: expected the value of an entry, found 'oh'" },
    { "2 2 2 2 2\nbanner\n2-by-2, nzmax: 1 nnz: 1\n col 1 : locations 0 to 0\n0 : 1\n1 1",
      tp_anyProblem, "f:4:6: expected the next column or row to be 0, found 1" },
    { "2 2 2 2 2\nbanner\n2-by-2, nzmax: 1 nnz: 1\n col 0 : locations 1 to 1\n0 : 1\n1 1",
      tp_anyProblem, "f:4:20: expected the first location to be 0, found 1" },
    { "2 2 2 2 2\nbanner\n2-by-2, nzmax: 1 nnz: 1\n col 0 : locations 0 to -2\n0 : 1\n1 1",
      tp_anyProblem, "f:4:25: expected the last location, not before the first, found '-2'" },
    { "2 2 2 2 2\nbanner\n2-by-2, nzmax: 1 nnz: 2\n col 0 : locations 0 to 0\n0 : 1\n1 1",
      tp_anyProblem, "f:5:6: expected 2 entries in all, found 1" },
    { "2 2 2 2 2\nbanner\n2-by-2, nzmax: 1 nnz: 1\n col 0 : location 0 to 0\n0 : 1\n1 1",
      tp_anyProblem, "f:4:10: expected locations, found 'location'" },
    // Mixed LCP.
    { "0 0 1 1 2", tp_mixedLcpProblem, "f:1:1: the first two numbers are 0" },
    { "1 1 1 1 1 2", tp_mixedLcpProblem,
      "f:1:9: expected the first row of the first block to be 0, found 1" },
    { "1 1 1 2 0 4 0 1 0 3 3", tp_anyProblem, "f:1:11: expected the end of a block from 1 to 3" },
    { "1 1 3 1 0 3 3 0 1 0 2 2", tp_anyProblem,
      "f:1:13: expected the end of a block to be 4, found 3" },
    { "1 1 1 1 0 1 2 0 2 0 2 2", tp_anyProblem, "f:1:17: expected a block's kind, 0 (equality)" },
    { "1 1 1 1 0 1 2 0 1 0 3 3 3 3 1 2 3 4 5 6 7 8 9 1 2", tp_anyProblem,
      "f:1:18: expected a matrix of 2 x 2, found 3 x 3" },
    { "0 1 1 1 1 2 3 x 5 6", tp_anyProblem, "f:1:15: expected D in row 1 and column 1" },
    { "0 1 1000000000 1000000000 1", tp_anyProblem, "f:1:26: 2000000000 variables are more than" },
    // Friction.
    { "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 -0.5", tp_anyProblem,
      "f:1:39: mu of contact 1 is negative: -0.5" },
    { "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0", tp_anyProblem,
      "f:1:39: mu has 1 numbers, more than the rest of the file can hold" },
    { "3 2 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 0.5", tp_anyProblem,
      "f:1:4: 2 contacts in dimension 3 need a matrix of 6 x 6 (or, for a global problem" },
    { "3 1 0 3 2 3 2 1 0 0 0 1 0 -1 0 0 0.5", tp_friction3dProblem,
      "f:1:4: expected a square matrix, found 3 x 2" },
    { "3 1 0 1 1 1 1 1 0 1 3 1 3 1 1 1 -9 0 0", tp_anyProblem, "f:1:35: b has 3 numbers" },
    { "2 1 0 1 1 1 1 1 0 1 2 1 2 1 x 1 -9 0 0", tp_anyProblem,
      "f:1:29: expected number 2 of 2 of H, found 'x'" },
};

static void everyMessageNamesThePlace(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof(badFiles) / sizeof(badFiles[0]); ++i) {
        const BadFile* bad = &badFiles[i];
        tpProblem* problem = (tpProblem*)&problem;
        tpError error;
        tpResult result =
            tpParseProblem(bad->text, strlen(bad->text), "f", bad->kind, NULL, &problem, &error);
        if (result != tp_badInput) {
            fail_msg("\"%s\" was read without complaint", bad->text);
        }
        assert_int_equal(error.result, tp_badInput);
        assert_null(problem);
        if (strncmp(error.message, bad->message, strlen(bad->message)) != 0) {
            fail_msg("\"%s\":\n  expected \"%s\"\n  found    \"%s\"", bad->text, bad->message,
                     error.message);
        }
    }
}

// Every beginning of a good file is a bad file (or, once all of it is there, a good one).
static void cutShortAnywhere(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int storage = 0; storage < storageCount; ++storage) {
        double* W = randomMatrix(&random, 6, 6, 3, 1.1);
        double* q = randomVector(&random, 6, -10.0);
        Text text = { 0 };
        put(&text, "3\n2\n");
        putMatrix(&text, (Storage)storage, W, 6, 6, 3);
        putVector(&text, q, 6);
        put(&text, "0.5 0.6");
        for (size_t length = 0; length < text.length - 3; ++length) {
            tpProblem* problem;
            tpError error;
            // A copy of that very length, so that reading past its end is seen by a sanitizer.
            char* copy = malloc(length + 1);
            memcpy(copy, text.data, length);
            assert_int_equal(
                tpParseProblem(copy, length, "f", tp_anyProblem, NULL, &problem, &error),
                tp_badInput);
            assert_memory_equal(error.message, "f:", 2);
            free(copy);
        }
        freeText(&text);
        free(W);
        free(q);
    }
}

// Long words, names and control characters stay inside the message.
static void messagesAreBounded(void** state) {
    (void)state;
    char* text = malloc(100000);
    memset(text, 'x', 100000);
    memcpy(text, "2 1\n1 2\n3 \033[31m", 15);
    char* name = malloc(5000);
    memset(name, 'n', 5000);
    name[4999] = '\0';
    tpProblem* problem;
    tpError error;
    assert_int_equal(tpParseProblem(text, 100000, name, tp_anyProblem, NULL, &problem, &error),
                     tp_badInput);
    assert_true(strlen(error.message) < sizeof(error.message));
    assert_non_null(strstr(error.message, ":3:3: expected M in row 2 and column 2, found '?[31m"));
    assert_null(strchr(error.message, '\033'));
    assert_int_equal(tpParseProblem(text, 100000, name, tp_anyProblem, NULL, &problem, NULL),
                     tp_badInput);
    free(text);
    free(name);
}

static void everyAllocationMayFail(void** state) {
    (void)state;
    tpRandom random = { 9 };
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int storage = 0; storage < storageCount; ++storage) {
        double* W = randomMatrix(&random, 300, 300, 3, 0.2);
        double* q = randomVector(&random, 300, -10.0);
        Text text = { 0 };
        put(&text, "3\n100\n");
        putMatrix(&text, (Storage)storage, W, 300, 300, 3);
        putVector(&text, q, 300);
        putVector(&text, q, 0);
        for (int i = 0; i < 100; ++i) {
            put(&text, "0.5 ");
        }
        bool failed = false;
        for (int n = 1;; ++n) {
            heap.requests = 0;
            heap.failAt = n;
            tpProblem* problem;
            tpError error;
            tpResult result = tpParseProblem(text.data, text.length, "f", tp_anyProblem, &allocator,
                                             &problem, &error);
            // The arena asks for less where it cannot have more, so not every refusal is fatal.
            if (result == tp_success) {
                assert_int_equal(problem->contactCount, 100);
                tpDestroyProblem(problem);
            } else {
                assert_int_equal(result, tp_outOfMemory);
                assert_null(problem);
                failed = true;
            }
            assert_int_equal(heap.outstanding, 0);
            assert_int_equal(heap.bytes, 0);
            if (heap.requests < n) {
                break;
            }
        }
        assert_true(failed);
        freeText(&text);
        free(W);
        free(q);
    }
}

// Largest single request seen.
static size_t largestRequest;

static void* watchedAllocate(size_t size, void* context) {
    (void)context;
    largestRequest = size > largestRequest ? size : largestRequest;
    return tpDefaultAllocator().allocate(size, NULL);
}

static void watchedRelease(void* memory, size_t size, void* context) {
    tpDefaultAllocator().release(memory, size, context);
}

static void smallFilesAskForLittle(void** state) {
    (void)state;
    tpAllocator allocator = { watchedAllocate, watchedRelease, NULL };
    for (size_t i = 0; i < sizeof(badFiles) / sizeof(badFiles[0]); ++i) {
        tpProblem* problem;
        largestRequest = 0;
        tpParseProblem(badFiles[i].text, strlen(badFiles[i].text), "f", badFiles[i].kind,
                       &allocator, &problem, NULL);
        assert_in_range(largestRequest, 1, 128 * 1024);
    }
}

static void filesThatCannotBeRead(void** state) {
    (void)state;
    tpProblem* problem;
    tpError error;
    assert_int_equal(tpReadProblem("/nonexistent/x.dat", tp_anyProblem, NULL, &problem, &error),
                     tp_ioError);
    assert_string_equal(error.message,
                        "/nonexistent/x.dat: cannot be read: No such file or directory");
    assert_null(problem);
    assert_int_equal(tpReadProblem("/", tp_anyProblem, NULL, &problem, &error), tp_ioError);
    assert_string_equal(error.message, "/: is a directory; expected a file");

    char path[] = "/tmp/tippe_problem_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "\x89HDF\r\n\x1a\nrubbish", 15), 15);
    close(file);
    assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
    assert_non_null(strstr(error.message, ": an HDF5 file that is damaged"));
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyMessageNamesThePlace), cmocka_unit_test(cutShortAnywhere),
        cmocka_unit_test(messagesAreBounded),        cmocka_unit_test(everyAllocationMayFail),
        cmocka_unit_test(smallFilesAskForLittle),    cmocka_unit_test(filesThatCannotBeRead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
