// A lesson beside its run: an idea, two or three numbers to change, what is known and what the run gives, and a question.

import { linear, logarithmic, Slider } from './change.js';
import { element } from './dom.js';
import { lessons } from './lessons.js';

const pause = 250;  // ms after the last move of a slider that needs another scene
const often = 180;  // ms between two measurements

// A scene as text that one likes to read: a line for each body, material and so on.
export function formatScene(scene) {
    const line = value => JSON.stringify(value).replaceAll('":', '": ').replaceAll(',', ', ').replaceAll(/([[{])(?=[^\]}])/g, '$1 ').replaceAll(/(?<=[^[{ ])([\]}])/g, ' $1');
    const many = (value, inner) => `[\n    ${value.map(inner).join(',\n    ')}\n  ]`;
    const entries = Object.entries(scene).map(([key, value]) => `  "${key}": ${Array.isArray(value) && typeof value[0] === 'object' ? many(value, line) : typeof value === 'object' ? line(value) : JSON.stringify(value)}`);
    return `{\n${entries.join(',\n')}\n}\n`;
}

const stateOf = s => ({ position: [...s.subarray(0, 3)], rotation: [...s.subarray(3, 7)], velocity: [...s.subarray(7, 10)], spin: [...s.subarray(10, 13)] });

export class LessonPanel {
    constructor(lesson, playground) {
        this.lesson = lesson;
        this.playground = playground;
        this.values = playground.values ?? {};
        this.measuredAt = 0;
        const at = lessons.indexOf(lesson), before = lessons[at - 1], after = lessons[at + 1];
        this.table = element('tbody');
        this.root = element('article.lesson', {},
            element('h2', {}, lesson.title), ...lesson.idea.map(words => element('p', {}, words)),
            element('p.formula', {}, lesson.formula),
            ...lesson.sliders.map(slider => this.#slider(slider)),
            lesson.presets ? element('div.presets', {}, ...lesson.presets.map(({ title, values }) => element('button', { type: 'button', onclick: () => this.#set(values) }, title))) : null,
            element('table.measure', {}, element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'quantity'), element('th', { scope: 'col' }, 'known'), element('th', { scope: 'col' }, 'this run'))), this.table),
            element('button.again', { type: 'button', onclick: () => playground.page.live.restart() }, 'Start again'),
            element('div.question', {}, element('p', {}, lesson.question), element('details', {}, element('summary', {}, 'Answer'), ...lesson.answer.map(words => element('p', {}, words)))),
            element('nav.way', { 'aria-label': 'Lessons' }, before ? element('a', { href: `lesson-${before.id}.html` }, `← ${before.title}`) : element('a', { href: 'lessons.html' }, '← All lessons'),
                after ? element('a', { href: `lesson-${after.id}.html` }, `${after.title} →`) : element('a', { href: 'index.html' }, 'To the playground →')));
    }

    #slider({ key, name, unit, range, grain, isLogarithmic, order, value }) {
        return new Slider({
            name, unit, value: this.values[key] ?? value, ...(isLogarithmic ? logarithmic(...range) : linear(...range, grain ?? 0)),
            format: unit === '°' ? shown => `${shown}°` : undefined,
            onChange: changed => {
                this.values = { ...this.values, [key]: changed };
                this.playground.values = this.values;
                if (order) {
                    this.playground.page.change.order(key, order(changed, this.values));
                } else {
                    clearTimeout(this.timer);
                    this.timer = setTimeout(() => this.#set({}), pause);
                }
            },
        }).root;
    }

    // Another scene: the same with other numbers.
    #set(values) {
        const scroll = this.root.parentElement?.scrollTop ?? 0;
        this.playground.openLesson({ ...this.values, ...values }).then(() => {
            const panel = this.playground.lessonPanel.root.parentElement;
            if (panel) {
                panel.scrollTop = scroll;
            }
        }, error => this.playground.page.tell(error.message));
    }

    async show(view) {
        const now = performance.now(), { page } = this.playground;
        if (this.isMeasuring || now - this.measuredAt < often && page.live.status.running) {
            clearTimeout(this.later);
            this.later = setTimeout(() => page === this.playground.page && this.show(page.player.view), often);
            return;
        }
        this.isMeasuring = true;
        this.measuredAt = now;
        const { run } = page, { overview } = run;
        try {
            const moving = run.model.bodyOfMoving.map((_, k) => k).slice(0, this.lesson.bodies ?? 1);
            const states = await Promise.all(moving.map(k => run.source.readBodyState(k, view.frame)));
            const row = overview.count > 0 ? overview.rowOf(view.frame) : 0;
            const wanted = this.lesson.wants?.({ values: this.values, overview, row }) ?? -1;
            const then = wanted >= 0 ? { time: run.timeOf(wanted), ...stateOf(await run.source.readBodyState(0, wanted)) } : null;
            const contacts = Array.from({ length: view.contactCount }, (_, i) => view.contact(i));
            const rows = this.lesson.measure({
                values: this.values, time: run.timeOf(view.frame), step: run.stepOf(view.frame), frame: view.frame, contacts, overview, row,
                states: states.map(stateOf), then, run,
                memory: this.#memory(page.live.status.epoch),
            });
            this.table.replaceChildren(...rows.map(({ name, known = '', now: measured = '' }) => element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, known), element('td', {}, measured))));
        } catch {
            // The frame has been forgotten meanwhile.
        }
        this.isMeasuring = false;
    }

    // What a lesson wants to remember of this run.
    #memory(epoch) {
        if (this.epoch !== epoch) {
            this.epoch = epoch;
            this.kept = {};
        }
        return this.kept;
    }
}
