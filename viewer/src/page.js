// A page that shows a run: a stage, a time line, and panels beside them. The program's page, exported files and the playground are this
// page with different sources.

import { Vector3 } from 'three';
import { BodyPanel } from './bodies.js';
import { ChangePanel } from './change.js';
import { ContactPanel } from './contacts.js';
import { button, element, icon } from './dom.js';
import { ExportMenu } from './export_menu.js';
import { FindingsPanel } from './findings.js';
import { ForceArrows, keyOfContact, largestContact } from './forces.js';
import { count, many, number, withUnit } from './format.js';
import { FrameCache } from './frames.js';
import { Joints } from './joints.js';
import { LawPanel } from './law.js';
import { Live } from './live.js';
import { Player, speeds } from './player.js';
import { PlotPanel } from './plots.js';
import { isPlain } from './machine.js';
import { Run } from './run.js';
import { BodyModel } from './shapes.js';
import { Stage } from './stage.js';
import { theme } from './theme.js';
import { Timeline } from './timeline.js';
import { Trails } from './trails.js';

const slowPanels = 6; // pictures of a slow machine, in which its panels are drawn once
const longestWait = 400; // ms that panels may lag behind the stage
const mostWithArrows = 200; // bodies; of more, arrows and points would hide them, and are off at first
const manyBodies = 2000; // from here on contacts are fetched only when they are asked for
const shortcuts = [
    ['Space', 'play or pause'], ['← →', 'one frame back or on'], ['Shift ← →', 'ten frames'], ['Home End', 'start, end'],
    ['− +', 'slower, faster'], ['F', 'follow the selected body'], ['V', 'view the whole scene'], ['C', 'contact points'],
    ['A', 'force arrows'], ['K', 'friction cones'], ['[ ]', 'shorter, longer arrows'], ['T', 'trails'], ['G', 'grid'], ['J', 'joints'], ['L', 'go to the largest force'], ['S', 'next start of sliding'],
    ['N', 'next step with a warning'], ['D', 'light or dark'], ['R', 'restart (live)'], ['B', 'continue from here (live)'], ['1 2 3 4 5', 'plots, bodies, contacts, law, run'], ['Escape', 'deselect'], ['?', 'this list'],
];

// Where keys are letters, not orders.
const isTypedInto = node => /^(SELECT|TEXTAREA)$/.test(node.tagName) || node.tagName === 'INPUT' && node.type !== 'range' || node.isContentEditable;

// A message above everything, until it is closed.
export function showMessage(message) {
    let box = document.querySelector('.message');
    if (!box) {
        box = element('div.message', { role: 'alert' });
        document.body.append(box);
    }
    box.replaceChildren(element('span', {}, message), button('close', 'Close', () => box.remove()));
}

// `root` is where it goes. `extras` are panels of others, [{ name, title, node, onShow, isFirst }], `actions` buttons for its head, `tab` the
// panel that is shown first. A live run goes when it is drawn, unless `begins` is false; `memory` is for frames, in bytes. `shows` names tools
// that are on from the start; the camera looks from the direction `from` and leaves `room` around bodies (director.js).
export class Page {
    constructor(root, source, { extras = [], actions = [], tab = 'plots', begins = true, memory = 256e6, shows = [], from = null, room = null } = {}) {
        this.begins = begins;
        this.root = root;
        this.extras = extras;
        this.actions = actions;
        this.firstTab = tab;
        this.ending = new AbortController();
        this.run = new Run(source);
        const { run } = this;
        document.title = run.head.name ? `${run.head.name} – Tippe` : 'Tippe';
        run.model = new BodyModel(run.head);
        run.materials = run.model.materials;
        this.frames = new FrameCache(source, memory);
        this.toldAt = 0;
        // A live run that has just begun anew has no longer what was asked for; its next news bring the new frames.
        this.frames.onError = error => this.live || showMessage(`Frames could not be read: ${error.message}`);
        this.player = new Player(run, this.frames);
        this.#layOut();
        this.stage = new Stage(this.stageBox, run.head, run.model);
        this.joints = new Joints(this.stage, run);
        this.arrows = new ForceArrows(this.stage, run.head, this.joints);
        this.trails = new Trails(this.stage, run);
        const moving = run.model.bodyOfMoving.length;
        this.arrows.showsPoints = this.arrows.showsForces = moving <= mostWithArrows;
        this.player.wantsContacts = moving <= manyBodies || !source.isExact;
        this.#addPanels();
        this.#addTools();
        shows.forEach(name => this.#switch(name, true));
        Object.assign(this.stage, from ? { from: new Vector3(...from) } : {});
        Object.assign(this.stage.director, room ? { room } : {});
        this.#connect();
    }

    // Layout -----------------------------------------------------------------------------------------

    #layOut() {
        const { run } = this;
        this.badge = element('button.badge', { type: 'button', title: 'How far the run can be trusted', onclick: () => this.showTab('run') });
        this.facts = element('p.facts');
        this.header = element('header.top', {},
            element('div.title', {}, element('h1', {}, run.head.name || 'A run'), this.facts), this.badge,
            element('nav', { 'aria-label': 'Scene and page' }, ...this.actions, (this.exports = new ExportMenu(this)).root, button('theme', 'Light or dark (D)', () => theme.toggle()), button('help', 'Keyboard (?)', () => this.#toggleHelp())));
        this.clock = element('div.clock', {}, this.time = element('output.time'), this.frameLabel = element('output.frame'));
        this.legend = element('div.stage-legend');
        this.tools = element('div.tools.floating', { role: 'toolbar', 'aria-label': 'What is shown' });
        this.stageBox = element('div.stage-box');
        this.stagePart = element('main.stage', {}, this.stageBox, this.clock, this.tools, this.legend);
        this.tabs = element('div.tabs', { role: 'tablist' });
        this.panels = element('div.panels');
        this.side = element('aside.side', {}, this.tabs, this.panels);
        this.transport = element('footer.transport');
        this.root.replaceChildren(this.header, this.stagePart, this.side, this.transport);
        this.#describe();
    }

    #describe() {
        this.facts.textContent = this.run.describe().join(' · ');
    }

    #panel(name, title) {
        const panel = element('section.panel', { role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}`, tabindex: 0, hidden: true });
        const tab = element('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': `panel-${name}`, onclick: () => this.showTab(name), onkeydown: event => this.#moveTab(event) }, title);
        this.tabs.append(tab);
        this.panels.append(panel);
        (this.tabList ??= new Map()).set(name, { tab, panel });
        return panel;
    }

    // Arrows go from tab to tab, as in all lists of tabs.
    #moveTab(event) {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by) {
            const tabs = [...this.tabs.children], next = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
            next.click();
            next.focus();
            event.preventDefault();
            event.stopPropagation();
        }
    }

    showTab(name) {
        for (const [key, { tab, panel }] of this.tabList) {
            tab.setAttribute('aria-selected', key === name ? 'true' : 'false');
            tab.tabIndex = key === name ? 0 : -1;
            panel.hidden = key !== name;
        }
        if (name === 'contacts') {
            this.#wantContacts();
            this.contacts.show(this.player.view);
        }
        if (name === 'law') {
            this.#wantContacts();
            this.law.show(this.player.view);
        }
        this.extras.find(extra => extra.name === name)?.onShow?.();
    }

    #addPanels() {
        const { run, player } = this;
        const addExtras = extras => extras.forEach(({ name, title, node }) => this.#panel(name, title).append(node));
        addExtras(this.extras.filter(({ isFirst }) => isFirst));
        const plots = this.#panel('plots', 'Plots'), bodies = this.#panel('bodies', 'Bodies');
        const contacts = this.#panel('contacts', 'Contacts'), law = this.#panel('law', 'Law'), findings = this.#panel('run', 'Run');
        this.plots = new PlotPanel(plots, run, player);
        this.bodies = new BodyPanel(bodies, run, {
            follow: body => this.#follow(this.stage.followed === body ? -1 : body),
            isFollowing: () => this.stage.followed === run.selected,
            plot: body => { this.showTab('plots'); this.plots.addState(body, { name: 'position', unit: 'm', at: 0, parts: ['x', 'y', 'z'] }).root.scrollIntoView(); },
            plotContacts: body => { this.showTab('plots'); this.plots.addContacts(body).root.scrollIntoView(); },
        });
        this.contacts = new ContactPanel(contacts, run, player, this.joints, {
            highlight: contact => {
                this.arrows.highlight(contact);
                this.law.chosen = contact ? keyOfContact(contact) : null;
            },
            plotJoint: joint => { this.showTab('plots'); this.plots.addJoint(joint).root.scrollIntoView(); },
            plot: contact => { this.showTab('plots'); this.plots.addContacts(contact.bodyA, contact).root.scrollIntoView(); },
        });
        this.law = new LawPanel(law, run);
        this.findings = new FindingsPanel(findings, run, player, { goToLargest: () => this.#goToLargest(), showContacts: () => this.showTab('contacts') });
        this.#addTransport();
        addExtras(this.extras.filter(({ isFirst }) => !isFirst));
        this.showTab(this.firstTab);
    }

    #addTransport() {
        const { run, player } = this;
        this.playButton = button('play', 'Play or pause (Space)', () => player.toggle(), { class: 'icon play' });
        this.speed = element('select.speed', { title: 'Speed', 'aria-label': 'Speed', onchange: () => player.setSpeed(Number(this.speed.value)) },
            ...speeds.map(speed => element('option', { value: speed, selected: speed === 1 }, `${number(speed)}×`)));
        const controls = element('div.controls', {},
            button('first', 'To the start (Home)', () => player.seek(run.firstFrame, { pause: true })),
            button('back', 'One frame back (←)', () => player.step(-1)),
            this.playButton,
            button('next', 'One frame on (→)', () => player.step(1)),
            button('last', 'To the end (End)', () => player.seek(run.lastFrame, { pause: true })),
            this.speed,
            button('peak', 'Go to the largest force (L)', () => this.#goToLargest(), { class: 'icon wide-only' }),
            button('slip', 'Go to where something next starts to slide (S)', () => this.#nextSlip(), { class: 'icon wide-only' }));
        const line = element('div.line');
        this.transport.append(controls, line);
        this.timeline = new Timeline(line, run);
        this.timeline.on('seek', frame => player.seek(frame, { pause: true }));
        if (run.source.isLive) {
            this.live = new Live(run, player, this.frames, showMessage);
            this.forkButton = button('fork', 'Go on from here, and forget what came after (B)', () => this.#fork(), { class: 'icon fork', hidden: true });
            controls.append(this.forkButton, this.live.controls);
            this.change = new ChangePanel(this.#panel('change', 'Change'), run, this.live, place => {
                this.showTab('plots');
                ['value', 'effort'].map(what => this.plots.addCoordinate(place, what).root)[0].scrollIntoView();
            });
        }
        player.on('playing', isPlaying => {
            this.playButton.replaceChildren(icon(isPlaying ? 'pause' : 'play'));
            this.stage.quality.isPlaying = isPlaying;
        });
        player.on('speed', speed => { this.speed.value = speed; });
    }

    #tool(name, iconName, title, isOn, change) {
        const tool = button(iconName, title, () => this.#switch(name), { 'aria-pressed': isOn ? 'true' : 'false' });
        (this.switches ??= new Map()).set(name, { tool, change });
        this.tools.append(tool);
    }

    #switch(name, to) {
        const { tool, change } = this.switches.get(name);
        const isOn = to ?? tool.getAttribute('aria-pressed') !== 'true';
        tool.setAttribute('aria-pressed', isOn ? 'true' : 'false');
        change(isOn);
    }

    #addTools() {
        const { arrows, stage, trails } = this;
        // On a narrow screen the tools are folded away behind this one.
        const unfold = button('eye', 'What is shown', () => {
            const isOpen = this.tools.classList.toggle('open');
            unfold.setAttribute('aria-expanded', isOpen ? 'true' : 'false');
        }, { class: 'icon unfold', 'aria-expanded': 'false' });
        this.tools.append(unfold);
        this.#tool('points', 'points', 'Contact points (C)', arrows.showsPoints, isOn => {
            arrows.showsPoints = isOn;
            this.#wantContacts();
        });
        this.#tool('forces', 'force', 'Force arrows (A)', arrows.showsForces, isOn => {
            arrows.showsForces = isOn;
            this.#wantContacts();
        });
        this.#tool('cones', 'cone', 'Friction cones (K)', false, isOn => {
            arrows.showsCones = isOn;
            this.#wantContacts();
        });
        this.#tool('trails', 'trail', 'Trails (T)', false, isOn => {
            trails.isOn = isOn;
            trails.update();
        });
        if (this.joints.marks.length > 0) {
            this.#tool('joints', 'joint', 'Joints (J)', true, isOn => this.joints.setVisible(isOn));
        }
        this.#tool('grid', 'grid', 'Grid (G)', true, isOn => stage.setGridVisible(isOn));
        this.#tool('follow', 'follow', 'Follow the selected body (F)', false, isOn => this.#follow(isOn ? this.run.selected : -1));
        this.tools.append(button('frame', 'View the whole scene (V)', () => this.#viewAll()));
    }

    // Contacts are fetched with the frames from now on where something shows them.
    #wantContacts() {
        const wants = this.arrows.showsPoints || this.arrows.showsForces || this.arrows.showsCones || ['contacts', 'law'].some(name => !this.tabList.get(name).panel.hidden) ||
            this.run.model.bodyOfMoving.length <= manyBodies || !this.run.source.isExact;
        if (wants !== this.player.wantsContacts) {
            this.player.wantsContacts = wants;
            this.player.reload();
        }
        this.arrows.refresh();
        this.#showLegend();
    }

    #follow(body) {
        this.stage.follow(body);
        this.switches.get('follow').tool.setAttribute('aria-pressed', body >= 0 ? 'true' : 'false');
        this.bodies.card.querySelector('[title^="Follow"]')?.setAttribute('aria-pressed', body >= 0 ? 'true' : 'false');
    }

    #viewAll() {
        this.#follow(-1);
        this.stage.director.reset(this.places);
    }

    // Behaviour --------------------------------------------------------------------------------------

    #connect() {
        const { run, player, stage } = this;
        player.on('frame', view => this.#show(view));
        player.on('grown', () => this.timeline.draw());
        stage.on('scale', () => {
            if (this.reference > 0) {
                this.arrows.setReference(this.reference);
                this.arrows.refresh();
                this.#showLegend();
            }
        });
        stage.on('select', body => run.select(body));
        run.on('select', body => {
            stage.select(body);
            this.arrows.selected = body;
            this.arrows.refresh();
            if (stage.followed >= 0) {
                this.#follow(body);
            }
            this.trails.update();
        });
        run.on('overview', () => this.#judge());
        run.on('settings', () => this.#describe());
        theme.on('change', () => this.#showLegend());
        addEventListener('keydown', event => this.#key(event), { signal: this.ending.signal });
        if (this.live) {
            stage.wantsDrag = hit => run.head.bodies[hit.body].kind === 'dynamic';
            stage.on('dragstart', hit => {
                run.select(hit.body);
                this.live.startDrag();
            });
            stage.on('drag', (hit, target) => {
                const local = hit.local ??= hit.point.clone().sub(run.model.positionOf(hit.body)).applyQuaternion(run.model.rotationOf(hit.body).invert()).toArray()
                    .map((value, k) => value + run.model.centers[hit.body][k]);
                this.live.drag(hit.body, local, target.toArray());
            });
            stage.on('dragend', () => this.live.drop());
        }
    }

    #show(view) {
        const { run, stage } = this;
        run.model.place(view.states, view.width);
        stage.moved();
        this.joints.place();
        const hadLeftOut = this.arrows.leftOut > 0;
        this.arrows.show(view, run.stepOf(view.frame));
        if (this.arrows.leftOut > 0 !== hadLeftOut) {
            this.#showLegend();
        }
        this.trails.show(view.frame, Boolean(this.live?.status.running));
        const time = run.timeOf(view.frame);
        this.time.textContent = `${time.toFixed(Math.max(2, Math.min(6, 1 - Math.floor(Math.log10(run.frameTime)))))} s`;
        this.frameLabel.textContent = `${count(view.frame)} / ${count(run.lastFrame)}`;
        this.root.dataset.frame = view.frame;
        this.#tellPanels(time, view);
    }

    // Where drawing is slow the panels follow a moving cursor once in some pictures, and one that stands at once.
    #tellPanels(time, view) {
        clearTimeout(this.telling);
        const isMoving = this.player.isPlaying || this.live?.status.running;
        const wait = isPlain && isMoving ? this.toldAt + Math.min(longestWait, slowPanels * this.stage.quality.pictureTime) - performance.now() : 0;
        if (wait > 0) {
            this.telling = setTimeout(() => this.#tellPanels(time, view), wait);
            return;
        }
        this.timeline.setCursor(view.frame);
        this.plots.setCursor(time);
        this.bodies.show(view.frame, this.player.wantsContacts ? view : null);
        this.contacts.show(view);
        this.law.show(view);
        this.findings.carriers.setCursor(view.frame);
        this.change?.showReadings();
        this.forkButton?.toggleAttribute('hidden', view.frame >= this.run.lastFrame || Boolean(this.live.status.running));
        this.toldAt = performance.now();
    }

    // A live run goes on from the frame that is shown.
    #fork() {
        if (this.live && this.player.frame < this.run.lastFrame) {
            this.live.fork(this.player.frame);
        }
    }

    tell(message) {
        showMessage(message);
    }

    // Nothing of it stays: what it drew, what it listened to, the memory of the graphics card.
    destroy() {
        this.ending.abort();
        theme.forget();
        this.live?.end();
        this.stage.dispose();
        this.root.replaceChildren();
        delete this.root.dataset.ready;
    }

    // The badge, arrows' scale and marks follow from the overview.
    #judge() {
        const { run } = this;
        const concerns = run.countConcerns();
        const kind = concerns.error > 0 ? 'error' : concerns.warning > 0 ? 'warning' : 'good';
        const worst = run.largest.residual?.value ?? 0;
        if (kind === 'good' && !(worst > 0) && !run.hasContacts) {
            this.badge.className = 'badge';
            this.#tell('nothing touches');
            this.#scaleArrows();
            this.timeline.draw();
            return;
        }
        this.badge.className = `badge ${kind}`;
        if (kind === 'good') {
            this.#tell('laws met to ', number(Math.max(worst, 1e-16), 2));
        } else {
            this.#tell(kind === 'error' ? `${many(concerns.error, 'step')} not solved`
                : concerns.broken > 0 ? this.#describeWarnings(worst) : `${many(concerns.taken, 'step')} by another method`);
        }
        this.#scaleArrows();
        this.timeline.draw();
    }

    // The badge. Beside a figure its words give way to the title on narrow screens.
    #tell(words, figure = '') {
        this.badge.replaceChildren(...figure ? [element('span', {}, element('span.wide-only', {}, words), figure)] : [words]);
        this.badge.setAttribute('aria-label', words + figure);
    }

    #describeWarnings(worst) {
        const { run } = this, laws = new Set();
        for (let row = 0; row < run.overview.count; ++row) {
            run.lawsBroken(row).forEach(law => laws.add(law));
        }
        return laws.has('contact law') || laws.size === 0 ? `residual up to ${number(worst, 2)}` : `${[...laws].join(', ')} beyond the limit`;
    }

    // Nine in ten frames have no force beyond the reference: impacts are longer, rest is still seen.
    #scaleArrows() {
        const { overview } = this.run;
        const usual = column => {
            const forces = Array.from(column.subarray(0, overview.count)).filter(force => force > 0).sort((a, b) => a - b);
            return forces[Math.floor(forces.length * 0.9)] ?? 0;
        };
        const reference = Math.max(usual(overview.forceMax), usual(overview.reactionMax));
        if (reference > 0 && Math.abs(Math.log(reference / (this.reference ?? 1e-300))) > 0.1) {
            this.reference = reference;
            this.arrows.setReference(reference);
            this.arrows.refresh();
            this.#showLegend();
        }
    }

    #showLegend() {
        const { arrows, stage } = this;
        const parts = [];
        if (arrows.showsForces && this.reference > 0) {
            parts.push(element('span.key', { title: '[ and ] change the length of arrows' }, element('i.arrow'), `${withUnit(this.reference / arrows.factor, 'N', 2)}`));
        }
        if ((arrows.showsForces || arrows.showsPoints) && (this.run.hasContacts || this.joints.count === 0)) {
            parts.push(element('span.key', {}, element('i.dot.sticking'), 'sticking'), element('span.key', {}, element('i.dot.sliding'), 'sliding'));
        }
        if (arrows.showsForces && this.joints.count > 0) {
            parts.push(element('span.key', { title: 'Force on the second body of a joint, or on the one that can move' }, element('i.dot.joint'), 'joint'));
        }
        if (arrows.leftOut > 0) {
            parts.push(element('span.key', {}, `the ${count(arrows.view.contactCount - arrows.leftOut)} largest contacts`));
        }
        if (stage.grids.length > 0) {
            parts.push(element('span.key', { title: 'Small squares of the grid' }, element('i.square'), withUnit(stage.cell, 'm')));
        }
        this.legend.replaceChildren(...parts);
        this.#sizeArrowKey();
    }

    // The arrow of the legend is as long as one at the middle of the scene.
    #sizeArrowKey() {
        const arrow = this.legend.querySelector('.arrow');
        if (arrow) {
            const { stage, arrows } = this;
            const length = this.reference / arrows.factor * arrows.metresPerNewton * arrows.factor;
            const distance = stage.camera.position.distanceTo(stage.controls.target);
            const pixels = length / (2 * distance * Math.tan(stage.camera.fov * Math.PI / 360)) * stage.container.clientHeight;
            arrow.style.width = `${Math.max(8, Math.min(160, pixels)).toFixed(1)}px`;
        }
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || isTypedInto(event.target) && event.key !== 'Escape') {
            return;
        }
        const { run, player } = this;
        const jump = event.shiftKey ? 10 : 1;
        const faster = by => player.setSpeed(speeds[Math.max(0, Math.min(speeds.length - 1, speeds.indexOf(player.speed) + by))]);
        const scale = by => { this.arrows.factor *= by; this.arrows.refresh(); this.#showLegend(); };
        const actions = {
            ' ': () => player.toggle(), ArrowLeft: () => player.step(-jump), ArrowRight: () => player.step(jump),
            Home: () => player.seek(run.firstFrame, { pause: true }), End: () => player.seek(run.lastFrame, { pause: true }),
            '-': () => faster(-1), '+': () => faster(1), '=': () => faster(1),
            f: () => this.#follow(this.stage.followed >= 0 ? -1 : run.selected), v: () => this.#viewAll(),
            c: () => this.#switch('points'), a: () => this.#switch('forces'), t: () => this.#switch('trails'), g: () => this.#switch('grid'), j: () => this.switches.has('joints') && this.#switch('joints'),
            '[': () => scale(1 / 1.5), ']': () => scale(1.5), d: () => theme.toggle(), r: () => this.live?.restart(), b: () => this.#fork(), k: () => this.#switch('cones'),
            l: () => this.#goToLargest(), s: () => this.#nextSlip(), n: () => this.#nextConcern(),
            1: () => this.showTab('plots'), 2: () => this.showTab('bodies'), 3: () => this.showTab('contacts'), 4: () => this.showTab('law'), 5: () => this.showTab('run'),
            Escape: () => (this.help ? this.#toggleHelp() : run.select(-1)), '?': () => this.#toggleHelp(),
        };
        const action = actions[event.key] ?? actions[event.key.toLowerCase()];
        if (action) {
            event.preventDefault();
            action();
        }
    }

    // The frame, the contact and its body; shown on the stage and in the list.
    async #goToLargest() {
        const { run, player } = this, { force } = run.largest;
        if (!(force?.frame >= 0)) {
            return;
        }
        this.#switch('forces', true);
        player.seek(force.frame, { pause: true });
        const view = await this.frames.get(force.frame, 1, true);
        const contact = view && player.wanted === force.frame ? largestContact(view) : null;
        if (contact) {
            run.select(run.head.bodies[contact.bodyA]?.moving >= 0 ? contact.bodyA : contact.bodyB);
            this.showTab('contacts');
            this.contacts.choose(contact);
        }
    }

    #nextSlip() {
        const starts = this.run.slipStarts();
        if (starts.length > 0) {
            this.player.seek(starts.find(frame => frame > this.player.frame) ?? starts[0], { pause: true });
        }
    }

    #nextConcern() {
        const { run } = this, { overview } = run;
        const from = overview.rowOf(this.player.frame);
        for (let k = 1; k <= overview.count; ++k) {
            const row = (from + k) % overview.count;
            if (run.concernOf(row)) {
                this.player.seek(overview.frameOf(row), { pause: true });
                return;
            }
        }
    }

    #toggleHelp() {
        if (this.help) {
            this.help.remove();
            this.help = null;
            return;
        }
        const close = button('close', 'Close (Escape)', () => this.#toggleHelp());
        this.help = element('div.help', { onclick: event => event.target === this.help && this.#toggleHelp() },
            element('div.sheet', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Keyboard' }, element('div.head', {}, element('h2', {}, 'Keyboard'), close),
                element('dl', {}, ...shortcuts.flatMap(([keys, what]) => [element('dt', {}, ...keys.split(' ').map(key => element('kbd', {}, key))), element('dd', {}, what)])),
                element('p.hint', {}, 'Drag on the stage to turn, scroll to zoom, right-drag to move. Click a body to select it.',
                    this.live ? ' Drag a body to pull it with a spring; Shift-drag turns the view.' : '')));
        document.body.append(this.help);
        close.focus();
    }

    // Start ------------------------------------------------------------------------------------------

    // Where bodies go, from some frames of the run; ones that fly off alone do not count.
    async #frameScene() {
        const { run } = this;
        const last = run.lastFrame, first = run.firstFrame;
        const samples = run.source.isLive || run.model.bodyOfMoving.length > manyBodies ? [first] : [0, 0.15, 0.35, 0.6, 1].map(at => Math.round(first + at * (last - first)));
        const points = [];
        for (const frame of new Set(samples)) {
            const view = await this.frames.get(frame, 1, this.player.wantsContacts);
            if (view) {
                run.model.bodyOfMoving.forEach((body, k) => {
                    const at = Array.from(view.states.subarray(k * view.width, k * view.width + 3));
                    if (at.every(Number.isFinite)) {
                        points.push({ at, radius: run.model.radii[body] || 0.01 });
                    }
                });
            }
        }
        this.places = run.source.isLive ? [] : points;
        this.stage.director.reset(points);
        if (run.source.isLive || run.head.bodies.length > 0) {
            this.#showLegend();
        }
    }

    // Resolves when the stage has been drawn with bodies on it.
    #firstPicture() {
        return new Promise(resolve => {
            const look = () => (this.hasDrawn ? resolve() : requestAnimationFrame(look));
            look();
        });
    }

    async start() {
        const { run, player } = this;
        await this.#frameScene();
        player.seek(run.firstFrame);
        const loop = now => {
            if (this.ending.signal.aborted) {
                return;
            }
            player.tick(now / 1000);
            if (this.stage.draw(now)) {
                this.hasDrawn = this.player.view !== undefined;
                this.#sizeArrowKey();
            }
            this.onPicture?.(now);
            requestAnimationFrame(loop);
        };
        requestAnimationFrame(loop);
        if (run.model.problem) {
            showMessage(`Bodies cannot be drawn: ${run.model.problem}.`);
        }
        try {
            await run.readOverview();
        } catch (error) {
            showMessage(`The overview could not be read: ${error.message}`);
        }
        this.root.dataset.ready = 'true';
        if (this.live) {
            this.live.watch();
            await this.#firstPicture();
            if (this.begins) {
                this.live.begin();
            }
        } else if (run.head.mode === 'file' && run.lastFrame > run.firstFrame && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
            // A page that was mailed shows what it is about.
            await this.#firstPicture();
            if (player.frame === run.firstFrame) {
                player.setPlaying(true);
            }
        }
    }
}
