// the list of an image's objects: a button each, of which only those that differ are made again
const SVG = "http://www.w3.org/2000/svg";

export class ObjectList {
  // list: an ol; select: called with the id of an object; focus: what has the focus when the object that had it is gone
  constructor(list, colors, select, focus) {
    Object.assign(this, { list, colors, select, focus, rows: new Map() });
  }

  show(objects, selected) {
    const hadFocus = this.list.contains(document.activeElement);
    const rows = new Map();
    let before = null;
    for (const each of objects) {
      const text = each.extra?.text ? `${each.class}: ${each.extra.text}` : each.class;
      let row = this.rows.get(each.id);
      if (row?.text !== text) row = { text, node: this.row(each, text) };
      const button = row.node.firstChild;
      if (button.getAttribute("aria-pressed") !== String(each.id === selected)) button.setAttribute("aria-pressed", String(each.id === selected));
      const next = before ? before.nextSibling : this.list.firstChild;
      if (next !== row.node) this.list.insertBefore(row.node, next);
      before = row.node;
      rows.set(each.id, row);
    }
    while (before ? before.nextSibling : this.list.firstChild) (before ? before.nextSibling : this.list.firstChild).remove();
    this.rows = rows;
    const shown = rows.get(selected)?.node.firstChild;
    if (selected !== this.selected) shown?.scrollIntoView({ block: "nearest" });
    this.selected = selected;
    if (hadFocus) (shown ?? this.focus)?.focus();
  }

  row(each, text) {
    const button = document.createElement("button");
    button.type = "button";
    const mark = document.createElementNS(SVG, "svg");
    mark.setAttribute("aria-hidden", "true");
    const rect = document.createElementNS(SVG, "rect");
    for (const node of [mark, rect]) for (const side of ["width", "height"]) node.setAttribute(side, "12");
    rect.setAttribute("fill", this.colors[each.class] ?? "#888888");
    mark.append(rect);
    button.append(mark, text);
    button.addEventListener("click", () => this.select(each.id));
    const row = document.createElement("li");
    row.append(button);
    return row;
  }
}

const nCorner = (each) => each.polygons?.reduce((sum, polygon) => sum + polygon.length / 2, 0) ?? 0;

// what an object has, in words
export function shapeWords(each) {
  if (each.rle) return "A box with a mask of pixels, which is moved, but not resized.";
  const n = each.polygons?.length ?? 0;
  return n ? `${n === 1 ? "A polygon" : `${n} polygons`} of ${nCorner(each)} corners.` : "A box.";
}

// what the canvas shows, for those who do not see it. each: the selected object; outline: a polygon that is being drawn
export function described(objects, each, corner, outline) {
  if (outline) return `A polygon of ${outline.corners.length / 2} corners is drawn${outline.cursor ? `, at ${outline.cursor.join(" ")}` : ""}`;
  if (each && corner) {
    const polygon = each.polygons[corner[0]];
    return `${each.class}, corner ${corner[1] + 1} of ${polygon.length / 2} at ${polygon[2 * corner[1]]} ${polygon[2 * corner[1] + 1]}`;
  }
  if (!each?.box) return `The image with ${objects.length} objects`;
  const n = nCorner(each);
  return `${each.class}, box ${each.box.join(" ")}${n ? `, polygon of ${n} corners` : ""}`;
}
