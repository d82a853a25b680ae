// edits the objects of one image by mouse, touch and keyboard; each gesture is saved at once
import { View, cursorOf } from "./canvas.js";
import { openJournal, sendLeft } from "./journal.js";
import { attachTools } from "./image_tools.js";
import { attachProposals } from "./proposals.js";
import { ObjectList, described, shapeWords } from "./object_list.js";
import { area, boxCorners, clamp, crossesAt, moved, pointInside, polygonTrouble, resized, rounded, withBox, withCornerAfter, withPolygons } from "./shapes.js";

const page = JSON.parse(document.getElementById("page").textContent);
const { item, classes, colors } = page;
const byId = (id) => document.getElementById(id);
const isBoxes = page.task === "boxes";
const canvas = byId("canvas");
const picker = byId("class");
const list = byId("objects") && new ObjectList(byId("objects"), colors, select, canvas);
const buttons = { box: byId("draw"), polygon: byId("draw-polygon") };
let objects = item.labels;
let selected = null;
let tool = "select";
let corner = null; // [polygon, corner] of the selected object that the keyboard moves
let outline = null; // {corners, cursor} of a polygon that is being drawn
let view = null;
const past = [];
let future = [];

const journal = openJournal(page.dataset, item, () => objects);

// why a gesture was refused; "" after the next one that was not
function tell(words) {
  byId("told").textContent = words;
}

// a gesture: what was before can be undone, what is after is saved
function change(after, select = selected) {
  keep(objects, after, select);
  journal.put(objects);
}

function keep(before, after, select) {
  past.push(before);
  future = [];
  objects = after;
  selected = select;
  tell("");
  show();
}

// what the server has saved as a revision of its own; a gesture meanwhile follows it
function accepted(before, after, select) {
  if (objects === before) keep(before, after, select);
  else change([...objects, ...after.filter((each) => !objects.some(({ id }) => id === each.id))]);
}

function step(from, to) {
  if (!from.length || page.isReadOnly) return;
  to.push(objects);
  objects = from.pop();
  if (!objects.some((each) => each.id === selected)) selected = null;
  corner = null;
  journal.put(objects);
  tell("");
  show();
}

const one = () => objects.find((each) => each.id === selected);
const newId = () => [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const replaced = (id, after) => objects.map((each) => (each.id === id ? after : each));
const inside = (x, y) => pointInside(item, x, y);

function add(shape) {
  if (!classes.length) return;
  const each = { id: newId(), class: picker.value, ...shape };
  change([...objects, each], each.id);
}

function remove() {
  if (page.isReadOnly || !one()) return;
  if (corner) {
    removeCorner();
    return;
  }
  const at = objects.findIndex((each) => each.id === selected);
  const rest = objects.filter((each) => each.id !== selected);
  change(rest, rest[Math.min(at, rest.length - 1)]?.id ?? null);
}

function setClass(name) {
  if (page.isReadOnly || (!classes.includes(name) && name !== "")) return;
  picker.value = name;
  if (!isBoxes) {
    if ((objects[0]?.class ?? "") !== name) change(name ? [{ id: objects[0]?.id ?? newId(), class: name }] : []);
  } else if (one() && one().class !== name) change(replaced(selected, { ...one(), class: name }));
}

function setText(text) {
  const each = one();
  if (!each || page.isReadOnly || (each.extra?.text ?? "") === text) return;
  const { text: _, ...extra } = each.extra ?? {};
  const after = { ...each, extra: text ? { ...extra, text } : extra };
  if (!Object.keys(after.extra).length) delete after.extra;
  change(replaced(selected, after));
}

function select(id) {
  if (id !== selected) corner = null;
  selected = id;
  if (one()) {
    picker.value = one().class;
    if (one().box) view?.show(one().box);
  }
  show();
}

function walk(by) {
  const order = objects.map((each) => each.id);
  if (!order.length) return;
  const at = order.indexOf(selected);
  select(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length]);
}

function use(name) {
  tool = page.isReadOnly || !classes.length ? "select" : name;
  outline = null;
  corner = null;
  for (const [key, button] of Object.entries(buttons)) button?.setAttribute("aria-pressed", String(tool === key));
  if (canvas) canvas.style.cursor = tool === "select" ? "default" : "crosshair";
  show();
}

// polygons: corners are added one by one, and the first one or Enter closes it
function addCorner(x, y) {
  [x, y] = inside(x, y);
  const corners = [...(outline?.corners ?? []), x, y];
  const k = corners.length / 2 - 1;
  if (k && corners.at(-4) === x && corners.at(-3) === y) return;
  if (k > 2 && crossesAt(corners, k, true)) tell("edges of the polygon would cross");
  else {
    outline = { ...outline, corners };
    tell("");
  }
  show();
}

// isPart: of the selected object, which then has several polygons, instead of a new object
function closeOutline(isPart) {
  const corners = outline?.corners ?? [];
  const each = isPart ? one() : null;
  const trouble = polygonTrouble(corners, corners.length / 2 - 1) || (each?.rle ? "the selected object has a mask: delete the mask first" : "");
  if (trouble) {
    tell(trouble);
    return;
  }
  const shape = withPolygons(each ?? {}, [...(each?.polygons ?? []), corners]);
  outline = null;
  if (each) change(replaced(selected, shape));
  else add(shape);
}

function setPolygon(k, polygon, i, active) {
  const each = one();
  const before = each.polygons[k];
  const trouble = polygonTrouble(polygon, i);
  if (trouble && !(polygon.length === before.length && polygonTrouble(before, i))) {
    tell(trouble);
    show();
    return;
  }
  corner = active;
  change(replaced(selected, withPolygons(each, each.polygons.with(k, polygon))));
}

function moveCorner(k, i, x, y) {
  const polygon = [...one().polygons[k]];
  [polygon[2 * i], polygon[2 * i + 1]] = inside(x, y);
  setPolygon(k, polygon, i, [k, i]);
}

function insertCorner() {
  if (!corner || page.isReadOnly) return;
  const [k, i] = corner;
  setPolygon(k, withCornerAfter(one().polygons[k], i), i + 1, [k, i + 1]);
}

function removeCorner() {
  if (!corner || page.isReadOnly) return;
  const [k, i] = corner;
  const polygon = one().polygons[k].toSpliced(2 * i, 2);
  const next = Math.max(i - 1, 0);
  setPolygon(k, polygon, next, [k, next]);
}

function walkCorners(by) {
  const all = (one()?.polygons ?? []).flatMap((polygon, k) => Array.from({ length: polygon.length / 2 }, (_, i) => [k, i]));
  if (!all.length) return;
  const at = corner ? all.findIndex(([k, i]) => k === corner[0] && i === corner[1]) : by > 0 ? -1 : 0;
  corner = all[(at + by + all.length) % all.length];
  const polygon = one().polygons[corner[0]];
  const [x, y] = [polygon[2 * corner[1]], polygon[2 * corner[1] + 1]];
  view?.show([y, x, y, x]);
  show();
}

// the box as a polygon, to be bent; or without its polygons or mask
function changeShape() {
  const each = one();
  if (!each?.box || page.isReadOnly) return;
  const { rle: _, ...rest } = each;
  corner = null;
  if (each.polygons || each.rle) change(replaced(selected, withPolygons(rest, [])));
  else {
    change(replaced(selected, withPolygons(each, [boxCorners(each.box)])));
    use("polygon");
  }
}

function show() {
  byId("undo").disabled = !past.length || page.isReadOnly;
  byId("redo").disabled = !future.length || page.isReadOnly;
  if (byId("remove")) byId("remove").disabled = !one() || page.isReadOnly;
  list?.show(objects, selected);
  if (!isBoxes) picker.value = objects[0]?.class ?? "";
  if (isBoxes) showSelected();
  proposals.show();
  if (!view) return;
  Object.assign(view, { objects, selected, corner, outline, live: null, hasCorners: tool === "polygon" });
  view.draw();
  canvas.setAttribute("aria-label", described(objects, one(), corner, outline));
}

function showSelected() {
  const each = one();
  byId("shape").textContent = each ? shapeWords(each) : "No object is selected.";
  const button = byId("change-shape");
  button.hidden = !each?.box || page.isReadOnly;
  button.textContent = each?.rle ? "Delete its mask" : each?.polygons?.length ? "Delete its polygon" : "Make it a polygon";
  const field = byId("text");
  field.disabled = !each || page.isReadOnly;
  if (document.activeElement !== field || field.dataset.of !== selected) field.value = each?.extra?.text ?? "";
  field.dataset.of = selected ?? "";
  byId("finish").hidden = byId("finish-part").hidden = (outline?.corners.length ?? 0) < 6;
  byId("finish-part").hidden ||= !each?.box;
  byId("insert-corner").hidden = !corner;
}

let drag = null;
function press(event) {
  canvas.focus({ preventScroll: true });
  view.touched(event);
  const [x, y] = view.toImage(event.offsetX, event.offsetY);
  canvas.setPointerCapture(event.pointerId);
  if (event.button === 1) drag = { kind: "pan", x: event.offsetX, y: event.offsetY };
  else if (event.button === 0 && isBoxes) {
    const at = page.isReadOnly || outline ? null : view.cornerAt(event.offsetX, event.offsetY);
    if (at) grab(at, x, y);
    else if (tool === "polygon") {
      if (isAtStart(event)) closeOutline(event.shiftKey);
      else addCorner(x, y);
    } else pressBox(event, x, y);
  }
  event.preventDefault();
}

const isAtStart = (event) => {
  if ((outline?.corners.length ?? 0) < 6) return false;
  const [x, y] = view.toScreen(outline.corners[0], outline.corners[1]);
  return Math.hypot(x - event.offsetX, y - event.offsetY) <= view.near + 3;
};

function grab(at, x, y) {
  corner = at.isNew ? null : [at.polygon, at.corner];
  const polygon = one().polygons[at.polygon];
  drag = { kind: "corner", ...at, polygonOf: at.isNew ? polygon.toSpliced(2 * at.corner, 0, ...inside(x, y)) : polygon, k: at.polygon };
  show();
}

function pressBox(event, x, y) {
  const hit = tool === "box" ? null : view.at(event.offsetX, event.offsetY);
  corner = null;
  const at = tool === "box" ? null : [x, y]; // where a click may choose a proposal
  if (hit && hit.id === selected && !page.isReadOnly) drag = { kind: hit.part, x, y, at };
  else if (hit) {
    select(hit.id);
    if (!page.isReadOnly) drag = { kind: "inside", x, y, at };
  } else if (!page.isReadOnly && classes.length) {
    drag = { kind: "draw", x: clamp(x, 0, item.width), y: clamp(y, 0, item.height), at };
    select(null);
  }
}

function pull(event) {
  const [x, y] = view.toImage(event.offsetX, event.offsetY);
  if (!drag) {
    if (outline) {
      outline = { ...outline, cursor: inside(x, y) };
      view.outline = outline;
      view.draw();
    } else if (tool === "select") canvas.style.cursor = view.cornerAt(event.offsetX, event.offsetY) ? "pointer" : cursorOf(view.at(event.offsetX, event.offsetY)?.part);
    return;
  }
  if (drag.kind === "pan") {
    view.pan(event.offsetX - drag.x, event.offsetY - drag.y);
    Object.assign(drag, { x: event.offsetX, y: event.offsetY });
    return;
  }
  const each = one();
  if (drag.kind === "draw") view.draft = resized(item, [drag.y, drag.x, drag.y, drag.x].map(rounded), "bottom right", x, y);
  else if (drag.kind === "corner") {
    const polygon = drag.polygonOf.toSpliced(2 * drag.corner, 2, ...inside(x, y));
    drag.after = polygon;
    view.live = withPolygons(each, each.polygons.with(drag.k, polygon));
  } else {
    drag.after = drag.kind === "inside" ? moved(item, each, x - drag.x, y - drag.y) : resized(item, each.box, drag.kind, x, y);
    // the mask itself is moved once, at the end
    view.live = each.rle ? { ...each, box: drag.after, maskAt: [drag.after[1] - each.box[1], drag.after[0] - each.box[0]] } : withBox(each, drag.after);
  }
  view.draw();
}

function drop() {
  if (!drag) return;
  const { kind, after, k, corner: i, at } = drag;
  const { draft } = view;
  drag = view.draft = view.live = null;
  if (kind === "draw" && draft && (draft[2] - draft[0]) * view.scale > 3 && (draft[3] - draft[1]) * view.scale > 3) add({ box: draft });
  else if (kind === "corner" && after) setPolygon(k, after, i, [k, i]);
  else if (kind !== "draw" && kind !== "pan" && after && String(after) !== String(one().box)) change(replaced(selected, withBox(one(), after)));
  else if (!at || !proposals.chooseAt(...at, (box) => !one() || area(box) < area(one().box))) show();
}

// what the browser or the system interrupts changes nothing
function giveUp() {
  if (!drag) return;
  drag = view.draft = null;
  show();
}

function arrows(event) {
  const by = event.shiftKey ? 10 : 1;
  const [dx, dy] = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
  if (corner) {
    const polygon = one().polygons[corner[0]];
    moveCorner(...corner, polygon[2 * corner[1]] + dx, polygon[2 * corner[1] + 1] + dy);
    return;
  }
  if (tool === "polygon") {
    const [x, y] = outline?.cursor ?? view.toImage(canvas.clientWidth / 2, canvas.clientHeight / 2);
    const cursor = inside(x + dx, y + dy);
    outline = { corners: outline?.corners ?? [], cursor };
    view.show([cursor[1], cursor[0], cursor[1], cursor[0]]);
    show();
    return;
  }
  const each = one();
  if (event.altKey && each.rle) tell("a mask can be moved, not resized");
  else {
    const after = event.altKey ? resized(item, each.box, "bottom right", each.box[3] + dx, each.box[2] + dy) : moved(item, each, dx, dy);
    if (String(after) !== String(each.box)) change(replaced(selected, withBox(each, after)));
  }
}

// a box in the middle of what is seen, or with the polygon tool a rhombus
function addMiddle() {
  const [x, y] = view.toImage(canvas.clientWidth / 2, canvas.clientHeight / 2);
  const half = Math.min(item.width, item.height) / 8;
  const [cx, cy] = [clamp(x, half, item.width - half), clamp(y, half, item.height - half)];
  if (tool === "polygon") add(withPolygons({}, [[cx, cy - half, cx + half, cy, cx, cy + half, cx - half, cy].map(rounded)]));
  else add({ box: [cy - half, cx - half, cy + half, cx + half].map(rounded) });
}

// keys of a polygon that is being drawn; whether the key was one
function outlineKey(event) {
  if (tool !== "polygon" || event.target.closest("button, a, summary")) return false;
  if (event.key === " ") addCorner(...(outline?.cursor ?? view.toImage(canvas.clientWidth / 2, canvas.clientHeight / 2)));
  else if (!outline?.corners.length) return false;
  else if (event.key === "Enter") closeOutline(event.shiftKey);
  else if (event.key === "Backspace") outline = { ...outline, corners: outline.corners.slice(0, -2) };
  else if (event.key === "Escape") outline = null;
  else return false;
  show();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  const isField = event.target.closest("input, textarea");
  if (isField && event.key === "Enter" && isField.id === "text") {
    setText(isField.value.trim());
    canvas?.focus();
    event.preventDefault();
    return;
  }
  if (isField) return; // a field has its own undo
  if (command && ["z", "y"].includes(event.key.toLowerCase())) {
    if (event.shiftKey || event.key.toLowerCase() === "y") step(future, past);
    else step(past, future);
    event.preventDefault();
    return;
  }
  if (event.target.closest("select") || command) return;
  const onCanvas = event.target === canvas;
  const hasArrows = (one()?.box || tool === "polygon") && view && !page.isReadOnly;
  if (view && isBoxes && !page.isReadOnly && outlineKey(event)) {
    event.preventDefault();
    return;
  }
  if (event.key === "Tab" && onCanvas && objects.length) {
    const at = objects.findIndex((each) => each.id === selected);
    if (event.shiftKey ? at === 0 : at === objects.length - 1) return; // the focus leaves the image after the last one
    walk(event.shiftKey ? -1 : 1);
  } else if (event.key.startsWith("Arrow") && hasArrows && (onCanvas || event.target === document.body)) arrows(event);
  else if (event.key === "b" && isBoxes) use(tool === "box" ? "select" : "box");
  else if (event.key === "p" && isBoxes) use(tool === "polygon" ? "select" : "polygon");
  else if (event.key.toLowerCase() === "v" && isBoxes) walkCorners(event.shiftKey ? -1 : 1);
  else if (event.key === "i" && corner) insertCorner();
  else if (event.key === "o" && isBoxes) changeShape();
  else if (event.key === "t" && isBoxes && one()) byId("text").focus();
  else if (event.key === "Escape") {
    if (corner) corner = null;
    else if (tool !== "select") use("select");
    else selected = null;
    show();
  } else if (event.key === "n" && isBoxes && view && !page.isReadOnly) addMiddle();
  else if (/^[1-9]$/.test(event.key) && classes[event.key - 1]) setClass(classes[event.key - 1]);
  else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if ((event.key === "Enter" && !event.target.closest("button, a, summary")) || event.key === ".") byId("after")?.click();
  else if (event.key === ",") byId("before")?.click();
  else return;
  event.preventDefault();
});

byId("undo").addEventListener("click", () => step(past, future));
byId("redo").addEventListener("click", () => step(future, past));
byId("remove")?.addEventListener("click", remove);
for (const [name, button] of Object.entries(buttons)) button?.addEventListener("click", () => use(tool === name ? "select" : name));
byId("fit").addEventListener("click", () => view?.fit());
byId("zoom-in").addEventListener("click", () => view?.zoom(1.4));
byId("zoom-out").addEventListener("click", () => view?.zoom(1 / 1.4));
if (isBoxes) {
  byId("finish").addEventListener("click", () => closeOutline(false));
  byId("finish-part").addEventListener("click", () => closeOutline(true));
  byId("insert-corner").addEventListener("click", insertCorner);
  byId("change-shape").addEventListener("click", changeShape);
  byId("text").addEventListener("change", () => setText(byId("text").value.trim()));
}
for (const name of isBoxes ? classes : ["", ...classes]) picker.add(new Option(name || "no class", name));
picker.disabled = page.isReadOnly;
picker.addEventListener("change", () => setClass(picker.value));

const left = page.isReadOnly ? null : journal.left();
if (left) {
  objects = left.next ?? left.objects;
  journal.tell("waiting");
  journal.send();
}
if (!page.isReadOnly) sendLeft(journal.path).then((n) => n && tell(`edits of ${n} other image${n === 1 ? "" : "s"} are not saved yet`));
const proposals = attachProposals({ page, journal, tell, accepted, view: () => view, objects: () => objects });
attachTools({ page, item, tell, view: () => view, add: (more) => change(isBoxes ? [...objects, ...more] : more, more.at(-1).id) });
if (canvas) {
  const image = new Image();
  image.onload = () => {
    view = new View(canvas, image, colors);
    const shown = byId("show-predicted");
    const ghosts = () => view.setGhosts(shown?.checked ? page.predicted : []);
    shown?.addEventListener("change", ghosts);
    ghosts();
    canvas.addEventListener("pointerdown", press);
    canvas.addEventListener("pointermove", pull);
    canvas.addEventListener("pointerup", drop);
    canvas.addEventListener("pointercancel", giveUp);
    canvas.addEventListener("wheel", (event) => {
      view.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
      event.preventDefault();
    }, { passive: false });
    use("select");
    if (location.hash.length > 1) select(location.hash.slice(1));
    canvas.dataset.ready = "true";
  };
  image.onerror = () => tell("the image could not be read; load the page again");
  image.src = `/api/v1/images/${item.sha256}/view`;
}
show();
