// What seats and places cost, from the table that the server sends: it alone decides which ticket type a seat is sold as.

export const PATTERNS = 8;

// Entries are {zone, category, types: [{number, name, cents, on_sale, days, every_day}]}, the last two at an event of several days; a seat with several types costs the least of them, or more.
export class Prices {
  constructor(entries, day = "") {
    const sold = (type) => type.on_sale && (!type.days || (day ? type.days.includes(day) : type.every_day));
    this.entries = new Map(entries.map((entry) => [`${entry.zone}|${entry.category}`, entry.types.filter(sold)]));
  }

  types(zone, category = "") {
    return this.entries.get(`${zone}|${category}`) ?? [];
  }

  // {cents, from}: the least price, and whether there are higher ones; undefined where nothing is sold.
  of(zone, category = "") {
    const types = this.types(zone, category);
    if (!types.length) return undefined;
    const cents = types.map((type) => type.cents);
    return { cents: Math.min(...cents), from: Math.max(...cents) > Math.min(...cents) };
  }

  // The least price in a zone, over all of its categories.
  from(zone) {
    const all = [...this.entries].filter(([key]) => key.startsWith(`${zone}|`)).flatMap(([, types]) => types.map((type) => type.cents));
    return all.length ? { cents: Math.min(...all), from: new Set(all).size > 1 } : undefined;
  }
}

/*
 The groups by which a map is coloured: seats of one price category (else of one zone) at one price. The dearest comes first.
 `groupOf` has the number of each seat's group.
*/
export function priceGroups(layout, prices) {
  const found = new Map();
  const keyOf = new Map();
  const raw = new Uint16Array(layout.count);
  const order = [];
  for (let n = 0; n < layout.count; n++) {
    const pair = layout.zoneOf[n] * 65536 + layout.priceOf[n];
    let group = keyOf.get(pair);
    if (!group) {
      const [zone, category] = [layout.zones[layout.zoneOf[n]], layout.prices[layout.priceOf[n]]];
      const price = prices.of(zone.number, category);
      const name = category || zone.name;
      const key = `${name}|${price?.cents}|${price?.from}`;
      if (!found.has(key)) found.set(key, { number: order.push(key) - 1, name, category, price, zones: new Set() });
      group = found.get(key);
      group.zones.add(zone.number);
      keyOf.set(pair, group);
    }
    raw[n] = group.number;
  }
  const groups = [...found.values()].sort((one, other) => (other.price?.cents ?? -1) - (one.price?.cents ?? -1) || one.number - other.number);
  const renumbered = new Uint16Array(groups.length);
  groups.forEach((group, n) => ((renumbered[group.number] = n), (group.pattern = n % PATTERNS)));
  return { groups: groups.map((group, number) => ({ ...group, number })), groupOf: raw.map((number) => renumbered[number]) };
}

/** The sum of prices: {cents, from}. */
export function sum(prices) {
  const known = prices.filter(Boolean);
  return { cents: known.reduce((total, { cents }) => total + cents, 0), from: known.some(({ from }) => from) };
}
