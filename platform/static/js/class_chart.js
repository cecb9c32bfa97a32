/** The chart of a class: the estimate with its interval, and the estimate of somebody who believes that everybody follows the die. */

export const WIDTH = 640;
const [LEFT, HEIGHT] = [56, 220];

export function put(chart, name, attributes, text = "") {
  const element = document.createElementNS(chart.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  chart.append(element);
}

const line = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/** Draws the looks (`n`, `share`, `low`, `high`, `naive`) below `top`, over 0 to `total` people, and the `truth` if somebody knows it. */
export function drawLooks(chart, looks, { top, total, truth }) {
  const height = (share) => top + HEIGHT * (1 - share);
  const across = (count) => LEFT + ((WIDTH - LEFT) * count) / total;
  const curve = (name) => looks.map((look) => [across(look.n), height(look[name])]);
  const level = (share) => line([[LEFT, height(share)], [WIDTH, height(share)]]);
  for (const share of [0, 0.5, 1]) {
    put(chart, "path", { d: level(share), class: "grid" });
    put(chart, "text", { x: LEFT - 6, y: height(share) + 5, "text-anchor": "end", class: "words" }, `${100 * share} %`);
  }
  if (truth !== undefined) put(chart, "path", { d: level(truth), class: "truth" });
  if (looks.length === 0) return;
  put(chart, "path", { d: `${line([...curve("low"), ...curve("high").reverse()])}Z`, class: "band" });
  put(chart, "path", { d: line(curve("naive")), class: "naive" });
  put(chart, "path", { d: line(curve("share")), class: "estimate" });
}
