// uploads that continue after a cut or a reload: the same files are sent from where the server has them
import { ask, askJSON, reasonOf } from "./ask.js";
import { tarOf } from "./tar.js";

const CHUNK = 8 << 20;
const drop = document.getElementById("drop");
const state = document.getElementById("upload-state");
const bar = document.getElementById("upload-progress");
const cancel = document.getElementById("cancel");
const nameField = document.getElementById("name"); // of a new data set
const again = document.getElementById("again");
let kept = []; // files that wait for another name
let stopped = false;
let busy = false;

for (const id of ["files", "folder"]) {
  document.getElementById(id).addEventListener("change", (event) => {
    start([...event.target.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    event.target.value = "";
  });
}
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
  });
}
drop.addEventListener("drop", async (event) => {
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  try {
    for (const entry of entries) await walk(entry, found);
  } catch (error) {
    state.textContent = `The browser cannot read what was dropped: ${error.message}`;
    return;
  }
  start(found);
});

async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return;
    for (const each of part) await walk(each, found);
  }
}

async function start(files) {
  files = files.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  if (busy || !files.length) return;
  if (nameField && !nameField.value.trim()) nameField.value = files[0].path.split("/")[0].replace(/\.(zip|tar|tgz|tar\.gz|\w{3,4})$/i, "");
  busy = true;
  stopped = false;
  cancel.hidden = bar.hidden = false;
  tellName("");
  const single = files.length === 1 && /\.(zip|tar|tgz|tar\.(gz|bz2|xz))$/i.test(files[0].path);
  const body = single ? files[0].file : tarOf(files);
  const fileName = single ? files[0].file.name : "upload.tar";
  try {
    await expectFreeName();
    const mark = `upload:${await digest(encode(files.map(({ path, file }) => `${path}/${file.size}/${file.lastModified}`).join("\n")), "hex")}`;
    const upload = await send(body, fileName, mark);
    state.textContent = "Sent; the import begins.";
    const address = await take(upload);
    localStorage.removeItem(mark);
    location.assign(address);
  } catch (error) {
    const wrong = (nameField && error.fields?.name) || "";
    state.textContent = wrong ? "Nothing was imported yet; the files wait for another name." : error.message;
    bar.hidden = cancel.hidden = true;
    kept = wrong ? files : [];
    if (wrong) tellName(wrong);
  }
  busy = false;
}

const newName = () => nameField.value.trim().slice(0, 120);

/** Throws an Error if a data set has the name, before anything is sent; the server tells it again at the end. */
async function expectFreeName() {
  if (!nameField) return;
  const { items } = await askJSON("/api/v1/datasets");
  if (items.some(({ name }) => name === newName())) throw Object.assign(new Error(), { fields: { name: "this name is taken" } });
}

/** Says at the name's field what is wrong with it; "": nothing. */
function tellName(wrong) {
  if (!nameField) return;
  const error = document.getElementById("name-error");
  error.textContent = wrong;
  error.hidden = again.hidden = !wrong;
  if (!wrong) {
    nameField.removeAttribute("aria-invalid");
    return;
  }
  nameField.setAttribute("aria-invalid", "true");
  nameField.focus();
}

// what was sent before is not sent again
again?.addEventListener("click", () => start(kept));
nameField?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !kept.length) return;
  event.preventDefault(); // the form's own buttons import something else
  start(kept);
});

/** The page of the data set that the upload is added to, or that is made of it. */
async function take(upload) {
  const source = { uploads: [upload] };
  let id = drop.dataset.dataset;
  if (id) await askJSON(`/api/v1/datasets/${id}:add`, { method: "POST", tree: source });
  else ({ id } = await askJSON("/api/v1/datasets", { method: "POST", tree: { name: newName(), source } }));
  return `/data/${id}`;
}

async function send(body, fileName, mark) {
  let address = localStorage.getItem(mark);
  let offset = address === null ? -1 : await offsetOf(address);
  if (offset < 0) {
    const created = await ask("/api/v1/uploads", {
      method: "POST",
      headers: { "tus-resumable": "1.0.0", "upload-length": String(body.size), "upload-metadata": `filename ${base64(encode(fileName))}` },
    });
    address = created.headers.get("location");
    localStorage.setItem(mark, address);
    offset = 0;
  }
  for (let wait = 1; offset < body.size; ) {
    if (stopped) {
      await fetch(address, { method: "DELETE" }).catch(() => null); // what stays of it expires
      localStorage.removeItem(mark);
      throw new Error("The upload was cancelled.");
    }
    bar.value = offset / body.size;
    state.textContent = `${(offset / 1e6).toFixed(1)} of ${(body.size / 1e6).toFixed(1)} MB are sent`;
    const chunk = await body.slice(offset, offset + CHUNK).arrayBuffer();
    try {
      const response = await fetch(address, {
        method: "PATCH",
        headers: { "tus-resumable": "1.0.0", "upload-offset": String(offset), "content-type": "application/offset+octet-stream", ...(await checksum(chunk)) },
        body: chunk,
      });
      if (response.ok) {
        offset = Number(response.headers.get("upload-offset"));
        wait = 1;
        continue;
      }
      if (![409, 429, 460, 500, 503].includes(response.status)) throw new Refused(await reasonOf(response));
    } catch (error) {
      if (error instanceof Refused) throw error;
      state.textContent = "The connection was cut; it is tried again.";
    }
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
    wait = Math.min(wait * 2, 30);
    const known = await offsetOf(address);
    if (known >= 0) offset = known;
  }
  bar.value = 1;
  return address.split("/").pop();
}

class Refused extends Error {}

async function offsetOf(address) {
  try {
    const response = await fetch(address, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } });
    return response.ok ? Number(response.headers.get("upload-offset")) : -1;
  } catch {
    return -1;
  }
}

const encode = (text) => new TextEncoder().encode(text);
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
// browsers compute checksums on this machine's own addresses and with TLS only
async function checksum(chunk) {
  return crypto.subtle ? { "upload-checksum": `sha256 ${await digest(chunk, "base64")}` } : {};
}
async function digest(bytes, as) {
  if (!crypto.subtle) return String(bytes.length);
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return as === "hex" ? [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("") : base64(found);
}

cancel.addEventListener("click", () => {
  stopped = true;
});
