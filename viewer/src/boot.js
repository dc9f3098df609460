// Starts before the page is read: the worker loads and compiles the core meanwhile, and the list of scenes is on its way.

globalThis.tippeBoot = { worker: new Worker('worker.js'), scenes: fetch('scenes.json') };
tippeBoot.scenes.catch(() => {}); // told by the page
