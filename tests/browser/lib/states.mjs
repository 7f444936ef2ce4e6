// The states of a page that a reader meets: as loaded, with everything opened and moved, searching, in the menu.

import { within } from "./browser.mjs";

const STATES = [
  { name: "as loaded", isLess: true, applies: () => true, enter: async () => {} },
  { name: "opened", applies: () => true, enter: openAndMove },
  { name: "searching", applies: ({ path }) => path === "", enter: search },
  { name: "menu", applies: ({ path, look }) => path === "" && look.size === "phone", enter: openMenu },
];

/** Hand every page, in each of its states, to the checks, and collect their problems. */
export async function visit(site, context, look, problems) {
  const seen = watch(context, site.origin);
  for (const path of [...site.pages, "404.html"]) {
    const where = `${path || "home"}, ${look.scheme}, ${look.size}`;
    const note = (problem) => [...problems.values()].forEach((found) => found.push(`${where}: ${problem}`));
    await within(context, site.url + path, async (page) => {
      for (const state of STATES.filter((state) => state.applies({ path, look }))) {
        await state.enter(page);
        for (const [check, found] of problems) {
          if (check.isSlow && state.isLess) continue; // the next state shows all of it, and more
          for (const problem of await check.inState(page, seen)) found.push(`${where}, ${state.name}: ${problem}`);
        }
      }
    }).catch((error) => note(`the visit failed: ${error.message}`));
    seen.length = 0;
  }
  await context.close();
}

/** Note what no page should do: ask another host, or write to the console. */
function watch(context, origin) {
  const seen = [];
  context.on("request", (request) => {
    if (![origin, "data:", "blob:"].some((own) => request.url().startsWith(own))) seen.push(`asked ${request.url()}`);
  });
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => seen.push(`error: ${error.error().message}`));
  context.on("response", (response) => {
    if (response.status() >= 400) seen.push(`${response.status()} for ${response.url()}`);
  });
  return seen;
}

/** Open every disclosure, and move every control of a figure by one step. */
export async function openAndMove(page) {
  await page.evaluate(() => document.querySelectorAll("article details").forEach((part) => (part.open = true)));
  for (const control of await page.locator("article figure :is(input, select, button)").all()) {
    await control.focus();
    await control.press((await control.evaluate((node) => node.tagName)) === "BUTTON" ? "Enter" : "ArrowRight");
  }
}

async function search(page) {
  await page.evaluate(() => document.activeElement.blur()); // in a field, "/" is only a letter
  await page.keyboard.press("/");
  await page.keyboard.type("softmax");
  await page.locator(".md-search-result__item").first().waitFor({ state: "visible" });
  await page.waitForTimeout(300);
}

async function openMenu(page) {
  await page.keyboard.press("Escape");
  await page.locator(".md-header [for=__drawer]").click();
  await page.waitForTimeout(500);
}
