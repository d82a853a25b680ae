// the grid by keyboard, and changes of several images
import { askJSON } from "./ask.js";

const grid = document.getElementById("grid");
const links = [...grid.querySelectorAll("li > a")];
const boxes = [...grid.querySelectorAll("input[type=checkbox]")];
const bar = document.getElementById("bulk-bar");
const columns = () => getComputedStyle(grid).gridTemplateColumns.split(" ").length;

document.addEventListener("keydown", (event) => {
  if (event.target.closest("select, input:not([type=checkbox])") || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = links.findIndex((link) => link.parentElement.contains(document.activeElement));
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns() }[event.key];
  if (step && links.length) {
    links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step))].focus();
    event.preventDefault();
  }
  if (event.key === "x" && at >= 0) boxes[at].click();
  if (event.key === "PageDown") document.getElementById("page-after")?.click();
  if (event.key === "PageUp") document.getElementById("page-before")?.click();
});

let last = null;
grid.addEventListener("click", (event) => {
  const at = boxes.indexOf(event.target);
  if (at < 0) return;
  if (event.shiftKey && last !== null) {
    for (let i = Math.min(at, last); i <= Math.max(at, last); i++) boxes[i].checked = event.target.checked;
  }
  last = at;
  isAll = false;
  show();
});

// all images that the filter leaves, instead of those of the page
const all = document.getElementById("choose-all");
let isAll = false;
const chosen = () => boxes.filter((box) => box.checked).map((box) => Number(box.value));
function show() {
  const n = isAll ? Number(all.dataset.total) : chosen().length;
  bar.hidden = n === 0;
  document.getElementById("n-chosen").textContent = `${n} image${n === 1 ? "" : "s"} chosen`;
}

async function change(what) {
  const which = isAll ? { where: JSON.parse(all.dataset.where) } : { ordinals: chosen() };
  let answer;
  try {
    answer = await askJSON(`/api/v1/datasets/${grid.dataset.dataset}/images`, { method: "PATCH", tree: { ...which, ...what } });
  } catch (error) {
    document.getElementById("n-chosen").textContent = `Not ${what.delete ? "deleted" : "changed"}: ${error.message}`;
    return;
  }
  if (answer.n) sessionStorage.setItem(KEY, JSON.stringify({ ...answer, words: what.delete ? "deleted" : "changed" }));
  location.reload();
}

// what was done last is undone by a button, as long as this tab lives
const KEY = `cvzoo:undo:${grid.dataset.dataset}`;
const undo = document.getElementById("undo");
const done = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
if (done) {
  document.getElementById("done").textContent = `${done.n} image${done.n === 1 ? "" : "s"} ${done.words}.`;
  undo.hidden = false;
}
undo.addEventListener("click", async () => {
  try {
    await askJSON(`/api/v1/datasets/${grid.dataset.dataset}:undo`, { method: "POST", tree: { rev: done.rev } });
    sessionStorage.removeItem(KEY);
    location.reload();
  } catch (error) {
    document.getElementById("done").textContent = `Not undone: ${error.message}`;
  }
});
document.getElementById("choose-page")?.addEventListener("click", () => {
  isAll = false;
  for (const box of boxes) box.checked = true;
  show();
});
all?.addEventListener("click", () => {
  isAll = true;
  for (const box of boxes) box.checked = true;
  show();
});
const value = (id) => document.getElementById(id).value;
const tags = () => value("tags").split(",").map((tag) => tag.trim()).filter(Boolean);
const onClick = (id, what) => document.getElementById(id).addEventListener("click", () => change(what()));
onClick("move", () => ({ split: value("to-split") }));
onClick("set-stage", () => ({ stage: value("to-stage") }));
onClick("assign", () => ({ assignee: value("to-user") }));
for (const [id, key] of [["add-tags", "add_tags"], ["remove-tags", "remove_tags"]]) {
  document.getElementById(id).addEventListener("click", () => (tags().length ? change({ [key]: tags() }) : document.getElementById("tags").focus()));
}
document.getElementById("delete").addEventListener("click", () => {
  if (confirm(`Delete ${isAll ? all.dataset.total : chosen().length} image(s) from the data set? This can be reverted in its history.`)) change({ delete: true });
});
document.getElementById("unchoose").addEventListener("click", () => {
  isAll = false;
  for (const box of boxes) box.checked = false;
  show();
});
show();
