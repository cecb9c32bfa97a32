// Violations that axe finds on this page. To judge the contrast of colours takes longer than all its other rules together, and most texts
// look like texts of other pages; so each look is judged once. A look is the colour and size of a text, all that is painted behind it, and
// whether that reaches around it. A text is judged each time when something is painted in its place that does not hold it.
async ({ options, seen }) => {
  const PAINTED = new Set(["IMG", "VIDEO", "CANVAS", "svg", "INPUT", "SELECT", "TEXTAREA", "BUTTON", "IFRAME", "OBJECT", "PROGRESS", "METER"]);
  const FIELDS = "select, textarea, input:not([type=hidden], [type=range], [type=color], [type=checkbox], [type=radio], [type=image])";
  const CLIPPED_AWAY = "inset(50%)"; // nobody sees it: .visually-hidden
  const NOT_JUDGED = "svg *, :disabled"; // axe cannot tell what is behind the text of a drawing, and what is disabled may be faint
  const known = new Set(seen.split("\n"));

  // 64 bits of it: thousands of looks are compared, on every page.
  const numbered = (text) => {
    let [one, other] = [0x811c9dc5, 0x9747b28c];
    for (const letter of text) {
      one = Math.imul(one ^ letter.codePointAt(0), 0x01000193);
      other = Math.imul(other ^ letter.codePointAt(0), 0x5bd1e995);
      other ^= other >>> 13;
    }
    return [one, other].map((part) => (part >>> 0).toString(36).padStart(7, "0")).join("");
  };

  const behind = new Map();
  const chain = (element) => {
    if (!element) return { words: "", painted: [] };
    if (behind.has(element)) return behind.get(element);
    const style = getComputedStyle(element);
    const above = chain(element.parentElement);
    const colour = style.backgroundColor === "rgba(0, 0, 0, 0)" ? "" : style.backgroundColor;
    const image = style.backgroundImage === "none" ? "" : style.backgroundImage;
    const mixed = [style.opacity, style.filter, style.mixBlendMode, style.clipPath, style.maskImage].join();
    const own = [colour, image, mixed === "1,none,normal,none,none" ? "" : mixed].join("|");
    const paints = colour || image || PAINTED.has(element.nodeName);
    const here = {
      words: own === "||" ? above.words : `${above.words};${own}`,
      painted: paints ? [...above.painted, element] : above.painted,
    };
    behind.set(element, here);
    return here;
  };

  const boxes = new Map();
  const box = (element) => boxes.get(element) ?? boxes.set(element, element.getBoundingClientRect()).get(element);
  const overlaps = (a, b) => a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
  const contains = (a, b) => a.left <= b.left + 1 && a.right >= b.right - 1 && a.top <= b.top + 1 && a.bottom >= b.bottom - 1;

  const ownText = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const lines = (element, texts) =>
    element.matches(FIELDS)
      ? [box(element)]
      : texts.flatMap((text) => {
          const range = document.createRange();
          range.selectNodeContents(text);
          return [...range.getClientRects()];
        });

  const everything = [...document.querySelectorAll("html, body, body *")].filter((element) => element.checkVisibility({ visibilityProperty: true }));
  const painters = everything.filter((element) => chain(element).painted.at(-1) === element);
  const look = (element, where) => {
    const { words, painted } = chain(element);
    const around = painted.map((one) => where.every((line) => contains(box(one), line)));
    const other = painters.some(
      (one) =>
        !painted.includes(one) &&
        where.some((line) => overlaps(box(one), line)) &&
        (!element.contains(one) || getComputedStyle(one).position !== "static"),
    );
    if (other) return null;
    const { color, fontSize, fontWeight, textShadow, webkitTextStroke, fill } = getComputedStyle(element);
    return numbered([words, around.join(), color, fontSize, fontWeight, textShadow, webkitTextStroke, fill].join(" / "));
  };

  const looks = new Map();
  for (const element of everything) {
    const texts = ownText(element);
    if ((!texts.length && !element.matches(FIELDS)) || element.matches(NOT_JUDGED)) continue;
    const shown = ({ width, height, right, bottom }) => width > 1 && height > 1 && right + scrollX > 0 && bottom + scrollY > 0;
    const where = lines(element, texts).filter(shown);
    if (where.length && !chain(element).words.includes(CLIPPED_AWAY)) looks.set(element, look(element, where));
  }
  const fresh = [...looks.keys()].filter((element) => !known.has(looks.get(element)));

  const { violations } = await axe.run({ ...options, rules: { "color-contrast": { enabled: false } } });
  if (!fresh.length) return { violations, passed: [] };
  const contrast = { runOnly: ["color-contrast"], resultTypes: ["violations", "passes"], elementRef: true, iframes: false };
  const judged = await axe.run({ include: fresh }, contrast);
  const passed = judged.passes.flatMap(({ nodes }) => nodes.map(({ element }) => looks.get(element))).filter(Boolean);
  const found = judged.violations.map((one) => ({ ...one, nodes: one.nodes.map((node) => ({ ...node, element: undefined })) }));
  return { violations: [...violations, ...found], passed: [...new Set(passed)] };
}
