"""A Sphinx directive for the reference, by Breathe: ```{header} tensor.h

shows what a public header declares. It leaves out private members and friends, and writes nothing
around the members of a namespace.
"""

from breathe.directives.file import DoxygenFileDirective
from docutils import nodes
from doxygen_comments import SPACE
from sphinx import addnodes

SECTIONS = """
briefdescription detaileddescription innernamespace innerclass enum func typedef var define
public-type public-func public-static-func public-attrib public-static-attrib
"""


def without_namespaces(found: list[nodes.Node]) -> list[nodes.Node]:
    result = []
    for node in found:
        if isinstance(node, addnodes.desc) and node.astext().startswith("namespace "):
            if ids := node[0]["ids"]:  # the index and the search link to them
                result.append(nodes.target("", "", ids=ids))
            result += without_namespaces(node[-1].children)
        elif isinstance(node, nodes.container):
            result += without_namespaces(node.children)
        else:
            result.append(node)
    return result


def without_inline(found: list[nodes.Node]) -> list[nodes.Node]:
    """Doxygen says `inline` of every function that a header defines."""
    for top in found:
        for keyword in list(top.findall(addnodes.desc_sig_keyword)):
            if keyword.astext() == "inline":
                siblings = keyword.parent.children
                place = siblings.index(keyword)
                del siblings[place : place + 2]  # the keyword and a space
    return found


def with_spaces(found: list[nodes.Node]) -> list[nodes.Node]:
    for top in found:
        for block in top.findall(nodes.literal_block):
            block.rawsource = block.astext().replace(SPACE, " ")
            block.children = [nodes.Text(block.rawsource)]
            block.children[0].parent = block
    return found


class Header(DoxygenFileDirective):
    def run(self):
        self.options["sections"] = " ".join(SECTIONS.split())
        return with_spaces(without_inline(without_namespaces(super().run())))


def setup(app):
    app.add_directive("header", Header)
    return {"parallel_read_safe": True}
