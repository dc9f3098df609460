// Shapes prepared for the distance solver.

#include "collision/smooth_body.h"

void tpPrepareSmoothBody(const tpGeometry* geometry, tpPose shape, tpVec3 origin,
                         tpSmoothBody* out) {
    tpPrepareSmoothCore(geometry, &out->core);
    out->rotation = tpMatFromQuat(shape.rotation);
    out->position = tpSub(shape.position, origin);
}
