"""Reads a page of HTML, for the tests of the reports."""

import html.parser


class Page(html.parser.HTMLParser):
    """The elements of a page: pairs of (tag, attributes), and the text of each <pre>."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.blocks, self.text, self._open = [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open.append(tag)
        if tag == "pre":
            self.blocks.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        self.text += data
        if "pre" in self._open:
            self.blocks[-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]
