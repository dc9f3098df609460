#include "http_request.h"

#include <string.h>

bool isSpan(tpSpan span, const char* words) {
    return span.data != NULL && span.length == strlen(words) &&
           memcmp(span.data, words, span.length) == 0;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

// Names of fields are the same in any case.
static bool isName(tpSpan span, const char* words) {
    if (span.length != strlen(words)) {
        return false;
    }
    for (size_t i = 0; i < span.length; ++i) {
        if (lower(span.data[i]) != words[i]) {
            return false;
        }
    }
    return true;
}

// A character of a token [RFC9110, sec. 5.6.2].
static bool isTokenCharacter(char c) {
    bool isLetterOrDigit =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return isLetterOrDigit || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool isVisible(char c) {
    return c > ' ' && c < 0x7f;
}

// The line at `start`, without its end. httpWhole, httpIncomplete or 400.
static int takeLine(const char* bytes, size_t length, size_t* start, tpSpan* line) {
    for (size_t i = *start; i < length; ++i) {
        if (bytes[i] == '\n') {
            return 400;
        }
        if (bytes[i] == '\r') {
            if (i + 1 == length) {
                return httpIncomplete;
            }
            *line = (tpSpan){ bytes + *start, i - *start };
            *start = i + 2;
            return bytes[i + 1] == '\n' ? httpWhole : 400;
        }
    }
    return httpIncomplete;
}

static tpHttpMethod findMethod(tpSpan word) {
    return isSpan(word, "GET")    ? httpGet
           : isSpan(word, "HEAD") ? httpHead
           : isSpan(word, "POST") ? httpPost
                                  : httpOther;
}

// The part of a line before the next space; what follows stays in `line`.
static tpSpan takeWord(tpSpan* line) {
    size_t length = 0;
    while (length < line->length && line->data[length] != ' ') {
        ++length;
    }
    tpSpan word = { line->data, length };
    size_t used = length < line->length ? length + 1 : length;
    *line = (tpSpan){ line->data + used, line->length - used };
    return word;
}

static int parseTarget(tpSpan target, tpHttpRequest* request) {
    if (target.length > longestHttpTarget) {
        return 414;
    }
    if (target.length == 0 || target.data[0] != '/') {
        return 400;
    }
    size_t pathLength = target.length;
    for (size_t i = 0; i < target.length; ++i) {
        if (!isVisible(target.data[i])) {
            return 400;
        }
        if (target.data[i] == '?' && pathLength == target.length) {
            pathLength = i;
        }
    }
    request->path = (tpSpan){ target.data, pathLength };
    if (pathLength < target.length) {
        request->query = (tpSpan){ target.data + pathLength + 1, target.length - pathLength - 1 };
    }
    return httpWhole;
}

// METHOD SP target SP HTTP/1.x
static int parseRequestLine(tpSpan line, tpHttpRequest* request) {
    tpSpan method = takeWord(&line);
    tpSpan target = takeWord(&line);
    if (method.length == 0 || line.length != 8 || memcmp(line.data, "HTTP/", 5) != 0) {
        return 400;
    }
    for (size_t i = 0; i < method.length; ++i) {
        if (!isTokenCharacter(method.data[i])) {
            return 400;
        }
    }
    if (!isSpan(line, "HTTP/1.1") && !isSpan(line, "HTTP/1.0")) {
        return 505;
    }
    request->keepsAlive = isSpan(line, "HTTP/1.1");
    request->method = findMethod(method);
    return parseTarget(target, request);
}

static int parseBodySize(tpSpan value, size_t* size) {
    *size = 0;
    if (value.length == 0) {
        return 400;
    }
    for (size_t i = 0; i < value.length; ++i) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return 400;
        }
        *size = *size * 10 + (size_t)(value.data[i] - '0');
        if (*size > longestHttpBody) {
            return 413;
        }
    }
    return httpWhole;
}

// Keeps a value that may stand once only.
static int keepOnce(tpSpan* kept, tpSpan value) {
    if (kept->data != NULL) {
        return 400;
    }
    *kept = value;
    return httpWhole;
}

static int parseField(tpSpan line, tpHttpRequest* request, tpSpan* bodyLength) {
    size_t colon = 0;
    while (colon < line.length && isTokenCharacter(line.data[colon])) {
        ++colon;
    }
    if (colon == 0 || colon == line.length || line.data[colon] != ':') {
        return 400;
    }
    tpSpan name = { line.data, colon };
    tpSpan value = { line.data + colon + 1, line.length - colon - 1 };
    while (value.length > 0 && (value.data[0] == ' ' || value.data[0] == '\t')) {
        value = (tpSpan){ value.data + 1, value.length - 1 };
    }
    while (value.length > 0 &&
           (value.data[value.length - 1] == ' ' || value.data[value.length - 1] == '\t')) {
        --value.length;
    }
    for (size_t i = 0; i < value.length; ++i) {
        unsigned char c = (unsigned char)value.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return 400;
        }
    }
    if (isName(name, "host")) {
        return keepOnce(&request->host, value);
    }
    if (isName(name, "origin")) {
        return keepOnce(&request->origin, value);
    }
    if (isName(name, "content-type")) {
        return keepOnce(&request->contentType, value);
    }
    if (isName(name, "sec-fetch-site")) {
        return keepOnce(&request->fetchSite, value);
    }
    if (isName(name, "content-length")) {
        int status = keepOnce(bodyLength, value);
        return status == httpWhole ? parseBodySize(value, &request->bodySize) : status;
    }
    if (isName(name, "connection") && isName(value, "close")) {
        request->keepsAlive = false;
    }
    return isName(name, "transfer-encoding") ? 501 : httpWhole;
}

static int parseHead(const char* bytes, size_t length, tpHttpRequest* request) {
    size_t at = 0;
    tpSpan line, bodyLength = { NULL, 0 };
    int status = takeLine(bytes, length, &at, &line);
    if (status == httpWhole) {
        status = parseRequestLine(line, request);
    }
    for (int fields = 0; status == httpWhole; ++fields) {
        status = takeLine(bytes, length, &at, &line);
        if (status == httpWhole && line.length == 0) {
            request->headSize = at;
            return httpWhole;
        }
        if (status == httpWhole) {
            status = fields < mostHttpFields ? parseField(line, request, &bodyLength) : 431;
        }
    }
    return status;
}

int parseHttpRequest(const char* bytes, size_t length, tpHttpRequest* request) {
    *request = (tpHttpRequest){ .method = httpOther };
    int status = parseHead(bytes, length < longestHttpHead ? length : longestHttpHead, request);
    if (status == httpIncomplete && length >= longestHttpHead) {
        return 431;
    }
    // A request of HTTP/1.1 names its host [RFC9112, sec. 3.2].
    if (status == httpWhole && request->host.data == NULL) {
        return 400;
    }
    return status;
}

bool readHttpNumber(const tpHttpRequest* request, const char* name, int64_t missing,
                    int64_t* number) {
    size_t nameLength = strlen(name);
    const char* at = request->query.data;
    const char* end = at != NULL ? at + request->query.length : NULL;
    *number = missing;
    while (at != NULL && at < end) {
        const char* stop = memchr(at, '&', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if ((size_t)(stop - at) > nameLength && memcmp(at, name, nameLength) == 0 &&
            at[nameLength] == '=') {
            const char* digits = at + nameLength + 1;
            *number = 0;
            for (const char* c = digits; c < stop; ++c) {
                if (*c < '0' || *c > '9' || c - digits >= 15) {
                    return false;
                }
                *number = *number * 10 + (*c - '0');
            }
            return stop > digits;
        }
        at = stop < end ? stop + 1 : end;
    }
    return true;
}

const char* nameOfHttpStatus(int status) {
    static const struct {
        int status;
        const char* name;
    } names[] = { { 200, "OK" },
                  { 204, "No Content" },
                  { 400, "Bad Request" },
                  { 403, "Forbidden" },
                  { 404, "Not Found" },
                  { 405, "Method Not Allowed" },
                  { 408, "Request Timeout" },
                  { 413, "Content Too Large" },
                  { 414, "URI Too Long" },
                  { 415, "Unsupported Media Type" },
                  { 421, "Misdirected Request" },
                  { 431, "Request Header Fields Too Large" },
                  { 500, "Internal Server Error" },
                  { 501, "Not Implemented" },
                  { 503, "Service Unavailable" },
                  { 505, "HTTP Version Not Supported" } };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (names[i].status == status) {
            return names[i].name;
        }
    }
    return "Error";
}
