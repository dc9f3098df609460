// A server for one page, on libmicrohttpd: loopback only, a handful of clients.
//
// Every request has to name a host that is this server and a path that starts with the server's
// secret; who does not know the secret sees nothing, and a page of another site cannot make the
// browser ask for it. The handler sees the rest of the path. A reply is a block of bytes, or a
// series that is read and sent piece by piece, or is put off until the server is woken.

#ifndef TIPPE_APP_PAGE_SERVER_H
#define TIPPE_APP_PAGE_SERVER_H

#include "page/answers.h"

typedef struct tpServer tpServer;

typedef struct tpServerDef {
    int port; // 0: any that is free
    // Answers a request, always from one and the same thread of the server's.
    void (*answer)(void* context, const tpPageRequest* request, bool isLate, tpReply* reply);
    void* context;
} tpServerDef;

// Both print the reason to standard error on failure. From openServer on, requests are answered.
tpServer* createServer(const char* command, const tpServerDef* def);
bool openServer(const char* command, tpServer* server);
void destroyServer(tpServer* server);

const char* addressOfServer(const tpServer* server); // with the secret

// Returns when *stop is not zero; it answers no more then, but may still be woken.
void runServer(tpServer* server, const volatile int* stop);

// From any thread, or a signal's handler: looks again at replies that were put off, and at *stop.
void wakeServer(tpServer* server);

#endif
