// Bodies that are wedged between walls hold each other with any load: friction keeps what has
// pressed them in. A solve whose data contradict each other there, as predictions of how corners
// turn do, ends with loads of a million times the weight of all bodies. They balance, so that the
// next solve begins with them and leaves them as they are, and so on for ever; but beside them
// light sweeps in single precision cannot tell the speeds that are asked for from rounding. Such a
// solve stalls until the friction portfolio helps, in every step.
//
// What contacts have to stop is the momentum of all bodies, and what approaches at contacts. Where
// one of them alone carries ten times of it, its load is taken for a runaway.

#include "sweeps/runaway_loads.h"

static const double mostLoad = 10.0;

// The momentum of all bodies that move, spins as that at their radius of gyration, and what it
// takes to stop all masses at the mean speed of contacts, N s.
static double momentumOf(const tpSweeper* sweeper, const tpVelocity* start, double size) {
    double meanSpeed = size / sqrt(fmax(1.0, sweeper->contactCount)), sum = 0.0;
    for (int i = 0; i < sweeper->bodyCount; ++i) {
        const tpSweepBody* body = &sweeper->bodies[i];
        if (body->inverseMass > 0.0) {
            const double* inverse = body->inverseInertia;
            double spread = (inverse[0] + inverse[1] + inverse[2]) / (3.0 * body->inverseMass);
            double turning = spread > 0.0 ? tpLength(start[i].angular) / sqrt(spread) : 0.0;
            sum += (tpLength(start[i].linear) + turning + meanSpeed) / body->inverseMass;
        }
    }
    return sum;
}

int tpSweeper_DropRunawayLoads(tpSweeper* sweeper, const tpVelocity* start, double size) {
    double most = mostLoad * momentumOf(sweeper, start, size);
    int count = 0;
    for (int i = 0; i < sweeper->contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        if (pack->impulse[0][lane] > most) {
            pack->impulse[0][lane] = pack->impulse[1][lane] = pack->impulse[2][lane] = 0.0;
            if (pack->torsion >= 0) {
                sweeper->torsions[pack->torsion].impulse[lane] = 0.0;
            }
            count += 1;
        }
    }
    return count;
}
