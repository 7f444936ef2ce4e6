// A link to a place leads there, below the header, though what is far from the screen is laid out late.

import { profile } from "../lib/browser.mjs";

export const title = "anchors: a link to the last section of a page shows its heading at the top";

export async function onSite(site, browser) {
  const problems = [];
  const context = await profile(browser, { size: "phone" }); // where pages are longest
  const page = await context.newPage();
  for (const path of site.pages) {
    await page.goto(site.url + path);
    const id = await page.evaluate(() => [...document.querySelectorAll("article h2[id]")].at(-1)?.id);
    if (!id) continue;
    await page.goto("about:blank");
    await page.goto(`${site.url}${path}#${id}`);
    await page.waitForTimeout(500);
    const { top, below } = await page.evaluate((id) => {
      const { scrollHeight } = document.documentElement;
      return { top: document.getElementById(id).getBoundingClientRect().top, below: scrollHeight - innerHeight - scrollY };
    }, id);
    if (below > 1 && (top < 0 || top > 120)) problems.push(`${path}#${id}: the heading is ${top.toFixed(0)} px down`);
  }
  await context.close();
  return problems;
}
