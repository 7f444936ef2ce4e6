// A page stays light: what its first visit transfers, how many elements it has, how far it jumps while it loads.

import { profile, SIZES } from "../lib/browser.mjs";

export const title = "weight: 300 KB a page at the first visit, elements bounded, nothing jumps";

const MOST = { kilobytes: 300, elements: 12000, shift: 0.02 };

export async function onSite(site, browser) {
  const page = await fresh(browser);
  const problems = [];
  const measured = [`${"page".padEnd(26)}     KB  elements   shift`];
  for (const path of site.pages) {
    const [desk, phone] = [await weigh(site, page, path, "desk"), await weigh(site, page, path, "phone")];
    const found = { ...desk, shift: Math.max(desk.shift, phone.shift) };
    const shown = [found.kilobytes.toFixed(0).padStart(6), `${found.elements}`.padStart(9), found.shift.toFixed(3).padStart(7)];
    measured.push([(path || "home").padEnd(26), ...shown].join(" "));
    for (const [what, most] of Object.entries(MOST)) {
      if (found[what] > most) problems.push(`${path || "home"}: ${what}: ${found[what]}, at most ${most}`);
    }
  }
  await page.context().close();
  return { problems, measured };
}

/** Open a tab that keeps nothing, so that every visit is the first, and that notes when something jumps. */
async function fresh(browser) {
  const context = await profile(browser);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.addInitScript(() => {
    window.shift = 0;
    const add = (list) => list.getEntries().forEach((entry) => (window.shift += entry.value));
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  });
  return page;
}

/** Visit a page until the search is ready, which is the last to load. */
async function weigh(site, page, path, size) {
  await page.setViewportSize(SIZES[size]);
  const before = site.sent();
  await page.goto(site.url + path, { waitUntil: "networkidle" });
  await page.locator(".md-search-result__meta", { hasText: "Type" }).waitFor({ state: "attached" });
  const result = await page.evaluate(() => ({ elements: document.querySelectorAll("*").length, shift: window.shift }));
  return { ...result, kilobytes: (site.sent() - before) / 1000 };
}
