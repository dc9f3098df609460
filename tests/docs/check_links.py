#!/usr/bin/env python3
"""Follows the links of all documents: files that are there, headings that are there. Usage: check_links.py SOURCE_DIR"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
SPAN = re.compile(r"(?<!\[)`[^`\n]*`")


def anchors(path):
    """The names that headings are linked by, as GitHub and Sphinx make them."""
    with open(path, encoding="utf-8") as file:
        text = FENCED.sub("", file.read())
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        while name in found:
            name += "-1"
        found.add(name)
    return found


def main():
    source = sys.argv[1]
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True).stdout.split()
    if not listed:
        listed = [os.path.relpath(os.path.join(base, name), source) for base, _, names in os.walk(source) for name in names
                  if name.endswith(".md") and not re.search(r"node_modules|/build", base)]
    pages = [path for path in listed if os.path.exists(os.path.join(source, path)) and not path.startswith("bench/board/")]
    count, wrong = 0, []
    for page in pages:
        with open(os.path.join(source, page), encoding="utf-8") as file:
            text = SPAN.sub("", FENCED.sub("", file.read()))
        for target, anchor in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path = os.path.normpath(os.path.join(source, os.path.dirname(page), target)) if target else os.path.join(source, page)
            if not os.path.exists(path):
                wrong.append("%s: there is no %s" % (page, target))
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                wrong.append("%s: %s has no heading #%s" % (page, target or "it", anchor))
    print("\n".join(wrong) or "%d links in %d documents" % (count, len(pages)))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
