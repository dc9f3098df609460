// What is done with a run of soft contacts, W at once: included by one file for each width, after
// the lanes of that width.

#ifndef TIPPE_SRC_SWEEPS_SOFT_LANES_H
#define TIPPE_SRC_SWEEPS_SOFT_LANES_H

#include "sweeps/contact_lanes.h"
#include "sweeps/soft_pack.h"
#include "sweeps/soft_support_lanes.h"
#include "sweeps/soft_torsion_lanes.h"

// A sweep is compiled once for each manner it goes in.
#define TP_ALWAYS_INLINE static inline __attribute__((always_inline))

// Directions and friction of W contacts.
typedef struct WideFrame {
    WideVec n, t, o;
    wide muStatic, muDynamic;
} WideFrame;

static inline WideFrame loadFrame(const tpSoftRun* run, const tpSoftPack* pack, int lane) {
    return (WideFrame){ loadFloatVec(pack->normal[0], lane),
                        loadFloatVec(pack->tangents[0][0], lane),
                        loadFloatVec(pack->tangents[1][0], lane), loadFloats(&run->muStatic[lane]),
                        loadFloats(&run->muDynamic[lane]) };
}

// The pack whose frame a pack has: in flat runs that of the first, which stays in the nearest
// cache.
static inline const tpSoftPack* framePack(const tpSoftRun* run, const tpSoftPack* first,
                                          const tpSoftPack* pack) {
    return run->isFlat ? first : pack;
}

// The velocities of parting of a pack, in steps with restitution.
static inline tpSoftBounce* bounceOf(const tpSoftSweep* sweep, const tpSoftRun* run,
                                     const tpSoftPack* pack) {
    return &sweep->bounces[run->first + (pack - run->packs)];
}

static inline void loadPair(const tpVelocity* lines, const tpSoftRun* run, int lane, WideLines* a,
                            WideLines* b) {
    loadLines((const double*)lines, run->bodyA + lane, a);
    loadLines((const double*)lines, run->bodyB + lane, b);
}

// Of round bodies only the first two numbers are asked for.
static inline void loadMasses(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                              bool isRound, WideBodies* bodies) {
    WideLines massA, massB;
    loadLines((const double*)sweep->masses, run->bodyA + lane, &massA);
    loadLines((const double*)sweep->masses, run->bodyB + lane, &massB);
    for (int k = 0; k < (isRound ? 2 : 7); ++k) {
        bodies->massA.numbers[k] = massA.numbers[k];
        bodies->massB.numbers[k] = massB.numbers[k];
    }
}

static inline void loadBodies(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                              bool isRound, WideBodies* bodies) {
    loadPair(sweep->velocities, run, lane, &bodies->velocityA, &bodies->velocityB);
    loadMasses(sweep, run, lane, isRound, bodies);
}

static inline void push(WideBodies* bodies, bool isRound, WideVec armA, WideVec armB,
                        WideVec impulse) {
    if (isRound) {
        pushRound(bodies, armA, armB, impulse);
    } else {
        pushBodies(bodies, armA, armB, impulse);
    }
}

static inline void storeBodies(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                               const WideBodies* bodies) {
    double* velocities = (double*)sweep->velocities;
    storeLines(velocities, run->bodyA + lane, (unsigned)run->movesA >> lane, &bodies->velocityA);
    storeLines(velocities, run->bodyB + lane, (unsigned)run->movesB >> lane, &bodies->velocityB);
}

static inline WideVec along(const WideFrame* frame, const wide r[3]) {
    return (WideVec){ r[0] * frame->n.x + r[1] * frame->t.x + r[2] * frame->o.x,
                      r[0] * frame->n.y + r[1] * frame->t.y + r[2] * frame->o.y,
                      r[0] * frame->n.z + r[1] * frame->t.z + r[2] * frame->o.z };
}

static inline void speedsIn(const WideFrame* frame, WideVec relative, wide u[3]) {
    u[0] = dotVec(relative, frame->n);
    u[1] = dotVec(relative, frame->t);
    u[2] = dotVec(relative, frame->o);
}

static inline void loadImpulse(const tpSoftPack* pack, int lane, wide r[3]) {
    for (int k = 0; k < 3; ++k) {
        r[k] = loadWide(&pack->impulse[k][lane]);
    }
}

// What one body gives to W: nn nt no tt to oo. `shared` are the products of the directions with
// each other.
static inline void addToResponse(const WideLines* body, bool isRound, WideVec arm,
                                 const WideFrame* frame, const wide shared[6], wide response[6]) {
    const WideVec directions[3] = { frame->n, frame->t, frame->o };
    WideVec moments[3], turns[3];
    for (int i = 0; i < 3; ++i) {
        moments[i] = crossVec(arm, directions[i]);
        turns[i] =
            isRound ? (WideVec){ body->numbers[1] * moments[i].x, body->numbers[1] * moments[i].y,
                                 body->numbers[1] * moments[i].z }
                    : turnedBy(body, moments[i]);
    }
    for (int i = 0, place = 0; i < 3; ++i) {
        for (int k = i; k < 3; ++k, ++place) {
            response[place] += body->numbers[0] * shared[place] + dotVec(moments[i], turns[k]);
        }
    }
}

static inline void multiplyDirections(const WideFrame* frame, wide shared[6]) {
    shared[0] = dotVec(frame->n, frame->n);
    shared[1] = dotVec(frame->n, frame->t);
    shared[2] = dotVec(frame->n, frame->o);
    shared[3] = dotVec(frame->t, frame->t);
    shared[4] = dotVec(frame->t, frame->o);
    shared[5] = dotVec(frame->o, frame->o);
}

// Preparation ------------------------------------------------------------------------------------

// Bodies of W manifolds before the substeps.
typedef struct WidePrepared {
    WideBodies bodies; // `velocity` are the lines that impulses to start with are added to
    WideLines startA, startB, freeA, freeB;
    wide way;      // how near a gap must be for what impulses may do to the bodies, m
    wide approach; // the fastest of the points, m/s
    bool parts;    // some of them bounce
    WideLoad load; // of the last step
} WidePrepared;

static inline void addKicks(const tpSoftSweep* sweep, const WideLines* kicks,
                            const WideLines* start, WideLines* free) {
    wide substeps = wideOf(sweep->substeps);
    for (int k = 0; k < 7; ++k) {
        free->numbers[k] = start->numbers[k] + substeps * kicks->numbers[k];
    }
}

static inline void openPrepared(const tpSoftSweep* sweep, const tpSoftRun* run, int lane,
                                bool isRound, WidePrepared* p) {
    WideLines kickA, kickB, massA, massB;
    loadLines((const double*)sweep->masses, run->bodyA + lane, &massA);
    loadLines((const double*)sweep->masses, run->bodyB + lane, &massB);
    for (int k = 0; k < (isRound ? 2 : 7); ++k) {
        p->bodies.massA.numbers[k] = massA.numbers[k];
        p->bodies.massB.numbers[k] = massB.numbers[k];
    }
    // Bodies that fall side by side are fast, but not against each other. An eighth of how far both
    // may move is allowed for what impulses do to them; what they make of the rest is seen in the
    // next step.
    p->way = wideOf(0.125) * (massA.numbers[7] + massB.numbers[7]);
    loadPair(sweep->given, run, lane, &p->bodies.velocityA, &p->bodies.velocityB);
    loadPair(sweep->starts, run, lane, &p->startA, &p->startB);
    loadPair(sweep->kicks, run, lane, &kickA, &kickB);
    addKicks(sweep, &kickA, &p->startA, &p->freeA);
    addKicks(sweep, &kickB, &p->startB, &p->freeB);
    p->load = noLoad();
}

// What follows from masses, directions and arms. Points that cannot close have no response.
static inline void storeResponse(tpSoftPack* pack, int lane, wideMask closes, const wide all[6]) {
    wide response[6], stick[3], slide, zero = wideOf(0.0);
    for (int k = 0; k < 6; ++k) {
        response[k] = wideSelect(closes, all[k], zero);
    }
    invertFriction(response[3], response[4], response[5], stick, &slide);
    for (int k = 0; k < 3; ++k) {
        storeFloats(&pack->stick[k][lane], stick[k]);
    }
    storeFloats(&pack->slide[lane], slide);
    storeWide(&pack->inverseNormal[lane], inverseOrZero(response[0]));
    storeFloats(&pack->coupling[0][lane], response[1]);
    storeFloats(&pack->coupling[1][lane], response[2]);
}

// The velocity of parting of what approaches fast enough, to be given after the substeps if impacts
// do not happen in them: e of what it has where the gap is gone, which forces add to on the way.
// Returns whether something does.
static inline bool storeBounce(const tpSoftSweep* sweep, const tpSoftRun* run,
                               const tpSoftPack* pack, int lane, wideMask closes, wide approach,
                               wide closing) {
    wide zero = wideOf(0.0), e = loadFloats(&run->restitution[lane]);
    wide gap = wideMax(loadFloats(&pack->startGap[lane]), zero);
    wide gained = wideOf(2.0 / sweep->h) * (approach - closing) * gap;
    wide square = wideMax(approach * approach + gained, zero);
    wide parting = wideSelect(closes, zero - e * wideSqrt(square), zero);
    parting = wideSelect(wideGreater(wideOf(-sweep->threshold), approach), parting, zero);
    wideMask isLate = wideGreater(wideOf(sweep->striking), e);
    storeFloats(&bounceOf(sweep, run, pack)->speed[lane], wideSelect(isLate, parting, zero));
    return wideAny(wideGreater(zero, parting));
}

// Points that nothing brings together in this step.
static inline void silence(tpSoftPack* pack, int lane) {
    wide zero = wideOf(0.0);
    for (int k = 0; k < 3; ++k) {
        storeFloats(&pack->stick[k][lane], zero);
        storeWide(&pack->impulse[k][lane], zero);
        storeWide(&pack->total[k][lane], zero);
    }
    storeFloats(&pack->slide[lane], zero);
    storeFloats(&pack->coupling[0][lane], zero);
    storeFloats(&pack->coupling[1][lane], zero);
    storeWide(&pack->inverseNormal[lane], zero);
}

// The torsional row, and what it starts with. The response of the other rows is known.
static inline void prepareTorsion(tpSoftTorsion* torsion, int lane, wide warm, wideMask closes,
                                  const WideFrame* frame, WideVec armA, WideVec armB,
                                  const wide response[6], WidePrepared* p) {
    wide zero = wideOf(0.0), arm = loadFloats(&torsion->arm[lane]);
    const WideVec directions[3] = { frame->n, frame->t, frame->o };
    WideVec spin = timesVec(arm, frame->n);
    wide row[4] = { zero, zero, zero, zero };
    addSpinResponse(&p->bodies.massA, armA, directions, spin, row);
    addSpinResponse(&p->bodies.massB, armB, directions, spin, row);
    const wide friction[6] = { response[3], response[4], response[5], row[1], row[2], row[3] };
    storeFloats(&torsion->coupling[lane], wideSelect(closes, row[0], zero));
    for (int k = 0; k < 6; ++k) {
        storeFloats(&torsion->friction[k][lane], wideSelect(closes, friction[k], zero));
    }
    wide impulse = wideSelect(closes, warm * loadWide(&torsion->impulse[lane]), zero);
    storeWide(&torsion->impulse[lane], impulse);
    storeWide(&torsion->total[lane], zero);
    twistBodies(&p->bodies, timesVec(impulse, spin));
}

static inline void silenceTorsion(tpSoftTorsion* torsion, int lane) {
    wide zero = wideOf(0.0);
    storeWide(&torsion->impulse[lane], zero);
    storeWide(&torsion->total[lane], zero);
    storeFloats(&torsion->coupling[lane], zero);
    for (int k = 0; k < 6; ++k) {
        storeFloats(&torsion->friction[k][lane], zero);
    }
}

// Speeds that move the smaller body of each lane by a good part of its size in a substep, m/s.
static inline wide fastSpeed(const tpSoftSweep* sweep, const tpSoftRun* run, int lane) {
    return wideOf(sweep->softness.fast) * loadFloats(&run->size[lane]);
}

// Returns whether one of the pack's points can close in the step. Without torsion `torsion` is
// NULL.
TP_ALWAYS_INLINE bool preparePack(const tpSoftSweep* sweep, const tpSoftRun* run, tpSoftPack* pack,
                                  tpSoftTorsion* torsion, int lane, bool isRound,
                                  const WideFrame* frame, const wide shared[6], WidePrepared* p) {
    WideVec armA = loadFloatVec(pack->armA[0], lane), armB = loadFloatVec(pack->armB[0], lane);
    wide gap = loadFloats(&pack->gap[lane]), zero = wideOf(0.0), one = wideOf(1.0);
    storeFloats(&pack->startGap[lane], gap);
    wide closing = dotVec(relativeVelocity(&p->freeA, armA, &p->freeB, armB), frame->n);
    wide left = gap + wideOf(sweep->h) * closing;
    p->approach = wideMax(p->approach, zero - closing);
    // Nearer than that, or on the way there.
    wide isNear =
        wideSelect(wideGreater(gap, p->way), wideSelect(wideGreater(left, p->way), zero, one), one);
    isNear = wideSelect(wideGreater(zero, loadInts(&pack->isPoint[lane])), zero, isNear);
    wideMask closes = wideGreater(isNear, zero);
    if (!wideAny(closes)) {
        silence(pack, lane);
        if (run->bounces) {
            storeFloats(&bounceOf(sweep, run, pack)->speed[lane], zero);
        }
        if (torsion != NULL) {
            silenceTorsion(torsion, lane);
        }
        return false;
    }
    wide response[6] = { zero, zero, zero, zero, zero, zero }, impulse[3];
    addToResponse(&p->bodies.massA, isRound, armA, frame, shared, response);
    addToResponse(&p->bodies.massB, isRound, armB, frame, shared, response);
    // Before the response takes its place.
    wide load = wideSelect(closes, loadWide(&pack->load[lane]), zero);
    storeResponse(pack, lane, closes, response);
    loadImpulse(pack, lane, impulse);
    // What parts fast has been struck: its impulses are no loads, and two sweeps do not take them
    // back where several points have a share in them.
    wide warm =
        wideSelect(wideGreater(closing, fastSpeed(sweep, run, lane)), zero, wideOf(sweep->warm));
    for (int k = 0; k < 3; ++k) {
        impulse[k] = wideSelect(closes, warm * impulse[k], zero);
        storeWide(&pack->impulse[k][lane], impulse[k]);
        storeWide(&pack->total[k][lane], zero);
    }
    push(&p->bodies, isRound, armA, armB, along(frame, impulse));
    addLoad(&p->load, run->isFlat, frame->n, load);
    if (torsion != NULL) {
        prepareTorsion(torsion, lane, warm, closes, frame, armA, armB, response, p);
    }
    if (run->bounces) {
        wide approach = dotVec(relativeVelocity(&p->startA, armA, &p->startB, armB), frame->n);
        p->parts = storeBounce(sweep, run, pack, lane, closes, approach, closing) || p->parts;
    }
    return true;
}

// Lanes whose bodies meet so fast that the spring is too soft for them.
static inline wideMask areFast(const tpSoftSweep* sweep, const tpSoftRun* run, int lane) {
    return wideGreater(loadFloats(&run->approach[lane]), fastSpeed(sweep, run, lane));
}

TP_ALWAYS_INLINE void prepare(const tpSoftSweep* sweep, tpSoftRun* run, bool isRound,
                              bool isTorsional) {
    tpSoftPack* first = run->packs;
    int16_t active = 0;
    run->isFast = run->parts = false;
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WidePrepared p;
        openPrepared(sweep, run, lane, isRound, &p);
        p.approach = wideOf(0.0);
        p.parts = false;
        WideFrame frame = loadFrame(run, first, lane);
        wide shared[6];
        multiplyDirections(&frame, shared);
        for (tpSoftPack* pack = first; pack < first + run->count; ++pack) {
            if (pack > first && !run->isFlat) {
                frame = loadFrame(run, pack, lane);
                multiplyDirections(&frame, shared);
            }
            tpSoftTorsion* torsion = isTorsional ? &run->torsions[pack - first] : NULL;
            if (preparePack(sweep, run, pack, torsion, lane, isRound, &frame, shared, &p)) {
                int16_t number = (int16_t)(pack - first + 1);
                active = number > active ? number : active;
            }
        }
        storeFloats(&run->approach[lane], p.approach);
        run->isFast = run->isFast || wideAny(areFast(sweep, run, lane));
        run->parts = run->parts || p.parts;
        if (!run->areBalls) {
            findSupports(sweep, run, lane, frame.n, &p.load);
        }
        storeLines((double*)sweep->given, run->bodyA + lane, (unsigned)run->movesA >> lane,
                   &p.bodies.velocityA);
        storeLines((double*)sweep->given, run->bodyB + lane, (unsigned)run->movesB >> lane,
                   &p.bodies.velocityB);
    }
    run->active = active;
}

static void prepareRun(const tpSoftSweep* sweep, tpSoftRun* run) {
    if (run->torsional != 0) {
        prepare(sweep, run, false, true);
    } else if (run->isRound) {
        prepare(sweep, run, true, false);
    } else {
        prepare(sweep, run, false, false);
    }
}

// Sweeps -----------------------------------------------------------------------------------------

// Contacts at work: their arms, their velocities, their impulses.
typedef struct WideContacts {
    WideFrame frame;
    WideVec armA, armB;
    wide u[3], impulse[3];
} WideContacts;

static inline void loadContacts(const tpSoftRun* run, const tpSoftPack* pack,
                                const tpSoftPack* framed, int lane, const WideBodies* bodies,
                                WideContacts* c) {
    c->frame = loadFrame(run, framed, lane);
    c->armA = loadFloatVec(pack->armA[0], lane);
    c->armB = loadFloatVec(pack->armB[0], lane);
    speedsIn(&c->frame, relativeVelocity(&bodies->velocityA, c->armA, &bodies->velocityB, c->armB),
             c->u);
    loadImpulse(pack, lane, c->impulse);
}

// W lanes of a run. What a pack does to its bodies is what the next one starts from, and that takes
// longer to arrive than to compute: two strands, which share no body that moves, go side by side
// where registers are short. The widest are busy with one.
enum { strandsAtOnce = W < 8 ? 2 : 1 };

typedef struct Strand {
    const tpSoftRun* run;
    tpSoftPack* first;
    int lane;
    WideBodies bodies;
    WideLines movedA, movedB;
    wideMask isFast;
    // The pack at work.
    tpSoftPack* pack;
    WideContacts c;
    wide normal; // impulse
} Strand;

// How a sweep goes. All are known where it is compiled.
typedef struct Manner {
    bool isLed;       // the first sweep of a substep
    bool isRound;     // bodies turn as easily about any axis
    bool isTorsional; // some contacts have torsional friction
} Manner;

static inline void openStrand(const tpSoftSweep* sweep, Manner manner, Strand* s) {
    loadBodies(sweep, s->run, s->lane, manner.isRound, &s->bodies);
    if (manner.isLed) {
        loadPair(sweep->moved, s->run, s->lane, &s->movedA, &s->movedB);
        s->isFast = areFast(sweep, s->run, s->lane);
    }
}

static inline void findVelocity(Strand* s, int k, bool isBackward) {
    s->pack = s->first + (isBackward ? s->run->active - 1 - k : k);
    loadContacts(s->run, s->pack, framePack(s->run, s->first, s->pack), s->lane, &s->bodies, &s->c);
}

// The normal impulse that takes back overlaps; finds the gap.
static inline void leadNormal(const tpSoftness* soft, Strand* s) {
    const WideContacts* c = &s->c;
    WideVec moved = relativeVelocity(&s->movedA, c->armA, &s->movedB, c->armB);
    wide gap = loadFloats(&s->pack->startGap[s->lane]) + dotVec(moved, c->frame.n);
    storeFloats(&s->pack->gap[s->lane], gap);
    wide old = c->impulse[0];
    wideMask isOpen = wideGreater(gap, wideOf(0.0));
    wide led = wideMax(wideOf(soft->rate) * gap, wideOf(-soft->push));
    wide bias = wideSelect(isOpen, wideOf(soft->inverseTime) * gap, led);
    wide mass = wideSelect(s->isFast, wideOf(1.0), wideOf(soft->mass));
    wide part = wideSelect(s->isFast, wideOf(1.0), wideOf(1.0 - soft->impulse));
    mass = wideSelect(isOpen, wideOf(1.0), mass);
    wide kept = wideSelect(isOpen, old, part * old);
    wide step = mass * ((c->u[0] + bias) * loadWide(&s->pack->inverseNormal[s->lane]));
    s->normal = wideMax(kept - step, wideOf(0.0));
}

// The one that leaves true velocities.
static inline void settleNormal(const tpSoftness* soft, Strand* s) {
    wide open = wideMax(loadFloats(&s->pack->gap[s->lane]), wideOf(0.0));
    wide step =
        (s->c.u[0] + wideOf(soft->inverseTime) * open) * loadWide(&s->pack->inverseNormal[s->lane]);
    s->normal = wideMax(s->c.impulse[0] - step, wideOf(0.0));
}

// Friction after the normal impulse. The velocities become the changes of the impulses.
static inline void findFriction(Strand* s, bool isLed) {
    const tpSoftPack* pack = s->pack;
    WideContacts* c = &s->c;
    int lane = s->lane;
    wide change = s->normal - c->impulse[0];
    wide ut = c->u[1] + loadFloats(&pack->coupling[0][lane]) * change;
    wide uo = c->u[2] + loadFloats(&pack->coupling[1][lane]) * change;
    wide rt = c->impulse[1], ro = c->impulse[2];
    const wide stick[3] = { loadFloats(&pack->stick[0][lane]), loadFloats(&pack->stick[1][lane]),
                            loadFloats(&pack->stick[2][lane]) };
    solveFriction(stick, loadFloats(&pack->slide[lane]), c->frame.muStatic, c->frame.muDynamic, ut,
                  uo, s->normal, &rt, &ro);
    c->u[0] = change;
    c->u[1] = rt - c->impulse[1];
    c->u[2] = ro - c->impulse[2];
    const wide impulse[3] = { s->normal, rt, ro };
    for (int k = 0; k < 3; ++k) {
        storeWide(&s->pack->impulse[k][lane], impulse[k]);
        if (!isLed) {
            storeWide(&s->pack->total[k][lane], loadWide(&pack->total[k][lane]) + impulse[k]);
        }
    }
}

// The same with torsion; bodies get its moment here.
static inline void findTorsion(Strand* s, bool isLed) {
    tpSoftPack* pack = s->pack;
    tpSoftTorsion* torsion = &s->run->torsions[pack - s->first];
    WideContacts* c = &s->c;
    int lane = s->lane;
    wide change = s->normal - c->impulse[0], arm = loadFloats(&torsion->arm[lane]);
    wide spin = spinSpeed(&s->bodies.velocityA, &s->bodies.velocityB, c->frame.n, arm);
    const wide u[3] = { c->u[1] + loadFloats(&pack->coupling[0][lane]) * change,
                        c->u[2] + loadFloats(&pack->coupling[1][lane]) * change,
                        spin + loadFloats(&torsion->coupling[lane]) * change };
    wide old = loadWide(&torsion->impulse[lane]), response[6];
    wide r[3] = { c->impulse[1], c->impulse[2], old };
    for (int k = 0; k < 6; ++k) {
        response[k] = loadFloats(&torsion->friction[k][lane]);
    }
    solveTorsion(response, u, c->frame.muStatic, c->frame.muDynamic, s->normal, r);
    c->u[0] = change;
    c->u[1] = r[0] - c->impulse[1];
    c->u[2] = r[1] - c->impulse[2];
    const wide impulse[3] = { s->normal, r[0], r[1] };
    for (int k = 0; k < 3; ++k) {
        storeWide(&pack->impulse[k][lane], impulse[k]);
        if (!isLed) {
            storeWide(&pack->total[k][lane], loadWide(&pack->total[k][lane]) + impulse[k]);
        }
    }
    storeWide(&torsion->impulse[lane], r[2]);
    if (!isLed) {
        storeWide(&torsion->total[lane], loadWide(&torsion->total[lane]) + r[2]);
    }
    twistBodies(&s->bodies, timesVec(arm * (r[2] - old), c->frame.n));
}

// The k-th packs of some strands, step by step.
TP_ALWAYS_INLINE void sweepPacks(const tpSoftness* soft, Manner manner, bool isBackward, int k,
                                 int count, Strand* strands) {
    for (int i = 0; i < count; ++i) {
        findVelocity(&strands[i], k, isBackward);
    }
    for (int i = 0; i < count; ++i) {
        if (manner.isLed) {
            leadNormal(soft, &strands[i]);
        } else {
            settleNormal(soft, &strands[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        if (manner.isTorsional) {
            findTorsion(&strands[i], manner.isLed);
        } else {
            findFriction(&strands[i], manner.isLed);
        }
    }
    for (int i = 0; i < count; ++i) {
        Strand* s = &strands[i];
        push(&s->bodies, manner.isRound, s->c.armA, s->c.armB, along(&s->c.frame, s->c.u));
    }
}

TP_ALWAYS_INLINE void sweepRun(const tpSoftSweep* sweep, const tpSoftRun* run, Manner manner,
                               bool isBackward) {
    // The nearest points of fast bodies have the last word, whose velocity others would change.
    isBackward = isBackward || run->isFast;
    for (int lane = 0; lane < tp_packWidth; lane += strandsAtOnce * W) {
        Strand strands[strandsAtOnce];
        for (int i = 0; i < strandsAtOnce; ++i) {
            strands[i].run = run;
            strands[i].first = run->packs;
            strands[i].lane = lane + i * W;
            openStrand(sweep, manner, &strands[i]);
        }
        for (int k = 0; k < run->active; ++k) {
            sweepPacks(&sweep->softness, manner, isBackward, k, strandsAtOnce, strands);
        }
        for (int i = 0; i < strandsAtOnce; ++i) {
            storeBodies(sweep, run, strands[i].lane, &strands[i].bodies);
        }
    }
}

static void leadRun(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward) {
    if (run->torsional != 0) {
        sweepRun(sweep, run, (Manner){ .isLed = true, .isTorsional = true }, isBackward);
    } else if (run->isRound) {
        sweepRun(sweep, run, (Manner){ .isLed = true, .isRound = true }, isBackward);
    } else {
        sweepRun(sweep, run, (Manner){ .isLed = true, .isRound = false }, isBackward);
    }
}

static void settleRun(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward) {
    if (run->torsional != 0) {
        sweepRun(sweep, run, (Manner){ .isLed = false, .isTorsional = true }, isBackward);
    } else if (run->isRound) {
        sweepRun(sweep, run, (Manner){ .isLed = false, .isRound = true }, isBackward);
    } else {
        sweepRun(sweep, run, (Manner){ .isLed = false, .isRound = false }, isBackward);
    }
}

#endif
