// Open pages as readers do: in light and dark, on a desk and on a phone.

import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROME_PATH ?? "/usr/bin/chromium";
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Every combination of a scheme and a size. */
export const LOOKS = ["light", "dark"].flatMap((scheme) => Object.keys(SIZES).map((size) => ({ scheme, size })));

export const launch = () => chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });

/** Start with a fresh profile; the theme reads the color scheme once, so each look needs its own. */
export function profile(browser, { scheme = "light", size = "desk", ...more } = {}) {
  return browser.newContext({ viewport: SIZES[size], colorScheme: scheme, reducedMotion: "reduce", ...more });
}

/** Open a page in the profile's one tab, wait until it has settled, and do something there. */
export async function within(context, url, act) {
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(url, { waitUntil: "load" });
  if (!(await soon(() => page.evaluate(isSettled)))) throw new Error(`${url}: parts of the page still wait to be laid out`);
  return act(page);
}

/** Tell, in the page, that nothing waits to be laid out; where no script runs, nothing ever changes. */
function isSettled() {
  if (document.documentElement.classList.contains("no-js")) return true;
  const boxes = [...document.querySelectorAll(".ap-part, .doc-children .doc-contents")];
  return boxes.every((box) => box.style.contentVisibility === "visible");
}

/** Ask until the answer is yes, however slow the machine is; return whether it came. */
export async function soon(holds, seconds = 20) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    if (await holds()) return true;
  }
  return false;
}
