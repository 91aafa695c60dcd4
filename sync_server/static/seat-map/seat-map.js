// A map of seats on a canvas: what is seen, what is touched, and which layers are drawn. Desk and shop differ by their skins.

import { Gestures } from "./gestures.js";
import { Labels } from "./labels.js";
import { drawLoupe } from "./loupe.js";
import { SeatLayer } from "./seat-layer.js";
import { drawStage, stageOf, withStage } from "./stage.js";
import { Stamps } from "./stamps.js";
import { MAX_ZOOM, Viewport } from "./viewport.js";

const TAP_ZOOM = 24; // after a tap on the whole map
const SELECT_ZOOM = 10; // beyond this a tap selects a seat; below it zooms in
const TOUCH_RADIUS = 22;
const SETTLED_MS = 90; // after the last zoom everything is drawn sharply

/*
 A skin has `colours` (CSS properties --seat-… by name; sheet, text and ring among them), `stamp(ctx, look, size, ink)`, and
 `number(look)`, the name of the colour of a seat's number. It may have `far`, which draws the whole map while seats are too small
 (`suits(view)`, `draw(ctx, view, ink, moving)`), `over(ctx, view, ink)`, `stageName`, and `wordsOfZone(zone)` for zones without seats.
*/
export class SeatMap extends EventTarget {
  constructor(canvas, layout, looks, skin) {
    super();
    Object.assign(this, { canvas, layout, skin, ctx: canvas.getContext("2d", { alpha: false }) });
    this.stage = skin.stageName && !layout.drawn.hasStage ? stageOf(layout) : undefined;
    this.box = withStage(layout.box, this.stage, layout.drawn.corners);
    this.view = new Viewport({ box: this.box });
    const seats = { grid: layout.grid, pitch: 1, look: (n) => looks[n], label: (n) => layout.label(n) };
    [this.layer, this.labels] = [new SeatLayer(seats, skin, layout.drawn.isEmpty), new Labels(layout)];
    new Gestures(canvas, this.#gestures());
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) matchMedia(query).addEventListener("change", () => this.ink());
    this.ink();
    this.#resize();
    new ResizeObserver(() => this.#resize()).observe(canvas);
  }

  #gestures() {
    return {
      drag: (dx, dy) => (this.view.pan(dx, dy), this.#seen()),
      pinch: ([fromX, fromY], [toX, toY], times) => (this.view.look(this.view.at(fromX, fromY), this.view.k * times, toX, toY), this.#zoomed()),
      wheel: (times, px, py) => this.#wheel(times, px, py),
      tap: (px, py, looked) => this.#tap(px, py, looked),
      doubleTap: (px, py) => this.#doubleTap(px, py),
      hover: (px, py) => this.dispatchEvent(new CustomEvent("hover", { detail: px === undefined ? undefined : { n: this.nearest(px, py), px, py } })),
      wantsLoupe: () => this.selectable && this.view.k < 2 * TOUCH_RADIUS,
      loupe: (px, py) => ((this.loupe = px === undefined ? undefined : { x: px, y: py }), this.redraw()),
    };
  }

  // The colours of the page, which may have changed.
  ink() {
    const style = getComputedStyle(this.canvas);
    this.colours = Object.fromEntries(this.skin.colours.map((name) => [name, style.getPropertyValue(`--seat-${name}`).trim()]));
    this.layer.restart(new Stamps(this.skin, this.colours, this.layer.opaque));
    this.labels.words.restart();
    this.skin.far?.restart();
    this.redraw();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    const dots = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.round(clientWidth * dots), Math.round(clientHeight * dots)];
    this.view.resize(clientWidth, clientHeight, dots);
    this.draw(); // at once: a resized canvas is empty
    this.#seen();
  }

  get selectable() {
    return this.view.k >= SELECT_ZOOM || this.view.least >= SELECT_ZOOM;
  }

  whole() {
    this.view.whole();
    this.#seen();
  }

  frame(box) {
    const [across, down] = [Math.max(2, 4 - box.width), Math.max(2, 4 - box.height)];
    this.view.frame({ left: box.left - across / 2, top: box.top - down / 2, width: box.width + across, height: box.height + down });
    this.#seen();
  }

  look(place, k) {
    this.view.look(place, k);
    this.#seen();
  }

  // By buttons and keys: towards the selected seat or the centre, and never into an empty area.
  zoomToSeats(times) {
    const { view, layout } = this;
    const [px, py] = this.selected === undefined ? [view.w / 2, view.h / 2] : this.point(this.selected);
    if (px < 0 || py < 0 || px > view.w || py > view.h) view.zoom(times);
    else view.zoom(times, px, py);
    if (times > 1 && this.selected === undefined) {
      const { x, y } = view.at(view.w / 2, view.h / 2);
      const near = layout.grid.nearest(x, y, Math.min(view.w, view.h) / view.k / 4);
      const n = near ?? layout.grid.nearest(x, y, this.box.width + this.box.height);
      if (near === undefined && n !== undefined) view.look({ x: layout.x[n], y: layout.y[n] }, view.k);
    }
    this.#seen();
  }

  point(n) {
    return [this.layout.x[n] * this.view.k + this.view.ox, this.layout.y[n] * this.view.k + this.view.oy];
  }

  nearest(px, py) {
    const { x, y } = this.view.at(px, py);
    return this.selectable ? this.layout.grid.nearest(x, y, Math.max(0.7, TOUCH_RADIUS / this.view.k)) : undefined;
  }

  // The seat from which arrow keys start: in the middle of the view, else the first.
  start() {
    const { x, y } = this.view.at(this.view.w / 2, this.view.h / 2);
    return this.view.isWhole ? 0 : (this.layout.grid.nearest(x, y, 20) ?? 0);
  }

  // Select a seat and bring it into view.
  select(n) {
    this.selected = n;
    if (n === undefined) return this.redraw();
    const { view } = this;
    const place = { x: this.layout.x[n], y: this.layout.y[n] };
    const [px, py] = this.point(n);
    const hidden = px < TOUCH_RADIUS || py < TOUCH_RADIUS || px > view.w - TOUCH_RADIUS || py > view.h - TOUCH_RADIUS;
    if (!this.selectable) this.look(place, TAP_ZOOM);
    else if (hidden) this.look(place, view.k);
    else this.redraw();
  }

  #wheel(times, px, py) {
    const before = this.view.k;
    this.view.zoom(times, px, py);
    if (Math.abs(this.view.k - before) < 1e-6) return false;
    this.#zoomed();
    return true;
  }

  #tap(px, py, looked) {
    this.picked = undefined;
    if (!this.selectable && !looked) return this.look(this.view.at(px, py), Math.min(MAX_ZOOM, TAP_ZOOM));
    this.picked = this.nearest(px, py);
    const zone = this.picked === undefined && this.layout.drawn.zoneAt(this.view.at(px, py));
    if (zone) this.dispatchEvent(new CustomEvent("zone", { detail: zone }));
    this.#tell(this.picked);
  }

  // Nearer; what the first of both taps has picked is given back by picking it again.
  #doubleTap(px, py) {
    this.#tell(this.picked);
    this.view.zoom(2, px, py);
    this.#zoomed();
  }

  #tell(n) {
    if (n !== undefined) this.dispatchEvent(new CustomEvent("pick", { detail: n }));
  }

  #zoomed() {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => ((this.moving = false), this.redraw()), SETTLED_MS);
    this.#seen();
  }

  #seen() {
    this.canvas.style.touchAction = this.view.isWhole ? "pan-y" : "none";
    this.dispatchEvent(new Event("look"));
    this.redraw();
  }

  // These seats look different from now on.
  change(seats) {
    this.layer.change(seats);
    this.redraw();
  }

  redraw() {
    this.frameWanted ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frameWanted);
    this.frameWanted = undefined;
    if (!this.view.w) return;
    const startedAt = performance.now();
    const { ctx, view, skin, colours, layout } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    const far = skin.far?.suits(view);
    if (far || this.moving || !this.layer.opaque) {
      ctx.fillStyle = colours.sheet;
      ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    }
    ctx.setTransform(view.dots, 0, 0, view.dots, 0, 0);
    layout.drawn.draw(ctx, view, colours, skin.wordsOfZone);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (far) skin.far.draw(ctx, view, colours, this.moving);
    else this.layer.draw(ctx, view, this.moving);
    ctx.setTransform(view.dots, 0, 0, view.dots, 0, 0);
    if (this.stage) drawStage(ctx, view, this.stage, colours, skin.stageName);
    if (far) skin.far.drawLabels(ctx, view, colours);
    else this.labels.draw(ctx, view, colours);
    skin.over?.(ctx, view, colours, this);
    this.#drawRing();
    if (this.loupe) drawLoupe(ctx, view, this.loupe, this);
    this.canvas.dataset.drawn = (performance.now() - startedAt).toFixed(1);
    this.canvas.dataset.pixels = view.k.toFixed(2);
  }

  #drawRing() {
    if (this.selected === undefined) return;
    const { ctx, view, colours } = this;
    const [px, py] = this.point(this.selected);
    for (const [colour, width] of [[colours.sheet, 5], [colours.ring, 2.5]]) {
      [ctx.strokeStyle, ctx.lineWidth] = [colour, width];
      ctx.beginPath();
      ctx.arc(px, py, Math.max(8, view.k * 0.6), 0, 7);
      ctx.stroke();
    }
  }
}
