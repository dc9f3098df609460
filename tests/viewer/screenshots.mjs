// The pictures of docs/page.md, from runs of our own. Usage: TIPPE_... node screenshots.mjs OUTPUT_DIRECTORY (make figures)

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inPlace, openPage, scenes, tippe } from './support.mjs';

const output = process.argv[2];

const shots = [
    { name: 'page', scene: 'card_house', width: 1280, height: 800, frame: 0.12, scheme: 'light' },
    { name: 'page_many', scene: join(scenes, 'bench/spherepile.json'), more: ['--until', '0.4', '--set', 'budget=50000'], width: 1280, height: 800, frame: 1, scheme: 'light' },
    { name: 'page_linkage', scene: 'four_bar', width: 1280, height: 800, frame: 0.3, scheme: 'dark', act: page => page.run.select(2), keys: ['t', '2'] },
    { name: 'page_narrow', scene: 'discs66', width: 390, height: 844, frame: 0.25, scheme: 'light' },
];

for (const { name, scene, more = [], width, height, frame, scheme, act, keys = [] } of shots) {
    tippe('run', scene, '--quiet', ...more, '--out', `${name}.h5`);
    tippe('export', `${name}.h5`, '--html', `${name}.html`);
    const page = await openPage(pathToFileURL(inPlace(`${name}.html`)).href, { width, height, scheme, offline: true });
    await page.evaluate(share => globalThis.tippe.player.seek(share * globalThis.tippe.run.lastFrame, { pause: true }), frame);
    if (act) {
        await page.evaluate(`(${act})(globalThis.tippe)`);
    }
    for (const key of keys) {
        await page.keyboard.press(key);
    }
    await page.waitForTimeout(4000);
    await page.screenshot({ path: join(output, `${name}.png`), timeout: 120000 });
    await page.context().browser().close();
    console.log(`${name}.png`);
}
