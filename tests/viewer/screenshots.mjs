// The pictures of docs/page.md and docs/papers.md, from runs of our own. Usage: TIPPE_... node screenshots.mjs OUTPUT_DIRECTORY
// [NAME...] (make figures)

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inPlace, openPage, scenes, tippe } from './support.mjs';

const [, , output, ...wanted] = process.argv; // all, or those that are named

// Nearer than the page stands by itself, where bodies start far from where they are.
const closer = page => {
    page.stage.director.isOn = false;
    page.stage.camera.position.lerp(page.stage.controls.target, 0.5);
    page.stage.invalidate();
};

const shots = [
    { name: 'page', scene: 'card_house', width: 1280, height: 800, frame: 0.12, scheme: 'light' },
    { name: 'page_many', scene: join(scenes, 'bench/spherepile.json'), more: ['--until', '0.4'], width: 1280, height: 800, frame: 1, scheme: 'light' },
    { name: 'page_linkage', scene: 'four_bar', width: 1280, height: 800, frame: 0.3, scheme: 'dark', act: page => page.run.select(2), keys: ['t', '2'] },
    // Pictures of papers: the stage alone.
    { name: 'mirtich_canny_coins', scene: 'coins', more: ['--until', '1.5'], width: 1000, height: 560, frame: 0.2, scheme: 'light', keys: ['c', 'a'], act: closer, stageOnly: true },
    { name: 'mirtich_canny_bowling', scene: 'bowling', more: ['--until', '4'], width: 1000, height: 560, frame: 0.85, scheme: 'light', keys: ['c', 'a'], stageOnly: true },
    { name: 'mirtich_canny_marbles', scene: 'marbles_spheres', more: ['--until', '0.5'], width: 1000, height: 560, frame: 0.4, scheme: 'light', keys: ['c', 'a'], stageOnly: true },
    { name: 'bender_schmitt_cubes', scene: join(scenes, 'bench/funnel60.json'), more: ['--until', '3', '--every', '5', '--stepper', 'small-steps', '--set', 'push_out_speed=3'], width: 1000, height: 760, frame: 0.6, scheme: 'light', stageOnly: true },
    { name: 'bender_schmitt_top', scene: 'tippe_top', more: ['--every', '10'], width: 1000, height: 560, frame: 0.45, scheme: 'light', stageOnly: true },
    { name: 'bender_schmitt_toy', scene: 'office_toy_1', more: ['--until', '1.6', '--every', '10'], width: 1000, height: 560, frame: 0.5, scheme: 'light', stageOnly: true },
    { name: 'page_narrow', scene: 'discs66', width: 390, height: 844, frame: 0.25, scheme: 'light' },
];

for (const { name, scene, more = [], width, height, frame, scheme, act, keys = [], stageOnly } of shots) {
    if (wanted.length > 0 && !wanted.includes(name)) {
        continue;
    }
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
    await page.waitForTimeout(12000); // without a graphics card the first picture takes its time
    const clip = stageOnly ? await page.locator('canvas').first().boundingBox() : undefined;
    await page.screenshot({ path: join(output, `${name}.png`), clip, timeout: 120000 });
    await page.context().browser().close();
    console.log(`${name}.png`);
}
