// Where on a surface contacts are: on a flat face, or on something that bends.
//
// A ball that comes from the face of a box to its edge keeps its contact, and nothing jumps but the
// curvature. Forces have a kink there: steps of a flow across it are of first order, and all levels
// of a stride can be wrong alike. (Of balls that slide slowly over an edge 33 of 216 runs missed
// the accuracy, by up to 15 times, and nothing told it.) So a contact that leaves a face, or comes
// to one, is an event as other changes of contacts are.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_SURFACE_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_SURFACE_H

#include "steppers/auto/flow.h"

typedef enum tpFlowSurface {
    tp_flowUnknown, // the contact does not move on it
    tp_flowFlat,    // the point moves, the normal does not
    tp_flowSharp,   // the normal turns, the point stays: an edge or a vertex
    tp_flowRound,   // both move
} tpFlowSurface;

// What the way of a contact from one place to another tells of the surface of body A (side 0) or B
// (1).
tpFlowSurface tpFlowSurface_Between(const tpFlowRows* from, const tpFlowRows* to,
                                    const tpSystem* system, int contact, int side);

// Whether a contact can have come from one of the two to the other without an event.
bool tpFlowSurface_AreAlike(tpFlowSurface a, tpFlowSurface b);

// Finds what surfaces contacts are on where the flow begins: bodies are moved a little to see it.
void tpFlow_FindSurfaces(tpFlow* flow, tpSystem* system);

// Whether contacts are on the same surfaces on their way from the rows of now to the next ones.
bool tpFlow_AreSurfacesAlike(tpFlow* flow, const tpSystem* system);

// Whether a contact on an edge or a vertex has come to a face at the end of a step: since the last
// stage no row has told it.
bool tpFlow_AreEdgesLeft(tpFlow* flow, tpSystem* system);

#endif
