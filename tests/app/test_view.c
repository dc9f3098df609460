// tippe view of a scene while several clients ask, order and hang up at once: the simulating thread
// and the server's share the frames and the orders. Run under the thread sanitizer, whose findings
// end the program with an exit status of its own; without it this holds the answers to what they
// have to be.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "app/program.h"

enum { clientCount = 4, roundCount = 30, answerSize = 64 * 1024 };

static const char scene[] =
    "{\"tippe\": 1, \"name\": \"Pendulum and ball\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": {\"m\": {\"friction\": 0.5}},"
    " \"bodies\": ["
    "  {\"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
    "   \"shapes\": [{\"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0}]},"
    "  {\"name\": \"ball\", \"density\": 1000, \"material\": \"m\", \"position\": [0, 0, 0.3],"
    "   \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.3}]},"
    "  {\"name\": \"bob\", \"density\": 1000, \"material\": \"m\", \"position\": [2, 0, 1],"
    "   \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}],"
    " \"joints\": [{\"name\": \"pivot\", \"type\": \"ball\", \"bodies\": [null, \"bob\"],"
    "  \"anchor\": [2, 0, 2]}],"
    " \"simulation\": {\"stepper\": \"anitescu\", \"step\": 0.002, \"until\": 1000}}";

typedef struct client {
    pthread_t thread;
    int port, place;
    const char* secret; // "/…/"
    atomic_int* isWrong;
} client;

static int connectTo(int port) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = { .tv_sec = 60 };
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(file, (struct sockaddr*)&address, sizeof(address)) != 0) {
        close(file);
        return -1;
    }
    return file;
}

static int sendRequest(const client* who, const char* method, const char* path, const char* body) {
    char request[1024];
    int file = connectTo(who->port);
    int length = snprintf(request, sizeof(request),
                          "%s %s%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          method, who->secret, path, who->port, strlen(body), body);
    if (file >= 0 && send(file, request, (size_t)length, MSG_NOSIGNAL) != length) {
        close(file);
        return -1;
    }
    return file;
}

// The status of the answer, whose beginning is left in `answer`; 0 if none came.
static int ask(const client* who, const char* method, const char* path, const char* body,
               char* answer) {
    int file = sendRequest(who, method, path, body);
    size_t size = 0;
    for (ssize_t got = 1; file >= 0 && got > 0;) {
        char rest[4096];
        bool fits = size < answerSize - 1;
        got =
            recv(file, fits ? answer + size : rest, fits ? answerSize - 1 - size : sizeof(rest), 0);
        size += fits && got > 0 ? (size_t)got : 0;
    }
    answer[size] = '\0';
    if (file >= 0) {
        close(file);
    }
    int status = 0;
    return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

static void expect(const client* who, const char* method, const char* path, const char* body,
                   int expected, char* answer) {
    int status = ask(who, method, path, body, answer);
    if (status != expected && (expected != 200 || status != 404)) {
        fprintf(stderr, "%s %s %s: %d, expected %d\n", method, path, body, status, expected);
        atomic_store(who->isWrong, 1);
    }
}

// Frames may have gone from the memory of the run between two questions, or a restart come between:
// then the answer is 404, which is as good.
static void* visit(void* context) {
    static const char* const orders[] = {
        "{\"running\": true}",
        "{\"drag\": {\"body\": 1, \"point\": [0, 0, 0.3], \"target\": [0.2, 0, 1]}}",
        "{\"stepper\": \"stewart-trinkle\"}",
        "{\"running\": false}",
        "{\"steps\": 3}",
        "{\"restart\": true}",
        "{\"step\": 0.001, \"speed\": 4}",
        "{\"drop\": true}",
    };
    static const char* const questions[] = {
        "head",
        "labels",
        "overview?first=0&count=1",
        "frames?first=0&count=1&stride=1&contacts=1",
        "body?body=1&first=0&count=1",
        "joint?joint=0&first=0&count=1",
        "contacts?body=1&first=0&count=1",
    };
    const client* who = context;
    const size_t orderCount = sizeof(orders) / sizeof(orders[0]);
    const size_t questionCount = sizeof(questions) / sizeof(questions[0]);
    char* answer = malloc(answerSize);
    for (int round = 0; answer != NULL && round < roundCount; ++round) {
        expect(who, "POST", "command", orders[(size_t)(round + 3 * who->place) % orderCount], 204,
               answer);
        for (size_t k = 0; k < questionCount; ++k) {
            expect(who, "GET", questions[k], "", 200, answer);
        }
        expect(who, "GET", "live?after=0&version=0", "", 200, answer);
        // Someone who leaves before the answer comes.
        int file = sendRequest(who, "GET", "live?after=999999999&version=0", "");
        if (file >= 0) {
            close(file);
        }
    }
    free(answer);
    return NULL;
}

static pid_t startView(const char* file, const char* stepper, char* address, size_t size) {
    extern char** environ;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    char program[] = TIPPE_PROGRAM, view[] = "view", quiet[] = "--no-browser", path[500];
    char option[] = "--stepper", name[40];
    snprintf(path, sizeof(path), "%s", file);
    snprintf(name, sizeof(name), "%s", stepper);
    char* line[] = { program, view, quiet, path, option, name, NULL };
    pid_t process;
    assert_int_equal(posix_spawn(&process, program, &actions, NULL, line, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE* said = fdopen(ends[0], "r");
    bool isThere = fgets(address, (int)size, said) != NULL;
    fclose(said);
    if (!isThere) { // the program was built without its page
        waitpid(process, NULL, 0);
        skip();
    }
    return process;
}

static void testManyClients(void** state) {
    (void)state;
    writeText("scene.json", scene);
    char address[200], secret[100];
    pid_t process = startView("scene.json", "anitescu", address, sizeof(address));
    int port = 0;
    assert_int_equal(sscanf(address, "http://127.0.0.1:%d%99s", &port, secret), 2);
    atomic_int isWrong = 0;
    client clients[clientCount];
    for (int i = 0; i < clientCount; ++i) {
        clients[i] = (client){ .port = port, .place = i, .secret = secret, .isWrong = &isWrong };
        assert_int_equal(pthread_create(&clients[i].thread, NULL, visit, &clients[i]), 0);
    }
    for (int i = 0; i < clientCount; ++i) {
        pthread_join(clients[i].thread, NULL);
    }
    // It still simulates and still answers.
    char* answer = malloc(answerSize);
    assert_non_null(answer);
    expect(&clients[0], "POST", "command", "{\"running\": true}", 204, answer);
    expect(&clients[0], "GET", "live?after=0&version=0", "", 200, answer);
    CHECK_HAS(answer, "\"frames\":");
    free(answer);
    assert_int_equal(atomic_load(&isWrong), 0);
    kill(process, SIGINT);
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

// Whoever ends the program need not wait for a step that takes seconds.
static void testEndsWithinAStep(void** state) {
    (void)state;
    char address[200], secret[100];
    pid_t process = startView(TIPPE_SOURCE_DIR "/scenes/bench/pyramid50.json", "anitescu", address,
                              sizeof(address));
    int port = 0;
    assert_int_equal(sscanf(address, "http://127.0.0.1:%d%99s", &port, secret), 2);
    atomic_int isWrong = 0;
    client who = { .port = port, .secret = secret, .isWrong = &isWrong };
    char* answer = malloc(answerSize);
    assert_non_null(answer);
    expect(&who, "POST", "command", "{\"running\": true}", 204, answer);
    free(answer);
    struct timespec moment = { .tv_nsec = 200000000 }, start, end;
    nanosleep(&moment, NULL); // it is in its first step now
    clock_gettime(CLOCK_MONOTONIC, &start);
    kill(process, SIGTERM);
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double took =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("ended after %.2f s\n", took);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(took < 5.0); // a busy machine; a step under sanitizers takes far longer
    assert_int_equal(atomic_load(&isWrong), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(testManyClients, enterDirectory, leaveDirectory),
        cmocka_unit_test(testEndsWithinAStep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
