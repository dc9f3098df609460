// The connected parts of a surface. A part that is inside out is a cavity when another part is
// around it; otherwise it is a mistake.

#include "base/error.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

typedef struct MeshPart {
    double volume; // negative: inside out
    tpBounds bounds;
    int32_t triangle; // one of its triangles
} MeshPart;

typedef struct Parts {
    const tpMesh* mesh;
    TP_ARRAY(MeshPart) parts;
    TP_ARRAY(int32_t) order; // triangles in the order in which they were reached
    bool* reached;           // [triangleCount]
} Parts;

static tpBounds triangleBounds(const tpMesh* mesh, int32_t i) {
    const int32_t* t = mesh->triangles[i];
    tpVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
    return (tpBounds){ tpMinVec3(a, tpMinVec3(b, c)), tpMaxVec3(a, tpMaxVec3(b, c)) };
}

// The part of triangle `start`, by going from neighbour to neighbour.
static MeshPart followPart(Parts* self, int32_t start) {
    const tpMesh* mesh = self->mesh;
    tpVec3 origin = mesh->vertices[mesh->triangles[start][0]];
    MeshPart part = { 0.0, triangleBounds(mesh, start), start };
    int next = self->order.count;
    self->order.data[self->order.count++] = start;
    self->reached[start] = true;
    for (; next < self->order.count; ++next) {
        int32_t i = self->order.data[next];
        const int32_t* t = mesh->triangles[i];
        tpVec3 a = tpSub(mesh->vertices[t[0]], origin), b = tpSub(mesh->vertices[t[1]], origin);
        part.volume += tpDot(a, tpCross(b, tpSub(mesh->vertices[t[2]], origin))) / 6.0;
        part.bounds = tpUniteBounds(part.bounds, triangleBounds(mesh, i));
        for (int k = 0; k < 3; ++k) {
            int32_t neighbor = mesh->neighbors[i][k];
            if (!self->reached[neighbor]) {
                self->reached[neighbor] = true;
                self->order.data[self->order.count++] = neighbor;
            }
        }
    }
    return part;
}

static bool isAround(const tpBounds* outer, const tpBounds* inner) {
    return outer->lower.x <= inner->lower.x && outer->lower.y <= inner->lower.y &&
           outer->lower.z <= inner->lower.z && outer->upper.x >= inner->upper.x &&
           outer->upper.y >= inner->upper.y && outer->upper.z >= inner->upper.z;
}

static tpResult checkParts(const Parts* self, tpError* error) {
    for (int i = 0; i < self->parts.count; ++i) {
        const MeshPart* part = &self->parts.data[i];
        bool isCavity = false;
        for (int k = 0; k < self->parts.count && part->volume < 0.0 && !isCavity; ++k) {
            const MeshPart* other = &self->parts.data[k];
            isCavity = other->volume > 0.0 && isAround(&other->bounds, &part->bounds);
        }
        if (part->volume < 0.0 && !isCavity) {
            return tpError_Set(
                error, tp_badInput,
                "the surface is inside out: the part with triangle %d runs clockwise "
                "seen from outside (volume %.6g m^3)",
                part->triangle, part->volume);
        }
    }
    return tp_success;
}

tpResult tpCheckMeshParts(const tpMesh* mesh, tpError* error) {
    size_t byteCount = (size_t)mesh->triangleCount * sizeof(bool);
    Parts self = { .mesh = mesh, .reached = tpAllocateZeroed(&mesh->allocator, byteCount) };
    tpResult result = tp_success;
    if (self.reached == NULL || !TP_RESERVE(&mesh->allocator, self.order, mesh->triangleCount)) {
        result = tpError_OutOfMemory(error);
    }
    for (int32_t i = 0; i < mesh->triangleCount && result == tp_success; ++i) {
        if (!self.reached[i] && !TP_PUSH(&mesh->allocator, self.parts, followPart(&self, i))) {
            result = tpError_OutOfMemory(error);
        }
    }
    if (result == tp_success) {
        result = checkParts(&self, error);
    }
    TP_FREE_ARRAY(&mesh->allocator, self.parts);
    TP_FREE_ARRAY(&mesh->allocator, self.order);
    tpRelease(&mesh->allocator, self.reached, byteCount);
    return result;
}
