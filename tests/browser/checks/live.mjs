// Work every control of every live figure with the keyboard alone, and see that the figure follows and comes back.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { profile, within } from "../lib/browser.mjs";

export const title = "live figures: each control, by keyboard, changes drawing, table and what is read out";

const BACK = { ArrowRight: "ArrowLeft", ArrowLeft: "ArrowRight", ArrowDown: "ArrowUp", ArrowUp: "ArrowDown", " ": " " };
const KEYS = { checkbox: [" "], "select-one": ["ArrowDown", "ArrowUp"], range: ["ArrowRight", "ArrowLeft"] };
const IN_A_GRID = ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"];

export async function onSite(site, browser) {
  const context = await profile(browser);
  const problems = [];
  let worked = 0;
  for (const path of site.pages) {
    if (!(await readFile(join(site.folder, path, "index.html"), "utf8")).includes("data-steps=")) continue;
    await within(context, site.url + path, async (page) => {
      for (const figure of await page.locator("figure:has(> script)").all()) {
        const name = `${path}, ${await figure.getAttribute("id")}`;
        const controls = await workAll(page, figure);
        worked += controls.length;
        problems.push(...controls.flatMap((found) => found).map((problem) => `${name}: ${problem}`));
        const expected = await figure.locator("[data-steps]").count();
        if (controls.length !== expected) problems.push(`${name}: Tab reaches ${controls.length} of ${expected} controls`);
      }
    });
  }
  await context.close();
  if (!worked) problems.push("there is no live figure");
  return { problems, measured: [`${worked} controls worked`] };
}

/** Go through a figure with Tab from its beginning, and work each control on the way. */
async function workAll(page, figure) {
  const results = [];
  const seen = new Set();
  await figure.evaluate((node) => {
    node.tabIndex = -1;
    node.focus();
  });
  for (;;) {
    await page.keyboard.press("Tab");
    const at = await figure.evaluate((node) => {
      const control = document.activeElement.closest("[data-steps]");
      return node.contains(control) ? [...node.querySelectorAll("[data-steps]")].indexOf(control) : -1;
    });
    if (at < 0) return results;
    if (seen.has(at)) continue; // a control of several fields
    seen.add(at);
    results.push(await work(page, figure, at));
  }
}

async function work(page, figure, at) {
  const problems = [];
  const input = await page.evaluate(() => ({
    type: document.activeElement.type,
    inGrid: document.activeElement.closest(".ap-cells") !== null,
    shows: getComputedStyle(document.activeElement).outlineStyle !== "none",
  }));
  if (!input.shows) problems.push(`control ${at} shows no focus`);
  const before = await state(figure);
  if (input.type === "text") return [...problems, ...(await type(page, figure, at, before))];
  for (const key of input.inGrid ? IN_A_GRID : (KEYS[input.type] ?? KEYS.range)) {
    await page.keyboard.press(key);
    const after = await state(figure);
    if (after.drawing === before.drawing) {
      if (!input.inGrid) continue; // at its last step
      problems.push(`control ${at}: ${key} changes no drawing`);
    }
    if (after.finding === before.finding && !input.inGrid) problems.push(`control ${at}: nothing is read out`);
    if (after.table === before.table && !input.inGrid) problems.push(`control ${at}: the table stays`);
    if (input.type === "range" && after.values === before.values) problems.push(`control ${at}: its text stays`);
    if (after.focused !== at) problems.push(`control ${at} loses the focus`);
    await page.keyboard.press(BACK[key]);
    if (JSON.stringify(await state(figure)) !== JSON.stringify(before)) problems.push(`control ${at} does not come back`);
    if (!input.inGrid) return problems;
  }
  if (!input.inGrid) problems.push(`control ${at} changes no drawing`);
  return problems;
}

/** Fill in the first of the known answers, field by field. */
async function type(page, figure, at, before) {
  const [answer] = JSON.parse(await figure.locator("[data-answers]").getAttribute("data-answers"));
  for (const number of answer) {
    await page.keyboard.type(String(number));
    await page.keyboard.press("Tab");
  }
  const after = await state(figure);
  const stays = ["drawing", "finding", "table"].filter((part) => after[part] === before[part]);
  return stays.map((part) => `control ${at}: with an answer typed, the ${part} stays`);
}

function state(figure) {
  return figure.evaluate((node) => ({
    drawing: [...node.querySelectorAll(".ap-drawing svg")].map((svg) => svg.outerHTML).join(""),
    finding: node.querySelector("[aria-live=polite]").textContent,
    table: node.querySelector(".ap-same").innerHTML,
    values: [...node.querySelectorAll("[aria-valuetext]")].map((range) => range.getAttribute("aria-valuetext")).join(),
    focused: [...node.querySelectorAll("[data-steps]")].indexOf(document.activeElement.closest("[data-steps]")),
  }));
}
