// One impact with friction, against an independent table.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/impact_table.h"
#include "tippe/impact.h"

static void test_table(void** state) {
    (void)state;
    tpImpactRow rows[64];
    int count = readImpactTable(TIPPE_SOURCE_DIR "/tests/data/collisions.csv", rows, 64);
    assert_int_equal(count, 32);
    for (int i = 0; i < count; ++i) {
        const tpImpactRow* row = &rows[i];
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&row->impact, &result), tp_success);
        double scale = tpLength(row->impulse);
        CHECK_VEC3(result.impulse, row->impulse, 1e-12 * scale);
        CHECK_NEAR(result.compressionImpulse, row->compressionImpulse, 1e-12 * scale);
        CHECK_VEC3(result.velocity, row->velocityAfter, 1e-12 * tpLength(row->impact.velocity));
        CHECK_NEAR(result.energyLost, row->energyLost, 1e-12 * row->energyBefore);
        char phases[128];
        writePhases(&result, phases, sizeof(phases));
        assert_string_equal(phases, row->phases);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
