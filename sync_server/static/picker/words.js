// The texts of the page in its language, as the server sends them, and amounts, where there is a currency, as that language writes them.

export class Words {
  constructor({ language, texts, currency }) {
    Object.assign(this, { language, texts });
    this.plural = new Intl.PluralRules(language);
    if (currency) this.money = new Intl.NumberFormat(language, { style: "currency", currency });
    this.number = new Intl.NumberFormat(language);
  }

  has(key) {
    return key in this.texts;
  }

  // The text with these values; one with plural forms is chosen by `n`.
  t(key, values = {}) {
    let text = this.texts[key];
    if (text === undefined) return key;
    if (typeof text !== "string") text = text[this.plural.select(values.n)] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? this.#shown(values[name]) : whole));
  }

  #shown(value) {
    return typeof value === "number" ? this.number.format(value) : value;
  }

  amount(cents) {
    return this.money.format(cents / 100);
  }

  // Names with commas, and the word for "and" before the last.
  list(names) {
    return new Intl.ListFormat(this.language, { type: "conjunction" }).format(names);
  }
}

/** Minutes and seconds of a countdown: 4:05. */
export function clock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
