// of pages of data sets: times in the reader's own time zone, and the rest of a page when an import has ended
for (const each of document.querySelectorAll("time.when")) {
  each.textContent = new Date(Number(each.dataset.ms)).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

const live = document.getElementById("live");
if (document.getElementById("importing")) {
  new MutationObserver(() => {
    if (!document.getElementById("importing")) location.reload();
  }).observe(live, { childList: true });
}
