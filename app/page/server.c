// The library has a thread that reads requests and calls `handle` below, several times for each:
//
//     noteRequest   the first line has come
//     handle        the head; then pieces of a body; then, without data, all is here: it is
//                   answered, or put off: suspended until someone calls wakeServer
//
// The thread in runServer wakes those that wait.

#include "page/server.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"

enum {
    mostConnections = 512, // a browser keeps six; silent ones go away below
    secretBytes = 16,
    longestBody = 64 * 1024, // bytes
    longestTarget = 2048,
    pieceSize = 64 * 1024,
    connectionMemory = 32 * 1024, // bytes: bounds the head of a request
    silence = 5,                  // s, of a connection that has asked for nothing yet
    patience = 30                 // s, for one that has
};

static const double longestWait = 10.0; // s, for a reply that is put off

typedef struct request {
    struct MHD_Connection* connection;
    char* target; // path and query, as they came
    tpBytes body;
    bool isTooLong, hasHead;
    bool isWaiting; // suspended, in the server's list
    double deadline;
    struct request *next, *previous; // of those that wait
} request;

struct tpServer {
    tpServerDef def;
    struct MHD_Daemon* daemon;
    int wake[2];     // a pipe
    atomic_int port; // known when the library's thread is there already
    char secret[2 * secretBytes + 1];
    char address[96];
    pthread_mutex_t lock; // of the list
    bool hasLock;
    atomic_bool isClosing;
    request* waiting;
    atomic_uint news; // counts wakes: one between an answer and the wait for the next is not lost
};

// Replies
// --------------------------------------------------------------------------------------------

// A series on its way.
typedef struct seriesReader {
    tpSeriesCursor series;
    tpBytes piece;
    int sent;
} seriesReader;

static ssize_t readPiece(void* context, uint64_t position, char* to, size_t most) {
    (void)position;
    seriesReader* reader = context;
    tpError error;
    if (reader->sent == reader->piece.count) {
        reader->piece.count = reader->sent = 0;
        while (reader->piece.count < pieceSize && reader->series.next < reader->series.end) {
            if (readSeries(&reader->series, &reader->piece, &error) != tp_success) {
                return MHD_CONTENT_READER_END_WITH_ERROR; // cut off: the only way left to tell
            }
        }
    }
    size_t left = (size_t)(reader->piece.count - reader->sent), size = left < most ? left : most;
    if (size == 0) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    memcpy(to, reader->piece.data + reader->sent, size);
    reader->sent += (int)size;
    return (ssize_t)size;
}

static void freeReader(void* context) {
    seriesReader* reader = context;
    tpAllocator allocator = tpDefaultAllocator();
    freeBytes(&reader->piece);
    tpRelease(&allocator, reader, sizeof(*reader));
}

static struct MHD_Response* makeSeries(const tpSeriesCursor* series) {
    tpAllocator allocator = tpDefaultAllocator();
    seriesReader* reader = tpAllocateZeroed(&allocator, sizeof(*reader));
    if (reader == NULL) {
        return NULL;
    }
    reader->series = *series;
    int64_t size = sizeOfSeries(series);
    struct MHD_Response* response = MHD_create_response_from_callback(
        size < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)size, pieceSize, readPiece, reader, freeReader);
    if (response == NULL) {
        freeReader(reader);
    }
    return response;
}

static struct MHD_Response* makeResponse(const tpReply* reply) {
    if (reply->hasSeries) {
        return makeSeries(&reply->series);
    }
    if (reply->text != NULL) {
        return MHD_create_response_from_buffer(reply->textSize, (void*)(uintptr_t)reply->text,
                                               MHD_RESPMEM_PERSISTENT);
    }
    return MHD_create_response_from_buffer((size_t)reply->bytes.count, reply->bytes.data,
                                           MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result sendReply(struct MHD_Connection* connection, tpReply* reply) {
    static const char* const fields[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Content-Security-Policy", "frame-ancestors 'none'" },
    };
    struct MHD_Response* response = makeResponse(reply);
    enum MHD_Result result = MHD_NO;
    if (response != NULL) {
        result = MHD_add_response_header(response, "Content-Type", reply->type);
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && result == MHD_YES; ++i) {
            result = MHD_add_response_header(response, fields[i][0], fields[i][1]);
        }
        if (result == MHD_YES) {
            result = MHD_queue_response(connection, (unsigned)reply->status, response);
        }
        MHD_destroy_response(response);
    }
    clearReply(reply);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection* connection, int status, const char* message) {
    tpReply reply = { 0 };
    replyWithError(&reply, status, message);
    return sendReply(connection, &reply);
}

// Who may ask
// ----------------------------------------------------------------------------------------

static bool isSameText(const char* a, const char* b, size_t length) {
    unsigned char difference = 0; // the same time whatever the first wrong letter
    for (size_t i = 0; i < length; ++i) {
        difference |= (unsigned char)(a[i] ^ b[i]);
    }
    return difference == 0;
}

static const char* fieldOf(struct MHD_Connection* connection, const char* name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool isField(struct MHD_Connection* connection, const char* name, const char* value) {
    const char* field = fieldOf(connection, name);
    return field != NULL && strcmp(field, value) == 0;
}

// Whether `host` is a name of this server: a page of another site, brought here by a name that
// resolves to this machine, says its own name.
static bool isOwnHost(const tpServer* server, const char* host, const char* before) {
    char own[64];
    static const char* const names[] = { "127.0.0.1", "localhost" };
    for (int i = 0; host != NULL && i < 2; ++i) {
        snprintf(own, sizeof(own), "%s%s:%d", before, names[i], atomic_load(&server->port));
        if (strcmp(host, own) == 0) {
            return true;
        }
    }
    return false;
}

static enum MHD_Result countHost(void* context, enum MHD_ValueKind kind, const char* name,
                                 const char* value) {
    (void)kind, (void)value;
    *(int*)context += strcasecmp(name, "Host") == 0 ? 1 : 0;
    return MHD_YES;
}

// Whether the request has one host and no body that it must not have; otherwise what is wrong.
static int findFault(struct MHD_Connection* connection, bool isPost, const char** message) {
    int hosts = 0;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, countHost, &hosts);
    const char* length = fieldOf(connection, "Content-Length");
    if (hosts != 1) {
        *message = "a request names one host";
        return 400;
    }
    if (fieldOf(connection, "Transfer-Encoding") != NULL) {
        *message = "bodies come whole";
        return 501;
    }
    if (!isPost && length != NULL && strcmp(length, "0") != 0) {
        *message = "who asks sends no body";
        return 400;
    }
    if (length != NULL && (strlen(length) > 6 || atoi(length) > longestBody)) {
        *message = "the body is too large";
        return 413;
    }
    return 0;
}

// The status of a refusal with its message, or 0 if the request may be answered.
static int findObjection(const tpServer* server, struct MHD_Connection* connection,
                         const char* method, const char* path, const char** message) {
    bool isPost = strcmp(method, "POST") == 0;
    int fault = findFault(connection, isPost, message);
    if (fault != 0) {
        return fault;
    }
    if (!isOwnHost(server, fieldOf(connection, "Host"), "")) {
        *message = "this is not the host you ask for";
        return 421;
    }
    size_t length = 2 * secretBytes;
    if (strlen(path) < length + 2 || path[length + 1] != '/' ||
        !isSameText(path + 1, server->secret, length)) {
        *message = "nothing here; the address that tippe printed has a secret in it";
        return 404;
    }
    const char* origin = fieldOf(connection, "Origin");
    if ((origin != NULL && !isOwnHost(server, origin, "http://")) ||
        isField(connection, "Sec-Fetch-Site", "cross-site") ||
        isField(connection, "Sec-Fetch-Site", "same-site")) {
        *message = "only the page itself may ask";
        return 403;
    }
    if (!isPost && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        *message = "GET, HEAD or POST";
        return 405;
    }
    if (isPost && !isField(connection, "Content-Type", "application/json")) {
        *message = "orders are JSON";
        return 415;
    }
    return 0;
}

// Requests
// -------------------------------------------------------------------------------------------

static double secondsLeft(const request* asked) {
    return asked->deadline - secondsOfClock();
}

static void leaveList(tpServer* server, request* asked) {
    if (asked->previous != NULL) {
        asked->previous->next = asked->next;
    } else {
        server->waiting = asked->next;
    }
    if (asked->next != NULL) {
        asked->next->previous = asked->previous;
    }
    asked->next = asked->previous = NULL;
    asked->isWaiting = false;
}

// Lets a request wait, unless there was news since `seen`.
static bool putOff(tpServer* server, request* asked, unsigned seen) {
    pthread_mutex_lock(&server->lock);
    bool waits = atomic_load(&server->news) == seen && !atomic_load(&server->isClosing);
    if (waits) {
        asked->isWaiting = true;
        asked->next = server->waiting;
        if (asked->next != NULL) {
            asked->next->previous = asked;
        }
        server->waiting = asked;
        MHD_suspend_connection(asked->connection);
    }
    pthread_mutex_unlock(&server->lock);
    return waits;
}

static enum MHD_Result answer(tpServer* server, request* asked, bool isPost) {
    char* path = asked->target + 2 * secretBytes + 2;
    char* mark = strchr(path, '?');
    char none[] = "";
    if (mark != NULL) {
        *mark = '\0';
    }
    tpPageRequest question = { .isOrder = isPost,
                               .path = path,
                               .query = mark != NULL ? mark + 1 : none,
                               .body = (const char*)asked->body.data,
                               .bodySize = (size_t)asked->body.count };
    tpReply reply = { 0 };
    enum MHD_Result result = MHD_YES;
    if (asked->deadline == 0.0) {
        asked->deadline = secondsOfClock() + longestWait;
    }
    for (bool isDone = false; !isDone;) {
        unsigned seen = atomic_load(&server->news);
        bool isLate = secondsLeft(asked) <= 0.0 || atomic_load(&server->isClosing);
        server->def.answer(server->def.context, &question, isLate, &reply);
        isDone = reply.status != 0 || putOff(server, asked, seen);
    }
    if (mark != NULL) {
        *mark = '?';
    }
    if (reply.status != 0) {
        result = sendReply(asked->connection, &reply);
    }
    return result;
}

// The first line has come: what is kept of a request starts here.
static void* noteRequest(void* context, const char* target, struct MHD_Connection* connection) {
    (void)context;
    tpAllocator allocator = tpDefaultAllocator();
    size_t length = strlen(target);
    request* asked = tpAllocateZeroed(&allocator, sizeof(request));
    if (asked == NULL) {
        return NULL;
    }
    asked->connection = connection;
    asked->isTooLong = length > longestTarget;
    length = asked->isTooLong ? 0 : length;
    asked->target = tpAllocate(&allocator, longestTarget + 1);
    if (asked->target != NULL) {
        memcpy(asked->target, target, length);
        asked->target[length] = '\0';
    }
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)patience);
    return asked;
}

static enum MHD_Result handle(void* context, struct MHD_Connection* connection, const char* path,
                              const char* method, const char* version, const char* data,
                              size_t* size, void** own) {
    (void)version, (void)path;
    tpServer* server = context;
    request* asked = *own;
    if (asked == NULL || asked->target == NULL) {
        return MHD_NO;
    }
    if (asked->isTooLong) {
        return refuse(connection, 414, "the address is too long");
    }
    if (*size > 0) {
        size_t most = (size_t)longestBody - (size_t)asked->body.count;
        asked->isTooLong = *size > most || !appendBytes(&asked->body, data, *size);
        *size = 0;
        return asked->isTooLong ? MHD_NO : MHD_YES;
    }
    const char* message = NULL;
    int status = findObjection(server, connection, method, asked->target, &message);
    if (status != 0) {
        return refuse(connection, status, message);
    }
    // The first call has the head alone; the last one, like it, no data.
    bool isPost = strcmp(method, "POST") == 0;
    if (!asked->hasHead) {
        asked->hasHead = true;
        return MHD_YES;
    }
    return answer(server, asked, isPost);
}

static void forgetRequest(void* context, struct MHD_Connection* connection, void** own,
                          enum MHD_RequestTerminationCode code) {
    (void)connection, (void)code;
    tpServer* server = context;
    request* asked = *own;
    tpAllocator allocator = tpDefaultAllocator();
    if (asked != NULL) {
        pthread_mutex_lock(&server->lock);
        if (asked->isWaiting) {
            leaveList(server, asked);
        }
        pthread_mutex_unlock(&server->lock);
        freeBytes(&asked->body);
        tpRelease(&allocator, asked->target, longestTarget + 1);
        tpRelease(&allocator, asked, sizeof(request));
        *own = NULL;
    }
}

// Waking
// ---------------------------------------------------------------------------------------------

static void resumeWaiting(tpServer* server, bool all) {
    pthread_mutex_lock(&server->lock);
    for (request *asked = server->waiting, *next; asked != NULL; asked = next) {
        next = asked->next;
        if (all || secondsLeft(asked) <= 0.0) {
            leaveList(server, asked);
            MHD_resume_connection(asked->connection);
        }
    }
    pthread_mutex_unlock(&server->lock);
}

// The library wants nobody to wait when it stops.
static void stopDaemon(tpServer* server) {
    if (server->daemon != NULL) {
        atomic_store(&server->isClosing, true);
        resumeWaiting(server, true);
        MHD_stop_daemon(server->daemon);
        server->daemon = NULL;
    }
}

void runServer(tpServer* server, const volatile int* stop) {
    while (*stop == 0) {
        struct pollfd wake = { server->wake[0], POLLIN, 0 };
        if (poll(&wake, 1, 500) < 0 && errno != EINTR) {
            return;
        }
        char bytes[256];
        bool isWoken = (wake.revents & POLLIN) != 0;
        while (isWoken && read(server->wake[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
        }
        resumeWaiting(server, isWoken);
    }
    stopDaemon(server);
}

void wakeServer(tpServer* server) {
    int before = errno;
    atomic_fetch_add(&server->news, 1);
    ssize_t written = write(server->wake[1], "w", 1); // a full pipe wakes as well
    (void)written;
    errno = before;
}

// Making
// ---------------------------------------------------------------------------------------------

static bool makeSecret(char* secret) {
    unsigned char bytes[secretBytes];
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    bool isRead = source >= 0 && read(source, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes);
    if (source >= 0) {
        close(source);
    }
    for (int i = 0; isRead && i < secretBytes; ++i) {
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    }
    return isRead;
}

static bool makePipe(int ends[2]) {
    if (pipe(ends) != 0) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        if (fcntl(ends[i], F_SETFL, O_NONBLOCK) != 0 || fcntl(ends[i], F_SETFD, FD_CLOEXEC) != 0) {
            return false;
        }
    }
    return true;
}

static bool startDaemon(tpServer* server) {
    struct sockaddr_in place = { .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)server->def.port) };
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME,
        (uint16_t)server->def.port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr*)&place, MHD_OPTION_CONNECTION_LIMIT, (unsigned)mostConnections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)silence, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)connectionMemory, MHD_OPTION_URI_LOG_CALLBACK, noteRequest, server,
        MHD_OPTION_NOTIFY_COMPLETED, forgetRequest, server, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
    const union MHD_DaemonInfo* info =
        server->daemon != NULL ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)
                               : NULL;
    atomic_store(&server->port, info != NULL ? info->port : 0);
    return atomic_load(&server->port) != 0;
}

tpServer* createServer(const char* command, const tpServerDef* def) {
    tpAllocator allocator = tpDefaultAllocator();
    tpServer* server = tpAllocateZeroed(&allocator, sizeof(tpServer));
    if (server == NULL) {
        fprintf(stderr, "tippe %s: out of memory\n", command);
        return NULL;
    }
    server->def = *def;
    server->wake[0] = server->wake[1] = -1;
    atomic_init(&server->news, 0);
    atomic_init(&server->isClosing, false);
    atomic_init(&server->port, 0);
    server->hasLock = pthread_mutex_init(&server->lock, NULL) == 0;
    if (!server->hasLock || !makeSecret(server->secret) || !makePipe(server->wake)) {
        fprintf(stderr, "tippe %s: cannot serve the page: %s\n", command, strerror(errno));
        destroyServer(server);
        return NULL;
    }
    return server;
}

bool openServer(const char* command, tpServer* server) {
    errno = 0;
    if (!startDaemon(server)) {
        fprintf(stderr, "tippe %s: cannot listen on port %d: %s\n", command, server->def.port,
                errno != 0 ? strerror(errno) : "another program may do so");
        return false;
    }
    snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%d/%s/",
             atomic_load(&server->port), server->secret);
    return true;
}

void destroyServer(tpServer* server) {
    if (server == NULL) {
        return;
    }
    stopDaemon(server);
    for (int i = 0; i < 2; ++i) {
        if (server->wake[i] >= 0) {
            close(server->wake[i]);
        }
    }
    if (server->hasLock) {
        pthread_mutex_destroy(&server->lock);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpRelease(&allocator, server, sizeof(tpServer));
}

const char* addressOfServer(const tpServer* server) {
    return server->address;
}
