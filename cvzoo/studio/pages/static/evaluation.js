// the page of an evaluation: images with errors, drawn when they come into view
import { askJSON } from "./ask.js";
import { drawAnnotation, drawImage, drawVerdicts } from "./draw.js";

const waiting = document.querySelector("#evaluation[data-waiting='1']");
if (waiting) {
  new MutationObserver(() => {
    const badge = waiting.querySelector(".badge");
    if (badge && badge.textContent === "succeeded") location.reload();
  }).observe(waiting, { childList: true, subtree: true });
}

const WORDS = { classification: "wrong class", localization: "poorly placed", both: "wrong class and place", duplicate: "duplicate", background: "background" };
const list = document.getElementById("verdicts");
const form = document.getElementById("image-filters");
const more = document.getElementById("more");
const count = document.getElementById("image-count");
let after = 0;
let asked = 0;
const cards = new Set();

const value = (id) => document.getElementById(id)?.value ?? "";
const checked = (id) => document.getElementById(id)?.checked;

function describe(row) {
  if (row.guess !== undefined) return `${row.guess} ${row.score.toFixed(2)}, is ${row.label} ${row.label_score.toFixed(2)}`;
  if (row.miou !== undefined) return `mean IoU ${row.miou === null ? "–" : row.miou.toFixed(3)}, ${(100 * row.pixel_accuracy).toFixed(1)} % of pixels right`;
  const kinds = new Map();
  for (const each of row.boxes ?? []) {
    if (each.verdict !== "wrong") continue;
    const kind = WORDS[each.error] ?? "background";
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const wrong = [...kinds].map(([kind, n]) => `${n} ${kind}`).join(", ");
  return `${row.n_right} right, ${row.n_missed} missed, ${row.n_wrong} wrong${wrong ? ` (${wrong})` : ""}`;
}

function draw({ canvas, image, row }) {
  if (!image.complete || !image.naturalWidth) return;
  const target = drawImage(canvas, image);
  if (checked("show-objects")) drawAnnotation(target, row.objects ?? []);
  if (checked("show-boxes")) drawVerdicts(target, row.boxes ?? []);
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    const card = entry.target.card;
    card.image.src = card.address;
  }
}, { rootMargin: "300px" });

function add(row) {
  const item = document.createElement("li");
  const canvas = document.createElement("canvas");
  canvas.width = 320;
  canvas.height = 200;
  const words = describe(row);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${row.image}: ${words}`);
  const address = `/api/v1/evaluations/${form.dataset.evaluation}/images/${row.index}`;
  const card = { canvas, row, address, image: new Image() };
  card.image.onload = () => draw(card);
  card.image.onerror = () => {
    const note = document.createElement("p");
    note.textContent = "The image's file was moved, or browsers do not show its format.";
    canvas.replaceWith(note);
  };
  const name = document.createElement("p");
  const link = document.createElement("a");
  link.href = address;
  link.textContent = row.image;
  const attempt = document.createElement("a");
  attempt.href = `/try?model=${encodeURIComponent(form.dataset.model)}#${address}`;
  attempt.textContent = "Try";
  attempt.setAttribute("aria-label", `Try ${row.image}`);
  name.append(link, " · ", attempt);
  if (form.dataset.correct) {
    const correct = document.createElement("a");
    correct.href = `/evaluations/${form.dataset.evaluation}/images/${row.index}/correct`;
    correct.textContent = "Correct";
    correct.setAttribute("aria-label", `Correct the labels of ${row.image}`);
    name.append(" · ", correct);
  }
  const text = document.createElement("p");
  text.className = "soft";
  text.textContent = words;
  item.append(canvas, name, text);
  item.card = card;
  cards.add(card);
  list.append(item);
  seen.observe(item);
}

async function load(fresh) {
  asked += 1;
  const mine = asked;
  if (fresh) after = 0;
  list.setAttribute("aria-busy", "true");
  const words = new URLSearchParams({ kind: value("kind"), label: value("label"), after, limit: 24 });
  let page;
  try {
    page = await askJSON(`/api/v1/evaluations/${form.dataset.evaluation}/images?${words}`);
  } catch (error) {
    if (mine !== asked) return;
    list.setAttribute("aria-busy", "false");
    count.textContent = `The images could not be read: ${error.message}.`;
    return;
  }
  if (mine !== asked) return; // a later choice
  if (fresh) {
    list.replaceChildren();
    cards.clear();
  }
  for (const row of page.items) add(row);
  after = page.next ?? 0;
  more.hidden = page.next === null;
  count.textContent = page.total === 1 ? "1 image" : `${page.total} images`;
  list.setAttribute("aria-busy", "false");
}

if (form) {
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["kind", "label"]) {
    document.getElementById(id)?.addEventListener("change", () => {
      const address = new URL(location.href);
      for (const name of ["kind", "label"]) address.searchParams.set(name, value(name));
      history.replaceState(null, "", address);
      load(true);
    });
  }
  for (const id of ["show-objects", "show-boxes"]) document.getElementById(id)?.addEventListener("change", () => cards.forEach(draw));
  more.addEventListener("click", async () => {
    const n = list.children.length;
    await load(false);
    if (more.hidden) list.children[n]?.querySelector("a").focus(); // the button that had the focus is gone
  });
  load(true);
}
