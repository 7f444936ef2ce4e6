// A line of text holds as many characters as the eye finds its way back from.

import { profile, within } from "../lib/browser.mjs";

export const title = "lines: 60 to 75 characters on a desk";

export async function onSite(site, browser) {
  const context = await profile(browser);
  const problems = [];
  const measured = [];
  for (const path of site.pages.filter((path) => !path.startsWith("reference/"))) {
    const length = await within(context, site.url + path, (page) => page.evaluate(typical));
    measured.push(`${(path || "home").padEnd(26)} ${length}`);
    if (length < 60 || length > 75) problems.push(`${path || "home"}: ${length} characters a line`);
  }
  await context.close();
  return { problems, measured };
}

/** Count, in the page, the characters of every full line of every paragraph; return the median. */
function typical() {
  const lengths = [];
  const range = document.createRange();
  for (const text of document.querySelectorAll(":is(.md-content__inner, .ap-part) > p")) {
    const nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    const lines = new Map();
    for (let node; (node = nodes.nextNode()); ) {
      for (let at = 0; at < node.length; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const line = Math.round(range.getBoundingClientRect().bottom / 12); // a sign in code or a formula stands a little off
        lines.set(line, (lines.get(line) ?? 0) + 1);
      }
    }
    lengths.push(...[...lines.values()].slice(0, -1));
  }
  return lengths.sort((a, b) => a - b)[Math.floor(lengths.length / 2)];
}
