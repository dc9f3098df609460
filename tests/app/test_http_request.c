// The parser of requests, as the server uses it: bytes come in pieces of any size.

#include "http_request.h"

#include <string.h>

#include "support/check.h"

static int parse(const char* text, tpHttpRequest* request) {
    return parseHttpRequest(text, strlen(text), request);
}

static void readsARequest(void** state) {
    (void)state;
    static const char text[] = "POST /secret/command?first=12&count=3 HTTP/1.1\r\n"
                               "host:  127.0.0.1:80 \r\n"
                               "ORIGIN: http://127.0.0.1:80\r\n"
                               "Content-Type: application/json\r\n"
                               "Content-Length: 2\r\n"
                               "\r\n{}";
    tpHttpRequest request;
    assert_int_equal(parse(text, &request), httpWhole);
    assert_int_equal(request.method, httpPost);
    assert_true(isSpan(request.path, "/secret/command"));
    assert_true(isSpan(request.query, "first=12&count=3"));
    assert_true(isSpan(request.host, "127.0.0.1:80"));
    assert_true(isSpan(request.origin, "http://127.0.0.1:80"));
    assert_true(isSpan(request.contentType, "application/json"));
    assert_int_equal(request.bodySize, 2);
    assert_int_equal(request.headSize, sizeof(text) - 1 - 2);
    assert_true(request.keepsAlive);
}

static void waitsForTheRest(void** state) {
    (void)state;
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    tpHttpRequest request;
    for (size_t length = 0; length < sizeof(text) - 1; ++length) {
        assert_int_equal(parseHttpRequest(text, length, &request), httpIncomplete);
    }
    assert_int_equal(parseHttpRequest(text, sizeof(text) - 1, &request), httpWhole);
}

static void refusesWhatIsUnusual(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1\n", 400 },
        { "GET  / HTTP/1.1\r\n", 400 },
        { "GET / HTTP/2.0\r\n", 505 },
        { "GET / HTTP/1.1 \r\n", 400 },
        { "GET * HTTP/1.1\r\n", 400 },
        { "GET http://a/ HTTP/1.1\r\n", 400 },
        { "GET /\x7f HTTP/1.1\r\n", 400 },
        { "G(T / HTTP/1.1\r\n", 400 },
        { "\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413 },
        { "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 501 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpHttpRequest request;
        int status = parse(cases[i].text, &request);
        if (status != cases[i].status) {
            fail_msg("case %zu: %d, expected %d", i, status, cases[i].status);
        }
    }
}

static void keepsToItsLimits(void** state) {
    (void)state;
    static char text[longestHttpHead + 100];
    tpHttpRequest request;
    memset(text, 'a', sizeof(text));
    memcpy(text, "GET /", 5);
    assert_int_equal(parseHttpRequest(text, sizeof(text), &request), 431);
    memcpy(text + 4000, " HTTP/1.1\r\n", 11);
    assert_int_equal(parseHttpRequest(text, sizeof(text), &request), 414);
}

static void readsNumbersOfQueries(void** state) {
    (void)state;
    tpHttpRequest request;
    int64_t number;
    assert_int_equal(parse("GET /?first=12&second=&third=1x&fourth=1234567890123456&fifthly=5 "
                           "HTTP/1.1\r\nHost: a\r\n\r\n",
                           &request),
                     httpWhole);
    assert_true(readHttpNumber(&request, "first", 0, &number));
    assert_int_equal(number, 12);
    assert_false(readHttpNumber(&request, "second", 0, &number));
    assert_false(readHttpNumber(&request, "third", 0, &number));
    assert_false(readHttpNumber(&request, "fourth", 0, &number));
    assert_true(readHttpNumber(&request, "fifth", 3, &number));
    assert_int_equal(number, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readsARequest),         cmocka_unit_test(waitsForTheRest),
        cmocka_unit_test(refusesWhatIsUnusual),  cmocka_unit_test(keepsToItsLimits),
        cmocka_unit_test(readsNumbersOfQueries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
