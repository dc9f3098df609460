// The journal: its pages take effect together or not at all, wherever its writer dies.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/part_file.h"
#include "made_frames.h"
#include "recording/journal.h"

enum { pageCount = 5, filePages = 9 };

static char filePath[256], journalPath[256];

static void fillPage(unsigned char* bytes, int seed) {
    tpRandom random = { (uint64_t)seed };
    for (int i = 0; i < tp_pageSize; ++i) {
        bytes[i] = (unsigned char)randomBits(&random);
    }
}

// A file of some pages, and a change of every second one of them.
static void makeChange(tpJournalPage* pages) {
    unlink(journalPath);
    int file = open(filePath, O_RDWR | O_CREAT | O_TRUNC, 0666);
    unsigned char old[tp_pageSize];
    for (int i = 0; i < filePages; ++i) {
        fillPage(old, i);
        assert_true(tpWriteAll(file, old, tp_pageSize, (uint64_t)i * tp_pageSize));
        if (i % 2 == 0) {
            tpJournalPage* page = &pages[i / 2];
            page->offset = (uint64_t)i * tp_pageSize;
            tpJournalPage_NoteOld(page, old);
            fillPage(page->bytes, 100 + i);
        }
    }
    close(file);
}

// How many of the changed pages have their new bytes; the others must have their old ones.
static int countNew(void) {
    int file = open(filePath, O_RDONLY);
    int count = 0;
    for (int i = 0; i < filePages; ++i) {
        unsigned char now[tp_pageSize], expected[tp_pageSize];
        assert_true(tpReadAll(file, now, tp_pageSize, (uint64_t)i * tp_pageSize));
        fillPage(expected, i);
        if (memcmp(now, expected, tp_pageSize) != 0) {
            fillPage(expected, 100 + i);
            assert_int_equal(i % 2, 0);
            assert_memory_equal(now, expected, tp_pageSize);
            count += 1;
        }
    }
    close(file);
    return count;
}

// The bytes of a journal of this change, taken while it is kept because the file cannot be written.
static size_t takeJournal(const tpJournalPage* pages, unsigned char* bytes, size_t room) {
    int readOnly = open(filePath, O_RDONLY);
    assert_false(tpJournal_Apply(readOnly, journalPath, pages, pageCount, true));
    close(readOnly);
    int journal = open(journalPath, O_RDONLY);
    ssize_t size = read(journal, bytes, room);
    close(journal);
    assert_true(size > 0 && (size_t)size < room);
    return (size_t)size;
}

static void putJournal(const unsigned char* bytes, size_t size) {
    int journal = open(journalPath, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(write(journal, bytes, size), (ssize_t)size);
    close(journal);
}

static void testApply(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    makeChange(pages);
    int file = open(filePath, O_RDWR);
    assert_true(tpJournal_Apply(file, journalPath, pages, pageCount, true));
    close(file);
    assert_int_equal(countNew(), pageCount);
    assert_int_equal(access(journalPath, F_OK), -1);
    assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayNothing);
}

// Cut at any length the journal is ignored; whole, it completes the file.
static void testCut(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    static unsigned char bytes[(pageCount + 1) * sizeof(tpJournalPage)];
    makeChange(pages);
    size_t size = takeJournal(pages, bytes, sizeof(bytes));
    tpRandom random = { 3 };
    for (int i = 0; i < 300; ++i) { // all lengths near either end
        size_t cut = i < 80    ? (size_t)i
                     : i < 160 ? size - (size_t)(i - 79)
                               : (size_t)(randomBits(&random) % size);
        putJournal(bytes, cut);
        assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayNothing);
        assert_int_equal(countNew(), 0);
        assert_int_equal(access(journalPath, F_OK), -1);
    }
    putJournal(bytes, size);
    assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayDone);
    assert_int_equal(countNew(), pageCount);
}

// A changed byte anywhere makes the journal void.
static void testDamaged(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    static unsigned char bytes[(pageCount + 1) * sizeof(tpJournalPage)];
    makeChange(pages);
    size_t size = takeJournal(pages, bytes, sizeof(bytes));
    tpRandom random = { 4 };
    for (int i = 0; i < 300; ++i) {
        size_t place = i < 48 ? (size_t)i : (size_t)(randomBits(&random) % size);
        unsigned char mask = (unsigned char)(1u << (randomBits(&random) & 7));
        bytes[place] ^= mask;
        putJournal(bytes, size);
        bytes[place] ^= mask;
        assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayNothing);
        assert_int_equal(countNew(), 0);
    }
}

// The writer died after copying some pages, one of them half: the replay completes them all.
static void testHalfApplied(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    static unsigned char bytes[(pageCount + 1) * sizeof(tpJournalPage)];
    for (int done = 0; done <= pageCount; ++done) {
        makeChange(pages);
        size_t size = takeJournal(pages, bytes, sizeof(bytes));
        int file = open(filePath, O_RDWR);
        for (int i = 0; i < done; ++i) {
            assert_true(tpWriteAll(file, pages[i].bytes, tp_pageSize, pages[i].offset));
        }
        if (done < pageCount) {
            assert_true(tpWriteAll(file, pages[done].bytes, 1000, pages[done].offset));
        }
        close(file);
        for (int again = 0; again < 2; ++again) {
            putJournal(bytes, size);
            assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayDone);
            assert_int_equal(countNew(), pageCount);
        }
    }
}

static void testWrongFile(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    static unsigned char bytes[(pageCount + 1) * sizeof(tpJournalPage)];
    makeChange(pages);
    size_t size = takeJournal(pages, bytes, sizeof(bytes));
    putJournal(bytes, size);
    int file = open(filePath, O_RDWR | O_TRUNC);
    assert_true(tpWriteAll(file, "another file", 12, 30000));
    close(file);
    assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayWrongFile);
    assert_int_equal(access(journalPath, F_OK), 0);
    struct stat status;
    assert_int_equal(stat(filePath, &status), 0);
    assert_int_equal(status.st_size, 30012);
    unlink(journalPath);
}

// A journal that a process holds is not to be replayed under its hands.
static void testBusy(void** state) {
    (void)state;
    static tpJournalPage pages[pageCount];
    static unsigned char bytes[(pageCount + 1) * sizeof(tpJournalPage)];
    makeChange(pages);
    assert_int_equal(tpJournal_GetState(journalPath), tp_noJournal);
    size_t size = takeJournal(pages, bytes, sizeof(bytes));
    putJournal(bytes, size);
    assert_int_equal(tpJournal_GetState(journalPath), tp_journalLeft);
    int held = open(journalPath, O_RDWR);
    assert_true(tpLockFile(held, false));
    assert_int_equal(tpJournal_GetState(journalPath), tp_journalBusy);
    assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayBusy);
    assert_int_equal(countNew(), 0);
    close(held);
    assert_int_equal(tpJournal_Replay(filePath, journalPath), tp_replayDone);
    assert_int_equal(countNew(), pageCount);
}

static int setUp(void** state) {
    (void)state;
    strcpy(filePath, testPath("file"));
    strcpy(journalPath, testPath("file.journal"));
    return 0;
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testApply),     cmocka_unit_test(testCut),
        cmocka_unit_test(testDamaged),   cmocka_unit_test(testHalfApplied),
        cmocka_unit_test(testWrongFile), cmocka_unit_test(testBusy),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
