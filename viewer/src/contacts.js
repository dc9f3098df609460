// The contacts at the cursor, the largest force first.

import { element } from './dom.js';
import { count, withUnit } from './format.js';
import { stateNames } from './forces.js';

const mostRows = 60;

export class ContactPanel {
    constructor(container, run, actions) {
        this.run = run;
        this.actions = actions;
        this.summary = element('p.hint');
        this.body = element('tbody');
        const head = element('tr', {}, ...['', 'on', 'normal', 'friction', 'slides'].map(name => element('th', {}, name)));
        this.table = element('table.contacts', {}, element('thead', {}, head), this.body);
        container.append(this.summary, this.table);
        this.chosen = null;
        run.on('select', () => this.show(this.view));
    }

    get isVisible() {
        return this.table.offsetParent !== null;
    }

    show(view) {
        this.view = view;
        if (!view || !this.isVisible) {
            return;
        }
        const { run } = this;
        const found = [];
        const step = run.stepOf(view.frame);
        for (let i = 0; i < view.contactCount; ++i) {
            const contact = view.contact(i);
            if (run.selected < 0 || contact.bodyA === run.selected || contact.bodyB === run.selected) {
                contact.normalForce = contact.normalImpulse / step;
                contact.frictionForce = Math.hypot(...contact.frictionImpulse) / step;
                found.push(contact);
            }
        }
        found.sort((a, b) => Math.hypot(b.normalForce, b.frictionForce) - Math.hypot(a.normalForce, a.frictionForce));
        const sliding = found.filter(contact => contact.state === 1).length;
        const sticking = found.filter(contact => contact.state === 2).length;
        const whose = run.selected >= 0 ? ` of ${run.nameOf(run.selected)}` : '';
        this.summary.textContent = found.length === 0
            ? `No contacts${whose} at this time.`
            : `${count(found.length)} contacts${whose}: ${sticking} sticking, ${sliding} sliding, ${found.length - sticking - sliding} separated.` +
              (found.length > mostRows ? ` The ${mostRows} largest:` : '');
        this.body.replaceChildren(...found.slice(0, mostRows).map(contact => this.#row(contact)));
    }

    #row(contact) {
        const { run } = this;
        const name = stateNames[contact.state] ?? 'separated';
        const key = `${contact.bodyA} ${contact.bodyB} ${contact.feature}`;
        const choose = () => {
            this.chosen = this.chosen === key ? null : key;
            this.actions.highlight(this.chosen ? contact : null);
            this.show(this.view);
        };
        const dot = element(`i.dot.${name}`, { title: name });
        const row = element(this.chosen === key ? 'tr.selected' : 'tr', { onclick: choose, title: `${name}; click to find it on the stage, double-click to plot it`, ondblclick: () => this.actions.plot(contact) },
            element('td', {}, dot),
            element('td.pair', {}, element('span', {}, run.nameOf(contact.bodyA)), element('span.other', {}, run.nameOf(contact.bodyB))),
            element('td', {}, withUnit(contact.normalForce, 'N')),
            element('td', {}, withUnit(contact.frictionForce, 'N')),
            element('td', {}, contact.state === 1 ? withUnit(contact.slidingSpeed, 'm/s') : '–'));
        return row;
    }
}
