// Recomputes a published draw in the browser of whoever doubts it: the same checks as scripts/verify_draw.py.

import { sha256 } from "./vendor/noble-hashes/sha2.js";

const ENTRY = /^[0-9a-f]{32}$/;
const HASH = /^[0-9a-f]{64}$/;
const ascii = new TextEncoder();

/** What is wrong with a file, for people. */
export class Wrong extends Error {}

const hex = (hash) => Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
const nibble = (code) => code - (code < 58 ? 48 : 87);

/** Writes what the hexadecimal digits stand for into `target`; by hand, for a draw has a million entries. */
function write(target, at, digits) {
  for (let i = 0; i < digits.length; i += 2)
    target[at++] = (nibble(digits.charCodeAt(i)) << 4) | nibble(digits.charCodeAt(i + 1));
}

function bytes(digits) {
  const all = new Uint8Array(digits.length / 2);
  write(all, 0, digits);
  return all;
}

function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** Whether one hash comes after another of the same length. */
function after(one, other) {
  const at = one.findIndex((byte, i) => byte !== other[i]);
  return at >= 0 && one[at] > other[at];
}

/** The first line, and the entries in the order of service. */
function read(text) {
  const [first, ...entries] = text.replace(/\r?\n$/, "").split(/\r?\n/);
  let head;
  try {
    head = JSON.parse(first);
  } catch {
    throw new Wrong("is no published draw, or was damaged on its way");
  }
  if (![head?.seed, head?.commitment, head?.root].every((value) => HASH.test(value)))
    throw new Wrong("is no published draw, or was damaged on its way");
  if (entries.some((entry) => !ENTRY.test(entry)) || new Set(entries).size !== entries.length)
    throw new Wrong("has an entry twice, or one that is not 16 bytes");
  if (entries.length !== head.entries)
    throw new Wrong(`says that it has ${head.entries} entries, but has ${entries.length}`);
  return { head, entries };
}

/** The root of RFC 9162 over the entries, sorted. */
function merkleRoot(entries) {
  const leaf = new Uint8Array(17);
  const node = new Uint8Array(65).fill(1, 0, 1);
  let level = [...entries].sort().map((entry) => {
    write(leaf, 1, entry);
    return sha256(leaf);
  });
  while (level.length > 1) {
    const above = [];
    for (let at = 0; at + 1 < level.length; at += 2) {
      node.set(level[at], 1);
      node.set(level[at + 1], 33);
      above.push(sha256(node));
    }
    if (level.length % 2) above.push(level.at(-1));
    level = above;
  }
  return hex(level[0] ?? sha256(new Uint8Array()));
}

/** Fails at the first place where the order is not the one drawn. */
function checkOrder(head, entries) {
  const beacon = ascii.encode(head.beacon ? head.beacon.value : "");
  const message = joined(bytes(head.seed), bytes(head.root), sha256(beacon), new Uint8Array(16));
  let before = new Uint8Array(32);
  entries.forEach((entry, at) => {
    write(message, 96, entry);
    const key = sha256(message);
    if (!after(key, before)) throw new Wrong(`has another order than the one drawn, at place ${at + 1}`);
    before = key;
  });
}

/** How many entries the draw has, and at which place the receipt is; throws Wrong where something does not fit. */
export function verify(text, receipt = null) {
  const { head, entries } = read(text);
  if (hex(sha256(joined(ascii.encode("gatehouse draw seed\0"), bytes(head.seed)))) !== head.commitment)
    throw new Wrong("was drawn with another seed than the one promised beforehand");
  if (merkleRoot(entries) !== head.root)
    throw new Wrong("does not have the entries of the root published at the opening");
  checkOrder(head, entries);
  if (receipt === null) return { entries: entries.length, place: null };
  const place = entries.indexOf(receipt.replaceAll("-", "").toLowerCase()) + 1;
  if (place === 0) throw new Wrong("does not have the entry of this receipt");
  return { entries: entries.length, place };
}
