// What a refusal means for whoever chose seats, and what can be done about it at once. Pure: it knows no page.

const GONE = new Set(["seat_held_by_another_user", "seat_not_available", "seat_no_longer_available", "seat_held_for_other_days"]);
const QUEUE = new Set(["queue_required", "queue_not_your_turn", "pass_of_another_tab", "pass_expired", "pass_spent"]);

/*
 {kind, seats, instead}: `gone` names seats that others have, `swap` offers `instead` in place of `seats`, `queue` leads back to
 the queue, `offline` may be tried again, `told` is all that there is to say. Seats are numbers, found by `find(names)`.
*/
export function explain(refusal, asked, find) {
  if (refusal.offline) return { kind: "offline", seats: [] };
  if (QUEUE.has(refusal.code)) return { kind: "queue", seats: [] };
  const { seats, instead_seats: instead } = refusal.details;
  if (instead?.length) return { kind: "swap", seats: asked, instead: find(instead) };
  if (GONE.has(refusal.code)) return { kind: "gone", seats: seats ? find(seats) : asked.length === 1 ? asked : [] };
  return { kind: "told", seats: [] };
}

/*
 The free seats that a choice would leave single: alone between walls, taken seats and chosen ones. This only explains, with
 circles on the map, what the server has refused; `blocked(n)` says whether a seat cannot be had, `walls` after which seats aisles are.
*/
export function leftSingle(layout, chosen, blocked) {
  const taken = (n) => chosen.has(n) || blocked(n);
  const single = new Set();
  for (const n of chosen) {
    const row = layout.row(n);
    for (const beside of [n - 1, n + 1]) {
      if (!inRow(row, beside) || taken(beside) || parted(layout, n, beside)) continue;
      const beyond = 2 * beside - n;
      if (!inRow(row, beyond) || parted(layout, beside, beyond) || taken(beyond)) single.add(beside);
    }
  }
  return [...single].sort((one, other) => one - other);
}

const inRow = (row, n) => n >= row.start && n < row.start + row.count;
const parted = (layout, one, other) => layout.aisles.has(Math.min(one, other));
