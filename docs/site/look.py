"""Looks at the built site in Chromium: python look.py SITE PICTURES CHROMIUM

Writes a picture of each page of PICTURED per width and theme into PICTURES. Prints what measure.js
measured on every page as JSON: {"PAGE WIDTH THEME": facts}. Needs Playwright, of third_party/docs.
"""

import json
import pathlib
import sys

from playwright.sync_api import sync_playwright

WIDTHS = (360, 768, 1280, 1600)
HEIGHT = 900
THEMES = ("light", "dark")
PICTURED = ("index", "start", "libraries", "kernels", "reference/python", "benchmarks/index")


def look(site: pathlib.Path, pictures: pathlib.Path, chromium: str) -> dict[str, dict]:
    measure = pathlib.Path(__file__).with_name("measure.js").read_text()
    facts = {}
    with sync_playwright() as playwright:
        # No sandbox, because it does not start as root; the pages are our own.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for theme in THEMES:
            tab = browser.new_context(color_scheme=theme).new_page()
            for path in sorted(site.rglob("*.html")):
                page = str(path.relative_to(site).with_suffix(""))
                if page.startswith("_") or (theme == "dark" and page not in PICTURED):
                    continue
                tab.goto(path.as_uri())
                for width in WIDTHS:
                    tab.set_viewport_size({"width": width, "height": HEIGHT})
                    facts[f"{page} {width} {theme}"] = tab.evaluate(measure)
                    if page in PICTURED:
                        name = f"{page.replace('/', '_')}_{width}_{theme}.png"
                        tab.screenshot(path=pictures / name)
        browser.close()
    return facts


if __name__ == "__main__":
    site, pictures, chromium = sys.argv[1:]
    json.dump(look(pathlib.Path(site), pathlib.Path(pictures), chromium), sys.stdout)
