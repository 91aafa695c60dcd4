// Makes elements: el("button", {class: "button", onclick}, "Take these").

export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ""));
  return made;
}

/** Sets a text only where it differs, so that screen readers say it once. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A number with a button on each side; `change(value)` may refuse it by returning false. */
export function stepper({ label, less, more, value, least = 0, most = Infinity, change }) {
  const shown = el("output", { class: "stepper-value", "aria-label": label }, String(value));
  const by = (step) => () => {
    const wanted = Math.max(least, Math.min(most, value + step));
    if (wanted !== value && change(wanted) !== false) set(wanted);
  };
  const [down, up] = [el("button", { type: "button", class: "button stepper-button", "aria-label": less, onclick: by(-1) }, "−"), el("button", { type: "button", class: "button stepper-button", "aria-label": more, onclick: by(1) }, "+")];
  function set(next) {
    value = next;
    say(shown, String(value));
    down.setAttribute("aria-disabled", String(value <= least));
    up.setAttribute("aria-disabled", String(value >= most));
  }
  set(value);
  const element = el("div", { class: "stepper", role: "group", "aria-label": label }, down, shown, up);
  return { element, set, get value() { return value; }, limit(next) { most = next; set(Math.min(value, most)); } };
}
