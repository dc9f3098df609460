// Damaged files: cut short, overwritten, forged. Each gives an error or reads within its bounds;
// none crashes. TIPPE_DAMAGES=100000 tries as many.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forged.h"
#include "made_frames.h"
#include "recording/journal.h"

enum { largestFile = 1 << 20 };

static unsigned char original[largestFile];
static size_t size;
static char path[256];

static void writeFile(const unsigned char* bytes, size_t length) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(tpWriteAll(file, bytes, length, 0));
    close(file);
}

static int makeOriginal(void** state) {
    (void)state;
    strcpy(path, testPath("damaged.h5"));
    MadeRun run;
    makeRun(&run, 4, 2);
    tpRecordingHead head = madeHead(&run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    CHECK_OK(tpWriter_Create(&writer, path, &head, &allocator, failure));
    tpPump_Start(&pump, &writer, &run.roster, false, &allocator);
    for (int k = 0; k < 30; ++k) {
        CHECK_OK(addMadeFrame(&pump, &run, k, failure));
    }
    CHECK_OK(tpPump_Stop(&pump, failure));
    CHECK_OK(tpWriter_Close(&writer, "{}", failure));
    freeRun(&run);
    FILE* file = fopen(path, "rb");
    size = fread(original, 1, largestFile, file);
    fclose(file);
    return size > 0 && size < largestFile ? 0 : -1;
}

// Reads all there is; whether the file was taken for a recording.
static bool readAll(void) {
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording == NULL) {
        assert_true(error.result != tp_success && strlen(error.message) > strlen(path));
        return false;
    }
    int64_t frames = tpRecording_GetInfo(recording)->frameCount;
    tpStepReport reports[64];
    tpRecording_ReadReports(recording, 0, frames < 64 ? frames : 64, reports, NULL);
    if (frames < 1000) {
        tpExportTrajectory(recording, "/dev/null", NULL);
        tpExportContacts(recording, "/dev/null", NULL);
    }
    tpCloseRecording(recording);
    return true;
}

static void testWhole(void** state) {
    (void)state;
    writeFile(original, size);
    assert_true(readAll());
}

static void testCutShort(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int i = 0; i < 160; ++i) {
        size_t length = i < 100   ? (size_t)i
                        : i < 110 ? size - 1 - (size_t)(i - 100)
                                  : randomBits(&random) % size;
        writeFile(original, length);
        assert_false(readAll());
    }
}

static void testNotARecording(void** state) {
    (void)state;
    tpError error;
    assert_null(tpOpenRecording(testPath("nothing"), NULL, &error));
    assert_int_equal(error.result, tp_ioError);
    assert_null(tpOpenRecording("/dev/null", NULL, &error));
    assert_int_equal(error.result, tp_badInput);
    assert_null(tpOpenRecording("/", NULL, &error));
    writeFile((const unsigned char*)"{ \"tippe\": 1 }", 14);
    assert_null(tpOpenRecording(path, NULL, &error));
    assert_int_equal(error.result, tp_badInput);
    // HDF5, but something else.
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    assert_null(tpOpenRecording(path, NULL, &error));
    assert_non_null(strstr(error.message, "not a recording"));
    assert_int_equal(tpRepairRecording(path, NULL, &error), tp_badInput);
}

// One to three changes a file, where there is something other than zeros.
static void testChanged(void** state) {
    (void)state;
    static unsigned char changed[largestFile];
    static size_t places[largestFile];
    size_t placeCount = 0;
    for (size_t i = 0; i < size; ++i) {
        if (original[i] != 0) {
            places[placeCount++] = i;
        }
    }
    const char* wanted = getenv("TIPPE_DAMAGES");
    int count = wanted != NULL ? atoi(wanted) : 400, passed = 0;
    tpRandom random = { 12 };
    for (int i = 0; i < count; ++i) {
        memcpy(changed, original, size);
        int changes = 1 + (int)(randomBits(&random) % 3);
        for (int k = 0; k < changes; ++k) {
            size_t at = places[randomBits(&random) % placeCount];
            uint64_t bits = randomBits(&random);
            size_t length = 1 + (bits >> 8) % 8;
            switch (bits % 4) {
            case 0:
                changed[at] ^= (unsigned char)(1u << (bits >> 16 & 7));
                break;
            case 1:
                memset(changed + at, (bits & 4) != 0 ? 0xff : 0, at + length < size ? length : 1);
                break;
            case 2:
                changed[at] = (unsigned char)(bits >> 16);
                break;
            default: // something that makes sense elsewhere in the file
                memcpy(changed + at, original + places[(bits >> 20) % placeCount],
                       at + 8 < size ? length : 1);
                break;
            }
        }
        writeFile(changed, size);
        passed += readAll() ? 1 : 0;
    }
    print_message("%d files changed, %d of them still recordings\n", count, passed);
}

static tpResult readContacts(void) {
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    assert_non_null(recording);
    int64_t count = tpRecording_GetInfo(recording)->contactCount;
    tpRecordedContact* contacts = malloc(sizeof(tpRecordedContact) * (size_t)(count + 1));
    tpResult result = tpRecording_ReadContacts(recording, 0, count, contacts, &error);
    assert_int_equal(result, error.result);
    free(contacts);
    tpCloseRecording(recording);
    return result;
}

// Numbers that stand for something have bounds: one beyond them is damage, one at them is not.
static void testForged(void** state) {
    (void)state;
    writeFile(original, size);
    tpRecording* recording = tpOpenRecording(path, NULL, NULL);
    int bodies = tpRecording_GetInfo(recording)->bodyCount;
    int64_t last = tpRecording_GetInfo(recording)->contactCount - 1;
    tpCloseRecording(recording);
    assert_true(last > 0);
    const struct {
        const char* column;
        int least, most;
    } bounds[] = { { "/contacts/body_a", -1, bodies - 1 },
                   { "/contacts/body_b", -1, bodies - 1 },
                   { "/contacts/state", 0, tp_sticking } };
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 2; ++k) {
            int64_t row = k == 0 ? 0 : last;
            int old = forge(path, bounds[i].column, row, bounds[i].least);
            assert_int_equal(readContacts(), tp_success);
            if (bounds[i].least < 0) { // a state is a byte: no file has a smaller one than 0
                forge(path, bounds[i].column, row, bounds[i].least - 1);
                assert_int_equal(readContacts(), tp_badInput);
            }
            forge(path, bounds[i].column, row, bounds[i].most);
            assert_int_equal(readContacts(), tp_success);
            forge(path, bounds[i].column, row, bounds[i].most + 1);
            assert_int_equal(readContacts(), tp_badInput);
            forge(path, bounds[i].column, row, old);
        }
    }
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testWhole),         cmocka_unit_test(testCutShort),
        cmocka_unit_test(testNotARecording), cmocka_unit_test(testForged),
        cmocka_unit_test(testChanged),
    };
    return cmocka_run_group_tests(tests, makeOriginal, tearDown);
}
