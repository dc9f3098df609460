// Builds the playground as a static site. Usage: node build_playground.mjs OUTPUT_DIRECTORY CORE_DIRECTORY
//
// CORE_DIRECTORY has tippe.js and tippe.wasm. The site needs no server but one that hands out files.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [, , output, core] = process.argv;
const scenes = join(here, '../scenes'), pictures = join(here, 'playground/pictures');

// What one should see first.
const first = ['tippe_top', 'card_house', 'cradle', 'brick_wall', 'euler_disc', 'rattleback', 'stack10', 'falling_rod', 'coins', 'discs66', 'chain', 'double_pendulum', 't_handle', 'block_ramp', 'painleve_rod', 'bouncing_ball'];
const tooLarge = 300000; // bytes of a scene

async function bundle(entry, outfile, more = {}) {
    await build({ entryPoints: [join(here, entry)], bundle: true, minify: true, target: ['es2022'], charset: 'utf8', logLevel: 'warning', legalComments: 'inline', outfile: join(output, outfile), format: 'iife', ...more });
}

// Comments are allowed in scenes.
const readScene = text => JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*/g, found => (found[0] === '"' ? found : '')));

function copyScene(folder, file) {
    const name = file.replace(/\.json$/, ''), text = readFileSync(join(folder, file), 'utf8');
    if (text.length > tooLarge) {
        return null;
    }
    const scene = readScene(text);
    const files = [...text.matchAll(/"file":\s*"([^"]+)"/g)].map(([, path]) => path);
    if (files.some(path => !/\.(obj|stl)$/i.test(path) || !existsSync(join(folder, path)))) {
        return null;
    }
    writeFileSync(join(output, 'scenes', file), text);
    files.forEach(path => copyFileSync(join(folder, path), join(output, 'scenes', path)));
    const picture = `${name}.jpg`, hasPicture = existsSync(join(pictures, picture));
    if (hasPicture) {
        copyFileSync(join(pictures, picture), join(output, 'pictures', picture));
    }
    return { file: name, name: scene.name ?? name, description: scene.about ?? '', files, picture: hasPicture ? `pictures/${picture}` : undefined };
}

function copyScenes() {
    const folders = [scenes, join(scenes, 'rattleback')];
    const found = folders.flatMap(folder => readdirSync(folder).filter(file => file.endsWith('.json')).sort().map(file => copyScene(folder, file))).filter(Boolean);
    const place = ({ file }) => (first.includes(file) ? first.indexOf(file) : first.length);
    found.sort((a, b) => place(a) - place(b));
    writeFileSync(join(output, 'scenes.json'), JSON.stringify(found));
    return found.length;
}

const escape = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function writePage(file, title, description, lesson = '') {
    writeFileSync(join(output, file), readFileSync(join(here, 'pages/playground.html'), 'utf8')
        .replace('TITLE', () => escape(title)).replace('DESCRIPTION', () => escape(description)).replace('LESSON', () => (lesson ? ` data-lesson="${lesson}"` : '')));
}

async function writeLessons() {
    const bundled = await build({ entryPoints: [join(here, 'src/lessons.js')], bundle: true, write: false, format: 'esm', charset: 'utf8' });
    const { lessons } = await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString('base64')}`);
    for (const { id, title, summary } of lessons) {
        writePage(`lesson-${id}.html`, `${title} – Tippe`, summary, id);
    }
    const items = lessons.map(({ id, title, summary }) => {
        const picture = `lesson_${id}.jpg`, hasPicture = existsSync(join(pictures, picture));
        if (hasPicture) {
            copyFileSync(join(pictures, picture), join(output, 'pictures', picture));
        }
        return `<li><a href="lesson-${id}.html">${hasPicture ? `<img src="pictures/${picture}" alt="" loading="lazy">` : ''}<b>${escape(title)}</b><span>${escape(summary)}</span></a></li>`;
    });
    writeFileSync(join(output, 'lessons.html'), readFileSync(join(here, 'pages/lessons.html'), 'utf8').replace('ITEMS', () => items.join('\n')));
    return lessons.length;
}

rmSync(output, { recursive: true, force: true });
['scenes', 'pictures'].forEach(folder => mkdirSync(join(output, folder), { recursive: true }));
await bundle('src/boot.js', 'boot.js');
await bundle('src/playground.js', 'playground.js');
await bundle('src/worker.js', 'worker.js');
await bundle('src/contents.js', 'contents.js');
await bundle('src/playground.css', 'playground.css', { format: undefined });
['tippe.js', 'tippe.wasm'].forEach(file => copyFileSync(join(core, file), join(output, file)));
writePage('index.html', 'Tippe – playground', 'Rigid bodies with contact and friction, simulated in your browser, with a certificate for every step');
const sceneCount = copyScenes(), lessonCount = await writeLessons();
console.log(`${output}: ${sceneCount} scenes, ${lessonCount} lessons`);
