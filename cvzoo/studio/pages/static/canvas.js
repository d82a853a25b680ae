// draws an image with its objects, and tells what is at a point; all coordinates are pixels of the image
const HANDLE = 7; // pixels of the screen
const MANY = 100; // objects

export class View {
  constructor(canvas, image, colors) {
    Object.assign(this, { canvas, image, colors, scale: 1, left: 0, top: 0, objects: [], selected: null, draft: null });
    this.context = canvas.getContext("2d");
    this.masks = new Map();
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.scale = Math.min(width / this.image.width, height / this.image.height);
    this.left = (width - this.image.width * this.scale) / 2;
    this.top = (height - this.image.height * this.scale) / 2;
    this.draw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const [ix, iy] = this.toImage(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, 0.02), 32);
    this.left = x - ix * this.scale;
    this.top = y - iy * this.scale;
    this.draw();
  }

  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.draw();
  }

  // the object is in sight, near the middle if it was not
  show(box) {
    const [y0, x0, y1, x1] = box;
    const [left, top] = this.toScreen(x0, y0);
    const [right, bottom] = this.toScreen(x1, y1);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (left < 0 || top < 0 || right > width || bottom > height) this.pan(width / 2 - (left + right) / 2, height / 2 - (top + bottom) / 2);
  }

  toImage(x, y) {
    return [(x - this.left) / this.scale, (y - this.top) / this.scale];
  }

  toScreen(x, y) {
    return [x * this.scale + this.left, y * this.scale + this.top];
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    const { context, canvas, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = this.scale < 3;
    context.drawImage(this.image, this.left, this.top, this.image.width * this.scale, this.image.height * this.scale);
    this.drawOthers(this.objects.filter((each) => each.id !== this.selected));
    const selected = this.objects.find((each) => each.id === this.selected);
    if (selected) this.drawObject(selected, true);
    this.drawGhosts();
    if (this.draft) this.drawBox(this.draft, "#ffffff", true);
  }

  /** What an evaluation predicted wrongly: boxes with verdicts, which are only shown. */
  setGhosts(ghosts) {
    this.ghosts = ghosts.filter((each) => each.verdict === "wrong");
    this.draw();
  }

  drawGhosts() {
    const context = this.context;
    context.save();
    context.setLineDash([6, 4]);
    for (const each of this.ghosts ?? []) this.drawBox([each.y_min, each.x_min, each.y_max, each.x_max], "#ff9f0a", false);
    context.restore();
  }

  // what is not selected; many objects are drawn once and kept as an image, since a drag changes only the selected one
  drawOthers(others) {
    if (others.length < MANY) {
      for (const each of others) this.drawObject(each, false);
      return;
    }
    const { context, canvas, ratio } = this;
    const now = [canvas.width, canvas.height, ratio, this.scale, this.left, this.top, ...others];
    if (now.length !== this.kept?.length || now.some((value, i) => value !== this.kept[i])) {
      this.kept = now;
      this.layer ??= document.createElement("canvas");
      Object.assign(this.layer, { width: canvas.width, height: canvas.height });
      this.context = this.layer.getContext("2d");
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
      for (const each of others) this.drawObject(each, false);
      this.context = context;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.layer, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  drawObject(each, isSelected) {
    const color = this.colors[each.class] ?? "#888888";
    if (each.rle) this.drawMask(each, color);
    for (const polygon of each.polygons ?? []) this.drawPolygon(polygon, color, isSelected);
    for (let i = 0; i + 2 < (each.points ?? []).length; i += 3) if (each.points[i + 2]) this.drawPoint(each.points[i], each.points[i + 1], color);
    if (!each.box) return;
    this.drawBox(each.box, color, isSelected);
    if (isSelected) {
      for (const [x, y] of corners(each.box)) {
        const [sx, sy] = this.toScreen(x, y);
        this.context.fillStyle = "#ffffff";
        this.context.fillRect(sx - 4, sy - 4, 8, 8);
        this.context.strokeStyle = color;
        this.context.strokeRect(sx - 4, sy - 4, 8, 8);
      }
    }
    if (isSelected || this.objects.length < 16) this.drawName(each, color);
  }

  drawBox([y0, x0, y1, x1], color, isSelected) {
    const [left, top] = this.toScreen(x0, y0);
    const context = this.context;
    context.strokeStyle = "#000000aa";
    context.lineWidth = isSelected ? 5 : 3;
    context.strokeRect(left, top, (x1 - x0) * this.scale, (y1 - y0) * this.scale);
    context.strokeStyle = color;
    context.lineWidth = isSelected ? 3 : 1.5;
    context.strokeRect(left, top, (x1 - x0) * this.scale, (y1 - y0) * this.scale);
  }

  drawPolygon(polygon, color, isSelected) {
    const context = this.context;
    context.beginPath();
    for (let i = 0; i + 1 < polygon.length; i += 2) context.lineTo(...this.toScreen(polygon[i], polygon[i + 1]));
    context.closePath();
    context.fillStyle = `${color}${isSelected ? "55" : "33"}`;
    context.fill();
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.stroke();
  }

  drawPoint(x, y, color) {
    const [sx, sy] = this.toScreen(x, y);
    this.context.beginPath();
    this.context.arc(sx, sy, 4, 0, 2 * Math.PI);
    this.context.fillStyle = color;
    this.context.fill();
    this.context.strokeStyle = "#ffffff"; // seen on its own polygon, too
    this.context.lineWidth = 1.5;
    this.context.stroke();
  }

  drawMask(each, color) {
    const key = `${each.id} ${color}`; // its class may change
    if (!this.masks.has(key)) this.masks.set(key, maskImage(each.rle, color));
    const mask = this.masks.get(key);
    if (mask) this.context.drawImage(mask, this.left, this.top, mask.width * this.scale, mask.height * this.scale);
  }

  drawName(each, color) {
    const [left, y] = this.toScreen(Math.min(each.box[1], each.box[3]), Math.min(each.box[0], each.box[2]));
    const top = y < 16 && y > -1 ? y + 16 : y; // inside of a box at the upper edge
    const context = this.context;
    context.font = "12px system-ui, sans-serif";
    const width = context.measureText(each.class).width + 8;
    if (width > Math.max(60, (each.box[3] - each.box[1]) * this.scale) && each.id !== this.selected) return;
    context.fillStyle = color;
    context.fillRect(left - 1, top - 16, width, 16);
    context.fillStyle = luminance(color) > 0.18 ? "#000000" : "#ffffff"; // the one with more contrast
    context.fillText(each.class, left + 3, top - 4);
  }

  // {id, part}: the smallest object at a point of the screen; part: of its box, such as "top left", or "inside"
  at(sx, sy) {
    const near = HANDLE / this.scale;
    const [x, y] = this.toImage(sx, sy);
    const order = [...this.objects].filter((each) => each.box).sort((a, b) => (b.id === this.selected) - (a.id === this.selected) || area(a.box) - area(b.box));
    for (const each of order) {
      const [y0, x0, y1, x1] = each.box;
      if (x < x0 - near || x > x1 + near || y < y0 - near || y > y1 + near) continue;
      const vertical = Math.abs(y - y0) <= near ? "top" : Math.abs(y - y1) <= near ? "bottom" : "";
      const horizontal = Math.abs(x - x0) <= near ? "left" : Math.abs(x - x1) <= near ? "right" : "";
      const edge = `${vertical} ${horizontal}`.trim();
      // of an object that is not selected, edges only select it
      if (edge || each.id !== this.selected || (x >= x0 && x <= x1 && y >= y0 && y <= y1)) return { id: each.id, part: (each.id === this.selected && edge) || "inside" };
    }
    return null;
  }
}

const area = ([y0, x0, y1, x1]) => (y1 - y0) * (x1 - x0);
const corners = ([y0, x0, y1, x1]) => [[x0, y0], [x1, y0], [x0, y1], [x1, y1]];

// of WCAG
function luminance(color) {
  const [r, g, b] = rgbOf(color).map((value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const rgbOf = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

// the pixels of COCO's run-length encoding, column by column, as numbers or as its compressed text
function maskImage(rle, color) {
  const [height, width] = rle.size ?? [];
  const counts = typeof rle.counts === "string" ? decompressed(rle.counts) : rle.counts;
  if (!Array.isArray(counts) || !(height * width <= 5e7)) return null;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  const rgb = rgbOf(color);
  let at = 0;
  counts.forEach((n, i) => {
    for (const end = at + n; at < end; at++) if (i % 2) data.data.set([...rgb, 110], 4 * ((at % height) * width + Math.floor(at / height)));
  });
  context.putImageData(data, 0, 0);
  return canvas;
}

function decompressed(text) {
  const counts = [];
  for (let at = 0; at < text.length; ) {
    let value = 0;
    let shift = 0;
    let more = true;
    while (more && at < text.length) {
      const bits = text.charCodeAt(at++) - 48;
      value |= (bits & 31) << shift;
      more = (bits & 32) !== 0;
      shift += 5;
      if (!more && bits & 16) value |= -1 << shift;
    }
    if (counts.length > 2) value += counts[counts.length - 2];
    counts.push(value);
  }
  return counts;
}
