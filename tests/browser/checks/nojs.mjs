// Without scripts everything is there to read: text, formulas, tables, figures as drawings, answers behind a click.

import { profile, within } from "../lib/browser.mjs";

export const title = "nojs: without scripts all text, figures and answers can be read";

export async function onSite(site, browser) {
  const problems = [];
  for (const size of ["desk", "phone"]) {
    const context = await profile(browser, { size, javaScriptEnabled: false });
    for (const path of site.pages) {
      const found = await within(context, site.url + path, read);
      problems.push(...found.map((problem) => `${path || "home"}, ${size}: ${problem}`));
    }
    await context.close();
  }
  return problems;
}

async function read(page) {
  const summary = page.locator("article details summary").first();
  const problems = [];
  if (await summary.count()) {
    await summary.evaluate((node) => node.scrollIntoView({ block: "center" })); // not below the header
    await summary.click();
    if (!(await page.locator("article details").first().evaluate((part) => part.open))) problems.push("a click opens no answer");
  }
  return [...problems, ...(await page.evaluate(unread))];
}

/** List, in the page, what is there and can't be read once all is opened. */
function unread() {
  for (const part of document.querySelectorAll("article details")) part.open = true;
  for (const part of document.querySelectorAll(".ap-part, .doc-contents")) part.style.contentVisibility = "visible"; // as if scrolled to
  const article = document.querySelector("article");
  const problems = [];
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()); ) {
    const holder = text.parentElement;
    if (!text.data.trim() || holder.closest("script, style, title, desc, annotation, .headerlink, .ap-controls")) continue;
    if (!holder.checkVisibility({ visibilityProperty: true, opacityProperty: true })) {
      problems.push(`"${text.data.trim().slice(0, 40)}" can't be seen`);
    }
  }
  for (const drawing of article.querySelectorAll("figure svg")) {
    const { width, height } = drawing.getBoundingClientRect();
    if (width < 40 || height < 10) problems.push(`${drawing.closest("figure").id} shows no drawing`);
  }
  for (const control of article.querySelectorAll("input, select, button")) {
    if (control.checkVisibility()) problems.push(`a control that does nothing is shown: ${control.outerHTML.slice(0, 60)}`);
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) problems.push("the page scrolls sideways");
  return problems.slice(0, 5);
}
