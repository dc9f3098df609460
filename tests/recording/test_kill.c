// Runs are killed at random moments; nothing but their last second may be lost.
//
// Two kinds. In the first the run does nothing but add and commit, so that nearly every kill falls
// into a write; in the second it goes on as real ones do, in bursts and pauses, and what it had
// added a second before its death must be in the file. A run that waited for a processor for a good
// part of that second, because others had them all, is not judged by it. TIPPE_KILLS=5000 kills as
// often as that.

// For MAP_ANONYMOUS.
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "made_frames.h"
#include "recording/clock.h"

enum { framesMost = 1 << 20 };

// Seconds that may be lost. Sanitizers make the writing several times slower.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
static const double mayBeLost = 6.0;
#else
static const double mayBeLost = 1.0;
#endif

// What a run tells its killer through shared memory.
typedef struct Progress {
    volatile int64_t created; // the file exists
    volatile int64_t count;   // frames that were added, or for the first kind, committed
    volatile double times[framesMost];
} Progress;

static Progress* progress;

static int killCount(int otherwise) {
    const char* text = getenv("TIPPE_KILLS");
    return text != NULL ? atoi(text) : otherwise;
}

static void writeWithoutRest(const char* path, int movingCount) {
    MadeRun run;
    makeRun(&run, movingCount, 2);
    tpRecordingHead head = madeHead(&run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpFrameBatch batch;
    tpFrameBatch_Create(&batch, &run.roster, &allocator);
    if (tpWriter_Create(&writer, path, &head, &allocator, NULL) != tp_success) {
        _exit(1);
    }
    progress->created = 1;
    static const char* label[] = { "projected Gauss-Seidel" };
    for (int64_t k = 0;; ++k) {
        tpFrameData frame = makeFrame(&run, k);
        if (k == 5) {
            TP_PUSH(&allocator, batch.labels, label[0]);
        }
        if (!tpFrameBatch_Add(&batch, &frame)) {
            _exit(1);
        }
        if (k % 3 == 0) { // commits in the middle of chunks, at their ends, and at neither
            if (tpWriter_Append(&writer, &batch, NULL) != tp_success ||
                tpWriter_Commit(&writer, NULL) != tp_success) {
                _exit(1);
            }
            tpFrameBatch_Clear(&batch);
            progress->count = k + 1;
        }
    }
}

static void writeAsRunsDo(const char* path, int movingCount, uint64_t seed) {
    tpRandom random = { seed };
    MadeRun run;
    makeRun(&run, movingCount, 2);
    tpRecordingHead head = madeHead(&run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    if (tpWriter_Create(&writer, path, &head, &allocator, NULL) != tp_success) {
        _exit(1);
    }
    tpPump_Start(&pump, &writer, &run.roster, true, &allocator);
    progress->created = 1;
    for (int64_t k = 0; k < framesMost; ++k) {
        if (addMadeFrame(&pump, &run, k, NULL) != tp_success) {
            _exit(1);
        }
        progress->times[k] = tpSecondsNow();
        progress->count = k + 1;
        // Mostly quick steps, some slow ones, and now and then one that takes very long.
        uint64_t dice = randomBits(&random) % 1000;
        useconds_t pause = dice < 2 ? 2000000 : dice < 50 ? 20000 : 200;
        struct timespec time = { (time_t)(pause / 1000000), (long)(pause % 1000000) * 1000 };
        nanosleep(&time, NULL);
    }
    _exit(0);
}

static void sleepFor(double seconds) {
    struct timespec time = { (time_t)seconds, (long)(1e9 * (seconds - floor(seconds))) };
    nanosleep(&time, NULL);
}

// Seconds that the threads of a process have waited for a processor; 0 if the system does not
// tell.
static double waitedForProcessor(pid_t process) {
    char path[400];
    double total = 0.0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR* threads = opendir(path);
    struct dirent* entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)process, entry->d_name);
        FILE* file = fopen(path, "r");
        unsigned long long ran, waited;
        if (file != NULL && fscanf(file, "%llu %llu", &ran, &waited) == 2) {
            total += 1e-9 * (double)waited;
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    if (threads != NULL) {
        closedir(threads);
    }
    return total;
}

// Kills the child after a while, and returns when.
static double killAfter(pid_t child, double seconds) {
    sleepFor(seconds);
    double when = tpSecondsNow();
    kill(child, SIGKILL);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return when;
}

// Opens what the run left, checks the frames that are there and returns how many. `kept` must be.
static int64_t checkRemains(const char* path, int movingCount, int64_t kept, bool* hadJournal) {
    tpError error = { .result = tp_success };
    if (tpRepairRecording(path, hadJournal, &error) != tp_success) {
        fail_msg("repair: %s", error.message);
    }
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording == NULL) {
        fail_msg("%s", error.message);
    }
    MadeRun run;
    makeRun(&run, movingCount, 2);
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    assert_false(info->finished);
    assert_int_equal(info->movingCount, movingCount);
    int64_t count = info->frameCount;
    if (count < kept) {
        fail_msg("%lld frames in the file, %lld were added in time", (long long)count,
                 (long long)kept);
    }
    // All of a short recording; of a long one every so many frames, and the last ones.
    int64_t stride = count / 64 + 1;
    for (int64_t k = 0; k < count;
         k = k + stride < count - 3 || k >= count - 4 ? k + stride : k + 1) {
        checkMadeFrame(recording, &run, k);
        stride = k >= count - 4 ? 1 : stride;
    }
    tpCloseRecording(recording);
    freeRun(&run);
    return count;
}

// The next recording of the same name takes away what those left that died before they had theirs.
static void checkNoParts(const char* path) {
    MadeRun run;
    makeRun(&run, 1, 2);
    tpRecordingHead head = madeHead(&run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    CHECK_OK(tpWriter_Create(&writer, path, &head, &allocator, failure));
    CHECK_OK(tpWriter_Close(&writer, NULL, failure));
    freeRun(&run);
    char command[400];
    snprintf(command, sizeof(command), "ls %s.*.part > /dev/null 2>&1", path);
    assert_int_not_equal(system(command), 0);
}

static void testKilledInWrites(void** state) {
    (void)state;
    char path[256];
    strcpy(path, testPath("torn.h5"));
    tpRandom random = { 42 };
    int journals = 0, kills = killCount(40);
    int64_t frames = 0;
    for (int i = 0; i < kills; ++i) {
        int movingCount = 1 + (int)(randomBits(&random) % 60);
        progress->created = 0;
        progress->count = 0;
        unlink(path);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            writeWithoutRest(path, movingCount);
        }
        // Some die while they make their file, most while they write to it.
        for (int waits = 0; i % 8 != 0 && progress->created == 0 && waits < 10000; ++waits) {
            sleepFor(0.001);
        }
        killAfter(child, randomBetween(&random, 0.0, 0.12));
        if (progress->created == 0) {
            // Too early for a recording; then there is none, or a whole one without frames.
            if (access(path, F_OK) == 0) {
                checkRemains(path, movingCount, 0, NULL);
            }
            continue;
        }
        bool hadJournal = false;
        frames += checkRemains(path, movingCount, progress->count, &hadJournal);
        journals += hadJournal ? 1 : 0;
    }
    print_message("%d kills, %lld frames kept, %d recordings needed their journal\n", kills,
                  (long long)frames, journals);
    checkNoParts(path);
}

static void testKilledRuns(void** state) {
    (void)state;
    char path[256];
    strcpy(path, testPath("killed.h5"));
    tpRandom random = { 7 };
    int kills = killCount(60) / 10;
    int starved = 0;
    double worst = 0.0, worstStarved = 0.0;
    for (int i = 0; i < kills; ++i) {
        int movingCount = 1 + (int)(randomBits(&random) % 300);
        uint64_t seed = randomBits(&random);
        progress->created = 0;
        progress->count = 0;
        unlink(path);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            writeAsRunsDo(path, movingCount, seed);
        }
        double lifetime = randomBetween(&random, 0.2, 2.4), watched = fmin(lifetime, 1.2);
        sleepFor(lifetime - watched);
        double waited = waitedForProcessor(child);
        sleepFor(watched);
        bool isStarved = waitedForProcessor(child) - waited > 0.25 * watched;
        double when = killAfter(child, 0.0);
        int64_t added = progress->count, kept = 0;
        while (!isStarved && kept < added && progress->times[kept] < when - mayBeLost) {
            kept += 1;
        }
        starved += isStarved ? 1 : 0;
        if (progress->created == 1) {
            int64_t count = checkRemains(path, movingCount, kept, NULL);
            double lost = count < added ? when - progress->times[count] : 0.0;
            double* most = isStarved ? &worstStarved : &worst;
            *most = lost > *most ? lost : *most;
        } else {
            assert_int_equal(kept, 0);
        }
    }
    print_message(
        "%d kills, at most the last %.3f s lost; %d of runs in want of a processor, %.3f s\n",
        kills - starved, worst, starved, worstStarved);
}

static int setUp(void** state) {
    (void)state;
    progress =
        mmap(NULL, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return progress == MAP_FAILED ? -1 : 0;
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testKilledInWrites),
        cmocka_unit_test(testKilledRuns),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
