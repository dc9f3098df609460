// Small helpers for the document. All text goes in as text, never as markup.

// element('div.name', { title: 'x', onclick: f }, child, 'text', ...)
export function element(selector, attributes = {}, ...children) {
    const [tag, ...classes] = selector.split('.');
    const node = document.createElement(tag || 'div');
    if (classes.length > 0) {
        node.className = classes.join(' ');
    }
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) {
            node.addEventListener(name.slice(2), value);
        } else if (value === true) {
            node.setAttribute(name, '');
        } else if (value !== false && value !== null && value !== undefined) {
            node.setAttribute(name, value);
        }
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
}

// Icons on a grid of 20, drawn with lines.
const paths = {
    play: 'M6 4.2v11.6L16 10z',
    pause: 'M6 4h2.6v12H6zM11.4 4H14v12h-2.6z',
    first: 'M5 4.5v11M15.5 4.8 8 10l7.5 5.2z',
    last: 'M15 4.5v11M4.5 4.8 12 10l-7.5 5.2z',
    back: 'M13 4.5 6.5 10l6.5 5.5',
    next: 'M7 4.5 13.5 10 7 15.5',
    restart: 'M4.6 6.2A7 7 0 1 1 3 10.6M4.4 2.8v3.8h3.8',
    frame: 'M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4',
    eye: 'M2.4 10S5.2 5 10 5s7.6 5 7.6 5-2.8 5-7.6 5-7.6-5-7.6-5zM10 7.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z',
    follow: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v3M10 15v3M2 10h3M15 10h3',
    trail: 'M3 15c2.5-8 5.5-8 7-4s3.5 3 7-6',
    force: 'M10 17V5M5.8 9 10 4.4 14.2 9',
    points: 'M6 10a1 1 0 1 0 .01 0zM12.6 6a1 1 0 1 0 .01 0zM13.4 13.6a1 1 0 1 0 .01 0z',
    joint: 'M4 10h4M12 10h4M10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
    theme: 'M10 3.2a6.8 6.8 0 1 0 0 13.6zM10 3.2a6.8 6.8 0 0 1 0 13.6',
    help: 'M7.4 7.6a2.7 2.7 0 1 1 4 2.4c-1 .6-1.4 1-1.4 2.1M10 15v.1',
    close: 'M5 5l10 10M15 5 5 15',
    grid: 'M3 7.5h14M3 12.5h14M7.5 3v14M12.5 3v14',
    plus: 'M10 4.5v11M4.5 10h11',
    peak: 'M3 16h3.2L10 4l3.8 12H17',
    slip: 'M3 16.5h14M4 12.5h6v-6H4zM12 9.5h4.6M14.4 7.2l2.4 2.3-2.4 2.3',
    save: 'M10 3v9.4M6.2 8.8 10 12.6l3.8-3.8M3.5 13.6v2.9h13v-2.9',
    fork: 'M6 3.2v5.2c0 2.4 1.4 3.4 4 3.4s4 1.2 4 3.4v1.6M6 8.4v8.4M4 5.2l2-2.2 2 2.2',
    cone: 'M10 16.5 4.2 5.2M10 16.5l5.8-11.3M4.2 5.2c0-1 2.6-1.8 5.8-1.8s5.8.8 5.8 1.8-2.6 1.8-5.8 1.8-5.8-.8-5.8-1.8z',
    share: 'M8.2 11.8a3 3 0 0 0 4.3 0l3-3a3 3 0 0 0-4.3-4.3l-1 1M11.8 8.2a3 3 0 0 0-4.3 0l-3 3a3 3 0 0 0 4.3 4.3l1-1',
    split: 'M3.5 4h13v12h-13zM10 4v12',
    live: 'M10 7.4a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2z',
};

// svg('line.force', { x1: 0, ... }, ...)
export function svg(selector, attributes = {}, ...children) {
    const [tag, ...classes] = selector.split('.');
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    if (classes.length > 0) {
        node.setAttribute('class', classes.join(' '));
    }
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    node.append(...children);
    return node;
}

export function icon(name) {
    const isFilled = name === 'play' || name === 'pause' || name === 'live';
    return svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svg(isFilled ? 'path.filled' : 'path', { d: paths[name] }));
}

export function button(name, title, onclick, attributes = {}) {
    return element('button.icon', { type: 'button', title, 'aria-label': title, onclick, ...attributes }, icon(name));
}

// Something others listen to.
export class Emitter {
    #listeners = new Map();

    on(event, listener) {
        if (!this.#listeners.has(event)) {
            this.#listeners.set(event, []);
        }
        this.#listeners.get(event).push(listener);
        return this;
    }

    // Nobody listens any more.
    forget() {
        this.#listeners.clear();
    }

    emit(event, ...details) {
        for (const listener of this.#listeners.get(event) ?? []) {
            listener(...details);
        }
    }
}
