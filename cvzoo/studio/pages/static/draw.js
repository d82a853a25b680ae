// images with objects, label maps and keypoints on a canvas; coordinates are pixels of the image, y before x
const ANNOTATED = "#2f7cf6";
const VERDICTS = { right: "#2fa84f", wrong: "#ff9f0a", missed: "#ff453a" };

/** A color of a class, far from those of its neighbors. */
export const classColor = (label) => `hsl(${(label * 137.508 + 210) % 360} 85% 55%)`;

function rgbOf(label) {
  const hue = (((label * 137.508 + 210) % 360) + 360) % 360;
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (0.55 - 0.85 * 0.45 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** Fits the canvas, which must not be hidden, to the image and draws it; returns the context, and how many pixels of the image make one of the screen, about. */
export function drawImage(canvas, image) {
  const width = image.naturalWidth || image.width;
  const height = image.naturalHeight || image.height;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, width, height);
  return { context, unit: canvas.clientWidth ? (0.85 * width) / canvas.clientWidth : Math.max(width, height) / 640 };
}

function box(context, unit, each, color, { dashed = false, width = 2, text = "" } = {}) {
  context.strokeStyle = color;
  context.lineWidth = width * unit;
  context.setLineDash(dashed ? [6 * unit, 4 * unit] : []);
  context.strokeRect(each.x_min, each.y_min, each.x_max - each.x_min, each.y_max - each.y_min);
  context.setLineDash([]);
  if (!text) return;
  context.font = `${12 * unit}px system-ui, sans-serif`;
  const length = context.measureText(text).width + 6 * unit;
  const x = Math.max(Math.min(each.x_min, context.canvas.width - length), 0);
  const y = each.y_min - 16 * unit < 0 ? Math.min(Math.max(each.y_min, 0), context.canvas.height - 16 * unit) : each.y_min - 16 * unit;
  context.fillStyle = color;
  context.fillRect(x, y, length, 16 * unit);
  context.fillStyle = "#000";
  context.fillText(text, x + 3 * unit, y + 12 * unit);
}

/** Tints the pixels of a mask, runs column by column that begin outside of it. */
function mask(context, counts, label, opacity) {
  const { width, height } = context.canvas;
  const layer = new ImageData(width, height);
  const [r, g, b] = rgbOf(label);
  let at = 0;
  counts.forEach((length, i) => {
    if (i % 2) {
      for (let k = at; k < at + length; k += 1) {
        const place = 4 * ((k % height) * width + Math.floor(k / height));
        layer.data[place] = r;
        layer.data[place + 1] = g;
        layer.data[place + 2] = b;
        layer.data[place + 3] = 255 * opacity;
      }
    }
    at += length;
  });
  blend(context, layer);
}

function blend(context, layer) {
  const over = document.createElement("canvas");
  over.width = layer.width;
  over.height = layer.height;
  over.getContext("2d").putImageData(layer, 0, 0);
  context.drawImage(over, 0, 0);
}

/** Tints each pixel by its class; runs: label, length, row by row; shown(label): whether a class is drawn */
export function drawLabelMap(context, runs, opacity, shown) {
  const { width, height } = context.canvas;
  const layer = new ImageData(width, height);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const [label, length] = [runs[i], runs[i + 1]];
    if (label >= 0 && shown(label)) {
      const [r, g, b] = rgbOf(label);
      for (let k = at; k < at + length; k += 1) {
        layer.data[4 * k] = r;
        layer.data[4 * k + 1] = g;
        layer.data[4 * k + 2] = b;
        layer.data[4 * k + 3] = 255 * opacity;
      }
    }
    at += length;
  }
  blend(context, layer);
}

/** Objects that a model found: boxes with class and score, masks, keypoints. */
export function drawObjects({ context, unit }, objects) {
  for (const each of objects) if (each.mask) mask(context, each.mask, each.label, 0.45);
  for (const each of [...objects].reverse()) {
    box(context, unit, each, classColor(each.label), { text: `${each.name} ${each.score.toFixed(2)}` });
    for (const [y, x] of each.points ?? []) {
      context.fillStyle = classColor(each.label);
      context.strokeStyle = "#fff"; // seen on its own mask, too
      context.lineWidth = 1.5 * unit;
      context.beginPath();
      context.arc(x, y, 3 * unit, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }
}

/** Annotated objects, dashed. */
export function drawAnnotation({ context, unit }, objects) {
  for (const each of objects) box(context, unit, each, ANNOTATED, { width: 1.5, dashed: true });
}

/** What was right and wrong: detections and missed objects. */
export function drawVerdicts({ context, unit }, boxes) {
  for (const each of boxes) {
    const words = each.score === null ? each.label : `${each.label} ${each.score.toFixed(2)}`;
    const text = each.verdict === "right" ? "" : words;
    box(context, unit, each, VERDICTS[each.verdict] ?? ANNOTATED, { dashed: each.verdict === "missed", text, width: each.verdict === "right" ? 1.5 : 2.5 });
  }
}
