// the playground: an image, one or two models, sliders
import { ask, askJSON } from "./ask.js";
import { classColor, drawAnnotation, drawImage, drawLabelMap, drawObjects } from "./draw.js";

const at = (id) => document.getElementById(id);
const results = at("results");
const MAX_BYTES = 32 << 20;
const panes = new Map(); // "model" and "second" -> what is shown of each
let image = null; // { blob, bitmap, name, annotation }
let hidden = new Set(); // names of classes that are not drawn
let turn = 0;

const keyOf = (id) => at(id).value;
const say = (text) => { at("status").textContent = text; };

function complain(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

// --- models ---
function paneOf(id) {
  const key = keyOf(id);
  const old = panes.get(id);
  if (old && old.key === key) return old;
  old?.figure.remove();
  panes.delete(id);
  if (!key) return null;
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.hidden = true;
  const table = document.createElement("div");
  table.className = "scroll";
  table.tabIndex = 0;
  table.setAttribute("role", "region");
  table.hidden = true;
  figure.append(caption, canvas, table);
  if (id === "model") results.prepend(figure);
  else results.append(figure);
  const name = at(id).selectedOptions[0].textContent;
  caption.textContent = name;
  const pane = { key, name, figure, caption, canvas, table, facts: null, found: null };
  panes.set(id, pane);
  return pane;
}

async function choose(id) {
  const pane = paneOf(id);
  if (!pane) {
    controls();
    return;
  }
  say(`Loading ${pane.name} ...`);
  try {
    pane.facts = await askJSON(`/api/v1/models/${encodeURIComponent(pane.key)}/facts`);
    complain("");
  } catch (error) {
    complain(`${pane.name}: ${error.message}`);
    say("");
    return;
  }
  if (panes.get(id) !== pane) return;
  if (id === "model") thresholdsOf(pane.facts);
  controls();
  say(image ? "" : "Choose an image.");
  if (image) await predict(pane);
}

function thresholdsOf(facts) {
  const list = at("preset");
  list.replaceChildren();
  for (const name of Object.keys(facts.thresholds?.presets ?? {})) list.append(new Option(name, name));
  list.append(new Option("own", ""));
  if (facts.thresholds) usePreset(facts.thresholds.presets.deploy ? "deploy" : "visualize");
}

function usePreset(name) {
  const preset = panes.get("model")?.facts?.thresholds?.presets[name];
  at("preset").value = preset ? name : "";
  if (!preset) return;
  at("score").value = Math.max(preset.score, 0.05);
  at("nms").value = preset.nms;
  shown();
}

function shown() {
  at("score-value").textContent = at("preset").value && classThresholds() ? "of classes" : Number(at("score").value).toFixed(2);
  at("nms-value").textContent = Number(at("nms").value).toFixed(2);
}

/** The score threshold of each class of the chosen preset; null without. */
function classThresholds(pane = panes.get("model")) {
  return pane?.facts?.thresholds?.presets[at("preset").value]?.classes ?? null;
}

function controls() {
  const all = [...panes.values()].filter((pane) => pane.facts);
  at("thresholds").hidden = !all.some((pane) => pane.facts.thresholds);
  at("opacity-label").hidden = !all.some((pane) => pane.facts.task === "segmentation");
  at("validation").hidden = !at("model").selectedOptions[0]?.dataset.hasData;
  const names = [...new Set(all.flatMap((pane) => pane.facts.label_names ?? []))];
  at("classes").hidden = !names.length || names.length > 200;
  at("class-list").replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    label.className = "check";
    const check = document.createElement("input");
    check.type = "checkbox";
    check.value = name;
    check.checked = !hidden.has(name);
    label.append(check, ` ${name}`);
    return label;
  }));
  const word = at("model").value.startsWith("zoo:") ? at("model").value.slice(4) : "FILE.safetensors";
  at("code").textContent = `import cvzoo\n\nmodel = cvzoo.load_model("${word}")\nprint(model.predict(["image.jpg"]))`;
}

// --- predictions ---
async function predict(pane) {
  if (!image || !pane.facts) return;
  pane.asked = (pane.asked ?? 0) + 1;
  const mine = pane.asked;
  const words = new URLSearchParams({ model: pane.key });
  if (pane.facts.thresholds) words.set("nms", at("nms").value);
  say("Predicting ...");
  try {
    const found = await askJSON(`/api/v1/predict?${words}`, { method: "POST", body: image.blob });
    if (mine !== pane.asked) return; // a later image
    pane.found = found;
    complain("");
    draw(pane);
    say(`${image.name}, ${found.width} × ${found.height}`);
  } catch (error) {
    if (mine !== pane.asked) return;
    complain(`${image.name}: ${error.message}`);
    say("");
    clear(pane);
  }
}

function clear(pane) {
  pane.found = null;
  pane.caption.textContent = pane.name;
  pane.canvas.hidden = true;
  pane.table.hidden = true;
}

function isShown(pane, each) {
  if (hidden.has(each.name)) return false;
  const own = classThresholds(pane);
  const least = own ? (own[each.label] ?? 0) : Number(at("score").value);
  return each.score > least || each.score >= 1;
}

function draw(pane) {
  const { found, canvas } = pane;
  if (!found || !image) return;
  canvas.hidden = false;
  const target = drawImage(canvas, image.bitmap);
  at("annotation-label").hidden = !image.annotation?.objects;
  const annotation = at("show-annotation").checked || !image.annotation?.objects ? image.annotation : null;
  let rows = [];
  let heads = ["class", "score"];
  if (found.objects) {
    const kept = found.objects.filter((each) => isShown(pane, each));
    if (annotation?.objects) drawAnnotation(target, annotation.objects);
    drawObjects(target, kept);
    rows = kept.map((each) => [each.label, each.name, each.score.toFixed(3)]);
  } else if (found.runs) {
    const names = new Map(found.classes.map((each) => [each.label, each.name]));
    drawLabelMap(target.context, found.runs, Number(at("opacity").value), (label) => !hidden.has(names.get(label)));
    heads = ["class", "pixels"];
    rows = found.classes.map((each) => [each.label, each.name ?? each.label, `${(100 * each.share).toFixed(1)} %`]);
  } else {
    rows = found.classes.filter((each) => !hidden.has(each.name)).map((each) => [each.label, each.name, each.score.toFixed(3)]);
  }
  const truth = annotation?.task === "classification" ? `; annotated: ${annotation.classes[0].name}` : "";
  const n = found.objects ? `${rows.length} of ${found.objects.length} objects, ` : "";
  pane.caption.textContent = `${pane.name}: ${n}decoded in ${found.ms.decode.toFixed(0)} ms, predicted in ${found.ms.predict.toFixed(0)} ms${truth}`;
  canvas.setAttribute("aria-label", `${image.name} with the prediction of ${pane.name}: ${rows.slice(0, 20).map((row) => `${row[1]} ${row[2]}`).join(", ") || "nothing"}`);
  fill(pane, heads, rows);
}

function fill(pane, heads, rows) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  heads.forEach((text, i) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    if (i) cell.className = "num";
    head.append(cell);
  });
  const body = table.createTBody();
  for (const [label, name, value] of rows.slice(0, 100)) {
    const row = body.insertRow();
    const first = row.insertCell();
    const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    swatch.setAttribute("width", 14);
    swatch.setAttribute("height", 14);
    swatch.setAttribute("class", "swatch");
    swatch.setAttribute("aria-hidden", "true");
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("width", 14);
    rect.setAttribute("height", 14);
    rect.setAttribute("fill", classColor(label));
    swatch.append(rect);
    first.append(swatch, String(name));
    const second = row.insertCell();
    second.className = "num";
    second.textContent = value;
  }
  pane.table.setAttribute("aria-label", `Prediction of ${pane.name}`);
  pane.table.replaceChildren(table);
  pane.table.hidden = !rows.length;
}

const drawAll = () => panes.forEach(draw);
const predictAll = () => Promise.all([...panes.values()].map(predict));

// --- images ---
async function take(blob, name, annotation = null) {
  turn += 1;
  const mine = turn;
  complain("");
  if (!blob.size || blob.size > MAX_BYTES) {
    complain(blob.size ? `${name} has more than 32 MB.` : `${name} is empty.`);
    return;
  }
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob);
  } catch {
    // what the browser does not read, the server refuses with a reason
    bitmap = null;
  }
  if (mine !== turn) return;
  image = { blob, name, annotation, bitmap };
  if (bitmap) {
    await predictAll();
    return;
  }
  try {
    await askJSON(`/api/v1/predict?model=${encodeURIComponent(keyOf("model"))}`, { method: "POST", body: blob });
    complain(`${name}: this browser does not show images of this format.`);
  } catch (error) {
    complain(`${name}: ${error.message}`);
  }
  image = null;
  panes.forEach(clear);
  say("");
}

at("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) take(file, file.name);
  event.target.value = "";
});

const drop = at("drop");
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    const file = name === "drop" ? event.dataTransfer.files[0] : null;
    if (file) take(file, file.name);
  });
}
document.addEventListener("paste", (event) => {
  const file = [...(event.clipboardData?.files ?? [])].find((each) => each.type.startsWith("image/"));
  if (file) take(file, "the pasted image");
});

// --- webcam ---
let camera = null;
const video = at("video");

async function endCamera() {
  camera?.getTracks().forEach((track) => track.stop());
  camera = null;
  at("webcam").setAttribute("aria-pressed", "false");
  at("webcam").textContent = "Webcam";
}

at("webcam").addEventListener("click", async () => {
  if (camera) {
    endCamera();
    return;
  }
  if (!navigator.mediaDevices) {
    complain("Browsers give a webcam to this machine's own address, or to pages with TLS only.");
    return;
  }
  try {
    camera = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 640 }, height: { ideal: 480 } }, audio: false });
  } catch (error) {
    complain(`There is no webcam, or it may not be used: ${error.message}`);
    return;
  }
  at("webcam").setAttribute("aria-pressed", "true");
  at("webcam").textContent = "Stop the webcam";
  video.srcObject = camera;
  await video.play();
  const frame = document.createElement("canvas");
  const mine = camera;
  while (camera === mine && !document.hidden) {
    frame.width = video.videoWidth;
    frame.height = video.videoHeight;
    frame.getContext("2d").drawImage(video, 0, 0);
    const blob = await new Promise((done) => { frame.toBlob(done, "image/jpeg", 0.92); });
    if (blob && camera === mine) await take(blob, "Webcam");
    if (!at("problem").hidden) break;
    await new Promise((done) => { setTimeout(done, 30); });
  }
  if (camera === mine) endCamera();
});

// --- images of the run's validation data ---
async function validationImage(index) {
  const key = keyOf("model");
  say("Reading the image ...");
  try {
    const tree = await askJSON(`/api/v1/models/${encodeURIComponent(key)}/validation-images/${index - 1}`);
    at("n-image").textContent = `of ${tree.n_image}`;
    at("index").max = tree.n_image;
    at("index").value = index;
    const bytes = Uint8Array.from(atob(tree.png), (letter) => letter.charCodeAt(0));
    await take(new Blob([bytes], { type: "image/png" }), `Validation image ${index}`, tree);
  } catch (error) {
    complain(error.message);
    say("");
  }
}

const step = (by) => validationImage(Math.max(1, Math.min(Number(at("index").value) + by, Number(at("index").max) || 1e9)));
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(image?.annotation ? 1 : 0));
at("index").addEventListener("change", () => step(0));

// --- controls ---
at("model").addEventListener("change", () => {
  at("n-image").textContent = "";
  choose("model");
});
at("second").addEventListener("change", () => choose("second"));
at("preset").addEventListener("change", () => {
  const before = at("nms").value;
  usePreset(at("preset").value);
  shown();
  if (at("nms").value === before) drawAll();
  else predictAll();
});
at("score").addEventListener("input", () => {
  at("preset").value = "";
  shown();
  drawAll();
});
at("nms").addEventListener("input", shown);
at("nms").addEventListener("change", () => {
  at("preset").value = "";
  shown();
  predictAll();
});
at("opacity").addEventListener("input", drawAll);
at("show-annotation").addEventListener("change", drawAll);
at("class-list").addEventListener("change", (event) => {
  if (event.target.checked) hidden.delete(event.target.value);
  else hidden.add(event.target.value);
  drawAll();
});
const setClasses = (on) => {
  const boxes = [...at("class-list").querySelectorAll("input")];
  for (const each of boxes) each.checked = on;
  hidden = new Set(on ? [] : boxes.map((each) => each.value));
  drawAll();
};
at("all-classes").addEventListener("click", () => setClasses(true));
at("no-classes").addEventListener("click", () => setClasses(false));
window.addEventListener("pagehide", endCamera);

await choose("model");
// an image of an evaluation is named by the address
const named = location.hash.slice(1);
if (/^\/api\/v1\/evaluations\/jb_[a-z2-7]{16}\/images\/\d+$/.test(named)) {
  try {
    await take(await (await ask(named)).blob(), "the image of the evaluation");
  } catch (error) {
    complain(`the image of the evaluation: ${error.message}`);
  }
}
