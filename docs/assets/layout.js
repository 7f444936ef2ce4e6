// Lay out what waits below the screen, box by box, while the browser has nothing else to do: soon the page has its true
// length, and every place on it is where it will stay. Without scripts a box is laid out when the reader comes near.

const waiting = [...document.querySelectorAll(".ap-part, .doc-children .doc-contents")];

function layOutNext() {
  const box = waiting.shift();
  if (!box) return;
  box.style.contentVisibility = "visible";
  requestIdleCallback(layOutNext);
}

if (window.requestIdleCallback) addEventListener("load", () => requestIdleCallback(layOutNext));
