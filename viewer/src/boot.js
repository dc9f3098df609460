// Starts before the page is read: the worker loads and compiles the core meanwhile, and the list of scenes is on its way.
//
// A worker may be ready before anybody listens: what it says until then is kept in `heard`.

const worker = new Worker('worker.js'), heard = [], scenes = fetch('scenes.json');
worker.onmessage = ({ data }) => heard.push(data);
scenes.catch(() => {}); // told by the page
globalThis.tippeBoot = { worker, heard, scenes };
