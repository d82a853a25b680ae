// what all pages have: colors, keys, and parts that are fetched again every few seconds
import { ask, tellAway } from "./ask.js";

const root = document.documentElement;
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  document.dispatchEvent(new Event("theme"));
});

// what cannot be undone is asked for
document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.ask;
  if (question && !confirm(question)) event.preventDefault();
});

const isTyping = (event) => event.target.closest("input, select, textarea, [contenteditable]");
// who has turned keys off, as speech input types letters, has those with Ctrl, and those that are no letters
if (document.body.dataset.keys === "off") addEventListener("keydown", (event) => {
  const isLetter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey;
  if (isLetter && !isTyping(event)) event.stopImmediatePropagation();
}, true);

const dialog = document.getElementById("keys");
document.getElementById("keys-button").addEventListener("click", () => dialog.showModal());
const PAGES = { h: "/", d: "/data", r: "/jobs", n: "/jobs/new", e: "/evaluations", m: "/models", t: "/try", c: "/compare" };
let afterG = false;
document.addEventListener("keydown", (event) => {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (afterG && PAGES[event.key]) {
    location.assign(PAGES[event.key]);
    event.preventDefault(); // the key is none of the page's own
  }
  afterG = event.key === "g";
  if (event.key === "?") dialog.showModal();
  if (event.key === "/") {
    const search = document.getElementById("search");
    if (search) search.focus();
    else location.assign("/jobs");
    event.preventDefault();
  }
});

// times as the server writes them, but in the reader's own time zone, also in what a page adds later
function showTimes() {
  for (const each of document.querySelectorAll("time.when:not([title])")) {
    const ms = Number(each.dataset.ms);
    each.title = each.textContent;
    each.textContent = new Date(ms - 60_000 * new Date(ms).getTimezoneOffset()).toISOString().slice(0, 16).replace("T", " ");
  }
}
showTimes();
new MutationObserver(showTimes).observe(document.getElementById("main"), { childList: true, subtree: true });

const live = document.querySelector("[data-refresh]");
if (live) {
  const refresh = async () => {
    if (document.hidden || live.contains(document.activeElement)) return;
    try {
      const response = await ask(location.href, { headers: { accept: "text/html" } });
      tellAway("");
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.getElementById(live.id);
      if (!fresh) return;
      const chosen = new Set([...live.querySelectorAll("input:checked")].map((box) => box.value));
      live.replaceChildren(...fresh.childNodes);
      for (const box of live.querySelectorAll("input[type=checkbox]")) box.checked = chosen.has(box.value);
    } catch (error) {
      tellAway(`What is shown may be old: ${error.message}. It is tried again.`);
    }
  };
  setInterval(refresh, 1000 * Number(live.dataset.refresh));
}
