// Repairs for keyboards and screen readers that the theme leaves out. Without scripts, pages read just as well.

function nameCodeTools() {
  document.querySelectorAll(".md-code__nav").forEach((tools, i) => {
    tools.setAttribute("aria-label", `Tools of code block ${i + 1}`);
  });
}

// What scrolls sideways can be reached and scrolled with the keyboard.
function reachScrolled() {
  document.querySelectorAll(".md-typeset__scrollwrap, .ap-math, .ap-drawing, .md-typeset pre > code").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}

function repair() {
  nameCodeTools();
  reachScrolled();
}

document$.subscribe(() => {
  repair();
  setTimeout(repair, 300); // the theme adds its tools a moment later
});
addEventListener("resize", reachScrolled);
