#include "dynamics/energy_guard.h"

#include "dynamics/certificate.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"

// The part of what the certificate allows.
static const double share = 0.25;

// The part of the budget that a whole step may leak when it is used up: some thousands of steps for
// what the certificate allows.
static const double leak = 1.0 / 64.0;

// Parts of the budget that the books of drives may be off by: with the budget itself half of what
// the certificate allows.
static const double mostSlack = 1.0;

// The energies at play, in parts of the budget.
static const double allEnergies = 4000.0;

// Shortly after a collision, in parts of a step; what energy may rise then, as a part of the
// budget: tolerances of solves.
enum { rattleParts = 8 };
static const double strict = 4e-7;

// What a part may lose then in which nothing collides, in parts of the budget: with care a coin
// that rolls lost a third of its energy in one step.
static const double mostDamping = 4.0;

// After so many steps parts may be longer again, if swings are so small that those of parts twice
// as long, which are four times as large, are within half the budget.
enum { longQuiet = 128 };

// And if next to nothing swings, all of the step at once after so few: swings of the whole step,
// four times as large with every halving, and this factor for what has not been seen of them, must
// be within half the budget.
enum { shortQuiet = 16 };
static const double unseen = 16.0;

// So many refused steps are enough. Of those after them one of so many is tried; at rest those
// whose number is a power of two, one in so many at the least: a try uses up the work of the step,
// and one in three such steps of flybody was not certified.
enum { fewRefused = 4, retryEvery = 16, restingRetryEvery = 1024 };

int tpEnergyBook_LevelOf(const tpEnergyBook* book, double h) {
    int level = book->level;
    for (double step = book->step; level > 0 && h <= 0.5 * step; step *= 0.5) {
        level -= 1;
    }
    return level;
}

double tpEnergyGuard_RiseOfSolves(const tpSystem* system, const tpStepReport* report) {
    return strict * share * tpCertificate_EnergyLimit(system, report);
}

void tpEnergyGuard_Begin(tpEnergyGuard* guard, tpEnergyBook* book, const tpSystem* system, double h,
                         const tpStepReport* report) {
    guard->book = book;
    guard->h = h;
    guard->level = tpEnergyBook_LevelOf(book, h);
    guard->budget = share * tpCertificate_EnergyLimit(system, report);
    guard->isAtRest = report->kineticBefore <= guard->budget;
}

void tpEnergyGuard_BeginPart(tpEnergyGuard* guard, const tpSystem* system,
                             const tpStepReport* report) {
    guard->energy = tpSystem_Energy(system);
    guard->work = report->externalWork;
    guard->friction = report->frictionLoss;
    guard->slack = tpStepReport_GetDriveSlack(report);
}

double tpEnergyGuard_Rise(const tpEnergyGuard* guard, const tpSystem* system,
                          const tpStepReport* report, bool hasCollided) {
    double rise = tpSystem_Energy(system) - guard->energy - (report->externalWork - guard->work);
    rise += hasCollided ? 0.0 : report->frictionLoss - guard->friction;
    // What the books of drives may be off by is neither gain nor loss, as far as the certificate
    // lets it pass. Next to nothing moves if it is more than all energies at play: there is no
    // measure then.
    double slack = tpStepReport_GetDriveSlack(report) - guard->slack;
    bool isAtRest = slack > allEnergies * guard->budget;
    slack = isAtRest ? slack : fmin(slack, mostSlack * guard->budget);
    return rise > 0.0 ? fmax(0.0, rise - slack) : fmin(0.0, rise + slack);
}

bool tpEnergyGuard_Allows(const tpEnergyGuard* guard, double rise, double part, bool isTouched,
                          bool hasCollided) {
    const tpEnergyBook* book = guard->book;
    if ((hasCollided || book->rattle > 0) && isTouched) {
        double deficit = hasCollided ? 0.0 : book->deficit;
        bool isDamped = !hasCollided && rise < -mostDamping * guard->budget;
        return rise <= deficit + strict * guard->budget && !isDamped;
    }
    if (fabs(rise) <= leak * part * guard->budget) {
        return true;
    }
    bool isHigh = !(book->excess + rise <= guard->budget);
    bool isLow = !hasCollided && !(book->deficit - rise <= guard->budget);
    // What goes back into the band is welcome.
    return !(isHigh && !(rise <= 0.0)) && !(isLow && !(rise >= 0.0));
}

void tpEnergyGuard_Take(tpEnergyGuard* guard, double rise, bool hasCollided) {
    tpEnergyBook* book = guard->book;
    // What could not be helped is told once, and the next excess counts from there.
    book->rattle = hasCollided ? rattleParts : book->rattle > 0 ? book->rattle - 1 : 0;
    book->excess = fmin(fmax(0.0, book->excess + rise), guard->budget);
    book->deficit = hasCollided ? 0.0 : fmin(fmax(0.0, book->deficit - rise), guard->budget);
    book->swing = fmax(book->swing, book->excess + book->deficit);
}

void tpEnergyGuard_StartBand(tpEnergyGuard* guard) {
    guard->book->excess = guard->book->deficit = 0.0;
}

void tpEnergyGuard_RaiseLevel(tpEnergyGuard* guard, int level) {
    tpEnergyBook* book = guard->book;
    if (level > guard->level) {
        book->level = guard->level = level;
        book->step = guard->h;
        book->quiet = 0;
        book->swing = 0.0;
    }
}

bool tpEnergyGuard_IsHopeless(const tpEnergyGuard* guard) {
    int refused = guard->book->refused;
    bool isDue = guard->isAtRest ? (refused & (refused - 1)) == 0 : refused % retryEvery == 0;
    return refused >= fewRefused && !(isDue && refused >= retryEvery);
}

void tpEnergyGuard_NoteRefused(tpEnergyGuard* guard, bool isRefused) {
    int* refused = &guard->book->refused;
    bool isFull = *refused == 2 * restingRetryEvery - 1;
    *refused = !isRefused ? 0 : isFull ? restingRetryEvery : *refused + 1;
}

void tpEnergyGuard_End(tpEnergyGuard* guard) {
    tpEnergyBook* book = guard->book;
    book->quiet += 1;
    bool isStill = ldexp(unseen * book->swing, 2 * book->level) < 0.5 * guard->budget;
    if (book->level > 0 && book->quiet >= shortQuiet && isStill) {
        book->level = 0;
        book->quiet = 0;
        book->swing = 0.0;
    }
    if (book->level > 0 && book->quiet >= longQuiet) {
        book->level -= 4.0 * book->swing < 0.5 * guard->budget ? 1 : 0;
        book->quiet = 0;
        book->swing = 0.0;
    }
}
