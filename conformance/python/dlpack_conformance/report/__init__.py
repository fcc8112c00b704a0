"""Views of the results: text, JSON, JUnit XML, and pages of HTML and Markdown."""

from . import html, junit, markdown, text
from . import json_view as json

FORMATS = {"json": json, "junit": junit, "html": html, "markdown": markdown}

__all__ = ["FORMATS", "html", "json", "junit", "markdown", "text"]
