// the queue: jobs are dragged by their handle, or moved by buttons; where a job is then, screen readers are told
import { ask, askJSON, tellAway } from "./ask.js";

const queue = document.getElementById("queue");
const said = document.getElementById("queue-said");
const failed = document.getElementById("queue-failed");
const EVERY_MS = 5000;
let dragged = null; // {row, list, order}
let nMoving = 0;
let newest = 0; // the refresh that began last
let moves = Promise.resolve(); // one after the other: who presses a key three times moves by three

function focusOn(job, way) {
  const row = queue.querySelector(`[data-job="${job}"]`);
  const button = row?.querySelector(`[data-way="${way}"]:enabled`) ?? row?.querySelector(".moves button:enabled") ?? row?.querySelector("a");
  button?.focus();
}

async function refresh() {
  const turn = (newest += 1);
  try {
    const response = await ask(location.href, { headers: { accept: "text/html" } });
    tellAway("");
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("queue");
    if (!fresh || dragged || turn !== newest) return; // an answer from before a move would bring the old order back
    const active = queue.contains(document.activeElement) ? document.activeElement : null;
    const job = active?.closest("[data-job]")?.dataset.job;
    queue.replaceChildren(...fresh.childNodes);
    if (job) focusOn(job, active.dataset.way);
  } catch (error) {
    tellAway(`What is shown may be old: ${error.message}. It is tried again.`);
  }
}

function after(work) {
  nMoving += 1;
  moves = moves.then(work).finally(() => {
    nMoving -= 1;
  });
}

async function step(job, way) {
  const row = queue.querySelector(`[data-job="${job}"]`);
  const button = row?.querySelector(`[data-way="${way}"]:enabled`);
  if (!button) return;
  await move(job, row.dataset.name, button.value || null);
  focusOn(job, way);
}

async function move(job, name, before) {
  failed.hidden = true;
  try {
    const answer = await askJSON("/api/v1/queue:reorder", { method: "POST", tree: { job, before } });
    const row = answer.items.find((each) => each.id === job);
    said.textContent = row ? `${name} is now ${row.position} of ${row.n}.` : `${name} does not wait any more.`;
  } catch (error) {
    failed.textContent = `${name} was not moved: ${error.message}.`;
    failed.hidden = false;
  }
  await refresh();
}

queue.addEventListener("submit", (event) => {
  if (!event.target.matches(".moves")) return;
  const { job } = event.target.closest("[data-job]").dataset;
  const { way } = event.submitter.dataset;
  event.preventDefault();
  after(() => step(job, way));
});

const orderOf = (list) => [...list.children].map((row) => row.dataset.job).join();

queue.addEventListener("pointerdown", (event) => {
  const row = event.target.closest(".grip")?.closest("[data-job]");
  if (!row || event.button !== 0 || nMoving) return;
  event.preventDefault();
  const list = row.parentElement;
  dragged = { row, list, order: orderOf(list), next: row.nextElementSibling };
  list.setPointerCapture(event.pointerId); // not the row: it is moved in the document, which would end the capture
  row.classList.add("dragged");
});

queue.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  const others = [...dragged.list.children].filter((row) => row !== dragged.row);
  const next = others.find((row) => {
    const box = row.getBoundingClientRect();
    return event.clientY < box.top + box.height / 2;
  });
  if ((next ?? null) !== dragged.row.nextElementSibling) dragged.list.insertBefore(dragged.row, next ?? null);
});

function drop(isKept) {
  if (!dragged) return;
  const { row, list, order, next } = dragged;
  dragged = null;
  row.classList.remove("dragged");
  const before = row.nextElementSibling?.dataset.job ?? null;
  if (!isKept) list.insertBefore(row, next);
  else if (orderOf(list) !== order) after(() => move(row.dataset.job, row.dataset.name, before));
}

queue.addEventListener("pointerup", () => drop(true));
queue.addEventListener("pointercancel", () => drop(false));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") drop(false);
});

setInterval(() => {
  if (!document.hidden && !dragged && !nMoving && !queue.querySelector("details[open]")) refresh();
}, EVERY_MS);
