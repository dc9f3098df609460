// The machine dies: what was committed stays, whatever the disk had got round to.
//
// The test is linked so that every change of a file by the recorder passes through here first
// (--wrap of the linker). They are written down: bytes, lengths, names, and what was forced to
// disk. Then power cuts are made up. A cut leaves of a file all that was written before it was last
// forced to disk, and of what came later any selection of sectors; of names, those that the
// directory had when it was last forced to disk, and any number of the changes after that, in their
// order. The remains are laid out in a directory of their own, repaired and read. The same without
// forcing shows that the cuts are cruel enough.

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "made_frames.h"
#include "recording/writer.h"
#include "wrapped_calls.h"

enum { eventsMost = 200000, filesMost = 4096, sectorSize = 512 };

// The log -----------------------------------------------------------------------------------------

typedef enum EventKind {
    wroteBytes,
    setLength,
    forcedFile,
    forcedNames,
    createdName, // of `file`
    linkedName,  // name to other
    removedName,
    renamedName // name to other
} EventKind;

typedef struct Event {
    EventKind kind;
    int file; // place in `nodes`
    uint64_t offset, length;
    unsigned char* bytes;
    char name[64], other[64];
} Event;

typedef struct Log {
    bool isOn;
    Event events[eventsMost];
    int count;
    ino_t nodes[filesMost]; // the newest of the same number counts: numbers are used again
    int fileCount;
} Log;

static Log logBook;

static void baseName(const char* path, char name[64]) {
    const char* slash = strrchr(path, '/');
    snprintf(name, 64, "%s", slash != NULL ? slash + 1 : path);
}

static int fileOf(int descriptor) {
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    for (int i = logBook.fileCount - 1; i >= 0; --i) {
        if (logBook.nodes[i] == status.st_ino) {
            return i;
        }
    }
    return -1; // a directory
}

static Event* addEvent(EventKind kind, int file) {
    assert_true(logBook.count < eventsMost);
    Event* event = &logBook.events[logBook.count++];
    *event = (Event){ .kind = kind, .file = file };
    return event;
}

static void addNameEvent(EventKind kind, const char* path, const char* other) {
    Event* event = addEvent(kind, -1);
    baseName(path, event->name);
    if (other != NULL) {
        baseName(other, event->other);
    }
}

// What the linker puts in the place of the system's functions -------------------------------------

ssize_t __wrap_pwrite(int file, const void* bytes, size_t size, off_t offset) {
    ssize_t put = __real_pwrite(file, bytes, size, offset);
    if (logBook.isOn && put > 0) {
        Event* event = addEvent(wroteBytes, fileOf(file));
        event->offset = (uint64_t)offset;
        event->length = (uint64_t)put;
        event->bytes = malloc((size_t)put);
        memcpy(event->bytes, bytes, (size_t)put);
    }
    return put;
}

int __wrap_ftruncate(int file, off_t length) {
    int result = __real_ftruncate(file, length);
    if (logBook.isOn && result == 0) {
        addEvent(setLength, fileOf(file))->length = (uint64_t)length;
    }
    return result;
}

int __wrap_fsync(int file) {
    if (logBook.isOn) { // forcing takes its time: the test does not
        int index = fileOf(file);
        addEvent(index >= 0 ? forcedFile : forcedNames, index);
        return 0;
    }
    return __real_fsync(file);
}

int __wrap_fdatasync(int file) {
    return __wrap_fsync(file);
}

int __wrap_unlink(const char* path) {
    int result = __real_unlink(path);
    if (logBook.isOn && result == 0) {
        addNameEvent(removedName, path, NULL);
    }
    return result;
}

int __wrap_rename(const char* from, const char* to) {
    int result = __real_rename(from, to);
    if (logBook.isOn && result == 0) {
        addNameEvent(renamedName, from, to);
    }
    return result;
}

int __wrap_link(const char* from, const char* to) {
    int result = __real_link(from, to);
    if (logBook.isOn && result == 0) {
        addNameEvent(linkedName, from, to);
    }
    return result;
}

int __wrap_open(const char* path, int flags, ...) {
    int file = __real_open(path, flags, 0666);
    if (logBook.isOn && file >= 0 && (flags & O_CREAT) != 0) {
        struct stat status;
        assert_int_equal(fstat(file, &status), 0);
        assert_true(logBook.fileCount < filesMost);
        assert_true((flags & O_EXCL) != 0); // else it may be an old file
        logBook.nodes[logBook.fileCount++] = status.st_ino;
        Event* event = addEvent(createdName, logBook.fileCount - 1);
        baseName(path, event->name);
    }
    return file;
}

static void clearLog(void) {
    for (int i = 0; i < logBook.count; ++i) {
        free(logBook.events[i].bytes);
    }
    logBook.count = logBook.fileCount = 0;
}

// Power cuts --------------------------------------------------------------------------------------

enum { namesMost = 16 };

typedef struct Directory {
    char names[namesMost][64];
    int files[namesMost];
    int count;
} Directory;

static int findName(const Directory* directory, const char* name) {
    for (int i = 0; i < directory->count; ++i) {
        if (strcmp(directory->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static void setName(Directory* directory, const char* name, int file) {
    int place = findName(directory, name);
    if (place < 0) {
        assert_true(directory->count < namesMost);
        place = directory->count++;
    }
    snprintf(directory->names[place], 64, "%s", name);
    directory->files[place] = file;
}

static void dropName(Directory* directory, const char* name) {
    int place = findName(directory, name);
    if (place >= 0) {
        int last = --directory->count;
        memmove(directory->names[place], directory->names[last], 64);
        directory->files[place] = directory->files[last];
    }
}

static bool isNameEvent(const Event* event) {
    return event->kind >= createdName;
}

static void changeNames(Directory* directory, const Event* event) {
    int place = findName(directory, event->name);
    if (event->kind == createdName) {
        setName(directory, event->name, event->file);
    } else if (event->kind == removedName) {
        dropName(directory, event->name);
    } else if (place >= 0) {
        int file = directory->files[place];
        setName(directory, event->other, file);
        if (event->kind == renamedName) {
            dropName(directory, event->name);
        }
    }
}

// The last event of a kind before the cut, plus one.
static int lastForced(EventKind kind, int file, int cut) {
    int last = 0;
    for (int i = 0; i < cut; ++i) {
        if (logBook.events[i].kind == kind && logBook.events[i].file == file) {
            last = i + 1;
        }
    }
    return last;
}

static Directory namesAfter(int cut, tpRandom* random) {
    Directory directory = { .count = 0 };
    int forced = lastForced(forcedNames, -1, cut);
    int last = forced + (int)(randomBits(random) % (uint64_t)(cut - forced + 1));
    for (int i = 0; i < last; ++i) {
        if (isNameEvent(&logBook.events[i])) {
            changeNames(&directory, &logBook.events[i]);
        }
    }
    return directory;
}

static void writeSectors(int to, const Event* event, bool isForced, tpRandom* random) {
    for (uint64_t done = 0; done < event->length;) {
        uint64_t at = event->offset + done;
        uint64_t length = sectorSize - at % sectorSize;
        length = length < event->length - done ? length : event->length - done;
        if (isForced || randomBits(random) % 2 == 0) {
            assert_int_equal(__real_pwrite(to, event->bytes + done, length, (off_t)at),
                             (ssize_t)length);
        }
        done += length;
    }
}

// What the cut leaves of a file. Mostly some of what was not forced to disk; now and then none.
static void layOut(int file, int cut, const char* path, tpRandom* random) {
    int to = __real_open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    int forced = lastForced(forcedFile, file, cut);
    bool isNothingElse = randomBits(random) % 4 == 0;
    for (int i = 0; i < (isNothingElse ? forced : cut); ++i) {
        const Event* event = &logBook.events[i];
        if (event->file != file) {
            continue;
        }
        bool isForced = i < forced;
        if (event->kind == wroteBytes) {
            writeSectors(to, event, isForced, random);
        } else if (event->kind == setLength && (isForced || randomBits(random) % 2 == 0)) {
            assert_int_equal(__real_ftruncate(to, (off_t)event->length), 0);
        }
    }
    close(to);
}

static int64_t framesIn(const char* path, MadeRun* run) {
    tpError error = { .result = tp_success };
    if (tpRepairRecording(path, NULL, &error) != tp_success) {
        return -1;
    }
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording == NULL) {
        return -1;
    }
    int64_t count = tpRecording_GetInfo(recording)->frameCount;
    for (int64_t k = 0; k < count; k += 1 + count / 8) {
        checkMadeFrame(recording, run, k);
    }
    tpCloseRecording(recording);
    return count;
}

// A recording, commit by commit -------------------------------------------------------------------

enum { commitCount = 40 };

static int commitEvents[commitCount + 1]; // events in the log when commit k was done; 0: the head
static int64_t commitFrames[commitCount + 1];

static void record(const char* path, MadeRun* run, bool sync) {
    tpRecordingHead head = madeHead(run);
    head.sync = sync;
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpFrameBatch batch;
    tpFrameBatch_Create(&batch, &run->roster, &allocator);
    clearLog();
    logBook.isOn = true;
    CHECK_OK(tpWriter_Create(&writer, path, &head, &allocator, failure));
    commitEvents[0] = logBook.count;
    int64_t k = 0;
    for (int c = 1; c <= commitCount; ++c) {
        for (int i = 0; i < 1 + c * 5 % 7; ++i, ++k) {
            tpFrameData frame = makeFrame(run, k);
            assert_true(k != 5 || TP_PUSH(&allocator, batch.labels, "projected Gauss-Seidel"));
            assert_true(tpFrameBatch_Add(&batch, &frame));
        }
        CHECK_OK(tpWriter_Append(&writer, &batch, failure));
        CHECK_OK(tpWriter_Commit(&writer, failure));
        tpFrameBatch_Clear(&batch);
        commitEvents[c] = logBook.count;
        commitFrames[c] = k;
    }
    CHECK_OK(tpWriter_Close(&writer, NULL, failure));
    logBook.isOn = false;
    tpFrameBatch_Destroy(&batch);
}

// Cuts at random moments; returns how many of them cost committed frames.
static int cutOften(MadeRun* run, int cuts, tpRandom* random) {
    char remains[256], place[400], command[600];
    strcpy(remains, testPath("remains"));
    int lost = 0;
    for (int i = 0; i < cuts; ++i) {
        snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", remains, remains);
        assert_int_equal(system(command), 0);
        int cut = (int)(randomBits(random) % (uint64_t)(logBook.count + 1));
        Directory directory = namesAfter(cut, random);
        for (int n = 0; n < directory.count; ++n) {
            snprintf(place, sizeof(place), "%s/%s", remains, directory.names[n]);
            layOut(directory.files[n], cut, place, random);
        }
        int commits = -1; // done before the cut; the head counts as the first
        while (commits < commitCount && commitEvents[commits + 1] <= cut) {
            commits += 1;
        }
        snprintf(place, sizeof(place), "%s/cut.h5", remains);
        bool isThere = access(place, F_OK) == 0;
        int64_t count = isThere ? framesIn(place, run) : -1;
        // Before the head was done there is nothing, or all of the head.
        bool isKept = commits < 0 ? !isThere || count >= 0 : count >= commitFrames[commits];
        lost += isKept ? 0 : 1;
    }
    return lost;
}

static void testCuts(void** state) {
    (void)state;
    char path[256];
    strcpy(path, testPath("cut.h5"));
    tpRandom random = { 11 };
    int cuts = getenv("TIPPE_CUTS") != NULL ? atoi(getenv("TIPPE_CUTS")) : 100;
    MadeRun run;
    makeRun(&run, 12, 2);
    record(path, &run, true);
    assert_int_equal(cutOften(&run, cuts, &random), 0);
    record(path, &run, false);
    int lost = cutOften(&run, cuts, &random);
    print_message("%d cuts cost nothing; without forcing to disk %d of as many do\n", cuts, lost);
    assert_true(lost > cuts / 10);
    clearLog();
    freeRun(&run);
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testCuts) };
    return cmocka_run_group_tests(tests, NULL, tearDown);
}
