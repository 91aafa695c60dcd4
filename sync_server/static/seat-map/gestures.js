// Turns fingers, mouse and wheel on a canvas into what is meant: dragging, pinching, tapping, looking closely.

const DRAG_THRESHOLD = 6;
const DOUBLE_MS = 320;
const CLOSE_LOOK_MS = 260;

const halfway = (one, other) => [(one.x + other.x) / 2, (one.y + other.y) / 2];
const apart = (one, other) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));

export class Gestures {
  // `on` has drag, pinch, wheel, tap, doubleTap and hover; wantsLoupe says whether a resting finger looks closely, loupe follows it.
  constructor(canvas, on) {
    Object.assign(this, { canvas, on, fingers: new Map(), tap: undefined, looking: false, lastTap: { at: -1e9 } });
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this[name](event));
    canvas.addEventListener("pointerleave", () => on.hover?.());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("contextmenu", (event) => this.looking && event.preventDefault());
  }

  wheel(event) {
    const times = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002));
    if (this.on.wheel(times, event.offsetX, event.offsetY)) event.preventDefault(); // else the page scrolls on
  }

  pointerdown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const here = { x: event.offsetX, y: event.offsetY };
    this.fingers.set(event.pointerId, here);
    this.tap = this.fingers.size === 1 ? here : undefined;
    clearTimeout(this.resting);
    if (this.tap && event.pointerType === "touch" && this.on.wantsLoupe?.()) this.resting = setTimeout(() => this.#lookClosely(here), CLOSE_LOOK_MS);
  }

  #lookClosely(here) {
    if (!this.tap) return;
    this.looking = true;
    this.on.loupe(here.x, here.y);
  }

  pointermove(event) {
    const here = { x: event.offsetX, y: event.offsetY };
    const before = this.fingers.get(event.pointerId);
    if (!before) return void (event.pointerType === "mouse" && this.on.hover?.(here.x, here.y));
    if (this.looking) return void this.on.loupe(here.x, here.y);
    if (this.tap && apart(here, this.tap) < DRAG_THRESHOLD) return;
    this.tap = undefined;
    clearTimeout(this.resting);
    if (this.fingers.size === 1) this.on.drag(here.x - before.x, here.y - before.y);
    else if (this.fingers.size === 2) this.#pinch(event.pointerId, before, here);
    this.fingers.set(event.pointerId, here);
  }

  #pinch(id, before, here) {
    const [, other] = [...this.fingers].find(([each]) => each !== id);
    this.on.pinch(halfway(before, other), halfway(here, other), apart(here, other) / apart(before, other));
  }

  pointerup(event) {
    const [x, y] = [event.offsetX, event.offsetY];
    this.fingers.delete(event.pointerId);
    clearTimeout(this.resting);
    if (this.looking) {
      this.#stopLooking();
      return this.on.tap(x, y, true);
    }
    if (!this.tap) return;
    this.tap = undefined;
    const again = event.timeStamp - this.lastTap.at < DOUBLE_MS && apart({ x, y }, this.lastTap) < 30;
    this.lastTap = again ? { at: -1e9 } : { at: event.timeStamp, x, y };
    if (again) this.on.doubleTap(x, y);
    else this.on.tap(x, y, false);
  }

  pointercancel(event) {
    this.fingers.delete(event.pointerId);
    this.tap = undefined;
    clearTimeout(this.resting);
    if (this.looking) this.#stopLooking();
  }

  #stopLooking() {
    this.looking = false;
    this.on.loupe();
  }
}
