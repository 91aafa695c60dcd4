// How price categories look: each has a colour and a pattern, so that nobody depends on seeing the colour.

export const PATTERNS = ["plain", "stripes", "dots", "rings", "grid", "dashes"];
export const COLOURS = ["#3f6fd8", "#c2571a", "#1f8a5b", "#9a3fb5", "#b3262f", "#0f7f91", "#8a6d0b", "#5a6472"];

// By name, in the order of the drawing; names it does not know follow and get the next free colour and pattern.
export function looks(drawing, names = []) {
  const found = new Map();
  const known = (drawing.categories ?? []).filter((category) => category && typeof category.name === "string");
  for (const { name, color } of known) add(found, name, color, drawing.patterns?.[name]);
  for (const name of names) if (!found.has(name)) add(found, name, null, drawing.patterns?.[name]);
  return found;
}

function add(found, name, colour, pattern) {
  const at = found.size;
  found.set(name, {
    name,
    colour: sixDigits(colour) ?? COLOURS[at % COLOURS.length],
    pattern: PATTERNS.includes(pattern) ? pattern : PATTERNS[at % PATTERNS.length],
  });
}

// Files of pretix may have #f00 for #ff0000; names of colours are not understood.
function sixDigits(colour) {
  const [, short, long] = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(colour ?? "") ?? [];
  return long ? colour : short && `#${[...short].map((digit) => digit + digit).join("")}`;
}
