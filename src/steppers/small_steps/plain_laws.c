#include "steppers/small_steps/plain_laws.h"

#include "dynamics/joint_laws.h"
#include "steppers/small_steps/articulation_tree.h"

tpPlainLaws* tpPlainLaws_Reserve(tpArena* arena, int rows) {
    enum { parts = 10 };
    tpPlainLaws* laws = TP_SCRATCH_ZEROED(arena, tpPlainLaws, 1);
    int32_t* axes = TP_SCRATCH(arena, int32_t, rows);
    double* numbers = TP_SCRATCH(arena, double, (size_t)parts*(size_t)rows);
    if (arena->failed) {
        return NULL;
    }
    laws->axes = axes;
    double** lists[parts] = { &laws->stiffness, &laws->bias,    &laws->startBias, &laws->wayFactor,
                              &laws->ending,    &laws->damping, &laws->way,       &laws->total,
                              &laws->elastic,   &laws->viscous };
    for (int k = 0; k < parts; ++k) {
        *lists[k] = numbers + (size_t)k * (size_t)rows;
    }
    return laws;
}

static bool isPlain(const tpArticulation* articulation, int k) {
    const tpArticulatedRow* law = &articulation->laws[k];
    const tpRowAnswer* answer = &articulation->solver.answers[k];
    bool isSoft =
        law->role == tp_servoRole || law->role == tp_damperRole || law->role == tp_springRole;
    return isSoft && !law->isRigid && law->told == 0.0 && answer->state == tp_withinRow &&
           answer->offset == 0.0 && !tpRowAnswer_IsBounded(answer) &&
           articulation->tree.rows[k].sign == 1.0;
}

// The rows are these, and the tree reads them here.
static void use(tpArticulation* articulation) {
    const tpPlainLaws* laws = articulation->plain;
    articulation->isPlain = true;
    articulation->tree.plain = (tpPlainRows){
        .count = laws->count, .axes = laws->axes, .stiffness = laws->stiffness, .bias = laws->bias
    };
}

void tpPlainLaws_Take(const tpSmallStep* step, tpArticulation* articulation) {
    tpPlainLaws* laws = articulation->plain;
    int count = articulation->solver.rowCount;
    bool arePlain = count > 0 && articulation->tree.near == NULL;
    articulation->isPlain = laws->areKept = laws->hasSprings = false;
    articulation->tree.plain.count = 0;
    for (int k = 0; arePlain && k < count; ++k) {
        arePlain = isPlain(articulation, k);
    }
    if (!arePlain) {
        return;
    }
    for (int k = 0; k < count; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        laws->axes[k] = articulation->tree.rows[k].axis;
        laws->stiffness[k] = articulation->solver.answers[k].stiffness;
        laws->startBias[k] = law->startBias;
        laws->wayFactor[k] = law->wayFactor;
        laws->ending[k] = law->ending;
        laws->damping[k] = law->damping;
        laws->way[k] = laws->total[k] = 0.0;
        laws->hasSprings = laws->hasSprings || law->role == tp_springRole;
    }
    laws->count = count;
    laws->substep = 0.0;
    // The part by which a spring lags depends on where its bodies are.
    laws->areKept = !laws->hasSprings;
    laws->lawChanges = step->system->lawChanges;
    use(articulation);
}

void tpPlainLaws_KeepLimits(const tpSmallStep* step, tpArticulation* articulation, bool areLimits) {
    tpPlainLaws* laws = articulation->plain;
    laws->areLimits = areLimits;
    if (areLimits) {
        laws->count = articulation->solver.rowCount;
        laws->lawChanges = step->system->lawChanges;
    }
}

// Rotors begin with their speeds.
static void beginRotors(const tpSmallStep* step, const tpArticulation* articulation) {
    const tpJointTree* tree = &articulation->tree;
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        for (int k = node->axis; k < node->axisEnd; ++k) {
            const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
            bool isBall = joint->type == tp_ballJoint;
            int place = k - node->axis;
            tree->axes[k].rotorSpeed =
                joint->coordinates[isBall ? 0 : place].rotorSpeed[isBall ? place : 0];
        }
    }
}

bool tpPlainLaws_WriteAgain(const tpSmallStep* step, tpArticulation* articulation) {
    tpPlainLaws* laws = articulation->plain;
    if (!laws->areKept || laws->lawChanges != step->system->lawChanges) {
        return false;
    }
    double tau = step->substepTime;
    bool isNew = laws->substep != tau;
    for (int k = 0; k < laws->count; ++k) {
        tpArticulatedRow* law = &articulation->laws[k];
        const tpCoordinateDef* def =
            &step->system->joints.data[law->row].coordinates[law->coordinate].def;
        const tpServo* servo = &def->servo;
        bool isServo = law->role == tp_servoRole;
        double value = isServo ? articulation->axisPlaces[laws->axes[k]].value : 0.0;
        tpForceLaw force = { 0.0, def->damping, 0.0, 0.0, INFINITY };
        if (isServo) {
            force = (tpForceLaw){ servo->stiffness, servo->damping, servo->target, servo->speed,
                                  INFINITY };
        }
        tpSoftLaw soft = tpForceLaw_Soften(&force, tau, tau, value - force.rest);
        law->startBias = laws->startBias[k] = soft.bias;
        law->value = value;
        laws->way[k] = laws->total[k] = 0.0;
        if (!isNew && laws->elastic[k] == force.stiffness && laws->viscous[k] == force.damping) {
            continue;
        }
        if (!(soft.stiffness > 0.0) || !isfinite(soft.stiffness)) {
            return false;
        }
        laws->elastic[k] = force.stiffness;
        laws->viscous[k] = force.damping;
        articulation->solver.answers[k].stiffness = laws->stiffness[k] = soft.stiffness;
        law->damping = laws->damping[k] = soft.damping;
        law->wayFactor = laws->wayFactor[k] =
            (soft.stiffness - soft.damping) / (tau * soft.stiffness);
    }
    laws->substep = tau;
    articulation->solver.rowCount = articulation->tree.rowCount = laws->count;
    articulation->tree.near = NULL;
    articulation->hasCones = false;
    beginRotors(step, articulation);
    use(articulation);
    return true;
}

void tpPlainLaws_Begin(tpPlainLaws* laws, bool endsSprings) {
    for (int k = 0; k < laws->count; ++k) {
        laws->bias[k] = laws->startBias[k] + laws->wayFactor[k] * laws->way[k];
    }
    for (int k = 0; endsSprings && laws->hasSprings && k < laws->count; ++k) {
        laws->bias[k] *= 1.0 - laws->ending[k];
    }
}

void tpPlainLaws_Follow(const tpArticulation* articulation, double time) {
    tpPlainLaws* laws = articulation->plain;
    for (int k = 0; k < laws->count; ++k) {
        laws->way[k] += time * articulation->tree.axes[laws->axes[k]].rate;
    }
}

// What a row with the rate u answers with.
static inline double answerOf(const tpPlainLaws* laws, int k, double u) {
    return 0.0 - laws->stiffness[k] * (u + laws->bias[k]);
}

void tpPlainLaws_End(tpArticulation* articulation) {
    tpPlainLaws* laws = articulation->plain;
    double work = articulation->work;
    for (int k = 0; k < laws->count; ++k) {
        double u = articulation->tree.axes[laws->axes[k]].rate, impulse = answerOf(laws, k, u);
        laws->total[k] += impulse;
        if (laws->hasSprings && articulation->laws[k].role == tp_springRole) {
            work -= laws->damping[k] * u * u;
        } else {
            work += impulse * u;
        }
    }
    articulation->work = work;
}

void tpPlainLaws_Return(const tpArticulation* articulation) {
    const tpPlainLaws* laws = articulation->plain;
    for (int k = 0; k < laws->count; ++k) {
        tpRowAnswer* answer = &articulation->solver.answers[k];
        tpArticulatedRow* law = &articulation->laws[k];
        answer->bias = laws->bias[k];
        answer->velocity = articulation->tree.axes[laws->axes[k]].rate;
        answer->impulse = answerOf(laws, k, answer->velocity);
        law->total = laws->total[k];
        law->way = laws->way[k];
    }
}
