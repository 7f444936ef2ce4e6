// A link to a place leads there, below the header, though what is far from the screen is laid out late.

import { profile } from "../lib/browser.mjs";

export const title = "anchors: a link to the last section of a page shows its heading at the top";

export async function onSite(site, browser) {
  const problems = [];
  for (const size of ["desk", "phone"]) {
    const context = await profile(browser, { size });
    const page = await context.newPage();
    for (const path of site.pages) {
      await page.goto(site.url + path);
      const id = await page.evaluate(() => [...document.querySelectorAll("article h2[id]")].at(-1)?.id);
      if (!id) continue;
      await page.goto("about:blank");
      await page.goto(`${site.url}${path}#${id}`);
      await page.waitForTimeout(500);
      const { top, left } = await page.evaluate((id) => {
        const below = document.documentElement.scrollHeight - innerHeight - scrollY;
        return { top: document.getElementById(id).getBoundingClientRect().top, left: below };
      }, id);
      if (left > 1 && (top < 0 || top > 120)) problems.push(`${path}#${id}, ${size}: the heading is ${top.toFixed(0)} px down`);
    }
    await context.close();
  }
  return problems;
}
