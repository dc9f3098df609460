#include "tippe/base.h"
typedef int tpSceneRoom;
