// Light and dark, and the colours that drawings take from the style sheet.

import { Emitter } from './dom.js';

class Theme extends Emitter {
    #colours = new Map();

    constructor() {
        super();
        this.preferred = matchMedia('(prefers-color-scheme: dark)');
        this.preferred.addEventListener('change', () => this.#apply());
        this.chosen = null;
        this.#apply();
    }

    get isDark() {
        return (this.chosen ?? (this.preferred.matches ? 'dark' : 'light')) === 'dark';
    }

    toggle() {
        this.chosen = this.isDark ? 'light' : 'dark';
        this.#apply();
    }

    #apply() {
        document.documentElement.dataset.theme = this.isDark ? 'dark' : 'light';
        this.#colours.clear();
        this.emit('change');
    }

    // A colour of the style sheet: colour('ink') is --ink.
    colour(name) {
        if (!this.#colours.has(name)) {
            const style = getComputedStyle(document.documentElement);
            this.#colours.set(name, style.getPropertyValue(`--${name}`).trim());
        }
        return this.#colours.get(name);
    }
}

export const theme = new Theme();

// Bodies are coloured in turn; the same ones in both themes.
export const bodyColours = ['#c65b45', '#5f8f93', '#e0a94a', '#6f86ad', '#8d749f', '#86a56f', '#cf8d98', '#a3865f'];

// Lines of plots, by theme.
const lines = {
    light: ['#1f6f8b', '#d0662a', '#6c5b9e', '#3f8a4f', '#b2427a', '#8a7420', '#4a6fb3', '#7a5a45'],
    dark: ['#5cb8cf', '#f09a5b', '#a898dc', '#79c287', '#e287b4', '#cdb65c', '#8fb0ee', '#c09c83'],
};

export const lineColour = index => lines[theme.isDark ? 'dark' : 'light'][index % 8];
