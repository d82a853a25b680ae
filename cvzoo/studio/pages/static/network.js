// the page of a network: layers with arcs between them, weights, and a layer's outputs for an image
import { askJSON } from "./ask.js";

const at = (id) => document.getElementById(id);
const root = at("network");
const base = `/api/v1/models/${encodeURIComponent(root.dataset.model)}`;
const body = at("layers").tBodies[0];
const MAX_BYTES = 32 << 20;
const SVG = "http://www.w3.org/2000/svg";
let layers = [];
let chosen = null;
let image = null; // { blob, name }
let turn = 0;

function complain(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

const whole = (n) => n.toLocaleString("en");
const short = (x) => (x === null ? "–" : Number(x.toPrecision(3)).toString());
const shapeOf = (shape) => (shape ? shape.join(" × ") : "several");

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function vector(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// --- the table ---
function fill() {
  body.replaceChildren(...layers.map((layer, i) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    const button = element("button", layer.name, "quiet");
    button.type = "button";
    button.addEventListener("click", () => choose(i));
    head.append(button);
    const calls = layer.calls > 1 ? `, ${layer.calls} calls` : "";
    row.append(head, element("td", layer.kind), element("td", shapeOf(layer.shape) + calls, "num"));
    row.append(element("td", whole(layer.n_parameter), "num"), element("td", whole(layer.n_multiply_add), "num"));
    row.append(element("td", layer.inputs.map((each) => each || "the image").join(", "), "soft"));
    return row;
  }));
}

function arcs() {
  const svg = at("arcs");
  svg.replaceChildren();
  const top = at("layers").getBoundingClientRect().top;
  const middles = [...body.rows].map((row) => {
    const box = row.getBoundingClientRect();
    return row.hidden ? null : box.top - top + box.height / 2;
  });
  const places = new Map(layers.map((layer, i) => [layer.name, i]));
  const width = 72;
  svg.setAttribute("width", width);
  svg.setAttribute("height", at("layers").offsetHeight);
  layers.forEach((layer, i) => {
    for (const name of layer.inputs) {
      const from = places.get(name);
      if (from === undefined || middles[from] === null || middles[i] === null) continue;
      const reach = Math.min(10 + 7 * Math.sqrt(Math.abs(i - from)), width - 8) * 1.3;
      const x = width - 6;
      const path = `M${x} ${middles[from]}C${x - reach} ${middles[from]} ${x - reach} ${middles[i]} ${x} ${middles[i]}`;
      const isMine = chosen !== null && (i === chosen || from === chosen);
      svg.append(vector("path", { d: path, class: isMine ? "arc mine" : "arc" }));
    }
  });
  middles.forEach((y, i) => y !== null && svg.append(vector("circle", { cx: width - 6, cy: y, r: i === chosen ? 5 : 3, class: "node" })));
}

// --- a layer ---
function histogram(tree, title) {
  const figure = element("figure");
  const svg = vector("svg", { viewBox: "0 0 400 120", role: "img", class: "histogram" });
  svg.setAttribute("aria-label", `Histogram of ${title}, from ${short(tree.min)} to ${short(tree.max)}`);
  const most = Math.max(1, ...tree.counts);
  tree.counts.forEach((count, k) => {
    const height = (108 * count) / most;
    svg.append(vector("rect", { x: 10 * k, y: 110 - height, width: 9, height, class: "bar" }));
  });
  svg.append(vector("line", { x1: 0, x2: 400, y1: 110.5, y2: 110.5, class: "grid-line" }));
  const facts = `${shapeOf(tree.shape)}; from ${short(tree.min)} to ${short(tree.max)}, mean ${short(tree.mean)}, standard deviation ${short(tree.std)}`;
  const zero = tree.n_zero ? `, ${short((100 * tree.n_zero) / tree.size)} % zeros` : "";
  const nan = tree.n_nan ? `, ${whole(tree.n_nan)} values that are not finite` : "";
  figure.append(element("figcaption", title), svg, element("p", facts + zero + nan, "soft num"));
  return figure;
}

async function choose(index) {
  chosen = index;
  const mine = ++turn;
  const layer = layers[index];
  [...body.rows].forEach((row, i) => row.toggleAttribute("aria-current", i === index));
  arcs();
  at("h-layer").textContent = layer.name;
  at("hint").textContent = `${layer.kind}; ${whole(layer.n_parameter)} parameters, ${whole(layer.n_multiply_add)} multiply-adds. Loading ...`;
  const asked = `layer=${encodeURIComponent(layer.name)}`;
  try {
    const weights = await askJSON(`${base}/weights?${asked}`);
    const figures = weights.parameters.map((each) => histogram(each, `Weights ${each.name}`));
    if (image) {
      const found = await askJSON(`/api/v1/predict/activations?model=${encodeURIComponent(root.dataset.model)}&${asked}`, { method: "POST", body: image.blob });
      const figure = element("figure");
      const picture = new Image();
      picture.src = `data:image/png;base64,${found.png}`;
      picture.alt = `Outputs of ${layer.name} for ${image.name}: ${found.n_shown} of ${found.n_map} channels`;
      picture.className = "maps";
      const some = found.shape.length === 4 ? `${found.n_shown} of ${found.n_map} channels, each from its least value (black) to its greatest (white)` : "the values in rows, from the least (black) to the greatest (white)";
      figure.append(element("figcaption", `Outputs for ${image.name}`), picture, element("p", layer.calls > 1 ? `${some}; of the first of ${layer.calls} calls` : some, "soft"));
      figures.unshift(figure, histogram(found, "Outputs"));
    }
    if (mine !== turn) return;
    at("layer").replaceChildren(...figures);
    at("hint").textContent = at("hint").textContent.replace(" Loading ...", "");
    complain("");
  } catch (error) {
    if (mine !== turn) return;
    at("layer").replaceChildren();
    at("hint").textContent = "";
    complain(`${layer.name}: ${error.message}`);
  }
  if (document.activeElement !== at("file")) at("h-layer").focus({ preventScroll: false });
}

// --- images ---
async function take(blob, name) {
  if (blob.size > MAX_BYTES) {
    complain(`${name} has more than 32 MB`);
    return;
  }
  image = { blob, name };
  at("status").textContent = `The image: ${name}`;
  await choose(chosen ?? 0);
}

at("file").addEventListener("change", () => {
  const file = at("file").files[0];
  if (file) take(file, file.name);
});
for (const name of ["dragover", "dragleave", "drop"]) {
  at("drop").addEventListener(name, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", name === "dragover");
    const file = name === "drop" ? event.dataTransfer.files[0] : null;
    if (file) take(file, file.name);
  });
}
at("validation")?.addEventListener("click", async () => {
  try {
    const tree = await askJSON(`${base}/validation-images/0`);
    const bytes = Uint8Array.from(atob(tree.png), (letter) => letter.charCodeAt(0));
    await take(new Blob([bytes], { type: "image/png" }), "the first validation image");
  } catch (error) {
    complain(error.message);
  }
});
at("filter").addEventListener("input", () => {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  [...body.rows].forEach((row, i) => {
    const text = `${layers[i].name} ${layers[i].kind}`.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  });
  arcs();
});
addEventListener("resize", arcs);

try {
  const tree = await askJSON(`${base}/layers`);
  layers = tree.layers;
  const sum = (key) => layers.reduce((total, each) => total + each[key], 0);
  at("summary").textContent = `${layers.length} layers, ${whole(sum("n_parameter"))} parameters, ${short(sum("n_multiply_add") / 1e9)} GMACs (multiply-adds) for an image of ${tree.size.join(" × ")} pixels`;
  root.hidden = false;
  fill();
  arcs();
} catch (error) {
  at("summary").textContent = "";
  complain(error.message);
}
