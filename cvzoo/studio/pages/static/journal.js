// edits that the server has not answered yet, kept in the browser until it has
import { askJSON } from "./ask.js";

const KEY = "cvzoo:edits";

// edits that the browser's storage has no room for wait in the page
let kept = null;
const read = () => kept ?? JSON.parse(localStorage.getItem(KEY) ?? "{}");
const write = (edits) => {
  try {
    localStorage.setItem(KEY, JSON.stringify(edits));
    kept = null;
  } catch {
    kept = edits;
  }
};
const newId = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Sends the edits of one image, one after the other; tells what state they are in.
class Journal {
  constructor(dataset, ordinal, base, tell) {
    this.path = `/api/v1/datasets/${dataset}/images/${ordinal}/labels`;
    this.base = base;
    this.tell = tell;
    this.sending = false;
    this.wait = 500;
  }

  // an edit that an earlier page could not send
  left() {
    return read()[this.path];
  }

  put(objects) {
    const edits = read();
    // one that is on its way keeps its identifier: it may have arrived
    const known = edits[this.path];
    if (known && !known.sent) known.objects = objects;
    else if (known) known.next = objects;
    else edits[this.path] = { edit_id: newId(), base: this.base, objects };
    write(edits);
    this.tell("waiting");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), 120);
  }

  /** Another change of the image, after those that wait were saved. act: makes it; returns {base, isPlain}

  base: first_rev after it; isPlain: whether the image was changed by nothing else since the last edit of this page, so
  that gestures made meanwhile may follow it. Throws an Error if edits wait, or what `act` throws.
  */
  async change(act) {
    clearTimeout(this.timer);
    while (this.sending || read()[this.path]) {
      if (this.sending) await new Promise((resolve) => { setTimeout(resolve, 20); });
      else {
        await this.send();
        if (!this.sending && read()[this.path]) throw new Error("edits of the image are not saved yet");
      }
    }
    this.sending = true; // edits wait
    this.tell("waiting");
    try {
      const { base, isPlain } = await act();
      const edits = read();
      if (edits[this.path] && isPlain) {
        edits[this.path].base = base;
        write(edits);
      }
      if (isPlain || !edits[this.path]) this.base = base;
    } finally {
      this.sending = false;
      if (read()[this.path]) this.send();
      else this.tell("saved");
    }
  }

  /** Saves edits one after the other, so that all are in the history. edits: {edit_id, objects}; base: of the first one

  Throws an Error if one could not be saved; the same edits may be sent again.
  */
  async putAll(base, edits) {
    for (const each of edits) base = (await askJSON(this.path, { method: "PUT", tree: { ...each, base } })).rev;
  }

  forget() {
    const edits = read();
    delete edits[this.path];
    write(edits);
  }

  async send() {
    if (this.sending) return;
    const edits = read();
    const edit = edits[this.path];
    if (!edit) return;
    this.sending = true;
    edit.sent = true;
    write(edits);
    let answer = null;
    try {
      const body = JSON.stringify({ edit_id: edit.edit_id, base: edit.base, objects: edit.objects });
      answer = await fetch(this.path, { method: "PUT", headers: { "content-type": "application/json" }, body, keepalive: body.length < 60000 });
    } catch {
      // the server is away: tried again below
    }
    this.sending = false;
    if (answer?.ok) this.done((await answer.json()).rev);
    else if (answer?.status === 412) this.tell("conflict", (await answer.json()).current);
    else if (answer && answer.status < 500 && answer.status !== 429) {
      this.forget();
      this.tell("wrong", (await answer.json().catch(() => ({}))).detail ?? `the server answered ${answer.status}`);
    } else {
      this.tell("away");
      setTimeout(() => this.send(), this.wait);
      this.wait = Math.min(this.wait * 2, 15000);
    }
  }

  done(rev) {
    this.wait = 500;
    this.base = rev;
    const edits = read();
    const next = edits[this.path]?.next;
    if (next) {
      edits[this.path] = { edit_id: newId(), base: rev, objects: next };
      write(edits);
      this.send();
      return;
    }
    this.forget();
    this.tell("saved");
  }
}

/** The journal of the editor's page, which shows its state, and asks which of two edits of the image to keep. */
export function openJournal(dataset, item, objects) {
  const byId = (id) => document.getElementById(id);
  const words = (n) => `${n} object${n === 1 ? "" : "s"}`;
  const journal = new Journal(dataset, item.ordinal, item.first_rev, (state, more) => {
    byId("saved").className = { saved: "soft", waiting: "soft", away: "waiting", conflict: "waiting", wrong: "wrong" }[state];
    byId("saved").textContent = { saved: "saved", waiting: "saving", away: "not saved yet: the server does not answer", conflict: "not saved yet", wrong: `not saved: ${more}` }[state];
    if (state === "conflict") resolve(more);
  });

  function resolve(theirs) {
    byId("conflict-text").textContent = theirs ? `The other edit has ${words(theirs.labels.length)}, yours ${words(objects().length)}. The one that is not taken stays in the history.` : "";
    const edits = theirs && [objects(), theirs.labels].map((each) => ({ edit_id: newId(), objects: each }));
    byId("keep-theirs").onclick = async () => {
      try {
        await journal.putAll(theirs.first_rev, edits);
        journal.forget();
        location.reload();
      } catch (error) {
        byId("conflict-text").textContent = `It could not be saved: ${error.message}. Try again.`;
      }
    };
    byId("keep-mine").onclick = () => {
      journal.forget();
      journal.base = theirs.first_rev;
      journal.put(objects());
      byId("conflict").close();
    };
    byId("conflict").showModal();
  }

  return journal;
}

// what other images' pages could not send, such as when the server was away; returns how many edits still wait
export async function sendLeft(except) {
  for (const [path, edit] of Object.entries(read())) {
    if (path === except) continue;
    const body = JSON.stringify({ edit_id: edit.edit_id, base: edit.base, objects: edit.objects });
    const answer = await fetch(path, { method: "PUT", headers: { "content-type": "application/json" }, body }).catch(() => null);
    if (answer?.ok && !edit.next) {
      const edits = read();
      delete edits[path];
      write(edits);
    } else if (answer?.ok) {
      const edits = read();
      edits[path] = { edit_id: newId(), base: (await answer.json()).rev, objects: edit.next };
      write(edits);
    }
  }
  return Object.keys(read()).filter((path) => path !== except).length;
}
