// Builds the pages: each becomes one HTML file that needs nothing else, and a C file that makes it part
// of the program. Usage: node build.mjs OUTPUT_DIRECTORY
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
const pages = ['replay'];

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

function asSource(name, bytes) {
    const lines = [`// ${name}.html, by viewer/build.mjs.`, '#include "page_assets.h"', '',
        `const unsigned char tp_${name}Html[] = {`];
    for (let i = 0; i < bytes.length; i += 32) {
        lines.push(Array.from(bytes.subarray(i, i + 32)).join(',') + ',');
    }
    lines.push('};', `const size_t tp_${name}HtmlSize = sizeof(tp_${name}Html);`, '');
    return lines.join('\n');
}

mkdirSync(output, { recursive: true });
for (const name of pages) {
    const html = await buildPage(name);
    writeFileSync(join(output, `${name}.html`), html);
    writeFileSync(join(output, `${name}.c`), asSource(name, Buffer.from(html)));
}
