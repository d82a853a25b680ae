// the page of a run: its curves, kept up to date by server-sent events
import { ask, askJSON, tellAway } from "./ask.js";
import { Chart, chartOptions } from "./chart.js";

const page = document.getElementById("job");
const base = `/api/v1/jobs/${page.dataset.job}`;
const charts = document.getElementById("charts");
const note = document.getElementById("stream-note");
const X = ["iteration", "epoch", "elapsed_time"];
const OWN = new Set(X);
const epochsPerIteration = Number(page.dataset.nEpoch) / Number(page.dataset.nIteration) || null;
const drawn = new Map();
let series = new Map();
let offsets = "";
let stream = null;
let waiting = false;

// COCO's keys: kind of score, IoU, size of objects, detections per image, and the class if it is of one
const COCO = /^validation\/main\/(m?a[pr])\/iou=([\d.:]+)\/area=(\w+)\/max_dets=(\d+)(?:\/(.+))?$/;
const SCORES = "Scores of the validation";

function cocoGroup([, kind, iou, area, detections, name]) {
  if (name) return kind === "ap" && area === "all" && detections === "100" ? `AP by class, IoU ${iou}` : "";
  if (kind === "mar") return area === "all" ? "Recall by detections per image" : "Recall by size of objects";
  return area === "all" ? SCORES : "AP by size of objects";
}

function cocoName([, kind, iou, area, detections, name]) {
  if (name) return name;
  if (area !== "all") return area;
  return kind === "mar" ? detections : `AP, IoU ${iou}`;
}

const GROUPS = [
  ["Loss", (key) => /^(main|validation_loss\/main|validation\/main)\/loss$/.test(key)],
  ["Learning rate", (key) => key === "lr"],
  [SCORES, (key) => key === page.dataset.best || /^validation\/main\/[^/]+$/.test(key)],
  ["Scores while training", (key) => /^main\/[^/]+$/.test(key)],
  ["Parts of the loss", (key) => /^main\/loss\//.test(key)],
  ["Parts of the loss of the validation", (key) => /^validation_loss\/main\/loss\//.test(key)],
  ["Other losses and scores of the validation", (key) => /^validation_loss\/main\/[^/]+$/.test(key)],
];

/** The title of a key's chart; "" if it has none, as scores of one class by size: they are in the log. */
function groupOf(key) {
  const coco = key.match(COCO);
  if (coco) return cocoGroup(coco);
  const found = GROUPS.find(([, belongs]) => belongs(key));
  if (found) return found[0];
  const byClass = key.match(/^validation\/main\/(.+)\/[^/]+$/);
  return byClass ? `${byClass[1]} by class` : "Others";
}

const shortName = (key, group) => {
  const coco = key.match(COCO);
  if (coco) return cocoName(coco);
  if (group.endsWith("by class") || group.startsWith("Parts")) return key.split("/").pop();
  return key.replace("validation_loss/main/", "validation ").replace(/^validation\/main\//, "").replace(/^main\//, "");
};

function draw() {
  const groups = new Map();
  for (const each of series.values()) {
    if (each.value.length && groupOf(each.key)) groups.set(groupOf(each.key), [...(groups.get(groupOf(each.key)) ?? []), each]);
  }
  const known = [...GROUPS.map(([title]) => title), "AP by size of objects", "Recall by detections per image", "Recall by size of objects"];
  const order = [...known, ...[...groups.keys()].filter((title) => title.includes("by class")), "Others"];
  for (const title of order) {
    const members = groups.get(title);
    if (!members) continue;
    if (!drawn.has(title)) drawn.set(title, new Chart(charts, title));
    for (const each of members) each.label = shortName(each.key, title);
    const settings = options();
    drawn.get(title).draw(members, { ...settings, log: settings.log && /loss/i.test(title) });
  }
  charts.setAttribute("aria-busy", "false");
  if (!groups.size && !charts.childElementCount) charts.textContent = "No values yet.";
}

function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

const options = chartOptions(drawSoon);

async function load() {
  const found = await askJSON(`${base}/metrics?points=2000`);
  series = new Map(found.series.map((each) => [each.key, { ...each, epochsPerIteration }]));
  offsets = found.offsets;
  if (series.size && !drawn.size) charts.textContent = "";
  draw();
}

function append(rows) {
  if (!drawn.size) charts.textContent = "";
  for (const [source, more] of Object.entries(rows)) {
    for (const row of more) {
      for (const [key, value] of Object.entries(row)) {
        if (OWN.has(key)) continue;
        if (!series.has(key)) {
          series.set(key, { key, source, n_gap: 0, iteration: [], epoch: [], elapsed_time: [], value: [], epochsPerIteration });
        }
        const each = series.get(key);
        if (each.source !== source || typeof value !== "number") continue;
        for (const x of X) each[x].push(row[x] ?? null);
        each.value.push(value);
      }
    }
  }
  drawSoon();
}

// unless the stream of events says so already
function tellOld(error) {
  if (note.hidden) tellAway(`What is shown may be old: ${error.message}. It is tried again.`);
}

async function replace(id, path) {
  try {
    const response = await ask(`/jobs/${page.dataset.job}/${path}`, { headers: { accept: "text/html" } });
    const text = await response.text();
    const holder = document.getElementById(id);
    const focused = holder.contains(document.activeElement) ? document.activeElement.id : "";
    holder.innerHTML = text;
    if (focused) document.getElementById(focused)?.focus();
    tellAway("");
  } catch (error) {
    tellOld(error);
  }
}

// browsers allow six connections to a server: three pages hold one, further ones ask again every five seconds
const CONNECTIONS = 3;
let giveBack = null;

async function hasConnection() {
  if (giveBack) return true;
  if (!navigator.locks) return false;
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const got = await new Promise((answer) => {
      navigator.locks.request(`stream-${i}`, { ifAvailable: true }, (lock) => {
        answer(lock !== null);
        return lock && new Promise((end) => { giveBack = end; });
      });
    });
    if (got) return true;
  }
  return false;
}

function hangUp() {
  stream?.close();
  giveBack?.();
  giveBack = null;
}

async function listen() {
  stream?.close();
  const holds = await hasConnection();
  stream?.close(); // of a second call meanwhile
  stream = new EventSource(`${base}/events?offsets=${offsets}${holds ? "" : "&once=true"}`);
  let failed = 0;
  stream.onopen = () => {
    failed = 0;
    note.hidden = true;
  };
  stream.addEventListener("rows", (event) => {
    offsets = event.lastEventId;
    const rows = JSON.parse(event.data);
    append(rows);
    if (rows["metrics.jsonl"]) {
      replace("tables", "tables");
      refreshSamples();
    }
  });
  let first = true;
  stream.addEventListener("state", () => {
    if (!first && !document.getElementById("facts").contains(document.activeElement)) replace("facts", "facts");
    first = false;
  });
  stream.addEventListener("reset", () => restart());
  stream.addEventListener("gone", () => {
    stream.close();
    note.textContent = "The folder of this run has been moved or deleted.";
    note.hidden = false;
  });
  stream.onerror = () => {
    failed += 1;
    const closed = stream.readyState === EventSource.CLOSED;
    if (!holds && failed < 2 && !closed) return; // the end of an answer that was asked for once
    note.textContent = "The server does not answer. What is shown may be old; this page tries again.";
    note.hidden = false;
    // after an answer with an error the browser gives up, without one it tries again
    if (closed) setTimeout(again, 5000);
  };
}

async function again() {
  const answer = await fetch(base).catch(() => null);
  if (answer?.status === 401) location.reload();
  else if (!document.hidden) listen();
}

if (page.dataset.isJob) {
  const log = document.getElementById("log");
  setInterval(async () => {
    if (document.hidden || log.contains(document.activeElement)) return;
    await replace("log", "log");
    const text = log.querySelector("pre");
    if (text) text.scrollTop = text.scrollHeight;
  }, 3000);
}

// --- what the processes use ---
const USED = { cpu: ["CPU cores", 1], memory: ["Memory, GB", 1e9], read: ["Disk, MB/s", 1e6], written: ["Disk, MB/s", 1e6] };
const used = new Map();

async function drawUsage() {
  const holder = document.getElementById("usage-charts");
  if (!holder || document.hidden) return;
  let found;
  try {
    found = await askJSON(`${base}/usage`);
  } catch (error) {
    tellOld(error);
    return;
  }
  const groups = new Map();
  for (const { key, elapsed_time, value } of found.series) {
    const [title, unit] = USED[key];
    const each = { key, label: key, elapsed_time, value: value.map((number) => number / unit) };
    groups.set(title, [...(groups.get(title) ?? []), each]);
  }
  document.getElementById("usage").hidden = !groups.size;
  for (const [title, members] of groups) {
    if (!used.has(title)) used.set(title, new Chart(holder, title));
    used.get(title).draw(members, { x: "elapsed_time", smooth: 0, log: false });
  }
}

if (page.dataset.isJob) {
  drawUsage();
  setInterval(drawUsage, 10_000);
}

async function restart() {
  stream?.close();
  try {
    await load();
    if (!document.hidden) await listen();
  } catch (error) {
    note.textContent = `The curves could not be read: ${error.message}; this page tries again.`;
    note.hidden = false;
    setTimeout(restart, 5000);
  }
}

// a hidden page gives its connection back, and catches up later
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    hangUp();
  } else if (offsets) {
    replace("facts", "facts");
    listen();
  }
});

document.getElementById("copy")?.addEventListener("click", async (event) => {
  try {
    await navigator.clipboard.writeText(document.getElementById("command").textContent);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Not copied: the browser does not allow it";
  }
});

document.getElementById("report")?.addEventListener("toggle", (event) => {
  const frame = event.target.querySelector("iframe");
  if (event.target.open && !frame.src) frame.src = frame.dataset.src;
});

// --- sample predictions ---
const samples = document.getElementById("samples");
const slider = document.getElementById("sample-slider");
let names = samples ? JSON.parse(samples.dataset.names) : [];
const epochOf = (name) => Number(name.match(/\/epoch_(\d+)/)?.[1]);

function showSample() {
  const byEpoch = names.filter((name) => !Number.isNaN(epochOf(name))).sort((a, b) => epochOf(a) - epochOf(b));
  document.getElementById("sample-controls").hidden = byEpoch.length < 2;
  if (byEpoch.length < 2) return;
  const atEnd = slider.value === slider.max;
  slider.max = byEpoch.length - 1;
  if (atEnd) slider.value = slider.max;
  const name = byEpoch[Number(slider.value)];
  samples.querySelector("img").src = `${base}/files/${name}`;
  slider.setAttribute("aria-valuetext", `epoch ${epochOf(name)}`);
  document.getElementById("sample-epoch").textContent = `, after epoch ${epochOf(name)}`;
}

async function refreshSamples() {
  if (!samples) return;
  try {
    names = (await askJSON(`${base}/samples`)).items.map((each) => each.name);
  } catch (error) {
    tellOld(error);
    return;
  }
  if (names.length === 1) samples.querySelector("img").src = `${base}/files/${names[0]}?${Date.now()}`;
  showSample();
}

slider?.addEventListener("input", showSample);
if (samples) showSample();
restart();
