// <time-chart>: draws the lines of its data-chart with uPlot, in the colours of the page, and again when those change.
"use strict";

const LOOKS = {
  main: { colour: "--accent-text", width: 2.5, fill: true },
  before: { colour: "--line-strong", width: 2, dash: [7, 5] },
  "type-1": { colour: "--info", width: 1.5, dash: [2, 3] },
  "type-2": { colour: "--good", width: 1.5, dash: [9, 3] },
  "type-3": { colour: "--warn", width: 1.5, dash: [9, 3, 2, 3] },
  "type-4": { colour: "--bad", width: 1.5, dash: [4, 4] },
  "type-5": { colour: "--quiet", width: 1.5, dash: [1, 2] },
};
const AXIS_PX = 44;
const DAY_S = 86400;
const DAYS = [1, 2, 7, 14, 28, 56, 91, 182, 364].map((days) => days * DAY_S);
const COUNTS = [1, 2, 5].flatMap((one) => [0, 1, 2, 3, 4, 5].map((power) => one * 10 ** power)).sort((one, other) => one - other);

class TimeChart extends HTMLElement {
  connectedCallback() {
    this.chart = JSON.parse(this.dataset.chart);
    this.outputs = [...(this.closest("figure")?.querySelectorAll("output[data-line]") || [])];
    this.watch = new ResizeObserver(() => this.plot?.setSize(this.size()));
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => this.draw();
    this.scheme.addEventListener("change", this.redraw);
    this.draw();
    this.watch.observe(this);
  }

  disconnectedCallback() {
    this.watch.disconnect();
    this.scheme.removeEventListener("change", this.redraw);
    this.plot?.destroy();
  }

  size() {
    return { width: this.clientWidth, height: this.clientHeight };
  }

  // A colour of the page as the canvas understands it: variables may be mixtures of others.
  colour(name) {
    const probe = this.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  draw() {
    this.plot?.destroy();
    const { at, lines, timezone } = this.chart;
    const grid = { stroke: this.colour("--line"), width: 1 };
    const axis = { stroke: this.colour("--quiet"), grid, ticks: grid, font: `12px ${getComputedStyle(this).fontFamily}` };
    const series = lines.map((line) => this.line(line));
    const options = {
      ...this.size(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timezone),
      legend: { show: false },
      cursor: { y: false },
      scales: { y: { range: (_, low, high) => [Math.min(0, low), Math.max(4, high * 1.05)] } },
      axes: [
        { ...axis, values: (_, splits) => this.moments(splits), ...(this.daily ? { incrs: DAYS } : {}) },
        { ...axis, size: AXIS_PX, incrs: COUNTS },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [(plot) => this.tell(plot.cursor.idx)] },
    };
    this.plot = new uPlot(options, [at, ...lines.map((line) => line.values)], this);
    this.tell(null);
  }

  line({ name, look, stepped }) {
    const { colour, width, dash, fill } = LOOKS[look];
    const stroke = this.colour(colour);
    return {
      label: name, stroke, width, dash, points: { show: false }, spanGaps: false,
      fill: fill ? this.colour("--accent-soft") : undefined,
      paths: stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    };
  }

  get daily() {
    const { at } = this.chart;
    return at.length > 1 && at[1] - at[0] >= DAY_S;
  }

  // Days, or times of day with the day at midnight.
  moments(splits) {
    const { timezone: timeZone, locale } = this.chart;
    const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone });
    const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZone });
    return splits.map((second) => {
      const moment = new Date(second * 1000), shown = time.format(moment);
      return this.daily || shown === "00:00" ? day.format(moment) : shown;
    });
  }

  // The values at the pointer, or the last ones that are known.
  tell(index) {
    this.chart.lines.forEach((line, at) => {
      const value = index === null || index === undefined ? line.values.findLast((each) => each !== null) : line.values[index];
      if (this.outputs[at]) this.outputs[at].textContent = value ?? "";
    });
  }
}

customElements.define("time-chart", TimeChart);
