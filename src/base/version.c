#include "tippe/base.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char* tpVersion(void) {
    return VERSION_TEXT(TP_VERSION_MAJOR, TP_VERSION_MINOR, TP_VERSION_PATCH);
}
