# How Sphinx builds the site; build.py copies it beside the staged documents.
import re

project = "Tippe"
copyright = ""
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
master_doc = "index"
exclude_patterns = []
html_theme = "furo"
html_title = "Tippe"
html_logo = "logo.svg"
html_favicon = "logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"priority": 500})]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b5432c", "color-brand-content": "#287a8c"},
    "dark_css_variables": {"color-brand-primary": "#ea7a5c", "color-brand-content": "#4db3c9"},
}
pygments_style = "friendly"
highlight_language = "none"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["myst.header", "toc.not_included", "misc.highlighting_failure"]


# Docstrings are written to be read in a terminal: what is indented is code, and lines of a name, two blanks and words are a list.
NAMED = re.compile(r"^(\*{0,2}[A-Za-z_][\w.\[\], *]*?) {2,}(\S.*)$")


def prepare(_app, _what, _name, _object, _options, lines):
    text, is_code, is_list = [], False, False
    for line in lines:
        is_blank, depth, named = not line.strip(), len(line) - len(line.lstrip()), NAMED.match(line)
        if not is_blank and depth >= 4 and not is_list and not is_code:
            text += ["", "::", ""]
            is_code = True
        elif not is_blank and depth == 0:
            is_code = False
        if named and not is_code:
            text += ([] if is_list else [""]) + ["* ``%s``: %s" % named.groups()]
            is_list = True
        elif is_list and depth > 0:
            text.append("  " + line.strip())
        else:
            text += ([""] if is_list and not is_blank else []) + [line]
            is_list = is_list and is_blank
    lines[:] = text


def setup(app):
    app.connect("autodoc-process-docstring", prepare)
