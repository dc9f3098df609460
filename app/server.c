// The server's loop: waits for any of its connections, moves each one on as far as it goes without waiting.
//
//     reading -> (answer) -> writing -> reading ...
//                   |
//                waiting, until the server is woken
//
// A request stays in the connection's buffer until its reply has been sent.

#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum {
    mostConnections = 48, // a browser keeps six
    secretBytes = 16,
    readAtOnce = 16 * 1024,
    longestRequest = longestHttpHead + longestHttpBody
};

static const double patience = 30.0; // s, for a request that is on its way or a client that reads
static const double longestWait = 10.0; // s, for a reply that is put off

typedef enum connectionState { closed, reading, waiting, writing } connectionState;

typedef struct connection {
    connectionState state;
    int socket;
    double deadline; // s, of the monotonic clock
    char* input;     // longestRequest bytes
    size_t inputSize;
    tpHttpRequest request;
    tpReply reply;
    tpBytes output; // what is on its way
    size_t sent;
    size_t textSent;
    bool isChunked, keepsAlive, isHead;
} connection;

struct tpServer {
    tpServerDef def;
    int listener;
    int wake[2]; // a pipe
    int port;
    char secret[2 * secretBytes + 1];
    char address[96];
    connection connections[mostConnections];
};

static double secondsNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool makeNonBlocking(int file) {
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(file, F_SETFD, FD_CLOEXEC) == 0;
}

// Replies ------------------------------------------------------------------------------------------

void replyWithError(tpReply* reply, int status, const char* message) {
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    reply->bytes.count = 0;
    appendBytes(&reply->bytes, message, strlen(message));
    appendBytes(&reply->bytes, "\n", 1);
}

void replyWithText(tpReply* reply, const char* type, tpText* text) {
    reply->status = 200;
    reply->type = type;
    if (text->failed || !appendBytes(&reply->bytes, text->bytes.data, (size_t)text->bytes.count)) {
        replyWithError(reply, 503, "out of memory");
    }
    tpText_Free(text);
}

static void clearReply(tpReply* reply) {
    freeBytes(&reply->bytes);
    *reply = (tpReply){ 0 };
}

// Connections ----------------------------------------------------------------------------------------

static void closeConnection(connection* c) {
    tpAllocator allocator = tpDefaultAllocator();
    if (c->state != closed) {
        close(c->socket);
        tpRelease(&allocator, c->input, longestRequest);
        freeBytes(&c->output);
        clearReply(&c->reply);
        *c = (connection){ .state = closed };
    }
}

static void acceptConnection(tpServer* server) {
    int socket = accept(server->listener, NULL, NULL);
    if (socket < 0) {
        return;
    }
    connection* c = NULL;
    for (int i = 0; i < mostConnections && c == NULL; ++i) {
        c = server->connections[i].state == closed ? &server->connections[i] : NULL;
    }
    tpAllocator allocator = tpDefaultAllocator();
    char* input = c != NULL ? tpAllocate(&allocator, longestRequest) : NULL;
    if (input == NULL || !makeNonBlocking(socket)) {
        tpRelease(&allocator, input, longestRequest);
        close(socket);
        return;
    }
    int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    *c = (connection){ .state = reading, .socket = socket, .input = input };
    c->deadline = secondsNow() + patience;
}

// Writing --------------------------------------------------------------------------------------------

static bool appendWords(tpBytes* bytes, const char* words) {
    return appendBytes(bytes, words, strlen(words));
}

static bool writeHead(connection* c) {
    const tpReply* reply = &c->reply;
    int64_t size = reply->hasSeries      ? sizeOfSeries(&reply->series)
                   : reply->text != NULL ? (int64_t)reply->textSize
                                         : reply->bytes.count;
    c->isChunked = size < 0;
    char length[64], first[512];
    snprintf(length, sizeof(length),
             c->isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: %lld\r\n",
             (long long)size);
    snprintf(first, sizeof(first), "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%sConnection: %s\r\n",
             reply->status, nameOfHttpStatus(reply->status), reply->type, length,
             c->keepsAlive ? "keep-alive" : "close");
    return appendWords(&c->output, first) &&
           appendWords(&c->output, "Cache-Control: no-store\r\n"
                                   "X-Content-Type-Options: nosniff\r\n"
                                   "Referrer-Policy: no-referrer\r\n"
                                   "Cross-Origin-Resource-Policy: same-origin\r\n"
                                   "Cross-Origin-Opener-Policy: same-origin\r\n"
                                   "Content-Security-Policy: frame-ancestors 'none'\r\n\r\n");
}

static void startWriting(connection* c) {
    c->state = writing;
    c->output.count = 0;
    c->sent = c->textSent = 0;
    c->deadline = secondsNow() + patience;
    bool fits = writeHead(c);
    if (fits && !c->isHead && !c->reply.hasSeries && c->reply.text == NULL) {
        fits = appendBytes(&c->output, c->reply.bytes.data, (size_t)c->reply.bytes.count);
    }
    if (c->isHead) {
        c->reply.hasSeries = false;
        c->reply.text = NULL;
    }
    if (!fits) {
        closeConnection(c);
    }
}

// The next piece of a series into the output. False where it cannot be had: the connection is cut, which
// is the only way left to tell.
static bool readPiece(connection* c) {
    tpError error;
    tpBytes piece = { 0 };
    tpSeriesCursor* series = &c->reply.series;
    c->output.count = 0;
    c->sent = 0;
    bool isFine = true;
    while (isFine && piece.count < readAtOnce && series->next < series->end) {
        isFine = readSeries(series, &piece, &error) == tp_success;
    }
    if (isFine && c->isChunked && piece.count > 0) {
        char size[32];
        snprintf(size, sizeof(size), "%x\r\n", (unsigned)piece.count);
        isFine = appendWords(&c->output, size);
    }
    isFine = isFine && appendBytes(&c->output, piece.data, (size_t)piece.count) &&
             (!c->isChunked || piece.count == 0 || appendWords(&c->output, "\r\n"));
    if (series->next >= series->end) {
        c->reply.hasSeries = false;
        isFine = isFine && (!c->isChunked || appendWords(&c->output, "0\r\n\r\n"));
    }
    freeBytes(&piece);
    return isFine;
}

// Sends bytes; the number, 0 where the socket takes no more now, or -1.
static ssize_t sendSome(connection* c, const unsigned char* bytes, size_t size) {
    ssize_t sent = send(c->socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    }
    c->deadline = secondsNow() + patience;
    return sent;
}

// The reply has been sent: what follows the request in the buffer is the next one.
static void finishReply(connection* c) {
    size_t used = c->request.headSize + c->request.bodySize;
    clearReply(&c->reply);
    freeBytes(&c->output);
    if (!c->keepsAlive || used > c->inputSize) {
        closeConnection(c);
        return;
    }
    memmove(c->input, c->input + used, c->inputSize - used);
    c->inputSize -= used;
    c->state = reading;
    c->deadline = secondsNow() + patience;
}

// Sends what it can; one piece of a series at a time, so that others have their turn.
static void continueWriting(connection* c) {
    while (c->state == writing) {
        ssize_t sent = 0;
        if (c->sent < (size_t)c->output.count) {
            sent = sendSome(c, c->output.data + c->sent, (size_t)c->output.count - c->sent);
            c->sent += sent > 0 ? (size_t)sent : 0;
        } else if (c->reply.text != NULL && c->textSent < c->reply.textSize) {
            sent = sendSome(c, c->reply.text + c->textSent, c->reply.textSize - c->textSent);
            c->textSent += sent > 0 ? (size_t)sent : 0;
        } else if (c->reply.hasSeries) {
            if (!readPiece(c)) {
                closeConnection(c);
            }
            return;
        } else {
            finishReply(c);
            return;
        }
        if (sent < 0) {
            closeConnection(c);
        }
        if (sent <= 0) {
            return;
        }
    }
}

// Reading --------------------------------------------------------------------------------------------

static void refuse(connection* c, int status, const char* message) {
    clearReply(&c->reply);
    replyWithError(&c->reply, status, message);
    c->keepsAlive = false;
    startWriting(c);
}

static bool isSameText(const char* a, const char* b, size_t length) {
    unsigned char difference = 0; // the same time whatever the first wrong letter
    for (size_t i = 0; i < length; ++i) {
        difference |= (unsigned char)(a[i] ^ b[i]);
    }
    return difference == 0;
}

// Whether `host` is a name of this server: a page of another site, brought here by a name that resolves to
// this machine, says its own name.
static bool isOwnHost(const tpServer* server, tpSpan host, const char* before) {
    char own[64];
    static const char* const names[] = { "127.0.0.1", "localhost" };
    for (int i = 0; i < 2; ++i) {
        snprintf(own, sizeof(own), "%s%s:%d", before, names[i], server->port);
        if (isSpan(host, own)) {
            return true;
        }
    }
    return false;
}

// Whether the request may be answered; otherwise it has been refused.
static bool isWelcome(const tpServer* server, connection* c, tpSpan* path) {
    const tpHttpRequest* request = &c->request;
    if (!isOwnHost(server, request->host, "")) {
        refuse(c, 421, "this is not the host you ask for");
        return false;
    }
    size_t length = 2 * secretBytes;
    if (request->path.length < length + 2 || request->path.data[length + 1] != '/' ||
        !isSameText(request->path.data + 1, server->secret, length)) {
        refuse(c, 404, "nothing here; the address that tippe printed has a secret in it");
        return false;
    }
    bool isForeign =
        (request->origin.data != NULL && !isOwnHost(server, request->origin, "http://")) ||
        isSpan(request->fetchSite, "cross-site") || isSpan(request->fetchSite, "same-site");
    if (isForeign) {
        refuse(c, 403, "only the page itself may ask");
        return false;
    }
    if (request->method == httpOther) {
        refuse(c, 405, "GET, HEAD or POST");
        return false;
    }
    if (request->method == httpPost && !isSpan(request->contentType, "application/json")) {
        refuse(c, 415, "orders are JSON");
        return false;
    }
    *path = (tpSpan){ request->path.data + length + 2, request->path.length - length - 2 };
    return true;
}

static void answer(tpServer* server, connection* c, bool isLate) {
    tpSpan path;
    if (!isWelcome(server, c, &path)) {
        return;
    }
    clearReply(&c->reply);
    server->def.answer(server->def.context, &c->request, path, c->input + c->request.headSize,
                       isLate, &c->reply);
    if (c->reply.status != 0) {
        startWriting(c);
    } else if (c->state != waiting) {
        c->state = waiting;
        c->deadline = secondsNow() + longestWait;
    }
}

// Looks whether a whole request has come, and answers it.
static void considerInput(tpServer* server, connection* c) {
    int status = parseHttpRequest(c->input, c->inputSize, &c->request);
    if (status == httpWhole && c->inputSize >= c->request.headSize + c->request.bodySize) {
        c->keepsAlive = c->request.keepsAlive;
        c->isHead = c->request.method == httpHead;
        answer(server, c, false);
    } else if (status > httpWhole) {
        c->request = (tpHttpRequest){ 0 };
        refuse(c, status, nameOfHttpStatus(status));
    }
}

static void continueReading(tpServer* server, connection* c) {
    ssize_t got = recv(c->socket, c->input + c->inputSize, longestRequest - c->inputSize, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        closeConnection(c);
        return;
    }
    if (got > 0) {
        c->inputSize += (size_t)got;
        considerInput(server, c);
    }
}

// The loop -------------------------------------------------------------------------------------------

static void drainWake(tpServer* server) {
    char bytes[256];
    while (read(server->wake[0], bytes, sizeof(bytes)) > 0) {
    }
}

static void moveOn(tpServer* server, connection* c, int events, bool isWoken) {
    double now = secondsNow();
    if (c->state == waiting && (isWoken || now >= c->deadline)) {
        answer(server, c, now >= c->deadline);
    } else if (c->state == reading && (events & (POLLIN | POLLHUP | POLLERR)) != 0) {
        continueReading(server, c);
    } else if (c->state == waiting && (events & (POLLHUP | POLLERR)) != 0) {
        closeConnection(c);
    }
    if (c->state == writing) {
        continueWriting(c);
        // The next request may have come with the one before.
        if (c->state == reading && c->inputSize > 0) {
            considerInput(server, c);
        }
    }
    if (c->state != closed && c->state != waiting && now >= c->deadline) {
        closeConnection(c);
    }
}

void runServer(tpServer* server, const volatile int* stop) {
    while (*stop == 0) {
        struct pollfd polls[mostConnections + 2] = { { server->listener, POLLIN, 0 },
                                                     { server->wake[0], POLLIN, 0 } };
        int timeout = 1000;
        for (int i = 0; i < mostConnections; ++i) {
            connection* c = &server->connections[i];
            polls[i + 2] = (struct pollfd){ c->state != closed ? c->socket : -1,
                                            c->state == writing ? POLLOUT : POLLIN, 0 };
            // One that waits is not read from: a client may send no second request before its reply.
            polls[i + 2].events = c->state == waiting ? 0 : polls[i + 2].events;
        }
        if (poll(polls, mostConnections + 2, timeout) < 0 && errno != EINTR) {
            return;
        }
        bool isWoken = (polls[1].revents & POLLIN) != 0;
        if (isWoken) {
            drainWake(server);
        }
        for (int i = 0; i < mostConnections; ++i) {
            moveOn(server, &server->connections[i], polls[i + 2].revents, isWoken);
        }
        if ((polls[0].revents & POLLIN) != 0) {
            acceptConnection(server);
        }
    }
}

void wakeServer(tpServer* server) {
    int before = errno;
    ssize_t written = write(server->wake[1], "w", 1); // a full pipe wakes as well
    (void)written;
    errno = before;
}

// Making ---------------------------------------------------------------------------------------------

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

static bool listenOnLoopback(tpServer* server) {
    struct sockaddr_in place = { .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)server->def.port) };
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(place);
    int one = 1;
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (server->listener < 0) {
        return false;
    }
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(server->listener, (const struct sockaddr*)&place, sizeof(place)) != 0 ||
        listen(server->listener, 16) != 0 || !makeNonBlocking(server->listener) ||
        getsockname(server->listener, (struct sockaddr*)&place, &size) != 0) {
        return false;
    }
    server->port = ntohs(place.sin_port);
    return true;
}

tpServer* createServer(const char* command, const tpServerDef* def) {
    tpAllocator allocator = tpDefaultAllocator();
    tpServer* server = tpAllocateZeroed(&allocator, sizeof(tpServer));
    if (server == NULL) {
        fprintf(stderr, "tippe %s: out of memory\n", command);
        return NULL;
    }
    server->def = *def;
    server->listener = server->wake[0] = server->wake[1] = -1;
    if (!makeSecret(server->secret) || pipe(server->wake) != 0 ||
        !makeNonBlocking(server->wake[0]) || !makeNonBlocking(server->wake[1]) ||
        !listenOnLoopback(server)) {
        fprintf(stderr, "tippe %s: cannot listen on port %d: %s\n", command, def->port,
                strerror(errno));
        destroyServer(server);
        return NULL;
    }
    snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%d/%s/", server->port,
             server->secret);
    return server;
}

void destroyServer(tpServer* server) {
    if (server == NULL) {
        return;
    }
    for (int i = 0; i < mostConnections; ++i) {
        closeConnection(&server->connections[i]);
    }
    int files[] = { server->listener, server->wake[0], server->wake[1] };
    for (int i = 0; i < 3; ++i) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpRelease(&allocator, server, sizeof(tpServer));
}

const char* addressOfServer(const tpServer* server) {
    return server->address;
}
