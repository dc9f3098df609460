// What is done with a run of a step in parts, W contacts at once: included by one file for each width.

// Directions and friction of W contacts.
typedef struct WideFrame {
    WideVec n, t, o;
    wide muStatic, muDynamic;
} WideFrame;

static inline WideFrame loadFrame(const tpBriskPack* pack, int lane) {
    return (WideFrame){ loadFloatVec(pack->normal[0], lane),
                        loadFloatVec(pack->tangents[0][0], lane),
                        loadFloatVec(pack->tangents[1][0], lane), loadFloats(&pack->muStatic[lane]),
                        loadFloats(&pack->muDynamic[lane]) };
}

// The pack whose frame a pack has: in flat runs that of the first, which stays in the nearest cache.
static inline const tpBriskPack* framePack(const tpBriskRun* run, const tpBriskPack* first,
                                           const tpBriskPack* pack) {
    return run->isFlat ? first : pack;
}

static inline void loadPair(const tpVelocity* lines, const tpBriskRun* run, int lane, WideLines* a,
                            WideLines* b) {
    loadLines((const double*)lines, run->bodyA + lane, a);
    loadLines((const double*)lines, run->bodyB + lane, b);
}

static inline void loadBodies(const tpBriskSweep* sweep, const tpBriskRun* run, int lane,
                              WideBodies* bodies) {
    loadPair(sweep->velocities, run, lane, &bodies->velocityA, &bodies->velocityB);
    loadLines((const double*)sweep->masses, run->bodyA + lane, &bodies->massA);
    loadLines((const double*)sweep->masses, run->bodyB + lane, &bodies->massB);
}

static inline void storeBodies(const tpBriskSweep* sweep, const tpBriskRun* run, int lane,
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

static inline void loadImpulse(const tpBriskPack* pack, int lane, wide r[3]) {
    for (int k = 0; k < 3; ++k) {
        r[k] = loadWide(&pack->impulse[k][lane]);
    }
}

// What one body gives to W: nn nt no tt to oo. `shared` are the products of the directions with each other.
static inline void addToResponse(const WideLines* body, WideVec arm, const WideFrame* frame,
                                 const wide shared[6], wide response[6]) {
    const WideVec directions[3] = { frame->n, frame->t, frame->o };
    WideVec moments[3], turns[3];
    for (int i = 0; i < 3; ++i) {
        moments[i] = crossVec(arm, directions[i]);
        turns[i] = turnedBy(body, moments[i]);
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

static void respondRun(const tpBriskSweep* sweep, const tpBriskRun* run) {
    const double* masses = (const double*)sweep->masses;
    tpBriskPack* first = &sweep->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines massA, massB;
        loadLines(masses, run->bodyA + lane, &massA);
        loadLines(masses, run->bodyB + lane, &massB);
        WideFrame frame;
        wide shared[6], zero = wideOf(0.0);
        for (tpBriskPack* pack = first; pack < first + run->count; ++pack) {
            if (pack == first || !run->isFlat) {
                frame = loadFrame(pack, lane);
                multiplyDirections(&frame, shared);
            }
            wide response[6] = { zero, zero, zero, zero, zero, zero };
            addToResponse(&massA, loadFloatVec(pack->armA[0], lane), &frame, shared, response);
            addToResponse(&massB, loadFloatVec(pack->armB[0], lane), &frame, shared, response);
            // Lanes without a contact have no response.
            wideMask isEmpty = wideGreater(wideOf(-0.5), loadInts(&pack->contact[lane]));
            for (int k = 0; k < 6; ++k) {
                response[k] = wideSelect(isEmpty, zero, response[k]);
            }
            wide stick[3], slide;
            invertFriction(response[3], response[4], response[5], stick, &slide);
            for (int k = 0; k < 3; ++k) {
                storeFloats(&pack->stick[k][lane], stick[k]);
            }
            storeFloats(&pack->slide[lane], slide);
            storeWide(&pack->inverseNormal[lane], inverseOrZero(response[0]));
            storeFloats(&pack->coupling[0][lane], response[1]);
            storeFloats(&pack->coupling[1][lane], response[2]);
            storeFloats(&pack->diagonal[0][lane], response[0]);
            storeFloats(&pack->diagonal[1][lane], response[3]);
            storeFloats(&pack->diagonal[2][lane], response[5]);
        }
    }
}

static void startRun(const tpBriskSweep* sweep, const tpBriskRun* run) {
    const tpBriskPack* first = &sweep->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweep, run, lane, &bodies);
        for (const tpBriskPack* pack = first; pack < first + run->count; ++pack) {
            WideFrame frame = loadFrame(framePack(run, first, pack), lane);
            wide impulse[3];
            loadImpulse(pack, lane, impulse);
            pushBodies(&bodies, loadFloatVec(pack->armA[0], lane),
                       loadFloatVec(pack->armB[0], lane), along(&frame, impulse));
        }
        storeBodies(sweep, run, lane, &bodies);
    }
}

// Sweeps -----------------------------------------------------------------------------------------

// Contacts at work: their arms, their velocities, their impulses.
typedef struct WideContacts {
    WideFrame frame;
    WideVec armA, armB;
    wide u[3], impulse[3];
} WideContacts;

static inline void loadContacts(const tpBriskPack* pack, const tpBriskPack* framed, int lane,
                                const WideBodies* bodies, WideContacts* c) {
    c->frame = loadFrame(framed, lane);
    c->armA = loadFloatVec(pack->armA[0], lane);
    c->armB = loadFloatVec(pack->armB[0], lane);
    speedsIn(&c->frame, relativeVelocity(&bodies->velocityA, c->armA, &bodies->velocityB, c->armB),
             c->u);
    loadImpulse(pack, lane, c->impulse);
}

// Friction after the normal impulse, which becomes `normal`; then both reach the bodies.
static inline void finishContacts(tpBriskPack* pack, int lane, WideContacts* c, wide normal,
                                  WideBodies* bodies) {
    wide change[3];
    change[0] = normal - c->impulse[0];
    wide ut = c->u[1] + loadFloats(&pack->coupling[0][lane]) * change[0];
    wide uo = c->u[2] + loadFloats(&pack->coupling[1][lane]) * change[0];
    wide rt = c->impulse[1], ro = c->impulse[2];
    const wide stick[3] = { loadFloats(&pack->stick[0][lane]), loadFloats(&pack->stick[1][lane]),
                            loadFloats(&pack->stick[2][lane]) };
    solveFriction(stick, loadFloats(&pack->slide[lane]), c->frame.muStatic, c->frame.muDynamic, ut,
                  uo, normal, &rt, &ro);
    change[1] = rt - c->impulse[1];
    change[2] = ro - c->impulse[2];
    c->impulse[0] = normal;
    c->impulse[1] = rt;
    c->impulse[2] = ro;
    for (int k = 0; k < 3; ++k) {
        storeWide(&pack->impulse[k][lane], c->impulse[k]);
    }
    pushBodies(bodies, c->armA, c->armB, along(&c->frame, change));
}

static inline void leadPack(tpBriskPack* pack, const tpBriskPack* framed, int lane,
                            const tpSoftness* soft, const WideLines* movedA,
                            const WideLines* movedB, WideBodies* bodies) {
    WideContacts c;
    loadContacts(pack, framed, lane, bodies, &c);
    WideVec moved = relativeVelocity(movedA, c.armA, movedB, c.armB);
    wide gap = loadFloats(&pack->startGap[lane]) + dotVec(moved, c.frame.n);
    storeFloats(&pack->gap[lane], gap);
    wide old = c.impulse[0];
    wideMask isOpen = wideGreater(gap, wideOf(0.0));
    wide led = wideMax(wideOf(soft->rate) * gap, wideOf(-soft->push));
    wide bias = wideSelect(isOpen, wideOf(soft->inverseTime) * gap, led);
    wide mass = wideSelect(isOpen, wideOf(1.0), wideOf(soft->mass));
    wide kept = wideSelect(isOpen, old, wideOf(1.0 - soft->impulse) * old);
    wide step = mass * ((c.u[0] + bias) * loadWide(&pack->inverseNormal[lane]));
    finishContacts(pack, lane, &c, wideMax(kept - step, wideOf(0.0)), bodies);
}

static void leadRun(const tpBriskSweep* sweep, const tpBriskRun* run, bool isBackward) {
    tpBriskPack* first = &sweep->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        WideLines movedA, movedB;
        loadBodies(sweep, run, lane, &bodies);
        loadPair(sweep->moved, run, lane, &movedA, &movedB);
        for (int k = 0; k < run->count; ++k) {
            tpBriskPack* pack = first + (isBackward ? run->count - 1 - k : k);
            leadPack(pack, framePack(run, first, pack), lane, &sweep->softness, &movedA, &movedB,
                     &bodies);
        }
        storeBodies(sweep, run, lane, &bodies);
    }
}

static void settleRun(const tpBriskSweep* sweep, const tpBriskRun* run, bool isBackward) {
    tpBriskPack* first = &sweep->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweep, run, lane, &bodies);
        for (int k = 0; k < run->count; ++k) {
            tpBriskPack* pack = first + (isBackward ? run->count - 1 - k : k);
            WideContacts c;
            loadContacts(pack, framePack(run, first, pack), lane, &bodies, &c);
            wide open = wideMax(loadFloats(&pack->gap[lane]), wideOf(0.0));
            wide step = (c.u[0] + wideOf(sweep->softness.inverseTime) * open) *
                        loadWide(&pack->inverseNormal[lane]);
            finishContacts(pack, lane, &c, wideMax(c.impulse[0] - step, wideOf(0.0)), &bodies);
            for (int i = 0; i < 3; ++i) {
                storeWide(&pack->total[i][lane], loadWide(&pack->total[i][lane]) + c.impulse[i]);
            }
        }
        storeBodies(sweep, run, lane, &bodies);
    }
}

static void bounceRun(const tpBriskSweep* sweep, const tpBriskRun* run) {
    tpBriskPack* first = &sweep->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideBodies bodies;
        loadBodies(sweep, run, lane, &bodies);
        for (tpBriskPack* pack = first; pack < first + run->count; ++pack) {
            WideContacts c;
            loadContacts(pack, framePack(run, first, pack), lane, &bodies, &c);
            wide zero = wideOf(0.0), bias = loadFloats(&pack->bounce[lane]), old = c.impulse[0];
            wide wanted = old - (c.u[0] + bias) * loadWide(&pack->inverseNormal[lane]);
            // What has carried nothing has not met yet.
            wide total = loadWide(&pack->total[0][lane]);
            bias = wideSelect(wideGreater(total, zero), bias, zero);
            storeFloats(&pack->bounce[lane], bias);
            wide normal = wideSelect(wideGreater(zero, bias), wideMax(wanted, zero), old);
            wide change[3] = { normal - old, zero, zero };
            storeWide(&pack->impulse[0][lane], normal);
            storeWide(&pack->total[0][lane], total + change[0]);
            pushBodies(&bodies, c.armA, c.armB, along(&c.frame, change));
        }
        storeBodies(sweep, run, lane, &bodies);
    }
}
