// Laws with a bound on their impulse as part of the trees: servos whose effort is bounded, motors,
// dry friction.
//
// Such a law has a row (joint_laws.h), and a problem with as many rows more would be several times
// as large. But as long as one knows what it does it needs none: within its bound a servo is a
// stiffness, friction holds the coordinate, and at its bound a law is an impulse that is known. So
// each drive has a state, the rows of contacts are solved with it, and drives whose impulse or
// velocity says that they do something else change, until none does. A drive that has changed too
// often goes to the rows of contacts, where it stays for this solve: there is an end to it.

#include <math.h>
#include <string.h>

#include "dynamics/reduced.h"

// A drive that holds has this stiffness, in units of mass, of turns times length squared: to all
// inertias there is nothing that it leaves.
static const double holding = 1e30;

// An impulse within this part of the bound is at it.
static const double atBound = 1e-9;

// A drive may change so often in a solve before it has a row; and after so many rounds whoever
// changes has one.
enum { mostChanges = 2, mostRounds = 8 };

static int forceRow(const tpRows* rows, int block) {
    return rows->firstRows[block] + 1;
}

static bool isHolding(const tpRows* rows, const tpReducedDrive* drive) {
    return !(rows->compliance[forceRow(rows, drive->block)] > 0.0);
}

static double stiffnessOf(const tpReduced* reduced, const tpRows* rows,
                          const tpReducedDrive* drive) {
    int row = forceRow(rows, drive->block);
    double unit = rows->scale[row] * rows->scale[row] * reduced->system->units.mass;
    return isHolding(rows, drive) ? holding * unit : 1.0 / rows->compliance[row];
}

// Which rows drives have; what they do is what their impulses tell.
static void bindDrives(tpReduced* reduced, tpRows* rows) {
    reduced->driveCount = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[b];
        if (info->source != tp_boundedSource || info->isCoupling || reduced->isOther[info->index]) {
            continue;
        }
        const tpJoint* joint = &reduced->system->joints.data[rows->infos[b].index];
        int linkA = joint->bodyA >= 0 ? reduced->linkOf[joint->bodyA] : -1;
        int linkB = joint->bodyB >= 0 ? reduced->linkOf[joint->bodyB] : -1;
        bool isOfB = linkB >= 0 && reduced->links[linkB].joint == rows->infos[b].index;
        int load = rows->firstRows[b]; // its row says what the bound is
        double bound = -rows->bias[load] / rows->compliance[load];
        double r = rows->impulse[forceRow(rows, b)];
        rows->impulse[load] = bound;
        tpReducedDrive* drive = &reduced->drives[reduced->driveCount++];
        bool isInside = fabs(r) < (1.0 - atBound) * bound;
        *drive = (tpReducedDrive){ .link = isOfB ? linkB : linkA,
                                   .block = b,
                                   .bound = bound,
                                   .state = isInside  ? tp_driveWithin
                                            : r > 0.0 ? tp_driveAtMost
                                                      : tp_driveAtLeast };
    }
}

// Sums up what drives do to the rows of trees. True if a stiffness has changed: what links feel of
// each other has too.
static bool applyDrives(tpReduced* reduced, const tpRows* rows) {
    bool isChanged = false;
    for (int i = 0; i < reduced->driveCount; ++i) {
        tpReducedLink* link = &reduced->links[reduced->drives[i].link];
        link->driveStiffness = link->driveStart = 0.0;
    }
    for (int i = 0; i < reduced->driveCount; ++i) {
        const tpReducedDrive* drive = &reduced->drives[i];
        tpReducedLink* link = &reduced->links[drive->link];
        if (drive->state == tp_driveWithin) {
            double k = stiffnessOf(reduced, rows, drive);
            link->driveStiffness += k;
            link->driveStart -= k * rows->bias[forceRow(rows, drive->block)];
        } else if (drive->state != tp_driveInRows) {
            link->driveStart += drive->state == tp_driveAtMost ? drive->bound : -drive->bound;
        }
    }
    for (int i = 0; i < reduced->driveCount; ++i) {
        int number = reduced->drives[i].link, treeNumber = reduced->treeOf[number];
        int node = number - reduced->firstLinks[treeNumber];
        tpJointTree* tree = &reduced->trees[treeNumber];
        tpRowAnswer* answer = &tree->answers[node];
        double before = answer->stiffness;
        tpReducedLink_SumLaws(&reduced->links[number], answer);
        if (answer->stiffness != before) {
            tree->nodes[node].isDirty = true;
            isChanged = true;
        }
    }
    return isChanged;
}

void tpReduced_BeginDrives(tpReduced* reduced, tpRows* rows) {
    bindDrives(reduced, rows);
    reduced->kept.blockCount = applyDrives(reduced, rows) ? 0 : reduced->kept.blockCount;
}

// Impulses and bounds -----------------------------------------------------------------------------

// What the laws of a link's coordinate give beside what drives hold.
static double knownImpulse(const tpReducedLink* link) {
    double sum = 0.0;
    for (int k = 0; k < tp_reducedLawCount; ++k) {
        sum += link->laws[k].impulse;
    }
    return sum;
}

void tpReduced_ReadDrives(tpReduced* reduced, tpRows* rows) {
    for (int i = 0; i < reduced->driveCount; ++i) {
        reduced->links[reduced->drives[i].link].driveImpulse = 0.0;
    }
    // Drives that hold give what the others leave: they come last.
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < reduced->driveCount; ++i) {
            const tpReducedDrive* drive = &reduced->drives[i];
            tpReducedLink* link = &reduced->links[drive->link];
            int row = forceRow(rows, drive->block);
            bool holds = drive->state == tp_driveWithin && isHolding(rows, drive);
            if (drive->state == tp_driveInRows || holds != (round == 1)) {
                continue;
            }
            double r = drive->state == tp_driveAtMost    ? drive->bound
                       : drive->state == tp_driveAtLeast ? -drive->bound
                       : holds ? link->along - knownImpulse(link) - link->driveImpulse
                               : -(link->rate + rows->bias[row]) / rows->compliance[row];
            rows->impulse[row] = r;
            link->driveImpulse += r;
        }
    }
    for (int i = 0; i < reduced->driveCount; ++i) {
        const tpReducedDrive* drive = &reduced->drives[i];
        int row = forceRow(rows, drive->block);
        if (drive->state != tp_driveInRows) {
            rows->velocity[row] = reduced->links[drive->link].rate + rows->bias[row] +
                                  rows->compliance[row] * rows->impulse[row];
        }
    }
}

void tpReduced_TakeDrives(tpReduced* reduced) {
    for (int i = 0; i < reduced->driveCount; ++i) {
        tpReducedLink* link = &reduced->links[reduced->drives[i].link];
        link->impulse.angular =
            tpMulAdd(link->impulse.angular, -link->sign * link->driveImpulse, link->axis);
        link->driveImpulse = 0.0;
    }
}

// What a drive does with the impulse and velocity of its row.
static tpDriveState nextState(const tpReducedDrive* drive, double r, double u, double allowed) {
    switch (drive->state) {
    case tp_driveWithin:
        return fabs(r) <= (1.0 + 1e-12) * drive->bound ? tp_driveWithin
               : r > 0.0                               ? tp_driveAtMost
                                                       : tp_driveAtLeast;
    case tp_driveAtMost:
        return u > allowed ? tp_driveWithin : tp_driveAtMost;
    case tp_driveAtLeast:
        return u < -allowed ? tp_driveWithin : tp_driveAtLeast;
    default:
        return tp_driveInRows;
    }
}

bool tpReduced_ChangeDrives(tpReduced* reduced, tpRows* rows, double allowed, int round) {
    bool isChanged = false;
    for (int i = 0; i < reduced->driveCount; ++i) {
        tpReducedDrive* drive = &reduced->drives[i];
        int row = forceRow(rows, drive->block);
        double u = rows->scale[row] * rows->velocity[row];
        tpDriveState next = nextState(drive, rows->impulse[row], u, allowed);
        if (next != drive->state) {
            drive->changes += 1;
            bool isUndecided = drive->changes > mostChanges || round > mostRounds;
            drive->state = isUndecided ? tp_driveInRows : next;
            rows->impulse[row] = fmin(fmax(rows->impulse[row], -drive->bound), drive->bound);
            isChanged = true;
        }
    }
    if (isChanged) {
        reduced->kept.blockCount = applyDrives(reduced, rows) ? 0 : reduced->kept.blockCount;
    }
    return isChanged;
}

bool tpReduced_FreeHolding(tpReduced* reduced, tpRows* rows) {
    int count = 0;
    for (int i = 0; i < reduced->driveCount; ++i) {
        tpReducedDrive* drive = &reduced->drives[i];
        if (drive->state == tp_driveWithin && isHolding(rows, drive)) {
            drive->state = tp_driveInRows;
            count += 1;
        }
    }
    reduced->kept.blockCount =
        count > 0 && applyDrives(reduced, rows) ? 0 : reduced->kept.blockCount;
    return count > 0;
}

void tpReduced_FreeDrives(tpReduced* reduced, tpRows* rows) {
    for (int i = 0; i < reduced->driveCount; ++i) {
        reduced->drives[i].state = tp_driveInRows;
    }
    reduced->kept.blockCount = applyDrives(reduced, rows) ? 0 : reduced->kept.blockCount;
}
