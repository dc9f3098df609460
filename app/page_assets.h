// Pages built from viewer/, part of the program. A size of zero: built without them.

#ifndef TIPPE_APP_PAGE_ASSETS_H
#define TIPPE_APP_PAGE_ASSETS_H

#include <stddef.h>

extern const unsigned char tp_compareHtml[];
extern const size_t tp_compareHtmlSize;

extern const unsigned char tp_replayHtml[];
extern const size_t tp_replayHtmlSize;

#endif
