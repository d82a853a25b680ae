// of pages of data sets: the rest of a page when an import has ended; after an addition only a link, as the user may be
// typing, or sending more images
const live = document.getElementById("live");
const added = document.getElementById("added");
const whenGone = (id, act) => {
  if (document.getElementById(id)) {
    new MutationObserver((_, observer) => {
      if (document.getElementById(id)) return;
      observer.disconnect();
      act();
    }).observe(live, { childList: true });
  }
};
whenGone("importing", () => location.reload());
whenGone("adding", () => {
  added.hidden = false;
});
