// Which blocks of a mechanism take part beside its joints, and which drives have to let go before
// anything is solved.

#include <math.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_tree_parts.h"

// Contacts that open slower than this part of the fastest are taken for touching: between bodies
// that move together it is rounding that tells who is approached.
static const double nearlyClosed = 1e-4;

// Contacts of one pair of bodies that begin together, and those of them that are taken for corners
// if nothing has been carried yet. A body needs three that hold and a few that may.
enum { cornerContacts = 6 };

// Locked blocks ----------------------------------------------------------------------------------

// Between bodies that joints and drives hold together no impulse changes what a contact or limit
// sees. If it is not approached it has none to give. If it is, some of the drives must give way,
// and all that are on its way are let go.

// Whether the rows that hold a place to its parent leave it no motion.
static bool isRigid(const tpFrictionTree* tree, int k) {
    int count = 0;
    for (int i = tree->bodies[k].firstRow; i < tree->bodies[k + 1].firstRow; ++i) {
        count += tpTree_Compliance(tree, tree->leadRows + tree->rows[i].row) > 0.0 ? 0 : 1;
    }
    return count >= tp_treeWidth;
}

static int letGoAt(tpFrictionTree* tree, int k) {
    int count = 0;
    for (int i = tree->bodies[k].firstBlock; i < tree->bodies[k + 1].firstBlock; ++i) {
        int b = tree->leadBlocks + tree->links[i];
        if (tree->role[b] == tp_driveInTree && tree->isHeld[b]) {
            tree->isHeld[b] = false;
            count += 1;
        }
    }
    return count;
}

// The next place on the way between the bodies of a block, heads being those where its two ends
// are; -1 if they have met.
static int nextOnWay(const tpFrictionTree* tree, int heads[2]) {
    if (heads[0] == heads[1]) {
        return -1;
    }
    int side = heads[0] > heads[1] ? 0 : 1, k = heads[side];
    heads[side] = tree->bodies[k].parent;
    return k;
}

static bool isLocked(const tpFrictionTree* tree, int b) {
    int heads[2] = { tpTree_PlaceOf(tree, tree->pair[2 * b]),
                     tpTree_PlaceOf(tree, tree->pair[2 * b + 1]) };
    for (int k; (k = nextOnWay(tree, heads)) >= 0;) {
        if (!isRigid(tree, k)) {
            return false;
        }
    }
    return true;
}

// Lets the drives of a locked block go. Returns their number.
static int unlock(tpFrictionTree* tree, int b) {
    int heads[2] = { tpTree_PlaceOf(tree, tree->pair[2 * b]),
                     tpTree_PlaceOf(tree, tree->pair[2 * b + 1]) };
    int count = 0;
    for (int k; (k = nextOnWay(tree, heads)) >= 0;) {
        count += letGoAt(tree, k);
    }
    return count;
}

// The last place that the ways of all ends of a block to the root have in common; -1 if there is
// none.
static int meetingPlace(const tpFrictionTree* tree, int b) {
    int heads[2] = { tpTree_PlaceOf(tree, tree->pair[2 * b]),
                     tpTree_PlaceOf(tree, tree->pair[2 * b + 1]) };
    int k = heads[0] < 0 ? heads[1] : heads[0];
    heads[0] = k;
    heads[1] = heads[1] < 0 ? k : heads[1];
    while (nextOnWay(tree, heads) >= 0) {
    }
    k = heads[0];
    for (int i = tpTree_FirstTerm(tree, tree->first[b]);
         i < tpTree_FirstTerm(tree, tree->first[b + 1]); ++i) {
        heads[0] = k;
        heads[1] = tree->place[tree->given->termBodies[i]];
        while (heads[1] >= 0 && nextOnWay(tree, heads) >= 0) {
        }
        k = heads[1] >= 0 ? heads[0] : k;
    }
    return k;
}

// Lets the drives go that are on the ways between the ends of a block. Returns their number.
static int unlockWays(tpFrictionTree* tree, int b) {
    int top = meetingPlace(tree, b), count = 0;
    bool isGrounded = tree->pair[2 * b] < 0 || tree->pair[2 * b + 1] < 0;
    top = isGrounded ? -1 : top;
    int last = tpTree_FirstTerm(tree, tree->first[b + 1]);
    for (int side = 0; side < 2; ++side) {
        for (int k = tpTree_PlaceOf(tree, tree->pair[2 * b + side]); k > top;
             k = tree->bodies[k].parent) {
            count += letGoAt(tree, k);
        }
    }
    for (int i = tpTree_FirstTerm(tree, tree->first[b]); i < last; ++i) {
        for (int k = tree->place[tree->given->termBodies[i]]; k > top; k = tree->bodies[k].parent) {
            count += letGoAt(tree, k);
        }
    }
    return count;
}

int tpFrictionTree_UnlockCuts(tpFrictionTree* tree, const tpCutSystem* left, double goal) {
    int count = 0;
    double least = tp_smallPart * goal;
    for (int i = 0; i < tree->cutCount; ++i) {
        bool isLocked = false;
        for (int row = tree->otherFirst[i]; row < tree->otherFirst[i + 1]; ++row) {
            isLocked = isLocked || left->missed[row] > least;
        }
        count += isLocked ? unlockWays(tree, tree->others[i]) : 0;
    }
    for (int i = tree->cutCount; i < tree->otherCount; ++i) {
        bool isLocked = left->stuck[i - tree->cutCount] > goal;
        count += isLocked ? unlockWays(tree, tree->others[i]) : 0;
    }
    return count;
}

// Who takes part ---------------------------------------------------------------------------------

// How fast contacts and limits move under joints alone: approaches and slips. |q| says nothing
// about that: limits that are far away have hundreds of rad/s there, and so have stiff springs.
static double speedOfOthers(const tpFrictionTree* tree) {
    double fastest = 0.0;
    for (int b = 0; b < tree->blockCount; ++b) {
        int row = tree->first[b];
        bool isOneSided = !tree->isHeld[b] && tree->role[b] == tp_contactInTree;
        fastest = isOneSided ? fmax(fastest, -tree->p[row]) : fastest;
        for (++row; isOneSided && row < tree->first[b + 1]; ++row) {
            fastest = fmax(fastest, fabs(tree->p[row]));
        }
    }
    return fastest;
}

// Cut rows may move what the tree alone would lock, and so may whoever moves more than two bodies.
static bool mayLock(const tpFrictionTree* tree, int b) {
    return tree->role[b] == tp_contactInTree && !tpTree_HasTerms(tree, b);
}

// Whether the impulses that a block begins with move anything by more than `least`.
static bool carries(const tpFrictionTree* tree, int b, double least, const double* r) {
    for (int row = tree->first[b]; row < tree->first[b + 1]; ++row) {
        if (r[row] != 0.0 && fabs(r[row]) * tpFrictionTree_ResponseOf(tree, b, row) >
                                 least * tpTree_Scale(tree, row)) {
            return true;
        }
    }
    return false;
}

// The place of a contact among those of its pair of bodies, by the lever of its normal row.
static const double* leverOf(const tpFrictionTree* tree, int b) {
    int side = tree->pair[2 * b] >= 0 ? 0 : 1;
    const double* J = side == 0 ? tree->given->jacobianA : tree->given->jacobianB;
    return J + (size_t)tree->first[b] * tp_treeWidth + 3;
}

static double distanceSquared(const double* a, const double* b) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// Of the blocks from `begin` to `end` that are active, keeps those that are far from each other.
static void keepCorners(tpFrictionTree* tree, int begin, int end) {
    int kept[cornerContacts], count = 0, last = -1;
    for (int b = begin; b < end; ++b) {
        last = tree->isActive[b] ? b : last;
    }
    // The farthest from any one is a corner; then again and again the farthest from all that are.
    for (int from = last; count < cornerContacts;) {
        double farthest = 0.0;
        int found = -1;
        for (int b = begin; b < end; ++b) {
            double nearest = tree->isActive[b] ? INFINITY : 0.0;
            for (int k = 0; k < (count > 0 ? count : 1) && nearest > 0.0; ++k) {
                int other = count > 0 ? kept[k] : from;
                nearest = fmin(nearest, distanceSquared(leverOf(tree, b), leverOf(tree, other)));
            }
            found = nearest > farthest ? b : found;
            farthest = fmax(nearest, farthest);
        }
        if (found < 0) {
            break;
        }
        kept[count++] = found;
    }
    for (int b = begin; b < end; ++b) {
        bool isKept = count == 0;
        for (int k = 0; k < count; ++k) {
            isKept = isKept || kept[k] == b;
        }
        tree->isActive[b] = tree->isActive[b] && isKept;
    }
}

// A sole of forty corners needs a few of them: those that carried the load, or some that are far
// from each other. The others join if what these give lets them be approached.
static void takeFew(tpFrictionTree* tree, double least, double* r) {
    for (int begin = 0, end; begin < tree->leadBlocks; begin = end) {
        int active = 0, carrying = 0;
        for (end = begin; end < tree->leadBlocks && tree->pair[2 * end] == tree->pair[2 * begin] &&
                          tree->pair[2 * end + 1] == tree->pair[2 * begin + 1];
             ++end) {
            active += tree->isActive[end];
            carrying += tree->isActive[end] && carries(tree, end, least, r);
        }
        if (active <= tp_manyContacts) {
            continue;
        }
        for (int b = begin; carrying >= 3 && b < end; ++b) {
            tree->isActive[b] = tree->isActive[b] && carries(tree, b, least, r);
        }
        if (carrying < 3 || carrying > tp_manyContacts) {
            keepCorners(tree, begin, end);
        }
        for (int b = begin; b < end; ++b) {
            for (int row = tree->first[b]; !tree->isActive[b] && row < tree->first[b + 1]; ++row) {
                r[row] = 0.0;
            }
        }
    }
}

// A block takes part if it is nearly closed, or carries something to begin with, and is not locked.
// Returns the number of drives that had to be let go.
int tpFrictionTree_Choose(tpFrictionTree* tree, double goal, double* r) {
    double speed = speedOfOthers(tree);
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        double p = tree->p[tree->first[b]];
        tree->isActive[b] = !tree->isHeld[b] && p < nearlyClosed * speed;
        if (tree->role[b] == tp_contactInTree && !tree->isActive[b]) {
            tree->isActive[b] = carries(tree, b, tp_smallPart * goal, r);
            for (int row = tree->first[b]; !tree->isActive[b] && row < tree->first[b + 1]; ++row) {
                r[row] = 0.0;
            }
        }
        tree->isActive[b] =
            tree->isActive[b] || (!tree->isHeld[b] && tree->role[b] != tp_contactInTree);
        if (tree->isActive[b] && mayLock(tree, b) && isLocked(tree, b)) {
            int drives = p < -tp_smallPart * goal ? unlock(tree, b) : 0;
            tree->isActive[b] = p < -tp_smallPart * goal && drives == 0;
            for (int row = tree->first[b]; !tree->isActive[b] && row < tree->first[b + 1]; ++row) {
                r[row] = 0.0;
            }
            count += drives;
        }
    }
    takeFew(tree, tp_smallPart * goal, r);
    return count;
}

void tpFrictionTree_ListOthers(tpFrictionTree* tree) {
    tree->otherCount = tree->otherRows = 0;
    for (int k = tree->cutCount > 0 ? 0 : 1; k < 2; ++k) {
        for (int b = 0; b < tree->blockCount; ++b) {
            if (tree->isActive[b] && (tree->role[b] == tp_cutInTree) == (k == 0)) {
                tree->others[tree->otherCount] = b;
                tree->otherFirst[tree->otherCount++] = tree->otherRows;
                tree->otherRows += tpTree_RowsOfBlock(tree, b);
            }
        }
    }
    tree->otherFirst[tree->otherCount] = tree->otherRows;
}

// Blocks that are approached by more than `least` now, with the velocities in `force`, join.
// Returns their number.
int tpFrictionTree_JoinApproached(tpFrictionTree* tree, double least) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isHeld[b] || tree->isActive[b]) {
            continue;
        }
        double u[TP_FRICTION_MAX_ROWS] = { tpTree_FreeVelocity(tree, tree->first[b]) };
        tpFrictionTree_ReadOther(tree, b, tree->force, u);
        if (u[0] < -least) {
            tree->isActive[b] = true;
            count += 1;
        }
    }
    return count;
}
