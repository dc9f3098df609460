// Contacts that slide, by how fast they do.
//
// A contact that slides has its friction against its velocity, u = -lambda r, and as large as it
// may be, |r| = mu r_n. With S the response of all rows that slide and b = S r0 - u0,
//
//     (S + Lambda) r = b,     lambda >= 0,   |r_c| <= mu r_n,   one of the two with equality
//
// are as many unknowns as contacts: of one contact that is the problem of a trust region
// [MoreSorensen83]. With the slack s = (mu^2 r_n^2 - |r_c|^2) / 2 it is lambda s = 0. A path from
// inside, along which Newton's steps make the products lambda s smaller and smaller, tells which
// contacts slide and which hold, and nearly how fast. Then Newton's method finds the logarithms of
// all lambdas at once on log(|r| / (mu r_n)) = 0; a step that leaves more is halved. If the path
// is lost, it starts from above, where r = b / lambda. (From there alone it seldom ends if a
// contact holds, whose logarithm falls for ever.) Rows may be
// of very different sizes, as that of torsion is beside the tangents: a foot that others hold
// hardly answers to a moment about its normal, and Newton's method on r asks for moments that are a
// million times too large.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_CREEP_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_CREEP_H

#include <stdbool.h>
#include <stddef.h>

// A contact that slides: its rows begin at `first`; with the impulses r of all rows that slide its
// normal impulse is `normal` less the sum of follows[k] r[k].
typedef struct tpCreepingContact {
    int first, rows;
    double mu, normal;
    const double* follows;
} tpCreepingContact;

enum { tp_mostCreepingRows = 64, tp_mostCreepingContacts = 24 };

// r that meets the law, to rounding, in so many steps from above. False if it was not found: r is
// as it was then.
bool tpFriction_Creep(int rows, const double* S, const double* b, int count,
                      const tpCreepingContact* contacts, int steps, double* r);

#endif
