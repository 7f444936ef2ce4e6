// Live figures: what the controls are set to picks a frame, and every frame was computed while the site was built.

const HERE = document.currentScript.src;
const SEAM = "\f"; // between drawing, finding and table

// How far a control is from its first step.
function step(control) {
  const inputs = [...control.querySelectorAll("input, select")];
  const [first] = inputs;
  if (first.type === "text") return answer(control, inputs);
  if (first.type === "radio") return inputs.findIndex((input) => input.checked);
  if (first.type === "checkbox") return Number(first.checked);
  return first.type === "range" ? Number(first.value) : first.selectedIndex;
}

// Which of the known answers was typed: 0 if something is missing, the last step if it is none of them.
function answer(control, inputs) {
  const typed = inputs.map((input) => number(input.value));
  if (typed.some(Number.isNaN)) return 0;
  const answers = JSON.parse(control.dataset.answers);
  return 1 + answers.concat([typed]).findIndex((known) => known.every((x, i) => Math.abs(x - typed[i]) < 0.0051));
}

function number(text) {
  const [top, bottom = "1"] = text.trim().split("/");
  return top && bottom ? Number(top) / Number(bottom) : NaN;
}

function parsed(html) {
  return document.createRange().createContextualFragment(html);
}

function enliven(figure) {
  const controls = [...figure.querySelectorAll("[data-steps]")];
  const steps = controls.map((control) => Number(control.dataset.steps));
  const spoken = figure.querySelector("[aria-live]");
  let frames;
  let shown;

  // The frames come when somebody reaches for a control, once.
  function load() {
    if (frames) return frames;
    figure.setAttribute("aria-busy", "true");
    frames = fetch(new URL(`frames/${figure.dataset.frames}`, HERE))
      .then((answer) => answer.json())
      .catch(() => (frames = undefined)) // no network: the next try asks again
      .finally(() => figure.removeAttribute("aria-busy"));
    return frames;
  }

  // A frame is told as its difference from the one before: a step less of the last control that isn't at its first.
  function piecesOf({ first, changes }, at) {
    if (at === 0) return [...first];
    let stride = 1;
    for (let i = steps.length - 1; Math.floor(at / stride) % steps[i] === 0; i--) stride *= steps[i];
    const before = piecesOf({ first, changes }, at - stride);
    for (const [place, gone, ...come] of changes[at]) before.splice(place, gone, ...come);
    return before;
  }

  async function show() {
    const data = await load();
    if (!data) return;
    const at = controls.reduce((sum, control, i) => sum * steps[i] + step(control), 0);
    if (at === (shown ?? data.start)) return;
    shown = at;
    const [drawing, finding, table] = piecesOf(data, at)
      .map((piece) => data.pieces[piece])
      .join("")
      .split(SEAM);
    const pictures = parsed(drawing).querySelectorAll("svg");
    figure.querySelectorAll(".ap-drawing svg").forEach((old, i) => old.replaceWith(pictures[i]));
    if (spoken.innerHTML !== finding) spoken.innerHTML = finding;
    figure.querySelector(".ap-same").innerHTML = table;
  }

  const reached = ({ target }) => target.closest("[data-steps]") && load();
  figure.addEventListener("pointerover", reached);
  figure.addEventListener("focusin", reached);
  figure.addEventListener("change", show);
  figure.addEventListener("input", ({ target }) => {
    if (target.type === "range") tell(target);
    if (target.type !== "text") show(); // what is typed counts when it is done
  });
  figure.querySelectorAll("input[type=range]").forEach(tell);
  figure.querySelectorAll(".ap-cells").forEach(walk);
}

function tell(range) {
  const text = range.dataset.texts.split("|")[range.value];
  range.setAttribute("aria-valuetext", text);
  range.nextElementSibling.textContent = text;
}

// In a grid of cells the arrow keys go up and down, too.
function walk(cells) {
  const buttons = [...cells.querySelectorAll("input")];
  const columns = Number(cells.dataset.columns);
  const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  cells.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const at = buttons.indexOf(event.target);
    const row = Math.floor(at / columns) + way[0];
    const column = (at % columns) + way[1];
    const next = buttons[row * columns + column];
    if (column < 0 || column >= columns || !next) return;
    next.checked = true;
    next.focus();
    next.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

document.querySelectorAll(".ap-figure[data-frames]").forEach(enliven);
