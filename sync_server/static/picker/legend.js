// What colours, patterns and signs mean, drawn by the same functions as the map.

import { el } from "./dom.js";
import { Stamps } from "../seat-map/stamps.js";
import * as skin from "./skin.js";

const SIZE = 22;

export function legend(prices, signs, picker) {
  const { words, live, groups } = picker;
  const swatches = [];
  const entry = (look, name, price) => {
    const swatch = el("canvas", { width: SIZE * 2, height: SIZE * 2, class: "legend-seat", "aria-hidden": "true" });
    swatches.push([swatch, look]);
    return el("li", { class: "legend-entry" }, swatch, el("span", {}, name), ...(price ? [el("span", { class: "number" }, price)] : []));
  };
  const cost = (price) => words.t(price.from ? "from" : "exactly", { price: words.amount(price.cents) });
  prices.append(...groups.groups.filter((group) => group.price).map((group) => entry(skin.free(group.pattern, 0), group.name, cost(group.price))));
  const shown = live.layout.signs.slice(1, skin.KINDS).filter((sign, n) => live.layout.signOf.includes(n + 1));
  signs.append(...shown.map((sign) => entry(skin.free(0, live.layout.signs.indexOf(sign)), words.t(`sign.${sign}`))));
  signs.append(entry(skin.chosen(0), words.t("legend.chosen")), entry(skin.TAKEN, words.t("legend.taken")));
  const paint = () => {
    const stamps = new Stamps(picker.map.skin, picker.map.colours);
    for (const [swatch, look] of swatches) swatch.getContext("2d").drawImage(stamps.of(look, SIZE * 2).canvas, 0, 0);
  };
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(paint));
}
