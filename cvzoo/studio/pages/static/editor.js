// edits the objects of one image by mouse, touch and keyboard; each gesture is saved at once
import { View } from "./canvas.js";
import { Journal, sendLeft } from "./journal.js";

const page = JSON.parse(document.getElementById("page").textContent);
const { item, classes, colors } = page;
const byId = (id) => document.getElementById(id);
const isBoxes = page.task === "boxes";
const canvas = byId("canvas");
const picker = byId("class");
const list = byId("objects");
const saved = byId("saved");
let objects = item.labels;
let selected = null;
let isDrawing = false;
let view = null;
const past = [];
let future = [];
const copy = (value) => JSON.parse(JSON.stringify(value));

const journal = new Journal(page.dataset, item.ordinal, item.first_rev, (state, more) => {
  saved.className = { saved: "soft", waiting: "soft", away: "waiting", conflict: "waiting", wrong: "wrong" }[state];
  saved.textContent = { saved: "saved", waiting: "saving", away: "not saved yet: the server does not answer", conflict: "not saved yet", wrong: `not saved: ${more}` }[state];
  if (state === "conflict") resolve(more);
});

function resolve(theirs) {
  const dialog = byId("conflict");
  const words = (n) => `${n} object${n === 1 ? "" : "s"}`;
  byId("conflict-text").textContent = theirs ? `The other edit has ${words(theirs.labels.length)}, yours ${words(objects.length)}. The one that is not taken stays in the history.` : "";
  byId("keep-theirs").onclick = () => {
    journal.forget();
    location.reload();
  };
  byId("keep-mine").onclick = () => {
    journal.forget();
    journal.base = theirs.first_rev;
    journal.put(objects);
    dialog.close();
  };
  dialog.showModal();
}

// a gesture: what was before can be undone, what is after is saved
function change(after, select = selected) {
  past.push(copy(objects));
  future = [];
  objects = after;
  selected = select;
  journal.put(objects);
  show();
}

function step(from, to) {
  if (!from.length || page.isReadOnly) return;
  to.push(copy(objects));
  objects = from.pop();
  if (!objects.some((each) => each.id === selected)) selected = null;
  journal.put(objects);
  show();
}

const one = () => objects.find((each) => each.id === selected);
const newId = () => [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const rounded = (value) => Math.round(value * 4) / 4;

// the object with another box: its polygons and points go with it; its mask of pixels and its area do not fit any more
function withBox(each, box) {
  const [y0, x0, y1, x1] = each.box;
  const [ny0, nx0, ny1, nx1] = box;
  const sx = x1 > x0 ? (nx1 - nx0) / (x1 - x0) : 1;
  const sy = y1 > y0 ? (ny1 - ny0) / (y1 - y0) : 1;
  const after = { ...each, box };
  if (each.polygons) after.polygons = each.polygons.map((polygon) => polygon.map((value, i) => (i % 2 ? ny0 + (value - y0) * sy : nx0 + (value - x0) * sx)));
  if (each.points) after.points = each.points.map((value, i) => (i % 3 === 2 ? value : i % 3 ? ny0 + (value - y0) * sy : nx0 + (value - x0) * sx));
  if (each.extra) {
    after.extra = { ...each.extra };
    delete after.extra.area;
  }
  delete after.rle;
  return after;
}

const replaced = (id, after) => objects.map((each) => (each.id === id ? after : each));

function moved(box, dx, dy) {
  const [y0, x0, y1, x1] = box;
  dx = clamp(dx, -Math.max(x0, 0), Math.max(item.width - x1, 0));
  dy = clamp(dy, -Math.max(y0, 0), Math.max(item.height - y1, 0));
  return [y0 + dy, x0 + dx, y1 + dy, x1 + dx].map(rounded);
}

function resized(box, part, x, y) {
  let [y0, x0, y1, x1] = box;
  x = rounded(clamp(x, 0, item.width));
  y = rounded(clamp(y, 0, item.height));
  if (part.includes("top")) y0 = y;
  if (part.includes("bottom")) y1 = y;
  if (part.includes("left")) x0 = x;
  if (part.includes("right")) x1 = x;
  return [Math.min(y0, y1), Math.min(x0, x1), Math.max(y0, y1), Math.max(x0, x1)];
}

function add(box) {
  if (!classes.length) return;
  const each = { id: newId(), class: picker.value, box };
  change([...objects, each], each.id);
}

function remove() {
  if (page.isReadOnly || !one()) return;
  const at = objects.findIndex((each) => each.id === selected);
  const rest = objects.filter((each) => each.id !== selected);
  change(rest, rest[Math.min(at, rest.length - 1)]?.id ?? null);
}

function setClass(name) {
  if (page.isReadOnly || !classes.includes(name) && name !== "") return;
  picker.value = name;
  if (!isBoxes) {
    if ((objects[0]?.class ?? "") !== name) change(name ? [{ id: objects[0]?.id ?? newId(), class: name }] : []);
  } else if (one() && one().class !== name) change(replaced(selected, { ...one(), class: name }));
}

function select(id) {
  selected = id;
  if (one()) {
    picker.value = one().class;
    view?.show(one().box);
  }
  show();
}

function walk(by) {
  const order = objects.map((each) => each.id);
  if (!order.length) return;
  const at = order.indexOf(selected);
  select(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length]);
}

function draw(on) {
  isDrawing = on && !page.isReadOnly && classes.length > 0;
  byId("draw")?.setAttribute("aria-pressed", String(isDrawing));
  if (canvas) canvas.style.cursor = isDrawing ? "crosshair" : "default";
}

function show() {
  byId("undo").disabled = !past.length || page.isReadOnly;
  byId("redo").disabled = !future.length || page.isReadOnly;
  if (byId("remove")) byId("remove").disabled = !one() || page.isReadOnly;
  if (list) showList();
  if (!isBoxes) picker.value = objects[0]?.class ?? "";
  if (!view) return;
  view.objects = objects;
  view.selected = selected;
  view.draw();
  canvas.setAttribute("aria-label", one() ? `${one().class}, box ${one().box.join(" ")}` : `The image with ${objects.length} objects`);
}

function showList() {
  const focused = list.contains(document.activeElement);
  list.replaceChildren(
    ...objects.map((each) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(each.id === selected));
      const text = each.extra?.text ? `${each.class}: ${each.extra.text}` : each.class;
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("width", "12");
      mark.setAttribute("height", "12");
      mark.setAttribute("aria-hidden", "true");
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [key, value] of [["width", "12"], ["height", "12"], ["fill", colors[each.class] ?? "#888888"]]) rect.setAttribute(key, value);
      mark.append(rect);
      button.append(mark, text);
      button.addEventListener("click", () => select(each.id));
      const row = document.createElement("li");
      row.append(button);
      return row;
    }),
  );
  const shown = list.querySelector("[aria-pressed=true]");
  shown?.scrollIntoView({ block: "nearest" });
  if (focused) (shown ?? canvas)?.focus();
}

let drag = null;
function press(event) {
  canvas.focus({ preventScroll: true });
  const [x, y] = view.toImage(event.offsetX, event.offsetY);
  canvas.setPointerCapture(event.pointerId);
  if (event.button === 1) drag = { kind: "pan", x: event.offsetX, y: event.offsetY };
  else if (event.button === 0 && isBoxes) {
    const hit = isDrawing ? null : view.at(event.offsetX, event.offsetY);
    if (hit && hit.id === selected && !page.isReadOnly) drag = { kind: hit.part, x, y, box: one().box, before: objects };
    else if (hit) {
      select(hit.id);
      if (!page.isReadOnly) drag = { kind: "inside", x, y, box: one().box, before: objects };
    } else if (!page.isReadOnly && classes.length) {
      drag = { kind: "draw", x: clamp(x, 0, item.width), y: clamp(y, 0, item.height) };
      select(null);
    }
  }
  event.preventDefault();
}

function pull(event) {
  if (!drag) {
    if (!isDrawing) canvas.style.cursor = cursorOf(view.at(event.offsetX, event.offsetY)?.part);
    return;
  }
  const [x, y] = view.toImage(event.offsetX, event.offsetY);
  if (drag.kind === "pan") {
    view.pan(event.offsetX - drag.x, event.offsetY - drag.y);
    Object.assign(drag, { x: event.offsetX, y: event.offsetY });
  } else if (drag.kind === "draw") {
    view.draft = resized([drag.y, drag.x, drag.y, drag.x].map(rounded), "bottom right", x, y);
    view.draw();
  } else {
    const box = drag.kind === "inside" ? moved(drag.box, x - drag.x, y - drag.y) : resized(drag.box, drag.kind, x, y);
    drag.after = box;
    view.objects = objects.map((each) => (each.id === selected ? withBox(each, box) : each));
    view.draw();
  }
}

function drop() {
  if (!drag) return;
  const { kind, after, box } = drag;
  const draft = view.draft;
  drag = view.draft = null;
  if (kind === "draw" && draft && (draft[2] - draft[0]) * view.scale > 3 && (draft[3] - draft[1]) * view.scale > 3) add(draft);
  else if (after && String(after) !== String(box)) change(replaced(selected, withBox(one(), after)));
  else show();
}

const cursorOf = (part) => ({ "top left": "nwse-resize", "bottom right": "nwse-resize", "top right": "nesw-resize", "bottom left": "nesw-resize", top: "ns-resize", bottom: "ns-resize", left: "ew-resize", right: "ew-resize", inside: "move" })[part] ?? "default";

function arrows(event) {
  const by = event.shiftKey ? 10 : 1;
  const [dx, dy] = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
  const box = one().box;
  const after = event.altKey ? resized(box, "bottom right", box[3] + dx, box[2] + dy) : moved(box, dx, dy);
  if (String(after) !== String(box)) change(replaced(selected, withBox(one(), after)));
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "z") {
    if (event.shiftKey) step(future, past);
    else step(past, future);
    event.preventDefault();
    return;
  }
  if (command && event.key.toLowerCase() === "y") {
    step(future, past);
    event.preventDefault();
    return;
  }
  if (event.target.closest("input, select, textarea") || command) return;
  const onCanvas = event.target === canvas;
  if (event.key === "Tab" && onCanvas && objects.length) {
    const at = objects.findIndex((each) => each.id === selected);
    if (event.shiftKey ? at === 0 : at === objects.length - 1) return; // the focus leaves the image after the last one
    walk(event.shiftKey ? -1 : 1);
  } else if (event.key.startsWith("Arrow") && one()?.box && !page.isReadOnly && (onCanvas || event.target === document.body)) arrows(event);
  else if (event.key === "b") draw(!isDrawing);
  else if (event.key === "Escape") {
    if (isDrawing) draw(false);
    else select(null);
  } else if (event.key === "n" && isBoxes && !page.isReadOnly) {
    const [x, y] = view.toImage(canvas.clientWidth / 2, canvas.clientHeight / 2);
    const half = Math.min(item.width, item.height) / 8;
    const [cx, cy] = [clamp(x, half, item.width - half), clamp(y, half, item.height - half)];
    add([cy - half, cx - half, cy + half, cx + half].map(rounded));
  } else if (/^[1-9]$/.test(event.key) && classes[event.key - 1]) setClass(classes[event.key - 1]);
  else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if ((event.key === "Enter" && !event.target.closest("button, a, summary")) || event.key === ".") byId("after")?.click();
  else if (event.key === ",") byId("before")?.click();
  else return;
  event.preventDefault();
});

byId("undo").addEventListener("click", () => step(past, future));
byId("redo").addEventListener("click", () => step(future, past));
byId("remove")?.addEventListener("click", remove);
byId("draw")?.addEventListener("click", () => draw(!isDrawing));
byId("fit").addEventListener("click", () => view?.fit());
byId("zoom-in").addEventListener("click", () => view?.zoom(1.4));
byId("zoom-out").addEventListener("click", () => view?.zoom(1 / 1.4));
byId("delete-image").addEventListener("click", async () => {
  if (!confirm("Delete the image from the data set? This can be reverted in its history.")) return;
  const body = JSON.stringify({ ordinals: [item.ordinal], delete: true });
  const answer = await fetch(`/api/v1/datasets/${page.dataset}/images`, { method: "PATCH", headers: { "content-type": "application/json" }, body });
  if (answer.ok) location.assign((byId("after") ?? byId("to-grid")).href);
});
for (const name of isBoxes ? classes : ["", ...classes]) picker.add(new Option(name || "no class", name));
picker.disabled = page.isReadOnly;
picker.addEventListener("change", () => setClass(picker.value));
byId("delete-image").disabled = page.isReadOnly;

const left = page.isReadOnly ? null : journal.left();
if (left) {
  objects = left.next ?? left.objects;
  journal.tell("waiting");
  journal.send();
}
if (!page.isReadOnly) sendLeft(journal.path);
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
    canvas.addEventListener("pointercancel", drop);
    canvas.addEventListener("wheel", (event) => {
      view.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
      event.preventDefault();
    }, { passive: false });
    draw(false);
    show();
    if (location.hash.length > 1) select(location.hash.slice(1));
    canvas.dataset.ready = "true";
  };
  image.src = `/api/v1/images/${item.sha256}/view`;
}
show();
