// What look.py asks of each page. Lengths are CSS pixels.
() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const size = (selector) => {
    const found = document.querySelector(selector);
    return found && parseFloat(getComputedStyle(found).fontSize);
  };
  const text = (element) => element.textContent.trim().slice(0, 60);
  const textBox = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element.firstChild);
    return range.getBoundingClientRect();
  };
  const wide = (element) => element.scrollWidth - element.clientWidth;
  const lines = (tops) => new Set(tops).size;
  const labels = (set) => [...set.children].filter((e) => e.matches("label"));
  const middle = (box) => (box.left + box.right) / 2;

  const rgb = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = rgb(colour).map((c) => {
      c /= 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if ((rgb(colour)[3] ?? 1) > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (element) => {
    const pair = [getComputedStyle(element).color, background(element)].map(luminance);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  };

  const contents = document.querySelector(".toc-drawer:not(.no-toc)");
  const box = contents?.getBoundingClientRect();
  const article = document.querySelector("article");
  const title = document.querySelector("article h1");
  return {
    overflow: Math.max(wide(document.documentElement), wide(document.querySelector(".content"))),
    headings: ["h1", "h2", "h3"].map((level) => size(`article ${level}`)),
    wideTables: all("article .table-wrapper").filter((e) => wide(e) > 1).map(text),
    // A comment that ends its line of code is on one line in the browser, too.
    brokenComments: all(".highlight .c1")
        .filter((e) => e.offsetParent && lines([...e.getClientRects()].map((r) => r.top)) > 1)
        .map(text),
    contents: contents && box.width > 0 && box.left >= 0 && box.right <= innerWidth,
    linesOfTabs: all(".sd-tab-set").map((set) => lines(labels(set).map((e) => e.offsetTop))),
    offCentre: title && middle(textBox(title)) - middle(article.getBoundingClientRect()),
    pale: all(`article :is(p, td, h1, h2, a), :is(.sidebar-tree, .toc-tree) a, .sd-card-title`)
        .filter((e) => e.offsetParent && e.textContent.trim() && contrast(e) < 4.5)
        .map((e) => `${text(e)}: ${contrast(e).toFixed(1)}`),
    cells: all("article table")
        .slice(0, 1)
        .flatMap((table) => [...table.querySelectorAll("tbody td")])
        .filter((e) => text(e))
        .map((e) => ({
          right: e.getBoundingClientRect().right,
          text: text(e),
          label: getComputedStyle(e, "::before").content,
        })),
  };
}
