// The bodies by name, and what the selected one does at the cursor.

import { element, button } from './dom.js';
import { count, many, number, steady, withUnit } from './format.js';
import { bodyColours } from './theme.js';

const rowHeight = matchMedia('(pointer: coarse)').matches ? 44 : 30;

// A list of any length: only the rows that are seen exist.
class BodyList {
    constructor(run, onSelect) {
        this.run = run;
        this.onSelect = onSelect;
        this.search = element('input', { type: 'search', placeholder: 'Find a body', 'aria-label': 'Find a body', oninput: () => this.filter() });
        this.rows = element('div.rows');
        this.spacer = element('div.spacer', {}, this.rows);
        this.view = element('div.list', { tabindex: 0, role: 'listbox', 'aria-label': 'Bodies', onscroll: () => this.draw() }, this.spacer);
        this.root = element('div.bodies', {}, this.search, this.view);
        new ResizeObserver(() => this.draw()).observe(this.view);
        run.on('select', () => this.reveal());
        this.filter();
    }

    filter() {
        const words = this.search.value.trim().toLowerCase();
        this.shown = [];
        this.run.head.bodies.forEach((body, i) => {
            if (body.name.toLowerCase().includes(words)) {
                this.shown.push(i);
            }
        });
        // Those that move come first; they are what one looks for.
        this.shown.sort((a, b) => (this.run.head.bodies[a].moving < 0) - (this.run.head.bodies[b].moving < 0) || a - b);
        this.spacer.style.height = `${this.shown.length * rowHeight}px`;
        this.draw();
    }

    reveal() {
        const place = this.shown.indexOf(this.run.selected);
        if (place >= 0) {
            const top = place * rowHeight, { scrollTop, clientHeight } = this.view;
            if (top < scrollTop || top + rowHeight > scrollTop + clientHeight) {
                this.view.scrollTop = top - clientHeight / 2;
            }
        }
        this.draw();
    }

    draw() {
        const from = Math.max(0, Math.floor(this.view.scrollTop / rowHeight) - 2);
        const to = Math.min(this.shown.length, from + Math.ceil(this.view.clientHeight / rowHeight) + 4);
        this.rows.style.transform = `translateY(${from * rowHeight}px)`;
        this.rows.replaceChildren(...this.shown.slice(from, to).map(index => this.#row(index)));
    }

    #row(index) {
        const body = this.run.head.bodies[index];
        const isSelected = index === this.run.selected;
        const dot = element('i.dot');
        dot.style.background = body.moving < 0 ? 'var(--stone)' : body.kind === 'kinematic' ? '#8d9299' : bodyColours[body.moving % bodyColours.length];
        return element(isSelected ? 'button.row.selected' : 'button.row', {
            type: 'button', role: 'option', 'aria-selected': isSelected ? 'true' : 'false', onclick: () => this.onSelect(index),
        }, dot, element('span.name', {}, body.name), element('span.kind', {}, body.kind === 'dynamic' ? withUnit(body.mass * 1000, 'g') : body.kind));
    }
}

const rows = [
    ['Position', 'm', 0, 3], ['Velocity', 'm/s', 7, 3], ['Angular velocity', 'rad/s', 10, 3], ['Orientation', 'w x y z', 3, 4],
];

export class BodyPanel {
    #epoch = 0;

    constructor(container, run, actions) {
        this.run = run;
        this.actions = actions;
        this.list = new BodyList(run, body => run.select(body === run.selected ? -1 : body));
        this.card = element('div.inspector');
        container.append(this.card, this.list.root);
        this.#makeCard();
        run.on('select', () => this.#makeCard());
    }

    #makeCard() {
        const { run } = this, body = run.head.bodies[run.selected];
        if (!body) {
            const moving = run.head.bodies.filter(one => one.moving >= 0).length;
            this.card.replaceChildren(element('p.hint', {}, `${many(moving, 'body that moves', 'bodies that move')}, ${count(run.head.bodies.length - moving)} fixed. Select one here or on the stage to see its values.`));
            this.cells = null;
            return;
        }
        this.cells = new Map();
        const table = element('table.values');
        if (body.moving >= 0) {
            for (const [label, unit, at, size] of rows) {
                const cells = Array.from({ length: size }, (_, i) => {
                    const cell = element('td', { 'data-state': at + i });
                    this.cells.set(at + i, cell);
                    return cell;
                });
                table.append(element('tr', {}, element('th', {}, label, element('small', {}, unit)), ...cells));
            }
        }
        this.extra = element('p.extra');
        const tools = body.moving < 0 ? [] : [
            button('follow', 'Follow this body (F)', () => this.actions.follow(run.selected), { 'aria-pressed': this.actions.isFollowing() ? 'true' : 'false' }),
            button('plus', 'Plot its position', () => this.actions.plot(run.selected)),
            button('force', 'Plot its contact forces', () => this.actions.plotContacts(run.selected)),
        ];
        this.card.replaceChildren(
            element('header', {}, element('h3', {}, body.name), element('span.kind', {}, body.kind === 'dynamic' ? withUnit(body.mass * 1000, 'g') : body.kind),
                element('span.tools', {}, ...tools, button('close', 'Deselect (Escape)', () => run.select(-1)))),
            table, this.extra);
        if (this.frame !== undefined) {
            this.show(this.frame, this.view);
        }
    }

    async show(frame, view) {
        this.frame = frame;
        this.view = view;
        const { run } = this, body = run.selected, moving = run.head.bodies[body]?.moving ?? -1;
        if (!this.cells || moving < 0) {
            return;
        }
        const epoch = ++this.#epoch;
        if (this.busy) {
            return;
        }
        this.busy = true;
        let state = null;
        try {
            state = await run.source.readBodyState(moving, frame);
        } catch {
            // The frame may be gone from a live run's memory; the next one will not be.
        }
        this.busy = false;
        if (state && body === run.selected && this.cells) {
            for (const [at, cell] of this.cells) {
                cell.textContent = steady(state[at]);
                cell.dataset.value = state[at];
            }
            this.#showExtra(state, view, body);
        }
        if (epoch !== this.#epoch) {
            this.show(this.frame, this.view);
        }
    }

    #showExtra(state, view, body) {
        const force = [0, 0, 0];
        let touching = 0;
        const step = view ? this.run.stepOf(view.frame) : 1;
        for (let i = 0; view && i < view.contactCount; ++i) {
            const contact = view.contact(i);
            const sign = contact.bodyA === body ? 1 : contact.bodyB === body ? -1 : 0;
            if (sign !== 0) {
                ++touching;
                for (let k = 0; k < 3; ++k) {
                    force[k] += sign * (contact.normal[k] * contact.normalImpulse + contact.frictionImpulse[k]) / step;
                }
            }
        }
        const parts = [`speed ${withUnit(Math.hypot(state[7], state[8], state[9]), 'm/s')}`];
        if (view && view.contactFloats.length >= 0) {
            parts.push(touching === 0 ? 'touches nothing' : `${many(touching, 'contact')}, together ${withUnit(Math.hypot(...force), 'N')} (${force.map(f => number(f, 3)).join(', ')})`);
        }
        this.extra.textContent = parts.join(' · ');
    }
}
