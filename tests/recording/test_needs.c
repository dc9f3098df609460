// NULL for what a call cannot do without: collisions, impacts, audits, recorders and recordings
// tell which argument it is, and return what stands for nothing.

#include <string.h>

#include "support/check.h"
#include "tippe/friction.h"
#include "tippe/impact.h"
#include "tippe/recording.h"
#include "tippe/tippe.h"

static int toldCount;
static char told[64];

static void hear(const char* function, const char* argument, const char* message) {
    assert_true(strlen(function) > 0 && strlen(message) > 0);
    toldCount += 1;
    snprintf(told, sizeof(told), "%s", argument);
}

// The call told once, of this argument, and gave this.
#define CHECK_NEED(call, argument, nothing)                                                        \
    do {                                                                                           \
        toldCount = 0;                                                                             \
        assert_true((call) == (nothing));                                                          \
        assert_int_equal(toldCount, 1);                                                            \
        assert_string_equal(told, argument);                                                       \
    } while (0)

// The call told once, of this argument.
#define CHECK_TOLD(call, argument)                                                                 \
    do {                                                                                           \
        toldCount = 0;                                                                             \
        (void)(call);                                                                              \
        assert_int_equal(toldCount, 1);                                                            \
        assert_string_equal(told, argument);                                                       \
    } while (0)

static void collisionsNeedShapes(void** state) {
    (void)state;
    tpGeometry ball;
    assert_int_equal(tpMakeSphere(&(tpSphere){ 0.5 }, tpIdentityPose(), &ball, NULL), tp_success);
    const tpGeometry *a = &ball, *b = &ball;
    tpPose at = tpIdentityPose();
    tpBodyPath path = { .pose = at }, *p = &path;
    tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
    tpClosest closest;
    tpContactPoint points[4];
    tpContactList list = { points, 0, 4 };
    tpFirstTouch touch;
    tpShapeHit hit;
    CHECK_NEED(tpClosestPoints(NULL, at, b, at, NULL, &closest), "a", tp_badInput);
    CHECK_NEED(tpClosestPoints(a, at, NULL, at, NULL, &closest), "b", tp_badInput);
    CHECK_NEED(tpClosestPoints(a, at, b, at, NULL, NULL), "out", tp_badInput);
    CHECK_NEED(tpCollide(NULL, at, b, at, 0.1, NULL, &list), "a", tp_badInput);
    CHECK_NEED(tpCollide(a, at, NULL, at, 0.1, NULL, &list), "b", tp_badInput);
    CHECK_NEED(tpCollide(a, at, b, at, 0.1, NULL, NULL), "out", tp_badInput);
    CHECK_NEED(tpBodyPath_PoseAt(NULL, 1.0).rotation.w, "path", 0.0);
    CHECK_NEED(tpBodyPath_PoseAt(NULL, 1.0).position.x, "path", 0.0);
    CHECK_NEED(tpImpactBound(NULL, p, b, p, 1.0, z, 1.0), "a", 0.0);
    CHECK_NEED(tpImpactBound(a, NULL, b, p, 1.0, z, 1.0), "pathA", 0.0);
    CHECK_NEED(tpImpactBound(a, p, NULL, p, 1.0, z, 1.0), "b", 0.0);
    CHECK_NEED(tpImpactBound(a, p, b, NULL, 1.0, z, 1.0), "pathB", 0.0);
    CHECK_NEED(tpTimeOfImpact(NULL, p, b, p, 1.0, 1e-3, 0, NULL, &touch), "a", tp_badInput);
    CHECK_NEED(tpTimeOfImpact(a, NULL, b, p, 1.0, 1e-3, 0, NULL, &touch), "pathA", tp_badInput);
    CHECK_NEED(tpTimeOfImpact(a, p, NULL, p, 1.0, 1e-3, 0, NULL, &touch), "b", tp_badInput);
    CHECK_NEED(tpTimeOfImpact(a, p, b, NULL, 1.0, 1e-3, 0, NULL, &touch), "pathB", tp_badInput);
    CHECK_NEED(tpTimeOfImpact(a, p, b, p, 1.0, 1e-3, 0, NULL, NULL), "out", tp_badInput);
    CHECK_NEED(tpCastShape(NULL, at, z, b, at, 1e-3, NULL, &hit), "a", tp_badInput);
    CHECK_NEED(tpCastShape(a, at, z, NULL, at, 1e-3, NULL, &hit), "b", tp_badInput);
    CHECK_NEED(tpCastShape(a, at, z, b, at, 1e-3, NULL, NULL), "out", tp_badInput);
    tpReleaseGeometry(&ball);
}

static void impactsNeedBodies(void** state) {
    (void)state;
    tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
    tpImpactResult result;
    tpImpact none;
    toldCount = 0;
    none = tpMakeImpact(NULL, NULL, z);
    assert_int_equal(toldCount, 1);
    assert_true(none.friction == 0.0 && tpLength(none.normal) == 0.0);
    CHECK_TOLD((tpImpactBody_Apply(NULL, z), 0), "body");
    CHECK_NEED(tpImpact_Resolve(NULL, &result), "impact", tp_badInput);
    CHECK_NEED(tpFriction_Judge(NULL, NULL, NULL, NULL, NULL), "problem", false);
}

static void auditsNeedThemselves(void** state) {
    (void)state;
    char text[64];
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpStepReport report = { 0 };
    CHECK_TOLD((tpAudit_Start(NULL, world), 0), "audit");
    CHECK_TOLD((tpAudit_AddStep(NULL, &report), 0), "audit");
    CHECK_NEED(tpAudit_FormatJson(NULL, text, sizeof(text)), "audit", 0);
    CHECK_NEED(tpAudit_FormatTable(NULL, text, sizeof(text)), "audit", 0);
    tpDestroyWorld(world);
}

static void recordersNeedThemselves(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpStepReport report = { 0 };
    double number;
    CHECK_NEED(tpCreateRecorder(NULL, world, NULL), "def", NULL);
    CHECK_NEED(tpRecorder_Step(NULL, world, &report, NULL), "recorder", tp_badInput);
    CHECK_NEED(tpRecorder_Save(NULL, "nowhere.h5", NULL, NULL), "recorder", tp_badInput);
    CHECK_NEED(tpRecorder_GetColumn(NULL, 0).path, "recorder", NULL);
    CHECK_TOLD((tpRecorder_CopyColumn(NULL, 0, &number), 0), "recorder");
    CHECK_NEED(tpRecorder_GetLabel(NULL, 0), "recorder", NULL);
    CHECK_NEED(tpRecorder_GetCoordinateName(NULL, 0), "recorder", NULL);
    CHECK_NEED(tpRecorder_GetSensorColumn(NULL, 0), "recorder", NULL);
    tpDestroyWorld(world);
}

static void recordingsNeedThemselves(void** state) {
    (void)state;
    double numbers[64];
    uint64_t hash;
    int64_t offsets[2];
    tpStepReport report;
    tpRecordedContact contact;
    tpRecordedPair pair;
    tpRecordedCarrier carrier;
    const char* whose = "recording";
    CHECK_NEED(tpOpenRecording(NULL, NULL, NULL), "path", NULL);
    CHECK_NEED(tpRecording_GetInfo(NULL), whose, NULL);
    CHECK_NEED(tpRecording_GetBody(NULL, 0).name, whose, NULL);
    CHECK_NEED(tpRecording_GetJointName(NULL, 0), whose, NULL);
    CHECK_NEED(tpRecording_GetCoordinateName(NULL, 0), whose, NULL);
    CHECK_NEED(tpRecording_GetSensorColumn(NULL, 0), whose, NULL);
    CHECK_NEED(tpRecording_GetSummary(NULL), whose, NULL);
    CHECK_NEED(tpRecording_GetLabel(NULL, 0), whose, NULL);
    CHECK_NEED(tpRecording_GetColumn(NULL, 0).path, whose, NULL);
    CHECK_NEED(tpRecording_HasReport(NULL, "x"), whose, false);
    CHECK_NEED(tpRecording_ReadTimes(NULL, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadStates(NULL, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadBodyStates(NULL, 0, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadHashes(NULL, 0, 1, &hash, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadReports(NULL, 0, 1, &report, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadContactOffsets(NULL, 0, 1, offsets, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadContacts(NULL, 0, 1, &contact, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadPairOffsets(NULL, 0, 1, offsets, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadPairs(NULL, 0, 1, &pair, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadColumn(NULL, 0, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadReactions(NULL, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadCoordinates(NULL, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadCoordinate(NULL, 0, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadSensors(NULL, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadSensorValue(NULL, 0, 0, 1, numbers, NULL), whose, tp_badInput);
    CHECK_NEED(tpRecording_ReadCarriers(NULL, 0, 0, 1, &carrier, NULL), whose, tp_badInput);
    CHECK_NEED(tpExportTrajectory(NULL, "nowhere.csv", NULL), whose, tp_badInput);
    CHECK_NEED(tpExportJoints(NULL, "nowhere.csv", NULL), whose, tp_badInput);
    CHECK_NEED(tpExportContacts(NULL, "nowhere.csv", NULL), whose, tp_badInput);
    CHECK_NEED(tpExportReports(NULL, "nowhere.csv", NULL), whose, tp_badInput);
    CHECK_NEED(tpExportPairs(NULL, "nowhere.csv", 0.0, NULL), whose, tp_badInput);
}

static int listen(void** state) {
    (void)state;
    tpSetMisuseHook(hear);
    return 0;
}

static int stop(void** state) {
    (void)state;
    tpSetMisuseHook(NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collisionsNeedShapes),     cmocka_unit_test(impactsNeedBodies),
        cmocka_unit_test(auditsNeedThemselves),     cmocka_unit_test(recordersNeedThemselves),
        cmocka_unit_test(recordingsNeedThemselves),
    };
    return cmocka_run_group_tests(tests, listen, stop);
}
