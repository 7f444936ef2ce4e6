// The search finds functions and ideas: what a reader types, and where one of the first three results leads.

import { profile, within } from "../lib/browser.mjs";

export const title = "search: ten queries, each answered among the first three results";

const QUERIES = {
  softmax: "reference/softmaxes/",
  causal_mask: "reference/masks/#attention_primer.masks.causal_mask",
  KVCache: "reference/caches/#attention_primer.caches.KVCache",
  "multi-head": "reference/heads/",
  "flash attention": "reference/tiles/",
  "dot product": "notation/#vectors",
  variance: "notation/#variance",
  "mask hides the future": "attention/#",
  "wide vectors": "attention/#",
  pytorch: "torch",
};

export async function onSite(site, browser) {
  const context = await profile(browser);
  const problems = await within(context, site.url, async (page) => {
    const found = [];
    for (const [query, wanted] of Object.entries(QUERIES)) {
      const results = await ask(page, query);
      if (!results.some((href) => href.slice(site.url.length).includes(wanted))) {
        found.push(`"${query}" leads to ${results.map((href) => href.slice(site.url.length)).join(", ") || "nothing"}`);
      }
    }
    return found;
  });
  await context.close();
  return problems;
}

/** Type a query; return where the three best pages, and their sections in sight, lead. */
async function ask(page, query) {
  await page.locator(".md-search__input").fill("");
  await page.locator(".md-search__input").press("Backspace"); // the theme listens to keys
  await page.locator(".md-search-result__item").first().waitFor({ state: "detached" });
  await page.keyboard.type(query);
  await page.locator(".md-search-result__item").first().waitFor({ state: "visible", timeout: 10000 }).catch(() => {});
  await page.waitForTimeout(500);
  return page.evaluate(() =>
    [...document.querySelectorAll(".md-search-result__item")]
      .slice(0, 3)
      .flatMap((item) => [...item.querySelectorAll("a")].filter((link) => link.checkVisibility()))
      .map((link) => decodeURIComponent(link.href.replace(/\?h=[^#]*/, ""))),
  );
}
