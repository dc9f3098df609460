#include "steppers/auto/apart.h"

#include <string.h>

#include "collision/time_of_impact.h"
#include "dynamics/contact_info.h"
#include "dynamics/motion.h"
#include "geometry/shape.h"

bool tpBody_IsRound(const tpSystem* system, const tpBody* body) {
    if (body->firstShape < 0) {
        return false;
    }
    const tpShape* shape = &system->shapes.data[body->firstShape];
    const tpVec3 offset = tpSub(shape->form->geometry.pose.position, body->center);
    return shape->next < 0 && shape->form->geometry.type == tp_sphereShape &&
           tpLength(offset) <= 1e-9 * body->size;
}

bool tpBody_IsBall(const tpSystem* system, const tpBody* body) {
    return body->form->inertia.isIsotropic && tpBody_IsRound(system, body);
}

bool tpBody_IsSteady(const tpBody* body) {
    return body->kind == tp_fixedBody ||
           (body->kind == tp_kinematicBody && body->keyframes == NULL && !body->hasTarget);
}

bool tpBody_IsSteadyNow(const tpSystem* system, int body) {
    const tpBody* told = &system->bodies.data[body];
    return tpBody_IsSteady(told) || (told->kind == tp_dynamicBody && told->isAsleep);
}

// Of the time: keyframes nearer to its start are there.
static const double keyframePart = 1e-9;

bool tpBody_IsSteadyFor(const tpBody* body, double time, double seconds) {
    if (tpBody_IsSteady(body) || body->kind != tp_kinematicBody || body->hasTarget) {
        return tpBody_IsSteady(body);
    }
    double early = time + keyframePart * seconds, late = time + seconds * (1.0 - keyframePart);
    double next = tpKeyframes_NextTime(body->keyframes, body->keyframeCount, early);
    // Its frame goes straight; the centre of mass does if it is there, or nothing turns.
    tpPose first = tpKeyframes_PoseAt(body->keyframes, body->keyframeCount, early);
    tpPose last = tpKeyframes_PoseAt(body->keyframes, body->keyframeCount, late);
    bool isStraight = tpLengthSquared(body->center) == 0.0 ||
                      memcmp(&first.rotation, &last.rotation, sizeof(tpQuat)) == 0;
    return next >= late && isStraight;
}

double tpSystem_TurningSpeed(const tpSystem* system, int index, int shape) {
    const tpBody* body = &system->bodies.data[index];
    tpVec3 angular = system->velocities.data[index].angular;
    if (tpLengthSquared(angular) == 0.0 || tpBody_IsRound(system, body)) {
        return 0.0;
    }
    if (tpClassOf(&system->shapes.data[shape].form->geometry)->kind == tp_planeKind) {
        return INFINITY;
    }
    double speed = tpSystem_IsDynamic(system, index)
                       ? tpInertia_SpeedBound(&body->form->inertia,
                                              system->poses.data[index].rotation, angular)
                       : tpLength(angular);
    return speed * body->reach;
}

static tpVec3 accelerationOf(const tpSystem* system, int body) {
    return tpSystem_IsDynamic(system, body) ? tpSystem_Gravity(system, body) : tpZeroVec3();
}

double tpContact_TimeApart(const tpSystem* system, const tpContact* contact) {
    int a = contact->bodyA, b = contact->bodyB;
    bool areConvex = tpGeometry_IsConvex(&system->shapes.data[contact->shapeA].form->geometry) &&
                     tpGeometry_IsConvex(&system->shapes.data[contact->shapeB].form->geometry);
    if (!areConvex || contact->gap < -TP_TOUCH_DISTANCE * system->units.length) {
        return 0.0;
    }
    const tpVelocity* velocities = system->velocities.data;
    double speed = tpDot(contact->normal, tpSub(velocities[a].linear, velocities[b].linear)) -
                   tpSystem_TurningSpeed(system, a, contact->shapeA) -
                   tpSystem_TurningSpeed(system, b, contact->shapeB);
    double bend =
        tpDot(contact->normal, tpSub(accelerationOf(system, a), accelerationOf(system, b)));
    // Methods take shapes that touch at the start of a step for ones that rest: they must not come
    // as near as that in flight.
    double left = contact->gap - TP_TOUCH_DISTANCE * system->units.length;
    if (left > 0.0) {
        return isfinite(speed) ? tpFirstRoot(left, speed, bend) : 0.0;
    }
    // They leave each other, and come back as fast.
    return !(speed > 0.0) ? 0.0 : bend < 0.0 ? -2.0 * speed / bend : INFINITY;
}
