// Bodies of a mechanism from one writing of its rows to the next: their masses where they are, how
// they would fly, where they land, and how corrections move them. Bodies of a tree go four at once
// (flights.h); what a kernel leaves is done here, one by one.

#include <string.h>

#include "dynamics/locks.h"
#include "steppers/small_steps/flights.h"

// Below this turning is as good as none, rad per step.
static const double noTurn = 1e-3;

// Axes and directions without inertia count as this much of the body's own.
static const double noInertia = 1e9;

// A flight over less than this is known by its beginning, rad: what it misses is of third order.
static const double shortTurn = 0.1;

static void setMass(const tpSystem* system, const tpPose* poses, int index, tpNodeMass* mass) {
    const tpBody* body = &system->bodies.data[index];
    memset(mass, 0, sizeof(*mass));
    tpInertia inertia = body->form->inertia;
    double largest = fmax(tpMaxPart(inertia.moments), body->mass * body->size * body->size);
    double none = noInertia * (largest > 0.0 ? largest : body->mass);
    inertia.moments.x = inertia.moments.x > 0.0 ? inertia.moments.x : none;
    inertia.moments.y = inertia.moments.y > 0.0 ? inertia.moments.y : none;
    inertia.moments.z = inertia.moments.z > 0.0 ? inertia.moments.z : none;
    tpMat33 world = tpInertia_World(&inertia, poses[index].rotation);
    const tpVec3 columns[3] = { world.cx, world.cy, world.cz };
    tpVec3 ones = tpMakeVec3(1.0, 1.0, 1.0);
    tpVec3 linear = tpLocks_Linear(body->locked, ones),
           angular = tpLocks_Angular(body->locked, ones);
    double isMoved = tpSystem_IsDynamic(system, index) ? 1.0 : 0.0;
    double inSpace = system->isPlanar ? 0.0 : isMoved;
    const double free[6] = { isMoved * linear.x,  isMoved * linear.y,  inSpace * linear.z,
                             inSpace * angular.x, inSpace * angular.y, isMoved * angular.z };
    memcpy(mass->free, free, sizeof(free));
    for (int k = 0; k < 3; ++k) {
        mass->mass[k] = free[k] > 0.0 ? body->mass : 1.0;
        const double column[3] = { columns[k].x, columns[k].y, columns[k].z };
        for (int j = 0; j < 3; ++j) {
            bool isFree = free[3 + k] > 0.0 && free[3 + j] > 0.0;
            mass->inertia[3 * k + j] = isFree ? column[j] : k == j ? 1.0 : 0.0;
        }
    }
}

// The mass of a body of a tree, which is free.
static void setFreeMass(const tpSmallStep* step, const tpArticulation* articulation, int node) {
    const tpBody* body = &step->system->bodies.data[articulation->bodies[node]];
    tpNodeMass* mass = &articulation->masses[node];
    for (int k = 0; k < 3; ++k) {
        mass->mass[k] = body->mass;
        mass->free[k] = mass->free[3 + k] = 1.0;
    }
}

static void setLane(const tpSmallStep* step, const tpArticulation* articulation, int i, int lane,
                    tpFlightPack* pack) {
    int body = articulation->bodies[i];
    const tpInertia* inertia = &step->system->bodies.data[body].form->inertia;
    tpVec3 I = inertia->moments, inverse = inertia->inverseMoments;
    pack->moments[0][lane] = I.x;
    pack->moments[1][lane] = I.y;
    pack->moments[2][lane] = I.z;
    pack->ratios[0][lane] = (I.y - I.z) * inverse.x;
    pack->ratios[1][lane] = (I.z - I.x) * inverse.y;
    pack->ratios[2][lane] = (I.x - I.y) * inverse.z;
    pack->principal[0][lane] = inertia->principal.w;
    pack->principal[1][lane] = inertia->principal.x;
    pack->principal[2][lane] = inertia->principal.y;
    pack->principal[3][lane] = inertia->principal.z;
    pack->isEven[lane] = inertia->isIsotropic ? 1.0 : 0.0;
    pack->tumbles[lane] = tpSystem_IsTumbling(step->system, body) ? 1.0 : 0.0;
    pack->mass[lane] = step->system->bodies.data[body].mass;
    pack->left |= I.x > 0.0 && I.y > 0.0 && I.z > 0.0 ? 0u : 1u << lane;
}

// How much a body turns by a force at its end.
static void setEase(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    const tpBody* body = &step->system->bodies.data[articulation->bodies[i]];
    tpVec3 inverse = body->form->inertia.inverseMoments;
    double most = tpMaxPart(inverse), least = fmin(inverse.x, fmin(inverse.y, inverse.z));
    articulation->flights[i].ease = body->size * (inverse.x + inverse.y + inverse.z - most - least);
}

void tpFlights_Pack(const tpSmallStep* step, tpArticulation* articulation) {
    int nodes = articulation->isTree ? articulation->tree.nodeCount : 0;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        setEase(step, articulation, i);
    }
    for (int i = 0; i < nodes; ++i) {
        setFreeMass(step, articulation, i);
        articulation->tree.nodes[i].mass = articulation->masses[i].mass[0];
    }
    for (int p = 0; p < tpFlights_PackCount(nodes); ++p) {
        int first = p * tp_flightPackWidth, rest = nodes - first;
        tpFlightPack* pack = &articulation->flightPacks[p];
        pack->count = rest < tp_flightPackWidth ? rest : tp_flightPackWidth;
        pack->left = 0;
        pack->flights = &articulation->flights[first];
        pack->masses = &articulation->masses[first];
        pack->nodes = &articulation->tree.nodes[first];
        for (int lane = 0; lane < tp_flightPackWidth; ++lane) {
            setLane(step, articulation, first + tpFlightPack_Lane(pack, lane), lane, pack);
        }
    }
}

void tpFlights_Follow(const tpSmallStep* step, tpArticulation* articulation) {
    int nodes = articulation->isTree ? articulation->tree.nodeCount : 0;
    for (int p = 0; p < tpFlights_PackCount(nodes); ++p) {
        tpFlightPack* pack = &articulation->flightPacks[p];
        for (int lane = 0; lane < tp_flightPackWidth; ++lane) {
            int i = p * tp_flightPackWidth + tpFlightPack_Lane(pack, lane);
            int body = articulation->bodies[i], number = numberOf(articulation, i);
            pack->starts[lane] = &step->system->poses.data[body];
            pack->poses[lane] = &step->joints->poses[body];
            pack->velocities[lane] = &step->velocities[number];
            pack->moved[lane] = &step->moved[number];
            double kick[6];
            readVelocity(&step->kicks[number], kick);
            for (int k = 0; k < 6; ++k) {
                pack->kick[k][lane] = kick[k];
            }
        }
    }
}

// A flight that is not known by its beginning, from here on.
static void openLongFlight(const tpSmallStep* step, tpArticulation* articulation, int i) {
    int substeps = articulation->span;
    tpNodeFlight* flight = &articulation->flights[i];
    tpVec3 velocity = flight->velocity;
    flight->rotation = flight->start.rotation;
    tpSystem_Rotate(step->system, articulation->bodies[i], substeps * step->substepTime,
                    &flight->rotation, &velocity);
    flight->change = tpScale(1.0 / substeps, tpSub(velocity, flight->velocity));
}

// A body that is not for the kernels.
static void openNode(const tpSmallStep* step, tpArticulation* articulation, int i) {
    int body = articulation->bodies[i], number = numberOf(articulation, i);
    tpNodeFlight* flight = &articulation->flights[i];
    setMass(step->system, step->joints->poses, body, &articulation->masses[i]);
    flight->start = step->joints->poses[body];
    flight->moved = articulation->isOpen ? step->moved[number].angular : tpZeroVec3();
    flight->velocity = step->velocities[number].angular;
    flight->change = tpZeroVec3();
    // For a slow one the change is far below what contacts and rows do.
    flight->isTumbling =
        step->h * tpLength(flight->velocity) > noTurn && tpSystem_IsTumbling(step->system, body);
    flight->isShort = false;
    if (flight->isTumbling) {
        articulation->isTumbling = true;
        openLongFlight(step, articulation, i);
    }
}

// The same of a body of a tree.
static void openTreeNode(const tpSmallStep* step, tpArticulation* articulation, int i) {
    openNode(step, articulation, i);
    const double* inertia = articulation->masses[i].inertia;
    const double six[6] = {
        inertia[0], inertia[4], inertia[8], inertia[1], inertia[2], inertia[5]
    };
    memcpy(articulation->tree.nodes[i].inertia, six, sizeof(six));
}

// What was found of one body goes to its lane.
static void readBack(const tpArticulation* articulation, int i, int lane, tpFlightPack* pack) {
    tpVec3 change = articulation->flights[i].change;
    for (int k = 0; k < 6; ++k) {
        pack->inertia[k][lane] = articulation->tree.nodes[i].inertia[k];
    }
    pack->change[0][lane] = change.x;
    pack->change[1][lane] = change.y;
    pack->change[2][lane] = change.z;
}

static void openTreeNodes(const tpSmallStep* step, tpArticulation* articulation) {
    const tpFlightKernels* kernels = step->joints->flights;
    tpFlightTimes times = { .substep = step->substepTime,
                            .untilRows = articulation->span * step->substepTime,
                            .step = step->h,
                            .leastTurn = noTurn,
                            .mostTurn = shortTurn,
                            .isOpen = articulation->isOpen };
    for (int p = 0; p < tpFlights_PackCount(articulation->tree.nodeCount); ++p) {
        tpFlightPack* pack = &articulation->flightPacks[p];
        unsigned tumbling, isShort;
        kernels->open(pack, &times, &tumbling, &isShort);
        articulation->isTumbling = articulation->isTumbling || (tumbling & ~pack->left) != 0;
        for (int lane = 0; lane < pack->count; ++lane) {
            pack->flights[lane].isTumbling = (tumbling >> lane & 1) != 0;
            pack->flights[lane].isShort = (isShort >> lane & 1) != 0;
            if (pack->left >> lane & 1) {
                openTreeNode(step, articulation, tp_flightPackWidth * p + lane);
                readBack(articulation, tp_flightPackWidth * p + lane, lane, pack);
            } else if ((tumbling & ~isShort) >> lane & 1) {
                openLongFlight(step, articulation, tp_flightPackWidth * p + lane);
                readBack(articulation, tp_flightPackWidth * p + lane, lane, pack);
            }
        }
    }
}

void tpArticulation_OpenNodes(const tpSmallStep* step, tpArticulation* articulation) {
    int count = articulation->solver.nodeCount;
    articulation->isTumbling = false;
    if (articulation->isTree) {
        openTreeNodes(step, articulation);
        return;
    }
    for (int i = 0; i < count; ++i) {
        openNode(step, articulation, i);
    }
}

// The end of a short flight. With w' the change per substep and n substeps the displacement of free
// flight, n tau w + n (n + 1) tau w' / 2 as substeps add it up, is a rotation by n tau w + n^2 tau
// w' / 2; momentum is what it was and what impulses have added.
static void landShortly(const tpSmallStep* step, const tpArticulation* articulation, int i,
                        tpVec3 way) {
    double count = articulation->finished, tau = step->substepTime;
    int body = articulation->bodies[i], number = numberOf(articulation, i);
    const tpNodeFlight* flight = &articulation->flights[i];
    tpPose* pose = &step->joints->poses[body];
    tpVec3* velocity = &step->velocities[number].angular;
    pose->rotation =
        tpTurnOn(tpMulAdd(way, -0.5 * count * tau, flight->change), flight->start.rotation);
    tpVec3 momentum =
        tpNodeMass_Spin(&articulation->masses[i], tpMulAdd(*velocity, -count, flight->change));
    *velocity = tpInertia_Velocity(&step->system->bodies.data[body].form->inertia, pose->rotation,
                                   momentum);
}

// The pose of a body at the end of the displacements since rows were written. A tumbling body turns
// as in free flight, and beyond that by what impulses have added; its angular momentum is that of
// free flight and what they have added (see bodies.c).
static void landNode(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    double count = articulation->finished, tau = step->substepTime;
    int body = articulation->bodies[i], number = numberOf(articulation, i);
    const tpNodeFlight* flight = &articulation->flights[i];
    tpPose* pose = &step->joints->poses[body];
    tpVec3 way = tpSub(step->moved[number].angular, flight->moved);
    pose->position = tpAdd(step->system->poses.data[body].position, step->moved[number].linear);
    if (!flight->isTumbling) {
        pose->rotation = tpTurnOn(way, flight->start.rotation);
        return;
    }
    if (flight->isShort) {
        landShortly(step, articulation, i, way);
        return;
    }
    const tpInertia* inertia = &step->system->bodies.data[body].form->inertia;
    tpVec3* velocity = &step->velocities[number].angular;
    tpVec3 free = tpMulAdd(flight->velocity, count, flight->change);
    tpVec3 drift = tpMulAdd(tpScale(count * tau, flight->velocity),
                            0.5 * count * (count + 1.0) * tau, flight->change);
    tpVec3 momentum =
        tpAdd(tpInertia_Momentum(inertia, flight->rotation, free),
              tpInertia_Momentum(inertia, flight->start.rotation, tpSub(*velocity, free)));
    pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpSub(way, drift)), flight->rotation));
    if (step->system->bodies.data[body].locked == 0) {
        *velocity = tpInertia_Velocity(inertia, pose->rotation, momentum);
    }
}

void tpArticulation_Land(const tpSmallStep* step, const tpArticulation* articulation) {
    if (!articulation->isTree) {
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            landNode(step, articulation, i);
        }
        return;
    }
    for (int p = 0; p < tpFlights_PackCount(articulation->tree.nodeCount); ++p) {
        unsigned left = step->joints->flights->land(&articulation->flightPacks[p],
                                                    step->substepTime, articulation->finished);
        for (int lane = 0; left >> lane != 0; ++lane) {
            if (left >> lane & 1) {
                landNode(step, articulation, tp_flightPackWidth * p + lane);
            }
        }
    }
}

static void shiftNode(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    tpVelocity by;
    writeVelocity(&articulation->shifts[6 * i], &articulation->masses[i], &by);
    tpPose* pose = &step->joints->poses[articulation->bodies[i]];
    pose->position = tpAdd(pose->position, by.linear);
    pose->rotation = tpTurnOn(by.angular, pose->rotation);
}

void tpArticulation_Shift(const tpSmallStep* step, const tpArticulation* articulation) {
    int packs = articulation->isTree ? tpFlights_PackCount(articulation->tree.nodeCount) : 0;
    for (int i = 0; !articulation->isTree && i < articulation->solver.nodeCount; ++i) {
        shiftNode(step, articulation, i);
    }
    for (int p = 0; p < packs; ++p) {
        int first = tp_flightPackWidth * p;
        unsigned left = step->joints->flights->shift(&articulation->flightPacks[p],
                                                     &articulation->shifts[6 * first]);
        for (int lane = 0; left >> lane != 0; ++lane) {
            if (left >> lane & 1) {
                shiftNode(step, articulation, first + lane);
            }
        }
    }
}

void tpArticulation_SpeedUp(const tpSmallStep* step, const tpArticulation* articulation,
                            double rate) {
    // All directions of a body of a tree are free.
    static const double whole[6] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        const double* six = &articulation->shifts[6 * i];
        const double* free = articulation->isTree ? whole : articulation->masses[i].free;
        tpVelocity* v = &step->velocities[numberOf(articulation, i)];
        v->linear.x += rate * (free[0] * six[0]);
        v->linear.y += rate * (free[1] * six[1]);
        v->linear.z += rate * (free[2] * six[2]);
        v->angular.x += rate * (free[3] * six[3]);
        v->angular.y += rate * (free[4] * six[4]);
        v->angular.z += rate * (free[5] * six[5]);
    }
}

const tpFlightKernels* tpGetFlightKernels(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width >= 4 && tpHasWidth(4)) {
        return &tp_avx2FlightKernels;
    }
#endif
    (void)width;
    return &tp_plainFlightKernels;
}
