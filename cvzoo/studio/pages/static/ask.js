// requests of the pages' scripts: what the server refuses, or does not answer, is an Error with words for people

/** What a response that is not ok says; null: there was no answer. */
export async function reasonOf(response) {
  if (!response) return "the server does not answer";
  const tree = await response.json().catch(() => ({}));
  const said = Object.values(tree.fields ?? {}).join(", ") || tree.detail || `the server answered ${response.status}`;
  return [said, tree.expected && `expected: ${tree.expected}`, tree.got && `got: ${tree.got}`, tree.try && `try: ${tree.try}`].filter(Boolean).join("; ");
}

/** The response; throws an Error with the reason if it is not ok, and `fields`: what is wrong with each value. */
export async function ask(path, options = {}) {
  const response = await fetch(path, options).catch(() => null);
  if (response?.status === 401) location.reload(); // the session has ended: the page says how to sign in
  if (!response?.ok) {
    const tree = await response?.clone().json().catch(() => null);
    throw Object.assign(new Error(await reasonOf(response)), { fields: tree?.fields ?? {} });
  }
  return response;
}

/** The JSON that the server answers. options: those of `fetch`, or tree: is sent as JSON */
export async function askJSON(path, { tree, ...options } = {}) {
  const body = tree === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(tree) };
  return (await ask(path, { ...options, ...body })).json();
}

/** Says on top of the page that what is shown may be old, or with "" that it is not any more. */
export function tellAway(words) {
  const note = document.getElementById("away");
  note.textContent = words;
  note.hidden = !words;
}
