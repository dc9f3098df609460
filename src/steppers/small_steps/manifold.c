// Manifolds in the lanes of runs: written where they have been found anew, with the impulses of the
// points that were there before, and read for the list of contacts.
//
// The same features of the same shapes are the same contact. Points that are left are matched by
// place: if edges lie on edges, as in every wall of equal bricks, the least motion turns a corner
// on a face into an edge on an edge, and impulses would be lost with the name of the contact.

#include <float.h>
#include <string.h>

#include "collision/contact.h"
#include "collision/thin_manifold.h"
#include "dynamics/contact_info.h"
#include "dynamics/rows.h"
#include "steppers/small_steps/step.h"

// Points farther apart than this part of the manifold's extent are not the same.
static const double nearPart = 0.25;

static tpVec3 laneVector(const float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

static void storeVector(float (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = (float)v.x;
    parts[1][lane] = (float)v.y;
    parts[2][lane] = (float)v.z;
}

static const tpSoftPack* framePack(const tpSoftRun* run, int point) {
    return &run->packs[run->isFlat ? 0 : point];
}

// Points that were there before -------------------------------------------------------------------

void tpKeepManifold(const tpSmallStep* step, const tpSoftRun* run, int lane, tpKeptManifold* kept) {
    tpVec3 center = step->places[run->bodyA[lane]].linear;
    kept->count = run->points[lane];
    for (int k = 0; k < kept->count; ++k) {
        const tpSoftPack *pack = &run->packs[k], *frame = framePack(run, k);
        tpVec3 normal = laneVector(frame->normal, lane);
        tpVec3 impulse = tpScale(pack->impulse[0][lane], normal);
        impulse = tpMulAdd(impulse, pack->impulse[1][lane], laneVector(frame->tangents[0], lane));
        impulse = tpMulAdd(impulse, pack->impulse[2][lane], laneVector(frame->tangents[1], lane));
        kept->points[k] = (tpKeptPoint){
            pack->feature[lane],
            tpAdd(center, laneVector(pack->armA, lane)),
            normal,
            impulse,
            tpMakeVec3(pack->total[0][lane], pack->total[1][lane], pack->total[2][lane]),
            pack->load[lane],
            0.0,
            0.0,
            false,
        };
        if (run->torsions != NULL) {
            const tpSoftTorsion* torsion = &run->torsions[k];
            kept->points[k].twist = torsion->arm[lane] * torsion->impulse[lane];
            kept->points[k].twisted = torsion->arm[lane] * torsion->total[lane];
        }
    }
}

static int findFeature(const tpKeptPoint* old, int count, uint64_t feature) {
    for (int k = 0; k < count; ++k) {
        if (old[k].feature == feature && !old[k].isTaken) {
            return k;
        }
    }
    return -1;
}

static int findPlace(const tpKeptPoint* old, int count, tpVec3 place, double nearest) {
    int found = -1;
    for (int k = 0; k < count; ++k) {
        double distance = tpLengthSquared(tpSub(old[k].place, place));
        if (!old[k].isTaken && distance <= nearest) {
            nearest = distance;
            found = k;
        }
    }
    return found;
}

// For each new point its old one, or -1.
static void matchPoints(const tpFoundManifold* found, tpKeptPoint* old, int oldCount, int* match) {
    int left = 0;
    for (int k = 0; k < found->count; ++k) {
        match[k] = findFeature(old, oldCount, found->points[k].feature);
        if (match[k] >= 0) {
            old[match[k]].isTaken = true;
        } else {
            ++left;
        }
    }
    if (left == 0 || oldCount == 0) {
        return;
    }
    double extent = 0.0;
    for (int k = 1; k < oldCount; ++k) {
        extent = fmax(extent, tpLengthSquared(tpSub(old[k].place, old[0].place)));
    }
    for (int k = 0; k < found->count; ++k) {
        if (match[k] < 0) {
            match[k] =
                findPlace(old, oldCount, found->points[k].pointA, nearPart * nearPart * extent);
            if (match[k] >= 0) {
                old[match[k]].isTaken = true;
            }
        }
    }
}

// New points ----------------------------------------------------------------------------------

static const tpLawMemo* lawOf(const tpSystem* system, tpShapePair shapes, tpLawMemo* memo) {
    tpMaterialId a = system->shapes.data[shapes.shapeA].material;
    tpMaterialId b = system->shapes.data[shapes.shapeB].material;
    tpLawMemo* law = &memo[(3 * (unsigned)a + (unsigned)b) % tp_lawMemoSize];
    if (!law->isKnown || law->a != a || law->b != b) {
        tpSystem_MixMaterials(system, a, b, &law->friction, &law->restitution);
        law->a = a;
        law->b = b;
        law->isKnown = true;
    }
    return law;
}

// The level line, and x on a table: as tpMakeContactLaw does if friction has no direction of its
// own.
static tpVec3 levelTangent(tpVec3 n) {
    double length = sqrt(n.x * n.x + n.y * n.y);
    if (length < 1e-9) {
        tpVec3 ahead = tpMakeVec3(1.0 - n.x * n.x, -n.x * n.y, -n.x * n.z);
        return tpScale(1.0 / tpLength(ahead), ahead);
    }
    return tpMakeVec3(-n.y / length, n.x / length, 0.0);
}

// Tangents of a contact, each as long as its semi-axis of the friction ellipse.
static void findTangents(const tpSystem* system, const tpFoundManifold* found, const tpLawMemo* law,
                         const tpContactPoint* point, tpVec3 tangents[2]) {
    const double* ellipse = law->friction.ellipse;
    if (ellipse[0] != ellipse[1]) {
        tpContact contact = { .bodyA = found->bodyA,
                              .bodyB = found->bodyB,
                              .shapeA = found->shapes.shapeA,
                              .shapeB = found->shapes.shapeB,
                              .normal = point->normal };
        tpContactLaw own = tpMakeContactLaw(system, &contact);
        tangents[0] = own.tangents[0];
        tangents[1] = own.tangents[1];
    } else {
        tangents[0] = levelTangent(point->normal);
        tangents[1] = tpCross(point->normal, tangents[0]);
    }
    tangents[0] = tpScale(ellipse[0], tangents[0]);
    // In the plane friction has one direction.
    tangents[1] = tpScale(system->isPlanar ? 0.0 : ellipse[1], tangents[1]);
}

// A world impulse along the directions of a contact.
static void splitImpulse(tpSoftPack* pack, int lane, const tpLawMemo* law, tpVec3 impulse,
                         tpVec3 normal, const tpVec3 tangents[2]) {
    bool isRough = law->friction.dynamicCoefficient > 0.0;
    double tt = tpLengthSquared(tangents[0]), oo = tpLengthSquared(tangents[1]);
    pack->impulse[0][lane] = fmax(0.0, tpDot(impulse, normal));
    pack->impulse[1][lane] = isRough && tt > 0.0 ? tpDot(impulse, tangents[0]) / tt : 0.0;
    pack->impulse[2][lane] = isRough && oo > 0.0 ? tpDot(impulse, tangents[1]) / oo : 0.0;
}

// The torsional row; in the plane there is none. True if the lane has one now.
static bool writeTorsion(const tpSystem* system, const tpLawMemo* law, tpSoftTorsion* torsion,
                         int lane, const tpKeptPoint* before) {
    double arm = system->isPlanar || law->friction.dynamicCoefficient <= 0.0
                     ? 0.0
                     : law->friction.torsionalArm;
    torsion->arm[lane] = (float)arm;
    torsion->impulse[lane] = arm > 0.0 ? before->twist / arm : 0.0;
    torsion->total[lane] = arm > 0.0 ? before->twisted / arm : 0.0;
    return arm > 0.0;
}

static void clearPoint(tpSoftPack* pack, int lane) {
    pack->isPoint[lane] = -1;
    pack->feature[lane] = 0;
    pack->load[lane] = 0.0;
    pack->gap[lane] = pack->startGap[lane] = pack->slide[lane] = 0.0f;
    for (int k = 0; k < 3; ++k) {
        pack->impulse[k][lane] = pack->total[k][lane] = 0.0;
        pack->stick[k][lane] = 0.0f;
        pack->armA[k][lane] = pack->armB[k][lane] = 0.0f;
    }
    pack->coupling[0][lane] = pack->coupling[1][lane] = 0.0f;
}

static bool isSameNormal(tpVec3 a, tpVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether a point over a face is none of the other body's corners: it stays where it is on the
// face, below the side that is over it.
static bool goesWithFace(const tpOverFace* over, const tpContactPoint* point) {
    return over->isFace && isSameNormal(point->normal, over->normal) &&
           point->feature >> 62 != (over->isA ? tp_faceVertex : tp_vertexFace);
}

// Whether a point is where two edges, or an outline and the border of a facet, cross.
static bool isCrossing(uint64_t feature) {
    uint64_t mask = (UINT64_C(1) << 31) - 1, kind = feature >> 62;
    uint64_t a = feature >> 31 & mask, b = feature & mask;
    bool isLone = a == tp_rimCrossing + 3 && b == 0;
    return kind == tp_edgeEdge ||
           (kind == tp_smooth && !isLone && (a >= tp_rimCrossing || b >= tp_rimCrossing));
}

// The angle between the surfaces, as far as gaps depend on it while they slide: that of a corner
// over a face does not, that of a point where two edges cross over a face does. If face and side
// over it are known, gaps are followed exactly, but for where two edges meet: those turn.
static double tiltOf(const tpFoundManifold* found) {
    if (found->over->isFace) {
        return found->over->hasEdges ? 0.0 : (double)tp_exactTilt;
    }
    double low = INFINITY, high = -INFINITY, extent = 0.0;
    bool isCut = false;
    for (int k = 0; k < found->count; ++k) {
        const tpContactPoint* point = &found->points[k];
        low = fmin(low, point->gap);
        high = fmax(high, point->gap);
        extent = fmax(extent, tpLengthSquared(tpSub(point->pointA, found->points[0].pointA)));
        isCut = isCut || isCrossing(point->feature);
    }
    if (found->over->isPlane && !isCut) {
        return (double)tp_exactTilt;
    }
    return isCut && extent > 0.0 ? fmin(1.0, (high - low) / sqrt(extent)) : 0.0;
}

static double sizeOf(const tpSystem* system, int bodyA, int bodyB) {
    bool movesA = tpSystem_IsDynamic(system, bodyA), movesB = tpSystem_IsDynamic(system, bodyB);
    double a = movesA ? system->bodies.data[bodyA].reach : INFINITY;
    double b = movesB ? system->bodies.data[bodyB].reach : INFINITY;
    return fmin(a, b);
}

static bool isRoundBody(const tpSystem* system, int body) {
    return !tpSystem_IsDynamic(system, body) || system->bodies.data[body].form->inertia.isIsotropic;
}

bool tpIsCurved(const tpShape* shape) {
    switch (shape->form->geometry.type) {
    case tp_ellipsoidShape:
    case tp_superellipsoidShape:
    case tp_intersectionShape:
    case tp_implicitShape:
        return true;
    default:
        return false;
    }
}

// More points of one face than a thinned one has: a few of the many corners of a hull, which stand
// for all of them as long as it does not tilt much (collision/thin_manifold.h).
static bool isRim(const tpFoundManifold* found) {
    tpVec3 a = found->points[0].normal, b = found->points[found->count - 1].normal;
    return found->count > tp_thinPoints && a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether slack is along the normal: see soft_follow_lanes.h. Parts of a body that does not move
// may be anywhere; the normal turns with it then.
static bool isAlong(const tpSystem* system, const tpFoundManifold* found, const tpSoftRun* run,
                    int lane) {
    bool isKnown = found->over->isFace || found->over->isAlong;
    bool isNearA = tpSystem_IsDynamic(system, found->bodyA) || run->share[lane] == 1.0f;
    bool isNearB = tpSystem_IsDynamic(system, found->bodyB) || run->share[lane] == 0.0f;
    return isKnown && isNearA && isNearB && (run->uneven >> lane & 1) == 0;
}

static void describeLane(const tpSmallStep* step, const tpFoundManifold* found,
                         const tpLawMemo* law, tpSoftRun* run, int lane) {
    const tpSystem* system = step->system;
    unsigned bit = 1u << lane;
    bool movesA = tpSystem_IsDynamic(system, found->bodyA);
    bool movesB = tpSystem_IsDynamic(system, found->bodyB);
    bool isRound = isRoundBody(system, found->bodyA) && isRoundBody(system, found->bodyB);
    run->unround = (uint8_t)(isRound ? run->unround & ~bit : run->unround | bit);
    run->elastic = (uint8_t)(law->restitution > 0.0 ? run->elastic | bit : run->elastic & ~bit);
    run->restitution[lane] = (float)law->restitution;
    run->muStatic[lane] = (float)law->friction.staticCoefficient;
    run->muDynamic[lane] = (float)law->friction.dynamicCoefficient;
    run->share[lane] = !movesB ? 0.0f : !movesA ? 1.0f : 0.5f;
    storeVector(run->incident, lane, found->over->isFace ? found->over->incident : tpZeroVec3());
    if (found->over->isFace || found->over->isPlane) {
        run->share[lane] = found->over->isA ? 1.0f : 0.0f;
    }
    run->slack[lane] = (float)found->slack;
    run->slip[lane] = run->turn[lane] = 0.0f;
    if (tpIsCurved(&system->shapes.data[found->shapes.shapeA]) ||
        tpIsCurved(&system->shapes.data[found->shapes.shapeB])) {
        // The least turn makes it stale: a point that lags behind drives what rocks on it.
        run->turn[lane] = step->sweep.limits.turn;
    } else if (isRim(found)) {
        run->turn[lane] = step->sweep.limits.turn - (float)TP_RIM_TILT;
    } else if (found->over->room > 0.0) {
        // A ball on a face may spin, and roll as far as the border.
        run->turn[lane] = -FLT_MAX;
        run->slip[lane] = -(float)fmin(found->over->room, FLT_MAX);
    }
    // Manifolds found in one step are not all found anew in one.
    run->age[lane] = (float)(run->slots[lane] % 16);
    run->tilt[lane] = (float)tiltOf(found);
    run->size[lane] = (float)sizeOf(system, found->bodyA, found->bodyB);
    if (run->areBalls) {
        run->radiusA[lane] =
            tpDot(tpSub(step->places[run->bodyA[lane]].linear, found->points[0].pointA),
                  found->points[0].normal);
        run->radiusB[lane] =
            tpDot(tpSub(found->points[0].pointB, step->places[run->bodyB[lane]].linear),
                  found->points[0].normal);
    } else {
        tpDescribeRolling(system, found, run, lane);
        bool isExact = run->tilt[lane] == tp_exactTilt;
        if (isAlong(system, found, run, lane) != isExact) {
            run->tilt[lane] = isExact ? 0.5f * tp_exactTilt : run->tilt[lane] + tp_alongTilt;
        }
    }
}

static tpContactInfo describeKept(const tpSmallStep* step, const tpFoundManifold* found,
                                  const tpKeptPoint* old) {
    tpContact contact = { .bodyA = found->bodyA,
                          .bodyB = found->bodyB,
                          .shapeA = found->shapes.shapeA,
                          .shapeB = found->shapes.shapeB,
                          .feature = old->feature,
                          .pointA = old->place,
                          .pointB = old->place,
                          .normal = old->normal,
                          .gap = 2.0 * tpSmallStep_TouchDistance(step) };
    tpContactInfo info = tpContactInfo_Make(&contact);
    info.normalImpulse = old->load;
    info.frictionImpulse = tpMulAdd(old->total, -old->load, old->normal);
    info.torsionalImpulse = old->twisted;
    info.state = tp_sliding;
    return info;
}

void tpWriteManifold(const tpSmallStep* step, const tpFoundManifold* found, tpLawMemo* memo,
                     tpKeptManifold* kept, tpSoftRun* run, int lane, tpDeparted* departed) {
    int match[tp_mostPoints];
    tpKeptPoint* old = kept->points;
    matchPoints(found, old, kept->count, match);
    for (int k = 0; k < kept->count; ++k) {
        if (!old[k].isTaken && old[k].load > 0.0) {
            departed->list[departed->count++] = describeKept(step, found, &old[k]);
        }
    }
    const tpLawMemo* law = lawOf(step->system, found->shapes, memo);
    tpVec3 centerA = step->places[run->bodyA[lane]].linear;
    tpVec3 centerB = step->places[run->bodyB[lane]].linear;
    const tpBodyWay* wayA = &step->state->ways.data[run->bodyA[lane]];
    const tpBodyWay* wayB = &step->state->ways.data[run->bodyB[lane]];
    bool sagsA = tpHasSag(wayA), sagsB = tpHasSag(wayB);
    tpVec3 tangents[2] = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
    bool isUneven = false, isTorsional = false;
    for (int k = 0; k < found->count; ++k) {
        const tpContactPoint* point = &found->points[k];
        tpSoftPack* pack = &run->packs[k];
        bool isNewNormal = k == 0 || !isSameNormal(point->normal, found->points[k - 1].normal);
        isUneven = isUneven || (k > 0 && isNewNormal);
        if (isNewNormal) {
            findTangents(step->system, found, law, point, tangents);
        }
        storeVector(pack->normal, lane, point->normal);
        storeVector(pack->tangents[0], lane, tangents[0]);
        storeVector(pack->tangents[1], lane, tangents[1]);
        tpVec3 armA = tpSub(point->pointA, centerA), armB = tpSub(point->pointB, centerB);
        storeVector(pack->armA, lane, sagsA ? tpArmWithoutSag(wayA, armA) : armA);
        storeVector(pack->armB, lane, sagsB ? tpArmWithoutSag(wayB, armB) : armB);
        pack->gap[lane] = pack->startGap[lane] = (float)point->gap;
        pack->isPoint[lane] = goesWithFace(found->over, point) ? 2 : 1;
        pack->feature[lane] = point->feature;
        static const tpKeptPoint none = { 0 };
        const tpKeptPoint* before = match[k] >= 0 ? &old[match[k]] : &none;
        splitImpulse(pack, lane, law, before->impulse, point->normal, tangents);
        pack->load[lane] = before->load;
        pack->total[0][lane] = before->total.x;
        pack->total[1][lane] = before->total.y;
        pack->total[2][lane] = before->total.z;
        if (run->torsions != NULL) {
            isTorsional = writeTorsion(step->system, law, &run->torsions[k], lane, before);
        }
    }
    // Arms of no point follow the bodies too: those of a ball that spins grew without bounds.
    for (int k = found->count; k < run->room; ++k) {
        clearPoint(&run->packs[k], lane);
        if (run->torsions != NULL) {
            run->torsions[k].arm[lane] = 0.0f;
            run->torsions[k].impulse[lane] = run->torsions[k].total[lane] = 0.0;
        }
    }
    unsigned bit = 1u << lane;
    run->torsional = (uint8_t)(isTorsional ? run->torsional | bit : run->torsional & ~bit);
    run->points[lane] = (uint8_t)found->count;
    tpSoftRun_SetUneven(run, lane, isUneven);
    describeLane(step, found, law, run, lane);
    run->stale = (uint8_t)(run->stale & ~(1u << lane));
    tpSoftRun_Summarise(run);
}

// For users -----------------------------------------------------------------------------------

// As countListed of sweeps/soft_follow_lanes.h has it: there is memory for as many.
bool tpIsListed(const tpSmallStep* step, const tpSoftRun* run, int lane, int point) {
    const tpSoftPack* pack = &run->packs[point];
    return pack->isPoint[lane] > 0 &&
           (pack->load[lane] > 0.0 || pack->gap[lane] <= tpSmallStep_TouchDistance(step));
}

int tpCountListed(const tpSmallStep* step, const tpSoftRun* run, int lane, double* deepest) {
    int count = 0;
    for (int k = 0; k < run->points[lane]; ++k) {
        count += tpIsListed(step, run, lane, k) ? 1 : 0;
        double depth = -(double)run->packs[k].gap[lane];
        *deepest = depth > *deepest ? depth : *deepest;
    }
    return count;
}

tpContact tpReadContact(const tpSmallSteps* state, const tpSoftRun* run, int lane, int point,
                        tpVec3 centerA, tpVec3 centerB) {
    const tpSoftPack* pack = &run->packs[point];
    tpShapePair shapes = state->shapes.data[run->slots[lane]];
    return (tpContact){ .bodyA = state->bodies.data[run->bodyA[lane]],
                        .bodyB = state->bodies.data[run->bodyB[lane]],
                        .shapeA = shapes.shapeA,
                        .shapeB = shapes.shapeB,
                        .feature = pack->feature[lane],
                        .pointA = tpAdd(centerA, laneVector(pack->armA, lane)),
                        .pointB = tpAdd(centerB, laneVector(pack->armB, lane)),
                        .normal = laneVector(framePack(run, point)->normal, lane),
                        .gap = pack->gap[lane] };
}

tpContactInfo tpDescribeContact(const tpSmallStep* step, const tpSoftRun* run, int lane,
                                int point) {
    const tpSoftPack* pack = &run->packs[point];
    int a = run->bodyA[lane], b = run->bodyB[lane];
    tpContact contact = tpReadContact(step->state, run, lane, point, step->places[a].linear,
                                      step->places[b].linear);
    tpContactInfo info = tpContactInfo_Make(&contact);
    tpVec3 total = tpMakeVec3(pack->total[0][lane], pack->total[1][lane], pack->total[2][lane]);
    const tpVelocity *u = &step->velocities[a], *v = &step->velocities[b];
    tpVec3 armA = laneVector(pack->armA, lane), armB = laneVector(pack->armB, lane);
    tpVec3 slip = tpSub(tpAdd(u->linear, tpCross(u->angular, armA)),
                        tpAdd(v->linear, tpCross(v->angular, armB)));
    info.normalImpulse = pack->load[lane];
    info.frictionImpulse = tpMulAdd(total, -pack->load[lane], contact.normal);
    if (run->torsions != NULL) {
        info.torsionalImpulse = run->torsions[point].arm[lane] * run->torsions[point].total[lane];
    }
    info.slidingSpeed = tpLength(tpMulAdd(slip, -tpDot(slip, contact.normal), contact.normal));
    info.state = tpContactInfo_StateOf(&info, step->system->units.speed);
    return info;
}
