// Snapshots that continue bit for bit, and the hash of a state.
//
// A snapshot is a row of bytes: a head that says what it is, then the state and everything that can
// be set about the world (snapshot_parts.c), then what the stepper keeps from step to step. It goes
// into any world of the same structure, in this process or another, under the same version of the
// library.

#include "world/snapshot.h"
#include "base/assert.h"

#include "base/error.h"
#include "dynamics/contact_info.h"
#include "dynamics/joint_types.h"
#include "dynamics/time_step.h"
#include "world/fingerprint.h"
#include "world/require.h"

typedef struct Head {
    char magic[8];
    uint32_t format;      // of what follows
    uint32_t byteOrder;   // 0x01020304 as the machine has it
    uint64_t layout;      // of the structs that steppers save
    uint64_t fingerprint; // of the world's structure
    uint64_t structure;   // the world's counter
    uint64_t size;        // of what follows the head
    uint64_t sum;         // of all other bytes
    int32_t stepper;
    int32_t isPlanar;
} Head;

static const char magic[8] = { 'T', 'I', 'P', 'P', 'E', 'S', 'N', 'P' };

struct tpSnapshot {
    tpAllocator allocator;
    size_t size;    // of this struct and the bytes
    bool isForeign; // it came as bytes: what it says may be wrong
    size_t byteCount;
};

static unsigned char* bytesOf(const tpSnapshot* snapshot) {
    return (unsigned char*)snapshot + sizeof(tpSnapshot);
}

static Head headOf(const tpSnapshot* snapshot) {
    Head head;
    memcpy(&head, bytesOf(snapshot), sizeof(head));
    return head;
}

// Changes whenever the bytes that steppers write may mean something else.
static uint64_t layoutOfStructs(void) {
    const size_t sizes[] = { sizeof(tpPose),        sizeof(tpVelocity),    sizeof(tpContact),
                             sizeof(tpContactInfo), sizeof(tpScales),      sizeof(tpContactMemory),
                             sizeof(size_t),        (size_t)tp_optionCount };
    const char* version = tpVersion();
    uint64_t hash = tpFingerprint_Add(TP_HASH_START, sizes, sizeof(sizes));
    return tpFingerprint_Add(hash, version, strlen(version));
}

// Eight bytes at a time; a change of any bit changes it.
static uint64_t sumOf(const unsigned char* bytes, size_t size) {
    uint64_t sum = TP_HASH_START ^ size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

// Of a snapshot: its head, as if the sum in it were zero, and what follows.
static uint64_t sumOfAll(Head head, const unsigned char* rest) {
    head.sum = 0;
    return sumOf((const unsigned char*)&head, sizeof(head)) ^ sumOf(rest, (size_t)head.size);
}

// Making ----------------------------------------------------------------------------------------

static tpSnapshot* wrap(const tpAllocator* allocator, const void* bytes, size_t count) {
    size_t size = sizeof(tpSnapshot) + count;
    tpSnapshot* snapshot = tpAllocate(allocator, size);
    if (snapshot != NULL) {
        memset(snapshot, 0, sizeof(*snapshot));
        snapshot->allocator = *allocator;
        snapshot->size = size;
        snapshot->byteCount = count;
        memcpy(bytesOf(snapshot), bytes, count);
    }
    return snapshot;
}

static void saveStepper(const tpWorld* world, tpArchive* archive) {
    const tpStepper* stepper = world->stepper;
    size_t size = stepper->savedSize != NULL ? stepper->savedSize(world->stepperState) : 0;
    void* place = size > 0 ? tpArchive_Grow(archive, size) : NULL;
    if (place != NULL) {
        memset(place, 0, size);
        stepper->save(world->stepperState, place);
    }
}

int tpSnapshotVersion(void) {
    return TP_SNAPSHOT_VERSION;
}

tpSnapshot* tpWorld_Snapshot(const tpWorld* constant) {
    TP_NEED(constant, NULL);
    tpWorld* world = (tpWorld*)constant; // writing only reads, but for the memory of events
    tpWorld_RememberTouches(world);
    tpWorld_KeepContactForces(world);
    tpArchive archive = { .mode = tp_archiveWrites, .allocator = &world->system.allocator };
    Head head;
    memset(&head, 0, sizeof(head));
    tpArchive_Bytes(&archive, &head, sizeof(head));
    tpWorld_Transfer(world, &archive);
    saveStepper(world, &archive);
    tpSnapshot* snapshot = NULL;
    if (!archive.isOutOfMemory) {
        memcpy(head.magic, magic, sizeof(magic));
        head.format = TP_SNAPSHOT_VERSION;
        head.byteOrder = 0x01020304u;
        head.layout = layoutOfStructs();
        head.fingerprint = tpWorld_Fingerprint(world);
        head.structure = world->system.structure;
        head.size = (uint64_t)archive.bytes.count - sizeof(head);
        head.stepper = (int32_t)world->stepperId;
        head.isPlanar = world->system.isPlanar;
        head.sum = sumOfAll(head, archive.bytes.data + sizeof(head));
        memcpy(archive.bytes.data, &head, sizeof(head));
        snapshot = wrap(&world->system.allocator, archive.bytes.data, (size_t)archive.bytes.count);
    }
    TP_FREE_ARRAY(&world->system.allocator, archive.bytes);
    return snapshot;
}

void tpDestroySnapshot(tpSnapshot* snapshot) {
    if (snapshot != NULL) {
        tpAllocator allocator = snapshot->allocator;
        tpRelease(&allocator, snapshot, snapshot->size);
    }
}

const void* tpSnapshot_GetBytes(const tpSnapshot* snapshot, size_t* size) {
    TP_NEED(snapshot, NULL);
    *size = snapshot->byteCount;
    return bytesOf(snapshot);
}

// Whether the head is that of a whole snapshot which this library can read.
static tpResult checkHead(const Head* head, const void* bytes, size_t size, tpError* error) {
    if (memcmp(head->magic, magic, sizeof(magic)) != 0) {
        return tpError_Set(error, tp_badInput, "not a snapshot of Tippe");
    }
    if (head->format != TP_SNAPSHOT_VERSION) {
        return tpError_Set(error, tp_badInput,
                           "a snapshot of format %u; this version of Tippe reads format %d",
                           (unsigned)head->format, TP_SNAPSHOT_VERSION);
    }
    if (head->byteOrder != 0x01020304u || head->layout != layoutOfStructs()) {
        return tpError_Set(error, tp_badInput,
                           "the snapshot is of another version of Tippe, or of another kind of "
                           "machine (this is version %s)",
                           tpVersion());
    }
    if (head->size != size - sizeof(*head)) {
        return tpError_Set(error, tp_badInput, "the snapshot is cut off: %zu of %zu bytes", size,
                           (size_t)head->size + sizeof(*head));
    }
    if (head->sum != sumOfAll(*head, (const unsigned char*)bytes + sizeof(*head))) {
        return tpError_Set(error, tp_badInput, "the snapshot is damaged");
    }
    return tp_success;
}

tpSnapshot* tpCreateSnapshot(const void* bytes, size_t size, const tpAllocator* allocator,
                             tpError* error) {
    if (!TP_REQUIRE(bytes != NULL || size == 0, "bytes", "is NULL")) {
        tpError_Set(error, tp_badInput, "there are no bytes");
        return NULL;
    }
    Head head;
    if (size < sizeof(head)) {
        tpError_Set(error, tp_badInput, "not a snapshot of Tippe");
        return NULL;
    }
    memcpy(&head, bytes, sizeof(head));
    if (checkHead(&head, bytes, size, error) != tp_success) {
        return NULL;
    }
    tpAllocator heap = tpDefaultAllocator();
    tpSnapshot* snapshot = wrap(allocator != NULL ? allocator : &heap, bytes, size);
    if (snapshot == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    snapshot->isForeign = true;
    return snapshot;
}

// Restoring -------------------------------------------------------------------------------------

// Puts everything back. What is wrong with the bytes shows on the way: the world is then half of
// each.
static tpResult apply(tpWorld* world, const tpSnapshot* snapshot) {
    tpSystem* system = &world->system;
    Head head = headOf(snapshot);
    // Steppers know the structure by its counter; the structure is the same, whatever was counted.
    system->structure = head.structure;
    tpArchive archive = { .mode = tp_archiveReads,
                          .allocator = &system->allocator,
                          .reader = { bytesOf(snapshot) + sizeof(head), (size_t)head.size,
                                      false } };
    tpWorld_Transfer(world, &archive);
    if (archive.isOutOfMemory) {
        return tp_outOfMemory;
    }
    bool isDone = !archive.reader.failed &&
                  (world->stepper->restore == NULL ||
                   world->stepper->restore(system, world->stepperState, &archive.reader));
    if (!isDone) {
        return archive.reader.failed ? tp_badInput : tp_outOfMemory;
    }
    tpSystem_ForgetContacts(system);
    return archive.reader.left == 0 ? tp_success : tp_badInput;
}

static bool isStateGood(const tpSystem* system) {
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpPose* pose = &system->poses.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        const tpBody* body = &system->bodies.data[i];
        bool isGood = tpIsFiniteVec3(pose->position) && tpIsUnitQuat(pose->rotation) &&
                      tpIsFiniteVec3(velocity->linear) && tpIsFiniteVec3(velocity->angular) &&
                      isfinite(body->mass) && body->mass >= 0.0 && isfinite(body->gravityScale) &&
                      body->linearDamping >= 0.0 && body->angularDamping >= 0.0;
        if (!isGood) {
            return false;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k) {
            bool isChain = tpJointType_IsChain(joint->type);
            if (tpCheckCoordinateDef(&joint->coordinates[k].def, isChain, NULL) != tp_success) {
                return false;
            }
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        if (tpCheckCouplingLaws(&system->couplings.data[i].def, NULL) != tp_success) {
            return false;
        }
    }
    return tpIsFiniteVec3(system->gravity) && isfinite(system->time);
}

tpResult tpWorld_Restore(tpWorld* world, const tpSnapshot* snapshot, tpError* error) {
    TP_NEED(world, tp_badInput);
    if (!TP_REQUIRE(snapshot != NULL, "snapshot", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no snapshot");
    }
    Head head = headOf(snapshot);
    if (head.stepper != (int32_t)world->stepperId) {
        return tpError_Set(error, tp_badInput,
                           "the snapshot is of the stepper %s, the world has %s",
                           tpStepperName((tpStepperId)head.stepper), world->stepper->name);
    }
    if (head.fingerprint != tpWorld_Fingerprint(world)) {
        return tpError_Set(
            error, tp_badInput,
            "the snapshot is of a world with other bodies, shapes, joints or forces");
    }
    uint64_t structure = world->system.structure;
    bool isWatched = world->watch.isOn;
    world->lastEnergy.isKnown = false;
    // Bytes that came from elsewhere may have a good sum and bad contents: go back then.
    tpSnapshot* before = snapshot->isForeign ? tpWorld_Snapshot(world) : NULL;
    if (snapshot->isForeign && before == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = apply(world, snapshot);
    if (result == tp_success && snapshot->isForeign && !isStateGood(&world->system)) {
        result = tp_badInput;
    }
    if (result != tp_success && before != NULL) {
        apply(world, before);
    }
    if (result == tp_success) {
        world->watch.isOn = world->watch.isOn || isWatched;
        world->watch.events.count = 0;
    }
    // The counter never goes back to a number that users have seen for another structure. It counts
    // modulo 2^64: bytes from elsewhere may have any number.
    world->structureShift +=
        structure - world->system.structure + (world->system.structure != structure ? 1u : 0u);
    tpDestroySnapshot(before);
    return result == tp_success    ? tp_success
           : result == tp_badInput ? tpError_Set(error, result, "the snapshot is damaged")
                                   : tpError_OutOfMemory(error);
}

// FNV-1a over the bytes of the numbers.
static uint64_t hashNumbers(uint64_t hash, const double* numbers, int count) {
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof(bits));
        for (int k = 0; k < 8; ++k) {
            hash ^= (bits >> (8 * k)) & 0xffu;
            hash *= UINT64_C(1099511628211);
        }
    }
    return hash;
}

uint64_t tpWorld_HashState(const tpWorld* world) {
    TP_NEED(world, 0);
    const tpSystem* system = &world->system;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < system->bodyCount; ++i) {
        tpVec3 x = system->poses.data[i].position;
        tpQuat q = system->poses.data[i].rotation;
        tpVec3 v = system->velocities.data[i].linear;
        tpVec3 w = system->velocities.data[i].angular;
        const double numbers[13] = {
            x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z
        };
        hash = hashNumbers(hash, numbers, 13);
    }
    return hash;
}
