// Copying a session takes what was typed, and nothing that was answered.

import { profile, soon, within } from "../lib/browser.mjs";

export const title = "copy: a click copies the lines of a session without prompts and answers";

export async function onSite(site, browser) {
  const context = await profile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  const problems = [];
  for (const path of site.pages) {
    const found = await within(context, site.url + path, copyFirst);
    problems.push(...found.map((problem) => `${path || "home"}: ${problem}`));
  }
  await context.close();
  return problems;
}

async function copyFirst(page) {
  const blocks = await page.evaluate(() => [document.querySelectorAll("article pre > code").length, document.querySelectorAll(".ap-copy").length]);
  if (blocks[0] !== blocks[1]) return [`${blocks[0]} blocks of code, ${blocks[1]} buttons`];
  const session = page.locator(".language-pycon").first();
  if (!(await session.count())) return [];
  await session.hover();
  const button = session.locator(".ap-copy");
  await button.click();
  if (!(await soon(async () => (await button.textContent()) === "Copied", 5))) return ["the button does not tell that it has copied"];
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const typed = await session.locator("code").evaluate((code) =>
    code.textContent.match(/^(?:>>>|\.\.\.).*\n/gm).map((line) => line.slice(4).replace(/^$/, "\n")).join(""),
  );
  return copied === typed ? [] : [`copied ${JSON.stringify(copied)}, typed was ${JSON.stringify(typed)}`];
}
