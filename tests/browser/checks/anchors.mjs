// A link to a place leads there, below the header, though what is far from the screen is laid out late.

import { profile, soon } from "../lib/browser.mjs";

export const title = "anchors: a link to a section shows its heading at the top, from afar and on the page";

export async function onSite(site, browser) {
  const problems = [];
  const context = await profile(browser, { size: "phone" }); // where pages are longest
  const page = await context.newPage();
  for (const path of site.pages) {
    await page.goto(site.url + path);
    const ids = await page.evaluate(() => [...document.querySelectorAll("article h2[id]")].map((heading) => heading.id));
    if (!ids.length) continue;
    const [middle, last] = [ids[ids.length >> 1], ids.at(-1)];
    await page.goto("about:blank");
    await page.goto(`${site.url}${path}#${last}`);
    if (!(await soon(() => page.evaluate(isAtTop, last), 5))) problems.push(`${path}#${last}: its heading is not at the top`);
    await page.goto("about:blank");
    await page.goto(site.url + path);
    await page.evaluate((id) => document.querySelector(`.md-nav a[href="#${id}"]`).click(), middle);
    if (!(await soon(() => page.evaluate(isAtTop, middle), 5))) problems.push(`${path}: the menu's link to #${middle} misses its heading`);
  }
  await context.close();
  return problems;
}

/** Tell, in the page, that a heading stands below the header, or as high as the end of the page lets it come. */
function isAtTop(id) {
  const { top } = document.getElementById(id).getBoundingClientRect();
  const below = document.documentElement.scrollHeight - innerHeight - scrollY;
  return top >= 0 && (top <= 120 || below <= 1);
}
