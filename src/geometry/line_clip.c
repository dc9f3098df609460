// Intervals of lines inside simple solids, from which those of the shapes are made.

#include "geometry/shape_parts.h"

void tpRaiseEnter(tpLineClip* clip, double t, tpVec3 normal) {
    if (t > clip->enter) {
        clip->enter = t;
        clip->enterNormal = normal;
    }
}

void tpLowerLeave(tpLineClip* clip, double t, tpVec3 normal) {
    if (t < clip->leave) {
        clip->leave = t;
        clip->leaveNormal = normal;
    }
}

bool tpClipByPlane(tpLineClip* clip, tpVec3 normal, double offset, tpVec3 origin,
                   tpVec3 direction) {
    double height = tpDot(normal, origin) - offset;
    double rate = tpDot(normal, direction);
    if (rate == 0.0) {
        return height <= 0.0;
    }
    double t = -height / rate;
    if (rate > 0.0) {
        tpLowerLeave(clip, t, normal);
    } else {
        tpRaiseEnter(clip, t, normal);
    }
    return clip->enter <= clip->leave;
}

bool tpClipByBall(tpVec3 center, double r, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    tpVec3 o = tpSub(origin, center);
    double middle = -tpDot(o, direction);
    double nearest = tpLength(tpMulAdd(o, middle, direction));
    if (nearest > r) {
        return false;
    }
    double half = sqrt((r - nearest) * (r + nearest));
    clip->enter = middle - half;
    clip->leave = middle + half;
    clip->enterNormal = tpNormalize(tpMulAdd(o, clip->enter, direction));
    clip->leaveNormal = tpNormalize(tpMulAdd(o, clip->leave, direction));
    return true;
}

void tpUniteClip(tpLineClip* clip, const tpLineClip* part, bool* any) {
    if (!*any || part->enter < clip->enter) {
        clip->enter = part->enter;
        clip->enterNormal = part->enterNormal;
    }
    if (!*any || part->leave > clip->leave) {
        clip->leave = part->leave;
        clip->leaveNormal = part->leaveNormal;
    }
    *any = true;
}
