// Requests of any bytes: what the parser finds lies within them, more bytes after a whole head change
// nothing, and fewer bytes of a good one are never taken for a whole. Orders in the body are read or refused.

#include <stdlib.h>
#include <string.h>

#include "http_request.h"
#include "view.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void require(bool condition) {
    if (!condition) {
        abort();
    }
}

static void requireInside(tpSpan span, const char* bytes, size_t length) {
    if (span.data != NULL) {
        require(span.data >= bytes && span.length <= length &&
                span.data + span.length <= bytes + length);
    }
}

static void checkWhole(const char* bytes, size_t length, const tpHttpRequest* request) {
    require(request->headSize > 0 && request->headSize <= length &&
            request->headSize <= longestHttpHead && request->bodySize <= longestHttpBody);
    require(request->path.length > 0 && request->path.data[0] == '/');
    const tpSpan spans[] = { request->path,   request->query,       request->host,
                             request->origin, request->contentType, request->fetchSite };
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); ++i) {
        requireInside(spans[i], bytes, request->headSize);
    }
    tpHttpRequest again;
    require(parseHttpRequest(bytes, request->headSize, &again) == httpWhole &&
            again.headSize == request->headSize && again.bodySize == request->bodySize);
    require(parseHttpRequest(bytes, request->headSize - 1, &again) == httpIncomplete);
    int64_t number = 0;
    if (readHttpNumber(request, "first", 7, &number)) {
        require(number >= 0 && number < 1000000000000000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // A copy of exactly this size, so that a read behind its end is seen.
    char* bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    tpHttpRequest request;
    int status = parseHttpRequest(bytes, size, &request);
    require(status == httpIncomplete || status == httpWhole || (status >= 400 && status < 600));
    if (status == httpWhole) {
        checkWhole(bytes, size, &request);
    }
    size_t bodyStart = status == httpWhole ? request.headSize : 0;
    tpLiveOrder order;
    tpError error = { tp_success, "" };
    if (readLiveOrder(bytes + bodyStart, size - bodyStart, &order, &error) == tp_success) {
        require(!order.setsStep || (order.step > 0.0 && order.step < 1e6));
        require(!order.drags || order.body >= 0);
    } else {
        require(error.message[0] != '\0');
    }
    free(bytes);
    return 0;
}
