// Sums over the contacts of a run, lane by lane: included after sweep_lanes.h. A lane's sum goes through its
// contacts in order whatever the width, so that the bits are the same.

static inline void addTo(double* sums, int lane, wide a) {
    storeWide(sums + lane, loadWide(sums + lane) + a);
}

static inline void raiseTo(double* largest, int lane, wide a) {
    storeWide(largest + lane, wideMax(a, loadWide(largest + lane)));
}

static inline wide squareOf(wide a) {
    return a * a;
}

static void freeRun(const tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums) {
    const double* velocities = (const double*)sweeper->velocities;
    const tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadLines(velocities, first->bodyA + lane, &a);
        loadLines(velocities, first->bodyB + lane, &b);
        for (const tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide u[3], zero = wideOf(0.0);
            speedsOf(pack, lane, &a, &b, u);
            wideMask isRough = wideGreater(loadWide(&pack->muDynamic[lane]), zero);
            wide slide = squareOf(u[1] + loadWide(&pack->bias[1][lane])) +
                         squareOf(u[2] + loadWide(&pack->bias[2][lane]));
            wide normal = squareOf(u[0] + loadWide(&pack->bias[0][lane]));
            addTo(sums->squares, lane, normal + wideSelect(isRough, slide, zero));
        }
    }
}

static void workRun(const tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums) {
    const double* velocities = (const double*)sweeper->velocities;
    const tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadLines(velocities, first->bodyA + lane, &a);
        loadLines(velocities, first->bodyB + lane, &b);
        for (const tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide u[3];
            speedsOf(pack, lane, &a, &b, u);
            addTo(sums->normalWork, lane, loadWide(&pack->total[0][lane]) * u[0]);
            addTo(sums->frictionWork, lane,
                  loadWide(&pack->total[1][lane]) * u[1] + loadWide(&pack->total[2][lane]) * u[2]);
        }
    }
}

// The natural map of sweep_judge.c, squared; rho = rows / trace(W).
static inline wide squaredMiss(const tpContactPack* pack, int lane, const wide u[3], wide mu,
                               wide speed) {
    wide zero = wideOf(0.0), one = wideOf(1.0);
    wide nn = loadWide(&pack->response[0][lane]), tt = loadWide(&pack->response[3][lane]);
    wide oo = loadWide(&pack->response[5][lane]);
    wideMask isRough = wideGreater(mu, zero);
    wide trace = nn + wideSelect(isRough, tt + oo, zero);
    wide rows =
        wideSelect(isRough, wideSelect(wideGreater(oo, zero), wideOf(3.0), wideOf(2.0)), one);
    wide rho = wideSelect(wideGreater(trace, zero), rows / trace, one);
    wide rn = loadWide(&pack->impulse[0][lane]);
    wide rt = loadWide(&pack->impulse[1][lane]), ro = loadWide(&pack->impulse[2][lane]);
    // The nearest point of the cone.
    wide n = rn - rho * (u[0] + mu * speed), t = rt - rho * u[1], o = ro - rho * u[2];
    wide force = wideSqrt(t * t + o * o);
    wide edge = (n + mu * force) / (one + mu * mu);
    wideMask slips = wideGreater(force, mu * n);
    wide normal = wideSelect(slips, wideMax(edge, zero), n);
    wide factor = wideSelect(slips, mu * normal / force, one);
    wide miss = squareOf(rn - normal) + squareOf(rt - factor * t) + squareOf(ro - factor * o);
    return miss / squareOf(rho);
}

static void judgeRun(tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums) {
    const double* velocities = (const double*)sweeper->velocities;
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; lane += W) {
        WideLines a, b;
        loadLines(velocities, first->bodyA + lane, &a);
        loadLines(velocities, first->bodyB + lane, &b);
        for (tpContactPack* pack = first; pack < first + run->count; ++pack) {
            wide u[3];
            speedsOf(pack, lane, &a, &b, u);
            wide rt = loadWide(&pack->impulse[1][lane]), ro = loadWide(&pack->impulse[2][lane]);
            for (int k = 0; k < 3; ++k) {
                storeWide(&pack->speed[k][lane], u[k]);
                u[k] = u[k] + loadWide(&pack->bias[k][lane]);
            }
            wide load = loadWide(&pack->impulse[0][lane]);
            wide force = wideSqrt(rt * rt + ro * ro), speed = wideSqrt(u[1] * u[1] + u[2] * u[2]);
            // What holds beyond mu_d is judged in the cone of mu_s.
            wide mu = loadWide(&pack->muDynamic[lane]);
            wideMask holds = wideGreater(force, mu * load * wideOf(1.0 + 1e-9));
            mu = wideSelect(holds, loadWide(&pack->muStatic[lane]), mu);
            addTo(sums->squares, lane, squaredMiss(pack, lane, u, mu, speed));
            raiseTo(sums->load, lane, load);
            raiseTo(sums->speed, lane, speed);
        }
    }
}

static void ratioRun(const tpSweeper* sweeper, const tpPackRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums) {
    const tpContactPack* first = &sweeper->packs[run->first];
    for (const tpContactPack* pack = first; pack < first + run->count; ++pack) {
        for (int lane = 0; lane < tp_packWidth; lane += W) {
            wide zero = wideOf(0.0), one = wideOf(1.0);
            wide rt = loadWide(&pack->impulse[1][lane]), ro = loadWide(&pack->impulse[2][lane]);
            wide ut = loadWide(&pack->speed[1][lane]) + loadWide(&pack->bias[1][lane]);
            wide uo = loadWide(&pack->speed[2][lane]) + loadWide(&pack->bias[2][lane]);
            wide load = loadWide(&pack->impulse[0][lane]), mu = loadWide(&pack->muDynamic[lane]);
            wide force = wideSqrt(rt * rt + ro * ro), speed = wideSqrt(ut * ut + uo * uo);
            wideMask holds = wideGreater(force, mu * load * wideOf(1.0 + 1e-9));
            wide limit = wideSelect(holds, loadWide(&pack->muStatic[lane]), mu) * load;
            limit = wideSelect(wideGreater(load, wideOf(leastLoad)), limit, zero);
            wideMask carries = wideGreater(limit, zero);
            raiseTo(sums->cone, lane, wideSelect(carries, force / limit - one, zero));
            wide gap = one + (rt * ut + ro * uo) / (limit * speed);
            gap = wideSelect(wideGreater(speed, wideOf(leastSpeed)), gap, zero);
            raiseTo(sums->dissipation, lane, wideSelect(carries, gap, zero));
        }
    }
}
