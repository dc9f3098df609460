# How Sphinx builds the site; build.py copies it beside the staged documents.
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
