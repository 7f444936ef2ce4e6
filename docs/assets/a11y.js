// Repairs for keyboards and screen readers that the theme leaves out. Without scripts, pages read just as well.

// What scrolls sideways can be reached and scrolled with the keyboard. Sizes come when the browser has them, and all are
// read before anything is changed, so that nothing is laid out for this.
const scrolled = new ResizeObserver((entries) => {
  const boxes = entries.map((entry) => entry.target);
  const isWide = boxes.map((box) => box.scrollWidth > box.clientWidth);
  boxes.forEach((box, i) => (isWide[i] ? (box.tabIndex = 0) : box.removeAttribute("tabindex")));
});

// The switches of menu and search in the header are labels, which no key can reach: with scripts they are buttons.
function switchByKey(id, name) {
  const box = document.getElementById(id);
  const label = document.querySelector(`.md-header__button[for=${id}]`);
  if (!box || !label) return;
  const button = document.createElement("button");
  for (const { name, value } of label.attributes) button.setAttribute(name, value); // the theme styles them by "for"
  button.type = "button";
  button.ariaLabel = name;
  button.append(...label.childNodes);
  label.replaceWith(button);
  const tell = () => (button.ariaExpanded = String(box.checked));
  button.addEventListener("click", () => box.click());
  box.addEventListener("change", tell);
  tell();
}

// On a phone the search lies beside the screen while it is closed, and Tab should not go there; the focus goes into it
// when it opens, and back to its button when it closes.
const narrow = matchMedia("(max-width: 59.984375em)");
const search = document.getElementById("__search");
const field = document.querySelector(".md-search__input");

function reachSearch() {
  field.tabIndex = narrow.matches && !search.checked ? -1 : 0;
}

function followSearch() {
  reachSearch();
  if (narrow.matches) (search.checked ? field : document.querySelector(".md-header__button[for=__search]")).focus();
}

switchByKey("__drawer", "Menu");
switchByKey("__search", "Search");
reachSearch();
narrow.addEventListener("change", reachSearch);
search.addEventListener("change", followSearch);
document$.subscribe(() => {
  const boxes = document.querySelectorAll(".md-typeset__scrollwrap, .ap-math, .ap-drawing, figcaption details, .md-typeset pre > code");
  boxes.forEach((box) => scrolled.observe(box)); // the theme has put the tables into theirs by now
});
