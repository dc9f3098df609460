#include "world/appearance.h"
#include "base/assert.h"

#include <string.h>

#include "base/error.h"
#include "world/require.h"

static bool isColor(const tpColor* color) {
    const double parts[] = { color->red, color->green, color->blue };
    for (int i = 0; i < 3; ++i) {
        if (!(parts[i] >= 0.0 && parts[i] <= 1.0)) {
            return false;
        }
    }
    return true;
}

// Colours of shapes -------------------------------------------------------------------------------

tpResult tpShape_SetColor(tpWorld* world, tpShapeId id, tpColor color, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpAppearance* appearance = &world->appearance;
    int index = tpWorld_ShapeIndex(world, id);
    if (index < 0) {
        return tpError_Set(error, tp_badInput, "there is no such shape");
    }
    if (!isColor(&color)) {
        return tpError_Set(error, tp_badInput, "the parts of a colour are from 0 to 1");
    }
    while (appearance->shapes.count <= index) {
        tpShapeColor none = { .isGiven = false };
        if (!TP_PUSH(&world->system.allocator, appearance->shapes, none)) {
            return tpError_OutOfMemory(error);
        }
    }
    appearance->shapes.data[index] = (tpShapeColor){ true, color };
    return tp_success;
}

bool tpShape_GetColor(const tpWorld* world, tpShapeId id, tpColor* color) {
    TP_NEED(world, false);
    const tpAppearance* appearance = &world->appearance;
    int index = tpWorld_ShapeIndex(world, id);
    if (index < 0 || index >= appearance->shapes.count || !appearance->shapes.data[index].isGiven) {
        return false;
    }
    *color = appearance->shapes.data[index].color;
    return true;
}

void tpAppearance_ForgetShape(tpAppearance* appearance, int shape) {
    if (shape < appearance->shapes.count) {
        appearance->shapes.data[shape].isGiven = false;
    }
}

// Shapes that are only seen -----------------------------------------------------------------------

static bool reserveBody(tpAppearance* appearance, int body, const tpAllocator* allocator) {
    while (appearance->bodies.count <= body) {
        tpVisualChain none = { -1, -1, 0 };
        if (!TP_PUSH(allocator, appearance->bodies, none)) {
            return false;
        }
    }
    return true;
}

tpResult tpBody_AddVisual(tpWorld* world, tpBodyId id, const tpGeometry* geometry,
                          const tpColor* color, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpAppearance* appearance = &world->appearance;
    const tpAllocator* allocator = &world->system.allocator;
    int body = tpWorld_BodyIndex(world, id);
    if (body < 0) {
        return tpError_Set(error, tp_badInput, "the body of the shape does not exist");
    }
    if (color != NULL && !isColor(color)) {
        return tpError_Set(error, tp_badInput, "the parts of a colour are from 0 to 1");
    }
    tpVisualEntry entry = { .next = -1 };
    if (color != NULL) {
        entry.visual.hasColor = true;
        entry.visual.color = *color;
    }
    if (!reserveBody(appearance, body, allocator) ||
        !TP_PUSH(allocator, appearance->visuals, entry)) {
        return tpError_OutOfMemory(error);
    }
    int place = appearance->visuals.count - 1;
    appearance->visuals.data[place].geometry = tpRetainGeometry(geometry);
    tpVisualChain* chain = &appearance->bodies.data[body];
    if (chain->last >= 0) {
        appearance->visuals.data[chain->last].next = place;
    } else {
        chain->first = place;
    }
    chain->last = place;
    chain->count += 1;
    return tp_success;
}

int tpBody_GetVisualCount(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, 0);
    int body = tpWorld_BodyIndex(world, id);
    bool isThere = body >= 0 && body < world->appearance.bodies.count;
    return isThere ? world->appearance.bodies.data[body].count : 0;
}

tpVisual tpBody_GetVisual(const tpWorld* world, tpBodyId id, int index) {
    TP_NEED(world, (tpVisual){ 0 });
    const tpAppearance* appearance = &world->appearance;
    tpVisual none = { .geometry = NULL };
    int body = TP_BODY(world, id);
    if (body < 0 || !TP_INDEX(index, tpBody_GetVisualCount(world, id))) {
        return none;
    }
    int place = appearance->bodies.data[body].first;
    for (int i = 0; i < index; ++i) {
        place = appearance->visuals.data[place].next;
    }
    tpVisual visual = appearance->visuals.data[place].visual;
    visual.geometry = &appearance->visuals.data[place].geometry;
    return visual;
}

// Entries stay where they are: bodies with visuals rarely go, and then mostly all of them.
void tpAppearance_ForgetBody(tpAppearance* appearance, int body) {
    if (body < appearance->bodies.count) {
        tpVisualChain* chain = &appearance->bodies.data[body];
        for (int i = chain->first; i >= 0; i = appearance->visuals.data[i].next) {
            tpReleaseGeometry(&appearance->visuals.data[i].geometry);
            memset(&appearance->visuals.data[i].geometry, 0, sizeof(tpGeometry));
        }
        *chain = (tpVisualChain){ -1, -1, 0 };
    }
}

void tpAppearance_Destroy(tpAppearance* appearance, const tpAllocator* allocator) {
    for (int i = 0; i < appearance->bodies.count; ++i) {
        tpAppearance_ForgetBody(appearance, i);
    }
    TP_FREE_ARRAY(allocator, appearance->shapes);
    TP_FREE_ARRAY(allocator, appearance->bodies);
    TP_FREE_ARRAY(allocator, appearance->visuals);
}
