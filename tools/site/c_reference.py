"""The C reference as Markdown, from the comments of the public headers.

A header is a comment about itself, then pieces parted by empty lines: comments and the declarations they are about. Comments
become text, declarations code under a heading with their names.
"""
import re

NAME = re.compile(r"(?:TP_API[^;{]*?\b(tp\w+)\s*\(|^}\s*(tp\w+);|^typedef [^{;]*?\(\*(tp\w+)\)|^typedef [^{;(]*?\b(tp\w+);|^#define (TP_\w+)|^(?:static inline )[^;{]*?\b(tp\w+)\s*\()", re.M)
LEFT_OUT = re.compile(r"^(#include|#ifndef TIPPE_\w+_H|#define TIPPE_\w+_H|#endif|TP_BEGIN_DECLS|TP_END_DECLS|#if|#else)")


def prose(lines):
    """Comment lines as Markdown; what is indented stays as it is."""
    text = []
    for line in lines:
        words = re.sub(r"^// ?", "", line)
        if words.startswith("    ") and text and text[-1] and not text[-1].startswith("    "):
            text.append("")
        text.append(words if words.startswith("    ") else words.replace("*out", r"\*out").replace("<", "&lt;"))
    return "\n".join(text)


def pieces(source):
    """Blocks of a header; braces hold empty lines inside a declaration together."""
    block, depth = [], 0
    for line in source.split("\n"):
        depth += line.count("{") - line.count("}")
        if line.strip() == "" and depth <= 0:
            if block:
                yield block
            block, depth = [], 0
        else:
            block.append(line)
    if block:
        yield block


def names(code):
    found = [next(filter(None, match)) for match in NAME.findall(code)]
    return list(dict.fromkeys(name for name in found if not name.endswith("_H")))


def parts(block):
    """A block as runs of [comments, code]: a comment at the margin begins anew."""
    runs = []
    for line in block:
        if LEFT_OUT.match(line):
            continue
        is_comment = line.startswith("//")
        if not runs or (is_comment and runs[-1][1]):
            runs.append([[], []])
        runs[-1][0 if is_comment else 1].append(line)
    return runs


def write(name, source):
    """The Markdown page of a header."""
    blocks = list(pieces(source))
    title = "tippe/" + name
    page = ["# " + title, ""]
    for number, block in enumerate(blocks):
        for comments, code in parts(block):
            found = names("\n".join(code))
            if re.fullmatch(r"// .*?-{10,}", comments[0] if comments else "") and not code:
                page += ["## " + comments[0].strip("/- "), ""]
                continue
            if found and number > 0:
                shown = ", ".join("`%s`" % one for one in found[:4]) + (", ..." if len(found) > 4 else "")
                page += ["## " + shown, ""]
            if comments:
                page += [prose(comments), ""]
            if code:
                page += ["```c", *code, "```", ""]
    return "\n".join(page) + "\n"
