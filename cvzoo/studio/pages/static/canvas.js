// draws an image with its objects, and tells what is at a point; all coordinates are pixels of the image
import { area, boxCorners, isItsBox, maskRuns, polygonsHave } from "./shapes.js";

const HANDLE = 7; // pixels of the screen
const TOUCH = 14; // of a finger

export class View {
  // objects: all; live: the selected one while it is changed, instead of it; outline: of a polygon that is being drawn
  constructor(canvas, image, colors) {
    Object.assign(this, { canvas, image, colors, scale: 1, left: 0, top: 0, objects: [], selected: null });
    Object.assign(this, { live: null, draft: null, outline: null, corner: null, hasCorners: false, near: HANDLE });
    this.brightness = 1;
    this.context = canvas.getContext("2d");
    this.layer = document.createElement("canvas");
    this.masks = new Map();
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.ratio = devicePixelRatio || 1;
    for (const each of [this.canvas, this.layer]) Object.assign(each, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    this.painted = null;
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

  setBrightness(factor) {
    this.brightness = factor;
    this.painted = null;
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

  // what does not change while an object is dragged is painted once
  drawNow() {
    const { context, canvas, ratio } = this;
    if (!canvas.width || !canvas.height) return; // it is not laid out, as in a window without a size
    const state = [this.objects, this.selected, this.scale, this.left, this.top];
    if (!this.painted || state.some((value, i) => value !== this.painted[i])) this.paintLayer();
    this.painted = state;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.layer, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const selected = this.live ?? this.objects.find((each) => each.id === this.selected);
    if (selected) this.drawSelected(selected);
    this.drawGhosts();
    if (this.draft) this.drawBox(this.draft, "#ffffff", true);
    if (this.outline) this.drawOutline();
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
    for (const each of this.proposals ?? []) if (each.box) this.drawProposal(each);
    context.restore();
  }

  // as what it is, dashed, and with the score in front of any color
  drawProposal(each) {
    const { context } = this;
    const [left, top] = this.toScreen(each.box[1], each.box[0]);
    const isChosen = each.id === this.chosen;
    context.globalAlpha = isChosen ? 1 : 0.7; // paler than what is accepted
    this.drawShapes(each, isChosen);
    context.globalAlpha = 1;
    this.drawBox(each.box, this.colorOf(each.class), isChosen);
    if (!isChosen && this.proposals.length > 15) return;
    const text = `${each.class} ${each.extra.score.toFixed(2)}`;
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = "#000000cc";
    context.fillRect(left, top - 16, context.measureText(text).width + 8, 16);
    context.fillStyle = "#ffffff";
    context.fillText(text, left + 4, top - 4);
  }

  paintLayer() {
    const context = this.layer.getContext("2d");
    const shown = this.context;
    this.context = context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.layer.width, this.layer.height);
    context.imageSmoothingEnabled = this.scale < 3;
    context.filter = this.brightness === 1 ? "none" : `brightness(${this.brightness})`;
    context.drawImage(this.image, this.left, this.top, this.image.width * this.scale, this.image.height * this.scale);
    context.filter = "none";
    const others = this.objects.filter((each) => each.id !== this.selected);
    for (const each of others) this.drawShapes(each, false);
    this.drawBoxes(others.filter((each) => each.box));
    if (this.objects.length < 16) for (const each of others) if (each.box) this.drawName(each);
    this.context = shown;
  }

  // one by one: a path of thousands of rectangles takes fifty times as long
  drawBoxes(objects) {
    const { context } = this;
    for (const [width, color] of [[3, "#000000aa"], [1.5, null]]) {
      context.lineWidth = width;
      for (const { box, class: name } of objects) {
        const [left, top] = this.toScreen(box[1], box[0]);
        context.strokeStyle = color ?? this.colorOf(name);
        context.strokeRect(left, top, (box[3] - box[1]) * this.scale, (box[2] - box[0]) * this.scale);
      }
    }
  }

  colorOf(name) {
    return this.colors[name] ?? "#888888";
  }

  drawShapes(each, isSelected) {
    const color = this.colorOf(each.class);
    if (each.rle) this.drawMask(each, color);
    for (const polygon of each.polygons ?? []) this.drawPolygon(polygon, color, isSelected);
    for (let i = 0; i + 2 < (each.points ?? []).length; i += 3) if (each.points[i + 2]) this.drawPoint(each.points[i], each.points[i + 1], color);
  }

  drawSelected(each) {
    this.drawShapes(each, true);
    if (!each.box) return;
    const color = this.colorOf(each.class);
    this.drawBox(each.box, color, true);
    if (!each.rle) for (let corners = boxCorners(each.box), i = 0; i < 8; i += 2) this.drawHandle(corners[i], corners[i + 1], color);
    if (this.showsCorners(each)) this.drawCorners(each, color);
    this.drawName(each);
  }

  showsCorners(each) {
    return Boolean(each.polygons?.length) && (this.hasCorners || this.corner !== null || !isItsBox(each));
  }

  drawHandle(x, y, color, side = 8) {
    const [sx, sy] = this.toScreen(x, y);
    this.context.fillStyle = "#ffffff";
    this.context.fillRect(sx - side / 2, sy - side / 2, side, side);
    this.context.lineWidth = 1.5;
    this.context.strokeStyle = color;
    this.context.strokeRect(sx - side / 2, sy - side / 2, side, side);
  }

  // corners, and smaller marks on edges, where a corner is added
  drawCorners(each, color) {
    each.polygons.forEach((polygon, k) => {
      for (let i = 0; i < polygon.length; i += 2) {
        const isActive = this.corner && this.corner[0] === k && this.corner[1] === i / 2;
        if (this.isLong(polygon, i)) this.drawDot(...middle(polygon, i), 3, color, "#ffffff");
        this.drawDot(polygon[i], polygon[i + 1], isActive ? 8 : 5, isActive ? "#ffffff" : color, isActive ? color : "#ffffff");
      }
    });
  }

  isLong(polygon, i) {
    const n = polygon.length;
    return Math.hypot(polygon[(i + 2) % n] - polygon[i], polygon[(i + 3) % n] - polygon[i + 1]) * this.scale > 4 * HANDLE;
  }

  drawDot(x, y, radius, fill, stroke) {
    const [sx, sy] = this.toScreen(x, y);
    const context = this.context;
    context.beginPath();
    context.arc(sx, sy, radius, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle: fill, strokeStyle: stroke, lineWidth: 2 });
    context.fill();
    context.stroke();
  }

  drawOutline() {
    const { corners, cursor } = this.outline;
    const context = this.context;
    for (const [color, width] of [["#000000aa", 5], ["#ffffff", 2]]) {
      context.beginPath();
      for (let i = 0; i < corners.length; i += 2) context.lineTo(...this.toScreen(corners[i], corners[i + 1]));
      if (cursor && corners.length) context.lineTo(...this.toScreen(...cursor));
      Object.assign(context, { strokeStyle: color, lineWidth: width });
      context.stroke();
    }
    for (let i = 0; i < corners.length; i += 2) this.drawDot(corners[i], corners[i + 1], i ? 4 : 7, i ? "#ffffff" : "#3cb44b", "#000000");
    if (cursor) {
      const [x, y] = this.toScreen(...cursor);
      for (const [color, width] of [["#000000", 4], ["#ffffff", 2]]) {
        context.beginPath();
        for (const [dx, dy] of [[10, 0], [0, 10]]) {
          context.moveTo(x - dx, y - dy);
          context.lineTo(x + dx, y + dy);
        }
        Object.assign(context, { strokeStyle: color, lineWidth: width });
        context.stroke();
      }
    }
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
    const key = each.id;
    const known = this.masks.get(key);
    if (known?.color !== color || known.rle !== each.rle) this.masks.set(key, { rle: each.rle, color, mask: maskImage(each.rle, color) });
    const { mask } = this.masks.get(key);
    const [dx, dy] = (each.maskAt ?? [0, 0]).map((value) => value * this.scale);
    if (mask) this.context.drawImage(mask, this.left + dx, this.top + dy, mask.width * this.scale, mask.height * this.scale);
  }

  drawName(each) {
    const color = this.colorOf(each.class);
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
    const near = this.near / this.scale;
    const [x, y] = this.toImage(sx, sy);
    let found = null;
    for (const each of this.objects) {
      if (!each.box) continue;
      const [y0, x0, y1, x1] = each.box;
      if (x < x0 - near || x > x1 + near || y < y0 - near || y > y1 + near) continue;
      const vertical = Math.abs(y - y0) <= near ? "top" : Math.abs(y - y1) <= near ? "bottom" : "";
      const horizontal = Math.abs(x - x0) <= near ? "left" : Math.abs(x - x1) <= near ? "right" : "";
      const edge = `${vertical} ${horizontal}`.trim();
      const isSelected = each.id === this.selected;
      const isInside = x >= x0 && x <= x1 && y >= y0 && y <= y1;
      if (isSelected && !edge && !isInside) continue;
      // the selected one first, then one whose polygon is there, then the smallest
      const isHit = !each.polygons?.length || Boolean(edge) || polygonsHave(each.polygons, x, y);
      const rank = [isSelected ? 0 : 1, isHit ? 0 : 1, area(each.box)];
      // of an object that is not selected, edges only select it; a mask is not resized
      if (!found || isBefore(rank, found.rank)) found = { id: each.id, part: (isSelected && !each.rle && edge) || "inside", rank };
    }
    return found;
  }

  // {polygon, corner, isNew}: the corner of the selected object at a point of the screen, or where one can be added
  cornerAt(sx, sy) {
    const selected = this.objects.find((each) => each.id === this.selected);
    if (!selected || !this.showsCorners(selected)) return null;
    let found = null;
    selected.polygons.forEach((polygon, k) => {
      for (let i = 0; i < polygon.length; i += 2) {
        const candidates = [[polygon[i], polygon[i + 1], { polygon: k, corner: i / 2, isNew: false }]];
        if (this.isLong(polygon, i)) candidates.push([...middle(polygon, i), { polygon: k, corner: i / 2 + 1, isNew: true }]);
        for (const [x, y, what] of candidates) {
          const [px, py] = this.toScreen(x, y);
          const distance = Math.hypot(px - sx, py - sy) + (what.isNew ? 0.5 : 0);
          if (distance <= this.near + 1 && (!found || distance < found.distance)) found = { ...what, distance };
        }
      }
    });
    return found;
  }

  // fingers are less exact than a mouse
  touched(event) {
    this.near = event.pointerType === "touch" ? TOUCH : HANDLE;
  }
}

export const cursorOf = (part) => ({ "top left": "nwse-resize", "bottom right": "nwse-resize", "top right": "nesw-resize", "bottom left": "nesw-resize", top: "ns-resize", bottom: "ns-resize", left: "ew-resize", right: "ew-resize", inside: "move" })[part] ?? "default";
const isBefore = (a, b) => {
  const i = a.findIndex((value, k) => value !== b[k]);
  return i >= 0 && a[i] < b[i];
};
const middle = (polygon, i) => [0, 1].map((k) => (polygon[i + k] + polygon[(i + 2 + k) % polygon.length]) / 2);

// of WCAG
function luminance(color) {
  const [r, g, b] = rgbOf(color).map((value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const rgbOf = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

// the pixels of COCO's run-length encoding, column by column
function maskImage(rle, color) {
  const [height, width] = rle.size ?? [];
  const counts = maskRuns(rle);
  if (!counts) return null;
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
