// The keyboard alone reaches every control, shows where it is, and works what it has reached.

import { profile, soon, within } from "../lib/browser.mjs";

export const title = "keyboard: every control is reached, rings when reached, is not covered, and works";

const MOST = 5000; // presses of Tab: a page that has no end is a problem of its own

export async function onSite(site, browser) {
  const found = await Promise.all(["desk", "phone"].map((size) => atSize(size, site, browser)));
  return found.flat();
}

async function atSize(size, site, browser) {
  const context = await profile(browser, { size });
  const problems = [];
  for (const path of site.pages) {
    const found = await within(context, site.url + path, walk);
    problems.push(...found.map((problem) => `${path || "home"}, ${size}: ${problem}`));
  }
  const found = await within(context, site.url, (page) => work(page, size));
  await context.close();
  return [...problems, ...found.map((problem) => `home, ${size}: ${problem}`)];
}

/** Press Tab until the page has no more to offer. */
async function walk(page) {
  await page.evaluate(prepare);
  const problems = new Set();
  for (let i = 0; i < MOST; i++) {
    await page.keyboard.press("Tab");
    const problem = await page.evaluate(() => lookAtFocus());
    if (problem === "end") break;
    if (problem) problems.add(problem);
  }
  for (const missed of await page.evaluate(() => missedControls())) problems.add(missed);
  return [...problems];
}

/** Define, in the page, what a walk asks of it. */
function prepare() {
  const reached = new Set();
  const named = (node) => {
    const text = node.getAttribute("aria-label") ?? (node.textContent || node.value || "");
    return `${node.tagName.toLowerCase()}${node.id && `#${node.id}`} "${text.trim().slice(0, 40)}"`;
  };
  const rings = (node) => node && getComputedStyle(node).outlineStyle !== "none" && parseFloat(getComputedStyle(node).outlineWidth) >= 2;
  // The theme's switch of colors shows its ring around the label beside it.
  const shown = (node) => (node.matches(".md-option") ? node.nextElementSibling : node);
  const isCovered = (node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const at = [
      [(left + right) / 2, (top + bottom) / 2],
      [left + 3, top + 3],
      [right - 3, bottom - 3],
    ];
    return !at.some(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit && (node.contains(hit) || hit.contains(node) || hit.closest("label")?.control === node);
    });
  };

  window.lookAtFocus = () => {
    const focused = document.activeElement;
    if (focused === document.body || reached.has(focused)) return "end";
    reached.add(focused);
    const seen = shown(focused);
    if (!seen?.checkVisibility({ visibilityProperty: true })) return `${named(focused)} is reached and can't be seen`;
    if (!rings(seen)) return `${named(focused)} shows no ring`;
    return isCovered(seen) ? `${named(focused)} is covered` : "";
  };

  window.missedControls = () => {
    const controls = [...document.querySelectorAll("a[href], button, input, select, summary")];
    return controls
      .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && node.tabIndex >= 0 && !node.disabled)
      .filter((node) => !reached.has(node) && !inReachedGroup(node))
      .map((node) => `${named(node)} is never reached`);
  };

  // Of a group of radio buttons Tab reaches one, the arrow keys the others.
  const inReachedGroup = (node) => node.type === "radio" && [...reached].some((other) => other.name && other.name === node.name);
}

/** Use what the keyboard has reached: skip link, palette, search, menu, a disclosure, a figure's control. */
async function work(page, size) {
  const problems = [];
  const expect = async (what, holds) => {
    if (!(await soon(holds))) problems.push(what);
  };
  const tabTo = async (selector) => {
    await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return true;
    }
    problems.push(`Tab never comes to ${selector}`);
    return false;
  };
  const start = page.url();
  const scheme = () => page.evaluate(() => document.body.dataset.mdColorScheme);

  if (await tabTo(".md-skip")) {
    await page.keyboard.press("Enter");
    await expect("the skip link does not lead to the text", () => page.evaluate(() => location.hash.length > 1));
  }
  const before = await scheme();
  if (await tabTo(".md-option")) {
    await page.keyboard.press("ArrowRight");
    await expect("the arrow key does not switch the colors", async () => (await scheme()) !== before);
  }
  if (await tabTo("article details summary")) {
    await page.keyboard.press("Enter");
    await expect("Enter does not open a disclosure", () => page.evaluate(() => document.activeElement.parentElement.open));
  }
  const control = "article figure :is(input, select)";
  if ((await page.locator(control).count()) && (await tabTo(control))) {
    const figure = () => page.evaluate(() => document.activeElement.closest("figure").querySelector(".ap-drawing").innerHTML);
    const drawn = await figure();
    await page.keyboard.press("ArrowLeft");
    await expect("an arrow key does not change a figure", async () => (await figure()) !== drawn);
  }
  if (size === "phone") {
    if (await tabTo("[for=__drawer]")) {
      await page.keyboard.press("Space");
      const link = ".md-nav--primary a.md-nav__link";
      await expect("Space does not open the menu", () => page.locator(`${link}:visible`).count());
      await tabTo(link);
      await page.evaluate(() => (document.getElementById("__drawer").checked = false));
    }
    if (await tabTo("[for=__search]")) await page.keyboard.press("Space");
  } else if (await tabTo(".md-search__input")) {
    await page.keyboard.press("Enter");
  }
  await expect("the search does not open", () => page.evaluate(() => document.getElementById("__search").checked));
  await expect("the search's field is not ready", () => page.evaluate(() => document.activeElement.matches(".md-search__input")));
  await page.keyboard.type("softmax");
  const result = page.locator(".md-search-result__link").first();
  await expect("typing in the search finds nothing", () => result.isVisible());
  const leads = () => /softmax/.test(page.url().slice(start.length));
  await expect("Enter does not follow a result of the search", async () => {
    if (leads()) return true;
    for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key); // again, while results still come in
    return leads();
  });
  return problems;
}
