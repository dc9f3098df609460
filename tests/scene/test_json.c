// The JSON cursor: places of tokens, messages, and agreement with yajl on what is JSON.

#include <string.h>

#include <yajl/yajl_parse.h>

#include "marked_text.h"
#include "scene/json.h"
#include "support/check.h"

// Where a text first goes wrong: the place is marked by '@', which is taken out.
typedef struct tpCase {
    const char* text;
    const char* message;
} tpCase;

static void checkFaults(void** state) {
    (void)state;
    static const tpCase cases[] = {
        { "@", "the file is empty" },
        { "  \n @", "the file is empty" },
        { "{ @", "expected a key in double quotes, found the end of the file" },
        { "{ \"a\" @1 }", "expected ':' after the key, found '1'" },
        { "{ \"a\": 1 @\"b\": 2 }", "expected ',' or '}', found a text" },
        { "{ \"a\": 1, @}", "expected a key after the comma" },
        { "[1,@,2]", "expected a value, found ','" },
        { "[1, 2, @]", "expected a value after the comma, found ']'" },
        { "[1 @2]", "expected ',' or ']', found '2'" },
        { "[1]\n@[2]", "expected the end of the file, found '['" },
        { "[1, @/ 2]", "found '/'" },
        { "[1 // one\n @2]", "expected ',' or ']', found '2'" },
        { "[1, /* two * / */ @]", "expected a value after the comma, found ']'" },
        { "@/* a [1]", "the comment that starts here has no end" },
        { "[1, @/*/ 2]", "the comment that starts here has no end" },
        { "// nothing else@", "the file is empty" },
        { "[@'a']", "double quotes" },
        { "{@a: 1}", "expected a key in double quotes, found 'a'" },
        { "[@NaN]", "expected a finite number, found NaN" },
        { "[@-Infinity]", "expected a finite number" },
        { "[@Infinity]", "expected a finite number" },
        { "[@+1]", "expected a value, found '+1'" },
        { "[@.5]", "expected a value, found '.5'" },
        { "[@01]", "needless 0" },
        { "[@1.]", "digit after the decimal point" },
        { "[@-]", "digit after the minus sign" },
        { "[@1e]", "digit in its exponent" },
        { "[@1e+]", "digit in its exponent" },
        { "[@True]", "expected a value, found 'True'" },
        { "[@nul]", "expected a value, found 'nul'" },
        { "[@\"abc", "no closing quote" },
        { "[\n  @\"abc\n\"]", "no closing quote on its line" },
        { "[\"a@\\x\"]", "a backslash in a text is followed by" },
        { "[\"a@\\u12g4\"]", "four hexadecimal digits" },
        { "[\"@\\ud800\"]", "second half is missing" },
        { "[\"@\\udc00\"]", "first half is missing" },
        { "[\"@\\ud800\\u0041\"]", "second half is missing" },
        { "[\"a@\tb\"]", "control character 0x09" },
        { "[\"\xC3\xA4\xC3\xB6\", @x]", "found 'x'" }, // columns count characters, not bytes
        { "[\"@\xC0\x80\"]", "0xC0 is not UTF-8" },
        { "[\"@\xED\xA0\x80\"]", "0xED is not UTF-8" },
        { "[\"@\xF4\x90\x80\x80\"]", "0xF4 is not UTF-8" },
        { "[\"@\xE2\x82", "0xE2 is not UTF-8" },
        { "@\xEF\xBB\xBF[]", "byte order mark" },
        { "@\xFF\xFE[", "UTF-16" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char text[200], expected[40];
        tpScenePlace place;
        size_t length = takeMark(cases[i].text, text, &place);
        tpJson json;
        tpError error = { tp_success, "" };
        assert_int_equal(tpJson_Open(&json, "f", 0, text, length, &error), tp_badInput);
        snprintf(expected, sizeof(expected), "f:%d:%d: ", place.line, place.column);
        if (strncmp(error.message, expected, strlen(expected)) != 0 ||
            strstr(error.message, cases[i].message) == NULL) {
            fail_msg("of %s: expected %s...%s..., found %s", cases[i].text, expected,
                     cases[i].message, error.message);
        }
    }
}

static void checkZeroByte(void** state) {
    (void)state;
    tpJson json;
    tpError error;
    assert_int_equal(tpJson_Open(&json, "f", 0, "[1,\0 2]", 7, &error), tp_badInput);
    assert_non_null(strstr(error.message, "f:1:4: a zero byte"));
}

static void checkNesting(void** state) {
    (void)state;
    enum { count = 100000 };
    static char text[2 * count + 1];
    for (int depth = TP_DEEPEST_SCENE - 1; depth <= TP_DEEPEST_SCENE + 1; ++depth) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        tpJson json;
        tpError error;
        tpResult result = tpJson_Open(&json, "f", 0, text, (size_t)(2 * depth), &error);
        assert_int_equal(result, depth <= TP_DEEPEST_SCENE ? tp_success : tp_badInput);
    }
    memset(text, '[', count);
    text[count] = '\0';
    tpJson json;
    tpError error;
    assert_int_equal(tpJson_Open(&json, "f", 0, text, count, &error), tp_badInput);
    assert_non_null(strstr(error.message, "f:1:65: brackets nest more than 64 deep"));
}

// Every value and key has the place where it stands.
static void checkPlaces(void** state) {
    (void)state;
    const char* text = "{\n  \"a\" : [ 1.5,\n\t-2e3 ],\"\\u00e4b\\n\\ud83d\\ude00\":true }\n";
    tpArena arena;
    tpAllocator heap = tpDefaultAllocator();
    tpArena_Create(&arena, &heap);
    tpJson json;
    tpError error;
    size_t length;
    double number;
    assert_int_equal(tpJson_Open(&json, "f", 0, text, strlen(text), &error), tp_success);
    assert_int_equal(tpJson_CountItems(&json), 2);
    tpJson_Enter(&json);
    assert_true(tpJson_Next(&json));
    tpScenePlace place = tpJson_Place(&json);
    assert_true(place.line == 2 && place.column == 3);
    assert_string_equal(tpJson_ReadKey(&json, &arena, &length), "a");
    place = tpJson_Place(&json);
    assert_true(place.line == 2 && place.column == 9);
    assert_int_equal(tpJson_Peek(&json), tp_jsonArray);
    tpJson_Enter(&json);
    assert_true(tpJson_Next(&json));
    place = tpJson_Place(&json);
    assert_true(place.line == 2 && place.column == 11);
    assert_true(tpJson_ReadNumber(&json, &number) && number == 1.5);
    assert_true(tpJson_Next(&json));
    place = tpJson_Place(&json);
    assert_true(place.line == 3 && place.column == 2);
    assert_true(tpJson_ReadNumber(&json, &number) && number == -2000.0);
    assert_false(tpJson_Next(&json));
    assert_true(tpJson_Next(&json));
    assert_string_equal(tpJson_ReadKey(&json, &arena, &length), "\xC3\xA4"
                                                                "b\n\xF0\x9F\x98\x80");
    place = tpJson_Place(&json);
    assert_true(place.line == 3 && place.column == 33);
    assert_true(tpJson_ReadBoolean(&json));
    assert_false(tpJson_Next(&json));
    tpArena_Destroy(&arena);
}

// Agreement with yajl -------------------------------------------------------------------------

static bool yajlAccepts(const char* text, size_t length) {
    yajl_handle handle = yajl_alloc(NULL, NULL, NULL);
    bool accepts = yajl_parse(handle, (const unsigned char*)text, length) == yajl_status_ok &&
                   yajl_complete_parse(handle) == yajl_status_ok;
    yajl_free(handle);
    return accepts;
}

static bool weAccept(const char* text, size_t length) {
    tpJson json;
    tpError error;
    return tpJson_Open(&json, "f", 0, text, length, &error) == tp_success;
}

// Random changes of a text that uses the whole grammar. Its texts stay ASCII without surrogates,
// where yajl is laxer than the standard.
static void checkAgreement(void** state) {
    (void)state;
    static const char seed[] =
        "{\"a\": [1, -2.5e-3, 0, 1E+7], \"b\\n\\u0041\": {\"c\": null, \"d\": [true, false]},"
        "\"e\": [], \"f\": {}, \"g\": \"text \\\" \\\\ end\"}";
    static const char alphabet[] = "{}[]:,\"\\ \n0123456789.eE+-truefalsn/*'\tA";
    tpRandom random = { 7 };
    int accepted = 0, rejected = 0;
    for (int i = 0; i < 60000; ++i) {
        char text[sizeof(seed) + 8];
        size_t length = sizeof(seed) - 1;
        memcpy(text, seed, length);
        int changes = 1 + (int)(randomBits(&random) % 3);
        for (int k = 0; k < changes; ++k) {
            size_t at = randomBits(&random) % length;
            char c = alphabet[randomBits(&random) % (sizeof(alphabet) - 1)];
            switch (randomBits(&random) % 3) {
            case 0:
                text[at] = c;
                break;
            case 1:
                memmove(text + at, text + at + 1, length - at - 1);
                length -= 1;
                break;
            default:
                memmove(text + at + 1, text + at, length - at);
                text[at] = c;
                length += 1;
                break;
            }
        }
        text[length] = '\0';
        bool ours = weAccept(text, length);
        bool theirs = yajlAccepts(text, length);
        if (ours != theirs) {
            fail_msg("we %s and yajl %s %s", ours ? "accept" : "refuse",
                     theirs ? "accepts" : "refuses", text);
        }
        accepted += ours;
        rejected += !ours;
    }
    assert_true(accepted > 1000 && rejected > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkFaults),    cmocka_unit_test(checkZeroByte),
        cmocka_unit_test(checkNesting),   cmocka_unit_test(checkPlaces),
        cmocka_unit_test(checkAgreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
