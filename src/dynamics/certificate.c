#include "dynamics/certificate.h"

#include <float.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/island_energy.h"
#include "dynamics/report.h"

// Parts of the scales that a certified step may be off by; certificate.h has the reasons.
static const double jointPart = 1e-6, overlapPart = 1e-3;

// The largest energy of late is forgotten by this part a step: over a thousand steps a scene comes
// to rest in its own measure.
static const double forgotten = 1e-3;

// Of the rise of energy that a certificate allows: what the end of a step's work may gain, and a
// gain that is gross.
static const double allowedRise = 0.1, grossRise = 100.0;

// Of the energies that were at play: kinetic energy above it has not been there before. Impacts of
// a step that meets positions first and bounces in the next one only give back what was there.
static const double newPart = 1.1;

// Rounding of the energies themselves, which have the height of the scene above the origin in them.
static const double roundings = 64.0 * DBL_EPSILON;

// A residual is at the rounding of its data if it is within this factor of what is proved to be
// unavoidable (friction_rounding.c).
static const double roundingFactor = 3.0;

bool tpCertificate_Begin(tpSystem* system, double residual, tpStepReport* report) {
    if (system->scalesStructure != system->structure) {
        if (!tpSystem_MeasureScales(system)) {
            return false;
        }
        system->scalesStructure = system->structure;
    }
    report->limits.residual = residual;
    report->limits.jointDrift = jointPart * system->scales.length;
    report->limits.penetration = overlapPart * system->scales.smallest;
    return true;
}

// The largest kinetic and spring energy of late.
static double peakNow(const tpSystem* system, const tpStepReport* report) {
    double now = fmax(report->kineticBefore, report->kineticAfter) + tpSystem_SpringEnergy(system);
    // What a step that gained energy made of it is no measure.
    if (report->energyIncrease > 0.0) {
        now -= fmin(now, report->energyIncrease);
    }
    return fmax(now, (1.0 - forgotten) * system->energyPeak);
}

double tpCertificate_EnergyLimit(const tpSystem* system, const tpStepReport* report) {
    // Losses of opposite sign cancel. Links that are jammed by friction carry forces without bound
    // between each other, whose work on rounded velocities comes out as a loss here and as a gain
    // there: no energy is at play in that.
    // Nor can more be lost than there is: impulses that a solve got wrong trade what is left of the
    // rounding of 1e22 J.
    double known = peakNow(system, report) + system->scales.fall + fabs(report->externalWork);
    double traded = fmin(fabs(report->frictionLoss + report->impactLoss), known);
    double height = fabs(report->potentialBefore) + fabs(report->potentialAfter);
    return tp_certifiedEnergyPart * (known + traded) + roundings * height;
}

// Of the energy less the work done, J.
static double increaseOf(const tpStepReport* report) {
    return report->kineticAfter + report->potentialAfter - report->kineticBefore -
           report->potentialBefore - report->externalWork;
}

static double riseOf(const tpSystem* system, tpStepReport* report) {
    tpSystem_FindEnergies(system, &report->kineticAfter, &report->potentialAfter);
    return increaseOf(report);
}

static bool takeGains(tpSystem* system, const tpKeptMotion* start, double rise,
                      tpStepReport* report) {
    double taken = tpSystem_TakeGains(system, start, rise);
    report->impactLoss += taken;
    report->numericalLoss += taken;
    return taken > 0.0;
}

void tpCertificate_TakeEndGains(tpSystem* system, const tpKeptMotion* start, tpStepReport* report) {
    double rise = riseOf(system, report), limit = tpCertificate_EnergyLimit(system, report);
    system->breaches |= rise > limit ? 1u << tp_energyLaw : 0u;
    if (rise > allowedRise * limit && takeGains(system, start, rise, report)) {
        tpStepReport_AddNote(report, "energy that the end of the step gained was taken out again");
    }
}

bool tpCertificate_TakeGrossGains(tpSystem* system, const tpKeptMotion* start,
                                  tpStepReport* report) {
    double rise = riseOf(system, report), limit = tpCertificate_EnergyLimit(system, report);
    double known = system->energyPeak + system->scales.fall + fmax(report->externalWork, 0.0);
    bool isGross = rise > grossRise * limit && report->kineticAfter > newPart * known;
    if (isGross && isfinite(rise) && takeGains(system, start, 0.0, report)) {
        system->breaches |= 1u << tp_energyLaw;
        tpStepReport_AddNote(report, "energy out of nothing was taken from the bodies again");
        return false;
    }
    return true;
}

bool tpCertificate_HasIslandGained(tpSystem* system, const tpPose* startPoses,
                                   const tpVelocity* startVelocities, const tpStepReport* report) {
    // A gain that joints have made is booked as a loss below zero.
    double rise = increaseOf(report);
    tpIslandWork work = { rise, report->externalWork,
                          rise + report->frictionLoss + fmax(report->impactLoss, 0.0) };
    return tpSystem_HasIslandGained(system, startPoses, startVelocities, tp_certifiedEnergyPart,
                                    work);
}

void tpCertificate_JudgeIslands(tpSystem* system, const tpPose* startPoses,
                                const tpVelocity* startVelocities, tpStepReport* report) {
    if (tpCertificate_HasIslandGained(system, startPoses, startVelocities, report)) {
        system->breaches |= 1u << tp_energyLaw;
        tpStepReport_AddNote(report, "a part of the scene gained energy beyond its own scale");
    }
}

// What is left of the account is what the step itself took or gave, by implicit damping or by rows
// that are linear.
static void closeAccount(tpStepReport* report) {
    report->numericalLoss = -report->energyIncrease - report->frictionLoss - report->impactLoss;
    report->impactLoss += report->numericalLoss;
}

// Also true if it is not a number.
static bool isBeyond(double value, double limit) {
    return !(value <= limit);
}

void tpCertificate_End(tpSystem* system, tpStepReport* report) {
    report->energyIncrease = increaseOf(report);
    closeAccount(report);
    tpStepReport_SetDriveSlack(report, 0.0);
    report->limits.energy = tpCertificate_EnergyLimit(system, report);
    system->energyPeak = peakNow(system, report);
    report->limits.residual = fmax(report->limits.residual, roundingFactor * report->rounding);
    report->energyExcess = fmax(0.0, system->energyExcess + report->energyIncrease);
    const bool isViolated[tp_lawCount] = {
        [tp_contactLaw] = isBeyond(report->residual, report->limits.residual),
        [tp_energyLaw] = isBeyond(report->energyExcess, report->limits.energy) &&
                         !(report->energyIncrease <= 0.0),
        [tp_jointLaw] = isBeyond(report->jointDrift, report->limits.jointDrift),
        [tp_overlapLaw] = isBeyond(report->penetration, report->limits.penetration),
    };
    report->violations = system->breaches;
    for (int law = 0; law < tp_lawCount; ++law) {
        report->violations |= isViolated[law] ? 1u << law : 0u;
    }
    system->energyExcess = isViolated[tp_energyLaw] ? 0.0 : report->energyExcess;
    system->breaches = 0; // of the next step, even of one that cannot begin
}
