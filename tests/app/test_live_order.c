// Orders of the page, read from JSON: what they say, and what is refused.

#include "page/live_order.h"

#include <string.h>

#include "page/answers.h"
#include "support/check.h"

static tpLiveOrder read(const char* text) {
    tpLiveOrder order;
    tpError error;
    if (readLiveOrder(text, strlen(text), &order, &error) != tp_success) {
        fail_msg("%s: %s", text, error.message);
    }
    return order;
}

static void ordersAreRead(void** state) {
    (void)state;
    tpLiveOrder order = read("{ \"running\": true, \"step\": 0.25, \"speed\": 3 }");
    assert_true(order.setsRunning && order.running && order.setsStep && order.setsSpeed);
    assert_true(order.step == 0.25 && order.speed == 3.0 && !order.setsStepper && !order.drags);
    order = read("{ \"stepper\": \"anitescu\", \"steps\": 7, \"begin\": true, \"fork\": 12 }");
    assert_true(order.setsStepper && order.stepper == tp_anitescu && order.steps == 7);
    assert_true(order.begins && order.forks && order.frame == 12);
    order = read("{ \"drag\": { \"body\": 2, \"point\": [1, 2, 3], \"target\": [4, 5, 6] } }");
    assert_true(order.drags && order.body == 2 && order.point.y == 2.0 && order.target.z == 6.0);
    assert_true(read("{ \"drop\": true }").drops && read("{ \"restart\": true }").restart);
    order = read("{ \"material\": { \"name\": \"wood\", \"friction\": 0.5 } }");
    assert_int_equal(order.change.kind, tp_materialChange);
    assert_true(order.change.hasFriction && !order.change.hasRestitution &&
                !order.change.hasTorsion);
    order = read("{ \"mass\": { \"body\": 0, \"mass\": 2.5 } }");
    assert_true(order.change.kind == tp_massChange && order.change.mass == 2.5);
    order = read("{ \"gravity\": [0, 0, -1.62] }");
    assert_true(order.change.kind == tp_gravityChange && order.change.gravity.z == -1.62);
    order = read("{ \"option\": { \"name\": \"theta\", \"value\": \"0.5\" } }");
    assert_string_equal(order.change.name, "theta");
    assert_string_equal(order.change.text, "0.5");
}

static void nonsenseIsRefused(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        { "", "" },
        { "[]", "an order is an object" },
        { "{ \"what\": 1 }", "there is no order \"what\"" },
        { "{ \"step\": 0 }", "\"step\" takes a number of seconds from 1e-7 to 10" },
        { "{ \"step\": \"x\" }", "\"step\" takes" },
        { "{ \"speed\": 1e99 }", "\"speed\" takes" },
        { "{ \"steps\": 0 }", "\"steps\" takes" },
        { "{ \"fork\": -1 }", "\"fork\" takes" },
        { "{ \"stepper\": \"none\" }", "\"stepper\" takes the name of a stepper" },
        { "{ \"drag\": { \"body\": 1 } }", "\"drag\" takes" },
        { "{ \"drag\": { \"body\": 1, \"point\": [0, 0], \"target\": [0, 0, 0] } }", "\"drag\"" },
        { "{ \"drag\": { \"body\": 1, \"what\": 1 } }", "\"drag\"" },
        { "{ \"material\": { \"friction\": 1 } }", "\"material\" takes a name" },
        { "{ \"material\": { \"name\": \"m\", \"friction\": -1 } }", "\"material\"" },
        { "{ \"material\": { \"name\": \"m\", \"restitution\": 1.5 } }", "\"material\"" },
        { "{ \"mass\": { \"body\": 1 } }", "\"mass\" takes" },
        { "{ \"mass\": { \"body\": 1, \"mass\": 0 } }", "\"mass\" takes" },
        { "{ \"gravity\": [0, 0] }", "\"gravity\" takes" },
        { "{ \"option\": { \"name\": \"theta\" } }", "\"option\" takes" },
        { "{ \"target\": { \"joint\": 1 } }", "\"target\" takes a joint" },
        { "{ \"target\": { \"coupling\": 1, \"joint\": 1, \"value\": 0 } }", "\"target\"" },
        { "{ \"target\": { \"coupling\": -1, \"value\": 0 } }", "\"target\"" },
        { "{ \"motor\": { \"coupling\": 1, \"value\": 0 } }", "\"motor\" takes" },
        { "{ \"running\": 1 }", "\"running\" takes true or false" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpLiveOrder order;
        tpError error;
        assert_int_equal(readLiveOrder(cases[i][0], strlen(cases[i][0]), &order, &error),
                         tp_badInput);
        if (strstr(error.message, cases[i][1]) == NULL) {
            fail_msg("%s: %s", cases[i][0], error.message);
        }
    }
}

static void queriesAreRead(void** state) {
    (void)state;
    int64_t number = 0;
    assert_true(readQueryNumber("first=12&count=3", "count", 1, &number) && number == 3);
    assert_true(readQueryNumber("first=12", "count", 1, &number) && number == 1);
    assert_true(readQueryNumber("", "count", 5, &number) && number == 5);
    assert_true(readQueryNumber("discount=3&count=4", "count", 1, &number) && number == 4);
    assert_true(readQueryNumber("first=999999999999999", "first", 0, &number));
    static const char* const wrong[] = {
        "first=",   "first=-1",      "first=1000000000000000",          "first=1x",
        "first=+1", "a=1&first=%31", "first=33333333333333333333333333"
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        assert_false(readQueryNumber(wrong[i], "first", 0, &number));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordersAreRead),
        cmocka_unit_test(nonsenseIsRefused),
        cmocka_unit_test(queriesAreRead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
