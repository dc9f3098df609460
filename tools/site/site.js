// A page that comes from a file may not read others: search then lists titles without the text around what it found.
if (location.protocol === 'file:') {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
