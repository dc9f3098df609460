// The server in a build without libmicrohttpd: there is none, and that is what is said.

#include <stdio.h>

#include "page/server.h"

tpServer* createServer(const char* command, const tpServerDef* def) {
    (void)def;
    fprintf(stderr,
            "tippe %s: this program was built without its server (libmicrohttpd). Instead:\n"
            "  tippe run SCENE --out RUN.h5 && tippe export RUN.h5 --html PAGE.html\n"
            "  python3 -c 'import tippe; tippe.load(\"SCENE\").run().show()'\n",
            command);
    return NULL;
}

bool openServer(const char* command, tpServer* server) {
    (void)command;
    (void)server;
    return false;
}

void destroyServer(tpServer* server) {
    (void)server;
}

const char* addressOfServer(const tpServer* server) {
    (void)server;
    return "";
}

void runServer(tpServer* server, const volatile int* stop) {
    (void)server;
    (void)stop;
}

void wakeServer(tpServer* server) {
    (void)server;
}
