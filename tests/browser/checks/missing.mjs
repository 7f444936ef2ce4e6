// What stands in for a missing page finds its way, at any depth below any base path.

import { profile, within } from "../lib/browser.mjs";

export const title = "missing: the page for what does not exist looks right, leads on and searches, at any depth";

export async function onSite(site, browser) {
  const context = await profile(browser);
  const problems = [];
  for (const path of ["nope", "nope/", "reference/nope/deeper/"]) {
    const found = await within(context, site.url + path, (page) => look(page, site));
    problems.push(...found.map((problem) => `${path}: ${problem}`));
  }
  await context.close();
  return problems;
}

async function look(page, site) {
  const problems = [];
  const expect = (what, holds) => holds || problems.push(what);
  const links = await page.evaluate(() => [...document.querySelectorAll("article a")].map((link) => link.href));
  expect("it does not name the chapter", links.includes(`${site.url}attention/`));
  expect("a link leads out of the site", links.every((link) => link.startsWith(site.url)));
  expect("the style is missing", await page.evaluate(() => getComputedStyle(document.body).getPropertyValue("--ap-query")));
  await page.keyboard.press("/");
  await page.keyboard.type("softmax");
  const result = page.locator(".md-search-result__link").first();
  await result.waitFor({ state: "visible", timeout: 10000 }).catch(() => {});
  const href = (await result.count()) ? await result.evaluate((link) => link.href) : "nothing";
  expect(`the search leads to ${href}`, href.startsWith(site.url));
  return problems;
}
