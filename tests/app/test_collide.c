// tippe collide from the outside: the table it reads and writes, and what it says of a bad one.

#include <math.h>

#include "program.h"
#include "support/impact_table.h"

static const char header[] = "id,m1,J1xx,J1yy,J1zz,J1xy,J1xz,J1yz,r1x,r1y,r1z,v1x,v1y,v1z,w1x,w1y,"
                             "w1z,m2,J2xx,J2yy,J2zz,J2xy,J2xz,J2yz,r2x,r2y,r2z,v2x,v2y,v2z,w2x,w2y,"
                             "w2z,mu,e\n";
static const char fixedBody[] = "inf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";

// A sphere of mass 2 that falls on the second body with 3 m/s.
static void writeFall(const char* path, const char* mass, const char* other, const char* friction) {
    char text[2000];
    snprintf(text, sizeof(text), "%sfall,%s,1,1,1,0,0,0,0,0,-1,0,0,-3,0,0,0,%s,%s,0.5\n", header,
             mass, other, friction);
    writeText(path, text);
}

static void test_table(void** state) {
    (void)state;
    tpImpactRow rows[64];
    const char* source = TIPPE_SOURCE_DIR "/tests/data/collisions.csv";
    int count = readImpactTable(source, rows, 64);
    char command[1000];
    snprintf(command, sizeof(command), "collide %s --out out.csv", source);
    tpOutcome outcome = runTippe(command);
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "");
    FILE* file = fopen("out.csv", "r");
    assert_non_null(file);
    char line[400];
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, "id,px,py,pz,pz_mc\n");
    for (int i = 0; i < count; ++i) {
        char id[64];
        tpVec3 p;
        double compression;
        assert_non_null(fgets(line, sizeof(line), file));
        assert_int_equal(
            sscanf(line, "%63[^,],%lf,%lf,%lf,%lf", id, &p.x, &p.y, &p.z, &compression), 5);
        assert_string_equal(id, rows[i].id);
        double scale = tpLength(rows[i].impulse);
        CHECK_VEC3(p, rows[i].impulse, 1e-12 * scale);
        CHECK_NEAR(compression, rows[i].compressionImpulse, 1e-12 * scale);
    }
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
}

static void test_standard_output(void** state) {
    (void)state;
    writeFall("fall.csv", "2", fixedBody, "0.3");
    tpOutcome outcome = runTippe("collide fall.csv");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "id,px,py,pz,pz_mc\nfall,0,0,9,6\n");
    assert_int_equal(runTippe("collide fall.csv --restitution stronge").status, 0);
    assert_int_equal(countFiles(), 1);
}

// Nothing is written, status 2, and the message starts with the place.
static void expectComplaint(const char* place, const char* word) {
    tpOutcome outcome = runTippe("collide bad.csv --out out.csv");
    assert_int_equal(outcome.status, 2);
    if (strncmp(outcome.err, place, strlen(place)) != 0 || strstr(outcome.err, word) == NULL) {
        fail_msg("expected \"%s ... %s\", got \"%s\"", place, word, outcome.err);
    }
    assert_int_not_equal(access("out.csv", F_OK), 0);
    outcome = runTippe("collide bad.csv");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    assert_int_equal(countFiles(), 1);
}

static void test_complaints(void** state) {
    (void)state;
    writeText("bad.csv", "");
    expectComplaint("bad.csv:1:1:", "header");
    writeText("bad.csv", "id,m1\n");
    expectComplaint("bad.csv:1:1:", "J1xx");
    writeFall("bad.csv", "heavy", fixedBody, "0.3");
    expectComplaint("bad.csv:2:6:", "'heavy'");
    writeFall("bad.csv", "-1", fixedBody, "0.3");
    expectComplaint("bad.csv:2:6:", "mass above 0");
    writeFall("bad.csv", "nan", fixedBody, "0.3");
    expectComplaint("bad.csv:2:6:", "'nan'");
    writeFall("bad.csv", "2", fixedBody, "-0.3");
    expectComplaint("bad.csv:2:74:", "not negative");
    writeFall("bad.csv", "2", "inf,0,0,0", "0.3");
    expectComplaint("bad.csv:2:1:", "35 cells");
    writeFall("bad.csv", "2", "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "0.3");
    expectComplaint("bad.csv:2:42:", "inertia");
    // A good row before a bad one is not written either.
    char text[3000];
    snprintf(text, sizeof(text),
             "%sa,2,1,1,1,0,0,0,0,0,-1,0,0,-3,0,0,0,%s,0.3,0.5\n\nb,inf,0,0,0,0,0,0,0,0,-1,0,0,-3,"
             "0,0,0,%s,0.3,0.5\n",
             header, fixedBody, fixedBody);
    writeText("bad.csv", text);
    expectComplaint("bad.csv:4:3:", "both fixed");
}

static void test_missing_file(void** state) {
    (void)state;
    tpOutcome outcome = runTippe("collide nothing.csv --out out.csv");
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(outcome.err, "nothing.csv: cannot be read: No such file"));
    assert_int_equal(countFiles(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(test_standard_output, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(test_complaints, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(test_missing_file, enterDirectory, leaveDirectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
