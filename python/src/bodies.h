// Handles of things in a world: the world is kept alive, and a handle of something that is gone
// raises.

#ifndef TIPPE_PYTHON_BODIES_H
#define TIPPE_PYTHON_BODIES_H

#include "binding.h"

struct Body {
    nb::object owner; // the tippe.World
    World* world;
    tpBodyId id;
};

struct Shape {
    nb::object owner;
    World* world;
    tpShapeId id;
};

struct Geometry {
    tpGeometry geometry;
    explicit Geometry(const tpGeometry& geometry) : geometry(geometry) {}
    Geometry(const Geometry&) = delete;
    Geometry(Geometry&& other) noexcept : geometry(other.geometry) {
        other.geometry = {};
        other.isMoved = true;
    }
    ~Geometry() {
        if (!isMoved) {
            tpReleaseGeometry(&geometry);
        }
    }
    bool isMoved = false;
};

// The body, checked to be there and used by this thread alone.
const tpWorld* readable(const Body& body);
tpWorld* writable(const Body& body);

Body makeBody(nb::handle owner, World& world, tpBodyId id);

// A body of this world by its handle or name; `None` is the null id where that is allowed.
tpBodyId bodyOf(World& world, nb::handle value, const char* name, bool mayBeNone);

// The place of a material in the world: a tippe.Material, the name of one, or None.
tpMaterialId materialOf(nb::handle owner, World& world, nb::handle value);

// The pose of a shape, from the arguments position and rotation.
tpPose poseOf(nb::handle position, nb::handle rotation);

// "world" or "body".
tpFrame frameOf(nb::handle value);

// A group or a mask of shapes.
uint32_t bitsOf(nb::handle value, const char* name);

void bindShapes(nb::module_& m, nb::class_<Body>& body);

#endif
