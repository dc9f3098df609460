// A run as the page's parts share it: its source, its overview, what was found in it, what is selected.

import { Emitter } from './dom.js';
import { many, number, withUnit } from './format.js';
import { lowerBound } from './plot.js';
import { Overview } from './source.js';

const leastTolerance = 1e-8; // what every solve is tight enough for: docs/conventions.md
const coordinateUnits = { prismatic: ['m'], distance: ['m'], cylindrical: ['m', 'rad'], planar: ['m', 'm', 'rad'] }; // of joints; turns otherwise
const mostRows = 60000;      // of the overview; above that a row stands for several frames

export class Run extends Emitter {
    #bodySeries = new Map();
    #contactSeries = new Map();
    #jointSeries = new Map();
    #coordinateSeries = new Map();
    #sensorSeries = new Map();

    constructor(source) {
        super();
        this.source = source;
        this.head = source.head;
        this.overview = new Overview();
        this.overview.stride = source.isLive ? 1 : Math.max(1, Math.ceil(source.frameCount / mostRows));
        this.labels = [];
        this.selected = -1;
        this.largest = {};
        this.step = this.head.step;
        this.stepper = this.head.stepper;
        this.scene = parse(this.head.scene);
        this.summary = parse(this.head.summary);
    }

    // Of the contact law: that of a recording, or of the latest step of a live run, which may be asked for anew at any time.
    get tolerance() {
        const { overview, scene, summary } = this;
        const latest = overview.count > 0 ? overview.residualLimit[overview.count - 1] : 0;
        return Math.max(leastTolerance, summary?.residual_tolerance ?? (latest > 0 ? latest : scene?.simulation?.options?.tolerance ?? 0));
    }

    get firstFrame() {
        return this.source.firstFrame;
    }

    get lastFrame() {
        return this.source.frameCount - 1;
    }

    // Frames of a recording are a fixed time apart; those of a live run are where their steps ended.
    get frameTime() {
        return this.step * this.head.every * (this.head.stride ?? 1);
    }

    timeOf(frame) {
        const { overview } = this;
        if (overview.stride === 1 && frame - overview.first < overview.count && frame >= overview.first) {
            return overview.time[frame - overview.first];
        }
        return frame * this.frameTime;
    }

    frameAt(time) {
        const { overview } = this;
        if (overview.stride === 1 && overview.count === this.source.frameCount - overview.first) {
            const above = lowerBound(overview.time, overview.count, time);
            const isNearer = above > 0 && (above === overview.count || time - overview.time[above - 1] < overview.time[above] - time);
            return overview.first + (isNearer ? above - 1 : above);
        }
        return Math.max(this.firstFrame, Math.min(this.lastFrame, Math.round(time / this.frameTime)));
    }

    // Seconds of the step that led to a frame. A live run's may have changed on the way.
    stepOf(frame) {
        const before = frame - 1 - this.overview.first;
        if (!this.source.isLive || before < 0 || before + 1 >= this.overview.count) {
            return this.step;
        }
        return this.overview.time[before + 1] - this.overview.time[before];
    }

    nameOf(body) {
        return this.head.bodies[body]?.name ?? 'a body made later';
    }

    // Two bodies that touch, the one that moves first.
    moverFirst(a, b) {
        return (this.head.bodies[a]?.moving ?? -1) < 0 && this.head.bodies[b]?.moving >= 0 ? [b, a] : [a, b];
    }

    async readOverview() {
        await this.source.readOverview(this.overview, () => this.#grew());
        this.labels = await this.source.readLabels();
        this.emit('overview');
    }

    async extendOverview() {
        const from = this.overview.first + this.overview.count;
        if (from < this.source.frameCount) {
            await this.source.readOverview(this.overview, () => {}, from, this.source.frameCount);
            this.#forgetRows();
            this.#grew();
        }
    }

    // Rows of frames that a live run has forgotten, once they are the larger part: each row moves once on average.
    #forgetRows() {
        const { overview, source } = this;
        if (source.isLive && source.firstFrame - overview.first > overview.count / 2) {
            overview.dropBefore(source.firstFrame);
            this.largest = {};
            this.searched = 0;
        }
    }

    #grew() {
        this.#findLargest();
        this.emit('overview');
    }

    #findLargest() {
        const { overview } = this;
        const done = this.searched ?? 0;
        for (let row = done; row < overview.count && !this.hasContacts; ++row) {
            this.hasContacts = overview.contacts[row] > 0;
        }
        for (const [name, column] of [['force', 'forceMax'], ['reaction', 'reactionMax'], ['penetration', 'penetration'], ['residual', 'residual']]) {
            let best = this.largest[name] ?? { value: 0, frame: -1, row: -1 };
            for (let row = done; row < overview.count; ++row) {
                if (overview[column][row] > best.value) {
                    best = { value: overview[column][row], frame: this.#frameOf(name, row), row };
                }
            }
            this.largest[name] = best;
        }
        this.searched = overview.count;
    }

    // A row of several frames knows in which of them its largest forces are.
    #frameOf(name, row) {
        const { overview } = this;
        const exact = { force: overview.forceFrame, reaction: overview.reactionFrame }[name];
        return exact && this.source.isExact ? exact[row] : overview.frameOf(row);
    }

    restartOverview() {
        this.overview.clear();
        this.overview.first = this.source.firstFrame;
        this.largest = {};
        this.searched = 0;
        this.forgetSeries();
    }

    // What is to be wary of in a row: 'error', 'warning' or null.
    concernOf(row) {
        const { overview } = this;
        if (overview.undone[row] > 0 || overview.failures[row] > 0) {
            return 'error';
        }
        return overview.fallback[row] >= 0 || this.lawsBroken(row).length > 0 ? 'warning' : null;
    }

    // The laws that a step is beyond the limits of. Recordings of earlier versions know the residual alone.
    lawsBroken(row) {
        const { overview } = this;
        const isBeyond = overview.residual[row] > this.tolerance || Number.isNaN(overview.residual[row]);
        if (!(overview.residualLimit[row] > 0)) {
            return isBeyond ? ['contact law'] : [];
        }
        return ['contact law', 'energy', 'joints', 'overlap'].filter((_, law) => (overview.violations[row] & 1 << law) !== 0);
    }

    describeConcern(row) {
        const { overview } = this;
        const parts = [];
        if (overview.undone[row] > 0) {
            parts.push('step undone');
        }
        if (overview.fallback[row] >= 0) {
            parts.push(`taken by ${this.labels[overview.fallback[row]] ?? 'another method'}`);
        } else if (overview.failures[row] > 0) {
            parts.push(`${many(overview.failures[row], 'solve')} not converged`);
        }
        const broken = this.lawsBroken(row);
        if (broken.includes('contact law')) {
            parts.push(`residual ${number(overview.residual[row], 2)}`);
        }
        parts.push(...broken.filter(law => law !== 'contact law').map(law => `${law} beyond the limit`));
        return parts.join(', ');
    }

    // Steps with a concern of each kind, those that are beyond the limit of a law, and those that another method took.
    countConcerns() {
        const counts = { error: 0, warning: 0, broken: 0, taken: 0, firstError: -1, firstTaken: -1 };
        for (let row = 0; row < this.overview.count; ++row) {
            const kind = this.concernOf(row);
            if (!kind) {
                continue;
            }
            counts[kind] += 1;
            counts.broken += this.lawsBroken(row).length > 0 ? 1 : 0;
            if (kind === 'error' && counts.firstError < 0) {
                counts.firstError = row;
            }
            if (this.overview.fallback[row] >= 0) {
                counts.taken += 1;
                counts.firstTaken = counts.firstTaken < 0 ? row : counts.firstTaken;
            }
        }
        return counts;
    }

    // Spans of frames in which something slides, as pairs of rows.
    slidingSpans() {
        const { overview } = this;
        const spans = [];
        let start = -1;
        for (let row = 0; row <= overview.count; ++row) {
            const slides = row < overview.count && overview.sliding[row] > 0;
            if (slides && start < 0) {
                start = row;
            } else if (!slides && start >= 0) {
                spans.push([start, row - 1]);
                start = -1;
            }
        }
        return spans;
    }

    select(body) {
        this.selected = body;
        this.emit('select', body);
    }

    // Frames in which something starts to slide.
    slipStarts() {
        return this.slidingSpans().map(([from]) => this.overview.frameOf(from));
    }

    forgetSeries() {
        this.#jointSeries.clear();
        this.#coordinateSeries.clear();
        this.#sensorSeries.clear();
        this.#bodySeries.clear();
        this.#contactSeries.clear();
    }

    // All states of a body, from memory where they have been read before.
    bodySeries(body) {
        const moving = this.head.bodies[body].moving;
        if (!this.#bodySeries.has(moving)) {
            if (this.#bodySeries.size > 64) {
                this.#bodySeries.clear();
            }
            this.#bodySeries.set(moving, this.source.readBodySeries(moving));
        }
        return this.#bodySeries.get(moving);
    }

    contactSeries(body) {
        if (!this.#contactSeries.has(body)) {
            this.#contactSeries.set(body, this.source.readContactSeries(body));
        }
        return this.#contactSeries.get(body);
    }

    // Free coordinates of all joints, in the order of the core: [{ name, unit, hasTarget, hasDrive }]. Recordings have their names alone: the
    // scene says what moves, and the numbers whether there is a target.
    get coordinates() {
        const { joints } = this.head.settings ?? {};
        if (!joints) {
            return (this.head.coordinates ?? []).map(name => ({ name, unit: this.#unitOf(name), hasTarget: true, hasDrive: true }));
        }
        return joints.flatMap((list, joint) => list.map(({ name, unit, target, speed }, coordinate) => ({
            joint, coordinate, unit, name: name ? `${this.head.joints[joint]}.${name}` : this.head.joints[joint],
            hasTarget: target !== undefined, hasDrive: target !== undefined || speed !== undefined,
        })));
    }

    // Of a coordinate "JOINT" or "JOINT.AXIS", where an axis has a name or is counted from the second on.
    #unitOf(name) {
        const joint = this.scene?.joints?.find?.(one => name === one.name || name.startsWith(`${one.name}.`));
        if (!joint) {
            return '';
        }
        const axis = name.slice(joint.name.length + 1), named = joint.axes?.findIndex?.(one => one.name === axis) ?? -1, place = named >= 0 ? named : Math.max(0, Number(axis || 1) - 1);
        return (joint.axes?.length > 0 ? (joint.axes[place]?.slide ? 'm' : 'rad') : coordinateUnits[joint.type]?.[place]) ?? 'rad';
    }

    coordinateSeries(place) {
        if (!this.#coordinateSeries.has(place)) {
            this.#coordinateSeries.set(place, this.source.readCoordinateSeries(place));
        }
        return this.#coordinateSeries.get(place);
    }

    sensorSeries(value) {
        if (!this.#sensorSeries.has(value)) {
            this.#sensorSeries.set(value, this.source.readSensorSeries(value));
        }
        return this.#sensorSeries.get(value);
    }

    jointSeries(joint) {
        if (!this.#jointSeries.has(joint)) {
            this.#jointSeries.set(joint, this.source.readJointSeries(joint));
        }
        return this.#jointSeries.get(joint);
    }

    describe() {
        const { head } = this;
        const moving = head.bodies.filter(body => body.moving >= 0).length;
        const parts = [this.stepper, `step ${withUnit(this.step, 's')}`, many(moving, 'body', 'bodies')];
        if (head.joints.length > 0) {
            parts.push(many(head.joints.length, 'joint'));
        }
        if (head.every * (head.stride ?? 1) > 1) {
            const every = head.every * (head.stride ?? 1);
            parts.push(every === 2 ? 'every other step' : `one step in ${every}`);
        }
        return parts;
    }
}

function parse(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}
