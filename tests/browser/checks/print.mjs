// A page on paper is good to hand out: answers open, controls gone, figures whole, addresses of links written out.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { profile, within } from "../lib/browser.mjs";

export const title = "print: answers open, controls gone, figures and tables whole, links written out";

const run = promisify(execFile);
const A4 = { width: 794, height: 1123 };
const MARGIN = 0.04; // of the height, at top and bottom

export async function onSite(site, browser) {
  const folder = await mkdtemp(join(tmpdir(), "print-"));
  const context = await profile(browser, { viewport: A4, scheme: "dark" }); // paper is light all the same
  const problems = [];
  const measured = [];
  for (const path of site.pages) {
    await within(context, site.url + path, async (page) => {
      const expected = await page.evaluate(listed);
      const file = join(folder, "page.pdf");
      await writeFile(file, await page.pdf({ format: "A4", printBackground: false }));
      const text = squeezed((await run("pdftotext", ["-layout", file, "-"], { maxBuffer: 1e8 })).stdout);
      const { stdout: info } = await run("pdfinfo", [file]);
      measured.push(`${(path || "home").padEnd(26)} ${/Pages:\s+(\d+)/.exec(info)[1]} pages`);
      const note = (problem) => problems.push(`${path || "home"}: ${problem}`);
      for (const answer of expected.answers) if (!text.includes(squeezed(answer))) note(`an answer is not printed: ${answer}`);
      for (const url of expected.urls) if (!text.includes(squeezed(url))) note(`an address is not printed: ${url}`);
      for (const word of ["Copy>>>", "Backtotop", "Tableofcontents", "Switchto"]) {
        if (text.includes(word)) note(`a control is printed: ${word}`);
      }
      await page.emulateMedia({ media: "print" });
      for (const problem of await page.evaluate(broken, A4.height * (1 - 2 * MARGIN))) note(problem);
      await page.emulateMedia({ media: null });
    });
  }
  await context.close();
  await rm(folder, { recursive: true });
  return { problems, measured };
}

const squeezed = (text) => text.replace(/\s+/g, "");

/** List, in the page, what paper must show. */
function listed() {
  const words = (node) => node.textContent.trim().split(/\s+/).slice(0, 3).join(" ");
  const answers = [...document.querySelectorAll("article details.question > p:first-of-type")].filter((p) => !p.querySelector("math"));
  const urls = [...document.querySelectorAll("article p > a[href^=http], article li > a[href^=http]")].map((link) => link.href);
  return { answers: answers.map(words), urls };
}

/** Name, in the page as printed, what would be cut in two or still shows a control. */
function broken(most) {
  const problems = [];
  for (const part of document.querySelectorAll("article :is(figure .ap-drawing, .ap-math, table:not(.highlighttable) tr, h2)")) {
    const named = part.closest("figure")?.id ?? part.className ?? part.tagName;
    if (!["avoid", "avoid-page"].includes(getComputedStyle(part).breakInside)) problems.push(`${named} may break in two`);
    if (part.getBoundingClientRect().height > most) problems.push(`${named} is higher than a page`);
    if (part.scrollWidth > part.clientWidth + 1) problems.push(`${named} is wider than a page`);
  }
  for (const control of document.querySelectorAll("input, select, button, .md-header, .md-sidebar, .md-footer")) {
    if (control.checkVisibility()) problems.push(`${control.className || control.tagName} is printed`);
  }
  const [red, green, blue] = getComputedStyle(document.querySelector("article p")).color.match(/[\d.]+/g).map(Number);
  if (red + green + blue > 200) problems.push("the text is not dark");
  return [...new Set(problems)];
}
