// The plots beside the stage: the certificate's four, and whatever is asked for of bodies, contacts and joints.

import { button, element } from './dom.js';
import { withUnit } from './format.js';
import { Plot } from './plot.js';
import { lineColour, theme } from './theme.js';

const axes = ['x', 'y', 'z'];
const mostOffers = 200; // of joints

// Running sums of losses and work, kept as the overview grows.
class Account {
    constructor() {
        this.count = 0;
        this.capacity = 0;
        this.hasWork = false;
        this.total = this.friction = this.impact = this.work = this.balance = new Float64Array(0);
    }

    update(overview) {
        if (overview.count < this.count) {
            this.count = 0;
            this.hasWork = false;
        }
        if (overview.count > this.capacity) {
            this.capacity = overview.capacity;
            for (const name of ['total', 'friction', 'impact', 'work', 'balance']) {
                const grown = new Float64Array(this.capacity);
                grown.set(this[name].subarray(0, this.count));
                this[name] = grown;
            }
        }
        for (let k = this.count; k < overview.count; ++k) {
            const before = k > 0;
            this.total[k] = overview.kinetic[k] + overview.potential[k];
            this.friction[k] = (before ? this.friction[k - 1] : 0) + overview.frictionLoss[k];
            this.impact[k] = (before ? this.impact[k - 1] : 0) + overview.impactLoss[k];
            this.work[k] = (before ? this.work[k - 1] : 0) + overview.externalWork[k];
            this.hasWork ||= this.work[k] !== 0;
            this.balance[k] = this.total[k] + this.friction[k] + this.impact[k] - this.work[k];
        }
        this.count = overview.count;
    }
}

const stateQuantities = [
    { name: 'position', unit: 'm', at: 0, parts: axes },
    { name: 'orientation', unit: '', at: 3, parts: ['w', 'x', 'y', 'z'] },
    { name: 'velocity', unit: 'm/s', at: 7, parts: axes },
    { name: 'angular velocity', unit: 'rad/s', at: 10, parts: axes },
    { name: 'speed', unit: 'm/s', size: 7 },
];

export class PlotPanel {
    constructor(container, run, player) {
        this.run = run;
        this.player = player;
        this.account = new Account();
        this.plots = [];
        this.range = null;
        this.list = element('div.plots');
        this.chooser = element('select', { 'aria-label': 'Add a plot', onchange: () => this.#choose() });
        this.hint = element('p.hint', {}, 'Drag in a plot to move the cursor; Shift-drag to zoom, double-click for all.');
        container.append(this.list, element('label.add', {}, this.chooser), this.hint);
        this.#addOverviewPlots();
        this.#fillChooser();
        run.on('overview', () => this.update());
        run.on('select', () => this.#fillChooser());
        theme.on('change', () => this.update());
    }

    #times() {
        return { x: this.run.overview.time, count: this.run.overview.count };
    }

    add(options, makeSeries, isRemovable = true) {
        const plot = new Plot(this.list, { xUnit: 's', ...options });
        plot.makeSeries = makeSeries;
        plot.on('cursor', time => this.player.seek(this.run.frameAt(time), { pause: true }));
        plot.on('zoom', range => this.setRange(range));
        if (isRemovable) {
            plot.actions.append(button('close', 'Remove this plot', () => {
                this.plots.splice(this.plots.indexOf(plot), 1);
                plot.remove();
            }));
        }
        this.plots.push(plot);
        plot.setRange(this.range);
        this.#refresh(plot);
        plot.setCursor(this.cursor ?? null);
        return plot;
    }

    async #refresh(plot) {
        try {
            plot.setSeries(await plot.makeSeries());
        } catch (error) {
            plot.title.textContent = `${plot.options.title}: ${error.message}`;
        }
    }

    #addOverviewPlots() {
        const { overview } = this.run;
        const line = (name, column, colour, more = {}) => ({ name, ...this.#times(), y: overview[column], colour: lineColour(colour), ...more });
        this.add({ title: 'Energy account', unit: 'J', height: 150 }, () => {
            const { account } = this;
            account.update(overview);
            const times = this.#times();
            const format = value => withUnit(Math.abs(value) > 1e-14 * Math.abs(account.balance[0] ?? 0) ? value : 0, 'J', 4); // without rounding
            return [
                line('kinetic', 'kinetic', 0),
                line('potential', 'potential', 3),
                { name: 'lost in friction', ...times, y: account.friction, colour: theme.colour('sliding'), format },
                { name: 'lost in impacts', ...times, y: account.impact, colour: lineColour(4), format },
                ...account.hasWork ? [{ name: 'external work', ...times, y: account.work, colour: lineColour(5) }] : [],
                {
                    name: 'sum', note: 'kinetic + potential + losses − external work: level if all energy is accounted for',
                    ...times, y: account.balance, colour: theme.colour('ink'), dashed: true, thin: true,
                },
            ];
        }, false);
        this.add({ title: 'Residual of the contact law', height: 96, log: true, limit: () => this.run.tolerance }, () =>
            [line('residual', 'residual', 2)], false);
        this.add({ title: 'Deepest penetration', unit: 'm', height: 84, fromZero: true }, () =>
            [line('depth', 'penetration', 1)], false);
        this.add({ title: 'Contacts', height: 84, fromZero: true }, () => [
            { ...line('sticking', 'sticking', 0, { step: true }), colour: theme.colour('sticking') },
            { ...line('sliding', 'sliding', 1, { step: true }), colour: theme.colour('sliding') },
        ], false);
        this.add({ title: 'Largest contact force', unit: 'N', height: 84, fromZero: true }, () =>
            [line('force', 'forceMax', 6)], false);
    }

    // What can be added; the value of an option is its place in this.offers.
    #fillChooser() {
        this.offers = [];
        const groups = [];
        const group = (label, offers) => {
            const options = offers.map(offer => element('option', { value: this.offers.push(offer) - 1 }, offer.label));
            groups.push(element('optgroup', { label }, ...options));
        };
        const { selected, head } = this.run;
        if (selected >= 0 && head.bodies[selected].moving >= 0) {
            const name = this.run.nameOf(selected);
            group(name, [
                ...stateQuantities.map(quantity => ({ label: `${name}: ${quantity.name}`, add: () => this.addState(selected, quantity) })),
                { label: `${name}: contact forces`, add: () => this.addContacts(selected) },
            ]);
        }
        const coordinates = this.run.coordinates.slice(0, mostOffers);
        if (coordinates.length > 0) {
            group('Coordinates of joints', coordinates.flatMap(({ name, hasTarget }, place) => [
                { label: `${name}: ${hasTarget ? 'value and target' : 'value'}`, add: () => this.addCoordinate(place, 'value') },
                { label: `${name}: speed`, add: () => this.addCoordinate(place, 'speed') },
                { label: `${name}: effort`, add: () => this.addCoordinate(place, 'effort') },
            ]));
        }
        const sensors = (head.sensors ?? []).slice(0, mostOffers);
        if (sensors.length > 0) {
            group('Sensors', sensors.map((name, value) => ({ label: name, add: () => this.addSensor(value) })));
        }
        const joints = head.joints.slice(0, mostOffers);
        if (joints.length > 0) {
            group('Joints', joints.map((name, joint) => ({ label: `${name}: force and torque`, add: () => this.addJoint(joint) })));
        }
        const { overview } = this.run;
        const column = (label, name, options = {}) => ({
            label, add: () => this.add({ title: label, height: 96, ...options }, () =>
                [{ name: label.toLowerCase(), ...this.#times(), y: overview[name], colour: lineColour(0) }]),
        });
        group('Every step', [
            column('Iterations', 'iterations', { fromZero: true }),
            column('Violation of the friction cone', 'coneViolation', { log: true }),
            column('Violation of maximal dissipation', 'dissipationViolation', { log: true }),
            column('Joint drift', 'jointDrift', { log: true, unit: 'm' }),
            column('Largest joint force', 'reactionMax', { fromZero: true, unit: 'N' }),
            column('Fastest sliding', 'slideSpeed', { fromZero: true, unit: 'm/s' }),
            column('Substeps', 'substeps', { fromZero: true }),
            column('External work', 'externalWork', { unit: 'J' }),
        ]);
        this.chooser.replaceChildren(element('option', { value: '' }, selected >= 0 ? 'Add a plot …' : 'Add a plot … (select a body for its states)'), ...groups);
    }

    #choose() {
        const offer = this.offers[Number(this.chooser.value)];
        if (this.chooser.value !== '' && offer) {
            const plot = offer.add();
            plot.root.scrollIntoView({ block: 'nearest' });
        }
        this.chooser.value = '';
    }

    addState(body, quantity) {
        const name = this.run.nameOf(body);
        return this.add({ title: `${name}: ${quantity.name}`, unit: quantity.unit, height: 110 }, async () => {
            const { first, stride, data } = await this.run.bodySeries(body);
            const count = Math.floor(data.length / 13);
            const x = Float64Array.from({ length: count }, (_, k) => this.run.timeOf(first + k * stride));
            if (quantity.size !== undefined) {
                const at = quantity.size;
                const y = Float64Array.from({ length: count }, (_, k) => Math.hypot(data[13 * k + at], data[13 * k + at + 1], data[13 * k + at + 2]));
                return [{ name: quantity.name, x, y, count, colour: lineColour(0) }];
            }
            return quantity.parts.map((part, i) => ({
                name: part, x, count, colour: lineColour(i),
                y: Float64Array.from({ length: count }, (_, k) => data[13 * k + quantity.at + i]),
            }));
        });
    }

    // Forces between a body and each of those it touches; or of one contact alone.
    addContacts(body, only = null) {
        const title = only
            ? `${this.run.nameOf(only.bodyA)} on ${this.run.nameOf(only.bodyB)}: this contact`
            : `${this.run.nameOf(body)}: contact forces`;
        return this.add({ title, unit: 'N', height: 120, fromZero: true }, async () => {
            const rows = await this.run.contactSeries(body);
            const wanted = only ? rows.filter(row => row.bodyA === only.bodyA && row.bodyB === only.bodyB && row.feature === only.feature) : rows;
            return forceSeries(this.run, wanted, body, only);
        });
    }

    // What a joint does to its second body: the size of its force, and that of its torque about the anchor.
    addJoint(joint) {
        const name = this.run.head.joints[joint];
        return this.add({ title: `${name}: force and torque`, unit: '', height: 120, fromZero: true }, async () => {
            const { first, stride, data } = await this.run.jointSeries(joint);
            const count = Math.floor(data.length / 6);
            const x = Float64Array.from({ length: count }, (_, k) => this.run.timeOf(first + k * stride));
            const size = at => Float64Array.from({ length: count }, (_, k) => Math.hypot(data[6 * k + at], data[6 * k + at + 1], data[6 * k + at + 2]));
            return [
                { name: 'force', x, count, y: size(0), colour: lineColour(0), format: value => withUnit(value, 'N', 4) },
                { name: 'torque', x, count, y: size(3), colour: lineColour(1), dashed: true, format: value => withUnit(value, 'N m', 4) },
            ];
        });
    }

    // The value of a coordinate with the target of its servo, its speed, or the effort of its drive.
    addCoordinate(place, what) {
        const { name, unit, hasTarget } = this.run.coordinates[place], isTurn = unit === 'rad';
        const units = unit ? { value: unit, speed: `${unit}/s`, effort: isTurn ? 'N m' : 'N' } : { value: '', speed: '', effort: '' };
        return this.add({ title: `${name}: ${what === 'value' && hasTarget ? 'value and target' : what}`, unit: units[what], height: 110 }, async () => {
            const { first, stride, data } = await this.run.coordinateSeries(place);
            const count = Math.floor(data.length / 4);
            const x = Float64Array.from({ length: count }, (_, k) => this.run.timeOf(first + k * stride));
            const line = (label, at, colour, more = {}) => ({ name: label, x, count, y: Float64Array.from({ length: count }, (_, k) => data[4 * k + at]), colour: lineColour(colour), ...more });
            return what === 'speed' ? [line('speed', 1, 1)] : what === 'effort' ? [line('effort', 3, 4)]
                : [line('value', 0, 0), ...(hasTarget ? [line('target', 2, 3, { dashed: true })].filter(({ y }) => y.some(Number.isFinite)) : [])];
        });
    }

    // One value of a sensor.
    addSensor(value) {
        const name = this.run.head.sensors[value];
        return this.add({ title: name, unit: '', height: 110 }, async () => {
            const { first, stride, data } = await this.run.sensorSeries(value);
            return [{ name: 'reading', x: Float64Array.from(data, (_, k) => this.run.timeOf(first + k * stride)), y: data, count: data.length, colour: lineColour(6) }];
        });
    }

    setRange(range) {
        this.range = range;
        this.plots.forEach(plot => plot.setRange(range));
    }

    setCursor(time) {
        this.cursor = time;
        this.plots.forEach(plot => plot.setCursor(time));
    }

    update() {
        this.plots.forEach(plot => this.#refresh(plot));
    }
}

// Sums of normal and of friction forces, frame by frame, zero where there is no contact.
function forceSeries(run, rows, body, only) {
    const first = run.firstFrame, count = run.lastFrame - first + 1;
    const x = Float64Array.from({ length: count }, (_, k) => run.timeOf(first + k));
    const partners = new Map();
    for (const row of rows) {
        const other = row.bodyA === body ? row.bodyB : row.bodyA;
        const key = only ? 'contact' : other;
        if (!partners.has(key)) {
            partners.set(key, { normal: new Float64Array(count), friction: new Float64Array(3 * count) });
        }
        const sums = partners.get(key), k = row.frame - first;
        if (k < 0 || k >= count) {
            continue;
        }
        const step = run.stepOf(row.frame);
        sums.normal[k] += row.normalImpulse / step;
        const sign = row.bodyA === body ? 1 : -1;
        for (let i = 0; i < 3; ++i) {
            sums.friction[3 * k + i] += sign * row.frictionImpulse[i] / step;
        }
    }
    const ranked = [...partners].map(([key, sums]) => ({ key, sums, most: sums.normal.reduce((a, b) => Math.max(a, b), 0) }))
        .sort((a, b) => b.most - a.most).slice(0, 4);
    return ranked.flatMap(({ key, sums }, i) => {
        const name = only ? '' : ` ${run.nameOf(key)}`;
        return [
            { name: `normal${name}`, x, count, y: sums.normal, colour: lineColour(i) },
            {
                name: `friction${name}`, x, count, colour: lineColour(i), dashed: true,
                y: Float64Array.from({ length: count }, (_, k) => Math.hypot(sums.friction[3 * k], sums.friction[3 * k + 1], sums.friction[3 * k + 2])),
            },
        ];
    });
}
