#!/usr/bin/env python3
"""Builds the documents as a site. Usage: tools/site/build.py OUTPUT_DIRECTORY (in the venv of tools/site/build.sh)

The Markdown that is there is copied with its links as they are, beside pages that are made here: the gallery, the C reference
from the headers, the Python reference from the docstrings. A link that leads nowhere is an error.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import c_reference  # noqa: E402

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(folder, path, text):
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)


def documents():
    """All Markdown of the repository that is for readers, as paths from its root."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if os.path.exists(os.path.join(ROOT, path)) and not path.startswith("bench/board/")] # parts of docs/board.md


def stage(folder):
    """Copies documents, and the files they link to, with the places they have to each other."""
    pages = documents()
    for path in pages:
        text = read(os.path.join(ROOT, path))
        parts = CODE.split(text)
        for at in range(0, len(parts), 2):
            parts[at] = LINK.sub(lambda match: settle(folder, path, match, pages), parts[at])
        write(folder, "index.md" if path == "README.md" else path, "".join(parts))
    return pages


def settle(folder, page, match, pages):
    """A link of a page: to another page, to a file that comes along, or to the outside."""
    is_picture, words, target, anchor = match.groups()
    if re.match(r"[a-z]+:", target):
        return match.group(0)
    path = os.path.normpath(os.path.join(os.path.dirname(page), target))
    if os.path.isdir(os.path.join(ROOT, path)):
        inside = os.path.join(path, "README.md")
        if inside in pages:
            return "%s[%s](%s%s)" % (is_picture, words, os.path.join(target, "README.md"), anchor or "")
        return "`%s`" % path if not is_picture else match.group(0)
    if path == "README.md":
        return "[%s](%s%s)" % (words, os.path.relpath("index.md", os.path.dirname(page) or "."), anchor or "")
    if path not in pages:
        source, copy = os.path.join(ROOT, path), os.path.join(folder, path)
        if os.path.exists(source) and not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(source, copy)
    return match.group(0)


def find_picture(key):
    """The moving picture of a scene, or else the still one; None if it has neither."""
    for path in (os.path.join("docs", "figures", "moving", key + ".webp"), os.path.join("viewer", "playground", "pictures", key + ".jpg")):
        if os.path.exists(os.path.join(ROOT, path)):
            return path
    return None


def write_gallery(folder, has_playground):
    """A card per scene, those that move first; the picture leads into the playground."""
    cards = []
    for name in sorted(os.listdir(os.path.join(ROOT, "scenes"))):
        if not name.endswith(".json"):
            continue
        text = read(os.path.join(ROOT, "scenes", name))
        about, title = re.search(r'"about":\s*"((?:[^"\\]|\\.)*)"', text), re.search(r'"name":\s*"((?:[^"\\]|\\.)*)"', text)
        said = lambda found, otherwise: html.escape(json.loads('"%s"' % found.group(1)) if found else otherwise)
        key, picture = name[:-len(".json")], find_picture(name[:-len(".json")])
        shown = '<span class="no-picture"></span>'
        if picture:
            target = os.path.join(folder, "static", "gallery", os.path.basename(picture))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, picture), target)
            shown = '<img src="../_static/gallery/%s" alt="%s" loading="lazy">' % (os.path.basename(picture), said(title, key))
        if has_playground and os.path.exists(os.path.join(ROOT, "build", "playground", "scenes", name)):
            shown = '<a href="../playground/index.html#scene=%s" title="Play with it">%s</a>' % (key, shown)
        cards.append((not (picture or "").endswith(".webp"), picture is None, key,
                      '<figure>%s<figcaption><b>%s</b> %s<br><code>tippe view %s</code></figcaption></figure>' % (shown, said(title, key), said(about, ""), key)))
    lines = ["# Gallery", "", "The scenes that came with Tippe, in pictures of runs of ours." + (" Click one to play with it in the browser." if has_playground else ""), "", '<div class="gallery">']
    write(folder, "docs/gallery.md", "\n".join(lines + [card[-1] for card in sorted(cards)] + ["</div>", ""]))


def write_c_reference(folder):
    headers = sorted(os.listdir(os.path.join(ROOT, "include", "tippe")))
    for name in headers:
        write(folder, "reference/c/%s.md" % name[:-2], c_reference.write(name, read(os.path.join(ROOT, "include", "tippe", name))))
    first = lambda name: re.sub(r"^// ", "", read(os.path.join(ROOT, "include", "tippe", name)).split("\n")[0])
    rows = ["| [tippe/%s](%s.md) | %s |" % (name, name[:-2], first(name)) for name in headers]
    write(folder, "reference/c/index.md", "# C reference\n\nFrom the comments of the public headers. `tippe/tippe.h` includes them all.\n\n| header | about |\n|---|---|\n" + "\n".join(rows)
          + "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(name[:-2] for name in headers) + "\n```\n")
    return headers


def find_package():
    """Where the installed package is, with the stubs of its extension; None if it is not there."""
    found = subprocess.run([sys.executable, "-c", "import tippe, os; print(os.path.dirname(os.path.dirname(tippe.__file__)))"], capture_output=True, text=True, cwd=HERE)
    return found.stdout.strip() if found.returncode == 0 else None


def write_python_reference(folder, package):
    if package is None:
        write(folder, "reference/python.md", "# Python reference\n\nThe package could not be built on the machine that made this site. `help(tippe)` has the same text.\n")
        return
    listed = subprocess.run([sys.executable, "-c", "import tippe, json, inspect; print(json.dumps([[n, inspect.isclass(getattr(tippe, n)), inspect.ismodule(getattr(tippe, n)), callable(getattr(tippe, n))] for n in tippe.__all__]))"],
                            capture_output=True, text=True, check=True, cwd=HERE).stdout
    lines = ["# Python reference", "", "From the docstrings of the package. `pip install .` at the root of a clone, then `import tippe`.", ""]
    first = ["World", "load", "Run", "open", "Body", "Joint", "Axis", "Report", "Batch", "sweep"]
    place = lambda name: first.index(name) if name in first else len(first)
    for name, is_class, is_module, is_function in sorted(json.loads(listed), key=lambda one: (place(one[0]), not one[1], one[0])):
        if is_module or name.startswith("__"):
            continue
        kind = "autoclass" if is_class else "autofunction" if is_function else "autodata"
        lines += ["## %s" % name, "", "```{eval-rst}", ".. %s:: tippe.%s" % (kind, name), *(["   :members:"] if is_class else []), "```", ""]
    write(folder, "reference/python.md", "\n".join(lines))


def titled(folder, path):
    """A page of the navigation, by its own title; none if it is not there."""
    return path if os.path.exists(os.path.join(folder, path)) else None


def navigation(folder, headers):
    docs = lambda *names: [page for page in (titled(folder, "docs/%s.md" % name) for name in names) if page]
    steppers = sorted(path for path in documents() if re.fullmatch(r"src/steppers/\w+/README\.md", path))
    rooms = sorted(path for path in documents() if re.fullmatch(r"src/(\w+/)?README\.md", path))
    known = docs("hello", "tutorial", "tutorial_python", "python", "choosing", "joints", "troubleshooting", "glossary", "remote", "scenes", "program", "page", "playground", "recordings", "conventions", "solving", "collision", "board", "speed", "papers", "theta", "measured", "representations", "architecture", "dependencies", "gallery")
    others = sorted(path for path in documents() if path.startswith("docs/") and path not in known)
    return [
        ("Start", docs("tutorial", "tutorial_python", "python", "hello", "choosing", "joints", "troubleshooting", "glossary", "remote") + ["python/README.md"]),
        ("Gallery", docs("gallery", "playground")),
        ("Using", docs("program", "scenes", "page", "recordings", "conventions", "solving", "collision") + others),
        ("Theory", steppers + docs("theta", "papers")),
        ("Reference", ["reference/python.md", "reference/c/index.md"]),
        ("Measured", docs("board", "speed", "measured", "representations")),
        ("Inside", docs("architecture", "dependencies") + rooms + ["CHANGELOG.md"]),
    ]


def write_navigation(folder, nav):
    """The tables of contents, behind the text of the first page."""
    with open(os.path.join(folder, "index.md"), "a", encoding="utf-8") as file:
        for title, pages in nav:
            file.write("\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (title, "\n".join(re.sub(r"\.md$", "", page) for page in pages)))


def judge(warnings):
    """What Sphinx complains of, but for the form of docstrings."""
    return [line for line in warnings.split("\n") if re.search(r"WARNING|ERROR", line) and "docstring of" not in line and "reference/python" not in line]


def main():
    output = os.path.abspath(sys.argv[1])
    folder = os.path.join(ROOT, "build", "site_source")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    playground = os.path.join(ROOT, "build", "playground")
    has_playground = os.path.exists(os.path.join(playground, "index.html"))
    stage(folder)
    write_gallery(folder, has_playground)
    headers = write_c_reference(folder)
    package = find_package()
    write_python_reference(folder, package)
    os.makedirs(os.path.join(folder, "static"), exist_ok=True)
    for name, place in [("site.css", "static"), ("site.js", "static"), ("logo.svg", ""), ("conf.py", "")]:
        shutil.copyfile(os.path.join(HERE, name), os.path.join(folder, place, name))
    write_navigation(folder, navigation(folder, headers))
    log = os.path.join(ROOT, "build", "site_warnings.txt")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "html", "-w", log, "-d", os.path.join(ROOT, "build", "site_doctrees"), folder, output], stderr=subprocess.DEVNULL)
    complaints = judge(read(log))
    if done.returncode != 0 or complaints:
        print("\n".join(complaints) or read(log), file=sys.stderr)
        return 1
    # Files that pages link to and that are no pictures: beside the pages, with the same names.
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(base, name), folder)
            if not name.endswith((".md", ".py")) and not os.path.exists(os.path.join(output, path)) and not path.startswith("static"):
                os.makedirs(os.path.dirname(os.path.join(output, path)), exist_ok=True)
                shutil.copyfile(os.path.join(folder, path), os.path.join(output, path))
    if has_playground:
        shutil.copytree(playground, os.path.join(output, "playground"), dirs_exist_ok=True)
    count = sum(name.endswith(".html") for _, _, names in os.walk(output) for name in names)
    print("%s: %d pages%s%s" % (sys.argv[1], count, "" if has_playground else ", without the playground (make playground)", "" if package else ", without the Python reference"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
