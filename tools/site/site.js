// A page that comes from a file may not read others: search then lists titles without the text around what it found.
if (location.protocol === 'file:') {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// What the theme leaves out for those who listen or have no mouse: levels and names of parts, code that keys can scroll, a title for each page.
addEventListener('DOMContentLoaded', () => {
    const all = (selector, change) => document.querySelectorAll(selector).forEach(change);
    all('.caption[role="heading"]', caption => caption.setAttribute('aria-level', '2'));
    all('.sidebar-drawer', part => part.setAttribute('aria-label', 'All pages'));
    all('.toc-drawer', part => part.setAttribute('aria-label', 'On this page'));
    all('pre, .table-wrapper', part => { part.tabIndex = 0; });
    all('th', head => {
        if (head.textContent.trim() === '') {
            const words = document.createElement('span');
            words.className = 'unseen';
            words.textContent = head.cellIndex === 0 ? 'what' : 'remark';
            head.append(words);
        }
    });
    const title = document.querySelector('article h2');
    if (title && !document.querySelector('h1')) {
        const first = document.createElement('h1');
        first.append(...title.childNodes);
        title.replaceWith(first);
    }
});
