// What can be changed while a run goes on: friction and restitution of its materials, the mass of the selected body, gravity,
// the step and the stepper.

import { button, element } from './dom.js';
import { number, withUnit } from './format.js';

const stepRange = [1e-4, 0.05]; // s, of the slider; the field takes any
const about = {
    'stewart-trinkle': 'classic implicit LCP steps',
    anitescu: 'the default: joints, restitution, stacks',
    'mirtich-canny': 'impacts one by one, exactly in time',
    'bender-schmitt': 'mechanisms, located impacts, crowds',
    'chakraborty-trinkle': 'smooth bodies that roll and spin',
    penalty: 'contacts as stiff springs',
    'free-flight': 'no contacts, no joints',
    'small-steps': 'real time, thousands of bodies',
    auto: 'chooses method and step for an accuracy',
};

// A slider with a name, its value beside it. `to` and `from` map the position in [0, 1] to a value and back.
export class Slider {
    constructor({ name, unit = '', value, to, from, format, onChange, hint = '' }) {
        Object.assign(this, { to, from, onChange });
        this.format = format ?? (v => (unit ? withUnit(v, unit) : number(v, 3)));
        this.output = element('output');
        this.input = element('input', { type: 'range', min: 0, max: 1, step: 'any', 'aria-label': name, oninput: () => this.#slide() });
        this.root = element('label.slider', { title: hint }, element('span.name', {}, name), this.output, this.input);
        this.set(value);
    }

    set(value) {
        this.value = value;
        this.input.value = Math.max(0, Math.min(1, this.from(value)));
        this.output.textContent = this.format(value);
        this.input.setAttribute('aria-valuetext', this.output.textContent);
        this.input.style.setProperty('--at', this.input.value);
    }

    #slide() {
        this.value = this.to(Number(this.input.value));
        this.output.textContent = this.format(this.value);
        this.input.setAttribute('aria-valuetext', this.output.textContent);
        this.input.style.setProperty('--at', this.input.value);
        this.onChange(this.value);
    }
}

export const linear = (low, high, grain = 0) => ({
    to: at => {
        const value = low + at * (high - low);
        return grain > 0 ? Number((Math.round(value / grain) * grain).toPrecision(8)) : value;
    },
    from: value => (value - low) / (high - low),
});

export const logarithmic = (low, high) => ({
    to: at => Number((low * (high / low) ** at).toPrecision(2)),
    from: value => Math.log(value / low) / Math.log(high / low),
});

export class ChangePanel {
    constructor(container, run, live, plot) {
        this.run = run;
        this.plot = plot;
        this.live = live;
        this.changes = new Map(); // what was changed, for those who want to pass it on
        this.materials = element('div');
        this.body = element('div');
        this.world = element('div');
        this.steppers = element('fieldset.steppers', {}, element('legend', {}, 'Stepper'));
        this.joints = element('div');
        this.note = element('p.notice', { hidden: true });
        this.jointTitle = element('h2', {}, 'Joints');
        container.append(this.steppers, this.note, this.jointTitle, this.joints, element('h2', {}, 'Step and gravity'), this.world, element('h2', {}, 'Materials'), this.materials, element('h2', {}, 'Mass'), this.body);
        this.#addSteppers();
        this.#addWorld();
        this.#addMaterials();
        this.#addBody();
        this.#addJoints();
        this.showLeftOut(run.head.settings);
        run.on('select', () => this.#addBody());
        run.on('settings', () => this.#follow());
        run.on('values', settings => this.showLeftOut(settings));
    }

    // Targets of servos and speeds of motors, with where the joint is.
    #addJoints() {
        const { run } = this, { joints = [] } = run.head.settings ?? {};
        let place = 0;
        this.readings = [];
        joints.forEach((coordinates, joint) => coordinates.forEach(({ name, unit, limits: [low, high], target, speed }, coordinate) => {
            const title = name ? `${run.head.joints[joint]}.${name}` : run.head.joints[joint], at = place++;
            const add = (kind, value, range, shownUnit) => {
                const reading = element('span.reading');
                const slider = new Slider({
                    name: kind === 'target' ? title : `${title}, motor`, value, ...linear(...range), format: shown => withUnit(shown, shownUnit, 3), hint: kind === 'target' ? 'Target of the servo' : 'Speed of the motor',
                    onChange: changed => {
                        this.order(`${kind} ${joint} ${coordinate}`, { [kind]: { joint, coordinate, value: changed } });
                        this.live.goOn(); // or nothing would be seen of it
                    },
                });
                slider.root.append(reading);
                this.joints.append(element('div.driven', {}, slider.root, button('trail', `Plot ${title}`, () => this.plot(at))));
                this.readings.push({ reading, at, unit: shownUnit, kind });
            };
            const room = unit === 'rad' ? Math.PI : Math.max(1, 2 * Math.abs(target ?? 0));
            if (target !== undefined) {
                add('target', target ?? 0, [low ?? Math.min(-room, target), high ?? Math.max(room, target)], unit);
            }
            if (speed !== undefined) {
                const most = Math.max(1, 3 * Math.abs(speed ?? 0));
                add('motor', speed ?? 0, [-most, most], `${unit}/s`);
            }
        }));
        this.#addCouplings();
        this.jointTitle.hidden = this.joints.childElementCount === 0;
    }

    // Targets of couplings (gears, tendons), with where their sums of coordinates are.
    #addCouplings() {
        const { run } = this, { joints = [], couplings = [] } = run.head.settings ?? {};
        const firsts = [0];
        joints.forEach(coordinates => firsts.push(firsts.at(-1) + coordinates.length));
        couplings.forEach(({ name, terms, unit, limits: [low, high], target }, coupling) => {
            if (target === undefined) {
                return;
            }
            const room = Math.max(1, 2 * Math.abs(target ?? 0)), reading = element('span.reading');
            const slider = new Slider({
                name: name || `coupling ${coupling}`, value: target ?? 0, ...linear(low ?? -room, high ?? room), format: shown => withUnit(shown, unit, 3), hint: 'Target of the servo on the sum of its coordinates',
                onChange: changed => {
                    this.order(`target of coupling ${coupling}`, { target: { coupling, value: changed } });
                    this.live.goOn();
                },
            });
            slider.root.append(reading);
            this.joints.append(element('div.driven', {}, slider.root));
            const parts = terms.map(([joint, coordinate, factor]) => [firsts[run.head.joints.indexOf(joint)] + coordinate, factor]);
            this.readings.push({ reading, unit, parts });
        });
    }

    // Where the joints are at the newest frame.
    async showReadings() {
        const now = performance.now();
        if (this.readings.length === 0 || this.isReading || now - (this.readAt ?? 0) < 150 || this.joints.offsetParent === null) {
            return;
        }
        this.isReading = true;
        this.readAt = now;
        try {
            const { values, speeds } = await this.run.source.readCoordinates();
            this.readings.forEach(({ reading, at, unit, kind, parts }) => {
                const value = parts ? parts.reduce((sum, [place, factor]) => sum + factor * values[place], 0) : (kind === 'target' ? values : speeds)[at];
                reading.textContent = `now ${withUnit(value, unit, 3)}`;
            });
        } catch {
            // It has ended meanwhile.
        }
        this.isReading = false;
    }

    // What the scene has and the stepper does not use.
    showLeftOut(settings) {
        const words = settings?.left_out ?? [];
        this.note.hidden = words.length === 0;
        this.note.textContent = `${this.run.stepper} does not use ${words.join(', ')}.`;
        this.run.emit('left out', words);
    }

    order(key, order) {
        this.changes.set(key, order);
        this.live.send(order);
        this.run.emit('changed');
    }

    #addSteppers() {
        this.radios = this.run.head.steppers.map(name => {
            const radio = element('input', { type: 'radio', name: 'stepper', value: name, checked: name === this.run.stepper, onchange: () => this.order('stepper', { stepper: name }) });
            this.steppers.append(element('label', {}, radio, element('span.name', {}, name), element('span.about', {}, about[name] ?? '')));
            return radio;
        });
    }

    #addWorld() {
        const { run } = this, gravity = run.head.settings?.gravity ?? run.head.gravity, size = Math.hypot(...gravity);
        const down = size > 0 ? gravity.map(part => part / size) : [0, run.head.planar ? -1 : 0, run.head.planar ? 0 : -1];
        this.step = new Slider({
            name: 'step', unit: 's', value: run.step, ...logarithmic(...stepRange), hint: 'Time of one step',
            onChange: step => this.order('step', { step }),
        });
        this.gravity = new Slider({
            name: 'gravity', unit: 'm/s²', value: size, ...linear(0, 25, 0.01), hint: 'The Moon has 1.62, the Earth 9.81, Jupiter 24.8',
            format: value => `${number(value, 3)} m/s²`, onChange: value => this.order('gravity', { gravity: down.map(part => part * value) }),
        });
        this.world.append(this.step.root, this.gravity.root);
    }

    #addMaterials() {
        const { settings } = this.run.head;
        const found = (settings?.materials ?? []).map((name, i) => ({ name, values: settings.values[i] })).filter(({ name }) => name !== '');
        for (const { name, values: [friction, torsional, restitution] } of found) {
            const change = (key, value) => this.order(`material ${name} ${key}`, { material: { name, [key]: value } });
            const most = Math.max(1.5, 2 * friction);
            this.materials.append(element('h3.part', {}, name),
                new Slider({ name: 'friction', value: friction, ...linear(0, most, 0.01), onChange: value => change('friction', value) }).root,
                ...(torsional > 0 ? [new Slider({ name: 'arm against spin', unit: 'm', value: torsional, ...linear(0, 4 * torsional), onChange: value => change('torsional', value) }).root] : []),
                new Slider({ name: 'restitution', value: restitution, ...linear(0, 1, 0.01), onChange: value => change('restitution', value) }).root);
        }
        if (found.length === 0) {
            this.materials.append(element('p.hint', {}, 'This scene names no materials.'));
        }
    }

    #addBody() {
        const { run } = this, index = run.selected, body = run.head.bodies[index];
        if (body?.kind !== 'dynamic') {
            this.body.replaceChildren(element('p.hint', {}, 'Select a body to change its mass.'));
            return;
        }
        const now = this.changes.get(`mass ${index}`)?.mass.mass ?? body.mass;
        this.body.replaceChildren(new Slider({
            name: body.name, value: now, ...logarithmic(body.mass / 100, body.mass * 100), format: value => withUnit(value * 1000, 'g'),
            onChange: mass => this.order(`mass ${index}`, { mass: { body: index, mass } }),
        }).root);
    }

    #follow() {
        this.radios.forEach(radio => { radio.checked = radio.value === this.run.stepper; });
        if (document.activeElement !== this.step.input) {
            this.step.set(this.run.step);
        }
    }
}
