// the geometry of objects, in pixels of the image; polygons are flat lists x0, y0, x1, y1 ...; nothing is changed in place
export const MIN_SIDE = 1; // pixels of the image, of what is drawn by hand

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
export const rounded = (value) => Math.round(value * 4) / 4;
export const area = ([y0, x0, y1, x1]) => (y1 - y0) * (x1 - x0);
export const boxCorners = ([y0, x0, y1, x1]) => [x0, y0, x1, y0, x1, y1, x0, y1];

// a polygon that is its box, such as that of a line of text: it follows the box until a corner is moved on purpose
export function isItsBox(each) {
  if (each.polygons?.length !== 1 || each.polygons[0].length !== 8) return false;
  const [polygon] = each.polygons;
  const [y0, x0, y1, x1] = each.box;
  const isOnBox = (x, y) => (x === x0 || x === x1) && (y === y0 || y === y1);
  const corners = [0, 2, 4, 6].map((i) => `${polygon[i]} ${polygon[i + 1]}`);
  return [0, 2, 4, 6].every((i) => isOnBox(polygon[i], polygon[i + 1])) && new Set(corners).size === 4 && !crossesAt(polygon, 0);
}

// size: {height, width} of the image
export const pointInside = (size, x, y) => [rounded(clamp(x, 0, size.width)), rounded(clamp(y, 0, size.height))];

// the box of an object that is moved inside of the image; a mask is moved by whole pixels
export function moved(size, { box, rle }, dx, dy) {
  const [y0, x0, y1, x1] = box;
  const round = rle ? Math.round : (value) => value;
  dx = round(clamp(dx, -Math.max(x0, 0), Math.max(size.width - x1, 0)));
  dy = round(clamp(dy, -Math.max(y0, 0), Math.max(size.height - y1, 0)));
  const after = [y0 + dy, x0 + dx, y1 + dy, x1 + dx];
  return rle ? after : after.map(rounded);
}

// the box with a side or corner, such as "top left", at a point
export function resized(size, box, part, x, y) {
  let [y0, x0, y1, x1] = box;
  [x, y] = pointInside(size, x, y);
  if (part.includes("top")) y0 = y;
  if (part.includes("bottom")) y1 = y;
  if (part.includes("left")) x0 = x;
  if (part.includes("right")) x1 = x;
  return [Math.min(y0, y1), Math.min(x0, x1), Math.max(y0, y1), Math.max(x0, x1)];
}

// the polygon with a corner in the middle of the edge after corner i
export function withCornerAfter(polygon, i) {
  const next = (2 * i + 2) % polygon.length;
  return polygon.toSpliced(2 * i + 2, 0, ...[0, 1].map((side) => rounded((polygon[2 * i + side] + polygon[next + side]) / 2)));
}

// the object with another box: its polygons and points go with it; a mask is moved by whole pixels, and never scaled
export function withBox(each, box) {
  const [y0, x0, y1, x1] = each.box;
  const [ny0, nx0, ny1, nx1] = box;
  const isMove = nx1 - nx0 === x1 - x0 && ny1 - ny0 === y1 - y0;
  const sx = x1 > x0 && !isMove ? (nx1 - nx0) / (x1 - x0) : 1;
  const sy = y1 > y0 && !isMove ? (ny1 - ny0) / (y1 - y0) : 1;
  const after = { ...each, box };
  if (each.polygons) after.polygons = each.polygons.map((polygon) => polygon.map((value, i) => (i % 2 ? ny0 + (value - y0) * sy : nx0 + (value - x0) * sx)));
  if (each.points) after.points = each.points.map((value, i) => (i % 3 === 2 ? value : i % 3 ? ny0 + (value - y0) * sy : nx0 + (value - x0) * sx));
  if (!isMove) dropArea(after);
  if (each.rle && isMove) {
    after.rle = shiftedMask(each.rle, nx0 - x0, ny0 - y0);
    if (after.extra?.area !== undefined) after.extra = { ...after.extra, area: maskArea(after.rle) };
  }
  return after;
}

// the object with other polygons, and the box around them; without any it keeps its box
export function withPolygons(each, polygons) {
  const after = { ...each, polygons };
  if (polygons.length) after.box = bounds(polygons);
  else delete after.polygons;
  return dropArea(after);
}

// of a shape that has gone; versions compute it again
function dropArea(after) {
  if (after.extra?.area !== undefined) {
    after.extra = { ...after.extra };
    delete after.extra.area;
  }
  return after;
}

export function bounds(polygons) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const polygon of polygons) {
    for (let i = 0; i + 1 < polygon.length; i += 2) {
      box[0] = Math.min(box[0], polygon[i + 1]);
      box[1] = Math.min(box[1], polygon[i]);
      box[2] = Math.max(box[2], polygon[i + 1]);
      box[3] = Math.max(box[3], polygon[i]);
    }
  }
  return box;
}

export function polygonArea(polygon) {
  let twice = 0;
  for (let i = 0, n = polygon.length; i < n; i += 2) twice += polygon[i] * polygon[(i + 3) % n] - polygon[(i + 2) % n] * polygon[i + 1];
  return Math.abs(twice) / 2;
}

export function contains(polygon, x, y) {
  let isInside = false;
  for (let i = 0, j = polygon.length - 2; i < polygon.length; j = i, i += 2) {
    const [xi, yi, xj, yj] = [polygon[i], polygon[i + 1], polygon[j], polygon[j + 1]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) isInside = !isInside;
  }
  return isInside;
}

export const polygonsHave = (polygons, x, y) => polygons.some((polygon) => contains(polygon, x, y));

const side = (ax, ay, bx, by, cx, cy) => Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));

// whether segments cross each other; those that only touch do not
function cross(a, b, c, d) {
  return side(...a, ...b, ...c) * side(...a, ...b, ...d) < 0 && side(...c, ...d, ...a) * side(...c, ...d, ...b) < 0;
}

// whether an edge at corner k crosses another edge. isOpen: the last corner is not joined to the first one yet
export function crossesAt(polygon, k, isOpen = false) {
  const n = polygon.length / 2;
  const point = (i) => [polygon[2 * (i % n)], polygon[2 * (i % n) + 1]];
  const last = isOpen ? n - 1 : n;
  for (const edge of [(k + n - 1) % n, k]) {
    if (edge >= last) continue;
    for (let other = 0; other < last; other += 1) if (other !== edge && cross(point(edge), point(edge + 1), point(other), point(other + 1))) return true;
  }
  return false;
}

// what is wrong with a polygon that was drawn or changed at corner k; "" if nothing
export function polygonTrouble(polygon, k) {
  if (polygon.length < 6) return "a polygon has at least three corners";
  const [y0, x0, y1, x1] = bounds([polygon]);
  if (x1 - x0 < MIN_SIDE || y1 - y0 < MIN_SIDE || polygonArea(polygon) < MIN_SIDE / 2) return "the polygon is too small";
  return crossesAt(polygon, k) ? "edges of the polygon would cross" : "";
}

// the numbers of pixels in turn outside and inside of a mask, column by column; null if it is malformed
export function maskRuns(rle) {
  const [height, width] = rle.size ?? [];
  const counts = typeof rle.counts === "string" ? decompressed(rle.counts) : rle.counts;
  return Array.isArray(counts) && height * width <= 5e7 ? counts : null;
}

export function maskHas(rle, x, y) {
  const runs = maskRuns(rle);
  if (!runs) return true; // its box is all that is known of it
  const [height, width] = rle.size;
  const pixel = clamp(Math.floor(x), 0, width - 1) * height + clamp(Math.floor(y), 0, height - 1);
  let at = 0;
  for (let i = 0; i < runs.length; i += 1) {
    at += runs[i];
    if (pixel < at) return i % 2 === 1;
  }
  return false;
}

function maskArea(rle) {
  return maskRuns(rle).reduce((sum, n, i) => sum + (i % 2 ? n : 0), 0);
}

// the mask moved by whole pixels; what leaves the image is cut off
function shiftedMask(rle, dx, dy) {
  const runs = maskRuns(rle);
  if (!runs || (!dx && !dy)) return rle;
  const [height, width] = rle.size;
  const counts = [];
  let end = 0;
  const add = (first, stop) => {
    if (counts.length && first === end) counts[counts.length - 1] += stop - first;
    else counts.push(first - end, stop - first);
    end = stop;
  };
  let at = 0;
  runs.forEach((n, i) => {
    for (let first = at; i % 2 && first < at + n; ) {
      const column = Math.floor(first / height);
      const stop = Math.min(at + n, (column + 1) * height);
      const [top, bottom] = [first, stop].map((each) => clamp(each - column * height + dy, 0, height));
      const to = (column + dx) * height;
      if (column + dx >= 0 && column + dx < width && top < bottom) add(to + top, to + bottom);
      first = stop;
    }
    at += n;
  });
  if (end < height * width) counts.push(height * width - end);
  return { ...rle, counts: typeof rle.counts === "string" ? compressed(counts) : counts };
}

// COCO's compressed text of the runs: differences in digits of five bits
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

function compressed(counts) {
  let text = "";
  counts.forEach((count, i) => {
    let value = i > 2 ? count - counts[i - 2] : count;
    for (let more = true; more; ) {
      const bits = value & 31;
      value >>= 5;
      more = bits & 16 ? value !== -1 : value !== 0;
      text += String.fromCharCode(48 + (bits | (more ? 32 : 0)));
    }
  });
  return text;
}
