// The editor's texts, as its page hands them over: no script of the editor has words of its own.

import { Words } from "../picker/words.js";

const words = new Words(JSON.parse(document.querySelector("#seat-map")?.dataset.texts ?? '{"language": "en", "texts": {}}'));

// The text with these values; one with plural forms is chosen by `n`.
export function t(key, values) {
  return words.t(key, values);
}

/** A number as the language writes it. */
export function shown(number) {
  return words.number.format(number);
}

/** Names with commas, and the word for "and" before the last. */
export function list(names) {
  return words.list(names);
}
