// What the run came to, in the words of someone who asks: where is the largest force, when does it slip, how far
// can the numbers be trusted? Each answer leads to its moment.

import { CarrierLanes } from './carriers.js';
import { element } from './dom.js';
import { count, many, number, withUnit } from './format.js';

const mostSpans = 6;

export class FindingsPanel {
    constructor(container, run, player, actions) {
        this.run = run;
        this.player = player;
        this.actions = actions;
        this.list = element('dl.findings');
        this.about = element('div.about');
        container.append(this.list);
        this.carriers = new CarrierLanes(container, run, player);
        container.append(this.about);
        run.on('overview', () => this.update());
        run.on('settings', () => this.#describe());
        run.on('left out', words => {
            this.leftOut = words;
            this.#describe();
        });
        this.update();
    }

    #go(frame, action = () => this.player.seek(frame, { pause: true })) {
        return element('button.go', { type: 'button', onclick: action }, `${number(this.run.timeOf(frame), 5)} s`);
    }

    #entry(question, kind, ...answer) {
        return [element('dt', {}, question), element(`dd${kind ? `.${kind}` : ''}`, {}, ...answer)];
    }

    update() {
        const { run } = this, { overview, largest } = run;
        const entries = [];
        const answer = [];
        if (largest.force?.value > 0) {
            const { row, frame, value } = largest.force;
            const [a, b] = run.moverFirst(overview.forceBody[row], overview.forceOther[row]);
            answer.push(`${withUnit(value, 'N')} between ${run.nameOf(a)} and ${run.nameOf(b)} at `, this.#go(frame, this.actions.goToLargest), '.');
        } else {
            answer.push('Nothing touches.');
        }
        if (largest.reaction?.value > 0) {
            const { row, frame, value } = largest.reaction;
            answer.push(` Of the joints, ${run.head.joints[overview.reactionJoint[row]]} carries most: ${withUnit(value, 'N')} at `, this.#go(frame), '.');
        }
        entries.push(...this.#entry('Where is the largest force?', '', ...answer));
        entries.push(...this.#slips());
        entries.push(...this.#trust());
        this.list.replaceChildren(...entries);
        this.#describe();
    }

    #slips() {
        const { run } = this, { overview } = run;
        const spans = run.slidingSpans();
        if (spans.length === 0) {
            return this.#entry('When does it slip?', '', overview.sticking.some(value => value > 0) ? 'Never: every contact sticks.' : 'Never.');
        }
        // The longest ones, in the order of time.
        const told = [...spans].sort((a, b) => (b[1] - b[0]) - (a[1] - a[0])).slice(0, mostSpans).sort((a, b) => a[0] - b[0]);
        const lines = told.map(([from, to]) => {
            const start = this.#go(overview.frameOf(from)), end = this.#go(overview.frameOf(to));
            return element('li', {}, start, ...(to > from ? [' to ', end] : []), `: ${this.#whoSlides(from, to)}`);
        });
        const more = spans.length - told.length;
        return this.#entry('When does it slip?', '', element('ul', {}, ...lines),
            ...(more > 0 ? [`${more === 1 ? 'Once' : `${count(more)} times`} more, for a shorter time. `] : []),
            'The tab ', element('button.go', { type: 'button', onclick: this.actions.showContacts }, 'Contacts'), ' shows it contact by contact.');
    }

    // The contact that slides fastest in some rows of the overview.
    #whoSlides(from, to) {
        const { run } = this, { overview } = run;
        let fastest = from;
        for (let row = from; row <= to; ++row) {
            fastest = overview.slideSpeed[row] > overview.slideSpeed[fastest] ? row : fastest;
        }
        const [a, b] = run.moverFirst(overview.slideBody[fastest], overview.slideOther[fastest]);
        return `${run.nameOf(a)} on ${run.nameOf(b)}, up to ${withUnit(overview.slideSpeed[fastest], 'm/s')}`;
    }

    #trust() {
        const { run } = this, { overview, largest } = run;
        const concerns = run.countConcerns();
        const entries = [];
        const residual = largest.residual ?? { value: 0, frame: 0 };
        const isMet = residual.value <= run.tolerance || concerns.broken === 0;
        entries.push(...this.#entry('Were the laws of contact met?', isMet ? 'good' : 'bad',
            isMet && !run.hasContacts && !(residual.value > 0) ? 'There were no contacts'
                : isMet ? `Yes, everywhere: the residual is at most ${number(residual.value, 2)}` : `Not everywhere: ${many(concerns.broken, 'frame is', 'frames are')} above ${number(run.tolerance, 2)}, the worst, ${number(residual.value, 2)}, at `,
            ...(isMet ? ['.'] : [this.#go(residual.frame), '.'])));
        entries.push(...this.#entry('Did every solve succeed?', concerns.error === 0 ? 'good' : 'bad',
            ...(concerns.error === 0 ? ['Yes.'] : [`${many(concerns.error, 'frame has', 'frames have')} a solve that missed its tolerance; the first at `, this.#go(overview.frameOf(concerns.firstError)), '.']),
            ...(concerns.taken === 0 ? [] : [` Another method took ${many(concerns.taken, 'frame')}; the first at `, this.#go(overview.frameOf(concerns.firstTaken)), '.'])));
        const depth = largest.penetration;
        entries.push(...this.#entry('How deep do bodies overlap?', '',
            ...(depth?.value > 0 ? [`${withUnit(depth.value, 'm')} at most, at `, this.#go(depth.frame), '.'] : ['Not at all.'])));
        entries.push(...this.#energy());
        return entries;
    }

    // How far the account of energy is from closing, relative to what went through it.
    #energy() {
        const { overview } = this.run;
        if (overview.count < 2) {
            return [];
        }
        let friction = 0, impact = 0, work = 0, through = 0, worst = 0, at = 0;
        const start = overview.kinetic[0] + overview.potential[0];
        for (let k = 1; k < overview.count; ++k) {
            friction += overview.frictionLoss[k];
            impact += overview.impactLoss[k];
            work += overview.externalWork[k];
            through = Math.max(through, overview.kinetic[k], Math.abs(overview.potential[k] - overview.potential[0]));
            const error = Math.abs(overview.kinetic[k] + overview.potential[k] + friction + impact - work - start);
            if (error > worst) {
                worst = error;
                at = k;
            }
        }
        const last = overview.count - 1;
        const change = overview.kinetic[last] + overview.potential[last] - start;
        const energy = value => withUnit(Math.abs(value) > 1e-12 * through ? value : 0, 'J'); // rounding counts as nothing
        const parts = [`The energy changed by ${energy(change)}: ${energy(friction)} lost in friction, ${energy(impact)} in impacts`];
        if (Math.abs(work) > 0) {
            parts.push(`, external work ${energy(work)}`);
        }
        parts.push(`. The account closes to ${withUnit(worst, 'J')}`);
        if (through > 0 && worst > 0) {
            parts.push(` (${number(worst / through * 100, 2)} % of the energy in motion), the worst at `, this.#go(overview.frameOf(at)));
        }
        return this.#entry('Where did the energy go?', '', ...parts, '.');
    }

    #describe() {
        const { run } = this, { scene, summary, head } = run;
        const rows = [
            ['Stepper', run.stepper],
            ['Step', withUnit(run.step, 's')],
            ['Frames', count(run.source.frameCount)],
            ...(summary ? [['Simulated', withUnit(summary.simulated_time, 's')], ['Took', withUnit(summary.wall_time, 's')],
                ['Solves', count(summary.solves)], ['Iterations', count(summary.iterations)]] : []),
            ...Object.entries(scene?.simulation?.options ?? {}),
            ['Tippe', head.version],
        ];
        const state = head.mode === 'live' ? [] : head.finished ? [] : [element('p.notice', {}, 'This run did not reach its end; what it had recorded is here.')];
        const leftOut = this.leftOut ?? summary?.left_out ?? [];
        if (leftOut.length > 0) {
            state.push(element('p.notice', {}, `${run.stepper} does not use ${leftOut.join(', ')}.`));
        }
        this.about.replaceChildren(...state,
            ...(scene?.about ? [element('p', {}, scene.about)] : []),
            element('table.values', {}, ...rows.map(([name, value]) => element('tr', {}, element('th', {}, name), element('td', {}, String(value))))));
    }
}
