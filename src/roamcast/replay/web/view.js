// The view of a map: how metres become pixels; zoom and pan by mouse, touch and keyboard.

const CLOSEST = 60; // times nearer than the whole area

export class View {
  constructor(width, height) {
    this.area = [width, height];
    this.centre = [width / 2, height / 2];
    this.zoom = 1;
    this.size = [1, 1];
  }

  /** Sets the size of the map in pixels. */
  resize(width, height) {
    this.size = [Math.max(width, 1), Math.max(height, 1)];
  }

  /** Pixels of a metre. */
  get scale() {
    const margin = Math.min(28, this.size[0] * 0.05);
    const whole = Math.min((this.size[0] - 2 * margin) / this.area[0], (this.size[1] - 2 * margin) / this.area[1]);
    return Math.max(whole, 1e-9) * this.zoom;
  }

  x(metres) {
    return this.size[0] / 2 + (metres - this.centre[0]) * this.scale;
  }

  y(metres) {
    return this.size[1] / 2 - (metres - this.centre[1]) * this.scale;
  }

  /** Returns the place under a pixel [m]. */
  place(px, py) {
    return [this.centre[0] + (px - this.size[0] / 2) / this.scale, this.centre[1] - (py - this.size[1] / 2) / this.scale];
  }

  /** Zooms so that the place under a pixel stays there. */
  zoomAt(factor, px = this.size[0] / 2, py = this.size[1] / 2) {
    const [x, y] = this.place(px, py);
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.4), CLOSEST);
    const [nowX, nowY] = this.place(px, py);
    this.centre[0] += x - nowX;
    this.centre[1] += y - nowY;
  }

  pan(dx, dy) {
    this.centre[0] -= dx / this.scale;
    this.centre[1] += dy / this.scale;
  }

  fit() {
    this.centre = [this.area[0] / 2, this.area[1] / 2];
    this.zoom = 1;
  }
}

/** Lets pointers pan, pinch and tap; `tapped(px, py)` is called for a short press without movement. */
export function followPointers(canvas, view, changed, tapped) {
  const pointers = new Map();
  let moved = 0, most = 0;
  const spot = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => {
    if (!pointers.size) moved = most = 0;
    pointers.set(event.pointerId, spot(event));
    most = Math.max(most, pointers.size);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = spot(event);
    if (pointers.size === 1) {
      view.pan(now[0] - before[0], now[1] - before[1]);
    } else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const grown = Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(Math.hypot(before[0] - other[0], before[1] - other[1]), 1);
      view.zoomAt(grown, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      view.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    }
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    pointers.set(event.pointerId, now);
    changed(moved > 4);
  });
  const release = (event) => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved < 5 && most === 1) tapped(...spot(event));
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoomAt(Math.exp(-event.deltaY * 0.0015), ...spot(event));
    changed(false);
  }, { passive: false });
}
