// The packs, filled run by run: which contact goes where, and what friction its materials have.
// The arithmetic is done eight contacts at once (sweeps/soft_fill_lanes.h).

#include <string.h>

#include "steppers/small_steps/step.h"

enum { runsAChunk = 32 };

// What pairs of materials have in common, for a few pairs: most scenes have no more.
enum { memoSize = 16 };

typedef struct Mixed {
    tpMaterialId a, b; // of shapes A and B; 0 and 0 at first
    bool isKnown;
    double muStatic, muDynamic, ellipse[2], restitution;
} Mixed;

typedef struct Filling {
    tpSmallStep* step;
    const tpMaterialId* materials; // of shapes
    double threshold;              // approaches slower than this do not bounce, m/s
    bool* bounces;                 // of each chunk
} Filling;

_Static_assert(offsetof(tpContact, gap) == offsetof(tpContact, pointA) + 9 * sizeof(double) &&
                   sizeof(tpContact) == offsetof(tpContact, gap) + sizeof(double),
               "points, normal and gap are read as ten numbers");

static const Mixed* mix(const Filling* filling, const tpContact* contact, Mixed* memo) {
    tpMaterialId a = filling->materials[contact->shapeA], b = filling->materials[contact->shapeB];
    Mixed* mixed = &memo[(3 * (unsigned)a + (unsigned)b) % memoSize];
    if (!mixed->isKnown || mixed->a != a || mixed->b != b) {
        tpFriction friction;
        tpSystem_MixMaterials(filling->step->system, a, b, &friction, &mixed->restitution);
        mixed->a = a;
        mixed->b = b;
        mixed->isKnown = true;
        mixed->muStatic = friction.staticCoefficient;
        mixed->muDynamic = friction.dynamicCoefficient;
        mixed->ellipse[0] = friction.ellipse[0];
        mixed->ellipse[1] = friction.ellipse[1];
    }
    return mixed;
}

static void storeVector(double (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = v.x;
    parts[1][lane] = v.y;
    parts[2][lane] = v.z;
}

// Friction of the contacts of a pack. Where one of them has an ellipse all tangents are found here.
static void setLaws(const Filling* filling, const tpContact* const* contacts, Mixed* memo,
                    tpPackSource* source) {
    source->isAligned = source->bounces = false;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        const Mixed* mixed = mix(filling, contacts[lane], memo);
        source->muStatic[lane] = mixed->muStatic;
        source->muDynamic[lane] = mixed->muDynamic;
        source->ellipse[0][lane] = mixed->ellipse[0];
        source->ellipse[1][lane] = mixed->ellipse[1];
        source->restitution[lane] = mixed->restitution;
        source->isAligned = source->isAligned || mixed->ellipse[0] != mixed->ellipse[1];
        source->bounces = source->bounces || mixed->restitution > 0.0;
    }
    for (int lane = 0; source->isAligned && lane < tp_packWidth; ++lane) {
        tpContactLaw law = tpMakeContactLaw(filling->step->system, contacts[lane]);
        storeVector(source->tangents[0], lane, law.tangents[0]);
        storeVector(source->tangents[1], lane, law.tangents[1]);
    }
}

static bool isSameFrame(const tpContact* a, const tpContact* b) {
    return a->shapeA == b->shapeA && a->shapeB == b->shapeB && a->normal.x == b->normal.x &&
           a->normal.y == b->normal.y && a->normal.z == b->normal.z;
}

static bool isRound(const tpSweepBody* body) {
    const double* j = body->inverseInertia;
    return j[0] == j[1] && j[0] == j[2] && j[3] == 0.0 && j[4] == 0.0 && j[5] == 0.0;
}

// The lanes of a run at work.
typedef struct Lanes {
    const int32_t* numbers[tp_packWidth]; // of the contacts of its pair
    int counts[tp_packWidth];
    const tpContact* contacts[tp_packWidth]; // that the present pack has, or the first
} Lanes;

// The pairs of bodies of a run; empty lanes have the bodies of the first.
static void openRun(const tpSmallStep* step, tpSoftRun* run, Lanes* lanes, tpPackSource* source) {
    const tpPose* poses = step->system->poses.data;
    run->isFlat = run->isRound = true;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        bool isUsed = lane < run->lanes;
        const tpManifold* m = &step->manifolds[step->order[run->manifold + (isUsed ? lane : 0)]];
        const int32_t* numbers = &step->kept[m->first];
        const tpContact* first = &step->contacts[numbers[0]];
        for (int k = 1; isUsed && k < m->count && run->isFlat; ++k) {
            run->isFlat = isSameFrame(first, &step->contacts[numbers[k]]);
        }
        lanes->numbers[lane] = numbers;
        lanes->counts[lane] = isUsed ? m->count : 0;
        lanes->contacts[lane] = first;
        run->isRound = run->isRound && isRound(&step->masses[first->bodyA]) &&
                       isRound(&step->masses[first->bodyB]);
        run->bodyA[lane] = first->bodyA;
        run->bodyB[lane] = first->bodyB;
        run->movesA = (uint8_t)(run->movesA | (isUsed && m->bodyA >= 0 ? 1 << lane : 0));
        run->movesB = (uint8_t)(run->movesB | (isUsed && m->bodyB >= 0 ? 1 << lane : 0));
        storeVector(source->centerA, lane, poses[first->bodyA].position);
        storeVector(source->centerB, lane, poses[first->bodyB].position);
    }
}

// The k-th contacts of all pairs, with the impulses they start from: those of the last step, spread over substeps.
static void openPack(const tpSmallStep* step, int k, Lanes* lanes, tpPackSource* source) {
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        int number = k < lanes->counts[lane] ? lanes->numbers[lane][k] : -1;
        tpVec3 impulse = tpZeroVec3();
        if (number >= 0) {
            lanes->contacts[lane] = &step->contacts[number];
            if (step->impulses != NULL) {
                impulse = tpScale(1.0 / step->substeps, step->impulses[number]);
            }
        }
        source->numbers[lane] = number;
        source->contacts[lane] = &lanes->contacts[lane]->pointA.x;
        storeVector(source->impulse, lane, impulse);
    }
}

// Returns whether a contact bounces.
static bool fillRun(const Filling* filling, tpSoftRun* run, Mixed* memo, tpPackSource* source) {
    const tpSmallStep* step = filling->step;
    Lanes lanes;
    bool bounces = false;
    openRun(step, run, &lanes, source);
    for (int k = 0; k < run->count; ++k) {
        openPack(step, k, &lanes, source);
        source->isFramed = k == 0 || !run->isFlat;
        if (source->isFramed) {
            setLaws(filling, lanes.contacts, memo, source);
        }
        tpSoftPack* pack = &step->sweep.packs[run->first + k];
        bounces = step->wide->fillPack(run, source, pack) || bounces;
    }
    step->wide->respondRun(&step->sweep, run);
    return bounces;
}

static void fillChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Filling* filling = context;
    tpSmallStep* step = filling->step;
    tpRange range = tpChunkAt(step->runCount, runsAChunk, chunk);
    Mixed memo[memoSize];
    tpPackSource source;
    memset(memo, 0, sizeof(memo));
    source.isPlanar = step->system->isPlanar;
    source.threshold = filling->threshold;
    source.starts = step->starts;
    filling->bounces[chunk] = false;
    for (int r = range.begin; r < range.end; ++r) {
        if (fillRun(filling, &step->runs[r], memo, &source)) {
            filling->bounces[chunk] = true;
        }
    }
}

bool tpSmallStep_Fill(tpSmallStep* step) {
    tpSystem* system = step->system;
    int chunks = tpChunksOf(step->runCount, runsAChunk);
    tpMaterialId* materials = TP_SCRATCH(&system->arena, tpMaterialId, system->shapes.count);
    Filling filling = { step, materials, step->settings.threshold, NULL };
    filling.threshold = fmax(filling.threshold, 2.0 * step->h * tpLength(system->gravity));
    filling.bounces = TP_SCRATCH(&system->arena, bool, chunks);
    step->sweep.packs = TP_SCRATCH(&system->arena, tpSoftPack, step->packCount);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->shapes.count; ++i) {
        materials[i] = system->shapes.data[i].material;
    }
    tpTasks_Run(system->tasks, fillChunk, &filling, chunks);
    for (int c = 0; c < chunks; ++c) {
        step->bounces = step->bounces || filling.bounces[c];
    }
    return true;
}
