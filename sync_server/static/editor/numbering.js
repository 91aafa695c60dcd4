// How rows and seats are numbered: figures or letters, forwards or backwards, odd and even.

import { list, t } from "./words.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const alphabet = (without) => [...ALPHABET].filter((letter) => !without.includes(letter)).join("");

// A, B … Z, AA, AB …, in an alphabet that may lack letters.
export function lettersOf(number, without = "IO") {
  const letters = alphabet(without);
  let text = "";
  for (let left = number; left >= 0; left = Math.floor(left / letters.length) - 1) text = letters[left % letters.length] + text;
  return text;
}

export function numberOf(text, without = "IO") {
  const letters = alphabet(without);
  let number = 0;
  for (const letter of text.toUpperCase()) {
    const at = letters.indexOf(letter);
    if (at < 0) return null;
    number = number * letters.length + at + 1;
  }
  return number - 1;
}

// Labels in the order of the places, from one end to the other. `count` is what is counted: all, odd, even, or middle:
// odd numbers on one side and even ones on the other, both from the middle. `start` says figures or letters.
export function labels(places, { start = "1", count = "all", backwards = false, without = "IO" } = {}) {
  const inFigures = /^\d+$/.test(start);
  const first = inFigures ? Number(start) : numberOf(start, without);
  if (first === null || start === "") throw new RangeError(without ? t("numbers.start_without", { start, without: list([...without]) }) : t("numbers.start", { start }));
  const write = (number) => (inFigures ? String(number) : lettersOf(number, without));
  const found = numbersOf(places, first, count).map(write);
  return backwards ? found.reverse() : found;
}

function numbersOf(places, first, count) {
  const each = (step, from) => Array.from({ length: places }, (_, n) => from + n * step);
  if (count === "odd") return each(2, first % 2 ? first : first + 1);
  if (count === "even") return each(2, first % 2 ? first + 1 : first);
  if (count !== "middle") return each(1, first);
  const left = Math.ceil(places / 2);
  const odd = first % 2 ? first : first + 1;
  return Array.from({ length: places }, (_, n) => (n < left ? odd + 2 * (left - 1 - n) : odd + 1 + 2 * (n - left)));
}
