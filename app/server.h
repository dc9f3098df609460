// A small server for one page: loopback only, one thread, a handful of connections.
//
// Every request has to name a host that is this server and a path that starts with the server's secret;
// who does not know the secret sees nothing, and a page of another site cannot make the browser ask for
// it. The handler sees the rest of the path. A reply is a block of bytes, or a series that is read and sent
// piece by piece, or is put off until the server is woken.

#ifndef TIPPE_APP_SERVER_H
#define TIPPE_APP_SERVER_H

#include "http_request.h"
#include "run_data.h"

typedef struct tpServer tpServer;

typedef struct tpReply {
    int status;                // 0: not yet, ask again when the server is woken or time is up
    const char* type;          // of the content
    tpBytes bytes;             // the whole content, or nothing
    const unsigned char* text; // content that stays where it is; NULL: it is in `bytes`
    size_t textSize;
    bool hasSeries; // the content is what `series` gives
    tpSeriesCursor series;
} tpReply;

typedef struct tpServerDef {
    int port; // 0: any that is free
    // Answers a request. `path` is what follows the secret, `body` has request->bodySize bytes. With
    // `isLate` the reply may be put off no longer.
    void (*answer)(void* context, const tpHttpRequest* request, tpSpan path, const char* body,
                   bool isLate, tpReply* reply);
    void* context;
} tpServerDef;

// On failure prints the reason to standard error and returns NULL.
tpServer* createServer(const char* command, const tpServerDef* def);
void destroyServer(tpServer* server);

const char* addressOfServer(const tpServer* server); // with the secret

// Answers requests until *stop is not zero.
void runServer(tpServer* server, const volatile int* stop);

// From any thread, or a signal's handler: looks again at replies that were put off, and at *stop.
void wakeServer(tpServer* server);

// Replies
void replyWithError(tpReply* reply, int status, const char* message);
void replyWithText(tpReply* reply, const char* type, tpText* text); // frees the text

#endif
