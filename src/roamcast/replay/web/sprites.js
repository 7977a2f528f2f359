// Sprites: dots, labels and still layers that are drawn once and then copied, which costs far less than paths.

const kept = new Map();
const MOST_KEPT = 4000;

function ratio() {
  return Math.min(window.devicePixelRatio || 1, 2);
}

/** Returns a canvas of a size in CSS pixels, drawn once for its key; `draw(pen)` has its origin in the corner. */
function keep(key, width, height, draw) {
  let canvas = kept.get(key);
  if (!canvas) {
    if (kept.size > MOST_KEPT) kept.clear();
    canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * ratio());
    canvas.height = Math.ceil(height * ratio());
    const pen = canvas.getContext("2d");
    pen.scale(ratio(), ratio());
    draw(pen);
    kept.set(key, canvas);
  }
  return canvas;
}

let stamped = {}; // the dot that was drawn before: most nodes look like the one before them

/** Draws a filled dot with a border, on whole pixels: a copy then needs no interpolation. */
export function stampDot(pen, x, y, radius, colour, border) {
  const scale = ratio();
  if (stamped.radius !== radius || stamped.colour !== colour || stamped.border !== border || stamped.scale !== scale) {
    const half = Math.ceil(radius + 2);
    const sprite = keep(`dot ${radius.toFixed(1)} ${colour} ${border} ${scale}`, 2 * half, 2 * half, (own) => {
      own.beginPath();
      own.arc(half, half, radius, 0, 2 * Math.PI);
      own.fillStyle = colour;
      own.fill();
      own.lineWidth = 1.4;
      own.strokeStyle = border;
      own.stroke();
    });
    stamped = { radius, colour, border, scale, half, sprite };
  }
  const { half, sprite } = stamped, whole = (value) => Math.round((value - half) * scale) / scale;
  pen.drawImage(sprite, whole(x), whole(y), 2 * half, 2 * half);
}

/** Draws a short text with a halo, its left edge's middle at a place. */
export function stampText(pen, words, x, y, size, colour, halo) {
  const width = words.length * size * 0.7 + 8, height = size + 8;
  const sprite = keep(`text ${words} ${size} ${colour} ${halo} ${ratio()}`, width, height, (own) => {
    own.font = `${size}px system-ui, sans-serif`;
    own.textBaseline = "middle";
    own.lineWidth = 3;
    own.lineJoin = "round";
    own.strokeStyle = halo;
    own.strokeText(words, 3, height / 2);
    own.fillStyle = colour;
    own.fillText(words, 3, height / 2);
  });
  pen.drawImage(sprite, x - 3, y - height / 2, width, height);
}

/** A layer that is drawn again only when its key changes. */
export class Layer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.key = "";
  }

  /** Copies the layer to `pen`; `draw(pen)` draws it anew if `key` is another. */
  show(pen, width, height, key, draw) {
    const whole = `${key} ${width} ${height} ${ratio()}`;
    if (whole !== this.key) {
      this.key = whole;
      this.canvas.width = Math.max(Math.round(width * ratio()), 1);
      this.canvas.height = Math.max(Math.round(height * ratio()), 1);
      const own = this.canvas.getContext("2d");
      own.scale(ratio(), ratio());
      draw(own);
    }
    pen.drawImage(this.canvas, 0, 0, width, height);
  }
}
