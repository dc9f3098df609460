// Builds the pages: each becomes one HTML file that needs nothing else. Usage: node build.mjs OUTPUT_DIRECTORY
//
// A page's policy lets it run its own script and style, known by their hashes, and talk to the server
// it came from; nothing else.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, '../build/viewer');

// A page is pages/NAME.html with src/NAME.js and src/NAME.css.
const pages = ['compare', 'replay'];

const hashOf = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function bundle(entry, loaderOptions) {
    const result = await build({
        entryPoints: [join(here, entry)],
        bundle: true,
        minify: true,
        write: false,
        target: ['es2022'],
        legalComments: 'inline',
        charset: 'utf8',
        logLevel: 'warning',
        ...loaderOptions,
    });
    return result.outputFiles[0].text.trim();
}

async function buildPage(name) {
    const script = (await bundle(`src/${name}.js`, { format: 'iife' })).replaceAll('</script', '<\\/script');
    const style = await bundle(`src/${name}.css`, {});
    const policy = [
        "default-src 'none'",
        `script-src ${hashOf(script)}`,
        `style-src ${hashOf(style)}`,
        "img-src data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ].join('; ');
    return readFileSync(join(here, `pages/${name}.html`), 'utf8')
        .replace('POLICY', () => policy)
        .replace('STYLE', () => style)
        .replace('SCRIPT', () => script);
}

mkdirSync(output, { recursive: true });
for (const name of pages) {
    writeFileSync(join(output, `${name}.html`), await buildPage(name));
}
