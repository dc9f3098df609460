// The scene's text beside the run, with what the reader says about it at its place.

import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { minimalSetup } from 'codemirror';
import { lineNumbers } from '@codemirror/view';
import { element } from './dom.js';

const pause = 350; // ms after the last key, until the text is checked

const colours = HighlightStyle.define([
    { tag: tags.propertyName, class: 'tok-name' },
    { tag: tags.string, class: 'tok-string' },
    { tag: tags.number, class: 'tok-number' },
    { tag: [tags.bool, tags.null], class: 'tok-word' },
]);

// Emits nothing: calls `run` with the text when it is to be run, `check` when it has changed; check resolves to a list of problems.
export class Editor {
    constructor({ run, check }) {
        this.run = run;
        this.check = check;
        this.runButton = element('button.primary', { type: 'button', title: 'Run this text (Ctrl Enter)', onclick: () => this.run(this.text) }, 'Run');
        this.state = element('span.editor-state', { role: 'status' });
        this.list = element('ol.problems');
        this.box = element('div.editor-box');
        this.root = element('div.editor', {}, element('header', {}, this.runButton, this.state), this.box, this.list);
        this.view = new EditorView({
            parent: this.box,
            state: EditorState.create({
                doc: '',
                extensions: [
                    Prec.high(keymap.of([{ key: 'Mod-Enter', run: () => { this.run(this.text); return true; } }])),
                    lineNumbers(), minimalSetup, json(), syntaxHighlighting(colours), lintGutter(), EditorView.lineWrapping,
                    EditorView.contentAttributes.of({ 'aria-label': 'The scene as JSON', tabindex: '0' }),
                    EditorView.updateListener.of(update => update.docChanged && this.#changed()),
                ],
            }),
        });
    }

    get text() {
        return this.view.state.doc.toString();
    }

    // The text of the scene that runs.
    set(text) {
        this.isSetting = true;
        this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
        this.isSetting = false;
        this.saved = text;
        this.showProblems([]);
    }

    get hasChanged() {
        return this.text !== this.saved;
    }

    #changed() {
        if (this.isSetting) {
            return;
        }
        clearTimeout(this.timer);
        this.state.textContent = '…';
        this.timer = setTimeout(async () => {
            const text = this.text, problems = await this.check(text);
            if (text === this.text) {
                this.showProblems(problems);
            }
        }, pause);
    }

    // Where a problem is, as an offset.
    #offsetOf({ line, column }) {
        const { doc } = this.view.state, found = doc.line(Math.max(1, Math.min(doc.lines, line)));
        return Math.min(found.to, found.from + Math.max(0, column - 1));
    }

    showProblems(problems) {
        this.problems = problems;
        const { doc } = this.view.state;
        this.view.dispatch(setDiagnostics(this.view.state, problems.filter(({ line }) => line > 0).map(problem => {
            const from = this.#offsetOf(problem), line = doc.lineAt(from);
            return { from, to: Math.min(line.to, Math.max(from + 1, from + (/^[\w."-]+/.exec(line.text.slice(from - line.from))?.[0].length ?? 1))), severity: 'error', message: problem.words };
        })));
        this.list.replaceChildren(...problems.map(problem => element('li', {},
            element('button.go', { type: 'button', onclick: () => this.goTo(problem) }, problem.line > 0 ? `${problem.line}:${problem.column}` : 'scene'), ` ${problem.words}`)));
        this.runButton.disabled = problems.length > 0;
        this.state.textContent = problems.length > 0 ? (problems.length === 1 ? 'one mistake' : `${problems.length} mistakes`) : this.hasChanged ? 'changed' : '';
        this.root.classList.toggle('wrong', problems.length > 0);
    }

    goTo(problem) {
        const at = this.#offsetOf(problem);
        this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
        this.view.focus();
    }

    // It has been laid out anew, or become visible.
    refresh() {
        this.view.requestMeasure();
    }
}
