#include "dynamics/least_norm.h"

#include <string.h>

#include "base/forest.h"
#include "dynamics/contact_info.h"
#include "dynamics/rows.h"

// Larger islands are left alone: the effort grows with their contacts and bodies. Steps towards the
// least norm, each of which ends at the cone of a contact or at the end.
enum { mostContacts = 256, maxRounds = 12 };

// Lists longer than this are those of crowds.
enum { longestList = 2048 };

// A contact is closed below this gap, m, while it opens no faster than this, m/s.
static const double closedGap = 1e-8, closedSpeed = 1e-7;

// The sums on bodies are kept to this part of themselves; an island in which that fails is left.
static const double wanted = 1e-14, enough = 1e-11;

enum { mostColumns = 6, bodyNumbers = 6 };

// A contact as columns: what a unit of each of its numbers does to body A, and to B in opposition.
typedef struct tpSpread {
    int info;         // place in the list
    int bodyA, bodyB; // places in the island, or -1
    int columnCount;  // 1: it slides, or has no friction
    bool slides;      // friction goes with the load
    bool isFrozen;    // at the limit of its cone, or not to be touched
    double mu;        // of the numbers behind the first
    tpVec3 force[mostColumns], moment[mostColumns];
    double given[mostColumns], numbers[mostColumns], aim[mostColumns];
    double onA[mostColumns][bodyNumbers], onB[mostColumns][bodyNumbers];
} tpSpread;

typedef struct tpSpreadIsland {
    tpSystem* system;
    tpSpread* contacts;
    int contactCount;
    int bodyCount;
    double *residual, *direction, *image; // bodyNumbers each
} tpSpreadIsland;

static int bodyOf(tpBodyId id) {
    return (int)id.slot - 1;
}

// Forces and moments, the latter over the body's radius of gyration so that both count alike.
static void actOn(const tpSystem* system, int body, tpVec3 point, tpVec3 force, tpVec3 moment,
                  double sign, double* out) {
    const tpBody* b = &system->bodies.data[body];
    tpMat33 inverse = tpSystem_InverseInertia(system, body);
    double turns = (inverse.cx.x + inverse.cy.y + inverse.cz.z) / 3.0;
    double perRadius = sqrt(turns / b->inverseMass);
    tpVec3 arm = tpSub(point, system->poses.data[body].position);
    tpVec3 torque = tpScale(sign * perRadius, tpAdd(moment, tpCross(arm, force)));
    tpVec3 push = tpScale(sign, force);
    const double all[bodyNumbers] = { push.x, push.y, push.z, torque.x, torque.y, torque.z };
    memcpy(out, all, sizeof(all));
}

static void addColumn(tpSpread* spread, tpVec3 force, tpVec3 moment, double number) {
    int k = spread->columnCount++;
    spread->force[k] = force;
    spread->moment[k] = moment;
    spread->numbers[k] = spread->given[k] = number;
}

// A contact that slides has one number, its load: friction and moments go with it.
static void describeSliding(const tpContactInfo* info, tpSpread* spread) {
    double part = 1.0 / info->normalImpulse;
    tpVec3 force = tpMulAdd(info->normal, part, info->frictionImpulse);
    tpVec3 moment =
        tpMulAdd(tpScale(part, info->rollingImpulse), part * info->torsionalImpulse, info->normal);
    addColumn(spread, force, moment, info->normalImpulse);
}

static void describeSticking(const tpContactInfo* info, const tpContactLaw* law, bool isPlanar,
                             tpSpread* spread) {
    addColumn(spread, info->normal, tpZeroVec3(), info->normalImpulse);
    if (!(law->mu > 0.0)) {
        return;
    }
    double squares = 0.0;
    for (int k = 0; k < (isPlanar ? 1 : 2); ++k) {
        double e = law->ellipse[k];
        tpVec3 tangent = tpScale(e, law->tangents[k]);
        addColumn(spread, tangent, tpZeroVec3(),
                  tpDot(info->frictionImpulse, law->tangents[k]) / e);
    }
    if (law->arm > 0.0 && !isPlanar) {
        addColumn(spread, tpZeroVec3(), tpScale(law->arm, info->normal),
                  info->torsionalImpulse / law->arm);
    }
    for (int k = 0; law->rollingArm > 0.0 && !isPlanar && k < 2; ++k) {
        addColumn(spread, tpZeroVec3(), tpScale(law->rollingArm, law->tangents[k]),
                  tpDot(info->rollingImpulse, law->tangents[k]) / law->rollingArm);
    }
    for (int k = 1; k < spread->columnCount; ++k) {
        squares += spread->numbers[k] * spread->numbers[k];
    }
    // Static friction may have held more than the dynamic one would.
    double load = info->normalImpulse;
    spread->mu = load > 0.0 ? fmax(law->mu, sqrt(squares) / load) : law->mu;
}

// False: the contact carries nothing and is not to.
static bool describe(const tpSystem* system, const tpContactInfo* info, const int* places,
                     tpSpread* spread) {
    memset(spread, 0, sizeof(*spread));
    tpContact contact = tpContactInfo_Contact(info);
    tpContactLaw law = tpMakeContactLaw(system, &contact);
    int bodyA = bodyOf(info->bodyA), bodyB = bodyOf(info->bodyB);
    tpVec3 velocity = tpSub(tpSystem_PointVelocity(system, bodyA, info->point),
                            tpSystem_PointVelocity(system, bodyB, info->point));
    bool isLoaded = info->normalImpulse > 0.0;
    bool isClosed = info->gap <= closedGap * system->units.length &&
                    fabs(tpDot(velocity, info->normal)) <= closedSpeed * system->units.speed;
    if (!isLoaded && !isClosed) {
        return false;
    }
    spread->bodyA = tpSystem_IsDynamic(system, bodyA) ? places[bodyA] : -1;
    spread->bodyB = tpSystem_IsDynamic(system, bodyB) ? places[bodyB] : -1;
    bool slides = info->slidingSpeed > TP_STICKING_SPEED * system->units.speed;
    spread->slides = slides;
    if (slides && !isLoaded) {
        return false;
    }
    if (slides) {
        describeSliding(info, spread);
    } else {
        describeSticking(info, &law, system->isPlanar, spread);
    }
    spread->isFrozen = law.stiffness > 0.0 || info->collisionCount > 0;
    for (int k = 0; k < spread->columnCount; ++k) {
        if (spread->bodyA >= 0) {
            actOn(system, bodyA, info->point, spread->force[k], spread->moment[k], 1.0,
                  spread->onA[k]);
        }
        if (spread->bodyB >= 0) {
            actOn(system, bodyB, info->point, spread->force[k], spread->moment[k], -1.0,
                  spread->onB[k]);
        }
    }
    return true;
}

// Adds what the numbers do to the bodies.
static void push(const tpSpread* spread, const double* numbers, double* bodies) {
    for (int k = 0; k < spread->columnCount; ++k) {
        for (int i = 0; i < bodyNumbers; ++i) {
            if (spread->bodyA >= 0) {
                bodies[bodyNumbers * spread->bodyA + i] += numbers[k] * spread->onA[k][i];
            }
            if (spread->bodyB >= 0) {
                bodies[bodyNumbers * spread->bodyB + i] += numbers[k] * spread->onB[k][i];
            }
        }
    }
}

// The transposed of `push`, number k.
static double pull(const tpSpread* spread, int k, const double* bodies) {
    double sum = 0.0;
    for (int i = 0; i < bodyNumbers; ++i) {
        sum +=
            spread->bodyA >= 0 ? spread->onA[k][i] * bodies[bodyNumbers * spread->bodyA + i] : 0.0;
        sum +=
            spread->bodyB >= 0 ? spread->onB[k][i] * bodies[bodyNumbers * spread->bodyB + i] : 0.0;
    }
    return sum;
}

static double square(const double* x, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * x[i];
    }
    return sum;
}

// The numbers of least norm with the same sums, into `aim`, by conjugate gradients on A A' y = A x
// (Craig's method: x = A' y is of least norm at the end). False if they do not get there.
static bool findAim(tpSpreadIsland* island) {
    int n = bodyNumbers * island->bodyCount;
    size_t bytes = sizeof(double) * (size_t)n;
    memset(island->residual, 0, bytes);
    for (int c = 0; c < island->contactCount; ++c) {
        tpSpread* spread = &island->contacts[c];
        memset(spread->aim, 0, sizeof(spread->aim));
        if (!spread->isFrozen) {
            push(spread, spread->numbers, island->residual);
        }
    }
    memcpy(island->direction, island->residual, bytes);
    double start = square(island->residual, n), left = start;
    for (int k = 0; k < 4 * n + 20 && left > wanted * wanted * start; ++k) {
        double length = 0.0;
        memset(island->image, 0, bytes);
        for (int c = 0; c < island->contactCount; ++c) {
            const tpSpread* spread = &island->contacts[c];
            double pulled[mostColumns];
            for (int i = 0; !spread->isFrozen && i < spread->columnCount; ++i) {
                pulled[i] = pull(spread, i, island->direction);
                length += pulled[i] * pulled[i];
            }
            if (!spread->isFrozen) {
                push(spread, pulled, island->image);
            }
        }
        if (!(length > 0.0)) {
            break;
        }
        double way = left / length;
        for (int c = 0; c < island->contactCount; ++c) {
            tpSpread* spread = &island->contacts[c];
            for (int i = 0; !spread->isFrozen && i < spread->columnCount; ++i) {
                spread->aim[i] += way * pull(spread, i, island->direction);
            }
        }
        for (int i = 0; i < n; ++i) {
            island->residual[i] -= way * island->image[i];
        }
        double now = square(island->residual, n);
        for (int i = 0; i < n; ++i) {
            island->direction[i] = island->residual[i] + now / left * island->direction[i];
        }
        left = now;
    }
    return left <= enough * enough * start;
}

// Whether a contact's numbers are in its cone after a part of the way.
static bool isInside(const tpSpread* spread, double part) {
    double load = spread->numbers[0] + part * (spread->aim[0] - spread->numbers[0]), sum = 0.0;
    for (int k = 1; k < spread->columnCount; ++k) {
        double x = spread->numbers[k] + part * (spread->aim[k] - spread->numbers[k]);
        sum += x * x;
    }
    return load >= 0.0 && sum <= spread->mu * spread->mu * load * load;
}

// The part of the way to the aim that a contact can go.
static double reach(const tpSpread* spread) {
    if (spread->isFrozen || isInside(spread, 1.0)) {
        return 1.0;
    }
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 60; ++k) {
        double middle = 0.5 * (low + high);
        low = isInside(spread, middle) ? middle : low;
        high = low == middle ? high : middle;
    }
    return low;
}

// Goes towards the least norm as far as all cones allow, freezes what stopped it, and goes on.
static bool spreadIsland(tpSpreadIsland* island) {
    for (int round = 0; round < maxRounds; ++round) {
        if (!findAim(island)) {
            return round > 0;
        }
        double part = 1.0;
        for (int c = 0; c < island->contactCount; ++c) {
            part = fmin(part, reach(&island->contacts[c]));
        }
        bool isDone = part == 1.0;
        for (int c = 0; c < island->contactCount; ++c) {
            tpSpread* spread = &island->contacts[c];
            bool stops = !isDone && reach(spread) <= part;
            for (int k = 0; !spread->isFrozen && k < spread->columnCount; ++k) {
                spread->numbers[k] += part * (spread->aim[k] - spread->numbers[k]);
            }
            spread->isFrozen = spread->isFrozen || stops;
        }
        if (isDone) {
            break;
        }
    }
    return true;
}

static void write(const tpSystem* system, const tpSpread* spread, tpContactInfo* info) {
    if (spread->slides) {
        double part = spread->numbers[0] / info->normalImpulse;
        info->frictionImpulse = tpScale(part, info->frictionImpulse);
        info->rollingImpulse = tpScale(part, info->rollingImpulse);
        info->torsionalImpulse *= part;
        info->normalImpulse = spread->numbers[0];
        return;
    }
    // By differences: friction that is not quite across the normal stays what it is.
    info->normalImpulse = spread->numbers[0];
    for (int k = 1; k < spread->columnCount; ++k) {
        double change = spread->numbers[k] - spread->given[k];
        info->frictionImpulse = tpMulAdd(info->frictionImpulse, change, spread->force[k]);
        double turn = tpDot(spread->moment[k], info->normal);
        info->torsionalImpulse += change * turn;
        tpVec3 roll = tpMulAdd(spread->moment[k], -turn, info->normal);
        info->rollingImpulse = tpMulAdd(info->rollingImpulse, change, roll);
    }
    info->state = tpContactInfo_StateOf(info, system->units.speed);
}

// Islands ---------------------------------------------------------------------------------------

// The island of a contact: the root of its first dynamic body, or -1.
static int islandOf(const tpSystem* system, int* parents, const tpContactInfo* info) {
    int bodyA = bodyOf(info->bodyA), bodyB = bodyOf(info->bodyB);
    int body = tpSystem_IsDynamic(system, bodyA)   ? bodyA
               : tpSystem_IsDynamic(system, bodyB) ? bodyB
                                                   : -1;
    return body >= 0 ? tpForest_Root(parents, body) : -1;
}

// The contacts of one island: from `first` on all that share its root. Writes what it finds.
static void spreadFrom(tpSystem* system, tpContactInfo* contacts, int count, int first,
                       int* parents, int* places) {
    tpArena* arena = &system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    int root = islandOf(system, parents, &contacts[first]), all = 0, bodies = 0;
    for (int i = first; i < count; ++i) {
        all += islandOf(system, parents, &contacts[i]) == root ? 1 : 0;
    }
    // One contact has nothing to share.
    if (all < 2 || all > mostContacts) {
        return;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isIn = tpSystem_IsDynamic(system, i) && tpForest_Root(parents, i) == root;
        places[i] = isIn ? bodies++ : -1;
    }
    size_t numbers = (size_t)(bodyNumbers * bodies);
    tpSpreadIsland island = { .system = system,
                              .contacts = TP_SCRATCH(arena, tpSpread, all),
                              .bodyCount = bodies,
                              .residual = TP_SCRATCH(arena, double, numbers),
                              .direction = TP_SCRATCH(arena, double, numbers),
                              .image = TP_SCRATCH(arena, double, numbers) };
    bool isDone = !arena->failed;
    for (int i = first; isDone && i < count; ++i) {
        if (islandOf(system, parents, &contacts[i]) == root &&
            describe(system, &contacts[i], places, &island.contacts[island.contactCount])) {
            island.contacts[island.contactCount++].info = i;
        }
    }
    isDone = isDone && spreadIsland(&island);
    for (int c = 0; isDone && c < island.contactCount; ++c) {
        write(system, &island.contacts[c], &contacts[island.contacts[c].info]);
    }
    tpArena_Release(arena, mark);
}

void tpSystem_SpreadImpulses(tpSystem* system, tpContactInfo* contacts, int count) {
    if (count > longestList) {
        return;
    }
    tpArena* arena = &system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    int* parents = TP_SCRATCH(arena, int, system->bodyCount);
    int* places = TP_SCRATCH(arena, int, system->bodyCount);
    bool* isDone = TP_SCRATCH_ZEROED(arena, bool, system->bodyCount);
    if (!arena->failed) {
        for (int i = 0; i < system->bodyCount; ++i) {
            parents[i] = i;
        }
        for (int i = 0; i < count; ++i) {
            int bodyA = bodyOf(contacts[i].bodyA), bodyB = bodyOf(contacts[i].bodyB);
            if (tpSystem_IsDynamic(system, bodyA) && tpSystem_IsDynamic(system, bodyB)) {
                parents[tpForest_Root(parents, bodyA)] = tpForest_Root(parents, bodyB);
            }
        }
        for (int i = 0; i < count; ++i) {
            int root = islandOf(system, parents, &contacts[i]);
            if (root >= 0 && !isDone[root]) {
                isDone[root] = true;
                spreadFrom(system, contacts, count, i, parents, places);
            }
        }
    }
    tpArena_Release(arena, mark);
}
