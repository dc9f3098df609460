// The page of `tippe view` and of exported files.

import { Page, showMessage } from './page.js';
import { openSource } from './source.js';

openSource().then(source => {
    const page = new Page(document.getElementById('app'), source);
    globalThis.tippe = page; // for those who look behind the curtain, and for tests
    return page.start();
}).catch(error => showMessage(`This run cannot be shown: ${error.message}`));
