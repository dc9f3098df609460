// The contacts and joints at the cursor, the largest force first, and when contacts slide.

import * as THREE from 'three';
import { element } from './dom.js';
import { many, withUnit } from './format.js';
import { keyOfContact, stateNames } from './forces.js';
import { Lanes } from './lanes.js';

const mostRows = 60;

export class ContactPanel {
    constructor(container, run, player, joints, actions) {
        this.run = run;
        this.joints = joints;
        this.actions = actions;
        this.lanes = new Lanes(container, run, player);
        this.summary = element('p.hint');
        this.body = element('tbody');
        const head = element('tr', {}, ...['state', 'contact', 'normal', 'friction', 'slides'].map((name, k) => element('th', { scope: 'col' }, k === 0 ? element('span.unseen', {}, name) : name)));
        this.table = element('table.contacts', {}, element('thead', {}, head), this.body);
        const jointHead = element('tr', {}, ...['mark', 'joint', 'force', 'torque'].map((name, k) => element('th', { scope: 'col' }, k === 0 ? element('span.unseen', {}, name) : name)));
        this.jointRows = element('tbody');
        this.jointTable = element('table.joints', { hidden: joints.count === 0 }, element('thead', {}, jointHead), this.jointRows);
        container.append(this.summary, this.table, this.jointTable);
        this.chosen = null;
        run.on('select', () => this.#refresh());
        run.on('overview', () => this.#refresh());
    }

    // Lanes are of the whole run: read again when it or the selection has changed, and someone looks.
    #refresh() {
        this.isStale = true;
        this.show(this.view);
    }

    get isVisible() {
        return this.summary.offsetParent !== null;
    }

    show(view) {
        this.view = view;
        if (!view || !this.isVisible) {
            return;
        }
        const { run } = this;
        if (this.isStale && !this.isReading) {
            this.isStale = false;
            this.isReading = true;
            this.lanes.update().catch(() => {}).finally(() => { this.isReading = false; });
        }
        this.lanes.setCursor(view.frame);
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
            : `${many(found.length, 'contact')}${whose}: ${sticking} sticking, ${sliding} sliding, ${found.length - sticking - sliding} separated.` +
              (found.length > mostRows ? ` The ${mostRows} largest:` : '');
        this.body.replaceChildren(...found.slice(0, mostRows).map(contact => this.#row(contact)));
        this.table.hidden = found.length === 0;
        this.#showJoints(view);
    }

    // Chooses a contact as a click on its row would.
    choose(contact) {
        this.chosen = contact ? keyOfContact(contact) : null;
        this.actions.highlight(contact);
        this.show(this.view);
    }

    #showJoints(view) {
        const { run, joints } = this, point = new THREE.Vector3(), rows = [];
        for (let joint = 0; joint < joints.count; ++joint) {
            const reaction = joints.reactionOf(view, joint, point);
            const isWanted = run.selected < 0 || joints.ends[joint]?.bodies.includes(run.selected);
            if (reaction && isWanted) {
                rows.push({ joint, force: reaction.force.length(), torque: reaction.torque.length() });
            }
        }
        rows.sort((a, b) => b.force - a.force);
        this.jointTable.hidden = rows.length === 0;
        this.jointRows.replaceChildren(...rows.slice(0, mostRows).map(({ joint, force, torque }) =>
            element('tr', { tabindex: 0, title: 'double-click or Enter to plot it', ondblclick: () => this.actions.plotJoint(joint), onkeydown: event => event.key === 'Enter' && this.actions.plotJoint(joint) },
                element('td', {}, element('i.dot.joint')),
                element('td.pair', {}, element('span', {}, run.head.joints[joint]), element('span.other', {}, joints.describe(joint))),
                element('td', {}, withUnit(force, 'N')), element('td', {}, withUnit(torque, 'N m')))));
    }

    #row(contact) {
        const { run } = this;
        const name = stateNames[contact.state] ?? 'separated';
        const key = keyOfContact(contact), [mover, other] = run.moverFirst(contact.bodyA, contact.bodyB);
        const choose = () => this.choose(this.chosen === key ? null : contact);
        const dot = element(`i.dot.${name}`, { title: name, role: 'img', 'aria-label': name });
        const row = element(this.chosen === key ? 'tr.selected' : 'tr', { tabindex: 0, onclick: choose, onkeydown: event => event.key === 'Enter' && choose(), title: `${name}; click to find it on the stage, double-click to plot it`, ondblclick: () => this.actions.plot(contact) },
            element('td', {}, dot),
            element('td.pair', {}, element('span', {}, run.nameOf(mover)), element('span.other', {}, `on ${run.nameOf(other)}`)),
            element('td', {}, withUnit(contact.normalForce, 'N')),
            element('td', {}, withUnit(contact.frictionForce, 'N')),
            element('td', {}, contact.state === 1 ? withUnit(contact.slidingSpeed, 'm/s') : '–'));
        return row;
    }
}
