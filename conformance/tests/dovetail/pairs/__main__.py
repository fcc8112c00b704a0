"""`python -m pairs > pairs.md` writes the page of all installed libraries."""

from . import markdown, run_pairs

print(markdown.render(run_pairs()), end="")
