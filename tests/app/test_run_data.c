// Blocks of frames for the page: what does not fit into one is refused before it is made, whatever
// it consists of.

#include "page/run_data.h"

#include "support/check.h"

// A run of so many bodies and joints, whose numbers are all zero and which counts how often it is
// read.
typedef struct Made {
    tpRunSource source;
    int movingCount, jointCount, readCount;
} Made;

static tpRunInfo getInfo(const tpRunSource* source) {
    const Made* made = (const Made*)source;
    return (tpRunInfo){ .movingCount = made->movingCount, .jointCount = made->jointCount };
}

static tpResult readStates(tpRunSource* source, int64_t first, int64_t count, double* states,
                           tpError* error) {
    (void)first, (void)error;
    Made* made = (Made*)source;
    made->readCount += 1;
    for (int64_t i = 0; i < count * made->movingCount * tp_stateWidth; ++i) {
        states[i] = 0.0;
    }
    return tp_success;
}

static tpResult readReactions(tpRunSource* source, int64_t first, int64_t count, double* reactions,
                              tpError* error) {
    (void)first, (void)error;
    Made* made = (Made*)source;
    made->readCount += 1;
    for (int64_t i = 0; i < count * made->jointCount * 6; ++i) {
        reactions[i] = 0.0;
    }
    return tp_success;
}

static const tpRunClass madeClass = {
    .getInfo = getInfo,
    .readStates = readStates,
    .readReactions = readReactions,
};

static void refuseWhatIsTooMuch(void** state) {
    (void)state;
    // More than 2 GB of reactions, more than 2 GB of states, and two that fit.
    static const struct {
        int movingCount, jointCount, count;
        bool fits;
    } cases[] = { { 0, 1 << 20, 100, false },
                  { 1 << 20, 0, 100, false },
                  { 1000, 1000, 100, true },
                  { 3, 0, 5, true } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        Made made = { { &madeClass }, cases[i].movingCount, cases[i].jointCount, 0 };
        tpFramesQuery query = {
            .count = cases[i].count, .stride = 1, .width = poseWidth, .withReactions = true
        };
        tpBytes bytes = { 0 };
        tpError error = { tp_success, "" };
        tpResult result = writeFrames(&made.source, &query, &bytes, &error);
        assert_int_equal(result, cases[i].fits ? tp_success : tp_badInput);
        assert_true(cases[i].fits == (made.readCount > 0));
        int64_t numbers = (int64_t)poseWidth * cases[i].movingCount + 6 * cases[i].jointCount;
        int64_t expected = 4 * (8 + 2 * cases[i].count + 1 + cases[i].count * numbers);
        assert_true(!cases[i].fits || bytes.count == expected);
        freeBytes(&bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(refuseWhatIsTooMuch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
