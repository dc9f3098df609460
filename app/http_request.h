// Requests of HTTP/1.1 [RFC9112], as much of it as a page needs to talk to the program that serves it.
//
// The parser takes the bytes as they have come so far and copies nothing: what it finds points into them.
// Whatever is unusual is refused: folded lines, bare line feeds, bodies in chunks, two lengths.

#ifndef TIPPE_APP_HTTP_REQUEST_H
#define TIPPE_APP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    longestHttpHead = 16 * 1024, // bytes, with the empty line at its end
    longestHttpBody = 64 * 1024,
    longestHttpTarget = 2048,
    mostHttpFields = 64
};

typedef enum tpHttpMethod { httpGet, httpHead, httpPost, httpOther } tpHttpMethod;

// Characters in the bytes that were parsed, without a closing zero.
typedef struct tpSpan {
    const char* data; // NULL where there is none
    size_t length;
} tpSpan;

typedef struct tpHttpRequest {
    tpHttpMethod method;
    tpSpan path;  // starts with a slash; as it came, nothing is decoded
    tpSpan query; // what follows the question mark
    tpSpan host, origin, contentType, fetchSite;
    size_t headSize, bodySize; // bytes
    bool keepsAlive;
} tpHttpRequest;

enum { httpIncomplete = 0, httpWhole = 1 };

// httpWhole when `bytes` start with a whole head (the body, request->bodySize bytes after headSize, may
// still be on its way), httpIncomplete when more has to come, or the status of the error to answer with.
int parseHttpRequest(const char* bytes, size_t length, tpHttpRequest* request);

bool isSpan(tpSpan span, const char* words);

// The value of NAME=VALUE in the query: a whole number of at most 15 digits. `missing` where it is not there;
// false where it is there and no such number.
bool readHttpNumber(const tpHttpRequest* request, const char* name, int64_t missing,
                    int64_t* number);

const char* nameOfHttpStatus(int status);

#endif
