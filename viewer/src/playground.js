// The playground: the page with the core in a worker beside it, a gallery, an editor, a twin and links.

import { button, element } from './dom.js';
import { Editor } from './editor.js';
import { Gallery } from './gallery.js';
import { formatScene, LessonPanel } from './lesson.js';
import { lessons } from './lessons.js';
import { packLink, unpackLink } from './link.js';
import { Page, showMessage } from './page.js';
import { AskedSource } from './source.js';
import { Twin } from './twin.js';
import { SceneProblem, WorkerCarrier } from './worker_carrier.js';

const firstScene = 'tippe_top';
const longestFile = 16e6;  // bytes of a file that is dropped
const longestLink = 60000; // letters, beyond which many programs cut a link
const framesInMemory = 96e6;

class Playground {
    constructor(root, carrier, scenes, lesson) {
        this.root = root;
        this.scenes = scenes;
        this.lesson = lesson;
        this.gallery = new Gallery(scenes, { choose: file => this.#try(() => this.openNamed(file)), openFiles: files => this.#try(() => this.openFiles(files)) });
        this.editor = new Editor({ run: text => this.#try(() => this.runText(text)), check: text => this.check(text) });
        this.#useWorker(carrier);
        addEventListener('dragover', event => event.preventDefault());
        addEventListener('drop', event => {
            event.preventDefault();
            if (event.dataTransfer?.files.length > 0) {
                this.#try(() => this.openFiles(event.dataTransfer.files));
            }
        });
        addEventListener('hashchange', () => location.hash !== this.ownHash && this.#try(() => this.openLink()));
    }

    // Whatever goes wrong is told; what ran before still runs.
    async #try(action) {
        try {
            await action();
        } catch (error) {
            if (error instanceof SceneProblem && this.page) {
                this.editor.showProblems(error.problems);
                this.page.showTab('scene');
            }
            showMessage(error.message);
        }
    }

    // The worker --------------------------------------------------------------------------------------

    #useWorker(carrier) {
        this.carrier = carrier;
        this.carrier.on('slow', () => this.#askToStop());
        this.carrier.on('awake', () => this.stopBox?.remove());
        this.carrier.on('lost', reason => this.#recover(reason));
        this.carrier.on('order', order => this.twin?.tell(order));
    }

    #askToStop() {
        this.stopBox?.remove();
        this.stopBox = element('div.message', { role: 'alert' }, element('span', {}, 'This step takes long. The page goes on; so does the step, for a minute at most.'),
            element('button.plain', { type: 'button', onclick: () => this.carrier.end('the step was stopped') }, 'Stop it'));
        document.body.append(this.stopBox);
    }

    // The scene that was open stands at its start again.
    async #recover(reason) {
        this.stopBox?.remove();
        const { opened } = this;
        this.#closeTwin();
        this.page?.live?.end();
        this.#useWorker(new WorkerCarrier());
        if (opened) {
            await this.#try(() => this.open({ ...opened, orders: [], twin: null, begins: false }));
        }
        showMessage(`The run was ended: ${reason}.`);
    }

    // Scenes ------------------------------------------------------------------------------------------

    async openNamed(name, more = {}) {
        const found = this.scenes.find(({ file }) => file === name);
        if (!found) {
            throw new Error(`There is no scene "${name}" here.`);
        }
        const read = async path => {
            const response = await fetch(path);
            if (!response.ok) {
                throw new Error(`${path} could not be read.`);
            }
            return response;
        };
        const files = { [`${name}.json`]: await (await read(`scenes/${name}.json`)).text() };
        for (const path of found.files ?? []) {
            files[path] = new Uint8Array(await (await read(`scenes/${path}`)).arrayBuffer());
        }
        await this.open({ files, scene: `${name}.json`, name, ...more });
    }

    async openFiles(list) {
        const files = {};
        for (const file of list) {
            if (file.size > longestFile) {
                throw new Error(`${file.name} is too large: files here have up to ${longestFile / 1e6} MB.`);
            }
            files[file.name] = file.name.endsWith('.json') ? await file.text() : new Uint8Array(await file.arrayBuffer());
        }
        const scene = Object.keys(files).find(name => name.endsWith('.json'));
        if (!scene) {
            throw new Error('A scene is a file that ends in .json; drop its meshes together with it.');
        }
        await this.open({ files, scene });
    }

    // The scene of the lesson, with its numbers as they are.
    openLesson(values = Object.fromEntries(this.lesson.sliders.map(({ key, value }) => [key, value])), more = {}) {
        this.values = values;
        const text = formatScene(this.lesson.scene(values));
        return this.open({ files: { 'lesson.json': text }, scene: 'lesson.json', ...more });
    }

    // The text of the editor in place of the scene's.
    runText(text) {
        const { files, scene } = this.opened;
        return this.open({ files: { ...files, [scene]: text }, scene, isEdited: true, tab: 'scene' });
    }

    async check(text) {
        const { files, scene } = this.opened;
        try {
            await this.carrier.check({ ...files, [scene]: text }, scene);
            return [];
        } catch (error) {
            return error instanceof SceneProblem ? error.problems : [{ line: 0, column: 0, words: error.message }];
        }
    }

    // Opens a scene, or throws and leaves everything as it is.
    async open({ files, scene, name = null, orders = [], twin = null, isEdited = false, begins = true, tab = null }) {
        try {
            await this.carrier.open(files, scene);
        } catch (error) {
            if (!this.page && error instanceof SceneProblem) {
                this.editor.set(files[scene]);
                this.editor.showProblems(error.problems);
            }
            throw error;
        }
        const source = await new AskedSource(this.carrier).open();
        this.#closeTwin();
        this.page?.destroy();
        document.querySelector('.message')?.remove();
        this.opened = { files, scene, name: isEdited ? null : name };
        this.orders = [];
        this.page = new Page(this.root, source, { actions: this.#actions(), extras: this.#extras(), tab: tab ?? (this.lesson ? 'lesson' : 'change'), begins, memory: framesInMemory, ...(this.lesson?.view ?? {}) });
        globalThis.tippe = this.page;
        globalThis.playground = this;
        this.editor.set(files[scene]);
        this.page.onPicture = now => this.twin?.draw(now);
        this.page.player.on('frame', view => {
            this.twin?.follow();
            this.twin?.show(view);
            this.lessonPanel?.show(view);
        });
        for (const order of orders) {
            try {
                await this.carrier.command(order);
                this.orders.push(order);
            } catch (error) {
                showMessage(`A setting of the link was left out: ${error.message}`);
            }
        }
        await this.page.start();
        const other = twin ?? (isEdited ? null : this.lesson?.twin);
        if (other) {
            await this.openTwin(other);
        }
    }

    #extras() {
        const extras = [{ name: 'scene', title: 'Scene', node: this.editor.root, onShow: () => this.editor.refresh() }];
        if (this.lesson) {
            this.lessonPanel = new LessonPanel(this.lesson, this);
            extras.push({ name: 'lesson', title: 'Lesson', node: this.lessonPanel.root, isFirst: true });
        }
        return extras;
    }

    #actions() {
        return [
            element('button.plain.choose', { type: 'button', title: 'Choose a scene', onclick: () => this.gallery.show() }, 'Scenes'),
            element('a.plain.lessons', { href: 'lessons.html' }, 'Lessons'),
            this.splitButton = button('split', 'Two steppers side by side', () => this.#try(() => (this.twin ? this.#closeTwin() : this.openTwin()))),
            button('share', 'A link to this', () => this.#try(() => this.share())),
        ];
    }

    // Two runs ----------------------------------------------------------------------------------------

    async openTwin(stepper = this.page.run.head.steppers.find(name => name !== this.page.run.stepper && name !== 'free-flight')) {
        this.#closeTwin();
        if (!this.page.run.head.steppers.includes(stepper)) {
            throw new Error(`There is no stepper "${stepper}".`);
        }
        const carrier = new WorkerCarrier(), { files, scene } = this.opened;
        const twin = new Twin(this.page, carrier, { stepper, onChoose: name => this.#try(() => this.openTwin(name)), onMessage: showMessage });
        this.twin = twin;
        this.splitButton.setAttribute('aria-pressed', 'true');
        carrier.on('lost', reason => {
            if (this.twin === twin) {
                this.#closeTwin();
                showMessage(`The second run was ended: ${reason}.`);
            }
        });
        await carrier.open(files, scene);
        await twin.start([...this.settings().filter(order => !('stepper' in order)), ...(this.lesson?.twin === stepper ? this.lesson.twinOrders ?? [] : [])]);
        this.page.live.restart(); // both from the start
    }

    #closeTwin() {
        const { twin } = this;
        this.twin = null;
        twin?.destroy();
        this.splitButton?.setAttribute('aria-pressed', 'false');
    }

    // Links -------------------------------------------------------------------------------------------

    // What makes the run differ from its scene, as orders.
    settings() {
        const { run, change } = this.page, changes = new Map(change.changes);
        changes.delete('stepper');
        changes.delete('step');
        const orders = [...this.orders.filter(order => !('stepper' in order) && !('step' in order)), ...changes.values()];
        if (run.stepper !== run.head.stepper) {
            orders.push({ stepper: run.stepper });
        }
        if (run.step !== run.head.step) {
            orders.push({ step: run.step });
        }
        return orders;
    }

    async link() {
        const { files, scene, name } = this.opened;
        if (!name && Object.keys(files).length > 1) {
            throw new Error('A link cannot carry meshes: it holds the text of the scene alone.');
        }
        const hash = await packLink({ scene: name ?? files[scene], orders: this.settings(), twin: this.twin?.stepper });
        if (hash.length > longestLink) {
            throw new Error('This scene is too long for a link.');
        }
        return hash;
    }

    async share() {
        const hash = await this.link();
        this.ownHash = hash;
        history.replaceState(null, '', hash);
        const field = element('input', { type: 'text', readonly: true, value: location.href, 'aria-label': 'Link', onfocus: () => field.select() });
        const said = element('span.hint');
        const copy = element('button.primary', { type: 'button', onclick: async () => {
            field.select();
            try {
                await navigator.clipboard.writeText(field.value);
                said.textContent = 'Copied.';
            } catch {
                said.textContent = 'Press Ctrl C.';
            }
        } }, 'Copy');
        const box = element('div.help', { onclick: event => event.target === box && box.remove(), onkeydown: event => event.key === 'Escape' && box.remove() },
            element('div.sheet.share', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'A link to this' },
                element('div.head', {}, element('h2', {}, 'A link to this'), button('close', 'Close (Escape)', () => box.remove())),
                element('p.hint', {}, 'It carries the scene, the settings and the second stepper. Nothing is stored anywhere.'), element('div.share-row', {}, field, copy), said));
        document.body.append(box);
        field.focus();
    }

    async openLink() {
        const state = await unpackLink(location.hash);
        this.ownHash = location.hash;
        if (!state) {
            return this.lesson ? this.openLesson() : this.openNamed(firstScene);
        }
        if (this.scenes.some(({ file }) => file === state.scene)) {
            return this.openNamed(state.scene, { orders: state.orders, twin: state.twin });
        }
        if (!state.scene.trimStart().startsWith('{') && !state.scene.trimStart().startsWith('/')) {
            throw new Error(`There is no scene "${state.scene}" here.`);
        }
        return this.open({ files: { 'scene.json': state.scene }, scene: 'scene.json', orders: state.orders, twin: state.twin });
    }

    async begin() {
        try {
            await this.openLink();
        } catch (error) {
            if (!this.page) {
                const { problems } = error;
                await (this.lesson ? this.openLesson() : this.openNamed(firstScene));
                if (problems) {
                    this.page.showTab('scene');
                }
            }
            showMessage(error.message);
        }
    }
}

// The worker has started while this was being read.
const root = document.getElementById('app'), { worker, heard, scenes: sceneList } = globalThis.tippeBoot, carrier = new WorkerCarrier(worker, heard);
sceneList.then(response => response.json())
    .then(scenes => new Playground(root, carrier, scenes, lessons.find(({ id }) => id === root.dataset.lesson) ?? null).begin())
    .catch(error => showMessage(`The playground cannot start: ${error.message}. It has to come from a web server, such as the one of "make playground".`));
