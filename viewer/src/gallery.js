// The scenes one can choose from.

import { button, element } from './dom.js';

export class Gallery {
    constructor(scenes, { choose, openFiles }) {
        this.scenes = scenes;
        this.choose = choose;
        this.openFiles = openFiles;
    }

    show() {
        const close = button('close', 'Close (Escape)', () => this.hide());
        const file = element('input', { type: 'file', accept: '.json,.obj,.stl', multiple: true, hidden: true, onchange: () => { this.hide(); this.openFiles(file.files); } });
        const found = element('div.cards');
        const search = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search the scenes', oninput: () => fill(search.value) });
        const fill = words => {
            const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
            found.replaceChildren(...this.scenes.filter(({ name, description, file: path }) => wanted.every(word => `${name} ${description} ${path}`.toLowerCase().includes(word)))
                .map(scene => this.#card(scene)));
        };
        fill('');
        this.box = element('div.help', { onclick: event => event.target === this.box && this.hide(), onkeydown: event => event.key === 'Escape' && this.hide() },
            element('div.sheet.gallery', { role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Scenes' },
                element('div.head', {}, element('h2', {}, 'Scenes'), search, element('button.plain', { type: 'button', onclick: () => file.click() }, 'Open a file …'), file, close), found));
        document.body.append(this.box);
        search.focus();
    }

    #card({ file, name, description, picture }) {
        return element('button.card', { type: 'button', onclick: () => { this.hide(); this.choose(file); } },
            picture ? element('img', { src: picture, alt: '', loading: 'lazy' }) : element('span.no-picture'),
            element('b', {}, name), element('span', {}, description));
    }

    hide() {
        this.box?.remove();
        this.box = null;
    }
}
