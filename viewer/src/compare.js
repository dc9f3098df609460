// The page that compares steppers on one scene: which are right, at what cost, and where they part.

import { button, element } from './dom.js';
import { number } from './format.js';
import { Plot } from './plot.js';
import { lineColour, theme } from './theme.js';

const coordinates = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz'];
const units = ['m', 'm', 'm', '', '', '', '', 'm/s', 'm/s', 'm/s', 'rad/s', 'rad/s', 'rad/s'];
const shortestTime = 0.005; // s; less is noise
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3], [12, 5], [4, 2]]; // the finest step is solid

class Comparison {
    constructor(data) {
        this.data = data;
        this.key = data.leading_error;
        this.quantity = this.key.replace('error_', '');
        this.steppers = [...new Set(data.runs.map(run => run.stepper))];
        this.steps = [...new Set(data.runs.map(run => run.step))].sort((a, b) => a - b);
        this.shown = new Set(data.runs.filter(run => !run.is_truth));
        this.judged = data.runs.filter(run => run.status === 'done' && !run.is_truth && run[this.key] !== null);
        this.best = this.judged.reduce((a, run) => (!a || run[this.key] < a[this.key] ? run : a), null);
        document.title = `${data.scene} – Tippe`;
        document.getElementById('app').replaceChildren(this.#makeHead(), this.#makeTable(), this.#makeWork(), this.#makeTrajectories());
        theme.on('change', () => this.draw());
        this.draw();
    }

    #makeHead() {
        const { data } = this;
        return element('header.top', {},
            element('div', {}, element('h1', {}, data.scene),
                element('p.about', {}, `until ${number(data.until)} s; errors of ${this.quantity} (${data.leading_unit}) against ${data.against}`),
                element('div.verdict', {}, ...data.verdict.map(({ kind, word, text }) => element('p', {}, ...(word ? [element(`b.${kind}`, {}, word)] : []), text.replace(/(\d) (m|s|rad|J)\b/g, '$1\u00a0$2'))))),
            button('theme', 'Light or dark', () => theme.toggle()));
    }

    // The table ----------------------------------------------------------------------------------------

    #columns() {
        const { data, key } = this;
        return [
            ['step s', run => number(run.step)], [`error ${data.leading_unit}`, run => (run.is_truth ? 'truth' : number(run[key], 3))],
            ['order', run => (run.order === null ? '–' : number(Math.round(100 * run.order) / 100, 3))], ['time s', run => (run.cpu_time < shortestTime ? `< ${shortestTime}` : number(run.cpu_time, 3))],
            ['overlap m', run => number(run.penetration_max, 2)], ['residual', run => number(run.residual_max, 2)],
            ['energy J', run => number(run.energy_error, 2)], ['gain J', run => number(run.energy_increase_max, 2)],
            ['contacts', run => number(run.contacts_mean, 3)], ['failed', run => String(run.failures)], ['', run => (run.status === 'done' ? '' : run.status)],
        ];
    }

    #makeTable() {
        const { data } = this, columns = this.#columns();
        const body = element('tbody');
        this.rows = data.runs.map((run, index) => {
            const isFirst = index === 0 || data.runs[index - 1].stepper !== run.stepper;
            const swatch = element('span.swatch');
            const cells = columns.map(([, text], k) => element(k === columns.length - 1 ? 'td.warning' : run === this.best && k === 1 ? 'td.best' : 'td', {}, text(run)));
            const row = element(isFirst ? 'tr.first' : 'tr', {
                title: 'show or hide in the plots', onclick: () => {
                    this.shown[this.shown.has(run) ? 'delete' : 'add'](run);
                    this.draw();
                },
            }, element('td', {}, swatch, run.stepper), ...cells);
            body.append(row);
            return { run, row, swatch };
        });
        const head = element('tr', {}, ...['stepper', ...columns.map(([name]) => name)].map(name => element('th', {}, name)));
        return element('section.card', {}, element('div.scroll', {}, element('table', { id: 'runs' }, element('thead', {}, head), body)), this.#makeNotes());
    }

    // What runs said, once for each stepper with the steps at which it was said.
    #makeNotes() {
        const sayings = new Map();
        for (const run of this.data.runs) {
            const fallbacks = Object.entries(run.fallbacks).map(([name, steps]) => `${steps} steps taken by the fallback ${name}`);
            for (const text of [run.message, ...run.notes, ...fallbacks].filter(Boolean)) {
                const sentence = `${run.stepper}: ${text}`;
                sayings.set(sentence, [...(sayings.get(sentence) ?? []), number(run.step)]);
            }
        }
        return element('ul.notes', {}, ...[...sayings].map(([sentence, at]) => element('li', {}, `${sentence} (step ${at.join(', ')} s)`)));
    }

    // The plots ----------------------------------------------------------------------------------------

    #makeWork() {
        const pair = element('div.pair');
        const options = { height: 280, log: true, xLog: true, yName: `error of ${this.quantity}, ${this.data.leading_unit}` };
        [['work', 'Work and precision', 'CPU time, s', run => run.cpu_time], ['convergence', 'Error against step', 'step, s', run => run.step]].forEach(([name, title, xName, abscissa]) => {
            const card = element('section.card');
            pair.append(card);
            this[name] = new Plot(card, { ...options, title, xName });
            this[name].abscissa = abscissa;
        });
        return pair;
    }

    #makeTrajectories() {
        const { data } = this;
        const choose = (label, names) => element('select', { 'aria-label': label, onchange: () => this.draw() }, ...names.map((name, i) => element('option', { value: i }, name)));
        this.body = choose('Body', data.bodies);
        this.coordinate = choose('Coordinate', coordinates);
        const widest = this.#findWidest();
        this.body.value = Math.floor(widest / 13);
        this.coordinate.value = widest % 13;
        const card = element('section.card', {}, element('p.choices', {}, element('label', {}, 'body', this.body), element('label', {}, 'coordinate', this.coordinate)));
        this.trajectory = new Plot(card, { title: 'Trajectories', height: 300, xName: 'time, s', hovers: true });
        const apart = element('section.card');
        this.difference = new Plot(apart, { title: 'Difference from the reference', height: 240, xName: 'time, s', log: true, hovers: true });
        for (const plot of [this.trajectory, this.difference]) {
            plot.on('cursor', time => [this.trajectory, this.difference].forEach(one => one.setCursor(time)));
            plot.on('zoom', range => [this.trajectory, this.difference].forEach(one => one.setRange(range)));
        }
        return element('div', {}, card, apart);
    }

    #column(states, k) {
        const width = this.data.bodies.length * 13;
        return Float64Array.from({ length: Math.floor(states.length / width) }, (_, i) => states[i * width + k] ?? NaN);
    }

    // The coordinate that moves most is the one to look at first.
    #findWidest() {
        let best = 0, most = -1;
        for (let k = 0; k < this.data.bodies.length * 13; ++k) {
            if (k % 13 < 3) {
                const values = this.#column(this.data.runs[0].states, k).filter(Number.isFinite);
                const extent = values.reduce((a, b) => Math.max(a, b), -Infinity) - values.reduce((a, b) => Math.min(a, b), Infinity);
                [best, most] = extent > most ? [k, extent] : [best, most];
            }
        }
        return best;
    }

    #colour(stepper) {
        return lineColour(this.steppers.indexOf(stepper));
    }

    draw() {
        for (const { run, row, swatch } of this.rows) {
            row.classList.toggle('off', !this.shown.has(run));
            swatch.style.background = this.#colour(run.stepper);
        }
        for (const plot of [this.work, this.convergence]) {
            plot.setSeries(this.steppers.map(stepper => {
                const runs = this.judged.filter(run => run.stepper === stepper && this.shown.has(run) && run[this.key] > 0);
                return {
                    name: stepper, colour: this.#colour(stepper), points: 4, joined: true, count: runs.length,
                    x: Float64Array.from(runs, plot.abscissa), y: Float64Array.from(runs, run => run[this.key]),
                };
            }).filter(series => series.count > 0));
        }
        this.#drawTrajectories();
    }

    #drawTrajectories() {
        const { data } = this, coordinate = Number(this.coordinate.value), k = Number(this.body.value) * 13 + coordinate;
        const x = Float64Array.from(data.times), truth = this.#column(data.truth, k);
        const lines = [], apart = [];
        const label = `${data.bodies[this.body.value]}.${coordinates[coordinate]}${units[coordinate] ? `, ${units[coordinate]}` : ''}`;
        if (truth.some(Number.isFinite)) {
            lines.push({ name: data.against, x, y: truth, count: truth.length, colour: theme.colour('faint'), width: 5, opacity: 0.4 });
        }
        for (const run of data.runs.filter(one => this.shown.has(one))) {
            const y = this.#column(run.states, k), dash = dashes[this.steps.indexOf(run.step) % dashes.length];
            const series = { name: `${run.stepper} ${number(run.step)}`, x, y, count: y.length, colour: this.#colour(run.stepper), dash };
            lines.push(series);
            if (!run.is_truth && truth.length > 0) {
                apart.push({ ...series, y: y.map((value, i) => Math.abs(value - truth[i])) });
            }
        }
        this.trajectory.options.yName = label;
        this.difference.options.yName = `|difference| of ${label}`;
        this.trajectory.setSeries(lines);
        this.difference.setSeries(apart);
    }
}

globalThis.comparison = new Comparison(JSON.parse(document.querySelector('script[data-tippe="comparison"]').textContent));
