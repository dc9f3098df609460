// The certificate as a picture: the friction cone of one contact with the force in it, how far the step is within its four
// limits, and where the energy is.

import { element, svg } from './dom.js';
import { largestContact, keyOfContact, stateNames } from './forces.js';
import { number, withUnit } from './format.js';

const laws = [
    { title: 'Contact law', value: 'residual', limit: 'residualLimit', unit: '', bit: 1, note: 'Residual of complementarity and friction' },
    { title: 'Energy', value: 'energyExcess', limit: 'energyLimit', unit: 'J', bit: 2, note: 'Energy gained beyond the work done' },
    { title: 'Joints', value: 'jointDrift', limit: 'driftLimit', unit: 'm', bit: 4, note: 'How far joints have come apart' },
    { title: 'Overlap', value: 'penetration', limit: 'penetrationLimit', unit: 'm', bit: 8, note: 'How deep bodies overlap' },
];

const scale = 8; // powers of ten below a limit that a bar shows

const length = v => Math.hypot(...v);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// Two directions across a normal.
function tangents([x, y, z]) {
    const sign = z >= 0 ? 1 : -1, a = -1 / (sign + z), b = x * y * a;
    return [[1 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]];
}

export class LawPanel {
    constructor(container, run) {
        this.run = run;
        this.chosen = null;
        this.cone = element('div.cones');
        this.words = element('p.law-words');
        this.bars = element('div.limits');
        this.energy = element('div.account');
        container.append(element('h2', {}, 'The friction cone'), this.cone, this.words, element('h2', {}, 'The step and its limits'), this.bars,
            element('h2', {}, 'Where the energy is'), this.energy);
    }

    get isVisible() {
        return this.cone.offsetParent !== null;
    }

    show(view) {
        this.view = view ?? this.view;
        if (!this.view || !this.isVisible) {
            return;
        }
        this.#showCone(this.view);
        this.#showLimits(this.view.frame);
        this.#showEnergy(this.view.frame);
    }

    // The contact that was chosen, while it is there; else the one with the largest force.
    #findContact(view) {
        for (let i = 0; this.chosen && i < view.contactCount; ++i) {
            const contact = view.contact(i);
            if (keyOfContact(contact) === this.chosen) {
                return contact;
            }
        }
        return largestContact(view);
    }

    #showCone(view) {
        const { run } = this, contact = this.#findContact(view);
        if (!contact) {
            this.cone.replaceChildren(element('p.hint', {}, 'Nothing touches at this time.'));
            this.words.textContent = '';
            return;
        }
        const law = run.materials?.betweenBodies(contact.bodyA, contact.bodyB) ?? null;
        const step = run.stepOf(view.frame), normal = contact.normalImpulse / step;
        const friction = contact.frictionImpulse.map(part => part / step), size = length(friction);
        const state = stateNames[contact.state] ?? 'separated';
        const slope = law ? (contact.state === 2 ? law.static : law.dynamic) : normal > 0 ? size / normal : 0;
        this.cone.replaceChildren(this.#drawSide(normal, size, slope, state), this.#drawAbove(contact, friction, slope * normal, law, state));
        const [mover, other] = run.moverFirst(contact.bodyA, contact.bodyB);
        const share = slope * normal > 0 ? size / (slope * normal) : 0;
        const outcome = state === 'separated' ? 'It carries nothing.'
            : state === 'sticking' ? `It sticks: friction is ${withUnit(size, 'N')}, ${number(100 * share, 3)} % of what it may be.`
                : `It slides at ${withUnit(contact.slidingSpeed, 'm/s')}: friction is ${withUnit(size, 'N')}, as large as it may be, against the slip.`;
        this.words.replaceChildren(element(`i.dot.${state}`), ` ${run.nameOf(mover)} on ${run.nameOf(other)}. Normal force ${withUnit(normal, 'N')}`,
            law ? `, coefficient ${number(slope, 3)}. ` : '. ', outcome);
    }

    // The cone from the side, through the friction force: what is within is allowed.
    #drawSide(normal, friction, slope, state) {
        const width = 168, height = 150, foot = 132, tall = 108;
        const angle = Math.atan(Math.max(slope, 1e-9)), reach = Math.min(tall * Math.tan(angle), 76);
        const top = Math.min(tall, reach / Math.max(slope, 1e-9)), middle = width / 2;
        const unit = normal > 0 ? top * 0.82 / normal : 0;
        const tip = [middle + friction * unit, foot - normal * unit];
        return svg('svg.cone', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Friction cone from the side; the force is ${state}` },
            svg('line.ground', { x1: 8, y1: foot, x2: width - 8, y2: foot }),
            svg('path.allowed', { d: `M${middle} ${foot} L${middle - reach} ${foot - top} L${middle + reach} ${foot - top} Z` }),
            svg('path.edge', { d: `M${middle - reach} ${foot - top} L${middle} ${foot} L${middle + reach} ${foot - top}` }),
            svg('line.axis', { x1: middle, y1: foot, x2: middle, y2: foot - top }),
            svg('text', { x: middle + reach - 2, y: foot - top - 5, 'text-anchor': 'end' }, `μ = ${number(slope, 3)}`),
            ...arrow([middle, foot], tip, state));
    }

    // The cone from above: the disc that friction may reach, and the slip that it acts against.
    #drawAbove(contact, friction, most, law, state) {
        const size = 150, middle = size / 2, radius = 56;
        const [t, o] = tangents(contact.normal), unit = most > 0 ? radius / most : 0;
        const tip = [middle + dot(friction, t) * unit, middle - dot(friction, o) * unit];
        const along = length([tip[0] - middle, tip[1] - middle]);
        const parts = [
            svg('ellipse.allowed', { cx: middle, cy: middle, rx: radius * (law?.et ?? 1), ry: radius * (law?.eo ?? 1) }),
            svg('ellipse.edge', { cx: middle, cy: middle, rx: radius * (law?.et ?? 1), ry: radius * (law?.eo ?? 1) }),
            svg('path.axis', { d: `M${middle - 4} ${middle}h8M${middle} ${middle - 4}v8` }),
        ];
        if (state === 'sliding' && along > 1) {
            const away = [middle - (tip[0] - middle) / along * 66, middle - (tip[1] - middle) / along * 66];
            parts.push(svg('line.slip', { x1: middle, y1: middle, x2: away[0], y2: away[1] }),
                svg('text', { x: Math.min(size - 24, Math.max(2, away[0] - 8)), y: Math.min(size - 4, Math.max(10, away[1] + 12)) }, 'slip'));
        }
        return svg('svg.cone', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': 'Friction from above, within its largest value' }, ...parts,
            ...(along > 0.5 ? arrow([middle, middle], tip, state) : [svg(`circle.force.${state}`, { cx: middle, cy: middle, r: 3 })]));
    }

    #showLimits(frame) {
        const { overview } = this.run;
        if (overview.count === 0) {
            return;
        }
        const row = overview.rowOf(frame);
        this.bars.replaceChildren(...laws.filter(law => law.bit !== 4 || this.run.head.joints.length > 0).map(law => {
            const value = overview[law.value][row], limit = overview[law.limit][row];
            const isBeyond = (overview.violations[row] & law.bit) !== 0;
            const share = value > 0 && limit > 0 ? Math.max(0, Math.min(1.15, 1 + Math.log10(value / limit) / scale)) : 0;
            const fill = element('i.fill');
            fill.style.width = `${100 * share / 1.15}%`;
            return element(`div.limit${isBeyond ? '.beyond' : ''}`, { title: law.note }, element('span.name', {}, law.title),
                element('span.bar', { role: 'meter', 'aria-label': law.title, 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-valuenow': share.toFixed(2) }, fill, element('i.mark')),
                element('span.value', {}, value > 0 ? (law.unit ? withUnit(value, law.unit, 2) : number(value, 2)) : '0'),
                element('span.of', {}, limit > 0 ? `of ${law.unit ? withUnit(limit, law.unit, 2) : number(limit, 2)}` : ''));
        }));
    }

    // What was there at the start and came in from outside, and what it is now.
    #showEnergy(frame) {
        const { overview } = this.run;
        if (overview.count === 0) {
            return;
        }
        const row = overview.rowOf(frame);
        let friction = 0, impact = 0, work = 0, lowest = Infinity;
        for (let k = 0; k <= row; ++k) {
            friction += overview.frictionLoss[k];
            impact += overview.impactLoss[k];
            work += overview.externalWork[k];
            lowest = Math.min(lowest, overview.potential[k]);
        }
        // Potential energy counts from its lowest, so that bars have a length.
        const start = overview.kinetic[0] + overview.potential[0] - lowest;
        const now = [['kinetic', overview.kinetic[row]], ['potential', overview.potential[row] - lowest], ['friction', friction], ['impacts', impact]];
        const sum = now.reduce((total, [, value]) => total + value, 0), from = start + work, open = from - sum;
        const most = Math.max(from, sum, 1e-300);
        const bar = parts => element('div.stack', {}, ...parts.map(([name, value]) => {
            const piece = element(`i.${name}`, { title: `${name} ${withUnit(value, 'J')}` });
            piece.style.width = `${Math.max(0, 100 * value / most)}%`;
            return piece;
        }));
        const key = (name, words, value) => element('span.key', {}, element(`i.${name}`), words, element('b', {}, withUnit(value, 'J')));
        this.energy.replaceChildren(
            element('p.row-title', {}, 'At the start', Math.abs(work) > 1e-12 * most ? ` and external work (${withUnit(work, 'J')})` : ''), bar([['start', Math.min(start, from)], ['work', Math.max(0, work)]]),
            element('p.row-title', {}, 'Now'), bar(now),
            element('p.keys', {}, key('kinetic', 'motion', now[0][1]), key('potential', 'height and springs', now[1][1]), key('friction', 'lost in friction', friction), key('impacts', 'lost in impacts', impact)),
            element('p.hint', {}, `The account closes to ${withUnit(Math.abs(open), 'J', 2)}${most > 1e-200 ? `, ${number(100 * Math.abs(open) / most, 2)} %` : ''}.`));
    }
}

// A line with a head.
function arrow([x0, y0], [x1, y1], state) {
    const long = Math.hypot(x1 - x0, y1 - y0), head = Math.min(9, 0.5 * long);
    const [dx, dy] = long > 0 ? [(x1 - x0) / long, (y1 - y0) / long] : [0, -1];
    const neck = [x1 - dx * head, y1 - dy * head];
    return [
        svg(`line.force.${state}`, { x1: x0, y1: y0, x2: neck[0], y2: neck[1] }),
        svg(`path.head.${state}`, { d: `M${x1} ${y1} L${neck[0] - dy * head * 0.45} ${neck[1] + dx * head * 0.45} L${neck[0] + dy * head * 0.45} ${neck[1] - dx * head * 0.45} Z` }),
        svg('circle.foot', { cx: x0, cy: y0, r: 2.6 }),
    ];
}
