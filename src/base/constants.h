// Constants that more than one file needs: each with its unit, its reason, and what breaks if it
// changes. A tolerance that depends on the scene is a field of a definition, not a constant here.

#ifndef TIPPE_SRC_BASE_CONSTANTS_H
#define TIPPE_SRC_BASE_CONSTANTS_H

#define TP_PI 3.14159265358979323846

// Contact points -------------------------------------------------------------------------------

// Cosine of 0.6 degrees. A face is the reference of a manifold if its normal is within this angle
// of the contact normal. Gaps measured along the face are then right to 5e-5 of themselves. A
// smaller angle lets a resting box flicker between face and edge; a larger one gives edges the
// normal of a face.
#define TP_FACE_COSINE 0.99995

// Sine of 20 degrees. A face, cap or corner can be the next to touch a plane if it looks towards it
// by at least this much. Without the limit the far side of a thin plate would touch as well.
#define TP_FACING_SINE 0.34

// Fraction of a face's size. A corner that is outside of a face by less counts as on its rim: boxes
// stacked edge over edge keep their four contacts.
#define TP_RIM_TOLERANCE 1e-7

// Fraction of the smaller body's inner radius. Two edges, or a corner and an edge, that meet within
// this distance touch along the middle of the directions that both allow, not along a face: the
// bodies are sharp only down to this size. Cards that lean on each other by their edges stand
// because of it. A larger value tilts normals at the rims of faces; a smaller one is below the
// overlap that soft contacts leave, and edges then take the normal of a face.
#define TP_EDGE_ROUNDING 0.02

#endif
